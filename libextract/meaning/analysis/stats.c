// SPDX-License-Identifier: MIT
// analysis: the statistics of a trace.
//
// One walk over all events computes everything (schedule/walk.h). This file counts events. What the
// schedule shows is measured by call_times.c and lists.c.
//
//   schedule_walk ── event ──> stats.c          counts, stacks and priorities of threads
//         │                    trace_figures.c  figures of libraries such as FileX
//         │                    lists.c          interrupts, levels of queues and pools
//         │                    modes.c          system calls; for hook words only
//         │                    lock_stats.c     locks; for hook words only
//         ├───── step ───────> call_times.c     who had a core: loads
//         │                    lists.c          interrupts, inversions
//         │                    modes.c          modes of cores; for hook words only
//         │                    processes.c      processes, dispatches; for hook words only
//         │                    lock_stats.c     how long holders ran; for hook words only
//         └───── sink ───────> call_times.c     states, responses
//                              lists.c          waits
//
// Events outside the view's range, and events that its filter leaves out, are followed to know
// which thread runs, but not counted. What was known before a gap or restart in a log is forgotten
// there.
//
// Source: TraceX user guide, chapter 4: execution profile, performance statistics, thread stack
// usage, popular services.
#include "analysis/analysis_room.h"
#include "base/grow.h"
#include "events/event_filter.h"
#include <stdlib.h>
#include <string.h>

// ---- threads ----

// Returns the statistics of the i-th thread. Priorities from before a gap are forgotten.
static struct extract_thread_stats *thread_at(struct analysis *analysis, size_t i)
{
    struct extract_thread_stats *thread = &analysis->stats->threads[i];

    if (analysis->gaps_at[i] != analysis->gaps)
        thread->last_priority = analysis->times[i].stored = EXTRACT_NO_PRIORITY;
    analysis->gaps_at[i] = analysis->gaps;
    return thread;
}

size_t analysis_find_thread(struct analysis *analysis, uint64_t address)
{
    const struct extract_object *objects;
    const struct extract_object *thread =
        extract_trace_thread_at(analysis->trace, address, analysis->seq);

    if (!thread)
        return SIZE_MAX;
    extract_trace_objects(analysis->trace, &objects);
    uint32_t i = analysis->thread_of_object[thread - objects];
    return i ? i - 1 : SIZE_MAX;
}

// Notes the free stack that an event reports, in those fields whose bits are set.
static void note_stack(struct extract_thread_stats *thread, const struct extract_event *event,
                       uint32_t fields)
{
    for (; fields && thread->stack_size; fields &= fields - 1) {
        uint64_t free = event->field[__builtin_ctz(fields)] - thread->thread->param1;
        if (free > thread->stack_size)
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

// The priority is the last one that an event reported, or the one that the thread had before.
uint16_t analysis_priority(struct analysis *analysis, uint64_t address)
{
    size_t i = analysis_thread(analysis, address);

    if (i == SIZE_MAX)
        return EXTRACT_NO_PRIORITY;
    const struct extract_thread_stats *thread = thread_at(analysis, i);
    bool is_first = thread->last_priority == EXTRACT_NO_PRIORITY && !analysis->gaps &&
                    !analysis->times[i].is_inherited;
    return is_first ? thread->thread->priority : thread->last_priority;
}

// Returns the priority of a thread as TraceX takes it: that of the thread's newest own event,
// whatever calls have set since then.
static uint16_t tracex_priority(struct analysis *analysis, uint64_t address)
{
    size_t i = analysis_thread(analysis, address);

    if (i == SIZE_MAX)
        return EXTRACT_NO_PRIORITY;
    const struct extract_thread_stats *thread = thread_at(analysis, i);
    uint16_t stored = analysis->times[i].stored;
    return stored != EXTRACT_NO_PRIORITY || analysis->gaps ? stored : thread->thread->priority;
}

// Updates a thread of whose priority an event reports.
static void set_priority(struct analysis *analysis, const struct extract_role_fields *role,
                         const struct extract_event *event, bool is_counted)
{
    size_t i = analysis_thread(analysis, extract_role_field(event, role->thread));

    if (i == SIZE_MAX)
        return;
    struct extract_thread_stats *thread = thread_at(analysis, i);
    if (is_counted && !analysis->gaps && thread->last_priority == EXTRACT_NO_PRIORITY)
        note_priority(thread, thread->thread->priority);
    extract_role_set_priority(analysis->trace, event, role, &thread->last_priority,
                              &analysis->times[i].is_inherited);
    if (is_counted)
        note_priority(thread, thread->last_priority);
}

// Updates the thread that recorded an event, and the inversions. On several cores, inversions
// cannot be detected: the third thread may run on another core.
static void add_to_thread(struct analysis *analysis, const struct extract_role_fields *role,
                          const struct extract_event *event, bool is_counted, size_t service)
{
    size_t i = analysis_thread(analysis, event->thread);
    uint16_t owner = EXTRACT_NO_PRIORITY;

    if (i == SIZE_MAX)
        return;
    struct extract_thread_stats *thread = thread_at(analysis, i);
    if (is_counted) {
        services_add_of_thread(analysis, i, service);
        thread->events++;
        note_stack(thread, event, analysis->service_of_id[event->id % SERVICE_IDS].stack_fields);
        note_priority(thread, event->priority);
    }
    if (event->priority != EXTRACT_NO_PRIORITY)
        thread->last_priority = analysis->times[i].stored = event->priority;
    bool is_get = role->role == EXTRACT_ROLE_MUTEX_GET;
    if (!analysis->stats->has_tracex || (!is_get && !analysis->inversions.open_count))
        return;
    if (is_get)
        owner = tracex_priority(analysis, extract_role_field(event, role->owner));
    extract_inversions_add_event(&analysis->inversions, role, event, owner, is_counted);
}

// ---- counts ----

// Counts a suspension or a resumption of the thread that an event is about. Without a thread in its
// fields, that is the one that recorded it.
static void count_move(struct analysis *analysis, const struct extract_role_fields *role,
                       const struct extract_event *event)
{
    uint64_t own = event->context == EXTRACT_THREAD ? event->thread : 0;
    size_t i =
        analysis_thread(analysis, role->thread ? extract_role_field(event, role->thread) : own);
    bool is_suspension = role->role == EXTRACT_ROLE_SUSPEND;

    analysis->stats->suspends += is_suspension;
    analysis->stats->resumes += !is_suspension;
    if (i == SIZE_MAX)
        return;
    thread_at(analysis, i)->suspends += is_suspension;
    thread_at(analysis, i)->resumes += !is_suspension;
}

static void count_role(struct analysis *analysis, const struct extract_role_fields *role,
                       const struct extract_event *event)
{
    struct extract_stats *stats = analysis->stats;
    unsigned depth = analysis->cores[event->core].depth;

    switch (role->role) {
    case EXTRACT_ROLE_SUSPEND:
    case EXTRACT_ROLE_RESUME:
        count_move(analysis, role, event);
        break;
    case EXTRACT_ROLE_TIME_SLICE:
        stats->time_slices++;
        break;
    case EXTRACT_ROLE_ISR_ENTER:
        stats->interrupts += !role->second_level;
        stats->nested_interrupts += depth > 0 && !role->second_level;
        return;
    case EXTRACT_ROLE_ISR_EXIT:
        return;
    default:
        break;
    }
    // The entry of this interrupt was not recorded. That of the one that switches never is.
    if (event->context == EXTRACT_ISR && !depth && role->role != EXTRACT_ROLE_SWITCH)
        stats->interrupts++;
}

// ---- as TraceX counts ----

// Context switches and preemptions as TraceX counts them, for comparison. Its rules were found from
// its figures for known traces:
//
//   context switches  events after which another thread than the current one, or idle, has the
//                     core; idle does not become the current thread
//   preemptions       resumptions after which another thread than the current one is next, and ends
//                     of time slices after which another thread has the core
//   time slices       none
//
// What is next after a resumption is the thread that it names, if any, or else the first thread
// that has the core after one of the following events. If there is none, it counts as another.
static void count_as_tracex(struct analysis *analysis, const struct schedule_step *step)
{
    struct tracex_count *count = &analysis->tracex;
    enum extract_runner runner = step->interval.runner;
    enum extract_role role = step->role->role;
    bool is_counted = step->standing == EXTRACT_LET_THROUGH;

    if (runner == EXTRACT_RUNNER_THREAD && step->interval.thread == count->current &&
        role != EXTRACT_ROLE_RESUME && count->has_current) { // as after most events
        count->resumes = 0;
        return;
    }
    if (!count->has_current && step->context == EXTRACT_THREAD) {
        count->current = step->thread;
        count->has_current = true;
    }
    bool has_next = runner == EXTRACT_RUNNER_THREAD || runner == EXTRACT_RUNNER_IDLE;
    bool is_other = has_next && count->has_current && step->interval.thread != count->current;
    analysis->stats->tracex.context_switches += is_counted && is_other;
    bool is_resume = is_counted & (role == EXTRACT_ROLE_RESUME);
    count->resumes += is_resume && step->next;
    if (runner == EXTRACT_RUNNER_THREAD) {
        if (is_other)
            analysis->stats->tracex.preemptions +=
                count->resumes + (is_counted && role == EXTRACT_ROLE_TIME_SLICE);
        count->resumes = 0;
        count->current = step->interval.thread;
        count->has_current = true;
    }
    count->resumes += is_resume && !step->next;
}

static void end_as_tracex(struct analysis *analysis)
{
    analysis->stats->tracex.preemptions += analysis->tracex.resumes;
}

// ---- the walk ----

// Notes the newest event. From a later registry of a log on, an address may be another thread.
static void note_seq(struct analysis *analysis, uint64_t seq)
{
    uint64_t registry =
        analysis->has_one_registry ? 0 : extract_trace_registry(analysis->trace, seq);

    if (registry != analysis->registry) {
        times_flush(analysis);
        memset(analysis->recent, 0, sizeof analysis->recent);
    }
    analysis->registry = registry;
    analysis->seq = seq;
}

static void add_event(void *context, const struct extract_event *event,
                      const struct extract_role_fields *role, uint8_t standing)
{
    struct analysis *analysis = context;
    struct extract_stats *stats = analysis->stats;
    bool is_counted = standing == EXTRACT_LET_THROUGH;
    size_t service = SIZE_MAX;

    // The time since the event before belongs to the range if that event does.
    uint64_t until = event->ticks < analysis->end ? event->ticks : analysis->end;
    if (analysis->has_ticks && analysis->is_in_range && until > analysis->ticks)
        stats->span_ticks += until - analysis->ticks;
    if (!analysis->has_ticks || event->ticks > analysis->ticks)
        analysis->ticks = event->ticks;
    analysis->has_ticks = true;
    note_seq(analysis, event->seq);
    analysis->is_in_range = standing != EXTRACT_OUTSIDE;
    stats->range_events += analysis->is_in_range;
    if (is_counted) {
        stats->events++;
        service = services_add_event(analysis, event);
        count_role(analysis, role, event);
        if (analysis->figure_ids[event->id % FIGURE_IDS])
            figures_add_event(analysis, event);
    }
    analysis->dispatch = analysis->modes && role->role == EXTRACT_ROLE_SWITCH ? role : NULL;
    analysis->dispatch_service = service;
    analysis->dispatch_next = extract_role_field(event, role->next);
    if (event->context == EXTRACT_THREAD && !analysis->dispatch)
        add_to_thread(analysis, role, event, is_counted, service);
    if (role->priority)
        set_priority(analysis, role, event, is_counted);
    lists_add_event(analysis, event, role);
    if (analysis->modes) {
        modes_add_event(analysis, event, role, is_counted);
        locks_add_event(analysis, event, role, is_counted);
    }
}

// Counts a dispatch for the thread that gets the processor: the one that its entry has, as reports
// print it.
static void add_entry(void *context, const struct extract_event *event, uint8_t standing)
{
    struct analysis *analysis = context;

    if (!analysis->dispatch || event->context != EXTRACT_THREAD)
        return;
    struct extract_event own = *event;
    if (!own.thread)
        own.thread = analysis->dispatch_next;
    add_to_thread(analysis, analysis->dispatch, &own, standing == EXTRACT_LET_THROUGH,
                  analysis->dispatch_service);
}

static void add_step(void *context, const struct schedule_step *step)
{
    struct analysis *analysis = context;

    if (analysis->stats->has_tracex)
        count_as_tracex(analysis, step);
    if (analysis->modes) {
        processes_add_step(analysis, step);
        locks_add_step(analysis, step);
    }
    if (step->standing == EXTRACT_OUTSIDE)
        return;
    if (analysis->modes)
        modes_add_step(analysis, step);
    if (step->interval.from == step->interval.to)
        return;
    times_add_step(analysis, &step->interval);
    if (step->interval.runner == EXTRACT_RUNNER_ISR || analysis->open_wait_count)
        lists_add_step(analysis, step);
}

static void set_owner(void *context, uint64_t mutex, uint64_t thread, bool is_certain)
{
    lists_set_owner(context, mutex, thread, is_certain);
}

static void add_switch(void *context, enum extract_switch_kind kind, uint8_t core, uint64_t thread,
                       uint8_t standing)
{
    struct analysis *analysis = context;
    size_t i = analysis_thread(analysis, thread);

    if (standing != EXTRACT_LET_THROUGH)
        return;
    if (i != SIZE_MAX)
        analysis->stats->threads[i].switches[kind]++;
    analysis->stats->context_switches++;
    analysis->stats->switches[kind]++;
    analysis->stats->cores[core].switches++;
}

// Forgets what was known before a gap or restart.
static void add_gap(void *context, const struct extract_event *marker)
{
    struct analysis *analysis = context;

    (void)marker;
    extract_inversions_end(&analysis->inversions);
    times_add_gap(analysis);
    lists_add_gap(analysis);
    if (analysis->modes) {
        modes_add_gap(analysis);
        processes_add_gap(analysis);
        locks_add_gap(analysis);
    }
    analysis->has_ticks = false;
    analysis->gaps++;
    analysis->stats->gaps++;
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
    analysis->gaps_at = calloc(threads + 1, sizeof *analysis->gaps_at);
    analysis->thread_of_object = calloc(count + 1, sizeof *analysis->thread_of_object);
    if (!stats->threads || !analysis->gaps_at || !analysis->thread_of_object)
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

static enum extract_code analyze_view(struct analysis *analysis, const struct extract_view *view,
                                      struct extract_error *error)
{
    struct extract_stats *stats = analysis->stats;
    const struct schedule_observer observer = {.context = analysis,
                                               .event = add_event,
                                               .entry = add_entry,
                                               .gap = add_gap,
                                               .step = add_step,
                                               .owned = set_owner,
                                               .switched = add_switch};
    struct extract_schedule_sink sink = analysis_sink;

    sink.context = analysis;
    analysis->end = filter_end(view);
    enum extract_code code = schedule_walk(view, analysis->trace, &sink, &observer, error);
    if (code)
        return code;
    extract_inversions_end(&analysis->inversions);
    for (size_t i = 0; i < stats->thread_count; i++) {
        struct extract_thread_stats *thread = thread_at(analysis, i);
        if (thread->priority_low == EXTRACT_NO_PRIORITY && !analysis->gaps)
            note_priority(thread, thread->last_priority != EXTRACT_NO_PRIORITY
                                      ? thread->last_priority
                                      : thread->thread->priority);
    }
    stats->inversions_deterministic = analysis->inversions.deterministic;
    stats->inversions_undeterministic = analysis->inversions.undeterministic;
    services_end(analysis);
    stats->knows_time_slices = stats->has_loads && (stats->core_count <= 1 || !stats->time_slices);
    if (!stats->time_slices) // no event is for one
        stats->time_slices = stats->switches[EXTRACT_SWITCH_TIME_SLICED];
    stats->has_switch_kinds =
        stats->has_waits || stats->context_switches != stats->switches[EXTRACT_SWITCH_OTHER] +
                                                           stats->switches[EXTRACT_SWITCH_UNKNOWN];
    if (stats->has_tracex)
        end_as_tracex(analysis);
    figures_end(analysis);
    times_end(analysis);
    lists_end(analysis);
    if (analysis->modes) {
        modes_end(analysis);
        processes_end(analysis);
        locks_end(analysis);
    }
    return analysis->failed
               ? extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory")
               : EXTRACT_OK;
}

// Allocates what the walk needs. Returns false if memory is short.
static bool prepare(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;

    if (!prepare_threads(analysis) || !services_begin(analysis) || !figures_begin(analysis) ||
        !extract_map_init(&analysis->interrupt_of_number[0], 16) ||
        !extract_map_init(&analysis->interrupt_of_number[1], 16) ||
        !extract_map_init(&analysis->wait_of_key, 16) ||
        !extract_map_init(&analysis->level_of_object, 16))
        return false;
    analysis->times = calloc(stats->thread_count + 1, sizeof *analysis->times);
    stats->cores = calloc(analysis->core_count, sizeof *stats->cores);
    if (!analysis->times || !stats->cores)
        return false;
    for (size_t i = 0; i < stats->thread_count; i++)
        analysis->times[i].stored = EXTRACT_NO_PRIORITY;
    for (; stats->core_count < analysis->core_count; stats->core_count++) {
        uint64_t *ticks = calloc(stats->thread_count + 1, sizeof *ticks);
        if (!ticks)
            return false;
        stats->cores[stats->core_count].thread_ticks = ticks;
    }
    return !stats->has_modes ||
           (modes_begin(analysis) && processes_begin(analysis) && locks_begin(analysis));
}

static void analysis_free(struct analysis *analysis)
{
    for (size_t i = 0; analysis->times && i < analysis->stats->thread_count; i++) {
        distribution_free(&analysis->times[i].latency);
        distribution_free(&analysis->times[i].response);
        distribution_free(&analysis->times[i].period);
    }
    for (size_t i = 0; i < analysis->duration_count; i++)
        distribution_free(&analysis->durations[i].duration);
    free(analysis->durations);
    free(analysis->times);
    services_free(analysis);
    modes_free(analysis);
    processes_free(analysis);
    locks_free(analysis);
    free(analysis->thread_of_object);
    free(analysis->gaps_at);
    extract_map_free(&analysis->interrupt_of_number[0]);
    extract_map_free(&analysis->interrupt_of_number[1]);
    extract_map_free(&analysis->wait_of_key);
    extract_map_free(&analysis->level_of_object);
    free(analysis);
}

enum extract_code extract_stats_new(struct extract_stats **stats, const struct extract_view *view,
                                    const struct extract_trace *trace, struct extract_error *error)
{
    unsigned cores = extract_trace_info(trace)->cores;
    struct analysis *analysis = calloc(1, sizeof *analysis);
    struct extract_stats *result = calloc(1, sizeof *result);
    enum extract_code code = EXTRACT_NOMEM;

    *stats = NULL;
    if (analysis && result) {
        analysis->stats = result;
        analysis->trace = trace;
        analysis->format = extract_trace_snapshot(trace)->ring.format;
        analysis->core_count = cores ? cores : 1;
        analysis->has_one_registry = !trace->snapshots && trace->epoch_count <= 1;
        result->has_loads = extract_trace_shows_schedule(trace);
        result->has_waits = schedule_shows_waits(trace);
        result->span_is_minimum = extract_info_span_is_minimum(&trace->info);
        result->likely_modulus = trace->info.clock.likely_modulus;
        result->modulus_above = trace->info.clock.turns ? trace->info.clock.above : 0;
        result->clock_is_still = trace->info.clock.is_still;
        result->has_modes =
            result->has_loads && extract_trace_snapshot(trace)->ring.hook_roles != NULL;
        result->has_inversions = cores <= 1 && result->has_waits &&
                                 trace->priority_order != EXTRACT_PRIORITY_ORDER_UNKNOWN;
        result->has_tracex = result->has_loads && cores <= 1 && analysis->format->kernel->roles;
        code = prepare(analysis)
                   ? analyze_view(analysis, view, error)
                   : extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory");
        analysis_free(analysis);
    } else {
        extract_error_set(error, EXTRACT_NOMEM, "statistics", NULL, "out of memory");
        free(analysis);
    }
    if (code)
        extract_stats_free(result);
    else
        *stats = result;
    return code;
}

void extract_stats_free(struct extract_stats *stats)
{
    if (!stats)
        return;
    for (size_t i = 0; i < stats->core_count; i++) {
        free(stats->cores[i].thread_ticks);
        free(stats->cores[i].thread_dispatches);
    }
    for (size_t i = 0; i < stats->process_count; i++)
        free(stats->processes[i].name);
    free(stats->cores);
    for (size_t i = 0; i < stats->thread_count; i++)
        free(stats->threads[i].services);
    free(stats->threads);
    free(stats->services);
    free(stats->figures);
    free(stats->interrupt_list);
    free(stats->waits);
    free(stats->levels);
    free(stats->inversions);
    free(stats->processes);
    free(stats->syscalls);
    for (size_t i = 0; i < stats->lock_count; i++) {
        free(stats->locks[i].users);
        free(stats->locks[i].functions);
    }
    free(stats->locks);
    free(stats);
}
