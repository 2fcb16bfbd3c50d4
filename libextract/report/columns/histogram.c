// SPDX-License-Identifier: MIT
// report/columns: how often each hook id occurs (trcrpt -O hist). In: the events of a view. Out: a
// table, the most frequent first, and their sum.
#include "report/columns/columns.h"
#include "formats/format.h"
#include "report/sheet.h"
#include <inttypes.h>

enum { COUNT, PERCENT, ID, LABEL, COLUMNS };

// A type that stands for many ids is told from its siblings by the number, as in the report.
static void put_label(struct sheet *sheet, const struct extract_service_stats *service,
                      const struct extract_template *chosen)
{
    extract_text_escaped(&sheet->cells, chosen ? chosen->label : service->type->name);
    if (!chosen && service->type->range)
        extract_text_printf(&sheet->cells, " %u", service->id);
    sheet_close_cell(sheet);
}

static void put_row(struct sheet *sheet, const struct extract_service_stats *service,
                    uint64_t events, const struct adaptor *adaptor)
{
    const struct extract_event event = {.id = service->id, .type = service->type};
    const struct extract_template *chosen = adaptor_find(adaptor, &event);
    char id[ADAPTOR_ID];

    sheet_number(sheet, service->count);
    sheet_put_percent(&sheet->cells, service->count, events);
    sheet_close_cell(sheet);
    adaptor_id(adaptor, &event, id);
    sheet_cell(sheet, id);
    put_label(sheet, service, chosen);
}

enum extract_code columns_histogram(struct extract_text *text, const struct extract_view *view,
                                    const struct extract_trace *trace,
                                    const struct extract_report_options *options,
                                    struct adaptor *adaptor, struct extract_report_outcome *outcome)
{
    static const char *const heads[COLUMNS] = {"COUNT", "PERCENT", "ID", "LABEL"};
    struct extract_stats *stats;
    struct sheet sheet;
    enum extract_code code = extract_stats_new(&stats, view, trace, NULL);

    if (code)
        return text->code = code;
    sheet_open(&sheet, COLUMNS, 1 << COUNT | 1 << PERCENT);
    for (unsigned i = 0; i < COLUMNS; i++)
        sheet_cell(&sheet, heads[i]);
    for (size_t i = 0; i < stats->service_count && !sheet.cells.code; i++)
        put_row(&sheet, &stats->services[i], stats->events, adaptor);
    sheet_print(&sheet, text, options);
    extract_text_printf(text, "%" PRIu64 " event%s\n", stats->events,
                        stats->events == 1 ? "" : "s");
    outcome->shown = stats->events;
    extract_stats_free(stats);
    return text->code;
}
