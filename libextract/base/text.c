// SPDX-License-Identifier: MIT
// base: growable output. Every report is written to an extract_text, which either grows or hands
// full buffers to a flush function. A failure is remembered in the text, so that the code that
// writes a report need not check every call.
#include "base/printable.h"
#include <extract/text.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { CHUNK = 64 * 1024 };

void extract_text_init(struct extract_text *text, bool (*flush)(void *, const char *, size_t),
                       void *context)
{
    memset(text, 0, sizeof *text);
    text->flush = flush;
    text->context = context;
}

void extract_text_free(struct extract_text *text)
{
    free(text->data);
    extract_text_init(text, text->flush, text->context);
}

enum extract_code extract_text_flush(struct extract_text *text)
{
    if (text->flush && text->used && !text->code) {
        if (!text->flush(text->context, text->data, text->used))
            text->code = EXTRACT_IO;
        text->used = 0;
    }
    return text->code;
}

static bool grow(struct extract_text *text, size_t length)
{
    size_t size = text->size ? text->size : CHUNK;

    while (size - text->used < length) {
        if (size > SIZE_MAX / 2)
            return false;
        size *= 2;
    }
    char *data = realloc(text->data, size);
    if (!data)
        return false;
    text->data = data;
    text->size = size;
    return true;
}

char *extract_text_reserve(struct extract_text *text, size_t length)
{
    if (text->code)
        return NULL;
    if (text->size - text->used >= length && text->data)
        return text->data + text->used;
    if (extract_text_flush(text))
        return NULL;
    if ((text->size - text->used < length || !text->data) && !grow(text, length)) {
        text->code = EXTRACT_NOMEM;
        return NULL;
    }
    return text->data + text->used;
}

void extract_text_put(struct extract_text *text, const char *bytes, size_t length)
{
    char *to = extract_text_reserve(text, length);

    if (to && length) {
        memcpy(to, bytes, length);
        text->used += length;
    }
}

void extract_text_puts(struct extract_text *text, const char *string)
{
    extract_text_put(text, string, strlen(string));
}

void extract_text_putc(struct extract_text *text, char c)
{
    extract_text_put(text, &c, 1);
}

void extract_text_pad(struct extract_text *text, char c, size_t count)
{
    char *to = extract_text_reserve(text, count);

    if (to) {
        memset(to, c, count);
        text->used += count;
    }
}

void extract_text_printf(struct extract_text *text, const char *format, ...)
{
    va_list args, again;

    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    char *to = length < 0 ? NULL : extract_text_reserve(text, (size_t)length + 1);
    if (to) {
        vsnprintf(to, (size_t)length + 1, format, again);
        text->used += (size_t)length;
    }
    va_end(again);
}

void extract_text_dec(struct extract_text *text, uint64_t value)
{
    char digits[20];
    size_t n = sizeof digits;

    do {
        digits[--n] = (char)('0' + value % 10);
        value /= 10;
    } while (value);
    extract_text_put(text, digits + n, sizeof digits - n);
}

void extract_text_hex(struct extract_text *text, uint64_t value, unsigned width)
{
    char digits[16];
    size_t n = sizeof digits;

    do {
        digits[--n] = "0123456789abcdef"[value & 15];
        value >>= 4;
    } while (value || (sizeof digits - n < width && n));
    extract_text_put(text, "0x", 2);
    extract_text_put(text, digits + n, sizeof digits - n);
}

void extract_text_escaped(struct extract_text *text, const char *string)
{
    while (*string) {
        size_t n = extract_plain(string);
        if (!n)
            n = extract_printable(string);
        if (n)
            extract_text_put(text, string, n);
        else
            extract_text_printf(text, "\\x%02x", (unsigned char)*string);
        string += n ? n : 1;
    }
}

size_t extract_text_columns(const char *string)
{
    size_t columns = 0;

    while (*string) {
        size_t n = extract_printable(string);
        columns += n ? extract_printable_columns(string) : strlen("\\xNN");
        string += n ? n : 1;
    }
    return columns;
}

// Writes the JSON escape of the character at `string`, or of a byte that starts no character.
// Returns how many bytes of `string` it stands for.
static size_t put_json_escape(struct extract_text *text, const char *string)
{
    uint32_t c;
    size_t length = extract_utf8_decode(string, &c);

    if (!length)
        c = (unsigned char)*string;
    if (c < 0x10000)
        extract_text_printf(text, "\\u%04x", c);
    else
        extract_text_printf(text, "\\u%04x\\u%04x", 0xd800 + ((c - 0x10000) >> 10),
                            0xdc00 + (c & 0x3ff));
    return length ? length : 1;
}

void extract_text_json(struct extract_text *text, const char *string)
{
    extract_text_putc(text, '"');
    while (*string) {
        size_t plain = extract_plain(string);
        if (plain) {
            extract_text_put(text, string, plain);
            string += plain;
            continue;
        }
        size_t n = extract_printable(string);
        if (*string == '"' || *string == '\\')
            extract_text_putc(text, '\\');
        if (n)
            extract_text_put(text, string, n);
        else
            n = put_json_escape(text, string);
        string += n;
    }
    extract_text_putc(text, '"');
}
