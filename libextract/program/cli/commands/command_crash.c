// SPDX-License-Identifier: MIT
// cli: `ringside crash` explains why a target stopped, from its memory and its registers.
#include "cli/cli.h"
#include <extract/report.h>
#include <extract/session.h>

static enum extract_code open_trace(struct extract_session **session,
                                    const struct extract_remains *remains,
                                    const struct cli_options *options, struct extract_error *error)
{
    static const struct extract_condition newest = {EXTRACT_FILTER_LAST, "16"};
    struct extract_session_options choice = options->session;

    choice.conditions = &newest;
    choice.condition_count = 1;
    choice.no_header = true;
    choice.color &= !options->html;
    return extract_session_open(session, remains->memory, remains->symbols, &choice, error);
}

static int print_page(struct extract_remains *remains, const struct cli_options *options)
{
    const struct extract_report_options report = {.size = sizeof report,
                                                  .json = options->session.json,
                                                  .html = options->html,
                                                  .no_header = options->session.no_header,
                                                  .color = options->session.color};
    struct extract_session *session = NULL;
    struct extract_error error;
    struct cli_output output;
    int status = remains->kernel && remains->kernel->problem_count ? CLI_LOSSES : CLI_SUCCESS;

    enum extract_code code = open_trace(&session, remains, options, &error);
    if (code == EXTRACT_NOMEM || code == EXTRACT_USAGE)
        return cli_complain(&error);
    if (code && !options->quiet)
        cli_print_note(error.what, "no trace: %s%s%s", error.why, *error.hint ? "; " : "",
                       error.hint);
    if (session && !extract_session_is_whole(session))
        status = CLI_LOSSES;
    if (session && !options->quiet)
        cli_print_lines(session, extract_memory_name(remains->memory), "damage");
    cli_output_open(&output);
    code = extract_session_crash(session, remains, &report, &output.text, &error);
    if (code && !output.fault)
        status = cli_complain(&error);
    status = cli_output_close(&output, status);
    extract_session_close(session);
    return status;
}

static int run_crash(const struct cli_options *options)
{
    struct extract_remains remains;
    struct extract_error error;
    if (options->html && options->session.json)
        return cli_refuse("--html", "use one of them", "--html cannot be combined with --json");
    enum extract_code code = cli_remains_open(&remains, options, true, &error);
    int status = code ? cli_complain(&error) : print_page(&remains, options);

    cli_live_release(remains.memory, options);
    cli_remains_close(&remains);
    return status;
}

const struct cli_command cli_crash = {
    .group = CLI_EXAMINE,
    .name = "crash",
    .arguments = "--elf ELF INPUT...",
    .summary = "explain why a target stopped",
    .help =
        "One page: what stopped it and where, in which thread, what else is unusual, all\n"
        "threads and objects, and the newest events. Each statement names its source, and how sure "
        "it\nis. A live target is halted for that time.\n",
    .takes = CLI_REGISTERS | CLI_HTML,
    .run = run_crash,
};
