// SPDX-License-Identifier: MIT
// control: a request to a target that records: the words to write, and the word by which the target
// shows that it has carried the request out.
#ifndef EXTRACT_CONTROL_CONTROL_REQUEST_H
#define EXTRACT_CONTROL_CONTROL_REQUEST_H

#include "formats/format.h"
#include <extract/filter.h>

enum request_action { REQUEST_START, REQUEST_STOP, REQUEST_CLEAR, REQUEST_FILTER };

struct extract_request {
    const struct extract_trace *trace;
    const struct extract_ring *ring;
    enum request_action action;
    struct extract_word *words; // owned
    size_t count, capacity;
    struct extract_word done;  // the word that shows completion, and the value that it then has
    bool takes_effect_at_once; // the kernel reads the written words directly
    uint8_t *before, *after;   // filter: bit id % 8 of byte id / 8; owned, in one allocation
    uint32_t filter_bytes;
    void (*show)(const struct extract_request *request, bool changed, struct extract_text *text);
};

// Adds a word to be written. Returns false if memory is short.
bool request_put(struct extract_request *request, uint64_t address, uint32_t value);
// Reads `length` bytes of the ring's control block. Errors: UNREADABLE.
enum extract_code request_read(const struct extract_request *request, struct extract_memory *memory,
                               void *bytes, size_t length, struct extract_error *error);

// Sets *shows to whether the words of a filter only show it. Otherwise they change it: set, add or
// sub, followed by `what`. Errors: USAGE.
enum extract_code request_is_change(const char *const *words, size_t count, const char *what,
                                    bool *shows, struct extract_error *error);

// Fills in a request to the filter word of ThreadX's trace (control_threadx.c).
enum extract_code request_threadx(struct extract_request *request, struct extract_memory *memory,
                                  const char *const *words, size_t count,
                                  struct extract_error *error);

// Fills in a request to the recorder of a POSIX trace (control_posix.c).
enum extract_code request_posix(struct extract_request *request, struct extract_memory *memory,
                                const char *const *words, size_t count,
                                struct extract_error *error);

#endif
