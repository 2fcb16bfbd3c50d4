// SPDX-License-Identifier: MIT
// cli: `ringside help` and --help: the overview, the help of one command, and the completion for
// bash. All three are made from the tables of commands and options.
#include "cli/cli.h"
#include <ctype.h>
#include <string.h>

static const char *const headings[CLI_GROUPS] = {"Examine a trace", "Follow a live target",
                                                 "Control a live target", "Files and setup"};

static void put_overview(struct extract_text *text)
{
    const struct cli_command *command;

    extract_text_puts(text,
                      "Usage: ringside COMMAND [OPTION]... INPUT...\n\n"
                      "Read the trace of a real-time system from a dump, a core file or a live "
                      "target.\n");
    for (unsigned group = 0; group < CLI_GROUPS; group++) {
        extract_text_printf(text, "\n%s:\n", headings[group]);
        for (size_t i = 0; (command = cli_command_at(i)); i++)
            if (command->group == group)
                extract_text_printf(text, "  %-14s  %s\n", command->name, command->summary);
    }
    extract_text_puts(text,
                      "\nInputs:\n"
                      "  FILE            a dump (.trx .hook .rkr .ptr), log, ELF core, Intel HEX "
                      "or S-record file\n"
                      "  IMAGE@ADDRESS   a raw image of memory; several form one memory\n"
                      "  -, -@ADDRESS    standard input: a dump, or a raw image\n\n");
    option_table_help(&cli_option_table, text, CLI_OUTPUT);
    extract_text_puts(text,
                      "\nExit status: 0 success, 1 usage error, 2 read or write error, 3 losses or "
                      "damage,\n4 a failed assertion (assert).\n"
                      "See 'ringside help COMMAND' for more options, and man ringside.\n");
}

static void put_command(struct extract_text *text, const struct cli_command *command)
{
    extract_text_printf(text, "Usage: ringside %s%s%s\n", command->name,
                        command->arguments[0] ? " " : "", command->arguments);
    if (command->alias)
        extract_text_printf(text, "       (also ringside %s)\n", command->alias);
    extract_text_printf(text, "%c%s.\n%s", toupper((unsigned char)command->summary[0]),
                        command->summary + 1, command->help);
    extract_text_putc(text, '\n');
    if (command->run_subcommand)
        option_table_help(command->subcommand_options, text, ~0u);
    else
        option_table_help(&cli_option_table, text, command->takes);
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
        extract_text_printf(text, "    %s%s%s) words='", command->name, command->alias ? " | " : "",
                            command->alias ? command->alias : "");
        for (size_t k = 0; command->run_subcommand && command->subcommands[k]; k++)
            extract_text_printf(text, " %s", command->subcommands[k]);
        if (command->run_subcommand)
            option_table_names(command->subcommand_options, text, ~0u);
        else
            option_table_names(&cli_option_table, text, command->takes);
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

static int run_help(const struct cli_options *options)
{
    bool is_completion = options->input_count && strcmp(options->inputs[0], "bash-completion") == 0;
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
    return cli_output_close(&output, CLI_SUCCESS);
}

const struct cli_command cli_help = {
    .group = CLI_SETUP,
    .name = "help",
    .arguments = "[COMMAND | bash-completion]",
    .summary = "show help, or the help of a command",
    .help = "To complete commands, options and files in bash:\n"
            "  source <(ringside help bash-completion)\n",
    .takes = CLI_NO_INPUT | CLI_FILTERS | CLI_OUTPUT,
    .run = run_help,
};
