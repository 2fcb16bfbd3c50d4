// SPDX-License-Identifier: MIT
// cli/top: the loop, which waits for a poll, a refresh, a key or a signal, whichever is first.
//
// The source is polled as often as it wants. Once per delay the window is opened as a snapshot and
// drawn. Keys and changes of the terminal draw the same snapshot again at once.
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
    uint64_t refresh_due_ns;
    uint64_t refresh_count;
    bool must_redraw, must_quit;
};

enum extract_code top_signals_open(int *descriptor, bool batch, struct extract_error *error)
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

// Handles ^Z: the shell has the terminal, as it was before, until it sends SIGCONT.
static enum extract_code suspend_program(struct loop *loop)
{
    top_screen_close(&loop->screen);
    kill(getpid(), SIGSTOP);
    loop->must_redraw = true;
    return top_screen_open(&loop->screen, loop->error);
}

static enum extract_code read_signals(struct loop *loop)
{
    struct signalfd_siginfo info;
    enum extract_code code = EXTRACT_OK;

    while (!code && read(loop->options->signals, &info, sizeof info) == (ssize_t)sizeof info) {
        if (info.ssi_signo == SIGTSTP)
            code = suspend_program(loop);
        else if (info.ssi_signo == SIGWINCH || info.ssi_signo == SIGCONT)
            loop->must_redraw = true;
        else
            loop->must_quit = true;
    }
    return code;
}

static void read_keys(struct loop *loop)
{
    char bytes[256];
    ssize_t got = read(STDIN_FILENO, bytes, sizeof bytes);

    if (got <= 0) { // ppoll reported input: an end of file means that the terminal is gone
        loop->must_quit |= got == 0 || (errno != EINTR && errno != EAGAIN);
        return;
    }
    enum top_action act = top_handle_keys(loop->view, bytes, (size_t)got);
    if (act == TOP_CLEAR) {
        top_window_clear(&loop->source->window);
        loop->refresh_due_ns = extract_now(); // shows at once that the window is empty
    }
    loop->must_quit |= act == TOP_QUIT;
    loop->must_redraw |= act != TOP_NOTHING;
}

// Waits at most `ns` for keys and signals, and handles them.
static enum extract_code wait_for_input(struct loop *loop, uint64_t ns)
{
    struct pollfd fds[2] = {{.fd = loop->options->signals, .events = POLLIN},
                            {.fd = STDIN_FILENO, .events = POLLIN}};
    struct timespec time = {(time_t)(ns / EXTRACT_SECOND), (long)(ns % EXTRACT_SECOND)};
    enum extract_code code = EXTRACT_OK;

    if (ppoll(fds, loop->options->batch ? 1 : 2, &time, NULL) <= 0)
        return EXTRACT_OK;
    if (fds[0].revents)
        code = read_signals(loop);
    if (!code && fds[1].revents)
        read_keys(loop);
    return code;
}

// Prints a drawing in batch mode: as text after an empty line, or as one line of JSON.
static void print_drawing(struct loop *loop, const struct extract_text *drawing)
{
    struct cli_output output;

    cli_output_open(&output);
    if (loop->refresh_count && !loop->view->report.json)
        extract_text_putc(&output.text, '\n');
    extract_text_put(&output.text, drawing->data, drawing->used);
    *loop->status = cli_output_close(&output, CLI_SUCCESS);
    loop->must_quit |= *loop->status != CLI_SUCCESS;
}

static enum extract_code draw_snapshot(struct loop *loop)
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
        print_drawing(loop, &drawing);
    else
        loop->must_quit |= !top_screen_show(&drawing, size);
    extract_text_free(&drawing);
    loop->must_redraw = false;
    return code;
}

// Opens a new snapshot and draws it, unless the screen is paused.
static enum extract_code refresh_screen(struct loop *loop)
{
    uint64_t now = extract_now();

    loop->refresh_due_ns += loop->options->delay_ns;
    if (loop->refresh_due_ns < now) // a refresh that was late is not made up for
        loop->refresh_due_ns = now + loop->options->delay_ns;
    if (loop->view->is_paused)
        return EXTRACT_OK;
    top_snapshot_close(&loop->snapshot);
    enum extract_code code =
        top_snapshot_open(&loop->snapshot, loop->source, loop->types, loop->error);
    if (!code)
        code = draw_snapshot(loop);
    loop->refresh_count++;
    loop->must_quit |= loop->options->count && loop->refresh_count >= loop->options->count;
    loop->must_quit |= loop->options->batch && top_source_has_ended(loop->source);
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
    loop.refresh_due_ns = extract_now();
    while (!code && !loop.must_quit) {
        uint64_t now = extract_now(), poll_in_ns = top_source_due_ns(source);
        uint64_t refresh_in_ns = loop.refresh_due_ns > now ? loop.refresh_due_ns - now : 0;
        code = wait_for_input(&loop, poll_in_ns < refresh_in_ns ? poll_in_ns : refresh_in_ns);
        if (code || loop.must_quit)
            break;
        if (!top_source_due_ns(source))
            code = top_source_poll(source, error);
        if (!code && extract_now() >= loop.refresh_due_ns)
            code = refresh_screen(&loop);
        if (!code && loop.must_redraw)
            code = draw_snapshot(&loop);
    }
    top_screen_close(&loop.screen);
    top_snapshot_close(&loop.snapshot);
    return code;
}
