// SPDX-License-Identifier: MIT
// memory: the auxiliary vector of a process. A vector is pairs of words, a type and a value, up to
// one of the type AT_NULL.
//
// Source: getauxval(3), AT_ENTRY.
#include "memory/auxv.h"
#include <elf.h>

bool extract_auxv_entry(const uint8_t *bytes, size_t length, enum extract_byte_order order,
                        unsigned word_bytes, uint64_t *entry)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, order);

    for (;;) {
        uint64_t type = extract_cursor_word(&c, word_bytes);
        uint64_t value = extract_cursor_word(&c, word_bytes);
        if (c.failed || type == AT_NULL)
            return false;
        if (type == AT_ENTRY) {
            *entry = value;
            return true;
        }
    }
}
