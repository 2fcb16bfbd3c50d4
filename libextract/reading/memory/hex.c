// SPDX-License-Identifier: MIT
// memory: loads Intel HEX images. records.c reads the lines; this file knows the types of records.
// Standard: Intel Hexadecimal Object File Format Specification, revision A, January 6, 1988.
#include "memory/images.h"
#include "memory/records.h"

enum record_type { DATA, END, SEGMENT_BASE, SEGMENT_START, LINEAR_BASE, LINEAR_START };

enum { SEGMENT_BYTES = 0x10000 };

// The base address of the last record of type 02 or 04.
struct hex_state {
    uint64_t base;
    bool is_segmented; // type 02: 64 KiB segments
};

static enum extract_code store_data(struct extract_records *records, const struct hex_state *state,
                                    uint64_t offset, const uint8_t *data, size_t length,
                                    struct extract_error *error)
{
    // In section 2 such data wrap within their segment, but most tools let them run on. Guessing
    // would put bytes at wrong addresses.
    if (state->is_segmented && offset + length > SEGMENT_BYTES)
        return extract_records_bad(records, "its data cross the end of their 64 KiB segment",
                                   error);
    return extract_records_put(records, state->base + offset, data, length, error);
}

static enum extract_code set_base(struct extract_records *records, struct hex_state *state,
                                  struct extract_cursor *data, bool segmented,
                                  struct extract_error *error)
{
    uint64_t base = extract_cursor_u16(data);

    if (records->record[0] != 2)
        return extract_records_bad(records, "an extended address has 2 bytes", error);
    state->base = base << (segmented ? 4 : 16);
    state->is_segmented = segmented;
    return EXTRACT_OK;
}

static enum extract_code store_record(struct extract_records *records, void *context,
                                      struct extract_error *error)
{
    struct hex_state *state = context;
    struct extract_cursor c = extract_cursor_make(records->record, records->length, EXTRACT_BIG);
    size_t length = extract_cursor_u8(&c);
    uint16_t offset = extract_cursor_u16(&c);
    uint8_t type = extract_cursor_u8(&c);

    switch ((enum record_type)type) {
    case DATA:
        return store_data(records, state, offset, extract_cursor_span(&c, length), length, error);
    case END:
        records->ended = true;
        return EXTRACT_OK;
    case SEGMENT_BASE:
    case LINEAR_BASE:
        return set_base(records, state, &c, type == SEGMENT_BASE, error);
    case SEGMENT_START:
    case LINEAR_START: // a start address for the processor, not memory
        return EXTRACT_OK;
    }
    return extract_records_bad(records, "its type is not one of 00 to 05", error);
}

static const struct extract_record_format hex_format = {
    .mark = ':',
    .mark_length = 1,
    .overhead = 5, // length, 2 of address, type, checksum
    .sum = 0,
    .end = "write it again; it should end with the line :00000001FF",
    .take = store_record,
};

enum extract_code extract_hex_load(struct extract_images *images, struct extract_input *input,
                                   struct extract_error *error)
{
    struct hex_state state = {0, false};

    return extract_records_load(images, input, &hex_format, &state, error);
}

bool extract_hex_is(const uint8_t *bytes, size_t length)
{
    return extract_records_are(&hex_format, bytes, length);
}

enum extract_code extract_memory_add_hex(struct extract_memory *memory, const char *path,
                                         struct extract_error *error)
{
    return extract_images_add_file(memory, path, 0, extract_hex_load, error);
}
