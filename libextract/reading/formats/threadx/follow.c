// SPDX-License-Identifier: MIT
// formats/threadx: what following a live ring needs: the write position, and properties of single
// entries.
//
// Source: docs/formats/threadx.md, "The circle" and "Torn and patched entries".
#include "formats/threadx/threadx.h"
#include <string.h>

enum { WORD_ID = 2, WORD_STAMP = 3, WORD_INFO = 4, INFO_WORDS = 4 };

static uint64_t word_of(const struct extract_ring *ring, const uint8_t *entry, unsigned i)
{
    unsigned word = ring->word_bytes;
    struct extract_cursor c =
        extract_cursor_make(entry, ring->entries.slot_bytes, ring->byte_order);

    extract_cursor_seek(&c, i * word);
    return extract_cursor_word(&c, word);
}

static uint32_t id_of(const struct extract_ring *ring, const uint8_t *entry)
{
    uint8_t core;

    return threadx_event_id(ring, word_of(ring, entry, WORD_ID), &core);
}

static bool has_global(const struct extract_ring *ring)
{
    return ring->current_symbol && ring->pointer_bytes;
}

static uint64_t head_address(const struct extract_ring *ring, bool live, unsigned *bytes)
{
    bool global = live && has_global(ring);

    *bytes = global ? ring->pointer_bytes : ring->word_bytes;
    return global ? ring->current_symbol : ring->address + ring->current_offset;
}

// The header's pointer may be the lower half of an address, and of a former location of the ring.
// Therefore only its distance from the first slot is used, modulo the word.
static enum extract_head interpret_head(const struct extract_ring *ring, bool live, uint64_t raw,
                                        uint64_t *place)
{
    bool global = live && has_global(ring);
    unsigned bytes = global ? ring->pointer_bytes : ring->word_bytes;
    uint64_t start = ring->entries.start - (global ? 0 : ring->base_delta);
    uint64_t offset = (raw - start) & (bytes == 8 ? UINT64_MAX : UINT32_MAX);

    if (!raw)
        return EXTRACT_HEAD_OFF;
    *place = offset / ring->entries.slot_bytes;
    bool slot = *place < ring->entries.count && offset % ring->entries.slot_bytes == 0;
    return slot ? EXTRACT_HEAD_AT : EXTRACT_HEAD_WILD;
}

static bool is_written(const struct extract_ring *ring, const uint8_t *entry)
{
    return word_of(ring, entry, 0) != 0;
}

static uint64_t raw_stamp(const struct extract_ring *ring, const uint8_t *entry)
{
    return word_of(ring, entry, WORD_STAMP);
}

// Suspend and resume fill in the next thread; block and byte allocate, the address; FileX, NetX and
// USBX, any result.
uint32_t threadx_late_words(uint32_t id)
{
    if (id == 1 || id == 2)
        return 1u << (WORD_INFO + 3);
    if (id == 10 || id == 20)
        return 1u << (WORD_INFO + 1);
    return id >= 200 && id < 4096 ? 0xFu << WORD_INFO : 0;
}

static uint32_t late_words(const struct extract_ring *ring, const uint8_t *entry)
{
    return threadx_late_words(id_of(ring, entry));
}

static size_t collect_objects(const struct extract_ring *ring, const uint8_t *entry,
                              uint64_t *addresses)
{
    const struct extract_event_type *type = threadx_type(id_of(ring, entry));
    uint64_t thread = word_of(ring, entry, 0);
    size_t count = 0;

    if (thread && thread != THREADX_IN_ISR && thread != THREADX_IN_INIT)
        addresses[count++] = thread;
    for (unsigned i = 0; i < INFO_WORDS && i < type->fields; i++) {
        uint64_t address = word_of(ring, entry, WORD_INFO + i);
        if (type->field[i].kind == EXTRACT_KIND_OBJECT && address)
            addresses[count++] = address;
    }
    return count;
}

static bool creates_object(const struct extract_ring *ring, const uint8_t *entry)
{
    static const char suffix[] = "_CREATE";
    const char *symbol = threadx_type(id_of(ring, entry))->symbol;
    size_t length = strlen(symbol), bytes = sizeof suffix - 1;

    return length > bytes && strcmp(symbol + length - bytes, suffix) == 0;
}

const struct extract_slot_ring threadx_slots = {
    .validate = threadx_validate,
    .validate_recorded = threadx_validate_recorded,
    .is_same = threadx_is_same,
    .anchor_words = 4,
    .head_address = head_address,
    .head = interpret_head,
    .is_written = is_written,
    .stamp = raw_stamp,
    .late_words = late_words,
    .objects = collect_objects,
    .creates_object = creates_object,
};
