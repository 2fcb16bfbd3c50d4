// SPDX-License-Identifier: MIT
// unit: saving: a trace that is written as a .trx and opened again shows the same events and names.
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include "memory/memory_hooks.h"
#include <extract/report.h>

static struct ring_image image;
static struct look look, again;

// Saves the trace of `look` and opens the file as `again`, as the command line does with --elf.
static void save_and_open_with(struct extract_symbols *symbols)
{
    struct extract_memory *memory;
    struct extract_region region;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, look.trace, NULL), EXTRACT_OK);
    const char *path = scratch_write("saved.trx", text.data, text.used);
    extract_text_free(&text);
    assert_int_equal(extract_memory_open_trx(&memory, path, NULL), EXTRACT_OK);
    assert_true(extract_memory_region(memory, 0, &region));
    look_open_memory(&again, memory, region.address, symbols);
}

static void save_and_open(void)
{
    save_and_open_with(NULL);
}

static const char *shown_thread(const struct look *from, uint64_t address)
{
    const struct extract_object *thread = extract_trace_thread(from->trace, address);
    return thread ? thread->shown : "none";
}

static void check_event(const struct extract_event *a, const struct extract_event *b)
{
    assert_int_equal(a->seq, b->seq);
    assert_int_equal(a->ticks, b->ticks);
    assert_int_equal(a->raw_stamp, b->raw_stamp);
    assert_int_equal(a->thread, b->thread);
    assert_int_equal(a->priority_word, b->priority_word);
    assert_memory_equal(a->field, b->field, a->fields * sizeof *a->field);
    assert_ptr_equal(a->type, b->type);
    assert_int_equal(a->id, b->id);
    assert_int_equal(a->core, b->core);
    assert_int_equal(a->context, b->context);
    assert_int_equal(a->slot, b->slot);
    assert_int_equal(a->flags, b->flags);
    if (a->context == EXTRACT_THREAD)
        assert_string_equal(shown_thread(&look, a->thread), shown_thread(&again, b->thread));
}

// Compares both traces. Returns how many events they show.
static size_t check_same(void)
{
    static struct extract_event saved[MAX_EVENTS];
    size_t count, count_again;
    memcpy(saved, look_events(&again, &count_again), sizeof saved);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, count_again);
    for (size_t i = 0; i < count; i++)
        check_event(&events[i], &saved[i]);
    assert_int_equal(look.snapshot.wrapped, again.snapshot.wrapped);
    assert_int_equal(look.snapshot.current, again.snapshot.current);
    assert_int_equal(look.ring.timer_mask, again.ring.timer_mask);
    return count;
}

static void done(void)
{
    assert_accounted(&look);
    assert_accounted(&again);
    look_close(&look);
    look_close(&again);
}

static void build(unsigned word_bytes, bool big_endian, unsigned written)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 0xFFFFFFF0;
    spec.word_bytes = word_bytes;
    spec.big_endian = big_endian;
    spec.entries = 16;
    ring_build(&image, &spec);
    ring_register(&image, 1, &(struct ring_object){0, 1, 0x80, 5, 0x20004000, 1, 2, "worker"});
    ring_register(&image, 2, &(struct ring_object){1, 4, 0, 0, 0x20004100, 1, 2, "gone"});
    ring_run(&image, written, &stamp, 1000);
}

static void test_layouts(void **state)
{
    (void)state;
    for (unsigned turn = 0; turn < 4; turn++)
        for (unsigned written = 0; written < 40; written++) {
            build(turn & 1 ? 8 : 4, turn & 2, written);
            look_open(&look, &image);
            save_and_open();
            assert_int_equal(check_same(), written < 16 ? written : 16);
            assert_memory_equal(look.snapshot.bytes, again.snapshot.bytes, image.length);
            done();
        }
}

// A half-written entry is half-written in the same way in the file.
static void test_torn(void **state)
{
    (void)state;
    for (unsigned written = 3; written < 40; written += 18)
        for (unsigned words = 0; words < 5; words++) {
            build(4, false, written);
            for (unsigned i = 0; i < words; i++)
                ring_word(&image, image.current, i, 0xFFFFFFF0 + 1000 * written);
            look_open(&look, &image);
            save_and_open();
            check_same();
            assert_memory_equal(look.snapshot.verdict, again.snapshot.verdict, 16);
            done();
        }
}

// A dump at another address than its header says keeps the header's addresses.
static void test_moved_dump(void **state)
{
    struct extract_memory *memory;
    (void)state;
    build(4, false, 20);
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "x", image.bytes, image.length,
                                              UINT64_C(0x559920000100), NULL),
                     EXTRACT_OK);
    look_open_memory(&look, memory, UINT64_C(0x559920000100), NULL);
    save_and_open();
    assert_int_equal(again.ring.address, 0x20000100);
    check_same();
    done();
}

// ---- A target that runs ----

// Returns the ring's bytes. Before a read of the span, or of more than one entry, the target writes
// `ahead` more entries.
static struct runner {
    unsigned ahead;
    uint64_t stamp; // timestamp of the next entry
} runner;

static size_t run_read(void *context, uint64_t address, void *buffer, size_t length)
{
    uint64_t offset = address - image.spec.address;
    (void)context;
    if (length > 1000 || (length > 32 && length % 32 == 0))
        ring_run(&image, runner.ahead, &runner.stamp, 10);
    if (offset >= image.length)
        return 0;
    size_t got = length < image.length - offset ? length : image.length - (size_t)offset;
    memcpy(buffer, image.bytes + offset, got);
    return got;
}

static void check_runner(unsigned written, unsigned ahead)
{
    struct extract_memory *memory;
    struct extract_memory_source source = {.read = run_read, .running = true};
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1;
    spec.entries = 64;
    ring_build(&image, &spec);
    ring_run(&image, written, &stamp, 10);
    runner = (struct runner){ahead, 5000000};
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, spec.address, NULL);
    // The reader is lapped, also when it reads again half of the ring and less. The newest entry
    // remains readable.
    assert_int_equal(look.snapshot.counts[EXTRACT_OVERWRITTEN], ahead < 64 ? ahead : 64 - 1);
    assert_true(!ahead == !look.snapshot.moved);
    // The newest entry before the copy may still change, which a file cannot express.
    for (unsigned slot = 0; slot < 64; slot++)
        if (look.snapshot.verdict[slot] == EXTRACT_PROVISIONAL && slot != look.snapshot.current)
            look.snapshot.verdict[slot] = EXTRACT_GOOD;
    save_and_open();
    check_same();
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged,
                     extract_trace_info(again.trace)->entries_damaged);
    done();
}

static void test_running(void **state)
{
    (void)state;
    for (unsigned ahead = 0; ahead < 64; ahead += 3) {
        check_runner(64 + 5, ahead);  // the pointer is near the start of the ring,
        check_runner(64 + 40, ahead); // and further on
        check_runner(64 + 63, ahead);
        check_runner(64, ahead);
    }
    check_runner(20, 30);      // has not wrapped yet
    check_runner(100, 64);     // exactly one lap: the pointer has its old value
    check_runner(100, 64 + 9); // more than one lap
}

// ---- Holes ----

static void test_holes(void **state)
{
    struct extract_memory *memory;
    (void)state;
    for (unsigned written = 6; written < 40; written += 9)
        for (unsigned hole = 0; hole < 16; hole++) {
            build(4, false, written);
            size_t at = ring_slot_offset(&image, hole) + 8;
            assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
            assert_int_equal(
                extract_memory_add_bytes(memory, "a", image.bytes, at, image.spec.address, NULL),
                EXTRACT_OK);
            if (hole < 15)
                assert_int_equal(extract_memory_add_bytes(memory, "b", image.bytes + at + 32,
                                                          image.length - at - 32,
                                                          image.spec.address + at + 32, NULL),
                                 EXTRACT_OK);
            look_open_memory(&look, memory, image.spec.address, NULL);
            assert_int_equal(look.snapshot.counts[EXTRACT_UNREADABLE_ENTRY], hole < 15 ? 2 : 1);
            save_and_open();
            check_same();
            done();
        }
}

// ---- Names from target memory ----

enum { HEAP = 0x20008000 };

static uint8_t heap[256];

static void put_thread(uint64_t address, const char *name)
{
    uint64_t at = address - HEAP;
    ring_number(heap + at, 0x54485244, 4, false);
    ring_number(heap + at + 12, address + 16, 4, false);
    strcpy((char *)heap + at + 16, name);
}

static struct extract_symbols *compile(const char *compiler, const char *ulong, const char *bss)
{
    struct extract_symbols *symbols;
    char command[1024], *source = realpath("libextract/tests/data/good/firmware.c", NULL);
    assert_non_null(source);
    snprintf(command, sizeof command,
             "%s -g -O1 -std=gnu11 -ffreestanding -nostdlib "
             "-DULONG_TYPE='%s' -Wl,--build-id=none,-Tbss=%s -o fw.elf %s",
             compiler, ulong, bss, source);
    (free)(source);
    if (!scratch_run(command))
        skip();
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("fw.elf"), NULL), EXTRACT_OK);
    return symbols;
}

// The full registry lacks some threads, and lists one without a name. The file names them all,
// without symbols.
static void test_names_from_memory(void **state)
{
    struct fake_memory fake = {0};
    struct extract_symbols *symbols =
        compile("arm-none-eabi-gcc -mcpu=cortex-m3", "unsigned long", "0x20000000");
    (void)state;
    build(4, false, 20);
    put_thread(HEAP, "late one");
    put_thread(HEAP + 64, "late two");
    put_thread(HEAP + 128, "nameless in time");
    ring_register(&image, 0, &(struct ring_object){0, 1, 0x80, 9, HEAP + 128, 7, 8, ""});
    ring_word(&image, 9, 0, HEAP);
    ring_word(&image, 11, 0, HEAP + 64);
    fake_add(&fake, image.spec.address, image.bytes, image.length);
    fake_add(&fake, HEAP, heap, sizeof heap);
    look_open_memory(&look, fake_open(&fake, false), image.spec.address, symbols);
    save_and_open();
    assert_int_equal(check_same(), 16);
    assert_string_equal(shown_thread(&again, HEAP), "late one");
    assert_string_equal(shown_thread(&again, HEAP + 64), "late two");
    assert_string_equal(shown_thread(&again, HEAP + 128), "nameless in time");
    assert_string_equal(shown_thread(&again, 0x20004000), "worker");
    assert_int_equal(extract_trace_thread(again.trace, HEAP + 128)->param2, 8);
    assert_int_equal(again.ring.registry.count, 4 + 2);
    // The entries keep their addresses, and the header has a lower one.
    assert_int_equal(again.ring.entries.start, look.ring.entries.start);
    assert_int_equal(again.ring.address, image.spec.address - 2 * 48);
    done();
    extract_symbols_close(symbols);
}

// The target has 8-byte pointers and 4-byte ULONGs. The file is at the lower half of its address,
// and the symbols supply the upper half. The ring may be below or above the boundary between two
// upper halves.
static void check_lower_halves(struct extract_symbols *symbols, uint64_t ring, uint64_t globals)
{
    static const char *const names[] = {"named_by_symbol", "_tx_trace_registry_end_ptr"};
    struct extract_symbol symbol;
    struct ring_spec spec = ring_plain;
    spec.address = ring;
    ring_build(&image, &spec);
    for (unsigned i = 0; i < 2; i++) {
        assert_true(extract_symbols_by_name(symbols, names[i], &symbol));
        assert_true(symbol.address - globals < 4096 && symbol.address != globals);
        ring_insert(&image, &(struct ring_entry){.thread = (uint32_t)symbol.address, .id = 6});
    }
    struct extract_memory *memory = images_open();
    images_add(memory, &image, 0, image.length);
    look_open_memory(&look, memory, ring, symbols);
    save_and_open_with(symbols);
    assert_int_equal(again.ring.address, (uint32_t)ring);
    assert_int_equal(check_same(), 2);
    for (unsigned i = 0; i < 2; i++) {
        extract_symbols_by_name(symbols, names[i], &symbol);
        assert_string_equal(shown_thread(&again, (uint32_t)symbol.address), names[i]);
    }
    done();
}

static void test_lower_halves(void **state)
{
    const uint64_t globals = UINT64_C(0x559900000000);
    struct extract_symbols *symbols =
        compile("gcc -no-pie -static -mcmodel=large", "unsigned int", "0x559900000000");
    (void)state;
    check_lower_halves(symbols, globals + 0x4000, globals);
    check_lower_halves(symbols, globals - 0x4000, globals);
    check_lower_halves(symbols, globals - 100, globals);
    extract_symbols_close(symbols);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),      cmocka_unit_test(test_torn),
        cmocka_unit_test(test_moved_dump),   cmocka_unit_test(test_running),
        cmocka_unit_test(test_holes),        cmocka_unit_test(test_names_from_memory),
        cmocka_unit_test(test_lower_halves),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
