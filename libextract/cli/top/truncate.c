// SPDX-License-Identifier: MIT
// cli/top: text in a given width. In: escaped text. Out: as much of it as fits, cut between
// characters. Standard: UTF-8, RFC 3629; SGR of ECMA-48, 8.3.117.
#include "base/printable.h"
#include "cli/top/top.h"
#include <string.h>

// Bytes of the character at `string`, of which `left` are there; a byte that is none counts alone.
static size_t character(const char *string, size_t left)
{
    char copy[EXTRACT_PRINTABLE_BYTES + 1] = {0};

    memcpy(copy, string, left < EXTRACT_PRINTABLE_BYTES ? left : EXTRACT_PRINTABLE_BYTES);
    size_t bytes = extract_printable(copy);
    return bytes ? bytes : 1;
}

// Bytes of the SGR sequence at `line`, 0 when there is none.
static size_t sequence(const char *line, size_t left)
{
    const char *end = left > 1 && line[0] == '\x1b' ? memchr(line, 'm', left) : NULL;

    return end ? (size_t)(end - line) + 1 : 0;
}

static size_t columns_of(const char *line, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length;) {
        size_t skip = sequence(line + i, length - i);
        columns += !skip;
        i += skip ? skip : character(line + i, length - i);
    }
    return columns;
}

void top_truncate_line(struct extract_text *text, const char *line, size_t length, unsigned columns)
{
    bool cut = columns_of(line, length) > columns;
    size_t room = cut && columns ? columns - 1 : columns;

    for (size_t i = 0; i < length;) {
        size_t skip = sequence(line + i, length - i);
        size_t bytes = skip ? skip : character(line + i, length - i);
        if (skip || room)
            extract_text_put(text, line + i, bytes);
        room -= !skip && room;
        i += bytes;
    }
    if (cut && columns)
        extract_text_putc(text, '~');
}

void top_truncate(struct extract_text *text, const char *string, unsigned columns)
{
    top_truncate_line(text, string, strlen(string), columns);
}
