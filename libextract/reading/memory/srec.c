// SPDX-License-Identifier: MIT
// memory: loads Motorola S-record images. records.c reads the lines; this file knows the types of
// records. Standard: Motorola M68000 Family Programmer's Reference Manual (M68000PM/AD, REV. 1),
// appendix C "S-Record Output Format".
#include "memory/images.h"
#include "memory/records.h"

// Bytes of the address by record type, '0' to '9'; 0 for the type that is not defined.
static const uint8_t address_bytes[] = {2, 2, 3, 4, 0, 2, 3, 4, 3, 2};

struct srec_state {
    uint64_t data_records;
};

static enum extract_code check_count(struct extract_records *records, uint64_t count,
                                     unsigned bytes, const struct srec_state *state,
                                     struct extract_error *error)
{
    uint64_t mask = (UINT64_C(1) << (8 * bytes)) - 1;

    if (count != (state->data_records & mask))
        return extract_records_bad(records, "counts other records than there are before it", error);
    return EXTRACT_OK;
}

static enum extract_code store_record(struct extract_records *records, void *context,
                                      struct extract_error *error)
{
    struct srec_state *state = context;
    struct extract_cursor c = extract_cursor_make(records->record, records->length, EXTRACT_BIG);
    unsigned type = (unsigned)records->mark[1] - '0';
    unsigned bytes = type < sizeof address_bytes ? address_bytes[type] : 0;

    if (!bytes)
        return extract_records_bad(records, "its type is not one of S0 to S3 and S5 to S9", error);
    size_t length = extract_cursor_u8(&c);
    uint64_t address = 0;
    for (unsigned i = 0; i < bytes; i++)
        address = address << 8 | extract_cursor_u8(&c);
    if (length < bytes + 1 || c.failed)
        return extract_records_bad(records, "too short for its address", error);
    length -= bytes + 1; // bytes of data; the checksum follows them
    if (type == 0)
        return EXTRACT_OK; // a title
    if (type == 5 || type == 6)
        return check_count(records, address, bytes, state, error);
    if (type >= 7) {
        records->ended = true;
        return EXTRACT_OK;
    }
    state->data_records++;
    return extract_records_put(records, address, extract_cursor_span(&c, length), length, error);
}

static const struct extract_record_format srec_format = {
    .mark = 'S',
    .mark_length = 2,
    .overhead = 1, // the length byte
    .sum = 0xff,
    .end = "write it again; it should end with an S7, S8 or S9 record",
    .take = store_record,
};

enum extract_code extract_srec_load(struct extract_images *images, struct extract_input *input,
                                    struct extract_error *error)
{
    struct srec_state state = {0};

    return extract_records_load(images, input, &srec_format, &state, error);
}

bool extract_srec_is(const uint8_t *bytes, size_t length)
{
    return extract_records_are(&srec_format, bytes, length);
}

enum extract_code extract_memory_add_srec(struct extract_memory *memory, const char *path,
                                          struct extract_error *error)
{
    return extract_images_add_file(memory, path, 0, extract_srec_load, error);
}
