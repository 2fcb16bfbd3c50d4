// SPDX-License-Identifier: MIT
// report/columns: what the files of this room share: the layout of a report, and a report under
// way.
#ifndef EXTRACT_REPORT_COLUMNS_COLUMNS_H
#define EXTRACT_REPORT_COLUMNS_COLUMNS_H

#include "report/columns/entry_builder.h"
#include "report/internal.h"
#include <extract/report.h>

enum { LAYOUT_LEVEL = 8 }; // from one of the columns APPL, SYSCALL, KERNEL, INTERRUPT to the next

// Where everything stands. A width of 0: the column is not shown.
struct layout {
    struct extract_columns columns;
    uint64_t hz;  // 0: times are ticks
    unsigned gap; // blanks between columns
    unsigned seq, id, exec, filename, cpu, pid, tid, prio, interrupt, svc, elapsed, delta;
    bool rare;       // one of filename to svc is shown
    unsigned text;   // where the column APPL begins
    unsigned indent; // blanks between the gap behind the last column and there
};

// What the events of a report ask of its columns.
struct layout_needs {
    unsigned seq, exec, pid, tid, prio; // columns
    uint64_t ticks, delta;              // the most of them
    bool cores;                         // the trace is of several, whatever the view shows
};

// survey.c: looks at the events of a view.
void layout_find_widths(struct layout_needs *needs, const struct extract_columns *columns,
                        const struct extract_view *view, struct entry_builder *builder);
// layout.c: where the columns stand; their heads.
void layout_open(struct layout *layout, const struct extract_columns *columns, uint64_t hz,
                 const struct layout_needs *needs);
// The heads of the columns; how many lines they are.
unsigned layout_heads(const struct layout *layout, bool bold, struct extract_text *text);
// What trcrpt says in front of a report.
void layout_heading(const struct layout *layout, const struct extract_trace *trace,
                    struct extract_text *text);

static inline unsigned layout_level(const struct layout *layout, enum extract_class level)
{
    return layout->text + LAYOUT_LEVEL * (unsigned)level;
}

// events.c: extract_report_events as text.
enum extract_code columns_events(struct extract_text *text, const struct extract_view *view,
                                 const struct extract_trace *trace,
                                 const struct extract_report_options *options,
                                 struct extract_report_outcome *outcome);

// histogram.c: how often each hook id occurs.
enum extract_code columns_histogram(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    struct entry_builder *builder,
                                    struct extract_report_outcome *outcome);

#endif
