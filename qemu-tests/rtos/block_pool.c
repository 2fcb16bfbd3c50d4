// SPDX-License-Identifier: MIT
// qemu-tests/rtos: pools of blocks of one size. In: an area of memory. Out: its blocks; each has a
// word in front that holds the next free block while it is free, and its pool while it is not.
#include "kernel.h"

static void **front_of(void *block)
{
    return (void **)block - 1;
}

enum bout_status bout_block_pool_create(TX_BLOCK_POOL *pool, char *name, ULONG block_size,
                                        void *area, ULONG area_bytes)
{
    ULONG size = (block_size + sizeof(ULONG) - 1) / sizeof(ULONG) * sizeof(ULONG);
    ULONG total = area_bytes / (size + sizeof(void *));
    if (total == 0)
        return BOUT_SIZE_ERROR;
    *pool = (TX_BLOCK_POOL){.tx_block_pool_id = BOUT_BLOCK_POOL_ID,
                            .tx_block_pool_name = name,
                            .tx_block_pool_available = total,
                            .tx_block_pool_total = total,
                            .tx_block_pool_block_size = size,
                            .tx_block_pool_size = area_bytes,
                            .tx_block_pool_start = area};
    for (ULONG i = total; i-- > 0;) {
        void **front = (void **)((UCHAR *)area + i * (size + sizeof(void *)));
        *front = pool->tx_block_pool_available_list;
        pool->tx_block_pool_available_list = front + 1;
    }
    ULONG lock = bout_lock();
    bout_created_add(BOUT_BLOCK_POOLS, &pool->tx_block_pool_created);
    BOUT_TRACE_BLOCK_POOL_CREATE(pool);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_block_pool_delete(TX_BLOCK_POOL *pool)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_BLOCK_POOL_DELETE(pool);
    bout_created_remove(&pool->tx_block_pool_created);
    pool->tx_block_pool_id = 0;
    bout_wake_all(&pool->tx_block_pool_waiters, BOUT_DELETED);
    return bout_leave(lock, BOUT_SUCCESS);
}

static void *take(TX_BLOCK_POOL *pool)
{
    void *block = pool->tx_block_pool_available_list;
    pool->tx_block_pool_available_list = *front_of(block);
    pool->tx_block_pool_available--;
    *front_of(block) = pool;
    return block;
}

enum bout_status bout_block_allocate(TX_BLOCK_POOL *pool, void **block, ULONG wait)
{
    ULONG lock = bout_lock();
    bout_trace_mark mark = BOUT_TRACE_BLOCK_ALLOCATE(pool, wait);
    enum bout_status status = BOUT_SUCCESS;
    if (pool->tx_block_pool_available != 0) {
        *block = take(pool);
    } else {
        if (bout_system_state == 0)
            _tx_thread_current_ptr->tx_thread_additional_suspend_info = block;
        status = bout_wait(pool, &pool->tx_block_pool_waiters, BOUT_WAITS_BLOCK, BOUT_NO_MEMORY,
                           wait, lock);
        lock = bout_lock();
    }
    if (status == BOUT_SUCCESS)
        BOUT_TRACE_BLOCK_ALLOCATED(mark, *block);
    (void)mark;
    return bout_leave(lock, status);
}

enum bout_status bout_block_release(void *block)
{
    ULONG lock = bout_lock();
    TX_BLOCK_POOL *pool = *front_of(block);
    TX_THREAD *waiter = pool->tx_block_pool_waiters.first;
    BOUT_TRACE_BLOCK_RELEASE(pool, block);
    if (waiter != NULL) {
        *(void **)waiter->tx_thread_additional_suspend_info = block;
        bout_wake(waiter, BOUT_SUCCESS);
    } else {
        *front_of(block) = pool->tx_block_pool_available_list;
        pool->tx_block_pool_available_list = block;
        pool->tx_block_pool_available++;
    }
    return bout_leave(lock, BOUT_SUCCESS);
}
