// SPDX-License-Identifier: MIT
// analysis: statistics of a trace. In: events in order. Out: struct extract_stats.
//
// Source: TraceX user guide, chapter 4: execution profile, performance statistics, thread stack
// usage, popular services. The time between two events belongs to who runs after the first.
#include "analysis/inversion.h"
#include "analysis/scheduler.h"
#include "base/grow.h"
#include <extract/stats.h>
#include <stdlib.h>
#include <string.h>

enum { IDS = 65536, CORES = 256 };

struct study {
    struct extract_stats *stats;
    const struct extract_trace *trace;
    const struct extract_format *format;
    struct extract_scheduler schedulers[CORES]; // of each core
    unsigned cores;                             // that events can be of
    struct extract_inversions inversions;
    struct extract_event held; // waits for the event behind it
    bool has_held;
    uint8_t held_standing;
    uint64_t seq;     // of the event at hand: threads go by the names of its time
    bool is_counted;  // the event at hand is let through
    bool is_timed;    // it lies in the stretch, whose time is charged whatever is let through
    bool has_loads;   // of one core: who ran when can be told
    uint64_t highest; // ticks up to here: cores that share a ring may store out of order
    struct extract_who running; // the last thread or idle that had the processor
    bool has_running;
    bool resumed;               // the context at hand has resumed a thread and not given up since
    uint32_t *thread_of_object; // index of its statistics + 1
    uint64_t *resets_before;    // of a thread's last priority
    uint64_t resets;            // of the target so far
    uint32_t *service_of_id;    // index of its statistics + 1
    size_t service_room;
    bool failed; // out of memory
};

// What was so before the target began again is not known to be so any more.
static struct extract_thread_stats *catch_up(struct study *study, size_t i)
{
    struct extract_thread_stats *thread = &study->stats->threads[i];
    if (study->resets_before[i] != study->resets)
        thread->last_priority = EXTRACT_NO_PRIORITY;
    study->resets_before[i] = study->resets;
    return thread;
}

static struct extract_thread_stats *thread_stats(struct study *study, uint64_t address)
{
    const struct extract_object *first, *thread;
    thread = extract_trace_thread_at(study->trace, address, study->seq);
    if (!thread)
        return NULL;
    extract_trace_objects(study->trace, &first);
    uint32_t i = study->thread_of_object[thread - first];
    return i ? catch_up(study, i - 1) : NULL;
}

static void charge(struct study *study, struct extract_who who, uint64_t ticks)
{
    struct extract_thread_stats *thread;
    study->stats->span_ticks += ticks;
    if (!study->has_loads)
        return;
    switch (who.what) {
    case EXTRACT_RUNS_THREAD:
        if ((thread = thread_stats(study, who.thread)))
            thread->ticks += ticks;
        break;
    case EXTRACT_RUNS_ISR:
        study->stats->interrupt_ticks += ticks;
        break;
    case EXTRACT_RUNS_IDLE:
        study->stats->idle_ticks += ticks;
        break;
    case EXTRACT_RUNS_INIT:
        study->stats->init_ticks += ticks;
        break;
    }
}

// Counts a switch when another thread (or idle) gets the processor.
static void note_running(struct study *study, struct extract_who who)
{
    if (who.what != EXTRACT_RUNS_THREAD && who.what != EXTRACT_RUNS_IDLE)
        return;
    if (study->has_running &&
        (who.what != study->running.what || who.thread != study->running.thread))
        study->stats->context_switches += study->is_counted;
    study->running = who;
    study->has_running = true;
}

static void count_role(struct study *study, const struct extract_role_fields *role,
                       const struct extract_event *event)
{
    struct extract_stats *stats = study->stats;
    unsigned depth = study->schedulers[event->core].depth;
    bool isr = event->context == EXTRACT_ISR;
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
    if (isr && !depth) // its entry was not recorded
        stats->interrupts++;
}

static bool same_context(const struct extract_event *a, const struct extract_event *b)
{
    return a->context == b->context && (a->context != EXTRACT_THREAD || a->thread == b->thread);
}

// A context that resumed a thread and lost the processor without giving it up was preempted; so
// was a thread whose time slice ended in favour of another.
static void count_preemption(struct study *study, const struct extract_role_fields *role,
                             const struct extract_event *event, const struct extract_event *behind)
{
    if (role->role == EXTRACT_ROLE_RESUME)
        study->resumed = true;
    else if (role->role == EXTRACT_ROLE_SUSPEND || role->role == EXTRACT_ROLE_RELINQUISH)
        study->resumed = false;
    else if (role->role == EXTRACT_ROLE_TIME_SLICE && event->thread &&
             event->field[role->next] != event->thread)
        study->stats->preemptions += study->is_counted;
    if (!study->resumed || !behind || same_context(event, behind))
        return;
    study->stats->preemptions += study->is_counted;
    study->resumed = false;
}

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

static uint16_t priority_of(struct study *study, uint64_t address)
{
    struct extract_thread_stats *thread = thread_stats(study, address);
    if (!thread)
        return EXTRACT_NO_PRIORITY;
    return thread->last_priority != EXTRACT_NO_PRIORITY ? thread->last_priority
                                                        : thread->thread->priority;
}

static void note_thread(struct study *study, const struct extract_role_fields *role,
                        const struct extract_event *event)
{
    struct extract_thread_stats *thread = thread_stats(study, event->thread);
    if (!thread)
        return;
    if (study->is_counted) {
        thread->events++;
        thread->suspends += role->role == EXTRACT_ROLE_SUSPEND;
        thread->resumes += role->role == EXTRACT_ROLE_RESUME;
        note_stack(thread, event);
        note_priority(thread, event->priority);
    }
    if (event->priority != EXTRACT_NO_PRIORITY)
        thread->last_priority = event->priority;
    if (!study->has_loads) // another core may run the third thread while the owner goes on
        return;
    uint16_t owner = EXTRACT_NO_PRIORITY;
    if (role->role == EXTRACT_ROLE_MUTEX_GET)
        owner = priority_of(study, event->field[role->owner]);
    extract_inversions_step(&study->inversions, role, event, owner, study->is_counted);
}

static const struct extract_object *name_of(const struct study *study,
                                            const struct extract_event *event)
{
    uint32_t first = study->format->user_ids;
    if (!first || event->id < first || event->type != extract_trace_type(study->trace, first))
        return NULL;
    const struct extract_object *object = extract_trace_object(
        study->trace, extract_number_key(EXTRACT_KIND_USER_EVENT, event->id - first));
    return object && *object->name ? object : NULL;
}

// The statistics of an id; 0: out of memory.
static uint32_t add_service(struct study *study, const struct extract_event *event)
{
    struct extract_stats *stats = study->stats;
    struct extract_service_stats *more =
        extract_grow(stats->services, &study->service_room, stats->service_count, sizeof *more);
    if (!more)
        return 0;
    stats->services = more;
    stats->services[stats->service_count] =
        (struct extract_service_stats){event->type, event->id, 0, name_of(study, event)};
    return (uint32_t)++stats->service_count;
}

static void count_service(struct study *study, const struct extract_event *event)
{
    uint32_t *place = &study->service_of_id[event->id % IDS];
    if (!*place)
        *place = add_service(study, event);
    if (*place)
        study->stats->services[*place - 1].count++;
    else
        study->failed = true;
}

// Who has the core from this event on, and what that says of switches.
static struct extract_who follow_core(struct study *study, const struct extract_role_fields *role,
                                      const struct extract_event *event,
                                      const struct extract_event *behind)
{
    struct extract_scheduler *scheduler = &study->schedulers[event->core];
    if (!study->has_loads)
        return extract_scheduler_step(scheduler, role, event, behind);
    if (event->context == EXTRACT_THREAD)
        note_running(study, (struct extract_who){EXTRACT_RUNS_THREAD, event->thread});
    count_preemption(study, role, event, behind);
    struct extract_who next = extract_scheduler_step(scheduler, role, event, behind);
    note_running(study, next);
    return next;
}

static void study_event(struct study *study, const struct extract_event *event, uint8_t standing,
                        const struct extract_event *behind)
{
    const struct extract_role_fields *role = extract_format_role(study->format, event->id);
    study->seq = event->seq;
    study->is_counted = standing == EXTRACT_LET_THROUGH;
    study->is_timed = standing != EXTRACT_OUTSIDE;
    study->stats->stretch_events += study->is_timed;
    if (study->is_counted) {
        study->stats->events++;
        count_service(study, event);
        count_role(study, role, event);
    }
    if (event->context == EXTRACT_THREAD)
        note_thread(study, role, event);
    struct extract_who next = follow_core(study, role, event, behind);
    study->highest = event->ticks > study->highest ? event->ticks : study->highest;
    if (study->is_timed && behind && behind->ticks > study->highest)
        charge(study, next, behind->ticks - study->highest);
}

// Studies the event that was held back, now that the one behind it is known (NULL: there is none).
static void pass_on(struct study *study, const struct extract_event *behind)
{
    if (study->has_held)
        study_event(study, &study->held, study->held_standing, behind);
    study->has_held = false;
}

// What is recorded in a log between its entries is no event of the target. Where entries are
// missing, nobody is known to have run; nothing that was so before is known to be so behind it.
static void take_break(struct study *study, const struct extract_event *mark)
{
    extract_inversions_end(&study->inversions);
    memset(study->schedulers, 0, study->cores * sizeof *study->schedulers);
    study->has_running = study->resumed = false;
    study->resets += mark->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET;
}

static bool take_events(void *context, const struct extract_event *events, const uint8_t *standing,
                        size_t count)
{
    struct study *study = context;
    size_t held = SIZE_MAX; // of this batch
    for (size_t i = 0; i < count; i++) {
        bool mark = extract_event_is_mark(&events[i]);
        if (mark && !extract_event_is_break(&events[i]))
            continue;
        if (held == SIZE_MAX) {
            pass_on(study, mark ? NULL : &events[i]);
        } else {
            study_event(study, &events[held], standing[held], mark ? NULL : &events[i]);
        }
        held = mark ? SIZE_MAX : i;
        if (mark)
            take_break(study, &events[i]);
    }
    if (held == SIZE_MAX)
        return true;
    study->held = events[held];
    study->held_standing = standing[held];
    study->has_held = true;
    return true;
}

static size_t count_threads(const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects), threads = 0;
    for (size_t i = 0; i < count; i++)
        threads += extract_object_is_thread(&objects[i]);
    return threads;
}

static bool prepare_threads(struct study *study)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(study->trace, &objects);
    struct extract_stats *stats = study->stats;
    size_t threads = count_threads(study->trace);
    stats->threads = calloc(threads + 1, sizeof *stats->threads);
    study->resets_before = calloc(threads + 1, sizeof *study->resets_before);
    study->thread_of_object = calloc(count + 1, sizeof *study->thread_of_object);
    if (!stats->threads || !study->resets_before || !study->thread_of_object)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!extract_object_is_thread(&objects[i]))
            continue;
        struct extract_thread_stats *thread = &stats->threads[stats->thread_count++];
        thread->thread = &objects[i];
        thread->stack_size = objects[i].registered ? objects[i].param2 : 0;
        thread->priority_low = thread->priority_high = thread->last_priority = EXTRACT_NO_PRIORITY;
        study->thread_of_object[i] = (uint32_t)stats->thread_count;
    }
    return true;
}

static int by_count(const void *a, const void *b)
{
    const struct extract_service_stats *x = a, *y = b;
    if (x->count != y->count)
        return x->count < y->count ? 1 : -1;
    return (x->id > y->id) - (x->id < y->id);
}

static bool run(struct study *study, const struct extract_view *view)
{
    struct extract_sink sink = {.all = take_events, .context = study};
    study->service_of_id = calloc(IDS, sizeof *study->service_of_id);
    if (!study->service_of_id || !prepare_threads(study))
        return false;
    extract_view_run(view, &sink);
    pass_on(study, NULL);
    extract_inversions_end(&study->inversions);
    for (size_t i = 0; i < study->stats->thread_count; i++)
        catch_up(study, i);
    study->stats->inversions_deterministic = study->inversions.deterministic;
    study->stats->inversions_undeterministic = study->inversions.undeterministic;
    if (study->stats->service_count)
        qsort(study->stats->services, study->stats->service_count, sizeof *study->stats->services,
              by_count);
    return !study->failed;
}

enum extract_code extract_stats_new(struct extract_stats **stats, const struct extract_view *view,
                                    const struct extract_trace *trace, struct extract_error *error)
{
    unsigned cores = extract_trace_info(trace)->cores;
    struct study study = {.trace = trace,
                          .format = extract_trace_snapshot(trace)->ring.format,
                          .cores = cores ? cores : 1,
                          .has_loads = cores <= 1};
    *stats = NULL;
    study.stats = calloc(1, sizeof *study.stats);
    bool done = study.stats && run(&study, view);
    free(study.service_of_id);
    free(study.thread_of_object);
    free(study.resets_before);
    if (done)
        study.stats->has_loads = study.has_loads;
    if (!done) {
        extract_stats_free(study.stats);
        return extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory");
    }
    *stats = study.stats;
    return EXTRACT_OK;
}

void extract_stats_free(struct extract_stats *stats)
{
    if (!stats)
        return;
    free(stats->threads);
    free(stats->services);
    free(stats);
}
