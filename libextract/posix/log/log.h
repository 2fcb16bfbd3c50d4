// SPDX-License-Identifier: MIT
// posix/log: the log of a stream, and streams that are logs.
//
// In: records of a ring as they lie there; the blocks of a log. Out: the other. The log is
// libextract's own (docs/formats/log.md): RING is the stream block, BYTES are records, ATTRIBUTES
// and NAMES are what the standard asks of a log beyond those.
//
// Source: IEEE Std 1003.1-2008, 2.11, posix_trace_create_withlog, posix_trace_flush,
// posix_trace_open.
#ifndef EXTRACT_POSIX_LOG_H
#define EXTRACT_POSIX_LOG_H

#include "posix/internal.h"
#include <extract/log.h>

enum {
    LOG_BLOCK_BYTES = 8192, // of records at most, or one record that is longer
    LOG_BLOCK_LEAST = 256,
    LOG_BLOCK_ROOM = POSIX_MAX_RECORD > LOG_BLOCK_BYTES ? POSIX_MAX_RECORD : LOG_BLOCK_BYTES,
    LOG_MAX_PAYLOAD = 64 * 1024 * 1024,
    LOG_ATTRIBUTES = 136, // bytes of that payload
    LOG_NAME_BYTES = POSIX_NAME_BYTES,
    LOG_MAX_NAMES = (POSIX_SET_IDS - POSIX_USER) * LOG_NAME_BYTES
};

// What tells a ring from that before it: a target that was reset counts from the start again.
struct posix_generation {
    uint32_t process, stream; // generations of the blocks
};

// The log of an active stream. All of it is under the target's lock, but for the last three.
struct posix_log {
    int fd;                              // of its file
    struct extract_log_writer *writer;   // NULL: it could not be begun
    unsigned begun;                      // times that it was
    uint64_t section_most, section_used; // LOOP: bytes of records in a section
    uint64_t room, budget; // UNTIL_FULL: bytes of records, and of blocks, that it still takes
    bool full;
    bool finished; // nothing follows
    bool flushing;
    uint32_t flush_end;                 // place in the ring up to which that takes records
    int flush_error;                    // the first since it was asked for
    bool overrun;                       // events of the log were lost since that was asked for
    uint64_t overwritten;               // sections, by then
    uint64_t number;                    // of the next record
    struct posix_generation told;       // of the ring, when the log was told of it
    int trouble;                        // of the first flush that failed, to be told; 0: none
    uint64_t trouble_stamp;             // when that was
    bool trouble_taken;                 // its event is in hand
    bool followed;                      // the three below hold
    struct posix_generation generation; // of the ring
    uint32_t told_refused;              // by it
    uint32_t base, had, taken;          // count.c: its count of what was overwritten when all
                                        // of that was had or told of; records had since then,
                                        // and those in the block on its way
    bool based, sure;                   // there is one; it is exact
    bool gap_told;                      // the loss of the reader's gap is in the log
    uint32_t at;                        // place in the ring up to which everything is in the log
    uint32_t end;                       // likewise, or in the block on its way there
    bool named;                         // the two below hold
    uint32_t names_used, names_claimed; // when the names were written last
    bool placed;                        // `entry` is where the program was loaded
    uint64_t entry;
    uint64_t stamp, put_stamp;     // of the last record, and of the last that was written
    trace_event_id_t last;         // its type
    uint32_t used, count;          // of the block: bytes, and records
    uint8_t block[LOG_BLOCK_ROOM]; // on its way to the log
    uint8_t names[8 + LOG_MAX_NAMES];
    pthread_t thread; // that flushes, where `threaded`; it knows the trace by its id
    bool threaded;
    trace_id_t id;
    int waker;
};

// What ATTRIBUTES tell.
struct posix_log_settings {
    struct posix_attr attr;
    struct posix_trace_status_info status;
    bool final;   // the status is that of the end
    bool foreign; // another kind of machine wrote it
};

// meta.c: payloads of ATTRIBUTES. False: it is none.
void posix_log_facts_encode(uint8_t payload[LOG_ATTRIBUTES],
                            const struct posix_log_settings *facts);
bool posix_log_facts_decode(struct posix_log_settings *facts, const uint8_t *payload,
                            size_t length);
// The number of the error that a function of the log has returned; errno as it was left.
int posix_log_errno(enum extract_code code);

// writer.c: what goes to the log. Begins it again, with the trace's attributes and names.
int posix_log_begin(struct posix_trace *trace);
// Says of the ring that is followed from here on.
int posix_log_put_ring(struct posix_trace *trace);
// Says where the traced program was loaded, if that can be seen.
int posix_log_put_program(struct posix_trace *trace);
// Writes names that are new.
int posix_log_put_names(struct posix_trace *trace);
// Takes a record; the block in hand is written first when it is full. *put: it was.
int posix_log_take(struct posix_trace *trace, const struct posix_record *record,
                   const uint8_t *bytes, bool *put);
// Makes a record of a system event that the host has to tell of; its data are a number, or none.
int posix_log_make(struct posix_trace *trace, trace_event_id_t id, uint64_t stamp,
                   const uint32_t *number);
// Writes the block in hand. What is in front of the reader's place is in the log then, and free.
int posix_log_put(struct posix_trace *trace);
// States that `lost` records are missing: all, or at least so many.
int posix_log_put_loss(struct posix_trace *trace, enum extract_log_loss kind, uint32_t lost,
                       bool is_exact);
// A mark, in front of which everything in hand is written.
int posix_log_put_mark(struct posix_trace *trace, enum extract_log_mark kind);
// Writes the attributes and a status.
int posix_log_put_facts(struct posix_trace *trace, const struct posix_trace_status_info *status,
                        bool final);
// Whether the log has come to its limit, as posix_log_full_status says.
bool posix_log_is_full(const struct posix_trace *trace);

// count.c: records that were overwritten before they were read.
struct posix_lost {
    uint32_t least;
    bool exact;  // no more than that
    bool passed; // by the writer: nobody knows
    bool based;  // `base` is one for what follows
    uint32_t base;
};

// The ring is followed from its start on.
void posix_log_count_start(struct posix_trace *trace);
// Those in front of the reader's place, which have not been told of.
struct posix_lost posix_log_count_lost(const struct posix_trace *trace);
void posix_log_count_told(struct posix_trace *trace, const struct posix_lost *lost);
// What lies in front of the reader's place is in the log, and free.
void posix_log_release(struct posix_trace *trace);

// logged.c: the stream was cleared.
int posix_log_clear(struct posix_trace *trace);

// flush.c. Copies what is in the stream by now to the log. Where `use` is given, the lock is given
// back between blocks. `always`: even if nothing is there, it is told of.
int posix_log_flush(struct posix_trace *trace, struct posix_use *use, bool always);
// The thread that does so by itself, of streams with that policy. ENOMEM, EAGAIN.
int posix_log_start_thread(struct posix_trace *trace);
void posix_log_end_thread(struct posix_log *log);

#endif
