// SPDX-License-Identifier: MIT
// qemu-tests/rtos/posix: what the recorder of POSIX trace (libextract/recorder/target) asks of the
// firmware.
// In: nothing. Out: the core's port, with the kernel's clock, threads and interrupts.
#ifndef BOUT_POSIX_PORT_H
#define BOUT_POSIX_PORT_H

#ifndef RINGSIDE_TRACE_WORDS
#define RINGSIDE_TRACE_WORDS 8192
#endif
#include "kernel.h"

#define RINGSIDE_TRACE_THREAD() _tx_thread_current_ptr
#define RINGSIDE_TRACE_CLOCK_HZ BOUT_PORT_STAMP_HZ

#ifdef __arm__
// Timer 0 of the MPS2 boards, which counts down: QEMU's cycle counter does not move.
#define RINGSIDE_TRACE_CLOCK() (~*(volatile uint32_t *)0x40000004UL)
#include "../../../libextract/recorder/target/ports/cortex_m.h"
#else
// The cores do not provide the interrupt that they serve; the kernel's hooks do.
extern volatile ULONG bout_posix_interrupt;
#define RINGSIDE_TRACE_INTERRUPT() bout_posix_interrupt
#define RINGSIDE_TRACE_CLOCK()     bout_port_stamp()
#ifdef __riscv
#include "../../../libextract/recorder/target/ports/riscv.h"
#else
#include "../../../libextract/recorder/target/ports/m68k.h"
#endif
#endif

#endif
