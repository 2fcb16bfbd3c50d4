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
        "Count the events that the filters let through. Loads are those of all events, whatever\n"
        "the filters leave out; those of several cores are not computed. With --json, print one\n"
        "object. For RKH, print latencies from post to get, queues, pools, timers, and the time\n"
        "in each state.\n",
    .takes = CLI_FILTERS,
    .run = run,
};
