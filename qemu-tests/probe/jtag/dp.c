// SPDX-License-Identifier: MIT
// probe/jtag: the JTAG debug port. In: scans. Out: results, one scan later.
// Standard: Arm ADIv5 (IHI 0031), B2.2 "DP register descriptions", B1.2 "Sticky flags and DP error
// responses", B3.4 "DPACC and APACC".
#include "probe/jtag/dp.h"

enum { ACK_WAIT = 1, ACK_OK_OR_FAULT = 2, DP_CONTROL = 0x4, DP_SELECT = 0x8, DP_RDBUFF = 0xC };

#define ORUNDETECT UINT32_C(0x00000001)
#define STICKYORUN UINT32_C(0x00000002)
#define STICKYCMP  UINT32_C(0x00000010)
#define STICKYERR  UINT32_C(0x00000020)
#define STICKY     (STICKYORUN | STICKYCMP | STICKYERR)
#define POWER_UP   UINT32_C(0x50000000) // the two requests; each acknowledgement is the bit above
#define KEPT       UINT32_C(0x54FFFF0D) // what a write to CTRL/STAT stores

// OpenOCD clears its overrun flag in a scan whose acknowledgement it does not look at: only scans
// to the AP are answered with WAIT, so that it can.
uint64_t dp_capture(struct dp *dp, bool to_ap)
{
    dp->refused = to_ap && dp->waiting != 0;
    if (!dp->refused)
        return (uint64_t)dp->result << 3 | ACK_OK_OR_FAULT;
    dp->waiting--;
    dp->knobs->counters.waits++;
    // With overrun detection, what is sent behind a WAIT is dropped until the debugger has seen it.
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

static void count_request(struct dp *dp, bool is_read)
{
    struct knobs *knobs = dp->knobs;
    if (is_read)
        knobs->counters.ap_reads++;
    else
        knobs->counters.ap_writes++;
    if (knobs->wait_every && ++dp->requests >= knobs->wait_every) {
        dp->requests = 0;
        dp->waiting = knobs->wait_times;
    }
}

static void access_ap(struct dp *dp, unsigned reg, bool is_read, uint32_t value)
{
    if (dp->control & STICKY)
        return;
    count_request(dp, is_read);
    reg |= dp->select & 0xF0;
    bool there = dp->select >> 24 == 0, done = true; // there is one AP, number 0
    if (is_read) {
        dp->result = 0;
        done = !there || ap_read(dp->ap, reg, &dp->result);
    } else if (there) {
        done = ap_write(dp->ap, reg, value);
    }
    if (!done)
        dp->control |= STICKYERR;
}

void dp_access(struct dp *dp, bool to_ap, uint64_t scan)
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

void dp_abort(struct dp *dp)
{
    dp->waiting = 0;
}
