// SPDX-License-Identifier: MIT
// tests: a target's memory with a POSIX process block and its streams.
#include "tests/unit/posix/image.h"

void image_put(struct image *image, uint32_t offset, uint32_t word)
{
    assert_true(offset + 4 <= IMAGE_BYTES);
    for (unsigned i = 0; i < 4; i++)
        image->bytes[offset + (image->big ? 3 - i : i)] = (uint8_t)(word >> 8 * i);
}

uint32_t image_get(const struct image *image, uint32_t offset)
{
    uint32_t word = 0;
    assert_true(offset + 4 <= IMAGE_BYTES);
    for (unsigned i = 0; i < 4; i++)
        word |= (uint32_t)image->bytes[offset + (image->big ? 3 - i : i)] << 8 * i;
    return word;
}

uint32_t image_block(unsigned stream)
{
    return IMAGE_STREAMS + stream * IMAGE_STREAM_BYTES;
}

void image_set(struct image *image, unsigned stream, uint32_t at, uint32_t word)
{
    image_put(image, image_block(stream) + at, word);
}

uint32_t image_word(const struct image *image, unsigned stream, uint32_t at)
{
    return image_get(image, image_block(stream) + at);
}

static void add(struct image *image, unsigned stream, uint32_t at, uint32_t difference)
{
    image_set(image, stream, at, image_word(image, stream, at) + difference);
}

// ---- the memory ----

static size_t read_image(void *context, uint64_t address, void *buffer, size_t length)
{
    struct image *image = context;
    uint64_t offset = address - IMAGE_ADDRESS;
    image->reads++;
    if (address < IMAGE_ADDRESS || offset > IMAGE_BYTES || length > IMAGE_BYTES - offset ||
        (image->fail_from && image->reads >= image->fail_from))
        return 0;
    for (size_t i = 0; i < length; i++) {
        if (image->before && (offset + i) % 4 == 0)
            image->before(image, (uint32_t)(offset + i));
        ((uint8_t *)buffer)[i] = image->bytes[offset + i];
    }
    return length;
}

static size_t write_image(void *context, uint64_t address, const void *bytes, size_t length)
{
    struct image *image = context;
    uint64_t offset = address - IMAGE_ADDRESS;
    if (address < IMAGE_ADDRESS || offset > IMAGE_BYTES || length > IMAGE_BYTES - offset ||
        (image->refused_offset && offset == image->refused_offset))
        return 0;
    memcpy(image->bytes + offset, bytes, length);
    return length;
}

static bool image_region(void *context, size_t i, struct extract_region *region)
{
    (void)context;
    *region = (struct extract_region){IMAGE_ADDRESS, IMAGE_BYTES};
    return i == 0;
}

static uint32_t layout_word(const struct image *image)
{
    return (image->wide ? 8U : 4U) | image->stamp_bits << 8 | (image->day ? 1U << 17 : 0);
}

static void make_process(struct image *image)
{
    const uint32_t words[] = {0x43525450,
                              1,
                              128,
                              IMAGE_BYTES,
                              1,
                              0,
                              2,
                              IMAGE_STREAM_BYTES,
                              IMAGE_STREAMS,
                              IMAGE_NAMES,
                              IMAGE_NAME_BYTES,
                              IMAGE_NAMES_ROOM,
                              0,
                              0,
                              layout_word(image),
                              image->hz,
                              64,
                              1};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        image_put(image, 4 * i, words[i]);
    image_name(image, "posix_trace_unnamed_userevent");
}

static void make_stream(struct image *image, unsigned stream)
{
    const uint32_t words[] = {0x53525450,
                              1,
                              128,
                              image_block(stream),
                              IMAGE_RINGS + stream * IMAGE_MAX_RING * 4,
                              image->ring_words,
                              layout_word(image),
                              image->hz};
    for (uint32_t i = 0; i < sizeof words / sizeof *words; i++)
        image_set(image, stream, 4 * i, words[i]);
}

void image_make(struct image *image)
{
    image->stamp_bits = image->stamp_bits ? image->stamp_bits : 32;
    image->ring_words = image->ring_words ? image->ring_words : 64;
    memset(image->bytes, 0, sizeof image->bytes);
    make_process(image);
    make_stream(image, 0);
    make_stream(image, 1);
    struct extract_memory_source source = {.read = read_image,
                                           .write = image->read_only ? NULL : write_image,
                                           .region = image_region,
                                           .context = image,
                                           .running = !image->halted,
                                           .name = "image"};
    assert_int_equal(extract_memory_new(&image->memory, &source, NULL), EXTRACT_OK);
}

void image_close(struct image *image)
{
    extract_memory_close(image->memory);
}

trace_event_id_t image_name(struct image *image, const char *name)
{
    uint32_t slot = image_get(image, IMAGE_NAMES_USED);
    assert_true(slot < IMAGE_NAMES_ROOM && strlen(name) < IMAGE_NAME_BYTES);
    memcpy(image->bytes + IMAGE_NAMES + slot * IMAGE_NAME_BYTES, name, strlen(name) + 1);
    image_put(image, IMAGE_NAMES_USED, slot + 1);
    return 32 + slot;
}

// ---- records ----

static void ring_put(struct image *image, unsigned stream, uint32_t position, uint32_t word)
{
    uint32_t ring = image_word(image, stream, IMAGE_RING_AT);
    image_put(image, ring + position % image->ring_words * 4, word);
}

static uint32_t ring_get(const struct image *image, unsigned stream, uint32_t position)
{
    uint32_t ring = image_word(image, stream, IMAGE_RING_AT);
    return image_get(image, ring + position % image->ring_words * 4);
}

static uint32_t stamp_at(const struct image *image)
{
    return 2 + (image->wide ? 4 : 2);
}

// Reserves space at the tail. What nobody has read is overwritten.
static void make_room(struct image *image, unsigned stream, uint32_t words)
{
    for (;;) {
        uint32_t tail = image_word(image, stream, IMAGE_TAIL);
        uint32_t read = image_word(image, stream, IMAGE_READ_POS);
        uint32_t head = image_word(image, stream, IMAGE_HEAD), first;
        if (image->ring_words - (head - tail) >= words)
            return;
        first = ring_get(image, stream, tail);
        if (head - read >= head - tail) {
            if (!image_word(image, stream, IMAGE_EPISODES) ||
                image_word(image, stream, IMAGE_EPISODE_READ) != read) {
                add(image, stream, IMAGE_EPISODES, 1);
                image_set(image, stream, IMAGE_EPISODE_READ, read);
                image_set(image, stream, IMAGE_LOST_STAMP,
                          ring_get(image, stream, tail + stamp_at(image)));
                image_set(image, stream, IMAGE_LOST_STAMP + 4,
                          image->stamp_bits > 32
                              ? ring_get(image, stream, tail + stamp_at(image) + 1)
                              : 0);
            }
            add(image, stream, IMAGE_OVERWRITTEN, 1);
        }
        image_set(image, stream, IMAGE_TAIL, tail + (first >> 16 & 0xFFF));
    }
}

// Data as they lie in memory, whatever the order of words.
static uint32_t data_word(const struct image *image, const uint8_t *data, uint32_t bytes,
                          uint32_t at)
{
    uint32_t word = 0;
    for (unsigned i = 0; i < 4 && at + i < bytes; i++)
        word |= (uint32_t)data[at + i] << 8 * (image->big ? 3 - i : i);
    return word;
}

uint32_t image_record(struct image *image, unsigned stream, uint32_t flags, trace_event_id_t id,
                      const void *data, uint32_t bytes)
{
    uint32_t words[64], n = 1, data_words = (bytes + 3) / 4;
    words[n++] = id | bytes << 16;
    for (unsigned i = 0; i < 2; i++) {
        words[n++] = (i ? 0x7000 : 0x8001000) + id;
        if (image->wide)
            words[n++] = 0x55;
    }
    words[n++] = (uint32_t)image->clock;
    if (image->stamp_bits > 32)
        words[n++] = (uint32_t)(image->clock >> 32);
    make_room(image, stream, n + data_words + 1);
    uint32_t head = image_word(image, stream, IMAGE_HEAD), length = n + data_words + 1;
    words[0] = flags | length << 16 | (head & 0xFFFF);
    for (uint32_t i = 0; i < n; i++)
        ring_put(image, stream, head + i, words[i]);
    for (uint32_t i = 0; i < data_words; i++)
        ring_put(image, stream, head + n + i, data_word(image, data, bytes, 4 * i));
    ring_put(image, stream, head + length - 1, 0xAU << 28 | length << 16 | (head & 0xFFFF));
    image_set(image, stream, IMAGE_HEAD, head + length);
    add(image, stream, IMAGE_RECORDED, 1);
    image->clock++;
    return head;
}

// ---- requests ----

// Words of the target's, as they lie in memory.
static void record_words(struct image *image, unsigned stream, trace_event_id_t id,
                         const uint32_t *words, uint32_t count)
{
    uint8_t data[64];
    for (uint32_t i = 0; i < 4 * count; i++)
        data[i] = (uint8_t)(words[i / 4] >> 8 * (image->big ? 3 - i % 4 : i % 4));
    image_record(image, stream, (uint32_t)IMAGE_DONE, id, data, 4 * count);
}

static void begin_anew(struct image *image, unsigned stream, uint32_t position)
{
    for (uint32_t at = IMAGE_RECORDED; at < IMAGE_REQUEST_DONE; at += 4)
        image_set(image, stream, at, 0);
    image_set(image, stream, IMAGE_HEAD, position);
    image_set(image, stream, IMAGE_TAIL, position);
    image_set(image, stream, IMAGE_READ_POS, position);
    add(image, stream, IMAGE_STREAM_GENERATION, 1);
}

void image_bind(struct image *image, unsigned stream, int policy, uint32_t position)
{
    begin_anew(image, stream, position);
    image_set(image, stream, IMAGE_STATE, 3);
    image_set(image, stream, IMAGE_POLICY, (uint32_t)policy);
    image_set(image, stream, IMAGE_MAX_DATA, 64);
}

static void serve_filter(struct image *image, unsigned stream, bool running)
{
    uint32_t sets[4];
    for (uint32_t i = 0; i < 4; i++)
        sets[i] = image_word(image, stream, IMAGE_FILTER + 4 * i);
    if (sets[0] == sets[2] && sets[1] == sets[3])
        return;
    image_set(image, stream, IMAGE_FILTER, sets[2]);
    image_set(image, stream, IMAGE_FILTER + 4, sets[3]);
    if (running)
        record_words(image, stream, POSIX_TRACE_FILTER, sets, 4);
}

static void serve_run(struct image *image, unsigned stream, bool running, bool wanted)
{
    uint32_t words[2] = {image_word(image, stream, IMAGE_FILTER),
                         image_word(image, stream, IMAGE_FILTER + 4)};
    const uint32_t by_request = 0;
    if (running == wanted)
        return;
    if (wanted)
        record_words(image, stream, POSIX_TRACE_START, words, 2);
    else
        record_words(image, stream, POSIX_TRACE_STOP, &by_request, 1);
    image_set(image, stream, IMAGE_STATE, wanted ? 3 : 1);
}

static void serve_stream(struct image *image, unsigned stream)
{
    uint32_t request = image_word(image, stream, IMAGE_REQUEST);
    uint32_t state = image_word(image, stream, IMAGE_STATE);
    uint32_t wanted = image_word(image, stream, IMAGE_WANTED);
    uint32_t clears = image_word(image, stream, IMAGE_WANTED_CLEARS);
    if (request == image_word(image, stream, IMAGE_REQUEST_DONE))
        return;
    if ((wanted & 1) && !(state & 1)) {
        begin_anew(image, stream, image_word(image, stream, IMAGE_HEAD));
        image_set(image, stream, IMAGE_STATE, state = 1);
        image_set(image, stream, IMAGE_POLICY, image_word(image, stream, IMAGE_WANTED_POLICY));
        image_set(image, stream, IMAGE_MAX_DATA, 64);
        image_set(image, stream, IMAGE_CLEARS_DONE, clears);
        for (uint32_t i = 0; i < 2; i++)
            image_set(image, stream, IMAGE_FILTER + 4 * i, 0);
    }
    if (clears != image_word(image, stream, IMAGE_CLEARS_DONE))
        begin_anew(image, stream, image_word(image, stream, IMAGE_HEAD));
    image_set(image, stream, IMAGE_CLEARS_DONE, clears);
    if (wanted & 1) {
        serve_filter(image, stream, state & 2);
        serve_run(image, stream, state & 2, wanted & 2);
    } else {
        image_set(image, stream, IMAGE_STATE, 0);
    }
    image_set(image, stream, IMAGE_REQUEST_DONE, request);
}

void image_serve(struct image *image)
{
    if (!image_get(image, IMAGE_ACTIVE))
        return;
    image_put(image, IMAGE_ACTIVE, 0);
    serve_stream(image, 0);
    serve_stream(image, 1);
}
