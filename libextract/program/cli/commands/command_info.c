// SPDX-License-Identifier: MIT
// cli: `ringside info` prints the layout, the state and the losses of a trace.
#include "cli/cli.h"

static int run_info(const struct cli_options *options)
{
    return cli_snapshot_run(options, "info");
}

const struct cli_command cli_info = {
    .group = CLI_EXAMINE,
    .name = "info",
    .arguments = "INPUT...",
    .summary = "show layout, state and losses",
    .help = "Print `key: value` lines, or with --json one object.\n",
    .run = run_info,
};
