// SPDX-License-Identifier: MIT
// analysis: the figures of libraries on the kernel (formats/figures.h). In: events that are
// counted. Out: a list of figures, of those families only that have an event.
#include "analysis/analysis_room.h"
#include <stdlib.h>
#include <string.h>

static const struct extract_figure *table_of(const struct analysis *analysis)
{
    const struct extract_scheduler *kernel = analysis->format->kernel;

    return kernel ? kernel->figures : NULL;
}

bool figures_begin(struct analysis *analysis)
{
    const struct extract_figure *table = table_of(analysis);
    struct extract_stats *stats = analysis->stats;
    size_t count = 0;

    while (table && table[count].family && count < MAX_FIGURES)
        count++;
    stats->figures = calloc(count + 1, sizeof *stats->figures);
    if (!stats->figures)
        return false;
    for (; stats->figure_count < count; stats->figure_count++) {
        const struct extract_figure *figure = &table[stats->figure_count];
        stats->figures[stats->figure_count] = (struct extract_figure_stats){
            .family = figure->family, .group = figure->group, .name = figure->name};
        analysis->figure_ids[figure->id % FIGURE_IDS] = true;
        if (figure->other_id)
            analysis->figure_ids[figure->other_id % FIGURE_IDS] = true;
    }
    return true;
}

static bool is_counted(const struct extract_figure *figure, const struct extract_event *event)
{
    if (event->id != figure->id && (!figure->other_id || event->id != figure->other_id))
        return false;
    if (!figure->when)
        return true;
    bool is_value = (event->field[figure->when - 1] & figure->mask) == figure->value;
    return is_value != figure->is_not;
}

void figures_add_event(struct analysis *analysis, const struct extract_event *event)
{
    const struct extract_figure *table = table_of(analysis);

    for (size_t i = 0; i < analysis->stats->figure_count; i++) {
        if (!is_counted(&table[i], event))
            continue;
        analysis->has_figures[i] = true;
        analysis->stats->figures[i].value += table[i].field ? event->field[table[i].field - 1] : 1;
    }
}

// Returns whether any figure of a family has an event.
static bool has_family(const struct analysis *analysis, const char *family)
{
    for (size_t i = 0; i < analysis->stats->figure_count; i++)
        if (analysis->has_figures[i] && strcmp(table_of(analysis)[i].family, family) == 0)
            return true;
    return false;
}

void figures_end(struct analysis *analysis)
{
    struct extract_stats *stats = analysis->stats;
    size_t count = stats->figure_count, kept = 0;

    for (size_t i = 0; i < count; i++)
        if (has_family(analysis, stats->figures[i].family))
            stats->figures[kept++] = stats->figures[i];
    stats->figure_count = kept;
}
