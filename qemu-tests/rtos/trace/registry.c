// SPDX-License-Identifier: MIT
// qemu-tests/rtos/trace: the object registry. In: objects that are created or deleted while the
// trace is enabled, and those that exist when it is. Out: registry entries (ThreadX user guide,
// chapter 11), by which a reader names what events point at.
#include "trace.h"
#include "kernel.h"

ULONG _tx_trace_total_registry_entries;
ULONG _tx_trace_available_registry_entries;
ULONG _tx_trace_registry_search_start;

// A slot that was never used or that held this very object before; else any that is free.
static TX_TRACE_OBJECT_ENTRY *find_slot(const void *object)
{
    TX_TRACE_OBJECT_ENTRY *freed = NULL;
    if (_tx_trace_registry_start_ptr == NULL || _tx_trace_available_registry_entries == 0)
        return NULL;
    ULONG index = _tx_trace_registry_search_start;
    for (ULONG left = _tx_trace_total_registry_entries; left != 0; left--) {
        TX_TRACE_OBJECT_ENTRY *entry = &_tx_trace_registry_start_ptr[index];
        if (entry->tx_trace_object_entry_thread_pointer == 0)
            return entry;
        if (entry->tx_trace_object_entry_available) {
            if (entry->tx_trace_object_entry_thread_pointer == (ULONG)object)
                return entry;
            freed = freed ? freed : entry;
        }
        index = index + 1 < _tx_trace_total_registry_entries ? index + 1 : 0;
    }
    return freed;
}

// Copies at most all but one byte, and a NUL. What followed it before remains.
static void copy_name(UCHAR *to, const char *name)
{
    ULONG i = 0;
    if (name != NULL) {
        for (; i < TX_TRACE_OBJECT_REGISTRY_NAME - 1 && name[i] != '\0'; i++)
            to[i] = (UCHAR)name[i];
    }
    to[i] = '\0';
}

static TX_TRACE_OBJECT_ENTRY *fill_slot(UCHAR type, const void *object, const char *name,
                                        ULONG param_1, ULONG param_2)
{
    TX_TRACE_OBJECT_ENTRY *entry = find_slot(object);
    if (entry == NULL)
        return NULL;
    entry->tx_trace_object_entry_available = 0;
    entry->tx_trace_object_entry_type = type;
    entry->tx_trace_object_entry_reserved1 = 0;
    entry->tx_trace_object_entry_reserved2 = 0;
    entry->tx_trace_object_entry_thread_pointer = (ULONG)object;
    entry->tx_trace_object_entry_param_1 = param_1;
    entry->tx_trace_object_entry_param_2 = param_2;
    copy_name(entry->tx_trace_object_entry_name, name);
    _tx_trace_available_registry_entries--;
    ULONG next = (ULONG)(entry - _tx_trace_registry_start_ptr) + 1;
    _tx_trace_registry_search_start = next < _tx_trace_total_registry_entries ? next : 0;
    return entry;
}

void bout_trace_register(UCHAR type, const void *object, const char *name, ULONG param_1,
                         ULONG param_2)
{
    // If the registry is full, the object has no name, and no error is reported.
    (void)fill_slot(type, object, name, param_1, param_2);
}

void bout_trace_register_thread(const TX_THREAD *thread)
{
    TX_TRACE_OBJECT_ENTRY *entry =
        fill_slot(TX_TRACE_OBJECT_TYPE_THREAD, thread, thread->tx_thread_name,
                  (ULONG)thread->tx_thread_stack_start, thread->tx_thread_stack_size);
    if (entry == NULL)
        return;
    entry->tx_trace_object_entry_reserved1 = (UCHAR)(0x80 | thread->tx_thread_priority >> 8);
    entry->tx_trace_object_entry_reserved2 = (UCHAR)thread->tx_thread_priority;
}

void bout_trace_unregister(const void *object)
{
    if (_tx_trace_registry_start_ptr == NULL)
        return;
    for (TX_TRACE_OBJECT_ENTRY *entry = _tx_trace_registry_start_ptr;
         entry < _tx_trace_registry_end_ptr; entry++) {
        if (!entry->tx_trace_object_entry_available &&
            entry->tx_trace_object_entry_thread_pointer == (ULONG)object) {
            entry->tx_trace_object_entry_available = 1;
            _tx_trace_available_registry_entries++;
            return;
        }
    }
}

// All that the recorder says of an object that is older than the trace.
static void register_existing(enum bout_kind kind, struct bout_link *link)
{
    TX_TIMER *timer = BOUT_CONTAINER(link, TX_TIMER, tx_timer_created);
    TX_QUEUE *queue = BOUT_CONTAINER(link, TX_QUEUE, tx_queue_created);
    TX_SEMAPHORE *semaphore = BOUT_CONTAINER(link, TX_SEMAPHORE, tx_semaphore_created);
    TX_MUTEX *mutex = BOUT_CONTAINER(link, TX_MUTEX, tx_mutex_created);
    TX_EVENT_FLAGS_GROUP *group =
        BOUT_CONTAINER(link, TX_EVENT_FLAGS_GROUP, tx_event_flags_group_created);
    TX_BLOCK_POOL *blocks = BOUT_CONTAINER(link, TX_BLOCK_POOL, tx_block_pool_created);
    TX_BYTE_POOL *bytes = BOUT_CONTAINER(link, TX_BYTE_POOL, tx_byte_pool_created);
    switch (kind) {
    case BOUT_TIMERS:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_TIMER, timer, timer->tx_timer_name, 0,
                            timer->tx_timer_internal.tx_timer_internal_re_initialize_ticks);
        break;
    case BOUT_QUEUES:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_QUEUE, queue, queue->tx_queue_name,
                            queue->tx_queue_capacity * sizeof(ULONG), 0);
        break;
    case BOUT_SEMAPHORES:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_SEMAPHORE, semaphore, semaphore->tx_semaphore_name,
                            0, 0);
        break;
    case BOUT_MUTEXES:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_MUTEX, mutex, mutex->tx_mutex_name,
                            mutex->tx_mutex_inherit, 0);
        break;
    case BOUT_EVENT_FLAGS_GROUPS:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_EVENT_FLAGS, group,
                            group->tx_event_flags_group_name, 0, 0);
        break;
    case BOUT_BLOCK_POOLS:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_BLOCK_POOL, blocks, blocks->tx_block_pool_name,
                            blocks->tx_block_pool_size, 0);
        break;
    default:
        bout_trace_register(TX_TRACE_OBJECT_TYPE_BYTE_POOL, bytes, bytes->tx_byte_pool_name,
                            bytes->tx_byte_pool_size, 0);
        break;
    }
}

static void empty_slots(void)
{
    for (TX_TRACE_OBJECT_ENTRY *entry = _tx_trace_registry_start_ptr;
         entry < _tx_trace_registry_end_ptr; entry++) {
        entry->tx_trace_object_entry_available = 1;
        entry->tx_trace_object_entry_type = TX_TRACE_OBJECT_TYPE_NOT_VALID;
        entry->tx_trace_object_entry_reserved1 = 0;
        entry->tx_trace_object_entry_reserved2 = 0;
        entry->tx_trace_object_entry_thread_pointer = 0;
    }
}

void bout_trace_registry_start(ULONG entries)
{
    _tx_trace_total_registry_entries = _tx_trace_available_registry_entries = entries;
    _tx_trace_registry_search_start = 0;
    empty_slots();
    TX_THREAD *thread = _tx_thread_created_ptr;
    for (ULONG i = 0; i < _tx_thread_created_count; i++) {
        bout_trace_register_thread(thread);
        thread = thread->tx_thread_created_next;
    }
    for (enum bout_kind kind = 0; kind < BOUT_KINDS; kind++) {
        struct bout_link *head = &bout_created[kind];
        for (struct bout_link *link = head->next; link != head; link = link->next)
            register_existing(kind, link);
    }
}
