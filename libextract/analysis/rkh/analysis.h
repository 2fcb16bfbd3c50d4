// SPDX-License-Identifier: MIT
// analysis/rkh: what an RKH stream tells of active objects, queues, pools, timers and states.
//
// In: the events of a view. Out: struct rkh_analysis, which reports print.
// Source: docs/formats/rkh-text.md, "What events mean".
#ifndef EXTRACT_ANALYSIS_RKH_STUDY_H
#define EXTRACT_ANALYSIS_RKH_STUDY_H

#include "analysis/rkh/posts.h"
#include "analysis/rkh/table.h"
#include <extract/report.h>

// Ids of events that say something beyond their names.
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

// Times that lie between two kinds of events, in ticks. Percentiles by nearest rank.
struct rkh_spread {
    uint64_t count, sum, min, max;
    uint64_t percentile[3]; // 50, 90, 99
};

// The smallest and the largest value that was seen.
struct rkh_range {
    uint64_t low, high;
    bool known;
};

// Where a walk is: the time of the trace, and of that what belongs to the view's stretch so far.
struct rkh_moment {
    uint64_t ticks, span;
    bool in_stretch; // the event lies in the stretch
    bool counts;     // and the view lets it through
    bool has_stamps; // its run has stamps
    uint64_t seq;    // of the event
    uint64_t layout; // of its run: runs that differ in it are of different firmware
};

// Where nothing that was known before holds any more.
struct rkh_break {
    struct rkh_moment at;
    uint64_t resumed; // ticks of the event behind it
    bool restarted;   // the target begins again
};

// Rows have the `seq` of their last event, since names are those of its run.

struct rkh_object {
    uint64_t address, seq, layout;
    uint64_t queue_size;          // 0: not known
    struct rkh_range queued, low; // elements; the queue's own low-water mark
    uint64_t fifo, lifo, gets, uncertain, recalled, processed;
    uint64_t state_changes, not_found, guards_false, conditions_not_found, errors;
    uint64_t state_ticks; // in all states
    // On the way: the state that holds since `since` of the view's time, and the one that was
    // entered after it.
    uint64_t state, since, entered;
    struct rkh_moment entered_at;
    size_t breaks;    // that were looked at for it
    bool state_known; // false: it was one that the next event may tell
    bool stateless;   // it has not begun yet, or not any more
};

struct rkh_signal {
    size_t of; // index of its object
    uint64_t object, signal, seq;
    uint64_t posts, gets, uncertain, recalled, not_found;
    struct rkh_spread latency; // from post to get
};

struct rkh_state {
    size_t of; // index of its object
    uint64_t object, state, seq;
    uint64_t ticks, entries;
};

struct rkh_queue {
    uint64_t address, seq;
    uint64_t object; // 0: of no active object
    uint64_t size;   // 0: not known
    struct rkh_range queued, low;
    uint64_t fifo, lifo, gets, full, empty, deferred;
};

struct rkh_pool {
    uint64_t address, seq;
    uint64_t blocks, block_size; // 0: not known
    struct rkh_range free, low;
    uint64_t gets, puts, exhausted; // takes of the last block
};

struct rkh_event_pool {
    uint64_t index; // from 0 on
    uint64_t seq;
    uint64_t blocks, event_size;
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

// A state that began; `known` is false where none is known.
struct rkh_turn {
    size_t of; // index of its object
    uint64_t state, ticks;
    bool known, in_stretch; // it lies in the view's stretch
};

struct rkh_assertion {
    uint64_t seq, ticks, line;
    size_t module; // where it begins in `modules`
};

struct rkh_sample {
    uint32_t row; // of its table
    uint64_t ticks;
};

struct rkh_samples {
    struct rkh_sample *samples;
    size_t count, room;
};

struct rkh_analysis {
    uint64_t events, losses, restarts;
    uint64_t stretch_events; // let through or left out
    uint64_t first;          // ticks of the first of these, where there is one
    uint64_t posts, gets, uncertain, state_changes, synchronous;
    bool timed;   // stamps tell times, at least in one run
    bool untimed; // runs without stamps are among those of the view, whose times are not known
    bool mixed;   // the stamps of its runs have different rates
    bool senders; // posts name who sent them, at least in one run
    // Signals, states and turns in the order of their objects.
    struct rkh_table objects, signals, states, queues, pools, event_pools, timers;
    struct rkh_turn *turns;
    size_t turn_count, turn_room;
    struct rkh_assertion *assertions;
    size_t assertion_count, assertion_room;
    struct extract_text modules; // NUL-ended
    // On the way:
    struct rkh_post_queues model;
    struct rkh_samples latencies, timeouts;
    const struct extract_ring *ring;
    uint64_t spans[EXTRACT_RKH_LAYOUTS]; // of `now.span`, what belongs to the runs of a layout
    struct rkh_moment now;
    struct rkh_break *breaks;
    size_t break_count, break_room;
    bool broken;  // nothing came since the last break
    bool lacking; // nor since a loss that is counted
    bool flowing; // time goes on to the event at hand from the one in front, in the stretch
    struct {
        uint32_t timer; // row + 1; 0: no timeout waits for its post
        uint64_t object, signal, ticks;
    } fired;
    bool failed; // out of memory
};

// Errors: NOMEM.
enum extract_code rkh_analysis_new(struct rkh_analysis **study, const struct extract_view *view,
                                   const struct extract_trace *trace, struct extract_error *error);
void rkh_analysis_free(struct rkh_analysis *study);

// A field of an event by its label. False: the event has none.
bool rkh_field(const struct extract_event *event, const char *label, uint64_t *value);

static inline void rkh_range_note(struct rkh_range *range, uint64_t value)
{
    range->low = !range->known || value < range->low ? value : range->low;
    range->high = !range->known || value > range->high ? value : range->high;
    range->known = true;
}

// The key of an address or a number in the run of the event at hand.
static inline uint64_t rkh_analysis_key(const struct rkh_analysis *study, uint64_t number)
{
    return study->now.layout << 32 | (uint32_t)number; // the wire has 32 bits at most
}

// The time in which an active object may have been: that of the runs that have its layout.
static inline uint64_t rkh_object_span(const struct rkh_analysis *study,
                                       const struct rkh_object *object)
{
    return study->spans[object->layout];
}

static inline bool rkh_object_is_timed(const struct rkh_analysis *study,
                                       const struct rkh_object *object)
{
    return study->timed && study->ring->rkh.layout[object->layout].value[EXTRACT_RKH_TS];
}

// The row of an active object, of an event for one; NULL: out of memory.
struct rkh_object *rkh_object_at(struct rkh_analysis *study, uint64_t address);
struct rkh_signal *rkh_signal_at(struct rkh_analysis *study, const struct rkh_object *object,
                                 uint64_t signal);

// states.c: what an event says of the state that an active object is in.
void rkh_states_take(struct rkh_analysis *study, const struct extract_event *event);
// No state is known to hold beyond here.
void rkh_states_break(struct rkh_analysis *study, bool restarted);
// What the breaks since the last look mean for an active object.
void rkh_states_catch_up(struct rkh_analysis *study, struct rkh_object *object);
void rkh_states_end(struct rkh_analysis *study);

// messages.c: posts and gets, deferred and recalled; timers.
void rkh_messages_take(struct rkh_analysis *study, const struct extract_event *event);
void rkh_messages_end(struct rkh_analysis *study);

// stores.c: queues and pools.
void rkh_stores_take(struct rkh_analysis *study, const struct extract_event *event);

#endif
