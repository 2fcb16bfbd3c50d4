// SPDX-License-Identifier: MIT
// cli: `ringside objects`. In: a trace. Out: its kernel objects.
#include "cli/cli.h"

static int run(const struct cli_options *options)
{
    return cli_look_run(options, "objects");
}

const struct cli_command cli_objects = {
    .name = "objects",
    .arguments = "INPUT...",
    .summary = "the kernel objects that the trace knows",
    .help = "Names that the trace lacks are taken from --elf. With --json one object a line.\n",
    .run = run,
};
