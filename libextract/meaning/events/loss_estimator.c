// SPDX-License-Identifier: MIT
// events: estimates how many events a gap of a recording holds (loss_estimator.h).
//
// The number in a gap is one of at_least + k * modulo, its candidates. Hypotheses compete for it.
// Each assumes that the target ran in the gap at one of a few reference rates, with one of a few
// relative spreads. One more assumes only the largest number possible. Each hypothesis is a
// distribution over the candidates. Its fit is what it gives to the candidates, compared with all
// numbers: a narrow hypothesis that is wrong mostly falls between them. Weights follow the fit from
// gap to gap. A part of every weight returns to its start after each gap, because loads change. The
// interval is cut from the weighted sum of the distributions.
//
// The distributions are Student's t with three degrees of freedom. Its tails forgive more than
// those of a Gaussian, and it needs no exponential function.
#include "events/loss_estimator.h"
#include "base/grow.h"
#include <extract/log.h>
#include <stdlib.h>
#include <string.h>

enum {
    WINDOWS_PER_LAP = 4, // a burst of half a lap fills at least one window
    BRIEF_WINDOWS = 8,   // per lap: what a reader that is too slow gets at a time
    LATELY_LAPS = 8,     // laps from which a recent rate is taken
    MIN_ENTRIES = 64,    // entries that are needed before anything is estimated
    MIN_REFERENCE = 8    // entries that are needed for a rate
};

static const double spreads[LOSS_SPREADS] = {.003, .01, .03, .1, .3};
static const double broad_start = .2; // first weight of the hypothesis that knows nothing
static const double returning = .1;   // part of each weight that returns after each gap
static const double min_fit = .0025;  // a hypothesis never loses more than this at one gap
static const double tail = .05;       // part of the distribution on each side of the interval
static const double headroom = 1.25;  // the load within a window may be uneven

// Returns the square root, by Newton's method from above. The library does not otherwise need libm.
static double square_root(double x)
{
    double y = x > 1 ? x : 1;

    for (int i = 0; i < 100; i++) {
        double next = (y + x / y) / 2;
        if (next >= y)
            break;
        y = next;
    }
    return y;
}

// Returns the density at `x` of Student's t with three degrees of freedom around `middle`.
static double density(double x, double middle, double width)
{
    const double pi_root_3 = 5.441398092702653;
    double z = (x - middle) / width, t = 1 + z * z / 3;

    return 2 / (pi_root_3 * width * t * t);
}

static double start_weight(unsigned hypothesis)
{
    bool is_broad = hypothesis == LOSS_HYPOTHESES - 1;

    return is_broad ? broad_start : (1 - broad_start) / (LOSS_HYPOTHESES - 1);
}

static void add_load(struct load *load, double entries, double ticks)
{
    load->entries += entries;
    load->ticks += ticks;
}

static double rate_of(const struct load *load)
{
    bool is_rate = load->entries >= (double)MIN_REFERENCE && load->ticks > 0;

    return is_rate ? load->entries / load->ticks : 0;
}

static void note_fastest(struct loss_estimator *e, const struct load *load)
{
    double rate = load->ticks > 0 ? load->entries / load->ticks : 0;

    e->fastest = rate > e->fastest ? rate : e->fastest;
}

// Adds entries in a row, all of which are counted.
static void add_known(struct loss_estimator *e, double entries, double ticks)
{
    add_load(&e->all, entries, ticks);
    add_load(&e->lately, entries, ticks);
    if (e->lately.entries > (double)LATELY_LAPS * e->lap) {
        e->lately.entries /= 2;
        e->lately.ticks /= 2;
    }
    add_load(&e->window, entries, ticks);
    if (e->window.entries < e->lap / (double)WINDOWS_PER_LAP)
        return;
    note_fastest(e, &e->window);
    e->has_window = true;
    e->before = e->window;
    e->window = (struct load){0, 0};
}

// ---- One gap ----

// The candidates for the number in a gap: first + i * step for i < count.
struct candidates {
    double first, step;
    unsigned count;
};

static struct candidates list_candidates(const struct loss_estimate *gap)
{
    double count = (double)((gap->at_most - gap->at_least) / gap->modulo), stride = 1;

    while (count / stride >= LOSS_CANDIDATES - 1)
        stride *= 2;
    return (struct candidates){(double)gap->at_least, stride * (double)gap->modulo,
                               (unsigned)(count / stride) + 1};
}

// Fills `share` with what a hypothesis gives to each candidate; the sum is 1. Returns its fit: what
// it gave to these candidates, where 1 means no more than to other numbers.
static double share_around(const struct candidates *list, double modulo, double middle,
                           double spread, double *share)
{
    double width = spread * middle + square_root(middle + 1), sum = 0;

    // A candidate that stands for several must not fall between them.
    if (list->step > modulo && width < list->step / 2)
        width = list->step / 2;
    for (unsigned i = 0; i < list->count; i++)
        sum += share[i] = density(list->first + i * list->step, middle, width);
    for (unsigned i = 0; i < list->count; i++)
        share[i] /= sum;
    return sum * list->step;
}

// Fills `share` for the hypothesis that knows nothing: all orders of magnitude are equally likely.
static double share_broadly(const struct candidates *list, double lap, double *share)
{
    double sum = 0;

    for (unsigned i = 0; i < list->count; i++)
        sum += share[i] = 1 / (list->first + i * list->step + lap);
    for (unsigned i = 0; i < list->count; i++)
        share[i] /= sum;
    return 1;
}

// Computes the shares of every hypothesis for a gap, and weighs each hypothesis by its fit.
static void weigh_hypotheses(struct loss_estimator *e, const struct loss_estimate *gap,
                             const struct candidates *list)
{
    const double rates[LOSS_REFERENCES] = {rate_of(&gap->around), rate_of(&gap->lately),
                                           rate_of(&e->all)};
    double sum = 0;

    for (unsigned h = 0; h < LOSS_HYPOTHESES; h++) {
        bool is_broad = h == LOSS_HYPOTHESES - 1;
        double rate = is_broad ? 0 : rates[h / LOSS_SPREADS], fit = 0;
        if (is_broad)
            fit = share_broadly(list, e->lap, e->share[h]);
        else if (rate > 0)
            fit = share_around(list, (double)gap->modulo, rate * gap->ticks,
                               spreads[h % LOSS_SPREADS], e->share[h]);
        else
            memset(e->share[h], 0, sizeof e->share[h]);
        e->weight[h] *= fit > min_fit ? fit : min_fit;
        sum += e->weight[h];
    }
    for (unsigned h = 0; h < LOSS_HYPOTHESES; h++)
        e->weight[h] /= sum;
}

// Cuts the interval from the weighted sum of the shares. Returns the mean of the sum.
static double cut_interval(const struct loss_estimator *e, const struct candidates *list,
                           struct loss_estimate *gap)
{
    double total = 0, below = 0, mean = 0;

    for (unsigned i = 0; i < list->count; i++)
        for (unsigned h = 0; h < LOSS_HYPOTHESES; h++)
            total += e->weight[h] * e->share[h][i];
    for (unsigned i = 0; i < list->count; i++) {
        double mass = 0, number = list->first + i * list->step;
        for (unsigned h = 0; h < LOSS_HYPOTHESES; h++)
            mass += e->weight[h] * e->share[h][i] / total;
        mean += mass * number;
        if (below < tail)
            gap->low = (uint64_t)number;
        if (below < 1 - tail)
            gap->high = (uint64_t)number;
        below += mass;
    }
    // The numbers next to a candidate that stands for several belong to the interval.
    uint64_t next = (uint64_t)list->step - gap->modulo;
    gap->low -= gap->low - gap->at_least < next ? gap->low - gap->at_least : next;
    gap->high += gap->at_most - gap->high < next ? gap->at_most - gap->high : next;
    return mean;
}

// Finds the largest number of the gap's candidates that the fastest load allows. Returns whether
// enough was seen to know it.
static bool find_at_most(const struct loss_estimator *e, struct loss_estimate *gap)
{
    double load = e->fastest * gap->ticks * headroom + e->lap / 2, laps = 0;

    // Beyond 2^50, neighboring integers are too close to each other for a double.
    if (!e->has_window || e->fastest <= 0 || e->all.entries < (double)MIN_ENTRIES ||
        load >= 0x1p50 || gap->at_least >= UINT64_C(1) << 50 || gap->modulo <= EXTRACT_LOG_ANY_MORE)
        return false;
    if (load > (double)gap->at_least)
        laps = (load - (double)gap->at_least) / (double)gap->modulo;
    gap->at_most = gap->at_least + (uint64_t)laps * gap->modulo;
    return true;
}

void loss_estimator_end(struct loss_estimator *e)
{
    loss_estimator_break(e);
    if (e->count && !e->share && !(e->share = malloc(LOSS_HYPOTHESES * sizeof *e->share)))
        e->is_starved = true;
    for (size_t i = 0; e->share && i < e->count; i++) {
        struct loss_estimate *gap = &e->gaps[i];
        gap->is_known = find_at_most(e, gap);
        if (!gap->is_known)
            continue;
        struct candidates list = list_candidates(gap);
        weigh_hypotheses(e, gap, &list);
        add_load(&e->all, cut_interval(e, &list, gap), gap->ticks);
        for (unsigned h = 0; h < LOSS_HYPOTHESES; h++)
            e->weight[h] = (1 - returning) * e->weight[h] + returning * start_weight(h);
    }
}

const struct loss_estimate *loss_estimator_find(const struct loss_estimator *e, uint64_t id)
{
    size_t low = 0, high = e->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (e->gaps[middle].id < id)
            low = middle + 1;
        else
            high = middle;
    }
    return low < e->count && e->gaps[low].id == id && e->gaps[low].is_known ? &e->gaps[low] : NULL;
}

// ---- The walk over the events ----

void loss_estimator_start(struct loss_estimator *e, uint64_t lap)
{
    *e = (struct loss_estimator){.lap = (double)(lap ? lap : 1)};
    for (unsigned h = 0; h < LOSS_HYPOTHESES; h++)
        e->weight[h] = start_weight(h);
}

void loss_estimator_free(struct loss_estimator *e)
{
    free(e->gaps);
    free(e->share);
    e->gaps = NULL;
    e->share = NULL;
    e->count = e->capacity = 0;
}

// Ends the counting after the newest gap: enough entries followed, or no more will follow.
static void end_after_gap(struct loss_estimator *e)
{
    if (e->state != LOSS_AFTER_GAP)
        return;
    add_load(&e->gaps[e->count - 1].around, e->after.entries, e->after.ticks);
    if (e->after.entries >= e->lap / (double)BRIEF_WINDOWS) {
        note_fastest(e, &e->after);
        e->has_window = true;
    }
    e->before = e->window = (struct load){0, 0};
    add_known(e, e->after.entries, e->after.ticks);
    e->after = (struct load){0, 0};
    e->state = LOSS_IN_ROW;
}

// Ends a gap at the first entry after it.
static void end_gap(struct loss_estimator *e, double ticks)
{
    e->state = LOSS_IN_ROW;
    if (e->is_counted) {
        add_known(e, (double)e->counted + 1, ticks);
        return;
    }
    struct loss_estimate *gap = &e->gaps[e->count - 1];
    gap->ticks = ticks;
    gap->around = e->before;
    add_load(&gap->around, e->window.entries, e->window.ticks);
    gap->lately = e->lately;
    // What was certainly lost was written in that time, so it is a load that was seen.
    const struct load certain = {(double)gap->at_least, ticks};
    if (certain.entries >= e->lap / (double)BRIEF_WINDOWS)
        note_fastest(e, &certain);
    e->state = LOSS_AFTER_GAP;
}

void loss_estimator_entry(struct loss_estimator *e, uint64_t ticks)
{
    double passed = e->state != LOSS_NO_ENTRY && ticks > e->last ? (double)(ticks - e->last) : 0;

    e->last = ticks;
    switch (e->state) {
    case LOSS_NO_ENTRY:
        e->state = LOSS_IN_ROW;
        break;
    case LOSS_IN_ROW:
        add_known(e, 1, passed);
        break;
    case LOSS_IN_GAP:
        end_gap(e, passed);
        break;
    case LOSS_AFTER_GAP:
        add_load(&e->after, 1, passed);
        if (e->after.entries >= e->lap / 2)
            end_after_gap(e);
        break;
    }
}

void loss_estimator_gap(struct loss_estimator *e, uint64_t id, uint64_t at_least, uint64_t modulo)
{
    end_after_gap(e);
    // If no entry is between two gaps, the duration of neither is known.
    if (e->state != LOSS_IN_ROW) {
        loss_estimator_break(e);
        return;
    }
    e->is_counted = !modulo;
    e->counted = at_least;
    if (!e->is_counted) {
        struct loss_estimate *list = extract_grow(e->gaps, &e->capacity, e->count, sizeof *e->gaps);
        e->is_starved |= !list;
        if (!list) {
            loss_estimator_break(e);
            return;
        }
        e->gaps = list;
        e->gaps[e->count++] =
            (struct loss_estimate){.id = id, .at_least = at_least, .modulo = modulo};
    }
    e->state = LOSS_IN_GAP;
}

void loss_estimator_break(struct loss_estimator *e)
{
    end_after_gap(e);
    if (e->state == LOSS_IN_GAP && !e->is_counted)
        e->count--; // the end of the gap is not known
    e->state = LOSS_NO_ENTRY;
    e->before = e->window = (struct load){0, 0};
}
