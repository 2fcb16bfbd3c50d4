// SPDX-License-Identifier: MIT
// Tests a disk that is full for a while. The log stays complete and its entry numbers continue.
// Entries that did not fit are reported lost exactly once. Truth: the events that the simulated
// writer made.
#include "tests/unit/scratch.h"
#include "tests/unit/record/sim.h"
#include <errno.h>
#include <sys/uio.h>

static long room = -1; // writes until the disk is full; below 0: no limit

ssize_t __real_pwritev(int fd, const struct iovec *spans, int count, off_t offset);
ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset);
ssize_t __wrap_pwritev(int fd, const struct iovec *spans, int count, off_t offset)
{
    if (room == 0) {
        errno = ENOSPC;
        return -1;
    }
    room -= room > 0;
    return __real_pwritev(fd, spans, count, offset);
}

static struct sim sim;
static struct extract_memory *memory;
static struct extract_log_writer *writer;
static struct extract_recorder *recorder;
static struct extract_error error;

static void must(enum extract_code code)
{
    if (code)
        fail_msg("%s: %s", error.what, error.why);
}

static void begin(uint32_t slots)
{
    const struct extract_log_options log = {
        .size = sizeof log, .policy = EXTRACT_LOG_APPEND, .section_bytes = 16384};
    const struct extract_memory_source source = {
        .read = sim_read, .context = &sim, .byte_order = EXTRACT_LITTLE, .running = true};
    assert_true(sim_make(&sim, slots));
    sim.latency = 10000;
    sim.word_ns = 10;
    sim_run(&sim, 10);
    must(extract_log_create(&writer, scratch_path("a.log"), &log, &error));
    const struct extract_record_options options = {.size = sizeof options,
                                                   .ring_known = true,
                                                   .ring = SIM_ADDRESS,
                                                   .log = writer,
                                                   .now = sim_now,
                                                   .clock = &sim};
    must(extract_memory_new(&memory, &source, &error));
    must(extract_recorder_open(&recorder, memory, NULL, &options, &error));
}

static enum extract_code poll_after(uint64_t events)
{
    sim_run(&sim, events);
    sim.now += 500000000;
    return extract_recorder_poll(recorder, &error);
}

struct sum {
    uint64_t entries, lost;
    bool known;
};

// Adds up the entries and losses in the log. Its entry numbers must continue without a gap.
static struct sum read_log(void)
{
    struct sum sum = {.known = true};
    struct extract_log *log;
    struct extract_log_block block;
    must(extract_log_open(&log, scratch_path("a.log"), &error));
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        bool loss = block.type == EXTRACT_LOG_LOSS;
        sum.lost += loss ? block.lost : 0;
        sum.known &= !loss || (block.flags & EXTRACT_LOG_LOSS_EXACT);
        if (loss || block.type == EXTRACT_LOG_ENTRIES)
            assert_int_equal(block.first, sum.entries + sum.lost);
        sum.entries += block.type == EXTRACT_LOG_ENTRIES ? block.count : 0;
    }
    const struct extract_log_status *status = extract_log_status(log);
    assert_true(status->closed);
    assert_int_equal(status->damaged + status->missing, 0);
    assert_int_equal(status->totals.entries, sum.entries);
    assert_int_equal(status->totals.lost, sum.lost);
    assert_int_equal(status->totals.lost_exact, sum.known);
    extract_log_free(log);
    return sum;
}

// Ends the recording. The status and the log must agree: each event is recorded or lost.
static struct sum end(void)
{
    struct extract_record_status status;
    must(extract_recorder_finish(recorder, &status, &error));
    must(extract_log_close(writer, &error));
    extract_memory_close(memory);
    free(sim.words);
    struct sum sum = read_log();
    assert_int_equal(status.entries, sum.entries);
    assert_int_equal(status.lost, sum.lost);
    unlink(scratch_path("a.log"));
    return sum;
}

// 2,000 entries need four sections of 16 KiB. So it can happen that only some of them fit.
static void test_parts(void **state)
{
    bool partly = false;
    enum extract_code code = EXTRACT_IO;
    (void)state;
    for (long writes = 0; writes < 100 && code; writes++) {
        begin(4096);
        room = writes;
        code = poll_after(2000);
        room = -1;
        assert_true(!code || code == EXTRACT_IO);
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(poll_after(20), EXTRACT_OK);
        struct sum sum = end();
        assert_int_equal(sum.entries + sum.lost, 2070);
        assert_int_equal(sum.lost > 0, code != EXTRACT_OK);
        assert_true(sum.known);
        partly |= sum.lost > 0 && sum.lost < 1990;
    }
    assert_true(partly && !code);
}

// The writer laps the reader while the disk is full. Losses that could not be written are included
// in the next loss.
static void test_laps(void **state)
{
    (void)state;
    for (long writes = 0; writes < 6; writes++) {
        begin(64);
        room = writes;
        for (unsigned i = 0; i < 100; i++)
            poll_after(200);
        room = -1;
        for (unsigned i = 0; i < 3; i++)
            assert_int_equal(poll_after(20), EXTRACT_OK);
        struct sum sum = end();
        assert_int_equal((sum.entries + sum.lost) % 64, (10 + 20000 + 60) % 64);
        assert_true(sum.lost > 100 && sum.entries + sum.lost <= 20070);
        assert_false(sum.known);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parts),
        cmocka_unit_test(test_laps),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
