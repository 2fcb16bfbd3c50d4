// SPDX-License-Identifier: MIT
// Recording: a live ring is followed without a halt, and only what is new travels.
//
// One poll reads the writer's pointer, the entries that are new since the last poll together with
// the newest ones of that poll (services patch their entries: an entry is final when it was read
// again unchanged or later), and the pointer and the first entry's stamp again. What the writer may
// have touched meanwhile is never taken for good: it is read again, or reported lost.
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

// What one poll brought, in the order of time: a log's block and its payload, which is needed
// during the call only. ENTRIES hold final entries only, but for those that are marked provisional:
// at the end of a recording, and in front of a loss or a reset. An entry is final when three newer
// ones were there (fewer in a ring of less than 7), or when a later poll found it as it was; what a
// service fills in after that is not seen. RING has the struct extract_ring itself as its payload;
// OBJECTS the registry's bytes alone, and their target address in `value`. Of a ring of bytes
// (RKH), BYTES hold what is new as it lies there, entries cut anywhere; `fill`, `slots` and the
// like count bytes then.
typedef enum extract_code extract_record_sink(void *context, const struct extract_log_block *block,
                                              const void *payload, struct extract_error *error);

// Zero-initialize, then set what is wanted.
struct extract_record_options {
    size_t size;        // sizeof the struct
    const char *format; // NULL: found out
    bool ring_known;    // the control header lies at `ring`
    uint64_t ring;
    const struct extract_rkh *rkh;  // what is known of an RKH stream; may be NULL
    uint32_t stream;                // of a header that leads to several: 1 + its number; 0: any
    struct extract_log_writer *log; // takes everything; may be NULL
    extract_record_sink *sink;      // takes it too, after the log; may be NULL
    void *context;                  // of the sink
    uint64_t period;                // nanoseconds between polls; 0: chosen and adapted
    uint64_t (*now)(void *clock);   // nanoseconds that only rise; NULL: CLOCK_MONOTONIC
    void *clock;                    // its argument
    // The target stands whenever it is polled, and how long it ran in between nobody knows: it is
    // held by a debugger. What the host's clock says is not used to estimate losses then.
    bool held;
};

// What the link can do, as measured, and what follows from it for this ring.
struct extract_record_advice {
    uint64_t latency; // ns that a read costs whatever its length
    uint64_t rate;    // bytes/s of long reads
    uint64_t period;  // ns between polls: the one in use
    uint64_t events;  // events/s that can be recorded without a loss; 0: not known, no entry of a
                      // byte ring has been seen
    bool in_bytes;    // it is a byte ring: the two numbers below are bytes, otherwise entries
    uint32_t slots;   // of the ring
    // A ring that would do for the fastest load that was seen lately; 0: this one does; UINT32_MAX:
    // none would, that load is faster than the link.
    uint32_t slots_wanted;
    bool link_is_too_slow; // the load of the last second or so is faster than the link
};

struct extract_record_status {
    uint64_t entries; // recorded (those still held back are not counted)
    // Gaps, each with a LOSS in the log; of how many nobody knows the exact size; and the entries
    // that are certainly lost in all of them together.
    uint64_t gaps, gaps_not_exact, lost;
    bool lost_is_exact; // the target's counts show that no more than `lost` are missing
    uint64_t laps;      // times that the writer was seen to have lapped the recorder
    uint64_t resets;    // times that the ring was found empty or elsewhere
    uint64_t polls;
    uint64_t failed;                 // polls that found no target
    uint32_t pending;                // read, but held back: not final yet
    uint32_t fill;                   // entries that were new at the last poll
    uint32_t fill_most;              // the most so far
    uint64_t events_per_second;      // that the target made over the last second or so
    bool rate_is_estimate;           // of them: what was not read is by the rate between reads
    uint64_t halted;                 // ns that the target stood, where the source halts it
    bool gone;                       // the target does not answer now
    bool enabled;                    // its trace is on
    bool has_all;                    // nothing of the ring was overwritten before it was first read
    struct extract_memory_cost cost; // of reading
    struct extract_record_advice advice;
};

// The ring that a recorder with these options finds. Errors: those of extract_ring_find; ABSENT
// also where it is a stream of a process that nobody has created.
enum extract_code extract_record_find(struct extract_ring *ring, struct extract_memory *memory,
                                      struct extract_symbols *symbols,
                                      const struct extract_record_options *options,
                                      struct extract_error *error);

// Finds the ring, measures the link, says what is recorded (RING, OBJECTS, MARK START) and takes
// the ring's whole content as the first entries. `memory` and `symbols` (may be NULL) must outlive
// the recorder. A trace that is not enabled yet is waited for. Errors: those of extract_ring_find
// but ABSENT; NOMEM; those of the log and the sink.
enum extract_code extract_recorder_open(struct extract_recorder **recorder,
                                        struct extract_memory *memory,
                                        struct extract_symbols *symbols,
                                        const struct extract_record_options *options,
                                        struct extract_error *error);

// One poll. Target trouble (no answer, a reset, the trace switched off) is no error: it is marked
// in the log and the status says so. Errors: those of the log and the sink, NOMEM.
enum extract_code extract_recorder_poll(struct extract_recorder *recorder,
                                        struct extract_error *error);

// Nanoseconds (CLOCK_MONOTONIC) until the next poll is due, 0 when it is.
uint64_t extract_recorder_due(const struct extract_recorder *recorder);

const struct extract_record_status *
extract_recorder_status(const struct extract_recorder *recorder);
const struct extract_ring *extract_recorder_ring(const struct extract_recorder *recorder);

// A last poll, then the entries that were held back, as provisional, what is missing by then as a
// LOSS, and MARK STOP. The recorder is
// freed in any case; the log stays open. NULL is allowed.
enum extract_code extract_recorder_close(struct extract_recorder *recorder,
                                         struct extract_error *error);

// The same, and says in *status (may be NULL) what the recording came to.
enum extract_code extract_recorder_finish(struct extract_recorder *recorder,
                                          struct extract_record_status *status,
                                          struct extract_error *error);

// Ends it where the last poll came to, for a target that cannot be asked any more: what was held
// back goes out as provisional, then MARK STOP. The recorder is freed in any case.
enum extract_code extract_recorder_close_offline(struct extract_recorder *recorder,
                                                 struct extract_error *error);

// One pass, as posix_trace_flush makes of a stream with a log: what the ring holds and the log at
// `path` does not is added to it. The log is made where there is none; one that is there must have
// the policy APPEND. Nothing is written when nothing is new. Where the log's newest entries are not
// in the ring any more, a LOSS tells it, or MARK RESET where the ring says that it began again. Of
// the options, `log` and the sink have no meaning. *status says what was added. Errors: those of
// extract_recorder_open, extract_log_open and extract_log_create; ABSENT (the trace is not
// enabled); USAGE (the log is of another kind of trace).
enum extract_code extract_record_flush(const char *path, struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_record_options *options,
                                       struct extract_record_status *status,
                                       struct extract_error *error);
// Says in one line what it came to.
void extract_record_flushed(const struct extract_record_status *status, bool json,
                            struct extract_text *text);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
