// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: what the images with RKH streams share. In: a stream. Out: what a serial
// line would have carried.
#include "shared.h"

UCHAR rkh_sent[RKH_MAX_SENT];
volatile uint32_t rkh_sent_bytes, rkh_sends = RKH_CFG_TRC_SIZEOF_STREAM == 2048, rkh_done;

// Called with interrupts locked, and often enough to miss no wrap of the port's counter.
RKH_TS_T rkh_trc_getts(void)
{
    static uint64_t clock;
    static ULONG last;
    ULONG now = bout_port_stamp();
    clock += now - last;
    last = now;
    return (RKH_TS_T)(clock >> RKH_STAMP_SHIFT);
}

void rkh_trc_flush(void)
{
    TRCQTY_T most;
    if (!rkh_sends)
        return;
    ULONG lock = rkh_port_lock();
    do {
        uint32_t room = RKH_MAX_SENT - rkh_sent_bytes;
        most = (TRCQTY_T)(room < 64 ? room : 64);
        most = rkh_trc_getWholeBlock(&rkh_sent[rkh_sent_bytes], most);
        rkh_sent_bytes += most;
    } while (most > 0);
    rkh_port_unlock(lock);
}

void rkh_finish(void)
{
    ULONG lock = bout_lock();
    rkh_trc_flush();
    rkh_done = 1;
    ringside_wrap_marker();
    bout_unlock(lock);
}
