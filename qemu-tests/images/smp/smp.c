// SPDX-License-Identifier: MIT
// qemu-tests/images: two harts of RISC-V, each with a thread, whose control blocks have the names
// of ThreadX SMP. waiter waits for a semaphore that nobody puts. On hart 0, left and third take
// turns: each gives the hart to the other by itself. right never gives hart 1 away, and dies when
// smp_death is set. No interrupt is taken.
#include <stdbool.h>
#include <stdint.h>

// A word for each hart: 1 asks for a software interrupt. A reset clears it.
static volatile uint32_t *const msip = (volatile uint32_t *)0x02000000;
enum { MIP_MSIP = 1 << 3 };
enum { HARTS = 2, STACK_WORDS = 256, READY = 0, WAITS_FOR_SEMAPHORE = 6 };
enum { THREAD_ID = 0x54485244, SEMAPHORE_ID = 0x53454D41 };

typedef struct TX_SEMAPHORE {
    unsigned long tx_semaphore_id;
    const char *tx_semaphore_name;
    unsigned long tx_semaphore_count;
    struct TX_SEMAPHORE *tx_semaphore_created_next;
} TX_SEMAPHORE;

typedef struct TX_THREAD {
    unsigned long tx_thread_id;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    const char *tx_thread_name;
    unsigned tx_thread_priority, tx_thread_state;
    void *tx_thread_suspend_control_block;
    struct TX_THREAD *tx_thread_created_next;
} TX_THREAD;

TX_THREAD *_tx_thread_current_ptr[HARTS];
TX_THREAD *_tx_thread_created_ptr;
unsigned long _tx_thread_created_count;
TX_SEMAPHORE *_tx_semaphore_created_ptr;

static TX_THREAD waiter, left, third, right;
static TX_SEMAPHORE never;
static _Alignas(16) unsigned long stacks[4][STACK_WORDS];
static volatile unsigned long left_count, third_count, right_count;
volatile bool smp_death;

// smp.S: saves the registers that a function keeps on the stack, as ThreadX does, and its stack
// pointer in *from; continues where *to was saved.
void smp_switch(void **from, void *const *to);
// smp.S: begins a thread whose function is in s0.
void smp_begin(void);

static void create(TX_THREAD *thread, const char *name, void (*entry)(void), unsigned priority)
{
    // Saved by smp_switch: a 0, 12 registers, the address of return, mstatus, and one of alignment.
    enum { FRAME_WORDS = 16, S0_WORD = 12, RETURN_WORD = 13 };
    unsigned long *stack = stacks[_tx_thread_created_count++];
    unsigned long *frame = stack + STACK_WORDS - FRAME_WORDS;

    thread->tx_thread_id = THREAD_ID;
    thread->tx_thread_name = name;
    thread->tx_thread_priority = priority;
    thread->tx_thread_stack_start = stack;
    thread->tx_thread_stack_end = (char *)(stack + STACK_WORDS) - 1;
    frame[S0_WORD] = (unsigned long)entry;
    frame[RETURN_WORD] = (unsigned long)smp_begin;
    thread->tx_thread_stack_ptr = frame;
    if (_tx_thread_created_ptr) {
        thread->tx_thread_created_next = _tx_thread_created_ptr->tx_thread_created_next;
        _tx_thread_created_ptr->tx_thread_created_next = thread;
    } else {
        _tx_thread_created_ptr = thread->tx_thread_created_next = thread;
    }
}

// Gives hart 0 to another thread.
static void give_to(TX_THREAD *next)
{
    TX_THREAD *self = _tx_thread_current_ptr[0];

    _tx_thread_current_ptr[0] = next;
    smp_switch(&self->tx_thread_stack_ptr, &next->tx_thread_stack_ptr);
}

static void __attribute__((noinline)) wait_for(TX_SEMAPHORE *semaphore)
{
    waiter.tx_thread_suspend_control_block = semaphore;
    waiter.tx_thread_state = WAITS_FOR_SEMAPHORE;
    give_to(&left);
}

static void waiter_entry(void)
{
    for (;;)
        wait_for(&never);
}

static void __attribute__((noinline)) left_work(void)
{
    for (unsigned i = 0; i < 1000; i++)
        left_count++;
}

static void left_entry(void)
{
    for (;;) {
        left_work();
        give_to(&third);
    }
}

static void __attribute__((noinline)) third_work(void)
{
    third_count++;
}

static void third_entry(void)
{
    for (;;) {
        third_work();
        give_to(&left);
    }
}

static void __attribute__((noinline)) right_work(void)
{
    if (smp_death)
        *(volatile unsigned *)0xCCCCCCCC = 1;
    right_count++;
}

static void right_entry(void)
{
    for (;;)
        right_work();
}

void smp_hart0(void)
{
    void *nothing;

    never = (TX_SEMAPHORE){SEMAPHORE_ID, "never", 0, &never};
    _tx_semaphore_created_ptr = &never;
    create(&waiter, "waiter", waiter_entry, 3);
    create(&left, "left", left_entry, 5);
    create(&third, "third", third_entry, 5);
    create(&right, "right", right_entry, 7);
    _tx_thread_current_ptr[0] = &waiter;
    _tx_thread_current_ptr[1] = &right;
    __asm__ volatile("fence rw, rw" ::: "memory");
    msip[1] = 1;
    smp_switch(&nothing, &waiter.tx_thread_stack_ptr);
}

// Waits for hart 0 outside of memory, which a reset does not clear.
void smp_hart1(void)
{
    unsigned long pending;
    void *nothing;

    do
        __asm__ volatile("csrr %0, mip" : "=r"(pending));
    while (!(pending & MIP_MSIP));
    msip[1] = 0;
    __asm__ volatile("fence rw, rw" ::: "memory");
    smp_switch(&nothing, &right.tx_thread_stack_ptr);
}
