// SPDX-License-Identifier: MIT
// bench: the events a second that are followed without a loss, over two links in virtual time, for
// rings of every size; beside the bound (bytes a second by the size of an entry) and beside a
// poller that copies the whole ring each time.
#include "tests/unit/record/rate.h"
#include <stdio.h>

enum { WANTED = 85 }; // percent of the bound

static uint32_t measure(struct sim_session *s, const struct rate_link *link)
{
    uint32_t from = 0;
    double bound = link->bytes_per_second / 32;
    printf("link of %s: the bound is %.0f events/s\n", link->name, bound);
    printf("%10s %14s %9s %14s %9s\n", "entries", "recorder", "of bound", "whole ring", "of bound");
    for (uint32_t slots = 64; slots <= 8192; slots *= 2) {
        unsigned ours = rate_best(s, link, slots, rate_recorder_follows);
        unsigned naive = rate_best(s, link, slots, rate_naive_follows);
        printf("%10u %12.0f/s %8u%% %12.0f/s %8u%%\n", slots, bound * ours / 100, ours,
               bound * naive / 100, naive);
        from = ours < WANTED ? 0 : from ? from : slots;
    }
    return from;
}

int main(void)
{
    static struct sim_session session;
    for (size_t i = 0; i < sizeof rate_links / sizeof *rate_links; i++) {
        uint32_t from = measure(&session, &rate_links[i]);
        if (from)
            printf("at least %d%% of the bound from rings of %u entries on\n\n", WANTED, from);
        else
            printf("less than %d%% of the bound\n\n", WANTED);
    }
    return 0;
}
