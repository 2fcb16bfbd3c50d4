// SPDX-License-Identifier: MIT
// formats/hook: takes one record apart, and checks that its parts agree with its length.
//
// Source: docs/formats/hook.md, "A record"; the types of hook words as AIX documents them.
#include "formats/hook/hook.h"

void hook_word_read(struct hook_word *word, struct extract_cursor *c, bool wide)
{
    *word = (struct hook_word){.wide = wide};
    if (wide) {
        uint64_t value = extract_cursor_u64(c);
        word->type = (uint16_t)(value >> 48);
        word->size = (uint16_t)(value >> 32);
        word->id = (uint16_t)(value >> 16);
        word->data = (uint16_t)value;
        word->generic = word->type & HOOK_WIDE_GENERIC;
    } else {
        uint32_t value = extract_cursor_u32(c);
        word->id = (uint16_t)(value >> 16 & 0xFFF0);
        word->type = (uint16_t)(value >> 16 & 0xF);
        word->data = (uint16_t)value;
        word->generic = (word->type & ~HOOK_TYPE_STAMP) == HOOK_TYPE_GENERIC;
    }
}

uint64_t hook_word_value(const struct hook_word *word)
{
    if (word->wide)
        return (uint64_t)word->type << 48 | (uint64_t)word->size << 32 | (uint64_t)word->id << 16 |
               word->data;
    return (uint32_t)(word->id | word->type) << 16 | word->data;
}

uint32_t hook_word_buffer(const struct hook_word *word)
{
    if (!word->generic)
        return 0;
    return word->wide ? word->size : word->data;
}

// Returns how many data words a non-generic entry has in `bytes` bytes; UINT32_MAX if the hook word
// does not allow that many.
static uint32_t count_words(const struct hook_word *word, uint32_t bytes)
{
    uint32_t words = bytes / hook_unit(word);
    bool fits = false;

    if (bytes % hook_unit(word))
        return UINT32_MAX;
    if (word->wide)
        fits = bytes == word->size && words <= HOOK_MAX_FIELDS;
    else if ((word->type & ~HOOK_TYPE_STAMP) == HOOK_TYPE_NONE)
        fits = words == 0;
    else if ((word->type & ~HOOK_TYPE_STAMP) == HOOK_TYPE_ONE)
        fits = words == 1;
    else if ((word->type & ~HOOK_TYPE_STAMP) == HOOK_TYPE_FIVE)
        fits = words >= 1 && words <= HOOK_MAX_WORDS;
    return fits ? words : UINT32_MAX;
}

// Returns the bytes of a number in a record, which the bit `has` of the frame announces.
static uint32_t number_bytes(uint32_t frame, uint32_t has, uint32_t is_wide)
{
    if (!(frame & has))
        return 0;
    return frame & is_wide ? 8 : 4;
}

// Reads the frame, and the words after it that contain a length of more than 16 bits and the number
// of a board.
static void read_frame(struct hook_record *record, struct extract_cursor *c, bool has_boards)
{
    const uint32_t board_bits = HOOK_FRAME_BOARD | HOOK_FRAME_STAMP;

    record->frame = extract_cursor_u32(c);
    record->length = record->frame & 0xFFFF;
    record->board = 0;
    if (!record->length) {
        uint32_t length = extract_cursor_u32(c);
        bool needed = length > HOOK_MAX_FRAME && length <= HOOK_MAX_RECORD;
        record->length = needed ? length : 0;
    }
    if (has_boards && (record->frame & board_bits) == board_bits)
        record->board = extract_cursor_u32(c);
    record->head = (uint32_t)c->at;
}

bool hook_record_read(struct hook_record *record, const uint8_t *bytes, uint32_t length,
                      enum extract_byte_order order, struct hook_limits limits)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, order);

    read_frame(record, &c, limits.has_boards);
    uint32_t frame = record->frame, own = record->length;
    bool length_fits = own >= 8 && own % 4 == 0 && own <= length;
    bool is_of_board = frame & HOOK_FRAME_BOARD;
    bool bits_fit = is_of_board == (record->board != 0) &&
                    (frame & (HOOK_FRAME_TID | HOOK_FRAME_TID_8)) != HOOK_FRAME_TID_8 &&
                    (frame & (HOOK_FRAME_STAMP | HOOK_FRAME_STAMP_8)) != HOOK_FRAME_STAMP_8 &&
                    frame >> 24 < limits.cpus;
    if (c.failed || !length_fits || !bits_fit)
        return false;
    uint32_t tid = number_bytes(frame, HOOK_FRAME_TID, HOOK_FRAME_TID_8);
    uint32_t stamp = number_bytes(frame, HOOK_FRAME_STAMP, HOOK_FRAME_STAMP_8);
    c.length = own;
    hook_word_read(&record->word, &c, frame & HOOK_FRAME_WIDE);
    uint32_t before = (uint32_t)c.at + tid + stamp;
    if (c.failed || before > own)
        return false;
    uint32_t data_bytes = own - before, unit = hook_unit(&record->word);
    record->buffer = hook_word_buffer(&record->word);
    record->words = record->word.generic ? 1 : count_words(&record->word, data_bytes);
    if (record->words == UINT32_MAX ||
        (record->word.generic && data_bytes != unit + ((record->buffer + 3) & ~3u)))
        return false;
    extract_cursor_seek(&c, own - tid - stamp);
    record->tid = tid ? extract_cursor_word(&c, tid) : 0;
    record->stamp = stamp ? extract_cursor_word(&c, stamp) : 0;
    return !c.failed;
}
