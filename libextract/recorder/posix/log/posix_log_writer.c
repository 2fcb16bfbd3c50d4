// SPDX-License-Identifier: MIT
// posix/log: writes a stream's log: records, losses, names and attributes, as blocks.
//
// Records are stored as they are in the ring. They are collected in log->block, and a block is
// written when it is full, when a loss or a marker must follow it, or at the end of a flush. Until
// it is written, its records are given up neither in the ring nor by the reader, which returns to
// them if writing fails.
//
// The log-full policy decides what happens at the size that the caller chose:
//
//   LOOP        the log has 8 sections or more. When one holds its part of the log's size, the
//               next begins, which drops the oldest.
//
//               ┌─────────┬─────────┬─ ─ ─┬─────────┐
//               │ oldest  │         │     │ current │──► extract_log_turn
//               └─────────┴─────────┴─ ─ ─┴─────────┘
//                  ▲ dropped next
//
//   UNTIL_FULL  the log ends with a STOP event, a FULL marker and the final attributes.
//
//   APPEND      the log grows without limit.
//
//               record does not fit                     FULL marker written
//   COLLECTING ─────────────────────► end_log: STOP ───────────────────────► FULL
//     (is_full is not set)                              further records are lost: is_overrun
#include "posix/log/posix_log.h"
#include "log/log_block.h"

enum {
    SECTIONS = 8,
    BLOCKS = 4, // minimum of blocks in a section
    MAX_SECTIONS = 1 << 20,
    MIN_SECTION = 4096, // bytes of records
    NAMES_HEAD = 8,     // bytes of NAMES before the names
    RECORD_DONE = 2,
    RECORD_TRAILER = 0xA,
    MAX_MADE = 64 // bytes of a record that is made here
};

// ---- starting ----

// Returns the bytes of blocks of records in a section.
static uint64_t section_capacity(const struct posix_attr *attr)
{
    uint64_t records = attr->log_size / SECTIONS + 1;

    records = records > MIN_SECTION ? records : MIN_SECTION;
    return 2 * records; // the header of a small block is as long as its payload
}

// Returns the options of a log with the size and policy of the attributes. A section also holds its
// own headers with their copies, and may leave space for a block free at its end.
static struct extract_log_options make_options(const struct posix_attr *attr)
{
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};

    if (attr->log_policy == POSIX_TRACE_APPEND)
        return options;
    uint64_t header_bytes = 5 * LOG_HEAD + LOG_SECTION_PAYLOAD + LOG_MAX_RING + LOG_ATTRIBUTES +
                            NAMES_HEAD + LOG_MAX_NAMES + LOG_PROGRAM_PAYLOAD;
    uint64_t overhead = 2 * header_bytes + LOG_HEAD + LOG_BLOCK_CAPACITY;
    uint64_t bytes = section_capacity(attr) + overhead, max = LOG_MAX_SECTION;
    uint64_t names = 2 * (uint64_t)(LOG_MAX_NAMES + NAMES_HEAD + LOG_HEAD);
    bytes = bytes > names ? bytes : names;
    bytes = (bytes + LOG_SECTION_STEP - 1) / LOG_SECTION_STEP * LOG_SECTION_STEP;
    options.policy =
        attr->log_policy == POSIX_TRACE_LOOP ? EXTRACT_LOG_LOOP : EXTRACT_LOG_UNTIL_FULL;
    options.section_bytes = (uint32_t)(bytes < max ? bytes : max);
    uint64_t sections = attr->log_size / options.section_bytes;
    sections = sections < MAX_SECTIONS ? sections : MAX_SECTIONS;
    options.limit = (sections > SECTIONS ? sections + 1 : SECTIONS) * options.section_bytes;
    return options;
}

// Notes where the program of a process on this host was loaded. A traced child may run another
// program by the time that its events are flushed, or may have ended, so the address is looked up
// whenever a log starts and whenever a ring is followed.
static void note_program(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_target *target = trace->target;
    uint64_t entry;
    bool found =
        target->object &&
        extract_process_entry((uint64_t)target->pid, target->block.layout.address_bytes, &entry);

    log->has_entry |= found;
    log->entry = found ? entry : log->entry;
}

int posix_log_start(struct posix_trace *trace)
{
    static const struct posix_trace_status_info none;
    struct posix_log *log = trace->log;
    struct extract_log_options options = make_options(&trace->attr);

    if (log->writer)
        extract_log_close(log->writer, NULL);
    log->writer = NULL;
    log->start_count++;
    note_program(trace);
    log->is_full = log->has_names = false;
    log->block_bytes = log->block_records = log->ring_records = 0;
    log->next_number = log->sections_dropped = 0;
    log->record_bytes_left = trace->attr.log_size;
    log->section_bytes = 0;
    log->section_max_bytes = trace->attr.log_policy == POSIX_TRACE_LOOP
                                 ? trace->attr.log_size / (options.limit / options.section_bytes)
                                 : UINT64_MAX;
    uint64_t capacity = section_capacity(&trace->attr);
    log->block_bytes_left = capacity < UINT64_MAX / SECTIONS ? SECTIONS * capacity : UINT64_MAX;
    int error = posix_log_errno(extract_log_create_fd(&log->writer, log->fd, &options, NULL));
    if (!error)
        error = posix_log_put_settings(trace, &none, false);
    if (!error)
        error = posix_log_put_ring(trace);
    if (!error)
        error = posix_log_put_mark(trace, EXTRACT_MARK_START);
    return error ? error : posix_log_put_names(trace);
}

// ---- blocks ----

// Returns the bytes of records in a full block: a part of what a section may hold.
static uint32_t max_block_bytes(const struct posix_log *log)
{
    uint64_t part = log->section_max_bytes / BLOCKS;

    return part < LOG_MIN_BLOCK     ? LOG_MIN_BLOCK
           : part < LOG_BLOCK_BYTES ? (uint32_t)part
                                    : LOG_BLOCK_BYTES;
}

bool posix_log_is_full(const struct posix_trace *trace)
{
    const struct posix_log *log = trace->log;

    return log->is_full || (log->writer && extract_log_overwritten(log->writer));
}

// Notes that a block of that type and payload length was written, or that the log had no space for
// it and is full.
static int note_written(struct posix_log *log, enum extract_code code, uint16_t type,
                        uint64_t length)
{
    bool has_copy = extract_log_repeated(type) < LOG_REPEATED;
    uint64_t bytes = extract_log_size(length) * (has_copy ? 2 : 1);

    if (code == EXTRACT_LIMIT)
        log->is_full = log->is_overrun = true;
    if (code && code != EXTRACT_LIMIT)
        return posix_log_errno(code);
    log->block_bytes_left -= bytes < log->block_bytes_left ? bytes : log->block_bytes_left;
    log->is_overrun |= extract_log_overwritten(log->writer) != log->sections_dropped;
    log->sections_dropped = extract_log_overwritten(log->writer);
    return 0;
}

static int write_block(struct posix_trace *trace, const struct extract_log_block *block,
                       const void *payload)
{
    struct posix_log *log = trace->log;
    enum extract_code code = extract_log_put(log->writer, block, payload, NULL);

    return note_written(log, code, block->type, block->length);
}

int posix_log_put_ring(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    struct extract_ring ring = {0};
    struct posix_stream stream;
    uint64_t address = posix_stream_address(trace->target, trace->stream);

    if (log->is_full)
        return 0;
    if (posix_read_ring(&ring, trace->target->memory, NULL, address, NULL))
        return EIO;
    int error = note_written(log, extract_log_put_ring(log->writer, &ring, NULL), EXTRACT_LOG_RING,
                             LOG_MAX_RING);
    if (!error && posix_stream_read(&stream, ring.header, sizeof ring.header))
        log->logged_ring = (struct posix_generation){trace->generation, stream.generation};
    return error;
}

// Gives the space of what was written back to the writer. While a gap is not logged, the space
// before it is kept, since the ring then keeps the time at which the gap began. If nothing follows
// the gap, the space is given back all the same: the writer may be waiting for it.
static void release_written(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_reader *r = &trace->reader;
    bool has_gap = r->gap != POSIX_NO_GAP;

    if (has_gap && r->at != r->block.head) {
        log->at = log->end;
        return;
    }
    log->at = log->end = r->at;
    if (r->is_started)
        posix_log_release(trace);
}

int posix_log_put_program(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;

    note_program(trace);
    if (!log->has_entry || log->is_full)
        return 0;
    return note_written(log, extract_log_put_program(log->writer, log->entry, NULL),
                        EXTRACT_LOG_PROGRAM, LOG_PROGRAM_PAYLOAD);
}

// If the block cannot be written, the caller reports the error. Its records are not released, so
// note_failure (posix_flush.c) can return the reader to them.
int posix_log_put_block(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct extract_log_block block = {.type = EXTRACT_LOG_BYTES,
                                            .length = log->block_bytes,
                                            .count = log->block_records,
                                            .first = log->next_number};
    bool section_is_full =
        log->section_bytes && log->section_bytes + log->block_bytes > log->section_max_bytes;

    if (log->block_bytes && section_is_full) {
        extract_log_turn(log->writer);
        log->section_bytes = 0;
    }
    int error = log->block_bytes ? write_block(trace, &block, log->block) : 0;
    if (error)
        return error;
    log->next_number += log->block_records;
    log->logged_records += log->ring_records;
    log->section_bytes += log->block_bytes;
    log->gap_is_logged &= !log->block_bytes; // records after the gap are in the log now, too
    log->record_bytes_left -=
        log->block_bytes < log->record_bytes_left ? log->block_bytes : log->record_bytes_left;
    log->block_bytes = log->block_records = log->ring_records = 0;
    log->written_stamp = log->block_stamp;
    if (log->failure_in_block)
        log->failed_flush = 0;
    log->failure_in_block = false;
    release_written(trace);
    return 0;
}

int posix_log_put_mark(struct posix_trace *trace, enum extract_log_mark kind)
{
    struct posix_log *log = trace->log;
    int error = posix_log_put_block(trace);
    const struct extract_log_block block = {
        .type = EXTRACT_LOG_MARK, .kind = (uint16_t)kind, .first = log->next_number};

    return error || log->is_full ? error : write_block(trace, &block, NULL);
}

int posix_log_put_loss(struct posix_trace *trace, enum extract_log_loss kind, uint32_t lost,
                       bool is_exact)
{
    struct posix_log *log = trace->log;
    int error = posix_log_put_block(trace);
    const struct extract_log_block block = {.type = EXTRACT_LOG_LOSS,
                                            .kind = (uint16_t)kind,
                                            .lost = lost,
                                            .modulo = is_exact ? 0 : EXTRACT_LOG_ANY_MORE,
                                            .first = log->next_number + lost};

    if (error || log->is_full)
        return error;
    error = write_block(trace, &block, NULL);
    if (!error)
        log->next_number += lost;
    return error;
}

int posix_log_put_settings(struct posix_trace *trace, const struct posix_trace_status_info *status,
                           bool is_final)
{
    uint8_t payload[LOG_ATTRIBUTES];
    struct posix_log_settings settings = {.status = *status, .is_final = is_final};
    const struct extract_log_block block = {.type = EXTRACT_LOG_ATTRIBUTES,
                                            .length = sizeof payload};
    int error = posix_ring_attr(trace, &settings.attr);

    posix_log_settings_encode(payload, &settings);
    return error ? error : write_block(trace, &block, payload);
}

// ---- names ----

// Reads the names of all user event types into log->names, as slots of LOG_NAME_BYTES. Returns the
// bytes of the payload.
static uint32_t read_names(struct posix_trace *trace)
{
    const struct posix_block *block = &trace->target->block;
    uint32_t used = block->names_claimed ? block->names_room : block->names_used;
    uint32_t max = POSIX_SET_IDS - POSIX_USER, count = used < max ? used : max;
    uint8_t *to = trace->log->names;

    extract_log_store(to, LOG_NAME_BYTES, 4);
    extract_log_store(to + 4, POSIX_USER, 4);
    memset(to + NAMES_HEAD, 0, (size_t)count * LOG_NAME_BYTES);
    for (uint32_t i = 0; i < count; i++)
        posix_ring_name(trace, POSIX_USER + i, (char *)to + NAMES_HEAD + i * LOG_NAME_BYTES);
    return NAMES_HEAD + count * LOG_NAME_BYTES;
}

// Names only grow in number, so two counts show whether there are new ones: those that the target
// has registered, and those that controllers have.
int posix_log_put_names(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_block *block = &trace->target->block;
    int error = posix_target_load(trace->target);
    bool is_same = log->has_names && block->names_used == log->names_used &&
                   block->names_claimed == log->names_claimed;

    if (error || is_same)
        return error;
    const struct extract_log_block names = {.type = EXTRACT_LOG_NAMES, .length = read_names(trace)};
    error = write_block(trace, &names, log->names);
    log->has_names = !error;
    log->names_used = block->names_used;
    log->names_claimed = block->names_claimed;
    return error;
}

// ---- records ----

// Makes a record whose data is a number, or nothing for NULL. It is laid out as those of the ring,
// except that it does not state its position.
//
//   │ length, done │ id, data bytes │ 0 … │ timestamp │ number │ length, trailer │
//   └── word 0 ────┴── word 1 ──────┴─────┴ 1 or 2 ───┴ 0 or 1 ┴──── last ───────┘
static uint32_t make_record(uint8_t *to, const struct posix_layout *layout, trace_event_id_t id,
                            uint64_t stamp, const uint32_t *number)
{
    uint32_t head = posix_record_head(layout), data = number ? 4 : 0, bytes = head + data + 4;
    uint32_t tied = bytes / 4 << 16, at = head - (layout->stamp_bits > 32 ? 8 : 4);

    memset(to, 0, bytes);
    extract_store(to, tied | (uint32_t)RECORD_DONE << 30, 4, layout->order);
    extract_store(to + 4, id | data << 16, 4, layout->order);
    extract_store(to + at, (uint32_t)stamp, 4, layout->order);
    if (layout->stamp_bits > 32)
        extract_store(to + at + 4, stamp >> 32, 4, layout->order);
    if (number)
        extract_store(to + head, *number, 4, layout->order);
    extract_store(to + bytes - 4, tied | (uint32_t)RECORD_TRAILER << 28, 4, layout->order);
    return bytes;
}

// Appends a record to the block.
static void append_record(struct posix_log *log, const uint8_t *bytes, uint32_t length,
                          trace_event_id_t id, uint64_t stamp)
{
    memcpy(log->block + log->block_bytes, bytes, length);
    log->block_bytes += length;
    log->block_records++;
    log->block_stamp = stamp;
    log->last_id = id;
}

// Ends a log that has no space for more. Its last event is a STOP by the system itself.
static int end_log(struct posix_trace *trace)
{
    static const uint32_t by_itself = 1;
    struct posix_log *log = trace->log;
    const struct posix_layout *layout = &trace->reader.block.layout;
    uint8_t bytes[MAX_MADE];

    if (log->last_id != POSIX_ID_STOP && log->block_bytes < LOG_BLOCK_CAPACITY - MAX_MADE) {
        uint32_t length = make_record(bytes, layout, POSIX_ID_STOP, log->block_stamp, &by_itself);
        append_record(log, bytes, length, POSIX_ID_STOP, log->block_stamp);
    }
    int error = posix_log_put_mark(trace, EXTRACT_MARK_FULL);
    log->is_full |= !error;
    return error;
}

// Appends a record if the log has space for it; ends the log if it does not. Records that a full
// log does not accept are lost.
static int add_or_lose(struct posix_trace *trace, const uint8_t *bytes, uint32_t length,
                       trace_event_id_t id, uint64_t stamp)
{
    struct posix_log *log = trace->log;
    uint64_t used = (uint64_t)log->block_bytes + length;
    bool fits = trace->attr.log_policy != POSIX_TRACE_UNTIL_FULL ||
                (used <= log->record_bytes_left && extract_log_size(used) <= log->block_bytes_left);
    int error = log->is_full || fits ? 0 : end_log(trace);

    if (error)
        return error;
    if (log->is_full)
        log->is_overrun = true;
    else
        append_record(log, bytes, length, id, stamp);
    return 0;
}

int posix_log_add_record(struct posix_trace *trace, const struct posix_record *record,
                         const uint8_t *bytes, bool *put)
{
    struct posix_log *log = trace->log;
    uint32_t length = record->words * 4;

    *put = log->block_bytes && log->block_bytes + length > max_block_bytes(log);
    int error = *put ? posix_log_put_block(trace) : 0;
    if (!error)
        error = add_or_lose(trace, bytes, length, record->id, record->stamp);
    if (error)
        return error;
    log->end = trace->reader.at += record->words;
    log->ring_records++;
    return 0;
}

int posix_log_add_event(struct posix_trace *trace, trace_event_id_t id, uint64_t stamp,
                        const uint32_t *number)
{
    uint8_t bytes[MAX_MADE];
    uint32_t length = make_record(bytes, &trace->reader.block.layout, id, stamp, number);

    if (trace->wants.filter.ringside_words[0] >> id & 1 || trace->log->is_full)
        return 0;
    int error = trace->log->block_bytes + length > LOG_BLOCK_BYTES ? posix_log_put_block(trace) : 0;
    return error ? error : add_or_lose(trace, bytes, length, id, stamp);
}
