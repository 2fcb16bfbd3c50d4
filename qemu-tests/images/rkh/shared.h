// SPDX-License-Identifier: MIT
// qemu-tests/images/rkh: what the images with RKH streams share. In: a stream. Out: what a serial
// line would have carried.
#ifndef RKH_SHARED_H
#define RKH_SHARED_H

#include "image.h"
#include "rkh/framework.h"

// What the flush hook has sent, and whether it does, which tests may change: it does where the ring
// has its full size.
enum { RKH_MAX_SENT = 28 * 1024 };
extern UCHAR rkh_sent[RKH_MAX_SENT];
extern volatile uint32_t rkh_sent_bytes, rkh_sends;

// The end of an image's work: a last flush, and rkh_done is 1.
extern volatile uint32_t rkh_done;
void rkh_finish(void);

#endif
