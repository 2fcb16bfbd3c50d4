// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a POSIX trace: in the memory of a halted target (by search, and at an
// address), of a running one, and in a dump. The trace is found, copied, decoded, converted to
// entries for templates, and reported in every form. Then it gets requests, and is saved and opened
// again.
//
// Nothing may crash, leak or hang. In addition, every entry is accounted for, and an entry agrees
// with its event. Requests are words of the object in the documented order. No text controls a
// terminal, and the saved trace shows the same events.
#define _GNU_SOURCE // memfd_create
#include "formats/format.h"
#include "tests/fuzz/ring_bytes.h"
#include <extract/filter.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_entry(const struct extract_ring *ring, const struct extract_event *event)
{
    static uint8_t room[EXTRACT_ENTRY_CAPACITY];
    struct extract_entry entry;
    uint64_t address = 0;
    check(ring->format->entries->make(ring, event, &entry, room));
    check(entry.bits == 64 && entry.generic);
    check(entry.length == 32 + event->data_bytes && entry.bytes_of_data == 16 + event->data_bytes);
    for (unsigned i = 0; i < 8; i++)
        address |= (uint64_t)entry.bytes[16 + i] << 8 * i;
    check(address == event->field[1]);
    check(event->id < 32 || !memcmp(entry.bytes + 32, event->data, event->data_bytes));
}

// Checks that `request` follows the words that are wanted, and that `active` is last.
static void check_request(const struct extract_trace *trace, struct extract_memory *memory,
                          const char *verb, const char *const *words, size_t count)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    struct extract_request *request;
    struct extract_word word, before = {0};
    struct extract_text text;
    size_t i = 0;
    if (extract_request_new(&request, trace, memory, verb, words, count, NULL))
        return;
    for (; extract_request_word(request, i, &word); i++) {
        bool last = word.address == ring->posix.process + 20 && word.value == UINT32_MAX;
        check(!last || before.address == ring->address + 92);
        before = word;
    }
    check(!i || before.address == ring->posix.process + 20);
    extract_text_init(&text, NULL, NULL);
    extract_request_show(request, i > 0, &text);
    for (size_t k = 0; k < text.used; k++)
        check((uint8_t)text.data[k] >= ' ' || text.data[k] == '\n');
    extract_text_free(&text);
    extract_request_free(request);
}

static void check_requests(const struct extract_trace *trace, struct extract_memory *memory)
{
    static const char *const show[] = {"show"};
    static const char *const set[] = {"set", "*", "system", "40"};
    check_request(trace, memory, "start", NULL, 0);
    check_request(trace, memory, "clear", NULL, 0);
    check_request(trace, memory, "filter", show, 1);
    check_request(trace, memory, "filter", set, 4);
}

// Checks that the saved trace shows the same events. If parts of the object overlap, there is no
// file.
static void check_file(const struct extract_trace *trace)
{
    struct extract_session_options options = {.size = sizeof options, .format = "posix"};
    struct extract_memory *memory = NULL;
    struct extract_session *session;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    if (!extract_export_ring(&text, trace, NULL) &&
        !extract_posix_open(&memory, file_of((const uint8_t *)text.data, text.used), NULL)) {
        check(!extract_session_open(&session, memory, NULL, &options, NULL));
        check_same(trace, extract_session_trace(session));
        extract_session_close(session);
    }
    extract_memory_close(memory);
    extract_text_free(&text);
}

static void check_session(struct extract_memory *memory, bool at, bool json)
{
    struct extract_session *session = open_ring(memory, "posix", at, json);
    if (session) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        check(!extract_session_run(session, "status", &text, NULL));
        extract_text_free(&text);
        run_verbs(session);
        check_trace(extract_session_trace(session));
        check_entries(extract_session_trace(session), check_entry);
        check_requests(extract_session_trace(session), memory);
        check_file(extract_session_trace(session));
    }
    extract_session_close(session);
    extract_memory_close(memory);
}

// ---- The kinds of input ----

static void as_memory(const uint8_t *data, size_t size, bool at)
{
    check_session(stopped_target(data, size), at, size & 1);
}

static void as_file(const uint8_t *data, size_t size)
{
    struct extract_memory *memory;
    if (!extract_posix_open(&memory, file_of(data, size), NULL))
        check_session(memory, false, false);
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
    as_memory(data, size, true);
    as_memory(data, size, false);
    as_file(data, size);
    as_target(data, size);
    return 0;
}
