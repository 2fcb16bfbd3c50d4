// SPDX-License-Identifier: MIT
// unit: dumps of CrashCatcher, binary and as text.
//
// Truth: written by hand, after the layout that memory/crashcatcher.c describes.
#include "memory/crashcatcher.h"
#include "tests/unit/scratch.h"

// Register i has the value 0x10 + i. Two regions, of 4 and of 6 bytes.
#define REGISTERS                                                                                  \
    "10000000110000001200000013000000\n14000000150000001600000017000000\n"                         \
    "18000000190000001A0000001B000000\n1C0000001D0000001E0000001F000000\n20000000\n"
#define STACKS  "0010002000200020"
#define REGIONS "0000002004000020\n01020304\n1000002016000020A0A1A2A3A4A5\n"
#define DUMP_3  "63430300\n00000000\n" REGISTERS STACKS "03000000\n" REGIONS
#define DUMP_2  "63430200\n00000000\n" REGISTERS "03000000\n" REGIONS

static enum extract_code add(struct extract_memory *memory, const void *bytes, size_t length,
                             struct extract_error *error)
{
    return extract_memory_add_crashcatcher(memory, scratch_write("dump", bytes, length), error);
}

static struct extract_memory *load_bytes(const void *bytes, size_t length)
{
    struct extract_memory *memory;
    struct extract_error error = {0};
    const char *kind;

    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    if (add(memory, bytes, length, &error))
        fail_msg("%s", error.why);
    assert_int_equal(extract_memory_detect(scratch_path("dump"), &kind, &error), EXTRACT_OK);
    assert_string_equal(kind, "crashcatcher");
    return memory;
}

static struct extract_memory *load(const char *text)
{
    return load_bytes(text, strlen(text));
}

static size_t to_bytes(const char *text, uint8_t *bytes)
{
    size_t length = 0;
    unsigned value;

    for (; *text; text += *text == '\n' ? 1 : 2)
        if (*text != '\n' && sscanf(text, "%2x", &value) == 1)
            bytes[length++] = (uint8_t)value;
    return length;
}

// Asserts that the memory has all of the dump above, and closes it.
static void assert_whole(struct extract_memory *memory, const char *remark)
{
    const struct extract_crashcatcher *registers = extract_crashcatcher_of(memory);

    assert_regions(memory, 2);
    assert_region(memory, 0, 0x20000000, 4);
    assert_bytes(memory, 0x20000000, "\1\2\3\4", 4);
    assert_region(memory, 1, 0x20000010, 6);
    assert_bytes(memory, 0x20000010, "\xA0\xA1\xA2\xA3\xA4\xA5", 6);
    assert_int_equal(extract_memory_byte_order(memory), EXTRACT_LITTLE);
    assert_int_equal(extract_memory_missing(memory), 0);
    for (unsigned i = 0; i < CRASHCATCHER_GENERAL; i++)
        assert_int_equal(registers->general[i], 0x10 + i);
    assert_int_equal(registers->handler_psr, 3);
    if (remark)
        assert_string_equal(extract_memory_remark(memory, 0), remark);
    assert_null(extract_memory_remark(memory, remark != NULL));
    extract_memory_close(memory);
}

static void versions_and_forms(void **state)
{
    (void)state;
    uint8_t bytes[256];
    struct extract_memory *memory = load(DUMP_3 "End of dump\n");

    assert_true(extract_crashcatcher_of(memory)->has_stacks);
    assert_int_equal(extract_crashcatcher_of(memory)->msp, 0x20001000);
    assert_int_equal(extract_crashcatcher_of(memory)->psp, 0x20002000);
    assert_whole(memory, NULL);
    memory = load(DUMP_2);
    assert_false(extract_crashcatcher_of(memory)->has_stacks);
    assert_whole(memory, NULL);
    assert_whole(load_bytes(bytes, to_bytes(DUMP_3, bytes)), NULL);
    assert_whole(load_bytes(bytes, to_bytes(DUMP_2, bytes)), NULL);
}

static void registers_of_the_fpu(void **state)
{
    (void)state;
    char text[1024] = "63430300\n01000000\n" REGISTERS STACKS "03000000\n";

    for (unsigned i = 0; i < CRASHCATCHER_FPU; i++)
        sprintf(text + strlen(text), "%02X00803F%s", i, i % 4 == 3 ? "\r\n" : "");
    strcat(text, "\n" REGIONS);
    struct extract_memory *memory = load(text);
    assert_true(extract_crashcatcher_of(memory)->has_fpu);
    for (unsigned i = 0; i < CRASHCATCHER_FPU; i++)
        assert_int_equal(extract_crashcatcher_of(memory)->fpu[i], 0x3F800000 + i);
    assert_whole(memory, NULL);
}

// Lines as logs of terminals have them. The start of the log is longer than what is looked at to
// detect other kinds.
static void text_among_other_lines(void **state)
{
    (void)state;
    char text[8192] = "";

    for (unsigned i = 0; i < 200; i++)
        strcat(text, "uart: sample 12 34\r\n");
    strcat(text,
           "deadbeef\r\nCRASH ENCOUNTERED\r\nEnable logging and press any key.\r\n\r\n"
           "63430300\r\n\r\n00000000\r\n" REGISTERS "0010002000200020  \r\n03000000\t\n" REGIONS
           "\r\nEnd of dump\r\nrebooting\r\nabcdef\r\n");
    assert_whole(load(text), NULL);
    // The time is before each line, in columns that shift.
    assert_whole(load("[9] x 63 43\n[9 s] boot\n[9.98] 63430300\n[9.99] 00000000\n"
                      "[10.0] 10000000110000001200000013000000\n"
                      "[10.1] 14000000150000001600000017000000\n[10.2]\n"
                      "[10.3] 18000000190000001a0000001b0000001c0000001d0000001e0000001f000000\n"
                      "[10.4] 20000000" STACKS "03000000\n[10.5] 000000200400002001020304\n"
                      "[10.6] 1000002016000020A0A1A2A3A4A5\n[10.7] retry 10\n[10.8] End of dump\n"),
                 NULL);
}

static void the_last_of_several(void **state)
{
    (void)state;
    uint8_t bytes[512];
    const char *other = "63430300\n00000000\n" REGISTERS STACKS "03000000\n"
                        "000000300400003001020304\n";
    size_t length = to_bytes(other, bytes);
    char text[1024];

    snprintf(text, sizeof text, "%sEnd of dump\nCRASH ENCOUNTERED\n%sEnd of dump\n", other, DUMP_3);
    assert_whole(load(text), "has 2 dumps; the last one, from line 12 on, is read");
    length += to_bytes(DUMP_3, bytes + length);
    assert_whole(load_bytes(bytes, length), "has 2 dumps; the last one is read");
}

static void the_handler_has_overflowed(void **state)
{
    (void)state;
    assert_whole(
        load(DUMP_3 "ACCE55ED\nEnd of dump\n"),
        "the stack of the fault handler overflowed while it wrote the dump: memory near it "
        "may be damaged");
}

static void what_it_lacks_is_named(void **state)
{
    (void)state;
    struct extract_memory *memory = load("63430300\n00000000\n" REGISTERS STACKS "03000000\n"
                                         "000000200001002001020304\nreset\n0506\n");

    assert_regions(memory, 1);
    assert_region(memory, 0, 0x20000000, 4);
    assert_int_equal(extract_memory_missing(memory), 0x100 - 4);
    assert_string_equal(extract_memory_remark(memory, 0),
                        "ends 252 bytes before the end of the region 0x20000000-0x200000ff: "
                        "0x20000004-0x200000ff is missing");
    extract_memory_close(memory);
    // A region that ends before it begins, and one that the dump ends in. Nothing else is lost.
    assert_whole(load(DUMP_3 "0400002000000020\n01020304\n"),
                 "no region begins at byte 114 of the dump: it and what follows are not read");
    assert_whole(load(DUMP_3 "04000020"),
                 "no region begins at byte 114 of the dump: it and what follows are not read");
    // Registers alone, and a region without bytes.
    memory = load("63430200\n00000000\n" REGISTERS "03000000\n0000002000000020\n");
    assert_regions(memory, 0);
    assert_int_equal(extract_crashcatcher_of(memory)->general[15], 0x1F);
    assert_null(extract_memory_remark(memory, 0));
    extract_memory_close(memory);
    // Regions that overlap: the first one has the byte.
    memory = load("63430200\n00000000\n" REGISTERS "03000000\n000000200400002001020304\n"
                  "0200002006000020AABBCCDD\n");
    assert_bytes(memory, 0x20000000, "\1\2\3\4\xCC\xDD", 6);
    extract_memory_close(memory);
}

static void assert_fails(const void *bytes, size_t length, enum extract_code code)
{
    struct extract_memory *memory;
    struct extract_error error = {0};

    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(add(memory, bytes, length, &error), code);
    assert_true(error.what[0] && error.why[0] && error.hint[0]);
    assert_regions(memory, 0);
    assert_null(extract_crashcatcher_of(memory));
    extract_memory_close(memory);
}

static void what_is_none(void **state)
{
    (void)state;
    uint8_t bytes[256];
    size_t length = to_bytes(DUMP_3, bytes);
    static const char *const texts[] = {"", "6343\n", "63430400\n00000000\n", "x63430300\n"};

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_fails(texts[i], strlen(texts[i]), EXTRACT_BAD);
    for (size_t cut = 8; cut < 88; cut++) // 8 + 17 * 4 + 3 * 4 bytes are all registers
        assert_fails(bytes, cut, EXTRACT_TRUNCATED);
    bytes[4] = 2; // an unknown flag
    assert_fails(bytes, length, EXTRACT_BAD);
    // A second dump has registers of its own.
    struct extract_memory *memory = load(DUMP_3);
    struct extract_error error;
    assert_int_equal(add(memory, DUMP_2, strlen(DUMP_2), &error), EXTRACT_USAGE);
    assert_whole(memory, NULL);
}

static enum extract_code load_once(void)
{
    struct extract_memory *memory;
    enum extract_code code = extract_memory_new_images(&memory, NULL);

    if (!code)
        code = extract_memory_add_crashcatcher(memory, scratch_path("dump"), NULL);
    extract_memory_close(memory);
    return code;
}

static void memory_is_short(void **state)
{
    (void)state;
    scratch_write("dump", DUMP_3 "ACCE55ED\n", strlen(DUMP_3 "ACCE55ED\n"));
    each_allocation_fails(load_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions_and_forms),
        cmocka_unit_test(registers_of_the_fpu),
        cmocka_unit_test(text_among_other_lines),
        cmocka_unit_test(the_last_of_several),
        cmocka_unit_test(the_handler_has_overflowed),
        cmocka_unit_test(what_it_lacks_is_named),
        cmocka_unit_test(what_is_none),
        cmocka_unit_test(memory_is_short),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
