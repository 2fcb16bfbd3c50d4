// SPDX-License-Identifier: MIT
// cli: `ringside top` shows a live target, or a log that is being recorded, on a screen that it
// refreshes after each delay. Without a terminal, it prints blocks of text or lines of JSON.
//
// This file prepares the options and the source; cli/top/top_loop.c does the work.
#include "cli/top/top.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static bool has_screen(void)
{
    const char *term = getenv("TERM");

    return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) && term && strcmp(term, "dumb");
}

// Columns that fit on a screen.
static const struct extract_columns narrow_columns = {
    .size = sizeof narrow_columns,
    .seq = true,
    .exec = true,
    .duplicates = true,
    .times = EXTRACT_TIMES_SHORT,
};

static void set_options(struct top_options *top, struct top_view *view,
                        const struct cli_options *options)
{
    const struct extract_session_options *session = &options->session;

    top->batch = options->batch || session->json || !has_screen();
    top->count = options->count;
    top->delay_ns =
        options->delay_ms ? options->delay_ms * (EXTRACT_SECOND / 1000) : EXTRACT_SECOND;
    view->sort = TOP_LOAD;
    view->report = (struct extract_report_options){.size = sizeof view->report,
                                                   .hz = session->hz,
                                                   .json = session->json,
                                                   .no_header = session->no_header,
                                                   .color = session->color,
                                                   .columns = &narrow_columns};
}

// Prints how much was lost, as other commands do at their end. Returns the status.
static int report_losses(const struct top_source *source, const struct cli_options *options)
{
    const struct top_state *state = &source->window.state;

    if (!state->gaps)
        return CLI_SUCCESS;
    if (!options->quiet)
        cli_print_note(source->name, "%s%" PRIu64 " event%s lost",
                       state->gaps_not_exact ? "at least " : "", state->lost,
                       state->lost == 1 ? " was" : "s were");
    return CLI_LOSSES;
}

static int run_on_source(struct top_source *source, const struct cli_options *options,
                         const struct extract_user_types *types)
{
    int status = CLI_SUCCESS;
    struct extract_error error, closing;
    struct top_options top;
    struct top_view view = {0};

    set_options(&top, &view, options);
    if (!top_filter_line_write(view.filter_line, &options->session))
        return cli_refuse("top", "use fewer filters", "the filters are too long for a filter line");
    enum extract_code code = top_signals_open(&top.signals, top.batch, &error);
    if (!code)
        code = top_source_open(source, options, top.delay_ns, &error);
    if (!code)
        code = top_run(source, types, &view, &top, &status, &error);
    if (code)
        status = cli_complain(&error);
    else if (!status)
        status = report_losses(source, options);
    if (top_source_close(source, &closing))
        status = cli_complain(&closing);
    close(top.signals);
    return status;
}

static int run_top(const struct cli_options *options)
{
    struct extract_user_types *types = NULL;
    struct extract_error error;
    struct top_source *source = calloc(1, sizeof *source);
    int status = CLI_SUCCESS;

    if (options->input_count > 1)
        status = cli_refuse("top", "use one log, or a live target", "more than one input is given");
    else if (options->input_count && options->output)
        status = cli_refuse("--output", "use it with a live target", "the input is already a log");
    if (!status && !source)
        status = cli_refuse("top", NULL, "out of memory");
    if (!status && options->user_events &&
        extract_user_types_open(&types, options->user_events, &error))
        status = cli_complain(&error);
    if (!status)
        status = run_on_source(source, options, types);
    extract_user_types_close(types);
    free(source);
    return status;
}

const struct cli_command cli_top = {
    .group = CLI_FOLLOW,
    .name = "top",
    .arguments = "[FILTER...] FILE.log | --openocd SERVER | --remote SERVER | --pid PID",
    .summary = "show threads, load and new events live",
    .help = "Show a live target (--openocd, --remote, --pid), which -o FILE.log also records, or a "
            "log\n"
            "that is being recorded. On the screen, ? lists the keys.\n",
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_REFRESH | CLI_COUNT | CLI_ROLES,
    .run = run_top,
};
