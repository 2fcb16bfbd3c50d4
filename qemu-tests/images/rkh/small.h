// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: a configuration: a ring of 200 bytes, no numbers and no stamps, signals of
// 32 bits.
#define RKH_CFG_TRC_SIZEOF_STREAM 200
#define RKH_CFG_TRC_NSEQ_EN       0
#define RKH_CFG_TRC_TSTAMP_EN     0
#define RKH_CFG_FWK_SIZEOF_EVT    32
