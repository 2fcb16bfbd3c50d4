// SPDX-License-Identifier: MIT
// Tests the sequence chart of ThreadX rings: who put what where, who took it, and who woke whom.
// Truth: written by hand for the entries of each case, from the rules of ringside(1).
#include "tests/unit/ring_builder.h"
#include <extract/report.h>

enum {
    A = 0x20004000,
    B = 0x20004100,
    TIMER = 0x20004200,
    QUEUE = 0x20005000, // two messages fit
    OTHER = 0x20005100, // a queue that is not in the registry
    SEMAPHORE = 0x20005200,
    FLAGS = 0x20005300,
    MUTEX = 0x20005400,
    STEP = 10, // ticks between two entries
    MOST = 64
};

// Numbers of events, and of thread states.
enum { RESUME = 1, SUSPEND, ENTER, EXIT };
enum { FLAGS_GET = 32, FLAGS_SET = 36, MUTEX_GET = 52, MUTEX_PUT = 57 };
enum { FRONT_SEND = 63, RECEIVE = 68, SEND = 69, FLUSH = 62 };
enum { CEILING_PUT = 80, GET = 83, PUT = 88, WAIT_ABORT = 117, USER = 4096 };
enum { ON_SLEEP = 4, ON_QUEUE = 5, ON_SEMAPHORE = 6, ON_FLAGS = 7, ON_MUTEX = 13 };

#define FOREVER UINT64_C(0xFFFFFFFF)

static struct ring_entry entries[MOST];
static size_t entry_count;

static void put(uint64_t thread, uint64_t id, uint64_t one, uint64_t two, uint64_t three,
                uint64_t four)
{
    uint64_t priority = thread == B ? 0x80050005 : 0x80100010;

    assert_true(entry_count < MOST);
    entries[entry_count] = (struct ring_entry){thread,
                                               thread == RING_IN_ISR ? A : priority,
                                               id,
                                               100 + entry_count * STEP,
                                               {one, two, three, four}};
    entry_count++;
}

static int begin(void **state)
{
    (void)state;
    entry_count = 0;
    return 0;
}

// Returns the chart of the entries, which the caller frees.
static struct extract_text draw(bool is_signalling, enum extract_filter_word word,
                                const char *value)
{
    static const struct ring_object objects[] = {
        {0, 1, 0x80, 16, A, 0x20008000, 1024, "A"},
        {0, 1, 0x80, 5, B, 0x20008400, 1024, "B"},
        {0, 1, 0x80, 0, TIMER, 0x20008800, 1024, "System Timer Thread"},
        {0, 3, 0, 0, QUEUE, 8, 1, "queue"},
        {0, 4, 0, 0, SEMAPHORE, 1, 0, "sem"},
        {0, 6, 0, 0, FLAGS, 0, 0, "flags"},
        {0, 5, 0, 0, MUTEX, 1, 0, "mutex"},
    };
    static struct ring_image image;
    const struct extract_report_options options = {.size = sizeof options};
    struct ring_spec spec = ring_plain;
    struct extract_filter *filter;
    struct extract_view *view;
    struct extract_text text;
    struct look look;

    spec.objects = sizeof objects / sizeof *objects;
    spec.entries = MOST;
    ring_build(&image, &spec);
    ring_fill(&image, objects, spec.objects, entries, entry_count);
    look_open(&look, &image);
    assert_int_equal(extract_filter_new(&filter, NULL), EXTRACT_OK);
    if (value)
        assert_int_equal(extract_filter_add(filter, word, value, NULL), EXTRACT_OK);
    assert_int_equal(extract_view_new(&view, filter, look.trace, 0, NULL), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(
        extract_report_chart(&text, view, look.trace, is_signalling, &options, NULL, NULL),
        EXTRACT_OK);
    extract_view_free(view);
    extract_filter_free(filter);
    look_close(&look);
    return text;
}

// Checks the arrows of the chart: the lines after the entities.
static void check_filtered(enum extract_filter_word word, const char *value, const char *expected)
{
    struct extract_text text = draw(true, word, value);
    extract_text_putc(&text, 0);
    const char *arrows = strstr(text.data, ";\n\n");
    assert_string_equal(arrows ? arrows + 3 : text.data, expected);
    extract_text_free(&text);
}

static void check(const char *expected)
{
    check_filtered(EXTRACT_FILTER_EVENT, NULL, expected);
}

// ---- queues ----

// B waits for a message, and A sends one.
static void put_direct(void)
{
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 0);
    put(B, SUSPEND, B, ON_QUEUE, 0, A);
    put(A, SEND, QUEUE, 0x20006000, 0, 0);
    put(A, RESUME, B, ON_QUEUE, 0, B);
}

static void a_send_wakes_the_receiver(void **state)
{
    (void)state;
    put_direct();
    put(B, SEND, QUEUE, 0x20006000, 0, 0); // the queue is still empty
    check("B>B: waits: queue; # 10\n"
          "A=>B: queue send: queue; # 20\n"
          "B->queue: queue send: queue; # 40\n");
}

static void messages_lie_in_a_queue(void **state)
{
    (void)state;
    put(A, SEND, OTHER, 0x20006000, FOREVER, 0);
    put(RING_IN_ISR, ENTER, 0, 20, 1, 0);
    put(RING_IN_ISR, SEND, OTHER, 0x20006000, FOREVER, 1);
    put(RING_IN_ISR, EXIT, 0, 20, 1, 0);
    put(A, FRONT_SEND, OTHER, 0x20006000, FOREVER, 2);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 3);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 2);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 1);
    put(B, RECEIVE, OTHER, 0x20006000, 0, 0); // nothing is there
    check("A->e3: queue send: 0x20005100; # 0\n"
          "e0->e3: queue send: 0x20005100; # 20\n"
          "A->e3: queue front send: 0x20005100; # 40\n"
          "e3->B: queue receive: 0x20005100, from A, +10; # 50\n"
          "e3->B: queue receive: 0x20005100, from A, +60; # 60\n"
          "e3->B: queue receive: 0x20005100, from interrupt 20, +50; # 70\n");
}

// Messages from before the trace have no known sender, and nor do any after a call is missing.
static void the_order_may_be_unknown(void **state)
{
    (void)state;
    put(A, SEND, OTHER, 0x20006000, FOREVER, 1);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 2);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 1);
    put(A, SEND, OTHER, 0x20006000, FOREVER, 0);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 3); // two sends are missing
    put(A, FLUSH, OTHER, 0, 0, 0);
    put(A, SEND, OTHER, 0x20006000, FOREVER, 0);
    put(B, RECEIVE, OTHER, 0x20006000, FOREVER, 1);
    check("A->e2: queue send: 0x20005100; # 0\n"
          "e2->B: queue receive: 0x20005100; # 10\n"
          "e2->B: queue receive: 0x20005100, from A, +20; # 20\n"
          "A->e2: queue send: 0x20005100; # 30\n"
          "e2->B: queue receive: 0x20005100; # 40\n"
          "A->e2: queue send: 0x20005100; # 60\n"
          "e2->B: queue receive: 0x20005100, from A, +10; # 70\n");
}

// If it is not known how many messages fit, the next call shows whether a message was sent.
static void a_send_may_fail(void **state)
{
    (void)state;
    put(A, SEND, QUEUE, 0x20006000, 0, 1);
    put(A, SEND, QUEUE, 0x20006000, 0, 2);
    put(A, SEND, OTHER, 0x20006000, 0, 0);
    put(A, SEND, OTHER, 0x20006000, 0, 1);
    put(B, SEND, OTHER, 0x20006000, 0, 2);
    put(A, SEND, OTHER, 0x20006000, 0, 2);
    put(B, RECEIVE, OTHER, 0x20006000, 0, 3);
    put(A, SEND, OTHER, 0x20006000, 0, 2);
    check("A->queue: queue send: queue; # 0\n"
          "A>A: queue send: queue fails; # 10\n"
          "A->e3: queue send: 0x20005100; # 20\n"
          "A->e3: queue send: 0x20005100; # 30\n"
          "B>B: queue send: 0x20005100 fails; # 40\n"
          "A->e3: queue send: 0x20005100; # 50\n"
          "e3->B: queue receive: 0x20005100, from A, +40; # 60\n"
          "A->e3: queue send: 0x20005100 (likely); # 70\n");
}

static void a_full_queue_blocks_the_sender(void **state)
{
    (void)state;
    put(B, SEND, QUEUE, 0x20006000, 0, 0);
    put(B, SEND, QUEUE, 0x20006000, 0, 1);
    put(A, SEND, QUEUE, 0x20006000, FOREVER, 2);
    put(A, SUSPEND, A, ON_QUEUE, 0, B);
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 2);
    put(B, RESUME, A, ON_QUEUE, 0, B);
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 2);
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 1);
    check("B->queue: queue send: queue; # 0\n"
          "B->queue: queue send: queue; # 10\n"
          "A>A: waits: queue; # 20\n"
          "queue->B: queue receive: queue, from B, +40; # 40\n"
          "B=>A: queue receive: queue; # 50\n"
          "A->queue: queue send: queue; # 50\n"
          "queue->B: queue receive: queue, from B, +50; # 60\n"
          "queue->B: queue receive: queue, from A, +20; # 70\n");
}

// The message of a thread that waits to send to the front goes to the receiver.
static void a_front_send_passes_the_queue(void **state)
{
    (void)state;
    put(B, SEND, QUEUE, 0x20006000, 0, 0);
    put(B, SEND, QUEUE, 0x20006000, 0, 1);
    put(A, FRONT_SEND, QUEUE, 0x20006000, FOREVER, 2);
    put(A, SUSPEND, A, ON_QUEUE, 0, B);
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 2);
    put(B, RESUME, A, ON_QUEUE, 0, B);
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 2);
    check("B->queue: queue send: queue; # 0\n"
          "B->queue: queue send: queue; # 10\n"
          "A>A: waits: queue; # 20\n"
          "A->B: queue receive: queue; # 40\n"
          "B=>A: queue receive: queue; # 50\n"
          "queue->B: queue receive: queue; # 60\n");
}

// ---- other objects ----

static void semaphores(void **state)
{
    (void)state;
    put(A, PUT, SEMAPHORE, 0, 0, 0);
    put(B, GET, SEMAPHORE, FOREVER, 1, 0);
    put(B, GET, SEMAPHORE, 0, 0, 0); // fails
    put(B, GET, SEMAPHORE, FOREVER, 0, 0);
    put(B, SUSPEND, B, ON_SEMAPHORE, 0, A);
    put(RING_IN_ISR, ENTER, 0, 20, 1, 0);
    put(RING_IN_ISR, PUT, SEMAPHORE, 0, 1, 0);
    put(RING_IN_ISR, RESUME, B, ON_SEMAPHORE, 0, B);
    put(RING_IN_ISR, EXIT, 0, 20, 1, 0);
    put(B, CEILING_PUT, SEMAPHORE, 1, 0, 2);
    put(B, CEILING_PUT, SEMAPHORE, 2, 0, 2);
    check("A->sem: semaphore put: sem; # 0\n"
          "sem->B: semaphore get: sem; # 10\n"
          "B>B: waits: sem; # 40\n"
          "e0=>B: semaphore put: sem; # 60\n"
          "B->sem: semaphore ceiling put: sem; # 90\n"
          "B>B: semaphore ceiling put: sem fails; # 100\n");
}

// One call may wake several threads.
static void event_flags(void **state)
{
    enum { OR = 0, AND = 2 };
    (void)state;
    put(A, FLAGS_SET, FLAGS, 3, OR, 0);
    put(A, FLAGS_GET, FLAGS, 5, 3, AND); // waits for 4
    put(A, SUSPEND, A, ON_FLAGS, 0, B);
    put(B, FLAGS_GET, FLAGS, 3, 3, AND);
    put(B, FLAGS_GET, FLAGS, 6, 3, OR);
    put(B, FLAGS_SET, FLAGS, 1, AND, 1); // clears flags
    put(B, FLAGS_GET, FLAGS, 6, 1, OR);
    put(B, SUSPEND, B, ON_FLAGS, 0, TIMER);
    put(TIMER, FLAGS_SET, FLAGS, 4, OR, 2);
    put(TIMER, RESUME, A, ON_FLAGS, 0, TIMER);
    put(TIMER, RESUME, B, ON_FLAGS, 0, TIMER);
    check("A->flags: event flags set: flags; # 0\n"
          "A>A: waits: flags; # 20\n"
          "flags->B: event flags get: flags; # 30\n"
          "flags->B: event flags get: flags; # 40\n"
          "B>B: waits: flags; # 70\n"
          "e0=>A: event flags set: flags (likely); # 80\n"
          "e0=>B: event flags set: flags; # 100\n");
}

static void mutexes_and_waits_that_fail(void **state)
{
    (void)state;
    put(A, MUTEX_GET, MUTEX, FOREVER, 0, 0);
    put(B, MUTEX_GET, MUTEX, FOREVER, A, 1);
    put(B, SUSPEND, B, ON_MUTEX, 0, A);
    put(A, MUTEX_PUT, MUTEX, A, 1, 0);
    put(A, RESUME, B, ON_MUTEX, 0, B);
    put(B, GET, SEMAPHORE, 5, 0, 0);
    put(B, SUSPEND, B, ON_SEMAPHORE, 0, A);
    put(A, USER, 0, 0, 0, 0);
    put(TIMER, RESUME, B, ON_SEMAPHORE, 0, B);
    put(B, GET, SEMAPHORE, 5, 0, 0);
    put(B, SUSPEND, B, ON_SEMAPHORE, 0, A);
    put(A, WAIT_ABORT, B, ON_SEMAPHORE, 0, 0);
    put(A, RESUME, B, ON_SEMAPHORE, 0, B);
    check("B>B: waits: mutex; # 20\n"
          "A=>B: mutex put: mutex; # 40\n"
          "B>B: waits: sem; # 60\n"
          "e0=>B: thread resume; # 80\n" // the trace does not show that the timer did nothing else
          "B>B: waits: sem; # 100\n"
          "A=>B: thread wait abort: sem; # 120\n");
}

// ---- filters ----

static void filters_choose_arrows(void **state)
{
    (void)state;
    put_direct();
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 0);
    put(B, SUSPEND, B, ON_QUEUE, 0, A);
    check_filtered(EXTRACT_FILTER_EVENT, "queue send", "A=>B: queue send: queue; # 20\n");
    check_filtered(EXTRACT_FILTER_EVENT, "queue receive",
                   "B>B: waits: queue; # 10\nB>B: waits: queue; # 50\n");
    check_filtered(EXTRACT_FILTER_THREAD, "A", "A=>B: queue send: queue; # 20\n");
    check_filtered(EXTRACT_FILTER_THREAD, "B",
                   "B>B: waits: queue; # 10\n"
                   "A=>B: queue send: queue; # 30\n" // at the resumption, since the send is hidden
                   "B>B: waits: queue; # 50\n");
    check_filtered(EXTRACT_FILTER_LAST, "1", "B>B: waits: queue; # 50\n");
    check_filtered(EXTRACT_FILTER_FROM, "20",
                   "A=>B: queue send: queue; # 20\nB>B: waits: queue; # 50\n");
    check_filtered(EXTRACT_FILTER_TO, "20",
                   "B>B: waits: queue; # 10\nA=>B: queue send: queue; # 20\n");
    check_filtered(EXTRACT_FILTER_EVENT, "4096", "");
}

// ---- the picture ----

static void the_picture_has_a_column_for_each_lifeline(void **state)
{
    static const char *const pieces[] = {
        "Thin arrow: into an object",
        "class=\"hb\" x=\"100\"", // B has the higher priority
        ">B</text>",
        ">A</text>",
        "class=\"hs\"",
        ">queue</text>",
        "<circle class=\"ring\"",
        ">waits: queue</text>",
        "<title>seq 2, ticks 20: queue send: queue</title><path class=\"y\"",
        "<title>seq 5, ticks 50: queue receive: queue, from A, +10</title><path class=\"m\"",
        ">queue receive: queue +10</text>",
        "</svg>"};
    (void)state;
    put_direct();
    put(A, SEND, QUEUE, 0x20006000, 0, 0);
    put(B, RECEIVE, QUEUE, 0x20006000, FOREVER, 1);
    struct extract_text text = draw(false, EXTRACT_FILTER_EVENT, NULL);
    extract_text_putc(&text, 0);
    const char *at = text.data;
    for (size_t i = 0; i < sizeof pieces / sizeof *pieces; i++) {
        at = strstr(at, pieces[i]);
        if (!at)
            fail_msg("the picture lacks \"%s\" there", pieces[i]);
    }
    extract_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_send_wakes_the_receiver, begin),
        cmocka_unit_test_setup(messages_lie_in_a_queue, begin),
        cmocka_unit_test_setup(the_order_may_be_unknown, begin),
        cmocka_unit_test_setup(a_send_may_fail, begin),
        cmocka_unit_test_setup(a_full_queue_blocks_the_sender, begin),
        cmocka_unit_test_setup(a_front_send_passes_the_queue, begin),
        cmocka_unit_test_setup(semaphores, begin),
        cmocka_unit_test_setup(event_flags, begin),
        cmocka_unit_test_setup(mutexes_and_waits_that_fail, begin),
        cmocka_unit_test_setup(filters_choose_arrows, begin),
        cmocka_unit_test_setup(the_picture_has_a_column_for_each_lifeline, begin),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
