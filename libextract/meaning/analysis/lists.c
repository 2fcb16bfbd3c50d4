// SPDX-License-Identifier: MIT
// analysis: what the statistics list by interrupt, by object and by inversion. In: events, what had
// a core after them, and waits. Out: durations of interrupts, times of waits, levels of queues and
// pools, and priority inversions.
#include "analysis/analysis_room.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

// ---- interrupts ----

// Returns the index of an interrupt, which it adds if needed; SIZE_MAX: out of memory.
static size_t find_interrupt(struct analysis *analysis, uint64_t number, bool is_second_level)
{
    struct extract_stats *stats = analysis->stats;
    size_t recent = analysis->recent_interrupt;

    if (recent < stats->interrupt_count && stats->interrupt_list[recent].number == number &&
        stats->interrupt_list[recent].is_second_level == is_second_level)
        return recent;
    uint32_t *index = extract_map_at(&analysis->interrupt_of_number[is_second_level], number);
    if (index && *index)
        return analysis->recent_interrupt = *index - 1;
    struct extract_interrupt_stats *list =
        index ? extract_grow(stats->interrupt_list, &analysis->interrupt_capacity,
                             stats->interrupt_count, sizeof *list)
              : NULL;
    struct interrupt_times *durations =
        list ? extract_grow(analysis->durations, &analysis->duration_capacity,
                            analysis->duration_count, sizeof *durations)
             : NULL;
    if (list)
        stats->interrupt_list = list;
    if (!durations) {
        analysis->failed = true;
        return SIZE_MAX;
    }
    analysis->durations = durations;
    durations[analysis->duration_count++] = (struct interrupt_times){.has_newest = false};
    list[stats->interrupt_count++] =
        (struct extract_interrupt_stats){.number = number, .is_second_level = is_second_level};
    *index = (uint32_t)stats->interrupt_count;
    return stats->interrupt_count - 1;
}

static void enter_interrupt(struct analysis *analysis, struct core_times *core,
                            const struct extract_event *event,
                            const struct extract_role_fields *role)
{
    uint64_t number = extract_role_field(event, role->number);
    bool is_listed = analysis->is_in_range && role->number;

    if (core->depth < MAX_NESTING)
        core->open[core->depth] =
            (struct open_interrupt){number, event->ticks, role->number, role->second_level};
    core->depth++;
    size_t i = is_listed ? find_interrupt(analysis, number, role->second_level) : SIZE_MAX;
    if (i == SIZE_MAX)
        return;
    struct extract_interrupt_stats *interrupt = &analysis->stats->interrupt_list[i];
    struct interrupt_times *times = &analysis->durations[i];
    interrupt->count++;
    if (times->has_newest && event->ticks >= times->newest) {
        interrupt->periods++;
        interrupt->period_ticks += event->ticks - times->newest;
    }
    times->newest = event->ticks;
    times->has_newest = true;
}

static void exit_interrupt(struct analysis *analysis, struct core_times *core,
                           const struct extract_event *event)
{
    if (!core->depth || --core->depth >= MAX_NESTING)
        return;
    const struct open_interrupt *open = &core->open[core->depth];
    size_t i = analysis->is_in_range && open->has_number
                   ? find_interrupt(analysis, open->number, open->is_second_level)
                   : SIZE_MAX;
    if (i != SIZE_MAX && event->ticks >= open->from &&
        !distribution_add(&analysis->durations[i].duration, event->ticks - open->from))
        analysis->failed = true;
}

// ---- levels ----

// Returns the levels of a queue or pool, which it adds if needed; NULL: out of memory.
static struct extract_level_stats *find_level(struct analysis *analysis, uint64_t address,
                                              bool is_queue)
{
    struct extract_stats *stats = analysis->stats;
    uint32_t *recent = &analysis->recent_levels[(address >> 4 ^ address >> 6) % RECENT_LEVELS];

    if (*recent && stats->levels[*recent - 1].address == address)
        return &stats->levels[*recent - 1];
    uint32_t *index = extract_map_at(&analysis->level_of_object, address);
    if (!index)
        return NULL;
    if (!*index) {
        struct extract_level_stats *grown = extract_grow(stats->levels, &analysis->level_capacity,
                                                         stats->level_count, sizeof *grown);
        if (!grown)
            return NULL;
        stats->levels = grown;
        grown[stats->level_count++] =
            (struct extract_level_stats){.object = extract_trace_object(analysis->trace, address),
                                         .address = address,
                                         .fewest_left = UINT64_MAX,
                                         .is_queue = is_queue};
        *index = (uint32_t)stats->level_count;
    }
    *recent = *index;
    return &stats->levels[*index - 1];
}

static void note_level(struct analysis *analysis, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    uint64_t address = extract_role_field(event, role->object);

    if (!address)
        return;
    struct extract_level_stats *level = find_level(analysis, address, role->queued != 0);
    if (!level) {
        analysis->failed = true;
        return;
    }
    uint8_t queued = role->most ? role->most : role->queued;
    uint64_t value = extract_role_field(event, level->is_queue ? queued : role->left);
    if (level->is_queue && value > level->most_queued)
        level->most_queued = value;
    if (!level->is_queue && value < level->fewest_left)
        level->fewest_left = value;
}

// ---- waits ----

// Returns the statistics of waits for an object that has a certain holder, which it adds if needed;
// NULL: out of memory.
static struct extract_wait_stats *find_wait(struct analysis *analysis,
                                            const struct extract_state *state)
{
    struct extract_stats *stats = analysis->stats;
    uint64_t holder = state->holder_in_isr ? ~state->holder_isr : state->holder;
    uint64_t key = state->object ^ holder << 32 ^ holder >> 32;

    for (;; key++) {
        uint32_t *index = extract_map_at(&analysis->wait_of_key, key);
        if (!index)
            return NULL;
        if (*index) { // another pair may have the same key
            struct extract_wait_stats *wait = &stats->waits[*index - 1];
            if (wait->object_address == state->object && wait->holder_address == state->holder &&
                wait->wait == state->wait && wait->holder_in_isr == state->holder_in_isr &&
                wait->holder_isr_known == state->holder_isr_known &&
                wait->holder_isr == state->holder_isr)
                return wait;
            continue;
        }
        struct extract_wait_stats *grown =
            extract_grow(stats->waits, &analysis->wait_capacity, stats->wait_count, sizeof *grown);
        if (!grown)
            return NULL;
        stats->waits = grown;
        grown[stats->wait_count] = (struct extract_wait_stats){
            .object = extract_trace_object(analysis->trace, state->object),
            .holder = extract_trace_thread_at(analysis->trace, state->holder, analysis->seq),
            .object_address = state->object,
            .holder_address = state->holder,
            .holder_isr = state->holder_isr,
            .holder_in_isr = state->holder_in_isr,
            .holder_isr_known = state->holder_isr_known,
            .wait = state->wait};
        *index = (uint32_t)++stats->wait_count;
        return &grown[stats->wait_count - 1];
    }
}

void lists_add_wait(struct analysis *analysis, const struct extract_state *state)
{
    struct extract_wait_stats *wait = find_wait(analysis, state);
    uint64_t ticks = state->to - state->from;

    if (!wait) {
        analysis->failed = true;
        return;
    }
    wait->count++;
    wait->ticks += ticks;
    wait->most = ticks > wait->most ? ticks : wait->most;
}

// ---- inversions ----

// Returns the thread that an event is about.
static uint64_t thread_of(const struct extract_event *event, const struct extract_role_fields *role)
{
    return role->thread                       ? extract_role_field(event, role->thread)
           : event->context == EXTRACT_THREAD ? event->thread
                                              : 0;
}

// Notes that a thread waits for a mutex: that of its newest call, unless the event states it.
static void begin_wait(struct analysis *analysis, const struct extract_event *event,
                       const struct extract_role_fields *role)
{
    uint64_t thread = thread_of(event, role);
    size_t i = analysis_thread(analysis, thread);
    struct extract_inversion inversion = {
        .from = event->ticks, .from_seq = event->seq, .waiter = thread};

    if (role->owner) {
        inversion.holder = extract_role_field(event, role->owner);
        inversion.mutex = extract_role_field(event, role->object);
    } else if (i != SIZE_MAX) {
        inversion.holder = analysis->times[i].holder;
        inversion.mutex = analysis->times[i].mutex;
    }
    if (!inversion.holder || analysis_priority(analysis, thread) == EXTRACT_NO_PRIORITY ||
        analysis->open_wait_count == MAX_OPEN_WAITS)
        analysis->stats->inversions_unsure++;
    else
        analysis->open_waits[analysis->open_wait_count++] =
            (struct open_wait){.owner = inversion.holder, .inversion = inversion};
}

// Keeps an inversion if it is one of the longest.
static void add_inversion(struct analysis *analysis, const struct extract_inversion *inversion)
{
    struct extract_stats *stats = analysis->stats;
    struct extract_inversion *list = stats->inversions;

    if (!list)
        list = stats->inversions = calloc(MAX_INVERSIONS, sizeof *list);
    if (!list) {
        analysis->failed = true;
        return;
    }
    stats->inversion_count++;
    if (stats->inversion_list_count < MAX_INVERSIONS) {
        list[stats->inversion_list_count++] = *inversion;
        return;
    }
    size_t shortest = 0;
    for (size_t i = 1; i < MAX_INVERSIONS; i++)
        shortest = list[i].ticks < list[shortest].ticks ? i : shortest;
    if (inversion->ticks <= list[shortest].ticks)
        return;
    memmove(&list[shortest], &list[shortest + 1], (MAX_INVERSIONS - shortest - 1) * sizeof *list);
    list[MAX_INVERSIONS - 1] = *inversion;
}

// Adds an inversion with the names that its threads have now.
static void name_inversion(struct analysis *analysis, struct extract_inversion *inversion)
{
    const struct extract_trace *trace = analysis->trace;

    inversion->waiter_object = extract_trace_thread_at(trace, inversion->waiter, analysis->seq);
    inversion->holder_object = extract_trace_thread_at(trace, inversion->holder, analysis->seq);
    inversion->third_object = extract_trace_thread_at(trace, inversion->third, analysis->seq);
    inversion->mutex_object = extract_trace_object(trace, inversion->mutex);
    add_inversion(analysis, inversion);
}

// Ends the i-th wait, in which there was an inversion or not.
static void close_wait(struct analysis *analysis, size_t i, uint64_t ticks, uint64_t seq)
{
    struct open_wait wait = analysis->open_waits[i];

    analysis->open_waits[i] = analysis->open_waits[--analysis->open_wait_count];
    wait.inversion.to = ticks;
    wait.inversion.to_seq = seq;
    wait.inversion.is_least = wait.is_unsure;
    if (wait.inversion.ticks)
        name_inversion(analysis, &wait.inversion);
    else
        analysis->stats->inversions_unsure += wait.is_unsure;
}

static void end_wait(struct analysis *analysis, const struct extract_event *event, uint64_t thread)
{
    for (size_t i = 0; i < analysis->open_wait_count; i++)
        if (analysis->open_waits[i].inversion.waiter == thread) {
            close_wait(analysis, i, event->ticks, event->seq);
            return;
        }
}

// Returns whether a priority is known to be as urgent as that of a thread that waits, or more.
static bool is_as_urgent(const struct extract_trace *trace, uint16_t priority, uint16_t waiter)
{
    return priority != EXTRACT_NO_PRIORITY && waiter != EXTRACT_NO_PRIORITY &&
           extract_trace_urgency(trace, priority) <= extract_trace_urgency(trace, waiter);
}

void lists_set_owner(struct analysis *analysis, uint64_t mutex, uint64_t owner, bool is_certain)
{
    for (size_t i = 0; i < analysis->open_wait_count; i++) {
        struct open_wait *wait = &analysis->open_waits[i];
        if (wait->inversion.mutex != mutex)
            continue;
        wait->owner = owner;
        wait->is_unsure |= !is_certain;
    }
}

void lists_add_step(struct analysis *analysis, const struct schedule_step *step)
{
    const struct extract_interval *interval = &step->interval;
    uint64_t ticks = interval->to - interval->from;

    if (interval->runner == EXTRACT_RUNNER_ISR && interval->isr_known) {
        const struct core_times *core = &analysis->cores[interval->core];
        size_t i = find_interrupt(analysis, interval->isr,
                                  core->depth && core->depth <= MAX_NESTING &&
                                      core->open[core->depth - 1].is_second_level);
        if (i != SIZE_MAX)
            analysis->stats->interrupt_list[i].ticks += ticks;
    }
    bool is_unknown = interval->runner == EXTRACT_RUNNER_UNKNOWN || interval->is_unsure;
    for (size_t i = 0; is_unknown && i < analysis->open_wait_count; i++)
        analysis->open_waits[i].is_unsure = true;
    if (!analysis->open_wait_count || is_unknown || interval->runner != EXTRACT_RUNNER_THREAD)
        return;
    const struct extract_trace *trace = analysis->trace;
    uint16_t priority = analysis_priority(analysis, interval->thread);
    for (size_t i = 0; i < analysis->open_wait_count; i++) {
        struct open_wait *wait = &analysis->open_waits[i];
        if (!wait->owner || interval->thread == wait->owner ||
            interval->thread == wait->inversion.waiter)
            continue;
        uint16_t owner = analysis_priority(analysis, wait->owner);
        uint16_t waiter = analysis_priority(analysis, wait->inversion.waiter);
        if (is_as_urgent(trace, owner, waiter) || is_as_urgent(trace, priority, waiter))
            continue;
        if (priority == EXTRACT_NO_PRIORITY || owner == EXTRACT_NO_PRIORITY ||
            waiter == EXTRACT_NO_PRIORITY) {
            wait->is_unsure = true;
            continue;
        }
        wait->inversion.ticks += ticks;
        if (ticks > wait->third_ticks) {
            wait->third_ticks = ticks;
            wait->inversion.third = interval->thread;
            wait->inversion.holder = wait->owner;
        }
    }
}

// ---- events ----

// Returns whether a suspension begins a wait for a mutex, or a resumption may end one.
static bool is_mutex_wait(const struct extract_event *event, const struct extract_role_fields *role)
{
    return role->state ? extract_role_field(event, role->state) == EXTRACT_WAIT_MUTEX
           : role->role == EXTRACT_ROLE_SUSPEND ? role->begins == EXTRACT_WAIT_MUTEX
                                                : true;
}

void lists_add_role(struct analysis *analysis, const struct extract_event *event,
                    const struct extract_role_fields *role)
{
    struct core_times *core = &analysis->cores[event->core];
    size_t i;

    switch (role->role) {
    case EXTRACT_ROLE_ISR_ENTER:
        enter_interrupt(analysis, core, event, role);
        break;
    case EXTRACT_ROLE_ISR_EXIT:
        exit_interrupt(analysis, core, event);
        break;
    case EXTRACT_ROLE_ISR_RETURN:
        while (core->depth)
            exit_interrupt(analysis, core, event);
        break;
    case EXTRACT_ROLE_MUTEX_GET:
        i = event->context == EXTRACT_THREAD ? analysis_thread(analysis, event->thread) : SIZE_MAX;
        if (i != SIZE_MAX) {
            analysis->times[i].mutex = extract_role_field(event, role->object);
            analysis->times[i].holder = extract_role_field(event, role->owner);
        }
        break;
    case EXTRACT_ROLE_SUSPEND:
        if (analysis->is_in_range && analysis->stats->has_inversions && is_mutex_wait(event, role))
            begin_wait(analysis, event, role);
        break;
    case EXTRACT_ROLE_RESUME:
        if (analysis->open_wait_count && is_mutex_wait(event, role))
            end_wait(analysis, event, thread_of(event, role));
        break;
    case EXTRACT_ROLE_DELETE:
    case EXTRACT_ROLE_TERMINATE:
    case EXTRACT_ROLE_ABORT:
        end_wait(analysis, event, thread_of(event, role));
        break;
    default:
        break;
    }
    if ((role->queued || role->left) && analysis->is_in_range)
        note_level(analysis, event, role);
}

void lists_add_gap(struct analysis *analysis)
{
    uint64_t end = analysis->ticks < analysis->end ? analysis->ticks : analysis->end;

    while (analysis->open_wait_count)
        close_wait(analysis, 0, end, analysis->seq);
    for (unsigned i = 0; i < analysis->core_count; i++)
        analysis->cores[i].depth = 0;
    for (size_t i = 0; i < analysis->duration_count; i++)
        analysis->durations[i].has_newest = false;
}

// ---- the end ----

static int compare_waits(const void *a, const void *b)
{
    const struct extract_wait_stats *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->object_address > y->object_address) - (x->object_address < y->object_address);
}

static int compare_interrupts(const void *a, const void *b)
{
    const struct extract_interrupt_stats *x = a, *y = b;

    if (x->ticks != y->ticks)
        return x->ticks < y->ticks ? 1 : -1;
    return (x->number > y->number) - (x->number < y->number);
}

void lists_end(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;
    uint64_t end = analysis->ticks < analysis->end ? analysis->ticks : analysis->end;

    while (analysis->open_wait_count)
        close_wait(analysis, 0, end, analysis->seq);
    for (size_t i = 0; i < stats->interrupt_count; i++)
        stats->interrupt_list[i].duration = distribution_result(&analysis->durations[i].duration);
    if (stats->interrupt_count)
        qsort(stats->interrupt_list, stats->interrupt_count, sizeof *stats->interrupt_list,
              compare_interrupts);
    if (stats->wait_count)
        qsort(stats->waits, stats->wait_count, sizeof *stats->waits, compare_waits);
}
