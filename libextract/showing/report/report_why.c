// SPDX-License-Identifier: MIT
// report: explanations of responses and spans (extract/why.h), as text with one line per segment,
// or as one JSON object per response or span.
//
//   sensor  384.5 us  #1129 .. #1162
//        +0.0 us    46.1 us   12% #          ran
//       +46.1 us   338.4 us   88% #########  blocked on mutex bus, held by comms
//       +46.1 us   168.0 us   44%              ready; logger had the core (its sleep ended #1112)
//
// Deeper segments are indented, and their times are parts of the one above. Short neighbors are
// folded into one line.
#include "report/report_room.h"
#include <extract/why.h>
#include <stdio.h>
#include <string.h>

enum { FOLDED_PERCENT = 2, BAR_WIDTH = 9 };

struct why_report {
    struct extract_text *text;
    const struct extract_trace *trace;
    const struct extract_why *why;
    uint64_t hz;
};

// ---- JSON ----

static size_t put_json_segments(struct why_report *report, size_t i, size_t end, unsigned depth);

// Writes a segment with those below it. Returns the index after them.
static size_t put_json_segment(struct why_report *report, size_t i, size_t end)
{
    const struct extract_segment *segment = &report->why->segments[i];
    struct extract_text *text = report->text;

    extract_text_printf(text, "{\"from\":%llu,\"to\":%llu,\"kind\":\"%s\",\"who\":",
                        (unsigned long long)segment->from, (unsigned long long)segment->to,
                        extract_segment_kind_name(segment->kind));
    if (segment->has_who)
        extract_text_dec(text, segment->who);
    else
        extract_text_puts(text, "null");
    extract_text_puts(text, ",\"object\":");
    if (segment->object)
        extract_text_dec(text, segment->object);
    else
        extract_text_puts(text, "null");
    if (segment->wait) {
        extract_text_puts(text, ",\"service\":");
        extract_text_json(text, segment->wait);
    }
    if (segment->wake.thread) {
        extract_text_puts(text, ",\"reason\":");
        extract_text_json(text, extract_wake_reason_name(segment->wake.reason));
        extract_text_printf(text, ",\"event\":%llu", (unsigned long long)segment->wake.seq);
        if (segment->wake.is_likely)
            extract_text_puts(text, ",\"likely\":true");
    }
    if (segment->in_isr)
        extract_text_printf(text, ",\"isr\":true,\"core\":%u", segment->core);
    if (segment->is_ready)
        extract_text_puts(text, ",\"state\":\"ready\"");
    if (segment->is_spinning)
        extract_text_puts(text, ",\"spinning\":true");
    if (segment->is_cycle)
        extract_text_puts(text, ",\"deadlock\":true");
    extract_text_puts(text, ",\"segments\":[");
    i = put_json_segments(report, i + 1, end, segment->depth + 1);
    extract_text_puts(text, "]}");
    return i;
}

static size_t put_json_segments(struct why_report *report, size_t i, size_t end, unsigned depth)
{
    bool is_first = true;

    while (i < end && report->why->segments[i].depth == depth) {
        if (!is_first)
            extract_text_putc(report->text, ',');
        is_first = false;
        i = put_json_segment(report, i, end);
    }
    return i;
}

static void put_json_chain(struct why_report *report, const struct extract_chain *chain)
{
    extract_text_putc(report->text, '{');
    if (report->why->span) {
        extract_text_puts(report->text, "\"span\":");
        extract_text_json(report->text, report->why->span);
        extract_text_printf(report->text, ",\"likely\":%s,", chain->is_likely ? "true" : "false");
    }
    extract_text_printf(report->text, "\"thread\":%llu,\"from\":%llu,\"to\":%llu",
                        (unsigned long long)chain->thread, (unsigned long long)chain->from,
                        (unsigned long long)chain->to);
    if (chain->has_seqs)
        extract_text_printf(report->text, ",\"from_event\":%llu,\"to_event\":%llu",
                            (unsigned long long)chain->from_seq, (unsigned long long)chain->to_seq);
    uint64_t modulus = extract_trace_info(report->trace)->clock.likely_modulus;
    if (modulus) // the times are wrong
        extract_text_printf(report->text, ",\"clock_modulus_likely\":%llu",
                            (unsigned long long)modulus);
    extract_text_printf(report->text, ",\"waiting\":%s,\"segments\":[",
                        chain->is_waiting ? "true" : "false");
    put_json_segments(report, chain->first, chain->first + chain->count, 0);
    extract_text_puts(report->text, "]}\n");
}

// ---- text ----

static void put_name(struct why_report *report, bool is_thread, uint64_t address)
{
    const struct extract_object *object =
        is_thread ? extract_trace_thread(report->trace, address) : NULL;

    if (!object) // what sends messages to active objects need not be one
        object = extract_trace_object(report->trace, address);
    if (object)
        extract_text_puts(report->text, object->shown);
    else
        extract_text_printf(report->text, "0x%llx", (unsigned long long)address);
}

// Writes a time right-aligned: in seconds, ms, us or ns, or in ticks if the rate is not known.
static void put_time(struct why_report *report, uint64_t ticks, const char *sign, int width)
{
    static const struct {
        double at_least;
        const char *unit;
        double factor;
    } units[] = {{1, "s", 1}, {1e-3, "ms", 1e3}, {1e-6, "us", 1e6}, {0, "ns", 1e9}};
    char number[48];
    size_t i = 0;

    if (!report->hz) {
        snprintf(number, sizeof number, "%s%llu ticks", sign, (unsigned long long)ticks);
    } else {
        double seconds = (double)ticks / (double)report->hz;
        while (seconds < units[i].at_least)
            i++;
        snprintf(number, sizeof number, "%s%.1f %-*s", sign, seconds * units[i].factor,
                 width ? 2 : 0, units[i].unit);
    }
    extract_text_printf(report->text, "%*s", width, number);
}

// Writes a time behind another one.
static void put_length(struct why_report *report, uint64_t ticks)
{
    extract_text_putc(report->text, ' ');
    put_time(report, ticks, "", 13);
}

// Writes why a thread was made ready: "queue send by producer #1142".
static void put_wake(struct why_report *report, const struct extract_wake *wake)
{
    switch (wake->reason) {
    case EXTRACT_WAKE_SERVICE:
        extract_text_puts(report->text, wake->is_likely ? "likely " : "");
        extract_text_escaped(report->text, wake->service ? wake->service->name : "service");
        if (wake->in_isr) {
            extract_text_puts(report->text, " in an interrupt");
        } else if (wake->by) {
            extract_text_puts(report->text, " by ");
            put_name(report, true, wake->by);
        }
        extract_text_printf(report->text, " #%llu", (unsigned long long)wake->cause);
        return;
    case EXTRACT_WAKE_SLEPT:
        extract_text_puts(report->text, "its sleep ended");
        break;
    case EXTRACT_WAKE_TIMEOUT:
        extract_text_puts(report->text, "its timeout was over");
        break;
    case EXTRACT_WAKE_TICK:
        extract_text_puts(report->text, "timer tick");
        break;
    case EXTRACT_WAKE_UNKNOWN:
        extract_text_puts(report->text, "woken for an unknown reason");
        break;
    }
    extract_text_printf(report->text, " #%llu", (unsigned long long)wake->seq);
}

// Writes what a thread waited for: " on mutex bus".
static void put_object(struct why_report *report, const char *word,
                       const struct extract_segment *segment)
{
    if (!segment->wait)
        return;
    extract_text_printf(report->text, " %s %s", word, segment->wait);
    if (!segment->object)
        return;
    extract_text_putc(report->text, ' ');
    put_name(report, false, segment->object);
}

// Writes who holds a mutex or a lock.
static void put_holder(struct why_report *report, const struct extract_segment *segment)
{
    struct extract_text *text = report->text;

    extract_text_puts(text, ", held by ");
    if (segment->in_isr && segment->has_who)
        extract_text_printf(text, "interrupt %llu of core %u", (unsigned long long)segment->who,
                            segment->core);
    else if (segment->in_isr)
        extract_text_printf(text, "an interrupt of core %u", segment->core);
    else if (segment->has_who)
        put_name(report, true, segment->who);
    else
        extract_text_puts(text, strcmp(segment->wait, "lock") == 0
                                    ? "an unknown thread or interrupt"
                                    : "an unknown thread");
}

static void put_what(struct why_report *report, const struct extract_segment *segment,
                     bool is_waiting)
{
    struct extract_text *text = report->text;

    switch (segment->kind) {
    case EXTRACT_SEGMENT_RAN:
        extract_text_puts(text, "ran");
        break;
    case EXTRACT_SEGMENT_PREEMPTED:
        extract_text_puts(text, "ready; ");
        put_name(report, true, segment->who);
        extract_text_puts(text, " had the core");
        if (segment->wake.thread) {
            extract_text_puts(text, " (");
            put_wake(report, &segment->wake);
            extract_text_putc(text, ')');
        }
        break;
    case EXTRACT_SEGMENT_ISR:
        extract_text_puts(text, "interrupt");
        if (segment->has_who)
            extract_text_printf(text, " %llu", (unsigned long long)segment->who);
        break;
    case EXTRACT_SEGMENT_BLOCKED:
        if (segment->is_spinning)
            extract_text_puts(text, "spun");
        else
            extract_text_puts(text, is_waiting ? "still blocked" : "blocked");
        put_object(report, "on", segment);
        put_holder(report, segment);
        if (segment->is_cycle)
            extract_text_puts(text, segment->by_isr ? ", which waits for it: a deadlock"
                                                    : ", which waits for this thread: a deadlock");
        break;
    case EXTRACT_SEGMENT_WAITED:
        extract_text_puts(text, is_waiting ? "still waits" : "waited");
        put_object(report, "for", segment);
        if (segment->wake.thread) {
            extract_text_puts(text, ": ");
            put_wake(report, &segment->wake);
        }
        break;
    case EXTRACT_SEGMENT_SLEPT:
        extract_text_puts(text, is_waiting ? "still sleeps" : "slept");
        break;
    case EXTRACT_SEGMENT_SUSPENDED:
        extract_text_puts(text, segment->has_ended ? "has ended"
                                : is_waiting       ? "still suspended"
                                                   : "suspended");
        break;
    case EXTRACT_SEGMENT_SWITCHING:
        extract_text_puts(text, "switching");
        break;
    case EXTRACT_SEGMENT_UNKNOWN:
        extract_text_puts(text,
                          segment->is_ready ? "ready; what had its core is not known" : "unknown");
        break;
    }
}

void report_why_segment(struct extract_text *text, const struct extract_trace *trace,
                        const struct extract_segment *segment, bool is_waiting)
{
    struct why_report report = {.text = text, .trace = trace};

    put_what(&report, segment, is_waiting);
}

// Writes the times of a line, and a bar for what is not indented.
static void put_times(struct why_report *report, const struct extract_chain *chain, uint64_t from,
                      uint64_t to, unsigned depth)
{
    static const char bar[] = "#########";
    uint64_t all = chain->to - chain->from, part = to - from;
    unsigned percent = (unsigned)((double)part * 100 / (double)all + 0.5);
    unsigned length = (percent * BAR_WIDTH + 99) / 100;

    put_time(report, from - chain->from, "+", 14);
    put_length(report, part);
    extract_text_printf(report->text, " %4u%% %-*.*s  %*s", percent, BAR_WIDTH,
                        depth ? 0 : (int)length, bar, (int)depth * 2, "");
}

// Returns the index after the segments of the same level, from i on, that are folded into one line:
// neighbors that are each too short to matter and have nothing below them.
static size_t end_of_fold(const struct why_report *report, const struct extract_chain *chain,
                          size_t i)
{
    const struct extract_segment *segments = report->why->segments;
    uint64_t limit = (chain->to - chain->from) / 100 * FOLDED_PERCENT;
    size_t end = chain->first + chain->count, at = i;

    while (at < end && segments[at].depth == segments[i].depth &&
           segments[at].to - segments[at].from < limit && !segments[at].is_cycle &&
           (at + 1 == end || segments[at + 1].depth <= segments[i].depth))
        at++;
    return at;
}

static void put_chain(struct why_report *report, const struct extract_chain *chain)
{
    const struct extract_segment *segments = report->why->segments;
    size_t end = chain->first + chain->count;

    if (report->why->span)
        extract_text_printf(report->text, "%s: ", report->why->span);
    put_name(report, true, chain->thread);
    extract_text_puts(report->text, "  ");
    put_time(report, chain->to - chain->from, "", 0);
    if (chain->has_seqs)
        extract_text_printf(report->text, "  #%llu .. #%llu", (unsigned long long)chain->from_seq,
                            (unsigned long long)chain->to_seq);
    else if (chain->is_waiting)
        extract_text_puts(report->text, "  until the end of the trace");
    extract_text_puts(report->text, "  from ");
    put_time(report, chain->from, "", 0);
    extract_text_puts(report->text, chain->is_likely ? "  (likely, not certain)\n" : "\n");
    for (size_t i = chain->first; i < end;) {
        size_t after = end_of_fold(report, chain, i);
        const struct extract_segment *segment = &segments[i];
        if (after > i + 1) {
            put_times(report, chain, segment->from, segments[after - 1].to, segment->depth);
            extract_text_printf(report->text, "(%zu more, each below %d %%)\n", after - i,
                                FOLDED_PERCENT);
            i = after;
            continue;
        }
        put_times(report, chain, segment->from, segment->to, segment->depth);
        put_what(report, segment, chain->is_waiting && segment->to == chain->to);
        extract_text_putc(report->text, '\n');
        i++;
    }
    extract_text_printf(report->text, "%14s", "sum");
    put_length(report, chain->to - chain->from);
    extract_text_puts(report->text, "  100%\n");
}

enum extract_code extract_report_why(struct extract_text *text, const struct extract_why *why,
                                     const struct extract_trace *trace,
                                     const struct extract_report_options *options)
{
    struct why_report report = {text, trace, why, options->hz};

    for (size_t i = 0; i < why->chain_count; i++) {
        if (options->json) {
            put_json_chain(&report, &why->chains[i]);
            continue;
        }
        if (i)
            extract_text_putc(text, '\n');
        put_chain(&report, &why->chains[i]);
    }
    return text->code;
}
