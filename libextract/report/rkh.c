// SPDX-License-Identifier: MIT
// report: the facts of an RKH stream. In: a ring's settings, the counts of its copy, and the runs
// of the target. Out: facts.
#include "formats/rkh/rkh.h"
#include "report/internal.h"
#include "report/text_table.h"
#include <inttypes.h>
#include <stdio.h>

enum { OLD = 0x3000, RUN_ROOM = 32 };

static void put_value(struct extract_text *text, const struct extract_rkh_layout *layout,
                      enum extract_rkh_key key, bool json)
{
    uint32_t value = layout->value[key];
    if (key == EXTRACT_RKH_VERSION)
        extract_text_printf(text, value < OLD ? "%s%x.%x.%x%s" : "%s%x.%x.%02x%s", json ? "\"" : "",
                            value >> 12, value >> 8 & 0xF, value & 0xFF, json ? "\"" : "");
    else if (key == EXTRACT_RKH_TS_HZ && !value)
        extract_text_puts(text, json ? "null" : "unknown");
    else
        extract_text_dec(text, value);
}

// {"value":4,"from":"tcfg"}, or "ptr=4 (tcfg)".
static void put_setting(struct facts *facts, const struct extract_rkh_layout *layout,
                        enum extract_rkh_key key)
{
    struct extract_text *text = facts->text;
    const char *from = extract_rkh_from_name((enum extract_rkh_from)layout->from[key]);
    const char *name = extract_rkh_name(key);
    extract_text_printf(text, facts->json ? "%s\"%s\":{\"value\":" : "%s%s=",
                        !key          ? ""
                        : facts->json ? ","
                                      : ", ",
                        name);
    put_value(text, layout, key, facts->json);
    extract_text_printf(text, facts->json ? ",\"from\":\"%s\"}" : " (%s)", from);
}

static void put_settings(struct facts *facts, const char *title,
                         const struct extract_rkh_layout *layout)
{
    uint64_t cut = rkh_layout_cut_hz(layout);
    facts_key(facts, title);
    extract_text_puts(facts->text, facts->json ? "{" : "");
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        put_setting(facts, layout, (enum extract_rkh_key)key);
    extract_text_puts(facts->text, facts->json ? "}" : "");
    if (cut)
        facts_note(facts, "ts_hz is not used: 16 bits hold %" PRIu32 " of %" PRIu64,
                   layout->value[EXTRACT_RKH_TS_HZ], cut);
    else if (layout->from[EXTRACT_RKH_TS_HZ] == EXTRACT_RKH_TCFG)
        facts_note(facts, "the stream holds 16 bits of ts_hz: --hz says a rate above 65535");
}

void facts_rkh(struct facts *facts, const struct extract_rkh *rkh)
{
    const struct extract_rkh_layout last = rkh_layout_of(rkh);
    facts_number(facts, "frames torn", rkh->damage.torn);
    facts_number(facts, "frames with bad checksum", rkh->damage.checksum);
    facts_number(facts, "frames with bad length", rkh->damage.length);
    facts_number(facts, "frames with unknown id", rkh->damage.id);
    facts_bool(facts, "partial", rkh->partial);
    if (rkh->partial) {
        facts_number(facts, "partial bytes", rkh->partial);
        facts_bool(facts, "partial checked", rkh->partial_checked);
        if (rkh->partial_checked)
            facts_note(facts, "they have the target's running checksum");
    }
    facts_word(facts, "view", rkh->view == EXTRACT_RKH_PENDING ? "pending" : "history");
    put_settings(facts, "rkh", &last);
    if (rkh->layouts > 1)
        facts_note(facts, "the stream tells %u layouts; these are the last", rkh->layouts);
}

// ---- runs ----

// What a user says of the rate holds for every run.
static uint64_t rate_of(const struct extract_ring *ring, const struct extract_run *run,
                        const struct extract_report_options *options)
{
    bool has_stamps = run->layout && run->layout->value[EXTRACT_RKH_TS];
    if (!has_stamps)
        return 0;
    return options->hz && options->hz != ring->hz ? options->hz : rkh_layout_hz(run->layout);
}

static void put_known(struct facts *facts, const char *key, bool is_known, uint64_t value)
{
    if (is_known)
        facts_number(facts, key, value);
    else
        facts_unknown(facts, key);
}

static void put_run_json(struct facts *outer, const struct extract_run *run, uint64_t hz)
{
    static const struct extract_rkh_layout no_layout;
    const struct extract_rkh_layout *layout = run->layout ? run->layout : &no_layout;
    uint32_t stamp_bytes = layout->value[EXTRACT_RKH_TS];
    struct facts facts = {outer->text, true, true};
    extract_text_putc(outer->text, '{');
    facts_number(&facts, "first seq", run->first);
    facts_number(&facts, "entries valid", run->entries_valid);
    facts_number(&facts, "entries damaged", run->entries_damaged);
    put_known(&facts, "events lost", run->lost_known, run->events_lost);
    facts_number(&facts, "events lost at least", run->lost_at_least);
    put_known(&facts, "events lost at most", run->lost_at_most != UINT64_MAX, run->lost_at_most);
    facts_bool(&facts, "events lost exact", run->lost_known);
    bool shows_gaps = layout->value[EXTRACT_RKH_NSEQ];
    put_known(&facts, "gaps", shows_gaps, run->gaps);
    put_known(&facts, "gaps not exact", shows_gaps, run->gaps_not_exact);
    facts_number(&facts, "stamp bytes", stamp_bytes);
    put_known(&facts, "hz", hz, hz);
    put_known(&facts, "span ticks", stamp_bytes, run->span_ticks);
    if (run->further)
        facts_number(&facts, "further runs", run->further);
    if (run->layout)
        put_settings(&facts, "rkh", layout);
    else
        facts_unknown(&facts, "rkh");
    extract_text_putc(outer->text, '}');
}

static void put_run_losses(struct extract_text *text, const struct extract_run *run)
{
    if (run->lost_known)
        extract_text_printf(text, "%" PRIu64 " lost", run->events_lost);
    else if (run->gaps_not_exact)
        extract_text_printf(text, "at least %" PRIu64 " lost (not every gap is exact)",
                            run->lost_at_least);
    else if (!run->layout || !run->layout->value[EXTRACT_RKH_NSEQ])
        extract_text_puts(text, "lost unknown (frames have no numbers)");
    else
        extract_text_puts(text, "lost unknown (the ring is full, and keeps no count of what it "
                                "overwrites)");
}

static void put_run(struct facts *facts, const struct extract_run *run, size_t number, uint64_t hz)
{
    struct extract_text *text = facts->text;
    uint32_t stamp_bytes = run->layout ? run->layout->value[EXTRACT_RKH_TS] : 0;
    char title[RUN_ROOM];
    snprintf(title, sizeof title, "run %zu", number);
    facts_key(facts, title);
    extract_text_printf(text, "from seq %" PRIu64 ", %" PRIu64 " valid, %" PRIu64 " damaged, ",
                        run->first, run->entries_valid, run->entries_damaged);
    put_run_losses(text, run);
    if (stamp_bytes)
        extract_text_printf(text, ", stamps of %u byte%s, ", (unsigned)stamp_bytes,
                            stamp_bytes == 1 ? "" : "s");
    if (stamp_bytes && hz)
        extract_text_printf(text, "%" PRIu64 " Hz", hz);
    else
        extract_text_puts(text, stamp_bytes ? "rate unknown" : ", no stamps");
    if (stamp_bytes) {
        extract_text_printf(text, ", span ticks %" PRIu64, run->span_ticks);
        facts_seconds(facts, run->span_ticks, hz);
    }
    if (run->further)
        facts_note(facts, "with %" PRIu64 " further runs", run->further);
    if (!run->layout)
        return;
    snprintf(title, sizeof title, "run %zu rkh", number);
    put_settings(facts, title, run->layout);
}

void facts_runs(struct facts *facts, const struct extract_trace *trace,
                const struct extract_report_options *options)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    const struct extract_run *runs;
    size_t count = extract_trace_runs(trace, &runs);
    if (facts->json) {
        facts_key(facts, "runs");
        extract_text_putc(facts->text, '[');
    } else if (count > 1) {
        facts_number(facts, "runs", count);
    }
    for (size_t i = 0; i < count && !facts->text->code; i++) {
        uint64_t hz = rate_of(ring, &runs[i], options);
        if (facts->json)
            extract_text_puts(facts->text, i ? "," : "");
        if (facts->json)
            put_run_json(facts, &runs[i], hz);
        else if (count > 1)
            put_run(facts, &runs[i], i + 1, hz);
    }
    if (facts->json)
        extract_text_putc(facts->text, ']');
}

// ---- signals ----

static const char *const signal_sources[] = {[EXTRACT_SIGNALS_UNNAMED] = "unknown",
                                             [EXTRACT_SIGNALS_BY_USER] = "user",
                                             [EXTRACT_SIGNALS_BY_RECORDS] = "records",
                                             [EXTRACT_SIGNALS_BY_TYPE] = "type",
                                             [EXTRACT_SIGNALS_BY_TEXTS] = "texts"};

void facts_signals(struct facts *facts, const struct extract_signals *signals)
{
    const char *from = signal_sources[signals->from];
    bool is_named = signals->count && *signals->name;
    const char *name = is_named ? signals->name : signals->name_of_1;
    struct facts inner = {facts->text, true, true};
    facts_key(facts, "signals");
    if (facts->json) {
        extract_text_putc(facts->text, '{');
        facts_number(&inner, "enums", signals->count);
        if (is_named)
            facts_word(&inner, "enum", name);
        else
            facts_unknown(&inner, "enum");
        facts_word(&inner, "from", from);
        extract_text_putc(facts->text, '}');
        return;
    }
    if (!signals->count) {
        extract_text_puts(facts->text, "no enum of the ELF names them");
        return;
    }
    extract_text_puts(facts->text, is_named ? "enum " : "enum with ");
    extract_text_escaped(facts->text, name);
    if (signals->from)
        facts_note(facts, "%s", from);
    else if (signals->count == 1)
        facts_note(facts, "perhaps; --rkh signals=%s says so", name);
    else
        facts_note(facts, "or another of %zu; --rkh signals=NAME chooses", signals->count);
}

// ---- rates that are of no use ----

void report_rkh_rates(struct extract_text *text, const struct extract_trace *trace)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    const struct extract_rkh *rkh = &ring->rkh;
    const struct extract_rkh_layout *first = NULL;
    bool differ = false;
    for (unsigned i = 0; i < rkh->layouts; i++) {
        const struct extract_rkh_layout *layout = &rkh->layout[i];
        uint64_t cut = rkh_layout_cut_hz(layout);
        if (!layout->value[EXTRACT_RKH_TS])
            continue;
        if (cut && !(first && rkh_layout_cut_hz(first) == cut))
            extract_text_printf(text,
                                "the TCFG record tells a rate of %" PRIu32 " stamps per second, "
                                "which is what 16 bits hold of %" PRIu64 ", so times are in ticks; "
                                "use --hz %" PRIu64 ", or --hz %" PRIu32 " if that is the rate\n",
                                layout->value[EXTRACT_RKH_TS_HZ], cut, cut,
                                layout->value[EXTRACT_RKH_TS_HZ]);
        differ |= first && rkh_layout_hz(first) != rkh_layout_hz(layout);
        first = first ? first : layout;
    }
    if (differ)
        extract_text_puts(text, "the stamps of its runs have different rates, so times are in "
                                "ticks; 'ringside info' shows each run\n");
}
