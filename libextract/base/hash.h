// SPDX-License-Identifier: MIT
// base: the hash of bytes by which names and texts are found again. Two texts may have one hash.
// Source: Fowler, Noll and Vo, FNV-1a with 64 bits.
#ifndef EXTRACT_BASE_HASH_H
#define EXTRACT_BASE_HASH_H

#include <stddef.h>
#include <stdint.h>

#define EXTRACT_HASH_START UINT64_C(0xcbf29ce484222325)

// Adds bytes to a hash.
static inline uint64_t extract_hash_add(uint64_t hash, const void *bytes, size_t length)
{
    const uint8_t *at = (const uint8_t *)bytes;

    for (size_t i = 0; i < length; i++)
        hash = (hash ^ at[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t extract_hash(const void *bytes, size_t length)
{
    return extract_hash_add(EXTRACT_HASH_START, bytes, length);
}

#endif
