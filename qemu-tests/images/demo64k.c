// SPDX-License-Identifier: MIT
// qemu-tests/images: the product with a ring of 64 KiB: for measuring how long a snapshot takes.
#include "image.h"

static ULONG trace_ring[64 * 1024 / sizeof(ULONG)];

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    product_define();
}

void image_main(void)
{
    bout_start(define);
}
