// SPDX-License-Identifier: MIT
// base: hexadecimal digits of the GDB remote serial protocol, whose data are pairs of them.
#ifndef EXTRACT_BASE_HEX_H
#define EXTRACT_BASE_HEX_H

#define EXTRACT_HEX_DIGITS "0123456789abcdef"

// Returns the value of a digit; -1: `c` is none.
static inline int extract_hex_value(int c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

#endif
