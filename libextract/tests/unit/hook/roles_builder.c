// SPDX-License-Identifier: MIT
// tests: streams of hook words with role files. roles_builder.h describes them.
#include "tests/unit/hook/roles_builder.h"
#include <stdlib.h>

static struct extract_error error;

struct extract_hook_roles *roles_open_text(const char *text)
{
    struct extract_hook_roles *roles = calloc(1, sizeof *roles);
    assert_non_null(roles);
    assert_int_equal(hook_roles_add(roles, 0, "test.roles", text, strlen(text), &error),
                     EXTRACT_OK);
    hook_roles_complete(roles);
    return roles;
}

void hooks_put_words(struct hooks *hooks, uint64_t stamp, uint64_t tid, uint32_t hook,
                     unsigned words, uint64_t d1, uint64_t d2, uint64_t d3)
{
    struct hooks_record record = {.frame = STAMPED,
                                  .hook = hook | (words ? 0xE0000 : 0x90000),
                                  .words = words,
                                  .data = {d1, d2, d3},
                                  .tid = tid,
                                  .stamp = stamp};
    hooks_put(hooks, &record);
}

void roles_look(struct look *look, const struct hooks *hooks,
                const struct extract_hook_roles *roles)
{
    struct extract_ring_options at = {.size = sizeof at, .hook_roles = roles};
    memset(look, 0, sizeof *look);
    look->memory = hooks_memory(hooks);
    at.address_known = true;
    at.address = hooks->address;
    assert_int_equal(extract_ring_find(&look->ring, look->memory, NULL, &at, &error), EXTRACT_OK);
    assert_int_equal(extract_snapshot_take(&look->snapshot, look->memory, &look->ring, &error),
                     EXTRACT_OK);
    assert_int_equal(extract_trace_open(&look->trace, &look->snapshot, NULL, &error), EXTRACT_OK);
}

const char roles_layout[] = "100 interrupt-entry level=first number=D1\n"
                            "101 syscall-entry number=D1\n"
                            "102 interrupt-entry level=second number=D1\n"
                            "103 interrupt-exit\n"
                            "104 syscall-exit number=D1 error=D2\n"
                            "106 idle when D1 == 0\n"
                            "106 dispatch thread=D1 process=D2 kernel=D3\n"
                            "112 lock-miss lock=D1 when HD == 1\n"
                            "112 lock-busy lock=D1 when HD == 2\n"
                            "112 lock-wait lock=D1 when HD == 3\n"
                            "112 lock-get lock=D1\n"
                            "113 lock-release lock=D1\n"
                            "134 thread name=@4\n"
                            "135 exit\n"
                            "200 resume\n";

void roles_build_stream(struct hooks *hooks)
{
    hooks_build(hooks, true, 4096, 0);
    hooks_put_words(hooks, 1000, A, 0x10600000, 3, A, 7, 0);
    hooks_put_words(hooks, 1010, A, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1050, A, 0x10100000, 1, 5, 0, 0);
    hooks_put_words(hooks, 1090, A, 0x10400000, 2, 5, 0, 0);
    hooks_put_words(hooks, 1100, A, 0x10000000, 1, 3, 0, 0);
    hooks_put_words(hooks, 1120, A, 0x10200000, 1, 8, 0, 0);
    hooks_put_words(hooks, 1150, A, 0x10300000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1160, A, 0x10600000, 3, B, 9, 0);
    hooks_put_words(hooks, 1170, B, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1200, B, 0x10100000, 1, 6, 0, 0);
    hooks_put_words(hooks, 1220, B, 0x10600000, 3, 0, 0, 0);
    hooks_put_words(hooks, 1300, WAIT, 0x10000000, 1, 3, 0, 0);
    hooks_put_words(hooks, 1310, WAIT, 0x10600000, 3, B, 9, 0);
    hooks_put_words(hooks, 1325, B, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1345, B, 0x10400000, 2, 6, 2, 0);
    hooks_put_words(hooks, 1365, B, 0x10600000, 3, C, 2, 1);
    hooks_put_words(hooks, 1370, C, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1400, C, 0x10600000, 3, A, 7, 0);
    hooks_put_words(hooks, 1405, A, 0x20000000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1425, A, 0x10100000, 1, 5, 0, 0);
    hooks_put_words(hooks, 1445, A, 0x13500000, 0, 0, 0, 0);
    hooks_put_words(hooks, 1455, A, 0x10600000, 3, 0, 0, 0);
    hooks_put_words(hooks, 1500, WAIT, 0x20000000, 0, 0, 0, 0);
}

const struct extract_thread_stats *roles_thread_of(const struct extract_stats *stats,
                                                   uint64_t address)
{
    for (size_t i = 0; i < stats->thread_count; i++)
        if (stats->threads[i].thread->address == address)
            return &stats->threads[i];
    fail();
    return NULL;
}
