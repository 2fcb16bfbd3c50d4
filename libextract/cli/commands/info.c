// SPDX-License-Identifier: MIT
// cli: `ringside info`. In: a trace. Out: its layout, state and losses.
#include "cli/cli.h"

static int run(const struct cli_options *options)
{
    return cli_look_run(options, "info");
}

const struct cli_command cli_info = {
    .name = "info",
    .arguments = "INPUT...",
    .summary = "layout and state of the trace, and what was lost",
    .help = "Prints `key: value` lines, or with --json one object.\n",
    .run = run,
};
