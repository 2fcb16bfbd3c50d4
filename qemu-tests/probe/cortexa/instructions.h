// SPDX-License-Identifier: MIT
// probe/cortexa: what a core in Debug state executes. In: an instruction of DBGITR. Out: its effect
// on registers, memory and the debug communications channel.
// Standard: Arm Architecture Reference Manual, Armv7-A (DDI 0406), C5.4 (executing instructions in
// Debug state).
#ifndef PROBE_CORTEXA_INSTRUCTIONS_H
#define PROBE_CORTEXA_INSTRUCTIONS_H

#include "probe/cortexa/debug.h"

enum instruction_end { INSTRUCTION_DONE, INSTRUCTION_ABORT, INSTRUCTION_UNDEFINED };

// An instruction that the probe does not know, or that QEMU cannot execute, is reported on standard
// error.
enum instruction_end instruction_execute(struct cortexa *cortexa, uint32_t instruction);

// The debugger lets the core go on: it is in the mode that was written last.
bool instructions_end(struct cortexa *cortexa);

#endif
