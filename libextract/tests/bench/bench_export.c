// SPDX-License-Identifier: MIT
// bench: exports of a long log in each format, beside babeltrace2's CTF sink and text sink on the
// same log in the same run; and the most memory that each needs for a log ten times as long.
//
// In: how many events (default 1,000,000; memory is measured with ten times as many). Out: events
// per second of processor time, the ratio to the faster of two CTF sinks (one reads the log through
// the plug-in, the other the CTF trace that the first has written), the memory, and PASS or FAIL.
// The commands take turns, and the best time of each counts: what else the machine does meets all
// of them, and can only slow a run down. Reads BUILD.
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
    ROUNDS = 7,
    FEW_ROUNDS = 2, // of commands without a required ratio
    THREADS = 8,
    BASE = 0x20000000,
    QUEUE = BASE + 0x4000,
    MUTEX = BASE + 0x4040,
    SEMAPHORE = BASE + 0x4080,
    FLAGS = BASE + 0x40C0,
    BLOCK = 1024, // entries of a block of the log
    LONGER = 10,  // the log for the measure of memory
    MOST_MIB = 64,
    MAX_WORDS = 12,
    MAX_COMMANDS = 24
};

extern char **environ;

// A command that is measured.
struct command {
    char title[40];
    char parameters[160]; // of babeltrace2's component
    char output[96];      // is removed before each run
    const char *words[MAX_WORDS];
    unsigned rounds;
    double rate;  // the best; events per second of processor time
    double least; // ratio to the faster CTF sink that is required; 0: none
    double mib;   // the most memory with the long log; 0: not measured
};

// The first commands: those of babeltrace2.
enum { DUMMY, TEXT_SINK, CTF_OF_LOG, CTF_OF_CTF, FIRST_EXPORT };

struct bench {
    char folder[64];
    char log[96], long_log[96], ctf[96]; // in the folder
    char program[512], plugins[512];
    uint32_t events;
    struct command commands[MAX_COMMANDS];
    size_t count;
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

// ---- commands ----

static struct command *add_command(struct bench *b, const char *title, const char *output)
{
    struct command *command = &b->commands[b->count++];
    char folder[sizeof b->folder];

    memcpy(folder, b->folder, sizeof folder);
    snprintf(command->title, sizeof command->title, "%s", title);
    snprintf(command->output, sizeof command->output, "%s/%s", folder, output);
    command->rounds = FEW_ROUNDS;
    return command;
}

static struct command *add_babeltrace(struct bench *b, const char *title, const char *sink,
                                      const char *input, const char *output)
{
    struct command *command = add_command(b, title, output);
    const char *const words[MAX_WORDS] = {"babeltrace2", "--plugin-path",    b->plugins,
                                          input,         "--component",      sink,
                                          "--params",    command->parameters};

    memcpy(command->words, words, sizeof words);
    return command;
}

static void add_ctf_sink(struct bench *b, const char *title, const char *input, const char *output)
{
    struct command *command = add_babeltrace(b, title, "sink.ctf.fs", input, output);

    snprintf(command->parameters, sizeof command->parameters, "quiet=yes,path=\"%s\"",
             command->output);
    command->rounds = ROUNDS;
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

static void add_export(struct bench *b, const char *name)
{
    struct command *command = add_command(b, name, "out");
    const char *const words[MAX_WORDS] = {b->program, "export", "--hz", "1000000", "-q",
                                          "--to",     name,     b->log, "-o",      command->output};

    memcpy(command->words, words, sizeof words);
    command->least = least_ratio(name);
    if (command->least > 0)
        command->rounds = ROUNDS;
}

static void add_commands(struct bench *b)
{
    const struct extract_export_kind *kind;

    add_babeltrace(b, "plug-in, no output", "sink.utils.dummy", b->log, "out")->words[6] = NULL;
    struct command *text =
        add_babeltrace(b, "plug-in, babeltrace2's text sink", "sink.text.pretty", b->log, "out");
    snprintf(text->parameters, sizeof text->parameters, "color=\"never\"");
    add_ctf_sink(b, "plug-in, babeltrace2's CTF sink", b->log, "ctf");
    add_ctf_sink(b, "CTF trace, babeltrace2's CTF sink", b->ctf, "again");
    for (size_t i = 0; (kind = extract_export_kind_at(i)) && b->count < MAX_COMMANDS; i++)
        add_export(b, kind->name);
}

// ---- measures ----

// Measures one command once.
static void measure(const struct bench *b, struct command *command)
{
    double mib;

    remove_all(command->output);
    double seconds = run(command->words, &mib);
    double rate = seconds > 0 ? b->events / seconds : 0;
    command->rate = rate > command->rate ? rate : command->rate;
}

// Measures the memory that a command needs for the long log. A ring has at most 256 MiB; the long
// log would need more.
static void measure_memory(const struct bench *b, struct command *command)
{
    const char *words[MAX_WORDS];

    if (strcmp(command->title, "trx") == 0)
        return;
    for (size_t i = 0; i < MAX_WORDS; i++)
        words[i] = command->words[i] == b->log ? b->long_log : command->words[i];
    remove_all(command->output);
    if (run(words, &command->mib) <= 0)
        command->rate = 0;
    remove_all(command->output);
}

// Prints a row. Returns whether what is required was reached.
static bool print_row(const struct command *command, double base)
{
    double ratio = base > 0 ? command->rate / base : 0;
    bool is_good = command->rate > 0 && ratio >= command->least && command->mib <= (double)MOST_MIB;

    printf("%-34s %8.2f M/s %6.2f times", command->title, command->rate / 1e6, ratio);
    if (command->mib > 0)
        printf(" %8.1f MiB", command->mib);
    printf("%s\n", is_good ? "" : "  FAIL");
    return is_good;
}

static bool measure_all(struct bench *b)
{
    bool is_good = true;

    for (unsigned round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < b->count; i++)
            if (round < b->commands[i].rounds)
                measure(b, &b->commands[i]);
    measure_memory(b, &b->commands[DUMMY]);
    for (size_t i = FIRST_EXPORT; i < b->count; i++)
        measure_memory(b, &b->commands[i]);
    double from_log = b->commands[CTF_OF_LOG].rate, from_ctf = b->commands[CTF_OF_CTF].rate;
    for (size_t i = 0; i < b->count; i++)
        is_good &= print_row(&b->commands[i], from_log > from_ctf ? from_log : from_ctf);
    return is_good;
}

int main(int argc, char **argv)
{
    const char *build = getenv("BUILD") ? getenv("BUILD") : "build";
    struct bench b = {.folder = "/tmp/bench-export.XXXXXX",
                      .events = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000};

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
    add_commands(&b);
    bool is_good = measure_all(&b);
    remove_all(b.folder);
    puts(is_good ? "PASS" : "FAIL");
    return !is_good;
}
