// SPDX-License-Identifier: MIT
// report/columns: how often each hook id occurs in a view (trcrpt -O hist). Prints a table with the
// most frequent id first, then the total.
#include "report/columns/columns.h"
#include "formats/format.h"
#include "report/text_table.h"
#include <inttypes.h>

enum { COUNT, PERCENT, ID, LABEL, COLUMNS };

static void put_row(struct text_table *table, const struct extract_service_stats *service,
                    uint64_t events, const struct entry_builder *builder)
{
    const struct extract_event event = {.id = service->id, .type = service->type};
    const struct extract_template *chosen = entry_builder_find_template(builder, &event);
    char id[ENTRY_BUILDER_ID_BYTES];

    text_table_put_number(table, service->count);
    text_put_percent(&table->cells, service->count, events);
    text_table_end_cell(table);
    entry_builder_put_id(builder, &event, id);
    text_table_put_string(table, id);
    extract_text_escaped(&table->cells, chosen ? chosen->label : service->type->name);
    if (!chosen && service->type->range) // the type covers many ids, so print the id, too
        text_put_type_number(&table->cells, service->type, service->id);
    text_table_end_cell(table);
}

enum extract_code columns_histogram(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    struct entry_builder *builder,
                                    struct extract_report_outcome *outcome)
{
    static const char *const headings[COLUMNS] = {"COUNT", "PERCENT", "ID", "LABEL"};
    struct extract_stats *stats;
    struct text_table table;
    enum extract_code code = extract_stats_new(&stats, view, trace, NULL);

    if (code)
        return text->code = code;
    text_table_open(&table, COLUMNS, 1 << COUNT | 1 << PERCENT);
    text_table_put_headings(&table, headings);
    for (size_t i = 0; i < stats->service_count && !table.cells.code; i++)
        put_row(&table, &stats->services[i], stats->events, builder);
    text_table_print(&table, text, options);
    extract_text_printf(text, "%" PRIu64 " event%s\n", stats->events,
                        stats->events == 1 ? "" : "s");
    outcome->shown = stats->events;
    extract_stats_free(stats);
    return text->code;
}
