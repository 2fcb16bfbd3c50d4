// SPDX-License-Identifier: MIT
// formats/rkh: decodes the arguments of an event, one after the other, from its unstuffed bytes.
//
// Source: docs/formats/rkh.md, "Arguments" and "User events".
#include "formats/rkh/rkh.h"

bool rkh_args_open(struct rkh_args *args, const struct rkh_wire *wire, unsigned id,
                   const uint8_t *bytes, size_t length)
{
    args->wire = *wire;
    args->words = rkh_words(wire->family, id);
    args->tagged = false;
    args->c = extract_cursor_make(bytes, length, EXTRACT_LITTLE);
    return args->words != NULL;
}

bool rkh_args_of(struct rkh_args *args, const struct extract_event *event)
{
    struct rkh_wire wire;

    rkh_wire_unpack(&wire, (uint32_t)event->priority_word);
    return rkh_args_open(args, &wire, event->id, event->data, event->data_bytes);
}

static uint64_t read_number(struct extract_cursor *c, unsigned bytes)
{
    return bytes ? extract_cursor_number(c, bytes) : 0;
}

static void read_string(struct extract_cursor *c, struct rkh_item *item)
{
    size_t left = extract_cursor_left(c);
    const uint8_t *start = c->bytes + c->at, *end = left ? memchr(start, 0, left) : NULL;

    item->kind = RKH_ITEM_STRING;
    item->length = end ? (uint32_t)(end - start) : 0;
    item->bytes = extract_cursor_span(c, end ? (uint64_t)item->length + 1 : (uint64_t)left + 1);
}

// ---- User events ----

static void read_tagged(struct rkh_args *args, struct rkh_item *item)
{
    static const uint8_t bytes[] = {1, 1, 2, 2, 4, 4, 4};
    static const enum rkh_word words[] = {RKH_WORD_sym, RKH_WORD_fun, RKH_WORD_sig};
    static const enum rkh_item_kind kinds[] = {RKH_ITEM_OBJECT, RKH_ITEM_FUNCTION, RKH_ITEM_SIGNAL};
    struct extract_cursor *c = &args->c;
    uint8_t tag = extract_cursor_u8(c);

    item->word = RKH_WORD_items;
    item->tag = tag & 0xF;
    item->width = tag >> 4;
    if (item->tag < 6 && item->tag % 2 == 0) {
        item->kind = RKH_ITEM_SIGNED;
        uint64_t sign = UINT64_C(1) << (8 * bytes[item->tag] - 1);
        item->value = (read_number(c, bytes[item->tag]) ^ sign) - sign;
    } else if (item->tag <= 6) {
        item->kind = item->tag == 6 ? RKH_ITEM_HEX : RKH_ITEM_NUMBER;
        item->value = read_number(c, bytes[item->tag]);
    } else if (item->tag == 7) {
        read_string(c, item);
    } else if (item->tag == 8) {
        item->kind = RKH_ITEM_MEMORY;
        item->length = extract_cursor_u8(c);
        item->bytes = extract_cursor_span(c, item->length);
    } else if (item->tag <= 11) {
        item->kind = kinds[item->tag - 9];
        item->value = read_number(c, args->wire.size[words[item->tag - 9]]);
    } else {
        c->failed = true;
    }
}

// ---- Arguments ----

// Reads an argument. If it names an event whose arguments follow, continues with these. Returns
// false if the argument is absent.
static bool read_argument(struct rkh_args *args, struct rkh_item *item)
{
    static const uint8_t kinds[RKH_WORDS] = {[RKH_WORD_sym] = RKH_ITEM_OBJECT,
                                             [RKH_WORD_sndr] = RKH_ITEM_OBJECT,
                                             [RKH_WORD_fun] = RKH_ITEM_FUNCTION,
                                             [RKH_WORD_sig] = RKH_ITEM_SIGNAL};

    item->word = (enum rkh_word) * args->words++;
    if (item->word == RKH_WORD_str) {
        read_string(&args->c, item);
        return true;
    }
    if (!args->wire.size[item->word])
        return false;
    item->kind = (enum rkh_item_kind)kinds[item->word]; // a number, unless the table has another
    item->value = read_number(&args->c, args->wire.size[item->word]);
    if (*args->words == RKH_WORD_rest) {
        enum rkh_family family = args->wire.family;
        int id = item->value < RKH_IDS ? rkh_id(family, (unsigned)item->value) : -1;
        args->words = id < 0 ? NULL : rkh_words(family, (unsigned)id);
        args->c.failed |= !args->words;
    }
    return true;
}

bool rkh_args_next(struct rkh_args *args, struct rkh_item *item)
{
    bool taken = false;

    *item = (struct rkh_item){0};
    while (!taken && !args->c.failed && !args->tagged) {
        if (*args->words == RKH_WORD_none)
            return false;
        if (*args->words == RKH_WORD_items)
            args->tagged = true;
        else
            taken = read_argument(args, item);
    }
    if (!taken && args->tagged && !args->c.failed && extract_cursor_left(&args->c)) {
        read_tagged(args, item);
        taken = true;
    }
    return taken && !args->c.failed;
}

bool rkh_args_fit(const struct rkh_args *args)
{
    return !args->c.failed && !extract_cursor_left(&args->c);
}

bool rkh_args_match(const struct rkh_wire *wire, unsigned id, const uint8_t *bytes, size_t length)
{
    struct rkh_args args;
    struct rkh_item item;

    if (!rkh_args_open(&args, wire, id, bytes, length))
        return false;
    while (rkh_args_next(&args, &item))
        ;
    return rkh_args_fit(&args);
}
