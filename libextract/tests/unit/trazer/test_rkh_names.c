// SPDX-License-Identifier: MIT
// unit: names of RKH's objects: from the records of the stream, from the firmware's symbols, or as
// addresses.
//
// Truth: the streams in this file; what nm and the compiler report about the program.
#include "tests/unit/trazer/rkh_stream.h"
#include "events/events_room.h"
#include <extract/symbols.h>

static const char program[] = "struct queue { void *head; unsigned short used, size; };\n"
                              "struct active { void *state; unsigned char prio;\n"
                              "                struct queue equeue; };\n"
                              "extern struct active server;\n"
                              "struct active server;\n"
                              "static struct active clients[4] = {{0, 1}};\n"
                              "const int idle = 1;\n"
                              "int numbers[8] = {1};\n"
                              "void bsp_done(void) { clients[1].prio++; }\n"
                              "void _start(void) { bsp_done(); }\n";

// A trace of a stream, optionally with an ELF.
struct look {
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    struct extract_snapshot snapshot;
    struct extract_trace *trace;
};

static void look_open(struct look *look, const struct stream *s, const char *elf)
{
    struct extract_error error = {0};
    struct extract_ring ring;
    struct extract_ring_options where = {.size = sizeof where, .format = "rkh"};
    *look = (struct look){.memory = NULL};
    if (elf)
        assert_int_equal(extract_symbols_open(&look->symbols, scratch_path(elf), &error), 0);
    const char *path = scratch_write("stream.bin", s->bytes, s->used);
    assert_int_equal(extract_rkh_stream_open(&look->memory, path, &error), EXTRACT_OK);
    assert_int_equal(extract_ring_find(&ring, look->memory, look->symbols, &where, &error), 0);
    assert_int_equal(extract_snapshot_take(&look->snapshot, look->memory, &ring, &error), 0);
    struct extract_trace_options options = {.size = sizeof options, .symbols = look->symbols};
    assert_int_equal(extract_trace_open(&look->trace, &look->snapshot, &options, &error), 0);
}

static void look_close(struct look *look)
{
    extract_trace_close(look->trace);
    extract_snapshot_free(&look->snapshot);
    extract_memory_close(look->memory);
    extract_symbols_close(look->symbols);
}

static void check_object(const struct look *look, uint64_t address, uint64_t seq, const char *name,
                         const char *type)
{
    const struct extract_object *object = extract_trace_object_at(look->trace, address, seq);
    assert_non_null(object);
    assert_string_equal(object->shown, name);
    assert_string_equal(object->type_name, type);
}

// The last name applies to earlier events, too. A plain name record does not change the type of an
// object.
static void test_last_wins(void **state)
{
    struct stream s;
    struct look look;
    const struct extract_object *objects;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 69, "00000020 07");
    stream_put(&s, 174, "00000020 '&first'");
    stream_put(&s, 174, "00000020 '&second'");
    stream_put(&s, 166, "00000020 'third'");
    stream_put(&s, 179, "08000020 '&server->equeue'");
    look_open(&look, &s, NULL);
    check_object(&look, 0x20000000, 1, "third", "active object");
    check_object(&look, 0x20000008, 1, "server->equeue", "queue");
    assert_int_equal(extract_trace_objects(look.trace, &objects), 2);
    assert_int_equal(extract_trace_info(look.trace)->objects, 2);
    assert_int_equal(objects[0].priority, 7);
    assert_true(extract_object_is_thread(&objects[0]));
    assert_false(extract_object_is_thread(&objects[1]));
    assert_ptr_equal(extract_trace_thread(look.trace, 0x20000000), &objects[0]);
    look_close(&look);
}

// A number is not an address, and each kind of number has its own names.
static void test_numbers(void **state)
{
    struct stream s;
    struct look look;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 167, "05 'PAUSE'");
    stream_put(&s, 171, "05 'USR_FIVE'");
    stream_put(&s, 178, "05 'ep5'");
    stream_put(&s, 166, "05000000 'low'");
    look_open(&look, &s, NULL);
    check_object(&look, 5, 0, "low", "object");
    assert_null(extract_trace_object(look.trace, 6));
    look_close(&look);
    struct extract_text text = stream_say(&s, "objects", false, true);
    assert_non_null(strstr(text.data, "{\"address\":5,\"type\":\"signal\",\"name\":\"PAUSE\""));
    assert_non_null(
        strstr(text.data, "{\"address\":5,\"type\":\"user event\",\"name\":\"USR_FIVE\""));
    assert_non_null(strstr(text.data, "{\"address\":5,\"type\":\"event pool\",\"name\":\"ep5\""));
    assert_non_null(strstr(text.data, "{\"address\":5,\"type\":\"object\",\"name\":\"low\""));
    extract_text_free(&text);
}

// After another TCFG record, all earlier names are invalid.
static void test_runs(void **state)
{
    struct stream s;
    struct look look;
    (void)state;
    stream_begin(&s);
    stream_put(&s, 174, "00000020 'old'");
    stream_put(&s, 175, "00000020 24250000 'idle'");
    stream_put(&s, TCFG, all_on);
    s.next = 0;
    stream_put(&s, 174, "00000020 'new'");
    stream_put(&s, 104, "00000020 24250000");
    look_open(&look, &s, NULL);
    check_object(&look, 0x20000000, 0, "old", "active object");
    check_object(&look, 0x20000000, 2, "old", "active object");
    check_object(&look, 0x20000000, 3, "new", "active object");
    check_object(&look, 0x2524, 2, "idle", "state");
    assert_null(extract_trace_object_at(look.trace, 0x2524, 3));
    assert_int_equal(extract_trace_registry(look.trace, 2), 0);
    assert_int_equal(extract_trace_registry(look.trace, 3), 1);
    look_close(&look);
    struct extract_text text = stream_say(&s, "report", false, true);
    assert_non_null(strstr(text.data, "\"names\":{\"ao\":\"new\"}"));
    extract_text_free(&text);
}

// There are more runs than the library keeps apart. The last run continues.
static void test_many_runs(void **state)
{
    struct stream s;
    struct look look;
    (void)state;
    stream_init(&s, 0, 0, false);
    for (unsigned i = 0; i < 4000; i++)
        stream_put(&s, TCFG, "0034 FF7F0000 44 42 11 02 14 E803");
    stream_put(&s, 174, "00000020 'last'");
    look_open(&look, &s, NULL);
    check_object(&look, 0x20000000, UINT64_MAX, "last", "active object");
    look_close(&look);
}

// ---- the firmware's symbols ----

static bool build(const char *flags)
{
    char command[512];
    scratch_puts("main.c", program);
    snprintf(command, sizeof command,
             "gcc -g -O0 -nostdlib -ffreestanding -static -no-pie -fno-pie %s -Wl,-e,_start "
             "-o fw.elf main.c",
             flags);
    return scratch_run(command);
}

// Appends an address as a target with 32-bit pointers sends it.
static void put_address(char *words, uint64_t address)
{
    for (unsigned i = 0; i < 4; i++)
        sprintf(words + strlen(words), "%02X", (unsigned)(address >> 8 * i & 0xFF));
    strcat(words, " ");
}

static uint64_t address_of(const struct extract_symbols *symbols, const char *name)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    return symbol.address;
}

// Offsets of the program's members on a host with 64-bit pointers.
enum { EQUEUE = 16, CLIENT_BYTES = 32 };

static void check_firmware(void)
{
    struct extract_symbols *symbols;
    struct extract_error error = {0};
    struct stream s;
    struct look look;
    char words[128] = "";
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("fw.elf"), &error), EXTRACT_OK);
    uint64_t server = address_of(symbols, "server"), clients = address_of(symbols, "clients");
    put_address(words, address_of(symbols, "idle"));
    stream_begin(&s);
    char queue[128] = "";
    put_address(queue, server + EQUEUE);
    put_address(queue, clients + 2 * CLIENT_BYTES);
    strcat(queue, "04");
    stream_put(&s, 32, queue);
    char function[128] = "";
    put_address(function, address_of(symbols, "bsp_done"));
    stream_put(&s, 169, function);
    char state[128] = "";
    put_address(state, server);
    strcat(state, words);
    stream_put(&s, 104, state);
    look_open(&look, &s, "fw.elf");
    check_object(&look, (uint32_t)server, 3, "server", "active object");
    look_close(&look);
    extract_symbols_close(symbols);
}

static struct extract_text say_with(const char *verb)
{
    struct extract_memory *memory = NULL;
    struct extract_symbols *symbols = NULL;
    struct extract_session *session = NULL;
    struct extract_error error = {0};
    struct extract_text text;
    struct extract_session_options options = {
        .size = sizeof options, .format = "rkh", .json = true};
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("fw.elf"), &error), 0);
    assert_int_equal(extract_rkh_stream_open(&memory, scratch_path("stream.bin"), &error), 0);
    assert_int_equal(extract_session_open(&session, memory, symbols, &options, &error), 0);
    assert_int_equal(extract_session_run(session, verb, &text, &error), 0);
    extract_session_close(session);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    extract_text_putc(&text, 0);
    return text;
}

static void check_names(bool members)
{
    struct extract_text text = say_with("report");
    assert_non_null(
        strstr(text.data, members ? "\"names\":{\"q\":\"server.equeue\",\"ao\":\"clients[2]\""
                                  : "\"names\":{\"q\":\"server+0x10\",\"ao\":\"clients+0x40\""));
    assert_non_null(strstr(text.data, "\"names\":{\"fun\":\"bsp_done\"}"));
    assert_non_null(strstr(text.data, "\"names\":{\"ao\":\"server\",\"state\":\"idle\"}"));
    extract_text_free(&text);
}

static bool has_dwarf(void)
{
#ifdef EXTRACT_HAVE_DW
    return true;
#else
    return false;
#endif
}

static void test_symbols(void **state)
{
    (void)state;
    if (!build(""))
        skip();
    check_firmware();
    check_names(has_dwarf());
}

static void test_stripped_of_dwarf(void **state)
{
    (void)state;
    if (!build("-g0"))
        skip();
    check_firmware();
    check_names(false);
}

// A program above 4 GiB sends the lower halves of its addresses.
static void test_cut(void **state)
{
    (void)state;
    if (!build("-mcmodel=large -Wl,-Ttext-segment=0x7F1200400000"))
        skip();
    check_firmware();
    check_names(has_dwarf());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_last_wins), cmocka_unit_test(test_numbers),
        cmocka_unit_test(test_runs),      cmocka_unit_test(test_many_runs),
        cmocka_unit_test(test_symbols),   cmocka_unit_test(test_stripped_of_dwarf),
        cmocka_unit_test(test_cut),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
