// SPDX-License-Identifier: MIT
// Tests recordings of rings of hook words. The target's recorder continues store by store while it
// is followed, and the log is checked. Truth: the recorder's own numbers, and checksums in each
// record.
#include "tests/unit/scratch.h"
#include "tests/unit/samples.h"
#include "tests/unit/hook/machine.h"
#include <extract/record.h>
#include <extract/report.h>

enum { RECORDS = 1 << 16 };

static struct extract_error error;

static bool dead; // the target does not respond

static size_t read_or_fail(void *context, uint64_t address, void *buffer, size_t length)
{
    return dead ? 0 : read_live(context, address, buffer, length);
}

struct recording {
    struct extract_memory *memory;
    struct extract_recorder *recorder;
    struct extract_log_writer *log;
    uint64_t now; // ns
};

static uint64_t clock_of(void *context)
{
    return *(uint64_t *)context += 1000;
}

static void begin(struct recording *r, bool running)
{
    struct extract_memory_source source = {.read = read_or_fail, .running = running};
    struct extract_log_options log = {.size = sizeof log, .limit = 8 << 20};
    struct extract_record_options options = {.size = sizeof options,
                                             .format = "hook",
                                             .ring_known = true,
                                             .ring = ADDRESS,
                                             .now = clock_of,
                                             .clock = &r->now};
    memset(r, 0, sizeof *r);
    unlink(scratch_path("a.log"));
    assert_int_equal(extract_memory_new(&r->memory, &source, &error), EXTRACT_OK);
    assert_int_equal(extract_log_create(&r->log, scratch_path("a.log"), &log, &error), EXTRACT_OK);
    options.log = r->log;
    enum extract_code code = extract_recorder_open(&r->recorder, r->memory, NULL, &options, &error);
    if (code)
        print_error("%s: %s\n", error.what, error.why);
    assert_int_equal(code, EXTRACT_OK);
}

static void poll_once(struct recording *r)
{
    r->now += 1000000;
    assert_int_equal(extract_recorder_poll(r->recorder, &error), EXTRACT_OK);
}

// Stops the target and ends the recording, which reads the remaining records.
static struct extract_record_status end(struct recording *r)
{
    struct extract_record_status status;
    machine.rate = 0;
    while (machine.step != STEP_TAIL || machine.done)
        step();
    poll_once(r);
    assert_int_equal(extract_recorder_finish(r->recorder, &status, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(r->log, &error), EXTRACT_OK);
    extract_memory_close(r->memory);
    return status;
}

// ---- what the log contains ----

struct replay {
    struct extract_log *log;
    struct extract_trace *trace;
    uint32_t first, next; // numbers of records
    uint32_t records;
    uint64_t lost, refused;
    uint32_t unexplained;           // gaps without a loss before them
    uint64_t pending;               // lost before the next record
    bool pending_exact, pending_is; // the loss is exact; there is a loss
    bool begins_lost;               // there is a loss before the first record
    unsigned losses, exact, resets, on, off;
};

static void note_loss(struct replay *p, const struct extract_event *event)
{
    bool exact = event->field[EXTRACT_LOST_EXACT];
    if (event->field[0] == EXTRACT_LOSS_REFUSED) {
        p->refused += event->field[1];
        return;
    }
    p->lost += event->field[EXTRACT_LOST_AT_LEAST];
    if (event->field[0] == EXTRACT_LOSS_EARLIER)
        return;
    p->losses++;
    p->exact += exact;
    p->pending = event->field[EXTRACT_LOST_AT_LEAST];
    p->pending_exact = exact;
    p->pending_is = true;
    p->begins_lost |= !p->records;
}

static void note_record(struct replay *p, const struct extract_event *event)
{
    uint32_t number = (uint32_t)event->field[0];
    check_event(event, number);
    if (!p->records)
        p->first = p->next = number;
    assert_true(number >= p->next); // no record twice, and none out of order
    if (p->pending_is && p->records) {
        assert_true(number - p->next >= p->pending);
        assert_true(!p->pending_exact || number - p->next == p->pending);
    }
    p->unexplained += number > p->next && !p->pending_is;
    p->pending_is = false;
    p->next = number + 1;
    p->records++;
}

static void note(struct replay *p, const struct extract_event *event)
{
    if (event->id == EXTRACT_ID_LOST)
        note_loss(p, event);
    else if (!extract_event_is_mark(event))
        note_record(p, event);
    p->resets += event->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET;
    p->on += event->id == EXTRACT_ID_MARK + EXTRACT_MARK_ENABLED;
    p->off += event->id == EXTRACT_ID_MARK + EXTRACT_MARK_DISABLED;
    if (event->id == EXTRACT_ID_MARK + EXTRACT_MARK_RESET)
        p->records = p->next = 0;
}

static void play(struct replay *p)
{
    struct extract_trace_options options = {.size = sizeof options};
    struct extract_event events[64];
    struct extract_reader reader;
    size_t count;
    memset(p, 0, sizeof *p);
    assert_int_equal(extract_log_open(&p->log, scratch_path("a.log"), &error), EXTRACT_OK);
    enum extract_code code = extract_trace_open_log(&p->trace, p->log, &options, &error);
    if (code)
        print_error("%s: %s\n", error.what, error.why);
    assert_int_equal(code, EXTRACT_OK);
    extract_reader_init(&reader, p->trace);
    while ((count = extract_reader_next(&reader, events, 64)))
        for (size_t i = 0; i < count; i++)
            note(p, &events[i]);
    assert_int_equal(extract_trace_info(p->trace)->entries_damaged, 0);
    assert_int_equal(p->unexplained, 0);
}

static void close_replay(struct replay *p)
{
    extract_trace_close(p->trace);
    extract_log_free(p->log);
}

static void go_on(unsigned stores)
{
    for (unsigned i = 0; i < stores; i++)
        step();
}

// In a running target, the count and the head differ only for a moment. Two polls in a row do not
// meet that moment, so this ends it.
static void leave_moment(void)
{
    if (machine.step == STEP_HEAD)
        step();
}

// ---- the tests ----

// Polls after every distance, also in the middle of a record. Every record is complete, and none is
// lost.
static void test_whole(void **state)
{
    static const bool running[] = {true, false};
    (void)state;
    for (unsigned k = 0; k < 2; k++) {
        struct recording r;
        struct replay p;
        start(0, 500, 1);
        begin(&r, running[k]);
        for (unsigned i = 0; i < 3000; i++) {
            go_on(next_random() % 80);
            poll_once(&r);
        }
        struct extract_record_status status = end(&r);
        assert_true(!status.gaps && !status.laps && !status.resets);
        play(&p);
        assert_int_equal(p.next, machine.number);
        assert_int_equal(p.records, machine.number - p.first);
        assert_int_equal(p.losses, 0);
        assert_int_equal(status.entries, p.records);
        assert_int_equal(extract_trace_info(p.trace)->span_ticks, 10 * (p.records - 1));
        close_replay(&p);
    }
}

// The target laps the reader between polls and then stops. Each loss is exact.
static void test_laps(void **state)
{
    struct recording r;
    struct replay p;
    (void)state;
    start(0, 500, 2);
    begin(&r, true);
    for (unsigned i = 0; i < 300; i++) {
        go_on(next_random() % 60);
        poll_once(&r);
        go_on(200 + next_random() % 2000);
        leave_moment();
        poll_once(&r);
    }
    struct extract_record_status status = end(&r);
    assert_true(!status.gaps_not_exact && status.laps > 200);
    play(&p);
    assert_int_equal(p.losses, p.exact);
    assert_int_equal(p.records + p.lost, machine.number - p.first);
    assert_int_equal(p.lost, status.lost);
    close_replay(&p);
}

// The target continues while it is read, from slowly to far too fast. In some runs it is halted for
// each poll. Events that are shown are complete and in order, each exact loss is right, and the sum
// is the true number.
static void race(unsigned rate, bool running, uint32_t seed)
{
    struct recording r;
    struct replay p;
    bool rests = seed % 2; // the target pauses while the recording begins
    start(rests ? 0 : rate, 700, seed);
    leave_moment();
    uint32_t known = machine.number;
    begin(&r, running);
    if (rests)
        poll_once(&r);
    for (unsigned i = 0; i < 150; i++) {
        machine.rate = i % 50 < 40 ? rate : 0; // the target pauses now and then
        go_on(machine.rate ? next_random() % (4 * rate + 20) : 0);
        unsigned during = machine.rate;
        if (!during)
            leave_moment();
        machine.rate = running ? during : 0;
        poll_once(&r);
        machine.rate = during;
    }
    struct extract_record_status status = end(&r);
    play(&p);
    assert_int_equal(p.next, machine.number);
    // The test proves nothing if too few records are seen.
    assert_true(p.records > (rate < 400 ? 50 : 15));
    // Losses that the first poll could not know are missing in the sum.
    assert_true(p.records + p.lost <= machine.number - (p.begins_lost ? known : p.first));
    if (rests)
        assert_int_equal(p.records + p.lost, machine.number - p.first);
    assert_int_equal(p.lost, status.lost);
    assert_int_equal(!status.gaps_not_exact, p.losses == p.exact);
    assert_true(!rests || status.lost_is_exact);
    assert_true(!status.lost_is_exact || p.records + p.lost >= machine.number - p.first);
    assert_int_equal(extract_trace_info(p.trace)->lost_known, status.lost_is_exact);
    assert_int_equal(extract_log_status(p.log)->lost_known, status.lost_is_exact);
    assert_int_equal(extract_log_status(p.log)->totals.lost_exact, status.lost_is_exact);
    assert_int_equal(status.resets, 0);
    close_replay(&p);
}

static void test_races(void **state)
{
    (void)state;
    for (unsigned rate = 1; rate < 60; rate += rate < 12 ? 1 : 6)
        for (uint32_t seed = 1; seed < 6; seed += sample_step()) {
            race(rate, true, seed * 7919 + rate);
            race(rate, false, seed * 104729 + rate);
        }
}

// The ring wraps between two words that are read, once or many times.
static void test_passed_by_words(void **state)
{
    (void)state;
    for (unsigned rate = 400; rate < 30000; rate += rate / 3)
        for (uint32_t seed = 1; seed < 6; seed += sample_step())
            race(rate, true, seed * 7919 + rate);
}

// The writer overwrites the whole ring while it is read for the first time.
static void test_lapped_before_the_first(void **state)
{
    struct recording r;
    struct replay p;
    (void)state;
    start(100000, 500, 4); // several laps during each read
    uint32_t known = machine.number;
    begin(&r, true);
    machine.rate = 0;
    poll_once(&r);
    struct extract_record_status status = end(&r);
    assert_true(status.lost > 0 && status.laps == 1);
    play(&p);
    assert_int_equal(p.losses, 1);
    assert_in_range(p.lost, 1000, p.first - known);
    assert_true(p.records > 0);
    close_replay(&p);
}

static void clear(void)
{
    struct hooks *h = &machine.hooks;
    hooks_word(h, HOOKS_GENERATION, hooks_word_at(h, HOOKS_GENERATION) + 1);
    h->tail = h->head;
    hooks_word(h, HOOKS_TAIL, h->tail);
    hooks_word(h, HOOKS_RECORDS, h->records = 0);
}

// The recorder detects a ring that is cleared, a ring that is opened again with the same
// generation, and a new ring that holds more than the old one.
static void test_resets(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        struct recording r;
        struct replay p;
        start(0, kind == 2 ? 0 : 700, 3 + kind);
        if (kind == 2)
            hooks_build(&machine.hooks, false, SIZE, 0);
        go_on(300);
        begin(&r, true);
        go_on(100);
        poll_once(&r);
        if (kind) {
            hooks_build(&machine.hooks, false, SIZE, 0);
            machine.step = STEP_TAIL;
            machine.number += 1000;
            make_record();
        } else {
            while (machine.step != STEP_TAIL)
                step();
            clear();
        }
        hooks_word(&machine.hooks, HOOKS_LOST, 5);
        uint32_t first = machine.number;
        go_on(kind == 1 ? 150 : 450);
        leave_moment();
        poll_once(&r);
        go_on(50);
        struct extract_record_status status = end(&r);
        assert_int_equal(status.resets, 1);
        // Events between the last poll and the reset are lost, and their number is not known.
        assert_true(status.gaps_not_exact >= 1 && !status.lost_is_exact);
        play(&p);
        assert_int_equal(p.resets, 1);
        assert_false(extract_trace_info(p.trace)->lost_known);
        assert_int_equal(p.next, machine.number);
        // The log reports what the ring overwrote since the reset, and what the ring had no space
        // for.
        assert_int_equal(p.refused, 5);
        assert_int_equal(p.records + p.lost, machine.number - first);
        close_replay(&p);
    }
}

// The recorder is switched off and on by its own flag. Entries that it has no space for are a
// separate loss.
static void test_states(void **state)
{
    struct recording r;
    struct replay p;
    (void)state;
    start(0, 700, 4);
    begin(&r, true);
    go_on(60);
    while (machine.step != STEP_TAIL)
        step();
    hooks_word(&machine.hooks, HOOKS_FLAGS, 0);
    poll_once(&r);
    poll_once(&r);
    hooks_word(&machine.hooks, HOOKS_LOST, 7);
    hooks_word(&machine.hooks, HOOKS_FLAGS, 1);
    go_on(60);
    poll_once(&r);
    struct extract_record_status status = end(&r);
    assert_int_equal(status.lost, 7);
    assert_int_equal(status.gaps_not_exact, 0);
    play(&p);
    assert_int_equal(p.off, 1);
    assert_int_equal(p.on, 1);
    assert_int_equal(p.refused, 7);
    assert_int_equal(p.losses, 0);
    assert_int_equal(p.records, machine.number - p.first);
    close_replay(&p);
}

// Begins a recording of a target that then stops responding.
static void begin_gone(struct recording *r)
{
    start(0, 700, 6);
    begin(r, true);
    go_on(100);
    poll_once(r);
    dead = true;
    poll_once(r);
}

// The target does not respond for a while. The log reports what it overwrote during that time.
static void test_gone(void **state)
{
    struct recording r;
    struct replay p;
    (void)state;
    begin_gone(&r);
    assert_true(extract_recorder_status(r.recorder)->gone);
    go_on(3000);
    leave_moment();
    poll_once(&r);
    dead = false;
    poll_once(&r);
    go_on(100);
    struct extract_record_status status = end(&r);
    assert_true(!status.gone && status.failed >= 2 && !status.gaps_not_exact);
    play(&p);
    assert_int_equal(p.losses, 1);
    assert_int_equal(p.exact, 1);
    assert_int_equal(p.records + p.lost, machine.number - p.first);
    close_replay(&p);
}

// The target stops responding until the end. The number of events since then is not known.
static void test_gone_for_good(void **state)
{
    struct recording r;
    struct replay p;
    (void)state;
    begin_gone(&r);
    struct extract_record_status status = end(&r);
    assert_true(status.gone && status.gaps_not_exact && !status.lost);
    dead = false;
    play(&p);
    assert_int_equal(p.losses, 1);
    assert_int_equal(p.exact, 0);
    assert_int_equal(p.lost, 0);
    close_replay(&p);
}

// Each allocation fails in turn. The result is an error and no leak.
static void test_memory_is_short(void **state)
{
    struct extract_memory_source source = {.read = read_live, .running = true};
    struct extract_record_options options = {
        .size = sizeof options, .ring_known = true, .ring = ADDRESS};
    bool done = false;
    (void)state;
    start(0, 700, 7);
    for (long n = 0; !done; n++) {
        struct extract_memory *memory;
        struct extract_recorder *recorder;
        long before = alloc_live;
        assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
        alloc_countdown = n;
        enum extract_code code = extract_recorder_open(&recorder, memory, NULL, &options, &error);
        done = alloc_countdown >= 0;
        alloc_countdown = -1;
        assert_int_equal(code, done ? EXTRACT_OK : EXTRACT_NOMEM);
        assert_int_equal(extract_recorder_close(recorder, &error), EXTRACT_OK);
        extract_memory_close(memory);
        assert_int_equal(alloc_live, before);
    }
}

// A log is saved as a ring with the same records.
static void test_saved(void **state)
{
    struct recording r;
    struct replay p;
    struct extract_text text;
    struct look look;
    size_t count;
    (void)state;
    start(0, 500, 5);
    begin(&r, true);
    for (unsigned i = 0; i < 200; i++) {
        go_on(i % 50 ? 40 : 2000);
        leave_moment();
        poll_once(&r);
    }
    end(&r);
    play(&p);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, p.trace, &error), EXTRACT_OK);
    scratch_write("a.hook", text.data, text.used);
    extract_text_free(&text);
    struct extract_memory *memory;
    assert_int_equal(extract_memory_open_hooks(&memory, scratch_path("a.hook"), &error),
                     EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, p.records);
    for (size_t i = 0; i < count; i++)
        check_event(&events[i], (uint32_t)events[i].field[0]);
    assert_int_equal(events[count - 1].field[0], machine.number - 1);
    uint32_t lost = machine.number - p.first - p.records;
    const struct extract_info *info = extract_trace_info(look.trace);
    assert_true(lost && info->lost_known);
    assert_int_equal(info->events_lost, lost);
    assert_int_equal(look.snapshot.unwritten, lost);
    look_close(&look);
    close_replay(&p);
}

// Copies a block of one log to another, except the last bytes of the first records.
static void copy_block(struct extract_log_writer *to, struct extract_log *from,
                       struct extract_log_block *block, uint32_t *less)
{
    static uint8_t payload[1 << 16];
    assert_true(block->length <= sizeof payload);
    assert_int_equal(extract_log_read(from, block, payload, &error), EXTRACT_OK);
    if (block->type == EXTRACT_LOG_RING) {
        struct extract_ring ring;
        assert_int_equal(extract_log_ring(&ring, payload, block->length, &error), EXTRACT_OK);
        assert_int_equal(extract_log_put_ring(to, &ring, &error), EXTRACT_OK);
    } else if (block->type != EXTRACT_LOG_SECTION && block->type != EXTRACT_LOG_STATUS) {
        if (block->type == EXTRACT_LOG_BYTES) {
            block->length -= *less;
            *less = 0;
        }
        assert_int_equal(extract_log_put(to, block, payload, &error), EXTRACT_OK);
    }
}

static void copy_log(const char *path, uint32_t less)
{
    struct extract_log_options options = {.size = sizeof options, .limit = 8 << 20};
    struct extract_log_block block;
    struct extract_log_writer *to;
    struct extract_log *from;
    unlink(path);
    assert_int_equal(extract_log_open(&from, scratch_path("a.log"), &error), EXTRACT_OK);
    assert_int_equal(extract_log_create(&to, path, &options, &error), EXTRACT_OK);
    for (size_t i = 0; extract_log_block_at(from, i, &block); i++)
        copy_block(to, from, &block, &less);
    assert_int_equal(extract_log_close(to, &error), EXTRACT_OK);
    extract_log_free(from);
}

// Blocks end in the middle of a word, at the end of a run or inside it. The cut word is damage, and
// all other records are shown.
static void test_odd_lengths(void **state)
{
    struct recording r;
    (void)state;
    for (unsigned polls = 1; polls <= 2; polls++) {
        start(0, 500, 6);
        begin(&r, true);
        for (unsigned i = 0; i < polls; i++) {
            go_on(300);
            poll_once(&r);
        }
        struct extract_record_status status = end(&r);
        for (uint32_t less = 0; less < 8; less++) {
            struct extract_log *log;
            struct extract_trace *trace;
            const char *path = scratch_path("odd.log");
            copy_log(path, less);
            assert_int_equal(extract_log_open(&log, path, &error), EXTRACT_OK);
            assert_int_equal(extract_trace_open_log(&trace, log, NULL, &error), EXTRACT_OK);
            const struct extract_info *info = extract_trace_info(trace);
            assert_true(info->entries_valid >= (less ? 4 : status.entries));
            assert_true(info->entries_valid <= status.entries);
            assert_int_equal(info->entries_damaged > 0, less > 0);
            extract_trace_close(trace);
            extract_log_free(log);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_whole),
        cmocka_unit_test(test_laps),
        cmocka_unit_test(test_races),
        cmocka_unit_test(test_lapped_before_the_first),
        cmocka_unit_test(test_resets),
        cmocka_unit_test(test_states),
        cmocka_unit_test(test_saved),
        cmocka_unit_test(test_odd_lengths),
        cmocka_unit_test(test_gone),
        cmocka_unit_test(test_gone_for_good),
        cmocka_unit_test(test_memory_is_short),
        cmocka_unit_test(test_passed_by_words),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
