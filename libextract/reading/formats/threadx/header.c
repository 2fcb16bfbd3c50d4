// SPDX-License-Identifier: MIT
// formats/threadx: decodes the control header, and checks it before it is trusted.
//
// Source: TraceX user guide, chapter 11, "Trace control header". Words are ULONGs of the port.
#include "formats/threadx/threadx.h"

bool threadx_header_read(struct threadx_header *header, const uint8_t *bytes, size_t length,
                         enum extract_byte_order order, unsigned word)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, order);

    header->id = extract_cursor_word(&c, word);
    header->mask = extract_cursor_word(&c, word);
    header->base = extract_cursor_word(&c, word);
    header->registry_start = extract_cursor_word(&c, word);
    header->reserved1 = extract_cursor_u16(&c);
    header->name_bytes = extract_cursor_u16(&c);
    extract_cursor_span(&c, word - 4); // padding before an 8-byte pointer
    header->registry_end = extract_cursor_word(&c, word);
    header->entries_start = extract_cursor_word(&c, word);
    header->entries_end = extract_cursor_word(&c, word);
    header->current = extract_cursor_word(&c, word);
    header->reserved2 = extract_cursor_word(&c, word);
    header->reserved3 = extract_cursor_word(&c, word);
    header->reserved4 = extract_cursor_word(&c, word);
    return !c.failed;
}

// The name size is the second half of the first 32 bits of its word.
void threadx_header_write(uint8_t *bytes, const struct threadx_header *header,
                          enum extract_byte_order order, unsigned word)
{
    const uint64_t words[] = {header->id,
                              header->mask,
                              header->base,
                              header->registry_start,
                              0,
                              header->registry_end,
                              header->entries_start,
                              header->entries_end,
                              header->current,
                              header->reserved2,
                              header->reserved3,
                              header->reserved4};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        extract_store(bytes + i * word, words[i], word, order);
    extract_store(bytes + 4 * word + 2, header->name_bytes, 2, order);
}

bool threadx_header_sniff(const uint8_t *bytes, size_t length, enum extract_byte_order *order,
                          unsigned *word)
{
    *word = extract_trx_word_bytes(bytes, length, order);
    return *word != 0;
}

// The header's pointers as distances from its base address, which are valid wherever the ring was
// copied to. They are computed modulo the word, because a 64-bit target may store lower halves
// only.
struct distances {
    uint64_t registry_start, registry_end, entries_start, entries_end, current;
};

static struct distances offsets_from_base(const struct threadx_header *h, unsigned word)
{
    uint64_t all = word == 8 ? UINT64_MAX : UINT32_MAX;
    struct distances distances = {(h->registry_start - h->base) & all,
                                  (h->registry_end - h->base) & all,
                                  (h->entries_start - h->base) & all,
                                  (h->entries_end - h->base) & all, (h->current - h->base) & all};

    return distances;
}

static enum extract_code check_scanned(const struct threadx_header *h, const struct distances *o,
                                       uint64_t address, unsigned word, struct extract_error *error)
{
    bool whole = (o->entries_end - o->entries_start) % threadx_entry_bytes(word) == 0;
    bool low = word == 4 && h->base == (uint32_t)address; // 64-bit targets store the lower half
    struct extract_check checks[] = {
        {h->base == address || low, "trace_base_address", h->base, "not the header's own address"},
        {h->reserved1 == 0, "reserved1", h->reserved1, "must be 0"},
        {h->reserved2 == 0xAAAAAAAA, "reserved2", h->reserved2, "must be 0xaaaaaaaa"},
        {h->reserved3 == 0xBBBBBBBB, "reserved3", h->reserved3, "must be 0xbbbbbbbb"},
        {h->reserved4 == 0xCCCCCCCC, "reserved4", h->reserved4, "must be 0xcccccccc"},
        {o->registry_end == o->entries_start, "buffer_start_pointer", h->entries_start,
         "the entries do not follow the registry"},
        {whole, "buffer_end_pointer", h->entries_end, "not a whole number of entries"},
    };

    return extract_checks_run(checks, sizeof checks / sizeof *checks, "trace header", address,
                              error);
}

static enum extract_code check_layout(const struct threadx_header *h, const struct distances *o,
                                      uint64_t address, unsigned word, struct extract_error *error)
{
    uint32_t entry = threadx_entry_bytes(word);
    uint32_t object = threadx_object_bytes(word, h->name_bytes);
    uint64_t used = (o->entries_end - o->entries_start) / entry * entry; // without the remainder
    struct extract_check checks[] = {
        {h->id == THREADX_ID, "id", h->id, "must be 0x54585442"},
        {h->name_bytes >= 1 && h->name_bytes <= THREADX_NAME_MAX, "object_name_size", h->name_bytes,
         "must be from 1 to 1024"},
        {o->registry_start == threadx_header_bytes(word), "registry_start_pointer",
         h->registry_start, "the registry must follow the header"},
        {o->registry_end >= o->registry_start, "registry_end_pointer", h->registry_end,
         "before registry_start_pointer"},
        {(o->registry_end - o->registry_start) % object == 0, "registry_end_pointer",
         h->registry_end, "not a whole number of slots with names of that size"},
        {o->entries_start >= o->registry_end, "buffer_start_pointer", h->entries_start,
         "inside the registry"},
        {o->entries_end >= o->entries_start && o->entries_end - o->entries_start >= entry,
         "buffer_end_pointer", h->entries_end, "no space for an entry"},
        {o->entries_end <= EXTRACT_RING_LIMIT && address + o->entries_end >= address,
         "buffer_end_pointer", h->entries_end, "the ring would be larger than 256 MiB"},
        {o->current >= o->entries_start && o->current - o->entries_start < used,
         "buffer_current_pointer", h->current, "outside of the buffer"},
        {(o->current - o->entries_start) % entry == 0, "buffer_current_pointer", h->current,
         "points into the middle of an entry"},
    };

    return extract_checks_run(checks, sizeof checks / sizeof *checks, "trace header", address,
                              error);
}

// Returns the complete slots of a span; `end` becomes the end of the last one.
static struct extract_slots slots_make(uint64_t start, uint64_t end, uint32_t bytes)
{
    uint32_t count = (uint32_t)((end - start) / bytes);
    struct extract_slots slots = {start, start + (uint64_t)count * bytes, bytes, count};

    return slots;
}

enum extract_code threadx_ring_fill(struct extract_ring *ring, const struct threadx_header *h,
                                    uint64_t address, bool strict, struct extract_error *error)
{
    unsigned word = ring->word_bytes;
    struct distances o = offsets_from_base(h, word);
    enum extract_code code = check_layout(h, &o, address, word, error);

    if (!code && strict)
        code = check_scanned(h, &o, address, word, error);
    if (code)
        return code;
    ring->format = &extract_format_threadx;
    ring->address = address;
    ring->base_delta = address - h->base;
    ring->header_bytes = threadx_header_bytes(word);
    ring->current_offset = threadx_current_offset(word);
    ring->timer_mask = h->mask;
    ring->name_bytes = h->name_bytes;
    ring->registry = slots_make(address + o.registry_start, address + o.registry_end,
                                threadx_object_bytes(word, h->name_bytes));
    ring->entries =
        slots_make(address + o.entries_start, address + o.entries_end, threadx_entry_bytes(word));
    ring->current = address + o.current;
    ring->length = ring->entries.end - address;
    return EXTRACT_OK;
}

// Decodes the bytes of a header, and begins a ring with them. Returns false if they are none.
static bool fill_from_bytes(struct extract_ring *ring, struct threadx_header *header,
                            const uint8_t *bytes, size_t length)
{
    enum extract_byte_order order;
    unsigned word;

    if (!threadx_header_sniff(bytes, length, &order, &word) ||
        !threadx_header_read(header, bytes, length, order, word))
        return false;
    memset(ring, 0, sizeof *ring);
    ring->byte_order = order;
    ring->word_bytes = (uint8_t)word;
    memcpy(ring->header, bytes, threadx_header_bytes(word));
    return true;
}

bool threadx_is_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                       uint64_t address)
{
    struct threadx_header header;

    return fill_from_bytes(ring, &header, bytes, length) &&
           !threadx_ring_fill(ring, &header, address, true, NULL);
}

// The header passes all checks at the address that it states, which is another one.
bool threadx_is_moved_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                             uint64_t address)
{
    struct threadx_header header;

    return fill_from_bytes(ring, &header, bytes, length) &&
           !threadx_ring_fill(ring, &header, header.base, true, NULL) &&
           !threadx_ring_fill(ring, &header, address, false, NULL) &&
           ring->base_delta & (ring->word_bytes == 4 ? UINT32_MAX : UINT64_MAX);
}
