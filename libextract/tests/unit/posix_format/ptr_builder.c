// SPDX-License-Identifier: MIT
// tests: synthetic POSIX traces. In: names, records. Out: the bytes of the object.
#include "tests/unit/posix_format/ptr_builder.h"

enum { HEAD = 48, TAIL = 52, RECORDED = 56, OVERWRITTEN = 60 };

static void store(const struct ptr *ptr, uint8_t *to, uint32_t value)
{
    ring_number(to, value, 4, ptr->kind.big);
}

static uint32_t load(const struct ptr *ptr, const uint8_t *from)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)from[ptr->kind.big ? 3 - i : i] << 8 * i;
    return value;
}

static unsigned stream_at(unsigned stream)
{
    return PTR_STREAMS_AT + stream * PTR_STREAM_BYTES;
}

static uint8_t *word_at(struct ptr *ptr, unsigned stream, uint32_t position)
{
    uint32_t ring = PTR_RINGS_AT + stream * ptr->words * 4;
    return ptr->bytes + ring + position % ptr->words * 4;
}

void ptr_set(struct ptr *ptr, unsigned offset, uint32_t value)
{
    store(ptr, ptr->bytes + offset, value);
}

void ptr_stream_set(struct ptr *ptr, unsigned stream, unsigned offset, uint32_t value)
{
    store(ptr, ptr->bytes + stream_at(stream) + offset, value);
}

uint32_t ptr_stream_get(const struct ptr *ptr, unsigned stream, unsigned offset)
{
    return load(ptr, ptr->bytes + stream_at(stream) + offset);
}

void ptr_poke(struct ptr *ptr, unsigned stream, uint32_t position, uint32_t value)
{
    store(ptr, word_at(ptr, stream, position), value);
}

static void build_stream(struct ptr *ptr, unsigned stream, uint32_t layout, uint32_t start)
{
    const uint32_t words[] = {0x53525450,
                              1,
                              128,
                              stream_at(stream),
                              PTR_RINGS_AT + stream * ptr->words * 4,
                              ptr->words,
                              layout,
                              1000000,
                              1,
                              stream ? 0 : 3,
                              1,
                              64,
                              start,
                              start};
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        ptr_stream_set(ptr, stream, 4 * i, words[i]);
    ptr_stream_set(ptr, stream, 88, start); // nothing is unread
    memcpy(ptr->bytes + stream_at(stream) + 128, "probe", 5);
}

void ptr_build(struct ptr *ptr, const struct ptr_kind *kind, uint32_t words, uint32_t start)
{
    static const char *const names[] = {"posix_trace_unnamed_userevent", "alpha", "beta"};
    memset(ptr, 0, sizeof *ptr);
    ptr->kind = *kind;
    ptr->words = words;
    uint32_t layout = kind->address_bytes | kind->stamp_bits << 8 | (uint32_t)kind->pids << 16;
    const uint32_t block[] = {0x43525450,
                              1,
                              128,
                              PTR_RINGS_AT + PTR_STREAMS * words * 4,
                              1,
                              1,
                              PTR_STREAMS,
                              PTR_STREAM_BYTES,
                              PTR_STREAMS_AT,
                              PTR_NAMES_AT,
                              PTR_NAME,
                              PTR_NAMES,
                              3,
                              0,
                              layout,
                              1000000,
                              PTR_IDS,
                              1};
    for (unsigned i = 0; i < sizeof block / sizeof *block; i++)
        ptr_set(ptr, 4 * i, block[i]);
    for (unsigned i = 0; i < 3; i++)
        memcpy(ptr->bytes + PTR_NAMES_AT + i * PTR_NAME, names[i], strlen(names[i]));
    for (unsigned i = 0; i < PTR_STREAMS; i++)
        build_stream(ptr, i, layout, start);
}

// The oldest record gives way.
static void drop(struct ptr *ptr, unsigned stream)
{
    uint32_t tail = ptr_stream_get(ptr, stream, TAIL);
    uint32_t length = load(ptr, word_at(ptr, stream, tail)) >> 16 & 0xFFF;
    ptr_stream_set(ptr, stream, TAIL, tail + length);
    ptr_stream_set(ptr, stream, OVERWRITTEN, ptr_stream_get(ptr, stream, OVERWRITTEN) + 1);
}

static uint32_t put_number(struct ptr *ptr, unsigned stream, uint32_t at, uint64_t value,
                           unsigned bytes)
{
    ptr_poke(ptr, stream, at, (uint32_t)value);
    if (bytes > 4)
        ptr_poke(ptr, stream, at + 1, (uint32_t)(value >> 32));
    return at + (bytes > 4 ? 2 : 1);
}

static uint32_t put_data(struct ptr *ptr, unsigned stream, uint32_t at,
                         const struct ptr_record *record)
{
    const uint8_t *data = record->data;
    for (unsigned i = 0; i < (record->data_bytes + 3) / 4; i++)
        ptr_poke(ptr, stream, at + i, 0);
    for (unsigned i = 0; i < record->data_bytes; i++)
        word_at(ptr, stream, at + i / 4)[i % 4] = data[i];
    return at + (record->data_bytes + 3) / 4;
}

uint32_t ptr_put(struct ptr *ptr, unsigned stream, const struct ptr_record *record)
{
    const struct ptr_kind *kind = &ptr->kind;
    uint32_t head = ptr_stream_get(ptr, stream, HEAD), at = head + 2;
    uint32_t length = 3 + 2 * kind->address_bytes / 4 + kind->pids + (kind->stamp_bits > 32) + 1 +
                      (record->data_bytes + 3) / 4;
    while (head + length - ptr_stream_get(ptr, stream, TAIL) > ptr->words)
        drop(ptr, stream);
    uint32_t tie = (head & 0xFFFF) | length << 16;
    ptr_poke(ptr, stream, head,
             tie | (uint32_t)record->cut << 28 | (uint32_t)record->interrupt << 29 |
                 (record->open ? 1u : 2u) << 30);
    ptr_poke(ptr, stream, head + 1, record->id | record->data_bytes << 16);
    at = put_number(ptr, stream, at, record->address, kind->address_bytes);
    at = put_number(ptr, stream, at, record->thread, kind->address_bytes);
    if (kind->pids)
        at = put_number(ptr, stream, at, record->pid, 4);
    at = put_number(ptr, stream, at, record->stamp, kind->stamp_bits > 32 ? 8 : 4);
    at = put_data(ptr, stream, at, record);
    ptr_poke(ptr, stream, at, tie | 0xAu << 28);
    ptr_stream_set(ptr, stream, HEAD, at + 1);
    ptr_stream_set(ptr, stream, RECORDED, ptr_stream_get(ptr, stream, RECORDED) + 1);
    return head;
}

uint32_t ptr_put_number(struct ptr *ptr, unsigned stream, uint32_t number)
{
    uint8_t data[4];
    ring_number(data, number, 4, ptr->kind.big);
    const struct ptr_record record = {.id = 33,
                                      .data = data,
                                      .data_bytes = 4,
                                      .address = 0x08000124,
                                      .thread = 0x20004000,
                                      .stamp = 1000 + 10 * (uint64_t)number};
    return ptr_put(ptr, stream, &record);
}

struct extract_memory *ptr_memory(const struct ptr *ptr)
{
    struct extract_memory *memory = images_open();
    size_t length = PTR_RINGS_AT + (size_t)PTR_STREAMS * ptr->words * 4;
    assert_int_equal(
        extract_memory_add_bytes(memory, "object", ptr->bytes, length, PTR_ADDRESS, NULL), 0);
    return memory;
}
