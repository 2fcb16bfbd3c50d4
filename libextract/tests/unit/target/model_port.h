// SPDX-License-Identifier: MIT
// unit: a port on which a test plays the core. The port sees each access to memory that others
// read, calls interrupts in between, and sets the clock. The test defines model_access(), which
// runs before each access, model_stored(), and the sizes.
//
// Without barriers, a machine may make stores in another order than the program. So each thread and
// interrupt must pass a barrier of its own at three points: between the tail and what it
// overwrites, between a record and the head, and between the data and the word that marks the
// record done.
#ifndef MODEL_PORT_H
#define MODEL_PORT_H

#include <assert.h>
#include <stdint.h>

#define RINGSIDE_TRACE_CLOCK()     model_clock
#define RINGSIDE_TRACE_CLOCK_HZ    1000
#define RINGSIDE_TRACE_THREAD()    0x7000
#define RINGSIDE_TRACE_INTERRUPT() model_interrupt

static uint32_t model_clock;     // the timestamp of the next record
static uint32_t model_interrupt; // the number of the interrupt that runs
static unsigned model_masked;    // nesting depth of critical sections

#include "target/ports/firmware.h"

#include "target/layout.h" // the layout of this port

#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-1)

extern struct ringside_memory ringside_posix;
static void model_access(void);
static void model_stored(uint32_t *word, uint32_t before);

enum { MODEL_WRITERS = 32, MODEL_OPEN = 1 };

// What each writer has stored since its last barrier.
static struct {
    bool tail, ring;
} model_unordered[MODEL_WRITERS];

static inline unsigned model_writer(void)
{
    assert(model_interrupt < MODEL_WRITERS);
    return model_interrupt;
}

static inline bool model_in_ring(const uint32_t *word)
{
    const uint32_t *rings = &ringside_posix.rings[0][0];
    return word >= rings && word < rings + sizeof ringside_posix.rings / sizeof *rings;
}

// Asserts that the store of `value` keeps the order.
static inline void model_order(const uint32_t *word, uint32_t value)
{
    unsigned who = model_writer();
    if (model_in_ring(word)) {
        bool done = *word >> 30 == MODEL_OPEN && value == *word + (UINT32_C(1) << 30);
        assert(!model_unordered[who].tail);
        assert(!done || !model_unordered[who].ring);
        model_unordered[who].ring = !done;
        return;
    }
    for (unsigned i = 0; i < RINGSIDE_TRACE_STREAMS; i++) {
        if (word == &ringside_posix.streams[i].head)
            assert(!model_unordered[who].ring);
        if (word == &ringside_posix.streams[i].tail)
            model_unordered[who].tail = true;
    }
}

static inline uint32_t model_load(const uint32_t *word)
{
    model_access();
    return *word;
}

static inline void model_store(uint32_t *word, uint32_t value)
{
    model_access();
    uint32_t before = *word;
    model_order(word, value);
    *word = value;
    model_stored(word, before);
}

#define RINGSIDE_LOAD(word)         model_load((const uint32_t *)&(word))
#define RINGSIDE_STORE(word, value) model_store((uint32_t *)&(word), value)

typedef unsigned ringside_port_state;

static inline ringside_port_state ringside_port_enter(struct ringside_memory *m)
{
    (void)m;
    return model_masked++;
}

static inline void ringside_port_leave(struct ringside_memory *m, ringside_port_state state)
{
    (void)m;
    model_masked = state;
}

static inline void ringside_port_barrier(void)
{
    model_unordered[model_writer()].tail = false;
    model_unordered[model_writer()].ring = false;
}

static inline void ringside_port_fence(void)
{
}

#endif
