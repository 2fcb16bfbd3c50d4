// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: the ring. In: bytes. Out: the newest of them; the oldest are overwritten
// without being counted, and wherever a frame begins.
#include "trace.h"

enum { SIZE = RKH_CFG_TRC_SIZEOF_STREAM };
_Static_assert(SIZE >= 1 && SIZE <= 2048, "the ring's size");

static rui8_t trcstm[SIZE];
static rui8_t *trcin, *trcout, *trcend;
static TRCQTY_T trcqty;

void rkh_trc_init(void)
{
    trcin = trcout = trcstm;
    trcend = &trcstm[SIZE];
    trcqty = 0;
    rkh_trc_restart();
    rkh_trc_put(RKH_FLAG);
}

__attribute__((noinline)) void rkh_trc_put(rui8_t byte)
{
    *trcin++ = byte;
    ++trcqty;
    if (trcin >= trcend)
        trcin = trcstm;
    if (trcqty >= SIZE) {
        trcqty = SIZE;
        trcout = trcin;
    }
}

rui8_t *rkh_trc_get(void)
{
    TRCQTY_T one = 1;
    return rkh_trc_get_block(&one);
}

rui8_t *rkh_trc_get_block(TRCQTY_T *count)
{
    rui8_t *from = trcout;
    if (*count > trcqty)
        *count = trcqty;
    if (*count > trcend - trcout)
        *count = (TRCQTY_T)(trcend - trcout);
    if (*count == 0)
        return NULL;
    trcqty = (TRCQTY_T)(trcqty - *count);
    trcout += *count;
    if (trcout >= trcend)
        trcout = trcstm;
    return from;
}

TRCQTY_T rkh_trc_getWholeBlock(rui8_t *to, TRCQTY_T most)
{
    TRCQTY_T had = 0, count = most;
    for (const rui8_t *from; (from = rkh_trc_get_block(&count)) != NULL;) {
        for (TRCQTY_T i = 0; i < count; i++)
            to[had + i] = from[i];
        had = (TRCQTY_T)(had + count);
        count = (TRCQTY_T)(most - had);
    }
    return had;
}
