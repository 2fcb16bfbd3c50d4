// SPDX-License-Identifier: MIT
// qemu-tests/images: the product, recorded from its first event on, forever.
#include "image.h"

static ULONG trace_ring[IMAGE_RING_BYTES / sizeof(ULONG)];

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    product_define();
}

void image_main(void)
{
    bout_start(define);
}
