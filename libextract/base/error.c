// SPDX-License-Identifier: MIT
// base: error values, which every fallible function of the library fills instead of printing.
//
// Names from the target and from files become part of messages, so that everything is escaped here,
// once: no message can control a terminal.
#include "base/printable.h"
#include <extract/error.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

// Copies `from` and escapes what may not reach a terminal as \xNN. A text that is too long is
// truncated between two characters.
static void copy_escaped(char *to, size_t size, const char *from)
{
    size_t used = 0;

    while (*from) {
        char escape[sizeof "\\xNN"];
        size_t n = extract_printable(from), length = n;
        const char *bytes = from;
        if (!n) {
            length = (size_t)snprintf(escape, sizeof escape, "\\x%02x", (unsigned char)*from);
            bytes = escape;
        }
        if (used + length >= size)
            break;
        memcpy(to + used, bytes, length);
        used += length;
        from += n ? n : 1;
    }
    to[used] = 0;
}

enum extract_code extract_error_set(struct extract_error *error, enum extract_code code,
                                    const char *what, const char *hint, const char *why, ...)
{
    char text[sizeof error->why];
    va_list args;

    if (!error)
        return code;
    va_start(args, why);
    vsnprintf(text, sizeof text, why, args);
    va_end(args);
    error->code = code;
    error->where = 0;
    copy_escaped(error->what, sizeof error->what, what ? what : "");
    copy_escaped(error->why, sizeof error->why, text);
    copy_escaped(error->hint, sizeof error->hint, hint ? hint : "");
    return code;
}

void extract_error_rename(struct extract_error *error, const char *what)
{
    copy_escaped(error->what, sizeof error->what, what);
}

char *extract_error_format(const struct extract_error *error, char *buffer, size_t size)
{
    snprintf(buffer, size, "%s%s%s%s%s", error->what, error->what[0] ? ": " : "", error->why,
             error->hint[0] ? "; " : "", error->hint);
    return buffer;
}

const char *extract_code_name(enum extract_code code)
{
    static const char *const names[] = {
        [EXTRACT_OK] = "ok",
        [EXTRACT_USAGE] = "usage",
        [EXTRACT_NOMEM] = "no memory",
        [EXTRACT_IO] = "i/o",
        [EXTRACT_UNREADABLE] = "unreadable",
        [EXTRACT_TRUNCATED] = "truncated",
        [EXTRACT_BAD] = "bad data",
        [EXTRACT_NOTFOUND] = "not found",
        [EXTRACT_ABSENT] = "absent",
        [EXTRACT_UNSUPPORTED] = "unsupported",
        [EXTRACT_LIMIT] = "limit",
    };

    return (unsigned)code < sizeof names / sizeof *names ? names[code] : "unknown";
}
