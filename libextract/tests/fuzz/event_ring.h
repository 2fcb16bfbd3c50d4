// SPDX-License-Identifier: MIT
// fuzz: makes events of ThreadX from any bytes. Each eight bytes are one event. Its id, thread,
// core, time and fields are chosen so that all roles of events meet.
#ifndef FUZZ_EVENT_RING_H
#define FUZZ_EVENT_RING_H

#include "tests/bench/ring_maker.h"

enum { BASE = 0x20000000, THREADS = 6, OBJECTS = 5, CORES = 4, EVENT_BYTES = 8 };

static inline uint32_t thread_at(unsigned i)
{
    return i % (THREADS + 1) ? BASE + 0x100000 + 0x100 * (i % (THREADS + 1)) : 0;
}

static inline uint32_t object_at(unsigned i)
{
    return BASE + 0x200000 + 0x40 * (i % OBJECTS);
}

static inline void make_event(struct maker *ring, const uint8_t *b, bool several, uint32_t *stamp)
{
    static const uint8_t ids[] = {1,   2,   3,   4,   5,   6,   10,  17,  20,  27, 31, 32,
                                  36,  51,  52,  57,  62,  63,  68,  69,  80,  83, 88, 100,
                                  101, 107, 109, 110, 111, 112, 114, 115, 117, 200};
    uint32_t id = ids[b[0] % sizeof ids], thread = thread_at(b[1]);
    bool is_thread = id == 1 || id == 2 || (id >= 100 && id < 120);
    const uint32_t info[] = {id == 5     ? thread_at(b[4])
                             : is_thread ? thread_at(b[4])
                                         : object_at(b[4]),
                             id == 109 || id == 57 ? thread_at(b[5]) : b[5] % 16,
                             id == 52   ? thread_at(b[6])
                             : id == 57 ? b[6] % 3
                                        : b[6],
                             id == 52 ? b[7] % 3 : thread_at(b[7])};
    uint32_t context = b[2] % 8 == 7 ? MAKER_INIT : b[2] % 8 > 4 || !thread ? MAKER_ISR : thread;
    uint32_t word = context == MAKER_ISR ? thread : b[2] & 0x80 ? 8 : MAKER_PRIORITY(b[2] / 8, 8);
    uint32_t core = several ? b[3] % CORES : 0;

    *stamp += b[3] / 4;
    maker_event(ring, context, word, id | core << 24, *stamp, info);
}

#endif
