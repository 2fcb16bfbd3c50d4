// SPDX-License-Identifier: MIT
// What a log has between its entries: markers, losses, resets, several rings and registries. Truth:
// the logs are made by hand, block by block; the expected output is next to them.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <stdlib.h>

enum { ENTRIES = 32, THREAD = 0x20004000 };

static struct ring_image image;
static struct log_file file;
static struct log_look look;
static struct extract_session_options json = {.size = sizeof json, .json = true};

// A log over a ring of 32 entries of one thread, with stamps 1000, 1010, …
static void begin(void)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1000;
    spec.entries = ENTRIES;
    ring_build(&image, &spec);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, THREAD, 0x20005000, 512, "main"});
    ring_run(&image, ENTRIES, &stamp, 10);
    unlink(scratch_path("marks.log"));
    log_open(&file, scratch_path("marks.log"), &image);
}

static void end(const struct extract_session_options *options)
{
    log_close(&file);
    log_look_open(&look, file.path, options);
}

static void assert_event(const struct extract_event *event, uint32_t id, uint64_t seq,
                         uint64_t ticks, unsigned flags)
{
    assert_int_equal(event->id, id);
    assert_int_equal(event->seq, seq);
    assert_int_equal(event->ticks, ticks);
    assert_int_equal(event->flags, flags);
}

static void assert_line(const char *verb, const char *piece)
{
    const char *text = log_verb(&look, verb);
    if (!strstr(text, piece))
        fail_msg("\"%s\" is not in: %s", piece, text);
}

static void test_every_mark(void **state)
{
    static const struct {
        enum extract_log_mark kind;
        const char *symbol, *name;
        unsigned flags; // of the entry behind it
    } marks[] = {{EXTRACT_MARK_START, "RINGSIDE_START", "recording started", 0},
                 {EXTRACT_MARK_STOP, "RINGSIDE_STOP", "recording stopped", 0},
                 {EXTRACT_MARK_FULL, "RINGSIDE_FULL", "log full", 0},
                 {EXTRACT_MARK_RESET, "RINGSIDE_RESET", "trace restarted", EXTRACT_FLAG_GAP},
                 {EXTRACT_MARK_GONE, "RINGSIDE_GONE", "target gone", 0},
                 {EXTRACT_MARK_BACK, "RINGSIDE_BACK", "target back", 0},
                 {EXTRACT_MARK_DISABLED, "RINGSIDE_DISABLED", "trace disabled", EXTRACT_FLAG_GAP},
                 {EXTRACT_MARK_ENABLED, "RINGSIDE_ENABLED", "trace enabled", EXTRACT_FLAG_GAP},
                 {EXTRACT_MARK_FILTER, "RINGSIDE_FILTER", "filter set", 0},
                 {EXTRACT_MARK_ERROR, "RINGSIDE_ERROR", "recording error", 0}};
    enum { MARKS = sizeof marks / sizeof *marks };
    size_t count;
    (void)state;
    begin();
    for (unsigned i = 0; i < MARKS; i++) {
        log_mark(&file, marks[i].kind, 0, "");
        log_entries(&file, &image, i, 1);
    }
    end(NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 2 * MARKS);
    for (unsigned i = 0; i < MARKS; i++) {
        const struct extract_event *mark = &events[2 * i], *entry = mark + 1;
        assert_int_equal(mark->id, EXTRACT_ID_MARK + marks[i].kind);
        assert_string_equal(mark->type->symbol, marks[i].symbol);
        assert_string_equal(mark->type->name, marks[i].name);
        assert_int_equal(mark->context, EXTRACT_RECORDER);
        assert_true(extract_event_is_mark(mark) && !extract_event_is_mark(entry));
        assert_int_equal(mark->seq, i);
        // The timestamps begin again after the reset: no time is known to have passed there.
        uint64_t ticks = i < 3 ? 10 * i : 10 * (i - 1);
        assert_event(entry, 88, i, ticks, marks[i].flags);
        assert_line("report", marks[i].name);
    }
    assert_int_equal(look.info->entries_valid, MARKS);
    assert_int_equal(look.info->entries_total, MARKS);
    assert_int_equal(look.info->log->resets, 1);
    assert_int_equal(look.info->log->recordings, 1);
    assert_int_equal(look.info->span_ticks, 80);
    assert_true(extract_session_is_whole(look.session));
    log_look_close(&look);
}

static void test_words_of_marks(void **state)
{
    (void)state;
    begin();
    log_mark(&file, EXTRACT_MARK_FILTER, 0, "");
    log_mark(&file, EXTRACT_MARK_FILTER, 0x20, "by hand");
    log_mark(&file, EXTRACT_MARK_ERROR, 0, "probe \"x\" \x1b[31mlost");
    log_mark(&file, EXTRACT_MARK_ERROR, 0x7, "");
    end(NULL);
    assert_line("report", " filter set filter=0x0000\n");
    assert_line("report", "filter set filter=0x0020 text=\"by hand\"\n");
    assert_line("report", "recording error text=\"probe \\\"x\\\" \\u001b[31mlost\"\n");
    assert_line("report", "recording error text=\"\" value=0x0007\n");
    assert_line("info", "filter: 0x00000020\n");
    log_look_close(&look);
    log_look_open(&look, file.path, &json);
    assert_line("report", "\"context\":\"recorder\",\"thread\":null,\"thread_name\":null");
    assert_line("report",
                "\"event\":\"RINGSIDE_FILTER\",\"class\":\"KERN\",\"fields\":{\"filter\":32");
    assert_line("report", "\"names\":{\"text\":\"by hand\"}");
    log_look_close(&look);
}

static void test_every_loss(void **state)
{
    size_t count;
    (void)state;
    begin();
    log_entries(&file, &image, 0, 4);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 64, 32);
    log_entries(&file, &image, 8, 4);
    log_loss(&file, EXTRACT_LOSS_TORN, 2, 0);
    log_entries(&file, &image, 14, 2);
    log_loss(&file, EXTRACT_LOSS_LOG_FULL, 5, 0);
    log_entries(&file, &image, 21, 1);
    end(NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 4 + 1 + 4 + 1 + 2 + 1 + 1);
    assert_event(&events[4], EXTRACT_ID_LOST, 4, 30, 0);
    const uint64_t lapped[] = {EXTRACT_LOSS_LAPPED, 64, 0, 32};
    assert_int_equal(events[4].fields, 4); // too few entries for an estimate
    assert_memory_equal(events[4].field, lapped, sizeof lapped);
    assert_event(&events[5], 88, 4, 80, EXTRACT_FLAG_GAP);
    assert_event(&events[6], 88, 5, 90, 0);
    const uint64_t torn[] = {EXTRACT_LOSS_TORN, 2, 1};
    assert_int_equal(events[9].fields, 3);
    assert_memory_equal(events[9].field, torn, sizeof torn);
    assert_event(&events[10], 88, 8, 140, EXTRACT_FLAG_GAP);
    assert_event(&events[13], 88, 10, 210, EXTRACT_FLAG_GAP);
    assert_int_equal(look.info->entries_valid, 11);
    assert_int_equal(look.info->entries_total, 11);
    assert_false(look.info->lost_known);
    assert_int_equal(look.info->lost_at_least, 71);
    assert_true(look.info->lost_at_most == UINT64_MAX);
    assert_int_equal(look.info->gaps, 3);
    assert_int_equal(look.info->gaps_not_exact, 1);
    assert_true(look.info->overrun && !look.info->wrapped && !look.info->full);
    assert_false(extract_session_is_whole(look.session));
    assert_line("report", "events lost reason=lapped lost_at_least=64 lost_exact=no modulo=32\n");
    assert_line("report", "events lost reason=torn lost_at_least=2 lost_exact=yes\n");
    assert_line("damage", "at least 64 events were lost in 1 gap: the target overwrote them");
    assert_line("damage", "2 events were lost in 1 gap: the target was writing them while");
    assert_line("damage", "5 events were lost in 1 gap: the log had no space for them\n");
    assert_line("info", "events lost: unknown (not every gap is exact)\n"
                        "events lost at least: 71\nevents lost at most: unknown\n"
                        "gaps: 3\ngaps not exact: 1\n"
                        "losses: at least 64 lapped in 1 gap, 2 torn in 1 gap, "
                        "5 log full in 1 gap\n");
    log_look_close(&look);
}

// The target's own count makes the sum exact, although a gap stays as it was stated. A restart of
// the trace ends the validity of that count, and another gap needs another count.
static void test_losses_of_earlier_gaps(void **state)
{
    static const struct {
        bool restarts, goes_on;
        uint64_t modulo;
        const char *lost;
    } cases[] = {
        {false, false, 0, "events lost: 45 (from the target's own count for all gaps together)\n"},
        {false, false, EXTRACT_LOG_ANY_MORE,
         "events lost: unknown (not every gap is exact)\n"
         "events lost at least: 45\n"},
        {true, false, 0,
         "events lost: unknown (not every gap is exact)\n"
         "events lost at least: 45\n"},
        {false, true, 0,
         "events lost: unknown (not every gap is exact)\n"
         "events lost at least: 49\n"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin();
        log_entries(&file, &image, 0, 4);
        log_loss(&file, EXTRACT_LOSS_LAPPED, 40, EXTRACT_LOG_ANY_MORE);
        log_entries(&file, &image, 8, 4);
        if (cases[i].restarts)
            log_mark(&file, EXTRACT_MARK_RESET, 0, "");
        log_loss(&file, EXTRACT_LOSS_EARLIER, 5, cases[i].modulo);
        log_entries(&file, &image, 12, 4);
        if (cases[i].goes_on)
            log_loss(&file, EXTRACT_LOSS_LAPPED, 4, EXTRACT_LOG_ANY_MORE);
        end(NULL);
        unsigned gaps = cases[i].goes_on ? 2 : 1;
        bool is_exact = !cases[i].restarts && !cases[i].goes_on && !cases[i].modulo;
        assert_int_equal(look.info->lost_known, is_exact);
        assert_int_equal(look.info->log->status.lost_known, is_exact);
        assert_int_equal(look.info->gaps, gaps);
        assert_int_equal(look.info->gaps_not_exact, gaps);
        assert_line("info", cases[i].lost);
        assert_line("report", "events lost reason=lapped lost_at_least=40 lost_exact=no\n");
        assert_line("report", "events lost reason=earlier gaps lost_at_least=5 lost_exact=");
        assert_line("damage", is_exact   ? "45 events were lost in 1 gap: "
                              : gaps > 1 ? "at least 49 events were lost in 2 gaps: "
                                         : "at least 45 events were lost in 1 gap: ");
        log_look_close(&look);
    }
}

// The remainder of a recording cannot show what its count said about gaps that are missing from it.
// This is the case if a log dropped its oldest blocks, or if it is not known what a damaged block
// was.
static void test_losses_of_gaps_that_are_gone(void **state)
{
    const struct extract_log_options round = {
        .size = sizeof round, .policy = EXTRACT_LOG_LOOP, .limit = 4 * 4096};
    const char *path = scratch_path("marks.log");
    (void)state;
    for (unsigned is_damaged = 0; is_damaged < 2; is_damaged++) {
        unlink(path);
        log_create(&file, path, is_damaged ? NULL : &round);
        log_ring(&file, &image);
        log_mark(&file, EXTRACT_MARK_START, 0, "");
        log_entries(&file, &image, 0, 4);
        log_loss(&file, EXTRACT_LOSS_LAPPED, 40, EXTRACT_LOG_ANY_MORE);
        for (unsigned i = 0; !is_damaged && i < 200; i++)
            log_entries(&file, &image, 8, 4);
        log_loss(&file, EXTRACT_LOSS_LAPPED, 3, EXTRACT_LOG_ANY_MORE);
        log_entries(&file, &image, 8, 4);
        log_loss(&file, EXTRACT_LOSS_EARLIER, 5, 0);
        log_close(&file);
        if (is_damaged)
            log_damage(path, EXTRACT_LOG_LOSS, 0, 40);
        log_look_open(&look, path, NULL);
        assert_int_equal(!look.info->log->status.dropped, is_damaged);
        assert_false(look.info->lost_known);
        assert_int_equal(look.info->lost_at_least, 8);
        assert_false(!is_damaged && look.info->log->status.lost_known);
        log_look_close(&look);
    }
}

static void test_unknown_loss(void **state)
{
    (void)state;
    begin();
    log_entries(&file, &image, 0, 4);
    log_loss(&file, EXTRACT_LOSS_UNREADABLE, 0, EXTRACT_LOG_ANY_MORE);
    log_entries(&file, &image, 9, 4);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 32, 0);
    end(&json);
    assert_false(look.info->lost_known);
    assert_int_equal(look.info->entries_damaged, 0);
    assert_line("report", "\"lost_at_least\":0,\"lost_at_most\":null,\"lost_exact\":false,"
                          "\"lost_low\":null,\"lost_high\":null");
    assert_line("report", "\"lost_at_least\":32,\"lost_at_most\":32,\"lost_exact\":true,"
                          "\"lost_low\":32,\"lost_high\":32");
    assert_line("info", "\"events_lost\":null,\"events_lost_at_least\":32,"
                        "\"events_lost_at_most\":null,\"events_lost_exact\":false,"
                        "\"events_lost_low\":null,\"events_lost_high\":null,\"gaps\":2,"
                        "\"gaps_not_exact\":1,\"losses\":["
                        "{\"reason\":\"lapped\",\"gaps\":1,\"gaps_not_exact\":0,"
                        "\"lost_at_least\":32,\"lost_exact\":true},{\"reason\":\"unreadable\","
                        "\"gaps\":1,\"gaps_not_exact\":1,\"lost_at_least\":0,"
                        "\"lost_exact\":false}]");
    assert_line("info", "\"state\":[\"suspended\",\"not_full\",\"overrun\"]");
    assert_line("damage", "an unknown number of events was lost in 1 gap: the target did not");
    log_look_close(&look);
}

// Marks are found by name, symbol, class and number, and left out.
static uint64_t shown(enum extract_filter_word word, const char *value)
{
    struct extract_condition condition = {word, value};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = &condition, .condition_count = 1};
    log_look_open(&look, file.path, &options);
    log_verb(&look, "report");
    uint64_t count = extract_session_shown(look.session);
    log_look_close(&look);
    return count;
}

static void test_filters(void **state)
{
    (void)state;
    begin();
    log_mark(&file, EXTRACT_MARK_START, 0, "");
    log_entries(&file, &image, 0, 10);
    log_loss(&file, EXTRACT_LOSS_LAPPED, 5, 0);
    log_entries(&file, &image, 15, 10);
    log_mark(&file, EXTRACT_MARK_STOP, 0, "");
    log_close(&file);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "RINGSIDE_LOST"), 1);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "events lost"), 1);
    // Losses concern whatever is asked for, unless it is some of them.
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "RINGSIDE_RESET"), 1);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "RINGSIDE_DAMAGED"), 0);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "!RINGSIDE_DAMAGED"), 23);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "!RINGSIDE_LOST"), 22);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "ringside_*"), 3);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "!ringside_*"), 20);
    assert_int_equal(shown(EXTRACT_FILTER_EVENT, "4294967041"), 1);
    assert_int_equal(shown(EXTRACT_FILTER_CLASS, "KERN"), 3);
    assert_int_equal(shown(EXTRACT_FILTER_CLASS, "SVC"), 20 + 1);
    assert_int_equal(shown(EXTRACT_FILTER_THREAD, "main"), 20 + 1);
    assert_int_equal(shown(EXTRACT_FILTER_THREAD, "!main"), 3);
    assert_int_equal(shown(EXTRACT_FILTER_LAST, "3"), 3);
    assert_int_equal(shown(EXTRACT_FILTER_LAST, "100"), 23);
    assert_int_equal(shown(EXTRACT_FILTER_FROM, "160"), 9 + 1);
    assert_int_equal(shown(EXTRACT_FILTER_TO, "20"), 1 + 3);
}

// Far into a long log: what the filters leave, and where it begins.
static void test_filters_far_in(void **state)
{
    enum { BLOCKS = 600 };
    uint64_t stamp = 1000;
    (void)state;
    begin();
    for (unsigned i = 0; i < BLOCKS; i++) {
        ring_run(&image, ENTRIES, &stamp, 10);
        log_entries(&file, &image, 0, ENTRIES);
    }
    log_close(&file);
    for (uint64_t from = 0; from < BLOCKS * ENTRIES; from += 509) {
        char ticks[32];
        snprintf(ticks, sizeof ticks, "%llu", (unsigned long long)from * 10);
        assert_int_equal(shown(EXTRACT_FILTER_FROM, ticks), BLOCKS * ENTRIES - from);
        assert_int_equal(shown(EXTRACT_FILTER_TO, ticks), from + 1);
        snprintf(ticks, sizeof ticks, "%llu", (unsigned long long)from);
        assert_int_equal(shown(EXTRACT_FILTER_LAST, ticks), from);
    }
    struct extract_condition last = {EXTRACT_FILTER_LAST, "2000"};
    struct extract_session_options options = {
        .size = sizeof options, .no_header = true, .conditions = &last, .condition_count = 1};
    log_look_open(&look, file.path, &options);
    assert_int_equal(strtoull(log_verb(&look, "report"), NULL, 10), BLOCKS * ENTRIES - 2000);
    log_look_close(&look);
}

// A second recording is appended to the log. What happened between the two is not known.
static void test_two_recordings(void **state)
{
    size_t count;
    (void)state;
    begin();
    log_mark(&file, EXTRACT_MARK_START, 0, "");
    log_entries(&file, &image, 0, 3);
    log_mark(&file, EXTRACT_MARK_STOP, 0, "");
    log_close(&file);
    file.next = 0; // numbers begin again
    log_create(&file, file.path, NULL);
    log_ring(&file, &image);
    log_objects(&file, &image);
    log_mark(&file, EXTRACT_MARK_START, 0, "");
    log_entries(&file, &image, 10, 3);
    end(NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 9);
    assert_event(&events[1], 88, 0, 0, 0);
    assert_event(&events[6], 88, 3, 20, EXTRACT_FLAG_GAP);
    assert_event(&events[8], 88, 5, 40, 0);
    assert_int_equal(look.info->log->recordings, 2);
    assert_int_equal(look.info->entries_damaged, 0);
    log_look_close(&look);
}

// The registry changes: all of its objects are known, each by the names that it had.
static void test_registries(void **state)
{
    static const struct ring_object second[] = {
        {0, 1, 0, 0, 0x20004000, 0x20005000, 512, "renamed"},
        {0, 3, 0, 0, 0x20004100, 5, 0, "queue"}};
    const struct extract_object *objects;
    (void)state;
    begin();
    log_entries(&file, &image, 0, 3);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, 0x20004200, 0x20006000, 256, "b"});
    log_objects(&file, &image);
    log_entries(&file, &image, 3, 3);
    ring_register(&image, 0, &second[0]);
    ring_register(&image, 1, &second[1]);
    log_objects(&file, &image);
    end(NULL);
    size_t count = extract_trace_objects(look.trace, &objects);
    assert_int_equal(count, 4);
    assert_int_equal(look.info->objects, 4);
    assert_string_equal(objects[0].name, "renamed");
    assert_string_equal(objects[1].name, "queue");
    assert_string_equal(objects[2].name, "b");
    assert_string_equal(objects[3].name, "main");
    assert_true(objects[0].in_use && objects[1].in_use && !objects[2].in_use && !objects[3].in_use);
    assert_string_equal(extract_trace_thread(look.trace, 0x20004000)->name, "renamed");
    assert_string_equal(extract_trace_thread_at(look.trace, 0x20004000, 2)->name, "main");
    assert_string_equal(extract_trace_thread(look.trace, 0x20004200)->name, "b");
    log_look_close(&look);
}

static void test_without_entries(void **state)
{
    struct extract_error error = {0};
    struct extract_session *session;
    struct extract_log *log;
    size_t count;
    (void)state;
    begin();
    end(NULL);
    log_events(&look, &count);
    assert_int_equal(count, 0);
    assert_int_equal(look.info->entries_total, 0);
    assert_line("info", "entries total: 0\n");
    assert_line("stats", "events: 0\n");
    assert_true(extract_session_is_whole(look.session));
    log_look_close(&look);

    struct log_file empty = {0};
    unlink(scratch_path("empty.log"));
    log_create(&empty, scratch_path("empty.log"), NULL);
    log_close(&empty);
    assert_int_equal(extract_log_open(&log, empty.path, NULL), EXTRACT_OK);
    assert_int_equal(extract_session_open_log(&session, log, NULL, &json, &error), EXTRACT_ABSENT);
    assert_string_equal(error.why, "the log describes no trace ring: nothing was recorded");
    assert_null(session);
    extract_log_free(log);
}

static void test_options_that_contradict(void **state)
{
    struct extract_error error = {0};
    struct extract_session *session;
    struct extract_log *log;
    (void)state;
    begin();
    log_close(&file);
    assert_int_equal(extract_log_open(&log, file.path, NULL), EXTRACT_OK);
    struct extract_session_options ring = {.size = sizeof ring, .ring_known = true, .ring = 4096};
    assert_int_equal(extract_session_open_log(&session, log, NULL, &ring, &error), EXTRACT_USAGE);
    ring.ring = image.spec.address;
    ring.format = "threadx";
    assert_int_equal(extract_session_open_log(&session, log, NULL, &ring, &error), EXTRACT_OK);
    extract_session_close(session);
    ring.format = "rkh";
    assert_int_equal(extract_session_open_log(&session, log, NULL, &ring, &error), EXTRACT_USAGE);
    extract_log_free(log);
}

// The newest that a LOOP log keeps.
static void test_loop(void **state)
{
    struct extract_log_options options = {.size = sizeof options,
                                          .policy = EXTRACT_LOG_LOOP,
                                          .limit = 4 * 4096,
                                          .section_bytes = 4096};
    size_t count;
    (void)state;
    begin();
    log_close(&file);
    memset(&file, 0, sizeof file);
    unlink(scratch_path("loop.log"));
    log_create(&file, scratch_path("loop.log"), &options);
    log_ring(&file, &image);
    log_objects(&file, &image);
    for (unsigned i = 0; i < 100; i++)
        log_entries(&file, &image, i % 2 * 16, 16);
    end(NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_true(count && count % 16 == 0 && count < 32 * 16);
    assert_event(&events[0], 88, 0, 0, 0);
    assert_int_equal(look.info->entries_valid, count);
    assert_int_equal(look.info->entries_damaged, 0);
    assert_true(look.info->wrapped && look.info->full && look.info->overrun);
    assert_true(look.info->lost_known && look.info->events_lost == 0);
    assert_true(look.info->log->status.dropped > 0);
    assert_true(extract_session_is_whole(look.session));
    assert_line("info", "policy: loop\nlimit: 16384\n");
    log_look_close(&look);
}

// The ring that is saved has the newest entries after the last reset.
static void check_saved(uint64_t first_stamp, size_t expected)
{
    struct extract_snapshot saved;
    struct extract_trace *trace;
    struct extract_event events[ENTRIES + 1];
    struct extract_reader reader;
    assert_int_equal(extract_trace_image(look.trace, &saved, NULL), EXTRACT_OK);
    assert_int_equal(extract_trace_open(&trace, &saved, NULL, NULL), EXTRACT_OK);
    extract_reader_init(&reader, trace);
    assert_int_equal(extract_reader_next(&reader, events, ENTRIES + 1), expected);
    assert_int_equal(saved.ring.entries.count, ENTRIES);
    for (size_t i = 0; i < expected; i++)
        assert_int_equal(events[i].raw_stamp, first_stamp + 10 * i);
    assert_string_equal(extract_trace_thread(trace, THREAD)->name, "main");
    extract_trace_close(trace);
    extract_snapshot_free(&saved);
}

static void test_image(void **state)
{
    (void)state;
    begin();
    log_entries(&file, &image, 0, 20);
    log_mark(&file, EXTRACT_MARK_RESET, 0, "");
    log_entries(&file, &image, 5, 3);
    log_entries(&file, &image, 8, 2);
    end(NULL);
    check_saved(1050, 5);
    log_look_close(&look);
}

static void test_image_of_more(void **state)
{
    struct ring_image large;
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1000;
    (void)state;
    begin();
    spec.entries = 100;
    ring_build(&large, &spec);
    ring_run(&large, 100, &stamp, 10);
    for (unsigned i = 0; i < 100; i += 20)
        log_entries(&file, &large, i, 20);
    end(NULL);
    check_saved(1000 + 10 * (100 - ENTRIES), ENTRIES);
    log_look_close(&look);
}

static void test_image_of_a_ring(void **state)
{
    struct extract_snapshot saved;
    struct look ring;
    (void)state;
    begin();
    log_close(&file);
    look_open(&ring, &image);
    assert_int_equal(extract_trace_image(ring.trace, &saved, NULL), EXTRACT_UNSUPPORTED);
    assert_false(extract_trace_text(ring.trace, 0, NULL));
    look_close(&ring);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_mark),
        cmocka_unit_test(test_words_of_marks),
        cmocka_unit_test(test_every_loss),
        cmocka_unit_test(test_losses_of_earlier_gaps),
        cmocka_unit_test(test_losses_of_gaps_that_are_gone),
        cmocka_unit_test(test_unknown_loss),
        cmocka_unit_test(test_filters),
        cmocka_unit_test(test_filters_far_in),
        cmocka_unit_test(test_two_recordings),
        cmocka_unit_test(test_registries),
        cmocka_unit_test(test_without_entries),
        cmocka_unit_test(test_options_that_contradict),
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_image),
        cmocka_unit_test(test_image_of_more),
        cmocka_unit_test(test_image_of_a_ring),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
