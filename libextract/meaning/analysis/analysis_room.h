// SPDX-License-Identifier: MIT
// analysis: what the files of the statistics share. stats.c counts events, also as TraceX
// does; call_times.c measures the schedule; lists.c keeps what is listed by interrupt and object.
#ifndef EXTRACT_ANALYSIS_ANALYSIS_ROOM_H
#define EXTRACT_ANALYSIS_ANALYSIS_ROOM_H

#include "analysis/distribution.h"
#include "analysis/inversion.h"
#include "base/map.h"
#include "events/events_room.h"
#include "schedule/schedule_history.h"
#include "schedule/walk.h"
#include <extract/stats.h>
#include <extract/why.h>

enum {
    MAX_CORES = 256,
    MAX_NESTING = 16,
    MAX_OPEN_WAITS = 16,
    MAX_INVERSIONS = 100,
    RECENT_THREADS = 64,
    RECENT_LEVELS = 16,
    SERVICE_IDS = 65536,
    MAX_FIGURES = 64,
    FIGURE_IDS = 512
};

// How often one thread called each service, by the numbers that services get when they are first
// called.
struct thread_services {
    uint64_t *counts;
    size_t capacity;
};

// The service of the last id with its remainder by SERVICE_IDS. Ids have no limit.
struct service_of_id {
    uint32_t id;
    uint32_t index;        // of its statistics + 1; 0: none yet
    uint32_t stack_fields; // bit i: field i of its events is a stack pointer
};

// What is measured of a thread.
struct thread_times {
    struct distribution latency, response, period;
    uint64_t state_ticks[EXTRACT_STATE_TERMINATED + 1];
    uint64_t last_wake;     // that began a response; see has_wake
    bool has_wake;          // since the last gap
    bool is_inherited;      // its newest priority
    uint16_t stored;        // priority that its newest own event states, for TraceX's figures
    uint64_t mutex, holder; // of its newest call to get a mutex, and its owner then
};

// A thread that waits for a mutex.
struct open_wait {
    struct extract_inversion inversion; // as it would be reported
    uint64_t third_ticks;               // how long inversion.third ran
    uint64_t owner;                     // the present one of the mutex; 0: it is free
    bool is_unsure;                     // it is not known whether such a thread ran
};

// An interrupt that has begun.
struct open_interrupt {
    uint64_t number, from;
    bool has_number, is_second_level;
};

struct core_times {
    struct open_interrupt open[MAX_NESTING];
    unsigned depth;
    uint64_t ticks[EXTRACT_RUNNER_INIT + 1]; // by what had the core
};

// TraceX's way of counting.
struct tracex_count {
    uint64_t current; // thread
    bool has_current;
    uint64_t resumes; // after which no thread was next yet
};

// Of the interrupts with a number.
struct interrupt_times {
    struct distribution duration;
    uint64_t newest; // time of the newest one
    bool has_newest; // since the start or the last gap
};

struct analysis {
    struct extract_stats *stats; // the result
    const struct extract_trace *trace;
    const struct extract_format *format;
    unsigned core_count; // cores that events may come from
    struct extract_inversions inversions;
    struct core_times cores[MAX_CORES];
    struct tracex_count tracex;
    // Of the newest event, if it is a dispatch: its role, its service, and the thread that it
    // names.
    const struct extract_role_fields *dispatch; // NULL: it is none
    size_t dispatch_service;
    uint64_t dispatch_next;
    uint64_t seq;                      // of the newest event: threads have the names they had then
    uint64_t ticks;                    // time of the newest event of all cores, see has_ticks
    bool has_ticks;                    // since the start or the last gap
    bool is_in_range;                  // the newest event is in the view's range
    uint64_t end;                      // of that range, in ticks; UINT64_MAX: none
    uint64_t gaps;                     // losses and resets so far
    uint64_t *gaps_at;                 // per thread: `gaps` when its last priority was seen
    struct thread_times *times;        // per thread
    struct interrupt_times *durations; // per interrupt
    size_t duration_count;
    struct extract_map interrupt_of_number[2]; // index + 1; the second is of second-level handlers
    struct extract_map wait_of_key, level_of_object; // index + 1
    size_t recent_interrupt;                         // index of the last one that was found
    uint32_t recent_levels[RECENT_LEVELS]; // by a few bits of the objects' addresses: index + 1
    size_t interrupt_capacity, duration_capacity, wait_capacity, level_capacity;
    struct extract_interval added; // steps of one core that are not counted yet; from == to: none
    unsigned load_part_log2;       // length of a part of the load: log2 of its ticks
    bool has_load;                 // stats->load_from is valid
    struct open_wait open_waits[MAX_OPEN_WAITS];
    size_t open_wait_count;
    // Threads that were looked up, by a few bits of their addresses, since the names changed.
    struct {
        uint64_t address; // 0: none
        size_t thread;
    } recent[RECENT_THREADS];
    bool figure_ids[FIGURE_IDS];   // ids modulo this that a figure counts
    bool has_figures[MAX_FIGURES]; // an event of its family has been counted
    bool has_one_registry;         // of the trace, so that no name changes
    uint64_t registry;             // which names are valid at `seq`
    uint32_t *thread_of_object;    // per object of the trace: index of its statistics + 1; 0: none
    struct service_of_id *service_of_id; // by id modulo SERVICE_IDS
    struct extract_map services;         // index of the statistics of each id + 1
    size_t service_capacity;
    struct thread_services *services_of_thread; // per thread
    size_t service_cells;                       // counts in them
    bool has_too_many_services;                 // they would be more than the limit
    bool failed;                                // out of memory
    struct modes *modes;                        // of hook words; NULL: their meaning is not known
    struct processes *processes;                // likewise
    struct locks *locks;                        // likewise
};

size_t analysis_find_thread(struct analysis *analysis, uint64_t address);
// Returns the index of the thread at an address; SIZE_MAX: unknown.
static inline size_t analysis_thread(struct analysis *analysis, uint64_t address)
{
    size_t slot = (address >> 4 ^ address >> 10) % RECENT_THREADS;

    if (analysis->recent[slot].address == address && address)
        return analysis->recent[slot].thread;
    size_t thread = analysis_find_thread(analysis, address);
    analysis->recent[slot].address = address;
    analysis->recent[slot].thread = thread;
    return thread;
}
// Returns the newest priority of a thread, EXTRACT_NO_PRIORITY: not known.
uint16_t analysis_priority(struct analysis *analysis, uint64_t address);

// ---- call_times.c: measures the schedule ----

extern const struct extract_schedule_sink analysis_sink;
// Counts what was added. Must be called before the names of threads change.
void times_flush(struct analysis *analysis);
// Adds what had a core after an event. Steps that continue each other are counted as one interval.
static inline void times_add_step(struct analysis *analysis,
                                  const struct extract_interval *interval)
{
    struct extract_interval *added = &analysis->added;

    if (added->to == interval->from && added->thread == interval->thread &&
        added->runner == interval->runner && added->core == interval->core &&
        added->is_unsure == interval->is_unsure) {
        added->to = interval->to;
        return;
    }
    times_flush(analysis);
    *added = *interval;
}
// Forgets what was known before a gap.
void times_add_gap(struct analysis *analysis);
// Fills in the distributions.
void times_end(struct analysis *analysis);

// ---- lists.c: interrupts, waits, levels and inversions ----

void lists_add_role(struct analysis *analysis, const struct extract_event *event,
                    const struct extract_role_fields *role);
static inline void lists_add_event(struct analysis *analysis, const struct extract_event *event,
                                   const struct extract_role_fields *role)
{
    bool is_call = role->role == EXTRACT_ROLE_NONE || role->role == EXTRACT_ROLE_CALL;

    if (event->context != EXTRACT_ISR)
        analysis->cores[event->core].depth = 0; // exits may not be recorded
    if (!is_call || role->queued || role->left) // most events are not listed
        lists_add_role(analysis, event, role);
}
void lists_add_step(struct analysis *analysis, const struct schedule_step *step);
// Notes the owner of a mutex from now on (schedule/walk.h, owned).
void lists_set_owner(struct analysis *analysis, uint64_t mutex, uint64_t owner, bool is_certain);
void lists_add_wait(struct analysis *analysis, const struct extract_state *state);
void lists_add_gap(struct analysis *analysis);
void lists_end(struct analysis *analysis);

// ---- services.c: how often services were called ----

// Allocates the counts, when the threads are known. Returns false if memory is short.
bool services_begin(struct analysis *analysis);
// Finds the service of an event, or adds it at its first event, and makes it the one of its
// remainder. Returns its number; SIZE_MAX: memory is short.
size_t services_find(struct analysis *analysis, const struct extract_event *event);
// Counts an event that the view lets through. Returns the number of its service; SIZE_MAX: none.
static inline size_t services_add_event(struct analysis *analysis,
                                        const struct extract_event *event)
{
    const struct service_of_id *of_id = &analysis->service_of_id[event->id % SERVICE_IDS];
    bool is_last = of_id->index && of_id->id == event->id;
    size_t service = is_last ? of_id->index - 1 : services_find(analysis, event);

    if (service != SIZE_MAX)
        analysis->stats->services[service].count++;
    return service;
}

// Makes room for the counts of a thread. Returns false if there is none.
bool services_grow_counts(struct analysis *analysis, struct thread_services *thread);
// Counts an event for the thread that recorded it, by the thread's index.
static inline void services_add_of_thread(struct analysis *analysis, size_t thread, size_t service)
{
    struct thread_services *services = &analysis->services_of_thread[thread];

    if (service < services->capacity ||
        (service != SIZE_MAX && services_grow_counts(analysis, services)))
        services->counts[service]++;
}

// Makes the lists.
void services_end(struct analysis *analysis);
void services_free(struct analysis *analysis);

// ---- trace_figures.c ----

// Makes the list of figures. Returns false if memory is short.
bool figures_begin(struct analysis *analysis);
// Adds an event that the view lets through.
void figures_add_event(struct analysis *analysis, const struct extract_event *event);
// Removes the families without an event.
void figures_end(struct analysis *analysis);

// ---- modes.c: modes of cores, and system calls, of hook words ----

// Return false if memory is short.
bool modes_begin(struct analysis *analysis);
void modes_add_event(struct analysis *analysis, const struct extract_event *event,
                     const struct extract_role_fields *role, bool is_counted);
void modes_add_step(struct analysis *analysis, const struct schedule_step *step);
void modes_add_gap(struct analysis *analysis);
void modes_end(struct analysis *analysis);
void modes_free(struct analysis *analysis);

// ---- processes.c: processes and dispatches, of hook words ----

bool processes_begin(struct analysis *analysis);
// Notes the process of a thread, by the thread's index.
void processes_set(struct analysis *analysis, size_t thread, uint64_t process);
// Gives the process of a thread the name in the event's data.
void processes_exec(struct analysis *analysis, size_t thread, const struct extract_event *event);
// Gives a process that a thread has made the name of the thread's process.
void processes_fork(struct analysis *analysis, size_t thread, uint64_t process);
void processes_add_step(struct analysis *analysis, const struct schedule_step *step);
void processes_add_gap(struct analysis *analysis);
void processes_end(struct analysis *analysis);
void processes_free(struct analysis *analysis);

// ---- lock_stats.c: locks, of hook words ----

bool locks_begin(struct analysis *analysis);
void locks_add_event(struct analysis *analysis, const struct extract_event *event,
                     const struct extract_role_fields *role, bool is_counted);
void locks_add_step(struct analysis *analysis, const struct schedule_step *step);
void locks_add_gap(struct analysis *analysis);
void locks_end(struct analysis *analysis);
void locks_free(struct analysis *analysis);

// ---- why.c ----

// Finds the thread that a name or an address means. Fails with NOTFOUND.
enum extract_code why_find_thread(const struct extract_trace *trace, const char *name,
                                  uint64_t *address, struct extract_error *error);

// Explains a time of a thread by the history of it: appends its segments. Returns false if memory
// is short.
bool why_add_chain(struct extract_why *why, const struct history *history,
                   struct extract_chain *chain);

#endif
