// SPDX-License-Identifier: MIT
// serve: two ids that change places (binding.h).
#include "serve/binding.h"

uint64_t binding_swap(const struct binding *binding, uint64_t id)
{
    if (binding->state == BINDING_FREE)
        return id;
    return id == binding->one ? binding->other : id == binding->other ? binding->one : id;
}

void binding_set(struct binding *binding, enum binding_state state, uint64_t id, uint64_t wanted)
{
    const uint64_t one = binding_swap(binding, id), other = wanted;

    *binding =
        (struct binding){.state = one == other ? BINDING_FREE : state, .one = one, .other = other};
}
