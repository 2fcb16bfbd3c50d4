// SPDX-License-Identifier: MIT
// cli: `ringside timeline` draws the schedule in the terminal.
#include "cli/cli.h"
#include <extract/report.h>

static int run_timeline(const struct cli_options *options)
{
    struct cli_options drawn = *options;

    if (!drawn.session.width)
        drawn.session.width = options->output ? 0 : extract_report_terminal_width();
    drawn.session.ascii |= extract_report_needs_ascii();
    return cli_snapshot_run(&drawn, "timeline");
}

const struct cli_command cli_timeline = {
    .group = CLI_EXAMINE,
    .name = "timeline",
    .arguments = "[FILTER...] INPUT...",
    .summary = "draw who ran and who waited",
    .help =
        "Draw a line for each core, interrupt and thread, by priority. A column shows the state\n"
        "that lasts longest in its time. --from, --to and --last choose the time, and --thread\n"
        "the threads. The picture fits the terminal, or 80 columns. With --json, print the\n"
        "columns in words.\n",
    .takes = CLI_FILTERS | CLI_ROLES | CLI_TIMELINE,
    .run = run_timeline,
};
