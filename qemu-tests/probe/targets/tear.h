// SPDX-License-Identifier: MIT
// probe/targets: the tear injector. In: beats, counted. Out: guest memory that moves between two of
// them, the same way each time: scripted writes, a ring that a writer advances, or the guest
// itself, let run for a while.
#ifndef PROBE_TEAR_H
#define PROBE_TEAR_H

#include "probe/targets/target.h"
#include <extract/text.h>

enum { TEAR_STEPS = 65536 };

// A write that is due `beats` after the one before it.
struct tear_step {
    uint64_t beats;
    uint32_t address, value;
};

// A writer of a ThreadX event ring, store by store, as the kernel does it: the eight words of an
// entry, the live pointer, the header's copy of it.
struct tear_ring {
    uint32_t header, live; // addresses; live 0: there is no live pointer
    uint32_t start, end, current;
    uint32_t sequence; // of the next entry
    unsigned store;    // of the insert under way
};

struct tear {
    const struct target *target;
    struct tear_step *steps; // owned
    size_t step_count, step_next;
    uint64_t script_beats; // since the last scripted write
    struct tear_ring ring;
    uint64_t ring_every, ring_stores; // stores after every `ring_every` beats; 0: off
    uint64_t ring_beats;
    bool ring_failed;              // the writer's memory is gone
    uint64_t run_every, run_beats; // beats; 0: off
    uint64_t run_us;
};

void tear_free(struct tear *tear);

// Ends all that is set; a guest that stood for it runs on.
void tear_off(struct tear *tear);

// Adds a scripted write. Errors: LIMIT, NOMEM.
enum extract_code tear_add(struct tear *tear, struct tear_step step, struct extract_error *error);

// Starts the writer of the ring whose control header is at `header`; `live` is the address of
// _tx_trace_buffer_current_ptr, or 0. Errors: UNREADABLE, BAD (no ring of 4-byte words there).
enum extract_code tear_start_ring(struct tear *tear, uint64_t beats, uint64_t stores,
                                  uint32_t header, uint32_t live, struct extract_error *error);

// Stops the guest and lets it run for `us` microseconds after every `beats` beats.
// Errors: UNSUPPORTED.
enum extract_code tear_start_run(struct tear *tear, uint64_t beats, uint64_t us,
                                 struct extract_error *error);

// A beat has ended.
void tear_beat(struct tear *tear);

// What is set and done, as "key=value" words.
void tear_describe(const struct tear *tear, struct extract_text *text);

enum { TEAR_STORES = 10 }; // of one entry

#endif
