// SPDX-License-Identifier: MIT
// cli: prints the progress of `record` and `periodic` on standard error.
//
// Advice is printed before a recording. A progress line is then updated in place, or printed every
// few seconds if there is no terminal. A summary follows at the end; with --json, it is an object
// on standard output.
#include "cli/progress.h"
#include "base/now.h"
#include "cli/cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { TERMINAL_PAUSE_MS = 250, PLAIN_PAUSE_MS = 5000 }; // between progress lines

static double to_ms(uint64_t ns)
{
    return (double)ns / 1e6;
}

void progress_print(const struct progress *progress, const char *message)
{
    if (!progress->quiet)
        cli_print_note(progress->name, "%s", message);
}

void progress_start(struct progress *progress, const char *name, bool quiet)
{
    const char *term = getenv("TERM");

    *progress = (struct progress){.name = name, .quiet = quiet, .start_ns = extract_now()};
    progress->is_terminal = isatty(STDERR_FILENO) && term && *term && strcmp(term, "dumb");
    progress->printed_ns = progress->start_ns;
}

void progress_print_advice(const struct progress *progress,
                           const struct extract_record_status *status,
                           const struct extract_live_halts *halts)
{
    const struct extract_record_advice *advice = &status->advice;
    char line[320], load[80];

    if (progress->quiet)
        return;
    if (advice->events)
        snprintf(load, sizeof load, "up to %llu events/s can be recorded without loss",
                 (unsigned long long)advice->events);
    else
        snprintf(load, sizeof load, "recording");
    if (!advice->slots)
        snprintf(line, sizeof line, "waiting for the target to enable its trace");
    else
        snprintf(line, sizeof line,
                 "%s; ring of %u %s, %.3g ms per read, %.4g KB/s, one poll every %.3g ms", load,
                 advice->slots, advice->in_bytes ? "bytes" : "entries", to_ms(advice->latency),
                 (double)advice->rate / 1e3, to_ms(advice->period));
    progress_print(progress, line);
    if (halts->count)
        progress_print(progress, "this server halts the target for each poll");
}

// Writes what the link or the ring lacks for the load, after a semicolon; "" if nothing.
static void write_lack(char *text, size_t size, const struct extract_record_status *status)
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

// Writes the number of lost events, and of gaps.
static void write_losses(char *text, size_t size, const struct extract_record_status *status)
{
    if (status->gaps)
        snprintf(text, size, "%s%llu lost in %llu gap%s", status->lost_is_exact ? "" : "at least ",
                 (unsigned long long)status->lost, (unsigned long long)status->gaps,
                 status->gaps == 1 ? "" : "s");
    else
        snprintf(text, size, "0 lost");
}

// Returns the width of the terminal. A longer line could not be replaced.
static int terminal_columns(void)
{
    struct winsize size;

    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) || size.ws_col < 2 ? 80 : size.ws_col;
}

static void print_line(struct progress *progress, const struct extract_record_status *status,
                       uint64_t now)
{
    const struct extract_record_advice *advice = &status->advice;
    double seconds = (double)(now - progress->printed_ns) / 1e9;
    double bytes =
        (double)(status->cost.bytes - progress->printed_bytes) / (seconds > 0 ? seconds : 1);
    unsigned fill = advice->slots ? (unsigned)(100.0 * status->fill / advice->slots) : 0;
    const char *state = status->gone ? "no answer: " : !status->enabled ? "trace off: " : "";
    char more[64], lost[80], line[280];

    write_lack(more, sizeof more, status);
    write_losses(lost, sizeof lost, status);
    snprintf(line, sizeof line,
             "%s%llu events, %s%llu/s, fill %u%%, %s, %.4g of %.4g KB/s, every %.3g ms%s", state,
             (unsigned long long)status->entries, status->rate_is_estimate ? "about " : "",
             (unsigned long long)status->events_per_second, fill, lost, bytes / 1e3,
             (double)advice->rate / 1e3, to_ms(advice->period), more);
    if (progress->is_terminal)
        fprintf(stderr, "\r\033[K%.*s", terminal_columns() - 1, line);
    else
        progress_print(progress, line);
    progress->has_line |= progress->is_terminal;
    progress->printed_bytes = status->cost.bytes;
    progress->printed_ns = now;
}

void progress_update(struct progress *progress, const struct extract_record_status *status)
{
    uint64_t now = extract_now();
    uint64_t pause_ms = progress->is_terminal ? TERMINAL_PAUSE_MS : PLAIN_PAUSE_MS;
    bool has_changed = progress->is_disconnected != status->gone; // is printed at once

    progress->is_disconnected = status->gone;
    if (!progress->quiet && (has_changed || now - progress->printed_ns >= pause_ms * 1000000))
        print_line(progress, status, now);
}

void progress_clear(struct progress *progress)
{
    if (progress->has_line)
        fputs("\r\033[K", stderr);
    progress->has_line = false;
}

void progress_print_summary(struct progress *progress, const struct extract_record_status *status,
                            const struct extract_live_halts *halts, const char *path)
{
    uint64_t ns = extract_now() - progress->start_ns;
    char more[64], lost[80], line[280];

    progress_clear(progress);
    if (progress->quiet)
        return;
    write_lack(more, sizeof more, status);
    write_losses(lost, sizeof lost, status);
    snprintf(line, sizeof line,
             "%s: %llu events in %.1f s, %s, %llu resets; %llu polls, %llu KB read%s", path,
             (unsigned long long)status->entries, (double)ns / 1e9, lost,
             (unsigned long long)status->resets, (unsigned long long)status->polls,
             (unsigned long long)status->cost.bytes / 1000, more);
    progress_print(progress, line);
    if (!halts->count)
        return;
    snprintf(line, sizeof line,
             "the target was halted %llu times: %.3g ms each, %.3g ms at most, %.2g%% of the time",
             (unsigned long long)halts->count, to_ms(halts->nanoseconds) / (double)halts->count,
             to_ms(halts->longest), 100.0 * (double)halts->nanoseconds / (double)(ns ? ns : 1));
    progress_print(progress, line);
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

void progress_put_json(const struct progress *progress, struct extract_text *text,
                       const struct extract_record_status *status,
                       const struct extract_live_halts *halts, const char *path, const char *reason)
{
    uint64_t ns = extract_now() - progress->start_ns;

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
