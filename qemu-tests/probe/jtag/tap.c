// SPDX-License-Identifier: MIT
// probe/jtag: the TAP controller. In: clocks. Out: scans.
// Standard: IEEE Std 1149.1-2013, clause 6; 10 (bypass), 12 (device identification).
#include "probe/jtag/tap.h"

enum { IR_CAPTURE = 0x1, IDCODE_LENGTH = 32, BYPASS_LENGTH = 1 };

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
    tap->instruction = tap->device.idcode_instruction;
}

static void capture_dr(struct tap *tap)
{
    const struct tap_device *device = &tap->device;
    if (tap->instruction == device->idcode_instruction) {
        tap->shift = device->idcode;
        tap->shift_length = IDCODE_LENGTH;
    } else if (!device->capture(device->context, tap->instruction, &tap->shift,
                                &tap->shift_length)) {
        tap->shift = 0;
        tap->shift_length = BYPASS_LENGTH;
    }
}

static void update_dr(struct tap *tap)
{
    tap->counters->dr_scans++;
    tap->device.update(tap->device.context, tap->instruction, tap->shift);
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
        tap->shift_length = tap->device.ir_length;
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
