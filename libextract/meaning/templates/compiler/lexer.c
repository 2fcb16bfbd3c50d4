// SPDX-License-Identifier: MIT
// templates: reads logical lines and words from the text of a template file. Every byte of a
// logical line is known to be printable, and its place in the file is known.
//
// A line is continued if its last byte that is not blank is a backslash. Outside of strings, the
// line end counts as a blank; in strings, as nothing. A "#" or "*" in column 1 makes a physical
// line a comment, also between continued lines. Where no line is continued, a "#" may be indented.
#include "base/printable.h"
#include "templates/compiler/compile.h"
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

bool lexer_blank(char byte)
{
    return byte == ' ' || byte == '\t' || byte == '\n';
}

void lexer_skip(struct compiler *c)
{
    while (lexer_blank(c->bytes[c->at]))
        c->at++;
}

char lexer_peek(struct compiler *c)
{
    lexer_skip(c);
    return c->bytes[c->at];
}

bool lexer_take(struct compiler *c, char byte)
{
    if (lexer_peek(c) != byte)
        return false;
    c->at++;
    return true;
}

size_t lexer_word_at(const struct compiler *c, size_t at)
{
    return strcspn(c->bytes + at, " \t\n\"`{},$\\");
}

size_t lexer_word(const struct compiler *c)
{
    return lexer_word_at(c, c->at);
}

bool lexer_is(const struct compiler *c, size_t at, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(c->bytes + at, word, length) == 0;
}

const char *lexer_show(struct compiler *c, size_t at, size_t length)
{
    bool is_truncated = length > SHOWN;

    if (is_truncated) {
        length = SHOWN;
        while (length > 0 && ((unsigned char)c->bytes[at + length] & 0xc0) == 0x80)
            length--;
    }
    memcpy(c->shown, c->bytes + at, length);
    strcpy(c->shown + length, is_truncated ? "..." : "");
    for (char *p = c->shown; *p; p++)
        if (lexer_blank(*p))
            *p = ' ';
    return c->shown;
}

bool lexer_number(const char *digits, size_t length, unsigned base, uint64_t *number)
{
    *number = 0;
    for (size_t i = 0; i < length; i++) {
        char d = digits[i];
        unsigned value = d >= '0' && d <= '9'   ? (unsigned)(d - '0')
                         : d >= 'a' && d <= 'f' ? (unsigned)(d - 'a') + 10
                         : d >= 'A' && d <= 'F' ? (unsigned)(d - 'A') + 10
                                                : 16;
        if (value >= base || *number > (UINT64_MAX - value) / base)
            return false;
        *number = *number * base + value;
    }
    return length > 0;
}

bool lexer_constant(const char *word, size_t length, unsigned base, uint64_t *number)
{
    if (length > 2 && word[0] == '0' && (word[1] == 'x' || word[1] == 'X'))
        return lexer_number(word + 2, length - 2, 16, number);
    return lexer_number(word, length, base, number);
}

// ---- places and faults ----

struct template_place lexer_place(struct compiler *c, size_t at)
{
    while (c->part > 0 && c->parts[c->part].at > at)
        c->part--;
    while (c->part + 1 < c->part_count && c->parts[c->part + 1].at <= at)
        c->part++;
    size_t column = at - c->parts[c->part].at + 1;
    return (struct template_place){c->file, c->parts[c->part].line, (unsigned)column};
}

static void add_diagnostic(struct compiler *c, size_t at, const char *name, const char *hint,
                           const char *what, va_list args)
{
    char text[256];
    struct template_place place = lexer_place(c, at);

    vsnprintf(text, sizeof text, what, args);
    if (!template_diagnose(c->templates, &place, name, hint, "%s", text))
        c->failed = EXTRACT_NOMEM;
}

bool compile_fault(struct compiler *c, size_t at, const char *name, const char *hint,
                   const char *what, ...)
{
    va_list args;

    va_start(args, what);
    add_diagnostic(c, at, name, hint, what, args);
    va_end(args);
    return false;
}

bool compile_warn(struct compiler *c, size_t at, const char *name, const char *hint,
                  const char *what, ...)
{
    va_list args;

    va_start(args, what);
    add_diagnostic(c, at, name, hint, what, args);
    va_end(args);
    return !c->failed;
}

// ---- logical lines ----

static bool reserve_line(struct compiler *c, size_t length)
{
    size_t need = c->count + length + 2;

    if (need > c->capacity) {
        char *grown = realloc(c->bytes, need * 2);
        if (!grown) {
            c->failed = EXTRACT_NOMEM;
            return false;
        }
        c->bytes = grown;
        c->capacity = need * 2;
    }
    if (!template_grow((void **)&c->parts, &c->part_capacity, c->part_count, sizeof *c->parts)) {
        c->failed = EXTRACT_NOMEM;
        return false;
    }
    return true;
}

// Appends a physical line. Sets *more if its last byte was a backslash, which is left out.
static bool append_line(struct compiler *c, size_t length, bool *more)
{
    if (!reserve_line(c, length))
        return false;
    c->parts[c->part_count++] = (struct line_part){c->count, c->line};
    memcpy(c->bytes + c->count, c->text + c->next, length);
    char *line = c->bytes + c->count;
    if (length && line[length - 1] == '\r')
        length--;
    size_t last = length;
    while (last > 0 && lexer_blank(line[last - 1]))
        last--;
    *more = last > 0 && line[last - 1] == '\\';
    if (*more) {
        length = last;
        line[length - 1] = '\n';
    }
    c->count += length;
    c->bytes[c->count] = 0;
    return true;
}

// Returns whether the line has no byte that could control a terminal; reports one if it does.
static bool check_bytes(struct compiler *c)
{
    for (size_t i = 0; i < c->count;) {
        char byte = c->bytes[i];
        size_t n = (byte >= ' ' && byte < 0x7f) || byte == '\t' || byte == '\n'
                       ? 1
                       : extract_printable(c->bytes + i);
        uint32_t character;
        if (!n && extract_utf8_decode(c->bytes + i, &character) > 1)
            return compile_fault(c, i, "E-ESCAPE", "remove it",
                                 "character U+%04X is invisible, or changes the text's direction",
                                 character);
        if (!n)
            return compile_fault(c, i, "E-ESCAPE", "save the file as UTF-8",
                                 "byte \\x%02x is not text", (unsigned char)byte);
        i += n;
    }
    return true;
}

// Returns whether a physical line is a comment. Between continued lines, an indented "#" is text,
// as in the AIX documents.
static bool is_comment(const struct compiler *c, size_t length)
{
    const char *line = c->text + c->next;
    size_t blanks = 0;

    if (length && (*line == '#' || *line == '*'))
        return true;
    while (blanks < length && lexer_blank(line[blanks]))
        blanks++;
    return c->part_count == 0 && blanks < length && line[blanks] == '#';
}

// Reads the physical lines of a logical one. Returns false after an error.
static bool read_logical(struct compiler *c)
{
    bool more = true;

    c->count = c->at = 0;
    c->part_count = c->part = 0;
    c->source = c->next;
    while (more && c->next < c->length) {
        const char *from = c->text + c->next, *end = memchr(from, '\n', c->length - c->next);
        size_t length = end ? (size_t)(end - from) : c->length - c->next;
        bool comment = is_comment(c, length);
        if (comment && c->part_count == 0)
            more = false;
        if (!comment && !append_line(c, length, &more))
            return false;
        c->next += length + (end != NULL);
        c->line++;
    }
    if (c->part_count == 0)
        return true;
    if (more)
        return compile_fault(c, c->count - 1, "E-CONT", "end the last line without the backslash",
                             "file ends in a continued line");
    return check_bytes(c);
}

bool lexer_next(struct compiler *c)
{
    while (c->next < c->length && !c->failed) {
        bool good = read_logical(c);
        if (c->failed)
            return false;
        if (good && c->part_count > 0 && lexer_peek(c))
            return true;
    }
    return false;
}

void lexer_release(struct compiler *c)
{
    free(c->bytes);
    free(c->parts);
}
