// SPDX-License-Identifier: MIT
// bench: what a trace point of the POSIX recorder costs a program, compared with reading the clock
// in the same run. Measured are: no traced process, a stopped stream, a child that does not inherit
// the trace; and with 8 bytes of data a running stream, a full stream, and eight threads at once.
//
// Out: ns per call, and PASS or FAIL. An inactive trace point may take at most 5 % of
// clock_gettime(CLOCK_REALTIME). An event, recorded or refused, may take at most 3 times as long as
// that call. The function of the inactive trace point, called by its address, and the threads have
// no limit; no event of the threads may be missing.
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>
#include <time.h>
#include <trace.h>
#include <unistd.h>

enum {
    CALLS = 100000,
    RUNS = 40,
    INACTIVE_PERCENT = 5,
    EVENT_PERCENT = 300,
    STREAM_BYTES = 1 << 18,
    SMALL_BYTES = 1 << 12,
    LARGE_BYTES = 15 << 20,
    MAX_DATA = 64,
    THREADS = 8,
    THREAD_EVENTS = 20000
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

static void call_function(uint64_t n)
{
    static void (*volatile function)(trace_event_id_t, const void *, size_t) = posix_trace_event;
    function(POSIX_TRACE_UNNAMED_USEREVENT, &n, sizeof n);
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
        double each = (now() - start) / (double)CALLS;
        best = each < best ? each : best;
    }
    return best;
}

static double cost_beyond_loop(void (*call)(uint64_t))
{
    return cost(call) - cost(nothing);
}

static int judge(const char *what, double ns, int percent)
{
    double share = 100 * ns / cost_beyond_loop(look_at_clock);
    printf("%-16s %8.2f ns  %6.1f %% of the clock's, at most %d %%: %s\n", what, ns, share, percent,
           share <= percent ? "PASS" : "FAIL");
    return share > percent;
}

static int validate_trace(const char *what, int percent)
{
    trace(0); // finds the process' object; what a request or a full stream has to do is done
    return judge(what, cost_beyond_loop(trace), percent);
}

static trace_id_t create(int policy, size_t bytes)
{
    trace_attr_t attr;
    trace_id_t stream;
    if (!posix_trace_attr_init(&attr) && !posix_trace_attr_setstreamfullpolicy(&attr, policy) &&
        !posix_trace_attr_setstreamsize(&attr, bytes) &&
        !posix_trace_attr_setmaxdatasize(&attr, MAX_DATA) && !posix_trace_create(0, &attr, &stream))
        return stream;
    fprintf(stderr, "bench_posix: no stream: /dev/shm is missing or full\n");
    _exit(2);
}

// The trace point of a child that does not inherit the stream that runs.
static int judge_child(void)
{
    int status;
    fflush(stdout);
    pid_t child = fork();
    if (!child) {
        int failed = validate_trace("not inherited", INACTIVE_PERCENT);
        fflush(stdout);
        _exit(failed);
    }
    return waitpid(child, &status, 0) != child || status != 0;
}

static int judge_running(void)
{
    trace_id_t stream = create(POSIX_TRACE_LOOP, STREAM_BYTES);
    int failed = validate_trace("stopped", INACTIVE_PERCENT);
    posix_trace_start(stream);
    failed += validate_trace("8 bytes", EVENT_PERCENT);
    failed += judge_child();
    posix_trace_shutdown(stream);
    return failed;
}

static int judge_full(const char *what, size_t bytes)
{
    struct posix_trace_status_info status;
    trace_id_t stream = create(POSIX_TRACE_UNTIL_FULL, bytes);
    posix_trace_start(stream);
    do
        trace(0);
    while (!posix_trace_get_status(stream, &status) &&
           status.posix_stream_full_status != POSIX_TRACE_FULL);
    int failed = validate_trace(what, EVENT_PERCENT);
    posix_trace_shutdown(stream);
    return failed;
}

// ---- threads ----

static void *trace_many(void *argument)
{
    for (uint64_t n = 0; n < THREAD_EVENTS; n++)
        trace(n);
    return argument;
}

// Costs in the program itself, with a stream that has space for all events.
static int count_events(trace_id_t stream)
{
    struct posix_trace_event_info event;
    char data[MAX_DATA];
    size_t length;
    int unavailable = 0, count = 0;
    while (
        !posix_trace_trygetnext_event(stream, &event, data, sizeof data, &length, &unavailable) &&
        !unavailable)
        count += event.posix_event_id == POSIX_TRACE_UNNAMED_USEREVENT;
    return count;
}

static int judge_threads(void)
{
    pthread_t threads[THREADS];
    trace_id_t stream = create(POSIX_TRACE_UNTIL_FULL, LARGE_BYTES);
    int running = 0;
    posix_trace_start(stream);
    double begin = now();
    while (running < THREADS && !pthread_create(&threads[running], NULL, trace_many, NULL))
        running++;
    for (int k = 0; k < running; k++)
        pthread_join(threads[k], NULL);
    double each = (now() - begin) / (THREADS * THREAD_EVENTS);
    int count = count_events(stream);
    posix_trace_shutdown(stream);
    bool all = count == THREADS * THREAD_EVENTS;
    printf("%-16s %8.2f ns  %d of %d events: %s\n", "8 threads", each, count,
           THREADS * THREAD_EVENTS, all ? "PASS" : "FAIL");
    return !all;
}

int main(void)
{
    printf("%-16s %8.2f ns\n", "clock", cost_beyond_loop(look_at_clock));
    int failed = validate_trace("inactive", INACTIVE_PERCENT);
    printf("%-16s %8.2f ns\n", "function", cost_beyond_loop(call_function));
    failed += judge_running();
    failed += judge_full("refused, 4 KiB", SMALL_BYTES);
    failed += judge_full("refused, 15 MiB", LARGE_BYTES);
    failed += judge_threads();
    return failed != 0;
}
