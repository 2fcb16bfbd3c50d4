// SPDX-License-Identifier: MIT
// cli/top: the loop. In: a source, a terminal's keys, signals. Out: a drawing each delay.
#define _GNU_SOURCE // ppoll
#include "cli/top/top.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>
#include <time.h>
#include <unistd.h>

struct loop {
    struct top_source *source;
    const struct extract_user_types *types;
    struct top_view *view;
    const struct top_options *options;
    struct top_screen screen;
    struct top_snapshot snapshot;
    struct extract_error *error;
    int *status;
    uint64_t next;     // when the next refresh is due
    uint64_t shown;    // refreshes
    bool redraw, quit; // what the last wait has brought
};

enum extract_code top_signals(int *descriptor, bool batch, struct extract_error *error)
{
    static const int ending[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
    static const int screens[] = {SIGTSTP, SIGCONT, SIGWINCH};
    sigset_t set;
    sigemptyset(&set);
    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaddset(&set, ending[i]);
    for (size_t i = 0; !batch && i < sizeof screens / sizeof *screens; i++)
        sigaddset(&set, screens[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
    *descriptor = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
    if (*descriptor < 0)
        return extract_error_set(error, EXTRACT_IO, "signals", NULL, "%s", strerror(errno));
    return EXTRACT_OK;
}

// ^Z: the shell gets its own terminal back until it sends SIGCONT.
static enum extract_code stand_by(struct loop *loop)
{
    top_screen_close(&loop->screen);
    kill(getpid(), SIGSTOP);
    loop->redraw = true;
    return top_screen_open(&loop->screen, loop->error);
}

static enum extract_code take_signals(struct loop *loop)
{
    struct signalfd_siginfo info;
    enum extract_code code = EXTRACT_OK;

    while (!code && read(loop->options->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTSTP)
            code = stand_by(loop);
        else if (info.ssi_signo == SIGWINCH || info.ssi_signo == SIGCONT)
            loop->redraw = true;
        else
            loop->quit = true;
    }
    return code;
}

static void take_keys(struct loop *loop)
{
    char bytes[256];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);

    if (got <= 0) { // poll said that there is something: the terminal has gone
        loop->quit |= got == 0 || (errno != EINTR && errno != EAGAIN);
        return;
    }
    enum top_action act = top_handle_keys(loop->view, bytes, (size_t)got);
    if (act == TOP_CLEAR)
        top_window_clear(&loop->source->window);
    if (act == TOP_CLEAR) // shows at once that the window is empty
        loop->next = extract_now();
    loop->quit |= act == TOP_QUIT;
    loop->redraw |= act != TOP_NOTHING;
}

static enum extract_code wait_for(struct loop *loop, uint64_t ns)
{
    struct pollfd fds[2] = {{.fd = loop->options->signals, .events = POLLIN},
                            {.fd = STDIN_FILENO, .events = POLLIN}};
    struct timespec time = {(time_t)(ns / EXTRACT_SECOND), (long)(ns % EXTRACT_SECOND)};
    enum extract_code code = EXTRACT_OK;

    if (ppoll(fds, loop->options->batch ? 1 : 2, &time, NULL) <= 0)
        return EXTRACT_OK;
    if (fds[0].revents)
        code = take_signals(loop);
    if (!code && fds[1].revents)
        take_keys(loop);
    return code;
}

// Batch mode: blocks of text, an empty line between them; or a line of JSON each.
static void print(struct loop *loop, const struct extract_text *drawing)
{
    struct cli_output output;

    cli_output_open(&output);
    if (loop->shown && !loop->view->report.json)
        extract_text_putc(&output.text, '\n');
    extract_text_put(&output.text, drawing->data, drawing->used);
    *loop->status = cli_output_close(&output, CLI_WHOLE);
    loop->quit |= *loop->status != CLI_WHOLE;
}

static enum extract_code draw(struct loop *loop)
{
    struct extract_text drawing;
    struct top_size size = {0, 0};
    enum extract_code code = EXTRACT_OK;

    extract_text_init(&drawing, NULL, NULL);
    if (!loop->options->batch)
        size = top_screen_size();
    if (loop->view->report.json)
        top_draw_json(&drawing, &loop->snapshot, loop->view);
    else
        top_draw(&drawing, &loop->snapshot, loop->view, size);
    if (drawing.code)
        code = extract_error_set(loop->error, drawing.code, "drawing", NULL, "out of memory");
    else if (loop->options->batch)
        print(loop, &drawing);
    else
        loop->quit |= !top_screen_show(&drawing, size);
    extract_text_free(&drawing);
    loop->redraw = false;
    return code;
}

// Makes the look again, unless the screen is held.
static enum extract_code refresh(struct loop *loop)
{
    uint64_t now = extract_now();

    loop->next += loop->options->delay;
    if (loop->next < now) // what was late is not made up for
        loop->next = now + loop->options->delay;
    if (loop->view->paused)
        return EXTRACT_OK;
    top_snapshot_close(&loop->snapshot);
    enum extract_code code =
        top_snapshot_open(&loop->snapshot, loop->source, loop->types, loop->error);
    if (!code)
        code = draw(loop);
    loop->shown++;
    loop->quit |= loop->options->count && loop->shown >= loop->options->count;
    loop->quit |= loop->options->batch && top_source_ended(loop->source);
    return code;
}

static enum extract_code run(struct loop *loop)
{
    enum extract_code code = EXTRACT_OK;

    loop->next = extract_now();
    while (!code && !loop->quit) {
        uint64_t now = extract_now(), due = top_source_due(loop->source);
        uint64_t left = loop->next > now ? loop->next - now : 0;
        code = wait_for(loop, due < left ? due : left);
        if (code || loop->quit)
            break;
        if (!top_source_due(loop->source))
            code = top_source_poll(loop->source, loop->error);
        if (!code && extract_now() >= loop->next)
            code = refresh(loop);
        if (!code && loop->redraw)
            code = draw(loop);
    }
    return code;
}

enum extract_code top_run(struct top_source *source, const struct extract_user_types *types,
                          struct top_view *view, const struct top_options *options, int *status,
                          struct extract_error *error)
{
    struct loop loop = {.source = source,
                        .types = types,
                        .view = view,
                        .options = options,
                        .status = status,
                        .error = error};
    enum extract_code code = EXTRACT_OK;

    if (!options->batch)
        code = top_screen_open(&loop.screen, error);
    if (!code)
        code = run(&loop);
    top_screen_close(&loop.screen);
    top_snapshot_close(&loop.snapshot);
    return code;
}
