// SPDX-License-Identifier: MIT
// cli: `ringside templates`, whose subcommands check, list, run and update files of templates.
#include "cli/templates/templates_commands.h"

static int print_help(void)
{
    const char *name = "templates";
    struct cli_options options = {.inputs = &name, .input_count = 1};

    return cli_help.run(&options);
}

static int run_chosen(const struct templates_options *options)
{
    switch (options->subcommand) {
    case SUBCOMMAND_RUN:
        return templates_run(options);
    case SUBCOMMAND_CHECK:
        return templates_check(options);
    case SUBCOMMAND_LIST:
        return templates_list(options);
    default:
        return templates_update(options);
    }
}

static int run_subcommand(int argc, char **argv)
{
    struct templates_options options;
    int status = CLI_USAGE;

    if (templates_options_parse(&options, argc, argv))
        status = options.help ? print_help() : run_chosen(&options);
    templates_options_free(&options);
    return status;
}

// Runs if an option comes before the word `templates`.
static int refuse_order(const struct cli_options *options)
{
    (void)options;
    return cli_refuse("templates", "use ringside templates SUBCOMMAND [OPTION...]",
                      "the command must be the first argument");
}

const struct cli_command cli_templates = {
    .group = CLI_SETUP,
    .name = "templates",
    .arguments = "SUBCOMMAND [OPTION...] [FILE...]",
    .summary = "check, list, run or update report templates",
    .help = "The language of these files: ringside-templates(5).\n"
            "\n"
            "  run FILE --entry HEX       print the text of one entry\n"
            "  check FILE...              print the errors in the files, which are one set\n"
            "  list [FILE...]             print hook ids and labels\n"
            "  update TARGET UPDATE-FILE  add, replace and delete templates in one step\n"
            "  update TARGET -x ID,...    print templates of TARGET as an update file\n",
    .takes = CLI_NO_INPUT,
    .run = refuse_order,
    .run_subcommand = run_subcommand,
    .subcommand_options = &templates_option_table,
    .subcommands = templates_subcommands,
};
