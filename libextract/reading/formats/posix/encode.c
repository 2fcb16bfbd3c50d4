// SPDX-License-Identifier: MIT
// formats/posix: encodes events as records, for logs that are merged from several traces.
//
// All records of a log have one layout: the widest addresses of all inputs, 64 bits of timestamps,
// and the number of a core. Data of the system's events and of a kernel's events consist of words,
// which are converted to that layout. Data of other events stay as they are.
//
// Source: docs/formats/posix-ring.md, "A record" and "In merged logs".
#include "formats/posix/posix.h"

enum {
    WIDE = 8,
    STAMP_BITS = 64,
    MAX_WORDS = 4095,
    FIRST_DONE = 2u << 30,
    FIRST_CUT = 1 << 28,
    FIRST_INTERRUPT = 1 << 29,
    TRAILER = 0xA
};

// A record that is being written.
struct writer {
    const struct extract_encoding *encoding;
    struct posix_layout layout;
    enum extract_byte_order input_order;
    uint8_t *bytes;
    uint32_t length, limit; // data must not pass the limit
    bool is_cut;
};

static struct posix_layout layout_of(const struct extract_ring *ring)
{
    struct posix_stream stream;

    posix_stream_read(&stream, ring->header, sizeof ring->header);
    return stream.layout;
}

// Fills in a stream block like that of the first input, with a layout for all inputs.
static enum extract_code encode_ring(struct extract_ring *ring,
                                     const struct extract_encoded_ring *wanted,
                                     struct extract_error *error)
{
    const struct extract_ring *first = wanted->inputs[0];
    enum extract_byte_order order = first->byte_order;
    struct posix_layout layout = layout_of(first);
    uint8_t *header = ring->header;

    layout.stamp_bits = STAMP_BITS;
    layout.shared = false;
    layout.cores |= wanted->cores > 1;
    for (size_t i = 0; i < wanted->input_count; i++) {
        const struct posix_layout other = layout_of(wanted->inputs[i]);
        layout.pids |= other.pids;
        layout.cores |= other.cores;
        if (wanted->is_wide || other.address_bytes > layout.address_bytes)
            layout.address_bytes = wanted->is_wide ? WIDE : other.address_bytes;
    }
    memset(ring, 0, sizeof *ring);
    memcpy(header, first->header, POSIX_STREAM_AT_POLICY);
    extract_store(header + POSIX_STREAM_AT_LAYOUT, posix_layout_word(&layout), 4, order);
    extract_store(header + POSIX_STREAM_AT_STATE, 0, 4, order);
    extract_store(header + POSIX_STREAM_AT_POLICY, POSIX_POLICY_LOOP, 4, order);
    if (!wanted->is_wide)
        memcpy(header + POSIX_STREAM_AT_PID, first->header + POSIX_STREAM_AT_PID, 4);
    memcpy(ring->posix.name, first->posix.name, sizeof ring->posix.name);
    return posix_make_ring(ring, first->address, error);
}

// ---- data ----

static void put_bytes(struct writer *w, const void *bytes, size_t count)
{
    size_t left = w->limit - w->length;

    w->is_cut |= count > left;
    count = count < left ? count : left;
    if (count)
        memcpy(w->bytes + w->length, bytes, count);
    w->length += (uint32_t)count;
}

static void put_data_word(struct writer *w, uint64_t value, unsigned size)
{
    uint8_t word[WIDE];

    extract_store(word, value, size, w->layout.order);
    put_bytes(w, word, size);
}

static uint32_t event_id_of(const struct writer *w, uint32_t id)
{
    const struct extract_encoding *e = w->encoding;

    if (id < POSIX_USER)
        return id;
    return POSIX_USER + (uint32_t)e->number(e->context, EXTRACT_KIND_USER_EVENT, id - POSIX_USER);
}

// Writes a filter, whose bits have the numbers of event types.
static void put_filter(struct writer *w, const uint8_t *bytes, size_t length)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, w->input_order);
    uint32_t words[POSIX_MAX_IDS / 32] = {0};
    size_t count = 0;

    for (uint32_t id = 0; extract_cursor_left(&c) >= 4; id += 32) {
        uint32_t word = extract_cursor_u32(&c);
        for (uint32_t bit = 0; bit < 32 && id + bit < POSIX_MAX_IDS; bit++) {
            uint32_t to = word >> bit & 1 ? event_id_of(w, id + bit) : id;
            if (to >= POSIX_MAX_IDS)
                continue;
            words[to / 32] |= (word >> bit & 1) << to % 32;
            count = to / 32 + 1 > count ? to / 32 + 1 : count;
        }
    }
    for (size_t i = 0; i < count; i++)
        put_data_word(w, words[i], 4);
}

// Writes the data of one of the system's events, which are words.
static void put_system_data(struct writer *w, const struct extract_event *event)
{
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, w->input_order);
    size_t half = event->data_bytes / 2;

    if (event->id == POSIX_ID_START) {
        put_filter(w, event->data, event->data_bytes);
        return;
    }
    if (event->id == POSIX_ID_FILTER) { // the old filter, and the new one
        put_filter(w, event->data, half);
        put_filter(w, event->data + half, half);
        return;
    }
    while (extract_cursor_left(&c) >= 4)
        put_data_word(w, extract_cursor_u32(&c), 4);
    size_t left = extract_cursor_left(&c);
    put_bytes(w, extract_cursor_span(&c, left), left);
}

// Writes the data of a user event. Those of a kernel's event begin with words that have the size of
// an address; the name of an object follows them.
static void put_user_data(struct writer *w, const struct extract_event *event)
{
    const struct extract_encoding *e = w->encoding;
    struct extract_cursor c = extract_cursor_make(event->data, event->data_bytes, w->input_order);
    uint64_t words[POSIX_RTOS_WORDS];
    unsigned count = posix_rtos_words(event, words);

    for (unsigned i = 0; i < count; i++) {
        uint64_t word = extract_cursor_word(&c, e->input->word_bytes);
        if (event->type->field[POSIX_RTOS_FIRST_WORD + i].kind == EXTRACT_KIND_OBJECT)
            word = extract_encode_address(e, word);
        put_data_word(w, word, w->layout.address_bytes);
    }
    size_t left = extract_cursor_left(&c);
    if (event->type->id == POSIX_RTOS_ID_OBJECT_NAME && left && e->prefix) {
        put_bytes(w, e->prefix, strlen(e->prefix));
        put_bytes(w, "/", 1);
    }
    put_bytes(w, extract_cursor_span(&c, left), left);
}

// ---- records ----

// Stores a number of one word or two. The lower word comes first in either byte order.
static uint8_t *store_number(uint8_t *to, uint64_t value, unsigned bytes,
                             enum extract_byte_order order)
{
    to = extract_store(to, (uint32_t)value, 4, order);
    return bytes == WIDE ? extract_store(to, value >> 32, 4, order) : to;
}

// Stores what comes before the data, except the first word.
static void store_head(const struct writer *w, const struct extract_event *event,
                       uint32_t data_bytes)
{
    const struct extract_encoding *e = w->encoding;
    const struct posix_layout *layout = &w->layout;
    bool is_interrupt = event->context == EXTRACT_ISR;
    uint64_t thread = is_interrupt ? event->field[posix_interrupt_field(event)] : event->thread;
    uint64_t pid = event->field[posix_pid_field(event)];
    uint32_t second = event_id_of(w, event->id) | data_bytes << 16;
    uint8_t *to = extract_store(w->bytes + 4, second, 4, layout->order);

    to = store_number(to, event->field[1], layout->address_bytes, layout->order);
    to = store_number(to, thread, layout->address_bytes, layout->order);
    if (layout->pids)
        to = extract_store(to, pid ? e->number(e->context, EXTRACT_KIND_DEC, pid) : 0, 4,
                           layout->order);
    if (layout->cores)
        to = extract_store(to, event->core, 4, layout->order);
    store_number(to, event->raw_stamp, STAMP_BITS / 8, layout->order);
}

static uint32_t encode_entry(const struct extract_encoding *encoding,
                             const struct extract_event *event, uint8_t *to)
{
    struct writer w = {.encoding = encoding,
                       .layout = layout_of(encoding->ring),
                       .input_order = encoding->input->byte_order,
                       .bytes = to,
                       .limit = MAX_WORDS * 4 - 4,
                       .is_cut = event->field[2] != 0};
    uint32_t head = posix_record_head(&w.layout);

    w.length = head;
    if (event->id < POSIX_USER)
        put_system_data(&w, event);
    else
        put_user_data(&w, event);
    uint32_t data_bytes = w.length - head;
    store_head(&w, event, data_bytes);
    while (w.length % 4)
        w.bytes[w.length++] = 0;
    uint32_t tied = (w.length / 4 + 1) << 16; // its length; the position is 0
    uint32_t first = tied | FIRST_DONE | (w.is_cut ? FIRST_CUT : 0u) |
                     (event->context == EXTRACT_ISR ? FIRST_INTERRUPT : 0u);
    extract_store(to, first, 4, w.layout.order);
    extract_store(to + w.length, tied | (uint32_t)TRAILER << 28, 4, w.layout.order);
    return w.length + 4;
}

static void take_numbers(const struct extract_event *event,
                         void (*take)(void *context, enum extract_kind kind, uint64_t number),
                         void *context)
{
    take(context, EXTRACT_KIND_DEC, event->field[posix_pid_field(event)]);
}

const struct extract_encoder posix_encoder = {.ring = encode_ring,
                                              .entry = encode_entry,
                                              .numbers = take_numbers,
                                              .user_events = POSIX_MAX_IDS - POSIX_USER,
                                              .has_names = true};
