// SPDX-License-Identifier: MIT
// cli: `ringside chart` draws a message sequence chart of an RKH trace.
#include "cli/cli.h"
#include <string.h>

static bool ends_in(const char *name, const char *end)
{
    size_t length = strlen(name), tail = strlen(end);

    return length > tail && strcmp(name + length - tail, end) == 0;
}

static int run(const struct cli_options *options)
{
    struct cli_options rest = *options;
    const char *output = options->output;

    if (!output)
        return cli_refuse("chart", "use -o FILE.svg or -o FILE.signalling, or -o - for SVG",
                          "no output file is given");
    bool signalling = ends_in(output, ".signalling") || ends_in(output, ".msc");
    if (strcmp(output, "-") == 0)
        rest.output = NULL;
    return cli_snapshot_run(&rest, signalling ? "signalling" : "chart");
}

const struct cli_command cli_chart = {
    .group = CLI_EXAMINE,
    .name = "chart",
    .arguments = "[FILTER...] INPUT... -o FILE",
    .summary = "draw a message sequence chart (RKH)",
    .help =
        "A file name that ends in .signalling or .msc selects the format of msc-generator; any "
        "other\n"
        "is SVG. -o - writes SVG to standard output. At most the newest 4000 lines are drawn.\n",
    .takes = CLI_FILTERS | CLI_OUTPUT,
    .run = run,
};
