// SPDX-License-Identifier: MIT
// memory: a dump of a ThreadX trace that lost bytes on the way, as when each 0x0D 0x0A became a
// 0x0A: all of its entries after such a place are earlier in the file than the header states.
//
// An entry begins with the address of a thread of the registry, or with the word for an interrupt
// or for the start. Entries that do so only a few bytes before their place prove that these bytes
// are missing, if the file lacks as many at its end. Whole entries prove nothing: threads that the
// registry lacks have entries among those of others.
#include "base/cursor.h"
#include "memory/images.h"
#include <inttypes.h>
#include <string.h>

enum {
    KNOWN = 64,         // threads that are compared
    SAMPLES = 1024,     // entries that are looked at
    MOST_MISSING = 64,  // bytes
    LEAST_SHIFTED = 4,  // entries that prove it
    REGISTRY_WORDS = 4, // of a slot of the registry, before its name
    ENTRY_WORDS = 8,
    PRIORITY_WORD = 1,
    ID_WORD = 2,
    MAX_ID = 0xFFFF,
    MAX_PRIORITY = 1023,
    IN_ISR_WORD = 0, // places of the words that are no threads
    IN_INIT_WORD = 1
};

struct known_words {
    uint64_t list[KNOWN + 2];
    size_t count;
};

static uint64_t word_at(const struct extract_input *input, const struct extract_trx_layout *layout,
                        uint64_t at)
{
    struct extract_cursor c = extract_cursor_make(input->bytes, input->length, layout->byte_order);

    extract_cursor_seek(&c, at);
    return extract_cursor_word(&c, layout->word_bytes);
}

static bool is_known(const struct known_words *known, uint64_t word)
{
    for (size_t i = 0; i < known->count; i++)
        if (known->list[i] == word)
            return true;
    return false;
}

static void collect_known(struct known_words *known, const struct extract_input *input,
                          const struct extract_trx_layout *layout)
{
    known->list[IN_ISR_WORD] = 0xFFFFFFFFu;
    known->list[IN_INIT_WORD] = 0xF0F0F0F0u;
    known->count = IN_INIT_WORD + 1;
    for (uint64_t at = layout->registry; at < layout->registry_end; at += layout->object_bytes) {
        uint64_t address = word_at(input, layout, at + layout->word_bytes);
        if (address && known->count < sizeof known->list / sizeof *known->list)
            known->list[known->count++] = address;
    }
}

// Returns whether an entry may begin at a place.
static bool is_entry(const struct known_words *known, const struct extract_input *input,
                     const struct extract_trx_layout *layout, uint64_t at)
{
    unsigned word = layout->word_bytes;
    uint64_t first = word_at(input, layout, at), id = word_at(input, layout, at + ID_WORD * word);
    uint64_t priority = word_at(input, layout, at + PRIORITY_WORD * word);
    bool is_thread = first != known->list[IN_ISR_WORD];

    return at + ENTRY_WORDS * word <= input->length && is_known(known, first) && id &&
           id <= MAX_ID && (!is_thread || priority <= MAX_PRIORITY || priority >> 31 == 1);
}

unsigned extract_trx_missing_bytes(const struct extract_input *input,
                                   const struct extract_trx_layout *layout)
{
    struct known_words known;
    unsigned shifted[MOST_MISSING + 1] = {0}, best = 0;
    uint64_t slot_bytes = ENTRY_WORDS * (uint64_t)layout->word_bytes;
    uint64_t slots = (layout->entries_end - layout->entries) / slot_bytes;
    uint64_t step = slots / SAMPLES + 1;
    uint64_t lacking =
        layout->entries_end > input->length ? layout->entries_end - input->length : 0;
    unsigned most = lacking < MOST_MISSING ? (unsigned)lacking : MOST_MISSING;

    if (!most)
        return 0;
    collect_known(&known, input, layout);
    for (uint64_t slot = 0; slot < slots; slot += step) {
        uint64_t at = layout->entries + slot * slot_bytes;
        if (at > input->length + MOST_MISSING || is_entry(&known, input, layout, at))
            continue;
        for (unsigned missing = 1; missing <= most && missing <= at; missing++)
            shifted[missing] +=
                missing % slot_bytes && is_entry(&known, input, layout, at - missing);
    }
    for (unsigned missing = 1; missing <= most; missing++)
        best = shifted[missing] > shifted[best] ? missing : best;
    return shifted[best] >= LEAST_SHIFTED ? best : 0;
}
