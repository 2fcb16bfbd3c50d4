// SPDX-License-Identifier: MIT
// cli: `ringside chart` draws a message sequence chart.
#include "cli/cli.h"
#include <string.h>

static bool has_suffix(const char *name, const char *suffix)
{
    size_t length = strlen(name), tail = strlen(suffix);

    return length > tail && strcmp(name + length - tail, suffix) == 0;
}

static int run_chart(const struct cli_options *options)
{
    struct cli_options rest = *options;
    const char *output = options->output;

    if (!output)
        return cli_refuse("chart", "use -o FILE.svg or -o FILE.signalling, or -o - for SVG",
                          "no output file is given");
    bool is_signalling = has_suffix(output, ".signalling") || has_suffix(output, ".msc");
    if (strcmp(output, "-") == 0)
        rest.output = NULL;
    return cli_snapshot_run(&rest, is_signalling ? "signalling" : "chart");
}

const struct cli_command cli_chart = {
    .group = CLI_EXAMINE,
    .name = "chart",
    .arguments = "[FILTER...] INPUT... -o FILE",
    .summary = "draw a message sequence chart",
    .help =
        "An arrow shows who put something into a queue, semaphore or group of event flags, who\n"
        "took it out, and who ended the wait of whom. Charts of RKH show posts, gets and states.\n"
        "A file name that ends in .signalling or .msc selects the format of msc-generator; any "
        "other\n"
        "is SVG. -o - writes SVG to standard output. At most the newest 4000 lines are drawn.\n",
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_ROLES,
    .run = run_chart,
};
