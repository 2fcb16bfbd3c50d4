// SPDX-License-Identifier: MIT
// report/rkh: what the files of the sequence chart share: its rows and columns.
#ifndef EXTRACT_REPORT_RKH_CHART_H
#define EXTRACT_REPORT_RKH_CHART_H

#include "base/map.h"
#include "report/rkh/rkh_report.h"

enum { CHART_ROWS = 4000 }; // that are kept at most: the newest

enum chart_kind {
    CHART_POST,
    CHART_POST_FIRST, // in front of what waits
    CHART_TIMEOUT,    // `from` is the timer
    CHART_SYNCHRONOUS,
    CHART_GET,
    CHART_DONE, // the event was processed; takes no room
    CHART_STATE,
    CHART_NOTE,      // `type` of the event says what, perhaps with a signal
    CHART_ASSERTION, // these three go over all columns
    CHART_LOSS,
    CHART_BAND // `type` says what; of an object, perhaps
};

struct chart_row {
    enum chart_kind kind;
    bool signal_known;
    bool timed;  // its run has stamps
    bool modulo; // the number of lost frames is one modulo 256
    const struct extract_event_type *type;
    uint64_t ticks, seq;
    uint64_t from, to; // columns by their addresses, or by numbers no address has
    uint64_t value;    // signal, state or function; of an assertion its line; frames lost
    int64_t waited;    // of a get, ticks since its post; -1: not known
    size_t text;       // of an assertion: where the module begins in `texts`
};

// Columns that are no objects.
#define CHART_ENVIRONMENT UINT64_MAX
#define CHART_TIMERS      (UINT64_MAX - 1)

enum chart_role { CHART_IS_ENVIRONMENT, CHART_IS_TIMERS, CHART_IS_ACTOR, CHART_IS_OBJECT };

struct chart_column {
    uint64_t address;
    enum chart_role role;
    uint16_t priority; // EXTRACT_NO_PRIORITY: not known
    size_t first;      // row
    size_t name;       // where it begins in `texts`
};

struct chart {
    struct chart_row *rows; // the oldest first, when all are there
    size_t count;           // of them
    uint64_t left_out;      // older ones that were dropped
    struct chart_column *columns;
    size_t column_count, column_room;
    struct extract_map by_address; // columns
    struct extract_text texts;     // NUL-ended
    struct value_names names;
    uint64_t hz; // 0: times are ticks
    bool timed;
};

// The index of a column; those of a chart's rows are there.
static inline size_t chart_column(const struct chart *chart, uint64_t address)
{
    return extract_map_get(&chart->by_address, address) - 1;
}

static inline const char *chart_column_name(const struct chart *chart, size_t i)
{
    return chart->texts.data + chart->columns[i].name;
}

// Writes what a row says ("REQ", "server_idle", "no trigger for event REQ").
void chart_put_label(struct chart *chart, const struct chart_row *row, struct extract_text *text);
void chart_put_time(const struct chart *chart, uint64_t ticks, struct extract_text *text);

void chart_put_svg(struct chart *chart, struct extract_text *text);
void chart_put_signalling(struct chart *chart, struct extract_text *text);

#endif
