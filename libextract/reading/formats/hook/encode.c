// SPDX-License-Identifier: MIT
// formats/hook: encodes events as records, for logs that are merged from several traces.
//
// Hook word, data words and buffer stay as they are, except for the byte order of the words. The
// frame gets the processor's number in the log, and the thread id and the timestamp get 64 bits.
// Data words may contain addresses, but only role files state which. So a record of another board
// than the first contains the number of its board, and the roles apply it (translate.c).
//
// Source: docs/formats/hook.md, "A record".
#include "formats/hook/hook.h"

enum { WIDE = 8, FRAME = 4, CLOCK_BITS = 64 };

static enum extract_code encode_ring(struct extract_ring *ring,
                                     const struct extract_encoded_ring *wanted,
                                     struct extract_error *error)
{
    const struct extract_ring *first = wanted->inputs[0];
    uint64_t buffer_bytes = HOOK_MIN_BUFFER;
    uint32_t flags = HOOK_FLAG_CPUS_SEEN | (wanted->is_wide ? HOOK_FLAG_BOARDS : 0u);
    uint8_t header[EXTRACT_HOOKS_HEADER] = {0}, word_bytes = wanted->is_wide ? WIDE : FRAME;

    for (size_t i = 0; i < wanted->input_count; i++) {
        const struct extract_ring *input = wanted->inputs[i];
        uint64_t bytes = input->entries.end - input->entries.start;
        buffer_bytes = bytes > buffer_bytes ? bytes : buffer_bytes;
        word_bytes = input->word_bytes > word_bytes ? input->word_bytes : word_bytes;
        flags |= hook_limits_of(input).has_boards ? HOOK_FLAG_BOARDS : 0u;
    }
    const struct {
        enum extract_hooks_word at;
        uint32_t value;
    } words[] = {
        {EXTRACT_HOOKS_AT_MAGIC, EXTRACT_HOOKS_MAGIC},
        {EXTRACT_HOOKS_AT_VERSION, EXTRACT_HOOKS_VERSION},
        {EXTRACT_HOOKS_AT_HEADER_BYTES, EXTRACT_HOOKS_HEADER},
        {EXTRACT_HOOKS_AT_BUFFER_BYTES, (uint32_t)buffer_bytes},
        {EXTRACT_HOOKS_AT_FLAGS, flags},
        {EXTRACT_HOOKS_AT_CLOCK_HZ, first->hz <= UINT32_MAX ? (uint32_t)first->hz : 0},
        {EXTRACT_HOOKS_AT_CLOCK_BITS, CLOCK_BITS},
        {EXTRACT_HOOKS_AT_WORD_BYTES, word_bytes},
        {EXTRACT_HOOKS_AT_CPUS, wanted->cores},
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        extract_store(header + words[i].at, words[i].value, 4, first->byte_order);
    uint8_t pointer_bytes = first->pointer_bytes;
    if (!hook_is_header(ring, header, sizeof header, first->address))
        return extract_error_set(error, EXTRACT_BAD, "merge", "merge fewer inputs",
                                 "no control block describes the inputs together");
    ring->pointer_bytes = pointer_bytes;
    return EXTRACT_OK;
}

// Stores hook word, data words and buffer. Words of the input's byte order are stored in that of
// the log. Returns the place after them.
static uint8_t *store_payload(const struct extract_encoding *encoding,
                              const struct extract_event *event, uint8_t *to)
{
    enum extract_byte_order order = encoding->ring->byte_order;
    struct extract_cursor c =
        extract_cursor_make(event->data, event->data_bytes, encoding->input->byte_order);
    unsigned unit = event->priority_word & HOOK_FRAME_WIDE ? 8 : 4;

    for (unsigned i = 0; i <= event->fields && extract_cursor_left(&c) >= unit; i++)
        to = extract_store(to, extract_cursor_word(&c, unit), unit, order);
    size_t left = extract_cursor_left(&c), padding = (0 - left) & 3;
    memcpy(to, extract_cursor_span(&c, left), left);
    memset(to + left, 0, padding);
    return to + left + padding;
}

static bool has_stamp(const struct extract_event *event)
{
    return event->priority_word & HOOK_FRAME_STAMP;
}

static uint32_t encode_entry(const struct extract_encoding *encoding,
                             const struct extract_event *event, uint8_t *to)
{
    enum extract_byte_order order = encoding->ring->byte_order;
    const uint32_t kept = HOOK_FRAME_WIDE | HOOK_FRAME_ISR | HOOK_FRAME_INIT | HOOK_FRAME_TID;
    uint32_t frame = ((uint32_t)event->priority_word & kept) | (uint32_t)event->core << 24;
    uint32_t board = hook_board_of(event);
    bool is_stamped = !encoding->is_untimed || has_stamp(event);

    if (encoding->board)
        board ^= encoding->board << (encoding->board_bit - 32);
    frame |= frame & HOOK_FRAME_TID ? HOOK_FRAME_TID_8 : 0u;
    frame |= is_stamped ? HOOK_FRAME_STAMP | HOOK_FRAME_STAMP_8 : 0u;
    frame |= board ? HOOK_FRAME_BOARD : 0u;
    uint32_t words = event->data_bytes / 4 + (event->data_bytes % 4 != 0);
    uint32_t length = FRAME + 4 * words + (board ? 4 : 0) + (frame & HOOK_FRAME_TID ? WIDE : 0) +
                      (is_stamped ? WIDE : 0);
    bool is_long = length > HOOK_MAX_FRAME;
    length += is_long ? 4 : 0;
    if (length > HOOK_MAX_RECORD)
        return 0;
    to = extract_store(to, is_long ? frame : frame | length, FRAME, order);
    if (is_long)
        to = extract_store(to, length, 4, order);
    if (board)
        to = extract_store(to, board, 4, order);
    to = store_payload(encoding, event, to);
    if (frame & HOOK_FRAME_TID)
        to = extract_store(to, event->thread, WIDE, order);
    if (is_stamped)
        extract_store(to, event->raw_stamp, WIDE, order);
    return length;
}

const struct extract_encoder hook_encoder = {
    .ring = encode_ring, .entry = encode_entry, .has_stamp = has_stamp};
