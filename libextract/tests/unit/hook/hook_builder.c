// SPDX-License-Identifier: MIT
// tests: builds synthetic rings of hook words. Source: docs/formats/hook.md.
#include "tests/unit/hook/hook_builder.h"

static uint8_t *at(struct hooks *hooks, uint32_t position)
{
    return hooks->bytes + HOOKS_HEADER + position % hooks->size;
}

void hooks_word(struct hooks *hooks, unsigned word, uint32_t value)
{
    ring_number(hooks->bytes + 4 * word, value, 4, hooks->big);
}

uint32_t hooks_word_at(const struct hooks *hooks, unsigned word)
{
    uint32_t value = 0;
    for (unsigned i = 0; i < 4; i++)
        value |= (uint32_t)hooks->bytes[4 * word + i] << 8 * (hooks->big ? 3 - i : i);
    return value;
}

void hooks_poke(struct hooks *hooks, uint32_t position, uint32_t value)
{
    ring_number(at(hooks, position), value, 4, hooks->big);
}

static void store_places(struct hooks *hooks)
{
    hooks_word(hooks, HOOKS_HEAD, hooks->head);
    hooks_word(hooks, HOOKS_TAIL, hooks->tail);
    hooks_word(hooks, HOOKS_RECORDS, hooks->records);
    hooks_word(hooks, HOOKS_LOST, hooks->lost);
}

void hooks_build(struct hooks *hooks, bool big, uint32_t size, uint32_t start)
{
    static const uint32_t words[] = {0x4B4F4F48, 1, 64, 0, 1, 1000000, 32, 0, 0, 0, 0, 0, 4, 2};
    memset(hooks, 0, sizeof *hooks);
    memset(hooks->bytes + HOOKS_HEADER, 0xA5, size);
    hooks->big = big;
    hooks->address = 0x20000100;
    hooks->size = size;
    hooks->head = hooks->tail = start;
    for (unsigned i = 0; i < sizeof words / sizeof *words; i++)
        hooks_word(hooks, i, words[i]);
    hooks_word(hooks, HOOKS_BUFFER_BYTES, size);
    store_places(hooks);
}

static void put_number(struct hooks *hooks, uint64_t value, unsigned bytes)
{
    uint8_t number[8];
    ring_number(number, value, bytes, hooks->big);
    for (unsigned i = 0; i < bytes; i++)
        *at(hooks, hooks->head + i) = number[i];
    hooks->head += bytes;
}

static uint32_t frame_at(struct hooks *hooks, uint32_t position)
{
    const uint8_t *b = at(hooks, position);
    return hooks->big ? (uint32_t)(b[2] << 8 | b[3]) : (uint32_t)(b[1] << 8 | b[0]);
}

static unsigned number_bytes(uint32_t frame, uint32_t has, uint32_t is_wide)
{
    return !(frame & has) ? 0 : frame & is_wide ? 8 : 4;
}

uint32_t hooks_put(struct hooks *hooks, const struct hooks_record *record)
{
    unsigned unit = record->frame & HOOKS_WIDE ? 8 : 4, padded = (record->buffer_bytes + 3) / 4 * 4;
    unsigned tid = number_bytes(record->frame, HOOKS_TID, HOOKS_TID_8);
    unsigned stamp = number_bytes(record->frame, HOOKS_STAMP, HOOKS_STAMP_8);
    unsigned length = 4 + unit * (1 + record->words) + padded + tid + stamp;
    bool is_long = length > 65532;
    uint32_t start = hooks->head;
    length += is_long ? 4 : 0;
    assert_true(length <= hooks->size);
    while (hooks->head - hooks->tail + length > hooks->size)
        hooks->tail += frame_at(hooks, hooks->tail);
    put_number(hooks, record->frame | (is_long ? 0 : length), 4);
    put_number(hooks, length, is_long ? 4 : 0);
    put_number(hooks, record->hook, unit);
    for (unsigned i = 0; i < record->words; i++)
        put_number(hooks, record->data[i], unit);
    for (unsigned i = 0; i < padded; i++)
        *at(hooks, hooks->head++) = i < record->buffer_bytes ? (uint8_t)record->buffer[i] : 0;
    put_number(hooks, record->tid, tid);
    put_number(hooks, record->stamp, stamp);
    hooks->records++;
    store_places(hooks);
    return start;
}

uint32_t hooks_put_plain(struct hooks *hooks, uint32_t number, uint64_t stamp)
{
    struct hooks_record record = {.frame = HOOKS_TID | HOOKS_STAMP,
                                  .hook = 0x123A0000 | (number & 0xFFFF),
                                  .words = 1,
                                  .data = {number},
                                  .tid = 0x20004000,
                                  .stamp = stamp};
    return hooks_put(hooks, &record);
}

size_t hooks_bytes(const struct hooks *hooks)
{
    return HOOKS_HEADER + (size_t)hooks->size;
}

struct extract_memory *hooks_memory(const struct hooks *hooks)
{
    struct extract_memory *memory;
    struct extract_error error;
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "ring", hooks->bytes, hooks_bytes(hooks),
                                              hooks->address, &error),
                     EXTRACT_OK);
    return memory;
}

void hooks_look(struct look *look, const struct hooks *hooks)
{
    look_open_memory(look, hooks_memory(hooks), hooks->address, NULL);
}
