// SPDX-License-Identifier: MIT
// Recording: following a live ring without halting its target.
//
// A recorder polls the ring. A poll reads the write position and only the entries that are new,
// verifies that the writer did not overwrite them in the meantime, and sends them on as blocks of a
// trace log (log.h), to a log, a sink, or both. Entries that the writer overwrote before they could
// be read are reported as losses. An entry is never emitted twice, and never if it may be torn.
//
//     extract_recorder_open(&recorder, memory, symbols, &options, &error);
//     while (...) {
//         wait for extract_recorder_due(recorder) nanoseconds
//         extract_recorder_poll(recorder, &error);
//     }
//     extract_recorder_close(recorder, &error);
#ifndef EXTRACT_RECORD_H
#define EXTRACT_RECORD_H

#include <extract/log.h>
#include <extract/symbols.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_recorder;

// Takes the blocks of a poll, one per call, in the order of time. The payload is valid only during
// the call:
//
//   ENTRIES  Entries of a slot ring. They are final, except for those at the end of a recording,
//            and before a loss or a reset, which are marked provisional. An entry is final if three
//            newer ones exist (fewer in a ring of less than 7), or if a later poll found it
//            unchanged. What a service fills in after that is not recorded.
//   BYTES    Bytes of a byte ring as they are stored, which may begin and end inside of an entry.
//   RING     A struct extract_ring.
//   OBJECTS  The bytes of the registry; `value` is their target address.
//
// An error ends the poll, which returns it.
typedef enum extract_code extract_record_sink(void *context, const struct extract_log_block *block,
                                              const void *payload, struct extract_error *error);

// Initialize with zeros, then set what is needed. Everything that it points to is borrowed and must
// outlive the recorder.
struct extract_record_options {
    size_t size;        // sizeof the struct
    const char *format; // name of the trace format; NULL: detected. Copied
    bool ring_known;    // the control header is at `ring`
    uint64_t ring;
    const struct extract_rkh *rkh;  // known settings of an RKH stream; may be NULL
    uint32_t stream;                // 1 + the number of a stream, if there are several; 0: any
    struct extract_log_writer *log; // receives each block; may be NULL
    extract_record_sink *sink;      // receives each block after the log; may be NULL
    void *context;                  // first argument of the sink
    uint64_t period;                // ns between polls; 0: adapts to the load
    uint64_t (*now)(void *clock);   // ns that never decrease; NULL: CLOCK_MONOTONIC
    void *clock;                    // argument of `now`
    // A debugger halts the target whenever it is polled, so host time does not show how long
    // the target ran. Losses are then not estimated by the host's clock.
    bool ignore_host_clock;
};

// What the debug link can do, as measured, and what follows from that for this ring.
struct extract_record_advice {
    uint64_t latency; // ns that every read costs in addition to its bytes
    uint64_t rate;    // bytes/s of long reads
    uint64_t period;  // ns between polls that is in use
    uint64_t events; // events/s that can be recorded without a loss; 0: not known, because no entry
                     // of a byte ring has been read
    bool in_bytes;   // the two sizes below are bytes, otherwise entries
    uint32_t slots;  // size of the ring
    // Size of a ring that would be enough for the highest load that was seen lately; 0: this ring
    // is enough; UINT32_MAX: no ring is, because the load exceeds the link.
    uint32_t slots_wanted;
    bool link_is_too_slow; // the load of the last second or so exceeds the link
};

struct extract_record_status {
    uint64_t entries;        // emitted so far, without the pending ones
    uint64_t gaps;           // each has a LOSS in the log
    uint64_t gaps_not_exact; // of them, those whose exact size is unknown
    uint64_t lost;           // entries that are certainly lost in all gaps together
    bool lost_is_exact;      // the target's counts show that no more than these are lost
    uint64_t laps;           // times that the writer was seen to have lapped the recorder
    uint64_t resets;         // times that the ring was found empty or elsewhere
    uint64_t polls;
    uint64_t failed;            // polls without a response of the target
    uint32_t pending;           // entries that were read but are provisional
    uint32_t fill;              // entries (bytes in a byte ring) that were new at the last poll
    uint32_t fill_most;         // maximum of `fill`
    uint64_t events_per_second; // that the target wrote over the last second or so
    bool rate_is_estimate;      // unread events are included by the rate between two reads
    uint64_t halted;            // ns that the target was halted for reads
    bool gone;                  // the target does not respond
    bool enabled;               // the trace is enabled
    bool has_all;               // nothing had been overwritten when the ring was first read
    struct extract_memory_cost cost; // of all reads
    struct extract_record_advice advice;
};

// Finds the ring that a recorder with these options would follow. Errors: those of
// extract_ring_find; also ABSENT for a POSIX trace stream that has not been created.
enum extract_code extract_record_find(struct extract_ring *ring, struct extract_memory *memory,
                                      struct extract_symbols *symbols,
                                      const struct extract_record_options *options,
                                      struct extract_error *error);

// Opens a recorder: finds the ring, measures the link, emits RING, OBJECTS and MARK START, and
// records the ring's content as the first entries. If the trace is not enabled yet, later polls
// look for it. `memory` and `symbols` (may be NULL) must outlive the recorder, which the caller
// ends with one of the functions below. Errors: those of extract_ring_find except ABSENT; NOMEM;
// those of the log and the sink.
enum extract_code extract_recorder_open(struct extract_recorder **recorder,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols,
                                        const struct extract_record_options *options,
                                        struct extract_error *error);

// Polls once. A target that does not respond, was reset, or has disabled its trace is not an error:
// a marker in the log and the status report it. Errors: those of the log and the sink; NOMEM.
enum extract_code extract_recorder_poll(struct extract_recorder *recorder,
                                        struct extract_error *error);

// Returns the nanoseconds until the next poll is due; 0: now.
uint64_t extract_recorder_due(const struct extract_recorder *recorder);

// Returns the status as of the last poll. It is valid until the recorder is closed.
const struct extract_record_status *
extract_recorder_status(const struct extract_recorder *recorder);
const struct extract_ring *extract_recorder_ring(const struct extract_recorder *recorder);

// Polls a last time, emits the provisional entries, reports what was not read as a LOSS, and emits
// MARK STOP. Frees the recorder in any case; the log stays open. NULL is allowed. Errors: those of
// extract_recorder_poll.
enum extract_code extract_recorder_close(struct extract_recorder *recorder,
                                         struct extract_error *error);

// Does the same, and stores the final status in *status (may be NULL).
enum extract_code extract_recorder_finish(struct extract_recorder *recorder,
                                          struct extract_record_status *status,
                                          struct extract_error *error);

// Closes a recorder without reading the target, which has gone: emits the provisional entries and
// MARK STOP. Frees the recorder in any case. NULL is allowed. Errors: those of the log and the
// sink.
enum extract_code extract_recorder_close_offline(struct extract_recorder *recorder,
                                                 struct extract_error *error);

// Adds to the log at `path` what the ring holds and the log does not, in one pass, as
// posix_trace_flush does for a stream with a log. Creates the log if there is none; an existing one
// must have the policy APPEND. Writes nothing if nothing is new. If the log's newest entries are no
// longer in the ring, a LOSS reports what is missing, or MARK RESET if the ring restarted. The log
// and the sink of the options are ignored. *status reports what was added. Errors: those of
// extract_recorder_open, extract_log_open and extract_log_create; ABSENT (the trace is not
// enabled); USAGE (the log is one of another ring or format).
enum extract_code extract_record_flush(const char *path, struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_record_options *options,
                                       struct extract_record_status *status,
                                       struct extract_error *error);

// Appends the result of a flush to `text`, as one line or one JSON object.
void extract_record_flushed(const struct extract_record_status *status, bool json,
                            struct extract_text *text);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
