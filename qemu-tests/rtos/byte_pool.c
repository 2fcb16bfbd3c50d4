// SPDX-License-Identifier: MIT
// qemu-tests/rtos: pools of bytes, first fit. In: an area of memory. Out: pieces of any size. The
// area is a chain of pieces in the order of their addresses. Free neighbors become one piece when a
// thread looks for space.
#include "kernel.h"

struct piece {
    struct piece *next;  // NULL: the sentinel at the area's end
    TX_BYTE_POOL *owner; // NULL: free
};

static ULONG room(const struct piece *piece)
{
    return (ULONG)((UCHAR *)piece->next - (UCHAR *)piece) - sizeof *piece;
}

enum bout_status bout_byte_pool_create(TX_BYTE_POOL *pool, char *name, void *area, ULONG area_bytes)
{
    ULONG whole = area_bytes / sizeof(struct piece) * sizeof(struct piece);
    if (whole < 3 * sizeof(struct piece))
        return BOUT_SIZE_ERROR;
    struct piece *first = area, *last = (struct piece *)((UCHAR *)area + whole) - 1;
    *pool = (TX_BYTE_POOL){.tx_byte_pool_id = BOUT_BYTE_POOL_ID,
                           .tx_byte_pool_name = name,
                           .tx_byte_pool_available = whole - 2 * sizeof(struct piece),
                           .tx_byte_pool_size = area_bytes,
                           .tx_byte_pool_start = area};
    *first = (struct piece){.next = last};
    *last = (struct piece){.owner = pool};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_BYTE_POOLS, &pool->tx_byte_pool_created);
    BOUT_TRACE_BYTE_POOL_CREATE(pool);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_byte_pool_delete(TX_BYTE_POOL *pool)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_BYTE_POOL_DELETE(pool);
    bout_created_remove(&pool->tx_byte_pool_created);
    pool->tx_byte_pool_id = 0;
    bout_wake_all(&pool->tx_byte_pool_waiters, BOUT_DELETED);
    return bout_leave(lock, BOUT_SUCCESS);
}

static struct piece *find(TX_BYTE_POOL *pool, ULONG bytes)
{
    struct piece *piece = (struct piece *)pool->tx_byte_pool_start;
    for (; piece->next != NULL; piece = piece->next) {
        while (piece->owner == NULL && piece->next->owner == NULL) {
            piece->next = piece->next->next;
            pool->tx_byte_pool_available += sizeof *piece;
        }
        if (piece->owner == NULL && room(piece) >= bytes)
            return piece;
    }
    return NULL;
}

// NULL where nothing fits.
static void *take(TX_BYTE_POOL *pool, ULONG asked)
{
    ULONG bytes = (asked + sizeof(struct piece) - 1) / sizeof(struct piece) * sizeof(struct piece);
    struct piece *piece = find(pool, bytes);
    if (piece == NULL)
        return NULL;
    if (room(piece) > bytes + sizeof *piece) {
        struct piece *rest = (struct piece *)((UCHAR *)(piece + 1) + bytes);
        *rest = (struct piece){.next = piece->next};
        piece->next = rest;
        pool->tx_byte_pool_available -= sizeof *piece;
    }
    piece->owner = pool;
    pool->tx_byte_pool_available -= room(piece);
    return piece + 1;
}

enum bout_status bout_byte_allocate(TX_BYTE_POOL *pool, void **memory, ULONG bytes, ULONG wait)
{
    ULONG lock = bout_lock();
    bout_trace_mark mark = BOUT_TRACE_BYTE_ALLOCATE(pool, bytes, wait);
    enum bout_status status = BOUT_SUCCESS;
    void *found = take(pool, bytes);
    if (found != NULL) {
        *memory = found;
    } else {
        if (bout_system_state == 0) {
            _tx_thread_current_ptr->tx_thread_suspend_info = bytes;
            _tx_thread_current_ptr->tx_thread_additional_suspend_info = memory;
        }
        status = bout_wait(pool, &pool->tx_byte_pool_waiters, BOUT_WAITS_BYTES, BOUT_NO_MEMORY,
                           wait, lock);
        lock = bout_lock();
    }
    if (status == BOUT_SUCCESS)
        BOUT_TRACE_BYTE_ALLOCATED(mark, *memory);
    (void)mark;
    return bout_leave(lock, status);
}

enum bout_status bout_byte_release(void *memory)
{
    ULONG lock = bout_lock();
    struct piece *piece = (struct piece *)memory - 1;
    TX_BYTE_POOL *pool = piece->owner;
    BOUT_TRACE_BYTE_RELEASE(pool, memory);
    piece->owner = NULL;
    pool->tx_byte_pool_available += room(piece);
    for (;;) {
        TX_THREAD *waiter = pool->tx_byte_pool_waiters.first;
        void *found = waiter ? take(pool, waiter->tx_thread_suspend_info) : NULL;
        if (found == NULL)
            break;
        *(void **)waiter->tx_thread_additional_suspend_info = found;
        bout_wake(waiter, BOUT_SUCCESS);
    }
    return bout_leave(lock, BOUT_SUCCESS);
}
