// SPDX-License-Identifier: MIT
// analysis: compares two traces by their activities (activities.h).
//
//   activities of A ──┐ matched   ┌─ how much longer each takes     ──> COST
//                     ├──────────►│  how much more often it happens ──> RATE ──> follows others
//   activities of B ──┘ by names  └─ priorities of threads          ──> PRIORITY
//
// A difference of means is likely if it is larger than three standard errors. For the rank, the
// contributed time weighs less the more it may be chance.
#include "analysis/activities.h"
#include "base/grow.h"
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MIN_ROOTS = 2 };

static const double ERRORS = 3;      // standard errors that a likely change exceeds
static const double AGREEMENT = 0.2; // loads that differ less are the same

// A name that the diff owns: of an object that is not in the trace, or of an event whose id is part
// of its name.
struct owned_name {
    struct owned_name *next;
    char text[64];
};

// An activity in both traces; NULL: it is not in that one.
struct pair {
    const struct activity *a, *b;
    const char *thread, *object; // names
    size_t rate_change;          // index of its RATE change + 1; 0: none
    // How often per second it makes the activity begin that is looked at.
    double caused_a, caused_b;
};

struct side {
    struct extract_diff_side *out;
    struct activities found;
    double unit; // seconds per tick; 1: times are ticks
};

struct comparison {
    struct extract_diff *diff;
    struct side a, b;
    struct pair *pairs;
    size_t pair_count, capacity;
    bool failed; // out of memory
};

// ---- words ----

const char *extract_change_kind_name(enum extract_change_kind kind)
{
    static const char *const names[] = {"priority", "cost", "rate"};

    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "unknown";
}

const char *extract_activity_name(enum extract_activity activity)
{
    static const char *const names[] = {"response", "hold", "interrupt"};

    return (unsigned)activity < sizeof names / sizeof *names ? names[activity] : "unknown";
}

const char *extract_certainty_name(enum extract_certainty certainty)
{
    static const char *const names[] = {"certain", "likely", "unknown"};

    return (unsigned)certainty < sizeof names / sizeof *names ? names[certainty] : "unknown";
}

// ---- names ----

// Returns space for a name that the diff owns; NULL: memory is short.
static struct owned_name *own_name(struct comparison *c)
{
    struct owned_name *name = calloc(1, sizeof *name);

    if (!name) {
        c->failed = true;
        return NULL;
    }
    name->next = c->diff->owned;
    c->diff->owned = name;
    return name;
}

// Returns what reports print for an object: its name, or its address.
static const char *name_of(struct comparison *c, const struct extract_object *object,
                           uint64_t address)
{
    struct owned_name *name = object ? NULL : own_name(c);

    if (name)
        snprintf(name->text, sizeof name->text, "0x%llx", (unsigned long long)address);
    return object ? object->shown : name ? name->text : "";
}

// Returns what reports print for an event.
static const char *name_of_service(struct comparison *c,
                                   const struct extract_service_stats *service)
{
    const struct extract_event_type *type = service->type;
    char number[12];

    if (service->named)
        return service->named->shown;
    if (!type->range)
        return type->name;
    struct owned_name *name = own_name(c);
    extract_event_type_number(type, service->id, number);
    if (name)
        snprintf(name->text, sizeof name->text, "%.48s %s", type->name, number);
    return name ? name->text : "";
}

// Fills in the names of an activity.
static void name_pair(struct comparison *c, const struct side *side,
                      const struct activity *activity, struct pair *pair)
{
    const struct extract_trace *trace = side->found.trace;

    if (activity->kind == EXTRACT_ACTIVITY_INTERRUPT)
        return;
    pair->thread = name_of(c, extract_trace_thread(trace, activity->thread), activity->thread);
    if (activity->kind == EXTRACT_ACTIVITY_HOLD)
        pair->object = name_of(c, extract_trace_object(trace, activity->object), activity->object);
}

static bool is_same_name(const char *a, const char *b)
{
    return a == b || (a && b && strcmp(a, b) == 0);
}

// ---- matching ----

// Makes the pairs of activities. Of several with the same names, the first of A and the first of B
// make a pair, and so on.
static bool match_activities(struct comparison *c)
{
    size_t count_a = c->a.found.count, count_b = c->b.found.count;
    size_t of_a = 0;

    c->pairs = calloc(count_a + count_b + 1, sizeof *c->pairs);
    if (!c->pairs)
        return false;
    for (size_t i = 0; i < count_a; i++) {
        struct pair *pair = &c->pairs[c->pair_count];
        if (!c->a.found.list[i].count) // it began, but did not end in the trace
            continue;
        pair->a = &c->a.found.list[i];
        c->a.found.list[i].pair = c->pair_count;
        name_pair(c, &c->a, pair->a, pair);
        of_a = ++c->pair_count;
    }
    for (size_t i = 0; i < count_b; i++) {
        const struct activity *b = &c->b.found.list[i];
        struct pair added = {.b = b};
        if (!b->count)
            continue;
        name_pair(c, &c->b, b, &added);
        size_t k = 0;
        for (; k < of_a; k++) {
            const struct pair *pair = &c->pairs[k];
            const struct activity *a = pair->a;
            if (!pair->b && a->kind == b->kind && a->is_second_level == b->is_second_level &&
                a->has_number == b->has_number && (!a->has_number || a->object == b->object) &&
                is_same_name(pair->thread, added.thread) &&
                is_same_name(pair->object, added.object))
                break;
        }
        if (k == of_a) {
            k = c->pair_count++;
            c->pairs[k] = added;
        }
        c->pairs[k].b = b;
        c->b.found.list[i].pair = k;
    }
    return !c->failed;
}

// ---- figures of an activity ----

// A figure with its standard error.
struct estimate {
    double value, error;
    uint64_t count;
};

static double variance_of(const struct moments *moments)
{
    return moments->count > 1 ? moments->squares / (double)(moments->count - 1) : 0;
}

// Estimates the mean cost. A single sample says nothing of the error: the other trace's may.
static struct estimate cost_of(const struct side *side, const struct activity *activity,
                               const struct activity *other)
{
    const struct moments *cost = &activity->cost;
    const struct moments *of = cost->count > 1 || !other ? cost : &other->cost;
    struct estimate result = {.value = cost->mean * side->unit, .count = cost->count};

    if (cost->count)
        result.error =
            of->count > 1 ? sqrt(variance_of(of) / (double)cost->count) * side->unit : result.value;
    return result;
}

// Estimates the rate: by the gaps, or by the number if there are too few. Where the trace begins
// and ends may change the number by one. Where nothing happened (NULL), the error is a limit: three
// times of it, four or five events, would hardly be missed.
static struct estimate rate_of(const struct side *side, const struct activity *activity)
{
    double span = side->out->span;

    if (!activity)
        return (struct estimate){.error = 1.5 / span};
    const struct moments *gap = &activity->gap;
    double count = (double)activity->count;
    struct estimate result = {.value = count / span, .count = activity->count};
    double variation = 1; // of the gaps: deviation by mean
    if (gap->count > 1 && gap->mean > 0)
        variation = sqrt(variance_of(gap)) / gap->mean;
    result.error = result.value * variation / sqrt(count) + 0.5 / span;
    return result;
}

// Returns by how many standard errors a difference must be larger: more for few samples.
static double errors_for(uint64_t a, uint64_t b)
{
    uint64_t fewer = a < b ? a : b;

    return ERRORS * (1 + 4 / (double)(fewer ? fewer : 1));
}

// ---- threads ----

static const char *thread_name(const struct extract_diff_thread *thread)
{
    return (thread->b ? thread->b : thread->a)->thread->shown;
}

static bool list_threads(struct comparison *c)
{
    struct extract_diff *diff = c->diff;
    const struct extract_stats *a = diff->a.stats, *b = diff->b.stats;
    size_t of_a = a->thread_count;

    diff->threads = calloc(of_a + b->thread_count + 1, sizeof *diff->threads);
    if (!diff->threads)
        return false;
    for (size_t i = 0; i < of_a; i++)
        diff->threads[diff->thread_count++].a = &a->threads[i];
    for (size_t i = 0; i < b->thread_count; i++) {
        const struct extract_thread_stats *thread = &b->threads[i];
        size_t k = 0;
        while (k < of_a && (diff->threads[k].b ||
                            strcmp(diff->threads[k].a->thread->shown, thread->thread->shown) != 0))
            k++;
        k = k < of_a ? k : diff->thread_count++;
        diff->threads[k].b = thread;
    }
    return true;
}

// Returns the thread of a name; NULL: there is none.
static const struct extract_diff_thread *find_thread(const struct extract_diff *diff,
                                                     const char *name)
{
    for (size_t i = 0; name && i < diff->thread_count; i++)
        if (strcmp(thread_name(&diff->threads[i]), name) == 0)
            return &diff->threads[i];
    return NULL;
}

// Returns whether a thread responds less often since its responses take longer: it waits for
// itself, so that its period grows as its responses do. A thread that never runs in a trace whose
// cores are never idle does not get a core.
static bool is_late(const struct comparison *c, const char *name, double rate_a, double rate_b)
{
    const struct extract_diff_thread *thread = find_thread(c->diff, name);
    const struct extract_stats *stats = c->diff->b.stats;

    if (!thread || !thread->a || !thread->b || !thread->a->response.count || rate_b >= rate_a)
        return false;
    const struct extract_distribution *a = &thread->a->response, *b = &thread->b->response;
    if (!b->count)
        return stats->idle_ticks < stats->span_ticks / 100;
    double longer = (double)b->sum / (double)b->count * c->b.unit -
                    (double)a->sum / (double)a->count * c->a.unit;
    return longer > (1 / rate_b - 1 / rate_a) / 2;
}

// ---- load ----

static int compare_numbers(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

// Finds by how much more often activities happen in B that nothing else causes. Those that happen
// as often as in A, such as the timer, do not depend on the load, and those of threads that are
// late say nothing of it. If more of the others happen more often than less often, or the other way
// round, their median is the change of the load.
static bool find_load(struct comparison *c)
{
    double *ratios = calloc(c->pair_count + 1, sizeof *ratios);
    size_t count = 0, below = 0;

    c->diff->load = 1;
    if (!ratios)
        return false;
    for (size_t i = 0; i < c->pair_count; i++) {
        const struct pair *pair = &c->pairs[i];
        if (!pair->a || !pair->b || pair->a->kind == EXTRACT_ACTIVITY_HOLD ||
            pair->a->caused * 2 > pair->a->count)
            continue;
        struct estimate a = rate_of(&c->a, pair->a), b = rate_of(&c->b, pair->b);
        double difference = fabs(b.value - a.value);
        if (difference < AGREEMENT * a.value || difference < ERRORS * hypot(a.error, b.error) ||
            is_late(c, pair->thread, a.value, b.value))
            continue;
        ratios[count++] = b.value / a.value;
        below += b.value < a.value;
    }
    if (count)
        qsort(ratios, count, sizeof *ratios, compare_numbers);
    size_t above = count - below;
    if (above >= MIN_ROOTS && above > below)
        c->diff->load = ratios[count - 1 - above / 2];
    else if (below >= MIN_ROOTS && below > above)
        c->diff->load = ratios[below / 2];
    free(ratios);
    return true;
}

// ---- changes ----

static struct extract_change *add_change(struct comparison *c, const struct extract_change *change)
{
    struct extract_diff *diff = c->diff;
    struct extract_change *grown =
        extract_grow(diff->changes, &c->capacity, diff->change_count, sizeof *grown);

    if (!grown) {
        c->failed = true;
        return NULL;
    }
    diff->changes = grown;
    grown[diff->change_count] = *change;
    return &grown[diff->change_count++];
}

static struct extract_change change_of(const struct pair *pair, enum extract_change_kind kind)
{
    const struct activity *activity = pair->b ? pair->b : pair->a;

    return (struct extract_change){.kind = kind,
                                   .activity = activity->kind,
                                   .thread = pair->thread,
                                   .object = pair->object,
                                   .number = activity->object,
                                   .has_number = activity->has_number,
                                   .is_second_level = activity->is_second_level,
                                   .in_a = pair->a != NULL,
                                   .in_b = pair->b != NULL};
}

// Fills in the time that a difference contributes: `cost` is the time for each unit of it. For the
// rank, a difference of `error` has half of its weight, a smaller one less, a larger one more.
static void set_time(struct extract_change *change, double difference, double error, double cost)
{
    double least = fabs(difference) - error;

    change->time = difference * cost;
    change->least = least > 0 ? least * cost : 0;
    change->certainty = least > 0 ? EXTRACT_LIKELY : EXTRACT_BY_CHANCE;
    if (difference != 0)
        change->weight = fabs(change->time) / (1 + pow(error / difference, 4));
}

static struct extract_change cost_change(const struct comparison *c, const struct pair *pair)
{
    struct extract_change change = change_of(pair, EXTRACT_CHANGE_COST);

    if (!pair->a || !pair->b || !pair->a->cost.count || !pair->b->cost.count)
        return change;
    struct estimate a = cost_of(&c->a, pair->a, pair->b);
    struct estimate b = cost_of(&c->b, pair->b, pair->a);
    change.a = a.value;
    change.b = b.value;
    change.rate = rate_of(&c->b, pair->b).value;
    set_time(&change, b.value - a.value,
             errors_for(a.count, b.count) * sqrt(a.error * a.error + b.error * b.error),
             change.rate);
    return change;
}

// Returns by how much a rate differs beyond the change of the load: rates need not follow it to the
// same degree, and those of a timer do not at all.
static double rate_difference(double a, double b, double load)
{
    double most = load > 1 ? load * (1 + AGREEMENT) : 1;
    double least = load < 1 ? load * (1 - AGREEMENT) : 1;

    return b > a * most ? b - a * most : b < a * least ? b - a * least : 0;
}

static struct extract_change rate_change(const struct comparison *c, const struct pair *pair)
{
    struct extract_change change = change_of(pair, EXTRACT_CHANGE_RATE);
    struct estimate a = rate_of(&c->a, pair->a), b = rate_of(&c->b, pair->b);
    bool is_fewer_a = pair->a && (!pair->b || a.count < b.count);
    uint64_t fewer = is_fewer_a ? a.count : b.count;
    double load = c->diff->load, error_b = b.error / load;
    double cost = pair->a && pair->a->cost.count ? cost_of(&c->a, pair->a, NULL).value
                  : pair->b                      ? cost_of(&c->b, pair->b, NULL).value
                                                 : 0;

    change.a = a.value;
    change.b = b.value;
    set_time(&change, rate_difference(a.value, b.value, load),
             errors_for(fewer, fewer) *
                 (pair->a && pair->b ? hypot(a.error, error_b) : fmax(a.error, error_b)),
             cost);
    return change;
}

// Compares an activity. Where it takes longer but happens less often, or the other way round, the
// same work may only be done in fewer or more parts: then only the difference counts.
static void compare_activity(struct comparison *c, struct pair *pair)
{
    struct extract_change cost = cost_change(c, pair), rate = rate_change(c, pair);
    double larger = fmax(fabs(cost.time), fabs(rate.time));

    if ((cost.time > 0) != (rate.time > 0) && larger > 0) {
        double part = fmin(1, fabs(cost.time + rate.time) / larger);
        cost.weight *= part;
        rate.weight *= part;
    }
    if (cost.time != 0)
        add_change(c, &cost);
    if (rate.time != 0 && add_change(c, &rate))
        pair->rate_change = c->diff->change_count;
}

// ---- what explains a rate ----

// Notes in each pair how often it made an activity of a side begin (NULL: it is not there).
static void note_causes(const struct comparison *c, const struct side *side,
                        const struct activity *activity)
{
    const struct activities *found = &side->found;
    size_t index = activity ? (size_t)(activity - found->list) : 0;

    for (size_t i = activity ? activity->first_cause : found->cause_count;
         i < found->cause_count && found->causes[i].activity == index; i++) {
        const struct activity *by = &found->list[found->causes[i].by];
        struct pair *pair = &c->pairs[by->pair];
        if (by->count) // otherwise, it has no pair
            *(side == &c->b ? &pair->caused_b : &pair->caused_a) =
                (double)found->causes[i].count / side->out->span;
    }
}

// Returns the pair that best explains why an activity began more often, or less often; SIZE_MAX:
// none explains at least half of it.
static size_t find_cause(const struct comparison *c, size_t index)
{
    const struct pair *pair = &c->pairs[index];
    const struct extract_change *change = &c->diff->changes[pair->rate_change - 1];
    double needed = rate_difference(change->a, change->b, c->diff->load) / 2, best = fabs(needed);
    size_t result = SIZE_MAX;

    for (size_t i = 0; i < c->pair_count; i++)
        c->pairs[i].caused_a = c->pairs[i].caused_b = 0;
    note_causes(c, &c->a, pair->a);
    note_causes(c, &c->b, pair->b);
    for (size_t i = 0; i < c->pair_count; i++) {
        const struct pair *by = &c->pairs[i];
        const struct extract_change *other =
            by->rate_change ? &c->diff->changes[by->rate_change - 1] : NULL;
        if (i == index || !other || other->least <= 0 || (other->time > 0) != (change->time > 0))
            continue;
        // A thread takes a mutex as often as it responds.
        if (change->activity == EXTRACT_ACTIVITY_HOLD) {
            if (other->activity == EXTRACT_ACTIVITY_RESPONSE &&
                is_same_name(other->thread, change->thread))
                return i;
            continue;
        }
        double explained = by->caused_b / c->diff->load - by->caused_a;
        if ((explained > 0) == (needed > 0) && fabs(explained) >= best) {
            best = fabs(explained);
            result = i;
        }
    }
    return result;
}

// Returns the share of its time that a thread was ready but did not run.
static double ready_share(const struct extract_thread_stats *thread, const struct side *side)
{
    return thread ? (double)thread->ready_ticks * side->unit / side->out->span : 0;
}

// Returns the change of a priority that explains why a thread responds less often, as it is ready
// for longer instead, or the other way round; 0: none, otherwise its index + 1. It may be the
// thread's own, or else that which caused most delays.
static size_t find_priority_cause(const struct comparison *c, const struct extract_change *change)
{
    const struct extract_diff *diff = c->diff;
    const struct extract_diff_thread *thread = find_thread(diff, change->thread);
    size_t best = 0;

    if (!thread)
        return 0;
    bool is_silent = (thread->a && !thread->a->events) || (thread->b && !thread->b->events);
    double ready = ready_share(thread->b, &c->b) - ready_share(thread->a, &c->a);
    // Of a thread that never ran, it is not known whether it was ready.
    if (!is_silent && ((ready > 0) == (change->time > 0) || fabs(ready) < fabs(change->time) / 2))
        return 0;
    for (size_t k = 0; k < diff->change_count; k++) {
        const struct extract_change *other = &diff->changes[k];
        if (other->kind != EXTRACT_CHANGE_PRIORITY)
            continue;
        if (is_same_name(other->thread, change->thread))
            return k + 1;
        if (!best || other->time > diff->changes[best - 1].time)
            best = k + 1;
    }
    return best;
}

// Connects each likely change of a rate with the one that explains it, unless that would make a
// cycle, and adds up what follows each change.
static void connect_rates(struct comparison *c)
{
    struct extract_change *changes = c->diff->changes;

    for (size_t i = 0; i < c->pair_count; i++) {
        size_t own = c->pairs[i].rate_change;
        struct extract_change *change = own ? &changes[own - 1] : NULL;
        if (!change || change->least <= 0)
            continue;
        size_t cause = find_cause(c, i);
        size_t by = cause != SIZE_MAX ? c->pairs[cause].rate_change : 0;
        if (!by && change->activity == EXTRACT_ACTIVITY_RESPONSE)
            by = find_priority_cause(c, change);
        size_t end = by;
        while (end && end != own)
            end = changes[end - 1].follows;
        if (!end)
            change->follows = by;
        change->is_late = !change->follows && is_late(c, c->pairs[i].thread, change->a, change->b);
        if (change->is_late)
            change->weight = 0;
    }
    for (size_t i = 0; i < c->diff->change_count; i++) {
        size_t root = i;
        while (changes[root].follows)
            root = changes[root].follows - 1;
        changes[root].total += changes[i].weight;
    }
}

// ---- priorities ----

static double delay_of(const struct side *side, size_t victim, size_t culprit)
{
    const struct activities *found = &side->found;

    if (!found->delays || victim == SIZE_MAX || culprit == SIZE_MAX)
        return 0;
    return found->delays[victim * found->thread_count + culprit] * side->unit / side->out->span;
}

// Returns the places of A's threads among those of B; SIZE_MAX: not in B. Of several with the same
// name, the first ones match, and so on. NULL: memory is short.
static size_t *match_threads(const struct activities *a, const struct activities *b)
{
    size_t *places = calloc(a->thread_count + 1, sizeof *places);
    bool *is_taken = calloc(b->thread_count + 1, sizeof *is_taken);

    for (size_t i = 0; places && is_taken && i < a->thread_count; i++) {
        size_t k = 0;
        while (k < b->thread_count && (is_taken[k] || strcmp(a->threads[i].object->shown,
                                                             b->threads[k].object->shown) != 0))
            k++;
        places[i] = k < b->thread_count ? k : SIZE_MAX;
        is_taken[k] = true; // there is one more than threads
    }
    if (!is_taken) {
        free(places);
        places = NULL;
    }
    free(is_taken);
    return places;
}

// Finds the priorities of a thread in both traces: those with which most of its events were
// recorded, or else those with which it is registered. Returns false if one is not known.
static bool find_priorities(const struct activity_thread *a, const struct activity_thread *b,
                            uint16_t *in_a, uint16_t *in_b)
{
    bool has_events = a->priority != EXTRACT_NO_PRIORITY && b->priority != EXTRACT_NO_PRIORITY;

    *in_a = has_events ? a->priority : a->object->priority;
    *in_b = has_events ? b->priority : b->object->priority;
    return *in_a != EXTRACT_NO_PRIORITY && *in_b != EXTRACT_NO_PRIORITY;
}

// Returns by how much the delays between a thread and all others changed.
static double changed_delays(const struct comparison *c, const size_t *places, size_t thread)
{
    double load = c->diff->load, sum = 0;

    for (size_t i = 0; i < c->a.found.thread_count; i++) {
        if (i == thread)
            continue;
        sum +=
            fabs(delay_of(&c->b, places[thread], places[i]) / load - delay_of(&c->a, thread, i)) +
            fabs(delay_of(&c->b, places[i], places[thread]) / load - delay_of(&c->a, i, thread));
    }
    return sum;
}

// Adds a change for each thread whose priority is another one. Returns false if memory is short.
static bool compare_priorities(struct comparison *c)
{
    const struct activities *a = &c->a.found, *b = &c->b.found;
    size_t *places = match_threads(a, b);
    bool is_done = places;

    for (size_t i = 0; places && i < a->thread_count; i++) {
        const struct activity_thread *in_a = &a->threads[i];
        const struct activity_thread *in_b = places[i] == SIZE_MAX ? NULL : &b->threads[places[i]];
        uint16_t before, after;
        if (!in_b || !find_priorities(in_a, in_b, &before, &after) || before == after)
            continue;
        bool is_clear = !in_a->has_other_priorities && !in_b->has_other_priorities;
        double time = changed_delays(c, places, i);
        add_change(
            c, &(struct extract_change){.kind = EXTRACT_CHANGE_PRIORITY,
                                        .certainty = is_clear ? EXTRACT_CERTAIN : EXTRACT_LIKELY,
                                        .thread = in_a->object->shown,
                                        .in_a = true,
                                        .in_b = true,
                                        .a = before,
                                        .b = after,
                                        .time = time,
                                        .least = time,
                                        .weight = time});
    }
    free(places);
    return is_done;
}

// ---- order ----

// A change, with its place before the changes were sorted.
struct placed_change {
    struct extract_change change;
    size_t place;
};

static int compare_changes(const void *a, const void *b)
{
    const struct extract_change *x = &((const struct placed_change *)a)->change;
    const struct extract_change *y = &((const struct placed_change *)b)->change;

    if (x->total != y->total)
        return x->total < y->total ? 1 : -1;
    if (x->certainty != y->certainty)
        return x->certainty > y->certainty ? 1 : -1;
    if (fabs(x->time) != fabs(y->time))
        return fabs(x->time) < fabs(y->time) ? 1 : -1;
    return 0;
}

// Sorts the changes. `follows` still names the same ones.
static bool sort_changes(struct extract_diff *diff)
{
    struct extract_change *changes = diff->changes;
    size_t count = diff->change_count;
    size_t *places = calloc(count + 1, sizeof *places);
    struct placed_change *sorted = calloc(count + 1, sizeof *sorted);
    bool has_memory = places && sorted;

    if (has_memory) {
        for (size_t i = 0; i < count; i++)
            sorted[i] = (struct placed_change){changes[i], i};
        qsort(sorted, count, sizeof *sorted, compare_changes);
        for (size_t i = 0; i < count; i++)
            places[sorted[i].place] = i;
        for (size_t i = 0; i < count; i++) {
            changes[i] = sorted[i].change;
            if (changes[i].follows)
                changes[i].follows = places[changes[i].follows - 1] + 1;
        }
    }
    free(places);
    free(sorted);
    return has_memory;
}

// ---- tables ----

static int compare_waits(const void *a, const void *b)
{
    const struct extract_diff_wait *x = a, *y = b;
    double p = fabs(x->b - x->a), q = fabs(y->b - y->a);

    return (p < q) - (p > q);
}

// Adds the waits of one side, all holders together.
static void add_waits(struct comparison *c, const struct side *side, bool is_b)
{
    struct extract_diff *diff = c->diff;
    const struct extract_stats *stats = side->out->stats;

    for (size_t i = 0; i < stats->wait_count; i++) {
        const struct extract_wait_stats *wait = &stats->waits[i];
        const char *name = wait->object_address || wait->object
                               ? name_of(c, wait->object, wait->object_address)
                               : "";
        size_t k = 0;
        while (k < diff->wait_count && (strcmp(diff->waits[k].wait, wait->wait) != 0 ||
                                        strcmp(diff->waits[k].object, name) != 0))
            k++;
        if (k == diff->wait_count)
            diff->waits[diff->wait_count++] =
                (struct extract_diff_wait){.wait = wait->wait, .object = name};
        double time = (double)wait->ticks * side->unit / side->out->span;
        *(is_b ? &diff->waits[k].b : &diff->waits[k].a) += time;
    }
}

static bool list_waits(struct comparison *c)
{
    struct extract_diff *diff = c->diff;

    diff->waits =
        calloc(diff->a.stats->wait_count + diff->b.stats->wait_count + 1, sizeof *diff->waits);
    if (!diff->waits)
        return false;
    if (diff->a.span > 0)
        add_waits(c, &c->a, false);
    if (diff->b.span > 0)
        add_waits(c, &c->b, true);
    if (diff->wait_count)
        qsort(diff->waits, diff->wait_count, sizeof *diff->waits, compare_waits);
    return true;
}

static int compare_counts(const void *a, const void *b)
{
    const struct extract_diff_count *x = a, *y = b;
    double p = fabs(x->b - x->a), q = fabs(y->b - y->a);

    if (x->is_likely != y->is_likely)
        return y->is_likely - x->is_likely;
    return (p < q) - (p > q);
}

// Lists how often events were recorded. Whether a change is likely is known as if each event came
// by itself.
static bool list_counts(struct comparison *c)
{
    struct extract_diff *diff = c->diff;
    const struct extract_diff_side *sides[] = {&diff->a, &diff->b};

    diff->counts = calloc(diff->a.stats->service_count + diff->b.stats->service_count + 1,
                          sizeof *diff->counts);
    if (!diff->counts)
        return false;
    for (unsigned s = 0; s < 2; s++)
        for (size_t i = 0; i < sides[s]->stats->service_count && sides[s]->span > 0; i++) {
            const struct extract_service_stats *service = &sides[s]->stats->services[i];
            const char *name = name_of_service(c, service);
            size_t k = 0;
            while (k < diff->count_count && strcmp(diff->counts[k].name, name) != 0)
                k++;
            if (k == diff->count_count)
                diff->counts[diff->count_count++].name = name;
            *(s ? &diff->counts[k].b : &diff->counts[k].a) +=
                (double)service->count / sides[s]->span;
        }
    for (size_t i = 0; i < diff->count_count; i++) {
        struct extract_diff_count *count = &diff->counts[i];
        double load = diff->load, span_a = diff->a.span, span_b = diff->b.span;
        double error = sqrt((count->a + 1 / span_a) / span_a +
                            (count->b + 1 / span_b) / (span_b * load * load));
        count->is_likely = fabs(rate_difference(count->a, count->b, load)) > ERRORS * error;
    }
    if (diff->count_count)
        qsort(diff->counts, diff->count_count, sizeof *diff->counts, compare_counts);
    return true;
}

// ---- the response that got worse ----

// Explains the sample of a thread's responses whose length is nearest to the 99th percentile.
static enum extract_code explain(const struct side *side, const struct activity *activity,
                                 uint64_t p99, struct extract_error *error)
{
    const struct history_window *best = NULL;
    char at[24];
    uint64_t nearest = UINT64_MAX;

    for (size_t i = 0; i < ACTIVITY_SAMPLES && i < activity->count; i++) {
        const struct history_window *sample = &activity->samples[i];
        uint64_t length = sample->to - sample->from;
        uint64_t distance = length > p99 ? length - p99 : p99 - length;
        if (length && distance < nearest) {
            nearest = distance;
            best = sample;
        }
    }
    if (!best)
        return EXTRACT_OK;
    char address[24];
    snprintf(at, sizeof at, "%llu", (unsigned long long)(best->from + (best->to - best->from) / 2));
    snprintf(address, sizeof address, "0x%llx", (unsigned long long)activity->thread);
    const struct extract_why_options options = {
        .size = sizeof options, .thread = address, .at = at, .hz = side->out->hz};
    enum extract_code code = extract_why_new(&side->out->why, side->found.trace, &options, error);
    if (!code)
        side->out->why->chain_count = 1;
    return code;
}

// Chooses the thread whose responses took most time more, and explains one of them in each trace.
static enum extract_code explain_worse(struct comparison *c, struct extract_error *error)
{
    struct extract_diff *diff = c->diff;
    const struct extract_diff_thread *worst = NULL;
    double most = 0;

    for (size_t i = 0; i < diff->thread_count; i++) {
        const struct extract_diff_thread *thread = &diff->threads[i];
        if (!thread->a || !thread->b || !thread->a->response.count || !thread->b->response.count)
            continue;
        const struct extract_distribution *a = &thread->a->response, *b = &thread->b->response;
        double mean_a = (double)a->sum / (double)a->count * c->a.unit;
        double mean_b = (double)b->sum / (double)b->count * c->b.unit;
        double error_a = a->deviation * c->a.unit, error_b = b->deviation * c->b.unit;
        double error_of_mean =
            sqrt(error_a * error_a / (double)a->count + error_b * error_b / (double)b->count);
        double more = (mean_b - mean_a - errors_for(a->count, b->count) * error_of_mean) *
                      (double)b->count / diff->b.span;
        if (more > most) {
            most = more;
            worst = thread;
        }
    }
    if (!worst)
        return EXTRACT_OK;
    diff->worse = worst->b->thread->shown;
    enum extract_code code = EXTRACT_OK;
    for (size_t i = 0; i < c->pair_count && !code; i++) {
        const struct pair *pair = &c->pairs[i];
        if (!pair->a || !pair->b || pair->a->kind != EXTRACT_ACTIVITY_RESPONSE ||
            !is_same_name(pair->thread, diff->worse))
            continue;
        code = explain(&c->a, pair->a, worst->a->response.p99, error);
        code = code ? code : explain(&c->b, pair->b, worst->b->response.p99, error);
        break;
    }
    return code;
}

// ---- all of it ----

// `name` is that of the side in messages.
static enum extract_code read_side(struct side *side, const char *name, struct extract_error *error)
{
    const struct extract_trace *trace = side->out->trace;
    struct extract_view *view = NULL;
    enum extract_code code = activities_find(&side->found, trace, error);

    code = code ? code : extract_view_new(&view, NULL, trace, side->out->hz, error);
    code = code ? code : extract_stats_new(&side->out->stats, view, trace, error);
    extract_view_free(view);
    if (code)
        return code;
    side->out->span = (double)side->out->stats->span_ticks * side->unit;
    if (side->out->span <= 0)
        return extract_error_set(
            error, EXTRACT_UNSUPPORTED, name,
            "compare traces that have events at two or more times",
            "all of its events have the same time, so that there are no rates");
    return EXTRACT_OK;
}

static enum extract_code compare(struct comparison *c, struct extract_error *error)
{
    bool is_done = match_activities(c) && list_threads(c) && find_load(c);

    for (size_t i = 0; i < c->pair_count && is_done; i++) {
        compare_activity(c, &c->pairs[i]);
    }
    if (is_done) {
        is_done = compare_priorities(c);
        connect_rates(c);
        is_done = is_done && sort_changes(c->diff) && list_waits(c) && list_counts(c);
    }
    if (!is_done || c->failed)
        return extract_error_set(error, EXTRACT_NOMEM, "diff", NULL, "out of memory");
    c->diff->is_cut = c->a.found.is_cut || c->b.found.is_cut;
    return explain_worse(c, error);
}

enum extract_code extract_diff_new(struct extract_diff **diff, const struct extract_trace *a,
                                   uint64_t hz_a, const struct extract_trace *b, uint64_t hz_b,
                                   struct extract_error *error)
{
    struct extract_diff *d = calloc(1, sizeof *d);

    *diff = NULL;
    if (!d)
        return extract_error_set(error, EXTRACT_NOMEM, "diff", NULL, "out of memory");
    d->a = (struct extract_diff_side){.trace = a, .hz = hz_a};
    d->b = (struct extract_diff_side){.trace = b, .hz = hz_b};
    d->has_seconds = hz_a && hz_b;
    struct comparison c = {.diff = d,
                           .a = {.out = &d->a, .unit = d->has_seconds ? 1 / (double)hz_a : 1},
                           .b = {.out = &d->b, .unit = d->has_seconds ? 1 / (double)hz_b : 1}};
    enum extract_code code = read_side(&c.a, "trace A", error);
    code = code ? code : read_side(&c.b, "trace B", error);
    code = code ? code : compare(&c, error);
    activities_free(&c.a.found);
    activities_free(&c.b.found);
    free(c.pairs);
    if (code)
        extract_diff_free(d);
    else
        *diff = d;
    return code;
}

void extract_diff_free(struct extract_diff *diff)
{
    if (!diff)
        return;
    for (struct owned_name *name = diff->owned, *next; name; name = next) {
        next = name->next;
        free(name);
    }
    extract_why_free(diff->a.why);
    extract_why_free(diff->b.why);
    extract_stats_free(diff->a.stats);
    extract_stats_free(diff->b.stats);
    free(diff->changes);
    free(diff->threads);
    free(diff->waits);
    free(diff->counts);
    free(diff);
}
