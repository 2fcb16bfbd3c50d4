// SPDX-License-Identifier: MIT
// tests: the programs that the tests of the symbols room read. The available compilers build them
// from C text for four machines, as NAME.elf and NAME.oracle in the scratch directory.
#ifndef TESTS_SYMBOLS_PROGRAMS_H
#define TESTS_SYMBOLS_PROGRAMS_H

#include "tests/unit/scratch.h"
#include <extract/symbols.h>
#include <sys/stat.h>

struct target {
    const char *name;
    const char *prefix; // prefix of the tools
    const char *compiler;
    const char *flags;
    enum extract_byte_order order;
    unsigned pointer;
    bool thumb;
};

static const struct target targets[] = {
    {"x86-static", "", "gcc", "-static -gdwarf-5", EXTRACT_LITTLE, 8, false},
    {"x86-pie", "", "gcc", "-fpie -pie -gdwarf-4", EXTRACT_LITTLE, 8, false},
    {"x86-dwarf64", "", "gcc", "-static -gdwarf-4 -gdwarf64", EXTRACT_LITTLE, 8, false},
    {"x86-compressed", "", "gcc", "-static -gdwarf-5 -gz", EXTRACT_LITTLE, 8, false},
    {"x86-units", "", "gcc", "-static -gdwarf-5 -fdebug-types-section", EXTRACT_LITTLE, 8, false},
    {"arm-thumb", "arm-none-eabi-", "gcc", "-mthumb -mcpu=cortex-m3 -gdwarf-5", EXTRACT_LITTLE, 4,
     true},
    {"arm-dwarf2", "arm-none-eabi-", "gcc", "-mcpu=arm7tdmi -gdwarf-2 -gstrict-dwarf",
     EXTRACT_LITTLE, 4, true},
    {"arm-big", "arm-none-eabi-", "gcc", "-mcpu=arm7tdmi -mbig-endian -gdwarf-3", EXTRACT_BIG, 4,
     true},
    {"riscv64", "riscv64-unknown-elf-", "gcc", "-gdwarf-4", EXTRACT_LITTLE, 8, false},
    {"m68k", "m68k-linux-gnu-", "gcc", "-mcpu=5208 -static -gdwarf-5", EXTRACT_BIG, 4, false},
    {"x86-points", "", "gcc", "-static -gdwarf-5 -DPOINTS", EXTRACT_LITTLE, 8, false},
    {"x86-clang", "", "clang", "-static -gdwarf-5", EXTRACT_LITTLE, 8, false},
};
#define TARGETS (sizeof targets / sizeof *targets)

// The types, and the compiler's own sizes and offsets of them in a section of its own.
static const char header_text[] = "typedef unsigned long ULONG;\n"
                                  "typedef unsigned char UCHAR;\n"
                                  "struct stack_tag { void *base; ULONG size; UCHAR mark; };\n"
                                  "union number { ULONG whole; UCHAR bytes[4]; };\n"
                                  "typedef struct THREAD_STRUCT {\n"
                                  "    ULONG id;\n"
                                  "    const char *name;\n"
                                  "    volatile struct stack_tag stack;\n"
                                  "    struct { short left; union { int middle; float real; }; };\n"
                                  "    unsigned bit : 5;\n"
                                  "    struct THREAD_STRUCT *next;\n"
                                  "    struct stack_tag history[3];\n"
                                  "    UCHAR grid[2][3];\n"
                                  "    UCHAR tail[];\n"
                                  "} THREAD;\n"
                                  "typedef const THREAD CONST_THREAD;\n"
                                  "struct only_declared;\n"
                                  "typedef struct later LATER;\n";

// A trace point as <trace.h> has it.
static const char point_header[] =
    "extern const volatile unsigned *volatile word;\n"
    "void record(int id, const void *data);\n"
    "extern inline __attribute__((gnu_inline, always_inline, artificial))\n"
    "void posix_trace_event(int id, const void *data)\n"
    "{\n"
    "    if (*word)\n"
    "        record(id, data);\n"
    "}\n";

static const char main_text[] =
    "#include \"types.h\"\n"
    "#ifdef POINTS\n"
    "#include \"point.h\"\n"
    "static const volatile unsigned off = 0;\n"
    "const volatile unsigned *volatile word = &off;\n"
    "#else\n"
    "#define posix_trace_event(id, data) (void)(data)\n"
    "#endif\n"
    "#define AT(t, m) __builtin_offsetof(t, m)\n"
    "const unsigned oracle[] __attribute__((section(\".oracle\"), used)) = {\n"
    "    sizeof(THREAD), sizeof(ULONG), sizeof(union number), sizeof(struct stack_tag),\n"
    "    AT(THREAD, id), AT(THREAD, name), AT(THREAD, stack), AT(THREAD, stack.size),\n"
    "    AT(THREAD, left), AT(THREAD, middle), AT(THREAD, next), AT(THREAD, history),\n"
    "    AT(THREAD, grid), AT(THREAD, tail), sizeof(void *), sizeof(struct stack_tag[3]) };\n"
    "int helper(int n);\n"
    "THREAD *current;\n"
    "CONST_THREAD *other;\n"
    "LATER *later;\n"
    "struct only_declared *opaque;\n"
    "union number number = { 5 };\n"
    "const char message[] = \"read only\";\n"
    "static int counter = 3;\n"
    "static int twice(int n)\n"
    "{\n"
    "    if (n > counter)\n"
    "        counter += helper(n);\n"
    "    return counter * 2;\n"
    "}\n"
    "__attribute__((noinline)) int work(int n)\n"
    "{\n"
    "    int sum = 0;\n"
    "    for (int i = 0; i < n; i++)\n"
    "        sum += twice(i);\n"
    "    posix_trace_event(n, &sum);\n"
    "    return sum;\n"
    "}\n"
    "__attribute__((weak)) int weak_one(void) { return 1; }\n"
    "void _start(void)\n"
    "{\n"
    "    work(4);\n"
    "    weak_one();\n"
    "    posix_trace_event(1, 0);\n"
    "}\n";

static const char helper_text[] = "#include \"types.h\"\n"
                                  "void record(int id, const void *data) {}\n"
                                  "struct later { ULONG one, two; };\n"
                                  "struct later the_later;\n"
                                  "static int counter;\n"
                                  "int helper(int n)\n"
                                  "{\n"
                                  "    counter += n;\n"
                                  "    return (int)the_later.two + counter;\n"
                                  "}\n";

static bool built[TARGETS];

// Whether the build has libdw, which supplies lines and types.
#ifdef EXTRACT_HAVE_DW
#define HAS_DWARF true
#else
#define HAS_DWARF false
#endif

// Runs a shell command in the scratch directory.
__attribute__((format(printf, 1, 2))) static bool run(const char *format, ...)
{
    char command[1024];
    va_list args;

    va_start(args, format);
    vsnprintf(command, sizeof command, format, args);
    va_end(args);
    return scratch_run(command);
}

// Returns the bytes of a file and a terminating NUL. The caller frees them.
static inline char *read_file(const char *name, size_t *length)
{
    struct stat facts;
    FILE *f = fopen(scratch_path(name), "rb");

    assert_non_null(f);
    assert_int_equal(fstat(fileno(f), &facts), 0);
    *length = (size_t)facts.st_size;
    char *bytes = malloc(*length + 1);
    assert_non_null(bytes);
    assert_int_equal(fread(bytes, 1, *length, f), *length);
    fclose(f);
    bytes[*length] = 0;
    return bytes;
}

// Returns the file name "NAME.ending" of a target. It is valid until the next call.
static inline const char *target_file(const struct target *t, const char *ending)
{
    static char name[64];

    snprintf(name, sizeof name, "%s.%s", t->name, ending);
    return name;
}

static inline struct extract_symbols *must_open(const char *name)
{
    struct extract_symbols *symbols;
    struct extract_error error = {0};

    if (extract_symbols_open(&symbols, scratch_path(name), &error) != EXTRACT_OK)
        fail_msg("%s: %s", name, error.why);
    return symbols;
}

// Builds target `i`. A missing compiler skips its targets; one that fails makes the test fail.
static bool build(size_t i)
{
    const struct target *t = &targets[i];

    if (!run("command -v %s%s", t->prefix, t->compiler))
        return true;
    built[i] = run("%s%s %s -nostdlib -ffreestanding -fno-stack-protector -O1 -Wl,-e,_start "
                   "-o %s.elf main.c helper.c && %sobjcopy -O binary -j .oracle %s.elf %s.oracle",
                   t->prefix, t->compiler, t->flags, t->name, t->prefix, t->name, t->name);
    return built[i];
}

// Returns whether the target of that name was built.
static inline bool has_target(const char *name)
{
    for (size_t i = 0; i < TARGETS; i++)
        if (strcmp(targets[i].name, name) == 0)
            return built[i];
    return false;
}

static int programs_make(void **state)
{
    if (scratch_make(state) != 0)
        return -1;
    scratch_puts("types.h", header_text);
    scratch_puts("point.h", point_header);
    scratch_puts("main.c", main_text);
    scratch_puts("helper.c", helper_text);
    for (size_t i = 0; i < TARGETS; i++)
        if (!build(i))
            return -1;
    return built[0] ? 0 : -1;
}

#endif
