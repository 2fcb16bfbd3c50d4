// SPDX-License-Identifier: MIT
// memory/live: the traced process on this host. In: its process id. Out: a memory that is its
// shared memory object, from address 0 on; a request that is written there is carried out at once.
//
// Source: docs/formats/posix-ring.md, "Requests".
#include "target/linux.h"
#include <errno.h>
#include <extract/memory.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct process {
    struct ringside_trace_object *object;
    uint8_t *bytes;
    size_t length;
};

// Word by word in the order of addresses: what is read later is no older.
static void copy_words(uint8_t *to, const uint8_t *from, size_t length)
{
    size_t at = 0;
    for (; (uintptr_t)(from + at) % sizeof(uint32_t) && at < length; at++)
        to[at] = from[at];
    for (; length - at >= sizeof(uint32_t); at += sizeof(uint32_t)) {
        uint32_t word = atomic_load_explicit((const _Atomic uint32_t *)(const void *)(from + at),
                                             memory_order_acquire);
        memcpy(to + at, &word, sizeof word);
    }
    for (; at < length; at++)
        to[at] = from[at];
}

static size_t within(const struct process *process, uint64_t address, size_t length)
{
    if (address >= process->length)
        return 0;
    uint64_t left = process->length - address;
    return length < left ? length : (size_t)left;
}

static size_t read_object(void *context, uint64_t address, void *buffer, size_t length)
{
    struct process *process = context;
    size_t got = within(process, address, length);
    copy_words(buffer, process->bytes + (got ? address : 0), got);
    return got;
}

static size_t write_object(void *context, uint64_t address, const void *bytes, size_t length)
{
    struct process *process = context;
    size_t done = within(process, address, length);
    uint8_t *to = process->bytes + (done ? address : 0);
    if (address % sizeof(uint32_t) || length != sizeof(uint32_t) || done != length)
        return 0;
    uint32_t word;
    memcpy(&word, bytes, sizeof word);
    atomic_store_explicit((_Atomic uint32_t *)(void *)to, word, memory_order_release);
    ringside_trace_object_attend(process->object);
    return done;
}

static void close_object(void *context)
{
    struct process *process = context;
    ringside_trace_object_close(process->object);
    free(process);
}

static enum extract_code refuse(const char *name, int fault, struct extract_error *error)
{
    switch (fault) {
    case ESRCH:
        return extract_error_set(error, EXTRACT_NOTFOUND, name,
                                 "is it the number of a program with trace points that runs?",
                                 "there is no such process, or nothing of it is traced");
    case EPERM:
        return extract_error_set(error, EXTRACT_IO, name, "ask its user",
                                 "it belongs to another user");
    case ENOMEM:
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    default:
        return extract_error_set(error, EXTRACT_BAD, name, "see docs/formats/posix-ring.md",
                                 "its shared memory is no POSIX trace: %s", strerror(fault));
    }
}

enum extract_code extract_memory_open_process(struct extract_memory **memory, uint64_t pid,
                                              struct extract_error *error)
{
    struct process *process = calloc(1, sizeof *process);
    char name[32];
    *memory = NULL;
    snprintf(name, sizeof name, "process %llu", (unsigned long long)pid);
    if (!process)
        return refuse(name, ENOMEM, error);
    bool fits = pid && pid <= INT32_MAX;
    int fault = fits ? ringside_trace_object_open((pid_t)pid, false, &process->object) : ESRCH;
    if (fault) {
        free(process);
        return refuse(name, fault, error);
    }
    process->bytes = ringside_trace_object_bytes(process->object, &process->length);
    const struct extract_memory_source source = {.read = read_object,
                                                 .write = write_object,
                                                 .close = close_object,
                                                 .starts = true,
                                                 .context = process,
                                                 .running = true,
                                                 .name = name};
    enum extract_code code = extract_memory_new(memory, &source, error);
    if (code)
        close_object(process);
    return code;
}
