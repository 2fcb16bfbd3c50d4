// SPDX-License-Identifier: MIT
// cli: RKH streams that `report` reads as they arrive. They come from a pipe, a serial port,
// clients of a TCP port, or a growing file.
//
// The library (feed/) opens the source and decodes its bytes. This file recognizes such an input,
// prints each event when its frame is complete, and prints a summary on standard error at the end.
#include "feed/feed.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/templates/templates_commands.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    WAIT_MS = 100,         // until signals and the reader of the output are checked again
    MAX_CHUNK = 65536,     // bytes that are read at once
    MAX_PIPE_CHUNK = 4096, // bytes that are written at once
    DEFAULT_BAUD = 115200
};

enum feed_kind { NOT_A_FEED, PIPE, PORT, LISTENER, GROWING_FILE };

struct feeding {
    const struct cli_options *options;
    struct extract_session_options session;
    struct extract_columns columns;
    struct extract_symbols *symbols;
    struct extract_user_types *types;
    struct feed feed;
    struct extract_running *running;
    struct cli_output output;
    int save_fd; // file of --save; -1: none
    bool templates_are_diagnosed;
    bool templates_have_errors;
    bool rates_are_printed; // the warnings on the clock rates of timestamps
    uint8_t bytes[MAX_CHUNK];
};

// ---- kinds of input ----

// Returns whether a path is a serial port. Only its name is checked: many adapters reset their
// target when they are opened.
static bool is_port_path(const char *path)
{
    static const char *const starts[] = {"/dev/tty", "/dev/pts/", "/dev/rfcomm"};
    char *real = realpath(path, NULL);
    bool is_port = false;

    for (size_t i = 0; real && i < sizeof starts / sizeof *starts; i++)
        is_port |= strncmp(real, starts[i], strlen(starts[i])) == 0;
    free(real);
    return is_port;
}

static enum feed_kind detect_kind(const struct cli_options *options)
{
    const char *format = options->session.format, *path = options->inputs[0];
    bool is_rkh = format && strcmp(format, "rkh") == 0;
    struct stat status;

    if (options->feeding.listen)
        return LISTENER;
    if (options->input_count != 1 || options->hook)
        return NOT_A_FEED;
    bool is_stdin = strcmp(path, "-") == 0;
    if (is_stdin ? fstat(STDIN_FILENO, &status) : stat(path, &status))
        return options->feeding.baud ? PORT : NOT_A_FEED; // opening the port reports the error
    if (S_ISREG(status.st_mode))
        return options->feeding.follow && !is_stdin ? GROWING_FILE : NOT_A_FEED;
    if (S_ISCHR(status.st_mode) && !is_stdin && (options->feeding.baud || is_port_path(path)))
        return PORT;
    bool flows =
        S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode) || (is_stdin && isatty(STDIN_FILENO));
    return flows && (is_rkh || options->feeding.follow) ? PIPE : NOT_A_FEED;
}

// Returns the option that needs the complete trace before the first line is printed; NULL: none.
static const char *option_for_complete_trace(const struct cli_options *options)
{
    const struct cli_reporting *reporting = &options->reporting;
    for (size_t i = 0; i < options->session.condition_count; i++)
        if (options->session.conditions[i].word == EXTRACT_FILTER_LAST)
            return "--last";
    return reporting->raw                                 ? "-r"
           : options->output                              ? "--output"
           : reporting->columns.histogram                 ? "-O hist"
           : reporting->start_date || reporting->end_date ? "-s and -e"
                                                          : NULL;
}

int cli_feed_check(const struct cli_options *options, bool *is_feed)
{
    const struct cli_feeding *feeding = &options->feeding;
    const char *format = options->session.format;
    const char *option = option_for_complete_trace(options); // NULL: none
    enum feed_kind kind = detect_kind(options);
    bool has_option = feeding->listen || feeding->follow || feeding->save || feeding->baud;

    *is_feed = false;
    if (kind == NOT_A_FEED && has_option)
        return cli_refuse(feeding->listen   ? "--listen"
                          : feeding->baud   ? "--baud"
                          : feeding->follow ? "--follow"
                                            : "--save",
                          "use a serial port, a pipe, or with --follow a file",
                          "the input is not a stream");
    if (kind == NOT_A_FEED || (kind == PIPE && option && !has_option))
        return CLI_SUCCESS;
    if (format && strcmp(format, "rkh") != 0)
        return cli_refuse(format, "omit --format", "only RKH streams can be read as they arrive");
    if (option)
        return cli_refuse(option, "use --save FILE, and report that file",
                          "the option needs a complete trace, and the input is a stream");
    if (cli_is_live(options) || options->input_count > 1 ||
        (feeding->listen && *feeding->listen && options->input_count))
        return cli_refuse("report", "use one of them", "several inputs are given");
    if (feeding->baud && kind != PORT)
        return cli_refuse("--baud", "use it with a serial port", "the input is not a serial port");
    *is_feed = true;
    return CLI_SUCCESS;
}

// ---- output ----

// Writes to standard output until all is written, the output fails, or a signal arrives while the
// reader does not read.
static bool write_stdout(void *context, const char *data, size_t length)
{
    struct cli_output *output = context;
    struct pollfd output_ready = {.fd = STDOUT_FILENO, .events = POLLOUT};

    while (length) {
        if (poll(&output_ready, 1, WAIT_MS) <= 0) {
            if (cli_ending_signal())
                return false;
            continue;
        }
        ssize_t done =
            write(STDOUT_FILENO, data, length < MAX_PIPE_CHUNK ? length : MAX_PIPE_CHUNK);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            output->fault = errno;
            return false;
        }
        data += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

// Returns whether standard output can still be written to.
static bool has_reader(void)
{
    struct pollfd output = {.fd = STDOUT_FILENO};

    return poll(&output, 1, 0) <= 0 || !(output.revents & POLLERR);
}

static void print_note(const struct feeding *f, const char *note)
{
    if (!f->options->quiet)
        cli_print_note(f->feed.name, "%s", note);
}

static void print_summary(const struct feeding *f, const struct extract_running_status *status)
{
    char text[512];
    int used =
        snprintf(text, sizeof text,
                 "%" PRIu64 " frames good, %" PRIu64 " torn, %" PRIu64
                 " with bad checksum, %" PRIu64 " with bad length, %" PRIu64 " with unknown id, ",
                 status->good, status->torn, status->checksum, status->length, status->id);
    char *end = text + used;
    size_t left = sizeof text - (size_t)used;

    if (status->lost_known || !status->resolved)
        used = snprintf(end, left, "%" PRIu64 " lost%s", status->lost,
                        status->lost ? " (modulo 256 in each gap)" : "");
    else
        used = snprintf(end, left, "losses unknown (frames have no numbers)");
    if (status->passed)
        snprintf(end + used, left - (size_t)used, ", %" PRIu64 " not decoded", status->passed);
    else if (status->partial)
        snprintf(end + used, left - (size_t)used, ", %u bytes of an incomplete frame",
                 status->partial);
    print_note(f, text);
}

// Prints the diagnostics of the templates once. They are compiled when the first event is reported.
static void diagnose_templates(struct feeding *f)
{
    const struct extract_templates *templates = extract_running_templates(f->running);

    if (!templates || f->templates_are_diagnosed || f->options->quiet)
        return;
    f->templates_are_diagnosed = true;
    f->templates_have_errors = templates_diagnose(templates, false);
}

// Prints once the warnings on the clock rates of timestamps.
static void print_rates(struct feeding *f)
{
    const char *rates = extract_running_status(f->running).rates;

    if (!rates || f->rates_are_printed)
        return;
    f->rates_are_printed = true;
    for (size_t length; *rates; rates += length + (rates[length] == '\n')) {
        char line[512];
        length = strcspn(rates, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, rates);
        print_note(f, line);
    }
}

// ---- bytes ----

static enum extract_code open_save_file(struct feeding *f, struct extract_error *error)
{
    const char *path = f->options->feeding.save;

    f->save_fd = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (!path || f->save_fd >= 0)
        return EXTRACT_OK;
    return extract_file_error(path, NULL, error);
}

static enum extract_code save_bytes(struct feeding *f, size_t length, struct extract_error *error)
{
    for (size_t at = 0; f->save_fd >= 0 && at < length;) {
        ssize_t done = write(f->save_fd, f->bytes + at, length - at);
        if (done < 0 && errno != EINTR)
            return extract_file_error(f->options->feeding.save, NULL, error);
        at += done > 0 ? (size_t)done : 0;
    }
    return EXTRACT_OK;
}

// Handles what the source reported: a client came or went, `got` bytes arrived, or an error.
static enum extract_code handle_news(struct feeding *f, enum feed_news news, size_t got,
                                     struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (news == FEED_OPEN || news == FEED_LOST) {
        code = extract_running_break(f->running, &f->output.text, error);
        print_note(f, f->feed.message);
    } else if (news == FEED_FAULT) {
        *error = f->feed.error;
        return error->code;
    } else if (news != FEED_END) {
        uint64_t good = extract_running_status(f->running).good;
        code = save_bytes(f, got, error);
        code =
            code ? code : extract_running_take(f->running, f->bytes, got, &f->output.text, error);
        if (extract_running_status(f->running).good > good)
            feed_note_frame(&f->feed);
    }
    diagnose_templates(f);
    return code;
}

static enum extract_code print_until_end(struct feeding *f, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    enum feed_news news = FEED_QUIET;
    size_t got;

    while (!cli_ending_signal() && !code && news != FEED_END && has_reader()) {
        news = feed_next(&f->feed, f->bytes, sizeof f->bytes, &got, WAIT_MS);
        code = handle_news(f, news, got, error);
        extract_text_flush(&f->output.text);
        print_rates(f);
    }
    if (!code && (news == FEED_END || extract_running_status(f->running).bytes))
        code = extract_running_end(f->running, &f->output.text, error);
    diagnose_templates(f);
    extract_text_flush(&f->output.text);
    return code;
}

// ---- the whole run ----

static enum extract_code open_feed(struct feeding *f, struct extract_error *error)
{
    const struct cli_options *options = f->options;
    const struct cli_feeding *feeding = &options->feeding;
    const char *path = options->inputs[0];

    switch (detect_kind(options)) {
    case LISTENER:
        path = *feeding->listen ? feeding->listen : path ? path : "127.0.0.1";
        return feed_open_listener(&f->feed, path, error);
    case PORT:
        return feed_open_serial(&f->feed, path,
                                feeding->baud ? (uint32_t)feeding->baud : DEFAULT_BAUD, error);
    case GROWING_FILE:
        return feed_open_file(&f->feed, path, error);
    default:
        return feed_open_pipe(&f->feed, path, error);
    }
}

static enum extract_code open_all(struct feeding *f, struct extract_error *error)
{
    const struct cli_options *options = f->options;
    enum extract_code code = EXTRACT_OK;

    if (options->elf)
        code = extract_symbols_open(&f->symbols, options->elf, error);
    if (!code && options->user_events)
        code = extract_user_types_open(&f->types, options->user_events, error);
    if (!code)
        code = open_feed(f, error);
    if (!code)
        code = open_save_file(f, error);
    f->columns = options->reporting.columns;
    f->columns.source = f->feed.name;
    f->session.columns = &f->columns;
    f->session.user_types = f->types;
    return code ? code
                : extract_running_open(&f->running, f->feed.name, &f->session, f->symbols, error);
}

// Prints the events and the summary. Returns the status.
static int print_events(struct feeding *f)
{
    struct extract_error error;

    cli_output_open(&f->output);
    f->output.text.flush = write_stdout;
    if (f->feed.listener >= 0)
        print_note(f, "waiting for a connection");
    enum extract_code code = print_until_end(f, &error);
    print_rates(f);
    struct extract_running_status status = extract_running_status(f->running);
    int result = status.whole && !status.lost ? CLI_SUCCESS : CLI_LOSSES;
    // After a signal, the output may have failed because its reader does not read the rest.
    bool is_cut_off = cli_ending_signal() && f->output.text.code;
    if (code == EXTRACT_BAD && f->templates_have_errors)
        result = CLI_UNREADABLE;
    else if (code && !f->output.fault && !is_cut_off)
        result = cli_complain(&error);
    if (is_cut_off)
        extract_text_free(&f->output.text);
    else
        result = cli_output_close(&f->output, result);
    print_summary(f, &status);
    return result;
}

int cli_feed_run(const struct cli_options *options)
{
    struct extract_error error;
    struct feeding *f = calloc(1, sizeof *f);

    if (!f)
        return cli_refuse("report", NULL, "out of memory");
    f->options = options;
    f->session = options->session;
    f->save_fd = -1;
    f->feed.fd = f->feed.listener = -1;
    cli_catch_ending();
    enum extract_code code = open_all(f, &error);
    int result = code ? cli_complain(&error) : print_events(f);
    extract_running_close(f->running);
    feed_close(&f->feed);
    if (f->save_fd >= 0 && close(f->save_fd) && !result) {
        extract_file_error(options->feeding.save, NULL, &error);
        result = cli_complain(&error);
    }
    extract_user_types_close(f->types);
    extract_symbols_close(f->symbols);
    free(f);
    return result;
}
