// SPDX-License-Identifier: MIT
// Requests to the recorder of a POSIX trace, and of hook words: which words are written, in which
// order; filters by name. Truth: docs/formats/posix-ring.md, "Requests".
#include "tests/unit/posix_format/ptr_builder.h"
#include "tests/unit/hook/hook_builder.h"
#include <extract/filter.h>

static const struct ptr_kind narrow = {false, false, 4, 32};
static const uint64_t stream = PTR_ADDRESS + PTR_STREAMS_AT;
static struct ptr ptr;
static struct look seen;
static struct extract_error error;

static void open_ring(void)
{
    look_open_memory(&seen, ptr_memory(&ptr), PTR_ADDRESS, NULL);
}

static void build(void)
{
    ptr_build(&ptr, &narrow, 64, 0);
    ptr_stream_set(&ptr, 0, 84, 5); // request_done
    ptr_stream_set(&ptr, 0, 92, 5); // request
    ptr_stream_set(&ptr, 0, 108, 2);
    ptr_stream_set(&ptr, 0, 112, 2);
}

static struct extract_request *ask(const char *verb, const char *const *words, size_t count)
{
    struct extract_request *request;
    open_ring();
    enum extract_code code =
        extract_request_new(&request, seen.trace, seen.memory, verb, words, count, &error);
    assert_int_equal(code, EXTRACT_OK);
    return request;
}

static enum extract_code refused(const char *verb, const char *const *words, size_t count)
{
    struct extract_request *request;
    open_ring();
    enum extract_code code =
        extract_request_new(&request, seen.trace, seen.memory, verb, words, count, &error);
    assert_null(request);
    assert_true(error.why[0] && error.hint[0]);
    look_close(&seen);
    return code;
}

static void check_words(const struct extract_request *request, const struct extract_word *expected,
                        size_t count)
{
    struct extract_word word;
    for (size_t i = 0; i < count; i++) {
        assert_true(extract_request_word(request, i, &word));
        assert_int_equal(word.address, expected[i].address);
        assert_int_equal(word.value, expected[i].value);
    }
    assert_false(extract_request_word(request, count, &word));
}

static void done(struct extract_request *request)
{
    extract_request_free(request);
    look_close(&seen);
}

// ---- start, stop, clear ----

static void check_verb(const char *verb, uint32_t wanted, uint32_t clears)
{
    const struct extract_word expected[] = {{stream + 96, wanted}, {stream + 100, 1},
                                            {stream + 104, 64},    {stream + 108, clears},
                                            {stream + 92, 6},      {PTR_ADDRESS + 20, UINT32_MAX}};
    struct extract_request *request = ask(verb, NULL, 0);
    check_words(request, expected, 6);
    done(request);
}

static void test_verbs(void **state)
{
    (void)state;
    build();
    check_verb("start", 3, 2);
    check_verb("stop", 1, 2);
    check_verb("clear", 3, 3);
    ptr_stream_set(&ptr, 0, 36, 1); // bound, and stopped
    check_verb("start", 3, 2);
    check_verb("clear", 1, 3);
    ptr_stream_set(&ptr, 0, 36, 5); // it stopped by itself: still wanted to run
    ptr_stream_set(&ptr, 0, 96, 3);
    check_verb("clear", 3, 3);
    ptr_stream_set(&ptr, 0, 96, 1); // or not, since it was stopped then
    check_verb("clear", 1, 3);
}

// IEEE Std 1003.1-2008, posix_trace_clear: a stream that was suspended stays suspended. An
// UNTIL_FULL stream that stopped itself is suspended until it was read to its end, or is cleared.
static void test_clear_of_a_full_stream(void **state)
{
    struct extract_request *request;
    struct extract_word word;
    (void)state;
    build();
    ptr_stream_set(&ptr, 0, 36, 5);
    ptr_stream_set(&ptr, 0, 40, 2); // until full
    ptr_stream_set(&ptr, 0, 96, 3);
    for (unsigned pass = 0; pass < 3; pass++) {
        const uint32_t head = ptr_stream_get(&ptr, 0, 48);
        ptr_stream_set(&ptr, 0, 88, pass == 1 ? head : head - 64); // read to its end, or not
        ptr_stream_set(&ptr, 0, 92, pass == 2 ? 6 : 5);            // a clear is asked for already
        ptr_stream_set(&ptr, 0, 108, pass == 2 ? 3 : 2);
        request = ask("clear", NULL, 0);
        assert_true(extract_request_word(request, 0, &word));
        assert_int_equal(word.address, stream + 96);
        assert_int_equal(word.value, pass == 0 ? 1 : 3);
        done(request);
    }
}

// What was asked for before and was not carried out is not taken back.
static void test_pending(void **state)
{
    const struct extract_word expected[] = {{stream + 96, 1},  {stream + 100, 2},
                                            {stream + 104, 8}, {stream + 108, 9},
                                            {stream + 92, 8},  {PTR_ADDRESS + 20, UINT32_MAX}};
    (void)state;
    build();
    ptr_stream_set(&ptr, 0, 92, 7);
    ptr_stream_set(&ptr, 0, 96, 3);
    ptr_stream_set(&ptr, 0, 100, 2);
    ptr_stream_set(&ptr, 0, 104, 8);
    ptr_stream_set(&ptr, 0, 108, 9);
    struct extract_request *request = ask("stop", NULL, 0);
    check_words(request, expected, 6);
    done(request);
}

static void test_unbound(void **state)
{
    const struct extract_word expected[] = {{stream + 96, 3},   {stream + 100, 1},
                                            {stream + 104, 64}, {stream + 108, 2},
                                            {stream + 92, 6},   {PTR_ADDRESS + 20, UINT32_MAX}};
    (void)state;
    build();
    ptr_stream_set(&ptr, 0, 36, 0);
    struct extract_request *request = ask("start", NULL, 0);
    check_words(request, expected, 6);
    done(request);
    assert_int_equal(refused("stop", NULL, 0), EXTRACT_ABSENT);
    // Where controllers share the memory, one of them binds.
    ptr_stream_set(&ptr, 0, 24, 4 | 32 << 8 | 1 << 18);
    assert_int_equal(refused("start", NULL, 0), EXTRACT_ABSENT);
}

// ---- filters ----

static void check_filter(const char *const *words, size_t count, uint32_t low, uint32_t high)
{
    const struct extract_word expected[] = {{stream + 96, 3},
                                            {stream + 100, 1},
                                            {stream + 104, 64},
                                            {stream + 108, 2},
                                            {stream + PTR_WANTED_FILTER, low},
                                            {stream + PTR_WANTED_FILTER + 4, high},
                                            {stream + 92, 6},
                                            {PTR_ADDRESS + 20, UINT32_MAX}};
    struct extract_request *request = ask("filter", words, count);
    check_words(request, expected, 8);
    done(request);
}

static void test_filters(void **state)
{
    static const char *const set[] = {"set", "alpha", "posix_trace_start"};
    static const char *const add[] = {"add", "bet?"};
    static const char *const sub[] = {"sub", "alpha", "3"};
    static const char *const all[] = {"set", "all"};
    static const char *const system[] = {"set", "system"}; // 1 to 8
    static const char *const user[] = {"set", "user"};
    static const char *const none[] = {"set", "none"};
    (void)state;
    for (unsigned big = 0; big < 2; big++) {
        struct ptr_kind kind = narrow;
        kind.big = big;
        build();
        ptr_build(&ptr, &kind, 64, 0);
        ptr_stream_set(&ptr, 0, 84, 5);
        ptr_stream_set(&ptr, 0, 92, 5);
        ptr_stream_set(&ptr, 0, 108, 2);
        ptr_stream_set(&ptr, 0, 112, 2);
        ptr_stream_set(&ptr, 0, PTR_FILTER, 1u << 3);
        ptr_stream_set(&ptr, 0, PTR_FILTER + 4, 1u << 1);
        check_filter(set, 3, 1u << 2, 1u << 1);
        check_filter(add, 2, 1u << 3, 1u << 1 | 1u << 2);
        check_filter(sub, 3, 0, 0);
        check_filter(all, 2, UINT32_MAX, UINT32_MAX);
        check_filter(system, 2, 0x1FE, 0);
        check_filter(user, 2, 0, UINT32_MAX);
        check_filter(none, 2, 0, 0);
    }
}

static void test_filter_words(void **state)
{
    static const char *const unknown[] = {"add", "gamma"};
    static const char *const alone[] = {"add"};
    static const char *const other[] = {"on", "alpha"};
    static const char *const beyond[] = {"add", "64"};
    (void)state;
    build();
    assert_int_equal(refused("filter", unknown, 2), EXTRACT_NOTFOUND);
    assert_int_equal(refused("filter", beyond, 2), EXTRACT_NOTFOUND);
    assert_int_equal(refused("filter", alone, 1), EXTRACT_USAGE);
    assert_int_equal(refused("filter", other, 2), EXTRACT_USAGE);
    assert_int_equal(refused("start", other, 2), EXTRACT_USAGE);
    assert_int_equal(refused("stopp", NULL, 0), EXTRACT_USAGE);
}

static void test_show(void **state)
{
    static const char *const show[] = {"show"};
    struct extract_word word;
    struct extract_text text;
    (void)state;
    build();
    ptr_stream_set(&ptr, 0, PTR_FILTER, 1u << 2 | 1u << 20);
    ptr_stream_set(&ptr, 0, PTR_FILTER + 4, 1u << 2 | 1u << 7);
    struct extract_request *request = ask("filter", show, 1);
    assert_false(extract_request_word(request, 0, &word));
    extract_text_init(&text, NULL, NULL);
    extract_request_show(request, false, &text);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data,
                        "not recorded: posix_trace_start beta, 2 types without a name\n");
    extract_text_free(&text);
    done(request);
}

// ---- other formats ----

static void test_hook(void **state)
{
    static struct hooks hooks;
    struct extract_request *request;
    (void)state;
    hooks_build(&hooks, true, 64, 0);
    hooks_word(&hooks, HOOKS_FLAGS, 3);
    hooks_look(&seen, &hooks);
    const struct extract_word stop = {hooks.address + 16, 2}, start = {hooks.address + 16, 3};
    assert_int_equal(
        extract_request_new(&request, seen.trace, seen.memory, "stop", NULL, 0, &error), 0);
    check_words(request, &stop, 1);
    extract_request_free(request);
    assert_int_equal(
        extract_request_new(&request, seen.trace, seen.memory, "start", NULL, 0, &error), 0);
    check_words(request, &start, 1);
    extract_request_free(request);
    assert_int_equal(
        extract_request_new(&request, seen.trace, seen.memory, "clear", NULL, 0, &error),
        EXTRACT_UNSUPPORTED);
    look_close(&seen);
}

// ---- writing, and what the target says ----

struct target {
    bool obeys;
    unsigned writes;
};

static size_t target_read(void *context, uint64_t address, void *buffer, size_t length)
{
    (void)context;
    if (address < PTR_ADDRESS || address + length > PTR_ADDRESS + PTR_BYTES)
        return 0;
    memcpy(buffer, ptr.bytes + (address - PTR_ADDRESS), length);
    return length;
}

// As a recorder that passes a trace point when the last word has come.
static size_t target_write(void *context, uint64_t address, const void *bytes, size_t length)
{
    struct target *target = context;
    memcpy(ptr.bytes + (address - PTR_ADDRESS), bytes, length);
    target->writes++;
    if (target->obeys && address == PTR_ADDRESS + 20)
        ptr_stream_set(&ptr, 0, 84, ptr_stream_get(&ptr, 0, 92));
    return length;
}

static void check_target(bool obeys)
{
    struct target target = {.obeys = obeys};
    const struct extract_memory_source source = {.read = target_read,
                                                 .write = target_write,
                                                 .context = &target,
                                                 .running = true,
                                                 .name = "target"};
    struct extract_memory *memory;
    struct extract_request *request;
    bool is_done;
    build();
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_OK);
    look_open_memory(&seen, memory, PTR_ADDRESS, NULL);
    assert_int_equal(extract_request_new(&request, seen.trace, memory, "stop", NULL, 0, &error), 0);
    assert_int_equal(extract_request_is_done(request, memory, &is_done, &error), EXTRACT_OK);
    assert_false(is_done);
    assert_int_equal(extract_request_send(request, memory, &error), EXTRACT_OK);
    assert_int_equal(target.writes, 6);
    assert_int_equal(extract_request_is_done(request, memory, &is_done, &error), EXTRACT_OK);
    assert_int_equal(is_done, obeys);
    done(request);
}

static void test_target(void **state)
{
    (void)state;
    check_target(true);
    check_target(false);
}

static void test_file(void **state)
{
    struct extract_request *request;
    (void)state;
    build();
    request = ask("stop", NULL, 0);
    assert_int_equal(extract_request_send(request, seen.memory, &error), EXTRACT_UNSUPPORTED);
    done(request);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_verbs),        cmocka_unit_test(test_clear_of_a_full_stream),
        cmocka_unit_test(test_pending),      cmocka_unit_test(test_unbound),
        cmocka_unit_test(test_filters),      cmocka_unit_test(test_show),
        cmocka_unit_test(test_filter_words), cmocka_unit_test(test_hook),
        cmocka_unit_test(test_target),       cmocka_unit_test(test_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
