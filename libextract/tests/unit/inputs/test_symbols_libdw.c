// SPDX-License-Identifier: MIT
// unit: memory runs short inside of libdw and libelf while the symbols room reads a program of
// symbols_programs.h. Each answer is correct, the process survives, and the library frees all of
// its own memory. (What libdw had allocated but not yet tied to its handle is lost: libdw offers no
// way to free it.)
//
// The program replaces malloc and its relatives for the shared libraries, too. A sanitizer does not
// permit that, so the test is skipped there.
#include "symbols_programs.h"
#include "symbols/dwarf.h"

#if defined __has_feature
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined __SANITIZE_ADDRESS__ || defined SANITIZED || !defined EXTRACT_HAVE_DW

static void test_short_libdw(void **state)
{
    (void)state;
    skip();
}

#else

#include <malloc.h>

#define SHARED __attribute__((visibility("default"))) // visible to the libraries

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *block, size_t size);
void __libc_free(void *block);
SHARED void *malloc(size_t size);
SHARED void *calloc(size_t count, size_t size);
SHARED void *realloc(void *block, size_t size);
SHARED void free(void *block);

static size_t left = SIZE_MAX; // bytes that may still be allocated
static bool refused;

static void *take(void *block)
{
    size_t size = block ? malloc_usable_size(block) : 0;

    left = left == SIZE_MAX || size > left ? left : left - size;
    return block;
}

static bool fits(size_t size)
{
    bool fit = size <= left;
    refused |= !fit;
    return fit;
}

void *malloc(size_t size)
{
    return fits(size) ? take(__libc_malloc(size)) : NULL;
}

void *calloc(size_t count, size_t size)
{
    return fits(count * size) ? take(__libc_calloc(count, size)) : NULL;
}

static void give_back(void *block)
{
    if (block && left != SIZE_MAX)
        left += malloc_usable_size(block);
}

void *realloc(void *block, size_t size)
{
    if (!fits(size))
        return NULL;
    give_back(block);
    return take(__libc_realloc(block, size));
}

void free(void *block)
{
    give_back(block);
    __libc_free(block);
}

struct answers {
    bool place, size, member, path;
    unsigned line;
    uint64_t bytes, offset;
    char text[32];
};

static void ask(struct extract_symbols *symbols, uint64_t address, struct answers *answers)
{
    struct extract_place place = {NULL, 0};
    uint64_t bytes;

    memset(answers, 0, sizeof *answers);
    answers->place = extract_symbols_place(symbols, address, &place);
    answers->line = place.line;
    answers->size = extract_symbols_type_size(symbols, "LATER", &answers->bytes);
    answers->member =
        extract_symbols_member(symbols, "THREAD", "stack.size", &answers->offset, &bytes);
    answers->path = extract_symbols_member_at(symbols, "THREAD", 1, answers->text, 32);
}

static void check(const struct answers *got, const struct answers *want)
{
    assert_true(!got->place || got->line == want->line);
    assert_true(!got->size || got->bytes == want->bytes);
    assert_true(!got->member || got->offset == want->offset);
    assert_true(!got->path || strcmp(got->text, want->text) == 0);
}

// Asks the program's symbols with `bytes` bytes of memory. Returns whether they sufficed.
static bool attempt(const char *file, size_t bytes, uint64_t address, const struct answers *want)
{
    struct answers got;
    long live = alloc_live;
    struct extract_symbols *symbols = must_open(file);

    refused = false;
    left = bytes;
    ask(symbols, address, &got);
    left = SIZE_MAX;
    check(&got, want);
    if (!refused)
        assert_memory_equal(&got, want, sizeof got);
    ask(symbols, address, &got); // memory is available again, but what was closed stays closed
    check(&got, want);
    extract_symbols_close(symbols);
    assert_int_equal(alloc_live, live);
    return !refused;
}

static void test_short_libdw(void **state)
{
    static const char *const files[] = {"x86-static.elf", "x86-compressed.elf", "x86-units.elf",
                                        "x86-points.elf"};
    struct extract_symbol work;
    struct answers want;

    (void)state;
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        size_t bytes = 0;
        struct extract_symbols *symbols = must_open(files[i]);
        assert_true(extract_symbols_by_name(symbols, "work", &work));
        ask(symbols, work.address, &want);
        assert_true(want.place && want.size && want.member && want.path);
        extract_symbols_close(symbols);
        while (!attempt(files[i], bytes, work.address, &want))
            bytes += 64;
        assert_true(bytes > 65536);
    }
}

#endif

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_short_libdw)};

    return cmocka_run_group_tests_name("symbols_libdw", tests, programs_make, scratch_remove);
}
