// SPDX-License-Identifier: MIT
// A snapshot or a log with meaning: objects and names, the clock, and the events in order of time.
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

enum extract_direction { EXTRACT_CLOCK_NONE = 0, EXTRACT_CLOCK_UP, EXTRACT_CLOCK_DOWN };

// User-defined event types, read from TraceX custom event files (.trxc).
struct extract_user_types;

// Reads the file `path` (TraceX user guide, "Trace buffer format / user-defined events": lines
// between "Start" and "End" of 13 comma-separated items). Errors: IO, NOMEM, BAD with the line.
enum extract_code extract_user_types_open(struct extract_user_types **types, const char *path,
                                          struct extract_error *error);
void extract_user_types_close(struct extract_user_types *types);

struct extract_trace_options {
    size_t size;                                 // sizeof the struct
    struct extract_symbols *symbols;             // may be NULL; must outlive the trace
    struct extract_memory *memory;               // for names that the registry lacks; may be NULL
    const struct extract_user_types *user_types; // may be NULL; must outlive the trace
    uint64_t modulus;                            // of the clock in ticks; 0: found out
    enum extract_direction direction;            // NONE: found out
    uint64_t hz;                   // ticks a second, of use across the gaps of a log; 0: found out
    const struct extract_rkh *rkh; // what a user says of the RKH stream in a log; may be NULL
    unsigned cores_seen;           // by earlier events of the same target; 0: none
};

// The clock that was found in the stamps.
struct extract_clock {
    uint64_t mask;                    // bits of a stamp that count
    uint64_t modulus;                 // ticks until it wraps; 0 means 2^64
    enum extract_direction direction; // NONE: every stamp is the same
    bool counts_events;               // steps by one an event: an order, not a time
};

// Entries that a log names lost for one reason.
struct extract_loss_info {
    uint64_t gaps;      // where some are missing
    uint64_t not_exact; // gaps of which only the least number is known
    uint64_t at_least;  // entries, in all gaps together
    bool is_exact;      // which is the number
};

enum { EXTRACT_LOSS_REASONS = EXTRACT_LOSS_RESET + 1 };

// What is known of a log beside its entries.
struct extract_log_info {
    struct extract_log_status status;
    struct extract_loss_info losses[EXTRACT_LOSS_REASONS]; // by enum extract_log_loss; 0: others
    uint64_t unreadable; // blocks that were found to be damaged when they were read
    uint64_t missing;    // entries that damaged or missing blocks held, as far as that is known
    uint64_t recordings; // marks START
    uint64_t resets;     // marks RESET
    bool ended;          // it says how its stream ended
    struct extract_log_ending ending;
};

// How it is known which enumeration of the firmware's ELF names the signals of an RKH trace.
enum extract_signals_from {
    EXTRACT_SIGNALS_UNNAMED = 0, // it is not known: signals without a record have no name
    EXTRACT_SIGNALS_BY_USER,
    EXTRACT_SIGNALS_BY_RECORDS, // it agrees with the records of names
    EXTRACT_SIGNALS_BY_TYPE,    // it is called so, and has all signals of the trace
    EXTRACT_SIGNALS_BY_TEXTS    // no other one has, and the ELF holds its names as texts
};

struct extract_signals {
    enum extract_signals_from from;
    size_t count;          // enumerations that fit
    const char *name;      // of the first of them; "": it has none
    const char *name_of_1; // of its first enumerator
};

struct extract_info {
    const char *format;
    enum extract_byte_order byte_order;
    unsigned word_bytes;
    struct extract_clock clock;
    unsigned cores;                     // 0: unknown
    enum extract_cores_from cores_from; // SEEN: there may be more
    uint64_t entries_total;             // what the ring can hold; of a log: that were recorded
    uint64_t entries_valid;             // events shown
    uint64_t entries_damaged;           // torn, overwritten, unreadable or invalid
    uint64_t entries_unused;            // total = valid + damaged + unused
    // What is missing. Exact only where `lost_known`; otherwise the ring has wrapped and keeps no
    // count, or a gap is not exact. At most: if the target was never faster than it was seen to be;
    // UINT64_MAX: not known.
    bool lost_known;
    uint64_t events_lost;
    uint64_t lost_at_least, lost_at_most;
    uint64_t gaps, gaps_not_exact; // between entries that are there
    bool wrapped;
    uint64_t objects; // registry slots that hold or held an object
    uint64_t span_ticks;
    bool running, running_known;        // posix_stream_status
    bool full;                          // posix_stream_full_status
    bool overrun;                       // posix_stream_overrun_status
    const struct extract_log_info *log; // NULL: a ring
    // Of RKH with an ELF, where signals may have names by it; else NULL. Owned by the trace.
    const struct extract_signals *signals;
};

// A kernel object of the registry, or a thread that the registry does not know.
struct extract_object {
    uint64_t address;
    uint32_t type;          // of the format
    const char *type_name;  // "thread"
    const char *name;       // raw bytes from the target, NUL-ended; "" when there is none
    const char *shown;      // what reports print: the escaped name, a symbol, or the address
    uint32_t shown_columns; // of `shown` in a terminal
    uint32_t shown_bytes;   // of `shown`
    uint64_t param1, param2;
    const struct extract_field_type *param_types; // two of them
    bool in_use;                                  // false: deleted, the slot may be taken again
    bool registered;                              // false: seen in events only
    bool shadowed;                 // another one is always taken for what lies at its address
    bool from_memory;              // its name was read from the target outside of the ring
    bool thread;                   // events are of it
    enum extract_kind number_kind; // what its address is a number of (SIGNAL …); NONE: it is one
    uint16_t priority;             // as registered; EXTRACT_NO_PRIORITY when unknown
    uint32_t slot;                 // of the registry
};

// Gives the snapshot its meaning. The snapshot must outlive the trace. Errors: NOMEM, BAD.
enum extract_code extract_trace_open(struct extract_trace **trace,
                                     const struct extract_snapshot *snapshot,
                                     const struct extract_trace_options *options,
                                     struct extract_error *error);
// The same of a log, which must outlive the trace too. Its blocks are read as they are needed, now
// and by each reader, one in memory at a time: readers of one trace take turns, from one thread.
// Damage is no error. Errors: NOMEM, IO, ABSENT (nothing was recorded), BAD.
enum extract_code extract_trace_open_log(struct extract_trace **trace, struct extract_log *log,
                                         const struct extract_trace_options *options,
                                         struct extract_error *error);
void extract_trace_close(struct extract_trace *trace);

const struct extract_info *extract_trace_info(const struct extract_trace *trace);
// Of a log: the facts of its newest ring and the cost of reading so far; it has no bytes.
const struct extract_snapshot *extract_trace_snapshot(const struct extract_trace *trace);
struct extract_symbols *extract_trace_symbols(const struct extract_trace *trace);

// The objects, registered ones first in order of their slots. Owned by the trace.
size_t extract_trace_objects(const struct extract_trace *trace,
                             const struct extract_object **objects);
// The object at an address (one in use wins over a deleted one), or NULL; of a log, the newest.
const struct extract_object *extract_trace_object(const struct extract_trace *trace,
                                                  uint64_t address);
// The thread at an address, likewise.
const struct extract_object *extract_trace_thread(const struct extract_trace *trace,
                                                  uint64_t address);
// The object, and the thread, that lay at an address when the event with that `seq` happened: in a
// log, objects take each other's place, as the firmware does in a log that is continued. NULL: it
// is not known.
const struct extract_object *extract_trace_object_at(const struct extract_trace *trace,
                                                     uint64_t address, uint64_t seq);
const struct extract_object *extract_trace_thread_at(const struct extract_trace *trace,
                                                     uint64_t address, uint64_t seq);

// Whether an object is a thread that events can be of.
bool extract_object_is_thread(const struct extract_object *object);
// A number for the registry that held at an event: with the same number, addresses mean the same.
uint64_t extract_trace_registry(const struct extract_trace *trace, uint64_t seq);

// The type of an event id: a user-defined one, else the catalogue's. Never NULL.
const struct extract_event_type *extract_trace_type(const struct extract_trace *trace, uint32_t id);

// A run of the target in an RKH stream, with what is known of its losses as in struct extract_info.
struct extract_run {
    uint64_t first; // seq of its first event
    uint64_t entries_valid, entries_damaged;
    bool lost_known;
    uint64_t events_lost;
    uint64_t lost_at_least, lost_at_most;
    uint64_t gaps, gaps_not_exact;
    uint64_t span_ticks; // of its own clock; 0 where its frames have no stamps
    uint64_t further;    // runs behind it that are counted with it, since there are too many
    // How its frames are laid out, the bytes of a stamp and its rate included. Owned by the
    // snapshot. NULL: it has no valid frame.
    const struct extract_rkh_layout *layout;
};

// The runs in order, owned by the trace. 0: the trace is not one of RKH, or is empty.
size_t extract_trace_runs(const struct extract_trace *trace, const struct extract_run **runs);

// Appends the text of that number (a value of EXTRACT_KIND_TEXT) as it was stored. False: none.
bool extract_trace_text(const struct extract_trace *trace, uint64_t number,
                        struct extract_text *text);

// The ring that a log leads to: its newest entries, as many as the recorded ring holds, with the
// newest registry, as a snapshot of a target that stands. What lies before the last reset or the
// last change of the ring does not belong to it. Errors: NOMEM, UNSUPPORTED (no log).
enum extract_code extract_trace_image(const struct extract_trace *trace,
                                      struct extract_snapshot *image, struct extract_error *error);

// Walks the events from the oldest to the newest. A plain value: copy it to remember a place.
struct extract_reader {
    const struct extract_trace *trace;
    uint64_t seq;
    uint64_t ticks;
    uint64_t last_stamp;
    uint32_t done; // slots passed, from the oldest
    uint32_t told; // `done` + 1 when what is missing in front of the next slot was told
    bool started;
    bool gap;
    bool untimed; // the last entry is of a run without stamps (EXTRACT_FLAG_UNTIMED)
    // Of a log only:
    bool restarted;    // stamps have begun again since the last entry
    bool numbered;     // `expected` is known
    bool broken;       // a block in front could not be read
    bool dropped;      // or is not there any more, since the writer dropped it
    uint64_t piece;    // the block that is read
    uint64_t epoch;    // the block from which on the clock of the last entry holds
    uint64_t expected; // number of the next entry
    uint64_t unread;   // entries of the blocks that could not be read, by their heads
    uint64_t skipped;  // entries that were passed and are not shown
    uint64_t wall;     // when the last entry was read from the target
};

void extract_reader_init(struct extract_reader *reader, const struct extract_trace *trace);
// Decodes up to `count` events to `events`; returns how many, 0 at the end. Never fails.
size_t extract_reader_next(struct extract_reader *reader, struct extract_event *events,
                           size_t count);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
