// SPDX-License-Identifier: MIT
// cli: `ringside status`. In: a trace. Out: posix_trace_status_info of its stream, in words.
#include "cli/cli.h"

static int run(const struct cli_options *options)
{
    return cli_snapshot_run(options, "status");
}

const struct cli_command cli_status = {
    .group = CLI_FOLLOW,
    .name = "status",
    .arguments = "INPUT...",
    .summary = "show whether a stream is running, full or overrun",
    .help = "The words are those of posix_trace_get_status, for every format of trace.\n",
    .takes = 0,
    .run = run,
};
