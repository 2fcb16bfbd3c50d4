// SPDX-License-Identifier: MIT
// qemu-tests/rtos: queues of messages of a fixed number of words. In: messages of senders. Out: the
// same to receivers, first in first out; both may wait.
#include "kernel.h"

static ULONG message_bytes(const TX_QUEUE *queue)
{
    return (ULONG)queue->tx_queue_message_size * sizeof(ULONG);
}

static void advance(const TX_QUEUE *queue, ULONG **place)
{
    *place += queue->tx_queue_message_size;
    if (*place == queue->tx_queue_end)
        *place = queue->tx_queue_start;
}

static void enqueue(TX_QUEUE *queue, const void *message)
{
    memcpy(queue->tx_queue_write, message, message_bytes(queue));
    advance(queue, &queue->tx_queue_write);
    queue->tx_queue_enqueued++;
}

static void dequeue(TX_QUEUE *queue, void *message)
{
    memcpy(message, queue->tx_queue_read, message_bytes(queue));
    advance(queue, &queue->tx_queue_read);
    queue->tx_queue_enqueued--;
}

enum bout_status bout_queue_create(TX_QUEUE *queue, char *name, UINT words, void *area,
                                   ULONG area_bytes)
{
    ULONG capacity = words ? area_bytes / (words * sizeof(ULONG)) : 0;
    if (words > BOUT_QUEUE_WORDS_LIMIT || capacity == 0)
        return BOUT_SIZE_ERROR;
    *queue = (TX_QUEUE){.tx_queue_id = BOUT_QUEUE_ID,
                        .tx_queue_name = name,
                        .tx_queue_message_size = words,
                        .tx_queue_capacity = capacity,
                        .tx_queue_start = area,
                        .tx_queue_end = (ULONG *)area + capacity * words,
                        .tx_queue_read = area,
                        .tx_queue_write = area};
    ULONG lock = bout_lock();
    bout_created_add(BOUT_QUEUES, &queue->tx_queue_created);
    BOUT_TRACE_QUEUE_CREATE(queue);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_queue_delete(TX_QUEUE *queue)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_QUEUE_DELETE(queue);
    bout_created_remove(&queue->tx_queue_created);
    queue->tx_queue_id = 0;
    bout_wake_all(&queue->tx_queue_waiters, BOUT_DELETED);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_queue_send(TX_QUEUE *queue, const void *message, ULONG wait)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_QUEUE_SEND(queue, message, wait);
    TX_THREAD *receiver = queue->tx_queue_waiters.first;
    if (queue->tx_queue_enqueued == queue->tx_queue_capacity) {
        // A sender that cannot wait here is refused in bout_wait. Then no thread reads this.
        if (bout_system_state == 0)
            _tx_thread_current_ptr->tx_thread_additional_suspend_info = (void *)message;
        return bout_wait(queue, &queue->tx_queue_waiters, BOUT_WAITS_QUEUE, BOUT_QUEUE_FULL, wait,
                         lock);
    }
    if (receiver == NULL) {
        enqueue(queue, message);
    } else {
        memcpy(receiver->tx_thread_additional_suspend_info, message, message_bytes(queue));
        bout_wake(receiver, BOUT_SUCCESS);
    }
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_queue_receive(TX_QUEUE *queue, void *message, ULONG wait)
{
    ULONG lock = bout_lock();
    BOUT_TRACE_QUEUE_RECEIVE(queue, message, wait);
    TX_THREAD *sender = queue->tx_queue_waiters.first;
    if (queue->tx_queue_enqueued == 0) {
        if (bout_system_state == 0)
            _tx_thread_current_ptr->tx_thread_additional_suspend_info = message;
        return bout_wait(queue, &queue->tx_queue_waiters, BOUT_WAITS_QUEUE, BOUT_QUEUE_EMPTY, wait,
                         lock);
    }
    dequeue(queue, message);
    if (sender != NULL) {
        enqueue(queue, sender->tx_thread_additional_suspend_info);
        bout_wake(sender, BOUT_SUCCESS);
    }
    return bout_leave(lock, BOUT_SUCCESS);
}
