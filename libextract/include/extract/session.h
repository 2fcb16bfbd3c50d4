// SPDX-License-Identifier: MIT
// Sessions: reads a trace once, and prints what the commands of Ringside show of it.
//
// The input is a memory and the firmware's symbols, or a trace log; the output is text. The program
// and the GDB reader both use sessions, so a command prints the same bytes in both.
//
//     extract_session_open(&session, memory, symbols, &options, &error);
//     extract_session_run(session, "report", &text, &error);
//     if (!extract_session_is_whole(session))
//         extract_session_run(session, "damage", &text, &error);
//     extract_session_close(session);
//
// A running report, at the end of this header, prints an RKH stream while it arrives.
#ifndef EXTRACT_SESSION_H
#define EXTRACT_SESSION_H

#include <extract/assert.h>
#include <extract/export.h>
#include <extract/report.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_session;

// ---- options ----

// One condition of a filter, as a user writes it (see extract_filter_add).
struct extract_condition {
    enum extract_filter_word word;
    const char *value;
};

// The choices of a user. Initialize with zeros, then set what is needed. Everything that it points
// to is needed only while the session is opened, with these exceptions, which must outlive the
// session: `user_types`, `hook_roles`, the paths of `template_files`, the strings of `columns`, and
// `context`.
struct extract_session_options {
    size_t size;                   // sizeof the struct
    const char *format;            // name of the trace format, such as "threadx"; NULL: detected
    const struct extract_rkh *rkh; // known settings of an RKH stream; may be NULL
    bool ring_known;               // the control header is at `ring`
    uint64_t ring;
    uint32_t stream;  // 1 + the number of a POSIX trace stream; 0: any
    uint64_t hz;      // ticks per second; 0: as the trace states, otherwise times are in ticks
    uint64_t modulus; // ticks after which the clock wraps; 0: detected
    const struct extract_user_types *user_types; // may be NULL
    const struct extract_condition *conditions;  // of the filter; may be NULL
    size_t condition_count;
    // Hook ids as reports print them ("053,1000"), of the only events to print, and of events not
    // to print. May be NULL.
    const char *only_hooks, *not_hooks;
    const char *const *spans; // definitions (extract_spans_new) for "stats", why and assertions
    size_t span_count;
    bool json;      // JSON instead of text
    bool no_header; // text: without headings
    bool color;     // text: headings in bold, flags in red
    unsigned width; // of "timeline": columns; 0: 80
    bool ascii;     // of "timeline": in ASCII
    // Text of "report": paths of template files; "-" is standard input. A file overrides the files
    // before it, and all of them override the built-in templates.
    const char *const *template_files;
    size_t template_count;
    bool only_templates;                   // without the built-in templates
    unsigned dialect;                      // EXTRACT_DIALECT_…
    const struct extract_columns *columns; // NULL: the defaults of extract_columns_init
    // Called from time to time while events are printed. If it returns false, the report ends
    // there. May be NULL.
    bool (*may_continue)(void *context);
    void *context;     // of may_continue
    bool is_continued; // the trace is the first part of a stream; set by extract_running_open
    const struct extract_hook_roles *hook_roles; // of hook words (ring.h); may be NULL
    enum extract_core_ids core_ids;              // how ids with top bytes are read; NONE: detected
};

// ---- lifetime ----

// Opens a session for the ring in a memory: finds the ring, copies it, and decodes its events. All
// reads of the memory are made here. `memory` and `symbols` (may be NULL) must outlive the session.
// Errors: USAGE (an invalid condition, span or hook id); those of extract_ring_find,
// extract_snapshot_take and extract_trace_open.
enum extract_code extract_session_open(struct extract_session **session,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_session_options *options,
                                       struct extract_error *error);

// Opens a session for a log. `log` and `symbols` (may be NULL) must outlive the session, which
// reads blocks of the log when commands need them. The log states its format and the address of its
// ring. Errors: USAGE (an invalid condition, span or hook id; the option `format` or `ring`
// contradicts the log); those of extract_trace_open_log.
enum extract_code extract_session_open_log(struct extract_session **session,
                                           struct extract_log *log, struct extract_symbols *symbols,
                                           const struct extract_session_options *options,
                                           struct extract_error *error);

// Frees the session. NULL is allowed.
void extract_session_close(struct extract_session *session);

// ---- commands ----

// Runs a command and appends its output to `text`:
//
//   info        Prints layout, state and losses of the ring.
//   status      Prints the status of the stream and of its log (extract_report_status).
//   objects     Prints the kernel objects.
//   report      Prints the events that the filter lets through.
//   stats       Prints the statistics of these events, and the session's spans.
//   raw         Writes these events as binary hook entries (extract_export_hooks).
//   chart       Writes their sequence chart as SVG (extract_report_chart).
//   signalling  Writes their sequence chart in the signalling language.
//   damage      Prints one line per kind of loss; nothing for a complete trace. After a report or
//               chart, also prints what it could not format, and what it left out.
//   cost        Prints what reading cost, on one line.
//
// Errors: USAGE (an unknown command; a time with a unit, but no clock rate); NOTFOUND (a condition
// names nothing of this trace, or no event passes; nothing was written if none can); NOMEM; IO (the
// text could not be flushed, or a template file could not be read); BAD (a template is invalid;
// nothing was written, see extract_session_templates).
enum extract_code extract_session_run(struct extract_session *session, const char *command,
                                      struct extract_text *text, struct extract_error *error);

// Prints the report of another view of the session's trace. Errors: those of templates, as above.
// A failure of the output is in text->code.
enum extract_code extract_session_report(struct extract_session *session,
                                         const struct extract_view *view, struct extract_text *text,
                                         struct extract_error *error);

// Prepares assertions about the session's trace, as extract_assertions_new does. The session must
// outlive them.
enum extract_code extract_session_assertions(struct extract_session *session,
                                             struct extract_assertions **assertions,
                                             struct extract_error *error);
// Explains times of a thread (extract_why_new), or spans if the session has a definition, and
// appends the text. `options->hz` may be 0: the rate of the session is used. Errors: those of
// extract_why_new.
enum extract_code extract_session_why(struct extract_session *session,
                                      const struct extract_why_options *options,
                                      struct extract_text *text, struct extract_error *error);

// Exports what the session's filter lets through (extract_export_run). `options->hz` and
// `options->templates` are those of the session. Errors: those of extract_export_run; NOTFOUND (a
// condition names nothing of this trace; nothing was written if no event can pass); those of
// templates.
enum extract_code extract_session_export(struct extract_session *session,
                                         const struct extract_export_options *options,
                                         struct extract_text *text, struct extract_error *error);
// The same for two traces, B beside A: `title_b` is the title of B, and options->beside that of the
// sessions. Errors: also USAGE (the format holds one trace only).
enum extract_code extract_session_export_two(struct extract_session *a, struct extract_session *b,
                                             const char *title_b,
                                             const struct extract_export_options *options,
                                             struct extract_text *text,
                                             struct extract_error *error);

// Compares the session's trace, A, with that of another session, B, and appends what changed. The
// options of A's session hold. Errors: those of extract_diff_new.
enum extract_code extract_session_diff(struct extract_session *a, struct extract_session *b,
                                       struct extract_text *text, struct extract_error *error);

// ---- results ----

// Explains why a target stopped (extract_crash_new), and appends the page to the text, with the
// events that pass the session's filter. `session` may be NULL: there is no trace. `options` say
// how the page is written. Errors: those of extract_crash_new and extract_session_run.
enum extract_code extract_session_crash(struct extract_session *session,
                                        const struct extract_remains *remains,
                                        const struct extract_report_options *options,
                                        struct extract_text *text, struct extract_error *error);

// Returns the templates with the diagnostics of their files (extract_templates_diagnostics); NULL
// if no command has needed templates yet. They are valid until the session is closed.
const struct extract_templates *extract_session_templates(const struct extract_session *session);

// Returns whether everything in the ring or log could be read and printed. A ring that has wrapped
// is whole, and so is a log that keeps only the newest entries. A log that was not closed is not,
// and neither is a trace whose last report had templates that failed. If the result is false, the
// command "damage" prints why.
bool extract_session_is_whole(const struct extract_session *session);

// Returns the number of events that the last report printed; 0 before the first.
uint64_t extract_session_shown(const struct extract_session *session);

// Returns the trace. It is valid until the session is closed.
const struct extract_trace *extract_session_trace(const struct extract_session *session);

// ---- running reports ----

// A report of an RKH stream while it arrives. Each event is printed when its frame is complete and
// the layout of frames is resolved. Complete frames form a chunk, which is decoded like a file.
// Layout, numbers, times and names are kept from one chunk to the next. The buffer has a fixed
// size.
//
// `error` must not be NULL in the functions of running reports.
struct extract_running;

struct extract_running_status {
    uint64_t bytes; // received
    // Numbers of frames: good ones, and damaged ones by cause (struct extract_rkh_damage).
    uint64_t good, torn, checksum, length, id;
    uint64_t passed;  // frames that were discarded before the layout was resolved
    uint64_t lost;    // frames that are missing by sequence numbers, which are modulo 256
    bool lost_known;  // all frames have sequence numbers
    uint32_t partial; // bytes of the frame that is arriving
    bool resolved;    // the layout of frames is known
    bool whole;       // everything that arrived could be printed
    // Sentences, one per line, on clock rates that the stream states and the report does not use.
    // Valid until the next call that takes bytes. NULL: none, or the user stated the rate.
    const char *rates;
};

// Opens a running report. `name` is the name of the stream in messages, and is copied. Everything
// that `options` points to, and `symbols` (may be NULL), must outlive the report. The options
// `format` and `ring` are ignored. Errors: NOMEM.
enum extract_code extract_running_open(struct extract_running **running, const char *name,
                                       const struct extract_session_options *options,
                                       struct extract_symbols *symbols,
                                       struct extract_error *error);

// Frees the report. NULL is allowed.
void extract_running_close(struct extract_running *running);

// Takes `length` bytes of the stream, and appends the report of all events that are complete to
// `text`. Call it with 0 bytes while none arrive: the layout may be inferred after some time.
// Errors: those of extract_session_open and extract_session_run, after which the report cannot
// continue. NOTFOUND is not an error, since the stream may still bring what a filter names.
enum extract_code extract_running_take(struct extract_running *running, const uint8_t *bytes,
                                       size_t length, struct extract_text *text,
                                       struct extract_error *error);

// Ends the frame that is arriving as torn, because the source disappeared or was replaced. Errors:
// those of extract_running_take.
enum extract_code extract_running_break(struct extract_running *running, struct extract_text *text,
                                        struct extract_error *error);

// Ends the stream: reports frames whose layout was not resolved yet. Errors: those of
// extract_running_take; BAD (the layout could not be resolved).
enum extract_code extract_running_end(struct extract_running *running, struct extract_text *text,
                                      struct extract_error *error);

// Returns the status as of the last call.
struct extract_running_status extract_running_status(const struct extract_running *running);

// Returns the templates of the report, as extract_session_templates does; NULL before the layout is
// resolved. They are valid until the report is closed.
const struct extract_templates *extract_running_templates(const struct extract_running *running);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
