// SPDX-License-Identifier: MIT
// memory: loads dumps of hook-word rings. The file holds control block and buffer, and becomes one
// image at the address that the ring had on the target. Source: docs/formats/hook.md, "The file".
#include "memory/memory_hooks.h"
#include "base/cursor.h"
#include "memory/images.h"

enum extract_byte_order extract_hooks_order(const uint8_t *bytes, size_t length)
{
    return extract_magic_order(bytes, length, EXTRACT_HOOKS_MAGIC);
}

enum extract_byte_order extract_hooks_stream_order(const uint8_t *bytes, size_t length)
{
    return extract_magic_order(bytes, length, EXTRACT_HOOKS_STREAM);
}

bool extract_hooks_is(const uint8_t *bytes, size_t length)
{
    enum extract_byte_order order = extract_hooks_order(bytes, length);
    struct extract_cursor c = extract_cursor_make(bytes, length, order);

    extract_cursor_seek(&c, EXTRACT_HOOKS_AT_VERSION);
    uint32_t version = extract_cursor_u32(&c), header_bytes = extract_cursor_u32(&c);
    return order && !c.failed && version == EXTRACT_HOOKS_VERSION &&
           header_bytes == EXTRACT_HOOKS_HEADER;
}

static bool is_whole(const struct extract_input *input)
{
    enum extract_byte_order order = extract_hooks_order(input->bytes, input->length);
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, order);

    extract_cursor_seek(&c, EXTRACT_HOOKS_AT_BUFFER_BYTES);
    uint64_t buffer = extract_cursor_u32(&c);
    return extract_hooks_is(input->bytes, input->length) &&
           EXTRACT_HOOKS_HEADER + buffer == input->length;
}

enum extract_code extract_hooks_load(struct extract_images *images, struct extract_input *input,
                                     struct extract_error *error)
{
    extract_images_mend_line_ends(images, input, is_whole);
    if (!extract_hooks_is(input->bytes, input->length))
        return extract_error_set(error, EXTRACT_BAD, input->name,
                                 "pass the address of a raw image as FILE@ADDRESS, or say with "
                                 "--hook how a raw stream is laid out",
                                 "not a dump of a hook-word ring");
    enum extract_byte_order order = extract_hooks_order(input->bytes, input->length);
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, order);
    extract_cursor_seek(&c, EXTRACT_HOOKS_AT_BUFFER_BYTES);
    uint64_t buffer = extract_cursor_u32(&c);
    extract_cursor_seek(&c, EXTRACT_HOOKS_AT_ADDRESS);
    uint64_t low = extract_cursor_u32(&c), high = extract_cursor_u32(&c);
    images->byte_order = order;
    images->starts = true;
    images->start = c.failed ? 0 : high << 32 | low;
    if (buffer)
        extract_images_end_at(images, input, EXTRACT_HOOKS_HEADER + buffer);
    struct extract_image span = {images->start, input->length, input->bytes, 0, NULL};
    return extract_images_add(images, input, &span, 1, error);
}

enum extract_code extract_memory_open_hooks(struct extract_memory **memory, const char *path,
                                            struct extract_error *error)
{
    return extract_images_open(memory, path, extract_hooks_load, error);
}
