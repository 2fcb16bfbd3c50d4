// SPDX-License-Identifier: MIT
// kernel: whether the control blocks in memory are those of a run before. In: the registers of a
// core of a live target, and memory. A reset does not clear RAM; start-up code does.
//
// No names of functions are asked. The proofs:
//   1. The core is at the first instruction of the program: nothing of this run has been executed.
//   2. On Arm's M-profile, the variables of the kernel say that it schedules threads. Then threads
//      run on psp, and all else in handlers of exceptions. A core that is in no exception, with a
//      stack pointer above all variables and stacks of threads, is on the main stack: main() has
//      not started the kernel yet. An overflow leads downward, and so never there. (It proves
//      nothing if the linker script names the end of another stack above it.)
//   3. On RISC-V, the kernel has counted ticks, each of which is a trap, but the core has had none
//      since its reset: mcause is 0.
#include "kernel/kernel_room.h"
#include "registers/live_registers.h"
#include "symbols/dwarf.h"
#include <elf.h>

enum { ARM_EXCEPTION = 0x1FF, MOST_ABOVE = 1 << 20 }; // bytes of RAM above the main stack

static bool is_at_start(struct extract_symbols *symbols, const struct register_machine *machine,
                        const struct extract_registers *registers)
{
    const uint64_t bits = machine->elf_machine == EM_ARM ? ~UINT64_C(1) : UINT64_MAX;
    uint64_t pc, start;

    return register_get(registers, machine->pc, &pc) && extract_symbols_start(symbols, &start) &&
           (pc & bits) == (start & bits);
}

// Returns whether the kernel has begun to schedule threads, by its own variable.
static bool is_started(struct kernel_reader *reader)
{
    const struct kernel_description *description = kernel_detect(reader->symbols);
    uint64_t value;

    return description && description->started.symbol &&
           kernel_read_variable(reader, description->started.symbol, 0, &value) &&
           value >= description->started.least && value <= description->started.most;
}

bool kernel_is_before_start(struct kernel_reader *reader)
{
    const struct kernel_description *description = kernel_detect(reader->symbols);
    uint64_t value, ticks;

    // Ticks are counted after the start only: with some, the variable is damaged.
    return description && description->started.symbol && description->started.least &&
           kernel_read_variable(reader, description->started.symbol, 0, &value) &&
           value < description->started.least && description->ticks &&
           kernel_read_variable(reader, description->ticks, 0, &ticks) && !ticks;
}

// Returns whether no variable of the program is above an address, nor around it, and the end of at
// most one stack is. A linker script reserves stacks without variables. If it names two ends above
// the address, the lower one is that of another stack than the main one.
static bool is_above_variables(const struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;
    uint64_t end = 0;

    for (size_t i = 0; extract_symbols_at(symbols, i, &symbol); i++) {
        if (symbol.function || symbol.address + symbol.size <= address ||
            symbol.address >= address + MOST_ABOVE)
            continue;
        if (symbol.size || (end && end != symbol.address))
            return false;
        end = symbol.address;
    }
    return true;
}

static bool is_above_stacks(struct extract_memory *memory, struct extract_symbols *symbols,
                            uint64_t address)
{
    struct extract_kernel *kernel;
    bool is_above = true;

    if (extract_kernel_read_states(&kernel, memory, symbols, NULL))
        return false;
    for (size_t i = 0; i < kernel->thread_count; i++)
        is_above &= kernel->threads[i].stack_start < address;
    extract_kernel_free(kernel);
    return is_above;
}

// A cause of 0 also is that of a jump to an odd address, which only cores without compressed
// instructions take for a fault.
static bool has_lost_traps(struct kernel_reader *reader, const struct extract_registers *registers)
{
    const struct kernel_description *description = kernel_detect(reader->symbols);
    uint64_t cause, ticks;

    return reader->machine == EM_RISCV && reader->elf_flags & EF_RISCV_RVC && description &&
           register_get(registers, FAULT_MCAUSE, &cause) && !cause && description->ticks &&
           kernel_read_variable(reader, description->ticks, 0, &ticks) && ticks;
}

bool kernel_is_of_run_before(struct extract_memory *memory, struct extract_symbols *symbols,
                             unsigned core, const struct extract_registers *registers)
{
    struct kernel_reader reader = kernel_reader_make(NULL, memory, symbols);
    const struct register_machine *machine = reader.registers;
    uint64_t sp, psr;

    if (!machine || core) // other cores may wait anywhere for the first one
        return false;
    if (is_at_start(symbols, machine, registers) || has_lost_traps(&reader, registers))
        return true;
    return machine->is_m_profile && register_get(registers, ARM_PSR, &psr) &&
           !(psr & ARM_EXCEPTION) && register_get(registers, machine->sp, &sp) &&
           is_started(&reader) && is_above_variables(symbols, sp) &&
           is_above_stacks(memory, symbols, sp);
}

void extract_kernel_check_start(struct extract_kernel *kernel, struct extract_memory *memory,
                                struct extract_symbols *symbols)
{
    struct kernel_reader reader = kernel_reader_make(kernel, memory, symbols);
    struct extract_registers registers[EXTRACT_CORES];
    size_t count;

    if (!reader.registers || register_live_read(memory, reader.registers, reader.order, registers,
                                                EXTRACT_CORES, &count, NULL))
        return;
    if (!count || !kernel_is_of_run_before(memory, symbols, 0, &registers[0]))
        return;
    kernel->thread_count = kernel->object_count = kernel->problem_count = 0;
    kernel_add_problem(&reader, "the program is at its start: RAM still holds the threads of the "
                                "run before; let it run to see its threads");
}
