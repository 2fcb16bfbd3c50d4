// SPDX-License-Identifier: MIT
// cli: the program. In: arguments. Out: the status of the command that they name.
#include "cli/cli.h"
#include <signal.h>

// What a command does not take must not be passed over in silence.
static int check_options(const struct cli_command *command, const struct cli_options *options)
{
    const struct cli_recording *recording = &options->recording;
    const struct {
        unsigned takes;
        bool given;
        const char *hint, *why;
    } kinds[] = {
        {CLI_FILTERS, options->session.condition_count > 0,
         "filters go with report, last and stats", "it takes no filter"},
        {CLI_OUTPUT, options->output != NULL, "redirect standard output instead",
         "it takes no --output"},
        {CLI_REFRESH, options->delay_ms || options->batch, "they go with top",
         "it takes no --delay or --batch"},
        {CLI_COUNT, options->count > 0, "it goes with top and periodic", "it takes no --count"},
        {CLI_RECORD, recording->given, "they go with record",
         "it takes no --policy, --size, --until or --sync"},
        {CLI_TIMED, recording->timed, "they go with record and periodic",
         "it takes no --every or --for"},
        {CLI_KEEP, recording->keep > 0, "it goes with periodic", "it takes no --keep"},
    };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i].given && !(command->takes & kinds[i].takes))
            return cli_refuse(command->name, kinds[i].hint, kinds[i].why);
    if (options->reporting.given && !(command->takes & CLI_REPORT))
        return cli_refuse(options->reporting.given, "it goes with report and last",
                          "this command does not take it");
    if ((options->target || options->timeout_ms) && !cli_is_live(options))
        return cli_refuse(command->name, "give --openocd or --remote as well",
                          "--target and --timeout are for live targets");
    if (!options->input_count && !cli_is_live(options) && !(command->takes & CLI_NO_INPUT) &&
        !options->feeding.listen && !options->reporting.check && !options->reporting.list)
        return cli_refuse(command->name,
                          "write FILE.trx, IMAGE@ADDRESS, - for standard input, or --openocd",
                          "no input is given");
    return CLI_WHOLE;
}

static int run(struct cli_options *options)
{
    const char *name = options->command;
    if (options->version) {
        name = "version";
    } else if (options->help) { // of the command that stands there, if any
        options->input_count = name != NULL;
        options->inputs[0] = name;
        name = "help";
    }
    if (!name)
        return cli_refuse("command", "see ringside --help", "none is given");
    const struct cli_command *command = cli_command_find(name);
    if (!command)
        return cli_command_refuse(name);
    int status = check_options(command, options);
    return status ? status : command->run(options);
}

int main(int argc, char **argv)
{
    struct cli_options options;

    signal(SIGPIPE, SIG_IGN); // a write then fails with EPIPE, which ends us in order
    signal(SIGXFSZ, SIG_IGN); // or with EFBIG, at the limit of file sizes
    const struct cli_command *first = argc > 1 ? cli_command_find(argv[1]) : NULL;
    if (first && first->run_words)
        return first->run_words(argc - 1, argv + 1);
    int status = cli_options_parse(&options, argc, argv) ? run(&options) : CLI_USAGE;
    cli_options_free(&options);
    return status;
}
