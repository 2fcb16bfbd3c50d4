// SPDX-License-Identifier: MIT
// memory: a file with one dump that has more bytes than its ring: others follow, or line ends were
// converted on the way. Nothing is left out without a remark.
#include "base/line_ends.h"
#include "base/trx.h"
#include "memory/memory_hooks.h"
#include "memory/images.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Notes a likely conversion of line ends: all `count` bytes 0x0A follow a 0x0D.
static void suspect(struct extract_images *images, uint64_t count)
{
    images->is_part = true;
    extract_images_remark(images,
                          "each of its %" PRIu64 " bytes 0x0A follows a 0x0D: line ends were "
                          "converted on the way (likely), so that it is damaged; transfer it as "
                          "binary",
                          count);
}

void extract_images_mend_line_ends(struct extract_images *images, struct extract_input *input,
                                   extract_is_whole *is_whole)
{
    struct extract_line_ends ends = {0};

    extract_line_ends_add(&ends, input->bytes, input->length);
    if (!ends.count || ends.is_mixed || is_whole(input))
        return;
    struct extract_input undone = *input;
    undone.bytes = malloc(input->length);
    if (undone.bytes) {
        memcpy(undone.bytes, input->bytes, input->length);
        undone.length = extract_line_ends_undo(undone.bytes, input->length);
    }
    if (undone.bytes && is_whole(&undone)) {
        memcpy(input->bytes, undone.bytes, undone.length);
        input->length = undone.length;
        extract_images_remark(images,
                              "line ends were converted on the way: %" PRIu64
                              " bytes 0x0D before 0x0A are not read; transfer it as binary",
                              ends.count);
    } else if (extract_line_ends_are_likely(&ends)) {
        suspect(images, ends.count);
    }
    free(undone.bytes);
}

void extract_images_check_line_ends(struct extract_images *images, const uint8_t *bytes, int file,
                                    uint64_t length)
{
    enum { PAGE = 4096 }; // an image of whole pages was not converted
    struct extract_line_ends ends = {0};

    if (length % PAGE == 0 || length > EXTRACT_LINE_ENDS_LIMIT)
        return;
    if (bytes)
        extract_line_ends_add(&ends, bytes, (size_t)length);
    else
        extract_line_ends_add_file(&ends, file, length);
    if (extract_line_ends_are_likely_of_image(&ends, length))
        suspect(images, ends.count);
}

// Returns the place of the next dump from a place on; 0 if none follows. Dumps of one kind begin
// with the same bytes.
static uint64_t next_dump(const struct extract_input *input, uint64_t from)
{
    enum { MAGIC_BYTES = 8 };

    for (; from + MAGIC_BYTES <= input->length; from++) {
        const uint8_t *next =
            memchr(input->bytes + from, input->bytes[0], input->length - from - MAGIC_BYTES + 1);
        if (!next)
            return 0;
        from = (uint64_t)(next - input->bytes);
        if (memcmp(next, input->bytes, MAGIC_BYTES) == 0)
            return from;
    }
    return 0;
}

// Returns the name of the kind of dump that begins at a place, if it is another one than before.
static const char *kind_at(const struct extract_input *input, uint64_t at)
{
    const uint8_t *bytes = input->bytes + at;
    size_t length = (size_t)(input->length - at);
    enum extract_byte_order order;

    return extract_trx_word_bytes(bytes, length, &order) ? "ThreadX"
           : extract_hooks_is(bytes, length)             ? "hook words"
                                                         : NULL;
}

// Notes what follows the ring.
static void note_rest(struct extract_images *images, const struct extract_input *input,
                      uint64_t length)
{
    enum { TEXT = 96, NAMED = 4 };
    uint64_t rest = input->length > length ? input->length - length : 0;
    uint64_t first = rest ? next_dump(input, length) : 0;
    char others[TEXT] = "";
    size_t count = 0;

    for (uint64_t at = first; at && count <= NAMED; count++) {
        size_t used = strlen(others);
        if (count == NAMED)
            snprintf(others + used, TEXT - used, ", …");
        else
            snprintf(others + used, TEXT - used, "%s%" PRIu64, count ? ", " : "", at);
        at = next_dump(input, at + 1);
    }
    if (first) {
        images->is_part = true;
        extract_images_remark(images,
                              "%s %s and %s not read: split the file (head -c %" PRIu64
                              ", tail -c +%" PRIu64 ") and join the parts with ringside merge",
                              count == 1 ? "another dump follows at byte"
                                         : "other dumps follow at bytes",
                              others, count == 1 ? "is" : "are", first, first + 1);
    } else if (rest && kind_at(input, length)) {
        extract_images_remark(images,
                              "a dump of %s follows at byte %" PRIu64 " and is not read: split the "
                              "file (head -c %" PRIu64 ", tail -c +%" PRIu64 ")",
                              kind_at(input, length), length, length, length + 1);
    } else if (rest) {
        extract_images_remark(images,
                              "%" PRIu64 " %s the ring and %s not read (tail -c +%" PRIu64
                              " has %s, if that is another trace)",
                              rest, rest == 1 ? "byte follows" : "bytes follow",
                              rest == 1 ? "is" : "are", length + 1, rest == 1 ? "it" : "them");
    }
}

// A conversion of line ends leaves no 0x0D before a 0x0A.
void extract_images_lack_bytes(struct extract_images *images, const struct extract_input *input,
                               unsigned missing)
{
    bool has_pair = false, has_end = false;

    for (size_t i = 0; i < input->length; i++) {
        bool is_end = input->bytes[i] == '\n';
        has_end |= is_end;
        has_pair |= is_end && i && input->bytes[i - 1] == '\r';
    }
    images->is_part = true;
    if (has_end && !has_pair)
        extract_images_remark(images,
                              "%u %s missing before entries, and no byte 0x0A follows a 0x0D: "
                              "line ends were converted on the way (likely), so that it is "
                              "damaged; transfer it as binary",
                              missing, missing == 1 ? "byte is" : "bytes are");
    else
        extract_images_remark(images,
                              "%u %s missing before entries, so that it is damaged; "
                              "transfer it again, as binary",
                              missing, missing == 1 ? "byte is" : "bytes are");
}

void extract_images_end_at(struct extract_images *images, const struct extract_input *input,
                           uint64_t length)
{
    if (length)
        note_rest(images, input, length);
}
