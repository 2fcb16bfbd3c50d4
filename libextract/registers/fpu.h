// SPDX-License-Identifier: MIT
// registers: the registers of the FPU in the frame of a thread that does not run. Only their places
// are known; the values are read when they are asked for.
#ifndef EXTRACT_REGISTERS_FPU_H
#define EXTRACT_REGISTERS_FPU_H

#include "registers/registers.h"

// Numbers: those of extract/registers.h, and parts of fcsr that RISC-V has as registers.
enum { FPU_FFLAGS = EXTRACT_FPU_CONTROL + 1, FPU_FRM };

// Returns the number of a register of the FPU by its name, without regard to case: Arm d0 to d15,
// fpscr; RISC-V f0 to f31, ft0 to ft11, fs0 to fs11, fa0 to fa7, fcsr, fflags, frm. NO_REGISTER: it
// is none.
unsigned fpu_register_number(const struct register_machine *machine, const char *name);

// Reads a register of `bytes` bytes, in the byte order of the target. Returns false if the parts of
// the frame do not have it in this size, or if it cannot be read. `parts`: EXTRACT_FPU_PARTS of
// them; NULL: there are none.
bool fpu_register_read(const struct extract_fpu_part *parts, struct extract_memory *memory,
                       unsigned number, uint8_t *value, unsigned bytes);

#endif
