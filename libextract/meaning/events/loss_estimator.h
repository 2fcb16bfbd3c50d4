// SPDX-License-Identifier: MIT
// events: how many events a gap of a recording is likely to hold.
//
// A log states what is certain of a gap: at least `lost` entries, and any multiple of `modulo`
// more. A slot ring does not count its laps, so the rest can only be estimated from the timestamps
// on both sides of the gap and from the load of the whole recording. An estimate has two parts: an
// interval that holds the true number in at least 90 of 100 gaps, and the largest number that is
// possible if the target was never faster than the recording shows.
//
// The estimator is fed once with the events of a recording, oldest first. It estimates all gaps at
// the end, when the fastest load is known. It keeps sums and one record per gap, but no events.
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
    LOSS_REFERENCES = 3, // rates with which the rate in a gap is compared
    LOSS_SPREADS = 5,    // distances that it may have from each of them
    LOSS_HYPOTHESES = LOSS_REFERENCES * LOSS_SPREADS + 1,
    LOSS_CANDIDATES = 256 // numbers that are weighed; if there are more, one stands for several
};

struct load { // number of entries in a time, in ticks of the target's clock
    double entries, ticks;
};

// A gap whose number is not exact, and its estimate.
struct loss_estimate {
    uint64_t id; // as passed to loss_estimator_gap
    uint64_t at_least, modulo;
    double ticks;               // from the entry before it to the one after it
    struct load around, lately; // load next to the gap, and over the laps before it
    bool is_known;              // the numbers below are valid: enough was seen
    uint64_t at_most;
    uint64_t low, high; // the interval that holds the true number in 90 of 100 gaps
};

enum loss_state {
    LOSS_NO_ENTRY, // nothing is known of the time before the next entry
    LOSS_IN_ROW,   // the next entry follows the last one
    LOSS_IN_GAP,   // the next entry is the first after a gap
    LOSS_AFTER_GAP // as IN_ROW, but the entries still count as those after the gap
};

struct loss_estimator {
    double lap; // number of entries of the ring
    enum loss_state state;
    uint64_t last;      // ticks of the newest entry
    uint64_t counted;   // number of entries of a gap that is exact
    bool is_counted;    // the gap is exact
    struct load window; // the newest entries in a row, up to a quarter of a lap
    struct load before; // the window before that one
    struct load after;  // entries since the newest gap
    struct load lately; // the newest laps; old entries count less
    struct load all;    // the whole recording
    double fastest;     // entries per tick of the fastest window
    bool has_window;    // a window was full: of entries in a row, or an exact gap
    double weight[LOSS_HYPOTHESES];
    double (*share)[LOSS_CANDIDATES]; // per hypothesis, for the current gap
    struct loss_estimate *gaps;       // by rising id
    size_t count, capacity;
    bool is_starved; // memory ran out: estimates are missing
};

// `lap` is the number of entries of the ring.
void loss_estimator_start(struct loss_estimator *e, uint64_t lap);
void loss_estimator_free(struct loss_estimator *e);
// Adds the next entry, at `ticks` (unwrapped).
void loss_estimator_entry(struct loss_estimator *e, uint64_t ticks);
// Adds a gap of at least `at_least` entries and any multiple of `modulo` more; 0 means exactly
// `at_least`. Ids must rise from gap to gap.
void loss_estimator_gap(struct loss_estimator *e, uint64_t id, uint64_t at_least, uint64_t modulo);
// Notes that the next entry does not follow: how many entries and ticks are in between is unknown.
void loss_estimator_break(struct loss_estimator *e);
// Ends the recording and makes the estimates. Before that, loss_estimator_find finds none.
void loss_estimator_end(struct loss_estimator *e);
// Returns the estimate for a gap; NULL if too little was seen.
const struct loss_estimate *loss_estimator_find(const struct loss_estimator *e, uint64_t id);

#endif
