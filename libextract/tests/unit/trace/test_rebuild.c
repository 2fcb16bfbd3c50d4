// SPDX-License-Identifier: MIT
// Tests rings whose header is damaged: POSIX streams in every layout, and hook words. The truth are
// the events of the undamaged ring, which the other tests check.
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/posix_format/ptr_builder.h"

enum { MOST = 256, STREAM_BLOCK = PTR_STREAMS_AT };

static struct ptr ptr;
static struct hooks hooks;

// What is compared of the events of a ring.
struct seen {
    uint64_t stamp[MOST], field[MOST], thread[MOST];
    size_t count;
};

static void note(const struct look *look, struct seen *seen)
{
    const struct extract_event *events = look_events(look, &seen->count);

    assert_true(seen->count <= MOST);
    for (size_t i = 0; i < seen->count; i++) {
        seen->stamp[i] = events[i].raw_stamp;
        seen->field[i] = events[i].field[0];
        seen->thread[i] = events[i].thread;
    }
}

static void expect_same(struct extract_memory *memory, uint64_t address, const struct seen *truth)
{
    struct look look;
    struct seen seen;

    look_open_memory(&look, memory, address, NULL);
    note(&look, &seen);
    assert_int_equal(look.snapshot.ring.origin, EXTRACT_FROM_REBUILT);
    assert_false(look.snapshot.lost_known);
    assert_false(look.snapshot.ring.enabled_known);
    assert_int_equal(seen.count, truth->count);
    assert_memory_equal(seen.stamp, truth->stamp, seen.count * sizeof *seen.stamp);
    assert_memory_equal(seen.field, truth->field, seen.count * sizeof *seen.field);
    assert_memory_equal(seen.thread, truth->thread, seen.count * sizeof *seen.thread);
    look_close(&look);
}

// ---- POSIX streams ----

static void build_stream(const struct ptr_kind *kind, unsigned records, uint32_t start)
{
    static const uint8_t data[16] = {1, 2, 3, 4};

    ptr_build(&ptr, kind, 256, start);
    for (unsigned i = 0; i < records; i++) {
        const struct ptr_record record = {.id = 33 + i % 2,
                                          .data = data,
                                          .data_bytes = i % 17,
                                          .address = 0x08000100 + 4 * i,
                                          .thread = 0x20004000 + 64 * (i % 3),
                                          .stamp = 1000 + 10 * i,
                                          .pid = 7};
        ptr_put(&ptr, 0, &record);
    }
}

static void destroy(uint8_t *bytes, size_t length, bool is_random)
{
    for (size_t i = 0; i < length; i++)
        bytes[i] = is_random ? (uint8_t)(i * 167 + 13) : 0;
}

static void check_stream(const struct ptr_kind *kind, unsigned records, uint32_t start)
{
    struct look look;
    struct seen truth;

    for (unsigned i = 0; i < 2; i++) {
        build_stream(kind, records, start);
        look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
        note(&look, &truth);
        look_close(&look);
        destroy(ptr.bytes + STREAM_BLOCK, 128, i);
        expect_same(ptr_memory(&ptr), PTR_ADDRESS, &truth);
        expect_same(ptr_memory(&ptr), 0, &truth);
    }
    // Without the process block, the block of the stream has everything but names.
    build_stream(kind, records, start);
    destroy(ptr.bytes, 128, true);
    expect_same(ptr_memory(&ptr), 0, &truth);
}

static void test_streams(void **state)
{
    static const uint32_t starts[] = {0, 12345, 0xFFFFFFF0u};
    static const unsigned counts[] = {6, 20, 200};
    (void)state;

    for (unsigned i = 0; i < 16; i++) {
        const struct ptr_kind kind = {i & 1, i & 2, i & 4 ? 8 : 4, i & 8 ? 64 : 32};
        for (unsigned k = 0; k < 9; k++)
            check_stream(&kind, counts[k % 3], starts[k / 3]);
    }
}

// A word that contradicts the records is replaced; one that does not is believed.
static void test_stream_words(void **state)
{
    static const unsigned offsets[] = {0, 4, 8, 12, 16, 20, 24, 48, 52};
    static const uint32_t values[] = {0, 0xFFFFFFFF, 0x12345678, 0x200};
    const struct ptr_kind kind = {false, false, 4, 32};
    struct look look;
    struct seen truth;
    (void)state;

    for (size_t i = 0; i < sizeof offsets / sizeof *offsets; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            build_stream(&kind, 200, 0);
            look_open_memory(&look, ptr_memory(&ptr), PTR_ADDRESS, NULL);
            note(&look, &truth);
            look_close(&look);
            if (ptr_stream_get(&ptr, 0, offsets[i]) == values[k])
                continue;
            ptr_stream_set(&ptr, 0, offsets[i], values[k]);
            expect_same(ptr_memory(&ptr), PTR_ADDRESS, &truth);
        }
}

// Both rings of an object hold records, and no block says which is which.
static void test_two_rings(void **state)
{
    const struct ptr_kind kind = {false, false, 4, 32};
    struct extract_ring ring;
    struct extract_error error;
    struct extract_memory *memory;
    (void)state;

    build_stream(&kind, 20, 0);
    for (unsigned i = 0; i < 20; i++)
        ptr_put_number(&ptr, 1, i);
    destroy(ptr.bytes, 128, true);
    destroy(ptr.bytes + STREAM_BLOCK, PTR_STREAMS * PTR_STREAM_BYTES, false);
    memory = ptr_memory(&ptr);
    assert_int_equal(extract_ring_find(&ring, memory, NULL, NULL, &error), EXTRACT_NOTFOUND);
    extract_memory_close(memory);
}

// ---- hook words ----

static void build_hooks(bool is_big, uint32_t size, unsigned records, uint32_t start)
{
    hooks_build(&hooks, is_big, size, start);
    for (unsigned i = 0; i < records; i++)
        hooks_put_plain(&hooks, i, 1000 + 10 * i);
}

static void check_hooks(bool is_big, uint32_t size, unsigned records, uint32_t start)
{
    struct look look;
    struct seen truth;

    for (unsigned i = 0; i < 2; i++) {
        build_hooks(is_big, size, records, start);
        hooks_look(&look, &hooks);
        note(&look, &truth);
        look_close(&look);
        destroy(hooks.bytes, HOOKS_HEADER, i);
        expect_same(hooks_memory(&hooks), hooks.address, &truth);
    }
}

static void test_hooks(void **state)
{
    static const uint32_t starts[] = {0, 1000, 0xFFFFFFF0u};
    static const unsigned counts[] = {6, 100, 1000};
    (void)state;

    for (unsigned i = 0; i < 2; i++)
        for (unsigned k = 0; k < 9; k++) {
            check_hooks(i, 1024, counts[k % 3], starts[k / 3]);
            check_hooks(i, 4096, counts[k % 3], starts[k / 3]);
        }
}

static void test_hook_words(void **state)
{
    static const unsigned words[] = {HOOKS_MAGIC,        HOOKS_VERSION, HOOKS_HEADER_BYTES,
                                     HOOKS_BUFFER_BYTES, HOOKS_HEAD,    HOOKS_TAIL};
    static const uint32_t values[] = {0, 0xFFFFFFFF, 0x12345670, 0x200};
    struct look look;
    struct seen truth;
    (void)state;

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (size_t k = 0; k < sizeof values / sizeof *values; k++) {
            build_hooks(false, 1024, 1000, 0);
            hooks_look(&look, &hooks);
            note(&look, &truth);
            look_close(&look);
            hooks_word(&hooks, words[i], values[k]);
            expect_same(hooks_memory(&hooks), hooks.address, &truth);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams), cmocka_unit_test(test_stream_words),
        cmocka_unit_test(test_two_rings), cmocka_unit_test(test_hooks),
        cmocka_unit_test(test_hook_words)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
