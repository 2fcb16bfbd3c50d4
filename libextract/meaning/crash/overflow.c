// SPDX-License-Identifier: MIT
// crash: whether a signal of Linux came from a stack that is full.
//
// Linux lets the first stack of a program grow down to its limit, and maps those of other threads
// as a whole, above a guard. An access below either is SIGSEGV, with its address. It is one to the
// stack if it is at the stack pointer, and the memory of the frames begins above it.
//
//     lower addresses                                                       higher addresses
//     ... guard or gap  | address of the access, sp |  mapping: frames of the callers ...
//
// Source: signal(7), getrlimit(2), pthread_attr_setguardsize(3); the stack guard gap in the
// documentation of Linux's parameters.
#include "crash/crash_room.h"
#include "memory/memory_hooks.h"
#include <signal.h>
#include <string.h>

enum {
    LEAST_BELOW = 512,    // an access below sp: of a call, a push, or the red zone
    FRAME_MOST = 1 << 16, // an access above sp: of a local variable
    PAGE = 4096,
    GAP_MOST = 1 << 20,   // guard below a stack
    FRAME_LARGE = 1 << 26 // a frame that goes beyond the guard at once
};

static bool is_in(struct extract_region region, uint64_t address)
{
    return address >= region.address && address - region.address < region.length;
}

// Finds the end of the stack whose memory begins above sp and an access. Returns false if other
// memory is there, or if there is none above them.
//
// A core has the guard only if GDB wrote it. Where GDB has read below a stack that grows, Linux has
// let it grow for GDB, beyond its limit, after the access had failed.
static bool find_stack(const struct extract_memory *memory, uint64_t sp, uint64_t access,
                       uint64_t *end)
{
    struct extract_region region, in = {.length = 0}, above = {.length = 0};
    uint64_t low = sp < access ? sp : access;

    for (size_t i = 0; extract_memory_region(memory, i, &region); i++) {
        if (is_in(region, low))
            in = region;
        else if (region.address > low && (!above.length || region.address < above.address))
            above = region;
    }
    *end = above.address;
    if (!in.length || (in.length <= GAP_MOST && in.address + in.length == above.address))
        return above.length && access < *end;
    *end = (access | (PAGE - 1)) + 1;
    return low - in.address < PAGE && is_in(in, access);
}

// Returns how many of the frames are those of the function that was running.
static size_t count_recursion(const struct extract_crash *crash)
{
    size_t count = 0;

    for (size_t i = 0; i < crash->frame_count; i++)
        count += crash->frames[0].function && crash->frames[i].function &&
                 strcmp(crash->frames[i].function, crash->frames[0].function) == 0;
    return count;
}

void crash_read_overflow(struct crash_build *build)
{
    const struct extract_crash *crash = build->crash;
    const struct extract_registers *registers = &crash->registers;
    uint64_t number, address, sp, end;

    if (!register_get(registers, FAULT_SIGNAL, &number) || number != SIGSEGV ||
        !register_get(registers, FAULT_SIGNAL_ADDRESS, &address) ||
        !register_get(registers, build->machine->sp, &sp) || address + LEAST_BELOW < sp ||
        (address >= sp && address - sp >= FRAME_MOST) ||
        !find_stack(build->remains->memory, sp, address, &end))
        return;
    // The frames of the callers were read, so that the stack pointer is one.
    uint64_t below = end - address;
    if (crash->frame_count < 2 || below > FRAME_LARGE)
        return;
    bool is_sure =
        below <= GAP_MOST && crash->frames[1].function && !crash->frames[1].is_impossible;
    size_t recursion = count_recursion(crash);
    build->is_stack_access = true;
    crash_find(build, "stack overflow", "registers",
               is_sure ? EXTRACT_CRASH_CERTAIN : EXTRACT_CRASH_LIKELY,
               "the access at 0x%llx, where sp is 0x%llx, is %llu bytes below the stack, which "
               "ends at 0x%llx%s%s",
               (unsigned long long)address, (unsigned long long)sp, (unsigned long long)below,
               (unsigned long long)end, recursion > 2 ? "; it is full of frames of " : "",
               recursion > 2 ? crash->frames[0].function : "");
}
