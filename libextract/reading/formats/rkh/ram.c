// SPDX-License-Identifier: MIT
// formats/rkh: finds the ring in RAM, and reads its live words, which are separate variables of the
// firmware.
//
// Source: docs/formats/rkh.md, "The ring".
#include "formats/rkh/rkh.h"
#include "memory/memory_hooks.h"
#include "symbols/dwarf.h"
#include <stdio.h>

enum { MAX_SIZE = 1 << 20, WINDOW = 64, WORDS = 4 };

static const char array_name[] = "trcstm";

// ---- The words ----

struct word {
    uint64_t address;
    unsigned bytes;
    uint64_t value;
};

// Reads words; with one read if they are close together.
static bool read_words(struct extract_memory *memory, enum extract_byte_order order,
                       struct word *words, unsigned count)
{
    uint64_t low = words[0].address, high = low;
    uint8_t bytes[WINDOW];
    size_t got;

    for (unsigned i = 0; i < count; i++) {
        uint64_t end = words[i].address + words[i].bytes;
        low = words[i].address < low ? words[i].address : low;
        high = end > high ? end : high;
    }
    bool window = high - low <= WINDOW &&
                  !extract_memory_read(memory, low, bytes, (size_t)(high - low), &got, NULL);
    for (unsigned i = 0; i < count; i++) {
        uint64_t at = words[i].address;
        if (!window && extract_memory_read(memory, at, bytes, words[i].bytes, &got, NULL))
            return false;
        const uint8_t *from = bytes + (window ? at - low : 0);
        words[i].value = 0;
        for (unsigned k = 0; k < words[i].bytes; k++)
            words[i].value |= (uint64_t)from[k]
                              << 8 * (order == EXTRACT_BIG ? words[i].bytes - 1 - k : k);
    }
    return true;
}

// ---- Their meaning ----

// Converts a pointer to a position in the array; the end is the start. Returns false if it does not
// point into the array.
static bool find_offset(const struct rkh_live *live, uint64_t pointer, uint32_t *offset)
{
    if (pointer < live->start || pointer - live->start > live->size)
        return false;
    *offset = (uint32_t)(pointer - live->start) % live->size;
    return true;
}

// Sets the positions from the words that read_live_words read. Returns false if a pointer does not
// point into the array. The writer updates the count after it stores a byte, and moves the reader's
// pointer last; its own pointer is right.
static bool set_positions(struct rkh_live *live, const struct word *words)
{
    uint32_t in, out, size = live->size;
    uint64_t count = words[2].value;

    if (!find_offset(live, words[0].value, &in) || !find_offset(live, words[1].value, &out))
        return false;
    live->head += (in + size - live->head % size) % size;
    live->pending = (in + size - out) % size;
    if (count >= size || (!live->pending && count > size / 2))
        live->pending = size;
    live->chk = (uint8_t)words[3].value;
    return true;
}

static bool read_live_words(struct extract_memory *memory, enum extract_byte_order order,
                            struct rkh_live *live, struct word words[WORDS])
{
    const struct word wanted[WORDS] = {{live->in_at, live->pointer_bytes, 0},
                                       {live->out_at, live->pointer_bytes, 0},
                                       {live->qty_at, live->qty_bytes, 0},
                                       {live->chk_at, 1, 0}};

    memcpy(words, wanted, sizeof wanted);
    return read_words(memory, order, words, live->chk_known ? WORDS : WORDS - 1);
}

// Reads the newest bytes before the head. A writer that wraps overwrites them last.
static bool read_anchor(struct extract_memory *memory, const struct rkh_live *live,
                        uint8_t anchor[sizeof live->anchor])
{
    uint32_t capacity = sizeof live->anchor, at = live->head % live->size;
    uint32_t length = at < capacity ? at : capacity;
    size_t got = 0;

    memset(anchor, 0, capacity);
    return !length ||
           !extract_memory_read(memory, live->start + at - length, anchor, length, &got, NULL);
}

bool rkh_read_live(struct extract_memory *memory, const struct extract_ring *ring, uint8_t *header)
{
    struct rkh_live live = rkh_live_of(header);
    struct word words[WORDS];
    uint8_t anchor[sizeof live.anchor];

    if (live.stream || live.dump)
        return true;
    if (!read_live_words(memory, ring->byte_order, &live, words) ||
        !read_anchor(memory, &live, anchor))
        return false;
    live.generation += memcmp(anchor, live.anchor, sizeof anchor) != 0;
    if (!set_positions(&live, words) || !read_anchor(memory, &live, live.anchor))
        return false;
    rkh_live_store(header, &live);
    return true;
}

bool rkh_read_counters(const struct extract_ring *ring, const uint8_t *header,
                       struct extract_ring_counters *counters)
{
    struct rkh_live live = rkh_live_of(header);

    (void)ring;
    *counters =
        (struct extract_ring_counters){.tail = live.head - (live.dump ? live.valid : live.size),
                                       .head = live.head,
                                       .generation = live.generation,
                                       .has_no_counts = true,
                                       .tail_may_be_inside_entry = true,
                                       .full = !live.stream && live.pending == live.size};
    return true;
}

uint64_t rkh_pointer(const struct extract_ring *ring, unsigned *bytes)
{
    struct rkh_live live = rkh_live_of(ring->header);

    *bytes = live.pointer_bytes;
    return live.in_at;
}

// ---- Finding the ring ----

static enum extract_code set_error(enum extract_code code, const char *what, const char *why,
                                   const char *hint, struct extract_error *error)
{
    return extract_error_set(error, code, what, hint, "%s", why);
}

static bool find_word(struct extract_symbols *symbols, const char *name, uint64_t *address,
                      uint8_t *bytes)
{
    struct extract_symbol symbol;

    if (!extract_symbols_by_name(symbols, name, &symbol))
        return false;
    *address = symbol.address;
    if (symbol.size == 1 || symbol.size == 2 || symbol.size == 4 || symbol.size == 8)
        *bytes = (uint8_t)symbol.size;
    return true;
}

// Returns whether the firmware has functions of the trace. They are global, so `strip -x` leaves
// them.
static bool has_trace(const struct extract_symbols *symbols)
{
    static const char prefix[] = "rkh_trc_";
    struct extract_symbol symbol;

    for (size_t i = 0; extract_symbols_at(symbols, i, &symbol); i++)
        if (strncmp(symbol.name, prefix, sizeof prefix - 1) == 0)
            return true;
    return false;
}

bool rkh_is_meant(const struct extract_ring *ring, const struct extract_symbols *symbols)
{
    const struct extract_rkh *rkh = &ring->rkh;
    bool is_requested = rkh->view != EXTRACT_RKH_VIEW_AUTO || *rkh->signals;

    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        is_requested |= rkh->from[key] >= EXTRACT_RKH_CONFIG;
    return is_requested || has_trace(symbols);
}

enum extract_code rkh_explain_missing(const struct extract_symbols *symbols,
                                      struct extract_error *error)
{
    if (!extract_symbols_count(symbols))
        return set_error(
            EXTRACT_NOTFOUND, array_name, "the ELF file is stripped: it has no symbols",
            "use the ELF file from before 'strip'; the ring is found by local symbols", error);
    if (has_trace(symbols))
        return set_error(
            EXTRACT_NOTFOUND, array_name, "the ELF file has RKH's trace, but not its local symbols",
            "use the ELF file from before 'strip -x', or build it without '-Wl,-x'", error);
    return set_error(EXTRACT_NOTFOUND, array_name, "the ELF file has no such symbol",
                     "build the firmware with RKH's trace, and do not strip it", error);
}

static enum extract_code find_words(struct rkh_live *live, struct extract_symbols *symbols,
                                    struct extract_error *error)
{
    struct extract_symbol array;
    uint8_t chk_bytes = 0;

    if (!extract_symbols_by_name(symbols, array_name, &array))
        return rkh_explain_missing(symbols, error);
    live->start = array.address;
    live->size = live->head = (uint32_t)array.size;
    live->pointer_bytes = (uint8_t)extract_symbols_pointer_bytes(symbols);
    live->qty_bytes = array.size < 255 ? 1 : 2;
    if (!array.size || array.size > MAX_SIZE)
        return set_error(EXTRACT_BAD, array_name,
                         "the ELF file gives this symbol an impossible size",
                         "check that this firmware runs", error);
    if (!find_word(symbols, "trcin", &live->in_at, &live->pointer_bytes) ||
        !find_word(symbols, "trcout", &live->out_at, &live->pointer_bytes) ||
        !find_word(symbols, "trcqty", &live->qty_at, &live->qty_bytes))
        return set_error(EXTRACT_NOTFOUND, "trcin, trcout, trcqty",
                         "the ELF file lacks one of these symbols",
                         "build the firmware with RKH's trace, and do not strip it", error);
    live->chk_known = find_word(symbols, "chk", &live->chk_at, &chk_bytes) && chk_bytes == 1;
    return EXTRACT_OK;
}

static enum extract_code check_words(struct extract_ring *ring, struct extract_memory *memory,
                                     struct rkh_live *live, struct extract_error *error)
{
    struct word words[WORDS];

    if (!read_live_words(memory, ring->byte_order, live, words)) {
        uint8_t byte;
        size_t at = 0, got;
        while (at + 1 < WORDS &&
               !extract_memory_read(memory, words[at].address, &byte, 1, &got, NULL))
            at++;
        set_error(EXTRACT_UNREADABLE, "RKH ring", "pointers cannot be read",
                  "check that the dump is complete, or that the target responds", error);
        if (error)
            error->where = words[at].address;
        return EXTRACT_UNREADABLE;
    }
    if (!words[0].value && !words[1].value)
        return set_error(EXTRACT_ABSENT, "RKH trace", "never initialized (trcin is 0)",
                         "try again after rkh_trc_init", error);
    if (!set_positions(live, words))
        return set_error(EXTRACT_BAD, "RKH ring", "trcin or trcout does not point into trcstm",
                         "check that this firmware runs", error);
    if (!read_anchor(memory, live, live->anchor))
        memset(live->anchor, 0, sizeof live->anchor);
    return EXTRACT_OK;
}

static void fill_ring(struct extract_ring *ring, const struct rkh_live *live,
                      struct extract_memory *memory)
{
    uint64_t end = live->start + live->size;

    ring->format = &extract_format_rkh;
    ring->address = live->start;
    ring->length = live->size;
    ring->word_bytes = 4;
    ring->timer_mask = UINT32_MAX;
    ring->registry = (struct extract_slots){live->start, live->start, 0, 0};
    ring->entries = (struct extract_slots){live->start, end, 0, 0};
    if (ring->rkh.view == EXTRACT_RKH_VIEW_AUTO)
        ring->rkh.view =
            extract_memory_is_running(memory) ? EXTRACT_RKH_PENDING : EXTRACT_RKH_HISTORY;
    rkh_live_store(ring->header, live);
}

enum extract_code rkh_find(struct extract_ring *ring, struct extract_memory *memory,
                           struct extract_symbols *symbols, struct extract_error *error)
{
    struct rkh_live live = {0};
    enum extract_code code = find_words(&live, symbols, error);

    ring->byte_order = extract_symbols_byte_order(symbols);
    ring->pointer_bytes = live.pointer_bytes;
    if (!code)
        code = check_words(ring, memory, &live, error);
    if (!code)
        fill_ring(ring, &live, memory);
    return code;
}

enum extract_code rkh_read_ring(struct extract_ring *ring, struct extract_memory *memory,
                                struct extract_symbols *symbols, uint64_t address,
                                struct extract_error *error)
{
    struct extract_symbol array;

    if (rkh_stream_at(ring, memory, address) || rkh_dump_at(ring, memory, address))
        return EXTRACT_OK;
    if (symbols && extract_symbols_by_name(symbols, array_name, &array) && array.address == address)
        return rkh_find(ring, memory, symbols, error);
    return set_error(EXTRACT_NOTFOUND, "memory", "no array of an RKH ring there",
                     "pass the firmware with --elf", error);
}
