// SPDX-License-Identifier: MIT
// cli: the output of a command, and its messages.
//
// A command writes its text to a struct cli_output, which leads to standard output, to the pager,
// or to a file. A file appears under its name only when the whole text is in it. Closing the output
// turns a failed write into the exit status.
//
// Standard: IEEE Std 1003.1-2017 (pipe, fork, dup2, waitpid).
#include "cli/cli.h"
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- the pager ----

// Exit statuses of the shell if it cannot run the command (POSIX, 2.8.2).
enum { NOT_EXECUTABLE = 126, NOT_FOUND };

static void run_pager(const int ends[2])
{
    const char *command = getenv("PAGER");

    if (!command || !*command)
        command = "less";
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    close(ends[1]);
    signal(SIGPIPE, SIG_DFL);
    signal(SIGXFSZ, SIG_DFL);
    setenv("LESS", "R", 0); // shows colors, unless the user has set options
    execl("/bin/sh", "sh", "-c", command, (char *)NULL);
    _exit(NOT_FOUND);
}

// Sends standard output to the user's pager from here on, if it is a terminal. Returns false if
// standard output stays as it was.
static bool open_pager(int *child)
{
    int ends[2];

    if (!isatty(STDOUT_FILENO) || pipe(ends) != 0)
        return false;
    *child = fork();
    if (*child == 0)
        run_pager(ends);
    if (*child > 0) {
        dup2(ends[1], STDOUT_FILENO);
        signal(SIGINT, SIG_IGN); // only the pager handles ^C
    }
    close(ends[0]);
    close(ends[1]);
    return *child > 0;
}

// Waits until the pager ends. Returns false if it could not be run.
static bool close_pager(int child)
{
    int status = 0;

    close(STDOUT_FILENO); // the pager reads an end of file
    while (waitpid(child, &status, 0) < 0 && errno == EINTR)
        continue;
    return !WIFEXITED(status) || WEXITSTATUS(status) < NOT_EXECUTABLE;
}

// ---- output ----

static bool write_file(void *context, const char *data, size_t length)
{
    struct cli_output *output = context;
    bool is_written = extract_atomic_file_write(&output->file, data, length);

    output->fault = is_written ? 0 : errno;
    return is_written;
}

static bool write_stdout(void *context, const char *data, size_t length)
{
    struct cli_output *output = context;

    while (length) {
        ssize_t done = write(STDOUT_FILENO, data, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0) {
            output->fault = errno;
            return false;
        }
        data += done;
        length -= (size_t)done;
    }
    return true;
}

void cli_output_open(struct cli_output *output)
{
    *output = (struct cli_output){.path = NULL};
    extract_text_init(&output->text, write_stdout, output);
}

static bool is_file(const char *path, const struct stat *file)
{
    struct stat other;

    return path && stat(path, &other) == 0 && other.st_dev == file->st_dev &&
           other.st_ino == file->st_ino;
}

static bool is_one_of(const char *const *paths, size_t count, const struct stat *file)
{
    for (size_t i = 0; i < count; i++)
        if (is_file(paths[i], file))
            return true;
    return false;
}

bool cli_output_is_input(const struct cli_options *options)
{
    const char *const single[] = {options->elf, options->elf_b, options->user_events,
                                  options->registers};
    struct stat output;

    if (!options->output || stat(options->output, &output) || !S_ISREG(output.st_mode))
        return false;
    if (is_one_of(single, sizeof single / sizeof *single, &output) ||
        is_one_of(options->roles, options->role_count, &output) ||
        is_one_of(options->reporting.templates, options->reporting.template_count, &output))
        return true;
    for (int i = 0; i < options->input_count; i++) {
        const char *at = strrchr(options->inputs[i], '@');
        char *path = at ? strndup(options->inputs[i], (size_t)(at - options->inputs[i])) : NULL;
        bool is_same = is_file(options->inputs[i], &output) || is_file(path, &output);
        free(path);
        if (is_same)
            return true;
    }
    return false;
}

int cli_output_open_as(struct cli_output *output, const struct cli_options *options)
{
    struct extract_error error;

    cli_output_open(output);
    if (cli_output_is_input(options))
        return cli_refuse(options->output, "use the name of another file", "is an input");
    if (options->output) {
        if (extract_atomic_file_open(&output->file, options->output, false, &error))
            return cli_complain(&error);
        output->path = options->output;
        output->text.flush = write_file;
    } else if (options->reporting.pager && !open_pager(&output->pager)) {
        output->pager = 0;
    }
    return CLI_SUCCESS;
}

static int complain_of_file(const char *name, int fault)
{
    struct extract_error error;

    errno = fault;
    extract_file_error(name, NULL, &error);
    return cli_complain(&error);
}

// Gives the file its name if the whole text is in it; otherwise removes it. Returns the status.
static int close_file(struct cli_output *output, int status)
{
    struct extract_error error;
    bool is_complete = !extract_text_flush(&output->text) && (!status || status == CLI_LOSSES);

    if (is_complete && extract_atomic_file_keep(&output->file, &error))
        return cli_complain(&error);
    if (is_complete)
        return status;
    extract_atomic_file_drop(&output->file);
    return output->fault ? complain_of_file(output->path, output->fault)
           : status      ? status
                         : CLI_UNREADABLE;
}

// Flushes standard output, and returns the status. A pager may end before it has read everything:
// EPIPE is then not an error.
static int close_stdout(struct cli_output *output, int status)
{
    if (!extract_text_flush(&output->text) || (output->pager && output->fault == EPIPE))
        return status;
    return output->fault && output->fault != EPIPE
               ? complain_of_file("standard output", output->fault)
               : CLI_UNREADABLE;
}

int cli_output_close(struct cli_output *output, int status)
{
    struct extract_error error;

    status = output->path ? close_file(output, status) : close_stdout(output, status);
    if (output->pager && !close_pager(output->pager)) {
        extract_error_set(&error, EXTRACT_IO, "--pager", "set PAGER to a command that can be run",
                          "the pager could not be run");
        status = cli_complain(&error);
    }
    extract_text_free(&output->text);
    return status;
}

// ---- messages ----

static const struct cli_options *named_options; // NULL: none

void cli_messages_use(const struct cli_options *options)
{
    named_options = options;
}

int cli_complain(const struct extract_error *error)
{
    char line[sizeof error->what + sizeof error->why + sizeof error->hint + 8];
    char name[OPTION_NAME_BYTES];
    struct extract_error named = *error;
    // Only errors in arguments are about options; others may be about a file of the same name.
    bool is_argument = error->code == EXTRACT_USAGE || error->code == EXTRACT_NOTFOUND;

    if (named_options && is_argument && cli_options_name(named_options, error->what, name))
        extract_error_rename(&named, name);
    fprintf(stderr, "ringside: %s\n", extract_error_format(&named, line, sizeof line));
    return error->code == EXTRACT_USAGE ? CLI_USAGE : CLI_UNREADABLE;
}

void cli_print_note(const char *name, const char *message, ...)
{
    struct extract_error error;
    char text[sizeof error.why], line[sizeof error.what + sizeof error.why + 8];
    va_list arguments;

    va_start(arguments, message);
    vsnprintf(text, sizeof text, message, arguments);
    va_end(arguments);
    extract_error_set(&error, EXTRACT_OK, name, NULL, "%s", text);
    fprintf(stderr, "ringside: %s\n", extract_error_format(&error, line, sizeof line));
}

int cli_refuse(const char *what, const char *hint, const char *why)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_USAGE, what, hint, "%s", why);
    return cli_complain(&error);
}
