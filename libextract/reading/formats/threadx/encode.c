// SPDX-License-Identifier: MIT
// formats/threadx: encodes events and objects: as a target with 64-bit words stores them, for logs
// that are merged from several traces, or as that of the first input does.
//
// With 64-bit words, timestamps do not wrap, and the upper half of an address of a 32-bit target
// is free.
//
// Source: TraceX user guide, chapter 11, "Trace buffer format".
#include "formats/threadx/threadx.h"

enum { WIDE = 8, ENTRY_WORDS = 8 };

static enum extract_code threadx_encode_ring(struct extract_ring *ring,
                                             const struct extract_encoded_ring *wanted,
                                             struct extract_error *error)
{
    const struct extract_ring *first = wanted->inputs[0];
    unsigned word = wanted->is_plain ? first->word_bytes : WIDE;
    enum extract_byte_order order = wanted->is_plain ? first->byte_order : EXTRACT_LITTLE;
    uint64_t base = first->address, registry = base + threadx_header_bytes(word);
    uint64_t entries =
        registry + (uint64_t)wanted->objects * threadx_object_bytes(word, wanted->name_bytes);
    struct threadx_header header = {.id = THREADX_ID,
                                    .mask = wanted->is_plain ? first->timer_mask : UINT64_MAX,
                                    .base = base,
                                    .registry_start = registry,
                                    .registry_end = entries,
                                    .entries_start = entries,
                                    .entries_end = entries + (uint64_t)wanted->entries *
                                                                 threadx_entry_bytes(word),
                                    .current = entries,
                                    .reserved2 = 0xAAAAAAAA,
                                    .reserved3 = 0xBBBBBBBB,
                                    .reserved4 = 0xCCCCCCCC,
                                    .name_bytes = wanted->name_bytes};

    if (word < WIDE && header.entries_end > UINT32_MAX)
        return extract_error_set(error, EXTRACT_LIMIT, "ThreadX ring", "choose fewer events",
                                 "the entries do not fit into the address space");
    memset(ring, 0, sizeof *ring);
    ring->byte_order = order;
    ring->word_bytes = (uint8_t)word;
    ring->pointer_bytes = first->word_bytes;
    threadx_header_write(ring->header, &header, order, word);
    return threadx_ring_fill(ring, &header, base, true, error);
}

static void threadx_encode_object(const struct extract_ring *ring,
                                  const struct extract_object *object, const char *name,
                                  uint8_t *slot)
{
    unsigned word = ring->word_bytes;

    memset(slot, 0, ring->registry.slot_bytes);
    slot[0] = !object->in_use;
    slot[1] = (uint8_t)object->type;
    if (object->type == THREADX_TYPE_THREAD && object->priority != EXTRACT_NO_PRIORITY) {
        slot[2] = (uint8_t)(0x80 | object->priority >> 8);
        slot[3] = (uint8_t)object->priority;
    }
    extract_store(slot + word, object->address, word, ring->byte_order);
    extract_store(slot + 2 * word, object->param1, word, ring->byte_order);
    extract_store(slot + 3 * word, object->param2, word, ring->byte_order);
    memcpy(slot + 4 * word, name, strnlen(name, ring->name_bytes - 1));
}

static uint32_t threadx_encode_entry(const struct extract_encoding *encoding,
                                     const struct extract_event *event, uint8_t *slot)
{
    const struct extract_ring *ring = encoding->ring;
    uint64_t thread = event->thread, word = event->priority_word;

    if (event->context == EXTRACT_ISR) {
        thread = THREADX_IN_ISR;
        word = event->thread;
    } else if (event->context == EXTRACT_INIT) {
        thread = THREADX_IN_INIT;
    }
    const uint64_t words[ENTRY_WORDS] = {thread,
                                         word,
                                         (uint64_t)event->core << 24 | event->id,
                                         event->raw_stamp,
                                         event->field[0],
                                         event->field[1],
                                         event->field[2],
                                         event->field[3]};
    for (unsigned i = 0; i < ENTRY_WORDS; i++)
        extract_store(slot + i * ring->word_bytes, words[i], ring->word_bytes, ring->byte_order);
    return ENTRY_WORDS * ring->word_bytes;
}

const struct extract_encoder threadx_encoder = {
    .ring = threadx_encode_ring, .object = threadx_encode_object, .entry = threadx_encode_entry};
