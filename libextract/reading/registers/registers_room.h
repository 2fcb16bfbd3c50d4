// SPDX-License-Identifier: MIT
// registers: the general registers of each machine: their names, their order for GDB, and their
// places in the notes of an ELF core. A machine is one row of the table in machines.c.
//
// Sources: Debugging with GDB, "Standard Target Features"; the ELF supplements of the machines; the
// notes as Linux writes them (elf_prstatus).
#ifndef EXTRACT_REGISTERS_REGISTERS_ROOM_H
#define EXTRACT_REGISTERS_REGISTERS_ROOM_H

#include <extract/registers.h>

// Indices of registers. Of a machine without such a register, the table has NO_REGISTER.
enum {
    NO_REGISTER = 255,
    ARM_SP = 13,
    ARM_LR = 14,
    ARM_PC = 15,
    ARM_PSR = 16, // xpsr or cpsr
    ARM_MSP = 17,
    ARM_PSP = 18,
    ARM_SPSR = 17, // A- and R-profile, from here on: of the mode that the core is in
    ARM_DFAR = 18,
    ARM_IFSR = 19,
    ARM_IFAR = 20,
    ARM_SCTLR = 21,
    ARM_VBAR = 22,
    ARM_BEFORE_SP = 23, // of the mode that SPSR names
    ARM_BEFORE_LR = 24,
    ARM_SCR = 25,
    RISCV_SP = 2,
    RISCV_PC = 32,
    AARCH64_SP = 31,
    AARCH64_PC = 32,
    AARCH64_PSTATE = 33,
    X86_SP = 7,
    X86_PC = 16,
    FAULT_CFSR = EXTRACT_FAULT,
    FAULT_HFSR,
    FAULT_DFSR,
    FAULT_MMFAR,
    FAULT_BFAR,
    FAULT_AFSR,
    FAULT_SFSR,
    FAULT_SFAR,
    FAULT_MCAUSE,
    FAULT_MEPC,
    FAULT_MTVAL,
    FAULT_MSTATUS,
    FAULT_SIGNAL,
    FAULT_SIGNAL_ADDRESS,
    FAULT_LWP,
    FAULT_ESR, // AArch64: of the exception level that the core is in
    FAULT_ELR,
    FAULT_FAR,
    FAULT_EXCEPTION, // Arm M-profile: number of the one that was taken at these registers
    FAULT_FS_BASE,   // x86-64: the thread pointer, which is the pthread_t
    FAULT_END,
    M68K_SP = 15,
    M68K_PS = 16,
    M68K_PC = 17
};

// A part of a target description.
struct register_feature {
    const char *name; // such as "org.gnu.gdb.riscv.cpu"; NULL: none
    unsigned first, count;
};

enum { REGISTER_FEATURES = 2, CORE_SLOTS = 36 };

struct register_machine {
    const char *name;     // as GDB names the architecture
    uint16_t elf_machine; // e_machine
    uint8_t word_bytes;   // of a register
    bool is_m_profile;    // Arm's microcontrollers
    uint8_t count;        // registers
    uint8_t general;      // the first ones, whose numbers are those of DWARF
    uint8_t pc, sp, lr;   // indices
    const char *const *names;
    struct register_feature features[REGISTER_FEATURES]; // none: GDB is not served
    // NT_PRSTATUS: bytes, and the offsets of the thread's number and of the registers.
    unsigned note_bytes, pid_at, registers_at;
    uint8_t slots; // registers in the note
    uint8_t order[CORE_SLOTS];
};

// Returns the row of a machine; NULL if there is none.
const struct register_machine *register_machine_find(uint16_t elf_machine, unsigned word_bytes,
                                                     bool is_m_profile);

// Returns the row of the machine of a program; NULL if there is none.
const struct register_machine *register_machine_of(const struct extract_symbols *symbols);

// Returns the name of a register of a fault, such as "cfsr".
const char *register_fault_name(unsigned index);

// Returns the index of a register by its name, without regard to case; NO_REGISTER if there is
// none. Aliases such as "a0" and "fp" are names, too.
unsigned register_index(const struct register_machine *machine, const char *name);

static inline bool register_get(const struct extract_registers *registers, unsigned index,
                                uint64_t *value)
{
    if (index >= EXTRACT_REGISTERS || !(registers->known >> index & 1))
        return false;
    *value = registers->value[index];
    return true;
}

static inline void register_set(struct extract_registers *registers, unsigned index, uint64_t value)
{
    registers->known |= UINT64_C(1) << index;
    registers->value[index] = value;
}

#endif
