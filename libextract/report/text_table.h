// SPDX-License-Identifier: MIT
// report: the two forms of what is not an event: facts ("key: value" lines, or the members of one
// JSON object) and sheets (columns of text).
#ifndef EXTRACT_REPORT_SHEET_H
#define EXTRACT_REPORT_SHEET_H

#include <extract/report.h>

// Facts under way. One list of calls gives both forms: a key "timer mask" is "timer_mask" in JSON.
struct facts {
    struct extract_text *text;
    bool json;
    bool first;
};

void facts_open(struct facts *facts, struct extract_text *text, bool json);
void facts_key(struct facts *facts, const char *key);
void facts_number(struct facts *facts, const char *key, uint64_t value);
void facts_hex(struct facts *facts, const char *key, uint64_t value); // a number in JSON
void facts_bool(struct facts *facts, const char *key, bool value);
void facts_word(struct facts *facts, const char *key, const char *word);
void facts_unknown(struct facts *facts, const char *key); // null in JSON
// " (…)" behind the value, in text only.
void facts_note(struct facts *facts, const char *format, ...) __attribute__((format(printf, 2, 3)));
void facts_close(struct facts *facts);

// " (0.000001234 s)" behind a number of ticks, in text only and only with hz.
void facts_seconds(struct facts *facts, uint64_t ticks, uint64_t hz);

// What is known of an RKH stream (rkh.c).
void facts_rkh(struct facts *facts, const struct extract_rkh *rkh);
// Which enumeration of the ELF names signals.
void facts_signals(struct facts *facts, const struct extract_signals *signals);
// Its runs; in text only where there are several.
void facts_runs(struct facts *facts, const struct extract_trace *trace,
                const struct extract_report_options *options);

// What is known of a POSIX trace stream (posix.c).
void facts_posix(struct facts *facts, const struct extract_snapshot *snapshot);

// " (2026-01-31T12:00:00Z)" behind nanoseconds since 1970, in text only.
void facts_date(struct facts *facts, uint64_t nanoseconds);

enum { SHEET_COLUMNS = 12 };

// A table whose columns are as wide as its cells ask for. A cell is written to `cells`, then
// closed; the first row holds the heads.
struct text_table {
    struct extract_text cells;
    unsigned columns;
    unsigned right; // bit a column: aligned to the right
    unsigned width[SHEET_COLUMNS];
    size_t start; // of the open cell
    size_t count; // of closed cells
};

void text_table_open(struct text_table *table, unsigned columns, unsigned right);
void text_table_close_cell(struct text_table *table);
void text_table_cell(struct text_table *table, const char *string); // escaped
void text_table_number(struct text_table *table, uint64_t value);
// "49.823": the share of a whole, in percent.
void text_table_put_percent(struct extract_text *text, uint64_t part, uint64_t whole);
// Writes the rows to `text` and frees the sheet.
void text_table_print(struct text_table *table, struct extract_text *text,
                      const struct extract_report_options *options);

// stats.c: how often each event came.
void stats_put_services(struct extract_text *text, const struct extract_stats *stats,
                        const struct extract_report_options *options);
// " (…)" behind a time, in text only: it is that of more events than are counted.
void stats_note_stretch(struct facts *facts, const struct extract_stats *stats);
void stats_put_services_json(struct facts *facts, const struct extract_stats *stats);

#endif
