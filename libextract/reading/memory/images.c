// SPDX-License-Identifier: MIT
// memory: the table of images, and raw images, which have no format.
//
// The bytes of formatted files are kept in memory, since their loader has read them all. A raw
// image in a regular file stays in that file and is read when an address in it is read: such files
// may be sparse, and larger than the host's memory.
// Standard: IEEE Std 1003.1-2024 (open, fstat, pread; lseek with SEEK_DATA).
#define _GNU_SOURCE // SEEK_DATA
#include "memory/images.h"
#include "base/file.h"
#include "base/line_ends.h"
#include "memory/core_dump.h"
#include <inttypes.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// Returns the index of the image that holds `address`, or else of the next one above it.
static size_t find(const struct extract_images *images, uint64_t address)
{
    size_t low = 0, high = images->count;

    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct extract_image *image = &images->list[middle];
        if (address > image->address && address - image->address >= image->length)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static const struct extract_image *image_at(const struct extract_images *images, uint64_t address)
{
    size_t i = find(images, address);
    bool is_inside = i < images->count && images->list[i].address <= address;
    return is_inside ? &images->list[i] : NULL;
}

size_t extract_images_extent(const struct extract_images *images, uint64_t address, size_t length)
{
    const struct extract_image *image = image_at(images, address);
    uint64_t rest = image ? image->length - (address - image->address) : length;

    return rest < length ? (size_t)rest : length;
}

size_t extract_images_read(void *images, uint64_t address, void *buffer, size_t length)
{
    const struct extract_image *image = image_at(images, address);

    if (!image)
        return 0;
    uint64_t offset = address - image->address;
    if (length > image->length - offset)
        length = (size_t)(image->length - offset);
    if (!image->bytes)
        return extract_file_read_at(image->blob->file, buffer, length, image->offset + offset);
    memcpy(buffer, image->bytes + offset, length);
    return length;
}

uint64_t extract_memory_skip_holes(const struct extract_memory *memory, uint64_t address,
                                   uint64_t end)
{
    const struct extract_images *images = extract_images_of(memory);
    const struct extract_image *image = images ? image_at(images, address) : NULL;

    if (!image || image->bytes)
        return address;
    off_t offset = (off_t)(image->offset + (address - image->address));
    off_t data = lseek(image->blob->file, offset, SEEK_DATA);
    if (data < 0 && errno != ENXIO) // the file system does not report holes
        return address;
    uint64_t past = data < 0 ? image->length : (uint64_t)data - image->offset;
    past = past < image->length ? past : image->length;
    return past < end - image->address ? image->address + past : end;
}

static void images_close(void *context)
{
    struct extract_images *images = context;

    while (images->blobs) {
        struct extract_blob *blob = images->blobs;
        images->blobs = blob->next;
        if (blob->file >= 0)
            close(blob->file);
        free(blob->bytes);
        free(blob);
    }
    extract_core_free(images->core);
    free(images->crashcatcher);
    for (size_t i = 0; i < EXTRACT_REMARKS; i++)
        free(images->remarks[i]);
    free(images->list);
    free(images);
}

void extract_images_remark(struct extract_images *images, const char *format, ...)
{
    enum { TEXT = 256 };
    va_list arguments;
    size_t i = 0;

    while (i < EXTRACT_REMARKS && images->remarks[i])
        i++;
    if (i == EXTRACT_REMARKS)
        return;
    images->remarks[i] = malloc(TEXT);
    if (!images->remarks[i])
        return;
    va_start(arguments, format);
    vsnprintf(images->remarks[i], TEXT, format, arguments);
    va_end(arguments);
}

static uint64_t last_of(const struct extract_image *image)
{
    return image->address + (image->length - 1);
}

// Checks that a span is valid and overlaps none of the table.
static enum extract_code check_span(const struct extract_images *images, const char *name,
                                    const struct extract_image *span, struct extract_error *error)
{
    if (!span->length)
        return extract_error_set(error, EXTRACT_BAD, name, "use a file that holds memory",
                                 "the file is empty");
    if (last_of(span) < span->address)
        return extract_error_set(error, EXTRACT_BAD, name, "use a lower address",
                                 "%" PRIu64 " bytes at 0x%" PRIx64
                                 " run past the end of the address space",
                                 span->length, span->address);
    size_t i = find(images, span->address);
    if (i == images->count || images->list[i].address > last_of(span))
        return EXTRACT_OK;
    const struct extract_image *other = &images->list[i];
    return extract_error_set(
        error, EXTRACT_BAD, name, "use an address of its own for each file",
        "0x%" PRIx64 "-0x%" PRIx64 " overlaps 0x%" PRIx64 "-0x%" PRIx64 " of %s", span->address,
        last_of(span), other->address, last_of(other), other->blob->name);
}

// Merges the table and new spans, both sorted and disjoint, into a new table. Sets the blob of the
// new spans.
static void merge(struct extract_image *to, const struct extract_images *images,
                  const struct extract_image *spans, size_t count, const struct extract_blob *blob)
{
    size_t old = 0, new = 0;

    while (old < images->count || new < count) {
        bool take_old =
            new == count || (old < images->count && images->list[old].address < spans[new].address);
        *to = take_old ? images->list[old++] : spans[new ++];
        if (!take_old)
            to->blob = blob;
        to++;
    }
}

static enum extract_code no_memory(const char *name, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, name, NULL, "out of memory");
}

// Adds spans whose bytes are `bytes` or are stored in `file`. The table owns these after success.
static enum extract_code add_spans(struct extract_images *images, const char *name, uint8_t *bytes,
                                   int file, const struct extract_image *spans, size_t count,
                                   struct extract_error *error)
{
    for (size_t i = 0; i < count; i++) {
        enum extract_code code = check_span(images, name, &spans[i], error);
        if (code)
            return code;
    }
    size_t name_size = strlen(name) + 1;
    struct extract_blob *blob = malloc(sizeof *blob + name_size);
    struct extract_image *list = calloc(images->count + count + 1, sizeof *list);
    if (!blob || !list) {
        free(blob);
        free(list);
        return no_memory(name, error);
    }
    memcpy(blob->name, name, name_size);
    blob->bytes = bytes;
    blob->file = file;
    blob->next = images->blobs;
    images->blobs = blob;
    if (!images->name)
        images->name = blob->name;
    merge(list, images, spans, count, blob);
    free(images->list);
    images->list = list;
    images->count += count;
    return EXTRACT_OK;
}

enum extract_code extract_images_add(struct extract_images *images, struct extract_input *input,
                                     const struct extract_image *spans, size_t count,
                                     struct extract_error *error)
{
    enum extract_code code = add_spans(images, input->name, input->bytes,
                                       input->bytes ? -1 : input->file, spans, count, error);

    if (!code) {
        input->bytes = NULL;
        input->file = -1;
    }
    return code;
}

enum extract_code extract_raw_load(struct extract_images *images, struct extract_input *input,
                                   struct extract_error *error)
{
    struct extract_image span = {
        .address = input->address, .length = input->length, .bytes = input->bytes};

    extract_images_check_line_ends(images, input->bytes, -1, input->length);
    return extract_images_add(images, input, &span, 1, error);
}

enum extract_code extract_memory_new_images(struct extract_memory **memory,
                                            struct extract_error *error)
{
    struct extract_images *images = calloc(1, sizeof *images);
    struct extract_memory_source source = {
        .read = extract_images_read, .close = images_close, .context = images, .name = "images"};

    *memory = NULL;
    if (!images)
        return no_memory(source.name, error);
    enum extract_code code = extract_memory_new(memory, &source, error);
    if (code)
        images_close(images);
    return code;
}

static enum extract_code find_images(const struct extract_memory *memory, const char *name,
                                     struct extract_images **images, struct extract_error *error)
{
    *images = extract_images_of(memory);
    if (*images)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_USAGE, name, "open it as a memory of its own",
                             "%s does not consist of images, so none can be added",
                             extract_memory_name(memory));
}

enum extract_code extract_images_add_input(struct extract_memory *memory, const char *path,
                                           struct extract_input *input, extract_loader *load,
                                           struct extract_error *error)
{
    struct extract_images *images;
    enum extract_code code = find_images(memory, input->name, &images, error);

    if (!code)
        code = extract_file_read(path, EXTRACT_FILE_LIMIT, &input->bytes, &input->length, error);
    if (!code) {
        struct extract_line_ends ends = {0};
        extract_line_ends_add(&ends, input->bytes, input->length); // `load` may replace the bytes
        code = extract_line_ends_explain(&ends, load(images, input, error), error);
    }
    free(input->bytes);
    input->bytes = NULL;
    return code;
}

enum extract_code extract_images_add_file(struct extract_memory *memory, const char *path,
                                          uint64_t address, extract_loader *load,
                                          struct extract_error *error)
{
    struct extract_input input = {.name = extract_file_name(path), .address = address};

    return extract_images_add_input(memory, path, &input, load, error);
}

enum extract_code extract_images_open(struct extract_memory **memory, const char *path,
                                      extract_loader *load, struct extract_error *error)
{
    enum extract_code code = extract_memory_new_images(memory, error);

    if (!code)
        code = extract_images_add_file(*memory, path, 0, load, error);
    if (code) {
        extract_memory_close(*memory);
        *memory = NULL;
    }
    return code;
}

int extract_images_open_file(const char *path, uint64_t *length)
{
    struct stat status;

    if (strcmp(path, "-") == 0 || stat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return -1;
    int file = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
    if (file >= 0 && !fstat(file, &status) && S_ISREG(status.st_mode) && status.st_size > 0) {
        *length = (uint64_t)status.st_size;
        return file;
    }
    if (file >= 0)
        close(file);
    return -1;
}

enum extract_code extract_memory_add_image(struct extract_memory *memory, const char *path,
                                           uint64_t address, struct extract_error *error)
{
    struct extract_image span = {.address = address};
    struct extract_images *images;
    int file = extract_images_open_file(path, &span.length);

    if (file < 0)
        return extract_images_add_file(memory, path, address, extract_raw_load, error);
    enum extract_code code = find_images(memory, path, &images, error);
    if (!code)
        extract_images_check_line_ends(images, NULL, file, span.length);
    if (!code)
        code = add_spans(images, path, NULL, file, &span, 1, error);
    if (code)
        close(file);
    return code;
}

enum extract_code extract_memory_add_bytes(struct extract_memory *memory, const char *name,
                                           const void *bytes, size_t length, uint64_t address,
                                           struct extract_error *error)
{
    struct extract_input input = {.name = name, .length = length, .address = address};
    struct extract_images *images;
    enum extract_code code = find_images(memory, name, &images, error);

    if (code)
        return code;
    input.bytes = malloc(length ? length : 1);
    if (!input.bytes)
        return no_memory(name, error);
    if (length)
        memcpy(input.bytes, bytes, length);
    code = extract_raw_load(images, &input, error);
    free(input.bytes);
    return code;
}
