// SPDX-License-Identifier: MIT
// posix/log: what goes to the log of a stream. In: records, losses, names. Out: blocks.
//
// Records lie in the log as they lay in the ring. Until the block that holds them is written,
// nothing of them is given up: not in the ring, and not by the reader, who comes back to them when
// writing fails.
#include "posix/log/log.h"
#include "log/block.h"

enum {
    SECTIONS = 8,
    BLOCKS = 4, // of a section, at least
    MAX_SECTIONS = 1 << 20,
    SECTION_LEAST = 4096,
    NAMES_HEAD = 8,
    RECORD_DONE = 2,
    RECORD_TRAILER = 0xA,
    MAX_MADE = 64 // bytes of a record that is made here
};

// ---- beginning ----

// Bytes of blocks that a section has room for, beside what stands at its head.
static uint64_t section_room(const struct posix_attr *attr)
{
    uint64_t records = attr->log_size / SECTIONS + 1;
    records = records > SECTION_LEAST ? records : SECTION_LEAST;
    return 2 * records; // of small blocks the head is as long as what it holds
}

// Returns the bytes that the head of a section takes with all its copies, and the most that is left
// free at its end.
static uint64_t section_waste(void)
{
    uint64_t head = 5 * LOG_HEAD + LOG_SECTION_PAYLOAD + LOG_MAX_RING + LOG_ATTRIBUTES +
                    NAMES_HEAD + LOG_MAX_NAMES + LOG_PROGRAM_PAYLOAD;
    return 2 * head + LOG_HEAD + LOG_BLOCK_ROOM;
}

static struct extract_log_options options_of(const struct posix_attr *attr)
{
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    if (attr->log_policy == POSIX_TRACE_APPEND)
        return options;
    uint64_t bytes = section_room(attr) + section_waste();
    uint64_t most = LOG_MAX_SECTION;
    uint64_t names = 2 * (uint64_t)(LOG_MAX_NAMES + NAMES_HEAD + LOG_HEAD);
    bytes = bytes > names ? bytes : names;
    bytes = (bytes + LOG_SECTION_STEP - 1) / LOG_SECTION_STEP * LOG_SECTION_STEP;
    options.policy =
        attr->log_policy == POSIX_TRACE_LOOP ? EXTRACT_LOG_LOOP : EXTRACT_LOG_UNTIL_FULL;
    options.section_bytes = (uint32_t)(bytes < most ? bytes : most);
    uint64_t sections = attr->log_size / options.section_bytes;
    sections = sections < MAX_SECTIONS ? sections : MAX_SECTIONS;
    options.limit = (sections > SECTIONS ? sections + 1 : SECTIONS) * options.section_bytes;
    return options;
}

// Where the program of a process on this host was loaded. A child that is traced may run another
// one by the time that it records, and may be gone when that is flushed.
static void see_program(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_target *target = trace->target;
    uint64_t entry;
    bool seen = target->object && extract_process_entry((uint64_t)target->pid,
                                                        target->block.layout.address_bytes, &entry);
    log->placed |= seen;
    log->entry = seen ? entry : log->entry;
}

int posix_log_begin(struct posix_trace *trace)
{
    static const struct posix_trace_status_info none;
    struct posix_log *log = trace->log;
    struct extract_log_options options = options_of(&trace->attr);
    if (log->writer)
        extract_log_close(log->writer, NULL);
    log->writer = NULL;
    log->begun++;
    see_program(trace);
    log->full = log->named = false;
    log->used = log->count = log->taken = 0;
    log->number = log->overwritten = 0;
    log->room = trace->attr.log_size;
    log->section_used = 0;
    log->section_most = trace->attr.log_policy == POSIX_TRACE_LOOP
                            ? trace->attr.log_size / (options.limit / options.section_bytes)
                            : UINT64_MAX;
    uint64_t room = section_room(&trace->attr);
    log->budget = room < UINT64_MAX / SECTIONS ? SECTIONS * room : UINT64_MAX;
    int error = posix_log_errno(extract_log_create_fd(&log->writer, log->fd, &options, NULL));
    if (!error)
        error = posix_log_put_facts(trace, &none, false);
    if (!error)
        error = posix_log_put_ring(trace);
    if (!error)
        error = posix_log_put_mark(trace, EXTRACT_MARK_START);
    return error ? error : posix_log_put_names(trace);
}

// ---- blocks ----

// Bytes of records that a block is to have: a part of what a section may hold.
static uint32_t block_most(const struct posix_log *log)
{
    uint64_t part = log->section_most / BLOCKS;
    return part < LOG_BLOCK_LEAST   ? LOG_BLOCK_LEAST
           : part < LOG_BLOCK_BYTES ? (uint32_t)part
                                    : LOG_BLOCK_BYTES;
}

// A LOOP log holds so many sections, each of a part of its size.
static void turn(struct posix_log *log)
{
    if (log->section_used && log->section_used + log->used > log->section_most) {
        extract_log_turn(log->writer);
        log->section_used = 0;
    }
}

static bool has_limit(const struct posix_trace *trace)
{
    return trace->attr.log_policy == POSIX_TRACE_UNTIL_FULL;
}

bool posix_log_is_full(const struct posix_trace *trace)
{
    const struct posix_log *log = trace->log;
    return log->full || (log->writer && extract_log_overwritten(log->writer));
}

// A block of that type and length was put; or the log had no room for it, and is full.
static int note_put(struct posix_log *log, enum extract_code code, uint16_t type, uint64_t length)
{
    bool has_copy = extract_log_repeated(type) < LOG_REPEATED;
    uint64_t bytes = extract_log_size(length) * (has_copy ? 2 : 1);
    if (code == EXTRACT_LIMIT)
        log->full = log->overrun = true;
    if (code && code != EXTRACT_LIMIT)
        return posix_log_errno(code);
    log->budget -= bytes < log->budget ? bytes : log->budget;
    log->overrun |= extract_log_overwritten(log->writer) != log->overwritten;
    log->overwritten = extract_log_overwritten(log->writer);
    return 0;
}

static int put_block(struct posix_trace *trace, const struct extract_log_block *block,
                     const void *payload)
{
    struct posix_log *log = trace->log;
    enum extract_code code = extract_log_put(log->writer, block, payload, NULL);
    return note_put(log, code, block->type, block->length);
}

int posix_log_put_ring(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    struct extract_ring ring = {0};
    struct posix_stream stream;
    uint64_t address = posix_stream_address(trace->target, trace->stream);
    if (log->full)
        return 0;
    if (posix_read_ring(&ring, trace->target->memory, NULL, address, NULL))
        return EIO;
    int error = note_put(log, extract_log_put_ring(log->writer, &ring, NULL), EXTRACT_LOG_RING,
                         LOG_MAX_RING);
    if (!error && posix_stream_read(&stream, ring.header, sizeof ring.header))
        log->told = (struct posix_generation){trace->generation, stream.generation};
    return error;
}

// What was put is free. Until a gap is told, what lies in front of it is not, since the ring keeps
// when the gap began; unless nothing follows, for which the writer may wait.
static void free_put(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_reader *r = &trace->reader;
    bool gap = r->gap != POSIX_NO_GAP;
    if (gap && r->at != r->block.head) {
        log->at = log->end;
        return;
    }
    log->at = log->end = r->at;
    if (r->begun)
        posix_log_release(trace);
}

int posix_log_put_program(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    see_program(trace);
    if (!log->placed || log->full)
        return 0;
    return note_put(log, extract_log_put_program(log->writer, log->entry, NULL),
                    EXTRACT_LOG_PROGRAM, LOG_PROGRAM_PAYLOAD);
}

int posix_log_put(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct extract_log_block block = {
        .type = EXTRACT_LOG_BYTES, .length = log->used, .count = log->count, .first = log->number};
    if (log->used)
        turn(log);
    int error = log->used ? put_block(trace, &block, log->block) : 0;
    if (error)
        return error;
    log->number += log->count;
    log->had += log->taken;
    log->section_used += log->used;
    log->gap_told &= !log->used; // what lies behind it is, too
    log->room -= log->used < log->room ? log->used : log->room;
    log->used = log->count = log->taken = 0;
    log->put_stamp = log->stamp;
    if (log->trouble_taken)
        log->trouble = 0;
    log->trouble_taken = false;
    free_put(trace);
    return 0;
}

int posix_log_put_mark(struct posix_trace *trace, enum extract_log_mark kind)
{
    struct posix_log *log = trace->log;
    int error = posix_log_put(trace);
    const struct extract_log_block block = {
        .type = EXTRACT_LOG_MARK, .kind = (uint16_t)kind, .first = log->number};
    return error || log->full ? error : put_block(trace, &block, NULL);
}

int posix_log_put_loss(struct posix_trace *trace, enum extract_log_loss kind, uint32_t lost,
                       bool is_exact)
{
    struct posix_log *log = trace->log;
    int error = posix_log_put(trace);
    const struct extract_log_block block = {.type = EXTRACT_LOG_LOSS,
                                            .kind = (uint16_t)kind,
                                            .lost = lost,
                                            .modulo = is_exact ? 0 : EXTRACT_LOG_ANY_MORE,
                                            .first = log->number + lost};
    if (error || log->full)
        return error;
    error = put_block(trace, &block, NULL);
    if (!error)
        log->number += lost;
    return error;
}

int posix_log_put_facts(struct posix_trace *trace, const struct posix_trace_status_info *status,
                        bool final)
{
    uint8_t payload[LOG_ATTRIBUTES];
    struct posix_log_settings facts = {.status = *status, .final = final};
    const struct extract_log_block block = {.type = EXTRACT_LOG_ATTRIBUTES,
                                            .length = sizeof payload};
    int error = posix_ring_attr(trace, &facts.attr);
    posix_log_facts_encode(payload, &facts);
    return error ? error : put_block(trace, &block, payload);
}

// ---- names ----

// The names of user event types, in slots that are cut to what a name may have here.
static uint32_t read_names(struct posix_trace *trace)
{
    const struct posix_block *block = &trace->target->block;
    uint32_t used = block->names_claimed ? block->names_room : block->names_used;
    uint32_t most = POSIX_SET_IDS - POSIX_USER, count = used < most ? used : most;
    uint8_t *to = trace->log->names;
    extract_log_store(to, LOG_NAME_BYTES, 4);
    extract_log_store(to + 4, POSIX_USER, 4);
    memset(to + NAMES_HEAD, 0, (size_t)count * LOG_NAME_BYTES);
    for (uint32_t i = 0; i < count; i++)
        posix_ring_name(trace, POSIX_USER + i, (char *)to + NAMES_HEAD + i * LOG_NAME_BYTES);
    return NAMES_HEAD + count * LOG_NAME_BYTES;
}

int posix_log_put_names(struct posix_trace *trace)
{
    struct posix_log *log = trace->log;
    const struct posix_block *block = &trace->target->block;
    int error = posix_target_look(trace->target);
    bool same = log->named && block->names_used == log->names_used &&
                block->names_claimed == log->names_claimed;
    if (error || same)
        return error;
    const struct extract_log_block names = {.type = EXTRACT_LOG_NAMES, .length = read_names(trace)};
    error = put_block(trace, &names, log->names);
    log->named = !error;
    log->names_used = block->names_used;
    log->names_claimed = block->names_claimed;
    return error;
}

// ---- records ----

// A record without data of its own, but for a number where one is wanted.
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

static void append(struct posix_log *log, const uint8_t *bytes, uint32_t length,
                   trace_event_id_t id, uint64_t stamp)
{
    memcpy(log->block + log->used, bytes, length);
    log->used += length;
    log->count++;
    log->stamp = stamp;
    log->last = id;
}

// Ends a log that has no room for more: its last event is that the system stopped it.
static int end_log(struct posix_trace *trace)
{
    static const uint32_t by_itself = 1;
    struct posix_log *log = trace->log;
    uint8_t bytes[MAX_MADE];
    if (log->last != POSIX_ID_STOP && log->used < LOG_BLOCK_ROOM - MAX_MADE)
        append(
            log, bytes,
            make_record(bytes, &trace->reader.block.layout, POSIX_ID_STOP, log->stamp, &by_itself),
            POSIX_ID_STOP, log->stamp);
    int error = posix_log_put_mark(trace, EXTRACT_MARK_FULL);
    log->full |= !error;
    return error;
}

static bool has_room(const struct posix_trace *trace, uint32_t length)
{
    const struct posix_log *log = trace->log;
    uint64_t bytes = (uint64_t)log->used + length;
    return !has_limit(trace) || (bytes <= log->room && extract_log_size(bytes) <= log->budget);
}

// What a log that is full does not take is lost.
static int take(struct posix_trace *trace, const uint8_t *bytes, uint32_t length,
                trace_event_id_t id, uint64_t stamp)
{
    struct posix_log *log = trace->log;
    int error = log->full || has_room(trace, length) ? 0 : end_log(trace);
    if (error)
        return error;
    if (log->full)
        log->overrun = true;
    else
        append(log, bytes, length, id, stamp);
    return 0;
}

int posix_log_take(struct posix_trace *trace, const struct posix_record *record,
                   const uint8_t *bytes, bool *put)
{
    struct posix_log *log = trace->log;
    uint32_t length = record->words * 4;
    *put = log->used && log->used + length > block_most(log);
    int error = *put ? posix_log_put(trace) : 0;
    if (!error)
        error = take(trace, bytes, length, record->id, record->stamp);
    if (error)
        return error;
    log->end = trace->reader.at += record->words;
    log->taken++;
    return 0;
}

int posix_log_make(struct posix_trace *trace, trace_event_id_t id, uint64_t stamp,
                   const uint32_t *number)
{
    uint8_t bytes[MAX_MADE];
    uint32_t length = make_record(bytes, &trace->reader.block.layout, id, stamp, number);
    if (trace->wants.filter.ringside_words[0] >> id & 1 || trace->log->full)
        return 0;
    int error = trace->log->used + length > LOG_BLOCK_BYTES ? posix_log_put(trace) : 0;
    return error ? error : take(trace, bytes, length, id, stamp);
}
