// SPDX-License-Identifier: MIT
// unit: the text and JSON reports of a known ring.
//
// Truth: written by hand from the ring's words and the documented layout (docs/man/ringside.1).
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include <extract/session.h>

static struct ring_image image;
static struct extract_memory *memory;

enum { MAIN = 0x20004000, HOSTILE = 0x20004100, OTHER = 0x20004200, QUEUE = 0x20005000 };

static void make_ring(void)
{
    static const struct ring_entry entries[] = {
        {RING_IN_INIT, 0, 60, 100, {QUEUE, 4, 0x20006000, 10}},
        {MAIN, 0x80080010, 69, 110, {QUEUE, 0x20006010, 0xFFFFFFFF, 3}},
        {RING_IN_ISR, MAIN, 3, 130, {0x20001000, 15, 1, 0}},
        {MAIN, 0x80100010, 83, 135, {0x20009000, 7, 1, 0x200083F0}},
        {HOSTILE, 0x80050005, 32, 1200, {0x20009999, 5, 0, 1}},
        {RING_IN_ISR, 0, 4097, 1210, {1, 2, 3, 4}},
        {OTHER, 5, 8, 1215, {0xDEADBEEF, 0, 1, 0xFFFFFFFF}},
        {MAIN, 0x80100010, 1, 1220, {HOSTILE, 5, 0x200083F0, 0}},
    };
    static const struct ring_object objects[] = {
        {0, 1, 0x80, 16, MAIN, 0x20008000, 1024, "main"},
        {0, 1, 0x80, 5, HOSTILE, 0x20008400, 512, "w\x1b[31m\"x"},
        {0, 3, 0, 0, QUEUE, 40, 1, "queue 0"},
        {1, 5, 0, 0, 0x20005100, 1, 0, "old"},
    };
    struct ring_spec spec = ring_plain;
    spec.entries = 12;
    ring_build(&image, &spec);
    ring_fill(&image, objects, sizeof objects / sizeof *objects, entries,
              sizeof entries / sizeof *entries);
}

static int open_memory(void **state)
{
    (void)state;
    make_ring();
    extract_memory_new_images(&memory, NULL);
    return (int)extract_memory_add_bytes(memory, "ring", image.bytes, image.length,
                                         image.spec.address, NULL);
}

static int close_memory(void **state)
{
    (void)state;
    extract_memory_close(memory);
    return 0;
}

// Runs a command, and returns its text with a terminating NUL in a buffer of its own.
static enum extract_code answer(const char *verb, const struct extract_session_options *options,
                                char *buffer, size_t size)
{
    struct extract_session *session;
    struct extract_text text;
    enum extract_code code = extract_session_open(&session, memory, NULL, options, NULL);
    if (code)
        return code;
    extract_text_init(&text, NULL, NULL);
    code = extract_session_run(session, verb, &text, NULL);
    assert_true(text.used < size);
    if (text.used)
        memcpy(buffer, text.data, text.used);
    buffer[text.used] = 0;
    extract_text_free(&text);
    extract_session_close(session);
    return code;
}

static void assert_answer(const char *verb, const struct extract_session_options *options,
                          const char *expected)
{
    static char buffer[64 * 1024];
    assert_int_equal(answer(verb, options, buffer, sizeof buffer), EXTRACT_OK);
    assert_string_equal(buffer, expected);
}

#define HEAD                                                                                       \
    "SEQ  ID    THREAD          ELAPSED_TICKS  DELTA_TICKS  APPL    SYSCALL KERNEL  INTERRUPT\n"

static const char lines[] =
    "  0  03C   start-up                    0            0          "
    "queue create queue=queue 0 message_size=4 area_start=0x20006000 queue_size=10\n"
    "  1  045   main                       10           10          "
    "queue send queue=queue 0 source=0x20006010 wait=forever enqueued=3\n"
    "  2  003   interrupt/main             30           20                          "
    "isr enter sp=0x20001000 isr_number=15 sys_state=0x0001 preempt_disable=0\n"
    "  3  053   main                       35            5          "
    "semaphore get semaphore=0x20009000 wait=7 current_count=1 sp=0x200083F0\n"
    "  4  020   w\\x1b[31m\"x              1100         1065          "
    "event flags get group=0x20009999 wanted=0x0005 current=0x0000 option=or clear\n"
    "  5  1001  interrupt                1110           10  "
    "user event 4097 info1=0x0001 info2=0x0002 info3=0x0003 info4=0x0004\n"
    "  6  008   0x20004200               1115            5  "
    "event 8 info1=0xDEADBEEF info2=0x0000 info3=0x0001 info4=0xFFFFFFFF\n"
    "  7  001   main                     1120            5                  "
    "thread resume thread=w\\x1b[31m\"x prev_state=queue sp=0x200083F0 next_thread=none  "
    "[provisional]\n";

static void report_is_lines_in_columns(void **state)
{
    struct extract_session_options options = {.size = sizeof options};
    char expected[4096];
    (void)state;
    snprintf(expected, sizeof expected, "%s%s", HEAD, lines);
    assert_answer("report", &options, expected);
    options.no_header = true;
    assert_answer("report", &options, lines);
}

// The delta is relative to the previous printed event, and the columns fit the printed events.
static void filters_narrow_the_report(void **state)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_EVENT, "83,8"}};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = conditions, .condition_count = 1};
    (void)state;
    assert_answer(
        "report", &options,
        "SEQ  ID    THREAD      ELAPSED_TICKS  DELTA_TICKS  APPL    SYSCALL KERNEL  INTERRUPT\n"
        "  3  053   main                   35            0          "
        "semaphore get semaphore=0x20009000 wait=7 current_count=1 sp=0x200083F0\n"
        "  6  008   0x20004200           1115         1080  "
        "event 8 info1=0xDEADBEEF info2=0x0000 info3=0x0001 info4=0xFFFFFFFF\n");
}

// At 1,000 ticks per second, a tick is a millisecond. At 7, seconds are cut off after the ninth
// digit.
static void seconds_have_nine_digits(void **state)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_LAST, "1"},
                                                          {EXTRACT_FILTER_EVENT, "8"}};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = conditions, .condition_count = 2, .hz = 1000};
    (void)state;
    options.no_header = true;
    assert_answer("report", &options,
                  "  6  008   0x20004200  1.115000000    0.000000  "
                  "event 8 info1=0xDEADBEEF info2=0x0000 info3=0x0001 info4=0xFFFFFFFF\n");
    options.hz = 7; // 1115 / 7 = 159.285714285714...
    assert_answer("report", &options,
                  "  6  008   0x20004200  159.285714285    0.000000  "
                  "event 8 info1=0xDEADBEEF info2=0x0000 info3=0x0001 info4=0xFFFFFFFF\n");
}

static void color_marks_heads_and_flags(void **state)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_EVENT, "1"}};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = conditions, .condition_count = 1, .color = true};
    (void)state;
    assert_answer(
        "report", &options,
        "\x1b[1mSEQ  ID    THREAD  ELAPSED_TICKS  DELTA_TICKS  APPL    SYSCALL KERNEL  "
        "INTERRUPT\x1b[0m\n"
        "  7  001   main             1120            0                  "
        "thread resume thread=w\\x1b[31m\"x prev_state=queue sp=0x200083F0 next_thread=none "
        "\x1b[31m [provisional]\x1b[0m\n");
}

static void report_is_json_lines(void **state)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_EVENT, "!83,!32"}};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = conditions, .condition_count = 1, .json = true};
    (void)state;
    assert_answer(
        "report", &options,
        "{\"seq\":0,\"ticks\":0,\"raw_stamp\":100,\"core\":0,\"context\":\"init\",\"thread\":null,"
        "\"thread_name\":null,\"priority\":null,\"threshold\":null,\"id\":60,"
        "\"event\":\"TX_TRACE_QUEUE_CREATE\",\"class\":\"SVC\",\"fields\":{\"queue\":536891392,"
        "\"message size\":4,\"area start\":536895488,\"queue size\":10},"
        "\"names\":{\"queue\":\"queue 0\"},\"info\":[536891392,4,536895488,10],\"flags\":[]}\n"
        "{\"seq\":1,\"ticks\":10,\"raw_stamp\":110,\"core\":0,\"context\":\"thread\","
        "\"thread\":536887296,\"thread_name\":\"main\",\"priority\":16,\"threshold\":8,\"id\":69,"
        "\"event\":\"TX_TRACE_QUEUE_SEND\",\"class\":\"SVC\",\"fields\":{\"queue\":536891392,"
        "\"source\":536895504,\"wait\":4294967295,\"enqueued\":3},"
        "\"names\":{\"queue\":\"queue 0\",\"wait\":\"forever\"},"
        "\"info\":[536891392,536895504,4294967295,3],\"flags\":[]}\n"
        "{\"seq\":2,\"ticks\":30,\"raw_stamp\":130,\"core\":0,\"context\":\"isr\",\"thread\":null,"
        "\"thread_name\":null,\"interrupted\":536887296,\"priority\":null,\"threshold\":null,"
        "\"isr\":15,\"id\":3,\"event\":\"TX_TRACE_ISR_ENTER\",\"class\":\"INT\",\"fields\":{\"sp\":"
        "536875008,"
        "\"isr number\":15,\"sys state\":1,\"preempt disable\":0},\"names\":{},"
        "\"info\":[536875008,15,1,0],\"flags\":[]}\n"
        "{\"seq\":5,\"ticks\":1110,\"raw_stamp\":1210,\"core\":0,\"context\":\"isr\","
        "\"thread\":null,\"thread_name\":null,\"interrupted\":null,\"priority\":null,"
        "\"threshold\":null,\"id\":4097,\"event\":\"TX_TRACE_USER_EVENT_START\","
        "\"class\":\"APPL\",\"fields\":{\"info1\":1,\"info2\":2,\"info3\":3,\"info4\":4},"
        "\"names\":{},\"info\":[1,2,3,4],\"flags\":[]}\n"
        "{\"seq\":6,\"ticks\":1115,\"raw_stamp\":1215,\"core\":0,\"context\":\"thread\","
        "\"thread\":536887808,\"thread_name\":null,\"priority\":5,\"threshold\":null,\"id\":8,"
        "\"event\":\"UNKNOWN\",\"class\":\"APPL\",\"fields\":{\"info1\":3735928559,\"info2\":0,"
        "\"info3\":1,\"info4\":4294967295},\"names\":{},"
        "\"info\":[3735928559,0,1,4294967295],\"flags\":[]}\n"
        "{\"seq\":7,\"ticks\":1120,\"raw_stamp\":1220,\"core\":0,\"context\":\"thread\","
        "\"thread\":536887296,\"thread_name\":\"main\",\"priority\":16,\"threshold\":16,\"id\":1,"
        "\"event\":\"TX_TRACE_THREAD_RESUME\",\"class\":\"KERN\","
        "\"fields\":{\"thread\":536887552,\"prev state\":5,\"sp\":536904688,\"next thread\":0},"
        "\"names\":{\"thread\":\"w\\u001b[31m\\\"x\",\"prev state\":\"queue\"},"
        "\"info\":[536887552,5,536904688,0],\"flags\":[\"provisional\"]}\n");
}

static void objects_are_a_table(void **state)
{
    struct extract_session_options options = {.size = sizeof options};
    (void)state;
    assert_answer(
        "objects", &options,
        "address     type    name         state         prio  parameters\n"
        "0x20004000  thread  main         in use          16  stack start 0x20008000, stack size "
        "1024\n"
        "0x20004100  thread  w\\x1b[31m\"x  in use           5  stack start 0x20008400, stack size "
        "512\n"
        "0x20005000  queue   queue 0      in use           -  area bytes 40, message words 1\n"
        "0x20005100  mutex   old          deleted          -  inherit yes\n"
        "0x20004200  thread  0x20004200   unregistered     5\n");
    options.json = true;
    assert_answer(
        "objects", &options,
        "{\"address\":536887296,\"type\":\"thread\",\"name\":\"main\",\"param1\":536903680,"
        "\"param2\":1024,\"in_use\":true,\"registered\":true,\"slot\":0,\"type_id\":1,"
        "\"priority\":16}\n"
        "{\"address\":536887552,\"type\":\"thread\",\"name\":\"w\\u001b[31m\\\"x\","
        "\"param1\":536904704,\"param2\":512,\"in_use\":true,\"registered\":true,\"slot\":1,"
        "\"type_id\":1,\"priority\":5}\n"
        "{\"address\":536891392,\"type\":\"queue\",\"name\":\"queue 0\",\"param1\":40,"
        "\"param2\":1,\"in_use\":true,\"registered\":true,\"slot\":2,\"type_id\":3,"
        "\"priority\":null}\n"
        "{\"address\":536891648,\"type\":\"mutex\",\"name\":\"old\",\"param1\":1,\"param2\":0,"
        "\"in_use\":false,\"registered\":true,\"slot\":3,\"type_id\":5,\"priority\":null}\n"
        "{\"address\":536887808,\"type\":\"thread\",\"name\":\"\",\"param1\":0,\"param2\":0,"
        "\"in_use\":true,\"registered\":false,\"slot\":null,\"type_id\":1,\"priority\":5}\n");
}

static void info_has_the_keys_of_the_design(void **state)
{
    struct extract_session_options options = {.size = sizeof options, .json = true};
    (void)state;
    assert_answer(
        "info", &options,
        "{\"format\":\"threadx\",\"address\":536871168,\"found_by\":\"scan\","
        "\"byte_order\":\"little\",\"word_bytes\":4,"
        "\"cores\":1,\"cores_from\":\"events\",\"hides_cores\":false,"
        "\"timer_mask\":4294967295,"
        "\"time_direction\":\"up\",\"clock_modulus\":4294967296,"
        "\"clock_modulus_likely\":null,\"clock_modulus_above\":null,\"clock_goes_back\":null,"
        "\"clock_stands_still\":false,"
        "\"counts_events\":false,\"entries_total\":12,"
        "\"entries_valid\":8,"
        "\"entries_damaged\":0,\"entries_unread\":0,\"entries_unused\":4,"
        "\"events_lost\":0,"
        "\"events_lost_at_least\":0,\"events_lost_at_most\":0,"
        "\"events_lost_exact\":true,\"events_lost_low\":null,"
        "\"events_lost_high\":null,\"gaps\":0,\"gaps_not_exact\":0,"
        "\"wrapped\":false,\"objects\":4,\"registry_slots\":4,\"span_ticks\":1120,"
        "\"periods_added\":0,"
        "\"state\":[\"unknown\",\"not_full\",\"no_overrun\"],\"filter\":null}\n");
    options.json = false;
    options.hz = 1000;
    options.ring_known = true;
    options.ring = image.spec.address;
    assert_answer("info", &options,
                  "format: threadx\naddress: 0x20000100\nfound by: address\n"
                  "byte order: little\nword bytes: 4\n"
                  "cores: 1 (at least: no event is from a higher core)\ntimer mask: 0xffffffff\n"
                  "time direction: up\nclock modulus: 4294967296\ncounts events: no\n"
                  "entries total: 12\nentries valid: 8\nentries damaged: 0\n"
                  "entries unused: 4\nevents lost: 0\nwrapped: no\nobjects: 4\n"
                  "registry slots: 4\nspan ticks: 1120 (1.120000000 s)\n"
                  "state: unknown, not_full, no_overrun\nfilter: unknown\n");
}

// The statistics contain events and their counts. Percentages refer to the 1120 ticks and the 8
// events.
static void stats_count_what_is_there(void **state)
{
    static char buffer[16 * 1024];
    struct extract_session_options options = {.size = sizeof options, .json = true};
    (void)state;
    assert_int_equal(answer("stats", &options, buffer, sizeof buffer), EXTRACT_OK);
    static const char *const parts[] = {
        "{\"events\":8,",
        "\"resumes\":1,",
        "\"span_ticks\":1120,",
        "\"priority_inversions\":{\"deterministic\":0,\"undeterministic\":0}",
        "\"stack_size\":1024,\"stack_min_free\":1008,", // 0x200083f0 - 0x20008000
        "{\"id\":8,\"event\":\"UNKNOWN\",\"class\":\"APPL\",\"count\":1}",
        "\"stack_size\":null,\"stack_min_free\":null,",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        assert_non_null(strstr(buffer, parts[i]));
}

// A torn entry is reported, and makes the trace incomplete. Here only its thread word is new.
static void damage_is_named(void **state)
{
    struct extract_session_options options = {.size = sizeof options};
    struct extract_session *session;
    struct extract_text text;
    static struct ring_image torn;
    struct extract_memory *broken;
    (void)state;
    assert_answer("damage", &options, "");
    torn = image;
    ring_word(&torn, 8, 0, MAIN); // slot 8 is the next: only the thread is written there
    assert_int_equal(extract_memory_new_images(&broken, NULL), EXTRACT_OK);
    assert_int_equal(
        extract_memory_add_bytes(broken, "torn", torn.bytes, torn.length, torn.spec.address, NULL),
        EXTRACT_OK);
    assert_int_equal(extract_session_open(&session, broken, NULL, &options, NULL), EXTRACT_OK);
    assert_false(extract_session_is_whole(session));
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, "damage", &text, NULL), EXTRACT_OK);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data,
                        "1 entry was being written when it was read (slot 8); it is not shown\n");
    extract_text_free(&text);
    extract_session_close(session);
    extract_memory_close(broken);
}

static void faults_of_the_caller_are_said(void **state)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_THREAD, "nobody"}};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = conditions, .condition_count = 1};
    struct extract_session *session;
    struct extract_error error;
    struct extract_text text;
    (void)state;
    assert_int_equal(extract_session_open(&session, memory, NULL, &options, &error), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, "dance", &text, &error), EXTRACT_USAGE);
    assert_string_equal(error.what, "dance");
    assert_int_equal(text.used, 0);
    assert_int_equal(extract_session_run(session, "report", &text, &error), EXTRACT_NOTFOUND);
    assert_non_null(strstr(error.why, "nobody"));
    assert_int_equal(extract_session_shown(session), 0);
    extract_text_free(&text);
    extract_session_close(session);
    options.format = "dance";
    assert_int_equal(extract_session_open(&session, memory, NULL, &options, &error), EXTRACT_USAGE);
    assert_null(session);
}

static bool full(void *context, const char *data, size_t length)
{
    (void)context;
    (void)data;
    (void)length;
    return false;
}

// There are more threads, types and values than the report's caches hold. Every line is correct all
// the same.
static void many_names_do_not_mix(void **state)
{
    static struct ring_image many;
    struct ring_spec spec = ring_plain;
    struct extract_session_options options = {.size = sizeof options, .no_header = true};
    struct extract_session *session;
    struct extract_memory *crowd;
    struct extract_text text;
    (void)state;
    spec.entries = 1900;
    ring_build(&many, &spec);
    for (unsigned i = 0; i < spec.entries - 1; i++) {
        struct ring_entry entry = {0x20010000 + 16 * i, 5, 4096 + i, i, {i, 0, 0, 0}};
        ring_insert(&many, &entry);
    }
    assert_int_equal(extract_memory_new_images(&crowd, NULL), EXTRACT_OK);
    assert_int_equal(
        extract_memory_add_bytes(crowd, "crowd", many.bytes, many.length, many.spec.address, NULL),
        EXTRACT_OK);
    assert_int_equal(extract_session_open(&session, crowd, NULL, &options, NULL), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(session, "report", &text, NULL), EXTRACT_OK);
    extract_text_putc(&text, 0);
    const char *line = text.data;
    for (unsigned i = 0; i < spec.entries - 1; i++) {
        char expected[160];
        snprintf(expected, sizeof expected,
                 "%4u  %04X  0x%08x  %13u  %11u  user event %u info1=0x%04X info2=0x0000 "
                 "info3=0x0000 info4=0x0000\n",
                 i, 4096 + i, 0x20010000 + 16 * i, i, i ? 1 : 0, 4096 + i, i);
        assert_memory_equal(line, expected, strlen(expected));
        line += strlen(expected);
    }
    assert_int_equal(*line, 0);
    extract_text_free(&text);
    extract_text_init(&text, full, NULL);
    assert_int_equal(extract_session_run(session, "report", &text, NULL), EXTRACT_IO);
    extract_text_free(&text);
    extract_session_close(session);
    extract_memory_close(crowd);
}

static const char *const verbs[] = {"info", "objects", "report", "stats", "damage", "cost"};
static struct extract_session_options attempt_options;
static const char *attempt_verb;

static enum extract_code attempt(void)
{
    static char buffer[64 * 1024];
    return answer(attempt_verb, &attempt_options, buffer, sizeof buffer);
}

static void memory_runs_out(void **state)
{
    (void)state;
    for (int json = 0; json < 2; json++)
        for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
            attempt_options =
                (struct extract_session_options){.size = sizeof attempt_options, .json = json};
            attempt_verb = verbs[i];
            each_allocation_fails(attempt);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(report_is_lines_in_columns),
        cmocka_unit_test(filters_narrow_the_report),
        cmocka_unit_test(seconds_have_nine_digits),
        cmocka_unit_test(color_marks_heads_and_flags),
        cmocka_unit_test(report_is_json_lines),
        cmocka_unit_test(objects_are_a_table),
        cmocka_unit_test(info_has_the_keys_of_the_design),
        cmocka_unit_test(stats_count_what_is_there),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(faults_of_the_caller_are_said),
        cmocka_unit_test(many_names_do_not_mix),
        cmocka_unit_test(memory_runs_out),
    };
    return cmocka_run_group_tests_name("report", tests, open_memory, close_memory);
}
