// SPDX-License-Identifier: MIT
// probe/qemu: guest memory through QEMU's qtest protocol, while the guest runs. In: addresses.
// Out: values. qtest answers 0 where nothing is mapped: the caller knows the map.
// Reference: QEMU, softmmu/qtest.c, the comment "QTest Protocol".
#ifndef PROBE_QTEST_H
#define PROBE_QTEST_H

#include "probe/qemu/channel.h"
#include <stdint.h>

struct qtest {
    struct channel channel;
    unsigned unanswered; // stores that were sent, whose answers were not taken yet
    bool big;            // the guest has big-endian words
};

// Asks for the guest's byte order. Returns false if QEMU has exited, or does not state it.
bool qtest_begin(struct qtest *qtest);

// One access of 1, 2, 4 or 8 bytes by the guest's own bus. In a value, the byte at the lowest
// address is the lowest, whatever the guest's byte order: so the lanes of a bus have it. A store is
// sent, not waited for; what is sent after it is done after it. False: QEMU is gone.
bool qtest_read(struct qtest *qtest, uint32_t address, unsigned bytes, uint64_t *value);
bool qtest_write(struct qtest *qtest, uint32_t address, unsigned bytes, uint64_t value);

// Many bytes at once, accessed in an unknown way: for a guest that is stopped.
bool qtest_read_block(struct qtest *qtest, uint32_t address, uint8_t *bytes, size_t length);

// Waits until all stores are done.
bool qtest_settle(struct qtest *qtest);

#endif
