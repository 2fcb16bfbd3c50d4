// SPDX-License-Identifier: MIT
// export: writes a POSIX trace stream as a file: process block, names, stream block and ring, one
// after another.
//
// Source: docs/formats/posix-ring.md, "The file".
#include "export/export_room.h"
#include "formats/posix/posix.h"
#include <stdlib.h>

struct image {
    uint8_t *bytes;
    size_t used;
};

static uint8_t *append_part(struct image *image, const uint8_t *bytes, size_t length)
{
    uint8_t *to = image->bytes + image->used;

    memcpy(to, bytes, length);
    image->used += length;
    return to;
}

// Writes the ring. Records that are not valid become zeros, except open ones, whose first word says
// so. The tail is stored again, since the copy may have begun after the target's.
static void append_ring(struct image *image, const struct extract_snapshot *snapshot,
                        uint8_t *header)
{
    const struct extract_ring *ring = &snapshot->ring;
    uint64_t size = ring->entries.end - ring->entries.start;
    uint8_t *to = append_part(image, snapshot->bytes + posix_copy_ring(ring), (size_t)size);
    struct posix_stream stream;
    uint32_t length = 0;

    posix_stream_read(&stream, snapshot->bytes, POSIX_HEADER);
    for (uint32_t i = 0; i < ring->entries.count; i++) {
        const struct extract_extent *place = &snapshot->index[i];
        length += place->length;
        if (snapshot->verdict[i] <= EXTRACT_TORN)
            continue;
        for (uint32_t k = 0; k < place->length; k++)
            to[(place->at + k) % size] = 0;
    }
    extract_store(header + POSIX_STREAM_AT_TAIL, stream.head - length / 4, 4, ring->byte_order);
}

static void append_parts(struct image *image, const struct extract_snapshot *snapshot)
{
    const struct extract_ring *ring = &snapshot->ring;
    enum extract_byte_order order = ring->byte_order;
    uint32_t rest_bytes;
    const uint8_t *rest = posix_copy_rest(snapshot, &rest_bytes);
    uint8_t *block = append_part(image, posix_copy_process(snapshot), POSIX_HEADER);

    extract_store(block + POSIX_BLOCK_AT_ADDRESS, ring->posix.process, 4, order);
    extract_store(block + POSIX_BLOCK_AT_ADDRESS + 4, ring->posix.process >> 32, 4, order);
    extract_store(block + POSIX_BLOCK_AT_STREAM, ring->posix.stream, 4, order);
    append_part(image, posix_copy_names(snapshot),
                (size_t)(ring->registry.end - ring->registry.start));
    uint8_t *header = append_part(image, snapshot->bytes, POSIX_HEADER);
    append_part(image, rest, rest_bytes);
    append_ring(image, snapshot, header);
}

enum extract_code export_posix(struct extract_text *text, const struct extract_trace *trace,
                               struct extract_error *error)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    const uint8_t *process = snapshot->ring.header_bytes ? posix_copy_process(snapshot) : NULL;
    struct posix_block block;

    if (!snapshot->ring.header_bytes)
        return export_posix_recording(text, snapshot, error);
    if (!process || !posix_block_read(&block, process, POSIX_HEADER))
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "POSIX trace",
                                 "use the dump of the memory instead",
                                 "process block is not in this memory");
    struct image image = {malloc((size_t)snapshot->ring.length), 0};
    if (!image.bytes)
        return extract_error_set(error, EXTRACT_NOMEM, "POSIX trace", NULL, "out of memory");
    append_parts(&image, snapshot);
    extract_text_put(text, (const char *)image.bytes, image.used);
    free(image.bytes);
    return text->code ? extract_error_set(error, text->code, "POSIX trace", NULL, "out of memory")
                      : EXTRACT_OK;
}
