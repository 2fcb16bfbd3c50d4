// SPDX-License-Identifier: MIT
// formats/hook: rebuilds a damaged control block from its intact words, and from the records.
//
// A record has no position of its own, but its length leads to the next one. The longest chain of
// records in the buffer begins at the tail and ends at the head, where the remains of an old record
// follow. Without any word of the control block, a single chain in the memory is the ring.
//
// Source: docs/formats/hook.md, "Damage".
#include "formats/hook/hook.h"
#include "memory/memory_hooks.h"
#include "memory/images.h"
#include <stdlib.h>

enum {
    CREDIBLE = 4,           // records in a row that are no coincidence in a buffer
    CREDIBLE_ALONE = 16,    // the same in any memory
    CPUS = 16,              // processors that are believed without a control block
    MOST_BUFFER = 16 << 20, // bytes of a buffer that is rebuilt
    MOST_CHECKED = 1 << 20, // bytes of a buffer whose records are all compared with the head
    WINDOW = 256 * 1024,    // bytes that are searched at once
    FIRST_BYTES = WINDOW + EXTRACT_HOOKS_HEADER // a window, and a control block that begins in it
};

// A buffer, and a chain of records in it.
struct buffer {
    uint64_t start; // its address
    uint32_t size;
    uint8_t *bytes; // followed by a copy of its start
    enum extract_byte_order order;
    struct hook_limits limits;
    uint32_t tail, length, records; // of the chain: an offset, and bytes
    uint64_t highest_stamp;
    uint32_t longest; // record, in bytes
    uint32_t cpus;    // that the records contain
    bool has_wide;    // hook words or numbers of 64 bits
};

static uint32_t word_at(const uint8_t *bytes, unsigned at, enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(bytes + at, 4, order);

    return extract_cursor_u32(&c);
}

static bool is_power(uint32_t value)
{
    return value && !(value & (value - 1));
}

// ---- the chain of records ----

static bool record_at(const struct buffer *buffer, uint32_t offset, struct hook_record *record)
{
    uint32_t left = buffer->size < HOOK_MAX_RECORD ? buffer->size : HOOK_MAX_RECORD;

    return hook_record_read(record, buffer->bytes + offset, left, buffer->order, buffer->limits);
}

// Follows the records from an offset on. Returns their bytes, at most `most`.
static uint32_t follow(const struct buffer *buffer, uint32_t from, uint32_t most, uint32_t *records)
{
    struct hook_record record;
    uint32_t length = 0;

    for (*records = 0; length < most; ++*records) {
        if (!record_at(buffer, (from + length) % buffer->size, &record) ||
            length + record.length > most)
            break;
        length += record.length;
    }
    return length;
}

// Finds where time goes back in a buffer that is full of records. Returns false if it does so
// nowhere, or at several places.
static bool find_seam(const struct buffer *buffer, uint32_t from, uint32_t *seam)
{
    struct hook_record record;
    uint64_t before = 0;
    unsigned found = 0;
    bool has_before = false;

    for (uint32_t at = 0; at <= buffer->size; at += record.length) {
        uint32_t offset = (from + at) % buffer->size;
        if (!record_at(buffer, offset, &record))
            return false;
        if (!(record.frame & HOOK_FRAME_STAMP))
            continue;
        bool is_wide = record.frame & HOOK_FRAME_STAMP_8;
        uint64_t step = record.stamp - before;
        bool is_back = is_wide ? step >> 63 : (uint32_t)step >> 31;
        if (has_before && is_back) {
            *seam = offset;
            found++;
        }
        before = record.stamp;
        has_before = true;
    }
    return found == 1;
}

// Finds the longest chain. Each offset is followed once: what leads into a chain that was followed
// has the length of that one, too.
static bool find_chain(struct buffer *buffer)
{
    uint32_t count = buffer->size / 4, records;
    uint32_t *length = calloc(count, sizeof *length), *path = malloc(count * sizeof *path);
    bool is_full = false;

    buffer->length = 0;
    for (uint32_t from = 0; length && path && from < count && !is_full; from++) {
        struct hook_record record;
        uint32_t depth = 0, at = from, total = 0;
        while (!length[at] && depth < count && record_at(buffer, at * 4, &record)) {
            path[depth++] = at;
            length[at] = UINT32_MAX; // on this path
            at = (at + record.length / 4) % count;
        }
        is_full = length[at] == UINT32_MAX;
        total = is_full ? 0 : length[at];
        while (depth && !is_full) {
            uint32_t offset = path[--depth];
            total += ((at + count - offset) % count) * 4;
            length[offset] = total;
            at = offset;
            if (total <= buffer->size && total > buffer->length) {
                buffer->length = total;
                buffer->tail = offset * 4;
            }
        }
        if (is_full && find_seam(buffer, at * 4, &buffer->tail))
            buffer->length = buffer->size;
    }
    free(length);
    free(path);
    (void)follow(buffer, buffer->tail, buffer->length, &records);
    buffer->records = records;
    return records >= CREDIBLE;
}

// Learns from the records what the control block stated.
static void sum_up(struct buffer *buffer)
{
    struct hook_record record;

    for (uint32_t at = 0; at < buffer->length; at += record.length) {
        if (!record_at(buffer, (buffer->tail + at) % buffer->size, &record))
            break;
        uint32_t cpu = record.frame >> 24;
        buffer->longest = record.length > buffer->longest ? record.length : buffer->longest;
        buffer->cpus = cpu >= buffer->cpus ? cpu + 1 : buffer->cpus;
        buffer->highest_stamp =
            record.stamp > buffer->highest_stamp ? record.stamp : buffer->highest_stamp;
        buffer->has_wide |= (record.frame & (HOOK_FRAME_WIDE | HOOK_FRAME_TID_8)) != 0;
    }
}

// Loads a buffer. The caller frees its bytes.
static bool load(struct buffer *buffer, struct extract_memory *memory)
{
    size_t slack = buffer->size < HOOK_MAX_RECORD ? buffer->size : HOOK_MAX_RECORD, got = 0;

    buffer->bytes = malloc(buffer->size + slack);
    if (!buffer->bytes ||
        extract_memory_read(memory, buffer->start, buffer->bytes, buffer->size, &got, NULL)) {
        free(buffer->bytes);
        buffer->bytes = NULL;
        return false;
    }
    memcpy(buffer->bytes + buffer->size, buffer->bytes, slack);
    return true;
}

// ---- the control block ----

// A control block that is damaged.
struct block {
    uint64_t address;
    uint8_t bytes[EXTRACT_HOOKS_HEADER]; // as they are
    enum extract_byte_order order;
    bool is_intact; // most constant words are: then others are believed, too
};

// Returns how many of the four constant words of a control block are intact.
static unsigned count_intact(const uint8_t *bytes, enum extract_byte_order order)
{
    uint32_t size = word_at(bytes, EXTRACT_HOOKS_AT_BUFFER_BYTES, order);
    const bool intact[] = {extract_hooks_order(bytes, EXTRACT_HOOKS_HEADER) == order,
                           word_at(bytes, EXTRACT_HOOKS_AT_VERSION, order) == EXTRACT_HOOKS_VERSION,
                           word_at(bytes, EXTRACT_HOOKS_AT_HEADER_BYTES, order) ==
                               EXTRACT_HOOKS_HEADER,
                           is_power(size) && size >= HOOK_MIN_BUFFER};
    unsigned count = 0;

    for (size_t i = 0; i < sizeof intact / sizeof *intact; i++)
        count += intact[i];
    return count;
}

// Writes the control block again, with those of its words that are credible.
static bool write_block(struct extract_ring *ring, const struct block *block,
                        const struct buffer *buffer, unsigned pointer_bytes)
{
    enum extract_byte_order order = buffer->order;
    const uint8_t *old = block->bytes;
    uint32_t bits = word_at(old, EXTRACT_HOOKS_AT_CLOCK_BITS, order),
             cpus = word_at(old, EXTRACT_HOOKS_AT_CPUS, order);
    uint32_t word_bytes = word_at(old, EXTRACT_HOOKS_AT_WORD_BYTES, order),
             flags = word_at(old, EXTRACT_HOOKS_AT_FLAGS, order);
    bool has_bits = block->is_intact && bits >= 16 && bits <= 64 &&
                    !(bits < 64 && buffer->highest_stamp >> bits);
    bool has_cpus = block->is_intact && cpus >= buffer->cpus && cpus && cpus <= CPUS;
    bool has_words = block->is_intact && (word_bytes == 4 || word_bytes == 8);
    // A tail other than 0 shows that the ring may have wrapped.
    bool is_full = buffer->size - buffer->length < buffer->longest;
    uint32_t tail = buffer->tail || !is_full ? buffer->tail : buffer->size;
    const struct {
        unsigned at;
        uint32_t value;
    } words[] = {{EXTRACT_HOOKS_AT_MAGIC, EXTRACT_HOOKS_MAGIC},
                 {EXTRACT_HOOKS_AT_VERSION, EXTRACT_HOOKS_VERSION},
                 {EXTRACT_HOOKS_AT_HEADER_BYTES, EXTRACT_HOOKS_HEADER},
                 {EXTRACT_HOOKS_AT_BUFFER_BYTES, buffer->size},
                 {EXTRACT_HOOKS_AT_FLAGS, (block->is_intact ? flags & HOOK_FLAG_KEEPS_OLDEST : 0) |
                                              (has_cpus ? 0 : HOOK_FLAG_CPUS_SEEN)},
                 {EXTRACT_HOOKS_AT_CLOCK_HZ,
                  block->is_intact ? word_at(old, EXTRACT_HOOKS_AT_CLOCK_HZ, order) : 0},
                 {EXTRACT_HOOKS_AT_CLOCK_BITS, has_bits                      ? bits
                                               : buffer->highest_stamp >> 32 ? 64
                                                                             : 32},
                 {EXTRACT_HOOKS_AT_HEAD, tail + buffer->length},
                 {EXTRACT_HOOKS_AT_TAIL, tail},
                 {EXTRACT_HOOKS_AT_RECORDS, buffer->records},
                 {EXTRACT_HOOKS_AT_WORD_BYTES, pointer_bytes      ? pointer_bytes
                                               : has_words        ? word_bytes
                                               : buffer->has_wide ? 8
                                                                  : 4},
                 {EXTRACT_HOOKS_AT_CPUS, has_cpus ? cpus : buffer->cpus}};

    memset(ring->header, 0, sizeof ring->header);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        extract_store(ring->header + words[i].at, words[i].value, 4, order);
    ring->byte_order = order;
    return !hook_make_ring(ring, buffer->start - EXTRACT_HOOKS_HEADER, NULL);
}

// Returns whether the positions of a control block are those of more than a chain in its buffer:
// then the damage is in the buffer.
static bool contains_chain(const struct block *block, const struct buffer *buffer)
{
    uint32_t head = word_at(block->bytes, EXTRACT_HOOKS_AT_HEAD, block->order);
    uint32_t tail = word_at(block->bytes, EXTRACT_HOOKS_AT_TAIL, block->order);
    uint32_t offset = (buffer->tail - tail) % buffer->size;
    bool is_valid =
        count_intact(block->bytes, block->order) == 4 && head - tail <= buffer->size &&
        head % 4 == 0 && tail % 4 == 0 &&
        word_at(block->bytes, EXTRACT_HOOKS_AT_BUFFER_BYTES, block->order) == buffer->size;

    return is_valid && head - tail > buffer->length && offset + buffer->length <= head - tail;
}

// Tries the size that the control block or the variable states, and then all others.
static bool rebuild_block(struct extract_ring *ring, struct extract_memory *memory,
                          const struct block *block, uint64_t end, unsigned pointer_bytes)
{
    uint64_t start = block->address + EXTRACT_HOOKS_HEADER;
    uint32_t stated = word_at(block->bytes, EXTRACT_HOOKS_AT_BUFFER_BYTES, block->order);
    uint32_t cpus = word_at(block->bytes, EXTRACT_HOOKS_AT_CPUS, block->order);
    struct buffer best = {.size = 0};

    if (!block->is_intact || !is_power(stated))
        stated = 0;
    for (uint32_t size = HOOK_MIN_BUFFER; size <= MOST_BUFFER && size <= end - start; size *= 2) {
        struct buffer one = {
            .start = start,
            .size = size,
            .order = block->order,
            .limits = {block->is_intact && cpus && cpus <= CPUS ? cpus : CPUS, false}};
        if (!load(&one, memory))
            break;
        bool is_better = find_chain(&one) && (one.length > best.length ||
                                              (size == stated && one.length == best.length));
        if (is_better)
            sum_up(&one);
        free(one.bytes);
        one.bytes = NULL;
        if (is_better)
            best = one;
    }
    return best.size && !contains_chain(block, &best) &&
           write_block(ring, block, &best, pointer_bytes);
}

// ---- a ring without a control block ----

// Returns whether a word and the next one may begin a record: a quick test that few other words
// pass. The upper bits of the processor, the bit of a board and the lower bits of the length are 0.
EXTRACT_INLINED static bool may_begin(uint32_t raw, uint32_t next, bool swap)
{
    const uint32_t zeros = ~(CPUS - 1u) << 24 | HOOK_FRAME_BOARD | 3;

    return !(raw & (swap ? __builtin_bswap32(zeros) : zeros)) & ((raw | next) != 0);
}

// Returns the bytes of a chain that is credible without a control block; 0: there is none.
static size_t chain_at(const uint8_t *bytes, size_t length, enum extract_byte_order order)
{
    const struct hook_limits limits = {CPUS, false};
    struct hook_record record;
    unsigned records = 0, stamped = 0;
    uint64_t stamp = 0;
    size_t at = 0;

    for (; at < length &&
           hook_record_read(&record, bytes + at, (uint32_t)(length - at), order, limits);
         at += record.length) {
        bool has_stamp = record.frame & HOOK_FRAME_STAMP;
        if (has_stamp && record.stamp < stamp)
            break;
        stamp = has_stamp ? record.stamp : stamp;
        stamped += has_stamp;
        records++;
    }
    return records >= CREDIBLE_ALONE && stamped > records / 2 ? at : 0;
}

// A search for the chains of records of one byte order that are credible by their length and by
// timestamps that ascend.
struct search {
    enum extract_byte_order order;
    uint64_t start, end; // of the newest chain
    unsigned found;      // chains
    uint64_t next;       // address from which the search goes on
};

// Continues a search in a window of memory that begins at an address.
static void search_window(struct search *search, const uint8_t *bytes, size_t got, uint64_t at)
{
    size_t i = search->next > at ? (size_t)(search->next - at) : 0;

    while (i < got && i < WINDOW) {
        struct extract_cursor c = extract_cursor_make(bytes + i, got - i, search->order);
        bool is_begin = extract_cursor_find_words(&c, may_begin);
        i += c.at;
        if (!is_begin || i >= WINDOW)
            break;
        size_t length = chain_at(bytes + i, got - i, search->order);
        if (length && search->found && search->end == at + i) { // continued from the window before
            search->end += length;
        } else if (length) {
            search->start = at + i;
            search->end = at + i + length;
            search->found++;
        }
        i += length ? length : 4;
    }
    search->next = at + i;
}

// Returns whether a word at `at` is the version or the size of a control block of which at most one
// word is damaged, and where that begins.
static bool is_block_around(const uint8_t *bytes, size_t length, size_t at, struct block *block)
{
    static const uint8_t offsets[] = {EXTRACT_HOOKS_AT_VERSION, EXTRACT_HOOKS_AT_HEADER_BYTES};

    for (unsigned i = 0; i < 2 * sizeof offsets; i++) {
        size_t offset = offsets[i / 2];
        if (at < offset || length - (at - offset) < EXTRACT_HOOKS_HEADER)
            continue;
        block->order = i % 2 ? EXTRACT_BIG : EXTRACT_LITTLE;
        block->address = at - offset;
        if (count_intact(bytes + at - offset, block->order) >= 3)
            return true;
    }
    return false;
}

// Finds a control block of which one word is damaged in a window of memory.
static bool find_block(const uint8_t *bytes, size_t length, struct block *block)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);

    for (; extract_cursor_find(&c, EXTRACT_HOOKS_VERSION, EXTRACT_HOOKS_HEADER); c.at += 4)
        if (is_block_around(bytes, length, c.at, block))
            return true;
    return false;
}

// Finds a control block of which one word is damaged, or else the chains of each byte order. The
// memory is read once. Returns false if there is no such block.
static bool find_remains(struct extract_memory *memory, const struct extract_rebuild *where,
                         struct block *block, struct search *searches, unsigned count)
{
    uint8_t *bytes = malloc(WINDOW + HOOK_MAX_RECORD);
    bool is_found = false;

    for (uint64_t at = where->from; bytes && at < where->to; at += WINDOW) {
        uint64_t data = extract_memory_skip_holes(memory, at, where->to);
        at += (data - at) / 4 * 4;
        size_t got = 0, most = WINDOW + HOOK_MAX_RECORD;
        size_t wanted = where->to - at < most ? (size_t)(where->to - at) : most;
        (void)extract_memory_read(memory, at, bytes, wanted, &got, NULL);
        // The bytes after the window are those of blocks that begin in it.
        is_found = find_block(bytes, got < FIRST_BYTES ? got : FIRST_BYTES, block);
        block->address += is_found ? at : 0;
        for (unsigned i = 0; i < count && !is_found; i++)
            search_window(&searches[i], bytes, got, at);
        if (is_found || got < wanted || wanted < most) // a hole, or the end
            break;
    }
    free(bytes);
    return is_found;
}

// A single chain is a ring that has not wrapped: its buffer is as long as the chain, at least.
static bool rebuild_alone(struct extract_ring *ring, struct extract_memory *memory,
                          const struct search *search, unsigned pointer_bytes)
{
    struct block block = {.order = search->order};
    struct buffer buffer = {.start = search->start,
                            .size = HOOK_MIN_BUFFER,
                            .order = search->order,
                            .limits = {CPUS, false}};

    if (search->found != 1 || search->end - search->start > MOST_BUFFER)
        return false;
    while (buffer.size < search->end - search->start)
        buffer.size *= 2;
    uint32_t size = buffer.size;
    buffer.size = (uint32_t)(search->end - search->start);
    if (buffer.start < EXTRACT_HOOKS_HEADER || !load(&buffer, memory))
        return false;
    buffer.length = follow(&buffer, 0, buffer.size, &buffer.records);
    sum_up(&buffer);
    buffer.size = size;
    free(buffer.bytes);
    return write_block(ring, &block, &buffer, pointer_bytes);
}

// ---- members of extract_format ----

static bool rebuild_at(struct extract_ring *ring, struct extract_memory *memory,
                       struct block *block, uint64_t end, enum extract_byte_order known,
                       unsigned pointer_bytes)
{
    size_t got;

    if (end - block->address < EXTRACT_HOOKS_HEADER + HOOK_MIN_BUFFER ||
        extract_memory_read(memory, block->address, block->bytes, sizeof block->bytes, &got, NULL))
        return false;
    for (unsigned i = 0; i < 2; i++) {
        block->order = i ? EXTRACT_BIG : EXTRACT_LITTLE;
        block->is_intact = count_intact(block->bytes, block->order) >= 3;
        if ((!known || known == block->order) &&
            rebuild_block(ring, memory, block, end, pointer_bytes))
            return true;
    }
    return false;
}

bool hook_rebuild(struct extract_ring *ring, struct extract_memory *memory,
                  struct extract_symbols *symbols, const struct extract_rebuild *where)
{
    enum extract_byte_order known =
        symbols ? extract_symbols_byte_order(symbols) : EXTRACT_ORDER_UNKNOWN;
    unsigned pointer_bytes = symbols ? extract_symbols_pointer_bytes(symbols) : 0;
    struct block block = {.address = where->from};

    struct search searches[2] = {0};
    unsigned count = 0;

    for (unsigned i = 0; i < 2; i++) {
        enum extract_byte_order order = i ? EXTRACT_BIG : EXTRACT_LITTLE;
        if (!known || known == order)
            searches[count++].order = order;
    }
    if (where->is_header || find_remains(memory, where, &block, searches, count))
        return rebuild_at(ring, memory, &block, where->to, known, pointer_bytes);
    for (unsigned i = 0; i < count; i++)
        if (rebuild_alone(ring, memory, &searches[i], pointer_bytes))
            return true;
    return false;
}

bool hook_contradicts(const struct extract_ring *ring, struct extract_memory *memory)
{
    const uint8_t *header = ring->header;
    struct buffer buffer = {.start = ring->entries.start,
                            .size = (uint32_t)(ring->entries.end - ring->entries.start),
                            .order = ring->byte_order,
                            .limits = hook_limits_of(ring)};
    uint32_t tail = word_at(header, EXTRACT_HOOKS_AT_TAIL, ring->byte_order), records;
    uint32_t length = word_at(header, EXTRACT_HOOKS_AT_HEAD, ring->byte_order) - tail;
    uint32_t stated = word_at(header, EXTRACT_HOOKS_AT_RECORDS, ring->byte_order);
    uint32_t bits = word_at(header, EXTRACT_HOOKS_AT_CLOCK_BITS, ring->byte_order);

    if (!length != !stated)
        return true;
    if (buffer.size > MOST_CHECKED || !load(&buffer, memory))
        return false;
    buffer.tail = tail % buffer.size;
    buffer.length = follow(&buffer, buffer.tail, length, &records);
    sum_up(&buffer);
    free(buffer.bytes);
    return buffer.length != length || stated < records ||
           (bits < 64 && buffer.highest_stamp >> bits);
}
