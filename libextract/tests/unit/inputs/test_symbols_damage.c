// SPDX-License-Identifier: MIT
// unit: the symbols room reads files that are damaged, hostile or not programs, and runs short of
// memory. The files are programs of symbols_programs.h, cut and changed. Nothing may crash, hang or
// leak, and each refused file has a reason.
#include "symbols_programs.h"
#include "symbols/image.h"
#include "symbols/dwarf.h"

// The DWARF leads in circles: a typedef of itself, a struct that contains itself without a name, a
// sibling that points back, an abbreviation that does not exist. Both of the last end their unit.
static void test_circles(void **state)
{
    static const char text[] =
        ".text\n.globl _start\n_start: .skip 4\n"
        ".section .debug_abbrev,\"\",@progbits\n"
        ".uleb128 1,0x11\n.byte 1\n.uleb128 0,0\n"
        ".uleb128 2,0x16\n.byte 0\n.uleb128 3,8,0x49,0x13,0,0\n"
        ".uleb128 3,0x13\n.byte 1\n.uleb128 3,8,0xb,0xb,0x1,0x13,0,0\n"
        ".uleb128 4,0xd\n.byte 0\n.uleb128 0x49,0x13,0,0\n"
        ".uleb128 5,0x16\n.byte 0\n.uleb128 3,8,0,0\n"
        ".byte 0\n"
        ".section .debug_info,\"\",@progbits\n"
        "unit: .long end - version\nversion: .value 4\n.long 0\n.byte 8\n"
        ".uleb128 1\n"
        ".uleb128 5\n.asciz \"nothing\"\n" // typedef void nothing
        "self: .uleb128 2\n.asciz \"self\"\n.long self - unit\n"
        "one: .uleb128 2\n.asciz \"one\"\n.long two - unit\n"
        "two: .uleb128 2\n.asciz \"two\"\n.long one - unit\n"
        "knot: .uleb128 3\n.asciz \"knot\"\n.byte 8\n.long self - unit\n"
        ".uleb128 4\n.long knot - unit\n.uleb128 4\n.long knot - unit\n.byte 0\n"
        ".byte 0\n"
        "end:\n"
        "other: .long finish - next\nnext: .value 4\n.long 0\n.byte 8\n"
        ".uleb128 1\n"
        "good: .uleb128 3\n.asciz \"good\"\n.byte 12\n.long behind - other\n.byte 0\n"
        "behind: .uleb128 99\n.byte 0\n"
        "finish:\n";
    struct extract_symbols *symbols;
    char path[64];
    uint64_t size, offset;

    (void)state;
    if (!HAS_DWARF)
        skip();
    scratch_puts("circles.s", text);
    assert_true(run("gcc -nostdlib -static -o circles.elf circles.s"));
    symbols = must_open("circles.elf");
    assert_false(extract_symbols_type_size(symbols, "nothing", &size));
    assert_false(extract_symbols_type_size(symbols, "self", &size));
    assert_false(extract_symbols_type_size(symbols, "one", &size));
    assert_true(extract_symbols_type_size(symbols, "knot", &size));
    assert_int_equal(size, 8);
    assert_false(extract_symbols_member(symbols, "knot", "x", &offset, &size));
    assert_false(extract_symbols_member_at(symbols, "knot", 0, path, sizeof path));
    assert_true(extract_symbols_type_size(symbols, "good", &size));
    assert_int_equal(size, 12);
    extract_symbols_close(symbols);
}

// The library would search for the ends of the strings in these tables again and again.
static void test_long_strings(void **state)
{
    static const char cut[] = "abc\0aaaa\0aaaa\0a\0\0bbbb\0", whole[] = "abc\0aaaa\0b";
    char bytes[] = "abc\0aaaaaaaaaaa\0\0bbbbb";

    (void)state;
    extract_elf_cut((uint8_t *)bytes, sizeof bytes - 1, 4);
    assert_memory_equal(bytes, cut, sizeof bytes - 1);
    memcpy(bytes, whole, sizeof whole);
    extract_elf_cut((uint8_t *)bytes, sizeof whole, 4);
    assert_memory_equal(bytes, whole, sizeof whole);
}

static void expect_error(const char *name, enum extract_code code, const char *why)
{
    struct extract_symbols *symbols = (struct extract_symbols *)1;
    struct extract_error error = {0};

    assert_int_equal(extract_symbols_open(&symbols, scratch_path(name), &error), code);
    assert_null(symbols);
    assert_int_equal(error.code, code);
    assert_non_null(strstr(error.what, name));
    if (!strstr(error.why, why))
        fail_msg("%s: %s", name, error.why);
    assert_true(error.hint[0] || code == EXTRACT_IO);
}

static void test_errors(void **state)
{
    size_t length;

    (void)state;
    char *bytes = read_file("x86-static.elf", &length);
    bytes[16] = 4; // e_type: ET_CORE
    scratch_write("a.core", bytes, length);
    bytes[16] = 2;
    bytes[4] = 7; // EI_CLASS
    scratch_write("class.elf", bytes, length);
    free(bytes);
    scratch_puts("empty", "");
    scratch_write("notes.txt", "these are no ELF bytes", 22);
    scratch_write("short", "\177ELF\1\1\1\0\0\0\0\0\0\0\0\0\2\0", 18);
    assert_true(run("gcc -c -o object.o main.c && mkfifo pipe"));
    expect_error("a.core", EXTRACT_BAD, "core file");
    expect_error("object.o", EXTRACT_BAD, "object file");
    expect_error("class.elf", EXTRACT_BAD, "class 7");
    expect_error("empty", EXTRACT_BAD, "not an ELF");
    expect_error("notes.txt", EXTRACT_BAD, "not an ELF");
    expect_error("short", EXTRACT_TRUNCATED, "ends inside");
    expect_error("nowhere", EXTRACT_IO, "No such file");
    expect_error("pipe", EXTRACT_IO, "not a regular file");
    expect_error("", EXTRACT_IO, "not a regular file");
    assert_true(run("truncate -s 2G huge"));
    expect_error("huge", EXTRACT_LIMIT, "1 GiB");
}

// Asks every kind of question. It only matters that each call returns.
static void ask_everything(struct extract_symbols *symbols)
{
    struct extract_symbol symbol;
    struct extract_place place;
    uint64_t size, offset;
    char path[64];

    if (extract_symbols_by_name(symbols, "work", &symbol))
        for (uint64_t a = 0; a < 64; a++)
            (void)extract_symbols_place(symbols, symbol.address + a, &place);
    for (uint64_t a = 0; a < 64; a++) {
        (void)extract_symbols_by_address(symbols, 0x401000 + a, &symbol, &offset, NULL);
        (void)extract_symbols_member_at(symbols, "THREAD", a, path, sizeof path);
    }
    (void)extract_symbols_type_size(symbols, "LATER", &size);
    (void)extract_symbols_member(symbols, "THREAD", "stack.size", &offset, &size);
}

static void test_truncated(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        struct extract_symbols *symbols;
        struct extract_error error;
        size_t length;
        if (!built[i])
            continue;
        const char *file = target_file(&targets[i], "elf");
        char *bytes = read_file(file, &length);
        for (size_t cut = 0; cut < length; cut += 64) {
            enum extract_code code = extract_symbols_open_bytes(&symbols, file, bytes, cut, &error);
            // The section table is at the end of the file. Without it, nothing is known.
            assert_true(code == EXTRACT_TRUNCATED || (code == EXTRACT_BAD && cut < 16));
        }
        assert_int_equal(extract_symbols_open_bytes(&symbols, file, bytes, length, &error),
                         EXTRACT_OK);
        assert_string_equal(extract_symbols_path(symbols), file);
        extract_symbols_close(symbols);
        free(bytes);
    }
}

static size_t open_flipped(const char *file, const char *bytes, size_t length)
{
    struct extract_symbols *symbols;
    struct extract_error error = {0};

    if (extract_symbols_open_bytes(&symbols, file, bytes, length, &error) != EXTRACT_OK) {
        assert_true(error.why[0]);
        return 0;
    }
    ask_everything(symbols);
    extract_symbols_close(symbols);
    return 1;
}

// Flips every byte of both header tables, then bytes anywhere (from a fixed seed).
static void test_flipped(void **state)
{
    static const char *const files[] = {"x86-static.elf", "x86-compressed.elf", "m68k.elf"};
    uint32_t random = 12345;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        size_t length, opened = 0;
        if (i == 2 && !has_target("m68k"))
            continue;
        char *bytes = read_file(files[i], &length);
        for (size_t at = 0; at < length; at = at == 63 ? length - 1400 : at + 1) {
            for (unsigned flip = 1; flip < 256; flip = flip * 4 + 3) {
                bytes[at] = (char)(bytes[at] ^ (int)flip);
                opened += open_flipped(files[i], bytes, length);
                bytes[at] = (char)(bytes[at] ^ (int)flip);
            }
        }
        for (unsigned n = 0; n < 500; n++) {
            random = random * 1664525u + 1013904223u;
            size_t at = (random >> 8) % length;
            bytes[at] = (char)(bytes[at] ^ (int)(random >> 24));
            opened += open_flipped(files[i], bytes, length);
        }
        assert_true(opened > 100);
        free(bytes);
    }
}

static const char *short_of_memory;

static enum extract_code ask_in_need(void)
{
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_error error = {0};
    enum extract_code code = extract_symbols_open(&symbols, scratch_path(short_of_memory), &error);

    assert_int_equal(error.code, code);
    if (code == EXTRACT_OK) {
        ask_everything(symbols);
        assert_true(extract_symbols_by_name(symbols, "work", &symbol));
        extract_symbols_close(symbols);
    }
    return code;
}

// The result is an error or a shorter answer, never a leak. Reading alone makes about ten
// allocations.
static void test_no_memory(void **state)
{
    (void)state;
    short_of_memory = "x86-static.elf";
    each_allocation_fails(ask_in_need);
    short_of_memory = "x86-compressed.elf";
    each_allocation_fails(ask_in_need);
    alloc_countdown = 5;
    assert_int_equal(ask_in_need(), EXTRACT_NOMEM);
    alloc_countdown = -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_strings), cmocka_unit_test(test_circles),
        cmocka_unit_test(test_errors),       cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_flipped),      cmocka_unit_test(test_no_memory),
    };

    return cmocka_run_group_tests_name("symbols_damage", tests, programs_make, scratch_remove);
}
