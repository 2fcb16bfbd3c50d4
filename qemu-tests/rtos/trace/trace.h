// SPDX-License-Identifier: MIT
// qemu-tests/rtos/trace: a recorder of the ThreadX event trace layout. In: events. Out: a ring in
// target memory, and the global symbols by which a debugger finds it.
// Follows the layout that the ThreadX user guide describes in chapter 11 (TraceX), with the
// members, reserved words and identifiers of ThreadX 6.4.
#ifndef BOUT_TRACE_THREADX_H
#define BOUT_TRACE_THREADX_H

#include "bout.h"

// Settings of an image; its own header may set them (BOUT_TRACE_CONFIG).
#ifdef BOUT_TRACE_CONFIG
#include BOUT_TRACE_CONFIG
#endif
#ifndef TX_TRACE_OBJECT_REGISTRY_NAME
#define TX_TRACE_OBJECT_REGISTRY_NAME 32 // bytes of a name in the registry
#endif
#ifndef TX_TRACE_TIME_MASK
#define TX_TRACE_TIME_MASK 0xFFFFFFFFUL
#endif
// A counter; (++_tx_trace_simulated_time) counts events where a board has none.
#ifndef TX_TRACE_TIME_SOURCE
#define TX_TRACE_TIME_SOURCE() bout_port_stamp()
#endif

#define TX_TRACE_VALID 0x54585442UL // "TXTB"
#define TX_TRACE_ISR   0xFFFFFFFFUL // in place of a thread
#define TX_TRACE_INIT  0xF0F0F0F0UL

typedef struct TX_TRACE_HEADER_STRUCT {
    ULONG tx_trace_header_id;
    ULONG tx_trace_header_timer_valid_mask;
    ULONG tx_trace_header_trace_base_address;
    ULONG tx_trace_header_registry_start_pointer;
    USHORT tx_trace_header_reserved1;
    USHORT tx_trace_header_object_name_size;
    ULONG tx_trace_header_registry_end_pointer;
    ULONG tx_trace_header_buffer_start_pointer;
    ULONG tx_trace_header_buffer_end_pointer;
    ULONG tx_trace_header_buffer_current_pointer;
    ULONG tx_trace_header_reserved2;
    ULONG tx_trace_header_reserved3;
    ULONG tx_trace_header_reserved4;
} TX_TRACE_HEADER;

typedef struct TX_TRACE_OBJECT_ENTRY_STRUCT {
    UCHAR tx_trace_object_entry_available; // 1: the slot is free
    UCHAR tx_trace_object_entry_type;
    UCHAR tx_trace_object_entry_reserved1;
    UCHAR tx_trace_object_entry_reserved2;
    ULONG tx_trace_object_entry_thread_pointer; // the object's address, of whatever kind it is
    ULONG tx_trace_object_entry_param_1;
    ULONG tx_trace_object_entry_param_2;
    UCHAR tx_trace_object_entry_name[TX_TRACE_OBJECT_REGISTRY_NAME];
} TX_TRACE_OBJECT_ENTRY;

typedef struct TX_TRACE_BUFFER_ENTRY_STRUCT {
    ULONG tx_trace_buffer_entry_thread_pointer;
    ULONG tx_trace_buffer_entry_thread_priority;
    ULONG tx_trace_buffer_entry_event_id;
    ULONG tx_trace_buffer_entry_time_stamp;
    ULONG tx_trace_buffer_entry_information_field_1;
    ULONG tx_trace_buffer_entry_information_field_2;
    ULONG tx_trace_buffer_entry_information_field_3;
    ULONG tx_trace_buffer_entry_information_field_4;
} TX_TRACE_BUFFER_ENTRY;

// Classes of events: the bits of _tx_trace_event_enable_bits.
enum {
    TX_TRACE_INTERNAL_EVENTS = 0x1,
    TX_TRACE_BLOCK_POOL_EVENTS = 0x2,
    TX_TRACE_BYTE_POOL_EVENTS = 0x4,
    TX_TRACE_EVENT_FLAGS_EVENTS = 0x8,
    TX_TRACE_INTERRUPT_CONTROL_EVENT = 0x10,
    TX_TRACE_MUTEX_EVENTS = 0x20,
    TX_TRACE_QUEUE_EVENTS = 0x40,
    TX_TRACE_SEMAPHORE_EVENTS = 0x80,
    TX_TRACE_THREAD_EVENTS = 0x100,
    TX_TRACE_TIME_EVENTS = 0x200,
    TX_TRACE_TIMER_EVENTS = 0x400
};
#define TX_TRACE_USER_EVENTS 0x80000000UL
#define TX_TRACE_ALL_EVENTS  0xFFFFFFFFUL

enum {
    TX_TRACE_THREAD_RESUME = 1,
    TX_TRACE_THREAD_SUSPEND = 2,
    TX_TRACE_ISR_ENTER = 3,
    TX_TRACE_ISR_EXIT = 4,
    TX_TRACE_TIME_SLICE = 5,
    TX_TRACE_RUNNING = 6,
    TX_TRACE_BLOCK_ALLOCATE = 10,
    TX_TRACE_BLOCK_POOL_CREATE = 11,
    TX_TRACE_BLOCK_POOL_DELETE = 12,
    TX_TRACE_BLOCK_RELEASE = 17,
    TX_TRACE_BYTE_ALLOCATE = 20,
    TX_TRACE_BYTE_POOL_CREATE = 21,
    TX_TRACE_BYTE_POOL_DELETE = 22,
    TX_TRACE_BYTE_RELEASE = 27,
    TX_TRACE_EVENT_FLAGS_CREATE = 30,
    TX_TRACE_EVENT_FLAGS_DELETE = 31,
    TX_TRACE_EVENT_FLAGS_GET = 32,
    TX_TRACE_EVENT_FLAGS_SET = 36,
    TX_TRACE_INTERRUPT_CONTROL = 40,
    TX_TRACE_MUTEX_CREATE = 50,
    TX_TRACE_MUTEX_DELETE = 51,
    TX_TRACE_MUTEX_GET = 52,
    TX_TRACE_MUTEX_PUT = 57,
    TX_TRACE_QUEUE_CREATE = 60,
    TX_TRACE_QUEUE_DELETE = 61,
    TX_TRACE_QUEUE_RECEIVE = 68,
    TX_TRACE_QUEUE_SEND = 69,
    TX_TRACE_SEMAPHORE_CREATE = 81,
    TX_TRACE_SEMAPHORE_DELETE = 82,
    TX_TRACE_SEMAPHORE_GET = 83,
    TX_TRACE_SEMAPHORE_PUT = 88,
    TX_TRACE_THREAD_CREATE = 100,
    TX_TRACE_THREAD_DELETE = 101,
    TX_TRACE_THREAD_IDENTIFY = 103,
    TX_TRACE_THREAD_PREEMPTION_CHANGE = 107,
    TX_TRACE_THREAD_PRIORITY_CHANGE = 108,
    TX_TRACE_THREAD_RELINQUISH = 109,
    TX_TRACE_THREAD_RESUME_API = 111,
    TX_TRACE_THREAD_SLEEP = 112,
    TX_TRACE_THREAD_SUSPEND_API = 114,
    TX_TRACE_THREAD_TERMINATE = 115,
    TX_TRACE_TIME_GET = 120,
    TX_TRACE_TIMER_ACTIVATE = 122,
    TX_TRACE_TIMER_CREATE = 124,
    TX_TRACE_TIMER_DEACTIVATE = 125,
    TX_TRACE_TIMER_DELETE = 126,
    TX_TRACE_USER_EVENT_START = 4096,
    TX_TRACE_USER_EVENT_END = 65535
};

enum {
    TX_TRACE_OBJECT_TYPE_NOT_VALID = 0,
    TX_TRACE_OBJECT_TYPE_THREAD = 1,
    TX_TRACE_OBJECT_TYPE_TIMER = 2,
    TX_TRACE_OBJECT_TYPE_QUEUE = 3,
    TX_TRACE_OBJECT_TYPE_SEMAPHORE = 4,
    TX_TRACE_OBJECT_TYPE_MUTEX = 5,
    TX_TRACE_OBJECT_TYPE_EVENT_FLAGS = 6,
    TX_TRACE_OBJECT_TYPE_BLOCK_POOL = 7,
    TX_TRACE_OBJECT_TYPE_BYTE_POOL = 8
};

extern TX_TRACE_HEADER *_tx_trace_header_ptr;
extern TX_TRACE_OBJECT_ENTRY *_tx_trace_registry_start_ptr; // NULL: not recording
extern TX_TRACE_OBJECT_ENTRY *_tx_trace_registry_end_ptr;
extern volatile TX_TRACE_BUFFER_ENTRY *_tx_trace_buffer_start_ptr;
extern volatile TX_TRACE_BUFFER_ENTRY *_tx_trace_buffer_end_ptr;
// Where the next event goes; NULL: not recording.
extern volatile TX_TRACE_BUFFER_ENTRY *volatile _tx_trace_buffer_current_ptr;
extern ULONG _tx_trace_event_enable_bits;
extern ULONG _tx_trace_simulated_time;
extern ULONG _tx_trace_total_registry_entries;
extern ULONG _tx_trace_available_registry_entries;
extern ULONG _tx_trace_registry_search_start;
extern void (*_tx_trace_full_notify_function)(void *header);

// For tests: events since recording was enabled, and how often the ring began again.
extern volatile uint32_t bout_trace_inserted;
extern volatile uint32_t bout_trace_wraps;

// Lays the ring out in `area` and records from now on. The area is `size` bytes.
enum bout_status bout_trace_enable(void *area, ULONG size, ULONG registry_entries);
enum bout_status bout_trace_disable(void);
void bout_trace_filter(ULONG classes);   // these are no longer recorded
void bout_trace_unfilter(ULONG classes); // these are
// Called with interrupts locked each time that the ring is full and begins again.
void bout_trace_full_notify(void (*notify)(void *header));
// Ids from TX_TRACE_USER_EVENT_START to TX_TRACE_USER_EVENT_END.
void bout_trace_user_event(ULONG id, ULONG info1, ULONG info2, ULONG info3, ULONG info4);

// For the recorder's own files and hooks; interrupts are locked.
void _tx_trace_event_insert_impl(ULONG id, ULONG info1, ULONG info2, ULONG info3, ULONG info4);
ULONG bout_trace_system_state(void);
void bout_trace_register(UCHAR type, const void *object, const char *name, ULONG param_1,
                         ULONG param_2);
void bout_trace_register_thread(const TX_THREAD *thread);
void bout_trace_unregister(const void *object);
void bout_trace_registry_start(ULONG entries);

#endif
