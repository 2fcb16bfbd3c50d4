// SPDX-License-Identifier: MIT
// follow: what the files of this directory share. See recorder.c for how a ring is
// followed.
#ifndef EXTRACT_FOLLOW_FOLLOW_ROOM_H
#define EXTRACT_FOLLOW_FOLLOW_ROOM_H

#include "base/grow.h"
#include "base/map.h"
#include "base/stamps.h"
#include "formats/format.h"
#include "log/log_block.h"
#include "snapshot/follower.h"
#include <extract/record.h>

enum {
    RECORD_MAX_PROVISIONAL = 3,    // entries that may be kept back
    RECORD_MAX_BUFFER = 256 * 1024 // bytes of one read
};

// link_model.c: what a read costs.
struct link_kind {
    double bytes, ns; // moving averages of the size and the time of a read
    uint64_t count;   // reads so far
};

struct link_model {
    struct link_kind words, spans; // reads of a few words, and long ones
    double work;                   // ns of a poll outside of reads
};

void link_model_note(struct link_model *link, uint64_t bytes, uint64_t ns);
double link_model_latency(const struct link_model *link); // ns
double link_model_rate(const struct link_model *link);    // bytes per nanosecond
// Returns how many ns a poll takes that finds `entries` new entries.
double link_model_poll(const struct link_model *link, const struct extract_ring *ring,
                       double entries);
// Returns the load, in entries per nanosecond, that can be recorded from this ring without a loss,
// if a poll may begin `late_ns` after it is due.
double link_model_followed(const struct link_model *link, const struct extract_ring *ring,
                           double late_ns);
// Returns the entries per nanosecond that the link transfers from a ring of any size.
double link_model_fastest(const struct link_model *link, const struct extract_ring *ring);
// Returns how many entries a ring must hold for a load in entries per nanosecond; UINT32_MAX if the
// link is too slow for any ring.
uint32_t link_model_ring_wanted(const struct link_model *link, const struct extract_ring *ring,
                                double load);

// poll_interval.c: when to poll.
struct poll_interval {
    uint64_t period_ns;        // between polls; 0: back to back
    uint64_t last;             // time of the last poll; 0: none yet
    uint64_t head;             // write position at the last poll
    double load;               // entries per nanosecond, a moving average
    double peak;               // the highest load, falling slowly
    uint64_t last_interval_ns; // between the last two polls
    uint64_t last_entries;     // written between the last two polls
    uint64_t window_start;     // time when the count per second began
    uint64_t window_head;      // write position then
    double window_more;        // entries since then that the write position does not show: bursts
    uint64_t per_second;       // entries
    bool is_estimate;          // `per_second` includes entries of bursts
};

// Notes the write position that was read at `now`.
void poll_interval_note_head(struct poll_interval *pace, uint64_t now, uint64_t head);
// Adds whole laps of `entries` entries that became known only now.
void poll_interval_shift(struct poll_interval *pace, uint64_t entries);
// Notes that `entries`, less than a lap, were written in the `ns` between two reads of the write
// position.
void poll_interval_note_burst(struct poll_interval *pace, uint64_t entries, uint64_t ns);
// Forgets the load, for another ring.
void poll_interval_start(struct poll_interval *pace);
// Chooses the period.
void poll_interval_choose(struct poll_interval *pace, const struct link_model *link,
                          const struct extract_ring *ring);

// follow_clock.c: what the timestamps say while a slot ring is recorded.
struct ring_clock {
    struct extract_tally tally; // of the entries since the last gap
    struct extract_clock clock;
    bool has_entry;       // the three fields below are valid
    uint64_t stamp;       // of the newest entry, as stored
    uint64_t time_ns;     // the host's clock at the poll that added it
    double entries;       // between polls without a gap; old ones count less
    double ticks, ns;     // that these took, by the target's clock and by the host's
    uint64_t new_entries; // added since the last poll, over `new_ticks`
    double new_ticks;
    bool has_gap; // since the last poll
};

void ring_clock_start(struct ring_clock *clock, const struct extract_ring *ring);
// Adds entries that follow those added before, possibly after a gap.
void ring_clock_add(struct ring_clock *clock, const struct extract_ring *ring,
                    const struct extract_follower_span *span, bool after_gap);
// Notes that a poll at `now` found everything that was added since the last call.
void ring_clock_note_poll(struct ring_clock *clock, const struct extract_ring *ring, uint64_t now);
// Returns whether the timestamp of `newest`, found at `now` after a gap, is earlier than the last
// one that was added, although the clock had no time to wrap. The target was reset, or its clock
// wrapped after all. `ignore_host_clock`: host time does not show the target's time.
bool ring_clock_went_back(const struct ring_clock *clock, const struct extract_ring *ring,
                          const uint8_t *newest, uint64_t now, bool ignore_host_clock);
// Returns whether the clock counts events. If so, *distance is the number of events from the last
// entry that was added to `newest`. It must be at least `least`, and equal modulo the ring's size.
bool ring_clock_counts(const struct ring_clock *clock, const struct extract_ring *ring,
                       const uint8_t *newest, uint64_t least, uint64_t *distance);

// Notes in a log where the program was loaded, if that is known.
enum extract_code record_put_program(struct extract_log_writer *log,
                                     const struct extract_symbols *symbols,
                                     struct extract_error *error);

// follow_output.c: sends blocks to the log and to the sink.
struct out {
    struct extract_log_writer *log;
    extract_record_sink *sink;
    void *context;
    uint64_t number;            // number of the next entry
    uint64_t unlogged;          // entries that the log had no space for, lost ones included
    uint64_t modulo;            // modulus of `unlogged` (extract_log_block.modulo)
    uint64_t wall;              // host's time of the last poll, ns since 1970 (UTC)
    bool is_held;               // a debugger holds the target between polls
    enum log_loss_sum loss_sum; // of this recording, whether or not the log had space for them
    struct extract_record_status *status;
};

enum extract_code out_ring(struct out *out, const struct extract_ring *ring,
                           struct extract_error *error);
enum extract_code out_objects(struct out *out, const struct extract_ring *ring,
                              const uint8_t *bytes, size_t length, struct extract_error *error);
enum extract_code out_mark(struct out *out, enum extract_log_mark kind, uint64_t value,
                           const char *text, struct extract_error *error);
// Reports that `at_least` entries are lost, and any multiple of `modulo` more.
enum extract_code out_loss(struct out *out, enum extract_log_loss kind, uint64_t at_least,
                           uint64_t modulo, struct extract_error *error);
enum extract_code out_bytes(struct out *out, const uint8_t *bytes, uint32_t length, uint32_t count,
                            struct extract_error *error);
enum extract_code out_entries(struct out *out, const struct extract_ring *ring,
                              const struct extract_follower_span *span, uint32_t provisional,
                              struct extract_error *error);

// follow_objects.c: the registry, reread when an entry names an object that it does not have.
struct objects {
    uint8_t *bytes;           // the registry as read last, and space for the next read
    size_t length;            // bytes of the registry
    struct extract_map known; // addresses in it, and those that it was searched for in vain
    size_t capacity, count;   // of `known`
    bool was_read;            // `bytes` holds a registry
    bool is_wanted;           // it should be read again
    bool has_new;             // an object was created since it was written
    uint64_t last;            // time of the last read
};

// ---- one kind of ring ----

// What a step towards the ring found. recorder.c decides what follows from it.
enum ring_result {
    RING_OK,
    RING_NOTHING_NEW, // there is nothing to read
    RING_NO_RESPONSE, // the target does not answer
    RING_UNREADABLE,  // it answers, but this cannot be read now: the next poll tries again
    RING_RESYNC,      // nothing was read yet, or what is next is (being) overwritten: resynchronize
    RING_RESTARTED,   // the ring is another one, or was emptied
    RING_REENABLED    // its trace was disabled, and enabled again with an empty ring
};

// What one step reads: entries of a slot ring, bytes of the other kinds.
struct ring_span {
    uint64_t first;        // number of the first entry, or position of the first byte
    uint32_t asked;        // entries or bytes to read; 0 if only the anchor is to be verified
    uint32_t count;        // of those, how many were read, and later how many of them are verified
    bool is_short;         // not all could be read, or verified
    uint32_t anchor_bytes; // bytes of the anchor, which were read before them
    uint8_t *data;         // in the recorder's buffer
};

// How one kind of ring is followed. A poll calls locate; then read, verify and emit until nothing
// is new; or resynchronize, if the way from the entries before is lost; and then conclude.
struct ring_kind {
    bool counts_bytes; // positions and fill are bytes, otherwise entries
    // Returns whether a ring is of this kind, and can be followed.
    bool (*can_follow)(const struct extract_ring *ring);
    // Prepares to follow r->ring, of which nothing has been read: allocates r->buffer, sets
    // r->measure. Errors: NOMEM.
    enum extract_code (*start)(struct extract_recorder *r, struct extract_error *error);
    // Reads the write position, whether the trace is disabled, and how much is new (status.fill).
    // OK, NO_RESPONSE, UNREADABLE, RESTARTED, REENABLED.
    enum ring_result (*locate)(struct extract_recorder *r);
    // Reads the next part of what is new; `part` counts those of this poll. OK, NOTHING_NEW,
    // NO_RESPONSE, RESYNC.
    enum ring_result (*read)(struct extract_recorder *r, unsigned part, struct ring_span *span);
    // Rereads the anchor, and so shows whether a span was still there when its read ended. What is
    // not verified leaves the span. OK, NO_RESPONSE, UNREADABLE, RESYNC, RESTARTED.
    enum ring_result (*verify)(struct extract_recorder *r, struct ring_span *span);
    // Sends a verified span to the log and the sink, and makes its newest entry the anchor.
    enum extract_code (*emit)(struct extract_recorder *r, struct ring_span *span,
                              struct extract_error *error);
    // Skips to the newest entries that can be verified, and emits them: the first entries of a ring
    // that was just found, or, after a lap, the newest ones after a loss of those in between. OK,
    // NO_RESPONSE, RESTARTED.
    enum extract_code (*resynchronize)(struct extract_recorder *r, enum ring_result *result,
                                       struct extract_error *error);
    // Takes what can be said after all was read: counts, and the clock's rate. OK, RESTARTED.
    enum extract_code (*conclude)(struct extract_recorder *r, enum ring_result *result,
                                  struct extract_error *error);
    // Returns whether all that a disabled trace left has been emitted, or is never to be read.
    bool (*is_drained)(const struct extract_recorder *r);
    // Reports what was written to a ring that restarted, and was not read, as far as that is known
    // before the new ring is found.
    enum extract_code (*report_restart)(struct extract_recorder *r, struct extract_error *error);
    // Reports what was written and will not be read as lost. `can_read`: the target may be read to
    // find out how much that is.
    enum extract_code (*report_unread)(struct extract_recorder *r, bool can_read,
                                       struct extract_error *error);
    // Returns 1 + the position of the next entry, by which a later recording finds it again; 0 if
    // it is not known.
    uint64_t (*position)(const struct extract_recorder *r);
};

extern const struct ring_kind record_slot_rings;       // slot_ring.c
extern const struct ring_kind record_terminated_rings; // terminated_ring.c
extern const struct ring_kind record_counted_rings;    // counted_ring.c

// State of a slot ring that is followed.
struct slot_ring {
    struct extract_follower follower;
    struct ring_clock clock;
    uint32_t buffer_slots; // capacity of the recorder's buffer
    uint8_t provisional[RECORD_MAX_PROVISIONAL * EXTRACT_MAX_ENTRY];
    uint32_t provisional_count; // entries [next - provisional_count, next)
    uint64_t next;              // number of the first entry that was not read
    uint64_t due;               // number of the next entry for the log
    uint64_t lapped_anchor;     // number of an anchor that the writer has overwritten
    double safe_fraction;       // of what could be read of a ring that is written too fast
    uint32_t failed_reads;      // polls in a row that could not read the entries
    bool has_not_wrapped;       // as it was when nothing of it had been read
    bool is_lapped;             // the next entries are numbered modulo the ring's slots
    bool gap_is_counted;        // their timestamps count entries, which makes the gap exact
    bool clock_went_back;       // across the gap before them: a reset, or a clock that wrapped
    bool gap_is_torn;           // what is missing was being overwritten
    bool gap_is_unreadable;     // what is missing could not be read
};

enum {
    BYTES_NUMBERS = 256,        // the numbers of entries of a terminated ring wrap at this
    BYTES_MAX_ANCHOR = 32,      // bytes
    BYTES_ENTRY_CAPACITY = 4096 // bytes of an entry whose number is decoded
};

// State of a byte ring that is followed: terminated or counted.
struct byte_ring {
    uint64_t place;        // of the next byte to read, counted from the array's start on
    uint8_t *anchor;       // the newest bytes before `place`, as they were read
    uint32_t anchor_bytes; // its length
    uint64_t entries;      // read so far
    uint64_t bytes;        // read so far
    // Terminated rings:
    uint32_t head;        // the write position at this poll: offset in the array
    uint8_t *frame;       // the start of the entry that is not complete yet
    uint32_t frame_bytes; // its length
    bool is_aligned;      // `frame` begins at an entry boundary
    int number;           // of the last entry that has one; -1: not known
    // Counted rings:
    struct extract_ring_counters counters; // as read last
    uint64_t counters_poll;                // the poll that read them
    uint32_t written_before_restart;       // the last count of a ring that restarted since
    bool head_is_clear;       // no entry had been begun at the head after they were read
    bool count_holds;         // their count is that of the entries before their head
    uint32_t least, most;     // entries before `place`, as the ring counts them
    uint32_t counted_entries; // the same, by what was read and was reported as lost
    bool is_based;            // `counted_entries` began at a count that held
    bool owes_losses;         // gaps since then stated less than may be missing
    uint32_t refused;         // entries that the target had no space for, as reported so far
    uint32_t safe_bytes;      // before the head, that a slow reader gets; 0: it keeps up
    bool entry_incomplete;    // the writer has not finished the next entry
    bool is_last_poll;        // an incomplete entry will not be waited for
};

// What is known of the ring. recorder.c draws how one follows another.
enum record_phase {
    RECORD_SEARCHING, // the ring has not been found, or is another one since
    RECORD_FOUND,     // nothing of it has been read
    RECORD_FOLLOWING  // the place of the next entry is known
};

struct extract_recorder {
    enum record_phase phase;
    const struct ring_kind *kind; // of `ring`; NULL before the first one was found
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    struct extract_record_options options;
    char *format; // copy of the option, owned
    struct extract_record_status status;
    struct extract_ring ring;
    struct extract_ring measure; // the same as slots, of one byte in a byte ring: for rates
    struct slot_ring slots;
    struct byte_ring bytes;
    struct link_model link_model;
    struct poll_interval poll_interval;
    struct out out;
    struct objects objects;
    uint8_t *buffer;         // of one read
    uint64_t opened_ns;      // time when the recorder was opened
    uint64_t opened_wall_ns; // the host's wall clock then, since 1970 (UTC)
    uint64_t poll_ns;        // time when this poll began
    uint64_t located_ns;     // time when it read the write position
    uint64_t read_ns;        // time when its last read began
    uint64_t reading_ns;     // duration of its reads
    uint64_t rest_ns;        // least time to the next poll: the target was halted for this one
    bool ring_was_replaced;  // entries of an earlier ring, or before the first read, were lost
    bool gap_is_unknown;     // how many of them is not known
    bool must_verify_anchor; // even if nothing is new: the writer may be exactly one lap ahead
    bool resync_pending;     // the last resync was not completed
    bool trace_disabled;     // as read last
    bool drained;            // it is, all that it left is emitted, and the log has the marker
    bool log_is_full;
};

// recorder.c
uint64_t record_now(const struct extract_recorder *r); // ns
// Reads target memory, and notes what that costs. Returns false if it could not read all of it.
bool record_read(struct extract_recorder *r, uint64_t address, void *buffer, size_t length);
// The same, as an extract_follower reads; `context` is the recorder.
bool record_read_part(void *context, uint64_t address, void *buffer, size_t length, size_t *got);
// Notes that the write position was read now.
void record_note_located(struct extract_recorder *r);
// Notes the host's wall clock, with which the next blocks are marked.
void record_note_wall(struct extract_recorder *r);
// Notes how many entries or bytes are new.
void record_note_fill(struct extract_recorder *r, uint64_t fill);
// Returns whether the header in memory is still that of r->ring. If it cannot be read, nothing
// shows otherwise.
bool record_has_header(struct extract_recorder *r);
// Returns modulo what positions in a ring are known: its slots, or the numbers of its entries; 0
// for counts, which are exact.
uint64_t record_position_modulus(const struct extract_ring *ring);

// resync.c: what a slot ring's entries go through on their way out.
// Returns whether the ring in memory is another one than the one that is followed, or was emptied.
bool slots_have_restarted(struct extract_recorder *r);
enum extract_code slots_resynchronize(struct extract_recorder *r, enum ring_result *result,
                                      struct extract_error *error);
// Emits verified entries, and keeps those back that may still be filled in.
enum extract_code slots_emit_verified(struct extract_recorder *r,
                                      struct extract_follower_span *span,
                                      struct extract_error *error);
// Emits the entries that were kept back as they are.
enum extract_code slots_emit_provisional(struct extract_recorder *r, struct extract_error *error);
enum extract_code slots_report_unread(struct extract_recorder *r, bool can_read,
                                      struct extract_error *error);

// follow_bytes.c: what both kinds of byte rings use.
uint32_t bytes_size(const struct extract_recorder *r);
// Allocates buffer and anchor, and begins with an empty state. Errors: NOMEM.
enum extract_code bytes_start(struct extract_recorder *r, struct extract_error *error);
// Reads `length` bytes from a place on, in two reads if the array ends between.
bool bytes_read(struct extract_recorder *r, uint64_t place, uint32_t length, uint8_t *to);
// Makes the newest bytes the anchor.
void bytes_set_anchor(struct byte_ring *bytes, const uint8_t *newest, uint32_t length);
// Reports that what a target wrote after its last response is lost, if it does not respond.
enum extract_code bytes_report_gone(struct extract_recorder *r, struct extract_error *error);
void bytes_free(struct byte_ring *bytes);

// follow_objects.c
enum extract_code objects_start(struct objects *objects, const struct extract_ring *ring,
                                struct extract_error *error);
void objects_free(struct objects *objects);
// Notes which objects new entries name.
void objects_note_entries(struct objects *objects, const struct extract_ring *ring,
                          const struct extract_follower_span *span);
void objects_note_address(struct objects *objects, uint64_t address);
// Reads the registry, and emits it if it has changed. If it cannot be read, does nothing.
enum extract_code objects_read(struct extract_recorder *r, struct extract_error *error);

#endif
