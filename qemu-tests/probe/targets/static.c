// SPDX-License-Identifier: MIT
// probe/targets: RAM images. In: FILE@ADDRESS. Out: the bus over copies of these files.
#include "probe/targets/static.h"
#include "base/file.h"
#include <extract/filter.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define ADDRESS_SPACE (UINT64_C(1) << 32)

struct image {
    uint32_t address;
    uint8_t *bytes;
    size_t length;
};

struct images {
    size_t count;
    struct image image[];
};

// The bytes of one access, or NULL.
static uint8_t *find(struct images *images, uint32_t address, unsigned bytes)
{
    for (size_t i = 0; i < images->count; i++) {
        const struct image *image = &images->image[i];
        uint64_t offset = (uint64_t)address - image->address;
        if (address >= image->address && offset + bytes <= image->length)
            return image->bytes + offset;
    }
    return NULL;
}

static bool read_images(void *context, uint32_t address, unsigned bytes, uint64_t *value)
{
    const uint8_t *at = find(context, address, bytes);
    uint64_t word = 0;
    for (unsigned i = 0; at && i < bytes; i++)
        word |= (uint64_t)at[i] << 8 * i;
    *value = word;
    return at != NULL;
}

static bool write_images(void *context, uint32_t address, unsigned bytes, uint64_t value)
{
    uint8_t *at = find(context, address, bytes);
    for (unsigned i = 0; at && i < bytes; i++)
        at[i] = (uint8_t)(value >> 8 * i);
    return at != NULL;
}

static bool no_reset(void *context, bool asserted)
{
    (void)context, (void)asserted;
    return false;
}

static bool no_guest(void *context)
{
    (void)context;
    return false;
}

static void describe(void *context, struct extract_text *text)
{
    const struct images *images = context;
    for (size_t i = 0; i < images->count; i++)
        extract_text_printf(text, "%s0x%08" PRIx32 " 0x%zx ram", i ? ", " : "",
                            images->image[i].address, images->image[i].length);
}

static enum extract_code check(const struct images *images, const char *argument,
                               struct extract_error *error)
{
    const struct image *last = &images->image[images->count - 1];
    if (!last->length || last->address + (uint64_t)last->length > ADDRESS_SPACE)
        return extract_error_set(error, EXTRACT_USAGE, argument, NULL,
                                 "%zu bytes from 0x%" PRIx32 " on are no 32-bit memory",
                                 last->length, last->address);
    for (const struct image *other = images->image; other < last; other++)
        if (last->address < other->address + (uint64_t)other->length &&
            other->address < last->address + (uint64_t)last->length)
            return extract_error_set(error, EXTRACT_USAGE, argument, "give each byte once",
                                     "overlaps the image at 0x%" PRIx32, other->address);
    return EXTRACT_OK;
}

static enum extract_code add(struct images *images, const char *argument,
                             struct extract_error *error)
{
    struct image *image = &images->image[images->count];
    const char *at = strrchr(argument, '@');
    uint64_t address;
    if (!at || !extract_number_parse(at + 1, &address) || address >= ADDRESS_SPACE)
        return extract_error_set(error, EXTRACT_USAGE, argument,
                                 "write IMAGE@ADDRESS with a decimal or 0x hexadecimal number",
                                 "has no 32-bit address");
    char *path = strndup(argument, (size_t)(at - argument));
    if (!path)
        return extract_error_set(error, EXTRACT_NOMEM, argument, NULL, "out of memory");
    image->address = (uint32_t)address;
    enum extract_code code =
        extract_file_read(path, ADDRESS_SPACE, &image->bytes, &image->length, error);
    free(path);
    if (code)
        return code;
    images->count++;
    return check(images, argument, error);
}

enum extract_code static_open(struct target *target, char *const *arguments, size_t count,
                              struct extract_error *error)
{
    struct images *images = calloc(1, sizeof *images + count * sizeof images->image[0]);
    if (!images)
        return extract_error_set(error, EXTRACT_NOMEM, "images", NULL, "out of memory");
    *target = (struct target){.context = images,
                              .rom_table = NO_ROM_TABLE,
                              .read = read_images,
                              .write = write_images,
                              .reset = no_reset,
                              .stop = no_guest,
                              .resume = no_guest,
                              .describe = describe,
                              .event_fd = -1};
    enum extract_code code = EXTRACT_OK;
    for (size_t i = 0; i < count && !code; i++)
        code = add(images, arguments[i], error);
    if (code)
        static_close(target);
    return code;
}

void static_close(struct target *target)
{
    struct images *images = target->context;
    for (size_t i = 0; i < images->count; i++)
        free(images->image[i].bytes);
    free(images);
    target->context = NULL;
}
