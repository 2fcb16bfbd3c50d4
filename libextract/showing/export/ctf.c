// SPDX-License-Identifier: MIT
// export: Common Trace Format 1.8, for babeltrace2 and Trace Compass: the events of a trace as the
// target recorded them, and its losses.
//
// All events of a type that store the same fields form a class. The classes that a trace has are
// known at its end; so the metadata, which declare them, are written last:
//
//     event ─► class, found or added ─► its values, one after another ─► packet of its core
//
// Values that reports print as words are enumerations. A value that has a name, such as an
// object's, is followed by a string with that name.
#include "export/ctf_stream.h"
#include "base/grow.h"
#include "events/events_room.h"
#include "formats/format.h"
#include "report/text_cache.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    CACHE_BITS = 8,
    CONTEXT_BYTES = 8 + 8 + 1 + 1 + 4 + 4 + 8,
    MAX_WORDS = 64,       // values of an enumeration
    IDENTIFIER_BYTES = 48 // of a field's identifier, with its NUL
};

// What the events of a class have in common.
struct ctf_class {
    const struct extract_event_type *type;
    uint8_t fields; // that each event stores
    bool is_wide;   // numbers have 64 bits; otherwise 32
    bool has_data;  // the payload as stored
    uint8_t count;  // of `value`
    struct {
        uint8_t field;
        uint8_t kind;  // enum extract_kind
        bool has_name; // a string with its name follows
    } value[EXTRACT_FIELDS_MAX];
};

struct ctf {
    struct ctf_trace trace;
    struct ctf_class *classes; // by number; owned
    size_t count, capacity;
    struct extract_map numbers;       // of classes, by class_key
    uint32_t recent[1 << CACHE_BITS]; // by a hash of the event's id: number + 1 of a class
    struct text_cache names;          // of values and threads
    uint64_t registry;                // that `names` was filled from
    struct extract_text scratch;      // a name that is made for `names`
    struct extract_text declarations; // metadata of all classes
    bool is_marked;                   // the newest event is a marker
    bool has_narrow_words;            // the target's words have 32 bits
};

static void fail_for_memory(struct export_run *run)
{
    export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
}

// ---- declarations ----

static bool is_enumeration(enum extract_kind kind)
{
    return kind == EXTRACT_KIND_WAIT || kind == EXTRACT_KIND_BOOL ||
           kind == EXTRACT_KIND_THREAD_STATE || kind == EXTRACT_KIND_TCP_STATE ||
           kind == EXTRACT_KIND_FLAGS_GET || kind == EXTRACT_KIND_FLAGS_SET ||
           kind == EXTRACT_KIND_LOSS || kind == EXTRACT_KIND_ACTION || kind == EXTRACT_KIND_VERDICT;
}

static bool has_name(enum extract_kind kind)
{
    return kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE ||
           kind == EXTRACT_KIND_STRING || kind == EXTRACT_KIND_IPV4 || kind == EXTRACT_KIND_TEXT ||
           kind == EXTRACT_KIND_SIGNAL || kind == EXTRACT_KIND_POOL ||
           kind == EXTRACT_KIND_USER_EVENT || kind == EXTRACT_KIND_EVENT;
}

static bool is_decimal(enum extract_kind kind)
{
    return kind == EXTRACT_KIND_DEC || kind == EXTRACT_KIND_TICKS || kind == EXTRACT_KIND_SIGNAL ||
           kind == EXTRACT_KIND_POOL || kind == EXTRACT_KIND_USER_EVENT ||
           kind == EXTRACT_KIND_EVENT;
}

// Declares the enumeration of a kind, with numbers of 32 or 64 bits. Those of 64 bits are signed,
// and no bound is beyond 63 bits: Trace Compass reads no larger numbers.
static void put_enumeration(struct extract_text *text, enum extract_kind kind, bool is_wide)
{
    extract_text_printf(text, "typealias enum : %s {", is_wide ? "int64_t" : "uint32_t");
    if (kind == EXTRACT_KIND_WAIT) {
        extract_text_puts(text, " \"none\" = 0, \"ticks\" = 1 ... 4294967294, "
                                "\"forever\" = 4294967295");
        if (is_wide)
            extract_text_puts(text, ", \"ticks\" = 4294967296 ... 9223372036854775807, "
                                    "\"ticks\" = -9223372036854775807 ... -2, \"forever\" = -1");
    } else if (kind == EXTRACT_KIND_BOOL) {
        extract_text_printf(text, " \"no\" = 0, \"yes\" = 1 ... %s",
                            is_wide ? "9223372036854775807, \"yes\" = -9223372036854775807 ... -1"
                                    : "4294967295");
    } else {
        const char *comma = "";
        for (unsigned i = 0; i < MAX_WORDS; i++) {
            const char *word = extract_kind_word(kind, i);
            if (word)
                extract_text_printf(text, "%s \"%s\" = %u", comma, word, i);
            comma = word ? "," : comma;
        }
    }
    extract_text_printf(text, " } := enum%u_%s_t;\n", (unsigned)kind, is_wide ? "64" : "32");
}

static void put_enumerations(struct extract_text *text)
{
    for (unsigned kind = 0; kind <= EXTRACT_KIND_VERDICT; kind++) {
        if (!is_enumeration((enum extract_kind)kind))
            continue;
        put_enumeration(text, (enum extract_kind)kind, false);
        put_enumeration(text, (enum extract_kind)kind, true);
    }
}

// The identifiers of a class that were declared.
struct identifiers {
    char name[2 * EXTRACT_FIELDS_MAX + 4][IDENTIFIER_BYTES];
    unsigned count;
};

static bool is_used(const struct identifiers *used, const char *name)
{
    for (unsigned i = 0; i < used->count; i++)
        if (strcmp(used->name[i], name) == 0)
            return true;
    return false;
}

// Makes an identifier of a label that no other field of the class has. It begins with an
// underscore, which readers drop: so it is never one of the language's own words.
static const char *make_identifier(struct identifiers *used, const char *label, const char *suffix)
{
    char base[IDENTIFIER_BYTES / 2], *name = used->name[used->count];
    size_t length = 0;

    for (; label[length] && length < sizeof base - 1; length++) {
        char c = label[length];
        bool is_plain = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
        base[length] = is_plain ? c : '_';
    }
    base[length] = 0;
    snprintf(name, IDENTIFIER_BYTES, "_%s%s", base, suffix);
    for (unsigned i = 2; is_used(used, name); i++)
        snprintf(name, IDENTIFIER_BYTES, "_%s%s_%u", base, suffix, i);
    used->count++;
    return name;
}

// Declares a value by its identifier, and its name by another one.
static void put_value_declaration(struct ctf *ctf, struct identifiers *used, const char *identifier,
                                  const struct ctf_class *class_, unsigned i)
{
    enum extract_kind kind = (enum extract_kind)class_->value[i].kind;
    const char *label = class_->type->field[class_->value[i].field].label;
    const char *bits = class_->is_wide ? "64" : "32";

    if (kind == EXTRACT_KIND_TEXT) { // its number means nothing
        extract_text_printf(&ctf->declarations, "        string %s;\n", identifier);
        return;
    }
    if (is_enumeration(kind))
        extract_text_printf(&ctf->declarations, "        enum%u_%s_t", (unsigned)kind, bits);
    else
        extract_text_printf(&ctf->declarations, "        %s%s_t", is_decimal(kind) ? "uint" : "hex",
                            bits);
    extract_text_printf(&ctf->declarations, " %s;\n", identifier);
    if (class_->value[i].has_name)
        extract_text_printf(&ctf->declarations, "        string %s;\n",
                            make_identifier(used, label, "_name"));
}

static void put_class(struct ctf *ctf, const struct ctf_class *class_)
{
    struct extract_text *text = &ctf->declarations;
    struct identifiers used = {.count = 0};
    const char *identifiers[EXTRACT_FIELDS_MAX];

    extract_text_puts(text, "event {\n    name = ");
    ctf_put_string(text, class_->type->symbol);
    extract_text_printf(text, ";\n    id = %zu;\n    stream_id = 0;\n    fields := struct {\n",
                        ctf->count + CTF_LOST_ID + 1);
    if (class_->type->range)
        extract_text_printf(text, "        uint32_t %s;\n", make_identifier(&used, "id", ""));
    for (unsigned i = 0; i < class_->count; i++)
        identifiers[i] =
            make_identifier(&used, class_->type->field[class_->value[i].field].label, "");
    for (unsigned i = 0; i < class_->count; i++)
        put_value_declaration(ctf, &used, identifiers[i], class_, i);
    if (class_->has_data) {
        const char *length = make_identifier(&used, "data_length", "");
        extract_text_printf(text, "        uint32_t _%s;\n        hex8_t %s[_%s];\n", length,
                            make_identifier(&used, "data", ""), length);
    }
    if (class_->type->range)
        extract_text_printf(text, "        string %s;\n", make_identifier(&used, "text", ""));
    extract_text_puts(text, "    };\n};\n\n");
}

// Appends the context that all events have.
static void put_context(struct extract_text *text)
{
    static const char *const flags[] = {"provisional", "gap", "backwards", "untimed"};

    extract_text_puts(text, "    event.context := struct {\n        uint64_t _seq;\n"
                            "        hex64_t _raw_stamp;\n        enum : uint8_t {\n"
                            "            \"none\" = 0");
    for (unsigned value = 1; value < 16; value++) {
        const char *bar = "";
        extract_text_puts(text, ",\n            \"");
        for (unsigned i = 0; i < 4; i++)
            if (value >> i & 1) {
                extract_text_printf(text, "%s%s", bar, flags[i]);
                bar = "|";
            }
        extract_text_printf(text, "\" = %u", value);
    }
    extract_text_puts(text, "\n        } _flags;\n        enum : uint8_t {");
    for (unsigned i = 0; i <= EXTRACT_RECORDER; i++)
        extract_text_printf(text, "%s \"%s\" = %u", i ? "," : "",
                            extract_context_name((enum extract_context)i), i);
    extract_text_puts(text,
                      " } _context;\n        int32_t _priority;\n        int32_t _threshold;\n"
                      "        hex64_t _thread;\n        string _thread_name;\n    };\n");
}

// ---- classes ----

// Returns whether a number of the event needs 64 bits. On a target with 64-bit words, all have as
// many, so that a field does not change its size from event to event.
static bool is_wide(const struct export_run *run, const struct extract_event *event,
                    unsigned fields)
{
    const struct ctf *ctf = run->state;
    uint64_t bits = 0;

    for (unsigned i = 0; i < fields; i++)
        bits |= extract_event_stored(run->trace, event, i);
    return !ctf->has_narrow_words || bits > UINT32_MAX;
}

static uint64_t class_key(const struct ctf_class *class_)
{
    return (uint64_t)(uintptr_t)class_->type ^ (uint64_t)class_->fields << 56 ^
           (uint64_t)class_->is_wide << 60 ^ (uint64_t)class_->has_data << 61;
}

// Adds a class for which only what its key consists of is set.
static bool add_class(struct ctf *ctf, struct ctf_class *class_)
{
    struct ctf_class *classes =
        extract_grow(ctf->classes, &ctf->capacity, ctf->count, sizeof *classes);

    if (!classes)
        return false;
    ctf->classes = classes;
    for (unsigned i = 0; i < class_->fields; i++) {
        enum extract_kind kind = class_->type->field[i].kind;
        if (kind == EXTRACT_KIND_NONE)
            continue;
        class_->value[class_->count].field = (uint8_t)i;
        class_->value[class_->count].kind = (uint8_t)kind;
        class_->value[class_->count++].has_name = has_name(kind);
    }
    put_class(ctf, class_);
    classes[ctf->count++] = *class_;
    return !ctf->declarations.code;
}

// Returns the number of an event's class; SIZE_MAX after a failure.
static size_t find_class(struct export_run *run, const struct extract_event *event)
{
    struct ctf *ctf = run->state;
    uint32_t *recent = &ctf->recent[event->id * UINT32_C(0x9E3779B1) >> (32 - CACHE_BITS)];
    const struct ctf_class *last = *recent ? &ctf->classes[*recent - 1] : NULL;
    struct ctf_class class_ = {.type = event->type, .fields = (uint8_t)report_fields(event)};

    class_.is_wide = is_wide(run, event, class_.fields);
    class_.has_data = event->data != NULL;
    if (last && last->type == class_.type && last->fields == class_.fields &&
        last->is_wide == class_.is_wide && last->has_data == class_.has_data)
        return *recent - 1;
    uint32_t *number = extract_map_at(&ctf->numbers, class_key(&class_));
    if (!number || (!*number && !add_class(ctf, &class_))) {
        fail_for_memory(run);
        return SIZE_MAX;
    }
    if (!*number)
        *number = (uint32_t)ctf->count;
    *recent = *number;
    return *number - 1;
}

// ---- events ----

// Stores the name that was made in the scratch text.
static const struct text_cache_entry *keep_name(struct export_run *run, uint64_t key, uint32_t tag)
{
    struct ctf *ctf = run->state;
    const struct text_cache_entry *entry = NULL;

    extract_text_putc(&ctf->scratch, 0);
    if (!ctf->scratch.code && !run->names.found.code)
        entry = text_cache_add(&ctf->names, key, tag, ctf->scratch.data, ctf->scratch.used, 0);
    if (!entry)
        fail_for_memory(run);
    return entry;
}

// Makes the name of a value: what reports print for it, such as "none" or a number if it has none.
// A name is never empty, since babeltrace2 2.0 then prints an earlier one.
static const struct text_cache_entry *make_value_name(struct export_run *run,
                                                      enum extract_kind kind, uint64_t value)
{
    struct ctf *ctf = run->state;

    ctf->scratch.used = 0;
    const char *name = value_names_find(&run->names, kind, value);
    if (name && *name)
        extract_text_escaped(&ctf->scratch, name);
    else
        value_names_put(&run->names, kind, value, &ctf->scratch);
    return keep_name(run, value, TEXT_CACHE_VALUE + (uint32_t)kind);
}

static const struct text_cache_entry *make_thread_name(struct export_run *run,
                                                       const struct extract_event *event)
{
    struct ctf *ctf = run->state;
    const struct extract_object *thread =
        extract_trace_thread_at(run->trace, event->thread, event->seq);

    ctf->scratch.used = 0;
    if (thread)
        extract_text_puts(&ctf->scratch, thread->shown);
    else
        value_names_put(&run->names, EXTRACT_KIND_OBJECT, event->thread, &ctf->scratch);
    return keep_name(run, event->thread, TEXT_CACHE_CONTEXT);
}

// Appends a name, which may be NULL after a failure, with its NUL.
static void put_name(struct ctf *ctf, struct ctf_stream *stream,
                     const struct text_cache_entry *name)
{
    if (!name || !ctf_reserve(&ctf->trace, stream, name->length + TEXT_WRITER_BLOCK))
        return;
    memcpy(stream->at, name->bytes, TEXT_WRITER_BLOCK);
    if (name->length > TEXT_WRITER_BLOCK)
        memcpy(stream->at, name->bytes, name->length);
    stream->at += name->length;
}

static void put_head(struct export_run *run, struct ctf_stream *stream,
                     const struct extract_event *event)
{
    struct ctf *ctf = run->state;
    const struct text_cache_entry *name =
        text_cache_find(&ctf->names, event->thread, TEXT_CACHE_CONTEXT);

    if (!ctf_reserve(&ctf->trace, stream, CONTEXT_BYTES))
        return;
    ctf_put64(stream, event->seq);
    ctf_put64(stream, event->raw_stamp);
    ctf_put8(stream, event->flags & 15);
    ctf_put8(stream, event->context);
    ctf_put32(stream, report_has_priority(event) ? event->priority : UINT32_MAX);
    ctf_put32(stream, report_has_threshold(event) ? event->threshold : UINT32_MAX);
    ctf_put64(stream, event->thread);
    put_name(ctf, stream, name ? name : make_thread_name(run, event));
}

static void put_values(struct export_run *run, struct ctf_stream *stream,
                       const struct ctf_class *class_, const struct extract_event *event)
{
    struct ctf *ctf = run->state;

    if (!ctf_reserve(&ctf->trace, stream, (EXTRACT_FIELDS_MAX + 1) * 8))
        return;
    if (class_->type->range)
        ctf_put32(stream, event->id);
    for (unsigned i = 0; i < class_->count; i++) {
        uint64_t value = event->field[class_->value[i].field];
        enum extract_kind kind = (enum extract_kind)class_->value[i].kind;
        if (kind == EXTRACT_KIND_TEXT)
            ; // only the string
        else if (class_->is_wide)
            ctf_put64(stream, extract_event_stored(run->trace, event, class_->value[i].field));
        else
            ctf_put32(stream,
                      (uint32_t)extract_event_stored(run->trace, event, class_->value[i].field));
        if (!class_->value[i].has_name)
            continue;
        const struct text_cache_entry *name =
            text_cache_find(&ctf->names, value, TEXT_CACHE_VALUE + (uint32_t)kind);
        put_name(ctf, stream, name ? name : make_value_name(run, kind, value));
        if (!ctf_reserve(&ctf->trace, stream, EXTRACT_FIELDS_MAX * 8))
            return;
    }
}

// Appends what only events of some classes have: the payload, and the text of events whose meaning
// their fields do not show.
static void put_rest(struct export_run *run, struct ctf_stream *stream,
                     const struct ctf_class *class_, const struct extract_event *event)
{
    struct ctf *ctf = run->state;
    size_t length;

    if (class_->has_data && ctf_reserve(&ctf->trace, stream, 4 + (size_t)event->data_bytes)) {
        ctf_put32(stream, event->data_bytes);
        ctf_put_bytes(stream, event->data, event->data_bytes);
    }
    if (!class_->type->range)
        return;
    const char *text = export_event_text(run, event, &length);
    if (!ctf_reserve(&ctf->trace, stream, length + 2))
        return;
    for (size_t i = 0; i < length; i++)
        ctf_put8(stream, text[i] ? (uint8_t)text[i] : ' ');
    if (!length)
        ctf_put8(stream, ' ');
    ctf_put8(stream, 0);
}

static void put_record(struct export_run *run, const struct extract_event *event)
{
    struct ctf *ctf = run->state;
    uint64_t registry = extract_trace_naming(run->trace, event->seq);

    if (registry != ctf->registry)
        text_cache_clear(&ctf->names);
    ctf->registry = registry;
    size_t number = find_class(run, event);
    if (number == SIZE_MAX)
        return;
    bool is_timed = !(event->flags & EXTRACT_FLAG_UNTIMED);
    struct ctf_stream *stream =
        ctf_event_open(&ctf->trace, event->core, is_timed ? event->ticks : ctf->trace.last,
                       (uint32_t)number + CTF_LOST_ID + 1);
    if (!stream)
        return;
    put_head(run, stream, event);
    put_values(run, stream, &ctf->classes[number], event);
    put_rest(run, stream, &ctf->classes[number], event);
}

static void put_event(struct export_run *run, const struct extract_event *event)
{
    struct ctf *ctf = run->state;

    if (event->flags & EXTRACT_FLAG_GAP && !ctf->is_marked)
        ctf_discard(&ctf->trace, event->core, event->ticks, 1);
    ctf->is_marked = false;
    put_record(run, event);
}

static void put_loss(struct export_run *run, const struct extract_event *marker)
{
    struct ctf *ctf = run->state;

    run->names.seq = marker->seq;
    ctf->is_marked = true;
    put_record(run, marker);
    if (export_is_loss(run, marker->id))
        ctf_discard(&ctf->trace, marker->core, marker->ticks, ctf_lost_events(marker));
}

// Makes the context of the events ringside_lost: that of the recorder, without a thread.
static void make_lost_context(struct ctf_trace *trace)
{
    struct ctf_stream context = {.at = trace->lost_context};

    ctf_put64(&context, UINT64_MAX); // seq
    ctf_put64(&context, 0);
    ctf_put8(&context, EXTRACT_FLAG_GAP);
    ctf_put8(&context, EXTRACT_RECORDER);
    ctf_put32(&context, UINT32_MAX);
    ctf_put32(&context, UINT32_MAX);
    ctf_put64(&context, 0);
    ctf_put8(&context, 0);
    trace->lost_context_bytes = (size_t)(context.at - trace->lost_context);
}

// ---- the run ----

static void begin(struct export_run *run)
{
    struct ctf *ctf = run->state;

    ctf->has_narrow_words = extract_trace_info(run->trace)->word_bytes == 4;
    if (!extract_map_init(&ctf->numbers, 64))
        fail_for_memory(run);
    ctf_open(&ctf->trace, run, run->path, "core");
    make_lost_context(&ctf->trace);
}

static void end(struct export_run *run)
{
    struct ctf *ctf = run->state;
    struct extract_text text;

    ctf_finish(&ctf->trace);
    extract_text_init(&text, NULL, NULL);
    ctf_head(&ctf->trace, &text, "    tracer_name = \"ringside\";\n");
    put_enumerations(&text);
    extract_text_putc(&text, '\n');
    ctf_begin_stream(&text);
    put_context(&text);
    extract_text_puts(&text, "};\n\n");
    ctf_put_lost_class(&text);
    extract_text_put(&text, ctf->declarations.data, ctf->declarations.used);
    ctf_write_metadata(&ctf->trace, &text);
    extract_text_free(&text);
}

static void close_ctf(struct export_run *run)
{
    struct ctf *ctf = run->state;

    ctf_close(&ctf->trace);
    extract_map_free(&ctf->numbers);
    text_cache_clear(&ctf->names);
    extract_text_free(&ctf->scratch);
    extract_text_free(&ctf->declarations);
    free(ctf->classes);
}

const struct exporter export_ctf = {
    .kind = {"ctf", NULL, "Common Trace Format, for babeltrace2", EXTRACT_EXPORT_DIRECTORY},
    .state_bytes = sizeof(struct ctf),
    .begin = begin,
    .event = put_event,
    .loss = put_loss,
    .end = end,
    .close = close_ctf,
};
