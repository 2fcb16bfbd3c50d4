// SPDX-License-Identifier: MIT
// formats/threadx: finds the ring through the firmware's symbols, or reads it at a given address.
//
// The kernel has a pointer to the header. In firmware without that symbol, the header is searched
// before the entries, whose start another global contains.
//
// Source: docs/formats/threadx.md, "Finding the buffer": the globals of tx_trace_initialize.o.
#include "formats/threadx/threadx.h"
#include "symbols/dwarf.h"
#include <stdio.h>

enum {
    SCAN_BACK_BYTES = 1024 * 1024, // maximum distance of a header from its entries
    SCAN_BACK_CHUNK = 4096,
    SCAN_BACK_STEP = 4, // alignment of a header
    MAX_CORES = 256     // the top byte of an event id distinguishes this many
};

static const char hint_enable[] =
    "build the firmware with TX_ENABLE_EVENT_TRACE, or pass the header's address "
    "(--ring, in GDB: ringside set ring)";

// Returns the word size from the header's type in DWARF, or from a global that is one ULONG.
// Returns 0 if neither is there.
static unsigned find_word_bytes(struct extract_symbols *symbols)
{
    struct extract_symbol filter;
    uint64_t size;

    if (!symbols)
        return 0;
    if (extract_symbols_type_size(symbols, "TX_TRACE_HEADER", &size))
        return size == threadx_header_bytes(4) ? 4 : size == threadx_header_bytes(8) ? 8 : 0;
    if (!extract_symbols_by_name(symbols, "_tx_trace_event_enable_bits", &filter))
        return 0;
    return filter.size == 4 || filter.size == 8 ? (unsigned)filter.size : 0;
}

// Reads the header's bytes. How many to read first follows from the symbols. The header's own bytes
// then decide, because the symbols may be another firmware's.
static enum extract_code read_header_bytes(struct extract_ring *ring, struct extract_memory *memory,
                                           uint64_t address, struct extract_symbols *symbols,
                                           struct extract_error *error)
{
    enum extract_byte_order order;
    unsigned word = find_word_bytes(symbols);
    size_t got = 0, more = 0;

    if (!word)
        word = symbols && extract_symbols_pointer_bytes(symbols) == 8 ? 8 : 4;
    enum extract_code code =
        extract_memory_read(memory, address, ring->header, threadx_header_bytes(word), &got, error);

    if (code && got < threadx_header_bytes(4))
        return code;
    if (!threadx_header_sniff(ring->header, got, &order, &word)) {
        char what[64];
        snprintf(what, sizeof what, "memory at 0x%llx", (unsigned long long)address);
        return extract_error_set(error, EXTRACT_BAD, what,
                                 "check that this firmware runs and has started",
                                 "no ThreadX trace header there (id 0x54585442)");
    }
    ring->byte_order = order;
    ring->word_bytes = (uint8_t)word;
    size_t need = threadx_header_bytes(word);
    if (got >= need)
        return EXTRACT_OK;
    return extract_memory_read(memory, address + got, ring->header + got, need - got, &more, error);
}

static enum extract_code read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                   struct extract_symbols *symbols, uint64_t address,
                                   struct extract_error *error)
{
    struct threadx_header header;
    enum extract_code code = read_header_bytes(ring, memory, address, symbols, error);

    if (code)
        return code;
    threadx_header_read(&header, ring->header, sizeof ring->header, ring->byte_order,
                        ring->word_bytes);
    return threadx_ring_fill(ring, &header, address, false, error);
}

// Reads a pointer-sized global. Errors: NOTFOUND (no such symbol), UNREADABLE.
static enum extract_code read_global(struct extract_memory *memory,
                                     const struct extract_symbols *symbols, const char *name,
                                     uint64_t *value, struct extract_error *error)
{
    struct extract_symbol symbol;
    uint8_t bytes[8];
    size_t got, length = extract_symbols_pointer_bytes(symbols);

    if (!extract_symbols_by_name(symbols, name, &symbol))
        return extract_error_set(error, EXTRACT_NOTFOUND, name, hint_enable,
                                 "the ELF file has no such symbol");
    enum extract_code code =
        extract_memory_read(memory, symbol.address, bytes, length, &got, error);
    if (code)
        return code;
    struct extract_cursor c =
        extract_cursor_make(bytes, length, extract_symbols_byte_order(symbols));
    *value = extract_cursor_word(&c, (unsigned)length);
    return EXTRACT_OK;
}

// Finds the header without its symbol: it is before the entries, and before a registry of unknown
// length.
static enum extract_code find_header_before(struct extract_ring *ring,
                                            struct extract_memory *memory, uint64_t entries,
                                            struct extract_error *error)
{
    uint8_t bytes[SCAN_BACK_CHUNK + EXTRACT_HEADER_MAX], after[EXTRACT_HEADER_MAX] = {0};
    uint64_t limit = entries > SCAN_BACK_BYTES ? entries - SCAN_BACK_BYTES : 0;
    size_t chunk = SCAN_BACK_CHUNK, got;

    for (uint64_t end = entries; end > limit && chunk;) {
        size_t length = end - limit < chunk ? (size_t)(end - limit) : chunk;
        if (extract_memory_read(memory, end - length, bytes, length, &got, NULL)) {
            chunk = length / 2 / SCAN_BACK_STEP * SCAN_BACK_STEP; // the memory may start inside
            continue;
        }
        end -= length;
        memcpy(bytes + length, after, sizeof after);
        for (size_t next = length; next >= SCAN_BACK_STEP; next -= SCAN_BACK_STEP) {
            size_t at = next - SCAN_BACK_STEP;
            if (threadx_is_header(ring, bytes + at, length + sizeof after - at, end + at) &&
                ring->entries.start == entries)
                return EXTRACT_OK;
        }
        memcpy(after, bytes, sizeof after);
    }
    return extract_error_set(error, EXTRACT_NOTFOUND, "_tx_trace_buffer_start_ptr", hint_enable,
                             "no trace header within 1 MiB before the buffer at 0x%llx",
                             (unsigned long long)entries);
}

// Returns a global, or 0 if it is not there.
static uint64_t global_of(struct extract_memory *memory, const struct extract_symbols *symbols,
                          const char *name)
{
    uint64_t value;

    return read_global(memory, symbols, name, &value, NULL) ? 0 : value;
}

// Returns the bytes of a name in the registry: from its type, or from the number of its slots,
// which is a ULONG, in the kernel. Returns 0 if neither is known.
static uint32_t find_name_bytes(struct extract_memory *memory, struct extract_symbols *symbols,
                                unsigned word, uint64_t registry_bytes)
{
    struct extract_symbol symbol;
    uint64_t offset, size, slots;
    uint8_t bytes[8];
    size_t got;

    if (extract_symbols_member(symbols, "TX_TRACE_OBJECT_ENTRY", "tx_trace_object_entry_name",
                               &offset, &size) &&
        size && size <= THREADX_NAME_MAX)
        return (uint32_t)size;
    if (!extract_symbols_by_name(symbols, "_tx_trace_total_registry_entries", &symbol) ||
        extract_memory_read(memory, symbol.address, bytes, word, &got, NULL))
        return 0;
    struct extract_cursor c = extract_cursor_make(bytes, word, extract_symbols_byte_order(symbols));
    slots = extract_cursor_word(&c, word);
    size = slots ? registry_bytes / slots : 0;
    return size > 4 * word && size - 4 * word <= THREADX_NAME_MAX ? (uint32_t)(size - 4 * word) : 0;
}

// Returns the significant bits of timestamps from a damaged header, if they are ones in a row.
static uint64_t find_mask(const struct extract_ring *ring, unsigned word)
{
    struct threadx_header header;
    const uint64_t all = word == 8 ? UINT64_MAX : UINT32_MAX;

    bool is_read =
        threadx_header_read(&header, ring->header, sizeof ring->header, ring->byte_order, word);
    return is_read && header.mask >= UINT16_MAX && !(header.mask & (header.mask + 1)) ? header.mask
                                                                                      : all;
}

// Makes the header again whose bytes are damaged, from the kernel's variables. They must contain
// all that the header did, and agree with each other as in a header that a scan finds. Returns
// false if they do not. While a trace is disabled, the kernel does not have the write position.
static bool rebuild_header(struct extract_ring *ring, struct extract_memory *memory,
                           struct extract_symbols *symbols, uint64_t address)
{
    unsigned word = find_word_bytes(symbols);
    uint64_t registry = global_of(memory, symbols, "_tx_trace_registry_start_ptr");
    uint64_t entries = global_of(memory, symbols, "_tx_trace_buffer_start_ptr");
    uint64_t current = global_of(memory, symbols, "_tx_trace_buffer_current_ptr");

    if (!word || !address || !entries || !current ||
        registry != address + threadx_header_bytes(word))
        return false;
    uint64_t all = word == 8 ? UINT64_MAX : UINT32_MAX; // a header may hold lower halves only
    ring->word_bytes = (uint8_t)word;
    ring->byte_order = extract_symbols_byte_order(symbols);
    const struct threadx_header header = {
        .id = THREADX_ID,
        .mask = find_mask(ring, word),
        .base = address & all,
        .registry_start = registry & all,
        .name_bytes = find_name_bytes(memory, symbols, word, entries - registry),
        .registry_end = entries & all,
        .entries_start = entries & all,
        .entries_end = global_of(memory, symbols, "_tx_trace_buffer_end_ptr") & all,
        .current = current & all,
        .reserved2 = 0xAAAAAAAA,
        .reserved3 = 0xBBBBBBBB,
        .reserved4 = 0xCCCCCCCC};
    if (threadx_ring_fill(ring, &header, address, true, NULL))
        return false;
    threadx_header_write(ring->header, &header, ring->byte_order, word);
    ring->origin = EXTRACT_FROM_REBUILT;
    return true;
}

static enum extract_code locate_ring(struct extract_ring *ring, struct extract_memory *memory,
                                     struct extract_symbols *symbols, struct extract_error *error)
{
    uint64_t address;
    enum extract_code code = read_global(memory, symbols, "_tx_trace_header_ptr", &address, error);
    bool by_header = code != EXTRACT_NOTFOUND;

    if (!by_header &&
        read_global(memory, symbols, "_tx_trace_buffer_start_ptr", &address, NULL) == EXTRACT_OK)
        code = EXTRACT_OK;
    if (code)
        return code;
    if (!address)
        return extract_error_set(error, EXTRACT_ABSENT, "ThreadX event trace",
                                 "call tx_trace_enable in the firmware, or try again later",
                                 "tracing was never enabled (%s is 0)",
                                 by_header ? "_tx_trace_header_ptr" : "_tx_trace_buffer_start_ptr");
    code = by_header ? read_ring(ring, memory, symbols, address, error)
                     : find_header_before(ring, memory, address, error);
    if (code && !by_header) {
        address = global_of(memory, symbols, "_tx_trace_registry_start_ptr");
        address -= address ? threadx_header_bytes(find_word_bytes(symbols)) : 0;
    }
    return code && rebuild_header(ring, memory, symbols, address) ? EXTRACT_OK : code;
}

// Stores the addresses of the globals that contain the write position and the filter.
static void note_globals(struct extract_ring *ring, const struct extract_symbols *symbols)
{
    struct extract_symbol symbol;

    if (extract_symbols_by_name(symbols, "_tx_trace_buffer_current_ptr", &symbol))
        ring->current_symbol = symbol.address;
    if (extract_symbols_by_name(symbols, "_tx_trace_event_enable_bits", &symbol))
        ring->filter_symbol = symbol.address;
    ring->pointer_bytes = (uint8_t)extract_symbols_pointer_bytes(symbols);
}

enum extract_code threadx_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols, struct extract_error *error)
{
    enum extract_code code = locate_ring(ring, memory, symbols, error);

    if (!code)
        note_globals(ring, symbols);
    return code;
}

enum extract_code threadx_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols, uint64_t address,
                                    struct extract_error *error)
{
    uint64_t known;
    enum extract_code code = read_ring(ring, memory, symbols, address, error);

    // These globals belong to this ring only if they lead to it.
    if (!code && symbols &&
        read_global(memory, symbols, "_tx_trace_header_ptr", &known, NULL) == EXTRACT_OK &&
        known == address)
        note_globals(ring, symbols);
    return code;
}

// Returns whether the kernel's types in DWARF match the ring: the header's pointer has the width of
// a ULONG, and the name in a registry slot has the length of names. Types that are missing match.
static bool types_match(const struct extract_ring *ring, struct extract_symbols *symbols)
{
    uint64_t offset, size;

    if (extract_symbols_member(symbols, "TX_TRACE_HEADER", "tx_trace_header_buffer_current_pointer",
                               &offset, &size) &&
        (offset != ring->current_offset || size != ring->word_bytes))
        return false;
    return !extract_symbols_member(symbols, "TX_TRACE_OBJECT_ENTRY", "tx_trace_object_entry_name",
                                   &offset, &size) ||
           size == 0 || size == ring->name_bytes;
}

// Determines the number of cores. An SMP kernel has an array with the running thread of each core;
// a kernel for a single core has one pointer.
static void note_cores(struct extract_ring *ring, const struct extract_symbols *symbols)
{
    struct extract_symbol running;
    unsigned pointer = extract_symbols_pointer_bytes(symbols);

    if (!extract_symbols_by_name(symbols, "_tx_thread_current_ptr", &running) || !running.size ||
        running.size % pointer || running.size / pointer > MAX_CORES)
        return;
    ring->cores = (uint16_t)(running.size / pointer);
    ring->cores_from = EXTRACT_CORES_KERNEL;
}

void threadx_apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols)
{
    struct extract_symbol symbol;
    unsigned word = find_word_bytes(symbols);

    ring->pointer_bytes = (uint8_t)extract_symbols_pointer_bytes(symbols);
    ring->doubtful |= ring->byte_order != extract_symbols_byte_order(symbols) ||
                      (word && word != ring->word_bytes) || !types_match(ring, symbols);
    if (!ring->doubtful)
        note_cores(ring, symbols);
    if (ring->word_bytes != 4 || ring->pointer_bytes != 8)
        return;
    // A dump does not contain the upper half of addresses. That of the globals is the most likely.
    ring->near = ring->address;
    if (ring->near <= UINT32_MAX)
        ring->near =
            extract_symbols_by_name(symbols, "_tx_trace_header_ptr", &symbol) ? symbol.address : 0;
}

bool threadx_name_pointer(const struct extract_ring *ring, struct extract_memory *memory,
                          struct extract_symbols *symbols, uint64_t address, uint64_t *name)
{
    uint64_t offset, size;
    uint8_t bytes[8];
    size_t got;

    if (extract_memory_read(memory, address, bytes, ring->word_bytes, &got, NULL))
        return false;
    struct extract_cursor id = extract_cursor_make(bytes, ring->word_bytes, ring->byte_order);
    if (extract_cursor_word(&id, ring->word_bytes) != THREADX_THREAD_ID)
        return false;
    if (!extract_symbols_member(symbols, "TX_THREAD", "tx_thread_name", &offset, &size) ||
        (size != 4 && size != 8) ||
        extract_memory_read(memory, address + offset, bytes, (size_t)size, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, (size_t)size, ring->byte_order);
    *name = extract_cursor_word(&c, (unsigned)size);
    return *name != 0;
}
