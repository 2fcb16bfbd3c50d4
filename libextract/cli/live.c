// SPDX-License-Identifier: MIT
// cli: live targets of --openocd, --remote and --pid.
//
// However the program ends, a halted target is resumed first: signals that end the program only set
// a flag while a target is open. At the end, the time that it was halted goes to standard error.
#include "cli/cli.h"
#include <extract/memory.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    MAX_TIMEOUT = 3600,         // seconds
    MAX_NAP = 100 * 1000 * 1000 // ns: what is shown must go on
};

// What a signal handler can reach: the signal that asks the program to end.
static volatile sig_atomic_t interrupted;

static const int ending[] = {SIGINT, SIGTERM, SIGHUP};

static void note_signal(int signal)
{
    interrupted = signal;
}

void cli_catch_ending(void (*handler)(int signal))
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        sigaction(ending[i], &action, NULL);
}

// A halted target must not be left behind: the first signal ends what is waited for, and a second
// one ends the program as ever. Signals that a command handles itself are left alone.
static void catch_signals(void)
{
    struct sigaction old, ours = {.sa_handler = note_signal, .sa_flags = (int)SA_RESETHAND};

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (!sigaction(ending[i], NULL, &old) && old.sa_handler == SIG_DFL)
            sigaction(ending[i], &ours, NULL);
}

// Ends the program by the signal that has come meanwhile.
static void release_signals(void)
{
    struct sigaction now;

    for (size_t i = 0; i < sizeof ending / sizeof *ending; i++)
        if (!sigaction(ending[i], NULL, &now) && now.sa_handler == note_signal)
            signal(ending[i], SIG_DFL);
    if (interrupted)
        raise(interrupted);
}

bool cli_is_live(const struct cli_options *options)
{
    return options->openocd || options->remote || options->pid;
}

void cli_nap(uint64_t ns)
{
    struct timespec t = {0, (long)(ns < MAX_NAP ? ns : MAX_NAP)};

    nanosleep(&t, NULL);
}

bool cli_timeout_parse(const char *seconds, unsigned *ms)
{
    char *end;

    if (!*seconds || strspn(seconds, "0123456789.") != strlen(seconds))
        return false;
    double value = strtod(seconds, &end);
    if (*end || value < 0.001 || value > MAX_TIMEOUT)
        return false;
    *ms = (unsigned)(value * 1000 + 0.5);
    return true;
}

static enum extract_code check(const struct cli_options *options, struct extract_error *error)
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
                                        .cancel = &interrupted};
    enum extract_code code = check(options, error);

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
    if (halts.count && !options->quiet) {
        char line[sizeof error.what + sizeof error.why + 8];
        extract_error_set(&error, EXTRACT_OK, extract_memory_name(memory), NULL,
                          "the target was halted for %.3g ms", (double)halts.nanoseconds / 1e6);
        fprintf(stderr, "ringside: %s\n", extract_error_format(&error, line, sizeof line));
    }
    release_signals();
}
