// SPDX-License-Identifier: MIT
// memory/live: the traced process on this host, as a memory.
//
// The memory is the process's shared memory object, from address 0 on. A request that is written to
// it is carried out at once, under the lock of the object, and not only at the process's next trace
// point. Only words of 32 bits can be written. Source: docs/formats/posix-ring.md, "Requests".
#include "target/linux_object.h"
#include <errno.h>
#include <extract/memory.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PROCESS_NAME = 40 };

struct process {
    struct ringside_trace_object *object;
    bool is_left; // by a process that is dead
    char name[PROCESS_NAME];
};

static void name_process(char name[PROCESS_NAME], uint64_t pid, bool is_left)
{
    snprintf(name, PROCESS_NAME, "%sprocess %" PRIu64, is_left ? "killed " : "", pid);
}

static size_t read_object(void *context, uint64_t address, void *buffer, size_t length)
{
    const struct process *process = context;

    return ringside_trace_object_read(process->object, address, buffer, length);
}

static size_t write_object(void *context, uint64_t address, const void *bytes, size_t length)
{
    const struct process *process = context;
    uint32_t word;

    if (length != sizeof word)
        return 0;
    memcpy(&word, bytes, sizeof word);
    if (!ringside_trace_object_write(process->object, address, &word, 1))
        return 0;
    ringside_trace_object_attend(process->object);
    return length;
}

// Returns whether anybody still writes to a stream: children that inherited it may outlive the
// process.
static bool is_running(void *context)
{
    const struct process *process = context;

    return !process->is_left && ringside_trace_object_is_written(process->object, UINT32_MAX);
}

static bool has_ended(void *context)
{
    return !is_running(context);
}

static bool explain(void *context, uint64_t address, struct extract_error *error)
{
    const struct process *process = context;

    extract_error_set(error, EXTRACT_UNREADABLE, process->name,
                      "check how the program uses its file in /dev/shm, and restart the program",
                      "the program has truncated its shared memory, at 0x%" PRIx64 " or before",
                      address);
    return true;
}

static void close_object(void *context)
{
    struct process *process = context;

    ringside_trace_object_close(process->object);
    free(process);
}

// Returns the error for an errno of ringside_trace_object_open.
static enum extract_code refuse(uint64_t pid, int fault, struct extract_error *error)
{
    char name[PROCESS_NAME];

    name_process(name, pid, false);
    switch (fault) {
    case ESRCH:
        return extract_error_set(error, EXTRACT_NOTFOUND, name, "check the process ID",
                                 "no such process");
    case ENOENT:
        return extract_error_set(error, EXTRACT_NOTFOUND, name,
                                 "create a stream for it with posix_trace_create",
                                 "has no trace stream");
    case EPERM:
        return extract_error_set(error, EXTRACT_IO, name, "run this as its user, or as root",
                                 "belongs to another user");
    case EACCES:
        return extract_error_set(
            error, EXTRACT_IO, name, "restart the program, or run chmod 600",
            "users other than its owner may open /dev/shm/ringside-posix.%" PRIu64, pid);
    case ENOMEM:
        return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
    default:
        return extract_error_set(
            error, EXTRACT_BAD, name,
            "restart the program; see docs/formats/posix-ring.md for the layout",
            "shared memory is not a POSIX trace: %s", strerror(fault));
    }
}

enum extract_code extract_memory_open_process(struct extract_memory **memory, uint64_t pid,
                                              struct extract_error *error)
{
    struct process *process = calloc(1, sizeof *process);

    *memory = NULL;
    if (!process)
        return refuse(pid, ENOMEM, error);
    name_process(process->name, pid, false);
    bool fits = pid && pid <= INT32_MAX;
    int fault = fits ? ringside_trace_object_open((pid_t)pid, false, &process->object) : ESRCH;
    if (fits && (fault == ESRCH || fault == ENOENT) &&
        !ringside_trace_object_open_left((pid_t)pid, &process->object)) {
        process->is_left = true;
        name_process(process->name, pid, true);
        fault = 0;
    }
    if (fault) {
        free(process);
        return refuse(pid, fault, error);
    }
    const struct extract_memory_source source = {.read = read_object,
                                                 .write = write_object,
                                                 .close = close_object,
                                                 .is_running = is_running,
                                                 .has_ended = has_ended,
                                                 .explain = explain,
                                                 .starts = true,
                                                 .context = process,
                                                 .name = process->name};
    enum extract_code code = extract_memory_new(memory, &source, error);
    if (code)
        close_object(process);
    return code;
}
