// SPDX-License-Identifier: MIT
// unit: the templates of RKH: one for each event of the event table, under the same name, and what
// each prints.
//
// Truth: the meaning of the arguments after docs/formats/rkh.md, by hand.
#include "formats/format.h"
#include "tests/unit/trazer/rkh_stream.h"

static const char narrow[] = "0034 FEE70100 22 24 22 01 24 E803";

struct row {
    uint8_t id;
    const char *arguments;
    enum extract_class level;
    const char *text;
};

// The names come first and apply to all other rows.
static const struct row rows[] = {
    {166, "290B0020 '&l_isr_tick'", EXTRACT_SVC,
     "name of object address=0x20000B29 name=\"&l_isr_tick\""},
    {167, "05 'PAUSE'", EXTRACT_SVC, "name of signal signal=5 name=\"PAUSE\""},
    {168, "F51B0000 'bsp'", EXTRACT_SVC, "name of function address=0x1BF5 name=\"bsp\""},
    {171, "09 'USR_NINTH'", EXTRACT_SVC, "name of user event number=9 name=\"USR_NINTH\""},
    {174, "00000020 'server'", EXTRACT_SVC,
     "name of active object address=0x20000000 name=\"server\""},
    {175, "00000020 24250000 'idle'", EXTRACT_SVC,
     "name of state ao=server address=0x2524 name=\"idle\""},
    {176, "00000020 28250000 'choice'", EXTRACT_SVC,
     "name of pseudostate ao=server address=0x2528 name=\"choice\""},
    {177, "380B0020 'tmr'", EXTRACT_SVC, "name of timer address=0x20000B38 name=\"tmr\""},
    {178, "00 'ep0'", EXTRACT_SVC, "name of event pool number=0 name=\"ep0\""},
    {179, "08000020 'q'", EXTRACT_SVC, "name of queue address=0x20000008 name=\"q\""},
    {180, "280B0020 'isr'", EXTRACT_SVC, "name of actor address=0x20000B28 name=\"isr\""},
    {0, "BC010020 20 04", EXTRACT_SVC, "pool init pool=0x200001BC blocks=32 block_size=4"},
    {1, "BC010020 1F 1E", EXTRACT_SVC, "pool get pool=0x200001BC free=31 lowest=30"},
    {2, "BC010020 1F", EXTRACT_SVC, "pool put pool=0x200001BC free=31"},
    {32, "EC0A0020 00000000 08", EXTRACT_SVC, "queue init queue=0x20000AEC ao=none length=8"},
    {33, "EC0A0020 01", EXTRACT_SVC, "queue get queue=0x20000AEC queued=1"},
    {34, "44010020 01 03", EXTRACT_SVC, "queue put queue=0x20000144 queued=1 lowest=3"},
    {35, "44010020 02 03", EXTRACT_SVC, "queue put first queue=0x20000144 queued=2 lowest=3"},
    {36, "44010020", EXTRACT_SVC, "queue full queue=0x20000144"},
    {37, "44010020", EXTRACT_SVC, "queue depleted queue=0x20000144"},
    {38, "44010020", EXTRACT_SVC, "queue get last queue=0x20000144"},
    {64, "00000020 00 04", EXTRACT_SVC, "activate ao=server priority=0 queue_length=4"},
    {65, "00000020 01", EXTRACT_SVC, "terminate ao=server priority=1"},
    {67, "3C010020 05 280B0020 00 00 01 03", EXTRACT_SVC,
     "post ao=0x2000013C signal=PAUSE sender=isr pool=static refs=0 queued=1 lowest=3"},
    {66, "3C010020 05 00 00 00 03", EXTRACT_KERN,
     "event get ao=0x2000013C signal=PAUSE pool=static refs=0 queued=0 lowest=3"},
    {68, "00000020 05 00000000 01 02 01 03", EXTRACT_SVC,
     "post first ao=server signal=PAUSE sender=none pool=ep0 refs=2 queued=1 lowest=3"},
    {69, "00000020 03", EXTRACT_SVC, "register ao=server priority=3"},
    {70, "00000020 03", EXTRACT_SVC, "unregister ao=server priority=3"},
    {71, "EC0A0020 00", EXTRACT_SVC, "defer queue=0x20000AEC signal=0"},
    {72, "00000020 00", EXTRACT_SVC, "recall ao=server signal=0"},
    {96, "00000020 24250000", EXTRACT_KERN, "state machine init ao=server state=idle"},
    {97, "00000020 24250000", EXTRACT_KERN, "history clear ao=server history=idle"},
    {98, "00000020 24250000 3C250000", EXTRACT_KERN,
     "transition ao=server source=idle target=0x253C"},
    {98, "00000020 24250000 00000000", EXTRACT_KERN,
     "transition ao=server source=idle target=idle"},
    {99, "00000020 24250000", EXTRACT_KERN, "state ao=server state=idle"},
    {100, "00000020 24250000", EXTRACT_KERN, "state entry ao=server state=idle"},
    {101, "00000020 24250000", EXTRACT_KERN, "state exit ao=server state=idle"},
    {102, "00000020 01 02", EXTRACT_KERN, "entries and exits ao=server entries=1 exits=2"},
    {103, "00000020 01 02", EXTRACT_KERN, "transition actions ao=server actions=1 segments=2"},
    {104, "00000020 24250000", EXTRACT_KERN, "pseudostate ao=server state=idle"},
    {105, "00000020", EXTRACT_KERN, "event processed ao=server"},
    {106, "00000020 05", EXTRACT_KERN, "no trigger for event ao=server signal=PAUSE"},
    {107, "00000020", EXTRACT_KERN, "guard is false ao=server"},
    {108, "00000020", EXTRACT_KERN, "no condition is true ao=server"},
    {109, "00000020", EXTRACT_KERN, "unknown state ao=server"},
    {110, "00000020", EXTRACT_KERN, "too many levels ao=server"},
    {111, "00000020", EXTRACT_KERN, "too many segments ao=server"},
    {112, "00 00000020 24250000 E1190000", EXTRACT_KERN,
     "action ao=server of=effect state=idle function=0x19E1"},
    {112, "01 00000020 24250000 D5190000", EXTRACT_KERN,
     "action ao=server of=entry state=idle function=0x19D5"},
    {112, "05 00000020 24250000 D5190000", EXTRACT_KERN,
     "action ao=server of=guard state=idle function=0x19D5"},
    {113, "00000020 05 24250000", EXTRACT_KERN, "dispatch ao=server signal=PAUSE state=idle"},
    {128, "380B0020 03", EXTRACT_SVC, "timer init timer=tmr signal=3"},
    {129, "78010020 3C010020 9001 0000", EXTRACT_SVC,
     "timer start timer=0x20000178 ao=0x2000013C ticks=400 period=0"},
    {130, "78010020 3200 0000", EXTRACT_SVC, "timer stop timer=0x20000178 ticks=50 period=0"},
    {131, "78010020 03 3C010020", EXTRACT_INT, "timeout timer=0x20000178 signal=3 ao=0x2000013C"},
    {132, "78010020", EXTRACT_SVC, "timer removed timer=0x20000178"},
    {160, "", EXTRACT_SVC, "framework start"},
    {161, "", EXTRACT_SVC, "framework exit"},
    {162, "01 80000000 0300 20", EXTRACT_SVC,
     "event pool register number=0 storage=128 event_size=3 blocks=32"},
    {163, "0400 00 00 00 01 1F 00000020", EXTRACT_SVC,
     "event allocate signal=0 pool=ep0 refs=0 used=1 lowest=31 sender=server size=4"},
    {164, "00 01 01", EXTRACT_SVC, "event reference dropped signal=0 pool=ep0 refs=1"},
    {165, "00 00 01 01 1E 00000020", EXTRACT_SVC,
     "event free signal=0 pool=ep0 refs=1 used=1 lowest=30 sender=server"},
    {169, "F51B0000", EXTRACT_SVC, "function function=bsp"},
    {170, "191C0000 280B0020 290B0020", EXTRACT_SVC,
     "synchronous event function=0x1C19 sender=isr receiver=l_isr_tick"},
    {173, "'mybsp' 5000", EXTRACT_SVC, "assertion failed module=\"mybsp\" line=80"},
    {224, "07000000", EXTRACT_APPL, "test init line=7"},
    {231, "07000000 43 02", EXTRACT_APPL, "test ignores argument line=7 event=post argument=2"},
    {232, "", EXTRACT_APPL, "test success"},
    {225, "07000000", EXTRACT_APPL, "test cleanup line=7"},
    {226, "07000000", EXTRACT_APPL, "test verify line=7"},
    {227, "07000000 02", EXTRACT_APPL, "test ignores group line=7 group=2"},
    {228, "07000000 69 00000020", EXTRACT_APPL,
     "test expects line=7 event=event processed ao=server"},
    {229, "07000000 69", EXTRACT_APPL, "test expects any arguments line=7 event=event processed"},
    {230, "07000000 69", EXTRACT_APPL, "test ignores line=7 event=event processed"},
    {233, "", EXTRACT_APPL, "test failure"},
};

enum { ROWS = sizeof rows / sizeof *rows, COLUMN = 8 };

// Returns the text of a stream's events alone, each in its column, with a terminating NUL.
static struct extract_text say(const struct stream *s)
{
    struct extract_columns columns;
    extract_columns_init(&columns, false);
    columns.seq = columns.ids = columns.exec = false;
    columns.times = EXTRACT_TIMES_NONE;
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .columns = &columns, .no_header = true};
    return stream_answer(s, "report", &options);
}

static void test_events(void **state)
{
    struct stream s;
    char line[FRAME_ROOM], expected[FRAME_ROOM];
    (void)state;
    stream_begin(&s);
    for (unsigned i = 0; i < ROWS; i++)
        stream_put(&s, rows[i].id, rows[i].arguments);
    struct extract_text text = say(&s);
    const char *at = stream_line(text.data, line);
    assert_string_equal(line, "        configuration version=0x3400 flags=0x0003FFFF hz=1000");
    for (unsigned i = 0; i < ROWS; i++) {
        at = stream_line(at, line);
        snprintf(expected, sizeof expected, "%*s%s", COLUMN * (int)rows[i].level, "", rows[i].text);
        assert_string_equal(line, expected);
    }
    assert_string_equal(at, "");
    extract_text_free(&text);
}

// Every event has a template, in the column of its class and under its name.
static void test_all_there(void **state)
{
    const struct extract_format *format = extract_format_by_name("rkh");
    struct extract_templates *templates;
    struct extract_error error = {0};
    unsigned count = 0;
    (void)state;
    assert_int_equal(extract_templates_open(&templates, 0, &error), EXTRACT_OK);
    assert_int_equal(extract_templates_add_builtin(templates, "rkh", &error), EXTRACT_OK);
    assert_int_equal(extract_templates_link(templates, &error), EXTRACT_OK);
    for (uint32_t id = 0; id < 256; id++) {
        const struct extract_event_type *type = format->type(id);
        if (!strcmp(type->symbol, "RKH_TE_UNKNOWN"))
            continue;
        const struct extract_template *found =
            extract_templates_find(templates, EXTRACT_HOOKS_PLAIN, id);
        assert_non_null(found);
        assert_string_equal(found->label, type->name);
        assert_int_equal(found->level, type->class_);
        count++;
    }
    assert_int_equal(count, 73 + 32); // the rows of rkh-events.tsv; one of them is all user events
    extract_templates_close(templates);
}

// The items have every format. The sizes of the target's own types do not show.
static void test_items(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 174, "00000020 'server'");
    stream_put(&s, 168, "6D1D0000 '&main_marker'");
    stream_put(&s, 167, "05 'PAUSE'");
    stream_put(&s, 201,
               "30FB 31FA 62D4FE 537D7E 8490EEFEFF A500286BEE 86EFBEADDE 07'hello' 08057E7D0020FF "
               "0900000020 0A6D1D0000 0B05");
    stream_put(&s, 202, "0910000020 0A101D0000 0B06 0900000000 0700 0800 0107");
    stream_put(&s, 203, "");
    struct extract_text text = say(&s);
    const char *at = strstr(text.data, "\nuser event");
    assert_non_null(at);
    assert_string_equal(at + 1,
                        "user event 9 -5 250 -300 32381 -70000 4000000000 0xDEADBEEF \"hello\" "
                        "[ 7E 7D 00 20 FF ] server main_marker PAUSE\n"
                        "user event 10 0x20000010 0x1D10 6 none \"\" [ ] 7\n"
                        "user event 11\n");
    extract_text_free(&text);
}

// The same items in JSON.
static void test_items_json(void **state)
{
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 174, "00000020 'server'");
    stream_put(&s, 171, "09 'USR_NINTH'");
    stream_put(&s, 201, "30FB A500286BEE 86EFBEADDE 07'a\"b' 08027E7D 0900000020 0A6D1D0000 0B05");
    stream_put(&s, 202, "");
    struct extract_text text = stream_say(&s, "report", false, true);
    assert_non_null(strstr(text.data,
                           "\"items\":[{\"format\":\"i8\",\"value\":-5},"
                           "{\"format\":\"u32\",\"value\":4000000000},"
                           "{\"format\":\"x32\",\"value\":3735928559},"
                           "{\"format\":\"str\",\"value\":\"a\\\"b\"},"
                           "{\"format\":\"mem\",\"value\":\"7e7d\"},"
                           "{\"format\":\"obj\",\"value\":536870912,\"name\":\"server\"},"
                           "{\"format\":\"fun\",\"value\":7533},{\"format\":\"sig\",\"value\":5}],"
                           "\"user_event\":{\"number\":9,\"name\":\"USR_NINTH\"},\"flags\":[]}"));
    assert_non_null(strstr(text.data, "\"items\":[],\"user_event\":{\"number\":10,\"name\":null}"));
    extract_text_free(&text);
}

// Values have 16 bits, and there are no senders and low-water marks. What is not sent is not
// printed, and the other arguments keep their positions.
static void test_narrow(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 1, 2, false);
    stream_put(&s, TCFG, narrow);
    stream_put(&s, 1, "BC01 1F00");
    stream_put(&s, 34, "4401 0100");
    stream_put(&s, 67, "3C01 0500 01 02 0100");
    stream_put(&s, 66, "3C01 0500 00 00 0000");
    stream_put(&s, 163, "04 0500 00 00 0100 3C01");
    stream_put(&s, 165, "0500 00 01 0100 3C01");
    stream_put(&s, 170, "191C");
    stream_put(&s, 192, "093C01 0B0500");
    struct extract_text text = say(&s);
    const char *at = strchr(text.data, '\n');
    assert_non_null(at);
    assert_string_equal(at + 1,
                        "        pool get pool=0x01BC free=31\n"
                        "        queue put queue=0x0144 queued=1\n"
                        "        post ao=0x013C signal=5 pool=0 refs=2 queued=1\n"
                        "                event get ao=0x013C signal=5 pool=static refs=0 "
                        "queued=0\n"
                        "        event allocate signal=5 pool=0 refs=0 used=1 sender=0x013C "
                        "size=4\n"
                        "        event free signal=5 pool=0 refs=1 used=1 sender=0x013C\n"
                        "        synchronous event function=0x1C19\n"
                        "user event 0 0x013C 5\n");
    extract_text_free(&text);
}

// In the stream, posts count pools from 1 and allocations count them from 0. In the text and in
// JSON, a pool has the same number in all of its events. A static event has no pool.
static void test_pool_numbers(void **state)
{
    static const char *const lines[] = {"event pool register number=1 ",
                                        "post ao=0x2000013C signal=5 sender=none pool=1 ",
                                        "post first ao=0x2000013C signal=5 sender=none pool=1 ",
                                        "event get ao=0x2000013C signal=5 pool=1 ",
                                        "event allocate signal=5 pool=1 ",
                                        "event reference dropped signal=5 pool=1 ",
                                        "event free signal=5 pool=1 "};
    static const char expected[] = "\"evt\":67},\"names\":{\"evt\":\"post\"}";
    struct stream s;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 162, "02 80000000 0300 20");
    stream_put(&s, 67, "3C010020 05 00000000 02 01 01 03");
    stream_put(&s, 68, "3C010020 05 00000000 02 01 01 03");
    stream_put(&s, 66, "3C010020 05 02 01 01 03");
    stream_put(&s, 163, "0400 05 01 00 01 1F 00000000");
    stream_put(&s, 164, "05 02 01");
    stream_put(&s, 165, "05 01 01 01 1F 00000000");
    stream_put(&s, 228, "07000000 43 3C010020 05 00000000 02 01 01 03");
    stream_put(&s, 66, "3C010020 05 00 01 01 03");
    struct extract_text text = say(&s);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        if (!strstr(text.data, lines[i]))
            fail_msg("%s\nis not in\n%s", lines[i], text.data);
    assert_non_null(strstr(text.data, "event get ao=0x2000013C signal=5 pool=static "));
    extract_text_free(&text);
    text = stream_say(&s, "report", false, true);
    const char *at = text.data;
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++, at++)
        assert_non_null(at = strstr(at, "\"pool\":1"));
    assert_non_null(at = strstr(at, expected));
    assert_non_null(at = strstr(at, "\"pool\":1")); // in the post that the test expects
    assert_non_null(at = strstr(at, "\"pool\":null"));
    assert_non_null(at = strstr(at, "\"pool\":\"static\"},\"info\":[536871228,5,null,1,1,3]"));
    extract_text_free(&text);
}

// The stream is that of version 2.4.5, which has other ids and arguments.
static void test_older(void **state)
{
    struct stream s;
    (void)state;
    stream_init(&s, 1, 4, true);
    s.tcfg = 174;
    stream_put(&s, 174, "0524 FFFF0300 14 42 11 02 14 E803");
    stream_put(&s, 180, "BC010020 'ep0'");
    stream_put(&s, 67, "00000020 05 280B0020 00 02");
    stream_put(&s, 66, "00000020 05 00 02");
    stream_put(&s, 64, "00000020 03");
    stream_put(&s, 163, "0400 05 00 01");
    stream_put(&s, 162, "01 80000000 0300");
    stream_put(&s, 166, "EC0A0020 05");
    stream_put(&s, 71, "00000020 05 24250000");
    struct extract_text text = say(&s);
    const char *at = strchr(text.data, '\n');
    assert_non_null(at);
    assert_string_equal(at + 1,
                        "        name of event pool address=0x200001BC name=\"ep0\"\n"
                        "        post ao=0x20000000 signal=5 sender=0x20000B28 pool=static refs=2\n"
                        "                event get ao=0x20000000 signal=5 pool=static refs=2\n"
                        "        activate ao=0x20000000 priority=3\n"
                        "        event allocate signal=5 pool=0 refs=1 size=4\n"
                        "        event pool register number=0 storage=128 event_size=3\n"
                        "        defer queue=0x20000AEC signal=5\n"
                        "                dispatch ao=0x20000000 signal=5 state=0x2524\n");
    extract_text_free(&text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_events),       cmocka_unit_test(test_all_there),
        cmocka_unit_test(test_items),        cmocka_unit_test(test_items_json),
        cmocka_unit_test(test_narrow),       cmocka_unit_test(test_older),
        cmocka_unit_test(test_pool_numbers),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
