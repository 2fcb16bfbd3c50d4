// SPDX-License-Identifier: MIT
// A sample trace, cut into the blocks of a log, gives every answer that the trace gives. Truth: the
// trace itself, whose answers test_oracle.c compares with those of TraceX. Without the data folder
// the cases are skipped.
#include "tests/unit/log_builder.h"
#include "tests/unit/scratch.h"
#include <extract/report.h>

struct sample {
    struct extract_memory *memory;
    struct extract_session *session;
    const struct extract_snapshot *snapshot;
    char path[512];
};

static void sample_open(struct sample *sample, const char *name,
                        const struct extract_session_options *options)
{
    const char *dir = getenv("RINGSIDE_DATA");
    snprintf(sample->path, sizeof sample->path, "%s/threadx/%s.trx", dir ? dir : "../shared/data",
             name);
    if (access(sample->path, R_OK))
        skip();
    assert_int_equal(extract_memory_open_trx(&sample->memory, sample->path, NULL), EXTRACT_OK);
    assert_int_equal(extract_session_open(&sample->session, sample->memory, NULL, options, NULL),
                     EXTRACT_OK);
    sample->snapshot = extract_trace_snapshot(extract_session_trace(sample->session));
}

static void sample_close(struct sample *sample)
{
    extract_session_close(sample->session);
    extract_memory_close(sample->memory);
}

static void put(struct log_file *log, const struct sample *sample, uint32_t slot, uint32_t count,
                bool provisional)
{
    const struct extract_ring *ring = &sample->snapshot->ring;
    uint32_t bytes = ring->entries.slot_bytes;
    struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                      .flags = EXTRACT_LOG_PROVISIONAL,
                                      .count = count,
                                      .provisional = provisional,
                                      .length = count * bytes,
                                      .first = log->next,
                                      .wall = log->wall};
    const uint8_t *entries = sample->snapshot->bytes + (ring->entries.start - ring->address);
    assert_int_equal(extract_log_put(log->writer, &block, entries + (size_t)slot * bytes, NULL),
                     EXTRACT_OK);
    log->next += count;
}

// Blocks of 1, 2, 3 … entries. A block that is not final is alone.
static void split(const struct sample *sample, const char *path)
{
    const struct extract_ring *ring = &sample->snapshot->ring;
    struct extract_reader reader;
    struct extract_event event;
    struct log_file log = {0};
    uint32_t slot = 0, count = 0, most = 1;
    log_create(&log, path, NULL);
    assert_int_equal(extract_log_put_ring(log.writer, ring, NULL), EXTRACT_OK);
    assert_int_equal(
        extract_log_put_objects(log.writer, ring->registry.start,
                                sample->snapshot->bytes + (ring->registry.start - ring->address),
                                (size_t)(ring->registry.end - ring->registry.start), NULL),
        EXTRACT_OK);
    extract_reader_init(&reader, extract_session_trace(sample->session));
    while (extract_reader_next(&reader, &event, 1)) {
        bool alone = event.flags & EXTRACT_FLAG_PROVISIONAL;
        if (count && (alone || event.slot != slot + count || count == most)) {
            put(&log, sample, slot, count, false);
            most = most % 40 + 1;
            count = 0;
        }
        slot = count ? slot : event.slot;
        count++;
        if (!alone)
            continue;
        put(&log, sample, slot, 1, true);
        count = 0;
    }
    if (count)
        put(&log, sample, slot, count, false);
    log_close(&log);
}

static void check_verb(const struct sample *sample, const struct log_look *look, const char *verb)
{
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_session_run(sample->session, verb, &text, NULL), EXTRACT_OK);
    extract_text_putc(&text, 0);
    assert_string_equal(log_verb(look, verb), text.data);
    extract_text_free(&text);
}

static void check(const char *name, const struct extract_session_options *options)
{
    const char *path = scratch_path("split.log");
    struct sample sample;
    struct log_look look;
    unlink(path);
    sample_open(&sample, name, options);
    split(&sample, path);
    log_look_open(&look, path, options);
    const struct extract_info *ring = extract_trace_info(extract_session_trace(sample.session));
    assert_int_equal(look.info->entries_valid, ring->entries_valid);
    assert_int_equal(look.info->entries_damaged, 0);
    assert_int_equal(look.info->span_ticks, ring->span_ticks);
    assert_memory_equal(&look.info->clock, &ring->clock, sizeof ring->clock);
    check_verb(&sample, &look, "report");
    check_verb(&sample, &look, "stats");
    check_verb(&sample, &look, "objects");
    assert_true(extract_session_is_whole(look.session));
    assert_string_equal(log_verb(&look, "damage"), "");
    log_look_close(&look);
    sample_close(&sample);
}

static void check_all(const char *name)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_FROM, "20000"},
                                                          {EXTRACT_FILTER_TO, "900000"},
                                                          {EXTRACT_FILTER_LAST, "100"},
                                                          {EXTRACT_FILTER_CLASS, "SVC"},
                                                          {EXTRACT_FILTER_EVENT, "!TX_TRACE_ISR*"}};
    struct extract_session_options options = {.size = sizeof options, .conditions = conditions};
    for (size_t count = 0; count <= sizeof conditions / sizeof *conditions; count++) {
        options.condition_count = count;
        options.json = false;
        check(name, &options);
        options.json = true;
        check(name, &options);
    }
    options.conditions = &conditions[2];
    options.condition_count = 1;
    check(name, &options);
}

static void test_demo_threadx(void **state)
{
    (void)state;
    check_all("demo_threadx");
}

static void test_demo_filex(void **state)
{
    (void)state;
    check_all("demo_filex");
}

static void test_cm3_slow(void **state)
{
    (void)state;
    check_all("cm3_slow");
}

// What is saved of the log gives the report of the trace.
static void check_save(const char *name)
{
    struct extract_session_options options = {.size = sizeof options, .json = true};
    const char *path = scratch_path("save.log"), *trx;
    struct sample sample;
    struct log_look look;
    struct extract_text text;
    unlink(path);
    sample_open(&sample, name, &options);
    split(&sample, path);
    log_look_open(&look, path, NULL);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, look.trace, NULL), EXTRACT_OK);
    trx = scratch_write("save.trx", text.data, text.used);
    extract_text_free(&text);
    struct sample saved = {0};
    assert_int_equal(extract_memory_open_trx(&saved.memory, trx, NULL), EXTRACT_OK);
    assert_int_equal(extract_session_open(&saved.session, saved.memory, NULL, &options, NULL),
                     EXTRACT_OK);
    log_look_close(&look);
    log_look_open(&look, path, &options);
    check_verb(&saved, &look, "objects");
    const struct extract_info *a = extract_trace_info(extract_session_trace(saved.session));
    assert_int_equal(a->entries_valid, look.info->entries_valid);
    assert_int_equal(a->span_ticks, look.info->span_ticks);
    log_look_close(&look);
    sample_close(&saved);
    sample_close(&sample);
}

static void test_save(void **state)
{
    (void)state;
    check_save("demo_threadx");
    check_save("cm3_slow");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_demo_threadx),
        cmocka_unit_test(test_demo_filex),
        cmocka_unit_test(test_cm3_slow),
        cmocka_unit_test(test_save),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
