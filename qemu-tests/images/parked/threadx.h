// SPDX-License-Identifier: MIT
// qemu-tests/images: the control blocks of parked.c for ThreadX. Source: the members are those of
// its public header tx_api.h.
#ifndef PARKED_THREADX_H
#define PARKED_THREADX_H

typedef struct TX_THREAD_STRUCT {
    ULONG tx_thread_id, tx_thread_run_count;
    void *tx_thread_stack_ptr, *tx_thread_stack_start, *tx_thread_stack_end;
    ULONG tx_thread_stack_size;
    const char *tx_thread_name;
    unsigned tx_thread_priority, tx_thread_state;
    struct TX_THREAD_STRUCT *tx_thread_created_next, *tx_thread_created_previous;
    void *tx_thread_suspend_control_block;
} TX_THREAD;

TX_THREAD *_tx_thread_created_ptr, *_tx_thread_current_ptr;
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
