// SPDX-License-Identifier: MIT
// cli: `ringside top` shows a live target, or a log that is being recorded, on a screen that is
// drawn again after each delay. Without a terminal it prints blocks of text or lines of JSON.
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

// A screen has not the room for more.
static const struct extract_columns narrow = {
    .size = sizeof narrow,
    .seq = true,
    .exec = true,
    .duplicates = true,
    .times = EXTRACT_TIMES_SHORT,
};

static void set_up(struct top_options *top, struct top_view *view,
                   const struct cli_options *options)
{
    const struct extract_session_options *session = &options->session;

    top->batch = options->batch || session->json || !has_screen();
    top->count = options->count;
    top->delay = options->delay_ms ? options->delay_ms * (EXTRACT_SECOND / 1000) : EXTRACT_SECOND;
    view->sort = TOP_LOAD;
    view->report = (struct extract_report_options){.size = sizeof view->report,
                                                   .hz = session->hz,
                                                   .json = session->json,
                                                   .no_header = session->no_header,
                                                   .color = session->color,
                                                   .columns = &narrow};
}

static int check(const struct cli_options *options)
{
    if (options->input_count > 1)
        return cli_refuse("top", "use one log, or a live target", "more than one input is given");
    if (options->input_count && options->output)
        return cli_refuse("--output", "use it with a live target", "the input is already a log");
    return CLI_WHOLE;
}

// What was lost is named behind the screen, as the other commands do it.
static int judge(const struct top_source *source, const struct cli_options *options)
{
    const struct top_state *state = &source->window.state;
    struct extract_error error;
    char line[sizeof error.what + sizeof error.why + 8];

    if (!state->gaps)
        return CLI_WHOLE;
    extract_error_set(&error, EXTRACT_BAD, source->name, NULL, "%s%" PRIu64 " event%s lost",
                      state->gaps_not_exact ? "at least " : "", state->lost,
                      state->lost == 1 ? " was" : "s were");
    if (!options->quiet)
        fprintf(stderr, "ringside: %s\n", extract_error_format(&error, line, sizeof line));
    return CLI_LOSSES;
}

static int watch(struct top_source *source, const struct cli_options *options,
                 const struct extract_user_types *types)
{
    int status = CLI_WHOLE;
    struct extract_error error, closing;
    struct top_options top;
    struct top_view view = {0};

    set_up(&top, &view, options);
    if (!top_filter_line_write(view.line, &options->session))
        return cli_refuse("top", "use fewer filters", "the filters are too long for a filter line");
    enum extract_code code = top_signals(&top.signals, top.batch, &error);
    if (!code)
        code = top_source_open(source, options, top.delay, &error);
    if (!code)
        code = top_run(source, types, &view, &top, &status, &error);
    if (code)
        status = cli_complain(&error);
    else if (!status)
        status = judge(source, options);
    if (top_source_close(source, &closing))
        status = cli_complain(&closing);
    close(top.signals);
    return status;
}

static int run(const struct cli_options *options)
{
    struct extract_user_types *types = NULL;
    struct extract_error error;
    struct top_source *source = calloc(1, sizeof *source);
    int status = check(options);

    if (!status && !source)
        status = cli_refuse("top", NULL, "out of memory");
    if (!status && options->user_events &&
        extract_user_types_open(&types, options->user_events, &error))
        status = cli_complain(&error);
    if (!status)
        status = watch(source, options, types);
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
    .takes = CLI_FILTERS | CLI_OUTPUT | CLI_REFRESH | CLI_COUNT,
    .run = run,
};
