// SPDX-License-Identifier: MIT
// target: the calls that take the lock on Linux, and the handlers that interrupt them. In: an
// event, in a thread or a signal handler; a name; what a controller does. Out: the event's record;
// or its place in a queue, where the handler found its own thread in the critical section.
//
// A handler may leave the interrupted call by siglongjmp. What is to be settled then stands in the
// thread's memory, not on the stack: the lock goes back, a record that was begun is closed, an
// event that is in no stream yet is counted as refused, and what else was not done is asked for
// again.
//
// Source: Linux Standard Base 5.0, Core, _pthread_cleanup_push: glibc's siglongjmp, pthread_exit
// and cancellation call what it registers where they leave the frame that it lies in.
#include "ports/linux.h"
#include "trace.h"
#include <signal.h>
#include <string.h>

#ifdef __GLIBC__
extern __attribute__((weak)) void _pthread_cleanup_push(ringside_cleanup *buffer,
                                                        void (*routine)(void *), void *argument);
extern __attribute__((weak)) void _pthread_cleanup_pop(ringside_cleanup *buffer, int execute);

static inline void register_cleanup(ringside_cleanup *here, void (*routine)(void *), void *argument)
{
    if (_pthread_cleanup_push)
        _pthread_cleanup_push(here, routine, argument);
}

static inline void remove_cleanup(ringside_cleanup *here)
{
    if (_pthread_cleanup_pop)
        _pthread_cleanup_pop(here, 0);
}

static inline void *next_cleanup(const ringside_cleanup *here)
{
    return _pthread_cleanup_push ? here->__prev : NULL;
}

static void nothing(void *unused)
{
    (void)unused;
}

// Of the innermost call, whose stack is not there any more.
static RINGSIDE_ON_STACK void forget_cleanup(void)
{
    const struct ringside_call c = ringside_thread.calls[ringside_thread.depth];
    ringside_cleanup here = {0};
    register_cleanup(&here, nothing, NULL);
    if (here.__prev == c.cleanup)
        here.__prev = c.outer;
    remove_cleanup(&here);
}
#else
#define register_cleanup(here, routine, argument) ((void)(routine), (void)(argument))
#define remove_cleanup(here)                      ((void)(here))
#define next_cleanup(here)                        ((void)(here), NULL)
#define forget_cleanup()                          ((void)0)
#endif

// ---- places for events of signal handlers ----

// The events of all threads that wait to be written; a thread is known by its struct. One whose
// handler left before it was READY is lost.
enum { CLAIMED, READY, WRITTEN };
static struct queued {
    struct ringside_thread *of; // NULL: the place is free
    uintptr_t caller;
    size_t bytes;
    uint32_t event, turn, state;
    uint8_t data[RINGSIDE_TRACE_MAX_DATA];
} places[RINGSIDE_QUEUE];

static struct queued *claim(void)
{
    for (unsigned k = 0; k < RINGSIDE_QUEUE; k++) {
        struct ringside_thread *nobody = NULL;
        if (!__atomic_load_n(&places[k].of, __ATOMIC_RELAXED) &&
            __atomic_compare_exchange_n(&places[k].of, &nobody, &ringside_thread, false,
                                        __ATOMIC_ACQUIRE, __ATOMIC_RELAXED))
            return &places[k];
    }
    return NULL;
}

static bool is_event(uint32_t event)
{
    return event - POSIX_TRACE_UNNAMED_USEREVENT < RINGSIDE_TRACE_USER_EVENTS;
}

static void release(struct queued *q)
{
    q->event = 0;
    q->state = CLAIMED;
    __atomic_store_n(&q->of, NULL, __ATOMIC_RELEASE);
}

// ---- calls that are left ----

// (No pointer to ringside_thread here: GNU ld makes `lea` of the `add` that would have set the
// flags for UndefinedBehaviorSanitizer's test of it.)

// Brings what the call was at in stream `i` to an end. Returns whether the event is in the stream's
// counts by that. `held`: the call was in the critical section.
static bool end_step(struct ringside_memory *m, unsigned i, const struct ringside_call *c,
                     bool held)
{
    struct ringside_stream *s = &m->streams[i];
    switch (c->step % RINGSIDE_STEPS) {
    case RINGSIDE_PASSES:
        if (held && s->tail != c->position && s->overwritten == c->count)
            s->overwritten++;
        return false;
    case RINGSIDE_RECORDS:
    case RINGSIDE_SYSTEM:
        if (held && s->head == c->position) {
            s->recorded = c->count;
            return false;
        }
        ringside_core_close(m, i, c->position);
        return c->step % RINGSIDE_STEPS == RINGSIDE_RECORDS;
    case RINGSIDE_REFUSES:
        return !held || s->refused != c->count;
    case RINGSIDE_COUNTS:
        if (held && s->refused != c->count)
            RINGSIDE_STORE(s->missed_counted, c->position);
        return false;
    default:
        return false;
    }
}

// Returns the first of the streams that have the event not in their counts.
static uint32_t end_steps(struct ringside_memory *m, const struct ringside_call *c, bool held)
{
    uint32_t i = c->step / RINGSIDE_STEPS;
    bool counted = end_step(m, i, c, held);
    if (held)
        ringside_core_resume(m);
    return c->next + (counted && i == c->next);
}

// A jump out of it leaves `inside`, and perhaps the lock.
static void end_settling(void)
{
    struct ringside_memory *m = ringside_thread.settled;
    ringside_thread.inside = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (m && ringside_linux_holds(m))
        ringside_port_leave(m, true);
    ringside_thread.settling = 0;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (ringside_thread.queued)
        ringside_linux_drain();
}

// The thread's innermost call is over. Handlers that come meanwhile queue their events.
static void settle(void)
{
    const struct ringside_call c = ringside_thread.calls[ringside_thread.depth];
    struct ringside_memory *m = c.memory ? c.memory : ringside_traced.memory;
    ringside_thread.settled = m;
    ringside_thread.settling = (uintptr_t)__builtin_frame_address(0);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    bool held = m && ringside_linux_holds(m);
    ringside_thread.inside = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_linux_attach_later();
    uint32_t from = m ? end_steps(m, &c, held) : 0;
    if (m && is_event(c.event))
        ringside_core_lose(m, from, c.event, held || ringside_port_enter(m));
    if (c.place < RINGSIDE_QUEUE)
        release(&places[c.place]);
    ringside_thread.draining = c.draining;
    ringside_thread.queued = 1; // what it would have written is looked for
    ringside_thread.depth--;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    end_settling();
}

static inline void put_back(const struct ringside_begun *begun)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.calls[begun->depth] = begun->before;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// By siglongjmp.
static void left(void *context)
{
    const struct ringside_begun *begun = context;
    int saved = errno;
    bool again = ringside_thread.settling;
    while (ringside_thread.depth >= begun->depth)
        settle();
    put_back(begun);
    if (again)
        end_settling();
    errno = saved;
}

// Whether what lay at `frame` is over since a new call lies there, or above. A handler's own stack
// may lie above those that it interrupts.
static bool is_stale(uintptr_t frame, uintptr_t here)
{
    stack_t handlers;
    if (here < frame || sigaltstack(NULL, &handlers))
        return false;
    return !(handlers.ss_flags & SS_ONSTACK) ||
           frame - (uintptr_t)handlers.ss_sp < handlers.ss_size;
}

static __attribute__((noinline, cold)) void settle_stale(uintptr_t here)
{
    int saved = errno;
    uintptr_t settling = ringside_thread.settling;
    bool over = !settling || is_stale(settling, here);
    while (over && ringside_thread.depth &&
           is_stale(ringside_thread.calls[ringside_thread.depth].frame, here)) {
        forget_cleanup();
        settle();
    }
    if (over && settling)
        end_settling();
    errno = saved;
}

// ---- calls ----

// Where the stack of the function is that has this. The address of a variable would not do: a
// sanitizer may put variables elsewhere.
#define RINGSIDE_FRAME ((uintptr_t)__builtin_frame_address(0))

// Of an event that was queued at `place`; RINGSIDE_QUEUE: of none. `m`: of a controller. `frame`:
// of the call's function.
static inline void begin_call(struct ringside_begun *begun, uintptr_t frame,
                              struct ringside_memory *m, uint32_t event, uint32_t place)
{
    begun->depth = ringside_thread.depth + 1;
    struct ringside_call *c = &ringside_thread.calls[begun->depth];
    begun->before = *c;
    register_cleanup(&begun->cleanup, left, begun);
    c->frame = frame;
    c->memory = m;
    c->event = event;
    c->place = place;
    c->draining = ringside_thread.draining;
    c->next = 0;
    c->step = RINGSIDE_NOTHING;
    c->cleanup = &begun->cleanup;
    c->outer = next_cleanup(&begun->cleanup);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.depth = begun->depth;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

// Events that found too many calls under way are written here.
static inline void end_call(struct ringside_begun *begun)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(ringside_thread.queued != 0, 0))
        ringside_linux_drain();
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    remove_cleanup(&begun->cleanup);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    ringside_thread.depth = begun->depth - 1;
    put_back(begun);
}

// ---- events of signal handlers ----

static void queue(uint32_t event, const void *data, size_t bytes, uintptr_t caller)
{
    struct ringside_memory *m = ringside_traced.memory;
    if (!is_event(event))
        return; // takes no place
    ringside_thread.queued = 1;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    struct queued *q = claim();
    if (!q) {
        if (m)
            ringside_core_lose(m, 0, event, false);
        else
            __atomic_add_fetch(&ringside_thread.unplaced, 1, __ATOMIC_RELAXED);
        return;
    }
    q->turn = __atomic_add_fetch(&ringside_thread.turn, 1, __ATOMIC_RELAXED);
    q->event = event;
    q->caller = caller;
    q->bytes = bytes;
    if (bytes)
        memcpy(q->data, data, bytes < sizeof q->data ? bytes : sizeof q->data);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    q->state = READY;
}

// The thread's event that was queued first; RINGSIDE_QUEUE: there is none.
static uint32_t first_queued(void)
{
    uint32_t first = RINGSIDE_QUEUE;
    for (uint32_t k = 0; k < RINGSIDE_QUEUE; k++)
        if (__atomic_load_n(&places[k].of, __ATOMIC_RELAXED) == &ringside_thread &&
            (first == RINGSIDE_QUEUE || (int32_t)(places[k].turn - places[first].turn) < 0))
            first = k;
    return first;
}

// Of data that are too long, a place has what a record can have.
static RINGSIDE_ON_STACK void write_queued(uint32_t place)
{
    struct ringside_memory *m = ringside_traced.memory;
    struct queued *q = &places[place];
    uint32_t event = q->event ? q->event : POSIX_TRACE_UNNAMED_USEREVENT;
    struct ringside_begun here;
    begin_call(&here, RINGSIDE_FRAME, NULL, event, place);
    if (m && q->state == READY) {
        ringside_core_event(m, RINGSIDE_LOAD(m->process.active), event, q->data, q->bytes,
                            q->caller);
    } else if (m && q->state == CLAIMED) {
        ringside_port_state inside = ringside_port_enter(m);
        ringside_core_lose(m, 0, event, inside);
        if (inside)
            ringside_port_leave(m, inside);
    }
    q->state = WRITTEN;
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    end_call(&here);
    release(q);
}

// What handlers queued while it works is written as well; the queue is empty at the end.
void ringside_linux_drain(void)
{
    struct ringside_memory *m = ringside_traced.memory;
    uint32_t place;
    if (ringside_thread.draining || ringside_thread.depth + 1 >= RINGSIDE_CALLS)
        return;
    for (; ringside_thread.unplaced; ringside_thread.unplaced--)
        if (m)
            ringside_core_lose(m, 0, POSIX_TRACE_UNNAMED_USEREVENT, false);
    while (ringside_thread.queued) {
        ringside_thread.draining = 1;
        ringside_thread.queued = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
        while ((place = first_queued()) < RINGSIDE_QUEUE)
            write_queued(place);
        ringside_thread.draining = 0;
        __atomic_signal_fence(__ATOMIC_SEQ_CST);
    }
}

// What a controller was at goes on in memory that is nobody's.
static void forget_call(struct ringside_call *c)
{
    struct ringside_memory *again = c->memory ? ringside_object_leave(c->memory) : NULL;
    if (again)
        ringside_object_unmap(again);
    c->event = 0;
    c->step = RINGSIDE_NOTHING;
}

// Whether a call of this thread has the place in hand.
static bool is_in_hand(uint32_t place)
{
    bool in_hand = places[place].state != READY;
    for (uint32_t depth = ringside_thread.depth; depth && !in_hand; depth--)
        in_hand = ringside_thread.calls[depth].place == place;
    return in_hand;
}

void ringside_linux_forget(void)
{
    for (uint32_t k = 1; k <= ringside_thread.depth; k++)
        forget_call(&ringside_thread.calls[k]);
    for (uint32_t k = 0; k < RINGSIDE_QUEUE; k++)
        if (places[k].of && (places[k].of != &ringside_thread || !is_in_hand(k)))
            release(&places[k]);
    ringside_thread.unplaced = 0;
}

// ---- trace points ----

// What a trace point tests: a process that has no streams waits for its first one; else, whether
// one of the object's streams records.
static inline void choose_word(const struct ringside_memory *m)
{
    const volatile uint32_t *word =
        ringside_traced_streams() ? &m->process.active : &ringside_traced.self->streams;
    if (__builtin_expect(__atomic_load_n(&posix_trace_active_word, __ATOMIC_RELAXED) != word, 0))
        __atomic_store_n(&posix_trace_active_word, word, __ATOMIC_RELEASE);
}

// Whether the thread is in the middle of something that a handler's call has to leave alone. What
// was left by a jump is settled first.
static inline bool is_busy(uintptr_t frame)
{
    if (__builtin_expect(ringside_thread.depth || ringside_thread.settling, 0))
        settle_stale(frame);
    struct ringside_memory *m = __atomic_load_n(&ringside_traced.memory, __ATOMIC_ACQUIRE);
    return ringside_thread.inside || ringside_thread.settling || (m && ringside_linux_holds(m)) ||
           ringside_thread.depth + 1 >= RINGSIDE_CALLS;
}

RINGSIDE_ON_STACK void ringside_linux_trace(uint32_t event, const void *data, size_t bytes,
                                            uintptr_t caller)
{
    struct ringside_begun here;
    if (is_busy(RINGSIDE_FRAME)) {
        queue(event, data, bytes, caller);
        return;
    }
    begin_call(&here, RINGSIDE_FRAME, NULL, event, RINGSIDE_QUEUE);
    if (ringside_linux_attached()) {
        struct ringside_memory *m = ringside_traced.memory;
        uint32_t active = RINGSIDE_LOAD(m->process.active);
        choose_word(m);
        if (__builtin_expect(active != RINGSIDE_LOAD(ringside_traced.dumped), 0)) {
            RINGSIDE_STORE(ringside_traced.dumped, active);
            ringside_object_dump(m, active);
        }
        ringside_core_event(m, active, event, data, bytes, caller);
    } else {
        ringside_linux_outside(event);
    }
    end_call(&here);
}

// ---- names ----

_Static_assert(RINGSIDE_TRACE_NAME_BYTES == TRACE_EVENT_NAME_MAX + 1, "a name and its zero");

// In a handler that interrupted a call, and in a process that nobody traces, there are no new ones.
RINGSIDE_ON_STACK int posix_trace_eventid_open(const char *name, trace_event_id_t *event)
{
    struct ringside_begun here;
    int error;
    if (!name || !event)
        return EINVAL;
    if (is_busy(RINGSIDE_FRAME))
        return ringside_core_known(ringside_traced.memory, name, event);
    begin_call(&here, RINGSIDE_FRAME, NULL, 0, RINGSIDE_QUEUE);
    if (ringside_linux_attached())
        error = ringside_core_name(ringside_traced.memory, name, event);
    else
        error = ringside_core_known(NULL, name, event);
    end_call(&here);
    return error;
}

// ---- controllers ----

bool ringside_linux_begin(struct ringside_begun *here, struct ringside_memory *m)
{
    if (ringside_thread.depth || ringside_thread.settling)
        settle_stale(RINGSIDE_FRAME);
    if (ringside_thread.depth + 1 >= RINGSIDE_CALLS)
        return false;
    ringside_linux_know_thread();
    begin_call(here, RINGSIDE_FRAME, m, 0, RINGSIDE_QUEUE);
    return true;
}

void ringside_linux_end(struct ringside_begun *here)
{
    end_call(here);
}

void ringside_linux_unmaps(const struct ringside_memory *m)
{
    for (uint32_t k = 1; k <= ringside_thread.depth; k++)
        if (ringside_thread.calls[k].memory == m) {
            ringside_thread.calls[k].step = RINGSIDE_NOTHING;
            __atomic_signal_fence(__ATOMIC_SEQ_CST);
            ringside_thread.calls[k].memory = NULL;
        }
    if (ringside_thread.settled == m)
        ringside_thread.settled = NULL;
    if (ringside_thread.guarded == m)
        ringside_thread.guarded = NULL;
}
