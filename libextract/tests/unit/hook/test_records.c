// SPDX-License-Identifier: MIT
// Tests records of hook words: every type of 32 and 64 bits, with and without thread ids and
// timestamps of both widths, in both byte orders. They are checked as events and as the entries
// that templates see. Bytes that are not records are tested, too. Truth: what the test wrote, and
// bytes worked out by hand from docs/formats/hook.md.
#include "formats/format.h"
#include "tests/unit/hook/hook_builder.h"

// A record, and the event that is expected from it.
struct row {
    const char *name;
    struct hooks_record record;
    struct {
        uint32_t id;
        unsigned bits, type, data, bytes_of_data;
        bool generic;
        const char *bytes; // hexadecimal; the buffer as it is in memory
    } is;
};

static const struct row rows[] = {
    // 32 bits
    {"0: generic",
     {.hook = 0x10C00005, .words = 1, .data = {0x11223344}, .buffer = "hello", .buffer_bytes = 5},
     {0x10C0, 32, 0, 5, 5, true, "10C000051122334468656C6C6F"}},
    {"8: generic, stamped",
     {.frame = HOOKS_STAMP,
      .hook = 0x10C80004,
      .words = 1,
      .data = {0xA},
      .buffer = "abcd",
      .buffer_bytes = 4,
      .stamp = 77},
     {0x10C0, 32, 8, 4, 4, true, "10C800040000000A61626364"}},
    {"0: generic without a buffer",
     {.hook = 0x22200000, .words = 1, .data = {9}, .buffer = ""},
     {0x2220, 32, 0, 0, 0, true, "2220000000000009"}},
    {"1: nothing", {.hook = 0x0B71BEEF}, {0xB70, 32, 1, 0xBEEF, 0, false, "0B71BEEF"}},
    {"9: nothing, stamped",
     {.frame = HOOKS_STAMP, .hook = 0xFFF90001, .stamp = 5},
     {0xFFF0, 32, 9, 1, 0, false, "FFF90001"}},
    {"2: a word",
     {.hook = 0x1002FFFF, .words = 1, .data = {0x80000001}},
     {0x1000, 32, 2, 0xFFFF, 4, false, "1002FFFF80000001"}},
    {"A: a word, stamped, with thread",
     {.frame = HOOKS_TID | HOOKS_STAMP,
      .hook = 0x100A0000,
      .words = 1,
      .data = {3},
      .tid = 0x20004000,
      .stamp = 99},
     {0x1000, 32, 10, 0, 4, false, "100A000000000003"}},
    {"6: five words",
     {.frame = HOOKS_TID,
      .hook = 0x23460007,
      .words = 5,
      .data = {1, 2, 3, 4, 0xFFFFFFFF},
      .tid = 7},
     {0x2340, 32, 6, 7, 20, false, "2346000700000001000000020000000300000004FFFFFFFF"}},
    {"E: two words",
     {.frame = HOOKS_STAMP, .hook = 0x234E0007, .words = 2, .data = {1, 2}, .stamp = 3},
     {0x2340, 32, 14, 7, 8, false, "234E00070000000100000002"}},
    {"1, but stamped by the kernel",
     {.frame = HOOKS_STAMP | HOOKS_STAMP_8, .hook = 0x01010002, .stamp = UINT64_C(1) << 40},
     {0x0100, 32, 1, 2, 0, false, "01010002"}},
    {"2: a thread id of 64 bits",
     {.frame = HOOKS_TID | HOOKS_TID_8,
      .hook = 0x01020002,
      .words = 1,
      .data = {6},
      .tid = UINT64_C(1) << 63},
     {0x0100, 32, 2, 2, 4, false, "0102000200000006"}},
    // 64 bits: flags, size, hook id, subhook
    {"64: nothing",
     {.frame = HOOKS_WIDE, .hook = UINT64_C(0x0000000012340042)},
     {0x1234, 64, 0, 0x42, 0, false, "0000000012340042"}},
    {"64: five words",
     {.frame = HOOKS_WIDE,
      .hook = UINT64_C(0x0000002812340042),
      .words = 5,
      .data = {1, 2, 3, 4, UINT64_MAX}},
     {0x1234, 64, 0, 0x42, 40, false,
      "0000002812340042000000000000000100000000000000020000000000000003"
      "0000000000000004FFFFFFFFFFFFFFFF"}},
    {"64: a word, stamped",
     {.frame = HOOKS_WIDE | HOOKS_TID | HOOKS_TID_8 | HOOKS_STAMP | HOOKS_STAMP_8,
      .hook = UINT64_C(0x800000081000FFFF),
      .words = 1,
      .data = {UINT64_C(0x0123456789ABCDEF)},
      .tid = UINT64_C(0x180000000),
      .stamp = UINT64_C(0x200000003)},
     {0x1000, 64, 0x8000, 0xFFFF, 8, false, "800000081000FFFF0123456789ABCDEF"}},
    {"64: generic",
     {.frame = HOOKS_WIDE,
      .hook = UINT64_C(0x400000030FF00001),
      .words = 1,
      .data = {2},
      .buffer = "xyz",
      .buffer_bytes = 3},
     {0x0FF0, 64, 0x4000, 1, 3, true, "400000030FF00001000000000000000278797A"}},
    {"64: generic, stamped",
     {.frame = HOOKS_WIDE | HOOKS_STAMP,
      .hook = UINT64_C(0xC000000800110000),
      .words = 1,
      .data = {2},
      .buffer = "12345678",
      .buffer_bytes = 8,
      .stamp = 4},
     {0x0011, 64, 0xC000, 0, 8, true, "C00000080011000000000000000000023132333435363738"}},
    // Where the event was recorded
    {"in an interrupt",
     {.frame = HOOKS_ISR | HOOKS_TID, .hook = 0x1001000F, .tid = 0x20004000},
     {0x1000, 32, 1, 15, 0, false, "1001000F"}},
    {"before the scheduler ran, on another processor",
     {.frame = HOOKS_INIT | 1 << 24, .hook = 0x10010000},
     {0x1000, 32, 1, 0, 0, false, "10010000"}},
};

enum { ROWS = sizeof rows / sizeof *rows };

static struct hooks hooks;

static unsigned digit(char c)
{
    return c <= '9' ? (unsigned)(c - '0') : (unsigned)(c - 'A' + 10);
}

static void check_bytes(const struct row *row, const uint8_t *bytes, size_t length)
{
    assert_int_equal(length, strlen(row->is.bytes) / 2);
    for (size_t i = 0; i < length; i++)
        assert_int_equal(bytes[i],
                         digit(row->is.bytes[2 * i]) << 4 | digit(row->is.bytes[2 * i + 1]));
}

static void check_entry(const struct row *row, const struct look *look,
                        const struct extract_event *event)
{
    static uint8_t room[EXTRACT_ENTRY_CAPACITY];
    struct extract_entry entry;
    memset(room, 0xEE, sizeof room);
    assert_true(extract_format_hook.entries->make(&look->ring, event, &entry, room));
    check_bytes(row, entry.bytes, entry.length);
    assert_int_equal(entry.bits, row->is.bits);
    assert_int_equal(entry.generic, row->is.generic);
    assert_int_equal(entry.little, !hooks.big);
    assert_int_equal(entry.hook, row->is.id);
    assert_int_equal(entry.type, row->is.type);
    assert_int_equal(entry.data, row->is.data);
    assert_int_equal(entry.bytes_of_data, row->is.bytes_of_data);
    assert_int_equal(entry.cpu, row->record.frame >> 24);
    assert_int_equal(entry.tid, event->thread);
    assert_ptr_equal(entry.event, event);
}

static void check_event(const struct row *row, const struct extract_event *event, uint64_t stamp)
{
    bool init = row->record.frame & HOOKS_INIT, isr = row->record.frame & HOOKS_ISR;
    assert_int_equal(event->id, row->is.id);
    assert_string_equal(event->type->symbol, "HOOK");
    assert_int_equal(event->context, init ? EXTRACT_INIT : isr ? EXTRACT_ISR : EXTRACT_THREAD);
    assert_int_equal(event->thread, init ? 0 : row->record.tid);
    assert_int_equal(event->core, row->record.frame >> 24);
    assert_int_equal(event->fields, row->record.words);
    for (unsigned i = 0; i < row->record.words; i++)
        assert_int_equal(event->field[i], row->record.data[i]);
    assert_int_equal(event->data_bytes, strlen(row->is.bytes) / 2);
    assert_int_equal(event->raw_stamp, stamp);
}

static void test_every_type(bool big)
{
    struct look look;
    size_t count;
    uint64_t stamp = 77; // records before the first timestamp have that timestamp
    hooks_build(&hooks, big, 4096, 0);
    for (unsigned i = 0; i < ROWS; i++)
        hooks_put(&hooks, &rows[i].record);
    hooks_look(&look, &hooks);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, ROWS);
    for (unsigned i = 0; i < ROWS; i++) {
        stamp = rows[i].record.frame & HOOKS_STAMP ? rows[i].record.stamp : stamp;
        check_event(&rows[i], &events[i], stamp);
        check_entry(&rows[i], &look, &events[i]);
    }
    look_close(&look);
}

static void test_little(void **state)
{
    (void)state;
    test_every_type(false);
}

static void test_big(void **state)
{
    (void)state;
    test_every_type(true);
}

// Each record crosses the end of the buffer, split at every possible position.
static void test_over_the_end(void **state)
{
    (void)state;
    for (unsigned i = 0; i < ROWS; i++)
        for (uint32_t before = 4; before < 64; before += 4) {
            struct look look;
            size_t count;
            hooks_build(&hooks, i & 1, 64 * 4, 0U - before);
            hooks_put(&hooks, &rows[i].record);
            hooks_look(&look, &hooks);
            const struct extract_event *events = look_events(&look, &count);
            assert_int_equal(count, 1);
            check_entry(&rows[i], &look, &events[0]);
            look_close(&look);
        }
}

// Each frame or hook word contradicts its own length or type, and is alone in a ring. No record is
// shown, and all of its bytes are reported as damaged.
static void test_no_records(void **state)
{
    static const struct {
        const char *why;
        uint32_t frame, bytes; // bytes of the whole record: the frame, then zeros
        uint32_t hook;
    } bad[] = {
        {"shorter than a hook word", 4, 8, 0x10010000},
        {"length 0", 0, 8, 0x10010000},
        {"no multiple of 4", 9, 12, 0x10010000},
        {"longer than what is there", 16, 12, 0x10010000},
        {"a processor that is not there", 2U << 24 | 8, 8, 0x10010000},
        {"an unknown bit", 1U << 23 | 1 << 22 | 8, 8, 0x10010000},
        {"a wide thread id, but none", HOOKS_TID_8 | 8, 8, 0x10010000},
        {"a wide stamp, but none", HOOKS_STAMP_8 | 8, 8, 0x10010000},
        {"no room for the thread id", HOOKS_TID | 8, 8, 0x10010000},
        {"no room for the stamp", HOOKS_STAMP | HOOKS_STAMP_8 | 12, 12, 0x10010000},
        {"no room for 64 bits", HOOKS_WIDE | 8, 8, 0},
        {"type 3", 12, 12, 0x10030000},
        {"type F", 12, 12, 0x100F0000},
        {"type 1 with a word", 12, 12, 0x10010000},
        {"type 2 without", 8, 8, 0x10020000},
        {"type 6 without a word", 8, 8, 0x10060000},
        {"type E with six", 32, 32, 0x100E0000},
        {"a generic one without its data word", 8, 8, 0x10000000},
        {"a buffer that is shorter than it says", 16, 16, 0x10000005},
        {"a buffer that is longer", 20, 20, 0x10000004},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct look look;
        size_t count;
        hooks_build(&hooks, i & 1, 64, 0);
        memset(hooks.bytes + HOOKS_HEADER, 0, 64);
        hooks_poke(&hooks, 0, bad[i].frame);
        hooks_poke(&hooks, 4, bad[i].hook);
        hooks_word(&hooks, HOOKS_HEAD, bad[i].bytes);
        hooks_word(&hooks, HOOKS_RECORDS, 1);
        hooks_look(&look, &hooks);
        look_events(&look, &count);
        assert_int_equal(count, 0);
        assert_int_equal(look.snapshot.counts[EXTRACT_INVALID], 1);
        assert_int_equal(look.snapshot.index[0].length, bad[i].bytes);
        assert_false(extract_trace_info(look.trace)->lost_known);
        look_close(&look);
    }
}

// Tests the sizes in a 64-bit hook word.
static void test_wide_sizes(void **state)
{
    static const struct {
        uint64_t hook;
        unsigned words, buffer_bytes;
        bool good;
    } wide[] = {
        {UINT64_C(0x0000000812340000), 1, 0, true},  {UINT64_C(0x0000000812340000), 2, 0, false},
        {UINT64_C(0x0000000412340000), 1, 0, false}, {UINT64_C(0x4000000412340000), 1, 4, true},
        {UINT64_C(0x4000000512340000), 1, 4, false}, {UINT64_C(0x4000000512340000), 1, 8, true},
        {UINT64_C(0x4000000012340000), 0, 0, false},
    };
    (void)state;
    for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++) {
        struct hooks_record record = {.frame = HOOKS_WIDE,
                                      .hook = wide[i].hook,
                                      .words = wide[i].words,
                                      .buffer = "12345678",
                                      .buffer_bytes = wide[i].buffer_bytes};
        struct look look;
        hooks_build(&hooks, i & 1, 64, 0);
        hooks_put(&hooks, &record);
        hooks_look(&look, &hooks);
        assert_int_equal(look.snapshot.counts[EXTRACT_GOOD], wide[i].good);
        look_close(&look);
    }
}

// Buffers have lengths up to the longest that a hook word can state, below and above what a frame
// can hold. The record crosses the end of the ring's buffer.
static void test_long_buffers(void **state)
{
    static const unsigned narrow = HOOKS_TID | HOOKS_STAMP,
                          wide = HOOKS_WIDE | narrow | HOOKS_TID_8 | HOOKS_STAMP_8;
    static const struct {
        unsigned frame, bytes, length; // `bytes` of the buffer; `length` of the record
    } cases[] = {{0, 65520, 65532},      {0, 65521, 65540},      {0, 65535, 65552},
                 {narrow, 65512, 65532}, {narrow, 65513, 65540}, {narrow, 65535, 65560},
                 {wide, 65496, 65532},   {wide, 65497, 65540},   {wide, 65535, 65576}};
    static uint8_t room[EXTRACT_ENTRY_CAPACITY];
    static char buffer[65535];
    (void)state;
    for (size_t i = 0; i < sizeof buffer; i++)
        buffer[i] = (char)(i * 7 + i / 256);
    for (size_t i = 0; i < 2 * sizeof cases / sizeof *cases; i++) {
        unsigned bytes = cases[i / 2].bytes, unit = cases[i / 2].frame & HOOKS_WIDE ? 8 : 4;
        struct hooks_record record = {.frame = cases[i / 2].frame,
                                      .hook = unit == 8 ? UINT64_C(0x40000000) << 32 |
                                                              (uint64_t)bytes << 32 | 0x12300000
                                                        : 0x12300000 | bytes,
                                      .words = 1,
                                      .data = {1},
                                      .buffer = buffer,
                                      .buffer_bytes = bytes,
                                      .tid = 0x20004000,
                                      .stamp = 77};
        struct extract_entry entry;
        struct look look;
        size_t count;
        hooks_build(&hooks, i & 1, 1 << 17, (1 << 17) - 12344);
        hooks_put_plain(&hooks, 3, 70);
        uint32_t start = hooks_put(&hooks, &record);
        assert_int_equal(hooks.head - start, cases[i / 2].length);
        hooks_put_plain(&hooks, 4, 80);
        hooks_look(&look, &hooks);
        const struct extract_event *events = look_events(&look, &count);
        assert_int_equal(count, 3);
        assert_int_equal(look.snapshot.counts[EXTRACT_GOOD], 3);
        assert_true(extract_format_hook.entries->make(&look.ring, &events[1], &entry, room));
        assert_int_equal(entry.length, 2 * unit + bytes);
        assert_int_equal(entry.bytes_of_data, bytes);
        assert_memory_equal(entry.bytes + 2 * unit, buffer, bytes);
        assert_int_equal(events[1].thread, record.frame ? 0x20004000 : 0);
        assert_int_equal(events[1].raw_stamp, record.frame ? 77 : 70);
        look_close(&look);
    }
}

// A separate word for the length is valid only if the frame cannot hold the length. Each of these
// lengths makes the record damaged.
static void test_no_long_lengths(void **state)
{
    static const uint32_t lengths[] = {0, 20, 65532, 65541, 65548, 65580, 0xFFFFFFFC};
    static char buffer[65535];
    struct hooks_record record = {.hook = 0x12300000 | 65521,
                                  .words = 1,
                                  .data = {1},
                                  .buffer = buffer,
                                  .buffer_bytes = 65521};
    (void)state;
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        struct look look;
        hooks_build(&hooks, i & 1, 1 << 17, 0);
        uint32_t start = hooks_put(&hooks, &record);
        hooks_poke(&hooks, start + 4, lengths[i]);
        hooks_look(&look, &hooks);
        assert_int_equal(look.snapshot.counts[EXTRACT_GOOD], 0);
        assert_int_equal(look.snapshot.counts[EXTRACT_INVALID], 1);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_little),          cmocka_unit_test(test_big),
        cmocka_unit_test(test_over_the_end),    cmocka_unit_test(test_no_records),
        cmocka_unit_test(test_wide_sizes),      cmocka_unit_test(test_long_buffers),
        cmocka_unit_test(test_no_long_lengths),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
