// SPDX-License-Identifier: MIT
// cli: live targets of --openocd, --remote and --pid.
//
// A halted target must be resumed before the program ends. So, while a target is open, signals that
// end the program only set a flag, which also cancels a wait for the target. After the last read,
// the time that the target was halted is printed on standard error.
#include "cli/cli.h"
#include <extract/memory.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_TIMEOUT_SECONDS = 3600,
    MAX_NAP_NS = 100 * 1000 * 1000 // so that progress is printed in time
};

// The first signal that requested the end; 0: none yet. The first variable is for commands that end
// in order (cli_catch_ending), the second for all others while a target is open.
static volatile sig_atomic_t ending_signal, cancel_signal;

static const int ending_signals[] = {SIGINT, SIGTERM, SIGHUP};

static void note_ending(int signal)
{
    ending_signal = signal;
}

static void note_cancel(int signal)
{
    cancel_signal = signal;
}

// A second signal ends the program by default, except SIGHUP: the kernel and the shell both send
// one when a terminal is closed. A SIGHUP that is ignored (nohup) stays ignored.
void cli_catch_ending(void)
{
    struct sigaction old, action = {.sa_handler = note_ending};

    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++) {
        bool is_hangup = ending_signals[i] == SIGHUP;
        action.sa_flags = is_hangup ? 0 : (int)SA_RESETHAND;
        if (!is_hangup || sigaction(SIGHUP, NULL, &old) || old.sa_handler != SIG_IGN)
            sigaction(ending_signals[i], &action, NULL);
    }
}

int cli_ending_signal(void)
{
    return ending_signal;
}

const volatile sig_atomic_t *cli_ending_flag(void)
{
    return &ending_signal;
}

// Catches the first ending signal; a second one ends the program by default. Signals that a command
// handles itself are left alone.
static void catch_signals(void)
{
    struct sigaction old, ours = {.sa_handler = note_cancel, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        if (!sigaction(ending_signals[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(ending_signals[i], &ours, NULL);
}

// Restores the default handlers, and ends the program if a signal was caught.
static void release_signals(void)
{
    struct sigaction now;

    for (size_t i = 0; i < sizeof ending_signals / sizeof *ending_signals; i++)
        if (!sigaction(ending_signals[i], NULL, &now) && now.sa_handler == note_cancel)
            signal(ending_signals[i], SIG_DFL);
    if (cancel_signal)
        raise(cancel_signal);
}

bool cli_is_live(const struct cli_options *options)
{
    return options->openocd || options->remote || options->pid;
}

void cli_nap(uint64_t ns)
{
    struct timespec time = {0, (long)(ns < MAX_NAP_NS ? ns : MAX_NAP_NS)};

    nanosleep(&time, NULL);
}

bool cli_timeout_parse(const char *seconds, unsigned *ms)
{
    char *end;

    if (!*seconds || strspn(seconds, "0123456789.") != strlen(seconds))
        return false;
    double value = strtod(seconds, &end);
    if (*end || value < 0.001 || value > (double)MAX_TIMEOUT_SECONDS)
        return false;
    *ms = (unsigned)(value * 1000 + 0.5);
    return true;
}

static enum extract_code check_options(const struct cli_options *options,
                                       struct extract_error *error)
{
    if (options->openocd && options->remote)
        return extract_error_set(error, EXTRACT_USAGE, "--remote", "use one of them",
                                 "--remote cannot be combined with --openocd");
    if (options->pid && (options->openocd || options->remote))
        return extract_error_set(error, EXTRACT_USAGE, "--pid", "use one of them",
                                 "--pid cannot be combined with --openocd or --remote");
    if ((options->remote || options->pid) && options->target)
        return extract_error_set(error, EXTRACT_USAGE, "--target", "use another port",
                                 "only OpenOCD has several targets on one port");
    if (options->input_count)
        return extract_error_set(error, EXTRACT_USAGE, options->inputs[0],
                                 "use either an input, or --openocd, --remote or --pid",
                                 "a live target cannot be combined with an input");
    return EXTRACT_OK;
}

enum extract_code cli_live_open(struct extract_memory **memory, const struct cli_options *options,
                                struct extract_error *error)
{
    struct extract_live_options live = {.size = sizeof live,
                                        .target = options->target,
                                        .timeout_ms = options->timeout_ms,
                                        .cancel = &cancel_signal};
    enum extract_code code = check_options(options, error);

    *memory = NULL;
    if (code)
        return code;
    if (options->pid)
        return extract_memory_open_process(memory, options->pid, error);
    catch_signals();
    code = options->openocd ? extract_memory_open_openocd(memory, options->openocd, &live, error)
                            : extract_memory_open_remote(memory, options->remote, &live, error);
    if (code)
        release_signals();
    return code;
}

void cli_live_release(struct extract_memory *memory, const struct cli_options *options)
{
    struct extract_error error;

    if (!memory || !cli_is_live(options))
        return;
    if (extract_live_release(memory, &error)) {
        snprintf(error.hint, sizeof error.hint, "check whether the target is still halted");
        cli_complain(&error);
    }
    struct extract_live_halts halts = extract_live_halts(memory);
    if (halts.count && !options->quiet)
        cli_print_note(extract_memory_name(memory), "the target was halted for %.3g ms",
                       (double)halts.nanoseconds / 1e6);
    release_signals();
}
