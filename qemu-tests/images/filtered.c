// SPDX-License-Identifier: MIT
// qemu-tests/images: the product with the internal events (suspend, resume, interrupts, time
// slices) filtered out. The kernel patches its entries all the same, so the slot at the pointer,
// used or not, has a word in it that belongs to nothing.
#include "image.h"

static ULONG trace_ring[IMAGE_RING_BYTES / sizeof(ULONG)];

static TX_THREAD background_thread;
static _Alignas(8) UCHAR background_stack[IMAGE_STACK_BYTES];
static volatile ULONG background_rounds;

// Always ready, so that there is always a next thread, and the word is not 0.
static void background_entry(ULONG unused)
{
    (void)unused;
    for (;;)
        background_rounds++;
}

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    bout_trace_filter(TX_TRACE_INTERNAL_EVENTS);
    product_define();
    image_thread(&background_thread, "background", background_entry, 0, background_stack,
                 BOUT_PRIORITIES - 1);
}

void image_main(void)
{
    bout_start(define);
}
