// SPDX-License-Identifier: MIT
// report: the facts on a trace. In: its info, ring and clock. Out: "key: value" lines, or JSON.
// The words of "state" are those of posix_trace_status_info (IEEE Std 1003.1-2017, <trace.h>).
#include "report/sheet.h"

static void put_place(struct facts *facts, const struct extract_ring *ring)
{
    static const char *const origins[] = {"symbol", "address", "file", "scan"};
    facts_hex(facts, "address", ring->address);
    facts_word(facts, "found by", origins[(unsigned)ring->origin % 4]);
}

static void put_clock(struct facts *facts, const struct extract_ring *ring,
                      const struct extract_clock *clock)
{
    static const char *const directions[] = {"none", "up", "down"};
    facts_hex(facts, "timer mask", ring->timer_mask);
    facts_word(facts, "time direction", directions[(unsigned)clock->direction % 3]);
    if (clock->direction == EXTRACT_CLOCK_NONE)
        facts_note(facts, "every stamp is the same: the order is known, times are not");
    if (clock->modulus)
        facts_number(facts, "clock modulus", clock->modulus);
    else
        facts_unknown(facts, "clock modulus");
    facts_bool(facts, "counts events", clock->counts_events);
    if (clock->counts_events)
        facts_note(facts, "the clock steps by one an event: an order, not a time");
}

static void put_entries(struct facts *facts, const struct extract_info *info)
{
    facts_number(facts, "entries total", info->entries_total);
    facts_number(facts, "entries valid", info->entries_valid);
    facts_number(facts, "entries damaged", info->entries_damaged);
    facts_number(facts, "entries unused", info->entries_unused);
    if (info->lost_known) {
        facts_number(facts, "events lost", info->events_lost);
    } else {
        facts_unknown(facts, "events lost");
        facts_note(facts, "the ring keeps no count of what it overwrites");
    }
    facts_bool(facts, "wrapped", info->wrapped);
}

static void put_state(struct facts *facts, const struct extract_info *info)
{
    const char *words[] = {info->running ? "running" : "suspended",
                           info->full ? "full" : "not_full",
                           info->overrun ? "overrun" : "no_overrun"};
    if (!info->running_known)
        words[0] = "unknown";
    facts_key(facts, "state");
    if (facts->json)
        extract_text_printf(facts->text, "[\"%s\",\"%s\",\"%s\"]", words[0], words[1], words[2]);
    else
        extract_text_printf(facts->text, "%s, %s, %s", words[0], words[1], words[2]);
}

static void put_filter(struct facts *facts, const struct extract_ring *ring)
{
    if (ring->filter_known)
        facts_hex(facts, "filter", ring->filter);
    else
        facts_unknown(facts, "filter");
}

enum extract_code extract_report_info(struct extract_text *text, const struct extract_trace *trace,
                                      const struct extract_report_options *options)
{
    static const char *const orders[] = {"unknown", "little", "big"};
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    struct facts facts;

    facts_open(&facts, text, options->json);
    facts_word(&facts, "format", info->format);
    put_place(&facts, ring);
    facts_word(&facts, "byte order", orders[(unsigned)info->byte_order % 3]);
    facts_number(&facts, "word bytes", info->word_bytes);
    put_clock(&facts, ring, &info->clock);
    put_entries(&facts, info);
    facts_number(&facts, "objects", info->objects);
    facts_number(&facts, "registry slots", ring->registry.count);
    facts_number(&facts, "span ticks", info->span_ticks);
    facts_seconds(&facts, info->span_ticks, options->hz);
    put_state(&facts, info);
    put_filter(&facts, ring);
    facts_close(&facts);
    return text->code;
}
