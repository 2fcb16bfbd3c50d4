// SPDX-License-Identifier: MIT
// formats: defaults for the callbacks that a format does not need, and the read_live of counted
// rings. A format names them in its tables, so that no caller has to test for NULL.
#include "formats/format.h"

bool extract_format_is_never_meant(const struct extract_ring *ring,
                                   const struct extract_symbols *symbols)
{
    (void)ring;
    (void)symbols;
    return false;
}

bool extract_format_locate(const struct extract_ring *ring, const struct extract_symbols *symbols,
                           uint64_t stored, uint64_t *address)
{
    if (ring->format->locate)
        return ring->format->locate(ring, symbols, stored, address);
    *address = extract_ring_address(ring, stored);
    return true;
}

bool extract_format_describe(const struct extract_ring *ring, struct extract_symbols *symbols,
                             uint64_t stored, char *buffer, size_t size)
{
    uint64_t address;

    if (!extract_format_locate(ring, symbols, stored, &address))
        return false;
    return ring->format->describe ? ring->format->describe(symbols, address, buffer, size)
                                  : extract_symbols_describe(symbols, address, false, buffer, size);
}

bool extract_format_is_complete(struct extract_ring *ring, struct extract_memory *memory)
{
    (void)ring;
    (void)memory;
    return true;
}

bool extract_format_has_no_objects(const struct extract_snapshot *snapshot, uint32_t slot,
                                   struct extract_object *object, const uint8_t **name,
                                   size_t *name_bytes)
{
    (void)snapshot;
    (void)slot;
    (void)object;
    (void)name;
    (void)name_bytes;
    return false;
}

uint32_t extract_hook_entry_is_no_mark(const struct extract_ring *ring,
                                       const struct extract_event *event)
{
    (void)ring;
    (void)event;
    return 0;
}

void extract_stream_has_no_side_data(struct extract_snapshot *snapshot,
                                     struct extract_memory *memory)
{
    (void)snapshot;
    (void)memory;
}

enum extract_code extract_stream_has_one_layout(struct extract_snapshot *snapshot, uint32_t from,
                                                uint32_t to, struct extract_error *error)
{
    (void)snapshot;
    (void)from;
    (void)to;
    (void)error;
    return EXTRACT_OK;
}

uint64_t extract_stream_has_one_mask(const struct extract_ring *ring, unsigned layout)
{
    (void)ring;
    (void)layout;
    return 0;
}

bool extract_stream_has_all_stamps(const struct extract_ring *ring, unsigned layout)
{
    (void)ring;
    (void)layout;
    return false;
}

void extract_stream_ignores_verdicts(struct extract_snapshot *snapshot, uint32_t from)
{
    (void)snapshot;
    (void)from;
}

uint32_t extract_stream_has_a_header(const struct extract_ring *ring,
                                     uint8_t bytes[EXTRACT_DESCRIPTION_MAX])
{
    (void)ring;
    (void)bytes;
    return 0;
}

bool extract_stream_read_counters(struct extract_memory *memory, const struct extract_ring *ring,
                                  uint8_t *header)
{
    const struct extract_counted_ring *counted = ring->format->stream->counted;
    size_t got, length = counted->live_to - counted->live_from;

    return extract_memory_read(memory, ring->address + counted->live_from,
                               header + counted->live_from, length, &got, NULL) == EXTRACT_OK;
}
