// SPDX-License-Identifier: MIT
// analysis: the modes of cores, and system calls, of hook words.
//
//            enter system call               dispatch             interrupt
//   APPLICATION <-------> SYSCALL     any <----------> DISPATCH     any <----> FIRST_, SECOND_LEVEL
//            return from it
//
// Until the first entry to, or return from, a system call of a thread it is not known whether the
// thread is in one. That event shows it for the time before: nothing of the thread is missing.
// Source: what AIX's manual "Performance Tools Guide and Reference" says of the report of curt.
#include "analysis/analysis_room.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

enum call_state { CALL_UNKNOWN = 0, CALL_NONE, CALL_OPEN };

// What is known of a thread at the present event.
struct mode_thread {
    enum call_state state;
    bool is_kernel;
    // While the state is unknown: time of UNKNOWN on the newest core, which will get a mode.
    uint64_t unsettled;
    uint8_t unsettled_core;
    // Of the open call; its number is that of its statistics, SIZE_MAX: its begin is not known.
    size_t call;
    uint64_t from, running;
    bool is_counted;
};

struct mode_core {
    unsigned depth; // of interrupts; at most MAX_NESTING are known
    bool is_second_level[MAX_NESTING];
    bool is_dispatching;
};

struct call_times {
    struct distribution elapsed, running;
};

struct modes {
    struct mode_thread *threads; // by threads of the statistics
    struct mode_core cores[MAX_CORES];
    struct extract_map call_of_number; // index + 1
    uint32_t call_without_number;      // index + 1; 0: none
    struct call_times *times;          // per system call
    size_t call_capacity, times_count, times_capacity;
};

const char *extract_mode_name(enum extract_mode mode)
{
    static const char *const names[EXTRACT_MODES] = {"application",
                                                     "system calls",
                                                     "kernel",
                                                     "first-level interrupts",
                                                     "second-level interrupts",
                                                     "dispatch",
                                                     "idle",
                                                     "unknown"};

    return (unsigned)mode < EXTRACT_MODES ? names[mode] : names[EXTRACT_MODE_UNKNOWN];
}

bool modes_begin(struct analysis *analysis)
{
    struct modes *modes = analysis->modes = calloc(1, sizeof *modes);

    if (!modes)
        return false;
    modes->threads = calloc(analysis->stats->thread_count + 1, sizeof *modes->threads);
    return extract_map_init(&modes->call_of_number, 16) && modes->threads;
}

void modes_free(struct analysis *analysis)
{
    struct modes *modes = analysis->modes;

    if (!modes)
        return;
    for (size_t i = 0; i < modes->times_count; i++) {
        distribution_free(&modes->times[i].elapsed);
        distribution_free(&modes->times[i].running);
    }
    free(modes->times);
    free(modes->threads);
    extract_map_free(&modes->call_of_number);
    free(modes);
}

// ---- times ----

static void add_ticks(struct analysis *analysis, size_t thread, uint8_t core,
                      enum extract_mode mode, uint64_t ticks)
{
    struct extract_stats *stats = analysis->stats;

    stats->mode_ticks[mode] += ticks;
    stats->cores[core].mode_ticks[mode] += ticks;
    if (thread != SIZE_MAX)
        stats->threads[thread].mode_ticks[mode] += ticks;
}

// Returns the mode of a thread that runs.
static enum extract_mode thread_mode(const struct mode_thread *thread)
{
    if (thread->is_kernel)
        return EXTRACT_MODE_KERNEL;
    return thread->state == CALL_OPEN   ? EXTRACT_MODE_SYSCALL
           : thread->state == CALL_NONE ? EXTRACT_MODE_APPLICATION
                                        : EXTRACT_MODE_UNKNOWN;
}

static void add_thread_ticks(struct analysis *analysis, size_t i, uint8_t core, uint64_t ticks)
{
    struct mode_thread *thread = &analysis->modes->threads[i];
    enum extract_mode mode = thread_mode(thread);

    if (mode == EXTRACT_MODE_SYSCALL)
        thread->running += ticks;
    if (mode == EXTRACT_MODE_UNKNOWN) {
        if (thread->unsettled_core != core)
            thread->unsettled = 0;
        thread->unsettled_core = core;
        thread->unsettled += ticks;
    }
    add_ticks(analysis, i, core, mode, ticks);
}

void modes_add_step(struct analysis *analysis, const struct schedule_step *step)
{
    const struct extract_interval *interval = &step->interval;
    const struct mode_core *core = &analysis->modes->cores[interval->core];
    uint64_t ticks = interval->to - interval->from;
    enum extract_mode mode = EXTRACT_MODE_UNKNOWN;
    size_t thread = interval->runner == EXTRACT_RUNNER_THREAD
                        ? analysis_thread(analysis, interval->thread)
                        : SIZE_MAX;
    bool is_known = core->depth && core->depth <= MAX_NESTING;

    if (interval->runner == EXTRACT_RUNNER_IDLE)
        mode = EXTRACT_MODE_IDLE;
    else if (core->is_dispatching)
        mode = EXTRACT_MODE_DISPATCH;
    else if (interval->runner == EXTRACT_RUNNER_INIT)
        mode = EXTRACT_MODE_KERNEL;
    else if (interval->runner == EXTRACT_RUNNER_ISR && is_known)
        mode = core->is_second_level[core->depth - 1] ? EXTRACT_MODE_SECOND_LEVEL
                                                      : EXTRACT_MODE_FIRST_LEVEL;
    if (mode == EXTRACT_MODE_UNKNOWN && thread != SIZE_MAX)
        add_thread_ticks(analysis, thread, interval->core, ticks);
    else
        add_ticks(analysis, thread, interval->core, mode, ticks);
}

// Gives the time of a thread whose mode was not known the mode that an event proves.
static void settle(struct analysis *analysis, size_t i, enum extract_mode mode)
{
    struct extract_stats *stats = analysis->stats;
    struct mode_thread *thread = &analysis->modes->threads[i];
    uint64_t ticks = thread->unsettled;

    thread->unsettled = 0;
    stats->mode_ticks[EXTRACT_MODE_UNKNOWN] -= ticks;
    stats->cores[thread->unsettled_core].mode_ticks[EXTRACT_MODE_UNKNOWN] -= ticks;
    stats->threads[i].mode_ticks[EXTRACT_MODE_UNKNOWN] -= ticks;
    add_ticks(analysis, i, thread->unsettled_core, mode, ticks);
}

// ---- system calls ----

// Returns the index of a system call, which it adds if needed; SIZE_MAX: out of memory.
static size_t find_call(struct analysis *analysis, bool is_known, uint64_t number)
{
    struct modes *modes = analysis->modes;
    struct extract_stats *stats = analysis->stats;
    uint32_t *index =
        is_known ? extract_map_at(&modes->call_of_number, number) : &modes->call_without_number;

    if (index && *index)
        return *index - 1;
    struct extract_syscall_stats *calls = index
                                              ? extract_grow(stats->syscalls, &modes->call_capacity,
                                                             stats->syscall_count, sizeof *calls)
                                              : NULL;
    if (calls)
        stats->syscalls = calls;
    struct call_times *times = calls ? extract_grow(modes->times, &modes->times_capacity,
                                                    modes->times_count, sizeof *times)
                                     : NULL;
    if (!times) {
        analysis->failed = true;
        return SIZE_MAX;
    }
    modes->times = times;
    times[modes->times_count++] = (struct call_times){.elapsed = {.count = 0}};
    calls[stats->syscall_count++] =
        (struct extract_syscall_stats){.number = number, .number_known = is_known};
    *index = (uint32_t)stats->syscall_count;
    return stats->syscall_count - 1;
}

// Forgets the open call of a thread, of which no end was recorded.
static void abandon_call(struct analysis *analysis, struct mode_thread *thread)
{
    if (thread->state == CALL_OPEN && thread->call != SIZE_MAX && thread->is_counted)
        analysis->stats->syscalls[thread->call].unfinished++;
    thread->state = CALL_UNKNOWN;
}

static void enter_call(struct analysis *analysis, size_t i, const struct extract_event *event,
                       const struct extract_role_fields *role, bool is_counted)
{
    struct mode_thread *thread = &analysis->modes->threads[i];

    if (thread->state == CALL_UNKNOWN)
        settle(analysis, i, EXTRACT_MODE_APPLICATION);
    abandon_call(analysis, thread);
    thread->state = CALL_OPEN;
    thread->from = event->ticks;
    thread->running = 0;
    thread->is_counted = is_counted;
    thread->call = find_call(analysis, role->number != 0, extract_role_field(event, role->number));
    if (thread->call == SIZE_MAX || !is_counted)
        return;
    analysis->stats->syscalls[thread->call].count++;
    analysis->stats->threads[i].syscalls++;
}

static void exit_call(struct analysis *analysis, size_t i, const struct extract_event *event,
                      const struct extract_role_fields *role, bool is_counted)
{
    struct mode_thread *thread = &analysis->modes->threads[i];
    uint64_t number = extract_role_field(event, role->number);
    struct extract_syscall_stats *calls = analysis->stats->syscalls;

    if (thread->state == CALL_UNKNOWN)
        settle(analysis, i, EXTRACT_MODE_SYSCALL);
    bool is_begun = thread->state == CALL_OPEN && thread->call != SIZE_MAX;
    // The entry to the call that ends here was not recorded.
    if (is_begun && role->number && calls[thread->call].number_known &&
        calls[thread->call].number != number) {
        abandon_call(analysis, thread);
        is_begun = false;
    }
    thread->state = CALL_NONE;
    if (!is_counted)
        return;
    size_t call = is_begun ? thread->call : find_call(analysis, role->number != 0, number);
    if (call == SIZE_MAX)
        return;
    struct extract_syscall_stats *stats = &analysis->stats->syscalls[call];
    stats->errors_known |= role->error != 0;
    stats->errors += extract_role_field(event, role->error) != 0;
    if (!is_begun)
        return;
    struct call_times *times = &analysis->modes->times[call];
    if (event->ticks < thread->from) // time stepped back
        return;
    if (!distribution_add(&times->elapsed, event->ticks - thread->from) ||
        !distribution_add(&times->running, thread->running))
        analysis->failed = true;
}

// ---- events ----

static void note_core(struct mode_core *core, const struct extract_event *event,
                      const struct extract_role_fields *role)
{
    core->is_dispatching = false;
    if (event->context != EXTRACT_ISR)
        core->depth = 0;
    if (role->role == EXTRACT_ROLE_ISR_ENTER) {
        if (core->depth < MAX_NESTING)
            core->is_second_level[core->depth] = role->second_level;
        core->depth++;
    } else if (role->role == EXTRACT_ROLE_ISR_EXIT && core->depth) {
        core->depth--;
    } else if (role->role == EXTRACT_ROLE_ISR_RETURN) {
        core->depth = 0;
    } else if (role->role == EXTRACT_ROLE_SWITCH) {
        core->is_dispatching = role->dispatches;
    }
}

// Notes what an event states of a thread.
static void note_thread(struct analysis *analysis, const struct extract_event *event,
                        const struct extract_role_fields *role)
{
    uint8_t field = role->role == EXTRACT_ROLE_SWITCH ? role->next : role->thread;
    bool is_own = role->role != EXTRACT_ROLE_SWITCH && !field;

    if (role->role == EXTRACT_ROLE_FORK) {
        size_t parent = analysis_thread(analysis, event->thread);
        if (role->process && parent != SIZE_MAX)
            processes_fork(analysis, parent, extract_role_field(event, role->process));
        if (is_own) // the new thread is not known
            return;
    }
    size_t i = analysis_thread(analysis, is_own ? event->thread : extract_role_field(event, field));

    if (i == SIZE_MAX)
        return;
    if (role->process)
        processes_set(analysis, i, extract_role_field(event, role->process));
    if (role->has_name && role->role == EXTRACT_ROLE_EXEC)
        processes_exec(analysis, i, event);
    if (role->kernel)
        analysis->modes->threads[i].is_kernel = extract_role_field(event, role->kernel) != 0;
    if (role->role == EXTRACT_ROLE_EXIT)
        abandon_call(analysis, &analysis->modes->threads[i]);
}

void modes_add_event(struct analysis *analysis, const struct extract_event *event,
                     const struct extract_role_fields *role, bool is_counted)
{
    bool is_enter = role->role == EXTRACT_ROLE_SYSCALL_ENTER;
    bool is_about_thread = role->process || role->kernel || role->role == EXTRACT_ROLE_EXIT ||
                           role->role == EXTRACT_ROLE_EXEC;

    note_core(&analysis->modes->cores[event->core], event, role);
    if (is_about_thread)
        note_thread(analysis, event, role);
    if (!is_enter && role->role != EXTRACT_ROLE_SYSCALL_EXIT)
        return;
    size_t i = analysis_thread(analysis, event->thread);
    if (i == SIZE_MAX)
        return;
    if (is_enter)
        enter_call(analysis, i, event, role, is_counted);
    else
        exit_call(analysis, i, event, role, is_counted);
}

void modes_add_gap(struct analysis *analysis)
{
    struct modes *modes = analysis->modes;

    for (size_t i = 0; i < analysis->stats->thread_count; i++) {
        abandon_call(analysis, &modes->threads[i]);
        modes->threads[i].unsettled = 0;
    }
    memset(modes->cores, 0, sizeof modes->cores);
}

// ---- end ----

static int compare_times(uint64_t x, uint64_t y)
{
    return (x < y) - (x > y);
}

static int compare_calls(const void *a, const void *b)
{
    const struct extract_syscall_stats *x = a, *y = b;
    int order = compare_times(x->running.sum, y->running.sum);

    return order ? order : (x->number > y->number) - (x->number < y->number);
}

void modes_end(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;

    modes_add_gap(analysis); // calls that are open now have no end
    for (size_t i = 0; i < stats->syscall_count; i++) {
        stats->syscalls[i].elapsed = distribution_result(&analysis->modes->times[i].elapsed);
        stats->syscalls[i].running = distribution_result(&analysis->modes->times[i].running);
    }
    if (stats->syscall_count)
        qsort(stats->syscalls, stats->syscall_count, sizeof *stats->syscalls, compare_calls);
}
