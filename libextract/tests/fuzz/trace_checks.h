// SPDX-License-Identifier: MIT
// fuzz: checks that hold for a trace of any format, whatever its bytes. Its statistics agree with
// its events, no text controls a terminal, and the saved trace shows the same events. For RKH, all
// frames are accounted for, and each reported frame has a right checksum and complete arguments.
#ifndef FUZZ_TRACE_CHECKS_H
#define FUZZ_TRACE_CHECKS_H

#include "formats/rkh/rkh.h"
#include <extract/session.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BATCH = 64 };

static inline void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

// ---- A trace by itself ----

static inline void check_info(const struct extract_trace *trace)
{
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    uint64_t sum = 0;
    for (unsigned i = 0; i < EXTRACT_VERDICTS; i++)
        sum += snapshot->counts[i];
    check(info->entries_total == snapshot->ring.entries.count);
    check(sum == info->entries_total);
    check(info->entries_valid + info->entries_damaged + info->entries_unread +
              info->entries_unused ==
          sum);
}

static inline void check_objects(const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    for (size_t i = 0; i < count; i++) {
        check(objects[i].shown[0] && objects[i].shown_bytes == strlen(objects[i].shown));
        check(objects[i].name && objects[i].type_name && objects[i].param_types);
        uint64_t key = objects[i].number_kind
                           ? extract_number_key(objects[i].number_kind, objects[i].address)
                           : objects[i].address;
        check(extract_trace_object(trace, key) != NULL);
    }
}

static inline void check_event(const struct extract_event *event, const struct extract_event *last)
{
    check(event->type && event->type->symbol && event->type->name);
    check(event->fields <= EXTRACT_FIELDS_MAX && event->context <= EXTRACT_INIT);
    if (!last) {
        check(event->seq == 0 && event->ticks == 0);
        return;
    }
    check(event->seq == last->seq + 1 && event->slot != last->slot);
    check(event->ticks >= last->ticks || (event->flags & EXTRACT_FLAG_BACKWARDS));
}

// Returns whether time never steps back.
static inline bool check_events(const struct extract_trace *trace)
{
    struct extract_event events[BATCH], last;
    struct extract_reader reader;
    size_t count, total = 0;
    uint64_t latest = 0;
    bool forward = true;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++) {
            if (extract_event_is_mark(&events[i]))
                continue;
            check_event(&events[i], total++ ? &last : NULL);
            last = events[i];
            latest = last.ticks > latest ? last.ticks : latest;
            check(!extract_trace_info(trace)->cores ||
                  last.core < extract_trace_info(trace)->cores);
            forward = forward && !(last.flags & EXTRACT_FLAG_BACKWARDS);
        }
    check(total == extract_trace_info(trace)->entries_valid);
    check(latest == extract_trace_info(trace)->span_ticks);
    return forward;
}

static inline void check_stats(const struct extract_trace *trace, bool forward)
{
    struct extract_filter *filter = NULL;
    struct extract_view *view = NULL;
    struct extract_stats *stats = NULL;
    uint64_t ticks, services = 0;
    check(!extract_filter_new(&filter, NULL) && !extract_view_new(&view, filter, trace, 0, NULL) &&
          !extract_stats_new(&stats, view, trace, NULL));
    ticks = stats->idle_ticks + stats->interrupt_ticks + stats->init_ticks + stats->unknown_ticks;
    for (size_t i = 0; i < stats->thread_count; i++)
        ticks += stats->threads[i].ticks;
    for (size_t i = 0; i < stats->service_count; i++)
        services += stats->services[i].count;
    check(stats->events == extract_trace_info(trace)->entries_valid && services == stats->events);
    check(stats->range_events == stats->events);
    for (size_t i = 0; i < stats->core_count; i++)
        ticks -= stats->cores[i].span_ticks; // each core has its own time
    check(!ticks);
    check(!forward || stats->span_ticks <= extract_trace_info(trace)->span_ticks);
    extract_stats_free(stats);
    extract_view_free(view);
    extract_filter_free(filter);
}

static inline void check_trace(const struct extract_trace *trace)
{
    check_info(trace);
    check_objects(trace);
    check_stats(trace, check_events(trace));
}

// ---- Reports ----

static inline void check_text(const struct extract_text *text)
{
    check(!text->code);
    for (size_t i = 0; i < text->used; i++) {
        unsigned char c = (unsigned char)text->data[i];
        check((c >= 0x20 || c == '\n') && c != 0x7f);
    }
}

// Counts all events and markers, since reports also print markers.
static inline uint64_t count_events(const struct extract_trace *trace)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    uint64_t total = 0;
    size_t count;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        total += count;
    return total;
}

// Draws charts. A trace that shows no schedule has none.
static inline void run_charts(struct extract_session *session)
{
    static const char *const verbs[] = {"chart", "signalling"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        enum extract_code code = extract_session_run(session, verbs[i], &text, NULL);
        check(code == EXTRACT_OK || (code == EXTRACT_UNSUPPORTED && !text.used));
        check_text(&text);
        extract_text_free(&text);
    }
}

static inline void run_verbs(struct extract_session *session)
{
    static const char *const verbs[] = {"info", "objects", "report", "stats", "damage", "cost"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        check(extract_session_run(session, verbs[i], &text, NULL) == EXTRACT_OK);
        check_text(&text);
        extract_text_free(&text);
    }
    check(extract_session_shown(session) == count_events(extract_session_trace(session)));
    run_charts(session);
}

// ---- Saving ----

static inline bool same_event(const struct extract_event *a, const struct extract_event *b)
{
    return a->ticks == b->ticks && a->raw_stamp == b->raw_stamp && a->thread == b->thread &&
           a->id == b->id && a->context == b->context && a->core == b->core && a->slot == b->slot &&
           !memcmp(a->field, b->field, a->fields * sizeof *a->field) &&
           a->data_bytes == b->data_bytes &&
           (!a->data_bytes || !memcmp(a->data, b->data, a->data_bytes));
}

static inline bool next_entry(struct extract_reader *reader, struct extract_event *event)
{
    bool there;
    do
        there = extract_reader_next(reader, event, 1);
    while (there && extract_event_is_mark(event));
    return there;
}

// Checks that both traces have the same events, except for markers. Entries that could not be read
// may be damaged for another reason in a file.
static inline void check_same(const struct extract_trace *a, const struct extract_trace *b)
{
    struct extract_event x, y;
    struct extract_reader from_a, from_b;
    extract_reader_init(&from_a, a);
    extract_reader_init(&from_b, b);
    while (next_entry(&from_a, &x))
        check(next_entry(&from_b, &y) && same_event(&x, &y));
    check(!next_entry(&from_b, &y));
}

// Saves the trace, opens it at the same address, and checks that it shows the same events.
static inline void check_saved(const struct extract_trace *trace)
{
    struct extract_memory *memory;
    struct extract_text text;
    uint64_t address = extract_trace_snapshot(trace)->ring.address;
    extract_text_init(&text, NULL, NULL);
    check(extract_export_ring(&text, trace, NULL) == EXTRACT_OK);
    check(extract_memory_new_images(&memory, NULL) == EXTRACT_OK);
    check(!extract_memory_add_bytes(memory, "saved", text.data, text.used, address, NULL));
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = true, .ring = address};
    struct extract_session *session;
    check(!extract_session_open(&session, memory, NULL, &options, NULL));
    // If what was saved is not a ring any more, since its end was not readable, its header is
    // rebuilt from records that are there: then other ones are shown, and marked so. The write
    // position of a target that runs is the true one; of a file, it may be taken for a stale one.
    // At one that was mended, an entry may count as being written.
    const struct extract_snapshot *snapshot =
        extract_trace_snapshot(extract_session_trace(session));
    bool is_stale = snapshot->stale_pointer || extract_trace_snapshot(trace)->stale_pointer;
    if (snapshot->ring.origin != EXTRACT_FROM_REBUILT && !is_stale)
        check_same(trace, extract_session_trace(session));
    extract_session_close(session);
    extract_memory_close(memory);
    extract_text_free(&text);
}

// ---- RKH ----

// Makes settings from bits.
static inline void rkh_set_up(struct extract_rkh *rkh, unsigned bits)
{
    static const uint32_t stamps[] = {0, 1, 2, 4}, sizes[] = {1, 2, 4, 1};
    static const uint32_t versions[] = {0x3400, 0x2405, 0x2404, 0x2403};
    if (bits & 1)
        return;
    rkh_set(rkh, EXTRACT_RKH_CHK, bits >> 1 & 1, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_NSEQ, bits >> 2 & 1, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_TS, stamps[bits >> 3 & 3], EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_PTR, bits >> 5 & 1 ? 4 : 2, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_SIG, sizes[bits >> 6 & 3], EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_NELEM, sizes[bits >> 8 & 3], EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_SNDR, bits >> 10 & 1, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_MPNMIN, bits >> 11 & 1, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_VERSION, versions[bits >> 12 & 3], EXTRACT_RKH_USER);
}

static inline void check_rkh_frame(const struct extract_snapshot *snapshot, uint32_t i)
{
    const struct extract_extent *place = &snapshot->index[i];
    const struct extract_ring *ring = &snapshot->ring;
    const uint8_t *bytes = snapshot->bytes + place->offset;
    struct rkh_wire wire;
    uint8_t sum = 0;
    uint64_t size = ring->entries.end - ring->entries.start;
    bool round = !rkh_live_of(ring->header).stream;
    check(place->at < size && place->length <= (round ? size : size - place->at));
    check(place->layout < ring->rkh.layouts);
    if (snapshot->verdict[i] > EXTRACT_PROVISIONAL)
        return;
    check(place->whole && place->whole < place->length);
    rkh_wire_unpack(&wire, ring->rkh.layout[place->layout].packed);
    for (uint32_t k = 0; k < place->whole; k++)
        sum = (uint8_t)(sum + bytes[k]);
    check(!wire.chk || !sum || rkh_id(wire.family, bytes[0]) == RKH_FWK_TCFG);
}

static inline void check_rkh_arguments(const struct extract_event *event)
{
    struct rkh_args args;
    struct rkh_item item;
    check(rkh_args_of(&args, event));
    while (rkh_args_next(&args, &item))
        check(!item.length || (item.bytes >= event->data &&
                               item.bytes + item.length <= event->data + event->data_bytes));
    check(event->id == RKH_FWK_TCFG || rkh_args_fit(&args));
}

static inline void check_rkh_frames(const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    struct extract_event events[BATCH];
    struct extract_reader reader;
    uint64_t shown = 0, lost = 0, held = 0;
    size_t count;
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++) {
        check_rkh_frame(snapshot, i);
        held += snapshot->index[i].length;
    }
    check(held <= snapshot->ring.entries.end - snapshot->ring.entries.start);
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++) {
            bool mark = extract_event_is_mark(&events[i]);
            shown += !mark;
            lost += events[i].id == EXTRACT_ID_LOST ? events[i].field[1] : 0;
            if (!mark)
                check_rkh_arguments(&events[i]);
        }
    check(shown == extract_trace_info(trace)->entries_valid);
    check(lost == snapshot->lost);
}

// Checks that all objects have names. This includes numbers, which have other keys than addresses.
static inline void check_rkh_names(const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    for (size_t i = 0; i < count; i++) {
        check(objects[i].shown[0] && objects[i].shown_bytes == strlen(objects[i].shown));
        check(objects[i].name && objects[i].type_name);
    }
}

static inline void run_rkh_verbs(struct extract_session *session)
{
    static const char *const verbs[] = {"info",   "objects", "report", "stats",
                                        "damage", "raw",     "chart",  "signalling"};
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        check(extract_session_run(session, verbs[i], &text, NULL) == EXTRACT_OK);
        if (strcmp(verbs[i], "raw"))
            check_text(&text);
        extract_text_free(&text);
    }
}

// Writes a file with these bytes. Returns its path, which is valid until the next call.
static inline const char *file_of(const uint8_t *data, size_t size)
{
    static char path[64];
    static int fd = -1;
    if (fd < 0)
        fd = memfd_create("fuzz", MFD_CLOEXEC);
    check(fd >= 0 && !ftruncate(fd, 0) && pwrite(fd, data, size, 0) == (ssize_t)size);
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    return path;
}

#endif
