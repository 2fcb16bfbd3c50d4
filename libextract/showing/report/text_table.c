// SPDX-License-Identifier: MIT
// report: tables as text. Collects the cells of all rows, then prints them in aligned columns with
// two blanks between them.
#include "report/text_table.h"
#include <string.h>

void text_table_open(struct text_table *table, unsigned columns, unsigned right_aligned)
{
    memset(table, 0, sizeof *table);
    extract_text_init(&table->cells, NULL, NULL);
    table->columns = columns;
    table->right_aligned = right_aligned;
}

void text_table_end_cell(struct text_table *table)
{
    unsigned *width = &table->width[table->cell_count % table->columns];

    extract_text_putc(&table->cells, 0);
    if (table->cells.code)
        return;
    size_t columns = extract_text_columns(table->cells.data + table->cell_start);
    if (*width < columns)
        *width = (unsigned)columns;
    table->cell_start = table->cells.used;
    table->cell_count++;
}

void text_table_put_string(struct text_table *table, const char *string)
{
    extract_text_escaped(&table->cells, string);
    text_table_end_cell(table);
}

void text_table_put_number(struct text_table *table, uint64_t value)
{
    extract_text_dec(&table->cells, value);
    text_table_end_cell(table);
}

void text_table_put_optional(struct text_table *table, bool is_known, uint64_t value)
{
    if (is_known)
        text_table_put_number(table, value);
    else
        text_table_put_string(table, "-");
}

void text_table_put_headings(struct text_table *table, const char *const *headings)
{
    for (unsigned i = 0; i < table->columns; i++)
        text_table_put_string(table, headings[i]);
}

// Prints one row and returns the first cell of the next. Blanks are written only before a cell that
// has text, so that no line ends in blanks.
static const char *print_row(const struct text_table *table, const char *cell,
                             struct extract_text *text)
{
    size_t blanks = 0;

    for (unsigned i = 0; i < table->columns; i++) {
        size_t padding = table->width[i] - extract_text_columns(cell);
        bool is_right = table->right_aligned >> i & 1;
        blanks += is_right ? padding : 0;
        if (*cell) {
            extract_text_pad(text, ' ', blanks);
            extract_text_puts(text, cell);
            blanks = 0;
        }
        blanks += (is_right ? 0 : padding) + 2;
        cell += strlen(cell) + 1;
    }
    return cell;
}

void text_table_print(struct text_table *table, struct extract_text *text,
                      const struct extract_report_options *options)
{
    const char *row = table->cells.data;
    size_t rows = table->cell_count / table->columns;

    if (table->cells.code)
        text->code = table->cells.code;
    for (size_t i = 0; i < rows && !text->code; i++) {
        bool is_bold = i == 0 && options->color;
        if (i == 0 && options->no_header) {
            for (unsigned k = 0; k < table->columns; k++)
                row += strlen(row) + 1;
            continue;
        }
        extract_text_puts(text, is_bold ? "\x1b[1m" : "");
        row = print_row(table, row, text);
        extract_text_puts(text, is_bold ? "\x1b[0m\n" : "\n");
    }
    extract_text_free(&table->cells);
}

void text_put_percent(struct extract_text *text, uint64_t part, uint64_t whole)
{
    uint64_t thousandths = whole ? (uint64_t)((unsigned __int128)part * 100000 / whole) : 0;

    extract_text_printf(text, "%llu.%03u", (unsigned long long)(thousandths / 1000),
                        (unsigned)(thousandths % 1000));
}

void text_put_time(struct extract_text *text, uint64_t ticks, uint64_t hz)
{
    static const struct {
        double at_least;
        const char *unit;
        double factor;
    } units[] = {{1, "s", 1}, {1e-3, "ms", 1e3}, {1e-6, "us", 1e6}, {0, "ns", 1e9}};
    double seconds = hz ? (double)ticks / (double)hz : 0;
    size_t i = 0;

    if (!hz) {
        extract_text_printf(text, "%llu ticks", (unsigned long long)ticks);
        return;
    }
    while (seconds < units[i].at_least)
        i++;
    extract_text_printf(text, "%.1f %s", seconds * units[i].factor, units[i].unit);
}

void text_put_type_number(struct extract_text *text, const struct extract_event_type *type,
                          uint32_t id)
{
    char number[12];

    extract_event_type_number(type, id, number);
    extract_text_printf(text, " %s", number);
}
