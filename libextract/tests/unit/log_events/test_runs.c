// SPDX-License-Identifier: MIT
// Logs of streams: the bytes between two losses are a run, which is read as a whole. Truth: frames
// and records that the test writes, with their own timestamps.
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/log_builder.h"
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"

enum { RUNS = 3, FRAMES = 4, STEP = 37, FIRST = 1000 }; // of rkh_mixed

static struct extract_error error;

static void put(struct log_file *log, enum extract_log_type type, const void *bytes, size_t length,
                unsigned count)
{
    struct extract_log_block block = {.type = (uint16_t)type,
                                      .length = (uint32_t)length,
                                      .count = count,
                                      .first = log->next,
                                      .wall = log->wall += 1000};
    assert_int_equal(extract_log_put(log->writer, &block, bytes, &error), EXTRACT_OK);
    log->next += count;
}

static void begin(struct log_file *log, const struct extract_ring *ring)
{
    unlink(scratch_path("runs.log"));
    memset(log, 0, sizeof *log);
    log_create(log, scratch_path("runs.log"), NULL);
    assert_int_equal(extract_log_put_ring(log->writer, ring, &error), EXTRACT_OK);
}

// The ring that these bytes are of.
static void rkh_begin_log(struct log_file *log, const struct rkh_bytes *stream)
{
    struct look look;
    const char *path = scratch_write("stream.bin", stream->bytes, stream->length);
    assert_int_equal(rkh_look(&look, path, "chk=1,nseq=1,ts=2,ptr=4,sig=1", &error), EXTRACT_OK);
    begin(log, &look.ring);
    look_close(&look);
}

// Each run has the same frames, with the same stamps, so that each begins where the last one did.
static void test_each_run_has_its_stamps(void **state)
{
    static const struct rkh_mix mix = {.ptr = 4, .ts = 2, .sig = 1, .seq = 0};
    static struct rkh_bytes stream;
    struct log_look look;
    struct log_file log;
    size_t count;
    (void)state;
    rkh_begin(&stream, true);
    rkh_mixed(&stream, &mix, FRAMES);
    rkh_begin_log(&log, &stream);
    for (unsigned run = 0; run < RUNS; run++) {
        put(&log, EXTRACT_LOG_BYTES, stream.bytes, stream.length, FRAMES);
        log_loss(&log, EXTRACT_LOSS_LAPPED, 5, 0);
    }
    log_close(&log);
    log_look_open(&look, log.path, NULL);
    const struct extract_event *events = log_events(&look, &count);
    assert_int_equal(count, RUNS * (FRAMES + 1));
    for (unsigned i = 0; i < count; i++) {
        if (i % (FRAMES + 1) == FRAMES)
            assert_int_equal(events[i].id, EXTRACT_ID_LOST);
        else
            assert_int_equal(events[i].raw_stamp, FIRST + STEP * (i % (FRAMES + 1)));
    }
    log_look_close(&look);
}

// Blocks that hold nothing are no run, be there others or not.
static void check_empty(struct log_file *log, const void *bytes, size_t length, unsigned entries)
{
    struct log_look look;
    for (unsigned i = 0; i < 2; i++) {
        put(log, EXTRACT_LOG_BYTES, NULL, 0, 0);
        log_loss(log, EXTRACT_LOSS_LAPPED, 1, 0);
    }
    if (length)
        put(log, EXTRACT_LOG_BYTES, bytes, length, entries);
    log_loss(log, EXTRACT_LOSS_LAPPED, 1, 0);
    put(log, EXTRACT_LOG_BYTES, NULL, 0, 0);
    log_close(log);
    log_look_open(&look, log->path, NULL);
    assert_int_equal(look.info->entries_valid, entries);
    assert_int_equal(look.info->entries_damaged, 0);
    assert_non_null(strstr(log_verb(&look, "report"), "lost_at_least=1"));
    log_verb(&look, "stats");
    log_look_close(&look);
}

static void test_empty_blocks(void **state)
{
    static const struct rkh_mix mix = {.ptr = 4, .ts = 2, .sig = 1, .seq = 0};
    static struct rkh_bytes stream;
    static struct hooks hooks;
    struct log_file log;
    struct look look;
    (void)state;
    rkh_begin(&stream, true);
    rkh_mixed(&stream, &mix, FRAMES);
    for (unsigned with = 0; with < 2; with++) {
        rkh_begin_log(&log, &stream);
        check_empty(&log, stream.bytes, with * stream.length, with * FRAMES);
        hooks_build(&hooks, false, 64, 0);
        hooks_put_plain(&hooks, 1, 10);
        hooks_look(&look, &hooks);
        begin(&log, &look.ring);
        look_close(&look);
        check_empty(&log, hooks.bytes + HOOKS_HEADER, with * (size_t)hooks.head, with);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_each_run_has_its_stamps),
                                       cmocka_unit_test(test_empty_blocks)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
