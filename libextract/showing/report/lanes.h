// SPDX-License-Identifier: MIT
// report: the lanes of a picture of the schedule: cores, interrupts, and threads by priority.
//
//     lanes_open     the first walk finds the range of times, the lanes and their order
//     lanes_walk     the second one passes what is in each lane, as it becomes known
#ifndef EXTRACT_REPORT_LANES_H
#define EXTRACT_REPORT_LANES_H

#include "base/map.h"
#include "schedule/walk.h"
#include <extract/filter.h>

enum { LANES_MOST = 1000 };

enum lane_kind { LANE_CORE, LANE_ISR, LANE_THREAD };

// What is in a lane. A state that is only likely is unknown.
enum lane_state {
    LANE_IDLE = 0,
    LANE_RUNNING,
    LANE_READY,
    LANE_BLOCKED,
    LANE_SLEEPING,
    LANE_SUSPENDED, // or ended
    LANE_UNKNOWN,
    LANE_LOST, // entries are missing
    LANE_STATES
};

struct lane {
    enum lane_kind kind;
    uint64_t key;      // number of the core or interrupt, address of the thread
    uint16_t priority; // of a thread: its newest one; EXTRACT_NO_PRIORITY: not known
    unsigned urgency;  // of this priority; low is urgent
    bool is_chosen;    // an event of the thread was let through
    bool has_state;    // of a thread: it has a state in the time of the picture
    char *name;        // escaped for a terminal; owned
};

struct lanes {
    const struct extract_view *view;
    const struct extract_trace *trace;
    uint64_t from, to; // of the picture; from < to, unless there is nothing in it
    struct lane *list; // in order; owned
    size_t count, capacity;
    size_t left_out;                            // lanes beyond LANES_MOST
    struct extract_map places[LANE_THREAD + 1]; // by kind: index + 1 of a key
    bool has_failed;                            // out of memory
};

// What is in a lane from one time to another.
struct lane_part {
    uint64_t from, to;
    enum lane_state state;
    const struct extract_state *of_thread;  // NULL: it is a core or an interrupt, or lost
    const struct extract_interval *of_core; // NULL: it is a thread, or lost
};

// Finds the lanes of a view. The view and the trace must outlive them. If the view chooses threads,
// only their lanes are taken. Errors: NOMEM, UNSUPPORTED (no event shows a schedule).
enum extract_code lanes_open(struct lanes *lanes, const struct extract_view *view,
                             const struct extract_trace *trace, struct extract_error *error);
void lanes_free(struct lanes *lanes);
// Passes the parts of all lanes; a loss has the lane `lanes->count`, since it is in all of them.
enum extract_code lanes_walk(struct lanes *lanes,
                             void (*put)(void *context, size_t lane, const struct lane_part *part),
                             void *context, struct extract_error *error);

// An axis of times with labels at 1, 2 or 5 times a power of ten.
struct lanes_axis {
    uint64_t step;    // ticks between two labels
    const char *unit; // of a label
    double per_tick;  // units
};
// Chooses the labels of an axis of `columns` of any width, which are at least `distance` apart.
// `hz` is 0 if the rate of the clock is not known.
struct lanes_axis lanes_axis_choose(const struct lanes *lanes, uint64_t hz, unsigned columns,
                                    unsigned distance);
// Sets the time of the first label. Returns false if the lanes end before it.
bool lanes_axis_first(const struct lanes *lanes, const struct lanes_axis *axis, uint64_t *time);
// Moves from the time of a label to that of the next. Returns false if the lanes end before it.
bool lanes_axis_next(const struct lanes *lanes, const struct lanes_axis *axis, uint64_t *time);
// Returns the word for a state.
const char *lane_state_name(enum lane_state state);

#endif
