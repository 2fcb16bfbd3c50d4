// SPDX-License-Identifier: MIT
// memory: loads ThreadX trace dumps (.trx). The file is a copy of the trace buffer, and becomes one
// image at the address that the buffer had on the target. Only the first words are read here; the
// rest belongs to formats/threadx. Standard: ThreadX 6.4.2, common/inc/tx_trace.h,
// TX_TRACE_HEADER_STRUCT.
#include "base/cursor.h"
#include "base/trx.h"
#include "memory/images.h"
#include <inttypes.h>

enum { BASE_ADDRESS_WORD = 2, END_ADDRESS_WORD = 7 };

// Notes what follows the ring in the file: further dumps, or other bytes.
static void note_rest(struct extract_images *images, const struct extract_input *input,
                      uint64_t length)
{
    enum extract_byte_order order;

    if (!length || length >= input->length)
        return;
    if (extract_trx_word_bytes(input->bytes + length, input->length - (size_t)length, &order))
        extract_images_remark(images,
                              "another dump follows at byte %" PRIu64 " and is not read: split the "
                              "file (head -c %" PRIu64 ", tail -c +%" PRIu64
                              ") and join the parts with ringside merge",
                              length, length, length + 1);
    else
        extract_images_remark(images, "%" PRIu64 " bytes follow the ring and are not read",
                              input->length - length);
}

// Removes the byte 0x0D before each 0x0A.
static void undo_line_ends(struct extract_input *input)
{
    size_t used = 0;

    for (size_t i = 0; i < input->length; i++)
        if (input->bytes[i] != '\r' || i + 1 == input->length || input->bytes[i + 1] != '\n')
            input->bytes[used++] = input->bytes[i];
    input->length = used;
}

// Undoes a conversion of line ends, which inserts a byte 0x0D before each 0x0A. It is proven if the
// file has as many bytes more than the ring. In a dump that was not converted, few bytes 0x0A
// follow a 0x0D.
static void mend_line_ends(struct extract_images *images, struct extract_input *input,
                           uint64_t length)
{
    enum { LEAST = 8 };
    size_t count = 0;

    for (size_t i = 0; i < input->length; i++) {
        if (input->bytes[i] != '\n')
            continue;
        if (!i || input->bytes[i - 1] != '\r')
            return;
        count++;
    }
    if (input->length > length && input->length - length == count) {
        undo_line_ends(input);
        extract_images_remark(images,
                              "line ends were converted on the way: %zu bytes 0x0D before 0x0A are "
                              "not read; transfer it as binary",
                              count);
    } else if (count >= LEAST) {
        extract_images_remark(images,
                              "each of its %zu bytes 0x0A follows a 0x0D: line ends were converted "
                              "on the way (likely), so that it is damaged; transfer it as binary",
                              count);
    }
}

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
        mend_line_ends(images, input, end - base);
    if (!at_end.failed)
        note_rest(images, input, end - base);
    struct extract_image span = {base, input->length, input->bytes, 0, NULL};
    return extract_images_add(images, input, &span, 1, error);
}

enum extract_code extract_memory_open_trx(struct extract_memory **memory, const char *path,
                                          struct extract_error *error)
{
    return extract_images_open(memory, path, extract_trx_load, error);
}
