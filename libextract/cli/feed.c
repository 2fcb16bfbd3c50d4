// SPDX-License-Identifier: MIT
// cli: RKH streams that `report` reads as they arrive: pipes, serial ports, clients of a TCP port,
// and files that grow. Each event is printed when its frame is complete; a summary goes to standard
// error at the end.
#include "feed/feed.h"
#include "base/file.h"
#include "cli/cli.h"
#include "cli/templates/commands.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 100, PIECE = 65536, PIPE_PIECE = 4096, BAUD = 115200 };

enum kind { NOTHING, PIPE, PORT, LISTENER, GROWING };

// What a signal handler can reach.
static volatile sig_atomic_t stopped;

static void stop(int signal)
{
    stopped = signal;
}

struct feeding {
    const struct cli_options *options;
    struct extract_session_options session;
    struct extract_columns columns;
    struct extract_symbols *symbols;
    struct extract_user_types *types;
    struct feed feed;
    struct extract_running *running;
    struct cli_output output;
    int save;                // -1: none
    bool has_told_templates; // what is to be said of the templates was printed
    bool has_bad_templates;  // there was an error among it
    bool has_told_rates;     // what is wrong with the rates of stamps was printed
    uint8_t bytes[PIECE];
};

// ---- what an input is ----

// By its name: many adapters reset their target when they are opened to be asked.
static bool is_port(const char *path)
{
    static const char *const starts[] = {"/dev/tty", "/dev/pts/", "/dev/rfcomm"};
    char *real = realpath(path, NULL);
    bool is = false;

    for (size_t i = 0; real && i < sizeof starts / sizeof *starts; i++)
        is |= strncmp(real, starts[i], strlen(starts[i])) == 0;
    free(real);
    return is;
}

static enum kind kind_of(const struct cli_options *options)
{
    const char *format = options->session.format, *path = options->inputs[0];
    bool rkh = format && strcmp(format, "rkh") == 0;
    struct stat is;

    if (options->feeding.listen)
        return LISTENER;
    if (options->input_count != 1 || options->hook)
        return NOTHING;
    bool standard = strcmp(path, "-") == 0;
    if (standard ? fstat(STDIN_FILENO, &is) : stat(path, &is))
        return options->feeding.baud ? PORT : NOTHING; // opening it says why it is none
    if (S_ISREG(is.st_mode))
        return options->feeding.follow && !standard ? GROWING : NOTHING;
    if (S_ISCHR(is.st_mode) && !standard && (options->feeding.baud || is_port(path)))
        return PORT;
    bool flows = S_ISFIFO(is.st_mode) || S_ISSOCK(is.st_mode) || (standard && isatty(STDIN_FILENO));
    return flows && (rkh || options->feeding.follow) ? PIPE : NOTHING;
}

// What asks for the whole of a trace before its first line is printed; NULL: nothing.
static const char *asks_for_all(const struct cli_options *options)
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

int cli_feed_check(const struct cli_options *options, bool *is)
{
    const struct cli_feeding *feeding = &options->feeding;
    const char *format = options->session.format, *all = asks_for_all(options);
    enum kind kind = kind_of(options);
    bool asked = feeding->listen || feeding->follow || feeding->save || feeding->baud;

    *is = false;
    if (kind == NOTHING && asked)
        return cli_refuse(feeding->listen   ? "--listen"
                          : feeding->baud   ? "--baud"
                          : feeding->follow ? "--follow"
                                            : "--save",
                          "use a serial port, a pipe, or with --follow a file",
                          "the input is not a stream");
    if (kind == NOTHING || (kind == PIPE && all && !asked))
        return CLI_SUCCESS;
    if (format && strcmp(format, "rkh") != 0)
        return cli_refuse(format, "use no --format", "only RKH streams can be read as they arrive");
    if (all)
        return cli_refuse(all, "use --save FILE, and report that file",
                          "the option needs a complete trace, and the input is a stream");
    if (cli_is_live(options) || options->input_count > 1 ||
        (feeding->listen && *feeding->listen && options->input_count))
        return cli_refuse("report", "use one of them", "several inputs are given");
    if (feeding->baud && kind != PORT)
        return cli_refuse("--baud", "use it with a serial port", "the input is not a serial port");
    *is = true;
    return CLI_SUCCESS;
}

// ---- output ----

// As long as nobody asks us to end, and somebody reads.
static bool write_out(void *context, const char *data, size_t length)
{
    struct cli_output *output = context;
    struct pollfd one = {.fd = STDOUT_FILENO, .events = POLLOUT};

    while (length) {
        if (poll(&one, 1, WAIT_MS) <= 0) {
            if (stopped)
                return false;
            continue;
        }
        ssize_t done = write(STDOUT_FILENO, data, length < PIPE_PIECE ? length : PIPE_PIECE);
        if (done < 0 && errno != EINTR && errno != EAGAIN) {
            output->fault = errno;
            return false;
        }
        data += done > 0 ? done : 0;
        length -= done > 0 ? (size_t)done : 0;
    }
    return true;
}

static bool has_reader(void)
{
    struct pollfd one = {.fd = STDOUT_FILENO};

    return poll(&one, 1, 0) <= 0 || !(one.revents & POLLERR);
}

static void say(const struct feeding *f, const char *what)
{
    struct extract_error error;
    char line[sizeof error.what + sizeof error.why + 8];

    if (f->options->quiet)
        return;
    extract_error_set(&error, EXTRACT_IO, f->feed.name, NULL, "%s", what);
    fprintf(stderr, "ringside: %s\n", extract_error_format(&error, line, sizeof line));
}

static void sum_up(const struct feeding *f, const struct extract_running_status *status)
{
    char text[512];
    int used =
        snprintf(text, sizeof text,
                 "%" PRIu64 " frames good, %" PRIu64 " torn, %" PRIu64
                 " with bad checksum, %" PRIu64 " with bad length, %" PRIu64 " with unknown id, ",
                 status->good, status->torn, status->checksum, status->length, status->id);
    char *end = text + used;
    size_t room = sizeof text - (size_t)used;

    if (status->lost_known || !status->resolved)
        used = snprintf(end, room, "%" PRIu64 " lost%s", status->lost,
                        status->lost ? " (modulo 256 in each gap)" : "");
    else
        used = snprintf(end, room, "lost not known (frames have no numbers)");
    if (status->passed)
        snprintf(end + used, room - (size_t)used, ", %" PRIu64 " not understood", status->passed);
    else if (status->partial)
        snprintf(end + used, room - (size_t)used, ", %u bytes of one under way", status->partial);
    say(f, text);
}

// Prints once what there is to say of the templates, when the first events have been reported.
static void tell_templates(struct feeding *f)
{
    const struct extract_templates *templates = extract_running_templates(f->running);

    if (!templates || f->has_told_templates || f->options->quiet)
        return;
    f->has_told_templates = true;
    f->has_bad_templates = templates_diagnose(templates, false);
}

// Prints once what is wrong with the rates of stamps.
static void tell_rates(struct feeding *f)
{
    const char *rates = extract_running_status(f->running).rates;

    if (!rates || f->has_told_rates)
        return;
    f->has_told_rates = true;
    for (size_t length; *rates; rates += length + (rates[length] == '\n')) {
        char line[512];
        length = strcspn(rates, "\n");
        snprintf(line, sizeof line, "%.*s", (int)length, rates);
        say(f, line);
    }
}

// ---- bytes ----

static enum extract_code open_save(struct feeding *f, struct extract_error *error)
{
    const char *path = f->options->feeding.save;

    f->save = path ? open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666) : -1;
    if (!path || f->save >= 0)
        return EXTRACT_OK;
    return extract_file_error(path, errno == EEXIST ? "use a file that does not exist yet" : NULL,
                              error);
}

static enum extract_code save(struct feeding *f, size_t length, struct extract_error *error)
{
    for (size_t at = 0; f->save >= 0 && at < length;) {
        ssize_t done = write(f->save, f->bytes + at, length - at);
        if (done < 0 && errno != EINTR)
            return extract_file_error(f->options->feeding.save, NULL, error);
        at += done > 0 ? (size_t)done : 0;
    }
    return EXTRACT_OK;
}

static enum extract_code take(struct feeding *f, enum feed_news news, size_t got,
                              struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (news == FEED_CAME || news == FEED_WENT) {
        code = extract_running_break(f->running, &f->output.text, error);
        say(f, f->feed.said);
    } else if (news == FEED_FAULT) {
        *error = f->feed.error;
        return error->code;
    } else if (news != FEED_END) {
        uint64_t good = extract_running_status(f->running).good;
        code = save(f, got, error);
        code =
            code ? code : extract_running_take(f->running, f->bytes, got, &f->output.text, error);
        if (extract_running_status(f->running).good > good)
            feed_note_frame(&f->feed);
    }
    tell_templates(f);
    return code;
}

static enum extract_code follow(struct feeding *f, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    enum feed_news news = FEED_QUIET;
    size_t got;

    while (!stopped && !code && news != FEED_END && has_reader()) {
        news = feed_next(&f->feed, f->bytes, sizeof f->bytes, &got, WAIT_MS);
        code = take(f, news, got, error);
        extract_text_flush(&f->output.text);
        tell_rates(f);
    }
    if (!code && (news == FEED_END || extract_running_status(f->running).bytes))
        code = extract_running_end(f->running, &f->output.text, error);
    tell_templates(f);
    extract_text_flush(&f->output.text);
    return code;
}

// ---- all of it ----

static enum extract_code open_feed(struct feeding *f, struct extract_error *error)
{
    const struct cli_options *options = f->options;
    const struct cli_feeding *feeding = &options->feeding;
    const char *path = options->inputs[0];

    switch (kind_of(options)) {
    case LISTENER:
        path = *feeding->listen ? feeding->listen : path ? path : "127.0.0.1";
        return feed_open_listener(&f->feed, path, error);
    case PORT:
        return feed_open_serial(&f->feed, path, feeding->baud ? (uint32_t)feeding->baud : BAUD,
                                error);
    case GROWING:
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
        code = open_save(f, error);
    f->columns = options->reporting.columns;
    f->columns.source = f->feed.name;
    f->session.columns = &f->columns;
    f->session.user_types = f->types;
    return code ? code
                : extract_running_open(&f->running, f->feed.name, &f->session, f->symbols, error);
}

static int print_all(struct feeding *f)
{
    struct extract_error error;

    cli_output_open(&f->output);
    f->output.text.flush = write_out;
    if (f->feed.listener >= 0)
        say(f, "waiting for a connection");
    enum extract_code code = follow(f, &error);
    tell_rates(f);
    struct extract_running_status status = extract_running_status(f->running);
    int result = status.whole && !status.lost ? CLI_SUCCESS : CLI_LOSSES;
    bool cut_off = stopped && f->output.text.code; // nobody reads the rest
    if (code == EXTRACT_BAD && f->has_bad_templates)
        result = CLI_UNREADABLE;
    else if (code && !f->output.fault && !cut_off)
        result = cli_complain(&error);
    if (cut_off)
        extract_text_free(&f->output.text);
    else
        result = cli_output_close(&f->output, result);
    sum_up(f, &status);
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
    f->save = -1;
    f->feed.fd = f->feed.listener = -1;
    cli_catch_ending(stop);
    enum extract_code code = open_all(f, &error);
    int result = code ? cli_complain(&error) : print_all(f);
    extract_running_close(f->running);
    feed_close(&f->feed);
    if (f->save >= 0 && close(f->save) && !result) {
        extract_file_error(options->feeding.save, NULL, &error);
        result = cli_complain(&error);
    }
    extract_user_types_close(f->types);
    extract_symbols_close(f->symbols);
    free(f);
    return result;
}
