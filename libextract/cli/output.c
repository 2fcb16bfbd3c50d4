// SPDX-License-Identifier: MIT
// cli: standard output and standard error. In: text and errors. Out: bytes, and a status.
#include "cli/cli.h"
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

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
    extract_text_init(&output->text, write_all, output);
    output->fault = 0;
}

int cli_output_close(struct cli_output *output, int status)
{
    struct extract_error error;
    if (extract_text_flush(&output->text)) {
        status = CLI_UNREADABLE;
        if (output->fault && output->fault != EPIPE) {
            extract_error_set(&error, EXTRACT_IO, "standard output", NULL, "%s",
                              strerror(output->fault));
            cli_complain(&error);
        }
    }
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
