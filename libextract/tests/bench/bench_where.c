// SPDX-License-Identifier: MIT
// bench: what --where costs, beside a pattern of --event on the same events in the same run.
//
// In: how many events (default 10,000,000), which are read in walks over one ring. Out: a table of
// events a second with the time of each filter as a multiple of the pattern's, and PASS or FAIL.
#include "tests/bench/measure.h"
#include "tests/bench/ring_maker.h"
#include <extract/filter.h>
#include <extract/memory.h>
#include <extract/session.h>
#include <stdio.h>

enum { RING = 1000000, RUNS = 5, BASE = 0x20000000, QUEUE = BASE + 0x4000, THREADS = 8 };

static const double most = 2.0; // times the time of the pattern

static const struct {
    enum extract_filter_word word;
    const char *value;
    bool is_bound;
} filters[] = {
    {EXTRACT_FILTER_EVENT, "queue*", false},
    {EXTRACT_FILTER_WHERE, "event == \"queue*\"", true},
    {EXTRACT_FILTER_WHERE, "info1 == 0x20004000", true},
    {EXTRACT_FILTER_WHERE, "info1 == 0x20004000 && object == \"queue 0\"", true},
    {EXTRACT_FILTER_WHERE, "queue == \"queue 0\" && enqueued > 200", true},
    {EXTRACT_FILTER_WHERE, "dt > 250", true},
    {EXTRACT_FILTER_WHERE, "blocked_for > 1000", false}, // walks over the events twice
};

enum { FILTERS = sizeof filters / sizeof *filters };

static void fill(struct maker *ring)
{
    static const uint32_t ids[] = {69, 68, 69, 68, 69, 68, 83, 88, 52, 57, 1, 2, 112, 3, 4, 36};
    uint32_t state = 2463534242u, stamp = 0;
    char name[32];

    for (unsigned i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %u", i);
        maker_object(ring, 1, BASE + 0x1000 + 0xA0 * i, BASE + 0x8000 + 1024 * i, 1024, name);
    }
    maker_object(ring, 3, QUEUE, 100, 0, "queue 0");
    for (uint32_t i = 0; i < RING; i++) {
        uint32_t r = random_word(&state), id = ids[r % 16];
        uint32_t thread = BASE + 0x1000 + 0xA0 * ((r >> 4) % THREADS);
        uint32_t object = QUEUE + 0x40 * ((r >> 12) % 7);
        const uint32_t info[] = {id <= 2 ? thread : object, 6, r & 0xFF, r >> 24};
        bool is_interrupt = id == 3 || id == 4;
        stamp += 10 + (r & 0xFF);
        maker_event(ring, is_interrupt ? MAKER_ISR : thread,
                    is_interrupt ? thread : MAKER_PRIORITY(16, 16), id, stamp, info);
    }
}

static bool ignore(void *context, const struct extract_event *events, size_t count)
{
    *(uint64_t *)context += events[0].ticks + count;
    return true;
}

// Returns the seconds that a filter needs for `walks` walks, and the events that it lets through.
static double measure(const struct extract_trace *trace, size_t i, unsigned walks, uint64_t *passed)
{
    struct extract_filter *filter;
    uint64_t sum = 0;
    const struct extract_sink sink = {.events = ignore, .context = &sum};
    double start = now();

    *passed = 0;
    if (extract_filter_new(&filter, NULL))
        return 0;
    if (!extract_filter_add(filter, filters[i].word, filters[i].value, NULL))
        for (unsigned walk = 0; walk < walks; walk++) {
            struct extract_view *view;
            if (extract_view_new(&view, filter, trace, 0, NULL))
                break;
            *passed += extract_view_run(view, &sink);
            extract_view_free(view);
        }
    extract_filter_free(filter);
    return now() - start;
}

static bool run(const struct extract_trace *trace, unsigned walks)
{
    double least[FILTERS] = {0};
    uint64_t passed[FILTERS];
    bool is_good = true;

    // The filters take turns, so that what else the machine does meets all of them.
    for (unsigned run = 0; run < RUNS; run++)
        for (size_t i = 0; i < FILTERS; i++) {
            double seconds = measure(trace, i, walks, &passed[i]);
            least[i] = run && least[i] < seconds ? least[i] : seconds;
        }
    printf("%-52s %10s %10s %8s\n", "", "M events/s", "passed", "x --event");
    for (size_t i = 0; i < FILTERS; i++)
        printf("--%s %-44s %10.2f %10llu %8.2f\n", extract_filter_word_name(filters[i].word),
               filters[i].value, (double)walks * (double)RING / least[i] / 1e6,
               (unsigned long long)passed[i], least[i] / least[0]);
    for (size_t i = 0; i < FILTERS; i++) {
        bool is_met = passed[i] > 0 && least[i] <= most * least[0];
        if (filters[i].is_bound)
            printf("%s --where %s: %.2f times the time of --event, at most %.1f\n",
                   is_met ? "PASS" : "FAIL", filters[i].value, least[i] / least[0], most);
        is_good &= is_met || !filters[i].is_bound;
    }
    return is_good;
}

int main(int argc, char **argv)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = BASE};
    struct extract_session *session = NULL;
    struct extract_memory *memory = NULL;
    struct extract_error error;
    struct maker ring;
    uint64_t events = 10 * RING;

    if (argc > 1 && (!extract_number_parse(argv[1], &events) || events < RING)) {
        fprintf(stderr, "usage: bench_where [EVENTS (%d or more)]\n", RING);
        return 1;
    }
    if (!maker_open(&ring, BASE, 0xFFFFFFFF, 32, RING, false))
        return 1;
    fill(&ring);
    enum extract_code code = extract_memory_new_images(&memory, &error);
    if (!code)
        code = extract_memory_add_bytes(memory, "ring", ring.bytes, ring.length, BASE, &error);
    if (!code)
        code = extract_session_open(&session, memory, NULL, &options, &error);
    bool is_good = !code && run(extract_session_trace(session), (unsigned)(events / RING));
    if (code)
        fprintf(stderr, "bench_where: %s\n", error.why);
    extract_session_close(session);
    extract_memory_close(memory);
    maker_close(&ring);
    return is_good ? 0 : 1;
}
