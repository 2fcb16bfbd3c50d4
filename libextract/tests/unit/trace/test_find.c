// SPDX-License-Identifier: MIT
// unit: finding the ring by the firmware's symbols, by address and by scanning; what that costs,
// and the errors if there is no ring.
//
// Truth: the layout that the test has made, and the linker's addresses.
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include "memory/memory_hooks.h"
#include <fcntl.h>
#include <unistd.h>

enum { GLOBALS_BYTES = 4096, MAX_DECOYS = 16 };

struct target {
    const char *compiler, *ulong;
    unsigned word_bytes, pointer_bytes;
    bool big_endian;
    uint64_t address; // address of the ring
};

static const struct target targets[] = {
    {"arm-none-eabi-gcc -mcpu=cortex-m3", "unsigned long", 4, 4, false, 0x20002000},
    // With 8-byte pointers and 4-byte ULONGs, the header contains the lower halves.
    {"gcc -no-pie -static", "unsigned int", 4, 8, false, UINT64_C(0x5599A70D4360)},
    {"riscv64-unknown-elf-gcc -mcmodel=medany", "unsigned long", 8, 8, false, 0x80002000},
    {"m68k-linux-gnu-gcc -mcpu=5208 -static", "unsigned long", 4, 4, true, 0x20002000},
};

// A firmware, its globals and its ring.
static struct board {
    const struct target *target;
    struct extract_symbols *symbols;
    uint64_t base; // address of the globals
    uint8_t globals[GLOBALS_BYTES];
    struct ring_image image;
    struct fake_memory fake;
} board;

static struct extract_memory *memory;
static struct extract_ring ring;
static struct extract_error error;

static void compile(const struct target *target, const char *options)
{
    char command[1024], *source = realpath("libextract/tests/data/good/firmware.c", NULL);
    assert_non_null(source);
    snprintf(command, sizeof command,
             "%s %s -DULONG_TYPE='%s' -O1 -std=gnu11 -ffreestanding -nostdlib "
             "-Wl,--build-id=none,-Tbss=0x20000000 -o fw.elf %s",
             target->compiler, options, target->ulong, source);
    (free)(source); // the library's wrapper did not allocate realpath's block
    memset(&board, 0, sizeof board);
    board.target = target;
    if (!scratch_run(command))
        skip();
    assert_int_equal(extract_symbols_open(&board.symbols, scratch_path("fw.elf"), &error),
                     EXTRACT_OK);
}

static uint64_t address_of(const char *name)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(board.symbols, name, &symbol));
    return symbol.address;
}

static void set_global(const char *name, uint64_t value)
{
    const struct target *t = board.target;
    uint64_t offset = address_of(name) - board.base;
    assert_true(offset + t->pointer_bytes <= GLOBALS_BYTES);
    ring_number(board.globals + offset, value, t->pointer_bytes, t->big_endian);
}

// Builds the memory of a running firmware: the ring, and the globals that lead to it. 64-bit
// targets with 4-byte ULONGs store the lower halves of addresses.
static void board_start(unsigned objects, unsigned entries)
{
    const struct target *t = board.target;
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 100;
    spec.word_bytes = t->word_bytes;
    spec.big_endian = t->big_endian;
    spec.address = t->address;
    spec.objects = objects;
    spec.entries = entries;
    ring_build(&board.image, &spec);
    for (unsigned i = 0; i < objects; i++)
        ring_register(&board.image, i,
                      &(struct ring_object){0, 1, 0x80, 5, 0x20004000 + i, 0, 0, "thread"});
    ring_run(&board.image, entries + 3, &stamp, 10);
    board.base = address_of("_tx_trace_buffer_current_ptr") & ~(uint64_t)(GLOBALS_BYTES - 1);
    set_global("_tx_trace_buffer_start_ptr", ring_slot_address(&board.image, 0));
    set_global("_tx_trace_buffer_current_ptr",
               ring_slot_address(&board.image, board.image.current));
    fake_add(&board.fake, board.base, board.globals, sizeof board.globals);
    fake_add(&board.fake, t->address, board.image.bytes, board.image.length);
    memory = fake_open(&board.fake, false);
}

static void board_stop(void)
{
    extract_memory_close(memory);
    extract_symbols_close(board.symbols);
}

static enum extract_code find(void)
{
    memset(&error, 0, sizeof error);
    return extract_ring_find(&ring, memory, board.symbols, NULL, &error);
}

static void assert_said(const char *text)
{
    char message[700];
    extract_error_format(&error, message, sizeof message);
    if (!strstr(message, text) || !error.what[0] || !error.hint[0])
        fail_msg("the message does not say \"%s\", what and a way out: %s", text, message);
}

// ---- By symbols ----

static void check_ring(void)
{
    const struct target *t = board.target;
    assert_int_equal(ring.address, t->address);
    assert_int_equal(ring.origin, EXTRACT_FROM_SYMBOL);
    assert_int_equal(ring.word_bytes, t->word_bytes);
    assert_int_equal(ring.pointer_bytes, t->pointer_bytes);
    assert_int_equal(ring.byte_order, t->big_endian ? EXTRACT_BIG : EXTRACT_LITTLE);
    assert_int_equal(ring.entries.start, ring_slot_address(&board.image, 0));
    assert_int_equal(ring.entries.count, 8);
    assert_int_equal(ring.current_symbol, address_of("_tx_trace_buffer_current_ptr"));
    assert_int_equal(ring.filter_symbol, address_of("_tx_trace_event_enable_bits"));
}

static void check_cost(const struct look *look)
{
    const struct ring_spec *spec = &board.image.spec;
    const struct extract_memory_cost *cost = &look->snapshot.cost;
    uint64_t all = ring_header_bytes(spec) + spec->objects * ring_object_bytes(spec) +
                   spec->entries * ring_entry_bytes(spec);
    if (cost->reads > 4 || cost->bytes > all + 64)
        fail_msg("%s: %llu reads, %llu bytes more than the ring", board.target->compiler,
                 (unsigned long long)cost->reads, (unsigned long long)(cost->bytes - all));
    assert_int_equal(cost->failed, 0);
    // Names in the registry need no further reads.
    assert_int_equal(extract_memory_cost(look->memory).reads, cost->reads);
}

static void check_target(const struct target *target, const char *options)
{
    struct look look;
    size_t count;
    compile(target, options);
    board_start(3, 8);
    set_global("_tx_trace_header_ptr", target->address);
    assert_int_equal(find(), EXTRACT_OK);
    check_ring();
    extract_memory_close(memory);
    look_open_memory(&look, fake_open(&board.fake, false), 0, board.symbols);
    check_cost(&look);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 8);
    assert_int_equal(events[0].field[0], 3);
    assert_true(look.snapshot.ring.enabled_known && look.snapshot.ring.enabled);
    look_close(&look);
    extract_symbols_close(board.symbols);
}

static void test_by_header(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        check_target(&targets[i], "-g");
        check_target(&targets[i], "-g0");
    }
}

// Without the header's own symbol, the header is searched before the entries. The registry between
// them may have any length, and the ring may be at the very start of the RAM.
static void test_by_entries(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++)
        for (unsigned objects = 1; objects < 400; objects *= 7) {
            compile(&targets[i], "-DWITHOUT_HEADER");
            board_start(objects, 8);
            assert_int_equal(find(), EXTRACT_OK);
            check_ring();
            board_stop();
        }
}

// The header is damaged, in one byte or in all; the kernel's other variables contain its layout.
static void check_rebuilt(const struct target *target, const char *options, size_t from,
                          size_t bytes)
{
    struct look look;
    size_t count;

    compile(target, options);
    board_start(3, 8);
    if (!strstr(options, "WITHOUT_HEADER"))
        set_global("_tx_trace_header_ptr", target->address);
    set_global("_tx_trace_registry_start_ptr",
               target->address + ring_header_bytes(&board.image.spec));
    set_global("_tx_trace_buffer_end_ptr", ring_slot_address(&board.image, 8));
    ring_number(board.globals + (address_of("_tx_trace_total_registry_entries") - board.base), 3,
                target->word_bytes, target->big_endian);
    memset(board.image.bytes + from, 0, bytes);
    look_open_memory(&look, memory, 0, board.symbols);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(look.snapshot.ring.origin, EXTRACT_FROM_REBUILT);
    assert_int_equal(look.snapshot.ring.registry.count, 3);
    assert_int_equal(count, 8);
    assert_int_equal(events[0].field[0], 3);
    assert_int_equal(events[7].field[0], 10);
    look_close(&look);
    // Pointers that do not agree with each other are no layout.
    memory = fake_open(&board.fake, false);
    set_global("_tx_trace_buffer_end_ptr", ring_slot_address(&board.image, 8) + 4);
    assert_int_not_equal(find(), EXTRACT_OK);
    set_global("_tx_trace_buffer_end_ptr", ring_slot_address(&board.image, 8));
    set_global("_tx_trace_buffer_current_ptr", 0);
    assert_int_not_equal(find(), EXTRACT_OK);
    board_stop();
}

static void test_rebuilt(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof targets / sizeof *targets; i++) {
        unsigned word = targets[i].word_bytes;
        check_rebuilt(&targets[i], "-g", 0, 12 * word);
        check_rebuilt(&targets[i], "-g0", 0, 12 * word);
        check_rebuilt(&targets[i], "-g", 0, word);
        check_rebuilt(&targets[i], "-g", 3 * word, 2 * word);
        check_rebuilt(&targets[i], "-DWITHOUT_HEADER", 0, 12 * word);
    }
}

static void test_never_enabled(void **state)
{
    static const char *const options[] = {"-g", "-DWITHOUT_HEADER"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        compile(&targets[0], options[i]);
        board_start(3, 8);
        set_global("_tx_trace_buffer_start_ptr", 0);
        assert_int_equal(find(), EXTRACT_ABSENT);
        assert_said("never enabled");
        board_stop();
    }
}

// tx_trace_disable clears the live pointer; the header and the entries remain.
static void test_disabled(void **state)
{
    struct look look;
    size_t count;
    (void)state;
    compile(&targets[0], "-g");
    board_start(3, 8);
    set_global("_tx_trace_header_ptr", targets[0].address);
    set_global("_tx_trace_buffer_current_ptr", 0);
    look_open_memory(&look, memory, 0, board.symbols);
    look_events(&look, &count);
    assert_int_equal(count, 8);
    assert_int_equal(look.snapshot.current, 3);
    assert_true(look.snapshot.ring.enabled_known);
    assert_false(look.snapshot.ring.enabled);
    assert_false(extract_trace_info(look.trace)->running);
    look_close(&look);
    extract_symbols_close(board.symbols);
}

// The target was halted between the stores of the two pointers. The live pointer is ahead, and is
// right.
static void test_header_lags(void **state)
{
    struct look look;
    (void)state;
    compile(&targets[0], "-g");
    board_start(3, 8);
    set_global("_tx_trace_header_ptr", targets[0].address);
    ring_point(&board.image, 2);
    look_open_memory(&look, memory, 0, board.symbols);
    assert_int_equal(look.snapshot.current, 3);
    assert_int_equal(look.snapshot.verdict[2], EXTRACT_GOOD);
    assert_false(look.snapshot.moved);
    look_close(&look);
    extract_symbols_close(board.symbols);
}

static void test_bad_headers(void **state)
{
    (void)state;
    compile(&targets[0], "-g");
    board_start(3, 8);
    set_global("_tx_trace_header_ptr", 0x70000000);
    assert_int_equal(find(), EXTRACT_UNREADABLE);
    assert_said("0x70000000");
    set_global("_tx_trace_header_ptr", targets[0].address + 4);
    assert_int_equal(find(), EXTRACT_BAD);
    assert_said("0x20002004");
    board.fake.span[0].length = 0; // the globals themselves are missing
    assert_int_equal(find(), EXTRACT_UNREADABLE);
    board_stop();
}

static void test_no_symbols(void **state)
{
    (void)state;
    compile(&targets[0], "-Wl,-s");
    board.base = 0x20000000;
    memory = fake_open(&board.fake, false);
    assert_int_equal(find(), EXTRACT_NOTFOUND);
    assert_said("_tx_trace_header_ptr");
    extract_symbols_close(board.symbols);
    board.symbols = NULL;
    assert_int_equal(find(), EXTRACT_NOTFOUND);
    assert_said("address of the trace ring is unknown");
    board_stop();
}

// The caller passes the header's address. The live globals are used if they refer to this ring.
static void test_address_with_symbols(void **state)
{
    struct extract_ring_options at = {
        .size = sizeof at, .address_known = true, .address = targets[0].address};
    struct look look;
    (void)state;
    compile(&targets[0], "-g");
    board_start(3, 8);
    assert_int_equal(extract_ring_find(&ring, memory, board.symbols, &at, &error), EXTRACT_OK);
    assert_int_equal(ring.current_symbol, 0); // the globals refer to another ring, or to none
    assert_int_equal(ring.filter_symbol, 0);
    set_global("_tx_trace_header_ptr", targets[0].address);
    set_global("_tx_trace_buffer_current_ptr", 0);
    assert_int_equal(extract_ring_find(&ring, memory, board.symbols, &at, &error), EXTRACT_OK);
    assert_int_equal(ring.current_symbol, address_of("_tx_trace_buffer_current_ptr"));
    assert_int_equal(ring.filter_symbol, address_of("_tx_trace_event_enable_bits"));
    look_open_memory(&look, memory, targets[0].address, board.symbols);
    assert_true(look.snapshot.ring.enabled_known && !look.snapshot.ring.enabled);
    look_close(&look);
    extract_symbols_close(board.symbols);
}

// The memory does not change, and its live pointer is `ahead` slots after the header's. One slot
// means that the writer was halted between its two stores. More slots were written after the header
// was read.
static void check_ahead(unsigned ahead)
{
    struct look look;
    compile(&targets[0], "-g");
    board_start(3, 8);
    set_global("_tx_trace_header_ptr", targets[0].address);
    ring_point(&board.image, (3 + 8 - ahead) % 8);
    look_open_memory(&look, memory, 0, board.symbols);
    assert_int_equal(look.snapshot.current, 3);
    assert_int_equal(look.snapshot.counts[EXTRACT_OVERWRITTEN], ahead > 1 ? ahead : 0);
    for (unsigned i = 1; i <= ahead; i++)
        assert_int_equal(look.snapshot.verdict[(3 + 8 - i) % 8],
                         ahead > 1 ? EXTRACT_OVERWRITTEN : EXTRACT_GOOD);
    assert_int_equal(look.snapshot.moved, ahead > 1);
    assert_accounted(&look);
    look_close(&look);
    extract_symbols_close(board.symbols);
}

static void test_ran_meanwhile(void **state)
{
    (void)state;
    for (unsigned ahead = 0; ahead < 8; ahead++)
        check_ahead(ahead);
}

// ---- By address and by scanning ----

static struct ring_image ring_image, decoy;
static unsigned decoys;

// Makes the board's memory searchable, by opening it as images.
static void use_images(void)
{
    extract_memory_close(memory);
    memory = images_open();
    assert_int_equal(extract_memory_add_bytes(memory, "globals", board.globals,
                                              sizeof board.globals, board.base, NULL),
                     EXTRACT_OK);
    images_add(memory, &board.image, 0, board.image.length);
}

// An ELF without any symbols of the ring is no worse than none.
static void test_stripped(void **state)
{
    (void)state;
    compile(&targets[0], "-Wl,-s");
    ring_build(&ring_image, &ring_plain);
    memory = images_open();
    assert_int_equal(find(), EXTRACT_NOTFOUND);
    images_add(memory, &ring_image, 0, ring_image.length);
    assert_int_equal(find(), EXTRACT_OK);
    assert_int_equal(ring.origin, EXTRACT_FROM_SCAN);
    assert_int_equal(ring.address, 0x20000100);
    assert_false(ring.doubtful);
    each_allocation_fails(find);
    board_stop();
}

// What the symbols say of the trace overrides rings found by scanning, unless the symbols are
// wrong, or there is no trace yet: a ring may be from before a reset.
static void test_symbols_before_scan(void **state)
{
    static const char *const options[] = {"-g", "-DWITHOUT_HEADER"};
    (void)state;
    for (size_t i = 0; i < 2; i++) {
        compile(&targets[0], options[i]);
        board_start(3, 8);
        set_global("_tx_trace_buffer_start_ptr", 0);
        use_images();
        assert_int_equal(find(), EXTRACT_OK);
        assert_int_equal(ring.origin, EXTRACT_FROM_EARLIER);
        board_stop();
    }
    compile(&targets[0], "-g");
    board_start(3, 8);
    set_global("_tx_trace_header_ptr", targets[0].address + 4);
    use_images();
    assert_int_equal(find(), EXTRACT_OK);
    assert_int_equal(ring.origin, EXTRACT_FROM_SCAN);
    assert_true(ring.doubtful);
    set_global("_tx_trace_header_ptr", targets[0].address);
    use_images();
    assert_int_equal(find(), EXTRACT_OK);
    assert_int_equal(ring.origin, EXTRACT_FROM_SYMBOL);
    assert_false(ring.doubtful);
    board_stop();
}

// Opens a ring of this layout as a .trx and as an image, with the firmware of `target`.
static void check_foreign(const struct target *target, unsigned word_bytes, bool big_endian,
                          bool doubtful)
{
    struct ring_spec spec = ring_plain;
    spec.word_bytes = word_bytes;
    spec.big_endian = big_endian;
    compile(target, "-g");
    ring_build(&ring_image, &spec);
    for (unsigned turn = 0; turn < 2; turn++) {
        memory = images_open();
        images_add(memory, &ring_image, 0, ring_image.length);
        if (turn) {
            extract_memory_close(memory);
            const char *path = scratch_write("a.trx", ring_image.bytes, ring_image.length);
            assert_int_equal(extract_memory_open_trx(&memory, path, &error), EXTRACT_OK);
        }
        assert_int_equal(find(), EXTRACT_OK);
        assert_int_equal(ring.origin, turn ? EXTRACT_FROM_FILE : EXTRACT_FROM_SCAN);
        assert_int_equal(ring.word_bytes, word_bytes);
        assert_int_equal(ring.entries.count, 8);
        assert_int_equal(ring.doubtful, doubtful);
        extract_memory_close(memory);
    }
    extract_symbols_close(board.symbols);
}

static void test_other_firmware(void **state)
{
    (void)state;
    check_foreign(&targets[0], 4, false, false);
    check_foreign(&targets[0], 8, false, true); // this ELF has narrower words
    check_foreign(&targets[0], 4, true, true);
    check_foreign(&targets[0], 8, true, true);
    check_foreign(&targets[2], 8, false, false);
    check_foreign(&targets[2], 4, false, true); // this ELF has wider words
    check_foreign(&targets[2], 4, true, true);
}

static void add_bytes(const char *name, const struct ring_image *image)
{
    assert_int_equal(extract_memory_add_bytes(memory, name, image->bytes, image->length,
                                              image->spec.address, &error),
                     EXTRACT_OK);
}

// Adds a complete header at an address of its own, and then makes one of its words wrong.
static void add_decoy(unsigned word, uint64_t value)
{
    struct ring_spec spec = ring_plain;
    spec.address = 0x20010000 + 0x1000 * decoys++;
    ring_build(&decoy, &spec);
    ring_header_word(&decoy, word, value);
    add_bytes("decoy", &decoy);
}

static uint64_t decoy_entries(unsigned slot)
{
    struct ring_spec spec = ring_plain;
    spec.address = 0x20010000 + 0x1000 * decoys; // address of the next decoy
    decoy.spec = spec;
    return ring_slot_address(&decoy, slot);
}

// Each decoy fails exactly one of the checks.
static void add_decoys(void)
{
    decoys = 0;
    add_decoy(WORD_BASE, 0x20010004);
    add_decoy(WORD_REGISTRY_START, 0x20010000 + 0x1000 * decoys + 52);
    add_decoy(4, 0x00200001); // reserved1 is 1
    add_decoy(4, 0);          // names of no bytes
    add_decoy(WORD_REGISTRY_END, decoy_entries(0) - 4);
    add_decoy(WORD_ENTRIES_START, decoy_entries(1));
    add_decoy(WORD_ENTRIES_END, decoy_entries(8) + 4);
    add_decoy(WORD_ENTRIES_END, decoy_entries(0));
    add_decoy(WORD_CURRENT, decoy_entries(8));
    add_decoy(WORD_CURRENT, decoy_entries(0) - 32);
    add_decoy(WORD_CURRENT, decoy_entries(2) + 8);
    for (unsigned i = 0; i < 3; i++)
        add_decoy(WORD_RESERVED2 + i, 0);
}

static bool count_hit(void *context, const struct extract_ring *hit)
{
    (*(unsigned *)context)++;
    ring = *hit;
    return true;
}

static unsigned scan(uint64_t *candidates)
{
    unsigned hits = 0;
    assert_int_equal(extract_ring_scan(memory, count_hit, &hits, candidates, &error), EXTRACT_OK);
    return hits;
}

static void test_scan_with_decoys(void **state)
{
    uint64_t stamp = 5, candidates;
    (void)state;
    ring_build(&ring_image, &ring_plain);
    ring_run(&ring_image, 12, &stamp, 1);
    for (unsigned slot = 0; slot < 8; slot++) // payloads that contain the header's id
        ring_word(&ring_image, slot, 4 + slot % 4, 0x54585442);
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    add_decoys();
    assert_int_equal(scan(&candidates), 0);
    assert_int_equal(candidates, decoys);
    assert_int_equal(extract_ring_find(&ring, memory, NULL, NULL, &error), EXTRACT_NOTFOUND);
    assert_said("no trace ring was found");
    add_bytes("ring", &ring_image);
    assert_int_equal(scan(&candidates), 1);
    assert_int_equal(candidates, decoys + 8 + 1);
    assert_int_equal(extract_ring_find(&ring, memory, NULL, NULL, &error), EXTRACT_OK);
    assert_int_equal(ring.address, 0x20000100);
    assert_int_equal(ring.origin, EXTRACT_FROM_SCAN);
    extract_memory_close(memory);
}

static void test_scan_with_two(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    for (unsigned i = 0; i < 2; i++) {
        spec.address = 0x20000000 + i * 0x8000;
        ring_build(&ring_image, &spec);
        add_bytes("ring", &ring_image);
    }
    assert_int_equal(scan(NULL), 2);
    assert_int_equal(extract_ring_find(&ring, memory, NULL, NULL, &error), EXTRACT_NOTFOUND);
    assert_said("0x20008000");
    extract_memory_close(memory);
}

static bool own_region(void *context, size_t i, struct extract_region *region)
{
    (void)context;
    *region = (struct extract_region){.address = 0x20000000, .length = ring_image.length};
    return i == 0;
}

// The memory of a target is where it is, so that it is read once if it has a ring.
static void test_scan_of_a_target(void **state)
{
    static struct fake_memory fake;
    const struct extract_memory_source source = {
        .read = fake_read, .context = &fake, .region = own_region};
    struct ring_spec spec = ring_plain;
    (void)state;
    spec.address = 0x20000000;
    ring_build(&ring_image, &spec);
    fake_add(&fake, spec.address, ring_image.bytes, ring_image.length);
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
    assert_int_equal(scan(NULL), 1);
    assert_true(extract_memory_cost(memory).bytes < 2 * ring_image.length);
    extract_memory_close(memory);
}

// Scans for a ring in the given layout, at an offset in a large region, also across the chunks of
// the search.
static void check_scan_at(unsigned word_bytes, bool big_endian, uint64_t offset)
{
    static uint8_t ram[3 * 64 * 1024];
    struct ring_spec spec = ring_plain;
    spec.word_bytes = word_bytes;
    spec.big_endian = big_endian;
    spec.address = 0x20000000 + offset;
    ring_build(&ring_image, &spec);
    memset(ram, 0, sizeof ram);
    memcpy(ram + offset, ring_image.bytes, ring_image.length);
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "ram", ram, sizeof ram, 0x20000000, &error),
                     EXTRACT_OK);
    if (scan(NULL) != 1)
        fail_msg("%u bytes, %s: not found at 0x%llx", word_bytes, big_endian ? "big" : "little",
                 (unsigned long long)offset);
    assert_int_equal(ring.address, spec.address);
    assert_int_equal(ring.word_bytes, word_bytes);
    extract_memory_close(memory);
}

static void test_scan_places(void **state)
{
    (void)state;
    for (unsigned word_bytes = 4; word_bytes <= 8; word_bytes += 4)
        for (unsigned turn = 0; turn < 2; turn++) {
            check_scan_at(word_bytes, turn, 0);
            for (uint64_t at = 65536 - 256; at <= 65536 + 64; at += 4)
                check_scan_at(word_bytes, turn, at);
        }
}

// Scans for the same ring in a file that is a hole everywhere else.
static void check_scan_in_file(unsigned word_bytes, bool big_endian, uint64_t offset,
                               uint64_t length, uint64_t base)
{
    const char *path = scratch_path("sparse.bin");
    struct ring_spec spec = ring_plain;
    size_t zeros = big_endian && word_bytes == 8 ? 4 : 0; // of the first word: they stay a hole
    spec.word_bytes = word_bytes;
    spec.big_endian = big_endian;
    spec.address = base + offset;
    ring_build(&ring_image, &spec);
    int file = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
    assert_true(file >= 0);
    assert_int_equal(ftruncate(file, (off_t)length), 0);
    assert_int_equal(
        pwrite(file, ring_image.bytes + zeros, ring_image.length - zeros, (off_t)(offset + zeros)),
        ring_image.length - zeros);
    close(file);
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_add_image(memory, path, base, &error), EXTRACT_OK);
    if (scan(NULL) != 1)
        fail_msg("%u bytes, %s: not found at 0x%llx of 0x%llx", word_bytes,
                 big_endian ? "big" : "little", (unsigned long long)offset,
                 (unsigned long long)length);
    assert_int_equal(ring.address, spec.address);
    assert_int_equal(ring.word_bytes, word_bytes);
    extract_memory_close(memory);
}

static void test_scan_of_sparse_files(void **state)
{
    (void)state;
    for (unsigned word_bytes = 4; word_bytes <= 8; word_bytes += 4)
        for (unsigned turn = 0; turn < 2; turn++) {
            for (uint64_t at = 2 * 65536 - 24; at <= 2 * 65536 + 24; at += 4) {
                check_scan_in_file(word_bytes, turn, at, 3 * 65536, 0x20000000);
                check_scan_in_file(word_bytes, turn, at + 1, 3 * 65536, 0x20000003);
            }
            // The file is larger than any host's memory.
            check_scan_in_file(word_bytes, turn, (UINT64_C(5) << 30) + 4096 - 4, UINT64_C(1) << 40,
                               0);
        }
}

// A file that becomes shorter leaves memory that cannot be read. A file that overlaps another is
// refused.
static void test_files_are_read_where_needed(void **state)
{
    struct ring_spec spec = ring_plain;
    const char *path = scratch_path("shrinks.bin");
    uint8_t bytes[64];
    size_t got;
    (void)state;
    ring_build(&ring_image, &spec);
    scratch_write("shrinks.bin", ring_image.bytes, ring_image.length);
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_add_image(memory, path, 0x20000100, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_add_image(memory, path, 0x20000108, &error), EXTRACT_BAD);
    assert_said("overlaps 0x20000100");
    assert_int_equal(extract_memory_read(memory, 0x20000100, bytes, 64, &got, &error), EXTRACT_OK);
    assert_memory_equal(bytes, ring_image.bytes, 64);
    assert_int_equal(truncate(path, 40), 0);
    assert_int_equal(extract_memory_read(memory, 0x20000100, bytes, 64, &got, &error),
                     EXTRACT_UNREADABLE);
    assert_int_equal(got, 40);
    assert_int_equal(error.where, 0x20000128);
    extract_memory_close(memory);
}

static void test_by_address(void **state)
{
    struct extract_ring_options at = {.size = sizeof at, .address_known = true};
    (void)state;
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    ring_build(&ring_image, &ring_plain);
    ring_header_word(&ring_image, WORD_RESERVED2, 0); // unchecked if the caller gives the address
    add_bytes("ring", &ring_image);
    at.address = 0x20000100;
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &at, &error), EXTRACT_OK);
    assert_int_equal(ring.origin, EXTRACT_FROM_ADDRESS);
    at.address = 0x20000104;
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &at, &error), EXTRACT_BAD);
    assert_said("0x20000104");
    at.address = 0x10;
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &at, &error), EXTRACT_UNREADABLE);
    at.format = "nonsense";
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &at, &error), EXTRACT_USAGE);
    assert_said("nonsense");
    extract_memory_close(memory);
}

// The header spans several adjacent images, which are added in any order.
static void test_scan_over_images(void **state)
{
    struct ring_spec spec = ring_plain;
    (void)state;
    for (spec.word_bytes = 4; spec.word_bytes <= 8; spec.word_bytes += 4) {
        ring_build(&ring_image, &spec);
        for (size_t cut = 2; cut < 160; cut += 6)
            for (unsigned turn = 0; turn < 4; turn++) {
                size_t second = cut + 4, hole = turn / 2;
                memory = images_open();
                if (turn & 1)
                    images_add(memory, &ring_image, second + hole, ring_image.length);
                images_add(memory, &ring_image, 0, cut);
                images_add(memory, &ring_image, cut, second);
                if (!(turn & 1))
                    images_add(memory, &ring_image, second + hole, ring_image.length);
                // A header with a hole in it is not found.
                bool whole = !hole || second >= ring_header_bytes(&spec);
                assert_int_equal(scan(NULL), whole);
                extract_memory_close(memory);
            }
    }
}

// A 4-byte header with a mask of 0 starts like an 8-byte one.
static void test_file_with_mask_of_zero(void **state)
{
    static const uint64_t masks[] = {0, 0xFFFFFFFF};
    struct ring_spec spec = ring_plain;
    uint64_t start;
    (void)state;
    for (unsigned turn = 0; turn < 8; turn++) {
        spec.mask = masks[turn & 1];
        spec.big_endian = turn & 2;
        spec.word_bytes = turn & 4 ? 8 : 4;
        ring_build(&ring_image, &spec);
        const char *path = scratch_write("a.trx", ring_image.bytes, ring_image.length);
        assert_int_equal(extract_memory_open_trx(&memory, path, &error), EXTRACT_OK);
        assert_true(extract_memory_start(memory, &start));
        assert_int_equal(start, 0x20000100);
        assert_int_equal(extract_ring_find(&ring, memory, NULL, NULL, &error), EXTRACT_OK);
        assert_int_equal(ring.word_bytes, spec.word_bytes);
        extract_memory_close(memory);
    }
}

// The stored lower halves restart at 0 inside of the ring, wherever that boundary is.
static void test_over_4_gib(void **state)
{
    const uint64_t boundary = UINT64_C(0x559A00000000);
    struct ring_spec spec = ring_plain;
    struct look look;
    (void)state;
    for (unsigned before = 16; before < 500; before += 44) {
        uint64_t stamp = 7;
        size_t count;
        spec.address = boundary - before;
        ring_build(&ring_image, &spec);
        ring_run(&ring_image, 13, &stamp, 1);
        look_open(&look, &ring_image);
        assert_int_equal(look.ring.entries.start, ring_slot_address(&ring_image, 0));
        assert_int_equal(look.ring.current, ring_slot_address(&ring_image, 5));
        assert_int_equal(look_events(&look, &count)[0].field[0], 5);
        assert_int_equal(count, 8);
        memory = look.memory;
        assert_int_equal(scan(NULL), 1);
        assert_int_equal(ring.address, spec.address);
        look_close(&look);
        // If the target runs, the header's own pointer is read again.
        struct fake_memory fake = {0};
        fake_add(&fake, spec.address, ring_image.bytes, ring_image.length);
        look_open_memory(&look, fake_open(&fake, true), spec.address, NULL);
        assert_int_equal(look.snapshot.counts[EXTRACT_OVERWRITTEN], 0);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_by_header),
        cmocka_unit_test(test_by_entries),
        cmocka_unit_test(test_rebuilt),
        cmocka_unit_test(test_never_enabled),
        cmocka_unit_test(test_disabled),
        cmocka_unit_test(test_header_lags),
        cmocka_unit_test(test_bad_headers),
        cmocka_unit_test(test_no_symbols),
        cmocka_unit_test(test_scan_with_decoys),
        cmocka_unit_test(test_scan_with_two),
        cmocka_unit_test(test_scan_of_a_target),
        cmocka_unit_test(test_scan_places),
        cmocka_unit_test(test_scan_of_sparse_files),
        cmocka_unit_test(test_files_are_read_where_needed),
        cmocka_unit_test(test_by_address),
        cmocka_unit_test(test_address_with_symbols),
        cmocka_unit_test(test_ran_meanwhile),
        cmocka_unit_test(test_stripped),
        cmocka_unit_test(test_symbols_before_scan),
        cmocka_unit_test(test_other_firmware),
        cmocka_unit_test(test_scan_over_images),
        cmocka_unit_test(test_file_with_mask_of_zero),
        cmocka_unit_test(test_over_4_gib),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
