// SPDX-License-Identifier: MIT
// unit: streams of programs on Linux, which a test makes and reads. Include this after <cmocka.h>.
#ifndef HOST_STREAM_H
#define HOST_STREAM_H

#include "target/linux_object.h"
#include "tests/unit/target/host_object.h"
#include "tests/unit/target/ring_reader.h"
#include <errno.h>
#include <sys/wait.h>
#include <unistd.h>

struct traced {
    struct ringside_trace_object *object;
    uint8_t *bytes;
    struct ring_stream stream;
    unsigned number;
};

static inline void request(struct traced *t, uint32_t wanted)
{
    ring_set(t->stream.block, RING_WANTED, wanted);
    ring_set(t->stream.block, RING_REQUEST, ring_of(t->stream, RING_REQUEST) + 1);
    ring_set(t->bytes, 20, 0xFFFFFFFF);
    ringside_trace_object_attend(t->object);
    assert_int_equal(ring_of(t->stream, RING_DONE), ring_of(t->stream, RING_REQUEST));
}

static inline struct traced bind_sized(pid_t pid, struct ringside_trace_bind bind)
{
    struct traced t = {0};
    size_t length;
    assert_int_equal(ringside_trace_object_open(pid, true, &t.object), 0);
    t.bytes = map_object(pid, &length);
    assert_int_equal(ring_get(t.bytes, 12), length);
    assert_int_equal(ringside_trace_object_bind(t.object, &bind, &t.number), 0);
    t.stream = ring_stream(t.bytes, t.number);
    request(&t, 3);
    return t;
}

static inline struct traced bind_stream(pid_t pid, int policy, uint32_t words, bool inherit)
{
    return bind_sized(
        pid, (struct ringside_trace_bind){policy, words, 64, inherit, "a name that is too long"});
}

static inline void let_go(struct traced *t)
{
    ringside_trace_object_release(t->object, t->number);
    assert_int_equal(ring_of(t->stream, RING_STATE), 0);
    ringside_trace_object_close(t->object);
}

static inline unsigned count_of(struct traced *t, uint32_t id, uint32_t pid)
{
    struct ring_record r;
    uint32_t at = ring_of(t->stream, RING_TAIL), head = ring_of(t->stream, RING_HEAD);
    unsigned count = 0;
    for (; at != head; at += r.words) {
        assert_true(ring_record(t->stream, at, &r));
        count += r.id == id && r.pid == pid && !r.open;
    }
    return count;
}

static inline void wait_for(pid_t child, int expected)
{
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), expected);
}

static inline void await_byte(int file)
{
    char byte;
    while (read(file, &byte, 1) < 0 && errno == EINTR)
        ;
}

#endif
