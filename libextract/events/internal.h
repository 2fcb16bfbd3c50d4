// SPDX-License-Identifier: MIT
// events: what the files of this room share: the trace and its names.
#ifndef EXTRACT_EVENTS_ROOM_H
#define EXTRACT_EVENTS_ROOM_H

#include "base/grow.h"
#include "base/map.h"
#include "events/loss_estimator.h"
#include "log/block.h"
#include "formats/format.h"
#include "snapshot/log_snapshots.h"
#include <extract/text.h>

// How fast the target's clock runs by the host's; 0 nanoseconds: not known.
struct extract_rate {
    uint64_t ticks, nanoseconds;
};

// An object as one or more registries, one behind the other, tell it at an address.
struct extract_object_version {
    uint64_t since;  // the block of the first of these registries
    uint32_t object; // its index
    uint32_t newer;  // the version that follows at the address; 0: none
    uint32_t leap;   // one that follows later, so that a search need not see all of them; 0: none
    uint32_t depth;  // how many follow, and 1
};

// A stretch of a log whose stamps one clock made: the same ring, by its place and its words. Of a
// ring whose entries tell names, a run of the target; `from` is its number.
struct extract_epoch {
    size_t from, to; // its blocks: from the first to behind the last
    uint64_t mask;   // as its ring tells
    unsigned word_bytes;
    struct extract_clock clock;
    struct extract_rate rate;
    struct extract_map by_address, threads; // to the oldest versions
    uint64_t first;                         // of a run: the seq that it begins at
};

// A clock that wraps sooner than this is not asked how often it did where nothing is missing:
// the host reads the target less regularly than that.
#define EXTRACT_SLOW_TURN UINT64_C(1000000000) // nanoseconds

// A place on the way through a log, so that readers need not always start at its beginning.
struct extract_seek_point {
    struct extract_reader reader;
    uint64_t events;  // in front of it
    uint64_t highest; // ticks of an event in front of it
    uint64_t lowest;  // ticks of an event behind it
};

// A field of a loss that is not shown: the gap's number for the estimator.
enum { LOST_GAP = EXTRACT_LOST_HIGH + 1 };

#define LOST_NO_GAP UINT64_MAX // how long it took is not known, so that nothing can be estimated

// Numbers of texts: those of marks are blocks of the log; others are the format's own.
#define EXTRACT_TEXT_OF_LOG (UINT64_C(1) << 63)

enum { EXTRACT_MILESTONES = 256, EXTRACT_COMMON_IDS = 0x10000 };

struct extract_trace {
    const struct extract_snapshot *snapshot;
    struct extract_symbols *symbols;
    const struct extract_user_types *user_types;
    struct extract_info info;
    struct extract_object *objects;
    size_t object_count;
    uint32_t oldest;              // slot that the events start with
    struct extract_epoch *epochs; // in order; what lies in front of the first belongs to it
    size_t epoch_count;           // a ring has one
    struct extract_object_version *versions; // from 1 on
    size_t version_count, version_room;
    struct extract_text names;            // storage of every name string
    uint64_t events;                      // that a reader gives: entries that are shown, and marks
    unsigned cores_seen;                  // one more than the highest core of an event
    uint8_t seen[EXTRACT_COMMON_IDS / 8]; // bit an id: occurs
    struct extract_reader start, end;     // of a walk over all of them
    struct extract_run *runs;             // of RKH only
    size_t run_count, run_capacity;
    uint64_t run_start; // ticks of the first event of the last run
    bool run_ends;      // the next entry begins another one
    // Where the firmware's ELF may name signals:
    struct extract_map seen_signals; // that events hold
    bool has_unnamed;                // one of them came that had no name yet
    struct extract_signals signals;
    // Of a log only:
    struct extract_log_snapshots *snapshots;
    struct extract_log_info log;
    struct loss_estimator estimator;        // fed by the first walk
    enum log_loss_sum loss_sum;             // likewise
    struct extract_seek_point *seek_points; // in order
    size_t seek_point_count;
    uint64_t seek_point_step; // events between two of them, at least
};

// clock.c: finds out what the stamps say of the clock; of a log, for each epoch, and its rate too.
// Errors: NOMEM, USAGE.
enum extract_code extract_clock_study(struct extract_trace *trace,
                                      const struct extract_trace_options *options,
                                      struct extract_error *error);
// The epoch of a log that a block belongs to.
const struct extract_epoch *extract_epoch_of(const struct extract_trace *trace, size_t block);
// Ticks that pass in a time of the host's clock; 0 when the rate is not known.
uint64_t extract_rate_ticks(const struct extract_rate *rate, uint64_t nanoseconds);

// trace.c: reads on in one snapshot, whose oldest slot is `oldest`.
size_t extract_reader_run(struct extract_reader *reader, const struct extract_snapshot *snapshot,
                          uint32_t oldest, struct extract_event *events, size_t count);
// How the time goes on from one stamp (masked) to the next: forward, or back by a little.
struct extract_step {
    uint64_t ticks;
    bool back;
};
struct extract_step extract_clock_advance(const struct extract_clock *clock, uint64_t from,
                                          uint64_t to);

// tape.c: ticks from the first entry of a piece that is shown, whose stamp (masked) goes to *first,
// to the last.
uint64_t extract_piece_span(const struct extract_snapshot *piece, const struct extract_clock *clock,
                            uint64_t *first);
// extract_reader_next for a log; and what the first walk over it finds.
size_t extract_log_events_next(struct extract_reader *reader, struct extract_event *events,
                               size_t count);
void extract_log_events_begin(struct extract_trace *trace);
bool extract_log_events_note(struct extract_trace *trace, const struct extract_reader *before,
                             const struct extract_event *events, size_t count);
void extract_log_events_end(struct extract_trace *trace, const struct extract_reader *end);
// How many events are known not to be in it, of a loss of unknown size one.
uint64_t extract_log_events_lacking(const struct extract_trace *trace);

// marks.c: the types of marks, the i-th (NULL behind the last) and that of an id; and the marks.
const struct extract_event_type *extract_mark_type_at(size_t i);
const struct extract_event_type *extract_mark_type(uint32_t id);
void extract_mark_lost(const struct extract_reader *reader, const struct extract_log_block *block,
                       struct extract_event *event);
// Of a ring: entries have numbers of 8 bits, and so many are missing.
void extract_mark_missing(const struct extract_reader *reader, uint8_t count,
                          struct extract_event *event);
void extract_mark_damaged(const struct extract_reader *reader, uint64_t entries,
                          struct extract_event *event);
// Of a ring whose entries differ in length: so many, of so many bytes, are damaged for one reason.
void extract_mark_broken(const struct extract_reader *reader, enum extract_verdict verdict,
                         uint32_t entries, uint64_t bytes, struct extract_event *event);
void extract_mark_put(const struct extract_reader *reader, const struct extract_log_block *block,
                      struct extract_event *event);

// names.c: fills objects, maps and names. Errors: NOMEM.
enum extract_code extract_names_build(struct extract_trace *trace, struct extract_memory *memory,
                                      struct extract_error *error);
void extract_names_free(struct extract_trace *trace);
// Adds what the events of the next stretch tell. `restarted`: what was known before does not hold.
// Errors: NOMEM.
enum extract_code extract_names_go_on(struct extract_trace *trace, bool restarted,
                                      struct extract_error *error);
// trace.c: puts the next stretch of a stream in the place of the snapshot: events, times and names
// go on. Errors: NOMEM.
enum extract_code extract_trace_go_on(struct extract_trace *trace,
                                      const struct extract_snapshot *snapshot, bool restarted,
                                      struct extract_error *error);
// The object, or the thread, that an address was at an event; NULL: it is not known.
const struct extract_object *extract_names_find(const struct extract_trace *trace, bool thread,
                                                uint64_t address, uint64_t seq);

// The event that another one speaks of (struct extract_format, inner).
bool extract_trace_inner(const struct extract_trace *trace, const struct extract_event *event,
                         struct extract_event *inner);

// runs.c: takes the next event of the walk over all of them. `begins`: it tells that the target
// begins a run. False: out of memory.
bool extract_runs_note(struct extract_trace *trace, const struct extract_event *event, bool begins);
void extract_runs_end(struct extract_trace *trace);

// signals.c: takes the next event of the walk over all of them. False: out of memory.
bool extract_signals_note(struct extract_trace *trace, const struct extract_event *event);
// All numbers of signals that are known, and the names that entries tell of them, to be freed by
// the caller; NULL: out of memory.
struct extract_number *extract_signals_list(const struct extract_trace *trace, size_t *count);

// user_types.c: the type of an id, or NULL.
const struct extract_event_type *extract_user_types_find(const struct extract_user_types *types,
                                                         uint32_t id);

#endif
