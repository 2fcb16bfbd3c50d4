// SPDX-License-Identifier: MIT
// qemu-tests/images: what all images share. In: a ring's memory. Out: a trace that tests can stop
// at.
#ifndef BOUT_IMAGE_H
#define BOUT_IMAGE_H

#include "board.h"
#include "trace/trace.h"

#define IMAGE_STACK_BYTES (192 * sizeof(ULONG))
// About 460 entries, in the port's words: 16 KiB, or 32 KiB on RV64.
#define IMAGE_RING_BYTES (4096 * sizeof(ULONG))
#define IMAGE_SLOTS      32

// A place for breakpoints: called with interrupts locked each time that the ring begins again.
void ringside_wrap_marker(void);

void image_trace_start(void *ring, ULONG size, ULONG slots);

// A thread on a stack of IMAGE_STACK_BYTES, without threshold and time slice.
void image_thread(TX_THREAD *thread, char *name, void (*entry)(ULONG), ULONG parameter, void *stack,
                  UINT priority);

// "sample 7 done", without an end: its length, which it returns, differs with the number (1 to 99).
uint32_t image_message(ULONG sample, char text[static 20]);

// Creates all objects of a plausible product, the workload of most images (product.c); part of an
// image's define function.
void product_define(void);

#endif
