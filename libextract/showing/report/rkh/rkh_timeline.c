// SPDX-License-Identifier: MIT
// report/rkh: the states of active objects over time, as text:
//
//   active object  timeline, 17 ticks a column         states
//   server         ..AAAABBBBBBAAAABBBBAAAAAAAACCCC    A idle, B busy, C paused
//
// Each active object has a strip of letters, in which each column stands for the same time. A dot
// stands for an unknown state. If an object has more states than there are letters, the others are
// an asterisk.
#include "report/rkh/rkh_report.h"
#include <stdio.h>

enum { MAX_COLUMNS = 60, LETTERS = 52 };

static const char letters[LETTERS + 1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

struct scale {
    uint64_t first_ticks;  // where the strip begins
    uint64_t column_ticks; // the time of one column
    unsigned columns;
};

// The states of an object in the order of their letters.
struct legend {
    uint64_t state[LETTERS];
    unsigned count;
};

// Returns the letter of a state, which is assigned at the first use.
static char letter_of(struct legend *legend, const struct rkh_timeline_entry *entry)
{
    unsigned i = 0;

    if (!entry->is_known)
        return '.';
    while (i < legend->count && legend->state[i] != entry->state)
        i++;
    if (i == LETTERS)
        return '*';
    if (i == legend->count)
        legend->state[legend->count++] = entry->state;
    return letters[i];
}

// Draws the strip of an object. If its state changes several times within a column, the column
// shows the last state.
static void draw_strip(char strip[static MAX_COLUMNS], const struct scale *scale,
                       struct legend *legend, const struct rkh_timeline_entry *entries,
                       size_t count)
{
    unsigned drawn = 0;
    char letter = '.';

    for (size_t i = 0; i < count; i++) {
        uint64_t since =
            entries[i].ticks > scale->first_ticks ? entries[i].ticks - scale->first_ticks : 0;
        uint64_t column = since / scale->column_ticks;
        while (drawn < column && drawn < scale->columns)
            strip[drawn++] = letter;
        letter = letter_of(legend, &entries[i]);
    }
    while (drawn < scale->columns)
        strip[drawn++] = letter;
}

// Writes the row of an object: its name, its strip, and the states that the letters stand for.
static void put_row(struct rkh_report *report, struct text_table *table, const struct scale *scale,
                    const struct rkh_timeline_entry *entries, size_t count)
{
    const struct rkh_object *object =
        rkh_table_row(&report->analysis->objects, entries->object_index);
    struct legend legend = {.count = 0};
    char strip[MAX_COLUMNS];

    draw_strip(strip, scale, &legend, entries, count);
    report->names.seq = object->seq;
    value_names_put(&report->names, EXTRACT_KIND_OBJECT, object->address, &table->cells);
    text_table_end_cell(table);
    extract_text_put(&table->cells, strip, scale->columns);
    text_table_end_cell(table);
    for (unsigned i = 0; i < legend.count; i++) {
        extract_text_printf(&table->cells, "%s%c ", i ? ", " : "", letters[i]);
        value_names_put(&report->names, EXTRACT_KIND_OBJECT, legend.state[i], &table->cells);
    }
    text_table_end_cell(table);
}

// Returns a scale that begins at the first event of the view's range and covers the whole time and
// all changes of state.
static struct scale choose_scale(const struct rkh_analysis *analysis)
{
    uint64_t span = analysis->now.span;

    for (size_t i = 0; i < analysis->timeline_count; i++) {
        uint64_t ticks = analysis->timeline[i].ticks;
        uint64_t since = ticks > analysis->first_ticks ? ticks - analysis->first_ticks : 0;
        span = since > span ? since : span;
    }
    uint64_t column_ticks = span / MAX_COLUMNS + 1;
    return (struct scale){analysis->first_ticks, column_ticks, (unsigned)(span / column_ticks) + 1};
}

void rkh_put_timeline(struct rkh_report *report)
{
    const struct rkh_analysis *analysis = report->analysis;
    const struct rkh_timeline_entry *timeline = analysis->timeline;
    struct text_table table;
    char heading[64];
    size_t end;

    if (!analysis->has_times || !analysis->timeline_count)
        return;
    const struct scale scale = choose_scale(analysis);
    snprintf(heading, sizeof heading, "timeline, %llu ticks a column",
             (unsigned long long)scale.column_ticks);
    text_table_open(&table, 3, 0);
    text_table_put_string(&table, "active object");
    text_table_put_string(&table, heading);
    text_table_put_string(&table, "states");
    for (size_t i = 0; i < analysis->timeline_count && !table.cells.code; i = end) {
        end = i + 1;
        while (end < analysis->timeline_count &&
               timeline[end].object_index == timeline[i].object_index)
            end++;
        if (rkh_object_is_timed(analysis,
                                rkh_table_row(&analysis->objects, timeline[i].object_index)))
            put_row(report, &table, &scale, &timeline[i], end - i);
    }
    extract_text_putc(report->text, '\n');
    text_table_print(&table, report->text, report->options);
}
