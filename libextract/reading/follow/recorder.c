// SPDX-License-Identifier: MIT
// follow: the recorder, which polls a ring while its target runs. Callers open it with a memory and
// symbols, poll it when it is due, and finish it; blocks go to a log and to a sink.
//
// What a poll does depends on what is known of the ring:
//
//             found             first entries taken
//   SEARCHING --------> FOUND ----------------------> FOLLOWING ---+
//       ^                 |                             |      ^   | lapped: resynchronize
//       |                 v                             v      +---+
//       +------ the ring restarted, or was enabled again
//
//   SEARCHING  Each poll looks for the ring. Absence is not an error.
//   FOUND      The ring is known, and the place of the next entry is not. After a reset
//              (ring_was_replaced), what the new ring has overwritten is lost.
//   FOLLOWING  Everything up to a place has been read, and emitted except for provisional entries.
//              The anchor is the newest entry (or the newest bytes) that was read. As long as it
//              is found again, nothing after it was overwritten.
//
// A poll locates the write position, reads what is new, verifies that it was not overwritten in the
// meantime, and emits it. If the writer has lapped the reader, it resynchronizes: it takes the
// newest entries that can be verified, and reports the gap before them as a loss. If the writer is
// too fast even for that, the next poll tries again (resync_pending). How a kind of ring does these
// steps is a struct ring_kind: slot_ring.c with resync.c, terminated_ring.c and counted_ring.c.
// Each step only says what it found. act_on() alone leads back to SEARCHING; start_ring() sets
// FOUND, and the kind sets FOLLOWING once it has taken the first entries, by a resync as after a
// lap.
//
// Two conditions are independent of the phases. The target may not respond (status.gone): nothing
// else changes, and if the anchor is found again when it does, nothing was lost. The trace may be
// disabled: what is left of it is read (until `drained`). A slot ring that is enabled again is
// empty, so the recorder searches; a counted ring continues; RKH does not show any of this.
#include "base/cursor.h"
#include "base/now.h"
#include "follow/follow_room.h"
#include "log/log_block.h"
#include <extract/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    SEARCH_PERIOD = 100 * 1000 * 1000,         // ns between polls that search for a ring
    MAX_RECONNECT_PERIOD = 1000 * 1000 * 1000, // ns
    HALT_REST = 4, // a target that is halted for a poll runs that many times longer before the next
    IGNORED_CLOCK = 1, // the time of every poll if the host's clock does not show the target's time
    PROBE_BYTES = 4096,                     // bytes of the long read that measures the link
    BACKGROUND_PERIOD = 1000 * 1000 * 1000, // ns
    WAKE_LATE = 100 * 1000 // ns that the host may be late to begin a poll that is due
};

// This is what an emptied or moved ring proves, and no more.
#define RESET_TEXT "the target was reset, or its trace enabled again"

// ---- reading ----

uint64_t record_now(const struct extract_recorder *r)
{
    return r->options.now ? r->options.now(r->options.clock) : extract_now();
}

bool record_read_part(void *context, uint64_t address, void *buffer, size_t length, size_t *got)
{
    struct extract_recorder *r = context;
    uint64_t start = r->read_ns = record_now(r);
    bool is_complete = !extract_memory_read(r->memory, address, buffer, length, got, NULL);
    uint64_t ns = record_now(r) - start;

    r->reading_ns += ns;
    if (is_complete)
        link_model_note(&r->link_model, length, ns);
    return is_complete;
}

bool record_read(struct extract_recorder *r, uint64_t address, void *buffer, size_t length)
{
    size_t got;

    return record_read_part(r, address, buffer, length, &got);
}

void record_note_located(struct extract_recorder *r)
{
    r->located_ns = r->options.ignore_host_clock ? IGNORED_CLOCK : record_now(r);
}

// A caller's own clock serves as the wall clock, too, so that all times of a log fit together.
void record_note_wall(struct extract_recorder *r)
{
    r->out.wall =
        r->options.now ? r->opened_wall_ns + (record_now(r) - r->opened_ns) : extract_wall();
}

void record_note_fill(struct extract_recorder *r, uint64_t fill)
{
    uint32_t size = r->measure.entries.count;

    r->status.fill = fill < size ? (uint32_t)fill : size;
    if (r->status.fill > r->status.fill_most)
        r->status.fill_most = r->status.fill;
}

// Measures the link by short reads and a long one, and so the load: how far the writer gets during
// the long one. The first read of a connection may cost more than others.
static void probe_link(struct extract_recorder *r)
{
    uint64_t start = r->ring.entries.start, bytes = r->ring.entries.end - start;
    size_t length = bytes < PROBE_BYTES ? (size_t)bytes : PROBE_BYTES;

    r->kind->locate(r);
    r->link_model = (struct link_model){0};
    r->kind->locate(r);
    record_read(r, start, r->buffer, length);
    r->kind->locate(r);
}

// ---- finding the ring ----

static const struct ring_kind *kind_of(const struct extract_ring *ring)
{
    static const struct ring_kind *const kinds[] = {&record_counted_rings, &record_terminated_rings,
                                                    &record_slot_rings};

    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (kinds[i]->can_follow(ring))
            return kinds[i];
    return NULL;
}

// Rereads the target's own filter word, and marks a change of it.
static enum extract_code watch_filter(struct extract_recorder *r, struct extract_error *error)
{
    uint8_t raw[8];
    size_t got;
    uint64_t before = r->ring.filter;
    bool known = r->ring.filter_known;

    if (!r->ring.filter_symbol ||
        !record_read_part(r, r->ring.filter_symbol, raw, r->ring.word_bytes, &got))
        return EXTRACT_OK;
    struct extract_cursor c = extract_cursor_make(raw, got, r->ring.byte_order);
    r->ring.filter = extract_cursor_word(&c, r->ring.word_bytes);
    r->ring.filter_known = true;
    if (!known || before == r->ring.filter)
        return EXTRACT_OK;
    return out_mark(&r->out, EXTRACT_MARK_FILTER, r->ring.filter, "the target's filter", error);
}

// Begins with a ring that was found. Everything about it is new, except for the entries' numbers.
static enum extract_code start_ring(struct extract_recorder *r, struct extract_error *error)
{
    char text[128];

    r->kind = kind_of(&r->ring);
    r->phase = RECORD_FOUND;
    r->slots.provisional_count = 0;
    poll_interval_start(&r->poll_interval);
    enum extract_code code = r->kind->start(r, error);
    code = code ? code : objects_start(&r->objects, &r->ring, error);
    if (code)
        return code;
    if (!r->link_model.words.count)
        probe_link(r);
    record_note_wall(r);
    code = out_ring(&r->out, &r->ring, error);
    code = code ? code : objects_read(r, error);
    code = code ? code : watch_filter(r, error);
    code = code ? code : record_put_program(r->out.log, r->symbols, error);
    snprintf(text, sizeof text, "%s ring at 0x%llx, %u %s", r->ring.format->name,
             (unsigned long long)r->ring.address, r->measure.entries.count,
             r->kind->counts_bytes ? "bytes" : "entries");
    if (!code && !r->ring_was_replaced)
        code = out_mark(&r->out, EXTRACT_MARK_START, 0, text, error);
    return code;
}

// Returns whether the ring is a stream of a process of this host that no controller has created.
static bool is_unbound(const struct extract_ring *ring)
{
    const struct extract_stream *stream = ring->format->stream;
    struct extract_ring_counters counters;

    return stream && stream->counted && stream->read_counters(ring, ring->header, &counters) &&
           counters.unbound;
}

static enum extract_code refuse_unbound(const struct extract_memory *memory,
                                        const struct extract_record_options *options,
                                        struct extract_error *error)
{
    static const char hint[] = "create one with posix_trace_create";
    const char *name = extract_memory_name(memory);

    if (!options->stream)
        return extract_error_set(error, EXTRACT_ABSENT, name, hint, "has no trace stream");
    return extract_error_set(error, EXTRACT_ABSENT, name, hint, "has no trace stream %u",
                             options->stream - 1);
}

enum extract_code extract_record_find(struct extract_ring *ring, struct extract_memory *memory,
                                      struct extract_symbols *symbols,
                                      const struct extract_record_options *options,
                                      struct extract_error *error)
{
    const struct extract_ring_options wanted = {.size = sizeof wanted,
                                                .format = options->format,
                                                .address_known = options->ring_known,
                                                .address = options->ring,
                                                .rkh = options->rkh,
                                                .stream = options->stream};
    enum extract_code code = extract_ring_find(ring, memory, symbols, &wanted, error);

    return code || !is_unbound(ring) ? code : refuse_unbound(memory, options, error);
}

static enum extract_code find_ring(struct extract_recorder *r, struct extract_error *error)
{
    const struct extract_ring *ring = &r->ring;
    enum extract_code code =
        extract_record_find(&r->ring, r->memory, r->symbols, &r->options, error);

    if (code || kind_of(ring))
        return code;
    if (!ring->format->slots)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, ring->format->title, NULL,
                                 "rings of this format cannot be followed");
    return extract_error_set(error, EXTRACT_UNSUPPORTED, ring->format->title,
                             "give the trace a larger buffer",
                             "a ring of %u entries of %u bytes cannot be followed",
                             ring->entries.count, ring->entries.slot_bytes);
}

// Looks for the ring, and begins with it. While a ring is waited for, only a lack of memory and
// errors of the log end the recording.
static enum extract_code try_find_ring(struct extract_recorder *r, struct extract_error *error)
{
    struct extract_error cause;
    enum extract_code code = find_ring(r, &cause);

    if (!code)
        return start_ring(r, error);
    if (code == EXTRACT_NOMEM && error)
        *error = cause;
    return code == EXTRACT_NOMEM ? code : EXTRACT_OK;
}

static bool is_alike(const struct extract_ring *a, const struct extract_ring *b)
{
    return a->address == b->address && a->byte_order == b->byte_order &&
           a->word_bytes == b->word_bytes && a->timer_mask == b->timer_mask &&
           a->entries.start == b->entries.start && a->entries.end == b->entries.end &&
           a->registry.start == b->registry.start && a->registry.end == b->registry.end;
}

bool record_has_header(struct extract_recorder *r)
{
    struct extract_ring now = {0};
    enum extract_code code =
        r->ring.format->read_header(&now, r->memory, r->symbols, r->ring.address, NULL);

    return code == EXTRACT_UNREADABLE || (!code && is_alike(&now, &r->ring));
}

// ---- transitions ----

static enum extract_code restart(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = r->kind->report_restart(r, error);

    r->phase = RECORD_SEARCHING;
    r->ring_was_replaced = r->gap_is_unknown = true;
    r->status.resets++;
    code = code ? code : out_mark(&r->out, EXTRACT_MARK_RESET, 0, RESET_TEXT, error);
    return code ? code : try_find_ring(r, error);
}

static enum extract_code mark_disabled(struct extract_recorder *r, struct extract_error *error)
{
    const char *why =
        extract_memory_has_ended(r->memory) ? "the traced process has ended" : "the trace is off";

    r->drained = true;
    return out_mark(&r->out, EXTRACT_MARK_DISABLED, 0, why, error);
}

static enum extract_code mark_enabled(struct extract_recorder *r, struct extract_error *error)
{
    return out_mark(&r->out, EXTRACT_MARK_ENABLED, 0, "the trace is on again", error);
}

// The trace was enabled again, with an empty ring. What the disabled trace had left and was not
// read until now is lost.
static enum extract_code reenable(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = r->kind->report_restart(r, error);

    r->gap_is_unknown |= !r->drained;
    if (!code && !r->drained)
        code = mark_disabled(r, error);
    r->phase = RECORD_SEARCHING;
    r->ring_was_replaced = true;
    code = code ? code : mark_enabled(r, error);
    return code ? code : try_find_ring(r, error);
}

static enum extract_code note_disconnect(struct extract_recorder *r, struct extract_error *error)
{
    r->status.failed++;
    if (r->status.gone)
        return EXTRACT_OK;
    r->status.gone = true;
    return out_mark(&r->out, EXTRACT_MARK_GONE, 0, "the target does not answer", error);
}

static enum extract_code note_reconnect(struct extract_recorder *r, struct extract_error *error)
{
    if (!r->status.gone)
        return EXTRACT_OK;
    r->status.gone = false;
    r->must_verify_anchor = true;
    return out_mark(&r->out, EXTRACT_MARK_BACK, 0, "the target answers again", error);
}

// Does what follows from the result of a step.
static enum extract_code act_on(struct extract_recorder *r, enum ring_result result,
                                struct extract_error *error)
{
    switch (result) {
    case RING_NO_RESPONSE:
        return note_disconnect(r, error);
    case RING_RESTARTED:
        return restart(r, error);
    case RING_REENABLED:
        return reenable(r, error);
    case RING_RESYNC: {
        enum extract_code code = r->kind->resynchronize(r, &result, error);
        return code || result == RING_RESYNC ? code : act_on(r, result, error);
    }
    case RING_OK:
    case RING_NOTHING_NEW:
    case RING_UNREADABLE:
        break;
    }
    return EXTRACT_OK;
}

// ---- polls ----

static enum extract_code read_new(struct extract_recorder *r, struct extract_error *error)
{
    for (unsigned part = 0;; part++) {
        struct ring_span span = {.count = 0};
        enum ring_result result = r->kind->read(r, part, &span);
        if (result == RING_OK)
            result = r->kind->verify(r, &span);
        if (result != RING_OK)
            return act_on(r, result, error);
        enum extract_code code = r->kind->emit(r, &span, error);
        if (code || span.is_short)
            return code;
    }
}

// Marks that the trace is enabled again if its ring simply continues.
static enum extract_code watch_enabled(struct extract_recorder *r, struct extract_error *error)
{
    if (r->phase != RECORD_FOLLOWING || r->trace_disabled || !r->drained)
        return EXTRACT_OK;
    r->drained = false;
    return mark_enabled(r, error);
}

// Marks that the trace is disabled, after the last that it left.
static enum extract_code watch_disabled(struct extract_recorder *r, struct extract_error *error)
{
    if (r->phase == RECORD_SEARCHING || !r->trace_disabled || r->drained || r->status.gone ||
        !r->kind->is_drained(r))
        return EXTRACT_OK;
    enum extract_code code = r->kind->report_unread(r, true, error);
    return code ? code : mark_disabled(r, error);
}

// Reads the target's filter and registry now and then, and not at all while the writer is near.
static enum extract_code poll_background(struct extract_recorder *r, struct extract_error *error)
{
    bool is_due = r->poll_ns >= r->objects.last + BACKGROUND_PERIOD;
    bool is_busy = r->status.fill > r->measure.entries.count / 4;

    if (r->phase == RECORD_SEARCHING || r->trace_disabled || !is_due || is_busy ||
        (!r->objects.is_wanted && !r->status.fill))
        return EXTRACT_OK;
    enum extract_code code = watch_filter(r, error);
    r->objects.last = r->poll_ns;
    return code || !r->objects.is_wanted ? code : objects_read(r, error);
}

static enum extract_code poll_ring(struct extract_recorder *r, struct extract_error *error)
{
    enum ring_result result = r->kind->locate(r);

    if (result == RING_NO_RESPONSE)
        return note_disconnect(r, error);
    enum extract_code code = note_reconnect(r, error);
    if (code || result != RING_OK)
        return code ? code : act_on(r, result, error);
    code = watch_enabled(r, error);
    code = code ? code : read_new(r, error);
    if (!code && r->phase == RECORD_FOLLOWING && !r->status.gone)
        code = r->kind->conclude(r, &result, error);
    code = code ? code : act_on(r, result, error);
    code = code ? code : watch_disabled(r, error);
    return code || r->status.gone ? code : poll_background(r, error);
}

// Converts bytes of a byte ring to entries, by their mean length; 0: none was seen yet.
static uint64_t in_entries(const struct extract_recorder *r, uint64_t number)
{
    const struct byte_ring *b = &r->bytes;

    if (!r->kind || !r->kind->counts_bytes)
        return number;
    return b->bytes ? (uint64_t)((double)number * (double)b->entries / (double)b->bytes) : 0;
}

static void advise(struct extract_recorder *r)
{
    struct extract_record_advice *advice = &r->status.advice;
    uint32_t wanted = link_model_ring_wanted(&r->link_model, &r->measure, r->poll_interval.peak);
    double followed = link_model_followed(&r->link_model, &r->measure, WAKE_LATE);

    advice->latency = (uint64_t)link_model_latency(&r->link_model);
    advice->rate = (uint64_t)(link_model_rate(&r->link_model) * 1e9);
    advice->events = in_entries(r, (uint64_t)(followed * 1e9));
    advice->in_bytes = r->kind->counts_bytes;
    advice->slots = r->measure.entries.count;
    advice->slots_wanted = wanted > advice->slots ? wanted : 0;
    advice->link_is_too_slow =
        (double)r->poll_interval.per_second > link_model_fastest(&r->link_model, &r->measure) * 1e9;
    advice->period = r->options.period ? r->options.period : r->poll_interval.period_ns;
}

static void finish_poll(struct extract_recorder *r)
{
    struct extract_record_status *status = &r->status;

    if (r->phase != RECORD_SEARCHING) {
        double other = (double)(record_now(r) - r->poll_ns - r->reading_ns);
        r->link_model.work += ((other > 0 ? other : 0) - r->link_model.work) / 16;
        poll_interval_choose(&r->poll_interval, &r->link_model, &r->measure);
        advise(r);
    }
    status->pending = r->slots.provisional_count;
    status->enabled = r->phase != RECORD_SEARCHING && !r->trace_disabled;
    status->events_per_second = in_entries(r, r->poll_interval.per_second);
    status->rate_is_estimate = r->poll_interval.is_estimate;
    status->cost = extract_memory_cost(r->memory);
    uint64_t halted = extract_live_halts(r->memory).nanoseconds;
    r->rest_ns = (halted - status->halted) * (HALT_REST + 1);
    status->halted = halted;
    if (r->out.log)
        extract_log_note_cost(r->out.log, status->polls, &status->cost);
}

static enum extract_code poll_target(struct extract_recorder *r, struct extract_error *error)
{
    if (extract_live_halt(r->memory, NULL))
        return note_disconnect(r, error);
    bool before = r->phase == RECORD_FOUND;
    enum extract_code code =
        r->phase != RECORD_SEARCHING ? poll_ring(r, error) : try_find_ring(r, error);
    if (r->phase == RECORD_FOUND && !before && !code) // just found: its content
        code = poll_ring(r, error);
    extract_live_resume(r->memory, NULL);
    return code;
}

enum extract_code extract_recorder_poll(struct extract_recorder *r, struct extract_error *error)
{
    r->poll_ns = record_now(r);
    r->reading_ns = 0;
    r->status.polls++;
    r->must_verify_anchor |=
        r->options.ignore_host_clock; // the writer may be exactly one lap ahead
    enum extract_code code = poll_target(r, error);
    r->log_is_full |= code == EXTRACT_LIMIT;
    finish_poll(r);
    return code;
}

uint64_t extract_recorder_due(const struct extract_recorder *r)
{
    uint64_t period = r->status.advice.period, past = record_now(r) - r->poll_ns;

    if (r->phase == RECORD_SEARCHING || r->drained)
        period = period < SEARCH_PERIOD ? SEARCH_PERIOD : period;
    if (r->status.gone)
        period = period < SEARCH_PERIOD          ? SEARCH_PERIOD
                 : period < MAX_RECONNECT_PERIOD ? period
                                                 : MAX_RECONNECT_PERIOD;
    period = period < r->rest_ns ? r->rest_ns : period;
    return past < period ? period - past : 0;
}

const struct extract_record_status *extract_recorder_status(const struct extract_recorder *r)
{
    return &r->status;
}

const struct extract_ring *extract_recorder_ring(const struct extract_recorder *r)
{
    return &r->ring;
}

static void recorder_free(struct extract_recorder *r)
{
    objects_free(&r->objects);
    bytes_free(&r->bytes);
    free(r->buffer);
    free(r->format);
    free(r);
}

static enum extract_code create(struct extract_recorder **recorder, struct extract_memory *memory,
                                struct extract_symbols *symbols,
                                const struct extract_record_options *options,
                                struct extract_error *error)
{
    struct extract_recorder *r = calloc(1, sizeof *r);

    *recorder = r;
    if (r && options->format)
        r->format = strdup(options->format);
    if (!r || (options->format && !r->format)) {
        free(r);
        return extract_error_set(error, EXTRACT_NOMEM, "recorder", NULL, "out of memory");
    }
    r->memory = memory;
    r->symbols = symbols;
    r->options = *options;
    r->options.format = r->format;
    r->out = (struct out){.log = options->log,
                          .sink = options->sink,
                          .context = options->context,
                          .status = &r->status};
    r->status.lost_is_exact = true;
    r->out.is_held = options->ignore_host_clock;
    r->phase = RECORD_SEARCHING;
    return EXTRACT_OK;
}

enum extract_code extract_recorder_open(struct extract_recorder **recorder,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols,
                                        const struct extract_record_options *options,
                                        struct extract_error *error)
{
    struct extract_error cause = {0};
    enum extract_code code = create(recorder, memory, symbols, options, error);
    struct extract_recorder *r = *recorder;

    if (code)
        return code;
    r->poll_ns = r->opened_ns = record_now(r);
    r->opened_wall_ns = extract_wall();
    code = extract_live_halt(memory, &cause);
    code = code ? code : find_ring(r, &cause);
    if (!code)
        code = start_ring(r, &cause);
    if (r->phase != RECORD_SEARCHING && !code)
        code = poll_ring(r, &cause);
    extract_live_resume(memory, NULL);
    if (code && code != EXTRACT_ABSENT) {
        recorder_free(r);
        *recorder = NULL;
        if (error)
            *error = cause;
        return code;
    }
    finish_poll(r);
    return EXTRACT_OK;
}

// ---- the end ----

uint64_t record_position_modulus(const struct extract_ring *ring)
{
    if (ring->entries.slot_bytes)
        return ring->entries.count;
    return ring->format->stream->counted ? 0 : BYTES_NUMBERS;
}

// Writes MARK STOP, by whose position a later recording of this ring finds where it continues.
static enum extract_code put_stop(struct extract_recorder *r, struct extract_error *error)
{
    bool is_known = r->phase == RECORD_FOLLOWING && !r->status.gone && !r->resync_pending;

    return out_mark(&r->out, EXTRACT_MARK_STOP, is_known ? r->kind->position(r) : 0, "", error);
}

// Polls until nothing is left, and reports what was not read. Even if nothing is new, the anchor is
// verified: the writer may be exactly one lap ahead.
static enum extract_code poll_to_end(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint64_t next;

    r->must_verify_anchor = true;
    do {
        next = r->slots.next;
        code = extract_recorder_poll(r, error);
    } while (!code && r->trace_disabled && !r->drained && r->slots.next != next);
    if (!code && r->bytes.entry_incomplete) {
        r->bytes.is_last_poll = true;
        code = extract_recorder_poll(r, error);
    }
    if (code || !r->kind)
        return code;
    bool can_read_objects =
        r->phase != RECORD_SEARCHING && !r->status.gone && !extract_live_halt(r->memory, NULL);
    code = r->kind->report_unread(r, true, error);
    if (can_read_objects) {
        code = code ? code : objects_read(r, error);
        extract_live_resume(r->memory, NULL);
    }
    return code;
}

enum extract_code extract_recorder_finish(struct extract_recorder *r,
                                          struct extract_record_status *status,
                                          struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (!r)
        return EXTRACT_OK;
    if (!r->log_is_full) {
        code = poll_to_end(r, error);
        code = code ? code : put_stop(r, error);
    }
    finish_poll(r);
    if (status)
        *status = r->status;
    recorder_free(r);
    return code;
}

enum extract_code extract_recorder_close(struct extract_recorder *r, struct extract_error *error)
{
    return extract_recorder_finish(r, NULL, error);
}

enum extract_code extract_recorder_close_offline(struct extract_recorder *r,
                                                 struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (!r)
        return EXTRACT_OK;
    if (!r->log_is_full) {
        if (r->kind)
            code = r->kind->report_unread(r, false, error);
        code = code ? code : put_stop(r, error);
    }
    finish_poll(r);
    recorder_free(r);
    return code;
}
