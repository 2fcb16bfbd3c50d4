// SPDX-License-Identifier: MIT
// registers: the registers of the FPU: those of a core, and those in the frame of a thread that
// does not run. Of the latter, only the places are known; the values are read when they are asked
// for.
#ifndef EXTRACT_REGISTERS_FPU_H
#define EXTRACT_REGISTERS_FPU_H

#include "registers/registers_room.h"

// Numbers: those of extract/registers.h, parts of fcsr that RISC-V has as registers, and AArch64's
// second register of control.
enum { FPU_FFLAGS = EXTRACT_FPU_CONTROL + 1, FPU_FRM, FPU_FPCR };

// Returns the number of a register of the FPU by its name, without regard to case: Arm d0 to d31,
// fpscr; RISC-V f0 to f31, ft0 to ft11, fs0 to fs11, fa0 to fa7, fcsr, fflags, frm; AArch64 v0 to
// v31, fpsr, fpcr. NO_REGISTER: it is none.
unsigned fpu_register_number(const struct register_machine *machine, const char *name);

// Reads a register of `bytes` bytes, in the byte order of the target. Returns false if the parts of
// the frame do not have it in this size, or if it cannot be read. `parts`: EXTRACT_FPU_PARTS of
// them; NULL: there are none.
bool fpu_register_read(const struct extract_fpu_part *parts, struct extract_memory *memory,
                       unsigned number, uint8_t *value, unsigned bytes);

// Sets a register of a core, of `bytes` bytes.
void fpu_register_set(struct extract_registers *registers, unsigned number, unsigned bytes,
                      const uint64_t value[2]);
// Writes a register of a core in `bytes` bytes, in a byte order. Returns false if it is not known,
// or has another size.
bool fpu_register_put(const struct extract_registers *registers, unsigned number, uint8_t *value,
                      unsigned bytes, enum extract_byte_order order);

#endif
