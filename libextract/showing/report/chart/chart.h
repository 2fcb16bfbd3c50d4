// SPDX-License-Identifier: MIT
// report/chart: what the files of the message sequence chart share.
//
// A chart has lifelines, for who takes part, and rows, for what happened. It does not depend on a
// format. Two collectors fill it, and two files draw it:
//
//   report/rkh/rkh_chart.c  RKH: posts, gets and states of active objects ─┐           ┌─
//   chart_svg.c
//                                                                          ├─ chart.c ─┤
//   schedule_chart.c        other formats: calls, waits and wake-ups ──────┘           └─
//   signalling.c
//
// Rows are kept in a ring, so that a long trace leaves the newest. Columns are the lifelines that
// take part in these rows.
#ifndef EXTRACT_REPORT_CHART_H
#define EXTRACT_REPORT_CHART_H

#include "base/map.h"
#include "report/report_room.h"

enum { CHART_MAX_ROWS = 4000 }; // of a longer chart, the newest rows are kept

enum chart_kind {
    // RKH:
    CHART_POST,
    CHART_POST_FIRST, // posted before all events that wait
    CHART_TIMEOUT,    // comes from the timers
    CHART_SYNCHRONOUS,
    CHART_GET,
    CHART_DONE, // the event was processed; not drawn as a row
    CHART_STATE,
    // Other formats. The label is the type of the call's event, and the object:
    CHART_PUT,      // a message or a signal is put into an object, where it lies
    CHART_TAKE,     // it is taken out of the object
    CHART_WAKE,     // a call, or an event of the scheduler, ended the wait of a thread
    CHART_EXPIRED,  // the wait of a thread ended without success, since its time was over
    CHART_RECEIVED, // a thread that was woken takes what it waited for
    CHART_WAIT,     // a thread waits for an object
    CHART_FAILED,   // a call to put something fails at once
    // All formats:
    CHART_NOTE, // the event's type is the text, with a signal if there is one
    // Rows across all columns:
    CHART_ASSERTION,
    CHART_LOSS,
    CHART_BAND // the event's type is the text, with an object if there is one
};

struct chart_row {
    enum chart_kind kind;
    bool signal_known;
    bool is_timed;     // the event's run has timestamps
    bool is_modulo;    // the number of lost frames is known modulo 256
    bool is_at_least;  // more events may be lost than `value`
    bool is_likely;    // the trace does not prove it
    bool sender_known; // TAKE, RECEIVED: `sender` is valid
    const struct extract_event_type *type;
    uint32_t id; // of the call's event; 0: not known
    uint64_t ticks, seq;
    uint32_t from, to; // lifelines
    uint32_t sender;   // TAKE, RECEIVED: the lifeline that put the message into the object
    uint64_t value;    // signal, state or function; line of an assertion; number of lost frames;
                       // object of a call, 0: none
    int64_t waited;    // ticks since the message was put into the object or queue; -1: unknown
    size_t text;       // assertion: offset of the module's name in `texts`
};

// What a lifeline stands for.
enum chart_space {
    CHART_ENVIRONMENT = 0, // whoever is not an object of RKH
    CHART_TIMERS,          // of RKH
    CHART_UNKNOWN,         // whoever made a call, if the trace does not show it
    CHART_INIT,            // start-up code
    CHART_INTERRUPT,       // by number; CHART_NO_NUMBER: the number is not known
    CHART_THREAD,          // by address
    CHART_OBJECT,          // by address; of RKH, also active objects
    CHART_SPACES
};

#define CHART_NO_NUMBER UINT64_MAX
#define CHART_NOBODY    UINT32_MAX // not a lifeline: memory is short

struct chart_lifeline {
    enum chart_space space;
    uint64_t key; // address or number
    uint64_t seq; // event at which its name is looked up; UINT64_MAX: the newest name
    const struct extract_object *object; // NULL: none is known at the address
    size_t column;                       // index of its column + 1; 0: it has none
};

// In the order of the columns. Of RKH, an actor only sends; an object receives, too.
enum chart_role {
    CHART_IS_ENVIRONMENT,
    CHART_IS_TIMERS,
    CHART_IS_INTERRUPT,
    CHART_IS_ACTOR,
    CHART_IS_OBJECT, // or a thread
    CHART_IS_STORE   // an object in which messages lie
};

struct chart_column {
    uint32_t lifeline;
    enum chart_role role;
    unsigned urgency; // of its priority; low is urgent
    size_t first_row; // the first row in which it takes part
    size_t order;     // in which columns were added
    size_t name;      // offset of its name in `texts`
};

// What happened between the last row and the next: of RKH, whose collector notes it here.
struct chart_gap {
    bool has_gap, has_restart;
    uint64_t lost;  // entries
    bool is_modulo; // `lost` is known modulo 256
};

struct chart {
    // While rows are collected, row number i is at i % CHART_MAX_ROWS. Then the oldest is the
    // first.
    struct chart_row *rows;
    size_t count;      // number of rows
    uint64_t left_out; // older rows that were dropped
    struct chart_gap gap;
    struct chart_lifeline *lifelines;
    size_t lifeline_count, lifeline_capacity;
    struct extract_map places[CHART_SPACES]; // keys to indices of `lifelines` + 1
    struct chart_column *columns;
    size_t column_count, column_capacity;
    struct extract_text texts; // NUL-terminated
    struct value_names names;
    uint64_t hz;     // ticks per second; 0: times are in ticks
    bool is_rkh;     // filled by RKH's collector
    bool is_timed;   // at least one run has timestamps
    bool has_failed; // out of memory
};

// ---- collectors ----

// report/rkh/rkh_chart.c: collects the rows of an RKH trace. Returns false if memory is short.
bool rkh_chart_collect(struct chart *chart, const struct extract_view *view);
// schedule_chart.c: collects the rows of a trace that shows a schedule. Errors: NOMEM.
enum extract_code schedule_chart_collect(struct chart *chart, const struct extract_view *view,
                                         struct extract_error *error);

// chart.c: for collectors.

// Returns the lifeline for a key, which it adds if needed. `seq` is the event at which its name is
// looked up. If another object has taken the address since, there is a new lifeline. Returns
// CHART_NOBODY if memory is short.
uint32_t chart_lifeline(struct chart *chart, enum chart_space space, uint64_t key, uint64_t seq);
// Adds a row, after rows for a loss and for a restart before it. Returns its number.
uint64_t chart_add_row(struct chart *chart, const struct chart_row *row);
// Returns the row of a number; NULL if it was dropped.
struct chart_row *chart_row_at(struct chart *chart, uint64_t number);

// ---- drawing ----

// Returns the index of a lifeline's column, which must be one of the chart.
static inline size_t chart_column(const struct chart *chart, uint32_t lifeline)
{
    return chart->lifelines[lifeline].column - 1;
}

static inline const char *chart_column_name(const struct chart *chart, size_t i)
{
    return chart->texts.data + chart->columns[i].name;
}

// Writes the label of a row, such as "REQ", "server_idle", "no trigger for event REQ" or
// "queue send: samples".
void chart_put_label(struct chart *chart, const struct chart_row *row, struct extract_text *text);
// Writes who put a message into its object, and how long it lay there, as in ", from sensor, +12".
// Writes nothing if that is not known.
void chart_put_origin(struct chart *chart, const struct chart_row *row, struct extract_text *text);
// Writes a time with as many decimals as the clock has, or in ticks.
void chart_put_time(const struct chart *chart, uint64_t ticks, struct extract_text *text);

// chart_svg.c and signalling.c: draw a chart. Errors are in the code of the text.
void chart_put_svg(struct chart *chart, struct extract_text *text);
void chart_put_signalling(struct chart *chart, struct extract_text *text);

#endif
