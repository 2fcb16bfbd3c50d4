// SPDX-License-Identifier: MIT
// analysis: why a response or a span took as long as it did.
//
// Two walks over the trace. The first one finds the responses of the thread, or the spans (span.c),
// and keeps the longest. The second one reads the history of these times
// (schedule/schedule_history.h), which is then cut into segments:
//
//   state of the thread      segments
//   running                  ran; interrupts apart. While it spins on a lock: as if blocked
//   (an interrupt)           under it, while it spins on a lock: as if blocked
//   ready                    who had the core that it got next; interrupts apart
//   blocked on mutex, lock   one per owner, and under each what the owner did (recursion)
//   blocked otherwise        waited, with what ended the wait
//   sleeping, suspended      slept, suspended
//
// The segments of each level follow each other without gaps, so their sum is the elapsed time. A
// mutex whose owner waits for a thread that is already on the way to it is a deadlock.
#include "base/grow.h"
#include "events/event_filter.h"
#include "analysis/analysis_room.h"
#include "schedule/schedule_history.h"
#include <extract/why.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { MAX_DEPTH = 6, MAX_WORST = 1000 };

// What the first walk collects.
struct search {
    uint64_t thread;
    bool has_at;
    uint64_t at;
    size_t wanted; // responses to keep
    struct extract_chain *chains;
    size_t count, responses;
    struct extract_state last; // the thread's newest state
    uint64_t end;              // time of the end of the trace
};

struct builder {
    struct extract_why *why;
    const struct history *history;
    size_t first;                 // segment of the chain
    uint64_t path[MAX_DEPTH + 1]; // threads on the way from the response to the present one
    bool failed;                  // out of memory
};

const char *extract_segment_kind_name(enum extract_segment_kind kind)
{
    static const char *const names[] = {"unknown", "ran",   "preempted", "isr",      "blocked",
                                        "waited",  "slept", "suspended", "switching"};

    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : names[0];
}

// ---- the first walk ----

// Keeps a response if it is one of the longest, in order of length.
static void add_response(void *context, const struct extract_response *response)
{
    struct search *search = context;

    if (response->thread != search->thread)
        return;
    search->responses++;
    if (search->has_at && (search->at < response->from || search->at > response->to))
        return;
    if (response->from == response->to)
        return;
    struct extract_chain chain = {.thread = response->thread,
                                  .from = response->from,
                                  .to = response->to,
                                  .from_seq = response->from_seq,
                                  .to_seq = response->to_seq,
                                  .has_seqs = true};
    size_t place = search->count;
    while (place &&
           search->chains[place - 1].to - search->chains[place - 1].from < chain.to - chain.from)
        place--;
    if (place >= search->wanted)
        return;
    search->count += search->count < search->wanted;
    memmove(&search->chains[place + 1], &search->chains[place],
            (search->count - place - 1) * sizeof *search->chains);
    search->chains[place] = chain;
}

static void note_state(void *context, const struct extract_state *state)
{
    struct search *search = context;

    search->end = state->to > search->end ? state->to : search->end;
    if (state->thread == search->thread)
        search->last = *state;
}

static void note_interval(void *context, const struct extract_interval *interval)
{
    struct search *search = context;

    search->end = interval->to > search->end ? interval->to : search->end;
}

static enum extract_code no_thread(const char *name, const char *hint, const char *why,
                                   struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOTFOUND, name, hint, "%s", why);
}

// Returns whether an object has a name: its own, or the one that reports print, as a symbol.
static bool has_name(const struct extract_object *object, const char *name)
{
    return strcmp(object->name, name) == 0 || strcmp(object->shown, name) == 0;
}

// Appends a thread to a list of those with one name: its address, and its number there.
static void list_thread(char *list, size_t size, const struct extract_object *thread)
{
    char spelling[40];
    size_t used = strlen(list);

    snprintf(spelling, sizeof spelling, thread->life ? "0x%08" PRIx64 "#%" PRIu32 : "0x%08" PRIx64,
             thread->address, thread->life);
    if (used + strlen(spelling) + sizeof ", ..." <= size)
        snprintf(list + used, size - used, "%s%s", used ? ", " : "", spelling);
    else if (used >= 3 && strcmp(list + used - 3, "...") != 0)
        snprintf(list + used, size - used, ", ...");
}

// Finds the thread that a name, an address, or an address with a number means.
enum extract_code why_find_thread(const struct extract_trace *trace, const char *name,
                                  uint64_t *address, struct extract_error *error)
{
    static const char see_objects[] = "run 'ringside objects' for the threads";
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects), found = 0;
    char list[200] = "", hint[240];

    if (extract_number_parse(name, address))
        return extract_trace_thread(trace, *address)
                   ? EXTRACT_OK
                   : no_thread(name, see_objects, "no thread has this address", error);
    for (size_t i = 0; i < count; i++) {
        if (!extract_object_is_thread(&objects[i]) ||
            (!has_name(&objects[i], name) && !filter_is_life(name, &objects[i])) ||
            (found && *address == objects[i].key))
            continue;
        *address = objects[i].key;
        list_thread(list, sizeof list, &objects[i]);
        found++;
    }
    if (found == 1)
        return EXTRACT_OK;
    snprintf(hint, sizeof hint, "use one of: %s", list);
    return no_thread(name, found ? hint : see_objects,
                     found ? "several threads have this name" : "no thread has this name", error);
}

// Converts a time of the user to ticks. `field` is that of the options.
static enum extract_code read_time(const char *field, const char *string, uint64_t hz,
                                   uint64_t *ticks, struct extract_error *error)
{
    struct filter_time time;

    if (!filter_time_parse(string, &time))
        return extract_error_set(error, EXTRACT_USAGE, field,
                                 "use ticks, or a time with a unit, such as 1.5s, 20ms, 7us or 9ns",
                                 "\"%s\": not a time", string);
    if (time.per_second && !hz)
        return extract_error_set(error, EXTRACT_USAGE, field,
                                 "set the clock's rate with hz, or use ticks",
                                 "\"%s\": the clock's rate is not known", string);
    *ticks = filter_time_ticks(&time, hz, false);
    return EXTRACT_OK;
}

// ---- segments ----

static struct extract_segment *add_segment(struct builder *builder, unsigned depth, uint64_t from,
                                           uint64_t to, enum extract_segment_kind kind)
{
    struct extract_why *why = builder->why;
    struct extract_segment *grown =
        extract_grow(why->segments, &why->capacity, why->segment_count, sizeof *grown);

    if (!grown) {
        builder->failed = true;
        return NULL;
    }
    why->segments = grown;
    struct extract_segment *segment = &grown[why->segment_count++];
    *segment = (struct extract_segment){.from = from, .to = to, .kind = kind, .depth = depth};
    return segment;
}

// Adds a time of which it is not known what happened. `is_ready`: the thread was ready.
static void add_unknown(struct builder *builder, unsigned depth, uint64_t from, uint64_t to,
                        bool is_ready)
{
    struct extract_why *why = builder->why;
    struct extract_segment *last =
        why->segment_count > builder->first ? &why->segments[why->segment_count - 1] : NULL;

    if (last && last->kind == EXTRACT_SEGMENT_UNKNOWN && last->depth == depth && last->to == from &&
        last->is_ready == is_ready) {
        last->to = to;
        return;
    }
    struct extract_segment *segment =
        add_segment(builder, depth, from, to, EXTRACT_SEGMENT_UNKNOWN);
    if (segment)
        segment->is_ready = is_ready;
}

static void add_mutex_wait(struct builder *builder, const struct extract_state *state,
                           uint64_t from, uint64_t to, unsigned depth);

// Adds the wait of an interrupt for the lock that it tries to get. If the thread that it interrupts
// holds the lock, this is a deadlock.
static void add_interrupt_wait(struct builder *builder, const struct extract_interval *interrupt,
                               uint64_t from, uint64_t to, unsigned depth)
{
    const struct extract_state spins = {
        .state = EXTRACT_STATE_RUNNING, .object = interrupt->lock, .wait = "lock"};
    size_t first = builder->why->segment_count;

    if (!interrupt->lock || depth > MAX_DEPTH)
        return;
    builder->path[depth] = interrupt->thread;
    add_mutex_wait(builder, &spins, from, to, depth);
    for (size_t i = first; i < builder->why->segment_count; i++)
        if (builder->why->segments[i].depth == depth)
            builder->why->segments[i].by_isr = true;
}

// Adds what had a core (-1: not known which one) while a thread was running or ready.
static void add_core(struct builder *builder, const struct extract_state *of, int core,
                     uint64_t from, uint64_t to, unsigned depth)
{
    bool is_ready = of->state == EXTRACT_STATE_READY;
    uint64_t thread = of->thread;
    const struct history *history = builder->history;
    const struct extract_interval *interval =
        core < 0 ? NULL : history_interval(history, (uint8_t)core, from);
    const struct extract_interval *end =
        interval ? history->intervals + history->interval_count : NULL;

    while (from < to && interval && interval < end && interval->core == core &&
           interval->from <= from) {
        uint64_t stop = interval->to < to ? interval->to : to;
        if (stop <= from) { // after a gap, times may go back
            interval++;
            continue;
        }
        enum extract_segment_kind kind = EXTRACT_SEGMENT_UNKNOWN;
        bool is_own = interval->runner == EXTRACT_RUNNER_THREAD && interval->thread == thread;
        const struct extract_state *state = history_state(history, thread, from);
        bool is_running = state && state->state == EXTRACT_STATE_RUNNING;
        if (interval->is_unsure)
            kind = EXTRACT_SEGMENT_UNKNOWN;
        else if (interval->runner == EXTRACT_RUNNER_ISR)
            kind = EXTRACT_SEGMENT_ISR;
        else if (is_own)
            kind = is_running ? EXTRACT_SEGMENT_RAN : EXTRACT_SEGMENT_SWITCHING;
        else if (interval->runner == EXTRACT_RUNNER_IDLE)
            kind = EXTRACT_SEGMENT_SWITCHING;
        else if (interval->runner == EXTRACT_RUNNER_THREAD)
            kind = EXTRACT_SEGMENT_PREEMPTED;
        if (kind == EXTRACT_SEGMENT_UNKNOWN) {
            add_unknown(builder, depth, from, stop, is_ready);
            from = stop;
            interval++;
            continue;
        }
        bool is_spinning = kind == EXTRACT_SEGMENT_RAN && state->object;
        if (is_spinning)
            add_mutex_wait(builder, state, from, stop, depth);
        struct extract_segment *segment =
            is_spinning ? NULL : add_segment(builder, depth, from, stop, kind);
        if (segment && kind == EXTRACT_SEGMENT_ISR) {
            segment->has_who = interval->isr_known;
            segment->who = interval->isr;
            add_interrupt_wait(builder, interval, from, stop, depth + 1);
        } else if (segment && kind == EXTRACT_SEGMENT_PREEMPTED) {
            const struct extract_wake *wake = history_wake(history, interval->thread, from);
            segment->has_who = true;
            segment->who = interval->thread;
            if (wake)
                segment->wake = *wake;
        }
        from = stop;
        interval++;
    }
    if (from < to)
        add_unknown(builder, depth, from, to, is_ready);
}

static void add_chain(struct builder *builder, uint64_t thread, uint64_t from, uint64_t to,
                      unsigned depth);

static bool is_on_path(const struct builder *builder, uint64_t thread, unsigned depth)
{
    for (unsigned i = 0; i <= depth; i++)
        if (builder->path[i] == thread)
            return true;
    return false;
}

// Adds what the interrupt that owns a lock did: it ran, unless another interrupt interrupted it.
static void add_interrupt(struct builder *builder, const struct extract_ownership *owner,
                          uint64_t from, uint64_t to, unsigned depth)
{
    const struct history *history = builder->history;
    const struct extract_interval *interval = history_interval(history, owner->core, from);
    const struct extract_interval *end =
        interval ? history->intervals + history->interval_count : NULL;

    for (; from < to && interval && interval < end && interval->core == owner->core &&
           interval->from <= from;
         interval++) {
        uint64_t stop = interval->to < to ? interval->to : to;
        bool is_known = interval->runner == EXTRACT_RUNNER_ISR && !interval->is_unsure;
        bool is_owner =
            is_known && owner->isr_known && interval->isr_known && interval->isr == owner->isr;
        if (stop <= from) // after a gap, times may go back
            continue;
        struct extract_segment *segment = add_segment(builder, depth, from, stop,
                                                      is_owner   ? EXTRACT_SEGMENT_RAN
                                                      : is_known ? EXTRACT_SEGMENT_ISR
                                                                 : EXTRACT_SEGMENT_UNKNOWN);
        if (segment && is_known && !is_owner) {
            segment->has_who = interval->isr_known;
            segment->who = interval->isr;
        }
        if (segment && is_known)
            add_interrupt_wait(builder, interval, from, stop, depth + 1);
        from = stop;
    }
    if (from < to)
        add_unknown(builder, depth, from, to, false);
}

// Adds a wait for a mutex or a lock: one segment per owner, and what the owner did during it.
static void add_mutex_wait(struct builder *builder, const struct extract_state *state,
                           uint64_t from, uint64_t to, unsigned depth)
{
    const struct history *history = builder->history;
    const struct extract_ownership *owner =
        state->object ? history_owner(history, state->object, from) : NULL;
    const struct extract_ownership *end = owner ? history->owners + history->owner_count : NULL;

    while (from < to) {
        while (owner && owner < end && owner->to <= from) // after a gap, times may go back
            owner++;
        bool has_owner = owner && owner < end && owner->mutex == state->object;
        bool is_owned = has_owner && owner->from <= from;
        uint64_t next = is_owned ? owner->to : has_owner ? owner->from : to;
        uint64_t stop = next < to ? next : to;
        struct extract_segment *segment =
            add_segment(builder, depth, from, stop, EXTRACT_SEGMENT_BLOCKED);
        if (!segment)
            return;
        segment->object = state->object;
        segment->wait = state->wait;
        segment->is_spinning = state->state == EXTRACT_STATE_RUNNING;
        if (is_owned && owner->in_isr) {
            segment->in_isr = true;
            segment->core = owner->core;
            segment->has_who = owner->isr_known;
            segment->who = owner->isr;
            if (depth < MAX_DEPTH)
                add_interrupt(builder, owner, from, stop, depth + 1);
        } else if (is_owned && owner->thread) {
            segment->has_who = true;
            segment->who = owner->thread;
            segment->is_cycle = is_on_path(builder, owner->thread, depth);
            if (!segment->is_cycle && depth < MAX_DEPTH)
                add_chain(builder, owner->thread, from, stop, depth + 1);
        }
        from = stop;
    }
}

static void add_wait(struct builder *builder, const struct extract_state *state, uint64_t from,
                     uint64_t to, unsigned depth)
{
    struct extract_segment *segment = add_segment(builder, depth, from, to, EXTRACT_SEGMENT_WAITED);
    const struct extract_wake *wake = history_wake(builder->history, state->thread, to);

    if (!segment)
        return;
    segment->object = state->is_unsure ? 0 : state->object;
    segment->wait = state->wait;
    if (!wake || wake->at != to)
        return;
    segment->wake = *wake;
    segment->has_who = wake->by && !wake->in_isr;
    segment->who = segment->has_who ? wake->by : 0;
}

static void add_suspension(struct builder *builder, const struct extract_state *state,
                           uint64_t from, uint64_t to, unsigned depth)
{
    struct extract_segment *segment =
        add_segment(builder, depth, from, to, EXTRACT_SEGMENT_SUSPENDED);

    if (segment)
        segment->has_ended = state->state != EXTRACT_STATE_SUSPENDED;
}

static void add_state_segments(struct builder *builder, const struct extract_state *state,
                               uint64_t from, uint64_t to, unsigned depth)
{
    bool is_unknown = state->is_unsure && state->state != EXTRACT_STATE_BLOCKED;

    switch (is_unknown ? EXTRACT_STATE_UNKNOWN : state->state) {
    case EXTRACT_STATE_RUNNING:
        add_core(builder, state, state->core, from, to, depth);
        break;
    case EXTRACT_STATE_READY:
        add_core(builder, state, history_next_core(builder->history, state->thread, from), from, to,
                 depth);
        break;
    case EXTRACT_STATE_BLOCKED:
        if (strcmp(state->wait, "mutex") == 0 || strcmp(state->wait, "lock") == 0)
            add_mutex_wait(builder, state, from, to, depth);
        else
            add_wait(builder, state, from, to, depth);
        break;
    case EXTRACT_STATE_SLEEPING:
        add_segment(builder, depth, from, to, EXTRACT_SEGMENT_SLEPT);
        break;
    case EXTRACT_STATE_SUSPENDED:
    case EXTRACT_STATE_COMPLETED:
    case EXTRACT_STATE_TERMINATED:
        add_suspension(builder, state, from, to, depth);
        break;
    case EXTRACT_STATE_UNKNOWN:
        add_unknown(builder, depth, from, to, false);
        break;
    }
}

// Adds what a thread did from one time to another, without gaps.
static void add_chain(struct builder *builder, uint64_t thread, uint64_t from, uint64_t to,
                      unsigned depth)
{
    const struct history *history = builder->history;
    const struct extract_state *state = history_state(history, thread, from);
    const struct extract_state *end = state ? history->states + history->state_count : NULL;

    builder->path[depth] = thread;
    for (; from < to && state && state < end && state->thread == thread; state++) {
        if (state->from > from) { // it was not known, or did not exist
            uint64_t stop = state->from < to ? state->from : to;
            add_unknown(builder, depth, from, stop, false);
            from = stop;
        }
        uint64_t stop = state->to < to ? state->to : to;
        if (stop <= from)
            continue;
        add_state_segments(builder, state, from, stop, depth);
        from = stop;
    }
    if (from < to)
        add_unknown(builder, depth, from, to, false);
}

// ---- all of it ----

// Chooses the longest spans, in why->chains.
static enum extract_code choose_spans(struct extract_why *why, const struct extract_trace *trace,
                                      const struct extract_why_options *options,
                                      struct extract_error *error)
{
    const struct extract_span_stats *stats = extract_spans_get(options->spans, 0);
    uint64_t thread = 0;
    enum extract_code code = EXTRACT_OK;

    if (extract_spans_count(options->spans) != 1 || options->at || options->from || options->to)
        return extract_error_set(error, EXTRACT_USAGE, "span",
                                 "use one --span, and --worst to explain more of its spans",
                                 "several times are chosen");
    if (options->thread)
        code = why_find_thread(trace, options->thread, &thread, error);
    if (!code)
        code = extract_spans_find(options->spans, NULL, trace, options->hz,
                                  options->worst ? options->worst : 1, error);
    if (code)
        return code;
    size_t bytes = strlen(stats->name) + 1;
    why->span = malloc(bytes);
    if (!why->span)
        return extract_error_set(error, EXTRACT_NOMEM, "span", NULL, "out of memory");
    memcpy(why->span, stats->name, bytes);
    for (size_t i = 0; i < stats->worst_count; i++) {
        const struct extract_span *span = &stats->worst[i];
        if (thread || span->has_thread)
            why->chains[why->chain_count++] =
                (struct extract_chain){.thread = thread ? thread : span->thread,
                                       .from = span->from,
                                       .to = span->to,
                                       .from_seq = span->from_seq,
                                       .to_seq = span->to_seq,
                                       .has_seqs = true,
                                       .is_likely = span->is_likely};
    }
    why->responses = stats->duration.count;
    if (why->chain_count)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_NOTFOUND, stats->name,
                             stats->worst_count ? "name the thread to be explained"
                                                : "'ringside stats --span' shows what was found",
                             stats->worst_count ? "no thread recorded the begin or the end"
                                                : "no span that took any time is in the trace");
}

// Refuses a range that contains no time: it is reversed, or outside the trace. `to` is its end, at
// most that of the trace.
static enum extract_code refuse_times(const struct extract_why_options *options, uint64_t from,
                                      uint64_t to, struct extract_error *error)
{
    char end[48], hint[80];

    if (!options->from)
        return extract_error_set(error, EXTRACT_USAGE, "to", "use a later time",
                                 "\"%s\": no time of this trace is before it", options->to);
    filter_format_time(end, sizeof end, options->from, to, options->hz, true);
    snprintf(hint, sizeof hint, "use times before %s%s", end,
             strspn(end, "0123456789") == strlen(end) ? " ticks" : "");
    return extract_error_set(error, EXTRACT_USAGE, "from", hint,
                             "\"%s\": no time from %llu to %llu", options->from,
                             (unsigned long long)from, (unsigned long long)to);
}

// Chooses the times to explain by the options, in why->chains.
static enum extract_code choose_times(struct extract_why *why, const struct extract_trace *trace,
                                      const struct extract_why_options *options,
                                      struct extract_error *error)
{
    struct search search = {.wanted = options->worst ? options->worst : 1, .chains = why->chains};
    const struct extract_schedule_sink sink = {.context = &search,
                                               .interval = note_interval,
                                               .state = note_state,
                                               .response = add_response};
    uint64_t from = 0, to = 0;
    enum extract_code code = why_find_thread(trace, options->thread, &search.thread, error);

    if (!code && options->at) {
        search.has_at = true;
        code = read_time("at", options->at, options->hz, &search.at, error);
    }
    if (!code && options->from)
        code = read_time("from", options->from, options->hz, &from, error);
    if (!code && options->to)
        code = read_time("to", options->to, options->hz, &to, error);
    if (!code)
        code = extract_schedule_run(NULL, trace, &sink, error);
    if (code)
        return code;
    if (options->from || options->to) {
        to = options->to && to < search.end ? to : search.end;
        if (from >= to)
            return refuse_times(options, from, to, error);
        why->chains[0] = (struct extract_chain){.thread = search.thread, .from = from, .to = to};
        search.count = 1;
    } else if (search.last.state > EXTRACT_STATE_RUNNING && search.last.to == search.end &&
               (!options->at ||
                (search.at >= search.last.from && search.at <= search.end))) { // it still waits
        why->chains[search.count++] = (struct extract_chain){.thread = search.thread,
                                                             .from = search.last.from,
                                                             .to = search.end,
                                                             .is_waiting = true};
    }
    why->chain_count = search.count;
    why->responses = search.responses;
    if (search.count)
        return EXTRACT_OK;
    if (!options->at && search.responses)
        return extract_error_set(error, EXTRACT_NOTFOUND, options->thread,
                                 "use a clock that is fast enough, and check that it runs",
                                 "all responses of this thread (%zu) took 0 ticks%s",
                                 search.responses,
                                 trace->info.clock.is_still ? ": the clock stands still" : "");
    return extract_error_set(
        error, EXTRACT_NOTFOUND, options->thread, "use --from and --to for any other time",
        options->at ? "no response at this time" : "no response of this thread is in the trace");
}

bool why_add_chain(struct extract_why *why, const struct history *history,
                   struct extract_chain *chain)
{
    struct builder builder = {.why = why, .history = history, .first = why->segment_count};

    chain->first = why->segment_count;
    add_chain(&builder, chain->thread, chain->from, chain->to, 0);
    chain->count = why->segment_count - chain->first;
    return !builder.failed;
}

// Explains the chosen times.
static enum extract_code explain_times(struct extract_why *why, const struct extract_trace *trace,
                                       struct extract_error *error)
{
    struct history history;
    struct history_window *windows = calloc(why->chain_count, sizeof *windows);

    if (!windows)
        return extract_error_set(error, EXTRACT_NOMEM, "schedule", NULL, "out of memory");
    for (size_t i = 0; i < why->chain_count; i++)
        windows[i] = (struct history_window){why->chains[i].from, why->chains[i].to};
    enum extract_code code = history_read(&history, trace, windows, why->chain_count, error);
    for (size_t i = 0; i < why->chain_count && !code; i++)
        if (!why_add_chain(why, &history, &why->chains[i]))
            code = extract_error_set(error, EXTRACT_NOMEM, "schedule", NULL, "out of memory");
    history_free(&history);
    free(windows);
    return code;
}

enum extract_code extract_why_new(struct extract_why **why, const struct extract_trace *trace,
                                  const struct extract_why_options *options,
                                  struct extract_error *error)
{
    struct extract_why *w = calloc(1, sizeof *w);
    size_t wanted = options->worst ? options->worst : 1;

    *why = NULL;
    if (wanted > MAX_WORST) {
        free(w);
        return extract_error_set(error, EXTRACT_USAGE, "worst", NULL, "at most %d are explained",
                                 MAX_WORST);
    }
    // One more each for a response that is moved out, and for a wait that has not ended.
    if (w)
        w->chains = calloc(wanted + 2, sizeof *w->chains);
    enum extract_code code = !w || !w->chains ? extract_error_set(error, EXTRACT_NOMEM, "schedule",
                                                                  NULL, "out of memory")
                             : options->spans ? choose_spans(w, trace, options, error)
                                              : choose_times(w, trace, options, error);
    if (!code)
        code = explain_times(w, trace, error);
    if (code) {
        extract_why_free(w);
        return code;
    }
    *why = w;
    return EXTRACT_OK;
}

void extract_why_free(struct extract_why *why)
{
    if (!why)
        return;
    free(why->chains);
    free(why->segments);
    free(why->span);
    free(why);
}
