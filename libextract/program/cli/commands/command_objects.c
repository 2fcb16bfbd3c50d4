// SPDX-License-Identifier: MIT
// cli: `ringside objects` lists the kernel objects of a trace.
#include "cli/cli.h"

static int run_objects(const struct cli_options *options)
{
    return options->kernel ? cli_kernel_run(options, false) : cli_snapshot_run(options, "objects");
}

const struct cli_command cli_objects = {
    .group = CLI_EXAMINE,
    .name = "objects",
    .arguments = "INPUT...",
    .summary = "list kernel objects",
    .help = "Names that the trace lacks are taken from --elf. With --json, print one object per "
            "line.\n",
    .takes = CLI_ROLES | CLI_KERNEL,
    .run = run_objects,
};
