// SPDX-License-Identifier: MIT
// qemu-tests/rtos: the two functions that a freestanding compiler calls by itself. Words first:
// stack fills and message copies are what they are used for.
#include "kernel.h"

static bool whole_words(ULONG bits)
{
    return bits % sizeof(ULONG) == 0;
}

void *memcpy(void *restrict to, const void *restrict from, size_t size)
{
    ULONG *target_word = to;
    const ULONG *source_word = from;
    size_t words = whole_words((ULONG)to | (ULONG)from) ? size / sizeof(ULONG) : 0;
    for (size_t i = 0; i < words; i++)
        target_word[i] = source_word[i];
    for (size_t i = words * sizeof(ULONG); i < size; i++)
        ((UCHAR *)to)[i] = ((const UCHAR *)from)[i];
    return to;
}

void *memset(void *to, int value, size_t size)
{
    ULONG *word = to, pattern = (ULONG)-1 / 0xFF * (UCHAR)value;
    size_t words = whole_words((ULONG)to) ? size / sizeof(ULONG) : 0;
    for (size_t i = 0; i < words; i++)
        word[i] = pattern;
    for (size_t i = words * sizeof(ULONG); i < size; i++)
        ((UCHAR *)to)[i] = (UCHAR)value;
    return to;
}
