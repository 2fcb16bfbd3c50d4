// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a trace log, through a session: every command in both forms, filters, and
// the saved ring. The bytes are read unchanged, and again with corrected checksums, so that the
// contents of blocks reach the code after the checks.
//
// Nothing may crash, leak or hang. In addition, entries are accounted for, time never steps back,
// and no text controls a terminal. Filters agree with the events that they select, and the saved
// ring can be opened.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/log/seal.h"
#include <extract/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 64, MAX_SAVED = 1 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

// ---- A trace ----

// Returns the number of events, with markers, and in *untimed that of those without a time.
static uint64_t check_events(const struct extract_trace *trace, uint64_t *untimed)
{
    const struct extract_info *info = extract_trace_info(trace);
    struct extract_event events[BATCH];
    struct extract_reader reader;
    uint64_t valid = 0, all = 0, last = 0, latest = 0;
    size_t count;
    extract_reader_init(&reader, trace);
    *untimed = 0;
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++, all++) {
            const struct extract_event *event = &events[i];
            check(event->type && event->fields <= EXTRACT_FIELDS_MAX && event->seq == valid);
            check(event->ticks >= last || event->flags & EXTRACT_FLAG_BACKWARDS);
            check((event->context == EXTRACT_RECORDER) == extract_event_is_mark(event));
            valid += !extract_event_is_mark(event);
            *untimed += (event->flags & EXTRACT_FLAG_UNTIMED) != 0;
            last = event->ticks;
            latest = last > latest ? last : latest;
        }
    check(valid == info->entries_valid);
    check(info->span_ticks == latest);
    check(info->log && info->entries_total >= info->entries_valid);
    return all;
}

static void run_verb(struct extract_session *session, const char *verb)
{
    struct extract_text text;
    struct extract_error error = {0};
    extract_text_init(&text, NULL, NULL);
    enum extract_code code = extract_session_run(session, verb, &text, &error);
    check(code == EXTRACT_OK || code == EXTRACT_NOTFOUND);
    for (size_t i = 0; i < text.used; i++) {
        unsigned char c = (unsigned char)text.data[i];
        check((c >= 0x20 || c == '\n') && c != 0x7f);
    }
    extract_text_free(&text);
}

static struct extract_session *open_log(struct extract_log *log, bool json,
                                        const struct extract_condition *conditions, size_t count)
{
    struct extract_session_options options = {
        .size = sizeof options, .json = json, .conditions = conditions, .condition_count = count};
    struct extract_session *session;
    struct extract_error error = {0};
    enum extract_code code = extract_session_open_log(&session, log, NULL, &options, &error);
    check(!code == !!session);
    check(!code || (error.code == code && error.why[0]));
    return session;
}

static void check_forms(struct extract_log *log, bool json)
{
    static const char *const verbs[] = {"info", "objects", "report", "stats", "damage"};
    struct extract_session *session = open_log(log, json, NULL, 0);
    if (!session)
        return;
    uint64_t untimed, all = check_events(extract_session_trace(session), &untimed);
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++)
        run_verb(session, verbs[i]);
    check(extract_session_shown(session) == all);
    extract_session_close(session);
}

// Checks that a filter selects as many of the newest events as requested. The events from a time
// on and those before it are together all events that have a time.
static void check_filters(struct extract_log *log)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_LAST, "7"},
                                                          {EXTRACT_FILTER_FROM, "1000"},
                                                          {EXTRACT_FILTER_TO, "999"},
                                                          {EXTRACT_FILTER_EVENT, "*"},
                                                          {EXTRACT_FILTER_CLASS, "KERN"}};
    uint64_t shown[5] = {0}, all = 0, untimed = 0;
    struct extract_session *session = open_log(log, true, NULL, 0);
    if (!session)
        return;
    all = check_events(extract_session_trace(session), &untimed);
    extract_session_close(session);
    for (size_t i = 0; i < 5; i++) {
        session = open_log(log, true, &conditions[i], 1);
        check(session != NULL);
        run_verb(session, "report");
        shown[i] = extract_session_shown(session);
        extract_session_close(session);
    }
    check(shown[0] == (all < 7 ? all : 7));
    check(shown[1] + shown[2] == all - untimed && shown[3] == all && shown[4] <= all);
}

static void check_saved(struct extract_log *log)
{
    struct extract_session *session = open_log(log, false, NULL, 0);
    struct extract_text text;
    if (!session)
        return;
    const struct extract_trace *trace = extract_session_trace(session);
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    uint64_t address = ring->address;
    extract_text_init(&text, NULL, NULL);
    if (!ring->entries.slot_bytes) { // is saved as a stream, which has no address and no cores
        enum extract_code code = extract_export_ring(&text, trace, NULL);
        check(!code || code == EXTRACT_UNSUPPORTED);
    } else if (ring->length <= MAX_SAVED) {
        struct extract_memory *memory;
        struct extract_session *saved;
        struct extract_session_options options = {
            .size = sizeof options, .ring_known = true, .ring = address};
        check(!extract_export_ring(&text, trace, NULL));
        check(!extract_memory_new_images(&memory, NULL));
        check(!extract_memory_add_bytes(memory, "saved", text.data, text.used, address, NULL));
        check(!extract_session_open(&saved, memory, NULL, &options, NULL));
        extract_session_close(saved);
        extract_memory_close(memory);
    }
    extract_text_free(&text);
    extract_session_close(session);
}

static void as_log(const uint8_t *data, size_t size)
{
    static int fd = -1;
    struct extract_log *log;
    char path[64];
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (extract_log_open(&log, path, NULL))
        return;
    check_forms(log, false);
    check_forms(log, true);
    check_filters(log);
    check_saved(log);
    extract_log_free(log);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *copy = malloc(size + 1);
    check(copy != NULL);
    as_log(data, size);
    memcpy(copy, data, size);
    seal_blocks(copy, size);
    if (memcmp(copy, data, size))
        as_log(copy, size);
    free(copy);
    return 0;
}
