// SPDX-License-Identifier: MIT
// events: how many events a gap of a recording is likely to hold.
//
// What is certain about a gap stands in the log: at least `lost` entries, and any multiple of
// `modulo` more. A ring of slots does not count its laps, so the rest can only be estimated, from
// the stamps on both sides of the gap and from the load that the whole recording shows. This module
// makes that estimate: an interval that holds the true number in at least 90 of 100 gaps, and the
// largest number that the target can have made if it was never faster than it was seen to be.
//
// It is fed with the events of a recording, oldest first, once, and estimates all gaps at the end,
// when the fastest load is known. It keeps sums and one record per gap, and no events.
//
//                  entry                    gap                       entry
//     NO_ENTRY ─────────────► IN_ROW ──────────────────► IN_GAP ──────────────► AFTER_GAP
//        ▲                    ▲    │                       │  ▲                    │   │
//        │ break              │    │ break                 │  └─────── gap ────────┘   │
//        └────────────────────┼────┴──── break, gap ───────┘                           │
//                             └──────────────── half a lap of entries ─────────────────┘
#ifndef EXTRACT_EVENTS_LOSS_ESTIMATOR_H
#define EXTRACT_EVENTS_LOSS_ESTIMATOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOSS_REFERENCES = 3, // rates that a gap's own rate is compared with
    LOSS_SPREADS = 5,    // how far it may be from each of them
    LOSS_HYPOTHESES = LOSS_REFERENCES * LOSS_SPREADS + 1,
    LOSS_CANDIDATES = 256 // numbers that are weighed; of more, one stands for several
};

struct load { // entries in so many ticks of the target's clock
    double entries, ticks;
};

// A gap whose number is not exact, and what is said of it in the end.
struct loss_estimate {
    uint64_t id; // as loss_estimator_gap was told
    uint64_t at_least, modulo;
    double ticks;               // from the entry before it to the one after it
    struct load around, lately; // the load next to it, and over the laps before it
    bool is_known;              // false: too little was seen for the numbers below
    uint64_t at_most;
    uint64_t low, high; // the interval that holds the true number in 90 of 100 gaps
};

enum loss_state {
    LOSS_NO_ENTRY, // nothing is known of the time before the next entry
    LOSS_IN_ROW,   // the next entry follows the last one
    LOSS_IN_GAP,   // the next entry is the first after a gap
    LOSS_AFTER_GAP // the same, and what comes after the gap is still being counted
};

struct loss_estimator {
    double lap; // entries of the ring
    enum loss_state state;
    uint64_t last;      // ticks of the newest entry
    uint64_t counted;   // entries of a gap that is exact
    bool is_counted;    // the gap is
    struct load window; // of entries in a row, up to a quarter of a lap
    struct load before; // the window before that one
    struct load after;  // since the newest gap
    struct load lately; // the newest laps; old ones count less
    struct load all;    // the whole recording
    double fastest;     // entries per tick: the fastest window
    bool has_window;    // of entries that were counted one by one, or are a gap that is exact
    double weight[LOSS_HYPOTHESES];
    double (*share)[LOSS_CANDIDATES]; // of each hypothesis, for the gap in hand
    struct loss_estimate *gaps;       // by rising id
    size_t count, capacity;
    bool is_starved; // memory was short: estimates are missing
};

// `lap`: entries of the ring.
void loss_estimator_start(struct loss_estimator *e, uint64_t lap);
void loss_estimator_free(struct loss_estimator *e);
// The next entry, at `ticks` (unwrapped).
void loss_estimator_entry(struct loss_estimator *e, uint64_t ticks);
// A gap follows, of at least `at_least` entries and any multiple of `modulo` more (0: exactly
// those). `id` rises from gap to gap.
void loss_estimator_gap(struct loss_estimator *e, uint64_t id, uint64_t at_least, uint64_t modulo);
// What comes next does not follow: how many entries and ticks lie between is not known.
void loss_estimator_break(struct loss_estimator *e);
// The recording ends: makes the estimates. Until then, loss_estimator_find knows none.
void loss_estimator_end(struct loss_estimator *e);
// The estimate for a gap, or NULL: too little was seen.
const struct loss_estimate *loss_estimator_find(const struct loss_estimator *e, uint64_t id);

#endif
