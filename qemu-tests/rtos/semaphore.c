// SPDX-License-Identifier: MIT
// qemu-tests/rtos: counting semaphores. In: puts. Out: as many gets, in the order of the waiters.
#include "kernel.h"

enum bout_status bout_semaphore_create(TX_SEMAPHORE *semaphore, char *name, ULONG count)
{
    *semaphore = (TX_SEMAPHORE){.tx_semaphore_id = BOUT_SEMAPHORE_ID,
                                .tx_semaphore_name = name,
                                .tx_semaphore_count = count};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_SEMAPHORES, &semaphore->tx_semaphore_created);
    BOUT_TRACE_SEMAPHORE_CREATE(semaphore);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_semaphore_delete(TX_SEMAPHORE *semaphore)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_SEMAPHORE_DELETE(semaphore);
    bout_created_remove(&semaphore->tx_semaphore_created);
    semaphore->tx_semaphore_id = 0;
    bout_wake_all(&semaphore->tx_semaphore_waiters, BOUT_DELETED);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_semaphore_get(TX_SEMAPHORE *semaphore, ULONG wait)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_SEMAPHORE_GET(semaphore, wait);
    if (semaphore->tx_semaphore_count == 0)
        return bout_wait(semaphore, &semaphore->tx_semaphore_waiters, BOUT_WAITS_SEMAPHORE,
                         BOUT_NO_INSTANCE, wait, lock);
    semaphore->tx_semaphore_count--;
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_semaphore_put(TX_SEMAPHORE *semaphore)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_SEMAPHORE_PUT(semaphore);
    if (semaphore->tx_semaphore_waiters.first == NULL)
        semaphore->tx_semaphore_count++;
    else
        bout_wake(semaphore->tx_semaphore_waiters.first, BOUT_SUCCESS);
    return bout_leave(lock, BOUT_SUCCESS);
}
