// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: the kernel's hooks (bout_trace.h). In: nothing. Out: nothing: what is
// recorded here is the framework of active objects (framework.h), not the kernel below it.
#ifndef RKH_HOOKS_H
#define RKH_HOOKS_H

typedef struct {
    char nothing;
} bout_trace_mark;
#define BOUT_TRACE_NO_MARK ((bout_trace_mark){0})

#endif
