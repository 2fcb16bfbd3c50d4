// SPDX-License-Identifier: MIT
// crash: the fault status of non-secure code, which each security state of Armv8-M has for itself.
// A fault of non-secure code may end in a secure handler. Its status is at an alias then, which
// only secure code and debuggers see. Called by faults.c, which reads the status of the core's own
// state.
//
// Source: Arm v8-M Architecture Reference Manual, D1.2 (CFSR, EXC_RETURN).
#include "base/cursor.h"
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"

void crash_add_nonsecure_status(struct crash_build *build)
{
    enum { WORDS = 4, MMFAR_VALID = 7 }; // CFSR, HFSR, DFSR, MMFAR
    const uint64_t nonsecure_at = 0xE002ED28;
    struct extract_registers *registers = &build->crash->registers;
    uint8_t bytes[WORDS * 4];
    uint64_t cfsr = 0, lr;
    size_t got;

    if (!register_get(registers, ARM_LR, &lr) || !kernel_is_from_nonsecure(lr) ||
        extract_memory_read(build->remains->memory, nonsecure_at, bytes, sizeof bytes, &got, NULL))
        return;
    struct extract_cursor c = extract_cursor_make(bytes, got, EXTRACT_LITTLE);
    const uint32_t status = extract_cursor_u32(&c);
    extract_cursor_seek(&c, (WORDS - 1) * 4);
    const uint32_t address = extract_cursor_u32(&c);
    (void)register_get(registers, FAULT_CFSR, &cfsr);
    if (status >> MMFAR_VALID & 1 && !(cfsr >> MMFAR_VALID & 1))
        register_set(registers, FAULT_MMFAR, address);
    register_set(registers, FAULT_CFSR, cfsr | status);
}
