// SPDX-License-Identifier: MIT
// unit: the answers of the symbols room.
//
// Truth: readelf (symbols), addr2line (lines), the compilers' own sizeof and offsetof (types) and,
// for programs in assembly, computation by hand. Damaged and hostile files: test_symbols_damage.c.
#include "symbols_programs.h"
#include "symbols/dwarf.h"
#include <inttypes.h>

// ---- Against readelf ----

struct oracle_symbol {
    uint64_t address, size;
    bool function, global;
    char name[64];
};

// Reads the symbols that readelf lists and that a look-up may return.
static size_t read_oracle(const struct target *t, struct oracle_symbol *list, size_t most)
{
    char line[512], type[16], bind[16], visibility[16], section[16], name[128];
    uint64_t address;
    char size[24];
    size_t count = 0, length;

    assert_true(run("readelf -sW %s.elf > symbols.txt", t->name));
    char *text = read_file("symbols.txt", &length);
    // readelf prints .symtab after .dynsym.
    char *at = strstr(text, "'.symtab'");
    assert_non_null(at);
    for (at = strtok(at, "\n"); at; at = strtok(NULL, "\n")) {
        snprintf(line, sizeof line, "%s", at);
        if (sscanf(line, " %*u: %" SCNx64 " %23s %15s %15s %15s %15s %127s", &address, size, type,
                   bind, visibility, section, name) != 7 ||
            strcmp(section, "UND") == 0 || name[0] == '$')
            continue;
        bool function = strcmp(type, "FUNC") == 0;
        if (!function && strcmp(type, "OBJECT") != 0 && strcmp(type, "NOTYPE") != 0)
            continue;
        assert_true(count < most);
        struct oracle_symbol *s = &list[count++];
        s->address = function && t->thumb ? address & ~UINT64_C(1) : address;
        s->size = strtoull(size, NULL, 0);
        s->function = function;
        s->global = strcmp(bind, "LOCAL") != 0;
        snprintf(s->name, sizeof s->name, "%.63s", name);
    }
    free(text);
    return count;
}

static void check_symbol(const struct extract_symbols *symbols, const struct oracle_symbol *list,
                         size_t count, const struct oracle_symbol *want)
{
    struct extract_symbol got;
    size_t same = 0;

    for (size_t i = 0; i < count; i++)
        same += strcmp(list[i].name, want->name) == 0;
    if (same > 1) // two units have a static `counter`: either is right
        return;
    if (!extract_symbols_by_name(symbols, want->name, &got))
        fail_msg("%s is not found", want->name);
    assert_string_equal(got.name, want->name);
    assert_int_equal(got.address, want->address);
    assert_int_equal(got.size, want->size);
    assert_int_equal(got.function, want->function);
    assert_int_equal(got.global, want->global);
}

// Returns, by brute force, the symbol that starts last among the sized ones that cover the address.
static const struct oracle_symbol *cover(const struct oracle_symbol *list, size_t count,
                                         uint64_t address)
{
    const struct oracle_symbol *best = NULL;

    for (size_t i = 0; i < count; i++)
        if (address >= list[i].address && address - list[i].address < list[i].size &&
            (!best || list[i].address > best->address))
            best = &list[i];
    return best;
}

static void check_addresses(const struct extract_symbols *symbols, const struct target *t,
                            const struct oracle_symbol *list, size_t count)
{
    struct extract_symbol got;
    uint64_t offset;
    size_t cache = 0, checked = 0;

    for (size_t i = 0; i < count; i++) {
        for (uint64_t a = list[i].address; a < list[i].address + list[i].size; a++) {
            const struct oracle_symbol *want = cover(list, count, a);
            uint64_t odd = t->thumb && want->function ? a & 1 : 0;
            assert_true(extract_symbols_by_address(symbols, a, &got, &offset, &cache));
            assert_int_equal(got.address, want->address);
            assert_int_equal(offset, a - odd - want->address);
            struct extract_symbol again;
            assert_true(extract_symbols_by_address(symbols, a, &again, NULL, NULL));
            assert_ptr_equal(again.name, got.name);
            checked++;
        }
    }
    assert_true(checked > 100);
}

static void test_readelf(void **state)
{
    static struct oracle_symbol list[256];

    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        if (!built[i])
            continue;
        struct extract_symbols *symbols = must_open(target_file(&targets[i], "elf"));
        size_t count = read_oracle(&targets[i], list, 256);
        assert_true(count >= 12);
        assert_int_equal(extract_symbols_count(symbols), count);
        assert_int_equal(extract_symbols_byte_order(symbols), targets[i].order);
        assert_int_equal(extract_symbols_pointer_bytes(symbols), targets[i].pointer);
        for (size_t s = 0; s < count; s++)
            check_symbol(symbols, list, count, &list[s]);
        check_addresses(symbols, &targets[i], list, count);
        extract_symbols_close(symbols);
    }
}

// ---- Against addr2line ----

// Writes every second address of every function to a file, for one call of addr2line.
static size_t write_addresses(const struct oracle_symbol *list, size_t count, uint64_t *addresses,
                              size_t most)
{
    char text[16384];
    size_t used = 0, n = 0;

    for (size_t i = 0; i < count; i++)
        for (uint64_t a = 0; list[i].function && a < list[i].size && n < most; a += 2) {
            addresses[n++] = list[i].address + a;
            used += (size_t)snprintf(text + used, sizeof text - used, "0x%" PRIx64 "\n",
                                     list[i].address + a);
        }
    scratch_write("addresses.txt", text, used);
    return n;
}

static void check_place(struct extract_symbols *symbols, uint64_t address, const char *want)
{
    struct extract_place place;
    char line[24];
    bool found = extract_symbols_place(symbols, address, &place);

    if (strncmp(want, "??", 2) == 0 || strstr(want, ":?")) {
        assert_false(found);
        return;
    }
    if (!found)
        fail_msg("no place at 0x%" PRIx64 ", but %s", address, want);
    const char *colon = strrchr(want, ':');
    snprintf(line, sizeof line, ":%u", place.line);
    if (strncmp(colon, line, strlen(line)) != 0 ||
        strspn(colon + 1, "0123456789") + 1 != strlen(line))
        fail_msg("0x%" PRIx64 ": line %u, but %s", address, place.line, want);
    // For calls in units of link-time optimization, addr2line prints the name of the unit.
    size_t length = strstr(want, "<artificial>") ? 0 : strlen(place.file);
    assert_true((size_t)(colon - want) >= length);
    assert_memory_equal(colon - length, place.file, length);
}

// Compares the places of `n` addresses with those of addr2line, which prints each address, its
// place, and those of the calls that were expanded in place. The code of a trace point, which
// point.h has, stands for its call.
static void check_places(const char *file, const char *prefix, const uint64_t *addresses, size_t n)
{
    struct extract_symbols *symbols = must_open(file);
    const char *place = NULL;
    size_t length, begun = 0;

    assert_true(run("%saddr2line -a -i -e %s < addresses.txt > places.txt", prefix, file));
    char *text = read_file("places.txt", &length);
    for (char *at = strtok(text, "\n"); at; at = strtok(NULL, "\n")) {
        if (strncmp(at, "0x", 2) == 0) {
            if (begun)
                check_place(symbols, addresses[begun - 1], place);
            place = NULL;
            assert_true(++begun <= n);
        } else if (!place || strstr(place, "point.h:")) {
            place = at;
        }
    }
    check_place(symbols, addresses[n - 1], place);
    assert_int_equal(begun, n);
    assert_true(n > 20);
    free(text);
    extract_symbols_close(symbols);
}

static void test_addr2line(void **state)
{
    static struct oracle_symbol list[256];
    static uint64_t addresses[1024];

    (void)state;
    if (!HAS_DWARF)
        skip();
    for (size_t i = 0; i < TARGETS; i++) {
        if (!built[i])
            continue;
        size_t count = read_oracle(&targets[i], list, 256);
        size_t n = write_addresses(list, count, addresses, 1024);
        check_places(target_file(&targets[i], "elf"), targets[i].prefix, addresses, n);
    }
}

// Trace points that are expanded in place, also inside of an inline function, twice in one line,
// and one after another without code of its own between them.
static const char point_text[] =
    "#include \"point.h\"\n"
    "static const volatile unsigned on = 1;\n"
    "const volatile unsigned *volatile word = &on;\n"
    "volatile int recorded;\n"
    "__attribute__((noinline)) void record(int id, const void *data)\n"
    "{\n"
    "    recorded += id + !data;\n"
    "}\n"
    "int dropped(int n)\n" // unless sections are dropped, it is a function like others
    "{\n"
    "    for (int i = 0; i < n; i++)\n"
    "        posix_trace_event(1, &i), posix_trace_event(2, &n), posix_trace_event(3, 0);\n"
    "    return n;\n"
    "}\n"
    "static inline void pass(int n)\n"
    "{\n"
    "    posix_trace_event(4, &n);\n"
    "    posix_trace_event(5, 0);\n"
    "}\n"
    "__attribute__((noinline)) int work(int n)\n"
    "{\n"
    "    posix_trace_event(6, 0);\n"
    "    for (int i = 0; i < n; i++) {\n"
    "        posix_trace_event(7, &n); posix_trace_event(8, &i); pass(i);\n"
    "        posix_trace_event(9, 0);\n"
    "        recorded /= 3;\n"
    "    }\n"
    "    pass(n);\n"
    "    return recorded;\n"
    "}\n"
    "__attribute__((used)) void _start(void)\n"
    "{\n"
    "    posix_trace_event(10, 0);\n"
    "    recorded = work(3) + work(4);\n"
    "}\n";

static void test_trace_points(void **state)
{
    static const struct {
        const char *prefix, *flags;
    } rows[] = {
        {"", "-O0 -gdwarf-5"},
        {"", "-O2 -gdwarf-5"},
        {"", "-O2 -gdwarf-4 -gz -fdebug-types-section"},
        {"", "-O3 -g1"},
        {"", "-O2 -g -flto"},
        {"arm-none-eabi-", "-Os -g -mthumb -mcpu=cortex-m3"},
        {"arm-none-eabi-", "-O2 -gdwarf-3 -mcpu=arm7tdmi -mbig-endian"},
        {"riscv64-unknown-elf-", "-O2 -g"},
        {"m68k-linux-gnu-", "-O2 -g -mcpu=5208"},
    };
    static struct oracle_symbol list[256];
    static uint64_t addresses[1024];

    (void)state;
    if (!HAS_DWARF)
        skip();
    scratch_puts("points.c", point_text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct target points = {.name = "points", .thumb = *rows[i].prefix == 'a'};
        if (!run("command -v %sgcc", rows[i].prefix))
            continue;
        assert_true(run("%sgcc %s -static -nostdlib -ffreestanding -fno-stack-protector "
                        "-o points.elf points.c",
                        rows[i].prefix, rows[i].flags));
        size_t count = read_oracle(&points, list, 256);
        size_t n = write_addresses(list, count, addresses, 1024);
        check_places("points.elf", rows[i].prefix, addresses, n);
    }
}

// The linker leaves the trace points of a dropped function at address 0, which this program uses.
static void test_dropped_trace_points(void **state)
{
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_place place;

    (void)state;
    if (!HAS_DWARF || !has_target("arm-thumb"))
        skip();
    scratch_puts("points.c", point_text);
    assert_true(run("arm-none-eabi-gcc -mthumb -mcpu=cortex-m3 -g -O2 -nostdlib -ffreestanding "
                    "-ffunction-sections -Wl,--gc-sections -Wl,-Ttext=0 -o points.elf points.c"));
    symbols = must_open("points.elf");
    assert_false(extract_symbols_by_name(symbols, "dropped", &symbol));
    assert_true(extract_symbols_by_name(symbols, "record", &symbol));
    assert_true(extract_symbols_place(symbols, symbol.address, &place));
    assert_true(place.line >= 5 && place.line <= 8);
    assert_true(extract_symbols_by_name(symbols, "work", &symbol));
    assert_true(symbol.address < 32); // the dropped function is longer
    for (uint64_t a = 0; a < symbol.address + symbol.size; a += 2)
        if (extract_symbols_place(symbols, a, &place))
            assert_true(place.line < 9 || place.line > 14);
    extract_symbols_close(symbols);
}

// The linker leaves line sequences of dropped functions at address 0, which this program uses.
// (addr2line reports lines of the dropped function there.)
static void test_dropped_functions(void **state)
{
    static const char text[] =
        "extern void reset(void);\n"
        "__attribute__((section(\".text.unlikely.0\"), used)) void (*const vectors[2])(void) = {0, "
        "reset};\n"
        "int dead(int a, int b)\n"
        "{\n"
        "    for (int i = 0; i < a; i++)\n"
        "        b = b * 3 + a * a * i - (b >> 3) + (b % 7) * (i % 5) + (a ^ i);\n"
        "    return b * a + 17 * (a - b) / 3;\n"
        "}\n"
        "volatile int place;\n"
        "void alive(void);\n"
        "__attribute__((used)) void reset(void)\n"
        "{\n"
        "    place = 7;\n"
        "    alive();\n"
        "}\n"
        "void alive(void)\n" // so long that the dead one fits into the section
        "{\n"
        "    for (int i = 0; i < place; i++)\n"
        "        place = place * 3 + i / 7 - (place >> 3) + (place % 7) * (i % 5) + i % 9;\n"
        "    for (int i = 0; i < place; i++)\n"
        "        place = place * 5 + i / 9 - (place >> 4) + (place % 9) * (i % 3) + i % 5;\n"
        "}\n";
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_place place;

    (void)state;
    if (!HAS_DWARF || !has_target("arm-thumb"))
        skip();
    scratch_puts("dropped.c", text);
    assert_true(
        run("arm-none-eabi-gcc -mthumb -mcpu=cortex-m3 -g -O1 -nostdlib -ffreestanding "
            "-ffunction-sections -Wl,--gc-sections -Wl,-e,reset -Wl,-u,vectors -Wl,-Ttext=0 "
            "-o dropped.elf dropped.c 2>/dev/null"));
    symbols = must_open("dropped.elf");
    assert_false(extract_symbols_by_name(symbols, "dead", &symbol));
    assert_true(extract_symbols_by_name(symbols, "vectors", &symbol));
    assert_int_equal(symbol.address, 0);
    assert_true(extract_symbols_by_name(symbols, "reset", &symbol));
    assert_true(extract_symbols_place(symbols, symbol.address + 1, &place)); // with Thumb bit
    assert_string_equal(place.file, "dropped.c");
    assert_int_equal(place.line, 12);
    assert_false(extract_symbols_place(symbols, 0, &place));
    static const char *const functions[] = {"reset", "alive"};
    for (size_t i = 0; i < 2; i++) {
        assert_true(extract_symbols_by_name(symbols, functions[i], &symbol));
        for (uint64_t a = 0; a < symbol.size; a += 2) {
            assert_true(extract_symbols_place(symbols, symbol.address + a, &place));
            assert_true(place.line >= 11); // the dead function is above it
        }
    }
    extract_symbols_close(symbols);
}

// Compilers write a row of no length at the end of a sequence, after calls that do not return. The
// row does not apply to the padding after it.
static void test_padding(void **state)
{
    static const char text[] = ".text\n.file 1 \"pad.c\"\n.globl _start\n"
                               ".type _start,@function\n_start:\n.loc 1 3 0\nnop\nnop\n"
                               ".loc 1 5 0 view 0\n.size _start,.-_start\n"
                               ".section .text.after,\"ax\"\n.p2align 6\n"
                               ".type after,@function\nafter:\n.loc 1 9 0\nnop\n"
                               ".size after,.-after\n";
    static const unsigned lines[] = {[0] = 3, [1] = 3, [64] = 9, [65] = 0};
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_place place;

    (void)state;
    if (!HAS_DWARF)
        skip();
    scratch_puts("pad.s", text);
    assert_true(run("gcc -g -nostdlib -static -o pad.elf pad.s"));
    symbols = must_open("pad.elf");
    assert_true(extract_symbols_by_name(symbols, "_start", &symbol));
    assert_int_equal(symbol.size, 2);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++) {
        assert_int_equal(extract_symbols_place(symbols, symbol.address + i, &place), lines[i] > 0);
        if (lines[i])
            assert_int_equal(place.line, lines[i]);
    }
    extract_symbols_close(symbols);
}

// ---- Against the compilers ----

static uint32_t oracle_word(const struct target *t, const char *bytes, size_t i)
{
    const unsigned char *b = (const unsigned char *)bytes + 4 * i;

    if (t->order == EXTRACT_BIG)
        return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
    return (uint32_t)b[3] << 24 | (uint32_t)b[2] << 16 | (uint32_t)b[1] << 8 | b[0];
}

static void check_sizes(struct extract_symbols *symbols, const struct target *t, const char *words)
{
    static const struct {
        const char *type;
        size_t word;
    } sizes[] = {
        {"THREAD", 0}, {"struct THREAD_STRUCT", 0}, {"THREAD_STRUCT", 0}, {"CONST_THREAD", 0},
        {"ULONG", 1},  {"union number", 2},         {"number", 2},        {"struct stack_tag", 3},
    };
    uint64_t size;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        assert_true(extract_symbols_type_size(symbols, sizes[i].type, &size));
        assert_int_equal(size, oracle_word(t, words, sizes[i].word));
    }
    // One unit declares the type, and another one defines it.
    assert_true(extract_symbols_type_size(symbols, "LATER", &size));
    assert_int_equal(size, 2 * oracle_word(t, words, 1));
    assert_false(extract_symbols_type_size(symbols, "struct only_declared", &size));
    assert_false(extract_symbols_type_size(symbols, "struct THREAD", &size));
    assert_false(extract_symbols_type_size(symbols, "union stack_tag", &size));
    assert_false(extract_symbols_type_size(symbols, "", &size));
}

static void check_members(struct extract_symbols *symbols, const struct target *t,
                          const char *words)
{
    static const struct {
        const char *member;
        size_t at, size; // words of the oracle
    } members[] = {
        {"id", 4, 1},         {"name", 5, 14},  {"stack", 6, 3},
        {"stack.size", 7, 1}, {"next", 10, 14}, {"history", 11, 15},
    };
    uint64_t offset, size;

    for (size_t i = 0; i < sizeof members / sizeof *members; i++) {
        if (!extract_symbols_member(symbols, "THREAD", members[i].member, &offset, &size))
            fail_msg("%s: no member %s", t->name, members[i].member);
        assert_int_equal(offset, oracle_word(t, words, members[i].at));
        assert_int_equal(size, oracle_word(t, words, members[i].size));
    }
    assert_true(extract_symbols_member(symbols, "CONST_THREAD", "left", &offset, &size));
    assert_int_equal(offset, oracle_word(t, words, 8));
    assert_int_equal(size, 2);
    assert_true(extract_symbols_member(symbols, "THREAD", "middle", &offset, &size));
    assert_int_equal(offset, oracle_word(t, words, 9));
    assert_int_equal(size, 4);
    assert_true(extract_symbols_member(symbols, "THREAD", "grid", &offset, &size));
    assert_int_equal(offset, oracle_word(t, words, 12));
    assert_int_equal(size, 6);
    assert_true(extract_symbols_member(symbols, "THREAD", "tail", &offset, &size));
    assert_int_equal(offset, oracle_word(t, words, 13));
    assert_int_equal(size, 0);
    static const char *const wrong[] = {"",  "nam",        "names", "stack.",
                                        ".", "stack.none", "id.x",  "bit"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_false(extract_symbols_member(symbols, "THREAD", wrong[i], &offset, &size));
}

static void check_paths(struct extract_symbols *symbols, const struct target *t, const char *words)
{
    char path[32];
    const uint64_t word = t->pointer, history = oracle_word(t, words, 11);
    const uint64_t stack = oracle_word(t, words, 6), element = oracle_word(t, words, 3);
    const struct {
        uint64_t offset;
        const char *path;
    } paths[] = {
        {0, "id"},
        {word + 1, "name"},
        {stack, "stack.base"},
        {stack + 2 * word, "stack.mark"},
        {stack + 2 * word + 1, "stack"}, // padding after the mark
        {oracle_word(t, words, 8), "left"},
        {oracle_word(t, words, 9) + 3, "middle"},
        {history + 2 * element + word, "history[2].size"},
        {oracle_word(t, words, 12) + 4, "grid[4]"},
    };

    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++) {
        assert_true(extract_symbols_member_at(symbols, "THREAD", paths[i].offset, path, 32));
        assert_string_equal(path, paths[i].path);
    }
    assert_false(extract_symbols_member_at(symbols, "THREAD", 1000, path, 32));
    assert_false(extract_symbols_member_at(symbols, "NOTHING", 0, path, 32));
    assert_false(extract_symbols_member_at(symbols, "THREAD", stack, path, 0));
    assert_false(extract_symbols_member_at(symbols, "THREAD", stack, path, 5));
    assert_string_equal(path, "");
    assert_true(extract_symbols_member_at(symbols, "THREAD", stack, path, 8));
    assert_string_equal(path, "stack"); // as many complete parts as fit
}

static void check_constants(const struct extract_symbols *symbols, const char *words, size_t length)
{
    struct extract_symbol symbol;
    char bytes[256];

    assert_true(length <= sizeof bytes);
    assert_true(extract_symbols_by_name(symbols, "oracle", &symbol));
    assert_int_equal(symbol.size, length);
    assert_int_equal(extract_symbols_read_constant(symbols, symbol.address, bytes, 256), length);
    assert_memory_equal(bytes, words, length);
    assert_int_equal(extract_symbols_read_constant(symbols, symbol.address + 8, bytes, 4), 4);
    assert_memory_equal(bytes, words + 8, 4);
    assert_true(extract_symbols_by_name(symbols, "message", &symbol));
    assert_int_equal(extract_symbols_read_constant(symbols, symbol.address, bytes, 10), 10);
    assert_string_equal(bytes, "read only");
    assert_true(extract_symbols_by_name(symbols, "number", &symbol)); // may change at run time
    assert_int_equal(extract_symbols_read_constant(symbols, symbol.address, bytes, 4), 0);
    assert_int_equal(extract_symbols_read_constant(symbols, UINT64_MAX, bytes, 4), 0);
}

static void test_types(void **state)
{
    (void)state;
    for (size_t i = 0; i < TARGETS; i++) {
        if (!built[i])
            continue;
        size_t length;
        char *words = read_file(target_file(&targets[i], "oracle"), &length);
        assert_int_equal(length, 64);
        struct extract_symbols *symbols = must_open(target_file(&targets[i], "elf"));
        if (HAS_DWARF) {
            check_sizes(symbols, &targets[i], words);
            check_members(symbols, &targets[i], words);
            check_paths(symbols, &targets[i], words);
        }
        check_constants(symbols, words, length);
        extract_symbols_close(symbols);
        free(words);
    }
}

// A build without libdw knows no lines and no types.
static void test_without_libdw(void **state)
{
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_place place;
    uint64_t size, offset;
    char path[8] = "x";

    (void)state;
    if (HAS_DWARF)
        skip();
    symbols = must_open("x86-static.elf");
    assert_true(extract_symbols_by_name(symbols, "work", &symbol));
    assert_false(extract_symbols_place(symbols, symbol.address, &place));
    assert_false(extract_symbols_type_size(symbols, "THREAD", &size));
    assert_false(extract_symbols_member(symbols, "THREAD", "id", &offset, &size));
    assert_false(extract_symbols_member_at(symbols, "THREAD", 0, path, sizeof path));
    assert_string_equal(path, "");
    extract_symbols_close(symbols);
}

// The programs have no debug information, or no names at all.
static void test_stripped(void **state)
{
    struct extract_symbols *symbols;
    struct extract_symbol symbol;
    struct extract_place place;
    uint64_t size, address;
    char bytes[4];

    (void)state;
    assert_true(run("strip -g -o nodebug.elf x86-static.elf && strip -o bare.elf x86-static.elf"));
    symbols = must_open("nodebug.elf");
    assert_true(extract_symbols_by_name(symbols, "work", &symbol));
    address = symbol.address;
    assert_false(extract_symbols_place(symbols, address, &place));
    assert_false(extract_symbols_type_size(symbols, "THREAD", &size));
    extract_symbols_close(symbols);
    symbols = must_open("bare.elf");
    assert_int_equal(extract_symbols_count(symbols), 0);
    assert_false(extract_symbols_by_name(symbols, "work", &symbol));
    assert_false(extract_symbols_by_address(symbols, address, &symbol, NULL, NULL));
    assert_int_equal(extract_symbols_read_constant(symbols, address, bytes, 4), 4);
    extract_symbols_close(symbols);
}

// ---- Hand computation ----

static void test_preferences(void **state)
{
    static const char text[] =
        ".text\n.globl big,_start\n"
        "big: .skip 16\n"   // big: +0, size 64, with all below inside
        "label: .skip 16\n" // +16: an unsized label inside of big
        ".type inner,@function\ninner: .skip 8\n.size inner,8\n" // +32: inside of big
        ".skip 24\n.type big,@function\n.size big,64\n"
        ".type _start,@function\n_start:\nalias_longer:\n" // +64: unsized
        ".skip 16\n"
        ".weak weak_a\n.globl strong_b\n.type weak_a,@object\n.type strong_b,@object\n"
        ".type local,@object\nlocal:\nbeside: weak_a:\nstrong_b: .skip 4\n" // +80: three of one
                                                                            // address
        ".size local,4\n.size weak_a,4\n.size strong_b,4\n"
        ".skip 12\nlast: .skip 8\n" // +96: up to the end of the section
        ".globl number\nnumber = 0x20\n";
    static const struct {
        uint64_t at;
        const char *name;
        uint64_t offset;
    } want[] = {
        {0, "big", 0},       {17, "big", 17},     {32, "inner", 0},  {39, "inner", 7},
        {40, "big", 40},     {63, "big", 63},     {64, "_start", 0}, {79, "_start", 15},
        {80, "strong_b", 0}, {83, "strong_b", 3}, {84, NULL, 0},     {95, NULL, 0},
        {96, "last", 0},     {103, "last", 7},    {104, NULL, 0},
    };
    struct extract_symbol symbol, base;
    uint64_t offset;

    (void)state;
    scratch_puts("hand.s", text);
    assert_true(run("gcc -nostdlib -static -Wl,--build-id=none -o hand.elf hand.s"));
    struct extract_symbols *symbols = must_open("hand.elf");
    assert_true(extract_symbols_by_name(symbols, "big", &base));
    for (size_t i = 0; i < sizeof want / sizeof *want; i++) {
        bool found =
            extract_symbols_by_address(symbols, base.address + want[i].at, &symbol, &offset, NULL);
        assert_int_equal(found, want[i].name != NULL);
        if (!found)
            continue;
        assert_string_equal(symbol.name, want[i].name);
        assert_int_equal(offset, want[i].offset);
    }
    assert_true(extract_symbols_by_name(symbols, "number", &symbol)); // a number, not an address
    assert_int_equal(symbol.address, 0x20);
    assert_false(extract_symbols_by_address(symbols, 0x20, &symbol, NULL, NULL));
    assert_false(extract_symbols_by_address(symbols, UINT64_MAX, &symbol, NULL, NULL));
    assert_false(extract_symbols_by_name(symbols, "bi", &symbol));
    assert_false(extract_symbols_by_name(symbols, "", &symbol));
    extract_symbols_close(symbols);
}

// A program is loaded at another address than its file says. The difference is whole pages, and
// only some programs can be moved.
static void test_moved(void **state)
{
    static const char text[] = ".globl _start\n.type _start, @function\n_start: nop\n"
                               ".size _start, . - _start\n";
    static const struct {
        const char *flags;
        uint64_t by, expected;
    } rows[] = {{"-static-pie", 0x7000, 0x7000},
                {"-static-pie", UINT64_C(0x555555554000), UINT64_C(0x555555554000)},
                {"-static-pie", 0x7010, 0}, // another program's entry point
                {"-static", 0x7000, 0}};
    (void)state;
    scratch_puts("moved.s", text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct extract_symbol was, is, found;
        uint64_t offset;
        assert_true(run("gcc -nostdlib %s -o moved.elf moved.s", rows[i].flags));
        struct extract_symbols *symbols = must_open("moved.elf");
        assert_true(extract_symbols_by_name(symbols, "_start", &was));
        assert_int_equal(extract_symbols_is_position_independent(symbols),
                         strcmp(rows[i].flags, "-static-pie") == 0);
        extract_symbols_move(symbols, was.address + rows[i].by);
        assert_true(extract_symbols_by_name(symbols, "_start", &is));
        assert_int_equal(is.address - was.address, rows[i].expected);
        assert_true(extract_symbols_by_address(symbols, is.address, &found, &offset, NULL));
        assert_string_equal(found.name, "_start");
        assert_int_equal(offset, 0);
        extract_symbols_close(symbols);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_readelf),
        cmocka_unit_test(test_addr2line),
        cmocka_unit_test(test_types),
        cmocka_unit_test(test_dropped_functions),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_preferences),
        cmocka_unit_test(test_without_libdw),
        cmocka_unit_test(test_padding),
        cmocka_unit_test(test_moved),
        cmocka_unit_test(test_trace_points),
        cmocka_unit_test(test_dropped_trace_points),
    };

    return cmocka_run_group_tests_name("symbols", tests, programs_make, scratch_remove);
}
