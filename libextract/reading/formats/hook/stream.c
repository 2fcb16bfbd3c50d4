// SPDX-License-Identifier: MIT
// formats/hook: converts a raw stream to a ring. The stream has entries without frames, as AIX logs
// have them. The result is a memory that contains a control block and these entries in frames, so
// that everything else handles it like a target's ring.
//
// Source: docs/formats/hook.md, "The stream"; IBM AIX documentation, "trc_read", for the types.
#include "base/file.h"
#include "formats/hook/hook.h"
#include "memory/images.h"
#include <stdlib.h>

enum {
    MIN_BUFFER_BYTES = 64,
    MAX_BUFFER_BYTES = 1 << 28,
    CHAIN = 16, // consecutive entries that prove a position after damage
    MIN_CAPACITY = 4096
};

// The ring as it is built.
struct builder {
    struct extract_hook_stream layout; // completely resolved
    const uint8_t *bytes;              // the stream
    size_t length;
    uint8_t *ring; // control block and records
    size_t used, capacity;
    uint32_t records;
};

// An entry of the stream.
struct item {
    struct hook_word word;
    uint32_t head;       // bytes of the hook word in the stream
    uint32_t data;       // bytes of data words and buffer
    uint32_t fill;       // bytes of padding after them
    uint32_t tid, stamp; // bytes of each
};

static uint32_t item_length(const struct item *item)
{
    return item->head + item->data + item->fill + item->tid + item->stamp;
}

// Returns the bytes of data words and buffer; UINT32_MAX if the type does not exist.
static uint32_t narrow_data_bytes(const struct hook_word *word)
{
    switch (word->type & ~HOOK_TYPE_STAMP) {
    case HOOK_TYPE_GENERIC:
        return 4 + (uint32_t)word->data;
    case HOOK_TYPE_NONE:
        return 0;
    case HOOK_TYPE_ONE:
        return 4;
    case HOOK_TYPE_FIVE:
        return 4 * HOOK_MAX_WORDS;
    default:
        return UINT32_MAX;
    }
}

static uint32_t wide_data_bytes(const struct hook_word *word)
{
    uint32_t unit = word->type & HOOK_WIDE_NARROW_DATA ? 4 : 8;

    if (word->generic)
        return unit + word->size;
    return word->size % unit || word->size > unit * HOOK_MAX_WORDS ? UINT32_MAX : word->size;
}

// Converts a 32-bit hook in a 64-bit stream to an ordinary 32-bit hook word. Returns false if its
// id does not fit.
static bool convert_to_narrow(struct hook_word *word, uint32_t data)
{
    uint16_t stamp = word->type & HOOK_WIDE_STAMP ? HOOK_TYPE_STAMP : 0;
    uint16_t type = data == 0 ? HOOK_TYPE_NONE : data == 4 ? HOOK_TYPE_ONE : HOOK_TYPE_FIVE;

    if (word->generic)
        type = HOOK_TYPE_GENERIC;
    word->data = word->generic ? word->size : word->data;
    word->type = type | stamp;
    word->wide = false;
    return word->id % 16 == 0;
}

// Decodes the entry at `at`. Returns false if there is no entry, or it is incomplete.
static bool item_read(const struct builder *builder, size_t at, struct item *item)
{
    const struct extract_hook_stream *layout = &builder->layout;
    struct extract_cursor c =
        extract_cursor_make(builder->bytes + at, builder->length - at, layout->order);
    bool wide = layout->bits == 64;

    hook_word_read(&item->word, &c, wide);
    item->head = wide ? 8 : 4;
    item->data = wide ? wide_data_bytes(&item->word) : narrow_data_bytes(&item->word);
    if (c.failed || !item->word.id || item->data == UINT32_MAX)
        return false;
    bool typed = item->word.type & (wide ? HOOK_WIDE_STAMP : HOOK_TYPE_STAMP);
    item->fill = (item->head - item->data % item->head) % item->head;
    item->tid = layout->tid;
    item->stamp = typed || layout->all_stamped ? layout->stamp : 0;
    if (wide && item->word.type & HOOK_WIDE_NARROW_DATA &&
        !convert_to_narrow(&item->word, item->data))
        return false;
    return item_length(item) <= builder->length - at;
}

// Returns whether consecutive entries begin at `at`, up to the end of the stream or CHAIN of them.
static bool has_entries_at(const struct builder *builder, size_t at)
{
    struct item item;

    for (unsigned i = 0; i < CHAIN && at != builder->length; i++) {
        if (!item_read(builder, at, &item))
            return false;
        at += item_length(&item);
    }
    return true;
}

// Appends `more` zero bytes to the ring and returns them; NULL if memory runs out.
static uint8_t *append_zeros(struct builder *builder, size_t more)
{
    size_t used = builder->used;

    if (builder->capacity - used < more) {
        size_t capacity = (used + more) * 2 + MIN_CAPACITY;
        uint8_t *ring = realloc(builder->ring, capacity);
        if (!ring)
            return NULL;
        builder->ring = ring;
        builder->capacity = capacity;
    }
    builder->used += more;
    return memset(builder->ring + used, 0, more);
}

// Appends the entry at `at` of the stream as a record.
static bool append_record(struct builder *builder, size_t at, const struct item *item)
{
    const uint8_t *from = builder->bytes + at;
    uint32_t unit = hook_unit(&item->word), numbers = item->tid + item->stamp;
    uint32_t length = 4 + unit + (item->data + 3) / 4 * 4 + numbers;
    bool is_long = length > HOOK_MAX_FRAME; // its length is in a word after the frame

    length += is_long ? 4 : 0;
    uint8_t *record = append_zeros(builder, length), *to = record;
    if (!record)
        return false;
    uint32_t frame = (is_long ? 0 : length) | (item->word.wide ? HOOK_FRAME_WIDE : 0) |
                     (item->tid ? HOOK_FRAME_TID : 0) | (item->tid == 8 ? HOOK_FRAME_TID_8 : 0) |
                     (item->stamp ? HOOK_FRAME_STAMP : 0) |
                     (item->stamp == 8 ? HOOK_FRAME_STAMP_8 : 0);
    extract_store(to, frame, 4, builder->layout.order);
    to += 4;
    if (is_long) {
        extract_store(to, length, 4, builder->layout.order);
        to += 4;
    }
    if (unit == item->head)
        memcpy(to, from, unit);
    else
        extract_store(to, (uint32_t)hook_word_value(&item->word), 4, builder->layout.order);
    memcpy(to + unit, from + item->head, item->data);
    memcpy(record + length - numbers, from + item->head + item->data + item->fill, numbers);
    builder->records++;
    return true;
}

// Appends records that mark bytes that are not an entry.
static bool append_damage(struct builder *builder, size_t length)
{
    while (length) {
        size_t part = length < HOOK_MAX_FRAME ? length : HOOK_MAX_FRAME;
        uint32_t padded = ((uint32_t)part + 3) / 4 * 4;
        uint8_t *to = append_zeros(builder, padded);
        if (!to)
            return false;
        extract_store(to, HOOK_FRAME_NONE | padded, 4, builder->layout.order);
        builder->records++;
        length -= part;
    }
    return true;
}

static bool append_all(struct builder *builder, size_t at)
{
    struct item item;
    bool fits = true;

    while (fits && at < builder->length) {
        size_t start = at;
        if (item_read(builder, at, &item)) {
            fits = append_record(builder, at, &item);
            at += item_length(&item);
            continue;
        }
        for (at += 4; at < builder->length && !has_entries_at(builder, at);)
            at += 4;
        at = at < builder->length ? at : builder->length;
        fits = append_damage(builder, at - start);
    }
    return fits;
}

// ---- The layout: what the user did not set follows from the stream's start and the word size ----

// Resolves the layout. Returns the number of bytes before the first entry.
static size_t resolve_layout(struct extract_hook_stream *layout, const uint8_t *bytes,
                             size_t length)
{
    enum extract_byte_order order = extract_hooks_stream_order(bytes, length);
    bool begins = order && layout->bits != 32;

    if (begins)
        layout->order = order;
    if (!layout->bits)
        layout->bits = begins ? 64 : 32;
    if (!layout->order)
        layout->order = EXTRACT_BIG;
    if (!layout->tid_known)
        layout->tid = layout->bits / 8;
    if (!layout->stamp_known)
        layout->stamp = layout->bits / 8;
    return begins ? 4 : 0;
}

static void write_header(struct builder *builder, uint32_t buffer_bytes)
{
    const struct extract_hook_stream *layout = &builder->layout;
    const struct {
        enum extract_hooks_word at;
        uint32_t value;
    } words[] = {
        {EXTRACT_HOOKS_AT_MAGIC, EXTRACT_HOOKS_MAGIC},
        {EXTRACT_HOOKS_AT_VERSION, EXTRACT_HOOKS_VERSION},
        {EXTRACT_HOOKS_AT_HEADER_BYTES, EXTRACT_HOOKS_HEADER},
        {EXTRACT_HOOKS_AT_BUFFER_BYTES, buffer_bytes},
        {EXTRACT_HOOKS_AT_FLAGS, HOOK_FLAG_KEEPS_OLDEST | HOOK_FLAG_CPUS_SEEN},
        {EXTRACT_HOOKS_AT_CLOCK_HZ, (uint32_t)layout->hz},
        {EXTRACT_HOOKS_AT_CLOCK_BITS, layout->stamp ? 8 * layout->stamp : 64},
        {EXTRACT_HOOKS_AT_HEAD, (uint32_t)builder->used - EXTRACT_HOOKS_HEADER},
        {EXTRACT_HOOKS_AT_RECORDS, builder->records},
        {EXTRACT_HOOKS_AT_WORD_BYTES, layout->bits / 8},
        {EXTRACT_HOOKS_AT_CPUS, 1},
    };

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        extract_store(builder->ring + words[i].at, words[i].value, 4, layout->order);
}

// Builds the ring, whose buffer is filled up to a power of two.
static enum extract_code build_ring(struct builder *builder, const char *name,
                                    struct extract_error *error)
{
    uint32_t buffer_bytes = MIN_BUFFER_BYTES;
    size_t at = resolve_layout(&builder->layout, builder->bytes, builder->length);
    bool fits = append_zeros(builder, EXTRACT_HOOKS_HEADER) && append_all(builder, at);
    size_t used = builder->used - (fits ? EXTRACT_HOOKS_HEADER : 0);

    if (used > MAX_BUFFER_BYTES)
        return extract_error_set(error, EXTRACT_LIMIT, name, "split it into parts",
                                 "streams of more than 256 MiB cannot be read");
    while (buffer_bytes < used)
        buffer_bytes *= 2;
    if (!fits || !append_zeros(builder, buffer_bytes - used))
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    builder->used = EXTRACT_HOOKS_HEADER + used;
    write_header(builder, buffer_bytes);
    builder->used = EXTRACT_HOOKS_HEADER + (size_t)buffer_bytes;
    return EXTRACT_OK;
}

static enum extract_code open_memory(struct extract_memory **memory, struct builder *builder,
                                     const char *name, struct extract_error *error)
{
    struct extract_input input = {.name = name, .bytes = builder->ring, .length = builder->used};
    enum extract_code code = extract_memory_new_images(memory, error);

    if (code)
        return code;
    // Entries consist of words, so that a stream has a round length, as an image has.
    extract_images_check_line_ends(extract_images_of(*memory), builder->bytes, -1, builder->length);
    code = extract_hooks_load(extract_images_of(*memory), &input, error);
    builder->ring = input.bytes;
    if (!code)
        return EXTRACT_OK;
    extract_memory_close(*memory);
    *memory = NULL;
    return code;
}

enum extract_code extract_hook_stream_open(struct extract_memory **memory, const char *path,
                                           const struct extract_hook_stream *stream,
                                           struct extract_error *error)
{
    struct builder builder = {.layout = *stream};
    const char *name = extract_file_name(path);
    uint8_t *bytes;

    *memory = NULL;
    enum extract_code code =
        extract_file_read(path, EXTRACT_FILE_LIMIT, &bytes, &builder.length, error);
    if (code)
        return code;
    builder.bytes = bytes;
    if (!builder.length)
        code = extract_error_set(error, EXTRACT_BAD, name, "use a file of entries", "empty file");
    code = code ? code : build_ring(&builder, name, error);
    code = code ? code : open_memory(memory, &builder, name, error);
    free(builder.ring);
    free(bytes);
    return code;
}
