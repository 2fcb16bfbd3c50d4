// SPDX-License-Identifier: MIT
// Copies of a ring of hook words while its recorder writes to it: a recorder that works store by
// store, in the order that docs/formats/hook.md asks for, goes on while every word is read. What is
// shown must be what was recorded, whole, in order and without a gap, and what is said to be lost
// must add up. Truth: the recorder's own numbers, and sums in each record.
#include "tests/unit/hook/hook_builder.h"

enum { ADDRESS = 0x20000100, SIZE = 512, WORDS_MOST = 24, RATES = 60 };

// What the next store will be.
enum step { STEP_TAIL, STEP_WORDS, STEP_RECORDS, STEP_HEAD };

static struct machine {
    struct hooks hooks;
    enum step step;
    uint32_t record[WORDS_MOST]; // that is being written
    unsigned words, done;
    uint32_t number; // of that record
    uint32_t random;
    unsigned rate, budget; // stores for 16 words read, and what is left over
    unsigned stores;       // that may still happen; then it stands
    bool until_full;
} machine;

static uint32_t next_random(void)
{
    machine.random = machine.random * 1664525 + 1013904223;
    return machine.random >> 16;
}

static uint32_t sum_of(uint32_t number, unsigned words)
{
    return number * 2654435761U ^ words;
}

// A generic record: number in D1, a buffer of words that follow from the number.
static void make_record(void)
{
    unsigned words = next_random() % 16;
    machine.words = words + 4;
    machine.record[0] = HOOKS_STAMP | 4 * machine.words;
    machine.record[1] = 0x12380000 | 4 * words;
    machine.record[2] = machine.number;
    for (unsigned i = 0; i < words; i++)
        machine.record[3 + i] = sum_of(machine.number + i, words);
    machine.record[3 + words] = 10 * machine.number;
    machine.done = 0;
}

static uint32_t word_at(uint32_t position)
{
    const uint8_t *b = machine.hooks.bytes + HOOKS_HEADER + position % SIZE;
    return (uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 | (uint32_t)b[3] << 24;
}

static void step_tail(void)
{
    struct hooks *h = &machine.hooks;
    if (h->head - h->tail + 4 * machine.words <= SIZE) {
        machine.step = STEP_WORDS;
        return;
    }
    h->tail += word_at(h->tail) & 0xFFFF;
    hooks_word(h, HOOKS_TAIL, h->tail);
}

// One store of the recorder.
static void step(void)
{
    struct hooks *h = &machine.hooks;
    switch (machine.step) {
    case STEP_TAIL:
        step_tail();
        break;
    case STEP_WORDS:
        hooks_poke(h, h->head + 4 * machine.done, machine.record[machine.done]);
        if (++machine.done == machine.words)
            machine.step = STEP_RECORDS;
        break;
    case STEP_RECORDS:
        hooks_word(h, HOOKS_RECORDS, ++h->records);
        machine.step = STEP_HEAD;
        break;
    case STEP_HEAD:
        h->head += 4 * machine.words;
        hooks_word(h, HOOKS_HEAD, h->head);
        machine.number++;
        make_record();
        machine.step = STEP_TAIL;
        break;
    }
}

static void start(unsigned rate, unsigned before, uint32_t seed)
{
    memset(&machine, 0, sizeof machine);
    hooks_build(&machine.hooks, false, SIZE, 0U - 2048);
    machine.random = seed;
    machine.rate = rate;
    machine.stores = UINT32_MAX;
    make_record();
    for (unsigned i = 0; i < before; i++)
        step();
}

// Reads word by word; the recorder goes on between the words.
static size_t read_live(void *context, uint64_t address, void *buffer, size_t length)
{
    size_t bytes = hooks_bytes(&machine.hooks);
    (void)context;
    if (address < ADDRESS || address - ADDRESS > bytes || length > bytes - (address - ADDRESS))
        return 0;
    for (size_t i = 0; i < length; i++) {
        if ((address + i) % 4 == 0)
            machine.budget += machine.rate;
        for (; machine.budget >= 16; machine.budget -= 16)
            step();
        ((uint8_t *)buffer)[i] = machine.hooks.bytes[address - ADDRESS + i];
    }
    return length;
}

static void check_event(const struct extract_event *event, uint32_t number)
{
    const uint8_t *b = event->data + 8;
    unsigned words = (event->data_bytes - 8) / 4;
    assert_int_equal(event->field[0], number);
    assert_int_equal(event->raw_stamp, 10 * number);
    for (unsigned i = 0; i < words; i++, b += 4)
        assert_int_equal((uint32_t)b[0] | (uint32_t)b[1] << 8 | (uint32_t)b[2] << 16 |
                             (uint32_t)b[3] << 24,
                         sum_of(number + i, words));
}

// Returns how many events were shown.
static size_t look_once(void)
{
    struct extract_memory_source source = {.read = read_live, .running = true};
    struct extract_memory *memory;
    struct look look;
    size_t count;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    const struct extract_event *events = look_events(&look, &count);
    const struct extract_info *info = extract_trace_info(look.trace);
    uint32_t first = count ? (uint32_t)events[0].field[0] : 0;
    for (size_t i = 0; i < count; i++)
        check_event(&events[i], first + (uint32_t)i);
    assert_int_equal(info->entries_damaged, 0);
    assert_true(first + count <= machine.number);
    if (info->lost_known && count) // a record is counted just before the head passes it
        assert_true(info->events_lost == first || info->events_lost == first + 1);
    look_close(&look);
    return count;
}

static void test_nothing_torn(void **state)
{
    size_t shown = 0, looks = 0;
    (void)state;
    for (unsigned rate = 0; rate < RATES; rate++)
        for (unsigned before = 0; before < 3000; before += 7, looks++) {
            start(rate, before, rate * 7919 + before);
            shown += look_once();
        }
    assert_true(shown > looks * 2); // it is no proof when there is nothing to see
}

// A slow recorder: what was lost is exact though the target runs, and most of the ring is there.
static void test_slow(void **state)
{
    (void)state;
    for (unsigned before = 3000; before < 3100; before++) {
        start(1, before, before);
        assert_true(look_once() >= 5);
    }
}

// Halted between two stores: what is counted and what is there may be one apart for that moment.
static void test_halted_anywhere(void **state)
{
    (void)state;
    for (unsigned before = 0; before < 3000; before++) {
        struct extract_memory_source source = {.read = read_live};
        struct extract_memory *memory;
        struct look look;
        size_t count;
        start(0, before, 1);
        assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
        look_open_memory(&look, memory, ADDRESS, NULL);
        const struct extract_event *events = look_events(&look, &count);
        const struct extract_info *info = extract_trace_info(look.trace);
        uint32_t first = count ? (uint32_t)events[0].field[0] : machine.number;
        for (size_t i = 0; i < count; i++)
            check_event(&events[i], first + (uint32_t)i);
        assert_int_equal(first + count, machine.number);
        assert_true(info->lost_known && info->entries_damaged == 0);
        assert_int_equal(info->events_lost, first + (machine.step == STEP_HEAD));
        look_close(&look);
    }
}

// A ring that is cleared while it is copied: nothing of before is shown as if it were now.
static size_t clear_reads;

static size_t read_cleared(void *context, uint64_t address, void *buffer, size_t length)
{
    struct hooks *h = &machine.hooks;
    if (++clear_reads == 3) { // behind the copy
        hooks_word(h, HOOKS_GENERATION, 1);
        h->tail = h->head;
        hooks_word(h, HOOKS_TAIL, h->tail);
        hooks_word(h, HOOKS_RECORDS, h->records = 0);
    }
    return read_live(context, address, buffer, length);
}

static void test_cleared_meanwhile(void **state)
{
    struct extract_memory_source source = {.read = read_cleared, .running = true};
    struct extract_memory *memory;
    struct look look;
    size_t count;
    (void)state;
    start(0, 900, 1);
    clear_reads = 0;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    look_events(&look, &count);
    assert_int_equal(count, 0);
    assert_true(clear_reads > 3);
    look_close(&look);
}

// A ring that is opened anew behind the copy: its positions begin at 0 again, as they did before.
static size_t read_reopened(void *context, uint64_t address, void *buffer, size_t length)
{
    struct hooks *h = &machine.hooks;
    if (++clear_reads == 4) {
        hooks_build(h, false, SIZE, 0);
        hooks_word(h, HOOKS_GENERATION, 1);
        for (unsigned i = 0; i < 12; i++)
            hooks_put_plain(h, 500 + i, i);
    }
    return read_live(context, address, buffer, length);
}

static void test_opened_anew_meanwhile(void **state)
{
    struct extract_memory_source source = {.read = read_reopened, .running = true};
    struct extract_memory *memory;
    struct look look;
    size_t count;
    (void)state;
    start(0, 0, 1);
    hooks_build(&machine.hooks, false, SIZE, 0);
    for (unsigned i = 0; i < 5; i++)
        hooks_put_plain(&machine.hooks, i, i);
    clear_reads = 0;
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    look_open_memory(&look, memory, ADDRESS, NULL);
    const struct extract_event *events = look_events(&look, &count);
    assert_int_equal(count, 12);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(events[i].field[0], 500 + i);
    look_close(&look);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_nothing_torn),          cmocka_unit_test(test_slow),
        cmocka_unit_test(test_halted_anywhere),       cmocka_unit_test(test_cleared_meanwhile),
        cmocka_unit_test(test_opened_anew_meanwhile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
