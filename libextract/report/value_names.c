// SPDX-License-Identifier: MIT
// report: values to words. In: a field's kind and value, the trace's objects, the firmware's
// symbols. Out: the text that says it.
#include "formats/format.h"
#include "report/internal.h"
#include <inttypes.h>

enum { STRING_MAX = 64, SYMBOL_MAX = 1024 };

void value_names_init(struct value_names *naming, const struct extract_trace *trace)
{
    naming->ring = &extract_trace_snapshot(trace)->ring;
    naming->trace = trace;
    naming->seq = UINT64_MAX;
    naming->symbols = extract_trace_symbols(trace);
    extract_text_init(&naming->raw, NULL, NULL);
}

void value_names_free(struct value_names *naming)
{
    extract_text_free(&naming->raw);
}

const char *value_names_of(const struct extract_object *object)
{
    if (object->name[0])
        return object->name;
    return strncmp(object->shown, "0x", 2) ? object->shown : NULL;
}

// Behind a place inside of a function, where its source is.
static void put_source(struct value_names *naming, uint64_t address)
{
    struct extract_place place;
    if (!strchr(naming->raw.data, '+') ||
        !extract_symbols_place(naming->symbols, extract_ring_address(naming->ring, address),
                               &place))
        return;
    naming->raw.used--;
    extract_text_printf(&naming->raw, " (%s:%u)", place.file, place.line);
    extract_text_putc(&naming->raw, 0);
}

static bool put_symbol(struct value_names *naming, uint64_t address)
{
    char name[SYMBOL_MAX];
    bool found =
        naming->symbols &&
        extract_symbols_describe(naming->symbols, extract_ring_address(naming->ring, address),
                                 naming->ring->format->names_members, name, sizeof name);
    if (found)
        extract_text_put(&naming->raw, name, strlen(name) + 1);
    if (found && !naming->raw.code)
        put_source(naming, address);
    return found;
}

static bool put_told(struct value_names *naming, uint64_t key)
{
    const struct extract_object *object = extract_trace_object_at(naming->trace, key, naming->seq);
    const char *name = object ? value_names_of(object) : NULL;
    if (name)
        extract_text_put(&naming->raw, name, strlen(name) + 1);
    return name != NULL;
}

// What is given as a key may be a number, too.
static bool put_object(struct value_names *naming, uint64_t key)
{
    if (put_told(naming, key))
        return true;
    if (!extract_key_is_number(key))
        return put_symbol(naming, key);
    extract_text_dec(&naming->raw, extract_key_number(key));
    extract_text_putc(&naming->raw, 0);
    return true;
}

// A function that the stream or the firmware's symbols name.
static bool put_function(struct value_names *naming, uint64_t address)
{
    return put_told(naming, address) || put_symbol(naming, address);
}

// A number that the stream names.
static bool put_numbered(struct value_names *naming, enum extract_kind kind, uint64_t number)
{
    uint64_t key;
    if (extract_value_key(kind, number, &key))
        return put_told(naming, key);
    extract_text_put(&naming->raw, "static", sizeof "static");
    return true;
}

// The name of an event's type, or what a user event is told to be called.
static bool put_event(struct value_names *naming, uint64_t id)
{
    uint32_t first = naming->ring->format->user_ids;
    const struct extract_event_type *type =
        id <= UINT32_MAX ? extract_trace_type(naming->trace, (uint32_t)id) : NULL;
    bool user = type && first && type == extract_trace_type(naming->trace, first);
    if (user && put_told(naming, extract_number_key(EXTRACT_KIND_USER_EVENT, id - first)))
        return true;
    if (!type || (type->range && !user))
        return false;
    extract_text_puts(&naming->raw, type->name);
    if (user)
        extract_text_printf(&naming->raw, " %" PRIu64, id - first);
    extract_text_putc(&naming->raw, 0);
    return true;
}

// A text that the ELF holds as a constant, cut with "..." when it is long.
static bool put_string(struct value_names *naming, uint64_t address)
{
    char bytes[STRING_MAX];
    if (!naming->symbols)
        return false;
    size_t got = extract_symbols_read_constant(
        naming->symbols, extract_ring_address(naming->ring, address), bytes, sizeof bytes);
    size_t length = strnlen(bytes, got);
    if (!got || (length == got && got < sizeof bytes))
        return false; // it has no end within the constant
    extract_text_put(&naming->raw, bytes, length);
    extract_text_put(&naming->raw, "...", length == got ? 4 : 0);
    if (length < got)
        extract_text_putc(&naming->raw, 0);
    return true;
}

// The text of a mark: not what stands behind a NUL, which there should be none of.
static bool put_text(struct value_names *naming, uint64_t number)
{
    bool there = extract_trace_text(naming->trace, number, &naming->raw);
    extract_text_putc(&naming->raw, 0);
    return there;
}

const char *value_names_wait(uint64_t value)
{
    if (!value)
        return "none";
    return value == UINT32_MAX || value == UINT64_MAX ? "forever" : NULL;
}

static bool put_word(struct value_names *naming, const char *word)
{
    if (word)
        extract_text_put(&naming->raw, word, strlen(word) + 1);
    return word != NULL;
}

const char *value_names_find(struct value_names *naming, enum extract_kind kind, uint64_t value)
{
    bool named;
    naming->raw.used = 0;
    switch (kind) {
    case EXTRACT_KIND_OBJECT:
        named = value && put_object(naming, value);
        break;
    case EXTRACT_KIND_CODE:
        named = value && put_function(naming, value);
        break;
    case EXTRACT_KIND_STRING:
        named = value && put_string(naming, value);
        break;
    case EXTRACT_KIND_SIGNAL:
    case EXTRACT_KIND_POOL:
    case EXTRACT_KIND_USER_EVENT:
        named = put_numbered(naming, kind, value);
        break;
    case EXTRACT_KIND_EVENT:
        named = put_event(naming, value);
        break;
    case EXTRACT_KIND_TEXT:
        named = put_text(naming, value);
        break;
    case EXTRACT_KIND_WAIT:
        named = put_word(naming, value_names_wait(value));
        break;
    default:
        named = put_word(naming, extract_kind_word(kind, value));
        break;
    }
    return named && !naming->raw.code ? naming->raw.data : NULL;
}

static bool is_decimal(enum extract_kind kind)
{
    return kind == EXTRACT_KIND_DEC || kind == EXTRACT_KIND_TICKS || kind == EXTRACT_KIND_WAIT ||
           kind >= EXTRACT_KIND_THREAD_STATE;
}

static void put_number(enum extract_kind kind, uint64_t value, struct extract_text *text)
{
    if (!value && (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE))
        extract_text_puts(text, "none");
    else if (kind == EXTRACT_KIND_IPV4 && value <= UINT32_MAX)
        extract_text_printf(text, "%u.%u.%u.%u", (unsigned)(value >> 24),
                            (unsigned)(value >> 16 & 255), (unsigned)(value >> 8 & 255),
                            (unsigned)(value & 255));
    else if (is_decimal(kind))
        extract_text_dec(text, value);
    else
        extract_text_hex(text, value, 1);
}

void value_names_put(struct value_names *naming, enum extract_kind kind, uint64_t value,
                     struct extract_text *text)
{
    const char *name = value_names_find(naming, kind, value);
    if (naming->raw.code)
        text->code = naming->raw.code;
    else if (!name)
        put_number(kind, value, text);
    else if (kind == EXTRACT_KIND_STRING || kind == EXTRACT_KIND_TEXT)
        extract_text_json(text, name);
    else
        extract_text_escaped(text, name);
}
