// SPDX-License-Identifier: MIT
// report/rkh: values in a line. In: numbers, and the items of user events. Out: names, where the
// stream or the firmware's symbols tell them, and numbers as Trazer prints them.
#include "report/rkh/trazer.h"
#include <inttypes.h>

enum { SYMBOL_MAX = 256, BYTES_A_LINE = 10, ITEM_COLUMN = 34 };

void trazer_bytes(struct trazer *trazer, const uint8_t *bytes, uint32_t length)
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

void trazer_name(struct trazer *trazer, const struct rkh_item *item)
{
    bool strip = item->length && item->bytes[0] == '&';
    trazer_bytes(trazer, item->bytes + strip, item->length - strip);
}

// The name of a key, or false.
static bool put_name(struct trazer *trazer, uint64_t key)
{
    const char *name = trazer_names_find(&trazer->names, key);
    if (name)
        extract_text_puts(trazer->text, name);
    return name != NULL;
}

static bool put_symbol(struct trazer *trazer, uint64_t address)
{
    struct extract_symbols *symbols = extract_trace_symbols(trazer->trace);
    char name[SYMBOL_MAX];
    if (!symbols || !extract_symbols_describe(symbols, extract_ring_address(trazer->ring, address),
                                              true, name, sizeof name))
        return false;
    extract_text_escaped(trazer->text, name);
    return true;
}

void trazer_hex(struct trazer *trazer, const char *mark, uint64_t value, unsigned digits)
{
    unsigned needed = (67u - (unsigned)__builtin_clzll(value | 1)) / 4;
    extract_text_puts(trazer->text, mark);
    extract_text_pad(trazer->text, '0', needed < digits ? digits - needed : 0);
    for (unsigned i = needed; i-- > 0;)
        extract_text_putc(trazer->text, "0123456789ABCDEF"[value >> 4 * i & 15]);
}

void trazer_address(struct trazer *trazer, uint64_t address)
{
    if (!address)
        extract_text_putc(trazer->text, '?');
    else if (!put_name(trazer, address) && !put_symbol(trazer, address))
        trazer_hex(trazer, "0X", address, 1);
}

void trazer_signal(struct trazer *trazer, uint64_t number)
{
    if (!put_name(trazer, extract_number_key(EXTRACT_KIND_SIGNAL, number)))
        trazer_hex(trazer, "0X", number, 1);
}

void trazer_pool(struct trazer *trazer, uint64_t index)
{
    if (!put_name(trazer, extract_number_key(EXTRACT_KIND_POOL, index)))
        extract_text_dec(trazer->text, index + 1);
}

// ---- user events ----

static void put_margin(struct trazer *trazer)
{
    extract_text_pad(trazer->text, ' ', ITEM_COLUMN);
    extract_text_puts(trazer->text, "| ");
}

static void put_memory(struct trazer *trazer, const struct rkh_item *item)
{
    extract_text_puts(trazer->text, "[ ");
    for (uint32_t i = 0; i < item->length; i++) {
        if (i && i % BYTES_A_LINE == 0) {
            extract_text_putc(trazer->text, '\n');
            put_margin(trazer);
            extract_text_puts(trazer->text, "  ");
        }
        trazer_hex(trazer, "", item->bytes[i], 2);
        extract_text_putc(trazer->text, ' ');
    }
    extract_text_putc(trazer->text, ']');
}

void trazer_item(struct trazer *trazer, const struct rkh_item *item)
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
        trazer_hex(trazer, "0x", item->value, item->width);
        break;
    case RKH_ITEM_STRING:
        trazer_bytes(trazer, item->bytes, item->length);
        break;
    case RKH_ITEM_MEMORY:
        put_memory(trazer, item);
        break;
    case RKH_ITEM_OBJECT:
        extract_text_puts(text, "obj=");
        trazer_address(trazer, item->value);
        break;
    case RKH_ITEM_FUNCTION:
        extract_text_puts(text, "func=");
        trazer_address(trazer, item->value);
        break;
    case RKH_ITEM_SIGNAL:
        extract_text_puts(text, "event=");
        trazer_signal(trazer, item->value);
        break;
    }
}

void trazer_items(struct trazer *trazer, struct rkh_args *args)
{
    struct rkh_item item;
    while (rkh_args_next(args, &item)) {
        put_margin(trazer);
        trazer_item(trazer, &item);
        extract_text_putc(trazer->text, '\n');
    }
}
