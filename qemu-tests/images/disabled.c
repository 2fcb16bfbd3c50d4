// SPDX-License-Identifier: MIT
// qemu-tests/images: the product, recorded for two seconds. A first trace is disabled and enabled
// again on the way, so that the ring's memory is not new; then the trace is disabled for good.
#include "image.h"

static ULONG trace_ring[IMAGE_RING_BYTES / sizeof(ULONG)];
static TX_THREAD operator_thread;
static _Alignas(8) UCHAR operator_stack[IMAGE_STACK_BYTES];

static void operator_entry(ULONG unused)
{
    (void)unused;
    bout_thread_sleep(BOUT_TICKS_PER_SECOND / 2);
    bout_trace_disable();
    bout_thread_sleep(BOUT_TICKS_PER_SECOND / 2);
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    bout_thread_sleep(BOUT_TICKS_PER_SECOND);
    bout_trace_disable();
}

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    product_define();
    image_thread(&operator_thread, "operator", operator_entry, 0, operator_stack, 1);
}

void image_main(void)
{
    bout_start(define);
}
