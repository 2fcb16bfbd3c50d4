// SPDX-License-Identifier: MIT
// Damage: every bit of a small log flipped, every length that it can be cut to, sections that are
// gone. What is read is what was written, and what is not is counted.
#include "tests/unit/log/log_bytes.h"
#include "log/log_room.h"
#include <unistd.h>

enum { MAX_BLOCKS = 64 };

static struct maker maker;

// What reading a log has found.
struct found {
    struct extract_log_status before, after; // the blocks were read
    size_t whole;
    bool number[MAX_BLOCKS]; // of the blocks that were whole
};

static size_t offsets[MAX_BLOCKS]; // of the blocks of the log, by number
static size_t sizes[MAX_BLOCKS];

static void make_plain(uint32_t policy, unsigned sections)
{
    uint8_t status[64] = {0};
    make_begin(&maker, policy);
    for (unsigned s = 0; s < sections; s++) {
        if (s)
            make_section(&maker);
        for (unsigned i = 0; i < 3; i++)
            make_entries(&maker, 3);
        make_block(&maker, (struct extract_log_block){.type = EXTRACT_LOG_MARK, .length = 5}, 0, 0,
                   "hello");
    }
    make_block(&maker, (struct extract_log_block){.type = EXTRACT_LOG_STATUS, .length = 64}, 0, 0,
               status);
    for (size_t at = 0; at < maker.log.length;) {
        const uint8_t *h = maker.log.data + at;
        uint64_t number = get_number(h + 24, 8);
        offsets[number] = at;
        sizes[number] = HEAD + (get_number(h + 12, 4) + 7) / 8 * 8;
        at += sizes[number];
        if (at < maker.log.length && !get_number(maker.log.data + at, 4))
            at = (at + 4095) / 4096 * 4096;
    }
}

// Opens and reads everything. Whatever is given as whole must be a block of the log, bit by bit.
static bool look(const uint8_t *bytes, size_t length, struct found *found)
{
    struct extract_log *log;
    struct extract_log_block block;
    uint8_t payload[4096];
    memset(found, 0, sizeof *found);
    if (extract_log_open(&log, scratch_write("look", bytes, length), NULL))
        return false;
    found->before = *extract_log_status(log);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        assert_true(block.length <= 4096);
        if (extract_log_read(log, &block, payload, NULL))
            continue;
        const uint8_t *h = maker.log.data + offsets[block.number];
        assert_true(block.number < maker.number && !found->number[block.number]);
        assert_int_equal(block.offset, offsets[block.number]);
        assert_int_equal(block.type, get_number(h + 4, 2));
        assert_int_equal(block.count, get_number(h + 16, 4));
        assert_int_equal(block.length, get_number(h + 12, 4));
        assert_int_equal(block.first, get_number(h + 48, 8));
        assert_memory_equal(payload, h + HEAD, block.length);
        found->number[block.number] = true;
        found->whole++;
    }
    found->after = *extract_log_status(log);
    assert_int_equal(found->after.blocks, found->whole);
    extract_log_free(log);
    return true;
}

static size_t block_of(size_t offset)
{
    for (size_t i = 0; i < maker.number; i++)
        if (offset >= offsets[i] && offset < offsets[i] + sizes[i])
            return i;
    return SIZE_MAX;
}

// One bit flipped: the block that it belongs to is not given, all others are, and it is named.
static void test_flips(void **state)
{
    struct found found;
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 2);
    size_t count = maker.number;
    assert_true(look(maker.log.data, maker.log.length, &found));
    assert_int_equal(found.whole, count);
    static struct bytes copy;
    for (size_t at = 0; at < maker.log.length; at++) {
        size_t hit = block_of(at);
        copy = maker.log;
        copy.data[at] ^= (uint8_t)(1u << at % 8);
        assert_true(look(copy.data, copy.length, &found));
        if (hit == SIZE_MAX) { // between sections: nobody's
            assert_int_equal(found.whole, count);
            continue;
        }
        for (size_t i = 0; i < count; i++)
            assert_int_equal(found.number[i], i != hit);
        const struct extract_log_status *s = &found.after;
        bool last = hit == count - 1;
        assert_int_equal(s->cut, last);
        assert_int_equal(s->closed, !last);
        assert_int_equal(s->damaged, !last);
        assert_true(s->missing <= 1);
        // A damaged header leaves no count.
        uint64_t hit_entries = maker.log.data[offsets[hit] + 4] == EXTRACT_LOG_ENTRIES ? 3 : 0;
        assert_int_equal(s->entries, 18 - hit_entries);
        if (at - offsets[hit] < HEAD - 16)
            assert_int_equal(found.before.entries, s->entries);
    }
}

// Cut at any length: what is whole before it is given.
static void test_cuts(void **state)
{
    struct found found;
    (void)state;
    make_plain(EXTRACT_LOG_UNTIL_FULL, 3);
    for (size_t length = 0; length < maker.log.length; length++) {
        bool opened = look(maker.log.data, length, &found);
        assert_int_equal(opened, length >= sizes[0]);
        if (!opened)
            continue;
        size_t whole = 0;
        bool boundary = false;
        for (size_t i = 0; i < maker.number; i++) {
            bool there = offsets[i] + sizes[i] <= length;
            assert_int_equal(found.number[i], there);
            whole += there;
            boundary |= offsets[i] + sizes[i] == length;
        }
        assert_int_equal(found.whole, whole);
        assert_false(found.after.closed);
        assert_int_equal(found.after.cut, !boundary);
        assert_int_equal(found.after.damaged, 0);
    }
}

// Sections that are nothing but garbage, zeros or a hole.
static void test_sections(void **state)
{
    static const uint8_t fillings[] = {0, 0xFF, 'R'};
    struct found found;
    static struct bytes copy;
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 4); // 5 blocks a section, the last with STATUS
    for (size_t s = 0; s < 4; s++)
        for (size_t f = 0; f < sizeof fillings; f++) {
            size_t end = s < 3 ? (s + 1) * 4096 : maker.log.length;
            copy = maker.log;
            memset(copy.data + s * 4096, fillings[f], end - s * 4096);
            assert_true(look(copy.data, copy.length, &found));
            for (size_t i = 0; i < maker.number; i++)
                assert_int_equal(found.number[i], i / 5 != s && !(s == 3 && i == 20));
            assert_int_equal(found.after.missing, s < 3 ? 5 : 0);
            assert_int_equal(found.after.damaged, s < 3);
            assert_int_equal(found.after.cut, s == 3);
            assert_int_equal(found.after.closed, s < 3);
        }
}

// A range in the middle of a section is damaged: reading continues after it.
static void test_stretch(void **state)
{
    struct found found;
    static struct bytes copy;
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 2);
    copy = maker.log;
    memset(copy.data + offsets[1] + 8, 0x55, sizes[1] + 16); // into block 2
    assert_true(look(copy.data, copy.length, &found));
    for (size_t i = 0; i < maker.number; i++)
        assert_int_equal(found.number[i], i != 1 && i != 2);
    assert_int_equal(found.after.damaged, 1);
    assert_int_equal(found.after.damaged_bytes, sizes[1] + sizes[2]);
    assert_int_equal(found.after.missing, 2);
}

// A wrong length hides no blocks after it, with or without a checksum of the header.
static void test_wrong_length(void **state)
{
    struct found found;
    static struct bytes copy;
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 2);
    for (uint32_t length = 27; length < 4096; length += 3) {
        copy = maker.log;
        put_number(copy.data + offsets[1] + 12, length, 4);
        memset(copy.data + offsets[1] + 72, 0, length % 2 ? 8 : 0);
        assert_true(look(copy.data, copy.length, &found));
        for (size_t i = 0; i < maker.number; i++)
            assert_int_equal(found.number[i], i != 1);
        assert_int_equal(found.after.damaged, 1);
    }
}

// What an earlier turn left is not part of the log, whole as it is.
static void test_left_over(void **state)
{
    struct found found;
    (void)state;
    make_plain(EXTRACT_LOG_LOOP, 4);
    // In the second turn, section 4 is where section 0 was, and one block of that was longer.
    struct maker turn = maker;
    turn.log.length = 0;
    turn.section = 3;
    turn.log.length = 1; // make_section goes to the next boundary, which is then moved to 0
    make_section(&turn);
    size_t length = turn.log.length - 4096;
    assert_int_equal(length, 208);
    memcpy(maker.log.data, turn.log.data + 4096, length);
    maker.number = turn.number;
    offsets[21] = 0;
    sizes[21] = 208;
    offsets[0] = SIZE_MAX / 2;
    assert_true(look(maker.log.data, maker.log.length, &found));
    assert_int_equal(found.after.dropped, 5);
    assert_int_equal(found.whole, 17); // sections 1 to 3 with STATUS, and the new one
    for (size_t i = 0; i < maker.number; i++)
        assert_int_equal(found.number[i], i >= 5);
    assert_true(!found.after.damaged && !found.after.missing && !found.after.closed);
    // The writer was killed while it wrote the next SECTION: the rest of what it was replacing is
    // still there.
    memset(maker.log.data + 4096, 0x99, 100);
    assert_true(look(maker.log.data, maker.log.length, &found));
    assert_int_equal(found.after.dropped, 6);
    assert_true(found.after.cut && !found.after.damaged && !found.after.missing);
    assert_int_equal(found.whole, 16);
}

// A file that claims to be huge is a single hole.
static void test_hole(void **state)
{
    struct found found;
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 1);
    make_file(&maker, "hole");
    assert_int_equal(truncate(scratch_path("hole"), (off_t)1 << 42), 0);
    struct extract_log *log = open_log(scratch_path("hole"));
    assert_int_equal(extract_log_status(log)->blocks, maker.number);
    assert_true(extract_log_status(log)->cut);
    extract_log_free(log);
    assert_int_equal(truncate(scratch_path("hole"), 0), 0);
    assert_int_equal(truncate(scratch_path("hole"), (off_t)1 << 42), 0);
    assert_int_equal(extract_log_open(&log, scratch_path("hole"), NULL), EXTRACT_BAD);
    memset(&found, 0, sizeof found);
}

// A block changes between the reading of its header and the reading of its payload.
static void test_changed_meanwhile(void **state)
{
    struct extract_log_block block;
    struct extract_error error = {0};
    uint8_t payload[64] = {0};
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 1);
    const char *path = make_file(&maker, "meanwhile");
    struct extract_log *log = open_log(path);
    assert_true(extract_log_block_at(log, 1, &block));
    assert_int_equal(block.length, 24);
    // A whole block with a longer payload in its place: no byte too many is written.
    struct bytes *other = calloc(1, sizeof *other);
    static const uint8_t longer[48];
    struct extract_log_block wrong = block;
    wrong.length = 48;
    bytes_block(other, &wrong, 0, 0, longer);
    FILE *file = fopen(path, "r+b");
    assert_int_equal(fseek(file, (long)block.offset, SEEK_SET), 0);
    assert_int_equal(fwrite(other->data, 1, other->length, file), other->length);
    fclose(file);
    memset(payload, 0xEE, sizeof payload);
    log->window.length = 0; // what it has read ahead is whole, and old
    assert_error(extract_log_read(log, &block, payload, &error), EXTRACT_BAD, &error, path,
                 "damaged");
    for (size_t i = 24; i < sizeof payload; i++)
        assert_int_equal(payload[i], 0xEE);
    free(other);
    assert_int_equal(extract_log_status(log)->damaged, 1);
    assert_int_equal(extract_log_read(log, &block, payload, NULL), EXTRACT_BAD);
    assert_int_equal(extract_log_status(log)->damaged, 1); // counted once
    // The file ends before the block.
    assert_true(extract_log_block_at(log, 3, &block));
    assert_int_equal(truncate(path, 300), 0);
    log->window.length = 0;
    assert_int_equal(extract_log_read(log, &block, payload, NULL), EXTRACT_BAD);
    extract_log_free(log);
}

// ---- Damage, and a log that is continued after it ----

// The blocks that are whole: type, number, offset, value.
struct listed {
    uint64_t block[MAX_BLOCKS][4];
    size_t count;
    struct extract_log_status status;
};

static void list_whole(const char *path, struct listed *listed)
{
    struct extract_log_block block;
    uint8_t payload[4096];
    struct extract_log *log = open_log(path);
    memset(listed, 0, sizeof *listed);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        assert_true(block.length <= sizeof payload && listed->count < MAX_BLOCKS);
        if (extract_log_read(log, &block, payload, NULL))
            continue;
        uint64_t *b = listed->block[listed->count++];
        b[0] = block.type;
        b[1] = block.number;
        b[2] = block.offset;
        b[3] = block.value;
    }
    listed->status = *extract_log_status(log);
    extract_log_free(log);
}

// Continues a log twice. Each time, everything that was complete before is still complete, and two
// blocks of the writer follow. The first SECTION states `ended`.
static void check_continued(const uint8_t *bytes, size_t length, uint64_t ended)
{
    struct listed before, after;
    const char *path = scratch_write("continued", bytes, length);
    list_whole(path, &before);
    for (unsigned turn = 0; turn < 2; turn++, before = after) {
        assert_int_equal(extract_log_close(create_log(path, EXTRACT_LOG_APPEND, 0), NULL),
                         EXTRACT_OK);
        list_whole(path, &after);
        assert_int_equal(after.count, before.count + 2);
        assert_memory_equal(after.block, before.block, before.count * sizeof *before.block);
        assert_int_equal(after.status.entries, before.status.entries);
        assert_int_equal(after.status.damaged, before.status.damaged);
        assert_int_equal(after.status.missing, before.status.missing);
        assert_true(after.status.closed && !after.status.cut);
        const uint64_t *section = after.block[before.count];
        assert_int_equal(section[0], EXTRACT_LOG_SECTION);
        assert_int_equal(section[3],
                         turn ? section[2] - 4096 + SECTION_HEAD + STATUS_BLOCK : ended);
    }
}

// A block of ENTRIES in a section whose header is lost. Its payload contains a complete block of
// another section, followed by zeros, which are damaged. If they were zeros again, the block would
// be complete and hide what is inside it.
static void test_append_behind_shell(void **state)
{
    static struct bytes inner;
    static uint8_t slots[800];
    (void)state;
    make_begin(&maker, EXTRACT_LOG_APPEND);
    make_entries(&maker, 9);
    size_t start = make_section(&maker);
    inner.length = 0;
    bytes_block(&inner,
                &(struct extract_log_block){
                    .type = EXTRACT_LOG_MARK, .length = 5, .number = 22, .section = 4},
                0, 0, "hello");
    memset(slots, 0, sizeof slots);
    memcpy(slots + 160, inner.data, inner.length);
    size_t shell = make_block(
        &maker,
        (struct extract_log_block){
            .type = EXTRACT_LOG_ENTRIES, .length = sizeof slots, .count = 100, .first = 9},
        0, 0, slots);
    memset(maker.log.data + start, 0, shell - start);
    memset(maker.log.data + shell + HEAD + 160 + inner.length, 0x55, 800 - 160 - inner.length);
    struct listed found;
    list_whole(scratch_write("shell", maker.log.data, maker.log.length), &found);
    assert_int_equal(found.count, 3); // SECTION, ENTRIES, and what was inside
    assert_int_equal(found.block[2][2], shell + HEAD + 160);
    check_continued(maker.log.data, maker.log.length, maker.log.length);
}

// The last block lacks only the zeros at its end. It is not a block, and does not become one later.
static void test_append_behind_zeros(void **state)
{
    static const uint8_t zeros[64];
    (void)state;
    make_begin(&maker, EXTRACT_LOG_APPEND);
    make_entries(&maker, 9);
    size_t last =
        make_block(&maker,
                   (struct extract_log_block){
                       .type = EXTRACT_LOG_ENTRIES, .length = sizeof zeros, .count = 8, .first = 9},
                   0, 0, zeros);
    for (size_t length = last; length < maker.log.length; length += 4)
        check_continued(maker.log.data, length, length);
}

// Any byte of a log is another: what is continued is what was there.
static void test_append_behind_flips(void **state)
{
    static struct bytes copy;
    (void)state;
    make_plain(EXTRACT_LOG_APPEND, 2);
    for (size_t at = 0; at < maker.log.length; at += 7) {
        if (block_of(at) == SIZE_MAX)
            continue;
        copy = maker.log;
        copy.data[at] ^= (uint8_t)(1u << at % 8);
        check_continued(copy.data, copy.length, copy.length);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_flips),
        cmocka_unit_test(test_cuts),
        cmocka_unit_test(test_sections),
        cmocka_unit_test(test_stretch),
        cmocka_unit_test(test_wrong_length),
        cmocka_unit_test(test_left_over),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_changed_meanwhile),
        cmocka_unit_test(test_append_behind_shell),
        cmocka_unit_test(test_append_behind_zeros),
        cmocka_unit_test(test_append_behind_flips),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
