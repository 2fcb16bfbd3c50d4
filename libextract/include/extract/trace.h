// SPDX-License-Identifier: MIT
// A trace: a snapshot or a log with its meaning, which is objects and their names, the clock, and
// the events in order of time.
//
// Open a trace with extract_trace_open or extract_trace_open_log. Read its events with a reader
// (extract_reader_next), or those that a filter lets through with a view (extract/filter.h).
// Strings and arrays that a trace returns belong to it and live as long as it does.
#ifndef EXTRACT_TRACE_H
#define EXTRACT_TRACE_H

#include <extract/event.h>
#include <extract/log.h>
#include <extract/snapshot.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_trace;

// The direction in which a clock counts. NONE: every timestamp is the same.
enum extract_direction { EXTRACT_CLOCK_NONE = 0, EXTRACT_CLOCK_UP, EXTRACT_CLOCK_DOWN };

// User-defined event types, read from TraceX custom event files (.trxc).
struct extract_user_types;

// Reads the file `path` (TraceX user guide, "Trace buffer format / user-defined events": lines of
// 13 comma-separated items between "Start" and "End"). Errors: IO, NOMEM, BAD with the line.
enum extract_code extract_user_types_open(struct extract_user_types **types, const char *path,
                                          struct extract_error *error);
void extract_user_types_close(struct extract_user_types *types);

// What the top bytes of ids are, if there are any: numbers of cores, or parts of the ids of user
// events. Only ThreadX has such ids.
enum extract_core_ids {
    EXTRACT_CORE_IDS_NONE = 0, // no id has a top byte
    EXTRACT_CORE_IDS_UNSURE,   // not known
    EXTRACT_CORE_IDS_LIKELY_USER,
    EXTRACT_CORE_IDS_LIKELY_CORES,
    EXTRACT_CORE_IDS_USER,
    EXTRACT_CORE_IDS_CORES
};

struct extract_trace_options {
    size_t size;                                 // sizeof the struct
    struct extract_symbols *symbols;             // may be NULL; must outlive the trace
    struct extract_memory *memory;               // for names that the registry lacks; may be NULL
    const struct extract_user_types *user_types; // may be NULL; must outlive the trace
    uint64_t modulus;                            // clock period in ticks; 0: detected
    enum extract_direction direction;            // NONE: detected
    uint64_t hz;                   // ticks per second, used across the gaps of a log; 0: detected
    const struct extract_rkh *rkh; // the user's settings for an RKH stream in a log; may be NULL
    unsigned cores_seen;           // cores in earlier events of the same target; 0 if none
    bool is_part; // there may be events before the first, although the ring has not wrapped
    const struct extract_hook_roles *hook_roles; // of a log; may be NULL, must outlive the trace
    // How ids with top bytes are read, which other traces of the target show; NONE: detected.
    enum extract_core_ids core_ids;
};

// The clock that was detected from the timestamps.
struct extract_clock {
    uint64_t mask;    // bits of a timestamp that count
    uint64_t modulus; // ticks until it wraps; 0 means 2^64
    enum extract_direction direction;
    bool counts_events; // one step per event: the clock gives an order, not a time
    uint64_t back; // a step that falls short of the modulus by at most this is one back in time
    // The clock turns often within a small part of its modulus, so that this is likely to be its
    // true one, and times are wrong; 0: it does not.
    uint64_t likely_modulus;
    // It is likely to turn there, too, but too seldom to show its period, which is above `above`.
    uint64_t turns, above; // turns: 0 if it does not
    // The ticks by which timestamps go back in one place only, if it is not an ordinary wrap; 0:
    // they do not. Either the clock turns there, and its period is above `above`; or time steps
    // back; or the clock was silent for most of a period, if the event is not marked as before the
    // others.
    uint64_t fall;
    bool is_still; // several timestamps are all equal: the clock stands still, or is too slow
};

// The entries that a log reports as lost for one reason.
struct extract_loss_info {
    uint64_t gaps;      // number of gaps
    uint64_t not_exact; // gaps of which only a minimum is known
    uint64_t at_least;  // minimum of entries in all gaps together
    bool is_exact;      // at_least is the exact number
};

enum { EXTRACT_LOSS_REASONS = EXTRACT_LOSS_BETWEEN + 1 };

// What is known of a log in addition to its entries.
struct extract_log_info {
    struct extract_log_status status;
    struct extract_loss_info losses[EXTRACT_LOSS_REASONS]; // by enum extract_log_loss; 0: others
    uint64_t unreadable; // blocks that were damaged when they were read
    uint64_t missing;    // entries of damaged or missing blocks, as far as their number is known
    uint64_t recordings; // number of START markers
    uint64_t resets;     // number of RESET markers
    bool ended;          // `ending` is valid: the log states how its stream ended
    struct extract_log_ending ending;
};

// How the enumeration in the firmware's ELF that names the signals of an RKH trace was found.
enum extract_signals_from {
    EXTRACT_SIGNALS_UNNAMED = 0, // not found: only signals with a name entry have a name
    EXTRACT_SIGNALS_BY_USER,     // the user named it
    EXTRACT_SIGNALS_BY_RECORDS,  // it agrees with the name entries
    EXTRACT_SIGNALS_BY_TYPE,     // it has the usual name and contains all signals of the trace
    EXTRACT_SIGNALS_BY_TEXTS     // only this one contains them, and the ELF has its names as texts
};

struct extract_signals {
    enum extract_signals_from from;
    size_t count;          // number of enumerations that fit
    const char *name;      // name of the first of them; "" if it has none
    const char *name_of_1; // name of its first enumerator
};

struct extract_info {
    const char *format;
    enum extract_byte_order byte_order;
    unsigned word_bytes;
    struct extract_clock clock;
    unsigned cores;                     // 0 if unknown
    enum extract_cores_from cores_from; // SEEN: there may be more
    enum extract_core_ids core_ids;
    // Switches do not follow each other: the events are likely to be of several cores, which they
    // do not name. Then it is not known who had a core.
    bool hides_cores;
    // If a modulus was given: silences may be longer than a period of the clock, so that times are
    // minima; or entries to the tick's interrupt show how many periods they hid, which are added.
    bool may_hide_periods;
    uint64_t hidden_periods, tick_number; // periods; number of the interrupt
    uint64_t entries_total;               // capacity of the ring; for a log, entries recorded
    uint64_t entries_valid;               // events that are reported
    uint64_t entries_damaged;             // torn, overwritten or invalid
    uint64_t entries_unread; // of a ring: not in the memory, or the target did not give them
    uint64_t entries_unused; // total = valid + damaged + unread + unused
    // Lost events. The number is exact only if lost_known is set. Otherwise the ring has wrapped
    // and keeps no count, or a gap is not exact. lost_at_most holds if the target was never faster
    // than the trace shows; UINT64_MAX if unknown.
    bool lost_known;
    uint64_t events_lost;
    uint64_t lost_at_least, lost_at_most;
    uint64_t gaps, gaps_not_exact; // gaps between entries
    bool wrapped;
    uint64_t objects; // registry slots that contain or contained an object
    uint64_t span_ticks;
    uint64_t steps_back;                // events that are marked as before the event before them
    bool running, running_known;        // posix_stream_status
    bool full;                          // posix_stream_full_status
    bool overrun;                       // posix_stream_overrun_status
    const struct extract_log_info *log; // NULL for a ring
    // For RKH with an ELF that may name signals; otherwise NULL.
    const struct extract_signals *signals;
};

// Returns whether a span of time is a minimum: a period of the clock may be hidden, or entries of a
// ring that hold no valid event may be older or newer than the others.
static inline bool extract_info_span_is_minimum(const struct extract_info *info)
{
    return info->may_hide_periods ||
           ((info->entries_damaged || info->entries_unread) && !info->log);
}

// A kernel object of the registry, or a thread that only events name.
struct extract_object {
    uint64_t address;
    uint64_t key;           // as in events: the address, unless a later object had the same one
    uint32_t life;          // 1 for the first of the objects at this address; 0: there is only one
    uint32_t type;          // number of the type, defined by the format
    const char *type_name;  // "thread"
    const char *name;       // raw bytes from the target, ended by a zero; "" if there is none
    const char *shown;      // what reports print: the escaped name, a symbol, or the address
    uint32_t shown_columns; // width of `shown` in a terminal
    uint32_t shown_bytes;   // length of `shown`
    uint64_t param1, param2;
    const struct extract_field_type *param_types; // types of param1 and param2
    bool in_use;                                  // false: deleted; the slot may be used again
    bool registered;                              // false: known from events only
    bool shadowed;                                // its address always stands for another object
    bool likely;                   // the name is likely its own, but another one may be
    bool from_memory;              // the name was read from target memory outside of the ring
    bool thread;                   // events can belong to it
    enum extract_kind number_kind; // kind of the number in `address` (SIGNAL …); NONE: an address
    uint16_t priority;             // as registered; EXTRACT_NO_PRIORITY if unknown
    bool keeps_priority;           // no event changes `priority`, which holds in all of the trace
    uint32_t slot;                 // slot of the registry; UINT32_MAX if it is not in one
};

// Opens a snapshot as a trace. The snapshot must outlive the trace. Errors: NOMEM, BAD, USAGE.
enum extract_code extract_trace_open(struct extract_trace **trace,
                                     const struct extract_snapshot *snapshot,
                                     const struct extract_trace_options *options,
                                     struct extract_error *error);
// Opens a log as a trace. The log must outlive the trace. Blocks are read as they are needed, now
// and by each reader, one in memory at a time. So readers of one trace may be used in turns, but
// only from one thread. Damage is not an error. Errors: NOMEM, IO, ABSENT (nothing was recorded),
// BAD, USAGE.
enum extract_code extract_trace_open_log(struct extract_trace **trace, struct extract_log *log,
                                         const struct extract_trace_options *options,
                                         struct extract_error *error);
void extract_trace_close(struct extract_trace *trace);

const struct extract_info *extract_trace_info(const struct extract_trace *trace);
// Returns the snapshot. For a log, it has the properties of the newest ring and the cost of reading
// so far, but no bytes.
const struct extract_snapshot *extract_trace_snapshot(const struct extract_trace *trace);

// Returns the number of objects; registered ones come first, in the order of their slots.
size_t extract_trace_objects(const struct extract_trace *trace,
                             const struct extract_object **objects);
// Returns the object at an address, or NULL: one in use before a deleted one; in a log, the newest.
// If the trace has none, but the firmware has a symbol there, the object has the symbol's name.
const struct extract_object *extract_trace_object(const struct extract_trace *trace,
                                                  uint64_t address);
// Returns the thread at an address, or NULL, by the same rule.
const struct extract_object *extract_trace_thread(const struct extract_trace *trace,
                                                  uint64_t address);
// Return the object, or the thread, that was at an address when the event number `seq` happened;
// NULL if unknown. In a log, one object may take the place of another, as after a new firmware.
const struct extract_object *extract_trace_object_at(const struct extract_trace *trace,
                                                     uint64_t address, uint64_t seq);
const struct extract_object *extract_trace_thread_at(const struct extract_trace *trace,
                                                     uint64_t address, uint64_t seq);

// Returns the address of the object that a key in an event stands for. The key of an object is its
// address. If another object was created at the same address later, the key is a number from 2^48
// to 2^53, which is not an address. Wherever a function takes an address, it takes a key.
uint64_t extract_trace_address(const struct extract_trace *trace, uint64_t key);

// Returns the type of an event id: a user-defined one, or that of the event table. Never NULL.
const struct extract_event_type *extract_trace_type(const struct extract_trace *trace, uint32_t id);

// A run of the target in an RKH stream, with its losses as in struct extract_info.
struct extract_run {
    uint64_t first; // seq of its first event
    uint64_t entries_valid, entries_damaged;
    bool lost_known;
    uint64_t events_lost;
    uint64_t lost_at_least, lost_at_most;
    uint64_t gaps, gaps_not_exact;
    uint64_t span_ticks; // duration by its own clock; 0 if its frames have no timestamps
    uint64_t further;    // later runs that are counted with this one, since there are too many
    // Layout of its frames, with the size and the rate of timestamps. Owned by the snapshot. NULL
    // if the run has no valid frame.
    const struct extract_rkh_layout *layout;
};

// Appends a text as it was stored. `number` is the value of a field of EXTRACT_KIND_TEXT. Returns
// false if there is no such text.
bool extract_trace_text(const struct extract_trace *trace, uint64_t number,
                        struct extract_text *text);

// Makes the ring that a log ends with: its newest entries, as many as the recorded ring holds, with
// the newest registry, as a snapshot of a halted target. It begins after the last reset or the last
// change of the ring. Errors: NOMEM, UNSUPPORTED (the trace is not of a log).
enum extract_code extract_trace_image(const struct extract_trace *trace,
                                      struct extract_snapshot *image, struct extract_error *error);

// A position in the events, which are read from the oldest to the newest. It is a plain value: copy
// it to remember a position. Callers use none of its fields.
struct extract_reader {
    const struct extract_trace *trace;
    uint64_t seq;
    uint64_t ticks;
    uint64_t behind; // ticks from the newest event to 0, if it is before the oldest
    uint64_t last_stamp;
    uint32_t done;       // slots that were passed, from the oldest
    uint32_t reported;   // `done` + 1 if the loss before the next slot was reported
    uint32_t next_valid; // no slot from `done` to here is valid; less than `done`: not known
    bool started;        // last_stamp is valid
    bool gap;            // entries are missing before the next one
    bool untimed;        // the last entry is of a run without timestamps (EXTRACT_FLAG_UNTIMED)
    bool has_addresses;  // events have addresses of objects instead of keys
    // For a log only:
    bool restarted;          // timestamps started again after the last entry
    bool has_expected;       // `expected` is valid
    bool block_unreadable;   // a block before the next entry could not be read
    bool block_dropped;      // a block before the next entry was dropped by the loop policy
    uint64_t block;          // index of the block that is read
    uint64_t epoch;          // block at which the clock epoch of the last entry starts
    uint64_t expected;       // number of the next entry
    uint64_t unread_entries; // entries of blocks that could not be read, by their headers
    uint64_t skipped;        // entries that were skipped and are not reported
    uint64_t wall_ns;        // time at which the last entry was read from the target
};

// Starts at the oldest event.
void extract_reader_init(struct extract_reader *reader, const struct extract_trace *trace);
// Decodes up to `count` events to `events`. Returns their number, 0 at the end. Never fails.
size_t extract_reader_next(struct extract_reader *reader, struct extract_event *events,
                           size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
