// SPDX-License-Identifier: MIT
// Tests streams of several runs of a target, whose TCFG records state different layouts. Each run
// has its own losses, clock and settings, and the totals follow from them. Truth: worked out by
// hand from docs/formats/rkh.md, "Runs".
#include "tests/unit/trazer/rkh_stream.h"

// Records of 3.4.00. WIDE has everything on, with 4-byte timestamps at 1000 Hz. FAST is the same at
// 2000 Hz. CUT has the rate that 16 bits hold of 1000000 Hz. NARROW has 2-byte timestamps and
// addresses, and no checksum. UNTIMED has no numbers, no timestamps and 4-byte signals.
#define WIDE    "0034 FFFF0300 14 42 11 02 14 E803"
#define FAST    "0034 FFFF0300 14 42 11 02 14 D007"
#define CUT     "0034 FFFF0300 14 42 11 02 14 4042"
#define NARROW  "0034 FEF70100 22 24 22 01 24 E803"
#define UNTIMED "0034 FF7F0200 44 42 11 02 14 E803"

enum { PROCESSED = 105 };

static struct stream s;

// Begins a run. The arguments tell which parts its frames have.
static void begin(const char *record, unsigned nseq, unsigned ts, bool chk)
{
    if (!s.used)
        stream_init(&s, nseq, ts, chk);
    s.nseq = nseq;
    s.ts = ts;
    s.chk = chk;
    stream_put(&s, TCFG, record);
    s.next = 0;
}

static void put(uint32_t stamp, const char *arguments)
{
    s.stamp = stamp;
    stream_put(&s, PROCESSED, arguments);
}

static struct extract_text say(const char *verb, bool json, uint64_t hz, const char *settings)
{
    struct extract_rkh rkh = {0};
    struct extract_error error;
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .json = json, .hz = hz, .rkh = &rkh};
    assert_int_equal(extract_rkh_parse(&rkh, settings, &error), EXTRACT_OK);
    return stream_answer(&s, verb, &options);
}

static void check(const char *verb, bool json, uint64_t hz, const char *const *pieces)
{
    struct extract_text text = say(verb, json, hz, "");
    assert_pieces(text.data, pieces);
    extract_text_free(&text);
}

#define CHECK(verb, json, hz, ...) check(verb, json, hz, (const char *const[]){__VA_ARGS__, NULL})

enum { NO_TIME = -1 };

// Checks the ticks of all events. NO_TIME stands for the unknown time in a run without timestamps.
static void check_ticks(const int64_t *ticks, size_t count)
{
    struct extract_text text = say("report", true, 0, "");
    const char *at = text.data;
    for (size_t i = 0; i < count; i++, at++) {
        long long found = NO_TIME;
        assert_non_null(at = strstr(at, "\"ticks\":"));
        assert_int_equal(sscanf(at, "\"ticks\":%lld", &found), ticks[i] != NO_TIME);
        assert_int_equal(found, ticks[i]);
    }
    assert_null(strstr(at, "\"ticks\":"));
    extract_text_free(&text);
}

#define CHECK_TICKS(...)                                                                           \
    check_ticks((const int64_t[]){__VA_ARGS__},                                                    \
                sizeof(const int64_t[]){__VA_ARGS__} / sizeof(int64_t))

static int start(void **state)
{
    (void)state;
    memset(&s, 0, sizeof s);
    return 0;
}

// ---- losses ----

// No entry of the first run is lost. For the second run this is not known, since its frames have no
// numbers. So the sum is not reported as 0.
static void test_unknown_loss(void **state)
{
    (void)state;
    begin(WIDE, 1, 4, true);
    put(1000, "00000020");
    put(1250, "00000020");
    begin(UNTIMED, 0, 0, true);
    put(0, "00000020");
    CHECK("info", true, 0, "\"events_lost\":null,\"events_lost_at_least\":0,",
          "\"events_lost_at_most\":null,\"events_lost_exact\":false,",
          "\"runs\":[{\"first_seq\":0,\"entries_valid\":3,\"entries_damaged\":0,\"events_lost\":0,"
          "\"events_lost_at_least\":0,\"events_lost_at_most\":0,\"events_lost_exact\":true,"
          "\"gaps\":0,\"gaps_not_exact\":0,\"stamp_bytes\":4,\"hz\":1000,\"span_ticks\":250,"
          "\"rkh\":{\"chk\":{\"value\":1,\"from\":\"tcfg\"},\"nseq\":{\"value\":1,",
          "{\"first_seq\":3,\"entries_valid\":2,\"entries_damaged\":0,\"events_lost\":null,"
          "\"events_lost_at_least\":0,\"events_lost_at_most\":null,\"events_lost_exact\":false,"
          "\"gaps\":null,\"gaps_not_exact\":null,\"stamp_bytes\":0,\"hz\":null,"
          "\"span_ticks\":null,"
          "\"rkh\":{\"chk\":{\"value\":1,\"from\":\"tcfg\"},\"nseq\":{\"value\":0,");
    CHECK("info", false, 0, "\nevents lost: unknown (frames have no numbers)\n", "\nruns: 2\n",
          "\nrun 1: from seq 0, 3 valid, 0 damaged, 0 lost, stamps of 4 bytes, 1000 Hz, span ticks "
          "250 (0.250000000 s)\nrun 1 rkh: chk=1 (tcfg), nseq=1 (tcfg), ts=4 (tcfg), ",
          "\nrun 2: from seq 3, 2 valid, 0 damaged, lost unknown (frames have no numbers), no "
          "stamps\nrun 2 rkh: chk=1 (tcfg), nseq=0 (tcfg), ts=0 (tcfg), ");
}

// The first run ends after number 1. The second run has other settings, so it counts from 0 again:
// its first 3 frames are missing, and later 2. Numbers do not show how often they have wrapped.
static void test_losses_of_each(void **state)
{
    (void)state;
    begin(WIDE, 1, 4, true);
    put(10, "00000020");
    put(20, "00000020");
    begin(NARROW, 1, 2, false);
    s.next = 3;
    put(30, "0020");
    s.next += 2;
    put(40, "0020");
    CHECK("info", true, 0, "\"events_lost\":null,\"events_lost_at_least\":5,",
          "\"gaps\":2,\"gaps_not_exact\":2,",
          "\"runs\":[{\"first_seq\":0,\"entries_valid\":3,\"entries_damaged\":0,\"events_lost\":0,",
          "{\"first_seq\":3,\"entries_valid\":3,\"entries_damaged\":0,\"events_lost\":null,"
          "\"events_lost_at_least\":5,\"events_lost_at_most\":null,\"events_lost_exact\":false,"
          "\"gaps\":2,\"gaps_not_exact\":2,\"stamp_bytes\":2,");
    CHECK("info", false, 0, "at least 5 lost (not every gap is exact), stamps of 2 bytes, ");
}

// Damage before the first record belongs to the first run. Damage after another record belongs to
// the run of that record.
static void test_damage_of_each(void **state)
{
    (void)state;
    stream_init(&s, 1, 4, true);
    stream_raw(&s, 0x69);
    stream_raw(&s, 0x7E);
    begin(WIDE, 1, 4, true);
    put(10, "00000020");
    begin(UNTIMED, 0, 0, true);
    stream_raw(&s, 0x69);
    stream_raw(&s, 0x7D);
    stream_raw(&s, 0x7E);
    put(0, "00000020");
    put(0, "00000020");
    CHECK("info", true, 0, "\"runs\":[{\"first_seq\":0,\"entries_valid\":2,\"entries_damaged\":1,",
          "{\"first_seq\":2,\"entries_valid\":3,\"entries_damaged\":1,");
}

// The same settings come again, and numbers start from 0: the target was restarted. The text lists
// runs only if there are several.
static void test_same_layout(void **state)
{
    (void)state;
    begin(WIDE, 1, 4, true);
    put(1000, "00000020");
    struct extract_text text = say("info", false, 0, "");
    assert_null(strstr(text.data, "\nrun"));
    extract_text_free(&text);
    CHECK("info", true, 0, "\"runs\":[{\"first_seq\":0,\"entries_valid\":2,");
    begin(WIDE, 1, 4, true);
    put(5, "00000020");
    put(9, "00000020");
    CHECK("info", true, 0, "\"events_lost\":0,",
          "{\"first_seq\":2,\"entries_valid\":3,\"entries_damaged\":0,\"events_lost\":0,",
          "\"span_ticks\":4,");
    CHECK_TICKS(0, 0, 0, 0, 4);
}

// The settings of an earlier run return after other settings. Frames are numbered from 0 again.
static void test_layout_comes_back(void **state)
{
    (void)state;
    begin(WIDE, 1, 4, true);
    put(10, "00000020");
    begin(UNTIMED, 0, 0, true);
    put(0, "00000020");
    begin(WIDE, 1, 4, true);
    put(10, "00000020");
    put(11, "00000020");
    struct extract_text text = say("report", true, 0, "");
    assert_null(strstr(text.data, "RINGSIDE_LOST"));
    extract_text_free(&text);
    CHECK("info", true, 0,
          "{\"first_seq\":4,\"entries_valid\":3,\"entries_damaged\":0,"
          "\"events_lost\":0,");
    CHECK_TICKS(0, 0, NO_TIME, NO_TIME, 0, 0, 1);
    CHECK("report", false, 1000,
          "\n  2  0AC   -                     -           -          configuration ",
          "\n  3  069   0x20000000            -           -                  event processed ",
          "\n  6  069   0x20000000  0.001000000    1.000000                  event processed ");
}

// The reader has space for 16 layouts. Frames of a further layout are damaged and are not decoded
// with another one. The number of lost frames between them is not known.
static void test_too_many(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 18; i++) {
        char record[] = "0034 FFFF0300 14 42 11 02 14 E8xx";
        snprintf(record + sizeof record - 3, 3, "%02X", i + 1);
        begin(record, 1, 4, true);
        put(10, "00000020");
    }
    begin(WIDE, 1, 4, true);
    put(10, "00000020");
    CHECK("info", true, 0, "\"entries_valid\":34,\"entries_damaged\":4,", "\"events_lost\":null,");
    CHECK("info", false, 0,
          "\nevents lost: unknown (the stream has more layouts than can be distinguished)\n");
}

// ---- clocks ----

// Timestamps of two bytes wrap at 65536, even if those of the first run are wider.
static void test_widths(void **state)
{
    (void)state;
    begin(WIDE, 1, 4, true);
    put(70000, "00000020");
    put(70010, "00000020");
    begin(NARROW, 1, 2, false);
    put(65530, "0020");
    put(4, "0020");
    CHECK_TICKS(0, 0, 10, 10, 10, 20);
    CHECK("info", true, 0, "\"timer_mask\":4294967295,\"time_direction\":\"up\",",
          "\"span_ticks\":20,", "\"stamp_bytes\":2,\"hz\":1000,\"span_ticks\":10,");
}

static void test_widths_in_reverse(void **state)
{
    (void)state;
    begin(NARROW, 1, 2, false);
    put(65530, "0020");
    put(4, "0020");
    begin(WIDE, 1, 4, true);
    put(70000, "00000020");
    put(140000, "00000020");
    CHECK_TICKS(0, 0, 10, 10, 10, 70010);
}

// If the user states a rate, both runs have it. Otherwise each run has its own rate, and ticks of
// different length cannot be added up to seconds.
static void test_rates(void **state)
{
    static const char warning[] = "the stamps of its runs have different rates";
    (void)state;
    begin(WIDE, 1, 4, true);
    put(1000, "00000020");
    put(2000, "00000020");
    begin(FAST, 1, 4, true);
    put(1000, "00000020");
    put(2000, "00000020");
    CHECK("info", false, 0, "\nspan ticks: 2000\n", "1000 Hz, span ticks 1000 (1.000000000 s)\n",
          "2000 Hz, span ticks 1000 (0.500000000 s)\n");
    CHECK("info", false, 500, "\nspan ticks: 2000 (4.000000000 s)\n",
          "500 Hz, span ticks 1000 (2.000000000 s)\n");
    CHECK("damage", false, 0, warning);
    struct extract_text text = say("damage", false, 500, "");
    assert_string_equal(text.data, "");
    extract_text_free(&text);
    text = say("report", true, 0, "");
    assert_null(strstr(text.data, "\"seconds\""));
    extract_text_free(&text);
}

// A run without timestamps adds no time, and does not influence the rate.
static void test_rate_of_those_with_stamps(void **state)
{
    (void)state;
    begin(WIDE, 1, 4, true);
    put(1000, "00000020");
    put(2000, "00000020");
    begin(UNTIMED, 0, 0, true);
    put(0, "00000020");
    CHECK("info", false, 0, "\nspan ticks: 1000 (1.000000000 s)\n");
    struct extract_text text = say("damage", false, 0, "");
    assert_string_equal(text.data, "");
    extract_text_free(&text);
}

// 16960 is what 16 bits hold of 1000000, the CLOCKS_PER_SEC of hosts. It is not used as a rate
// unless the user states it.
static void test_cut_rate(void **state)
{
    static const char warning[] =
        "the TCFG record reports a rate of 16960 stamps per second, which is what 16 bits hold of "
        "1000000, so times are in ticks; use --hz 1000000, or --hz 16960 if that is the rate\n";
    (void)state;
    begin(CUT, 1, 4, true);
    put(16960, "00000020");
    put(33920, "00000020");
    CHECK("info", false, 0, "\nspan ticks: 16960\n",
          "ts_hz=16960 (tcfg) (ts_hz is not used: 16 bits hold 16960 of 1000000)\n");
    CHECK("info", true, 0, "\"hz\":null,\"span_ticks\":16960,",
          "\"ts_hz\":{\"value\":16960,\"from\":\"tcfg\"}");
    struct extract_text text = say("damage", false, 0, "");
    assert_string_equal(text.data, warning);
    extract_text_free(&text);
    CHECK("info", false, 16960, "\nspan ticks: 16960 (1.000000000 s)\n");
    text = say("damage", false, 16960, "");
    assert_string_equal(text.data, "");
    extract_text_free(&text);
    text = say("damage", false, 0, "ts_hz=16960");
    assert_string_equal(text.data, "");
    extract_text_free(&text);
    text = say("info", false, 0, "ts_hz=16960");
    assert_non_null(strstr(text.data, "\nspan ticks: 16960 (1.000000000 s)\n"));
    extract_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(test_unknown_loss, start),
        cmocka_unit_test_setup(test_losses_of_each, start),
        cmocka_unit_test_setup(test_damage_of_each, start),
        cmocka_unit_test_setup(test_same_layout, start),
        cmocka_unit_test_setup(test_layout_comes_back, start),
        cmocka_unit_test_setup(test_too_many, start),
        cmocka_unit_test_setup(test_widths, start),
        cmocka_unit_test_setup(test_widths_in_reverse, start),
        cmocka_unit_test_setup(test_rates, start),
        cmocka_unit_test_setup(test_rate_of_those_with_stamps, start),
        cmocka_unit_test_setup(test_cut_rate, start),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
