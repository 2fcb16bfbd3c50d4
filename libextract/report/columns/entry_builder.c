// SPDX-License-Identifier: MIT
// report/columns: events as entries. In: decoded events. Out: entries, names, and the text of
// events that have no template. What each event becomes: docs/formats, "As hook entries".
#include "report/columns/entry_builder.h"
#include "base/cursor.h"
#include "formats/format.h"
#include "templates/builtin.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

enum {
    INFO_WORDS = 4, // D1 to D4; D5 is the priority word
    DATA_WORDS = INFO_WORDS + 1,
    TYPE_DATA = 0xE,      // 32-bit hook words: data words and a stamp
    FLAGS_STAMP = 0x8000, // 64-bit ones: the same
    IDS_PLAIN = 0x1000    // ids below have three digits
};

// What more the memo's keys mean.
enum {
    TAG_LABEL = 64, // the label of a field, by its address
    TAG_TYPE        // what an event is called, by its id
};

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

static inline uint16_t hook_of(uint32_t id)
{
    return (uint16_t)(id < IDS_PLAIN ? id << 4 : id);
}

static uint64_t hook_word(const struct extract_entry *entry)
{
    if (entry->bits == 32)
        return (uint32_t)entry->hook >> 4 << 20 | (uint32_t)TYPE_DATA << 16 | entry->data;
    return (uint64_t)FLAGS_STAMP << 48 | (uint64_t)entry->bytes_of_data << 32 |
           (uint64_t)entry->hook << 16 | entry->data;
}

// ---- names ----

// As a macro is printed, behind 0x.
static void put_hex(struct extract_text *out, uint64_t value)
{
    char room[PEN_NUMBER + PEN_BLOCK];
    struct text_writer writer = {NULL, room, room + sizeof room};
    PEN_LITERAL(&writer, "0x");
    text_writer_upper(&writer, value, value > UINT32_MAX ? 16 : value > UINT16_MAX ? 8 : 4);
    extract_text_put(out, room, (size_t)(writer.at - room));
}

static void put_value(struct entry_builder *builder, enum extract_kind kind, uint64_t value)
{
    bool address = kind == EXTRACT_KIND_STRING ||
                   (value && (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE));
    if (address && !value_names_find(&builder->naming, kind, value))
        put_hex(&builder->scratch, value);
    else
        value_names_put(&builder->naming, kind, value, &builder->scratch);
}

// Keeps what stands in the scratch text, with a NUL.
static const struct text_cache_piece *keep(struct entry_builder *builder, struct text_cache *memo,
                                           uint64_t key, uint32_t tag)
{
    struct extract_text *out = &builder->scratch;
    const struct text_cache_piece *piece = NULL;
    extract_text_putc(out, 0);
    if (!out->code && !builder->naming.raw.code)
        piece =
            text_cache_keep(memo, key, tag, out->data, out->used, extract_text_columns(out->data));
    builder->failed |= !piece;
    return piece;
}

static struct entry_builder_text text_of(const struct text_cache_piece *piece)
{
    static const char nothing[1 + PEN_BLOCK] = "";
    return piece ? (struct entry_builder_text){piece->bytes, piece->length - 1, piece->columns}
                 : (struct entry_builder_text){nothing, 0, 0};
}

static struct entry_builder_text number_text(struct entry_builder *builder, uint64_t value)
{
    struct text_writer writer = {NULL, builder->number, builder->number + sizeof builder->number};
    text_writer_dec(&writer, value);
    uint32_t length = (uint32_t)(writer.at - builder->number);
    memset(writer.at, 0, 1);
    return (struct entry_builder_text){builder->number, length, length};
}

static struct entry_builder_text make_value(struct entry_builder *builder, enum extract_kind kind,
                                            uint64_t value)
{
    builder->scratch.used = 0;
    put_value(builder, kind, value);
    return text_of(keep(builder, &builder->memo, value, MEMO_VALUE + (uint32_t)kind));
}

static inline struct entry_builder_text value_text(struct entry_builder *builder,
                                                   enum extract_kind kind, uint64_t value)
{
    // Numbers would fill the memo.
    if (kind == EXTRACT_KIND_DEC || kind == EXTRACT_KIND_TICKS ||
        (kind == EXTRACT_KIND_WAIT && !value_names_wait(value)))
        return number_text(builder, value);
    const struct text_cache_piece *piece =
        text_cache_find(&builder->memo, value, MEMO_VALUE + (uint32_t)kind);
    return piece ? text_of(piece) : make_value(builder, kind, value);
}

// What is asked for by name and has no kind that names it may be an object all the same.
static enum extract_kind kind_of(const struct extract_event *event, unsigned word)
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

static const char *host_name(void *context, const struct extract_entry *entry, uint64_t value,
                             unsigned word, size_t *length)
{
    struct entry_builder_text text = value_text(context, kind_of(entry->event, word), value);
    *length = text.length;
    return text.bytes;
}

// An interrupt is told with the thread that it stopped.
static void put_who(struct entry_builder *builder, const struct extract_event *event)
{
    static const char *const others[] = {
        [EXTRACT_ISR] = "interrupt", [EXTRACT_INIT] = "start-up", [EXTRACT_RECORDER] = "recorder"};
    struct extract_text *out = &builder->scratch;
    const struct extract_object *thread = NULL;
    if (event->context == EXTRACT_THREAD || (event->context == EXTRACT_ISR && event->thread))
        thread = extract_trace_thread_at(builder->trace, event->thread, event->seq);
    if (event->context != EXTRACT_THREAD)
        extract_text_puts(out, others[event->context]);
    if (event->context != EXTRACT_THREAD && thread)
        extract_text_putc(out, '/');
    if (thread)
        extract_text_puts(out, thread->shown);
    else if (event->context == EXTRACT_THREAD && !event->thread && builder->format->has_ownerless)
        extract_text_putc(out, '-');
    else if (event->context == EXTRACT_THREAD)
        extract_text_hex(out, event->thread, 8);
}

// Events behind another registry may call the same addresses by other names.
static inline void enter_event(struct entry_builder *builder, const struct extract_event *event)
{
    uint64_t registry = extract_trace_registry(builder->trace, event->seq);
    if (registry != builder->registry) {
        text_cache_clear(&builder->memo);
        text_cache_clear(&builder->people);
    }
    builder->registry = registry;
    builder->naming.seq = event->seq;
}

struct entry_builder_text entry_builder_who(struct entry_builder *builder,
                                            const struct extract_event *event)
{
    uint64_t key = event->context <= EXTRACT_ISR ? event->thread : 0;
    uint32_t tag = MEMO_CONTEXT + (uint32_t)event->context;
    enter_event(builder, event);
    const struct text_cache_piece *piece = text_cache_find(&builder->people, key, tag);
    if (!piece) {
        builder->scratch.used = 0;
        put_who(builder, event);
        piece = keep(builder, &builder->people, key, tag);
    }
    return text_of(piece);
}

// ---- entries ----

static void put_head(struct entry_builder *builder, const struct extract_event *event,
                     struct extract_entry *entry)
{
    entry->cpu = event->core;
    entry->priority = event->priority;
    entry->pid = entry->tid = event->thread;
    builder->who = entry_builder_who(builder, event);
    entry->exec = builder->who.bytes;
    entry->svc = event->type->class_ == EXTRACT_SVC ? event->type->name : NULL;
    entry->log_file = builder->log_file;
    entry->event = event;
}

// All of an entry's words; inlined for each width.
static inline __attribute__((always_inline)) void
put_words(uint8_t *to, unsigned word_bytes, uint64_t hook, const struct extract_event *event)
{
    to = put_word(to, word_bytes, hook);
    for (unsigned i = 0; i < INFO_WORDS; i++)
        to = put_word(to, word_bytes, i < event->fields ? event->field[i] : 0);
    put_word(to, word_bytes, event->priority_word);
}

static const struct extract_entry *take_words(struct entry_builder *builder,
                                              const struct extract_event *event)
{
    struct extract_entry *entry = &builder->words;

    put_head(builder, event, entry);
    entry->hook = hook_of(event->id);
    entry->data = (uint16_t)event->id;
    entry->log_offset = event->slot * (uint64_t)builder->slot_bytes;
    if (entry->bits == 64)
        put_words(builder->bytes, 8, hook_word(entry), event);
    else
        put_words(builder->bytes, 4, hook_word(entry), event);
    return entry;
}

static const struct extract_entry *take_mark(struct entry_builder *builder,
                                             const struct extract_event *event)
{
    struct extract_entry *entry = &builder->mark;
    unsigned fields = report_fields(event);

    put_head(builder, event, entry);
    entry->hook = hook_of(ADAPTOR_MARKS + (event->id & 0xFF));
    entry->data = (uint16_t)event->id;
    entry->bytes_of_data = fields * 8;
    entry->length = 8 + fields * 8;
    uint8_t *to = put_word(builder->bytes, 8, hook_word(entry));
    for (unsigned i = 0; i < fields; i++)
        to = put_word(to, 8, event->field[i]);
    return entry;
}

// Those that come with Ringside give way to types that the user has named in a file of his own, and
// those of marks are for marks.
static bool suits(const struct entry_builder *builder, const struct extract_event *event,
                  const struct extract_template *chosen)
{
    bool mark = extract_event_is_mark(event);
    bool users = !mark && event->type != builder->format->type(event->id);
    return !template_is_builtin(chosen) ||
           (!users && mark == (chosen->hook >= hook_of(ADAPTOR_MARKS)));
}

const struct extract_template *entry_builder_find(const struct entry_builder *builder,
                                                  const struct extract_event *event)
{
    bool mark = extract_event_is_mark(event);
    uint32_t id = mark ? ADAPTOR_MARKS + (event->id & 0xFF) : event->id;
    enum extract_hook_space space = mark ? EXTRACT_HOOKS_PLAIN : builder->format->hooks;
    const struct extract_template *chosen =
        builder->templates ? extract_templates_find(builder->templates, space, id) : NULL;
    if (!chosen && !mark && builder->templates && builder->format->users_share &&
        id > builder->format->user_ids)
        chosen = extract_templates_find(builder->templates, space, builder->format->user_ids);
    if (!chosen)
        return NULL;
    bool doubtful = event->type->class_ == EXTRACT_APPL || chosen->hook >= hook_of(ADAPTOR_MARKS);
    return doubtful && !suits(builder, event, chosen) ? NULL : chosen;
}

static const struct extract_entry *take_own(struct entry_builder *builder,
                                            const struct extract_event *event)
{
    struct extract_entry *entry = &builder->own;
    const struct extract_ring *ring = builder->naming.ring;
    *entry = (struct extract_entry){0};
    if (!builder->format->entries->make(ring, event, entry, builder->room))
        return take_words(builder, event);
    builder->who = entry_builder_who(builder, event);
    entry->exec = builder->who.bytes;
    entry->log_file = builder->log_file;
    entry->event = event;
    return entry;
}

const struct extract_entry *entry_builder_take(struct entry_builder *builder,
                                               const struct extract_event *event,
                                               const struct extract_template **chosen)
{
    const struct extract_entry *entry;
    if (extract_event_is_mark(event))
        entry = take_mark(builder, event);
    else
        entry = builder->format->entries ? take_own(builder, event) : take_words(builder, event);
    *chosen = entry_builder_find(builder, event);
    return entry;
}

unsigned entry_builder_id(const struct entry_builder *builder, const struct extract_event *event,
                          char id[ADAPTOR_ID])
{
    bool mark = extract_event_is_mark(event);
    uint32_t value = mark ? ADAPTOR_MARKS + (event->id & 0xFF) : event->id;
    unsigned digits = 3;
    if (!mark && builder->format->hooks == EXTRACT_HOOKS_16 && value & 0xF)
        digits = 4;
    else if (!mark && builder->format->hooks == EXTRACT_HOOKS_16)
        value >>= 4; // hhh0 is hhh
    while (digits < 8 && value >> 4 * digits)
        digits++;
    struct text_writer writer = {NULL, id, id + ADAPTOR_ID};
    text_writer_upper(&writer, value, digits);
    *writer.at = 0;
    return digits;
}

// ---- events without a template ----

static struct entry_builder_text label_text(struct entry_builder *builder, const char *label)
{
    struct extract_text *out = &builder->scratch;
    const struct text_cache_piece *piece =
        text_cache_find(&builder->memo, (uintptr_t)label, TAG_LABEL);
    if (piece)
        return text_of(piece);
    out->used = 0;
    extract_text_putc(out, ' ');
    extract_text_escaped(out, label);
    for (size_t i = 1; i < out->used; i++)
        if (out->data[i] == ' ')
            out->data[i] = '_';
    extract_text_putc(out, '=');
    return text_of(keep(builder, &builder->memo, (uintptr_t)label, TAG_LABEL));
}

static struct entry_builder_text type_text(struct entry_builder *builder,
                                           const struct extract_event *event)
{
    struct extract_text *out = &builder->scratch;
    const struct text_cache_piece *piece = text_cache_find(&builder->memo, event->id, TAG_TYPE);
    if (piece)
        return text_of(piece);
    out->used = 0;
    extract_text_escaped(out, event->type->name);
    if (event->type->range)
        extract_text_printf(out, " %" PRIu32, event->id);
    return text_of(keep(builder, &builder->memo, event->id, TAG_TYPE));
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
        return; // it has no meaning for this type
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
        return false; // one type for all of its ids
    enter_event(builder, event);
    out->used = 0;
    put_text(builder, type_text(builder, event));
    for (unsigned i = 0; i < fields; i++)
        put_field(builder, &event->type->field[i], event->field[i]);
    builder->failed |= out->code != EXTRACT_OK;
    *outcome = (struct extract_outcome){.text = out->data, .length = out->used};
    return true;
}

// ---- life ----

static void set_up(struct entry_builder *builder, const struct extract_trace *trace,
                   const struct extract_templates *templates)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;
    unsigned word = ring->word_bytes == 8 ? 8 : 4;
    builder->trace = trace;
    builder->format = ring->format;
    builder->templates = templates;
    builder->slot_bytes = ring->entries.slot_bytes;
    builder->words = (struct extract_entry){.bytes = builder->bytes,
                                            .length = (1 + DATA_WORDS) * word,
                                            .bits = (uint8_t)(word * 8),
                                            .type = word == 8 ? FLAGS_STAMP : TYPE_DATA,
                                            .bytes_of_data = DATA_WORDS * word};
    builder->mark =
        (struct extract_entry){.bytes = builder->bytes, .bits = 64, .type = FLAGS_STAMP};
    builder->host = (struct extract_template_host){.context = builder,
                                                   .name = host_name,
                                                   .kernel_bits = word * 8,
                                                   .wide_unknown = true,
                                                   .padded = true};
    value_names_init(&builder->naming, trace);
    extract_text_init(&builder->scratch, NULL, NULL);
    extract_text_init(&builder->text, NULL, NULL);
}

enum extract_code entry_builder_open(struct entry_builder **builder,
                                     const struct extract_trace *trace,
                                     const struct extract_templates *templates,
                                     struct extract_error *error)
{
    *builder = calloc(1, sizeof **builder);
    if (!*builder)
        return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
    set_up(*builder, trace, templates);
    if (!(*builder)->format->entries)
        return EXTRACT_OK;
    (*builder)->room = malloc(EXTRACT_ENTRY_CAPACITY);
    if ((*builder)->room)
        return EXTRACT_OK;
    entry_builder_close(*builder);
    *builder = NULL;
    return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
}

void entry_builder_close(struct entry_builder *builder)
{
    if (!builder)
        return;
    text_cache_clear(&builder->memo);
    text_cache_clear(&builder->people);
    value_names_free(&builder->naming);
    extract_text_free(&builder->scratch);
    extract_text_free(&builder->text);
    free(builder->room);
    free(builder);
}
