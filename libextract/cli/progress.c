// SPDX-License-Identifier: MIT
// cli: prints what `record` and `periodic` report of themselves, on standard error.
//
// That is advice before a recording, one line that is kept up to date (without a terminal, one
// every few seconds), and a summary, which --json prints as an object on standard output.
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
    char line[320], most[80];

    if (progress->quiet)
        return;
    if (advice->events)
        snprintf(most, sizeof most, "up to %llu events/s can be recorded without loss",
                 (unsigned long long)advice->events);
    else
        snprintf(most, sizeof most, "recording");
    if (!advice->slots)
        snprintf(line, sizeof line, "waiting for the target to enable its trace");
    else
        snprintf(line, sizeof line,
                 "%s; ring of %u %s, %.3g ms per read, %.4g KB/s, one poll every %.3g ms", most,
                 advice->slots, advice->in_bytes ? "bytes" : "entries",
                 milliseconds(advice->latency), (double)advice->rate / 1e3,
                 milliseconds(advice->period));
    say(progress, line);
    if (halts->count)
        say(progress, "this server halts the target for each poll");
}

// What the link or the ring lacks for the load, after a semicolon; "" when they suffice.
static void lack(char *text, size_t size, const struct extract_record_status *status)
{
    const struct extract_record_advice *advice = &status->advice;

    text[0] = 0;
    if (advice->link_is_too_slow)
        snprintf(text, size, "; the link is too slow for this load");
    else if (status->gaps && advice->slots_wanted == UINT32_MAX)
        snprintf(text, size, "; bursts are faster than the link, use a larger ring");
    else if (status->gaps && advice->slots_wanted)
        snprintf(text, size, "; use a ring of %u %s", advice->slots_wanted,
                 advice->in_bytes ? "bytes" : "entries");
}

// How many are lost: what is certain, and in how many gaps.
static void put_lost(char *text, size_t size, const struct extract_record_status *status)
{
    if (status->gaps)
        snprintf(text, size, "%s%llu lost in %llu gap%s", status->lost_is_exact ? "" : "at least ",
                 (unsigned long long)status->lost, (unsigned long long)status->gaps,
                 status->gaps == 1 ? "" : "s");
    else
        snprintf(text, size, "0 lost");
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
    char more[64], lost[80], line[280];

    lack(more, sizeof more, status);
    put_lost(lost, sizeof lost, status);
    snprintf(line, sizeof line,
             "%s%llu events, %s%llu/s, fill %u%%, %s, %.4g of %.4g KB/s, every %.3g ms%s",
             state_of(status), (unsigned long long)status->entries,
             status->rate_is_estimate ? "about " : "",
             (unsigned long long)status->events_per_second, fill, lost, bytes / 1e3,
             (double)advice->rate / 1e3, milliseconds(advice->period), more);
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
    char more[64], lost[80], line[280];

    progress_clear(progress);
    if (progress->quiet)
        return;
    lack(more, sizeof more, status);
    put_lost(lost, sizeof lost, status);
    snprintf(line, sizeof line,
             "%s: %llu events in %.1f s, %s, %llu resets; %llu polls, %llu KB read%s", path,
             (unsigned long long)status->entries, (double)ns / 1e9, lost,
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

static void put_or_null(struct extract_text *text, const char *key, uint64_t value, bool is_known)
{
    if (is_known)
        put_number(text, key, value);
    else
        extract_text_printf(text, "\"%s\":null,", key);
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
    if (status->lost_is_exact)
        put_number(text, "lost", status->lost);
    else
        extract_text_puts(text, "\"lost\":null,");
    put_number(text, "lost_at_least", status->lost);
    extract_text_printf(text, "\"lost_exact\":%s,", status->lost_is_exact ? "true" : "false");
    put_number(text, "gaps", status->gaps);
    put_number(text, "gaps_not_exact", status->gaps_not_exact);
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
    put_or_null(text, "events_per_second", status->advice.events, status->advice.events != 0);
    put_number(text, "period_ns", status->advice.period);
    bool in_bytes = status->advice.in_bytes, any = status->advice.slots_wanted != UINT32_MAX;
    put_or_null(text, "slots", status->advice.slots, !in_bytes);
    put_or_null(text, "slots_wanted", status->advice.slots_wanted, any && !in_bytes);
    put_or_null(text, "ring_bytes", status->advice.slots, in_bytes);
    put_or_null(text, "ring_bytes_wanted", status->advice.slots_wanted, any && in_bytes);
    extract_text_printf(text, "\"too_slow\":%s}}\n",
                        status->advice.link_is_too_slow ? "true" : "false");
}
