// SPDX-License-Identifier: MIT
// report/rkh: the report. In: a view of an RKH trace. Out: the lines of Trazer.
#include "report/rkh/trazer.h"
#include <stdlib.h>

enum { BATCH = sizeof((struct trazer *)0)->batch / sizeof(struct extract_event) };

static const char loss_line[] = "May be have lost trace info, sequence are not correlatives\n";

static const struct extract_event *next_event(struct trazer *trazer)
{
    if (trazer->at == trazer->got) {
        trazer->got = extract_reader_next(&trazer->reader, trazer->batch, BATCH);
        trazer->at = 0;
    }
    return trazer->at < trazer->got ? &trazer->batch[trazer->at++] : NULL;
}

// Frames that are none, a line each.
static void put_damage(struct trazer *trazer, uint64_t frames)
{
    bool sums = trazer->ring->rkh.value[EXTRACT_RKH_CHK];
    for (uint64_t i = 0; i < frames && !trazer->text->code; i++)
        extract_text_puts(trazer->text, sums ? "Stream Checksum Error\n" : "Stream Frame Error\n");
}

// Trazer knows losses by the numbers of the frames that it takes. So damaged frames, whose numbers
// it does not take, are followed by a line of a loss, too.
static void put_gap(struct trazer *trazer, const struct extract_event *event, bool shown)
{
    struct trazer_numbers *numbers = &trazer->numbers;
    int number = trazer_number(event);
    bool is_gap = number >= 0 && numbers->is_known && number != numbers->expected &&
                  !(numbers->has_begun && !number);
    if (is_gap && !numbers->is_told && (shown || numbers->has_damage))
        extract_text_puts(trazer->text, loss_line);
    bool is_record = event->id == RKH_FWK_TCFG;
    *numbers =
        (struct trazer_numbers){.is_known = number >= 0 || (is_record && numbers->is_known),
                                .has_begun = is_record,
                                .expected = number < 0 ? numbers->expected : (uint8_t)(number + 1)};
}

static void put_mark(struct trazer *trazer, const struct extract_event *mark)
{
    if (mark->id == EXTRACT_ID_LOST) {
        extract_text_puts(trazer->text, loss_line);
        trazer->numbers.is_told = true;
    } else if (mark->id == EXTRACT_ID_BROKEN) {
        put_damage(trazer, mark->field[1]);
        trazer->numbers.has_damage = true;
    }
}

// Takes an event for what it tells of later ones, and shows it when it is asked for.
static bool pass_event(struct trazer *trazer, const struct extract_event *event, bool shown)
{
    struct rkh_post_match derived;
    bool fits = rkh_post_queues_take(&trazer->queues, event, &derived);
    bool is_mark = extract_event_is_mark(event);
    if (fits && !is_mark)
        put_gap(trazer, event, shown);
    if (fits && shown && is_mark)
        put_mark(trazer, event);
    else if (fits && shown)
        trazer_event(trazer, event, &derived);
    trazer->shown += shown;
    if (!fits || !trazer_names_take(&trazer->names, event))
        trazer->text->code = EXTRACT_NOMEM;
    return !trazer->text->code;
}

// Marks have the number of the event behind them; damage has one for each reason.
static bool is_same(const struct extract_event *a, const struct extract_event *b)
{
    return a->seq == b->seq && a->id == b->id &&
           (a->id != EXTRACT_ID_BROKEN || a->field[0] == b->field[0]);
}

static bool print_events(void *context, const struct extract_event *events, size_t count)
{
    struct trazer *trazer = context;
    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event;
        bool shown = false;
        while (!shown && (event = next_event(trazer))) {
            shown = is_same(event, &events[i]);
            if (!pass_event(trazer, event, shown))
                return false;
        }
    }
    return !trazer->go_on || trazer->go_on(trazer->context);
}

static void run(struct trazer *trazer, const struct extract_view *view)
{
    struct extract_sink sink = {.events = print_events, .context = trazer};
    const struct extract_event *event;
    extract_view_run(view, &sink);
    // Of a stream that goes on, what is known later comes from all in front, too.
    bool whole = !trazer->text->code && (!trazer->go_on || trazer->go_on(trazer->context));
    while (whole && (event = next_event(trazer)) && pass_event(trazer, event, false))
        ;
}

static void close_trazer(struct trazer *trazer)
{
    if (!trazer)
        return;
    trazer_names_free(&trazer->names);
    rkh_post_queues_free(&trazer->queues);
    extract_text_free(&trazer->scratch);
    free(trazer);
}

static struct trazer *open_trazer(void)
{
    struct trazer *trazer = calloc(1, sizeof *trazer);
    if (!trazer)
        return NULL;
    extract_text_init(&trazer->scratch, NULL, NULL);
    bool names = trazer_names_init(&trazer->names), queues = rkh_post_queues_init(&trazer->queues);
    if (names && queues)
        return trazer;
    close_trazer(trazer);
    return NULL;
}

static void begin(struct trazer *trazer, struct extract_text *text,
                  const struct extract_trace *trace, const struct extract_report_options *options)
{
    trazer->text = text;
    trazer->trace = trace;
    trazer->ring = &extract_trace_snapshot(trace)->ring;
    trazer->go_on = options->go_on;
    trazer->context = options->context;
    trazer->at = trazer->got = 0;
    trazer->shown = 0;
    extract_reader_init(&trazer->reader, trace);
}

void extract_report_part_free(struct extract_report_part *part)
{
    close_trazer(part->trazer);
    *part = (struct extract_report_part){0};
}

enum extract_code trazer_report(struct extract_text *text, const struct extract_view *view,
                                const struct extract_trace *trace,
                                const struct extract_report_options *options,
                                struct extract_report_outcome *outcome)
{
    struct extract_report_part whole = {0}, *part = options->part ? options->part : &whole;
    bool heads = !options->no_header && !part->trazer;
    struct trazer *trazer = part->trazer ? part->trazer : open_trazer();
    part->trazer = trazer;
    if (!trazer)
        return text->code = EXTRACT_NOMEM;
    begin(trazer, text, trace, options);
    if (heads)
        trazer_banner(trazer, options->columns->source);
    run(trazer, view);
    outcome->shown = trazer->shown;
    extract_report_part_free(&whole);
    return text->code;
}
