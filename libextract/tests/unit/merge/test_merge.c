// SPDX-License-Identifier: MIT
// test_merge.c: tests merging with rings whose true times are known. Two boards with random clocks
// send messages to each other; their clocks must be aligned within the stated uncertainty, and the
// log must contain every event at its time. Then snapshots of one ring are joined.
#include "merge/merge.h"
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include <extract/session.h>

enum { CASES = 250, MESSAGES = 150, SEND = 4096, RECEIVE = 4097, THREAD = 0x20004000 };

static uint64_t state;

static double between(double least, double most)
{
    state ^= state >> 12;
    state ^= state << 25;
    state ^= state >> 27;
    return least + (most - least) * ((double)(state * UINT64_C(0x2545F4914F6CDD1D) >> 11) / 0x1p53);
}

// ---- two boards ----

struct moment {
    double time; // true time
    unsigned id, number;
};

// A board whose clock shows (time - start) / rate + offset.
struct board {
    double rate, offset;
    struct moment moments[2 * MESSAGES];
    size_t count;
    struct ring_image image;
    struct look look;
};

static struct board boards[2];

static int compare_moments(const void *a, const void *b)
{
    const struct moment *p = a, *q = b;

    return (p->time > q->time) - (p->time < q->time);
}

static double clock_of(const struct board *board, double time)
{
    return time / board->rate + board->offset;
}

static void add_moment(struct board *board, double time, unsigned id, unsigned number)
{
    board->moments[board->count++] = (struct moment){time, id, number};
}

// Builds the ring of a board from its moments. Its timestamps have 32 bits.
static void build_board(struct board *board)
{
    struct ring_spec spec = ring_plain;
    const struct ring_object object = {0, 1, 0x80, 5, THREAD, 0x20008000, 1024, "main"};

    qsort(board->moments, board->count, sizeof *board->moments, compare_moments);
    spec.entries = (unsigned)board->count + 1;
    ring_build(&board->image, &spec);
    ring_fill(&board->image, &object, 1, NULL, 0);
    for (size_t i = 0; i < board->count; i++) {
        uint64_t stamp = (uint64_t)clock_of(board, board->moments[i].time);
        const struct ring_entry entry = {.thread = THREAD,
                                         .priority = 0x80050005,
                                         .id = board->moments[i].id,
                                         .stamp = stamp & UINT32_MAX,
                                         .info = {board->moments[i].number}};
        ring_insert(&board->image, &entry);
    }
    look_open(&board->look, &board->image);
}

// Makes two boards that exchange messages for `span` ticks of the first one. Each message takes
// from `least` to `most` ticks.
static void build_boards(double span, double least, double most)
{
    for (unsigned k = 0; k < 2; k++) {
        boards[k].count = 0;
        boards[k].rate = k ? between(0.9998, 1.0002) : 1;
        boards[k].offset = between(1e3, 8e9);
    }
    for (unsigned i = 0; i < MESSAGES; i++) {
        double sent = between(0, span), received = sent + between(least, most);
        struct board *from = &boards[i % 2], *to = &boards[1 - i % 2];
        add_moment(from, sent, SEND, i);
        add_moment(to, received, RECEIVE, i);
    }
    build_board(&boards[0]);
    build_board(&boards[1]);
}

static void close_boards(void)
{
    look_close(&boards[0].look);
    look_close(&boards[1].look);
}

// Returns how far the clock that was found is from the true one at ticks of the second board.
static double error_at(const struct merge_input *input, double ticks)
{
    double first = (double)(uint64_t)clock_of(&boards[0], boards[0].moments[0].time);
    double own = (double)(uint64_t)clock_of(&boards[1], boards[1].moments[0].time) + ticks;
    double truth = clock_of(&boards[0], (own - boards[1].offset) * boards[1].rate) - first;
    double found = (double)input->base + input->clock.start + input->clock.rate * ticks;

    return found > truth ? found - truth : truth - found;
}

static void name_inputs(struct merge_input inputs[2])
{
    for (unsigned k = 0; k < 2; k++)
        inputs[k] = (struct merge_input){
            .trace = boards[k].look.trace, .name = k ? "b.trx" : "a.trx", .prefix = k ? "b" : "a"};
}

static void test_clocks(void **context)
{
    const struct merge_options options = {.kind = MERGE_BOARDS,
                                          .align = "4096:info1 .. 4097:info1"};
    (void)context;

    for (unsigned seed = 0; seed < CASES; seed++) {
        struct merge_input inputs[2];
        struct merge merge;
        state = UINT64_C(0x9E3779B97F4A7C15) * (seed + 1);
        double most = between(10, 3000);
        build_boards(between(1e6, 4e9), between(0, most), most);
        name_inputs(inputs);
        assert_int_equal(merge_plan(&merge, inputs, 2, &options, NULL), EXTRACT_OK);
        assert_int_equal(inputs[1].shared, MESSAGES);
        assert_int_equal(inputs[1].clock.certainty, MERGE_CERTAIN);
        assert_true(error_at(&inputs[1], 0) <= inputs[1].clock.uncertainty);
        assert_true(error_at(&inputs[1], (double)inputs[1].ticks_last) <=
                    inputs[1].clock.uncertainty);
        assert_true(inputs[1].clock.uncertainty < 3 * most + 10);
        merge_free(&merge);
        close_boards();
    }
}

// ---- the log ----

struct reading {
    const char *path;
    struct extract_log *log;
    struct extract_trace *trace;
};

// Writes the log and opens it as a trace.
static void write_log(struct reading *reading, struct merge *merge)
{
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_APPEND,
                                                .section_bytes = merge_section_bytes(merge)};
    struct extract_log_writer *writer;

    reading->path = scratch_path("merged.log");
    assert_int_equal(extract_log_create(&writer, reading->path, &options, NULL), EXTRACT_OK);
    assert_int_equal(merge_write(merge, writer, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_open(&reading->log, reading->path, NULL), EXTRACT_OK);
    assert_int_equal(extract_trace_open_log(&reading->trace, reading->log, NULL, NULL), EXTRACT_OK);
}

static void close_log(struct reading *reading)
{
    extract_trace_close(reading->trace);
    extract_log_free(reading->log);
    unlink(reading->path);
}

static void test_log_of_boards(void **context)
{
    const struct merge_options options = {.kind = MERGE_BOARDS,
                                          .align = "4096:info1 .. 4097:info1"};
    struct merge_input inputs[2];
    struct extract_event events[4 * MESSAGES + 16];
    struct extract_reader reader;
    struct reading reading;
    struct merge merge;
    size_t of_core[2] = {0, 0};
    uint64_t last = 0;
    (void)context;

    state = 7;
    build_boards(1e6, 50, 500);
    name_inputs(inputs);
    assert_int_equal(merge_plan(&merge, inputs, 2, &options, NULL), EXTRACT_OK);
    write_log(&reading, &merge);
    extract_reader_init(&reader, reading.trace);
    size_t count = extract_reader_next(&reader, events, sizeof events / sizeof *events);
    for (size_t i = 0; i < count; i++) {
        if (extract_event_is_mark(&events[i]))
            continue;
        unsigned core = events[i].core;
        assert_true(core < 2 && events[i].ticks >= last);
        last = events[i].ticks;
        const struct moment *moment = &boards[core].moments[of_core[core]++];
        assert_int_equal(events[i].id, moment->id);
        assert_int_equal(events[i].field[0], moment->number);
        double origin = boards[0].moments[0].time < boards[1].moments[0].time
                            ? boards[0].moments[0].time
                            : boards[1].moments[0].time;
        double off = (double)last - (moment->time - origin);
        assert_true(off < inputs[1].clock.uncertainty + 3 &&
                    -off < inputs[1].clock.uncertainty + 3);
        // The threads have equal addresses, but are different threads.
        const struct extract_object *thread = extract_trace_thread(reading.trace, events[i].thread);
        assert_non_null(thread);
        assert_string_equal(thread->name, core ? "b/main" : "a/main");
        assert_int_equal(thread->priority, 5);
        assert_true(thread->param2 == 1024 && (uint32_t)events[i].thread == THREAD);
    }
    assert_int_equal(of_core[0], boards[0].count);
    assert_int_equal(of_core[1], boards[1].count);
    close_log(&reading);
    merge_free(&merge);
    close_boards();
}

// ---- what cannot be aligned ----

static void refuse(const char *align, enum extract_code expected)
{
    const struct merge_options options = {.kind = MERGE_BOARDS, .align = align};
    struct extract_error error = {0};
    struct merge_input inputs[2];
    struct merge merge;

    name_inputs(inputs);
    assert_int_equal(merge_plan(&merge, inputs, 2, &options, &error), expected);
    assert_true(error.hint[0]);
    merge_free(&merge);
}

static void test_refusals(void **context)
{
    (void)context;
    state = 11;
    build_boards(1e6, 50, 500);
    refuse(NULL, EXTRACT_USAGE);
    refuse(":info1", EXTRACT_USAGE);
    refuse("4096:", EXTRACT_USAGE);
    refuse("4096:info1 .. 4097", EXTRACT_USAGE);
    refuse("4096:nothing", EXTRACT_USAGE);
    refuse("4096:info1", EXTRACT_NOTFOUND); // each number was sent by one board only
    refuse("4098:info1", EXTRACT_NOTFOUND);
    refuse("4096:info2", EXTRACT_NOTFOUND);          // all have the same value
    refuse("4097:info1 .. 4096:info1", EXTRACT_BAD); // received before they were sent
    close_boards();
}

// ---- snapshots ----

// Copies entries [first, first + count) of a history to a ring that they fill. Its clock has a
// period and a step between entries.
static void build_clocked(struct board *board, unsigned first, unsigned count, uint64_t period,
                          unsigned step)
{
    struct ring_spec spec = ring_plain;

    spec.entries = count;
    ring_build(&board->image, &spec);
    for (unsigned i = first; i < first + count; i++) {
        const struct ring_entry entry = {.thread = THREAD,
                                         .priority = 0x80050005,
                                         .id = SEND,
                                         .stamp = (0xFFFFF000 + (uint64_t)step * i) % period,
                                         .info = {i}};
        ring_insert(&board->image, &entry);
    }
    look_open(&board->look, &board->image);
}

static void build_snapshot(struct board *board, unsigned first, unsigned count)
{
    build_clocked(board, first, count, UINT64_C(1) << 32, 64);
}

// Merges two snapshots of 100 entries, of which the second one begins `second` entries later.
// Checks the events of the log, and how many losses it has. Snapshots that overlap may be in any
// order.
static void check_snapshots(unsigned second, bool is_reversed, uint64_t duplicates, uint64_t gaps)
{
    const struct merge_options options = {.kind = MERGE_SNAPSHOTS};
    struct merge_input inputs[2];
    struct extract_event events[256];
    struct extract_reader reader;
    struct reading reading;
    struct merge merge;
    unsigned next = 0, losses = 0;

    build_snapshot(&boards[is_reversed], 0, 100);
    build_snapshot(&boards[!is_reversed], second, 100);
    name_inputs(inputs);
    assert_int_equal(merge_plan(&merge, inputs, 2, &options, NULL), EXTRACT_OK);
    write_log(&reading, &merge);
    assert_int_equal(inputs[0].duplicates + inputs[1].duplicates, duplicates);
    assert_int_equal(merge.gaps, gaps);
    extract_reader_init(&reader, reading.trace);
    size_t count = extract_reader_next(&reader, events, 256);
    for (size_t i = 0; i < count; i++) {
        losses += events[i].id == EXTRACT_ID_LOST;
        if (extract_event_is_mark(&events[i]))
            continue;
        next = next == 100 && second > 100 ? second : next;
        assert_int_equal(events[i].field[0], next);
        assert_int_equal(events[i].ticks, 64 * next);
        next++;
    }
    assert_int_equal(next, second + 100);
    assert_int_equal(losses, gaps);
    close_log(&reading);
    merge_free(&merge);
    close_boards();
}

static void test_snapshots(void **context)
{
    (void)context;
    check_snapshots(40, false, 60, 0);
    check_snapshots(99, false, 1, 0);
    check_snapshots(96, false, 4, 0);
    check_snapshots(0, false, 100, 0);
    check_snapshots(40, true, 60, 0);
    check_snapshots(96, true, 4, 0);
    check_snapshots(100, false, 0, 1); // nothing shows that no entry is missing in between
    check_snapshots(150, false, 0, 1);
}

// ---- allocations that fail ----

static const struct merge_options *failing_options;

static enum extract_code merge_once(void)
{
    const struct extract_log_options options = {.size = sizeof options,
                                                .policy = EXTRACT_LOG_APPEND};
    const char *path = scratch_path("failing.log");
    struct extract_log_writer *writer = NULL;
    struct merge_input inputs[2];
    struct merge merge;

    name_inputs(inputs);
    enum extract_code code = merge_plan(&merge, inputs, 2, failing_options, NULL);
    if (!code)
        code = extract_log_create(&writer, path, &options, NULL);
    if (!code)
        code = merge_write(&merge, writer, NULL);
    extract_log_close(writer, NULL);
    unlink(path);
    merge_free(&merge);
    return code;
}

// A clock that wraps below its mask: the times of two snapshots contradict each other, so that
// common events would be in the log twice.
static void test_period(void **context)
{
    const struct merge_options options = {.kind = MERGE_SNAPSHOTS};
    struct extract_error error = {0};
    struct merge_input inputs[2];
    struct merge merge;
    (void)context;

    build_clocked(&boards[0], 0, 128, 250000, 4000);
    build_clocked(&boards[1], 72, 128, 250000, 4000);
    name_inputs(inputs);
    assert_int_equal(merge_plan(&merge, inputs, 2, &options, &error), EXTRACT_USAGE);
    assert_non_null(strstr(error.hint, "--modulus"));
    merge_free(&merge);
    close_boards();
}

static void test_no_memory(void **context)
{
    const struct merge_options messages = {.kind = MERGE_BOARDS,
                                           .align = "4096:info1 .. 4097:info1"};
    const struct merge_options snapshots = {.kind = MERGE_SNAPSHOTS};
    (void)context;

    state = 13;
    build_boards(1e6, 50, 500);
    failing_options = &messages;
    each_allocation_fails(merge_once);
    close_boards();
    build_snapshot(&boards[0], 0, 100);
    build_snapshot(&boards[1], 40, 100);
    failing_options = &snapshots;
    each_allocation_fails(merge_once);
    close_boards();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_clocks),    cmocka_unit_test(test_log_of_boards),
        cmocka_unit_test(test_refusals),  cmocka_unit_test(test_snapshots),
        cmocka_unit_test(test_no_memory), cmocka_unit_test(test_period),
    };

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
