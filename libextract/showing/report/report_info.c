// SPDX-License-Identifier: MIT
// report: what is known about a trace as a whole. `info` prints the layout, state and losses of the
// ring; `status` prints the status words of the stream and its log. Both print key-value lines or
// one JSON object.
//
// Source: the words of "state" and of `status` are those of struct posix_trace_status_info (IEEE
// Std 1003.1-2017, <trace.h>, posix_trace_get_status), whatever the format of the trace.
#include "formats/posix/posix.h"
#include "report/report_room.h"
#include "log/log_block.h"
#include "formats/format.h"
#include <string.h>

// ---- the clock and the cores ----

static void put_clock(struct kv_writer *kv, const struct extract_ring *ring,
                      const struct extract_clock *clock)
{
    static const char *const directions[] = {"none", "up", "down"};

    kv_put_hex(kv, "timer mask", ring->timer_mask);
    kv_put_string(kv, "time direction", directions[(unsigned)clock->direction % 3]);
    if (clock->direction == EXTRACT_CLOCK_NONE)
        kv_put_note(kv, "all timestamps are equal: the order is known, times are not%s",
                    clock->is_still ? "; the clock stands still, or is too slow" : "");
    kv_put_optional(kv, "clock modulus", clock->modulus != 0, clock->modulus);
    kv_put_likely_modulus(kv, clock->likely_modulus, clock->turns ? clock->above : 0);
    if (kv->is_json) {
        kv_put_optional(kv, "clock goes back", clock->fall != 0, clock->fall);
        kv_put_still_clock(kv, clock->is_still);
    } else if (clock->fall) {
        kv_put_note(kv, "the clock may wrap at less, but above %llu: see --modulus",
                    (unsigned long long)clock->above);
    }
    kv_put_bool(kv, "counts events", clock->counts_events);
    if (clock->counts_events)
        kv_put_note(kv, "the clock counts events: it gives an order, not times");
}

// Writes the periods of the clock that no timestamp shows.
static void put_hidden_periods(struct kv_writer *kv, const struct extract_info *info)
{
    if (kv->is_json)
        kv_put_optional(kv, "periods added", !info->may_hide_periods, info->hidden_periods);
    else if (info->may_hide_periods)
        kv_put_note(kv, "at least: a silence may be longer than a period of the clock");
    else if ((info->entries_damaged || info->entries_unread) && !info->log)
        kv_put_note(kv, "at least: entries that hold no valid event may be older or newer");
    else if (info->hidden_periods)
        kv_put_note(kv,
                    "with %llu periods of the clock without an event: interrupt %llu is likely to "
                    "enter once in each",
                    (unsigned long long)info->hidden_periods,
                    (unsigned long long)info->tick_number);
}

// Writes the number of cores and how it is known: as a note in text, as a key of its own in JSON.
static void put_cores(struct kv_writer *kv, const struct extract_info *info)
{
    static const struct {
        const char *word, *note;
    } sources[] = {
        [EXTRACT_CORES_UNKNOWN] = {NULL, "entries do not name their core"},
        [EXTRACT_CORES_SEEN] = {"events", "at least: no event is from a higher core"},
        [EXTRACT_CORES_HEADER] = {"header", "from the ring's header"},
        [EXTRACT_CORES_KERNEL] = {"kernel", "as many as the kernel is built for"},
    };
    static const char *const top_bytes[] = {
        [EXTRACT_CORE_IDS_UNSURE] = "unknown",
        [EXTRACT_CORE_IDS_LIKELY_USER] = "likely of user events",
        [EXTRACT_CORE_IDS_LIKELY_CORES] = "likely cores",
        [EXTRACT_CORE_IDS_USER] = "of user events",
        [EXTRACT_CORE_IDS_CORES] = "cores",
    };
    const char *word = sources[info->cores_from].word;

    kv_put_optional(kv, "cores", info->cores != 0, info->cores);
    kv_put_note(kv, "%s", sources[info->cores_from].note);
    if (info->hides_cores)
        kv_put_note(kv, "likely several: switches do not follow each other");
    if (kv->is_json && word)
        kv_put_string(kv, "cores from", word);
    else if (kv->is_json)
        kv_put_unknown(kv, "cores from");
    if (kv->is_json)
        kv_put_bool(kv, "hides cores", info->hides_cores);
    if (info->core_ids)
        kv_put_string(kv, "top bytes of ids", top_bytes[info->core_ids]);
}

// ---- the log ----

// Writes the losses that the log reports, by reason: an array of objects in JSON, one line in text.
static void put_losses_by_reason(struct kv_writer *kv, const struct extract_log_info *log)
{
    struct extract_text *text = kv->text;
    bool is_first = true;

    kv_put_key(kv, "losses");
    extract_text_puts(text, kv->is_json ? "[" : "");
    for (unsigned i = 0; i < EXTRACT_LOSS_REASONS; i++) {
        const struct extract_loss_info *loss = &log->losses[i];
        const char *reason = extract_kind_word(EXTRACT_KIND_LOSS, i);
        if (!loss->gaps)
            continue;
        reason = reason ? reason : "other";
        if (kv->is_json) {
            extract_text_puts(text, is_first ? "" : ",");
            struct kv_writer object = kv_open_object(text);
            kv_put_string(&object, "reason", reason);
            kv_put_number(&object, "gaps", loss->gaps);
            kv_put_number(&object, "gaps not exact", loss->not_exact);
            kv_put_number(&object, "lost at least", loss->at_least);
            kv_put_bool(&object, "lost exact", loss->is_exact);
            kv_close_object(&object);
        } else {
            extract_text_printf(text, "%s%s%llu %s in %llu gap%s", is_first ? "" : ", ",
                                loss->is_exact ? "" : "at least ",
                                (unsigned long long)loss->at_least, reason,
                                (unsigned long long)loss->gaps, loss->gaps == 1 ? "" : "s");
        }
        is_first = false;
    }
    extract_text_puts(text, kv->is_json ? "]" : is_first ? "none" : "");
}

// Writes the types of the damaged blocks, each once. Type 0 stands for unknown types and comes
// last.
static void put_damaged_types(struct kv_writer *kv, const struct extract_log_status *status)
{
    bool is_first = true;

    kv_put_key(kv, "damaged types");
    extract_text_puts(kv->text, kv->is_json ? "[" : "");
    for (unsigned i = 1; i <= EXTRACT_LOG_TYPES; i++) {
        unsigned type = i % EXTRACT_LOG_TYPES;
        if (!status->damaged_of[type])
            continue;
        extract_text_puts(kv->text, is_first ? "" : kv->is_json ? "," : ", ");
        extract_text_printf(kv->text, kv->is_json ? "\"%s\"" : "%s", extract_log_type_name(type));
        is_first = false;
    }
    extract_text_puts(kv->text, kv->is_json ? "]" : is_first ? "none" : "");
}

// Writes what is known about the log: an object in JSON, lines like all others in text.
static void put_log(struct kv_writer *kv, const struct extract_log_info *log)
{
    const struct extract_log_status *status = &log->status;
    struct kv_writer inner = *kv;

    if (kv->is_json) {
        kv_put_key(kv, "log");
        inner = kv_open_object(kv->text);
    }
    kv_put_string(&inner, "policy", extract_log_policy_name(status->policy));
    if (status->limit) {
        kv_put_number(&inner, "limit", status->limit);
    } else {
        kv_put_key(&inner, "limit");
        extract_text_puts(inner.text, inner.is_json ? "null" : "none");
    }
    kv_put_number(&inner, "section bytes", status->section_bytes);
    kv_put_number(&inner, "created", status->created);
    kv_put_date(&inner, status->created);
    kv_put_string(&inner, "creator", status->creator);
    kv_put_bool(&inner, "closed", status->closed);
    kv_put_bool(&inner, "writing", status->writing);
    kv_put_bool(&inner, "cut", status->cut);
    kv_put_number(&inner, "blocks", status->blocks);
    kv_put_number(&inner, "blocks dropped", status->dropped);
    kv_put_number(&inner, "blocks missing", status->missing);
    kv_put_number(&inner, "blocks unreadable", log->unreadable);
    kv_put_number(&inner, "blocks restored", status->restored);
    kv_put_number(&inner, "damaged", status->damaged);
    kv_put_number(&inner, "damaged bytes", status->damaged_bytes);
    put_damaged_types(&inner, status);
    kv_put_number(&inner, "recordings", log->recordings);
    kv_put_number(&inner, "resets", log->resets);
    if (kv->is_json)
        kv_close_object(&inner);
}

// ---- entries and losses ----

static bool lacks_sequence_numbers(const struct extract_rkh *rkh)
{
    for (unsigned i = 0; i < rkh->layouts; i++)
        if (!rkh->layout[i].value[EXTRACT_RKH_NSEQ])
            return true;
    return false;
}

// Returns why the number of lost events is not known.
static const char *why_lost_is_unknown(const struct extract_info *info,
                                       const struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;
    bool is_counted = !ring->entries.slot_bytes; // byte rings count what they overwrite

    if (snapshot->is_part)
        return "not all of the file is read";
    if (info->gaps_not_exact)
        return "not every gap is exact";
    if (!info->log && strcmp(info->format, "rkh") == 0)
        return info->overrun ? "the ring is full, and keeps no count of what it overwrites"
               : lacks_sequence_numbers(&ring->rkh)
                   ? "frames have no numbers"
                   : "the stream has more layouts than can be distinguished";
    if (!is_counted && !info->wrapped)
        return "entries that hold no valid event may have been lost";
    return is_counted ? "damage hides some, or the target recorded while its count was read"
                      : "the ring keeps no count of what it overwrites";
}

// Writes how many events were lost. JSON has every number; text leaves out those that add nothing
// to the one before. Intervals belong to single gaps, so the sum of all gaps has none.
static void put_lost_events(struct kv_writer *kv, const struct extract_info *info,
                            const struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;
    bool has_bounds = kv->is_json || !info->lost_known;
    bool hides_gaps = !info->log && !info->gaps && strcmp(info->format, "rkh") == 0 &&
                      lacks_sequence_numbers(&ring->rkh);

    kv_put_optional(kv, "events lost", info->lost_known, info->events_lost);
    if (!info->lost_known)
        kv_put_note(kv, "%s", why_lost_is_unknown(info, snapshot));
    else if (info->gaps_not_exact)
        kv_put_note(kv, "from the target's own count for all gaps together");
    if (has_bounds) {
        kv_put_number(kv, "events lost at least", info->lost_at_least);
        kv_put_optional(kv, "events lost at most", info->lost_at_most != UINT64_MAX,
                        info->lost_at_most);
        if (!info->lost_known && info->lost_at_most != UINT64_MAX)
            kv_put_note(kv, "if the target was never faster than in this recording");
    }
    if (kv->is_json) {
        kv_put_bool(kv, "events lost exact", info->lost_known);
        kv_put_unknown(kv, "events lost low");
        kv_put_unknown(kv, "events lost high");
    }
    if (kv->is_json || info->gaps) {
        kv_put_optional(kv, "gaps", !hides_gaps, info->gaps);
        kv_put_optional(kv, "gaps not exact", !hides_gaps, info->gaps_not_exact);
    }
    if (info->log)
        put_losses_by_reason(kv, info->log);
}

// ---- POSIX trace ----

// Writes what a POSIX trace stream has in addition to other rings.
static void put_posix(struct kv_writer *kv, const struct extract_snapshot *snapshot)
{
    static const char *const policies[] = {"none", "loop", "until_full", "flush"};
    const struct extract_posix *posix = &snapshot->ring.posix;
    char name[POSIX_STREAM_NAME + 1] = "";
    struct posix_stream stream;
    uint32_t length;

    posix_stream_read(&stream, snapshot->ring.header, sizeof snapshot->ring.header);
    memcpy(name, posix->name, POSIX_STREAM_NAME);
    if (snapshot->bytes)
        memcpy(name, posix_copy_rest(snapshot, &length), POSIX_STREAM_NAME);
    kv_put_string(kv, "stream name", name);
    if (posix->process_known) {
        kv_put_number(kv, "stream", posix->stream);
        kv_put_number(kv, "streams", posix->streams);
        kv_put_number(kv, "traced process", posix->pid);
    }
    bool has_policy = stream.state & POSIX_STATE_BOUND && stream.policy <= POSIX_POLICY_FLUSH;
    kv_put_string(kv, "stream policy", policies[has_policy ? stream.policy : 0]);
    kv_put_number(kv, "stream words", stream.ring_words);
    kv_put_number(kv, "max data bytes", stream.max_data);
    kv_put_number(kv, "overwritten", stream.overwritten);
    kv_put_number(kv, "refused", stream.refused);
    kv_put_bool(kv, "request pending", stream.request != stream.request_done);
}

// ---- info ----

static void put_state(struct kv_writer *kv, const struct extract_info *info)
{
    const char *running = !info->running_known ? "unknown"
                          : info->running      ? "running"
                                               : "suspended";

    kv_put_key(kv, "state");
    extract_text_printf(kv->text, kv->is_json ? "[\"%s\",\"%s\",\"%s\"]" : "%s, %s, %s", running,
                        info->full ? "full" : "not_full", info->overrun ? "overrun" : "no_overrun");
}

enum extract_code extract_report_info(struct extract_text *text, const struct extract_trace *trace,
                                      const struct extract_report_options *options)
{
    static const char *const origins[] = {"symbol", "address",           "file",
                                          "scan",   "scan, earlier run", "rebuilt"};
    enum { ORIGINS = sizeof origins / sizeof *origins };
    static const char *const orders[] = {"unknown", "little", "big"};
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    struct kv_writer kv;

    kv_open(&kv, text, options->json);
    kv_put_string(&kv, "format", info->format);
    kv_put_hex(&kv, "address", ring->address);
    if (ring->is_moved) {
        kv_put_hex(&kv, "stated address", ring->address - ring->base_delta);
        kv_put_hex(&kv, "image start", ring->image_start);
    }
    kv_put_string(&kv, "found by", info->log ? "log" : origins[(unsigned)ring->origin % ORIGINS]);
    kv_put_string(&kv, "byte order", orders[(unsigned)info->byte_order % 3]);
    kv_put_number(&kv, "word bytes", info->word_bytes);
    put_cores(&kv, info);
    put_clock(&kv, ring, &info->clock);
    kv_put_number(&kv, "entries total", info->entries_total);
    kv_put_number(&kv, "entries valid", info->entries_valid);
    kv_put_number(&kv, "entries damaged", info->entries_damaged);
    if (kv.is_json || info->entries_unread)
        kv_put_number(&kv, "entries unread", info->entries_unread);
    kv_put_number(&kv, "entries unused", info->entries_unused);
    put_lost_events(&kv, info, extract_trace_snapshot(trace));
    kv_put_bool(&kv, "wrapped", info->wrapped);
    kv_put_number(&kv, "objects", info->objects);
    kv_put_number(&kv, "registry slots", ring->registry.count);
    kv_put_number(&kv, "span ticks", info->span_ticks);
    kv_put_seconds(&kv, info->span_ticks, options->hz);
    put_hidden_periods(&kv, info);
    put_state(&kv, info);
    if (ring->filter_known)
        kv_put_hex(&kv, "filter", ring->filter);
    else
        kv_put_unknown(&kv, "filter");
    if (strcmp(info->format, "rkh") == 0) {
        info_put_rkh(&kv, &ring->rkh);
        if (info->signals)
            info_put_rkh_signals(&kv, info->signals);
        info_put_rkh_runs(&kv, trace, options);
    }
    if (strcmp(info->format, "posix") == 0)
        put_posix(&kv, extract_trace_snapshot(trace));
    if (info->log)
        put_log(&kv, info->log);
    kv_close(&kv);
    return text->code;
}

// ---- status ----

static void put_flag(struct kv_writer *kv, const char *key, bool is_set, const char *yes,
                     const char *no)
{
    kv_put_string(kv, key, is_set ? yes : no);
}

// Writes the status of the log. A log is full as soon as something did not fit into it, so a log
// with the policy "loop" is full once it has dropped blocks.
static void put_log_status(struct kv_writer *kv, const struct extract_log_info *log)
{
    bool is_full =
        log->status.full || (log->status.policy == EXTRACT_LOG_LOOP && log->status.dropped);
    struct extract_log_ending status = {.flushing = log->status.writing,
                                        .log_overrun =
                                            is_full || log->losses[EXTRACT_LOSS_LOG_FULL].gaps,
                                        .log_full = is_full};

    if (log->ended)
        status = log->ending;
    put_flag(kv, "flush status", status.flushing, "flushing", "not_flushing");
    kv_put_number(kv, "flush error", status.flush_error);
    put_flag(kv, "log overrun status", status.log_overrun, "overrun", "no_overrun");
    put_flag(kv, "log full status", status.log_full, "full", "not_full");
}

enum extract_code extract_report_status(struct extract_text *text,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options)
{
    const struct extract_info *info = extract_trace_info(trace);
    struct kv_writer kv;

    kv_open(&kv, text, options->json);
    // Nobody is left to record: posix_trace_get_status has the stream suspended, too.
    if (options->has_ended)
        kv_put_string(&kv, "target status", "ended");
    if (info->running_known)
        put_flag(&kv, "stream status", info->running && !options->has_ended, "running",
                 "suspended");
    else
        kv_put_unknown(&kv, "stream status");
    put_flag(&kv, "stream full status", info->full, "full", "not_full");
    put_flag(&kv, "stream overrun status", info->overrun, "overrun", "no_overrun");
    if (info->log)
        put_log_status(&kv, info->log);
    kv_close(&kv);
    return text->code;
}
