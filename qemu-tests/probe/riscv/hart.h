// SPDX-License-Identifier: MIT
// probe/riscv: the hart, as a debug module sees it. In: requests. Out: halt, resume, step,
// registers, breakpoints and reset, done through QMP and the gdbstub.
// Standard: RISC-V External Debug Support 0.13.2, chapters 4 "RISC-V Debug" and 5 "Trigger Module".
#ifndef PROBE_HART_H
#define PROBE_HART_H

#include "probe/qemu/qemu.h"

enum { HART_TRIGGERS = 4 };

struct hart {
    struct qemu *qemu;
    bool was_reset;    // and the debugger has not acknowledged it
    uint32_t dcsr;     // the bits that are stored
    unsigned cause;    // dcsr.cause
    unsigned selected; // tselect
    struct {
        uint64_t control, address; // tdata1, tdata2
    } triggers[HART_TRIGGERS];
    uint64_t inserted[HART_TRIGGERS]; // what the gdbstub has been given
    size_t inserted_count;
};

// Puts itself between `target` and QEMU. It holds nothing that must be freed.
void hart_target(struct target *target, struct hart *hart, struct qemu *qemu);

// Returns whether the hart is halted now. A running hart may have hit a breakpoint.
bool hart_is_halted(struct hart *hart);

bool hart_halt(struct hart *hart);

// Goes on, or (dcsr.step) makes one step.
bool hart_resume(struct hart *hart);

// The reset line; `halts`: the hart is halted before its first instruction.
bool hart_reset(struct hart *hart, bool asserted, bool halts);

// The hart is halted, or was.
bool hart_is_64_bit(const struct hart *hart);

// Accesses a register by its number in abstract commands; the hart is halted. Returns false if
// there is none.
bool hart_read(struct hart *hart, unsigned number, uint64_t *value);
bool hart_write(struct hart *hart, unsigned number, uint64_t value);

#endif
