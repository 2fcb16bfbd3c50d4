// SPDX-License-Identifier: MIT
// posix: streams, from posix_trace_create to posix_trace_shutdown.
//
// Creating a trace takes four steps, and any of them can fail:
//
//   apply_attributes ─► posix_target_acquire ──► posix_bind ──► posix_table_add
//   checks, defaults    the process by its id    a stream        trace id for the caller
//
// A program on this host has streams of any size: its object gives one that is free, with pages for
// the ring. Firmware has the streams that it was compiled with. The first unused one is taken; if
// there is none, the first that the firmware bound itself, after its release:
//
//                 free          posix_send_request(bound)        trace point
//   choose_stream ────────────────────────────────────► REQUESTED ──────────► BOUND
//        │                          ▲
//        │ bound by the firmware    │ released within a second (or EAGAIN)
//        └────► take_over ──────────┘
//
// A reset of the target clears its memory. posix_rebind recognizes that and requests again what was
// requested before.
//
// Source: IEEE Std 1003.1-2008, posix_trace_create, posix_trace_get_attr.
#include "posix/posix_room.h"
#include "target/linux_object.h"
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

// Offsets in a stream block of the words that are taken over when the stream is bound.
enum { AT_WANTED_POLICY = 100, AT_PID = 116 };
enum { MAX_RELEASE_WAITS = 100, RELEASE_WAIT_NS = 10000000 };

// Returns the words of a ring that holds `stream_size` bytes of events, in addition to the events
// that the system records at a start and a stop; 0 if that is more than a ring can have.
static uint32_t count_ring_words(const struct posix_attr *attr)
{
    uint64_t bytes = attr->stream_size + 2 * (uint64_t)posix_attr_system_bytes(attr);
    uint32_t min_bytes = 4 * posix_attr_event_bytes(attr, attr->max_data), words = POSIX_MIN_RING;

    if (attr->stream_size > (uint64_t)POSIX_MAX_RING * 4)
        return 0;
    while (words < POSIX_MAX_RING && ((uint64_t)words * 4 < bytes || words * 4 < min_bytes))
        words *= 2;
    return (uint64_t)words * 4 < bytes ? 0 : words;
}

// ---- streams of a program ----

// Binds a free stream of a program's object. The object chooses the stream, allocates its pages and
// carries out the request at once, so there is nothing to wait for.
static int bind_object(struct posix_trace *trace)
{
    const struct posix_attr *attr = &trace->attr;
    struct ringside_trace_bind bind = {.policy = attr->stream_policy,
                                       .ring_words = count_ring_words(attr),
                                       .max_data = (uint32_t)attr->max_data,
                                       .inherit = attr->inherited == POSIX_TRACE_INHERITED,
                                       .name = attr->name};
    struct posix_stream block;
    int error = bind.ring_words
                    ? ringside_trace_object_bind(trace->target->object, &bind, &trace->stream)
                    : ENOMEM;

    if (error)
        return error;
    error = posix_stream_load(trace->target, trace->stream, &block);
    if (error) {
        ringside_trace_object_release(trace->target->object, trace->stream);
        return error;
    }
    trace->wants.bind = trace->wants.last = block.request_done;
    trace->wants.clears = block.wanted_clears;
    return 0;
}

// ---- streams of other memory ----

// Writes the words that the target takes over when it binds the stream.
static int write_binding(struct posix_trace *trace)
{
    struct posix_target *target = trace->target;
    uint64_t address = posix_stream_address(target, trace->stream);
    const struct posix_attr *attr = &trace->attr;
    const uint32_t max_data = attr->data_set ? (uint32_t)attr->max_data : UINT32_MAX;
    const uint32_t binding[] = {(uint32_t)attr->stream_policy, max_data};
    const uint32_t owner[] = {target->block.pid, 0, 0};
    uint8_t bytes[POSIX_STREAM_NAME];
    uint32_t name[POSIX_STREAM_NAME / 4];
    bool swap = (target->block.layout.order == EXTRACT_BIG) != EXTRACT_HOST_BIG;

    memcpy(bytes, attr->name, sizeof bytes);
    memcpy(name, bytes, sizeof name);
    for (unsigned i = 0; swap && i < POSIX_STREAM_NAME / 4; i++)
        name[i] = __builtin_bswap32(name[i]); // keeps the order of bytes when words are swapped
    int error = posix_write_words(target, address + AT_WANTED_POLICY, binding, 2);
    if (!error)
        error = posix_write_words(target, address + AT_PID, owner, 3);
    return error ? error
                 : posix_write_words(target, address + POSIX_STREAM_AT_NAME, name,
                                     POSIX_STREAM_NAME / 4);
}

// Releases a stream that the firmware bound itself, or that a controller left bound. Returns EAGAIN
// if the target does not release it within a second.
static int take_over(struct posix_trace *trace, struct posix_stream *block)
{
    const struct timespec pause = {0, RELEASE_WAIT_NS};
    int error = posix_send_request(trace, false);

    for (unsigned i = 0; !error && i < MAX_RELEASE_WAITS; i++) {
        error = posix_stream_load(trace->target, trace->stream, block);
        if (error || !(block->state & POSIX_STATE_BOUND))
            return error;
        posix_target_sleep(trace->target, &pause);
    }
    return error ? error : EAGAIN;
}

// Finds the first stream that is not used. If there is none, takes over the first that no other
// controller uses.
static int choose_stream(struct posix_trace *trace, struct posix_stream *block)
{
    struct posix_target *target = trace->target;

    for (int pass = 0; pass < 2; pass++)
        for (unsigned i = 0; i < target->block.streams; i++) {
            if (posix_stream_is_used(target, i))
                continue;
            int error = posix_stream_load(target, i, block);
            if (error)
                return error;
            bool unused = !(block->state & POSIX_STATE_BOUND) && posix_request_is_done(block);
            trace->stream = i;
            trace->wants.clears = block->wanted_clears;
            if (unused || (pass && !block->controller))
                return unused ? 0 : take_over(trace, block);
        }
    return EAGAIN;
}

// Binds a stream of firmware. The ring's size is compiled in, so a larger size that the caller
// requests is an error. The request takes effect at the target's next trace point.
static int bind_memory(struct posix_trace *trace)
{
    struct posix_stream block;
    struct posix_attr has = trace->attr;
    int error = choose_stream(trace, &block);

    if (!error)
        posix_attr_from_ring(&has, &block, trace->target->block.ids);
    if (!error && trace->attr.size_set && trace->attr.stream_size > has.stream_size)
        error = ENOMEM;
    if (!error)
        error = write_binding(trace);
    if (!error)
        error = posix_send_request(trace, true);
    trace->wants.bind = trace->wants.last;
    return error;
}

int posix_bind(struct posix_trace *trace)
{
    trace->process_generation = trace->target->block.generation;
    int error = trace->target->object ? bind_object(trace) : bind_memory(trace);
    return error == ENOENT ? EIO : error;
}

// Called for each poll that finds the stream not bound for the trace. It makes one step at a time:
// a stream that the firmware has bound is first requested to be released.
void posix_rebind(struct posix_trace *trace, const struct posix_stream *block)
{
    struct posix_target *target = trace->target;

    if (target->object || posix_target_load(target) || trace->stream >= target->block.streams)
        return;
    trace->was_reset = trace->was_reset || target->block.generation != trace->process_generation ||
                       posix_memory_was_cleared(trace, block);
    if (!trace->was_reset)
        return;
    posix_reader_restart(&trace->reader);
    if (block->state & POSIX_STATE_BOUND) {
        if (posix_request_is_done(block))
            posix_send_request(trace, false);
        return;
    }
    trace->wants.clears = block->wanted_clears;
    if (write_binding(trace) || posix_send_request(trace, true))
        return;
    trace->was_reset = false;
    trace->generation++;
    trace->process_generation = target->block.generation;
    trace->wants.bind = trace->wants.last;
    trace->reader.clock_is_set = false;
    trace->reader.is_overrun = true; // what was not read before the reset is lost
}

// Releases the stream: nothing is recorded in it from then on, and another controller may bind it.
int posix_unbind(struct posix_trace *trace)
{
    if (trace->target->object) {
        ringside_trace_object_release(trace->target->object, trace->stream);
        return 0;
    }
    posix_read_wants(trace);
    trace->wants.is_running = false;
    return posix_send_request(trace, false);
}

// ---- traces ----

// Frees a trace. If its target has no other user, the target is closed as well.
void posix_free(struct posix_trace *trace)
{
    if (trace->waker_fd >= 0)
        close(trace->waker_fd);
    if (trace->target)
        posix_target_release(trace->target);
    free(trace->reader.bytes);
    free(trace);
}

struct posix_trace *posix_new(enum posix_kind kind)
{
    struct posix_trace *trace = calloc(1, sizeof *trace);
    if (!trace)
        return NULL;
    trace->kind = kind;
    trace->ops = &posix_ring_ops;
    trace->waker_fd = -1;
    trace->reader.bytes = malloc((size_t)POSIX_WINDOW * 4);
    if (!trace->reader.bytes) {
        free(trace);
        return NULL;
    }
    return trace;
}

// Copies the caller's attributes, or the defaults, to the trace. Returns EINVAL if they are not
// initialized, or request the policy FLUSH without a log.
static int apply_attributes(struct posix_trace *trace, const trace_attr_t *attr)
{
    const struct posix_attr *from = posix_attr_of(attr);
    struct posix_attr *to = &trace->attr, host;
    bool logged = trace->kind == POSIX_LOGGED;

    if (attr && !from)
        return EINVAL;
    posix_attr_defaults(&host);
    *to = from ? *from : host;
    to->head_bytes = host.head_bytes; // `attr` may be that of another target's stream
    to->set_bytes = host.set_bytes;
    if (!to->stream_policy)
        to->stream_policy = logged ? POSIX_TRACE_FLUSH : POSIX_TRACE_LOOP;
    clock_gettime(CLOCK_REALTIME, &to->created);
    return to->stream_policy == POSIX_TRACE_FLUSH && !logged ? EINVAL : 0;
}

// Binds the stream and gives the trace its id. The target stays locked until both are done, so
// no other call can use the id before.
static int bind_and_add(struct posix_trace *trace, trace_id_t *trid)
{
    struct posix_target *target = trace->target;

    posix_target_lock(target);
    int error = posix_target_load(target);
    if (!error)
        error = posix_bind(trace);
    bool bound = !error;
    if (!error)
        error = posix_table_add(trace, trid);
    if (error && bound)
        posix_unbind(trace);
    posix_target_unlock(target);
    return error;
}

static int make_trace(enum posix_kind kind, pid_t pid, const trace_attr_t *attr, trace_id_t *trid)
{
    struct posix_trace *trace = posix_new(kind);

    if (!trace)
        return ENOMEM;
    int error = apply_attributes(trace, attr);
    if (!error)
        error = pid < 0 ? ESRCH : posix_target_acquire(&trace->target, pid ? pid : getpid());
    if (!error && (trace->waker_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) < 0)
        error = ENOMEM;
    if (!error) {
        trace->reader.batch_words = trace->target->object ? POSIX_BATCH_SHARED : POSIX_WINDOW;
        error = bind_and_add(trace, trid);
    }
    if (error)
        posix_free(trace);
    return error;
}

// A thread that is canceled halfway would leave a bound stream, so cancellation is disabled.
int posix_make(enum posix_kind kind, pid_t pid, const trace_attr_t *attr, trace_id_t *trid)
{
    int cancel;

    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    int error = make_trace(kind, pid, attr, trid);
    pthread_setcancelstate(cancel, NULL);
    return error;
}

int posix_trace_create(pid_t pid, const trace_attr_t *restrict attr, trace_id_t *restrict trid)
{
    return trid ? posix_make(POSIX_ACTIVE, pid, attr, trid) : EINVAL;
}

int posix_trace_shutdown(trace_id_t trid)
{
    struct posix_use use;
    int error = posix_enter(&use, trid, POSIX_ACTIVE | POSIX_LOGGED);

    return error ? error : posix_end(&use);
}
