// SPDX-License-Identifier: MIT
// qemu-tests/rtos/rkh: what an image can choose. In: RKH_CONFIG, a header that sets some of these.
// Out: all of them. Sizes are in bits: 8, 16 or 32.
#ifndef RKH_CONFIG_H
#define RKH_CONFIG_H

#ifdef RKH_CONFIG
#include RKH_CONFIG
#endif

#ifndef RKH_CFG_TRC_SIZEOF_STREAM
#define RKH_CFG_TRC_SIZEOF_STREAM 2048 // bytes, at most 2048
#endif
#ifndef RKH_CFG_TRC_NSEQ_EN
#define RKH_CFG_TRC_NSEQ_EN 1
#endif
#ifndef RKH_CFG_TRC_TSTAMP_EN
#define RKH_CFG_TRC_TSTAMP_EN 1
#endif
#ifndef RKH_CFG_TRC_CHK_EN
#define RKH_CFG_TRC_CHK_EN 1
#endif
#ifndef RKH_CFG_SMA_TRC_SNDR_EN
#define RKH_CFG_SMA_TRC_SNDR_EN 1
#endif
#ifndef RKH_CFG_QUE_GET_LWMARK_EN
#define RKH_CFG_QUE_GET_LWMARK_EN 1
#endif
#ifndef RKH_CFG_MP_GET_LWM_EN
#define RKH_CFG_MP_GET_LWM_EN 1
#endif

#ifndef RKH_CFGPORT_TRC_SIZEOF_PTR
#define RKH_CFGPORT_TRC_SIZEOF_PTR 32
#endif
#ifndef RKH_CFGPORT_TRC_SIZEOF_FUN_PTR
#define RKH_CFGPORT_TRC_SIZEOF_FUN_PTR 32
#endif
#ifndef RKH_CFGPORT_TRC_SIZEOF_TSTAMP
#define RKH_CFGPORT_TRC_SIZEOF_TSTAMP 32
#endif
#ifndef RKH_CFG_FWK_SIZEOF_EVT
#define RKH_CFG_FWK_SIZEOF_EVT 8
#endif
#ifndef RKH_CFG_FWK_SIZEOF_EVT_SIZE
#define RKH_CFG_FWK_SIZEOF_EVT_SIZE 16
#endif
#ifndef RKH_CFG_MP_SIZEOF_NBLOCK
#define RKH_CFG_MP_SIZEOF_NBLOCK 8
#endif
#ifndef RKH_CFG_MP_SIZEOF_BSIZE
#define RKH_CFG_MP_SIZEOF_BSIZE 8
#endif
#ifndef RKH_CFG_QUE_SIZEOF_NELEM
#define RKH_CFG_QUE_SIZEOF_NELEM 8
#endif
#ifndef RKH_CFG_TMR_SIZEOF_NTIMER
#define RKH_CFG_TMR_SIZEOF_NTIMER 16
#endif

#ifndef RKH_CFG_FWK_MAX_SMA
#define RKH_CFG_FWK_MAX_SMA 16
#endif
#ifndef RKH_CFG_FWK_MAX_SIGNALS
#define RKH_CFG_FWK_MAX_SIGNALS 64
#endif
#ifndef RKH_CFG_FWK_MAX_EVT_POOL
#define RKH_CFG_FWK_MAX_EVT_POOL 4 // at most 10
#endif

#endif
