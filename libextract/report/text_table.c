// SPDX-License-Identifier: MIT
// report: facts and sheets. In: keys, values and cells. Out: lines of text, or JSON (RFC 8259).
#include "report/text_table.h"
#include "base/text_writer.h"
#include <stdarg.h>
#include <stdio.h>
#include <time.h>

void facts_open(struct facts *facts, struct extract_text *text, bool json)
{
    *facts = (struct facts){text, json, true};
    if (json)
        extract_text_putc(text, '{');
}

void facts_key(struct facts *facts, const char *key)
{
    struct extract_text *text = facts->text;
    if (!facts->first)
        extract_text_putc(text, facts->json ? ',' : '\n');
    facts->first = false;
    if (!facts->json) {
        extract_text_printf(text, "%s: ", key);
        return;
    }
    extract_text_putc(text, '"');
    for (; *key; key++)
        extract_text_putc(text, *key == ' ' ? '_' : *key);
    extract_text_puts(text, "\":");
}

void facts_number(struct facts *facts, const char *key, uint64_t value)
{
    facts_key(facts, key);
    extract_text_dec(facts->text, value);
}

void facts_hex(struct facts *facts, const char *key, uint64_t value)
{
    facts_key(facts, key);
    if (facts->json)
        extract_text_dec(facts->text, value);
    else
        extract_text_hex(facts->text, value, 8);
}

void facts_bool(struct facts *facts, const char *key, bool value)
{
    facts_key(facts, key);
    if (facts->json)
        extract_text_puts(facts->text, value ? "true" : "false");
    else
        extract_text_puts(facts->text, value ? "yes" : "no");
}

void facts_word(struct facts *facts, const char *key, const char *word)
{
    facts_key(facts, key);
    if (facts->json)
        extract_text_json(facts->text, word);
    else
        extract_text_escaped(facts->text, word);
}

void facts_unknown(struct facts *facts, const char *key)
{
    facts_key(facts, key);
    extract_text_puts(facts->text, facts->json ? "null" : "unknown");
}

void facts_note(struct facts *facts, const char *format, ...)
{
    char note[160];
    va_list args;
    if (facts->json)
        return;
    va_start(args, format);
    vsnprintf(note, sizeof note, format, args);
    va_end(args);
    extract_text_printf(facts->text, " (%s)", note);
}

void facts_seconds(struct facts *facts, uint64_t ticks, uint64_t hz)
{
    if (!hz)
        return;
    struct text_writer_seconds s = text_writer_split(ticks, hz);
    facts_note(facts, "%llu.%09u s", (unsigned long long)s.whole, s.nano);
}

void facts_date(struct facts *facts, uint64_t nanoseconds)
{
    char date[32];
    time_t seconds = (time_t)(nanoseconds / PEN_NANO);
    struct tm utc;
    if (gmtime_r(&seconds, &utc) && strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", &utc))
        facts_note(facts, "%s", date);
}

void facts_close(struct facts *facts)
{
    extract_text_puts(facts->text, facts->json ? "}\n" : "\n");
}

void text_table_open(struct text_table *table, unsigned columns, unsigned right)
{
    memset(table, 0, sizeof *table);
    extract_text_init(&table->cells, NULL, NULL);
    table->columns = columns;
    table->right = right;
}

void text_table_close_cell(struct text_table *table)
{
    unsigned *width = &table->width[table->count % table->columns];
    extract_text_putc(&table->cells, 0);
    if (table->cells.code)
        return;
    size_t columns = extract_text_columns(table->cells.data + table->start);
    if (*width < columns)
        *width = (unsigned)columns;
    table->start = table->cells.used;
    table->count++;
}

void text_table_cell(struct text_table *table, const char *string)
{
    extract_text_escaped(&table->cells, string);
    text_table_close_cell(table);
}

void text_table_number(struct text_table *table, uint64_t value)
{
    extract_text_dec(&table->cells, value);
    text_table_close_cell(table);
}

void text_table_put_percent(struct extract_text *text, uint64_t part, uint64_t whole)
{
    uint64_t thousandths = whole ? (uint64_t)((unsigned __int128)part * 100000 / whole) : 0;
    extract_text_printf(text, "%llu.%03u", (unsigned long long)(thousandths / 1000),
                        (unsigned)(thousandths % 1000));
}

static const char *row_behind(const struct text_table *table, const char *cell)
{
    for (unsigned i = 0; i < table->columns; i++)
        cell += strlen(cell) + 1;
    return cell;
}

// Prints one row; blanks stand between cells only, so that no line ends in them.
static void print_row(const struct text_table *table, const char *cell, struct extract_text *text)
{
    size_t owed = 0;
    for (unsigned i = 0; i < table->columns; i++) {
        size_t pad = table->width[i] - extract_text_columns(cell);
        bool right = table->right >> i & 1;
        owed += right ? pad : 0;
        if (*cell) {
            extract_text_pad(text, ' ', owed);
            extract_text_puts(text, cell);
            owed = 0;
        }
        owed += (right ? 0 : pad) + 2;
        cell += strlen(cell) + 1;
    }
}

void text_table_print(struct text_table *table, struct extract_text *text,
                      const struct extract_report_options *options)
{
    const char *row = table->cells.data;
    size_t rows = table->count / table->columns;
    if (table->cells.code)
        text->code = table->cells.code;
    for (size_t i = 0; i < rows && !text->code; i++, row = row_behind(table, row)) {
        bool bold = i == 0 && options->color;
        if (i == 0 && options->no_header)
            continue;
        extract_text_puts(text, bold ? "\x1b[1m" : "");
        print_row(table, row, text);
        extract_text_puts(text, bold ? "\x1b[0m\n" : "\n");
    }
    extract_text_free(&table->cells);
}
