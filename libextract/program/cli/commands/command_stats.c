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
    .summary = "show CPU load, response times, switches and stacks",
    .help =
        "Count the events that the filters let through. Times are those of all events, whatever\n"
        "the filters leave out. With --json, print one object. For RKH, print latencies from post\n"
        "to get, queues, pools, timers, and the time in each state. --span adds times between two\n"
        "events of your own.\n",
    .takes = CLI_FILTERS | CLI_SPANS | CLI_ROLES,
    .run = run_stats,
};
