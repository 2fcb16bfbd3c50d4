// SPDX-License-Identifier: MIT
// Logs that are damaged, cut, or were not closed: what is missing is counted and named, and reading
// goes on. Truth: the logs are made by hand, and damaged at known places.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/report.h>
#include <stdlib.h>

enum { ENTRIES = 32, BLOCK_HEAD = 96, AT_KIND = 6, AT_COUNT = 16, AT_FIRST = 48 };

static struct ring_image image;
static struct log_file file;
static struct log_look look;

static void begin(void)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1000;
    spec.entries = ENTRIES;
    ring_build(&image, &spec);
    ring_run(&image, ENTRIES, &stamp, 10);
    unlink(scratch_path("damage.log"));
    log_open(&file, scratch_path("damage.log"), &image);
}

// Entries 0-3, 4-9, 10-11, then a mark and two more.
static void make(void)
{
    begin();
    log_entries(&file, &image, 0, 4);
    log_entries(&file, &image, 4, 6);
    log_entries(&file, &image, 10, 2);
    log_mark(&file, EXTRACT_MARK_RESET, 0, "");
    log_entries(&file, &image, 12, 2);
    log_close(&file);
}

static void assert_line(const char *verb, const char *piece)
{
    const char *text = log_verb(&look, verb);
    if (!strstr(text, piece))
        fail_msg("\"%s\" is not in: %s", piece, text);
}

// That the block in the middle is missing, and nothing else.
static void check_middle(unsigned at)
{
    size_t count;
    make();
    log_damage(file.path, EXTRACT_LOG_ENTRIES, 1, at);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 4 + 1 + 2 + 1 + 2);
    assert_int_equal(events[3].raw_stamp, 1030);
    assert_int_equal(events[4].id, EXTRACT_ID_DAMAGED);
    assert_int_equal(events[4].fields, 1);
    assert_int_equal(events[4].field[0], 6);
    assert_int_equal(events[5].raw_stamp, 1100);
    assert_int_equal(events[5].flags, EXTRACT_FLAG_GAP);
    assert_int_equal(events[5].ticks, 100);
    assert_int_equal(events[6].flags, 0);
    assert_int_equal(look.info->entries_valid, 8);
    assert_int_equal(look.info->entries_damaged, 6);
    assert_int_equal(look.info->entries_total, 14);
    assert_int_equal(look.info->events_lost, 0);
    assert_false(extract_session_is_whole(look.session));
    assert_line("report", "log damaged entries=6\n");
    assert_line("damage", "the log is damaged in 1 place: ");
    assert_line("damage", "6 recorded entries are missing with them\n");
    log_look_close(&look);
}

static void test_middle(void **state)
{
    (void)state;
    check_middle(BLOCK_HEAD + 40); // in the entries
    check_middle(0);               // the magic
    check_middle(AT_COUNT);
    check_middle(AT_FIRST + 6);
    check_middle(80); // the checksum
}

static void test_every_byte(void **state)
{
    (void)state;
    for (unsigned at = 0; at < BLOCK_HEAD + 6 * 32; at++) {
        make();
        log_damage(file.path, EXTRACT_LOG_ENTRIES, 1, at);
        log_look_open(&look, file.path, NULL);
        assert_int_equal(look.info->entries_valid, 8);
        assert_int_equal(look.info->entries_damaged, 6);
        log_look_close(&look);
    }
}

// A mark that cannot be read may have been anything.
static void test_damaged_mark(void **state)
{
    size_t count;
    (void)state;
    make();
    log_damage(file.path, EXTRACT_LOG_MARK, 0, AT_KIND);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(look.info->entries_valid, 14);
    assert_int_equal(look.info->entries_damaged, 0);
    assert_false(extract_session_is_whole(look.session));
    for (size_t i = 0; i < count; i++)
        assert_true(!extract_event_is_mark(&events[i]) || events[i].id == EXTRACT_ID_DAMAGED);
    log_look_close(&look);
}

static void test_last_block(void **state)
{
    (void)state;
    make();
    log_damage(file.path, EXTRACT_LOG_ENTRIES, 3, BLOCK_HEAD);
    log_look_open(&look, file.path, NULL); // STATUS tells how many there must be
    assert_int_equal(look.info->entries_valid, 12);
    assert_int_equal(look.info->entries_damaged, 2);
    log_look_close(&look);
}

// The block that says what a ring's slots mean.
static void test_damaged_ring(void **state)
{
    struct extract_error error = {0};
    struct extract_session *session;
    struct extract_log *log;
    struct extract_session_options options = {.size = sizeof options};
    (void)state;
    make();
    log_damage(file.path, EXTRACT_LOG_RING, 0, BLOCK_HEAD + 70);
    assert_int_equal(extract_log_open(&log, file.path, NULL), EXTRACT_OK);
    enum extract_code code = extract_session_open_log(&session, log, NULL, &options, &error);
    assert_true(code == EXTRACT_BAD || code == EXTRACT_ABSENT);
    assert_true(error.why[0]);
    extract_log_free(log);
}

static void test_damaged_objects(void **state)
{
    (void)state;
    make();
    log_damage(file.path, EXTRACT_LOG_OBJECTS, 0, BLOCK_HEAD + 20);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 14);
    assert_int_equal(look.info->objects, 0);
    assert_false(extract_session_is_whole(look.session));
    assert_string_not_equal(log_verb(&look, "damage"), "");
    log_look_close(&look);
}

// An entry that cannot be one, in a block that is whole.
static void test_invalid_entry(void **state)
{
    size_t count;
    (void)state;
    begin();
    ring_word(&image, 2, 0, 0);          // no thread
    ring_word(&image, 3, 2, 0xFFFFFFFF); // the id of no event
    log_entries(&file, &image, 0, 6);
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 4);
    assert_int_equal(events[2].raw_stamp, 1040);
    assert_int_equal(events[2].flags, EXTRACT_FLAG_GAP);
    assert_int_equal(look.info->entries_damaged, 2);
    assert_int_equal(look.info->entries_total, 6);
    assert_line("damage", "2 recorded entries are no valid event and not shown\n");
    log_look_close(&look);
}

static void test_provisional(void **state)
{
    size_t count;
    (void)state;
    begin();
    log_entries_provisional(&file, &image, 0, 6, 2);
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, 6);
    for (size_t i = 0; i < 6; i++)
        assert_int_equal(events[i].flags, i < 4 ? 0 : EXTRACT_FLAG_PROVISIONAL);
    log_look_close(&look);
}

// A payload that is no whole number of the ring's slots.
static void test_wrong_length(void **state)
{
    (void)state;
    begin();
    struct extract_log_block block = {
        .type = EXTRACT_LOG_ENTRIES, .count = 3, .length = 48, .wall = 1};
    assert_int_equal(extract_log_put(file.writer, &block, image.bytes, NULL), EXTRACT_OK);
    file.next = 3;
    log_entries(&file, &image, 3, 2);
    log_close(&file);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 2);
    assert_int_equal(look.info->entries_damaged, 3);
    log_look_close(&look);
}

static void test_cut(void **state)
{
    (void)state;
    make();
    log_cut(file.path, 96 + 64 + 8); // STATUS, and some of the block before it
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 12);
    assert_true(look.info->log->status.cut);
    assert_line("damage", "the log ends in the middle of a block: its writer was killed, or");
    assert_false(extract_session_is_whole(look.session));
    log_look_close(&look);
}

// Every length is read without a fault, and never gives more than there was.
static void test_every_length(void **state)
{
    struct extract_session_options options = {.size = sizeof options};
    struct extract_session *session;
    struct extract_log *log;
    uint64_t last = UINT64_MAX;
    (void)state;
    make();
    for (;; log_cut(file.path, 8)) {
        if (extract_log_open(&log, file.path, NULL))
            break;
        if (!extract_session_open_log(&session, log, NULL, &options, NULL)) {
            const struct extract_info *info = extract_trace_info(extract_session_trace(session));
            assert_true(info->entries_valid <= 14 && info->entries_valid <= last);
            assert_true(last == UINT64_MAX || !extract_session_is_whole(session));
            last = info->entries_valid;
        }
        extract_session_close(session);
        extract_log_free(log);
    }
    assert_int_equal(last, 0);
}

static void test_still_written(void **state)
{
    (void)state;
    begin();
    log_entries(&file, &image, 0, 4);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 4);
    assert_true(look.info->running && look.info->running_known);
    assert_line("damage", "the log is still being written; ");
    assert_line("info", "state: running, not_full, no_overrun\n");
    assert_false(extract_session_is_whole(look.session));
    log_look_close(&look);
    log_close(&file);
}

// As a writer leaves it that is killed between two blocks: no STATUS, and nobody holds the lock.
static void test_not_closed(void **state)
{
    (void)state;
    make();
    log_cut(file.path, 96 + 64);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 14);
    assert_line("damage", "the log was not closed: its writer was killed\n");
    assert_false(extract_session_is_whole(look.session));
    log_look_close(&look);
}

static enum extract_code attempt(void)
{
    struct extract_session_options options = {.size = sizeof options};
    struct extract_session *session = NULL;
    struct extract_text text;
    enum extract_code code = extract_session_open_log(&session, look.log, NULL, &options, NULL);
    extract_text_init(&text, NULL, NULL);
    if (!code)
        code = extract_session_run(session, "report", &text, NULL);
    if (!code)
        code = extract_session_run(session, "stats", &text, NULL);
    if (!code)
        code = extract_export_ring(&text, extract_session_trace(session), NULL);
    extract_text_free(&text);
    extract_session_close(session);
    return code;
}

static void test_allocations(void **state)
{
    (void)state;
    make();
    assert_int_equal(extract_log_open(&look.log, file.path, NULL), EXTRACT_OK);
    each_allocation_fails(attempt);
    extract_log_free(look.log);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_middle),        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_damaged_mark),  cmocka_unit_test(test_last_block),
        cmocka_unit_test(test_damaged_ring),  cmocka_unit_test(test_damaged_objects),
        cmocka_unit_test(test_invalid_entry), cmocka_unit_test(test_provisional),
        cmocka_unit_test(test_wrong_length),  cmocka_unit_test(test_cut),
        cmocka_unit_test(test_every_length),  cmocka_unit_test(test_still_written),
        cmocka_unit_test(test_not_closed),    cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
