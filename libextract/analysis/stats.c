// SPDX-License-Identifier: MIT
// analysis: the statistics of a trace.
//
// One walk over all events of a trace computes everything. Each event is handled together with the
// next one, since the time between the two belongs to whatever runs after the first. So the walk is
// one event late: the last event of a batch is pending until the next batch comes.
//
// Events outside the view's range, and events that its filter leaves out, are followed to know
// which thread runs, but not counted. What was known before a gap or restart in a log is forgotten
// there.
//
// Source: TraceX user guide, chapter 4: execution profile, performance statistics, thread stack
// usage, popular services.
#include "analysis/inversion.h"
#include "analysis/scheduler.h"
#include "base/grow.h"
#include "events/internal.h"
#include <extract/stats.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 65536, CORES = 256 };

struct analysis {
    struct extract_stats *stats; // the result
    const struct extract_trace *trace;
    const struct extract_format *format;
    struct extract_scheduler schedulers[CORES];
    unsigned cores; // cores that events may come from
    struct extract_inversions inversions;
    struct extract_event pending; // waits for the event after it
    uint8_t pending_standing;
    bool has_pending;
    bool has_loads;   // false for several cores: what each of them runs is not known
    uint64_t seq;     // of the current event: threads have the names they had then
    bool is_counted;  // the view lets the current event through
    bool is_in_range; // the current event is in the view's range, so its time is counted
    uint64_t highest; // largest time so far; cores that share a ring may store out of order
    struct extract_execution running; // the last thread, or idle, that had the processor
    bool has_running;
    bool has_resumed;           // the current context has resumed a thread and not yielded since
    uint64_t resets;            // resets of the target so far
    uint64_t *resets_at;        // per thread: `resets` when its last priority was seen
    uint32_t *thread_of_object; // per object of the trace: index of its statistics + 1; 0: none
    uint32_t *service_of_id;    // per id: index of its statistics + 1; 0: none yet
    size_t service_capacity;
    bool failed; // out of memory
};

// ---- threads ----

// Returns the statistics of the i-th thread. A priority from before a reset is forgotten.
static struct extract_thread_stats *thread_at(struct analysis *analysis, size_t i)
{
    struct extract_thread_stats *thread = &analysis->stats->threads[i];

    if (analysis->resets_at[i] != analysis->resets)
        thread->last_priority = EXTRACT_NO_PRIORITY;
    analysis->resets_at[i] = analysis->resets;
    return thread;
}

// Returns the statistics of the thread at an address; NULL: unknown.
static struct extract_thread_stats *find_thread(struct analysis *analysis, uint64_t address)
{
    const struct extract_object *objects;
    const struct extract_object *thread =
        extract_trace_thread_at(analysis->trace, address, analysis->seq);

    if (!thread)
        return NULL;
    extract_trace_objects(analysis->trace, &objects);
    uint32_t i = analysis->thread_of_object[thread - objects];
    return i ? thread_at(analysis, i - 1) : NULL;
}

// Notes the free stack that an event reports.
static void note_stack(struct extract_thread_stats *thread, const struct extract_event *event)
{
    uint64_t start = thread->thread->param1, size = thread->stack_size;

    for (unsigned k = 0; size && k < event->type->fields; k++) {
        uint64_t free = event->field[k] - start;
        if (event->type->field[k].kind != EXTRACT_KIND_STACK || free > size)
            continue;
        if (!thread->stack_known || free < thread->stack_free) {
            thread->stack_free = free;
            thread->stack_seq = event->seq;
        }
        thread->stack_known = true;
    }
}

static void note_priority(struct extract_thread_stats *thread, uint16_t priority)
{
    if (priority == EXTRACT_NO_PRIORITY)
        return;
    if (thread->priority_low == EXTRACT_NO_PRIORITY || priority < thread->priority_low)
        thread->priority_low = priority;
    if (thread->priority_high == EXTRACT_NO_PRIORITY || priority > thread->priority_high)
        thread->priority_high = priority;
}

// Returns the priority of a mutex's owner: the last one that an event reported, or the one with
// which the thread was created.
static uint16_t owner_priority(struct analysis *analysis, uint64_t address)
{
    struct extract_thread_stats *thread = find_thread(analysis, address);

    if (!thread)
        return EXTRACT_NO_PRIORITY;
    return thread->last_priority != EXTRACT_NO_PRIORITY ? thread->last_priority
                                                        : thread->thread->priority;
}

// Updates the thread that recorded an event, and the inversions. On several cores, inversions
// cannot be detected: the third thread may run on another core.
static void add_to_thread(struct analysis *analysis, const struct extract_role_fields *role,
                          const struct extract_event *event)
{
    struct extract_thread_stats *thread = find_thread(analysis, event->thread);
    uint16_t owner = EXTRACT_NO_PRIORITY;

    if (!thread)
        return;
    if (analysis->is_counted) {
        thread->events++;
        thread->suspends += role->role == EXTRACT_ROLE_SUSPEND;
        thread->resumes += role->role == EXTRACT_ROLE_RESUME;
        note_stack(thread, event);
        note_priority(thread, event->priority);
    }
    if (event->priority != EXTRACT_NO_PRIORITY)
        thread->last_priority = event->priority;
    if (!analysis->has_loads)
        return;
    if (role->role == EXTRACT_ROLE_MUTEX_GET)
        owner = owner_priority(analysis, extract_role_field(event, role->owner));
    extract_inversions_add_event(&analysis->inversions, role, event, owner, analysis->is_counted);
}

// ---- counts ----

// Returns the name that the trace gives to a user event; NULL: none.
static const struct extract_object *find_user_event(const struct analysis *analysis,
                                                    const struct extract_event *event)
{
    uint32_t first = analysis->format->user_ids;

    if (!first || event->id < first || event->type != extract_trace_type(analysis->trace, first))
        return NULL;
    const struct extract_object *object = extract_trace_object(
        analysis->trace, extract_number_key(EXTRACT_KIND_USER_EVENT, event->id - first));
    return object && *object->name ? object : NULL;
}

static void count_service(struct analysis *analysis, const struct extract_event *event)
{
    struct extract_stats *stats = analysis->stats;
    uint32_t *index = &analysis->service_of_id[event->id % IDS];

    if (!*index) {
        struct extract_service_stats *services = extract_grow(
            stats->services, &analysis->service_capacity, stats->service_count, sizeof *services);
        if (!services) {
            analysis->failed = true;
            return;
        }
        stats->services = services;
        stats->services[stats->service_count] = (struct extract_service_stats){
            event->type, event->id, 0, find_user_event(analysis, event)};
        *index = (uint32_t)++stats->service_count;
    }
    stats->services[*index - 1].count++;
}

static void count_role(struct analysis *analysis, const struct extract_role_fields *role,
                       const struct extract_event *event)
{
    struct extract_stats *stats = analysis->stats;
    unsigned depth = analysis->schedulers[event->core].depth;

    switch (role->role) {
    case EXTRACT_ROLE_SUSPEND:
        stats->suspends++;
        break;
    case EXTRACT_ROLE_RESUME:
        stats->resumes++;
        break;
    case EXTRACT_ROLE_TIME_SLICE:
        stats->time_slices++;
        break;
    case EXTRACT_ROLE_ISR_ENTER:
        stats->interrupts++;
        stats->nested_interrupts += depth > 0;
        return;
    case EXTRACT_ROLE_ISR_EXIT:
        return;
    default:
        break;
    }
    if (event->context == EXTRACT_ISR && !depth) // the entry of this interrupt was not recorded
        stats->interrupts++;
}

// Counts a context switch if another thread, or idle, gets the processor.
static void note_running(struct analysis *analysis, struct extract_execution now)
{
    if (now.kind != EXTRACT_RUNS_THREAD && now.kind != EXTRACT_RUNS_IDLE)
        return;
    if (analysis->has_running &&
        (now.kind != analysis->running.kind || now.thread != analysis->running.thread))
        analysis->stats->context_switches += analysis->is_counted;
    analysis->running = now;
    analysis->has_running = true;
}

static bool is_same_context(const struct extract_event *a, const struct extract_event *b)
{
    return a->context == b->context && (a->context != EXTRACT_THREAD || a->thread == b->thread);
}

// Counts a preemption. A context is preempted if it has resumed a thread and then loses the
// processor without yielding it; a thread, also if its time slice ends in favor of another.
static void count_preemption(struct analysis *analysis, const struct extract_role_fields *role,
                             const struct extract_event *event,
                             const struct extract_event *next_event)
{
    if (role->role == EXTRACT_ROLE_RESUME)
        analysis->has_resumed = true;
    else if (role->role == EXTRACT_ROLE_SUSPEND || role->role == EXTRACT_ROLE_RELINQUISH)
        analysis->has_resumed = false;
    else if (role->role == EXTRACT_ROLE_TIME_SLICE && event->thread &&
             extract_role_field(event, role->next) != event->thread)
        analysis->stats->preemptions += analysis->is_counted;
    if (!analysis->has_resumed || !next_event || is_same_context(event, next_event))
        return;
    analysis->stats->preemptions += analysis->is_counted;
    analysis->has_resumed = false;
}

// ---- time ----

// Adds a time to whatever ran during it.
static void charge_ticks(struct analysis *analysis, struct extract_execution running,
                         uint64_t ticks)
{
    struct extract_thread_stats *thread;

    analysis->stats->span_ticks += ticks;
    if (!analysis->has_loads)
        return;
    switch (running.kind) {
    case EXTRACT_RUNS_THREAD:
        thread = find_thread(analysis, running.thread);
        if (thread)
            thread->ticks += ticks;
        break;
    case EXTRACT_RUNS_ISR:
        analysis->stats->interrupt_ticks += ticks;
        break;
    case EXTRACT_RUNS_IDLE:
        analysis->stats->idle_ticks += ticks;
        break;
    case EXTRACT_RUNS_INIT:
        analysis->stats->init_ticks += ticks;
        break;
    }
}

// ---- the walk ----

// Handles an event, given the next one (NULL: there is none, or a gap is between them).
static void add_event(struct analysis *analysis, const struct extract_event *event,
                      uint8_t standing, const struct extract_event *next_event)
{
    const struct extract_role_fields *role = extract_format_role(analysis->format, event->id);
    struct extract_scheduler *scheduler = &analysis->schedulers[event->core];

    analysis->seq = event->seq;
    analysis->is_counted = standing == EXTRACT_LET_THROUGH;
    analysis->is_in_range = standing != EXTRACT_OUTSIDE;
    analysis->stats->range_events += analysis->is_in_range;
    if (analysis->is_counted) {
        analysis->stats->events++;
        count_service(analysis, event);
        count_role(analysis, role, event);
    }
    if (event->context == EXTRACT_THREAD)
        add_to_thread(analysis, role, event);

    if (analysis->has_loads && event->context == EXTRACT_THREAD)
        note_running(analysis, (struct extract_execution){EXTRACT_RUNS_THREAD, event->thread});
    if (analysis->has_loads)
        count_preemption(analysis, role, event, next_event);
    struct extract_execution now = extract_scheduler_add_event(scheduler, role, event, next_event);
    if (analysis->has_loads)
        note_running(analysis, now);

    analysis->highest = event->ticks > analysis->highest ? event->ticks : analysis->highest;
    if (analysis->is_in_range && next_event && next_event->ticks > analysis->highest)
        charge_ticks(analysis, now, next_event->ticks - analysis->highest);
}

// Handles the pending event, now that the next one is known.
static void add_pending(struct analysis *analysis, const struct extract_event *next_event)
{
    if (analysis->has_pending)
        add_event(analysis, &analysis->pending, analysis->pending_standing, next_event);
    analysis->has_pending = false;
}

// Forgets what ran before a gap or restart.
static void add_break(struct analysis *analysis, const struct extract_event *marker)
{
    extract_inversions_end(&analysis->inversions);
    memset(analysis->schedulers, 0, analysis->cores * sizeof *analysis->schedulers);
    analysis->has_running = analysis->has_resumed = false;
    analysis->resets += marker->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET;
}

// Handles a batch. Within it, the pending event is an index; only the last is copied, since the
// events are invalid after the call. Markers that are not breaks do not concern the target.
static bool add_events(void *context, const struct extract_event *events, const uint8_t *standing,
                       size_t count)
{
    struct analysis *analysis = context;
    size_t pending = SIZE_MAX; // index in this batch; SIZE_MAX: none

    for (size_t i = 0; i < count; i++) {
        bool is_marker = extract_event_is_mark(&events[i]);
        const struct extract_event *next_event = is_marker ? NULL : &events[i];
        if (is_marker && !extract_event_is_break(&events[i]))
            continue;
        if (pending == SIZE_MAX)
            add_pending(analysis, next_event);
        else
            add_event(analysis, &events[pending], standing[pending], next_event);
        pending = is_marker ? SIZE_MAX : i;
        if (is_marker)
            add_break(analysis, &events[i]);
    }
    if (pending == SIZE_MAX)
        return true;
    analysis->pending = events[pending];
    analysis->pending_standing = standing[pending];
    analysis->has_pending = true;
    return true;
}

// Allocates the statistics of all threads. Returns false if memory is short.
static bool prepare_threads(struct analysis *analysis)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(analysis->trace, &objects), threads = 0;
    struct extract_stats *stats = analysis->stats;

    for (size_t i = 0; i < count; i++)
        threads += extract_object_is_thread(&objects[i]);
    stats->threads = calloc(threads + 1, sizeof *stats->threads);
    analysis->resets_at = calloc(threads + 1, sizeof *analysis->resets_at);
    analysis->thread_of_object = calloc(count + 1, sizeof *analysis->thread_of_object);
    if (!stats->threads || !analysis->resets_at || !analysis->thread_of_object)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!extract_object_is_thread(&objects[i]))
            continue;
        struct extract_thread_stats *thread = &stats->threads[stats->thread_count++];
        thread->thread = &objects[i];
        thread->stack_size = objects[i].registered ? objects[i].param2 : 0;
        thread->priority_low = thread->priority_high = thread->last_priority = EXTRACT_NO_PRIORITY;
        analysis->thread_of_object[i] = (uint32_t)stats->thread_count;
    }
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct extract_service_stats *x = a, *y = b;

    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool analyze_view(struct analysis *analysis, const struct extract_view *view)
{
    struct extract_stats *stats = analysis->stats;
    struct extract_sink sink = {.all = add_events, .context = analysis};

    analysis->service_of_id = calloc(IDS, sizeof *analysis->service_of_id);
    if (!analysis->service_of_id || !prepare_threads(analysis))
        return false;
    extract_view_run(view, &sink);
    add_pending(analysis, NULL);
    extract_inversions_end(&analysis->inversions);
    for (size_t i = 0; i < stats->thread_count; i++)
        thread_at(analysis, i); // forgets the priorities from before a reset
    stats->has_loads = analysis->has_loads;
    stats->inversions_deterministic = analysis->inversions.deterministic;
    stats->inversions_undeterministic = analysis->inversions.undeterministic;
    if (stats->service_count)
        qsort(stats->services, stats->service_count, sizeof *stats->services, compare_counts);
    return !analysis->failed;
}

enum extract_code extract_stats_new(struct extract_stats **stats, const struct extract_view *view,
                                    const struct extract_trace *trace, struct extract_error *error)
{
    unsigned cores = extract_trace_info(trace)->cores;
    struct analysis analysis = {.stats = calloc(1, sizeof(struct extract_stats)),
                                .trace = trace,
                                .format = extract_trace_snapshot(trace)->ring.format,
                                .cores = cores ? cores : 1,
                                .has_loads = cores <= 1};

    *stats = analysis.stats;
    bool is_done = analysis.stats && analyze_view(&analysis, view);
    free(analysis.service_of_id);
    free(analysis.thread_of_object);
    free(analysis.resets_at);
    if (is_done)
        return EXTRACT_OK;
    extract_stats_free(analysis.stats);
    *stats = NULL;
    return extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory");
}

void extract_stats_free(struct extract_stats *stats)
{
    if (!stats)
        return;
    free(stats->threads);
    free(stats->services);
    free(stats);
}
