// SPDX-License-Identifier: MIT
// unit: hostile input: every truncation, every change of a byte of header and registry, pointers
// that lead nowhere, names that would control a terminal. Each input gives an error that says what,
// why and what to do, or a report that accounts for every entry. Memory and text stay bounded.
#include "tests/unit/ring_builder.h"
#include "tests/unit/samples.h"
#include <extract/session.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *block, size_t size);

enum {
    SMALL_ENTRIES = 56,      // 48 + 4 * 48 + 56 * 32 = 2032 bytes, and a tail of 16
    MOST_AT_ONCE = 16 << 20, // bytes per allocation, for an input of some KiB
    TEXT_AN_EVENT = 1024,    // bytes
    TEXT_BESIDE = 64 * 1024
};

static size_t largest; // the largest allocation that was requested

static void note(size_t size)
{
    largest = size > largest ? size : largest;
}

void *__wrap_malloc(size_t size)
{
    note(size);
    return __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    note(count * size);
    return __real_calloc(count, size);
}

void *__wrap_realloc(void *block, size_t size)
{
    note(size);
    return __real_realloc(block, size);
}

// ---- What must hold for any input ----

static unsigned long shown_inputs, refused_inputs;

static void check_text(const struct extract_text *text, uint64_t entries)
{
    assert_true(text->used <= TEXT_BESIDE + entries * TEXT_AN_EVENT);
    for (size_t i = 0; i < text->used; i++) {
        unsigned char c = (unsigned char)text->data[i];
        if ((c < 0x20 && c != '\n') || c == 0x7f)
            fail_msg("a byte 0x%02x is in the output", c);
    }
}

static void check_error(enum extract_code code, const struct extract_error *error)
{
    assert_int_equal(error->code, code);
    if (!error->what[0] || !error->why[0] || !error->hint[0])
        fail_msg("no clear error: %s: %s; %s", error->what, error->why, error->hint);
    refused_inputs++;
}

static void run_verbs(struct extract_session *session, uint64_t entries)
{
    static const char *const verbs[] = {"info", "objects", "report", "stats", "damage"};
    struct extract_error error;
    struct extract_text text;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        extract_text_init(&text, NULL, NULL);
        assert_int_equal(extract_session_run(session, verbs[i], &text, &error), EXTRACT_OK);
        check_text(&text, entries);
        extract_text_free(&text);
    }
}

static void check_session(struct extract_session *session, bool verbs)
{
    const struct extract_info *info = extract_trace_info(extract_session_trace(session));
    assert_true(info->entries_total > 0);
    assert_int_equal(info->entries_valid + info->entries_damaged + info->entries_unread +
                         info->entries_unused,
                     info->entries_total);
    if (info->entries_damaged || info->entries_unread)
        assert_false(extract_session_is_whole(session));
    if (verbs)
        run_verbs(session, info->entries_total);
    shown_inputs++;
}

// Does everything that the library does with an input. Returns the number of valid events.
static uint64_t examine(struct extract_memory *memory, uint64_t address, bool verbs, bool json)
{
    struct extract_session_options options = {
        .size = sizeof options, .ring_known = address != 0, .ring = address, .json = json};
    struct extract_session *session;
    struct extract_error error = {0};
    uint64_t valid = 0;
    largest = 0;
    enum extract_code code = extract_session_open(&session, memory, NULL, &options, &error);
    if (code) {
        assert_null(session);
        check_error(code, &error);
    } else {
        check_session(session, verbs);
        valid = extract_trace_info(extract_session_trace(session))->entries_valid;
    }
    extract_session_close(session);
    assert_true(largest <= MOST_AT_ONCE);
    return valid;
}

static uint64_t examine_bytes(const uint8_t *bytes, size_t length, uint64_t address, bool vouched,
                              bool json)
{
    struct extract_memory *memory;
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    if (length)
        assert_int_equal(extract_memory_add_bytes(memory, "dump", bytes, length, address, NULL),
                         EXTRACT_OK);
    uint64_t valid = examine(memory, vouched ? address : 0, true, json);
    extract_memory_close(memory);
    return valid;
}

// ---- Truncations ----

static struct ring_image image;

static void build(const struct ring_spec *spec, unsigned written)
{
    uint64_t stamp = 0xFFFFF000;
    ring_build(&image, spec);
    for (unsigned i = 0; i < 3; i++)
        ring_register(&image, i,
                      &(struct ring_object){0, 1, 0x80, 5, 0x20004000 + 64 * i, 1, 2, "thread"});
    ring_run(&image, written, &stamp, 77);
}

static struct ring_spec small(void)
{
    struct ring_spec spec = ring_plain;
    spec.entries = SMALL_ENTRIES;
    spec.tail = 16;
    return spec;
}

// Opens a file of the image's first `length` bytes, as the command line does.
static uint64_t examine_file(const char *path, size_t length)
{
    struct extract_memory *memory;
    struct extract_error error = {0};
    uint64_t valid = 0;
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite(image.bytes, 1, length, file), length);
    assert_int_equal(fclose(file), 0);
    enum extract_code code = extract_memory_open_trx(&memory, path, &error);
    if (code)
        check_error(code, &error);
    else
        valid = examine(memory, 0, true, length % 2);
    extract_memory_close(memory);
    return valid;
}

// All complete entries that the file still contains are reported, except at most one that seems
// half-written.
static void check_truncations(unsigned written)
{
    char path[] = "/tmp/ringside-hostile-XXXXXX";
    struct ring_spec spec = small();
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    build(&spec, written);
    for (size_t length = 0; length <= image.length; length++) {
        uint64_t valid = examine_file(path, length), first = ring_slot_offset(&image, 0);
        uint64_t whole = length < first ? 0 : (length - first) / ring_entry_bytes(&spec);
        uint64_t there = written < whole ? written : whole;
        if (valid > there || valid + 1 < there)
            fail_msg("of %zu bytes, %llu events are shown, %llu are there", length,
                     (unsigned long long)valid, (unsigned long long)there);
    }
    unlink(path);
}

static void test_truncated(void **state)
{
    (void)state;
    check_truncations(20);                 // has not wrapped yet
    check_truncations(SMALL_ENTRIES);      // has just wrapped
    check_truncations(SMALL_ENTRIES + 30); // wrapped long ago
}

static void test_truncated_sample(void **state)
{
    const char *folder = getenv("RINGSIDE_DATA");
    static uint8_t bytes[32768];
    struct extract_memory *memory;
    char path[512];
    (void)state;
    snprintf(path, sizeof path, "%s/threadx/demo_threadx.trx", folder ? folder : "../shared/data");
    FILE *file = fopen(path, "rb");
    if (!file)
        skip();
    assert_int_equal(fread(bytes, 1, sizeof bytes, file), sizeof bytes);
    fclose(file);
    for (size_t length = 1; length <= sizeof bytes; length++) {
        assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
        assert_int_equal(extract_memory_add_bytes(memory, "dump", bytes, length, 0x1000, NULL),
                         EXTRACT_OK);
        examine(memory, 0x1000, length % 512 == 0, false);
        extract_memory_close(memory);
    }
}

// ---- Changes of one byte ----

static void change_header(const struct ring_spec *spec, unsigned written)
{
    build(spec, written);
    for (size_t at = 0; at < ring_header_bytes(spec); at++) {
        uint8_t old = image.bytes[at];
        for (unsigned change = 1; change < 256; change += sample_step()) {
            image.bytes[at] = (uint8_t)(old ^ change);
            examine_bytes(image.bytes, image.length, spec->address, change % 2, change % 4 == 1);
        }
        image.bytes[at] = old;
    }
}

static void test_changed_header(void **state)
{
    struct ring_spec spec = small();
    (void)state;
    shown_inputs = refused_inputs = 0;
    change_header(&spec, SMALL_ENTRIES + 30);
    spec.word_bytes = 8;
    spec.big_endian = true;
    spec.entries = 8;
    change_header(&spec, 5);
    assert_true(shown_inputs > 1000 / sample_step() && refused_inputs > 1000 / sample_step());
}

static void test_changed_registry(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    build(&spec, 12);
    for (size_t at = ring_header_bytes(&spec); at < ring_slot_offset(&image, 0); at++)
        for (unsigned bit = (unsigned)at % sample_step(); bit < 8; bit += sample_step()) {
            image.bytes[at] ^= (uint8_t)(1u << bit);
            // A changed byte of the registry never costs an event.
            assert_int_equal(examine_bytes(image.bytes, image.length, spec.address, true, bit % 2),
                             8);
            image.bytes[at] ^= (uint8_t)(1u << bit);
        }
}

static void test_changed_entries(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    for (unsigned written = 5; written < 14; written += 4) {
        build(&spec, written);
        for (size_t at = ring_slot_offset(&image, 0); at < image.length; at++)
            for (unsigned bit = (unsigned)at % sample_step(); bit < 8; bit += sample_step()) {
                image.bytes[at] ^= (uint8_t)(1u << bit);
                uint64_t valid =
                    examine_bytes(image.bytes, image.length, spec.address, true, false);
                // No unwritten entry appears, and at most two written entries are lost.
                uint64_t there = written < 8 ? written : 8;
                assert_true(valid <= there && valid + 2 >= there);
                image.bytes[at] ^= (uint8_t)(1u << bit);
            }
    }
}

// ---- Pointers that lead nowhere ----

static void change_two_words(const struct ring_spec *spec, unsigned a, unsigned b)
{
    uint64_t base = spec->address;
    const uint64_t values[] = {0,
                               1,
                               base,
                               base + 4,
                               base - 4,
                               UINT32_MAX,
                               0x7FFFFFFF,
                               UINT32_MAX - 31,
                               UINT64_MAX,
                               UINT64_MAX - 31,
                               base + (64 << 20),
                               base + (400u << 20),
                               UINT64_C(1) << 63};
    enum { VALUES = sizeof values / sizeof *values };
    for (unsigned i = 0; i < VALUES; i++)
        for (unsigned k = 0; k < VALUES; k++) {
            ring_header_word(&image, a, values[i]);
            ring_header_word(&image, b, values[k]);
            examine_bytes(image.bytes, image.length, base, true, false);
        }
}

static void change_pointers(const struct ring_spec *spec)
{
    static uint8_t header[128];
    build(spec, 12);
    memcpy(header, image.bytes, sizeof header);
    for (unsigned a = WORD_MASK; a <= WORD_CURRENT; a++)
        for (unsigned b = a + 1; b <= WORD_CURRENT; b++) {
            change_two_words(spec, a, b);
            memcpy(image.bytes, header, sizeof header);
        }
}

static void test_pointers(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    change_pointers(&spec);
    spec.word_bytes = 8;
    change_pointers(&spec);
    spec.big_endian = true;
    spec.address = UINT64_MAX - 0x3FFF; // near the end of all addresses
    change_pointers(&spec);
}

// The sizes agree with each other and exceed the memory. The library allocates nothing by them.
static void test_huge(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    for (uint64_t length = 1 << 12; length <= UINT64_C(1) << 31; length *= 2)
        for (unsigned registry = 0; registry < 2; registry++) {
            build(&spec, 12);
            uint64_t first = ring_slot_address(&image, 0) + (registry ? length / 48 * 48 : 0);
            if (registry) {
                ring_header_word(&image, WORD_REGISTRY_END, first);
                ring_header_word(&image, WORD_ENTRIES_START, first);
                ring_header_word(&image, WORD_CURRENT, first);
            }
            ring_header_word(&image, WORD_ENTRIES_END, first + (registry ? 256 : length));
            examine_bytes(image.bytes, image.length, spec.address, true, false);
        }
}

// ---- Texts ----

static struct extract_user_types *hostile_types(void)
{
    char path[] = "/tmp/ringside-hostile-XXXXXX";
    static const char text[] =
        "Start\n88,\x1b[2Jname,AA,1,2,3,4,5,6,\x07label,\x1b]0;x,\x7f,\xff\n";
    struct extract_user_types *types;
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text, sizeof text - 1), sizeof text - 1);
    close(fd);
    assert_int_equal(extract_user_types_open(&types, path, NULL), EXTRACT_OK);
    unlink(path);
    return types;
}

static void check_texts(bool json, const struct extract_user_types *types)
{
    struct extract_session_options options = {
        .size = sizeof options, .json = json, .user_types = types};
    struct extract_memory *memory;
    struct extract_session *session;
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "\x1b[31m", image.bytes, image.length,
                                              image.spec.address, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_session_open(&session, memory, NULL, &options, NULL), EXTRACT_OK);
    check_session(session, true);
    extract_session_close(session);
    extract_memory_close(memory);
}

// Names in the registry and of user events contain every byte, no end, and escape sequences.
static void test_texts(void **state)
{
    struct extract_user_types *types = hostile_types();
    struct ring_spec spec = ring_plain;
    char name[64];
    (void)state;
    spec.objects = 9;
    build(&spec, 12);
    for (unsigned slot = 0; slot < 9; slot++) {
        for (unsigned i = 0; i < sizeof name; i++)
            name[i] = (char)(slot * 30 + i + 1);
        ring_register(
            &image, slot,
            &(struct ring_object){0, (uint8_t)(1 + slot), 0, 0, 0x20004000 + 4 * slot, 1, 2, name});
        ring_word(&image, slot % 8, 0, 0x20004000 + 4 * slot);
    }
    for (unsigned json = 0; json < 2; json++) {
        check_texts(json, NULL);
        check_texts(json, types);
    }
    extract_user_types_close(types);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_truncated_sample),
        cmocka_unit_test(test_changed_header),
        cmocka_unit_test(test_changed_registry),
        cmocka_unit_test(test_changed_entries),
        cmocka_unit_test(test_pointers),
        cmocka_unit_test(test_huge),
        cmocka_unit_test(test_texts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
