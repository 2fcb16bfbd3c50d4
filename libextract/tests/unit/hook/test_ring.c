// SPDX-License-Identifier: MIT
// Tests rings of hook words: what a ring holds and has lost, its state, damage, holes in its
// memory, finding it, and saving it. Truth: what the test wrote and then damaged.
#include "tests/unit/hook/hook_builder.h"
#include "tests/unit/scratch.h"
#include "snapshot/snapshot_room.h"
#include <extract/report.h>

enum { PLAIN = 20 }; // size of the records of hooks_put_plain

static struct hooks hooks;
static struct extract_error error;

static const struct extract_info *info_of(const struct look *look)
{
    return extract_trace_info(look->trace);
}

static void put_plain(unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        hooks_put_plain(&hooks, i, 1000 + 10 * i);
}

// Checks that the events are those with these numbers, in this order.
static void check_numbers(const struct look *look, const unsigned *numbers, size_t expected)
{
    size_t count;
    const struct extract_event *events = look_events(look, &count);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].field[0], numbers[i]);
        assert_int_equal(events[i].raw_stamp, 1000 + 10 * numbers[i]);
    }
}

static void check_run(const struct look *look, unsigned first, unsigned count)
{
    unsigned numbers[MAX_EVENTS];
    for (unsigned i = 0; i < count; i++)
        numbers[i] = first + i;
    check_numbers(look, numbers, count);
}

// ---- What a ring holds, and its state ----

static void test_empty(void **state)
{
    struct look look;
    (void)state;
    hooks_build(&hooks, true, 64, 0);
    hooks_look(&look, &hooks);
    const struct extract_info *info = info_of(&look);
    assert_int_equal(info->entries_total, 0);
    assert_true(info->lost_known && !info->events_lost);
    assert_false(info->wrapped || info->full || info->overrun);
    assert_true(info->running && info->running_known);
    look_close(&look);
}

static void test_newest_kept(void **state)
{
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(100); // 12 records of 20 bytes fit into 256 bytes
    hooks_look(&look, &hooks);
    const struct extract_info *info = info_of(&look);
    check_run(&look, 88, 12);
    assert_int_equal(info->entries_total, 12);
    assert_true(info->lost_known);
    assert_int_equal(info->events_lost, 88);
    assert_true(info->wrapped && info->full && info->overrun);
    assert_int_equal(info->clock.direction, EXTRACT_CLOCK_UP);
    assert_int_equal(info->clock.modulus, UINT64_C(1) << 32);
    assert_int_equal(look.ring.hz, 1000000);
    look_close(&look);
}

static void test_until_full(void **state)
{
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(12);
    hooks_word(&hooks, HOOKS_FLAGS, 2); // stopped; the ring keeps the oldest records
    hooks_word(&hooks, HOOKS_LOST, 1);
    hooks_look(&look, &hooks);
    const struct extract_info *info = info_of(&look);
    check_run(&look, 0, 12);
    assert_int_equal(info->events_lost, 1);
    assert_true(info->lost_known && info->full && info->overrun);
    assert_false(info->wrapped || info->running);
    look_close(&look);
}

// The ring refused a record that was too long, although it was not full.
static void test_lost_but_not_full(void **state)
{
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(2);
    hooks_word(&hooks, HOOKS_FLAGS, 3);
    hooks_word(&hooks, HOOKS_LOST, 7);
    hooks_look(&look, &hooks);
    const struct extract_info *info = info_of(&look);
    assert_int_equal(info->events_lost, 7);
    assert_true(info->overrun && !info->full && !info->wrapped);
    look_close(&look);
}

// Positions and counts continue modulo 2^32.
static void test_positions_wrap(void **state)
{
    struct look look;
    (void)state;
    for (uint32_t start = 0U - 400; start; start += 20) {
        hooks_build(&hooks, start & 16, 256, start);
        hooks.records = UINT32_MAX - 5;
        put_plain(40);
        hooks_look(&look, &hooks);
        check_run(&look, 28, 12);
        // 2^32 - 6 entries had been counted before these 40, so the count is 34.
        assert_int_equal(info_of(&look)->events_lost, 34 - 12);
        look_close(&look);
    }
}

// The clock has 16 bits. After it wraps, time still increases, although the timestamps decrease
// more often than they increase.
static void test_clock_bits(void **state)
{
    static const uint64_t stamps[] = {0xFFF0, 0xFFF1, 0x0001};
    struct look look;
    size_t count;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    hooks_word(&hooks, HOOKS_CLOCK_BITS, 16);
    for (unsigned i = 0; i < 3; i++)
        hooks_put_plain(&hooks, i, stamps[i]);
    hooks_look(&look, &hooks);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(info_of(&look)->clock.modulus, 0x10000);
    assert_int_equal(events[1].ticks, 1);
    assert_int_equal(events[2].ticks, 17);
    look_close(&look);
}

// ---- Damage ----

static void check_damaged(const struct look *look, uint32_t damaged)
{
    const struct extract_info *info = info_of(look);
    assert_int_equal(look->snapshot.counts[EXTRACT_INVALID], damaged);
    assert_int_equal(info->entries_valid + info->entries_damaged, info->entries_total);
    assert_int_equal(info->entries_damaged, damaged);
    assert_false(info->lost_known);
}

// A hook word is not valid. The frame still leads to the next record, and no other record is in
// doubt.
static void test_damaged_hook(void **state)
{
    static const unsigned left[] = {0, 1, 3, 4, 5};
    struct look look;
    size_t count;
    (void)state;
    hooks_build(&hooks, false, 256, 40);
    put_plain(6);
    hooks_poke(&hooks, 40 + 2 * PLAIN + 4, 0x123F0000);
    hooks_look(&look, &hooks);
    check_numbers(&look, left, 5);
    check_damaged(&look, 1);
    const struct extract_event *events = look_events(&look, &count);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].flags, i == 2 ? EXTRACT_FLAG_GAP : 0);
    assert_int_equal(events[2].slot, 40 + 3 * PLAIN);
    look_close(&look);
}

// Each damaged entry is shown as a marker at its place.
static void test_damage_is_told(void **state)
{
    const struct extract_event *event;
    struct extract_event events[8];
    struct extract_reader reader;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 256, 40);
    put_plain(6);
    hooks_poke(&hooks, 40 + 2 * PLAIN + 4, 0x123F0000);
    hooks_look(&look, &hooks);
    extract_reader_init(&reader, look.trace);
    assert_int_equal(extract_reader_next(&reader, events, 8), 5 + 1);
    event = &events[2];
    assert_int_equal(event->id, EXTRACT_ID_BROKEN);
    assert_int_equal(event->seq, events[3].seq);
    assert_int_equal(event->context, EXTRACT_RECORDER);
    assert_int_equal(event->fields, 3);
    assert_int_equal(event->field[0], EXTRACT_INVALID);
    assert_int_equal(event->field[1], 1);
    assert_int_equal(event->field[2], PLAIN);
    look_close(&look);
}

// A frame is not valid. Reading continues at the next record that leads to further ones. That
// record is not certain to be a real one.
static void test_damaged_frame(void **state)
{
    // Record 4 breaks the chain that starts at 3. Four records follow from 5 on.
    static const unsigned left[] = {0, 5, 6, 7, 8}, more[] = {0, 3, 4, 5, 6, 7, 8};
    struct look look;
    size_t count;
    (void)state;
    hooks_build(&hooks, true, 256, 0);
    put_plain(9);
    hooks_poke(&hooks, 1 * PLAIN, 0xFFFFFFFF);
    hooks_poke(&hooks, 2 * PLAIN, 0);
    hooks_poke(&hooks, 4 * PLAIN + 4, 0x123F0004);
    hooks_look(&look, &hooks);
    check_numbers(&look, left, 5);
    check_damaged(&look, 1);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(events[1].flags, EXTRACT_FLAG_GAP | EXTRACT_FLAG_PROVISIONAL);
    assert_int_equal(events[2].flags, 0);
    look_close(&look);
    // If record 4 is valid, 3 is found as well.
    hooks_poke(&hooks, 4 * PLAIN + 4, 0x123A0004);
    hooks_look(&look, &hooks);
    check_numbers(&look, more, 7);
    look_close(&look);
}

// Bytes in a buffer look like records. They lead to no further records, so they are not shown.
static void test_records_in_a_buffer(void **state)
{
    struct hooks inner;
    struct look look;
    size_t count;
    (void)state;
    hooks_build(&inner, false, 64, 0);
    hooks_put_plain(&inner, 70, 5);
    hooks_put_plain(&inner, 71, 6);
    hooks_put_plain(&inner, 72, 7);
    hooks_build(&hooks, false, 512, 0);
    struct hooks_record record = {.hook = 0x55500040,
                                  .words = 1,
                                  .buffer = (const char *)inner.bytes + HOOKS_HEADER,
                                  .buffer_bytes = 64};
    hooks_put(&hooks, &record);
    put_plain(5);
    hooks_poke(&hooks, 0, 0x80000000); // damages the frame
    hooks_look(&look, &hooks);
    check_run(&look, 0, 5);
    check_damaged(&look, 1);
    assert_int_equal(look.snapshot.index[0].length, 12 + 64);
    look_events(&look, &count);
    look_close(&look);
}

// Changes every byte of a ring. The remaining events are events that were written, in their order.
// At most the record of the byte and the records that follow from it are damaged.
static void test_every_byte(void **state)
{
    (void)state;
    for (uint32_t at = 0; at < 12 * PLAIN; at++)
        for (unsigned change = 1; change < 256; change *= 4) {
            struct look look;
            size_t count, strange = 0;
            hooks_build(&hooks, at & 1, 256, 36);
            put_plain(12);
            hooks.bytes[HOOKS_HEADER + (36 + at) % 256] ^= (uint8_t)change;
            hooks_look(&look, &hooks);
            const struct extract_event *events = look_events(&look, &count);
            assert_int_equal(look.snapshot.counts[EXTRACT_GOOD] +
                                 look.snapshot.counts[EXTRACT_PROVISIONAL] +
                                 look.snapshot.counts[EXTRACT_INVALID],
                             look.snapshot.ring.entries.count);
            for (size_t i = 0; i < count; i++)
                strange += events[i].field[0] != (events[i].slot + 256 - 36) % 256 / PLAIN;
            assert_true(count >= 7 && strange <= 1); // only the changed word itself may differ
            look_close(&look);
        }
}

// ---- Memory with holes ----

// A file ends at any byte. Complete records in it are shown, or the file is refused with a reason.
static void test_truncated(void **state)
{
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(10);
    for (size_t length = 0; length < HOOKS_HEADER + 256; length++) {
        struct extract_memory *memory;
        struct extract_ring ring;
        struct extract_snapshot snapshot;
        struct extract_ring_options at = {
            .size = sizeof at, .address_known = true, .address = hooks.address};
        assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
        if (length)
            assert_int_equal(
                extract_memory_add_bytes(memory, "cut", hooks.bytes, length, hooks.address, NULL),
                EXTRACT_OK);
        enum extract_code code = extract_ring_find(&ring, memory, NULL, &at, &error);
        assert_int_equal(!code, length >= HOOKS_HEADER);
        code = code ? code : extract_snapshot_take(&snapshot, memory, &ring, &error);
        assert_int_equal(!code, length > HOOKS_HEADER);
        if (!code) {
            size_t whole = length - HOOKS_HEADER;
            assert_int_equal(extract_snapshot_valid(&snapshot), whole > 200 ? 10 : whole / PLAIN);
            assert_int_equal(snapshot.counts[EXTRACT_UNREADABLE_ENTRY] != 0, whole < 200);
            extract_snapshot_free(&snapshot);
        }
        extract_memory_close(memory);
    }
}

static struct extract_memory *memory_with_hole(size_t from, size_t to)
{
    struct extract_memory *memory;
    size_t length = hooks_bytes(&hooks);
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "a", hooks.bytes, from, hooks.address, NULL),
                     EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "b", hooks.bytes + to, length - to,
                                              hooks.address + to, NULL),
                     EXTRACT_OK);
    return memory;
}

static void test_hole(void **state)
{
    static const unsigned left[] = {0, 1, 2, 6, 7, 8, 9};
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(10);
    look_open_memory(&look,
                     memory_with_hole(HOOKS_HEADER + 3 * PLAIN + 8, HOOKS_HEADER + 6 * PLAIN - 4),
                     hooks.address, NULL);
    check_numbers(&look, left, 7);
    assert_int_equal(look.snapshot.counts[EXTRACT_UNREADABLE_ENTRY] +
                         look.snapshot.counts[EXTRACT_INVALID],
                     info_of(&look)->entries_damaged + info_of(&look)->entries_unread);
    assert_true(info_of(&look)->entries_unread >= 2);
    look_close(&look);
}

// What could not be read of the ring is named as ranges of bytes. One passes the end of the buffer.
static void test_range_past_the_end(void **state)
{
    struct extract_text text;
    struct look look;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(20);
    look_open_memory(&look, memory_with_hole(HOOKS_HEADER + 2, HOOKS_HEADER + 3), hooks.address,
                     NULL);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_report_damage(&text, look.trace), EXTRACT_OK);
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, "1 range could not be read (bytes 240-255 and 0-3); it is"));
    extract_text_free(&text);
    look_close(&look);
}

// ---- Saving ----

static void save(const struct look *look, struct look *again)
{
    struct extract_memory *memory;
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, look->trace, &error), EXTRACT_OK);
    scratch_write("saved.hook", text.data, text.used);
    assert_int_equal(extract_memory_open_hooks(&memory, scratch_path("saved.hook"), &error),
                     EXTRACT_OK);
    look_open_memory(again, memory, 0, NULL);
    extract_text_free(&text);
}

static void check_saved(struct look *look)
{
    struct look again;
    size_t count, same;
    static struct extract_event events[MAX_EVENTS];
    memcpy(events, look_events(look, &count), sizeof events);
    save(look, &again);
    const struct extract_event *saved = look_events(&again, &same);
    assert_int_equal(same, count);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(saved[i].slot, events[i].slot);
        assert_int_equal(saved[i].ticks, events[i].ticks);
        assert_int_equal(saved[i].data_bytes, events[i].data_bytes);
        assert_memory_equal(saved[i].data, events[i].data, events[i].data_bytes);
    }
    assert_int_equal(again.ring.address, look->ring.address);
    assert_int_equal(again.ring.origin, EXTRACT_FROM_FILE);
    // A saved ring holds no entry where one could not be read.
    assert_int_equal(info_of(&again)->entries_damaged,
                     info_of(look)->entries_damaged + info_of(look)->entries_unread);
    assert_int_equal(info_of(&again)->events_lost, info_of(look)->events_lost);
    look_close(&again);
}

static void test_save(void **state)
{
    struct look look;
    (void)state;
    for (unsigned damage = 0; damage < 16; damage++) {
        hooks_build(&hooks, damage & 8, 256, 4000);
        hooks.address = UINT64_C(0xFFFFFFFF80001000);
        put_plain(100);
        uint32_t first = hooks_word_at(&hooks, HOOKS_TAIL);
        if (damage & 1)
            hooks_poke(&hooks, first, 0);
        if (damage & 2)
            hooks_poke(&hooks, first + 3 * PLAIN + 4, 0);
        struct extract_memory *memory =
            damage & 4 ? memory_with_hole(HOOKS_HEADER + 101, HOOKS_HEADER + 102)
                       : hooks_memory(&hooks);
        look_open_memory(&look, memory, hooks.address, NULL);
        check_saved(&look);
        look_close(&look);
    }
}

static uint32_t put_unstamped(uint32_t number)
{
    struct hooks_record record = {.hook = 0x12320000, .words = 1, .data = {number}};
    return hooks_put(&hooks, &record);
}

// The timestamp of a record is in a hole. The entries after it without a timestamp have that of the
// record before.
static void test_stamp_in_a_hole(void **state)
{
    static const uint64_t stamps[] = {1000, 1010, 1010, 1030};
    struct look look;
    size_t count;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    put_plain(2);
    hooks_put_plain(&hooks, 2, 1020);
    put_unstamped(3);
    hooks_put_plain(&hooks, 4, 1030);
    look_open_memory(&look,
                     memory_with_hole(HOOKS_HEADER + 3 * PLAIN - 4, HOOKS_HEADER + 3 * PLAIN),
                     hooks.address, NULL);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 4);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].raw_stamp, stamps[i]);
    check_saved(&look);
    look_close(&look);
}

// The only narrow timestamp is in a record that could not be read completely. Times are saved as
// they are shown.
static void test_narrow_in_a_hole(void **state)
{
    struct hooks_record wide = {.frame = HOOKS_STAMP | HOOKS_STAMP_8, .hook = 0x12390000};
    struct look look;
    (void)state;
    hooks_build(&hooks, true, 256, 0);
    hooks_word(&hooks, HOOKS_CLOCK_BITS, 64);
    wide.stamp = UINT64_C(0x1FFFFFFFF);
    hooks_put(&hooks, &wide);
    hooks_put_plain(&hooks, 1, 0);
    wide.stamp = UINT64_C(0x300000001);
    hooks_put(&hooks, &wide);
    look_open_memory(&look, memory_with_hole(HOOKS_HEADER + 16 + 8, HOOKS_HEADER + 16 + 12),
                     hooks.address, NULL);
    assert_int_equal(info_of(&look)->entries_damaged, 0);
    assert_int_equal(info_of(&look)->entries_unread, 1);
    check_saved(&look);
    look_close(&look);
}

// The target's recorder restarts with another clock, after the read that finds the ring and before
// the next read.
static uint32_t renewed_bits;

static size_t read_renewed(void *context, uint64_t address, void *buffer, size_t length)
{
    uint64_t offset = address - hooks.address;
    (void)context;
    if (offset > hooks_bytes(&hooks) || length > hooks_bytes(&hooks) - offset)
        return 0;
    if (offset == 4 * HOOKS_FLAGS) // the first of the words that change
        hooks_word(&hooks, HOOKS_CLOCK_BITS, renewed_bits);
    memcpy(buffer, hooks.bytes + offset, length);
    return length;
}

static void look_renewed(struct look *look, uint32_t bits)
{
    struct extract_memory_source source = {.read = read_renewed, .running = true};
    struct extract_memory *memory;
    hooks_build(&hooks, false, 256, 0);
    hooks_put_plain(&hooks, 0, 0xFFF0);
    hooks_put_plain(&hooks, 1, 0x0001);
    renewed_bits = bits;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(look, memory, hooks.address, NULL);
    assert_int_equal(hooks_word_at(&hooks, HOOKS_CLOCK_BITS), bits);
}

static void test_other_clock_meanwhile(void **state)
{
    struct look look, again;
    size_t count;
    (void)state;
    look_renewed(&look, 16);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 2);
    assert_int_equal(events[1].ticks, 17); // the clock has 16 bits, so the time is not 2^32 less
    check_saved(&look);
    look_close(&look);
    // This clock does not exist. Nothing is copied, but the saved file can be opened.
    look_renewed(&look, 0);
    look_events(&look, &count);
    assert_int_equal(count, 0);
    save(&look, &again);
    look_events(&again, &count);
    assert_int_equal(count, 0);
    assert_int_equal(info_of(&again)->clock.modulus, UINT64_C(1) << 32);
    look_close(&again);
    look_close(&look);
}

// ---- Finding it ----

static void test_refused(void **state)
{
    static const struct {
        unsigned word;
        uint32_t value;
        const char *said;
    } bad[] = {{HOOKS_VERSION, 2, "version"},
               {HOOKS_HEADER_BYTES, 60, "header_bytes"},
               {HOOKS_BUFFER_BYTES, 255, "buffer"},
               {HOOKS_BUFFER_BYTES, 32, "buffer"},
               {HOOKS_BUFFER_BYTES, 1U << 29, "buffer"},
               {HOOKS_CLOCK_BITS, 15, "clock_bits"},
               {HOOKS_CLOCK_BITS, 65, "clock_bits"},
               {HOOKS_WORD_BYTES, 2, "word_bytes"},
               {HOOKS_CPUS, 0, "cpus"},
               {HOOKS_CPUS, 257, "cpus"},
               {HOOKS_HEAD, 2, "head"},
               {HOOKS_TAIL, 1, "tail"},
               {HOOKS_HEAD, 260, "head - tail"},
               {HOOKS_TAIL, 4, "head - tail"}};
    (void)state;
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct extract_ring_options at = {.size = sizeof at, .address_known = true};
        struct extract_ring ring;
        hooks_build(&hooks, i & 1, 256, 0);
        hooks_word(&hooks, bad[i].word, bad[i].value);
        struct extract_memory *memory = hooks_memory(&hooks);
        at.address = hooks.address;
        assert_int_equal(extract_ring_find(&ring, memory, NULL, &at, &error), EXTRACT_BAD);
        assert_non_null(strstr(error.why, bad[i].said));
        assert_int_equal(extract_ring_find(&ring, memory, NULL, NULL, &error), EXTRACT_NOTFOUND);
        extract_memory_close(memory);
    }
}

static void test_scan(void **state)
{
    struct look look;
    (void)state;
    hooks_build(&hooks, true, 256, 0);
    put_plain(3);
    look_open_memory(&look, hooks_memory(&hooks), 0, NULL);
    assert_int_equal(look.ring.origin, EXTRACT_FROM_SCAN);
    check_run(&look, 0, 3);
    look_close(&look);
}

static struct extract_symbols *compile(void)
{
    struct extract_symbols *symbols;
    FILE *source = fopen(scratch_path("fw.c"), "w");
    assert_non_null(source);
    fputs("unsigned ringside_hooks[80] = {1};\nint main(void) { return 0; }\n", source);
    fclose(source);
    if (!scratch_run("gcc -no-pie -Wl,-Tdata=0x20000000 -o fw.elf fw.c"))
        skip();
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("fw.elf"), &error), EXTRACT_OK);
    return symbols;
}

static void test_symbol(void **state)
{
    struct extract_symbols *symbols = compile();
    struct extract_symbol symbol;
    struct extract_ring ring;
    struct look look;
    (void)state;
    assert_true(extract_symbols_by_name(symbols, "ringside_hooks", &symbol));
    hooks_build(&hooks, false, 256, 0);
    hooks.address = symbol.address;
    put_plain(3);
    look_open_memory(&look, hooks_memory(&hooks), 0, symbols);
    assert_int_equal(look.ring.origin, EXTRACT_FROM_SYMBOL);
    check_run(&look, 0, 3);
    look_close(&look);
    memset(hooks.bytes, 0, HOOKS_HEADER);
    struct extract_memory *memory = hooks_memory(&hooks);
    assert_int_equal(extract_ring_find(&ring, memory, symbols, NULL, &error), EXTRACT_ABSENT);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
}

// A log describes a ring by its control block (docs/formats/log.md, RING). The reader checks it.
static void test_log_ring(void **state)
{
    uint8_t payload[56 + HOOKS_HEADER] = "hook";
    static const unsigned words[] = {HOOKS_HEADER, EXTRACT_LITTLE, 4, 4};
    struct extract_ring ring;
    (void)state;
    hooks_build(&hooks, false, 256, 0);
    ring_number(payload + 16, hooks.address, 8, false);
    for (unsigned i = 0; i < 4; i++)
        ring_number(payload + 40 + 4 * i, words[i], 4, false);
    memcpy(payload + 56, hooks.bytes, HOOKS_HEADER);
    assert_int_equal(extract_log_ring(&ring, payload, sizeof payload, &error), EXTRACT_OK);
    assert_int_equal(ring.address, hooks.address);
    assert_int_equal(ring.entries.end - ring.entries.start, 256);
    payload[56 + 4 * HOOKS_VERSION] = 2;
    assert_int_equal(extract_log_ring(&ring, payload, sizeof payload, &error), EXTRACT_BAD);
    assert_int_equal(extract_log_ring(&ring, payload, sizeof payload - 1, &error), EXTRACT_BAD);
}

static enum extract_code take_copy(void)
{
    struct extract_snapshot snapshot = {0};
    struct extract_ring ring;
    struct extract_memory *memory;
    struct extract_ring_options at = {
        .size = sizeof at, .address_known = true, .address = hooks.address};
    enum extract_code code = extract_memory_new_images(&memory, NULL);
    if (code)
        return code;
    code = extract_memory_add_bytes(memory, "ring", hooks.bytes, hooks_bytes(&hooks), hooks.address,
                                    NULL);
    code = code ? code : extract_ring_find(&ring, memory, NULL, &at, &error);
    code = code ? code : extract_snapshot_take(&snapshot, memory, &ring, &error);
    if (!code)
        assert_int_equal(extract_snapshot_valid(&snapshot), 180);
    extract_snapshot_free(&snapshot);
    extract_memory_close(memory);
    return code;
}

static void test_memory_is_short(void **state)
{
    (void)state;
    hooks_build(&hooks, false, 4096, 0);
    put_plain(180);
    each_allocation_fails(take_copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_empty),
        cmocka_unit_test(test_newest_kept),
        cmocka_unit_test(test_until_full),
        cmocka_unit_test(test_lost_but_not_full),
        cmocka_unit_test(test_positions_wrap),
        cmocka_unit_test(test_clock_bits),
        cmocka_unit_test(test_damaged_hook),
        cmocka_unit_test(test_damage_is_told),
        cmocka_unit_test(test_damaged_frame),
        cmocka_unit_test(test_records_in_a_buffer),
        cmocka_unit_test(test_every_byte),
        cmocka_unit_test(test_truncated),
        cmocka_unit_test(test_hole),
        cmocka_unit_test(test_range_past_the_end),
        cmocka_unit_test(test_save),
        cmocka_unit_test(test_stamp_in_a_hole),
        cmocka_unit_test(test_narrow_in_a_hole),
        cmocka_unit_test(test_other_clock_meanwhile),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_scan),
        cmocka_unit_test(test_symbol),
        cmocka_unit_test(test_log_ring),
        cmocka_unit_test(test_memory_is_short),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
