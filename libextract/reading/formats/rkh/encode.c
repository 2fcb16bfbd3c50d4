// SPDX-License-Identifier: MIT
// formats/rkh: encodes events as frames of a log that is merged from several traces.
//
// The inputs may have different settings, and an input may change them. So each frame of a merged
// log contains its settings, and the number of its core. Arguments stay as they are, except for
// what must not be the same on two boards: addresses get the number of the board, signals, pools
// and user events get other numbers, and the names of objects get a prefix.
//
// Source: docs/formats/rkh.md, "In merged logs".
#include "formats/rkh/rkh.h"

enum {
    MAX_WHOLE = 0xFFFF,       // bytes of a frame, without stuffing
    SPACE = MAX_WHOLE + 1024, // an argument may pass the end of the largest frame
    WHOLE_AT = 2 * SPACE,     // where the frame is before it is stuffed
    NO_RATE = 0
};

_Static_assert(WHOLE_AT + SPACE <= EXTRACT_ENCODED_CAPACITY, "a frame and its stuffed form");

// A frame that is being written. Arguments that do not fit set `is_full`.
struct writer {
    const struct extract_encoding *encoding;
    struct rkh_wire from, to;
    uint8_t *bytes;
    uint32_t length;
    bool is_full;
};

static enum extract_code encode_ring(struct extract_ring *ring,
                                     const struct extract_encoded_ring *wanted,
                                     struct extract_error *error)
{
    const struct extract_ring *first = wanted->inputs[0];
    bool is_wide = wanted->is_wide;
    uint64_t bytes = 0;

    (void)error;
    for (size_t i = 0; i < wanted->input_count; i++) {
        bytes += wanted->inputs[i]->entries.end - wanted->inputs[i]->entries.start;
        is_wide |= wanted->inputs[i]->word_bytes == 8;
    }
    memset(ring, 0, sizeof *ring);
    rkh_make_merged(ring, first->entries.start, bytes, is_wide);
    ring->near = is_wide ? 0 : first->near;
    ring->pointer_bytes = first->pointer_bytes;
    memcpy(ring->rkh.value, first->rkh.value, sizeof ring->rkh.value);
    memcpy(ring->rkh.from, first->rkh.from, sizeof ring->rkh.from);
    bool has_rates = false; // runs of the first input differ in their rates
    for (unsigned i = 0; i < first->rkh.layouts; i++)
        has_rates |= rkh_layout_hz(&first->rkh.layout[i]) != 0;
    if (has_rates && !first->hz) {
        ring->rkh.value[EXTRACT_RKH_TS_HZ] = NO_RATE;
        ring->rkh.from[EXTRACT_RKH_TS_HZ] = EXTRACT_RKH_DEFAULT;
    }
    return EXTRACT_OK;
}

// ---- arguments ----

static void put_bytes(struct writer *w, const void *bytes, uint32_t count)
{
    w->is_full |= count > SPACE || w->length > SPACE - count;
    if (w->is_full || !count)
        return;
    memcpy(w->bytes + w->length, bytes, count);
    w->length += count;
}

static void put_number(struct writer *w, uint64_t value, unsigned size)
{
    uint8_t bytes[8];

    extract_store(bytes, value, size, EXTRACT_LITTLE);
    put_bytes(w, bytes, size);
}

static uint64_t number_of(const struct writer *w, enum extract_kind kind, uint64_t number)
{
    return w->encoding->number(w->encoding->context, kind, number);
}

// Returns an address as the log has it. On several boards, it is complete even if the target sent
// only its lower half.
static uint64_t address_of(const struct writer *w, uint64_t address)
{
    if (w->to.size[RKH_WORD_sym] == 8 && address && address != UINT32_MAX)
        address = extract_ring_address(w->encoding->input, address);
    return extract_encode_address(w->encoding, address);
}

// Returns the id of an event on the wire as the log has it, by the id that the target sent.
static uint64_t event_id_of(const struct writer *w, uint64_t id)
{
    if (id < RKH_USER || id >= RKH_USER_END)
        return id;
    return RKH_USER + number_of(w, EXTRACT_KIND_USER_EVENT, id - RKH_USER);
}

// Writes a text. If it is the name of an object, it gets the prefix; "&" at its start is no part of
// the name.
static void put_text(struct writer *w, const struct rkh_item *item, bool is_name)
{
    const char *prefix = is_name && item->length ? w->encoding->prefix : NULL;
    bool strip = prefix && item->bytes[0] == '&';

    if (prefix) {
        put_bytes(w, prefix, (uint32_t)strlen(prefix));
        put_bytes(w, "/", 1);
    }
    put_bytes(w, item->bytes + strip, item->length - strip);
    put_bytes(w, "", 1);
}

// Writes a tagged item of a user event.
static void put_item(struct writer *w, const struct rkh_item *item)
{
    static const uint8_t sizes[] = {1, 1, 2, 2, 4, 4, 4};
    const uint8_t tag = (uint8_t)(item->width << 4 | item->tag);

    put_bytes(w, &tag, 1);
    switch (item->kind) {
    case RKH_ITEM_STRING:
        put_text(w, item, false);
        break;
    case RKH_ITEM_MEMORY:
        put_number(w, item->length, 1);
        put_bytes(w, item->bytes, item->length);
        break;
    case RKH_ITEM_OBJECT:
        put_number(w, address_of(w, item->value), w->to.size[RKH_WORD_sym]);
        break;
    case RKH_ITEM_FUNCTION:
        put_number(w, address_of(w, item->value), w->to.size[RKH_WORD_fun]);
        break;
    case RKH_ITEM_SIGNAL:
        put_number(w, number_of(w, EXTRACT_KIND_SIGNAL, item->value), w->to.size[RKH_WORD_sig]);
        break;
    default: // a number
        put_number(w, item->value, sizes[item->tag]);
        break;
    }
}

// Writes an argument that is a number, whose field is of a kind.
static void put_argument(struct writer *w, const struct rkh_item *item, enum extract_kind kind)
{
    uint64_t value = item->value;

    if (item->word == RKH_WORD_sym || item->word == RKH_WORD_sndr || item->word == RKH_WORD_fun)
        value = address_of(w, value);
    else if (kind == EXTRACT_KIND_SIGNAL || kind == EXTRACT_KIND_USER_EVENT)
        value = number_of(w, kind, value);
    else if (item->word == RKH_WORD_pool1)
        value = value ? number_of(w, EXTRACT_KIND_POOL, value - 1) + 1 : 0;
    else if (kind == EXTRACT_KIND_POOL)
        value = number_of(w, EXTRACT_KIND_POOL, value);
    else if (kind == EXTRACT_KIND_EVENT)
        value = event_id_of(w, value);
    put_number(w, value, w->to.size[item->word]);
}

// Returns the id of the event that a unit test expects, if an argument is that id, and its
// arguments follow: -1 if there is no such event. Returns RKH_UT_EXPECT for all other arguments:
// that event itself is never expected.
static int expected_id(const struct rkh_wire *wire, unsigned id, enum extract_kind kind,
                       const struct rkh_item *item)
{
    if (id != RKH_UT_EXPECT || kind != EXTRACT_KIND_EVENT)
        return RKH_UT_EXPECT;
    return item->value < RKH_IDS ? rkh_id(wire->family, (unsigned)item->value) : -1;
}

// Writes the arguments of an event. A unit test may expect an event, whose arguments follow its id.
static void put_arguments(struct writer *w, unsigned id, const uint8_t *bytes, size_t length)
{
    const struct extract_event_type *type = rkh_type_on(&w->from, id);
    struct rkh_args args;
    struct rkh_item item;

    if (!rkh_args_open(&args, &w->from, id, bytes, length))
        return;
    for (unsigned i = 0; rkh_args_next(&args, &item); i++) {
        enum extract_kind kind = i < type->fields ? type->field[i].kind : EXTRACT_KIND_NONE;
        if (item.word == RKH_WORD_items)
            put_item(w, &item);
        else if (item.word == RKH_WORD_str)
            put_text(w, &item, rkh_names_object(id));
        else
            put_argument(w, &item, kind);
        int inner = expected_id(&w->from, id, kind, &item);
        if (inner != RKH_UT_EXPECT) {
            if (inner >= 0)
                put_arguments(w, (unsigned)inner, bytes + args.c.at, length - args.c.at);
            return;
        }
    }
}

// ---- frames ----

// Returns the id on the wire that stands for an id of 3.x.
static uint8_t id_on_wire(enum rkh_family family, uint32_t id)
{
    for (unsigned i = 0; family != RKH_FAMILY_3 && i < RKH_IDS; i++)
        if (rkh_id(family, i) == (int)id)
            return (uint8_t)i;
    return (uint8_t)id;
}

// Stuffs a frame and ends it. Returns the number of bytes.
static uint32_t stuff(uint8_t *to, const uint8_t *bytes, uint32_t length)
{
    uint8_t *at = to;

    for (uint32_t i = 0; i < length; i++) {
        bool escape = bytes[i] == RKH_FLAG || bytes[i] == RKH_ESCAPE;
        if (escape)
            *at++ = RKH_ESCAPE;
        *at++ = escape ? bytes[i] ^ RKH_XOR : bytes[i];
    }
    *at++ = RKH_FLAG;
    return (uint32_t)(at - to);
}

static uint32_t encode_entry(const struct extract_encoding *encoding,
                             const struct extract_event *event, uint8_t *to)
{
    uint32_t packed = (uint32_t)event->priority_word | RKH_PACKED_MERGED | RKH_PACKED_CHK;
    struct writer w = {.encoding = encoding, .bytes = to + WHOLE_AT};
    bool is_record = event->id == RKH_FWK_TCFG;
    uint8_t sum = 0;

    packed |= encoding->ring->word_bytes == 8 ? RKH_PACKED_WIDE : 0u;
    rkh_wire_unpack(&w.from, (uint32_t)event->priority_word);
    rkh_wire_unpack(&w.to, packed);
    uint32_t id = (uint32_t)event_id_of(&w, event->id);
    put_number(&w, id_on_wire(w.from.family, id), 1);
    put_number(&w, packed, 4);
    put_number(&w, event->core, 1);
    if (w.to.nseq)
        put_number(&w, encoding->sequence, 1);
    put_number(&w, event->raw_stamp, w.to.ts);
    if (is_record)
        put_bytes(&w, event->data, event->data_bytes);
    else
        put_arguments(&w, event->id, event->data, event->data_bytes);
    for (uint32_t i = 0; i < w.length; i++)
        sum = (uint8_t)(sum + w.bytes[i]);
    put_number(&w, (uint8_t)(0 - sum), 1);
    return w.is_full || w.length > MAX_WHOLE ? 0 : stuff(to, w.bytes, w.length);
}

// ---- numbers ----

// A receiver of numbers.
struct receiver {
    void (*take)(void *context, enum extract_kind kind, uint64_t number);
    void *context;
};

// Passes the signals and pools among the arguments of an event.
static void take_arguments(const struct receiver *receiver, const struct rkh_wire *wire,
                           unsigned id, const uint8_t *bytes, size_t length)
{
    const struct extract_event_type *type = rkh_type_on(wire, id);
    struct rkh_args args;
    struct rkh_item item;

    if (!rkh_args_open(&args, wire, id, bytes, length))
        return;
    for (unsigned i = 0; rkh_args_next(&args, &item); i++) {
        enum extract_kind kind = i < type->fields ? type->field[i].kind : EXTRACT_KIND_NONE;
        if (item.word == RKH_WORD_pool1 && item.value)
            receiver->take(receiver->context, EXTRACT_KIND_POOL, item.value - 1);
        else if (kind == EXTRACT_KIND_POOL && item.word == RKH_WORD_u8)
            receiver->take(receiver->context, EXTRACT_KIND_POOL, item.value);
        else if (item.kind == RKH_ITEM_SIGNAL && kind != EXTRACT_KIND_EVENT)
            receiver->take(receiver->context, EXTRACT_KIND_SIGNAL, item.value);
        int inner = expected_id(wire, id, kind, &item);
        if (inner != RKH_UT_EXPECT) {
            if (inner >= 0)
                take_arguments(receiver, wire, (unsigned)inner, bytes + args.c.at,
                               length - args.c.at);
            return;
        }
    }
}

static void take_numbers(const struct extract_event *event,
                         void (*take)(void *context, enum extract_kind kind, uint64_t number),
                         void *context)
{
    const struct receiver receiver = {take, context};
    struct rkh_wire wire;

    rkh_wire_unpack(&wire, (uint32_t)event->priority_word);
    take_arguments(&receiver, &wire, event->id, event->data, event->data_bytes);
}

// The number of a static event's pool is 0 on the wire, and others are one higher, in one byte.
const struct extract_encoder rkh_encoder = {.ring = encode_ring,
                                            .entry = encode_entry,
                                            .numbers = take_numbers,
                                            .separator = RKH_FLAG,
                                            .user_events = RKH_USER_END - RKH_USER,
                                            .pools = UINT8_MAX};
