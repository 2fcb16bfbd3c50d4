// SPDX-License-Identifier: MIT
// follow: declarations that the files of this room share. See recorder.c for how a ring is
// followed.
#ifndef EXTRACT_FOLLOW_INTERNAL_H
#define EXTRACT_FOLLOW_INTERNAL_H

#include "base/map.h"
#include "base/stamps.h"
#include "events/internal.h"
#include "formats/format.h"
#include "log/block.h"
#include "snapshot/follower.h"
#include <extract/record.h>

enum {
    RECORD_HELD = 3,           // entries that may be held back, at most
    RECORD_BUFFER = 256 * 1024 // bytes of one read, at most
};

// link_model.c: what a read costs.
struct link_kind {
    double bytes, ns; // moving averages of the size and the time of a read
    uint64_t count;   // reads so far
};

struct link_model {
    struct link_kind words, spans; // reads of a few words, and long ones
    double work;                   // ns of a poll that are not spent in reads
};

void link_model_note(struct link_model *link, uint64_t bytes, uint64_t ns);
double link_model_latency(const struct link_model *link); // ns
double link_model_rate(const struct link_model *link);    // bytes per nanosecond
// Returns the ns that a poll takes that finds `entries` new entries.
double link_model_poll(const struct link_model *link, const struct extract_ring *ring,
                       double entries);
// Returns the entries per nanosecond that can be recorded from this ring without a loss, if a poll
// may begin `late` ns after it is due.
double link_model_followed(const struct link_model *link, const struct extract_ring *ring,
                           double late);
// Returns the entries per nanosecond that the link transfers, however large the ring is.
double link_model_fastest(const struct link_model *link, const struct extract_ring *ring);
// Returns how many entries a ring must hold for a load in entries per nanosecond; UINT32_MAX: the
// link is too slow for any ring.
uint32_t link_model_ring_wanted(const struct link_model *link, const struct extract_ring *ring,
                                double load);

// poll_interval.c: when to poll.
struct poll_interval {
    uint64_t period;       // ns between polls; 0: back to back
    uint64_t last;         // time of the last look; 0: there was none
    uint64_t head;         // the writer's place at the last look
    double load;           // entries per nanosecond, a moving average
    double peak;           // the highest load, falling slowly
    uint64_t interval;     // ns between the last two looks
    uint64_t made;         // entries written between the last two looks
    uint64_t window_start; // time when the count for the live line began
    uint64_t window_head;  // the writer's place then
    double window_more;    // entries since then beyond the writer's places, as bursts show
    uint64_t per_second;   // entries, for the live line
    bool is_estimate;      // `per_second` rests on entries beyond the writer's places
};

// Notes that the writer was seen at `head`.
void poll_interval_look(struct poll_interval *pace, uint64_t now, uint64_t head);
// Adds whole laps, `entries` in all, that were found out only now.
void poll_interval_shift(struct poll_interval *pace, uint64_t entries);
// Notes that the writer made `entries`, less than a lap, in the `ns` between two reads of its
// place.
void poll_interval_note_burst(struct poll_interval *pace, uint64_t entries, uint64_t ns);
// Forgets the load: the ring is another one.
void poll_interval_start(struct poll_interval *pace);
void poll_interval_choose(struct poll_interval *pace, const struct link_model *link,
                          const struct extract_ring *ring);

// clock.c: what the timestamps say while a slot ring is recorded.
struct ring_clock {
    struct extract_tally tally; // of the entries since the last gap
    struct extract_clock clock;
    bool has_entry;       // `stamp` is that of the newest entry that was added
    uint64_t stamp;       // raw, as stored
    uint64_t time_ns;     // the host's clock at the poll that added it
    double entries;       // in stretches without a gap, between polls; old ones count less
    double ticks, ns;     // that these stretches took, by the target's clock and by the host's
    uint64_t new_entries; // added since the last poll, over `new_ticks`
    double new_ticks;
    bool has_gap; // since the last poll
};

void ring_clock_start(struct ring_clock *clock, const struct extract_ring *ring);
// Adds entries that follow those added before, or come after a gap.
void ring_clock_add(struct ring_clock *clock, const struct extract_ring *ring,
                    const struct extract_follower_span *span, bool after_gap);
// Says that everything added since the last call was found at a poll at `now`.
void ring_clock_note_poll(struct ring_clock *clock, const struct extract_ring *ring, uint64_t now);
// Returns whether the stamp of `newest`, found at `now` after a gap, lies before the last one that
// was added although the clock had no time to wrap. That is a reset, or a clock that wrapped after
// all: which, nobody can tell. `is_held`: the host's clock says nothing.
bool ring_clock_went_back(const struct ring_clock *clock, const struct extract_ring *ring,
                          const uint8_t *newest, uint64_t now, bool is_held);
// Returns whether the clock counts events. Then *distance is how far `newest` lies above the last
// entry that was added. `least` is known of it, with the ring's size as modulus.
bool ring_clock_counts(const struct ring_clock *clock, const struct extract_ring *ring,
                       const uint8_t *newest, uint64_t least, uint64_t *distance);

// Says in a log where the program was loaded, if that is known.
enum extract_code record_put_program(struct extract_log_writer *log,
                                     const struct extract_symbols *symbols,
                                     struct extract_error *error);

// output.c: sends blocks to the log and to the sink.
struct out {
    struct extract_log_writer *log;
    extract_record_sink *sink;
    void *context;
    uint64_t number;            // number of the next entry
    uint64_t unlogged;          // entries that the log had no room for, lost ones included
    uint64_t modulo;            // modulus of `unlogged` (extract_log_block.modulo)
    uint64_t wall;              // host's time of the last look at the target, ns since 1970 (UTC)
    bool is_held;               // a debugger holds the target between polls
    enum log_loss_sum loss_sum; // of this recording, whatever the log had room for
    struct extract_record_status *status;
};

enum extract_code out_ring(struct out *out, const struct extract_ring *ring,
                           struct extract_error *error);
enum extract_code out_objects(struct out *out, const struct extract_ring *ring,
                              const uint8_t *bytes, size_t length, struct extract_error *error);
enum extract_code out_mark(struct out *out, enum extract_log_mark kind, uint64_t value,
                           const char *text, struct extract_error *error);
// States that `at_least` entries are lost, and any multiple of `modulo` more.
enum extract_code out_loss(struct out *out, enum extract_log_loss kind, uint64_t at_least,
                           uint64_t modulo, struct extract_error *error);
enum extract_code out_bytes(struct out *out, const uint8_t *bytes, uint32_t length, uint32_t count,
                            struct extract_error *error);
enum extract_code out_entries(struct out *out, const struct extract_ring *ring,
                              const struct extract_follower_span *span, uint32_t provisional,
                              struct extract_error *error);

// objects.c: the registry, read again when an event names what it does not have.
struct objects {
    uint8_t *bytes; // as read last
    size_t length;
    struct extract_map known; // addresses, and those that were asked for in vain
    size_t room, count;       // of it
    bool was_read, wanted;
    uint64_t last; // time of the last read
};

enum { BYTES_NUMBERS = 256 }; // that entries of a ring without counts have

// byte_ring.c: a ring of bytes, which is followed by the writer's pointer alone, or by the counts
// of its header (counted_ring.c).
struct bytes {
    bool follows;      // the ring is one
    uint64_t place;    // of the next byte to read, counted from the array's start and on
    uint8_t *anchor;   // the newest bytes in front of it, as they were read
    uint32_t anchored; // how many
    uint8_t *frame;    // the entry that is under way, `frame_bytes` of it
    uint32_t frame_bytes;
    bool aligned;            // from its start on
    int number;              // of the last entry that has one; -1: none is known
    uint64_t entries, taken; // and bytes of all
    bool counted;
    struct extract_ring_counters seen; // at the last look
    uint64_t seen_at;                  // in that poll
    bool is_clear;                     // after it, no entry had been begun at its head
    bool count_holds;                  // its count is that of the entries in front of its head
    uint32_t least, most;              // entries in front of `place`, as the ring counts them
    uint32_t counted_entries;          // the same, by what was had and was stated as lost
    bool is_based;                     // `counted_entries` began at a count that held
    bool owes;                         // gaps since then stated less than may be missing
    uint32_t refused;                  // that the target had no room for, and which have been told
    uint32_t safe_bytes;               // behind the head, that a slow reader gets; 0: it keeps up
    bool entry_incomplete;             // the next entry was not finished
    bool last;                         // an entry that is not finished will not be waited for
};

// What is known of the ring. recorder.c draws how one follows another.
enum record_phase {
    RECORD_SEARCHING, // the ring has not been found, or is another one since
    RECORD_FOUND,     // nothing of it has been read
    RECORD_FOLLOWING  // the place of the next entry is known
};

struct extract_recorder {
    enum record_phase phase;
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    struct extract_record_options options;
    char *format; // of the options, owned
    struct extract_record_status status;
    struct extract_ring ring;
    struct extract_ring measure; // the same in slots, for pace and link: those of bytes are bytes
    struct extract_follower follower;
    struct link_model link_model;
    struct poll_interval poll_interval;
    struct ring_clock clock;
    struct bytes bytes;
    struct out out;
    struct objects objects;
    uint8_t *buffer;
    uint32_t buffer_slots;
    uint8_t provisional[RECORD_HELD * EXTRACT_MAX_ENTRY];
    uint32_t provisional_count; // entries [next - provisional_count, next)
    uint64_t next;              // number of the first entry that was not read
    uint64_t due;               // of the next entry for the log
    uint64_t lapped_anchor;     // number of an anchor that the writer has lapped
    uint64_t opened;            // time when the recorder was opened, and the host's wall clock then
    uint64_t opened_wall;       // (ns since 1970)
    uint64_t start;             // time of this poll, and of its look
    uint64_t looked;
    uint64_t asked;          // when the last read of it began
    uint64_t rest;           // ns between polls, at least: the target was halted for the last
    uint64_t reading;        // ns of this poll that were spent in reads
    double safe_fraction;    // of what could be read of a ring that is written too fast
    uint32_t failed_reads;   // polls in a row that could not read the entries
    bool ring_was_replaced;  // the ring is not the first one: what was before it is lost
    bool gap_is_unknown;     // nobody knows how much was lost with the ring before
    bool not_wrapped;        // the ring, when nothing was read of it
    bool is_lapped;          // the next entries are numbered modulo the ring
    bool gap_is_counted;     // their stamps count entries
    bool clock_went_back;    // across the gap in front of them: it may be a reset, or a wrap
    bool gap_is_torn;        // what is missing was being overwritten
    bool gap_is_unreadable;  // what is missing could not be read
    bool must_verify_anchor; // even if nothing is new
    bool resync_pending;     // the last resync did not come to its end
    bool trace_disabled;
    bool drained; // the trace is disabled, and all that it left is out
    bool log_is_full;
};

uint64_t record_now(const struct extract_recorder *r);
// The entries of a ring have positions that a later recording of the same ring finds again: slots,
// or numbers. They are known modulo record_position_modulus, 0 for counts that are exact.
// record_position returns 1 + that of the next entry, which MARK STOP tells; 0: not known.
uint64_t record_position_modulus(const struct extract_ring *ring);
uint64_t record_position(const struct extract_recorder *r);

// slot_ring.c: brings what is new, right after a look.
enum extract_code record_follow(struct extract_recorder *r, struct extract_error *error);
// Entries that are held back go out as they are.
enum extract_code record_emit_provisional(struct extract_recorder *r, struct extract_error *error);
// Whether the ring in memory is another one than the one that is followed, or begins again.
bool record_is_reset(struct extract_recorder *r);
// The target started again: what the ring was is forgotten.
enum extract_code record_reset(struct extract_recorder *r, struct extract_error *error);

// resync.c: begins at the newest entries, when there is no way from those before.
enum extract_code record_resync(struct extract_recorder *r, struct extract_error *error);
// Sends proven entries on; those that may be patched later are held back.
enum extract_code record_emit(struct extract_recorder *r, struct extract_follower_span *span,
                              struct extract_error *error);
// What was written and is not out by now is lost: it will not be read any more.
enum extract_code record_report_unread(struct extract_recorder *r, struct extract_error *error);

// byte_ring.c. Whether a ring is one of bytes that can be followed; begins with it, as start_ring;
// and brings what is new, or the newest.
bool bytes_can_follow(const struct extract_ring *ring);
enum extract_code bytes_start(struct extract_recorder *r, struct extract_error *error);
enum extract_code bytes_poll(struct extract_recorder *r, struct extract_error *error);
// What is missing by the end, and has not been told.
enum extract_code bytes_end(struct extract_recorder *r, struct extract_error *error);
uint32_t bytes_size(const struct extract_recorder *r);
// `length` bytes from a place on; two reads where the array ends between.
bool bytes_fetch(struct extract_recorder *r, uint64_t place, uint32_t length, uint8_t *to);
// Keeps the newest bytes as the anchor.
void bytes_drop_anchor(struct bytes *bytes, const uint8_t *newest, uint32_t length);
void bytes_free(struct bytes *bytes);

// counted_ring.c: the same of rings that count.
enum extract_code counted_start(struct extract_recorder *r, struct extract_error *error);
enum extract_code counted_poll(struct extract_recorder *r, struct extract_error *error);
enum extract_code counted_end(struct extract_recorder *r, struct extract_error *error);

// recorder.c: reads, and notes what that costs. False: not all of it was had.
bool record_read(struct extract_recorder *r, uint64_t address, void *buffer, size_t length);
void record_note_look(struct extract_recorder *r); // the time of it
void record_note_wall(struct extract_recorder *r);
enum extract_code record_note_disconnect(struct extract_recorder *r, struct extract_error *error);
enum extract_code record_note_reconnect(struct extract_recorder *r, struct extract_error *error);

// objects.c
enum extract_code objects_start(struct objects *objects, const struct extract_ring *ring,
                                struct extract_error *error);
void objects_free(struct objects *objects);
void objects_note(struct objects *objects, const struct extract_ring *ring,
                  const struct extract_follower_span *span);
void objects_note_one(struct objects *objects, uint64_t address);
// Reads the registry and sends it on when it changed. Unreadable: nothing.
enum extract_code objects_read(struct extract_recorder *r, struct extract_error *error);

#endif
