// SPDX-License-Identifier: MIT
// Reports: prints the events, objects, statistics and properties of a trace as text or JSON.
//
// Every report writes to an extract_text, so that the program, GDB and tests print the same bytes.
// docs/man/ringside.1 lists the keys of the JSON. Text reports of events have columns, and
// templates (extract/templates.h) make the text of each event.
#ifndef EXTRACT_REPORT_H
#define EXTRACT_REPORT_H

#include <extract/crash.h>
#include <extract/diff.h>
#include <extract/filter.h>
#include <extract/kernel.h>
#include <extract/posix/traced.h>
#include <extract/span.h>
#include <extract/stats.h>
#include <extract/why.h>
#include <extract/templates.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// How a text report of events prints times. Without a clock rate, times are in ticks.
enum extract_times {
    EXTRACT_TIMES_FULL = 0, // seconds since the start, and milliseconds since the previous event
    EXTRACT_TIMES_SHORT,    // seconds since the start, with six decimals
    EXTRACT_TIMES_MICRO,    // microseconds since the start, and since the previous event
    EXTRACT_TIMES_NONE
};

enum { EXTRACT_MAX_PAGE = 500 }; // lines

// Whether a report has a column. AUTO: only if the column is informative.
enum extract_column { EXTRACT_COLUMN_AUTO = 0, EXTRACT_COLUMN_ON, EXTRACT_COLUMN_OFF };

// The layout of a text report of events, and its columns in the order of the report.
struct extract_columns {
    size_t size;                   // sizeof the struct
    bool compat;                   // the layout of AIX's trcrpt, byte for byte
    bool trazer;                   // the lines of Trazer 3.2 instead of columns (RKH only)
    bool seq, ids, exec, filename; // exec: name of the thread
    enum extract_column cpuid;     // AUTO: if there are several cores and `compat` is false
    bool pid, tid, prio, svc;      // prio: priority and preemption threshold
    bool two_lines;                // columns on one line, the event's text on the next
    bool duplicates;               // print events that repeat the previous event
    bool histogram;                // print how often each hook id occurs instead of the events
    unsigned page_lines;           // lines after which the headings are repeated; 0: never
    enum extract_times times;
    const char *source; // the trace's name, for the heading and for `filename`; NULL: ""
};

// Sets the default columns: those of Ringside, or those of trcrpt.
void extract_columns_init(struct extract_columns *columns, bool compat);

// Handles a setting of `-O` that is not a column. `value` is NULL if the setting has none.
typedef enum extract_code extract_columns_word(void *context, const char *word, const char *value,
                                               struct extract_error *error);

// Sets columns from the settings of `-O`, such as "exec=off,timestamp=2". A setting without a value
// is on. Settings that are not columns go to `other` (NULL: they are refused). Errors: USAGE, with
// the setting as its subject.
enum extract_code extract_columns_set(struct extract_columns *columns, const char *words,
                                      extract_columns_word *other, void *context,
                                      struct extract_error *error);

// The state that a report of a growing stream carries from one part to the next.
// Zero-initialize it, and free it with extract_report_part_free.
struct extract_report_part {
    bool heads;            // headings were printed, for the clock rate `hz`
    uint64_t hz;           // ticks per second
    bool events;           // at least one event was printed
    uint64_t last_ticks;   // time of the last event that was printed
    struct trazer *trazer; // state of the lines of Trazer; owned
};

// Frees what *part owns, but not *part itself.
void extract_report_part_free(struct extract_report_part *part);

struct extract_report_options {
    size_t size;    // sizeof the struct
    uint64_t hz;    // ticks per second; 0: times are in ticks
    bool json;      // one JSON object per line
    bool html;      // a page of HTML, of reports that have one; then `json` is false
    bool no_header; // text: without headings
    bool color;     // text: headings in bold, flags in red (ECMA-48, SGR)
    // Text reports of events: linked templates; NULL: the built-in ones.
    const struct extract_templates *templates;
    const struct extract_columns *columns; // NULL: the defaults of extract_columns_init
    // Called from time to time while events are printed. If it returns false, the report ends
    // there. May be NULL.
    bool (*may_continue)(void *context);
    void *context;                     // of may_continue
    const struct extract_spans *spans; // of statistics; NULL: none
    // Reports of events: where the previous part ended; NULL: the report is complete in itself.
    // Columns of a report in parts have fixed widths.
    struct extract_report_part *part;
    unsigned width; // of a timeline, in columns; 0: 80
    bool ascii;     // of a timeline: in ASCII instead of block characters
    bool has_ended; // of the status: the target has ended for good (extract_memory_has_ended)
};

// What happened to the events of a report.
struct extract_report_outcome {
    uint64_t shown;   // events that were printed
    uint64_t merged;  // events that repeat the previous one and were left out
    uint64_t skipped; // events that a template left out ($SKIP)
    bool stopped;     // a template ended the report ($STOP)
    uint64_t faults;  // templates that failed
    // The first template that failed:
    char fault[16];      // name of the fault, such as "E-SHORT"
    uint64_t fault_seq;  // sequence number of the event
    char fault_hook[12]; // hook id of the event, as printed
    uint64_t undrawn;    // older lines of a chart that were left out
};

// Each function appends to `text` and returns its first failure (text->code), or OK.

// Prints the events of a view. `outcome` may be NULL.
enum extract_code extract_report_events(struct extract_text *text, const struct extract_view *view,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options,
                                        struct extract_report_outcome *outcome);
// Prints the kernel objects.
enum extract_code extract_report_objects(struct extract_text *text,
                                         const struct extract_trace *trace,
                                         const struct extract_report_options *options);
// Prints the threads, or all other objects, that the control blocks of a kernel show.
enum extract_code extract_report_threads(struct extract_text *text,
                                         const struct extract_kernel *kernel,
                                         const struct extract_report_options *options);
enum extract_code extract_report_kernel_objects(struct extract_text *text,
                                                const struct extract_kernel *kernel,
                                                const struct extract_report_options *options);
// Prints the traced programs of this host.
enum extract_code extract_report_traced(struct extract_text *text,
                                        const struct extract_traced *list, size_t count,
                                        const struct extract_report_options *options);
// Prints why a target stopped. `events`: a report of the newest events, in the same form (text, or
// one JSON object per line); NULL: none.
enum extract_code extract_report_crash(struct extract_text *text, const struct extract_crash *crash,
                                       const struct extract_text *events,
                                       const struct extract_report_options *options);
// Prints the status of the stream and of its log, in the words of struct posix_trace_status_info.
enum extract_code extract_report_status(struct extract_text *text,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options);
// Prints layout, state and losses of the ring.
enum extract_code extract_report_info(struct extract_text *text, const struct extract_trace *trace,
                                      const struct extract_report_options *options);
// Prints statistics.
// Derives the schedule of a trace (extract_schedule_run) and writes it: one line per interval,
// state, wake-up and time of ownership, or one JSON object. Errors: those of extract_schedule_run.
enum extract_code extract_report_schedule(struct extract_text *text,
                                          const struct extract_view *view,
                                          const struct extract_trace *trace,
                                          const struct extract_report_options *options,
                                          struct extract_error *error);

// Writes the schedule as a picture: a line for each core, interrupt and thread, by priority. A
// column shows the state that lasts longest in its time. In JSON, one object for all, and one per
// line. Errors: those of extract_schedule_run.
enum extract_code extract_report_timeline(struct extract_text *text,
                                          const struct extract_view *view,
                                          const struct extract_trace *trace,
                                          const struct extract_report_options *options,
                                          struct extract_error *error);
// Returns whether the locale of the environment lacks the block characters of a timeline, or shows
// them two columns wide; and the width of the terminal on standard output, 0 if it is not known.
bool extract_report_needs_ascii(void);
unsigned extract_report_terminal_width(void);

// Writes explanations of responses: in text, one line per segment; in JSON, one object per
// response.
enum extract_code extract_report_why(struct extract_text *text, const struct extract_why *why,
                                     const struct extract_trace *trace,
                                     const struct extract_report_options *options);

// Writes what changed between two traces, as text or as one JSON object.
enum extract_code extract_report_diff(struct extract_text *text, const struct extract_diff *diff,
                                      const struct extract_report_options *options);

enum extract_code extract_report_stats(struct extract_text *text, const struct extract_stats *stats,
                                       const struct extract_report_options *options);
// Prints one line per kind of loss or damage; nothing for a complete trace.
enum extract_code extract_report_damage(struct extract_text *text,
                                        const struct extract_trace *trace);
// Prints what reading cost: reads, bytes and time, and whether the target recorded in the meantime.
enum extract_code extract_report_cost(struct extract_text *text, const struct extract_trace *trace);

// ---- names of values, for programs that write events themselves ----

// The names of the values of one trace's events. Each name is made once, and is kept while there is
// space, so that memory does not grow.
struct extract_value_names;

// Makes the names of a trace, which must outlive them. Errors: NOMEM.
enum extract_code extract_value_names_new(struct extract_value_names **names,
                                          const struct extract_trace *trace,
                                          struct extract_error *error);
// Frees the names. NULL is allowed.
void extract_value_names_free(struct extract_value_names *names);

// Returns the name of a value in the event number `seq`, as reports print it: that of an object, a
// function, a signal, a thread's state and so on. It is escaped for a terminal
// (extract_text_escaped) and valid until the next call. Returns "" if the value has no name, and
// NULL if memory is short.
const char *extract_value_name(struct extract_value_names *names, uint64_t seq,
                               enum extract_kind kind, uint64_t value);

// Writes a message sequence chart. Of an RKH trace: who sent what to whom, when it was received,
// and which state followed. Of any other trace that shows a schedule: who put something into a
// queue, a semaphore or a group of event flags, who took it out, which threads waited, and who woke
// them. The chart is an SVG image or, if `signalling` is true, text in the signalling language of
// msc-generator. At most the newest 4000 lines are drawn. `outcome` may be NULL. Errors: NOMEM,
// UNSUPPORTED (no event of the trace shows a schedule).
enum extract_code extract_report_chart(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, bool signalling,
                                       const struct extract_report_options *options,
                                       struct extract_report_outcome *outcome,
                                       struct extract_error *error);

// Writes the ring of a trace as a dump in the ring's own format (ThreadX: .trx). With the same
// symbols, the dump gives the same report. To this end, the header of the dump holds the writer's
// true position, and threads whose names were read from target memory get a registry slot. Entries
// that could not be read, or were overwritten while they were read, get an id of no event. For a
// log, writes the ring at its end (extract_trace_image). Errors: NOMEM.
enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
