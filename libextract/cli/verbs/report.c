// SPDX-License-Identifier: MIT
// cli: `ringside report` and `ringside last`. In: a trace, filters. Out: the events.
#include "cli/cli.h"

static int run_report(const struct cli_options *options)
{
    return cli_look_run(options, "report");
}

// `last N INPUT...` is `report --last N INPUT...`.
static int run_last(const struct cli_options *options)
{
    struct cli_options rest = *options;
    struct extract_condition *conditions = (struct extract_condition *)rest.session.conditions;

    if (rest.input_count + cli_is_live(options) < 2)
        return cli_refuse("last", "write ringside last N INPUT", "no input is given");
    conditions[rest.session.condition_count++] =
        (struct extract_condition){EXTRACT_FILTER_LAST, rest.inputs[0]};
    rest.inputs++;
    rest.input_count--;
    return cli_look_run(&rest, "report");
}

const struct cli_command cli_report = {
    .name = "report",
    .alias = "dump",
    .arguments = "[FILTER...] INPUT...",
    .summary = "the events, oldest first",
    .help = "One line an event; with --json one object a line.\n",
    .takes = CLI_FILTERS,
    .run = run_report,
};

const struct cli_command cli_last = {
    .name = "last",
    .arguments = "N [FILTER...] INPUT...",
    .summary = "the newest N events",
    .help = "The same as report --last N.\n",
    .takes = CLI_FILTERS,
    .run = run_last,
};
