// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: what the recorder asks of the kernel and its port. In: nothing. Out: a
// critical section, the clock, and who runs where. To record below another kernel, write another
// one of these.
#ifndef BOUT_HOOK_PORT_H
#define BOUT_HOOK_PORT_H

#include "kernel.h"

#define HOOK_CPUS       1U
#define HOOK_CLOCK_BITS (8 * (unsigned)sizeof(ULONG))
#define HOOK_CLOCK_HZ   BOUT_PORT_STAMP_HZ
// An image may take its stamps through a function of its own.
#ifdef HOOK_STAMP_FUNCTION
ULONG HOOK_STAMP_FUNCTION(void);
#else
#define HOOK_STAMP_FUNCTION bout_port_stamp
#endif

static inline ULONG hook_port_lock(void)
{
    return bout_port_lock();
}

// Nothing becomes ready by being recorded, so there is no switch to look for.
static inline void hook_port_unlock(ULONG lock)
{
    bout_port_unlock(lock);
}

// Every reader of the memory sees what was stored before this before what is stored after it.
static inline void hook_port_barrier(void)
{
    __atomic_thread_fence(__ATOMIC_RELEASE);
}

static inline ULONG hook_port_stamp(void)
{
    return HOOK_STAMP_FUNCTION();
}

// The thread that runs or that was interrupted; 0: none.
static inline ULONG hook_port_thread(void)
{
    return (ULONG)_tx_thread_current_ptr;
}

static inline uint32_t hook_port_cpu(void)
{
    return 0;
}

static inline bool hook_port_starting(void)
{
    return bout_system_state >= BOUT_INITIALIZING;
}

static inline bool hook_port_in_interrupt(void)
{
    return bout_system_state != 0 && !hook_port_starting();
}

#endif
