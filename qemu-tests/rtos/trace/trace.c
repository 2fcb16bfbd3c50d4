// SPDX-License-Identifier: MIT
// qemu-tests/rtos/trace: the ring. In: events from the hooks (hooks.h) and from the application.
// Out: entries in the layout of the ThreadX event trace (ThreadX user guide, chapter 11).
#include "trace.h"
#include "kernel.h"

TX_TRACE_HEADER *_tx_trace_header_ptr;
TX_TRACE_OBJECT_ENTRY *_tx_trace_registry_start_ptr;
TX_TRACE_OBJECT_ENTRY *_tx_trace_registry_end_ptr;
volatile TX_TRACE_BUFFER_ENTRY *_tx_trace_buffer_start_ptr;
volatile TX_TRACE_BUFFER_ENTRY *_tx_trace_buffer_end_ptr;
volatile TX_TRACE_BUFFER_ENTRY *volatile _tx_trace_buffer_current_ptr;
ULONG _tx_trace_event_enable_bits;
ULONG _tx_trace_simulated_time;
void (*_tx_trace_full_notify_function)(void *header);
volatile uint32_t bout_trace_inserted;
volatile uint32_t bout_trace_wraps;

ULONG bout_trace_system_state(void)
{
    return bout_system_state | bout_port_interrupt_number();
}

// Thread, interrupt or initialization; the priority word of the last two says who was interrupted.
static void record_context(volatile TX_TRACE_BUFFER_ENTRY *entry)
{
    ULONG state = bout_system_state;
    const TX_THREAD *thread = _tx_thread_current_ptr;
    if (state >= BOUT_INITIALIZING) {
        entry->tx_trace_buffer_entry_thread_pointer = TX_TRACE_INIT;
        entry->tx_trace_buffer_entry_thread_priority = 0;
    } else if (state != 0) {
        entry->tx_trace_buffer_entry_thread_pointer = TX_TRACE_ISR;
        entry->tx_trace_buffer_entry_thread_priority = (ULONG)thread;
    } else {
        entry->tx_trace_buffer_entry_thread_pointer = (ULONG)thread;
        entry->tx_trace_buffer_entry_thread_priority =
            0x80000000UL | (ULONG)thread->tx_thread_preempt_threshold << 16 |
            thread->tx_thread_priority;
    }
}

// The global pointer moves first, then the header's copy of it.
static void move_to(volatile TX_TRACE_BUFFER_ENTRY *entry)
{
    _tx_trace_buffer_current_ptr = entry;
    *(volatile ULONG *)&_tx_trace_header_ptr->tx_trace_header_buffer_current_pointer = (ULONG)entry;
}

__attribute__((noinline)) void _tx_trace_event_insert_impl(ULONG id, ULONG info1, ULONG info2,
                                                           ULONG info3, ULONG info4)
{
    volatile TX_TRACE_BUFFER_ENTRY *entry = _tx_trace_buffer_current_ptr;
    record_context(entry);
    entry->tx_trace_buffer_entry_event_id = id;
    entry->tx_trace_buffer_entry_time_stamp = TX_TRACE_TIME_SOURCE();
    entry->tx_trace_buffer_entry_information_field_1 = info1;
    entry->tx_trace_buffer_entry_information_field_2 = info2;
    entry->tx_trace_buffer_entry_information_field_3 = info3;
    entry->tx_trace_buffer_entry_information_field_4 = info4;
    bout_trace_inserted++;
    if (++entry < _tx_trace_buffer_end_ptr) {
        move_to(entry);
        return;
    }
    bout_trace_wraps++;
    move_to(_tx_trace_buffer_start_ptr);
    if (_tx_trace_full_notify_function != NULL)
        _tx_trace_full_notify_function(_tx_trace_header_ptr);
}

// Only the thread pointer of an unused entry is cleared; the rest is what the memory contained
// before.
static void clear_entries(void)
{
    for (volatile TX_TRACE_BUFFER_ENTRY *entry = _tx_trace_buffer_start_ptr;
         entry < _tx_trace_buffer_end_ptr; entry++)
        entry->tx_trace_buffer_entry_thread_pointer = 0;
}

static void lay_out(void *area, ULONG registry_entries, ULONG ring_entries)
{
    _tx_trace_header_ptr = area;
    _tx_trace_registry_start_ptr = (TX_TRACE_OBJECT_ENTRY *)(_tx_trace_header_ptr + 1);
    _tx_trace_registry_end_ptr = _tx_trace_registry_start_ptr + registry_entries;
    _tx_trace_buffer_start_ptr = (TX_TRACE_BUFFER_ENTRY *)_tx_trace_registry_end_ptr;
    _tx_trace_buffer_end_ptr = _tx_trace_buffer_start_ptr + ring_entries;
}

static void write_header(void)
{
    *_tx_trace_header_ptr = (TX_TRACE_HEADER){
        .tx_trace_header_id = TX_TRACE_VALID,
        .tx_trace_header_timer_valid_mask = TX_TRACE_TIME_MASK,
        .tx_trace_header_trace_base_address = (ULONG)_tx_trace_header_ptr,
        .tx_trace_header_registry_start_pointer = (ULONG)_tx_trace_registry_start_ptr,
        .tx_trace_header_object_name_size = TX_TRACE_OBJECT_REGISTRY_NAME,
        .tx_trace_header_registry_end_pointer = (ULONG)_tx_trace_registry_end_ptr,
        .tx_trace_header_buffer_start_pointer = (ULONG)_tx_trace_buffer_start_ptr,
        .tx_trace_header_buffer_end_pointer = (ULONG)_tx_trace_buffer_end_ptr,
        .tx_trace_header_buffer_current_pointer = (ULONG)_tx_trace_buffer_start_ptr,
        .tx_trace_header_reserved2 = 0xAAAAAAAAUL,
        .tx_trace_header_reserved3 = 0xBBBBBBBBUL,
        .tx_trace_header_reserved4 = 0xCCCCCCCCUL,
    };
}

enum bout_status bout_trace_enable(void *area, ULONG size, ULONG registry_entries)
{
    ULONG fixed = sizeof(TX_TRACE_HEADER) + registry_entries * (ULONG)sizeof(TX_TRACE_OBJECT_ENTRY);
    if (size < fixed + sizeof(TX_TRACE_BUFFER_ENTRY))
        return BOUT_SIZE_ERROR;
    ULONG lock = bout_lock();
    if (_tx_trace_buffer_current_ptr != NULL)
        return bout_leave(lock, BOUT_NOT_DONE);
    lay_out(area, registry_entries, (size - fixed) / sizeof(TX_TRACE_BUFFER_ENTRY));
    write_header();
    clear_entries();
    bout_trace_inserted = 0;
    bout_trace_wraps = 0;
    bout_trace_registry_start(registry_entries);
    _tx_trace_event_enable_bits = TX_TRACE_ALL_EVENTS;
    move_to(_tx_trace_buffer_start_ptr);
    // A ring is never empty: a reader finds at least these.
    _tx_trace_event_insert_impl(TX_TRACE_RUNNING, 0, 0, 0, 0);
    _tx_trace_event_insert_impl(TX_TRACE_RUNNING, 0, 0, 0, 0);
    return bout_leave(lock, BOUT_SUCCESS);
}

enum bout_status bout_trace_disable(void)
{
    ULONG lock = bout_lock();
    if (_tx_trace_buffer_current_ptr == NULL)
        return bout_leave(lock, BOUT_NOT_DONE);
    _tx_trace_buffer_current_ptr = NULL;
    _tx_trace_registry_start_ptr = NULL;
    return bout_leave(lock, BOUT_SUCCESS);
}

void bout_trace_filter(ULONG classes)
{
    ULONG lock = bout_lock();
    _tx_trace_event_enable_bits &= ~classes;
    bout_unlock(lock);
}

void bout_trace_unfilter(ULONG classes)
{
    ULONG lock = bout_lock();
    _tx_trace_event_enable_bits |= classes;
    bout_unlock(lock);
}

void bout_trace_full_notify(void (*notify)(void *header))
{
    _tx_trace_full_notify_function = notify;
}

void bout_trace_user_event(ULONG id, ULONG info1, ULONG info2, ULONG info3, ULONG info4)
{
    ULONG lock = bout_lock();
    bout_trace_event(TX_TRACE_USER_EVENTS, id, info1, info2, info3, info4);
    bout_unlock(lock);
}
