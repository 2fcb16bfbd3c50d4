// SPDX-License-Identifier: MIT
// posix/log: a log as a stream that is over. In: a descriptor of a log, which may be damaged or
// hostile. Out: its events from the oldest on, as often as its reader goes back; names, attributes
// and the last status.
//
// Source: IEEE Std 1003.1-2008, posix_trace_open, posix_trace_getnext_event.
#include "base/now.h"
#include "formats/format.h"
#include "posix/log/log.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct posix_recorded {
    struct extract_log *log;
    struct posix_log_settings facts;
    uint8_t *names; // slots
    uint32_t name_bytes, name_count;
    uint8_t *payload; // of a block that is no stretch of records
    size_t payload_room;
    bool starved; // memory was short

    // Where it is read.
    size_t block;      // the next one
    uint16_t ring_key; // of the newest ring that could be read; 0: not given
    bool numbered;     // a number is expected:
    uint64_t expected; // that of the next record
    uint8_t *bytes;    // of records that follow each other
    size_t at, used, room;
    uint64_t wall;         // when these were read from the target
    bool gap;              // something is missing in front of the next record
    trace_event_id_t last; // type of the last event
    bool stopped;          // the log came to its limit, and that is to be told
};

// ---- blocks ----

static bool grow(struct posix_recorded *r, uint8_t **bytes, size_t *room, size_t want)
{
    if (want <= *room)
        return true;
    uint8_t *more = realloc(*bytes, want);
    r->starved |= !more;
    if (!more)
        return false;
    *bytes = more;
    *room = want;
    return true;
}

// Reads a block that is no stretch of records. False: it is damaged.
static bool load(struct posix_recorded *r, const struct extract_log_block *block)
{
    return block->length <= LOG_MAX_PAYLOAD &&
           grow(r, &r->payload, &r->payload_room, (size_t)block->length + 1) &&
           !extract_log_read(r->log, block, r->payload, NULL);
}

static bool take_ring(struct posix_trace *trace, const struct extract_log_block *block)
{
    struct posix_recorded *r = trace->recorded;
    struct extract_ring ring;
    struct posix_stream stream;
    enum extract_code code = EXTRACT_BAD;
    if (load(r, block))
        code = extract_log_ring(&ring, r->payload, block->length, NULL);
    r->starved |= code == EXTRACT_NOMEM;
    if (code || ring.format != &extract_format_posix)
        return false;
    r->ring_key = block->kind;
    posix_stream_read(&stream, ring.header, sizeof ring.header);
    trace->reader.block = stream;
    trace->target->block.layout = stream.layout;
    trace->target->block.pid = stream.pid;
    return true;
}

// What stood in front does not go on behind.
static void break_off(struct posix_recorded *r, bool gap)
{
    r->at = r->used = 0;
    r->gap |= gap;
}

static void take_records(struct posix_recorded *r, const struct extract_log_block *block)
{
    if (r->numbered && block->first != r->expected)
        break_off(r, true);
    size_t left = r->used - r->at;
    r->numbered = true; // what a log that wraps held before is no gap of the stream
    r->expected = block->first + block->count;
    if (left)
        memmove(r->bytes, r->bytes + r->at, left);
    r->at = 0;
    r->used = left;
    bool fits = block->length <= LOG_MAX_PAYLOAD && left <= LOG_MAX_PAYLOAD &&
                grow(r, &r->bytes, &r->room, left + block->length + 1);
    // The layout of records is not known where damage hides their ring.
    bool is_known = !block->kind || block->kind == r->ring_key;
    if (!fits || !is_known || extract_log_read(r->log, block, r->bytes + left, NULL)) {
        break_off(r, true);
        return;
    }
    r->used += block->length;
    r->wall = block->wall;
}

static void take_loss(struct posix_recorded *r, const struct extract_log_block *block)
{
    if (block->kind != EXTRACT_LOSS_EARLIER)
        break_off(r, block->kind != EXTRACT_LOSS_REFUSED);
    r->expected = block->first;
    r->numbered = true;
}

static void take_mark(struct posix_trace *trace, const struct extract_log_block *block)
{
    struct posix_recorded *r = trace->recorded;
    if (block->kind == EXTRACT_MARK_START || block->kind == EXTRACT_MARK_RESET) {
        break_off(r, false);
        r->expected = block->first;
        r->numbered = true;
    }
    if (block->kind == EXTRACT_MARK_RESET)
        trace->reader.clocked = false;
    r->stopped |= block->kind == EXTRACT_MARK_FULL && r->last != POSIX_ID_STOP;
}

// Takes the next block in hand. False: there is none.
static bool next_block(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    struct extract_log_block block;
    if (!extract_log_block_at(r->log, r->block, &block))
        return false;
    r->block++;
    switch (block.type) {
    case EXTRACT_LOG_RING:
        take_ring(trace, &block);
        break;
    case EXTRACT_LOG_BYTES:
        take_records(r, &block);
        break;
    case EXTRACT_LOG_LOSS:
        take_loss(r, &block);
        break;
    case EXTRACT_LOG_MARK:
        take_mark(trace, &block);
        break;
    default:
        break;
    }
    return true;
}

// ---- events ----

// The record in hand, by what it says of its own place.
static bool find_record(struct posix_trace *trace, struct posix_record *record)
{
    struct posix_recorded *r = trace->recorded;
    const struct posix_layout *layout = &trace->reader.block.layout;
    while (r->used - r->at >= 4) {
        const uint8_t *bytes = r->bytes + r->at;
        size_t left = r->used - r->at;
        struct extract_cursor c = extract_cursor_make(bytes, left, layout->order);
        uint32_t position = extract_cursor_u32(&c) & 0xFFFF;
        bool whole = posix_record_read(record, bytes, (uint32_t)left, layout, position);
        if (whole && record->done)
            return true;
        if (!whole && (size_t)record->words * 4 > left)
            return false;
        r->gap |= !whole;
        r->at += whole ? (size_t)record->words * 4 : 4;
    }
    return false;
}

// A clock that does not tell the time of day gets it when the first records were read.
static void set_clock(struct posix_trace *trace, uint64_t stamp)
{
    struct posix_reader *reader = &trace->reader;
    uint64_t wall = trace->recorded->wall;
    if (reader->clocked)
        return;
    reader->clocked = true;
    reader->stamp = reader->anchor = stamp;
    reader->anchor_time =
        (struct timespec){(time_t)(wall / EXTRACT_SECOND), (long)(wall % EXTRACT_SECOND)};
}

// Events that are in no record of such a log: they are of the time of the last one, or the next.
static void make_event(struct posix_trace *trace, trace_event_id_t id, uint64_t stamp,
                       struct posix_event *event)
{
    static const int by_itself = 1;
    *event = (struct posix_event){.id = id,
                                  .pid = (pid_t)trace->target->block.pid,
                                  .time = posix_time_take(trace, stamp),
                                  .data = trace->reader.data,
                                  .data_bytes = id == POSIX_ID_STOP ? sizeof by_itself : 0};
    memcpy(trace->reader.data, &by_itself, sizeof by_itself);
    trace->recorded->last = id;
}

// What is told in front of a record, where the log does not hold it: that events are missing.
static bool tell_gap(struct posix_trace *trace, const struct posix_record *record,
                     struct posix_event *event)
{
    struct posix_recorded *r = trace->recorded;
    bool told = record->id == POSIX_ID_OVERFLOW || !r->gap;
    bool resumes = r->last == POSIX_ID_OVERFLOW && r->gap;
    if (told) {
        r->gap = false;
        return false;
    }
    if (resumes)
        r->gap = false;
    make_event(trace, resumes ? POSIX_ID_RESUME : POSIX_ID_OVERFLOW, record->stamp, event);
    return true;
}

static int next(struct posix_trace *trace, struct posix_event *event)
{
    struct posix_recorded *r = trace->recorded;
    struct posix_record record;
    bool found = find_record(trace, &record);
    while (!found && !r->stopped && next_block(trace))
        found = find_record(trace, &record);
    if (!found && r->stopped) {
        r->stopped = false;
        make_event(trace, POSIX_ID_STOP, trace->reader.stamp, event);
        return 0;
    }
    if (r->starved)
        return ENOMEM;
    if (!found)
        return EAGAIN;
    set_clock(trace, record.stamp);
    if (tell_gap(trace, &record, event))
        return 0;
    posix_event_take(trace, &record, r->bytes + r->at, event);
    r->at += (size_t)record.words * 4;
    r->last = record.id;
    return 0;
}

static int rewind_log(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    r->block = r->at = r->used = 0;
    r->gap = r->stopped = r->numbered = r->starved = false;
    r->last = 0;
    trace->reader.clocked = false;
    trace->reader.stamp = 0;
    return 0;
}

// ---- what is known of the whole ----

static int status(struct posix_trace *trace, struct posix_trace_status_info *status)
{
    *status = trace->recorded->facts.status;
    return 0;
}

static int attr(struct posix_trace *trace, struct posix_attr *attr)
{
    *attr = trace->recorded->facts.attr;
    return 0;
}

static const uint8_t *slot_of(const struct posix_recorded *r, trace_event_id_t id)
{
    uint32_t slot = id - POSIX_USER;
    const uint8_t *bytes = slot < r->name_count ? r->names + (size_t)slot * r->name_bytes : NULL;
    return bytes && *bytes ? bytes : NULL;
}

static int name(struct posix_trace *trace, trace_event_id_t id, char *name)
{
    const struct posix_recorded *r = trace->recorded;
    const uint8_t *slot = id >= POSIX_USER ? slot_of(r, id) : NULL;
    if (!slot)
        return EINVAL;
    uint32_t most = r->name_bytes < TRACE_EVENT_NAME_MAX ? r->name_bytes : TRACE_EVENT_NAME_MAX;
    size_t length = strnlen((const char *)slot, most);
    memcpy(name, slot, length);
    name[length] = '\0';
    return 0;
}

static trace_event_id_t named(struct posix_trace *trace, trace_event_id_t id)
{
    const struct posix_recorded *r = trace->recorded;
    while (id - POSIX_USER < r->name_count && !slot_of(r, id))
        id++;
    return id - POSIX_USER < r->name_count ? id : 0;
}

// The newest names hold for all: a name never goes to another type.
static void take_names(struct posix_recorded *r, const struct extract_log_block *block)
{
    struct extract_log_names names;
    if (!load(r, block) || extract_log_names(&names, r->payload, block->length, NULL) ||
        names.first != POSIX_USER)
        return;
    uint8_t *copy = malloc((size_t)names.count * names.slot_bytes + 1);
    r->starved |= !copy;
    if (!copy)
        return;
    memcpy(copy, names.bytes, (size_t)names.count * names.slot_bytes);
    free(r->names);
    r->names = copy;
    r->name_bytes = names.slot_bytes;
    r->name_count = names.count;
}

// Whether the last record is the STOP that a writer puts behind a log that has no room for more: it
// may have been killed before it wrote the mark behind that.
static bool ends_with_stop(struct posix_trace *trace, const struct extract_log_block *block)
{
    const struct posix_layout *layout = &trace->reader.block.layout;
    struct posix_record record;
    uint32_t bytes = posix_record_head(layout) + 8;
    if (block->type != EXTRACT_LOG_BYTES || block->length < bytes || !load(trace->recorded, block))
        return false;
    const uint8_t *at = trace->recorded->payload + block->length - bytes;
    return posix_record_read(&record, at, bytes, layout, 0) && record.id == POSIX_ID_STOP &&
           !record.address && !record.thread && !record.pid;
}

// What blocks tell of losses. *last: the block of records that nothing but losses follow.
static void take_losses(struct posix_trace_status_info *status, struct extract_log *log,
                        struct extract_log_block *last)
{
    struct extract_log_block block;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        bool loss = block.type == EXTRACT_LOG_LOSS, full = block.kind == EXTRACT_LOSS_LOG_FULL;
        if (loss && full)
            status->posix_log_overrun_status = POSIX_TRACE_OVERRUN;
        if (loss && !full)
            status->posix_stream_overrun_status = POSIX_TRACE_OVERRUN;
        if (block.type == EXTRACT_LOG_BYTES || block.type == EXTRACT_LOG_MARK)
            *last = block;
    }
}

// A log that was not closed by the API says no more than this. It is full when there is something
// that it has no room for.
static void guess_status(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    const struct extract_log_status *s = extract_log_status(r->log);
    struct posix_trace_status_info *status = &r->facts.status;
    struct extract_log_block last = {0};
    *status = (struct posix_trace_status_info){0};
    take_losses(status, r->log, &last);
    bool ended = s->policy == EXTRACT_LOG_UNTIL_FULL && ends_with_stop(trace, &last);
    if (s->dropped || s->full || ended)
        status->posix_log_full_status = POSIX_TRACE_FULL;
    if (status->posix_log_full_status == POSIX_TRACE_FULL)
        status->posix_log_overrun_status = POSIX_TRACE_OVERRUN;
}

// One that was made by a recorder has no attributes but the ring's.
static void guess_attributes(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    const struct extract_log_status *s = extract_log_status(r->log);
    struct posix_attr *a = &r->facts.attr;
    static const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};
    posix_attr_defaults(a);
    posix_attr_of_ring(a, &trace->reader.block, POSIX_SET_IDS);
    a->log_policy = policies[s->policy];
    a->log_size = s->limit;
    a->created = (struct timespec){(time_t)(s->created / EXTRACT_SECOND),
                                   (long)(s->created % EXTRACT_SECOND)};
}

// Reads what the log says beside its events. EINVAL: it is none of a POSIX stream, or of another
// kind of machine.
static int survey(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    struct extract_log_block block;
    bool ring = false, told = false, foreign = false;
    for (size_t i = 0; extract_log_block_at(r->log, i, &block); i++) {
        if (block.type == EXTRACT_LOG_RING)
            ring |= take_ring(trace, &block);
        if (block.type == EXTRACT_LOG_NAMES)
            take_names(r, &block);
        if (block.type == EXTRACT_LOG_ATTRIBUTES && load(r, &block)) {
            struct posix_log_settings facts;
            bool good = posix_log_facts_decode(&facts, r->payload, block.length);
            foreign |= good && facts.foreign;
            told |= good;
            if (good)
                r->facts = facts;
        }
    }
    if (ring && !told)
        guess_attributes(trace);
    if (!r->facts.final)
        guess_status(trace);
    return r->starved ? ENOMEM : ring && !foreign ? 0 : EINVAL;
}

// ---- opening and closing ----

static int finish(struct posix_trace *trace)
{
    (void)trace;
    return 0;
}

static void free_recorded(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    if (r) {
        extract_log_free(r->log);
        free(r->names);
        free(r->payload);
        free(r->bytes);
        free(r);
    }
    posix_free(trace);
}

static const struct posix_ops recorded_ops = {.next = next,
                                              .status = status,
                                              .attr = attr,
                                              .name = name,
                                              .named = named,
                                              .rewind = rewind_log,
                                              .finish = finish,
                                              .free = free_recorded};

static int open_log(struct posix_trace *trace, int fd)
{
    int flags = fcntl(fd, F_GETFL);
    trace->ops = &recorded_ops;
    trace->target = posix_target_new(0, NULL);
    trace->recorded = calloc(1, sizeof *trace->recorded);
    if (!trace->target || !trace->recorded)
        return ENOMEM;
    if (flags < 0 || (flags & O_ACCMODE) == O_WRONLY)
        return EINVAL;
    enum extract_code code = extract_log_open_fd(&trace->recorded->log, fd, NULL);
    if (code)
        return code == EXTRACT_NOMEM ? ENOMEM : EINVAL;
    int error = survey(trace);
    return error ? error : rewind_log(trace);
}

int posix_trace_open(int file_desc, trace_id_t *trid)
{
    struct posix_trace *trace = trid ? posix_new(POSIX_RECORDED) : NULL;
    if (!trace)
        return trid ? ENOMEM : EINVAL;
    int error = open_log(trace, file_desc);
    if (!error)
        error = posix_table_add(trace, trid);
    if (error)
        free_recorded(trace);
    return error;
}
