// SPDX-License-Identifier: MIT
// posix: events out of a ring, one after the other, and what was lost between them.
// In: a stream block and its records. Out: events in the host's terms.
//
// OVERFLOW and RESUME are in no ring: they are made here, around the place where records were
// overwritten before they were read.
#include "posix/internal.h"
#include <string.h>

enum found { FOUND, NOT_COPIED, NOT_DONE };

void posix_reader_again(struct posix_reader *reader)
{
    reader->begun = false;
    reader->window = 0;
    reader->gap = POSIX_NO_GAP;
}

bool posix_ring_lapped(const struct posix_reader *r)
{
    return r->block.head - r->at > r->block.head - r->block.tail;
}

void posix_ring_note(struct posix_reader *r)
{
    if (r->block.refused != r->told_refused)
        r->overrun = true;
    if (!posix_ring_lapped(r))
        return;
    if (r->block.tail != r->told_tail)
        r->overrun = true;
    if (r->gap == POSIX_NO_GAP)
        r->gap = POSIX_OVERFLOWED;
    r->at = r->block.tail;
}

// ---- the block ----

// Whether the stream is ours by now: the target has carried out what it was bound with, and the
// last clearing that we asked for. Others may have asked for more.
static bool is_ours(const struct posix_trace *trace)
{
    const struct posix_stream *block = &trace->reader.block;
    if (trace->kind == POSIX_RECORDED)
        return true;
    return !trace->restarted && block->state & POSIX_STATE_BOUND &&
           !posix_went_back(trace, block) &&
           (int32_t)(block->clears_done - trace->wants.clears) >= 0 &&
           (int32_t)(block->request_done - trace->wants.bind) >= 0;
}

static void begin(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    r->begun = true;
    r->generation = r->block.generation;
    r->at = r->told_tail = r->block.tail;
    r->told_refused = 0;
    r->window = r->safe_words = 0;
    r->overrun = r->overrun || r->block.overwritten;
    r->gap = r->block.overwritten ? POSIX_OVERFLOWED : POSIX_NO_GAP;
}

int posix_ring_look(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = posix_stream_look(trace->target, trace->stream, &r->block);
    for (unsigned i = 1; !error && i < POSIX_TRIES && !posix_stream_places(&r->block); i++)
        error = posix_stream_look(trace->target, trace->stream, &r->block);
    if (error)
        return error == ENOENT && trace->kind != POSIX_RECORDED ? EAGAIN : error;
    if (!posix_stream_places(&r->block))
        return EAGAIN;
    if (!is_ours(trace)) {
        posix_reader_again(r);
        posix_bind_again(trace, &r->block);
        return EAGAIN;
    }
    if (!r->begun || r->generation != r->block.generation)
        begin(trace);
    return 0;
}

// A target that cannot be told counts it as overwritten, no more.
void posix_ring_release(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    uint64_t address = posix_stream_address(trace->target, trace->stream);
    if (trace->kind == POSIX_RECORDED || r->block.read_pos == r->at)
        return;
    posix_poke(trace->target, address + POSIX_STREAM_AT_READ_POS, &r->at, 1);
    r->block.read_pos = r->at;
}

// ---- records ----

// Whether a copy from `offset` on could hold more.
static bool is_cut(struct posix_reader *r, uint32_t offset)
{
    bool more = r->window < r->block.head - r->window_at && (offset || r->batch < POSIX_WINDOW);
    if (more)
        r->batch = POSIX_WINDOW;
    return more;
}

// The record at the reader's place. What is no record is passed over, as is one that is open where
// nobody will ever finish it.
static enum found find_record(struct posix_trace *trace, struct posix_record *record,
                              const uint8_t **bytes)
{
    struct posix_reader *r = &trace->reader;
    while (r->at - r->window_at < r->window) {
        uint32_t offset = r->at - r->window_at, left = r->window - offset;
        *bytes = r->bytes + (size_t)offset * 4;
        bool whole = posix_record_read(record, *bytes, left * 4, &r->block.layout, r->at);
        if (whole && record->done)
            return FOUND;
        if (whole && trace->kind != POSIX_RECORDED)
            return NOT_DONE;
        if (!whole && record->words > left && is_cut(r, offset))
            return NOT_COPIED;
        if (!whole) {
            r->overrun = true;
            r->gap = r->gap == POSIX_NO_GAP ? POSIX_OVERFLOWED : r->gap;
        }
        r->at += whole ? record->words : 1;
    }
    return NOT_COPIED;
}

// Words of the target's as the host has them: a filter, or a number.
static void take_words(struct posix_reader *r, const uint8_t *bytes, uint32_t words, uint32_t at)
{
    struct extract_cursor c = extract_cursor_make(bytes, (size_t)words * 4, r->block.layout.order);
    for (uint32_t i = 0; i < words; i++) {
        uint32_t word = extract_cursor_u32(&c);
        memcpy(r->data + at + (size_t)i * 4, &word, 4);
    }
}

static void take_sets(struct posix_reader *r, struct posix_event *event, uint32_t sets)
{
    uint32_t words = event->data_bytes / sets / 4;
    memset(r->data, 0, sizeof r->data);
    for (uint32_t i = 0; i < sets; i++)
        take_words(r, event->data + (size_t)i * words * 4,
                   words < POSIX_SET_WORDS ? words : POSIX_SET_WORDS,
                   i * (uint32_t)sizeof(trace_event_set_t));
    event->data = r->data;
    event->data_bytes = sets * (uint32_t)sizeof(trace_event_set_t);
}

static void take_number(struct posix_reader *r, struct posix_event *event)
{
    memset(r->data, 0, sizeof r->data);
    take_words(r, event->data, event->data_bytes >= 4, 0);
    event->data = r->data;
    event->data_bytes = sizeof(int);
}

// The data of the system's types have the standard's types; a user's are the user's own.
static void take_data(struct posix_reader *r, struct posix_event *event)
{
    switch (event->id) {
    case POSIX_ID_ERROR:
    case POSIX_ID_STOP:
        take_number(r, event);
        break;
    case POSIX_ID_START:
        take_sets(r, event, 1);
        break;
    case POSIX_ID_FILTER:
        take_sets(r, event, 2);
        break;
    default:
        break;
    }
}

void posix_event_take(struct posix_trace *trace, const struct posix_record *record,
                      const uint8_t *bytes, struct posix_event *event)
{
    struct posix_reader *r = &trace->reader;
    const struct posix_layout *layout = &r->block.layout;
    *event =
        (struct posix_event){.id = record->id,
                             .pid = (pid_t)(layout->pids ? record->pid : trace->target->block.pid),
                             .address = record->address,
                             .thread = record->thread,
                             .time = posix_time_take(trace, record->stamp),
                             .cut = record->cut,
                             .data = bytes + record->data_at,
                             .data_bytes = record->data_bytes};
    take_data(r, event);
}

// Takes the record at the reader's place. One behind a gap is freed before the gap is told of: what
// is lost from then on is lost behind it, in an episode of its own.
static void pass_record(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    bool gap = r->gap != POSIX_NO_GAP;
    r->at += r->taken.words;
    if (r->at - r->window_at >= r->window)
        r->window = 0;
    if (gap || !r->window || trace->target->object)
        posix_ring_release(trace);
}

// ---- what is made here ----

static bool is_filtered(const struct posix_trace *trace, trace_event_id_t id)
{
    return trace->wants.filter.ringside_words[id / 32] >> id % 32 & 1;
}

static void make_event(struct posix_trace *trace, trace_event_id_t id, struct timespec time,
                       struct posix_event *event)
{
    *event = (struct posix_event){
        .id = id, .pid = (pid_t)trace->target->block.pid, .time = time, .data = trace->reader.data};
}

// Whether the gap in front of the record that was taken is something to tell.
static bool tell_gap(struct posix_trace *trace, struct posix_event *event)
{
    struct posix_reader *r = &trace->reader;
    bool begins = r->gap == POSIX_OVERFLOWED;
    trace_event_id_t id = begins ? POSIX_ID_OVERFLOW : POSIX_ID_RESUME;
    if (r->gap == POSIX_NO_GAP || r->gap == POSIX_RESUMED)
        return false;
    r->gap = begins ? POSIX_RESUMES : POSIX_RESUMED;
    if (is_filtered(trace, id))
        return tell_gap(trace, event);
    make_event(trace, id,
               begins ? posix_time_lost(trace, r->block.lost_stamp)
                      : posix_time_take(trace, r->taken.stamp),
               event);
    return true;
}

int posix_ring_find(struct posix_trace *trace, struct posix_record *record, const uint8_t **bytes)
{
    int error = 0;
    unsigned tries = 0;
    enum found found = find_record(trace, record, bytes);
    while (!error && found == NOT_COPIED && tries < POSIX_TRIES) {
        if (trace->kind == POSIX_ACTIVE && trace->reader.begun)
            posix_ring_release(trace);
        error = posix_window_fill(trace);
        tries += !trace->reader.window;
        if (!error)
            found = find_record(trace, record, bytes);
    }
    if (!error && found == FOUND)
        return 0;
    trace->reader.window = 0;
    return error ? error : EAGAIN;
}

// Where looking costs little, what was copied with an earlier record counts as long as its place
// has not been overwritten.
static int check_window(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    int error = r->window && trace->target->object ? posix_ring_look(trace) : 0;
    if (error || posix_ring_lapped(r))
        r->window = 0;
    return error;
}

static int take_record(struct posix_trace *trace)
{
    struct posix_reader *r = &trace->reader;
    const uint8_t *bytes;
    int error = check_window(trace);
    if (!error)
        error = posix_ring_find(trace, &r->taken, &bytes);
    if (error && r->begun)
        posix_ring_release(trace);
    if (error)
        return error;
    r->taken_at = (uint32_t)(bytes - r->bytes);
    if (r->gap != POSIX_NO_GAP && trace->kind == POSIX_ACTIVE)
        posix_learn(trace); // whether its events are filtered
    pass_record(trace);
    return 0;
}

static int ring_next(struct posix_trace *trace, struct posix_event *event)
{
    struct posix_reader *r = &trace->reader;
    bool taken = r->gap == POSIX_RESUMES || r->gap == POSIX_RESUMED;
    int error = taken ? 0 : take_record(trace);
    if (error || tell_gap(trace, event))
        return error;
    posix_event_take(trace, &r->taken, r->bytes + r->taken_at, event);
    r->gap = POSIX_NO_GAP;
    return 0;
}

// ---- the operations ----

// A stream that is shut down is left by its traced process, too. A link that is broken keeps
// nothing from being freed.
static int finish(struct posix_trace *trace)
{
    if (trace->kind != POSIX_RECORDED)
        posix_unbind(trace);
    return 0;
}

static int rewind_ring(struct posix_trace *trace)
{
    posix_reader_again(&trace->reader);
    trace->reader.clocked = false;
    return 0;
}

const struct posix_ops posix_ring_ops = {.next = ring_next,
                                         .status = posix_ring_status,
                                         .attr = posix_ring_attr,
                                         .name = posix_ring_name,
                                         .named = posix_ring_named,
                                         .rewind = rewind_ring,
                                         .finish = finish,
                                         .free = posix_free};
