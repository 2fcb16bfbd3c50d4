// SPDX-License-Identifier: MIT
// cli: `ringside stats` prints load, switches, stacks and services of the events that filters
// leave.
#include "cli/cli.h"

static int run_stats(const struct cli_options *options)
{
    return cli_snapshot_run(options, "stats");
}

const struct cli_command cli_stats = {
    .group = CLI_EXAMINE,
    .name = "stats",
    .arguments = "[FILTER...] INPUT...",
    .summary = "show CPU load, switches, interrupts and stacks",
    .help =
        "Count the events that the filters let through. Loads are those of all events, whatever\n"
        "the filters leave out; those of several cores are not computed. With --json, print one\n"
        "object. For RKH, print latencies from post to get, queues, pools, timers, and the time\n"
        "in each state.\n",
    .takes = CLI_FILTERS,
    .run = run_stats,
};
