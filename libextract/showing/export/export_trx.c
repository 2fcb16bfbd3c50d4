// SPDX-License-Identifier: MIT
// export: a dump of ThreadX (.trx), which TraceX opens.
//
// A trace of a ring, of which no event is left out, is written as it is. Otherwise, a ring is made
// that is exactly as large as the events: of a filtered trace, or of a whole log. Markers have no
// place in it. The events keep their timestamps, which wrap.
// Source: TraceX user guide, chapter 11: a dump is the trace buffer's memory, byte by byte.
#include "events/event_filter.h"
#include "events/events_room.h"
#include "export/export_room.h"
#include "export/exporter.h"
#include "formats/format.h"
#include "formats/threadx/threadx.h"
#include <stdlib.h>

enum { LEAST_NAME = 32 };

struct trx {
    struct extract_ring ring;
    struct extract_encoding encoding;
    uint64_t wanted, written; // events
    bool is_whole;            // the ring was written as it is
};

static bool count_events(void *context, const struct extract_event *events, size_t count)
{
    struct trx *trx = context;

    for (size_t i = 0; i < count; i++)
        trx->wanted += !extract_event_is_mark(&events[i]);
    return true;
}

static bool is_known(const struct extract_object *object)
{
    return object->number_kind == EXTRACT_KIND_NONE &&
           (object->registered || (object->from_memory && object->name[0]));
}

// Writes the header and the registry of a ring for all events of the view.
static void put_ring(struct export_run *run, const struct extract_encoder *encoder)
{
    struct trx *trx = run->state;
    const struct extract_ring *input = &extract_trace_snapshot(run->trace)->ring;
    struct extract_encoded_ring wanted = {.inputs = &input,
                                          .input_count = 1,
                                          .name_bytes = LEAST_NAME,
                                          .cores = extract_trace_info(run->trace)->cores,
                                          .is_plain = true};
    const struct extract_object *objects;
    size_t count = extract_trace_objects(run->trace, &objects);

    extract_view_run(run->view, &(struct extract_sink){.context = trx, .events = count_events});
    if (trx->wanted > EXTRACT_RING_LIMIT / threadx_entry_bytes(input->word_bytes)) {
        export_fail(
            run, EXTRACT_LIMIT, "trx",
            "a ring has at most 256 MiB: choose fewer events, with --last, or --from and --to");
        return;
    }
    wanted.entries = trx->wanted ? (uint32_t)trx->wanted : 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t bytes = (uint32_t)strlen(objects[i].name) + 1;
        wanted.objects += is_known(&objects[i]);
        wanted.name_bytes = bytes > wanted.name_bytes ? (bytes + 3) / 4 * 4 : wanted.name_bytes;
    }
    enum extract_code code = encoder->ring(&trx->ring, &wanted, run->error);
    uint8_t *slot = code ? NULL : malloc(trx->ring.registry.slot_bytes);
    if (code)
        run->code = code;
    else if (!slot)
        export_fail(run, EXTRACT_NOMEM, "trx", "out of memory");
    if (!run->code)
        extract_text_put(run->text, (const char *)trx->ring.header, trx->ring.header_bytes);
    for (size_t i = 0; i < count && !run->code; i++) {
        if (!is_known(&objects[i]))
            continue;
        encoder->object(&trx->ring, &objects[i], objects[i].name, slot);
        extract_text_put(run->text, (const char *)slot, trx->ring.registry.slot_bytes);
    }
    free(slot);
    trx->encoding = (struct extract_encoding){.ring = &trx->ring, .input = input};
}

static void begin(struct export_run *run)
{
    struct trx *trx = run->state;

    trx->is_whole = !extract_trace_info(run->trace)->log && !run->view->checks && !run->view->where;
    if (!trx->is_whole) {
        put_ring(run, &threadx_encoder);
        return;
    }
    enum extract_code code = extract_export_ring(run->text, run->trace, run->error);
    if (code && !run->code)
        run->code = code;
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    struct trx *trx = run->state;
    uint8_t entry[EXTRACT_FIELDS_MAX * 8];

    if (trx->is_whole || trx->written == trx->wanted)
        return;
    struct extract_event stored = *event;
    lives_use_addresses(run->trace, &stored);
    uint32_t bytes = threadx_encoder.entry(&trx->encoding, &stored, entry);
    extract_text_put(run->text, (const char *)entry, bytes);
    trx->written++;
}

static void end(struct export_run *run)
{
    struct trx *trx = run->state;
    static const uint8_t blank[EXTRACT_FIELDS_MAX * 8];

    if (!trx->is_whole && !trx->wanted) // a ring has at least one entry
        extract_text_put(run->text, (const char *)blank, threadx_entry_bytes(trx->ring.word_bytes));
}

static const char *refuse(const struct export_run *run)
{
    return extract_trace_snapshot(run->trace)->ring.format == &extract_format_threadx
               ? NULL
               : "only traces of ThreadX have this format";
}

const struct exporter export_trx = {
    .kind = {"trx", ".trx", "a dump of ThreadX, for TraceX", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct trx),
    .refuse = refuse,
    .begin = begin,
    .event = put_event,
    .end = end,
};
