// SPDX-License-Identifier: MIT
// memory: several images in one address space. All inputs from files end here: a loader for each
// file format turns a file into spans of target addresses, and the table of all spans is sorted,
// disjoint, and read by binary search.
#ifndef EXTRACT_MEMORY_IMAGES_H
#define EXTRACT_MEMORY_IMAGES_H

#include <extract/memory.h>

struct extract_core;
struct extract_crashcatcher;
struct extract_blob;

enum { EXTRACT_REMARKS = 8 };

// A span of target addresses and the bytes that stand for it.
struct extract_image {
    uint64_t address;
    uint64_t length;
    const uint8_t *bytes; // within the input's bytes; NULL if they are read from the blob's file
    uint64_t offset;      // in that file
    const struct extract_blob *blob; // the input; filled in by extract_images_add
};

// The bytes of one input, or its open file. A file is read, never mapped: see base/file.h.
struct extract_blob {
    struct extract_blob *next;
    uint8_t *bytes; // owned; NULL if they stay in the file
    int file;       // open for reading; -1 if there is none
    char name[];
};

struct extract_images {
    struct extract_image *list; // in order of addresses
    size_t count;
    struct extract_blob *blobs;
    const char *name; // name of the first input
    enum extract_byte_order byte_order;
    uint64_t missing;          // bytes that truncated inputs announce and do not hold
    bool is_part;              // the file has, or had, entries that are not read
    bool starts;               // a ring's header is at `start`
    uint64_t start;            // target address
    struct extract_core *core; // notes of a core, owned; NULL for other inputs
    struct extract_crashcatcher *crashcatcher; // registers of a dump, owned; NULL for other inputs
    char *
        remarks[EXTRACT_REMARKS]; // what the loaders noted for the user, owned; NULL after the last
};

// A file that is being loaded: all of its bytes, or the open file. A loader that takes over `bytes`
// sets it to NULL; one that takes over `file` sets that to -1.
struct extract_input {
    const char *name;
    uint8_t *bytes; // NULL: they are read from `file`
    int file;
    size_t length;
    uint64_t address; // target address of raw bytes, which hold none, or of the start of a text
    bool has_address; // text: `address` is given
    enum extract_byte_order word_order; // text: of words of the target; UNKNOWN: not known
};

typedef enum extract_code extract_loader(struct extract_images *images, struct extract_input *input,
                                         struct extract_error *error);

// The loaders, one per file format.
extract_loader extract_raw_load, extract_trx_load, extract_hooks_load, extract_core_load,
    extract_hex_load, extract_srec_load, extract_crashcatcher_load, extract_text_dump_load;

// Returns the table of a memory, or NULL if the memory is of another kind.
struct extract_images *extract_images_of(const struct extract_memory *memory);

// Adds `count` spans, sorted and disjoint, whose bytes are in input->bytes, and takes these over.
// Errors: NOMEM, BAD (a span is empty, runs past 2^64 or overlaps an older one). After an error,
// nothing has changed.
enum extract_code extract_images_add(struct extract_images *images, struct extract_input *input,
                                     const struct extract_image *spans, size_t count,
                                     struct extract_error *error);

// Notes what the user of an image must know, such as what it lacks. From the ninth on, and without
// memory, remarks are dropped.
void extract_images_remark(struct extract_images *images, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

// Returns whether an input is a complete file of its format: no conversion of line ends would leave
// it so.
typedef bool extract_is_whole(const struct extract_input *input);

// Undoes a conversion of line ends in an input if the file was not whole before and is so
// afterwards: this shortens the input. Otherwise notes a conversion that is only likely.
void extract_images_mend_line_ends(struct extract_images *images, struct extract_input *input,
                                   extract_is_whole *is_whole);

// Notes that the line ends of an image of memory were probably converted. Its bytes are in memory
// or, if `bytes` is NULL, in a file.
void extract_images_check_line_ends(struct extract_images *images, const uint8_t *bytes, int file,
                                    uint64_t length);

// Says where the dump in a file ends, and notes what else is in the file.
void extract_images_end_at(struct extract_images *images, const struct extract_input *input,
                           uint64_t length);

// Where a ThreadX dump has its parts, by its header: bytes from the start, at most the ring's
// length.
struct extract_trx_layout {
    enum extract_byte_order byte_order;
    unsigned word_bytes;
    uint64_t registry, registry_end, object_bytes;
    uint64_t entries, entries_end;
};

// Returns how many bytes are missing before entries of a dump; 0: none that are noticed.
unsigned extract_trx_missing_bytes(const struct extract_input *input,
                                   const struct extract_trx_layout *layout);

// Notes that bytes of a dump are missing.
void extract_images_lack_bytes(struct extract_images *images, const struct extract_input *input,
                               unsigned missing);

// Opens a regular file and sets its length. Returns -1 if it is not regular, cannot be opened, or
// has the length 0: files of /proc do, and hold bytes all the same.
int extract_images_open_file(const char *path, uint64_t *length);

// Reads a file and passes it to a loader, for a memory of images or for a new one.
enum extract_code extract_images_add_file(struct extract_memory *memory, const char *path,
                                          uint64_t address, extract_loader *load,
                                          struct extract_error *error);
// Does so for an input whose name and options are set.
enum extract_code extract_images_add_input(struct extract_memory *memory, const char *path,
                                           struct extract_input *input, extract_loader *load,
                                           struct extract_error *error);
enum extract_code extract_images_open(struct extract_memory **memory, const char *path,
                                      extract_loader *load, struct extract_error *error);

// Reads from one image, up to its end. The read function of the memory's source.
size_t extract_images_read(void *images, uint64_t address, void *buffer, size_t length);

// Returns the first address from `address` on whose byte may be other than zero, at most `end`.
// Holes of a sparse file are skipped without being read.
uint64_t extract_memory_skip_holes(const struct extract_memory *memory, uint64_t address,
                                   uint64_t end);

// Returns how many bytes of a span one read can give: up to the end of the image that holds
// `address`, or all of the span if no image does.
size_t extract_images_extent(const struct extract_images *images, uint64_t address, size_t length);

// Return whether bytes begin like a ThreadX trace, a record of Intel HEX, an S-record.
bool extract_trx_is(const uint8_t *bytes, size_t length);
bool extract_hex_is(const uint8_t *bytes, size_t length);
bool extract_srec_is(const uint8_t *bytes, size_t length);

#endif
