// SPDX-License-Identifier: MIT
// posix: the functions of <trace.h>, for a traced process whose blocks are in any memory: a
// program's shared memory, firmware behind a debugger, or a memory image.
//
// A caller names a stream by a trace id. posix_table.c turns the id into a `struct posix_trace` and
// locks the trace's target. The trace's operations (`struct posix_ops`) then do the work: those of
// posix_ring.c for a stream in memory, those of log/logged.c for a stream with a log, and those of
// log/recorded.c for a log that is read back. The blocks and records themselves are parsed by
// formats/posix, so that the API and the reports accept the same bytes.
//
//   <trace.h> call                                                      target memory
//        │ trace id                                                          ▲   │
//        ▼                                                     request words │   │ blocks, records
//   ┌───────────────┐ locked ┌─────────────────────────────┐     ┌───────────┴───▼────┐
//   │ posix_table.c │───────►│ posix_control.c, create.c   │────►│ posix_target.c     │
//   │               │ trace  │   start, stop, filter       │     │   words and blocks │
//   │               │        │ posix_read.c ► posix_ring.c │     │                    │
//   │               │        │   events ► posix_window.c   │────►│                    │
//   └───────────────┘        └─────────────────────────────┘     └────────────────────┘
//
// Nothing is called in the traced process. A request is a set of words in its memory, and it
// carries them out at its next trace point. Shared memory is the exception: there the controller
// carries out the request itself, under the lock that both sides use.
//
// Locks are taken in this order, and the second only for moments:
//   1. the target's lock, which all traces of the target share (posix_enter, posix_leave);
//   2. the table's lock, which guards trace ids and user counts.
//
// A trace and its stream, as its controller sees them:
//
//               posix_trace_create           request carried out
//   (no trace) ───────────────────► REQUESTED ─────────────────────► BOUND ◄─┐
//                                       ▲                             │      │ cleared: the ring
//                                       │ target reset: posix_rebind  │      │ has a new generation
//                                       └─────────────────────────────┼──────┘
//                                                                     │ posix_trace_shutdown
//                                                                     ▼
//                                                                    OVER
//
//   REQUESTED  request_done is older than `wants.bind`, or `was_reset` is set. Reads give EAGAIN.
//
//   BOUND      posix_ring.c reads the stream's records from `reader.at` on.
//
//   OVER       `is_over` is set, and the id is invalid. Waiting readers wake up, and the last user
//              frees the trace.
//
// Functions return 0 or a number of <errno.h>, as the functions of <trace.h> do, unless stated
// otherwise.
//
// Source: IEEE Std 1003.1-2008, 2.11 (Tracing). Layout of the target's memory:
// docs/formats/posix-ring.md.
#ifndef EXTRACT_POSIX_POSIX_ROOM_H
#define EXTRACT_POSIX_POSIX_ROOM_H

#include "formats/posix/posix.h"
#include <errno.h>
#include <extract/posix/attach.h>
#include <trace.h>

struct ringside_trace_object;
struct posix_log;
struct posix_recorded;

enum {
    POSIX_SET_WORDS = 9, // words of a trace_event_set_t
    POSIX_SET_IDS = POSIX_SET_WORDS * 32,
    POSIX_NAME_BYTES = TRACE_EVENT_NAME_MAX + 1,     // an event name with its terminating zero
    POSIX_MAX_SYSTEM = 2 * sizeof(trace_event_set_t) // bytes of data of a system event
};

// The kinds of traces. They are bits, so that a function can accept several kinds of trace ids.
enum posix_kind {
    POSIX_ACTIVE = 1,   // a stream without a log
    POSIX_LOGGED = 2,   // a stream with a log
    POSIX_RECORDED = 4, // a pre-recorded stream: a log, or a stream block without a writer
    POSIX_ALL = POSIX_ACTIVE | POSIX_LOGGED | POSIX_RECORDED
};

// The contents of a trace_attr_t. The type may alias, since callers allocate a trace_attr_t.
struct posix_attr {
    uint64_t magic; // shows whether posix_trace_attr_init was called
    struct timespec resolution, created;
    uint64_t stream_size, log_size, max_data; // bytes
    uint32_t head_bytes;                      // bytes of a record without its data
    uint32_t set_bytes;                       // bytes of a filter in a record
    int32_t stream_policy;                    // 0 if not set
    int32_t log_policy, inherited;
    uint8_t size_set, data_set; // whether the caller chose stream_size and max_data
    char name[TRACE_NAME_MAX], version[TRACE_NAME_MAX];
} __attribute__((__may_alias__));

_Static_assert(sizeof(struct posix_attr) <= sizeof(trace_attr_t), "trace_attr_t is large enough");

// A traced process. All traces of the process share it and its lock.
struct posix_target {
    struct posix_target *next;
    unsigned users; // number of traces, plus 1 while it is attached; guarded by the table's lock
    pid_t pid;
    bool is_attached;                     // extract_posix_attach made it
    bool is_detached;                     // no more traces may be made of it
    bool was_running;                     // the target was running before the lock was taken
    struct ringside_trace_object *object; // shared memory of a program; NULL for other memory
    struct extract_memory *memory;        // the caller's memory if `object` is NULL
    uint64_t address;                     // address of the process block
    struct posix_block block;             // the process block as it was read last
    pthread_mutex_t lock;
};

// A decoded event. `data` is valid until the next event of the same trace is read.
struct posix_event {
    trace_event_id_t id;
    pid_t pid;
    uint64_t address, thread;
    struct timespec time;
    bool is_truncated;
    const uint8_t *data;
    uint32_t data_bytes;
};

// How far a gap in the events has been reported. The state diagram is in posix_ring.c.
enum posix_gap { POSIX_NO_GAP = 0, POSIX_OVERFLOWED, POSIX_RESUMES, POSIX_RESUMED };

// A reading position in a ring, and the words copied from there. Positions count words, as `head`
// and `tail` do, and wrap at 2^32.
struct posix_reader {
    struct posix_stream block; // the stream block as it was read last
    bool is_started;           // the fields below are valid for the ring of this `generation`
    uint32_t generation;
    uint32_t at;                      // position of the next record
    uint32_t window_at, window_words; // the words copied to `bytes`: first position, and number
    uint32_t batch_words;             // number of words to copy at once
    uint32_t safe_words;              // distance from `head` at which a reader that is slower than
                                      // the writer starts to copy (posix_window.c); 0: it keeps up
    uint8_t *bytes;                   // copied words; capacity: POSIX_WINDOW words
    enum posix_gap gap;
    struct posix_record taken; // the record before `at`
    uint32_t taken_offset;     // byte offset of `taken` in `bytes`
    bool is_overrun;           // events were lost since the status was read last
    uint32_t reported_tail;    // `tail` when the status was read last
    uint32_t reported_refused; // `refused` when the status was read last
    bool clock_is_set;         // last_stamp, origin_stamp and origin_time are valid
    uint64_t last_stamp;       // timestamp of the last event, extended to 64 bits
    uint64_t origin_stamp;     // timestamp whose time of day is origin_time
    struct timespec origin_time;
    uint8_t data[POSIX_MAX_SYSTEM]; // data of a system event in the host's byte order
};

enum {
    POSIX_WINDOW = 4096,     // words; a record has at most 4095
    POSIX_BATCH_SHARED = 64, // words to copy at once from shared memory, where a copy is cheap
    POSIX_MAX_TRIES = 4      // attempts to read a block that changes while it is read
};

struct posix_trace;

// What controllers have requested of a stream, as it was written or read last.
struct posix_wants {
    uint32_t bind; // number of the request that bound the stream
    uint32_t last; // number of the newest request
    uint32_t clears;
    bool is_running;
    trace_event_set_t filter;
};

// The operations of a trace, by its kind. Each is called with the target locked, except `free`.
struct posix_ops {
    // Reads the next event. Returns EAGAIN if there is none now, EIO if the memory is unreadable.
    int (*next)(struct posix_trace *trace, struct posix_event *event);
    int (*status)(struct posix_trace *trace, struct posix_trace_status_info *status);
    int (*attr)(struct posix_trace *trace, struct posix_attr *attr);
    // Copies the name of a registered user event type (at most POSIX_NAME_BYTES). Returns EINVAL if
    // the id is not registered.
    int (*name)(struct posix_trace *trace, trace_event_id_t id, char *name);
    // Returns the first user event type from `id` on that has a name; 0 if there is none.
    trace_event_id_t (*next_named)(struct posix_trace *trace, trace_event_id_t id);
    int (*rewind)(struct posix_trace *trace); // for POSIX_RECORDED only
    // Ends the stream before it is freed. The trace is freed even if this returns an error.
    int (*finish)(struct posix_trace *trace);
    void (*free)(struct posix_trace *trace);
};

// What a trace id stands for.
struct posix_trace {
    enum posix_kind kind;
    const struct posix_ops *ops;
    trace_id_t id;
    unsigned users;              // calls in progress; guarded by the table's lock
    bool is_over;                // the trace is being shut down
    int waker_fd;                // eventfd that ends waits; -1 if no call can wait
    struct posix_target *target; // its lock guards the trace
    unsigned stream;             // number of the stream block
    uint32_t process_generation; // generation of the process block when the stream was bound
    uint32_t generation;         // incremented each time the stream is bound again
    bool was_reset;              // the target was reset, and the stream is not bound again yet
    struct posix_attr attr;
    struct posix_wants wants;
    struct posix_reader reader;
    trace_event_id_t next_listed;    // event type that posix_trace_eventtypelist_… gives next
    struct posix_log *log;           // for POSIX_LOGGED
    struct posix_recorded *recorded; // for a log that was opened with posix_trace_open
};

// A call that uses a trace.
struct posix_use {
    struct posix_trace *trace;
    int cancel_state; // cancel state of the thread before the call
};

// ---- posix_table.c: trace ids and targets ----

// Gives a trace an id. Returns EAGAIN if there are too many, ESRCH if its target was detached.
int posix_table_add(struct posix_trace *trace, trace_id_t *id);
// Looks up a trace, counts the caller as a user, disables cancellation and locks the target, until
// posix_leave. Returns EINVAL if the id is invalid, or is not of one of these kinds.
int posix_enter(struct posix_use *use, trace_id_t id, unsigned kinds);
void posix_leave(struct posix_use *use);
// Unlock and lock the target in the middle of a call, in order to wait. posix_resume returns EINVAL
// if the trace was shut down in the meantime; the target is locked all the same.
void posix_pause(struct posix_use *use);
int posix_resume(struct posix_use *use);
// Ends a trace that was entered: invalidates its id, wakes its readers, finishes it, and frees it
// when the last of them has left. Returns the result of `finish`.
int posix_end(struct posix_use *use);
// Finds the target of a process, or opens a program's object, and counts one user more. Returns
// ESRCH, EPERM, ENOMEM or EINVAL.
int posix_target_acquire(struct posix_target **target, pid_t pid);
// Counts one user less, and frees the target of the last one.
void posix_target_release(struct posix_target *target);
// Adds an attached target. Returns EEXIST if one is attached to that process id.
int posix_target_add(struct posix_target *target);
// Returns whether a trace of this process uses that stream.
bool posix_stream_is_used(const struct posix_target *target, unsigned stream);
// Ends every trace of the target, waits for calls that make or end one, and frees the target.
// Returns ESRCH if none is attached.
int posix_target_detach(pid_t pid);

// ---- posix_target.c: words and blocks in a target's memory; EIO if they are unreadable ----

// Returns a new target with one user; NULL if there is no memory for it.
struct posix_target *posix_target_new(pid_t pid, struct extract_memory *memory);
// Opens the shared memory of a program on this host.
int posix_target_open(struct posix_target **target, pid_t pid);
void posix_target_free(struct posix_target *target);
// Returns whether new traces may be made of the target: its process has not ended.
bool posix_target_is_alive(const struct posix_target *target);
// Returns whether nothing more will be recorded in a stream: its process and all processes that
// inherited the stream have ended. Always false for a target that is not a process of this host.
bool posix_stream_has_ended(const struct posix_target *target, unsigned stream);
// Locks the target. If its memory is readable only while the target is halted, halts it;
// posix_target_unlock lets it run again if it was running.
void posix_target_lock(struct posix_target *target);
void posix_target_unlock(struct posix_target *target);
// With the lock held, let the target run: until posix_target_sleep or the next lock, or for the
// duration of `pause`.
void posix_target_let_run(struct posix_target *target);
void posix_target_sleep(struct posix_target *target, const struct timespec *pause);
// Reads the process block again.
int posix_target_load(struct posix_target *target);
uint64_t posix_stream_address(const struct posix_target *target, unsigned stream);
// Reads a stream block. Returns ENOENT if there is none, as while a target that was reset has not
// made it yet.
int posix_stream_load(struct posix_target *target, unsigned stream, struct posix_stream *block);
// Write and read words in the target's byte order. `count` is at most 32 to write, POSIX_SET_WORDS
// to read. Writing returns EPERM if the memory is read-only.
int posix_write_words(struct posix_target *target, uint64_t address, const uint32_t *words,
                      uint32_t count);
int posix_read_words(struct posix_target *target, uint64_t address, uint32_t *words,
                     uint32_t count);

// ---- attr.c: attributes objects ----

// Returns the attributes in `attr`; NULL if posix_trace_attr_init was not called for it.
const struct posix_attr *posix_attr_of(const trace_attr_t *attr);
void posix_attr_defaults(struct posix_attr *attr);
// Return the bytes that an event occupies: one with `data` bytes, and the largest system event.
uint32_t posix_attr_event_bytes(const struct posix_attr *attr, uint64_t data);
uint32_t posix_attr_system_bytes(const struct posix_attr *attr);

// ---- posix_control.c: requests ----

// Reads what is requested of the stream now into trace->wants, since other controllers may have
// changed it. After a reset, binds the stream again instead and keeps trace->wants.
int posix_read_wants(struct posix_trace *trace);
// Returns whether the target's memory was cleared: the request number is lower than that of our
// last request. Requests of two controllers that cross can look like this, too. They leave neither
// a number lower than that of our binding nor a head before what was read, so one of these is
// required as well. Always false for a process on this host.
bool posix_memory_was_cleared(const struct posix_trace *trace, const struct posix_stream *block);
// Requests what trace->wants holds, for a stream that is to be bound or to be released.
int posix_send_request(struct posix_trace *trace, bool bound);
// Returns whether the target has carried out the newest request.
bool posix_request_is_done(const struct posix_stream *block);

// ---- create.c: traces ----

// Returns a trace without an id; NULL if there is no memory for it.
struct posix_trace *posix_new(enum posix_kind kind);
void posix_free(struct posix_trace *trace);
// Makes a trace with a stream of process `pid`, and gives it an id.
int posix_make(enum posix_kind kind, pid_t pid, const trace_attr_t *attr, trace_id_t *trid);
// Binds a stream of the trace's target, with the trace's attributes.
int posix_bind(struct posix_trace *trace);
// Binds the stream again if its target was reset since. If the firmware has bound it by then, it is
// released first. `block` is the stream block as it was read last.
void posix_rebind(struct posix_trace *trace, const struct posix_stream *block);
int posix_unbind(struct posix_trace *trace);

// ---- posix_ring.c: events of a ring ----

extern const struct posix_ops posix_ring_ops;
// Discards the reading position: the next poll starts at the tail.
void posix_reader_restart(struct posix_reader *reader);
// Reads the stream block, and restarts the reader if the ring has a new generation. Returns EAGAIN
// if the stream is not bound for this trace yet, or no longer.
int posix_ring_poll(struct posix_trace *trace);
// Returns whether the writer has lapped the reader: records from `at` on were overwritten.
bool posix_ring_is_lapped(const struct posix_reader *reader);
// Notes losses since the last call, and moves a lapped reader to the tail.
void posix_ring_note_loss(struct posix_reader *reader);
// Finds the record at the reading position and leaves the position there. `*bytes` points into the
// reader's window. Returns EAGAIN if there is no record now.
int posix_ring_find_record(struct posix_trace *trace, struct posix_record *record,
                           const uint8_t **bytes);
// Tells the writer that everything before the reading position is free.
void posix_ring_release(struct posix_trace *trace);
// Decodes a record that is done. The event points to `bytes`, or to the reader's `data`.
void posix_event_decode(struct posix_trace *trace, const struct posix_record *record,
                        const uint8_t *bytes, struct posix_event *event);

// ---- posix_window.c: verified copies of a ring ----

// Copies the words from the reading position on, and verifies that they were not overwritten.
// Returns EAGAIN if there are none now.
int posix_window_fill(struct posix_trace *trace);

// ---- posix_status.c: status and attributes of a stream ----

int posix_ring_status(struct posix_trace *trace, struct posix_trace_status_info *status);
int posix_ring_attr(struct posix_trace *trace, struct posix_attr *attr);
// Replaces the requested attributes by those that the ring has. `ids` is the capacity of a filter.
void posix_attr_from_ring(struct posix_attr *attr, const struct posix_stream *block, uint32_t ids);

// ---- posix_times.c: times of events ----

// Returns the time of the next event, whose timestamp this is.
struct timespec posix_time_of_event(struct posix_trace *trace, uint64_t stamp);
// Returns the time of an event that was lost after the last one that was read.
struct timespec posix_time_of_loss(struct posix_trace *trace, uint64_t stamp);

// ---- posix_names.c: names of event types ----

// Returns the name of a system event type; NULL for other ids.
const char *posix_system_name(trace_event_id_t id);
int posix_ring_name(struct posix_trace *trace, trace_event_id_t id, char *name);
trace_event_id_t posix_ring_next_named(struct posix_trace *trace, trace_event_id_t id);

#endif
