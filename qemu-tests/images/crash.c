// SPDX-License-Identifier: MIT
// qemu-tests/images: the product with a brake controller whose command block is overwritten after a
// second. The controller then faults in brake_controller_update, and HardFault_Handler keeps the
// address of the exception frame in crash_frame.
#include "image.h"

struct brake_command {
    ULONG sequence, pressure;
};

struct brake_controller {
    struct brake_command *command;
    ULONG target;
};

enum { EVENT_BRAKE = 4200 };

static ULONG trace_ring[IMAGE_RING_BYTES / sizeof(ULONG)];
static struct brake_command command;
static struct brake_controller controller = {.command = &command};
static TX_THREAD brake_thread;
static _Alignas(8) UCHAR brake_stack[IMAGE_STACK_BYTES];

void brake_controller_update(struct brake_controller *self);
__attribute__((noinline)) void brake_controller_update(struct brake_controller *self)
{
    self->command->sequence++;
    self->command->pressure += (self->target - self->command->pressure) / 4;
}

static void brake_entry(ULONG unused)
{
    (void)unused;
    for (ULONG cycle = 0;; cycle++) {
        controller.target = cycle % 100;
        // Nothing answers at this address on any of the boards.
        if (bout_time_get() > BOUT_TICKS_PER_SECOND)
            controller.command = (struct brake_command *)0xCCCCCCCCUL;
        bout_trace_user_event(EVENT_BRAKE, cycle, (ULONG)controller.command, controller.target, 0);
        brake_controller_update(&controller);
        bout_thread_sleep(5);
    }
}

static void define(void)
{
    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    product_define();
    image_thread(&brake_thread, "brake control", brake_entry, 0, brake_stack, 3);
}

void image_main(void)
{
    bout_start(define);
}
