// SPDX-License-Identifier: MIT
// unit: Intel HEX and S-record images.
//
// Truth: written by hand (checksums too), or the output of objcopy of binutils.
#include "tests/unit/scratch.h"

typedef enum extract_code adder(struct extract_memory *memory, const char *path,
                                struct extract_error *error);

static struct extract_memory *new_images(void)
{
    struct extract_memory *memory = NULL;
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    return memory;
}

static struct extract_memory *load(adder *add, const char *text)
{
    struct extract_memory *memory = new_images();
    struct extract_error error = {0};
    if (add(memory, scratch_puts("text", text), &error))
        fail_msg("%s: %s", text, error.why);
    return memory;
}

// Asserts that the text is refused with a reason that contains `word`, and adds no image.
static void assert_fails(adder *add, const char *text, enum extract_code code, const char *word)
{
    struct extract_memory *memory = new_images();
    struct extract_error error = {0};
    assert_int_equal(add(memory, scratch_puts("text", text), &error), code);
    if (!strstr(error.why, word))
        fail_msg("\"%s\" does not say \"%s\"", error.why, word);
    assert_non_null(strstr(error.what, "/text"));
    assert_true(error.hint[0] != 0);
    assert_regions(memory, 0);
    extract_memory_close(memory);
}

#define HEX_END ":00000001FF\n"
#define S_END   "S9030000FC\n"

static void hex_records_by_hand(void **state)
{
    (void)state;
    struct extract_memory *memory = load(extract_memory_add_hex, ":0300300002337A1E\n" HEX_END);
    assert_regions(memory, 1);
    assert_region(memory, 0, 0x30, 3);
    assert_bytes(memory, 0x30, "\x02\x33\x7a", 3);
    assert_int_equal(extract_memory_byte_order(memory), EXTRACT_ORDER_UNKNOWN);
    extract_memory_close(memory);
    // Blank lines, CR LF, small letters, start addresses, CP/M's end, no end of the last line.
    memory = load(extract_memory_add_hex, "\r\n:020000042000da\r\n:0300300002337a1e\t\r\n\n"
                                          ":0400000520000101D5\r\n:00000001FF\r\n\x1a");
    assert_regions(memory, 1);
    assert_region(memory, 0, 0x20000030, 3);
    extract_memory_close(memory);
}

static void hex_addresses_are_extended(void **state)
{
    (void)state;
    struct extract_memory *memory = load(extract_memory_add_hex,
                                         ":020000021234B6\n:0100100041AE\n"   // 0x12340 + 0x10
                                         ":02000004FFFFFC\n:01FFFF0042BF\n"   // the last address
                                         ":020000020000FC\n:0100010043BB\n"   // back to the start
                                         ":020000021000EC\n:02FFFE0061623E\n" // a segment's end
                                         HEX_END);
    assert_regions(memory, 4);
    assert_region(memory, 0, 1, 1);
    assert_region(memory, 1, 0x12350, 1);
    assert_region(memory, 2, 0x1fffe, 2);
    assert_region(memory, 3, 0xffffffff, 1);
    assert_bytes(memory, 0x12350, "A", 1);
    assert_bytes(memory, 0xffffffff, "B", 1);
    assert_bytes(memory, 1, "C", 1);
    extract_memory_close(memory);
    memory = load(extract_memory_add_hex, ":02000004FFFEFD\n:04FFFE006162636475\n" HEX_END);
    assert_region(memory, 0, 0xfffefffe, 4); // linear addresses continue beyond 64 KiB
    extract_memory_close(memory);
    assert_fails(extract_memory_add_hex, ":02000004FFFFFC\n:02FFFF0041427D\n" HEX_END, EXTRACT_BAD,
                 "line 2: its data run past the end of 32-bit addresses");
    assert_fails(extract_memory_add_hex, ":020000021000EC\n:04FFFE006162636475\n" HEX_END,
                 EXTRACT_BAD, "line 2: its data cross the end of their 64 KiB segment");
}

static void records_are_joined_whatever_their_order(void **state)
{
    (void)state;
    struct extract_memory *memory =
        load(extract_memory_add_hex, ":0301080078797A89\n"   // xyz at 0x108
                                     ":040100006162636471\n" // abcd at 0x100
                                     ":010200007A83\n"       // z at 0x200
                                     ":04010400656667685D\n" // efgh at 0x104
                                     ":040102006364656667\n" // cdef at 0x102, repeated
                                     ":040100006162636471\n" // abcd at 0x100, repeated
                                     ":0000000000\n" HEX_END);
    assert_regions(memory, 2);
    assert_region(memory, 0, 0x100, 11);
    assert_region(memory, 1, 0x200, 1);
    assert_bytes(memory, 0x100, "abcdefghxyz", 11);
    extract_memory_close(memory);
    assert_fails(extract_memory_add_hex,
                 ":040100006162636471\n:04010400656667685D\n:040102006364655875\n" HEX_END,
                 EXTRACT_BAD, "from line 3 on differ");
}

static void hex_damage_is_named_by_line(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"\n:0300300002337A1F\n" HEX_END, "line 2: its checksum is wrong"},
        {":0300300002337A\n" HEX_END, "line 1: its length does not fit"},
        {":0400300002337A1D\n" HEX_END, "line 1: its length does not fit"},
        {":\n" HEX_END, "line 1: its length does not fit"},
        {":0300300002337A1\n" HEX_END, "line 1: the number of digits is odd"},
        {":03003000G2337A1E\n" HEX_END, "line 1: a character is not a hexadecimal digit"},
        {":03003000 02337A1E\n" HEX_END, "line 1: a character is not a hexadecimal digit"},
        {"0300300002337A1E\n" HEX_END, "line 1: does not begin like a record"},
        {" :0300300002337A1E\n" HEX_END, "line 1: does not begin like a record"},
        {":00000006FA\n" HEX_END, "line 1: its type"},
        {":0100000400FB\n" HEX_END, "line 1: an extended address has 2 bytes"},
        {":03000002000000FB\n" HEX_END, "line 1: an extended address has 2 bytes"},
        {HEX_END ":0300300002337A1E\n", "line 2: text after the end record"},
        {HEX_END, "its records hold no data"},
    };
    char line[1200] = ":";
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(extract_memory_add_hex, cases[i].text, EXTRACT_BAD, cases[i].word);
    assert_fails(extract_memory_add_hex, ":0300300002337A1E\n", EXTRACT_TRUNCATED,
                 "after line 1 without an end record");
    assert_fails(extract_memory_add_hex, "", EXTRACT_TRUNCATED, "without an end record");
    memset(line + 1, '0', sizeof line - 2);
    assert_fails(extract_memory_add_hex, line, EXTRACT_BAD, "longer than any record");
}

static void s_records_by_hand(void **state)
{
    (void)state;
    struct extract_memory *memory = load(extract_memory_add_srec,
                                         "S00600004844521B\n" // HDR
                                         "S3092000000072616D2175\r\n"
                                         "S2071234566D696422\n"
                                         "S1030030CC\n" // no data
                                         "S106003002337a1a\n"
                                         "S5030004F8\nS604000004F7\n"
                                         "S307FFFFFFFE61623A\n"
                                         "S70500000000FA\n");
    assert_regions(memory, 4);
    assert_region(memory, 0, 0x30, 3);
    assert_bytes(memory, 0x30, "\x02\x33\x7a", 3);
    assert_bytes(memory, 0x123456, "mid", 3);
    assert_bytes(memory, 0x20000000, "ram!", 4);
    assert_bytes(memory, 0xfffffffe, "ab", 2);
    extract_memory_close(memory);
    extract_memory_close(load(extract_memory_add_srec, "S106003002337A1A\nS804000000FB\n"));
}

static void s_record_damage_is_named_by_line(void **state)
{
    static const struct {
        const char *text, *word;
    } cases[] = {
        {"S106003002337A1B\n" S_END, "line 1: its checksum is wrong"},
        {"S107003002337A19\n" S_END, "line 1: its length does not fit"},
        {"S10210ED\n" S_END, "line 1: too short for its address"},
        {"S101FE\n" S_END, "line 1: too short for its address"},
        {"S\n" S_END, "line 1: does not begin like a record"},
        {"S4030000FC\n" S_END, "line 1: its type"},
        {"SA030000FC\n" S_END, "line 1: its type"},
        {"S/030000FC\n" S_END, "line 1: its type"},
        {"S106003002337A1A\nS5030000FC\n" S_END, "line 2: counts other records"},
        {"S106003002337A1A\nS604000003F8\n" S_END, "line 2: counts other records"},
        {"S308FFFFFFFE616263D6\n" S_END, "line 1: its data run past"},
        {S_END "S106003002337A1A\n", "line 2: text after the end record"},
        {S_END, "its records hold no data"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_fails(extract_memory_add_srec, cases[i].text, EXTRACT_BAD, cases[i].word);
    assert_fails(extract_memory_add_srec, "S106003002337A1A\n", EXTRACT_TRUNCATED,
                 "without an end record");
}

// A checksum reveals every change of one character. A file that was cut off adds nothing.
static void assert_damage_is_found(adder *add, const char *text)
{
    char bad[256];
    size_t length = strlen(text);
    struct extract_memory *memory = new_images();
    for (size_t at = 0; at < length; at++) {
        if (at && text[at - 1] == 'S')
            continue; // the type is not in an S-record's checksum
        for (unsigned c = 0; c < 256; c++) {
            bool blank = strchr("\n\r\t \x1a", text[at]) || strchr("\n\r\t \x1a", (char)c);
            bool letter = (c ^ (unsigned char)text[at]) == 0x20 && c > 0x40;
            if (blank || letter || c == (unsigned char)text[at])
                continue; // these change the text's layout, not its meaning
            memcpy(bad, text, length);
            bad[at] = (char)c;
            assert_int_not_equal(add(memory, scratch_write("bad", bad, length), NULL), EXTRACT_OK);
        }
        if (at + 1 < length) // all but the newline
            assert_int_not_equal(add(memory, scratch_write("bad", text, at), NULL), EXTRACT_OK);
    }
    assert_regions(memory, 0);
    extract_memory_close(memory);
}

static void every_change_is_found(void **state)
{
    (void)state;
    assert_damage_is_found(extract_memory_add_hex, ":020000042000DA\n:0300300002337A1E\n" HEX_END);
    assert_damage_is_found(extract_memory_add_srec, "S106003002337A1A\nS5030001FB\nS9030000FC\n");
}

static void overlap_with_another_file_is_refused(void **state)
{
    struct extract_memory *memory = load(extract_memory_add_hex, ":0300300002337A1E\n" HEX_END);
    struct extract_error error = {0};
    (void)state;
    assert_int_equal(
        extract_memory_add_srec(memory, scratch_puts("other", "S106003002337A1A\n" S_END), &error),
        EXTRACT_BAD);
    assert_non_null(strstr(error.why, "overlaps 0x30-0x32 of"));
    assert_regions(memory, 1);
    extract_memory_close(memory);
}

// Reads what objcopy writes of two runs of random bytes: one at `address`, the other 256 bytes
// after it.
static void assert_like_objcopy(adder *add, const char *format, uint64_t address)
{
    static uint8_t bytes[2][35000];
    struct extract_memory *memory = new_images();
    struct extract_error error = {0};
    unsigned seed = 7;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i / sizeof bytes[0]][i % sizeof bytes[0]] = (uint8_t)rand_r(&seed);
    for (int i = 0; i < 2; i++) {
        uint64_t at = address + (uint64_t)i * (sizeof bytes[0] + 256);
        char command[128];
        snprintf(command, sizeof command,
                 "objcopy -I binary -O %s --change-addresses 0x%llx part text", format,
                 (unsigned long long)at);
        scratch_write("part", bytes[i], sizeof bytes[i]);
        assert_true(scratch_run(command));
        if (add(memory, scratch_path("text"), &error))
            fail_msg("%s: %s", format, error.why);
        assert_region(memory, (size_t)i, at, sizeof bytes[i]);
        assert_bytes(memory, at, bytes[i], sizeof bytes[i]);
    }
    assert_regions(memory, 2);
    extract_memory_close(memory);
}

static void files_of_objcopy_are_what_went_in(void **state)
{
    (void)state;
    if (!scratch_run("command -v objcopy"))
        skip();
    assert_like_objcopy(extract_memory_add_hex, "ihex", 0x20000000);
    assert_like_objcopy(extract_memory_add_hex, "ihex", 0x8123);  // segments
    assert_like_objcopy(extract_memory_add_hex, "ihex", 0xf8001); // segments, then linear
    assert_like_objcopy(extract_memory_add_srec, "srec", 0x20000000);
    assert_like_objcopy(extract_memory_add_srec, "srec", 0x8123);
    assert_like_objcopy(extract_memory_add_srec, "srec", 0xff0000);
    assert_like_objcopy(extract_memory_add_srec, "srec --srec-forceS3 --srec-len=255", 0x1234);
}

static enum extract_code attempt(adder *add, const char *name)
{
    struct extract_memory *memory = NULL;
    struct extract_error error;
    enum extract_code code = extract_memory_new_images(&memory, &error);
    if (!code)
        code = add(memory, scratch_path(name), &error);
    extract_memory_close(memory);
    return code;
}

static enum extract_code attempt_hex(void)
{
    return attempt(extract_memory_add_hex, "runs.hex");
}

static enum extract_code attempt_srec(void)
{
    return attempt(extract_memory_add_srec, "one.srec");
}

static void allocations_may_fail(void **state)
{
    char text[40 * 20 + 20] = "";
    (void)state;
    for (unsigned i = 0; i < 40; i++) // the table of runs must grow
        sprintf(text + strlen(text), ":01%04X00AA%02X\n", i * 16,
                (0u - (0x01 + (i * 16 >> 8) + (i * 16 & 0xff) + 0xaa)) & 0xff);
    strcat(text, HEX_END);
    scratch_puts("runs.hex", text);
    scratch_puts("one.srec", "S106003002337A1A\n" S_END);
    each_allocation_fails(attempt_hex);
    each_allocation_fails(attempt_srec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hex_records_by_hand),
        cmocka_unit_test(hex_addresses_are_extended),
        cmocka_unit_test(records_are_joined_whatever_their_order),
        cmocka_unit_test(hex_damage_is_named_by_line),
        cmocka_unit_test(s_records_by_hand),
        cmocka_unit_test(s_record_damage_is_named_by_line),
        cmocka_unit_test(every_change_is_found),
        cmocka_unit_test(overlap_with_another_file_is_refused),
        cmocka_unit_test(files_of_objcopy_are_what_went_in),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
