// SPDX-License-Identifier: MIT
// Tests active objects that are found in the firmware's ELF. For every layout of their structs, a
// name leads to the filter bit of the object's priority. Truth: the numbers in the program's text.
#include "tests/unit/rkh/rkh_builder.h"
#include "tests/unit/scratch.h"
#include "symbols/dwarf.h"
#include <extract/filter.h>

static struct extract_symbols *symbols;
static struct extract_error error;
static struct extract_memory *memory;
static uint64_t objects_at;

static const char program[] =
    "unsigned char trcgfilter, trceftbl[17], trcsmaftbl[4], trcsigftbl[2];\n"
    "struct queue { void *start; unsigned char size; };\n"
    "typedef struct { const char *name; unsigned char prio; } rom_t;\n"
    "typedef struct { const rom_t *romrkh; const void *state; } sm_t;\n"
    "typedef struct { sm_t sm; struct queue equeue; } sma_t;\n"
    "typedef struct { int count; sma_t base; } door_t;\n"
    "typedef struct { unsigned short prio; struct queue equeue; } plain_t;\n"
    "typedef struct { int prio; void *stack; } task_t;\n"
    "const rom_t rom[4] = {{\"own name\", 3}, {\"gate\", 9}, {\"c0\", 20}, {\"c1\", 21}};\n"
    "sma_t server, clients[2], unborn;\n"
    "door_t door;\n"
    "plain_t plain;\n"
    "task_t task;\n"
    "int main(void) {\n"
    "  server.sm.romrkh = &rom[0]; door.base.sm.romrkh = &rom[1]; plain.prio = 30;\n"
    "  clients[1].sm.romrkh = &rom[2]; task.prio = 5;\n"
    "  return trcgfilter + trceftbl[0] + trcsmaftbl[0] + trcsigftbl[0] + (unborn.sm.state != 0);\n"
    "}\n";

static int compile(void **state)
{
    if (scratch_make(state))
        return -1;
    scratch_puts("fw.c", program);
    if (!scratch_run("gcc -O0 -g -fno-pie -no-pie -o fw.elf fw.c") ||
        extract_symbols_open(&symbols, scratch_path("fw.elf"), &error))
        symbols = NULL;
    return 0;
}

static int release(void **state)
{
    extract_symbols_close(symbols);
    return scratch_remove(state);
}

static uint64_t address_of(const char *name)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    return symbol.address;
}

// Adds the memory of a variable: `value` at offset `at`, in little-endian order, and zeros
// elsewhere.
static void put(const char *name, size_t length, size_t at, uint64_t value)
{
    uint8_t bytes[256] = {0};
    for (size_t i = 0; i < 8 && at + i < length; i++)
        bytes[at + i] = (uint8_t)(value >> 8 * i);
    assert_int_equal(
        extract_memory_add_bytes(memory, name, bytes, length, address_of(name), &error),
        EXTRACT_OK);
}

static struct extract_control *target(void)
{
    struct extract_control *control;
    uint64_t size;
    if (!symbols || !extract_symbols_type_size(symbols, "rom_t", &size))
        skip();
    assert_int_equal(extract_memory_new_images(&memory, &error), EXTRACT_OK);
    uint64_t rom = address_of("rom");
    put("trcgfilter", 1, 0, 0);
    put("trceftbl", 17, 0, 0);
    put("trcsmaftbl", 4, 0, 0);
    put("trcsigftbl", 2, 0, 0);
    put("server", 32, 0, rom);
    put("door", 40, 8, rom + 16);
    put("clients", 64, 32, rom + 32);
    put("unborn", 32, 0, 0);
    put("plain", 24, 0, 30);
    put("task", 16, 0, 5);
    objects_at = address_of("trcsmaftbl");
    assert_int_equal(extract_control_read(&control, memory, symbols, NULL, NULL, &error),
                     EXTRACT_OK);
    return control;
}

static enum extract_code turn_on(struct extract_control *control, const char *what)
{
    const char *words[] = {"on", what};
    return extract_control_change(control, words, 2, &error);
}

static void test_names(void **state)
{
    static const struct {
        const char *what;
        unsigned priority;
    } objects[] = {{"ao=server", 3}, {"ao=own name", 3}, {"ao=own*", 3},
                   {"ao=door", 9},   {"ao=gate", 9},     {"ao=clients[1]", 20},
                   {"ao=c0", 20},    {"ao=plain", 30},   {"ao=17", 17}};
    (void)state;
    for (size_t i = 0; i < sizeof objects / sizeof *objects; i++) {
        struct extract_control *control = target();
        struct extract_edit edit;
        enum extract_code code = turn_on(control, objects[i].what);
        if (code)
            print_error("%s: %s\n", objects[i].what, error.why);
        assert_int_equal(code, EXTRACT_OK);
        assert_true(extract_control_edit(control, 0, &edit));
        assert_int_equal(edit.address, objects_at + objects[i].priority / 8);
        assert_int_equal(edit.after, 1u << objects[i].priority % 8);
        assert_false(extract_control_edit(control, 1, &edit));
        extract_control_free(control);
        extract_memory_close(memory);
    }
}

// A thread of another kernel is not an active object, nor is one that is not created yet. The error
// lists the active objects that exist.
static void test_no_names(void **state)
{
    static const char *const names[] = {"ao=task", "ao=unborn", "ao=c1", "ao=rom", "ao=32"};
    struct extract_control *control = target();
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        assert_int_equal(turn_on(control, names[i]), EXTRACT_NOTFOUND);
    assert_non_null(strstr(error.hint, "priorities 0 to 31"));
    assert_non_null(strstr(error.hint, "own name"));
    assert_non_null(strstr(error.hint, "plain"));
    extract_control_free(control);
    extract_memory_close(memory);
}

static void test_shown(void **state)
{
    struct extract_control *control = target();
    struct extract_text text;
    const char *words[] = {"on", "ao=door", "ao=18"};
    (void)state;
    assert_int_equal(extract_control_change(control, words, 3, &error), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    extract_control_show(control, true, &text);
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, "\nactive objects: only gate 18\n"));
    extract_text_free(&text);
    extract_control_free(control);
    extract_memory_close(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_names),
        cmocka_unit_test(test_no_names),
        cmocka_unit_test(test_shown),
    };
    return cmocka_run_group_tests(tests, compile, release);
}
