// SPDX-License-Identifier: MIT
// Raw streams of hook words: entries of every type one after the other, with thread ids and
// timestamps as the layout states, and bytes that are not entries. Also the settings by which a
// user states the layout. Truth: bytes worked out by hand from docs/formats/hook.md, "The stream".
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/scratch.h"

enum { EVENTS_ROW = 6, MAX_BYTES = 1024 };

struct event {
    uint32_t id;
    unsigned words;
    uint64_t first; // first data word
    uint64_t thread, stamp;
    unsigned data_bytes;
};

struct row {
    const char *name, *layout;
    const char *bytes; // hexadecimal, separated by blanks
    unsigned count;
    struct event events[EVENTS_ROW];
    unsigned damaged;
};

static const struct row rows[] = {
    {"every type, as nobody says",
     "",
     "10C00005 11223344 68656C6C 6F000000 0000AAAA " // 0: no stamp
     "10C80004 00000001 61626364 0000AAAB 00000064 " // 8
     "20010007 0000AAAA "
     "20090007 0000AAAA 00000065 "
     "20020007 00000009 0000AAAA "
     "300E0001 00000001 00000002 00000003 00000004 00000005 0000AAAA 00000066",
     6,
     {{0x10C0, 1, 0x11223344, 0xAAAA, 100, 13},
      {0x10C0, 1, 1, 0xAAAB, 100, 12},
      {0x2000, 0, 0, 0xAAAA, 100, 4},
      {0x2000, 0, 0, 0xAAAA, 101, 4},
      {0x2000, 1, 9, 0xAAAA, 101, 8},
      {0x3000, 5, 1, 0xAAAA, 102, 24}},
     0},
    {"little, without thread ids, 8-byte stamps",
     "order=little,tid=0,stamp=8",
     "0700 0A20 09000000 0000000001000000 0100 0120 0200 0610 "
     "0100000002000000030000000400000005000000",
     3,
     {{0x2000, 1, 9, 0, UINT64_C(0x100000000), 8},
      {0x2000, 0, 0, 0, UINT64_C(0x100000000), 4},
      {0x1000, 5, 1, 0, UINT64_C(0x100000000), 24}},
     0},
    {"all are stamped",
     "stamps=all,tid=8",
     "20010007 000000010000AAAA 00000005 20020007 00000009 000000010000AAAA 00000006",
     2,
     {{0x2000, 0, 0, UINT64_C(0x10000AAAA), 5, 4}, {0x2000, 1, 9, UINT64_C(0x10000AAAA), 6, 8}},
     0},
    {"64 bits, by what it begins with",
     "",
     "EFDF1114 "
     "8000001012340042 0000000000000005 0000000000000006 000000000000004D 0000000200000000 "
     "4000000312340042 0000000000000007 6162630000000000 000000000000004E "
     "0000000000110000 000000000000004F",
     3,
     {{0x1234, 2, 5, 77, UINT64_C(0x200000000), 24},
      {0x1234, 1, 7, 78, UINT64_C(0x200000000), 19},
      {0x0011, 0, 0, 79, UINT64_C(0x200000000), 8}},
     0},
    {"64 bits, little, by what it begins with",
     "stamp=4,tid=4",
     "1411DFEF 4200341208000080 0500000000000000 4D000000 09000000",
     1,
     {{0x1234, 1, 5, 77, 9, 16}},
     0},
    {"64 bits, as the user says",
     "bits=64,tid=0",
     "0000000812340042 0000000000000005",
     1,
     {{0x1234, 1, 5, 0, 0, 16}},
     0},
    {"hooks of 32 bits in a stream of 64",
     "bits=64,tid=0,stamp=4",
     "E00000030FF00001 00000005 61626300 00000064 "         // generic: data word, 3 bytes
     "A00000080FF00007 00000005 00000006 00000065 "         // two words
     "200000000FF00007 2000000400A00008 00000006 00000000", // nothing; one word
     4,
     {{0x0FF0, 1, 5, 0, 100, 11},
      {0x0FF0, 2, 5, 0, 101, 12},
      {0x0FF0, 0, 0, 0, 101, 4},
      {0x00A0, 1, 6, 0, 101, 8}},
     0},
    {"a type that is none, before the end",
     "tid=0",
     "20010007 20030007 20020007 00000009",
     2,
     {{0x2000, 0, 0, 0, 0, 4}, {0x2000, 1, 9, 0, 0, 8}},
     1},
    {"zeros at the end",
     "tid=0",
     "20010007 00000000 00000000 00000000",
     1,
     {{0x2000, 0, 0, 0, 0, 4}},
     1},
    {"an entry that is cut",
     "tid=0",
     "20010007 300600010000000100",
     1,
     {{0x2000, 0, 0, 0, 0, 4}},
     1},
    {"a buffer that is cut", "", "20000FFF 00000001", 0, {{0}}, 1},
    {"less than a word", "", "20", 0, {{0}}, 1},
    {"more words than five",
     "bits=64,tid=0",
     "0000003012340042 000000000000000000000000",
     0,
     {{0}},
     1},
    {"nothing but its beginning", "", "EFDF1114", 0, {{0}}, 0},
};

static struct extract_error error;

static size_t from_hex(const char *text, uint8_t *bytes)
{
    size_t count = 0;
    for (; *text; text++) {
        char pair[3] = {text[0], text[1], 0};
        if (*text == ' ')
            continue;
        assert_true(count < MAX_BYTES);
        bytes[count++] = (uint8_t)strtoul(pair, NULL, 16);
        text++;
    }
    return count;
}

static void look_at(struct look *look, const char *layout, const uint8_t *bytes, size_t length)
{
    struct extract_hook_stream stream;
    struct extract_memory *memory;
    scratch_write("stream", bytes, length);
    assert_int_equal(extract_hook_stream_parse(&stream, layout, &error), EXTRACT_OK);
    assert_int_equal(extract_hook_stream_open(&memory, scratch_path("stream"), &stream, &error),
                     EXTRACT_OK);
    look_open_memory(look, memory, 0, NULL);
}

static void check_row(const struct row *row)
{
    uint8_t bytes[MAX_BYTES];
    struct look look;
    size_t count;
    look_at(&look, row->layout, bytes, from_hex(row->bytes, bytes));
    const struct extract_event *events = look_events(&look, &count);
    const struct extract_info *info = extract_trace_info(look.trace);
    assert_int_equal(count, row->count);
    assert_int_equal(info->entries_damaged, row->damaged);
    assert_int_equal(info->lost_known, !row->damaged);
    assert_int_equal(info->events_lost, 0);
    assert_false(info->wrapped || info->overrun || info->running);
    for (size_t i = 0; i < count; i++) {
        const struct event *event = &row->events[i];
        assert_int_equal(events[i].id, event->id);
        assert_int_equal(events[i].fields, event->words);
        assert_true(!event->words || events[i].field[0] == event->first);
        assert_int_equal(events[i].thread, event->thread);
        assert_int_equal(events[i].raw_stamp, event->stamp);
        assert_int_equal(events[i].data_bytes, event->data_bytes);
    }
    look_close(&look);
}

static void test_rows(void **state)
{
    (void)state;
    for (unsigned i = 0; i < sizeof rows / sizeof *rows; i++) {
        print_message("%s\n", rows[i].name);
        check_row(&rows[i]);
    }
}

// After damage, the stream starts again at sixteen entries that follow each other.
static void test_damage_inside(void **state)
{
    uint8_t bytes[MAX_BYTES];
    struct look look;
    size_t count, length = 0;
    (void)state;
    for (unsigned i = 0; i < 60; i++, length += 8) {
        ring_number(bytes + length, 0x200A0000 | i, 4, true);
        ring_number(bytes + length + 4, i, 4, true);
    }
    for (unsigned i = 20; i < 23; i++)
        ring_number(bytes + 8 * i, 0x00000000, 4, true);
    look_at(&look, "tid=0,stamp=0", bytes, length);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 57);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 1);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].field[0], i < 20 ? i : i + 3);
    assert_int_equal(events[20].flags & EXTRACT_FLAG_GAP, EXTRACT_FLAG_GAP);
    look_close(&look);
}

static void test_layouts(void **state)
{
    static const char *const bad[] = {"bits",
                                      "bits=",
                                      "bits=16",
                                      "bits=32 ",
                                      "order=middle",
                                      "tid=5",
                                      "stamp=-1",
                                      "hz=0",
                                      "hz=4294967296",
                                      "x=1",
                                      "stamps=",
                                      ",",
                                      "bits=32,,tid=4",
                                      "=",
                                      "bits=00000000000000000000000000000000000032"};
    struct extract_hook_stream stream;
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        assert_int_equal(extract_hook_stream_parse(&stream, bad[i], &error), EXTRACT_USAGE);
        assert_true(error.why[0] && error.hint[0]);
    }
    assert_int_equal(
        extract_hook_stream_parse(
            &stream, "hz=1000000,stamps=all,stamp=8,tid=0,order=little,bits=64", &error),
        EXTRACT_OK);
    assert_true(stream.hz == 1000000 && stream.all_stamped && stream.stamp == 8);
    assert_true(stream.tid == 0 && stream.tid_known && stream.stamp_known && stream.bits == 64);
    assert_int_equal(stream.order, EXTRACT_LITTLE);
}

static void test_no_stream(void **state)
{
    struct extract_hook_stream stream = {0};
    struct extract_memory *memory;
    (void)state;
    scratch_write("empty", "", 0);
    assert_int_equal(extract_hook_stream_open(&memory, scratch_path("empty"), &stream, &error),
                     EXTRACT_BAD);
    assert_null(memory);
    assert_int_equal(extract_hook_stream_open(&memory, scratch_path("none"), &stream, &error),
                     EXTRACT_IO);
}

// Tests the longest buffers that hook words can state, which are longer than the frame of a record
// can hold.
static void check_long(bool wide, unsigned bytes)
{
    static uint8_t stream[2 * 65536];
    unsigned unit = wide ? 8 : 4, padded = (bytes + unit - 1) / unit * unit;
    uint8_t *to = stream + 2 * unit;
    struct look look;
    size_t count;
    memset(stream, 0, sizeof stream);
    ring_number(stream,
                wide ? UINT64_C(0xC0000000) << 32 | (uint64_t)bytes << 32 | 0x12300000
                     : UINT64_C(0x12380000) | bytes,
                unit, true);
    ring_number(stream + unit, 5, unit, true);
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(i * 7 + i / 256);
    ring_number(to + padded, 0xAAAA, unit, true);
    ring_number(to + padded + unit, 100, unit, true);
    // The next entry has no data and no timestamp. Its thread is 9.
    ring_number(to + padded + 2 * unit, wide ? 0x20000000 : 0x20010007, unit, true);
    ring_number(to + padded + 3 * unit, 9, unit, true);
    look_at(&look, wide ? "bits=64" : "", stream, (size_t)padded + 6 * unit);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 2);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 0);
    assert_int_equal(events[0].data_bytes, 2 * unit + bytes);
    assert_memory_equal(events[0].data + 2 * unit, to, bytes);
    assert_int_equal(events[0].field[0], 5);
    assert_int_equal(events[0].thread, 0xAAAA);
    assert_int_equal(events[0].raw_stamp, 100);
    assert_int_equal(events[1].thread, 9);
    look_close(&look);
}

static void test_long_buffers(void **state)
{
    static const unsigned bytes[] = {65495, 65496, 65497, 65512, 65513, 65516, 65520, 65535};
    (void)state;
    for (unsigned i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        check_long(false, bytes[i]);
        check_long(true, bytes[i]);
    }
}

static enum extract_code open_row(void)
{
    struct extract_hook_stream stream = {0};
    struct extract_memory *memory;
    enum extract_code code =
        extract_hook_stream_open(&memory, scratch_path("stream"), &stream, &error);
    extract_memory_close(memory);
    return code;
}

static void test_memory_is_short(void **state)
{
    uint8_t bytes[MAX_BYTES];
    (void)state;
    scratch_write("stream", bytes, from_hex(rows[0].bytes, bytes));
    each_allocation_fails(open_row);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_rows),         cmocka_unit_test(test_damage_inside),
        cmocka_unit_test(test_layouts),      cmocka_unit_test(test_no_stream),
        cmocka_unit_test(test_long_buffers), cmocka_unit_test(test_memory_is_short),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
