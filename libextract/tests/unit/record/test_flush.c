// SPDX-License-Identifier: MIT
// Tests flushing: each pass appends the new entries of a ring to a log. Truth: the numbers in the
// entries.
#include "tests/unit/record/sim.h"
#include "tests/unit/scratch.h"

static struct sim sim;
static struct extract_memory *memory;
static struct extract_error error;

static enum extract_code flush(struct extract_record_status *status)
{
    const struct extract_record_options options = {.size = sizeof options,
                                                   .ring_known = true,
                                                   .ring = SIM_ADDRESS,
                                                   .now = sim_now,
                                                   .clock = &sim};
    return extract_record_flush(scratch_path("a.log"), memory, NULL, &options, status, &error);
}

static void begin(uint32_t slots)
{
    const struct extract_memory_source source = {
        .read = sim_read, .context = &sim, .byte_order = EXTRACT_LITTLE};
    unlink(scratch_path("a.log"));
    assert_true(sim_make(&sim, slots));
    sim.patches = true;
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
}

static void end(void)
{
    extract_memory_close(memory);
    free(sim.words);
}

// Writes events, makes one pass and returns how many entries it added.
static uint64_t pass(uint64_t events, bool whole)
{
    struct extract_record_status status;
    sim_run(&sim, events);
    enum extract_code code = flush(&status);
    if (code)
        fail_msg("%s: %s", error.what, error.why);
    assert_int_equal(!status.gaps, whole);
    return status.entries;
}

// Checks the log: each entry occurs once, in order, and a gap occurs only after a loss. Returns how
// many entries the log holds.
static uint64_t judge(unsigned *losses)
{
    struct extract_log *log;
    struct extract_log_block block;
    uint64_t count = 0, next = 0;
    bool gap = true;
    *losses = 0;
    assert_int_equal(extract_log_open(&log, scratch_path("a.log"), &error), EXTRACT_OK);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        uint32_t words[SIM_ENTRY];
        uint8_t *payload = malloc(block.length + 1);
        assert_int_equal(extract_log_read(log, &block, payload, &error), EXTRACT_OK);
        // The entries of a recording are numbered from 0, even if entries before them are lost.
        bool is_start = block.type == EXTRACT_LOG_MARK && block.kind == EXTRACT_MARK_START;
        assert_true(!is_start || !block.first);
        gap |= block.type == EXTRACT_LOG_LOSS;
        *losses += block.type == EXTRACT_LOG_LOSS;
        for (uint32_t k = 0; block.type == EXTRACT_LOG_ENTRIES && k < block.count; k++) {
            memcpy(words, payload + k * sizeof words, sizeof words);
            assert_true(words[4] == next || (gap && words[4] > next));
            gap = false;
            next = (uint64_t)words[4] + 1;
            count++;
        }
        free(payload);
    }
    assert_int_equal(extract_log_status(log)->entries, count);
    assert_true(extract_log_status(log)->closed && !extract_log_status(log)->damaged);
    extract_log_free(log);
    return count;
}

// If the kernel fills in an entry after it was written to the log, the entry is not recorded again.
static void test_whole(void **state)
{
    unsigned losses;
    uint64_t sum = 0;
    (void)state;
    begin(64);
    assert_int_equal(pass(20, true), 20);
    assert_int_equal(pass(0, true), 0);
    for (unsigned i = 0; i < 100; i++)
        sum += pass(i % 50, true);
    assert_int_equal(sum, 2 * (49 * 50 / 2));
    assert_int_equal(judge(&losses), 20 + sum);
    assert_int_equal(losses, 0);
    end();
}

static void test_laps(void **state)
{
    unsigned losses;
    uint64_t sum;
    (void)state;
    begin(64);
    sum = pass(20, true);
    sum += pass(500, false);
    sum += pass(30, true);
    // After 62 events, the ring still holds one old entry and the slot that is written next.
    sum += pass(62, true);
    sum += pass(64, false);
    assert_int_equal(judge(&losses), sum);
    assert_int_equal(losses, 2);
    end();
}

// If an allocation fails, the next pass does not repeat the entries that are already in the log.
static void test_memory_is_short(void **state)
{
    struct extract_record_status status;
    enum extract_code code;
    unsigned losses;
    long n = 0;
    (void)state;
    begin(64);
    pass(20, true);
    sim_run(&sim, 10);
    do {
        alloc_countdown = n++;
        code = flush(&status);
        assert_true(code == EXTRACT_NOMEM || code == EXTRACT_OK);
    } while (alloc_countdown < 0);
    alloc_countdown = -1;
    assert_int_equal(code, EXTRACT_OK);
    assert_true(n > 10);
    assert_int_equal(judge(&losses), 30);
    end();
}

static void test_refusals(void **state)
{
    struct extract_record_status status;
    struct extract_log_options loop = {.size = sizeof loop, .limit = 1 << 20};
    struct extract_log_writer *log;
    (void)state;
    begin(64);
    sim_run(&sim, 5);
    scratch_puts("a.log", "rubbish");
    assert_int_equal(flush(&status), EXTRACT_BAD);
    unlink(scratch_path("a.log"));
    assert_int_equal(extract_log_create(&log, scratch_path("a.log"), &loop, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(log, &error), EXTRACT_OK);
    assert_int_not_equal(flush(&status), EXTRACT_OK);
    unlink(scratch_path("a.log"));
    memset(sim.words, 0, sim.count * sizeof *sim.words);
    assert_int_not_equal(flush(&status), EXTRACT_OK);
    assert_int_not_equal(access(scratch_path("a.log"), F_OK), 0);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole), cmocka_unit_test(test_laps),
                                       cmocka_unit_test(test_memory_is_short),
                                       cmocka_unit_test(test_refusals)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
