// SPDX-License-Identifier: MIT
// formats/threadx: encodes events and objects as a target with 64-bit words stores them, for logs
// that are merged from several traces.
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
    uint64_t base = first->address, registry = base + threadx_header_bytes(WIDE);
    uint64_t entries =
        registry + (uint64_t)wanted->objects * threadx_object_bytes(WIDE, wanted->name_bytes);
    struct threadx_header header = {.id = THREADX_ID,
                                    .mask = UINT64_MAX,
                                    .base = base,
                                    .registry_start = registry,
                                    .registry_end = entries,
                                    .entries_start = entries,
                                    .entries_end = entries + (uint64_t)wanted->entries *
                                                                 threadx_entry_bytes(WIDE),
                                    .current = entries,
                                    .reserved2 = 0xAAAAAAAA,
                                    .reserved3 = 0xBBBBBBBB,
                                    .reserved4 = 0xCCCCCCCC,
                                    .name_bytes = wanted->name_bytes};
    memset(ring, 0, sizeof *ring);
    ring->byte_order = EXTRACT_LITTLE;
    ring->word_bytes = WIDE;
    ring->pointer_bytes = first->word_bytes;
    threadx_header_write(ring->header, &header, EXTRACT_LITTLE, WIDE);
    return threadx_ring_fill(ring, &header, base, true, error);
}

static void threadx_encode_object(const struct extract_ring *ring,
                                  const struct extract_object *object, const char *name,
                                  uint8_t *slot)
{
    memset(slot, 0, ring->registry.slot_bytes);
    slot[0] = !object->in_use;
    slot[1] = (uint8_t)object->type;
    if (object->type == THREADX_TYPE_THREAD && object->priority != EXTRACT_NO_PRIORITY) {
        slot[2] = (uint8_t)(0x80 | object->priority >> 8);
        slot[3] = (uint8_t)object->priority;
    }
    extract_store(slot + WIDE, object->address, WIDE, EXTRACT_LITTLE);
    extract_store(slot + 2 * WIDE, object->param1, WIDE, EXTRACT_LITTLE);
    extract_store(slot + 3 * WIDE, object->param2, WIDE, EXTRACT_LITTLE);
    memcpy(slot + 4 * WIDE, name, strnlen(name, ring->name_bytes - 1));
}

static uint32_t threadx_encode_entry(const struct extract_encoding *encoding,
                                     const struct extract_event *event, uint8_t *slot)
{
    uint64_t thread = event->thread, word = event->priority_word;

    (void)encoding;
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
        extract_store(slot + i * WIDE, words[i], WIDE, EXTRACT_LITTLE);
    return sizeof words;
}

const struct extract_encoder threadx_encoder = {
    .ring = threadx_encode_ring, .object = threadx_encode_object, .entry = threadx_encode_entry};
