// SPDX-License-Identifier: MIT
// cli: `ringside help` and --help. In: a command's name or nothing. Out: how it is used.
#include "cli/cli.h"
#include <ctype.h>

static void put_overview(struct extract_text *text)
{
    const struct cli_command *command;
    extract_text_puts(text, "Usage: ringside COMMAND [OPTION...] INPUT...\n"
                            "Reads the trace rings of real-time systems.\n\nCommands:\n");
    for (size_t i = 0; (command = cli_command_at(i)); i++)
        extract_text_printf(text, "  %-14s  %s\n", command->name, command->summary);
    extract_text_puts(
        text, "\nInputs:\n"
              "  FILE.trx       a dump of the ring; of hook words FILE.hook, of RKH FILE.rkr\n"
              "  FILE.log       a recording\n"
              "  IMAGE@ADDRESS  a raw image of memory; several make one memory\n"
              "  FILE           an ELF core, Intel HEX or S-record file\n"
              "  -, -@ADDRESS   standard input: a .trx, or a raw image\n\n");
    cli_options_help(text);
    extract_text_puts(text, "\nExit status: 0 whole, 1 usage, 2 unreadable, 3 read with losses or "
                            "damage.\nMore: man ringside\n");
}

static void put_command(struct extract_text *text, const struct cli_command *command)
{
    extract_text_printf(text, "Usage: ringside %s%s%s\n", command->name,
                        command->arguments[0] ? " " : "", command->arguments);
    if (command->alias)
        extract_text_printf(text, "       (also ringside %s)\n", command->alias);
    extract_text_printf(text, "%c%s.\n%s%s", toupper((unsigned char)command->summary[0]),
                        command->summary + 1, command->help,
                        command->run_words ? "" : "\nOptions: ringside --help\n");
}

static int run(const struct cli_options *options)
{
    const struct cli_command *command = NULL;
    struct cli_output output;

    if (options->input_count) {
        command = cli_command_find(options->inputs[0]);
        if (!command)
            return cli_command_refuse(options->inputs[0]);
    }
    cli_output_open(&output);
    if (command)
        put_command(&output.text, command);
    else
        put_overview(&output.text);
    return cli_output_close(&output, CLI_WHOLE);
}

const struct cli_command cli_help = {
    .name = "help",
    .arguments = "[COMMAND]",
    .summary = "how to use ringside, or one of its commands",
    .help = "",
    .takes = CLI_NO_INPUT | CLI_FILTERS | CLI_OUTPUT,
    .run = run,
};
