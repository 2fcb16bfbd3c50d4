// SPDX-License-Identifier: MIT
// posix: the memory of a traced process, by blocks and by words.
//
// Two kinds of memory look the same to the rest of this directory. A program on this host has a
// shared object, whose offsets are addresses from 0 on. Any other target has the caller's memory:
// firmware behind a debugger, an image, a core file.
//
//   posix_target_open(pid)                      extract_posix_attach(pid, memory)
//      │ target->object                            │ target->memory
//      ▼                                           ▼
//   /dev/shm/ringside-posix.PID                 OpenOCD, GDB server, file
//      shared_read, shared_write                   extract_memory_read, extract_memory_write
//
// Every block is checked when it is read (formats/posix), so the rest of the directory can rely on
// its counts and offsets. Words are converted between the target's byte order and the host's.
//
// Some memories are readable only while the target is halted. For these, a lock also halts:
//
//   lock: was running? ──► halt ──► read, write ──► unlock: resume if it was running
//                            ▲           │
//                            └── sleep ◄─┘  (resumes for the duration of the pause)
#include "posix/posix_room.h"
#include "target/linux_object.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- shared memory of a program ----

static size_t shared_read(void *context, uint64_t address, void *buffer, size_t length)
{
    return ringside_trace_object_read(context, address, buffer, length);
}

static size_t shared_write(void *context, uint64_t address, const void *words, size_t length)
{
    bool done = length % 4 == 0 && ringside_trace_object_write(context, address, words, length / 4);

    return done ? length : 0;
}

static void shared_close(void *context)
{
    ringside_trace_object_close(context);
}

// ---- targets ----

// Opens the shared object of a process on this host, or makes it. Streams can so be created before
// the process passes its first trace point.
static int open_object(struct posix_target *target, pid_t pid)
{
    int error = ringside_trace_object_open(pid, true, &target->object);

    if (error)
        return error == EACCES ? EPERM : error;
    struct extract_memory_source source = {.read = shared_read,
                                           .write = shared_write,
                                           .close = shared_close,
                                           .context = target->object,
                                           .running = true,
                                           .name = "traced process"};
    if (extract_memory_new(&target->memory, &source, NULL) == EXTRACT_OK)
        return posix_target_load(target);
    ringside_trace_object_close(target->object);
    target->object = NULL;
    return ENOMEM;
}

struct posix_target *posix_target_new(pid_t pid, struct extract_memory *memory)
{
    struct posix_target *target = calloc(1, sizeof *target);
    if (!target)
        return NULL;
    target->pid = pid;
    target->memory = memory;
    target->users = 1;
    pthread_mutex_init(&target->lock, NULL);
    return target;
}

int posix_target_open(struct posix_target **target, pid_t pid)
{
    *target = posix_target_new(pid, NULL);
    if (!*target)
        return ENOMEM;
    int error = open_object(*target, pid);
    if (error) {
        posix_target_free(*target);
        *target = NULL;
    }
    return error;
}

void posix_target_free(struct posix_target *target)
{
    if (target->object)
        extract_memory_close(target->memory);
    pthread_mutex_destroy(&target->lock);
    free(target);
}

bool posix_target_is_alive(const struct posix_target *target)
{
    return !target->object || ringside_trace_object_lives(target->object);
}

bool posix_stream_has_ended(const struct posix_target *target, unsigned stream)
{
    return target->object && target->pid != getpid() &&
           !ringside_trace_object_is_written(target->object, UINT32_C(1) << stream);
}

// The process block is read and checked as a whole. A block that contradicts itself does not
// replace the one that was read before, since offsets of other blocks depend on it.
int posix_target_load(struct posix_target *target)
{
    uint8_t bytes[POSIX_HEADER];
    struct posix_block block;
    size_t got;

    if (extract_memory_read(target->memory, target->address, bytes, sizeof bytes, &got, NULL))
        return EIO;
    bool sound = posix_block_read(&block, bytes, sizeof bytes) &&
                 posix_block_check(&block, target->address, NULL) == EXTRACT_OK &&
                 block.ids <= POSIX_SET_IDS;
    if (sound)
        target->block = block;
    return sound ? 0 : EIO;
}

// ---- its lock ----

// Returns whether it is a memory whose target can be halted and resumed.
static bool can_halt(const struct posix_target *target)
{
    return target->memory && !target->object;
}

void posix_target_lock(struct posix_target *target)
{
    pthread_mutex_lock(&target->lock);
    target->was_running = can_halt(target) && !extract_live_halts(target->memory).now;
    if (target->was_running)
        extract_live_halt(target->memory, NULL);
}

void posix_target_unlock(struct posix_target *target)
{
    if (target->was_running)
        extract_live_resume(target->memory, NULL);
    pthread_mutex_unlock(&target->lock);
}

void posix_target_let_run(struct posix_target *target)
{
    if (can_halt(target))
        extract_live_resume(target->memory, NULL);
}

void posix_target_sleep(struct posix_target *target, const struct timespec *pause)
{
    posix_target_let_run(target);
    nanosleep(pause, NULL);
    if (can_halt(target))
        extract_live_halt(target->memory, NULL);
}

// ---- blocks and words ----

uint64_t posix_stream_address(const struct posix_target *target, unsigned stream)
{
    const struct posix_block *block = &target->block;

    return target->address + block->streams_at + (uint64_t)stream * block->stream_bytes;
}

// A stream block must refer back to its process block. Without the magic number there is no block:
// a target that was reset may not have made it yet.
int posix_stream_load(struct posix_target *target, unsigned stream, struct posix_stream *block)
{
    uint64_t address = posix_stream_address(target, stream);
    uint8_t bytes[POSIX_STREAM_AT_FILTER];
    size_t got;

    if (extract_memory_read(target->memory, address, bytes, sizeof bytes, &got, NULL))
        return EIO;
    if (!posix_stream_read(block, bytes, sizeof bytes))
        return ENOENT;
    bool sound = posix_stream_check(block, address, NULL) == EXTRACT_OK &&
                 block->back == address - target->address;
    return sound ? 0 : EIO;
}

int posix_write_words(struct posix_target *target, uint64_t address, const uint32_t *words,
                      uint32_t count)
{
    uint32_t swapped[32];
    bool swap = (target->block.layout.order == EXTRACT_BIG) != EXTRACT_HOST_BIG;

    for (uint32_t i = 0; i < count; i++)
        swapped[i] = swap ? __builtin_bswap32(words[i]) : words[i];
    enum extract_code code =
        extract_memory_write(target->memory, address, swapped, (size_t)count * 4, NULL);
    return code == EXTRACT_OK ? 0 : code == EXTRACT_UNSUPPORTED ? EPERM : EIO;
}

int posix_read_words(struct posix_target *target, uint64_t address, uint32_t *words, uint32_t count)
{
    uint8_t bytes[4 * POSIX_SET_WORDS];
    size_t length = (size_t)count * 4, got;

    if (length > sizeof bytes ||
        extract_memory_read(target->memory, address, bytes, length, &got, NULL))
        return EIO;
    struct extract_cursor c = extract_cursor_make(bytes, length, target->block.layout.order);
    for (uint32_t i = 0; i < count; i++)
        words[i] = extract_cursor_u32(&c);
    return 0;
}
