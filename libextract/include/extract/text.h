// SPDX-License-Identifier: MIT
// Growable output: every sink prints to a buffer object, never to stdout, so that the same code
// serves the terminal, GDB and the tests.
#ifndef EXTRACT_TEXT_H
#define EXTRACT_TEXT_H

#include <extract/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// With `flush`, the buffer is handed over whenever it is full and by extract_text_flush; without,
// it grows. A failed allocation or flush is sticky in `code`; later puts are dropped.
struct extract_text {
    char *data;  // owned; not NUL-ended
    size_t used; // bytes
    size_t size; // bytes allocated
    enum extract_code code;
    bool (*flush)(void *context, const char *data, size_t length); // false: i/o error
    void *context;
};

void extract_text_init(struct extract_text *text, bool (*flush)(void *, const char *, size_t),
                       void *context);
void extract_text_free(struct extract_text *text);

// Hands what is buffered to `flush` (nothing without one). Returns the sticky code.
enum extract_code extract_text_flush(struct extract_text *text);

// Makes room for `length` bytes and returns where to write them, or NULL (sticky failure). The
// caller then adds what it wrote to text->used.
char *extract_text_room(struct extract_text *text, size_t length);

void extract_text_put(struct extract_text *text, const char *bytes, size_t length);
void extract_text_puts(struct extract_text *text, const char *string);
void extract_text_putc(struct extract_text *text, char c);
void extract_text_pad(struct extract_text *text, char c, size_t count);

// printf for the cold paths.
void extract_text_printf(struct extract_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void extract_text_dec(struct extract_text *text, uint64_t value);
// 0x and at least `digits` hexadecimal digits.
void extract_text_hex(struct extract_text *text, uint64_t value, unsigned digits);

// A string from the target or a file, for a terminal: the bytes of control characters, of
// characters that are invisible or change the direction of text, and of invalid UTF-8 as \xNN.
void extract_text_escaped(struct extract_text *text, const char *string);

// A JSON string with its quotes. What extract_text_escaped escapes is written as \uNNNN, a
// surrogate pair above U+FFFF; bytes of invalid UTF-8 as \u00NN.
void extract_text_json(struct extract_text *text, const char *string);

// How many columns extract_text_escaped takes for the string (one a character).
size_t extract_text_columns(const char *string);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
