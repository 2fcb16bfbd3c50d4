// SPDX-License-Identifier: MIT
// bench: what a trace point of the POSIX recorder costs a program, against a look at the clock in
// the same run: without a stream that runs, and with 8 bytes of data into one that does.
//
// Out: ns a call, and PASS or FAIL: a trace point that is not active takes at most 5 % of
// clock_gettime(CLOCK_REALTIME), an event at most 3 times as long.
#include "target/linux.h"
#include <stdio.h>
#include <string.h>
#include <time.h>

enum {
    CALLS = 1000000,
    RUNS = 7,
    INACTIVE_PERCENT = 5,
    EVENT_PERCENT = 300,
    STREAM_WORDS = 1 << 16,
    REQUEST = 92, // offsets in a stream block
    WANTED = 96
};

static double now(void)
{
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static void look_at_clock(uint64_t n)
{
    struct timespec t;
    (void)n;
    clock_gettime(CLOCK_REALTIME, &t);
}

static void trace(uint64_t n)
{
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, &n, sizeof n);
}

// What the others cost without what they call.
static void nothing(uint64_t n)
{
    __asm__ volatile("" : : "r"(&n) : "memory");
}

// ns a call, of the best run: others share the machine.
static double cost(void (*call)(uint64_t))
{
    double best = 1e18;
    for (int run = 0; run < RUNS; run++) {
        double start = now();
        for (uint64_t n = 0; n < CALLS; n++)
            call(n);
        double each = (now() - start) / CALLS;
        best = each < best ? each : best;
    }
    return best;
}

static void start(struct ringside_trace_object *object, unsigned stream)
{
    size_t length;
    uint8_t *bytes = ringside_trace_object_bytes(object, &length);
    uint32_t block, block_bytes, wanted = 3, request, active = UINT32_MAX;
    memcpy(&block_bytes, bytes + 28, 4);
    memcpy(&block, bytes + 32, 4);
    block += stream * block_bytes;
    memcpy(bytes + block + WANTED, &wanted, 4);
    memcpy(&request, bytes + block + REQUEST, 4);
    request++;
    memcpy(bytes + block + REQUEST, &request, 4);
    memcpy(bytes + 20, &active, 4);
    ringside_trace_object_attend(object);
}

static int judge(const char *what, double ns, double clock, int percent)
{
    double share = 100 * ns / clock;
    printf("%-12s %8.2f ns  %6.1f %% of the clock's, at most %d %%: %s\n", what, ns, share, percent,
           share <= percent ? "PASS" : "FAIL");
    return share > percent;
}

int main(void)
{
    struct ringside_trace_object *object;
    struct ringside_trace_bind bind = {POSIX_TRACE_LOOP, STREAM_WORDS, 64, false, "bench"};
    unsigned stream;
    double bare = cost(nothing), clock = cost(look_at_clock) - bare, inactive;
    trace(0); // finds the process' object
    inactive = cost(trace) - bare;
    if (ringside_trace_object_open(0, true, &object) ||
        ringside_trace_object_bind(object, &bind, &stream)) {
        fprintf(stderr, "bench_posix: no stream: /dev/shm is missing or full\n");
        return 2;
    }
    start(object, stream);
    double event = cost(trace) - bare;
    printf("%-12s %8.2f ns\n", "clock", clock);
    int failed = judge("inactive", inactive, clock, INACTIVE_PERCENT);
    failed += judge("8 bytes", event, clock, EVENT_PERCENT);
    ringside_trace_object_release(object, stream);
    ringside_trace_object_close(object);
    return failed != 0;
}
