// SPDX-License-Identifier: MIT
// report/columns: what the files of this directory share.
//
// A text report of events passes through four stages:
//
//   column_widths.c  reads the first events of a view: how wide must each column be?
//   layout.c         turns the user's choice and these widths into a layout, and prints headings
//   entry_builder.c  makes of each event the hook entry that its template expects
//   text_report.c    prints each event: its columns, then the text of its template
//
// raw_report.c writes the same entries as a file, without their text, and histogram.c counts them.
#ifndef EXTRACT_REPORT_COLUMNS_COLUMNS_H
#define EXTRACT_REPORT_COLUMNS_COLUMNS_H

#include "report/columns/entry_builder.h"
#include "report/report_room.h"

// The text of an event starts in one of the columns APPL, SYSCALL, KERNEL and INTERRUPT, which are
// this many characters apart.
enum { LAYOUT_CLASS_STEP = 8 };

// Where a report prints what. All widths and offsets are in characters; a width of 0 means that the
// column is not printed.
struct layout {
    struct extract_columns columns;
    uint64_t hz;  // ticks per second; 0: times are in ticks
    unsigned gap; // blanks between columns
    unsigned seq, id, exec, filename, cpu, pid, tid, prio, interrupt, svc, elapsed, delta;
    bool has_rare_columns; // at least one of `filename` to `svc` is printed
    unsigned text;         // offset of the column APPL
    unsigned indent;       // blanks between the gap after the last column and the text
};

// What the events of a report need.
struct layout_needs {
    unsigned seq, exec, pid, tid, prio; // width of the widest value, in characters
    uint64_t ticks, delta;              // largest elapsed time and largest step, in ticks
    bool has_cores; // the trace comes from several cores, even if the view shows events of one
};

// column_widths.c: finds what the events of a view need. On failure, sets builder->failed.
void layout_find_needs(struct layout_needs *needs, const struct extract_columns *columns,
                       const struct extract_view *view, struct entry_builder *builder);

// layout.c
void layout_open(struct layout *layout, const struct extract_columns *columns, uint64_t hz,
                 const struct layout_needs *needs);
// Writes the headings of the columns and returns their number of lines.
unsigned layout_put_headings(const struct layout *layout, bool bold, struct extract_text *text);
// Writes what trcrpt prints before a report: date, system, machine and trace.
void layout_put_preamble(const struct layout *layout, const struct extract_trace *trace,
                         struct extract_text *text);

// Returns the offset at which the text of an event of this class starts.
static inline unsigned layout_text_offset(const struct layout *layout, enum extract_class class_)
{
    return layout->text + LAYOUT_CLASS_STEP * (unsigned)class_;
}

// text_report.c: extract_report_events as text.
enum extract_code columns_events(struct extract_text *text, const struct extract_view *view,
                                 const struct extract_trace *trace,
                                 const struct extract_report_options *options,
                                 struct extract_report_outcome *outcome);

// histogram.c: prints how often each hook id occurs.
enum extract_code columns_histogram(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    struct entry_builder *builder,
                                    struct extract_report_outcome *outcome);

// Writes the events of a view as a file of hook entries, which Ringside can read
// (docs/formats/hook.md). Markers are left out, except losses and damage. `hz` is in ticks per
// second; 0: unknown. Errors: NOMEM, LIMIT (more than 2^28 bytes).
enum extract_code extract_export_hooks(struct extract_text *text, const struct extract_view *view,
                                       const struct extract_trace *trace, uint64_t hz,
                                       struct extract_error *error);

#endif
