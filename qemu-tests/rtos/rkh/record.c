// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: frames. In: an event and its arguments, least significant byte first on
// every target. Out: bytes, with those escaped that would be a flag, a checksum, and a flag.
#include "trace.h"

enum { ESCAPE = 0x7D, FLIP = 0x20 };

volatile uint32_t rkh_emitted[256], rkh_suppressed[256];

#if RKH_CFG_TRC_NSEQ_EN
static rui8_t nseq;
#endif
#if RKH_CFG_TRC_CHK_EN
static rui8_t chk;
#endif
static RKH_TE_ID_T event_under_way;

static void put_escaped(rui8_t byte)
{
    if (byte == RKH_FLAG || byte == ESCAPE) {
        rkh_trc_put(ESCAPE);
        byte ^= FLIP;
    }
    rkh_trc_put(byte);
}

static void put_byte(rui8_t byte)
{
#if RKH_CFG_TRC_CHK_EN
    chk = (rui8_t)(chk + byte);
#endif
    put_escaped(byte);
}

void rkh_trc_restart(void)
{
#if RKH_CFG_TRC_NSEQ_EN
    nseq = 0;
#endif
}

void rkh_trc_begin_bare(RKH_TE_ID_T event)
{
#if RKH_CFG_TRC_CHK_EN
    chk = 0;
#endif
    event_under_way = event;
    put_byte(event);
}

void rkh_trc_begin(RKH_TE_ID_T event)
{
    rkh_trc_begin_bare(event);
#if RKH_CFG_TRC_NSEQ_EN
    put_byte(nseq);
    ++nseq;
#endif
#if RKH_CFG_TRC_TSTAMP_EN
    rkh_trc_number(rkh_trc_getts(), RKH_CFGPORT_TRC_SIZEOF_TSTAMP);
#endif
}

void rkh_trc_number(rui32_t value, unsigned bits)
{
    for (unsigned shift = 0; shift < bits; shift += 8)
        put_byte((rui8_t)(value >> shift));
}

void rkh_trc_string(const char *text)
{
    do
        put_byte((rui8_t)*text);
    while (*text++ != '\0');
}

void rkh_trc_memory(const void *from, rui8_t bytes)
{
    put_byte(bytes);
    for (const rui8_t *byte = from; bytes > 0; bytes--)
        put_byte(*byte++);
}

void rkh_trc_end(void)
{
#if RKH_CFG_TRC_CHK_EN
    put_escaped((rui8_t)(0U - chk));
#endif
    rkh_trc_put(RKH_FLAG);
    rkh_emitted[event_under_way]++;
}
