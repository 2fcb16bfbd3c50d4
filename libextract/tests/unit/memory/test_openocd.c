// SPDX-License-Identifier: MIT
// unit: the client of OpenOCD's Tcl port. Its server knows OpenOCD's commands, and every way to
// answer them wrong.
//
// Truth: the server's own array of bytes.
#include "tests/unit/memory/shared_runs.h"
#include "memory/memory_hooks.h"
#include "memory/live/live_memory.h"
#include <errno.h>

// Reads a command, and removes its terminator.
static bool take_command(int fd, char *command, size_t size)
{
    for (size_t used = 0; used < size; used++) {
        if (read(fd, command + used, 1) != 1)
            return false;
        if (command[used] == 0x1a) {
            command[used] = 0;
            return true;
        }
    }
    return false;
}

static void put_words(struct fake *fake, char *to, uint64_t address, unsigned width, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint64_t value = 0;
        for (unsigned b = 0; b < width / 8; b++) {
            uint64_t byte = fake->bytes[address - FAKE_START + i * (width / 8) + b];
            value |= byte << 8 * (fake->big ? width / 8 - 1 - b : b);
        }
        to +=
            sprintf(to, fake->old ? "%s%llu" : "%s0x%llx", i ? " " : "", (unsigned long long)value);
    }
}

static int read_words(struct fake *fake, char *result, const char *arguments)
{
    unsigned long long address, first, second;
    unsigned width, count;
    if (!strcmp(arguments, "read_memory 0 8 0"))
        return fake->old; // version 0.11 lacks this command
    if (sscanf(arguments, "read_memory %llx %u %u", &address, &width, &count) != 3) {
        if (sscanf(arguments, "mem2array a %llu 0x%llx %llu", &first, &address, &second) != 3)
            return 1;
        width = (unsigned)first;
        count = (unsigned)second;
    }
    fake->reads++;
    fake->longest = (int)count > fake->longest ? (int)count : fake->longest;
    if ((width == 32 && address % 4) || count > 65536 ||
        !fake_holds(address, (uint64_t)count * width / 8)) {
        strcpy(result, "read_memory: failed\x1b[31m to read memory");
        return -4;
    }
    put_words(fake, result, address, width, count);
    return 0;
}

static int write_words(struct fake *fake, unsigned long long address, unsigned width, char *list)
{
    unsigned bytes = width / 8;
    fake->writes++;
    for (char *word = strtok(list, " }"); word; word = strtok(NULL, " }"), address += bytes) {
        uint64_t value = strtoull(word, NULL, 0);
        if (!fake_holds(address, bytes))
            return 1;
        for (unsigned b = 0; b < bytes; b++)
            fake->bytes[address - FAKE_START + b] =
                (uint8_t)(value >> 8 * (fake->big ? bytes - 1 - b : b));
    }
    return 0;
}

// Runs the script between "catch {" and "} r]".
static int run_script(struct fake *fake, char *result, char *script)
{
    unsigned long long address;
    unsigned width;
    char *words;
    if (!strcmp(script, "target current"))
        return !strcpy(result, strcmp(fake->trick, "no target") ? "chip.mem" : "");
    if (!strcmp(script, "target names"))
        return !strcpy(result, strcmp(fake->trick, "no target") ? "chip.cpu chip.mem" : "");
    if (!strncmp(script, "concat ", 7))
        return sprintf(result, "%s %s", fake->big ? "big" : "little",
                       fake->mem_ap ? "mem_ap" : fake->type) < 0;
    if ((words = strstr(script, "array2mem a "))) {
        sscanf(words, "array2mem a %u 0x%llx", &width, &address);
        *strchr(script, '}') = 0;
        return write_words(fake, address, width, strchr(script, '{') + 1);
    }
    if ((words = strstr(script, "write_memory ")) && !fake->old) {
        sscanf(words, "write_memory 0x%llx %u", &address, &width);
        return write_words(fake, address, width, strchr(words, '{') + 1);
    }
    words = strstr(script, "read_memory ");
    if (words && fake->old)
        return 1;
    return read_words(fake, result, words ? words : strstr(script, "mem2array "));
}

// Answers a read wrong. Returns false if the answer must be right.
static bool play(struct fake *fake, int fd, unsigned number, char *result)
{
    char head[64];
    sprintf(head, "ringside %u 0 running ", number);
    if (fake_plays(fake, "close"))
        fake_puts(fd, head), shutdown(fd, SHUT_RDWR);
    else if (fake_plays(fake, "garbage"))
        fake_puts(fd, "\xff\xfb\x03 Open On-Chip Debugger\r\n> ");
    else if (fake_plays(fake, "endless"))
        fake_puts(fd, head), fake_flood(fd, "0x11 0x11 0x11 0x11 0x11 0x11 ");
    else if (fake_plays(fake, "number"))
        fake_puts(fd, "ringside 4000000000 0 running "), fake_puts(fd, result),
            fake_puts(fd, "\x1a");
    else if (fake_plays(fake, "more"))
        fake_puts(fd, head), fake_puts(fd, result), fake_puts(fd, " 0x1\x1a");
    else if (fake_plays(fake, "fewer"))
        *strrchr(result, ' ') = 0, fake_puts(fd, head), fake_puts(fd, result),
                         fake_puts(fd, "\x1a");
    else if (fake_plays(fake, "wide"))
        fake_puts(fd, head), fake_puts(fd, "0x100000000 "), fake_puts(fd, strchr(result, ' ') + 1),
            fake_puts(fd, "\x1a");
    else if (fake_plays(fake, "huge"))
        fake_puts(fd, head), fake_puts(fd, "99999999999999999999999999 "),
            fake_puts(fd, strchr(result, ' ') + 1), fake_puts(fd, "\x1a");
    else if (fake_plays(fake, "end inside"))
        fake_puts(fd, head), fake_puts(fd, "0x1\x1a"), fake_puts(fd, result), fake_puts(fd, "\x1a");
    else if (fake_plays(fake, "empty"))
        fake_puts(fd, "\x1a");
    else if (fake_plays(fake, "silence"))
        pause();
    else if (fake_plays(fake, "drip"))
        for (fake_puts(fd, head); write(fd, "0", 1) == 1;)
            usleep(20000);
    else
        return false;
    return true;
}

static void serve(struct fake *fake, int fd)
{
    static char command[8192], result[512 * 1024], head[64];
    while (take_command(fd, command, sizeof command)) {
        char *script = strstr(command, "set c [catch {"), *end = strstr(command, "} r]; return");
        unsigned number = 0;
        snprintf(fake->seen, sizeof fake->seen, "%.255s", command);
        if (!script || !end || sscanf(end, "} r]; return \"ringside %u $c $s $r\"", &number) != 1) {
            fake_puts(fd, "invalid command name\x1a");
            continue;
        }
        *end = 0;
        script += strlen("set c [catch {");
        bool is_read = strstr(script, "read_memory 0x") || strstr(script, "mem2array");
        result[0] = 0;
        int code = run_script(fake, result, script);
        if (is_read && !code && play(fake, fd, number, result))
            continue;
        sprintf(head, "ringside %u %d %s ", number, code, fake->halted ? "halted" : "running");
        fake_puts(fd, head);
        fake_puts(fd, result);
        fake_puts(fd, "\x1a");
    }
}

static struct extract_memory *open_fake(struct fake *fake, unsigned timeout_ms)
{
    return fake_open(fake, timeout_ms, extract_memory_open_openocd);
}

static void words_become_bytes(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct fake *fake = fake_new(serve);
        fake->big = kind & 1;
        fake->old = kind & 2;
        struct extract_memory *memory = open_fake(fake, 0);
        assert_int_equal(extract_memory_byte_order(memory),
                         fake->big ? EXTRACT_BIG : EXTRACT_LITTLE);
        for (unsigned offset = 0; offset < 4; offset++)
            for (size_t length = 1; length < 14; length++)
                assert_fake_bytes(fake, memory, FAKE_START + 100 + offset, length);
        assert_fake_bytes(fake, memory, FAKE_START, 4096);
        fake_close(fake, memory);
    }
}

// A script that does not fit is refused, and the connection stays as it is.
static void a_script_has_a_limit(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    static char script[20001];
    struct extract_text answer;
    (void)state;

    memset(script, 'a', sizeof script - 1);
    extract_text_init(&answer, NULL, NULL);
    assert_int_equal(live_ask(live_of(memory), script, &answer), LIVE_REFUSED);
    assert_string_equal(live_of(memory)->refusal, "a script of 20000 bytes is too long");
    extract_text_free(&answer);
    assert_fake_bytes(fake, memory, FAKE_START, 16);
    assert_int_equal(fake->connections, 1);
    fake_close(fake, memory);
}

static void one_command_for_64_kib(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    (void)state;
    assert_fake_bytes(fake, memory, FAKE_START, 65536);
    assert_int_equal(fake->reads, 1);
    assert_int_equal(fake->longest, 16384);
    assert_fake_bytes(fake, memory, FAKE_START, 65536 * 3);
    assert_int_equal(fake->reads, 4);
    assert_int_equal(fake->connections, 1);
    assert_true(extract_memory_is_running(memory));
    assert_int_equal(extract_live_halts(memory).count, 0);
    fake_close(fake, memory);
}

static void holes_are_exact_and_cheap(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    struct extract_error error = {0};
    uint8_t *buffer = malloc(70000);
    size_t got = 0;
    (void)state;
    uint64_t from = FAKE_START + FAKE_SIZE - 33333;
    assert_int_equal(extract_memory_read(memory, from, buffer, 70000, &got, &error),
                     EXTRACT_UNREADABLE);
    assert_int_equal(got, 33333);
    assert_memory_equal(buffer, fake->bytes + FAKE_SIZE - 33333, 33333);
    assert_int_equal(error.where, FAKE_START + FAKE_SIZE);
    assert_non_null(strstr(error.why, "0x31d41")); // 0x1000 + 200001
    assert_true(fake->reads < 40);
    fake->reads = 0;
    free(buffer);
    assert_fails(memory, 0x90000000, 4096, "failed\\x1b[31m to read");
    assert_true(fake->reads < 6);
    assert_int_equal(fake->connections, 1);
    fake_close(fake, memory);
}

static void state_is_asked_with_each_read(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    fake->halted = true;
    struct extract_memory *memory = open_fake(fake, 0);
    assert_false(extract_memory_is_running(memory));
    fake->halted = false;
    assert_fake_bytes(fake, memory, FAKE_START, 4);
    assert_true(extract_memory_is_running(memory));
    assert_int_equal(extract_live_halt(memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_live_resume(memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_live_halts(memory).count, 0);
    fake_close(fake, memory);
}

// The way out of a refused read is that of the type, the version and the state of the target. The
// commands are OpenOCD's: riscv set_mem_access replaces riscv set_prefer_sba in 0.12.
static void a_hint_fits_the_core_and_its_state(void **state)
{
    static const char address[] = "check the address, and that the target runs this firmware";
    static const struct {
        const char *type;
        bool old, halted;
        const char *hint;
    } rows[] = {
        {"riscv", false, false, "riscv set_mem_access sysbus"},
        {"riscv", true, false, "riscv set_prefer_sba on"},
        {"riscv", false, true, address},
        {"aarch64", false, false, "halt it, or read a target of type mem_ap"},
        {"cortex_a", true, false, "halt it, or read a target of type mem_ap"},
        {"cortex_m", false, false, address},
        {"mem_ap", false, false, address},
    };
    (void)state;

    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct fake *fake = fake_new(serve);
        struct extract_error error = {0};
        uint8_t bytes[4];
        size_t got;
        fake->type = rows[i].type;
        fake->old = rows[i].old;
        fake->halted = rows[i].halted;
        struct extract_memory *memory = open_fake(fake, 0);
        assert_int_equal(extract_memory_read(memory, 0x90000000, bytes, 4, &got, &error),
                         EXTRACT_UNREADABLE);
        assert_non_null(strstr(error.hint, rows[i].hint));
        fake_close(fake, memory);
    }
}

static void a_mem_ap_is_never_halted(void **state)
{
    struct fake *fake = fake_new(serve);
    (void)state;
    fake->halted = fake->mem_ap = true;
    struct extract_memory *memory = open_fake(fake, 0);
    assert_true(extract_memory_is_running(memory));
    fake_close(fake, memory);
}

// Opens a memory with a target's name. *error describes what went wrong.
static enum extract_code open_target(const char *name, struct extract_error *error)
{
    struct extract_live_options options = {.size = sizeof options, .target = name};
    struct extract_memory *memory;
    enum extract_code code = extract_memory_open_openocd(&memory, fake_place, &options, error);
    extract_memory_close(memory);
    return code;
}

static void targets_are_chosen_by_name(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_error error = {0};
    (void)state;
    fake_start(fake);
    assert_int_equal(open_target("chip.cpu", &error), EXTRACT_OK);
    assert_non_null(strstr(fake->seen, "chip.cpu read_memory 0 8 0"));
    assert_int_equal(open_target(NULL, &error), EXTRACT_OK);
    assert_non_null(strstr(fake->seen, "chip.mem read_memory 0 8 0"));
    assert_int_equal(open_target("chip", &error), EXTRACT_NOTFOUND);
    assert_string_equal(error.why, "OpenOCD has no target \"chip\"");
    assert_string_equal(error.hint, "use one of its targets: chip.cpu chip.mem");
    fake->seen[0] = 0;
    static const char *const bad[] = {"",   "a b",           "x; shutdown", "[shutdown]", "{x}",
                                      "$x", "x\x1ashutdown", "a\"b",        "-x"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(open_target(bad[i], &error), EXTRACT_USAGE);
    assert_string_equal(fake->seen, "");
    fake->trick = "no target";
    assert_int_equal(open_target(NULL, &error), EXTRACT_NOTFOUND);
    assert_string_equal(error.why, "OpenOCD has no target");
    fake_stop(fake);
}

static void writes_reach_the_target(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 4; kind++) {
        struct fake *fake = fake_new(serve);
        uint8_t bytes[3000];
        fake->big = kind & 1;
        fake->old = kind & 2;
        struct extract_memory *memory = open_fake(fake, 0);
        memset(bytes, 0x5a + (int)kind, sizeof bytes);
        memcpy(bytes, "\x01\x02\x03\xff\xfe\x00", 6);
        assert_int_equal(extract_memory_write(memory, FAKE_START + 8, bytes, 4, NULL), EXTRACT_OK);
        assert_int_equal(fake->writes, 1);
        assert_memory_equal(fake->bytes + 8, bytes, 4);
        assert_int_equal(extract_memory_write(memory, FAKE_START + 101, bytes, sizeof bytes, NULL),
                         EXTRACT_OK);
        assert_memory_equal(fake->bytes + 101, bytes, sizeof bytes);
        assert_int_equal(fake->bytes[100], (uint8_t)(100 * 7));
        assert_int_equal(fake->bytes[3101], (uint8_t)(3101 * 7 + 3101 / 251));
        fake_close(fake, memory);
    }
}

static void a_write_says_how_far(void **state)
{
    struct fake *fake = fake_new(serve);
    struct extract_memory *memory = open_fake(fake, 0);
    struct extract_error error = {0};
    uint8_t bytes[64] = {0};
    (void)state;
    assert_int_equal(
        extract_memory_write(memory, FAKE_START + FAKE_SIZE - 10, bytes, sizeof bytes, &error),
        EXTRACT_UNREADABLE);
    assert_int_equal(error.where, FAKE_START + FAKE_SIZE);
    assert_int_equal(error.code, EXTRACT_UNREADABLE);
    fake_close(fake, memory);
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_write(memory, 0, bytes, 4, &error), EXTRACT_UNSUPPORTED);
    extract_memory_close(memory);
}

static const struct fake_trick tricks[] = {
    {"close", "closed the connection", false}, {"garbage", "does not answer as OpenOCD", false},
    {"endless", "does not end", false},        {"number", "does not answer as OpenOCD", false},
    {"more", "not the 1024 words", false},     {"fewer", "not the 1024 words", false},
    {"wide", "not the 1024 words", false},     {"huge", "not the 1024 words", false},
    {"end inside", "not the 1024", false},     {"empty", "does not answer as OpenOCD", false},
    {"silence", "no answer within", true},     {"drip", "no answer within", true},
};

static const struct fake_client client = {.serve = serve,
                                          .open = extract_memory_open_openocd,
                                          .tricks = tricks,
                                          .trick_count = sizeof tricks / sizeof *tricks,
                                          .read_bytes = 4096};

static void a_connection_that_fails_says_where(void **state)
{
    struct extract_memory *memory;
    struct extract_error error = {0};
    const char *place = scratch_path("nobody");
    char far[300];
    (void)state;
    assert_int_equal(extract_memory_open_openocd(&memory, place, NULL, &error), EXTRACT_IO);
    assert_null(memory);
    assert_string_equal(error.what, place);
    assert_string_equal(error.why, strerror(ENOENT));
    assert_non_null(strstr(error.hint, "tcl_port"));
    memset(far, '/', sizeof far);
    far[299] = 0;
    static const char *const bad[] = {"",    "host", "host:", "0",       "65536", "a:b:1",
                                      "1 2", ":",    "-1",    "host:1x", "[::1]"};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(extract_memory_open_openocd(&memory, bad[i], NULL, &error), EXTRACT_USAGE);
    assert_int_equal(extract_memory_open_openocd(&memory, far, NULL, &error), EXTRACT_USAGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_become_bytes),
        cmocka_unit_test(one_command_for_64_kib),
        cmocka_unit_test(a_script_has_a_limit),
        cmocka_unit_test(holes_are_exact_and_cheap),
        cmocka_unit_test(state_is_asked_with_each_read),
        cmocka_unit_test(a_hint_fits_the_core_and_its_state),
        cmocka_unit_test(a_mem_ap_is_never_halted),
        cmocka_unit_test(targets_are_chosen_by_name),
        cmocka_unit_test(writes_reach_the_target),
        cmocka_unit_test(a_write_says_how_far),
        cmocka_unit_test(a_connection_that_fails_says_where),
        SHARED_RUNS(&client),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
