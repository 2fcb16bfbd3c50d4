// SPDX-License-Identifier: MIT
// posix/log: a log as a pre-recorded stream (posix_trace_open). The log may be damaged or hostile.
//
// Opening walks over all blocks once and keeps what holds for the whole log: the newest names, the
// attributes, the final status. A log without these, such as one of `ringside record`, gets the
// attributes that its ring and its blocks imply.
//
// Reading walks over the blocks again, one at a time. Records of consecutive blocks are joined,
// since a record may begin in one block and end in the next:
//
//   RING     sets the layout of the records that follow
//   BYTES    appended to `bytes`, if its records continue those before
//   LOSS     a gap
//   MARK     START, RESET: a new ring; FULL: the log reached its limit
//
//   bytes:   0        at             used
//            ├─ read ──┼── not read ──┤◄── next BYTES block
//
// A gap that the log holds no events for is reported with OVERFLOW and RESUME, which are made here
// before the next record. A log that reached its limit ends with STOP, which is made here if the
// writer was killed before it could write it.
//
// Source: IEEE Std 1003.1-2008, posix_trace_open, posix_trace_getnext_event.
#include "base/now.h"
#include "formats/format.h"
#include "posix/log/posix_log.h"
#include "log/log_block.h"
#include <fcntl.h>
#include <stdlib.h>
#include <unistd.h>

struct posix_recorded {
    struct extract_log *log;
    struct posix_log_settings settings;
    uint8_t *names; // name_count slots of name_bytes
    uint32_t name_bytes, name_count;
    uint8_t *payload; // payload of the last block that is not BYTES
    size_t payload_capacity;
    bool is_out_of_memory;

    // The reading position.
    size_t block;              // number of the next block
    uint16_t ring_key;         // key of the newest RING that was readable; 0 if it has none
    bool has_expected;         // `expected` is valid
    uint64_t expected;         // number of the next record
    uint8_t *bytes;            // joined records
    size_t at, used, capacity; // bytes: next record, end of the records, allocated
    uint64_t wall;             // time at which the newest of these were read from the target
    bool has_gap;              // events are missing before the next record
    trace_event_id_t last;     // type of the last event
    bool must_make_stop;       // the log reached its limit, and STOP is not returned yet
};

// ---- blocks ----

// Grows a buffer to `want` bytes. Returns false, and notes that memory ran out, if there is none.
static bool grow(struct posix_recorded *r, uint8_t **bytes, size_t *capacity, size_t want)
{
    if (want <= *capacity)
        return true;
    uint8_t *more = realloc(*bytes, want);
    r->is_out_of_memory |= !more;
    if (!more)
        return false;
    *bytes = more;
    *capacity = want;
    return true;
}

// Reads a block that is not BYTES into `payload`. Returns false if it is damaged.
static bool load_payload(struct posix_recorded *r, const struct extract_log_block *block)
{
    return block->length <= LOG_MAX_PAYLOAD &&
           grow(r, &r->payload, &r->payload_capacity, (size_t)block->length + 1) &&
           !extract_log_read(r->log, block, r->payload, NULL);
}

// Applies a RING block. Returns false if it is damaged or not of a POSIX stream.
static bool apply_ring(struct posix_trace *trace, const struct extract_log_block *block)
{
    struct posix_recorded *r = trace->recorded;
    struct extract_ring ring;
    struct posix_stream stream;
    enum extract_code code = EXTRACT_BAD;

    if (load_payload(r, block))
        code = extract_log_ring(&ring, r->payload, block->length, NULL);
    r->is_out_of_memory |= code == EXTRACT_NOMEM;
    if (code || ring.format != &extract_format_posix)
        return false;
    r->ring_key = block->kind;
    posix_stream_read(&stream, ring.header, sizeof ring.header);
    trace->reader.block = stream;
    trace->target->block.layout = stream.layout;
    trace->target->block.pid = stream.pid;
    return true;
}

// Discards records that do not continue in the next block.
static void discard_records(struct posix_recorded *r, bool has_gap)
{
    r->at = r->used = 0;
    r->has_gap |= has_gap;
}

// Appends the records of a BYTES block.
static void append_records(struct posix_recorded *r, const struct extract_log_block *block)
{
    if (r->has_expected && block->first != r->expected)
        discard_records(r, true);
    size_t left = r->used - r->at;
    // What a LOOP log dropped before its first block is not a gap of the stream.
    r->has_expected = true;
    r->expected = block->first + block->count;
    if (left)
        memmove(r->bytes, r->bytes + r->at, left);
    r->at = 0;
    r->used = left;
    bool fits = block->length <= LOG_MAX_PAYLOAD && left <= LOG_MAX_PAYLOAD &&
                grow(r, &r->bytes, &r->capacity, left + block->length + 1);
    // If damage hides the ring of the records, their layout is not known.
    bool is_known = !block->kind || block->kind == r->ring_key;
    if (!fits || !is_known || extract_log_read(r->log, block, r->bytes + left, NULL)) {
        discard_records(r, true);
        return;
    }
    r->used += block->length;
    r->wall = block->wall;
}

// Applies the next block. Returns false if there is none.
static bool apply_next_block(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    struct extract_log_block block;

    if (!extract_log_block_at(r->log, r->block, &block))
        return false;
    r->block++;
    switch (block.type) {
    case EXTRACT_LOG_RING:
        apply_ring(trace, &block);
        break;
    case EXTRACT_LOG_BYTES:
        append_records(r, &block);
        break;
    case EXTRACT_LOG_LOSS:
        if (block.kind != EXTRACT_LOSS_EARLIER)
            discard_records(r, block.kind != EXTRACT_LOSS_REFUSED);
        r->expected = block.first;
        r->has_expected = true;
        break;
    case EXTRACT_LOG_MARK:
        if (block.kind == EXTRACT_MARK_START || block.kind == EXTRACT_MARK_RESET) {
            discard_records(r, false);
            r->expected = block.first;
            r->has_expected = true;
        }
        if (block.kind == EXTRACT_MARK_RESET)
            trace->reader.clock_is_set = false;
        r->must_make_stop |= block.kind == EXTRACT_MARK_FULL && r->last != POSIX_ID_STOP;
        break;
    default:
        break;
    }
    return true;
}

// ---- events ----

// Finds the next record in `bytes`. Each record states the lower half of its own position, so only
// its length, tags and end are checked. Skips what is not a record.
static bool find_record(struct posix_trace *trace, struct posix_record *record)
{
    struct posix_recorded *r = trace->recorded;
    const struct posix_layout *layout = &trace->reader.block.layout;

    while (r->used - r->at >= 4) {
        const uint8_t *bytes = r->bytes + r->at;
        size_t left = r->used - r->at;
        struct extract_cursor c = extract_cursor_make(bytes, left, layout->order);
        uint32_t position = extract_cursor_u32(&c) & 0xFFFF;
        bool is_record = posix_record_read(record, bytes, (uint32_t)left, layout, position);
        if (is_record && record->done)
            return true;
        if (!is_record && (size_t)record->words * 4 > left)
            return false;
        r->has_gap |= !is_record;
        r->at += is_record ? (size_t)record->words * 4 : 4;
    }
    return false;
}

// Relates a clock that is not CLOCK_REALTIME to the time of day: the first record has the time at
// which its block was read from the target.
static void relate_clock(struct posix_trace *trace, uint64_t stamp)
{
    struct posix_reader *reader = &trace->reader;
    uint64_t wall = trace->recorded->wall;

    if (reader->clock_is_set)
        return;
    reader->clock_is_set = true;
    reader->last_stamp = reader->origin_stamp = stamp;
    reader->origin_time =
        (struct timespec){(time_t)(wall / EXTRACT_SECOND), (long)(wall % EXTRACT_SECOND)};
}

// Makes an event that is in no record of the log. It has the timestamp of a record next to it.
static void make_event(struct posix_trace *trace, trace_event_id_t id, uint64_t stamp,
                       struct posix_event *event)
{
    static const int by_itself = 1;

    *event = (struct posix_event){.id = id,
                                  .pid = (pid_t)trace->target->block.pid,
                                  .time = posix_time_of_event(trace, stamp),
                                  .data = trace->reader.data,
                                  .data_bytes = id == POSIX_ID_STOP ? sizeof by_itself : 0};
    memcpy(trace->reader.data, &by_itself, sizeof by_itself);
    trace->recorded->last = id;
}

// Makes the next event that reports a gap before a record, unless the log holds that event.
static bool make_gap_event(struct posix_trace *trace, const struct posix_record *record,
                           struct posix_event *event)
{
    struct posix_recorded *r = trace->recorded;
    bool is_reported = record->id == POSIX_ID_OVERFLOW || !r->has_gap;
    bool resumes = r->last == POSIX_ID_OVERFLOW && r->has_gap;

    if (is_reported) {
        r->has_gap = false;
        return false;
    }
    if (resumes)
        r->has_gap = false;
    make_event(trace, resumes ? POSIX_ID_RESUME : POSIX_ID_OVERFLOW, record->stamp, event);
    return true;
}

// Returns the next event. Blocks are applied until one of them completes a record. EAGAIN means
// that the log has no more events; it may have more after it was rewound.
static int next_recorded(struct posix_trace *trace, struct posix_event *event)
{
    struct posix_recorded *r = trace->recorded;
    struct posix_record record;
    bool found = find_record(trace, &record);

    while (!found && !r->must_make_stop && apply_next_block(trace))
        found = find_record(trace, &record);
    if (!found && r->must_make_stop) {
        r->must_make_stop = false;
        make_event(trace, POSIX_ID_STOP, trace->reader.last_stamp, event);
        return 0;
    }
    if (r->is_out_of_memory)
        return ENOMEM;
    if (!found)
        return EAGAIN;
    relate_clock(trace, record.stamp);
    if (make_gap_event(trace, &record, event))
        return 0;
    posix_event_decode(trace, &record, r->bytes + r->at, event);
    r->at += (size_t)record.words * 4;
    r->last = record.id;
    return 0;
}

// Returns to the first block. Names, attributes and the status stay, since they are valid for the
// whole log. The clock starts again, so the events get the same times as before.
static int rewind_log(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;

    r->block = r->at = r->used = 0;
    r->has_gap = r->must_make_stop = r->has_expected = r->is_out_of_memory = false;
    r->last = 0;
    trace->reader.clock_is_set = false;
    trace->reader.last_stamp = 0;
    return 0;
}

// ---- names, attributes, status ----

static int recorded_status(struct posix_trace *trace, struct posix_trace_status_info *status)
{
    *status = trace->recorded->settings.status;
    return 0;
}

static int recorded_attr(struct posix_trace *trace, struct posix_attr *attr)
{
    *attr = trace->recorded->settings.attr;
    return 0;
}

// Returns the name of a user event type; NULL if it has none. It ends with a zero or the slot.
static const uint8_t *find_name(const struct posix_recorded *r, trace_event_id_t id)
{
    uint32_t slot = id - POSIX_USER;
    const uint8_t *bytes = slot < r->name_count ? r->names + (size_t)slot * r->name_bytes : NULL;
    return bytes && *bytes ? bytes : NULL;
}

static int recorded_name(struct posix_trace *trace, trace_event_id_t id, char *name)
{
    const struct posix_recorded *r = trace->recorded;
    const uint8_t *slot = id >= POSIX_USER ? find_name(r, id) : NULL;

    if (!slot)
        return EINVAL;
    uint32_t max = r->name_bytes < TRACE_EVENT_NAME_MAX ? r->name_bytes : TRACE_EVENT_NAME_MAX;
    size_t length = strnlen((const char *)slot, max);
    memcpy(name, slot, length);
    name[length] = '\0';
    return 0;
}

static trace_event_id_t recorded_next_named(struct posix_trace *trace, trace_event_id_t id)
{
    const struct posix_recorded *r = trace->recorded;

    while (id - POSIX_USER < r->name_count && !find_name(r, id))
        id++;
    return id - POSIX_USER < r->name_count ? id : 0;
}

// Reads a NAMES block. The newest names are valid for the whole log: a name is never given to
// another event type.
static void read_names(struct posix_recorded *r, const struct extract_log_block *block)
{
    struct extract_log_names names;

    if (!load_payload(r, block) || extract_log_names(&names, r->payload, block->length, NULL) ||
        names.first != POSIX_USER)
        return;
    uint8_t *copy = malloc((size_t)names.count * names.slot_bytes + 1);
    r->is_out_of_memory |= !copy;
    if (!copy)
        return;
    memcpy(copy, names.bytes, (size_t)names.count * names.slot_bytes);
    free(r->names);
    r->names = copy;
    r->name_bytes = names.slot_bytes;
    r->name_count = names.count;
}

// Returns whether the last record is the STOP that a writer appends to a log that is full. The
// writer may have been killed before it wrote the FULL marker.
static bool ends_with_stop(struct posix_trace *trace, const struct extract_log_block *block)
{
    const struct posix_layout *layout = &trace->reader.block.layout;
    struct posix_record record;
    uint32_t bytes = posix_record_head(layout) + 8;

    if (block->type != EXTRACT_LOG_BYTES || block->length < bytes ||
        !load_payload(trace->recorded, block))
        return false;
    const uint8_t *at = trace->recorded->payload + block->length - bytes;
    return posix_record_read(&record, at, bytes, layout, 0) && record.id == POSIX_ID_STOP &&
           !record.address && !record.thread && !record.pid;
}

// Collects what the blocks report about losses. *last is the last block of records or markers.
static void read_losses(struct posix_trace_status_info *status, struct extract_log *log,
                        struct extract_log_block *last)
{
    struct extract_log_block block;

    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        if (block.type == EXTRACT_LOG_LOSS && block.kind == EXTRACT_LOSS_LOG_FULL)
            status->posix_log_overrun_status = POSIX_TRACE_OVERRUN;
        else if (block.type == EXTRACT_LOG_LOSS)
            status->posix_stream_overrun_status = POSIX_TRACE_OVERRUN;
        if (block.type == EXTRACT_LOG_BYTES || block.type == EXTRACT_LOG_MARK)
            *last = block;
    }
}

// Derives the status of a log that was not closed by posix_trace_shutdown. The log counts as full
// if it dropped blocks, states that it is full, or ends with STOP.
static void guess_status(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    const struct extract_log_status *s = extract_log_status(r->log);
    struct posix_trace_status_info *status = &r->settings.status;
    struct extract_log_block last = {0};

    *status = (struct posix_trace_status_info){0};
    read_losses(status, r->log, &last);
    bool ended = s->policy == EXTRACT_LOG_UNTIL_FULL && ends_with_stop(trace, &last);
    if (s->dropped || s->full || ended)
        status->posix_log_full_status = POSIX_TRACE_FULL;
    if (status->posix_log_full_status == POSIX_TRACE_FULL)
        status->posix_log_overrun_status = POSIX_TRACE_OVERRUN;
}

// Derives the attributes of a log without ATTRIBUTES from its ring and its own options.
static void guess_attributes(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    const struct extract_log_status *s = extract_log_status(r->log);
    struct posix_attr *a = &r->settings.attr;
    static const int policies[] = {POSIX_TRACE_LOOP, POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_APPEND};

    posix_attr_defaults(a);
    posix_attr_from_ring(a, &trace->reader.block, POSIX_SET_IDS);
    a->log_policy = policies[s->policy];
    a->log_size = s->limit;
    a->created = (struct timespec){(time_t)(s->created / EXTRACT_SECOND),
                                   (long)(s->created % EXTRACT_SECOND)};
}

// Reads everything but events. Returns EINVAL if the log is not of a POSIX stream, or was written
// on another kind of machine.
static int read_settings(struct posix_trace *trace)
{
    struct posix_recorded *r = trace->recorded;
    struct extract_log_block block;
    bool has_ring = false, has_settings = false, is_foreign = false;

    for (size_t i = 0; extract_log_block_at(r->log, i, &block); i++) {
        if (block.type == EXTRACT_LOG_RING)
            has_ring |= apply_ring(trace, &block);
        if (block.type == EXTRACT_LOG_NAMES)
            read_names(r, &block);
        if (block.type == EXTRACT_LOG_ATTRIBUTES && load_payload(r, &block)) {
            struct posix_log_settings settings;
            bool is_valid = posix_log_settings_decode(&settings, r->payload, block.length);
            is_foreign |= is_valid && settings.is_foreign;
            has_settings |= is_valid;
            if (is_valid)
                r->settings = settings;
        }
    }
    if (has_ring && !has_settings)
        guess_attributes(trace);
    if (!r->settings.is_final)
        guess_status(trace);
    return r->is_out_of_memory ? ENOMEM : has_ring && !is_foreign ? 0 : EINVAL;
}

// ---- opening and closing ----

static int finish_recorded(struct posix_trace *trace)
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

static const struct posix_ops recorded_ops = {.next = next_recorded,
                                              .status = recorded_status,
                                              .attr = recorded_attr,
                                              .name = recorded_name,
                                              .next_named = recorded_next_named,
                                              .rewind = rewind_log,
                                              .finish = finish_recorded,
                                              .free = free_recorded};

// Opens the log. The trace has a target of its own, without memory: only its layout is used.
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
    int error = read_settings(trace);
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
