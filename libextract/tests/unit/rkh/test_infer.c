// SPDX-License-Identifier: MIT
// Tests RKH streams that do not state all settings. Damaged frames must not decide a setting,
// several settings may fit equally well, and half a frame may look like a complete one. Truth:
// bytes worked out by hand.
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"

#define NARROW "ac 00 34 fe f7 01 00 22 24 22 01 24 e8 03"

enum { MIXED = 60, POSTS = 8 };

static struct rkh_bytes stream;
static struct extract_error error;

static enum extract_code look_at(struct look *look, const char *words)
{
    scratch_write("stream", stream.bytes, stream.length);
    return rkh_look(look, scratch_path("stream"), words, &error);
}

// Makes a stream of RKH 3.x: numbers of 1 byte, timestamps and addresses of 4, signals of 1.
static void put_mixed(bool chk)
{
    static const struct rkh_mix mix = {4, 4, 1, 0};
    rkh_begin(&stream, chk);
    rkh_mixed(&stream, &mix, MIXED);
}

// Makes posts without a sender. Their last two bytes are nelem and nmin, or nelem alone.
static void put_posts(uint8_t last)
{
    for (uint8_t i = 0; i < POSTS; i++) {
        const uint8_t frame[] = {0x43, MIXED + i, i, 0, 0, 0, 0, 0, 0, 0x20, 5, 0, 0, 1, last};
        rkh_frame_of(&stream, frame, sizeof frame);
    }
}

static void test_one_or_two(void **state)
{
    struct look look;
    (void)state;
    put_mixed(true);
    put_posts(0);
    assert_int_equal(look_at(&look, ""), EXTRACT_BAD);
    assert_non_null(strstr(error.why, "nelem=1,qnmin=1,sndr=0 or nelem=2,qnmin=0,sndr=0"));
    assert_int_equal(look_at(&look, "nelem=2"), EXTRACT_OK);
    assert_int_equal(look.snapshot.ring.rkh.value[EXTRACT_RKH_QNMIN], 0);
    assert_int_equal(extract_trace_info(look.trace)->entries_valid, MIXED + POSTS);
    look_close(&look);
}

// The reader decides for the more likely setting: one event in a queue and space for three, not 769
// events.
static void test_likely(void **state)
{
    struct look look;
    (void)state;
    put_mixed(true);
    put_posts(3);
    assert_int_equal(look_at(&look, ""), EXTRACT_OK);
    const struct extract_rkh *rkh = &look.snapshot.ring.rkh;
    assert_int_equal(rkh->value[EXTRACT_RKH_NELEM], 1);
    assert_int_equal(rkh->value[EXTRACT_RKH_QNMIN], 1);
    assert_int_equal(rkh->from[EXTRACT_RKH_QNMIN], EXTRACT_RKH_INFERENCE);
    look_close(&look);
}

// A frame that looks like MP_INIT of another layout has a wrong checksum, or is alone among damage.
// It must not decide a setting.
static void test_damage_is_not_asked(void **state)
{
    struct look look;
    (void)state;
    put_mixed(true);
    rkh_raw(&stream, "\0\1\2\3\4\5\6\7\x8\x9\xa\xb\xc\xd\x7e", 15);
    assert_int_equal(look_at(&look, ""), EXTRACT_OK);
    assert_int_equal(look.snapshot.ring.rkh.value[EXTRACT_RKH_BSIZE], 1);
    assert_int_equal(look.snapshot.ring.rkh.from[EXTRACT_RKH_BSIZE], EXTRACT_RKH_DEFAULT);
    look_close(&look);
    put_mixed(false);
    rkh_hex(&stream, "00 01 02 03 04 05 06 07 08 09 0a 0b 0c");
    rkh_hex(&stream, "00 01 02");
    assert_int_equal(look_at(&look, ""), EXTRACT_OK);
    assert_int_equal(look.snapshot.ring.rkh.from[EXTRACT_RKH_BSIZE], EXTRACT_RKH_DEFAULT);
    look_close(&look);
}

static void put_processed(uint8_t seq, uint16_t stamp)
{
    const uint8_t frame[] = {0x69, seq, (uint8_t)stamp, (uint8_t)(stamp >> 8), 0x34, 0x12};
    rkh_frame_of(&stream, frame, sizeof frame);
}

// Half a frame looks complete, since there is no checksum. It is damaged, because its number is not
// between those of its neighbors.
static void test_half_a_frame(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, false);
    rkh_hex(&stream, NARROW);
    put_processed(10, 100);
    put_processed(11, 110);
    put_processed(200, 90); // half of the frame with number 19
    put_processed(20, 200);
    put_processed(21, 210);
    put_processed(30, 300); // 8 frames are lost, and the number is right
    put_processed(40, 400); // 9 frames are lost
    put_processed(41, 410);
    assert_int_equal(look_at(&look, ""), EXTRACT_OK);
    const struct extract_info *info = extract_trace_info(look.trace);
    assert_int_equal(info->entries_valid, 9);
    assert_int_equal(info->events_lost, 7 + 8 + 9);
    assert_int_equal(info->span_ticks, 310);
    look_close(&look);
}

// Before 2.3, ids have no group. The frames fit no setting, and the error names the versions that
// may have written them.
static void test_other_ids(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    for (uint8_t i = 0; i < POSTS; i++) {
        const uint8_t frame[] = {(uint8_t)(10 + i % 8), i, i, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7};
        rkh_frame_of(&stream, frame, sizeof frame);
    }
    assert_int_equal(look_at(&look, ""), EXTRACT_BAD);
    assert_non_null(strstr(error.hint, "2.0 to 2.2"));
    assert_int_equal(look_at(&look, "version=2.1"), EXTRACT_UNSUPPORTED);
}

// Another firmware has functions of another size, which its record does not state.
static void test_functions_of_two(void **state)
{
    static const struct rkh_mix mix = {2, 2, 2, 0};
    struct look look;
    (void)state;
    rkh_begin(&stream, false);
    rkh_hex(&stream, "ac 00 34 ff ff 01 00 14 42 11 02 14 e8 03");
    for (uint8_t i = 0; i < POSTS; i++) {
        const uint8_t frame[] = {0xA9, i, i, 0, 0, 0, 1, 2, 3, 4};
        rkh_frame_of(&stream, frame, sizeof frame);
    }
    rkh_hex(&stream, NARROW);
    rkh_mixed(&stream, &mix, 4);
    for (uint8_t i = 4; i < POSTS; i++) {
        const uint8_t frame[] = {0xA9, i, i, 0, 1, 2};
        rkh_frame_of(&stream, frame, sizeof frame);
    }
    assert_int_equal(look_at(&look, ""), EXTRACT_OK);
    assert_int_equal(extract_trace_info(look.trace)->entries_valid, 2 + 2 * POSTS);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 0);
    look_close(&look);
}

// A port whose pointers have neither 16 nor 32 bits sends 32 bits.
static void test_wide_pointers(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_hex(&stream, "ac 00 34 ff ff 03 00 14 82 11 02 14 e8 03");
    rkh_hex(&stream, "69 00 00 00 00 00 10 00 00 20");
    assert_int_equal(look_at(&look, ""), EXTRACT_OK);
    assert_int_equal(look.snapshot.ring.rkh.value[EXTRACT_RKH_PTR], 4);
    assert_int_equal(look.snapshot.ring.rkh.from[EXTRACT_RKH_PTR], EXTRACT_RKH_TCFG);
    assert_int_equal(extract_trace_info(look.trace)->entries_valid, 2);
    look_close(&look);
}

// Tests all ids of the test group in 2.4.5. One of these frames contains the id of another event,
// and that id is also numbered as in 2.4.5.
static void test_old_tests(void **state)
{
    struct look look;
    (void)state;
    rkh_begin(&stream, false);
    rkh_hex(&stream, "ae 05 24 fe f7 00 00 24 24 11 02 14 e8 03");
    rkh_hex(&stream, "e7 00000000 0100 02");
    rkh_hex(&stream, "e4 00000000 ab00 1234");
    rkh_hex(&stream, "e8");
    rkh_hex(&stream, "e9");
    rkh_hex(&stream, "ea");
    assert_int_equal(look_at(&look, "nseq=0,ts=0,fun=2"), EXTRACT_OK);
    assert_int_equal(extract_trace_info(look.trace)->entries_valid, 5);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 1);
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_one_or_two),          cmocka_unit_test(test_likely),
        cmocka_unit_test(test_damage_is_not_asked), cmocka_unit_test(test_half_a_frame),
        cmocka_unit_test(test_other_ids),           cmocka_unit_test(test_functions_of_two),
        cmocka_unit_test(test_wide_pointers),       cmocka_unit_test(test_old_tests),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
