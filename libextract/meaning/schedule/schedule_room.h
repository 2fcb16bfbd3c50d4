// SPDX-License-Identifier: MIT
// schedule: what the files of this room share. schedule.c describes how they work together.
#ifndef EXTRACT_SCHEDULE_SCHEDULE_ROOM_H
#define EXTRACT_SCHEDULE_SCHEDULE_ROOM_H

#include "base/map.h"
#include "schedule/walk.h"

enum { MAX_NESTING = 16, MAX_CORES = 256, RECENT_THREADS = 64, MAX_LOCK_HOLDERS = 8 };

// The newest service that a context called. If that context then makes a thread ready, the service
// may be the reason.
struct service {
    const struct extract_role_fields *role; // NULL: none was called, or it is not known
    const struct extract_event_type *type;
    uint64_t seq;
    uint64_t field[EXTRACT_FIELDS_MAX]; // of its event; what they mean is needed for few of them
    // If it notifies, the service that called it for a stream buffer; `of_stream` NULL: none.
    const struct extract_event_type *of_stream;
    uint64_t stream, stream_seq;
    bool is_known;     // since the start, nothing that the context called is missing
    bool is_spent;     // it has woken the one thread that it can wake
    bool may_be_spent; // it is not known whether it has
};

// Returns a field of a service by its number; 0 if the service does not have it.
static inline uint64_t service_field(const struct service *service, uint8_t number)
{
    return number ? service->field[number - 1] : 0;
}

// Returns the object of a service: that of its role, or else its first field; 0: none.
static inline uint64_t service_object(const struct service *service)
{
    const struct extract_event_type *type = service->type;

    if (!service->role)
        return 0;
    if (service->role->object)
        return service_field(service, service->role->object);
    return type->fields && type->field[0].kind == EXTRACT_KIND_OBJECT ? service->field[0] : 0;
}

// A thread, from its first event on.
struct thread {
    bool is_idle;              // it runs while its core has nothing to do
    uint8_t board;             // index
    uint16_t priority;         // EXTRACT_NO_PRIORITY: not known
    bool is_inherited;         // `priority`
    bool has_new_priority;     // stated by a call to which the kernel has not moved it yet
    struct extract_state held; // the newest complete state; from == to: none yet
    struct extract_state now;  // the present one; `to` is not used
    struct service service;    // that it called
    enum extract_wait wait;    // that its newest suspension began
    enum extract_wait aborted; // that a call is ending; NONE: no wait
    // Its newest call that may begin a wait:
    enum extract_wait call;
    uint64_t call_object, call_timeout, call_holder;
    uint64_t call_flags; // event flags that it wants
    bool call_wants_one; // one of them is enough
    bool call_has_timeout, call_is_send;
    struct extract_response response; // that has begun, if has_response
    bool has_response;
    bool left_out_response; // the one before it has no known length
    // Its response ended at `response.to` if it waits for its stream buffer: it does not if it has
    // been notified before.
    bool response_may_end;
    // It was suspended while it waited: when the wait ends, it will not be ready.
    bool is_stopped;
    // It is ready unless a call that was not recorded suspended it while it waited: known when it
    // runs, or when it is resumed from that.
    bool is_ready_unsure;
    // It is suspended, since that was asked for while it waited, unless a call that was not
    // recorded took that back: known when it runs.
    bool is_stop_unsure;
    bool has_waited; // when it lost the core, for something that no event shows
    bool is_gone;    // it was deleted
    bool has_events; // it has recorded an event
    // All that it has recorded are releases of mutexes, as a thread records that has ended.
    bool may_have_ended;
    uint64_t mutex_since; // time since which it may own the mutex that it waited for last
    uint64_t released;    // mutex that it has just released (also that of a thread which it has
                          // terminated), and may hand over; 0: none
    uint64_t released_at; // time
    uint64_t spins_on;    // lock that it tries to get without giving up the core; 0: none
    // Of an active object:
    uint64_t pending;      // messages that wait for it, by its newest event that states them
    bool is_in_step;       // the begin of its present step was recorded
    bool is_between_steps; // it has ended a step, and has not begun another one
    // Several cores: which of all wake-ups its newest one was, and the newest one after which it
    // did not get a core at once. is_placed: it did after the newest one.
    uint32_t wake, unplaced_wake;
    bool is_placed;
    uint64_t woken_at;   // time of its newest wake-up
    uint64_t core_until; // the latest time at which it is known to have had a core; 0: none
    uint8_t core;        // which core that was
};

// A mutex, from its first event on.
struct mutex {
    struct extract_ownership now; // `to` is not used
    bool is_known;                // `now` is valid
    uint64_t since;               // when one at its address was created or deleted; 0: not seen
    struct thread *releaser;      // that has released it and may hand it over; NULL: none
};

// A thread, or the interrupts of a core, which use locks like one thread.
struct lock_holder {
    uint64_t thread; // 0: interrupts
    unsigned count;  // how often it has the lock
    // Of interrupts, when they got the lock:
    uint8_t core;
    unsigned depth; // entries in the trace to interrupts that had not ended
    uint64_t isr;   // number of the innermost one, if isr_known
    bool isr_known;
};

// A lock, from its first event on.
struct lock {
    uint64_t address;
    struct lock_holder holders[MAX_LOCK_HOLDERS]; // the first one is the owner
    unsigned holder_count, others;                // further holders are only counted
    uint64_t owned_from;                          // time since which the owner is the owner
    uint64_t freed_at;                            // when its last holder released it; see was_freed
    bool was_freed;
};

// What has a core, for a moment.
struct holder {
    enum extract_runner runner;
    uint64_t thread;
};

// Whether a core was in an interrupt when the trace, or the part after a gap, began. Once it is
// not, it stays so.
//
//              no entry precedes          exit                 thread
//      NOT  ───────────────────► INSIDE ─────► MAYBE_INSIDE ──────► NOT
//                                   ▲            │
//                                   └────────────┘
//                               another interrupt's event
enum inside { NOT_INSIDE, INSIDE, MAYBE_INSIDE };

struct core {
    enum inside inside;           // beneath the interrupts that were entered
    struct extract_interval held; // the newest complete interval; from == to: none yet
    struct holder owner;          // the thread (or idle, start-up) that has it, interrupts aside
    struct holder next;           // that the last event names as next; UNKNOWN: none
    uint64_t last_ticks;          // time of the last event
    bool has_last;                // since the start or the last gap
    bool may_switch;              // the last event may lead to a switch that it does not name
    bool last_in_isr;             // the last event was an interrupt's whose entry is not recorded
    // Several cores: of the events of other cores since the last event, the first one's time.
    uint64_t other_at;
    bool has_other;
    uint64_t kept;     // thread that has it since the last event, and no other core; 0: none
    uint64_t taken_at; // if is_taken: since when another core has that thread
    bool is_taken;
    uint64_t named;               // that got the core since an event named it as next; 0: none
    bool is_next_busy;            // `next` had another core when it was named
    bool has_stopped;             // the last event ended or suspended the thread that recorded it
    uint32_t moves, wakes;        // of the schedule, at the last event
    struct schedule_step step;    // the last event
    enum extract_switch_kind way; // how its thread loses the core, unless it waits by then
    // The last event states `way`, whether the thread waits or not, or priorities show it.
    // UNKNOWN: they do not prove that the thread does not wait.
    bool states_way;
    bool is_way_proven;   // `way` is YIELDED or TIME_SLICED, and the events prove it
    struct holder chosen; // thread that the kernel would run next; UNKNOWN: not known
    bool ticks; // the kernel's timer has ticked since the thread recorded an event of its own
    uint64_t tick_at, tick_before_at; // times of the newest tick and of the one before
    uint64_t tick_end;                // time of the newest event: if `ticks`, in its interrupt
    unsigned tick_count;              // up to 2
    unsigned depth;                   // interrupts that were entered; at most MAX_NESTING are known
    uint64_t isr[MAX_NESTING];
    bool isr_known[MAX_NESTING];             // `isr` is valid
    uint64_t spins_on[MAX_NESTING + 1];      // lock that an interrupt tries to get; as `service`
    bool is_idle;                            // the last switch was to no thread
    size_t lock_holds;                       // locks that its interrupts have
    struct service service[MAX_NESTING + 1]; // by depth; 0: an interrupt without an entry
};

// Returns where a core keeps what it knows of the interrupt in which it is.
static inline unsigned nesting_slot(const struct core *core)
{
    return core->depth <= MAX_NESTING ? core->depth : 0;
}

// The cores of one target. A merged log may have several targets, whose threads have nothing in
// common.
struct board {
    unsigned first, end; // numbers of its cores: from first to end - 1
    uint64_t start;      // time since which nothing is missing
    bool has_start;      // an event has been seen since the start or the last gap
    uint64_t begin;      // time of its first event, if has_begin
    bool has_begin;
    uint64_t newest_at, before_at; // times of its newest event, and of the one before
    uint32_t moves;                // changes of threads that may move others between cores
    bool has_no_slices;            // ticks do not switch between threads that are equally urgent
};

struct recent_thread {
    uint64_t address;
    struct thread *thread; // NULL: none
};

struct holes;

// The derivation.
struct schedule {
    const struct extract_trace *trace;
    const struct extract_scheduler *kernel;
    const struct extract_schedule_sink *sink;
    const struct schedule_observer *observer;
    bool has_roles;           // of the format's events
    bool has_start;           // an event has been seen since the start or the last gap
    bool may_have_missed;     // there were events before the start
    uint64_t highest;         // time of the newest event of all cores
    uint64_t from, to;        // range of what is sent
    bool has_range;           // `from` and `to` are valid
    bool has_times;           // they are given, so that the walk goes on after them
    uint64_t end;             // where the range ends at the latest
    bool is_past;             // the present event is the first one after the range
    bool is_over;             // the trace has ended
    bool has_switches;        // each change of the thread is an event
    bool lacks_context;       // events need not state who had the core
    bool lacks_waits;         // no event shows that a thread waits
    bool lacks_moves;         // suspensions and resumptions of threads were left out
    bool lacks_thread_calls;  // calls by which threads yield, stop and end were left out
    bool lacks_switches;      // so that a thread may have run without an event
    bool has_steps;           // threads are active objects
    bool word_is_interrupted; // an interrupt's word names the interrupted thread
    bool resume_names_next;   // `next` of a resumption was filled in after the choice
    unsigned core_count;
    struct core *cores;
    struct board *boards;
    size_t board_count;
    uint8_t board_of[MAX_CORES]; // by core, index of its board
    struct board *board;         // of the present event
    bool has_silent_switches;    // what a core of it does may change the thread of another one of
                                 // it without an event
    uint32_t wakes;              // threads that became ready
    struct extract_map thread_map, mutex_map, lock_map;
    // Threads that were looked up, by a few bits of their addresses.
    struct recent_thread recent[RECENT_THREADS];
    struct thread **threads;
    uint64_t recent_mutex; // address of the last one that was looked up; 0: none
    uint32_t recent_mutex_index;
    struct mutex *mutexes;
    struct lock *locks;
    uint64_t locks_from; // time up to which owners of locks were sent before the last gap
    size_t thread_count, thread_capacity, mutex_count, mutex_capacity, lock_count, lock_capacity;
    struct holes *holes; // NULL: the observer does not want them; owned
    bool failed;         // out of memory
};

// ---- schedule.c ----

// Makes a board the present one, as each event does with its own.
void schedule_choose_board(struct schedule *schedule, size_t index);
// Reports what had a core after its last event: core->step.interval.
void schedule_add_step(const struct schedule *schedule, struct core *core);
// Gives the core to a new owner, and takes it from the old one.
void schedule_change_owner(struct schedule *schedule, struct core *core, struct holder owner,
                           uint64_t at, uint8_t number);

// ---- choices.c ----

// Returns whether a thread waits, so that it only has the core until another thread gets it.
bool schedule_waits(struct schedule *schedule, struct holder owner);
// Sets the owner of a core.
void choices_set_owner(const struct schedule *schedule, struct core *core, struct holder owner);
// Notes the first event of a core.
void choices_begin(const struct schedule *schedule, struct core *core,
                   const struct extract_event *event);
// Notes which thread an event chooses to run next, and how the core's thread loses the core then.
// core->next is the thread that the event names.
void choices_add_event(const struct schedule *schedule, struct core *core,
                       const struct extract_event *event, const struct extract_role_fields *role);
// Returns the kind of the switch from the thread of a core to `owner`.
enum extract_switch_kind choices_kind(struct schedule *schedule, const struct core *core,
                                      struct holder owner);

// ---- schedule_cores.c ----

// Adds the interval of a core's step, without the time in which its thread had another core.
void cores_add_step(struct schedule *schedule, struct core *core, uint8_t number);

// Notes the next event of the trace, if there are several cores.
void cores_note_event(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role);
// Notes the first event of a core: before, it may have run any thread that was ready.
void cores_begin(struct schedule *schedule, uint64_t at);
// Adds what had a core from its last event to `event`, at which `owner` has it, if other cores
// recorded events in between and the core's owner was a thread or idle. Returns false otherwise.
bool cores_close_interval(struct schedule *schedule, struct core *core, uint8_t number,
                          const struct extract_event *event, struct holder owner);
// Notes the thread that the last event of a core names as next: it gets the core at once if the
// thread before stopped itself, unless it has another core.
void cores_note_next(struct schedule *schedule, struct core *core,
                     const struct extract_event *event, const struct extract_role_fields *role);
// Returns whether a core other than `except` names a thread as its next one.
bool cores_is_next(const struct schedule *schedule, uint64_t thread, uint8_t except);
// Returns whether a core may run a thread of which nothing is known, since nothing is known of the
// core either. If such a thread is resumed, it may be one that was just stopping, and has not
// waited.
bool cores_may_run(const struct schedule *schedule);
// Marks what a thread does as unsure, as far as another core may have changed it, before an event
// of another thread suspends it.
void cores_doubt_thread(struct schedule *schedule, struct thread *thread);

// ---- schedule_threads.c ----

static inline size_t recent_slot(uint64_t address)
{
    return (address >> 4 ^ address >> 10) % RECENT_THREADS;
}

struct thread *schedule_find_thread(struct schedule *schedule, uint64_t address);
// Returns the thread at an address, which it adds if needed. The pointer is valid until the next
// gap. Returns NULL for address 0, and if memory runs out.
static inline struct thread *schedule_thread(struct schedule *schedule, uint64_t address)
{
    const struct recent_thread *recent = &schedule->recent[recent_slot(address)];

    if (recent->thread && recent->address == address)
        return recent->thread;
    return address ? schedule_find_thread(schedule, address) : NULL;
}
// Returns whether the thread at an address has ended; false for address 0.
static inline bool thread_has_ended(struct schedule *schedule, uint64_t address)
{
    uint32_t index = address ? extract_map_get(&schedule->thread_map, address) : 0;

    return index && schedule->threads[index - 1]->now.state >= EXTRACT_STATE_COMPLETED;
}
// Changes a thread's state. `before` is what the event proves the thread was in before, if that was
// not known; NULL: nothing.
void thread_set(struct schedule *schedule, struct thread *thread, uint64_t at,
                const struct extract_state *state, const struct extract_state *before);
// Gives a thread the core. `was_ready`: if nothing is known of it yet, it was ready before.
void thread_run(struct schedule *schedule, uint64_t address, uint64_t at, uint8_t core,
                bool was_ready);
// Takes the core from a thread.
void thread_lose_core(struct schedule *schedule, uint64_t address, uint64_t at, uint8_t number);
// Processes what an event with a role says about threads, mutexes and locks. `service`, of a
// resumption, is the newest service of its context; the resumption may spend it.
void threads_add_role(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role, struct service *service);
// Notes that a thread that was about to wait did not: it has the core since then.
void threads_take_back_wait(struct schedule *schedule, struct thread *thread, uint8_t core);
// Begin and end the response of a thread.
void thread_begin_response(const struct schedule *schedule, struct thread *thread,
                           const struct extract_event *event);
void thread_end_response(const struct schedule *schedule, struct thread *thread,
                         const struct extract_event *event);
void threads_free(struct schedule *schedule);
// Sends all states and owners up to a time, and forgets them.
void threads_end(struct schedule *schedule, uint64_t at);

// ---- steps.c ----

// Processes an event with one of the roles of active objects.
void steps_add_event(struct schedule *schedule, const struct extract_event *event,
                     const struct extract_role_fields *role);

// ---- mutexes.c ----

// Processes a call to get or to put a mutex.
void mutexes_add_call(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role);
// Notes that a mutex is created, and free, or deleted.
void mutexes_add_life(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role);
// Processes a wait for a mutex whose event names the owner.
void mutexes_add_wait(struct schedule *schedule, const struct extract_event *event,
                      const struct extract_role_fields *role);
// Hands the mutex that a thread has released over to a thread that it wakes (0: none).
void mutexes_hand_over(struct schedule *schedule, struct thread *from, uint64_t to, uint64_t at);
// Sends all owners up to a time, and forgets them.
void mutexes_end(struct schedule *schedule, uint64_t at);

// ---- holes.c ----

// Returns false if memory is short.
bool holes_open(struct schedule *schedule);
// Note the first event of the trace or after a gap, and the begin of a gap, before which all that
// was known was sent.
void holes_start_part(struct schedule *schedule, uint64_t at);
void holes_end_part(struct schedule *schedule);
// Send the hole before an interval or a state, and note what is sent next. Only if schedule->holes.
void holes_before_interval(const struct schedule *schedule,
                           const struct extract_interval *interval);
void holes_before_state(const struct schedule *schedule, const struct extract_state *state);
// Sends the holes at the end of the trace.
void holes_end(struct schedule *schedule);
// Returns false if memory was short.
bool holes_free(struct schedule *schedule);

// ---- lock_owners.c ----

// Processes an event of a lock.
void schedule_locks_add_event(struct schedule *schedule, const struct extract_event *event,
                              const struct extract_role_fields *role);
// Notes the interrupts that an event ends. Whoever has a lock that they have not released is not
// known from then on. `depth` is the number of entries before the event.
void schedule_locks_end_interrupts(struct schedule *schedule, const struct extract_event *event,
                                   const struct extract_role_fields *role, unsigned depth);
// Sets the holder of a state to the one that has held a lock for the longest time.
void schedule_lock_note_holder(struct schedule *schedule, uint64_t address,
                               struct extract_state *state);
// Sets *at to the time at which the last holder released a lock. Returns false if that was before
// `since`, or is not known.
bool schedule_lock_freed(struct schedule *schedule, uint64_t address, uint64_t since, uint64_t *at);
// Sends all owners up to a time, and forgets them.
void schedule_locks_end(struct schedule *schedule, uint64_t at);

// Limits a span to what is sent. Returns false if nothing of it is. If only one moment is sent,
// what holds at it has no length; at the end of the trace, that is what held until then.
static inline bool schedule_clip(const struct schedule *schedule, uint64_t *from, uint64_t *to)
{
    uint64_t moment = schedule->from;

    if (moment == schedule->to) {
        bool holds = *from <= moment && (moment < *to || (schedule->is_over && moment == *to));
        *from = *to = moment;
        return holds;
    }
    *from = *from < schedule->from ? schedule->from : *from;
    *to = *to > schedule->to ? schedule->to : *to;
    return *from < *to;
}

#endif
