// SPDX-License-Identifier: MIT
// report/columns: what the events of a report ask of its columns. In: the first events of a view;
// of those behind them, what the trace knows of all. Out: struct layout_needs.
#include "report/columns/columns.h"

enum { MAX_SURVEY = 65536 }; // events that are looked at before any is printed

struct survey {
    struct entry_builder *builder;
    const struct extract_columns *columns;
    struct layout_needs *needs;
    uint32_t left;                    // events that are still to be looked at
    uint64_t thread, registry, ticks; // of the event before
    uint8_t context;
    bool started;
};

static void widen(unsigned *width, unsigned columns)
{
    *width = *width < columns ? columns : *width;
}

static unsigned priority_columns(const struct extract_event *event)
{
    unsigned columns = report_has_priority(event) ? text_writer_digits(event->priority) : 1;
    if (report_has_threshold(event) && event->threshold != event->priority)
        columns += 1 + text_writer_digits(event->threshold);
    return columns;
}

static void look_at_time(struct survey *survey, uint64_t ticks)
{
    struct layout_needs *needs = survey->needs;
    uint64_t last = survey->started ? survey->ticks : ticks;
    uint64_t delta = ticks < last ? last - ticks : ticks - last;
    needs->ticks = ticks > needs->ticks ? ticks : needs->ticks;
    needs->delta = delta > needs->delta ? delta : needs->delta;
    survey->ticks = ticks;
}

// The name of whoever made the event in front is known.
static void look_at_maker(struct survey *survey, const struct extract_event *event)
{
    uint64_t registry = extract_trace_registry(survey->builder->trace, event->seq);
    bool known = survey->started && event->thread == survey->thread &&
                 event->context == survey->context && registry == survey->registry;
    if (!known)
        widen(&survey->needs->exec, entry_builder_who(survey->builder, event).columns);
    survey->thread = event->thread;
    survey->registry = registry;
    survey->context = event->context;
}

static bool look_at(void *context, const struct extract_event *events, size_t count)
{
    struct survey *survey = context;
    struct layout_needs *needs = survey->needs;

    for (size_t i = 0; i < count; i++) {
        look_at_time(survey, events[i].ticks);
        if (survey->columns->exec)
            look_at_maker(survey, &events[i]);
        if (survey->columns->prio)
            widen(&needs->prio, priority_columns(&events[i]));
        survey->started = true;
    }
    widen(&needs->seq, text_writer_digits(events[count - 1].seq));
    survey->left -= count < survey->left ? (uint32_t)count : survey->left;
    return survey->left && !survey->builder->failed;
}

// What events beyond those that were looked at can need: every thread is there, and all time.
static void assume_all(struct layout_needs *needs, const struct extract_trace *trace)
{
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_object *objects;
    size_t count = extract_trace_objects(trace, &objects);
    needs->ticks = needs->ticks > info->span_ticks ? needs->ticks : info->span_ticks;
    widen(&needs->seq, text_writer_digits(info->entries_total));
    for (size_t i = 0; i < count; i++)
        if (extract_object_is_thread(&objects[i]))
            widen(&needs->exec, objects[i].shown_columns);
}

void layout_find_widths(struct layout_needs *needs, const struct extract_columns *columns,
                        const struct extract_view *view, struct entry_builder *builder)
{
    const struct extract_info *info = extract_trace_info(builder->trace);
    unsigned bytes = info->word_bytes;
    struct survey survey = {
        .builder = builder, .columns = columns, .needs = needs, .left = MAX_SURVEY};
    struct extract_sink sink = {.events = look_at, .context = &survey};

    *needs = (struct layout_needs){.pid = columns->compat ? bytes * 5 / 2 : 2 + 2 * bytes};
    needs->tid = needs->pid;
    needs->cores = info->cores > 1;
    extract_view_run(view, &sink);
    if (!survey.left)
        assume_all(needs, builder->trace);
}
