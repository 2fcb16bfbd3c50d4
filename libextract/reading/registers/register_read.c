// SPDX-License-Identifier: MIT
// registers: reads the registers of a target that has stopped (extract/registers.h).
#include "base/file.h"
#include "memory/crashcatcher.h"
#include "registers/fpu.h"
#include "registers/live_registers.h"
#include "registers/notes.h"
#include "registers/register_text.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdlib.h>

enum { TEXT_LIMIT = 1 << 20 }; // bytes of a file of registers

const struct register_machine *register_machine_of(const struct extract_symbols *symbols)
{
    return register_machine_find(extract_symbols_machine(symbols),
                                 extract_symbols_pointer_bytes(symbols),
                                 extract_symbols_is_m_profile(symbols));
}

// Returns whether a page has all general registers and pc of a machine.
static bool is_page_of(const struct register_values *values, const struct register_machine *machine)
{
    struct extract_registers page[EXTRACT_CORES];
    uint64_t value;

    if (!register_values_cores(values, machine, page, EXTRACT_CORES))
        return false;
    for (unsigned i = 0; i < machine->general; i++)
        if (!register_get(&page[0], i, &value))
            return false;
    return register_get(&page[0], machine->pc, &value);
}

// Returns the machine of a page that is not one of the program's: it has all registers of that
// machine, and not all of the program's. NULL: none.
static const struct register_machine *find_foreign(const struct register_values *values,
                                                   const struct register_machine *machine)
{
    static const struct {
        uint16_t elf_machine;
        uint8_t word_bytes;
    } others[] = {{EM_ARM, 4}, {EM_AARCH64, 8}, {EM_RISCV, 4}, {EM_68K, 4}, {EM_X86_64, 8}};

    for (size_t i = 0; i < sizeof others / sizeof *others && !is_page_of(values, machine); i++) {
        const struct register_machine *other =
            register_machine_find(others[i].elf_machine, others[i].word_bytes, false);
        if (other && other->elf_machine != machine->elf_machine && is_page_of(values, other))
            return other;
    }
    return NULL;
}

static enum extract_code read_text(struct extract_registers *registers, size_t *count,
                                   const char *path, const struct register_machine *machine,
                                   struct extract_error *error)
{
    struct register_values *values = malloc(sizeof *values);
    uint8_t *bytes = NULL;
    size_t length;
    enum extract_code code =
        values ? extract_file_read_in_time(path, TEXT_LIMIT, &bytes, &length, error)
               : extract_error_set(error, EXTRACT_NOMEM, path, NULL, "out of memory");

    if (!code)
        code = register_values_parse(values, path, bytes, length, error);
    const struct register_machine *foreign = code ? NULL : find_foreign(values, machine);
    if (foreign)
        code = extract_error_set(error, EXTRACT_BAD, path,
                                 "use the ELF file of the program that ran, or its registers",
                                 "has the registers of another machine, %s; the program is for %s",
                                 foreign->name, machine->name);
    if (!code)
        *count = register_values_cores(values, machine, registers, EXTRACT_CORES);
    if (!code && !*count)
        code = extract_error_set(
            error, EXTRACT_BAD, path, "store the output of \"info registers\" of GDB in it",
            "contains no register of the program's machine, %s", machine->name);
    free(bytes);
    free(values);
    return code;
}

// The stack pointer that the core used for what faulted is that of the fault; the exception has
// pushed its frame below it.
static void take_stacks(const struct extract_crashcatcher *dump,
                        struct extract_registers *registers)
{
    enum { EXCEPTION = 0x1FF, FRAME = 0x20, FPU_FRAME = 0x68, PADDING = 4 };
    uint32_t sp = dump->general[ARM_SP], pushed = (sp - dump->psp) & ~(uint32_t)PADDING;
    bool is_thread =
        !(dump->general[ARM_PSR] & EXCEPTION) && (pushed == FRAME || pushed == FPU_FRAME);

    register_set(registers, ARM_MSP, is_thread ? dump->msp : sp);
    register_set(registers, ARM_PSP, is_thread ? sp : dump->psp);
}

// Sets d0 to d15, each of which is two registers of single precision, and fpscr.
static void take_fpu(const struct extract_crashcatcher *dump, struct extract_registers *registers)
{
    enum { DOUBLES = (CRASHCATCHER_FPU - 1) / 2, DOUBLE_BYTES = 8 };
    const uint64_t control[2] = {dump->fpu[CRASHCATCHER_FPU - 1], 0};

    for (unsigned i = 0; i < DOUBLES; i++) {
        const uint64_t value[2] = {dump->fpu[2 * i] | (uint64_t)dump->fpu[2 * i + 1] << 32, 0};
        fpu_register_set(registers, i, DOUBLE_BYTES, value);
    }
    fpu_register_set(registers, EXTRACT_FPU_CONTROL, DOUBLE_BYTES, control);
}

// Gets the registers of the fault from a dump of CrashCatcher. Returns the number of cores.
static size_t take_crashcatcher(const struct extract_memory *memory,
                                const struct register_machine *machine,
                                struct extract_registers *registers)
{
    enum { EXCEPTION = 0x1FF };
    const struct extract_crashcatcher *dump = extract_crashcatcher_of(memory);

    if (!dump || !machine->is_m_profile)
        return 0;
    *registers = (struct extract_registers){.known = 0};
    for (unsigned i = 0; i < CRASHCATCHER_GENERAL; i++)
        register_set(registers, i, dump->general[i]);
    if (dump->has_stacks)
        take_stacks(dump, registers);
    if (dump->has_fpu)
        take_fpu(dump, registers);
    register_set(registers, FAULT_EXCEPTION, dump->handler_psr & EXCEPTION);
    return 1;
}

enum extract_code extract_registers_read(struct extract_registers *registers, size_t *count,
                                         const struct extract_memory *memory,
                                         const struct extract_symbols *symbols, const char *path,
                                         struct extract_error *error)
{
    const struct register_machine *machine = register_machine_of(symbols);

    *count = 0;
    if (!machine)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, extract_symbols_path(symbols),
                                 "use a program for Arm, AArch64, RISC-V or 68k",
                                 "the registers of machine %u are not known",
                                 extract_symbols_machine(symbols));
    if (!path) {
        *count = register_notes_read(memory, machine, registers, EXTRACT_CORES);
        if (!*count)
            *count = take_crashcatcher(memory, machine, registers);
        return *count ? EXTRACT_OK
                      : register_live_read(memory, machine, extract_symbols_byte_order(symbols),
                                           registers, EXTRACT_CORES, count, error);
    }
    return read_text(registers, count, path, machine, error);
}

enum extract_code extract_registers_read_fpu(struct extract_registers *registers, size_t count,
                                             const struct extract_memory *memory,
                                             const struct extract_symbols *symbols,
                                             struct extract_error *error)
{
    const struct register_machine *machine = register_machine_of(symbols);
    uint64_t known = 0;

    for (size_t i = 0; i < count; i++)
        known |= registers[i].fpu_known;
    // A server that has them in its answer to g, and OpenOCD, have told them already.
    if (!machine || known)
        return EXTRACT_OK;
    return register_live_read_fpu(memory, machine, extract_symbols_byte_order(symbols), registers,
                                  count, error);
}
