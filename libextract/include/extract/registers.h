// SPDX-License-Identifier: MIT
// Registers: the general registers of a thread or a core, as far as they are known.
#ifndef EXTRACT_REGISTERS_H
#define EXTRACT_REGISTERS_H

#include <extract/symbols.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

enum {
    EXTRACT_REGISTERS = 60,
    EXTRACT_FAULT = 40, // cfsr, hfsr, dfsr (also A-profile), mmfar, bfar, afsr, sfsr, sfar (Arm
                        // M-profile); mcause, mepc, mtval, mstatus (RISC-V); signal,
                        // signal_address, and lwp, the number of the thread (Linux); esr, elr, far
                        // (AArch64, of its level); exception, the number of the one that was
                        // taken at these registers (Arm M-profile); fs_base (x86-64)
    EXTRACT_CORES = 64  // most cores of a target, or threads of a Linux core
};

enum {
    EXTRACT_FPU_CONTROL = 32,   // number of fpscr (Arm), fcsr (RISC-V) or fpsr (AArch64)
    EXTRACT_FPU_REGISTERS = 36, // the numbers are below it
    EXTRACT_FPU_PARTS = 3       // most parts of a frame
};

// By index: Arm r0 to r15, xpsr or cpsr, and msp, psp (M-profile) or spsr, dfar, ifsr, ifar, sctlr,
// vbar, sp and lr of the mode that spsr names, and scr (A- and R-profile); RISC-V x0 to x31, pc;
// AArch64 x0 to x30, sp, pc, cpsr; 68k d0 to d7, a0 to a7, ps, pc; x86-64 rax, rdx, rcx, rbx, rsi,
// rdi, rbp, rsp, r8 to r15, rip, eflags. From EXTRACT_FAULT on: what a machine keeps of a fault.
// `fpu`, the registers of the FPU of a core, by number: Arm d0 to d31; RISC-V f0 to f31; AArch64 v0
// to v31; from EXTRACT_FPU_CONTROL on, those of control. Their lower 64 bits are first.
struct extract_registers {
    uint64_t known; // bit i: value[i] is known
    uint64_t value[EXTRACT_REGISTERS];
    uint64_t fpu_known; // bit i: fpu[i] is known
    uint64_t fpu[EXTRACT_FPU_REGISTERS][2];
    uint8_t fpu_bytes; // of each but those of control; 0: not known
};

// A part of a frame that has registers of the FPU: one after the other, in ascending order. Their
// values are in the memory, and are not copied.
struct extract_fpu_part {
    uint64_t address; // of the first one
    uint8_t first;    // its number: Arm d0 to d15; RISC-V f0 to f31; EXTRACT_FPU_CONTROL
    uint8_t count;    // of them; 0: none
    uint8_t bytes;    // of each
    uint8_t step;     // bytes from one to the next
};

// Reads the registers of a target that has stopped, of at most EXTRACT_CORES cores, into an array
// of that length. They come from the file `path`, which holds one register per line as GDB's "info
// registers" or OpenOCD's "reg" prints them; a line "core 1", or "Thread 2" as "thread apply all"
// prints it, begins the registers of core 1. If `path` is NULL, they come from the
// memory, if that is an ELF core or a dump of CrashCatcher, or from the server of a live target,
// which is then halted until extract_live_release. *count is 0 if there are none. Errors: IO,
// NOMEM, LIMIT; BAD (not registers, or none of this machine); UNSUPPORTED (the registers of the
// machine are not known).
enum extract_code extract_registers_read(struct extract_registers *registers, size_t *count,
                                         const struct extract_memory *memory,
                                         const struct extract_symbols *symbols, const char *path,
                                         struct extract_error *error);

// Adds the registers of the FPU of the cores of a live target, `count` of which were read, if they
// are not known yet: a GDB server has to be asked for each of them. Errors: those of the
// connection.
enum extract_code extract_registers_read_fpu(struct extract_registers *registers, size_t count,
                                             const struct extract_memory *memory,
                                             const struct extract_symbols *symbols,
                                             struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
