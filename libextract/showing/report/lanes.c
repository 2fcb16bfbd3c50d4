// SPDX-License-Identifier: MIT
// report: the lanes of a picture of the schedule (lanes.h).
#include "report/lanes.h"
#include "base/grow.h"
#include "events/event_filter.h"
#include "events/events_room.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    RANGE_CHECKS = 1 << EXTRACT_FILTER_FROM | 1 << EXTRACT_FILTER_TO | 1 << EXTRACT_FILTER_LAST
};

const char *lane_state_name(enum lane_state state)
{
    static const char *const names[LANE_STATES] = {"idle",     "running",   "ready",   "blocked",
                                                   "sleeping", "suspended", "unknown", "lost"};
    return names[state];
}

// ---- the first walk ----

// Returns the lane of a key, which it adds if needed; NULL: out of memory, or there are too many.
static struct lane *find_lane(struct lanes *lanes, enum lane_kind kind, uint64_t key)
{
    uint32_t *place = extract_map_at(&lanes->places[kind], key);

    if (place && *place)
        return *place == UINT32_MAX ? NULL : &lanes->list[*place - 1];
    if (place && lanes->count == LANES_MOST) {
        *place = UINT32_MAX;
        lanes->left_out++;
        return NULL;
    }
    struct lane *list =
        place ? extract_grow(lanes->list, &lanes->capacity, lanes->count, sizeof *list) : NULL;
    if (!list) {
        lanes->has_failed = true;
        return NULL;
    }
    lanes->list = list;
    list[lanes->count] = (struct lane){.kind = kind, .key = key, .priority = EXTRACT_NO_PRIORITY};
    *place = (uint32_t)++lanes->count;
    return &list[lanes->count - 1];
}

static void note_range(struct lanes *lanes, uint64_t from, uint64_t to)
{
    lanes->from = from < lanes->from ? from : lanes->from;
    lanes->to = to > lanes->to ? to : lanes->to;
}

static void note_interval(void *context, const struct extract_interval *interval)
{
    struct lanes *lanes = context;

    note_range(lanes, interval->from, interval->to);
    find_lane(lanes, LANE_CORE, interval->core);
    if (interval->runner == EXTRACT_RUNNER_ISR && interval->isr_known)
        find_lane(lanes, LANE_ISR, interval->isr);
}

static void note_state(void *context, const struct extract_state *state)
{
    struct lanes *lanes = context;

    note_range(lanes, state->from, state->to);
    struct lane *lane = find_lane(lanes, LANE_THREAD, state->thread);
    if (lane)
        lane->has_state = true;
}

static void note_entry(void *context, const struct extract_event *event, uint8_t standing)
{
    struct lanes *lanes = context;

    if (event->context != EXTRACT_THREAD || !event->thread || standing == EXTRACT_OUTSIDE)
        return;
    struct lane *lane = find_lane(lanes, LANE_THREAD, event->thread);
    if (!lane)
        return;
    if (event->priority != EXTRACT_NO_PRIORITY)
        lane->priority = event->priority;
}

// Notes the threads of the events that the view lets through.
static bool choose_threads(void *context, const struct extract_event *events, size_t count)
{
    struct lanes *lanes = context;

    for (size_t i = 0; i < count; i++) {
        struct lane *lane = events[i].context == EXTRACT_THREAD && events[i].thread
                                ? find_lane(lanes, LANE_THREAD, events[i].thread)
                                : NULL;
        if (lane)
            lane->is_chosen = true;
    }
    return !lanes->has_failed;
}

static int compare_lanes(const void *a, const void *b)
{
    const struct lane *x = a, *y = b;

    if (x->kind != y->kind)
        return x->kind < y->kind ? -1 : 1;
    if (x->urgency != y->urgency)
        return x->urgency < y->urgency ? -1 : 1;
    int order = x->kind == LANE_THREAD ? strcmp(x->name, y->name) : 0;
    return order ? order : (x->key > y->key) - (x->key < y->key);
}

static void name_lane(struct lanes *lanes, struct lane *lane)
{
    char number[40];
    const char *name = number;

    if (lane->kind == LANE_CORE) {
        snprintf(number, sizeof number, "core %llu", (unsigned long long)lane->key);
    } else if (lane->kind == LANE_ISR) {
        snprintf(number, sizeof number, "interrupt %llu", (unsigned long long)lane->key);
    } else {
        const struct extract_object *thread = extract_trace_thread(lanes->trace, lane->key);
        snprintf(number, sizeof number, "0x%08llx", (unsigned long long)lane->key);
        name = thread ? thread->shown : number;
        if (thread && lane->priority == EXTRACT_NO_PRIORITY)
            lane->priority = thread->priority;
    }
    lane->urgency = extract_trace_urgency(lanes->trace, lane->priority);
    lane->name = strdup(name);
    lanes->has_failed |= !lane->name;
}

// Returns whether a lane is drawn. A thread without a state in the time of the picture did not
// exist then; it is drawn only if the user asked for it.
static bool is_drawn(const struct lane *lane, bool chooses_threads)
{
    return lane->kind != LANE_THREAD || (chooses_threads ? lane->is_chosen : lane->has_state);
}

// Drops the lanes that are not drawn, names the rest, and puts them in order.
static void order_lanes(struct lanes *lanes)
{
    bool chooses_threads = lanes->view && lanes->view->checks & ~(unsigned)RANGE_CHECKS;
    size_t kept = 0;

    for (size_t i = 0; i < lanes->count; i++)
        if (is_drawn(&lanes->list[i], chooses_threads))
            lanes->list[kept++] = lanes->list[i];
    lanes->count = kept;
    for (size_t i = 0; i < kept; i++)
        name_lane(lanes, &lanes->list[i]);
    if (kept && !lanes->has_failed)
        qsort(lanes->list, kept, sizeof *lanes->list, compare_lanes);
    for (unsigned kind = 0; kind <= LANE_THREAD; kind++) {
        extract_map_free(&lanes->places[kind]);
        lanes->has_failed |= !extract_map_init(&lanes->places[kind], 64);
    }
    for (size_t i = 0; i < kept && !lanes->has_failed; i++) {
        uint32_t *place = extract_map_at(&lanes->places[lanes->list[i].kind], lanes->list[i].key);
        lanes->has_failed |= !place;
        if (place)
            *place = (uint32_t)i + 1;
    }
}

enum extract_code lanes_open(struct lanes *lanes, const struct extract_view *view,
                             const struct extract_trace *trace, struct extract_error *error)
{
    const struct extract_schedule_sink sink = {
        .context = lanes, .interval = note_interval, .state = note_state};
    const struct schedule_observer observer = {.context = lanes, .entry = note_entry};
    enum extract_code code = schedule_check(trace, error);

    *lanes = (struct lanes){.view = view, .trace = trace, .from = UINT64_MAX};
    for (unsigned kind = 0; kind <= LANE_THREAD; kind++)
        lanes->has_failed |= !extract_map_init(&lanes->places[kind], 64);
    if (!code && !lanes->has_failed)
        code = schedule_walk_times(view, trace, &sink, &observer, error);
    if (!code && !lanes->has_failed && view) {
        struct extract_view all = *view; // a thread may have no event in the time of the picture
        all.checks &= ~(unsigned)RANGE_CHECKS;
        extract_view_run(&all, &(struct extract_sink){.context = lanes, .events = choose_threads});
    }
    if (lanes->from > lanes->to)
        lanes->from = lanes->to = 0;
    if (!code && !lanes->has_failed)
        order_lanes(lanes);
    if (lanes->has_failed)
        code = extract_error_set(error, EXTRACT_NOMEM, "timeline", NULL, "out of memory");
    if (code)
        lanes_free(lanes);
    return code;
}

void lanes_free(struct lanes *lanes)
{
    for (size_t i = 0; i < lanes->count; i++)
        free(lanes->list[i].name);
    for (unsigned kind = 0; kind <= LANE_THREAD; kind++)
        extract_map_free(&lanes->places[kind]);
    free(lanes->list);
    *lanes = (struct lanes){.count = 0};
}

// ---- the second walk ----

struct lanes_walk {
    struct lanes *lanes;
    void (*put)(void *context, size_t lane, const struct lane_part *part);
    void *context;
    uint64_t newest; // time of the newest event
    bool is_lost;    // entries are missing after it
};

static void put_part(struct lanes_walk *walk, enum lane_kind kind, uint64_t key,
                     const struct lane_part *part)
{
    uint32_t place = extract_map_get(&walk->lanes->places[kind], key);

    if (place)
        walk->put(walk->context, place - 1, part);
}

static void put_interval(void *context, const struct extract_interval *interval)
{
    struct lanes_walk *walk = context;
    struct lane_part part = {.from = interval->from, .to = interval->to, .of_core = interval};

    part.state = interval->is_unsure || interval->runner == EXTRACT_RUNNER_UNKNOWN ? LANE_UNKNOWN
                 : interval->runner == EXTRACT_RUNNER_IDLE                         ? LANE_IDLE
                                                                                   : LANE_RUNNING;
    put_part(walk, LANE_CORE, interval->core, &part);
    if (interval->runner == EXTRACT_RUNNER_ISR && interval->isr_known)
        put_part(walk, LANE_ISR, interval->isr, &part);
}

static void put_state(void *context, const struct extract_state *state)
{
    struct lanes_walk *walk = context;
    static const enum lane_state states[] = {
        [EXTRACT_STATE_UNKNOWN] = LANE_UNKNOWN,     [EXTRACT_STATE_RUNNING] = LANE_RUNNING,
        [EXTRACT_STATE_READY] = LANE_READY,         [EXTRACT_STATE_BLOCKED] = LANE_BLOCKED,
        [EXTRACT_STATE_SLEEPING] = LANE_SLEEPING,   [EXTRACT_STATE_SUSPENDED] = LANE_SUSPENDED,
        [EXTRACT_STATE_COMPLETED] = LANE_SUSPENDED, [EXTRACT_STATE_TERMINATED] = LANE_SUSPENDED};
    bool is_likely = state->is_unsure && state->state != EXTRACT_STATE_BLOCKED;
    const struct lane_part part = {.from = state->from,
                                   .to = state->to,
                                   .state = is_likely ? LANE_UNKNOWN : states[state->state],
                                   .of_thread = state};

    put_part(walk, LANE_THREAD, state->thread, &part);
}

// A loss lasts from the event before it to the next one.
static void put_entry(void *context, const struct extract_event *event, uint8_t standing)
{
    struct lanes_walk *walk = context;
    const struct lane_part lost = {.from = walk->newest, .to = event->ticks, .state = LANE_LOST};

    (void)standing;
    if (walk->is_lost && lost.from < lost.to)
        walk->put(walk->context, walk->lanes->count, &lost);
    walk->is_lost = false;
    walk->newest = event->ticks > walk->newest ? event->ticks : walk->newest;
}

static void note_marker(void *context, const struct extract_event *marker, uint8_t standing)
{
    struct lanes_walk *walk = context;

    (void)standing;
    walk->is_lost |= extract_id_is_loss(marker->id);
}

enum extract_code lanes_walk(struct lanes *lanes,
                             void (*put)(void *context, size_t lane, const struct lane_part *part),
                             void *context, struct extract_error *error)
{
    struct lanes_walk walk = {.lanes = lanes, .put = put, .context = context};
    const struct extract_schedule_sink sink = {
        .context = &walk, .interval = put_interval, .state = put_state};
    const struct schedule_observer observer = {
        .context = &walk, .fills_holes = true, .entry = put_entry, .marker = note_marker};

    return schedule_walk_times(lanes->view, lanes->trace, &sink, &observer, error);
}

// ---- the axis ----

struct lanes_axis lanes_axis_choose(const struct lanes *lanes, uint64_t hz, unsigned columns,
                                    unsigned distance)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"us", 1e-6}, {"ns", 1e-9}};
    struct lanes_axis axis = {.unit = "ticks", .per_tick = 1};
    double least = (double)(lanes->to - lanes->from) * distance / columns;
    double step = hz ? 1e-9 : 1;
    size_t i = 0;

    least /= hz ? (double)hz : 1;
    while (step * 1.000001 < least) // 1, 2, 5, 10 ...
        for (int k = 0; k < 3 && step * 1.000001 < least; k++)
            step *= k == 1 ? 2.5 : 2;
    double ticks = step * (hz ? (double)hz : 1) + 0.5;
    axis.step = ticks >= 0x1p64 ? UINT64_MAX : ticks < 1 ? 1 : (uint64_t)ticks;
    if (!hz)
        return axis;
    while (i + 1 < sizeof units / sizeof *units && step < units[i].seconds)
        i++;
    axis.unit = units[i].unit;
    axis.per_tick = 1 / (units[i].seconds * (double)hz);
    return axis;
}

// Moves a time ahead. Returns false if the lanes end before.
static bool move_time(const struct lanes *lanes, uint64_t *time, uint64_t ticks)
{
    if (lanes->to - *time <= ticks)
        return false;
    *time += ticks;
    return true;
}

bool lanes_axis_first(const struct lanes *lanes, const struct lanes_axis *axis, uint64_t *time)
{
    uint64_t past = lanes->from % axis->step;

    *time = lanes->from;
    return move_time(lanes, time, past ? axis->step - past : 0);
}

bool lanes_axis_next(const struct lanes *lanes, const struct lanes_axis *axis, uint64_t *time)
{
    return move_time(lanes, time, axis->step);
}
