// SPDX-License-Identifier: MIT
// export: one page that shows a trace, or two of them, in a browser, without a network.
//
//   html/*.ts, *.css ─► esbuild ─► html/viewer.html ─► build/gen/viewer.inc
//                                       │
//   page = what is before <!--DATA--> + blocks (html_blocks.h) + facts as JSON + what is after it
//
// The page is written while the trace is read. Names, types and explanations are known at its end,
// so they come last. html/data.ts reads what is written here.
#include "events/events_room.h"
#include "export/html_blocks.h"
#include "formats/format.h"
#include "report/report_room.h"
#include <ctype.h>
#include <extract/why.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    LONGEST = 6,   // responses of a thread that are explained
    EXPLAINED = 48 // threads for which that is done
};

// The columns of each table. Numbers of threads, objects, types and texts begin with 1; 0: none.
// clang-format off
enum { SLICE_TO, SLICE_FROM, SLICE_CORE, SLICE_KIND, SLICE_THREAD, SLICE_ISR, SLICE_LOCK,
       SLICE_UNSURE, SLICE_COLUMNS };
enum { STATE_TO, STATE_FROM, STATE_THREAD, STATE_STATE, STATE_OBJECT, STATE_HOLDER, STATE_ISR,
       STATE_TIMEOUT, STATE_WAIT, STATE_UNSURE, STATE_CORE, STATE_COLUMNS };
enum { EVENT_SEQ, EVENT_AT, EVENT_CORE, EVENT_THREAD, EVENT_CONTEXT, EVENT_PRIORITY, EVENT_ISR,
       EVENT_TYPE, EVENT_OBJECT, EVENT_FLAGS, EVENT_COLUMNS };
enum { FIELD_TEXT, FIELD_FIRST, FIELD_COLUMNS = FIELD_FIRST + EXTRACT_FIELDS_MAX };
enum { WAKE_AT, WAKE_SEQ, WAKE_CAUSE, WAKE_THREAD, WAKE_BY, WAKE_OBJECT, WAKE_ISR, WAKE_REASON,
       WAKE_SURE, WAKE_CORE, WAKE_SERVICE, WAKE_COLUMNS };
enum { OWNER_TO, OWNER_FROM, OWNER_MUTEX, OWNER_THREAD, OWNER_ISR, OWNER_COLUMNS };
enum { RESPONSE_TO, RESPONSE_FROM, RESPONSE_THREAD, RESPONSE_HAS_RUN, RESPONSE_RAN,
       RESPONSE_COLUMNS };
enum { SLICE, STATE, EVENT, FIELD, WAKE, OWNER, RESPONSE, TABLES };

// A time near the one of another column: of the row before, or of the same row.
#define TIME_AFTER(other_)  {.is_time = true, .coding = HTML_BEFORE, .other = other_}
#define TIME_BESIDE(other_) {.is_time = true, .coding = HTML_BESIDE, .other = other_}

static const struct html_column time_columns[] = {{.coding = HTML_BEFORE}};
// A slice, or a state, begins where the one before it ended, nearly always.
static const struct html_column slice_columns[SLICE_COLUMNS] = {
    [SLICE_TO] = TIME_AFTER(SLICE_TO),
    [SLICE_FROM] = TIME_AFTER(SLICE_TO),
    [SLICE_CORE] = {.groups = true},
    [SLICE_KIND] = {.is_key = true},
};
static const struct html_column state_columns[STATE_COLUMNS] = {
    [STATE_TO] = TIME_AFTER(STATE_TO),
    [STATE_FROM] = TIME_AFTER(STATE_TO),
    [STATE_THREAD] = {.groups = true},
    [STATE_STATE] = {.is_key = true},
};
// What an event has depends on its type, thread and context.
static const struct html_column event_columns[EVENT_COLUMNS] = {
    [EVENT_SEQ] = {.coding = HTML_BEFORE, .other = EVENT_SEQ},
    [EVENT_AT] = TIME_AFTER(EVENT_AT),
    [EVENT_THREAD] = {.is_key = true},
    [EVENT_CONTEXT] = {.is_key = true},
    [EVENT_TYPE] = {.is_key = true},
};
static const struct html_column field_columns[FIELD_COLUMNS] = {{.coding = HTML_PLAIN}};
static const struct html_column wake_columns[WAKE_COLUMNS] = {
    [WAKE_AT] = TIME_AFTER(WAKE_AT),
    [WAKE_SEQ] = {.coding = HTML_BEFORE, .other = WAKE_SEQ},
    [WAKE_CAUSE] = {.coding = HTML_BESIDE, .other = WAKE_SEQ},
    [WAKE_THREAD] = {.is_key = true},
};
static const struct html_column owner_columns[OWNER_COLUMNS] = {
    [OWNER_TO] = TIME_AFTER(OWNER_TO),
    [OWNER_FROM] = TIME_BESIDE(OWNER_TO),
    [OWNER_MUTEX] = {.groups = true},
};
static const struct html_column response_columns[RESPONSE_COLUMNS] = {
    [RESPONSE_TO] = TIME_AFTER(RESPONSE_TO),
    [RESPONSE_FROM] = TIME_BESIDE(RESPONSE_TO),
    [RESPONSE_THREAD] = {.is_key = true},
    [RESPONSE_RAN] = TIME_BESIDE(RESPONSE_FROM),
};

static const struct html_table tables[TABLES] = {
    [SLICE] = {.name = "slice", .column = slice_columns, .columns = SLICE_COLUMNS},
    [STATE] = {.name = "state", .column = state_columns, .columns = STATE_COLUMNS,
               .has_texts = true},
    [EVENT] = {.name = "event", .column = event_columns, .columns = EVENT_COLUMNS},
    [FIELD] = {.name = "field", .column = field_columns, .columns = FIELD_COLUMNS,
               .has_texts = true},
    [WAKE] = {.name = "wake", .column = wake_columns, .columns = WAKE_COLUMNS, .has_texts = true},
    [OWNER] = {.name = "owner", .column = owner_columns, .columns = OWNER_COLUMNS},
    [RESPONSE] = {.name = "response", .column = response_columns, .columns = RESPONSE_COLUMNS},
};
// clang-format on

// A type of events: one for each number and description.
struct html_type {
    const struct extract_event_type *type;
    char *name; // of its first event; owned
    uint32_t id;
    uint32_t next; // number of the next one with this id; 0: none
};

struct html {
    struct html_table table[TABLES];
    struct html_times times;
    struct export_numbers threads, objects;
    struct extract_map type_places; // by id: the number of the newest one
    struct html_type *types;        // owned
    size_t type_count, type_capacity;
    struct extract_text text, plain; // scratch
    uint64_t field[FIELD_COLUMNS];   // of the present event
    uint64_t *responses;             // of each thread; owned
    size_t response_capacity;
    uint64_t from, to; // of all slices
};

static const char page[] = {
#include "viewer.inc"
    0};
static const char data_mark[] = "<!--DATA-->";

static struct html *html_of(struct export_run *run)
{
    return run->state;
}

// ---- numbers ----

static uint64_t thread_number(struct export_run *run, uint64_t address)
{
    return address ? export_number(run, &html_of(run)->threads, address) + 1 : 0;
}

static uint64_t object_number(struct export_run *run, uint64_t address)
{
    return address ? export_number(run, &html_of(run)->objects, address) + 1 : 0;
}

static uint64_t type_number(struct export_run *run, const struct extract_event *event)
{
    struct html *html = html_of(run);
    uint32_t id = event->id;
    bool has_map = html->type_places.values || extract_map_init(&html->type_places, 64);
    uint32_t *newest = has_map ? extract_map_at(&html->type_places, id) : NULL;

    for (uint32_t i = newest ? *newest : 0; i; i = html->types[i - 1].next)
        if (html->types[i - 1].type == event->type)
            return i;
    struct html_type *grown =
        newest ? extract_grow(html->types, &html->type_capacity, html->type_count, sizeof *grown)
               : NULL;
    char *name = grown ? strdup(export_event_name(run, event)) : NULL;
    html->types = grown ? grown : html->types;
    if (!name) {
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        return 0;
    }
    grown[html->type_count++] = (struct html_type){event->type, name, id, *newest};
    *newest = (uint32_t)html->type_count;
    return *newest;
}

// Returns the number of a word in the present block of a table; 0 for an empty one.
static uint64_t word_number(struct export_run *run, struct html_table *table, const char *word)
{
    return *word ? html_table_text(run, table, word, strlen(word)) : 0;
}

// ---- rows ----

// Gives each object a number, so that the page finds also what no event is about. Numbers of
// signals and the like are no addresses.
static void put_object(struct export_run *run, const struct extract_object *object)
{
    if (object->number_kind || object->shadowed)
        return;
    if (object->thread)
        thread_number(run, object->key);
    else
        object_number(run, object->key);
}

static void put_slice(struct export_run *run, const struct extract_interval *slice)
{
    struct html *html = html_of(run);
    const uint64_t row[SLICE_COLUMNS] = {
        [SLICE_TO] = slice->to,
        [SLICE_FROM] = slice->from,
        [SLICE_CORE] = slice->core,
        [SLICE_KIND] = slice->runner,
        [SLICE_THREAD] = thread_number(run, slice->thread),
        [SLICE_ISR] = slice->isr_known ? slice->isr + 1 : 0,
        [SLICE_LOCK] = object_number(run, slice->lock),
        [SLICE_UNSURE] = slice->is_unsure,
    };

    html->from = slice->from < html->from ? slice->from : html->from;
    html->to = slice->to > html->to ? slice->to : html->to;
    html_table_add(run, &html->table[SLICE], row);
}

// 0: unknown; 1: forever; otherwise the timeout + 2.
static uint64_t timeout_number(const struct extract_state *state)
{
    bool is_forever = state->timeout == UINT32_MAX || state->timeout == UINT64_MAX;

    return !state->timeout_known ? 0 : is_forever ? 1 : state->timeout + 2;
}

static void put_state(struct export_run *run, const struct extract_state *state)
{
    struct html *html = html_of(run);
    const char *wait = state->wait ? state->wait : "";
    const uint64_t row[STATE_COLUMNS] = {
        [STATE_TO] = state->to,
        [STATE_FROM] = state->from,
        [STATE_THREAD] = thread_number(run, state->thread),
        [STATE_STATE] = state->state,
        [STATE_OBJECT] = object_number(run, state->object),
        [STATE_HOLDER] = thread_number(run, state->holder),
        [STATE_ISR] =
            state->holder_in_isr ? state->holder_isr_known ? state->holder_isr + 2 : 1 : 0,
        [STATE_TIMEOUT] = timeout_number(state),
        [STATE_WAIT] = word_number(run, &html->table[STATE], wait),
        [STATE_UNSURE] = state->is_unsure,
        [STATE_CORE] = state->core,
    };

    html_table_add(run, &html->table[STATE], row);
}

static void put_wake(struct export_run *run, const struct extract_wake *wake)
{
    struct html *html = html_of(run);
    const char *service = wake->service ? wake->service->name : "";
    const uint64_t row[WAKE_COLUMNS] = {
        [WAKE_AT] = wake->at,
        [WAKE_SEQ] = wake->seq,
        [WAKE_CAUSE] = wake->reason == EXTRACT_WAKE_SERVICE ? wake->cause : wake->seq,
        [WAKE_THREAD] = thread_number(run, wake->thread),
        [WAKE_BY] = thread_number(run, wake->by),
        [WAKE_OBJECT] = object_number(run, wake->object),
        [WAKE_ISR] = wake->in_isr ? wake->isr_known ? wake->isr + 2 : 1 : 0,
        [WAKE_REASON] = wake->reason,
        [WAKE_SURE] = !wake->is_likely,
        [WAKE_CORE] = wake->core,
        [WAKE_SERVICE] = word_number(run, &html->table[WAKE], service),
    };

    html_table_add(run, &html->table[WAKE], row);
}

static void put_owner(struct export_run *run, const struct extract_ownership *owner)
{
    if (!owner->thread && !owner->in_isr)
        return;
    const uint64_t row[OWNER_COLUMNS] = {
        [OWNER_TO] = owner->to,
        [OWNER_FROM] = owner->from,
        [OWNER_MUTEX] = object_number(run, owner->mutex),
        [OWNER_THREAD] = thread_number(run, owner->thread),
        [OWNER_ISR] = owner->in_isr ? owner->isr_known ? owner->isr + 2 : 1 : 0,
    };
    html_table_add(run, &html_of(run)->table[OWNER], row);
}

static void put_response(struct export_run *run, const struct extract_response *response)
{
    struct html *html = html_of(run);
    uint64_t number = thread_number(run, response->thread);
    const uint64_t row[RESPONSE_COLUMNS] = {
        [RESPONSE_TO] = response->to,
        [RESPONSE_FROM] = response->from,
        [RESPONSE_THREAD] = number,
        [RESPONSE_HAS_RUN] = response->has_ran,
        [RESPONSE_RAN] = response->has_ran ? response->ran_at : response->from,
    };

    while (number > html->response_capacity && !run->code) {
        size_t capacity = html->response_capacity;
        uint64_t *grown =
            extract_grow(html->responses, &html->response_capacity, capacity, sizeof *grown);
        if (!grown) {
            export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
            return;
        }
        html->responses = grown;
        memset(grown + capacity, 0, (html->response_capacity - capacity) * sizeof *grown);
    }
    if (number && number <= html->response_capacity)
        html->responses[number - 1]++;
    html_table_add(run, &html->table[RESPONSE], row);
}

// ---- events ----

// Returns whether a text has nothing but the name of a type, perhaps its number, and what `plain`
// has, which is ended by a zero. Case and leading zeros of hexadecimal
// numbers do not matter.
static bool says_only(const char *text, size_t length, const char *name, const char *plain)
{
    const char *end = text + length, *at = text + strlen(name);

    if (length < strlen(name) || strncmp(text, name, strlen(name)) != 0)
        return false;
    if (end - at > 1 && at[0] == ' ' && at[1] >= '0' && at[1] <= '9')
        for (at++; at < end && *at >= '0' && *at <= '9';)
            at++;
    for (; at < end && tolower((unsigned char)*at) == tolower((unsigned char)*plain); at++, plain++)
        if (at[0] == '0' && end - at > 2 && at[1] == 'x' && plain[1] == 'x') {
            while (end - at > 3 && at[2] == '0' && isxdigit((unsigned char)at[3]))
                at++;
            while (plain[2] == '0' && isxdigit((unsigned char)plain[3]))
                plain++;
            at++;
            plain++;
        }
    return at == end && !*plain;
}

// Removes a name and the blank after it from the begin of a text, unless nothing would be left.
static void skip_word(const char **text, size_t *length, const char *name)
{
    size_t skip = strlen(name) + 1;

    if (*length > skip && (*text)[skip - 1] == ' ' && memcmp(*text, name, skip - 1) == 0) {
        *text += skip;
        *length -= skip;
    }
}

// Finds the numbers of the texts of an event: of its fields in words, and of what a report says
// apart from them, if it does.
static void find_texts(struct export_run *run, const struct extract_event *event)
{
    struct html *html = html_of(run);
    struct html_table *table = &html->table[FIELD];
    size_t length;

    html->plain.used = 0;
    memset(html->field, 0, sizeof html->field);
    for (unsigned i = 0; i < report_fields(event); i++) {
        const struct extract_field_type *field = &event->type->field[i];
        if (field->kind == EXTRACT_KIND_NONE)
            continue;
        extract_text_putc(&html->plain, ' ');
        for (const char *c = field->label; *c; c++)
            extract_text_putc(&html->plain, *c == ' ' ? '_' : *c);
        extract_text_putc(&html->plain, '=');
        html->text.used = 0;
        value_names_put(&run->names, field->kind, event->field[i], &html->text);
        if (html->text.code)
            break;
        extract_text_put(&html->plain, html->text.data, html->text.used);
        html->field[FIELD_FIRST + i] =
            html_table_text(run, table, html->text.data, html->text.used);
    }
    const char *text = export_event_text(run, event, &length);
    extract_text_putc(&html->plain, 0);
    if (html->text.code || html->plain.code) {
        export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        return;
    }
    const char *name = export_event_name(run, event);
    if (says_only(text, length, name, html->plain.data))
        return;
    // The page shows the name before the text.
    if (name != event->type->name)
        skip_word(&text, &length, event->type->name);
    skip_word(&text, &length, name);
    html->field[FIELD_TEXT] = length ? html_table_text(run, table, text, length) : 0;
}

// Returns the object that an event is about, such as the queue of a send: that of its role in the
// schedule, or the first object in its fields that is no thread; 0: none, or not known.
static uint64_t object_of(const struct export_run *run, const struct extract_event *event)
{
    struct extract_event scratch;
    const struct extract_event *own = event;

    if (extract_event_is_mark(event))
        return 0;
    const struct extract_role_fields *role =
        run->has_schedule ? extract_trace_role(run->trace, &own, &scratch) : NULL;
    if (role && role->object)
        return extract_role_field(own, role->object);
    for (unsigned i = 0; i < report_fields(event); i++)
        if (event->type->field[i].kind == EXTRACT_KIND_OBJECT && event->field[i] &&
            extract_trace_object(run->trace, event->field[i]) &&
            !extract_trace_thread(run->trace, event->field[i]))
            return event->field[i];
    return 0;
}

static void put_row(struct export_run *run, const struct extract_event *event)
{
    struct html *html = html_of(run);
    bool is_in_thread = event->context == EXTRACT_THREAD || event->context == EXTRACT_ISR;
    uint64_t isr = 0;
    bool has_isr = run->interrupts && open_interrupts_find(run->interrupts, event->core, &isr);
    const uint64_t row[EVENT_COLUMNS] = {
        [EVENT_SEQ] = event->seq,
        [EVENT_AT] = event->ticks,
        [EVENT_CORE] = event->core,
        [EVENT_CONTEXT] = event->context,
        [EVENT_THREAD] = is_in_thread ? thread_number(run, event->thread) : 0,
        [EVENT_TYPE] = type_number(run, event),
        [EVENT_PRIORITY] = report_has_priority(event) ? event->priority + 1u : 0,
        [EVENT_FLAGS] = event->flags,
        [EVENT_ISR] = has_isr ? isr + 1 : 0,
        [EVENT_OBJECT] = object_number(run, object_of(run, event)),
    };
    html_table_add(run, &html->table[EVENT], row);
    html_table_add(run, &html->table[FIELD], html->field);
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    find_texts(run, event);
    if (!run->code)
        put_row(run, event);
}

// Writes what is lost as a picture says it: "lost: exactly 46 events".
static void put_lost(struct extract_text *text, const struct extract_event *marker)
{
    const uint64_t *field = marker->field;

    if (marker->id != EXTRACT_ID_LOST)
        extract_text_puts(text, "lost: an unknown number of events, since the log was full");
    else if (field[EXTRACT_LOST_EXACT])
        extract_text_printf(text, "lost: exactly %llu events",
                            (unsigned long long)field[EXTRACT_LOST_AT_LEAST]);
    else if (marker->fields > EXTRACT_LOST_HIGH)
        extract_text_printf(
            text, "lost: about %llu events",
            (unsigned long long)(field[EXTRACT_LOST_LOW] / 2 + field[EXTRACT_LOST_HIGH] / 2));
    else if (!field[EXTRACT_LOST_AT_LEAST])
        extract_text_puts(text, "lost: an unknown number of events");
    else
        extract_text_printf(text, "lost: at least %llu events",
                            (unsigned long long)field[EXTRACT_LOST_AT_LEAST]);
}

static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    struct html *html = html_of(run);
    struct extract_text *text = &html->text;
    struct extract_event lost = *marker;

    if (marker->id == EXTRACT_ID_MARK + EXTRACT_MARK_FULL && export_is_loss(run, marker->id)) {
        lost.id = EXTRACT_ID_LOST; // by which the page knows losses
        lost.type = extract_trace_type(run->trace, EXTRACT_ID_LOST);
    }
    if (lost.id == EXTRACT_ID_LOST) {
        text->used = 0;
        put_lost(text, marker);
        memset(html->field, 0, sizeof html->field);
        if (text->code)
            export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
        else
            html->field[FIELD_TEXT] =
                html_table_text(run, &html->table[FIELD], text->data, text->used);
    } else {
        find_texts(run, marker);
    }
    if (!run->code)
        put_row(run, &lost);
}

// ---- facts as JSON ----

// Writes a string as JSON that cannot end the element it is in.
static void put_json(struct export_run *run, const char *string)
{
    struct extract_text *scratch = &html_of(run)->plain;

    scratch->used = 0;
    extract_text_json(scratch, string);
    for (size_t i = 0; i < scratch->used; i++)
        if (scratch->data[i] == '<')
            extract_text_puts(run->text, "\\u003c");
        else
            extract_text_putc(run->text, scratch->data[i]);
}

static void put_member(struct export_run *run, const char *key, const char *string)
{
    extract_text_printf(run->text, "\"%s\":", key);
    put_json(run, string);
}

static void put_threads(struct export_run *run)
{
    const struct export_numbers *threads = &html_of(run)->threads;

    extract_text_puts(run->text, ",\n\"threads\":[");
    for (size_t i = 0; i < threads->count; i++) {
        char buffer[EXPORT_NAME_BYTES];
        const struct extract_object *thread = extract_trace_thread(run->trace, threads->keys[i]);
        extract_text_puts(run->text, i ? ",\n{" : "\n{");
        put_member(run, "name", export_name(run, true, threads->keys[i], buffer));
        extract_text_printf(run->text, ",\"address\":\"0x%08llx\"",
                            (unsigned long long)threads->keys[i]);
        if (thread && thread->priority != EXTRACT_NO_PRIORITY)
            extract_text_printf(run->text, ",\"priority\":%u", thread->priority);
        extract_text_putc(run->text, '}');
    }
    extract_text_putc(run->text, ']');
}

static void put_objects(struct export_run *run)
{
    const struct export_numbers *objects = &html_of(run)->objects;

    extract_text_puts(run->text, ",\n\"objects\":[");
    for (size_t i = 0; i < objects->count; i++) {
        char buffer[EXPORT_NAME_BYTES];
        const struct extract_object *object = extract_trace_object(run->trace, objects->keys[i]);
        extract_text_puts(run->text, i ? ",\n{" : "\n{");
        put_member(run, "name", export_name(run, false, objects->keys[i], buffer));
        extract_text_putc(run->text, ',');
        put_member(run, "kind", object ? object->type_name : "object");
        extract_text_putc(run->text, '}');
    }
    extract_text_putc(run->text, ']');
}

static void put_types(struct export_run *run)
{
    const struct html *html = html_of(run);

    extract_text_puts(run->text, ",\n\"types\":[");
    for (size_t i = 0; i < html->type_count; i++) {
        const struct html_type *type = &html->types[i];
        extract_text_printf(run->text, "%s\n{\"id\":%u,", i ? "," : "", type->id);
        put_member(run, "name", type->name);
        extract_text_putc(run->text, ',');
        put_member(run, "class", extract_class_name(type->type->class_));
        extract_text_puts(run->text, ",\"labels\":[");
        for (unsigned j = 0; j < type->type->fields; j++) {
            const struct extract_field_type *field = &type->type->field[j];
            extract_text_puts(run->text, j ? "," : "");
            put_json(run, field->kind == EXTRACT_KIND_NONE ? "" : field->label);
        }
        extract_text_putc(run->text, ']');
        if (type->id >= EXTRACT_ID_MARKS)
            extract_text_puts(run->text, extract_id_is_loss(type->id) ? ",\"mark\":\"loss\""
                                                                      : ",\"mark\":\"marker\"");
        extract_text_putc(run->text, '}');
    }
    extract_text_putc(run->text, ']');
}

static void put_chain(struct export_run *run, const struct extract_why *why,
                      const struct extract_chain *chain, bool is_first)
{
    struct extract_text *sentence = &html_of(run)->text;

    extract_text_printf(run->text, "%s\n{\"thread\":%zu,\"from\":%llu,\"to\":%llu,\"waiting\":%s,",
                        is_first ? "" : ",",
                        export_number(run, &html_of(run)->threads, chain->thread) + 1,
                        (unsigned long long)chain->from, (unsigned long long)chain->to,
                        chain->is_waiting ? "true" : "false");
    extract_text_puts(run->text, "\"segments\":[");
    for (size_t i = chain->first; i < chain->first + chain->count; i++) {
        const struct extract_segment *segment = &why->segments[i];
        sentence->used = 0;
        report_why_segment(sentence, run->trace, segment,
                           chain->is_waiting && segment->to == chain->to);
        extract_text_putc(sentence, 0);
        extract_text_printf(run->text, "%s{\"from\":%llu,\"to\":%llu,\"depth\":%u,",
                            i > chain->first ? "," : "", (unsigned long long)segment->from,
                            (unsigned long long)segment->to, segment->depth);
        if (segment->has_who && !segment->in_isr && segment->kind == EXTRACT_SEGMENT_BLOCKED)
            extract_text_printf(run->text, "\"holder\":%llu,",
                                (unsigned long long)thread_number(run, segment->who));
        put_member(run, "kind", extract_segment_kind_name(segment->kind));
        extract_text_putc(run->text, ',');
        put_member(run, "text", sentence->code ? "" : sentence->data);
        extract_text_putc(run->text, '}');
    }
    extract_text_puts(run->text, "]}");
}

// Explains the longest responses of each thread, as far as they are in what the page shows.
static void put_chains(struct export_run *run)
{
    struct html *html = html_of(run);
    size_t explained = 0, put = 0;

    extract_text_puts(run->text, ",\n\"why\":[");
    for (size_t i = 0; i < html->threads.count && explained < EXPLAINED && !run->code; i++) {
        char name[24];
        struct extract_why *why;
        if (!run->has_waits || i >= html->response_capacity || !html->responses[i])
            continue;
        snprintf(name, sizeof name, "0x%llx", (unsigned long long)html->threads.keys[i]);
        const struct extract_why_options options = {
            .size = sizeof options, .thread = name, .worst = LONGEST};
        explained++;
        enum extract_code code = extract_why_new(&why, run->trace, &options, NULL);
        if (code == EXTRACT_NOMEM)
            export_fail(run, code, "export", "out of memory");
        if (code)
            continue;
        for (size_t j = 0; j < why->chain_count; j++)
            if (why->chains[j].from >= html->from && why->chains[j].to <= html->to)
                put_chain(run, why, &why->chains[j], !put++);
        extract_why_free(why);
    }
    extract_text_putc(run->text, ']');
}

static void put_words(struct export_run *run, const char *key, const char *(*word)(unsigned i),
                      unsigned count)
{
    extract_text_printf(run->text, ",\n\"%s\":[", key);
    for (unsigned i = 0; i < count; i++)
        extract_text_printf(run->text, "%s\"%s\"", i ? "," : "", word(i));
    extract_text_putc(run->text, ']');
}

static const char *runner_word(unsigned i)
{
    return extract_runner_name((enum extract_runner)i);
}

static const char *state_word(unsigned i)
{
    return extract_thread_state_name((enum extract_thread_state)i);
}

static const char *reason_word(unsigned i)
{
    return extract_wake_reason_name((enum extract_wake_reason)i);
}

static const char *context_word(unsigned i)
{
    return extract_context_name((enum extract_context)i);
}

// How large the tables are, so that their columns can be made before the first block is read.
static void put_sizes(struct export_run *run)
{
    extract_text_puts(run->text, ",\n\"tables\":{");
    for (unsigned i = 0; i <= TABLES; i++) {
        const struct html_table *table =
            i < TABLES ? &html_of(run)->table[i] : &html_of(run)->times.table;
        extract_text_printf(run->text, "%s\"%s\":{\"rows\":%llu,\"most\":[", i ? "," : "",
                            table->name, (unsigned long long)table->written);
        for (unsigned c = 0; c < table->columns; c++)
            extract_text_printf(run->text, "%s%llu", c ? "," : "",
                                (unsigned long long)table->most[c]);
        extract_text_puts(run->text, "]}");
    }
    extract_text_putc(run->text, '}');
}

static void put_facts(struct export_run *run)
{
    const struct extract_info *info = extract_trace_info(run->trace);
    struct extract_error no_schedule;

    extract_text_printf(run->text, "<script type=\"application/json\" data-trace=\"%u\">{",
                        run->part);
    put_member(run, "title", run->title ? run->title : "");
    extract_text_putc(run->text, ',');
    put_member(run, "format", extract_trace_snapshot(run->trace)->ring.format->title);
    bool is_high_first = run->trace->priority_order == EXTRACT_PRIORITY_HIGH_FIRST;
    extract_text_printf(run->text, ",\"highFirst\":%s", is_high_first ? "true" : "false");
    extract_text_printf(
        run->text, ",\"hz\":%llu,\"cores\":%u,\"schedule\":%s,\"waits\":%s,\"log\":%s",
        (unsigned long long)run->hz, info->cores, run->has_schedule ? "true" : "false",
        run->has_waits ? "true" : "false", info->log ? "true" : "false");
    if (schedule_check(run->trace, &no_schedule)) {
        extract_text_putc(run->text, ',');
        put_member(run, "scheduleHint", no_schedule.hint);
    }
    extract_text_printf(run->text,
                        ",\"damaged\":%llu,\"lost\":%llu,\"lostKnown\":%s,\"wrapped\":%s,"
                        "\"longest\":%d",
                        (unsigned long long)(info->entries_damaged + info->entries_unread),
                        (unsigned long long)info->events_lost, info->lost_known ? "true" : "false",
                        info->wrapped ? "true" : "false", LONGEST);
    put_sizes(run);
    put_words(run, "runners", runner_word, EXTRACT_RUNNER_INIT + 1);
    put_words(run, "states", state_word, EXTRACT_STATE_TERMINATED + 1);
    put_words(run, "reasons", reason_word, EXTRACT_WAKE_TICK + 1);
    put_words(run, "contexts", context_word, EXTRACT_RECORDER + 1);
    put_chains(run); // before the threads, of which it may name another
    put_threads(run);
    put_objects(run);
    put_types(run);
    extract_text_puts(run->text, "}</script>\n");
}

// ---- the page ----

static void begin(struct export_run *run)
{
    struct html *html = html_of(run);

    memcpy(html->table, tables, sizeof tables);
    html->times.table = (struct html_table){.name = "time", .column = time_columns, .columns = 1};
    for (unsigned i = 0; i < TABLES; i++)
        html->table[i].times = &html->times;
    html->table[FIELD].keys = &html->table[EVENT];
    html->from = UINT64_MAX;
    extract_text_init(&html->text, NULL, NULL);
    extract_text_init(&html->plain, NULL, NULL);
    if (run->part == 0)
        extract_text_put(run->text, page, (size_t)(strstr(page, data_mark) - page));
}

static void end(struct export_run *run)
{
    struct html *html = html_of(run);

    for (unsigned i = 0; i < TABLES; i++)
        html_table_end(run, &html->table[i]);
    html_table_end(run, &html->times.table);
    put_facts(run);
    if (run->part + 1 == run->parts)
        extract_text_puts(run->text, strstr(page, data_mark) + strlen(data_mark));
}

static void close_html(struct export_run *run)
{
    struct html *html = html_of(run);

    for (unsigned i = 0; i < TABLES; i++)
        html_table_free(&html->table[i]);
    html_table_free(&html->times.table);
    free(html->times.known);
    export_numbers_free(&html->threads);
    export_numbers_free(&html->objects);
    extract_map_free(&html->type_places);
    for (size_t i = 0; i < html->type_count; i++)
        free(html->types[i].name);
    free(html->types);
    free(html->responses);
    extract_text_free(&html->text);
    extract_text_free(&html->plain);
}

const struct exporter export_html = {
    .kind = {"html", ".html", "a page that shows it in any browser", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct html),
    .takes_two = true,
    .fills_holes = true,
    .begin = begin,
    .object = put_object,
    .event = put_event,
    .slice = put_slice,
    .state = put_state,
    .wake = put_wake,
    .owner = put_owner,
    .response = put_response,
    .loss = put_loss,
    .end = end,
    .close = close_html,
};
