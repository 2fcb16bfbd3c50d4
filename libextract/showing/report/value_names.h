// SPDX-License-Identifier: MIT
// report: value names, which turn the numbers in events into the words of a report.
//
// What a number means depends on the kind of its field: the address of an object, a function, a
// constant string, a thread state, and so on. Names come from the trace itself and from the
// firmware's symbols.
#ifndef EXTRACT_REPORT_VALUE_NAMES_H
#define EXTRACT_REPORT_VALUE_NAMES_H

#include <extract/report.h>

struct value_names {
    const struct extract_trace *trace;
    struct extract_symbols *symbols; // NULL: none
    const struct extract_ring *ring;
    uint64_t seq; // event whose addresses are named; UINT64_MAX: the newest. Set by the caller.
    struct extract_text found; // the last name that was found, NUL-terminated
};

// Prepares to name values of `trace`, which must outlive the names.
void value_names_init(struct value_names *names, const struct extract_trace *trace);
void value_names_free(struct value_names *names);

// Returns the name of a value, NUL-terminated and valid until the next call. Returns NULL if the
// value has no name and must be printed as a number, or if memory is short (names->found.code). A
// name may hold any byte but NUL: whoever prints it must escape it.
const char *value_names_find(struct value_names *names, enum extract_kind kind, uint64_t value);

// Writes a value as text reports print it: its name, escaped, or a number.
void value_names_put(struct value_names *names, enum extract_kind kind, uint64_t value,
                     struct extract_text *text);

// Returns the name of an object as scripts should see it; NULL if only its address is known.
const char *value_name_of_object(const struct extract_object *object);

// Returns the word for a timeout: "none" or "forever"; NULL if it is a number of ticks.
const char *value_name_of_wait(uint64_t value);

#endif
