// SPDX-License-Identifier: MIT
// posix: lists the traced programs of this host (extract/posix/traced.h).
#include "base/grow.h"
#include "memory/memory_hooks.h"
#include "posix/posix_room.h"
#include "target/linux_object.h"
#include <extract/memory.h>
#include <extract/posix/traced.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct traced_list {
    struct extract_traced *rows;
    size_t count, capacity;
    bool failed; // out of memory
};

static void add(struct traced_list *list, const struct extract_traced *row)
{
    struct extract_traced *grown =
        extract_grow(list->rows, &list->capacity, list->count, sizeof *grown);

    list->failed |= !grown;
    if (!grown)
        return;
    list->rows = grown;
    grown[list->count++] = *row;
}

// Returns when a process was started, in seconds since 1970. `birth`: in clock ticks since the host
// was started, as proc(5) has it. Its trace is gone after a restart of the host.
static int64_t time_of_birth(uint64_t birth)
{
    struct timespec now, since_boot;
    long hz = sysconf(_SC_CLK_TCK);

    if (!birth || hz <= 0 || clock_gettime(CLOCK_REALTIME, &now) ||
        clock_gettime(CLOCK_BOOTTIME, &since_boot))
        return 0;
    return now.tv_sec - since_boot.tv_sec + (int64_t)(birth / (uint64_t)hz);
}

// Adds the streams of a process. `row` has what they share.
static void add_streams(struct traced_list *list, struct posix_target *target,
                        struct extract_traced row, bool is_shared)
{
    struct posix_stream block;
    size_t got;

    // The streams that several processes share are those of the one that made the memory.
    if (posix_target_load(target) || (is_shared && target->block.pid != row.pid))
        return;
    row.started = time_of_birth(target->block.birth);
    if (row.is_killed)
        snprintf(row.program, sizeof row.program, "%s", target->block.program);
    for (unsigned i = 0; i < target->block.streams; i++) {
        if (posix_stream_load(target, i, &block) || !(block.state & POSIX_STATE_BOUND))
            continue;
        row.stream = i;
        row.recorded = block.recorded;
        row.is_recording = block.state & POSIX_STATE_RUNNING;
        row.is_full = posix_stream_is_full(&block);
        uint64_t name = posix_stream_address(target, i) + POSIX_STREAM_AT_NAME;
        if (extract_memory_read(target->memory, name, row.name, sizeof row.name, &got, NULL))
            memset(row.name, 0, sizeof row.name);
        row.name[sizeof row.name - 1] = '\0';
        add(list, &row);
    }
}

static void add_process(void *context, const struct ringside_traced_object *object)
{
    struct extract_traced row = {.pid = (uint64_t)object->pid, .memory_bytes = object->bytes};
    struct extract_memory *memory;
    char path[48];

    if (extract_memory_open_process(&memory, row.pid, NULL))
        return;
    // Another process may have the number by now.
    row.is_killed = !extract_memory_is_running(memory);
    row.is_in_core = !row.is_killed && object->is_in_core;
    snprintf(path, sizeof path, "/proc/%d/exe", (int)object->pid);
    ssize_t length = row.is_killed ? -1 : readlink(path, row.program, sizeof row.program - 1);
    row.program[length > 0 ? length : 0] = '\0';
    struct posix_target *target = posix_target_new(0, memory);
    if (target) {
        add_streams(context, target, row, object->is_shared);
        posix_target_free(target);
    } else {
        ((struct traced_list *)context)->failed = true;
    }
    extract_memory_close(memory);
}

static int compare(const void *a, const void *b)
{
    const struct extract_traced *left = a, *right = b;

    if (left->pid != right->pid)
        return left->pid < right->pid ? -1 : 1;
    return (left->stream > right->stream) - (left->stream < right->stream);
}

enum extract_code extract_traced_list(struct extract_traced **list, size_t *count,
                                      struct extract_error *error)
{
    struct traced_list found = {.rows = NULL};

    *list = NULL;
    *count = 0;
    ringside_traced_objects(add_process, &found);
    if (found.failed) {
        free(found.rows);
        return extract_error_set(error, EXTRACT_NOMEM, "traced programs", NULL, "out of memory");
    }
    if (found.count)
        qsort(found.rows, found.count, sizeof *found.rows, compare);
    *list = found.rows;
    *count = found.count;
    return EXTRACT_OK;
}
