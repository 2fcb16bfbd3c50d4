// SPDX-License-Identifier: MIT
// qemu-tests/ports/cortex-m3: from reset to image_main, and the context switch. In: a reset,
// PendSV. Out: initialized memory; the processor with another thread's registers.
#include "board.h"
#include "kernel.h"

extern uint32_t link_data_load[], link_data_start[], link_data_end[];
extern uint32_t link_bss_start[], link_bss_end[], link_main_stack_end[], link_idle_stack_end[];

void Reset_Handler(void) __attribute__((noreturn));
void PendSV_Handler(void);
void SysTick_Handler(void);
void Device_Handler(void);
void HardFault_Handler(void);
void NMI_Handler(void);
void stop_board(void);

// Where the processor saved the registers of what faulted.
void *volatile crash_frame;

__attribute__((used, section(".vectors"))) static void (*const vectors[16 + 32])(void) = {
    [0] = (void (*)(void))link_main_stack_end,
    [1] = Reset_Handler,
    [2] = NMI_Handler,
    [3] = HardFault_Handler,
    [4] = HardFault_Handler,
    [5] = HardFault_Handler,
    [6] = HardFault_Handler,
    [14] = PendSV_Handler,
    [15] = SysTick_Handler,
    [16 + 9] = Device_Handler,
};

static void start_image(void) __attribute__((used, noreturn));
static void start_image(void)
{
    memcpy(link_data_start, link_data_load,
           (size_t)((char *)link_data_end - (char *)link_data_start));
    memset(link_bss_start, 0, (size_t)((char *)link_bss_end - (char *)link_bss_start));
    image_main();
}

// Threads and the idle context run on the process stack; handlers have the main stack.
__attribute__((naked, noreturn)) void Reset_Handler(void)
{
#ifdef __ARM_FP // CPACR: the FPU may be used (Armv7-M ARM, B3.2.20)
    __asm__ volatile("ldr r0, =0xE000ED88\n\t"
                     "ldr r1, [r0]\n\t"
                     "orr r1, r1, #0xF00000\n\t"
                     "str r1, [r0]\n\t"
                     "dsb\n\t"
                     "isb");
#endif
    __asm__ volatile("ldr r0, =link_idle_stack_end\n\t"
                     "msr psp, r0\n\t"
                     "movs r0, #2\n\t"
                     "msr control, r0\n\t"
                     "isb\n\t"
                     "b start_image\n\t"
                     ".ltorg");
}

// A core with an FPU also saves EXC_RETURN, which shows whether the frame has FPU registers, and
// then those that the callee saves.
__attribute__((naked)) void PendSV_Handler(void)
{
    __asm__ volatile("mrs r0, psp\n\t"
#ifdef __ARM_FP
                     "tst lr, #0x10\n\t"
                     "it eq\n\t"
                     "vstmdbeq r0!, {s16-s31}\n\t"
                     "stmdb r0!, {r4-r11, lr}\n\t"
#else
                     "stmdb r0!, {r4-r11}\n\t"
#endif
                     "push {r4, lr}\n\t" // r4: the stack stays aligned to 8 bytes
                     "cpsid i\n\t"
                     "bl bout_switch\n\t"
                     "cpsie i\n\t"
                     "pop {r4, lr}\n\t"
#ifdef __ARM_FP
                     "ldmia r0!, {r4-r11, lr}\n\t"
                     "tst lr, #0x10\n\t"
                     "it eq\n\t"
                     "vldmiaeq r0!, {s16-s31}\n\t"
#else
                     "ldmia r0!, {r4-r11}\n\t"
#endif
                     "msr psp, r0\n\t"
                     "bx lr");
}

void stop_board(void)
{
    for (;;)
        ;
}

// As in start-up code of vendors: labels of assembly language divide a handler, and it continues in
// a function, to which lr does not return.
__attribute__((naked)) void NMI_Handler(void)
{
    __asm__ volatile("b nmi_stops\n\t"
                     "nop\n"
                     "nmi_stops:\n\t"
                     "b.w stop_board");
}

// EXC_RETURN bit 2 shows which stack has the frame (Armv7-M ARM, B1.5.8).
__attribute__((naked)) void HardFault_Handler(void)
{
    __asm__ volatile("tst lr, #4\n\t"
                     "ite eq\n\t"
                     "mrseq r0, msp\n\t"
                     "mrsne r0, psp\n\t"
                     "ldr r1, =crash_frame\n\t"
                     "str r0, [r1]\n"
                     "1:\n\t"
                     "b 1b\n\t"
                     ".ltorg");
}
