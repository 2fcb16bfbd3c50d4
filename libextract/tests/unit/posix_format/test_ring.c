// SPDX-License-Identifier: MIT
// POSIX traces: what a stream holds and has lost, every layout, wraps, open and damaged records,
// streams of one object, finding, saving, hostile blocks. Truth: what the test wrote and damaged.
#include "tests/unit/posix_format/ptr_builder.h"
#include "tests/unit/scratch.h"
#include <extract/report.h>

static const struct ptr_kind narrow = {false, false, 4, 32};
static struct ptr ptr;
static struct extract_error error;

static void look(struct look *look, uint64_t address)
{
    look_open_memory(look, ptr_memory(&ptr), address, NULL);
}

static const struct extract_info *info_of(const struct look *look)
{
    return extract_trace_info(look->trace);
}

// Checks that the events are those of ptr_put_number with these numbers.
static void check_run(const struct look *look, unsigned first, unsigned expected)
{
    size_t count;
    const struct extract_event *events = look_events(look, &count);
    assert_int_equal(count, expected);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(events[i].raw_stamp, 1000 + 10 * (first + i));
        assert_int_equal(events[i].data_bytes, 4);
        assert_int_equal(events[i].field[0], 1);
    }
}

// ---- layouts ----

static void check_record(const struct extract_event *event, const struct ptr_record *record)
{
    assert_int_equal(event->id, record->id);
    assert_int_equal(event->raw_stamp, record->stamp);
    assert_int_equal(event->field[1], record->address);
    assert_int_equal(event->field[2], record->cut);
    assert_int_equal(event->data_bytes, record->data_bytes);
    assert_memory_equal(event->data, record->data, record->data_bytes);
    assert_int_equal(event->context, record->interrupt ? EXTRACT_ISR : EXTRACT_THREAD);
    assert_int_equal(event->thread, record->interrupt ? 0 : record->thread);
    if (record->interrupt)
        assert_int_equal(event->field[4], record->thread);
}

static void check_kind(const struct ptr_kind *kind)
{
    const struct ptr_record records[] = {
        {34, "abcde", 5, 0x08000101, 0x20004000, 7, 41, true, false, false},
        {33, "", 0, 0x08000203, 15, 9, 42, false, true, false},
        {3, "\0\0\0\0", 4, 0x08000305, 0x20004000, 11, 43, false, false, false}};
    struct look seen;
    size_t count;
    ptr_build(&ptr, kind, 64, 0xFFFFFFF0u);
    for (unsigned i = 0; i < 3; i++)
        ptr_put(&ptr, 0, &records[i]);
    look(&seen, PTR_ADDRESS);
    const struct extract_event *events = look_events(&seen, &count);
    assert_int_equal(count, 3);
    for (unsigned i = 0; i < 3; i++) {
        check_record(&events[i], &records[i]);
        assert_int_equal(events[i].field[3], kind->pids ? records[i].pid : 0);
    }
    assert_string_equal(events[2].type->name, "posix_trace_stop");
    assert_int_equal(seen.ring.hz, 1000000);
    assert_int_equal(seen.ring.word_bytes, kind->address_bytes);
    look_close(&seen);
}

static void test_layouts(void **state)
{
    (void)state;
    for (unsigned i = 0; i < 16; i++) {
        const struct ptr_kind kind = {i & 1, i & 2, i & 4 ? 8 : 4, i & 8 ? 64 : 32};
        check_kind(&kind);
    }
}

static void test_wide_numbers(void **state)
{
    const struct ptr_kind kind = {true, false, 8, 48};
    const struct ptr_record record = {33,
                                      "x",
                                      1,
                                      UINT64_C(0x1122334455667788),
                                      UINT64_C(0x99AABBCCDDEEFF00),
                                      UINT64_C(0xA1B2C3D4E5F6),
                                      0,
                                      false,
                                      false,
                                      false};
    struct look seen;
    size_t count;
    (void)state;
    ptr_build(&ptr, &kind, 64, 0);
    ptr_put(&ptr, 0, &record);
    look(&seen, PTR_ADDRESS);
    check_record(look_events(&seen, &count), &record);
    assert_int_equal(seen.ring.timer_mask, UINT64_C(0xFFFFFFFFFFFF));
    look_close(&seen);
}

static void test_realtime(void **state)
{
    struct look seen;
    (void)state;
    ptr_build(&ptr, &narrow, 64, 0);
    ptr_stream_set(&ptr, 0, 24, 8 | 64 << 8 | 1 << 17);
    look(&seen, PTR_ADDRESS);
    assert_int_equal(seen.ring.hz, 1000000000);
    look_close(&seen);
}

// ---- what a stream holds, and has lost ----

static void test_empty(void **state)
{
    struct look seen;
    (void)state;
    ptr_build(&ptr, &narrow, 64, 12345);
    look(&seen, PTR_ADDRESS);
    const struct extract_info *info = info_of(&seen);
    assert_int_equal(info->entries_total, 0);
    assert_true(info->lost_known && !info->events_lost);
    assert_false(info->full || info->overrun || info->wrapped);
    assert_true(info->running && info->running_known);
    look_close(&seen);
}

// 64 words hold 9 records of 7; every start puts the wrap at another word of a record.
static void test_loop(void **state)
{
    (void)state;
    for (uint32_t start = 0xFFFFFF00u; start != 0x40; start++) {
        struct look seen;
        ptr_build(&ptr, &narrow, 64, start);
        for (unsigned i = 0; i < 40; i++)
            ptr_put_number(&ptr, 0, i);
        look(&seen, PTR_ADDRESS);
        check_run(&seen, 31, 9);
        assert_int_equal(info_of(&seen)->events_lost, 31);
        assert_true(info_of(&seen)->overrun && info_of(&seen)->lost_known);
        look_close(&seen);
    }
}

// What was read before it was overwritten is not lost.
static void test_read_is_not_lost(void **state)
{
    struct look seen;
    (void)state;
    ptr_build(&ptr, &narrow, 64, 0);
    for (unsigned i = 0; i < 40; i++)
        ptr_put_number(&ptr, 0, i);
    ptr_stream_set(&ptr, 0, 60, 4);
    ptr_stream_set(&ptr, 0, 64, 2); // refused
    look(&seen, PTR_ADDRESS);
    check_run(&seen, 31, 9);
    assert_int_equal(info_of(&seen)->events_lost, 6);
    look_close(&seen);
}

static void check_full(uint32_t policy, uint32_t stream_state, uint32_t episodes, uint32_t read_pos,
                       bool full)
{
    struct look seen;
    ptr_build(&ptr, &narrow, 64, 0);
    ptr_stream_set(&ptr, 0, 36, stream_state);
    ptr_stream_set(&ptr, 0, 40, policy);
    ptr_stream_set(&ptr, 0, 68, episodes);
    ptr_stream_set(&ptr, 0, 80, 7); // read_pos when the episode began
    ptr_stream_set(&ptr, 0, 88, read_pos);
    look(&seen, PTR_ADDRESS);
    assert_int_equal(info_of(&seen)->full, full);
    assert_int_equal(info_of(&seen)->running, (stream_state & 2) != 0);
    look_close(&seen);
}

static void test_full(void **state)
{
    (void)state;
    check_full(1, 3, 0, 7, false); // a loop that has overwritten nothing
    check_full(1, 3, 1, 7, true);  // it overwrites, and nobody has read since
    check_full(1, 3, 1, 8, false); // somebody has
    check_full(2, 5, 1, 7, true);  // until full, stopped by itself
    check_full(2, 3, 1, 7, false);
    check_full(3, 5, 0, 0, true);
}

// ---- open, torn, damaged ----

static void check_shown(const unsigned *numbers, unsigned expected, unsigned damaged)
{
    struct look seen;
    size_t count;
    look(&seen, PTR_ADDRESS);
    const struct extract_event *events = look_events(&seen, &count);
    assert_int_equal(count, expected);
    for (unsigned i = 0; i < expected; i++)
        assert_int_equal(events[i].raw_stamp, 1000 + 10 * numbers[i]);
    assert_int_equal(info_of(&seen)->entries_damaged, damaged);
    assert_int_equal(info_of(&seen)->entries_total, expected + damaged);
    look_close(&seen);
}

static void put_five(uint32_t start)
{
    ptr_build(&ptr, &narrow, 64, start);
    for (unsigned i = 0; i < 5; i++)
        ptr_put_number(&ptr, 0, i);
}

static void test_open(void **state)
{
    static const unsigned others[] = {0, 1, 3, 4};
    (void)state;
    put_five(50); // it goes over the ring's end
    ptr_poke(&ptr, 0, 50 + 14, (50 + 14) | 7 << 16 | 1 << 30);
    check_shown(others, 4, 1);
}

// Any single word of the frame of a record that is wrong hides this record alone.
static void test_damage(void **state)
{
    static const unsigned others[] = {0, 1, 3, 4};
    const struct {
        uint32_t word, value;
    } damages[] = {{0, 0},
                   {0, 14 | 7 << 16},                // neither open nor done
                   {0, 14 | 7 << 16 | 3u << 30},     // both
                   {0, 15 | 7 << 16 | 2u << 30},     // another place
                   {0, 14 | 8 << 16 | 2u << 30},     // another length
                   {0, 14 | 4095u << 16 | 2u << 30}, // beyond the head
                   {0, 14 | 0 << 16 | 2u << 30},     // none
                   {1, 33 | 5 << 16},                // more data than there is room
                   {1, 33},                          // less
                   {6, 14 | 7 << 16},                // no last word
                   {6, 13 | 7 << 16 | 0xAu << 28}};  // of another place
    (void)state;
    for (unsigned i = 0; i < sizeof damages / sizeof *damages; i++) {
        put_five(0);
        ptr_poke(&ptr, 0, 14 + damages[i].word, damages[i].value);
        check_shown(others, 4, 1);
    }
}

// A writer that died before it copied the data: the record says that they were cut.
static void test_died(void **state)
{
    static const unsigned all[] = {0, 1, 2, 3, 4};
    (void)state;
    put_five(0);
    ptr_poke(&ptr, 0, 14, 14 | 7 << 16 | 1 << 28 | 2u << 30);
    ptr_poke(&ptr, 0, 15, 33);
    check_shown(all, 5, 0);
}

static void test_all_damaged(void **state)
{
    (void)state;
    put_five(0);
    for (unsigned i = 0; i < 64; i++)
        ptr_poke(&ptr, 0, i, 0);
    check_shown(NULL, 0, 1);
}

// ---- a target that continues while it is read ----

// The copy as a whole is refused `skips` times: the tail has passed it.
struct moving {
    unsigned reads;
    uint64_t order[64]; // addresses of reads of the ring
    unsigned ring_reads;
    void (*move)(void);
    unsigned move_at;
};

static size_t moving_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct moving *moving = context;
    uint64_t at = address - PTR_ADDRESS, end = PTR_RINGS_AT + PTR_STREAMS * ptr.words * 4;
    if (address < PTR_ADDRESS || at + length > end)
        return 0;
    if (at >= PTR_RINGS_AT && moving->ring_reads < 64)
        moving->order[moving->ring_reads++] = at - PTR_RINGS_AT;
    memcpy(buffer, ptr.bytes + at, length);
    if (at >= PTR_RINGS_AT && moving->move && moving->ring_reads == moving->move_at)
        moving->move();
    return length;
}

static struct extract_memory *moving_open(struct moving *moving)
{
    const struct extract_memory_source source = {
        .read = moving_read, .context = moving, .running = true, .name = "moving"};
    struct extract_memory *memory;
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
    return memory;
}

// What is stored after the ring's wrap is read after what is stored before it: a first word is
// never newer than the data of its record.
static void test_order_of_reads(void **state)
{
    struct moving moving = {0};
    struct look seen;
    (void)state;
    put_five(50);
    look_open_memory(&seen, moving_open(&moving), PTR_ADDRESS, NULL);
    check_run(&seen, 0, 5);
    assert_int_equal(moving.ring_reads, 2);
    assert_int_equal(moving.order[0], 50 * 4);
    assert_int_equal(moving.order[1], 0);
    look_close(&seen);
}

static void write_three(void)
{
    for (unsigned i = 9; i < 12; i++)
        ptr_put_number(&ptr, 0, i);
}

static void write_thirty(void)
{
    for (unsigned i = 9; i < 39; i++)
        ptr_put_number(&ptr, 0, i);
}

// Nine records, and a writer that continues between the copy and the second reading of the tail.
static void check_passed(void (*move)(void), uint32_t first, uint32_t count)
{
    struct moving moving = {.move = move, .move_at = 1};
    struct look seen;
    ptr_build(&ptr, &narrow, 64, 0);
    for (unsigned i = 0; i < 9; i++)
        ptr_put_number(&ptr, 0, i);
    look_open_memory(&seen, moving_open(&moving), PTR_ADDRESS, NULL);
    check_run(&seen, first, count);
    look_close(&seen);
}

// It overwrites the three oldest: whatever their bytes are, they are not taken.
static void test_passed_by_tail(void **state)
{
    (void)state;
    check_passed(write_three, 3, 6);
}

// It overwrites all of them: the second copy takes the newest half, from whose end borders are
// found.
static void test_lapped(void **state)
{
    (void)state;
    check_passed(write_thirty, 35, 4); // 32 words hold 4 whole records of 7
}

// A ring of 2 MiB without memory after its newest entry: shared memory has pages only for what was
// written, and reading any other place would create some.
enum { LARGE_WORDS = 1 << 19 };
static uint64_t farthest; // offset in the ring that was read

static size_t sparse_read(void *context, uint64_t address, void *buffer, size_t length)
{
    uint64_t at = address - PTR_ADDRESS;
    (void)context;
    if (address < PTR_ADDRESS || at + length > PTR_RINGS_AT + (uint64_t)LARGE_WORDS * 4)
        return 0;
    if (at >= PTR_RINGS_AT && at + length - PTR_RINGS_AT > farthest)
        farthest = at + length - PTR_RINGS_AT;
    memset(buffer, 0, length);
    if (at < PTR_BYTES)
        memcpy(buffer, ptr.bytes + at, length < PTR_BYTES - at ? length : PTR_BYTES - at);
    return length;
}

static void check_sparse(unsigned records)
{
    const struct extract_memory_source source = {.read = sparse_read, .name = "sparse"};
    struct extract_memory *memory;
    struct look seen;
    ptr_build(&ptr, &narrow, 64, 0);
    for (unsigned i = 0; i < records; i++)
        ptr_put_number(&ptr, 0, i);
    ptr_stream_set(&ptr, 0, 20, LARGE_WORDS);
    ptr_set(&ptr, 12, PTR_RINGS_AT + LARGE_WORDS * 4);
    farthest = 0;
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
    look_open_memory(&seen, memory, PTR_ADDRESS, NULL);
    check_run(&seen, 0, records);
    assert_int_equal(farthest, records * 7 * 4);
    look_close(&seen);
}

static void test_sparse(void **state)
{
    (void)state;
    check_sparse(0);
    check_sparse(5);
}

// ---- streams, names, finding ----

static void test_streams(void **state)
{
    struct extract_ring_options options = {.size = sizeof options};
    struct extract_memory *memory;
    struct extract_ring ring;
    (void)state;
    put_five(0);
    memory = ptr_memory(&ptr);
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &options, &error), EXTRACT_OK);
    assert_int_equal(ring.address, PTR_ADDRESS + PTR_STREAMS_AT); // the bound one
    options.stream = 2;
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &options, &error), EXTRACT_OK);
    assert_int_equal(ring.address, PTR_ADDRESS + PTR_STREAMS_AT + PTR_STREAM_BYTES);
    assert_int_equal(ring.posix.stream, 1);
    options.stream = 3;
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &options, &error), EXTRACT_USAGE);
    extract_memory_close(memory);
    ptr_stream_set(&ptr, 0, 36, 0);
    ptr_stream_set(&ptr, 1, 36, 1);
    options.stream = 0;
    memory = ptr_memory(&ptr);
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &options, &error), EXTRACT_OK);
    assert_int_equal(ring.posix.stream, 1);
    extract_memory_close(memory);
}

// A dump that begins after the process block: the streams are found by themselves, without names.
static void test_stream_alone(void **state)
{
    struct extract_memory *memory = images_open();
    struct extract_ring_options options = {.size = sizeof options, .address_known = true};
    struct extract_ring ring;
    (void)state;
    put_five(0);
    uint64_t at = PTR_ADDRESS + PTR_STREAMS_AT;
    assert_int_equal(extract_memory_add_bytes(memory, "part", ptr.bytes + PTR_STREAMS_AT,
                                              PTR_BYTES - PTR_STREAMS_AT, at, NULL),
                     EXTRACT_OK);
    options.address = at;
    assert_int_equal(extract_ring_find(&ring, memory, NULL, &options, &error), EXTRACT_OK);
    assert_false(ring.posix.process_known);
    struct look seen;
    look_open_memory(&seen, memory, at, NULL);
    check_run(&seen, 0, 5);
    assert_int_equal(info_of(&seen)->objects, 0);
    look_close(&seen);
}

static void test_names(void **state)
{
    struct look seen;
    const struct extract_object *objects;
    (void)state;
    put_five(0);
    look(&seen, PTR_ADDRESS);
    assert_int_equal(info_of(&seen)->objects, 3);
    assert_true(extract_trace_objects(seen.trace, &objects) >= 3);
    assert_int_equal(objects[1].number_kind, EXTRACT_KIND_USER_EVENT);
    assert_string_equal(objects[1].name, "alpha");
    look_close(&seen);
}

// ---- the file ----

static void save(const struct look *seen, char path[128], const char *name)
{
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_export_ring(&text, seen->trace, &error), EXTRACT_OK);
    snprintf(path, 128, "%s", scratch_write(name, text.data, text.used));
    extract_text_free(&text);
}

static void test_saved(void **state)
{
    struct look seen, again;
    struct extract_memory *memory;
    const char *kind;
    char path[128];
    (void)state;
    put_five(50);
    ptr_poke(&ptr, 0, 50 + 14, 0); // one is damaged
    look(&seen, PTR_ADDRESS);
    save(&seen, path, "saved.ptr");
    assert_int_equal(extract_memory_detect(path, &kind, &error), EXTRACT_OK);
    assert_string_equal(kind, "ptr");
    assert_int_equal(extract_posix_open(&memory, path, &error), EXTRACT_OK);
    look_open_memory(&again, memory, PTR_ADDRESS + PTR_STREAMS_AT, NULL);
    assert_int_equal(info_of(&again)->entries_valid, 4);
    assert_int_equal(info_of(&again)->entries_damaged, 1);
    assert_int_equal(info_of(&again)->objects, 3);
    assert_int_equal(again.ring.address, seen.ring.address);
    look_close(&again);
    look_close(&seen);
}

// ---- hostile blocks ----

// Returns BAD for a ring that was rebuilt: its blocks were not believed.
static enum extract_code find_at(uint64_t address)
{
    struct extract_ring_options options = {
        .size = sizeof options, .format = "posix", .address_known = true, .address = address};
    struct extract_memory *memory = ptr_memory(&ptr);
    struct extract_ring ring;
    enum extract_code code = extract_ring_find(&ring, memory, NULL, &options, &error);
    extract_memory_close(memory);
    return !code && ring.origin == EXTRACT_FROM_REBUILT ? EXTRACT_BAD : code;
}

static void test_hostile_process(void **state)
{
    const struct {
        unsigned at;
        uint32_t value;
    } wrong[] = {{4, 2},           {8, 64},          {12, 200},        {24, 0},
                 {24, 33},         {28, 0},          {28, 146},        {28, UINT32_MAX},
                 {32, 0},          {32, UINT32_MAX}, {32, 130},        {36, UINT32_MAX - 3},
                 {40, 0},          {40, 33},         {40, 2048},       {44, 0},
                 {44, UINT32_MAX}, {56, 0},          {56, 4},          {56, 4 | 65 << 8},
                 {64, 0},          {64, 33},         {64, 0x80000000u}};
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_five(0);
        ptr_set(&ptr, wrong[i].at, wrong[i].value);
        assert_int_equal(find_at(PTR_ADDRESS), EXTRACT_BAD);
    }
}

static void test_hostile_stream(void **state)
{
    const struct {
        unsigned at;
        uint32_t value;
    } wrong[] = {{0, 1},    {4, 2},  {8, 127}, {12, 0},  {12, 5},          {16, 0},
                 {16, 130}, {20, 0}, {20, 65}, {20, 32}, {20, 0x2000000u}, {24, 5 | 32 << 8}};
    (void)state;
    for (unsigned i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        put_five(0);
        ptr_stream_set(&ptr, 0, wrong[i].at, wrong[i].value);
        assert_int_not_equal(find_at(PTR_ADDRESS + PTR_STREAMS_AT), EXTRACT_OK);
    }
}

// Places that do not fit: without records, nothing is shown, and no loss is claimed.
static void test_hostile_places(void **state)
{
    struct look seen;
    (void)state;
    ptr_build(&ptr, &narrow, 64, 0);
    ptr_stream_set(&ptr, 0, 52, 36); // the tail lies behind the head
    look(&seen, PTR_ADDRESS);
    assert_int_equal(info_of(&seen)->entries_valid, 0);
    assert_false(info_of(&seen)->lost_known);
    look_close(&seen);
}

static void test_absent(void **state)
{
    (void)state;
    ptr_build(&ptr, &narrow, 64, 0);
    ptr_set(&ptr, 0, 0);
    ptr_stream_set(&ptr, 0, 0, 0);
    assert_int_equal(find_at(PTR_ADDRESS), EXTRACT_NOTFOUND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_layouts),        cmocka_unit_test(test_wide_numbers),
        cmocka_unit_test(test_realtime),       cmocka_unit_test(test_empty),
        cmocka_unit_test(test_loop),           cmocka_unit_test(test_read_is_not_lost),
        cmocka_unit_test(test_full),           cmocka_unit_test(test_open),
        cmocka_unit_test(test_damage),         cmocka_unit_test(test_died),
        cmocka_unit_test(test_all_damaged),    cmocka_unit_test(test_order_of_reads),
        cmocka_unit_test(test_passed_by_tail), cmocka_unit_test(test_lapped),
        cmocka_unit_test(test_sparse),         cmocka_unit_test(test_streams),
        cmocka_unit_test(test_stream_alone),   cmocka_unit_test(test_names),
        cmocka_unit_test(test_saved),          cmocka_unit_test(test_hostile_process),
        cmocka_unit_test(test_hostile_stream), cmocka_unit_test(test_hostile_places),
        cmocka_unit_test(test_absent)};
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
