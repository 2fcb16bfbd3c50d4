// SPDX-License-Identifier: MIT
// tests: the kernel functions that the recorder of qemu-tests/rtos/rkh needs, on a host without
// interrupts.
#ifndef TESTS_RKH_RECORDER_PORT_H
#define TESTS_RKH_RECORDER_PORT_H

#define RKH_STAMP_HZ 1000U

static inline unsigned long rkh_port_lock(void)
{
    return 0;
}

static inline void rkh_port_unlock(unsigned long lock)
{
    (void)lock;
}

#endif
