// SPDX-License-Identifier: MIT
// report: value names. Finds the name of a number by the kind of its field: among the objects of
// the trace first, then in the firmware's symbols. A value without a name is printed as a number.
#include "report/value_names.h"
#include "formats/format.h"
#include "report/report_room.h"
#include "symbols/dwarf.h"
#include "events/events_room.h"
#include <inttypes.h>

enum { MAX_STRING = 64, MAX_SYMBOL = 1024 }; // bytes

void value_names_init(struct value_names *names, const struct extract_trace *trace)
{
    names->ring = &extract_trace_snapshot(trace)->ring;
    names->trace = trace;
    names->seq = UINT64_MAX;
    names->symbols = extract_trace_symbols(trace);
    extract_text_init(&names->found, NULL, NULL);
}

void value_names_free(struct value_names *names)
{
    extract_text_free(&names->found);
}

const char *value_name_of_object(const struct extract_object *object)
{
    if (object->name[0] && !object->likely)
        return object->name;
    bool is_only_address = strncmp(object->shown, "0x", 2) == 0 && !strchr(object->shown, '#');
    return is_only_address ? NULL : object->shown;
}

const char *value_name_of_wait(uint64_t value)
{
    return extract_kind_word(EXTRACT_KIND_WAIT, value);
}

// Finds the symbol at an address. For an address inside a function, adds the source line.
static bool find_symbol(struct value_names *names, uint64_t address)
{
    char name[MAX_SYMBOL];
    struct extract_place place;
    uint64_t loaded_at;

    if (!names->symbols ||
        !extract_format_describe(names->ring, names->symbols, address, name, sizeof name))
        return false;
    extract_text_puts(&names->found, name);
    if (strchr(name, '+') &&
        extract_format_locate(names->ring, names->symbols, address, &loaded_at) &&
        extract_symbols_place(names->symbols, loaded_at, &place))
        extract_text_printf(&names->found, " (%s:%u)", place.file, place.line);
    extract_text_putc(&names->found, 0);
    return true;
}

// Finds the object that the trace names at an address or number.
static bool find_traced_object(struct value_names *names, uint64_t key)
{
    const struct extract_object *object = extract_trace_object_at(names->trace, key, names->seq);
    const char *name = object ? value_name_of_object(object) : NULL;

    if (name)
        extract_text_put(&names->found, name, strlen(name) + 1);
    return name != NULL;
}

// Finds the object of a key, which is an address or, for objects without addresses, a number.
static bool find_object(struct value_names *names, uint64_t key)
{
    if (find_traced_object(names, key))
        return true;
    if (!extract_key_is_number(key))
        return find_symbol(names, key);
    extract_text_dec(&names->found, extract_key_number(key));
    extract_text_putc(&names->found, 0);
    return true;
}

// Finds the name that the trace gives to a numbered signal, pool or user event.
static bool find_numbered(struct value_names *names, enum extract_kind kind, uint64_t number)
{
    uint64_t key;

    if (extract_value_key(kind, number, &key))
        return find_traced_object(names, key);
    extract_text_put(&names->found, "static", sizeof "static");
    return true;
}

// Finds the name of an event's type. A user event goes by the name that the trace gives it, or by
// its type and number.
static bool find_event_type(struct value_names *names, uint64_t id)
{
    uint32_t first = names->ring->format->user_ids;
    const struct extract_event_type *type =
        id <= UINT32_MAX ? extract_trace_type(names->trace, (uint32_t)id) : NULL;
    bool is_user = type && first && type == extract_trace_type(names->trace, first);

    if (is_user &&
        find_traced_object(names, extract_number_key(EXTRACT_KIND_USER_EVENT, id - first)))
        return true;
    if (!type || (type->range && !is_user))
        return false;
    extract_text_puts(&names->found, type->name);
    if (is_user)
        extract_text_printf(&names->found, " %" PRIu64, id - first);
    extract_text_putc(&names->found, 0);
    return true;
}

// Finds a constant string in the ELF file. A string of MAX_STRING bytes or more is truncated and
// ends with "...". A constant without a NUL is not a string.
static bool find_string(struct value_names *names, uint64_t address)
{
    char bytes[MAX_STRING];

    if (!names->symbols)
        return false;
    size_t got = extract_symbols_read_constant(
        names->symbols, extract_ring_address(names->ring, address), bytes, sizeof bytes);
    size_t length = strnlen(bytes, got);
    if (!got || (length == got && got < sizeof bytes))
        return false;
    extract_text_put(&names->found, bytes, length);
    extract_text_puts(&names->found, length == got ? "..." : "");
    extract_text_putc(&names->found, 0);
    return true;
}

// Finds the text of a marker. Anything after a NUL byte is dropped; no text should contain one.
static bool find_marker_text(struct value_names *names, uint64_t number)
{
    bool is_found = extract_trace_text(names->trace, number, &names->found);

    extract_text_putc(&names->found, 0);
    return is_found;
}

static bool copy_word(struct value_names *names, const char *word)
{
    if (word)
        extract_text_put(&names->found, word, strlen(word) + 1);
    return word != NULL;
}

const char *value_names_find(struct value_names *names, enum extract_kind kind, uint64_t value)
{
    bool is_found;

    names->found.used = 0;
    switch (kind) {
    case EXTRACT_KIND_OBJECT:
        is_found = value && find_object(names, value);
        break;
    case EXTRACT_KIND_CODE:
        is_found = value && (find_traced_object(names, value) || find_symbol(names, value));
        break;
    case EXTRACT_KIND_STRING:
        is_found = value && find_string(names, value);
        break;
    case EXTRACT_KIND_SIGNAL:
    case EXTRACT_KIND_POOL:
    case EXTRACT_KIND_USER_EVENT:
        is_found = find_numbered(names, kind, value);
        break;
    case EXTRACT_KIND_EVENT:
        is_found = find_event_type(names, value);
        break;
    case EXTRACT_KIND_TEXT:
        is_found = find_marker_text(names, value);
        break;
    default:
        is_found = copy_word(names, extract_kind_word(kind, value));
        break;
    }
    return is_found && !names->found.code ? names->found.data : NULL;
}

static void put_number(enum extract_kind kind, uint64_t value, struct extract_text *text)
{
    bool is_decimal = kind == EXTRACT_KIND_DEC || kind == EXTRACT_KIND_TICKS ||
                      kind == EXTRACT_KIND_WAIT || kind >= EXTRACT_KIND_THREAD_STATE;

    if (!value && (kind == EXTRACT_KIND_OBJECT || kind == EXTRACT_KIND_CODE))
        extract_text_puts(text, "none");
    else if (kind == EXTRACT_KIND_IPV4 && value <= UINT32_MAX)
        extract_text_printf(text, "%u.%u.%u.%u", (unsigned)(value >> 24),
                            (unsigned)(value >> 16 & 255), (unsigned)(value >> 8 & 255),
                            (unsigned)(value & 255));
    else if (is_decimal)
        extract_text_dec(text, value);
    else
        extract_text_hex(text, value, 1);
}

void value_names_put(struct value_names *names, enum extract_kind kind, uint64_t value,
                     struct extract_text *text)
{
    const char *name = value_names_find(names, kind, value);

    if (names->found.code)
        text->code = names->found.code;
    else if (!name)
        put_number(kind, value, text);
    else if (kind == EXTRACT_KIND_STRING || kind == EXTRACT_KIND_TEXT)
        extract_text_json(text, name);
    else
        extract_text_escaped(text, name);
}
