// SPDX-License-Identifier: MIT
// unit: each allocation and each read of target memory fails in turn, in every step: finding,
// copying, names, reports, saving. The result is an error, or a report that states what is missing.
// It is never a leak and never a guess.
#include "tests/unit/ring_builder.h"
#include "tests/unit/scratch.h"
#include "symbols/dwarf.h"
#include <extract/session.h>

enum { HEAP = 0x20008000, HEAP_BYTES = 256, GLOBALS = 0x20000000, GLOBALS_BYTES = 4096 };
enum { RING = 0x20002000, EVENTS = 16 };

static struct ring_image image;
static struct fake_memory fake;
static uint8_t heap[HEAP_BYTES], globals[GLOBALS_BYTES];
static uint8_t *elf; // NULL: there is no compiler
static size_t elf_length;

// ---- The firmware ----

static void set_global(const struct extract_symbols *symbols, const char *name, uint64_t value)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    ring_number(globals + (symbol.address - GLOBALS), value, 4, false);
}

static void load_elf(const char *path)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    elf_length = (size_t)ftell(file);
    rewind(file);
    elf = malloc(elf_length);
    assert_non_null(elf);
    assert_int_equal(fread(elf, 1, elf_length, file), elf_length);
    fclose(file);
}

static struct extract_symbols *open_symbols(enum extract_code *code)
{
    struct extract_symbols *symbols = NULL;
    *code =
        elf ? extract_symbols_open_bytes(&symbols, "fw.elf", elf, elf_length, NULL) : EXTRACT_OK;
    return symbols;
}

static int compile(void **state)
{
    char command[1024], *source = realpath("libextract/tests/data/good/firmware.c", NULL);
    if (scratch_make(state) || !source)
        return -1;
    snprintf(command, sizeof command,
             "arm-none-eabi-gcc -mcpu=cortex-m3 -g -O1 -std=gnu11 -ffreestanding -nostdlib "
             "-DULONG_TYPE='unsigned long' -Wl,--build-id=none,-Tbss=0x20000000 -o fw.elf %s",
             source);
    (free)(source);
    if (scratch_run(command))
        load_elf(scratch_path("fw.elf"));
    return 0;
}

static int remove_all(void **state)
{
    free(elf);
    return scratch_remove(state);
}

// Builds a ring with two threads in the registry, and one in the heap that only its control block
// names.
static void build(void)
{
    struct ring_spec spec = ring_plain;
    uint64_t stamp = 1000;
    enum extract_code code;
    spec.address = RING;
    spec.entries = EVENTS;
    ring_build(&image, &spec);
    ring_run(&image, 20, &stamp, 100);
    ring_register(&image, 0, &(struct ring_object){0, 1, 0x80, 5, 0x20004000, 1, 2, "worker"});
    ring_register(&image, 3, &(struct ring_object){0, 4, 0, 0, 0x20004100, 1, 2, "flag"});
    ring_word(&image, 9, 0, HEAP);
    ring_number(heap, 0x54485244, 4, false);
    ring_number(heap + 12, HEAP + 16, 4, false);
    strcpy((char *)heap + 16, "in the heap");
    struct extract_symbols *symbols = open_symbols(&code);
    if (symbols) {
        set_global(symbols, "_tx_trace_header_ptr", RING);
        set_global(symbols, "_tx_trace_buffer_current_ptr",
                   ring_slot_address(&image, image.current));
    }
    extract_symbols_close(symbols);
    memset(&fake, 0, sizeof fake);
    fake_add(&fake, GLOBALS, globals, sizeof globals);
    fake_add(&fake, RING, image.bytes, image.length);
    fake_add(&fake, HEAP, heap, sizeof heap);
}

// ---- A whole session ----

struct outcome {
    enum extract_code code;
    bool whole;
    uint64_t missing; // missing bytes of the registry
    size_t length;    // length of the text
    char text[65536]; // the report
    char name[64];    // name of the thread in the heap, as reports print it
};

static enum extract_code save(struct extract_session *session, struct extract_error *error)
{
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    enum extract_code code = extract_export_ring(&text, extract_session_trace(session), error);
    extract_text_free(&text);
    return code;
}

static enum extract_code run_verbs(struct extract_session *session, struct outcome *outcome,
                                   struct extract_error *error)
{
    static const char *const verbs[] = {"info", "objects", "stats", "damage",
                                        "cost", "chart",   "report"};
    enum extract_code code = EXTRACT_OK;
    for (size_t i = 0; i < sizeof verbs / sizeof *verbs && !code; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        code = extract_session_run(session, verbs[i], &text, error);
        outcome->length = text.used < sizeof outcome->text ? text.used : sizeof outcome->text;
        if (outcome->length)
            memcpy(outcome->text, text.data, outcome->length);
        extract_text_free(&text);
    }
    return code ? code : save(session, error);
}

static void note_session(struct extract_session *session, struct outcome *outcome)
{
    const struct extract_trace *trace = extract_session_trace(session);
    const struct extract_info *info = extract_trace_info(trace);
    const struct extract_object *thread = extract_trace_thread(trace, HEAP);
    assert_int_equal(info->entries_valid + info->entries_damaged + info->entries_unread +
                         info->entries_unused,
                     info->entries_total);
    outcome->whole = extract_session_is_whole(session);
    outcome->missing = extract_trace_snapshot(trace)->registry_missing;
    snprintf(outcome->name, sizeof outcome->name, "%s", thread ? thread->shown : "");
}

static void look_at(struct outcome *outcome, bool running)
{
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_CLASS, "SVC,KERN"}};
    struct extract_session_options options = {.size = sizeof options,
                                              .ring_known = !elf,
                                              .ring = RING,
                                              .conditions = conditions,
                                              .condition_count = 1};
    struct extract_memory_source source = {.read = fake_read, .context = &fake, .running = running};
    struct extract_session *session = NULL;
    struct extract_error error = {0};
    struct extract_memory *memory = NULL;
    memset(outcome, 0, sizeof *outcome);
    struct extract_symbols *symbols = open_symbols(&outcome->code);
    if (!outcome->code)
        outcome->code = extract_memory_new(&memory, &source, &error);
    if (!outcome->code)
        outcome->code = extract_session_open(&session, memory, symbols, &options, &error);
    if (session) {
        note_session(session, outcome);
        outcome->code = run_verbs(session, outcome, &error);
    }
    extract_session_close(session);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
}

static struct outcome reference, outcome;

static bool is_same_report(void)
{
    return outcome.length == reference.length &&
           !memcmp(outcome.text, reference.text, outcome.length);
}

// ---- Allocations ----

static enum extract_code attempt(void)
{
    look_at(&outcome, false);
    // Types of the ELF are read on demand. Without them, the thread's name is not available.
    if (!outcome.code && !is_same_report())
        assert_string_equal(outcome.name, "0x20008000");
    return outcome.code;
}

static void test_allocations(void **state)
{
    (void)state;
    build();
    look_at(&reference, false);
    assert_int_equal(reference.code, EXTRACT_OK);
    assert_true(reference.whole && reference.length > 500);
    each_allocation_fails(attempt);
    assert_true(is_same_report());
}

// ---- Reads ----

// If a read of the ring or its pointers fails, the session fails, or the missing bytes are counted.
static void check_read(long number, size_t keep)
{
    fake.reads = 0;
    fake.fail_at = number;
    fake.keep = keep;
    look_at(&outcome, false);
    fake.fail_at = 0;
    if (outcome.code || !outcome.whole || outcome.missing || is_same_report())
        return;
    // The only other permitted change is that the thread's name is not available. A part of it is
    // not a name.
    if (strcmp(outcome.name, "0x20008000"))
        fail_msg("read %ld that keeps %zu bytes changes the report, and nothing says so: %s",
                 number, keep, outcome.name);
}

static void check_reads(void)
{
    static const size_t keeps[] = {0, 1, 3, 4, 7, 10, 47, 49, 100, 200, 250, 400, 600};
    build();
    fake.reads = 0;
    look_at(&reference, false);
    assert_int_equal(reference.code, EXTRACT_OK);
    assert_true(reference.whole && !reference.missing);
    long reads = fake.reads;
    assert_true(reads >= 2);
    for (long number = 1; number <= reads; number++)
        for (size_t i = 0; i < sizeof keeps / sizeof *keeps; i++)
            check_read(number, keeps[i]);
}

static void test_reads(void **state)
{
    (void)state;
    check_reads();
    assert_true(!elf || !strcmp(reference.name, "in the heap"));
}

static void test_reads_without_symbols(void **state)
{
    uint8_t *kept = elf;
    (void)state;
    elf = NULL;
    check_reads();
    elf = kept;
}

// While the target runs, a pointer or an anchor that cannot be read again leaves nothing verified.
static void check_running_reads(void)
{
    build();
    fake.reads = 0;
    look_at(&reference, true);
    assert_int_equal(reference.code, EXTRACT_OK);
    assert_true(reference.whole);
    for (long number = 1; number <= (elf ? 6 : 5); number++) {
        fake.reads = 0;
        fake.fail_at = number;
        fake.keep = 3;
        look_at(&outcome, true);
        fake.fail_at = 0;
        // The pointer in the header replaces the live one.
        assert_true(outcome.code || !outcome.whole || outcome.missing ||
                    (elf && number == 5 && is_same_report()));
    }
}

static void test_reads_of_a_running_target(void **state)
{
    uint8_t *kept = elf;
    (void)state;
    check_running_reads();
    elf = NULL;
    check_running_reads();
    elf = kept;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocations),
        cmocka_unit_test(test_reads),
        cmocka_unit_test(test_reads_without_symbols),
        cmocka_unit_test(test_reads_of_a_running_target),
    };
    return cmocka_run_group_tests(tests, compile, remove_all);
}
