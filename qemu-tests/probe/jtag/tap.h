// SPDX-License-Identifier: MIT
// probe/jtag: the test access port. In: edges of TCK with TMS and TDI. Out: TDO, and whole scans
// for its device. Standard: IEEE Std 1149.1-2013, clause 6 (TAP controller).
#ifndef PROBE_TAP_H
#define PROBE_TAP_H

#include "probe/jtag/knobs.h"

enum tap_state {
    TAP_RESET,
    TAP_IDLE,
    TAP_SELECT_DR,
    TAP_CAPTURE_DR,
    TAP_SHIFT_DR,
    TAP_EXIT1_DR,
    TAP_PAUSE_DR,
    TAP_EXIT2_DR,
    TAP_UPDATE_DR,
    TAP_SELECT_IR,
    TAP_CAPTURE_IR,
    TAP_SHIFT_IR,
    TAP_EXIT1_IR,
    TAP_PAUSE_IR,
    TAP_EXIT2_IR,
    TAP_UPDATE_IR
};

// The device of the port: its instructions and their registers.
struct tap_device {
    void *context;
    unsigned ir_length;          // bits
    unsigned idcode_instruction; // which Test-Logic-Reset selects
    uint32_t idcode;
    // The register of an instruction at Capture-DR, up to 64 bits, and its length. False: it has
    // none, and is BYPASS.
    bool (*capture)(void *context, unsigned instruction, uint64_t *scan, unsigned *length);
    // What was shifted in, at Update-DR, also of BYPASS and IDCODE.
    void (*update)(void *context, unsigned instruction, uint64_t scan);
};

struct tap {
    enum tap_state state;
    unsigned instruction;
    uint64_t shift;        // the register that is shifted, its next bit lowest
    unsigned shift_length; // bits
    struct tap_device device;
    struct counters *counters;
};

// Test-Logic-Reset; the device keeps its state.
void tap_reset(struct tap *tap);

// A rising edge of TCK.
void tap_clock(struct tap *tap, bool tms, bool tdi);

static inline bool tap_tdo(const struct tap *tap)
{
    return tap->shift & 1;
}

#endif
