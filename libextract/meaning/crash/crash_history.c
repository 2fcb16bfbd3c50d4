// SPDX-License-Identifier: MIT
// crash: what the trace shows of the end: how long each thread is in its state, interrupts that
// leave no time for threads, threads that never get the core, a tick that does not come any more, a
// clock that has stopped, a reset.
#define _GNU_SOURCE // strcasestr
#include "crash/crash_room.h"
#include "events/events_room.h"
#include <extract/schedule.h>
#include <stdlib.h>
#include <string.h>

enum { WINDOW = 256 };     // newest events that show a storm
enum { MOST_PULSES = 16 }; // interrupts that are looked at

// When an interrupt came. `longest`: the longest time between two of its entries, in ticks.
struct pulse {
    uint64_t isr, count, first, last, longest;
};

// What was seen at the end of the trace.
struct history {
    struct crash_build *build;
    uint64_t end; // time of the newest event
    uint64_t begin;
    bool has_gap;               // events are missing
    struct extract_state *last; // of each thread of the kernel
    uint64_t *ran;              // ticks for which each of them had a core
    uint64_t isr_ticks, window_from;
    uint64_t least_step;              // shortest time between two events; 0: none
    uint64_t pause_ticks, pauses;     // in the window, from an interrupt to the next one
    bool has_threads;                 // the trace has an event of a thread, not of start-up code
    uint64_t last_thread;             // that had a core; 0: none
    struct pulse pulses[MOST_PULSES]; // of the first interrupts that the trace has
    size_t pulse_count;
};

static void take_state(void *context, const struct extract_state *state)
{
    struct history *history = context;
    const struct extract_kernel *kernel = history->build->remains->kernel;

    for (size_t i = 0; kernel && i < kernel->thread_count; i++)
        if (kernel->threads[i].address == state->thread) {
            struct extract_state *last = &history->last[i];
            bool continues = last->to == state->from && last->state == state->state &&
                             last->object == state->object && last->to;
            uint64_t from = continues ? last->from : state->from;
            *last = *state;
            last->from = from;
        }
}

// Notes an entry of an interrupt. What follows an interrupt that was nested in it counts as
// another.
static void note_pulse(struct history *history, const struct extract_interval *interval)
{
    size_t i = 0;

    while (i < history->pulse_count && history->pulses[i].isr != interval->isr)
        i++;
    if (i == MOST_PULSES)
        return;
    struct pulse *pulse = &history->pulses[i];
    uint64_t gap = interval->from - pulse->last;
    if (i == history->pulse_count) {
        *pulse = (struct pulse){.isr = interval->isr, .first = interval->from};
        history->pulse_count++;
    } else {
        pulse->longest = gap > pulse->longest ? gap : pulse->longest;
    }
    pulse->last = interval->from;
    pulse->count++;
}

static void take_interval(void *context, const struct extract_interval *interval)
{
    struct history *history = context;
    const struct extract_kernel *kernel = history->build->remains->kernel;

    if (interval->runner == EXTRACT_RUNNER_THREAD)
        history->last_thread = interval->thread;
    for (size_t i = 0; kernel && i < kernel->thread_count; i++)
        if (interval->runner == EXTRACT_RUNNER_THREAD &&
            kernel->threads[i].address == interval->thread)
            history->ran[i] += interval->to - interval->from;
    if (interval->runner == EXTRACT_RUNNER_ISR && interval->isr_known)
        note_pulse(history, interval);
    if (interval->runner == EXTRACT_RUNNER_ISR && interval->to > history->window_from)
        history->isr_ticks +=
            interval->to -
            (interval->from > history->window_from ? interval->from : history->window_from);
}

static enum extract_kernel_state kernel_state(enum extract_thread_state state)
{
    static const enum extract_kernel_state states[] = {
        EXTRACT_KERNEL_UNKNOWN,   EXTRACT_KERNEL_RUNNING,   EXTRACT_KERNEL_READY,
        EXTRACT_KERNEL_BLOCKED,   EXTRACT_KERNEL_SLEEPING,  EXTRACT_KERNEL_SUSPENDED,
        EXTRACT_KERNEL_COMPLETED, EXTRACT_KERNEL_TERMINATED};

    return states[state];
}

// Returns whether a thread of the kernel ran in the trace: both have the same addresses.
static bool has_same_threads(const struct history *history)
{
    const struct extract_kernel *kernel = history->build->remains->kernel;

    for (size_t i = 0; kernel && i < kernel->thread_count; i++)
        if (history->ran[i])
            return true;
    return false;
}

// Notes how long each thread is in the state that its control block has, too. A thread of which the
// trace has no event is in it since before the oldest one, if no event is missing.
static void note_waits(struct history *history)
{
    struct crash_build *build = history->build;
    const struct extract_kernel *kernel = build->remains->kernel;
    bool is_whole = !history->has_gap && has_same_threads(history);

    for (size_t i = 0; kernel && i < kernel->thread_count; i++) {
        const struct extract_state *last = &history->last[i];
        enum extract_kernel_state state = kernel->threads[i].state;
        if (!last->to && is_whole && !history->ran[i] && history->end > history->begin &&
            state != EXTRACT_KERNEL_UNKNOWN && state != EXTRACT_KERNEL_RUNNING)
            build->crash->waits[i] = (struct extract_crash_wait){
                .is_known = true, .is_least = true, .ticks = history->end - history->begin};
        if (!last->to || last->to != history->end ||
            kernel_state(last->state) != kernel->threads[i].state)
            continue;
        build->crash->waits[i] =
            (struct extract_crash_wait){.is_known = true, .ticks = last->to - last->from};
    }
}

// Returns the thread that had a core for half of the trace or longer; NULL: none.
static const struct extract_kernel_thread *hog(const struct history *history)
{
    const struct extract_kernel *kernel = history->build->remains->kernel;
    uint64_t span = history->end - history->begin;

    for (size_t i = 0; kernel && span && i < kernel->thread_count; i++)
        if (history->ran[i] >= span - span / 2)
            return &kernel->threads[i];
    return NULL;
}

// Returns whether the trace is long enough for a share of it to mean something: it fills its ring,
// or an interrupt came again and again in it. In a program that has just been started, threads are
// ready for most of the trace.
static bool is_long(const struct history *history)
{
    enum { LEAST_ENTRIES = 8 };

    for (size_t i = 0; i < history->pulse_count; i++)
        if (history->pulses[i].count >= LEAST_ENTRIES)
            return true;
    return extract_trace_info(history->build->trace)->wrapped;
}

// Returns whether a thread is one that runs while no other one is ready. Kernels without such a
// thread leave it to the application to have one, which its name shows.
static bool is_idle(const struct extract_kernel_thread *thread)
{
    return thread->is_idle || strcasestr(thread->name, "idle");
}

// A thread that is ready for half of the trace or longer, while another one had the core for half
// of it or longer.
static void find_starvation(struct history *history)
{
    struct crash_build *build = history->build;
    const struct extract_kernel *kernel = build->remains->kernel;
    const struct extract_kernel_thread *other = hog(history);
    uint64_t span = history->end - history->begin;

    for (size_t i = 0; other && is_long(history) && i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        const struct extract_crash_wait *wait = &build->crash->waits[i];
        char name[24], with[24];
        if (thread == other || thread->state != EXTRACT_KERNEL_READY || is_idle(thread) ||
            !wait->is_known || wait->ticks < span / 2)
            continue;
        build->hog = other;
        crash_find(
            build, "starvation", "trace", EXTRACT_CRASH_LIKELY,
            "\"%s\" is ready for %llu ticks%s, %llu %% of the trace, and \"%s\" had the core "
            "for %llu %% of it",
            crash_name(thread->name, thread->address, name), (unsigned long long)wait->ticks,
            wait->is_least ? " or longer" : "", (unsigned long long)(wait->ticks * 100 / span),
            crash_name(other->name, other->address, with),
            (unsigned long long)(history->ran[other - kernel->threads] * 100 / span));
    }
}

// The newest events of a trace.
struct newest {
    uint64_t ticks[WINDOW];
    bool is_thread[WINDOW];
    size_t count; // of all events
};

static void read_newest(struct history *history, struct newest *newest)
{
    struct extract_reader reader;
    struct extract_event events[64];
    size_t got;

    extract_reader_init(&reader, history->build->trace);
    while ((got = extract_reader_next(&reader, events, sizeof events / sizeof *events)) > 0)
        for (size_t i = 0; i < got; i++) {
            history->has_gap |=
                events[i].flags & EXTRACT_FLAG_GAP || events[i].id >= EXTRACT_ID_MARKS;
            if (extract_event_is_mark(&events[i]))
                continue;
            uint64_t step = newest->count ? events[i].ticks - history->end : 0;
            if (step && (!history->least_step || step < history->least_step))
                history->least_step = step;
            newest->ticks[newest->count % WINDOW] = events[i].ticks;
            newest->is_thread[newest->count % WINDOW] = events[i].context == EXTRACT_THREAD;
            history->has_threads |= events[i].context == EXTRACT_THREAD && events[i].thread;
            if (!newest->count++)
                history->begin = events[i].ticks;
            history->end = events[i].ticks;
        }
}

// Measures the time between interrupts from their entries and exits, and without a schedule, the
// time in them: a trace whose ring a storm has filled does not show who ran.
static void measure_interrupts(struct history *history, bool has_schedule)
{
    const struct extract_trace *trace = history->build->trace;
    struct extract_reader reader;
    struct extract_event events[64], scratch;
    uint64_t before = history->begin;
    bool was_in_interrupt = false;
    unsigned depth = 0;
    size_t got;

    extract_reader_init(&reader, trace);
    while ((got = extract_reader_next(&reader, events, sizeof events / sizeof *events)) > 0)
        for (size_t i = 0; i < got; i++) {
            const struct extract_event *event = &events[i];
            if (extract_event_is_mark(event) || event->ticks < history->window_from)
                continue;
            const struct extract_role_fields *fields = extract_trace_role(trace, &event, &scratch);
            const enum extract_role role = fields ? fields->role : EXTRACT_ROLE_NONE;
            const uint64_t step = event->ticks > before ? event->ticks - before : 0;
            history->isr_ticks += depth && !has_schedule ? step : 0;
            history->pause_ticks += was_in_interrupt && !depth ? step : 0;
            history->pauses += was_in_interrupt && !depth && role == EXTRACT_ROLE_ISR_ENTER;
            depth += role == EXTRACT_ROLE_ISR_ENTER;
            depth -= role == EXTRACT_ROLE_ISR_EXIT && depth;
            was_in_interrupt |= role == EXTRACT_ROLE_ISR_EXIT;
            before = event->ticks;
        }
}

// Returns whether interrupts leave no time for threads: one follows the other at once, or they have
// nearly all of it. To leave an interrupt and to enter the next one takes as long as a few events,
// and the trace does not see it. A regular interrupt that has much of the time leaves more. A clock
// that counts events, or whose ticks are longer than that, does not show it.
static bool leave_no_time(const struct history *history, uint64_t span)
{
    enum { MOST_STEPS = 4, LEAST_TICKS = 4 };

    if (history->isr_ticks >= span - span / 4)
        return true;
    return history->pauses && history->least_step >= LEAST_TICKS &&
           history->pause_ticks / history->pauses <= MOST_STEPS * history->least_step;
}

// The newest events are those of interrupts alone, which leave no time for threads. A small ring
// shows this, too, if it is full.
static void find_storm(struct history *history, const struct newest *newest)
{
    enum { LEAST_EVENTS = 32 };
    uint64_t span = history->end - history->window_from;
    size_t threads = 0, window = newest->count < WINDOW ? newest->count : WINDOW;
    bool is_full = newest->count >= WINDOW || extract_trace_info(history->build->trace)->wrapped;

    for (size_t i = 0; i < window; i++)
        threads += newest->is_thread[i];
    if (!is_full || window < LEAST_EVENTS || threads * 20 > window || !span ||
        extract_trace_info(history->build->trace)->clock.counts_events ||
        !leave_no_time(history, span))
        return;
    crash_find(history->build, "interrupt storm", "trace", EXTRACT_CRASH_LIKELY,
               "interrupts had %llu %% of the newest %llu ticks, with pauses of %llu ticks on "
               "average, and made %zu of the newest %zu events",
               (unsigned long long)(history->isr_ticks * 100 / span), (unsigned long long)span,
               (unsigned long long)(history->pauses ? history->pause_ticks / history->pauses : 0),
               window - threads, window);
}

// An interrupt that came regularly, as that of a timer does, and then not any more: the mean time
// between two of its entries is at least half of the longest one. Events that are missing may have
// been such entries.
static void find_missing_tick(struct history *history)
{
    enum { LEAST_ENTRIES = 8, LATE = 4 };

    if (history->has_gap)
        return;
    for (size_t i = 0; i < history->pulse_count; i++) {
        const struct pulse *pulse = &history->pulses[i];
        uint64_t since = history->end - pulse->last;
        if (pulse->count < LEAST_ENTRIES || !pulse->longest || since / LATE < pulse->longest ||
            (pulse->last - pulse->first) / (pulse->count - 1) < pulse->longest / 2)
            continue;
        crash_find(
            history->build, "no tick", "trace", EXTRACT_CRASH_POSSIBLE,
            "interrupt %llu came every %llu ticks at least, and not in the newest %llu ticks: "
            "its timer has stopped, interrupts are locked, or the idle system has stopped its tick",
            (unsigned long long)pulse->isr, (unsigned long long)pulse->longest,
            (unsigned long long)since);
    }
}

static void find_stopped_clock(struct history *history, const struct newest *newest)
{
    enum { STILL = 32 };

    if (newest->count < STILL)
        return;
    for (size_t i = newest->count - STILL; i < newest->count; i++)
        if (newest->ticks[i % WINDOW] != history->end)
            return;
    crash_find(history->build, "clock stopped", "trace", EXTRACT_CRASH_POSSIBLE,
               "the newest %d events have the same timestamp: the clock of the trace has stopped",
               STILL);
}

// If the newest event of a thread is a switch to another one, or if an interrupt after it has
// resumed one that goes first, that one ran after it.
static void note_chosen(struct history *history)
{
    const struct extract_trace *trace = history->build->trace;
    struct extract_reader reader;
    struct extract_event events[64], scratch;
    uint64_t chosen = 0;
    size_t got;

    extract_reader_init(&reader, trace);
    while ((got = extract_reader_next(&reader, events, sizeof events / sizeof *events)) > 0)
        for (size_t i = 0; i < got; i++) {
            const struct extract_event *event = &events[i];
            const struct extract_role_fields *fields = extract_trace_role(trace, &event, &scratch);
            const bool may_choose = fields && (fields->role == EXTRACT_ROLE_SUSPEND ||
                                               fields->role == EXTRACT_ROLE_RESUME ||
                                               fields->role == EXTRACT_ROLE_SWITCH);
            const uint64_t next =
                may_choose && fields->next ? extract_role_field(event, fields->next) : 0;
            if (next || event->context == EXTRACT_THREAD)
                chosen = next;
        }
    if (chosen && extract_trace_object(trace, chosen))
        history->last_thread = chosen;
}

bool crash_is_moved(const struct crash_build *build)
{
    return build->moved || (build->trace && extract_trace_snapshot(build->trace)->ring.is_moved);
}

// Start-up code has cleared the memory of the kernel, or of its trace, while the ring has events of
// its threads. `is_earlier`: the program has enabled no trace since it was started. A list that is
// damaged, or missing, was not cleared.
static void find_reset(struct history *history, bool is_earlier)
{
    struct crash_build *build = history->build;
    const struct extract_object *last;
    const struct extract_kernel *kernel = build->remains->kernel;

    if (!kernel || !history->has_threads || crash_is_moved(build) ||
        (kernel->thread_count ? !is_earlier || !has_same_threads(history)
                              : kernel->problem_count != 0))
        return;
    note_chosen(history);
    last = history->last_thread ? extract_trace_object(build->trace, history->last_thread) : NULL;
    build->ran_last = history->last_thread;
    build->ran_last_name = last ? last->name : "";
    crash_find(build, "watchdog", "memory", EXTRACT_CRASH_LIKELY,
               "%s, and the trace has events of %sthreads: the target was reset after the newest "
               "event, as a watchdog does it%s",
               kernel->thread_count ? "the program has enabled no trace since it was started"
                                    : "the kernel has no threads",
               kernel->thread_count ? "its " : "",
               build->ran_last && !*build->ran_last_name
                   ? "; the name of the thread that ran last was in its control block, which was "
                     "cleared, and the ring no longer has the event with it"
                   : "");
}

void crash_read_history(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;
    struct history history = {.build = build};
    const struct extract_schedule_sink sink = {
        .context = &history, .interval = take_interval, .state = take_state};
    struct newest *newest = calloc(1, sizeof *newest);

    size_t threads = kernel ? kernel->thread_count : 0;
    history.last = calloc(threads + 1, sizeof *history.last);
    history.ran = calloc(threads + 1, sizeof *history.ran);
    if (!build->trace || !newest || !history.last || !history.ran) {
        build->failed |= !newest || !history.last || !history.ran;
        free(newest);
        free(history.last);
        free(history.ran);
        return;
    }
    read_newest(&history, newest);
    build->trace_ticks = history.end - history.begin;
    history.window_from =
        newest->count < WINDOW ? history.begin : newest->ticks[newest->count % WINDOW];
    // A ring from before a reset shows nothing of the threads that there are now. Without events of
    // a scheduler, nothing is known of threads.
    bool is_earlier = extract_trace_snapshot(build->trace)->ring.origin == EXTRACT_FROM_EARLIER;
    bool is_of_now = !(is_earlier && threads);
    bool has_schedule = !extract_schedule_run(NULL, build->trace, &sink, NULL);
    if (is_of_now && has_schedule) {
        note_waits(&history);
        find_starvation(&history);
        find_missing_tick(&history);
    }
    if (is_of_now) {
        measure_interrupts(&history, has_schedule);
        find_storm(&history, newest);
    }
    find_stopped_clock(&history, newest);
    find_reset(&history, is_earlier);
    free(newest);
    free(history.last);
    free(history.ran);
}
