// SPDX-License-Identifier: MIT
// What went wrong: one value that every fallible function fills and returns.
//
// The library never prints, exits or aborts. A caller passes a `struct extract_error` (or NULL),
// tests the returned code, and prints `extract_error_format` in the form "WHAT: WHY; hint".
#ifndef EXTRACT_ERROR_H
#define EXTRACT_ERROR_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum extract_code {
    EXTRACT_OK = 0,
    EXTRACT_USAGE,       // the caller's arguments make no sense
    EXTRACT_NOMEM,       // an allocation failed
    EXTRACT_IO,          // a host file could not be opened, read or written
    EXTRACT_UNREADABLE,  // target memory could not be read there
    EXTRACT_TRUNCATED,   // the input ends before what it announces
    EXTRACT_BAD,         // the input contradicts itself or its format
    EXTRACT_NOTFOUND,    // a symbol, ring, object or type is not there
    EXTRACT_ABSENT,      // known not to be there: tracing was never enabled
    EXTRACT_UNSUPPORTED, // understood, but not built in or not defined for this input
    EXTRACT_LIMIT        // a bound of the library was reached (named in the text)
};

// A caller-owned error value. Texts are NUL-ended and hold no control characters.
struct extract_error {
    enum extract_code code;
    uint64_t where; // address or file offset that the error is about; 0 when there is none
    char what[160]; // the thing: a file, symbol, address, argument
    char why[240];  // the reason
    char hint[240]; // a way out; may be empty
};

// Fills *error (when not NULL) and returns `code`, so that callers write `return
// extract_error_set`. `why` is a printf format for the arguments behind it. Over-long texts are
// cut; control characters are replaced by \xNN.
enum extract_code extract_error_set(struct extract_error *error, enum extract_code code,
                                    const char *what, const char *hint, const char *why, ...)
    __attribute__((format(printf, 5, 6)));

// Writes "WHAT: WHY; hint" (without the hint when there is none) to buffer, NUL-ended, cut at
// `size` bytes. Returns buffer.
char *extract_error_format(const struct extract_error *error, char *buffer, size_t size);

// A short name of the code ("unreadable", "truncated" …); never NULL.
const char *extract_code_name(enum extract_code code);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
