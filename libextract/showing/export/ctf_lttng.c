// SPDX-License-Identifier: MIT
// export: CTF 1.8 with the names of LTTng's kernel events, for tools such as lttng-cputop and the
// scheduler views of Trace Compass. The schedule is written as if a Linux kernel had traced it.
//
// Its parts come when they are complete, but the packets of a stream must be in order of time. So
// all parts are sorted first (export_order.h). At one time, states come before wake-ups, so that a
// switch knows whether the thread waits, and wake-ups before slices, so that latencies count from
// them:
//
//     slice, state, wake ─► order ─► state of each thread and core ─► sched_switch, irq_handler_…
//
// A core of a Linux kernel always has a task. Time in which it is not known what had the core is a
// task of its own, "unknown/N", and so is start-up code. Source: LTTng-modules 2.13, events
// sched_… and irq_handler_… as its metadata declare them.
#include "export/ctf_stream.h"
#include "base/file.h"
#include "export/export_order.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

enum {
    COMM_BYTES = 16,
    UNKNOWN_TID = 1000000,  // + core: below the largest number of a Linux thread
    START_UP_TID = 1001000, // + core
    NO_PRIORITY = -1
};

enum lttng_event {
    SCHED_SWITCH = CTF_LOST_ID + 1,
    SCHED_WAKING,
    SCHED_WAKEUP,
    IRQ_ENTRY,
    IRQ_EXIT
};

// Kinds of changes, in the order in which they are written if their times are equal. PRIORITY and
// GAP come with the states, END with the slices. RUN: a thread had a core for less than a tick.
// LOSS: events are missing after this time; GAP: before it.
enum change_kind { STATE = 0, WAKE, SLICE, RUN, LOSS, PHASES, PRIORITY = PHASES, GAP, END };

// Values of prev_state: those of Linux, and a bit that means none of its states.
enum { IS_READY = 0, IS_WAITING = 1, IS_DEAD = 64, IS_UNKNOWN = 1024 };

// A thread, while changes are collected.
struct thread {
    int32_t priority;
    bool is_woken; // and has not recorded an event since
};

// A thread, while events are written.
struct task {
    char comm[COMM_BYTES];
    int32_t priority;
    uint8_t state; // enum extract_thread_state
    uint8_t core;  // that it had last
    bool has_run;
    bool is_woken; // at `woken_at`, in the stream of `woken_on`
    uint8_t woken_on;
    uint64_t woken_at;
};

// A core, while events are written.
struct core {
    uint32_t tid; // of its task
    bool is_seen;
    bool in_interrupt;
    size_t interrupt; // its number in `interrupts`
};

struct lttng {
    struct ctf_trace trace;
    struct export_order order;
    struct export_numbers threads;    // addresses; the tid is the number + 1
    struct export_numbers interrupts; // numbers + 1; 0: not known
    struct thread *noted;             // by number of the thread; owned
    size_t noted_count;
    uint64_t ends[CTF_CORES]; // time at which the newest slice of a core ends
    bool has_slice[CTF_CORES];
    struct task *tasks; // by number of the thread; owned
    struct core cores[CTF_CORES];
    bool is_marked; // a marker came after the newest event
};

// ---- parts of the schedule ----

static void add(struct export_run *run, enum change_kind kind, uint64_t ticks, uint32_t track,
                uint64_t value)
{
    struct lttng *lttng = run->state;
    uint64_t phase = kind == END ? SLICE : kind >= PHASES ? STATE : kind;
    struct export_change change = {ticks * PHASES + phase, value, track, kind};

    if (!ctf_can_hold(&lttng->trace, ticks))
        return;
    enum extract_code code = export_order_add(&lttng->order, &change, run->error);
    if (code && !run->code)
        run->code = code;
}

// Returns the tid of a thread; 0 if there is none.
static uint32_t tid_of(struct export_run *run, uint64_t thread)
{
    struct lttng *lttng = run->state;
    size_t number = thread ? export_number(run, &lttng->threads, thread) : SIZE_MAX;

    return number == SIZE_MAX ? 0 : (uint32_t)number + 1;
}

// Returns what is noted of a thread; NULL if memory is short, which is a failure of the run.
static struct thread *note_of(struct export_run *run, uint32_t tid)
{
    struct lttng *lttng = run->state;
    size_t count = lttng->threads.capacity;

    if (tid <= lttng->noted_count)
        return &lttng->noted[tid - 1];
    struct thread *noted = realloc(lttng->noted, count * sizeof *noted);
    if (!noted) {
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        return NULL;
    }
    for (size_t i = lttng->noted_count; i < count; i++)
        noted[i] = (struct thread){.priority = NO_PRIORITY};
    lttng->noted = noted;
    lttng->noted_count = count;
    return &noted[tid - 1];
}

static void put_object(struct export_run *run, const struct extract_object *object)
{
    if (object->thread)
        tid_of(run, object->key);
}

// The value of a slice: the tid of its thread, and the number of its interrupt. Of the time between
// two slices, as at a restart of the target, nothing is known.
static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    struct lttng *lttng = run->state;
    bool is_known = slice->runner == EXTRACT_RUNNER_ISR && slice->isr_known;
    size_t interrupt = export_number(run, &lttng->interrupts, is_known ? slice->isr + 1 : 0);
    uint32_t track = (uint32_t)slice->core | (uint32_t)slice->runner << 8;

    if (interrupt == SIZE_MAX)
        return;
    if (lttng->has_slice[slice->core] && lttng->ends[slice->core] != slice->from)
        add(run, END, lttng->ends[slice->core], slice->core, 0);
    add(run, SLICE, slice->from, track, tid_of(run, slice->thread) | (uint64_t)interrupt << 32);
    lttng->has_slice[slice->core] = true;
    lttng->ends[slice->core] = slice->to;
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    add(run, STATE, state->from, tid_of(run, state->thread), (uint64_t)state->state);
}

// The value of a wake-up: the tid of the waker, and whether an interrupt called it.
static void put_wake(struct export_run *run, const struct extract_wake *wake)
{
    uint32_t tid = tid_of(run, wake->thread);
    struct thread *thread = tid && !wake->is_suspended ? note_of(run, tid) : NULL;

    if (!thread)
        return;
    thread->is_woken = true;
    add(run, WAKE, wake->at, tid, tid_of(run, wake->by) | (uint64_t)wake->in_isr << 32);
}

static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    struct lttng *lttng = run->state;

    lttng->is_marked = true;
    if (export_is_loss(run, marker->id))
        add(run, LOSS, marker->ticks, marker->core, ctf_lost_events(marker));
}

// Notes the priority of the thread that recorded an event. A thread had a core when it recorded its
// first event after a wake-up, even if it did so for less than a tick, which no slice shows.
static void put_event(struct export_run *run, const struct extract_event *event)
{
    struct lttng *lttng = run->state;

    if (event->flags & EXTRACT_FLAG_GAP && !lttng->is_marked)
        add(run, GAP, event->ticks, event->core, 1);
    lttng->is_marked = false;
    uint32_t tid = event->context == EXTRACT_THREAD ? tid_of(run, event->thread) : 0;
    struct thread *thread = tid ? note_of(run, tid) : NULL;
    if (!thread)
        return;
    if (thread->is_woken)
        add(run, RUN, event->ticks, tid, event->core);
    thread->is_woken = false;
    if (!report_has_priority(event) || thread->priority == event->priority)
        return;
    thread->priority = event->priority;
    add(run, PRIORITY, event->ticks, tid, event->priority);
}

// ---- events ----

// Copies as many whole characters of a name as a comm holds.
static void copy_comm(char comm[COMM_BYTES], const char *name)
{
    size_t length = strlen(name);

    if (length > COMM_BYTES - 1)
        for (length = COMM_BYTES - 1; length && ((unsigned char)name[length] & 0xc0) == 0x80;)
            length--;
    memset(comm, 0, COMM_BYTES);
    memcpy(comm, name, length);
}

static struct task *task_of(const struct lttng *lttng, uint32_t tid)
{
    return tid && tid <= lttng->threads.count ? &lttng->tasks[tid - 1] : NULL;
}

static void put_comm(struct lttng *lttng, struct ctf_stream *stream, unsigned core, uint32_t tid)
{
    const struct task *task = task_of(lttng, tid);
    const char *kind = !tid ? "swapper" : tid >= START_UP_TID ? "start-up" : "unknown";
    char name[32], comm[COMM_BYTES];

    if (!task) {
        snprintf(name, sizeof name, "%s/%u", kind, core);
        copy_comm(comm, name);
    }
    ctf_put_bytes(stream, task ? task->comm : comm, COMM_BYTES);
}

static int32_t priority_of(struct lttng *lttng, uint32_t tid)
{
    const struct task *task = task_of(lttng, tid);

    return task ? task->priority : NO_PRIORITY;
}

// Returns the state in which a task leaves its core.
static int64_t leaving_state(struct lttng *lttng, uint32_t tid)
{
    const struct task *task = task_of(lttng, tid);

    if (!task)
        return tid ? IS_WAITING : IS_READY;
    switch ((enum extract_thread_state)task->state) {
    case EXTRACT_STATE_RUNNING:
    case EXTRACT_STATE_READY:
        return IS_READY;
    case EXTRACT_STATE_BLOCKED:
    case EXTRACT_STATE_SLEEPING:
    case EXTRACT_STATE_SUSPENDED:
        return IS_WAITING;
    case EXTRACT_STATE_COMPLETED:
    case EXTRACT_STATE_TERMINATED:
        return IS_DEAD;
    case EXTRACT_STATE_UNKNOWN:
        break;
    }
    return IS_UNKNOWN;
}

static struct ctf_stream *open_event(struct lttng *lttng, unsigned core, uint64_t ticks,
                                     enum lttng_event event)
{
    struct ctf_stream *stream = ctf_event_open(&lttng->trace, core, ticks, event);

    return stream && ctf_reserve(&lttng->trace, stream, 2 * COMM_BYTES + 64) ? stream : NULL;
}

static void write_wake(struct lttng *lttng, unsigned core, uint64_t ticks, enum lttng_event event,
                       uint32_t tid)
{
    const struct task *task = task_of(lttng, tid);
    struct ctf_stream *stream = open_event(lttng, core, ticks, event);

    if (!stream || !task)
        return;
    put_comm(lttng, stream, core, tid);
    ctf_put32(stream, tid);
    ctf_put32(stream, (uint32_t)task->priority);
    ctf_put32(stream, task->has_run ? task->core : core);
}

// Gives a core to a task. A task that was woken at the same time, in the stream of another core,
// is woken in this one too, because the order of streams is not defined if times are equal.
static void write_switch(struct lttng *lttng, unsigned core, uint64_t ticks, uint32_t tid)
{
    struct core *at = &lttng->cores[core];
    struct task *task = task_of(lttng, tid);

    if (at->tid == tid)
        return;
    if (task && task->is_woken && task->woken_at == ticks && task->woken_on != core)
        write_wake(lttng, core, ticks, SCHED_WAKEUP, tid);
    struct ctf_stream *stream = open_event(lttng, core, ticks, SCHED_SWITCH);
    if (!stream)
        return;
    put_comm(lttng, stream, core, at->tid);
    ctf_put32(stream, at->tid);
    ctf_put32(stream, (uint32_t)priority_of(lttng, at->tid));
    ctf_put64(stream, (uint64_t)leaving_state(lttng, at->tid));
    put_comm(lttng, stream, core, tid);
    ctf_put32(stream, tid);
    ctf_put32(stream, (uint32_t)priority_of(lttng, tid));
    at->tid = tid;
    if (!task)
        return;
    task->core = (uint8_t)core;
    task->has_run = true;
    task->is_woken = false;
}

static void write_interrupt(struct lttng *lttng, unsigned core, uint64_t ticks,
                            enum lttng_event event, size_t interrupt)
{
    struct ctf_stream *stream = open_event(lttng, core, ticks, event);
    uint64_t key = lttng->interrupts.keys[interrupt];
    char name[40], comm[COMM_BYTES];

    if (!stream)
        return;
    ctf_put32(stream, key ? (uint32_t)(key - 1) : UINT32_MAX);
    if (event == IRQ_ENTRY) {
        snprintf(name, sizeof name, key - 1 < 10000 ? "interrupt %llu" : "0x%llx",
                 (unsigned long long)(key - 1));
        copy_comm(comm, key ? name : "interrupt");
        ctf_put_bytes(stream, comm, COMM_BYTES);
    } else {
        ctf_put32(stream, 1); // IRQ_HANDLED
    }
}

// ---- changes, in order of time ----

// Returns the core on which a thread is woken.
static unsigned core_of_waker(const struct lttng *lttng, const struct task *woken, uint32_t by,
                              bool in_interrupt)
{
    unsigned any = woken->has_run ? woken->core : 0;

    for (unsigned core = 0; core < CTF_CORES; core++) {
        const struct core *at = &lttng->cores[core];
        if (!at->is_seen || at->in_interrupt != in_interrupt)
            continue;
        if (by ? at->tid == by : !task_of(lttng, at->tid))
            return core;
    }
    return any;
}

static void apply_wake(struct lttng *lttng, const struct export_change *change, uint64_t ticks)
{
    struct task *task = task_of(lttng, change->track);

    if (!task)
        return;
    bool in_interrupt = change->value >> 32 & 1;
    unsigned core = core_of_waker(lttng, task, (uint32_t)change->value, in_interrupt);
    write_wake(lttng, core, ticks, SCHED_WAKING, change->track);
    write_wake(lttng, core, ticks, SCHED_WAKEUP, change->track);
    task->is_woken = true;
    task->woken_at = ticks;
    task->woken_on = (uint8_t)core;
}

// Returns the tid of the task that a slice shows. An interrupt does not change the task, but its
// slice names the thread that it interrupted; 0 there is a core without a thread.
static uint32_t task_of_slice(struct lttng *lttng, enum extract_runner runner, unsigned core,
                              uint32_t tid)
{
    uint32_t present = lttng->cores[core].tid;

    switch (runner) {
    case EXTRACT_RUNNER_THREAD:
        return tid ? tid : UNKNOWN_TID + core;
    case EXTRACT_RUNNER_ISR:
        return tid ? tid : task_of(lttng, present) ? 0 : present;
    case EXTRACT_RUNNER_IDLE:
        return 0;
    case EXTRACT_RUNNER_INIT:
        return START_UP_TID + core;
    case EXTRACT_RUNNER_UNKNOWN:
        break;
    }
    return UNKNOWN_TID + core;
}

static void apply_slice(struct lttng *lttng, const struct export_change *change, uint64_t ticks)
{
    unsigned core = change->track & 0xff;
    enum extract_runner runner =
        change->kind == END ? EXTRACT_RUNNER_UNKNOWN : (enum extract_runner)(change->track >> 8);
    struct core *at = &lttng->cores[core];

    if (!at->is_seen)
        at->tid = UNKNOWN_TID + core;
    at->is_seen = true;
    if (at->in_interrupt)
        write_interrupt(lttng, core, ticks, IRQ_EXIT, at->interrupt);
    write_switch(lttng, core, ticks, task_of_slice(lttng, runner, core, (uint32_t)change->value));
    at->in_interrupt = runner == EXTRACT_RUNNER_ISR;
    at->interrupt = (size_t)(change->value >> 32);
    if (at->in_interrupt)
        write_interrupt(lttng, core, ticks, IRQ_ENTRY, at->interrupt);
}

// Gives a core to a task for no time, unless it has had one since it was woken.
static void apply_run(struct lttng *lttng, const struct export_change *change, uint64_t ticks)
{
    const struct task *task = task_of(lttng, change->track);
    unsigned core = (unsigned)change->value;
    uint32_t present = lttng->cores[core].tid;

    if (!task || !task->is_woken || !lttng->cores[core].is_seen)
        return;
    write_switch(lttng, core, ticks, change->track);
    write_switch(lttng, core, ticks, present);
}

static void apply(void *context, const struct export_change *change)
{
    struct export_run *run = context;
    struct lttng *lttng = run->state;
    uint64_t ticks = change->at / PHASES;
    struct task *task = task_of(lttng, change->track);

    switch ((enum change_kind)change->kind) {
    case STATE:
        if (task)
            task->state = (uint8_t)change->value;
        break;
    case PRIORITY:
        if (task)
            task->priority = (int32_t)change->value;
        break;
    case WAKE:
        apply_wake(lttng, change, ticks);
        break;
    case SLICE:
    case END:
        apply_slice(lttng, change, ticks);
        break;
    case RUN:
        apply_run(lttng, change, ticks);
        break;
    case LOSS:
    case GAP:
        ctf_discard(&lttng->trace, change->track, ticks, change->value);
        break;
    }
}

// ---- the run ----

static const char environment[] =
    "    hostname = \"ringside\";\n    domain = \"kernel\";\n    sysname = \"Linux\";\n"
    "    kernel_release = \"" EXTRACT_VERSION "\";\n"
    "    kernel_version = \"Ringside: the schedule of an RTOS\";\n"
    "    tracer_name = \"lttng-modules\";\n"
    "    tracer_major = 2;\n    tracer_minor = 13;\n    tracer_patchlevel = 0;\n";

static const char declarations[] =
    "event {\n    name = \"sched_switch\";\n    id = 1;\n    stream_id = 0;\n"
    "    fields := struct {\n        char_t _prev_comm[16];\n        int32_t _prev_tid;\n"
    "        int32_t _prev_prio;\n        int64_t _prev_state;\n        char_t _next_comm[16];\n"
    "        int32_t _next_tid;\n        int32_t _next_prio;\n    };\n};\n\n"
    "event {\n    name = \"sched_waking\";\n    id = 2;\n    stream_id = 0;\n"
    "    fields := struct {\n        char_t _comm[16];\n        int32_t _tid;\n"
    "        int32_t _prio;\n        int32_t _target_cpu;\n    };\n};\n\n"
    "event {\n    name = \"sched_wakeup\";\n    id = 3;\n    stream_id = 0;\n"
    "    fields := struct {\n        char_t _comm[16];\n        int32_t _tid;\n"
    "        int32_t _prio;\n        int32_t _target_cpu;\n    };\n};\n\n"
    "event {\n    name = \"irq_handler_entry\";\n    id = 4;\n    stream_id = 0;\n"
    "    fields := struct {\n        int32_t _irq;\n        char_t _name[16];\n    };\n};\n\n"
    "event {\n    name = \"irq_handler_exit\";\n    id = 5;\n    stream_id = 0;\n"
    "    fields := struct {\n        int32_t _irq;\n        int32_t _ret;\n    };\n};\n";

// LTTng keeps the events of a kernel in a directory of this name, which its tools look for.
static void begin(struct export_run *run)
{
    struct lttng *lttng = run->state;
    char path[4096];
    int length = snprintf(path, sizeof path, "%s/kernel", run->path);

    errno = ENAMETOOLONG;
    if (length >= (int)sizeof path || mkdir(path, 0777) != 0)
        run->code = extract_file_error(run->options->path, NULL, run->error);
    else
        ctf_open(&lttng->trace, run, path, "channel0_");
}

static bool make_tasks(struct export_run *run)
{
    struct lttng *lttng = run->state;
    char buffer[EXPORT_NAME_BYTES];

    lttng->tasks = calloc(lttng->threads.count + 1, sizeof *lttng->tasks);
    if (!lttng->tasks) {
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        return false;
    }
    for (size_t i = 0; i < lttng->threads.count; i++) {
        uint64_t address = lttng->threads.keys[i];
        const struct extract_object *thread = extract_trace_thread(run->trace, address);
        bool has_priority = thread && thread->priority != EXTRACT_NO_PRIORITY;
        copy_comm(lttng->tasks[i].comm, export_name(run, true, address, buffer));
        lttng->tasks[i].priority = has_priority ? thread->priority : NO_PRIORITY;
    }
    return true;
}

static void end(struct export_run *run)
{
    struct lttng *lttng = run->state;
    struct extract_text text;

    for (unsigned core = 0; core < CTF_CORES; core++)
        if (lttng->has_slice[core])
            add(run, END, lttng->ends[core], core, 0);
    if (run->code || !make_tasks(run))
        return;
    enum extract_code code = export_order_run(&lttng->order, apply, run, run->error);
    if (code && !run->code)
        run->code = code;
    ctf_finish(&lttng->trace);
    extract_text_init(&text, NULL, NULL);
    ctf_head(&lttng->trace, &text, environment);
    extract_text_puts(&text, "typealias integer { size = 8; align = 8; signed = false;\n"
                             "    encoding = UTF8; base = 10; } := char_t;\n\n");
    ctf_begin_stream(&text);
    extract_text_puts(&text, "};\n\n");
    ctf_put_lost_class(&text);
    extract_text_puts(&text, declarations);
    ctf_write_metadata(&lttng->trace, &text);
    extract_text_free(&text);
}

static void close_lttng(struct export_run *run)
{
    struct lttng *lttng = run->state;

    ctf_close(&lttng->trace);
    export_order_free(&lttng->order);
    export_numbers_free(&lttng->threads);
    export_numbers_free(&lttng->interrupts);
    free(lttng->noted);
    free(lttng->tasks);
}

const struct exporter export_ctf_lttng = {
    .kind = {"ctf-lttng", NULL, "the schedule as LTTng's kernel events, for Trace Compass",
             EXTRACT_EXPORT_DIRECTORY},
    .state_bytes = sizeof(struct lttng),
    .is_of_schedule = true,
    .begin = begin,
    .object = put_object,
    .event = put_event,
    .slice = put_slice,
    .state = put_state,
    .wake = put_wake,
    .loss = put_loss,
    .end = end,
    .close = close_lttng,
};
