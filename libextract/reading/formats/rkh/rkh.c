// SPDX-License-Identifier: MIT
// formats/rkh: decodes frames to events with their arguments, and defines the format.
//
// Sources: docs/formats/rkh.md; the interface of RKH's trace facility, 2.3 to 3.4.00.
#include "formats/rkh/target/target.h"

// 1 + the index of the field with the active object that made an event; 0: none.
static const uint8_t owner[RKH_IDS] = {
    [32] = 2,  [64] = 1,  [65] = 1,  [66] = 1,  [67] = 1,  [68] = 1,  [69] = 1,  [70] = 1,
    [72] = 1,  [96] = 1,  [97] = 1,  [98] = 1,  [99] = 1,  [100] = 1, [101] = 1, [102] = 1,
    [103] = 1, [104] = 1, [105] = 1, [106] = 1, [107] = 1, [108] = 1, [109] = 1, [110] = 1,
    [111] = 1, [112] = 2, [113] = 1, [129] = 2, [131] = 3};

static inline uint64_t load_number(const uint8_t *bytes, unsigned count)
{
    uint64_t value = bytes[0];

    if (count > 1)
        value |= (uint64_t)bytes[1] << 8;
    if (count > 2)
        value |= (uint64_t)bytes[2] << 16 | (uint64_t)bytes[3] << 24;
    for (unsigned i = 4; i < count; i++)
        value |= (uint64_t)bytes[i] << 8 * i;
    return value;
}

// Decodes arguments of fixed size to fields; a text becomes its offset in the copy. Fields after a
// list of variable length are left out. Some events count pools from 1 on, others from 0 on; fields
// always count from 0 on.
static void decode_fields(const struct extract_snapshot *snapshot, const struct rkh_wire *wire,
                          struct extract_event *event)
{
    const uint8_t *words = rkh_words(wire->family, event->id), *data = event->data;
    uint32_t at = 0, end = event->data_bytes;
    uint8_t fields = event->fields;

    for (; words && *words && *words < RKH_WORD_items && at <= end; words++) {
        unsigned size = wire->size[*words];
        if (*words == RKH_WORD_str) {
            event->field[fields++] = (uint64_t)(data + at - snapshot->bytes);
            at += (uint32_t)strnlen((const char *)data + at, end - at) + 1;
        } else if (size && size <= end - at) {
            uint64_t value = load_number(data + at, size);
            if (*words == RKH_WORD_pool1)
                value = value ? value - 1 : EXTRACT_NO_POOL;
            event->field[fields++] = value;
            at += size;
        }
    }
    event->fields = fields;
}

// Sets the members that do not depend on the frame's bytes, one by one: clearing the whole event,
// or copying an empty one, would take as long as all the rest.
static void clear_event(struct extract_event *event, uint64_t packed, uint64_t stamp)
{
    event->seq = event->ticks = event->thread = 0;
    event->raw_stamp = stamp;
    event->priority_word = packed;
    memset(event->field, 0, sizeof event->field);
    event->slot = 0;
    event->priority = event->threshold = EXTRACT_NO_PRIORITY;
    event->core = event->context = event->fields = event->flags = 0;
}

static void decode_frame(const struct extract_snapshot *snapshot,
                         const struct extract_extent *place, const struct rkh_wire *wire,
                         struct extract_event *event)
{
    const uint8_t *bytes = snapshot->bytes + place->offset;
    int known = wire->family == RKH_FAMILY_3 ? bytes[0] : rkh_id(wire->family, bytes[0]);
    uint32_t id = known < 0 ? bytes[0] : (uint32_t)known;

    // The record shows itself whether it has a checksum; the user's settings do not matter.
    bool tcfg = known == RKH_FWK_TCFG, has_fields = !tcfg || wire->family <= RKH_FAMILY_244;
    bool bare = tcfg && has_fields && !wire->is_merged;
    uint32_t head = bare ? 1 : 1u + wire->front + wire->nseq + wire->ts;
    event->id = id;
    event->core = wire->is_merged ? bytes[RKH_AT_CORE] : 0;
    event->data = bytes + head;
    event->data_bytes = bare ? RKH_TCFG_ARGS : place->whole - head - wire->chk;
    event->type = rkh_type_on(wire, id);
    if (has_fields)
        decode_fields(snapshot, wire, event);
    if (id >= RKH_UT_EXPECT && id <= RKH_UT_IGNORE_ARG && event->fields > 1) {
        // The id that a unit test expects is also converted to that of 3.x.
        uint64_t *named = &event->field[1];
        int converted = *named < RKH_IDS ? rkh_id(wire->family, (unsigned)*named) : -1;
        *named = converted >= 0 ? (uint64_t)converted : *named;
    }
    unsigned field = owner[id];
    if (field && field <= event->fields)
        event->thread = event->field[field - 1];
}

// Decodes the event that a unit test expects. Its arguments follow its id.
static bool decode_expected(const struct extract_snapshot *snapshot,
                            const struct extract_event *event, struct extract_event *inner)
{
    struct rkh_wire wire;

    rkh_wire_unpack(&wire, (uint32_t)event->priority_word);
    uint32_t head = wire.size[RKH_WORD_u32] + wire.size[RKH_WORD_sig];
    if (event->id != RKH_UT_EXPECT || event->fields < 2 || head > event->data_bytes ||
        !rkh_words(wire.family, (unsigned)event->field[1]))
        return false;
    *inner = *event;
    inner->id = (uint32_t)event->field[1];
    inner->type = rkh_type_on(&wire, inner->id);
    inner->data = event->data + head;
    inner->data_bytes = event->data_bytes - head;
    inner->fields = 0;
    decode_fields(snapshot, &wire, inner);
    return true;
}

static void decode_slots(const struct extract_snapshot *snapshot, uint32_t slot, size_t count,
                         struct extract_event *events)
{
    struct rkh_wire wire;
    uint64_t packed = 0;

    for (size_t i = 0; i < count; i++) {
        const struct extract_extent *place = &snapshot->index[slot + i];
        if (!i || place->layout != place[-1].layout) {
            const struct extract_rkh_layout *layout = &snapshot->ring.rkh.layout[place->layout];
            packed = (uint64_t)place->layout << 32 | layout->packed;
            rkh_wire_unpack(&wire, layout->packed);
        }
        clear_event(&events[i], packed, place->stamp);
        decode_frame(snapshot, place, &wire, &events[i]);
    }
}

// Appends the text at an offset of the copy. It ends with a NUL, or with the copy.
static bool append_text(const struct extract_snapshot *snapshot, uint64_t value,
                        struct extract_text *text)
{
    uint64_t length = snapshot->ring.length + rkh_slack_bytes(&snapshot->ring);

    if (value >= length)
        return false;
    const char *start = (const char *)snapshot->bytes + value;
    extract_text_put(text, start, strnlen(start, (size_t)(length - value)));
    return true;
}

// Applies the settings of the firmware. A version that cannot be read is refused only when the ring
// is copied.
static void apply_symbols(struct extract_ring *ring, struct extract_symbols *symbols)
{
    ring->pointer_bytes = (uint8_t)extract_symbols_pointer_bytes(symbols);
    // In a merged log of several boards, addresses are complete.
    ring->near = ring->word_bytes == 8 ? 0 : rkh_find_near(symbols);
    rkh_from_symbols(&ring->rkh, symbols);
}

static enum extract_code name_signals(const struct extract_ring *ring,
                                      struct extract_symbols *symbols,
                                      const struct extract_numbers *numbers,
                                      extract_name_callback *take, void *context,
                                      struct extract_signals *signals, struct extract_error *error)
{
    struct rkh_signals found;
    uint64_t number;
    const char *name;
    enum extract_code code = rkh_signals_find(&found, &ring->rkh, symbols, numbers, error);

    if (code)
        return code;
    *signals = (struct extract_signals){.from = found.from, .count = found.count};
    if (rkh_signals_at(&found, 0, &number, &signals->name_of_1))
        signals->name = found.list[0].name;
    for (size_t i = 0; found.from && rkh_signals_at(&found, i, &number, &name); i++)
        if (number <= UINT32_MAX && rkh_signals_name(&found, number) &&
            !take(context, number, name))
            return extract_error_set(error, EXTRACT_NOMEM, "names of signals", NULL,
                                     "out of memory");
    return EXTRACT_OK;
}

static bool is_valid_header(struct extract_ring *ring, const uint8_t *bytes, size_t length,
                            uint64_t address)
{
    (void)ring, (void)bytes, (void)length, (void)address;
    return false;
}

static const struct extract_terminated_ring terminated = {
    .terminator = RKH_FLAG,
    .pointer = rkh_pointer,
    .number = rkh_number,
};

static const struct extract_stream stream = {
    .slack_bytes = rkh_slack_bytes,
    .read_live = rkh_read_live,
    .read_counters = rkh_read_counters,
    .copy_side_data = extract_stream_has_no_side_data,
    .resolve_layout = rkh_resolve,
    .walk = rkh_walk,
    .stamp_mask = rkh_stamp_mask,
    .is_untimed = rkh_is_untimed,
    .note_verdicts = extract_stream_ignores_verdicts,
    .describe = rkh_describe,
    .terminated = &terminated,
};

static const struct extract_describing_entries describing = {
    .items = rkh_items,
    .inner = decode_expected,
    .text = append_text,
    .name_signals = name_signals,
};

static const struct extract_hook_entries entries = {rkh_entry, extract_hook_entry_is_no_mark};

const struct extract_format extract_format_rkh = {
    .name = "rkh",
    .title = "RKH",
    .suffix = "rkr",
    .find = rkh_find,
    .is_meant = rkh_is_meant,
    .read_header = rkh_read_ring,
    .apply_symbols = apply_symbols,
    .is_valid_header = is_valid_header,
    .complete = extract_format_is_complete,
    .type = rkh_type,
    .decode = decode_slots,
    .object = extract_format_has_no_objects,
    .describe = rkh_describe_address,
    .locate = rkh_locate,
    .user_ids = RKH_USER,
    .has_ownerless = true,
    .thread_type = "active object",
    .direction = EXTRACT_CLOCK_UP,
    .hooks = EXTRACT_HOOKS_PLAIN,
    .stream = &stream,
    .kernel = &rkh_kernel,
    .entry_name = rkh_read_name,
    .describing = &describing,
    .target = &rkh_target_filter,
    .entries = &entries,
    .encoder = &rkh_encoder,
};
