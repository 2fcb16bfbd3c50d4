// SPDX-License-Identifier: MIT
// Targets in a memory that is made by hand: images that are complete, and targets that continue
// while they are read. Truth: what was put into the ring.
#include "tests/unit/posix/image.h"
#include "tests/unit/posix/reading.h"

static struct image image;

static trace_id_t open_image(int stream)
{
    struct extract_error error;
    trace_id_t trid = 0;
    enum extract_code code =
        extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS, stream, &trid, &error);
    assert_int_equal(code, EXTRACT_OK);
    return trid;
}

static void assert_event(const struct got *got, trace_event_id_t id, uint64_t time)
{
    assert_int_equal(got->unavailable, 0);
    assert_int_equal(got->info.posix_event_id, id);
    assert_int_equal(nanoseconds(&got->info.posix_timestamp), time);
}

static void make(struct image settings, uint32_t position)
{
    image = settings;
    image_make(&image);
    image_bind(&image, 0, POSIX_TRACE_LOOP, position);
}

// ---- I: an image of either kind, read as a stream that has ended ----

static void check_image(bool big, bool wide)
{
    const uint8_t data[5] = {1, 2, 3, 4, 5};
    uint8_t filter[8] = {0};
    filter[big ? 7 : 4] = 0x02; // type 33
    make((struct image){.big = big, .wide = wide, .hz = 1000000, .clock = 5}, 0xFFFFFFF8);
    trace_event_id_t user = image_name(&image, "sample");
    image_record(&image, 0, (uint32_t)IMAGE_DONE, POSIX_TRACE_START, filter, 8);
    image.clock = 1000007;
    image_record(&image, 0, (uint32_t)IMAGE_DONE | IMAGE_CUT, user, data, 5);
    memcpy(image.bytes + image_block(0) + IMAGE_NAME, "stream", 7);
    trace_id_t trid = open_image(-1);

    struct got got = next(trid);
    trace_event_set_t set;
    int member;
    assert_event(&got, POSIX_TRACE_START, 5000);
    assert_int_equal(got.length, sizeof set);
    memcpy(&set, got.data, sizeof set);
    assert_int_equal(posix_trace_eventset_ismember(33, &set, &member), 0);
    assert_int_equal(member, 1);
    assert_int_equal(posix_trace_eventset_ismember(34, &set, &member), 0);
    assert_int_equal(member, 0);

    got = next(trid);
    assert_event(&got, user, 1000007000);
    assert_int_equal(got.length, 5);
    assert_memory_equal(got.data, data, 5);
    assert_int_equal(got.info.posix_truncation_status, POSIX_TRACE_TRUNCATED_RECORD);
    assert_int_equal((uintptr_t)got.info.posix_prog_address,
                     (wide ? 0x5500000000 : 0) + 0x8001000 + user);
    assert_int_equal((uintptr_t)got.info.posix_thread_id,
                     (wide ? 0x5500000000 : 0) + 0x7000 + user);
    assert_int_equal(got.info.posix_pid, 1);
    got = next(trid);
    assert_none(&got);
    assert_int_equal(posix_trace_rewind(trid), 0);
    got = next(trid);
    assert_event(&got, POSIX_TRACE_START, 5000);
    assert_int_equal(posix_trace_close(trid), 0);
    image_close(&image);
}

static void test_i7_images(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++)
        check_image(kind & 1, kind & 2);
}

// The sum of what a name, a status and attributes of an image say; and what it refuses.
static void test_i15_recorded(void **state)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    struct posix_trace_status_info status;
    struct got got;
    trace_event_set_t set;
    trace_attr_t attr;
    size_t size;
    (void)state;
    make((struct image){.big = true, .hz = 8000000}, 0);
    trace_event_id_t user = image_name(&image, "one");
    for (unsigned i = 0; i < 12; i++) // 6 words each, of 64
        image_record(&image, 0, (uint32_t)IMAGE_DONE, user, NULL, 0);
    memcpy(image.bytes + image_block(0) + IMAGE_NAME, "stream", 7);
    trace_id_t trid = open_image(0);
    for (unsigned i = 0; i < 2; i++) { // the status of what is over is not reset
        assert_int_equal(posix_trace_get_status(trid, &status), 0);
        assert_int_equal(status.posix_stream_status, POSIX_TRACE_RUNNING);
        assert_int_equal(status.posix_stream_full_status, POSIX_TRACE_FULL);
        assert_int_equal(status.posix_stream_overrun_status, POSIX_TRACE_OVERRUN);
    }
    assert_int_equal(posix_trace_eventid_get_name(trid, user, name), 0);
    assert_string_equal(name, "one");
    assert_int_equal(posix_trace_eventid_get_name(trid, user + 1, name), EINVAL);
    assert_int_equal(posix_trace_get_attr(trid, &attr), 0);
    assert_int_equal(posix_trace_attr_getname(&attr, name), 0);
    assert_string_equal(name, "stream");
    assert_int_equal(posix_trace_attr_getmaxdatasize(&attr, &size), 0);
    assert_int_equal(size, 64);
    assert_int_equal(posix_trace_attr_getmaxusereventsize(&attr, 5, &size), 0);
    assert_int_equal(size, 24 + 8); // first, second, address, thread, stamp, last; data
    struct timespec resolution;
    assert_int_equal(posix_trace_attr_getclockres(&attr, &resolution), 0);
    assert_int_equal(resolution.tv_nsec, 125);
    assert_int_equal(posix_trace_start(trid), EINVAL);
    assert_int_equal(posix_trace_stop(trid), EINVAL);
    assert_int_equal(posix_trace_clear(trid), EINVAL);
    assert_int_equal(posix_trace_shutdown(trid), EINVAL);
    assert_int_equal(posix_trace_get_filter(trid, &set), EINVAL);
    posix_trace_eventset_empty(&set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), EINVAL);
    assert_int_equal(posix_trace_trid_eventid_open(trid, "x", &user), EINVAL);
    assert_int_equal(posix_trace_trygetnext_event(trid, &got.info, got.data, sizeof got.data,
                                                  &got.length, &got.unavailable),
                     EINVAL);
    assert_int_equal(posix_trace_close(trid), 0);
    assert_int_equal(posix_trace_close(trid), EINVAL);
    image_close(&image);
}

// Events were overwritten before the image was taken: OVERFLOW has the first lost timestamp, RESUME
// the first one that is there.
static void test_i16_overwritten(void **state)
{
    (void)state;
    make((struct image){.hz = 1000, .clock = 100}, 0);
    for (unsigned i = 0; i < 12; i++) // 6 words each: 10 fit into 64
        image_record(&image, 0, (uint32_t)IMAGE_DONE, 32, NULL, 0);
    trace_id_t trid = open_image(0);
    struct got got = next(trid);
    assert_event(&got, POSIX_TRACE_OVERFLOW, 100000000);
    got = next(trid);
    assert_event(&got, POSIX_TRACE_RESUME, 102000000);
    for (unsigned i = 2; i < 12; i++) {
        got = next(trid);
        assert_event(&got, 32, 100000000 + i * 1000000);
    }
    got = next(trid);
    assert_none(&got);
    assert_int_equal(posix_trace_close(trid), 0);
    image_close(&image);
}

// An open record is skipped if nobody continues it. Damage extends to the next valid record.
static void test_i17_open_and_torn(void **state)
{
    struct got got;
    (void)state;
    make((struct image){.hz = 1000, .clock = 1}, 0);
    image_record(&image, 0, (uint32_t)IMAGE_DONE, 32, NULL, 0);
    image_record(&image, 0, IMAGE_OPEN, 33, NULL, 0);
    image_record(&image, 0, (uint32_t)IMAGE_DONE, 34, NULL, 0);
    uint32_t torn = image_record(&image, 0, (uint32_t)IMAGE_DONE, 35, NULL, 0);
    image_record(&image, 0, (uint32_t)IMAGE_DONE, 36, NULL, 0);
    image_put(&image, IMAGE_RINGS + 4 * torn, 0xA5A5A5A5);
    trace_id_t trid = open_image(0);
    got = next(trid);
    assert_event(&got, 32, 1000000);
    got = next(trid);
    assert_event(&got, 34, 3000000);
    got = next(trid);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_OVERFLOW);
    got = next(trid);
    assert_event(&got, POSIX_TRACE_RESUME, 5000000);
    got = next(trid);
    assert_event(&got, 36, 5000000);
    got = next(trid);
    assert_none(&got);
    assert_int_equal(posix_trace_close(trid), 0);
    image_close(&image);
}

// ---- I: a target that continues ----

enum { PID = 77 };

static trace_id_t create_on_image(const trace_attr_t *attr)
{
    struct extract_error error;
    trace_id_t trid = 0;
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, &error),
                     EXTRACT_OK);
    assert_int_equal(posix_trace_create(PID, attr, &trid), 0);
    return trid;
}

static void leave_image(void)
{
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    image_close(&image);
}

static void make_idle(struct image settings)
{
    image = settings;
    image_make(&image);
}

static void record(trace_event_id_t id)
{
    image_record(&image, 0, (uint32_t)IMAGE_DONE, id, NULL, 0);
}

static void skip_start(trace_id_t trid)
{
    assert_int_equal(posix_trace_start(trid), 0);
    image_serve(&image);
    struct got got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_START);
}

// Requests take effect when the target passes a trace point, and not before.
static void check_requests(bool big)
{
    struct posix_trace_status_info status;
    struct got got;
    trace_event_set_t set, sets[2];
    make_idle((struct image){.big = big, .hz = 1000, .clock = 50});
    image_set(&image, 0, IMAGE_HEAD, 0xFFFFFFF0);
    image_set(&image, 0, IMAGE_TAIL, 0xFFFFFFF0);
    trace_id_t trid = create_on_image(NULL);
    assert_int_equal(image_get(&image, IMAGE_ACTIVE), UINT32_MAX);
    assert_int_equal(image_word(&image, 0, IMAGE_WANTED), 1);
    assert_int_equal(image_word(&image, 0, IMAGE_WANTED_POLICY), POSIX_TRACE_LOOP);
    got = try_next(trid);
    assert_none(&got);
    assert_int_equal(posix_trace_get_status(trid, &status), 0);
    assert_int_equal(status.posix_stream_status, POSIX_TRACE_SUSPENDED);
    assert_int_equal(posix_trace_start(trid), 0);
    assert_int_equal(posix_trace_get_status(trid, &status), 0);
    assert_int_equal(status.posix_stream_status, POSIX_TRACE_RUNNING);
    got = try_next(trid);
    assert_none(&got);
    image_serve(&image);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_START);
    assert_int_equal(got.length, sizeof set);
    posix_trace_eventset_empty(&set);
    assert_memory_equal(got.data, &set, sizeof set);

    posix_trace_eventset_add(33, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_ADD_EVENTSET), 0);
    assert_int_equal(image_word(&image, 0, IMAGE_WANTED_FILTER + 4), 2);
    image_serve(&image);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_FILTER);
    assert_int_equal(got.length, sizeof sets);
    memcpy(sets, got.data, sizeof sets);
    assert_memory_equal(&sets[1], &set, sizeof set);
    posix_trace_eventset_empty(&set);
    assert_memory_equal(&sets[0], &set, sizeof set);

    assert_int_equal(posix_trace_stop(trid), 0);
    image_serve(&image);
    got = try_next(trid);
    int by_itself = -1;
    assert_int_equal(got.info.posix_event_id, POSIX_TRACE_STOP);
    assert_int_equal(got.length, sizeof by_itself);
    memcpy(&by_itself, got.data, sizeof by_itself);
    assert_int_equal(by_itself, 0);
    assert_int_equal(image_word(&image, 0, IMAGE_READ_POS), image_word(&image, 0, IMAGE_HEAD));
    assert_int_equal(posix_trace_shutdown(trid), 0);
    image_serve(&image);
    assert_int_equal(image_word(&image, 0, IMAGE_STATE), 0);
    leave_image();
}

static void test_i14_requests(void **state)
{
    (void)state;
    check_requests(false);
    check_requests(true);
}

// Positions and stamps go over 2^32 while the stream is read.
static void test_i6_counter_wrap(void **state)
{
    struct got got;
    (void)state;
    make_idle((struct image){.hz = 1000000000, .clock = 0xFFFFFF00});
    image_set(&image, 0, IMAGE_HEAD, 0U - 900);
    image_set(&image, 0, IMAGE_TAIL, 0U - 900);
    trace_id_t trid = create_on_image(NULL);
    skip_start(trid);
    uint64_t before = 0;
    for (uint32_t i = 0; i < 400; i++) {
        record(32 + i % 8);
        if (i % 7 != 6) // fewer than the ring holds
            continue;
        for (uint32_t k = i - 6; k <= i; k++) {
            got = try_next(trid);
            assert_int_equal(got.unavailable, 0);
            assert_int_equal(got.info.posix_event_id, 32 + k % 8);
            uint64_t now = nanoseconds(&got.info.posix_timestamp);
            if (before)
                assert_int_equal(now - before, 1);
            before = now;
        }
    }
    assert_int_equal(posix_trace_shutdown(trid), 0);
    leave_image();
}

// The reader waits for an open record. What follows it in the ring comes after it.
static void test_i2_open(void **state)
{
    struct got got;
    (void)state;
    make_idle((struct image){.hz = 1000});
    trace_id_t trid = create_on_image(NULL);
    skip_start(trid);
    record(33);
    uint32_t open = image_record(&image, 0, IMAGE_OPEN, 34, NULL, 0);
    record(35);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, 33);
    got = try_next(trid);
    assert_none(&got);
    image_put(&image, IMAGE_RINGS + open % 64 * 4,
              (image_get(&image, IMAGE_RINGS + open % 64 * 4) & 0x3FFFFFFF) | (uint32_t)IMAGE_DONE);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, 34);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, 35);
    leave_image();
}

static void assert_overrun(trace_id_t trid, int full, int overrun)
{
    struct posix_trace_status_info status;
    assert_int_equal(posix_trace_get_status(trid, &status), 0);
    assert_int_equal(status.posix_stream_full_status, full);
    assert_int_equal(status.posix_stream_overrun_status, overrun);
}

// Lapped between two reads, twice. `writable`: whether the target learns what was read.
static void check_lapped(bool writable)
{
    struct got got;
    make_idle((struct image){.hz = 1000000, .clock = 10});
    image.refused_offset = writable ? 0 : image_block(0) + IMAGE_READ_POS;
    trace_id_t trid = create_on_image(NULL);
    skip_start(trid); // stamp 10
    for (unsigned round = 0; round < 2; round++) {
        record(33);
        got = try_next(trid);
        assert_int_equal(got.info.posix_event_id, 33);
        assert_overrun(trid, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
        struct timespec last = got.info.posix_timestamp;
        for (unsigned i = 0; i < 14; i++) // 10 fit
            record(34 + i);
        assert_overrun(trid, POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
        assert_overrun(trid, POSIX_TRACE_FULL, POSIX_TRACE_NO_OVERRUN);
        got = try_next(trid);
        assert_int_equal(got.info.posix_event_id, POSIX_TRACE_OVERFLOW);
        long distance = (got.info.posix_timestamp.tv_nsec - last.tv_nsec + 1000000000) % 1000000000;
        // The target states the first timestamp that it lost: of id 34, since it knows what was
        // read.
        assert_int_equal(distance, writable ? 1000 : 0);
        got = try_next(trid);
        assert_int_equal(got.info.posix_event_id, POSIX_TRACE_RESUME);
        distance = (got.info.posix_timestamp.tv_nsec - last.tv_nsec + 1000000000) % 1000000000;
        assert_int_equal(distance, 5000);
        for (unsigned i = 4; i < 14; i++) {
            got = try_next(trid);
            assert_int_equal(got.info.posix_event_id, 34 + i);
        }
        got = try_next(trid);
        assert_none(&got);
        assert_overrun(trid, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    }
    leave_image();
}

static void test_i3_lapped(void **state)
{
    (void)state;
    check_lapped(true);
}

static void test_i8_read_pos_not_writable(void **state)
{
    (void)state;
    check_lapped(false);
}

// ---- I: overwritten while it is copied ----

static uint32_t random_state;
static unsigned rate;
static uint32_t written; // numbers that were recorded

static uint32_t next_random(void)
{
    random_state = random_state * 1664525 + 1013904223;
    return random_state >> 16;
}

// Records whose data follow from their number.
static void record_number(void)
{
    uint32_t data[8];
    uint32_t words = 1 + written % 8;
    for (uint32_t i = 0; i < words; i++)
        data[i] = written * 2654435761U + i * 40503U;
    data[0] = written++;
    image_record(&image, 0, (uint32_t)IMAGE_DONE, 40, data, 4 * words);
}

static void go_on(struct image *target, uint32_t offset)
{
    (void)target, (void)offset;
    if (next_random() % 1000 < rate)
        record_number();
}

// Whatever the writer does at the same time: accepted records are complete and in order, a gap has
// an OVERFLOW before it, and a slow reader gets a share.
static void check_torn(unsigned per_mille, uint32_t seed)
{
    uint32_t expected = 0, accepted = 0;
    bool told = false;
    random_state = seed;
    rate = per_mille;
    written = 0;
    make_idle((struct image){.hz = 1000000, .ring_words = 256});
    trace_id_t trid = create_on_image(NULL);
    skip_start(trid);
    image.before = go_on;
    for (unsigned i = 0; i < 400; i++) {
        struct got got = try_next(trid);
        uint32_t data[8];
        memcpy(data, got.data, sizeof data);
        if (got.unavailable)
            continue;
        if (got.info.posix_event_id != 40) {
            told = true;
            continue;
        }
        assert_int_equal(got.length, 4 * (1 + data[0] % 8));
        for (uint32_t k = 1; k < got.length / 4; k++)
            assert_int_equal(data[k], data[0] * 2654435761U + k * 40503U);
        assert_true(told ? data[0] >= expected : data[0] == expected);
        expected = data[0] + 1;
        accepted++;
        told = false;
    }
    image.before = NULL;
    assert_true(accepted > 20);
    leave_image();
}

static void test_i1_torn(void **state)
{
    static const unsigned rates[] = {5, 20, 60, 120, 200};
    (void)state;
    for (unsigned i = 0; i < sizeof rates / sizeof *rates; i++)
        for (uint32_t seed = 1; seed <= 10; seed++)
            check_torn(rates[i], seed * 7919);
}

// ---- I: the target begins again, its ring elsewhere ----

static void test_i5_generation(void **state)
{
    struct got got;
    (void)state;
    make_idle((struct image){.hz = 1000});
    trace_id_t trid = create_on_image(NULL);
    skip_start(trid);
    record(33);
    record(34);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, 33);
    image_set(&image, 0, IMAGE_RING_AT, IMAGE_RINGS + IMAGE_MAX_RING * 4);
    image_set(&image, 0, IMAGE_STREAM_GENERATION, 9);
    image_set(&image, 0, IMAGE_HEAD, 640);
    image_set(&image, 0, IMAGE_TAIL, 640);
    record(35);
    while ((got = try_next(trid)).info.posix_event_id == 34)
        assert_int_equal(got.unavailable, 0); // was copied before
    assert_int_equal(got.info.posix_event_id, 35);
    got = try_next(trid);
    assert_none(&got);
    leave_image();
}

// A reset of the target: its blocks are made again. What was asked for is asked for again.
static void test_i4_reset(void **state)
{
    struct image made = {.hz = 1000, .clock = 7};
    trace_event_set_t set;
    (void)state;
    make_idle(made);
    made = image;
    trace_id_t trid = create_on_image(NULL);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(35, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    skip_start(trid);
    record(33);
    memset(image.bytes, 0, sizeof image.bytes); // what a startup code does
    expect_none(trid);
    memcpy(image.bytes, made.bytes, sizeof image.bytes);
    image_put(&image, IMAGE_GENERATION, 2);
    image.clock = 1;
    expect_none(trid);
    assert_int_equal(image_get(&image, IMAGE_ACTIVE), UINT32_MAX);
    image_serve(&image);
    record(34);
    struct got got = expect(trid, POSIX_TRACE_START);
    memcpy(&set, got.data, sizeof set);
    assert_int_equal(set.ringside_words[1], 1 << 3);
    expect(trid, 34);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_OVERRUN);
    leave_image();
}

static void test_i10_clear(void **state)
{
    struct got got;
    (void)state;
    make_idle((struct image){.hz = 1000});
    trace_id_t trid = create_on_image(NULL);
    skip_start(trid);
    record(33);
    assert_int_equal(posix_trace_clear(trid), 0);
    got = try_next(trid);
    assert_none(&got);
    image_serve(&image);
    record(34);
    got = try_next(trid);
    assert_int_equal(got.info.posix_event_id, 34);
    leave_image();
}

// ---- binding ----

static void test_i11_streams(void **state)
{
    trace_id_t first, second, third;
    trace_attr_t attr;
    struct extract_error error;
    (void)state;
    make_idle((struct image){.hz = 1000});
    first = create_on_image(NULL);
    assert_int_equal(posix_trace_create(PID, NULL, &second), 0);
    assert_int_equal(posix_trace_create(PID, NULL, &third), EAGAIN);
    assert_int_equal(posix_trace_shutdown(first), 0);
    image_serve(&image);
    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamsize(&attr, 4096); // the ring has 256 bytes
    assert_int_equal(posix_trace_create(PID, &attr, &third), ENOMEM);
    posix_trace_attr_setstreamsize(&attr, 64);
    posix_trace_attr_setname(&attr, "mine");
    assert_int_equal(posix_trace_create(PID, &attr, &third), 0);
    assert_string_equal((const char *)image.bytes + image_block(0) + IMAGE_NAME, "mine");
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, &error),
                     EXTRACT_USAGE);
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_OK);
    assert_int_equal(posix_trace_stop(third), EINVAL); // went with its target
    assert_int_equal(extract_posix_detach(PID, NULL), EXTRACT_NOTFOUND);
    image_close(&image);
}

static void serve_in_time(struct image *target, uint32_t offset)
{
    (void)offset;
    image_serve(target);
}

// A stream that the firmware started itself is taken when there is no other.
static void test_i9_take_over(void **state)
{
    (void)state;
    make_idle((struct image){.hz = 1000});
    image_bind(&image, 0, POSIX_TRACE_LOOP, 0);
    image_bind(&image, 1, POSIX_TRACE_LOOP, 0);
    image_set(&image, 0, IMAGE_CONTROLLER, 4711);
    image.before = serve_in_time;
    trace_id_t trid = create_on_image(NULL);
    assert_int_equal(posix_trace_start(trid), 0);
    assert_int_equal(try_next(trid).info.posix_event_id, POSIX_TRACE_START);
    assert_int_equal(image_word(&image, 1, IMAGE_STREAM_GENERATION), 2);
    assert_int_equal(image_word(&image, 0, IMAGE_STREAM_GENERATION), 1);
    leave_image();
}

static void test_i18_read_only(void **state)
{
    trace_id_t trid;
    (void)state;
    make_idle((struct image){.read_only = true});
    assert_int_equal(extract_posix_attach(PID, image.memory, NULL, IMAGE_ADDRESS, NULL),
                     EXTRACT_OK);
    assert_int_equal(posix_trace_create(PID, NULL, &trid), EPERM);
    leave_image();
}

// By a scan, by a stream block's address, and nowhere.
static void test_i12_found(void **state)
{
    struct extract_error error;
    trace_id_t trid;
    (void)state;
    make((struct image){.big = true}, 0);
    record(33);
    assert_int_equal(extract_posix_open_memory(image.memory, NULL, 0, 0, &trid, &error),
                     EXTRACT_OK);
    assert_int_equal(next(trid).info.posix_event_id, 33);
    assert_int_equal(posix_trace_close(trid), 0);
    assert_int_equal(extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS + image_block(0),
                                               -1, &trid, &error),
                     EXTRACT_OK);
    assert_int_equal(next(trid).info.posix_event_id, 33);
    assert_int_equal(posix_trace_close(trid), 0);
    assert_int_equal(extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS, 2, &trid, &error),
                     EXTRACT_USAGE);
    assert_int_equal(
        extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS + 8, 0, &trid, &error),
        EXTRACT_BAD);
    assert_int_equal(extract_posix_open_memory(image.memory, NULL, 64, 0, &trid, &error),
                     EXTRACT_UNREADABLE);
    memset(image.bytes, 0, sizeof image.bytes);
    assert_int_equal(extract_posix_open_memory(image.memory, NULL, 0, 0, &trid, &error),
                     EXTRACT_NOTFOUND);
    image_close(&image);
}

// Names that a controller registers lie at the table's other end.
static void check_names(bool big)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t event, listed;
    int unavailable;
    make_idle((struct image){.big = big});
    image_name(&image, "target's");
    trace_id_t trid = create_on_image(NULL);
    assert_int_equal(posix_trace_trid_eventid_open(trid, "target's", &event), 0);
    assert_int_equal(event, 33);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(posix_trace_trid_eventid_open(trid, "host", &event), 0);
        assert_int_equal(event, 32 + IMAGE_NAMES_ROOM - 1);
    }
    assert_int_equal(image_get(&image, IMAGE_NAMES_CLAIMED), 1);
    assert_string_equal((const char *)image.bytes + IMAGE_NAMES +
                            (IMAGE_NAMES_ROOM - 1) * IMAGE_NAME_BYTES,
                        "host");
    assert_int_equal(
        posix_trace_trid_eventid_open(trid, "a name that fills the slot whole", &listed),
        ENAMETOOLONG);
    assert_int_equal(posix_trace_eventid_get_name(trid, event, name), 0);
    assert_string_equal(name, "host");
    for (trace_event_id_t id = 1; id <= 8; id++) {
        assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &listed, &unavailable), 0);
        assert_int_equal(listed, id);
    }
    const trace_event_id_t user[] = {32, 33, 32 + IMAGE_NAMES_ROOM - 1};
    for (unsigned i = 0; i < 3; i++) {
        assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &listed, &unavailable), 0);
        assert_int_equal(unavailable, 0);
        assert_int_equal(listed, user[i]);
    }
    assert_int_equal(posix_trace_eventtypelist_getnext_id(trid, &listed, &unavailable), 0);
    assert_int_not_equal(unavailable, 0);
    for (unsigned i = 0; i < IMAGE_NAMES_ROOM - 3; i++) {
        snprintf(name, sizeof name, "n%u", i);
        assert_int_equal(posix_trace_trid_eventid_open(trid, name, &event), 0);
        assert_int_equal(event, 32 + IMAGE_NAMES_ROOM - 2 - i);
    }
    assert_int_equal(posix_trace_trid_eventid_open(trid, "one too many", &event), 0);
    assert_int_equal(event, POSIX_TRACE_UNNAMED_USEREVENT);
    leave_image();
}

static void test_i13_names(void **state)
{
    (void)state;
    check_names(false);
    check_names(true);
}

// ---- blocks that contradict themselves ----

static void refuse(uint32_t offset, uint32_t word)
{
    struct extract_error error;
    trace_id_t trid;
    make((struct image){.hz = 1}, 0);
    image_put(&image, offset, word);
    assert_int_not_equal(
        extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS, 0, &trid, &error), EXTRACT_OK);
    assert_true(error.what[0] && error.why[0]);
    image_close(&image);
}

static void test_i19_hostile_blocks(void **state)
{
    (void)state;
    refuse(0, 0);
    refuse(24, 33);                         // streams
    refuse(32, 0xFFFFFF00);                 // streams_at
    refuse(64, 4096);                       // ids
    refuse(image_block(0), 0);              // magic
    refuse(image_block(0) + 12, 8);         // back
    refuse(image_block(0) + 20, 63);        // ring_words
    refuse(image_block(0) + IMAGE_TAIL, 9); // behind head
}

// Every word of the blocks, with every value that may confuse: nothing but errors and events.
static void test_i20_hostile_words(void **state)
{
    static const uint32_t values[] = {0, 1, 3, 63, 64, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF};
    (void)state;
    for (uint32_t offset = 0; offset < IMAGE_RINGS + 64 * 4; offset += 4)
        for (unsigned i = 0; i < sizeof values / sizeof *values; i++) {
            trace_id_t trid;
            struct got got;
            make((struct image){.hz = 1000}, 0xFFFFFFF0);
            for (unsigned k = 0; k < 12; k++)
                record(32);
            image_put(&image, offset, values[i]);
            if (extract_posix_open_memory(image.memory, NULL, IMAGE_ADDRESS, 0, &trid, NULL) ==
                EXTRACT_OK) {
                unsigned events = 0;
                while (!posix_trace_getnext_event(trid, &got.info, got.data, sizeof got.data,
                                                  &got.length, &got.unavailable) &&
                       !got.unavailable)
                    assert_true(events++ < 3 * IMAGE_MAX_RING);
                assert_int_equal(posix_trace_close(trid), 0);
            }
            image_close(&image);
        }
}

// A block that is damaged later is not believed: requests go to where it was.
static void test_i21_damaged_later(void **state)
{
    char name[TRACE_EVENT_NAME_MAX + 1];
    (void)state;
    make_idle((struct image){.hz = 1000});
    trace_id_t trid = create_on_image(NULL);
    uint32_t magic = image_get(&image, image_block(1));
    image_put(&image, 64, 65536); // ids, whose filters would go over the next block
    assert_int_equal(posix_trace_eventid_get_name(trid, 32, name), EIO);
    assert_int_equal(posix_trace_start(trid), 0);
    assert_int_equal(image_word(&image, 0, IMAGE_WANTED), 3);
    assert_int_equal(image_get(&image, image_block(1)), magic);
    leave_image();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_i7_images),
        cmocka_unit_test(test_i15_recorded),
        cmocka_unit_test(test_i16_overwritten),
        cmocka_unit_test(test_i17_open_and_torn),
        cmocka_unit_test(test_i14_requests),
        cmocka_unit_test(test_i6_counter_wrap),
        cmocka_unit_test(test_i2_open),
        cmocka_unit_test(test_i3_lapped),
        cmocka_unit_test(test_i8_read_pos_not_writable),
        cmocka_unit_test(test_i1_torn),
        cmocka_unit_test(test_i5_generation),
        cmocka_unit_test(test_i10_clear),
        cmocka_unit_test(test_i4_reset),
        cmocka_unit_test(test_i11_streams),
        cmocka_unit_test(test_i9_take_over),
        cmocka_unit_test(test_i18_read_only),
        cmocka_unit_test(test_i13_names),
        cmocka_unit_test(test_i12_found),
        cmocka_unit_test(test_i19_hostile_blocks),
        cmocka_unit_test(test_i20_hostile_words),
        cmocka_unit_test(test_i21_damaged_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
