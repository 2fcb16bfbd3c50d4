// SPDX-License-Identifier: MIT
// Text output: a buffer that every report is written to, instead of stdout.
//
// So the same code serves the terminal, GDB and the tests. A text without a flush function grows.
// One with a flush function passes its bytes to it whenever the buffer is full. A failure is
// remembered in the text, and later output is dropped. A writer therefore checks only once, at the
// end.
//
//     extract_text_init(&text, NULL, NULL);
//     extract_text_puts(&text, "events: ");
//     extract_text_dec(&text, count);
//     if (!extract_text_flush(&text))
//         fwrite(text.data, 1, text.used, stdout);
//     extract_text_free(&text);
#ifndef EXTRACT_TEXT_H
#define EXTRACT_TEXT_H

#include <extract/error.h>
#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_text {
    char *data;             // the buffer; owned, not NUL-ended; NULL: nothing is allocated yet
    size_t used;            // bytes that were written and not flushed
    size_t size;            // bytes allocated
    enum extract_code code; // the first failure: NOMEM or IO; OK: none
    // Takes `length` bytes. Returns false if they cannot be written, which is the failure IO. NULL:
    // the buffer grows.
    bool (*flush)(void *context, const char *data, size_t length);
    void *context; // first argument of `flush`
};

// ---- lifetime ----

// Initializes an empty text. `flush` may be NULL. Allocates nothing.
void extract_text_init(struct extract_text *text, bool (*flush)(void *, const char *, size_t),
                       void *context);

// Frees the buffer without flushing it. Afterwards the text is empty, without a failure, and can be
// used again.
void extract_text_free(struct extract_text *text);

// Passes the buffered bytes to `flush` and empties the buffer. Without a flush function, keeps
// them. Returns the first failure of the text, or OK.
enum extract_code extract_text_flush(struct extract_text *text);

// ---- output: each function appends to the text, or does nothing if the text has failed ----

// Allocates space for `length` bytes, and flushes the text if necessary. Returns where to write
// them, or NULL if the text has failed. The caller then adds the number of bytes that it wrote to
// text->used. The pointer is valid until the next call for this text.
char *extract_text_reserve(struct extract_text *text, size_t length);

// Appends `length` bytes.
void extract_text_put(struct extract_text *text, const char *bytes, size_t length);

// Appends a NUL-ended string without its NUL.
void extract_text_puts(struct extract_text *text, const char *string);

// Appends one character.
void extract_text_putc(struct extract_text *text, char c);

// Appends `c`, `count` times.
void extract_text_pad(struct extract_text *text, char c, size_t count);

// Appends formatted output, as printf does. Slower than the other functions.
void extract_text_printf(struct extract_text *text, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Appends a decimal number.
void extract_text_dec(struct extract_text *text, uint64_t value);

// Appends 0x and at least `digits` lower-case hexadecimal digits; 16 at most.
void extract_text_hex(struct extract_text *text, uint64_t value, unsigned digits);

// ---- untrusted strings: names that come from the target or from a file ----

// Appends a NUL-ended string for a terminal. Replaces each byte of the following by \xNN: control
// characters, characters that are invisible or change the direction of text, and invalid UTF-8.
void extract_text_escaped(struct extract_text *text, const char *string);

// Appends a NUL-ended string as a JSON string with its quotes. Characters that
// extract_text_escaped escapes are written as \uNNNN, and above U+FFFF as a surrogate pair. Bytes
// of invalid UTF-8 are written as \u00NN.
void extract_text_json(struct extract_text *text, const char *string);

// Returns how many columns of a terminal the output of extract_text_escaped has: one per character,
// none for a combining mark, two for a wide character, and four per byte that is escaped.
size_t extract_text_columns(const char *string);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
