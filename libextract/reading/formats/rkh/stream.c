// SPDX-License-Identifier: MIT
// formats/rkh: opens a raw stream as a memory. The stream's bytes follow a signature, by which the
// format recognizes them as its ring.
#include "base/file.h"
#include "formats/rkh/rkh.h"
#include "memory/images.h"
#include <stdlib.h>

enum {
    MAX_BYTES = EXTRACT_RING_LIMIT - RKH_STREAM_HEADER,
    PEEK_BYTES = 4096,
    MIN_FRAMES = 16 // frames with correct checksums that prove that a file is a stream
};

static const uint8_t signature[8] = {'R', 'K', 'H', 's', 't', 'r', 'm', 0};

void rkh_stream_set_bounds(struct extract_ring *ring, uint64_t start, uint32_t length)
{
    struct rkh_live live = {
        .start = start, .size = length, .head = length, .pending = length, .stream = true};

    ring->length = RKH_STREAM_HEADER + (uint64_t)length;
    ring->registry = (struct extract_slots){start, start, 0, 0};
    ring->entries = (struct extract_slots){start, start + length, 0, 0};
    rkh_live_store(ring->header, &live);
}

bool rkh_stream_at(struct extract_ring *ring, struct extract_memory *memory, uint64_t address)
{
    uint8_t head[RKH_STREAM_HEADER];
    size_t got;

    if (extract_memory_read(memory, address, head, sizeof head, &got, NULL) ||
        memcmp(head, signature, sizeof signature))
        return false;
    struct extract_cursor c = extract_cursor_make(head, sizeof head, EXTRACT_LITTLE);
    extract_cursor_seek(&c, sizeof signature);
    uint64_t length = extract_cursor_u64(&c), start = address + sizeof head;
    if (!length || length > MAX_BYTES || start + length < address)
        return false;
    rkh_stream_set_bounds(ring, start, (uint32_t)length);
    ring->format = &extract_format_rkh;
    ring->address = address;
    ring->byte_order = EXTRACT_LITTLE;
    ring->word_bytes = 4;
    ring->timer_mask = UINT32_MAX;
    return true;
}

void rkh_stream_head(uint8_t head[static RKH_STREAM_HEADER], size_t length)
{
    memcpy(head, signature, sizeof signature);
    extract_store(head + sizeof signature, length, 8, EXTRACT_LITTLE);
}

// Most frames that contain a 0x0A have the right sum. Without checksums, none need have it.
static bool is_whole(const struct extract_input *input)
{
    uint32_t right = 0, wrong = 0, length = (uint32_t)input->length;
    struct rkh_frame frame;

    for (uint32_t at = 0; at < length; at = frame.at + frame.length + 1) {
        rkh_frame_scan(&frame, input->bytes, at, length);
        if (!frame.ended || !memchr(input->bytes + frame.at, '\n', frame.length))
            continue;
        bool is_right = !frame.sum && !frame.torn;
        right += is_right;
        wrong += !is_right;
    }
    return right > wrong;
}

static enum extract_code load_stream(struct extract_images *images, struct extract_input *input,
                                     struct extract_error *error)
{
    if (!input->length)
        return extract_error_set(error, EXTRACT_BAD, input->name, "use a file of frames",
                                 "empty file");
    if (input->length <= MAX_BYTES)
        extract_images_mend_line_ends(images, input, is_whole);
    size_t total_bytes = input->length + RKH_STREAM_HEADER;
    uint8_t *bytes = input->length > MAX_BYTES ? NULL : realloc(input->bytes, total_bytes);
    if (!bytes)
        return extract_error_set(error, input->length > MAX_BYTES ? EXTRACT_LIMIT : EXTRACT_NOMEM,
                                 input->name, "split it into parts",
                                 "streams of more than 256 MiB cannot be read");
    memmove(bytes + RKH_STREAM_HEADER, bytes, input->length);
    rkh_stream_head(bytes, input->length);
    input->bytes = bytes;
    input->length = total_bytes;
    images->byte_order = EXTRACT_LITTLE;
    images->starts = true;
    struct extract_image span = {0, total_bytes, bytes, 0, NULL};
    return extract_images_add(images, input, &span, 1, error);
}

enum extract_code extract_rkh_stream_open(struct extract_memory **memory, const char *path,
                                          struct extract_error *error)
{
    return extract_images_open(memory, path, load_stream, error);
}

// ---- Recognizing a file ----

bool extract_rkh_stream_is(const char *path)
{
    uint8_t bytes[PEEK_BYTES];
    size_t length = 0;
    unsigned frames = 0, valid = 0;
    struct rkh_frame frame;

    if (extract_file_peek(path, bytes, sizeof bytes, &length, NULL))
        return false;
    for (uint32_t at = 0; at < length; at = frame.at + frame.length + 1) {
        struct extract_rkh record = {0};
        rkh_frame_scan(&frame, bytes, at, (uint32_t)length);
        if (!frame.ended || !frame.length)
            continue;
        frames++;
        valid += !frame.torn && !frame.sum && frame.whole > 1;
        if (frames == 1 && rkh_tcfg_read_frame(&record, &frame, bytes))
            return true;
    }
    return valid >= MIN_FRAMES && valid * 4 > frames * 3;
}
