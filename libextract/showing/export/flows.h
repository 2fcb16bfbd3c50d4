// SPDX-License-Identifier: MIT
// export: the wake-ups of a thread, until the slice comes in which it runs.
//
// A slice is known when the next one of its core begins, so that the thread may have been woken
// again by then, several times, and slices of several cores may come out of order. A wake-up
// belongs to the first slice after it: to one before which it is the newest.
#ifndef EXTRACT_EXPORT_FLOWS_H
#define EXTRACT_EXPORT_FLOWS_H

#include <stdbool.h>
#include <stdint.h>

enum { EXPORT_FLOWS = 32 }; // wake-ups of a thread that are kept

struct export_flows {
    struct export_flow {
        uint64_t at;   // ticks
        uint64_t from; // what the exporter has said of it; 0: its slice has come
    } list[EXPORT_FLOWS];
    unsigned count; // of all wake-ups
};

// Adds a wake-up. `from` is not 0.
static inline void export_flows_add(struct export_flows *flows, uint64_t at, uint64_t from)
{
    flows->list[flows->count++ % EXPORT_FLOWS] = (struct export_flow){at, from};
}

// Returns the wake-up that a slice from `at` on belongs to, and forgets it; `from` is 0 if there is
// none.
static inline struct export_flow export_flows_take(struct export_flows *flows, uint64_t at)
{
    for (unsigned i = 0; i < EXPORT_FLOWS && i < flows->count; i++) {
        struct export_flow *flow = &flows->list[(flows->count - 1 - i) % EXPORT_FLOWS];
        if (flow->at > at)
            continue;
        struct export_flow found = *flow;
        flow->from = 0;
        return found;
    }
    return (struct export_flow){0, 0};
}

#endif
