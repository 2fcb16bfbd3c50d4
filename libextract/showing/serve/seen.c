// SPDX-License-Identifier: MIT
// serve: the threads that a session has seen (seen.h).
#include "serve/seen.h"
#include "kernel/kernel_room.h"

size_t seen_find(const struct seen *seen, uint64_t address)
{
    for (size_t i = 0; i < seen->count; i++)
        if (seen->list[i].address == address)
            return i;
    return SEEN_MOST;
}

size_t seen_add(struct seen *seen, const struct extract_kernel *kernel,
                const struct extract_kernel_thread *thread)
{
    size_t i = seen_find(seen, thread->address);

    if (i == SEEN_MOST && seen->count == SEEN_MOST)
        return SEEN_MOST;
    if (i == SEEN_MOST)
        i = seen->count++;
    seen->list[i].address = thread->address;
    seen->list[i].stack_start = thread->stack_start;
    seen->list[i].stack_end = thread->stack_end;
    seen->list[i].stack_limit = thread->stack_start ? kernel_stack_limit(kernel, thread) : 0;
    return i;
}

struct extract_kernel_thread seen_stack(const struct seen *seen, uint64_t address, bool is_limited)
{
    size_t i = seen_find(seen, address);

    if (i == SEEN_MOST)
        return (struct extract_kernel_thread){.address = 0};
    return (struct extract_kernel_thread){.stack_start = seen->list[i].stack_start,
                                          .stack_end = is_limited ? seen->list[i].stack_limit
                                                                  : seen->list[i].stack_end};
}
