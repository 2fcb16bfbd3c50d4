// SPDX-License-Identifier: MIT
// cli: `ringside status` prints the status of a stream by the names of posix_trace_get_status.
#include "cli/cli.h"

static int run_status(const struct cli_options *options)
{
    return cli_snapshot_run(options, "status");
}

const struct cli_command cli_status = {
    .group = CLI_FOLLOW,
    .name = "status",
    .arguments = "INPUT...",
    .summary = "show whether a stream is running, full or overrun",
    .help = "The names are those of posix_trace_get_status, for every trace format.\n",
    .takes = 0,
    .run = run_status,
};
