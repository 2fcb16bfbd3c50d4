// SPDX-License-Identifier: MIT
// qemu-tests/images: the control blocks of parked.c for ThreadX. Source: the members are those of
// its public header tx_api.h. With EXTENDED, they are those of a kernel for several cores whose
// port has extensions of the control block, and which checks stacks.
#ifndef PARKED_THREADX_H
#define PARKED_THREADX_H

typedef struct TX_THREAD_STRUCT {
    ULONG tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    ULONG tx_thread_stack_size;
#ifdef EXTENDED
    unsigned char extension_0[3];
    long long extension_1;
#endif
    const char *tx_thread_name;
    unsigned tx_thread_priority, tx_thread_state;
    struct TX_THREAD_STRUCT *tx_thread_created_next, *tx_thread_created_previous;
    void *tx_thread_suspend_control_block;
#ifdef EXTENDED
    ULONG extension_2[17];
    unsigned tx_thread_user_priority, tx_thread_smp_core_mapped;
    void *tx_thread_stack_highest_ptr;
    double extension_3;
#endif
} TX_THREAD;

#ifdef EXTENDED
enum { CORES = 4 };
TX_THREAD *_tx_thread_current_ptr[CORES];
#else
TX_THREAD *_tx_thread_current_ptr;
#endif
TX_THREAD *_tx_thread_created_ptr;
ULONG _tx_thread_created_count;

static TX_THREAD blocks[THREADS];
#define SAVED(thread) (&blocks[thread].tx_thread_stack_ptr)

enum { FILL = 0xEF };

// Memory that is not defined is 0.
static void define_thread(int thread, const char *name, ULONG *stack, ULONG words)
{
    enum { READY = 0, SLEEPING = 4 };

    TX_THREAD *block = &blocks[thread];
    block->tx_thread_id = 0x54485244;
    block->tx_thread_stack_start = stack;
    block->tx_thread_stack_end = (char *)(stack + words) - 1;
    block->tx_thread_stack_size = words * sizeof *stack;
    block->tx_thread_name = name;
    block->tx_thread_priority = 5;
    block->tx_thread_state = thread == VALVE ? SLEEPING : READY;
}

static void link_threads(void)
{
    for (int i = 0; i < THREADS; i++)
        blocks[i].tx_thread_created_next = blocks[i].tx_thread_created_previous = &blocks[!i];
    _tx_thread_created_ptr = blocks;
    _tx_thread_created_count = THREADS;
}

#endif
