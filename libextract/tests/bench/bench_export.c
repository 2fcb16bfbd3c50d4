// SPDX-License-Identifier: MIT
// bench: exports of a long log in each format, beside babeltrace2's CTF sink and text sink on the
// same log in the same run; and the most memory that each needs for a log ten times as long.
//
// In: how many events (default 1,000,000; memory is measured with ten times as many). Out: events
// per second of processor time, the ratio to the faster of two CTF sinks (one reads the log through
// the plug-in, the other the CTF trace that the first has written), the memory, and PASS or FAIL.
// Reads BUILD.
#define _GNU_SOURCE // nftw, wait4
#include "tests/bench/measure.h"
#include "tests/bench/ring_maker.h"
#include <errno.h>
#include <extract/session.h>
#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    RUNS = 3,
    THREADS = 8,
    BASE = 0x20000000,
    QUEUE = BASE + 0x4000,
    MUTEX = BASE + 0x4040,
    SEMAPHORE = BASE + 0x4080,
    FLAGS = BASE + 0x40C0,
    BLOCK = 1024, // entries of a block of the log
    LONGER = 10,  // the log for the measure of memory
    MOST_MIB = 64,
    MAX_WORDS = 12
};

extern char **environ;

struct bench {
    char folder[64];
    char log[96], long_log[96], ctf[96]; // in the folder
    char program[512], plugins[512];
    uint32_t events;
    double base; // events per second of the faster CTF sink
    bool is_failed;
};

// ---- the logs ----

static uint32_t thread_at(uint32_t i)
{
    return BASE + 0x1000 + 0xA0 * (i % THREADS);
}

static void make_objects(struct maker *ring)
{
    char name[32];

    for (uint32_t i = 0; i < THREADS; i++) {
        snprintf(name, sizeof name, "thread %u", i);
        maker_object(ring, 1, thread_at(i), BASE + 0x8000 + 1024 * i, 1024, name);
    }
    maker_object(ring, 3, QUEUE, 16, 0, "queue");
    maker_object(ring, 6, MUTEX, 0, 0, "mutex");
    maker_object(ring, 4, SEMAPHORE, 0, 0, "semaphore");
    maker_object(ring, 5, FLAGS, 0, 0, "flags");
}

// Makes event `i`: an interrupt wakes a thread, which uses some services and waits again.
static void make_event(struct maker *ring, uint32_t i, uint32_t *state, uint32_t *stamp)
{
    static const uint8_t ids[] = {3, 1, 4, 68, 52, 57, 69, 88, 83, 36, 2};
    uint32_t step = i % sizeof ids, round = i / (uint32_t)sizeof ids, r = random_word(state);
    uint32_t thread = thread_at(round), sp = BASE + 0x8000 + 1024 * (round % THREADS) + 512;
    const uint32_t infos[][4] = {{sp, r % 4, 0, 0},         {thread, 5, sp, thread},
                                 {sp, r % 4, 0, 0},         {QUEUE, sp, UINT32_MAX, r % 16},
                                 {MUTEX, UINT32_MAX, 0, 0}, {MUTEX, thread, 1, sp},
                                 {QUEUE, sp, 0, r % 16},    {SEMAPHORE, r % 8, 0, sp},
                                 {SEMAPHORE, 0, r % 8, sp}, {FLAGS, 1u << r % 32, 0, 0},
                                 {thread, 5, sp, 0}};
    bool is_interrupt = step < 3;

    *stamp += 10 + (r >> 24) / 4;
    maker_event(ring, is_interrupt ? MAKER_ISR : thread,
                is_interrupt ? 0 : MAKER_PRIORITY(8 + round % 8, 8 + round % 8), ids[step], *stamp,
                infos[step]);
}

static enum extract_code put_entries(struct extract_log_writer *log, struct maker *ring,
                                     uint32_t events)
{
    uint32_t state = 2463534242u, stamp = 0;
    enum extract_code code = EXTRACT_OK;

    for (uint32_t i = 0; i < events && !code; i += BLOCK) {
        uint32_t count = events - i < BLOCK ? events - i : BLOCK;
        struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                          .count = count,
                                          .length = count * MAKER_ENTRY,
                                          .first = i,
                                          .wall = 1 + (uint64_t)i * 1000};
        ring->events = 0;
        for (uint32_t k = 0; k < count; k++)
            make_event(ring, i + k, &state, &stamp);
        code = extract_log_put(log, &block, ring->bytes + maker_entry_at(ring, 0), NULL);
    }
    return code;
}

static enum extract_code write_log(const char *path, uint32_t events)
{
    const struct extract_ring_options where = {
        .size = sizeof where, .address_known = true, .address = BASE};
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *log = NULL;
    struct extract_memory *memory = NULL;
    struct extract_ring found;
    struct maker ring;

    if (!maker_open(&ring, BASE, UINT32_MAX, THREADS + 4, BLOCK, false))
        return EXTRACT_NOMEM;
    make_objects(&ring);
    enum extract_code code = extract_memory_new_images(&memory, NULL);
    if (!code)
        code = extract_memory_add_bytes(memory, "ring", ring.bytes, ring.length, BASE, NULL);
    if (!code)
        code = extract_ring_find(&found, memory, NULL, &where, NULL);
    if (!code)
        code = extract_log_create(&log, path, &options, NULL);
    if (!code)
        code = extract_log_put_ring(log, &found, NULL);
    if (!code)
        code = extract_log_put_objects(log, found.registry.start, ring.bytes + MAKER_HEADER,
                                       ring.slots * (size_t)MAKER_OBJECT, NULL);
    if (!code)
        code = put_entries(log, &ring, events);
    extract_memory_close(memory);
    maker_close(&ring);
    enum extract_code closed = log ? extract_log_close(log, NULL) : EXTRACT_OK;
    return code ? code : closed;
}

// ---- programs ----

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static void remove_all(const char *path)
{
    nftw(path, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

// Runs a program with its output to /dev/null. Returns the seconds of processor time, or 0 if it
// failed, and sets *mib to the most memory that it used.
static double run(const char *const *words, double *mib)
{
    posix_spawn_file_actions_t actions;
    struct rusage usage;
    pid_t pid;
    int status;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    int fault = posix_spawnp(&pid, words[0], &actions, NULL, (char *const *)words, environ);
    posix_spawn_file_actions_destroy(&actions);
    if (fault || wait4(pid, &status, 0, &usage) != pid || status != 0)
        return 0;
    *mib = (double)usage.ru_maxrss / 1024;
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_utime.tv_usec / 1e6 +
           (double)usage.ru_stime.tv_sec + (double)usage.ru_stime.tv_usec / 1e6;
}

// Makes the command of an export. The words borrow from the arguments.
static void export_words(const struct bench *b, const char *name, const char *input,
                         const char *output, const char *words[MAX_WORDS])
{
    const char *const all[MAX_WORDS] = {b->program, "export", "--hz", "1000000", "-q", "--to",
                                        name,       input,    "-o",   output,    NULL};

    memcpy(words, all, sizeof all);
}

static void babeltrace_words(const struct bench *b, const char *sink, const char *input,
                             const char *parameters, const char *words[MAX_WORDS])
{
    const char *const all[MAX_WORDS] = {"babeltrace2", "--plugin-path", b->plugins,
                                        input,         "--component",   sink,
                                        "--params",    parameters,      NULL};

    memcpy(words, all, sizeof all);
}

// ---- measures ----

// Prints a row. `least` is the ratio that is required; 0: none. `mib` is 0 if it was not measured.
static void print_row(struct bench *b, const char *name, double rate, double least, double mib)
{
    double ratio = b->base > 0 ? rate / b->base : 0;
    bool is_bad = rate <= 0 || ratio < least || mib > MOST_MIB;

    b->is_failed |= is_bad;
    printf("%-34s %8.2f M/s", name, rate / 1e6);
    if (ratio > 0)
        printf(" %6.2f times", ratio);
    else
        printf(" %12s", "");
    if (mib > 0)
        printf(" %8.1f MiB", mib);
    printf("%s\n", is_bad ? "  FAIL" : "");
}

// Returns the best of several rates: what else the machine does can only slow a run down. What the
// command writes to `output` is removed before each run; the last remains.
static double best_rate(const struct bench *b, const char *const *words, const char *output)
{
    double best = 0, mib;

    for (int i = 0; i < RUNS; i++) {
        remove_all(output);
        double seconds = run(words, &mib);
        double rate = seconds > 0 ? b->events / seconds : 0;
        best = rate > best ? rate : best;
    }
    return best;
}

static void measure_babeltrace(struct bench *b)
{
    const char *words[MAX_WORDS];
    char parameters[160], again[128], output[128];
    double mib = 0;

    snprintf(again, sizeof again, "%s/again", b->folder);
    snprintf(output, sizeof output, "%s/out", b->folder);
    snprintf(parameters, sizeof parameters, "quiet=yes,path=\"%s\"", b->ctf);
    babeltrace_words(b, "sink.ctf.fs", b->log, parameters, words);
    double from_log = best_rate(b, words, b->ctf);
    snprintf(parameters, sizeof parameters, "quiet=yes,path=\"%s\"", again);
    babeltrace_words(b, "sink.ctf.fs", b->ctf, parameters, words);
    double from_ctf = best_rate(b, words, again);
    remove_all(again);
    babeltrace_words(b, "sink.text.pretty", b->log, "color=\"never\"", words);
    double text = best_rate(b, words, output);
    babeltrace_words(b, "sink.utils.dummy", b->long_log, "", words);
    words[6] = NULL;
    run(words, &mib);
    words[3] = b->log;
    double dummy = best_rate(b, words, output);

    print_row(b, "plug-in, no output", dummy, 0, mib);
    print_row(b, "plug-in, babeltrace2's text sink", text, 0, 0);
    b->base = from_log > from_ctf ? from_log : from_ctf;
    print_row(b, "plug-in, babeltrace2's CTF sink", from_log, 0, 0);
    print_row(b, "CTF trace, babeltrace2's CTF sink", from_ctf, 0, 0);
}

// Returns the ratio to the CTF sink that is required of a format; 0: none.
static double least_ratio(const char *name)
{
    static const struct {
        const char *name;
        double ratio;
    } least[] = {{"ctf", 2}, {"csv", 2}, {"vcd", 2}, {"perfetto", 1}, {"jsonl", 1}};

    for (size_t i = 0; i < sizeof least / sizeof *least; i++)
        if (strcmp(least[i].name, name) == 0)
            return least[i].ratio;
    return 0;
}

static void measure_export(struct bench *b, const char *name)
{
    const char *words[MAX_WORDS];
    char output[128];
    double mib = 0;

    snprintf(output, sizeof output, "%s/out", b->folder);
    export_words(b, name, b->log, output, words);
    double rate = best_rate(b, words, output);
    remove_all(output);
    export_words(b, name, b->long_log, output, words);
    // A ring has at most 256 MiB; the long log would need more.
    if (strcmp(name, "trx") != 0 && run(words, &mib) <= 0)
        rate = 0;
    remove_all(output);
    print_row(b, name, rate, least_ratio(name), mib);
}

int main(int argc, char **argv)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    struct bench b = {.folder = "/tmp/bench-export.XXXXXX",
                      .events = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000};
    const struct extract_export_kind *kind;

    if (!b.events || b.events > UINT32_MAX / LONGER || !mkdtemp(b.folder)) {
        fprintf(stderr, "usage: bench_export [EVENTS]; /tmp must be writable\n");
        return 1;
    }
    snprintf(b.program, sizeof b.program, "%s/ringside", build);
    snprintf(b.plugins, sizeof b.plugins, "%s", build);
    snprintf(b.log, sizeof b.log, "%s/a.log", b.folder);
    snprintf(b.long_log, sizeof b.long_log, "%s/long.log", b.folder);
    snprintf(b.ctf, sizeof b.ctf, "%s/ctf", b.folder);
    if (write_log(b.log, b.events) || write_log(b.long_log, b.events * LONGER)) {
        fprintf(stderr, "%s: the logs cannot be written\n", b.folder);
        remove_all(b.folder);
        return 1;
    }
    printf("%u events; ratios to babeltrace2's faster CTF sink; memory with %u events\n", b.events,
           b.events * LONGER);
    measure_babeltrace(&b);
    for (size_t i = 0; (kind = extract_export_kind_at(i)); i++)
        measure_export(&b, kind->name);
    remove_all(b.folder);
    puts(b.is_failed ? "FAIL" : "PASS");
    return b.is_failed;
}
