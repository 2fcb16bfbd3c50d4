// SPDX-License-Identifier: MIT
// tests: files in a directory of their own, and allocations that fail one after the other.
//
// A test program that includes this header replaces the library's malloc, calloc, realloc and free
// (the build passes -Wl,--wrap for each function named __wrap_NAME).
#ifndef TESTS_SCRATCH_H
#define TESTS_SCRATCH_H

#include "memory/memory_hooks.h"
#include <extract/memory.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void __real_free(void *block);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);
void __wrap_free(void *block);

static long alloc_countdown = -1; // the allocation that fails; below 0: none
static long alloc_live;           // blocks that are not freed yet

static bool alloc_fails(void)
{
    return alloc_countdown >= 0 && alloc_countdown-- == 0;
}

void *__wrap_malloc(size_t size)
{
    void *block = alloc_fails() ? NULL : __real_malloc(size);
    alloc_live += block != NULL;
    return block;
}

void *__wrap_calloc(size_t count, size_t size)
{
    void *block = alloc_fails() ? NULL : __real_calloc(count, size);
    alloc_live += block != NULL;
    return block;
}

void *__wrap_realloc(void *old, size_t size)
{
    void *block = alloc_fails() ? NULL : __real_realloc(old, size);
    alloc_live += block && !old;
    return block;
}

void __wrap_free(void *block)
{
    alloc_live -= block != NULL;
    __real_free(block);
}

// Calls `attempt` with the first, second, ... allocation failing, until no allocation fails.
// `attempt` must leave no block allocated, whether it fails (then with NOMEM) or not.
static inline void each_allocation_fails(enum extract_code (*attempt)(void))
{
    for (long n = 0;; n++) {
        long live = alloc_live;
        alloc_countdown = n;
        enum extract_code code = attempt();
        bool reached = alloc_countdown < 0;
        alloc_countdown = -1;
        assert_int_equal(alloc_live, live);
        if (!reached) {
            assert_int_equal(code, EXTRACT_OK);
            assert_true(n > 0);
            return;
        }
        // An attempt may succeed although shrinking a buffer failed.
        assert_true(code == EXTRACT_NOMEM || code == EXTRACT_OK);
    }
}

static char scratch_folder[] = "/tmp/ringside-test-XXXXXX";

static inline int scratch_make(void **state)
{
    (void)state;
    return mkdtemp(scratch_folder) ? 0 : -1;
}

static inline int scratch_remove(void **state)
{
    char command[PATH_MAX];
    (void)state;
    snprintf(command, sizeof command, "rm -rf %s", scratch_folder);
    return system(command);
}

// Returns the path of a file in the directory. It is valid for the next 8 calls.
static inline const char *scratch_path(const char *name)
{
    static char paths[8][128];
    static unsigned turn;
    char *path = paths[turn++ % 8];
    snprintf(path, sizeof paths[0], "%s/%s", scratch_folder, name);
    return path;
}

static inline const char *scratch_write(const char *name, const void *bytes, size_t length)
{
    const char *path = scratch_path(name);
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    return path;
}

static inline const char *scratch_puts(const char *name, const char *text)
{
    return scratch_write(name, text, strlen(text));
}

// Runs a shell command in the directory. Returns whether it succeeded.
static inline bool scratch_run(const char *command)
{
    char line[2048];
    snprintf(line, sizeof line, "cd %s && { %s; } >log 2>&1", scratch_folder, command);
    return system(line) == 0;
}

// Asserts that the memory contains exactly these bytes at an address.
static inline void assert_bytes(struct extract_memory *memory, uint64_t address, const void *bytes,
                                size_t length)
{
    size_t got = 0;
    uint8_t *buffer = malloc(length + 1);
    assert_int_equal(extract_memory_read(memory, address, buffer, length, &got, NULL), EXTRACT_OK);
    assert_int_equal(got, length);
    assert_memory_equal(buffer, bytes, length);
    free(buffer);
}

static inline void assert_region(const struct extract_memory *memory, size_t i, uint64_t address,
                                 uint64_t length)
{
    struct extract_region region = {0, 0};
    assert_true(extract_memory_region(memory, i, &region));
    assert_int_equal(region.address, address);
    assert_int_equal(region.length, length);
}

static inline void assert_regions(const struct extract_memory *memory, size_t count)
{
    struct extract_region region;
    assert_false(extract_memory_region(memory, count, &region));
    if (count)
        assert_true(extract_memory_region(memory, count - 1, &region));
}

#endif
