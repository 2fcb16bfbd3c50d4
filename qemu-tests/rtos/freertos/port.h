// SPDX-License-Identifier: MIT
// qemu-tests/rtos/freertos: what the recorder asks of the firmware. In: nothing. Out: the core's
// port, with FreeRTOS's running task.
#ifndef BOUT_FREERTOS_PORT_H
#define BOUT_FREERTOS_PORT_H

#ifndef RINGSIDE_TRACE_WORDS
#define RINGSIDE_TRACE_WORDS 8192
#endif
#include "kernel.h"

#include "../../../libextract/recorder/target/ringside_freertos_thread.h"

#define RINGSIDE_TRACE_CLOCK_HZ BOUT_PORT_STAMP_HZ
// Timer 0 of the MPS2 boards, which counts down: QEMU's cycle counter does not move.
#define RINGSIDE_TRACE_CLOCK() (~*(volatile uint32_t *)0x40000004UL)
#include "../../../libextract/recorder/target/ports/cortex_m.h"

#endif
