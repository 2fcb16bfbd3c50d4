// SPDX-License-Identifier: MIT
// Readers with a bandwidth: the writer writes so many words while a word is read. The tests check
// what the readers get of a ring, by how many times the writer is faster: with the calls of
// <trace.h>, as a recording, and in one snapshot. Truth: what was put into the ring, and the words
// that were read.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/reading.h"
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include <extract/record.h>
#include <extract/trace.h>

enum {
    PID = 77,
    EVENT = 40,
    HEAD_WORDS = 6,  // of a record of the image, beside its data
    MAX_DATA = 8,    // words
    READ = 40000,    // words, while the writer goes on
    PERMILLE = 250,  // of these, of records that are had
    ROOM_FOR_IT = 6, // longest records in the ring, by how many times the writer is faster
    MAX_POLLS = READ // each reads more than a word
};

static struct image image;
static struct extract_error error;

static struct {
    unsigned ratio;   // words that are written while one is read
    unsigned owed;    // of them, not yet written
    uint32_t numbers; // records that were written
    uint64_t read;    // words
    uint32_t bursts;  // once in so many words, as much as a ring, or less; 0: never
    uint32_t random;
} writer;

// ---- the writer ----

static uint32_t data_words(uint32_t number)
{
    return 1 + number % MAX_DATA;
}

static uint32_t data_word(uint32_t number, uint32_t i)
{
    return i ? number * 2654435761U + i * 40503U : number;
}

static void put_record(void)
{
    uint32_t data[MAX_DATA], words = data_words(writer.numbers);
    for (uint32_t i = 0; i < words; i++)
        data[i] = data_word(writer.numbers, i);
    image_record(&image, 0, (uint32_t)IMAGE_DONE, EVENT, data, 4 * words);
    writer.numbers++;
}

static uint32_t next_random(void)
{
    writer.random = writer.random * 1664525 + 1013904223;
    return writer.random >> 8;
}

static void go_on(struct image *target, uint32_t offset)
{
    (void)offset;
    writer.read++;
    writer.owed += writer.ratio;
    if (writer.bursts && next_random() % writer.bursts == 0)
        writer.owed += next_random() % target->ring_words;
    while (writer.owed >= HEAD_WORDS + data_words(writer.numbers)) {
        writer.owed -= HEAD_WORDS + data_words(writer.numbers);
        put_record();
    }
}

static void begin(uint32_t ring_words)
{
    writer.numbers = writer.owed = 0;
    memset(&image, 0, sizeof image);
    image.hz = 1000000;
    image.ring_words = ring_words;
    image_make(&image);
}

static void set_off(unsigned ratio)
{
    writer.ratio = ratio;
    writer.read = 0;
    image.before = go_on;
}

// ---- what the reader gets ----

struct had {
    uint32_t next;  // number of the record that may come next
    uint32_t count; // records
    uint64_t words; // of those that were had while the writer went on
    uint64_t lost;
    uint64_t while_on; // how many those are
};

static void take(struct had *had, const uint8_t *bytes, size_t length, bool gap)
{
    uint32_t words[MAX_DATA] = {0};
    assert_true(length >= 4 && length <= sizeof words);
    memcpy(words, bytes, length);
    uint32_t number = words[0], count = data_words(number);
    assert_int_equal(length, 4 * count);
    for (uint32_t i = 0; i < count; i++)
        assert_int_equal(words[i], data_word(number, i));
    assert_true(gap ? number >= had->next : number == had->next);
    assert_true(number < writer.numbers);
    had->lost += number - had->next;
    had->next = number + 1;
    had->count++;
    had->words += had->count <= had->while_on ? HEAD_WORDS + count : 0;
}

// Returns whether the ring has space for what is written at the same time.
static bool has_room(uint32_t ring_words, unsigned ratio)
{
    return !writer.bursts && ring_words >= ROOM_FOR_IT * ratio * (HEAD_WORDS + MAX_DATA);
}

static void check_share(const struct had *had, uint64_t read, uint32_t ring_words, unsigned ratio)
{
    if (has_room(ring_words, ratio))
        assert_true(had->words * 1000 >= read * PERMILLE);
}

static void for_each_ratio(void (*check)(uint32_t ring_words, unsigned ratio))
{
    static const uint32_t rings[] = {256, 1024, 8192};
    static const unsigned ratios[] = {1, 2, 5, 10, 20, 50};
    for (unsigned i = 0; i < sizeof rings / sizeof *rings; i++)
        for (unsigned k = 0; k < sizeof ratios / sizeof *ratios; k++)
            check(rings[i], ratios[k]);
}

// ---- the calls of <trace.h> ----

static bool take_next(trace_id_t trid, struct had *had, bool *gap)
{
    struct got got = try_next(trid);
    if (got.unavailable)
        return false;
    if (got.info.posix_event_id == EVENT)
        take(had, got.data, got.length, *gap);
    *gap = got.info.posix_event_id != EVENT;
    return true;
}

// A gap has an overflow before it. What follows the last gap is read when the writer stops.
static void check_calls(uint32_t ring_words, unsigned ratio)
{
    struct had had = {.while_on = UINT64_MAX};
    trace_id_t trid;
    bool gap = false;
    begin(ring_words);
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, &error),
                     EXTRACT_OK);
    assert_int_equal(posix_trace_create(PID, NULL, &trid), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    image_serve(&image);
    expect(trid, POSIX_TRACE_START);
    set_off(ratio);
    for (unsigned i = 0; i < MAX_POLLS && writer.read < READ; i++)
        while (take_next(trid, &had, &gap) && writer.read < READ)
            ;
    check_share(&had, writer.read, ring_words, ratio);
    image.before = NULL;
    while (take_next(trid, &had, &gap))
        ;
    assert_int_equal(had.next, writer.numbers);
    assert_int_equal(had.count + had.lost, writer.numbers);
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_close(&image);
}

static void test_calls(void **state)
{
    (void)state;
    for_each_ratio(check_calls);
}

// ---- a recording ----

static uint64_t clock_of(void *context)
{
    return *(uint64_t *)context += 1000;
}

static void take_event(struct had *had, uint64_t *told, const struct extract_event *event)
{
    if (event->id == EXTRACT_ID_LOST)
        *told += event->fields > 1 ? event->field[1] : 0;
    else if (!extract_event_is_mark(event))
        take(had, event->data, event->data_bytes, true);
}

static struct had play(struct extract_trace *trace, uint64_t while_on, uint64_t *told)
{
    struct had had = {.while_on = while_on};
    struct extract_event events[64];
    struct extract_reader reader;
    size_t count;
    *told = 0;
    extract_reader_init(&reader, trace);
    while ((count = extract_reader_next(&reader, events, 64)))
        for (size_t i = 0; i < count; i++)
            take_event(&had, told, &events[i]);
    assert_int_equal(extract_trace_info(trace)->entries_damaged, 0);
    extract_trace_close(trace);
    return had;
}

static struct had play_log(uint64_t while_on, uint64_t *told)
{
    struct extract_trace_options options = {.size = sizeof options};
    struct extract_trace *trace;
    struct extract_log *log;
    assert_int_equal(extract_log_open(&log, scratch_path("a.log"), &error), EXTRACT_OK);
    assert_int_equal(extract_trace_open_log(&trace, log, &options, &error), EXTRACT_OK);
    struct had had = play(trace, while_on, told);
    extract_log_free(log);
    return had;
}

// Returns the records that were read while the writer continued.
static uint64_t record(uint32_t ring_words, unsigned ratio)
{
    uint64_t now = 1;
    struct extract_log_writer *log;
    struct extract_recorder *recorder;
    struct extract_log_options log_options = {.size = sizeof log_options, .limit = 8 << 20};
    struct extract_record_options options = {.size = sizeof options,
                                             .format = "posix",
                                             .ring_known = true,
                                             .ring = IMAGE_ADDRESS,
                                             .now = clock_of,
                                             .clock = &now};
    unlink(scratch_path("a.log"));
    begin(ring_words);
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    assert_int_equal(extract_log_create(&log, scratch_path("a.log"), &log_options, &error),
                     EXTRACT_OK);
    options.log = log;
    assert_int_equal(extract_recorder_open(&recorder, image.memory, NULL, &options, &error),
                     EXTRACT_OK);
    assert_int_equal(extract_recorder_poll(recorder, &error), EXTRACT_OK); // it is followed
    set_off(ratio);
    for (unsigned i = 0; i < MAX_POLLS && writer.read < READ; i++)
        assert_int_equal(extract_recorder_poll(recorder, &error), EXTRACT_OK);
    uint64_t while_on = extract_recorder_status(recorder)->entries;
    image.before = NULL;
    for (unsigned i = 0; i < 3; i++)
        assert_int_equal(extract_recorder_poll(recorder, &error), EXTRACT_OK);
    assert_int_equal(extract_recorder_finish(recorder, NULL, &error), EXTRACT_OK);
    assert_int_equal(extract_log_close(log, &error), EXTRACT_OK);
    image_close(&image);
    return while_on;
}

// What was written is in the log, or is reported as lost.
static void check_recording(uint32_t ring_words, unsigned ratio)
{
    uint64_t told, while_on = record(ring_words, ratio);
    struct had had = play_log(while_on, &told);
    check_share(&had, writer.read, ring_words, ratio);
    assert_int_equal(had.next, writer.numbers);
    assert_int_equal(had.count + told, writer.numbers);
}

static void test_recording(void **state)
{
    (void)state;
    for_each_ratio(check_recording);
}

// ---- one look ----

// At this speed, a part of 1 + ratio of the ring can be complete. At least a quarter of that part
// is read, after attempts to read more.
static void check_look(uint32_t ring_words, unsigned ratio)
{
    struct had had = {.while_on = UINT64_MAX};
    struct look look;
    size_t count;
    begin(ring_words);
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    for (unsigned i = 0; i < ring_words / HEAD_WORDS; i++) // it has wrapped
        put_record();
    set_off(ratio);
    look_open_memory(&look, image.memory, IMAGE_ADDRESS, NULL);
    const struct extract_event *events = look_events(&look, &count);
    for (size_t i = 0; i < count; i++)
        take(&had, events[i].data, events[i].data_bytes, i == 0);
    if (has_room(ring_words, ratio))
        assert_true(had.words * 4 >= ring_words / (1 + ratio));
    look_close(&look);
}

static void test_look(void **state)
{
    (void)state;
    for_each_ratio(check_look);
}

// The writer laps the reader at any word of what is copied, to any word of it: all proofs but the
// tail let some of that through.
static void test_bursts(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 8; seed++) {
        writer.random = seed * 7919;
        writer.bursts = 20 * seed;
        check_calls(64u << seed % 3, 1);
        check_recording(64u << seed % 3, 1);
    }
    writer.bursts = 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_calls), cmocka_unit_test(test_bursts),
                                       cmocka_unit_test(test_recording),
                                       cmocka_unit_test(test_look)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
