// SPDX-License-Identifier: MIT
// posix: targets behind other memories: a process id for them, and streams of them that are over.
// In: a memory, where its process block or stream block lies. Out: targets, trace ids.
#include "posix/internal.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- finding the blocks ----

static enum extract_code bad(struct extract_error *error, uint64_t address, const char *why)
{
    char what[64];
    snprintf(what, sizeof what, "POSIX trace at 0x%" PRIx64, address);
    extract_error_set(error, EXTRACT_BAD, what, "is this the right address, and is the dump whole?",
                      "%s", why);
    if (error)
        error->where = address;
    return EXTRACT_BAD;
}

// Where the symbols or a scan say.
static enum extract_code find_address(struct extract_memory *memory,
                                      struct extract_symbols *symbols, uint64_t *address,
                                      struct extract_error *error)
{
    const struct extract_ring_options options = {.size = sizeof options, .format = "posix"};
    struct extract_ring ring;
    enum extract_code code = extract_ring_find(&ring, memory, symbols, &options, error);
    if (code == EXTRACT_OK)
        *address = ring.address;
    return code;
}

// The number of the stream whose block lies at `offset` in the object; -1: none does.
static int number_of(const struct posix_block *block, uint64_t offset)
{
    uint64_t distance = offset - block->streams_at;
    bool fits = offset >= block->streams_at && distance % block->stream_bytes == 0 &&
                distance / block->stream_bytes < block->streams;
    return fits ? (int)(distance / block->stream_bytes) : -1;
}

// Finds the process block: at `address`, or where the stream block there says, whose number *stream
// becomes.
static enum extract_code find_process(struct posix_target *target, uint64_t address, int *stream,
                                      struct extract_error *error)
{
    struct posix_stream block;
    uint8_t bytes[POSIX_HEADER];
    size_t got;
    enum extract_code code =
        extract_memory_read(target->memory, address, bytes, sizeof bytes, &got, error);
    if (code != EXTRACT_OK)
        return code;
    bool within = posix_stream_read(&block, bytes, sizeof bytes);
    target->address = within ? address - block.back : address;
    if (posix_target_look(target))
        return bad(error, target->address,
                   within ? "the stream block says that its process block is there, and it is not"
                          : "there is no process block that fits its memory");
    if (within)
        *stream = number_of(&target->block, address - target->address);
    return within && *stream < 0 ? bad(error, address, "it is no stream of its process block")
                                 : EXTRACT_OK;
}

static enum extract_code open_target(struct posix_target **target, struct extract_memory *memory,
                                     struct extract_symbols *symbols, uint64_t address, int *stream,
                                     struct extract_error *error)
{
    struct posix_target *t = *target = posix_target_new(0, memory);
    if (!t)
        return extract_error_set(error, EXTRACT_NOMEM, "POSIX trace", NULL, "no memory for it");
    posix_target_lock(t);
    enum extract_code code = address ? EXTRACT_OK : find_address(memory, symbols, &address, error);
    if (code == EXTRACT_OK)
        code = find_process(t, address, stream, error);
    posix_target_unlock(t);
    if (code != EXTRACT_OK)
        posix_target_free(t);
    return code;
}

// ---- the public functions ----

static enum extract_code no_pid(pid_t pid, struct extract_error *error, enum extract_code code,
                                const char *why)
{
    char what[32];
    snprintf(what, sizeof what, "process id %d", (int)pid);
    return extract_error_set(error, code, what, NULL, "%s", why);
}

enum extract_code extract_posix_attach(pid_t pid, struct extract_memory *memory,
                                       struct extract_symbols *symbols, uint64_t address,
                                       struct extract_error *error)
{
    struct posix_target *target;
    int stream = -1;
    if (pid <= 0)
        return no_pid(pid, error, EXTRACT_USAGE, "it must be above 0");
    enum extract_code code = open_target(&target, memory, symbols, address, &stream, error);
    if (code != EXTRACT_OK)
        return code;
    target->pid = pid;
    target->attached = true;
    if (!posix_target_add(target))
        return EXTRACT_OK;
    posix_target_free(target);
    return no_pid(pid, error, EXTRACT_USAGE, "a target is attached to it already");
}

enum extract_code extract_posix_detach(pid_t pid, struct extract_error *error)
{
    if (posix_target_detach(pid))
        return no_pid(pid, error, EXTRACT_NOTFOUND, "no target is attached to it");
    return EXTRACT_OK;
}

static int first_bound(struct posix_target *target)
{
    struct posix_stream block;
    unsigned bound = 0;
    posix_target_lock(target);
    for (unsigned i = target->block.streams; i-- > 0;)
        if (!posix_stream_look(target, i, &block) && block.state & POSIX_STATE_BOUND)
            bound = i;
    posix_target_unlock(target);
    return (int)bound;
}

static void take_name(struct posix_trace *trace)
{
    uint64_t address = posix_stream_address(trace->target, trace->stream) + POSIX_STREAM_AT_NAME;
    char *name = trace->attr.name;
    size_t got;
    _Static_assert(sizeof trace->attr.name == POSIX_STREAM_NAME, "names of streams");
    if (extract_memory_read(trace->target->memory, address, name, POSIX_STREAM_NAME, &got, NULL))
        memset(name, 0, POSIX_STREAM_NAME);
    name[POSIX_STREAM_NAME - 1] = '\0';
}

// Makes a trace of the target, which is the trace's from then on. Returns 0 or why there is none.
static int open_trace(struct posix_target *target, int stream, trace_id_t *trid)
{
    struct posix_trace *trace = posix_new(POSIX_RECORDED);
    if (!trace) {
        posix_target_drop(target);
        return ENOMEM;
    }
    trace->target = target;
    trace->stream = (unsigned)stream;
    trace->reader.batch = POSIX_WINDOW;
    posix_attr_defaults(&trace->attr);
    posix_target_lock(target);
    int error = trace->stream < target->block.streams ? posix_ring_look(trace) : EINVAL;
    if (!error)
        take_name(trace);
    posix_target_unlock(target);
    if (!error)
        error = posix_table_add(trace, trid) ? EMFILE : 0;
    if (error)
        posix_free(trace);
    return error;
}

enum extract_code extract_posix_open_memory(struct extract_memory *memory,
                                            struct extract_symbols *symbols, uint64_t address,
                                            int stream, trace_id_t *trid,
                                            struct extract_error *error)
{
    static const char what[] = "stream of a POSIX trace";
    struct posix_target *target;
    int of_block = -1;
    enum extract_code code = open_target(&target, memory, symbols, address, &of_block, error);
    if (code != EXTRACT_OK)
        return code;
    int number = stream >= 0 ? stream : of_block >= 0 ? of_block : first_bound(target);
    switch (open_trace(target, number, trid)) {
    case 0:
        return EXTRACT_OK;
    case ENOMEM:
        return extract_error_set(error, EXTRACT_NOMEM, what, NULL, "no memory to read it");
    case EINVAL:
        return extract_error_set(error, EXTRACT_USAGE, what, NULL, "there is no stream %d", number);
    case EMFILE:
        return extract_error_set(error, EXTRACT_LIMIT, what, "close some", "too many are open");
    default:
        return extract_error_set(error, EXTRACT_BAD, what,
                                 "is this the right address, and is the dump whole?",
                                 "the block of stream %d contradicts itself", number);
    }
}

long extract_posix_sysconf(int name)
{
    switch (name) {
    case _SC_TRACE:
        return _POSIX_TRACE;
    case _SC_TRACE_EVENT_FILTER:
        return _POSIX_TRACE_EVENT_FILTER;
    case _SC_TRACE_INHERIT:
        return _POSIX_TRACE_INHERIT;
    case _SC_TRACE_LOG:
        return _POSIX_TRACE_LOG;
    case _SC_TRACE_EVENT_NAME_MAX:
        return TRACE_EVENT_NAME_MAX;
    case _SC_TRACE_NAME_MAX:
        return TRACE_NAME_MAX;
    case _SC_TRACE_SYS_MAX:
        return TRACE_SYS_MAX;
    case _SC_TRACE_USER_EVENT_MAX:
        return TRACE_USER_EVENT_MAX;
    default:
        return sysconf(name);
    }
}
