// SPDX-License-Identifier: MIT
// bench: RKH streams: frames a second, beside a plain loop that does no more than to take the
// stuffing away, over the same bytes in the same run.
//
// In: how many frames (default 1,000,000). Out: a table, and PASS or FAIL for each figure that must
// be met.
#include "snapshot/snapshot_room.h"
#include <extract/session.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { RUNS = 5, BATCH = 128, MAX_FRAME = 64 };

struct bench {
    uint32_t frames;
    uint8_t *bytes; // of the stream
    size_t length;
    char path[64];
    struct extract_session *session;
    struct extract_memory *memory;
    uint8_t *plain;
    uint64_t sum; // keeps the compiler from leaving work out
};

// Processor time, so that other programs that run at the same time do not count.
static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

// ---- the stream ----

static void put_byte(struct bench *bench, uint8_t byte)
{
    bool escape = byte == 0x7E || byte == 0x7D;
    if (escape)
        bench->bytes[bench->length++] = 0x7D;
    bench->bytes[bench->length++] = escape ? byte ^ 0x20 : byte;
}

static void put_frame(struct bench *bench, const uint8_t *bytes, size_t length)
{
    uint8_t sum = 0;
    for (size_t i = 0; i < length; i++) {
        put_byte(bench, bytes[i]);
        sum = (uint8_t)(sum + bytes[i]);
    }
    put_byte(bench, (uint8_t)-sum);
    bench->bytes[bench->length++] = 0x7E;
}

// What the arguments of an event are by: a = address, s = signal, b = byte.
struct shape {
    uint8_t id;
    const char *arguments;
};

static size_t make_frame(uint8_t frame[MAX_FRAME], const struct shape *shape, uint32_t i)
{
    size_t length = 2;
    uint32_t stamp = i * 7;
    frame[0] = shape->id;
    frame[1] = (uint8_t)i;
    for (unsigned k = 0; k < 4; k++)
        frame[length++] = (uint8_t)(stamp >> 8 * k);
    for (const char *at = shape->arguments; *at; at++) {
        uint32_t address = 0x20000000 + (i * 48 + (uint32_t)(at - shape->arguments) * 16) % 4096;
        for (unsigned k = 0; k < (*at == 'a' ? 4 : 1); k++)
            frame[length++] = *at == 'a' ? (uint8_t)(address >> 8 * k) : (uint8_t)(i % 7);
    }
    return length;
}

// A post and what follows from it, as a framework with all of its events on writes them.
static bool make_stream(struct bench *bench)
{
    static const uint8_t tcfg[] = {0xac, 0x00, 0x34, 0xff, 0xff, 0x03, 0x00,
                                   0x14, 0x42, 0x11, 0x02, 0x14, 0xe8, 0x03};
    static const struct shape shapes[] = {{0x43, "asabbbb"}, {0x22, "abb"}, {0x42, "asbbbb"},
                                          {0x71, "asa"},     {0x62, "aaa"}, {0x65, "aa"},
                                          {0x64, "aa"},      {0x63, "aa"},  {0x66, "abb"},
                                          {0x69, "a"},       {0x21, "ab"},  {0x01, "abb"}};
    uint8_t frame[MAX_FRAME];
    bench->bytes = malloc((size_t)bench->frames * MAX_FRAME + MAX_FRAME);
    if (!bench->bytes)
        return false;
    bench->bytes[bench->length++] = 0x7E;
    put_frame(bench, tcfg, sizeof tcfg);
    for (uint32_t i = 0; i + 1 < bench->frames; i++)
        put_frame(bench, frame,
                  make_frame(frame, &shapes[i % (sizeof shapes / sizeof *shapes)], i));
    return true;
}

static bool write_stream(struct bench *bench)
{
    snprintf(bench->path, sizeof bench->path, "/tmp/ringside-bench-%d.rkh", (int)getpid());
    int fd = open(bench->path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
    bool written = fd >= 0 && write(fd, bench->bytes, bench->length) == (ssize_t)bench->length;
    close(fd);
    return written;
}

// ---- what is measured ----

static void run_plain(struct bench *bench)
{
    uint8_t *to = bench->plain;
    const uint8_t *at = bench->bytes, *end = at + bench->length;
    while (at < end) {
        uint8_t byte = *at++;
        if (byte == 0x7D && at < end)
            byte = *at++ ^ 0x20;
        *to++ = byte;
    }
    bench->sum += bench->plain[bench->length / 2];
}

static void run_frames(struct bench *bench)
{
    struct extract_snapshot snapshot;
    struct extract_ring ring;
    struct extract_ring_options options = {.size = sizeof options, .format = "rkh"};
    if (extract_ring_find(&ring, bench->memory, NULL, &options, NULL) ||
        extract_snapshot_take(&snapshot, bench->memory, &ring, NULL))
        return;
    bench->sum += extract_snapshot_valid(&snapshot);
    extract_snapshot_free(&snapshot);
}

static void run_events(struct bench *bench)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    size_t count;
    extract_reader_init(&reader, extract_session_trace(bench->session));
    while ((count = extract_reader_next(&reader, events, BATCH)))
        bench->sum += events[count - 1].field[0];
}

// All of the way from bytes to events.
static void run_decoding(struct bench *bench)
{
    run_frames(bench);
    run_events(bench);
}

static void run_report(struct bench *bench)
{
    struct extract_text text;
    int null = open("/dev/null", O_WRONLY);
    extract_text_init(&text, NULL, NULL);
    extract_session_run(bench->session, "report", &text, NULL);
    bench->sum += (uint64_t)write(null, text.data, text.used);
    extract_text_free(&text);
    close(null);
}

// Frames a second, the best of some runs.
static double rate_of(struct bench *bench, void (*run)(struct bench *))
{
    double best = 0;
    for (unsigned i = 0; i < RUNS; i++) {
        double start = now();
        run(bench);
        double rate = bench->frames / (now() - start);
        best = rate > best ? rate : best;
    }
    return best;
}

static int judge(const char *what, double rate, double plain, double must)
{
    printf("%-28s %8.2f M/s  %6.2f x plain", what, rate / 1e6, rate / plain);
    if (must > 0)
        printf("  %s (%.0f M/s)", rate >= must ? "PASS" : "FAIL", must / 1e6);
    putchar('\n');
    return must > 0 && rate < must;
}

static int measure(struct bench *bench)
{
    double plain = rate_of(bench, run_plain);
    int failed = 0;
    printf("%u frames, %zu bytes\n", bench->frames, bench->length);
    failed |= judge("plain unstuffing, by frames", plain, plain, 0);
    failed |= judge("frames found and checked", rate_of(bench, run_frames), plain, 0);
    failed |= judge("frames to events", rate_of(bench, run_events), plain, 0);
    failed |= judge("both: bytes to events", rate_of(bench, run_decoding), plain, 20e6);
    failed |= judge("events to text", rate_of(bench, run_report), plain, 2e6);
    return failed;
}

int main(int argc, char **argv)
{
    struct bench bench = {.frames = argc > 1 ? (uint32_t)strtoul(argv[1], NULL, 0) : 1000000};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh"};
    struct extract_error error;
    char line[512];
    int status = 2;
    if (!bench.frames || !make_stream(&bench) || !write_stream(&bench) ||
        !(bench.plain = malloc(bench.length))) {
        fputs("bench_rkh: no room for the stream\n", stderr);
    } else if (extract_rkh_stream_open(&bench.memory, bench.path, &error) ||
               extract_session_open(&bench.session, bench.memory, NULL, &options, &error)) {
        fprintf(stderr, "bench_rkh: %s\n", extract_error_format(&error, line, sizeof line));
    } else {
        status = measure(&bench);
    }
    extract_session_close(bench.session);
    extract_memory_close(bench.memory);
    unlink(bench.path);
    free(bench.plain);
    free(bench.bytes);
    return status;
}
