// SPDX-License-Identifier: MIT
// cli: the output of a command, and its messages.
//
// A command writes its text to a struct cli_output, which leads to standard output, to the pager,
// or to a file. A file appears under its name only when the whole text is in it. Closing the output
// turns a failed write into the exit status.
#include "cli/cli.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static bool write_file(void *context, const char *data, size_t length)
{
    struct cli_output *output = context;
    bool good = extract_atomic_file_write(&output->file, data, length);

    output->fault = good ? 0 : errno;
    return good;
}

static bool write_all(void *context, const char *data, size_t length)
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
    extract_text_init(&output->text, write_all, output);
}

int cli_output_open_as(struct cli_output *output, const struct cli_options *options)
{
    struct extract_error error;

    cli_output_open(output);
    if (options->output) {
        if (extract_atomic_file_open(&output->file, options->output, false, &error))
            return cli_complain(&error);
        output->path = options->output;
        output->text.flush = write_file;
    } else if (options->reporting.pager && !cli_pager_open(&output->pager)) {
        output->pager = 0;
    }
    return CLI_SUCCESS;
}

static int complain_of(const char *name, int fault)
{
    struct extract_error error;

    errno = fault;
    extract_file_error(name, NULL, &error);
    return cli_complain(&error);
}

// Gives the file its name if the whole text is in it; otherwise removes it.
static int end_file(struct cli_output *output, int status)
{
    struct extract_error error;
    bool whole = !extract_text_flush(&output->text) && (!status || status == CLI_LOSSES);

    if (whole && extract_atomic_file_keep(&output->file, &error))
        return cli_complain(&error);
    if (whole)
        return status;
    extract_atomic_file_drop(&output->file);
    return output->fault ? complain_of(output->path, output->fault)
           : status      ? status
                         : CLI_UNREADABLE;
}

// A pager may end before it has read everything: EPIPE is then not an error.
static int end_stream(struct cli_output *output, int status)
{
    if (!extract_text_flush(&output->text) || (output->pager && output->fault == EPIPE))
        return status;
    return output->fault && output->fault != EPIPE ? complain_of("standard output", output->fault)
                                                   : CLI_UNREADABLE;
}

static int refuse_pager(void)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_IO, "--pager", "set PAGER to a command that can be run",
                      "the pager could not be run");
    return cli_complain(&error);
}

int cli_output_close(struct cli_output *output, int status)
{
    status = output->path ? end_file(output, status) : end_stream(output, status);
    if (output->pager && !cli_pager_close(output->pager))
        status = refuse_pager();
    extract_text_free(&output->text);
    return status;
}

int cli_complain(const struct extract_error *error)
{
    char line[sizeof error->what + sizeof error->why + sizeof error->hint + 8];

    fprintf(stderr, "ringside: %s\n", extract_error_format(error, line, sizeof line));
    return error->code == EXTRACT_USAGE ? CLI_USAGE : CLI_UNREADABLE;
}

int cli_refuse(const char *what, const char *hint, const char *why)
{
    struct extract_error error;

    extract_error_set(&error, EXTRACT_USAGE, what, hint, "%s", why);
    return cli_complain(&error);
}
