// SPDX-License-Identifier: MIT
// formats/posix: finds a stream through the firmware's symbols or at an address.
//
// The ring's address is that of its stream block. The process block, which may be missing in a
// dump, adds the names of event types.
//
// Source: docs/formats/posix-ring.md.
#include "formats/posix/posix.h"
#include "memory/memory_hooks.h"
#include <stdio.h>

enum { READS = 4, REALTIME_HZ = 1000000000 };

static const char symbol_name[] = "ringside_posix";

// Reads a process block. Returns false if there is none, or it is not valid.
static bool read_process_block(struct posix_block *block, struct extract_memory *memory,
                               uint64_t address)
{
    uint8_t bytes[POSIX_HEADER];
    size_t got;

    return !extract_memory_read(memory, address, bytes, sizeof bytes, &got, NULL) &&
           posix_block_read(block, bytes, sizeof bytes) && !posix_block_check(block, address, NULL);
}

static enum extract_code read_stream(struct extract_ring *ring, struct posix_stream *stream,
                                     struct extract_memory *memory, uint64_t address,
                                     struct extract_error *error)
{
    size_t got;
    char what[64];
    enum extract_code code =
        extract_memory_read(memory, address, ring->header, POSIX_HEADER, &got, error);

    if (code)
        return code;
    char *name = ring->posix.name;
    if (extract_memory_read(memory, address + POSIX_STREAM_AT_NAME, name, POSIX_STREAM_NAME, &got,
                            NULL)) // a memory may contain only the words of the stream block
        memset(name, 0, POSIX_STREAM_NAME);
    name[POSIX_STREAM_NAME - 1] = '\0';
    if (posix_stream_read(stream, ring->header, POSIX_HEADER))
        return posix_stream_check(stream, address, error);
    snprintf(what, sizeof what, "memory at 0x%llx", (unsigned long long)address);
    return extract_error_set(error, EXTRACT_BAD, what, "check that the dump is complete",
                             "no stream block there (magic 0x53525450)");
}

// Fills in the ring from the stream block in its `header`.
static void fill_ring(struct extract_ring *ring, const struct posix_stream *stream,
                      uint64_t address)
{
    uint64_t start = address - stream->back + stream->ring_at;
    uint64_t end = start + (uint64_t)stream->ring_words * 4;

    ring->format = &extract_format_posix;
    ring->address = address;
    ring->header_bytes = POSIX_HEADER;
    ring->byte_order = stream->layout.order;
    ring->word_bytes = ring->pointer_bytes = stream->layout.address_bytes;
    ring->enabled = stream->state & POSIX_STATE_RUNNING;
    ring->enabled_known = true;
    ring->timer_mask = UINT64_MAX >> (64 - stream->layout.stamp_bits);
    ring->hz = stream->layout.realtime ? REALTIME_HZ : stream->clock_hz;
    ring->registry = (struct extract_slots){start, start, 0, 0};
    ring->entries = (struct extract_slots){start, end, 0, 0};
    ring->current_offset = POSIX_STREAM_AT_HEAD;
    ring->length = posix_copy_length(ring);
}

enum extract_code posix_make_ring(struct extract_ring *ring, uint64_t address,
                                  struct extract_error *error)
{
    struct posix_stream stream;

    posix_stream_read(&stream, ring->header, POSIX_HEADER);
    enum extract_code code = posix_stream_check(&stream, address, error);
    if (!code)
        fill_ring(ring, &stream, address);
    return code;
}

void posix_add_process(struct extract_ring *ring, const struct posix_block *block, uint64_t address,
                       uint32_t number)
{
    uint64_t names = address + block->names_at;
    uint64_t bytes = (uint64_t)block->names_room * block->name_bytes;

    ring->posix.process = address;
    ring->posix.process_known = true;
    ring->posix.stream = number;
    ring->posix.streams = block->streams;
    ring->posix.ids = block->ids;
    ring->posix.pid = block->pid;
    ring->posix.entry = block->entry;
    ring->name_bytes = block->name_bytes;
    ring->registry =
        (struct extract_slots){names, names + bytes, block->name_bytes, block->names_room};
    ring->length = posix_copy_length(ring);
}

static uint64_t stream_address(const struct posix_block *block, uint64_t address, uint32_t number)
{
    return address + block->streams_at + (uint64_t)number * block->stream_bytes;
}

// Selects a stream: the one that the user requests, or the first bound one, or the first.
static enum extract_code select_stream(struct extract_ring *ring, struct extract_memory *memory,
                                       uint64_t address, const struct posix_block *block,
                                       struct extract_error *error)
{
    struct posix_stream stream;
    uint32_t number = ring->posix.wanted ? ring->posix.wanted - 1 : 0;

    if (number >= block->streams) {
        char what[32];
        snprintf(what, sizeof what, "stream %u", (unsigned)number);
        return extract_error_set(
            error, EXTRACT_USAGE, what, "run 'ringside info' to list the streams",
            "the traced process has streams 0 to %u", (unsigned)block->streams - 1);
    }
    for (uint32_t i = 0; !ring->posix.wanted && i < block->streams; i++)
        if (!read_stream(ring, &stream, memory, stream_address(block, address, i), NULL) &&
            stream.state & POSIX_STATE_BOUND) {
            number = i;
            break;
        }
    uint64_t at = stream_address(block, address, number);
    enum extract_code code = read_stream(ring, &stream, memory, at, error);
    if (!code && at - stream.back != address)
        code =
            extract_error_set(error, EXTRACT_BAD, "POSIX trace", "check that the dump is complete",
                              "stream %u belongs to another object", (unsigned)number);
    if (code)
        return code;
    fill_ring(ring, &stream, at);
    posix_add_process(ring, block, address, number);
    return EXTRACT_OK;
}

// Reads a stream block at an address, and the process block that it belongs to, if that is there.
static enum extract_code read_stream_block(struct extract_ring *ring, struct extract_memory *memory,
                                           uint64_t address, struct extract_error *error)
{
    struct posix_stream stream;
    struct posix_block block;
    enum extract_code code = read_stream(ring, &stream, memory, address, error);

    if (code)
        return code;
    uint64_t process = address - stream.back;
    uint32_t number = 0;
    bool has_process = read_process_block(&block, memory, process);
    if (has_process) {
        uint32_t distance = stream.back - block.streams_at;
        number = distance / block.stream_bytes;
        has_process = stream.back >= block.streams_at && distance % block.stream_bytes == 0 &&
                      number < block.streams;
    }
    if (has_process && ring->posix.wanted && ring->posix.wanted - 1 != number)
        return select_stream(ring, memory, process, &block, error);
    fill_ring(ring, &stream, address);
    if (has_process)
        posix_add_process(ring, &block, process, number);
    return EXTRACT_OK;
}

static enum extract_code read_block_at(struct extract_ring *ring, struct extract_memory *memory,
                                       uint64_t address, struct extract_error *error)
{
    struct posix_block block;
    size_t got;
    char what[64];
    enum extract_code code =
        extract_memory_read(memory, address, ring->header, POSIX_HEADER, &got, error);

    if (code)
        return code;
    if (extract_magic_order(ring->header, POSIX_HEADER, POSIX_STREAM_MAGIC))
        return read_stream_block(ring, memory, address, error);
    if (posix_block_read(&block, ring->header, POSIX_HEADER)) {
        code = posix_block_check(&block, address, error);
        return code ? code : select_stream(ring, memory, address, &block, error);
    }
    snprintf(what, sizeof what, "memory at 0x%llx", (unsigned long long)address);
    return extract_error_set(error, EXTRACT_NOTFOUND, what,
                             "check that this firmware runs and has started",
                             "no POSIX trace there (magic 0x43525450)");
}

enum extract_code posix_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                  struct extract_symbols *symbols, uint64_t address,
                                  struct extract_error *error)
{
    enum extract_code code = EXTRACT_BAD;

    (void)symbols;
    // A block that is being created while it is read may contradict itself.
    for (unsigned i = 0; code == EXTRACT_BAD && i < READS; i++) {
        code = read_block_at(ring, memory, address, error);
        if (!extract_memory_is_running(memory))
            break;
    }
    return code;
}

enum extract_code posix_find(struct extract_ring *ring, struct extract_memory *memory,
                             struct extract_symbols *symbols, struct extract_error *error)
{
    static const uint8_t zeros[4];
    struct extract_symbol symbol;

    if (!extract_symbols_by_name(symbols, symbol_name, &symbol))
        return extract_error_set(error, EXTRACT_NOTFOUND, symbol_name,
                                 "build the firmware with the POSIX trace recorder, or pass the "
                                 "ring's address (--ring, in GDB: ringside set ring)",
                                 "the ELF file has no such symbol");
    enum extract_code code = posix_read_ring(ring, memory, symbols, symbol.address, error);
    if (code == EXTRACT_NOTFOUND && memcmp(ring->header, zeros, sizeof zeros) == 0)
        return extract_error_set(error, EXTRACT_ABSENT, "POSIX trace recorder",
                                 "call ringside_trace_init in the firmware, or try again later",
                                 "never started (%s begins with 0)", symbol_name);
    return code == EXTRACT_NOTFOUND && error ? (error->code = EXTRACT_BAD) : code;
}

void posix_apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols)
{
    ring->doubtful |= ring->byte_order != extract_symbols_byte_order(symbols);
    if (ring->posix.entry)
        extract_symbols_move(symbols, ring->posix.entry);
}

// ---- Scanning ----

bool posix_is_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                     uint64_t address)
{
    struct posix_block block;
    struct posix_stream stream;

    memset(ring, 0, sizeof *ring);
    ring->address = address;
    ring->format = &extract_format_posix;
    if (posix_block_read(&block, bytes, length))
        return !posix_block_check(&block, address, NULL);
    return posix_stream_read(&stream, bytes, length) && !posix_stream_check(&stream, address, NULL);
}

static bool is_readable(struct extract_memory *memory, uint64_t address)
{
    uint8_t byte;
    size_t got;

    return !extract_memory_read(memory, address, &byte, 1, &got, NULL);
}

// A scan finds a stream block through its process block; only without that, by itself. One without
// its ring is a controller's copy, as on the stack of a program.
bool posix_complete(struct extract_ring *ring, struct extract_memory *memory)
{
    uint64_t address = ring->address;

    if (posix_read_ring(ring, memory, NULL, address, NULL))
        return false;
    if (ring->posix.process_known)
        return address != ring->address;
    return is_readable(memory, ring->entries.start) && is_readable(memory, ring->entries.end - 1);
}

// Describes the ring by the stream block up to its filters.
uint32_t posix_describe(const struct extract_ring *ring, uint8_t bytes[EXTRACT_DESCRIPTION_MAX])
{
    _Static_assert(POSIX_HEADER + POSIX_STREAM_NAME == (int)EXTRACT_DESCRIPTION_MAX, "all of it");
    _Static_assert(sizeof ring->posix.name == POSIX_STREAM_NAME, "names of streams");
    memcpy(bytes, ring->header, POSIX_HEADER);
    memcpy(bytes + POSIX_STREAM_AT_NAME, ring->posix.name, POSIX_STREAM_NAME);
    return POSIX_STREAM_AT_FILTER;
}

bool posix_read_counters(const struct extract_ring *ring, const uint8_t *header,
                         struct extract_ring_counters *counters)
{
    struct posix_stream s;
    bool holds = posix_stream_read(&s, header, POSIX_HEADER) &&
                 s.layout.order == ring->byte_order &&
                 s.ring_words * 4 == ring->entries.end - ring->entries.start;

    *counters = (struct extract_ring_counters){
        .tail = s.tail * 4,
        .head = s.head * 4,
        .written = s.recorded,
        .lost = s.refused,
        .overwritten = s.overwritten,
        .generation = s.generation,
        .running = s.state & POSIX_STATE_RUNNING,
        .has_overwritten_count = true,
        .full = posix_stream_is_full(&s),
        .head_lapped_tail = holds && !posix_stream_has_valid_positions(&s),
        .unbound = s.layout.shared && !(s.state & POSIX_STATE_BOUND)};
    return holds && !counters->head_lapped_tail;
}
