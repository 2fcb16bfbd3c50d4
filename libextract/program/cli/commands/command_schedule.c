// SPDX-License-Identifier: MIT
// cli: `ringside schedule` prints who had each core, what threads waited for, and who woke them.
#include "cli/cli.h"

static int run_schedule(const struct cli_options *options)
{
    return cli_snapshot_run(options, "schedule");
}

const struct cli_command cli_schedule = {
    .group = CLI_EXAMINE,
    .name = "schedule",
    .arguments = "[--from TIME] [--to TIME] [--thread T] INPUT...",
    .summary = "show who ran, who waited, and who woke whom",
    .help = "Print which thread or interrupt had each core, the states of every thread, what made\n"
            "threads ready, and who held which mutex, in ticks. What the events do not prove is\n"
            "\"unknown\". With --json, print one object per line.\n",
    .takes = CLI_PARTS | CLI_ROLES,
    .run = run_schedule,
};
