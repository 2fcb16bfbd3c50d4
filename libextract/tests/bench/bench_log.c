// SPDX-License-Identifier: MIT
// bench: what the log's writer and reader do in a second, beside plain writes of the same blocks on
// the same disk and beside dd, in one run.
//
// In: a folder (default: the current one's build/). Out: MB/s and ratios, and PASS or FAIL: the log
// must take 200 MB/s, or 80 % of what dd does.
#include "tests/bench/measure.h"
#include <extract/log.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { MEGABYTE = 1000000, TOTAL = 256 * MEGABYTE, RUNS = 3, SLOT = 32 };

struct bench {
    char folder[256];
    char log[300], plain[300];
    uint8_t *payload;
};

static _Noreturn void fail(const char *what)
{
    fprintf(stderr, "bench_log: %s\n", what);
    exit(2);
}

static double write_log(struct bench *b, uint32_t slots)
{
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer;
    struct extract_error error;
    struct extract_log_block block = {
        .type = EXTRACT_LOG_ENTRIES, .count = slots, .length = slots * SLOT};
    unlink(b->log);
    double start = now();
    if (extract_log_create(&writer, b->log, &options, &error))
        fail(error.why);
    for (uint64_t done = 0; done < TOTAL; done += block.length, block.first += slots)
        if (extract_log_put(writer, &block, b->payload, &error))
            fail(error.why);
    if (extract_log_close(writer, &error))
        fail(error.why);
    return now() - start;
}

static double write_plain(struct bench *b, uint32_t slots)
{
    size_t length = (size_t)slots * SLOT;
    unlink(b->plain);
    double start = now();
    int fd = open(b->plain, O_WRONLY | O_CREAT | O_EXCL, 0600);
    for (uint64_t done = 0; done < TOTAL; done += length)
        if (pwrite(fd, b->payload, length, (off_t)done) != (ssize_t)length)
            fail("a plain write failed");
    close(fd);
    return now() - start;
}

static double write_dd(struct bench *b, uint32_t slots)
{
    char command[600];
    uint32_t length = slots * SLOT;
    unlink(b->plain);
    snprintf(command, sizeof command, "dd if=/dev/zero of='%s' bs=%u count=%u 2>/dev/null",
             b->plain, length, TOTAL / length);
    double start = now();
    if (system(command) != 0)
        fail("dd failed");
    return now() - start;
}

// *opened: how long the index took.
static double read_log(struct bench *b, double *opened)
{
    struct extract_log *log;
    struct extract_log_block block;
    struct extract_error error;
    double start = now();
    if (extract_log_open(&log, b->log, &error))
        fail(error.why);
    *opened = now() - start;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++)
        if (extract_log_read(log, &block, b->payload, &error))
            fail(error.why);
    extract_log_free(log);
    return now() - start;
}

static double best(double a, double b)
{
    return a < b ? a : b;
}

static bool measure(struct bench *b, uint32_t slots)
{
    double log = 1e9, plain = 1e9, dd = 1e9, back = 1e9, open_one, opened = 1e9;
    for (int i = 0; i < RUNS; i++) {
        dd = best(dd, write_dd(b, slots));
        plain = best(plain, write_plain(b, slots));
        log = best(log, write_log(b, slots));
        back = best(back, read_log(b, &open_one));
        opened = best(opened, open_one);
    }
    const double total = (double)TOTAL / (double)MEGABYTE;
    double rate = total / log;
    bool good = rate >= 200 || dd / log >= 0.8;
    printf("%8u %10.0f %10.0f %10.0f %8.0f%% %10.0f %8.1f ms  %s\n", slots * SLOT, rate,
           total / plain, total / dd, 100 * dd / log, total / back, opened * 1e3,
           good ? "PASS" : "FAIL");
    return good;
}

int main(int argc, char **argv)
{
    static const uint32_t slots[] = {4, 32, 256, 2048, 16384};
    struct bench b;
    bool good = true;
    snprintf(b.folder, sizeof b.folder, "%s/bench-log-XXXXXX", argc > 1 ? argv[1] : "build");
    b.payload = malloc(64 * 1024 * SLOT);
    if (!b.payload || !mkdtemp(b.folder))
        fail("cannot make a folder for the logs");
    memset(b.payload, 0x5A, 64 * 1024 * SLOT);
    snprintf(b.log, sizeof b.log, "%s/log", b.folder);
    snprintf(b.plain, sizeof b.plain, "%s/plain", b.folder);
    printf("   block        log      write         dd   log/dd       read      open\n"
           "   bytes       MB/s       MB/s       MB/s                MB/s\n");
    for (size_t i = 0; i < sizeof slots / sizeof *slots; i++)
        good = measure(&b, slots[i]) && good;
    unlink(b.log);
    unlink(b.plain);
    rmdir(b.folder);
    free(b.payload);
    return good ? 0 : 1;
}
