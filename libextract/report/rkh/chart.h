// SPDX-License-Identifier: MIT
// report/rkh: what the files of the message sequence chart share.
//
// A chart has columns, for who takes part, and rows, for what happened. chart.c collects both from
// the events of a view; svg.c and signalling.c draw them.
#ifndef EXTRACT_REPORT_RKH_CHART_H
#define EXTRACT_REPORT_RKH_CHART_H

#include "base/map.h"
#include "report/rkh/rkh_report.h"

enum { CHART_MAX_ROWS = 4000 }; // of a longer chart, the newest rows are kept

enum chart_kind {
    CHART_POST,
    CHART_POST_FIRST, // posted before all events that wait
    CHART_TIMEOUT,    // comes from CHART_TIMERS
    CHART_SYNCHRONOUS,
    CHART_GET,
    CHART_DONE, // the event was processed; not drawn as a row
    CHART_STATE,
    CHART_NOTE, // the event's type is the text, with a signal if there is one
    // Rows across all columns:
    CHART_ASSERTION,
    CHART_LOSS,
    CHART_BAND // the event's type is the text, with an object if there is one
};

struct chart_row {
    enum chart_kind kind;
    bool signal_known;
    bool is_timed;  // the event's run has timestamps
    bool is_modulo; // the number of lost frames is known modulo 256
    const struct extract_event_type *type;
    uint64_t ticks, seq;
    uint64_t from, to; // columns: an address, CHART_ENVIRONMENT or CHART_TIMERS
    uint64_t value;    // signal, state or function; line of an assertion; number of lost frames
    int64_t waited;    // get: ticks since the post; -1: unknown
    size_t text;       // assertion: offset of the module's name in `texts`
};

// Columns that are not objects. No address has these values.
#define CHART_ENVIRONMENT UINT64_MAX
#define CHART_TIMERS      (UINT64_MAX - 1)

// In the order of the columns. An actor only sends; an object receives, too.
enum chart_role { CHART_IS_ENVIRONMENT, CHART_IS_TIMERS, CHART_IS_ACTOR, CHART_IS_OBJECT };

struct chart_column {
    uint64_t address;
    enum chart_role role;
    uint16_t priority; // EXTRACT_NO_PRIORITY: unknown
    size_t first_row;  // the first row in which it takes part
    size_t name;       // offset of its name in `texts`
};

struct chart {
    struct chart_row *rows; // the oldest first
    size_t count;           // number of rows
    uint64_t left_out;      // older rows that were dropped
    struct chart_column *columns;
    size_t column_count, column_capacity;
    struct extract_map by_address; // addresses to indices of `columns` + 1
    struct extract_text texts;     // NUL-terminated
    struct value_names names;
    uint64_t hz;   // ticks per second; 0: times are in ticks
    bool is_timed; // at least one run has timestamps
};

// Returns the index of a column, which must be one of the chart.
static inline size_t chart_column(const struct chart *chart, uint64_t address)
{
    return extract_map_get(&chart->by_address, address) - 1;
}

static inline const char *chart_column_name(const struct chart *chart, size_t i)
{
    return chart->texts.data + chart->columns[i].name;
}

// Writes the label of a row, such as "REQ", "server_idle" or "no trigger for event REQ".
void chart_put_label(struct chart *chart, const struct chart_row *row, struct extract_text *text);
// Writes a time with as many decimals as the clock has, or in ticks.
void chart_put_time(const struct chart *chart, uint64_t ticks, struct extract_text *text);

// svg.c and signalling.c: draw a chart. Errors are in the code of the text.
void chart_put_svg(struct chart *chart, struct extract_text *text);
void chart_put_signalling(struct chart *chart, struct extract_text *text);

#endif
