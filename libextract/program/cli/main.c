// SPDX-License-Identifier: MIT
// cli: the program `ringside`. Parses the arguments, checks them against the command that they
// name, and runs it. The status of the command is the exit status.
#include "cli/cli.h"
#include <signal.h>
#include <stdio.h>

// Writes the names of the commands that take an option: "record and periodic".
static void list_takers(const struct option_row *row, char *text, size_t size)
{
    const struct cli_command *command, *takers[32];
    size_t count = 0, used = 0;

    for (size_t i = 0; (command = cli_command_at(i)); i++) {
        bool is_taker = command != &cli_help && command != &cli_version;
        if (is_taker && command->takes & row->takes && count < sizeof takers / sizeof *takers)
            takers[count++] = command;
    }
    text[0] = '\0';
    for (size_t i = 0; i < count && used < size; i++)
        used += (size_t)snprintf(text + used, size - used, "%s%s",
                                 !i               ? ""
                                 : i + 1 == count ? " or "
                                                  : ", ",
                                 takers[i]->name);
}

// Refuses options that the command would ignore, and a command without the input that it needs.
// Returns the status.
static int check_options(const struct cli_command *command, const struct cli_options *options)
{
    const struct option_row *row =
        option_table_misplaced(&cli_option_table, options->given, command->takes);
    char name[OPTION_NAME_BYTES], takers[128], hint[160], why[80];

    if (row) {
        list_takers(row, takers, sizeof takers);
        snprintf(hint, sizeof hint, "use it with %s", takers);
        snprintf(why, sizeof why, "'%s' does not take this option", command->name);
        return cli_refuse(option_name(row, options->given[row - cli_option_table.rows], name), hint,
                          why);
    }
    for (size_t i = 0; i < cli_option_table.count; i++)
        if (options->given[i] && cli_option_table.rows[i].needs_live && !cli_is_live(options))
            return cli_refuse(option_name(&cli_option_table.rows[i], options->given[i], name),
                              "use --openocd or --remote as well",
                              "the option is only for live targets");
    if (!options->input_count && !cli_is_live(options) && !(command->takes & CLI_NO_INPUT) &&
        !options->feeding.listen && !options->reporting.check && !options->reporting.list)
        return cli_refuse(command->name,
                          "use FILE.trx, IMAGE@ADDRESS, - for standard input, or --openocd SERVER",
                          "no input is given");
    return CLI_SUCCESS;
}

static int run_command(struct cli_options *options)
{
    const char *name = options->command;

    if (options->version) {
        name = "version";
    } else if (options->help) { // the help of the command, if one is given
        options->input_count = name != NULL;
        options->inputs[0] = name;
        name = "help";
    }
    if (!name)
        return cli_refuse("command", cli_option_table.hint, "none is given");
    const struct cli_command *command = cli_command_find(name);
    if (!command)
        return cli_command_refuse(name);
    int status = check_options(command, options);
    return status ? status : command->run(options);
}

int main(int argc, char **argv)
{
    struct cli_options options;

    signal(SIGPIPE, SIG_IGN); // writing to a closed pipe fails with EPIPE
    signal(SIGXFSZ, SIG_IGN); // writing beyond the limit of file sizes fails with EFBIG
    const struct cli_command *first = argc > 1 ? cli_command_find(argv[1]) : NULL;
    if (first && first->run_subcommand)
        return first->run_subcommand(argc - 1, argv + 1);
    cli_messages_use(&options);
    int status = cli_options_parse(&options, argc, argv) ? run_command(&options) : CLI_USAGE;
    cli_messages_use(NULL);
    cli_options_free(&options);
    return status;
}
