// SPDX-License-Identifier: MIT
// mutate: the whole files that the runs damage.
#ifndef EXTRACT_TESTS_MUTATION_SAMPLES_H
#define EXTRACT_TESTS_MUTATION_SAMPLES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sample {
    char *name; // its path
    uint8_t *bytes;
    size_t length;
    bool is_elf;              // a firmware, which only accompanies others
    const char *address;      // "@0x20000000" for an image of memory, otherwise ""
    const struct sample *elf; // the firmware of an image; NULL: none
};

enum { MAX_SAMPLES = 1024 };

struct samples {
    struct sample list[MAX_SAMPLES];
    size_t count;
};

// Loads all files, in the order of their names, so that a number chooses the same file each time:
// those of the tests' data and of the corpora of the fuzz targets, and those that the program makes
// of the images: cores and dumps. `make` runs a command of the program, `folder` is an empty
// directory.
typedef void samples_maker(const char *folder, const char *const *words);
void samples_load(struct samples *samples, const char *tests, samples_maker *make,
                  const char *folder);
void samples_free(struct samples *samples);

// Prints a message and ends the driver.
_Noreturn void samples_die(const char *message);

#endif
