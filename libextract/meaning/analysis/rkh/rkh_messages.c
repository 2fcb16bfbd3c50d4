// SPDX-License-Identifier: MIT
// analysis/rkh: messages and timers. Counts posts, gets, recalls and timeouts, and measures how
// long events waited.
//
// posts.c finds the post that a get belongs to; the time between the two is a latency. When a timer
// expires, RKH posts the timer's signal after it has recorded the timeout. So a timeout is kept
// until the next post of its signal, and the get of that post ends the latency of the timer.
#include "analysis/rkh/analysis.h"
#include <stdlib.h>

struct rkh_signal *rkh_signal_at(struct rkh_analysis *analysis, const struct rkh_object *object,
                                 uint64_t signal)
{
    size_t object_index = rkh_table_index(&analysis->objects, object);
    struct rkh_signal *row =
        rkh_table_find_or_add(&analysis->signals, rkh_pair_key(object_index, signal));

    analysis->failed |= !row;
    if (row) {
        row->object_index = object_index;
        row->seq = analysis->now.seq;
        row->object = object->address;
        row->signal = signal;
    }
    return row;
}

static void add_sample(struct rkh_analysis *analysis, struct rkh_samples *samples, size_t row,
                       uint64_t ticks)
{
    struct rkh_sample *rows =
        extract_grow(samples->samples, &samples->capacity, samples->count, sizeof *rows);

    if (!rows) {
        analysis->failed = true;
        return;
    }
    samples->samples = rows;
    samples->samples[samples->count++] = (struct rkh_sample){(uint32_t)row, ticks};
}

// ---- posts and gets ----

static void note_queue_length(struct rkh_object *object, const struct extract_event *event)
{
    uint64_t value;

    if (rkh_get_field(event, "nelem", &value))
        rkh_range_add(&object->queued, value);
    if (rkh_get_field(event, "nmin", &value))
        rkh_range_add(&object->low, value);
}

static void add_post(struct rkh_analysis *analysis, const struct extract_event *event,
                     struct rkh_object *object, struct rkh_signal *signal,
                     const struct rkh_post_match *match)
{
    bool is_timeout = analysis->timeout.timer && analysis->timeout.object == object->address &&
                      analysis->timeout.signal == signal->signal;

    if (is_timeout && match->post) {
        match->post->timer = analysis->timeout.timer;
        match->post->timeout_ticks = analysis->timeout.ticks;
        analysis->timeout.timer = 0;
    }
    if (!analysis->now.is_counted)
        return;
    object->fifo += event->id == RKH_SMA_FIFO;
    object->lifo += event->id == RKH_SMA_LIFO;
    signal->posts++;
    analysis->posts++;
    note_queue_length(object, event);
}

static void add_get(struct rkh_analysis *analysis, const struct extract_event *event,
                    struct rkh_object *object, struct rkh_signal *signal,
                    const struct rkh_post_match *match)
{
    const struct rkh_post *post = match->post;
    bool is_sure = post && match->is_sure;

    if (!analysis->now.is_counted)
        return;
    object->gets++;
    signal->gets++;
    analysis->gets++;
    object->uncertain += !is_sure;
    signal->uncertain += !is_sure;
    analysis->uncertain += !is_sure;
    note_queue_length(object, event);
    if (!is_sure || !analysis->now.has_stamps || event->ticks < post->ticks)
        return;
    add_sample(analysis, &analysis->latencies, rkh_table_index(&analysis->signals, signal),
               event->ticks - post->ticks);
    if (post->timer && event->ticks >= post->timeout_ticks)
        add_sample(analysis, &analysis->timeouts, post->timer - 1,
                   event->ticks - post->timeout_ticks);
}

// Handles a post, a get or a recall, all of which name an active object and a signal.
static void add_message(struct rkh_analysis *analysis, const struct extract_event *event,
                        const struct rkh_post_match *match)
{
    uint64_t address, number;

    if (!rkh_get_field(event, "ao", &address) || !rkh_get_field(event, "sig", &number))
        return;
    struct rkh_object *object = rkh_object_at(analysis, address);
    struct rkh_signal *signal = object ? rkh_signal_at(analysis, object, number) : NULL;
    if (!signal)
        return;
    if (event->id == RKH_SMA_GET) {
        add_get(analysis, event, object, signal, match);
    } else if (event->id == RKH_SMA_RCALL) {
        object->recalled++;
        signal->recalled++;
    } else {
        add_post(analysis, event, object, signal, match);
    }
}

// ---- timers ----

static void add_timer_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t address;

    if (!rkh_get_field(event, "tmr", &address))
        return;
    struct rkh_timer *timer =
        rkh_table_find_or_add(&analysis->timers, rkh_analysis_key(analysis, address));
    if (!timer) {
        analysis->failed = true;
        return;
    }
    timer->address = address;
    timer->seq = analysis->now.seq;
    timer->signal_known |= rkh_get_field(event, "sig", &timer->signal);
    rkh_get_field(event, "ao", &timer->object);
    if (event->id == RKH_TMR_START) {
        rkh_get_field(event, "ntick", &timer->ntick);
        rkh_get_field(event, "period", &timer->period);
    } else if (event->id == RKH_TMR_TOUT) {
        analysis->timeout.timer = (uint32_t)rkh_table_index(&analysis->timers, timer) + 1;
        analysis->timeout.object = timer->object;
        analysis->timeout.signal = timer->signal;
        analysis->timeout.ticks = event->ticks;
    }
    if (!analysis->now.is_counted)
        return;
    timer->starts += event->id == RKH_TMR_START;
    timer->stops += event->id == RKH_TMR_STOP;
    timer->timeouts += event->id == RKH_TMR_TOUT;
}

// ---- events ----

// Notes the size of a new active object's queue.
static void add_activation(struct rkh_analysis *analysis, const struct extract_event *event)
{
    uint64_t address;
    struct rkh_object *object = NULL;

    if (rkh_get_field(event, "ao", &address))
        object = rkh_object_at(analysis, address);
    if (object)
        rkh_get_field(event, "qsize", &object->queue_size);
}

void rkh_messages_add_event(struct rkh_analysis *analysis, const struct extract_event *event)
{
    struct rkh_post_match match;

    if (!rkh_post_queues_add_event(&analysis->post_queues, event, &match))
        analysis->failed = true;
    else if (event->id >= RKH_SMA_GET && event->id <= RKH_SMA_LIFO)
        add_message(analysis, event, &match);
    else if (event->id >= RKH_TMR_INIT && event->id <= RKH_TMR_REM)
        add_timer_event(analysis, event);
    else if (event->id == RKH_SMA_ACT)
        add_activation(analysis, event);
    else if (event->id == RKH_SMA_TERM)
        rkh_states_add_event(analysis, event);
    else if (event->id == RKH_SMA_DEFER)
        rkh_storage_add_event(analysis, event);
    else if (event->id == RKH_SMA_RCALL && analysis->now.is_counted)
        add_message(analysis, event, &match);
}

// ---- latencies ----

static int compare_samples(const void *a, const void *b)
{
    const struct rkh_sample *x = a, *y = b;

    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

// Computes the distribution of the samples of one row, which are sorted.
static struct rkh_spread spread_of(const struct rkh_sample *samples, size_t count)
{
    static const unsigned ranks[] = {50, 90, 99};
    struct rkh_spread spread = {
        .count = count, .min = samples[0].ticks, .max = samples[count - 1].ticks};

    for (size_t i = 0; i < count; i++)
        spread.sum += samples[i].ticks;
    for (unsigned i = 0; i < 3; i++)
        spread.percentile[i] = samples[(count * ranks[i] + 99) / 100 - 1].ticks;
    return spread;
}

// Computes the distributions of all rows. `offset` is that of struct rkh_spread in a row.
static void compute_spreads(struct rkh_samples *samples, struct rkh_table *table, size_t offset)
{
    if (samples->count)
        qsort(samples->samples, samples->count, sizeof *samples->samples, compare_samples);
    for (size_t i = 0, end; i < samples->count; i = end) {
        uint32_t row = samples->samples[i].row;
        for (end = i; end < samples->count && samples->samples[end].row == row; end++)
            ;
        char *spread = (char *)rkh_table_row(table, row) + offset;
        *(struct rkh_spread *)spread = spread_of(samples->samples + i, end - i);
    }
}

void rkh_messages_end(struct rkh_analysis *analysis)
{
    compute_spreads(&analysis->latencies, &analysis->signals, offsetof(struct rkh_signal, latency));
    compute_spreads(&analysis->timeouts, &analysis->timers, offsetof(struct rkh_timer, latency));
}
