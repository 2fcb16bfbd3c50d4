// SPDX-License-Identifier: MIT
// The schedule of active objects, from frames that are written by hand. Truth: computed by hand
// from the meaning of the events (docs/formats/rkh.md).
#include "tests/unit/ring_builder.h"
#include "tests/unit/trazer/rkh_stream.h"

#define A "3C010020"
#define B "EC000020"
#define C "280B0020"

enum {
    GET = 66,
    FIFO = 67,
    LIFO = 68,
    TRANSITION = 98,
    PROCESSED = 105,
    GUARD_FALSE = 107,
    STARTED = 160
};

// Puts a frame at a time.
static void at(struct stream *s, uint32_t time, uint8_t id, const char *words)
{
    s->stamp = time;
    stream_put(s, id, words);
}

// Puts the first events: each of two active objects ends its first step.
static void begin(struct stream *s)
{
    stream_begin(s);
    at(s, 0, STARTED, "");
    at(s, 100, PROCESSED, A);
    at(s, 110, PROCESSED, B);
}

// Checks which lines the schedule has. NULL ends each list.
static void check_schedule(const struct stream *s, const char *const *lines,
                           const char *const *missing)
{
    struct extract_text text = stream_say(s, "schedule", false, false);
    assert_pieces(text.data, lines);
    for (; missing && *missing; missing++)
        if (strstr(text.data, *missing))
            fail_msg("%s\nis in\n%s", *missing, text.data);
    extract_text_free(&text);
}

// A is posted to, runs, is preempted by B, gets another event meanwhile, and processes both.
static void steps_are_states(void **state)
{
    static const char *const lines[] = {
        "             0            100          100  core 0: 0x2000013c (likely)\n",
        "           100            200          100  0x2000013c: unknown\n",
        "0x2000013c: woken: service #4 by 0x20000b28 (#4)\n",
        "           200            220           20  0x2000013c: ready\n",
        "           220            250           30  0x2000013c: running\n",
        "           250            280           30  0x2000013c: ready\n",
        "           280            290           10  0x2000013c: running (likely)\n",
        "           290            300           10  0x2000013c: running\n",
        "           300            320           20  0x2000013c: ready\n",
        "           320            330           10  0x2000013c: running\n",
        "           330            400           70  0x2000013c: blocked on queue\n",
        "           110            240          130  0x200000ec: unknown\n",
        "0x200000ec: woken: service #6 by 0x2000013c (#6)\n",
        "           240            250           10  0x200000ec: ready\n",
        "           250            280           30  0x200000ec: running\n",
        "           280            400          120  0x200000ec: blocked on queue\n",
        "           110            220          110  core 0: unknown\n",
        "           220            250           30  core 0: 0x2000013c\n",
        "           250            280           30  core 0: 0x200000ec\n",
        "           280            290           10  core 0: 0x2000013c (likely)\n",
        "           290            300           10  core 0: 0x2000013c\n",
        "           300            320           20  core 0: unknown\n",
        "           320            330           10  core 0: 0x2000013c\n",
        "           330            400           70  core 0: unknown\n",
        NULL};
    static const char *const missing[] = {"service #8", NULL};
    struct stream s;
    (void)state;
    begin(&s);
    at(&s, 200, FIFO, A "07" C "00 00 01 01");
    at(&s, 220, GET, A "07 00 00 00 01");
    at(&s, 240, FIFO, B "08" A "00 00 01 01");
    at(&s, 250, GET, B "08 00 00 00 01");
    at(&s, 270, LIFO, A "09" C "00 00 01 01");
    at(&s, 280, PROCESSED, B);
    at(&s, 290, TRANSITION, A A A);
    at(&s, 300, GUARD_FALSE, A);
    at(&s, 320, GET, A "09 00 00 00 01");
    at(&s, 330, PROCESSED, A);
    at(&s, 400, STARTED, "");
    check_schedule(&s, lines, missing);

    // The response lasts from the first post to the end of the step after which no event waits.
    struct extract_text text = stream_say(&s, "stats", false, true);
    static const char *const figures[] = {
        "\"response\":{\"count\":1,\"min\":130,\"median\":130,\"p99\":130,\"max\":130,\"sum\":130",
        "\"latency\":{\"count\":1,\"min\":20,", "\"unknown_ticks\":", NULL};
    assert_pieces(text.data, figures);
    extract_text_free(&text);
}

// An event that was posted without being traced makes unknown what was derived without it.
static void hidden_posts_are_noticed(void **state)
{
    static const char *const taken[] = {
        "           230            300           70  0x2000013c: unknown\n",
        "           300            310           10  0x2000013c: running\n",
        "           310            400           90  0x2000013c: blocked on queue\n", NULL};
    static const char *const counted[] = {
        "           230            300           70  0x2000013c: unknown\n",
        "           300            400          100  0x2000013c: ready\n", NULL};
    static const char *const missing[] = {"service #7", NULL};
    struct stream s;
    (void)state;
    begin(&s);
    at(&s, 200, FIFO, A "07" C "00 00 01 01");
    at(&s, 220, GET, A "07 00 00 00 01");
    at(&s, 230, PROCESSED, A);
    struct stream other = s;
    at(&s, 300, GET, A "07 00 00 00 01");
    at(&s, 310, PROCESSED, A);
    at(&s, 400, STARTED, "");
    check_schedule(&s, taken, NULL);

    // It is the second event that waits.
    at(&other, 300, FIFO, A "07" C "00 00 02 01");
    at(&other, 400, STARTED, "");
    check_schedule(&other, counted, missing);
}

// After lost frames, nothing is known until events show it.
static void losses_make_unknown(void **state)
{
    static const char *const lines[] = {
        "           230            231            1  0x2000013c: blocked on queue\n",
        "           300            320           20  0x2000013c: unknown\n",
        "           320            330           10  0x2000013c: running\n",
        "           330            400           70  0x2000013c: blocked on queue\n", NULL};
    static const char *const missing[] = {"woken: service #11", NULL};
    struct stream s;
    (void)state;
    begin(&s);
    at(&s, 200, FIFO, A "07" C "00 00 01 01");
    at(&s, 220, GET, A "07 00 00 00 01");
    at(&s, 230, PROCESSED, A);
    at(&s, 231, STARTED, "");
    s.next += 3;
    at(&s, 300, FIFO, A "07" C "00 00 01 01");
    at(&s, 320, GET, A "07 00 00 00 01");
    at(&s, 330, PROCESSED, A);
    at(&s, 400, STARTED, "");
    check_schedule(&s, lines, missing);
}

// Streams that cannot show a schedule say so: without the ends of steps, and without sequence
// numbers, by which losses are noticed.
static void others_show_no_schedule(void **state)
{
    const struct extract_session_options options = {.size = sizeof options, .format = "rkh"};
    struct extract_text text;
    struct stream s;
    (void)state;
    stream_begin(&s);
    at(&s, 200, FIFO, A "07" C "00 00 01 01");
    at(&s, 220, GET, A "07 00 00 00 01");
    for (unsigned i = 0; i < 2; i++) {
        scratch_write("stream.bin", s.bytes, s.used);
        extract_text_init(&text, NULL, NULL);
        assert_int_equal(stream_run("schedule", &options, &text), EXTRACT_UNSUPPORTED);
        extract_text_free(&text);
        stream_init(&s, 0, 4, true);
        stream_put(&s, TCFG, "0034 FF7F0200 14 42 11 02 14 E803");
        at(&s, 220, GET, A "07 00 00 00 01");
        at(&s, 230, PROCESSED, A);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(steps_are_states),
        cmocka_unit_test(hidden_posts_are_noticed),
        cmocka_unit_test(losses_make_unknown),
        cmocka_unit_test(others_show_no_schedule),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
