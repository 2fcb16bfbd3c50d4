// SPDX-License-Identifier: MIT
// fuzz: events of ThreadX in any order (event_ring.h), from which the schedule, the statistics and
// the chains of `why` are derived.
//
// Nothing may crash, leak or hang. In addition, times of a core, a thread and a mutex follow each
// other. All times add up to the whole time, and the segments of a chain tile its time. Each begin
// and each end of a span is counted once.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/event_ring.h"
#include "tests/fuzz/trace_checks.h"
#include <extract/diff.h>
#include <extract/schedule.h>
#include <extract/span.h>
#include <extract/stats.h>
#include <extract/why.h>

enum { MAX_EVENTS = 4096 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- the schedule ----

struct walk {
    uint64_t core_end[CORES];
    uint64_t thread_end[THREADS + 1];
    uint64_t mutex_end[OBJECTS];
};

static void add_interval(void *context, const struct extract_interval *interval)
{
    struct walk *walk = context;
    check(interval->from < interval->to && interval->core < CORES);
    check(interval->from >= walk->core_end[interval->core]);
    walk->core_end[interval->core] = interval->to;
}

// Whether a key is that of an older object at the same address (extract_trace_address).
static bool is_older(uint64_t key)
{
    return key >> 48;
}

static void add_state(void *context, const struct extract_state *state)
{
    struct walk *walk = context;
    size_t i = (state->thread - BASE - 0x100000) / 0x100;
    check(state->from < state->to);
    check((state->state == EXTRACT_STATE_BLOCKED) == (state->wait != NULL));
    if (is_older(state->thread))
        return;
    check(i <= THREADS && state->from >= walk->thread_end[i]);
    walk->thread_end[i] = state->to;
}

static void add_owner(void *context, const struct extract_ownership *owner)
{
    struct walk *walk = context;
    size_t i = (owner->mutex - BASE - 0x200000) / 0x40;
    check(owner->from < owner->to);
    if (is_older(owner->mutex))
        return;
    check(i < OBJECTS && owner->from >= walk->mutex_end[i]);
    walk->mutex_end[i] = owner->to;
}

static void add_response(void *context, const struct extract_response *response)
{
    (void)context;
    check(response->from <= response->to);
    check(!response->has_ran || response->ran_at >= response->from);
}

static void check_schedule(const struct extract_trace *trace)
{
    struct walk walk = {{0}, {0}, {0}};
    const struct extract_schedule_sink sink = {.context = &walk,
                                               .interval = add_interval,
                                               .state = add_state,
                                               .owner = add_owner,
                                               .response = add_response};
    check(!extract_schedule_run(NULL, trace, &sink, NULL));
}

// ---- statistics ----

static void check_times(const struct extract_trace *trace)
{
    struct extract_view *view;
    struct extract_stats *stats;
    uint64_t kinds = 0;
    check(!extract_view_new(&view, NULL, trace, 0, NULL));
    check(!extract_stats_new(&stats, view, trace, NULL));
    for (size_t i = 0; i < stats->core_count; i++) {
        const struct extract_core_stats *core = &stats->cores[i];
        uint64_t sum = core->idle_ticks + core->interrupt_ticks + core->init_ticks;
        for (size_t k = 0; k < stats->thread_count; k++)
            sum += core->thread_ticks[k];
        check(sum + core->unknown_ticks == core->span_ticks);
        check(stats->core_count > 1 || core->span_ticks == stats->span_ticks);
    }
    for (unsigned i = 0; i < EXTRACT_SWITCHES; i++)
        kinds += stats->switches[i];
    check(kinds == stats->context_switches);
    extract_stats_free(stats);
    extract_view_free(view);
}

// ---- why ----

// Checks that the segments of one level follow each other from one time to another. Returns the
// index after them.
static size_t check_level(const struct extract_why *why, size_t i, size_t end, unsigned depth,
                          uint64_t from, uint64_t to)
{
    while (i < end && why->segments[i].depth == depth) {
        const struct extract_segment *segment = &why->segments[i];
        check(segment->from == from && segment->from < segment->to && segment->to <= to);
        from = segment->to;
        i++;
        if (i < end && why->segments[i].depth > depth)
            i = check_level(why, i, end, depth + 1, segment->from, segment->to);
    }
    check(from == to);
    return i;
}

static void explain(const struct extract_trace *trace, const struct extract_why_options *options)
{
    struct extract_why *why;
    if (extract_why_new(&why, trace, options, NULL))
        return;
    for (size_t i = 0; i < why->chain_count; i++) {
        const struct extract_chain *chain = &why->chains[i];
        size_t end = chain->first + chain->count;
        check(end <= why->segment_count);
        check(check_level(why, chain->first, end, 0, chain->from, chain->to) == end);
    }
    extract_why_free(why);
}

static void check_why(const struct extract_trace *trace, unsigned thread)
{
    char name[24];
    struct extract_why_options options = {.size = sizeof options, .thread = name, .worst = 3};
    snprintf(name, sizeof name, "0x%x", thread_at(1 + thread));
    explain(trace, &options);
}

// ---- diff ----

// Checks that nothing has changed from a trace to itself.
static void check_diff(const struct extract_trace *trace)
{
    struct extract_diff *diff;
    if (extract_diff_new(&diff, trace, 0, trace, 0, NULL))
        return;
    check(!diff->change_count && !diff->worse);
    extract_diff_free(diff);
}

// ---- spans ----

// Returns how often an event occurred.
static uint64_t count_id(const struct extract_trace *trace, uint32_t id)
{
    struct extract_reader reader;
    struct extract_event event;
    uint64_t count = 0;
    extract_reader_init(&reader, trace);
    while (extract_reader_next(&reader, &event, 1))
        count += event.id == id;
    return count;
}

// Checks that each begin and each end is counted once, and that spans are explained by segments.
static void check_spans(const struct extract_trace *trace)
{
    static const char *const definitions[] = {"x: 2 .. 1", "x: 2 .. 1 by info1",
                                              "x: 2 .. 1 by thread"};
    for (unsigned i = 0; i < sizeof definitions / sizeof *definitions; i++) {
        struct extract_why_options options = {.size = sizeof options, .worst = 3};
        check(!extract_spans_new(&options.spans, &definitions[i], 1, NULL));
        check(!extract_spans_find(options.spans, NULL, trace, 0, 2, NULL));
        const struct extract_span_stats *span = extract_spans_get(options.spans, 0);
        uint64_t pairs = span->duration.count + span->untimed;
        check(pairs + span->open + span->without_end == count_id(trace, 2));
        check(pairs + span->without_begin == count_id(trace, 1));
        check(span->worst_count <= 2 && span->likely <= span->duration.count);
        explain(trace, &options);
        extract_spans_free(options.spans);
    }
}

// ---- the ring ----

static void check_ring(const struct maker *ring)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = BASE};
    struct extract_session *session = NULL;
    struct extract_memory *memory;
    check(!extract_memory_new_images(&memory, NULL));
    check(!extract_memory_add_bytes(memory, "ring", ring->bytes, ring->length, BASE, NULL));
    if (!extract_session_open(&session, memory, NULL, &options, NULL)) {
        const struct extract_trace *trace = extract_session_trace(session);
        check_schedule(trace);
        check_times(trace);
        for (unsigned i = 0; i < THREADS; i++)
            check_why(trace, i);
        check_spans(trace);
        check_diff(trace);
        run_charts(session);
        extract_session_close(session);
    }
    extract_memory_close(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct maker ring;
    uint32_t stamp = 0, events = (uint32_t)(size / EVENT_BYTES);

    if (events < 2 || events > MAX_EVENTS)
        return 0;
    check(maker_open(&ring, BASE, 0xFFFFFFFF, THREADS, events, false));
    for (unsigned i = 1; i <= THREADS; i++)
        maker_object(&ring, 1, thread_at(i), BASE + 0x300000 + 0x400 * i, 1024, "thread");
    for (uint32_t i = 0; i < events; i++)
        make_event(&ring, data + (size_t)i * EVENT_BYTES, size & 1, &stamp);
    check_ring(&ring);
    maker_close(&ring);
    return 0;
}
