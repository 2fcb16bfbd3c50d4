// SPDX-License-Identifier: MIT
// analysis/rkh: the statistics of an RKH stream: active objects, signals, states, queues, pools,
// timers and assertions.
//
// One walk over all events of a trace computes them (analysis.c), with the help of states.c,
// rkh_messages.c and queues_and_pools.c. Each of these keeps rows in tables, which reports then
// print. All events are followed, since earlier events give later ones their meaning; only those
// that the view lets through are counted. Times cover the view's range.
//
// Addresses are meaningful only together with the firmware. So rows of runs with different layouts
// are kept apart, and every row has the sequence number of its last event, by which its names are
// found.
//
// Source: docs/formats/rkh-text.md, "What events mean".
#ifndef EXTRACT_ANALYSIS_RKH_ANALYSIS_H
#define EXTRACT_ANALYSIS_RKH_ANALYSIS_H

#include "analysis/rkh/posts.h"
#include "analysis/rkh/rkh_table.h"
#include <extract/report.h>

// Ids of the events that the analysis reads.
enum rkh_event {
    RKH_MP_INIT = 0,
    RKH_MP_GET,
    RKH_MP_PUT,
    RKH_QUE_INIT = 32,
    RKH_QUE_GET,
    RKH_QUE_FIFO,
    RKH_QUE_LIFO,
    RKH_QUE_FULL,
    RKH_QUE_DPT,
    RKH_QUE_GET_LAST,
    RKH_SMA_ACT = 64,
    RKH_SMA_TERM,
    RKH_SMA_GET,
    RKH_SMA_FIFO,
    RKH_SMA_LIFO,
    RKH_SMA_DEFER = 71,
    RKH_SMA_RCALL,
    RKH_SM_INIT = 96,
    RKH_SM_TRN = 98,
    RKH_SM_STATE,
    RKH_SM_ENSTATE,
    RKH_SM_EVT_PROC = 105,
    RKH_SM_EVT_NFOUND,
    RKH_SM_GRD_FALSE,
    RKH_SM_CND_NFOUND,
    RKH_SM_UNKN_STATE,
    RKH_SM_EX_HLEVEL,
    RKH_SM_EX_TSEG,
    RKH_SM_DCH = 113,
    RKH_TMR_INIT = 128,
    RKH_TMR_START,
    RKH_TMR_STOP,
    RKH_TMR_TOUT,
    RKH_TMR_REM,
    RKH_FWK_EPREG = 162,
    RKH_FWK_AE,
    RKH_FWK_GC,
    RKH_FWK_GCR,
    RKH_FWK_SYNC_EVT = 170
};

// A distribution of times, in ticks. Percentiles are by nearest rank.
struct rkh_spread {
    uint64_t count, sum, min, max;
    uint64_t percentile[3]; // 50, 90, 99
};

// The smallest and the largest value that an event reported.
struct rkh_range {
    uint64_t low, high;
    bool is_known; // at least one event reported a value
};

// A position of the walk.
struct rkh_moment {
    uint64_t ticks;   // time of the trace
    uint64_t span;    // time so far that belongs to the view's range
    bool is_in_range; // the event is in the view's range
    bool is_counted;  // in addition, the view's filter lets it through
    bool has_stamps;  // the event's run has timestamps
    uint64_t seq;     // of the event
    uint64_t layout;  // index of the layout of the event's run; other layouts are other firmware
};

// A gap or restart, after which nothing that was known before is certain.
struct rkh_break {
    struct rkh_moment at;
    uint64_t resumed_at; // ticks of the first event after it
    bool restarted;      // the target restarted
};

// An active object. It is in the state `state` since `state_since`. A new state is `entered_state`
// until a further event confirms it: some targets do not record when a state is reached.
struct rkh_object {
    uint64_t address, seq, layout;
    uint64_t queue_size;          // elements; 0: unknown
    struct rkh_range queued, low; // elements in the queue; the queue's own low-water mark
    uint64_t fifo, lifo, gets, uncertain, recalled, processed;
    uint64_t state_changes, not_found, guards_false, conditions_not_found, errors;
    uint64_t state_ticks; // time in all states together
    // Private to states.c:
    uint64_t state;
    uint64_t state_since;         // in `span` of struct rkh_moment
    uint64_t entered_state;       // 0: none
    struct rkh_moment entered_at; // of entered_state
    size_t breaks_seen;           // number of breaks that were applied to this object
    bool state_known;
    bool is_starting;  // its initial transition runs, which ends like the processing of an event
    bool has_no_state; // it has not started yet, or was terminated
};

struct rkh_signal {
    size_t object_index; // must be the first member, for the order of rows
    uint64_t object, signal, seq;
    uint64_t posts, gets, uncertain, recalled, not_found;
    struct rkh_spread latency; // from post to get
};

struct rkh_state {
    size_t object_index; // must be the first member, for the order of rows
    uint64_t object, state, seq;
    uint64_t ticks, entries;
};

struct rkh_queue {
    uint64_t address, seq;
    uint64_t object; // active object that owns the queue; 0: none
    uint64_t size;   // elements; 0: unknown
    struct rkh_range queued, low;
    uint64_t fifo, lifo, gets, full, empty, deferred;
};

struct rkh_pool {
    uint64_t address, seq;
    uint64_t blocks, block_size; // 0: unknown
    struct rkh_range free, low;
    bool free_known; // `free_now` is the number of free blocks after the last event
    uint64_t free_now;
    uint64_t gets, puts;
    uint64_t refused;   // requests while no block was free
    uint64_t uncertain; // requests that took the last block, or were refused
    uint64_t exhausted; // gets of the last block
};

struct rkh_event_pool {
    uint64_t index; // from 0
    uint64_t seq;
    uint64_t blocks, event_size; // 0: unknown
    struct rkh_range used, low;
    uint64_t allocations, collections, dropped, exhausted;
};

struct rkh_timer {
    uint64_t address, object, signal, seq;
    bool signal_known;
    uint64_t ntick, period; // of the last start
    uint64_t starts, stops, timeouts;
    struct rkh_spread latency; // from timeout to get
};

// The state of an active object from a time on, until the object's next entry.
struct rkh_timeline_entry {
    size_t object_index; // must be the first member, for the order of rows
    uint64_t state, ticks;
    bool is_known;    // false: the state is unknown from here on
    bool is_in_range; // it began in the view's range
};

struct rkh_assertion {
    uint64_t seq, ticks, line;
    size_t module; // offset of the module's name in `modules`
};

struct rkh_sample {
    uint32_t row; // of its table
    uint64_t ticks;
};

struct rkh_samples {
    struct rkh_sample *samples;
    size_t count, capacity;
};

struct rkh_analysis {
    uint64_t events, losses, restarts;
    uint64_t range_events; // events in the view's range, whether they are counted or not
    uint64_t first_ticks;  // time of the first of these
    uint64_t end;          // of the view's range; UINT64_MAX: it has none
    uint64_t posts, gets, uncertain, state_changes, synchronous;
    bool has_times;        // at least one run has timestamps that give times
    bool has_untimed_runs; // the view's range includes a run without timestamps
    bool has_mixed_rates;  // the clock rates of the runs differ
    bool names_senders;    // posts name their sender in at least one run
    // Signals, states and the timeline are in the order of their objects.
    struct rkh_table objects, signals, states, queues, pools, event_pools, timers;
    struct rkh_timeline_entry *timeline;
    size_t timeline_count, timeline_capacity;
    struct rkh_assertion *assertions;
    size_t assertion_count, assertion_capacity;
    struct extract_text modules; // NUL-terminated names
    // State of the walk:
    struct rkh_post_queues post_queues;
    struct rkh_starts starts;
    struct rkh_samples latencies, timeouts;
    const struct extract_ring *ring;
    uint64_t spans[EXTRACT_RKH_LAYOUTS]; // the part of now.span that belongs to each layout
    struct rkh_moment now;
    struct rkh_break *breaks;
    size_t break_count, break_capacity;
    bool is_after_break;  // no event came since the last break
    bool is_loss_counted; // no event came since the last loss that was counted
    bool time_continues;  // the time since the previous event belongs to the view's range
    struct {
        uint32_t timer; // index of its row + 1; 0: no timeout waits for its post
        uint64_t object, signal, ticks;
    } timeout;
    bool failed; // out of memory
};

// Analyzes a view of an RKH trace. *opened is NULL on failure. Errors: NOMEM.
enum extract_code rkh_analysis_new(struct rkh_analysis **opened, const struct extract_view *view,
                                   const struct extract_trace *trace, struct extract_error *error);
void rkh_analysis_free(struct rkh_analysis *analysis);

// Reads a field of an event by its label. Returns false, and leaves *value, if there is none.
bool rkh_get_field(const struct extract_event *event, const char *label, uint64_t *value);

static inline void rkh_range_add(struct rkh_range *range, uint64_t value)
{
    range->low = !range->is_known || value < range->low ? value : range->low;
    range->high = !range->is_known || value > range->high ? value : range->high;
    range->is_known = true;
}

// Returns the key of an address or number in the current run. Frames have at most 32-bit numbers.
static inline uint64_t rkh_analysis_key(const struct rkh_analysis *analysis, uint64_t number)
{
    return analysis->now.layout << 32 | (uint32_t)number;
}

// Returns the time during which an active object may have existed: that of the runs with its
// layout.
static inline uint64_t rkh_object_span(const struct rkh_analysis *analysis,
                                       const struct rkh_object *object)
{
    return analysis->spans[object->layout];
}

static inline bool rkh_object_is_timed(const struct rkh_analysis *analysis,
                                       const struct rkh_object *object)
{
    return analysis->has_times && analysis->ring->rkh.layout[object->layout].value[EXTRACT_RKH_TS];
}

// Return the row of an active object or of its signal, which is made at the first use. NULL: out of
// memory, and analysis->failed is set.
struct rkh_object *rkh_object_at(struct rkh_analysis *analysis, uint64_t address);
struct rkh_signal *rkh_signal_at(struct rkh_analysis *analysis, const struct rkh_object *object,
                                 uint64_t signal);

// states.c: follows the states of active objects.
void rkh_states_add_event(struct rkh_analysis *analysis, const struct extract_event *event);
void rkh_states_add_break(struct rkh_analysis *analysis, bool restarted);
// Applies the breaks since the object's last event to it.
void rkh_states_catch_up(struct rkh_analysis *analysis, struct rkh_object *object);
void rkh_states_end(struct rkh_analysis *analysis);

// rkh_messages.c: posts and gets, deferred and recalled events, timers. Sees every event.
void rkh_messages_add_event(struct rkh_analysis *analysis, const struct extract_event *event);
void rkh_messages_end(struct rkh_analysis *analysis);

// queues_and_pools.c: queues, memory pools and event pools.
void rkh_storage_add_event(struct rkh_analysis *analysis, const struct extract_event *event);
// Forgets how many blocks of each pool are free, as events are missing.
void rkh_storage_add_break(struct rkh_analysis *analysis);

#endif
