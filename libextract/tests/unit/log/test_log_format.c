// SPDX-License-Identifier: MIT
// The bytes of a log: what the library writes, against bytes that were computed from the text of
// docs/formats/log.md; what it reads of bytes that it did not write.
#include "tests/unit/log/log_bytes.h"
#include "log/log_block.h"

static struct maker maker;

// MARK 9 (filter), number 2, section 0, "on now": computed from the text with a script.
static const uint8_t mark_bytes[104] = {
    0x52, 0x4c, 0x42, 0x4b, 0x06, 0x00, 0x09, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x88, 0x77, 0x66, 0x55, 0x44,
    0x33, 0x22, 0x11, 0x05, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x32, 0x54, 0x76,
    0x98, 0xba, 0xdc, 0xfe, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0xde, 0x79, 0x4c,
    0x44, 0x0d, 0x00, 0x00, 0x00, 0xa2, 0x43, 0x72, 0xd9, 0x02, 0x00, 0x00, 0x00, 0x3e, 0xbc,
    0x18, 0x7b, 0x21, 0x00, 0x00, 0x00, 0x6f, 0x6e, 0x20, 0x6e, 0x6f, 0x77, 0x00, 0x00};

// ENTRIES, two slots of 5 bytes, the second provisional, with stamps.
static const uint8_t entries_bytes[112] = {
    0x52, 0x4c, 0x42, 0x4b, 0x04, 0x00, 0x00, 0x00, 0x0c, 0x00, 0x00, 0x00, 0x0a, 0x00, 0x00, 0x00,
    0x02, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x03, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x80,
    0x07, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x10, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0xff, 0xff, 0xff, 0xff, 0x00, 0x00, 0x00, 0x00, 0xdb, 0x9f, 0xa9, 0xca, 0x0a, 0x00, 0x00, 0x00,
    0x6d, 0x0e, 0xf6, 0xa1, 0x02, 0x00, 0x00, 0x00, 0xa2, 0xa9, 0x02, 0xce, 0x24, 0x00, 0x00, 0x00,
    0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x08, 0x09, 0x0a, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00};

static size_t load(const char *path, uint8_t *bytes, size_t size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    size_t length = fread(bytes, 1, size, file);
    fclose(file);
    return length;
}

static void test_sum(void **state)
{
    static uint8_t bytes[4200];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * i * 31 + (i >> 3) + 0xE7);
    for (size_t start = 0; start < 8; start++)
        for (size_t length = 0; length < 200; length += 4) {
            struct log_sums sums = {length << 40, start};
            uint64_t one = length << 40, two = start;
            extract_log_sum(&sums, bytes + start, length);
            plain_sum(bytes + start, length, &one, &two);
            assert_int_equal(sums.one, one);
            assert_int_equal(sums.two, two);
        }
    memset(bytes, 0xFF, sizeof bytes); // every carry
    struct log_sums sums = {0, 0};
    uint64_t one = 0, two = 0;
    extract_log_sum(&sums, bytes, 4196);
    plain_sum(bytes, 4196, &one, &two);
    assert_true(sums.one == one && sums.two == two);
}

static void test_written_bytes(void **state)
{
    static uint8_t bytes[8192];
    static const uint8_t slots[10] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10};
    const char *path = scratch_path("bytes");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, 16384);
    struct extract_log_block mark = {.type = EXTRACT_LOG_MARK,
                                     .kind = EXTRACT_MARK_FILTER,
                                     .first = 5,
                                     .value = 0xfedcba9876543210,
                                     .length = 6,
                                     .wall = 0x1122334455667788};
    struct extract_log_block entries = {.type = EXTRACT_LOG_ENTRIES,
                                        .flags = EXTRACT_LOG_PROVISIONAL | EXTRACT_LOG_STAMPS,
                                        .first = 7,
                                        .count = 2,
                                        .provisional = 1,
                                        .first_stamp = 0x1000,
                                        .last_stamp = 0xFFFFFFFF,
                                        .length = 10,
                                        .wall = 0x8000000000000001};
    (void)state;
    assert_int_equal(extract_log_put(writer, &mark, "on now", NULL), EXTRACT_OK);
    assert_int_equal(extract_log_put(writer, &entries, slots, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_written(writer), SECTION_HEAD + 104 + 112);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    assert_int_equal(load(path, bytes, sizeof bytes), SECTION_HEAD + 104 + 112 + STATUS_BLOCK);
    assert_memory_equal(bytes + SECTION_HEAD, mark_bytes, sizeof mark_bytes);
    assert_memory_equal(bytes + SECTION_HEAD + 104, entries_bytes, sizeof entries_bytes);
}

// SECTION, its copy and STATUS, but for the time of day.
static void test_own_blocks(void **state)
{
    static uint8_t bytes[8192];
    static struct bytes expected;
    const char *path = scratch_path("own");
    struct extract_log_options options = {
        .size = sizeof options, .limit = 20000, .section_bytes = 4096, .creator = "unit test"};
    struct extract_log_writer *writer;
    struct extract_memory_cost cost = {.reads = 11, .bytes = 12, .failed = 13};
    uint8_t section[SECTION_PAYLOAD] = "RINGSIDE", status[64] = {0};
    (void)state;
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_OK);
    extract_log_note_cost(writer, 10, &cost);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    assert_int_equal(load(path, bytes, sizeof bytes), SECTION_HEAD + STATUS_BLOCK);
    put_number(section + 8, 2, 4);
    put_number(section + 12, 4096, 4);
    put_number(section + 24, 20000, 8);
    put_number(section + 40, 4, 4);
    memcpy(section + 32, bytes + HEAD + 32, 8); // created
    strcpy((char *)section + 48, "unit test");
    put_number(status + 16, 1, 8); // nothing lost: exact
    for (unsigned i = 0; i < 4; i++)
        put_number(status + 24 + 8 * i, 10 + i, 8);
    for (unsigned copy = 0; copy < 2; copy++) // the copy is one block after its original
        bytes_block(
            &expected,
            &(struct extract_log_block){.type = EXTRACT_LOG_SECTION,
                                        .length = SECTION_PAYLOAD,
                                        .number = copy,
                                        .wall = get_number(bytes + copy * SECTION_BLOCK + 40, 8)},
            0, copy, section);
    bytes_block(&expected,
                &(struct extract_log_block){.type = EXTRACT_LOG_STATUS,
                                            .length = 64,
                                            .number = 2,
                                            .wall = get_number(bytes + SECTION_HEAD + 40, 8)},
                0, 0, status);
    assert_memory_equal(bytes, expected.data, expected.length);
    assert_true(get_number(bytes + 40, 8) > UINT64_C(1600000000000000000)); // after 2020
    struct extract_log *log = open_log(path);
    const struct extract_log_totals *totals = &extract_log_status(log)->totals;
    assert_true(extract_log_status(log)->closed && totals->lost_exact);
    assert_int_equal(totals->polls, 10);
    assert_int_equal(totals->reads, 11);
    assert_int_equal(totals->bytes, 12);
    assert_int_equal(totals->failed, 13);
    extract_log_free(log);
}

// ---- Reading what another wrote ----

static void make_all(void)
{
    uint8_t status[64] = {0};
    make_begin(&maker, EXTRACT_LOG_UNTIL_FULL);
    make_block(&maker,
               (struct extract_log_block){
                   .type = EXTRACT_LOG_MARK, .kind = EXTRACT_MARK_RESET, .length = 3},
               99, 0, "abc");
    make_entries(&maker, 5);
    make_block(&maker,
               (struct extract_log_block){.type = EXTRACT_LOG_LOSS,
                                          .kind = EXTRACT_LOSS_LAPPED,
                                          .flags = EXTRACT_LOG_LOSS_ABOUT,
                                          .first = 30},
               25, 8, "");
    maker.next = 30;
    make_entries(&maker, 1);
    make_block(&maker, (struct extract_log_block){.type = 99, .kind = 7, .length = 2}, 1, 2, "zz");
    make_section(&maker);
    make_entries(&maker, 2);
    put_number(status, 8, 8);
    put_number(status + 8, 25, 8);
    make_block(&maker, (struct extract_log_block){.type = EXTRACT_LOG_STATUS, .length = 64}, 0, 0,
               status);
}

static void check_all(struct extract_log *log)
{
    static const uint16_t types[] = {1, 6, 4, 5, 4, 99, 1, 4, 7};
    uint8_t payload[4096];
    struct extract_log_block block;
    for (size_t i = 0; i < 9; i++) {
        block = read_whole(log, i, payload, sizeof payload);
        assert_int_equal(block.type, types[i]);
        assert_int_equal(block.number, i);
        assert_int_equal(block.index, i);
        assert_int_equal(block.wall, WALL + i + 1);
        if (block.type == EXTRACT_LOG_ENTRIES)
            check_entries(&block, payload);
    }
    assert_false(extract_log_block_at(log, 9, &block));
    block = read_whole(log, 1, payload, sizeof payload);
    assert_int_equal(block.kind, EXTRACT_MARK_RESET);
    assert_int_equal(block.value, 99);
    assert_memory_equal(payload, "abc", 3);
    block = read_whole(log, 3, payload, sizeof payload);
    // Of an estimate, only the remainder is certain. Numbers of entries continue after all of it.
    assert_int_equal(block.lost, 25 % 8);
    assert_int_equal(block.modulo, 8);
    assert_int_equal(block.numbers, 25);
    assert_int_equal(block.first, 30);
    block = read_whole(log, 7, payload, sizeof payload);
    assert_int_equal(block.first, 31);
    assert_int_equal(block.section, 1);
    assert_int_equal(block.offset, 4096 + 208);
}

static void check_all_status(const struct extract_log_status *s)
{
    assert_int_equal(s->policy, EXTRACT_LOG_UNTIL_FULL);
    assert_int_equal(s->limit, 4 * 4096);
    assert_int_equal(s->section_bytes, 4096);
    assert_int_equal(s->created, 77);
    assert_string_equal(s->creator, "by hand");
    assert_int_equal(s->blocks, 9);
    assert_int_equal(s->entries, 8);
    assert_int_equal(s->lost, 25 % 8);
    assert_int_equal(s->totals.entries, 8);
    assert_int_equal(s->totals.lost, 25);
    assert_true(s->closed && !s->lost_known && !s->cut && !s->writing && !s->full);
    assert_true(!s->damaged && !s->missing && !s->dropped && !s->damaged_bytes);
    assert_false(s->totals.lost_exact);
}

static void test_read(void **state)
{
    (void)state;
    make_all();
    struct extract_log *log = open_log(make_file(&maker, "read"));
    check_all_status(extract_log_status(log));
    check_all(log);
    assert_int_equal(extract_log_seek(log, 0), 0);
    assert_int_equal(extract_log_seek(log, WALL + 4), 3);
    assert_int_equal(extract_log_seek(log, WALL + 9), 8);
    assert_int_equal(extract_log_seek(log, WALL + 10), 9);
    extract_log_free(log);
}

// A writer need not give the sums of heads.
static void test_read_without_head_sums(void **state)
{
    (void)state;
    make_all();
    for (size_t at = 0; at < maker.log.length;) {
        uint8_t *h = maker.log.data + at;
        size_t size = HEAD + (get_number(h + 12, 4) + 7) / 8 * 8;
        uint64_t one = 0, two = 0;
        memset(h + 72, 0, 24);
        plain_sum(h, size, &one, &two);
        put_number(h + 80, one, 8);
        put_number(h + 88, two, 8);
        at += size;
        if (at < 4096 && !get_number(maker.log.data + at, 4))
            at = 4096;
    }
    struct extract_log *log = open_log(make_file(&maker, "plain"));
    check_all_status(extract_log_status(log));
    check_all(log);
    extract_log_free(log);
}

static void test_is(void **state)
{
    (void)state;
    make_all();
    assert_true(extract_log_is(maker.log.data, maker.log.length));
    assert_true(extract_log_is(maker.log.data, HEAD + 8));
    assert_false(extract_log_is(maker.log.data, HEAD + 7));
    assert_false(extract_log_is(maker.log.data, 0));
    maker.log.data[0] ^= 1; // one of its two marks is enough
    assert_true(extract_log_is(maker.log.data, maker.log.length));
    maker.log.data[HEAD] ^= 1;
    assert_false(extract_log_is(maker.log.data, maker.log.length));
    maker.log.data[0] ^= 1;
    assert_true(extract_log_is(maker.log.data, maker.log.length));
}

static void expect_open(const char *path, enum extract_code code, const char *why)
{
    struct extract_log *log;
    struct extract_error error = {0};
    assert_error(extract_log_open(&log, path, &error), code, &error, path, why);
    assert_null(log);
}

// Changes a number in the first SECTION's payload, of a version and length, and seals it again.
static const char *with_fact_of(uint32_t version, uint32_t length, unsigned at, uint64_t value)
{
    static struct bytes changed;
    uint8_t payload[SECTION_PAYLOAD] = {0};
    make_all();
    memcpy(payload, maker.log.data + HEAD, SECTION_PAYLOAD_1);
    put_number(payload + 8, version, 4);
    put_number(payload + at, value, 4);
    changed.length = 0;
    bytes_block(&changed, &(struct extract_log_block){.type = 1, .length = length}, 0, 0, payload);
    return scratch_write("facts", changed.data, changed.length);
}

static const char *with_fact(unsigned at, uint64_t value)
{
    return with_fact_of(2, SECTION_PAYLOAD, at, value);
}

static void expect_opened(const char *path)
{
    struct extract_log *log = open_log(path);
    assert_true(!extract_log_status(log)->damaged && !extract_log_status(log)->missing);
    extract_log_free(log);
}

// A number that version 1 did not use, and the place of an index, which no reader needs.
static void test_reserved(void **state)
{
    enum { COMPRESSION = 44, INDEX = 112 };
    static struct bytes continued;
    (void)state;
    expect_opened(with_fact(INDEX, 4096));
    expect_opened(with_fact_of(1, SECTION_PAYLOAD_1, COMPRESSION, 9));
    expect_open(with_fact(COMPRESSION, 9), EXTRACT_UNSUPPORTED, "compression method 9");
    // A later writer that continued a log may have done so from there on.
    uint8_t payload[SECTION_PAYLOAD] = {0};
    make_begin(&maker, EXTRACT_LOG_APPEND);
    make_entries(&maker, 9);
    continued = maker.log;
    memcpy(payload, maker.log.data + HEAD, SECTION_PAYLOAD_1);
    for (unsigned later = 0; later < 2; later++) {
        put_number(payload + 8, later ? 3 : 2, 4);
        put_number(payload + COMPRESSION, later ? 0 : 1, 4);
        memset(continued.data + maker.log.length, 0, 4096 - maker.log.length);
        continued.length = 4096;
        bytes_block(&continued,
                    &(struct extract_log_block){
                        .type = 1, .length = SECTION_PAYLOAD, .number = 2, .section = 1},
                    maker.log.length, 0, payload);
        expect_open(scratch_write("continued", continued.data, continued.length),
                    EXTRACT_UNSUPPORTED, later ? "version 3" : "compression method 1");
    }
}

static void test_refused(void **state)
{
    (void)state;
    expect_open(scratch_path("not there"), EXTRACT_IO, "No such file");
    expect_open(scratch_puts("empty", ""), EXTRACT_BAD, "no valid block");
    expect_open(scratch_puts("text", "RLBK, but no log"), EXTRACT_BAD, "no valid block");
    expect_open(scratch_folder, EXTRACT_USAGE, "regular");
    expect_open("/dev/null", EXTRACT_USAGE, "regular");
    assert_true(scratch_run("mkfifo fifo"));
    expect_open(scratch_path("fifo"), EXTRACT_USAGE, "regular");
    expect_open(with_fact(8, 3), EXTRACT_UNSUPPORTED, "version 3");
    expect_open(with_fact_of(2, SECTION_PAYLOAD_1, 44, 0), EXTRACT_BAD,
                "every block that contains");
    expect_open(with_fact(8, 0), EXTRACT_BAD, "every block that contains");
    expect_open(with_fact(12, 0), EXTRACT_BAD, "every block that contains");
    expect_open(with_fact(12, 4097), EXTRACT_BAD, "every block that contains");
    expect_open(with_fact(12, 128 << 20), EXTRACT_BAD, "every block that contains");
    expect_open(with_fact(16, 3), EXTRACT_BAD, "every block that contains");
    expect_open(with_fact(20, 3), EXTRACT_BAD, "every block that contains");
    expect_open(with_fact(40, 0), EXTRACT_BAD, "every block that contains");
}

// The name of its maker reaches terminals.
static void test_creator_is_escaped(void **state)
{
    struct extract_log_options options = {.size = sizeof options, .creator = "a\x1b[2Jb"};
    struct extract_log_writer *writer;
    (void)state;
    assert_int_equal(extract_log_create(&writer, scratch_path("creator"), &options, NULL),
                     EXTRACT_OK);
    extract_log_close(writer, NULL);
    struct extract_log *log = open_log(scratch_path("creator"));
    assert_string_equal(extract_log_status(log)->creator, "a\\x1b[2Jb");
    extract_log_free(log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_sum),
        cmocka_unit_test(test_written_bytes),
        cmocka_unit_test(test_own_blocks),
        cmocka_unit_test(test_read),
        cmocka_unit_test(test_read_without_head_sums),
        cmocka_unit_test(test_is),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_reserved),
        cmocka_unit_test(test_creator_is_escaped),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
