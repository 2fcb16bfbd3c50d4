// SPDX-License-Identifier: MIT
// events: what the files of this directory share: the trace, its epochs and its names.
//
// A trace gives meaning to a snapshot or to a log. Opening it takes three steps; reading takes the
// fourth, once per reader:
//
//   snapshot ──► trace_clock.c  how timestamps count: mask, period, direction (log: per epoch)
//                event_names.c  objects and names, by a first walk over all events
//                               (first_walk.c), which also feeds runs.c, event_signals.c,
//                               log_events.c and loss_estimator.c; then names_elsewhere.c
//                trace.c        readers: entries become events with unwrapped times
//                *filter*.c     views: which of these events a user wants
//
// A log is read one block at a time, so a trace of a log never holds all of its entries.
#ifndef EXTRACT_EVENTS_EVENTS_ROOM_H
#define EXTRACT_EVENTS_EVENTS_ROOM_H

#include "base/grow.h"
#include "base/map.h"
#include "events/loss_estimator.h"
#include "log/log_block.h"
#include "formats/format.h"
#include "snapshot/log_snapshots.h"
#include <extract/text.h>

// How fast the target's clock runs by the host's clock; 0 nanoseconds if that is not known.
struct extract_rate {
    uint64_t ticks, nanoseconds;
};

// What an address means from a registry on, until a newer version replaces it. The versions of an
// address form a list from the oldest to the newest.
struct extract_object_version {
    uint64_t since;     // block of the first registry that has this object at the address
    uint32_t object;    // index of the object
    uint32_t newer;     // index of the next version; 0 if this is the newest
    uint32_t skip_link; // index of a later version, so that a search can skip some; 0 if none
    uint32_t depth;     // number of versions from this one to the newest
};

// One of several objects that were at an address in turn (lives.c).
struct extract_life {
    uint64_t address;
    uint64_t key;        // the address for the newest life
    uint64_t from;       // seq of the first event that may be of it
    uint64_t deleted_at; // seq of the event that deletes it
    uint32_t type;       // as in the registry
    uint32_t object;
    uint32_t count;      // of lives at this address
    uint32_t number;     // of this one, from 1 on, in the order of time
    uint32_t created_by; // id of the event's type
    uint16_t priority;   // of a thread at its creation
    bool is_created;     // an event shows its begin
    bool is_deleted;     // an event shows its end
    bool is_assumed;     // it exists only if it has events
    bool has_events;
    bool is_in_use;   // the registry has an object of this type in use here
    bool may_be_same; // the target restarted before it, and the one before was not deleted
    bool is_doubtful; // the registry has several names for it, and no event shows which
    bool is_merged;   // several objects, which nothing distinguishes
    bool is_removed;
};

// A part of a log whose timestamps come from one clock: that of one ring, by its address and its
// words. For a ring whose entries give names (RKH), a run of the target, whose number is `from`.
struct extract_epoch {
    size_t from, to; // first block, and the block after the last
    uint64_t mask;   // bits of a timestamp that count, as the ring states
    unsigned word_bytes;
    struct extract_clock clock;
    struct extract_rate rate;
    struct extract_map by_address, threads; // the oldest version of each address
    uint64_t first;                         // for a run: seq of its first event
};

// If a clock wraps faster than this, the host's times do not show how often it wrapped between two
// blocks without a gap: the host does not poll regularly enough.
#define EXTRACT_MIN_WRAP_NS UINT64_C(1000000000)

// A saved position of a reader in a log, so that a walk can start in the middle.
struct extract_seek_point {
    struct extract_reader reader;
    uint64_t events;  // number of events before it
    uint64_t highest; // highest ticks of an event before it
    uint64_t lowest;  // lowest ticks of an event after it
};

// A hidden field of RINGSIDE_LOST: the id of the gap for the loss estimator.
enum { LOST_GAP = EXTRACT_LOST_HIGH + 1 };

#define LOST_NO_GAP UINT64_MAX // the gap has no id, since its duration is not known

// Bit of the number of a text: the text is in a block of the log. Other numbers belong to the
// format.
#define EXTRACT_TEXT_OF_LOG (UINT64_C(1) << 63)

enum { EXTRACT_MAX_SEEK_POINTS = 256, EXTRACT_COMMON_IDS = 0x10000 };
enum { EXTRACT_NAMED_TYPES = 1024 }; // numbers of user events that may have a type by their names

// What the first walk finds of the top bytes of ids (core_ids.c).
struct core_evidence {
    uint64_t cores, user;      // observations that only one of the two readings explains
    bool has_split, has_whole; // ids were read as those of cores, or as those of user events
    uint64_t last_thread;      // of the entry before; 0: not known
    uint32_t last_top;         // the top byte of its id
};

struct extract_trace {
    const struct extract_snapshot *snapshot;
    struct extract_symbols *symbols;
    const struct extract_user_types *user_types;
    struct extract_info info;
    struct extract_object *objects;
    size_t object_count;
    uint32_t oldest; // slot of the oldest event
    // Bit per slot: a whole period of the clock passed before the event (periods.c); NULL: none.
    uint8_t *hidden_periods;
    bool is_part;                 // as in extract_trace_options
    struct extract_epoch *epochs; // in order; a ring has one. Blocks before the first belong to it
    size_t epoch_count;
    struct extract_object_version *versions; // index 0 is not used
    size_t version_count, version_capacity;
    struct extract_life *lives; // by address and time
    size_t life_count, life_capacity;
    uint64_t lives_before;                 // in earlier parts of a running target
    struct extract_map life_of;            // address: first of its lives
    uint64_t *life_starts;                 // `from` of all lives, in order
    struct extract_text names;             // storage of all names
    struct symbol_objects *symbol_objects; // NULL: there are no symbols
    uint64_t events;                       // number of events that a reader returns, with markers
    unsigned cores_seen;                   // highest core number of an event, plus 1
    struct core_evidence core_evidence;
    enum extract_core_ids read_ids_as; // NONE and UNSURE: as the format does for a single entry
    uint64_t board_starts; // bit i: core i of a merged log is the first one of a board; 0: one core
    uint8_t seen[EXTRACT_COMMON_IDS / 8]; // bit per event id: the id occurs
    struct extract_map rare_ids;          // ids from EXTRACT_COMMON_IDS on that occur
    unsigned seen_classes;                // bit 1 << class: an event or a marker has it
    bool has_loss_marks;                  // an event or marker states losses or damage
    uint8_t seen_cores[256 / 8];          // bit per core: it recorded an event
    // By numbers of user events (extract_named_types); NULL: none.
    const void *named_types[EXTRACT_NAMED_TYPES];
    bool has_named_types;
    bool has_roles;         // an event concerns the scheduler
    bool has_switches;      // a change of the thread of a core is an event
    bool has_moves;         // an event suspends or resumes a thread
    bool needs_moves;       // several threads ran, or one has slept
    bool has_silent_sleeps; // a thread goes to sleep without a call for it
    bool may_inherit;       // a mutex may let threads inherit priorities
    bool has_isr_entries;   // entries to interrupts, and exits, are events
    enum extract_priority_order priority_order;
    struct extract_reader start, end; // readers at the first event and after the last
    struct extract_run *runs;         // for RKH only
    size_t run_count, run_capacity;
    uint64_t run_start; // ticks of the first event of the last run
    bool run_ends;      // the next entry begins a new run
    // If the firmware's ELF may name signals:
    struct extract_map seen_signals; // numbers of signals in events
    bool has_unnamed;                // one of them was seen after the names were looked up
    struct extract_signals signals;
    // For a log only:
    struct extract_log_snapshots *snapshots;
    struct extract_log_info log;
    struct loss_estimator estimator; // fed by the first walk
    enum log_loss_sum loss_sum;      // whether the losses seen so far have an exact sum
    struct extract_seek_point *seek_points;
    size_t seek_point_count;
    uint64_t seek_point_step; // minimum of events between two seek points
};

// ---- trace.c ----

// Notes that the id, class and core of an event occur. Returns false if memory is short.
bool extract_trace_note_event(struct extract_trace *trace, const struct extract_event *event);
// Moves to the next id from EXTRACT_COMMON_IDS on that occurs, in no order. *place begins at 0.
// Returns false after the last.
bool extract_trace_next_rare_id(const struct extract_trace *trace, size_t *place, uint32_t *id);

// ---- core_ids.c ----

// Notes what an event of the first walk shows of the top bytes of ids.
void core_ids_note(struct extract_trace *trace, const struct extract_event *event);
// Returns what they are, after the walk: by the events of one trace, or of several of one ring.
enum extract_core_ids core_ids_decide(const struct extract_trace *const *traces, size_t count);
// Returns whether the first walk has read ids in another way.
bool core_ids_differ(const struct extract_trace *trace, enum extract_core_ids ids);
// Reads the ids of events as trace->read_ids_as says, which is neither NONE nor UNSURE.
void core_ids_apply(const struct extract_trace *trace, struct extract_event *events, size_t count);

// ---- periods.c ----

// Finds whole periods of the clock that no timestamp shows, in a ring. Returns false if memory is
// short.
bool extract_periods_find(struct extract_trace *trace);

// ---- trace_clock.c ----

// Finds the clock from the timestamps; for a log, the clock and rate of each epoch. Errors: NOMEM,
// USAGE (a modulus that is too small).
enum extract_code extract_clock_study(struct extract_trace *trace,
                                      const struct extract_trace_options *options,
                                      struct extract_error *error);
// Returns the epoch of a log that a block belongs to.
const struct extract_epoch *extract_epoch_of(const struct extract_trace *trace, size_t block);
// Returns the ticks in a time of the host's clock; 0 if the rate is not known.
uint64_t extract_rate_ticks(const struct extract_rate *rate, uint64_t nanoseconds);

// ---- symbol_objects.c ----

// Makes an empty list of objects; NULL if memory is short.
struct symbol_objects *symbol_objects_new(void);
void symbol_objects_free(struct symbol_objects *known);
// Returns the object at an address that is named by a symbol of the firmware alone. NULL: none.
const struct extract_object *symbol_objects_find(const struct extract_trace *trace,
                                                 uint64_t address);

// ---- trace.c ----

// Sets a thread's priority to that which an event states. `is_inherited`: it had inherited the one
// before. If another one is set then, it is not known which of the two is in force; nor if it may
// have inherited it, and the new one is not as urgent.
static inline void extract_role_set_priority(const struct extract_trace *trace,
                                             const struct extract_event *event,
                                             const struct extract_role_fields *role,
                                             uint16_t *priority, bool *is_inherited)
{
    uint64_t number = extract_role_field(event, role->priority);
    bool is_known =
        role->role == EXTRACT_ROLE_CREATE || role->is_own || role->is_inherited || !*is_inherited;

    if (role->may_inherit && trace->may_inherit)
        is_known = *priority != EXTRACT_NO_PRIORITY && number <= *priority;
    *priority = is_known && number < EXTRACT_NO_PRIORITY ? (uint16_t)number : EXTRACT_NO_PRIORITY;
    *is_inherited = is_known ? role->is_inherited : true;
}

// Returns how urgent a priority is: less than that of every priority that is less urgent. If it is
// not known which ones these are, a low number is taken for urgent.
static inline unsigned extract_trace_urgency(const struct extract_trace *trace, uint16_t priority)
{
    bool is_reversed =
        trace->priority_order == EXTRACT_PRIORITY_HIGH_FIRST && priority != EXTRACT_NO_PRIORITY;

    return is_reversed ? EXTRACT_NO_PRIORITY - 1u - priority : priority;
}

// Returns whether events of the trace show who ran.
static inline bool extract_trace_shows_schedule(const struct extract_trace *trace)
{
    const struct extract_scheduler *kernel = trace->snapshot->ring.format->kernel;

    return kernel && !trace->info.hides_cores &&
           (kernel->roles ||
            (trace->has_roles && (trace->has_switches || !kernel->needs_switches)));
}

// Returns what an event means for the scheduler, as extract_ring_role does.
static inline const struct extract_role_fields *
extract_trace_role(const struct extract_trace *trace, const struct extract_event **event,
                   struct extract_event *scratch)
{
    return extract_ring_role(&trace->snapshot->ring, event, scratch);
}

// Reads the next events of one snapshot, whose oldest slot is `oldest`.
size_t extract_reader_run(struct extract_reader *reader, const struct extract_snapshot *snapshot,
                          uint32_t oldest, struct extract_event *events, size_t count);
// The step of time from one timestamp to the next: forward, or a little backward.
struct extract_step {
    uint64_t ticks;
    bool back;
};
struct extract_step extract_clock_advance(const struct extract_clock *clock, uint64_t from,
                                          uint64_t to);

// Replaces the snapshot by the next chunk of a stream: times and names continue. `restarted` is set
// if earlier names are no longer valid. Errors: NOMEM.
enum extract_code extract_trace_continue(struct extract_trace *trace,
                                         const struct extract_snapshot *snapshot, bool restarted,
                                         struct extract_error *error);
// Finds the event that another one describes (`inner` of extract_describing_entries). Returns false
// if there is none.
bool extract_trace_inner(const struct extract_trace *trace, const struct extract_event *event,
                         struct extract_event *inner);

// ---- log_events.c ----

// Returns the ticks from the first valid entry of a snapshot to the last, and the masked timestamp
// of the first in *first.
uint64_t extract_snapshot_span(const struct extract_snapshot *snapshot,
                               const struct extract_clock *clock, uint64_t *first);
// extract_reader_next for a log.
size_t extract_log_events_next(struct extract_reader *reader, struct extract_event *events,
                               size_t count);
// What the first walk over a log finds: to be called before the walk, for each batch of events with
// the reader before it, and at the end. Noting returns false if memory ran out.
void extract_log_events_begin(struct extract_trace *trace);
bool extract_log_events_note(struct extract_trace *trace, const struct extract_reader *before,
                             const struct extract_event *events, size_t count);
void extract_log_events_end(struct extract_trace *trace, const struct extract_reader *end);
// Returns how many events are known to be missing; one for a loss of unknown size.
uint64_t extract_log_events_lacking(const struct extract_trace *trace);

// ---- marks.c ----

// Return the i-th type of markers (NULL after the last), and the type of an id.
const struct extract_event_type *extract_mark_type_at(size_t i);
const struct extract_event_type *extract_mark_type(uint32_t id);
// The functions below make the event of a marker. It gets its number and time from the reader.
void extract_mark_lost(const struct extract_reader *reader, const struct extract_log_block *block,
                       struct extract_event *event);
// `count` entries are missing, by their numbers of 8 bits.
void extract_mark_missing(const struct extract_reader *reader, uint8_t count,
                          struct extract_event *event);
void extract_mark_damaged(const struct extract_reader *reader, uint64_t entries,
                          struct extract_event *event);
// `entries` entries of `bytes` bytes are damaged, for one reason.
void extract_mark_broken(const struct extract_reader *reader, enum extract_verdict verdict,
                         uint32_t entries, uint64_t bytes, struct extract_event *event);
void extract_mark_put(const struct extract_reader *reader, const struct extract_log_block *block,
                      struct extract_event *event);

// ---- event_names.c ----

// Fills objects, maps and names. Errors: NOMEM.
enum extract_code extract_names_build(struct extract_trace *trace, struct extract_memory *memory,
                                      struct extract_error *error);
void extract_names_free(struct extract_trace *trace);
// Adds what the events of the next chunk report. `restarted` is set if earlier names are no longer
// valid. Errors: NOMEM.
enum extract_code extract_names_continue(struct extract_trace *trace, bool restarted,
                                         struct extract_error *error);
// Returns the object, or the thread, at an address at the time of an event; NULL if unknown.
const struct extract_object *extract_names_find(const struct extract_trace *trace, bool thread,
                                                uint64_t address, uint64_t seq);

// ---- lives.c ----

// Returns the life of an address at an event, of a type (0: any). NULL: there is only one object at
// the address, which has no lives.
const struct extract_life *lives_find(const struct extract_trace *trace, uint32_t type,
                                      uint64_t address, uint64_t seq);
// Returns the older life that a key denotes; NULL if it is an address.
const struct extract_life *lives_of_key(const struct extract_trace *trace, uint64_t key);
// Returns how many lives have begun at an event.
uint64_t lives_begun(const struct extract_trace *trace, uint64_t seq);
// Replaces the addresses of objects in events by keys.
void lives_use_keys(const struct extract_trace *trace, struct extract_event *events, size_t count);
// Replaces the keys in an event by addresses.
void lives_use_addresses(const struct extract_trace *trace, struct extract_event *event);

// Returns a field of an event as it was stored.
static inline uint64_t extract_event_stored(const struct extract_trace *trace,
                                            const struct extract_event *event, unsigned i)
{
    bool is_object = trace->life_count && i < event->type->fields &&
                     event->type->field[i].kind == EXTRACT_KIND_OBJECT;

    return is_object ? extract_trace_address(trace, event->field[i]) : event->field[i];
}

// ---- runs.c ----

// Notes the next event of the first walk. `begins` is set if the event begins a run of the target.
// Returns false if memory ran out.
bool extract_runs_note(struct extract_trace *trace, const struct extract_event *event, bool begins);
void extract_runs_end(struct extract_trace *trace);

// ---- event_signals.c ----

// Notes the next event of the first walk. Returns false if memory ran out.
bool extract_signals_note(struct extract_trace *trace, const struct extract_event *event);
// Returns all known numbers of signals with the names that entries give them, to be freed by the
// caller; NULL if memory ran out.
struct extract_number *extract_signals_list(const struct extract_trace *trace, size_t *count);

// ---- user_types.c ----

// Returns the user-defined type of an id; NULL if there is none.
const struct extract_event_type *extract_user_types_find(const struct extract_user_types *types,
                                                         uint32_t id);

// Returns the symbols that the trace was opened with; NULL: none.
struct extract_symbols *extract_trace_symbols(const struct extract_trace *trace);

// Returns a number for the registry that was valid at an event. At two events with the same number,
// addresses have the same meaning.
uint64_t extract_trace_registry(const struct extract_trace *trace, uint64_t seq);
// Returns a number that changes where an address may get another name.
uint64_t extract_trace_naming(const struct extract_trace *trace, uint64_t seq);

// Returns the number of runs, in order; 0 if the trace is not of RKH, or empty.
size_t extract_trace_runs(const struct extract_trace *trace, const struct extract_run **runs);

// Returns whether an object is a thread that events can belong to.
bool extract_object_is_thread(const struct extract_object *object);

// Returns whether a marker separates the entries before it from those after it: what was known
// before it need not be true after it.
bool extract_event_is_break(const struct extract_event *event);

#endif
