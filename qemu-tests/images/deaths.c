// SPDX-License-Identifier: MIT
// qemu-tests/images: a system that dies in the way that a debugger chooses by the variable `death`.
// The ring is in memory that start-up code does not clear.
#include "image.h"
#include "port.h"

// The numbers are those of the cases in case-crash.sh.
enum death {
    ALIVE,
    BAD_POINTER,
    DIVISION,
    UNALIGNED,
    ILLEGAL,
    OVERFLOW,
    ASSERTION,
    DEADLOCK,
    STARVATION,
    STORM,
    RESET,
    BAD_CALL,
    NO_TICK,
    BAD_POINTER_IN_INTERRUPT,
    LONG_START,
    NULL_CALL,
    EVEN_CALL,
    NULL_CALL_IN_INTERRUPT,
    BREAKPOINT,
};

enum { MUTEXES = 3, EVENT_STEP = 4200, DEVICE_HZ = 100 };

volatile ULONG death;

// One port has little memory for its ring: 206 entries.
#ifdef __ARM_FP
enum { RING_BYTES = 8192 };
#else
enum { RING_BYTES = IMAGE_RING_BYTES };
#endif
static ULONG trace_ring[RING_BYTES / sizeof(ULONG)] __attribute__((section(".noinit")));
// Set before the reset: the second start of the image waits in wait_for_service.
static volatile ULONG is_second_start __attribute__((section(".noinit")));

// The stack of the culprit ends where that of its neighbor begins.
static _Alignas(8) struct {
    UCHAR neighbor[IMAGE_STACK_BYTES], culprit[IMAGE_STACK_BYTES];
} stacks;
static _Alignas(8) UCHAR other_stacks[MUTEXES + 1][IMAGE_STACK_BYTES];
static TX_THREAD neighbor_thread, culprit_thread, philosopher_threads[MUTEXES], weak_thread;
static TX_MUTEX forks[MUTEXES];
static volatile ULONG zero, sink = 1;
#ifdef __ARM_FP
static volatile float level;
#endif

// ---- deaths ----

void store_sample(volatile ULONG *at);
__attribute__((noinline)) void store_sample(volatile ULONG *at)
{
    *at = 1;
}

ULONG divide_sample(ULONG sample);
__attribute__((noinline)) ULONG divide_sample(ULONG sample)
{
    return sample / zero;
}

void execute_garbage(void);
__attribute__((noinline)) void execute_garbage(void)
{
#if defined(__arm__)
    __asm__ volatile(".inst.w 0xf7f0a000"); // permanently undefined
#elif defined(__riscv)
    __asm__ volatile(".word 0");
#else
    __asm__ volatile(".word 0x4afc"); // ILLEGAL
#endif
}

void stop_at_breakpoint(void);
__attribute__((noinline)) void stop_at_breakpoint(void)
{
#if defined(__arm__)
    __asm__ volatile("bkpt 0");
#elif defined(__riscv)
    __asm__ volatile("ebreak");
#endif
}

ULONG sum_deep(ULONG depth);
__attribute__((noinline)) ULONG sum_deep(ULONG depth)
{
    volatile ULONG local[8];
    for (ULONG i = 0; i < 8; i++)
        local[i] = depth;
    return depth ? sum_deep(depth - 1) + local[depth % 8] : 0;
}

void assert_failed(void) __attribute__((noreturn));
__attribute__((noinline)) void assert_failed(void)
{
    for (;;)
        sink++;
}

void check_sample(ULONG sample);
__attribute__((noinline)) void check_sample(ULONG sample)
{
    if (sample)
        assert_failed();
    sink++;
}

void spin_forever(void);
__attribute__((noinline)) void spin_forever(void)
{
    for (;;)
        sink++;
}

void call_handler(void (*handler)(void));
__attribute__((noinline)) void call_handler(void (*handler)(void))
{
    handler();
    sink++;
}

void wait_for_service(void) __attribute__((noreturn));
__attribute__((noinline)) void wait_for_service(void)
{
    for (;;)
        sink++;
}

static void start_again(void)
{
    is_second_start = 1;
#if defined(__arm__)
    *(volatile ULONG *)0xE000ED0C = 0x05FA0004; // AIRCR: SYSRESETREQ
#endif
    for (;;)
        ;
}

static void trap_divisions(void)
{
#if defined(__arm__)
    *(volatile ULONG *)0xE000ED14 |= 0x18; // CCR: UNALIGN_TRP, DIV_0_TRP
#endif
}

// Goes on with interrupts locked, and records an event now and then.
static void lock_forever(void)
{
    const ULONG tick = BOUT_PORT_STAMP_HZ / BOUT_TICKS_PER_SECOND;

    (void)bout_port_lock();
    for (ULONG i = 0; i < 40; i++) {
        ULONG begin = bout_port_stamp();
        while (bout_port_stamp() - begin < tick)
            sink++;
        bout_trace_user_event(EVENT_STEP, i, NO_TICK, 0, 0);
    }
    spin_forever();
}

// Has the core for two ticks, as a thread that sets up devices.
static void start_long(void)
{
    const ULONG tick = BOUT_PORT_STAMP_HZ / BOUT_TICKS_PER_SECOND;
    const ULONG begin = bout_port_stamp();

    while (bout_port_stamp() - begin < 2 * tick)
        sink++;
    bout_trace_user_event(EVENT_STEP, 0, LONG_START, 0, 0);
    spin_forever();
}

static void die(ULONG way)
{
    switch (way) {
    case BAD_POINTER:
        store_sample((ULONG *)0xCCCCCCCCUL);
        break;
    case DIVISION:
        sink = divide_sample(way);
        break;
    case UNALIGNED:
        store_sample((ULONG *)((UCHAR *)&sink + 1));
        break;
    case ILLEGAL:
        execute_garbage();
        break;
    case OVERFLOW:
        sink = sum_deep(IMAGE_STACK_BYTES / (10 * sizeof(ULONG)));
        break;
    case ASSERTION:
        check_sample(way);
        break;
    case STARVATION:
        spin_forever();
        break;
    case STORM:
    case BAD_POINTER_IN_INTERRUPT:
    case NULL_CALL_IN_INTERRUPT:
        board_device_start(DEVICE_HZ);
        break;
    case RESET:
        start_again();
        break;
    case BAD_CALL:
        call_handler((void (*)(void))0xDEAD0001UL);
        break;
    case NULL_CALL:
        call_handler((void (*)(void))zero);
        break;
    case EVEN_CALL: // of Thumb code
        call_handler((void (*)(void))((ULONG)spin_forever & ~1UL));
        break;
    case BREAKPOINT:
        stop_at_breakpoint();
        break;
    case NO_TICK:
        lock_forever();
        break;
    case LONG_START:
        start_long();
        break;
    default:
        break;
    }
}

// ---- threads ----

static void culprit_entry(ULONG unused)
{
    (void)unused;
    for (ULONG step = 0;; step++) {
#ifdef __ARM_FP
        level = level * 1.5F + 1; // frames of exceptions have FPU registers from here on
#endif
        bout_trace_user_event(EVENT_STEP, step, death, 0, 0);
        die(death);
        bout_thread_sleep(2);
    }
}

static void neighbor_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        sink++;
        bout_thread_sleep(3);
    }
}

// Each takes its own mutex, and that of the next one when the time has come.
static void philosopher_entry(ULONG place)
{
    for (;;) {
        if (death == DEADLOCK) {
            bout_mutex_get(&forks[place], BOUT_WAIT_FOREVER);
            bout_thread_sleep(5);
            bout_mutex_get(&forks[(place + 1) % MUTEXES], BOUT_WAIT_FOREVER);
        }
        bout_thread_sleep(4);
    }
}

static void weak_entry(ULONG unused)
{
    (void)unused;
    for (;;) {
        sink++;
        bout_thread_sleep(1);
    }
}

void board_device_interrupt(void)
{
    sink++;
    if (death == BAD_POINTER_IN_INTERRUPT)
        store_sample((ULONG *)0xCCCCCCCCUL);
    if (death == NULL_CALL_IN_INTERRUPT)
        call_handler((void (*)(void))zero);
    if (death != STORM)
        return;
        // The interrupt is pending again before it ends.
#if defined(__arm__)
    *(volatile ULONG *)0xE000E200 = 1 << 9; // NVIC_ISPR0
#elif defined(__riscv)
    *(volatile uint32_t *)0x02000000 = 1; // CLINT: MSIP of hart 0
#endif
}

static void define(void)
{
    static char *const forks_names[] = {"fork 0", "fork 1", "fork 2"};
    static char *const names[] = {"philosopher 0", "philosopher 1", "philosopher 2"};

    image_trace_start(trace_ring, sizeof trace_ring, IMAGE_SLOTS);
    trap_divisions();
    for (ULONG i = 0; i < MUTEXES; i++) {
        bout_mutex_create(&forks[i], forks_names[i], false);
        image_thread(&philosopher_threads[i], names[i], philosopher_entry, i, other_stacks[i], 10);
    }
    image_thread(&culprit_thread, "culprit", culprit_entry, 0, stacks.culprit, 5);
    image_thread(&neighbor_thread, "neighbor", neighbor_entry, 0, stacks.neighbor, 4);
    image_thread(&weak_thread, "weak", weak_entry, 0, other_stacks[MUTEXES], 20);
}

void image_main(void)
{
    if (is_second_start == 1)
        wait_for_service();
    is_second_start = 0;
    bout_start(define);
}
