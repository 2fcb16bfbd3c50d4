// SPDX-License-Identifier: MIT
// schedule: the history of a few windows. The walk keeps each part that overlaps a window; then the
// parts are sorted, and looked up by binary search.
#include "schedule/schedule_history.h"
#include "base/grow.h"
#include "schedule/walk.h"
#include <string.h>

// Sets `low` to the first of `count` items for which the condition on item `i` does not hold.
#define LOWER_BOUND(low, count, is_before)                                                         \
    size_t low = 0;                                                                                \
    for (size_t high = (count); low < high;) {                                                     \
        size_t i = low + (high - low) / 2;                                                         \
        if (is_before)                                                                             \
            low = i + 1;                                                                           \
        else                                                                                       \
            high = i;                                                                              \
    }

static bool is_wanted(const struct history *history, uint64_t from, uint64_t to)
{
    const struct history_window *windows = history->windows;

    LOWER_BOUND(low, history->window_count, windows[i].to <= from)
    return low < history->window_count && windows[low].from < to;
}

// Keeps an item in one of the arrays.
#define KEEP(history, items, count, capacity, item)                                                \
    do {                                                                                           \
        void *grown = extract_grow((history)->items, &(history)->capacity, (history)->count,       \
                                   sizeof *(history)->items);                                      \
        if (grown) {                                                                               \
            (history)->items = grown;                                                              \
            (history)->items[(history)->count++] = (item);                                         \
        }                                                                                          \
        (history)->failed |= !grown;                                                               \
    } while (0)

// Returns what is known of a thread; NULL if memory is short.
static struct history_thread *find_thread(struct history *history, uint64_t address)
{
    uint32_t *index = extract_map_at(&history->thread_map, address);

    if (index && !*index) {
        KEEP(history, threads, thread_count, thread_capacity,
             (struct history_thread){.has_core = false});
        *index = history->failed ? 0 : (uint32_t)history->thread_count;
    }
    history->failed |= !index || !*index;
    return history->failed ? NULL : &history->threads[*index - 1];
}

// Keeps the wake-up with which a thread came to the core: it may be from before the window.
static void keep_wake(struct history *history, uint64_t thread, uint64_t at)
{
    uint32_t i = extract_map_get(&history->thread_map, thread);

    if (!i)
        return;
    const struct history_thread *last = &history->threads[i - 1];
    const struct extract_wake *wake = last->newest.at <= at ? &last->newest : &last->older;
    if (wake->thread && wake->at <= at)
        KEEP(history, wakes, wake_count, wake_capacity, *wake);
}

// Notes that a wake-up of each thread may be missing from here on: what was known does not explain
// what comes after the gap.
static void add_gap(void *context, const struct extract_event *marker)
{
    struct history *history = context;

    for (size_t i = 0; i < history->thread_count; i++) {
        struct history_thread *thread = &history->threads[i];
        const struct extract_wake missing = {
            .at = marker->ticks, .seq = marker->seq, .thread = thread->newest.thread};
        thread->newest = thread->older = missing;
        if (is_wanted(history, missing.at, missing.at + 1))
            KEEP(history, wakes, wake_count, wake_capacity, missing);
    }
}

static void add_interval(void *context, const struct extract_interval *interval)
{
    struct history *history = context;

    if (!is_wanted(history, interval->from, interval->to))
        return;
    KEEP(history, intervals, interval_count, interval_capacity, *interval);
    if (interval->runner == EXTRACT_RUNNER_THREAD)
        keep_wake(history, interval->thread, interval->from);
}

static bool can_run(const struct extract_state *state)
{
    return state->state == EXTRACT_STATE_READY || state->state == EXTRACT_STATE_RUNNING;
}

static void add_state(void *context, const struct extract_state *state)
{
    struct history *history = context;
    struct history_thread *thread =
        history->core_count > 1 ? find_thread(history, state->thread) : NULL;
    bool is_wanted_state = is_wanted(history, state->from, state->to);

    if (thread && state->state == EXTRACT_STATE_RUNNING) {
        thread->core = state->core;
        thread->has_core = true;
    }
    is_wanted_state |= thread && thread->is_ready && can_run(state);
    if (thread)
        thread->is_ready = is_wanted_state && state->state == EXTRACT_STATE_READY;
    if (is_wanted_state)
        KEEP(history, states, state_count, state_capacity, *state);
}

static void add_owner(void *context, const struct extract_ownership *owner)
{
    struct history *history = context;

    if (is_wanted(history, owner->from, owner->to))
        KEEP(history, owners, owner_count, owner_capacity, *owner);
}

static void add_wake(void *context, const struct extract_wake *wake)
{
    struct history *history = context;
    struct history_thread *thread = find_thread(history, wake->thread);

    if (!thread)
        return;
    thread->core = wake->core;
    thread->has_core = true;
    thread->older = thread->newest;
    thread->newest = *wake;
    // One at the end of a window ends a wait in it.
    if (is_wanted(history, wake->at ? wake->at - 1 : 0, wake->at + 1))
        KEEP(history, wakes, wake_count, wake_capacity, *wake);
}

// ---- order ----

#define COMPARE(a, b) ((a) < (b) ? -1 : (a) > (b))

static int compare_windows(const void *a, const void *b)
{
    const struct history_window *x = a, *y = b;

    return COMPARE(x->from, y->from);
}

static int compare_intervals(const void *a, const void *b)
{
    const struct extract_interval *x = a, *y = b;
    int order = COMPARE(x->core, y->core);

    return order ? order : COMPARE(x->from, y->from);
}

static int compare_states(const void *a, const void *b)
{
    const struct extract_state *x = a, *y = b;
    int order = COMPARE(x->thread, y->thread);

    return order ? order : COMPARE(x->from, y->from);
}

static int compare_owners(const void *a, const void *b)
{
    const struct extract_ownership *x = a, *y = b;
    int order = COMPARE(x->mutex, y->mutex);

    return order ? order : COMPARE(x->from, y->from);
}

static int compare_wakes(const void *a, const void *b)
{
    const struct extract_wake *x = a, *y = b;
    int order = COMPARE(x->thread, y->thread);

    order = order ? order : COMPARE(x->at, y->at);
    return order ? order : COMPARE(x->seq, y->seq);
}

static void sort_items(void *items, size_t count, size_t bytes,
                       int (*compare)(const void *, const void *))
{
    if (count)
        qsort(items, count, bytes, compare);
}

// Sorts `count` windows and joins those that overlap.
static void join_windows(struct history *history, size_t count)
{
    struct history_window *windows = history->windows;

    sort_items(windows, count, sizeof *windows, compare_windows);
    history->window_count = 0;
    for (size_t i = 0; i < count; i++) {
        struct history_window next = windows[i];
        struct history_window *last = windows + history->window_count;
        if (history->window_count && next.from <= last[-1].to)
            last[-1].to = next.to > last[-1].to ? next.to : last[-1].to;
        else
            windows[history->window_count++] = next;
    }
}

// Stores the windows in order. Returns false if memory is short.
static bool set_windows(struct history *history, const struct history_window *windows, size_t count)
{
    history->windows = calloc(count + 1, sizeof *windows);
    if (!history->windows)
        return false;
    history->window_capacity = count + 1;
    memcpy(history->windows, windows, count * sizeof *windows);
    join_windows(history, count);
    return true;
}

// Adds the times after the windows in which threads that were ready at the end of one may have had
// a core, until they got one. Returns how many were added.
static size_t widen_windows(struct history *history)
{
    size_t count = history->window_count, added = 0;

    for (size_t i = 1; i < history->state_count && !history->failed; i++) {
        const struct extract_state *ready = &history->states[i - 1], *state = ready + 1;
        if (state->thread != ready->thread || ready->state != EXTRACT_STATE_READY ||
            !ready->is_unsure || ready->to != state->from || !can_run(state) ||
            is_wanted(history, ready->to - 1, ready->to))
            continue;
        struct history_window *grown =
            extract_grow(history->windows, &history->window_capacity, count + added, sizeof *grown);
        history->failed |= !grown;
        if (!grown)
            break;
        history->windows = grown;
        grown[count + added++] = (struct history_window){ready->from, ready->to};
    }
    return history->failed ? 0 : added;
}

static enum extract_code walk_windows(struct history *history, const struct extract_trace *trace,
                                      struct extract_error *error)
{
    const struct extract_schedule_sink sink = {.context = history,
                                               .interval = add_interval,
                                               .state = add_state,
                                               .wake = add_wake,
                                               .owner = add_owner};
    const struct schedule_observer observer = {.context = history, .gap = add_gap};
    enum extract_code code = schedule_walk(NULL, trace, &sink, &observer, error);

    sort_items(history->intervals, history->interval_count, sizeof *history->intervals,
               compare_intervals);
    sort_items(history->states, history->state_count, sizeof *history->states, compare_states);
    sort_items(history->owners, history->owner_count, sizeof *history->owners, compare_owners);
    sort_items(history->wakes, history->wake_count, sizeof *history->wakes, compare_wakes);
    return code;
}

enum extract_code history_read(struct history *history, const struct extract_trace *trace,
                               const struct history_window *windows, size_t count,
                               struct extract_error *error)
{
    *history = (struct history){.core_count = extract_trace_info(trace)->cores,
                                .board_starts = trace->board_starts};
    history->failed =
        !extract_map_init(&history->thread_map, 64) || !set_windows(history, windows, count);
    enum extract_code code = history->failed ? EXTRACT_OK : schedule_check(trace, error);
    if (!code && !history->failed)
        code = walk_windows(history, trace, error);
    size_t added = code || history->failed ? 0 : widen_windows(history);
    if (added) { // once: a thread's way to its core is in the wider windows
        history->interval_count = history->state_count = 0;
        history->owner_count = history->wake_count = history->thread_count = 0;
        extract_map_free(&history->thread_map);
        history->failed = !extract_map_init(&history->thread_map, 64);
        join_windows(history, history->window_count + added);
        if (!history->failed)
            code = walk_windows(history, trace, error);
    }
    if (!code && history->failed)
        code = extract_error_set(error, EXTRACT_NOMEM, "schedule", NULL, "out of memory");
    return code;
}

void history_free(struct history *history)
{
    free(history->windows);
    free(history->intervals);
    free(history->states);
    free(history->owners);
    free(history->wakes);
    free(history->threads);
    extract_map_free(&history->thread_map);
    *history = (struct history){.window_count = 0};
}

// ---- lookup ----

const struct extract_interval *history_interval(const struct history *history, uint8_t core,
                                                uint64_t at)
{
    const struct extract_interval *items = history->intervals;

    LOWER_BOUND(low, history->interval_count,
                items[i].core < core || (items[i].core == core && items[i].to <= at))
    return low < history->interval_count && items[low].core == core ? &items[low] : NULL;
}

const struct extract_state *history_state(const struct history *history, uint64_t thread,
                                          uint64_t at)
{
    const struct extract_state *items = history->states;

    LOWER_BOUND(low, history->state_count,
                items[i].thread < thread || (items[i].thread == thread && items[i].to <= at))
    return low < history->state_count && items[low].thread == thread ? &items[low] : NULL;
}

// Returns whether a core is the only one of its board.
static bool is_alone(const struct history *history, unsigned core)
{
    bool is_first = !core || (core < 64 && history->board_starts >> core & 1);
    unsigned next = core + 1;
    bool is_last = next >= history->core_count || (next < 64 && history->board_starts >> next & 1);

    return is_first && is_last;
}

// Returns whether an interval shows that a thread may have had another core than `core`.
static bool may_have_had_other(const struct history *history, uint64_t thread, unsigned core,
                               uint64_t from, uint64_t to)
{
    const struct extract_interval *end = history->intervals + history->interval_count;

    for (unsigned i = 0; i < history->core_count; i++) {
        const struct extract_interval *interval =
            i == core ? NULL : history_interval(history, (uint8_t)i, from);
        for (; interval && interval < end && interval->core == i && interval->from < to; interval++)
            if (interval->runner == EXTRACT_RUNNER_THREAD && interval->thread == thread)
                return true;
    }
    return false;
}

// Where it is not known whether the thread was ready or had a core, it may have had another one.
int history_next_core(const struct history *history, uint64_t thread, uint64_t at)
{
    const struct extract_state *state = history_state(history, thread, at);
    const struct extract_state *end = state ? history->states + history->state_count : NULL;
    uint32_t i = extract_map_get(&history->thread_map, thread);
    uint64_t from = at;
    bool is_seen = true; // all intervals that may show that it had a core

    if (history->core_count <= 1)
        return history->interval_count ? history->intervals[0].core : -1;
    for (; state && state < end && state->thread == thread && state->from <= at && can_run(state);
         state++) {
        if (state->state == EXTRACT_STATE_RUNNING && !state->is_unsure && is_seen &&
            !may_have_had_other(history, thread, state->core, from, state->from))
            return state->core;
        if (state->state == EXTRACT_STATE_RUNNING)
            break;
        at = state->to;
        is_seen &= !state->is_unsure || is_wanted(history, at - 1, at);
    }
    bool has_board = i && history->threads[i - 1].has_core;
    return has_board && is_alone(history, history->threads[i - 1].core)
               ? history->threads[i - 1].core
               : -1;
}

const struct extract_ownership *history_owner(const struct history *history, uint64_t mutex,
                                              uint64_t at)
{
    const struct extract_ownership *items = history->owners;

    LOWER_BOUND(low, history->owner_count,
                items[i].mutex < mutex || (items[i].mutex == mutex && items[i].to <= at))
    return low < history->owner_count && items[low].mutex == mutex ? &items[low] : NULL;
}

const struct extract_wake *history_wake(const struct history *history, uint64_t thread, uint64_t at)
{
    const struct extract_wake *items = history->wakes;

    LOWER_BOUND(low, history->wake_count,
                items[i].thread < thread || (items[i].thread == thread && items[i].at <= at))
    return low && items[low - 1].thread == thread ? &items[low - 1] : NULL;
}
