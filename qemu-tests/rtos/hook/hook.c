// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: the calls that record. In: hook words as callers give them. Out: hook words
// as they are stored, with type or flags and length, and the parts of an entry.
#include "hook.h"
#include "ring.h"

// Types of a 32-bit hook word; 8 more with a time stamp.
enum { TYPE_GENERIC = 0, TYPE_BARE = 1, TYPE_WORD = 2, TYPE_WORDS = 6, TYPE_STAMPED = 8 };
enum { FIVE = 5 };

// Flags of a 64-bit hook word, and where its parts begin.
#define FLAG_STAMPED (UINT64_C(0x8000) << 48)
#define FLAG_GENERIC (UINT64_C(0x4000) << 48)
#define SIZE_SHIFT   32

static uint32_t narrow_word(uint32_t word, uint32_t type, bool stamped)
{
    return (word & 0xFFF0FFFFUL) | (type | (stamped ? TYPE_STAMPED : 0U)) << 16;
}

static uint64_t wide_word(uint32_t word, uint32_t bytes, bool stamped)
{
    return (stamped ? FLAG_STAMPED : 0) | (uint64_t)bytes << SIZE_SHIFT | word;
}

static void write_narrow(uint32_t word, bool stamped, const void *data, uint32_t words)
{
    uint32_t type = words == 0 ? TYPE_BARE : words == 1 ? TYPE_WORD : TYPE_WORDS;
    uint32_t hook = narrow_word(word, type, stamped);
    hook_ring_write(&(struct hook_parts){.stamped = stamped,
                                         .hook = &hook,
                                         .hook_bytes = sizeof hook,
                                         .data = data,
                                         .data_bytes = words * 4});
}

static void write_wide(uint32_t word, bool stamped, const void *data, uint32_t words)
{
    uint64_t hook = wide_word(word, words * 8, stamped);
    hook_ring_write(&(struct hook_parts){.frame = HOOK_FRAME_WIDE,
                                         .stamped = stamped,
                                         .hook = &hook,
                                         .hook_bytes = sizeof hook,
                                         .data = data,
                                         .data_bytes = words * 8});
}

static void generic_narrow(uint32_t word, bool stamped, uint32_t d1, uint32_t bytes,
                           const void *buffer)
{
    uint32_t hook = narrow_word((word & 0xFFF00000UL) | (bytes & 0xFFFF), TYPE_GENERIC, stamped);
    hook_ring_write(&(struct hook_parts){.stamped = stamped,
                                         .hook = &hook,
                                         .hook_bytes = sizeof hook,
                                         .data = &d1,
                                         .data_bytes = sizeof d1,
                                         .buffer = buffer,
                                         .buffer_bytes = bytes});
}

static void generic_wide(uint32_t word, bool stamped, uint64_t d1, uint32_t bytes,
                         const void *buffer)
{
    uint64_t hook = wide_word(word, bytes & 0xFFFF, stamped) | FLAG_GENERIC;
    hook_ring_write(&(struct hook_parts){.frame = HOOK_FRAME_WIDE,
                                         .stamped = stamped,
                                         .hook = &hook,
                                         .hook_bytes = sizeof hook,
                                         .data = &d1,
                                         .data_bytes = sizeof d1,
                                         .buffer = buffer,
                                         .buffer_bytes = bytes});
}

// What the type in a whole hook word says.
static bool is_stamped(uint32_t word)
{
    return word >> 16 & TYPE_STAMPED;
}

static uint32_t words_of(uint32_t word)
{
    uint32_t type = word >> 16 & 7;
    return type == TYPE_BARE ? 0 : type == TYPE_WORD ? 1 : FIVE;
}

void trchook(uint32_t word, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t d4, uint32_t d5)
{
    write_narrow(word, is_stamped(word), (const uint32_t[FIVE]){d1, d2, d3, d4, d5},
                 words_of(word));
}

void trchookt(uint32_t word, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t d4, uint32_t d5)
{
    write_narrow(word, true, (const uint32_t[FIVE]){d1, d2, d3, d4, d5}, words_of(word));
}

void trchook64(uint32_t word, uint64_t d1, uint64_t d2, uint64_t d3, uint64_t d4, uint64_t d5)
{
    write_wide(word, false, (const uint64_t[FIVE]){d1, d2, d3, d4, d5}, FIVE);
}

void trchook64t(uint32_t word, uint64_t d1, uint64_t d2, uint64_t d3, uint64_t d4, uint64_t d5)
{
    write_wide(word, true, (const uint64_t[FIVE]){d1, d2, d3, d4, d5}, FIVE);
}

void trcgen(int channel, uint32_t word, uint32_t d1, uint32_t bytes, const void *buffer)
{
    if (channel == 0)
        generic_narrow(word, false, d1, bytes, buffer);
}

void trcgent(int channel, uint32_t word, uint32_t d1, uint32_t bytes, const void *buffer)
{
    if (channel == 0)
        generic_narrow(word, true, d1, bytes, buffer);
}

void trcgen64(int channel, uint32_t word, uint64_t d1, uint32_t bytes, const void *buffer)
{
    if (channel == 0)
        generic_wide(word, false, d1, bytes, buffer);
}

void trcgent64(int channel, uint32_t word, uint64_t d1, uint32_t bytes, const void *buffer)
{
    if (channel == 0)
        generic_wide(word, true, d1, bytes, buffer);
}

void bout_hooks_words(uint32_t word, bool stamped, const ULONG *data, uint32_t words)
{
    if (sizeof(ULONG) == 8)
        write_wide(word, stamped, data, words);
    else
        write_narrow(word, stamped, data, words);
}

void bout_hooks_generic(int channel, uint32_t word, bool stamped, ULONG d1, uint32_t bytes,
                        const void *buffer)
{
    if (channel != 0)
        return;
    if (sizeof(ULONG) == 8)
        generic_wide(word, stamped, d1, bytes, buffer);
    else
        generic_narrow(word, stamped, (uint32_t)d1, bytes, buffer);
}
