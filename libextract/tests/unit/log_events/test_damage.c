// SPDX-License-Identifier: MIT
// Logs that are damaged, cut, or were not closed: what is missing is counted and named, and reading
// continues. Truth: the logs are made by hand, and damaged at known places.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/report.h>
#include <stdlib.h>

enum {
    ENTRIES = 32,
    BLOCK_HEAD = 96,
    AT_KIND = 6,
    AT_COUNT = 16,
    AT_FIRST = 48,
    // Numbers of blocks: SECTION, its copy, RING, its copy, OBJECTS, its copy.
    NUMBER_RING = 2,
    NUMBER_OBJECTS = 4
};

static struct ring_image image;
static struct log_file file;
static struct log_look look;

static void begin(void)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1000;
    spec.entries = ENTRIES;
    ring_build(&image, &spec);
    ring_register(&image, 0,
                  &(struct ring_object){0, 1, 0, 0, 0x20004000, 0x20005000, 512, "main"});
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

// Changes a byte of the block with a number, as log_damage does, be it in the index or not.
static void damage_number(uint64_t number, unsigned at)
{
    uint8_t head[BLOCK_HEAD];
    FILE *bytes = fopen(file.path, "r+b");
    assert_non_null(bytes);
    for (long offset = 0;; offset += 8) {
        uint64_t found = 0;
        assert_int_equal(fseek(bytes, offset, SEEK_SET), 0);
        assert_int_equal(fread(head, 1, sizeof head, bytes), sizeof head);
        for (unsigned i = 8; i-- > 0;)
            found = found << 8 | head[24 + i];
        if (memcmp(head, "RLBK", 4) || found != number)
            continue;
        assert_int_equal(fseek(bytes, offset + (long)at, SEEK_SET), 0);
        int old = fgetc(bytes);
        assert_int_equal(fseek(bytes, offset + (long)at, SEEK_SET), 0);
        assert_int_equal(fputc(old ^ 0x10, bytes), old ^ 0x10);
        assert_int_equal(fclose(bytes), 0);
        return;
    }
}

static void assert_line(const char *verb, const char *piece)
{
    const char *text = log_verb(&look, verb);
    if (!strstr(text, piece))
        fail_msg("\"%s\" is not in: %s", piece, text);
}

// Checks that the block in the middle is missing, and nothing else.
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
    assert_line("damage", "the log is damaged in 1 place (");
    assert_line("damage", "6 entries are missing with them, whether recorded or lost\n");
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

// A block that others cannot be read without, and its copy: whatever byte of one is damaged, the
// other is read, and the damage is reported.
static void check_copies(enum extract_log_type type, uint64_t first)
{
    for (unsigned at = 0; at < BLOCK_HEAD + 104; at++)
        for (unsigned copy = 0; copy < 2; copy++) {
            make();
            damage_number(first + copy, at);
            log_look_open(&look, file.path, NULL);
            const struct extract_log_status *status = &look.info->log->status;
            assert_int_equal(look.info->entries_valid, 14);
            assert_int_equal(look.info->entries_damaged, 0);
            assert_int_equal(look.info->objects, 1);
            assert_int_equal(status->damaged, 1);
            assert_int_equal(status->restored, !copy);
            // A block has lost its header, as has its copy. No other block shows what it was.
            assert_int_equal(status->missing, copy && !status->damaged_of[type]);
            assert_true(copy || status->damaged_of[type] == 1);
            assert_int_equal(look.info->log->unreadable, 0);
            assert_false(extract_session_is_whole(look.session));
            assert_line("damage", "the log is damaged in 1 place (");
            if (!copy)
                assert_line("damage", "1 damaged block was replaced by its copy\n");
            log_look_close(&look);
        }
}

static void test_copies(void **state)
{
    (void)state;
    check_copies(EXTRACT_LOG_RING, NUMBER_RING);
    check_copies(EXTRACT_LOG_OBJECTS, NUMBER_OBJECTS);
}

// The first block of the file is read by its copy, too, and named in both forms of the report.
static void test_first_block(void **state)
{
    struct extract_session_options json = {.size = sizeof json, .json = true};
    (void)state;
    for (unsigned at = 0; at < BLOCK_HEAD + 120; at++) {
        make();
        damage_number(0, at);
        log_look_open(&look, file.path, NULL);
        assert_int_equal(look.info->entries_valid, 14);
        assert_int_equal(look.info->log->status.restored, 1);
        assert_line("damage", "the log is damaged in 1 place (SECTION): 216 bytes were skipped\n");
        assert_line("info", "\nblocks missing: 0\n");
        assert_line("info", "\nblocks restored: 1\ndamaged: 1\ndamaged bytes: 216\n"
                            "damaged types: SECTION\n");
        log_look_close(&look);
    }
    log_look_open(&look, file.path, &json);
    assert_line("info", "\"blocks_restored\":1,\"damaged\":1,\"damaged_bytes\":216,"
                        "\"damaged_types\":[\"SECTION\"],");
    log_look_close(&look);
}

// If no block states what was recorded, the error says exactly that.
static void test_damaged_ring(void **state)
{
    struct extract_error error = {0};
    struct extract_session *session;
    struct extract_log *log;
    struct extract_session_options options = {.size = sizeof options};
    (void)state;
    for (unsigned at = 0; at < 2; at++) {
        make();
        damage_number(NUMBER_RING, at * BLOCK_HEAD);
        damage_number(NUMBER_RING + 1, at * BLOCK_HEAD);
        assert_int_equal(extract_log_open(&log, file.path, NULL), EXTRACT_OK);
        assert_int_equal(extract_session_open_log(&session, log, NULL, &options, &error),
                         EXTRACT_BAD);
        assert_string_equal(error.what, file.path);
        assert_string_equal(error.why, "every block that describes the ring is damaged");
        extract_log_free(log);
    }
    make();
    assert_int_equal(truncate(file.path, 2 * (BLOCK_HEAD + 120) + 20), 0);
    assert_int_equal(extract_log_open(&log, file.path, NULL), EXTRACT_OK);
    assert_int_equal(extract_session_open_log(&session, log, NULL, &options, &error), EXTRACT_BAD);
    assert_string_equal(error.why, "no complete block describes the ring");
    extract_log_free(log);
    make();
    damage_number(0, 50);
    damage_number(1, 50);
    assert_int_equal(extract_log_open(&log, file.path, &error), EXTRACT_BAD);
    assert_string_equal(error.what, file.path);
    assert_string_equal(error.why, "every block that contains the layout of the log is damaged");
}

// Where a registry and its copy are damaged, names are missing, and nothing else is.
static void test_damaged_objects(void **state)
{
    (void)state;
    make();
    damage_number(NUMBER_OBJECTS, BLOCK_HEAD + 20);
    damage_number(NUMBER_OBJECTS + 1, BLOCK_HEAD + 20);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 14);
    assert_int_equal(look.info->objects, 0);
    assert_int_equal(look.info->log->status.damaged, 2);
    assert_int_equal(look.info->log->unreadable, 0);
    assert_false(extract_session_is_whole(look.session));
    assert_line("damage", "the log is damaged in 2 places (OBJECTS): ");
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
    assert_int_equal(count, 5);
    assert_int_equal(events[2].id, EXTRACT_ID_BROKEN);
    assert_int_equal(events[2].field[1], 2);
    assert_int_equal(events[3].raw_stamp, 1040);
    assert_int_equal(events[3].flags, EXTRACT_FLAG_GAP);
    assert_int_equal(look.info->entries_damaged, 2);
    assert_int_equal(look.info->entries_total, 6);
    assert_line("damage", "2 recorded entries are not valid events and are not shown\n");
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
    assert_line("damage", "the last block of the log is incomplete: its writer was killed, or");
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

// The log of a writer that was killed between two blocks: it has no STATUS, and nobody holds the
// lock.
static void test_not_closed(void **state)
{
    (void)state;
    make();
    log_cut(file.path, 96 + 64);
    log_look_open(&look, file.path, NULL);
    assert_int_equal(look.info->entries_valid, 14);
    assert_line("damage", "the log was not closed: its writer was killed, or its end is damaged\n");
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
        cmocka_unit_test(test_copies),        cmocka_unit_test(test_first_block),
        cmocka_unit_test(test_damaged_ring),  cmocka_unit_test(test_damaged_objects),
        cmocka_unit_test(test_invalid_entry), cmocka_unit_test(test_provisional),
        cmocka_unit_test(test_wrong_length),  cmocka_unit_test(test_cut),
        cmocka_unit_test(test_every_length),  cmocka_unit_test(test_still_written),
        cmocka_unit_test(test_not_closed),    cmocka_unit_test(test_allocations),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
