// SPDX-License-Identifier: MIT
// A firmware's recorder in a memory, and the functions of <trace.h> on it. The firmware carries out
// a controller's requests when it checks for them. Truth: what its trace points were given.
#include "tests/unit/posix/reading.h"
#include <extract/posix/attach.h>

// The firmware's own functions beside those of this program.
#define posix_trace_event        firmware_event
#define posix_trace_record_event firmware_record_event
#define posix_trace_eventid_open firmware_eventid_open
#define RINGSIDE_TRACE_WORDS     256
#define RINGSIDE_TRACE_PORT      "tests/unit/target/model_port.h"
#include "target/ringside_trace.c"
#undef posix_trace_event
#undef posix_trace_record_event
#undef posix_trace_eventid_open

enum { PID = 79, BASE = 0x20000000 };

static struct extract_memory *memory;

static void model_access(void)
{
}

static void model_stored(uint32_t *word, uint32_t before)
{
    (void)word, (void)before;
    model_clock++; // each store takes a tick
}

static bool lies_inside(uint64_t address, size_t length)
{
    uint64_t offset = address - BASE;
    return address >= BASE && offset <= sizeof ringside_posix &&
           length <= sizeof ringside_posix - offset;
}

static size_t read_target(void *context, uint64_t address, void *buffer, size_t length)
{
    (void)context;
    if (!lies_inside(address, length))
        return 0;
    memcpy(buffer, (const uint8_t *)&ringside_posix + (address - BASE), length);
    return length;
}

static size_t write_target(void *context, uint64_t address, const void *bytes, size_t length)
{
    (void)context;
    if (!lies_inside(address, length))
        return 0;
    memcpy((uint8_t *)&ringside_posix + (address - BASE), bytes, length);
    return length;
}

static int attach(void **state)
{
    const struct extract_memory_source source = {
        .read = read_target, .write = write_target, .running = true, .name = "firmware"};
    (void)state;
    ringside_trace_init();
    return extract_memory_new(&memory, &source, NULL) ||
           extract_posix_attach(PID, memory, NULL, BASE, NULL);
}

static int detach(void **state)
{
    (void)state;
    int error = extract_posix_detach(PID, NULL) != EXTRACT_OK;
    extract_memory_close(memory);
    return error;
}

static trace_id_t create(const trace_attr_t *attr)
{
    trace_id_t trid;
    assert_int_equal(posix_trace_create(PID, attr, &trid), 0);
    return trid;
}

static void test_c1_requests(void **state)
{
    trace_event_set_t set;
    (void)state;
    trace_id_t trid = create(NULL);
    ringside_trace_poll();
    firmware_event(32, NULL, 0);
    expect_none(trid);
    assert_int_equal(posix_trace_start(trid), 0);
    ringside_trace_poll();
    expect(trid, POSIX_TRACE_START);
    firmware_event(32, "abcde", 5);
    struct got got = expect(trid, 32);
    assert_int_equal(got.length, 5);
    assert_memory_equal(got.data, "abcde", 5);
    assert_int_equal(got.info.posix_pid, 1);
    assert_int_equal((uintptr_t)got.info.posix_thread_id, 0x7000);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(32, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    ringside_trace_poll();
    firmware_event(32, NULL, 0);
    expect(trid, POSIX_TRACE_FILTER);
    expect_none(trid);
    assert_int_equal(posix_trace_stop(trid), 0);
    ringside_trace_poll();
    expect(trid, POSIX_TRACE_STOP);
    expect_none(trid);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    ringside_trace_poll();
}

// More events than the ring has space for: what is read, and which losses are reported.
static void check_policy(int policy, trace_event_id_t last)
{
    trace_attr_t attr;
    struct got got, before = {0};
    unsigned overflows = 0, events = 0;
    posix_trace_attr_init(&attr);
    posix_trace_attr_setstreamfullpolicy(&attr, policy);
    trace_id_t trid = create(&attr);
    assert_int_equal(posix_trace_start(trid), 0);
    ringside_trace_poll();
    expect(trid, POSIX_TRACE_START);
    for (uint32_t i = 0; i < 1000; i++)
        firmware_event(32, &i, sizeof i);
    expect_status(trid, policy == POSIX_TRACE_LOOP ? POSIX_TRACE_RUNNING : POSIX_TRACE_SUSPENDED,
                  POSIX_TRACE_FULL, POSIX_TRACE_OVERRUN);
    while (!(got = try_next(trid)).unavailable) {
        overflows += got.info.posix_event_id == POSIX_TRACE_OVERFLOW;
        events += got.info.posix_event_id == 32;
        before = got;
    }
    assert_int_equal(before.info.posix_event_id, last);
    assert_int_equal(overflows, policy == POSIX_TRACE_LOOP);
    assert_true(events > 4);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    assert_int_equal(posix_trace_clear(trid), 0);
    ringside_trace_poll();
    firmware_event(32, "z", 1);
    if (policy == POSIX_TRACE_UNTIL_FULL)
        expect(trid, POSIX_TRACE_START); // what was full starts again
    expect(trid, 32);
    assert_int_equal(posix_trace_shutdown(trid), 0);
    ringside_trace_poll();
}

static void test_d1_d3_policies(void **state)
{
    (void)state;
    check_policy(POSIX_TRACE_LOOP, 32);
    check_policy(POSIX_TRACE_UNTIL_FULL, POSIX_TRACE_STOP);
}

// The same name from both sides is the same type.
static void test_f1_names(void **state)
{
    trace_event_id_t first, second;
    char name[TRACE_EVENT_NAME_MAX + 1];
    (void)state;
    trace_id_t trid = create(NULL);
    assert_int_equal(posix_trace_trid_eventid_open(trid, "the controller's", &first), 0);
    assert_int_equal(firmware_eventid_open("the controller's", &second), 0);
    assert_int_equal(first, second);
    assert_int_equal(firmware_eventid_open("the program's", &second), 0);
    assert_int_equal(posix_trace_trid_eventid_open(trid, "the program's", &first), 0);
    assert_int_equal(first, second);
    assert_int_equal(posix_trace_eventid_get_name(trid, second, name), 0);
    assert_string_equal(name, "the program's");
    assert_int_equal(posix_trace_shutdown(trid), 0);
    ringside_trace_poll();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_c1_requests),
        cmocka_unit_test(test_d1_d3_policies),
        cmocka_unit_test(test_f1_names),
    };
    return cmocka_run_group_tests(tests, attach, detach);
}
