// SPDX-License-Identifier: MIT
// formats/threadx: rebuilds a ring whose header is damaged, without the kernel's variables, from
// its entries and its registry.
//
// Entries are recognized by the ids of events, by thread and priority, and by their regular
// distance. The registry ends where they begin. The write position is the first slot that was never
// written; in a ring that has wrapped, the place where time goes the other way.
//
// Source: docs/formats/threadx.md, "Damaged headers".
#include "formats/threadx/threadx.h"
#include "memory/images.h"
#include <stdlib.h>

enum {
    SHAPES = 4,           // byte orders, and sizes of words
    CREDIBLE = 8,         // entries in a row that are no coincidence
    WINDOW = 256 * 1024,  // bytes that are searched at once
    ENTRY_MOST = 64,      // bytes of an entry
    MOST_OBJECTS = 65536, // slots of a registry
    MOST_UNUSED = 1024,   // slots of a registry that follow one another and were never used
    NAME = 32,            // bytes of a name, unless the kernel was configured otherwise
    LONGEST_NAME = 128,
    USER_EVENTS = 4096, // first id of a user event
    LAST_EVENT = 65535,
    MOST_TYPE = 64,        // number of a type of objects
    FIRST_POINTER = 0x100, // no control block is below
    OBJECT_WORDS = 4       // of a registry slot before the name
};
enum { OVERLAP = (CREDIBLE + 1) * ENTRY_MOST }; // bytes that two windows have in common

// Bits that are 0 in the word of an entry with two priorities.
#define NO_PRIORITY UINT64_C(0xFFFFFFFF7C00FC00)

struct shape {
    enum extract_byte_order order;
    unsigned word;
};

struct entries {
    uint64_t start, end; // of the written slots
    uint64_t current;    // the write position
};

// A search for entries of one shape.
struct search {
    struct shape shape;
    uint64_t zeros, isr, init; // as this host reads them: NO_PRIORITY, and the words of no thread
    struct entries entries;    // of the newest run
    unsigned found;            // runs
    uint64_t next;             // address from which the search goes on
};

// ---- entries ----

static bool is_priority(uint64_t word)
{
    return !(word & NO_PRIORITY);
}

static bool is_entry(const uint8_t *bytes, const struct shape *shape)
{
    struct extract_cursor c =
        extract_cursor_make(bytes, threadx_entry_bytes(shape->word), shape->order);
    uint64_t thread = extract_cursor_word(&c, shape->word);
    uint64_t priority = extract_cursor_word(&c, shape->word);
    // Most words are no entry's: without branches, which would be mispredicted.
    bool is_context = (thread == THREADX_IN_ISR) | (thread == THREADX_IN_INIT);
    bool is_thread = (thread >= FIRST_POINTER) & (thread % 4 == 0) & is_priority(priority);

    if (!(is_context | is_thread))
        return false;
    uint64_t id = extract_cursor_word(&c, shape->word);
    uint32_t event = (uint32_t)id & 0xFFFF;
    return id >> 32 == 0 && !(id & 0x00FF0000) && event &&
           (event >= USER_EVENTS ? event <= LAST_EVENT : threadx_type(event)->id == event);
}

// Returns the timestamp of an entry.
static uint64_t stamp_of(const uint8_t *bytes, const struct shape *shape)
{
    struct extract_cursor c =
        extract_cursor_make(bytes, threadx_entry_bytes(shape->word), shape->order);

    extract_cursor_seek(&c, 3 * shape->word);
    return extract_cursor_word(&c, shape->word);
}

// Returns a word of a memory as this host reads it.
static uint64_t as_on_host(uint64_t value, const struct shape *shape)
{
    struct extract_cursor c;
    uint8_t bytes[8];

    extract_store(bytes, value, shape->word, shape->order);
    c = extract_cursor_make(bytes, shape->word, EXTRACT_HOST_BIG ? EXTRACT_BIG : EXTRACT_LITTLE);
    return extract_cursor_word(&c, shape->word);
}

static struct search search_for(struct shape shape)
{
    return (struct search){.shape = shape,
                           .zeros = as_on_host(NO_PRIORITY, &shape),
                           .isr = as_on_host(THREADX_IN_ISR, &shape),
                           .init = as_on_host(THREADX_IN_INIT, &shape)};
}

// Returns whether no entry begins in the bytes of one entry, by the bits of priorities alone, or by
// the words that replace a thread: a quick test that few words pass.
static bool is_without_entries(const struct search *search, const uint8_t *bytes)
{
    enum { STARTS_4 = 8, STARTS_8 = 16 }; // where an entry may begin, every 4 bytes
    uint64_t zeros = search->zeros, isr = search->isr, init = search->init;
    unsigned may_be = 0;

    for (unsigned i = 0; search->shape.word == 4 && i < STARTS_4; i++) {
        uint32_t words[2];
        memcpy(words, bytes + (size_t)4 * i, sizeof words);
        may_be |= (unsigned)(!(words[1] & (uint32_t)zeros) | (words[0] == (uint32_t)isr) |
                             (words[0] == (uint32_t)init));
    }
    for (unsigned i = 0; search->shape.word == 8 && i < STARTS_8; i++) {
        uint64_t words[2];
        memcpy(words, bytes + (size_t)4 * i, sizeof words);
        may_be |= (unsigned)(!(words[1] & zeros) | (words[0] == isr) | (words[0] == init));
    }
    return !may_be;
}

// Returns whether no run of CREDIBLE entries begins in the next CREDIBLE * size bytes: each of them
// would have an entry in the last `size` ones.
static bool is_without_runs(const struct search *search, const uint8_t *bytes, size_t length)
{
    uint32_t size = threadx_entry_bytes(search->shape.word);
    size_t last = (CREDIBLE - 1) * size, at = last;

    if (length < last + 2 * size)
        return false;
    if (is_without_entries(search, bytes + last))
        return true;
    while (at < last + size && !is_entry(bytes + at, &search->shape))
        at += 4;
    return at == last + size;
}

// Continues a search in a window of memory that begins at an address.
static void search_window(struct search *search, const uint8_t *bytes, size_t length,
                          uint64_t address)
{
    const struct shape *shape = &search->shape;
    struct entries *entries = &search->entries;
    uint32_t size = threadx_entry_bytes(shape->word);
    size_t i = search->next > address ? (size_t)(search->next - address) : 0;

    while (i + size <= length && i < WINDOW) {
        struct extract_cursor c = extract_cursor_make(bytes + i, length - i, shape->order);
        extract_cursor_skip_zeros(&c);
        i += c.at;
        // Continued from the window before:
        bool is_more = search->found && entries->end == address + i;
        if (!is_more && is_without_runs(search, bytes + i, length - i)) {
            i += CREDIBLE * size;
            continue;
        }
        size_t k = i;
        while (k + size <= length && is_entry(bytes + k, shape))
            k += size;
        if (k - i >= CREDIBLE * size || (is_more && k > i)) {
            entries->start = is_more ? entries->start : address + i;
            entries->end = address + k;
            search->found += !is_more;
            i = k;
        } else {
            i += 4;
        }
    }
    search->next = address + i;
}

// Finds the runs of entries of each shape in a memory, which is read once.
static void find_entries(struct extract_memory *memory, const struct extract_rebuild *where,
                         struct search *searches, unsigned count)
{
    uint8_t *bytes = malloc(WINDOW + OVERLAP);

    for (uint64_t at = where->from; bytes && at < where->to;) {
        uint64_t data = extract_memory_skip_holes(memory, at, where->to);
        at += (data - at) / 4 * 4;
        size_t got = 0, most = WINDOW + OVERLAP;
        size_t wanted = where->to - at < most ? (size_t)(where->to - at) : most;
        (void)extract_memory_read(memory, at, bytes, wanted, &got, NULL);
        for (unsigned i = 0; i < count; i++)
            search_window(&searches[i], bytes, got, at);
        if (got < wanted || wanted < most) // a hole, or the end
            break;
        at += WINDOW;
    }
    free(bytes);
}

// Finds where time goes the other way. Returns false if it does so nowhere, or at several places.
static bool find_seam(const uint8_t *bytes, size_t count, const struct shape *shape, size_t *seam)
{
    size_t forward = 0, backward = 0, last_forward = 0, last_backward = 0;
    uint32_t size = threadx_entry_bytes(shape->word);

    for (size_t i = 1; i < count; i++) {
        uint64_t step = stamp_of(bytes + i * size, shape) - stamp_of(bytes + (i - 1) * size, shape);
        bool is_back = shape->word == 8 ? step >> 63 : (uint32_t)step >> 31;
        if (is_back) {
            backward++;
            last_backward = i;
        } else if (step) {
            forward++;
            last_forward = i;
        }
    }
    *seam = backward < forward ? last_backward : last_forward;
    return (backward < forward ? backward : forward) == 1;
}

static bool find_current(struct extract_memory *memory, const struct shape *shape,
                         struct entries *entries)
{
    uint32_t size = threadx_entry_bytes(shape->word);
    size_t length = (size_t)(entries->end - entries->start), got = 0, seam = 0;
    uint8_t next[ENTRY_MOST] = {0}, zeros[ENTRY_MOST] = {0};
    uint8_t *bytes = length <= EXTRACT_RING_LIMIT ? malloc(length) : NULL;
    bool is_good = bytes && !extract_memory_read(memory, entries->start, bytes, length, &got, NULL);

    if (is_good && find_seam(bytes, length / size, shape, &seam)) {
        entries->current = entries->start + seam * size;
    } else if (is_good) {
        // The slots that follow were never written.
        is_good = !extract_memory_read(memory, entries->end, next, size, &got, NULL) &&
                  memcmp(next, zeros, size) == 0;
        entries->current = entries->end;
        entries->end += size;
    }
    free(bytes);
    return is_good;
}

// ---- the registry ----

// Returns whether a slot holds an object (*is_used), or was never used.
static bool is_object(const uint8_t *bytes, const struct shape *shape, uint32_t name_bytes,
                      bool *is_used)
{
    struct extract_cursor c =
        extract_cursor_make(bytes, OBJECT_WORDS * shape->word + name_bytes, shape->order);
    uint8_t available = extract_cursor_u8(&c), type = extract_cursor_u8(&c);

    extract_cursor_seek(&c, shape->word);
    uint64_t address = extract_cursor_word(&c, shape->word);
    extract_cursor_seek(&c, OBJECT_WORDS * shape->word);
    const uint8_t *name = extract_cursor_span(&c, name_bytes);
    size_t length = 0;

    *is_used = type && address;
    if (available > 1 || type > MOST_TYPE || (type && (address < FIRST_POINTER || address % 4)))
        return false;
    while (length < name_bytes && name[length] >= ' ' && name[length] < 0x7F)
        length++;
    return length == name_bytes || !name[length];
}

// Counts the slots before the entries, up to the first one that is used.
static uint32_t count_objects(struct extract_memory *memory, const struct shape *shape,
                              uint64_t from, uint64_t entries, uint32_t name_bytes)
{
    uint32_t size = threadx_object_bytes(shape->word, name_bytes), count = 0, used = 0;
    uint8_t bytes[OBJECT_WORDS * 8 + LONGEST_NAME];
    size_t got;
    bool is_used;

    while (count < MOST_OBJECTS && count - used < MOST_UNUSED &&
           entries - from >= (uint64_t)(count + 1) * size &&
           !extract_memory_read(memory, entries - (uint64_t)(count + 1) * size, bytes, size, &got,
                                NULL) &&
           is_object(bytes, shape, name_bytes, &is_used)) {
        count++;
        used = is_used ? count : used;
    }
    return used;
}

// ---- the header ----

// Writes the header again. What is left of the old one contains the significant bits of timestamps.
static bool write_header(struct extract_ring *ring, struct extract_memory *memory,
                         const struct shape *shape, const struct entries *entries, uint32_t objects,
                         uint32_t name_bytes)
{
    uint64_t registry =
        entries->start - (uint64_t)objects * threadx_object_bytes(shape->word, name_bytes);
    uint64_t address = registry - threadx_header_bytes(shape->word);
    const uint64_t all = shape->word == 8 ? UINT64_MAX : UINT32_MAX;
    struct threadx_header old = {.id = 0};
    uint8_t bytes[EXTRACT_HEADER_MAX] = {0};
    size_t got = 0;

    (void)extract_memory_read(memory, address, bytes, threadx_header_bytes(shape->word), &got,
                              NULL);
    (void)threadx_header_read(&old, bytes, sizeof bytes, shape->order, shape->word);
    bool is_mask = old.mask >= UINT16_MAX && !(old.mask & (old.mask + 1));
    const struct threadx_header header = {.id = THREADX_ID,
                                          .mask = is_mask ? old.mask : all,
                                          .base = address & all,
                                          .registry_start = registry & all,
                                          .name_bytes = name_bytes,
                                          .registry_end = entries->start & all,
                                          .entries_start = entries->start & all,
                                          .entries_end = entries->end & all,
                                          .current = entries->current & all,
                                          .reserved2 = 0xAAAAAAAA,
                                          .reserved3 = 0xBBBBBBBB,
                                          .reserved4 = 0xCCCCCCCC};
    ring->word_bytes = (uint8_t)shape->word;
    ring->byte_order = shape->order;
    if (threadx_ring_fill(ring, &header, address, true, NULL))
        return false;
    threadx_header_write(ring->header, &header, shape->order, shape->word);
    return true;
}

bool threadx_rebuild(struct extract_ring *ring, struct extract_memory *memory,
                     struct extract_symbols *symbols, const struct extract_rebuild *where)
{
    enum extract_byte_order known =
        symbols ? extract_symbols_byte_order(symbols) : EXTRACT_ORDER_UNKNOWN;
    struct search searches[SHAPES] = {0};
    unsigned count = 0;

    for (unsigned i = 0; i < SHAPES; i++) {
        const struct shape shape = {i & 1 ? EXTRACT_BIG : EXTRACT_LITTLE, i & 2 ? 8 : 4};
        if (!known || known == shape.order)
            searches[count++] = search_for(shape);
    }
    find_entries(memory, where, searches, count);
    for (unsigned i = 0; i < count; i++) {
        const struct shape shape = searches[i].shape;
        struct entries entries = searches[i].entries;
        uint32_t best = 0, best_name = NAME;
        if (searches[i].found != 1 || !find_current(memory, &shape, &entries))
            continue;
        // The usual length of names first, then 8, 12 … 128.
        for (uint32_t at = 0; 4 * (at + 1) <= LONGEST_NAME; at++) {
            uint32_t name = at ? 4 * (at + 1) : NAME;
            uint32_t objects = count_objects(memory, &shape, where->from, entries.start, name);
            if (objects > best) {
                best = objects;
                best_name = name;
            }
            if (at == 0 && objects > 1)
                break;
        }
        if (write_header(ring, memory, &shape, &entries, best, best_name))
            return true;
    }
    return false;
}

// Returns whether the significant bits of timestamps are not ones in a row.
bool threadx_contradicts(const struct extract_ring *ring, struct extract_memory *memory)
{
    (void)memory;
    return ring->timer_mask < UINT16_MAX || ring->timer_mask & (ring->timer_mask + 1);
}
