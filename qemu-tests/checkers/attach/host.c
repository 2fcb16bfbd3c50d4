// SPDX-License-Identifier: MIT
// qemu-tests/checkers/attach: a traced process on this host, which obeys the same orders as the
// firmware (images/posix/posixcalls.c). So the assertions run on the library's own recorder, too.
//
// The process is a child. It shares the words of the orders with its parent, as the firmware shares
// its memory with the debugger. `memory` is the parent's own memory here: orders.c reads and writes
// the words through it. The streams are those of the child's process id.
#define _GNU_SOURCE
#include "attach.h"
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum {
    MAX_EVENTS = 4096,
    MAX_DATA = 4096,
    TICK_MS = 1,
    NAME_BYTES = 64,
    MAX_FUNCTION_BYTES = 4096
};

// The words of an order are in the order of calls_order in posixcalls.c.
static struct shared {
    volatile uint32_t ready, clock_hz, done, number;
    volatile uint32_t verb, type, count, bytes, ticks, first;
    char name[NAME_BYTES];
    volatile uint32_t before[MAX_EVENTS], after[MAX_EVENTS];
} * shared;

// ---- the child ----

static uint32_t now_ns(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint32_t)((uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec);
}

static __attribute__((noinline)) void record_events(void)
{
    uint8_t data[MAX_DATA];
    uint32_t end = shared->first + shared->count;

    for (uint32_t i = shared->first; i < end && i < MAX_EVENTS; i++) {
        for (uint32_t k = 0; k < shared->bytes && k < MAX_DATA; k++)
            data[k] = (uint8_t)(i + k);
        shared->before[i] = now_ns();
        posix_trace_event(shared->type, data, shared->bytes);
        shared->after[i] = now_ns();
    }
}

// Records numbered events, as the firmware's storm does, until the next order.
static void storm(uint32_t number)
{
    uint8_t data[36];
    uint32_t each_tick = shared->count; // The next order changes it before it changes the number.

    for (uint32_t i = 0; shared->number == number; i++) {
        for (uint32_t k = 0; k < sizeof data; k++)
            data[k] = (uint8_t)(k < 4 ? i >> 8 * k : i);
        posix_trace_event(shared->type, data, 4 + i % 32);
        if (i % each_tick == 0)
            pause_ms(TICK_MS);
    }
}

static void obey_order(uint32_t number)
{
    trace_event_id_t type = 0;
    char name[NAME_BYTES];

    switch ((enum verb)shared->verb) {
    case LATE:
        pause_ms((long)shared->ticks * TICK_MS);
        record_events();
        break;
    case RECORD:
        record_events();
        break;
    case STORM:
        storm(number);
        break;
    case NAME:
        memcpy(name, shared->name, sizeof name);
        if (posix_trace_eventid_open(name, &type) == 0)
            shared->type = type;
        break;
    default: // the orders of a debugger's memory, which no process gets
        break;
    }
}

static void be_traced(void)
{
    trace_event_id_t type;

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    posix_trace_eventid_open("told", &type); // from now on, it can be traced
    for (shared->ready = 1;;) {
        uint32_t number = shared->number;
        if (number != shared->done) {
            obey_order(number);
            shared->done = number;
        }
        usleep(50);
    }
}

// ---- the parent ----

bool host_recorded(const struct posix_trace_event_info *info)
{
    uintptr_t place = (uintptr_t)info->posix_prog_address, function = (uintptr_t)record_events;

    // The child is a copy of this thread, so that both have the same id.
    return info->posix_pid == process && pthread_equal(info->posix_thread_id, pthread_self()) &&
           place - function < MAX_FUNCTION_BYTES;
}

// Returns whether an address and those after it are in the words of the orders.
static bool is_shared(uint64_t address, size_t length)
{
    uint64_t start = (uintptr_t)shared;

    return address >= start && address - start <= sizeof *shared - length;
}

static size_t read_own(void *context, uint64_t address, void *buffer, size_t length)
{
    (void)context;
    if (!is_shared(address, length))
        return 0;
    memcpy(buffer, (const void *)(uintptr_t)address, length);
    return length;
}

static size_t write_own(void *context, uint64_t address, const void *bytes, size_t length)
{
    (void)context;
    if (!is_shared(address, length))
        return 0;
    memcpy((void *)(uintptr_t)address, bytes, length);
    return length;
}

bool host_open(void)
{
    const struct extract_memory_source source = {.read = read_own,
                                                 .write = write_own,
                                                 .byte_order = EXTRACT_LITTLE,
                                                 .running = true,
                                                 .name = "traced process"};

    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (shared == MAP_FAILED || extract_memory_new(&memory, &source, NULL))
        return false;
    shared->clock_hz = 1000000000;
    process = fork();
    if (!process)
        be_traced();
    is_host = true;
    return process > 0 &&
           orders_at((uintptr_t)shared, (uintptr_t)shared->before, (uintptr_t)shared->after);
}

void host_close(void)
{
    kill(process, SIGKILL);
    extract_memory_close(memory);
}
