// SPDX-License-Identifier: MIT
// follow: the recorder, which polls a ring while its target runs. Callers open it with a memory and
// symbols, poll it when it is due, and finish it; blocks go to a log and to a sink.
//
// What a poll does depends on what is known of the ring:
//
//             found             first entries taken
//   SEARCHING --------> FOUND ----------------------> FOLLOWING ---+
//       ^                 |                             |      ^   | lapped: resync
//       |                 v                             v      +---+
//       +----- the header is gone, or the ring begins again
//
//   SEARCHING  Each poll looks for the ring. Absence is not an error.
//   FOUND      The ring is known, and the place of the next entry is not. After a reset
//              (ring_was_replaced), what the new ring has overwritten is lost.
//   FOLLOWING  Entries up to `next` have been read, those up to `due` are out. The anchor is the
//              newest entry (or the newest bytes) that was read. As long as it is found again,
//              nothing after it was overwritten. After a lap, a resync takes the newest entries
//              that can be verified, and the gap before them is a loss. If the writer is too fast
//              even for that, the next poll tries again (resync_pending).
//
// Two conditions lie across these. The target may not respond (status.gone): nothing else changes,
// and if the anchor is found again when it does, nothing was lost. The trace may be disabled: what
// is left of it is read (until `drained`), and when it is enabled again, the recorder searches.
//
// Slot rings are followed by slot_ring.c and resync.c, byte rings without counts by byte_ring.c,
// and byte rings whose header counts by counted_ring.c.
#include "base/cursor.h"
#include "base/now.h"
#include "follow/internal.h"
#include <extract/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum {
    WAITING = 100 * 1000 * 1000, // ns between looks for a ring that is not there
    MAX_WAITING = 1000 * 1000 * 1000,
    HALT_REST = 4,  // a target that is halted for a poll runs so many times longer before the next
    HELD_CLOCK = 1, // the time at which a target that is held is always seen
    PROBE_BYTES = 4096, // of the long read that measures the link
    OBJECTS_PAUSE = 1000 * 1000 * 1000,
    WAKE_LATE = 100 * 1000, // ns that the host may be late to begin a poll that is due
    MAX_FAILED_READS = 32   // polls in vain for what a trace that is off has left
};

// This is what an emptied or moved ring proves, and no more.
#define RESET_TEXT "the target was reset, or its trace enabled again"

uint64_t record_now(const struct extract_recorder *r)
{
    return r->options.now ? r->options.now(r->options.clock) : extract_now();
}

static bool timed_read(void *context, uint64_t address, void *buffer, size_t length, size_t *got)
{
    struct extract_recorder *r = context;
    uint64_t start = r->asked = record_now(r);
    bool whole = !extract_memory_read(r->memory, address, buffer, length, got, NULL);
    uint64_t ns = record_now(r) - start;
    r->reading += ns;
    if (whole)
        link_model_note(&r->link_model, length, ns);
    return whole;
}

bool record_read(struct extract_recorder *r, uint64_t address, void *buffer, size_t length)
{
    size_t got;
    return timed_read(r, address, buffer, length, &got);
}

void record_note_look(struct extract_recorder *r)
{
    r->looked = r->options.held ? HELD_CLOCK : record_now(r);
}

// A caller's own clock is the wall clock, too: times of reading must fit to each other.
void record_note_wall(struct extract_recorder *r)
{
    r->out.wall = r->options.now ? r->opened_wall + (record_now(r) - r->opened) : extract_wall();
}

static enum extract_follower_result look(struct extract_recorder *r)
{
    bool stopped = r->follower.stopped;
    r->follower.stopped = false; // whether the trace is off, the live place tells
    enum extract_follower_result result = extract_follower_poll(&r->follower);
    r->follower.stopped = stopped && result == EXTRACT_FOLLOWER_NO_RESPONSE;
    record_note_look(r);
    record_note_wall(r);
    if (!result)
        poll_interval_look(&r->poll_interval, r->looked, r->follower.head);
    return result;
}

// Two reads of different length say what the link can do.
static void probe_link(struct extract_recorder *r)
{
    const struct extract_slots *entries = &r->ring.entries;
    uint64_t bytes = entries->end - entries->start;
    size_t got, length = bytes < r->buffer_slots * (uint64_t)entries->slot_bytes
                             ? (size_t)bytes
                             : (size_t)r->buffer_slots * entries->slot_bytes;
    length = length < PROBE_BYTES ? length : PROBE_BYTES;
    look(r); // the first read of a connection may cost more
    r->link_model = (struct link_model){0};
    look(r);
    timed_read(r, entries->start, r->buffer, length, &got);
    look(r);
}

static enum extract_code start_buffer(struct extract_recorder *r, struct extract_error *error)
{
    uint32_t bytes = r->ring.entries.slot_bytes, most = RECORD_BUFFER / bytes;
    r->buffer_slots = r->ring.entries.count < most ? r->ring.entries.count : most;
    free(r->buffer);
    // A part, and what is put behind it.
    r->buffer = malloc(((size_t)r->buffer_slots + 1) * bytes);
    return r->buffer ? EXTRACT_OK
                     : extract_error_set(error, EXTRACT_NOMEM, "recorder", NULL, "out of memory");
}

static enum extract_code check_ring(const struct extract_ring *ring, struct extract_error *error)
{
    if (bytes_can_follow(ring))
        return EXTRACT_OK;
    if (!ring->format->slots)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, ring->format->title, NULL,
                                 "rings of this format cannot be followed");
    if (ring->entries.count < 2 || ring->entries.slot_bytes > EXTRACT_MAX_ENTRY)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, ring->format->title,
                                 "give the trace a larger buffer",
                                 "a ring of %u entries of %u bytes cannot be followed",
                                 ring->entries.count, ring->entries.slot_bytes);
    return EXTRACT_OK;
}

// The target's own filter word, now and then.
static enum extract_code watch_filter(struct extract_recorder *r, struct extract_error *error)
{
    uint8_t raw[8];
    size_t got;
    uint64_t before = r->ring.filter;
    bool known = r->ring.filter_known;
    if (!r->ring.filter_symbol ||
        !timed_read(r, r->ring.filter_symbol, raw, r->ring.word_bytes, &got))
        return EXTRACT_OK;
    struct extract_cursor c = extract_cursor_make(raw, got, r->ring.byte_order);
    r->ring.filter = extract_cursor_word(&c, r->ring.word_bytes);
    r->ring.filter_known = true;
    if (!known || before == r->ring.filter)
        return EXTRACT_OK;
    return out_mark(&r->out, EXTRACT_MARK_FILTER, r->ring.filter, "the target's filter", error);
}

// The ring was found: everything about it begins again, but the entries' numbers.
static enum extract_code start_slots(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = start_buffer(r, error);
    code = code ? code : objects_start(&r->objects, &r->ring, error);
    if (code)
        return code;
    r->measure = r->ring;
    extract_follower_start(&r->follower, &r->ring, r->next + 2 * (uint64_t)r->ring.entries.count);
    ring_clock_start(&r->clock, &r->ring);
    poll_interval_start(&r->poll_interval);
    r->phase = RECORD_FOUND;
    r->provisional_count = 0;
    r->is_lapped = r->gap_is_torn = r->gap_is_unreadable = r->resync_pending = r->trace_disabled =
        r->drained = false;
    r->failed_reads = 0;
    r->safe_fraction = 1;
    if (!r->link_model.words.count)
        probe_link(r);
    record_note_wall(r);
    code = out_ring(&r->out, &r->ring, error);
    code = code ? code : objects_read(r, error);
    return code ? code : watch_filter(r, error);
}

static enum extract_code start_ring(struct extract_recorder *r, struct extract_error *error)
{
    char text[128];
    bool bytes = bytes_can_follow(&r->ring);
    enum extract_code code = (bytes ? bytes_start : start_slots)(r, error);
    r->bytes.follows = bytes;
    code = code ? code : record_put_program(r->out.log, r->symbols, error);
    snprintf(text, sizeof text, "%s ring at 0x%llx, %u %s", r->ring.format->name,
             (unsigned long long)r->ring.address, r->measure.entries.count,
             bytes ? "bytes" : "entries");
    if (!code && !r->ring_was_replaced)
        code = out_mark(&r->out, EXTRACT_MARK_START, 0, text, error);
    return code;
}

// Whether the ring is a stream of a process of this host that nobody has created.
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
    enum extract_code code =
        extract_record_find(&r->ring, r->memory, r->symbols, &r->options, error);
    return code ? code : check_ring(&r->ring, error);
}

// While a ring is waited for, everything but a lack of memory and the log's faults is patience.
static enum extract_code try_find_ring(struct extract_recorder *r, struct extract_error *error)
{
    struct extract_error told;
    enum extract_code code = find_ring(r, &told);
    if (!code)
        return start_ring(r, error);
    if (code == EXTRACT_NOMEM && error)
        *error = told;
    return code == EXTRACT_NOMEM ? code : EXTRACT_OK;
}

static bool is_alike(const struct extract_ring *a, const struct extract_ring *b)
{
    return a->address == b->address && a->byte_order == b->byte_order &&
           a->word_bytes == b->word_bytes && a->timer_mask == b->timer_mask &&
           a->entries.start == b->entries.start && a->entries.end == b->entries.end &&
           a->registry.start == b->registry.start && a->registry.end == b->registry.end;
}

// Whether the header in memory is still that of the ring. Unreadable: nothing says otherwise.
static bool has_header(struct extract_recorder *r)
{
    struct extract_ring now = {0};
    enum extract_code code =
        r->ring.format->read_header(&now, r->memory, r->symbols, r->ring.address, NULL);
    return code == EXTRACT_UNREADABLE || (!code && is_alike(&now, &r->ring));
}

// When the writer has lapped the reader, every slot has been written: one at its place or after it
// that was not tells of a new beginning. (The one at its place may be half-written.)
bool record_is_reset(struct extract_recorder *r)
{
    uint8_t entries[2 * EXTRACT_MAX_ENTRY];
    uint32_t bytes = r->ring.entries.slot_bytes;
    const struct extract_slot_ring *follow = r->ring.format->slots;
    if (!has_header(r))
        return true;
    uint32_t got = extract_follower_fetch(&r->follower, r->follower.head, 2, entries);
    for (uint32_t i = 0; i < got; i++)
        if (!follow->is_written(&r->ring, entries + (size_t)i * bytes))
            return true;
    return false;
}

enum extract_code record_reset(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = record_emit_provisional(r, error);
    r->phase = RECORD_SEARCHING;
    r->ring_was_replaced = r->gap_is_unknown = true;
    r->status.resets++;
    code = code ? code : out_mark(&r->out, EXTRACT_MARK_RESET, 0, RESET_TEXT, error);
    return code ? code : try_find_ring(r, error);
}

static enum extract_code say_off(struct extract_recorder *r, struct extract_error *error)
{
    r->drained = true;
    return out_mark(&r->out, EXTRACT_MARK_DISABLED, 0, "the trace is off", error);
}

// The trace begins again. `cut`: it may have more than once.
static enum extract_code go_on(struct extract_recorder *r, bool cut, struct extract_error *error)
{
    enum extract_code code = record_emit_provisional(r, error);
    r->gap_is_unknown = cut || !r->drained;
    if (!code && !r->drained)
        code = say_off(r, error);
    r->phase = RECORD_SEARCHING;
    r->ring_was_replaced = true;
    code = code ? code : out_mark(&r->out, EXTRACT_MARK_ENABLED, 0, "the trace is on again", error);
    return code ? code : try_find_ring(r, error);
}

// Whether the trace was on between two looks that found it off. The writer's place was `head`.
static bool is_renewed(struct extract_recorder *r, uint64_t head)
{
    uint8_t newest[EXTRACT_MAX_ENTRY];
    if (r->follower.head != head)
        return true;
    if (r->drained && r->follower.anchored)
        return extract_follower_verify(&r->follower) == EXTRACT_FOLLOWER_ANCHOR_CHANGED;
    return r->drained && r->phase != RECORD_FOLLOWING &&
           extract_follower_fetch(&r->follower, head - 1, 1, newest) == 1 &&
           r->ring.format->slots->is_written(&r->ring, newest);
}

// Whether all that a stopped writer left is out, or is never to be had.
static bool is_drained(const struct extract_recorder *r)
{
    if (r->failed_reads >= MAX_FAILED_READS)
        return true;
    if (r->phase != RECORD_FOLLOWING)
        return !r->resync_pending;
    return r->follower.anchored && !r->is_lapped && !r->must_verify_anchor &&
           r->follower.head == r->next;
}

// The trace is off: what it recorded until then is still there, and the header's copy of the
// writer's place with it. That it is off is said behind the last of it.
static enum extract_code stay_off(struct extract_recorder *r, struct extract_error *error)
{
    bool before = r->trace_disabled;
    uint64_t head = r->follower.head;
    if (!has_header(r))
        return record_reset(r, error);
    r->trace_disabled = r->follower.stopped = true;
    r->must_verify_anchor |= !before; // the writer may be exactly one lap ahead
    enum extract_follower_result result = extract_follower_poll(&r->follower);
    record_note_look(r);
    if (result)
        return result == EXTRACT_FOLLOWER_BAD_HEAD ? record_reset(r, error) : EXTRACT_OK;
    if (before && is_renewed(r, head))
        return go_on(r, true, error);
    enum extract_code code = r->drained ? EXTRACT_OK : record_follow(r, error);
    if (code || r->phase == RECORD_SEARCHING || !r->trace_disabled || r->drained || !is_drained(r))
        return code;
    code = record_report_unread(r, error);
    return code ? code : say_off(r, error);
}

enum extract_code record_note_disconnect(struct extract_recorder *r, struct extract_error *error)
{
    r->status.failed++;
    if (r->status.gone)
        return EXTRACT_OK;
    r->status.gone = true;
    return out_mark(&r->out, EXTRACT_MARK_GONE, 0, "the target does not answer", error);
}

enum extract_code record_note_reconnect(struct extract_recorder *r, struct extract_error *error)
{
    if (!r->status.gone)
        return EXTRACT_OK;
    r->status.gone = false;
    r->must_verify_anchor = true;
    return out_mark(&r->out, EXTRACT_MARK_BACK, 0, "the target answers again", error);
}

// What need not be done at each poll, and not at all while the writer is near.
static enum extract_code poll_background(struct extract_recorder *r, struct extract_error *error)
{
    bool due = r->start >= r->objects.last + OBJECTS_PAUSE;
    bool busy = r->status.fill > r->measure.entries.count / 4;
    if (r->phase == RECORD_SEARCHING || r->trace_disabled || !due || busy ||
        (!r->objects.wanted && !r->status.fill))
        return EXTRACT_OK;
    enum extract_code code = watch_filter(r, error);
    r->objects.last = r->start;
    return code || !r->objects.wanted ? code : objects_read(r, error);
}

static enum extract_code poll_ring(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    if (r->bytes.follows) {
        code = bytes_poll(r, error);
        return code || r->status.gone ? code : poll_background(r, error);
    }
    enum extract_follower_result result = look(r);
    if (result == EXTRACT_FOLLOWER_NO_RESPONSE)
        return record_note_disconnect(r, error);
    code = record_note_reconnect(r, error);
    if (code)
        return code;
    if (result == EXTRACT_FOLLOWER_TRACE_DISABLED)
        return stay_off(r, error);
    if (result == EXTRACT_FOLLOWER_BAD_HEAD)
        return record_reset(r, error);
    if (r->trace_disabled)
        return go_on(r, false, error);
    uint64_t fill = r->phase != RECORD_FOLLOWING ? 0 : r->follower.head - r->next;
    r->status.fill = fill < r->ring.entries.count ? (uint32_t)fill : r->ring.entries.count;
    r->status.fill_most =
        r->status.fill > r->status.fill_most ? r->status.fill : r->status.fill_most;
    code = record_follow(r, error);
    ring_clock_note_poll(&r->clock, &r->ring, r->looked);
    return code ? code : poll_background(r, error);
}

// Converts bytes of a byte ring to entries, by their mean length; 0: none was seen yet.
static uint64_t in_entries(const struct extract_recorder *r, uint64_t number)
{
    const struct bytes *b = &r->bytes;
    if (!b->follows)
        return number;
    return b->taken ? (uint64_t)((double)number * (double)b->entries / (double)b->taken) : 0;
}

static void advise(struct extract_recorder *r)
{
    struct extract_record_advice *advice = &r->status.advice;
    uint32_t wanted = link_model_ring_wanted(&r->link_model, &r->measure, r->poll_interval.peak);
    double followed = link_model_followed(&r->link_model, &r->measure, WAKE_LATE);
    advice->latency = (uint64_t)link_model_latency(&r->link_model);
    advice->rate = (uint64_t)(link_model_rate(&r->link_model) * 1e9);
    advice->events = in_entries(r, (uint64_t)(followed * 1e9));
    advice->in_bytes = r->bytes.follows;
    advice->slots = r->measure.entries.count;
    advice->slots_wanted = wanted > advice->slots ? wanted : 0;
    advice->link_is_too_slow =
        (double)r->poll_interval.per_second > link_model_fastest(&r->link_model, &r->measure) * 1e9;
    advice->period = r->options.period ? r->options.period : r->poll_interval.period;
}

static void finish_poll(struct extract_recorder *r)
{
    struct extract_record_status *status = &r->status;
    if (r->phase != RECORD_SEARCHING) {
        double other = (double)(record_now(r) - r->start - r->reading);
        r->link_model.work += ((other > 0 ? other : 0) - r->link_model.work) / 16;
        poll_interval_choose(&r->poll_interval, &r->link_model, &r->measure);
        advise(r);
    }
    status->pending = r->provisional_count;
    status->enabled = r->phase != RECORD_SEARCHING && !r->trace_disabled;
    status->events_per_second = in_entries(r, r->poll_interval.per_second);
    status->rate_is_estimate = r->poll_interval.is_estimate;
    status->cost = extract_memory_cost(r->memory);
    uint64_t halted = extract_live_halts(r->memory).nanoseconds;
    r->rest = (halted - status->halted) * (HALT_REST + 1);
    status->halted = halted;
    if (r->out.log)
        extract_log_note_cost(r->out.log, status->polls, &status->cost);
}

static enum extract_code poll_target(struct extract_recorder *r, struct extract_error *error)
{
    if (extract_live_halt(r->memory, NULL))
        return record_note_disconnect(r, error);
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
    r->start = record_now(r);
    r->reading = 0;
    r->status.polls++;
    r->must_verify_anchor |= r->options.held; // the writer may be exactly one lap ahead
    enum extract_code code = poll_target(r, error);
    r->log_is_full |= code == EXTRACT_LIMIT;
    finish_poll(r);
    return code;
}

uint64_t extract_recorder_due(const struct extract_recorder *r)
{
    uint64_t period = r->status.advice.period, past = record_now(r) - r->start;
    if (r->phase == RECORD_SEARCHING || r->drained)
        period = period < WAITING ? WAITING : period;
    if (r->status.gone)
        period = period < WAITING ? WAITING : period < MAX_WAITING ? period : MAX_WAITING;
    period = period < r->rest ? r->rest : period;
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
    r->follower.read = timed_read;
    r->follower.context = r;
    r->out = (struct out){.log = options->log,
                          .sink = options->sink,
                          .context = options->context,
                          .status = &r->status};
    r->status.lost_is_exact = true;
    r->out.is_held = options->held;
    r->safe_fraction = 1;
    r->phase = RECORD_SEARCHING;
    return EXTRACT_OK;
}

enum extract_code extract_recorder_open(struct extract_recorder **recorder,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols,
                                        const struct extract_record_options *options,
                                        struct extract_error *error)
{
    struct extract_error told = {0};
    enum extract_code code = create(recorder, memory, symbols, options, error);
    struct extract_recorder *r = *recorder;
    if (code)
        return code;
    r->start = r->opened = record_now(r);
    r->opened_wall = extract_wall();
    code = extract_live_halt(memory, &told);
    code = code ? code : find_ring(r, &told);
    if (!code)
        code = start_ring(r, &told);
    if (r->phase != RECORD_SEARCHING && !code)
        code = poll_ring(r, &told);
    extract_live_resume(memory, NULL);
    if (code && code != EXTRACT_ABSENT) {
        recorder_free(r);
        *recorder = NULL;
        if (error)
            *error = told;
        return code;
    }
    finish_poll(r);
    return EXTRACT_OK;
}

uint64_t record_position_modulus(const struct extract_ring *ring)
{
    if (ring->entries.slot_bytes)
        return ring->entries.count;
    return ring->format->stream->counted ? 0 : BYTES_NUMBERS;
}

uint64_t record_position(const struct extract_recorder *r)
{
    const struct bytes *b = &r->bytes;
    if (r->phase != RECORD_FOLLOWING || r->status.gone || r->resync_pending)
        return 0;
    if (!b->follows)
        return 1 + (r->due + r->follower.phase) % r->ring.entries.count;
    if (b->counted)
        return b->least == b->most ? UINT64_C(1) + b->least : 0;
    return b->number >= 0 ? UINT64_C(1) + (uint32_t)(b->number + 1) % BYTES_NUMBERS : 0;
}

// The last poll proves the anchor even when nothing is new: the writer may be exactly one lap
// ahead.
static enum extract_code last_words(struct extract_recorder *r, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    uint64_t next;
    r->must_verify_anchor = true;
    do {
        next = r->next;
        code = extract_recorder_poll(r, error);
    } while (!code && r->trace_disabled && !r->drained && r->next != next);
    if (!code && r->bytes.entry_incomplete) {
        r->bytes.last = true;
        code = extract_recorder_poll(r, error);
    }
    if (!code && r->phase != RECORD_SEARCHING && !r->status.gone &&
        !extract_live_halt(r->memory, NULL)) {
        code = r->bytes.follows ? EXTRACT_OK : record_report_unread(r, error);
        code = code ? code : objects_read(r, error);
        extract_live_resume(r->memory, NULL);
    }
    code = code ? code : (r->bytes.follows ? bytes_end : record_report_unread)(r, error);
    return code ? code : out_mark(&r->out, EXTRACT_MARK_STOP, record_position(r), "", error);
}

enum extract_code extract_recorder_finish(struct extract_recorder *r,
                                          struct extract_record_status *status,
                                          struct extract_error *error)
{
    if (!r)
        return EXTRACT_OK;
    enum extract_code code = r->log_is_full ? EXTRACT_OK : last_words(r, error);
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

// What is known to be missing needs no look at the target.
enum extract_code extract_recorder_close_offline(struct extract_recorder *r,
                                                 struct extract_error *error)
{
    if (!r)
        return EXTRACT_OK;
    bool missing = r->status.gone || r->resync_pending || r->is_lapped || r->failed_reads;
    enum extract_code code = EXTRACT_OK;
    if (!r->log_is_full) {
        code = r->bytes.follows ? bytes_end(r, error)
               : missing        ? record_report_unread(r, error)
                                : record_emit_provisional(r, error);
        code = code ? code : out_mark(&r->out, EXTRACT_MARK_STOP, record_position(r), "", error);
    }
    finish_poll(r);
    recorder_free(r);
    return code;
}
