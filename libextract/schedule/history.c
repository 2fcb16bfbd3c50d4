// SPDX-License-Identifier: MIT
// schedule: the history of a few windows. The walk keeps each part that overlaps a window; then the
// parts are sorted, and looked up by binary search.
#include "schedule/history.h"
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

// Keeps the wake-up with which a thread came to the core: it may be from before the window.
static void keep_wake(struct history *history, uint64_t thread, uint64_t at)
{
    uint32_t i = extract_map_get(&history->last_map, thread);

    if (!i)
        return;
    const struct history_wakes *last = &history->last[i - 1];
    const struct extract_wake *wake = last->newest.at <= at ? &last->newest : &last->older;
    if (wake->thread && wake->at <= at)
        KEEP(history, wakes, wake_count, wake_capacity, *wake);
}

// Notes that a wake-up of each thread may be missing from here on: what was known does not explain
// what comes after the gap.
static void add_gap(void *context, const struct extract_event *marker)
{
    struct history *history = context;

    for (size_t i = 0; i < history->last_count; i++) {
        struct history_wakes *last = &history->last[i];
        const struct extract_wake missing = {
            .at = marker->ticks, .seq = marker->seq, .thread = last->newest.thread};
        *last = (struct history_wakes){.newest = missing, .older = missing};
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

static void add_state(void *context, const struct extract_state *state)
{
    struct history *history = context;

    if (is_wanted(history, state->from, state->to))
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
    uint32_t *index = extract_map_at(&history->last_map, wake->thread);

    if (index && !*index) {
        KEEP(history, last, last_count, last_capacity, (struct history_wakes){.newest = {.at = 0}});
        *index = history->failed ? 0 : (uint32_t)history->last_count;
    }
    if (!index || !*index) {
        history->failed = true;
        return;
    }
    struct history_wakes *last = &history->last[*index - 1];
    last->older = last->newest;
    last->newest = *wake;
    if (is_wanted(history, wake->at, wake->at + 1))
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

// Sorts the windows and joins those that overlap. Returns false if memory is short.
static bool set_windows(struct history *history, const struct history_window *windows, size_t count)
{
    history->windows = calloc(count + 1, sizeof *windows);
    if (!history->windows)
        return false;
    memcpy(history->windows, windows, count * sizeof *windows);
    sort_items(history->windows, count, sizeof *windows, compare_windows);
    for (size_t i = 0; i < count; i++) {
        struct history_window next = history->windows[i];
        struct history_window *last = history->windows + history->window_count;
        if (history->window_count && next.from <= last[-1].to)
            last[-1].to = next.to > last[-1].to ? next.to : last[-1].to;
        else
            history->windows[history->window_count++] = next;
    }
    return true;
}

enum extract_code history_read(struct history *history, const struct extract_trace *trace,
                               const struct history_window *windows, size_t count,
                               struct extract_error *error)
{
    const struct extract_schedule_sink sink = {.context = history,
                                               .interval = add_interval,
                                               .state = add_state,
                                               .wake = add_wake,
                                               .owner = add_owner};
    const struct schedule_observer observer = {.context = history, .gap = add_gap};

    *history = (struct history){.has_one_core = extract_trace_info(trace)->cores <= 1};
    history->failed =
        !extract_map_init(&history->last_map, 64) || !set_windows(history, windows, count);
    enum extract_code code = history->failed ? EXTRACT_OK : schedule_check(trace, error);
    if (!code && !history->failed)
        code = schedule_walk(NULL, trace, &sink, &observer, error);
    if (!code && history->failed)
        code = extract_error_set(error, EXTRACT_NOMEM, "schedule", NULL, "out of memory");
    sort_items(history->intervals, history->interval_count, sizeof *history->intervals,
               compare_intervals);
    sort_items(history->states, history->state_count, sizeof *history->states, compare_states);
    sort_items(history->owners, history->owner_count, sizeof *history->owners, compare_owners);
    sort_items(history->wakes, history->wake_count, sizeof *history->wakes, compare_wakes);
    return code;
}

void history_free(struct history *history)
{
    free(history->windows);
    free(history->intervals);
    free(history->states);
    free(history->owners);
    free(history->wakes);
    free(history->last);
    extract_map_free(&history->last_map);
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
