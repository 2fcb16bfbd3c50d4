// SPDX-License-Identifier: MIT
// report: tables as text. Each column is as wide as its widest cell.
//
// Cells come row by row, from left to right; the first row holds the headings. The table keeps all
// cells until it is printed, since a late cell may widen its column. A caller adds a cell with
// text_table_put_string or text_table_put_number, or writes to `cells` and ends the cell.
#ifndef EXTRACT_REPORT_TEXT_TABLE_H
#define EXTRACT_REPORT_TEXT_TABLE_H

#include <extract/report.h>

enum { TEXT_TABLE_MAX_COLUMNS = 16 };

struct text_table {
    struct extract_text cells; // each NUL-terminated; owned until the table is printed
    unsigned columns;          // number of columns, at most TEXT_TABLE_MAX_COLUMNS
    unsigned right_aligned;    // bit mask: bit I is set if column I is aligned to the right
    unsigned width[TEXT_TABLE_MAX_COLUMNS]; // in characters
    size_t cell_start;                      // offset of the open cell in `cells`
    size_t cell_count;                      // number of finished cells
};

void text_table_open(struct text_table *table, unsigned columns, unsigned right_aligned);
// Ends the cell that the caller wrote to table->cells.
void text_table_end_cell(struct text_table *table);
// Adds one cell. Strings are escaped.
void text_table_put_string(struct text_table *table, const char *string);
void text_table_put_number(struct text_table *table, uint64_t value);
// Adds a number, or "-" unless it is known.
void text_table_put_optional(struct text_table *table, bool is_known, uint64_t value);
// Adds a row of headings, one for each column.
void text_table_put_headings(struct text_table *table, const char *const *headings);
// Prints the rows to `text` and frees the table. `options` decide on headings and color. Errors of
// the cells become errors of the text.
void text_table_print(struct text_table *table, struct extract_text *text,
                      const struct extract_report_options *options);

// Writes `part` of `whole` as a percentage with three decimals, cut and not rounded: "49.823".
// Writes "0.000" if `whole` is 0.
void text_put_percent(struct extract_text *text, uint64_t part, uint64_t whole);

// Writes a blank and the id of an event whose type stands for a range of ids.
void text_put_type_number(struct extract_text *text, const struct extract_event_type *type,
                          uint32_t id);

// Writes a time: in seconds, ms, us or ns, or in ticks if `hz`, the ticks per second, is 0.
void text_put_time(struct extract_text *text, uint64_t ticks, uint64_t hz);

#endif
