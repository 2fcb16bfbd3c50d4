// SPDX-License-Identifier: MIT
// qemu-tests/ports: what an image requires of its board, the same on all of them. In: a wish for a
// second interrupt source in addition to the tick. Out: calls of the image's handler.
#ifndef BOUT_BOARD_H
#define BOUT_BOARD_H

#include "bout.h"

// Starts the device timer, which calls board_device_interrupt from its interrupt `hz` times a
// second, as far as the board has such a timer; from the tick interrupt where it has none.
void board_device_start(ULONG hz);
// Defined by the image; the port frames it with bout_isr_enter and bout_isr_exit.
void board_device_interrupt(void);
// The id that the device's handler has in ISR events.
extern const ULONG board_device_id;

// The image's first function, on the stack that becomes the idle context's.
void image_main(void) __attribute__((noreturn));

#endif
