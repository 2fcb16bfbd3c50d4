// SPDX-License-Identifier: MIT
// tests: synthetic ThreadX rings. In: what a target's tracing was set up with, and its entries.
// Out: the bytes that such a target holds, and memories and traces over them.
//
// Source: docs/formats/threadx.md (TraceX user guide, chapter 11).
#include "tests/unit/ring_builder.h"

const struct ring_spec ring_plain = {.word_bytes = 4,
                                     .address = 0x20000100,
                                     .mask = 0xFFFFFFFF,
                                     .name_bytes = 32,
                                     .objects = 4,
                                     .entries = 8};

unsigned ring_header_bytes(const struct ring_spec *spec)
{
    return 12 * spec->word_bytes;
}

unsigned ring_object_bytes(const struct ring_spec *spec)
{
    unsigned bytes = 4 * spec->word_bytes + spec->name_bytes;
    while (bytes % spec->word_bytes) // a C array of structs pads to its widest member
        bytes++;
    return bytes;
}

unsigned ring_entry_bytes(const struct ring_spec *spec)
{
    return ENTRY_WORDS * spec->word_bytes;
}

void ring_number(uint8_t *to, uint64_t value, unsigned bytes, bool big_endian)
{
    if (bytes == 4 && !big_endian) { // the models store millions of these
        to[0] = (uint8_t)value;
        to[1] = (uint8_t)(value >> 8);
        to[2] = (uint8_t)(value >> 16);
        to[3] = (uint8_t)(value >> 24);
        return;
    }
    for (unsigned i = 0; i < bytes; i++, value >>= 8)
        to[big_endian ? bytes - 1 - i : i] = (uint8_t)value;
}

static void put(struct ring_image *image, size_t offset, unsigned bytes, uint64_t value)
{
    assert_true(offset + bytes <= sizeof image->bytes);
    ring_number(image->bytes + offset, value, bytes, image->spec.big_endian);
}

void ring_header_word(struct ring_image *image, unsigned word, uint64_t value)
{
    put(image, (size_t)word * image->spec.word_bytes, image->spec.word_bytes, value);
}

static size_t registry_offset(const struct ring_image *image, unsigned slot)
{
    return ring_header_bytes(&image->spec) + (size_t)slot * ring_object_bytes(&image->spec);
}

size_t ring_slot_offset(const struct ring_image *image, unsigned slot)
{
    return registry_offset(image, image->spec.objects) +
           (size_t)slot * ring_entry_bytes(&image->spec);
}

uint64_t ring_slot_address(const struct ring_image *image, unsigned slot)
{
    return image->spec.address + ring_slot_offset(image, slot);
}

void ring_point(struct ring_image *image, unsigned slot)
{
    image->current = slot;
    ring_header_word(image, WORD_CURRENT, ring_slot_address(image, slot));
}

void ring_build(struct ring_image *image, const struct ring_spec *spec)
{
    image->spec = *spec;
    image->length = ring_slot_offset(image, spec->entries) + spec->tail;
    assert_true(image->length <= sizeof image->bytes);
    memset(image->bytes, spec->recycled, image->length);
    memset(image->bytes, 0, ring_header_bytes(spec)); // with the hole of 8-byte headers
    ring_header_word(image, 0, 0x54585442);
    ring_header_word(image, WORD_MASK, spec->mask);
    ring_header_word(image, WORD_BASE, spec->address);
    ring_header_word(image, WORD_REGISTRY_START, spec->address + registry_offset(image, 0));
    put(image, 4 * spec->word_bytes + 2, 2, spec->name_bytes);
    ring_header_word(image, WORD_REGISTRY_END,
                     spec->address + registry_offset(image, spec->objects));
    ring_header_word(image, WORD_ENTRIES_START, ring_slot_address(image, 0));
    ring_header_word(image, WORD_ENTRIES_END, ring_slot_address(image, spec->entries));
    for (unsigned i = 0; i < 3; i++)
        ring_header_word(image, WORD_RESERVED2 + i, 0xAAAAAAAA + i * UINT64_C(0x11111111));
    for (unsigned slot = 0; slot < spec->objects; slot++) {
        put(image, registry_offset(image, slot), 4, 0);
        image->bytes[registry_offset(image, slot)] = 1; // available
        put(image, registry_offset(image, slot) + spec->word_bytes, spec->word_bytes, 0);
    }
    for (unsigned slot = 0; slot < spec->entries; slot++)
        ring_word(image, slot, 0, 0); // only the thread is cleared
    ring_point(image, 0);
}

void ring_word(struct ring_image *image, unsigned slot, unsigned word, uint64_t value)
{
    put(image, ring_slot_offset(image, slot) + (size_t)word * image->spec.word_bytes,
        image->spec.word_bytes, value);
}

void ring_put(struct ring_image *image, unsigned slot, const struct ring_entry *entry)
{
    ring_word(image, slot, 0, entry->thread);
    ring_word(image, slot, 1, entry->priority);
    ring_word(image, slot, 2, entry->id);
    ring_word(image, slot, 3, entry->stamp);
    for (unsigned i = 0; i < 4; i++)
        ring_word(image, slot, 4 + i, entry->info[i]);
}

void ring_insert(struct ring_image *image, const struct ring_entry *entry)
{
    ring_put(image, image->current, entry);
    ring_point(image, (image->current + 1) % image->spec.entries);
}

void ring_run(struct ring_image *image, unsigned count, uint64_t *stamp, uint64_t step)
{
    struct ring_entry entry = {.thread = 0x20004000, .priority = 0x80100010, .id = 88};
    for (unsigned i = 0; i < count; i++, *stamp += step) {
        entry.stamp = *stamp;
        entry.info[0] = i;
        ring_insert(image, &entry);
    }
}

void ring_build_threads(struct ring_image *image)
{
    static const char *const names[RING_THREADS] = {"a", "b", "c"};
    struct ring_spec spec = ring_plain;

    spec.entries = 32;
    ring_build(image, &spec);
    for (unsigned i = 0; i < RING_THREADS; i++)
        ring_register(image, i,
                      &(struct ring_object){0, 1, 0, 0, RING_FIRST_THREAD + RING_THREAD_BYTES * i,
                                            0x20005000 + 0x1000 * i, 1024, names[i]});
}

void ring_register(struct ring_image *image, unsigned slot, const struct ring_object *object)
{
    size_t at = registry_offset(image, slot);
    unsigned word = image->spec.word_bytes;
    const uint8_t head[] = {object->available, object->type, object->reserved1, object->reserved2};
    memcpy(image->bytes + at, head, sizeof head);
    put(image, at + word, word, object->address);
    put(image, at + 2 * word, word, object->param1);
    put(image, at + 3 * word, word, object->param2);
    char *name = (char *)image->bytes + at + 4 * word;
    for (unsigned i = 0; i < image->spec.name_bytes; i++) { // what lies behind the NUL stays
        name[i] = object->name[i];
        if (!name[i])
            break;
    }
}

struct extract_memory *images_open(void)
{
    struct extract_memory *memory;
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    return memory;
}

void images_add(struct extract_memory *memory, const struct ring_image *image, size_t from,
                size_t to)
{
    assert_int_equal(extract_memory_add_bytes(memory, "ring", image->bytes + from, to - from,
                                              image->spec.address + from, NULL),
                     EXTRACT_OK);
}

void image_find(const struct ring_image *image, struct extract_ring *ring)
{
    struct extract_ring_options options = {
        .size = sizeof options, .address_known = true, .address = image->spec.address};
    struct extract_memory *memory = images_open();
    images_add(memory, image, 0, image->length);
    assert_int_equal(extract_ring_find(ring, memory, NULL, &options, NULL), EXTRACT_OK);
    extract_memory_close(memory);
}

void look_open_memory(struct look *look, struct extract_memory *memory, uint64_t address,
                      struct extract_symbols *symbols)
{
    struct extract_error error = {0};
    struct extract_ring_options at = {
        .size = sizeof at, .address_known = address != 0, .address = address};
    memset(look, 0, sizeof *look);
    look->memory = memory;
    struct extract_trace_options options = {
        .size = sizeof options, .symbols = symbols, .memory = memory};
    assert_int_equal(extract_ring_find(&look->ring, memory, symbols, &at, &error), EXTRACT_OK);
    assert_int_equal(extract_snapshot_take(&look->snapshot, memory, &look->ring, &error),
                     EXTRACT_OK);
    assert_int_equal(extract_trace_open(&look->trace, &look->snapshot, &options, &error),
                     EXTRACT_OK);
}

void look_open(struct look *look, const struct ring_image *image)
{
    struct extract_memory *memory = images_open();
    images_add(memory, image, 0, image->length);
    look_open_memory(look, memory, image->spec.address, NULL);
}

void look_close(struct look *look)
{
    extract_trace_close(look->trace);
    extract_snapshot_free(&look->snapshot);
    extract_memory_close(look->memory);
}

const struct extract_event *look_events(const struct look *look, size_t *count)
{
    static struct extract_event events[MAX_EVENTS];
    struct extract_reader reader;
    extract_reader_init(&reader, look->trace);
    size_t got = extract_reader_next(&reader, events, MAX_EVENTS);
    *count = 0;
    for (size_t i = 0; i < got; i++)
        if (!extract_event_is_mark(&events[i]))
            events[(*count)++] = events[i];
    assert_int_equal(*count, extract_trace_info(look->trace)->entries_valid);
    return events;
}

const struct extract_event *look_event(const struct look *look, size_t i)
{
    size_t count;
    const struct extract_event *events = look_events(look, &count);
    assert_true(i < count);
    return &events[i];
}

void assert_accounted(const struct look *look)
{
    const struct extract_info *info = extract_trace_info(look->trace);
    uint32_t sum = 0;
    for (unsigned i = 0; i < EXTRACT_VERDICTS; i++)
        sum += look->snapshot.counts[i];
    assert_int_equal(sum, look->ring.entries.count);
    assert_int_equal(info->entries_valid + info->entries_damaged + info->entries_unread +
                         info->entries_unused,
                     info->entries_total);
    assert_int_equal(info->entries_total, look->ring.entries.count);
}

void fake_add(struct fake_memory *fake, uint64_t address, const void *bytes, size_t length)
{
    assert_true(fake->count < FAKE_SPANS);
    fake->span[fake->count++] = (struct fake_span){address, bytes, length};
}

size_t fake_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct fake_memory *fake = context;
    bool fails = ++fake->reads == fake->fail_at;
    for (size_t i = 0; i < fake->count; i++) {
        const struct fake_span *span = &fake->span[i];
        uint64_t offset = address - span->address;
        if (address < span->address || offset >= span->length)
            continue;
        size_t got = length < span->length - offset ? length : span->length - (size_t)offset;
        if (fails && got > fake->keep)
            got = fake->keep;
        memcpy(buffer, (const uint8_t *)span->bytes + offset, got);
        return got;
    }
    return 0;
}

struct extract_memory *fake_open(struct fake_memory *fake, bool running)
{
    struct extract_memory *memory;
    struct extract_memory_source source = {
        .read = fake_read, .context = fake, .running = running, .name = "fake"};
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    return memory;
}

void ring_fill(struct ring_image *image, const struct ring_object *objects, size_t object_count,
               const struct ring_entry *entries, size_t entry_count)
{
    for (unsigned i = 0; i < object_count; i++)
        ring_register(image, i, &objects[i]);
    for (unsigned i = 0; i < entry_count; i++)
        ring_insert(image, &entries[i]);
}
