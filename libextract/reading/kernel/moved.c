// SPDX-License-Identifier: MIT
// kernel: whether an image is not where the target had it (kernel_find_moved), as after a wrong
// @ADDRESS. In: images that do not show what the ELF file says. Out: where one of them begins, and
// where it began on the target.
//
// Three kinds of bytes tell where they were: the code of the program; control blocks of ThreadX,
// which form a circle; and empty lists of FreeRTOS, which point to themselves. Each of them that is
// found votes for the distance between its place in the image and on the target.
#define _GNU_SOURCE // memmem, whose time does not depend on the bytes
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "memory/memory_hooks.h"
#include "memory/images.h"
#include "symbols/dwarf.h"
#include <stdlib.h>
#include <string.h>

enum {
    MOST_BYTES = 64 << 20, // of an image that are searched
    ANCHOR = 32,           // bytes of code that are looked for
    ANCHORS = 32,
    MOST_COPIES = 8, // of an anchor: more of them are a pattern, such as zeros
    VOTES = 512,     // distances that are counted
    BLOCKS = 128,    // control blocks
    WORD = 4,
    LEAST_VOTES = 3 // with fewer, nothing is likely
};

struct vote {
    uint64_t distance;
    unsigned count;
};

struct votes {
    struct vote list[VOTES];
    size_t count;
};

struct image {
    uint64_t address;
    uint8_t *bytes;
    size_t length;
};

static void vote(struct votes *votes, uint64_t distance)
{
    for (size_t i = 0; i < votes->count; i++)
        if (votes->list[i].distance == distance) {
            votes->list[i].count++;
            return;
        }
    if (votes->count < VOTES)
        votes->list[votes->count++] = (struct vote){distance, 1};
}

// Gets the distance that has most votes. Returns false if they are too few, or another one has as
// many.
static bool elect(const struct votes *votes, uint64_t *distance)
{
    unsigned most = LEAST_VOTES - 1;
    bool is_one = false;

    for (size_t i = 0; i < votes->count; i++) {
        is_one = votes->list[i].count > most || (is_one && votes->list[i].count < most);
        if (votes->list[i].count > most) {
            most = votes->list[i].count;
            *distance = votes->list[i].distance;
        }
    }
    return is_one;
}

static uint64_t number_at(const struct kernel_reader *reader, const struct image *image, size_t at,
                          uint64_t bytes)
{
    struct extract_cursor c =
        extract_cursor_make(image->bytes + at, image->length - at, reader->order);

    return extract_cursor_number(&c, (unsigned)bytes);
}

// Looks for the beginnings of functions, spread over the program.
static void find_code(const struct kernel_reader *reader, const struct image *image,
                      struct votes *votes)
{
    struct extract_symbol function;
    uint8_t anchor[ANCHOR], now[ANCHOR];
    size_t count = 0, every = 1, got;

    while (extract_symbols_at(reader->symbols, count, &function))
        count++;
    every += count / ANCHORS;
    for (size_t i = 0; i < count && image->length; i += every) {
        if (!extract_symbols_at(reader->symbols, i, &function) || !function.function ||
            function.size < ANCHOR ||
            extract_symbols_read_constant(reader->symbols, function.address, anchor, ANCHOR) !=
                ANCHOR)
            continue;
        // A copy, as in the flash that start-up code has read, says nothing about the code in
        // place.
        if (!extract_memory_read(reader->memory, function.address, now, ANCHOR, &got, NULL) &&
            memcmp(now, anchor, ANCHOR) == 0) {
            vote(votes, 0);
            continue;
        }
        const uint8_t *found = image->bytes, *const end = image->bytes + image->length;
        for (unsigned copies = 0;
             copies < MOST_COPIES && (found = memmem(found, (size_t)(end - found), anchor, ANCHOR));
             copies++, found++)
            vote(votes, image->address + (uint64_t)(found - image->bytes) - function.address);
    }
}

// Each control block of ThreadX names the next one.
static void find_circle(struct kernel_reader *reader, const struct image *image,
                        struct votes *votes)
{
    const uint32_t thread_id = 0x54485244;
    const struct kernel_member *id = kernel_member(reader, "TX_THREAD", "tx_thread_id");
    const struct kernel_member *next = kernel_member(reader, "TX_THREAD", "tx_thread_created_next");
    uint64_t blocks[BLOCKS], followers[BLOCKS];
    size_t count = 0;

    if (!id || !next)
        return;
    const size_t span = next->offset + reader->word_bytes;
    for (size_t at = 0; at + span <= image->length && count < BLOCKS; at += WORD)
        if (number_at(reader, image, at + id->offset, id->size) == thread_id) {
            blocks[count] = image->address + at;
            followers[count++] = number_at(reader, image, at + next->offset, reader->word_bytes);
        }
    for (size_t i = 0; i < count; i++)
        for (size_t k = 0; k < count; k++)
            vote(votes, blocks[k] - followers[i]);
}

// An empty list of FreeRTOS has no items, and three pointers to its own end.
static void find_empty_lists(struct kernel_reader *reader, const struct image *image,
                             struct votes *votes)
{
    const struct kernel_member *items = kernel_member(reader, "List_t", "uxNumberOfItems");
    const struct kernel_member *index = kernel_member(reader, "List_t", "pxIndex");
    const struct kernel_member *end = kernel_member(reader, "List_t", "xListEnd");
    const struct kernel_member *next = kernel_member(reader, "List_t", "xListEnd.pxNext");
    const struct kernel_member *last = kernel_member(reader, "List_t", "xListEnd.pxPrevious");

    if (!items || !index || !end || !next || !last)
        return;
    const size_t span = last->offset + last->size;
    for (size_t at = 0; at + span <= image->length; at += WORD) {
        const uint64_t own = number_at(reader, image, at + index->offset, index->size);
        if (own && !number_at(reader, image, at + items->offset, items->size) &&
            own == number_at(reader, image, at + next->offset, next->size) &&
            own == number_at(reader, image, at + last->offset, last->size))
            vote(votes, image->address + at + end->offset - own);
    }
}

// Gets a copy of the images that begin with number i and join each other, and how many these are.
static size_t copy_images(const struct kernel_reader *reader, size_t i, struct image *image)
{
    struct extract_region region, next;
    size_t count = 1;

    if (!extract_memory_region(reader->memory, i, &region))
        return 0;
    while (extract_memory_region(reader->memory, i + count, &next) &&
           next.address == region.address + region.length) {
        region.length += next.length;
        count++;
    }
    *image = (struct image){.address = region.address};
    const size_t length = region.length < MOST_BYTES ? (size_t)region.length : MOST_BYTES;
    if (length)
        image->bytes = malloc(length);
    if (image->bytes)
        (void)extract_memory_read(reader->memory, region.address, image->bytes, length,
                                  &image->length, NULL);
    return count;
}

bool kernel_find_moved(struct kernel_reader *reader, uint64_t *now, uint64_t *before)
{
    static void (*const find[])(struct kernel_reader *, const struct image *,
                                struct votes *) = {find_circle, find_empty_lists};
    struct image image;
    uint64_t distance = 0;
    bool is_moved = false;

    if (!extract_images_of(reader->memory))
        return false;
    for (size_t i = 0, joined; !is_moved && (joined = copy_images(reader, i, &image)) != 0;
         i += joined) {
        struct votes votes = {.count = 0};
        find_code(reader, &image, &votes);
        bool is_found = elect(&votes, &distance);
        for (size_t k = 0; k < sizeof find / sizeof *find && !is_found; k++) {
            votes.count = 0;
            find[k](reader, &image, &votes);
            is_found = elect(&votes, &distance);
        }
        is_moved = is_found && distance;
        *now = image.address;
        *before = image.address - distance;
        free(image.bytes);
    }
    return is_moved;
}
