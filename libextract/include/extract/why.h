// SPDX-License-Identifier: MIT
// Why a response of a thread, or a span, took as long as it did: a chain of segments whose lengths
// add up to exactly the elapsed time.
//
// The chain follows the thread's states. While it was ready, it shows who had the core instead.
// While it was blocked on a mutex or a lock, it shows what the owner did, and so on for what the
// owner waited for. All times are ticks as in extract_event.ticks. See ringside-why(1).
#ifndef EXTRACT_WHY_H
#define EXTRACT_WHY_H

#include <extract/schedule.h>
#include <extract/span.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// Which times of a thread are to be explained. Initialize with zeros, then set `size`, `thread` and
// at most one of `at`, `from` with `to`, and `worst`; or `spans`, and `thread` and `worst` if
// needed.
struct extract_why_options {
    size_t size;        // sizeof the struct
    const char *thread; // name or address of the thread
    // A single definition, whose longest spans are explained; NULL: responses are. If `thread` is
    // NULL, the thread is the one that began the span, or that ended it if an interrupt began it.
    struct extract_spans *spans;
    const char *at;   // the response at this time: ticks, or a time with its unit ("20ms")
    const char *from; // from this time ...
    const char *to;   // ... to this time
    uint64_t worst;   // that many of the longest responses or spans; 0: the longest one
    uint64_t hz;      // ticks per second; 0: times with units are not possible
};

enum extract_segment_kind {
    EXTRACT_SEGMENT_UNKNOWN = 0,
    EXTRACT_SEGMENT_RAN,
    EXTRACT_SEGMENT_PREEMPTED, // ready, while the thread `who` had the core
    EXTRACT_SEGMENT_ISR,       // interrupt `who` had the core
    EXTRACT_SEGMENT_BLOCKED,   // on the mutex or lock `object`, which `who` held: a thread, or if
                               // in_isr is set, an interrupt
    EXTRACT_SEGMENT_WAITED,    // for something that the thread `who` did
    EXTRACT_SEGMENT_SLEPT,
    EXTRACT_SEGMENT_SUSPENDED,
    EXTRACT_SEGMENT_SWITCHING // ready, while the core was about to be given to it
};

// A part of a chain. Segments of the same depth follow each other without gaps. The segments that
// explain a BLOCKED one come right after it, one level deeper, and cover the same time.
struct extract_segment {
    uint64_t from, to; // from < to
    uint64_t who;      // address of a thread, or number of an interrupt; see has_who
    uint64_t object;   // what was waited for: address; 0: none, or not known
    const char *wait;  // class of `object`, such as "queue"; NULL: none
    // Why `who` had the core (PREEMPTED), or what ended the wait (WAITED). reason UNKNOWN: not
    // known.
    struct extract_wake wake;
    enum extract_segment_kind kind;
    unsigned depth; // 0: of the response itself
    bool has_who;
    bool is_ready;    // UNKNOWN: the thread was ready, but who had its core is not known
    bool has_ended;   // SUSPENDED: the thread has completed, or was terminated
    bool is_spinning; // BLOCKED: it had the core, and tried again and again to get the lock
    bool is_cycle;    // BLOCKED: `who` waits for a thread of this chain: a deadlock
    bool by_isr;      // BLOCKED: the interrupt of the segment above spun on the lock
    bool in_isr;      // BLOCKED: an interrupt of the core `core` held the lock
    uint8_t core;     // see in_isr
};

// A response, or another time of a thread, with its segments.
struct extract_chain {
    uint64_t thread;
    uint64_t from, to;
    uint64_t from_seq, to_seq; // sequence numbers of the first and last event; see has_seqs
    bool has_seqs;             // it is a response or a span, and not a time that the user chose
    bool is_likely;            // of a span: begin and end may not belong together
    bool is_waiting;           // the thread still waits at the end of the trace
    size_t first, count;       // its segments
};

struct extract_why {
    struct extract_chain *chains; // the longest first; the wait that has not ended comes last
    size_t chain_count;
    struct extract_segment *segments;
    size_t segment_count;
    size_t responses; // of the thread in the trace; or spans that were measured
    char *span;       // name of the spans; NULL: responses. Owned
    size_t capacity;  // of `segments`
};

// Explains times of a thread, which the caller frees with extract_why_free. Without `at`, `from`
// and `to`, explains the longest responses, and the wait that has not ended at the end of the
// trace. The trace must outlive the call. Errors: NOMEM; NOTFOUND (no thread, or several threads,
// have the name; no response at that time; no span); USAGE (a time that cannot be parsed, or a time
// with a unit without a rate; several definitions of spans); those of extract_schedule_run and
// extract_spans_find.
enum extract_code extract_why_new(struct extract_why **why, const struct extract_trace *trace,
                                  const struct extract_why_options *options,
                                  struct extract_error *error);
// Frees the explanation. NULL is allowed.
void extract_why_free(struct extract_why *why);

// Returns the word that outputs use: "ran", "preempted" and so on.
const char *extract_segment_kind_name(enum extract_segment_kind kind);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
