// SPDX-License-Identifier: MIT
// Tests the statistics of RKH streams: latencies, states, queues, pools, timers. Truth: worked out
// by hand from the frames of each case, which are 10 ticks apart.
#include "tests/unit/trazer/rkh_stream.h"

// `narrow` states 16 bits, no checksum and no sender. `bare` states no numbers, no timestamps and
// no sender.
static const char narrow[] = "0034 FEF70100 22 24 22 01 24 E803";
static const char bare[] = "0034 FE7F0200 14 42 11 02 14 E803";

// Checks that the statistics as JSON contain each of the pieces. The list ends with NULL.
static void check_figures(const struct stream *s, const char *const *pieces)
{
    struct extract_text text = stream_say(s, "stats", false, true);
    assert_pieces(text.data, pieces);
    extract_text_free(&text);
}

#define CHECK(s, ...) check_figures(s, (const char *const[]){__VA_ARGS__, NULL})

// Events are posted at 10, at 20 and, to the front, at 30. They are taken at 40, 50 and 60.
static void test_order(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 67, "3C010020 01 00000000 00 00 01 03");
    stream_put(&s, 67, "3C010020 02 00000000 00 00 02 02");
    stream_put(&s, 68, "3C010020 03 00000000 00 00 03 01");
    stream_put(&s, 66, "3C010020 03 00 00 02 01");
    stream_put(&s, 66, "3C010020 01 00 00 01 01");
    stream_put(&s, 66, "3C010020 02 00 00 00 01");
    CHECK(&s, "\"posts\":3,\"gets\":3,\"uncertain_gets\":0,",
          "\"address\":536871228,\"name\":null,\"queue_size\":null,\"most_queued\":3,"
          "\"low_water\":1,\"posts\":3,\"posts_first\":1,\"gets\":3,\"uncertain\":0,",
          "{\"signal\":3,\"name\":null,\"posts\":1,\"gets\":1,\"uncertain\":0,\"recalled\":0,"
          "\"no_trigger\":0,\"latency\":{\"count\":1,\"min\":10,\"mean\":10.000,\"max\":10,"
          "\"p50\":10,\"p90\":10,\"p99\":10}}",
          "{\"signal\":1,\"name\":null,\"posts\":1,\"gets\":1,\"uncertain\":0,\"recalled\":0,"
          "\"no_trigger\":0,\"latency\":{\"count\":1,\"min\":40,",
          "{\"signal\":2,\"name\":null,\"posts\":1,\"gets\":1,\"uncertain\":0,\"recalled\":0,"
          "\"no_trigger\":0,\"latency\":{\"count\":1,\"min\":40,");
}

// The initial transition ends like the processing of an event, and is none. Some targets do not
// record its end.
static void test_processed(void **state)
{
    struct stream s;
    (void)state;
    for (unsigned has_end = 0; has_end < 2; has_end++) {
        stream_begin(&s);
        stream_put(&s, 96, "00000020 00010000");
        if (has_end)
            stream_put(&s, 105, "00000020");
        for (unsigned i = 0; i < 2; i++) {
            stream_put(&s, 67, "00000020 01 00000000 00 00 01 03");
            stream_put(&s, 66, "00000020 01 00 00 00 03");
            stream_put(&s, 105, "00000020");
        }
        CHECK(&s, "\"gets\":2,\"uncertain\":0,\"recalled\":0,\"processed\":2,");
    }
}

// Ten events wait for 10, 20 … 100 ticks. The percentiles are the nearest ranks.
static void test_percentiles(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    for (unsigned i = 1; i <= 10; i++) {
        stream_put(&s, 67, "00000020 07 00000000 00 00 01 03");
        s.stamp += 10 * i - 10;
        stream_put(&s, 66, "00000020 07 00 00 00 03");
    }
    CHECK(&s, "\"latency\":{\"count\":10,\"min\":10,\"mean\":55.000,\"max\":100,\"p50\":50,"
              "\"p90\":90,\"p99\":100}");
}

// The get of the first event and the post of a second, equal event are lost. The queue is as long
// as before, but another event waits in it. The pairs after it are certain again.
static void test_loss(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 67, "00000020 07 00000000 00 00 01 03");
    s.next = (uint8_t)(s.next + 2);
    stream_put(&s, 67, "00000020 08 00000000 00 00 02 02");
    stream_put(&s, 66, "00000020 07 00 00 01 02");
    stream_put(&s, 66, "00000020 08 00 00 00 02");
    CHECK(&s, "\"losses\":1,", "\"posts\":2,\"gets\":2,\"uncertain_gets\":1,",
          "{\"signal\":7,\"name\":null,\"posts\":1,\"gets\":1,\"uncertain\":1,\"recalled\":0,"
          "\"no_trigger\":0,\"latency\":null}",
          "{\"signal\":8,\"name\":null,\"posts\":1,\"gets\":1,\"uncertain\":0,\"recalled\":0,"
          "\"no_trigger\":0,\"latency\":{\"count\":1,\"min\":20,");
}

static void put_wrong(struct stream *s)
{
    stream_put(s, 67, "00000020 07 00000000 00 00 01 03");
    s->bytes[s->used - 4] ^= 1; // the checksum is now wrong
}

// There are two places with damage. The first has two wrong frames, one torn frame and two lost
// ones. The second has one wrong frame.
static void test_damage(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 67, "00000020 07 00000000 00 00 01 03");
    put_wrong(&s);
    put_wrong(&s);
    stream_raw(&s, 105);
    stream_raw(&s, 0x7D);
    stream_raw(&s, 0x7E);
    s.next = (uint8_t)(s.next + 3);
    stream_put(&s, 66, "00000020 07 00 00 00 03");
    put_wrong(&s);
    stream_put(&s, 67, "00000020 08 00000000 00 00 01 03");
    CHECK(&s, "\"losses\":2,", "\"posts\":2,\"gets\":1,\"uncertain_gets\":1,");
}

// The frames have no numbers. The length of the queue, or the signal, shows that one is lost.
static void test_silent_loss(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 67, "00000020 07 00000000 00 00 01 03");
    stream_put(&s, 67, "00000020 08 00000000 00 00 03 03"); // the post before this one was not seen
    stream_put(&s, 66, "00000020 07 00 00 02 03");
    stream_put(&s, 67, "04000020 07 00000000 00 00 01 03");
    stream_put(&s, 66, "04000020 09 00 00 00 03"); // this event is not the one that was posted
    CHECK(&s, "\"losses\":0,", "\"posts\":3,\"gets\":2,\"uncertain_gets\":2,");
}

// The state is 0x100 from 20 to 40, 0x200 from 40 to 60, and then 0x100 until the stream ends at
// 70.
static void test_states(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 96, "00000020 00010000");
    stream_put(&s, 99, "00000020 00010000");
    stream_put(&s, 113, "00000020 05 00010000");
    stream_put(&s, 99, "00000020 00020000");
    stream_put(&s, 105, "00000020");
    stream_put(&s, 99, "00000020 00010000");
    stream_put(&s, 99, "00000020 00010000"); // a transition to the same state is not a change
    CHECK(&s, "\"span_ticks\":60,", "\"state_changes\":3,\"no_trigger\":0,",
          "\"state_unknown_ticks\":10,",
          "\"states\":[{\"state\":256,\"name\":null,\"entries\":3,\"ticks\":30,\"percent\":50.000},"
          "{\"state\":512,\"name\":null,\"entries\":1,\"ticks\":20,\"percent\":33.333}],"
          "\"timeline\":[{\"ticks\":10,\"state\":256,\"name\":null},"
          "{\"ticks\":30,\"state\":512,\"name\":null},"
          "{\"ticks\":50,\"state\":256,\"name\":null}]");
}

// The stream begins in the middle. The first dispatch shows the state since the start of the
// stream. While frames are missing, the state is not known. After that, the next dispatch shows it
// again.
static void test_states_unseen(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    s.used = 1;
    for (unsigned i = 0; i < 20; i++) // enough frames to infer the settings without a TCFG record
        stream_put(&s, 105, "04000020");
    stream_put(&s, 113, "00000020 05 00010000"); // at 200 ticks
    stream_put(&s, 105, "00000020");             // at 210
    s.next = (uint8_t)(s.next + 3);
    stream_put(&s, 105, "00000020");             // at 220
    stream_put(&s, 113, "00000020 05 00020000"); // at 230
    stream_put(&s, 105, "00000020");             // at 240
    CHECK(&s, "\"span_ticks\":230,", "\"losses\":1,", "\"state_unknown_ticks\":0,",
          "{\"state\":256,\"name\":null,\"entries\":0,\"ticks\":210,",
          "{\"state\":512,\"name\":null,\"entries\":0,\"ticks\":20,",
          "\"timeline\":[{\"ticks\":0,\"state\":256,\"name\":null},"
          "{\"ticks\":210,\"state\":null,\"name\":null},"
          "{\"ticks\":220,\"state\":512,\"name\":null}]");
}

// The target filters out the records of the next state. So the last state that is entered counts as
// the next state.
static void test_states_entered(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 96, "00000020 00010000");
    stream_put(&s, 100, "00000020 00010000"); // at 10 ticks: a composite state
    stream_put(&s, 100, "00000020 00020000"); // at 20: the state inside it
    stream_put(&s, 105, "00000020");
    stream_put(&s, 113, "00000020 05 00020000");
    stream_put(&s, 100, "00000020 00030000"); // at 50
    stream_put(&s, 105, "00000020");
    CHECK(&s, "\"state_changes\":2,\"no_trigger\":0,", "\"state_unknown_ticks\":20,",
          "{\"state\":512,\"name\":null,\"entries\":1,\"ticks\":30,",
          "{\"state\":768,\"name\":null,\"entries\":1,\"ticks\":10,");
}

// No record states this change. The time in which the state is unknown must be as short as
// possible.
static void test_terminated(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 99, "00000020 00010000");
    stream_put(&s, 106, "00000020 05");
    stream_put(&s, 107, "00000020");
    stream_put(&s, 108, "00000020");
    stream_put(&s, 109, "00000020");
    stream_put(&s, 111, "00000020");
    stream_put(&s, 65, "00000020 01"); // ends at 60 ticks
    stream_put(&s, 105, "04000020");
    CHECK(&s,
          "\"no_trigger\":1,\"guards_false\":1,\"no_condition\":1,\"errors\":2,"
          "\"state_unknown_ticks\":10,",
          "{\"state\":256,\"name\":null,\"entries\":1,\"ticks\":60,",
          "{\"signal\":5,\"name\":null,\"posts\":0,\"gets\":0,\"uncertain\":0,\"recalled\":0,"
          "\"no_trigger\":1,\"latency\":null}");
}

static void test_stores(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 0, "BC010020 02 04");
    stream_put(&s, 1, "BC010020 01 01");
    stream_put(&s, 1, "BC010020 00 00");
    stream_put(&s, 2, "BC010020 01");
    stream_put(&s, 32, "44010020 00000020 04");
    stream_put(&s, 34, "44010020 01 03");
    stream_put(&s, 35, "44010020 02 02");
    stream_put(&s, 33, "44010020 01");
    stream_put(&s, 38, "44010020");
    stream_put(&s, 36, "44010020");
    stream_put(&s, 37, "44010020");
    stream_put(&s, 71, "44010020 05");
    stream_put(&s, 72, "00000020 05");
    stream_put(&s, 162, "02 80000000 0300 02");
    stream_put(&s, 163, "0400 00 01 00 02 00 00000020");
    stream_put(&s, 164, "00 02 01");
    stream_put(&s, 164, "00 00 01"); // the event is static, so it has no pool
    stream_put(&s, 165, "00 01 01 01 00 00000020");
    CHECK(&s,
          "\"pools\":[{\"address\":536871356,\"name\":null,\"blocks\":2,\"block_size\":4,"
          "\"least_free\":0,\"low_water\":0,\"got\":2,\"refused\":0,"
          "\"uncertain\":0,\"put\":1,\"exhausted\":1}]",
          "\"queues\":[{\"address\":536871236,\"name\":null,\"ao\":536870912,\"ao_name\":null,"
          "\"size\":4,\"most_queued\":2,\"low_water\":2,\"put\":2,\"put_first\":1,\"got\":2,"
          "\"deferred\":1,\"full\":1,\"empty\":1}]",
          "\"event_pools\":[{\"number\":1,\"name\":null,\"blocks\":2,\"event_size\":3,"
          "\"most_used\":2,\"low_water\":0,\"allocations\":1,\"freed\":1,"
          "\"references_dropped\":1,\"exhausted\":1}]",
          "{\"signal\":5,\"name\":null,\"posts\":0,\"gets\":0,\"uncertain\":0,\"recalled\":1,");
}

// A pool of two blocks. The framework traces requests that it refuses, with nothing free
// (rkh_memPool_get of 3.1 to 3.4). After a loss, the first request without a free block may be
// either.
static void test_refused_requests(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 0, "BC010020 02 04");
    stream_put(&s, 1, "BC010020 01 01");
    for (int i = 0; i < 4; i++)
        stream_put(&s, 1, "BC010020 00 00");
    stream_put(&s, 2, "BC010020 01");
    stream_put(&s, 1, "BC010020 00 00");
    s.next += 5; // five frames are missing
    stream_put(&s, 1, "BC010020 00 00");
    stream_put(&s, 1, "BC010020 00 00");
    CHECK(&s,
          "\"low_water\":0,\"got\":3,\"refused\":4,\"uncertain\":1,\"put\":1,\"exhausted\":2}]");
}

// A timer expires at 20 ticks, and its post is at 30. Another object posts the same signal at 40.
// The gets at 50 and 60 belong to the first and the second post.
static void test_timers(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 128, "78010020 03");
    stream_put(&s, 129, "78010020 00000020 9001 0000");
    stream_put(&s, 131, "78010020 03 00000020");
    stream_put(&s, 67, "00000020 03 280B0020 00 00 01 03");
    stream_put(&s, 67, "00000020 03 04000020 00 00 02 03");
    stream_put(&s, 66, "00000020 03 00 00 01 03");
    stream_put(&s, 66, "00000020 03 00 00 00 03");
    stream_put(&s, 130, "78010020 3200 0000");
    CHECK(&s, "\"timers\":[{\"address\":536871288,\"name\":null,\"ao\":536870912,\"ao_name\":null,"
              "\"signal\":3,\"signal_name\":null,\"starts\":1,\"stops\":1,\"timeouts\":1,"
              "\"latency\":{\"count\":1,\"min\":30,\"mean\":30.000,");
}

static void test_assertions(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 173, "'mybsp' 5000");
    stream_put(&s, 173, "'a\x1b<' 0100");
    stream_put(&s, 170, "191C0000 280B0020 290B0020");
    CHECK(&s, "\"synchronous_events\":1,",
          "\"assertions\":[{\"module\":\"mybsp\",\"line\":80,\"seq\":1,\"ticks\":0},"
          "{\"module\":\"a\\u001b<\",\"line\":1,\"seq\":2,\"ticks\":10}]");
}

// The target is restarted. Events that waited before the restart are not taken after it.
static void test_restart(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 99, "00000020 00010000");
    stream_put(&s, 67, "00000020 07 00000000 00 00 01 03");
    stream_put(&s, TCFG, all_on);
    s.next = 0;
    stream_put(&s, 66, "00000020 07 00 00 00 03");
    stream_put(&s, 105, "00000020");
    CHECK(&s, "\"restarts\":1,", "\"losses\":0,", "\"uncertain_gets\":1,",
          "{\"ticks\":0,\"state\":256,\"name\":null},");
}

// The first run has timestamps, and the second run, of another firmware, has none. Only the times
// of the first run are known. Objects that have the same address in both runs are kept apart.
static void test_runs(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 174, "00000020 'pump'");
    stream_put(&s, 175, "00000020 00010000 'idle'");
    stream_put(&s, 167, "07 'START'");
    stream_put(&s, 99, "00000020 00010000");
    stream_put(&s, 67, "00000020 07 00000000 00 00 01 03");
    stream_put(&s, 66, "00000020 07 00 00 00 03");
    s.nseq = s.ts = 0;
    stream_put(&s, TCFG, bare);
    stream_put(&s, 174, "00000020 'valve'");
    stream_put(&s, 175, "00000020 00010000 'open'");
    stream_put(&s, 167, "07 'STOP'");
    stream_put(&s, 99, "00000020 00010000");
    stream_put(&s, 67, "00000020 07 00 00 01 03");
    stream_put(&s, 66, "00000020 07 00 00 00 03");
    CHECK(&s, "\"span_ticks\":50,\"timed\":true,\"untimed_runs\":true,\"mixed_rates\":false,",
          "\"restarts\":1,\"posts\":2,\"gets\":2,\"uncertain_gets\":0,",
          "\"active_objects\":[{\"address\":536870912,\"name\":\"pump\",",
          "\"state_unknown_ticks\":30,\"signals\":[{\"signal\":7,\"name\":\"START\",\"posts\":1,"
          "\"gets\":1,\"uncertain\":0,\"recalled\":0,\"no_trigger\":0,\"latency\":{\"count\":1,"
          "\"min\":10,",
          "\"states\":[{\"state\":256,\"name\":\"idle\",\"entries\":1,\"ticks\":20,"
          "\"percent\":40.000}]",
          "{\"address\":536870912,\"name\":\"valve\",",
          "\"state_unknown_ticks\":null,\"signals\":[{\"signal\":7,\"name\":\"STOP\",\"posts\":1,"
          "\"gets\":1,\"uncertain\":0,\"recalled\":0,\"no_trigger\":0,\"latency\":null}]",
          "\"states\":[{\"state\":256,\"name\":\"open\",\"entries\":1,\"ticks\":null,"
          "\"percent\":null}]");
    struct extract_text text = stream_say(&s, "stats", false, false);
    assert_non_null(strstr(text.data,
                           "span ticks: 50 (0.050000000 s) (of the runs with stamps; the "
                           "times of others are not known)\n"));
    assert_non_null(strstr(text.data, "A.  A idle\n"));
    assert_null(strstr(text.data, "A open"));
    extract_text_free(&text);
}

// The second run's clock is twice as fast: its ticks are half as long.
static void test_mixed_rates(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 105, "00000020");
    stream_put(&s, TCFG, "0034 FFFF0300 14 42 11 02 14 D007");
    s.next = 0;
    stream_put(&s, 105, "00000020");
    CHECK(&s, "\"timed\":true,\"untimed_runs\":false,\"mixed_rates\":true,");
    struct extract_text text = stream_say(&s, "stats", false, false);
    assert_non_null(strstr(text.data, "span ticks: 0 (the ticks of its runs differ in length; "));
    extract_text_free(&text);
}

static void test_bare(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 0, 0, true);
    stream_put(&s, TCFG, bare);
    stream_put(&s, 67, "00000020 07 00 00 01 03");
    stream_put(&s, 66, "00000020 07 00 00 00 03");
    stream_put(&s, 99, "00000020 00010000");
    // Without stamps, nothing shows that a clock stands still.
    CHECK(&s, "\"timed\":false,", "\"clock_stands_still\":false,", "\"uncertain_gets\":0,",
          "\"latency\":null", "\"state_unknown_ticks\":null,", "\"ticks\":null,\"percent\":null}");
    struct extract_text text = stream_say(&s, "stats", false, false);
    assert_non_null(strstr(text.data, "span ticks: 0 (no stamp gives a time)\n"));
    assert_non_null(strstr(text.data, "0x20000000     0x100        1      -        -\n"));
    extract_text_free(&text);
}

// Timestamps of 16 bits wrap twice while an event waits. Posts state no sender, and queues state no
// low-water mark.
static void test_narrow(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 1, 2, false);
    stream_put(&s, TCFG, narrow);
    s.stamp = 65000;
    stream_put(&s, 67, "3C01 0500 00 00 0100");
    for (unsigned i = 0; i < 4; i++) {
        s.stamp += 30000;
        stream_put(&s, 105, "0000");
    }
    stream_put(&s, 66, "3C01 0500 00 00 0000");
    CHECK(&s,
          "\"address\":316,\"name\":null,\"queue_size\":null,\"most_queued\":1,"
          "\"low_water\":null,",
          "\"latency\":{\"count\":1,\"min\":120050,");
}

// The settings record of 2.4.5 has another id. Its posts do not state how long the queue is.
static void begin_old(struct stream *s)
{
    stream_init(s, 0, 0, true);
    stream_put(s, 174, "0524 FFFF0300 14 42 11 02 14 E803");
    s->nseq = 1;
    s->ts = 4;
}

// Queue lengths are not known. A get is certain only while no frame has ever been lost.
static void test_old(void **state)
{
    struct stream s;
    (void)state;
    begin_old(&s);
    stream_put(&s, 67, "00000020 07 00000000 00 00");
    stream_put(&s, 66, "00000020 07 00 00");
    stream_put(&s, 166, "44010020 07"); // deferred
    CHECK(&s, "\"uncertain_gets\":0,", "\"most_queued\":null,", "\"deferred\":1,",
          "\"latency\":{\"count\":1,\"min\":10,");
    stream_put(&s, 67, "00000020 07 00000000 00 00");
    s.next++; // the get of this post is lost
    stream_put(&s, 67, "00000020 07 00000000 00 00");
    stream_put(&s, 66, "00000020 07 00 00");
    stream_put(&s, 67, "00000020 07 00000000 00 00");
    stream_put(&s, 66, "00000020 07 00 00");
    CHECK(&s, "\"gets\":3,\"uncertain_gets\":2,", "\"latency\":{\"count\":1,\"min\":10,");
}

// ---- failing allocations and damage ----

static const char *failing_verb;
static bool failing_json;

static enum extract_code run_once(void)
{
    struct extract_memory *memory = NULL;
    struct extract_session *session = NULL;
    struct extract_error error = {0};
    struct extract_text text;
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .json = failing_json};
    extract_text_init(&text, NULL, NULL);
    enum extract_code code = extract_rkh_stream_open(&memory, scratch_path("stream.bin"), &error);
    if (!code)
        code = extract_session_open(&session, memory, NULL, &options, &error);
    if (!code)
        code = extract_session_run(session, failing_verb, &text, &error);
    extract_text_free(&text);
    extract_session_close(session);
    extract_memory_close(memory);
    return code;
}

// Makes a stream with some frames of every group.
static void mixture(struct stream *s)
{
    stream_begin(s);
    stream_put(s, 174, "00000020 'server'");
    stream_put(s, 167, "05 'PAUSE'");
    stream_put(s, 0, "BC010020 02 04");
    stream_put(s, 32, "44010020 00000020 04");
    stream_put(s, 162, "01 80000000 0300 02");
    for (unsigned i = 0; i < 3; i++) {
        stream_put(s, 131, "78010020 05 00000020");
        stream_put(s, 67, "00000020 05 280B0020 00 00 01 03");
        stream_put(s, 66, "00000020 05 00 00 00 03");
        stream_put(s, 113, "00000020 05 00010000");
        stream_put(s, 99, i == 1 ? "00000020 00010000" : "00000020 00020000");
        stream_put(s, 105, "00000020");
    }
    s->next++;
    stream_put(s, 170, "191C0000 280B0020 290B0020");
    stream_put(s, 173, "'mybsp' 5000");
}

static void test_memory(void **state)
{
    static const char *const verbs[] = {"stats", "chart", "signalling"};
    static struct stream s;
    (void)state;
    mixture(&s);
    scratch_write("stream.bin", s.bytes, s.used);
    for (unsigned i = 0; i < 4; i++) {
        failing_verb = verbs[i % 3];
        failing_json = i == 3;
        each_allocation_fails(run_once);
    }
}

// Changes each byte in several ways. The commands must still succeed.
static void test_every_byte(void **state)
{
    static const uint8_t changes[] = {0x01, 0x80, 0xFF, 0x7E};
    static const char *const verbs[] = {"stats", "chart", "signalling"};
    static struct stream s;
    (void)state;
    mixture(&s);
    failing_json = false;
    for (size_t i = 17; i < s.used; i++) // after the record of the settings
        for (unsigned k = 0; k < sizeof changes; k++) {
            s.bytes[i] ^= changes[k];
            scratch_write("stream.bin", s.bytes, s.used);
            failing_verb = verbs[(i + k) % 3];
            assert_int_equal(run_once(), EXTRACT_OK);
            s.bytes[i] ^= changes[k];
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_order),          cmocka_unit_test(test_processed),
        cmocka_unit_test(test_percentiles),    cmocka_unit_test(test_loss),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_silent_loss),
        cmocka_unit_test(test_states),         cmocka_unit_test(test_states_unseen),
        cmocka_unit_test(test_states_entered), cmocka_unit_test(test_terminated),
        cmocka_unit_test(test_stores),         cmocka_unit_test(test_refused_requests),
        cmocka_unit_test(test_timers),         cmocka_unit_test(test_assertions),
        cmocka_unit_test(test_restart),        cmocka_unit_test(test_bare),
        cmocka_unit_test(test_runs),           cmocka_unit_test(test_mixed_rates),
        cmocka_unit_test(test_narrow),         cmocka_unit_test(test_old),
        cmocka_unit_test(test_memory),         cmocka_unit_test(test_every_byte),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
