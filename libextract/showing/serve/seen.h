// SPDX-License-Identifier: MIT
// serve: the threads that a session with a live target has seen, by their control blocks. The index
// of a thread never changes, so that its id does not either.
#ifndef EXTRACT_SERVE_SEEN_H
#define EXTRACT_SERVE_SEEN_H

#include <extract/kernel.h>

enum { SEEN_MOST = 4096 };

struct seen {
    struct {
        uint64_t address, stack_start, stack_end; // as they were last
        uint64_t stack_limit;                     // what the stack does not exceed
    } list[SEEN_MOST];
    size_t count;
};

// Returns the index of a thread; SEEN_MOST: it has not been seen.
size_t seen_find(const struct seen *seen, uint64_t address);
// Adds a thread of a kernel, unless it is there, and notes its stack. Returns its index; SEEN_MOST:
// there are too many.
size_t seen_add(struct seen *seen, const struct extract_kernel *kernel,
                const struct extract_kernel_thread *thread);
// Returns a thread with only its stack, which is 0 if it has not been seen. If `is_limited`, a
// stack whose end is not known ends where another one begins.
struct extract_kernel_thread seen_stack(const struct seen *seen, uint64_t address, bool is_limited);

#endif
