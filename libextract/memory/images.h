// SPDX-License-Identifier: MIT
// memory: several images in one address space, the common ground of everything that comes from
// files. In: spans of target addresses and the file bytes that they stand for. Out: one sorted,
// disjoint table.
#ifndef EXTRACT_MEMORY_IMAGES_H
#define EXTRACT_MEMORY_IMAGES_H

#include <extract/memory.h>

struct extract_core;

struct extract_blob;

// A span of target addresses.
struct extract_image {
    uint64_t address;
    uint64_t length;
    const uint8_t *bytes; // inside the input's bytes; NULL: read from the blob's file when needed
    const struct extract_blob *blob; // the input that it came from; filled by extract_images_add
};

// What an input is kept as. A file is read, never mapped: see base/file.h.
struct extract_blob {
    struct extract_blob *next;
    uint8_t *bytes; // NULL: they stay in the file
    int file;       // open for reading, the image begins at its start; -1: none
    char name[];
};

struct extract_images {
    struct extract_image *list; // in order of addresses
    size_t count;
    struct extract_blob *blobs;
    const char *name; // of the first input
    enum extract_byte_order byte_order;
    uint64_t missing; // bytes announced by inputs that were cut off
    bool starts;      // a ring's header lies at `start`
    uint64_t start;
    struct extract_core *core; // what a core says beside its memory; else NULL
};

// A file on its way into the table. A loader that keeps `bytes` leaves NULL there.
struct extract_input {
    const char *name;
    uint8_t *bytes;
    size_t length;
    uint64_t address; // for raw bytes, which do not say where they lie
};

typedef enum extract_code extract_loader(struct extract_images *images, struct extract_input *input,
                                         struct extract_error *error);

// The loaders, one a file format.
extract_loader extract_raw_load, extract_trx_load, extract_hooks_load, extract_core_load,
    extract_hex_load, extract_srec_load;

// The table behind a memory; NULL when the memory is of another kind.
struct extract_images *extract_images_of(const struct extract_memory *memory);

// Adds `count` spans, sorted and disjoint, whose bytes lie in input->bytes; these are kept. Errors:
// NOMEM, BAD (empty, past 2^64, or over a span that is there); then nothing has changed.
enum extract_code extract_images_add(struct extract_images *images, struct extract_input *input,
                                     const struct extract_image *spans, size_t count,
                                     struct extract_error *error);

// Reads a file and gives it to a loader: into a memory of images, or into a new one.
enum extract_code extract_images_add_file(struct extract_memory *memory, const char *path,
                                          uint64_t address, extract_loader *load,
                                          struct extract_error *error);
enum extract_code extract_images_open(struct extract_memory **memory, const char *path,
                                      extract_loader *load, struct extract_error *error);

// The source's read function: from one image, up to its end.
size_t extract_images_read(void *images, uint64_t address, void *buffer, size_t length);

// The first address from `address` on whose byte may be other than zero, `end` at most: where a
// file has holes, they are passed over without being read.
uint64_t extract_memory_skip_holes(const struct extract_memory *memory, uint64_t address,
                                   uint64_t end);

// How much of a span one read can give: up to the end of the image that holds `address`; all of
// the span when none does.
size_t extract_images_extent(const struct extract_images *images, uint64_t address, size_t length);

// Whether the bytes begin like a ThreadX trace, like a record of Intel HEX, like an S-record.
bool extract_trx_is(const uint8_t *bytes, size_t length);
bool extract_hex_is(const uint8_t *bytes, size_t length);
bool extract_srec_is(const uint8_t *bytes, size_t length);

#endif
