// SPDX-License-Identifier: MIT
// probe/jtag: the TAP controller and its instructions. In: clocks. Out: scans.
// Standards: IEEE Std 1149.1-2013, clause 6; Arm Debug Interface Architecture Specification ADIv5
// (IHI 0031), chapter B3 "The JTAG Debug Port": instructions and lengths of their registers.
#include "probe/jtag/tap.h"

enum {
    IR_LENGTH = 4,
    IR_CAPTURE = 0x1,
    IR_ABORT = 0x8,
    IR_DPACC = 0xA,
    IR_APACC = 0xB,
    IR_IDCODE = 0xE,
    ACCESS_LENGTH = 35,
    IDCODE = 0x4BA00477 // JTAG-DP of Arm
};

// Where TMS 0 and TMS 1 lead.
static const uint8_t next_state[16][2] = {
    [TAP_RESET] = {TAP_IDLE, TAP_RESET},
    [TAP_IDLE] = {TAP_IDLE, TAP_SELECT_DR},
    [TAP_SELECT_DR] = {TAP_CAPTURE_DR, TAP_SELECT_IR},
    [TAP_CAPTURE_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
    [TAP_SHIFT_DR] = {TAP_SHIFT_DR, TAP_EXIT1_DR},
    [TAP_EXIT1_DR] = {TAP_PAUSE_DR, TAP_UPDATE_DR},
    [TAP_PAUSE_DR] = {TAP_PAUSE_DR, TAP_EXIT2_DR},
    [TAP_EXIT2_DR] = {TAP_SHIFT_DR, TAP_UPDATE_DR},
    [TAP_UPDATE_DR] = {TAP_IDLE, TAP_SELECT_DR},
    [TAP_SELECT_IR] = {TAP_CAPTURE_IR, TAP_RESET},
    [TAP_CAPTURE_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
    [TAP_SHIFT_IR] = {TAP_SHIFT_IR, TAP_EXIT1_IR},
    [TAP_EXIT1_IR] = {TAP_PAUSE_IR, TAP_UPDATE_IR},
    [TAP_PAUSE_IR] = {TAP_PAUSE_IR, TAP_EXIT2_IR},
    [TAP_EXIT2_IR] = {TAP_SHIFT_IR, TAP_UPDATE_IR},
    [TAP_UPDATE_IR] = {TAP_IDLE, TAP_SELECT_DR},
};

void tap_reset(struct tap *tap)
{
    tap->state = TAP_RESET;
    tap->instruction = IR_IDCODE;
}

static void capture_dr(struct tap *tap)
{
    switch (tap->instruction) {
    case IR_DPACC:
    case IR_APACC:
        tap->shift = dp_capture(tap->dp, tap->instruction == IR_APACC);
        tap->shift_length = ACCESS_LENGTH;
        break;
    case IR_ABORT:
        tap->shift = 0;
        tap->shift_length = ACCESS_LENGTH;
        break;
    case IR_IDCODE:
        tap->shift = IDCODE;
        tap->shift_length = 32;
        break;
    default: // BYPASS, which is what every other instruction is
        tap->shift = 0;
        tap->shift_length = 1;
        break;
    }
}

static void update_dr(struct tap *tap)
{
    tap->counters->dr_scans++;
    if (tap->instruction == IR_DPACC)
        dp_access(tap->dp, false, tap->shift);
    else if (tap->instruction == IR_APACC)
        dp_access(tap->dp, true, tap->shift);
    else if (tap->instruction == IR_ABORT)
        dp_abort(tap->dp);
}

static void enter(struct tap *tap)
{
    switch (tap->state) {
    case TAP_RESET:
        tap_reset(tap);
        break;
    case TAP_CAPTURE_DR:
        capture_dr(tap);
        break;
    case TAP_UPDATE_DR:
        update_dr(tap);
        break;
    case TAP_CAPTURE_IR:
        tap->shift = IR_CAPTURE;
        tap->shift_length = IR_LENGTH;
        break;
    case TAP_UPDATE_IR:
        tap->counters->ir_scans++;
        tap->instruction = (unsigned)tap->shift;
        break;
    default:
        break;
    }
}

void tap_clock(struct tap *tap, bool tms, bool tdi)
{
    enum tap_state from = tap->state;
    tap->counters->tck++;
    if (from == TAP_SHIFT_DR || from == TAP_SHIFT_IR)
        tap->shift = tap->shift >> 1 | (uint64_t)tdi << (tap->shift_length - 1);
    tap->state = next_state[from][tms];
    if (tap->state != from)
        enter(tap);
}
