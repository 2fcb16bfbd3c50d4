// SPDX-License-Identifier: MIT
// gdb-reader: access to target memory through GDB, safe against GDB's exceptions.
//
// GDB's target_read callback may throw a C++ exception. If it unwound a frame of the library, what
// that frame owns would leak. So the work runs on a stack of its own. To read memory, it switches
// to GDB's stack, where the callback is called, and back with the result. When an exception passes,
// the work is resumed with reads that fail until it has ended.
// Source: Debugging with GDB, "Writing JIT Debug Info Readers"; makecontext(3).
#include "gdb_target.h"
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

enum { STACK_BYTES = 1 << 20 };

struct target {
    ucontext_t caller; // GDB's stack
    ucontext_t worker;
    void *stack;
    void (*work)(void *context, struct target *target);
    void *context;
    gdb_target_read *read;
    uint64_t address; // of the read that the worker requests
    void *buffer;
    int length;
    bool read_succeeded;
    bool reads_fail; // from now on, because an exception has passed or the work must end
    bool work_is_done;
};

// Runs on the stack of its own. makecontext passes only ints, so the pointer arrives in two halves.
static void start_work(unsigned high, unsigned low)
{
    struct target *target = (struct target *)(((uintptr_t)high << 16 << 16) | low);

    target->work(target->context, target);
    target->work_is_done = true;
}

static void resume_work(struct target *target)
{
    swapcontext(&target->caller, &target->worker);
}

// Runs the work to its end and frees everything. This also happens when an exception passes.
static void finish_work(struct target **target)
{
    (*target)->reads_fail = true;
    while (!(*target)->work_is_done)
        resume_work(*target);
    munmap((*target)->stack, STACK_BYTES);
    free(*target);
}

// Calls GDB for each read that the work requests, until the work is done.
static void serve_reads(struct target *target)
{
    for (resume_work(target); !target->work_is_done; resume_work(target)) {
        target->read_succeeded = false;
        target->read_succeeded = target->read((GDB_CORE_ADDR)target->address, target->buffer,
                                              target->length) == GDB_SUCCESS;
    }
}

static struct target *target_new(void)
{
    struct target *target = calloc(1, sizeof *target);

    if (!target)
        return NULL;
    target->stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK | MAP_NORESERVE, -1, 0);
    if (target->stack == MAP_FAILED) {
        free(target);
        return NULL;
    }
    return target;
}

bool target_run(gdb_target_read *read, void (*work)(void *context, struct target *target),
                void *context)
{
    struct target *made = target_new();

    if (!made)
        return false;
    struct target *target __attribute__((cleanup(finish_work))) = made;
    target->read = read;
    target->work = work;
    target->context = context;
    getcontext(&target->worker);
    target->worker.uc_stack.ss_sp = target->stack;
    target->worker.uc_stack.ss_size = STACK_BYTES;
    target->worker.uc_link = &target->caller;
    uintptr_t self = (uintptr_t)target;
    makecontext(&target->worker, (void (*)(void))start_work, 2, (unsigned)(self >> 16 >> 16),
                (unsigned)self);
    serve_reads(target);
    return true;
}

bool target_exists(const struct target *target)
{
    return target->read != NULL;
}

// Reads all bytes or none.
static bool read_span(struct target *target, uint64_t address, void *buffer, size_t length)
{
    if (target->reads_fail || !target->read)
        return false;
    target->address = address;
    target->buffer = buffer;
    target->length = (int)length;
    swapcontext(&target->worker, &target->caller);
    return target->read_succeeded;
}

// Any read lets GDB check for a Ctrl-C, even one that fails. The last address is probably readable.
bool target_may_continue(struct target *target)
{
    char byte;

    read_span(target, target->address, &byte, 1);
    return !target->reads_fail;
}

// GDB reads everything or nothing. After a failure, halving the step finds the end of the readable
// memory, in at most as many reads as the length has bits.
size_t target_read(void *target, uint64_t address, void *buffer, size_t length)
{
    size_t done = 0;
    size_t step = length > INT32_MAX ? INT32_MAX : length;

    while (step && done < length) {
        if (step > length - done)
            step = length - done;
        if (read_span(target, address + done, (char *)buffer + done, step))
            done += step;
        else
            step /= 2;
    }
    return done;
}

enum extract_code target_open_memory(struct target *target, enum extract_byte_order order,
                                     struct extract_memory **memory, struct extract_error *error)
{
    const struct extract_memory_source source = {
        .read = target_read,
        .context = target,
        .byte_order = order,
        .name = "target memory",
    };

    return extract_memory_new(memory, &source, error);
}
