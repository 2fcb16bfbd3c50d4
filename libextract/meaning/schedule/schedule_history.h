// SPDX-License-Identifier: MIT
// schedule: the history: the parts of a schedule that lie in a few windows of time, sorted, so that
// they can be looked up. Memory depends on what happened in the windows.
#ifndef EXTRACT_SCHEDULE_SCHEDULE_HISTORY_H
#define EXTRACT_SCHEDULE_SCHEDULE_HISTORY_H

#include "base/map.h"
#include <extract/schedule.h>

struct history_window {
    uint64_t from, to;
};

struct history {
    // In order, without overlaps. With several cores, also times in which threads that were ready
    // at the end of a window may have had a core.
    struct history_window *windows;
    size_t window_count, window_capacity;
    struct extract_interval *intervals; // by core and time
    struct extract_state *states;       // by thread and time; of a thread that is ready at the end
                                        // of a window also those until it gets a core
    struct extract_ownership *owners;   // by mutex and time
    struct extract_wake *wakes;         // by thread and time; some are from before a window
    size_t interval_count, state_count, owner_count, wake_count;
    size_t interval_capacity, state_capacity, owner_capacity, wake_capacity;
    struct history_thread {
        struct extract_wake newest, older; // its newest wake-up, and the one before
        uint8_t core;                      // one of its board
        bool has_core;                     // `core` is valid
        bool is_ready;                     // in the newest state that was kept
    } * threads;
    size_t thread_count, thread_capacity;
    struct extract_map thread_map;
    unsigned core_count;
    uint64_t board_starts; // as in struct extract_trace
    bool failed;           // out of memory
};

// Reads the history of the windows, which may be in any order and overlap; history_free frees it,
// also after an error. Errors: NOMEM, and those of extract_schedule_run.
enum extract_code history_read(struct history *history, const struct extract_trace *trace,
                               const struct history_window *windows, size_t count,
                               struct extract_error *error);
void history_free(struct history *history);

// Return the first part of a core, thread or mutex that ends after `at`; NULL if there is none.
const struct extract_interval *history_interval(const struct history *history, uint8_t core,
                                                uint64_t at);
const struct extract_state *history_state(const struct history *history, uint64_t thread,
                                          uint64_t at);
const struct extract_ownership *history_owner(const struct history *history, uint64_t mutex,
                                              uint64_t at);
// Returns the core that a thread which is ready gets next; -1: not known.
int history_next_core(const struct history *history, uint64_t thread, uint64_t at);
// Returns the newest wake-up of a thread at or before a time; NULL if none is known.
const struct extract_wake *history_wake(const struct history *history, uint64_t thread,
                                        uint64_t at);

#endif
