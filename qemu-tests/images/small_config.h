// SPDX-License-Identifier: MIT
// qemu-tests/images: the recorder's settings for the small image: names of 16 bytes, and a 16-bit
// down counter whose word has anything above its mask.
#ifndef SMALL_CONFIG_H
#define SMALL_CONFIG_H

#include "bout.h"

#define TX_TRACE_OBJECT_REGISTRY_NAME 16
#define TX_TRACE_TIME_MASK            0xFFFFUL
#define TX_TRACE_TIME_SOURCE()        small_stamp()

ULONG small_stamp(void);

#endif
