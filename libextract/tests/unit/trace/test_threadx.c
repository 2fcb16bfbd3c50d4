// SPDX-License-Identifier: MIT
// unit: decoding of ThreadX rings: every layout, the fields of entries and registry, and the states
// of a ring around its wrap.
//
// Truth: docs/formats/threadx.md and computation by hand.
#include "tests/unit/ring_builder.h"

static struct ring_image image;

// ---- Layouts ----

struct layout {
    unsigned word_bytes, name_bytes, object_bytes;
    bool big_endian;
};

// The sizes are 16 + name and 32 + name, padded to whole ULONGs.
static const struct layout layouts[] = {
    {4, 32, 48, false}, {4, 16, 32, false}, {4, 30, 48, false}, {4, 32, 48, true},
    {4, 16, 32, true},  {4, 30, 48, true},  {8, 32, 64, false}, {8, 16, 48, false},
    {8, 30, 64, false}, {8, 32, 64, true},  {8, 16, 48, true},  {8, 30, 64, true},
};

static void build_layout(const struct layout *layout)
{
    struct ring_spec spec = ring_plain;
    spec.word_bytes = layout->word_bytes;
    spec.big_endian = layout->big_endian;
    spec.name_bytes = layout->name_bytes;
    spec.address = layout->word_bytes == 8 ? UINT64_C(0x8000000012340000) : 0x20000100;
    spec.tail = 12;
    ring_build(&image, &spec);
}

static void check_offsets(const struct look *look, const struct layout *layout)
{
    const struct extract_ring *ring = &look->ring;
    unsigned header = layout->word_bytes == 8 ? 96 : 48, entry = layout->word_bytes == 8 ? 64 : 32;
    uint64_t base = image.spec.address;
    assert_int_equal(ring->word_bytes, layout->word_bytes);
    assert_int_equal(ring->byte_order, layout->big_endian ? EXTRACT_BIG : EXTRACT_LITTLE);
    assert_int_equal(ring->header_bytes, header);
    assert_int_equal(ring->name_bytes, layout->name_bytes);
    assert_int_equal(ring->timer_mask, 0xFFFFFFFF);
    assert_int_equal(ring->registry.start, base + header);
    assert_int_equal(ring->registry.slot_bytes, layout->object_bytes);
    assert_int_equal(ring->registry.count, 4);
    assert_int_equal(ring->entries.start, base + header + 4 * layout->object_bytes);
    assert_int_equal(ring->entries.slot_bytes, entry);
    assert_int_equal(ring->entries.count, 8);
    assert_int_equal(ring->length, header + 4 * layout->object_bytes + 8 * entry);
    assert_int_equal(ring->current, ring->entries.start + entry);
}

static void check_words(const struct extract_event *event, const struct ring_entry *entry)
{
    assert_int_equal(event->thread, entry->thread);
    assert_int_equal(event->priority_word, entry->priority);
    assert_int_equal(event->id, entry->id);
    assert_int_equal(event->raw_stamp, entry->stamp);
    assert_int_equal(event->fields, 4);
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(event->field[i], entry->info[i]);
}

static void check_object(const struct look *look, const struct ring_object *want)
{
    const struct extract_object *objects;
    assert_int_equal(extract_trace_objects(look->trace, &objects), 1);
    assert_int_equal(objects[0].address, want->address);
    assert_int_equal(objects[0].param1, want->param1);
    assert_int_equal(objects[0].param2, want->param2);
    assert_string_equal(objects[0].name, want->name);
    assert_string_equal(objects[0].type_name, "thread");
    assert_int_equal(objects[0].slot, 2);
    assert_true(objects[0].in_use && objects[0].registered);
}

static void check_layout(const struct layout *layout)
{
    uint64_t high = layout->word_bytes == 8 ? UINT64_C(0x8123456700000000) : 0;
    struct ring_entry entry = {
        .thread = high + 0x20004000,
        .priority = 0x80070010,
        .id = 88,
        .stamp = high + 0x89ABCDEF,
        .info = {high + 1, high + 0x7FFFFFFF, high + 0x80000000, 0xFEDCBA98}};
    struct ring_object object = {
        0, 1, 0x80, 16, high + 0x20004000, high + 0x20005000, 1024, "thread 0123456"};
    struct look look;
    size_t count;
    build_layout(layout);
    ring_insert(&image, &entry);
    ring_register(&image, 2, &object);
    look_open(&look, &image);
    check_offsets(&look, layout);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 1);
    check_words(&events[0], &entry);
    check_object(&look, &object);
    assert_accounted(&look);
    look_close(&look);
}

static void test_layouts(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++)
        check_layout(&layouts[i]);
}

// A 4-byte header whose mask is 0 starts like an 8-byte one. The address of the registry tells them
// apart.
static void test_mask_of_zero(void **state)
{
    struct ring_spec spec = ring_plain;
    struct look look;
    uint64_t stamp = 100;
    size_t count;
    (void)state;
    spec.mask = 0;
    ring_build(&image, &spec);
    ring_run(&image, 3, &stamp, 7);
    look_open(&look, &image);
    assert_int_equal(look.ring.word_bytes, 4);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 3);
    assert_int_equal(events[2].ticks, 14);
    look_close(&look);
}

// A dump is stored at another address than its header says. Offsets by subtraction stay correct.
static void test_moved_dump(void **state)
{
    struct look look;
    struct extract_memory *memory;
    uint64_t stamp = 1;
    size_t count;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_run(&image, 3, &stamp, 1);
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(
        extract_memory_add_bytes(memory, "moved", image.bytes, image.length, 0x1000, NULL),
        EXTRACT_OK);
    look_open_memory(&look, memory, 0x1000, NULL);
    assert_int_equal(look.ring.registry.start, 0x1030);
    look_events(&look, &count);
    assert_int_equal(count, 3);
    look_close(&look);
}

// ---- Fields of an entry ----

static struct extract_event decode_one(const struct ring_entry *entry)
{
    struct look look;
    size_t count;
    ring_build(&image, &ring_plain);
    ring_insert(&image, entry);
    look_open(&look, &image);
    struct extract_event event = look_events(&look, &count)[0];
    assert_int_equal(count, 1);
    look_close(&look);
    return event;
}

static void test_priorities(void **state)
{
    static const struct {
        uint64_t word;
        unsigned priority, threshold;
    } cases[] = {
        {0x80100010, 16, 16},
        {0x80030006, 6, 3},
        {0x80000000, 0, 0},
        {0x83FF03FF, 1023, 1023},
        // Old kernels set neither bit 31 nor a threshold.
        {6, 6, EXTRACT_NO_PRIORITY},
        {0, 0, EXTRACT_NO_PRIORITY},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ring_entry entry = {.thread = 0x20004000, .priority = cases[i].word, .id = 1};
        struct extract_event event = decode_one(&entry);
        assert_int_equal(event.context, EXTRACT_THREAD);
        assert_int_equal(event.priority, cases[i].priority);
        assert_int_equal(event.threshold, cases[i].threshold);
    }
}

static void test_contexts(void **state)
{
    struct ring_entry isr = {.thread = RING_IN_ISR, .priority = 0x20004000, .id = 3};
    struct ring_entry idle = {.thread = RING_IN_ISR, .priority = 0, .id = 3};
    struct ring_entry init = {.thread = RING_IN_INIT, .priority = 0, .id = 100};
    (void)state;
    struct extract_event event = decode_one(&isr);
    assert_int_equal(event.context, EXTRACT_ISR);
    assert_int_equal(event.thread, 0x20004000); // the interrupted thread
    assert_int_equal(event.priority, EXTRACT_NO_PRIORITY);
    event = decode_one(&idle);
    assert_int_equal(event.context, EXTRACT_ISR);
    assert_int_equal(event.thread, 0);
    event = decode_one(&init);
    assert_int_equal(event.context, EXTRACT_INIT);
    assert_int_equal(event.thread, 0);
    assert_int_equal(event.threshold, EXTRACT_NO_PRIORITY);
}

// With 8-byte ULONGs, the constants are zero-extended. A sign-extended value is the address of a
// thread.
static void test_contexts_of_8_bytes(void **state)
{
    static const uint64_t threads[] = {RING_IN_ISR, RING_IN_INIT, UINT64_C(0xFFFFFFFFFFFFFFFF)};
    static const unsigned contexts[] = {EXTRACT_ISR, EXTRACT_INIT, EXTRACT_THREAD};
    struct ring_spec spec = ring_plain;
    struct look look;
    size_t count;
    (void)state;
    spec.word_bytes = 8;
    ring_build(&image, &spec);
    for (size_t i = 0; i < 3; i++)
        ring_insert(&image, &(struct ring_entry){.thread = threads[i], .id = 6, .stamp = i});
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 3);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(events[i].context, contexts[i]);
    look_close(&look);
}

struct id_case {
    uint64_t word;
    unsigned core, id;
    const char *symbol;
    enum extract_class class_;
};

// The names come from tx_trace.h and its USBX sibling. The ids 0, 7 and 1034 are not documented.
static const struct id_case ids[] = {
    {1, 0, 1, "TX_TRACE_THREAD_RESUME", EXTRACT_KERN},
    {3, 0, 3, "TX_TRACE_ISR_ENTER", EXTRACT_INT},
    {88, 0, 88, "TX_TRACE_SEMAPHORE_PUT", EXTRACT_SVC},
    {0x03000058, 3, 88, "TX_TRACE_SEMAPHORE_PUT", EXTRACT_SVC},
    {0xFE000002, 254, 2, "TX_TRACE_THREAD_SUSPEND", EXTRACT_KERN},
    {4096, 0, 4096, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    {4711, 0, 4711, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    {65535, 0, 65535, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    // Ids of user events have no limit. The first is one of core 3, as its low 16 bits are all.
    {0x03001000, 3, 4096, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    {70000, 0, 70000, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    {0x00010002, 0, 65538, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    {0x01020304, 0, 0x01020304, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL},
    {0xFFFFFF42, 255, 0xFFFF42, "TX_TRACE_USER_EVENT_START", EXTRACT_APPL}, // ids of markers
    {7, 0, 7, "UNKNOWN", EXTRACT_APPL},
    {0, 0, 0, "UNKNOWN", EXTRACT_APPL},
    {1025, 0, 1025, "UX_TRACE_DEVICE_CLASS_CCID_PC_TO_RDR_ABORT", EXTRACT_SVC},
    {1034, 0, 1034, "UNKNOWN", EXTRACT_APPL},
};

static void test_ids(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        struct ring_entry entry = {.thread = 0x20004000, .id = ids[i].word, .stamp = 1};
        struct extract_event event = decode_one(&entry);
        assert_int_equal(event.core, ids[i].core);
        assert_int_equal(event.id, ids[i].id);
        assert_string_equal(event.type->symbol, ids[i].symbol);
        assert_int_equal(event.type->class_, ids[i].class_);
    }
}

// Every 16-bit id has a type. A known type is found under its own id only.
static void test_every_id(void **state)
{
    struct look look;
    unsigned known = 0;
    (void)state;
    ring_build(&image, &ring_plain);
    look_open(&look, &image);
    for (uint32_t id = 0; id < 4096; id++) {
        const struct extract_event_type *type = extract_trace_type(look.trace, id);
        assert_non_null(type);
        assert_true(type->range || type->id == id);
        known += !type->range;
    }
    assert_int_equal(known, 650); // by the format: 88 + 73 + 175 + 314
    look_close(&look);
}

// ---- The registry ----

static void test_registry_slots(void **state)
{
    static const struct ring_object rows[] = {
        {0, 1, 0x83, 0xFF, 0x20004000, 0x20005000, 1024, "alive"}, // priority 1023
        {1, 4, 0, 0, 0x20004100, 7, 0, "doomed semaphore"}, // deleted: only `available` is set
        {0, 1, 0, 0, 0x20004200, 1, 2, "old kernel"},       // without priority
        {0, 29, 0, 0, 0x20004300, 3, 4, "of a later kernel"},
    };
    static const char *const types[] = {"thread", "semaphore", "thread", "unknown"};
    const struct extract_object *objects;
    struct ring_spec spec = ring_plain;
    struct look look;
    (void)state;
    spec.objects = 6; // slots 1 and 5 were never used
    spec.recycled = 0xA5;
    ring_build(&image, &spec);
    for (unsigned i = 0; i < 4; i++)
        ring_register(&image, i ? i + 1 : 0, &rows[i]);
    look_open(&look, &image);
    assert_int_equal(extract_trace_objects(look.trace, &objects), 4);
    assert_int_equal(extract_trace_info(look.trace)->objects, 4);
    for (unsigned i = 0; i < 4; i++) {
        assert_int_equal(objects[i].address, rows[i].address);
        assert_string_equal(objects[i].name, rows[i].name); // without the stale bytes after NUL
        assert_string_equal(objects[i].type_name, types[i]);
        assert_int_equal(objects[i].in_use, i != 1);
        assert_int_equal(objects[i].priority, i ? EXTRACT_NO_PRIORITY : 1023);
    }
    look_close(&look);
}

// A slot with a type but no pointer, or with a pointer but no type, was never used.
static void test_half_registered(void **state)
{
    static const struct ring_object no_pointer = {0, 1, 0, 0, 0, 1, 2, "x"};
    static const struct ring_object no_type = {0, 0, 0, 0, 0x20004000, 1, 2, "y"};
    const struct extract_object *objects;
    struct look look;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_register(&image, 0, &no_pointer);
    ring_register(&image, 1, &no_type);
    look_open(&look, &image);
    assert_int_equal(extract_trace_objects(look.trace, &objects), 0);
    look_close(&look);
}

// ---- Around the wrap ----

// Checks a ring of 8 slots after `written` entries: how many it shows, and the number of the first
// one.
static void check_state(unsigned written, unsigned shown, unsigned first)
{
    struct look look;
    uint64_t stamp = 1000;
    size_t count;
    struct ring_spec spec = ring_plain;
    spec.recycled = 0xEE; // garbage everywhere except in the thread of unused entries
    ring_build(&image, &spec);
    ring_run(&image, written, &stamp, 10);
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &count);
    const struct extract_info *info = extract_trace_info(look.trace);
    assert_int_equal(count, shown);
    assert_int_equal(info->entries_unused, 8 - shown);
    assert_int_equal(info->entries_damaged, 0);
    assert_int_equal(info->wrapped, written >= 8);
    assert_int_equal(info->lost_known, written < 8);
    assert_int_equal(info->events_lost, 0);
    assert_int_equal(look.snapshot.current, written % 8);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].seq, i);
        assert_int_equal(events[i].field[0], first + i);
        assert_int_equal(events[i].ticks, 10 * i);
        assert_int_equal(events[i].slot, (first + i) % 8);
        assert_int_equal(events[i].flags & ~EXTRACT_FLAG_PROVISIONAL, 0);
    }
    assert_accounted(&look);
    look_close(&look);
}

static void test_wrap_states(void **state)
{
    (void)state;
    for (unsigned written = 0; written < 8; written++) // empty, one entry, … just before the wrap
        check_state(written, written, 0);
    for (unsigned written = 8; written < 30; written++) // just wrapped, wrapped long ago
        check_state(written, 8, written - 8);
}

// After the wrap, the target may be writing the entry at the pointer. It is provisional, and all
// others are valid.
static void test_oldest_is_provisional(void **state)
{
    struct look look;
    uint64_t stamp = 1;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_run(&image, 19, &stamp, 1);
    look_open(&look, &image);
    for (unsigned slot = 0; slot < 8; slot++)
        assert_int_equal(look.snapshot.verdict[slot],
                         slot == 19 % 8 ? EXTRACT_PROVISIONAL : EXTRACT_GOOD);
    look_close(&look);
}

// The kernel patches the slot at the pointer although a filter excluded its event.
static void test_patched_but_unused(void **state)
{
    struct look look;
    uint64_t stamp = 1;
    size_t count;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_run(&image, 3, &stamp, 1);
    ring_word(&image, 3, 7, 0x20004000);
    look_open(&look, &image);
    assert_int_equal(look.snapshot.verdict[3], EXTRACT_UNUSED);
    look_events(&look, &count);
    assert_int_equal(count, 3);
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 0);
    look_close(&look);
}

// An entry in the middle is damaged. The report continues with the next entry and flags it.
static void test_gap(void **state)
{
    struct look look;
    uint64_t stamp = 0;
    size_t count;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_run(&image, 13, &stamp, 5); // numbers 5 to 12; the pointer is at slot 5
    ring_word(&image, 0, 0, 0);      // number 8
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_int_equal(events[i].field[0], i < 3 ? 5 + i : 6 + i);
        assert_int_equal(events[i].flags & EXTRACT_FLAG_GAP, i == 3 ? EXTRACT_FLAG_GAP : 0);
    }
    assert_int_equal(extract_trace_info(look.trace)->entries_damaged, 1);
    assert_int_equal(look.snapshot.verdict[0], EXTRACT_INVALID);
    assert_accounted(&look);
    look_close(&look);
}

// The nanoseconds of a second wrap at 10^9, whatever the mask is. If the clock's only wrap is after
// the oldest entry, nothing else reveals it.
static void check_nanoseconds(unsigned wrap, uint64_t step)
{
    struct look look;
    uint64_t stamp = 1000000000 - step * wrap;
    size_t count;
    ring_build(&image, &ring_plain);
    ring_run(&image, 8 - wrap, &(uint64_t){5}, 1); // older entries
    for (unsigned i = 0; i < 8; i++, stamp = (stamp + step) % 1000000000)
        ring_run(&image, 1, &(uint64_t){stamp}, 0);
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 8);
    assert_int_equal(look.snapshot.verdict[8 - wrap], EXTRACT_PROVISIONAL);
    assert_int_equal(extract_trace_info(look.trace)->clock.modulus, 1000000000);
    for (unsigned i = 0; i < 8; i++)
        assert_int_equal(events[i].ticks, i * step);
    assert_accounted(&look);
    look_close(&look);
}

static void test_wrap_behind_the_oldest(void **state)
{
    (void)state;
    for (unsigned wrap = 1; wrap <= 7; wrap++)
        for (uint64_t step = 1; step < 50000000; step = step * 7 + 3)
            check_nanoseconds(wrap, step);
}

// A timestamp far above the others is that of a new entry, unless a wrap at 10^9 explains it.
static void test_pause_before_a_torn_entry(void **state)
{
    static const uint64_t pauses[] = {5000, 600000000, 900000000, 999000000, 1100000000};
    (void)state;
    for (size_t i = 0; i < sizeof pauses / sizeof *pauses; i++) {
        struct look look;
        uint64_t stamp = 1000000;
        ring_build(&image, &ring_plain);
        ring_run(&image, 8, &stamp, 1000);
        ring_word(&image, 0, 3, stamp + pauses[i]);
        look_open(&look, &image);
        assert_int_equal(look.snapshot.verdict[0], EXTRACT_TORN);
        look_close(&look);
    }
}

// ---- Memory behind a data cache that was not written back ----

// Opens a ring of 32 slots that recorded `events`, of which the header knows only `known`.
static void open_stale(struct look *look, unsigned events, unsigned known)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 5000;
    spec.entries = 32;
    ring_build(&image, &spec);
    ring_run(&image, events, &stamp, 1000);
    ring_point(&image, known % 32);
    look_open(look, &image);
}

// The header's write position is older than the entries: they are in the order of their times.
static void test_stale_pointer(void **state)
{
    static const struct {
        unsigned events, known, valid;
        bool is_stale;
    } cases[] = {
        {70, 70, 32, false}, {70, 60, 32, true},  {70, 50, 32, true},
        {70, 65, 32, true},  {20, 20, 20, false}, {20, 15, 20, true},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct look look;
        size_t count;
        open_stale(&look, cases[i].events, cases[i].known);
        const struct extract_event *events = look_events(&look, &count);
        assert_int_equal(look.snapshot.stale_pointer, cases[i].is_stale);
        assert_int_equal(count, cases[i].valid);
        for (size_t j = 0; j < count; j++)
            assert_int_equal(events[j].ticks, 1000 * j);
        assert_int_equal(look.snapshot.current, cases[i].events % 32);
        look_close(&look);
    }
}

// Lines of the cache that were never written back are 0. What is left of an entry is no event.
static void test_blank_entries(void **state)
{
    struct look look;
    size_t count;
    uint64_t stamp = 5000;
    (void)state;
    ring_build(&image, &ring_plain);
    ring_run(&image, 6, &stamp, 1000);
    for (unsigned word = 2; word < ENTRY_WORDS; word++)
        ring_word(&image, 3, word, 0);
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 5);
    assert_int_equal(events[3].ticks, 4000);
    assert_int_equal(look.snapshot.verdict[3], EXTRACT_INVALID);
    assert_int_equal(extract_trace_info(look.trace)->steps_back, 0);
    look_close(&look);
}

// Old entries among new ones, of a lap before, are steps back of any size.
static void test_stale_entries(void **state)
{
    struct ring_spec spec = ring_plain;
    struct look look;
    size_t count;
    uint64_t stamp = 100000000;
    (void)state;
    spec.entries = 32;
    ring_build(&image, &spec);
    ring_run(&image, 64, &stamp, 1000000);
    ring_word(&image, 28, 3, 100000000 - 4000000);
    look_open(&look, &image);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 32);
    assert_int_equal(events[28].flags, EXTRACT_FLAG_BACKWARDS);
    assert_int_equal(events[28].ticks, 0);
    assert_int_equal(events[31].ticks, 31000000);
    assert_false(look.snapshot.stale_pointer);
    look_close(&look);
}

// ---- What the caller specifies about the clock ----

static void test_modulus(void **state)
{
    static const struct {
        uint64_t mask, modulus;
        enum extract_code code;
    } cases[] = {
        {0xFFFFFFFF, 5, EXTRACT_USAGE}, {0xFFFFFFFF, 70, EXTRACT_USAGE},
        {0xFFFFFFFF, 71, EXTRACT_OK},   {0xFFFFFFFF, UINT64_MAX, EXTRACT_OK},
        {0xFFF, 70, EXTRACT_USAGE},     {0xFFF, 71, EXTRACT_OK},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct extract_trace_options options = {.size = sizeof options,
                                                .modulus = cases[i].modulus};
        struct extract_trace *trace;
        struct extract_error error;
        struct ring_spec spec = ring_plain;
        struct look look;
        uint64_t stamp = 10000;
        spec.mask = cases[i].mask;
        ring_build(&image, &spec);
        ring_run(&image, 8, &stamp, 10); // 10000 to 10070
        look_open(&look, &image);
        assert_int_equal(extract_trace_open(&trace, &look.snapshot, &options, &error),
                         cases[i].code);
        if (cases[i].code) {
            assert_null(trace);
            assert_string_equal(error.what, "modulus");
            assert_non_null(strstr(error.why, i == 4 ? "1878" : "10070"));
        }
        extract_trace_close(trace);
        look_close(&look);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),
        cmocka_unit_test(test_mask_of_zero),
        cmocka_unit_test(test_moved_dump),
        cmocka_unit_test(test_priorities),
        cmocka_unit_test(test_contexts),
        cmocka_unit_test(test_contexts_of_8_bytes),
        cmocka_unit_test(test_ids),
        cmocka_unit_test(test_every_id),
        cmocka_unit_test(test_registry_slots),
        cmocka_unit_test(test_half_registered),
        cmocka_unit_test(test_wrap_states),
        cmocka_unit_test(test_oldest_is_provisional),
        cmocka_unit_test(test_patched_but_unused),
        cmocka_unit_test(test_gap),
        cmocka_unit_test(test_wrap_behind_the_oldest),
        cmocka_unit_test(test_pause_before_a_torn_entry),
        cmocka_unit_test(test_stale_pointer),
        cmocka_unit_test(test_blank_entries),
        cmocka_unit_test(test_stale_entries),
        cmocka_unit_test(test_modulus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
