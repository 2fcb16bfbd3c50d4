// SPDX-License-Identifier: MIT
// unit: names of objects from the registry, the ELF's symbols, or the control block in target
// memory; and how reports print hostile names.
//
// Truth: the names that the test has stored; escapes by ECMA-48 and RFC 3629.
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"

enum { HEAP = 0x20008000, HEAP_BYTES = 1024, THREAD_BYTES = 16, NAME_POINTER = 12 };

#define HIGH UINT64_C(0x559900000000)

static struct ring_image image;
static struct fake_memory fake;
static uint8_t heap[HEAP_BYTES];
static struct extract_symbols *symbols;
static struct look look;

static bool build_elf(const char *compiler, const char *ulong, const char *bss,
                      struct extract_symbols **built)
{
    char command[1024], *source = realpath("libextract/tests/data/good/firmware.c", NULL);
    if (!source)
        return false;
    snprintf(command, sizeof command,
             "%s -g -O1 -std=gnu11 -ffreestanding -nostdlib -DULONG_TYPE='%s' "
             "-Wl,--build-id=none,-Tbss=%s -o fw.elf %s",
             compiler, ulong, bss, source);
    (free)(source);
    return scratch_run(command) && !extract_symbols_open(built, scratch_path("fw.elf"), NULL);
}

static int compile(void **state)
{
    if (scratch_make(state))
        return -1;
    if (!build_elf("arm-none-eabi-gcc -mcpu=cortex-m3", "unsigned long", "0x20000000", &symbols))
        symbols = NULL;
    return 0;
}

static int remove_all(void **state)
{
    extract_symbols_close(symbols);
    return scratch_remove(state);
}

static void begin(unsigned objects)
{
    struct ring_spec spec = ring_plain;
    spec.objects = objects;
    ring_build(&image, &spec);
    memset(heap, 0, sizeof heap);
    memset(&fake, 0, sizeof fake);
    fake_add(&fake, spec.address, image.bytes, image.length);
    fake_add(&fake, HEAP, heap, sizeof heap);
}

static void end(void)
{
    look_open_memory(&look, fake_open(&fake, false), image.spec.address, symbols);
}

static void add_event(uint64_t thread)
{
    ring_insert(&image, &(struct ring_entry){.thread = thread, .id = 6});
}

static uint64_t symbol_address(const char *name)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    return symbol.address;
}

// Writes a control block to the heap, with the address `name` of its name. Returns its address.
static uint64_t put_thread(unsigned i, uint64_t id, uint64_t name)
{
    uint8_t *block = heap + i * THREAD_BYTES;
    ring_number(block, id, 4, false);
    ring_number(block + NAME_POINTER, name, 4, false);
    return HEAP + i * THREAD_BYTES;
}

static const struct extract_object *object_at(uint64_t address)
{
    const struct extract_object *object = extract_trace_thread(look.trace, address);
    assert_non_null(object);
    return object;
}

static void check_shown(uint64_t address, const char *shown)
{
    assert_string_equal(object_at(address)->shown, shown);
}

static void test_registry_first(void **state)
{
    if (!symbols)
        skip();
    (void)state;
    begin(2);
    uint64_t address = symbol_address("named_by_symbol");
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, address, 0, 0, "registered"});
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 0, address + 256, 0, 0, ""});
    add_event(address);
    end();
    check_shown(address, "registered");
    assert_string_equal(object_at(address)->name, "registered");
    assert_true(object_at(address)->registered);
    check_shown(address + 256, "0x20000124"); // 0x20000024 + 0x100, by the linker's map
    assert_string_equal(object_at(address + 256)->name, "");
    look_close(&look);
}

static void test_symbols(void **state)
{
    if (!symbols)
        skip();
    (void)state;
    begin(1); // a full registry
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, 0x20004000, 0, 0, "in time"});
    uint64_t named = symbol_address("named_by_symbol"), pool = symbol_address("pool");
    add_event(named);
    add_event(pool + THREAD_BYTES);
    add_event(named);
    end();
    check_shown(named, "named_by_symbol");
    check_shown(pool + THREAD_BYTES, "pool+0x10");
    assert_false(object_at(named)->registered);
    assert_true(object_at(named)->in_use);
    assert_false(object_at(named)->from_memory);
    assert_string_equal(object_at(named)->name, "");
    const struct extract_object *objects;
    assert_int_equal(extract_trace_objects(look.trace, &objects), 3); // one per thread
    assert_int_equal(extract_trace_info(look.trace)->objects, 1);
    look_close(&look);
}

struct control_block {
    uint64_t id, name; // its id word, and the address of its name
    const char *shown; // NULL: reports print its address
};

static void test_control_blocks(void **state)
{
    if (!symbols)
        skip();
    (void)state;
    const struct control_block cases[] = {
        {0x54485244, HEAP + 512, "heap worker"},
        {0x54485244, symbol_address("constant_name"), "constant"}, // in the ELF, not in memory
        {0, HEAP + 512, NULL},                                     // deleted
        {0x54485244, 0, NULL},
        {0x54485244, 0x70000000, NULL},            // unreadable
        {0x54485244, HEAP + HEAP_BYTES - 4, NULL}, // memory ends before the name does
        {0x54485244, HEAP + 600, NULL},            // empty
        {0x54485244, HEAP + 700, "0123456789012345678901234567890"}, // cut to registry length
        {0x54485244, HEAP + HEAP_BYTES - 20, "at the end"},
    };
    enum { CASES = sizeof cases / sizeof *cases };
    begin(0);
    for (unsigned i = 0; i + 1 < CASES; i++)
        add_event(put_thread(i, cases[i].id, cases[i].name));
    strcpy((char *)heap + 512, "heap worker");
    memset(heap + 700, 0, 100);
    for (unsigned i = 0; i < 40; i++)
        heap[700 + i] = (uint8_t)('0' + i % 10);
    ring_word(&image, 6, 0, put_thread(CASES - 1, 0x54485244, HEAP + HEAP_BYTES - 20));
    strcpy((char *)heap + HEAP_BYTES - 20, "at the end");
    memcpy(heap + HEAP_BYTES - 4, "full", 4);
    end();
    for (unsigned i = 0; i < CASES; i++) {
        char address[16];
        if (i == 6) // its entry now belongs to the last one
            continue;
        snprintf(address, sizeof address, "0x%08x", HEAP + i * THREAD_BYTES);
        check_shown(HEAP + i * THREAD_BYTES, cases[i].shown ? cases[i].shown : address);
        assert_int_equal(object_at(HEAP + i * THREAD_BYTES)->from_memory, cases[i].shown != NULL);
    }
    look_close(&look);
}

// The name in a control block, which the kernel uses, comes before that of the symbol at its
// address. Without a control block, there is only the symbol.
static void test_symbol_or_control_block(void **state)
{
    static uint8_t blocks[2 * THREAD_BYTES];
    if (!symbols)
        skip();
    (void)state;
    begin(0);
    uint64_t pool = symbol_address("pool");
    strcpy((char *)heap + 512, "from a pool");
    memcpy(blocks, heap + (put_thread(0, 0x54485244, HEAP + 512) - HEAP), THREAD_BYTES);
    memcpy(blocks + THREAD_BYTES, blocks, THREAD_BYTES);
    blocks[THREAD_BYTES] ^= 1; // no control block any more
    fake_add(&fake, pool, blocks, sizeof blocks);
    add_event(pool);
    add_event(pool + THREAD_BYTES);
    end();
    check_shown(pool, "from a pool");
    check_shown(pool + THREAD_BYTES, "pool+0x10");
    assert_true(object_at(pool)->from_memory);
    assert_false(object_at(pool + THREAD_BYTES)->from_memory);
    look_close(&look);
}

// If a part of a registry slot is missing, wherever it is, the slot has no name. The other slots
// keep theirs.
static void test_hole_in_registry(void **state)
{
    (void)state;
    for (unsigned at = 0; at < 48; at++) { // offset in the second slot
        begin(3);
        for (unsigned i = 0; i < 3; i++)
            ring_register(&image, i,
                          &(struct ring_object){0, 1, 0x80, 5, 0x20004000 + 0x100 * i, 0, 0,
                                                "watchdog_manager_thread"});
        add_event(0x20004100);
        size_t hole = ring_header_bytes(&image.spec) + ring_object_bytes(&image.spec) + at;
        struct extract_memory *memory = images_open();
        images_add(memory, &image, 0, hole);
        images_add(memory, &image, hole + 1, image.length);
        look_open_memory(&look, memory, image.spec.address, NULL);
        check_shown(0x20004000, "watchdog_manager_thread");
        check_shown(0x20004100, "0x20004100");
        check_shown(0x20004200, "watchdog_manager_thread");
        assert_false(object_at(0x20004100)->registered);
        assert_int_equal(look.snapshot.registry_missing, 1);
        assert_int_equal(extract_trace_info(look.trace)->objects, 2);
        look_close(&look);
    }
}

static void test_without_symbols(void **state)
{
    (void)state;
    begin(0);
    strcpy((char *)heap + 512, "heap worker");
    add_event(put_thread(0, 0x54485244, HEAP + 512));
    look_open_memory(&look, fake_open(&fake, false), image.spec.address, NULL);
    check_shown(HEAP, "0x20008000");
    look_close(&look);
}

// On 64-bit targets with 4-byte ULONGs, the ring contains the lower halves of addresses. The ring's
// own address supplies the upper half.
static void test_lower_halves(void **state)
{
    struct ring_spec spec = ring_plain;
    struct extract_symbols *wide;
    (void)state;
    if (!build_elf("gcc -no-pie -static -mcmodel=large", "unsigned int", "0x559900000000", &wide))
        skip();
    spec.address = HIGH + 0x20000100;
    begin(0);
    ring_build(&image, &spec);
    fake.span[0].address = spec.address;
    fake.span[1].address = HIGH + HEAP;
    ring_number(heap, 0x54485244, 4, false);
    ring_number(heap + 16, HIGH + HEAP + 512, 8, false);
    strcpy((char *)heap + 512, "far away");
    add_event(0x30); // the linker's address of named_by_symbol
    add_event(HEAP);
    look_open_memory(&look, fake_open(&fake, false), spec.address, wide);
    check_shown(0x30, "named_by_symbol");
    check_shown(HEAP, "far away");
    look_close(&look);
    // The ring is just below the boundary between two upper halves, and its threads are above it.
    fake.span[0].address = HIGH - 64;
    spec.address = HIGH - 64;
    ring_build(&image, &spec);
    add_event(0x30);
    add_event(HEAP);
    look_open_memory(&look, fake_open(&fake, false), spec.address, wide);
    check_shown(0x30, "named_by_symbol");
    check_shown(HEAP, "far away");
    look_close(&look);
    extract_symbols_close(wide);
}

// ---- What reports print ----

static const struct {
    const char *name, *shown;
    unsigned columns;
} texts[] = {
    {"plain name", "plain name", 10},
    {"\x1b[31mred\x1b[0m", "\\x1b[31mred\\x1b[0m", 18},
    {"a\nb\rc\td", "a\\x0ab\\x0dc\\x09d", 16},
    {"\x7f\x01", "\\x7f\\x01", 8},
    {"t\xc3\xa4tig", "t\xc3\xa4tig", 5},                // valid UTF-8 is one column
    {"\xc3(\xff\xc0\x80", "\\xc3(\\xff\\xc0\\x80", 17}, // invalid: alone, impossible, overlong
    {"\xc2\x9b"
     "31m",
     "\\xc2\\x9b31m", 11},                   // CSI as a C1 control
    {"\xed\xa0\x80", "\\xed\\xa0\\x80", 12}, // a surrogate
    {"%s%n%x", "%s%n%x", 6},
};

enum { TEXTS = sizeof texts / sizeof *texts };

static void test_escapes(void **state)
{
    (void)state;
    begin(TEXTS);
    for (unsigned i = 0; i < TEXTS; i++)
        ring_register(&image, i,
                      &(struct ring_object){0, 1, 0, 0, 0x20004000 + i, 0, 0, texts[i].name});
    end();
    for (unsigned i = 0; i < TEXTS; i++) {
        const struct extract_object *object = object_at(0x20004000 + i);
        assert_string_equal(object->name, texts[i].name);
        assert_string_equal(object->shown, texts[i].shown);
        assert_int_equal(object->shown_columns, texts[i].columns);
        assert_int_equal(object->shown_bytes, strlen(texts[i].shown));
    }
    look_close(&look);
}

// A name without a terminator ends where its slot ends.
static void test_name_without_end(void **state)
{
    static const char name[] = "0123456789012345678901234567890123456789";
    (void)state;
    begin(2);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0, 0, 0x20004000, 0, 0, name});
    ring_register(&image, 1, &(struct ring_object){0, 1, 0, 0, 0x20004100, 0, 0, "next"});
    end();
    assert_int_equal(strlen(object_at(0x20004000)->name), 32);
    assert_memory_equal(object_at(0x20004000)->name, name, 32);
    check_shown(0x20004100, "next");
    look_close(&look);
}

// ---- Which object has an address ----

static void test_same_address(void **state)
{
    static const struct ring_object rows[] = {
        {1, 1, 0, 0, 0x20004000, 0, 0, "gone"},      {0, 1, 0, 0, 0x20004000, 0, 0, "alive"},
        {1, 1, 0, 0, 0x20004000, 0, 0, "gone too"},  {1, 1, 0, 0, 0x20004100, 0, 0, "only a ghost"},
        {0, 4, 0, 0, 0x20004200, 0, 0, "semaphore"}, {1, 1, 0, 0, 0x20004200, 0, 0, "was a thread"},
    };
    (void)state;
    begin(6);
    for (unsigned i = 0; i < 6; i++)
        ring_register(&image, i, &rows[i]);
    end();
    check_shown(0x20004000, "alive");
    check_shown(0x20004100, "only a ghost");
    check_shown(0x20004200, "was a thread");
    assert_string_equal(extract_trace_object(look.trace, 0x20004000)->name, "alive");
    assert_string_equal(extract_trace_object(look.trace, 0x20004200)->name, "semaphore");
    assert_null(extract_trace_thread(look.trace, 0x20004300));
    assert_null(extract_trace_object(look.trace, 0));
    look_close(&look);
}

// Interrupts and start-up are not threads. A thread that only events mention is one.
static void test_contexts_are_no_threads(void **state)
{
    const struct extract_object *objects;
    (void)state;
    begin(0);
    add_event(RING_IN_ISR);
    add_event(RING_IN_INIT);
    add_event(0x20004000);
    end();
    assert_int_equal(extract_trace_objects(look.trace, &objects), 1);
    assert_int_equal(objects[0].address, 0x20004000);
    assert_false(objects[0].registered);
    look_close(&look);
}

// A thread from which no event comes is a thread, too: an interrupted one, and one that runs next.
static void test_threads_in_passing(void **state)
{
    const struct extract_object *objects;
    (void)state;
    begin(0);
    ring_insert(&image, &(struct ring_entry){0x20004000, 1, 2, 5, {0x20004000, 6, 0, 0x20004100}});
    ring_insert(&image, &(struct ring_entry){RING_IN_ISR, 0x20004200, 3, 6, {0}});
    ring_insert(&image, &(struct ring_entry){RING_IN_ISR, 0, 1, 7, {0x20004300, 0, 0, 0x20004300}});
    end();
    assert_int_equal(extract_trace_objects(look.trace, &objects), 4);
    for (uint64_t i = 0; i < 4; i++) {
        assert_int_equal(object_at(0x20004000 + 0x100 * i)->address, 0x20004000 + 0x100 * i);
        assert_int_equal(object_at(0x20004000 + 0x100 * i)->priority, i ? EXTRACT_NO_PRIORITY : 1);
    }
    assert_int_equal(extract_trace_info(look.trace)->objects, 0); // objects in the registry
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_registry_first),
        cmocka_unit_test(test_symbols),
        cmocka_unit_test(test_control_blocks),
        cmocka_unit_test(test_without_symbols),
        cmocka_unit_test(test_lower_halves),
        cmocka_unit_test(test_escapes),
        cmocka_unit_test(test_name_without_end),
        cmocka_unit_test(test_same_address),
        cmocka_unit_test(test_contexts_are_no_threads),
        cmocka_unit_test(test_symbol_or_control_block),
        cmocka_unit_test(test_hole_in_registry),
        cmocka_unit_test(test_threads_in_passing),
    };
    return cmocka_run_group_tests(tests, compile, remove_all);
}
