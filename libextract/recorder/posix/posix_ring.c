// SPDX-License-Identifier: MIT
// posix: the events of a ring, one after the other, and the gaps between them.
//
// The reader keeps a position (`at`) and a window: a verified copy of the words from there on,
// which posix_window.c makes. Each call of `next` decodes one record of the window. When the window
// is used up, the space of the records before the position is given back to the writer (read_pos),
// and the next window is copied.
//
//            read_pos     at                          head
//   ring ───────┴──────────┴───────────────────────────┴────────
//               │ decoded  │ window (copied) │ not read │
//
// The writer may overwrite records before they are read. Its tail then passes `at`, and the reader
// continues at the tail. The standard reports such a gap with two events, OVERFLOW and RESUME,
// which are in no ring: they are made here, before the first record after the gap.
//
//                  tail passed `at`                  OVERFLOW returned
//   POSIX_NO_GAP ───────────────────► POSIX_OVERFLOWED ───────────────► POSIX_RESUMES
//        ▲                                                                  │ RESUME returned
//        └───────────────── first record returned ──────────────────── POSIX_RESUMED
//
//   POSIX_OVERFLOWED  The record after the gap is not read yet: its end is not known.
//   POSIX_RESUMES     That record is in `taken`, and OVERFLOW is returned or filtered out.
//   POSIX_RESUMED     RESUME is returned or filtered out, too.
//
// A record is first stored as open, then done. An open record ends the reading for now, since its
// data are still being copied. In a stream that is over, no process will finish it, and it is
// skipped.
#include "posix/posix_room.h"
#include <string.h>

// Where the next record is: in the window, not in the window, or still being written.
enum found { FOUND, NOT_COPIED, NOT_DONE };

void posix_reader_restart(struct posix_reader *reader)
{
    reader->is_started = false;
    reader->window_words = 0;
    reader->gap = POSIX_NO_GAP;
}

// Positions wrap at 2^32, so they are compared by their distance from the head: the reader is
// lapped if its distance from the head is larger than that of the tail.
bool posix_ring_is_lapped(const struct posix_reader *r)
{
    return r->block.head - r->at > r->block.head - r->block.tail;
}

// Two words show losses. `refused` counts events that were not recorded. A tail beyond the
// reading position means that records were overwritten; the reader then continues at the tail.
void posix_ring_note_loss(struct posix_reader *r)
{
    if (r->block.refused != r->reported_refused)
        r->is_overrun = true;
    if (!posix_ring_is_lapped(r))
        return;
    if (r->block.tail != r->reported_tail)
        r->is_overrun = true;
    if (r->gap == POSIX_NO_GAP)
        r->gap = POSIX_OVERFLOWED;
    r->at = r->block.tail;
}

// ---- the block ----

// Returns whether the stream belongs to this trace: the target has carried out the request that
// bound it and the last clear that was requested. Later requests may be pending.
static bool is_bound_for_trace(const struct posix_trace *trace)
{
    const struct posix_stream *block = &trace->reader.block;

    if (trace->kind == POSIX_RECORDED)
        return true;
    return !trace->was_reset && block->state & POSIX_STATE_BOUND &&
           !posix_memory_was_cleared(trace, block) &&
           (int32_t)(block->clears_done - trace->wants.clears) >= 0 &&
           (int32_t)(block->request_done - trace->wants.bind) >= 0;
}

int posix_ring_poll(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = posix_stream_load(trace->target, trace->stream, &r->block);

    // Head and tail are two words. A target that runs can change one between the two reads.
    for (unsigned i = 1;
         !error && i < POSIX_MAX_TRIES && !posix_stream_has_valid_positions(&r->block); i++)
        error = posix_stream_load(trace->target, trace->stream, &r->block);

    if (error)
        return error == ENOENT && trace->kind != POSIX_RECORDED ? EAGAIN : error;
    if (!posix_stream_has_valid_positions(&r->block))
        return EAGAIN;
    if (!is_bound_for_trace(trace)) {
        posix_reader_restart(r);
        posix_rebind(trace, &r->block);
        return EAGAIN;
    }
    if (!r->is_started || r->generation != r->block.generation) {
        r->is_started = true;
        r->generation = r->block.generation;
        r->at = r->reported_tail = r->block.tail;
        r->reported_refused = 0;
        r->window_words = r->safe_words = 0;
        r->is_overrun = r->is_overrun || r->block.overwritten;
        r->gap = r->block.overwritten ? POSIX_OVERFLOWED : POSIX_NO_GAP;
    }
    return 0;
}

// The result of the write is ignored. If it fails, the target counts these records as overwritten
// later, although they were read; nothing is lost by that.
void posix_ring_release(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint64_t address = posix_stream_address(trace->target, trace->stream);

    if (trace->kind == POSIX_RECORDED || r->block.read_pos == r->at)
        return;
    posix_write_words(trace->target, address + POSIX_STREAM_AT_READ_POS, &r->at, 1);
    r->block.read_pos = r->at;
}

// ---- records ----

// Returns whether a copy that begins at `offset` of the window would hold more, and makes the next
// copy as large as possible. Used for a record that is longer than the rest of the window.
static bool can_copy_more(struct posix_reader *r, uint32_t offset)
{
    bool more =
        r->window_words < r->block.head - r->window_at && (offset || r->batch_words < POSIX_WINDOW);

    if (more)
        r->batch_words = POSIX_WINDOW;
    return more;
}

// Finds the record at the reading position. Skips words that are not a record, as after damage, and
// open records of a stream that is over.
static enum found find_record(struct posix_trace *trace, struct posix_record *record,
                              const uint8_t **bytes)
{
    struct posix_reader *r = &trace->reader;

    while (r->at - r->window_at < r->window_words) {
        uint32_t offset = r->at - r->window_at, left = r->window_words - offset;
        *bytes = r->bytes + (size_t)offset * 4;
        bool whole = posix_record_read(record, *bytes, left * 4, &r->block.layout, r->at);
        if (whole && record->done)
            return FOUND;
        if (whole && trace->kind != POSIX_RECORDED)
            return NOT_DONE;
        if (!whole && record->words > left && can_copy_more(r, offset))
            return NOT_COPIED;
        if (!whole) {
            r->is_overrun = true;
            r->gap = r->gap == POSIX_NO_GAP ? POSIX_OVERFLOWED : r->gap;
        }
        r->at += whole ? record->words : 1;
    }
    return NOT_COPIED;
}

// Copies words of the target to `data` from byte `at` on, in the host's byte order.
static void copy_words(struct posix_reader *r, const uint8_t *bytes, uint32_t words, uint32_t at)
{
    struct extract_cursor c = extract_cursor_make(bytes, (size_t)words * 4, r->block.layout.order);

    for (uint32_t i = 0; i < words; i++) {
        uint32_t word = extract_cursor_u32(&c);
        memcpy(r->data + at + (size_t)i * 4, &word, 4);
    }
}

// Replaces the event's data by `sets` filters of the standard's type. A filter of the target may be
// shorter or longer than that.
static void convert_sets(struct posix_reader *r, struct posix_event *event, uint32_t sets)
{
    uint32_t words = event->data_bytes / sets / 4;

    memset(r->data, 0, sizeof r->data);
    for (uint32_t i = 0; i < sets; i++)
        copy_words(r, event->data + (size_t)i * words * 4,
                   words < POSIX_SET_WORDS ? words : POSIX_SET_WORDS,
                   i * (uint32_t)sizeof(trace_event_set_t));
    event->data = r->data;
    event->data_bytes = sets * (uint32_t)sizeof(trace_event_set_t);
}

// Converts the data of a system event to the types of the standard. Data of user events are copied
// as they are.
static void convert_data(struct posix_reader *r, struct posix_event *event)
{
    switch (event->id) {
    case POSIX_ID_ERROR:
    case POSIX_ID_STOP:
        memset(r->data, 0, sizeof r->data);
        copy_words(r, event->data, event->data_bytes >= 4, 0);
        event->data = r->data;
        event->data_bytes = sizeof(int);
        break;
    case POSIX_ID_START:
        convert_sets(r, event, 1);
        break;
    case POSIX_ID_FILTER:
        convert_sets(r, event, 2);
        break;
    default:
        break;
    }
}

void posix_event_decode(struct posix_trace *trace, const struct posix_record *record,
                        const uint8_t *bytes, struct posix_event *event)
{
    struct posix_reader *r = &trace->reader;
    const struct posix_layout *layout = &r->block.layout;

    *event =
        (struct posix_event){.id = record->id,
                             .pid = (pid_t)(layout->pids ? record->pid : trace->target->block.pid),
                             .address = record->address,
                             .thread = record->thread,
                             .time = posix_time_of_event(trace, record->stamp),
                             .is_truncated = record->cut,
                             .data = bytes + record->data_at,
                             .data_bytes = record->data_bytes};
    convert_data(r, event);
}

// Moves the reading position past the record that was taken. The record after a gap is given back
// to the writer before the gap is reported. Records that are overwritten from then on belong to the
// next gap, so the writer must begin a new episode for them.
static void advance_reader(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    bool gap = r->gap != POSIX_NO_GAP;

    r->at += r->taken.words;
    if (r->at - r->window_at >= r->window_words)
        r->window_words = 0;
    if (gap || !r->window_words || trace->target->object)
        posix_ring_release(trace);
}

// ---- events that are made here ----

static bool is_filtered(const struct posix_trace *trace, trace_event_id_t id)
{
    return trace->wants.filter.ringside_words[id / 32] >> id % 32 & 1;
}

// Makes the next event that reports the gap before the record that was taken. Returns false if
// there is no gap, or the filter holds the events that are left to report.
static bool make_gap_event(struct posix_trace *trace, struct posix_event *event)
{
    struct posix_reader *r = &trace->reader;
    bool begins = r->gap == POSIX_OVERFLOWED;
    trace_event_id_t id = begins ? POSIX_ID_OVERFLOW : POSIX_ID_RESUME;

    if (r->gap == POSIX_NO_GAP || r->gap == POSIX_RESUMED)
        return false;
    r->gap = begins ? POSIX_RESUMES : POSIX_RESUMED;
    if (is_filtered(trace, id))
        return make_gap_event(trace, event);
    *event = (struct posix_event){.id = id,
                                  .pid = (pid_t)trace->target->block.pid,
                                  .time = begins ? posix_time_of_loss(trace, r->block.lost_stamp)
                                                 : posix_time_of_event(trace, r->taken.stamp),
                                  .data = r->data};
    return true;
}

// If the window holds no complete record, the next window is copied, a few times at most. For a
// stream without a log, space is given back before the copy, so that the writer need not overwrite
// while the reader copies. The window is discarded if no record is found: it may hold half of one.
int posix_ring_find_record(struct posix_trace *trace, struct posix_record *record,
                           const uint8_t **bytes)
{
    int error = 0;
    unsigned tries = 0;
    enum found found = find_record(trace, record, bytes);

    while (!error && found == NOT_COPIED && tries < POSIX_MAX_TRIES) {
        if (trace->kind == POSIX_ACTIVE && trace->reader.is_started)
            posix_ring_release(trace);
        error = posix_window_fill(trace);
        tries += !trace->reader.window_words;
        if (!error)
            found = find_record(trace, record, bytes);
    }
    if (!error && found == FOUND)
        return 0;
    trace->reader.window_words = 0;
    return error ? error : EAGAIN;
}

// Discards the window if the writer has overwritten it since it was copied. This is checked only in
// shared memory, where reading the stream block is cheap.
static int check_window(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = r->window_words && trace->target->object ? posix_ring_poll(trace) : 0;

    if (error || posix_ring_is_lapped(r))
        r->window_words = 0;
    return error;
}

static int take_record(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    const uint8_t *bytes;
    int error = check_window(trace);

    if (!error)
        error = posix_ring_find_record(trace, &r->taken, &bytes);
    if (error && r->is_started)
        posix_ring_release(trace);
    if (error)
        return error;
    r->taken_offset = (uint32_t)(bytes - r->bytes);
    if (r->gap != POSIX_NO_GAP && trace->kind == POSIX_ACTIVE)
        posix_read_wants(trace); // the filter decides whether OVERFLOW and RESUME are returned
    advance_reader(trace);
    return 0;
}

// Returns the next event. A record after a gap is taken first and returned last: in between come
// the events OVERFLOW and RESUME, one per call.
static int ring_next(struct posix_trace *trace, struct posix_event *event)
{
    struct posix_reader *r = &trace->reader;
    bool taken = r->gap == POSIX_RESUMES || r->gap == POSIX_RESUMED;
    int error = taken ? 0 : take_record(trace);

    if (error || make_gap_event(trace, event))
        return error;
    posix_event_decode(trace, &r->taken, r->bytes + r->taken_offset, event);
    r->gap = POSIX_NO_GAP;
    return 0;
}

// ---- the operations ----

// Releases the stream in its target. A target that cannot be written does not keep the trace from
// being freed.
static int finish_ring(struct posix_trace *trace)
{
    if (trace->kind != POSIX_RECORDED)
        posix_unbind(trace);
    return 0;
}

static int rewind_ring(struct posix_trace *trace)
{
    posix_reader_restart(&trace->reader);
    trace->reader.clock_is_set = false;
    return 0;
}

const struct posix_ops posix_ring_ops = {.next = ring_next,
                                         .status = posix_ring_status,
                                         .attr = posix_ring_attr,
                                         .name = posix_ring_name,
                                         .next_named = posix_ring_next_named,
                                         .rewind = rewind_ring,
                                         .finish = finish_ring,
                                         .free = posix_free};
