// SPDX-License-Identifier: MIT
// cli: `ringside help` and --help. In: a command's name or nothing. Out: how it is used.
#include "cli/cli.h"
#include <ctype.h>
#include <string.h>

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
    cli_options_help(text, NULL);
    extract_text_puts(text, "\nExit status: 0 whole, 1 usage, 2 unreadable, 3 read with losses or "
                            "damage.\nMore: man ringside\n");
}

static void put_command(struct extract_text *text, const struct cli_command *command)
{
    extract_text_printf(text, "Usage: ringside %s%s%s\n", command->name,
                        command->arguments[0] ? " " : "", command->arguments);
    if (command->alias)
        extract_text_printf(text, "       (also ringside %s)\n", command->alias);
    extract_text_printf(text, "%c%s.\n%s", toupper((unsigned char)command->summary[0]),
                        command->summary + 1, command->help);
    if (command->run_words)
        return;
    extract_text_putc(text, '\n');
    cli_options_help(text, command);
}

// Prints a completion for bash: commands, the options of the command, and files.
static void put_completion(struct extract_text *text)
{
    const struct cli_command *command;
    extract_text_puts(text, "_ringside() {\n"
                            "    local word=${COMP_WORDS[COMP_CWORD]} command='' words='' i\n"
                            "    for ((i = 1; i < COMP_CWORD; i++)); do\n"
                            "        [[ ${COMP_WORDS[i]} == -* ]] && continue\n"
                            "        command=${COMP_WORDS[i]}\n"
                            "        break\n"
                            "    done\n"
                            "    case $command in\n");
    for (size_t i = 0; (command = cli_command_at(i)); i++) {
        if (command->run_words)
            continue;
        extract_text_printf(text, "    %s%s%s) words='", command->name, command->alias ? " | " : "",
                            command->alias ? command->alias : "");
        cli_options_names(text, command);
        extract_text_puts(text, "' ;;\n");
    }
    extract_text_puts(text, "    '') words='--help --version");
    for (size_t i = 0; (command = cli_command_at(i)); i++)
        extract_text_printf(text, " %s%s%s", command->name, command->alias ? " " : "",
                            command->alias ? command->alias : "");
    extract_text_puts(text, "' ;;\n"
                            "    esac\n"
                            "    if [[ -z $command || $word == -* ]]; then\n"
                            "        mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$word\")\n"
                            "    else\n"
                            "        mapfile -t COMPREPLY < <(compgen -f -- \"$word\")\n"
                            "    fi\n"
                            "}\n"
                            "complete -o filenames -F _ringside ringside\n");
}

static int run(const struct cli_options *options)
{
    bool is_completion = options->input_count && !strcmp(options->inputs[0], "bash-completion");
    const struct cli_command *command = NULL;
    struct cli_output output;

    if (options->input_count && !is_completion) {
        command = cli_command_find(options->inputs[0]);
        if (!command)
            return cli_command_refuse(options->inputs[0]);
    }
    cli_output_open(&output);
    if (is_completion)
        put_completion(&output.text);
    else if (command)
        put_command(&output.text, command);
    else
        put_overview(&output.text);
    return cli_output_close(&output, CLI_WHOLE);
}

const struct cli_command cli_help = {
    .name = "help",
    .arguments = "[COMMAND | bash-completion]",
    .summary = "show how to use ringside, or one of its commands",
    .help = "To complete commands, options and files in bash:\n"
            "  source <(ringside help bash-completion)\n",
    .takes = CLI_NO_INPUT | CLI_FILTERS | CLI_OUTPUT,
    .run = run,
};
