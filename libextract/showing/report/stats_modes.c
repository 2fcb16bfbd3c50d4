// SPDX-License-Identifier: MIT
// report: what role files of hook words add to the statistics: the time in each mode, processes,
// system calls and locks. Each is a table, or a member of the JSON object.
#include "report/report_room.h"
#include "report/text_table.h"
#include <stdio.h>
#include <string.h>

// ---- tables ----

static uint64_t sum_of(const uint64_t ticks[EXTRACT_MODES])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < EXTRACT_MODES; i++)
        sum += ticks[i];
    return sum;
}

static void put_percent_cell(struct text_table *table, uint64_t part, uint64_t whole)
{
    text_put_percent(&table->cells, part, whole);
    text_table_end_cell(table);
}

static void put_average_cell(struct text_table *table, const struct extract_distribution *d)
{
    text_table_put_optional(table, d->count, d->count ? d->sum / d->count : 0);
}

// Writes a system's or core's modes. Percentages of busy time do not include idle and unknown.
static void put_mode_rows(struct text_table *table, const char *name,
                          const uint64_t ticks[EXTRACT_MODES])
{
    uint64_t all = sum_of(ticks);
    uint64_t busy = all - ticks[EXTRACT_MODE_IDLE] - ticks[EXTRACT_MODE_UNKNOWN];

    for (unsigned i = 0; i < EXTRACT_MODES; i++) {
        bool is_busy = i != EXTRACT_MODE_IDLE && i != EXTRACT_MODE_UNKNOWN;
        if (!ticks[i])
            continue;
        text_table_put_string(table, name);
        text_table_put_string(table, extract_mode_name((enum extract_mode)i));
        text_table_put_number(table, ticks[i]);
        put_percent_cell(table, ticks[i], all);
        if (is_busy)
            put_percent_cell(table, ticks[i], busy);
        else
            text_table_put_string(table, "-");
    }
}

static void put_modes(struct extract_text *text, const struct extract_stats *stats,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"core", "mode", "ticks", "percent", "of busy"};
    struct text_table table;
    char name[24];

    text_table_open(&table, sizeof headings / sizeof *headings, ~3u);
    text_table_put_headings(&table, headings);
    put_mode_rows(&table, "all", stats->mode_ticks);
    for (size_t i = 0; i < stats->core_count && stats->core_count > 1; i++) {
        snprintf(name, sizeof name, "%zu", i);
        put_mode_rows(&table, name, stats->cores[i].mode_ticks);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// The columns in which processes and threads are alike. Each table has others before them.
static const char *const mode_headings[] = {"ticks",    "percent",   "application", "system calls",
                                            "kernel",   "dispatch",  "unknown",     "calls",
                                            "switches", "voluntary", "involuntary"};

enum { MODE_COLUMNS = sizeof mode_headings / sizeof *mode_headings };

// Opens a table with the columns `first`, and those of modes.
static void open_mode_table(struct text_table *table, const char *const *first, size_t count)
{
    const char *headings[TEXT_TABLE_MAX_COLUMNS];

    memcpy(headings, first, count * sizeof *first);
    memcpy(headings + count, mode_headings, sizeof mode_headings);
    text_table_open(table, (unsigned)count + MODE_COLUMNS, ~1u);
    text_table_put_headings(table, headings);
}

// Appends the cells of modes.
static void put_mode_cells(struct text_table *table, const uint64_t ticks[EXTRACT_MODES],
                           uint64_t all, uint64_t syscalls)
{
    uint64_t sum = sum_of(ticks);

    text_table_put_number(table, sum);
    put_percent_cell(table, sum, all);
    text_table_put_number(table, ticks[EXTRACT_MODE_APPLICATION]);
    text_table_put_number(table, ticks[EXTRACT_MODE_SYSCALL]);
    text_table_put_number(table, ticks[EXTRACT_MODE_KERNEL]);
    text_table_put_number(table, ticks[EXTRACT_MODE_DISPATCH]);
    text_table_put_number(table, ticks[EXTRACT_MODE_UNKNOWN]);
    text_table_put_number(table, syscalls);
}

static void put_process_cell(struct text_table *table, bool is_known, uint64_t process)
{
    if (is_known)
        text_table_put_number(table, process);
    else
        text_table_put_string(table, "(unknown)");
}

static uint64_t voluntary(const uint64_t switches[EXTRACT_SWITCHES])
{
    return switches[EXTRACT_SWITCH_GAVE_UP] + switches[EXTRACT_SWITCH_YIELDED];
}

static uint64_t involuntary(const uint64_t switches[EXTRACT_SWITCHES])
{
    return switches[EXTRACT_SWITCH_PREEMPTED] + switches[EXTRACT_SWITCH_TIME_SLICED];
}

// Writes how often a thread or process lost its core, and how much of that is known to have been
// voluntary or involuntary.
static void put_switch_cells(struct text_table *table, const struct extract_stats *stats,
                             const uint64_t switches[EXTRACT_SWITCHES])
{
    bool is_known = stats->has_switch_kinds;
    uint64_t all = voluntary(switches) + involuntary(switches) + switches[EXTRACT_SWITCH_UNKNOWN];

    text_table_put_number(table, all);
    text_table_put_optional(table, is_known, voluntary(switches));
    text_table_put_optional(table, is_known, involuntary(switches));
}

static void put_processes(struct extract_text *text, const struct extract_stats *stats,
                          const struct extract_report_options *options)
{
    static const char *const first[] = {"process", "name", "threads"};
    struct text_table table;
    uint64_t all = sum_of(stats->mode_ticks);

    open_mode_table(&table, first, sizeof first / sizeof *first);
    for (size_t i = 0; i < stats->process_count && !table.cells.code; i++) {
        const struct extract_process_stats *process = &stats->processes[i];
        put_process_cell(&table, process->is_known, process->process);
        text_table_put_string(&table, process->name ? process->name : "-");
        text_table_put_number(&table, process->thread_count);
        put_mode_cells(&table, process->mode_ticks, all, process->syscalls);
        put_switch_cells(&table, stats, process->switches);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// Writes the share of dispatches to the core on which the thread had run last.
static void put_affinity_cell(struct text_table *table, const struct extract_dispatches *dispatches)
{
    if (dispatches->again)
        put_percent_cell(table, dispatches->same_core, dispatches->again);
    else
        text_table_put_string(table, "-");
}

static void put_threads(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    static const char *const first[] = {"thread", "process", "dispatches", "affinity"};
    struct text_table table;
    uint64_t all = sum_of(stats->mode_ticks);

    open_mode_table(&table, first, sizeof first / sizeof *first);
    for (size_t i = 0; i < stats->thread_count && !table.cells.code; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        text_table_put_string(&table, thread->thread->shown);
        put_process_cell(&table, thread->process_known, thread->process);
        text_table_put_number(&table, thread->dispatches.count);
        put_affinity_cell(&table, &thread->dispatches);
        put_mode_cells(&table, thread->mode_ticks, all, thread->syscalls);
        put_switch_cells(&table, stats, thread->switches);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// Writes the row of a core, or of all, in the table of dispatches.
static void put_dispatches_row(struct text_table *table, const char *core, const char *thread,
                               const struct extract_dispatches *dispatches)
{
    text_table_put_string(table, core);
    text_table_put_string(table, thread);
    text_table_put_number(table, dispatches->count);
    put_affinity_cell(table, dispatches);
}

// Writes how often each core dispatched each thread.
static void put_dispatches(struct extract_text *text, const struct extract_stats *stats,
                           const struct extract_report_options *options)
{
    static const char *const headings[] = {"core", "thread", "dispatches", "affinity"};
    struct text_table table;
    char name[24];

    if (stats->core_count < 2)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~3u);
    text_table_put_headings(&table, headings);
    put_dispatches_row(&table, "all", "all", &stats->dispatches);
    for (size_t i = 0; i < stats->core_count && !table.cells.code; i++) {
        const struct extract_core_stats *core = &stats->cores[i];
        snprintf(name, sizeof name, "%zu", i);
        put_dispatches_row(&table, name, "all", &core->dispatches);
        const struct extract_dispatches idle = {.count = core->idle_dispatches};
        if (idle.count)
            put_dispatches_row(&table, name, "(idle)", &idle);
        for (size_t k = 0; k < stats->thread_count; k++) {
            const struct extract_dispatches own = {.count = core->thread_dispatches[k]};
            if (own.count)
                put_dispatches_row(&table, name, stats->threads[k].thread->shown, &own);
        }
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_syscalls(struct extract_text *text, const struct extract_stats *stats,
                         const struct extract_report_options *options)
{
    static const char *const headings[] = {"system call", "count",   "errors", "unfinished",
                                           "ran",         "average", "min",    "max",
                                           "elapsed",     "average", "longest"};
    struct text_table table;

    if (!stats->syscall_count)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->syscall_count && !table.cells.code; i++) {
        const struct extract_syscall_stats *call = &stats->syscalls[i];
        bool has_ended = call->running.count;
        put_process_cell(&table, call->number_known, call->number);
        text_table_put_number(&table, call->count);
        text_table_put_optional(&table, call->errors_known, call->errors);
        text_table_put_number(&table, call->unfinished);
        text_table_put_optional(&table, has_ended, call->running.sum);
        put_average_cell(&table, &call->running);
        text_table_put_optional(&table, has_ended, call->running.min);
        text_table_put_optional(&table, has_ended, call->running.max);
        text_table_put_optional(&table, has_ended, call->elapsed.sum);
        put_average_cell(&table, &call->elapsed);
        text_table_put_optional(&table, has_ended, call->elapsed.max);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// Returns how many attempts to get a lock failed.
static uint64_t failures_of(const struct extract_lock_stats *lock)
{
    return lock->misses + lock->busy;
}

static void put_lock_cell(struct text_table *table, const struct extract_lock_stats *lock)
{
    if (lock->object) {
        text_table_put_string(table, lock->object->shown);
    } else {
        extract_text_printf(&table->cells, "0x%llx", (unsigned long long)lock->address);
        text_table_end_cell(table);
    }
}

static void put_user_cell(struct text_table *table, const struct extract_lock_user_stats *user)
{
    if (user->thread) {
        text_table_put_string(table, user->thread->shown);
        return;
    }
    if (user->is_interrupts)
        extract_text_printf(&table->cells, "(interrupts of core %llu)",
                            (unsigned long long)user->address);
    else
        extract_text_printf(&table->cells, "0x%llx", (unsigned long long)user->address);
    text_table_end_cell(table);
}

static void put_locks(struct extract_text *text, const struct extract_stats *stats,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"lock",  "acquired", "misses",  "busy", "miss rate",
                                           "waits", "spinning", "waiting", "holds"};
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->lock_count && !table.cells.code; i++) {
        const struct extract_lock_stats *lock = &stats->locks[i];
        uint64_t failures = failures_of(lock);
        put_lock_cell(&table, lock);
        text_table_put_number(&table, lock->acquisitions);
        text_table_put_number(&table, lock->misses);
        text_table_put_number(&table, lock->busy);
        put_percent_cell(&table, failures, failures + lock->acquisitions);
        text_table_put_number(&table, lock->waits);
        text_table_put_number(&table, lock->most_spinning);
        text_table_put_number(&table, lock->most_waiting);
        text_table_put_number(&table, lock->most_holds);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

// Writes the sum, the average and the longest of some times.
static void put_times_cells(struct text_table *table, const struct extract_distribution *times)
{
    text_table_put_optional(table, times->count, times->sum);
    put_average_cell(table, times);
    text_table_put_optional(table, times->count, times->max);
}

// Writes a sum without the average and the longest.
static void put_sum_cells(struct text_table *table, uint64_t sum)
{
    text_table_put_number(table, sum);
    text_table_put_string(table, "-");
    text_table_put_string(table, "-");
}

static void put_lock_times(struct extract_text *text, const struct extract_stats *stats,
                           const struct extract_report_options *options)
{
    static const char *const headings[] = {"lock",    "thread",  "acquired", "held",    "average",
                                           "longest", "ran",     "spun",     "average", "longest",
                                           "waited",  "average", "longest"};
    struct text_table table;
    bool has_more = false;

    text_table_open(&table, sizeof headings / sizeof *headings, ~3u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->lock_count && !table.cells.code; i++) {
        const struct extract_lock_stats *lock = &stats->locks[i];
        has_more |= lock->has_more_users;
        put_lock_cell(&table, lock);
        text_table_put_string(&table, "all");
        text_table_put_number(&table, lock->acquisitions);
        put_times_cells(&table, &lock->held);
        text_table_put_optional(&table, lock->held.count, lock->running_ticks);
        put_times_cells(&table, &lock->spun);
        put_times_cells(&table, &lock->waited);
        for (size_t k = 0; k < lock->user_count; k++) {
            const struct extract_lock_user_stats *user = &lock->users[k];
            put_lock_cell(&table, lock);
            put_user_cell(&table, user);
            text_table_put_number(&table, user->acquisitions);
            put_sum_cells(&table, user->held_ticks);
            text_table_put_number(&table, user->running_ticks);
            put_sum_cells(&table, user->spun_ticks);
            put_sum_cells(&table, user->waited_ticks);
        }
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
    if (has_more)
        extract_text_puts(text, "Some threads are missing: more than 64 used a lock at once, or "
                                "more than 256 altogether.\n");
}

static void put_function_cell(struct text_table *table,
                              const struct extract_lock_function_stats *function)
{
    if (function->name) {
        text_table_put_string(table, function->name);
    } else if (function->is_known) {
        extract_text_printf(&table->cells, "0x%llx", (unsigned long long)function->address);
        text_table_end_cell(table);
    } else {
        text_table_put_string(table, "(unknown)");
    }
}

// Returns whether an event states from which function a lock was used.
static bool shows_functions(const struct extract_stats *stats)
{
    for (size_t i = 0; i < stats->lock_count; i++)
        for (size_t k = 0; k < stats->locks[i].function_count; k++)
            if (stats->locks[i].functions[k].is_known)
                return true;
    return false;
}

// Writes what each function did with each lock.
static void put_lock_functions(struct extract_text *text, const struct extract_stats *stats,
                               const struct extract_report_options *options)
{
    static const char *const headings[] = {"lock",  "function", "acquired", "misses", "busy",
                                           "waits", "held",     "average",  "min",    "longest",
                                           "ran",   "spun",     "waited"};
    struct text_table table;
    bool has_more = false;

    text_table_open(&table, sizeof headings / sizeof *headings, ~3u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->lock_count && !table.cells.code; i++) {
        const struct extract_lock_stats *lock = &stats->locks[i];
        has_more |= lock->has_more_functions;
        for (size_t k = 0; k < lock->function_count; k++) {
            const struct extract_lock_function_stats *function = &lock->functions[k];
            uint64_t holds = function->holds;
            put_lock_cell(&table, lock);
            put_function_cell(&table, function);
            text_table_put_number(&table, function->acquisitions);
            text_table_put_number(&table, function->misses);
            text_table_put_number(&table, function->busy);
            text_table_put_number(&table, function->waits);
            text_table_put_optional(&table, holds, function->held_ticks);
            text_table_put_optional(&table, holds, holds ? function->held_ticks / holds : 0);
            text_table_put_optional(&table, holds, function->held_min);
            text_table_put_optional(&table, holds, function->held_max);
            text_table_put_optional(&table, holds, function->running_ticks);
            text_table_put_number(&table, function->spun_ticks);
            text_table_put_number(&table, function->waited_ticks);
        }
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
    if (has_more)
        extract_text_puts(text, "Some functions are missing: more than 256 used a lock.\n");
}

void stats_put_modes(struct extract_text *text, const struct extract_stats *stats,
                     const struct extract_report_options *options)
{
    put_modes(text, stats, options);
    put_processes(text, stats, options);
    put_threads(text, stats, options);
    put_dispatches(text, stats, options);
    put_syscalls(text, stats, options);
    if (!stats->lock_count)
        return;
    put_locks(text, stats, options);
    put_lock_times(text, stats, options);
    if (shows_functions(stats))
        put_lock_functions(text, stats, options);
}

// ---- JSON ----

void stats_put_mode_ticks_json(struct kv_writer *kv, const uint64_t ticks[EXTRACT_MODES])
{
    static const char *const keys[EXTRACT_MODES] = {
        "application ticks",  "syscall ticks",  "kernel ticks", "first level ticks",
        "second level ticks", "dispatch ticks", "idle ticks",   "unknown ticks"};

    kv_put_key(kv, "modes");
    struct kv_writer object = kv_open_object(kv->text);
    for (unsigned i = 0; i < EXTRACT_MODES; i++)
        kv_put_number(&object, keys[i], ticks[i]);
    kv_close_object(&object);
}

void stats_put_dispatches_json(struct kv_writer *kv, const struct extract_dispatches *dispatches)
{
    kv_put_number(kv, "dispatches", dispatches->count);
    kv_put_number(kv, "dispatches again", dispatches->again);
    kv_put_number(kv, "dispatches same core", dispatches->same_core);
}

void stats_put_switches_json(struct kv_writer *kv, const struct extract_stats *stats,
                             const uint64_t switches[EXTRACT_SWITCHES])
{
    bool is_known = stats->has_switch_kinds;

    kv_put_optional(kv, "voluntary switches", is_known, voluntary(switches));
    kv_put_optional(kv, "involuntary switches", is_known, involuntary(switches));
    kv_put_number(kv, "unknown switches", switches[EXTRACT_SWITCH_UNKNOWN]);
}

// Starts the next object of an array.
static struct kv_writer next_object(struct extract_text *text, size_t i)
{
    extract_text_puts(text, i ? "," : "");
    return kv_open_object(text);
}

static void put_processes_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    kv_put_key(kv, "processes");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < stats->process_count && !kv->text->code; i++) {
        const struct extract_process_stats *process = &stats->processes[i];
        struct kv_writer object = next_object(kv->text, i);
        kv_put_optional(&object, "process", process->is_known, process->process);
        if (process->name)
            kv_put_string(&object, "name", process->name);
        else
            kv_put_unknown(&object, "name");
        kv_put_number(&object, "threads", process->thread_count);
        kv_put_number(&object, "syscalls", process->syscalls);
        stats_put_switches_json(&object, stats, process->switches);
        stats_put_mode_ticks_json(&object, process->mode_ticks);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

static void put_syscalls_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    kv_put_key(kv, "syscalls");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < stats->syscall_count && !kv->text->code; i++) {
        const struct extract_syscall_stats *call = &stats->syscalls[i];
        struct kv_writer object = next_object(kv->text, i);
        kv_put_optional(&object, "number", call->number_known, call->number);
        kv_put_number(&object, "count", call->count);
        kv_put_number(&object, "unfinished", call->unfinished);
        kv_put_optional(&object, "errors", call->errors_known, call->errors);
        stats_put_distribution_json(&object, "running", &call->running);
        stats_put_distribution_json(&object, "elapsed", &call->elapsed);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

static void put_users_json(struct kv_writer *kv, const struct extract_lock_stats *lock)
{
    kv_put_key(kv, "users");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < lock->user_count && !kv->text->code; i++) {
        const struct extract_lock_user_stats *user = &lock->users[i];
        struct kv_writer object = next_object(kv->text, i);
        kv_put_optional(&object, "thread", !user->is_interrupts, user->address);
        kv_put_optional(&object, "interrupts of core", user->is_interrupts, user->address);
        kv_put_number(&object, "acquisitions", user->acquisitions);
        kv_put_number(&object, "misses", user->misses);
        kv_put_number(&object, "busy", user->busy);
        kv_put_number(&object, "waits", user->waits);
        kv_put_number(&object, "held ticks", user->held_ticks);
        kv_put_number(&object, "running ticks", user->running_ticks);
        kv_put_number(&object, "spun ticks", user->spun_ticks);
        kv_put_number(&object, "waited ticks", user->waited_ticks);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

static void put_functions_json(struct kv_writer *kv, const struct extract_lock_stats *lock)
{
    kv_put_key(kv, "functions");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < lock->function_count && !kv->text->code; i++) {
        const struct extract_lock_function_stats *function = &lock->functions[i];
        struct kv_writer object = next_object(kv->text, i);
        if (function->name)
            kv_put_string(&object, "name", function->name);
        else
            kv_put_unknown(&object, "name");
        kv_put_optional(&object, "address", function->is_known, function->address);
        kv_put_number(&object, "acquisitions", function->acquisitions);
        kv_put_number(&object, "misses", function->misses);
        kv_put_number(&object, "busy", function->busy);
        kv_put_number(&object, "waits", function->waits);
        kv_put_key(&object, "held");
        struct kv_writer held = kv_open_object(kv->text);
        kv_put_number(&held, "count", function->holds);
        kv_put_optional(&held, "min", function->holds, function->held_min);
        kv_put_optional(&held, "mean", function->holds,
                        function->holds ? function->held_ticks / function->holds : 0);
        kv_put_optional(&held, "max", function->holds, function->held_max);
        kv_put_optional(&held, "sum", function->holds, function->held_ticks);
        kv_close_object(&held);
        kv_put_number(&object, "running ticks", function->running_ticks);
        kv_put_number(&object, "spun ticks", function->spun_ticks);
        kv_put_number(&object, "waited ticks", function->waited_ticks);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

static void put_locks_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    kv_put_key(kv, "locks");
    extract_text_putc(kv->text, '[');
    for (size_t i = 0; i < stats->lock_count && !kv->text->code; i++) {
        const struct extract_lock_stats *lock = &stats->locks[i];
        struct kv_writer object = next_object(kv->text, i);
        kv_put_number(&object, "lock", lock->address);
        kv_put_number(&object, "acquisitions", lock->acquisitions);
        kv_put_number(&object, "misses", lock->misses);
        kv_put_number(&object, "busy", lock->busy);
        kv_put_key(&object, "miss rate percent");
        text_put_percent(kv->text, failures_of(lock), failures_of(lock) + lock->acquisitions);
        kv_put_number(&object, "waits", lock->waits);
        kv_put_number(&object, "most spinning", lock->most_spinning);
        kv_put_number(&object, "most waiting", lock->most_waiting);
        kv_put_number(&object, "most holds", lock->most_holds);
        kv_put_number(&object, "still held", lock->still_held);
        stats_put_distribution_json(&object, "held", &lock->held);
        kv_put_number(&object, "running ticks", lock->running_ticks);
        stats_put_distribution_json(&object, "spun", &lock->spun);
        stats_put_distribution_json(&object, "waited", &lock->waited);
        put_users_json(&object, lock);
        kv_put_bool(&object, "all measured", !lock->has_more_users);
        put_functions_json(&object, lock);
        kv_put_bool(&object, "all functions listed", !lock->has_more_functions);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

void stats_put_modes_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    stats_put_mode_ticks_json(kv, stats->mode_ticks);
    stats_put_dispatches_json(kv, &stats->dispatches);
    put_processes_json(kv, stats);
    put_syscalls_json(kv, stats);
    put_locks_json(kv, stats);
}
