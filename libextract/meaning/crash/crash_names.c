// SPDX-License-Identifier: MIT
// crash: names that may be those of others. A control block has a pointer to its name; if the
// pointer is damaged, another text is at that place. What such a name is part of is likely only.
#include "crash/crash_room.h"
#include <extract/text.h>
#include <stdio.h>
#include <string.h>

// A thread or an object of the kernel.
struct named {
    uint64_t address;
    const char *name;
    bool is_likely;
};

// Returns whether names differ. The registry of a trace cuts off those that are longer than its
// names, and a control block's is cut off here.
static bool differ(const struct extract_trace *trace, const char *name, const char *traced)
{
    uint32_t bytes = extract_trace_snapshot(trace)->ring.name_bytes;
    size_t most = bytes && bytes < EXTRACT_KERNEL_NAME ? bytes - 1 : EXTRACT_KERNEL_NAME - 1;
    size_t length = strlen(name), traced_length = strlen(traced);
    size_t common = length < traced_length ? length : traced_length;

    return strncmp(name, traced, common) != 0 || (length != traced_length && common < most);
}

// Adds a finding if the trace has another name.
static bool is_other_name(struct crash_build *build, const struct named *named)
{
    const struct extract_object *traced =
        build->trace ? extract_trace_object(build->trace, named->address) : NULL;

    if (!traced || !traced->registered || !traced->in_use || traced->from_memory ||
        !*traced->name || !differ(build->trace, named->name, traced->name))
        return false;
    crash_find(build, "name", "trace", EXTRACT_CRASH_LIKELY,
               "the control block at 0x%08llx has the name \"%s\", and the trace \"%s\"",
               (unsigned long long)named->address, named->name, traced->name);
    return true;
}

static void check(struct crash_build *build, const struct named *named)
{
    struct extract_crash *crash = build->crash;
    char quoted[EXTRACT_KERNEL_NAME + 2];

    if (!*named->name)
        return;
    bool is_other = is_other_name(build, named);
    if (!is_other && !named->is_likely)
        return;
    snprintf(quoted, sizeof quoted, "\"%s\"", named->name);
    if (crash->thread && crash->thread->address == named->address)
        crash_limit(&crash->thread_certainty, EXTRACT_CRASH_LIKELY);
    if (strstr(crash->text, quoted))
        crash_limit(&crash->certainty, EXTRACT_CRASH_LIKELY);
    for (size_t i = 0; i < crash->finding_count; i++)
        if (strstr(crash->findings[i].text, quoted))
            crash_limit(&crash->findings[i].certainty, EXTRACT_CRASH_LIKELY);
}

void crash_check_names(struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    for (size_t i = 0; kernel && i < kernel->thread_count; i++) {
        const struct extract_kernel_thread *thread = &kernel->threads[i];
        check(build, &(struct named){thread->address, thread->name, thread->name_is_likely});
    }
    for (size_t i = 0; kernel && i < kernel->object_count; i++) {
        const struct extract_kernel_object *object = &kernel->objects[i];
        check(build, &(struct named){object->address, object->name, object->name_is_likely});
    }
}
