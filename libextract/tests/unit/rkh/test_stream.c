// SPDX-License-Identifier: MIT
// Tests RKH streams as files: frames, settings, gaps in the numbers, damage. Truth: frames that the
// framework itself made (docs/formats/rkh.md, "Examples"), and bytes worked out by hand.
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include "events/events_room.h"
#include "formats/format.h"

#define ALL_ON  "ac 00 34 ff ff 03 00 14 42 11 02 14 e8 03"
#define NARROW  "ac 00 34 fe f7 01 00 22 24 22 01 24 e8 03"
#define UNTIMED "ac 00 34 ff 7f 02 00 44 42 11 02 14 e8 03"
#define LOST    EXTRACT_ID_LOST
#define FRAMES  96
#define STRETCH 2048

static struct rkh_bytes stream;
static struct extract_error error;

static void look_at(struct look *look, const char *words)
{
    scratch_write("stream", stream.bytes, stream.length);
    enum extract_code code = rkh_look(look, scratch_path("stream"), words, &error);
    if (code)
        print_error("%s\n", error.why);
    assert_int_equal(code, EXTRACT_OK);
}

static void check_counts(const struct look *look, uint64_t good, uint64_t damaged, uint64_t lost)
{
    const struct extract_info *info = extract_trace_info(look->trace);
    assert_int_equal(info->entries_valid, good);
    assert_int_equal(info->entries_damaged, damaged);
    assert_int_equal(info->events_lost, lost);
    assert_int_equal(info->entries_total, good + damaged);
}

static const struct extract_event *only(const struct look *look, uint32_t id)
{
    size_t count;
    const struct extract_event *events = rkh_events(look, &count), *found = NULL;
    for (size_t i = 0; i < count; i++)
        if (events[i].id == id) {
            assert_null(found);
            found = &events[i];
        }
    assert_non_null(found);
    return found;
}

static void check_fields(const struct extract_event *event, unsigned count, const uint64_t *fields)
{
    assert_int_equal(event->fields, count);
    for (unsigned i = 0; i < count; i++)
        assert_int_equal(event->field[i], fields[i]);
}

static void check_text(const struct look *look, const struct extract_event *event, unsigned i,
                       const char *said)
{
    struct extract_text text;
    assert_int_equal(event->type->field[i].kind, EXTRACT_KIND_TEXT);
    extract_text_init(&text, NULL, NULL);
    assert_true(extract_trace_text(look->trace, event->field[i], &text));
    assert_int_equal(text.used, strlen(said));
    assert_memory_equal(text.data, said, text.used);
    extract_text_free(&text);
    assert_false(extract_trace_text(look->trace, UINT64_MAX, &text));
}

// ---- streams that the framework wrote ----

static void test_all_on(void **state)
{
    static const uint8_t made[] = {0x43, 0x92, 0x05, 0x04, 0x00, 0x00, 0x3c, 0x01, 0x00, 0x20,
                                   0x05, 0x28, 0x0b, 0x00, 0x20, 0x00, 0x00, 0x01, 0x03, 0x69};
    static const uint8_t stuffed[] = {0xa3, 0x34, 0x73, 0x08, 0x00, 0x00, 0x04, 0x00, 0x00, 0x00,
                                      0x00, 0x01, 0x1f, 0xec, 0x00, 0x00, 0x20, 0x7d, 0x5e, 0x7e};
    static const uint64_t posted[] = {0x2000013c, 5, 0x20000b28, EXTRACT_NO_POOL, 0, 1, 3};
    static const uint64_t allocated[] = {4, 0, 0, 0, 1, 0x1f, 0x200000ec};
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    rkh_raw(&stream, made, sizeof made);
    rkh_raw(&stream, "\x7e", 1);
    rkh_raw(&stream, stuffed, sizeof stuffed);
    rkh_hex(&stream, "b4 35 07 00 00 00 28 0b 00 20 \"l_isr_kbd\" 00");
    rkh_hex(&stream, "ad 36 cf 92 00 00 \"mybsp\" 00 50 00");
    look_at(&look, "");
    const struct extract_event *event = only(&look, 67);
    check_fields(event, 7, posted);
    assert_int_equal(event->raw_stamp, 0x405);
    assert_int_equal(event->thread, 0x2000013c);
    assert_string_equal(event->type->symbol, "RKH_TE_SMA_FIFO");
    event = only(&look, 163);
    check_fields(event, 7, allocated);
    assert_int_equal(event->data_bytes, 12 + 4 - 5);
    event = only(&look, 180);
    assert_int_equal(event->field[0], 0x20000b28);
    check_text(&look, event, 1, "l_isr_kbd");
    event = only(&look, 173);
    check_text(&look, event, 0, "mybsp");
    assert_int_equal(event->field[1], 80);
    assert_int_equal(look.snapshot.ring.hz, 1000);
    assert_int_equal(look.snapshot.ring.rkh.value[EXTRACT_RKH_VERSION], 0x3400);
    // From number 0x92 to 0x34, 161 frames are lost.
    check_counts(&look, 5, 0, 161);
    look_close(&look);
}

static void test_narrow(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, false);
    rkh_hex(&stream, NARROW);
    rkh_hex(&stream, "b4 00 83 e0 91 a0 \"l_isr_kbd\" 00");
    rkh_hex(&stream, "43 01 84 e0 91 a0 05 00 02 01 03 00");
    look_at(&look, "fun=4");
    const struct extract_event *event = only(&look, 180);
    assert_int_equal(event->field[0], 0xa091);
    assert_int_equal(event->raw_stamp, 0xe083);
    event = only(&look, 67);
    static const uint64_t posted[] = {0xa091, 5, 1, 1, 3};
    check_fields(event, 5, posted);
    assert_int_equal(event->type->field[2].kind, EXTRACT_KIND_POOL);
    const struct extract_rkh *rkh = &look.snapshot.ring.rkh;
    assert_int_equal(rkh->value[EXTRACT_RKH_FUN], 4);
    assert_int_equal(rkh->from[EXTRACT_RKH_FUN], EXTRACT_RKH_USER);
    assert_int_equal(rkh->value[EXTRACT_RKH_CHK], 0);
    assert_int_equal(rkh->from[EXTRACT_RKH_CHK], EXTRACT_RKH_TCFG);
    assert_int_equal(look.snapshot.ring.timer_mask, 0xffff);
    check_counts(&look, 3, 0, 0);
    look_close(&look);
}

static void test_untimed(void **state)
{
    static const uint8_t actor[] = "\xb4\x21\xa0\x40\x00l_isr_kbd\x00\xa2\x7e";
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, UNTIMED);
    rkh_raw(&stream, actor, sizeof actor - 1);
    look_at(&look, "");
    const struct extract_event *event = only(&look, 180);
    assert_int_equal(event->field[0], 0x40a021);
    assert_false(extract_trace_info(look.trace)->lost_known);
    assert_int_equal(extract_trace_info(look.trace)->clock.direction, EXTRACT_CLOCK_NONE);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 0);
    look_close(&look);
}

// A user event with every format that exists, with the framework's own stuffing.
static void test_user_event(void **state)
{
    static const uint8_t frame[] = {
        0xc9, 0x15, 0x9a, 0x00, 0x00, 0x00, 0x30, 0xfb, 0x31, 0xfa, 0x62, 0xd4, 0xfe,
        0x53, 0x7d, 0x5d, 0x7d, 0x5e, 0x84, 0x90, 0xee, 0xfe, 0xff, 0xa5, 0x00, 0x28,
        0x6b, 0xee, 0x86, 0xef, 0xbe, 0xad, 0xde, 0x07, 0x68, 0x65, 0x6c, 0x6c, 0x6f,
        0x00, 0x08, 0x05, 0x7d, 0x5e, 0x7d, 0x5d, 0x00, 0x20, 0xff, 0x09, 0x00, 0x00,
        0x00, 0x20, 0x0a, 0x6d, 0x1d, 0x00, 0x00, 0x0b, 0x05, 0xbe, 0x7e};
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    rkh_raw(&stream, frame, sizeof frame);
    look_at(&look, "");
    const struct extract_event *event = only(&look, 201);
    assert_int_equal(event->raw_stamp, 0x9a);
    assert_int_equal(event->type->class_, EXTRACT_APPL);
    assert_int_equal(event->data_bytes, sizeof frame - 1 - 4 - 6 - 1);
    assert_memory_equal(event->data + 7, "\x53\x7d\x7e", 3);
    check_counts(&look, 2, 0, 0);
    look_close(&look);
}

// ---- numbers ----

static void check_broken(const struct extract_event *event, enum extract_verdict why,
                         uint64_t entries, uint64_t bytes)
{
    const uint64_t fields[] = {why, entries, bytes};
    assert_int_equal(event->id, EXTRACT_ID_BROKEN);
    assert_string_equal(extract_kind_word(event->type->field[0].kind, why),
                        extract_verdict_name(why));
    check_fields(event, 3, fields);
}

static void check_mark(const struct extract_event *event, uint64_t lost)
{
    assert_int_equal(event->id, LOST);
    assert_int_equal(event->field[1], lost);
    assert_int_equal(event->field[3], 256);
    assert_true(extract_event_is_mark(event));
}

static void put_processed(uint8_t seq)
{
    const uint8_t frame[] = {0x69, seq, seq, 0, 0, 0, 0x10, 0, 0, 0x20};
    rkh_frame_of(&stream, frame, sizeof frame);
}

static void test_gaps(void **state)
{
    struct look look;
    size_t count;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    put_processed(254);
    put_processed(255);
    put_processed(0);
    put_processed(5); // 1 to 4 are lost
    rkh_raw(&stream, "\x69\x06\x01\x7e", 4);
    put_processed(7); // frame 6 was damaged, not lost
    put_processed(6); // 254 frames are lost
    rkh_raw(&stream, "\x7e", 1);
    rkh_hex(&stream, ALL_ON);
    put_processed(0); // the target was restarted
    rkh_hex(&stream, ALL_ON);
    put_processed(1); // the target was not restarted
    look_at(&look, "");
    check_counts(&look, 11, 1, 4 + 254);
    const struct extract_event *events = rkh_events(&look, &count);
    assert_int_equal(count, 11 + 3);
    check_mark(&events[4], 4);
    assert_int_equal(events[4].seq, events[5].seq);
    assert_int_equal(events[5].flags, EXTRACT_FLAG_GAP);
    check_broken(&events[6], EXTRACT_BAD_CHECKSUM, 1, 4);
    assert_int_equal(events[7].flags & EXTRACT_FLAG_GAP, EXTRACT_FLAG_GAP);
    check_mark(&events[8], 254);
    look_close(&look);
}

// In a second run, the timestamps start from 0 again, and the time continues.
static void test_runs(void **state)
{
    static const uint64_t ticks[] = {0, 0, 10, 10, 10, 14};
    struct look look;
    size_t count;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    rkh_hex(&stream, "69 00 e8 03 00 00 10 00 00 20");
    rkh_hex(&stream, "69 01 f2 03 00 00 10 00 00 20");
    rkh_hex(&stream, ALL_ON);
    rkh_hex(&stream, "69 00 05 00 00 00 10 00 00 20");
    rkh_hex(&stream, "69 01 09 00 00 00 10 00 00 20");
    look_at(&look, "");
    const struct extract_event *events = rkh_events(&look, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].ticks, ticks[i]);
    assert_int_equal(extract_trace_info(look.trace)->span_ticks, 14);
    look_close(&look);
}

// ---- damage ----

static void test_kinds_of_damage(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    rkh_raw(&stream, "\x69\x00\x7d\x7e", 4);     // an escape without a byte after it
    rkh_raw(&stream, "\x69\x00\x7d\x41\x7e", 5); // an escape of a byte that needs none
    rkh_raw(&stream, "\x69\x00\x00\x00\x00\x00\x10\x00\x00\x20\x00\x7e", 12); // wrong checksum
    rkh_hex(&stream, "69 00 00 00 00 00 10 00 00");                           // wrong length
    rkh_hex(&stream, "b4 00 07 00 00 00 28 0b 00 20 \"no end\"");        // a text without an end
    rkh_hex(&stream, "b4 00 07 00 00 00 28 0b 00 20 \"a\" 00 \"b\" 00"); // bytes after the text
    rkh_hex(&stream, "7f 00 00 00 00 00 10 00 00 20");                   // unknown event
    rkh_hex(&stream, "c0 00 00 00 00 00 0c 00");                         // unknown format
    put_processed(0);
    rkh_raw(&stream, "\x69\x01\x02", 3);
    look_at(&look, "");
    const struct extract_rkh *rkh = &look.snapshot.ring.rkh;
    assert_int_equal(rkh->damage.torn, 2);
    assert_int_equal(rkh->damage.checksum, 1);
    assert_int_equal(rkh->damage.length, 4);
    assert_int_equal(rkh->damage.id, 1);
    assert_int_equal(rkh->partial, 3);
    assert_false(rkh->partial_checked);
    check_counts(&look, 2, 8, 0);
    // Neighboring frames with the same fault share one marker.
    size_t count;
    const struct extract_event *events = rkh_events(&look, &count);
    assert_int_equal(count, 2 + 5);
    check_broken(&events[1], EXTRACT_TORN, 2, 4 + 5);
    check_broken(&events[2], EXTRACT_BAD_CHECKSUM, 1, 12);
    check_broken(&events[3], EXTRACT_BAD_LENGTH, 3, 11 + 18 + 16);
    check_broken(&events[4], EXTRACT_UNKNOWN_ID, 1, 12);
    check_broken(&events[5], EXTRACT_BAD_LENGTH, 1, 10);
    for (unsigned i = 1; i < 6; i++)
        assert_int_equal(events[i].seq, events[6].seq);
    assert_true(extract_event_is_break(&events[1]));
    look_close(&look);
}

// Damage after the last event is reported, too.
static void test_damage_at_the_end(void **state)
{
    struct look look;
    size_t count;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    for (unsigned i = 0; i < FRAMES; i++)
        put_processed((uint8_t)i);
    for (unsigned i = 0; i < FRAMES; i++)
        rkh_raw(&stream, i % 2 ? "\x69\x7d\x7e" : "\x69\x01\x7e", 3);
    look_at(&look, "");
    const struct extract_event *events = rkh_events(&look, &count);
    assert_int_equal(count, 1 + FRAMES + FRAMES);
    for (unsigned i = 0; i < FRAMES; i++)
        check_broken(&events[1 + FRAMES + i], i % 2 ? EXTRACT_TORN : EXTRACT_BAD_CHECKSUM, 1, 3);
    check_counts(&look, 1 + FRAMES, FRAMES, 0);
    look_close(&look);
}

// Checks that every frame that is shown has a right checksum and the length of its event.
static void check_shown(const struct look *look)
{
    static const struct {
        uint8_t id;
        unsigned length;
    } lengths[] = {{0x62, 19}, {0x63, 15}, {0x69, 11}, {0x71, 16}, {0x48, 12}, {0x66, 13},
                   {0x6a, 12}, {0x24, 11}, {0x65, 15}, {0x83, 16}, {0xac, 15}};
    for (uint32_t i = 0; i < look->snapshot.ring.entries.count; i++) {
        const struct extract_extent *place = &look->snapshot.index[i];
        const uint8_t *bytes = look->snapshot.bytes + place->offset;
        unsigned sum = 0, known = 0;
        if (look->snapshot.verdict[i] > EXTRACT_PROVISIONAL)
            continue;
        for (unsigned k = 0; k < place->whole; k++)
            sum += bytes[k];
        assert_int_equal(sum % 256, 0);
        for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++)
            known += lengths[k].id == bytes[0] && lengths[k].length == place->whole;
        assert_int_equal(known, 1);
    }
}

static void make_stretch(void)
{
    struct rkh_mix mix = {4, 4, 1, 0};
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    rkh_mixed(&stream, &mix, FRAMES);
    assert_true(stream.length < STRETCH);
}

static void test_every_byte(void **state)
{
    static const uint8_t changes[] = {0x01, 0x80, 0x7E, 0x7D, 0xFF};
    (void)state;
    for (size_t at = 0;; at++)
        for (unsigned k = 0; k < sizeof changes; k++) {
            struct look look;
            make_stretch();
            if (at >= stream.length)
                return;
            uint8_t old = stream.bytes[at];
            stream.bytes[at] = k == 2 || k == 3 ? changes[k] : old ^ changes[k];
            if (stream.bytes[at] == old)
                continue;
            look_at(&look, "");
            check_shown(&look);
            // The frame is lost. If the changed byte is the flag, its neighbor is lost, too.
            assert_true(extract_trace_info(look.trace)->entries_valid >= FRAMES + 1 - 2);
            look_close(&look);
        }
}

static void test_every_length(void **state)
{
    (void)state;
    make_stretch();
    size_t whole = stream.length, flags = 0;
    for (size_t length = 1; length <= whole; length++) {
        struct look look;
        stream.length = length;
        flags += stream.bytes[length - 1] == 0x7E;
        look_at(&look, "chk=1,nseq=1,ts=4,ptr=4,sig=1");
        check_counts(&look, flags - 1, 0, 0);
        assert_int_equal(look.snapshot.ring.rkh.partial != 0, stream.bytes[length - 1] != 0x7E);
        look_close(&look);
    }
}

// The capture begins in the middle of a stream. The bytes before the first flag are a frame, or
// they are ignored.
static void test_late(void **state)
{
    (void)state;
    for (unsigned cut = 1; cut < 17; cut++) {
        struct look look;
        make_stretch();
        memmove(stream.bytes, stream.bytes + cut, stream.length -= cut);
        look_at(&look, "chk=1,nseq=1,ts=4,ptr=4,sig=1");
        check_counts(&look, cut == 1 ? FRAMES + 1 : FRAMES, 0, 0);
        look_close(&look);
    }
}

// ---- settings ----

static void test_inference(void **state)
{
    static const unsigned sizes[] = {1, 2, 4};
    (void)state;
    for (unsigned i = 0; i < 3 * 2 * 2 * 2 * 4; i++) {
        struct rkh_mix mix = {i / 3 % 2 ? 4 : 2, i / 24 ? sizes[i / 24 % 3] : 0, sizes[i % 3],
                              i / 6 % 2 ? 200 : -1};
        struct look look;
        rkh_begin(&stream, i / 12 % 2);
        rkh_mixed(&stream, &mix, 120);
        look_at(&look, "");
        const struct extract_rkh *rkh = &look.snapshot.ring.rkh;
        assert_int_equal(rkh->value[EXTRACT_RKH_CHK], i / 12 % 2);
        assert_int_equal(rkh->value[EXTRACT_RKH_NSEQ], mix.seq >= 0);
        assert_int_equal(rkh->value[EXTRACT_RKH_TS], mix.ts);
        assert_int_equal(rkh->value[EXTRACT_RKH_PTR], mix.ptr);
        assert_int_equal(rkh->value[EXTRACT_RKH_SIG], mix.sig);
        assert_int_equal(rkh->from[EXTRACT_RKH_SIG], EXTRACT_RKH_INFERENCE);
        assert_int_equal(extract_trace_info(look.trace)->entries_valid, 120);
        look_close(&look);
    }
}

// If all frames are of one event, several layouts fit.
static void test_ambiguous(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    for (unsigned i = 0; i < 40; i++)
        put_processed((uint8_t)i);
    scratch_write("stream", stream.bytes, stream.length);
    assert_int_equal(rkh_look(&look, scratch_path("stream"), "", &error), EXTRACT_BAD);
    assert_non_null(strstr(error.why, "nseq=1,ts=4,ptr=4"));
    assert_non_null(strstr(error.hint, "--rkh"));
    look_at(&look, "nseq=1,ts=4,ptr=4,sig=1");
    check_counts(&look, 40, 0, 0);
    look_close(&look);
}

static void test_two_layouts(void **state)
{
    struct rkh_mix wide = {4, 4, 1, 0};
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, ALL_ON);
    rkh_mixed(&stream, &wide, 20);
    stream.chk = false;
    rkh_hex(&stream, NARROW);
    struct rkh_mix narrow = {2, 2, 2, 0};
    rkh_mixed(&stream, &narrow, 20);
    look_at(&look, "");
    check_counts(&look, 42, 0, 0);
    assert_int_equal(look.snapshot.ring.rkh.layouts, 2);
    size_t count;
    const struct extract_event *events = rkh_events(&look, &count);
    assert_int_equal(events[1].field[0], events[22].field[0] | 0x20000000);
    assert_int_equal(events[22].data_bytes, 6);
    assert_int_equal(events[21].data_bytes, 13);
    look_close(&look);
}

// Records of older frameworks, made by hand: id, sizes, and an event that has another id in newer
// versions.
static void test_families(void **state)
{
    static const struct {
        const char *tcfg, *event;
        uint32_t version, id;
        unsigned fields;
    } rows[] = {
        {"ae 05 24 ff ff 03 00 14 42 11 02 14 e8 03", "a6 00 07 00 00 00 10 00 00 20 05", 0x2405,
         71, 2},
        {"ae 05 24 ff ff 03 00 14 42 11 02 14 e8 03", "42 00 07 00 00 00 10 00 00 20 05 00 01",
         0x2405, 66, 4},
        {"ad 04 24 ff ff 03 00 14 42 11 02 14 e8 03", "af 00 07 00 00 00 10 00 00 20 \"a\" 00",
         0x2404, 174, 2},
        {"ad 00 00 00 00 00 03 24 ff 1f 14 42 11 21 11 14", "62 01 07 00 00 00 10 00 00 20 05",
         0x2403, 113, 2},
        {"ad 00 00 00 00 00 14 42 11 21 11",
         "63 01 07 00 00 00 01 00 00 20 02 00 00 20 03 00 00 20", 0x2300, 98, 3},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct look look;
        rkh_begin(&stream, true);
        rkh_hex(&stream, rows[i].tcfg);
        rkh_hex(&stream, rows[i].event);
        look_at(&look, "");
        const struct extract_event *event = only(&look, rows[i].id);
        assert_int_equal(look.snapshot.ring.rkh.value[EXTRACT_RKH_VERSION], rows[i].version);
        assert_int_equal(event->fields, rows[i].fields);
        only(&look, 172);
        check_counts(&look, 2, 0, 0);
        look_close(&look);
    }
}

static void test_words(void **state)
{
    static const char *const bad[] = {
        "chk",      "chk=",     "chk=2",          "ptr=1",      "ptr=3",
        "ts=3",     "sig=0",    "ts_hz=0",        "x=1",        "=",
        "view=all", "fun=4,,x", "version=3.4.0x", "version=34", "ts_hz=4294967296"};
    static const char *const unknown[] = {"1.0.0", "2.2.0", "2.2.99", "2.4.7",
                                          "2.5.0", "4.0.0", "9.9.9"};
    static const char *const known[] = {"version=2.3",   "version=2.4", "version=2.4.3",
                                        "version=2.4.6", "version=3.0", "version=3.9.99"};
    struct extract_rkh rkh = {0};
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(extract_rkh_parse(&rkh, bad[i], &error), EXTRACT_USAGE);
        assert_true(error.why[0] && error.hint[0]);
    }
    for (unsigned i = 0; i < sizeof unknown / sizeof *unknown; i++) {
        char words[32];
        snprintf(words, sizeof words, "version=%s", unknown[i]);
        assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_UNSUPPORTED);
        assert_non_null(strstr(error.why, unknown[i]));
        assert_non_null(strstr(error.hint, "2.3, 2.4 to 2.4.6 and 3.x"));
    }
    for (unsigned i = 0; i < sizeof known / sizeof *known; i++)
        assert_int_equal(extract_rkh_parse(&rkh, known[i], &error), EXTRACT_OK);
    rkh = (struct extract_rkh){0};
    assert_int_equal(
        extract_rkh_parse(&rkh, "version=2.4.5,fun=2,ts_hz=1000000,view=pending", &error),
        EXTRACT_OK);
    assert_int_equal(rkh.value[EXTRACT_RKH_VERSION], 0x2405);
    assert_int_equal(rkh.value[EXTRACT_RKH_TS_HZ], 1000000);
    assert_int_equal(rkh.from[EXTRACT_RKH_FUN], EXTRACT_RKH_USER);
    assert_int_equal(rkh.view, EXTRACT_RKH_PENDING);
}

static void check_config(const char *text, enum extract_rkh_key key, uint32_t value)
{
    struct extract_rkh rkh = {0};
    char words[256];
    scratch_puts("trazer.cfg", text);
    snprintf(words, sizeof words, "trazer.cfg=%s", scratch_path("trazer.cfg"));
    assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_OK);
    assert_int_equal(rkh.from[key], EXTRACT_RKH_CONFIG);
    assert_int_equal(rkh.value[key], value);
}

static void refuse_config(const char *text, const char *why)
{
    struct extract_rkh rkh = {0};
    char words[256];
    scratch_puts("trazer.cfg", text);
    snprintf(words, sizeof words, "trazer.cfg=%s", scratch_path("trazer.cfg"));
    assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_USAGE);
    assert_non_null(strstr(error.why, why));
}

static void test_config(void **state)
{
    struct extract_rkh rkh = {0};
    char words[256];
    (void)state;
    scratch_puts("trazer.cfg", "TRAZER_EN_CHK=0\r\n TRAZER_SIZEOF_POINTER = 2\n# text\n"
                               "TRAZER_EN_TSTAMP=0\nTRAZER_SIZEOF_TSTAMP=4 # bytes\n\n"
                               "TRAZER_RUNTIME_FILTER=1\nTRAZER_EN_TIM=0\nTRAZER_SIZEOF_SIG=2");
    snprintf(words, sizeof words, "sig=4,trazer.cfg=%s", scratch_path("trazer.cfg"));
    assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_OK);
    assert_int_equal(rkh.from[EXTRACT_RKH_CHK], EXTRACT_RKH_CONFIG);
    assert_int_equal(rkh.value[EXTRACT_RKH_CHK], 0);
    assert_int_equal(rkh.value[EXTRACT_RKH_PTR], 2);
    assert_int_equal(rkh.value[EXTRACT_RKH_TS], 0);
    assert_int_equal(rkh.value[EXTRACT_RKH_SIG], 4);
    assert_int_equal(extract_rkh_parse(&rkh, "trazer.cfg=/nonexistent", &error), EXTRACT_IO);
    assert_int_equal(extract_rkh_parse(&rkh, "trazer.cfg=", &error), EXTRACT_IO);
    assert_string_equal(error.what, "\"\"");
    assert_string_equal(error.why, "the file name is empty");
    assert_non_null(error.hint);
    static const char *const binary[] = {"\0", "\0TRAZER_EN_CHK=0\n", "TRAZER_EN_CHK=0\n#\0\n"};
    static const size_t sizes[] = {1, 17, 19};
    for (unsigned i = 0; i < sizeof binary / sizeof *binary; i++) {
        scratch_write("trazer.cfg", binary[i], sizes[i]);
        assert_int_equal(extract_rkh_parse(&rkh, words, &error), EXTRACT_USAGE);
        assert_non_null(strstr(error.why, "not a text file"));
    }
}

// The keys of the tool Trazer give sizes in bytes. The macros of the framework give sizes in bits.
static void test_config_keys(void **state)
{
    (void)state;
    check_config("TRAZER_EN_SENDER=1", EXTRACT_RKH_SNDR, 1);
    check_config("TRAZER_EN_NSEQ=0", EXTRACT_RKH_NSEQ, 0);
    check_config("TRAZER_SIZEOF_NTIMER=4", EXTRACT_RKH_NTICK, 4);
    check_config("TRAZER_SIZEOF_NBLOCK=2", EXTRACT_RKH_NBLK, 2);
    check_config("TRAZER_SIZEOF_BSIZE=2", EXTRACT_RKH_BSIZE, 2);
    check_config("TRAZER_SIZEOF_NELEM=2", EXTRACT_RKH_NELEM, 2);
    check_config("TRAZER_SIZEOF_ESIZE=1", EXTRACT_RKH_ESIZE, 1);
    check_config("TRAZER_SIZEOF_FUN_POINTER=2", EXTRACT_RKH_FUN, 2);
    check_config("TRAZER_EN_QUE_GET_LWMARK=0", EXTRACT_RKH_QNMIN, 0);
    check_config("TRAZER_SIZEOF_TSTAMP=2\nTRAZER_EN_TSTAMP=1", EXTRACT_RKH_TS, 2);
    check_config("RKH_CFG_RQ_GET_LWMARK_EN=0", EXTRACT_RKH_QNMIN, 0);
    check_config("RKH_CFG_MP_GET_LWM_EN=0", EXTRACT_RKH_MPNMIN, 0);
    check_config("RKH_CFG_FWK_SIZEOF_EVT=16", EXTRACT_RKH_SIG, 2);
    check_config("RKH_CFG_FWK_SIZEOF_EVT_SIZE=8", EXTRACT_RKH_ESIZE, 1);
    check_config("RKH_CFGPORT_TRC_SIZEOF_FUN_PTR=32", EXTRACT_RKH_FUN, 4);
    check_config("RKH_CFG_SMA_TRC_SNDR_EN=0\nRKH_CFG_TRC_SM_DCH_EN=1", EXTRACT_RKH_SNDR, 0);
    check_config("ntick=4", EXTRACT_RKH_NTICK, 4);
    refuse_config("\nTRAZER_SIZEOF_PTR=3\n", "line 2: TRAZER_SIZEOF_PTR");
    refuse_config("TRAZER_EN_CHK=2", "TRAZER_EN_CHK");
    refuse_config("RKH_CFG_FWK_SIZEOF_EVT=2", "RKH_CFG_FWK_SIZEOF_EVT");
    refuse_config("TRAZER_COLOUR=1", "TRAZER_COLOUR is not a known key");
    refuse_config("TRAZER_EN_CHK", "line 1");
    refuse_config("TRAZER_EN_CHK=1 0", "line 1");
}

// ---- files ----

static void test_recognised(void **state)
{
    struct rkh_mix mix = {4, 4, 1, 0};
    (void)state;
    make_stretch();
    scratch_write("stream", stream.bytes, stream.length);
    assert_true(extract_rkh_stream_is(scratch_path("stream")));
    rkh_begin(&stream, true);
    rkh_mixed(&stream, &mix, 40);
    scratch_write("stream", stream.bytes + 5, stream.length - 5);
    assert_true(extract_rkh_stream_is(scratch_path("stream")));
    rkh_begin(&stream, false);
    rkh_mixed(&stream, &mix, 40);
    scratch_write("stream", stream.bytes, stream.length);
    assert_false(extract_rkh_stream_is(scratch_path("stream")));
    memset(stream.bytes, 0x7E, sizeof stream.bytes);
    scratch_write("stream", stream.bytes, sizeof stream.bytes);
    assert_false(extract_rkh_stream_is(scratch_path("stream")));
    scratch_write("stream", "", 0);
    assert_false(extract_rkh_stream_is(scratch_path("stream")));
    struct look look;
    assert_int_equal(rkh_look(&look, scratch_path("stream"), "", &error), EXTRACT_BAD);
}

static void test_saved(void **state)
{
    struct extract_text text;
    struct look look;
    (void)state;
    make_stretch();
    look_at(&look, "");
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, look.trace, &error), EXTRACT_OK);
    assert_int_equal(text.used, stream.length);
    assert_memory_equal(text.data, stream.bytes, stream.length);
    extract_text_free(&text);
    look_close(&look);
}

static void check_file(const char *name, uint64_t frames, uint64_t good)
{
    const char *dir = getenv("RINGSIDE_DATA");
    char path[512];
    struct look look;
    snprintf(path, sizeof path, "%s/rkh/%s", dir ? dir : "../shared/data", name);
    if (access(path, R_OK))
        skip();
    assert_true(extract_rkh_stream_is(path));
    assert_int_equal(rkh_look(&look, path, "", &error), EXTRACT_OK);
    const struct extract_info *info = extract_trace_info(look.trace);
    assert_int_equal(info->entries_total, frames);
    assert_int_equal(info->entries_valid, good);
    assert_int_equal(info->entries_damaged, frames - good);
    assert_int_equal(info->events_lost, 0);
    assert_int_equal(look.snapshot.ring.rkh.partial, 0);
    uint64_t told = 0;
    size_t count;
    const struct extract_event *events = rkh_events(&look, &count);
    for (size_t i = 0; i < count; i++)
        told += events[i].id == EXTRACT_ID_BROKEN ? events[i].field[1] : 0;
    assert_int_equal(told, frames - good);
    look_close(&look);
}

static void test_target(void **state)
{
    (void)state;
    check_file("cm3_all_on.bin", 5370, 5370);
}

static void test_overrun(void **state)
{
    (void)state;
    check_file("x86_overrun_noseq.bin", 1607, 1533);
}

static enum extract_code open_short(void)
{
    struct look look;
    enum extract_code code = rkh_look(&look, scratch_path("stream"), "", &error);
    if (!code)
        look_close(&look);
    return code;
}

static void test_memory_is_short(void **state)
{
    (void)state;
    make_stretch();
    scratch_write("stream", stream.bytes, stream.length);
    each_allocation_fails(open_short);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_on),
        cmocka_unit_test(test_narrow),
        cmocka_unit_test(test_untimed),
        cmocka_unit_test(test_user_event),
        cmocka_unit_test(test_gaps),
        cmocka_unit_test(test_runs),
        cmocka_unit_test(test_kinds_of_damage),
        cmocka_unit_test(test_damage_at_the_end),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_every_length),
        cmocka_unit_test(test_late),
        cmocka_unit_test(test_inference),
        cmocka_unit_test(test_ambiguous),
        cmocka_unit_test(test_two_layouts),
        cmocka_unit_test(test_families),
        cmocka_unit_test(test_words),
        cmocka_unit_test(test_config),
        cmocka_unit_test(test_config_keys),
        cmocka_unit_test(test_recognised),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_target),
        cmocka_unit_test(test_overrun),
        cmocka_unit_test(test_memory_is_short),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
