// SPDX-License-Identifier: MIT
// qemu-tests/images: threads with the control blocks of ThreadX or FreeRTOS, each parked in the
// context that a port of it saves. There is no kernel: each thread runs once, until it parks, and
// then the image stays in idle(). A debugger must find each thread where its source says that it
// is.
//
// In: KERNEL, the header with the control blocks; park-MACHINE.S, which saves contexts.
typedef unsigned long ULONG;

enum { VALVE, PUMP, THREADS, STACK_WORDS = 256 };

#include KERNEL

// Enters a function on a stack, and returns when that parks.
void run(void *stack_end, void (*entry)(void));
// Saves the context of the caller in the layout of a call of the kernel, or of an interrupt, stores
// where it is, and returns from run().
void park_called(void **stack_ptr);
void park_interrupted(void **stack_ptr);

static _Alignas(16) ULONG stacks[THREADS][STACK_WORDS];
static volatile ULONG turns;

__attribute__((noinline)) static void wait_for_pressure(ULONG least)
{
    park_called(SAVED(VALVE));
    turns += least;
}

__attribute__((noinline)) static void open_valve(ULONG number)
{
    wait_for_pressure(number + 3);
    turns += number;
}

static void valve_entry(void)
{
    open_valve(7);
    turns++;
}

__attribute__((noinline)) static void turn_pump(ULONG speed)
{
    park_interrupted(SAVED(PUMP));
    turns += speed;
}

static void pump_entry(void)
{
    turn_pump(40);
    turns++;
}

static void start(int thread, const char *name, void (*entry)(void))
{
    unsigned char *bytes = (unsigned char *)stacks[thread];

    for (unsigned i = 0; i < sizeof stacks[thread]; i++)
        bytes[i] = FILL;
    define_thread(thread, name, stacks[thread], STACK_WORDS);
    run(stacks[thread] + STACK_WORDS, entry);
}

#ifndef HAS_WORK
#define work()
#else
void work(void); // what an image does when its threads are parked
#endif

__attribute__((noinline)) static void idle(void)
{
    for (;;) {
        turns++;
        work();
    }
}

void image_main(void);
void image_main(void)
{
    start(VALVE, "valve", valve_entry);
    start(PUMP, "pump", pump_entry);
    link_threads();
    idle();
    turns++;
}
