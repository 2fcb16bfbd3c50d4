// SPDX-License-Identifier: MIT
// qemu-tests/rtos: the hooks of the kernel. In: what a service is about to do. Out: whatever a
// recorder makes of it. The kernel knows no ring and no event number; a recorder's header defines
// those hooks that it wants, and BOUT_TRACE_RECORDER names that header. Hooks run with interrupts
// locked; their arguments have no side effects.
#ifndef BOUT_TRACE_H
#define BOUT_TRACE_H

#include "bout.h"

#ifdef BOUT_TRACE_RECORDER
#include BOUT_TRACE_RECORDER
#else
// What a hook that is completed later hands to its second half.
typedef struct {
    char nothing;
} bout_trace_mark;
#define BOUT_TRACE_NO_MARK ((bout_trace_mark){0})
#endif

// Scheduling. RESUMED, SUSPENDED and RELINQUISHED name the thread that runs next, or NULL.
#ifndef BOUT_TRACE_THREAD_RESUME
#define BOUT_TRACE_THREAD_RESUME(thread, state) BOUT_TRACE_NO_MARK
#endif
#ifndef BOUT_TRACE_THREAD_RESUMED
#define BOUT_TRACE_THREAD_RESUMED(mark, next) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_SUSPEND
#define BOUT_TRACE_THREAD_SUSPEND(thread, state) BOUT_TRACE_NO_MARK
#endif
#ifndef BOUT_TRACE_THREAD_SUSPENDED
#define BOUT_TRACE_THREAD_SUSPENDED(mark, next) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_RELINQUISH
#define BOUT_TRACE_THREAD_RELINQUISH(thread) BOUT_TRACE_NO_MARK
#endif
#ifndef BOUT_TRACE_THREAD_RELINQUISHED
#define BOUT_TRACE_THREAD_RELINQUISHED(mark, next) ((void)0)
#endif
// A thread has waited, and runs again; whether it got what it wanted.
#ifndef BOUT_TRACE_WAITED
#define BOUT_TRACE_WAITED(is_success) ((void)0)
#endif
// The port switches. NULL is the idle context.
#ifndef BOUT_TRACE_SWITCH
#define BOUT_TRACE_SWITCH(left, entered) ((void)0)
#endif
#ifndef BOUT_TRACE_TIME_SLICE
#define BOUT_TRACE_TIME_SLICE(next) ((void)0)
#endif
#ifndef BOUT_TRACE_ISR_ENTER
#define BOUT_TRACE_ISR_ENTER(id) ((void)(id))
#endif
#ifndef BOUT_TRACE_ISR_EXIT
#define BOUT_TRACE_ISR_EXIT(id) ((void)(id))
#endif
#ifndef BOUT_TRACE_INTERRUPT_CONTROL
#define BOUT_TRACE_INTERRUPT_CONTROL(posture) ((void)0)
#endif

// Threads.
#ifndef BOUT_TRACE_THREAD_CREATE
#define BOUT_TRACE_THREAD_CREATE(thread) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_DELETE
#define BOUT_TRACE_THREAD_DELETE(thread) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_TERMINATE
#define BOUT_TRACE_THREAD_TERMINATE(thread) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_SUSPEND_API
#define BOUT_TRACE_THREAD_SUSPEND_API(thread) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_RESUME_API
#define BOUT_TRACE_THREAD_RESUME_API(thread) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_SLEEP
#define BOUT_TRACE_THREAD_SLEEP(thread, ticks) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_PRIORITY_CHANGE
#define BOUT_TRACE_THREAD_PRIORITY_CHANGE(thread, priority) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_PREEMPTION_CHANGE
#define BOUT_TRACE_THREAD_PREEMPTION_CHANGE(thread, threshold) ((void)0)
#endif
#ifndef BOUT_TRACE_THREAD_IDENTIFY
#define BOUT_TRACE_THREAD_IDENTIFY() ((void)0)
#endif

// Queues.
#ifndef BOUT_TRACE_QUEUE_CREATE
#define BOUT_TRACE_QUEUE_CREATE(queue) ((void)0)
#endif
#ifndef BOUT_TRACE_QUEUE_DELETE
#define BOUT_TRACE_QUEUE_DELETE(queue) ((void)0)
#endif
#ifndef BOUT_TRACE_QUEUE_SEND
#define BOUT_TRACE_QUEUE_SEND(queue, source, wait) ((void)0)
#endif
#ifndef BOUT_TRACE_QUEUE_RECEIVE
#define BOUT_TRACE_QUEUE_RECEIVE(queue, target, wait) ((void)0)
#endif

// Semaphores.
#ifndef BOUT_TRACE_SEMAPHORE_CREATE
#define BOUT_TRACE_SEMAPHORE_CREATE(semaphore) ((void)0)
#endif
#ifndef BOUT_TRACE_SEMAPHORE_DELETE
#define BOUT_TRACE_SEMAPHORE_DELETE(semaphore) ((void)0)
#endif
#ifndef BOUT_TRACE_SEMAPHORE_GET
#define BOUT_TRACE_SEMAPHORE_GET(semaphore, wait) ((void)0)
#endif
#ifndef BOUT_TRACE_SEMAPHORE_PUT
#define BOUT_TRACE_SEMAPHORE_PUT(semaphore) ((void)0)
#endif

// Mutexes.
#ifndef BOUT_TRACE_MUTEX_CREATE
#define BOUT_TRACE_MUTEX_CREATE(mutex) ((void)0)
#endif
#ifndef BOUT_TRACE_MUTEX_DELETE
#define BOUT_TRACE_MUTEX_DELETE(mutex) ((void)0)
#endif
#ifndef BOUT_TRACE_MUTEX_GET
#define BOUT_TRACE_MUTEX_GET(mutex, wait) ((void)0)
#endif
#ifndef BOUT_TRACE_MUTEX_PUT
#define BOUT_TRACE_MUTEX_PUT(mutex) ((void)0)
#endif

#ifndef BOUT_TRACE_MUTEX_GIVEN
#define BOUT_TRACE_MUTEX_GIVEN(mutex, thread) ((void)0)
#endif

// Event flags.
#ifndef BOUT_TRACE_EVENT_FLAGS_CREATE
#define BOUT_TRACE_EVENT_FLAGS_CREATE(group) ((void)0)
#endif
#ifndef BOUT_TRACE_EVENT_FLAGS_DELETE
#define BOUT_TRACE_EVENT_FLAGS_DELETE(group) ((void)0)
#endif
#ifndef BOUT_TRACE_EVENT_FLAGS_GET
#define BOUT_TRACE_EVENT_FLAGS_GET(group, wanted, option) ((void)0)
#endif
#ifndef BOUT_TRACE_EVENT_FLAGS_SET
#define BOUT_TRACE_EVENT_FLAGS_SET(group, flags, option) ((void)0)
#endif

// Pools. ALLOCATED completes ALLOCATE with the address that the thread got, maybe much later.
#ifndef BOUT_TRACE_BLOCK_POOL_CREATE
#define BOUT_TRACE_BLOCK_POOL_CREATE(pool) ((void)0)
#endif
#ifndef BOUT_TRACE_BLOCK_POOL_DELETE
#define BOUT_TRACE_BLOCK_POOL_DELETE(pool) ((void)0)
#endif
#ifndef BOUT_TRACE_BLOCK_ALLOCATE
#define BOUT_TRACE_BLOCK_ALLOCATE(pool, wait) BOUT_TRACE_NO_MARK
#endif
#ifndef BOUT_TRACE_BLOCK_ALLOCATED
#define BOUT_TRACE_BLOCK_ALLOCATED(mark, block) ((void)0)
#endif
#ifndef BOUT_TRACE_BLOCK_RELEASE
#define BOUT_TRACE_BLOCK_RELEASE(pool, block) ((void)0)
#endif
#ifndef BOUT_TRACE_BYTE_POOL_CREATE
#define BOUT_TRACE_BYTE_POOL_CREATE(pool) ((void)0)
#endif
#ifndef BOUT_TRACE_BYTE_POOL_DELETE
#define BOUT_TRACE_BYTE_POOL_DELETE(pool) ((void)0)
#endif
#ifndef BOUT_TRACE_BYTE_ALLOCATE
#define BOUT_TRACE_BYTE_ALLOCATE(pool, bytes, wait) BOUT_TRACE_NO_MARK
#endif
#ifndef BOUT_TRACE_BYTE_ALLOCATED
#define BOUT_TRACE_BYTE_ALLOCATED(mark, memory) ((void)0)
#endif
#ifndef BOUT_TRACE_BYTE_RELEASE
#define BOUT_TRACE_BYTE_RELEASE(pool, memory) ((void)0)
#endif

// Time.
#ifndef BOUT_TRACE_TIMER_CREATE
#define BOUT_TRACE_TIMER_CREATE(timer, start) ((void)0)
#endif
#ifndef BOUT_TRACE_TIMER_DELETE
#define BOUT_TRACE_TIMER_DELETE(timer) ((void)0)
#endif
#ifndef BOUT_TRACE_TIMER_ACTIVATE
#define BOUT_TRACE_TIMER_ACTIVATE(timer) ((void)0)
#endif
#ifndef BOUT_TRACE_TIMER_DEACTIVATE
#define BOUT_TRACE_TIMER_DEACTIVATE(timer) ((void)0)
#endif
#ifndef BOUT_TRACE_TIME_GET
#define BOUT_TRACE_TIME_GET(now) ((void)0)
#endif

#endif
