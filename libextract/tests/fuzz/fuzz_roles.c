// SPDX-License-Identifier: MIT
// fuzz: bytes that may be a role file of hook words. After a NUL, the bytes may be the ring to
// which it is applied.
//
// Nothing may crash, leak or hang. In addition, an error names a line of the text. The modes of a
// core add up to its time, and those of all cores and of each thread to theirs.
#define _GNU_SOURCE // memfd_create
#include "formats/hook/roles.h"
#include "tests/fuzz/ring_bytes.h"
#include <extract/stats.h>
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
        check(call->elapsed.count + call->unfinished == call->count);
        unfinished += call->unfinished;
        begun -= call->count;
    }
    check(!begun);
    for (size_t i = 0; i < stats->lock_count; i++)
        check(stats->locks[i].held.count + stats->locks[i].still_held <=
              stats->locks[i].acquisitions);
    check(unfinished <= stats->events);
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
        if (stats->has_modes)
            check_modes(stats);
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
