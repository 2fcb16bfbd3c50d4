// SPDX-License-Identifier: MIT
// cli: `ringside stats`. In: a trace, filters. Out: load, switches, stacks and services.
#include "cli/cli.h"

static int run(const struct cli_options *options)
{
    return cli_look_run(options, "stats");
}

const struct cli_command cli_stats = {
    .name = "stats",
    .arguments = "[FILTER...] INPUT...",
    .summary = "load, switches, interrupts, inversions, stacks, services",
    .help =
        "Counts the events that the filters leave; with --json one object. Of RKH: latencies from\n"
        "post to get, queues, pools, timers, and the time in each state.\n",
    .takes = CLI_FILTERS,
    .run = run,
};
