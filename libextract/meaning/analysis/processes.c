// SPDX-License-Identifier: MIT
// analysis: processes and dispatches, of hook words. Events that name processes, and the steps of
// the schedule, come in. The list of processes goes out, and how often each thread was dispatched
// to each core.
//
//   exec "ls"      the process of the thread has the name "ls"
//   fork           the new process has the name of the one that made it, until an exec
//
// A process has one name, the newest.
// Source: what AIX's manual "Performance Tools Guide and Reference" says of the report of curt.
#include "analysis/analysis_room.h"
#include "base/grow.h"
#include <stdlib.h>
#include <string.h>

enum { MAX_NAME = 255 }; // bytes that are kept

// What is known of a thread at the present event.
struct process_thread {
    char *name;    // of its process, which is not known yet; owned; NULL: none
    uint8_t core;  // on which it ran last
    bool has_core; // since the last gap
};

struct processes {
    struct process_thread *threads;     // by threads of the statistics
    struct extract_map name_of_process; // index + 1
    char **names;                       // owned
    size_t name_count, name_capacity;
};

bool processes_begin(struct analysis *analysis)
{
    struct processes *processes = analysis->processes = calloc(1, sizeof *processes);
    struct extract_stats *stats = analysis->stats;

    if (!processes)
        return false;
    processes->threads = calloc(stats->thread_count + 1, sizeof *processes->threads);
    for (size_t i = 0; i < stats->core_count; i++) {
        uint64_t *counts = calloc(stats->thread_count + 1, sizeof *counts);
        if (!counts)
            return false;
        stats->cores[i].thread_dispatches = counts;
    }
    return processes->threads && extract_map_init(&processes->name_of_process, 16);
}

void processes_free(struct analysis *analysis)
{
    struct processes *processes = analysis->processes;

    if (!processes)
        return;
    for (size_t i = 0; processes->threads && i < analysis->stats->thread_count; i++)
        free(processes->threads[i].name);
    for (size_t i = 0; i < processes->name_count; i++)
        free(processes->names[i]);
    free(processes->threads);
    free(processes->names);
    extract_map_free(&processes->name_of_process);
    free(processes);
}

// ---- names ----

// Gives a process a name, which it takes.
static void set_name(struct analysis *analysis, uint64_t process, char *name)
{
    struct processes *processes = analysis->processes;
    uint32_t *index = extract_map_at(&processes->name_of_process, process);

    if (index && *index) {
        free(processes->names[*index - 1]);
        processes->names[*index - 1] = name;
        return;
    }
    char **names = index ? extract_grow(processes->names, &processes->name_capacity,
                                        processes->name_count, sizeof *names)
                         : NULL;
    if (!names) {
        free(name);
        analysis->failed = true;
        return;
    }
    processes->names = names;
    names[processes->name_count++] = name;
    *index = (uint32_t)processes->name_count;
}

// Returns the name of a process; NULL if it has none.
static const char *name_of(const struct processes *processes, uint64_t process)
{
    uint32_t index = extract_map_get(&processes->name_of_process, process);

    return index ? processes->names[index - 1] : NULL;
}

// Copies a name, which ends at a byte 0 or after `length` bytes. Returns NULL if memory is short.
static char *copy_name(struct analysis *analysis, const void *name, size_t length)
{
    size_t bytes = strnlen(name, length < MAX_NAME ? length : MAX_NAME);
    char *copy = malloc(bytes + 1);

    if (!copy) {
        analysis->failed = true;
        return NULL;
    }
    memcpy(copy, name, bytes);
    copy[bytes] = 0;
    return copy;
}

void processes_set(struct analysis *analysis, size_t i, uint64_t process)
{
    struct extract_thread_stats *thread = &analysis->stats->threads[i];
    struct process_thread *known = &analysis->processes->threads[i];

    thread->process = process;
    thread->process_known = true;
    if (known->name)
        set_name(analysis, process, known->name);
    known->name = NULL;
}

void processes_exec(struct analysis *analysis, size_t i, const struct extract_event *event)
{
    const struct extract_thread_stats *thread = &analysis->stats->threads[i];
    struct process_thread *known = &analysis->processes->threads[i];
    char *name = event->data_bytes ? copy_name(analysis, event->data, event->data_bytes) : NULL;

    if (!name || !*name) {
        free(name);
        return;
    }
    if (thread->process_known) {
        set_name(analysis, thread->process, name);
        return;
    }
    free(known->name);
    known->name = name;
}

void processes_fork(struct analysis *analysis, size_t i, uint64_t process)
{
    const struct extract_thread_stats *thread = &analysis->stats->threads[i];
    const char *name = thread->process_known ? name_of(analysis->processes, thread->process) : NULL;
    char *copy = name ? copy_name(analysis, name, strlen(name)) : NULL;

    if (copy)
        set_name(analysis, process, copy);
}

// ---- dispatches ----

void processes_add_step(struct analysis *analysis, const struct schedule_step *step)
{
    const struct extract_interval *interval = &step->interval;
    struct extract_core_stats *core = &analysis->stats->cores[interval->core];
    bool is_thread = interval->runner == EXTRACT_RUNNER_THREAD;
    bool is_dispatch =
        step->role->role == EXTRACT_ROLE_SWITCH && step->standing == EXTRACT_LET_THROUGH;
    uint64_t next = step->role->next ? step->next : is_thread ? interval->thread : 0;
    bool is_idle =
        is_dispatch && !next && (step->role->next || interval->runner == EXTRACT_RUNNER_IDLE);
    size_t i = is_dispatch && next ? analysis_thread(analysis, next)
               : is_thread         ? analysis_thread(analysis, interval->thread)
                                   : SIZE_MAX;

    core->idle_dispatches += is_idle;
    if (i == SIZE_MAX)
        return;
    struct process_thread *known = &analysis->processes->threads[i];
    if (is_dispatch && next) {
        struct extract_dispatches *const counts[] = {&analysis->stats->threads[i].dispatches,
                                                     &core->dispatches,
                                                     &analysis->stats->dispatches};
        for (size_t k = 0; k < sizeof counts / sizeof *counts; k++) {
            counts[k]->count++;
            counts[k]->again += known->has_core;
            counts[k]->same_core += known->has_core && known->core == interval->core;
        }
        core->thread_dispatches[i]++;
    }
    known->core = interval->core;
    known->has_core = true;
}

void processes_add_gap(struct analysis *analysis)
{
    for (size_t i = 0; i < analysis->stats->thread_count; i++)
        analysis->processes->threads[i].has_core = false;
}

// ---- end ----

static uint64_t sum_of(const struct extract_process_stats *process)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < EXTRACT_MODES; i++)
        sum += process->mode_ticks[i];
    return sum;
}

static int compare_processes(const void *a, const void *b)
{
    const struct extract_process_stats *x = a, *y = b;
    uint64_t x_sum = sum_of(x), y_sum = sum_of(y);

    if (x_sum != y_sum)
        return x_sum < y_sum ? 1 : -1;
    return (x->process > y->process) - (x->process < y->process);
}

// Adds up the times of the threads of each process. Returns false if memory is short.
static bool list_processes(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;
    struct extract_map index_of;
    uint32_t unknown = 0;
    bool fits = extract_map_init(&index_of, 16);

    stats->processes = calloc(stats->thread_count + 1, sizeof *stats->processes);
    fits &= stats->processes != NULL;
    for (size_t i = 0; i < stats->thread_count && fits; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        uint32_t *index =
            thread->process_known ? extract_map_at(&index_of, thread->process) : &unknown;
        fits = index != NULL;
        if (!fits)
            break;
        if (!*index)
            *index = (uint32_t)++stats->process_count;
        struct extract_process_stats *process = &stats->processes[*index - 1];
        process->process = thread->process;
        process->is_known = thread->process_known;
        process->thread_count++;
        process->syscalls += thread->syscalls;
        for (unsigned k = 0; k < EXTRACT_MODES; k++)
            process->mode_ticks[k] += thread->mode_ticks[k];
        for (unsigned k = 0; k < EXTRACT_SWITCHES; k++)
            process->switches[k] += thread->switches[k];
    }
    extract_map_free(&index_of);
    return fits;
}

// Moves the names into the list, so that they outlive the analysis.
static void hand_over_names(struct analysis *analysis)
{
    struct processes *processes = analysis->processes;

    for (size_t i = 0; i < analysis->stats->process_count; i++) {
        struct extract_process_stats *process = &analysis->stats->processes[i];
        uint32_t index =
            process->is_known ? extract_map_get(&processes->name_of_process, process->process) : 0;
        if (!index)
            continue;
        process->name = processes->names[index - 1];
        processes->names[index - 1] = NULL;
    }
}

void processes_end(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;

    analysis->failed |= !list_processes(analysis);
    hand_over_names(analysis);
    if (stats->process_count)
        qsort(stats->processes, stats->process_count, sizeof *stats->processes, compare_processes);
}
