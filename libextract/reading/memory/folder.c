// SPDX-License-Identifier: MIT
// memory: opens the directory that OpenOCD's `ringside crash DIR` writes. Its manifest lists the
// images:
//
//     ringside-crash 1
//     ram: ram-0x20000000.bin 0x20000000 0x10000
#include "base/file.h"
#include <extract/filter.h>
#include <extract/memory.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MANIFEST_LIMIT = 1 << 20, MANIFEST_LINE = 512, NAME_BYTES = 64 };

static const char manifest_name[] = "manifest.txt";

bool extract_memory_is_folder(const char *path)
{
    struct stat status;

    return strcmp(path, "-") != 0 && !stat(path, &status) && S_ISDIR(status.st_mode);
}

// Returns the path of a file in a directory; the caller frees it. NULL: memory is short.
static char *path_in(const char *directory, const char *name)
{
    size_t bytes = strlen(directory) + strlen(name) + 2;
    char *path = malloc(bytes);

    if (path)
        snprintf(path, bytes, "%s/%s", directory, name);
    return path;
}

char *extract_memory_folder_registers(const char *directory)
{
    char *path = path_in(directory, "registers.txt");

    struct stat status;

    if (path && !stat(path, &status) && S_ISREG(status.st_mode))
        return path;
    free(path);
    return NULL;
}

static enum extract_code bad_manifest(const char *path, unsigned long line,
                                      struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_BAD, path,
                             "use a directory as OpenOCD's `ringside crash` writes it",
                             "line %lu is invalid", line);
}

// A line of the manifest: an image of RAM.
struct image {
    char name[NAME_BYTES];
    uint64_t address;
    uint64_t length; // bytes that OpenOCD was to read
};

// Reads a line. Returns false if it is invalid: the file is in the directory itself.
static bool read_line(const char *line, struct image *image)
{
    char address[NAME_BYTES], length[NAME_BYTES];

    return sscanf(line, "ram: %63s %63s %63s", image->name, address, length) == 3 &&
           !strchr(image->name, '/') && extract_number_parse(address, &image->address) &&
           extract_number_parse(length, &image->length);
}

static enum extract_code add_line(struct extract_memory *memory, const char *directory,
                                  const char *manifest, const char *line, unsigned long number,
                                  struct extract_error *error)
{
    enum extract_code code;
    struct stat status;
    struct image image;

    if (!read_line(line, &image))
        return bad_manifest(manifest, number, error);
    char *path = path_in(directory, image.name);
    if (!path)
        return extract_error_set(error, EXTRACT_NOMEM, manifest, NULL, "out of memory");
    // Reading a pipe or a device may take forever.
    if (!stat(path, &status) && !S_ISREG(status.st_mode))
        code = extract_error_set(error, EXTRACT_BAD, path,
                                 "use a directory as OpenOCD's `ringside crash` writes it",
                                 "not a regular file");
    else
        code = extract_memory_add_image(memory, path, image.address, error);
    free(path);
    return code;
}

static enum extract_code add_images(struct extract_memory *memory, const char *directory,
                                    const char *manifest, char *text, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    unsigned long number = 1;
    size_t images = 0;

    if (strncmp(text, "ringside-crash 1\n", strlen("ringside-crash 1\n")) != 0)
        return bad_manifest(manifest, 1, error);
    for (char *line = text, *next; line && !code; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = 0;
        if (strncmp(line, "ram: ", strlen("ram: ")) != 0)
            continue;
        code = add_line(memory, directory, manifest, line, number, error);
        images++;
    }
    if (!code && !images)
        code =
            extract_error_set(error, EXTRACT_BAD, manifest, "use -ram in OpenOCD's `ringside init`",
                              "the dump has no images of RAM");
    return code;
}

bool extract_memory_folder_cut(const char *directory, size_t i, struct extract_memory_cut *cut)
{
    char *manifest = path_in(directory, manifest_name), line[MANIFEST_LINE];
    bool is_found = false;
    struct stat kind;
    FILE *file =
        manifest && !stat(manifest, &kind) && S_ISREG(kind.st_mode) ? fopen(manifest, "re") : NULL;

    while (file && !is_found && fgets(line, sizeof line, file)) {
        struct image image;
        struct stat status;
        if (!read_line(line, &image))
            continue;
        char *path = path_in(directory, image.name);
        bool is_cut = path && !stat(path, &status) && S_ISREG(status.st_mode) &&
                      (uint64_t)status.st_size < image.length;
        free(path);
        if (!is_cut || i--)
            continue;
        snprintf(cut->name, sizeof cut->name, "%s", image.name);
        cut->length = image.length;
        cut->found = (uint64_t)status.st_size;
        is_found = true;
    }
    if (file)
        fclose(file);
    free(manifest);
    return is_found;
}

enum extract_code extract_memory_add_folder(struct extract_memory *memory, const char *directory,
                                            struct extract_error *error)
{
    char *manifest = path_in(directory, manifest_name), *text = NULL;
    uint8_t *bytes = NULL;
    size_t length;
    enum extract_code code =
        manifest ? extract_file_read_in_time(manifest, MANIFEST_LIMIT, &bytes, &length, error)
                 : extract_error_set(error, EXTRACT_NOMEM, directory, NULL, "out of memory");

    if (code == EXTRACT_IO && access(manifest, F_OK))
        code =
            extract_error_set(error, EXTRACT_IO, directory,
                              "use a file, or a directory as OpenOCD's `ringside crash` writes it",
                              "a directory without %s", manifest_name);
    if (!code && !(text = calloc(1, length + 1)))
        code = extract_error_set(error, EXTRACT_NOMEM, directory, NULL, "out of memory");
    if (!code) {
        memcpy(text, bytes, length);
        code = add_images(memory, directory, manifest, text, error);
    }
    free(text);
    free(bytes);
    free(manifest);
    return code;
}
