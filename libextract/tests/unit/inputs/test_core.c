// SPDX-License-Identifier: MIT
// unit: ELF cores as memories.
//
// Truth: written by hand; the output of readelf, and what gdb itself reads; or a picture of a small
// address space, painted byte by byte.
#include "tests/unit/scratch.h"
#include "memory/core_dump.h"
#include "memory/memory_hooks.h"
#include <elf.h>

enum { EHDR32 = 52, EHDR64 = 64, PHDR32 = 32, PHDR64 = 56, CORE_ROOM = 1 << 16 };

// A core file under construction.
struct builder {
    uint8_t bytes[CORE_ROOM];
    size_t length;
    bool wide, big;
    unsigned programs;
};

static void put_at(struct builder *b, size_t at, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        b->bytes[at + (b->big ? bytes - 1 - i : i)] = (uint8_t)(value >> (8 * i));
    if (at + bytes > b->length)
        b->length = at + bytes;
}

static size_t phdr_at(const struct builder *b, unsigned i)
{
    return b->wide ? EHDR64 + PHDR64 * (size_t)i : EHDR32 + PHDR32 * (size_t)i;
}

// Starts a core whose header announces `programs` program headers. The offsets are those of the
// gABI, by hand.
static void begin(struct builder *b, bool wide, bool big, unsigned programs)
{
    unsigned w = wide ? 8 : 4;
    memset(b, 0, sizeof *b);
    b->wide = wide;
    b->big = big;
    memcpy(b->bytes, "\177ELF", 4);
    b->bytes[4] = wide ? 2 : 1;
    b->bytes[5] = big ? 2 : 1;
    b->bytes[6] = 1;
    put_at(b, 16, 4, 2); // ET_CORE
    put_at(b, 18, 40, 2);
    put_at(b, 20, 1, 4);
    put_at(b, 24 + w, wide ? EHDR64 : EHDR32, w);         // e_phoff
    put_at(b, 24 + 3 * w + 6, wide ? PHDR64 : PHDR32, 2); // e_phentsize
    put_at(b, 24 + 3 * w + 8, programs, 2);
    put_at(b, wide ? EHDR64 - 2 : EHDR32 - 2, 0, 2);
    if (programs != PN_XNUM && programs)
        put_at(b, phdr_at(b, programs) - 1, 0, 1);
}

static void phdr(struct builder *b, uint32_t type, uint64_t offset, uint64_t address,
                 uint64_t file_bytes, uint64_t memory_bytes)
{
    size_t at = phdr_at(b, b->programs++);
    unsigned w = b->wide ? 8 : 4;
    put_at(b, at, type, 4);
    at += w;
    put_at(b, at, offset, w);
    put_at(b, at + w, address, w);
    put_at(b, at + 3 * w, file_bytes, w);
    put_at(b, at + 4 * w, memory_bytes, w);
}

// Appends a segment and its bytes to the file.
static void segment(struct builder *b, uint32_t type, uint64_t address, const void *bytes,
                    size_t length, uint64_t memory_bytes)
{
    phdr(b, type, b->length, address, length, memory_bytes);
    memcpy(b->bytes + b->length, bytes, length);
    b->length += length;
}

static enum extract_code try_core(const struct builder *b, struct extract_memory **memory,
                                  struct extract_error *error)
{
    const char *path = scratch_write("core", b->bytes, b->length);
    return extract_memory_open_core(memory, path, error);
}

static struct extract_memory *open_core(const struct builder *b)
{
    struct extract_memory *memory = NULL;
    assert_int_equal(try_core(b, &memory, NULL), EXTRACT_OK);
    return memory;
}

static void assert_fails(const struct builder *b, enum extract_code code, const char *word)
{
    struct extract_memory *memory = NULL;
    struct extract_error error = {0};
    assert_int_equal(try_core(b, &memory, &error), code);
    assert_null(memory);
    assert_non_null(strstr(error.what, "core"));
    if (!strstr(error.why, word))
        fail_msg("\"%s\" does not say \"%s\"", error.why, word);
    assert_true(error.hint[0] != 0);
}

static void big_endian_core_byte_by_byte(void **state)
{
    static const uint8_t bytes[] = {
        0x7f, 'E', 'L', 'F',  1,    2,    1,    0,   0,    0, 0,    0,
        0,    0,   0,   0,                         // ident: 32 bit, big-endian
        0,    4,   0,   4,    0,    0,    0,    1, // core, EM_68K, version
        0,    0,   0,   0,    0,    0,    0,    52,  0,    0, 0,    0,
        0,    0,   0,   0,                                             // entry, phoff, shoff, flags
        0,    52,  0,   32,   0,    2,    0,    40,  0,    0, 0,    0, // sizes; 2 program headers
        0,    0,   0,   4,    0,    0,    0,    116, 0,    0, 0,    0,
        0,    0,   0,   0, // note at 116 ...
        0,    0,   0,   3,    0,    0,    0,    0,   0,    0, 0,    0,
        0,    0,   0,   1, // ... of 3 bytes
        0,    0,   0,   1,    0,    0,    0,    119, 0x40, 0, 0x10, 0,
        0,    0,   0,   0, // load from 119 to 0x40001000
        0,    0,   0,   4,    0,    0,    1,    0,   0,    0, 0,    6,
        0,    0,   0,   1, // 4 bytes of 256
        'n',  'o', 't', 0xde, 0xad, 0xbe, 0xef,
    };
    struct extract_memory *memory = NULL;
    const char *path = scratch_write("be", bytes, sizeof bytes);
    size_t got = 0;
    uint8_t buffer[8];
    (void)state;
    assert_int_equal(extract_memory_open_core(&memory, path, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_byte_order(memory), EXTRACT_BIG);
    assert_regions(memory, 1);
    assert_region(memory, 0, 0x40001000, 4);
    assert_bytes(memory, 0x40001000, "\xde\xad\xbe\xef", 4);
    assert_int_equal(extract_memory_read(memory, 0x40001002, buffer, 8, &got, NULL),
                     EXTRACT_UNREADABLE);
    assert_int_equal(got, 2); // the other 252 bytes are a hole, not zeros
    assert_int_equal(extract_memory_missing(memory), 0);
    const struct extract_core *core = extract_core_of(memory);
    assert_int_equal(core->elf.machine, EM_68K);
    assert_false(core->elf.wide);
    assert_int_equal(core->note_count, 1);
    assert_int_equal(core->notes[0].length, 3);
    assert_memory_equal(core->notes[0].bytes, "not", 3);
    extract_memory_close(memory);
}

static void every_class_and_order_is_read(void **state)
{
    static struct builder b;
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        begin(&b, kind & 1, kind & 2, 3);
        segment(&b, PT_LOAD, 0x20001000, "second", 6, 6);
        segment(&b, PT_LOAD, 0x20000000, "first", 5, 0x100);
        segment(&b, PT_LOAD, 0x30000000, "", 0, 0x100);
        struct extract_memory *memory = open_core(&b);
        assert_int_equal(extract_memory_byte_order(memory),
                         kind & 2 ? EXTRACT_BIG : EXTRACT_LITTLE);
        assert_regions(memory, 2);
        assert_region(memory, 0, 0x20000000, 5);
        assert_region(memory, 1, 0x20001000, 6);
        assert_bytes(memory, 0x20000000, "first", 5);
        assert_bytes(memory, 0x20001000, "second", 6);
        assert_int_equal(extract_core_of(memory)->elf.machine, EM_ARM);
        assert_int_equal(extract_core_of(memory)->elf.wide, kind & 1);
        extract_memory_close(memory);
    }
}

static void first_segment_wins_where_they_overlap(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, false, false, 5);
    segment(&b, PT_LOAD, 0x1004, "AAAA", 4, 4);
    segment(&b, PT_LOAD, 0x1000, "bbbbbbbbbbbb", 12, 12); // around the first
    segment(&b, PT_LOAD, 0x100a, "cccc", 4, 4);           // over the end of the second
    segment(&b, PT_LOAD, 0x1005, "dd", 2, 2);             // inside the first: never seen
    segment(&b, PT_LOAD, 0x1100, "", 0, 0x100);           // a hole hides nothing
    struct extract_memory *memory = open_core(&b);
    assert_regions(memory, 4);
    assert_region(memory, 0, 0x1000, 4);
    assert_region(memory, 1, 0x1004, 4);
    assert_region(memory, 2, 0x1008, 4);
    assert_region(memory, 3, 0x100c, 2);
    assert_bytes(memory, 0x1000, "bbbbAAAAbbbbcc", 14);
    extract_memory_close(memory);
}

// Compares 40 segments at random addresses in a range of 256 with a picture of that range.
static void assert_like_picture(unsigned *seed)
{
    static struct builder b;
    int picture[256], got_picture[256];
    memset(picture, -1, sizeof picture);
    memset(got_picture, -1, sizeof got_picture);
    begin(&b, true, false, 40);
    for (int i = 0; i < 40; i++) {
        uint8_t bytes[32];
        size_t start = (size_t)rand_r(seed) % 240, length = (size_t)rand_r(seed) % 16;
        for (size_t n = 0; n < sizeof bytes; n++)
            bytes[n] = (uint8_t)rand_r(seed);
        for (size_t at = start; at < start + length; at++)
            picture[at] = picture[at] < 0 ? bytes[at - start] : picture[at];
        // The picture ends at the last address of all.
        segment(&b, PT_LOAD, UINT64_MAX - 255 + start, bytes, length, length);
    }
    struct extract_memory *memory = open_core(&b);
    struct extract_region region;
    for (size_t i = 0; extract_memory_region(memory, i, &region); i++)
        for (uint64_t n = 0; n < region.length; n++) {
            uint8_t byte = 0;
            size_t got;
            extract_memory_read(memory, region.address + n, &byte, 1, &got, NULL);
            got_picture[(uint8_t)(region.address + n)] = byte;
        }
    assert_memory_equal(picture, got_picture, sizeof picture);
    extract_memory_close(memory);
}

static void overlaps_match_a_painted_picture(void **state)
{
    unsigned seed = 42;
    (void)state;
    for (int round = 0; round < 300; round++)
        assert_like_picture(&seed);
}

static void addresses_do_not_go_round(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, false, true, 1);
    segment(&b, PT_LOAD, 0xfffffffc, "12345678", 8, 8);
    struct extract_memory *memory = open_core(&b);
    assert_regions(memory, 1);
    assert_region(memory, 0, 0xfffffffc, 4);
    extract_memory_close(memory);
    begin(&b, true, true, 2);
    segment(&b, PT_LOAD, UINT64_MAX - 1, "12345678", 8, UINT64_MAX);
    segment(&b, PT_LOAD, 0, "x", 1, 1);
    memory = open_core(&b);
    assert_regions(memory, 2);
    assert_region(memory, 0, 0, 1);
    assert_region(memory, 1, UINT64_MAX - 1, 2);
    assert_bytes(memory, UINT64_MAX - 1, "12", 2);
    extract_memory_close(memory);
}

static void huge_claims_are_bounded_by_the_file(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, true, false, 5);
    phdr(&b, PT_LOAD, UINT64_MAX, 0x1000, 16, 16);
    phdr(&b, PT_LOAD, 0, 0x100000, UINT64_MAX, UINT64_MAX);
    phdr(&b, PT_LOAD, UINT64_MAX - 7, 0x2000, 16, 16);
    phdr(&b, PT_NOTE, UINT64_MAX, 0, UINT64_MAX, 0);
    phdr(&b, PT_NOTE, 60, 0, UINT64_MAX, 0);
    struct extract_memory *memory = open_core(&b);
    uint64_t size = 64 + 5 * 56;
    assert_regions(memory, 1);
    assert_region(memory, 0, 0x100000, size);
    assert_bytes(memory, 0x100000, b.bytes, size);
    // The segment extends to the last address, and the file contains only `size` bytes. Each of two
    // other segments lacks 16.
    assert_int_equal(extract_memory_missing(memory), UINT64_MAX - 0x100000 + 1 - size + 32);
    const struct extract_core *core = extract_core_of(memory);
    assert_int_equal(core->note_count, 2);
    assert_int_equal(core->notes[0].length, 0);
    assert_int_equal(core->notes[1].length, size - 60);
    extract_memory_close(memory);
    begin(&b, true, false, 3);
    phdr(&b, PT_LOAD, 1 << 20, 0, UINT64_MAX, UINT64_MAX);
    phdr(&b, PT_LOAD, 1 << 20, 0, UINT64_MAX, UINT64_MAX);
    segment(&b, PT_LOAD, 0, "x", 1, 1);
    memory = open_core(&b);
    assert_int_equal(extract_memory_missing(memory), UINT64_MAX); // the greatest value there is
    extract_memory_close(memory);
}

static void file_bytes_beyond_memory_bytes_are_not_memory(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, false, false, 1);
    segment(&b, PT_LOAD, 0x1000, "12345678", 8, 3);
    struct extract_memory *memory = open_core(&b);
    assert_region(memory, 0, 0x1000, 3);
    extract_memory_close(memory);
}

static size_t held(size_t length, size_t offset, size_t bytes)
{
    size_t rest = length > offset ? length - offset : 0;
    return rest < bytes ? rest : bytes;
}

static void every_truncation_is_honest(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, false, true, 3);
    segment(&b, PT_NOTE, 0, "note", 4, 0);
    segment(&b, PT_LOAD, 0x1000, "first segment", 13, 0x100);
    segment(&b, PT_LOAD, 0x2000, "second", 6, 6);
    size_t whole = b.length, first = whole - 19, second = whole - 6;
    for (b.length = 0; b.length <= whole; b.length++) {
        size_t bytes[2] = {held(b.length, first, 13), held(b.length, second, 6)};
        if (b.length < 6) {
            assert_fails(&b, EXTRACT_BAD, "not an ELF");
            continue;
        }
        if (!bytes[0]) {
            assert_fails(&b, EXTRACT_TRUNCATED, "before the first byte of memory");
            continue;
        }
        struct extract_memory *memory = open_core(&b);
        assert_regions(memory, bytes[1] ? 2 : 1);
        assert_region(memory, 0, 0x1000, bytes[0]);
        assert_bytes(memory, 0x1000, "first segment", bytes[0]);
        if (bytes[1])
            assert_bytes(memory, 0x2000, "second", bytes[1]);
        assert_int_equal(extract_memory_missing(memory), whole - b.length);
        extract_memory_close(memory);
    }
}

static void what_is_no_core_is_refused(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, false, false, 1);
    segment(&b, PT_LOAD, 0x1000, "x", 1, 1);
    put_at(&b, 16, 2, 2);
    assert_fails(&b, EXTRACT_BAD, "not a core");
    put_at(&b, 16, 4, 2);
    put_at(&b, 42, 31, 2); // e_phentsize
    assert_fails(&b, EXTRACT_BAD, "too small");
    put_at(&b, 42, 0, 2);
    assert_fails(&b, EXTRACT_BAD, "too small");
    put_at(&b, 42, 32, 2);
    put_at(&b, 28, 0xffffffff, 4); // e_phoff
    assert_fails(&b, EXTRACT_TRUNCATED, "before the first byte of memory");
    b.bytes[4] = 3;
    assert_fails(&b, EXTRACT_BAD, "not an ELF");
    b.bytes[4] = 1;
    b.bytes[5] = 0;
    assert_fails(&b, EXTRACT_BAD, "not an ELF");
    begin(&b, false, false, 0);
    assert_fails(&b, EXTRACT_BAD, "holds no memory");
    begin(&b, true, false, 1);
    segment(&b, PT_LOAD, 0x1000, "", 0, 0x1000);
    assert_fails(&b, EXTRACT_BAD, "holds no memory");
}

static void larger_program_headers_are_stepped_over(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, false, false, 1);
    phdr(&b, PT_LOAD, 1, 0x1000, 3, 3);
    put_at(&b, 42, 40, 2); // e_phentsize; the file ends 8 bytes before the second one does
    put_at(&b, 44, 2, 2);  // e_phnum
    memcpy(b.bytes + EHDR32 + 40, b.bytes + EHDR32, PHDR32);
    put_at(&b, EHDR32 + 40 + 8, 0x2000, 4);
    b.length = EHDR32 + 40 + PHDR32;
    struct extract_memory *memory = open_core(&b);
    assert_regions(memory, 2);
    assert_bytes(memory, 0x1000, "ELF", 3);
    assert_bytes(memory, 0x2000, "ELF", 3);
    extract_memory_close(memory);
}

static void number_of_segments_may_be_in_a_section(void **state)
{
    static struct builder b;
    (void)state;
    for (unsigned wide = 0; wide < 2; wide++) {
        begin(&b, wide, false, PN_XNUM);
        for (unsigned i = 0; i < 3; i++)
            phdr(&b, PT_LOAD, 1, 0x1000 * (i + 1), 3, 3);
        size_t section = b.length;
        put_at(&b, wide ? 40 : 32, section, wide ? 8 : 4); // e_shoff
        put_at(&b, section + (wide ? 44 : 28), 2, 4);      // sh_info: the third one does not count
        struct extract_memory *memory = open_core(&b);
        assert_regions(memory, 2);
        assert_bytes(memory, 0x2000, "ELF", 3);
        extract_memory_close(memory);
        b.length = section + (wide ? 44 : 28) + 3; // cut off: the file's end limits the headers
        memory = open_core(&b);
        assert_region(memory, 2, 0x3000, 3);
        extract_memory_close(memory);
    }
}

// ---- where the program was loaded ----

// Appends a note. Its name and its bytes are each padded to a word.
static size_t put_note(struct builder *b, const char *name, uint32_t type, uint32_t length)
{
    size_t size = strlen(name) + 1, at = b->length;
    put_at(b, at, size, 4);
    put_at(b, at + 4, length, 4);
    put_at(b, at + 8, type, 4);
    memcpy(b->bytes + at + 12, name, size);
    at += 12 + (size + 3) / 4 * 4;
    b->length = at + (length + 3) / 4 * 4;
    return at;
}

// Appends an auxiliary vector of `count` pairs. AT_NULL is only added if it is among them.
static void put_vector(struct builder *b, const char *name, uint32_t type,
                       const uint64_t (*pairs)[2], unsigned count)
{
    unsigned w = b->wide ? 8 : 4;
    size_t at = put_note(b, name, type, 2 * w * count);
    for (unsigned i = 0; i < count; i++) {
        put_at(b, at + 2 * w * i, pairs[i][0], w);
        put_at(b, at + 2 * w * i + w, pairs[i][1], w);
    }
}

static const uint64_t vector[][2] = {{AT_PHDR, 0x1040}, {AT_ENTRY, 0x12345678}, {AT_NULL, 0}};

// Starts a core with a segment of memory and one of notes, which the caller appends.
static void begin_notes(struct builder *b, bool wide, bool big)
{
    begin(b, wide, big, 2);
    segment(b, PT_LOAD, 0x1000, "memory", 6, 6);
    phdr(b, PT_NOTE, b->length, 0, 0, 0);
}

// Ends the notes, and opens the core.
static struct extract_memory *end_notes(struct builder *b)
{
    unsigned w = b->wide ? 8 : 4;
    size_t at = phdr_at(b, 1) + w,
           start = (size_t)(b->wide ? EHDR64 + 2 * PHDR64 : EHDR32 + 2 * PHDR32) + 6;
    put_at(b, at + 3 * w, b->length - start, w);
    return open_core(b);
}

static void check_entry(struct builder *b, bool found, uint64_t expected)
{
    struct extract_memory *memory = end_notes(b);
    uint64_t entry = 0;
    assert_int_equal(extract_core_entry(extract_core_of(memory), &entry), found);
    assert_int_equal(entry, expected);
    extract_memory_close(memory);
}

static void entry_is_that_of_the_auxiliary_vector(void **state)
{
    static struct builder b;
    (void)state;
    for (unsigned i = 0; i < 4; i++) {
        begin_notes(&b, i & 1, i & 2);
        put_note(&b, "CORE", NT_PRSTATUS, 7);
        put_note(&b, "GDB", 0xff000000, 1);
        put_vector(&b, "CORE", NT_AUXV, vector, 3);
        put_note(&b, "CORE", NT_FPREGSET, 0);
        check_entry(&b, true, 0x12345678);
    }
    begin_notes(&b, true, false);
    put_vector(&b, "CORE", NT_AUXV, (const uint64_t[][2]){{AT_ENTRY, UINT64_MAX}}, 1);
    check_entry(&b, true, UINT64_MAX);
}

static void entry_is_not_guessed(void **state)
{
    static const uint64_t behind_the_end[][2] = {{AT_NULL, 0}, {AT_ENTRY, 1}};
    static struct builder b;
    (void)state;
    begin_notes(&b, true, false); // no note
    check_entry(&b, false, 0);
    begin_notes(&b, true, false); // notes of another owner or type
    put_vector(&b, "QEMU", NT_AUXV, vector, 3);
    put_vector(&b, "CORE", NT_PRPSINFO, vector, 3);
    check_entry(&b, false, 0);
    begin_notes(&b, true, false); // a vector without the entry point
    put_vector(&b, "CORE", NT_AUXV, vector, 1);
    check_entry(&b, false, 0);
    begin_notes(&b, true, false);
    put_vector(&b, "CORE", NT_AUXV, behind_the_end, 2);
    check_entry(&b, false, 0);
}

// The notes end anywhere, and announce every kind of length.
static void entry_in_damaged_notes(void **state)
{
    static const uint32_t lengths[] = {0, 1, 4, 16, 100, 0x7fffffff, 0xfffffff0, 0xffffffff};
    static struct builder b;
    (void)state;
    begin_notes(&b, false, true);
    put_note(&b, "CORE", NT_PRSTATUS, 5);
    size_t first = b.length;
    put_vector(&b, "CORE", NT_AUXV, vector, 3);
    struct builder whole = b;
    for (size_t length = first; length <= whole.length; length++) {
        b = whole;
        b.length = length;
        bool found = length == whole.length;
        check_entry(&b, found, found ? 0x12345678 : 0);
    }
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        for (unsigned part = 0; part < 2; part++) {
            uint64_t entry;
            b = whole;
            put_at(&b, first + 4 * part, lengths[i], 4);
            struct extract_memory *memory = end_notes(&b);
            bool found = extract_core_entry(extract_core_of(memory), &entry);
            assert_int_equal(found, part == 1 && lengths[i] >= 16 && lengths[i] < 25);
            extract_memory_close(memory);
        }
}

static bool has_gdb(void)
{
    return scratch_run("command -v gdb && command -v readelf");
}

// The core is that of a real process.
//
// Truth: what gdb reads at its stack pointer.
static void core_of_gdb_is_what_gdb_reads(void **state)
{
    struct extract_memory *memory = NULL;
    struct extract_region region;
    char line[64] = "";
    uint8_t stack[512];
    (void)state;
    if (!has_gdb() ||
        !scratch_run("timeout 60 gdb -nx -batch -ex 'set startup-with-shell off' -ex starti "
                     "-ex 'generate-core-file live.core' "
                     "-ex 'dump binary memory stack.bin $sp $sp+512' "
                     "-ex 'shell printf \"SP=\" >sp' -ex 'pipe printf \"%lx\\n\", $sp | cat >>sp' "
                     "-ex kill /bin/true </dev/null && test -s stack.bin"))
        skip();
    FILE *file = fopen(scratch_path("stack.bin"), "rb");
    assert_int_equal(fread(stack, 1, sizeof stack, file), sizeof stack);
    fclose(file);
    file = fopen(scratch_path("sp"), "r");
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    assert_int_equal(extract_memory_open_core(&memory, scratch_path("live.core"), NULL),
                     EXTRACT_OK);
    assert_bytes(memory, strtoull(line + 3, NULL, 16), stack, sizeof stack);
    assert_true(extract_core_of(memory)->note_count > 0);
    // Take "LOAD offset vaddr paddr filesz ..." of readelf, without segments that contain no bytes.
    assert_true(scratch_run("readelf -lW live.core | awk '$1 == \"LOAD\" && $5 !~ /^0x0*$/ "
                            "{print $3, $5}' | sort >loads"));
    file = fopen(scratch_path("loads"), "r");
    size_t count = 0;
    for (; fgets(line, sizeof line, file); count++) {
        char *rest;
        assert_true(extract_memory_region(memory, count, &region));
        assert_int_equal(region.address, strtoull(line, &rest, 16));
        assert_int_equal(region.length, strtoull(rest, NULL, 16));
    }
    fclose(file);
    assert_true(count > 2);
    assert_regions(memory, count);
    extract_memory_close(memory);
}

static enum extract_code attempt_core(void)
{
    struct extract_memory *memory = NULL;
    struct extract_error error;
    enum extract_code code = extract_memory_open_core(&memory, scratch_path("core"), &error);
    extract_memory_close(memory);
    return code;
}

static void allocations_may_fail(void **state)
{
    static struct builder b;
    (void)state;
    begin(&b, true, true, 3);
    segment(&b, PT_NOTE, 0, "note", 4, 0);
    segment(&b, PT_LOAD, 0x1000, "123456", 6, 6);
    segment(&b, PT_LOAD, 0x1003, "123456", 6, 6);
    extract_memory_close(open_core(&b));
    each_allocation_fails(attempt_core);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(big_endian_core_byte_by_byte),
        cmocka_unit_test(every_class_and_order_is_read),
        cmocka_unit_test(first_segment_wins_where_they_overlap),
        cmocka_unit_test(overlaps_match_a_painted_picture),
        cmocka_unit_test(addresses_do_not_go_round),
        cmocka_unit_test(huge_claims_are_bounded_by_the_file),
        cmocka_unit_test(file_bytes_beyond_memory_bytes_are_not_memory),
        cmocka_unit_test(every_truncation_is_honest),
        cmocka_unit_test(what_is_no_core_is_refused),
        cmocka_unit_test(larger_program_headers_are_stepped_over),
        cmocka_unit_test(number_of_segments_may_be_in_a_section),
        cmocka_unit_test(entry_is_that_of_the_auxiliary_vector),
        cmocka_unit_test(entry_is_not_guessed),
        cmocka_unit_test(entry_in_damaged_notes),
        cmocka_unit_test(core_of_gdb_is_what_gdb_reads),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
