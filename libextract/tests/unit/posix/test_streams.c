// SPDX-License-Identifier: MIT
// Streams of programs: this one, and children of it. Truth: what the trace points were given, and
// IEEE Std 1003.1-2008.
#include "tests/unit/posix/streams.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

// ---- A: attributes of streams ----

// As many events of the greatest size as the sizes promise are there, none lost.
static void check_size_contract(size_t stream_size, size_t data, int policy)
{
    trace_attr_t attr = attributes(policy, stream_size, data);
    uint8_t bytes[64] = {0};
    size_t size;
    assert_int_equal(posix_trace_attr_getmaxusereventsize(&attr, data, &size), 0);
    trace_id_t trid = create(&attr);
    assert_int_equal(posix_trace_start(trid), 0);
    for (size_t i = 0; i < stream_size / size; i++)
        posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, bytes, data);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    expect(trid, POSIX_TRACE_START);
    for (size_t i = 0; i < stream_size / size; i++)
        expect(trid, POSIX_TRACE_UNNAMED_USEREVENT);
    expect_none(trid);
    end(trid);
}

static void test_a7_size_contract(void **state)
{
    (void)state;
    for (size_t size = 0; size < 3000; size += 211) {
        check_size_contract(size, 8, POSIX_TRACE_LOOP);
        check_size_contract(size, 64, POSIX_TRACE_UNTIL_FULL);
    }
    check_size_contract(261120, 37, POSIX_TRACE_UNTIL_FULL);
}

static void test_a8_attributes_are_copied(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_UNTIL_FULL, 1000, 16), got;
    char name[TRACE_NAME_MAX];
    struct timespec created, before, after;
    int policy;
    size_t size;
    (void)state;
    posix_trace_attr_setname(&attr, "first");
    clock_gettime(CLOCK_REALTIME, &before);
    trace_id_t trid = create(&attr);
    clock_gettime(CLOCK_REALTIME, &after);
    posix_trace_attr_setname(&attr, "second");
    posix_trace_attr_destroy(&attr);
    memset(&got, 0x5A, sizeof got); // never initialised
    assert_int_equal(posix_trace_get_attr(trid, &got), 0);
    posix_trace_attr_getname(&got, name);
    assert_string_equal(name, "first");
    posix_trace_attr_getstreamfullpolicy(&got, &policy);
    assert_int_equal(policy, POSIX_TRACE_UNTIL_FULL);
    posix_trace_attr_getstreamsize(&got, &size);
    assert_int_equal(size, 1000);
    posix_trace_attr_getcreatetime(&got, &created);
    assert_true(nanoseconds(&created) >= nanoseconds(&before) &&
                nanoseconds(&created) <= nanoseconds(&after));
    end(trid);
}

static void test_a9_flush_without_log(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_FLUSH, 1000, 16);
    trace_id_t trid;
    (void)state;
    assert_int_equal(posix_trace_create(0, &attr, &trid), EINVAL);
}

// ---- B: create ----

static void test_b1_new(void **state)
{
    trace_event_set_t set, none;
    (void)state;
    trace_id_t trid = create(NULL);
    expect_status(trid, POSIX_TRACE_SUSPENDED, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    memset(&set, 0xA5, sizeof set);
    posix_trace_eventset_empty(&none);
    assert_int_equal(posix_trace_get_filter(trid, &set), 0);
    assert_memory_equal(&set, &none, sizeof set);
    posix_trace_event(POSIX_TRACE_UNNAMED_USEREVENT, "x", 1);
    expect_none(trid);
    end(trid);
}

static void test_b2_sys_max(void **state)
{
    trace_id_t trids[TRACE_SYS_MAX], more;
    (void)state;
    for (unsigned round = 0; round < 2; round++) {
        for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
            trids[i] = create(NULL);
        assert_int_equal(posix_trace_create(0, NULL, &more), EAGAIN);
        for (unsigned i = 0; i < TRACE_SYS_MAX; i++)
            end(trids[i]);
    }
}

static void test_b3_no_process(void **state)
{
    trace_id_t trid;
    pid_t child = fork();
    (void)state;
    if (!child)
        _exit(0);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(posix_trace_create(child, NULL, &trid), ESRCH);
    assert_int_equal(posix_trace_create(-5, NULL, &trid), ESRCH);
}

// A stream outlives its process, of which no other is made then.
static void test_b3_no_process_any_more(void **state)
{
    trace_id_t trid, more;
    int gate[2];
    char byte;
    (void)state;
    assert_int_equal(pipe(gate), 0);
    pid_t child = fork();
    if (!child) {
        close(gate[1]);
        _exit(read(gate[0], &byte, 1) != 0); // waits for the parent to close it
    }
    close(gate[0]);
    assert_int_equal(posix_trace_create(child, NULL, &trid), 0);
    assert_int_equal(posix_trace_create(child, NULL, &more), 0);
    end(more);
    close(gate[1]);
    assert_int_equal(waitpid(child, NULL, 0), child);
    assert_int_equal(posix_trace_create(child, NULL, &more), ESRCH);
    assert_int_equal(posix_trace_start(trid), 0);
    expect(trid, POSIX_TRACE_START);
    end(trid);
}

// A process that cannot be looked at is not one that is not there.
static void test_b3_no_descriptor(void **state)
{
    struct rlimit limit, none;
    trace_id_t trid, more;
    (void)state;
    trid = create(NULL);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = 0;
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    int own = posix_trace_create(0, NULL, &more),
        other = posix_trace_create(getppid(), NULL, &more);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(own, ENOMEM);
    assert_int_equal(other, ENOMEM);
    end(trid);
}

// What an active stream without a log does not do.
static void test_b4_kinds(void **state)
{
    struct posix_trace_status_info status;
    (void)state;
    trace_id_t trid = create(NULL);
    assert_int_equal(posix_trace_rewind(trid), EINVAL);
    assert_int_equal(posix_trace_close(trid), EINVAL);
    assert_int_equal(posix_trace_get_status(trid + 1, &status), EINVAL);
    assert_int_equal(posix_trace_get_status(0, &status), EINVAL);
    trace_id_t stale = trid;
    end(trid);
    trid = create(NULL); // in the same place
    assert_int_equal(posix_trace_start(stale), EINVAL);
    assert_int_equal(posix_trace_eventtypelist_rewind(stale), EINVAL);
    end(trid);
}

// ---- C: start and stop ----

static void test_c1_once_each(void **state)
{
    struct got got;
    int by_itself = -1;
    (void)state;
    trace_id_t trid = create(NULL);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(posix_trace_start(trid), 0);
    expect_status(trid, POSIX_TRACE_RUNNING, POSIX_TRACE_NOT_FULL, POSIX_TRACE_NO_OVERRUN);
    event_number(32, 1);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(posix_trace_stop(trid), 0);
    event_number(32, 2);
    assert_int_equal(posix_trace_start(trid), 0);
    event_number(32, 3);
    expect(trid, POSIX_TRACE_START);
    got = expect(trid, 32);
    assert_int_equal(number_of(&got), 1);
    got = expect(trid, POSIX_TRACE_STOP);
    assert_int_equal(got.length, sizeof by_itself);
    memcpy(&by_itself, got.data, sizeof by_itself);
    assert_int_equal(by_itself, 0);
    expect(trid, POSIX_TRACE_START);
    got = expect(trid, 32);
    assert_int_equal(number_of(&got), 3);
    expect_none(trid);
    end(trid);
}

static void test_c2_start_has_the_filter(void **state)
{
    trace_event_set_t set, got_set;
    (void)state;
    trace_id_t trid = create(NULL);
    posix_trace_eventset_empty(&set);
    posix_trace_eventset_add(POSIX_TRACE_ERROR, &set);
    posix_trace_eventset_add(200, &set);
    assert_int_equal(posix_trace_set_filter(trid, &set, POSIX_TRACE_SET_EVENTSET), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    struct got got = expect(trid, POSIX_TRACE_START);
    assert_int_equal(got.length, sizeof got_set);
    memcpy(&got_set, got.data, sizeof got_set);
    assert_memory_equal(&got_set, &set, sizeof set);
    end(trid);
}

// What an event says of where it is from.
static void test_c3_origin(void **state)
{
    struct timespec before, after;
    (void)state;
    trace_id_t trid = create_started(NULL);
    clock_gettime(CLOCK_REALTIME, &before);
    event_number(32, 1);
    clock_gettime(CLOCK_REALTIME, &after);
    struct got got = expect(trid, 32);
    assert_int_equal(got.info.posix_pid, getpid());
    assert_true(pthread_equal(got.info.posix_thread_id, pthread_self()));
    assert_true(nanoseconds(&got.info.posix_timestamp) >= nanoseconds(&before) &&
                nanoseconds(&got.info.posix_timestamp) <= nanoseconds(&after));
    uintptr_t address = (uintptr_t)got.info.posix_prog_address;
    uintptr_t function = (uintptr_t)event_number, other = (uintptr_t)test_c3_origin;
    bool here = address - function < 1024, inlined = address - other < 4096;
    assert_true(here || inlined);
    end(trid);
}

// ---- E: reading ----

static void check_truncation(trace_id_t trid, size_t bytes, size_t room, size_t length, int status)
{
    static const uint8_t data[32] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17};
    uint8_t got[33];
    struct posix_trace_event_info info;
    size_t got_length = 99;
    int unavailable = 99;
    memset(got, 0xEE, sizeof got);
    posix_trace_event(32, data, bytes);
    assert_int_equal(
        posix_trace_getnext_event(trid, &info, room ? got : NULL, room, &got_length, &unavailable),
        0);
    assert_int_equal(unavailable, 0);
    assert_int_equal(got_length, length);
    assert_int_equal(info.posix_truncation_status, status);
    assert_memory_equal(got, data, length);
    assert_int_equal(got[length], 0xEE);
}

static void test_e1_truncation(void **state)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 4000, 10);
    (void)state;
    trace_id_t trid = create_started(&attr);
    check_truncation(trid, 0, 0, 0, POSIX_TRACE_NOT_TRUNCATED);
    check_truncation(trid, 0, 32, 0, POSIX_TRACE_NOT_TRUNCATED);
    check_truncation(trid, 10, 32, 10, POSIX_TRACE_NOT_TRUNCATED);
    check_truncation(trid, 10, 10, 10, POSIX_TRACE_NOT_TRUNCATED);
    check_truncation(trid, 11, 32, 10, POSIX_TRACE_TRUNCATED_RECORD);
    check_truncation(trid, 11, 9, 9, POSIX_TRACE_TRUNCATED_READ);
    check_truncation(trid, 5, 3, 3, POSIX_TRACE_TRUNCATED_READ);
    check_truncation(trid, 5, 0, 0, POSIX_TRACE_TRUNCATED_READ);
    end(trid);
}

static void test_e2_order_once(void **state)
{
    struct got got;
    (void)state;
    trace_id_t trid = create_started(NULL);
    for (uint32_t i = 0; i < 3000; i++)
        event_number(32, i);
    for (uint32_t i = 0; i < 3000; i++) {
        got = next(trid);
        assert_int_equal(number_of(&got), i);
    }
    expect_none(trid);
    end(trid);
}

// Two streams get the same event each.
static void test_e3_two_streams(void **state)
{
    (void)state;
    trace_id_t a = create_started(NULL), b = create_started(NULL);
    event_number(32, 5);
    struct got from_a = expect(a, 32), from_b = expect(b, 32);
    assert_int_equal(number_of(&from_a), 5);
    assert_int_equal(number_of(&from_b), 5);
    end(a);
    event_number(32, 6);
    from_b = expect(b, 32);
    assert_int_equal(number_of(&from_b), 6);
    end(b);
}

// ---- F: names ----

static void test_f1_same_name_same_id(void **state)
{
    trace_event_id_t a, b, c;
    (void)state;
    trace_id_t first = create(NULL), second = create(NULL);
    assert_int_equal(posix_trace_trid_eventid_open(first, "by both", &a), 0);
    assert_int_equal(posix_trace_trid_eventid_open(second, "by both", &b), 0);
    c = type("by both");
    assert_true(a == b && b == c && a != 32);
    assert_int_not_equal(posix_trace_eventid_equal(first, a, b), 0);
    assert_int_equal(posix_trace_eventid_equal(first, a, 32), 0);
    end(first);
    end(second);
}

// A predefined name gives the predefined type, from both sides.
static void test_f5_predefined(void **state)
{
    static const struct {
        const char *name;
        trace_event_id_t id;
    } types[] = {{"posix_trace_error", POSIX_TRACE_ERROR},
                 {"posix_trace_start", POSIX_TRACE_START},
                 {"posix_trace_stop", POSIX_TRACE_STOP},
                 {"posix_trace_overflow", POSIX_TRACE_OVERFLOW},
                 {"posix_trace_resume", POSIX_TRACE_RESUME},
                 {"posix_trace_filter", POSIX_TRACE_FILTER},
                 {"posix_trace_flush_start", POSIX_TRACE_FLUSH_START},
                 {"posix_trace_flush_stop", POSIX_TRACE_FLUSH_STOP},
                 {"posix_trace_unnamed_userevent", POSIX_TRACE_UNNAMED_USEREVENT}};
    static const char *const others[] = {"posix_trace_",       "posix_trace_star",
                                         "posix_trace_starts", "posix_trace_unnamed_user_event",
                                         "Posix_trace_start",  "start"};
    trace_event_id_t id;
    (void)state;
    trace_id_t trid = create_started(NULL);
    for (unsigned i = 0; i < sizeof types / sizeof *types; i++) {
        assert_int_equal(type(types[i].name), types[i].id);
        assert_int_equal(posix_trace_trid_eventid_open(trid, types[i].name, &id), 0);
        assert_int_equal(id, types[i].id);
        if (id != POSIX_TRACE_UNNAMED_USEREVENT)
            posix_trace_event(id, NULL, 0); // the system's types are not for programs to record
    }
    expect_none(trid);
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        assert_true(type(others[i]) > POSIX_TRACE_UNNAMED_USEREVENT);
    end(trid);
}

static void test_f2_lengths(void **state)
{
    char name[80], got[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id, other;
    (void)state;
    trace_id_t trid = create(NULL);
    memset(name, 'n', sizeof name);
    name[30] = '\0';
    assert_int_equal(posix_trace_trid_eventid_open(trid, name, &id), 0);
    assert_int_equal(posix_trace_eventid_get_name(trid, id, got), 0);
    assert_string_equal(got, name);
    name[30] = 'n';
    name[TRACE_EVENT_NAME_MAX] = '\0'; // exactly as long as may be, its zero not counted
    assert_int_equal(posix_trace_eventid_open(name, &id), 0);
    assert_int_equal(posix_trace_trid_eventid_open(trid, name, &other), 0);
    assert_int_equal(id, other);
    assert_int_equal(posix_trace_eventid_get_name(trid, id, got), 0);
    assert_string_equal(got, name);
    name[0] = 'm';
    assert_int_equal(posix_trace_trid_eventid_open(trid, name, &other), 0);
    assert_int_not_equal(id, other);
    name[TRACE_EVENT_NAME_MAX] = 'n';
    name[TRACE_EVENT_NAME_MAX + 1] = '\0';
    assert_int_equal(posix_trace_eventid_open(name, &other), ENAMETOOLONG);
    assert_int_equal(posix_trace_trid_eventid_open(trid, name, &other), ENAMETOOLONG);
    assert_int_equal(posix_trace_eventid_open(NULL, &other), EINVAL);
    assert_int_equal(posix_trace_eventid_open("level", NULL), EINVAL);
    assert_int_equal(posix_trace_trid_eventid_open(trid, NULL, &other), EINVAL);
    assert_int_equal(posix_trace_eventid_get_name(trid, 9, got), EINVAL);
    assert_int_equal(posix_trace_eventid_get_name(trid, 287, got), EINVAL);
    end(trid);
}

static void test_f3_list(void **state)
{
    static const char *const names[] = {"posix_trace_error",
                                        "posix_trace_start",
                                        "posix_trace_stop",
                                        "posix_trace_overflow",
                                        "posix_trace_resume",
                                        "posix_trace_filter",
                                        "posix_trace_flush_start",
                                        "posix_trace_flush_stop",
                                        "posix_trace_unnamed_userevent",
                                        "listed here"};
    char name[TRACE_EVENT_NAME_MAX + 1];
    trace_event_id_t id;
    int unavailable = 0;
    (void)state;
    type("listed here");
    trace_id_t trid = create(NULL);
    for (unsigned round = 0; round < 2; round++) {
        unsigned found = 0;
        assert_int_equal(posix_trace_eventtypelist_rewind(trid), 0);
        while (!posix_trace_eventtypelist_getnext_id(trid, &id, &unavailable) && !unavailable) {
            assert_int_equal(posix_trace_eventid_get_name(trid, id, name), 0);
            for (unsigned i = 0; i < sizeof names / sizeof *names; i++)
                found |= strcmp(name, names[i]) ? 0 : 1U << i;
        }
        assert_int_equal(found, (1U << sizeof names / sizeof *names) - 1);
        assert_int_not_equal(unavailable, 0);
    }
    end(trid);
}

// As many types as the limit says, the unnamed one and what the parent named included.
static bool fills_the_table(void)
{
    trace_event_id_t id = 0, first = 0, last = 0;
    char name[16];
    bool good = !posix_trace_eventid_open("name 0", &first);
    for (unsigned i = 0; i < TRACE_USER_EVENT_MAX - (first - 32); i++) {
        snprintf(name, sizeof name, "name %u", i);
        good = good && !posix_trace_eventid_open(name, &last) && last == first + i;
    }
    good = good && last == 32 + TRACE_USER_EVENT_MAX - 1;
    good = good && !posix_trace_eventid_open("one too many", &id) && id == 32;
    return good && !posix_trace_eventid_open("name 3", &id) && id == first + 3;
}

// A child has its parent's names, and names are never given back.
static void test_f4_table_full(void **state)
{
    int status;
    (void)state;
    pid_t child = fork();
    if (!child)
        _exit(fills_the_table() ? 0 : 1);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

// ---- other processes ----

struct child {
    pid_t pid;
    int go, done; // ends of pipes
};

// A child that records `events` numbered events each time it is told to.
static struct child start_child(uint32_t events)
{
    int go[2], done[2];
    struct child child;
    char byte;
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(done), 0);
    child.pid = fork();
    if (!child.pid) {
        trace_event_id_t id;
        close(go[1]);
        close(done[0]);
        while (read(go[0], &byte, 1) == 1) {
            posix_trace_eventid_open("of the child", &id);
            for (uint32_t i = 0; i < events; i++)
                event_number(id, i);
            if (write(done[1], &byte, 1) != 1)
                break;
        }
        _exit(0);
    }
    close(go[0]);
    close(done[1]);
    child.go = go[1];
    child.done = done[0];
    return child;
}

static void run_child(const struct child *child)
{
    char byte = 0;
    assert_int_equal(write(child->go, &byte, 1), 1);
    assert_int_equal(read(child->done, &byte, 1), 1);
}

static void end_child(const struct child *child)
{
    close(child->go);
    close(child->done);
    assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
}

static void test_b10_other_process(void **state)
{
    trace_id_t trid;
    trace_event_id_t id;
    char name[TRACE_EVENT_NAME_MAX + 1];
    (void)state;
    struct child child = start_child(10);
    assert_int_equal(posix_trace_create(child.pid, NULL, &trid), 0);
    assert_int_equal(posix_trace_trid_eventid_open(trid, "of the child", &id), 0);
    assert_int_equal(posix_trace_start(trid), 0);
    run_child(&child);
    event_number(32, 77); // of this process, which is not traced
    expect(trid, POSIX_TRACE_START);
    for (uint32_t i = 0; i < 10; i++) {
        struct got got = expect(trid, id);
        assert_int_equal(number_of(&got), i);
        assert_int_equal(got.info.posix_pid, child.pid);
    }
    expect_none(trid);
    assert_int_equal(posix_trace_eventid_get_name(trid, id, name), 0);
    assert_string_equal(name, "of the child");
    end_child(&child);
    assert_int_equal(posix_trace_stop(trid), 0); // what it left can still be read
    end(trid);
}

// A child is traced into its parent's stream when that was made so, and not else.
static void check_inheritance(int inherited)
{
    trace_attr_t attr = attributes(POSIX_TRACE_LOOP, 10000, 16);
    assert_int_equal(posix_trace_attr_setinherited(&attr, inherited), 0);
    trace_id_t trid = create_started(&attr);
    struct child child = start_child(3);
    run_child(&child);
    end_child(&child);
    event_number(32, 9);
    unsigned of_child = 0;
    struct got got;
    while (!(got = try_next(trid)).unavailable && got.info.posix_event_id != 32)
        of_child += got.info.posix_pid == child.pid;
    assert_int_equal(of_child, inherited == POSIX_TRACE_INHERITED ? 3 : 0);
    assert_int_equal(got.info.posix_event_id, 32);
    end(trid);
}

static void test_b11_inheritance(void **state)
{
    (void)state;
    check_inheritance(POSIX_TRACE_CLOSE_FOR_CHILD);
    check_inheritance(POSIX_TRACE_INHERITED);
}

// A child of a controller controls nothing; what it makes is its own.
static void test_b12_child_controls_nothing(void **state)
{
    int status;
    (void)state;
    trace_id_t trid = create_started(NULL);
    pid_t child = fork();
    if (!child) {
        struct posix_trace_status_info info;
        trace_id_t own;
        bool good = posix_trace_get_status(trid, &info) == EINVAL &&
                    posix_trace_shutdown(trid) == EINVAL &&
                    posix_trace_create(0, NULL, &own) == 0 && own != trid &&
                    posix_trace_start(own) == 0 && posix_trace_shutdown(own) == 0;
        exit(good ? 0 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
    event_number(32, 1); // its parent's stream goes on
    expect(trid, 32);
    end(trid);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a7_size_contract),
        cmocka_unit_test(test_a8_attributes_are_copied),
        cmocka_unit_test(test_a9_flush_without_log),
        cmocka_unit_test(test_b1_new),
        cmocka_unit_test(test_b2_sys_max),
        cmocka_unit_test(test_b3_no_process),
        cmocka_unit_test(test_b3_no_process_any_more),
        cmocka_unit_test(test_b3_no_descriptor),
        cmocka_unit_test(test_b4_kinds),
        cmocka_unit_test(test_c1_once_each),
        cmocka_unit_test(test_c2_start_has_the_filter),
        cmocka_unit_test(test_c3_origin),
        cmocka_unit_test(test_e1_truncation),
        cmocka_unit_test(test_e2_order_once),
        cmocka_unit_test(test_e3_two_streams),
        cmocka_unit_test(test_f1_same_name_same_id),
        cmocka_unit_test(test_f2_lengths),
        cmocka_unit_test(test_f3_list),
        cmocka_unit_test(test_f5_predefined),
        cmocka_unit_test(test_b10_other_process),
        cmocka_unit_test(test_b11_inheritance),
        cmocka_unit_test(test_b12_child_controls_nothing),
        cmocka_unit_test(test_f4_table_full), // the last one, since names are never given back
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
