// SPDX-License-Identifier: MIT
// unit: the window of `ringside top` over a stream, whose entries differ in length.
//
// Truth: the numbers in the entries; a ring of the same entries.
#include "cli/top/top.h"
#include "formats/format.h"
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/scratch.h"

enum { RECORD = 20, PLAIN = 0x1230 };

static struct hooks hooks;
static struct look seen;
static struct top_source source;
static struct cli_options options;
static struct top_window *const window = &source.window;
static uint64_t now;
static uint32_t produced;

static int set_up(void **state)
{
    (void)state;
    memset(&source, 0, sizeof source);
    source.options = &options;
    source.name = source.path = "log";
    source.is_closed = true;
    now = 1000 * EXTRACT_SECOND;
    produced = 0;
    hooks_build(&hooks, false, 1 << 16, 0);
    hooks_put_plain(&hooks, 0, 5);
    hooks_look(&seen, &hooks);
    assert_int_equal(top_window_set_ring(window, &seen.ring, NULL), EXTRACT_OK);
    hooks_build(&hooks, false, 1 << 16, 0);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    look_close(&seen);
    top_window_free(window);
    return 0;
}

// Adds the block that the recorder writes for `count` entries: their bytes.
static void arrive(uint32_t count)
{
    hooks_build(&hooks, false, 1 << 16, 0);
    for (uint32_t i = 0; i < count; i++)
        hooks_put_plain(&hooks, produced + i, 100 + produced + i);
    const struct extract_log_block block = {.type = EXTRACT_LOG_BYTES,
                                            .length = hooks.head,
                                            .count = count,
                                            .first = produced,
                                            .wall = now};
    top_window_add_block(window, &block, hooks.bytes + HOOKS_HEADER);
    produced += count;
}

static void lose(uint64_t lost)
{
    produced += (uint32_t)lost;
    top_window_add_block(window,
                         &(struct extract_log_block){.type = EXTRACT_LOG_LOSS,
                                                     .kind = EXTRACT_LOSS_LAPPED,
                                                     .flags = EXTRACT_LOG_LOSS_EXACT,
                                                     .first = produced,
                                                     .lost = lost},
                         NULL);
}

// Asserts that a snapshot shows the newest `count` entries, in order.
static void shows(uint32_t count)
{
    struct top_snapshot snapshot;
    struct extract_reader reader;
    struct extract_event event;
    assert_int_equal(top_snapshot_open(&snapshot, &source, NULL, NULL), EXTRACT_OK);
    assert_non_null(snapshot.trace);
    assert_int_equal(snapshot.stats->events, count);
    extract_reader_init(&reader, snapshot.trace);
    for (uint32_t i = produced - count; i != produced; i++) {
        assert_int_equal(extract_reader_next(&reader, &event, 1), 1);
        assert_int_equal(event.id, PLAIN);
        assert_int_equal(event.field[0], i);
    }
    assert_int_equal(extract_reader_next(&reader, &event, 1), 0);
    top_snapshot_close(&snapshot);
}

static void the_newest_entries_stay(void **state)
{
    (void)state;
    shows(0);
    arrive(5);
    shows(5);
    arrive(1);
    shows(6);
    for (unsigned i = 0; i < 40; i++)
        arrive(2000);
    assert_true(window->blocks.entries <= TOP_MAX_ENTRIES);
    assert_true(window->blocks.entries > TOP_MAX_ENTRIES - 2000);
    shows((uint32_t)window->blocks.entries);
    assert_int_equal(window->state.entries, produced);
}

static void bytes_are_bounded(void **state)
{
    static uint8_t large[1 << 20];
    (void)state;
    for (unsigned i = 0; i < 9; i++)
        top_window_add_block(window,
                             &(struct extract_log_block){.type = EXTRACT_LOG_BYTES,
                                                         .length = sizeof large,
                                                         .count = 1,
                                                         .first = i,
                                                         .wall = now},
                             large);
    assert_true(window->blocks.bytes <= TOP_MAX_BYTES);
    assert_int_equal(window->blocks.count, TOP_MAX_BYTES / sizeof large);
}

static void time_passes(void **state)
{
    (void)state;
    arrive(100);
    now += 4 * EXTRACT_SECOND;
    arrive(10);
    now += 7 * EXTRACT_SECOND; // the first entries are 11 s old
    arrive(5);
    shows(15);
    top_window_drop_old(window, now + 3600 * EXTRACT_SECOND);
    shows(5); // the latest arrival stays
}

static void gaps_begin_anew(void **state)
{
    (void)state;
    arrive(20);
    lose(7);
    assert_true(window->is_over);
    arrive(3);
    shows(3);
    assert_int_equal(window->state.lost, 7);
    produced++; // a number is missing without a reason
    arrive(4);
    shows(4);
    top_window_add_block(window,
                         &(struct extract_log_block){.type = EXTRACT_LOG_MARK,
                                                     .kind = EXTRACT_MARK_RESET,
                                                     .first = produced},
                         NULL);
    assert_true(window->is_over);
    arrive(2);
    shows(2);
}

// A block of slots does not belong to a stream, and a block of bytes does not belong to a slot
// ring.
static void other_blocks_are_gaps(void **state)
{
    const struct extract_log_block slots = {
        .type = EXTRACT_LOG_ENTRIES, .length = RECORD, .count = 1, .first = 9};
    (void)state;
    arrive(9);
    top_window_add_block(window, &slots, hooks.bytes);
    assert_int_equal(window->state.gaps_not_exact, 1);
    assert_true(window->is_over);
    top_window_free(window); // there is no ring yet
    arrive(1);
    assert_int_equal(window->blocks.count, 0);
}

// Entries of the first arrival existed for an unknown time before, no matter how many blocks they
// are in.
static void rates(void **state)
{
    uint64_t rate;
    (void)state;
    arrive(100);
    arrive(100);
    arrive(100);
    now += 2 * EXTRACT_SECOND;
    arrive(30);
    assert_true(top_window_rate(window, now, &rate));
    assert_int_equal(rate, 15000); // 30 in 2 s
}

static const char *drawing_of(struct extract_text *text, const struct top_view *view)
{
    struct top_snapshot snapshot;
    assert_int_equal(top_snapshot_open(&snapshot, &source, NULL, NULL), EXTRACT_OK);
    text->used = 0;
    top_draw(text, &snapshot, view, (struct top_size){0, 0});
    extract_text_putc(text, 0);
    top_snapshot_close(&snapshot);
    return text->data;
}

static void a_stream_is_drawn(void **state)
{
    struct extract_text text;
    struct top_view view = {.sort = TOP_LOAD};
    (void)state;
    extract_text_init(&text, NULL, NULL);
    arrive(12);
    const char *drawn = drawing_of(&text, &view);
    assert_non_null(strstr(drawn, "log: hook, ended\n"));
    assert_non_null(strstr(drawn, "window: 12 events"));
    assert_non_null(strstr(drawn, "\n0x20004000 "));
    extract_text_free(&text);
}

// A window that cannot be decoded yet stays open, and the drawing states the reason.
static void what_is_not_known_is_said(void **state)
{
    struct extract_ring rkh = {.format = &extract_format_rkh, .byte_order = EXTRACT_LITTLE};
    struct extract_text text;
    struct top_view view = {.sort = TOP_LOAD};
    static const uint8_t frames[] = {1, 2, 0x7E, 3, 4, 0x7E};
    (void)state;
    rkh.address = rkh.entries.start = 0x20000000;
    rkh.entries.end = 0x20000100;
    rkh.length = 0x100;
    rkh.word_bytes = 4;
    assert_int_equal(top_window_set_ring(window, &rkh, NULL), EXTRACT_OK);
    top_window_add_block(
        window,
        &(struct extract_log_block){
            .type = EXTRACT_LOG_BYTES, .length = sizeof frames, .count = 2, .wall = now},
        frames);
    extract_text_init(&text, NULL, NULL);
    const char *drawn = drawing_of(&text, &view);
    assert_non_null(strstr(drawn, "log: -, ended\n"));
    assert_non_null(strstr(drawn, ": header is truncated; "));
    extract_text_free(&text);
}

static enum extract_code one_look(void)
{
    struct top_snapshot snapshot;
    enum extract_code code = top_snapshot_open(&snapshot, &source, NULL, NULL);
    if (!code)
        top_snapshot_close(&snapshot);
    return code;
}

static void memory_is_short(void **state)
{
    (void)state;
    arrive(3);
    each_allocation_fails(one_look);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(the_newest_entries_stay), CASE(bytes_are_bounded),         CASE(time_passes),
        CASE(gaps_begin_anew),         CASE(other_blocks_are_gaps),     CASE(rates),
        CASE(a_stream_is_drawn),       CASE(what_is_not_known_is_said), CASE(memory_is_short),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
