// SPDX-License-Identifier: MIT
// memory: loads ThreadX trace dumps (.trx). The file is a copy of the trace buffer, and becomes one
// image at the address that the buffer had on the target. Only the first words are read here; the
// rest belongs to formats/threadx. Standard: ThreadX 6.4.2, common/inc/tx_trace.h,
// TX_TRACE_HEADER_STRUCT.
#include "base/cursor.h"
#include "base/trx.h"
#include "memory/images.h"

enum { BASE_ADDRESS_WORD = 2, END_ADDRESS_WORD = 7 };

bool extract_trx_is(const uint8_t *bytes, size_t length)
{
    enum extract_byte_order order;

    return extract_trx_word_bytes(bytes, length, &order) != 0;
}

enum extract_code extract_trx_load(struct extract_images *images, struct extract_input *input,
                                   struct extract_error *error)
{
    enum extract_byte_order order;
    unsigned word = extract_trx_word_bytes(input->bytes, input->length, &order);

    if (!word)
        return extract_error_set(error, EXTRACT_BAD, input->name,
                                 "pass the address of a raw image as FILE@ADDRESS",
                                 "not a ThreadX trace: it does not start with the id 0x54585442");
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, order);
    extract_cursor_seek(&c, (uint64_t)BASE_ADDRESS_WORD * word);
    uint64_t base = extract_cursor_word(&c, word);
    struct extract_cursor at_end = c;
    extract_cursor_seek(&at_end, (uint64_t)END_ADDRESS_WORD * word);
    uint64_t end = extract_cursor_word(&at_end, word);
    if (c.failed)
        return extract_error_set(error, EXTRACT_TRUNCATED, input->name, "save the trace again",
                                 "the header ends after %zu bytes, before the base address",
                                 input->length);
    images->byte_order = order;
    images->starts = true;
    images->start = base;
    if (!at_end.failed)
        extract_images_end_at(images, input, end - base);
    struct extract_image span = {base, input->length, input->bytes, 0, NULL};
    return extract_images_add(images, input, &span, 1, error);
}

enum extract_code extract_memory_open_trx(struct extract_memory **memory, const char *path,
                                          struct extract_error *error)
{
    return extract_images_open(memory, path, extract_trx_load, error);
}
