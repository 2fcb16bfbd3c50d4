// SPDX-License-Identifier: MIT
// unit: a port on which a test plays the core: it sees each access to what others read, calls
// interrupts in between, and sets the clock. The test defines model_access(), which runs before
// each access, model_stored(), and the sizes.
#ifndef MODEL_PORT_H
#define MODEL_PORT_H

#include <stdint.h>

#define RINGSIDE_TRACE_CLOCK()     model_clock
#define RINGSIDE_TRACE_CLOCK_HZ    1000
#define RINGSIDE_TRACE_THREAD()    0x7000
#define RINGSIDE_TRACE_INTERRUPT() model_interrupt

static uint32_t model_clock;     // the stamp of what is recorded now
static uint32_t model_interrupt; // the number of the interrupt that runs
static unsigned model_masked;    // critical sections that are entered

#include "target/ports/firmware.h"

#define RINGSIDE_PORT_CALLER(address) ((uintptr_t)(address)-1)

static void model_access(void);
static void model_stored(uint32_t *word, uint32_t before);

static inline uint32_t model_load(const uint32_t *word)
{
    model_access();
    return *word;
}

static inline void model_store(uint32_t *word, uint32_t value)
{
    model_access();
    uint32_t before = *word;
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
}

static inline void ringside_port_fence(void)
{
}

#endif
