// SPDX-License-Identifier: MIT
// formats: what events mean for the schedule, independent of a format.
//
// A format has a table with one row per event that concerns the schedule: the event's role, and
// which of its fields contain what the role needs. The room schedule works on roles alone, so a
// format with such a table gets intervals, states and wake-ups without further code. A format whose
// entries have another shape translates them first (struct extract_scheduler).
#ifndef EXTRACT_FORMATS_ROLE_TABLES_H
#define EXTRACT_FORMATS_ROLE_TABLES_H

#include <extract/event.h>

// What an event means for the scheduler.
enum extract_role {
    EXTRACT_ROLE_NONE = 0,
    // Events of the scheduler itself:
    EXTRACT_ROLE_SUSPEND,       // `thread` stops in `state`; `next` runs next
    EXTRACT_ROLE_RESUME,        // `thread` becomes ready, was in `state`; `next` runs next
    EXTRACT_ROLE_TIME_SLICE,    // the running thread's time slice is over; `next` runs next
    EXTRACT_ROLE_SWITCH,        // the core changes from `thread` to `next`; 0: to none, it is idle
    EXTRACT_ROLE_ISR_ENTER,     // interrupt `number` begins
    EXTRACT_ROLE_ISR_EXIT,      // the innermost interrupt ends
    EXTRACT_ROLE_ISR_RETURN,    // all interrupts of the core end
    EXTRACT_ROLE_SYSCALL_ENTER, // the running thread calls system call `number`
    EXTRACT_ROLE_SYSCALL_EXIT,  // it returns from it, with `error` (0: none)
    EXTRACT_ROLE_THREAD,        // `thread` belongs to `process`
    EXTRACT_ROLE_EXEC,          // the process of `thread` runs another program
    EXTRACT_ROLE_FORK,          // `thread` belongs to the new `process`, made by that of the event
    EXTRACT_ROLE_EXIT,          // `thread` ends: it does not return from its system call
    EXTRACT_ROLE_INTERNAL,      // anything else that the scheduler itself records
    // Calls of services:
    EXTRACT_ROLE_TICK,         // the kernel's timer: it ends waits whose time is over
    EXTRACT_ROLE_RELINQUISH,   // the running thread yields; `next` runs next
    EXTRACT_ROLE_CALL,         // a service that may begin or end a wait for `object`
    EXTRACT_ROLE_MUTEX_GET,    // `thread` wants `object`; `owner` holds it `count` times
    EXTRACT_ROLE_MUTEX_PUT,    // `object` is released; `owner` held it `count` times
    EXTRACT_ROLE_MUTEX_CREATE, // `object` exists from now on, and is free
    EXTRACT_ROLE_MUTEX_DELETE, // `object` no longer exists
    EXTRACT_ROLE_CREATE,       // `thread` exists from now on, and is suspended
    EXTRACT_ROLE_RESET,        // `thread` is suspended at its entry
    EXTRACT_ROLE_DELETE,       // `thread` no longer exists
    EXTRACT_ROLE_STOP,         // `thread`, which is in `state`, is to be suspended
    EXTRACT_ROLE_CONTINUE,     // the suspension of `thread` ends, or will not happen
    EXTRACT_ROLE_TERMINATE,    // `thread`, which is in `state`, is terminated
    EXTRACT_ROLE_ABORT,        // the wait of `thread` ends
    EXTRACT_ROLE_PRIORITY,     // `thread` has `priority` from now on
    // Active objects: threads that process one message after the other, each to its end. What comes
    // after a step is not known until an event shows it.
    EXTRACT_ROLE_POST,       // `thread` gets a message from `sender`
    EXTRACT_ROLE_STEP_BEGIN, // `next` begins to process a message
    EXTRACT_ROLE_STEP_END,   // `thread` has processed it
    // Locks, of which the events show more than of mutexes:
    EXTRACT_ROLE_LOCK_GET,    // `thread` gets `object`
    EXTRACT_ROLE_LOCK_MISS,   // `thread` does not get `object` yet, and tries again
    EXTRACT_ROLE_LOCK_WAIT,   // `thread` gives up the core until it can have `object`
    EXTRACT_ROLE_LOCK_BUSY,   // `thread` does not get `object`, and goes on without it
    EXTRACT_ROLE_LOCK_RELEASE // `thread` releases `object`
};

// What a thread that does not run waits for. The numbers are those of ThreadX's thread states.
enum extract_wait {
    EXTRACT_WAIT_NONE = 0,
    EXTRACT_WAIT_COMPLETED = 1, // for nothing: its entry function has returned
    EXTRACT_WAIT_TERMINATED = 2,
    EXTRACT_WAIT_SUSPENDED = 3, // for a call that resumes it
    EXTRACT_WAIT_SLEEP = 4,
    EXTRACT_WAIT_QUEUE = 5,
    EXTRACT_WAIT_SEMAPHORE = 6,
    EXTRACT_WAIT_FLAGS = 7,
    EXTRACT_WAIT_BLOCK_POOL = 8,
    EXTRACT_WAIT_BYTE_POOL = 9,
    EXTRACT_WAIT_IO = 10,
    EXTRACT_WAIT_FILE = 11,
    EXTRACT_WAIT_TCP_IP = 12,
    EXTRACT_WAIT_MUTEX = 13,
    EXTRACT_WAIT_PRIORITY = 14, // no wait: the thread is only moved to another priority
    EXTRACT_WAIT_NOTIFICATION = 15,
    EXTRACT_WAIT_STREAM = 16, // a stream or message buffer
    EXTRACT_WAIT_LOCK = 17
};

// A role, and where the event has what belongs to it: the number of a field, from 1 on; 0 if the
// event does not have it.
struct extract_role_fields {
    enum extract_role role;
    uint8_t thread;      // the thread that it is about, unless that is the one that recorded it
    uint8_t next;        // the thread that runs next; 0 there: none, or not known
    uint8_t state;       // the thread's state (enum extract_wait); none: SUSPEND begins the wait
                         // `begins`, RESUME ends the one that is known
    uint8_t object;      // what is called for
    uint8_t timeout;     // ticks that the call may wait; 0: none, all ones: forever
    uint8_t owner;       // the mutex's owner at the time of the call
    uint8_t count;       // how many times the owner holds the mutex
    uint8_t number;      // the interrupt's number
    uint8_t queued;      // how many messages are in `object`, before the call
    uint8_t most;        // the same, or how many after the call, if it sends; none: only `queued`
    uint8_t left;        // how many blocks or bytes `object` has left, before the call
    uint8_t instances;   // how many times a semaphore can be had, before the call
    uint8_t queued_then; // how many messages `object` then has
    uint8_t left_then;   // how many blocks `object` then has left
    uint8_t begins;      // enum extract_wait: the wait that the call may begin
    uint8_t ends;        // enum extract_wait: the wait of another thread that the call may end
    uint8_t waiting;     // number of threads that wait for `object`
    uint8_t flags;       // event flags that are wanted, or set
    uint8_t all_flags;   // bit 1 there: all of `flags` are wanted; otherwise, one of them is enough
    uint8_t priority;    // CREATE, PRIORITY: that of `thread`
    uint8_t process;     // the process of `next`, or else of `thread`
    uint8_t kernel;      // not 0 there: that thread runs in the kernel only
    uint8_t error;       // with which a system call ends
    uint8_t sender;      // POST: what sent the message; 0 there: not known
    uint8_t caller;      // LOCK_...: address in the function that uses the lock; 0 there: not known
    uint8_t ready;       // SWITCH: not 0 there: `thread` could have run on; otherwise, it waits
    uint8_t creates;     // the object that exists from now on
    uint8_t deletes;     // the object that no longer exists
    uint8_t pending;     // POST, STEP_BEGIN: number of messages that then wait for the thread
    // Before the call, the event flags that are set; of a put, how many times the semaphore can be
    // had.
    uint8_t current;
    uint8_t limit;     // a put fails if `current` has reached this
    uint8_t clears;    // bit 1 there: the call clears event flags, and sets none
    uint8_t takes;     // enum extract_wait: the call has taken what such a wait is for
    bool is_inherited; // PRIORITY: `thread` has it as long as it owns a mutex
    bool is_own;       // PRIORITY: `thread` inherits none any more
    bool may_inherit; // PRIORITY: no event shows what `thread` inherits. For kernels in which a low
                      // number is urgent.
    bool is_send;     // a message is sent; otherwise, a call that waits for a queue receives one
    bool is_front;    // the message that is sent is put before all others
    bool keeps_order; // it is known where in the queue the message that is sent is put
    bool hands_over;  // what is put goes to a thread that waits, and does not lie in `object`
    bool wakes_one;   // the call ends the wait of one thread at most
    bool frees;       // a mutex that is put is free, even if threads wait for it
    bool has_name;    // the event's data are the name of `thread`; of EXEC, also of its process
    bool may_switch;  // another thread may run after it, although it names none
    bool dispatches;  // SWITCH: the dispatcher runs until the next event
    bool second_level; // ISR_ENTER: a second-level handler of the interrupt that has begun
};

// Returns whether an event is a call of a service, as whatever ends a wait is. Within the call that
// releases a mutex, the priority that its owner has inherited is taken back.
static inline bool extract_role_is_service(const struct extract_role_fields *role)
{
    return role->role == EXTRACT_ROLE_NONE ||
           (role->role > EXTRACT_ROLE_INTERNAL && !role->is_own && !role->is_inherited);
}

// Returns the value of a field by its number; 0 if the event does not have it. Without a branch,
// since roles differ from event to event.
static inline uint64_t extract_role_field(const struct extract_event *event, uint8_t number)
{
    uint64_t has = number != 0;

    return event->field[number - has] & -has;
}

#endif
