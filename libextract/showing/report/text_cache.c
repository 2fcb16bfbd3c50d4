// SPDX-License-Identifier: MIT
// report: the text cache. Adds texts, and replaces old ones when the slots near a hash are full.
#include "report/text_cache.h"
#include <stdlib.h>

const struct text_cache_entry *text_cache_add(struct text_cache *cache, uint64_t key, uint32_t tag,
                                              const char *bytes, size_t length, size_t columns)
{
    uint32_t home = text_cache_hash(key, tag), probe = 0;

    while (probe < TEXT_CACHE_PROBES && cache->entry[(home + probe) % TEXT_CACHE_SLOTS].tag)
        probe++;
    if (probe == TEXT_CACHE_PROBES)
        probe = cache->next_victim++ % TEXT_CACHE_PROBES;
    struct text_cache_entry *entry = &cache->entry[(home + probe) % TEXT_CACHE_SLOTS];
    if (length > UINT32_MAX - TEXT_WRITER_BLOCK)
        return NULL;
    if (entry->capacity < length + TEXT_WRITER_BLOCK) {
        char *larger = realloc(entry->bytes, length + TEXT_WRITER_BLOCK);
        if (!larger)
            return NULL;
        entry->bytes = larger;
        entry->capacity = (uint32_t)length + TEXT_WRITER_BLOCK;
    }
    if (length)
        memcpy(entry->bytes, bytes, length);
    memset(entry->bytes + length, ' ', TEXT_WRITER_BLOCK);
    cache->used_slots += !entry->tag;
    entry->key = key;
    entry->tag = tag;
    entry->length = (uint32_t)length;
    entry->columns = (uint32_t)columns;
    return entry;
}

void text_cache_clear(struct text_cache *cache)
{
    for (size_t i = 0; cache->used_slots; i++) {
        struct text_cache_entry *entry = &cache->entry[i];
        if (!entry->tag)
            continue;
        free(entry->bytes);
        *entry = (struct text_cache_entry){0};
        cache->used_slots--;
    }
    cache->next_victim = 0;
}
