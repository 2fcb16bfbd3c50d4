// SPDX-License-Identifier: MIT
// cli: opens one trace with the options of the command line, and runs a query of the session on it.
// When the trace is closed, losses are printed on standard error.
#include "base/file.h"
#include "cli/cli.h"
#include "cli/templates/templates_commands.h"
#include <stdio.h>
#include <string.h>

static void print_opened(const char *path)
{
    if (path)
        cli_print_note(extract_file_name(path), "opened");
}

// Prints the names of all files that will be opened.
static void print_files(const struct cli_options *options)
{
    for (int i = 0; i < options->input_count; i++)
        print_opened(options->inputs[i]);
    print_opened(options->elf);
    print_opened(options->user_events);
    for (size_t i = 0; i < options->role_count; i++)
        print_opened(options->roles[i]);
    for (size_t i = 0; i < options->reporting.template_count; i++)
        print_opened(options->reporting.templates[i]);
}

// Returns whether several options read standard input: only the first would get its data.
static bool shares_stdin(const struct cli_options *options)
{
    size_t count = 0;

    for (int i = 0; i < options->input_count; i++)
        count += strcmp(options->inputs[i], "-") == 0 || strncmp(options->inputs[i], "-@", 2) == 0;
    for (size_t i = 0; i < options->reporting.template_count; i++)
        count += strcmp(options->reporting.templates[i], "-") == 0;
    for (size_t i = 0; i < options->role_count; i++)
        count += strcmp(options->roles[i], "-") == 0;
    count += options->user_events && strcmp(options->user_events, "-") == 0;
    return count > 1;
}

int cli_snapshot_open_live(struct cli_snapshot *snapshot, const struct cli_options *options)
{
    struct extract_session_options session = options->session;
    struct extract_error error;
    enum extract_code code;

    memset(snapshot, 0, sizeof *snapshot);
    if (shares_stdin(options))
        return cli_refuse("-", "use a file for all but one",
                          "standard input can be read only once");
    if (options->reporting.verbose)
        print_files(options);
    code = cli_input_open(&snapshot->memory, &snapshot->log, options, &error);
    if (!code)
        code = cli_symbols_open(&snapshot->symbols, options, &error);
    if (!code && options->user_events)
        code = extract_user_types_open(&snapshot->types, options->user_events, &error);
    if (!code && options->role_count)
        code =
            extract_hook_roles_open(&snapshot->roles, options->roles, options->role_count, &error);
    if (!code)
        code = cli_reporting_dates(&session, options, snapshot->log, &snapshot->dates, &error);
    session.user_types = snapshot->types;
    session.hook_roles = snapshot->roles;
    if (!code && snapshot->log)
        code = extract_session_open_log(&snapshot->session, snapshot->log, snapshot->symbols,
                                        &session, &error);
    else if (!code)
        code = extract_session_open(&snapshot->session, snapshot->memory, snapshot->symbols,
                                    &session, &error);
    if (!code)
        code = cli_reporting_check_dates(options, snapshot->log,
                                         extract_session_trace(snapshot->session), &error);
    if (code)
        return cli_complain(&error);
    cli_program_check(snapshot->memory, snapshot->symbols, options);
    return CLI_SUCCESS;
}

int cli_snapshot_open(struct cli_snapshot *snapshot, const struct cli_options *options)
{
    int status = cli_snapshot_open_live(snapshot, options);

    cli_live_release(snapshot->memory, options);
    return status;
}

void cli_print_lines(struct extract_session *session, const char *name, const char *query)
{
    struct extract_text lines;
    struct extract_error error;

    extract_text_init(&lines, NULL, NULL);
    if (extract_session_run(session, query, &lines, &error))
        cli_complain(&error);
    for (size_t i = 0, length; i < lines.used; i += length + 1) {
        const char *end = memchr(lines.data + i, '\n', lines.used - i);
        length = end ? (size_t)(end - lines.data) - i : lines.used - i;
        cli_print_note(name, "%.*s", (int)length, lines.data + i);
    }
    extract_text_free(&lines);
}

int cli_snapshot_close(struct cli_snapshot *snapshot, const struct cli_options *options, int status)
{
    if (snapshot->session) {
        const char *name =
            snapshot->log ? options->inputs[0] : extract_memory_name(snapshot->memory);
        if (!status && !extract_session_is_whole(snapshot->session))
            status = CLI_LOSSES;
        if (!options->quiet)
            cli_print_lines(snapshot->session, name, "damage");
        if (options->cost)
            cli_print_lines(snapshot->session, name, "cost");
    }
    extract_session_close(snapshot->session);
    extract_hook_roles_close(snapshot->roles);
    extract_user_types_close(snapshot->types);
    extract_symbols_close(snapshot->symbols);
    extract_log_free(snapshot->log);
    extract_memory_close(snapshot->memory);
    return status;
}

int cli_snapshot_run(const struct cli_options *options, const char *query)
{
    struct cli_snapshot snapshot;
    struct cli_output output;
    struct extract_error error;

    int status = cli_snapshot_open(&snapshot, options);
    if (!status)
        status = cli_output_open_as(&output, options);
    if (!status) {
        enum extract_code code = extract_session_run(snapshot.session, query, &output.text, &error);
        const struct extract_templates *templates = extract_session_templates(snapshot.session);
        bool has_diagnosed = templates && !options->quiet && templates_diagnose(templates, false);
        if (code == EXTRACT_BAD && has_diagnosed) // the error is among the diagnostics
            status = CLI_UNREADABLE;
        else if (code && !output.fault)
            status = cli_complain(&error);
        if (code == EXTRACT_NOTFOUND)
            status = CLI_USAGE; // a filter matches nothing in this trace
        status = cli_output_close(&output, status);
    }
    return cli_snapshot_close(&snapshot, options, status);
}
