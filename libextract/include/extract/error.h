// SPDX-License-Identifier: MIT
// Errors: what failed, why, and what the user can do.
//
// Every function that can fail returns an enum extract_code, and fills in a struct extract_error of
// the caller. The library never prints, exits or aborts. The contract of each function lists its
// errors by their codes without the prefix: "Errors: NOMEM".
//
//     struct extract_error error;
//     char message[700];
//     if (extract_memory_open_trx(&memory, path, &error))
//         puts(extract_error_format(&error, message, sizeof message));
//
// `error` may be NULL if the caller needs only the code, unless a contract states otherwise.
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
    EXTRACT_USAGE,       // the arguments of the caller are wrong
    EXTRACT_NOMEM,       // an allocation failed
    EXTRACT_IO,          // a host file or connection could not be opened, read or written
    EXTRACT_UNREADABLE,  // target memory could not be read or written at an address
    EXTRACT_TRUNCATED,   // the input ends before the end that it announces
    EXTRACT_BAD,         // the input contradicts itself or its format
    EXTRACT_NOTFOUND,    // a symbol, ring, object or type does not exist
    EXTRACT_ABSENT,      // the trace is known not to exist: it was never enabled
    EXTRACT_UNSUPPORTED, // valid, but not built in, or not defined for this input
    EXTRACT_LIMIT        // a limit of the library was exceeded; the text names it
};

// An error. The texts are NUL-ended and contain no control characters.
struct extract_error {
    enum extract_code code;
    uint64_t where; // address or file offset of the error; 0: none
    char what[160]; // its subject: a file, symbol, address or argument; may be empty
    char why[240];  // the reason
    char hint[240]; // an action that may help; may be empty
};

// Fills in *error (may be NULL), with `where` 0, and returns `code`, so that a caller can write
// `return extract_error_set(...)`. `why` is a printf format for the arguments after it. `what` and
// `hint` may be NULL, which leaves them empty. Texts that are too long are truncated. Bytes that
// must not reach a terminal are replaced by \xNN.
enum extract_code extract_error_set(struct extract_error *error, enum extract_code code,
                                    const char *what, const char *hint, const char *why, ...)
    __attribute__((format(printf, 5, 6)));

// Replaces the subject of an error. Bytes that must not reach a terminal are replaced by \xNN.
void extract_error_rename(struct extract_error *error, const char *what);

// Formats the message "WHAT: WHY; hint", in which an empty part is omitted together with its
// separator. Writes at most `size` bytes to `buffer`, with the NUL, and truncates the rest. Returns
// `buffer`.
char *extract_error_format(const struct extract_error *error, char *buffer, size_t size);

// Returns a short name of the code, such as "unreadable"; "unknown" for any other value. The
// string is static.
const char *extract_code_name(enum extract_code code);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
