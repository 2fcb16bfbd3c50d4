// SPDX-License-Identifier: MIT
// posix/log: the log of a stream (posix_trace_create_withlog), and logs as pre-recorded streams
// (posix_trace_open).
//
// A flush moves records from the stream's ring to the log, unchanged. The log is an ordinary trace
// log (docs/formats/log.md), so ringside reads it, and posix_trace_open reads logs of `ringside
// record`. RING holds the stream block, BYTES hold records, NAMES the user event types. ATTRIBUTES
// also hold what the standard requires of a log: the attributes and the final status.
//
//   ring:        read_pos        log->at         log->end             head
//       ────────────┴───────────────┴────────────────┴──────────────────┴───
//        free for   │ in the log,   │ in log->block, │ not read yet     │
//        the writer │ to be freed   │ not written    │                  │
//
//   posix_log_add_record ─► log->block ─► posix_log_put_block ─► file ─► posix_log_release
//
// The order is the guarantee: the space of a record is given back to the writer only after the
// block that holds the record is in the file. If a write fails, the reader returns to `at` and the
// next flush tries again.
//
//   posix_flush.c       one flush, and the thread that flushes by itself (policy FLUSH)
//   count.c             how many records the writer overwrote before they were in the log
//   posix_log_writer.c  blocks of the log
//   meta.c              the payload of ATTRIBUTES
//   logged.c            the functions of <trace.h> for streams with a log
//   recorded.c          the functions of <trace.h> for a log that is read back
//
// Source: IEEE Std 1003.1-2008, 2.11, posix_trace_create_withlog, posix_trace_flush,
// posix_trace_open.
#ifndef EXTRACT_POSIX_POSIX_LOG_H
#define EXTRACT_POSIX_POSIX_LOG_H

#include "posix/posix_room.h"
#include <extract/log.h>

enum {
    LOG_BLOCK_BYTES = 8192, // maximum of records in a block, unless one record is longer
    LOG_MIN_BLOCK = 256,    // bytes
    LOG_BLOCK_CAPACITY = POSIX_MAX_RECORD > LOG_BLOCK_BYTES ? POSIX_MAX_RECORD : LOG_BLOCK_BYTES,
    LOG_MAX_PAYLOAD = 64 * 1024 * 1024,
    LOG_ATTRIBUTES = 136, // bytes of the payload of ATTRIBUTES
    LOG_NAME_BYTES = POSIX_NAME_BYTES,
    LOG_MAX_NAMES = (POSIX_SET_IDS - POSIX_USER) * LOG_NAME_BYTES
};

// The generation of a ring: that of its process, which changes when a target is reset, and that of
// the stream block, which changes when the stream is bound or cleared.
struct posix_generation {
    uint32_t process, stream;
};

// The log of an active stream. The target's lock guards all fields, except those of the thread.
struct posix_log {
    // The file.
    int fd;
    struct extract_log_writer *writer; // NULL if the log could not be started
    unsigned start_count;              // how often the log was started
    uint64_t section_max_bytes;        // LOOP: maximum of bytes of records in a section
    uint64_t section_bytes;            // LOOP: bytes of records in the current section
    uint64_t record_bytes_left;        // UNTIL_FULL: bytes of records that the log still accepts
    uint64_t block_bytes_left;         // UNTIL_FULL: bytes of blocks that the log still accepts
    bool is_full;
    bool is_finished;          // the stream is shut down, and nothing follows
    bool is_overrun;           // events of the log were lost since the status was read last
    uint64_t sections_dropped; // number of sections that were overwritten
    uint64_t next_number;      // number of the next record

    // The flush in progress.
    bool is_flushing;
    uint32_t flush_end;       // position in the ring at which the flush ends
    int flush_error;          // first error since the status was read last
    int failed_flush;         // error of the first flush that failed and is not logged; 0 if none
    uint64_t failed_flush_ns; // time of that flush
    bool failure_in_block;    // the event for it is in `block`

    // The ring that is followed.
    struct posix_generation logged_ring; // generation of the newest RING block in the log
    bool is_following;                   // `generation` and `reported_refused` are valid
    struct posix_generation generation;  // generation of the ring
    uint32_t reported_refused;           // refused events of that ring that the log reports
    uint32_t at;                         // position up to which every record is in the log
    uint32_t end;                        // position up to which every record is there or in `block`

    // What was overwritten (count.c).
    uint32_t base;           // the ring's count when everything counted was logged or reported
    uint32_t logged_records; // records of the ring that were logged since then
    uint32_t ring_records;   // records of the ring that are in `block`
    bool has_base, base_is_exact;
    bool gap_is_logged; // the loss in the reader's gap is in the log

    // Names, and the address at which the program was loaded.
    bool has_names;                     // the log has names; the two counts below are valid
    uint32_t names_used, names_claimed; // counts when the names were written last
    bool has_entry;
    uint64_t entry; // entry point of the program

    // The block that is being filled.
    uint64_t block_stamp;     // timestamp of the last record
    uint64_t written_stamp;   // timestamp of the last record that is in the file
    trace_event_id_t last_id; // event type of the last record
    uint32_t block_bytes;     // bytes in `block`
    uint32_t block_records;   // records in `block`, including those that are made here
    uint8_t block[LOG_BLOCK_CAPACITY];
    uint8_t names[8 + LOG_MAX_NAMES];

    // The thread that flushes. It knows the trace by its id, since the trace may end.
    pthread_t thread;
    bool has_thread;
    trace_id_t id;
    int waker_fd;
};

// The contents of ATTRIBUTES.
struct posix_log_settings {
    struct posix_attr attr;
    struct posix_trace_status_info status;
    bool is_final;   // the status is that of the end of the stream
    bool is_foreign; // the log was written on another kind of machine
};

// ---- meta.c: the payload of ATTRIBUTES ----

void posix_log_settings_encode(uint8_t payload[LOG_ATTRIBUTES],
                               const struct posix_log_settings *settings);
// Returns false if the payload is too short or has another version.
bool posix_log_settings_decode(struct posix_log_settings *settings, const uint8_t *payload,
                               size_t length);
// Converts the result of a function of the log to a number of <errno.h>. Must be called at once: it
// uses errno as that function left it.
int posix_log_errno(enum extract_code code);

// ---- posix_log_writer.c: blocks of the log ----

// Starts the log, or starts it again from its beginning, with the trace's attributes and names.
int posix_log_start(struct posix_trace *trace);
// Writes a RING block for the ring that is followed from here on.
int posix_log_put_ring(struct posix_trace *trace);
// Writes where the traced program was loaded, if that is known.
int posix_log_put_program(struct posix_trace *trace);
// Writes the names if there are new ones.
int posix_log_put_names(struct posix_trace *trace);
// Appends a record to the block and advances the reader. A block that is full is written first, and
// *put is set.
int posix_log_add_record(struct posix_trace *trace, const struct posix_record *record,
                         const uint8_t *bytes, bool *put);
// Appends a system event that the host makes. Its data is a number, or nothing for NULL.
int posix_log_add_event(struct posix_trace *trace, trace_event_id_t id, uint64_t stamp,
                        const uint32_t *number);
// Writes the block. Everything before the reading position is in the log then, and is given back to
// the writer.
int posix_log_put_block(struct posix_trace *trace);
// Writes that records are lost: exactly `lost`, or at least that many.
int posix_log_put_loss(struct posix_trace *trace, enum extract_log_loss kind, uint32_t lost,
                       bool is_exact);
// Writes a marker, after the block.
int posix_log_put_mark(struct posix_trace *trace, enum extract_log_mark kind);
// Writes the attributes and a status.
int posix_log_put_settings(struct posix_trace *trace, const struct posix_trace_status_info *status,
                           bool is_final);
// Returns whether the log has reached its limit (posix_log_full_status).
bool posix_log_is_full(const struct posix_trace *trace);

// ---- count.c: records that were overwritten before they were read ----

struct posix_lost {
    uint32_t least;  // minimum of records that are lost
    bool is_exact;   // exactly `least` records are lost
    bool is_unknown; // the writer passed everything that was copied, so nothing is known
    bool has_base;   // `base` is the base for the next count
    uint32_t base;
};

// Starts counting at the beginning of a ring.
void posix_log_count_start(struct posix_trace *trace);
// Counts the lost records before the reading position that the log does not report yet.
struct posix_lost posix_log_count_lost(const struct posix_trace *trace);
// Notes that the log reports this loss.
void posix_log_note_reported(struct posix_trace *trace, const struct posix_lost *lost);
// Gives everything before the reading position, which is in the log, back to the writer.
void posix_log_release(struct posix_trace *trace);

// ---- logged.c ----

// Clears the log after its stream was cleared: starts it again, or appends a marker (APPEND).
int posix_log_clear(struct posix_trace *trace);

// ---- posix_flush.c ----

// Copies what is in the stream now to the log. With `use`, unlocks the target between two blocks.
// With `always`, the flush is logged even if there is nothing to copy.
int posix_log_flush(struct posix_trace *trace, struct posix_use *use, bool always);
// Start and end the thread that flushes a stream with the policy FLUSH. Starting returns ENOMEM or
// EAGAIN if there is no thread.
int posix_log_start_thread(struct posix_trace *trace);
void posix_log_end_thread(struct posix_log *log);

#endif
