// SPDX-License-Identifier: MIT
// cli: what `record` says of itself. In: the recorder's status. Out: advice, a line that lives or
// one now and then, and a summary, on standard error; the summary in JSON on standard output.
#include "cli/progress.h"
#include "base/now.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TERMINAL_PAUSE = 250, PLAIN_PAUSE = 5000 }; // ms

static double milliseconds(uint64_t ns)
{
    return (double)ns / 1e6;
}

static void say(const struct progress *progress, const char *line)
{
    struct extract_error error;
    char text[sizeof error.what + sizeof error.why + 8];
    extract_error_set(&error, EXTRACT_OK, progress->name, NULL, "%s", line);
    fprintf(stderr, "ringside: %s\n", extract_error_format(&error, text, sizeof text));
}

void progress_say(const struct progress *progress, const char *line)
{
    if (!progress->quiet)
        say(progress, line);
}

void progress_start(struct progress *progress, const char *name, bool quiet)
{
    const char *term = getenv("TERM");
    *progress = (struct progress){.name = name, .quiet = quiet, .start = extract_now()};
    progress->terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb");
    progress->said = progress->start;
}

void progress_advise(const struct progress *progress, const struct extract_record_status *status,
                     const struct extract_live_halts *halts)
{
    const struct extract_record_advice *advice = &status->advice;
    char line[240];
    if (progress->quiet)
        return;
    if (!advice->slots)
        snprintf(line, sizeof line, "its trace was never enabled; waiting for it");
    else
        snprintf(line, sizeof line,
                 "up to %llu events/s can be followed with this ring of %u entries "
                 "(%.3g ms a read, %.4g KB/s); a poll every %.3g ms",
                 (unsigned long long)advice->events, advice->slots, milliseconds(advice->latency),
                 (double)advice->rate / 1e3, milliseconds(advice->period));
    say(progress, line);
    if (halts->count)
        say(progress, "this server halts the target for each poll");
}

// What the ring or the link lacks, behind a blank; "" when they do.
static void lack(char *text, size_t size, const struct extract_record_status *status)
{
    const struct extract_record_advice *advice = &status->advice;
    text[0] = 0;
    if (!status->lost && status->lost_known)
        return;
    if (advice->slots_wanted == UINT32_MAX)
        snprintf(text, size, "; too fast for this link");
    else if (advice->slots_wanted)
        snprintf(text, size, "; a ring of %u entries would do", advice->slots_wanted);
}

static const char *state_of(const struct extract_record_status *status)
{
    return status->gone ? "no answer: " : !status->enabled ? "trace off: " : "";
}

// A line that is longer than the terminal is wide cannot be taken back.
static int columns(void)
{
    struct winsize size;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2 ? 80 : size.ws_col;
}

static void draw(struct progress *progress, const struct extract_record_status *status,
                 uint64_t now)
{
    const struct extract_record_advice *advice = &status->advice;
    double seconds = (double)(now - progress->said) / 1e9;
    double bytes = (double)(status->cost.bytes - progress->bytes) / (seconds > 0 ? seconds : 1);
    unsigned fill = advice->slots ? (unsigned)(100.0 * status->fill / advice->slots) : 0;
    char more[64], line[240];
    lack(more, sizeof more, status);
    snprintf(line, sizeof line,
             "%s%llu events, %llu/s, fill %u%%, %s%llu lost, %.4g of %.4g KB/s, "
             "%llu/s possible, every %.3g ms%s",
             state_of(status), (unsigned long long)status->entries,
             (unsigned long long)status->events_per_second, fill,
             status->lost_known ? "" : "about ", (unsigned long long)status->lost, bytes / 1e3,
             (double)advice->rate / 1e3, (unsigned long long)advice->events,
             milliseconds(advice->period), more);
    if (progress->terminal)
        fprintf(stderr, "\r\033[K%.*s", columns() - 1, line);
    else
        say(progress, line);
    progress->shown |= progress->terminal;
    progress->bytes = status->cost.bytes;
    progress->said = now;
}

void progress_show(struct progress *progress, const struct extract_record_status *status)
{
    uint64_t now = extract_now();
    uint64_t pause = progress->terminal ? TERMINAL_PAUSE : PLAIN_PAUSE;
    bool turned = progress->gone != status->gone; // is said at once
    progress->gone = status->gone;
    if (!progress->quiet && (turned || now - progress->said >= pause * 1000000))
        draw(progress, status, now);
}

void progress_clear(struct progress *progress)
{
    if (progress->shown)
        fputs("\r\033[K", stderr);
    progress->shown = false;
}

void progress_sum(struct progress *progress, const struct extract_record_status *status,
                  const struct extract_live_halts *halts, const char *path)
{
    uint64_t ns = extract_now() - progress->start;
    char more[64], line[240];
    progress_clear(progress);
    if (progress->quiet)
        return;
    lack(more, sizeof more, status);
    snprintf(line, sizeof line,
             "%s: %llu events in %.1f s, %s%llu lost, %llu resets; %llu polls, %llu KB read%s",
             path, (unsigned long long)status->entries, (double)ns / 1e9,
             status->lost_known ? "" : "about ", (unsigned long long)status->lost,
             (unsigned long long)status->resets, (unsigned long long)status->polls,
             (unsigned long long)status->cost.bytes / 1000, more);
    say(progress, line);
    if (!halts->count)
        return;
    snprintf(line, sizeof line,
             "the target was halted %llu times: %.3g ms each, %.3g ms at most, %.2g%% of the time",
             (unsigned long long)halts->count,
             milliseconds(halts->nanoseconds) / (double)halts->count, milliseconds(halts->longest),
             100.0 * (double)halts->nanoseconds / (double)(ns ? ns : 1));
    say(progress, line);
}

static void put_number(struct extract_text *text, const char *key, uint64_t value)
{
    extract_text_printf(text, "\"%s\":%llu,", key, (unsigned long long)value);
}

void progress_json(const struct progress *progress, struct extract_text *text,
                   const struct extract_record_status *status,
                   const struct extract_live_halts *halts, const char *path, const char *reason)
{
    uint64_t ns = extract_now() - progress->start;
    extract_text_puts(text, "{\"file\":");
    extract_text_json(text, path);
    extract_text_printf(text, ",\"reason\":\"%s\",\"seconds\":%.3f,", reason, (double)ns / 1e9);
    put_number(text, "entries", status->entries);
    put_number(text, "lost", status->lost);
    extract_text_printf(text, "\"lost_exact\":%s,", status->lost_known ? "true" : "false");
    put_number(text, "laps", status->laps);
    put_number(text, "resets", status->resets);
    put_number(text, "polls", status->polls);
    put_number(text, "failed_polls", status->failed);
    put_number(text, "fill_most", status->fill_most);
    put_number(text, "reads", status->cost.reads);
    put_number(text, "bytes", status->cost.bytes);
    extract_text_puts(text, "\"halts\":{");
    put_number(text, "count", halts->count);
    put_number(text, "mean_ns", halts->count ? halts->nanoseconds / halts->count : 0);
    put_number(text, "longest_ns", halts->longest);
    extract_text_printf(text, "\"share\":%.4f},\"link\":{",
                        (double)halts->nanoseconds / (double)(ns ? ns : 1));
    put_number(text, "latency_ns", status->advice.latency);
    put_number(text, "bytes_per_second", status->advice.rate);
    put_number(text, "events_per_second", status->advice.events);
    put_number(text, "period_ns", status->advice.period);
    put_number(text, "slots", status->advice.slots);
    bool none = status->advice.slots_wanted == UINT32_MAX;
    if (none)
        extract_text_puts(text, "\"slots_wanted\":null}}\n");
    else
        extract_text_printf(text, "\"slots_wanted\":%u}}\n", status->advice.slots_wanted);
}
