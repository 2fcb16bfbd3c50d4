// SPDX-License-Identifier: MIT
// templates/run: makes an entry from raw bytes: a hook word and what follows it.
//
// Hook words of the AIX trace facility have 32 bits: hook id (12), type (4), hook data (16); or 64
// bits: flags, size, hook id and subhook, 16 each.
#include "base/cursor.h"
#include <extract/templates.h>

enum {
    TYPE_GENERIC = 0, // trcgen
    TYPE_EMPTY = 1,   // trchk
    TYPE_WORD = 2,    // trchl
    TYPE_WORDS = 6,   // trchkg
    TYPE_STAMPED = 8, // added to one of these
    FLAG_GENERIC = 0x4000,
    MAX_WORDS = 5
};

// Returns the bytes of data words that the type allows; fewer if the entry is shorter.
static uint32_t count_data_bytes(unsigned type, size_t length)
{
    size_t max_bytes = type == TYPE_EMPTY ? 0 : type == TYPE_WORD ? 4 : MAX_WORDS * 4;
    size_t bytes = length - 4 < max_bytes ? length - 4 : max_bytes;

    return (uint32_t)bytes;
}

static void parse_narrow(struct extract_entry *entry, struct extract_cursor *c)
{
    uint32_t word = extract_cursor_u32(c);
    unsigned type = word >> 16 & (15 & ~TYPE_STAMPED);

    entry->bits = 32;
    entry->hook = (uint16_t)(word >> 20 << 4);
    entry->type = word >> 16 & 15;
    entry->data = (uint16_t)word;
    entry->generic = entry->generic || type == TYPE_GENERIC;
    entry->bytes_of_data = entry->generic ? entry->data : count_data_bytes(type, c->length);
}

static void parse_wide(struct extract_entry *entry, struct extract_cursor *c)
{
    entry->bits = 64;
    entry->type = extract_cursor_u16(c);
    entry->bytes_of_data = extract_cursor_u16(c);
    entry->hook = extract_cursor_u16(c);
    entry->data = extract_cursor_u16(c);
    entry->generic = entry->generic || entry->type & FLAG_GENERIC;
}

enum extract_code extract_entry_parse(struct extract_entry *entry, const uint8_t *bytes,
                                      size_t length, unsigned bits, bool generic,
                                      struct extract_error *error)
{
    *entry = (struct extract_entry){.bytes = bytes, .length = length, .generic = generic};
    struct extract_cursor c = extract_cursor_make(bytes, length, EXTRACT_BIG);
    if (length < bits / 8)
        return extract_error_set(error, EXTRACT_TRUNCATED, "entry", "pass the hook word as well",
                                 "%zu bytes are not a hook word of %u", length, bits / 8);
    if (bits == 64)
        parse_wide(entry, &c);
    else
        parse_narrow(entry, &c);
    return EXTRACT_OK;
}
