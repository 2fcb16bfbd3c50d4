// SPDX-License-Identifier: MIT
// report/rkh: the states of active objects over time. In: the turns of a study. Out: a strip of
// letters for each active object, and which state each letter stands for.
#include "report/rkh/rkh_report.h"
#include <stdio.h>

enum { STRIP = 60, LETTERS = 52 };

static const char letters[LETTERS + 1] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

// A column is so many ticks long, and the strip so many columns.
struct scale {
    uint64_t first, length;
    unsigned columns;
};

// The states that letters stand for.
struct legend {
    uint64_t state[LETTERS];
    unsigned count;
};

static char letter_of(struct legend *legend, const struct rkh_turn *turn)
{
    unsigned i = 0;
    if (!turn->known)
        return '.';
    while (i < legend->count && legend->state[i] != turn->state)
        i++;
    if (i == LETTERS)
        return '*';
    if (i == legend->count)
        legend->state[legend->count++] = turn->state;
    return letters[i];
}

// Of several turns in a column the last one shows.
static void draw(char strip[static STRIP], const struct scale *scale, struct legend *legend,
                 const struct rkh_turn *turns, size_t count)
{
    unsigned at = 0;
    char letter = '.';
    for (size_t i = 0; i < count; i++) {
        uint64_t since = turns[i].ticks > scale->first ? turns[i].ticks - scale->first : 0;
        uint64_t column = since / scale->length;
        while (at < column && at < scale->columns)
            strip[at++] = letter;
        letter = letter_of(legend, &turns[i]);
    }
    while (at < scale->columns)
        strip[at++] = letter;
}

static void put_row(struct rkh_figures *figures, struct text_table *table,
                    const struct scale *scale, const struct rkh_turn *turns, size_t count)
{
    const struct rkh_object *object = rkh_table_row(&figures->study->objects, turns->of);
    struct legend legend = {.count = 0};
    char strip[STRIP];
    draw(strip, scale, &legend, turns, count);
    figures->naming.seq = object->seq;
    value_names_put(&figures->naming, EXTRACT_KIND_OBJECT, object->address, &table->cells);
    text_table_close_cell(table);
    extract_text_put(&table->cells, strip, scale->columns);
    text_table_close_cell(table);
    for (unsigned i = 0; i < legend.count; i++) {
        extract_text_printf(&table->cells, "%s%c ", i ? ", " : "", letters[i]);
        value_names_put(&figures->naming, EXTRACT_KIND_OBJECT, legend.state[i], &table->cells);
    }
    text_table_close_cell(table);
}

// From the first event of the stretch on, as long as its time goes, and as its turns do.
static struct scale scale_of(const struct rkh_analysis *study)
{
    uint64_t span = study->now.span;
    for (size_t i = 0; i < study->turn_count; i++) {
        uint64_t ticks = study->turns[i].ticks;
        uint64_t since = ticks > study->first ? ticks - study->first : 0;
        span = since > span ? since : span;
    }
    uint64_t length = span / STRIP + 1;
    return (struct scale){study->first, length, (unsigned)(span / length) + 1};
}

void rkh_put_timeline(struct rkh_figures *figures)
{
    const struct rkh_analysis *study = figures->study;
    struct text_table table;
    char head[64];
    size_t next;
    if (!study->timed || !study->turn_count)
        return;
    struct scale scale = scale_of(study);
    snprintf(head, sizeof head, "timeline, %llu ticks a column", (unsigned long long)scale.length);
    text_table_open(&table, 3, 0);
    text_table_cell(&table, "active object");
    text_table_cell(&table, head);
    text_table_cell(&table, "states");
    for (size_t i = 0; i < study->turn_count && !table.cells.code; i = next) {
        for (next = i + 1; next < study->turn_count && study->turns[next].of == study->turns[i].of;)
            next++;
        if (rkh_object_is_timed(study, rkh_table_row(&study->objects, study->turns[i].of)))
            put_row(figures, &table, &scale, &study->turns[i], next - i);
    }
    extract_text_putc(figures->text, '\n');
    text_table_print(&table, figures->text, figures->options);
}
