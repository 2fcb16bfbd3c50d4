// SPDX-License-Identifier: MIT
// Streams of other processes, and of children. What holds for every stream is asserted by
// qemu-tests/checkers/attach. Truth: what the trace points were given, and IEEE Std 1003.1-2008.
#include "tests/unit/posix/streams.h"
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

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

// ---- other processes ----

struct child {
    pid_t pid;
    int go, done; // ends of pipes
};

// A child that records `events` numbered events each time the test asks for it.
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_b3_no_process),    cmocka_unit_test(test_b3_no_process_any_more),
        cmocka_unit_test(test_b3_no_descriptor), cmocka_unit_test(test_b10_other_process),
        cmocka_unit_test(test_b11_inheritance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
