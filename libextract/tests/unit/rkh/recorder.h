// SPDX-License-Identifier: MIT
// tests: compiles the recorder of qemu-tests/rtos/rkh for the host, with the configuration of the
// file that includes this one. A test writes records and checks the bytes of the stream.
#ifndef TESTS_RKH_RECORDER_H
#define TESTS_RKH_RECORDER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#define RKH_PORT "tests/unit/rkh/recorder_port.h"
#include "../../../../qemu-tests/rtos/rkh/stream.c"
#include "../../../../qemu-tests/rtos/rkh/record.c"
#include "../../../../qemu-tests/rtos/rkh/filter.c"
#include "../../../../qemu-tests/rtos/rkh/names.c"

static RKH_TS_T recorder_clock;
static unsigned recorder_flushes;

RKH_TS_T rkh_trc_getts(void)
{
    return recorder_clock;
}

void rkh_trc_flush(void)
{
    recorder_flushes++;
}

static inline int recorder_setup(void **state)
{
    (void)state;
    rkh_trc_init();
    rkh_filter_everything(RKH_FILTER_OFF);
    recorder_clock = 0;
    recorder_flushes = 0;
    return 0;
}

// Makes an address from a number, as on a target.
static inline const void *recorder_at(uintptr_t address)
{
    return (const void *)address;
}

// Checks that the stream consists of its first flag and these frames.
static inline void recorder_wrote(const char *frames, size_t bytes)
{
    rui8_t stream[RKH_CFG_TRC_SIZEOF_STREAM];
    TRCQTY_T have = rkh_trc_getWholeBlock(stream, sizeof stream);
    assert_int_equal(have, bytes + 1);
    assert_int_equal(stream[0], 0x7E);
    assert_memory_equal(stream + 1, frames, bytes);
}
#define RECORDER_WROTE(frames) recorder_wrote(frames, sizeof(frames) - 1)

#endif
