// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: what makes a stream readable by itself. In: names, and the configuration.
// Out: records, each of which is sent at once.
#include "events.h"

const char rkh_version[] = "3.4.00";
enum { VERSION = 0x3400 };

// Bits of what this recorder always has: filters, user events, all groups, asserts.
enum { ALWAYS = 0x67FE };
#define FLAGS                                                                                      \
    ((rui32_t)(ALWAYS | RKH_CFG_SMA_TRC_SNDR_EN | RKH_CFG_QUE_GET_LWMARK_EN << 11 |                \
               RKH_CFG_MP_GET_LWM_EN << 12 | RKH_CFG_TRC_NSEQ_EN << 15) |                          \
     (rui32_t)RKH_CFG_TRC_TSTAMP_EN << 16 | (rui32_t)RKH_CFG_TRC_CHK_EN << 17)

// Two sizes in bytes.
#define SIZES(high_bits, low_bits) ((high_bits) / 8 << 4 | (low_bits) / 8)

void rkh_trc_describe(void)
{
    unsigned long lock = rkh_port_lock();
    rkh_trc_begin_bare(RKH_TE_FWK_TCFG);
    RKH_TRC_U16(VERSION);
    RKH_TRC_U32(FLAGS);
    RKH_TRC_U8(SIZES(RKH_CFG_FWK_SIZEOF_EVT, RKH_CFGPORT_TRC_SIZEOF_TSTAMP));
    RKH_TRC_U8(SIZES(RKH_CFGPORT_TRC_SIZEOF_PTR, RKH_CFG_TMR_SIZEOF_NTIMER));
    RKH_TRC_U8(SIZES(RKH_CFG_MP_SIZEOF_NBLOCK, RKH_CFG_QUE_SIZEOF_NELEM));
    RKH_TRC_U8(RKH_CFG_FWK_SIZEOF_EVT_SIZE / 8);
    RKH_TRC_U8(RKH_CFG_MP_SIZEOF_BSIZE / 8 << 4 | RKH_CFG_FWK_MAX_EVT_POOL);
    RKH_TRC_U16(RKH_STAMP_HZ);
    rkh_trc_end();
    rkh_port_unlock(lock);
    rkh_trc_flush();
}

void rkh_trc_name(RKH_TE_ID_T record, const void *object, const char *name)
{
    RKH_TRC_RECORD(record, RKH_TRC_SYM(object); RKH_TRC_STR(name));
    rkh_trc_flush();
}

void rkh_trc_name_state(RKH_TE_ID_T record, const void *ao, const void *state, const char *name)
{
    RKH_TRC_RECORD(record, RKH_TRC_SYM(ao); RKH_TRC_SYM(state); RKH_TRC_STR(name));
    rkh_trc_flush();
}

void rkh_trc_name_signal(RKH_SIG_T signal, const char *name)
{
    RKH_TRC_RECORD(RKH_TE_FWK_SIG, RKH_TRC_SIG(signal); RKH_TRC_STR(name));
    rkh_trc_flush();
}

void rkh_trc_name_index(RKH_TE_ID_T record, rui8_t index, const char *name)
{
    RKH_TRC_RECORD(record, RKH_TRC_U8(index); RKH_TRC_STR(name));
    rkh_trc_flush();
}
