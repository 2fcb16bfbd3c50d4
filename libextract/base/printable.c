// SPDX-License-Identifier: MIT
// base: which bytes of a foreign text may reach a terminal as they are.
// Standard: UTF-8, RFC 3629, section 4; control characters of ECMA-48 (C0, DEL, C1); the
// bidirectional controls of Unicode, which reorder what stands around them.
#include "base/printable.h"
#include <stdbool.h>
#include <stdint.h>

// Length by the first byte; 0 for one that starts no character.
static size_t length_of(unsigned char first)
{
    if (first < 0x80)
        return 1;
    if (first >= 0xc2 && first < 0xe0)
        return 2;
    if ((first & 0xf0) == 0xe0)
        return 3;
    return first >= 0xf0 && first < 0xf5 ? 4 : 0;
}

static bool is_control(uint32_t c)
{
    return c < 0x20 || (c >= 0x7f && c < 0xa0) || (c >= 0x2028 && c <= 0x202e) ||
           (c >= 0x2066 && c <= 0x2069);
}

// Whether a character of that length could not have been written shorter, and is one.
static bool is_canonical(uint32_t c, size_t length)
{
    if (length == 3)
        return c >= 0x800 && (c < 0xd800 || c > 0xdfff);
    return length < 4 || (c >= 0x10000 && c < 0x110000);
}

size_t extract_printable(const char *string)
{
    const unsigned char *s = (const unsigned char *)string;
    size_t length = length_of(s[0]);
    if (!length)
        return 0;
    uint32_t c = length == 1 ? s[0] : s[0] & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80)
            return 0;
        c = c << 6 | (s[i] & 0x3f);
    }
    return is_canonical(c, length) && !is_control(c) ? length : 0;
}
