// SPDX-License-Identifier: MIT
// report/columns: the entry builder. Turns events into hook entries, finds their templates, and
// names values for them.
//
// Source: docs/formats, the sections "As hook entries", which define what each event becomes.
#include "report/columns/entry_builder.h"
#include "base/cursor.h"
#include "formats/format.h"
#include "templates/program.h"
#include "events/events_room.h"
#include "report/text_table.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INFO_WORDS = 4, // data words D1 to D4; D5 is the priority word
    DATA_WORDS = INFO_WORDS + 1,
    TYPE_DATA = 0xE,        // in a 32-bit hook word: data words and a timestamp follow
    FLAGS_STAMP = 0x8000,   // in a 64-bit hook word: the same
    FIRST_LONG_ID = 0x1000, // ids below have three digits
    MAX_ID_DIGITS = 8
};

// Further tags of the text cache, beyond enum text_cache_tag.
enum {
    TAG_LABEL = 64, // label of a field; the key is the label's address
    TAG_TYPE        // name of an event; the key is its id
};

// Writes a word of an entry, which is big-endian, and returns its end.
static inline __attribute__((always_inline)) uint8_t *put_word(uint8_t *to, unsigned word_bytes,
                                                               uint64_t value)
{
    uint64_t wide = EXTRACT_HOST_BIG ? value : __builtin_bswap64(value);
    uint32_t low = EXTRACT_HOST_BIG ? (uint32_t)value : __builtin_bswap32((uint32_t)value);

    if (word_bytes == 8)
        memcpy(to, &wide, sizeof wide);
    else
        memcpy(to, &low, sizeof low);
    return to + word_bytes;
}

// Returns the 16-bit hook id of an event's id: ids of three digits are in the upper 12 bits.
static inline uint16_t hook_of(uint32_t id)
{
    return (uint16_t)(id < FIRST_LONG_ID ? id << 4 : id);
}

static uint64_t hook_word(const struct extract_entry *entry)
{
    if (entry->bits == 32)
        return (uint32_t)entry->hook >> 4 << 20 | (uint32_t)TYPE_DATA << 16 | entry->data;
    return (uint64_t)FLAGS_STAMP << 48 | (uint64_t)entry->bytes_of_data << 32 |
           (uint64_t)entry->hook << 16 | entry->data;
}

// ---- names ----

// Writes a number as templates print macros: 0x and 4, 8 or 16 upper-case digits.
static void put_hex(struct extract_text *out, uint64_t value)
{
    char digits[TEXT_WRITER_NUMBER + TEXT_WRITER_BLOCK];
    struct text_writer writer = {NULL, digits, digits + sizeof digits};

    TEXT_WRITER_LITERAL(&writer, "0x");
    text_writer_upper(&writer, value, value > UINT32_MAX ? 16 : value > UINT16_MAX ? 8 : 4);
    extract_text_put(out, digits, (size_t)(writer.at - digits));
}

// Adds the scratch text to a cache, with its NUL. Returns NULL if memory is short.
static const struct text_cache_entry *
cache_scratch(struct entry_builder *builder, struct text_cache *cache, uint64_t key, uint32_t tag)
{
    struct extract_text *out = &builder->scratch;
    const struct text_cache_entry *cached = NULL;

    extract_text_putc(out, 0);
    if (!out->code && !builder->names.found.code)
        cached =
            text_cache_add(cache, key, tag, out->data, out->used, extract_text_columns(out->data));
    builder->failed |= !cached;
    return cached;
}

static struct entry_builder_text text_of(const struct text_cache_entry *cached)
{
    static const char nothing[1 + TEXT_WRITER_BLOCK] = "";

    return cached ? (struct entry_builder_text){cached->bytes, cached->length - 1, cached->columns}
                  : (struct entry_builder_text){nothing, 0, 0};
}

static struct entry_builder_text number_text(struct entry_builder *builder, uint64_t value)
{
    struct text_writer writer = {NULL, builder->number, builder->number + sizeof builder->number};

    text_writer_dec(&writer, value);
    uint32_t length = (uint32_t)(writer.at - builder->number);
    *writer.at = 0;
    return (struct entry_builder_text){builder->number, length, length};
}

// Makes the text of a value. An address without a name is printed as templates print addresses.
static struct entry_builder_text make_value_text(struct entry_builder *builder,
                                                 enum extract_kind kind, uint64_t value)
{
    bool is_address = kind == EXTRACT_KIND_STRING ||
                      (value && (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE));

    builder->scratch.used = 0;
    if (is_address && !value_names_find(&builder->names, kind, value))
        put_hex(&builder->scratch, value);
    else
        value_names_put(&builder->names, kind, value, &builder->scratch);
    return text_of(
        cache_scratch(builder, &builder->cache, value, TEXT_CACHE_VALUE + (uint32_t)kind));
}

// Returns the text of a value. Plain numbers are not cached, since they would fill the cache.
static inline struct entry_builder_text value_text(struct entry_builder *builder,
                                                   enum extract_kind kind, uint64_t value)
{
    if (kind == EXTRACT_KIND_DEC || kind == EXTRACT_KIND_TICKS ||
        (kind == EXTRACT_KIND_WAIT && !value_name_of_wait(value)))
        return number_text(builder, value);
    const struct text_cache_entry *cached =
        text_cache_find(&builder->cache, value, TEXT_CACHE_VALUE + (uint32_t)kind);
    return cached ? text_of(cached) : make_value_text(builder, kind, value);
}

// Returns the kind by which a template's word is named. A word without a kind, or of a kind without
// names, may still be the address of an object.
static enum extract_kind naming_kind(const struct extract_event *event, unsigned word)
{
    enum extract_kind kind = EXTRACT_KIND_NONE;

    if (event && word && word <= event->type->fields)
        kind = event->type->field[word - 1].kind;
    switch (kind) {
    case EXTRACT_KIND_NONE:
    case EXTRACT_KIND_HEX:
    case EXTRACT_KIND_STACK:
    case EXTRACT_KIND_DATA:
        return EXTRACT_KIND_OBJECT;
    default:
        return kind;
    }
}

// Returns the key of the object that has an address in an event. Words of entries are addresses.
static uint64_t key_in(const struct entry_builder *builder, const struct extract_event *event,
                       uint64_t address)
{
    for (unsigned i = 0; event && i < event->fields && i < event->type->fields; i++)
        if (event->type->field[i].kind == EXTRACT_KIND_OBJECT && event->field[i] != address &&
            extract_trace_address(builder->trace, event->field[i]) == address)
            return event->field[i];
    return address;
}

// Names a value for a template: callback of extract_template_host.
static const char *name_for_template(void *context, const struct extract_entry *entry,
                                     uint64_t value, unsigned word, size_t *length)
{
    struct entry_builder *builder = context;
    enum extract_kind kind = naming_kind(entry->event, word);

    if (kind == EXTRACT_KIND_OBJECT && builder->trace->life_count)
        value = key_in(builder, entry->event, value);
    struct entry_builder_text text = value_text(builder, kind, value);
    *length = text.length;
    return text.bytes;
}

// Writes the context of an event to the scratch text. For an interrupt, adds the thread that it
// interrupted: "interrupt/comms".
static void put_context(struct entry_builder *builder, const struct extract_event *event)
{
    static const char *const words[] = {
        [EXTRACT_ISR] = "interrupt", [EXTRACT_INIT] = "start-up", [EXTRACT_RECORDER] = "recorder"};
    struct extract_text *out = &builder->scratch;
    const struct extract_object *thread = NULL;

    if (event->context == EXTRACT_THREAD || (event->context == EXTRACT_ISR && event->thread))
        thread = extract_trace_thread_at(builder->trace, event->thread, event->seq);
    if (event->context != EXTRACT_THREAD)
        extract_text_puts(out, words[event->context]);
    if (event->context != EXTRACT_THREAD && thread)
        extract_text_putc(out, '/');
    if (thread)
        extract_text_puts(out, thread->shown);
    else if (event->context == EXTRACT_THREAD && !event->thread && builder->format->has_ownerless)
        extract_text_putc(out, '-');
    else if (event->context == EXTRACT_THREAD)
        extract_text_hex(out, event->thread, 8);
}

// Prepares the names for an event. Another registry may give the same addresses other names, so
// that cached names must be made again.
static inline void select_names(struct entry_builder *builder, const struct extract_event *event)
{
    uint64_t registry = extract_trace_naming(builder->trace, event->seq);

    if (registry != builder->registry) {
        text_cache_clear(&builder->cache);
        text_cache_clear(&builder->context_names);
    }
    builder->registry = registry;
    builder->names.seq = event->seq;
}

struct entry_builder_text entry_builder_context_name(struct entry_builder *builder,
                                                     const struct extract_event *event)
{
    uint64_t key = event->context <= EXTRACT_ISR ? event->thread : 0;
    uint32_t tag = TEXT_CACHE_CONTEXT + (uint32_t)event->context;

    select_names(builder, event);
    const struct text_cache_entry *cached = text_cache_find(&builder->context_names, key, tag);
    if (!cached) {
        builder->scratch.used = 0;
        put_context(builder, event);
        cached = cache_scratch(builder, &builder->context_names, key, tag);
    }
    return text_of(cached);
}

// ---- entries ----

// Sets what entries of events and of markers have in common.
static void set_common(struct entry_builder *builder, const struct extract_event *event,
                       struct extract_entry *entry)
{
    entry->cpu = event->core;
    entry->priority = event->priority;
    entry->pid = entry->tid = event->thread;
    builder->context_name = entry_builder_context_name(builder, event);
    entry->exec = builder->context_name.bytes;
    entry->svc = event->type->class_ == EXTRACT_SVC ? event->type->name : NULL;
    entry->log_file = builder->log_file;
}

// Writes all words of an entry. Inlined once for each word width.
static inline __attribute__((always_inline)) void
put_words(uint8_t *to, unsigned word_bytes, uint64_t hook, const struct extract_event *event)
{
    to = put_word(to, word_bytes, hook);
    for (unsigned i = 0; i < INFO_WORDS; i++)
        to = put_word(to, word_bytes, i < event->fields ? event->field[i] : 0);
    put_word(to, word_bytes, event->priority_word);
}

static struct extract_entry *build_words(struct entry_builder *builder,
                                         const struct extract_event *event)
{
    struct extract_entry *entry = &builder->words;

    set_common(builder, event, entry);
    entry->hook = hook_of(event->id);
    entry->data = (uint16_t)event->id;
    entry->log_offset = event->slot * (uint64_t)builder->slot_bytes;
    if (entry->bits == 64)
        put_words(builder->bytes, 8, hook_word(entry), event);
    else
        put_words(builder->bytes, 4, hook_word(entry), event);
    return entry;
}

static struct extract_entry *build_marker(struct entry_builder *builder,
                                          const struct extract_event *event)
{
    struct extract_entry *entry = &builder->mark;
    unsigned fields = report_fields(event);

    set_common(builder, event, entry);
    entry->hook = hook_of(ENTRY_BUILDER_MARKERS + (event->id & 0xFF));
    entry->data = (uint16_t)event->id;
    entry->bytes_of_data = fields * 8;
    entry->length = 8 + fields * 8;
    uint8_t *to = put_word(builder->bytes, 8, hook_word(entry));
    for (unsigned i = 0; i < fields; i++)
        to = put_word(to, 8, event->field[i]);
    return entry;
}

// Returns whether a template may print an event. A built-in template does not print types that the
// user named in a file, and built-in templates for markers print only markers.
static bool is_suitable(const struct entry_builder *builder, const struct extract_event *event,
                        const struct extract_template *chosen)
{
    bool is_marker = extract_event_is_mark(event);
    bool is_user_type = !is_marker && event->type != builder->format->type(event->id);
    bool is_for_markers = chosen->hook >= hook_of(ENTRY_BUILDER_MARKERS);

    return !template_is_builtin(chosen) || (!is_user_type && is_marker == is_for_markers);
}

const struct extract_template *entry_builder_find_template(const struct entry_builder *builder,
                                                           const struct extract_event *event)
{
    const struct extract_templates *templates = builder->templates;
    bool is_marker = extract_event_is_mark(event);
    uint32_t id = is_marker ? ENTRY_BUILDER_MARKERS + (event->id & 0xFF) : event->id;
    enum extract_hook_space space = is_marker ? EXTRACT_HOOKS_PLAIN : builder->format->hooks;
    const struct extract_template *chosen =
        templates ? extract_templates_find(templates, space, id) : NULL;

    if (!chosen && !is_marker && templates && builder->format->users_share &&
        id > builder->format->user_ids)
        chosen = extract_templates_find(templates, space, event->type->id);
    if (!chosen)
        return NULL;
    // Only these can be wrong, so that is_suitable is not called for every event.
    bool is_doubtful =
        event->type->class_ == EXTRACT_APPL || chosen->hook >= hook_of(ENTRY_BUILDER_MARKERS);
    return is_doubtful && !is_suitable(builder, event, chosen) ? NULL : chosen;
}

// Lets the format make the entry. If it declines, builds the entry from the event's words.
static struct extract_entry *build_own(struct entry_builder *builder,
                                       const struct extract_event *event)
{
    struct extract_entry *entry = &builder->own;
    const struct extract_ring *ring = builder->names.ring;

    *entry = (struct extract_entry){0};
    if (!builder->format->entries->make(ring, event, entry, builder->own_bytes))
        return build_words(builder, event);
    builder->context_name = entry_builder_context_name(builder, event);
    entry->exec = builder->context_name.bytes;
    entry->log_file = builder->log_file;
    return entry;
}

const struct extract_entry *entry_builder_build(struct entry_builder *builder,
                                                const struct extract_event *event,
                                                const struct extract_template **chosen)
{
    struct extract_entry *entry;
    struct extract_event plain = *event;

    if (builder->trace->life_count)
        lives_use_addresses(builder->trace, &plain);
    if (extract_event_is_mark(event))
        entry = build_marker(builder, &plain);
    else
        entry =
            builder->format->entries ? build_own(builder, &plain) : build_words(builder, &plain);
    entry->event = event;
    *chosen = entry_builder_find_template(builder, event);
    return entry;
}

unsigned entry_builder_put_id(const struct entry_builder *builder,
                              const struct extract_event *event, char id[ENTRY_BUILDER_ID_BYTES])
{
    bool is_marker = extract_event_is_mark(event);
    uint32_t value = is_marker ? ENTRY_BUILDER_MARKERS + (event->id & 0xFF) : event->id;
    unsigned digits = 3;

    if (!is_marker && builder->format->hooks == EXTRACT_HOOKS_16 && value & 0xF)
        digits = 4;
    else if (!is_marker && builder->format->hooks == EXTRACT_HOOKS_16)
        value >>= 4; // hook id hhh0 is printed as hhh
    while (digits < MAX_ID_DIGITS && value >> 4 * digits)
        digits++;
    struct text_writer writer = {NULL, id, id + ENTRY_BUILDER_ID_BYTES};
    text_writer_upper(&writer, value, digits);
    *writer.at = 0;
    return digits;
}

// ---- events without a template ----

// Returns the label of a field as templates print it: " free_bytes=".
static struct entry_builder_text label_text(struct entry_builder *builder, const char *label)
{
    struct extract_text *out = &builder->scratch;
    const struct text_cache_entry *cached =
        text_cache_find(&builder->cache, (uintptr_t)label, TAG_LABEL);

    if (cached)
        return text_of(cached);
    out->used = 0;
    extract_text_putc(out, ' ');
    extract_text_escaped(out, label);
    for (size_t i = 1; i < out->used; i++)
        if (out->data[i] == ' ')
            out->data[i] = '_';
    extract_text_putc(out, '=');
    return text_of(cache_scratch(builder, &builder->cache, (uintptr_t)label, TAG_LABEL));
}

static struct entry_builder_text type_text(struct entry_builder *builder,
                                           const struct extract_event *event)
{
    struct extract_text *out = &builder->scratch;
    const struct text_cache_entry *cached = text_cache_find(&builder->cache, event->id, TAG_TYPE);

    if (cached)
        return text_of(cached);
    out->used = 0;
    extract_text_escaped(out, event->type->name);
    if (event->type->range)
        text_put_type_number(out, event->type, event->id);
    return text_of(cache_scratch(builder, &builder->cache, event->id, TAG_TYPE));
}

static void put_text(struct entry_builder *builder, struct entry_builder_text text)
{
    extract_text_put(&builder->text, text.bytes, text.length);
}

static void put_field(struct entry_builder *builder, const struct extract_field_type *type,
                      uint64_t value)
{
    enum extract_kind kind = type->kind;

    if (kind == EXTRACT_KIND_NONE)
        return;
    put_text(builder, label_text(builder, type->label));
    if (kind == EXTRACT_KIND_HEX || kind == EXTRACT_KIND_STACK || kind == EXTRACT_KIND_DATA)
        put_hex(&builder->text, value);
    else
        put_text(builder, value_text(builder, kind, value));
}

bool entry_builder_describe(struct entry_builder *builder, const struct extract_event *event,
                            struct extract_outcome *outcome)
{
    struct extract_text *out = &builder->text;
    unsigned fields = report_fields(event);

    if (builder->format->hooks == EXTRACT_HOOKS_16 &&
        event->type == builder->format->type(event->id))
        return false; // one type for all ids of the format, which does not describe this one
    select_names(builder, event);
    out->used = 0;
    put_text(builder, type_text(builder, event));
    for (unsigned i = 0; i < fields; i++)
        put_field(builder, &event->type->field[i], event->field[i]);
    builder->failed |= out->code != EXTRACT_OK;
    *outcome = (struct extract_outcome){.text = out->data, .length = out->used};
    return true;
}

// ---- opening and closing ----

enum extract_code entry_builder_open(struct entry_builder **opened,
                                     const struct extract_trace *trace,
                                     const struct extract_templates *templates,
                                     struct extract_error *error)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    const unsigned word_bytes = ring->word_bytes == 8 ? 8 : 4;
    struct entry_builder *builder = calloc(1, sizeof *builder);

    *opened = NULL;
    if (!builder)
        return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
    builder->trace = trace;
    builder->format = ring->format;
    builder->templates = templates;
    builder->slot_bytes = ring->entries.slot_bytes;
    builder->words = (struct extract_entry){.bytes = builder->bytes,
                                            .length = (1 + DATA_WORDS) * word_bytes,
                                            .bits = (uint8_t)(word_bytes * 8),
                                            .type = word_bytes == 8 ? FLAGS_STAMP : TYPE_DATA,
                                            .bytes_of_data = DATA_WORDS * word_bytes};
    builder->mark =
        (struct extract_entry){.bytes = builder->bytes, .bits = 64, .type = FLAGS_STAMP};
    builder->host = (struct extract_template_host){.context = builder,
                                                   .name = name_for_template,
                                                   .kernel_bits = word_bytes * 8,
                                                   .wide_unknown = true,
                                                   .padded = true};
    value_names_init(&builder->names, trace);
    extract_text_init(&builder->scratch, NULL, NULL);
    extract_text_init(&builder->text, NULL, NULL);
    if (builder->format->entries && !(builder->own_bytes = malloc(EXTRACT_ENTRY_CAPACITY))) {
        entry_builder_close(builder);
        return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
    }
    *opened = builder;
    return EXTRACT_OK;
}

void entry_builder_close(struct entry_builder *builder)
{
    if (!builder)
        return;
    text_cache_clear(&builder->cache);
    text_cache_clear(&builder->context_names);
    value_names_free(&builder->names);
    extract_text_free(&builder->scratch);
    extract_text_free(&builder->text);
    free(builder->own_bytes);
    free(builder);
}
