// SPDX-License-Identifier: MIT
// tests: a simulator of a preemptive kernel with ThreadX's rules. It runs a random system, writes
// the entries that ThreadX's event trace would have, and notes the truth: who had each core, what
// each thread did, who woke whom, and who held each mutex.
//
// Source: the kernel's documented behavior; docs/formats/threadx.md. It shares no code with
// libextract/meaning/schedule, so that the two check each other.
//
// Each core has a stack of frames: its thread, and the interrupts on top. Only the top frame's time
// passes. A frame has one pending step, and the time until the step happens:
//
//   plan --> service --> (kernel work with preemption disabled) --> plan ...
//
// A step is atomic. Interrupts come between steps, also in the middle of a service.
#ifndef TESTS_SCHEDULE_SIMULATOR_H
#define TESTS_SCHEDULE_SIMULATOR_H

#include "tests/unit/ring_builder.h"
#include <extract/schedule.h>

enum {
    SIM_THREADS = 10, // at most; number 0 is the System Timer Thread
    SIM_OBJECTS = 12,
    SIM_CORES = 3,
    SIM_ENTRIES = 1800,
    SIM_PARTS = 16384, // of each kind of truth
    SIM_NESTING = 3,
    SIM_APP_TIMERS = 2,
    SIM_TICK = 1000, // time between two ticks of the kernel's timer
    SIM_NONE = -1
};

// States of a thread, as events state them.
enum sim_state {
    SIM_READY = 0,
    SIM_COMPLETED = 1,
    SIM_TERMINATED = 2,
    SIM_SUSPENDED = 3,
    SIM_SLEEP = 4,
    SIM_QUEUE = 5,
    SIM_SEMAPHORE = 6,
    SIM_FLAGS = 7,
    SIM_POOL = 8,
    SIM_MUTEX = 13,
    SIM_PRIORITY = 14
};

enum sim_step {
    STEP_PLAN = 0, // choose the next service
    STEP_USER,
    STEP_GET, // from an object of any kind
    STEP_PUT, // to an object of any kind
    STEP_SLEEP,
    STEP_RELINQUISH,
    STEP_STOP,      // thread suspend api
    STEP_CONTINUE,  // thread resume api
    STEP_THRESHOLD, // thread preemption change
    STEP_PRIORITY,  // thread priority change
    STEP_ABORT,     // thread wait abort
    STEP_TERMINATE,
    STEP_COMPLETE,
    STEP_RESET,
    // The rest of a service, with preemption disabled:
    STEP_SUSPEND, // the thread of this frame, unless it was resumed in the meantime
    STEP_WAKE,    // the next thread of the frame's list
    STEP_INHERIT, // the mutex's owner gets the priority of this thread, which then suspends
    STEP_RESTORE, // this thread gets its own priority back
    // Interrupts, and the System Timer Thread:
    STEP_TICK,
    STEP_TIME_SLICE,
    STEP_EXIT,
    STEP_TIMERS
};

// What random systems must meet, so that the test is worth something.
enum sim_case {
    CASE_NO_WAIT,     // a thread is resumed while it is being suspended
    CASE_STOPPED,     // a thread that is suspended while it waits; then its wait ends
    CASE_TIMER_BUSY,  // the System Timer Thread is resumed while it is ready
    CASE_NESTED,      // an interrupt interrupts another one
    CASE_IN_SERVICE,  // an interrupt comes in the middle of a service
    CASE_INHERITED,   // a mutex's owner inherits a priority
    CASE_HANDED_OVER, // a mutex goes from its owner to a waiting thread
    CASE_THRESHOLD,   // a thread with a threshold is preempted
    CASE_TIME_SLICE,  // a time slice ends
    CASE_SEVERAL,     // one service wakes several threads
    CASE_RESET,       // a thread that has ended starts again
    CASES
};

struct sim_frame {
    enum sim_step step;
    unsigned delay;
    int object, thread; // of the step
    uint32_t value;     // of the step
    int list[SIM_THREADS];
    unsigned list_count;
    unsigned services; // left for an interrupt
    unsigned number;   // of the interrupt
    int cause;         // entry of the newest service
};

struct sim_object {
    enum sim_state kind; // the state of a thread that waits for it
    uint32_t address;
    char name[24];
    bool inherits;
    unsigned count, capacity; // of units, messages, flags, or times that a mutex is owned
    int owner;
    int waiting[SIM_THREADS]; // in order
    unsigned waiting_count;
};

struct sim_thread {
    uint32_t address;
    char name[24];
    unsigned priority, own_priority, threshold, slice, slice_left;
    enum sim_state state;
    bool is_ready, is_suspending, is_stopped; // is_stopped: a suspension is delayed
    bool was_preempted;                       // in spite of its threshold
    bool is_sender;                           // it waits to send to a queue
    bool is_spinner;
    uint64_t order; // of ready threads with the same priority
    int object;     // that it waits for
    uint32_t wanted, option, wait;
    uint64_t timeout; // tick; 0: none
    unsigned at;      // the next step of its loop
    struct sim_frame frame;
    struct extract_state truth; // that is open
    struct extract_response response;
    bool has_response;
};

struct sim_core {
    int current, next; // threads; SIM_NONE: idle
    struct sim_frame isr[SIM_NESTING];
    unsigned depth;
    bool is_switching;
    unsigned switch_delay;
    struct extract_interval truth; // that is open
};

// A system that is not random: threads that repeat a few steps, and devices that interrupt.
enum { SIM_LOOP_STEPS = 8, SIM_DEVICES = 4 };

struct sim_loop_step {
    enum sim_step step; // STEP_PLAN: the loop begins again
    int object;
    uint32_t value;
    unsigned work; // mean time before the step
};

struct sim_system {
    struct {
        const char *name;
        unsigned priority;
        struct sim_loop_step loop[SIM_LOOP_STEPS + 1];
    } threads[SIM_THREADS]; // number 0 is not used
    int thread_count;
    struct {
        enum sim_state kind;
        const char *name; // NULL: "object N"
        unsigned count, capacity;
        bool inherits;
    } objects[SIM_OBJECTS];
    int object_count;
    struct {
        unsigned number, every, work; // mean times: between two interrupts, and in one
        int object;                   // that it puts to; SIM_NONE: none
    } devices[SIM_DEVICES];
    int device_count;
};

struct sim_options {
    const struct sim_system *system; // NULL: a random one
    uint32_t seed;
    unsigned cores;
    unsigned latency; // longest time from an event to the switch
    unsigned entries; // after which it stops; at most SIM_ENTRIES
};

struct sim_truth {
    struct extract_interval intervals[SIM_PARTS];
    struct extract_state states[SIM_PARTS];
    struct extract_wake wakes[SIM_PARTS];
    struct extract_ownership owners[SIM_PARTS];
    struct extract_response responses[SIM_PARTS];
    size_t interval_count, state_count, wake_count, owner_count, response_count;
};

struct simulator {
    struct sim_options options;
    uint64_t random;
    uint64_t now, ticks, next_device, order;
    uint64_t device_at[SIM_DEVICES]; // of a system with devices: time of the next interrupt
    unsigned preempt_disable;
    struct sim_thread threads[SIM_THREADS];
    int thread_count;
    struct sim_object objects[SIM_OBJECTS];
    int object_count;
    struct sim_core cores[SIM_CORES];
    uint64_t app_timer[SIM_APP_TIMERS]; // tick of its next expiration
    struct ring_entry entries[SIM_ENTRIES];
    int entry_count;        // also counts entries after the last one
    uint64_t ends_at;       // time of the last entry
    struct sim_truth truth; // times start with the simulation; sequence numbers are of `entries`
    struct extract_ownership owner[SIM_OBJECTS]; // that is open
    bool has_met[CASES];
};

// Runs a system until it has written its entries.
void sim_run(struct simulator *sim, const struct sim_options *options);

// ---- what the files of the simulator share ----

// Returns a random number below `limit`.
unsigned sim_random(struct simulator *sim, unsigned limit);
struct sim_frame *sim_frame(struct simulator *sim, int core);
// Writes an entry in the context of a core, and returns its number.
int sim_record(struct simulator *sim, int core, unsigned id, uint32_t a, uint32_t b, uint32_t c,
               uint32_t d);
uint32_t sim_next(const struct simulator *sim, int core); // address of the thread that is next
void sim_make_ready(struct simulator *sim, int thread);
void sim_make_unready(struct simulator *sim, int thread);
void sim_choose(struct simulator *sim); // chooses the threads that are to run
// Resumes a thread. `cause` is the entry of the service that does; SIM_NONE: a time is over.
void sim_resume(struct simulator *sim, int core, int thread, int cause);
// Stops a thread in its state.
void sim_suspend(struct simulator *sim, int core, int thread);
// Ends the response of a thread, if it has one, at an entry.
void sim_end_response(struct simulator *sim, struct sim_thread *thread, int entry);
void sim_own(struct simulator *sim, int object, int thread); // notes the owner of a mutex
void sim_step(struct simulator *sim, int core);
void sim_plan(struct simulator *sim, int core);
void sim_create(struct simulator *sim); // creates the system's threads and objects
// Do the same for a system that is not random.
void sim_create_system(struct simulator *sim);
void sim_plan_system(struct simulator *sim, int core);
// Returns a random time between a fifth and nine fifths of a mean.
unsigned sim_around(struct simulator *sim, unsigned mean);
void sim_forget_wait(struct simulator *sim, int thread);

#endif
