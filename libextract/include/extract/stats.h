// SPDX-License-Identifier: MIT
// Statistics of a trace: processor load per core, context switches, response times of threads, what
// they waited for, interrupts, priority inversions, stack use and how often each event occurred.
//
// Times come from the schedule of the trace (extract/schedule.h). Filters of the view limit what is
// counted. Times always cover all events between the view's FROM and TO, since only all events
// together show which thread ran. ringside-stats(1) defines each figure.
#ifndef EXTRACT_STATS_H
#define EXTRACT_STATS_H

#include <extract/schedule.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum { EXTRACT_BARS = 16, EXTRACT_LOAD_PARTS = 64 };

// How long something took, each time that it happened, in ticks.
struct extract_distribution {
    uint64_t count, sum;
    uint64_t min, median, p99, max; // nearest rank; 0 if `count` is 0
    double deviation;               // standard deviation of the sample; 0 if `count` is below 2
    bool is_exact;                  // otherwise the median and p99 are off by at most 1/64
    // How many fall into each of these equal parts of the range from `min` to `max`.
    uint64_t bars[EXTRACT_BARS];
};

// A jitter is known from this number of periods on.
enum { EXTRACT_MIN_PERIODS = 3 };

// Sets *jitter to the largest deviation of a period from the median. Returns false if there are
// fewer periods than EXTRACT_MIN_PERIODS, or the median is 0.
bool extract_period_jitter(const struct extract_distribution *period, uint64_t *jitter);

struct extract_service_stats {
    const struct extract_event_type *type;
    uint32_t id;
    uint64_t count;
    const struct extract_object *named; // the trace's own name for a user event; NULL: none
};

// What a core does, by the entries of hook words (ringside-roles(5)).
enum extract_mode {
    EXTRACT_MODE_APPLICATION = 0, // a thread, outside of system calls
    EXTRACT_MODE_SYSCALL,         // a thread, in a system call
    EXTRACT_MODE_KERNEL,          // a thread of the kernel, or start-up code
    EXTRACT_MODE_FIRST_LEVEL,     // a first-level interrupt handler
    EXTRACT_MODE_SECOND_LEVEL,    // a second-level interrupt handler
    EXTRACT_MODE_DISPATCH,        // the dispatcher: from a dispatch to the next event
    EXTRACT_MODE_IDLE,
    EXTRACT_MODE_UNKNOWN, // a thread that may be in a system call or not, or no thread is known
    EXTRACT_MODES
};

// Returns the word that outputs use, such as "application".
const char *extract_mode_name(enum extract_mode mode);

// How often threads were dispatched to a core, by the entries of hook words.
struct extract_dispatches {
    uint64_t count;
    uint64_t again;     // of them, those of a thread whose last core is known
    uint64_t same_core; // of these, those to the core on which the thread had run last
};

struct extract_thread_stats {
    const struct extract_object *thread;
    uint64_t events; // number of events recorded in its context
    uint64_t ticks;  // time that it ran; interrupts are not included
    // Times in these states. A thread that is interrupted counts as running.
    uint64_t ready_ticks, blocked_ticks, sleeping_ticks, suspended_ticks, unknown_ticks;
    bool has_states;                      // an event shows one of them, or that it ran
    struct extract_distribution latency;  // from a wake-up until it has the core
    struct extract_distribution response; // from a wake-up to its next wait for work
    struct extract_distribution period;   // between two wake-ups that begin responses
    uint64_t stack_size;                  // bytes; 0: unknown
    uint64_t stack_free;                  // fewest free bytes that an event reported
    uint64_t stack_seq;                   // sequence number of that event
    bool stack_known;                     // an event reported the stack
    uint16_t priority_low, priority_high; // smallest and largest number; EXTRACT_NO_PRIORITY: none
    uint16_t last_priority;               // priority at the newest event
    uint64_t suspends, resumes;
    uint64_t switches[EXTRACT_SWITCHES]; // from this thread to another one or to idle, by kind
    // What it called, the most frequent first; owned. Empty for all threads if the lists would have
    // more than 4,194,304 counts.
    size_t service_count;
    struct extract_service_stats *services;
    // Of hook words (extract_stats.has_modes):
    uint64_t mode_ticks[EXTRACT_MODES]; // `ticks` in parts
    uint64_t syscalls;                  // system calls that it began
    uint64_t process;                   // if process_known
    bool process_known;
    struct extract_dispatches dispatches;
};

// The threads of a process. Those of which no event states the process have one entry together.
struct extract_process_stats {
    uint64_t process;
    bool is_known; // otherwise, `process` is not valid
    char *name;    // the newest that an event gives it; owned; NULL: none
    size_t thread_count;
    uint64_t mode_ticks[EXTRACT_MODES];
    uint64_t syscalls;
    uint64_t switches[EXTRACT_SWITCHES]; // from its threads
};

// A system call, by the number that its events state.
struct extract_syscall_stats {
    uint64_t number;
    bool number_known;
    uint64_t count;      // calls that began
    uint64_t unfinished; // of them, those of which no end is in the trace
    uint64_t errors;     // calls that ended with an error; see errors_known
    bool errors_known;   // an event that ends a call states the error
    // Of calls whose begin and end are in the trace: time from one to the other, and of this the
    // time that the thread ran.
    struct extract_distribution elapsed, running;
};

// What a thread, or the interrupts of a core, did with a lock. Times are sums.
struct extract_lock_user_stats {
    const struct extract_object *thread; // NULL: not in the trace
    bool is_interrupts;
    uint64_t address;                           // of the thread; or number of the core
    uint64_t acquisitions, misses, busy, waits; // as in extract_lock_stats
    uint64_t held_ticks, running_ticks;         // of completed holds
    uint64_t spun_ticks, waited_ticks;
};

// What a function did with a lock: the one that called the lock's functions. A hold belongs to the
// function that got the lock, and a time of spinning or waiting to the one that failed to get it.
struct extract_lock_function_stats {
    const char *name; // NULL: not known. Owned by the trace's symbols
    // The function's address if it has a name, otherwise that from which it called; see is_known.
    uint64_t address;
    bool is_known;                              // events state `address`
    uint64_t acquisitions, misses, busy, waits; // as in extract_lock_stats
    uint64_t holds;                             // that ended, without those inside of others
    uint64_t held_ticks, held_min, held_max;    // of these: sum, shortest, longest; 0: none
    uint64_t running_ticks;                     // of held_ticks, the time that the holder ran
    uint64_t spun_ticks, waited_ticks;
};

// A lock, by the events of a role file.
struct extract_lock_stats {
    const struct extract_object *object; // NULL: not in the trace
    uint64_t address;
    uint64_t acquisitions;
    uint64_t misses; // failed attempts after which the thread tried again
    uint64_t busy;   // failed attempts after which it did not
    uint64_t waits;  // times that a thread gave up the core until it could have the lock
    struct extract_distribution held; // from the acquisition to the release
    uint64_t running_ticks;           // of the sum of `held`, the time that the holder ran
    // From a miss to what comes next: a wait, the acquisition, or that the thread goes on without
    // the lock. Only the time that the thread ran in between; of interrupts, all of it.
    struct extract_distribution spun;
    struct extract_distribution waited;   // from a wait to what comes next
    unsigned most_spinning, most_waiting; // threads at a time
    unsigned most_holds;                  // how often a thread had it at a time
    uint64_t still_held; // holds that had not ended at the end of the trace, or at a gap
    bool has_more_users; // so many threads used it that some were not measured, or not listed
    size_t user_count;
    struct extract_lock_user_stats *users; // those that held it for the longest time first; owned
    size_t function_count;
    struct extract_lock_function_stats *functions; // in the same order; owned
    bool has_more_functions; // so many functions used it that some are not listed
};

// What a core did.
struct extract_core_stats {
    uint64_t span_ticks; // from its first to its last event, without gaps
    uint64_t idle_ticks, interrupt_ticks, init_ticks, unknown_ticks;
    uint64_t switches;
    uint64_t *thread_ticks; // by threads of extract_stats; owned
    // Of hook words (extract_stats.has_modes):
    uint64_t mode_ticks[EXTRACT_MODES];
    struct extract_dispatches dispatches;
    uint64_t idle_dispatches;    // to no thread, or to one that runs while nothing else does
    uint64_t *thread_dispatches; // by threads of extract_stats; owned; NULL: no hook words
};

// An interrupt, by the number that its events state.
struct extract_interrupt_stats {
    uint64_t number;
    bool is_second_level; // of hook words: a second-level handler; numbers are those of its level
    uint64_t count;
    uint64_t periods, period_ticks;       // times from one to the next, without gaps; their sum
    uint64_t ticks;                       // without interrupts that interrupted it
    struct extract_distribution duration; // from its entry to its exit
};

// What threads waited for.
struct extract_wait_stats {
    const struct extract_object *object; // NULL: not known, or not in the trace
    // Of a mutex or lock, when the wait began; NULL: none, an interrupt, or not known.
    const struct extract_object *holder;
    uint64_t object_address, holder_address;
    uint64_t holder_isr;   // number of the interrupt that held a lock; see holder_isr_known
    bool holder_in_isr;    // an interrupt held it
    bool holder_isr_known; // `holder_isr` is valid
    const char *wait;      // class, such as "queue"
    uint64_t count;        // waits that ended or began in the range
    uint64_t ticks, most;  // sum, and the longest one
};

// How full a queue or pool was, by the counts that its events state.
struct extract_level_stats {
    const struct extract_object *object; // NULL: not in the trace
    uint64_t address;
    uint64_t most_queued; // messages
    uint64_t fewest_left; // blocks or bytes
    bool is_queue;        // `most_queued` is valid, otherwise `fewest_left`
};

// A priority inversion: a thread waits for a mutex while a thread that is less urgent than it, and
// does not hold the mutex, has a core instead of the holder.
struct extract_inversion {
    uint64_t from, to; // the wait, or the part of it before a loss or the end of the range
    uint64_t from_seq, to_seq;
    uint64_t waiter, holder, mutex, third; // addresses; `third` ran longest
    uint64_t ticks;                        // how long such threads ran
    bool is_least; // they may have run for longer: a priority, an owner or what ran is not known
    const struct extract_object *waiter_object, *holder_object; // NULL: not in the trace
    const struct extract_object *mutex_object, *third_object;
};

// A figure of a library on the kernel, such as FileX.
struct extract_figure_stats {
    const char *family, *group, *name; // such as "filex", "media" and "opens"
    uint64_t value;
};

struct extract_stats {
    // False if the format's events do not show a schedule. Then context switches, preemptions,
    // inversions and all times except span_ticks are 0.
    bool has_loads;
    // False for traces of several cores, and of formats other than ThreadX. Then `tracex` and the
    // counts of inversions are 0.
    bool has_tracex;
    // Events show when threads wait. Otherwise it is not known whether a thread without a core was
    // ready: times of states other than running are unknown.
    bool has_waits;
    // `switches` has kinds that events show. Otherwise, all switches from threads are UNKNOWN.
    bool has_switch_kinds;
    uint64_t range_events; // events between FROM and TO, whether the view lets them through or not
    uint64_t events;       // events that the view lets through; all counts below are of these
    uint64_t context_switches;           // another thread, or idle, gets a core; if there are
                                         // unsure ticks, at least so many
    uint64_t switches[EXTRACT_SWITCHES]; // of them, by kind
    uint64_t time_slices; // events for them; if there are none, switches of that kind
    // False if an event is for slices of several cores, without their number: ThreadX SMP.
    bool knows_time_slices;
    struct {
        uint64_t context_switches, preemptions, time_slices;
    } tracex; // as TraceX counts them
    uint64_t suspends;
    uint64_t resumes;
    uint64_t interrupts;
    uint64_t nested_interrupts;
    uint64_t inversions_deterministic;
    uint64_t inversions_undeterministic;
    uint64_t idle_ticks;
    uint64_t maybe_idle_ticks; // of threads without a name, if only names show which ones are idle
    uint64_t interrupt_ticks;
    uint64_t init_ticks;
    uint64_t unknown_ticks;
    uint64_t unsure_ticks; // of all these times, those in which events do not prove who had a core
    // Time between FROM and TO without gaps. On one core, it is the sum of the four times above and
    // of the ticks of all threads.
    uint64_t span_ticks;
    uint64_t gaps;           // parts of the span that are not counted
    bool span_is_minimum;    // times may be longer, as struct extract_info shows
    uint64_t likely_modulus; // struct extract_clock
    uint64_t modulus_above;  // `above` there, if the clock turns; otherwise 0
    bool clock_is_still;     // the same
    size_t thread_count;
    struct extract_thread_stats *threads; // in the order of the trace's objects; owned
    size_t service_count;
    struct extract_service_stats *services; // the most frequent first; owned
    size_t figure_count;                    // 0 if there is no event of such a library
    struct extract_figure_stats *figures;   // owned
    size_t core_count;
    struct extract_core_stats *cores; // by number; owned
    size_t interrupt_count;
    struct extract_interrupt_stats *interrupt_list; // the longest time first; owned
    size_t wait_count;
    struct extract_wait_stats *waits; // the longest time first; owned
    size_t level_count;
    struct extract_level_stats *levels; // owned
    // Inversions are known for one core if it is known which priorities are urgent. Otherwise,
    // there are none below.
    bool has_inversions;
    uint64_t inversion_count;
    uint64_t inversions_unsure; // waits for a mutex of which it is not known if they are inversions
    size_t inversion_list_count;
    struct extract_inversion *inversions; // the longest, in order of time; owned
    // Ticks that threads and interrupts had cores, in equal parts of the time from load_from on.
    uint64_t load_from, load_part_ticks;
    size_t load_part_count;
    uint64_t load[EXTRACT_LOAD_PARTS];
    // The meaning of hook words is known; otherwise, all that follows is empty.
    bool has_modes;
    uint64_t mode_ticks[EXTRACT_MODES];   // of all cores
    struct extract_dispatches dispatches; // to all cores
    size_t process_count;
    struct extract_process_stats *processes; // the longest time first; owned
    size_t syscall_count;
    struct extract_syscall_stats *syscalls; // the longest time first; owned
    size_t lock_count;
    struct extract_lock_stats *locks; // the longest time held first; owned
};

// Computes the statistics of a view, which the caller frees with extract_stats_free. With an empty
// filter, they cover the whole trace. Follows the running thread over all events, but not across
// the gaps of a log, in which it is unknown. Markers of a log are not counted. The trace must
// outlive *stats. Errors: NOMEM.
enum extract_code extract_stats_new(struct extract_stats **stats, const struct extract_view *view,
                                    const struct extract_trace *trace, struct extract_error *error);

// Frees the statistics. NULL is allowed.
void extract_stats_free(struct extract_stats *stats);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
