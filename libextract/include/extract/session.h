// SPDX-License-Identifier: MIT
// One look at a trace: from a memory and the firmware's symbols to the text of a command.
//
// The command line and the debugger's reader both stand on this, so that one verb gives the same
// bytes in both places.
#ifndef EXTRACT_SESSION_H
#define EXTRACT_SESSION_H

#include <extract/report.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_session;

// One condition of a filter, as a user writes it (see extract_filter_add).
struct extract_condition {
    enum extract_filter_word word;
    const char *value;
};

// What a user may set. Zero-initialize, then set what is wanted. Strings are needed only during
// extract_session_open, except that a `user_types` object, the templates' paths and what `columns`
// holds must outlive the session.
struct extract_session_options {
    size_t size;                   // sizeof the struct
    const char *format;            // "threadx"; NULL: found out
    const struct extract_rkh *rkh; // what is known of an RKH stream; may be NULL
    bool ring_known;               // the ring's control header lies at `ring`
    uint64_t ring;
    uint32_t stream;                             // 1 + the number of a POSIX trace's; 0: any
    uint64_t hz;                                 // ticks a second; 0: times are ticks
    uint64_t modulus;                            // of the clock in ticks; 0: found out
    const struct extract_user_types *user_types; // may be NULL
    const struct extract_condition *conditions;  // of the filter; may be NULL
    size_t condition_count;
    // Hook ids as reports show them ("053,1000"): of no others, and of none of these; or NULL.
    const char *only_hooks, *not_hooks;
    bool json;      // JSON instead of text
    bool no_header; // text without column heads
    bool color;     // text with heads in bold and flags in red
    // Of "report" as text. Files of templates, each on top of those in front of it;
    // "-" is standard input. Beneath them lie the ones that come with Ringside.
    const char *const *template_files;
    size_t template_count;
    bool only_templates;                   // without those that come with Ringside
    unsigned dialect;                      // EXTRACT_DIALECT_…
    const struct extract_columns *columns; // NULL: as extract_columns_init makes them
    // Asked now and then while events are formatted: false ends the report in the middle. Or NULL.
    bool (*go_on)(void *context);
    void *context; // of go_on
    bool goes_on;  // the trace is the first stretch of a stream (extract_running_open sets it)
};

// Finds the ring, copies it and gives it its meaning; everything is read here, nothing later.
// `memory` and `symbols` (may be NULL) must outlive the session. Errors: USAGE (a condition that
// makes no sense; see also extract_ring_find) and those of extract_ring_find,
// extract_snapshot_take and extract_trace_open.
enum extract_code extract_session_open(struct extract_session **session,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_session_options *options,
                                       struct extract_error *error);
// The same of a log, which must outlive the session; its blocks are read as the verbs need them.
// The options format and ring have no meaning for it (USAGE when they contradict it). Errors: USAGE
// and those of extract_trace_open_log.
enum extract_code extract_session_open_log(struct extract_session **session,
                                           struct extract_log *log, struct extract_symbols *symbols,
                                           const struct extract_session_options *options,
                                           struct extract_error *error);
void extract_session_close(struct extract_session *session);

// Writes the answer of a verb to `text`:
//   "info"     facts on the trace           "objects"  the registry
//   "report"   the events of the filter     "stats"    their statistics
//   "damage"   one line a kind of loss; nothing for a whole trace. Behind a report also one for
//              what its templates could not say, and one for duplicates that it left out
//   "cost"     one line: what reading has cost
//   "raw"      the events of the filter as hook entries, binary (extract_export_hooks)
//   "chart", "signalling"  their sequence chart, in two forms (extract_report_chart)
// Errors: USAGE (unknown verb, a time with a unit without hz), NOTFOUND (a condition names nothing
// of this trace; an empty answer has been written), NOMEM, IO (the text's flush failed, a file of
// templates cannot be read), BAD (there is an error in the templates: nothing has been written, see
// extract_session_templates).
enum extract_code extract_session_run(struct extract_session *session, const char *verb,
                                      struct extract_text *text, struct extract_error *error);

// The verb "report" for another view of the session's trace. Errors: as extract_session_run.
enum extract_code extract_session_report(struct extract_session *session,
                                         const struct extract_view *view, struct extract_text *text,
                                         struct extract_error *error);

// The templates, once a verb has asked for them, with all that there is to say of their files
// (extract_templates_diagnostics); NULL before. They live as long as the session.
const struct extract_templates *extract_session_templates(const struct extract_session *session);

// Whether everything that the ring held could be read and shown. A ring that has merely wrapped is
// whole, and so is a log that keeps the newest only; one that was not closed is not, and no report
// is whose templates met faults. When false, the verb "damage" says what is not.
bool extract_session_is_whole(const struct extract_session *session);

// Events in the answer of the last "report", 0 before.
uint64_t extract_session_shown(const struct extract_session *session);

const struct extract_trace *extract_session_trace(const struct extract_session *session);

// A report of an RKH stream that goes on: its bytes as they come, the text of each event as soon as
// its frame is whole. Bytes are put together to stretches of whole frames, and each is read as a
// file is, with the settings, numbers, times and names that those in front have led to. What is
// kept is bounded.
struct extract_running;

struct extract_running_status {
    uint64_t bytes;
    uint64_t good, torn, checksum, length, id; // frames; a good one, or what is wrong with it
    uint64_t passed;  // frames that were passed, for nothing told yet how they are laid out
    uint64_t lost;    // by sequence numbers, modulo 256
    bool lost_known;  // all frames have numbers
    uint32_t partial; // bytes of a frame under way
    bool resolved;    // it is known how frames are laid out
    bool whole;       // all that came could be shown
    // A sentence a line on rates that the stream tells and that are not used; good until more bytes
    // are taken. NULL: there are none, or a user has said the rate.
    const char *rates;
};

// `name` is what messages call the stream. All that is given must outlive it. Errors: NOMEM.
enum extract_code extract_running_open(struct extract_running **running, const char *name,
                                       const struct extract_session_options *options,
                                       struct extract_symbols *symbols,
                                       struct extract_error *error);
void extract_running_close(struct extract_running *running);

// Takes bytes (0 of them: time goes on) and writes what is known now. Errors: those of
// extract_session_open and extract_session_run, which end the report, but NOTFOUND: what a filter
// names may still come.
enum extract_code extract_running_take(struct extract_running *running, const uint8_t *bytes,
                                       size_t length, struct extract_text *text,
                                       struct extract_error *error);

// The source has gone, or another one came: the frame under way is torn. Errors: as
// extract_running_take.
enum extract_code extract_running_break(struct extract_running *running, struct extract_text *text,
                                        struct extract_error *error);

// No more bytes will come. Errors: as extract_running_take; BAD when nothing told how frames are
// laid out.
enum extract_code extract_running_end(struct extract_running *running, struct extract_text *text,
                                      struct extract_error *error);

struct extract_running_status extract_running_status(const struct extract_running *running);

// The templates of the report, as extract_session_templates gives them; NULL before the first
// event.
const struct extract_templates *extract_running_templates(const struct extract_running *running);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
