// SPDX-License-Identifier: MIT
// probe/jtag: fault ranges, WAIT answers and the speed of the link. In: beats and requests. Out:
// whether they fail or must wait, and when the next one may start.
#include "probe/jtag/knobs.h"
#include <time.h>

enum { SECOND = 1000000000 };

uint64_t knobs_now(void)
{
    struct timespec t = {0, 0};
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * SECOND + (uint64_t)t.tv_nsec;
}

bool knobs_is_fault(const struct knobs *knobs, uint32_t address, unsigned bytes)
{
    for (size_t i = 0; i < knobs->fault_count; i++) {
        const struct range *range = &knobs->faults[i];
        if (address + (uint64_t)bytes > range->address && address < range->address + range->length)
            return true;
    }
    return false;
}

// A transaction starts when the link is free. Its beats follow each other without a gap, however
// long the other side takes to ask for them: as those of one transfer do.
void knobs_charge(struct knobs *knobs, unsigned bytes, bool begins)
{
    struct link_speed *link = &knobs->link;
    knobs->counters.transactions += begins;
    if (!link->latency_ns && !link->limit)
        return;
    uint64_t cost = begins ? link->latency_ns : 0;
    if (link->limit)
        cost += ((uint64_t)bytes * SECOND + link->limit - 1) / link->limit;
    if (begins) {
        uint64_t now = knobs_now();
        link->free_at = link->free_at > now ? link->free_at : now;
    }
    link->free_at += cost;
    link->due = link->free_at;
    knobs->counters.link_ns += cost;
}

void knobs_count_request(struct knobs *knobs, bool is_read)
{
    if (is_read)
        knobs->counters.ap_reads++;
    else
        knobs->counters.ap_writes++;
    if (knobs->wait_every && ++knobs->requests >= knobs->wait_every) {
        knobs->requests = 0;
        knobs->waiting = knobs->wait_times;
    }
}

bool knobs_take_wait(struct knobs *knobs)
{
    if (!knobs->waiting)
        return false;
    knobs->waiting--;
    knobs->counters.waits++;
    return true;
}
