// SPDX-License-Identifier: MIT
// report/rkh: names and values in the lines of Trazer.
//
// A number is printed by the name that an earlier frame gave it, by the firmware's symbols, or as
// Trazer prints numbers. A new name for the same key replaces the old one; a restart of the target
// removes all names.
#include "report/rkh/trazer.h"
#include "events/events_room.h"
#include <inttypes.h>

enum { SYMBOL_BYTES = 256, BYTES_PER_LINE = 10, ITEM_COLUMN = 34 };

// ---- names that frames gave ----

bool trazer_names_init(struct trazer_names *names)
{
    extract_text_init(&names->bytes, NULL, NULL);
    extract_text_init(&names->scratch, NULL, NULL);
    return extract_map_init(&names->by_key, 0);
}

void trazer_names_free(struct trazer_names *names)
{
    extract_map_free(&names->by_key);
    extract_text_free(&names->bytes);
    extract_text_free(&names->scratch);
}

bool trazer_names_add_event(struct trazer_names *names, const struct extract_event *event)
{
    struct extract_name_entry entry = {.restarted = false};

    if (!rkh_read_name(event, &entry))
        return true;
    if (entry.restarted) {
        trazer_names_free(names);
        return trazer_names_init(names);
    }
    if (!entry.name || names->bytes.used >= UINT32_MAX / 2) // offsets have 32 bits
        return true;
    names->scratch.used = 0;
    extract_text_put(&names->scratch, (const char *)entry.name, entry.name_bytes);
    extract_text_putc(&names->scratch, 0);
    if (names->scratch.code)
        return false;
    uint64_t key = entry.object.address;
    if (entry.kind != EXTRACT_KIND_OBJECT)
        key = extract_number_key(entry.kind, key);
    uint32_t *offset = extract_map_at(&names->by_key, key);
    if (!offset)
        return false;
    *offset = (uint32_t)names->bytes.used + 1;
    extract_text_escaped(&names->bytes, names->scratch.data);
    extract_text_putc(&names->bytes, 0);
    return !names->bytes.code;
}

const char *trazer_names_find(const struct trazer_names *names, uint64_t key)
{
    uint32_t offset = extract_map_get(&names->by_key, key);

    return offset ? names->bytes.data + offset - 1 : NULL;
}

// ---- values ----

void trazer_put_bytes(struct trazer *trazer, const uint8_t *bytes, uint32_t length)
{
    struct extract_text *scratch = &trazer->scratch;

    scratch->used = 0;
    extract_text_put(scratch, (const char *)bytes, length);
    extract_text_putc(scratch, 0);
    if (scratch->code)
        trazer->text->code = scratch->code;
    else
        extract_text_escaped(trazer->text, scratch->data);
}

void trazer_put_name(struct trazer *trazer, const struct rkh_item *item)
{
    bool has_ampersand = item->length && item->bytes[0] == '&';

    trazer_put_bytes(trazer, item->bytes + has_ampersand, item->length - has_ampersand);
}

// Writes the name of a key. Returns false if it has none.
static bool put_known_name(struct trazer *trazer, uint64_t key)
{
    const char *name = trazer_names_find(&trazer->names, key);

    if (name)
        extract_text_puts(trazer->text, name);
    return name != NULL;
}

// Writes the firmware's symbol at an address. Returns false if there is none.
static bool put_symbol(struct trazer *trazer, uint64_t address)
{
    struct extract_symbols *symbols = extract_trace_symbols(trazer->trace);
    char name[SYMBOL_BYTES];

    if (!symbols || !extract_format_describe(trazer->ring, symbols, address, name, sizeof name))
        return false;
    extract_text_escaped(trazer->text, name);
    return true;
}

void trazer_put_hex(struct trazer *trazer, const char *prefix, uint64_t value, unsigned digits)
{
    unsigned needed = (67u - (unsigned)__builtin_clzll(value | 1)) / 4;

    extract_text_puts(trazer->text, prefix);
    extract_text_pad(trazer->text, '0', needed < digits ? digits - needed : 0);
    for (unsigned i = needed; i-- > 0;)
        extract_text_putc(trazer->text, "0123456789ABCDEF"[value >> 4 * i & 15]);
}

void trazer_put_address(struct trazer *trazer, uint64_t address)
{
    if (!address)
        extract_text_putc(trazer->text, '?');
    else if (!put_known_name(trazer, address) && !put_symbol(trazer, address))
        trazer_put_hex(trazer, "0X", address, 1);
}

void trazer_put_signal(struct trazer *trazer, uint64_t number)
{
    if (!put_known_name(trazer, extract_number_key(EXTRACT_KIND_SIGNAL, number)))
        trazer_put_hex(trazer, "0X", number, 1);
}

void trazer_put_pool(struct trazer *trazer, uint64_t index)
{
    if (!put_known_name(trazer, extract_number_key(EXTRACT_KIND_POOL, index)))
        extract_text_dec(trazer->text, index + 1);
}

// ---- the items of user events ----

static void put_margin(struct trazer *trazer)
{
    extract_text_pad(trazer->text, ' ', ITEM_COLUMN);
    extract_text_puts(trazer->text, "| ");
}

// Writes a block of memory as hexadecimal bytes: "[ 00 01 FF ]".
static void put_memory(struct trazer *trazer, const struct rkh_item *item)
{
    extract_text_puts(trazer->text, "[ ");
    for (uint32_t i = 0; i < item->length; i++) {
        if (i && i % BYTES_PER_LINE == 0) {
            extract_text_putc(trazer->text, '\n');
            put_margin(trazer);
            extract_text_puts(trazer->text, "  ");
        }
        trazer_put_hex(trazer, "", item->bytes[i], 2);
        extract_text_putc(trazer->text, ' ');
    }
    extract_text_putc(trazer->text, ']');
}

void trazer_put_item(struct trazer *trazer, const struct rkh_item *item)
{
    struct extract_text *text = trazer->text;

    switch (item->kind) {
    case RKH_ITEM_NUMBER:
        extract_text_printf(text, "%0*" PRIu64, item->width, item->value);
        break;
    case RKH_ITEM_SIGNED:
        extract_text_printf(text, "%0*" PRId64, item->width, (int64_t)item->value);
        break;
    case RKH_ITEM_HEX:
        trazer_put_hex(trazer, "0x", item->value, item->width);
        break;
    case RKH_ITEM_STRING:
        trazer_put_bytes(trazer, item->bytes, item->length);
        break;
    case RKH_ITEM_MEMORY:
        put_memory(trazer, item);
        break;
    case RKH_ITEM_OBJECT:
        extract_text_puts(text, "obj=");
        trazer_put_address(trazer, item->value);
        break;
    case RKH_ITEM_FUNCTION:
        extract_text_puts(text, "func=");
        trazer_put_address(trazer, item->value);
        break;
    case RKH_ITEM_SIGNAL:
        extract_text_puts(text, "event=");
        trazer_put_signal(trazer, item->value);
        break;
    }
}

void trazer_put_items(struct trazer *trazer, struct rkh_args *args)
{
    struct rkh_item item;

    while (rkh_args_next(args, &item)) {
        put_margin(trazer);
        trazer_put_item(trazer, &item);
        extract_text_putc(trazer->text, '\n');
    }
}
