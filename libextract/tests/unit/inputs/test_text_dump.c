// SPDX-License-Identifier: MIT
// unit: dumps of memory as text.
//
// Truth: the bytes 0 to 31 and 48 to 79, and texts that were written by hand as the tools print
// them; those of xxd, hexdump, od and GDB were compared with their output.
#include "tests/unit/scratch.h"

static enum extract_code add(const char *text, const struct extract_text_options *options,
                             struct extract_memory **memory, struct extract_error *error)
{
    *error = (struct extract_error){.code = EXTRACT_OK};
    assert_int_equal(extract_memory_new_images(memory, NULL), EXTRACT_OK);
    return extract_memory_add_text(*memory, scratch_puts("dump", text), options, error);
}

// Asserts that a text is recognized and has bytes that begin with 0x42 0x54 0x58 0x54.
static struct extract_memory *load(const char *text, uint64_t address, size_t length)
{
    static const uint8_t bytes[] = {0x42, 0x54, 0x58, 0x54, 0xff, 0xff, 0xff, 0xff,
                                    0xe8, 0x31, 0x00, 0x20, 0x41, 0x20, 0x62, 0x00,
                                    0x00, 0x00, 0x20, 0x00, 0x30, 0x31, 0x32, 0x33};
    struct extract_memory *memory;
    struct extract_error error;
    const char *kind;

    if (add(text, NULL, &memory, &error))
        fail_msg("%s in %s", error.why, text);
    assert_int_equal(extract_memory_detect(scratch_path("dump"), &kind, &error), EXTRACT_OK);
    assert_string_equal(kind, "text");
    assert_true(length <= sizeof bytes);
    assert_region(memory, 0, address, length);
    assert_bytes(memory, address, bytes, length);
    return memory;
}

static void refuse(const char *text, enum extract_code code, const char *word)
{
    struct extract_memory *memory;
    struct extract_error error;

    assert_int_equal(add(text, NULL, &memory, &error), code);
    if (!strstr(error.why, word))
        fail_msg("\"%s\" is not in \"%s\"", word, error.why);
    extract_memory_close(memory);
}

static void debuggers(void **state)
{
    static const char *const texts[] = {
        "> mdw 0x200031e8 6\r\n0x200031e8: 54585442 ffffffff 200031e8 00622041 \r\n"
        "0x200031f8: 00200000 33323130 \r\n> ",
        "0x200031e8: 5442 5458 ffff ffff 31e8 2000 2041 0062 \n"
        "0x200031f8: 0000 0020 3130 3332 \n",
        "0x200031e8: 42 54 58 54 ff ff ff ff e8 31 00 20 41 20 62 00 \n"
        "0x200031f8: 00 00 20 00 30 31 32 33 \n",
        "0x200031e8: ffffffff54585442 00622041200031e8\n0x200031f8: 3332313000200000\n",
        "(gdb) x/6xw 0x200031e8\n0x200031e8 "
        "<ring>:\t0x54585442\t0xffffffff\t0x200031e8\t0x00622041\n"
        "0x200031f8 <a::b(int, c<d>)+16>:\t0x00200000\t0x33323130\n(gdb) q\n",
        "0x200031e8:\t0x42\t0x54\t0x58\t0x54\t0xff\t0xff\t0xff\t0xff\n"
        "0x200031f0:\t0xe8\t0x31\t0x00\t0x20\t0x41\t0x20\t0x62\t0x00\n"
        "0x200031f8:\t0x00\t0x00\t0x20\t0x00\t0x30\t0x31\t0x32\t0x33\n",
        "J-Link>mem32 200031E8,6\n200031E8 = 54585442 FFFFFFFF 200031E8 00622041 \n"
        "200031F8 = 00200000 33323130 \n",
        "200031E8 = 5442 5458 FFFF FFFF 31E8 2000 2041 0062 \n200031F8 = 0000 0020 3130 3332 \n",
        "200031E8 = 42 54 58 54 FF FF FF FF E8 31 00 20 41 20 62 00  BTXT.....1. A b.\n"
        "200031F8 = 00 00 20 00 30 31 32 33  .. .0123\n",
        "[12:00:01 x] 0x200031e8: 54585442 ffffffff\n[12:00:01 x] 0x200031f0: 200031e8 00622041\n"
        "[12:00:02 x] 0x200031f8: 00200000 33323130\n",
        "Address    0 - 3    4 - 7\n0x200031E8  42545854 FFFFFFFF E8310020 41206200  BTXT.....1. A "
        "b.\n"
        "0x200031F8  00002000 30313233  .. .0123\n",
        "1651 1 200031e8 0 6\n0x54585442\n0xFFFFFFFF\n0x200031E8\n0x00622041\n0x00200000\n"
        "0x33323130\n",
        // The byte order mark of UTF-8.
        "\xef\xbb\xbf"
        "0x200031e8: 54585442 ffffffff 200031e8 00622041 \r\n0x200031f8: 00200000 33323130 \r\n",
        "\xef\xbb\xbf"
        "1651 1 200031e8 0 6\n0x54585442\n0xFFFFFFFF\n0x200031E8\n0x00622041\n0x00200000\n"
        "0x33323130\n"};
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        extract_memory_close(load(texts[i], 0x200031e8, 24));
}

static void tools(void **state)
{
    static const char *const texts[] = {
        "200031e8: 4254 5854 ffff ffff e831 0020 4120 6200  BTXT.....1. A b.\n"
        "200031f8: 0000 2000 3031 3233                      .. .0123\n",
        "200031e8: 54585442 ffffffff 200031e8 00622041  BTXT.....1. A b.\n"
        "200031f8: 00200000 33323130                    .. .0123\n",
        "200031e8  42 54 58 54 ff ff ff ff  e8 31 00 20 41 20 62 00  |BTXT.....1. A b.|\n"
        "200031f8  00 00 20 00 30 31 32 33                           |.. .0123|\n20003200\n",
        "200031e8 5442 5458 ffff ffff 31e8 2000 2041 0062\n200031f8 0000 0020 3130 "
        "3332\n20003200\n",
        "4000030750 54585442 ffffffff 200031e8 00622041\n"
        "4000030770 00200000 33323130\n"};
    struct extract_memory *memory;
    struct extract_error error;
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        extract_memory_close(load(texts[i], 0x200031e8, 24));
    // A group that is not complete; what looks like bytes is the column.
    extract_memory_close(load("00001000: 4254 5854  BTXT\n00001004: ffff ffff  ....\n"
                              "00001008: e8         .\n",
                              0x1000, 9));
    extract_memory_close(load("00001000: 42 54 58 54 ff ff ff ff e8 31 00 20  BTXT.....1. \n"
                              "0000100c: 41 20 62  A b\n",
                              0x1000, 15));
    // Exported without addresses.
    const char *bytes = "42 54 58 54 FF FF FF FF E8 31 00 20 41 20 62 00\n00 00 20 00\n";
    struct extract_text_options options = {
        .size = sizeof options, .has_address = true, .address = 0x30000000};
    refuse(bytes, EXTRACT_USAGE, "without addresses");
    assert_int_equal(add(bytes, &options, &memory, &error), EXTRACT_OK);
    assert_region(memory, 0, 0x30000000, 20);
    extract_memory_close(memory);
    // The address of the option is the one of the first byte.
    assert_int_equal(add(texts[2], &options, &memory, &error), EXTRACT_OK);
    assert_region(memory, 0, 0x30000000, 24);
    extract_memory_close(memory);
}

static void repeated_lines(void **state)
{
    uint8_t bytes[64] = {1, 1, 1, 1};
    struct extract_memory *memory;
    struct extract_error error;
    (void)state;

    memset(bytes + 16, 2, 48);
    memset(bytes, 1, 16);
    assert_int_equal(add("0000 01010101 01010101 01010101 01010101\n"
                         "0010 02020202 02020202 02020202 02020202\n*\n000040\n",
                         NULL, &memory, &error),
                     EXTRACT_OK);
    assert_region(memory, 0, 0, 64);
    assert_bytes(memory, 0, bytes, 64);
    extract_memory_close(memory);
    refuse("0000 01010101\n0004 02020202\n*\n", EXTRACT_BAD, "ends after");
    refuse("0000 01010101\n0004 02020202\n*\n0002 01010101\n", EXTRACT_BAD, "line 4");
    refuse("0000 01010101\n0004 02020202\n*\n40000000 01010101\n", EXTRACT_LIMIT, "16 MiB");
}

static void byte_orders(void **state)
{
    struct extract_text_options options = {.size = sizeof options, .word_order = EXTRACT_BIG};
    const char *text = "0x1000: 01020304 05060708\n0x1008: 01020304 05060708\n";
    struct extract_memory *memory;
    struct extract_error error;
    (void)state;

    assert_int_equal(add(text, &options, &memory, &error), EXTRACT_OK);
    assert_bytes(memory, 0x1000, "\1\2\3\4\5\6\7\10", 8);
    assert_null(extract_memory_remark(memory, 0));
    extract_memory_close(memory);
    assert_int_equal(add(text, NULL, &memory, &error), EXTRACT_OK);
    assert_bytes(memory, 0x1000, "\4\3\2\1", 4);
    assert_non_null(strstr(extract_memory_remark(memory, 0), "(likely)"));
    extract_memory_close(memory);
    // A view of bytes: the id of the trace is in order of addresses.
    extract_memory_close(
        load("0x1000  42545854 FFFFFFFF\n0x1008  E8310020 41206200\n", 0x1000, 16));
    refuse("00001000: 41424344  ABCD\n00001004: 41424344  DCBA\n", EXTRACT_BAD, "line 2");
}

static void other_texts(void **state)
{
    static const char *const texts[] = {
        "",
        "hello\n",
        "0x200031e8: 54585442 ffffffff\n",              // one line is none
        "0x200031e8: 54585442\n0x20003200: 54585442\n", // the second is elsewhere
        "1234 5678\n9abc def0\n",
        "deadbeef: cafe\ndeadbeef: cafe\n", // no addresses
        "12 34\n56 78\n",                   // too short for bytes
        "0x200031e8: 5458 54\n0x200031eb: 5458 54\n"};
    const char *kind;
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        assert_int_equal(extract_memory_detect(scratch_puts("dump", texts[i]), &kind, NULL),
                         EXTRACT_OK);
        assert_string_equal(kind, "raw");
        refuse(texts[i], EXTRACT_BAD, "no dump of memory");
    }
    // A byte that is no text.
    static const char binary[] = "0x1000: 01020304\n0x1004: 01020304\n\0";
    assert_int_equal(
        extract_memory_detect(scratch_write("dump", binary, sizeof binary), &kind, NULL),
        EXTRACT_OK);
    assert_string_equal(kind, "raw");
    // Texts in UTF-16, and an image that begins with its byte order mark.
    static const char image[] = "\xff\xfe\0\0x\0";
    static const char shown[] = "\xff\xfe"
                                "0\0x\0001\0"
                                "0\0:\0 \0";
    static const char big[] = "\xfe\xff"
                              "\0000\0x\0001\0"
                              "0\0:\0 ";
    assert_true(extract_memory_is_text(scratch_write("dump", shown, sizeof shown - 1)));
    assert_true(extract_memory_is_text(scratch_write("dump", big, sizeof big - 1)));
    assert_false(extract_memory_is_text(scratch_write("dump", image, sizeof image - 1)));
    assert_false(extract_memory_is_text(scratch_puts("dump", "\xff\xfe\x12\x34")));
    refuse("0x1000:\t66\t84\t88\t84\n0x1004:\t11\t12\t13\t14\n", EXTRACT_BAD, "GDB's x");
    refuse("0x1000 <a>:\t1414022210\t-1\n0x1008 <a+8>:\t1414022210\t-1\n", EXTRACT_BAD, "GDB's x");
}

static void damage(void **state)
{
    static const struct {
        const char *line, *word;
    } cases[] = {{"0x1008: 01020304 0506070\n", "line 3"},
                 {"0x1008: 01020304 x\n", "line 3"},
                 {"0x1004: 01020304 05060708\n", "line 3"},
                 {"0xfffffffffffffffc: 01020304 05060708\n", "line 3"},
                 {"0x10000000000000000: 01020304 05060708\n", "line 3"}};
    char text[256];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(text, sizeof text, "0x1000: 01020304\n0x1004: 05060708\n%s", cases[i].line);
        refuse(text, EXTRACT_BAD, cases[i].word);
    }
    refuse("1651 2 1000 0 2\n1\n2\n", EXTRACT_BAD, "format 1");
    refuse("1651 1 1000 0 2\n0x0102\n0x0102\n", EXTRACT_BAD, "unit");
    refuse("1651 1 1000 0 1\n0x01020304\n0x01020304\n", EXTRACT_BAD, "more words");
    struct extract_memory *memory = load("1651 1 1000 0 3\n0x54585442\n0xffffffff\n", 0x1000, 8);
    assert_string_equal(extract_memory_remark(memory, 1),
                        "ends 4 bytes before the end that line 1 states");
    extract_memory_close(memory);
    memory = load("x\n0x1000: 54585442 ffffffff\n0x1008: 200031e8 00622041\nerror\n"
                  "0x2000: 54585442\n",
                  0x1000, 16);
    assert_regions(memory, 2);
    assert_string_equal(extract_memory_remark(memory, 0),
                        "2 lines are not of the dump and are skipped; the first one is line 1");
    assert_string_equal(extract_memory_remark(memory, 1),
                        "the dump has 2 ranges, with gaps between them");
    extract_memory_close(memory);
}

static struct extract_memory *attempted;

static enum extract_code attempt(void)
{
    enum extract_code code = extract_memory_new_images(&attempted, NULL);

    if (!code)
        code = extract_memory_add_text(attempted, scratch_path("dump"), NULL, NULL);
    extract_memory_close(attempted);
    return code;
}

static void without_memory(void **state)
{
    (void)state;
    scratch_puts("dump", "0x1000: 01020304\n0x1004: 05060708\n");
    each_allocation_fails(attempt);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(debuggers),      cmocka_unit_test(tools),
        cmocka_unit_test(repeated_lines), cmocka_unit_test(byte_orders),
        cmocka_unit_test(other_texts),    cmocka_unit_test(damage),
        cmocka_unit_test(without_memory)};

    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
