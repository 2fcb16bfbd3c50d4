// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a ThreadX ring: in the memory of a halted target, of a running one, and
// in a .trx file. The ring is found, copied, decoded, reported in every form, saved and opened
// again.
//
// Nothing may crash, leak or hang. In addition, every entry is accounted for, no text controls a
// terminal, times and sums agree, and the saved ring shows the same events.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/ring_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_ring(const struct extract_trace *trace)
{
    check(extract_trace_info(trace)->entries_total);
    check_trace(trace);
    check_saved(trace);
}

// Checks and closes the session. Bytes of another format have a fuzz target of their own.
static void check_session(struct extract_session *session)
{
    if (!session)
        return;
    const struct extract_trace *trace = extract_session_trace(session);
    if (extract_trace_snapshot(trace)->ring.format == &extract_format_threadx)
        check_ring(trace);
    extract_session_close(session);
}

// ---- The three kinds of input ----

static void as_memory(const uint8_t *data, size_t size)
{
    struct extract_memory *memory = stopped_target(data, size);
    struct extract_session *session = open_ring(memory, NULL, true, size & 1);
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
    check_session(open_ring(memory, NULL, false, false));
    extract_memory_close(memory);
}

static void as_target(const uint8_t *data, size_t size)
{
    struct target target;
    struct extract_memory *memory = running_target(&target, data, size, 37);
    check_session(open_ring(memory, NULL, true, false));
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
