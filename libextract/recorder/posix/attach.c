// SPDX-License-Identifier: MIT
// posix: targets in other memories, which get a process id, and pre-recorded streams in memory.
//
// A caller gives a memory and an address: that of a process block, or of one of its stream blocks.
// Without an address, the symbols or a scan give it. From a stream block, `back` leads to the
// process block, which must confirm it:
//
//   address ──► stream block ── address - back ──► process block
//                    ▲                                  │ streams_at, stream_bytes, streams
//                    └────────── stream number ◄────────┘
//
// extract_posix_attach binds a process id to the process block, for posix_trace_create.
// extract_posix_open_memory makes one of its streams a pre-recorded stream.
#include "posix/posix_room.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

// ---- finding the blocks ----

static enum extract_code set_damage_error(struct extract_error *error, uint64_t address,
                                          const char *why)
{
    char what[64];

    snprintf(what, sizeof what, "POSIX trace at 0x%" PRIx64, address);
    extract_error_set(error, EXTRACT_BAD, what, "check the address, and that the dump is complete",
                      "%s", why);
    if (error)
        error->where = address;
    return EXTRACT_BAD;
}

// Finds the process block at `address`. If a stream block is there instead, follows its offset to
// the process block and sets *stream to the stream's number.
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
    bool is_stream = posix_stream_read(&block, bytes, sizeof bytes);
    target->address = is_stream ? address - block.back : address;
    if (posix_target_load(target))
        return set_damage_error(error, target->address,
                                is_stream
                                    ? "no process block here, although a stream block refers to it"
                                    : "no process block that fits its memory");
    if (!is_stream)
        return EXTRACT_OK;

    const struct posix_block *process = &target->block;
    uint64_t offset = address - target->address, distance = offset - process->streams_at;
    if (offset < process->streams_at || distance % process->stream_bytes != 0 ||
        distance / process->stream_bytes >= process->streams)
        return set_damage_error(error, address, "not a stream of its process block");
    *stream = (int)(distance / process->stream_bytes);
    return EXTRACT_OK;
}

// Makes a target of the process block at `address`, or, if that is 0, of the one that the symbols
// or a scan give. *stream is set if the address is that of a stream block.
static enum extract_code open_target(struct posix_target **target, struct extract_memory *memory,
                                     struct extract_symbols *symbols, uint64_t address, int *stream,
                                     struct extract_error *error)
{
    struct posix_target *t = *target = posix_target_new(0, memory);

    if (!t)
        return extract_error_set(error, EXTRACT_NOMEM, "POSIX trace", NULL, "out of memory");
    posix_target_lock(t);
    enum extract_code code = EXTRACT_OK;
    if (!address) {
        const struct extract_ring_options options = {.size = sizeof options, .format = "posix"};
        struct extract_ring ring;
        code = extract_ring_find(&ring, memory, symbols, &options, error);
        address = code == EXTRACT_OK ? ring.address : 0;
    }
    if (code == EXTRACT_OK)
        code = find_process(t, address, stream, error);
    posix_target_unlock(t);
    if (code != EXTRACT_OK)
        posix_target_free(t);
    return code;
}

// ---- the public functions ----

static enum extract_code set_pid_error(pid_t pid, struct extract_error *error,
                                       enum extract_code code, const char *why)
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
        return set_pid_error(pid, error, EXTRACT_USAGE, "must be above 0");
    enum extract_code code = open_target(&target, memory, symbols, address, &stream, error);
    if (code != EXTRACT_OK)
        return code;
    target->pid = pid;
    target->is_attached = true;
    if (!posix_target_add(target))
        return EXTRACT_OK;
    posix_target_free(target);
    return set_pid_error(pid, error, EXTRACT_USAGE, "already attached to a target");
}

enum extract_code extract_posix_detach(pid_t pid, struct extract_error *error)
{
    if (posix_target_detach(pid))
        return set_pid_error(pid, error, EXTRACT_NOTFOUND, "not attached to a target");
    return EXTRACT_OK;
}

// Returns the number of the first stream that is bound; 0 if none is.
static int find_first_bound(struct posix_target *target)
{
    struct posix_stream block;
    unsigned bound = 0;

    posix_target_lock(target);
    for (unsigned i = target->block.streams; i-- > 0;)
        if (!posix_stream_load(target, i, &block) && block.state & POSIX_STATE_BOUND)
            bound = i;
    posix_target_unlock(target);
    return (int)bound;
}

// Reads the stream's name. An unreadable name counts as empty.
static void read_name(struct posix_trace *trace)
{
    uint64_t address = posix_stream_address(trace->target, trace->stream) + POSIX_STREAM_AT_NAME;
    char *name = trace->attr.name;
    size_t got;

    _Static_assert(sizeof trace->attr.name == POSIX_STREAM_NAME, "names of streams");
    if (extract_memory_read(trace->target->memory, address, name, POSIX_STREAM_NAME, &got, NULL))
        memset(name, 0, POSIX_STREAM_NAME);
    name[POSIX_STREAM_NAME - 1] = '\0';
}

// Makes a pre-recorded stream of the target, which belongs to the trace from then on. Returns 0,
// ENOMEM, EINVAL (no such stream), EMFILE (no free trace id) or EIO (the block is invalid).
static int open_trace(struct posix_target *target, int stream, trace_id_t *trid)
{
    struct posix_trace *trace = posix_new(POSIX_RECORDED);

    if (!trace) {
        posix_target_release(target);
        return ENOMEM;
    }
    trace->target = target;
    trace->stream = (unsigned)stream;
    trace->reader.batch_words = POSIX_WINDOW;
    posix_attr_defaults(&trace->attr);
    posix_target_lock(target);
    int error = trace->stream < target->block.streams ? posix_ring_poll(trace) : EINVAL;
    if (!error)
        read_name(trace);
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
    int of_address = -1;
    enum extract_code code = open_target(&target, memory, symbols, address, &of_address, error);

    if (code != EXTRACT_OK)
        return code;
    int number = stream >= 0 ? stream : of_address >= 0 ? of_address : find_first_bound(target);
    switch (open_trace(target, number, trid)) {
    case 0:
        return EXTRACT_OK;
    case ENOMEM:
        return extract_error_set(error, EXTRACT_NOMEM, what, NULL, "out of memory");
    case EINVAL:
        return extract_error_set(error, EXTRACT_USAGE, what, NULL, "no stream %d", number);
    case EMFILE:
        return extract_error_set(error, EXTRACT_LIMIT, what, "close one", "too many are open");
    default:
        return extract_error_set(error, EXTRACT_BAD, what,
                                 "check the address, and that the dump is complete",
                                 "block of stream %d contradicts itself", number);
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
