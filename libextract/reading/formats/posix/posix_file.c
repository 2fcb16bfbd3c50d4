// SPDX-License-Identifier: MIT
// formats/posix: opens a saved stream as a memory in which its parts are at their addresses on the
// target.
//
// Source: docs/formats/posix-ring.md, "The file".
#include "formats/posix/posix.h"
#include "memory/images.h"
#include <stdlib.h>

enum { PARTS = 4 };

bool extract_posix_is(const uint8_t *bytes, size_t length)
{
    struct posix_block block;

    return posix_block_read(&block, bytes, length) && block.version == POSIX_VERSION &&
           block.header_bytes == POSIX_HEADER;
}

// A file, taken apart.
struct file {
    struct posix_block block;
    struct posix_stream stream;
    uint64_t address, stream_address; // of the process block and the stream block, in the target
    bool is_complete;                 // all of the ring is there
    struct extract_image parts[PARTS];
};

static enum extract_code set_error(const struct extract_input *input, enum extract_code code,
                                   const char *why, struct extract_error *error)
{
    return extract_error_set(error, code, input->name, "save the ring again", "%s", why);
}

// Decodes the process block, and what the file adds to it.
static enum extract_code read_process(struct file *file, const struct extract_input *input,
                                      struct extract_error *error)
{
    struct posix_block *block = &file->block;

    if (!posix_block_read(block, input->bytes, input->length))
        return set_error(input, EXTRACT_BAD, "not a dump of a POSIX trace", error);
    struct extract_cursor c = extract_cursor_make(input->bytes, POSIX_HEADER, block->layout.order);
    extract_cursor_seek(&c, POSIX_BLOCK_AT_ADDRESS);
    file->address = extract_cursor_u32(&c);
    file->address |= (uint64_t)extract_cursor_u32(&c) << 32;
    uint32_t number = extract_cursor_u32(&c);
    enum extract_code code = posix_block_check(block, file->address, error);
    if (!code && number >= block->streams)
        code = set_error(input, EXTRACT_BAD, "contains a stream that its process does not have",
                         error);
    file->stream_address =
        file->address + block->streams_at + (uint64_t)number * block->stream_bytes;
    return code;
}

static int compare_addresses(const void *a, const void *b)
{
    const struct extract_image *x = a, *y = b;

    return x->address < y->address ? -1 : x->address > y->address;
}

// Determines the addresses of the parts. Only the ring may be truncated.
static enum extract_code find_parts(struct file *file, const struct extract_input *input,
                                    struct extract_error *error)
{
    const struct posix_block *block = &file->block;
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, block->layout.order);
    uint64_t names = (uint64_t)block->names_room * block->name_bytes;
    uint64_t rest = POSIX_STREAM_AT_FILTER + 2 * (uint64_t)posix_filter_bytes(block->ids);
    const uint8_t *process = extract_cursor_span(&c, POSIX_HEADER);
    const uint8_t *names_bytes = extract_cursor_span(&c, names);
    const uint8_t *stream_bytes = extract_cursor_span(&c, rest);
    uint64_t left = extract_cursor_left(&c);

    if (c.failed || !left)
        return set_error(input, EXTRACT_TRUNCATED, "ends before the ring", error);
    if (!posix_stream_read(&file->stream, stream_bytes, POSIX_HEADER))
        return set_error(input, EXTRACT_BAD, "invalid stream block", error);
    enum extract_code code = posix_stream_check(&file->stream, file->stream_address, error);
    uint64_t ring = (uint64_t)file->stream.ring_words * 4;
    uint64_t ring_address = file->stream_address - file->stream.back + file->stream.ring_at;
    const struct extract_image parts[PARTS] = {
        {file->address, POSIX_HEADER, process, 0, NULL},
        {file->address + block->names_at, names, names_bytes, 0, NULL},
        {file->stream_address, rest, stream_bytes, 0, NULL},
        {ring_address, ring < left ? ring : left, extract_cursor_span(&c, left), 0, NULL}};
    file->is_complete = ring <= left;
    memcpy(file->parts, parts, sizeof parts);
    qsort(file->parts, PARTS, sizeof *parts, compare_addresses);
    for (unsigned i = 1; !code && i < PARTS; i++)
        if (file->parts[i].address - file->parts[i - 1].address < file->parts[i - 1].length)
            code = set_error(input, EXTRACT_BAD, "parts overlap", error);
    return code;
}

// Returns how many bytes of the file belong to its parts.
static uint64_t length_of(const struct file *file)
{
    uint64_t length = 0;

    for (size_t i = 0; i < PARTS; i++)
        length += file->parts[i].length;
    return length;
}

static bool is_whole(const struct extract_input *input)
{
    struct file file;

    return !read_process(&file, input, NULL) && !find_parts(&file, input, NULL) &&
           file.is_complete && length_of(&file) == input->length;
}

static enum extract_code load_file(struct extract_images *images, struct extract_input *input,
                                   struct extract_error *error)
{
    struct file file;

    extract_images_mend_line_ends(images, input, is_whole);
    enum extract_code code = read_process(&file, input, error);
    if (!code)
        code = find_parts(&file, input, error);
    if (code)
        return code;
    extract_images_end_at(images, input, length_of(&file));
    images->byte_order = file.block.layout.order;
    images->starts = true;
    images->start = file.stream_address;
    return extract_images_add(images, input, file.parts, PARTS, error);
}

enum extract_code extract_posix_open(struct extract_memory **memory, const char *path,
                                     struct extract_error *error)
{
    return extract_images_open(memory, path, load_file, error);
}
