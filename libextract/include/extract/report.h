// SPDX-License-Identifier: MIT
// Events, objects, statistics and facts as text and as JSON (keys: docs/man/ringside.1). Events as
// text are in columns, what they say by templates (extract/templates.h).
#ifndef EXTRACT_REPORT_H
#define EXTRACT_REPORT_H

#include <extract/filter.h>
#include <extract/stats.h>
#include <extract/templates.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// How times stand in a text report of events. Without hz they are ticks.
enum extract_times {
    EXTRACT_TIMES_FULL = 0, // seconds since the start, milliseconds since the event in front
    EXTRACT_TIMES_SHORT,    // seconds since the start, with six decimals
    EXTRACT_TIMES_MICRO,    // microseconds since the start
    EXTRACT_TIMES_NONE
};

enum { EXTRACT_MAX_PAGE = 500 };

// Whether a report has a column: where it says something, or as a user asked.
enum extract_column { EXTRACT_COLUMN_AUTO = 0, EXTRACT_COLUMN_ON, EXTRACT_COLUMN_OFF };

// The columns of a text report of events, in the order in which they stand, and the layout.
struct extract_columns {
    size_t size;                   // sizeof the struct
    bool compat;                   // byte for byte as trcrpt has it
    bool trazer;                   // no columns: the lines of Trazer 3.2, of an RKH trace
    bool seq, ids, exec, filename; // exec: the thread, by its name
    enum extract_column cpuid;     // AUTO: there are several cores, and the layout is not trcrpt's
    bool pid, tid, prio, svc;      // prio: priority/preemption threshold
    bool two_lines;                // the columns on one line, the text on a second
    bool duplicates;               // events that merely repeat the one in front are shown, too
    bool histogram;                // how often each hook id occurs instead of the events
    unsigned page_lines;           // the heads come again after so many lines; 0: never
    enum extract_times times;
    const char *source; // what the trace is called, in the heading and by `filename`; NULL: ""
};

// The columns that a report has when nobody asks for others: Ringside's own, or trcrpt's.
void extract_columns_init(struct extract_columns *columns, bool compat);

// A word of `-O` that is no column; `value` is NULL when there is none.
typedef enum extract_code extract_columns_word(void *context, const char *word, const char *value,
                                               struct extract_error *error);

// Sets columns by words of `-O`, "exec=off,timestamp=2"; a word without a value is on. Words that
// are no columns go to `other` (NULL: they are refused). Errors: USAGE (names the word).
enum extract_code extract_columns_set(struct extract_columns *columns, const char *words,
                                      extract_columns_word *other, void *context,
                                      struct extract_error *error);

// Of a report that is made in parts, one behind the other, over a stream that goes on.
// Zero-initialize.
struct extract_report_part {
    bool heads;            // were printed, for times with
    uint64_t hz;           // ticks a second
    bool events;           // were printed, the last one at
    uint64_t last_ticks;   // ticks
    struct trazer *trazer; // what the lines of Trazer go on with; extract_report_part_free
};

void extract_report_part_free(struct extract_report_part *part);

struct extract_report_options {
    size_t size;    // sizeof the struct
    uint64_t hz;    // ticks a second; 0: times are ticks
    bool json;      // one JSON object a line
    bool no_header; // text: without the column heads
    bool color;     // text: heads in bold, flags in red (ECMA-48, SGR)
    // Of events as text. Linked; NULL: those that come with Ringside.
    const struct extract_templates *templates;
    const struct extract_columns *columns; // NULL: as extract_columns_init makes them
    // Asked now and then while events are formatted: false ends the report in the middle. Or NULL.
    bool (*go_on)(void *context);
    void *context; // of go_on
    // Of events: NULL, or where the part in front ended. Columns then have fixed widths.
    struct extract_report_part *part;
};

// What became of the events of a report.
struct extract_report_outcome {
    uint64_t shown;
    uint64_t merged;  // repeated the event in front, and were left out
    uint64_t skipped; // by a template's $SKIP
    bool stopped;     // by a template's $STOP
    uint64_t faults;  // templates that could not be run to their end
    // The first of the faults.
    char fault[16];      // "E-SHORT"
    uint64_t fault_seq;  // of the event
    char fault_hook[12]; // its hook id, as it is shown
    uint64_t undrawn;    // older lines of a chart that were left out
};

// Each writes to `text` and returns its sticky code. `outcome` may be NULL.
enum extract_code extract_report_events(struct extract_text *text, const struct extract_view *view,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options,
                                        struct extract_report_outcome *outcome);
enum extract_code extract_report_objects(struct extract_text *text,
                                         const struct extract_trace *trace,
                                         const struct extract_report_options *options);
// The status of the stream, and of its log: the words of struct posix_trace_status_info.
enum extract_code extract_report_status(struct extract_text *text,
                                        const struct extract_trace *trace,
                                        const struct extract_report_options *options);
enum extract_code extract_report_info(struct extract_text *text, const struct extract_trace *trace,
                                      const struct extract_report_options *options);
enum extract_code extract_report_stats(struct extract_text *text, const struct extract_stats *stats,
                                       const struct extract_report_options *options);
// One line a kind of loss or damage; nothing for a whole trace.
enum extract_code extract_report_damage(struct extract_text *text,
                                        const struct extract_trace *trace);
// What reading has cost: reads, bytes, time, and whether the writer moved.
enum extract_code extract_report_cost(struct extract_text *text, const struct extract_trace *trace);

// Writes a message sequence chart of the view's events of an RKH trace: who sent what to whom, when
// it was taken, and what state followed; as SVG, or in the signalling language of msc-generator. At
// most the newest 4000 lines are drawn. Errors: NOMEM, USAGE (a trace of another format).
enum extract_code extract_report_chart(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, bool signalling,
                                       const struct extract_report_options *options,
                                       struct extract_report_outcome *outcome,
                                       struct extract_error *error);

// Writes the trace's ring to `text` as a dump of its own format (ThreadX: .trx), which gives the
// same report when it is read again with the same symbols: the pointer in its header is the
// writer's true place, threads whose names were read from target memory have a registry slot, and
// entries that were overwritten while they were read, or could not be read, carry the id of no
// event. Of a log: the ring that it leads to (extract_trace_image). Errors: NOMEM.
enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error);
// Writes the view's events as hook entries, a file that Ringside reads again
// (docs/formats/hook.md): without marks, with `hz` ticks a second (0: unknown). Errors: NOMEM,
// LIMIT (more than 2^28 bytes).
enum extract_code extract_export_hooks(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, uint64_t hz,
                                       struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
