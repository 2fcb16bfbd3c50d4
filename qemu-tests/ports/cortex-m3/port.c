// SPDX-License-Identifier: MIT
// qemu-tests/ports/cortex-m3: the board. In: SysTick and, on the MPS2 boards, two CMSDK timers (Arm
// Cortex-M System Design Kit, "APB timer"). Out: the kernel's tick, the device interrupt, and time
// stamps. SysTick interrupts the device's handler, so nested interrupts occur.
#include "board.h"
#include "kernel.h"

#define REGISTER(address) (*(volatile uint32_t *)(address))
#define ICTR              REGISTER(0xE000E004UL)
#define SYSTICK_CONTROL   REGISTER(0xE000E010UL)
#define SYSTICK_RELOAD    REGISTER(0xE000E014UL)
#define NVIC_ENABLE       REGISTER(0xE000E100UL)
#define NVIC_PEND         REGISTER(0xE000E200UL)
#define NVIC_PRIORITY_8   REGISTER(0xE000E408UL) // of interrupts 8 to 11, a byte each
#define SHPR3             REGISTER(0xE000ED20UL) // of PendSV and SysTick
#define DEMCR             REGISTER(0xE000EDFCUL)
#define DWT_CONTROL       REGISTER(0xE0001000UL)
#define DWT_CYCCNT        0xE0001004UL

#define TIMER0               0x40000000UL
#define TIMER1               0x40001000UL
#define TIMER_CONTROL(timer) REGISTER((timer) + 0x0)
#define TIMER_VALUE          0x4
#define TIMER_RELOAD(timer)  REGISTER((timer) + 0x8)
#define TIMER_CLEAR(timer)   REGISTER((timer) + 0xC)
#define TIMER_ENABLE         1U
#define TIMER_INTERRUPT      8U

#define CLOCK_HZ         BOUT_PORT_STAMP_HZ
#define DEVICE_INTERRUPT 9U // CMSDK timer 1
#define SYSTICK_ID       15U

const ULONG board_device_id = 16 + DEVICE_INTERRUPT;

// Counts down on MPS2 boards, up elsewhere.
static volatile uint32_t *stamp_register;
static uint32_t stamp_inversion;
static ULONG ticks_per_device_interrupt; // where there is no second timer

// The single-core MPS2 images have 32 interrupt lines; the other boards that QEMU can boot these
// images on (lm3s6965evb, netduino2) have more, and none of the CMSDK timers.
static bool is_mps2(void)
{
    return (ICTR & 0xF) == 0;
}

static void stamps_start(void)
{
    if (is_mps2()) {
        TIMER_RELOAD(TIMER0) = UINT32_MAX;
        TIMER_CONTROL(TIMER0) = TIMER_ENABLE;
        stamp_register = &REGISTER(TIMER0 + TIMER_VALUE);
        stamp_inversion = UINT32_MAX;
    } else {
        DEMCR |= 1UL << 24; // TRCENA
        DWT_CONTROL |= 1U;
        stamp_register = &REGISTER(DWT_CYCCNT);
    }
}

ULONG bout_port_stamp(void)
{
    return *stamp_register ^ stamp_inversion;
}

void bout_port_init(void)
{
    stamps_start();
    SHPR3 = 0x40UL << 24 | 0xFFUL << 16;
    NVIC_PRIORITY_8 = 0x80UL << 8;
    SYSTICK_RELOAD = CLOCK_HZ / BOUT_TICKS_PER_SECOND - 1;
    SYSTICK_CONTROL = 7; // processor clock, interrupt, on
}

void board_device_start(ULONG hz)
{
    NVIC_ENABLE = 1UL << DEVICE_INTERRUPT;
    if (is_mps2()) {
        TIMER_RELOAD(TIMER1) = CLOCK_HZ / hz - 1;
        TIMER_CONTROL(TIMER1) = TIMER_ENABLE | TIMER_INTERRUPT;
    } else {
        ticks_per_device_interrupt = hz < BOUT_TICKS_PER_SECOND ? BOUT_TICKS_PER_SECOND / hz : 1;
    }
}

void SysTick_Handler(void)
{
    bout_isr_enter(SYSTICK_ID);
    bout_tick();
    if (ticks_per_device_interrupt && _tx_timer_system_clock % ticks_per_device_interrupt == 0)
        NVIC_PEND = 1UL << DEVICE_INTERRUPT;
    bout_isr_exit(SYSTICK_ID);
}

void Device_Handler(void)
{
    bout_isr_enter(board_device_id);
    if (is_mps2())
        TIMER_CLEAR(TIMER1) = 1;
    board_device_interrupt();
    bout_isr_exit(board_device_id);
}

// A frame as an exception leaves it; below it R4 to R11, and, with an FPU, EXC_RETURN.
void *bout_port_stack_build(void *stack, ULONG size)
{
#ifdef __ARM_FP
    enum { WORDS = 17, EXC_RETURN = 8 };
#else
    enum { WORDS = 16 };
#endif
    uint32_t *frame = (uint32_t *)(((uintptr_t)stack + size) & ~(uintptr_t)7) - WORDS;
    memset(frame, 0, WORDS * sizeof *frame);
#ifdef __ARM_FP
    frame[EXC_RETURN] = 0xFFFFFFFDUL; // to a thread, on its own stack, without FPU registers
#endif
    frame[WORDS - 2] = (uint32_t)(uintptr_t)bout_thread_shell & ~1UL;
    frame[WORDS - 1] = 1UL << 24; // xPSR: Thumb
    return frame;
}
