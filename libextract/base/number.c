// SPDX-License-Identifier: MIT
// base: numbers as users write them, decimal or hexadecimal with 0x, up to 64 bits. A sign, a
// blank or anything else after the digits makes the text invalid.
#include <extract/filter.h>

// Returns the value of a hexadecimal digit, or 16 for any other character.
static unsigned digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return (unsigned)(c - '0');
    if (c >= 'a' && c <= 'f')
        return (unsigned)(c - 'a') + 10;
    if (c >= 'A' && c <= 'F')
        return (unsigned)(c - 'A') + 10;
    return 16;
}

bool extract_number_parse(const char *string, uint64_t *number)
{
    bool hex = string[0] == '0' && (string[1] == 'x' || string[1] == 'X');
    unsigned base = hex ? 16 : 10;
    uint64_t value = 0;
    const char *at = string + (hex ? 2 : 0);

    if (!*at)
        return false;
    for (; *at; at++) {
        unsigned digit = digit_value(*at);
        if (digit >= base || __builtin_mul_overflow(value, base, &value) ||
            __builtin_add_overflow(value, digit, &value))
            return false;
    }
    *number = value;
    return true;
}
