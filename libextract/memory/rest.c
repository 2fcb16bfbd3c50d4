// SPDX-License-Identifier: MIT
// memory: a file with one dump that has more bytes than its ring: others follow, or line ends were
// converted on the way. Nothing is left out without a remark.
#include "memory/images.h"
#include <inttypes.h>
#include <string.h>

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

// Notes what follows the ring. Dumps of one kind begin with the same bytes.
static void note_rest(struct extract_images *images, const struct extract_input *input,
                      uint64_t length)
{
    enum { MAGIC_BYTES = 8 };
    uint64_t rest = input->length > length ? input->length - length : 0;

    if (rest >= MAGIC_BYTES && memcmp(input->bytes, input->bytes + length, MAGIC_BYTES) == 0)
        extract_images_remark(images,
                              "another dump follows at byte %" PRIu64 " and is not read: split the "
                              "file (head -c %" PRIu64 ", tail -c +%" PRIu64
                              ") and join the parts with ringside merge",
                              length, length, length + 1);
    else if (rest)
        extract_images_remark(images, "%" PRIu64 " bytes follow the ring and are not read", rest);
}

void extract_images_end_at(struct extract_images *images, struct extract_input *input,
                           uint64_t length)
{
    if (!length)
        return;
    mend_line_ends(images, input, length);
    note_rest(images, input, length);
}
