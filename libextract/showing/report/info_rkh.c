// SPDX-License-Identifier: MIT
// report: what `info` prints about an RKH stream.
//
// A stream may consist of several runs of the target, and a TCFG record at the start of each run
// may report other settings. So `info` prints the last settings, each with its source, and then
// every run with its own counts, losses, clock rate and settings.
#include "formats/rkh/rkh.h"
#include "report/report_room.h"
#include "events/events_room.h"
#include <inttypes.h>
#include <stdio.h>

enum {
    VERSION_3 = 0x3000, // from here on, versions have two digits in their last part
    TITLE_CAPACITY = 32
};

// ---- settings ----

// Writes one setting and its source: "value":4,"from":"tcfg" in JSON, ptr=4 (tcfg) in text.
static void put_setting(struct kv_writer *kv, const struct extract_rkh_layout *layout,
                        enum extract_rkh_key key)
{
    struct extract_text *text = kv->text;
    const char *from = extract_rkh_from_name((enum extract_rkh_from)layout->from[key]);
    const char *separator = !key ? "" : kv->is_json ? "," : ", ";
    const char *quote = kv->is_json ? "\"" : "";
    uint32_t value = layout->value[key];

    extract_text_printf(text, kv->is_json ? "%s\"%s\":{\"value\":" : "%s%s=", separator,
                        extract_rkh_name(key));
    if (key == EXTRACT_RKH_VERSION)
        extract_text_printf(text, value < VERSION_3 ? "%s%x.%x.%x%s" : "%s%x.%x.%02x%s", quote,
                            value >> 12, value >> 8 & 0xF, value & 0xFF, quote);
    else if (key == EXTRACT_RKH_TS_HZ && !value)
        extract_text_puts(text, kv->is_json ? "null" : "unknown");
    else
        extract_text_dec(text, value);
    extract_text_printf(text, kv->is_json ? ",\"from\":\"%s\"}" : " (%s)", from);
}

static void put_settings(struct kv_writer *kv, const char *title,
                         const struct extract_rkh_layout *layout)
{
    uint64_t full_hz = rkh_layout_cut_hz(layout);

    kv_put_key(kv, title);
    extract_text_puts(kv->text, kv->is_json ? "{" : "");
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        put_setting(kv, layout, (enum extract_rkh_key)key);
    extract_text_puts(kv->text, kv->is_json ? "}" : "");
    if (full_hz)
        kv_put_note(kv, "ts_hz is not used: 16 bits hold %" PRIu32 " of %" PRIu64,
                    layout->value[EXTRACT_RKH_TS_HZ], full_hz);
    else if (layout->from[EXTRACT_RKH_TS_HZ] == EXTRACT_RKH_TCFG)
        kv_put_note(kv, "the stream holds 16 bits of ts_hz; use --hz for a rate above 65535");
}

void info_put_rkh(struct kv_writer *kv, const struct extract_rkh *rkh)
{
    const struct extract_rkh_layout last = rkh_layout_of(rkh);

    kv_put_number(kv, "frames torn", rkh->damage.torn);
    kv_put_number(kv, "frames with bad checksum", rkh->damage.checksum);
    kv_put_number(kv, "frames with bad length", rkh->damage.length);
    kv_put_number(kv, "frames with unknown id", rkh->damage.id);
    kv_put_bool(kv, "partial", rkh->partial);
    if (rkh->partial) {
        kv_put_number(kv, "partial bytes", rkh->partial);
        kv_put_bool(kv, "partial checked", rkh->partial_checked);
        if (rkh->partial_checked)
            kv_put_note(kv, "they have the target's running checksum");
    }
    kv_put_string(kv, "view", rkh->view == EXTRACT_RKH_PENDING ? "pending" : "history");
    put_settings(kv, "rkh", &last);
    if (rkh->layouts > 1)
        kv_put_note(kv, "the last of %u layouts in the stream", rkh->layouts);
}

// ---- runs ----

// Returns the clock rate of a run in Hz; 0: unknown, or the run has no timestamps. A rate that the
// user passed holds for every run.
static uint64_t run_hz(const struct extract_ring *ring, const struct extract_run *run,
                       const struct extract_report_options *options)
{
    bool has_stamps = run->layout && run->layout->value[EXTRACT_RKH_TS];

    if (!has_stamps)
        return 0;
    return options->hz && options->hz != ring->hz ? options->hz : rkh_layout_hz(run->layout);
}

static void put_run_json(struct extract_text *text, const struct extract_run *run, uint64_t hz)
{
    static const struct extract_rkh_layout no_layout;
    const struct extract_rkh_layout *layout = run->layout ? run->layout : &no_layout;
    uint32_t stamp_bytes = layout->value[EXTRACT_RKH_TS];
    bool is_numbered = layout->value[EXTRACT_RKH_NSEQ];
    struct kv_writer kv = kv_open_object(text);

    kv_put_number(&kv, "first seq", run->first);
    kv_put_number(&kv, "entries valid", run->entries_valid);
    kv_put_number(&kv, "entries damaged", run->entries_damaged);
    kv_put_optional(&kv, "events lost", run->lost_known, run->events_lost);
    kv_put_number(&kv, "events lost at least", run->lost_at_least);
    kv_put_optional(&kv, "events lost at most", run->lost_at_most != UINT64_MAX, run->lost_at_most);
    kv_put_bool(&kv, "events lost exact", run->lost_known);
    kv_put_optional(&kv, "gaps", is_numbered, run->gaps);
    kv_put_optional(&kv, "gaps not exact", is_numbered, run->gaps_not_exact);
    kv_put_number(&kv, "stamp bytes", stamp_bytes);
    kv_put_optional(&kv, "hz", hz != 0, hz);
    kv_put_optional(&kv, "span ticks", stamp_bytes != 0, run->span_ticks);
    if (run->further)
        kv_put_number(&kv, "further runs", run->further);
    if (run->layout)
        put_settings(&kv, "rkh", layout);
    else
        kv_put_unknown(&kv, "rkh");
    kv_close_object(&kv);
}

static void put_run(struct kv_writer *kv, const struct extract_run *run, size_t number, uint64_t hz)
{
    struct extract_text *text = kv->text;
    uint32_t stamp_bytes = run->layout ? run->layout->value[EXTRACT_RKH_TS] : 0;
    char title[TITLE_CAPACITY];

    snprintf(title, sizeof title, "run %zu", number);
    kv_put_key(kv, title);
    extract_text_printf(text, "from seq %" PRIu64 ", %" PRIu64 " valid, %" PRIu64 " damaged, ",
                        run->first, run->entries_valid, run->entries_damaged);
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

    if (stamp_bytes) {
        extract_text_printf(text, ", stamps of %u byte%s, ", (unsigned)stamp_bytes,
                            stamp_bytes == 1 ? "" : "s");
        if (hz)
            extract_text_printf(text, "%" PRIu64 " Hz", hz);
        else
            extract_text_puts(text, "rate unknown");
        extract_text_printf(text, ", span ticks %" PRIu64, run->span_ticks);
        kv_put_seconds(kv, run->span_ticks, hz);
    } else {
        extract_text_puts(text, ", no stamps");
    }
    if (run->further)
        kv_put_note(kv, "with %" PRIu64 " further runs", run->further);
    if (!run->layout)
        return;
    snprintf(title, sizeof title, "run %zu rkh", number);
    put_settings(kv, title, run->layout);
}

void info_put_rkh_runs(struct kv_writer *kv, const struct extract_trace *trace,
                       const struct extract_report_options *options)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    const struct extract_run *runs;
    size_t count = extract_trace_runs(trace, &runs);

    if (kv->is_json) {
        kv_put_key(kv, "runs");
        extract_text_putc(kv->text, '[');
        for (size_t i = 0; i < count && !kv->text->code; i++) {
            extract_text_puts(kv->text, i ? "," : "");
            put_run_json(kv->text, &runs[i], run_hz(ring, &runs[i], options));
        }
        extract_text_putc(kv->text, ']');
    } else if (count > 1) {
        kv_put_number(kv, "runs", count);
        for (size_t i = 0; i < count && !kv->text->code; i++)
            put_run(kv, &runs[i], i + 1, run_hz(ring, &runs[i], options));
    }
}

// ---- signals ----

void info_put_rkh_signals(struct kv_writer *kv, const struct extract_signals *signals)
{
    static const char *const sources[] = {[EXTRACT_SIGNALS_UNNAMED] = "unknown",
                                          [EXTRACT_SIGNALS_BY_USER] = "user",
                                          [EXTRACT_SIGNALS_BY_RECORDS] = "records",
                                          [EXTRACT_SIGNALS_BY_TYPE] = "type",
                                          [EXTRACT_SIGNALS_BY_TEXTS] = "texts"};
    const char *from = sources[signals->from];
    bool is_named = signals->count && *signals->name;
    const char *name = is_named ? signals->name : signals->name_of_1;

    kv_put_key(kv, "signals");
    if (kv->is_json) {
        struct kv_writer object = kv_open_object(kv->text);
        kv_put_number(&object, "enums", signals->count);
        if (is_named)
            kv_put_string(&object, "enum", name);
        else
            kv_put_unknown(&object, "enum");
        kv_put_string(&object, "from", from);
        kv_close_object(&object);
        return;
    }
    if (!signals->count) {
        extract_text_puts(kv->text, "no enum of the ELF names them");
        return;
    }
    extract_text_puts(kv->text, is_named ? "enum " : "enum with ");
    extract_text_escaped(kv->text, name);
    if (signals->from)
        kv_put_note(kv, "%s", from);
    else if (signals->count == 1)
        kv_put_note(kv, "a guess; confirm it with --rkh signals=%s", name);
    else
        kv_put_note(kv, "or another of %zu; choose with --rkh signals=NAME", signals->count);
}

// ---- rates that cannot be used ----

void report_rkh_rates(struct extract_text *text, const struct extract_trace *trace)
{
    const struct extract_rkh *rkh = &extract_trace_snapshot(trace)->ring.rkh;
    const struct extract_rkh_layout *first = NULL; // the first layout with timestamps
    bool rates_differ = false;

    for (unsigned i = 0; i < rkh->layouts; i++) {
        const struct extract_rkh_layout *layout = &rkh->layout[i];
        uint64_t full_hz = rkh_layout_cut_hz(layout);
        uint32_t stored_hz = layout->value[EXTRACT_RKH_TS_HZ];
        if (!layout->value[EXTRACT_RKH_TS])
            continue;
        if (full_hz && !(first && rkh_layout_cut_hz(first) == full_hz))
            extract_text_printf(text,
                                "the TCFG record reports a rate of %" PRIu32
                                " stamps per second, which is what 16 bits hold of %" PRIu64
                                ", so times are in ticks; use --hz %" PRIu64 ", or --hz %" PRIu32
                                " if that is the rate\n",
                                stored_hz, full_hz, full_hz, stored_hz);
        rates_differ |= first && rkh_layout_hz(first) != rkh_layout_hz(layout);
        first = first ? first : layout;
    }
    if (rates_differ)
        extract_text_puts(text, "the stamps of its runs have different rates, so times are in "
                                "ticks; run 'ringside info' to see each run\n");
}
