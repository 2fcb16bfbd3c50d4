// SPDX-License-Identifier: MIT
// base: the characters of which the method of an HTTP request is made.
// Standard: RFC 9110, 9.1 (a method is a token) and 5.6.2 (token).
#ifndef EXTRACT_BASE_TOKEN_H
#define EXTRACT_BASE_TOKEN_H

#include <stdbool.h>
#include <string.h>

static inline bool extract_is_token(char c)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr(others, c));
}

#endif
