// SPDX-License-Identifier: MIT
// target: trace hooks for a kernel, as macros over the recorder.
//
// A kernel without a trace of its own calls these macros where it switches threads, serves
// interrupts and changes its objects. Each records a POSIX trace event whose name begins with
// rtos_. Readers know these events: they print the fields by name, and derive the schedule from
// them.
//
// To instrument a kernel:
//   1. Define one `struct ringside_rtos_events ringside_rtos_events` in one source file.
//   2. Call ringside_rtos_hooks_open() after ringside_trace_init(). Until then, the events have the
//      id 0 and are not recorded.
//   3. Call the macros RINGSIDE_RTOS_… where the kernel does what their names say.
// For priority inversions, define RINGSIDE_RTOS_HIGH_FIRST before the include: 1 if the higher of
// two priorities is the more urgent one, 0 if it is the lower.
//
// What the schedule needs:
//   SWITCH          at every change of the thread; START, at the first one
//   …_BLOCK, THREAD_SLEEP, THREAD_SUSPEND
//                   before the switch, whenever a thread stops to wait. A thread that is switched
//                   out without one of them is taken for ready, unless the core gets idle or goes
//                   to a less urgent thread.
//   THREAD_READY    when the wait ends, after the call that ended it (QUEUE_SEND and so on)
//   ISR_ENTER, ISR_EXIT and TICK, for the times of interrupts, and for timeouts
//
// Threads and objects are identified by the addresses of their control blocks. The data of an event
// are words of the size of an address. Readers accept events with fewer or with more words.
#ifndef RINGSIDE_RTOS_HOOKS_H
#define RINGSIDE_RTOS_HOOKS_H

#include "ringside_trace.h"

// The events: member of the struct, name in the trace, words of data.
// clang-format off
#define RINGSIDE_RTOS_EVENTS(EVENT) \
    /* Threads. */ \
    EVENT(thread_create, "rtos_thread_create") /* thread, priority */ \
    EVENT(thread_delete, "rtos_thread_delete") /* thread */ \
    EVENT(thread_priority, "rtos_thread_priority") /* thread, new priority */ \
    EVENT(thread_ready, "rtos_thread_ready") /* thread that can run from now on */ \
    EVENT(thread_sleep, "rtos_thread_sleep") /* thread, ticks until it is ready; 0: not known */ \
    EVENT(thread_suspend, "rtos_thread_suspend") /* thread that is stopped until thread_resume */ \
    EVENT(thread_resume, "rtos_thread_resume") /* thread */ \
    EVENT(thread_yield, "rtos_thread_yield") /* thread that gives up the core, and stays ready */ \
    EVENT(priority_inherit, "rtos_priority_inherit") /* mutex's owner, priority that it gets */ \
    EVENT(priority_disinherit, "rtos_priority_disinherit") /* thread, its own priority */ \
    /* The scheduler, interrupts and the tick. */ \
    EVENT(start, "rtos_start") /* thread that runs first */ \
    EVENT(switch_to, "rtos_switch") /* thread that leaves, thread that enters; 0: none */ \
    EVENT(isr_enter, "rtos_isr_enter") /* exception's number; 0: that of the port */ \
    EVENT(isr_exit, "rtos_isr_exit") /* exception's number; 0: that of the port */ \
    EVENT(tick, "rtos_tick") /* ticks since the start */ \
    EVENT(idle_enter, "rtos_idle_enter") /* the core is stopped until an interrupt */ \
    EVENT(idle_exit, "rtos_idle_exit") /* it runs again */ \
    /* Queues: `messages` are those in the queue afterwards. */ \
    EVENT(queue_create, "rtos_queue_create") /* queue, messages that fit */ \
    EVENT(queue_delete, "rtos_queue_delete") /* queue */ \
    EVENT(queue_send, "rtos_queue_send") /* queue, messages */ \
    EVENT(queue_receive, "rtos_queue_receive") /* queue, messages */ \
    EVENT(queue_send_failed, "rtos_queue_send_failed") /* queue */ \
    EVENT(queue_receive_failed, "rtos_queue_receive_failed") /* queue */ \
    EVENT(queue_block, "rtos_queue_block") /* queue, thread that waits, 1: to send */ \
    /* Semaphores: `count` is that of the semaphore afterwards. */ \
    EVENT(semaphore_create, "rtos_semaphore_create") /* semaphore, count */ \
    EVENT(semaphore_delete, "rtos_semaphore_delete") /* semaphore */ \
    EVENT(semaphore_put, "rtos_semaphore_put") /* semaphore, count */ \
    EVENT(semaphore_get, "rtos_semaphore_get") /* semaphore, count */ \
    EVENT(semaphore_get_failed, "rtos_semaphore_get_failed") /* semaphore */ \
    EVENT(semaphore_put_failed, "rtos_semaphore_put_failed") /* semaphore */ \
    EVENT(semaphore_block, "rtos_semaphore_block") /* semaphore, thread that waits */ \
    /* Mutexes: outermost calls, if a mutex can be owned several times. */ \
    EVENT(mutex_create, "rtos_mutex_create") /* mutex */ \
    EVENT(mutex_delete, "rtos_mutex_delete") /* mutex */ \
    EVENT(mutex_get, "rtos_mutex_get") /* mutex, thread that owns it now */ \
    EVENT(mutex_put, "rtos_mutex_put") /* mutex, thread that owned it */ \
    EVENT(mutex_get_failed, "rtos_mutex_get_failed") /* mutex */ \
    EVENT(mutex_put_failed, "rtos_mutex_put_failed") /* mutex */ \
    EVENT(mutex_block, "rtos_mutex_block") /* mutex, thread that waits, owner; 0: not known */ \
    /* Event flags. */ \
    EVENT(flags_create, "rtos_flags_create") /* group */ \
    EVENT(flags_delete, "rtos_flags_delete") /* group */ \
    EVENT(flags_set, "rtos_flags_set") /* group, flags that are set */ \
    EVENT(flags_clear, "rtos_flags_clear") /* group, flags that are cleared */ \
    EVENT(flags_get, "rtos_flags_get") /* group, flags that were wanted */ \
    EVENT(flags_block, "rtos_flags_block") /* group, thread that waits, flags that it wants */ \
    /* Notifications of threads. */ \
    EVENT(notify, "rtos_notify") /* thread that is notified */ \
    EVENT(notify_get, "rtos_notify_get") /* thread that takes its notification */ \
    EVENT(notify_block, "rtos_notify_block") /* thread that waits for one */ \
    /* Stream and message buffers. */ \
    EVENT(stream_create, "rtos_stream_create") /* buffer */ \
    EVENT(stream_delete, "rtos_stream_delete") /* buffer */ \
    EVENT(stream_send, "rtos_stream_send") /* buffer, bytes that were put in */ \
    EVENT(stream_receive, "rtos_stream_receive") /* buffer, bytes that were taken out */ \
    EVENT(stream_block, "rtos_stream_block") /* buffer, thread that waits, 1: to send */ \
    /* Timers. */ \
    EVENT(timer_create, "rtos_timer_create") /* timer */ \
    EVENT(timer_delete, "rtos_timer_delete") /* timer */ \
    EVENT(timer_start, "rtos_timer_start") /* timer */ \
    EVENT(timer_stop, "rtos_timer_stop") /* timer */ \
    EVENT(timer_expire, "rtos_timer_expire") /* timer whose function is called */ \
    /* Memory. */ \
    EVENT(memory_allocate, "rtos_memory_allocate") /* block, its size */ \
    EVENT(memory_free, "rtos_memory_free") /* block, its size */ \
    /* Names. */ \
    EVENT(object_name, "rtos_object_name") /* object, then the bytes of its name */
// clang-format on

#ifndef RINGSIDE_RTOS_NAME_BYTES
#define RINGSIDE_RTOS_NAME_BYTES 16 // of the name of an object
#endif

#define RINGSIDE_RTOS_MEMBER(key, name) trace_event_id_t key;
// The ids of the events, as posix_trace_eventid_open gave them.
struct ringside_rtos_events {
    RINGSIDE_RTOS_EVENTS(RINGSIDE_RTOS_MEMBER)
};
#undef RINGSIDE_RTOS_MEMBER

extern struct ringside_rtos_events ringside_rtos_events;

// Registers the names. If the table of names is full, an event is recorded as the unnamed event.
static inline void ringside_rtos_hooks_open(void)
{
#define RINGSIDE_RTOS_OPEN(key, name)                                                              \
    (void)posix_trace_eventid_open(name, &ringside_rtos_events.key);
    RINGSIDE_RTOS_EVENTS(RINGSIDE_RTOS_OPEN)
#undef RINGSIDE_RTOS_OPEN
#ifdef RINGSIDE_RTOS_HIGH_FIRST
    trace_event_id_t order; // of an event that is never recorded: readers need its name only
    (void)posix_trace_eventid_open(
        RINGSIDE_RTOS_HIGH_FIRST ? "rtos_priority_high_first" : "rtos_priority_low_first", &order);
#endif
}

// Gives an object a name, of which at most RINGSIDE_RTOS_NAME_BYTES bytes are recorded: for objects
// that readers cannot name by a symbol or by a name in the control block.
static inline void ringside_rtos_name_object(const void *object, const char *name)
{
    struct {
        uintptr_t object;
        char name[RINGSIDE_RTOS_NAME_BYTES];
    } data = {(uintptr_t)object, {0}};
    size_t length = 0;

    for (; name && length < sizeof data.name && name[length]; length++)
        data.name[length] = name[length];
    posix_trace_event(ringside_rtos_events.object_name, &data, sizeof data.object + length);
}

// What comes before each event, for kernels that hold an event back until another one follows.
#ifndef RINGSIDE_RTOS_BEFORE
#define RINGSIDE_RTOS_BEFORE() ((void)0)
#endif

// Records one event with the given words. An object's address or a small number becomes a word.
#define RINGSIDE_RTOS_TRACE(key, ...)                                                              \
    do {                                                                                           \
        RINGSIDE_RTOS_BEFORE();                                                                    \
        RINGSIDE_RTOS_RECORD(key, __VA_ARGS__);                                                    \
    } while (0)
#define RINGSIDE_RTOS_RECORD(key, ...)                                                             \
    do {                                                                                           \
        const uintptr_t ringside_words[] = {__VA_ARGS__};                                          \
        posix_trace_event(ringside_rtos_events.key, ringside_words, sizeof ringside_words);        \
    } while (0)
#define RINGSIDE_RTOS_WORD(value) ((uintptr_t)(value))

// Threads.
#define RINGSIDE_RTOS_THREAD_CREATE(thread, priority)                                              \
    RINGSIDE_RTOS_TRACE(thread_create, RINGSIDE_RTOS_WORD(thread), RINGSIDE_RTOS_WORD(priority))
#define RINGSIDE_RTOS_THREAD_DELETE(thread)                                                        \
    RINGSIDE_RTOS_TRACE(thread_delete, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_THREAD_PRIORITY(thread, priority)                                            \
    RINGSIDE_RTOS_TRACE(thread_priority, RINGSIDE_RTOS_WORD(thread), RINGSIDE_RTOS_WORD(priority))
#define RINGSIDE_RTOS_THREAD_READY(thread)                                                         \
    RINGSIDE_RTOS_TRACE(thread_ready, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_THREAD_SLEEP(thread, ticks)                                                  \
    RINGSIDE_RTOS_TRACE(thread_sleep, RINGSIDE_RTOS_WORD(thread), RINGSIDE_RTOS_WORD(ticks))
#define RINGSIDE_RTOS_THREAD_SUSPEND(thread)                                                       \
    RINGSIDE_RTOS_TRACE(thread_suspend, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_THREAD_RESUME(thread)                                                        \
    RINGSIDE_RTOS_TRACE(thread_resume, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_THREAD_YIELD(thread)                                                         \
    RINGSIDE_RTOS_TRACE(thread_yield, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_PRIORITY_INHERIT(thread, priority)                                           \
    RINGSIDE_RTOS_TRACE(priority_inherit, RINGSIDE_RTOS_WORD(thread), RINGSIDE_RTOS_WORD(priority))
#define RINGSIDE_RTOS_PRIORITY_DISINHERIT(thread, priority)                                        \
    RINGSIDE_RTOS_TRACE(priority_disinherit, RINGSIDE_RTOS_WORD(thread),                           \
                        RINGSIDE_RTOS_WORD(priority))
// The scheduler, interrupts and the tick.
#define RINGSIDE_RTOS_START(thread) RINGSIDE_RTOS_TRACE(start, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_SWITCH(left, entered)                                                        \
    RINGSIDE_RTOS_TRACE(switch_to, RINGSIDE_RTOS_WORD(left), RINGSIDE_RTOS_WORD(entered))
#define RINGSIDE_RTOS_ISR_ENTER(exception)                                                         \
    RINGSIDE_RTOS_TRACE(isr_enter, RINGSIDE_RTOS_WORD(exception))
#define RINGSIDE_RTOS_ISR_EXIT(exception)                                                          \
    RINGSIDE_RTOS_TRACE(isr_exit, RINGSIDE_RTOS_WORD(exception))
#define RINGSIDE_RTOS_TICK(count)  RINGSIDE_RTOS_TRACE(tick, RINGSIDE_RTOS_WORD(count))
#define RINGSIDE_RTOS_IDLE_ENTER() posix_trace_event(ringside_rtos_events.idle_enter, NULL, 0)
#define RINGSIDE_RTOS_IDLE_EXIT()  posix_trace_event(ringside_rtos_events.idle_exit, NULL, 0)
// Queues: `messages` are those in the queue afterwards.
#define RINGSIDE_RTOS_QUEUE_CREATE(queue, length)                                                  \
    RINGSIDE_RTOS_TRACE(queue_create, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(length))
#define RINGSIDE_RTOS_QUEUE_DELETE(queue)                                                          \
    RINGSIDE_RTOS_TRACE(queue_delete, RINGSIDE_RTOS_WORD(queue))
#define RINGSIDE_RTOS_QUEUE_SEND(queue, messages)                                                  \
    RINGSIDE_RTOS_TRACE(queue_send, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(messages))
#define RINGSIDE_RTOS_QUEUE_RECEIVE(queue, messages)                                               \
    RINGSIDE_RTOS_TRACE(queue_receive, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(messages))
#define RINGSIDE_RTOS_QUEUE_SEND_FAILED(queue)                                                     \
    RINGSIDE_RTOS_TRACE(queue_send_failed, RINGSIDE_RTOS_WORD(queue))
#define RINGSIDE_RTOS_QUEUE_RECEIVE_FAILED(queue)                                                  \
    RINGSIDE_RTOS_TRACE(queue_receive_failed, RINGSIDE_RTOS_WORD(queue))
#define RINGSIDE_RTOS_QUEUE_BLOCK(queue, thread, sends)                                            \
    RINGSIDE_RTOS_TRACE(queue_block, RINGSIDE_RTOS_WORD(queue), RINGSIDE_RTOS_WORD(thread),        \
                        RINGSIDE_RTOS_WORD(sends))
// Semaphores: `count` is that of the semaphore afterwards.
#define RINGSIDE_RTOS_SEMAPHORE_CREATE(semaphore, count)                                           \
    RINGSIDE_RTOS_TRACE(semaphore_create, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(count))
#define RINGSIDE_RTOS_SEMAPHORE_DELETE(semaphore)                                                  \
    RINGSIDE_RTOS_TRACE(semaphore_delete, RINGSIDE_RTOS_WORD(semaphore))
#define RINGSIDE_RTOS_SEMAPHORE_PUT(semaphore, count)                                              \
    RINGSIDE_RTOS_TRACE(semaphore_put, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(count))
#define RINGSIDE_RTOS_SEMAPHORE_GET(semaphore, count)                                              \
    RINGSIDE_RTOS_TRACE(semaphore_get, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(count))
#define RINGSIDE_RTOS_SEMAPHORE_GET_FAILED(semaphore)                                              \
    RINGSIDE_RTOS_TRACE(semaphore_get_failed, RINGSIDE_RTOS_WORD(semaphore))
#define RINGSIDE_RTOS_SEMAPHORE_PUT_FAILED(semaphore)                                              \
    RINGSIDE_RTOS_TRACE(semaphore_put_failed, RINGSIDE_RTOS_WORD(semaphore))
#define RINGSIDE_RTOS_SEMAPHORE_BLOCK(semaphore, thread)                                           \
    RINGSIDE_RTOS_TRACE(semaphore_block, RINGSIDE_RTOS_WORD(semaphore), RINGSIDE_RTOS_WORD(thread))
// Mutexes: outermost calls, if a mutex can be owned several times.
#define RINGSIDE_RTOS_MUTEX_CREATE(mutex)                                                          \
    RINGSIDE_RTOS_TRACE(mutex_create, RINGSIDE_RTOS_WORD(mutex))
#define RINGSIDE_RTOS_MUTEX_DELETE(mutex)                                                          \
    RINGSIDE_RTOS_TRACE(mutex_delete, RINGSIDE_RTOS_WORD(mutex))
#define RINGSIDE_RTOS_MUTEX_GET(mutex, thread)                                                     \
    RINGSIDE_RTOS_TRACE(mutex_get, RINGSIDE_RTOS_WORD(mutex), RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_MUTEX_PUT(mutex, thread)                                                     \
    RINGSIDE_RTOS_TRACE(mutex_put, RINGSIDE_RTOS_WORD(mutex), RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_MUTEX_GET_FAILED(mutex)                                                      \
    RINGSIDE_RTOS_TRACE(mutex_get_failed, RINGSIDE_RTOS_WORD(mutex))
#define RINGSIDE_RTOS_MUTEX_PUT_FAILED(mutex)                                                      \
    RINGSIDE_RTOS_TRACE(mutex_put_failed, RINGSIDE_RTOS_WORD(mutex))
#define RINGSIDE_RTOS_MUTEX_BLOCK(mutex, thread, owner)                                            \
    RINGSIDE_RTOS_TRACE(mutex_block, RINGSIDE_RTOS_WORD(mutex), RINGSIDE_RTOS_WORD(thread),        \
                        RINGSIDE_RTOS_WORD(owner))
// Event flags.
#define RINGSIDE_RTOS_FLAGS_CREATE(group)                                                          \
    RINGSIDE_RTOS_TRACE(flags_create, RINGSIDE_RTOS_WORD(group))
#define RINGSIDE_RTOS_FLAGS_DELETE(group)                                                          \
    RINGSIDE_RTOS_TRACE(flags_delete, RINGSIDE_RTOS_WORD(group))
#define RINGSIDE_RTOS_FLAGS_SET(group, flags)                                                      \
    RINGSIDE_RTOS_TRACE(flags_set, RINGSIDE_RTOS_WORD(group), RINGSIDE_RTOS_WORD(flags))
#define RINGSIDE_RTOS_FLAGS_CLEAR(group, flags)                                                    \
    RINGSIDE_RTOS_TRACE(flags_clear, RINGSIDE_RTOS_WORD(group), RINGSIDE_RTOS_WORD(flags))
#define RINGSIDE_RTOS_FLAGS_GET(group, flags)                                                      \
    RINGSIDE_RTOS_TRACE(flags_get, RINGSIDE_RTOS_WORD(group), RINGSIDE_RTOS_WORD(flags))
#define RINGSIDE_RTOS_FLAGS_BLOCK(group, thread, flags)                                            \
    RINGSIDE_RTOS_TRACE(flags_block, RINGSIDE_RTOS_WORD(group), RINGSIDE_RTOS_WORD(thread),        \
                        RINGSIDE_RTOS_WORD(flags))
// Notifications of threads.
#define RINGSIDE_RTOS_NOTIFY(thread)     RINGSIDE_RTOS_TRACE(notify, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_NOTIFY_GET(thread) RINGSIDE_RTOS_TRACE(notify_get, RINGSIDE_RTOS_WORD(thread))
#define RINGSIDE_RTOS_NOTIFY_BLOCK(thread)                                                         \
    RINGSIDE_RTOS_TRACE(notify_block, RINGSIDE_RTOS_WORD(thread))
// Stream and message buffers.
#define RINGSIDE_RTOS_STREAM_CREATE(stream)                                                        \
    RINGSIDE_RTOS_TRACE(stream_create, RINGSIDE_RTOS_WORD(stream))
#define RINGSIDE_RTOS_STREAM_DELETE(stream)                                                        \
    RINGSIDE_RTOS_TRACE(stream_delete, RINGSIDE_RTOS_WORD(stream))
#define RINGSIDE_RTOS_STREAM_SEND(stream, bytes)                                                   \
    RINGSIDE_RTOS_TRACE(stream_send, RINGSIDE_RTOS_WORD(stream), RINGSIDE_RTOS_WORD(bytes))
#define RINGSIDE_RTOS_STREAM_RECEIVE(stream, bytes)                                                \
    RINGSIDE_RTOS_TRACE(stream_receive, RINGSIDE_RTOS_WORD(stream), RINGSIDE_RTOS_WORD(bytes))
#define RINGSIDE_RTOS_STREAM_BLOCK(stream, thread, sends)                                          \
    RINGSIDE_RTOS_TRACE(stream_block, RINGSIDE_RTOS_WORD(stream), RINGSIDE_RTOS_WORD(thread),      \
                        RINGSIDE_RTOS_WORD(sends))
// Timers.
#define RINGSIDE_RTOS_TIMER_CREATE(timer)                                                          \
    RINGSIDE_RTOS_TRACE(timer_create, RINGSIDE_RTOS_WORD(timer))
#define RINGSIDE_RTOS_TIMER_DELETE(timer)                                                          \
    RINGSIDE_RTOS_TRACE(timer_delete, RINGSIDE_RTOS_WORD(timer))
#define RINGSIDE_RTOS_TIMER_START(timer) RINGSIDE_RTOS_TRACE(timer_start, RINGSIDE_RTOS_WORD(timer))
#define RINGSIDE_RTOS_TIMER_STOP(timer)  RINGSIDE_RTOS_TRACE(timer_stop, RINGSIDE_RTOS_WORD(timer))
#define RINGSIDE_RTOS_TIMER_EXPIRE(timer)                                                          \
    RINGSIDE_RTOS_TRACE(timer_expire, RINGSIDE_RTOS_WORD(timer))
// Memory.
#define RINGSIDE_RTOS_MEMORY_ALLOCATE(address, bytes)                                              \
    RINGSIDE_RTOS_TRACE(memory_allocate, RINGSIDE_RTOS_WORD(address), RINGSIDE_RTOS_WORD(bytes))
#define RINGSIDE_RTOS_MEMORY_FREE(address, bytes)                                                  \
    RINGSIDE_RTOS_TRACE(memory_free, RINGSIDE_RTOS_WORD(address), RINGSIDE_RTOS_WORD(bytes))
#define RINGSIDE_RTOS_OBJECT_NAME(object, name) ringside_rtos_name_object(object, name)

#endif
