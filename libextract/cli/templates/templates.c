// SPDX-License-Identifier: MIT
// cli: `ringside templates`. In: a verb, its options and files. Out: what the verb says.
#include "cli/templates/commands.h"

static int help(void)
{
    const char *name = "templates";
    struct cli_options options = {.inputs = &name, .input_count = 1};
    return cli_help.run(&options);
}

static int run_verb(const struct templates_options *options)
{
    switch (options->verb) {
    case VERB_RUN:
        return templates_run(options);
    case VERB_CHECK:
        return templates_check(options);
    case VERB_LIST:
        return templates_list(options);
    default:
        return templates_update(options);
    }
}

static int run_words(int argc, char **argv)
{
    struct templates_options options;
    int status = CLI_USAGE;
    if (templates_options_parse(&options, argc, argv))
        status = options.help ? help() : run_verb(&options);
    templates_options_free(&options);
    return status;
}

static int run(const struct cli_options *options)
{
    (void)options;
    return cli_refuse("templates", "put all options behind it: ringside templates VERB [OPTION...]",
                      "it is not the first word");
}

const struct cli_command cli_templates = {
    .name = "templates",
    .arguments = "VERB [OPTION...] [FILE...]",
    .summary = "check, list, try and update files of report templates",
    .help = "The language of these files: ringside-templates(5).\n"
            "\n"
            "run FILE --entry HEX   prints the text of one entry: hook word and data, big-endian\n"
            "  --bits 32|64         the width of its words (32)\n"
            "  --generic            it has a buffer; a hook word that says so needs no option\n"
            "  --little             numbers in its buffer have their lowest byte first\n"
            "  --pid P, --tid T     process and thread\n"
            "  --process PID=PATH   the name of a process; may come several times\n"
            "  --cpu N              the processor\n"
            "  --time T             seconds; nothing in the language shows them\n"
            "  --expand             blanks for tabs\n"
            "check FILE...          says what is wrong in the files, which are one set\n"
            "  -v, --verbose        counts the templates of each file\n"
            "  --strict             treat warnings as errors\n"
            "list [FILE...]         prints hook ids and labels\n"
            "  --format NAME        without files: the templates for this trace format (threadx)\n"
            "  --json               one JSON object a line\n"
            "update TARGET UPDATE-FILE\n"
            "                       adds, replaces and deletes templates of TARGET in one step\n"
            "  -o, --any-version    an older version replaces a newer one, too\n"
            "  --undo FILE          what takes it back (UPDATE-FILE with .undo.trc for .trc)\n"
            "  -v, --verbose        counts what was changed\n"
            "update TARGET -x ID,ID...\n"
            "                       prints templates of TARGET as an update file\n"
            "\n"
            "All: -q leaves out warnings; run, check, list: --dialect WORDS. -h is this text.\n",
    .takes = CLI_NO_INPUT,
    .run = run,
    .run_words = run_words,
};
