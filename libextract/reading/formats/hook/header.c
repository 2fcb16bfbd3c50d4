// SPDX-License-Identifier: MIT
// formats/hook: finds the control block of a ring of hook words, and checks it before it is
// trusted.
//
// Source: docs/formats/hook.md, "The control block".
#include "formats/hook/hook.h"
#include "memory/memory_hooks.h"
#include <stdio.h>

enum { MAX_BUFFER = 1 << 28, MAX_CPUS = 256, READS = 4, POSITION_BYTES = 4 };

static const char symbol_name[] = "ringside_hooks";

struct header {
    uint32_t version, header_bytes, buffer_bytes, flags, clock_hz, clock_bits;
    uint32_t head, tail, records, lost, generation, word_bytes, cpus;
};

static void read_header(struct header *h, const uint8_t *bytes, enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(bytes, EXTRACT_HOOKS_HEADER, order);
    uint32_t *const words[] = {&h->version,  &h->header_bytes, &h->buffer_bytes, &h->flags,
                               &h->clock_hz, &h->clock_bits,   &h->head,         &h->tail,
                               &h->records,  &h->lost,         &h->generation,   &h->word_bytes,
                               &h->cpus};

    extract_cursor_seek(&c, EXTRACT_HOOKS_AT_VERSION);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        *words[i] = extract_cursor_u32(&c);
}

struct hook_limits hook_limits_of(const struct extract_ring *ring)
{
    struct header h;

    read_header(&h, ring->header, ring->byte_order);
    return (struct hook_limits){h.cpus, h.flags & HOOK_FLAG_BOARDS};
}

static bool has_valid_clock(const struct header *h)
{
    return h->clock_bits >= 16 && h->clock_bits <= 64;
}

static void apply_clock(struct extract_ring *ring, const struct header *h)
{
    ring->timer_mask = UINT64_MAX >> (64 - h->clock_bits);
    ring->hz = h->clock_hz;
}

bool hook_read_counters(const struct extract_ring *ring, const uint8_t *header,
                        struct extract_ring_counters *counters)
{
    struct header h;

    read_header(&h, header, ring->byte_order);
    bool holds = has_valid_clock(&h) && h.head % 4 == 0 && h.tail % 4 == 0;
    uint64_t size = ring->entries.end - ring->entries.start;
    *counters = (struct extract_ring_counters){.tail = h.tail,
                                               .head = h.head,
                                               .written = h.records,
                                               .lost = h.lost,
                                               .generation = h.generation,
                                               .running = h.flags & HOOK_FLAG_RUNS,
                                               .keeps_oldest = h.flags & HOOK_FLAG_KEEPS_OLDEST,
                                               .head_lapped_tail = holds && h.head - h.tail > size};
    return holds && !counters->head_lapped_tail;
}

// The clock settings are those of the header that was read together with the counters.
enum extract_code hook_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                               struct extract_error *error)
{
    struct header h;

    (void)from, (void)to, (void)error;
    read_header(&h, snapshot->ring.header, snapshot->ring.byte_order);
    apply_clock(&snapshot->ring, &h);
    return EXTRACT_OK;
}

static enum extract_code check_header(const struct header *h, uint64_t address,
                                      struct extract_error *error)
{
    uint64_t length = (uint64_t)EXTRACT_HOOKS_HEADER + h->buffer_bytes;
    const struct extract_check checks[] = {
        {h->version == EXTRACT_HOOKS_VERSION, "version", h->version, "only 1 is known"},
        {h->header_bytes == EXTRACT_HOOKS_HEADER, "header_bytes", h->header_bytes, "must be 64"},
        {h->buffer_bytes >= HOOK_MIN_BUFFER && h->buffer_bytes <= MAX_BUFFER &&
             !(h->buffer_bytes & (h->buffer_bytes - 1)),
         "buffer_bytes", h->buffer_bytes, "must be a power of two from 64 to 2^28"},
        {address + length > address, "buffer_bytes", h->buffer_bytes,
         "the ring would run past the end of the address space"},
        {has_valid_clock(h), "clock_bits", h->clock_bits, "must be from 16 to 64"},
        {h->word_bytes == 4 || h->word_bytes == 8, "word_bytes", h->word_bytes, "must be 4 or 8"},
        {h->cpus >= 1 && h->cpus <= MAX_CPUS, "cpus", h->cpus, "must be from 1 to 256"},
        {h->head % 4 == 0, "head", h->head, "not a multiple of 4"},
        {h->tail % 4 == 0, "tail", h->tail, "not a multiple of 4"},
        {h->head - h->tail <= h->buffer_bytes, "head - tail", h->head - h->tail,
         "more than buffer_bytes"},
    };

    return extract_checks_run(checks, sizeof checks / sizeof *checks, "hook ring", address, error);
}

enum extract_code hook_make_ring(struct extract_ring *ring, uint64_t address,
                                 struct extract_error *error)
{
    struct header h;

    read_header(&h, ring->header, ring->byte_order);
    enum extract_code code = check_header(&h, address, error);
    if (code)
        return code;
    uint64_t start = address + EXTRACT_HOOKS_HEADER, end = start + h.buffer_bytes;
    ring->format = &extract_format_hook;
    ring->address = address;
    ring->length = end - address;
    ring->header_bytes = EXTRACT_HOOKS_HEADER;
    ring->word_bytes = (uint8_t)h.word_bytes;
    ring->enabled = h.flags & HOOK_FLAG_RUNS;
    ring->enabled_known = true;
    ring->cores = (uint16_t)h.cpus;
    ring->cores_from = h.flags & HOOK_FLAG_CPUS_SEEN ? EXTRACT_CORES_SEEN : EXTRACT_CORES_HEADER;
    apply_clock(ring, &h);
    ring->registry = (struct extract_slots){start, start, 0, 0};
    ring->entries = (struct extract_slots){start, end, 0, 0};
    ring->current_offset = EXTRACT_HOOKS_AT_HEAD;
    return EXTRACT_OK;
}

static enum extract_code read_header_at(struct extract_ring *ring, struct extract_memory *memory,
                                        uint64_t address, struct extract_error *error)
{
    size_t got;
    enum extract_code code =
        extract_memory_read(memory, address, ring->header, EXTRACT_HOOKS_HEADER, &got, error);

    if (code)
        return code;
    ring->byte_order = extract_hooks_order(ring->header, EXTRACT_HOOKS_HEADER);
    if (ring->byte_order)
        return hook_make_ring(ring, address, error);
    char what[64];
    snprintf(what, sizeof what, "memory at 0x%llx", (unsigned long long)address);
    return extract_error_set(error, EXTRACT_NOTFOUND, what,
                             "check that this firmware runs and has started",
                             "no ring of hook words there (magic 0x4b4f4f48)");
}

enum extract_code hook_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                 struct extract_symbols *symbols, uint64_t address,
                                 struct extract_error *error)
{
    enum extract_code code = EXTRACT_BAD;
    uint8_t *head = ring->header + EXTRACT_HOOKS_AT_HEAD, before[POSITION_BYTES];

    (void)symbols;
    // A running writer moves head and tail while they are read.
    for (unsigned i = 0; code == EXTRACT_BAD && i < READS; i++) {
        memcpy(before, head, POSITION_BYTES);
        code = read_header_at(ring, memory, address, error);
        if (!extract_memory_is_running(memory))
            return code;
    }
    if (code != EXTRACT_BAD || memcmp(before, head, POSITION_BYTES) == 0)
        return code;
    // A writer that completes a lap between the two reads never shows a matching pair.
    memcpy(ring->header + EXTRACT_HOOKS_AT_TAIL, head, POSITION_BYTES);
    return hook_make_ring(ring, address, error);
}

enum extract_code hook_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                 struct extract_symbols *symbols, struct extract_error *error)
{
    static const uint8_t zeros[4];
    struct extract_symbol symbol;

    if (!extract_symbols_by_name(symbols, symbol_name, &symbol))
        return extract_error_set(error, EXTRACT_NOTFOUND, symbol_name,
                                 "build the firmware with the hook recorder, or pass the ring's "
                                 "address (--ring, in GDB: ringside set ring)",
                                 "the ELF file has no such symbol");
    enum extract_code code = hook_read_ring(ring, memory, symbols, symbol.address, error);
    if (code == EXTRACT_NOTFOUND && memcmp(ring->header, zeros, sizeof zeros) == 0)
        return extract_error_set(error, EXTRACT_ABSENT, "hook recorder",
                                 "start it in the firmware, or try again later",
                                 "never started (%s begins with 0)", symbol_name);
    return code == EXTRACT_NOTFOUND && error ? (error->code = EXTRACT_BAD) : code;
}

void hook_apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols)
{
    ring->pointer_bytes = (uint8_t)extract_symbols_pointer_bytes(symbols);
    ring->doubtful |= ring->byte_order != extract_symbols_byte_order(symbols);
}

bool hook_is_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                    uint64_t address)
{
    if (length < EXTRACT_HOOKS_HEADER || !extract_hooks_is(bytes, length))
        return false;
    memset(ring, 0, sizeof *ring);
    memcpy(ring->header, bytes, EXTRACT_HOOKS_HEADER);
    ring->byte_order = extract_hooks_order(bytes, length);
    return !hook_make_ring(ring, address, NULL);
}
