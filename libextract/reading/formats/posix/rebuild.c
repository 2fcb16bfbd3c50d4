// SPDX-License-Identifier: MIT
// formats/posix: rebuilds damaged blocks from the records of a ring, and from blocks that are
// intact.
//
// The first and the last word of a record contain its position and its length, so that records are
// found without their ring. Where they are, and their positions, determine the ring:
//
//     position 4500      5000 │ 4600     4999        the position drops at the head
//     ├─ newest ──────────────┼─ oldest ─────┤
//     start                  head, tail      end     start = address - 4 * (position % ring_words)
//
// Source: docs/formats/posix-ring.md, "Damaged blocks".
#include "formats/posix/posix.h"
#include "memory/images.h"
#include <stdlib.h>

enum {
    RUNS = 1024,         // most runs of records that are looked at
    CREDIBLE = 4,        // records in a row that are no coincidence
    WINDOW = 256 * 1024, // bytes that are searched at once
    POSITIONS = 1 << 16, // that the word of a record distinguishes
    LEAST_WORDS = 3,     // of a record
    HEAD_MOST = 40,      // bytes of a record before its data
    LEAST_SLOT = 32      // bytes of a name
};

static const char first_name[] = "posix_trace_unnamed_userevent";

// Records that follow each other, in their order in memory.
struct run {
    uint64_t address, end;
    uint32_t position; // of the first record, modulo POSITIONS
    uint32_t records;
    uint64_t first_stamp, last_stamp;
};

struct search {
    struct extract_memory *memory;
    enum extract_byte_order order;
    uint32_t heads[HEAD_MOST / 4 + 1]; // records, by the words before their data
    struct run list[RUNS];
    size_t count;
    uint64_t next; // address from which the search goes on
};

// The ring that the runs belong to.
struct found_ring {
    uint64_t start, bytes; // `bytes` of records that fit to it
    uint32_t words;
};

// ---- records ----

// Returns whether a record may begin at a word: a quick test that few other words pass. Between its
// first two words, which hold its length and that of its data, and its data are 20 to 40 bytes and,
// after the data, padding and the last word. The writer of a record that is cut may have died
// before it copied the data.
EXTRACT_INLINED static bool may_begin(uint32_t raw, uint32_t next, bool swap)
{
    enum { LEAST = 20 + 4, MOST = HEAD_MOST + 4 + 3, CUT = 1 << 28, STATE_AT = 30, DATA_AT = 16 };
    // Bytes are taken out one by one if they have to be swapped. Subtracting each of them is what
    // compilers do for several words at once; they would swap the bytes of single words.
    uint32_t bytes = swap ? (raw & 0xF) << 10 | (raw >> 8 & 0xFF) << 2 : (raw >> 16 & 0xFFF) << 2;
    uint32_t more =
        swap ? bytes - ((next & 0xFF) << 8) - (next >> 8 & 0xFF) : bytes - (next >> DATA_AT);
    uint32_t states = swap ? raw >> 7 ^ raw >> 6 : raw >> (STATE_AT + 1) ^ raw >> STATE_AT;
    uint32_t cut = swap ? __builtin_bswap32(CUT) : CUT, data = swap ? 0xFFFF : 0xFFFFu << DATA_AT;

    return (states & 1) &
           (uint32_t)((more - LEAST <= MOST - LEAST) | (((raw & cut) != 0) & ((next & data) == 0)));
}

// Returns the words of a record whose first and last word agree; 0: it is none. Its other words may
// be damaged.
static uint32_t tied_words(const uint8_t *bytes, size_t length, enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, order);
    uint32_t first = extract_cursor_u32(&c), second = extract_cursor_u32(&c);
    uint32_t words = posix_record_words(first, first);

    if (words < LEAST_WORDS || second >> 16 > words * 4 || (size_t)words * 4 > length)
        return 0;
    extract_cursor_seek(&c, (uint64_t)(words - 1) * 4);
    uint32_t last = extract_cursor_u32(&c);
    return posix_trailer_words(last, (first & 0xFFFF) + words) == words &&
                   (last & 0x0FFFFFFF) == (first & 0x0FFFFFFF)
               ? words
               : 0;
}

static uint32_t word_at(const uint8_t *bytes, enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(bytes, 4, order);

    return extract_cursor_u32(&c);
}

// Notes a record. Its second word has the bytes of its data, so that those before are known, too.
static void note_record(struct search *search, const uint8_t *bytes, uint64_t address,
                        uint32_t words)
{
    uint32_t position = word_at(bytes, search->order) & 0xFFFF;
    uint32_t data = (word_at(bytes + 4, search->order) >> 16) + 3;
    uint32_t before = words - 1 < data / 4 ? 0 : words - 1 - data / 4;
    struct run *run = search->count ? &search->list[search->count - 1] : NULL;

    if (before < sizeof search->heads / sizeof *search->heads)
        search->heads[before]++;
    if (run && run->end == address &&
        ((run->position + (run->end - run->address) / 4) & 0xFFFF) == position) {
        run->end += (uint64_t)words * 4;
        run->records++;
        return;
    }
    // A record by itself may be a coincidence: the next run takes its place.
    if (run && run->records < CREDIBLE && search->count == RUNS)
        search->count--;
    if (search->count < RUNS)
        search->list[search->count++] = (struct run){
            .address = address, .end = address + (uint64_t)words * 4, position, .records = 1};
}

// Returns where the records begin that end at an offset, not before `from`: those whose second word
// is damaged. Their last word has their length.
static size_t step_back(const uint8_t *bytes, size_t from, size_t at, enum extract_byte_order order)
{
    while (at - from >= 4 * LEAST_WORDS) {
        uint32_t words = word_at(bytes + at - 4, order) >> 16 & 0xFFF;
        size_t length = (size_t)words * 4;
        if (!words || length > at - from || tied_words(bytes + at - length, length, order) != words)
            break;
        at -= length;
    }
    return at;
}

// Continues a search in a window of memory that begins at an address.
static void search_window(struct search *search, const uint8_t *bytes, size_t length,
                          uint64_t address)
{
    size_t i = search->next > address ? (size_t)(search->next - address) : 0;

    while (i < length && i < WINDOW) {
        uint32_t words = tied_words(bytes + i, length - i, search->order);
        if (!words) {
            struct extract_cursor c = extract_cursor_make(bytes + i, length - i, search->order);
            c.at = length - i < 4 ? length - i : 4;
            bool is_found = extract_cursor_find_words(&c, may_begin);
            size_t at = is_found ? step_back(bytes, i, i + c.at, search->order) : i + c.at;
            i = at;
            if (!is_found || i >= WINDOW)
                break;
            words = tied_words(bytes + i, length - i, search->order);
        }
        if (words)
            note_record(search, bytes + i, address + i, words);
        i += (size_t)words * 4;
    }
    search->next = address + i;
}

// Finds an object in a window of memory by its process block, or by the block of a stream,
// whichever is intact. Returns false if there is none.
static bool find_object(const uint8_t *bytes, size_t length, uint64_t at, uint64_t *address)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    struct posix_block block;
    struct posix_stream stream;
    uint64_t start = 0;
    bool is_found = false;

    while (!is_found && extract_cursor_find(&c, POSIX_PROCESS_MAGIC, POSIX_STREAM_MAGIC) &&
           extract_cursor_left(&c) >= POSIX_HEADER) {
        size_t i = c.at;
        start = at + i;
        if (posix_block_read(&block, bytes + i, length - i)) {
            is_found = !posix_block_check(&block, at + i, NULL);
        } else if (posix_stream_read(&stream, bytes + i, length - i)) {
            is_found = !posix_stream_check(&stream, at + i, NULL);
            start -= stream.back;
        }
        c.at += 4;
    }
    *address = is_found ? start : *address;
    return is_found;
}

// Finds the records in a part of the memory, or, if `object` is not NULL, the first object, at
// which the search ends. The memory is read once. Returns false at an object, or if memory is
// short.
static bool find_runs(struct extract_memory *memory, struct search *searches, unsigned count,
                      const struct extract_rebuild *where, uint64_t *object)
{
    enum { FIRST_BYTES = WINDOW + POSIX_HEADER }; // a window, and a block that begins in it
    uint8_t *bytes = malloc(WINDOW + POSIX_MAX_RECORD);
    bool is_found = false, is_searched = bytes != NULL;

    for (uint64_t at = where->from; is_searched && at < where->to; at += WINDOW) {
        uint64_t data = extract_memory_skip_holes(memory, at, where->to);
        at += (data - at) / 4 * 4;
        size_t got = 0, most = WINDOW + POSIX_MAX_RECORD;
        size_t wanted = where->to - at < most ? (size_t)(where->to - at) : most;
        if (wanted)
            (void)extract_memory_read(memory, at, bytes, wanted, &got, NULL);
        is_found = object && find_object(bytes, got < FIRST_BYTES ? got : FIRST_BYTES, at, object);
        for (unsigned i = 0; i < count && !is_found; i++)
            search_window(&searches[i], bytes, got, at);
        if (is_found || got < wanted || wanted < most) // a hole, or the end
            break;
    }
    free(bytes);
    return is_searched && !is_found;
}

// Returns how many records a run must have to be no coincidence: fewer if there are only short
// runs, which then have to belong to one ring.
static uint32_t least_records(const struct search *search)
{
    uint32_t all = 0;

    for (size_t i = 0; i < search->count; i++) {
        if (search->list[i].records >= CREDIBLE)
            return CREDIBLE;
        all += search->list[i].records;
    }
    return all >= CREDIBLE ? 1 : UINT32_MAX;
}

// ---- layout ----

// Reads the timestamps of the runs by a layout. Returns how often time goes back, and how many
// records do not fit to it.
static size_t rate_layout(struct search *search, const struct posix_layout *layout)
{
    size_t faults = 0;
    uint8_t *bytes = malloc(POSIX_MAX_RECORD);

    for (size_t i = 0; bytes && i < search->count; i++) {
        struct run *run = &search->list[i];
        uint32_t position = run->position;
        bool is_first = true;
        for (uint64_t at = run->address; at < run->end;) {
            struct posix_record record;
            size_t got = 0, left = (size_t)(run->end - at);
            left = left < POSIX_MAX_RECORD ? left : POSIX_MAX_RECORD;
            (void)extract_memory_read(search->memory, at, bytes, left, &got, NULL);
            if (!posix_record_read(&record, bytes, (uint32_t)got, layout, position)) {
                faults += 2;
                if (record.words < LEAST_WORDS)
                    break;
            } else {
                faults += !is_first && record.stamp < run->last_stamp;
                run->first_stamp = is_first ? record.stamp : run->first_stamp;
                run->last_stamp = record.stamp;
                is_first = false;
            }
            at += (uint64_t)record.words * 4;
            position += record.words;
        }
    }
    free(bytes);
    return faults;
}

// Finds the layout of the records: that of an intact block, or the only one that fits.
static bool find_layout(struct search *search, const struct posix_layout *known,
                        unsigned pointer_bytes, struct posix_layout *layout)
{
    uint32_t head = 0;
    size_t best = SIZE_MAX;

    for (uint32_t i = 0; i < sizeof search->heads / sizeof *search->heads; i++)
        if (search->heads[i] > search->heads[head])
            head = i;
    if (known && posix_record_head(known) == head * 4 && !rate_layout(search, known)) {
        *layout = *known;
        return true;
    }
    for (unsigned i = 0; i < 8; i++) {
        struct posix_layout one = {.order = search->order,
                                   .address_bytes = i & 1 ? 8 : 4,
                                   .stamp_bits = i & 2 ? 64 : 32,
                                   .pids = i & 4};
        if (posix_record_head(&one) != head * 4 ||
            (pointer_bytes && pointer_bytes != one.address_bytes))
            continue;
        size_t faults = rate_layout(search, &one);
        if (faults < best)
            *layout = one;
        best = faults < best ? faults : best;
    }
    if (best != SIZE_MAX)
        (void)rate_layout(search, layout); // the timestamps of the runs are those of this layout
    return best != SIZE_MAX;
}

// ---- the ring ----

static bool fits_ring(const struct run *run, uint64_t start, uint32_t words)
{
    uint64_t size = (uint64_t)words * 4;
    uint32_t modulus = words < POSITIONS ? words : POSITIONS;

    return run->address >= start && run->end - start <= size &&
           (run->address - start) / 4 % modulus == run->position % modulus;
}

static uint64_t bytes_in(const struct search *search, uint32_t least, uint64_t start,
                         uint32_t words)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < search->count; i++)
        if (search->list[i].records >= least && fits_ring(&search->list[i], start, words))
            bytes += search->list[i].end - search->list[i].address;
    return bytes;
}

// Finds the smallest ring that most of the records fit to. `known` is what an intact word states.
static bool find_ring(const struct search *search, uint64_t from, const struct found_ring *known,
                      struct found_ring *ring)
{
    const struct run *longest = &search->list[0];
    uint32_t least = least_records(search);
    uint64_t all = 0, best = 0;

    for (size_t i = 0; i < search->count; i++) {
        const struct run *run = &search->list[i];
        all += run->records >= least ? run->end - run->address : 0;
        longest = run->end - run->address > longest->end - longest->address ? run : longest;
    }
    *ring = (struct found_ring){.words = 0};
    for (uint32_t words = POSIX_MIN_RING; words <= POSIX_MAX_RING; words *= 2) {
        uint32_t laps = words > POSITIONS ? words / POSITIONS : 1;
        uint32_t offset = longest->position % (words < POSITIONS ? words : POSITIONS);
        for (uint32_t lap = 0; lap < laps; lap++) {
            uint64_t before = ((uint64_t)lap * POSITIONS + offset) * 4;
            uint64_t start = longest->address - before;
            if (before > longest->address - from)
                break;
            uint64_t bytes = bytes_in(search, least, start, words);
            uint64_t with_short = bytes_in(search, 1, start, words);
            if (bytes > ring->bytes || (bytes == ring->bytes && with_short > best)) {
                *ring = (struct found_ring){start, bytes, words};
                best = with_short;
            }
        }
    }
    if (known->words && bytes_in(search, 1, known->start, known->words) >= best)
        *ring = (struct found_ring){known->start, ring->bytes, known->words};
    return all && ring->bytes == all; // otherwise there is more than one ring
}

// Leaves out runs that do not belong to the ring: they are coincidences.
static void keep_runs_of(struct search *search, const struct found_ring *ring)
{
    size_t kept = 0;

    for (size_t i = 0; i < search->count; i++)
        if (fits_ring(&search->list[i], ring->start, ring->words))
            search->list[kept++] = search->list[i];
    search->count = kept;
}

// Finds head and tail: between two neighbors in memory of which the first one is newer.
static void find_positions(const struct search *search, const struct found_ring *ring,
                           uint32_t *head, uint32_t *tail)
{
    const struct run *oldest = &search->list[0], *newest = &search->list[search->count - 1];

    for (size_t i = 0; i + 1 < search->count; i++) {
        const struct run *run = &search->list[i], *next = run + 1;
        uint32_t distance = (uint32_t)((next->address - run->address) / 4);
        bool is_seam = ring->words < POSITIONS
                           ? ((run->position + distance) & 0xFFFF) != next->position
                           : next->first_stamp < run->last_stamp;
        if (is_seam) {
            newest = run;
            oldest = next;
            break;
        }
    }
    uint32_t from = (uint32_t)((oldest->address - ring->start) / 4);
    uint32_t to = (uint32_t)((newest->end - ring->start) / 4);
    *tail = ring->words <= POSITIONS ? oldest->position : from;
    *head = *tail + (to > from ? to - from : to + ring->words - from);
}

// A record that passes the end of the ring belongs to no run: the newest one may be such a record.
static void extend_head(const struct search *search, const struct found_ring *ring,
                        const struct posix_layout *layout, uint32_t tail, uint32_t *head)
{
    uint8_t *bytes = malloc(2 * POSIX_MAX_RECORD);
    uint64_t offset = (uint64_t)(*head % ring->words) * 4, size = (uint64_t)ring->words * 4;
    size_t here = size - offset < POSIX_MAX_RECORD ? (size_t)(size - offset) : POSIX_MAX_RECORD;
    size_t more = size < POSIX_MAX_RECORD ? (size_t)size : POSIX_MAX_RECORD, got = 0;
    struct posix_record record;

    if (bytes && offset &&
        !extract_memory_read(search->memory, ring->start + offset, bytes, here, &got, NULL) &&
        !extract_memory_read(search->memory, ring->start, bytes + here, more, &got, NULL) &&
        posix_record_read(&record, bytes, (uint32_t)(here + more), layout, *head) &&
        *head - tail + record.words <= ring->words)
        *head += record.words;
    free(bytes);
}

// ---- names ----

// Returns the bytes of a slot: the first name is known, and the second one follows its zeros.
static uint32_t slot_bytes_of(const uint8_t *bytes, size_t length)
{
    size_t i = sizeof first_name - 1;

    while (i < length && !bytes[i])
        i++;
    i = i / 4 * 4;
    return i >= LEAST_SLOT && i <= POSIX_MAX_NAME && i < length ? (uint32_t)i : LEAST_SLOT;
}

// Returns whether a slot holds a name and zeros, or only zeros.
static bool is_name_slot(const uint8_t *bytes, uint32_t slot)
{
    uint32_t i = 0;

    while (i < slot && bytes[i] > ' ' - 1 && bytes[i] != 0x7F)
        i++;
    for (uint32_t k = i; k < slot; k++)
        if (bytes[k])
            return false;
    return i < slot;
}

// Finds the table of names by the name of the first event type.
static void find_names(struct extract_ring *ring, struct extract_memory *memory, uint64_t from,
                       uint64_t to)
{
    uint8_t *bytes = malloc(WINDOW);
    size_t got = 0, wanted = to - from < WINDOW ? (size_t)(to - from) : WINDOW;

    if (bytes)
        (void)extract_memory_read(memory, from, bytes, wanted, &got, NULL);
    for (size_t at = 0; at + 2 * LEAST_SLOT <= got; at += 4) {
        if (memcmp(bytes + at, first_name, sizeof first_name) != 0)
            continue;
        uint32_t slot = slot_bytes_of(bytes + at, got - at), count = 0, used = 0;
        while (at + (size_t)(count + 1) * slot <= got && count < POSIX_MAX_IDS - POSIX_USER &&
               is_name_slot(bytes + at + (size_t)count * slot, slot)) {
            count++;
            if (bytes[at + (size_t)(count - 1) * slot])
                used = count;
        }
        ring->name_bytes = slot;
        ring->registry =
            (struct extract_slots){from + at, from + at + (uint64_t)used * slot, slot, used};
        break;
    }
    free(bytes);
}

// ---- the blocks ----

// Reads a block, as far as it can be read.
static void read_bytes(struct extract_memory *memory, uint64_t address, uint8_t bytes[POSIX_HEADER])
{
    size_t got = 0;

    (void)extract_memory_read(memory, address, bytes, POSIX_HEADER, &got, NULL);
    memset(bytes + got, 0, POSIX_HEADER - got);
}

// Returns whether most of the constant words of a damaged block are intact. Then others are
// believed, too, such as its clock.
static bool is_mostly_intact(const uint8_t *bytes, uint32_t magic, enum extract_byte_order order)
{
    return (word_at(bytes, order) == magic) + (word_at(bytes + 4, order) == POSIX_VERSION) +
               (word_at(bytes + 8, order) == POSIX_HEADER) >=
           2;
}

// The damaged blocks of an object, and what is known of them.
struct object {
    uint64_t address, end; // of the object, or of the memory that is searched
    bool is_known;         // the object begins at `address`
    struct posix_block block;
    bool has_block;
    uint32_t number;                    // of the stream
    uint64_t stream_address;            // 0: unknown
    uint8_t stream_bytes[POSIX_HEADER]; // as they are
    struct posix_layout layout;
    bool has_layout;
    uint32_t clock_hz;
    struct found_ring known; // what the damaged block states
};

// Learns from the process block which stream is meant, and what its block says.
static void learn_stream(struct object *object, struct extract_memory *memory, uint32_t wanted,
                         enum extract_byte_order order)
{
    const struct posix_block *block = &object->block;
    struct posix_stream stream;

    object->layout = block->layout;
    object->has_layout = true;
    object->clock_hz = block->clock_hz;
    for (uint32_t i = 0; i < block->streams; i++) {
        uint64_t at = object->address + block->streams_at + (uint64_t)i * block->stream_bytes;
        uint8_t bytes[POSIX_HEADER];
        read_bytes(memory, at, bytes);
        bool is_intact = posix_stream_read(&stream, bytes, POSIX_HEADER) &&
                         !posix_stream_check(&stream, at, NULL);
        if (wanted ? i != wanted - 1 : is_intact && !(stream.state & POSIX_STATE_BOUND))
            continue;
        object->number = i;
        object->stream_address = at;
        memcpy(object->stream_bytes, bytes, POSIX_HEADER);
        object->known.start = object->address + word_at(bytes + POSIX_STREAM_AT_RING_AT, order);
        object->known.words = word_at(bytes + POSIX_STREAM_AT_RING_AT + 4, order);
        break;
    }
    uint32_t words = object->known.words;
    if (words < POSIX_MIN_RING || words > POSIX_MAX_RING || words & (words - 1))
        object->known.words = 0;
}

// Leaves out the records of other streams, whose blocks are intact.
static void drop_other_rings(struct search *search, const struct object *object)
{
    const struct posix_block *block = &object->block;

    for (uint32_t i = 0; object->has_block && i < block->streams; i++) {
        uint64_t at = object->address + block->streams_at + (uint64_t)i * block->stream_bytes;
        uint8_t bytes[POSIX_HEADER];
        struct posix_stream stream;
        read_bytes(search->memory, at, bytes);
        if (at == object->stream_address || !posix_stream_read(&stream, bytes, POSIX_HEADER) ||
            posix_stream_check(&stream, at, NULL))
            continue;
        uint64_t start = at - stream.back + stream.ring_at, kept = 0;
        for (size_t k = 0; k < search->count; k++)
            if (search->list[k].address < start ||
                search->list[k].address - start >= (uint64_t)stream.ring_words * 4)
                search->list[kept++] = search->list[k];
        search->count = (size_t)kept;
    }
}

// Returns the clock of two blocks of which one is damaged; 0 if they differ in a way that does not
// show which one.
static uint32_t agreed_clock(uint32_t process, uint32_t stream, bool is_intact)
{
    bool is_plausible = is_intact && stream && stream != UINT32_MAX;

    if (!is_plausible || process == stream)
        return process != UINT32_MAX ? process : 0;
    return process && process != UINT32_MAX ? 0 : stream;
}

// Writes the block again, with those of its words that are credible.
static void write_stream(struct extract_ring *ring, const struct object *object,
                         const struct posix_layout *layout, const struct found_ring *found,
                         uint32_t head, uint32_t tail)
{
    enum extract_byte_order order = layout->order;
    bool is_intact = is_mostly_intact(object->stream_bytes, POSIX_STREAM_MAGIC, order);
    uint64_t address = object->stream_address ? object->stream_address : found->start;
    uint64_t origin = object->stream_address ? object->address : found->start - POSIX_HEADER;
    uint32_t clock =
        is_intact ? word_at(object->stream_bytes + POSIX_STREAM_AT_CLOCK_HZ, order) : 0;
    if (object->has_block)
        clock = agreed_clock(object->clock_hz, clock, is_intact);
    const struct {
        unsigned at;
        uint32_t value;
    } words[] = {{0, POSIX_STREAM_MAGIC},
                 {4, POSIX_VERSION},
                 {8, POSIX_HEADER},
                 {POSIX_STREAM_AT_BACK, (uint32_t)(address - origin)},
                 {POSIX_STREAM_AT_RING_AT, (uint32_t)(found->start - origin)},
                 {POSIX_STREAM_AT_RING_AT + 4, found->words},
                 {POSIX_STREAM_AT_LAYOUT, posix_layout_word(layout)},
                 {POSIX_STREAM_AT_CLOCK_HZ, clock},
                 {POSIX_STREAM_AT_HEAD, head},
                 {POSIX_STREAM_AT_TAIL, tail}};

    memset(ring->header, 0, sizeof ring->header);
    if (is_intact)
        memcpy(ring->header, object->stream_bytes, POSIX_HEADER);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        extract_store(ring->header + words[i].at, words[i].value, 4, order);
}

static bool rebuild_object(struct extract_ring *ring, struct search *search, struct object *object,
                           unsigned pointer_bytes)
{
    struct posix_layout layout;
    struct found_ring found;
    uint32_t head, tail;

    drop_other_rings(search, object);
    if (least_records(search) == UINT32_MAX ||
        !find_layout(search, object->has_layout ? &object->layout : NULL, pointer_bytes, &layout) ||
        !find_ring(search, object->address, &object->known, &found) || found.start < POSIX_HEADER)
        return false;
    keep_runs_of(search, &found);
    find_positions(search, &found, &head, &tail);
    extend_head(search, &found, &layout, tail, &head);
    write_stream(ring, object, &layout, &found, head, tail);
    uint64_t address = object->stream_address ? object->stream_address : found.start;
    if (posix_make_ring(ring, address, NULL))
        return false;
    if (object->has_block)
        posix_add_process(ring, &object->block, object->address, object->number);
    else
        find_names(ring, search->memory, object->address, object->end);
    ring->length = posix_copy_length(ring);
    ring->enabled_known = false;
    return true;
}

// Returns whether a done record begins at `head`, which is written before `head` moves past it.
// Words of more than POSITIONS positions may be those of the lap before.
static bool is_passed(const struct extract_ring *ring, struct extract_memory *memory,
                      const struct posix_stream *stream)
{
    uint64_t next = ring->entries.start + (uint64_t)(stream->head % stream->ring_words) * 4;
    uint8_t bytes[4];
    size_t got;

    if (stream->ring_words >= POSITIONS || extract_memory_read(memory, next, bytes, 4, &got, NULL))
        return false;
    uint32_t first = word_at(bytes, ring->byte_order);
    return first >> 30 == 2 && posix_record_words(first, stream->head);
}

// Returns whether the words that are in the places of the oldest and the newest record are those of
// records, and no record follows them.
static bool has_records(const struct extract_ring *ring, struct extract_memory *memory,
                        const struct posix_stream *stream)
{
    uint32_t words = stream->ring_words;
    uint64_t first = ring->entries.start + (uint64_t)(stream->tail % words) * 4;
    uint64_t last = ring->entries.start + (uint64_t)((stream->head - 1) % words) * 4;
    uint8_t begin[4], end[4];
    size_t got;

    if (!posix_stream_has_valid_positions(stream) || is_passed(ring, memory, stream))
        return false;
    if (stream->head == stream->tail)
        return true;
    return !extract_memory_read(memory, first, begin, 4, &got, NULL) &&
           !extract_memory_read(memory, last, end, 4, &got, NULL) &&
           posix_record_words(word_at(begin, ring->byte_order), stream->tail) &&
           posix_trailer_words(word_at(end, ring->byte_order), stream->head);
}

// Returns whether the process block of a stream is not there, or states something else than the
// block of the stream.
static bool has_other_process(const struct extract_ring *ring, struct extract_memory *memory,
                              const struct posix_stream *stream)
{
    uint8_t bytes[POSIX_HEADER];
    struct posix_block block;
    size_t got;

    if (extract_memory_read(memory, ring->address - stream->back, bytes, sizeof bytes, &got, NULL))
        return false;
    return !ring->posix.process_known || !posix_block_read(&block, bytes, sizeof bytes) ||
           block.layout_word != stream->layout_word || block.clock_hz != stream->clock_hz;
}

// Finds the intact block of a stream in an object whose process block is damaged: the one that the
// user requests, or the first bound one.
static bool find_stream_block(struct extract_ring *ring, struct extract_memory *memory,
                              const struct object *object)
{
    uint8_t *bytes = malloc(WINDOW);
    uint32_t number = 0, wanted = ring->posix.wanted;
    size_t got = 0;
    size_t length =
        object->end - object->address < WINDOW ? (size_t)(object->end - object->address) : WINDOW;
    bool is_found = false;

    if (bytes)
        (void)extract_memory_read(memory, object->address, bytes, length, &got, NULL);
    for (size_t at = POSIX_HEADER; !is_found && at + POSIX_HEADER <= got; at += 4) {
        struct posix_stream stream;
        if (!posix_stream_read(&stream, bytes + at, got - at) || stream.back != at ||
            posix_stream_check(&stream, object->address + at, NULL))
            continue;
        number++;
        is_found = wanted ? number == wanted : stream.state & POSIX_STATE_BOUND;
        if (!is_found)
            continue;
        memcpy(ring->header, bytes + at, POSIX_HEADER);
        is_found = !posix_make_ring(ring, object->address + at, NULL) &&
                   has_records(ring, memory, &stream);
    }
    free(bytes);
    if (is_found) {
        find_names(ring, memory, object->address, object->end);
        ring->length = posix_copy_length(ring);
    }
    return is_found;
}

// Rebuilds a ring. If `intact` is not NULL, an object with an intact block ends the search: then
// false is returned, and its address is in *intact.
static bool rebuild_in(struct extract_ring *ring, struct extract_memory *memory,
                       struct extract_symbols *symbols, const struct extract_rebuild *where,
                       uint64_t *intact)
{
    struct search *searches = calloc(2, sizeof *searches); // one per byte order
    struct object object = {.address = where->from, .end = where->to, .is_known = where->is_header};
    uint8_t bytes[POSIX_HEADER];
    unsigned count = 0;
    bool is_done = false;

    if (where->is_header) {
        struct posix_stream stream;
        read_bytes(memory, where->from, bytes);
        object.has_block = posix_block_read(&object.block, bytes, POSIX_HEADER) &&
                           !posix_block_check(&object.block, where->from, NULL);
        if (posix_stream_read(&stream, bytes, POSIX_HEADER) && stream.back <= where->from)
            object.address = where->from - stream.back;
        if (!object.has_block && find_stream_block(ring, memory, &object)) {
            free(searches);
            return true;
        }
    }
    enum extract_byte_order known = object.has_block ? object.block.layout.order
                                    : symbols        ? extract_symbols_byte_order(symbols)
                                                     : EXTRACT_ORDER_UNKNOWN;
    if (object.has_block) {
        learn_stream(&object, memory, ring->posix.wanted, known);
        object.end = where->from + object.block.total_bytes;
    }
    for (unsigned i = 0; searches && i < 2; i++) {
        enum extract_byte_order order = i ? EXTRACT_BIG : EXTRACT_LITTLE;
        if (known && known != order)
            continue;
        searches[count].memory = memory;
        searches[count++].order = order;
    }
    const struct extract_rebuild whole = {.from = object.address, .to = object.end};
    if (searches && find_runs(memory, searches, count, &whole, intact))
        for (unsigned i = 0; !is_done && i < count; i++)
            is_done = rebuild_object(ring, &searches[i], &object,
                                     symbols ? extract_symbols_pointer_bytes(symbols) : 0);
    free(searches);
    return is_done;
}

bool posix_rebuild(struct extract_ring *ring, struct extract_memory *memory,
                   struct extract_symbols *symbols, const struct extract_rebuild *where)
{
    const uint64_t none = UINT64_MAX;
    const struct extract_ring settings = *ring;
    uint64_t intact = none;

    if (rebuild_in(ring, memory, symbols, where, where->is_header ? NULL : &intact))
        return true;
    if (intact == none)
        return false;
    const struct extract_rebuild object = {.from = intact, .to = where->to, .is_header = true};
    *ring = settings;
    if (rebuild_in(ring, memory, symbols, &object, NULL))
        return true;
    *ring = settings;
    return rebuild_in(ring, memory, symbols, where, NULL);
}

// Returns whether a block contradicts its records or the process block.
bool posix_contradicts(const struct extract_ring *ring, struct extract_memory *memory)
{
    struct posix_stream stream;

    if (!posix_stream_read(&stream, ring->header, POSIX_HEADER))
        return false;
    return !has_records(ring, memory, &stream) || has_other_process(ring, memory, &stream);
}
