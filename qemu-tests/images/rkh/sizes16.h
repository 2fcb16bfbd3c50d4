// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: a configuration: 16 bits wherever there may be, but functions; no
// checksum, no senders, no low-water marks of queues.
#define RKH_CFG_TRC_CHK_EN             0
#define RKH_CFG_SMA_TRC_SNDR_EN        0
#define RKH_CFG_QUE_GET_LWMARK_EN      0
#define RKH_CFGPORT_TRC_SIZEOF_PTR     16
#define RKH_CFGPORT_TRC_SIZEOF_FUN_PTR 32
#define RKH_CFGPORT_TRC_SIZEOF_TSTAMP  16
#define RKH_CFG_FWK_SIZEOF_EVT         16
#define RKH_CFG_FWK_SIZEOF_EVT_SIZE    8
#define RKH_CFG_MP_SIZEOF_NBLOCK       16
#define RKH_CFG_MP_SIZEOF_BSIZE        16
#define RKH_CFG_QUE_SIZEOF_NELEM       16
#define RKH_CFG_TMR_SIZEOF_NTIMER      32
