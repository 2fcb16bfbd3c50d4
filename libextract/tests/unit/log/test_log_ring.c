// SPDX-License-Identifier: MIT
// Rings and registries in a log: what is written is read again, for each word size and byte order.
// Payloads that contradict themselves are refused.
#include "tests/unit/log/log_bytes.h"
#include "tests/unit/ring_builder.h"
#include "log/log_room.h"

static struct ring_image image;
static uint8_t payload[1024];

// Puts a ring and reads its block back; returns the payload's length.
static size_t through_log(const struct extract_ring *ring)
{
    const char *path = scratch_path("ring");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, 16384);
    assert_int_equal(extract_log_put_ring(writer, ring, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    struct extract_log *log = open_log(path);
    struct extract_log_block block = read_whole(log, 1, payload, sizeof payload);
    assert_int_equal(block.type, EXTRACT_LOG_RING);
    assert_int_equal(extract_log_status(log)->byte_order, ring->byte_order);
    extract_log_free(log);
    assert_int_equal(unlink(path), 0);
    return block.length;
}

static void assert_slots(const struct extract_slots *a, const struct extract_slots *b)
{
    assert_int_equal(a->start, b->start);
    assert_int_equal(a->end, b->end);
    assert_int_equal(a->slot_bytes, b->slot_bytes);
    assert_int_equal(a->count, b->count);
}

static void test_round(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct ring_spec spec = ring_plain;
        struct extract_ring ring, again;
        spec.word_bytes = kind & 1 ? 8 : 4;
        spec.big_endian = kind & 2;
        ring_build(&image, &spec);
        image_find(&image, &ring);
        ring.current_symbol = 0x20000044;
        ring.near = kind & 1 ? 0 : UINT64_C(0x7fff20000000);
        ring.pointer_bytes = 8;
        size_t length = through_log(&ring);
        // The fields as the format's text has them.
        assert_int_equal(length, 56 + 12 * spec.word_bytes);
        assert_string_equal((char *)payload, "threadx");
        assert_int_equal(get_number(payload + 16, 8), spec.address);
        assert_int_equal(get_number(payload + 24, 8), 0x20000044);
        assert_int_equal(get_number(payload + 32, 8), ring.near);
        assert_int_equal(get_number(payload + 40, 4), 12 * spec.word_bytes);
        assert_int_equal(get_number(payload + 44, 4), spec.big_endian ? 2 : 1);
        assert_int_equal(get_number(payload + 48, 4), spec.word_bytes);
        assert_int_equal(get_number(payload + 52, 4), 8);
        assert_memory_equal(payload + 56, image.bytes, 12 * spec.word_bytes);
        assert_int_equal(extract_log_ring(&again, payload, length, NULL), EXTRACT_OK);
        assert_ptr_equal(again.format, ring.format);
        assert_int_equal(again.address, ring.address);
        assert_int_equal(again.length, ring.length);
        assert_int_equal(again.byte_order, ring.byte_order);
        assert_int_equal(again.word_bytes, spec.word_bytes);
        assert_int_equal(again.current, ring.current);
        assert_int_equal(again.current_symbol, 0x20000044);
        assert_int_equal(again.near, ring.near);
        assert_int_equal(again.pointer_bytes, 8);
        assert_int_equal(again.timer_mask, ring.timer_mask);
        assert_slots(&again.registry, &ring.registry);
        assert_slots(&again.entries, &ring.entries);
        assert_memory_equal(again.header, ring.header, ring.header_bytes);
    }
}

static void refuse(size_t length, enum extract_code code)
{
    struct extract_ring ring;
    struct extract_error error = {0};
    // A copy of that length: a read past it is seen by the sanitizer.
    uint8_t *copy = malloc(length + 1);
    memcpy(copy, payload, length);
    assert_int_equal(extract_log_ring(&ring, copy, length, &error), code);
    assert_true(error.code == code && error.why[0]);
    free(copy);
}

static void test_contradictions(void **state)
{
    static const struct {
        unsigned at, bytes;
        uint64_t value;
        enum extract_code code;
    } bad[] = {
        {0, 8, 0x3131313131313131, EXTRACT_UNSUPPORTED}, // the format's name
        {16, 8, UINT64_MAX - 3, EXTRACT_BAD},            // an address whose ring runs past 2^64
        {40, 4, 47, EXTRACT_BAD},                        // bytes of the header
        {40, 4, 0, EXTRACT_BAD},
        {40, 4, UINT32_MAX, EXTRACT_BAD},
        {44, 4, 2, EXTRACT_BAD}, // byte order
        {44, 4, 0, EXTRACT_BAD},
        {48, 4, 8, EXTRACT_BAD},      // bytes of a word
        {52, 4, 9, EXTRACT_BAD},      // of a pointer
        {56, 4, 0, EXTRACT_BAD},      // the header's id
        {56 + 28, 4, 0, EXTRACT_BAD}, // the end of its entries
    };
    struct extract_ring ring;
    (void)state;
    ring_build(&image, &ring_plain);
    image_find(&image, &ring);
    size_t length = through_log(&ring);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        uint8_t kept[sizeof payload];
        memcpy(kept, payload, sizeof kept);
        put_number(payload + bad[i].at, bad[i].value, bad[i].bytes);
        refuse(length, bad[i].code);
        memcpy(payload, kept, sizeof kept);
    }
    for (size_t cut = 0; cut < length; cut++)
        refuse(cut, EXTRACT_BAD);
}

static void test_objects(void **state)
{
    const char *path = scratch_path("objects");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, 16384);
    uint64_t address;
    const uint8_t *bytes;
    size_t length;
    (void)state;
    assert_int_equal(extract_log_put_objects(writer, 0x1122334455667788, "registry", 8, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_log_put_objects(writer, 7, NULL, 0, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    struct extract_log *log = open_log(path);
    struct extract_log_block block = read_whole(log, 1, payload, sizeof payload);
    assert_int_equal(block.type, EXTRACT_LOG_OBJECTS);
    assert_int_equal(get_number(payload, 8), 0x1122334455667788);
    assert_int_equal(extract_log_objects(&address, &bytes, &length, payload, block.length, NULL),
                     EXTRACT_OK);
    assert_true(address == 0x1122334455667788 && length == 8);
    assert_memory_equal(bytes, "registry", 8);
    block = read_whole(log, 2, payload, sizeof payload);
    assert_int_equal(extract_log_objects(&address, &bytes, &length, payload, block.length, NULL),
                     EXTRACT_OK);
    assert_true(address == 7 && length == 0);
    assert_int_equal(extract_log_objects(&address, &bytes, &length, payload, 7, NULL), EXTRACT_BAD);
    extract_log_free(log);
}

// A log is read while it is written: what is read is right, and what has been overwritten is
// reported as such.
static void test_while_written(void **state)
{
    const char *path = scratch_path("live");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, 16384);
    uint64_t next = 0;
    (void)state;
    for (unsigned turn = 0; turn < 60; turn++) {
        for (unsigned i = 0; i < 10; i++, next += 12)
            assert_int_equal(put_entries(writer, next, 12, NULL), EXTRACT_OK);
        struct extract_log *log = open_log(path);
        struct extract_log_block block;
        const struct extract_log_status *status = extract_log_status(log);
        assert_true(status->writing && !status->closed && !status->cut && !status->damaged);
        uint64_t dropped = status->dropped, gone = 0, last = 0;
        for (unsigned i = 0; i < turn; i++, next += 12) // the writer goes on
            assert_int_equal(put_entries(writer, next, 12, NULL), EXTRACT_OK);
        log->window.length = 0; // what it has read ahead is whole, and old
        for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
            if (extract_log_read(log, &block, payload, NULL)) {
                gone++;
                continue;
            }
            if (block.type == EXTRACT_LOG_ENTRIES)
                check_entries(&block, payload);
            last = block.number;
        }
        assert_true(last > 0 || gone);
        assert_int_equal(status->dropped, dropped + gone);
        assert_int_equal(status->damaged, 0);
        assert_true(turn < 40 || gone > 0);
        extract_log_free(log);
    }
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_round),
        cmocka_unit_test(test_contradictions),
        cmocka_unit_test(test_objects),
        cmocka_unit_test(test_while_written),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
