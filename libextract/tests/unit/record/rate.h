// SPDX-License-Identifier: MIT
// tests: measures how fast a writer can be before a reader loses entries. The link is simulated in
// virtual time. The reader is either the recorder or a poller that copies the whole ring each time.
#ifndef TESTS_RATE_H
#define TESTS_RATE_H

#include "tests/unit/record/sim.h"

struct rate_link {
    const char *name;
    double bytes_per_second;
    uint64_t latency; // ns
};

static const struct rate_link rate_links[] = {
    {"100 KB/s, 1 ms", 100e3, 1000 * 1000},
    {"600 KB/s, 0.14 ms", 600e3, 140 * 1000},
};

// The reader must follow the writer for at least this many laps of the ring.
enum { RATE_TURNS = 8 };

static inline bool rate_setup(struct sim *sim, const struct rate_link *link, uint32_t slots,
                              double events_per_second)
{
    if (!sim_make(sim, slots))
        return false;
    sim_run(sim, 3 * (uint64_t)slots);
    sim->latency = link->latency;
    sim->word_ns = 4e9 / link->bytes_per_second;
    sim->per_ns = events_per_second / 1e9;
    return true;
}

static inline uint64_t rate_time(uint32_t slots, double events_per_second)
{
    double turns = RATE_TURNS * slots / events_per_second * 1e9;
    return (uint64_t)(turns > 2e9 ? turns : 2e9);
}

// Returns whether the recorder loses nothing after the first entry that it reads.
static inline bool rate_recorder_follows(struct sim_session *s, const struct rate_link *link,
                                         uint32_t slots, double events_per_second)
{
    if (!rate_setup(&s->sim, link, slots, events_per_second) || sim_open(s, NULL))
        return false;
    sim_record(s, rate_time(slots, events_per_second));
    bool whole = !s->judge.lost && !s->judge.fault && s->judge.entries;
    sim_close(s);
    return whole;
}

// The naive poller reads the pointer, the whole ring, and the pointer again. Entries between the
// two pointers may be torn. All other entries must include every entry since the previous poll.
// Truth: the simulation's own count.
static inline bool rate_naive_follows(struct sim_session *s, const struct rate_link *link,
                                      uint32_t slots, double events_per_second)
{
    struct sim *sim = &s->sim;
    if (!rate_setup(sim, link, slots, events_per_second))
        return false;
    uint64_t end = sim->now + rate_time(slots, events_per_second), had = sim->number;
    uint8_t *ring = malloc(32 * (size_t)slots), word[4];
    bool whole = ring != NULL;
    while (whole && sim->now < end) {
        sim_read(sim, SIM_ADDRESS + 32, word, sizeof word);
        uint64_t before = sim->number;
        sim_read(sim, SIM_ADDRESS + 4 * (SIM_HEADER + SIM_OBJECT), ring, 32 * (size_t)slots);
        sim_read(sim, SIM_ADDRESS + 32, word, sizeof word);
        whole = sim->number < had + slots;
        had = before;
    }
    free(ring);
    free(sim->words);
    return whole;
}

// Returns the highest rate that is followed without a loss, or 0 if there is none. The rate is in
// percent of the bound, which is the link's bytes per second divided by the size of an entry.
static inline unsigned
rate_best(struct sim_session *s, const struct rate_link *link, uint32_t slots,
          bool (*follows)(struct sim_session *, const struct rate_link *, uint32_t, double))
{
    unsigned good = 0, bad = 104;
    while (bad - good > 1) {
        unsigned percent = (good + bad) / 2;
        if (follows(s, link, slots, link->bytes_per_second / 32 * percent / 100))
            good = percent;
        else
            bad = percent;
    }
    return good;
}

#endif
