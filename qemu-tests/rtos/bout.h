// SPDX-License-Identifier: MIT
// qemu-tests/rtos: bout, a small preemptive kernel that serves as the instrumented firmware of the
// tests. In: calls of threads and interrupt handlers. Out: who runs next, and trace hooks
// (bout_trace.h) at each service.
//
// Control blocks carry the names that ThreadX users and their debuggers know (struct tags, members,
// object ids), because Ringside finds them through DWARF. Services are named bout_OBJECT_VERB.
// Times are ticks; a time-out is BOUT_NO_WAIT, BOUT_WAIT_FOREVER or a number of ticks.
#ifndef BOUT_H
#define BOUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef unsigned char UCHAR;
typedef unsigned short USHORT;
typedef unsigned int UINT;
typedef unsigned long ULONG; // the port's word: 4 bytes on Cortex-M3 and ColdFire, 8 on RV64

#define BOUT_NO_WAIT           0UL
#define BOUT_WAIT_FOREVER      0xFFFFFFFFUL
#define BOUT_PRIORITIES        32U // 0 is the most urgent
#define BOUT_NO_TIME_SLICE     0UL
#define BOUT_TICKS_PER_SECOND  100UL
#define BOUT_QUEUE_WORDS_LIMIT 16U

enum bout_status {
    BOUT_SUCCESS = 0x00,
    BOUT_DELETED = 0x01, // the object was deleted while the thread waited for it
    BOUT_SIZE_ERROR = 0x05,
    BOUT_NO_EVENTS = 0x07,
    BOUT_QUEUE_EMPTY = 0x0A,
    BOUT_QUEUE_FULL = 0x0B,
    BOUT_NO_INSTANCE = 0x0D,
    BOUT_NO_MEMORY = 0x10,
    BOUT_CALLER_ERROR = 0x13, // not from this thread state or context
    BOUT_NOT_AVAILABLE = 0x1D,
    BOUT_NOT_OWNED = 0x1E,
    BOUT_NOT_DONE = 0x20
};

enum bout_thread_state {
    BOUT_READY = 0,
    BOUT_COMPLETED = 1,
    BOUT_TERMINATED = 2,
    BOUT_SUSPENDED = 3,
    BOUT_SLEEPING = 4,
    BOUT_WAITS_QUEUE = 5,
    BOUT_WAITS_SEMAPHORE = 6,
    BOUT_WAITS_EVENT_FLAGS = 7,
    BOUT_WAITS_BLOCK = 8,
    BOUT_WAITS_BYTES = 9,
    BOUT_WAITS_MUTEX = 13
};

enum bout_flags_option { BOUT_OR = 0, BOUT_OR_CLEAR = 1, BOUT_AND = 2, BOUT_AND_CLEAR = 3 };

// First words of control blocks: they distinguish a living object from anything else.
#define BOUT_THREAD_ID      0x54485244UL
#define BOUT_TIMER_ID       0x4154494DUL
#define BOUT_QUEUE_ID       0x51554555UL
#define BOUT_SEMAPHORE_ID   0x53454D41UL
#define BOUT_MUTEX_ID       0x4D555445UL
#define BOUT_EVENT_FLAGS_ID 0x4456444EUL
#define BOUT_BLOCK_POOL_ID  0x424C4F43UL
#define BOUT_BYTE_POOL_ID   0x42595445UL

struct TX_MUTEX_STRUCT;
struct TX_THREAD_STRUCT;

struct bout_link {
    struct bout_link *next, *previous;
};

// Threads that wait for an object, first come first.
struct bout_waiters {
    struct TX_THREAD_STRUCT *first;
    ULONG count;
};

// A timer of the kernel, as ThreadX has it. `remaining_ticks` are those that were left when it was
// put into its list, which is where the rest is counted.
typedef struct TX_TIMER_INTERNAL_STRUCT {
    ULONG tx_timer_internal_remaining_ticks, tx_timer_internal_re_initialize_ticks;
    void (*tx_timer_internal_timeout_function)(void *parameter);
    void *tx_timer_internal_timeout_param;
    struct TX_TIMER_INTERNAL_STRUCT *tx_timer_internal_active_next;
    struct TX_TIMER_INTERNAL_STRUCT *tx_timer_internal_active_previous;
    struct TX_TIMER_INTERNAL_STRUCT **tx_timer_internal_list_head; // NULL: it does not run
} TX_TIMER_INTERNAL;

typedef struct TX_THREAD_STRUCT {
    ULONG tx_thread_id;
    ULONG tx_thread_run_count;
    void *tx_thread_stack_ptr; // where the context was saved; only valid while it does not run
    void *tx_thread_stack_start;
    void *tx_thread_stack_end;
    ULONG tx_thread_stack_size;
    ULONG tx_thread_time_slice;     // ticks left of this turn
    ULONG tx_thread_new_time_slice; // ticks a turn
    struct TX_THREAD_STRUCT *tx_thread_ready_next, *tx_thread_ready_previous;
    char *tx_thread_name;
    UINT tx_thread_priority; // in force; raised while a mutex inherits
    UINT tx_thread_state;
    UINT tx_thread_preempt_threshold;
    UINT tx_thread_user_priority; // as asked for
    UINT tx_thread_user_preempt_threshold;
    void (*tx_thread_entry)(ULONG parameter);
    ULONG tx_thread_entry_parameter;
    struct TX_THREAD_STRUCT *tx_thread_created_next, *tx_thread_created_previous;
    struct TX_THREAD_STRUCT *tx_thread_held_next; // next of those whose threshold is in force
    struct TX_THREAD_STRUCT *tx_thread_suspended_next, *tx_thread_suspended_previous;
    struct bout_waiters *tx_thread_suspended_in;
    void *tx_thread_suspend_control_block; // what it waits for
    UINT tx_thread_suspend_status;
    UINT tx_thread_suspend_option;
    ULONG tx_thread_suspend_info;            // what it waits for: flags or bytes
    void *tx_thread_additional_suspend_info; // where the result goes
    TX_TIMER_INTERNAL tx_thread_timer;
    struct TX_MUTEX_STRUCT *tx_thread_owned_mutexes;
} TX_THREAD;

typedef struct TX_TIMER_STRUCT {
    ULONG tx_timer_id;
    char *tx_timer_name;
    struct bout_link tx_timer_created;
    TX_TIMER_INTERNAL tx_timer_internal; // re_initialize_ticks: 0: once
    ULONG tx_timer_first;
    void (*tx_timer_function)(ULONG argument);
    ULONG tx_timer_argument;
} TX_TIMER;

typedef struct TX_QUEUE_STRUCT {
    ULONG tx_queue_id;
    char *tx_queue_name;
    struct bout_link tx_queue_created;
    struct bout_waiters tx_queue_waiters; // receivers while it is empty, senders while it is full
    UINT tx_queue_message_size;           // words
    ULONG tx_queue_capacity;              // messages
    ULONG tx_queue_enqueued;
    ULONG *tx_queue_start, *tx_queue_end, *tx_queue_read, *tx_queue_write;
} TX_QUEUE;

typedef struct TX_SEMAPHORE_STRUCT {
    ULONG tx_semaphore_id;
    char *tx_semaphore_name;
    struct bout_link tx_semaphore_created;
    struct bout_waiters tx_semaphore_waiters;
    ULONG tx_semaphore_count;
} TX_SEMAPHORE;

typedef struct TX_MUTEX_STRUCT {
    ULONG tx_mutex_id;
    char *tx_mutex_name;
    struct bout_link tx_mutex_created;
    struct bout_waiters tx_mutex_waiters;
    UINT tx_mutex_inherit;
    UINT tx_mutex_ownership_count;
    TX_THREAD *tx_mutex_owner;
    struct TX_MUTEX_STRUCT *tx_mutex_owned_next;
} TX_MUTEX;

typedef struct TX_EVENT_FLAGS_GROUP_STRUCT {
    ULONG tx_event_flags_group_id;
    char *tx_event_flags_group_name;
    struct bout_link tx_event_flags_group_created;
    struct bout_waiters tx_event_flags_group_waiters;
    ULONG tx_event_flags_group_current;
} TX_EVENT_FLAGS_GROUP;

typedef struct TX_BLOCK_POOL_STRUCT {
    ULONG tx_block_pool_id;
    char *tx_block_pool_name;
    struct bout_link tx_block_pool_created;
    struct bout_waiters tx_block_pool_waiters;
    ULONG tx_block_pool_available;
    ULONG tx_block_pool_total;
    ULONG tx_block_pool_block_size;
    ULONG tx_block_pool_size;
    UCHAR *tx_block_pool_start;
    void *tx_block_pool_available_list;
} TX_BLOCK_POOL;

typedef struct TX_BYTE_POOL_STRUCT {
    ULONG tx_byte_pool_id;
    char *tx_byte_pool_name;
    struct bout_link tx_byte_pool_created;
    struct bout_waiters tx_byte_pool_waiters;
    ULONG tx_byte_pool_available;
    ULONG tx_byte_pool_size;
    UCHAR *tx_byte_pool_start;
} TX_BYTE_POOL;

extern TX_THREAD *_tx_thread_created_ptr;
extern ULONG _tx_thread_created_count;
extern TX_THREAD *volatile _tx_thread_current_ptr;
extern volatile ULONG _tx_timer_system_clock;

// Never returns. `define` creates the first objects; it runs in the initialization context.
void bout_start(void (*define)(void)) __attribute__((noreturn));

struct bout_thread_options {
    char *name;
    void (*entry)(ULONG parameter);
    ULONG parameter;
    void *stack;
    ULONG stack_size; // bytes
    UINT priority;
    UINT preempt_threshold; // only threads more urgent than this preempt it
    ULONG time_slice;
    bool suspended; // created, but not made ready
};
enum bout_status bout_thread_create(TX_THREAD *thread, const struct bout_thread_options *options);
enum bout_status bout_thread_delete(TX_THREAD *thread); // a completed or terminated one
enum bout_status bout_thread_terminate(TX_THREAD *thread);
enum bout_status bout_thread_suspend(TX_THREAD *thread);
enum bout_status bout_thread_resume(TX_THREAD *thread);
enum bout_status bout_thread_sleep(ULONG ticks);
void bout_thread_relinquish(void);
enum bout_status bout_thread_priority_change(TX_THREAD *thread, UINT priority);
enum bout_status bout_thread_preemption_change(TX_THREAD *thread, UINT threshold);
TX_THREAD *bout_thread_identify(void);

// A message is 1 to BOUT_QUEUE_WORDS_LIMIT words.
enum bout_status bout_queue_create(TX_QUEUE *queue, char *name, UINT words, void *area,
                                   ULONG area_bytes);
enum bout_status bout_queue_delete(TX_QUEUE *queue);
enum bout_status bout_queue_send(TX_QUEUE *queue, const void *message, ULONG wait);
enum bout_status bout_queue_receive(TX_QUEUE *queue, void *message, ULONG wait);

enum bout_status bout_semaphore_create(TX_SEMAPHORE *semaphore, char *name, ULONG count);
enum bout_status bout_semaphore_delete(TX_SEMAPHORE *semaphore);
enum bout_status bout_semaphore_get(TX_SEMAPHORE *semaphore, ULONG wait);
enum bout_status bout_semaphore_put(TX_SEMAPHORE *semaphore);

enum bout_status bout_mutex_create(TX_MUTEX *mutex, char *name, bool inherit);
enum bout_status bout_mutex_delete(TX_MUTEX *mutex);
enum bout_status bout_mutex_get(TX_MUTEX *mutex, ULONG wait);
enum bout_status bout_mutex_put(TX_MUTEX *mutex);

enum bout_status bout_event_flags_create(TX_EVENT_FLAGS_GROUP *group, char *name);
enum bout_status bout_event_flags_delete(TX_EVENT_FLAGS_GROUP *group);
enum bout_status bout_event_flags_get(TX_EVENT_FLAGS_GROUP *group, ULONG wanted,
                                      enum bout_flags_option option, ULONG *actual, ULONG wait);
// BOUT_OR sets flags, BOUT_AND keeps only those given.
enum bout_status bout_event_flags_set(TX_EVENT_FLAGS_GROUP *group, ULONG flags,
                                      enum bout_flags_option option);

enum bout_status bout_block_pool_create(TX_BLOCK_POOL *pool, char *name, ULONG block_size,
                                        void *area, ULONG area_bytes);
enum bout_status bout_block_pool_delete(TX_BLOCK_POOL *pool);
enum bout_status bout_block_allocate(TX_BLOCK_POOL *pool, void **block, ULONG wait);
enum bout_status bout_block_release(void *block);

enum bout_status bout_byte_pool_create(TX_BYTE_POOL *pool, char *name, void *area,
                                       ULONG area_bytes);
enum bout_status bout_byte_pool_delete(TX_BYTE_POOL *pool);
enum bout_status bout_byte_allocate(TX_BYTE_POOL *pool, void **memory, ULONG bytes, ULONG wait);
enum bout_status bout_byte_release(void *memory);

// Called by the System Timer Thread, so a timer's function must not wait.
enum bout_status bout_timer_create(TX_TIMER *timer, char *name, void (*function)(ULONG),
                                   ULONG argument, ULONG first, ULONG period, bool start);
enum bout_status bout_timer_delete(TX_TIMER *timer);
enum bout_status bout_timer_activate(TX_TIMER *timer);
enum bout_status bout_timer_deactivate(TX_TIMER *timer);
ULONG bout_time_get(void);

// Frames each interrupt handler that uses services; id is for the trace only.
void bout_isr_enter(ULONG id);
void bout_isr_exit(ULONG id);
// Sets the port's interrupt posture and returns the one before.
ULONG bout_interrupt_control(ULONG posture);

#endif
