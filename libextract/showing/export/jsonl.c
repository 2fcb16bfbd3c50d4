// SPDX-License-Identifier: MIT
// export: JSON lines, one object per event, slice, state, wake-up, owner, counter or marker.
//
// The keys are stable and have no blanks. ringside-export(1) documents them.
// Standard: RFC 8259; the lines end as in https://jsonlines.org.
#include "base/printable.h"
#include "export/exporter.h"
#include <stdlib.h>

#define ALWAYS_INLINE inline __attribute__((always_inline))

// Writes a key, which is a literal, and a number, without a check of the space.
#define PUT_NUMBER(writer, key, value)                                                             \
    (TEXT_WRITER_LITERAL(writer, key), text_writer_dec(writer, value))

enum { NUMBERS = 8 * TEXT_WRITER_NUMBER + 256, PLAN_BITS = 9, PLAN_SLOTS = 1 << PLAN_BITS };

// What all events of one type share.
struct plan {
    const struct extract_event_type *type; // NULL: the slot is free
    uint32_t id;
    char *name;                    // of events with a name of their own; owned; NULL: of the type
    char *head;                    // `,"id":…,"fields":{`; owned
    char *key[EXTRACT_FIELDS_MAX]; // `"label":`, with a comma unless it is the first; owned
    size_t head_length, key_length[EXTRACT_FIELDS_MAX];
    size_t bytes; // of all of them
};

struct jsonl {
    struct text_writer writer;
    struct extract_text scratch, escaped;
    struct plan plans[PLAN_SLOTS];
};

static struct text_writer *writer_of(struct export_run *run)
{
    return &((struct jsonl *)run->state)->writer;
}

static ALWAYS_INLINE void put_bytes(struct text_writer *writer, const char *bytes, size_t length)
{
    if (text_writer_need(writer, length))
        text_writer_copy(writer, bytes, length);
}

// Writes a string, which is most often a literal: its length is then known to the compiler.
static ALWAYS_INLINE void put_string(struct text_writer *writer, const char *string)
{
    put_bytes(writer, string, strlen(string));
}

// Writes a string in which bytes that are not text are \xNN, as in other formats and in reports.
static void put_json(struct export_run *run, const char *string)
{
    struct extract_text *scratch = &((struct jsonl *)run->state)->scratch;
    struct extract_text *escaped = &((struct jsonl *)run->state)->escaped;
    struct text_writer *writer = writer_of(run);
    size_t length = extract_plain(string);

    if (!string[length]) {
        if (!text_writer_need(writer, length + 2))
            return;
        text_writer_char(writer, '"');
        text_writer_copy(writer, string, length);
        text_writer_char(writer, '"');
        return;
    }
    scratch->used = escaped->used = 0;
    extract_text_escaped(escaped, string);
    extract_text_putc(escaped, 0);
    extract_text_json(scratch, escaped->code ? "" : escaped->data);
    if (scratch->code || escaped->code)
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
    else
        put_bytes(writer, scratch->data, scratch->used);
}

static ALWAYS_INLINE void put_number(struct text_writer *writer, const char *key, uint64_t value)
{
    put_string(writer, key);
    if (text_writer_need(writer, TEXT_WRITER_NUMBER))
        text_writer_dec(writer, value);
}

// ---- plans ----

// Makes the key of a field: its label without blanks. Returns false if memory is short.
static bool make_key(struct extract_text *scratch, struct plan *plan, unsigned i, bool is_first)
{
    scratch->used = 0;
    if (!is_first)
        extract_text_putc(scratch, ',');
    size_t start = scratch->used;
    extract_text_json(scratch, plan->type->field[i].label);
    for (size_t k = start; k < scratch->used; k++)
        scratch->data[k] = scratch->data[k] == ' ' ? '_' : scratch->data[k];
    extract_text_put(scratch, ":", 2);
    plan->key[i] = scratch->code ? NULL : strdup(scratch->data);
    plan->key_length[i] = scratch->code ? 0 : scratch->used - 1;
    plan->bytes += plan->key_length[i];
    return plan->key[i];
}

static void free_plan(struct plan *plan)
{
    free(plan->name);
    free(plan->head);
    for (unsigned i = 0; i < EXTRACT_FIELDS_MAX; i++)
        free(plan->key[i]);
    *plan = (struct plan){.type = NULL};
}

static const struct plan *find_plan(struct export_run *run, const struct extract_event *event)
{
    struct jsonl *jsonl = run->state;
    struct plan *plan = &jsonl->plans[event->id * UINT32_C(0x9E3779B1) >> (32 - PLAN_BITS)];
    const struct extract_event_type *type = event->type;
    const char *name = export_event_name(run, event);
    bool is_first = true, has_own = name != type->name;

    if (plan->type == type && plan->id == event->id && has_own == (plan->name != NULL) &&
        (!has_own || strcmp(name, plan->name) == 0))
        return plan;
    free_plan(plan);
    jsonl->scratch.used = 0;
    extract_text_printf(&jsonl->scratch, ",\"id\":%u,\"event\":", event->id);
    extract_text_json(&jsonl->scratch, type->symbol);
    extract_text_puts(&jsonl->scratch, ",\"name\":");
    extract_text_json(&jsonl->scratch, name);
    extract_text_printf(&jsonl->scratch, ",\"class\":\"%s\",\"fields\":{",
                        extract_class_name(type->class_));
    extract_text_putc(&jsonl->scratch, 0);
    plan->head = jsonl->scratch.code ? NULL : strdup(jsonl->scratch.data);
    plan->name = has_own ? strdup(name) : NULL;
    plan->bytes = plan->head_length = plan->head ? strlen(plan->head) : 0;
    plan->type = type;
    plan->id = event->id;
    bool is_made = plan->head && (plan->name || !has_own);
    for (unsigned i = 0; i < type->fields && is_made; i++)
        if (type->field[i].kind != EXTRACT_KIND_NONE) {
            is_made = make_key(&jsonl->scratch, plan, i, is_first);
            is_first = false;
        }
    if (is_made)
        return plan;
    free_plan(plan);
    export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
    return NULL;
}

// ---- events ----

// Functions that write much write with a copy of the writer, which the compiler keeps in registers.

// Writes the beginning of a line; leaves space for NUMBERS. Returns false if the output has failed.
static bool put_head(struct export_run *run, const char *type, size_t length,
                     const struct extract_event *event)
{
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);

    if (!text_writer_need(writer_of(run), 2 * NUMBERS))
        return false;
    struct text_writer writer = *writer_of(run);
    text_writer_copy(&writer, type, length);
    PUT_NUMBER(&writer, ",\"seq\":", event->seq);
    if (is_timed)
        PUT_NUMBER(&writer, ",\"ticks\":", event->ticks);
    else
        TEXT_WRITER_LITERAL(&writer, ",\"ticks\":null");
    if (run->hz && is_timed) {
        TEXT_WRITER_LITERAL(&writer, ",\"seconds\":");
        text_writer_seconds(&writer, event->ticks, run->hz);
    }
    writer_of(run)->at = writer.at;
    return true;
}

static void put_text(struct export_run *run, const struct extract_event *event)
{
    struct text_writer *writer = writer_of(run);
    size_t length;
    const char *text = export_event_text(run, event, &length);

    // The text has no control characters but line ends, and is valid UTF-8.
    if (!text_writer_need(writer, 2 * length + 32))
        return;
    TEXT_WRITER_LITERAL(writer, ",\"text\":\"");
    bool is_plain =
        !memchr(text, '"', length) && !memchr(text, '\\', length) && !memchr(text, '\n', length);
    if (is_plain)
        text_writer_copy(writer, text, length);
    for (size_t i = 0; !is_plain && i < length; i++) {
        if (text[i] == '"' || text[i] == '\\')
            text_writer_char(writer, '\\');
        text_writer_char(writer, text[i] == '\n' ? ' ' : text[i]);
    }
    TEXT_WRITER_LITERAL(writer, "\"}\n");
}

// Writes a field without a number: its text, or null.
static void put_word(struct export_run *run, const char *key, enum extract_kind kind,
                     uint64_t value)
{
    const char *text =
        kind == EXTRACT_KIND_TEXT ? value_names_find(&run->names, kind, value) : NULL;

    put_string(writer_of(run), key);
    if (text)
        put_json(run, text);
    else
        put_string(writer_of(run), "null");
}

static void put_fields(struct export_run *run, const struct extract_event *event)
{
    const struct plan *plan = find_plan(run, event);
    unsigned count = report_fields(event);

    if (!plan || !text_writer_need(writer_of(run), plan->bytes + TEXT_WRITER_NUMBER * (count + 1)))
        return;
    struct text_writer writer = *writer_of(run);
    text_writer_copy(&writer, plan->head, plan->head_length);
    for (unsigned i = 0; i < count; i++) {
        if (!plan->key[i])
            continue;
        if (report_field_is_number(event, i)) {
            text_writer_copy(&writer, plan->key[i], plan->key_length[i]);
            text_writer_dec(&writer, extract_event_stored(run->trace, event, i));
            continue;
        }
        writer_of(run)->at = writer.at;
        put_word(run, plan->key[i], event->type->field[i].kind, event->field[i]);
        if (!text_writer_need(writer_of(run), plan->bytes + TEXT_WRITER_NUMBER * (count + 1)))
            return;
        writer = *writer_of(run);
    }
    text_writer_char(&writer, '}');
    writer_of(run)->at = writer.at;
}

// Writes what executed up to the name of the thread, after put_head.
static void put_context(struct export_run *run, const struct extract_event *event)
{
    const char *context = extract_context_name((enum extract_context)event->context);
    struct text_writer writer = *writer_of(run);

    PUT_NUMBER(&writer, ",\"core\":", event->core);
    TEXT_WRITER_LITERAL(&writer, ",\"context\":\"");
    text_writer_copy(&writer, context, strlen(context));
    if (event->context == EXTRACT_THREAD) {
        PUT_NUMBER(&writer, "\",\"thread\":", event->thread);
        TEXT_WRITER_LITERAL(&writer, ",\"thread_name\":");
    } else {
        TEXT_WRITER_LITERAL(&writer, "\",\"thread\":null");
    }
    writer_of(run)->at = writer.at;
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    static const char type[] = "{\"type\":\"event\"";

    if (!put_head(run, type, sizeof type - 1, event))
        return;
    put_context(run, event);
    if (event->context == EXTRACT_THREAD) {
        const struct extract_object *thread =
            extract_trace_thread_at(run->trace, event->thread, event->seq);
        const char *name = thread ? value_name_of_object(thread) : NULL;
        if (name)
            put_json(run, name);
        else
            put_string(writer_of(run), "null");
    }
    if (report_has_priority(event))
        put_number(writer_of(run), ",\"priority\":", event->priority);
    put_fields(run, event);
    put_text(run, event);
}

static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    static const char loss[] = "{\"type\":\"loss\"", other[] = "{\"type\":\"marker\"";
    bool is_loss = export_is_loss(run, marker->id);

    if (!put_head(run, is_loss ? loss : other, is_loss ? sizeof loss - 1 : sizeof other - 1,
                  marker))
        return;
    put_fields(run, marker);
    put_text(run, marker);
}

// ---- the schedule ----

static void put_optional(struct text_writer *writer, const char *key, uint64_t value, bool is_known)
{
    if (is_known)
        put_number(writer, key, value);
}

static void put_names(struct export_run *run, const char *key, bool is_thread, uint64_t address)
{
    char buffer[EXPORT_NAME_BYTES];

    put_string(writer_of(run), key);
    put_json(run, export_name(run, is_thread, address, buffer));
}

static void put_span(struct export_run *run, const char *type, uint64_t from, uint64_t to)
{
    struct text_writer *writer = writer_of(run);

    put_string(writer, type);
    put_number(writer, ",\"from\":", from);
    put_number(writer, ",\"to\":", to);
}

static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    struct text_writer *writer = writer_of(run);

    put_span(run, "{\"type\":\"slice\"", slice->from, slice->to);
    put_number(writer, ",\"core\":", slice->core);
    put_string(writer, ",\"kind\":\"");
    put_string(writer, extract_runner_name(slice->runner));
    put_string(writer, "\"");
    put_optional(writer, ",\"isr\":", slice->isr, slice->isr_known);
    put_optional(writer, ",\"lock\":", slice->lock, slice->lock != 0);
    if (slice->thread) {
        put_number(writer, ",\"thread\":", slice->thread);
        put_names(run, ",\"thread_name\":", true, slice->thread);
    }
    put_string(writer, slice->is_unsure ? ",\"unsure\":true}\n" : ",\"unsure\":false}\n");
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    struct text_writer *writer = writer_of(run);

    put_span(run, "{\"type\":\"state\"", state->from, state->to);
    put_number(writer, ",\"thread\":", state->thread);
    put_names(run, ",\"thread_name\":", true, state->thread);
    put_string(writer, ",\"state\":\"");
    put_string(writer, extract_thread_state_name(state->state));
    put_string(writer, "\"");
    if (state->wait) {
        put_string(writer, ",\"service\":");
        put_json(run, state->wait);
    }
    if (state->object) {
        put_number(writer, ",\"object\":", state->object);
        put_names(run, ",\"object_name\":", false, state->object);
    }
    if (state->holder)
        put_names(run, ",\"holder_name\":", true, state->holder);
    put_optional(writer, ",\"timeout\":", state->timeout, state->timeout_known);
    put_string(writer, state->is_unsure ? ",\"unsure\":true}\n" : ",\"unsure\":false}\n");
}

static void put_wake(struct export_run *run, const struct extract_wake *wake)
{
    struct text_writer *writer = writer_of(run);

    put_string(writer, "{\"type\":\"wake\"");
    put_number(writer, ",\"at\":", wake->at);
    put_number(writer, ",\"thread\":", wake->thread);
    put_names(run, ",\"thread_name\":", true, wake->thread);
    put_string(writer, ",\"reason\":\"");
    put_string(writer, extract_wake_reason_name(wake->reason));
    put_string(writer, "\"");
    if (wake->is_likely)
        put_string(writer, ",\"likely\":true");
    put_optional(writer, ",\"cause\":", wake->cause, wake->reason == EXTRACT_WAKE_SERVICE);
    if (wake->by) {
        put_number(writer, ",\"by\":", wake->by);
        put_names(run, ",\"by_name\":", true, wake->by);
    }
    if (wake->object) {
        put_number(writer, ",\"object\":", wake->object);
        put_names(run, ",\"object_name\":", false, wake->object);
    }
    put_string(writer, wake->in_isr ? ",\"in_isr\":true}\n" : ",\"in_isr\":false}\n");
}

static void put_owner(struct export_run *run, const struct extract_ownership *owner)
{
    struct text_writer *writer = writer_of(run);

    put_span(run, "{\"type\":\"owner\"", owner->from, owner->to);
    put_number(writer, ",\"mutex\":", owner->mutex);
    put_names(run, ",\"mutex_name\":", false, owner->mutex);
    if (owner->thread) {
        put_number(writer, ",\"thread\":", owner->thread);
        put_names(run, ",\"thread_name\":", true, owner->thread);
    }
    if (owner->in_isr) {
        put_string(writer, ",\"in_isr\":true");
        if (owner->isr_known)
            put_number(writer, ",\"isr\":", owner->isr);
        put_number(writer, ",\"core\":", owner->core);
    }
    put_string(writer, "}\n");
}

static void put_counter(struct export_run *run, const struct export_counter *counter)
{
    struct text_writer *writer = writer_of(run);

    put_string(writer, "{\"type\":\"counter\"");
    put_number(writer, ",\"at\":", counter->at);
    put_string(writer, ",\"counter\":\"");
    put_string(writer, export_counter_name(counter->kind));
    put_number(writer, counter->kind == EXPORT_COUNTER_LOAD ? "\",\"core\":" : "\",\"object\":",
               counter->object);
    if (counter->kind != EXPORT_COUNTER_LOAD)
        put_names(run, ",\"object_name\":", counter->kind == EXPORT_COUNTER_STACK, counter->object);
    if (counter->is_unknown)
        put_string(writer, ",\"value\":null");
    else
        put_number(writer, ",\"value\":", counter->value);
    put_string(writer, "}\n");
}

static void put_object(struct export_run *run, const struct extract_object *object)
{
    struct text_writer *writer = writer_of(run);

    put_number(writer, "{\"type\":\"object\",\"address\":", object->key);
    put_string(writer, ",\"kind\":");
    put_json(run, object->type_name);
    put_string(writer, ",\"name\":");
    put_json(run, object->likely ? object->shown : object->name);
    put_string(writer, object->in_use ? ",\"in_use\":true" : ",\"in_use\":false");
    if (object->life) {
        put_number(writer, ",\"stored_address\":", object->address);
        put_number(writer, ",\"life\":", object->life);
    }
    put_string(writer, "}\n");
}

static void begin(struct export_run *run)
{
    struct jsonl *jsonl = run->state;
    const struct extract_info *info = extract_trace_info(run->trace);

    extract_text_init(&jsonl->scratch, NULL, NULL);
    extract_text_init(&jsonl->escaped, NULL, NULL);
    text_writer_open(&jsonl->writer, run->text);
    put_string(&jsonl->writer, "{\"type\":\"trace\",\"version\":1,\"format\":");
    put_json(run, info->format);
    put_number(&jsonl->writer, ",\"cores\":", info->cores);
    put_string(&jsonl->writer, ",\"hz\":");
    if (run->hz)
        put_number(&jsonl->writer, "", run->hz);
    else
        put_string(&jsonl->writer, "null");
    put_string(&jsonl->writer, ",\"events_lost\":");
    if (info->lost_known)
        put_number(&jsonl->writer, "", info->events_lost);
    else
        put_string(&jsonl->writer, "null");
    put_string(&jsonl->writer, "}\n");
}

static void end(struct export_run *run)
{
    text_writer_close(writer_of(run));
}

static void close_jsonl(struct export_run *run)
{
    struct jsonl *jsonl = run->state;

    for (size_t i = 0; i < PLAN_SLOTS; i++)
        free_plan(&jsonl->plans[i]);
    extract_text_free(&jsonl->scratch);
    extract_text_free(&jsonl->escaped);
}

const struct exporter export_jsonl = {
    .kind = {"jsonl", ".jsonl", "a JSON object per event and state, for jq", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct jsonl),
    .begin = begin,
    .object = put_object,
    .event = put_event,
    .slice = put_slice,
    .state = put_state,
    .wake = put_wake,
    .owner = put_owner,
    .counter = put_counter,
    .loss = put_loss,
    .end = end,
    .close = close_jsonl,
};
