// SPDX-License-Identifier: MIT
// analysis/rkh: messages and timers. In: posts, gets, timeouts. Out: how many there were, and how
// long they waited.
//
// The model of the queues (posts.c) says which post a get is of. A timeout is followed by
// the post of its signal.
#include "analysis/rkh/analysis.h"
#include <stdlib.h>

struct rkh_signal *rkh_signal_at(struct rkh_analysis *study, const struct rkh_object *object,
                                 uint64_t signal)
{
    size_t of = rkh_table_index(&study->objects, object);
    struct rkh_signal *row = rkh_table_at(&study->signals, rkh_pair_key(of, signal), NULL);
    study->failed |= !row;
    if (row) {
        row->of = of;
        row->seq = study->now.seq;
        row->object = object->address;
        row->signal = signal;
    }
    return row;
}

static void add_sample(struct rkh_analysis *study, struct rkh_samples *samples, size_t row,
                       uint64_t ticks)
{
    struct rkh_sample *rows =
        extract_grow(samples->samples, &samples->room, samples->count, sizeof *rows);
    if (!rows) {
        study->failed = true;
        return;
    }
    samples->samples = rows;
    samples->samples[samples->count++] = (struct rkh_sample){(uint32_t)row, ticks};
}

static void note_queue(struct rkh_object *object, const struct extract_event *event)
{
    uint64_t value;
    if (rkh_field(event, "nelem", &value))
        rkh_range_note(&object->queued, value);
    if (rkh_field(event, "nmin", &value))
        rkh_range_note(&object->low, value);
}

static void take_post(struct rkh_analysis *study, const struct extract_event *event,
                      struct rkh_object *object, struct rkh_signal *signal,
                      const struct rkh_post_match *derived)
{
    bool timer = study->fired.timer && study->fired.object == object->address &&
                 study->fired.signal == signal->signal;
    if (timer && derived->post) {
        derived->post->timer = study->fired.timer;
        derived->post->fired = study->fired.ticks;
        study->fired.timer = 0;
    }
    if (!study->now.counts)
        return;
    object->fifo += event->id == RKH_SMA_FIFO;
    object->lifo += event->id == RKH_SMA_LIFO;
    signal->posts++;
    study->posts++;
    note_queue(object, event);
}

static void take_get(struct rkh_analysis *study, const struct extract_event *event,
                     struct rkh_object *object, struct rkh_signal *signal,
                     const struct rkh_post_match *derived)
{
    const struct rkh_post *post = derived->post;
    bool sure = post && derived->sure;
    if (!study->now.counts)
        return;
    object->gets++;
    signal->gets++;
    study->gets++;
    object->uncertain += !sure;
    signal->uncertain += !sure;
    study->uncertain += !sure;
    note_queue(object, event);
    if (!sure || !study->now.has_stamps || event->ticks < post->ticks)
        return;
    add_sample(study, &study->latencies, rkh_table_index(&study->signals, signal),
               event->ticks - post->ticks);
    if (post->timer && event->ticks >= post->fired)
        add_sample(study, &study->timeouts, post->timer - 1, event->ticks - post->fired);
}

// ---- timers ----

static struct rkh_timer *timer_of(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address;
    struct rkh_timer *timer;
    if (!rkh_field(event, "tmr", &address))
        return NULL;
    timer = rkh_table_at(&study->timers, rkh_analysis_key(study, address), NULL);
    study->failed |= !timer;
    if (!timer)
        return NULL;
    timer->address = address;
    timer->seq = study->now.seq;
    return timer;
}

static void take_timer(struct rkh_analysis *study, const struct extract_event *event)
{
    struct rkh_timer *timer = timer_of(study, event);
    if (!timer)
        return;
    timer->signal_known |= rkh_field(event, "sig", &timer->signal);
    rkh_field(event, "ao", &timer->object);
    if (event->id == RKH_TMR_START) {
        rkh_field(event, "ntick", &timer->ntick);
        rkh_field(event, "period", &timer->period);
    } else if (event->id == RKH_TMR_TOUT) {
        study->fired.timer = (uint32_t)rkh_table_index(&study->timers, timer) + 1;
        study->fired.object = timer->object;
        study->fired.signal = timer->signal;
        study->fired.ticks = event->ticks;
    }
    if (!study->now.counts)
        return;
    timer->starts += event->id == RKH_TMR_START;
    timer->stops += event->id == RKH_TMR_STOP;
    timer->timeouts += event->id == RKH_TMR_TOUT;
}

static void take_recall(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address, number;
    struct rkh_object *object;
    struct rkh_signal *signal;
    if (!study->now.counts || !rkh_field(event, "ao", &address) ||
        !rkh_field(event, "sig", &number) || !(object = rkh_object_at(study, address)) ||
        !(signal = rkh_signal_at(study, object, number)))
        return;
    object->recalled++;
    signal->recalled++;
}

static void take_object(struct rkh_analysis *study, const struct extract_event *event)
{
    uint64_t address;
    struct rkh_object *object;
    if (rkh_field(event, "ao", &address) && (object = rkh_object_at(study, address)))
        rkh_field(event, "qsize", &object->queue_size);
}

static void take_message(struct rkh_analysis *study, const struct extract_event *event,
                         const struct rkh_post_match *derived)
{
    uint64_t address, number;
    struct rkh_object *object;
    struct rkh_signal *signal;
    if (!rkh_field(event, "ao", &address) || !rkh_field(event, "sig", &number) ||
        !(object = rkh_object_at(study, address)) ||
        !(signal = rkh_signal_at(study, object, number)))
        return;
    if (event->id == RKH_SMA_GET)
        take_get(study, event, object, signal, derived);
    else
        take_post(study, event, object, signal, derived);
}

void rkh_messages_take(struct rkh_analysis *study, const struct extract_event *event)
{
    struct rkh_post_match derived;
    if (!rkh_post_queues_take(&study->model, event, &derived))
        study->failed = true;
    else if (event->id >= RKH_SMA_GET && event->id <= RKH_SMA_LIFO)
        take_message(study, event, &derived);
    else if (event->id >= RKH_TMR_INIT && event->id <= RKH_TMR_REM)
        take_timer(study, event);
    else if (event->id == RKH_SMA_ACT)
        take_object(study, event);
    else if (event->id == RKH_SMA_TERM)
        rkh_states_take(study, event);
    else if (event->id == RKH_SMA_DEFER)
        rkh_stores_take(study, event);
    else if (event->id == RKH_SMA_RCALL)
        take_recall(study, event);
}

// ---- the end ----

static int by_row(const void *a, const void *b)
{
    const struct rkh_sample *x = a, *y = b;
    if (x->row != y->row)
        return x->row < y->row ? -1 : 1;
    return (x->ticks > y->ticks) - (x->ticks < y->ticks);
}

// The samples of one row, smallest first.
static void spread(struct rkh_spread *spread, const struct rkh_sample *samples, size_t count)
{
    static const unsigned ranks[] = {50, 90, 99};
    *spread = (struct rkh_spread){
        .count = count, .min = samples[0].ticks, .max = samples[count - 1].ticks};
    for (size_t i = 0; i < count; i++)
        spread->sum += samples[i].ticks;
    for (unsigned i = 0; i < 3; i++)
        spread->percentile[i] = samples[(count * ranks[i] + 99) / 100 - 1].ticks;
}

static void spread_all(struct rkh_samples *samples, struct rkh_table *table, size_t offset)
{
    if (samples->count)
        qsort(samples->samples, samples->count, sizeof *samples->samples, by_row);
    for (size_t i = 0, end; i < samples->count; i = end) {
        uint32_t row = samples->samples[i].row;
        for (end = i; end < samples->count && samples->samples[end].row == row; end++)
            ;
        spread((struct rkh_spread *)((char *)rkh_table_row(table, row) + offset),
               samples->samples + i, end - i);
    }
}

void rkh_messages_end(struct rkh_analysis *study)
{
    spread_all(&study->latencies, &study->signals, offsetof(struct rkh_signal, latency));
    spread_all(&study->timeouts, &study->timers, offsetof(struct rkh_timer, latency));
}
