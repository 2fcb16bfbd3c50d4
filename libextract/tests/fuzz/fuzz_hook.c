// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a ring of hook words: in the memory of a halted target, of a running one,
// and in a dump. The same bytes may also be a raw stream of any layout. The ring is found, copied,
// decoded, converted to entries for templates, reported in every form, saved and opened again.
//
// Nothing may crash, leak or hang. In addition, every entry is accounted for, and an entry agrees
// with its event. No text controls a terminal, times and sums agree, and the saved ring shows the
// same events.
#define _GNU_SOURCE // memfd_create
#include "formats/format.h"
#include "tests/fuzz/ring_bytes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const struct extract_ring *ring, const struct extract_event *event)
{
    static uint8_t room[EXTRACT_ENTRY_CAPACITY];
    struct extract_entry entry;
    check(ring->format->entries->make(ring, event, &entry, room));
    unsigned unit = entry.bits / 8;
    check(unit == 4 || unit == 8);
    check(entry.length == event->data_bytes && entry.hook == event->id);
    check(entry.length == unit * (entry.generic ? 2u : 1u) + entry.bytes_of_data);
    for (unsigned i = 0; i < event->fields; i++) {
        uint64_t value = 0;
        for (unsigned k = 0; k < unit; k++)
            value = value << 8 | entry.bytes[(i + 1) * unit + k];
        check(value == event->field[i]);
    }
}

static void check_session(struct extract_memory *memory, bool at, bool json)
{
    struct extract_session *session = open_ring(memory, "hook", at, json);
    if (session) {
        run_verbs(session);
        check_trace(extract_session_trace(session));
        check_entries(extract_session_trace(session), check_entry);
        check_saved(extract_session_trace(session));
    }
    extract_session_close(session);
    extract_memory_close(memory);
}

// ---- The four kinds of input ----

static void as_memory(const uint8_t *data, size_t size)
{
    check_session(stopped_target(data, size), true, size & 1);
}

static void as_file(const uint8_t *data, size_t size)
{
    struct extract_memory *memory;
    if (!extract_memory_open_hooks(&memory, file_of(data, size), NULL))
        check_session(memory, false, false);
}

// The first byte selects the layout of the stream, which follows.
static void as_stream(const uint8_t *data, size_t size)
{
    static const unsigned sizes[] = {0, 4, 8, 4};
    unsigned layout = data[0];
    struct extract_hook_stream stream = {.bits = layout & 1 ? 64 : 32,
                                         .order = layout & 2 ? EXTRACT_LITTLE : EXTRACT_BIG,
                                         .tid_known = true,
                                         .tid = sizes[layout >> 2 & 3],
                                         .stamp_known = true,
                                         .stamp = sizes[layout >> 4 & 3],
                                         .all_stamped = layout & 64,
                                         .hz = layout & 128 ? 1000 : 0};
    struct extract_memory *memory;
    if (!extract_hook_stream_open(&memory, file_of(data + 1, size - 1), &stream, NULL))
        check_session(memory, false, true);
}

static void as_target(const uint8_t *data, size_t size)
{
    struct target target;
    struct extract_memory *memory = running_target(&target, data, size, 4);
    check_session(memory, true, false);
    free(target.bytes);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (!size)
        return 0;
    as_memory(data, size);
    as_file(data, size);
    as_stream(data, size);
    as_target(data, size);
    return 0;
}
