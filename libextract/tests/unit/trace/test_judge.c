// SPDX-License-Identifier: MIT
// unit: verdicts: an entry that mixes two entries is never shown as a valid one. The tests tear the
// entry at the pointer in every way. A model check then tries all interleavings of writer and
// reader.
#include "tests/unit/ring_builder.h"
#include "tests/unit/samples.h"

static struct ring_image image;

// ---- Every way to be half-written ----

struct clock_case {
    const char *name;
    unsigned word_bytes;
    uint64_t mask, start, step; // a negative step is its two's complement
    bool wide;                  // 24 bits or more: always reveals a new timestamp
};

static const struct clock_case clocks[] = {
    {"up, 32 bits", 4, 0xFFFFFFFF, 0xFFFFFF00, 977, true},
    {"down, 32 bits", 4, 0xFFFFFFFF, 0x00000900, -(uint64_t)977, true},
    {"up, 24 bits", 4, 0xFFFFFF, 0xFFFF00, 977, true},
    {"up, 16 bits", 4, 0xFFFF, 0xF000, 977, false},
    {"down, 16 bits", 4, 0xFFFF, 0x0900, -(uint64_t)977, false},
    {"16 bits, a turn every 3 entries", 4, 0xFFFF, 0xF000, 20000, false},
    {"counter of events", 4, 0xFFFFFFFF, 0xFFFFFFFC, 1, true},
    {"up, 64 bits", 8, UINT64_MAX, UINT64_MAX - 5000, 977, true},
    {"down, 64 bits", 8, UINT64_MAX, 5000, -(uint64_t)977, true},
    {"all zero", 4, 0xFFFFFFFF, 0, 0, false},
};

// Returns entry number `n` of a writer. Each of its words differs from those of its neighbors.
static struct ring_entry make_entry(const struct clock_case *clock, unsigned n)
{
    struct ring_entry e = {0x20004000 + 0x100 * n,
                           0x80100000 + n,
                           40 + n % 40,
                           clock->start + n * clock->step,
                           {n, n + 100, n + 200, n + 300}};
    return e;
}

static const char *judge(struct look *look, unsigned slot, enum extract_verdict *verdict)
{
    look_open(look, &image);
    assert_accounted(look);
    *verdict = look->snapshot.verdict[slot];
    return extract_verdict_name(*verdict);
}

// Builds a ring of `entries` slots, writes `written` entries, and then only the words in `subset`
// of the next one.
static void tear(const struct clock_case *clock, unsigned entries, unsigned written,
                 unsigned subset)
{
    struct ring_spec spec = ring_plain;
    spec.word_bytes = clock->word_bytes;
    spec.mask = clock->mask;
    spec.entries = entries;
    spec.recycled = 0x5A;
    ring_build(&image, &spec);
    for (unsigned n = 0; n < written; n++) {
        struct ring_entry entry = make_entry(clock, n);
        ring_insert(&image, &entry);
    }
    struct ring_entry next = make_entry(clock, written);
    const uint64_t words[] = {next.thread,  next.priority, next.id,      next.stamp,
                              next.info[0], next.info[1],  next.info[2], next.info[3]};
    for (unsigned i = 0; i < ENTRY_WORDS; i++)
        if (subset >> i & 1)
            ring_word(&image, written % entries, i, words[i]);
}

enum { THREAD_BIT = 1 << 0, STAMP_BIT = 1 << 3, SUBSETS = 1 << ENTRY_WORDS };

static void check_wrapped_tear(const struct clock_case *clock, unsigned written, unsigned subset)
{
    struct look look;
    enum extract_verdict verdict;
    tear(clock, 8, written, subset);
    const char *name = judge(&look, written % 8, &verdict);
    if (verdict != EXTRACT_PROVISIONAL && verdict != EXTRACT_TORN)
        fail_msg("%s, words 0x%02x: %s", clock->name, subset, name);
    if (clock->wide && (subset & STAMP_BIT) && verdict != EXTRACT_TORN)
        fail_msg("%s, words 0x%02x: %s, though its stamp is new", clock->name, subset, name);
    if (clock->wide && !subset && verdict != EXTRACT_PROVISIONAL)
        fail_msg("%s: the untouched oldest entry is %s", clock->name, name);
    assert_int_equal(look.snapshot.counts[EXTRACT_GOOD], 7);
    look_close(&look);
}

static void test_torn_after_the_wrap(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        for (unsigned written = 16; written < 24; written++)
            for (unsigned subset = 0; subset < SUBSETS; subset++)
                check_wrapped_tear(&clocks[i], written, subset);
}

static void check_first_tear(const struct clock_case *clock, unsigned written, unsigned subset)
{
    struct look look;
    enum extract_verdict verdict;
    tear(clock, 8, written, subset);
    const char *name = judge(&look, written, &verdict);
    bool started = subset & THREAD_BIT;
    // The last slot may also be the oldest entry of a ring that has just wrapped.
    bool right = !started
                     ? verdict == EXTRACT_UNUSED
                     : verdict == EXTRACT_TORN || (written == 7 && verdict == EXTRACT_PROVISIONAL);
    if (!right)
        fail_msg("%s, entry %u, words 0x%02x: %s", clock->name, written, subset, name);
    assert_int_equal(look.snapshot.counts[EXTRACT_GOOD], written);
    look_close(&look);
}

static void test_torn_before_the_wrap(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof clocks / sizeof *clocks; i++)
        for (unsigned written = 0; written < 8; written++)
            for (unsigned subset = 0; subset < SUBSETS; subset++)
                check_first_tear(&clocks[i], written, subset);
}

static void test_torn_in_tiny_rings(void **state)
{
    struct look look;
    enum extract_verdict verdict;
    (void)state;
    for (unsigned entries = 1; entries <= 3; entries++)
        for (unsigned subset = 0; subset < SUBSETS; subset++) {
            tear(&clocks[0], entries, 7, subset);
            judge(&look, 7 % entries, &verdict);
            assert_int_not_equal(verdict, EXTRACT_GOOD);
            assert_int_not_equal(verdict, EXTRACT_UNUSED);
            look_close(&look);
        }
}

// Irregular steps do not hide a new timestamp of a wide clock, whether the longest step comes first
// or last.
static void test_torn_with_long_pauses(void **state)
{
    static const uint64_t steps[] = {3, 1000000, 17, 40, 900000000, 5, 1};
    struct look look;
    enum extract_verdict verdict;
    (void)state;
    for (unsigned turn = 0; turn < 7; turn++) {
        uint64_t stamp = 0xF0000000;
        ring_build(&image, &ring_plain);
        for (unsigned i = 0; i < 8; i++)
            ring_run(&image, 1, &stamp, steps[(turn + i) % 7]);
        judge(&look, 0, &verdict);
        assert_int_equal(verdict, EXTRACT_PROVISIONAL);
        look_close(&look);
        ring_word(&image, 0, 3, stamp);
        judge(&look, 0, &verdict);
        assert_int_equal(verdict, EXTRACT_TORN);
        look_close(&look);
    }
}

// ---- Entries that services patch afterwards ----

static void test_patched_later(void **state)
{
    // Patched are suspend, resume, block and byte allocate, and all ids of FileX, NetX and USBX,
    // but no other id of the kernel.
    static const struct {
        unsigned id;
        bool patched;
    } cases[] = {{1, true},   {2, true},    {10, true},  {20, true},   {201, true},
                 {300, true}, {1033, true}, {3, false},  {6, false},   {17, false},
                 {88, false}, {129, false}, {52, false}, {4096, false}};
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct ring_entry entry = {.thread = 0x20004000, .id = cases[i].id};
        struct look look;
        ring_build(&image, &ring_plain);
        for (; entry.stamp < 7; entry.stamp++)
            ring_insert(&image, &entry);
        look_open(&look, &image);
        for (unsigned slot = 0; slot < 7; slot++) // only the newest four are provisional
            assert_int_equal(look.snapshot.verdict[slot],
                             cases[i].patched && slot >= 3 ? EXTRACT_PROVISIONAL : EXTRACT_GOOD);
        look_close(&look);
    }
}

// ---- Model check ----
//
// The writer makes one store per step: the 8 words of an entry, the global pointer, the pointer in
// the header. The fourth field of a resume entry is patched while the next entry is written.
//
// The reader reads the header, the span in two parts that meet at any word, and the pointer. The
// writer makes any number of steps before each read.

enum {
    MODEL_SLOTS = 4,
    MODEL_WORDS = MODEL_SLOTS * ENTRY_WORDS,
    MODEL_STEPS = 64,
    GLOBAL_ADDRESS = 0x20000000,
    FIRST_STARTS = 11 // later starts only rotate all slots
};

struct moment {
    uint32_t word[MODEL_WORDS];
    uint32_t global, header; // slots to which the two pointers point
};

struct model {
    unsigned slots, steps; // slots of the ring; steps of the writer
    unsigned number;       // number of the next entry
    struct moment moment[MODEL_STEPS + 1];
    unsigned at; // the newest moment so far
    unsigned header_time, span_time, split_time, pointer_time;
    unsigned split; // the first word that is read at split_time
    bool span_was_read;
    struct ring_image image; // header and registry
    unsigned long good, torn;
};

static struct model model;

static uint32_t proof(uint32_t number, unsigned word)
{
    return (number + 1) * 2654435761u + word * 40503u;
}

static uint32_t model_word(uint32_t number, unsigned word)
{
    bool resume = number % 2;
    switch (word) {
    case 0:
        return 0x20004000 + 16 * number;
    case 2:
        return resume ? 1 : 88;
    case 3:
        return 0xFFFFFF00 + 100 * number;
    case 4:
        return number;
    case 7:
        return resume ? 0 : proof(number, 7);
    default:
        return proof(number, word);
    }
}

// Returns whether all words belong to one entry, patched or not.
static bool is_whole(const uint32_t *words)
{
    uint32_t number = words[4];
    for (unsigned i = 0; i < ENTRY_WORDS; i++)
        if (words[i] != model_word(number, i) && (i < 7 || words[7] != proof(number, 7)))
            return false;
    return true;
}

static struct moment *next_moment(void)
{
    if (model.at >= model.steps)
        return NULL;
    model.at++;
    model.moment[model.at] = model.moment[model.at - 1];
    return &model.moment[model.at];
}

static void model_store(unsigned word, uint32_t value)
{
    struct moment *moment = next_moment();
    if (moment)
        moment->word[word] = value;
}

// Patches the result of entry `number`, if the entry is still in the ring.
static void model_patch(uint32_t number)
{
    unsigned first = number % model.slots * ENTRY_WORDS;
    bool there = model.moment[model.at].word[first + 3] == model_word(number, 3);
    if (number % 2 && there)
        model_store(first + 7, proof(number, 7));
}

static void model_insert(void)
{
    uint32_t number = model.number++, slot = number % model.slots;
    struct moment *moment;
    for (unsigned i = 0; i < ENTRY_WORDS; i++) {
        model_store(slot * ENTRY_WORDS + i, model_word(number, i));
        if (i == 4 && number)
            model_patch(number - 1);
    }
    if ((moment = next_moment()))
        moment->global = (slot + 1) % model.slots;
    if ((moment = next_moment()))
        moment->header = (slot + 1) % model.slots;
}

// Makes all moments of the writer: `written` entries before the first moment, then `steps` stores.
static void model_make(unsigned slots, unsigned written, unsigned steps)
{
    struct ring_spec spec = ring_plain;
    spec.objects = 0;
    spec.entries = slots;
    memset(&model, 0, sizeof model);
    ring_build(&model.image, &spec);
    model.slots = slots;
    model.steps = steps;
    struct moment *first = &model.moment[0];
    for (; model.number < written; model.number++)
        for (unsigned i = 0; i < ENTRY_WORDS; i++)
            first->word[model.number % slots * ENTRY_WORDS + i] = model_word(model.number, i);
    first->global = first->header = written % slots;
    while (model.at < steps)
        model_insert();
}

static void read_span(uint64_t first, uint8_t *to, size_t length)
{
    for (size_t i = 0; i < length / 4; i++) {
        unsigned word = (unsigned)(first / 4 + i);
        unsigned time = model.span_was_read ? model.pointer_time
                        : word < model.split || length / 4 < model.slots * ENTRY_WORDS
                            ? model.span_time
                            : model.split_time;
        ring_number(to + 4 * i, model.moment[time].word[word], 4, false);
    }
    model.span_was_read |= length / 4 == model.slots * ENTRY_WORDS;
}

// Reads the header, words of it, some or all of the entries, or the global pointer.
static size_t model_read(void *context, uint64_t address, void *buffer, size_t length)
{
    uint64_t offset = address - model.image.spec.address;
    size_t entries = ring_slot_offset(&model.image, 0);
    unsigned time = model.span_was_read ? model.pointer_time : model.header_time;
    (void)context;
    if (address == GLOBAL_ADDRESS) {
        ring_number(buffer, ring_slot_address(&model.image, model.moment[time].global), 4, false);
        return 4;
    }
    if (offset >= entries) {
        read_span(offset - entries, buffer, length);
        return length;
    }
    assert_true(offset + length <= entries);
    ring_point(&model.image, model.moment[time].header);
    memcpy(buffer, model.image.bytes + offset, length);
    return length;
}

static void check_slots(const struct extract_snapshot *snapshot)
{
    uint32_t words[ENTRY_WORDS], last = 0;
    size_t entries = ring_slot_offset(&model.image, 0);
    bool any = false;
    for (unsigned i = 0; i < model.slots; i++) {
        unsigned slot = (snapshot->current + i) % model.slots;
        memcpy(words, snapshot->bytes + entries + slot * sizeof words, sizeof words);
        bool whole = is_whole(words);
        model.torn += !whole;
        if (snapshot->verdict[slot] != EXTRACT_GOOD)
            continue;
        if (!whole || (any && words[4] <= last))
            fail_msg("ring of %u, header at %u, span at %u, from word %u at %u, pointer at %u: "
                     "slot %u is shown as good",
                     model.slots, model.header_time, model.span_time, model.split, model.split_time,
                     model.pointer_time, slot);
        model.good++;
        any = true;
        last = words[4];
    }
}

static void model_look(struct extract_memory *memory, const struct extract_ring *ring)
{
    struct extract_snapshot snapshot;
    model.span_was_read = false;
    assert_int_equal(extract_snapshot_take(&snapshot, memory, ring, NULL), EXTRACT_OK);
    check_slots(&snapshot);
    extract_snapshot_free(&snapshot);
}

// Tries all words at which the two parts of the span can meet with different results. Moving the
// seam over a word that did not change gives the same copy.
static void each_split(struct extract_memory *memory, const struct extract_ring *ring)
{
    const uint32_t *early = model.moment[model.span_time].word;
    const uint32_t *late = model.moment[model.split_time].word;
    model.split = 0;
    model_look(memory, ring);
    for (model.split = 1; model.split < model.slots * ENTRY_WORDS; model.split++)
        if (early[model.split - 1] != late[model.split - 1])
            model_look(memory, ring);
}

static void each_interleaving(struct extract_memory *memory, const struct extract_ring *ring)
{
    unsigned end = model.steps;
    for (model.span_time = model.header_time; model.span_time <= end; model.span_time++)
        for (model.split_time = model.span_time; model.split_time <= end;
             model.split_time += sample_step())
            for (model.pointer_time = model.split_time; model.pointer_time <= end;
                 model.pointer_time++)
                each_split(memory, ring);
}

static struct extract_memory *model_memory(bool running)
{
    struct extract_memory *memory;
    struct extract_memory_source source = {.read = model_read, .running = running};
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    return memory;
}

static void model_find(struct extract_memory *memory, struct extract_ring *ring, bool global)
{
    struct extract_ring_options at = {
        .size = sizeof at, .address_known = true, .address = model.image.spec.address};
    model.span_was_read = false;
    assert_int_equal(extract_ring_find(ring, memory, NULL, &at, NULL), EXTRACT_OK);
    ring->current_symbol = global ? GLOBAL_ADDRESS : 0;
    ring->pointer_bytes = 4;
}

static void check_running(unsigned slots, unsigned written, unsigned steps, bool global)
{
    struct extract_ring ring;
    model_make(slots, written, steps);
    struct extract_memory *memory = model_memory(true);
    for (model.header_time = 0; model.header_time < FIRST_STARTS; model.header_time++) {
        model_find(memory, &ring, global);
        each_interleaving(memory, &ring);
    }
    extract_memory_close(memory);
    // The model is not empty. In a ring of two entries, one is at the pointer and one before it, so
    // none is ever valid.
    assert_true(model.torn > 1000 / sample_step() &&
                (slots == 2 || model.good > 1000 / sample_step()));
}

static void test_running(void **state)
{
    (void)state;
    for (unsigned slots = 2; slots <= MODEL_SLOTS; slots++)
        for (unsigned global = 0; global < 2; global++) {
            check_running(slots, 1, 11 * slots + 6, global); // through its first wrap
            check_running(slots, 2 * slots + 1, 11 * slots + 6, global);
        }
}

static void check_stopped(unsigned slots, unsigned written, bool global)
{
    struct extract_ring ring;
    model_make(slots, written, MODEL_STEPS);
    struct extract_memory *memory = model_memory(false);
    for (unsigned time = 0; time <= MODEL_STEPS; time++) {
        model.header_time = model.span_time = model.split_time = model.pointer_time = time;
        model_find(memory, &ring, global);
        model_look(memory, &ring);
    }
    extract_memory_close(memory);
    assert_true(model.good > 0 && model.torn > 0);
}

static void test_stopped(void **state)
{
    (void)state;
    for (unsigned slots = 2; slots <= MODEL_SLOTS; slots++)
        for (unsigned written = 0; written < 3 * slots; written++)
            for (unsigned global = 0; global < 2; global++)
                check_stopped(slots, written, global);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_torn_after_the_wrap),
        cmocka_unit_test(test_torn_before_the_wrap),
        cmocka_unit_test(test_torn_in_tiny_rings),
        cmocka_unit_test(test_torn_with_long_pauses),
        cmocka_unit_test(test_patched_later),
        cmocka_unit_test(test_stopped),
        cmocka_unit_test(test_running),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
