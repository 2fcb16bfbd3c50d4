// SPDX-License-Identifier: MIT
// formats/posix: copies what a stream has apart from its ring: the names of event types, the
// stream's name and filters, and the process block.
#include "formats/posix/posix.h"

// Bytes of each part.
struct side_data {
    uint64_t names, rest, process;
};

static struct side_data side_data_of(const struct extract_ring *ring)
{
    uint64_t filters = 2 * (uint64_t)posix_filter_bytes(ring->posix.ids);

    return (struct side_data){.names = ring->registry.end - ring->registry.start,
                              .rest = POSIX_STREAM_NAME + filters,
                              .process = ring->posix.process_known ? POSIX_HEADER : 0};
}

uint64_t posix_copy_length(const struct extract_ring *ring)
{
    struct side_data side = side_data_of(ring);

    return POSIX_HEADER + side.names + side.rest + side.process +
           (ring->entries.end - ring->entries.start);
}

const uint8_t *posix_copy_rest(const struct extract_snapshot *snapshot, uint32_t *length)
{
    struct side_data side = side_data_of(&snapshot->ring);

    *length = (uint32_t)side.rest;
    return posix_copy_names(snapshot) + side.names;
}

const uint8_t *posix_copy_process(const struct extract_snapshot *snapshot)
{
    uint32_t rest;
    const uint8_t *start = posix_copy_rest(snapshot, &rest);

    return snapshot->ring.posix.process_known ? start + rest : NULL;
}

void posix_copy_side_data(struct extract_snapshot *snapshot, struct extract_memory *memory)
{
    const struct extract_ring *ring = &snapshot->ring;
    struct side_data side = side_data_of(ring);
    uint8_t *names = snapshot->bytes + POSIX_HEADER, *rest = names + side.names;
    size_t got = 0;

    if (side.names &&
        extract_memory_read(memory, ring->registry.start, names, (size_t)side.names, &got, NULL)) {
        snapshot->registry_missing = side.names - got;
        got -= got % ring->registry.slot_bytes; // half a name would be another name
        memset(names + got, 0, (size_t)side.names - got);
    }
    // The name and the filters of a damaged block are not believed.
    if (ring->origin == EXTRACT_FROM_REBUILT ||
        extract_memory_read(memory, ring->address + POSIX_HEADER, rest, (size_t)side.rest, &got,
                            NULL))
        memset(rest, 0, (size_t)side.rest);
    if (side.process && extract_memory_read(memory, ring->posix.process, rest + side.rest,
                                            POSIX_HEADER, &got, NULL))
        memset(rest + side.rest, 0, POSIX_HEADER);
}
