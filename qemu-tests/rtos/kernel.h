// SPDX-License-Identifier: MIT
// qemu-tests/rtos: what the kernel's own files share; applications use bout.h. All of these are
// called with interrupts locked, except where it is said otherwise.
#ifndef BOUT_KERNEL_H
#define BOUT_KERNEL_H

#include "bout.h"
#include "bout_trace.h"
#include "port.h"

#define BOUT_INITIALIZING 0xF0F0F0F0UL

// memory.c: there is no C library below this kernel.
void *memcpy(void *restrict to, const void *restrict from, size_t size);
void *memset(void *to, int value, size_t size);

enum bout_kind {
    BOUT_TIMERS,
    BOUT_QUEUES,
    BOUT_SEMAPHORES,
    BOUT_MUTEXES,
    BOUT_EVENT_FLAGS_GROUPS,
    BOUT_BLOCK_POOLS,
    BOUT_BYTE_POOLS,
    BOUT_KINDS
};

// The objects of each kind, in the order of their creation; threads have a list of their own.
extern struct bout_link bout_created[BOUT_KINDS];
#define BOUT_CONTAINER(link, type, member) ((type *)((char *)(link)-offsetof(type, member)))

void bout_created_add(enum bout_kind kind, struct bout_link *link);
void bout_created_remove(struct bout_link *link);

// BOUT_INITIALIZING, or the number of interrupt handlers that are under way.
extern volatile ULONG bout_system_state;
// Returns the thread that must run as soon as interrupts allow it; NULL: no thread is ready.
extern TX_THREAD *volatile _tx_thread_execute_ptr;

// Every service runs between these two; the second one switches threads where that is due.
static inline ULONG bout_lock(void)
{
    return bout_port_lock();
}
void bout_unlock(ULONG lock);
static inline enum bout_status bout_leave(ULONG lock, enum bout_status status)
{
    bout_unlock(lock);
    return status;
}

static inline bool bout_switch_is_due(void)
{
    return _tx_thread_execute_ptr != _tx_thread_current_ptr && bout_system_state == 0;
}

// The port calls this with the old context saved at stack_ptr. Returns the address of the new
// context.
void *bout_switch(void *stack_ptr);

void bout_ready(TX_THREAD *thread);
void bout_suspend(TX_THREAD *thread, enum bout_thread_state state);
void bout_rotate(UINT priority);                // the first of a priority becomes the last
void bout_release_threshold(TX_THREAD *thread); // its preemption threshold is no longer in force
void bout_reprioritize(TX_THREAD *thread, UINT priority, UINT threshold);
void bout_time_slice(void);

// Puts the running thread to sleep in a list of an object until bout_wake or the time-out; releases
// the lock. Returns the status that bout_wake gave, or `failure`.
enum bout_status bout_wait(void *object, struct bout_waiters *waiters, enum bout_thread_state state,
                           enum bout_status failure, ULONG wait, ULONG lock);
void bout_wake(TX_THREAD *thread, enum bout_status status);
void bout_wake_all(struct bout_waiters *waiters, enum bout_status status);
// Ends whatever the thread waits for; it stays suspended.
void bout_abandon_wait(TX_THREAD *thread);

void bout_timer_run(TX_TIMER_INTERNAL *timer, ULONG ticks); // one that does not run
void bout_timer_stop(TX_TIMER_INTERNAL *timer);
void bout_thread_timed_out(void *thread);
extern TX_THREAD bout_timer_thread;
void bout_timer_start_thread(void); // creates it
void bout_tick(void);               // from the port's tick interrupt; locks by itself

void bout_mutex_release_all(TX_THREAD *thread);
void bout_thread_shell(void); // the first code of every thread

#endif
