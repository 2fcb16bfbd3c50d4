// SPDX-License-Identifier: MIT
// registers: the machines that are known.
#include "registers/registers_room.h"
#include <elf.h>
#include <stddef.h>
#include <string.h>
#include <strings.h>

static const char *const m_profile_names[] = {"r0", "r1", "r2",   "r3",  "r4",  "r5",  "r6",
                                              "r7", "r8", "r9",   "r10", "r11", "r12", "sp",
                                              "lr", "pc", "xpsr", "msp", "psp"};

static const char *const arm_names[] = {
    "r0",   "r1",   "r2",   "r3",    "r4",   "r5",        "r6",        "r7",   "r8",
    "r9",   "r10",  "r11",  "r12",   "sp",   "lr",        "pc",        "cpsr", "spsr",
    "dfar", "ifsr", "ifar", "sctlr", "vbar", "before_sp", "before_lr", "scr"};

static const char *const riscv_names[] = {"zero", "ra", "sp", "gp", "tp", "t0", "t1", "t2", "fp",
                                          "s1",   "a0", "a1", "a2", "a3", "a4", "a5", "a6", "a7",
                                          "s2",   "s3", "s4", "s5", "s6", "s7", "s8", "s9", "s10",
                                          "s11",  "t3", "t4", "t5", "t6", "pc"};

static const char *const aarch64_names[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10", "x11",
    "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21", "x22", "x23",
    "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp",  "pc",  "cpsr"};

static const char *const x86_names[] = {"rax", "rdx", "rcx", "rbx", "rsi", "rdi",
                                        "rbp", "rsp", "r8",  "r9",  "r10", "r11",
                                        "r12", "r13", "r14", "r15", "rip", "eflags"};

static const char *const fault_names[FAULT_END - EXTRACT_FAULT] = {
    "cfsr", "hfsr",   "dfsr", "mmfar", "bfar",      "afsr",   "sfsr",
    "sfar", "mcause", "mepc", "mtval", "mstatus",   "signal", "signal_address",
    "lwp",  "esr",    "elr",  "far",   "exception", "fs_base"};

static const char *const m68k_names[] = {"d0", "d1", "d2", "d3", "d4", "d5", "d6", "d7", "a0",
                                         "a1", "a2", "a3", "a4", "a5", "fp", "sp", "ps", "pc"};

#define RISCV_ORDER                                                                                \
    {                                                                                              \
        RISCV_PC, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22,   \
            23, 24, 25, 26, 27, 28, 29, 30, 31                                                     \
    }
#define ARM_ORDER                                                                                  \
    {                                                                                              \
        0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, ARM_SP, ARM_LR, ARM_PC, ARM_PSR, NO_REGISTER     \
    }

static const struct register_machine machines[] = {
    {.name = "arm",
     .elf_machine = EM_ARM,
     .word_bytes = 4,
     .is_m_profile = true,
     .count = 19,
     .general = 16,
     .pc = ARM_PC,
     .sp = ARM_SP,
     .lr = ARM_LR,
     .names = m_profile_names,
     .features = {{"org.gnu.gdb.arm.m-profile", 0, 17}, {"org.gnu.gdb.arm.m-system", 17, 2}},
     .note_bytes = 148,
     .pid_at = 24,
     .registers_at = 72,
     .slots = 18,
     .order = ARM_ORDER},
    {.name = "arm",
     .elf_machine = EM_ARM,
     .word_bytes = 4,
     .count = 26,
     .general = 16,
     .pc = ARM_PC,
     .sp = ARM_SP,
     .lr = ARM_LR,
     .names = arm_names,
     .features = {{"org.gnu.gdb.arm.core", 0, 17}},
     .note_bytes = 148,
     .pid_at = 24,
     .registers_at = 72,
     .slots = 18,
     .order = ARM_ORDER},
    {.name = "riscv:rv32",
     .elf_machine = EM_RISCV,
     .word_bytes = 4,
     .count = 33,
     .general = 32,
     .pc = RISCV_PC,
     .sp = RISCV_SP,
     .lr = 1,
     .names = riscv_names,
     .features = {{"org.gnu.gdb.riscv.cpu", 0, 33}},
     .note_bytes = 204,
     .pid_at = 24,
     .registers_at = 72,
     .slots = 32,
     .order = RISCV_ORDER},
    {.name = "riscv:rv64",
     .elf_machine = EM_RISCV,
     .word_bytes = 8,
     .count = 33,
     .general = 32,
     .pc = RISCV_PC,
     .sp = RISCV_SP,
     .lr = 1,
     .names = riscv_names,
     .features = {{"org.gnu.gdb.riscv.cpu", 0, 33}},
     .note_bytes = 376,
     .pid_at = 32,
     .registers_at = 112,
     .slots = 32,
     .order = RISCV_ORDER},
    {.name = "aarch64",
     .elf_machine = EM_AARCH64,
     .word_bytes = 8,
     .count = 34,
     .general = 32,
     .pc = AARCH64_PC,
     .sp = AARCH64_SP,
     .lr = 30,
     .names = aarch64_names,
     .features = {{"org.gnu.gdb.aarch64.core", 0, 34}},
     .note_bytes = 392,
     .pid_at = 32,
     .registers_at = 112,
     .slots = 34,
     .order = {0,  1,  2,  3,  4,  5,  6,  7,  8,  9,  10, 11, 12, 13, 14, 15, 16,
               17, 18, 19, 20, 21, 22, 23, 24, 25, 26, 27, 28, 29, 30, 31, 32, 33}},
    {.name = "m68k",
     .elf_machine = EM_68K,
     .word_bytes = 4,
     .count = 18,
     .general = 16,
     .pc = M68K_PC,
     .sp = M68K_SP,
     .lr = NO_REGISTER,
     .names = m68k_names,
     .features = {{"org.gnu.gdb.m68k.core", 0, 18}},
     .note_bytes = 154,
     .pid_at = 22,
     .registers_at = 70,
     .slots = 20,
     // d1 to d7, a0 to a6, d0, usp, orig_d0, sr, pc, format and vector
     .order = {1,  2,  3,  4,  5, 6,       7,           8,       9,       10,
               11, 12, 13, 14, 0, M68K_SP, NO_REGISTER, M68K_PS, M68K_PC, NO_REGISTER}},
    // A program on Linux: r15 to r12, rbp, rbx, r11 to r8, rax, rcx, rdx, rsi, rdi, orig_rax, rip,
    // cs, eflags, rsp
    {.name = "i386:x86-64",
     .elf_machine = EM_X86_64,
     .word_bytes = 8,
     .count = 18,
     .general = 16,
     .pc = X86_PC,
     .sp = X86_SP,
     .lr = NO_REGISTER,
     .names = x86_names,
     .note_bytes = 336,
     .pid_at = 32,
     .registers_at = 112,
     .slots = 22,
     .order = {15,          14,
               13,          12,
               6,           3,
               11,          10,
               9,           8,
               0,           2,
               1,           4,
               5,           NO_REGISTER,
               X86_PC,      NO_REGISTER,
               17,          X86_SP,
               NO_REGISTER, FAULT_FS_BASE}},
};

const struct register_machine *register_machine_find(uint16_t elf_machine, unsigned word_bytes,
                                                     bool is_m_profile)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++)
        if (machines[i].elf_machine == elf_machine && machines[i].word_bytes == word_bytes &&
            machines[i].is_m_profile == is_m_profile)
            return &machines[i];
    return NULL;
}

const char *register_fault_name(unsigned index)
{
    return fault_names[index - EXTRACT_FAULT];
}

// Other names of registers.
static const struct {
    uint16_t elf_machine;
    const char *name;
    uint8_t index;
} aliases[] = {{EM_ARM, "r13", ARM_SP},
               {EM_ARM, "r14", ARM_LR},
               {EM_ARM, "r15", ARM_PC},
               {EM_ARM, "psr", ARM_PSR},
               {EM_ARM, "xpsr", ARM_PSR},
               {EM_ARM, "cpsr", ARM_PSR},
               {EM_ARM, "fp", 11},
               {EM_RISCV, "s0", 8},
               {EM_AARCH64, "fp", 29},
               {EM_AARCH64, "lr", 30},
               {EM_AARCH64, "x31", AARCH64_SP},
               {EM_AARCH64, "pstate", AARCH64_PSTATE},
               {EM_68K, "a6", 14},
               {EM_68K, "a7", M68K_SP},
               {EM_68K, "sr", M68K_PS}};

unsigned register_index(const struct register_machine *machine, const char *name)
{
    for (unsigned i = 0; i < machine->count; i++)
        if (strcasecmp(machine->names[i], name) == 0)
            return i;
    for (size_t i = 0; i < sizeof aliases / sizeof *aliases; i++)
        if (aliases[i].elf_machine == machine->elf_machine &&
            strcasecmp(aliases[i].name, name) == 0)
            return aliases[i].index;
    for (unsigned i = EXTRACT_FAULT; i < FAULT_END; i++)
        if (strcasecmp(register_fault_name(i), name) == 0)
            return i;
    // "x5" of RISC-V
    if (machine->elf_machine == EM_RISCV && (*name == 'x' || *name == 'X') && name[1]) {
        unsigned number = 0;
        for (const char *at = name + 1; *at; at++) {
            if (*at < '0' || *at > '9' || number > 31)
                return NO_REGISTER;
            number = number * 10 + (unsigned)(*at - '0');
        }
        return number < 32 ? number : NO_REGISTER;
    }
    return NO_REGISTER;
}
