// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a role file of hook words. After a NUL, the bytes may be the ring to
// which it is applied.
//
// Nothing may crash, leak or hang. In addition, an error names a line of the text. The modes of a
// core add up to its time, and those of all cores and of each thread to theirs. So do the users and
// functions of a lock, the switches of threads, the dispatches of the cores, and the segments by
// which a thread is explained. The owners of a lock follow each other.
#define _GNU_SOURCE // memfd_create
#include "formats/hook/roles.h"
#include "tests/fuzz/ring_bytes.h"
#include <extract/stats.h>
#include <extract/why.h>
#include <stdio.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static uint64_t sum_of(const uint64_t ticks[EXTRACT_MODES])
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < EXTRACT_MODES; i++)
        sum += ticks[i];
    return sum;
}

static void check_modes(const struct extract_stats *stats)
{
    uint64_t all = 0, unfinished = 0, begun = 0;

    for (size_t i = 0; i < stats->core_count; i++) {
        check(sum_of(stats->cores[i].mode_ticks) == stats->cores[i].span_ticks);
        all += stats->cores[i].span_ticks;
    }
    check(sum_of(stats->mode_ticks) == all);
    for (size_t i = 0; i < stats->thread_count; i++) {
        check(sum_of(stats->threads[i].mode_ticks) == stats->threads[i].ticks);
        begun += stats->threads[i].syscalls;
    }
    for (size_t i = 0; i < stats->syscall_count; i++) {
        const struct extract_syscall_stats *call = &stats->syscalls[i];
        check(call->running.count == call->elapsed.count);
        check(call->elapsed.count + call->unfinished <= call->count); // some end before they begin
        unfinished += call->unfinished;
        begun -= call->count;
    }
    check(!begun);
    for (size_t i = 0; i < stats->lock_count; i++)
        check(stats->locks[i].held.count + stats->locks[i].still_held <=
              stats->locks[i].acquisitions);
    check(unfinished <= stats->events);
}

static void check_functions(const struct extract_lock_stats *lock)
{
    uint64_t got = 0, missed = 0, held = 0, holds = 0, ran = 0, spun = 0, waited = 0;

    for (size_t i = 0; i < lock->function_count; i++) {
        const struct extract_lock_function_stats *function = &lock->functions[i];
        check(function->held_min <= function->held_max);
        ran += function->running_ticks;
        got += function->acquisitions;
        missed += function->misses + function->busy;
        holds += function->holds;
        held += function->held_ticks;
        spun += function->spun_ticks;
        waited += function->waited_ticks;
    }
    check(got <= lock->acquisitions && holds <= lock->held.count);
    if (lock->has_more_functions)
        return;
    check(got == lock->acquisitions && missed == lock->misses + lock->busy);
    check(holds == lock->held.count && held == lock->held.sum && ran == lock->running_ticks);
    check(spun == lock->spun.sum && waited == lock->waited.sum);
}

static void check_locks(const struct extract_stats *stats)
{
    for (size_t i = 0; i < stats->lock_count; i++) {
        const struct extract_lock_stats *lock = &stats->locks[i];
        uint64_t got = 0, held = 0, ran = 0, spun = 0, waited = 0;
        check_functions(lock);
        for (size_t k = 0; k < lock->user_count; k++) {
            got += lock->users[k].acquisitions;
            held += lock->users[k].held_ticks;
            ran += lock->users[k].running_ticks;
            spun += lock->users[k].spun_ticks;
            waited += lock->users[k].waited_ticks;
        }
        check(got <= lock->acquisitions);
        if (lock->has_more_users)
            continue;
        check(held == lock->held.sum && ran == lock->running_ticks);
        check(spun == lock->spun.sum && waited == lock->waited.sum);
    }
}

// Switches of threads are those of the system, apart from those of threads without statistics.
static void check_switches(const struct extract_stats *stats)
{
    for (unsigned i = 0; i < EXTRACT_SWITCHES; i++) {
        uint64_t of_threads = 0, of_processes = 0;
        for (size_t k = 0; k < stats->thread_count; k++)
            of_threads += stats->threads[k].switches[i];
        for (size_t k = 0; k < stats->process_count; k++)
            of_processes += stats->processes[k].switches[i];
        check(of_threads == of_processes && of_threads <= stats->switches[i]);
    }
}

static void check_dispatches(const struct extract_stats *stats)
{
    uint64_t all = 0;

    for (size_t k = 0; k < stats->thread_count; k++) {
        const struct extract_dispatches *thread = &stats->threads[k].dispatches;
        uint64_t sum = 0;
        for (size_t i = 0; i < stats->core_count; i++)
            sum += stats->cores[i].thread_dispatches[k];
        check(sum == thread->count);
        check(thread->same_core <= thread->again && thread->again <= thread->count);
        all += sum;
    }
    check(all == stats->dispatches.count);
}

struct last_owner {
    uint64_t mutex, to;
};

// Owners of the same lock come in order of time.
static void add_owner(void *context, const struct extract_ownership *owner)
{
    struct last_owner *last = context;

    check(owner->from < owner->to && !owner->thread == owner->in_isr);
    check(owner->mutex != last->mutex || owner->from >= last->to);
    *last = (struct last_owner){owner->mutex, owner->to};
}

static void check_why(const struct extract_trace *trace)
{
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    char name[24];
    struct extract_why_options options = {.size = sizeof options, .thread = name, .from = "0"};
    struct extract_why *why;
    struct last_owner last = {0, 0};
    const struct extract_schedule_sink sink = {.context = &last, .owner = add_owner};

    (void)extract_schedule_run(NULL, trace, &sink, NULL);
    for (size_t i = 0; i < count && i < 4; i++) {
        snprintf(name, sizeof name, "0x%llx", (unsigned long long)objects[i].address);
        if (extract_why_new(&why, trace, &options, NULL))
            continue;
        uint64_t at = why->chains[0].from;
        for (size_t k = 0; k < why->segment_count; k++) {
            if (why->segments[k].depth)
                continue;
            check(why->segments[k].from == at && why->segments[k].to > at);
            at = why->segments[k].to;
        }
        check(at == why->chains[0].to);
        extract_why_free(why);
    }
}

static void apply(const struct extract_hook_roles *roles, const uint8_t *data, size_t size)
{
    struct extract_memory *memory = stopped_target(data, size);
    struct extract_session_options options = {.size = sizeof options,
                                              .format = "hook",
                                              .ring_known = true,
                                              .ring = ADDRESS,
                                              .hook_roles = roles};
    struct extract_session *session;
    struct extract_stats *stats;

    if (!extract_session_open(&session, memory, NULL, &options, NULL)) {
        check(!extract_stats_new(&stats, NULL, extract_session_trace(session), NULL));
        if (stats->has_modes) {
            check_modes(stats);
            check_locks(stats);
            check_dispatches(stats);
            check_switches(stats);
        }
        check_why(extract_session_trace(session));
        extract_stats_free(stats);
        extract_session_close(session);
    }
    extract_memory_close(memory);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = strnlen((const char *)data, size);
    struct extract_hook_roles *roles;
    struct extract_error error = {0};
    unsigned line = 0;

    check(!extract_hook_roles_open(&roles, NULL, 0, NULL));
    enum extract_code code = hook_roles_add(roles, 0, "fuzz", (const char *)data, length, &error);
    check(!code || (code == EXTRACT_BAD && error.why[0] && error.hint[0]));
    check(!code || (sscanf(error.what, "fuzz:%u", &line) == 1 && line >= 1));
    hook_roles_complete(roles);
    if (!code && size > length + 1)
        apply(roles, data + length + 1, size - length - 1);
    extract_hook_roles_close(roles);
    return 0;
}
