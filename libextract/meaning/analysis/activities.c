// SPDX-License-Identifier: MIT
// analysis: finds the activities of a trace in two walks.
//
//   first walk    responses, holds and interrupts begin: their number, the gaps between them, what
//                 made them begin, and samples of them
//   second walk   the history of the samples; each sample is explained as a chain of segments, of
//                 which the cost and the delays by other threads are taken
//
// Interrupts need no samples: they are measured in the first walk.
#include "analysis/activities.h"
#include "base/grow.h"
#include <string.h>

enum { PRIORITIES = 4 };

struct finder {
    struct activities *result;
    struct extract_map thread_of_address, mutex_of_address; // index + 1
    struct extract_map response_of_thread, hold_of_pair;    // index of the activity + 1
    struct extract_map interrupt_of_number[2], cause_of_pair;
    size_t mutex_count, capacity, cause_capacity;
    // How many events of a thread stated each of a few priorities.
    struct priority_counts {
        uint16_t priority[PRIORITIES];
        uint64_t count[PRIORITIES];
    } * priorities;
    // Interrupts that have begun, by core: indexes of activities + 1; 0: left out.
    struct open_interrupts {
        uint32_t activity[MAX_NESTING];
        unsigned depth;
    } * open;
    uint64_t random;
    bool failed; // out of memory
};

// ---- the list ----

// Returns an activity by its place in a map, and adds it if needed. NULL: there are too many, or
// memory is short. The pointer is valid until another one is added.
static struct activity *activity_at(struct finder *finder, struct extract_map *map, uint64_t key,
                                    const struct activity *added)
{
    struct activities *result = finder->result;
    uint32_t *index = extract_map_at(map, key);

    if (index && *index)
        return &result->list[*index - 1];
    if (index && result->count == MAX_ACTIVITIES) {
        result->is_cut = true;
        return NULL;
    }
    struct activity *grown =
        index ? extract_grow(result->list, &finder->capacity, result->count, sizeof *grown) : NULL;
    if (!grown) {
        finder->failed = true;
        return NULL;
    }
    result->list = grown;
    grown[result->count] = *added;
    *index = (uint32_t)++result->count;
    return &grown[result->count - 1];
}

static struct activity *response_of(struct finder *finder, uint64_t thread)
{
    const struct activity added = {.kind = EXTRACT_ACTIVITY_RESPONSE, .thread = thread};

    return activity_at(finder, &finder->response_of_thread, thread, &added);
}

static struct activity *hold_of(struct finder *finder, uint64_t thread, uint64_t mutex)
{
    const struct activity added = {
        .kind = EXTRACT_ACTIVITY_HOLD, .thread = thread, .object = mutex};
    uint32_t t = extract_map_get(&finder->thread_of_address, thread);
    uint32_t *m = extract_map_at(&finder->mutex_of_address, mutex);

    if (m && !*m)
        *m = (uint32_t)++finder->mutex_count;
    finder->failed |= !m;
    return t && m ? activity_at(finder, &finder->hold_of_pair, (uint64_t)t << 32 | *m, &added)
                  : NULL;
}

static struct activity *interrupt_of(struct finder *finder, uint64_t number, bool has_number,
                                     bool is_second_level)
{
    const struct activity added = {.kind = EXTRACT_ACTIVITY_INTERRUPT,
                                   .object = number,
                                   .has_number = has_number,
                                   .is_second_level = is_second_level};

    // All interrupts without a number are one activity.
    return activity_at(finder, &finder->interrupt_of_number[is_second_level],
                       has_number ? number : UINT64_MAX, &added);
}

// ---- samples ----

static uint64_t next_random(struct finder *finder)
{
    finder->random ^= finder->random << 13;
    finder->random ^= finder->random >> 7;
    finder->random ^= finder->random << 17;
    return finder->random;
}

// Counts one more of an activity, and keeps it as a sample: of those so far, each is kept with the
// same probability.
static void add_sample(struct finder *finder, struct activity *activity, uint64_t from, uint64_t to)
{
    uint64_t place = activity->count++;

    if (activity->has_begun && from >= activity->begin)
        moments_add(&activity->gap, (double)(from - activity->begin));
    activity->begin = from;
    activity->has_begun = true;
    if (!activity->samples)
        activity->samples = calloc(ACTIVITY_SAMPLES, sizeof *activity->samples);
    if (!activity->samples) {
        finder->failed = true;
        return;
    }
    if (place >= ACTIVITY_SAMPLES)
        place = next_random(finder) % (place + 1);
    if (place < ACTIVITY_SAMPLES)
        activity->samples[place] = (struct history_window){from, to};
}

// ---- the first walk ----

static void add_response(void *context, const struct extract_response *response)
{
    struct finder *finder = context;
    struct activity *activity = response_of(finder, response->thread);

    if (activity)
        add_sample(finder, activity, response->from, response->to);
}

static void add_owner(void *context, const struct extract_ownership *owner)
{
    struct finder *finder = context;
    struct activity *activity = owner->thread ? hold_of(finder, owner->thread, owner->mutex) : NULL;

    if (activity)
        add_sample(finder, activity, owner->from, owner->to);
}

// Counts that one activity made another one begin.
static void add_cause(struct finder *finder, size_t activity, size_t by)
{
    struct activities *result = finder->result;
    uint32_t *index = extract_map_at(&finder->cause_of_pair, (uint64_t)activity << 32 | by);

    if (index && !*index) {
        struct activity_cause *grown = extract_grow(result->causes, &finder->cause_capacity,
                                                    result->cause_count, sizeof *grown);
        if (grown) {
            result->causes = grown;
            grown[result->cause_count] = (struct activity_cause){.activity = activity, .by = by};
            *index = (uint32_t)++result->cause_count;
        }
    }
    if (index && *index)
        result->causes[*index - 1].count++;
    else
        finder->failed = true;
}

// Notes what made a thread ready: another thread, or an interrupt. Sleeps and timeouts are the
// thread's own.
static void add_wake(void *context, const struct extract_wake *wake)
{
    struct finder *finder = context;
    const struct activities *result = finder->result;

    if (wake->reason != EXTRACT_WAKE_SERVICE || wake->is_likely || (!wake->in_isr && !wake->by))
        return;
    const struct activity *cause = wake->in_isr
                                       ? interrupt_of(finder, wake->isr, wake->isr_known, false)
                                       : response_of(finder, wake->by);
    if (!cause)
        return;
    size_t by = (size_t)(cause - result->list);
    struct activity *activity = response_of(finder, wake->thread);
    if (!activity)
        return;
    size_t index = (size_t)(activity - result->list);
    activity->caused += index != by;
    add_cause(finder, index, by);
}

static void note_priority(struct finder *finder, uint64_t thread, uint16_t priority)
{
    uint32_t i = extract_map_get(&finder->thread_of_address, thread);
    unsigned k = 0;

    if (!i || i > finder->result->thread_count || priority == EXTRACT_NO_PRIORITY)
        return;
    struct priority_counts *counts = &finder->priorities[i - 1];
    while (k < PRIORITIES && counts->count[k] && counts->priority[k] != priority)
        k++;
    if (k == PRIORITIES)
        return;
    counts->priority[k] = priority;
    counts->count[k]++;
}

static void begin_interrupt(struct finder *finder, struct open_interrupts *open,
                            const struct extract_event *event,
                            const struct extract_role_fields *role)
{
    struct activity *activity = interrupt_of(finder, extract_role_field(event, role->number),
                                             role->number != 0, role->second_level);
    uint32_t index = 0;

    if (activity) {
        if (activity->has_begun) {
            moments_add(&activity->cost, (double)activity->ticks);
            if (event->ticks >= activity->begin)
                moments_add(&activity->gap, (double)(event->ticks - activity->begin));
        }
        activity->count++;
        activity->begin = event->ticks;
        activity->ticks = 0;
        activity->has_begun = true;
        index = (uint32_t)(activity - finder->result->list) + 1;
    }
    if (open->depth < MAX_NESTING)
        open->activity[open->depth++] = index;
}

static void add_event(void *context, const struct extract_event *event,
                      const struct extract_role_fields *role, uint8_t standing)
{
    struct finder *finder = context;
    struct open_interrupts *open = &finder->open[event->core];

    (void)standing; // there is no view
    if (event->context == EXTRACT_THREAD)
        note_priority(finder, event->thread, event->priority);
    if (event->context != EXTRACT_ISR || role->role == EXTRACT_ROLE_ISR_RETURN)
        open->depth = 0;
    else if (role->role == EXTRACT_ROLE_ISR_ENTER)
        begin_interrupt(finder, open, event, role);
    else if (role->role == EXTRACT_ROLE_ISR_EXIT && open->depth)
        open->depth--;
}

// Adds the time that the innermost interrupt of a core had it.
static void add_step(void *context, const struct schedule_step *step)
{
    struct finder *finder = context;
    const struct extract_interval *interval = &step->interval;
    const struct open_interrupts *open = &finder->open[interval->core];
    uint32_t index = open->depth ? open->activity[open->depth - 1] : 0;

    if (interval->runner == EXTRACT_RUNNER_ISR && index)
        finder->result->list[index - 1].ticks += interval->to - interval->from;
}

static void add_gap(void *context, const struct extract_event *marker)
{
    struct finder *finder = context;

    (void)marker;
    for (size_t i = 0; i < finder->result->count; i++)
        finder->result->list[i].has_begun = false;
    for (unsigned i = 0; i < MAX_CORES; i++)
        finder->open[i].depth = 0;
}

static enum extract_code no_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "activities", NULL, "out of memory");
}

static int compare_causes(const void *a, const void *b)
{
    const struct activity_cause *x = a, *y = b;

    if (x->activity != y->activity)
        return x->activity < y->activity ? -1 : 1;
    return (x->by > y->by) - (x->by < y->by);
}

// Sorts the causes, so that those of one activity follow each other.
static void sort_causes(struct activities *result)
{
    if (result->cause_count)
        qsort(result->causes, result->cause_count, sizeof *result->causes, compare_causes);
    for (size_t i = result->cause_count; i; i--)
        result->list[result->causes[i - 1].activity].first_cause = i - 1;
}

static enum extract_code begin_activities(struct finder *finder, struct extract_error *error)
{
    const struct extract_schedule_sink sink = {
        .context = finder, .wake = add_wake, .owner = add_owner, .response = add_response};
    const struct schedule_observer observer = {
        .context = finder, .event = add_event, .gap = add_gap, .step = add_step};
    struct activities *result = finder->result;
    enum extract_code code = schedule_check(result->trace, error);

    if (!code)
        code = schedule_walk(NULL, result->trace, &sink, &observer, error);
    sort_causes(result);
    for (size_t i = 0; i < result->count; i++) {
        struct activity *activity = &result->list[i];
        if (activity->kind == EXTRACT_ACTIVITY_INTERRUPT && activity->has_begun)
            moments_add(&activity->cost, (double)activity->ticks);
    }
    for (size_t i = 0; i < result->thread_count; i++) {
        const struct priority_counts *counts = &finder->priorities[i];
        unsigned most = 0;
        for (unsigned k = 1; k < PRIORITIES; k++)
            most = counts->count[k] > counts->count[most] ? k : most;
        result->threads[i].priority =
            counts->count[most] ? counts->priority[most] : EXTRACT_NO_PRIORITY;
        result->threads[i].has_other_priorities = counts->count[1] != 0;
    }
    return !code && finder->failed ? no_memory(error) : code;
}

// ---- the second walk ----

// The mutexes that each thread held, in the windows of the samples.
struct holds {
    struct extract_ownership *list; // by thread and time
    size_t count;
};

static int compare_holds(const void *a, const void *b)
{
    const struct extract_ownership *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    return (x->from > y->from) - (x->from < y->from);
}

static bool copy_holds(struct holds *holds, const struct history *history)
{
    holds->list = calloc(history->owner_count + 1, sizeof *holds->list);
    if (!holds->list)
        return false;
    for (size_t i = 0; i < history->owner_count; i++)
        if (history->owners[i].thread)
            holds->list[holds->count++] = history->owners[i];
    if (holds->count)
        qsort(holds->list, holds->count, sizeof *holds->list, compare_holds);
    return true;
}

// Returns the first hold of a thread.
static size_t first_hold(const struct holds *holds, uint64_t thread)
{
    size_t low = 0;

    for (size_t high = holds->count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (holds->list[middle].thread < thread)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Returns how long a thread held no mutex between two times, apart from those that it got before
// `since`.
static uint64_t time_without(const struct holds *holds, uint64_t thread, uint64_t from, uint64_t to,
                             uint64_t since)
{
    uint64_t free = 0, at = from;

    for (size_t i = first_hold(holds, thread);
         at < to && i < holds->count && holds->list[i].thread == thread; i++) {
        const struct extract_ownership *hold = &holds->list[i];
        if (hold->from >= to)
            break;
        if (hold->to <= at || hold->from < since)
            continue;
        free += hold->from > at ? hold->from - at : 0;
        at = hold->to;
    }
    return free + (at < to ? to - at : 0);
}

// Returns the cost of a sample by its segments.
static uint64_t cost_of(const struct activity *activity, const struct extract_why *why,
                        const struct extract_chain *chain, const struct holds *holds)
{
    bool is_hold = activity->kind == EXTRACT_ACTIVITY_HOLD;
    uint64_t cost = 0;

    for (size_t i = 0; i < chain->count; i++) {
        const struct extract_segment *segment = &why->segments[chain->first + i];
        bool is_cost = segment->kind == EXTRACT_SEGMENT_RAN ||
                       (is_hold && segment->kind == EXTRACT_SEGMENT_SLEPT);
        if (!segment->depth && is_cost)
            cost += time_without(holds, activity->thread, segment->from, segment->to,
                                 is_hold ? chain->from + 1 : 0);
    }
    return cost;
}

// Adds the time that other threads had the core while this one, or the owner of a mutex that it
// waits for, could have used it.
static void add_delays(const struct finder *finder, const struct activity *activity,
                       const struct extract_why *why, const struct extract_chain *chain,
                       double weight)
{
    const struct activities *result = finder->result;
    uint32_t victim = extract_map_get(&finder->thread_of_address, activity->thread);
    uint64_t owner[16] = {activity->thread}; // by depth

    if (!result->delays || !victim || victim > result->thread_count)
        return;
    for (size_t i = 0; i < chain->count; i++) {
        const struct extract_segment *segment = &why->segments[chain->first + i];
        uint64_t thread = segment->kind == EXTRACT_SEGMENT_PREEMPTED ? segment->who
                          : segment->kind == EXTRACT_SEGMENT_RAN && segment->depth
                              ? owner[segment->depth % 16]
                              : 0;
        if (segment->kind == EXTRACT_SEGMENT_BLOCKED)
            owner[(segment->depth + 1) % 16] = segment->in_isr ? 0 : segment->who;
        uint32_t culprit = extract_map_get(&finder->thread_of_address, thread);
        if (culprit && culprit <= result->thread_count)
            result->delays[(victim - 1) * result->thread_count + culprit - 1] +=
                weight * (double)(segment->to - segment->from);
    }
}

static bool explain_samples(const struct finder *finder, const struct history *history)
{
    const struct activities *result = finder->result;
    struct extract_why why = {.segments = NULL};
    struct holds holds = {.list = NULL};
    bool is_done = copy_holds(&holds, history);

    for (size_t i = 0; i < result->count && is_done; i++) {
        struct activity *activity = &result->list[i];
        size_t samples = activity->count < ACTIVITY_SAMPLES ? activity->count : ACTIVITY_SAMPLES;
        for (size_t k = 0; activity->samples && k < samples && is_done; k++) {
            struct extract_chain chain = {.thread = activity->thread,
                                          .from = activity->samples[k].from,
                                          .to = activity->samples[k].to};
            why.segment_count = 0;
            is_done = why_add_chain(&why, history, &chain);
            moments_add(&activity->cost, (double)cost_of(activity, &why, &chain, &holds));
            if (activity->kind == EXTRACT_ACTIVITY_RESPONSE)
                add_delays(finder, activity, &why, &chain,
                           (double)activity->count / (double)samples);
        }
    }
    free(why.segments);
    free(holds.list);
    return is_done;
}

static enum extract_code measure_samples(const struct finder *finder, struct extract_error *error)
{
    const struct activities *result = finder->result;
    struct history history;
    size_t count = 0;
    struct history_window *windows = calloc(result->count * ACTIVITY_SAMPLES + 1, sizeof *windows);

    if (!windows)
        return no_memory(error);
    for (size_t i = 0; i < result->count; i++) {
        const struct activity *activity = &result->list[i];
        for (size_t k = 0; activity->samples && k < ACTIVITY_SAMPLES && k < activity->count; k++)
            windows[count++] = activity->samples[k];
    }
    enum extract_code code = history_read(&history, result->trace, windows, count, error);
    free(windows);
    if (!code && !explain_samples(finder, &history))
        code = no_memory(error);
    history_free(&history);
    return code;
}

// ---- all of it ----

// Makes the list of threads. Threads with the same address at different times are one.
static bool add_threads(struct finder *finder)
{
    struct activities *result = finder->result;
    const struct extract_object *objects;
    size_t count = extract_trace_objects(result->trace, &objects);

    result->threads = calloc(count + 1, sizeof *result->threads);
    finder->priorities = calloc(count + 1, sizeof *finder->priorities);
    if (!result->threads || !finder->priorities)
        return false;
    for (size_t i = 0; i < count; i++) {
        if (!extract_object_is_thread(&objects[i]))
            continue;
        uint32_t *index = extract_map_at(&finder->thread_of_address, objects[i].key);
        if (!index)
            return false;
        if (!*index)
            *index = (uint32_t)++result->thread_count;
        result->threads[*index - 1].object = &objects[i];
    }
    size_t n = result->thread_count;
    if (n && n <= MAX_DELAY_THREADS)
        result->delays = calloc(n * n, sizeof *result->delays);
    return !n || n > MAX_DELAY_THREADS || result->delays;
}

static bool prepare(struct finder *finder)
{
    finder->open = calloc(MAX_CORES, sizeof *finder->open);
    return finder->open && extract_map_init(&finder->thread_of_address, 64) &&
           extract_map_init(&finder->mutex_of_address, 16) &&
           extract_map_init(&finder->response_of_thread, 64) &&
           extract_map_init(&finder->hold_of_pair, 64) &&
           extract_map_init(&finder->interrupt_of_number[0], 16) &&
           extract_map_init(&finder->interrupt_of_number[1], 16) &&
           extract_map_init(&finder->cause_of_pair, 64) && add_threads(finder);
}

enum extract_code activities_find(struct activities *activities, const struct extract_trace *trace,
                                  struct extract_error *error)
{
    struct finder finder = {.result = activities, .random = UINT64_C(0x9E3779B97F4A7C15)};

    *activities = (struct activities){.trace = trace};
    enum extract_code code = prepare(&finder) ? begin_activities(&finder, error) : no_memory(error);
    if (!code)
        code = measure_samples(&finder, error);
    extract_map_free(&finder.thread_of_address);
    extract_map_free(&finder.mutex_of_address);
    extract_map_free(&finder.response_of_thread);
    extract_map_free(&finder.hold_of_pair);
    extract_map_free(&finder.interrupt_of_number[0]);
    extract_map_free(&finder.interrupt_of_number[1]);
    extract_map_free(&finder.cause_of_pair);
    free(finder.priorities);
    free(finder.open);
    return code;
}

void activities_free(struct activities *activities)
{
    for (size_t i = 0; i < activities->count; i++)
        free(activities->list[i].samples);
    free(activities->list);
    free(activities->causes);
    free(activities->threads);
    free(activities->delays);
    *activities = (struct activities){.count = 0};
}
