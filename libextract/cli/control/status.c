// SPDX-License-Identifier: MIT
// cli: `ringside status`. In: a trace. Out: posix_trace_status_info of its stream, in words.
#include "cli/cli.h"

static int run(const struct cli_options *options)
{
    return cli_look_run(options, "status");
}

const struct cli_command cli_status = {
    .name = "status",
    .arguments = "INPUT...",
    .summary = "whether a stream runs, is full, has lost events; and its log",
    .help = "The words are those of posix_trace_get_status, for every format of trace.\n",
    .takes = 0,
    .run = run,
};
