// SPDX-License-Identifier: MIT
// symbols: the build id of a program; the build attributes of an Arm program, and the numbers of
// variable length that they have in common with DWARF.
//
//     'A', then per vendor:  u32 length | name, NUL | blocks
//     block:                 tag (ULEB128; 1: the whole file) | u32 length | attributes
//     attribute:             tag (ULEB128) | number (ULEB128) or text with its NUL
//
// Sources: Build Attributes for the Arm Architecture (ABI), sections 3 and 4; NT_GNU_BUILD_ID in
// elf.h, a note named "GNU".
#include "dwarf.h"

enum {
    FILE_ATTRIBUTES = 1,
    CPU_RAW_NAME = 4,
    CPU_NAME = 5,
    CPU_ARCH_PROFILE = 7,
    COMPATIBILITY = 32, // a number and a text
    SECTION_TYPE = 0x70000003,
    MOST_TAGS = 1024
};

uint64_t extract_dwarf_uleb(struct extract_cursor *c)
{
    uint64_t value = 0;
    unsigned shift = 0;
    uint8_t byte;

    do {
        byte = extract_cursor_u8(c);
        if (shift < 64)
            value |= (uint64_t)(byte & 0x7f) << shift;
        shift = shift < 64 ? shift + 7 : 64;
    } while (byte & 0x80);
    return value;
}

static void skip_text(struct extract_cursor *c)
{
    while (extract_cursor_left(c) && extract_cursor_u8(c))
        ;
}

// Returns the rest of a part that begins with its length, in which `used` bytes were read already.
static struct extract_cursor take_part(struct extract_cursor *c, uint64_t used,
                                       enum extract_byte_order order)
{
    uint64_t length = extract_cursor_u32(c), rest = length < used + 4 ? 0 : length - used - 4;
    size_t left = extract_cursor_left(c);

    rest = rest < left ? rest : left;
    return extract_cursor_make(extract_cursor_span(c, rest), (size_t)rest, order);
}

// Returns the profile among the attributes of a block; 0 if it is not there.
static uint64_t find_profile(struct extract_cursor c)
{
    for (unsigned i = 0; i < MOST_TAGS && extract_cursor_left(&c) && !c.failed; i++) {
        uint64_t tag = extract_dwarf_uleb(&c);
        bool is_text = tag == CPU_RAW_NAME || tag == CPU_NAME || (tag > COMPATIBILITY && tag & 1);
        if (is_text) {
            skip_text(&c);
            continue;
        }
        uint64_t value = extract_dwarf_uleb(&c);
        if (tag == CPU_ARCH_PROFILE)
            return c.failed ? 0 : value;
        if (tag == COMPATIBILITY)
            skip_text(&c);
    }
    return 0;
}

bool extract_symbols_is_m_profile(const struct extract_symbols *symbols)
{
    const struct elf_file *file = &symbols->file;

    for (uint32_t i = 0; file->machine == EM_ARM && i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if (s->type != SECTION_TYPE)
            continue;
        struct extract_cursor c = extract_cursor_make(s->bytes, s->length, file->order);
        if (extract_cursor_u8(&c) != 'A')
            continue;
        struct extract_cursor vendor = take_part(&c, 0, file->order);
        skip_text(&vendor);
        size_t before = vendor.at;
        if (extract_dwarf_uleb(&vendor) != FILE_ATTRIBUTES)
            continue;
        struct extract_cursor block = take_part(&vendor, vendor.at - before, file->order);
        return find_profile(block) == 'M';
    }
    return false;
}

size_t extract_symbols_build_id(const struct extract_symbols *symbols, uint64_t *address,
                                uint8_t *bytes, size_t size)
{
    static const char owner[] = "GNU";
    const struct elf_file *file = &symbols->file;

    for (uint32_t i = 0; i < file->section_count; i++) {
        const struct elf_section *s = &file->sections[i];
        if (s->type != SHT_NOTE || !(s->flags & SHF_ALLOC))
            continue;
        struct extract_cursor c = extract_cursor_make(s->bytes, s->length, file->order);
        uint32_t name_bytes = extract_cursor_u32(&c), length = extract_cursor_u32(&c);
        uint32_t type = extract_cursor_u32(&c);
        const uint8_t *name = extract_cursor_span(&c, sizeof owner), *id;
        size_t at = c.at;
        id = extract_cursor_span(&c, length);
        if (c.failed || type != NT_GNU_BUILD_ID || name_bytes != sizeof owner ||
            memcmp(name, owner, sizeof owner) != 0)
            continue;
        *address = s->address + symbols->load_bias + at;
        length = length < size ? length : (uint32_t)size;
        memcpy(bytes, id, length);
        return length;
    }
    return 0;
}
