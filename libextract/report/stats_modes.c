// SPDX-License-Identifier: MIT
// report: what role files of hook words add to the statistics: the time in each mode, processes,
// system calls and locks. Each is a table, or a member of the JSON object.
#include "report/internal.h"
#include "report/text_table.h"
#include <stdio.h>

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

// Appends the cells of a process or thread.
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

static void put_processes(struct extract_text *text, const struct extract_stats *stats,
                          const struct extract_report_options *options)
{
    static const char *const headings[] = {"process",     "threads",      "ticks",  "percent",
                                           "application", "system calls", "kernel", "dispatch",
                                           "unknown",     "calls"};
    struct text_table table;
    uint64_t all = sum_of(stats->mode_ticks);

    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->process_count && !table.cells.code; i++) {
        const struct extract_process_stats *process = &stats->processes[i];
        put_process_cell(&table, process->is_known, process->process);
        text_table_put_number(&table, process->thread_count);
        put_mode_cells(&table, process->mode_ticks, all, process->syscalls);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
}

static void put_threads(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options)
{
    static const char *const headings[] = {"thread",      "process",      "ticks",  "percent",
                                           "application", "system calls", "kernel", "dispatch",
                                           "unknown",     "calls"};
    struct text_table table;
    uint64_t all = sum_of(stats->mode_ticks);

    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->thread_count && !table.cells.code; i++) {
        const struct extract_thread_stats *thread = &stats->threads[i];
        text_table_put_string(&table, thread->thread->shown);
        put_process_cell(&table, thread->process_known, thread->process);
        put_mode_cells(&table, thread->mode_ticks, all, thread->syscalls);
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

static void put_locks(struct extract_text *text, const struct extract_stats *stats,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"lock",      "acquired", "misses",  "busy",
                                           "miss rate", "waits",    "held",    "average",
                                           "longest",   "waited",   "average", "longest"};
    struct text_table table;
    bool has_more = false;

    if (!stats->lock_count)
        return;
    text_table_open(&table, sizeof headings / sizeof *headings, ~1u);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->lock_count && !table.cells.code; i++) {
        const struct extract_lock_stats *lock = &stats->locks[i];
        uint64_t failures = failures_of(lock);
        has_more |= lock->has_more_users;
        if (lock->object)
            text_table_put_string(&table, lock->object->shown);
        else {
            extract_text_printf(&table.cells, "0x%llx", (unsigned long long)lock->address);
            text_table_end_cell(&table);
        }
        text_table_put_number(&table, lock->acquisitions);
        text_table_put_number(&table, lock->misses);
        text_table_put_number(&table, lock->busy);
        put_percent_cell(&table, failures, failures + lock->acquisitions);
        text_table_put_number(&table, lock->waits);
        text_table_put_optional(&table, lock->held.count, lock->held.sum);
        put_average_cell(&table, &lock->held);
        text_table_put_optional(&table, lock->held.count, lock->held.max);
        text_table_put_optional(&table, lock->waited.count, lock->waited.sum);
        put_average_cell(&table, &lock->waited);
        text_table_put_optional(&table, lock->waited.count, lock->waited.max);
    }
    extract_text_putc(text, '\n');
    text_table_print(&table, text, options);
    if (has_more)
        extract_text_puts(text, "The times of some threads were not measured: more than 64 used a "
                                "lock at once.\n");
}

void stats_put_modes(struct extract_text *text, const struct extract_stats *stats,
                     const struct extract_report_options *options)
{
    put_modes(text, stats, options);
    put_processes(text, stats, options);
    put_threads(text, stats, options);
    put_syscalls(text, stats, options);
    put_locks(text, stats, options);
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
        kv_put_number(&object, "threads", process->thread_count);
        kv_put_number(&object, "syscalls", process->syscalls);
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
        kv_put_number(&object, "still held", lock->still_held);
        stats_put_distribution_json(&object, "held", &lock->held);
        stats_put_distribution_json(&object, "waited", &lock->waited);
        kv_put_bool(&object, "all measured", !lock->has_more_users);
        kv_close_object(&object);
    }
    extract_text_putc(kv->text, ']');
}

void stats_put_modes_json(struct kv_writer *kv, const struct extract_stats *stats)
{
    stats_put_mode_ticks_json(kv, stats->mode_ticks);
    put_processes_json(kv, stats);
    put_syscalls_json(kv, stats);
    put_locks_json(kv, stats);
}
