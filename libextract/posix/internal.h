// SPDX-License-Identifier: MIT
// posix: the functions of <trace.h>, over a memory in which a process block lies: a program's
// shared memory, firmware behind a debugger, an image.
//
// In: trace ids, requests; the target's blocks and records (formats/posix). Out: events, status,
// and the words that a target is asked with. Locks: a target's (which its traces share), and above
// it the table's, which is held for moments only. Errors are numbers of <errno.h>.
#ifndef EXTRACT_POSIX_ROOM_H
#define EXTRACT_POSIX_ROOM_H

#include "formats/posix/posix.h"
#include <errno.h>
#include <extract/posix/attach.h>
#include <trace.h>

struct ringside_trace_object;
struct posix_log;
struct posix_recorded;

enum {
    POSIX_SET_WORDS = 9, // of trace_event_set_t
    POSIX_SET_IDS = POSIX_SET_WORDS * 32,
    POSIX_NAME_BYTES = TRACE_EVENT_NAME_MAX + 1,     // of an event name with its zero
    POSIX_MAX_SYSTEM = 2 * sizeof(trace_event_set_t) // bytes of a system event's data
};

// What may be done with a trace id.
enum posix_kind {
    POSIX_ACTIVE = 1,   // a stream without a log
    POSIX_LOGGED = 2,   // a stream with one
    POSIX_RECORDED = 4, // a stream that is over: a log, or a block that nobody writes to
    POSIX_ALL = POSIX_ACTIVE | POSIX_LOGGED | POSIX_RECORDED
};

// The attributes object.
struct posix_attr {
    uint64_t magic;
    struct timespec resolution, created;
    uint64_t stream_size, log_size, max_data; // bytes
    uint32_t head_bytes;                      // of a record, without data
    uint32_t set_bytes;                       // of a filter in a record
    int32_t stream_policy;                    // 0: not set
    int32_t log_policy, inherited;
    uint8_t size_set, data_set; // the caller chose that size
    char name[TRACE_NAME_MAX], version[TRACE_NAME_MAX];
} __attribute__((__may_alias__));

_Static_assert(sizeof(struct posix_attr) <= sizeof(trace_attr_t), "trace_attr_t has room");

// A traced process. Traces on it share it and its lock.
struct posix_target {
    struct posix_target *next;
    unsigned users; // traces; one more while it is attached; under the table's lock
    pid_t pid;
    bool attached;
    bool detached;                        // no trace is made of it any more
    bool ran;                             // before the lock was taken
    struct ringside_trace_object *object; // a program's; NULL: other memory
    struct extract_memory *memory;        // the caller's, where there is no object
    uint64_t address;                     // of the process block
    struct posix_block block;             // as it was read last
    pthread_mutex_t lock;
};

// An event on its way to its reader. `data` lies in the trace until the next one is asked for.
struct posix_event {
    trace_event_id_t id;
    pid_t pid;
    uint64_t address, thread;
    struct timespec time;
    bool cut;
    const uint8_t *data;
    uint32_t data_bytes;
};

// What is to be told before the next event: an overflow, a resume; that event, which was taken
// already, is.
enum posix_gap { POSIX_NO_GAP = 0, POSIX_OVERFLOWED, POSIX_RESUMES, POSIX_RESUMED };

// A place in a ring from which events are read one after the other.
struct posix_reader {
    struct posix_stream block; // as it was read last
    bool begun;                // what follows counts; `generation` is the ring's
    uint32_t generation;
    uint32_t at;                // position of the next record
    uint32_t window_at, window; // words that were copied: position, and how many
    uint32_t batch;             // words to copy at once
    uint32_t safe_words;        // words behind the head that a slow reader gets; 0: it keeps up
    uint8_t *bytes;             // POSIX_WINDOW words
    enum posix_gap gap;
    struct posix_record taken;      // the record in front of `at`, and
    uint32_t taken_at;              // where it lies in `bytes`
    bool overrun;                   // events were lost since it was asked
    uint32_t told_tail;             // when it was asked
    uint32_t told_refused;          // likewise
    bool clocked;                   // the three below hold
    uint64_t stamp;                 // of the last event, with the bits that the ring has not
    uint64_t anchor;                // a stamp, and
    struct timespec anchor_time;    // its time
    uint8_t data[POSIX_MAX_SYSTEM]; // of a system event, as the host has it
};

enum {
    POSIX_WINDOW = 4096,     // words: as long as the longest record
    POSIX_BATCH_SHARED = 64, // where a copy costs little
    POSIX_TRIES = 4          // looks at blocks that change meanwhile
};

struct posix_trace;

// What controllers asked of the stream, as it was seen last.
struct posix_wants {
    uint32_t bind; // the request that bound it
    uint32_t last; // the newest one
    uint32_t clears;
    bool running;
    trace_event_set_t filter;
};

// How the events of a trace are had, and what is left of it at its end.
struct posix_ops {
    // The next event; EAGAIN: none is there now. Others: EIO.
    int (*next)(struct posix_trace *trace, struct posix_event *event);
    int (*status)(struct posix_trace *trace, struct posix_trace_status_info *status);
    int (*attr)(struct posix_trace *trace, struct posix_attr *attr);
    // The name of a user event type that is registered (POSIX_NAME_BYTES); EINVAL: none.
    int (*name)(struct posix_trace *trace, trace_event_id_t id, char *name);
    // The first user event type at or behind `id` that has a name; 0: none.
    trace_event_id_t (*named)(struct posix_trace *trace, trace_event_id_t id);
    int (*rewind)(struct posix_trace *trace); // recorded ones
    int (*finish)(struct posix_trace *trace); // before it is freed; an error does not keep it
    void (*free)(struct posix_trace *trace);
};

// What a trace id stands for.
struct posix_trace {
    enum posix_kind kind;
    const struct posix_ops *ops;
    trace_id_t id;
    unsigned users;              // calls under way; under the table's lock
    bool over;                   // it is being shut down
    int waker;                   // an eventfd that ends waits; -1: nobody waits
    struct posix_target *target; // its lock is the trace's
    unsigned stream;             // number of its block
    uint32_t made;               // generation of the process block when that was bound
    uint32_t generation;         // another one each time that it was bound
    bool restarted;              // the target began again, and the stream is not bound yet
    struct posix_attr attr;
    struct posix_wants wants;
    struct posix_reader reader;
    trace_event_id_t listed;         // event type that the iterator gives next
    struct posix_log *log;           // of a stream with one
    struct posix_recorded *recorded; // of one that is a log
};

// A call that uses a trace.
struct posix_use {
    struct posix_trace *trace;
    int cancel; // the thread's state before
};

// table.c: trace ids and targets, the one thing that is the process' own.
// Gives a trace an id. EAGAIN: there are too many. ESRCH: its target was detached.
int posix_table_add(struct posix_trace *trace, trace_id_t *id);
// Takes a trace by its id and locks its target, until posix_leave. EINVAL: no such trace, or not of
// these kinds.
int posix_enter(struct posix_use *use, trace_id_t id, unsigned kinds);
void posix_leave(struct posix_use *use);
// For a wait in the middle of a call: gives the target's lock back, and takes it again. EINVAL: the
// trace is over.
void posix_pause(struct posix_use *use);
int posix_resume(struct posix_use *use);
// Ends a trace that was taken: its id is no more, its readers wake, and when the last has gone it
// is finished and freed. Returns what `finish` does.
int posix_end(struct posix_use *use);
// The target of a process, with one more user: attached, or a program's, which is opened. ESRCH,
// EPERM, ENOMEM, EINVAL.
int posix_target_take(struct posix_target **target, pid_t pid);
void posix_target_drop(struct posix_target *target);
// Adds one that was attached. EEXIST.
int posix_target_add(struct posix_target *target);
// Whether a trace of this process uses that stream.
bool posix_table_uses(const struct posix_target *target, unsigned stream);
// Ends every trace of the target, waits for those that are being made or ended, and forgets it.
// ESRCH: it is not attached.
int posix_target_detach(pid_t pid);

// target.c: words and blocks in a target's memory. EIO: it cannot be read or written.
// A target with one user; NULL: out of memory. And one of a program's object.
struct posix_target *posix_target_new(pid_t pid, struct extract_memory *memory);
int posix_target_open(struct posix_target **target, pid_t pid);
void posix_target_free(struct posix_target *target);
// Whether new traces may be made of it: its process has not ended.
bool posix_target_lives(const struct posix_target *target);
// Whether nothing will be recorded in a stream any more: its process has ended, and so have those
// that inherited it. Never of a target that is no process of this host.
bool posix_stream_has_ended(const struct posix_target *target, unsigned stream);
// Where memory is read only while the target stands, it stands while the lock is held, and runs
// behind that if it ran before.
void posix_target_lock(struct posix_target *target);
void posix_target_unlock(struct posix_target *target);
// With the lock held: lets it run, until the next nap or lock; or for as long as `pause`.
void posix_target_let_run(struct posix_target *target);
void posix_target_nap(struct posix_target *target, const struct timespec *pause);
int posix_target_look(struct posix_target *target);
uint64_t posix_stream_address(const struct posix_target *target, unsigned stream);
// ENOENT: there is none now; a target that starts again may be about to make it.
int posix_stream_look(struct posix_target *target, unsigned stream, struct posix_stream *block);
int posix_poke(struct posix_target *target, uint64_t address, const uint32_t *words,
               uint32_t count);
int posix_peek(struct posix_target *target, uint64_t address, uint32_t *words, uint32_t count);

// attr.c
const struct posix_attr *posix_attr_of(const trace_attr_t *attr); // NULL: it was never made
void posix_attr_defaults(struct posix_attr *attr);
uint32_t posix_attr_event_bytes(const struct posix_attr *attr, uint64_t data);
uint32_t posix_attr_system_bytes(const struct posix_attr *attr);

// control.c: what the target is asked for by now, which others may have changed, becomes what the
// trace wants. Of one that has started again, that stays.
int posix_learn(struct posix_trace *trace);
// Whether the target's memory was cleared: fewer requests were made than there have been. Two
// controllers whose requests cross make that so, too, but not fewer than the stream was bound with,
// nor fewer events than were read. That of a process on this host never is.
bool posix_went_back(const struct posix_trace *trace, const struct posix_stream *block);
// Asks a target for what the trace wants.
int posix_ask(struct posix_trace *trace, bool bound);
// Whether the target has carried out everything that it was asked for.
bool posix_asked_done(const struct posix_stream *block);

// create.c: traces. A trace that is made has no id; posix_make gives it a stream of process `pid`,
// too. posix_bind takes a stream of the trace's target, with the trace's attributes.
struct posix_trace *posix_new(enum posix_kind kind); // NULL: out of memory
void posix_free(struct posix_trace *trace);
int posix_make(enum posix_kind kind, pid_t pid, const trace_attr_t *attr, trace_id_t *trid);
int posix_bind(struct posix_trace *trace);
// Binds the stream again when its target has started again since; where the firmware has bound it
// itself by now, that is let go of first. `block`: as the stream is.
void posix_bind_again(struct posix_trace *trace, const struct posix_stream *block);
int posix_unbind(struct posix_trace *trace);

// ring.c: events out of a ring.
extern const struct posix_ops posix_ring_ops;
// Forgets the place: the next look begins again.
void posix_reader_again(struct posix_reader *reader);
// Reads the stream block; begins again where the ring did. EAGAIN: it is not ours yet, or no more.
int posix_ring_look(struct posix_trace *trace);
// Whether records were overwritten in front of the reader.
bool posix_ring_lapped(const struct posix_reader *reader);
// Notes what was lost since it was told last.
void posix_ring_note(struct posix_reader *reader);
// The record at the reader's place, which stays there. EAGAIN: none is there now.
int posix_ring_find(struct posix_trace *trace, struct posix_record *record, const uint8_t **bytes);
// What lies in front of the reader's place is free.
void posix_ring_release(struct posix_trace *trace);
// Makes the event of a record that is done. It lies in the record, and in the trace.
void posix_event_take(struct posix_trace *trace, const struct posix_record *record,
                      const uint8_t *bytes, struct posix_event *event);

// window.c: copies what follows the reader's place, and proves it. EAGAIN: nothing follows now.
int posix_window_fill(struct posix_trace *trace);

// status.c
int posix_ring_status(struct posix_trace *trace, struct posix_trace_status_info *status);
int posix_ring_attr(struct posix_trace *trace, struct posix_attr *attr);
// Takes what a ring has in the place of what was asked for.
void posix_attr_of_ring(struct posix_attr *attr, const struct posix_stream *block, uint32_t ids);

// times.c: the time of the next event, by its stamp; and of one that was lost behind the last.
struct timespec posix_time_take(struct posix_trace *trace, uint64_t stamp);
struct timespec posix_time_lost(struct posix_trace *trace, uint64_t stamp);

// names.c: a system event type's name; NULL: it is none.
const char *posix_system_name(trace_event_id_t id);
int posix_ring_name(struct posix_trace *trace, trace_event_id_t id, char *name);
trace_event_id_t posix_ring_named(struct posix_trace *trace, trace_event_id_t id);

#endif
