// SPDX-License-Identifier: MIT
// base: conversions of line ends.
#include "base/line_ends.h"
#include "base/file.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum {
    LEAST = 8,          // bytes 0x0A that make a conversion likely
    LEAST_OF_PAGES = 2, // the same if the file consisted of whole pages before
    PAGE = 4096,
    ROUND = 4,        // an image's length is a multiple of this
    CHUNK = 64 * 1024 // bytes that are read at a time
};

void extract_line_ends_add(struct extract_line_ends *ends, const uint8_t *bytes, size_t length)
{
    const uint8_t *at = bytes, *end = bytes + length;

    if (!length)
        return;
    ends->has_zero = ends->has_zero || memchr(bytes, 0, length);
    while (!ends->is_mixed && (at = memchr(at, '\n', (size_t)(end - at))) != NULL) {
        ends->is_mixed = (at == bytes ? ends->before : at[-1]) != '\r';
        ends->count++;
        at++;
    }
    ends->before = end[-1];
}

void extract_line_ends_add_file(struct extract_line_ends *ends, int file, uint64_t length)
{
    uint8_t bytes[CHUNK];
    uint64_t at = 0;

    while (at < length && at < EXTRACT_LINE_ENDS_LIMIT && !ends->is_mixed) {
        size_t got = extract_file_read_at(file, bytes, sizeof bytes, at);
        if (!got)
            return;
        extract_line_ends_add(ends, bytes, got);
        at += got;
    }
}

static bool are_likely(const struct extract_line_ends *ends, uint64_t least)
{
    return !ends->is_mixed && ends->has_zero && ends->count >= least;
}

bool extract_line_ends_are_likely(const struct extract_line_ends *ends)
{
    return are_likely(ends, LEAST);
}

// Returns the largest power of two that divides a number.
static uint64_t power_in(uint64_t number)
{
    return number & -number;
}

bool extract_line_ends_are_likely_of_image(const struct extract_line_ends *ends, uint64_t length)
{
    uint64_t before = power_in(length - ends->count);

    return before >= ROUND && before > power_in(length) &&
           are_likely(ends, before >= PAGE ? LEAST_OF_PAGES : LEAST);
}

size_t extract_line_ends_undo(uint8_t *bytes, size_t length)
{
    size_t used = 0;

    for (size_t i = 0; i < length; i++)
        if (bytes[i] != '\r' || i + 1 == length || bytes[i + 1] != '\n')
            bytes[used++] = bytes[i];
    return used;
}

enum extract_code extract_line_ends_explain(const struct extract_line_ends *ends,
                                            enum extract_code code, struct extract_error *error)
{
    char what[sizeof error->what], why[sizeof error->why];

    if (!error || !extract_line_ends_are_likely(ends))
        return code;
    memcpy(what, error->what, sizeof what);
    memcpy(why, error->why, sizeof why);
    return extract_error_set(error, code, what, "transfer it as binary",
                             "%s; each of its %" PRIu64 " bytes 0x0A follows a 0x0D: line ends "
                             "were converted on the way (likely)",
                             why, ends->count);
}
