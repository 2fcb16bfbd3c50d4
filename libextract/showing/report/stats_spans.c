// SPDX-License-Identifier: MIT
// report: spans (extract/span.h) as a part of the statistics: a table with notes on what could not
// be measured or is not certain, or a member of the JSON object.
#include "report/report_room.h"
#include "report/text_table.h"

// Writes the mean, rounded to whole ticks.
static uint64_t mean_of(const struct extract_distribution *d)
{
    return d->count ? (d->sum + d->count / 2) / d->count : 0;
}

static void put_table(struct extract_text *text, const struct extract_stats *stats,
                      const struct extract_report_options *options)
{
    static const char *const headings[] = {"span",    "count", "min",    "median",
                                           "p99",     "max",   "mean",   "shape",
                                           "percent", "open",  "no end", "no begin"};
    enum { SHAPE = 7 };
    struct text_table table;

    text_table_open(&table, sizeof headings / sizeof *headings, ~(1u | 1u << SHAPE));
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < extract_spans_count(options->spans); i++) {
        const struct extract_span_stats *span = extract_spans_get(options->spans, i);
        const struct extract_distribution *d = &span->duration;
        const uint64_t values[] = {d->min, d->median, d->p99, d->max, mean_of(d)};
        text_table_put_string(&table, span->name);
        text_table_put_number(&table, d->count);
        for (size_t k = 0; k < sizeof values / sizeof *values; k++)
            text_table_put_optional(&table, d->count, values[k]);
        stats_put_shape_cell(&table, d);
        text_put_percent(&table.cells, d->sum, stats->span_ticks);
        text_table_end_cell(&table);
        text_table_put_number(&table, span->open);
        text_table_put_number(&table, span->without_end);
        text_table_put_number(&table, span->without_begin);
    }
    text_table_print(&table, text, options);
}

// Writes what a reader must know to trust the figures.
static void put_notes(struct extract_text *text, const struct extract_span_stats *span)
{
    if (span->likely)
        extract_text_printf(text,
                            "%s: %llu of %llu are likely, not certain: begin and end are not known "
                            "to be of the same thread; add 'by FIELD'\n",
                            span->name, (unsigned long long)span->likely,
                            (unsigned long long)span->duration.count);
    if (span->untimed)
        extract_text_printf(text, "%s: %llu were not measured: their times are not known\n",
                            span->name, (unsigned long long)span->untimed);
    if (span->dropped)
        extract_text_printf(text,
                            "%s: %llu were dropped: more than %d were open at the same time\n",
                            span->name, (unsigned long long)span->dropped, EXTRACT_SPANS_OPEN);
}

void stats_put_spans(struct extract_text *text, const struct extract_stats *stats,
                     const struct extract_report_options *options)
{
    size_t count = options->spans ? extract_spans_count(options->spans) : 0;

    if (!count)
        return;
    extract_text_putc(text, '\n');
    put_table(text, stats, options);
    for (size_t i = 0; i < count; i++)
        put_notes(text, extract_spans_get(options->spans, i));
}

void stats_put_spans_json(struct kv_writer *kv, const struct extract_stats *stats,
                          const struct extract_spans *spans)
{
    struct extract_text *text = kv->text;

    kv_put_key(kv, "spans");
    extract_text_putc(text, '[');
    for (size_t i = 0; i < extract_spans_count(spans) && !text->code; i++) {
        const struct extract_span_stats *span = extract_spans_get(spans, i);
        const struct extract_distribution *d = &span->duration;
        bool is_known = d->count != 0;
        extract_text_puts(text, i ? "," : "");
        struct kv_writer object = kv_open_object(text);
        kv_put_string(&object, "name", span->name);
        kv_put_number(&object, "count", d->count);
        kv_put_optional(&object, "min", is_known, d->min);
        kv_put_optional(&object, "median", is_known, d->median);
        kv_put_optional(&object, "p99", is_known, d->p99);
        kv_put_optional(&object, "max", is_known, d->max);
        kv_put_optional(&object, "mean", is_known, mean_of(d));
        kv_put_optional(&object, "sum", is_known, d->sum);
        kv_put_bool(&object, "exact", d->is_exact || !is_known);
        kv_put_key(&object, "percent");
        text_put_percent(text, d->sum, stats->span_ticks);
        kv_put_number(&object, "open", span->open);
        kv_put_number(&object, "without end", span->without_end);
        kv_put_number(&object, "without begin", span->without_begin);
        kv_put_number(&object, "likely", span->likely);
        kv_put_number(&object, "untimed", span->untimed);
        kv_put_number(&object, "dropped", span->dropped);
        kv_close_object(&object);
    }
    extract_text_putc(text, ']');
}
