// SPDX-License-Identifier: MIT
// crash: programs that have stopped themselves: in a function for failed assertions, at a
// breakpoint instruction, in an endless loop with interrupts locked, or in FreeRTOS's hook for a
// stack that has overflowed. Called by faults.c, which reads the registers before.
//
// Sources: Arm v7-M Architecture Reference Manual, A7.7.12 (B), A7.7.17 (BKPT), B3.2.4 (ICSR), and
// v7-A, A8.8.18; for A-profile, C6.2 (B); RISC-V Unprivileged ISA, 2.5 and 16.4, and Privileged
// Architecture, 3.1.6 (mstatus); ColdFire Family Programmer's Reference Manual, BRA and SR;
// FreeRTOS's documentation, "Stack Usage and Stack Overflow Checking".
#include "base/cursor.h"
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <string.h>

// ---- assertions ----

// Functions in which programs stop after an assertion has failed.
static bool is_assert_function(const char *name)
{
    static const char *const names[] = {"__assert_func", "__assert_fail", "__assert",
                                        "assert_failed", "vAssertCalled", "abort",
                                        "panic",         "k_panic",       "_tx_assert"};

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return strstr(name, "assert_fail") || strstr(name, "assertion_fail");
}

static bool is_passed(const struct crash_build *build, const char *function)
{
    (void)build;
    return is_assert_function(function);
}

// A program that loops in such a function may have been halted in an interrupt.
void crash_read_assertion(struct crash_build *build)
{
    const struct extract_registers *registers =
        build->is_interrupted ? &build->interrupted : &build->crash->registers;
    struct extract_symbols *symbols = build->remains->symbols;
    struct extract_symbol symbol;
    uint64_t pc;

    if (!symbols || !register_get(registers, build->machine->pc, &pc) ||
        !extract_symbols_by_address(symbols, pc, &symbol, NULL, NULL) || !symbol.function ||
        !is_assert_function(symbol.name))
        return;
    crash_find(build, "assert", "registers", EXTRACT_CRASH_CERTAIN, "the program stopped in %s",
               symbol.name);
    crash_set_origin(build, registers,
                     build->is_interrupted && build->remains->psp_is_likely ? EXTRACT_CRASH_LIKELY
                                                                            : EXTRACT_CRASH_CERTAIN,
                     is_passed);
}

// ---- breakpoints ----

// Reads an instruction of the ELF file with 2 or 4 bytes. Returns false if it has none there.
static bool read_code(const struct crash_build *build, uint64_t pc, unsigned bytes, uint32_t *code)
{
    uint8_t buffer[4];

    if (!build->remains->symbols ||
        extract_symbols_read_constant(build->remains->symbols, pc, buffer, bytes) != bytes)
        return false;
    struct extract_cursor c =
        extract_cursor_make(buffer, bytes, extract_symbols_byte_order(build->remains->symbols));
    *code = bytes == 2 ? extract_cursor_u16(&c) : extract_cursor_u32(&c);
    return true;
}

// A breakpoint instruction without a debugger becomes HardFault, of which some cores say only that
// an exception was not enabled.
static void find_breakpoint(struct crash_build *build)
{
    enum { EXCEPTION = 0x1FF, HARD_FAULT = 3, FORCED = 1 << 30, BREAKPOINT = 0xBE00 };
    const struct extract_crash *crash = build->crash;
    uint64_t psr, hfsr, cfsr;
    uint32_t code;

    if (!build->machine->is_m_profile || !register_get(&crash->registers, ARM_PSR, &psr) ||
        (psr & EXCEPTION) != HARD_FAULT || !register_get(&crash->registers, FAULT_HFSR, &hfsr) ||
        !register_get(&crash->registers, FAULT_CFSR, &cfsr) || !(hfsr & FORCED) || cfsr ||
        !crash->place.is_known || !read_code(build, crash->place.pc, 2, &code) ||
        (code & 0xFF00) != BREAKPOINT)
        return;
    crash_find(build, "trap", "registers", crash->place.certainty,
               "a breakpoint instruction was executed without a debugger (HFSR 0x%08llx, CFSR 0)",
               (unsigned long long)hfsr);
}

// ---- endless loops ----

// Returns whether the instruction at an address jumps to itself.
static bool is_endless(const struct crash_build *build, uint64_t pc)
{
    static const struct {
        uint16_t machine;
        uint8_t bytes;
        uint32_t code; // two halves of Thumb: the first one in the low bits
    } jumps[] = {
        {EM_ARM, 2, 0xE7FE},   {EM_ARM, 4, 0xBFFEF7FF}, {EM_ARM, 4, 0xEAFFFFFE},
        {EM_RISCV, 2, 0xA001}, {EM_RISCV, 4, 0x6F},     {EM_AARCH64, 4, 0x14000000},
        {EM_68K, 2, 0x60FE},
    };
    uint32_t code;

    for (size_t i = 0; i < sizeof jumps / sizeof *jumps; i++)
        if (jumps[i].machine == build->machine->elf_machine &&
            read_code(build, pc, jumps[i].bytes, &code) && code == jumps[i].code)
            return true;
    return false;
}

// Returns whether the registers show that no interrupt is taken. On Arm's M-profile, debuggers may
// not have the masks; but SysTick that is pending while no exception is active shows it, too.
static bool are_interrupts_locked(const struct crash_build *build)
{
    enum { EXCEPTION = 0x1FF, SYSTICK_PENDING = 1 << 26, MIE = 8, IRQ_MASK = 0x80, LEVEL = 0x700 };
    const uint64_t icsr = 0xE000ED04;
    const struct register_machine *machine = build->machine;
    const struct extract_registers *registers = &build->crash->registers;
    uint8_t bytes[4];
    uint64_t status;
    size_t got;

    if (machine->is_m_profile) {
        if (!register_get(registers, ARM_PSR, &status) || status & EXCEPTION ||
            extract_memory_read(build->remains->memory, icsr, bytes, sizeof bytes, &got, NULL))
            return false;
        struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_LITTLE);
        return extract_cursor_u32(&c) & SYSTICK_PENDING;
    }
    switch (machine->elf_machine) {
    case EM_RISCV:
        return register_get(registers, FAULT_MSTATUS, &status) && !(status & MIE);
    case EM_ARM:
        return register_get(registers, ARM_PSR, &status) && status & IRQ_MASK;
    case EM_AARCH64:
        return register_get(registers, AARCH64_PSTATE, &status) && status & IRQ_MASK;
    case EM_68K:
        return register_get(registers, M68K_PS, &status) && (status & LEVEL) == LEVEL;
    default:
        return false;
    }
}

static bool has_running_thread(const struct crash_build *build)
{
    const struct extract_kernel *kernel = build->remains->kernel;

    for (size_t i = 0; kernel && i < kernel->thread_count; i++)
        if (kernel->threads[i].has_core)
            return true;
    return false;
}

// Returns whether the core of an M-profile is in the handler of an exception, which does not end
// while it loops. Those of faults say more by themselves.
static bool is_in_handler(const struct crash_build *build)
{
    enum { EXCEPTION = 0x1FF };
    uint64_t psr;

    return build->machine->is_m_profile && register_get(&build->crash->registers, ARM_PSR, &psr) &&
           psr & EXCEPTION;
}

// A check that has failed, such as configASSERT of FreeRTOS, often ends in such a loop. Start-up
// code and boot loaders may wait in one, too.
static void find_endless_loop(struct crash_build *build)
{
    uint64_t pc;

    if (!register_get(&build->crash->registers, build->machine->pc, &pc) || !is_endless(build, pc))
        return;
    if (is_in_handler(build))
        crash_find(build, "assert", "registers", EXTRACT_CRASH_LIKELY,
                   "the handler of an exception is in an endless loop, in which checks such as "
                   "configASSERT end, and handlers of unexpected interrupts");
    else if (are_interrupts_locked(build) && has_running_thread(build))
        crash_find(build, "assert", "registers", EXTRACT_CRASH_LIKELY,
                   "the program is in an endless loop with interrupts locked, in which checks such "
                   "as configASSERT end");
}

// ---- the kernel's own check of stacks ----

// Returns whether the core is in FreeRTOS's hook, or in what that has called.
static bool is_in_hook(const struct extract_crash *crash)
{
    for (size_t i = 0; i < crash->frame_count; i++)
        if (crash->frames[i].function &&
            strcmp(crash->frames[i].function, "vApplicationStackOverflowHook") == 0)
            return true;
    return false;
}

// The kernel checks the stack of the current task before it chooses another one.
static void find_checked_stack(struct crash_build *build)
{
    const struct extract_remains *remains = build->remains;
    const struct extract_kernel_thread *thread;
    uint64_t address;
    char name[24];

    if (!kernel_read_current(remains->memory, remains->symbols, build->crash->core, &address))
        return;
    thread = remains->kernel ? extract_kernel_thread_at(remains->kernel, address) : NULL;
    build->overflow = thread;
    build->is_stack_checked = true;
    crash_find(build, "stack overflow", "registers", EXTRACT_CRASH_CERTAIN,
               "the kernel has found that the stack of \"%s\" has overflowed: it has called "
               "vApplicationStackOverflowHook",
               crash_name(thread ? thread->name : "", address, name));
}

void crash_read_stop(struct crash_build *build)
{
    const struct extract_crash *crash = build->crash;

    find_breakpoint(build);
    if (build->remains->symbols && is_in_hook(crash))
        find_checked_stack(build);
    else if (!crash_has_fault(crash))
        find_endless_loop(build);
}
