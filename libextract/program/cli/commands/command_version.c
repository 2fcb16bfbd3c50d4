// SPDX-License-Identifier: MIT
// cli: `ringside version` and --version print the version of the program.
#include "cli/cli.h"

static int run_version(const struct cli_options *options)
{
    struct cli_output output;

    (void)options;
    cli_output_open(&output);
    extract_text_puts(&output.text, "ringside " EXTRACT_VERSION "\n");
    return cli_output_close(&output, CLI_SUCCESS);
}

const struct cli_command cli_version = {
    .group = CLI_SETUP,
    .name = "version",
    .arguments = "",
    .summary = "show the version",
    .help = "",
    .takes = CLI_NO_INPUT | CLI_FILTERS | CLI_OUTPUT,
    .run = run_version,
};
