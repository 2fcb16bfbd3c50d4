// SPDX-License-Identifier: MIT
// probe/jtag: the JTAG debug port. In: scans. Out: results, one scan later.
// Standard: Arm ADIv5 (IHI 0031), B2.2 "DP register descriptions", B1.2 "Sticky flags and DP error
// responses", chapter B3 "The JTAG Debug Port": instructions and lengths of their registers.
#include "probe/jtag/dp.h"

enum {
    IR_LENGTH = 4,
    IR_ABORT = 0x8,
    IR_DPACC = 0xA,
    IR_APACC = 0xB,
    IR_IDCODE = 0xE,
    ACCESS_LENGTH = 35,
    IDCODE = 0x4BA00477 // JTAG-DP of Arm
};

enum { ACK_WAIT = 1, ACK_OK_OR_FAULT = 2, DP_CONTROL = 0x4, DP_SELECT = 0x8, DP_RDBUFF = 0xC };

#define ORUNDETECT UINT32_C(0x00000001)
#define STICKYORUN UINT32_C(0x00000002)
#define STICKYCMP  UINT32_C(0x00000010)
#define STICKYERR  UINT32_C(0x00000020)
#define STICKY     (STICKYORUN | STICKYCMP | STICKYERR)
#define POWER_UP   UINT32_C(0x50000000) // the two requests; each acknowledgement is the bit above
#define KEPT       UINT32_C(0x54FFFF0D) // what a write to CTRL/STAT stores

// OpenOCD clears its overrun flag in a scan whose acknowledgment it ignores: only scans
// to the AP are answered with WAIT, so that it can.
static uint64_t capture_access(struct dp *dp, bool to_ap)
{
    dp->refused = to_ap && knobs_take_wait(dp->knobs);
    if (!dp->refused)
        return (uint64_t)dp->result << 3 | ACK_OK_OR_FAULT;
    // With overrun detection, what is sent after a WAIT is dropped until the debugger has seen it.
    if (dp->control & ORUNDETECT)
        dp->control |= STICKYORUN;
    return ACK_WAIT;
}

static void write_control(struct dp *dp, uint32_t value)
{
    uint32_t sticky = dp->control & STICKY & ~value; // a 1 clears the flag
    dp->control = (value & KEPT) | (value & POWER_UP) << 1 | sticky;
}

static void access_dp(struct dp *dp, unsigned reg, bool is_read, uint32_t value)
{
    if (reg == DP_CONTROL && is_read)
        dp->result = dp->control;
    else if (reg == DP_CONTROL)
        write_control(dp, value);
    else if (reg == DP_SELECT && is_read)
        dp->result = dp->select;
    else if (reg == DP_SELECT)
        dp->select = value;
    else if (reg != DP_RDBUFF && is_read) // which is a scan to take a result out, and nothing else
        dp->result = 0;
}

static void access_ap(struct dp *dp, unsigned reg, bool is_read, uint32_t value)
{
    if (dp->control & STICKY)
        return;
    knobs_count_request(dp->knobs, is_read);
    reg |= dp->select & 0xF0;
    const size_t number = dp->select >> 24;
    struct ap *ap = number < dp->ap_count ? &dp->aps[number] : NULL;
    bool done = true;
    if (is_read) {
        dp->result = 0;
        done = !ap || ap_read(ap, reg, &dp->result);
    } else if (ap) {
        done = ap_write(ap, reg, value);
    }
    if (!done)
        dp->control |= STICKYERR;
}

// A request to the DP, or to the AP that is selected.
static void access_port(struct dp *dp, bool to_ap, uint64_t scan)
{
    bool is_read = scan & 1;
    unsigned reg = (unsigned)(scan << 1 & 0xC);
    uint32_t value = (uint32_t)(scan >> 3);
    if (dp->refused)
        return;
    if (to_ap)
        access_ap(dp, reg, is_read, value);
    else
        access_dp(dp, reg, is_read, value);
}

static bool capture(void *context, unsigned instruction, uint64_t *scan, unsigned *length)
{
    struct dp *dp = context;
    *length = ACCESS_LENGTH;
    *scan = 0;
    if (instruction == IR_DPACC || instruction == IR_APACC)
        *scan = capture_access(dp, instruction == IR_APACC);
    else
        return instruction == IR_ABORT;
    return true;
}

static void update(void *context, unsigned instruction, uint64_t scan)
{
    struct dp *dp = context;
    if (instruction == IR_DPACC || instruction == IR_APACC)
        access_port(dp, instruction == IR_APACC, scan);
    else if (instruction == IR_ABORT) // DAPABORT: gives up the request under way
        dp->knobs->waiting = 0;
}

struct tap_device dp_device(struct dp *dp)
{
    return (struct tap_device){.context = dp,
                               .ir_length = IR_LENGTH,
                               .idcode_instruction = IR_IDCODE,
                               .idcode = IDCODE,
                               .capture = capture,
                               .update = update};
}
