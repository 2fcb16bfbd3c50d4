// SPDX-License-Identifier: MIT
// report: the text cache, which keeps formatted names so that each is made only once.
//
// The cache is a hash table of fixed size. A name is stored in one of the few slots after its hash;
// if all of these are taken, it replaces one of them. So a cache needs bounded memory, however many
// names a trace has.
#ifndef EXTRACT_REPORT_TEXT_CACHE_H
#define EXTRACT_REPORT_TEXT_CACHE_H

#include "base/text_writer.h"

enum {
    TEXT_CACHE_BITS = 11,
    TEXT_CACHE_SLOTS = 1 << TEXT_CACHE_BITS,
    TEXT_CACHE_PROBES = 8 // slots that are searched for a key
};

// What a key means. The tag is one of these plus the number of the context or kind.
enum text_cache_tag {
    TEXT_CACHE_CONTEXT = 1, // + enum extract_context; the key is the thread's address
    TEXT_CACHE_VALUE = 5    // + enum extract_kind; the key is the value
};

struct text_cache_entry {
    uint64_t key;
    uint32_t tag;      // meaning of the key; 0: the slot is free
    uint32_t length;   // bytes of text
    uint32_t columns;  // width of the text on a terminal
    uint32_t capacity; // bytes allocated
    char *bytes; // the text, with TEXT_WRITER_BLOCK blanks after it for text_writer_piece; owned
};

struct text_cache {
    struct text_cache_entry entry[TEXT_CACHE_SLOTS];
    uint32_t used_slots;
    uint32_t next_victim; // counts replacements, so that all slots take part
};

static inline uint32_t text_cache_hash(uint64_t key, uint32_t tag)
{
    return (uint32_t)((key + tag * UINT64_C(0x9E3779B97F4A7C15)) * UINT64_C(0xD6E8FEB86659FD93) >>
                      (64 - TEXT_CACHE_BITS));
}

// Returns the text of a key, or NULL. It is valid until a text is added or the cache is cleared.
static inline const struct text_cache_entry *text_cache_find(const struct text_cache *cache,
                                                             uint64_t key, uint32_t tag)
{
    uint32_t home = text_cache_hash(key, tag);
    for (unsigned i = 0; i < TEXT_CACHE_PROBES; i++) {
        const struct text_cache_entry *entry = &cache->entry[(home + i) % TEXT_CACHE_SLOTS];
        if (__builtin_expect(entry->key == key && entry->tag == tag, 1))
            return entry;
    }
    return NULL;
}

// Stores a copy of `length` bytes, which are `columns` wide on a terminal. Returns NULL if memory
// is short.
const struct text_cache_entry *text_cache_add(struct text_cache *cache, uint64_t key, uint32_t tag,
                                              const char *bytes, size_t length, size_t columns);
// Frees all texts. A zero-initialized cache is empty.
void text_cache_clear(struct text_cache *cache);

#endif
