// SPDX-License-Identifier: MIT
// Tests names of signals that come from enumerations in the firmware's ELF: which enumeration is
// used, and when none is. Truth: the numbers in the programs' text, and docs/formats/rkh-text.md,
// "Signals by the ELF".
#include "tests/unit/trazer/rkh_stream.h"
#include "symbols/dwarf.h"
#include <extract/filter.h>

enum { FOUND_NO_TRIGGER = 106, SIG = 167 };

static struct stream s;
static struct extract_symbols *symbols;
static struct extract_error error;

// The part that all programs have: the framework's type of a signal, and one of its enumerations.
#define FRAMEWORK                                                                                  \
    "typedef unsigned char RKH_SIG_T;\n"                                                           \
    "typedef struct { RKH_SIG_T e; unsigned char refs, pool; } RKH_EVT_T;\n"                       \
    "struct transition { RKH_SIG_T event; const void *target; };\n"                                \
    "enum rkh_kind { RKH_A, RKH_B, RKH_C, RKH_D, RKH_E, RKH_F, RKH_G, RKH_H } kind;\n"             \
    "static unsigned char trcgfilter, trceftbl[17], trcsigftbl[2];\n"                              \
    "volatile int sink;\n"

#define MAIN                                                                                       \
    "int main(void) { sink = trcgfilter++ + trceftbl[1]++ + trcsigftbl[0]++ + kind; return "

// Compiles a program of two source files.
static void compile_both(const char *program, const char *second)
{
    struct extract_enum any;
    scratch_puts("fw.c", program);
    scratch_puts("second.c", second);
    symbols = NULL;
    if (!scratch_run("gcc -O1 -g -fno-pie -no-pie -o fw.elf fw.c second.c"))
        skip();
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("fw.elf"), &error), EXTRACT_OK);
    if (!extract_symbols_enum(symbols, 0, &any)) {
        extract_symbols_close(symbols);
        symbols = NULL;
        skip(); // the library is built without libdw
    }
}

static void compile(const char *program)
{
    compile_both(program, "int second;\n");
}

// Makes a stream without records of names, with one event per signal.
static void put_signals(const char *const *numbers)
{
    stream_begin(&s);
    for (; *numbers; numbers++) {
        char words[32];
        snprintf(words, sizeof words, "00000020 %s", *numbers);
        stream_put(&s, FOUND_NO_TRIGGER, words);
    }
}

#define PUT(...) put_signals((const char *const[]){__VA_ARGS__, NULL})

static enum extract_code run(const char *verb, const char *settings, const char *filter,
                             struct extract_text *text)
{
    struct extract_memory *memory = NULL;
    struct extract_session *session = NULL;
    struct extract_rkh rkh = {0};
    struct extract_condition condition = {EXTRACT_FILTER_EVENT, filter};
    struct extract_session_options options = {.size = sizeof options,
                                              .format = "rkh",
                                              .json = true,
                                              .rkh = &rkh,
                                              .conditions = &condition,
                                              .condition_count = filter != NULL};
    enum extract_code code = extract_rkh_parse(&rkh, settings, &error);
    if (!code)
        code = extract_rkh_stream_open(&memory, scratch_path("stream.bin"), &error);
    if (!code)
        code = extract_session_open(&session, memory, symbols, &options, &error);
    if (!code)
        code = extract_session_run(session, verb, text, &error);
    extract_session_close(session);
    extract_memory_close(memory);
    return code;
}

static struct extract_text say(const char *verb, const char *settings, const char *filter)
{
    struct extract_text text;
    scratch_write("stream.bin", s.bytes, s.used);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(run(verb, settings, filter, &text), EXTRACT_OK);
    extract_text_putc(&text, 0);
    return text;
}

// Checks the names of the signals of all events that have a signal, separated by blanks. "-" stands
// for a signal without a name.
static void check_names(const char *settings, const char *expected, const char *from)
{
    struct extract_text text = say("report", settings, "no trigger for event");
    char names[256] = "", info[64];
    for (const char *at = text.data; (at = strstr(at, "\"names\":{")); at++) {
        const char *end = strchr(at, '}'), *name = strstr(at, "\"sig\":\"");
        bool is_there = name && name < end;
        size_t length = is_there ? strcspn(name + 7, "\"") : 1;
        snprintf(names + strlen(names), sizeof names - strlen(names), "%s%.*s", *names ? " " : "",
                 (int)length, is_there ? name + 7 : "-");
    }
    assert_string_equal(names, expected);
    extract_text_free(&text);
    text = say("info", settings, NULL);
    snprintf(info, sizeof info, "\"from\":\"%s\"},\"runs\"", from);
    if (!strstr(text.data, info))
        fail_msg("%s is not in %s", info, text.data);
    extract_text_free(&text);
}

static int make(void **state)
{
    return scratch_make(state);
}

static int stop(void **state)
{
    (void)state;
    extract_symbols_close(symbols);
    symbols = NULL;
    return 0;
}

// ---- with records of names ----

// Only one record of a name is left. It determines the enumeration, which names the other signals.
// LAST is a second name of 6.
static void test_records(void **state)
{
    (void)state;
    compile(FRAMEWORK
            "enum { OFF, ON, PAUSE = 9, STOP } button;\n"
            "enum { REQ, START, DONE, TOUT_REQ, TOUT_USING, PAUSE_, TERM, LAST = TERM } x;\n"
            "enum { TEA, MILK, SUGAR, SALT, SOUP, RICE, BEANS } meal;\n" MAIN
            "button + x + meal; }\n");
    PUT("00", "03", "06", "08");
    stream_put(&s, SIG, "05 'PAUSE_'");
    check_names("", "REQ TOUT_REQ - -", "records");
}

// The ELF has this name for another number, or this number with another name. So the ELF belongs to
// another firmware.
static void test_records_disagree(void **state)
{
    (void)state;
    compile(FRAMEWORK "enum signals { REQ, START, DONE } x;\n" MAIN "x; }\n");
    PUT("00", "01");
    stream_put(&s, SIG, "01 'DONE'");
    check_names("", "- DONE", "unknown");
    PUT("00", "01");
    stream_put(&s, SIG, "01 'HALT'");
    check_names("", "- HALT", "unknown");
    PUT("00", "01");
    stream_put(&s, SIG, "01 'START'");
    stream_put(&s, SIG, "02 'HALT'");
    check_names("", "- START", "unknown");
}

// Two enumerations agree with the records. A signal has no name if one of them lacks it or names it
// differently.
static void test_several_agree(void **state)
{
    (void)state;
    compile_both(
        FRAMEWORK "enum one { REQ, START, DONE, HALT } x;\n" MAIN "x; }\n",
        "enum two { REQ, START, END, HALT, MORE } y;\nint f(void) { return y == MORE; }\n");
    PUT("00", "01", "02", "03", "04");
    stream_put(&s, SIG, "01 'START'");
    check_names("", "REQ START - HALT -", "records");
}

// ---- without records of names ----

// The enumeration is chosen by its type name. Another enumeration also has all numbers of the
// trace.
static void test_type(void **state)
{
    (void)state;
    compile(FRAMEWORK "typedef enum { REQ, START, DONE } Signals;\n"
                      "enum colour { RED, GREEN, BLUE } colour;\n"
                      "Signals x;\n" MAIN "x + colour; }\n");
    PUT("00", "02", "FE");
    check_names("", "REQ DONE -", "type");
    PUT("00", "03"); // the enumeration does not have 3
    check_names("", "- -", "unknown");
}

#define TABLE                                                                                      \
    "const struct transition table[] = {{REQ, 0}, {TERM, 0}, {255, 0}};\n"                         \
    "const RKH_EVT_T none, done = {DONE, 0, 0};\n"
#define TEXTS "const char *const texts[] = {\"START\", \"UNDONE\", \"TERM\"};\n"

// Only one enumeration has all numbers of the trace and of the tables. Most of its names are texts
// in the firmware, where DONE is the end of a longer text.
static void test_texts(void **state)
{
    (void)state;
    compile(FRAMEWORK "enum { REQ, START, DONE, TERM = 6 } x;\n"
                      "enum priority { PRIO_A, PRIO_B, PRIO_C } prio;\n" TABLE TEXTS MAIN
                      "x + prio + table[sink].event + done.e + none.e + *texts[sink]; }\n");
    PUT("00", "01");
    check_names("", "REQ START", "texts");
}

// Without the texts, the enumeration may be unrelated to signals.
static void test_no_texts(void **state)
{
    (void)state;
    compile(FRAMEWORK "enum { REQ, START, DONE, TERM = 6 } x;\n" TABLE MAIN
                      "x + table[sink].event + done.e + none.e; }\n");
    PUT("00", "01");
    check_names("", "- -", "unknown");
    check_names("signals=DONE", "REQ START", "user");
}

// Two enumerations have all of these numbers. The reader cannot know which one is right until the
// user states it.
static void test_ambiguous(void **state)
{
    struct extract_text text;
    (void)state;
    compile(FRAMEWORK
            "enum { REQ, START, DONE, TERM = 6 } x;\n"
            "enum state { IDLE, BUSY, FULL, BROKEN, GONE, BACK, AWAY } now;\n" TABLE TEXTS MAIN
            "x + now + table[sink].event + done.e + none.e + *texts[sink]; }\n");
    PUT("00", "01");
    check_names("", "- -", "unknown");
    check_names("signals=TERM", "REQ START", "user");
    check_names("signals=state", "IDLE BUSY", "user");
    check_names("signals=none", "- -", "unknown");
    text = say("info", "", NULL);
    assert_non_null(strstr(text.data, "\"signals\":{\"enums\":2,"));
    extract_text_free(&text);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(run("info", "signals=frob", NULL, &text), EXTRACT_USAGE);
    assert_string_equal(error.what, "--rkh signals=frob");
    extract_text_free(&text);
}

// With several layouts, the ELF belongs to at most one run, and the reader does not know to which.
static void test_several_layouts(void **state)
{
    (void)state;
    compile(FRAMEWORK "enum signals { REQ, START } x;\n" MAIN "x; }\n");
    PUT("01");
    check_names("", "START", "type");
    s.nseq = s.ts = 0;
    stream_put(&s, TCFG, "0034 FF7F0200 14 42 11 02 14 E803");
    stream_put(&s, FOUND_NO_TRIGGER, "00000020 00");
    check_names("", "- -", "unknown");
    check_names("signals=signals", "START REQ", "user");
}

// Enumerations with negative numbers or very many values must not be used.
static void test_odd(void **state)
{
    static char program[1 << 16];
    (void)state;
    size_t used = (size_t)snprintf(program, sizeof program, FRAMEWORK "enum signal_t {");
    for (unsigned i = 0; i < 1025; i++)
        used += (size_t)snprintf(program + used, sizeof program - used, "S%u, ", i);
    snprintf(program + used, sizeof program - used,
             "} x;\nenum { BAD = -5, NOT_YET = -1, READY } y;\n" MAIN "x + y; }\n");
    compile(program);
    PUT("00", "01");
    check_names("", "- -", "unknown");
    check_names("signals=BAD", "READY -", "user");
}

// ---- filters ----

static void test_reader_filter(void **state)
{
    (void)state;
    compile(FRAMEWORK "enum { REQ, START, DONE, TERM = 6 } x;\n"
                      "enum state { IDLE, BUSY, FULL } now;\n" MAIN "x + now; }\n");
    PUT("00", "01", "01", "02");
    check_names("", "- - - -", "unknown");
    struct extract_text text = say("report", "", "signal=START");
    unsigned count = 0;
    for (const char *at = text.data; (at = strstr(at, "\"sig\":1")); at++)
        count++;
    assert_int_equal(count, 2);
    assert_null(strstr(text.data, "\"sig\":0"));
    extract_text_free(&text);
    extract_text_init(&text, NULL, NULL);
    assert_int_equal(run("report", "", "signal=FROB", &text), EXTRACT_NOTFOUND);
    extract_text_free(&text);
}

static uint64_t address_of(const char *name)
{
    struct extract_symbol symbol;
    assert_true(extract_symbols_by_name(symbols, name, &symbol));
    return symbol.address;
}

static struct extract_control *open_tables(struct extract_memory **memory, const char *settings)
{
    static const uint8_t ones[17] = {0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF,
                                     0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF, 0xFF};
    static const char *const names[] = {"trcgfilter", "trceftbl", "trcsigftbl"};
    static const size_t lengths[] = {1, 17, 2};
    struct extract_control *control;
    struct extract_rkh rkh = {0};
    assert_int_equal(extract_rkh_parse(&rkh, settings, &error), EXTRACT_OK);
    assert_int_equal(extract_memory_new_images(memory, &error), EXTRACT_OK);
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(extract_memory_add_bytes(*memory, "tables", ones, lengths[i],
                                                  address_of(names[i]), &error),
                         EXTRACT_OK);
    assert_int_equal(extract_control_read(&control, *memory, symbols, NULL, &rkh, &error),
                     EXTRACT_OK);
    return control;
}

// The filter is changed although there is no trace to read. A name in `word` becomes its number. A
// number is shown with a name only if the name is certain.
static void check_filter(const char *settings, const char *word, const char *shown)
{
    const char *words[] = {"off", word};
    struct extract_memory *memory;
    struct extract_control *control = open_tables(&memory, settings);
    struct extract_text text;
    assert_int_equal(extract_control_change(control, words, 2, &error), EXTRACT_OK);
    extract_text_init(&text, NULL, NULL);
    extract_control_show(control, true, &text);
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, shown));
    extract_text_free(&text);
    extract_control_free(control);
    extract_memory_close(memory);
}

static void test_target_filter(void **state)
{
    const char *unknown[] = {"off", "signal=FROB"}, *twice[] = {"off", "signal=NO"};
    struct extract_memory *memory;
    (void)state;
    compile(FRAMEWORK "enum { REQ, START, DONE, TERM = 6 } x;\n"
                      "enum state { IDLE, BUSY, FULL } now;\n" MAIN "x + now; }\n");
    check_filter("", "signal=TERM", "signals: all but 6\n");
    check_filter("signals=REQ", "signal=TERM", "signals: all but TERM\n");
    check_filter("signals=REQ", "signal=[SD]*", "signals: all but START DONE\n");
    struct extract_control *control = open_tables(&memory, "");
    assert_int_equal(extract_control_change(control, unknown, 2, &error), EXTRACT_NOTFOUND);
    extract_control_free(control);
    extract_memory_close(memory);
    extract_symbols_close(symbols);
    compile_both(FRAMEWORK "enum answer { NO, YES } x;\n" MAIN "x; }\n",
                 "enum reply { YES, NO } y;\nint f(void) { return y == NO; }\n");
    control = open_tables(&memory, "");
    assert_int_equal(extract_control_change(control, twice, 2, &error), EXTRACT_NOTFOUND);
    extract_control_free(control);
    extract_memory_close(memory);
}

static enum extract_code report_once(void)
{
    struct extract_text text;
    extract_text_init(&text, NULL, NULL);
    struct extract_symbols *all = NULL;
    enum extract_code code = extract_symbols_open(&all, scratch_path("fw.elf"), NULL);
    symbols = all;
    if (!code)
        code = run("info", "", NULL, &text);
    symbols = NULL;
    extract_symbols_close(all);
    extract_text_free(&text);
    return code;
}

static void test_memory(void **state)
{
    (void)state;
    compile(FRAMEWORK "enum signals { REQ, START } x;\n" MAIN "x; }\n");
    extract_symbols_close(symbols);
    symbols = NULL;
    PUT("00", "01");
    scratch_write("stream.bin", s.bytes, s.used);
    each_allocation_fails(report_once);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(test_records, stop),
        cmocka_unit_test_teardown(test_records_disagree, stop),
        cmocka_unit_test_teardown(test_several_agree, stop),
        cmocka_unit_test_teardown(test_type, stop),
        cmocka_unit_test_teardown(test_texts, stop),
        cmocka_unit_test_teardown(test_no_texts, stop),
        cmocka_unit_test_teardown(test_ambiguous, stop),
        cmocka_unit_test_teardown(test_several_layouts, stop),
        cmocka_unit_test_teardown(test_odd, stop),
        cmocka_unit_test_teardown(test_reader_filter, stop),
        cmocka_unit_test_teardown(test_target_filter, stop),
        cmocka_unit_test_teardown(test_memory, stop),
    };
    return cmocka_run_group_tests(tests, make, scratch_remove);
}
