// SPDX-License-Identifier: MIT
// qemu-tests/images: the product with a ring in memory that was used before, full of words that
// look like a ring's first word. Further decoys: user events that carry this word, a copy of the
// header at another address, headers with one fault each, and the word on a thread's stack.
#include "image.h"

enum { EVENT_DECOY = 4300 };
enum { FAULTY_HEADERS = 4 };

// The ring's neighbors, for which a scan might take it.
static struct {
    TX_TRACE_HEADER faulty[FAULTY_HEADERS];
    ULONG ring[IMAGE_RING_BYTES / sizeof(ULONG)];
    TX_TRACE_HEADER copy;
} recycled __attribute__((section(".noinit")));

static TX_THREAD decoy_thread;
static _Alignas(8) UCHAR decoy_stack[IMAGE_STACK_BYTES];

static void fill_with_garbage(void)
{
    uint32_t random = 0x2545F491;
    for (ULONG i = 0; i < IMAGE_RING_BYTES / sizeof(ULONG); i++) {
        random = random * 1664525 + 1013904223;
        recycled.ring[i] = i % 8 == 5 ? TX_TRACE_VALID : random;
    }
}

// As the true header, except for the one difference.
static void make_decoys(void)
{
    recycled.copy = *_tx_trace_header_ptr;
    for (ULONG i = 0; i < FAULTY_HEADERS; i++) {
        recycled.faulty[i] = *_tx_trace_header_ptr;
        recycled.faulty[i].tx_trace_header_trace_base_address = (ULONG)&recycled.faulty[i];
    }
    recycled.faulty[0].tx_trace_header_reserved2 = 0;
    recycled.faulty[1].tx_trace_header_registry_end_pointer += 4;
    recycled.faulty[2].tx_trace_header_buffer_end_pointer = 0;
    recycled.faulty[3].tx_trace_header_reserved1 = 1;
}

static void decoy_entry(ULONG unused)
{
    (void)unused;
    volatile ULONG on_the_stack = TX_TRACE_VALID;
    for (;;) {
        for (ULONG i = 0; i < 4; i++)
            bout_trace_user_event(EVENT_DECOY, on_the_stack, i, on_the_stack, TX_TRACE_VALID);
        bout_thread_sleep(5);
    }
}

static void define(void)
{
    fill_with_garbage();
    image_trace_start(recycled.ring, sizeof recycled.ring, IMAGE_SLOTS);
    make_decoys();
    product_define();
    image_thread(&decoy_thread, "decoy", decoy_entry, 0, decoy_stack, 18);
}

void image_main(void)
{
    bout_start(define);
}
