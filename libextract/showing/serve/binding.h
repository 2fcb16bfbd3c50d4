// SPDX-License-Identifier: MIT
// serve: two ids that change places. GDB steps or has selected a thread by its id. If another
// thread has the core after that, GDB must hear of the id it knows, or it fails. So the one on the
// core and the one that GDB means change ids, and each still has the registers that are its own.
//
//            a step ends, and another has the core            the target runs
//     FREE ────────────────────────────────────────> AT_STOP ─────────────────> FREE
//       │    the target was reset or loaded: the core has the selected id
//       └──────────────────────────────────────────> AT_START ────────────────> FREE
//                                                     a thread has the core at a stop
#ifndef EXTRACT_SERVE_BINDING_H
#define EXTRACT_SERVE_BINDING_H

#include <stdint.h>

enum binding_state { BINDING_FREE, BINDING_AT_STOP, BINDING_AT_START };

struct binding {
    enum binding_state state;
    uint64_t one, other; // the ids that have changed places
};

// Returns the id that GDB knows for one that belongs to a thread or a core, and the other way
// round.
uint64_t binding_swap(const struct binding *binding, uint64_t id);
// Gives the id `wanted` to what GDB knows as `id`. Both are ids that GDB knows.
void binding_set(struct binding *binding, enum binding_state state, uint64_t id, uint64_t wanted);

#endif
