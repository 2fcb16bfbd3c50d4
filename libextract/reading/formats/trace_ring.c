// SPDX-License-Identifier: MIT
// formats: finding the trace ring in a memory.
//
// A ring is found by the first of these that is known: an address from the user, the start of a
// file that holds nothing else, the firmware's symbols, or a scan of the memory for headers. Each
// format is tried in turn. If none succeeds, the error that explains most is returned.
#include "formats/format.h"
#include "memory/core_dump.h"
#include "memory/images.h"
#include "memory/memory_hooks.h"
#include "symbols/dwarf.h"
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

enum { SCAN_CHUNK = 64 * 1024, SCAN_STEP = 4 };

const char *extract_ring_format(const struct extract_ring *ring)
{
    return ring->format ? ring->format->name : "none";
}

const char *extract_ring_suffix(const struct extract_ring *ring)
{
    return ring->format ? ring->format->suffix : "none";
}

enum { MOST_MAGICS = 16 };

struct scan {
    struct extract_memory *memory;
    bool (*found)(void *context, const struct extract_ring *ring);
    void *context;
    uint64_t candidates;
    uint64_t hits; // rings
    bool stopped;
    unsigned shift;               // words are at addresses of this remainder by 4
    bool is_moved;                // headers that state another address than their own count
    uint32_t magics[MOST_MAGICS]; // first words of headers, in both byte orders
    size_t magic_count;
    uint8_t bytes[SCAN_CHUNK + EXTRACT_HEADER_MAX];
};

static void collect_magics(struct scan *scan)
{
    const struct extract_format *format;

    for (size_t i = 0; (format = extract_format_at(i)); i++)
        for (size_t k = 0; k < sizeof format->magics / sizeof *format->magics; k++)
            if (format->magics[k] && scan->magic_count + 2 <= MOST_MAGICS) {
                scan->magics[scan->magic_count++] = format->magics[k];
                scan->magics[scan->magic_count++] = __builtin_bswap32(format->magics[k]);
            }
}

static bool is_magic_of(const struct extract_format *format, uint32_t word)
{
    for (size_t i = 0; i < sizeof format->magics / sizeof *format->magics; i++)
        if (format->magics[i] &&
            (word == format->magics[i] || word == __builtin_bswap32(format->magics[i])))
            return true;
    return false;
}

// Returns whether a block of words has one that a header may begin with. The loop over the words
// has no branches, so that several are compared at once.
static bool has_magic(const struct scan *scan, const uint8_t *bytes)
{
    uint32_t found = 0;

    for (size_t i = 0; i < scan->magic_count; i++)
        for (size_t k = 0; k < EXTRACT_BLOCK_WORDS; k++)
            found |= extract_raw_word(bytes + 4 * k) == scan->magics[i];
    return found;
}

// Tests whether a header begins at a word of the memory. For a big-endian header with 8-byte words,
// the id is 4 bytes after the start.
static void scan_word(struct scan *scan, const uint8_t *bytes, size_t left, size_t before,
                      uint64_t address)
{
    const struct extract_format *format;
    struct extract_ring ring;
    uint32_t word;

    memcpy(&word, bytes, sizeof word);
    for (size_t i = 0; (format = extract_format_at(i)); i++) {
        if (!is_magic_of(format, word))
            continue;
        scan->candidates++;
        bool (*is_header)(struct extract_ring *, const uint8_t *, size_t, uint64_t) =
            scan->is_moved ? format->is_moved_header : format->is_valid_header;
        bool is = is_header && is_header(&ring, bytes, left, address);
        if (!is && is_header && before >= SCAN_STEP)
            is = is_header(&ring, bytes - SCAN_STEP, left + SCAN_STEP, address - SCAN_STEP);
        if (!is || !format->complete(&ring, scan->memory))
            continue;
        ring.origin = EXTRACT_FROM_SCAN;
        ring.is_moved = scan->is_moved;
        scan->hits++;
        scan->stopped = !scan->found(scan->context, &ring);
        return;
    }
}

// Tests the words of the chunk from `i` to `end`; `got` bytes of it were read.
static void scan_chunk(struct scan *scan, size_t i, size_t end, size_t got, uint64_t address)
{
    const size_t block = EXTRACT_BLOCK_WORDS * SCAN_STEP;

    while (i + SCAN_STEP <= end && !scan->stopped) {
        size_t stop = end - i < block ? end : i + block;
        bool is_skipped = stop - i == block && !has_magic(scan, scan->bytes + i);
        for (; !is_skipped && i + SCAN_STEP <= stop && !scan->stopped; i += SCAN_STEP)
            scan_word(scan, scan->bytes + i, got - i, i, address + i);
        i = stop;
    }
}

// Scans one region. No header begins with a zero word, except for the upper half of a big-endian
// 8-byte word, which is found through its lower half. Therefore holes of files are not read.
static void scan_region(struct scan *scan, const struct extract_region *region)
{
    uint64_t at = (SCAN_STEP + scan->shift - region->address % SCAN_STEP) % SCAN_STEP;
    size_t before = 0; // bytes before the chunk that were scanned with the previous one

    while (at < region->length && !scan->stopped) {
        uint64_t address = region->address + at;
        uint64_t data =
            extract_memory_skip_holes(scan->memory, address, address + (region->length - at));
        at += (data - address) / SCAN_STEP * SCAN_STEP;
        before = data - address >= SCAN_STEP ? SCAN_STEP : before;
        uint64_t start = at - before, want = region->length - start;
        size_t got, length = want < sizeof scan->bytes ? (size_t)want : sizeof scan->bytes;
        extract_memory_read(scan->memory, region->address + start, scan->bytes, length, &got, NULL);
        size_t end = got < sizeof scan->bytes ? got : SCAN_CHUNK;
        scan_chunk(scan, before, end, got, region->address + start);
        if (got < length)
            return; // a hole: the rest of the region may not exist
        at = start + end;
        before = SCAN_STEP;
    }
}

// Joins adjacent regions, from the i-th on, to one. Returns how many were joined; 0 if there is
// none.
static size_t join_regions(const struct extract_memory *memory, size_t i,
                           struct extract_region *region)
{
    struct extract_region next;
    size_t count = 0;

    if (!extract_memory_region(memory, i, region))
        return 0;
    for (count = 1; extract_memory_region(memory, i + count, &next) &&
                    next.address == region->address + region->length;
         count++)
        region->length += next.length;
    return count;
}

static enum extract_code scan_memory(struct extract_memory *memory, bool is_moved,
                                     bool (*found)(void *context, const struct extract_ring *ring),
                                     void *context, uint64_t *candidates, uint64_t *hits,
                                     struct extract_error *error)
{
    struct extract_region region;

    if (!extract_memory_region(memory, 0, &region))
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_memory_name(memory),
                                 "pass the firmware's ELF, or the ring's address",
                                 "memory of unknown extent cannot be searched");
    struct scan *scan = calloc(1, sizeof *scan);
    if (!scan)
        return extract_error_set(error, EXTRACT_NOMEM, "scan", NULL, "out of memory");
    scan->memory = memory;
    scan->found = found;
    scan->context = context;
    scan->is_moved = is_moved;
    collect_magics(scan);
    // Packed structures and other dumps within a dump have rings at addresses that are not aligned.
    for (; scan->shift < SCAN_STEP && !scan->hits; scan->shift++)
        for (size_t i = 0, joined; (joined = join_regions(memory, i, &region)); i += joined)
            if (!scan->stopped)
                scan_region(scan, &region);
    if (hits)
        *hits = scan->hits;
    if (candidates)
        *candidates = scan->candidates;
    free(scan);
    return EXTRACT_OK;
}

// Returns whether a ring states an address that the memory does not have. Otherwise, it may be a
// copy that the program has made.
static bool is_elsewhere(const struct extract_ring *ring, struct extract_memory *memory)
{
    uint64_t all = ring->word_bytes == 4 ? UINT32_MAX : UINT64_MAX;
    uint8_t byte;
    size_t got;

    extract_memory_read(memory, ring->address - ring->base_delta, &byte, 1, &got, NULL);
    return ring->base_delta & all && !got;
}

// Notes where the image with a ring begins on the target, if the ring is not where it was there.
static void set_image_start(struct extract_ring *ring, const struct extract_memory *memory)
{
    struct extract_region region;

    for (size_t i = 0, joined; ring->is_moved && (joined = join_regions(memory, i, &region)) != 0;
         i += joined)
        if (ring->address - region.address < region.length)
            ring->image_start = region.address - ring->base_delta;
}

// A scan for all rings.
struct listing {
    struct extract_memory *memory;
    bool (*found)(void *context, const struct extract_ring *ring);
    void *context;
    bool has_ended;
};

static bool list_ring(void *context, const struct extract_ring *ring)
{
    struct listing *listing = context;
    struct extract_ring listed = *ring;

    set_image_start(&listed, listing->memory);
    listing->has_ended = !listing->found(listing->context, &listed);
    return !listing->has_ended;
}

enum extract_code extract_ring_scan(struct extract_memory *memory,
                                    bool (*found)(void *context, const struct extract_ring *ring),
                                    void *context, uint64_t *candidates,
                                    struct extract_error *error)
{
    struct listing listing = {memory, found, context, false};
    uint64_t hits = 0;
    enum extract_code code =
        scan_memory(memory, false, list_ring, &listing, candidates, &hits, error);

    // A live target, whose reads take time, has its memory where it is.
    if (code || listing.has_ended || (hits && !extract_images_of(memory)))
        return code;
    return scan_memory(memory, true, list_ring, &listing, hits ? NULL : candidates, NULL, error);
}

// The results of a scan that must find exactly one ring.
struct hits {
    const struct extract_format *format; // the format to find; NULL: any
    struct extract_ring first, second;
    unsigned count;
};

static bool note_hit(void *context, const struct extract_ring *ring)
{
    struct hits *hits = context;

    if (hits->format && ring->format != hits->format)
        return true;
    if (hits->count == 0)
        hits->first = *ring;
    else
        hits->second = *ring;
    return ++hits->count < 2;
}

// Returns a ring of which only the user's settings are known.
static struct extract_ring ring_of_settings(const struct extract_ring *ring)
{
    return (struct extract_ring){.rkh = ring->rkh, .posix.wanted = ring->posix.wanted};
}

// Writes where a ring is, with its format if that tells it from another one.
static void put_place(char text[64], const struct extract_ring *ring, bool has_format)
{
    snprintf(text, 64, "%s%sat 0x%llx", has_format ? extract_ring_format(ring) : "",
             has_format ? " " : "", (unsigned long long)ring->address);
}

// Reports that a scan has found several rings, as `ringside scan` lists them.
static enum extract_code refuse_several(struct hits *hits, const struct extract_memory *memory,
                                        struct extract_error *error)
{
    struct extract_ring *first = &hits->first, *second = &hits->second;
    struct extract_ring *moved = first->is_moved ? first : second;
    char hint[sizeof error->hint] = "choose one with --ring ADDRESS (ringside scan lists them)";
    char places[2][64];
    size_t length = strlen(hint);
    bool differ = first->format != second->format;

    set_image_start(moved, memory);
    if (first->is_moved && first->base_delta == second->base_delta)
        snprintf(hint + length, sizeof hint - length,
                 "; they state that the image begins at 0x%llx",
                 (unsigned long long)moved->image_start);
    else if (moved->is_moved && !first->is_moved)
        snprintf(hint + length, sizeof hint - length,
                 "; the image likely begins at 0x%llx, as the %s ring states",
                 (unsigned long long)moved->image_start, extract_ring_format(moved));
    put_place(places[0], first, differ);
    put_place(places[1], second, differ);
    return extract_error_set(error, EXTRACT_NOTFOUND, extract_memory_name(memory), hint,
                             "more than one trace ring: %s, %s, maybe more", places[0], places[1]);
}

// Finds the only ring. Sets *are_several to whether there are more; NULL: not of interest.
static enum extract_code find_by_scan(struct extract_ring *ring, struct extract_memory *memory,
                                      const struct extract_format *format, bool is_moved,
                                      bool *are_several, struct extract_error *error)
{
    struct hits hits = {.format = format};
    enum extract_code code = scan_memory(memory, is_moved, note_hit, &hits, NULL, NULL, error);

    if (are_several)
        *are_several = hits.count > 1;
    if (code)
        return code;
    if (hits.count == 0)
        return extract_error_set(error, EXTRACT_NOTFOUND, extract_memory_name(memory),
                                 "pass the firmware's ELF with --elf, or the header's address "
                                 "with --ring",
                                 "no trace ring was found in this memory");
    if (hits.count > 1)
        return refuse_several(&hits, memory, error);
    if (ring->posix.wanted && hits.first.format->streams)
        return hits.first.format->read_header(ring, memory, NULL, hits.first.address, error);
    *ring = hits.first;
    return EXTRACT_OK;
}

// Why a format found no ring.
struct failure {
    enum extract_code code;
    struct extract_error error;
};

// Names the range to dump, if the images do not have a variable that leads to a ring.
static void name_missing(struct extract_symbols *symbols, struct extract_error *error)
{
    struct extract_symbol symbol;
    char what[sizeof error->what];

    if (!error->where || !extract_symbols_by_address(symbols, error->where, &symbol, NULL, NULL) ||
        symbol.function || !symbol.size)
        return;
    memcpy(what, error->what, sizeof what);
    extract_error_set(error, EXTRACT_UNREADABLE, what, NULL,
                      "the images do not have %s: dump 0x%llx to 0x%llx, too", symbol.name,
                      (unsigned long long)symbol.address,
                      (unsigned long long)(symbol.address + symbol.size));
}

// Tries each format, or only the wanted one, until one finds its ring through the symbols. If none
// does, the first error that is not NOTFOUND is returned.
static enum extract_code find_by_symbols(struct extract_ring *ring, struct extract_memory *memory,
                                         struct extract_symbols *symbols,
                                         const struct extract_format *wanted,
                                         struct extract_error *error)
{
    const struct extract_format *format;
    struct failure reported = {EXTRACT_OK, {0}}, meant = reported;

    for (size_t i = 0; (format = extract_format_at(i)); i++) {
        struct extract_error own_error;
        if (wanted && format != wanted)
            continue;
        *ring = ring_of_settings(ring);
        ring->origin = EXTRACT_FROM_SYMBOL;
        enum extract_code code = format->find(ring, memory, symbols, &own_error);
        if (!code)
            return EXTRACT_OK;
        if (!reported.code || (reported.code == EXTRACT_NOTFOUND && code != EXTRACT_NOTFOUND))
            reported = (struct failure){code, own_error};
        if (format->is_meant(ring, symbols))
            meant = (struct failure){code, own_error};
    }
    if (reported.code == EXTRACT_NOTFOUND && meant.code)
        reported = meant;
    else if (reported.code == EXTRACT_NOTFOUND && !wanted && !extract_symbols_count(symbols))
        return extract_error_set(
            error, EXTRACT_NOTFOUND, extract_symbols_path(symbols),
            "use the ELF file from before 'strip'; for all but RKH, the "
            "header's address does as well (--ring, in GDB: ringside set ring)",
            "the ELF file is stripped: it has neither _tx_trace_header_ptr "
            "(ThreadX) nor trcstm (RKH), ringside_posix or ringside_hooks");
    if (error)
        *error = reported.error;
    if (error && reported.code == EXTRACT_UNREADABLE && extract_images_of(memory))
        name_missing(symbols, error);
    return reported.code;
}

// Reads the header at an address. The error of the first format is returned unless another format
// recognizes the header. The first format may fail with UNREADABLE because its header is longer
// than the memory: a stream of one RKH frame is shorter than ThreadX's header.
static enum extract_code find_at(struct extract_ring *ring, struct extract_memory *memory,
                                 struct extract_symbols *symbols, uint64_t address,
                                 const struct extract_format *wanted, struct extract_error *error)
{
    const struct extract_format *format = wanted ? wanted : extract_format_at(0);
    enum extract_code code = format->read_header(ring, memory, symbols, address, error);
    bool is_open = !wanted && (code == EXTRACT_BAD || code == EXTRACT_UNREADABLE);

    for (size_t i = 1; is_open && (format = extract_format_at(i)); i++) {
        struct extract_error own_error;
        struct extract_ring other = ring_of_settings(ring);
        enum extract_code found = format->read_header(&other, memory, symbols, address, &own_error);
        if (found == EXTRACT_NOTFOUND || found == EXTRACT_UNREADABLE)
            continue;
        code = found;
        *ring = other;
        if (found && error)
            *error = own_error;
        break;
    }
    ring->origin = EXTRACT_FROM_ADDRESS;
    return code;
}

static bool has_regions(const struct extract_memory *memory)
{
    struct extract_region region;

    return extract_memory_region(memory, 0, &region);
}

// ---- Damaged headers ----

// Returns the end of a region, at most the highest address.
static uint64_t end_of(const struct extract_region *region)
{
    uint64_t end = region->address + region->length;

    return end ? end : UINT64_MAX;
}

// Returns the end of the memory that contains an address; the address itself: none does.
static uint64_t region_end(const struct extract_memory *memory, uint64_t address)
{
    struct extract_region region;

    for (size_t i = 0, joined; (joined = join_regions(memory, i, &region)); i += joined)
        if (address >= region.address && address - region.address < region.length)
            return end_of(&region);
    return address;
}

static bool rebuild_with(struct extract_ring *ring, struct extract_memory *memory,
                         struct extract_symbols *symbols, const struct extract_format *format,
                         const struct extract_rebuild *where)
{
    struct extract_ring made = ring_of_settings(ring);

    if (!format->rebuild || where->to <= where->from ||
        !format->rebuild(&made, memory, symbols, where))
        return false;
    *ring = made;
    ring->origin = EXTRACT_FROM_REBUILT;
    return true;
}

// Rebuilds the ring whose header is, or was, at an address.
static bool rebuild_at(struct extract_ring *ring, struct extract_memory *memory,
                       struct extract_symbols *symbols, const struct extract_format *wanted,
                       uint64_t address)
{
    const struct extract_rebuild where = {address, region_end(memory, address), true};
    const struct extract_format *format;

    for (size_t i = 0; (format = extract_format_at(i)); i++)
        if ((!wanted || format == wanted) && rebuild_with(ring, memory, symbols, format, &where))
            return true;
    return false;
}

// Rebuilds a ring whose header begins a variable of the program.
static bool rebuild_by_symbols(struct extract_ring *ring, struct extract_memory *memory,
                               struct extract_symbols *symbols, const struct extract_format *wanted)
{
    const struct extract_format *format;
    struct extract_symbol symbol;

    for (size_t i = 0; (format = extract_format_at(i)); i++) {
        if ((wanted && format != wanted) || !format->symbol ||
            !extract_symbols_by_name(symbols, format->symbol, &symbol))
            continue;
        struct extract_rebuild where = {symbol.address, region_end(memory, symbol.address), true};
        if (symbol.size > EXTRACT_HEADER_MAX && where.to - where.from > symbol.size)
            where.to = where.from + symbol.size;
        if (rebuild_with(ring, memory, symbols, format, &where))
            return true;
    }
    return false;
}

// Rebuilds the only ring whose header is nowhere in the memory. It is not proven that a program has
// written it whose symbols do not lead to it.
static bool rebuild_by_search(struct extract_ring *ring, struct extract_memory *memory,
                              struct extract_symbols *symbols, const struct extract_format *wanted)
{
    const struct extract_format *format;
    struct extract_region region;
    unsigned found = 0;

    for (size_t i = 0, joined; (joined = join_regions(memory, i, &region)); i += joined) {
        const struct extract_rebuild where = {region.address, end_of(&region), false};
        for (size_t k = 0; (format = extract_format_at(k)); k++)
            if ((!wanted || format == wanted) &&
                rebuild_with(ring, memory, symbols, format, &where))
                found++;
    }
    ring->doubtful = symbols != NULL;
    return found == 1;
}

// Returns the address of the header that leads to a ring.
static uint64_t header_of(const struct extract_ring *ring)
{
    return ring->posix.process_known ? ring->posix.process : ring->address;
}

// ---- Images that have a part of a ring ----

// Extends the missing range of a ring by [from, to).
static void extend_missing(struct extract_ring *ring, uint64_t from, uint64_t to)
{
    bool is_first = ring->missing_start == ring->missing_end;

    if (is_first || from < ring->missing_start)
        ring->missing_start = from;
    if (is_first || to > ring->missing_end)
        ring->missing_end = to;
}

// Adds what the images lack of [from, to).
static void note_missing(struct extract_ring *ring, const struct extract_memory *memory,
                         uint64_t from, uint64_t to)
{
    struct extract_region region;
    uint64_t at = from; // up to here, all is known

    for (size_t i = 0, joined; at < to && (joined = join_regions(memory, i, &region)) != 0;
         i += joined) {
        uint64_t last = region.address + (region.length - 1);
        if (last < at)
            continue;
        if (region.address > at)
            extend_missing(ring, at, region.address < to ? region.address : to);
        at = last == UINT64_MAX ? to : last + 1;
    }
    if (at < to)
        extend_missing(ring, at, to);
}

// Notes what the images lack of a ring, so that a user can dump it, too. A live target has no
// images, and a file that holds one ring and nothing else is truncated.
static void find_missing(struct extract_ring *ring, const struct extract_memory *memory)
{
    uint64_t start;

    ring->missing_start = ring->missing_end = 0;
    if (!extract_images_of(memory) || extract_memory_start(memory, &start))
        return;
    note_missing(ring, memory, ring->address, ring->address + ring->header_bytes);
    note_missing(ring, memory, ring->registry.start, ring->registry.end);
    note_missing(ring, memory, ring->entries.start, ring->entries.end);
}

// Gets the variable of the ELF file that begins with the header of a ring.
static bool linked_header(const struct extract_ring *ring, const struct extract_symbols *symbols,
                          struct extract_symbol *symbol)
{
    return symbols && ring->format->symbol &&
           extract_symbols_by_name(symbols, ring->format->symbol, symbol);
}

// Notes that the images have a ring at another address than its header states, or the ELF file. An
// address of the ELF file that the images have shows nothing: the ring may be in an object on a
// heap.
static void find_moved(struct extract_ring *ring, struct extract_memory *memory,
                       const struct extract_symbols *symbols)
{
    struct extract_symbol linked;
    uint8_t byte;
    size_t got;

    if (!ring->is_moved && linked_header(ring, symbols, &linked) &&
        extract_memory_read(memory, linked.address, &byte, 1, &got, NULL)) {
        ring->base_delta = header_of(ring) - linked.address;
        ring->is_moved = true;
    }
    set_image_start(ring, memory);
}

// Finds the ring of images at a wrong address: what they have at the address of the ELF file is no
// header, and a whole one is elsewhere. Without that, the header is damaged. If that address has
// zeros, the program may have cleared it after a reset, unless the two rings would overlap.
static bool find_shifted(struct extract_ring *ring, struct extract_memory *memory,
                         const struct extract_symbols *symbols, const struct extract_format *wanted,
                         bool is_cleared)
{
    const struct extract_ring settings = ring_of_settings(ring);
    struct extract_symbol linked;

    if (!extract_images_of(memory) || find_by_scan(ring, memory, wanted, false, NULL, NULL) ||
        !linked_header(ring, symbols, &linked) ||
        (is_cleared && header_of(ring) - linked.address + linked.size >= 2 * linked.size) ||
        (ring->format->contradicts && ring->format->contradicts(ring, memory))) {
        *ring = settings;
        return false;
    }
    ring->origin = EXTRACT_FROM_SCAN;
    ring->base_delta = header_of(ring) - linked.address;
    ring->is_moved = true;
    set_image_start(ring, memory);
    return true;
}

// Replaces a ring whose header contradicts its entries, if it can be rebuilt. Images that end
// before the ring does contradict it, too: then the layout that is rebuilt is that of the header.
static void mend(struct extract_ring *ring, struct extract_memory *memory,
                 struct extract_symbols *symbols, uint64_t address)
{
    const struct extract_format *format = ring->format;
    const struct extract_ring found = *ring;

    if (extract_memory_is_running(memory) || !format->contradicts ||
        !format->contradicts(ring, memory) || !rebuild_at(ring, memory, symbols, format, address))
        return;
    struct extract_ring header = found;
    find_missing(&header, memory);
    if (header.missing_end && header.entries.start == ring->entries.start &&
        header.entries.end == ring->entries.end)
        *ring = found;
}

// Refuses a ring whose header states no address, if the images also have one that states another
// address than it has there.
static enum extract_code check_moved(const struct extract_ring *ring, struct extract_memory *memory,
                                     const struct extract_format *wanted,
                                     struct extract_error *error)
{
    struct hits moved = {.format = wanted}, both = {.first = *ring, .count = 2};

    if (ring->format->is_moved_header ||
        scan_memory(memory, true, note_hit, &moved, NULL, NULL, NULL) || !moved.count)
        return EXTRACT_OK;
    both.second = moved.first;
    return refuse_several(&both, memory, error);
}

// Refuses a ring of images at another address than it states, if the ELF file is of firmware with
// another format, whose ring is found only if the images are at their true address.
static enum extract_code check_meant(const struct extract_ring *ring,
                                     const struct extract_memory *memory,
                                     const struct extract_symbols *symbols,
                                     struct extract_error *error)
{
    const struct extract_ring settings = ring_of_settings(ring);
    const struct extract_format *format;
    char hint[sizeof error->hint];
    size_t i = 0;

    if (!ring->is_moved || !symbols || ring->format->is_meant(&settings, symbols))
        return EXTRACT_OK;
    while ((format = extract_format_at(i)) && !format->is_meant(&settings, symbols))
        i++;
    if (!format)
        return EXTRACT_OK;
    snprintf(hint, sizeof hint,
             "the image likely begins at 0x%llx, as the %s ring states: use that address, or "
             "--format to choose one",
             (unsigned long long)ring->image_start, extract_ring_format(ring));
    return extract_error_set(error, EXTRACT_NOTFOUND, extract_memory_name(memory), hint,
                             "more than one trace ring: %s at 0x%llx, and that of the ELF file, "
                             "whose format is %s",
                             extract_ring_format(ring), (unsigned long long)ring->address,
                             format->name);
}

// Refuses a ring that was found by a scan of images, if another one is as good. An ELF file that
// has the ring's header chooses it.
static enum extract_code check_others(const struct extract_ring *ring,
                                      struct extract_memory *memory,
                                      const struct extract_symbols *symbols,
                                      const struct extract_format *wanted,
                                      struct extract_error *error)
{
    struct extract_symbol linked;

    if (!extract_images_of(memory) || linked_header(ring, symbols, &linked))
        return EXTRACT_OK;
    enum extract_code code = check_moved(ring, memory, wanted, error);
    return code || wanted ? code : check_meant(ring, memory, symbols, error);
}

// Finds the ring by the best of what is known.
static enum extract_code locate_ring(struct extract_ring *ring, struct extract_memory *memory,
                                     struct extract_symbols *symbols,
                                     const struct extract_ring_options *options,
                                     const struct extract_format *wanted,
                                     struct extract_error *error)
{
    enum extract_code code = EXTRACT_NOTFOUND;
    bool is_running = extract_memory_is_running(memory);
    uint64_t start;

    if (options && options->address_known) {
        code = find_at(ring, memory, symbols, options->address, wanted, error);
        if (code && !is_running && rebuild_at(ring, memory, symbols, wanted, options->address))
            return EXTRACT_OK;
        if (!code)
            mend(ring, memory, symbols, options->address);
        if (!code && extract_images_of(memory)) {
            ring->is_moved = is_elsewhere(ring, memory);
            set_image_start(ring, memory);
        }
        return code;
    }
    if (extract_memory_start(memory, &start)) {
        code = find_at(ring, memory, symbols, start, wanted, error);
        ring->origin = is_running ? EXTRACT_FROM_ADDRESS : EXTRACT_FROM_FILE;
        if (code && !is_running && rebuild_at(ring, memory, symbols, wanted, start))
            return EXTRACT_OK;
        if (!code)
            mend(ring, memory, symbols, start);
        return code;
    }
    if (symbols)
        code = find_by_symbols(ring, memory, symbols, wanted, error);
    if (symbols && !code)
        mend(ring, memory, symbols, header_of(ring));
    if (symbols && !is_running && (code == EXTRACT_BAD || code == EXTRACT_ABSENT) &&
        find_shifted(ring, memory, symbols, wanted, code == EXTRACT_ABSENT))
        return EXTRACT_OK;
    if (symbols && code && !is_running && rebuild_by_symbols(ring, memory, symbols, wanted))
        return EXTRACT_OK;
    // A trace that a running target has not enabled yet is waited for.
    bool is_awaited = code == EXTRACT_ABSENT && is_running;
    if (!code || is_awaited || code == EXTRACT_NOMEM || !has_regions(memory))
        return code;
    // The symbols lead to nothing, out of this memory, or to something else: search. If that finds
    // nothing either, the error of the symbols is the better explanation.
    bool contradicted = symbols && code == EXTRACT_BAD, is_earlier = code == EXTRACT_ABSENT;
    struct extract_error scan_error;
    struct extract_ring settings = ring_of_settings(ring);
    bool are_several, are_moved = false;
    enum extract_code found = find_by_scan(ring, memory, wanted, false, &are_several, &scan_error);
    // An image may be at another address than the target had it.
    if (found == EXTRACT_NOTFOUND && !are_several && extract_images_of(memory))
        found = find_by_scan(ring, memory, wanted, true, &are_moved, &scan_error);
    if (!found)
        mend(ring, memory, symbols, header_of(ring));
    if (!found && extract_images_of(memory))
        find_moved(ring, memory, symbols);
    if (found == EXTRACT_NOTFOUND && !is_running && !are_moved) {
        *ring = settings;
        if (rebuild_by_search(ring, memory, symbols, wanted))
            return EXTRACT_OK;
        *ring = settings;
    }
    if (symbols && found == EXTRACT_NOTFOUND && !(contradicted && (are_several || are_moved)))
        return code;
    if (found && error)
        *error = scan_error;
    if (found)
        return found;
    ring->doubtful = contradicted;
    if (ring->origin == EXTRACT_FROM_REBUILT)
        return EXTRACT_OK;
    ring->origin = is_earlier ? EXTRACT_FROM_EARLIER : EXTRACT_FROM_SCAN;
    return check_others(ring, memory, symbols, wanted, error);
}

// What a core file contains about the load address of its program. Zero if there is no core: the
// caller then knows the load address.
struct load {
    bool is_unknown;  // the symbols may have link addresses that are not valid in the process
    bool entry_known; // the core has an entry point, which does not fit this program
    uint64_t entry;
};

static struct load relocate_symbols(struct extract_symbols *symbols,
                                    const struct extract_memory *memory)
{
    const struct extract_core *core = extract_core_of(memory);
    struct load load = {0};
    uint64_t placed;

    if (!core || !symbols || !extract_symbols_is_position_independent(symbols))
        return load;
    load.entry_known = extract_core_entry(core, &load.entry);
    if (load.entry_known)
        extract_symbols_move(symbols, load.entry);
    load.is_unknown = !extract_symbols_entry(symbols, &placed);
    return load;
}

// Refuses symbols that would give wrong names. Symbols that lead to a ring's header are accepted:
// firmware may well be loaded at its link address.
static enum extract_code check_load(const struct load *load, const struct extract_ring *ring,
                                    const struct extract_symbols *symbols, enum extract_code code,
                                    struct extract_error *error)
{
    const char *path = extract_symbols_path(symbols);
    bool proven = !code && (ring->origin == EXTRACT_FROM_SYMBOL ||
                            (ring->origin == EXTRACT_FROM_REBUILT && !ring->doubtful));

    if (proven || code == EXTRACT_NOMEM || code == EXTRACT_USAGE)
        return code;
    if (load->entry_known)
        return extract_error_set(error, EXTRACT_BAD, path,
                                 "pass the program that wrote the core with --elf",
                                 "entry point does not fit 0x%llx, the entry point in the core",
                                 (unsigned long long)load->entry);
    return extract_error_set(error, EXTRACT_UNSUPPORTED, path,
                             "omit the ELF: the ring is then searched, and printed without names",
                             "position-independent, but the core does not record its load address "
                             "(no note NT_AUXV)");
}

enum extract_code extract_ring_set_roles(struct extract_ring *ring,
                                         const struct extract_hook_roles *roles,
                                         struct extract_error *error)
{
    if (ring->format != &extract_format_hook)
        return extract_error_set(error, EXTRACT_USAGE, "--roles",
                                 "omit it; in GDB, use `ringside set roles none`",
                                 "a trace of format %s has no hook words", ring->format->name);
    ring->hook_roles = roles;
    return EXTRACT_OK;
}

enum extract_code extract_ring_find(struct extract_ring *ring, struct extract_memory *memory,
                                    struct extract_symbols *symbols,
                                    const struct extract_ring_options *options,
                                    struct extract_error *error)
{
    const struct extract_format *wanted = NULL;
    uint64_t start;

    memset(ring, 0, sizeof *ring);
    if (options && options->format && extract_format_find(&wanted, options->format, error))
        return EXTRACT_USAGE;
    if (options && options->rkh)
        ring->rkh = *options->rkh;
    ring->posix.wanted = options ? options->stream : 0;
    bool can_search = symbols || (options && options->address_known) || has_regions(memory) ||
                      extract_memory_start(memory, &start);
    if (!can_search)
        return extract_error_set(error, EXTRACT_NOTFOUND, extract_memory_name(memory),
                                 "load the firmware's ELF, or pass the header's address",
                                 "address of the trace ring is unknown");
    struct load load = relocate_symbols(symbols, memory);
    enum extract_code code = locate_ring(ring, memory, symbols, options, wanted, error);
    if (load.is_unknown)
        code = check_load(&load, ring, symbols, code, error);
    if (!code && options && options->stream && !ring->format->streams)
        return extract_error_set(error, EXTRACT_USAGE, "--stream", "omit it",
                                 "a %s trace has one ring only", ring->format->title);
    if (!code && symbols)
        ring->format->apply_symbols(ring, symbols);
    if (!code)
        find_missing(ring, memory);
    if (code || !options || !options->hook_roles)
        return code;
    return extract_ring_set_roles(ring, options->hook_roles, error);
}
