// SPDX-License-Identifier: MIT
// qemu-tests/ports/rv64: the board, QEMU's virt. In: traps: the CLINT's timer and software
// interrupts, and environment calls. Out: the kernel's tick, the device interrupt, switches of
// threads, and time stamps (RISC-V Privileged Architecture 1.12, 3.1.15, 3.2.1; SiFive CLINT).
#include "board.h"
#include "kernel.h"

#define CLINT_MSIP     (*(volatile uint32_t *)0x02000000UL)
#define CLINT_MTIMECMP (*(volatile uint64_t *)0x02004000UL)
#define CLINT_MTIME    (*(volatile uint64_t *)0x0200BFF8UL)

#define CLOCK_HZ       BOUT_PORT_STAMP_HZ
#define TICK           (CLOCK_HZ / BOUT_TICKS_PER_SECOND)
#define MIE_SOFTWARE   8UL
#define MIE_TIMER      0x80UL
#define MSTATUS_THREAD 0x1880UL // MPP: machine mode; MPIE: interrupts are open after mret
#define CAUSE_SOFTWARE (1UL << 63 | 3)
#define CAUSE_TIMER    (1UL << 63 | 7)
#define CAUSE_ECALL    11UL
#define CONTEXT_WORDS  32
#define ECALL_BYTES    4
#define TIMER_ID       7UL

const ULONG board_device_id = 3;

static ULONG ticks_per_device_interrupt;

void *bout_port_trap(ULONG *context, ULONG cause);

ULONG bout_port_stamp(void)
{
    return CLINT_MTIME;
}

void bout_port_init(void)
{
    CLINT_MTIMECMP = CLINT_MTIME + TICK;
    __asm__ volatile("csrs mie, %0" ::"r"(MIE_SOFTWARE | MIE_TIMER));
}

// The board has one timer per hart: the device interrupt is a software interrupt after that of the
// tick.
void board_device_start(ULONG hz)
{
    ticks_per_device_interrupt = hz < BOUT_TICKS_PER_SECOND ? BOUT_TICKS_PER_SECOND / hz : 1;
}

static void timer_interrupt(void)
{
    bout_isr_enter(TIMER_ID);
    CLINT_MTIMECMP += TICK;
    bout_tick();
    if (ticks_per_device_interrupt && _tx_timer_system_clock % ticks_per_device_interrupt == 0)
        CLINT_MSIP = 1;
    bout_isr_exit(TIMER_ID);
}

static void software_interrupt(void)
{
    bout_isr_enter(board_device_id);
    CLINT_MSIP = 0;
    board_device_interrupt();
    bout_isr_exit(board_device_id);
}

static void unexpected_trap(void)
{
    for (;;)
        bout_port_idle();
}

// Returns the context to leave with.
void *bout_port_trap(ULONG *context, ULONG cause)
{
    switch (cause) {
    case CAUSE_TIMER:
        timer_interrupt();
        break;
    case CAUSE_SOFTWARE:
        software_interrupt();
        break;
    case CAUSE_ECALL:
        context[0] += ECALL_BYTES;
        break;
    default:
        unexpected_trap();
    }
    return bout_switch_is_due() ? bout_switch(context) : context;
}

void *bout_port_stack_build(void *stack, ULONG size)
{
    ULONG *context = (ULONG *)(((ULONG)stack + size) & ~15UL) - CONTEXT_WORDS;
    memset(context, 0, CONTEXT_WORDS * sizeof *context);
    context[0] = (ULONG)bout_thread_shell;
    context[1] = MSTATUS_THREAD;
    return context;
}
