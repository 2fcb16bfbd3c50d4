// SPDX-License-Identifier: MIT
// Fuzz target: bytes that may be an RKH stream, with settings that they say themselves or that a
// user says. Read as a file, decoded, laid out for templates, reported in every form, saved and
// opened again.
//
// What is checked, besides that nothing crashes, leaks or hangs: every frame is accounted for, what
// is shown has a right checksum and arguments to its last byte, no text controls a terminal, and
// what was saved shows the same events.
#define _GNU_SOURCE // memfd_create
#include "formats/rkh/rkh.h"
#include "tests/fuzz/trace_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Settings by the bits of the first two bytes; bit 14 asks for text.
static void set_up(struct extract_rkh *rkh, unsigned bits)
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

static void check_frame(const struct extract_snapshot *snapshot, uint32_t i)
{
    const struct extract_extent *place = &snapshot->index[i];
    const struct extract_ring *ring = &snapshot->ring;
    const uint8_t *bytes = snapshot->bytes + place->offset;
    struct rkh_wire wire;
    uint8_t sum = 0;
    check(place->at + (uint64_t)place->length <= ring->entries.end - ring->entries.start);
    check(place->layout < ring->rkh.layouts);
    if (snapshot->verdict[i] > EXTRACT_PROVISIONAL)
        return;
    check(place->whole && place->whole < place->length);
    rkh_wire_unpack(&wire, ring->rkh.layout[place->layout]);
    for (uint32_t k = 0; k < place->whole; k++)
        sum = (uint8_t)(sum + bytes[k]);
    check(!wire.chk || !sum || rkh_id(wire.family, bytes[0]) == RKH_FWK_TCFG);
}

static void check_arguments(const struct extract_event *event)
{
    struct rkh_args args;
    struct rkh_item item;
    check(rkh_args_of(&args, event));
    while (rkh_args_next(&args, &item))
        check(!item.length || (item.bytes >= event->data &&
                               item.bytes + item.length <= event->data + event->data_bytes));
    check(event->id == RKH_FWK_TCFG || rkh_args_fit(&args));
}

static void check_frames(const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    struct extract_event events[BATCH];
    struct extract_reader reader;
    uint64_t shown = 0, lost = 0;
    size_t count;
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++)
        check_frame(snapshot, i);
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < count; i++) {
            bool mark = extract_event_is_mark(&events[i]);
            shown += !mark;
            lost += mark ? events[i].field[1] : 0;
            if (!mark)
                check_arguments(&events[i]);
        }
    check(shown == extract_trace_info(trace)->entries_valid);
    check(lost == snapshot->lost);
}

// Numbers have names, too, and are found by other keys than their address.
static void check_names(const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    for (size_t i = 0; i < count; i++) {
        check(objects[i].shown[0] && objects[i].shown_bytes == strlen(objects[i].shown));
        check(objects[i].name && objects[i].type_name);
    }
}

static void run_all(struct extract_session *session)
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

// What was saved, read with the settings that were found, has the same frames.
static void check_again(const struct extract_trace *trace)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const struct extract_rkh *found = &snapshot->ring.rkh;
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};
    struct extract_session *session;
    struct extract_memory *memory;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    check(!extract_export_ring(&text, trace, NULL));
    if (found->layouts == 1) {
        check(!extract_rkh_stream_open(&memory, file_of((const uint8_t *)text.data, text.used),
                                       NULL));
        for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
            rkh_set(&rkh, (enum extract_rkh_key)key, found->value[key], EXTRACT_RKH_USER);
        check(!extract_session_open(&session, memory, NULL, &options, NULL));
        const struct extract_info *info = extract_trace_info(extract_session_trace(session));
        check(info->entries_valid == extract_trace_info(trace)->entries_valid);
        check(info->entries_damaged == extract_trace_info(trace)->entries_damaged);
        extract_session_close(session);
        extract_memory_close(memory);
    }
    extract_text_free(&text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};
    struct extract_session *session;
    struct extract_memory *memory;
    struct extract_error error = {0};
    if (size < 3)
        return 0;
    set_up(&rkh, data[0] | (unsigned)data[1] << 8);
    options.json = !(data[1] & 0x40); // text takes longer
    extract_rkh_stream_is(file_of(data + 2, size - 2));
    check(!extract_rkh_stream_open(&memory, file_of(data + 2, size - 2), NULL));
    enum extract_code code = extract_session_open(&session, memory, NULL, &options, &error);
    check(!code == !!session);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    if (session) {
        run_all(session);
        check_info(extract_session_trace(session));
        check_names(extract_session_trace(session));
        check_frames(extract_session_trace(session));
        check_again(extract_session_trace(session));
    }
    extract_session_close(session);
    extract_memory_close(memory);
    return 0;
}
