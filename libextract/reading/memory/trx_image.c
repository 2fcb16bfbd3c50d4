// SPDX-License-Identifier: MIT
// memory: loads ThreadX trace dumps (.trx). The file is a copy of the trace buffer, and becomes one
// image at the address that the buffer had on the target. Only the first words are read here; the
// rest belongs to formats/threadx. Standard: ThreadX 6.4.2, common/inc/tx_trace.h,
// TX_TRACE_HEADER_STRUCT.
#include "base/cursor.h"
#include "base/trx.h"
#include "memory/images.h"

enum {
    BASE_ADDRESS_WORD = 2,
    REGISTRY_WORD = 3,
    NAME_BYTES_WORD = 4, // its second half-word
    REGISTRY_END_WORD = 5,
    ENTRIES_WORD = 6,
    END_ADDRESS_WORD = 7,
    HEADER_WORDS = 12,
    OBJECT_WORDS = 4
};

// Reads where the parts of a dump are. Returns false if the header contradicts itself.
static bool read_layout(struct extract_trx_layout *layout, const struct extract_input *input,
                        unsigned word, enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, order);
    uint64_t words[HEADER_WORDS];

    for (unsigned i = 0; i < HEADER_WORDS; i++)
        words[i] = extract_cursor_word(&c, word);
    extract_cursor_seek(&c, NAME_BYTES_WORD * (uint64_t)word + 2);
    uint64_t name = extract_cursor_u16(&c), base = words[BASE_ADDRESS_WORD];
    *layout = (struct extract_trx_layout){.byte_order = order,
                                          .word_bytes = word,
                                          .registry = words[REGISTRY_WORD] - base,
                                          .registry_end = words[REGISTRY_END_WORD] - base,
                                          .entries = words[ENTRIES_WORD] - base,
                                          .entries_end = words[END_ADDRESS_WORD] - base};
    layout->object_bytes = OBJECT_WORDS * word + (name + word - 1) / word * word;
    return !c.failed && layout->registry <= layout->registry_end &&
           layout->registry_end <= layout->entries && layout->entries <= layout->entries_end &&
           layout->registry_end <= input->length;
}

bool extract_trx_is(const uint8_t *bytes, size_t length)
{
    enum extract_byte_order order;

    return extract_trx_word_bytes(bytes, length, &order) != 0;
}

// Reads the addresses at which the ring begins and ends. Sets an end of 0 if the header ends before
// it. Returns false if it does not even hold the first.
static bool read_bounds(const struct extract_input *input, unsigned word,
                        enum extract_byte_order order, uint64_t *base, uint64_t *end)
{
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, order), at_end = c;

    extract_cursor_seek(&c, (uint64_t)BASE_ADDRESS_WORD * word);
    *base = extract_cursor_word(&c, word);
    extract_cursor_seek(&at_end, (uint64_t)END_ADDRESS_WORD * word);
    *end = extract_cursor_word(&at_end, word);
    return !c.failed;
}

static bool is_whole(const struct extract_input *input)
{
    enum extract_byte_order order;
    unsigned word = extract_trx_word_bytes(input->bytes, input->length, &order);
    uint64_t base, end;

    return word && read_bounds(input, word, order, &base, &end) && end - base == input->length;
}

enum extract_code extract_trx_load(struct extract_images *images, struct extract_input *input,
                                   struct extract_error *error)
{
    enum extract_byte_order order;
    uint64_t base, end;

    extract_images_mend_line_ends(images, input, is_whole);
    unsigned word = extract_trx_word_bytes(input->bytes, input->length, &order);
    if (!word)
        return extract_error_set(error, EXTRACT_BAD, input->name,
                                 "pass the address of a raw image as FILE@ADDRESS",
                                 "not a ThreadX trace: it does not start with the id 0x54585442");
    if (!read_bounds(input, word, order, &base, &end))
        return extract_error_set(error, EXTRACT_TRUNCATED, input->name, "save the trace again",
                                 "the header ends after %zu bytes, before the base address",
                                 input->length);
    images->byte_order = order;
    images->starts = true;
    images->start = base;
    struct extract_trx_layout layout;
    if (end)
        extract_images_end_at(images, input, end - base);
    unsigned missing = !images->is_part && read_layout(&layout, input, word, order)
                           ? extract_trx_missing_bytes(input, &layout)
                           : 0;
    if (missing)
        extract_images_lack_bytes(images, input, missing);
    struct extract_image span = {base, input->length, input->bytes, 0, NULL};
    return extract_images_add(images, input, &span, 1, error);
}

enum extract_code extract_memory_open_trx(struct extract_memory **memory, const char *path,
                                          struct extract_error *error)
{
    return extract_images_open(memory, path, extract_trx_load, error);
}
