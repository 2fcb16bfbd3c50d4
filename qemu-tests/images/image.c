// SPDX-License-Identifier: MIT
// qemu-tests/images: what all images share. In: a ring's memory. Out: a trace that tests can stop
// at.
#include "image.h"

__attribute__((noinline)) void ringside_wrap_marker(void)
{
    // Keeps the calls of a function that does nothing.
    __asm__ volatile("");
}

static void ring_is_full(void *header)
{
    (void)header;
    ringside_wrap_marker();
}

void image_trace_start(void *ring, ULONG size, ULONG slots)
{
    bout_trace_full_notify(ring_is_full);
    bout_trace_enable(ring, size, slots);
}

void image_thread(TX_THREAD *thread, char *name, void (*entry)(ULONG), ULONG parameter, void *stack,
                  UINT priority)
{
    bout_thread_create(thread, &(struct bout_thread_options){.name = name,
                                                             .entry = entry,
                                                             .parameter = parameter,
                                                             .stack = stack,
                                                             .stack_size = IMAGE_STACK_BYTES,
                                                             .priority = priority,
                                                             .preempt_threshold = priority});
}

uint32_t image_message(ULONG sample, char text[static 20])
{
    static const char before[] = "sample ", behind[] = " done";
    uint32_t length = 0;
    for (const char *c = before; *c; c++)
        text[length++] = *c;
    if (sample >= 10)
        text[length++] = (char)('0' + sample / 10);
    text[length++] = (char)('0' + sample % 10);
    for (const char *c = behind; *c; c++)
        text[length++] = *c;
    return length;
}
