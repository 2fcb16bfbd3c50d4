// SPDX-License-Identifier: MIT
// Logs in which the meaning of addresses and timestamps changes: a log that another firmware
// continues, renamed objects, a ring that cannot be read, a writer that laps the reader. Truth: the
// logs are made by hand, block by block; the expected output is next to them.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"

enum { ENTRIES = 32, THREAD = 0x20004000, OTHER = 0x20004100, SECTION = 4096, AT_RING = 96 + 70 };

// Bytes of a block of each: 12 words of header; 4 objects of 48 bytes.
enum { RING_AND_OBJECTS = 96 + 56 + 48 + 96 + 8 + 4 * 48 };

static struct ring_image image;
static struct log_file file;
static struct log_look look;

static void name_thread(const char *name)
{
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, THREAD, 0x20005000, 512, name});
}

// A ring of 32 entries of one thread, whose clock starts again after the mask.
static void build(uint64_t mask, const char *name)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 0;
    spec.entries = ENTRIES;
    spec.mask = mask;
    ring_build(&image, &spec);
    name_thread(name);
    ring_run(&image, ENTRIES, &stamp, 0);
    for (unsigned i = 0; i < ENTRIES; i++)
        ring_word(&image, i, 3, (0xFF00 + i * 0x100) & mask);
}

static void begin(const struct extract_log_options *options)
{
    memset(&file, 0, sizeof file);
    unlink(scratch_path("epochs.log"));
    log_create(&file, scratch_path("epochs.log"), options);
}

static void record(uint64_t mask, const char *name)
{
    build(mask, name);
    log_ring(&file, &image);
    log_objects(&file, &image);
    log_mark(&file, EXTRACT_MARK_START, 0, "");
    log_entries(&file, &image, 0, ENTRIES);
}

// A second recording in the same log.
static void again(uint64_t mask, const char *name)
{
    log_close(&file);
    file.next = 0;
    log_create(&file, file.path, NULL);
    record(mask, name);
}

static void end(void)
{
    log_close(&file);
    log_look_open(&look, file.path, NULL);
}

static const char *name_at(uint64_t address, uint64_t seq)
{
    const struct extract_object *thread = extract_trace_thread_at(look.trace, address, seq);
    const struct extract_object *object = extract_trace_object_at(look.trace, address, seq);
    assert_ptr_equal(thread, object);
    return thread ? thread->shown : "";
}

// How many lines of a report hold a piece.
static unsigned count_lines(const char *verb, const char *piece)
{
    unsigned found = 0;
    for (const char *at = log_verb(&look, verb); (at = strstr(at, piece)); at++)
        found++;
    return found;
}

static void check_clocks(uint64_t first, uint64_t second)
{
    size_t count;
    begin(NULL);
    record(first, "first");
    again(second, "other");
    end();
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 2 * ENTRIES + 2);
    for (unsigned i = 0; i < ENTRIES; i++) {
        assert_int_equal(events[1 + i].ticks, i * 0x100);
        assert_int_equal(events[2 + ENTRIES + i].ticks, (ENTRIES - 1 + i) * 0x100);
        assert_int_equal(events[2 + ENTRIES + i].flags, i ? 0 : EXTRACT_FLAG_GAP);
    }
    assert_int_equal(look.info->clock.mask, second);
    log_look_close(&look);
}

// Each recording goes by its own clock: no wrap is a step back, or of 2^32 ticks.
static void test_clocks(void **state)
{
    (void)state;
    check_clocks(0xFFFF, 0xFFFFFFFF);
    check_clocks(0xFFFFFFFF, 0xFFFF);
    check_clocks(0xFFFF, 0xFFFF);
}

// Checks that a name selects the events of its time: those of one recording.
static void check_filtered(const char *name)
{
    struct extract_condition condition = {.word = EXTRACT_FILTER_THREAD, .value = name};
    struct extract_session_options options = {
        .size = sizeof options, .conditions = &condition, .condition_count = 1};
    log_look_open(&look, file.path, &options);
    assert_int_equal(count_lines("report", name), ENTRIES);
    assert_int_equal(count_lines("report", "\n"), ENTRIES + 1); // and the head
    log_look_close(&look);
}

// The same with other names of its own, in another epoch and in the same one.
static void test_continued(void **state)
{
    (void)state;
    for (unsigned same = 0; same < 2; same++) {
        begin(NULL);
        record(0xFFFF, "first");
        again(same ? 0xFFFF : 0xFFFFFFFF, "other");
        end();
        for (uint64_t seq = 0; seq < 2 * ENTRIES; seq++)
            assert_string_equal(name_at(THREAD, seq), seq < ENTRIES ? "first" : "other");
        assert_string_equal(extract_trace_thread(look.trace, THREAD)->name, "other");
        assert_int_equal(count_lines("report", " first "), ENTRIES);
        assert_int_equal(count_lines("report", " other "), ENTRIES);
        assert_int_equal(look.info->objects, 2);
        log_look_close(&look);
        check_filtered("first");
        check_filtered("other");
    }
}

// A thread that is not in the registry of its epoch does not get a name from another epoch.
static void test_strangers(void **state)
{
    const struct extract_object *objects;
    (void)state;
    begin(NULL);
    record(0xFFFF, "first");
    log_close(&file);
    file.next = 0;
    log_create(&file, file.path, NULL);
    build(0xFFFFFFFF, "first");
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, OTHER, 0x20005000, 512, "b"});
    log_ring(&file, &image);
    log_objects(&file, &image);
    log_entries(&file, &image, 0, ENTRIES);
    end();
    assert_string_equal(name_at(THREAD, 0), "first");
    assert_string_equal(name_at(THREAD, ENTRIES), "0x20004000");
    assert_string_equal(name_at(OTHER, 0), "");
    assert_string_equal(name_at(OTHER, ENTRIES), "b");
    assert_int_equal(extract_trace_objects(look.trace, &objects), 3);
    log_look_close(&look);
}

// One object after the other at one address, as from a pool: each event knows its own.
static void test_renamed(void **state)
{
    enum { TIMES = 200 };
    char name[16];
    (void)state;
    begin(NULL);
    build(0xFFFFFFFF, "t0");
    log_ring(&file, &image);
    for (unsigned i = 0; i < TIMES; i++) {
        snprintf(name, sizeof name, "t%u", i);
        name_thread(name);
        log_objects(&file, &image);
        log_entries(&file, &image, i % 16 * 2, 2);
    }
    end();
    for (unsigned i = 0; i < 2 * TIMES; i++) {
        snprintf(name, sizeof name, "t%u", i / 2);
        assert_string_equal(name_at(THREAD, i), name);
    }
    assert_int_equal(count_lines("report", " t7 "), 2);
    assert_int_equal(count_lines("stats", "\nt7 "), 2); // the thread, and what it called
    assert_int_equal(look.info->objects, TIMES);
    log_look_close(&look);
}

// What follows a ring that cannot be read does not belong to the ring before it.
static void test_damaged_ring(void **state)
{
    struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION};
    uint64_t missing = 0;
    size_t count;
    (void)state;
    begin(&options);
    record(0xFFFFFFFF, "first");
    build(0xFFFF, "other");
    log_ring(&file, &image);
    log_entries(&file, &image, 0, 8);
    for (unsigned i = 0; i < 8; i++) // into the next sections, which tell the ring again
        log_entries(&file, &image, 8, ENTRIES - 8);
    log_close(&file);
    log_damage(file.path, EXTRACT_LOG_RING, 1, AT_RING);
    log_look_open(&look, file.path, NULL); // its copy is read
    assert_int_equal(look.info->entries_valid, ENTRIES + 8 + 8 * (ENTRIES - 8));
    assert_int_equal(look.info->log->status.restored, 1);
    assert_false(extract_session_is_whole(look.session));
    log_look_close(&look);
    log_damage(file.path, EXTRACT_LOG_RING, 2, AT_RING);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(events[ENTRIES].raw_stamp, 0xFF00 + (ENTRIES - 1) * 0x100);
    assert_int_equal(events[ENTRIES + 1].id, EXTRACT_ID_DAMAGED);
    for (size_t i = 0; i < count; i++)
        missing += events[i].id == EXTRACT_ID_DAMAGED ? events[i].field[0] : 0;
    assert_true(missing >= 8 && (missing - 8) % (ENTRIES - 8) == 0);
    assert_true(missing < 8 + 8 * (ENTRIES - 8)); // the next section is read
    assert_int_equal(look.info->entries_damaged, missing);
    assert_int_equal(look.info->entries_valid, ENTRIES + 8 + 8 * (ENTRIES - 8) - missing);
    assert_int_equal(look.info->log->status.damaged_of[EXTRACT_LOG_RING], 2);
    assert_int_equal(look.info->log->unreadable, 0); // each is counted once
    assert_int_equal(look.info->clock.mask, 0xFFFF);
    assert_false(extract_session_is_whole(look.session));
    log_look_close(&look);
}

// If a ring and its copy are lost with their headers, the entries still show that they do not
// belong to the ring before.
static void test_hidden_ring(void **state)
{
    struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = 16 * SECTION};
    (void)state;
    begin(&options);
    record(0xFFFFFFFF, "first");
    build(0xFFFF, "other");
    log_ring(&file, &image);
    log_entries(&file, &image, 0, 8);
    log_close(&file);
    log_damage(file.path, EXTRACT_LOG_RING, 1, 0);
    log_damage(file.path, EXTRACT_LOG_RING, 1, 0);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, ENTRIES);
    assert_int_equal(look.info->entries_damaged, 8);
    assert_int_equal(look.info->log->status.missing, 2);
    log_look_close(&look);
}

// Blocks before the first ring that is whole may belong to it.
static void test_late_ring(void **state)
{
    struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION};
    (void)state;
    begin(&options);
    record(0xFFFFFFFF, "first");
    for (unsigned i = 0; i < 4; i++)
        log_entries(&file, &image, 0, ENTRIES);
    log_close(&file);
    log_damage(file.path, EXTRACT_LOG_RING, 0, 0);
    log_damage(file.path, EXTRACT_LOG_RING, 0, 0);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 5 * ENTRIES);
    assert_int_equal(look.info->log->status.damaged, 1); // one place
    assert_int_equal(look.info->log->status.missing, 2);
    assert_false(extract_session_is_whole(look.session));
    log_look_close(&look);
}

// A damaged repetition, with a damaged copy, contains nothing new, so nothing is lost.
static void test_damaged_repeat(void **state)
{
    struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION};
    struct extract_log *log;
    struct extract_log_block block;
    uint64_t at = SIZE_MAX;
    (void)state;
    begin(&options);
    record(0xFFFFFFFF, "first");
    for (unsigned i = 0; i < 12; i++)
        log_entries(&file, &image, 0, ENTRIES);
    log_close(&file);
    assert_int_equal(extract_log_open(&log, file.path, NULL), EXTRACT_OK);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++)
        if (block.type == EXTRACT_LOG_SECTION && block.section == 1)
            at = block.offset + 2 * (96 + block.length);
    extract_log_free(log);
    assert_true(at != SIZE_MAX);
    FILE *damaged = fopen(file.path, "r+b");
    assert_non_null(damaged);
    for (unsigned i = 0; i < 2; i++, at += RING_AND_OBJECTS) {
        assert_int_equal(fseek(damaged, (long)at + AT_RING, SEEK_SET), 0);
        assert_int_equal(fputc(0x5A, damaged), 0x5A);
        assert_int_equal(fflush(damaged), 0);
        log_look_open(&look, file.path, NULL);
        assert_int_equal(look.info->log->status.damaged_of[EXTRACT_LOG_RING], 1 + i);
        assert_int_equal(look.info->log->status.restored, 1 - i);
        assert_int_equal(look.info->entries_valid, 13 * ENTRIES);
        assert_int_equal(look.info->entries_damaged, 0);
        assert_false(extract_session_is_whole(look.session));
        log_look_close(&look);
    }
    assert_int_equal(fclose(damaged), 0);
}

// The writer of a LOOP log wraps while it is read: blocks are dropped, and nothing is
// damaged.
static void test_overtaken(void **state)
{
    struct extract_log_options options = {.size = sizeof options,
                                          .policy = EXTRACT_LOG_LOOP,
                                          .limit = 64 * SECTION,
                                          .section_bytes = SECTION};
    struct extract_session_options none = {.size = sizeof none};
    (void)state;
    for (unsigned turn = 0; turn < 64; turn++) {
        struct extract_error error = {0};
        struct extract_log *log;
        size_t count;
        begin(&options);
        record(0xFFFFFFFF, "first");
        for (unsigned i = 0; i < 250; i++)
            log_entries(&file, &image, 0, ENTRIES);
        assert_int_equal(extract_log_open(&log, file.path, NULL), EXTRACT_OK);
        for (unsigned i = 0; i < turn * 6; i++)
            log_entries(&file, &image, 0, ENTRIES);
        if (extract_session_open_log(&look.session, log, NULL, &none, &error))
            fail_msg("%s: %s", error.what, error.why);
        look.log = log;
        look.trace = extract_session_trace(look.session);
        look.info = extract_trace_info(look.trace);
        for (unsigned i = 0; i < turn * 2; i++)
            log_entries(&file, &image, 0, ENTRIES);
        const struct extract_event *events = log_events(&look, &count);
        for (size_t i = 0; i < count; i++)
            assert_int_not_equal(events[i].id, EXTRACT_ID_DAMAGED);
        assert_true(count > 0 || turn > 13); // the writer has dropped all of it by then
        assert_int_equal(look.info->entries_damaged, 0);
        assert_int_equal(look.info->log->unreadable, 0);
        assert_int_equal(look.info->log->status.damaged, 0);
        log_look_close(&look);
        log_close(&file);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks),       cmocka_unit_test(test_continued),
        cmocka_unit_test(test_strangers),    cmocka_unit_test(test_renamed),
        cmocka_unit_test(test_damaged_ring), cmocka_unit_test(test_hidden_ring),
        cmocka_unit_test(test_late_ring),    cmocka_unit_test(test_damaged_repeat),
        cmocka_unit_test(test_overtaken),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
