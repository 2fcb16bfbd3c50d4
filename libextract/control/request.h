// SPDX-License-Identifier: MIT
// control: a request on its way: words to be written, and how their target says that it is done.
#ifndef EXTRACT_CONTROL_REQUEST_H
#define EXTRACT_CONTROL_REQUEST_H

#include "formats/format.h"
#include <extract/filter.h>

enum request_verb { REQUEST_START, REQUEST_STOP, REQUEST_CLEAR, REQUEST_FILTER };

struct extract_request {
    const struct extract_trace *trace;
    const struct extract_ring *ring;
    enum request_verb verb;
    struct extract_word *words; // owned
    size_t count, room;
    struct extract_word done;  // the word that says that it is done, and what it then holds
    bool takes_effect_at_once; // what is written is what the kernel goes by
    uint8_t *before, *after;   // of a filter: bit id % 8 of byte id / 8; owned, both in one piece
    uint32_t filter_bytes;
    void (*show)(const struct extract_request *request, bool changed, struct extract_text *text);
};

// False: out of memory.
bool request_put(struct extract_request *request, uint64_t address, uint32_t value);
// Reads `length` bytes of the ring's control block. Errors: UNREADABLE.
enum extract_code request_read(const struct extract_request *request, struct extract_memory *memory,
                               void *bytes, size_t length, struct extract_error *error);

// Whether the words of a filter change it (set, add or sub, and `what`), or only show it. Errors:
// USAGE.
enum extract_code request_is_change(const char *const *words, size_t count, const char *what,
                                    bool *shows, struct extract_error *error);

// threadx.c: the filter word of ThreadX's trace.
enum extract_code request_threadx(struct extract_request *request, struct extract_memory *memory,
                                  const char *const *words, size_t count,
                                  struct extract_error *error);

// posix.c: fills in a request of a POSIX trace.
enum extract_code request_posix(struct extract_request *request, struct extract_memory *memory,
                                const char *const *words, size_t count,
                                struct extract_error *error);

#endif
