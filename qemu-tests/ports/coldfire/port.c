// SPDX-License-Identifier: MIT
// qemu-tests/ports/coldfire: the board, MCF5208EVB. In: its two periodic interrupt timers. Out: the
// kernel's tick, the device interrupt, and time stamps (MCF5208 Reference Manual, chapter 14
// "Interrupt Controller", chapter 27 "Programmable Interrupt Timers").
#include "board.h"
#include "kernel.h"

#define PIT0              0xFC080000UL
#define PIT1              0xFC084000UL
#define PIT_CONTROL(pit)  (*(volatile uint16_t *)((pit) + 0))
#define PIT_MODULUS(pit)  (*(volatile uint16_t *)((pit) + 2))
#define PIT_COUNT(pit)    (*(volatile uint16_t *)((pit) + 4))
#define PIT_ENABLE        0x1U
#define PIT_RELOAD        0x2U
#define PIT_FLAG          0x4U
#define PIT_INTERRUPT     0x8U
#define PIT_OVERWRITE     0x10U
#define PIT_PRESCALE(log) ((unsigned)(log) << 8)

#define INTC                 0xFC048000UL
#define INTC_CLEAR_MASK      (*(volatile uint8_t *)(INTC + 0x1D))
#define INTC_CONTROL(source) (*(volatile uint8_t *)(INTC + 0x40 + (source)))
#define PIT0_SOURCE          4U
#define PIT1_SOURCE          5U
#define INTERRUPT_LEVEL      3U
#define FIRST_VECTOR         64U

#define PRESCALE_LOG 6
#define PIT_HZ       BOUT_PORT_STAMP_HZ
#define TICK_COUNTS  (PIT_HZ / BOUT_TICKS_PER_SECOND)

#define CONTEXT_WORDS 15           // D0 to D7, A0 to A6
#define FRAME_FORMAT  0x40002000UL // a frame that was pushed to an aligned stack; SR: open

ULONG bout_port_leave(void *context);
void bout_port_nothing(void);
void bout_port_tick_interrupt(void);
void bout_port_device_interrupt(void);

const ULONG board_device_id = FIRST_VECTOR + PIT1_SOURCE;

static ULONG stamp_base;  // counts of the periods of PIT0 that are over
static ULONG stamp_count; // what PIT0 had at the last reading

static void pit_start(ULONG pit, unsigned source, unsigned prescale_log, ULONG counts)
{
    INTC_CONTROL(source) = INTERRUPT_LEVEL;
    INTC_CLEAR_MASK = (uint8_t)source;
    PIT_CONTROL(pit) = (uint16_t)(PIT_RELOAD | PIT_OVERWRITE | PIT_PRESCALE(prescale_log));
    PIT_MODULUS(pit) = (uint16_t)(counts - 1);
    PIT_CONTROL(pit) =
        (uint16_t)(PIT_ENABLE | PIT_RELOAD | PIT_INTERRUPT | PIT_PRESCALE(prescale_log));
}

void bout_port_init(void)
{
    pit_start(PIT0, PIT0_SOURCE, PRESCALE_LOG, TICK_COUNTS);
}

void board_device_start(ULONG hz)
{
    pit_start(PIT1, PIT1_SOURCE, PRESCALE_LOG + 3, (PIT_HZ >> 3) / hz);
}

// PIT0 goes down and begins again with each tick. Called at least once a tick, so that no reload is
// missed; with interrupts locked. Where a debugger or a busy host delays the tick by more than its
// period, time is lost, but it never runs backwards.
ULONG bout_port_stamp(void)
{
    ULONG count = PIT_COUNT(PIT0);
    if (count > stamp_count)
        stamp_base += TICK_COUNTS;
    stamp_count = count;
    return stamp_base + TICK_COUNTS - 1 - count;
}

void bout_port_tick_interrupt(void)
{
    PIT_CONTROL(PIT0) |= PIT_FLAG; // cleared by writing 1
    (void)bout_port_stamp();
    bout_isr_enter(FIRST_VECTOR + PIT0_SOURCE);
    bout_tick();
    bout_isr_exit(FIRST_VECTOR + PIT0_SOURCE);
}

void bout_port_device_interrupt(void)
{
    PIT_CONTROL(PIT1) |= PIT_FLAG;
    bout_isr_enter(board_device_id);
    board_device_interrupt();
    bout_isr_exit(board_device_id);
}

// A switch has no handler: all of it happens on the way out.
void bout_port_nothing(void)
{
}

// Returns the context to leave with; a number, as the entries take it from D0.
ULONG bout_port_leave(void *context)
{
    return (ULONG)(bout_switch_is_due() ? bout_switch(context) : context);
}

void *bout_port_stack_build(void *stack, ULONG size)
{
    ULONG *context = (ULONG *)(((ULONG)stack + size) & ~3UL) - CONTEXT_WORDS - 2;
    memset(context, 0, CONTEXT_WORDS * sizeof *context);
    context[CONTEXT_WORDS] = FRAME_FORMAT;
    context[CONTEXT_WORDS + 1] = (ULONG)bout_thread_shell;
    return context;
}
