// SPDX-License-Identifier: MIT
// report/rkh: the report in the lines of Trazer.
//
// The report walks over all events of a trace, so that names, queues and sequence numbers are known
// when an event of the view is printed. The walk stops at each event of the view, prints it, and
// continues. After the view, a report of a growing stream continues to the end of this part.
#include "report/rkh/trazer.h"
#include <stdlib.h>

enum { BATCH = sizeof((struct trazer *)0)->batch / sizeof(struct extract_event) };

// The wording, with its errors, is Trazer's.
static const char loss_line[] = "May be have lost trace info, sequence are not correlatives\n";

// Returns the next event of the trace; NULL at its end.
static const struct extract_event *next_event(struct trazer *trazer)
{
    if (trazer->next == trazer->batch_count) {
        trazer->batch_count = extract_reader_next(&trazer->reader, trazer->batch, BATCH);
        trazer->next = 0;
    }
    return trazer->next < trazer->batch_count ? &trazer->batch[trazer->next++] : NULL;
}

// Writes one line per damaged frame.
static void put_damage(struct trazer *trazer, uint64_t frames)
{
    bool has_checksums = trazer->ring->rkh.value[EXTRACT_RKH_CHK];

    for (uint64_t i = 0; i < frames && !trazer->text->code; i++)
        extract_text_puts(trazer->text,
                          has_checksums ? "Stream Checksum Error\n" : "Stream Frame Error\n");
}

// Writes a line if frames are missing before an event. Trazer detects losses by the numbers of the
// frames that it accepts. It does not accept damaged frames, so that it reports a loss after them,
// too.
static void put_gap(struct trazer *trazer, const struct extract_event *event, bool is_printed)
{
    struct trazer_numbers *numbers = &trazer->numbers;
    int number = trazer_sequence_number(event);
    bool is_gap = number >= 0 && numbers->is_known && number != numbers->expected &&
                  !(numbers->is_after_restart && !number);

    if (is_gap && !numbers->has_loss_line && (is_printed || numbers->has_damage))
        extract_text_puts(trazer->text, loss_line);
    bool is_record = event->id == RKH_FWK_TCFG;
    *numbers =
        (struct trazer_numbers){.is_known = number >= 0 || (is_record && numbers->is_known),
                                .is_after_restart = is_record,
                                .expected = number < 0 ? numbers->expected : (uint8_t)(number + 1)};
}

static void put_marker(struct trazer *trazer, const struct extract_event *marker)
{
    if (marker->id == EXTRACT_ID_LOST) {
        extract_text_puts(trazer->text, loss_line);
        trazer->numbers.has_loss_line = true;
    } else if (marker->id == EXTRACT_ID_BROKEN) {
        put_damage(trazer, marker->field[1]);
        trazer->numbers.has_damage = true;
    }
}

// Notes what later events need of an event, and prints it if `is_printed`. Returns false if memory
// is short.
static bool add_event(struct trazer *trazer, const struct extract_event *event, bool is_printed)
{
    struct rkh_post_match match;
    bool is_marker = extract_event_is_mark(event);

    if (!rkh_post_queues_add_event(&trazer->queues, event, &match)) {
        trazer->text->code = EXTRACT_NOMEM;
        return false;
    }
    if (!is_marker)
        put_gap(trazer, event, is_printed);
    if (is_printed && is_marker)
        put_marker(trazer, event);
    else if (is_printed)
        trazer_put_event(trazer, event, &match);
    trazer->printed += is_printed;
    if (!trazer_names_add_event(&trazer->names, event))
        trazer->text->code = EXTRACT_NOMEM;
    return !trazer->text->code;
}

// Returns whether two events are the same. A marker has the sequence number of the event after it,
// and there is one marker of damage per reason.
static bool is_same_event(const struct extract_event *a, const struct extract_event *b)
{
    return a->seq == b->seq && a->id == b->id &&
           (a->id != EXTRACT_ID_BROKEN || a->field[0] == b->field[0]);
}

// Walks over the trace up to each of these events of the view.
static bool put_events(void *context, const struct extract_event *events, size_t count)
{
    struct trazer *trazer = context;

    for (size_t i = 0; i < count; i++) {
        const struct extract_event *event;
        bool is_found = false;
        while (!is_found && (event = next_event(trazer))) {
            is_found = is_same_event(event, &events[i]);
            if (!add_event(trazer, event, is_found))
                return false;
        }
    }
    return !trazer->may_continue || trazer->may_continue(trazer->context);
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
    bool has_names = trazer_names_init(&trazer->names);
    bool has_queues = rkh_post_queues_init(&trazer->queues);
    if (has_names && has_queues)
        return trazer;
    close_trazer(trazer);
    return NULL;
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
    struct extract_report_part single = {0}; // for a report that is not one of several parts
    struct extract_report_part *part = options->part ? options->part : &single;
    bool has_banner = !options->no_header && !part->trazer;
    const struct extract_event *event;

    if (!part->trazer && !(part->trazer = open_trazer()))
        return text->code = EXTRACT_NOMEM;
    struct trazer *trazer = part->trazer;
    struct extract_sink sink = {.events = put_events, .context = trazer};
    trazer->text = text;
    trazer->trace = trace;
    trazer->ring = &extract_trace_snapshot(trace)->ring;
    trazer->may_continue = options->may_continue;
    trazer->context = options->context;
    trazer->next = trazer->batch_count = 0;
    trazer->printed = 0;
    extract_reader_init(&trazer->reader, trace);
    if (has_banner)
        trazer_put_banner(trazer, options->columns->source);
    extract_view_run(view, &sink);

    // The next part needs the names and queues from the rest of this one.
    bool must_continue =
        !text->code && (!options->may_continue || options->may_continue(options->context));
    while (must_continue && (event = next_event(trazer)) && add_event(trazer, event, false))
        ;
    outcome->shown = trazer->printed;
    extract_report_part_free(&single);
    return text->code;
}
