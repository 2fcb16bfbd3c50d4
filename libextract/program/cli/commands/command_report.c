// SPDX-License-Identifier: MIT
// cli: `ringside report` and `ringside last` print the events of a trace that filters leave.
#include "base/file.h"
#include "cli/cli.h"
#include "cli/templates/templates_commands.h"
#include <unistd.h>

// Runs `ringside templates check` or `list`: options -c and -j, as in trcrpt.
static int check_or_list_templates(const struct cli_options *options)
{
    const struct cli_reporting *reporting = &options->reporting;

    if (options->output)
        return cli_refuse("-o", "redirect standard output instead",
                          "-o cannot be combined with -c and -j");
    if (reporting->check && !reporting->template_count)
        return cli_refuse("-c", "use -t FILE", "no file of templates is given");
    struct templates_options templates = {
        .files = reporting->templates,
        .file_count = (int)reporting->template_count,
        .dialect = options->session.dialect,
        .format = options->session.format,
        .json = options->session.json,
        .verbose = reporting->verbose,
        .quiet = options->quiet,
    };
    return reporting->check ? templates_check(&templates) : templates_list(&templates);
}

static int report_events(struct cli_options *options)
{
    struct cli_reporting *reporting = &options->reporting;

    if (reporting->raw && !options->output && isatty(STDOUT_FILENO))
        return cli_refuse("-r", "use -o FILE, or redirect standard output",
                          "raw entries cannot go to a terminal");
    bool is_feed;
    int refused = cli_feed_check(options, &is_feed);
    if (refused || is_feed)
        return refused ? refused : cli_feed_run(options);
    reporting->columns.source = options->input_count ? extract_file_name(options->inputs[0]) : NULL;
    options->session.columns = &reporting->columns;
    return cli_snapshot_run(options, reporting->raw ? "raw" : "report");
}

// Returns whether several kinds of output are requested, of which all but one would be ignored.
static bool has_several_outputs(const struct cli_options *options)
{
    const struct cli_reporting *reporting = &options->reporting;
    bool json = options->session.json && !reporting->list;

    return reporting->check + reporting->list + reporting->raw + reporting->columns.histogram +
               json >
           1;
}

static int refuse_several_outputs(void)
{
    return cli_refuse("report", "use one of them",
                      "-c, -j, -r, -O hist and --json select different outputs");
}

static int run_report(const struct cli_options *options)
{
    struct cli_options rest = *options;

    if (has_several_outputs(options))
        return refuse_several_outputs();
    if (options->reporting.check || options->reporting.list)
        return check_or_list_templates(options);
    return report_events(&rest);
}

// Runs `last N INPUT...` as `report --last N INPUT...`.
static int run_last(const struct cli_options *options)
{
    struct cli_options rest = *options;
    struct extract_condition *conditions = (struct extract_condition *)rest.session.conditions;

    if (has_several_outputs(options))
        return refuse_several_outputs();
    if (rest.input_count + cli_is_live(options) < 2)
        return cli_refuse("last", "use ringside last N INPUT", "no input is given");
    conditions[rest.session.condition_count++] =
        (struct extract_condition){EXTRACT_FILTER_LAST, rest.inputs[0]};
    rest.inputs++;
    rest.input_count--;
    return report_events(&rest);
}

const struct cli_command cli_report = {
    .group = CLI_EXAMINE,
    .name = "report",
    .alias = "dump",
    .arguments = "[FILTER...] INPUT...",
    .summary = "show all events, oldest first",
    .help = "Print columns and texts as templates define them: ringside-report(1). With --json, "
            "print one\n"
            "object per line.\n",
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_REPORT | CLI_TEMPLATES | CLI_ROLES,
    .run = run_report,
};

const struct cli_command cli_last = {
    .group = CLI_EXAMINE,
    .name = "last",
    .arguments = "N [FILTER...] INPUT...",
    .summary = "show the newest N events",
    .help = "Do the same as report --last N.\n",
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_REPORT | CLI_TEMPLATES | CLI_ROLES,
    .run = run_last,
};
