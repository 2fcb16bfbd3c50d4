// SPDX-License-Identifier: MIT
// bench: what a log costs against the ring that its entries come from, in one run: decoding, the
// report as text, statistics.
//
// In: how many events (default 1,000,000). Out: a table for blocks of several sizes, and PASS or
// FAIL for the report of blocks of 256 entries and more, which must have 65 % of the ring's rate
// and aims at 80 %.
#include "tests/bench/measure.h"
#include "tests/bench/ring_maker.h"
#include <extract/session.h>
#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

enum {
    RUNS = 5,
    THREADS = 8,
    BATCH = 128,
    BASE = 0x20000000,
    MUST_FROM = 256,
    MUST_PERCENT = 65,
    AIM_PERCENT = 80
};

struct rates {
    double decode, text, stats; // M events/s
};

struct bench {
    uint32_t events;
    struct maker ring;
    char path[64];
    int null;
    uint64_t sum; // keeps the compiler from leaving work out
};

static void make_events(struct bench *b)
{
    static const uint32_t ids[] = {69, 68, 69, 68, 83, 88, 52, 57, 1, 2, 112, 36};
    char name[32];
    for (uint32_t i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %u", i);
        maker_object(&b->ring, 1, BASE + 0x1000 + 0xA0 * i, BASE + 0x8000, 1024, name);
    }
    for (uint32_t i = 0; i < b->events; i++) {
        uint32_t r = i * 2654435761u >> 8, thread = BASE + 0x1000 + 0xA0 * (r % THREADS);
        const uint32_t info[] = {thread, BASE + 0x8000 + (r & 0x3FC), r & 0xFF, r >> 16};
        maker_event(&b->ring, thread, MAKER_PRIORITY(8 + r % 8, 8 + r % 8), ids[r % 12],
                    i * 100 + (r & 63), info);
    }
}

static bool to_null(void *context, const char *data, size_t length)
{
    return write(*(int *)context, data, length) == (ssize_t)length;
}

static double run_decode(struct bench *b, struct extract_session *session)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t count, total = 0;
    extract_reader_init(&reader, extract_session_trace(session));
    while ((count = extract_reader_next(&reader, events, BATCH))) {
        total += count;
        b->sum += events[count - 1].ticks;
    }
    return (double)total;
}

static double run_verb(struct bench *b, struct extract_session *session, const char *verb)
{
    struct extract_text text;
    extract_text_init(&text, to_null, &b->null);
    enum extract_code code = extract_session_run(session, verb, &text, NULL);
    extract_text_flush(&text);
    extract_text_free(&text);
    return code ? 0 : b->events;
}

static double run_text(struct bench *b, struct extract_session *session)
{
    return run_verb(b, session, "report");
}

static double run_stats(struct bench *b, struct extract_session *session)
{
    return run_verb(b, session, "stats");
}

// The best of several runs: what else the machine does can only slow one down.
static double best(struct bench *b, struct extract_session *session,
                   double (*run)(struct bench *, struct extract_session *))
{
    double most = 0;
    for (int i = 0; i < RUNS; i++) {
        double start = now(), count = run(b, session), rate = count / (now() - start);
        most = rate > most ? rate : most;
    }
    return most / 1e6;
}

static struct rates measure(struct bench *b, struct extract_session *session)
{
    struct rates rates = {best(b, session, run_decode), best(b, session, run_text),
                          best(b, session, run_stats)};
    return rates;
}

static enum extract_code ring_session(struct bench *b, struct extract_memory **memory,
                                      struct extract_session **session)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = BASE};
    enum extract_code code = extract_memory_new_images(memory, NULL);
    if (!code)
        code = extract_memory_add_bytes(*memory, "ring", b->ring.bytes, b->ring.length, BASE, NULL);
    if (!code)
        code = extract_session_open(session, *memory, NULL, &options, NULL);
    return code;
}

// The ring's entries as a log of blocks of equal size.
static enum extract_code write_log(struct bench *b, const struct extract_ring *ring, uint32_t most)
{
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *log;
    unlink(b->path);
    enum extract_code code = extract_log_create(&log, b->path, &options, NULL);
    if (code)
        return code;
    code = extract_log_put_ring(log, ring, NULL);
    if (!code)
        code = extract_log_put_objects(log, ring->registry.start, b->ring.bytes + MAKER_HEADER,
                                       b->ring.slots * (size_t)MAKER_OBJECT, NULL);
    for (uint32_t i = 0; i < b->events && !code; i += most) {
        uint32_t count = b->events - i < most ? b->events - i : most;
        struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                          .count = count,
                                          .length = count * MAKER_ENTRY,
                                          .first = i,
                                          .wall = 1 + i};
        code = extract_log_put(log, &block, b->ring.bytes + maker_entry_at(&b->ring, i), NULL);
    }
    enum extract_code closed = extract_log_close(log, NULL);
    return code ? code : closed;
}

// The ring's report is measured again beside each log's: what else the machine does changes.
static bool measure_log(struct bench *b, struct extract_session *ring_session, uint32_t most)
{
    const struct extract_ring *ring =
        &extract_trace_snapshot(extract_session_trace(ring_session))->ring;
    struct extract_session_options options = {.size = sizeof options};
    struct extract_session *session = NULL;
    struct extract_log *log = NULL;
    double start = 0;
    enum extract_code code = write_log(b, ring, most);
    if (!code)
        code = extract_log_open(&log, b->path, NULL);
    if (!code) {
        start = now();
        code = extract_session_open_log(&session, log, NULL, &options, NULL);
    }
    double opening = b->events / (now() - start) / 1e6;
    bool passes = !code;
    if (!code) {
        struct rates rates = measure(b, session);
        double percent = rates.text * 100 / best(b, ring_session, run_text);
        printf("log, blocks of %-8u %10.2f %10.2f %10.2f %10.2f %9.0f %%\n", most, opening,
               rates.decode, rates.text, rates.stats, percent);
        passes = most < MUST_FROM || percent >= (double)MUST_PERCENT;
    }
    extract_session_close(session);
    extract_log_free(log);
    unlink(b->path);
    return passes;
}

static bool run(struct bench *b)
{
    static const uint32_t sizes[] = {4, 16, 64, 256, 1024, 8192};
    struct extract_memory *memory = NULL;
    struct extract_session *session = NULL;
    bool passes = true;
    double start = now();
    if (ring_session(b, &memory, &session))
        return false;
    double opening = b->events / (now() - start) / 1e6;
    struct rates whole = measure(b, session);
    printf("%-24s %10s %10s %10s %10s %11s\n", "M events/s", "open", "decode", "text", "stats",
           "text, share");
    printf("%-24s %10.2f %10.2f %10.2f %10.2f\n", "ring", opening, whole.decode, whole.text,
           whole.stats);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        passes &= measure_log(b, session, sizes[i]);
    printf("%s report of a log: blocks of %d entries and more must have %d %% of the ring's rate "
           "(aim: %d %%)\n",
           passes ? "PASS" : "FAIL", MUST_FROM, MUST_PERCENT, AIM_PERCENT);
    extract_session_close(session);
    extract_memory_close(memory);
    return passes;
}

int main(int argc, char **argv)
{
    struct bench b = {.null = open("/dev/null", O_WRONLY | O_CLOEXEC)};
    char folder[] = "/tmp/ringside-bench-XXXXXX";
    uint64_t events = 1000000;
    if (argc > 1 && (!extract_number_parse(argv[1], &events) || !events || events > 4000000)) {
        fprintf(stderr, "usage: bench_log_events [EVENTS (up to 4000000)]\n");
        return 1;
    }
    b.events = (uint32_t)events;
    if (b.null < 0 || !mkdtemp(folder) ||
        !maker_open(&b.ring, BASE, 0xFFFFFFFF, 32, b.events, false))
        return 1;
    snprintf(b.path, sizeof b.path, "%s/bench.log", folder);
    make_events(&b);
    bool passes = run(&b);
    printf("(checksum %llx)\n", (unsigned long long)b.sum);
    maker_close(&b.ring);
    close(b.null);
    rmdir(folder);
    return passes ? 0 : 1;
}
