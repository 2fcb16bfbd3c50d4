// SPDX-License-Identifier: MIT
// Fuzz target: bytes that may be a ThreadX ring, as a stopped target's memory, as a running one's,
// and as a .trx file; found, copied, decoded, reported in every form, saved and opened again.
//
// What is checked, besides that nothing crashes, leaks or hangs: every entry is accounted for, no
// text controls a terminal, times and sums agree, and what was saved shows the same events.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/trace_checks.h"
#include <stdlib.h>
#include <string.h>

enum { ADDRESS = 0x20000100 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct extract_session *open_session(struct extract_memory *memory, bool at, bool json)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = at, .ring = ADDRESS, .json = json};
    struct extract_session *session;
    struct extract_error error = {0};
    enum extract_code code = extract_session_open(&session, memory, NULL, &options, &error);
    check(!code == !!session);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    return session;
}

// Takes the session.
static void check_session(struct extract_session *session)
{
    if (!session)
        return;
    check(extract_trace_info(extract_session_trace(session))->entries_total);
    check_trace(extract_session_trace(session));
    check_saved(extract_session_trace(session));
    extract_session_close(session);
}

// ---- The three ways in ----

static void as_memory(const uint8_t *data, size_t size)
{
    struct extract_memory *memory;
    check(!extract_memory_new_images(&memory, NULL));
    check(!extract_memory_add_bytes(memory, "fuzz", data, size, ADDRESS, NULL));
    struct extract_session *session = open_session(memory, true, size & 1);
    if (session)
        run_verbs(session);
    check_session(session);
    extract_memory_close(memory);
}

static void as_file(const uint8_t *data, size_t size)
{
    struct extract_memory *memory;
    if (extract_memory_open_trx(&memory, file_of(data, size), NULL))
        return;
    check_session(open_session(memory, false, false));
    extract_memory_close(memory);
}

// Between any two reads of a target that runs, a byte of it changes.
struct target {
    uint8_t *bytes;
    size_t size;
    unsigned reads;
};

static size_t target_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct target *target = context;
    uint64_t offset = address - ADDRESS;
    if (address < ADDRESS || offset >= target->size)
        return 0;
    size_t got = length < target->size - offset ? length : target->size - (size_t)offset;
    memcpy(buffer, target->bytes + offset, got);
    target->bytes[(target->reads++ * 37 + target->bytes[target->size - 1]) % target->size]++;
    return got;
}

static void as_target(const uint8_t *data, size_t size)
{
    struct target target = {malloc(size), size, 0};
    struct extract_memory_source source = {
        .read = target_read, .context = &target, .running = true};
    struct extract_memory *memory = NULL;
    check(target.bytes && !extract_memory_new(&memory, &source, NULL));
    memcpy(target.bytes, data, size);
    check_session(open_session(memory, true, false));
    extract_memory_close(memory);
    free(target.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    as_memory(data, size);
    as_file(data, size);
    as_target(data, size);
    return 0;
}
