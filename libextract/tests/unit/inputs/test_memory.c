// SPDX-License-Identifier: MIT
// unit: the memory interface, images, .trx files, kinds of files, and complete files.
//
// Truth: written by hand, or the output of the host's own tools.
#include "tests/unit/scratch.h"
#include "base/file.h"
#include "memory/memory_hooks.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

// A target of 256 bytes at 0x1000. Each byte is the low byte of its address.
struct target {
    unsigned reads, closes;
    uint64_t address; // address of the last read
    size_t asked;
    size_t lie; // bytes that each answer claims in addition
};

static size_t target_read(void *context, uint64_t address, void *buffer, size_t length)
{
    struct target *t = context;
    size_t n = 0;
    t->reads++;
    t->address = address;
    t->asked = length;
    for (; n < length && address + n >= 0x1000 && address + n < 0x1100; n++)
        ((uint8_t *)buffer)[n] = (uint8_t)(address + n);
    return n + t->lie;
}

static void target_close(void *context)
{
    ((struct target *)context)->closes++;
}

static struct extract_memory *open_target(struct target *target)
{
    struct extract_memory *memory = NULL;
    struct extract_memory_source source = {.read = target_read,
                                           .close = target_close,
                                           .context = target,
                                           .byte_order = EXTRACT_BIG,
                                           .running = true,
                                           .name = "board"};
    assert_int_equal(extract_memory_new(&memory, &source, NULL), EXTRACT_OK);
    return memory;
}

static struct extract_memory *new_images(void)
{
    struct extract_memory *memory = NULL;
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    return memory;
}

static void callbacks_give_bytes_and_facts(void **state)
{
    struct target target = {0};
    struct extract_memory *memory = open_target(&target);
    static const uint8_t want[] = {0x10, 0x11, 0x12, 0x13};
    struct extract_region region;
    (void)state;
    assert_bytes(memory, 0x1010, want, sizeof want);
    assert_int_equal(extract_memory_byte_order(memory), EXTRACT_BIG);
    assert_true(extract_memory_is_running(memory));
    assert_string_equal(extract_memory_name(memory), "board");
    assert_false(extract_memory_region(memory, 0, &region));
    assert_false(extract_memory_start(memory, &region.address));
    assert_int_equal(extract_memory_missing(memory), 0);
    assert_int_equal(target.closes, 0);
    extract_memory_close(memory);
    assert_int_equal(target.closes, 1);
    extract_memory_close(NULL);
}

static void short_read_says_how_far(void **state)
{
    struct target target = {0};
    struct extract_memory *memory = open_target(&target);
    struct extract_error error = {0};
    uint8_t buffer[32];
    size_t got = 99;
    (void)state;
    memset(buffer, 0xee, sizeof buffer);
    assert_int_equal(extract_memory_read(memory, 0x10f8, buffer, 20, &got, &error),
                     EXTRACT_UNREADABLE);
    assert_int_equal(got, 8);
    assert_int_equal(error.where, 0x1100);
    assert_int_equal(error.code, EXTRACT_UNREADABLE);
    assert_string_equal(error.what, "board");
    assert_non_null(strstr(error.why, "0x1100"));
    assert_int_equal(buffer[7], 0xff);
    assert_int_equal(buffer[20], 0xee);
    assert_int_equal(target.reads, 1);
    assert_int_equal(target.asked, 20);
    assert_int_equal(extract_memory_read(memory, 0, buffer, 4, &got, NULL), EXTRACT_UNREADABLE);
    assert_int_equal(got, 0);
    extract_memory_close(memory);
}

static void empty_read_costs_nothing(void **state)
{
    struct target target = {0};
    struct extract_memory *memory = open_target(&target);
    size_t got = 99;
    (void)state;
    assert_int_equal(extract_memory_read(memory, 0x9999, NULL, 0, &got, NULL), EXTRACT_OK);
    assert_int_equal(got, 0);
    assert_int_equal(extract_memory_cost(memory).reads, 0);
    extract_memory_close(memory);
}

static void read_stops_at_the_end_of_addresses(void **state)
{
    struct target target = {0};
    struct extract_memory *memory = open_target(&target);
    struct extract_error error = {0};
    uint8_t buffer[32];
    size_t got = 99;
    (void)state;
    assert_int_equal(extract_memory_read(memory, UINT64_MAX - 3, buffer, 32, &got, &error),
                     EXTRACT_UNREADABLE);
    assert_int_equal(target.asked, 4);
    target.lie = 4; // claims that these four bytes exist
    assert_int_equal(extract_memory_read(memory, UINT64_MAX - 3, buffer, 32, &got, &error),
                     EXTRACT_UNREADABLE);
    assert_int_equal(got, 4);
    assert_int_equal(error.where, 0);
    assert_non_null(strstr(error.why, "end of the address space"));
    extract_memory_close(memory);
}

static void source_that_counts_wrong_is_cut(void **state)
{
    struct target target = {.lie = 1000};
    struct extract_memory *memory = open_target(&target);
    uint8_t buffer[4];
    size_t got = 0;
    (void)state;
    assert_int_equal(extract_memory_read(memory, 0x1000, buffer, 4, &got, NULL), EXTRACT_OK);
    assert_int_equal(got, 4);
    assert_int_equal(extract_memory_cost(memory).bytes, 4);
    extract_memory_close(memory);
}

static void cost_is_exact(void **state)
{
    struct target target = {0};
    struct extract_memory *memory = open_target(&target);
    uint8_t buffer[300];
    size_t got;
    (void)state;
    extract_memory_read(memory, 0x1000, buffer, 16, &got, NULL);
    extract_memory_read(memory, 0x10f0, buffer, 300, &got, NULL);
    extract_memory_read(memory, 0x2000, buffer, 1, &got, NULL);
    struct extract_memory_cost cost = extract_memory_cost(memory);
    assert_int_equal(cost.reads, 3);
    assert_int_equal(cost.bytes, 16 + 16);
    assert_int_equal(cost.failed, 2);
    assert_true(cost.nanoseconds > 0);
    extract_memory_close(memory);
}

static void failed_open_does_not_close_the_context(void **state)
{
    struct target target = {0};
    struct extract_memory_source source = {
        .read = target_read, .close = target_close, .context = &target};
    struct extract_memory *memory = NULL;
    struct extract_error error = {0};
    (void)state;
    alloc_countdown = 0;
    assert_int_equal(extract_memory_new(&memory, &source, &error), EXTRACT_NOMEM);
    alloc_countdown = -1;
    assert_null(memory);
    assert_int_equal(target.closes, 0);
    assert_int_equal(error.code, EXTRACT_NOMEM);
}

static void images_are_one_sorted_space(void **state)
{
    struct extract_memory *memory = new_images();
    const char *path = scratch_puts("high.bin", "HIGH");
    size_t got = 0;
    char buffer[16] = "";
    (void)state;
    assert_regions(memory, 0);
    assert_string_equal(extract_memory_name(memory), "images");
    assert_int_equal(extract_memory_add_image(memory, path, 0x3000, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "b", "5678", 4, 0x1004, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "a", "1234", 4, 0x1000, NULL), EXTRACT_OK);
    assert_regions(memory, 3);
    assert_false(extract_memory_start(memory, &(uint64_t){0}));
    assert_region(memory, 0, 0x1000, 4);
    assert_region(memory, 1, 0x1004, 4);
    assert_region(memory, 2, 0x3000, 4);
    assert_string_equal(extract_memory_name(memory), path);
    assert_bytes(memory, 0x3000, "HIGH", 4);
    assert_bytes(memory, 0x1002, "3456", 4); // across the seam
    struct extract_memory_cost cost = extract_memory_cost(memory);
    assert_int_equal(cost.reads, 3);
    assert_int_equal(cost.failed, 0);
    assert_int_equal(extract_memory_read(memory, 0x1003, buffer, 9, &got, NULL),
                     EXTRACT_UNREADABLE);
    assert_int_equal(got, 5);
    assert_memory_equal(buffer, "45678", 5);
    cost = extract_memory_cost(memory);
    assert_int_equal(cost.reads, 6); // two images and the hole
    assert_int_equal(cost.failed, 1);
    assert_int_equal(cost.bytes, 8 + 5);
    assert_false(extract_memory_is_running(memory));
    extract_memory_close(memory);
}

static void assert_refused(struct extract_memory *memory, uint64_t address, size_t length,
                           const char *word)
{
    static const uint8_t zeros[64];
    struct extract_error error = {0};
    assert_int_equal(extract_memory_add_bytes(memory, "new.bin", zeros, length, address, &error),
                     EXTRACT_BAD);
    assert_string_equal(error.what, "new.bin");
    assert_non_null(strstr(error.why, word));
}

static void overlaps_are_refused_and_named(void **state)
{
    struct extract_memory *memory = new_images();
    (void)state;
    assert_int_equal(
        extract_memory_add_bytes(memory, "old.bin", "0123456789abcdef", 16, 0x1000, NULL),
        EXTRACT_OK);
    assert_refused(memory, 0x1000, 16, "old.bin");
    assert_refused(memory, 0xfff, 2, "0x1000-0x100f of old.bin");
    assert_refused(memory, 0x100f, 1, "0x100f-0x100f overlaps");
    assert_refused(memory, 0x1004, 2, "old.bin");
    assert_refused(memory, 0xff0, 64, "old.bin");
    assert_regions(memory, 1);
    assert_bytes(memory, 0x1000, "0123456789abcdef", 16);
    assert_int_equal(extract_memory_add_bytes(memory, "n", "x", 1, 0xfff, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "n", "y", 1, 0x1010, NULL), EXTRACT_OK);
    assert_bytes(memory, 0xfff, "x0123456789abcdefy", 18);
    extract_memory_close(memory);
}

static void images_end_where_addresses_end(void **state)
{
    struct extract_memory *memory = new_images();
    (void)state;
    assert_refused(memory, UINT64_MAX - 14, 16, "end of the address space");
    assert_refused(memory, 0x1000, 0, "empty");
    assert_int_equal(
        extract_memory_add_bytes(memory, "n", "0123456789abcdef", 16, UINT64_MAX - 15, NULL),
        EXTRACT_OK);
    assert_region(memory, 0, UINT64_MAX - 15, 16);
    assert_bytes(memory, UINT64_MAX, "f", 1);
    assert_refused(memory, UINT64_MAX, 1, "overlaps");
    extract_memory_close(memory);
}

static void images_need_a_memory_of_images(void **state)
{
    struct target target = {0};
    struct extract_memory *memory = open_target(&target);
    struct extract_error error = {0};
    (void)state;
    assert_int_equal(extract_memory_add_bytes(memory, "n", "x", 1, 0, &error), EXTRACT_USAGE);
    assert_int_equal(extract_memory_add_image(memory, "n", 0, NULL), EXTRACT_USAGE);
    assert_int_equal(extract_memory_add_hex(memory, "n", NULL), EXTRACT_USAGE);
    assert_int_equal(extract_memory_add_srec(memory, "n", NULL), EXTRACT_USAGE);
    assert_non_null(strstr(error.why, "board"));
    extract_memory_close(memory);
}

static void unreadable_files_are_named(void **state)
{
    struct extract_memory *memory = new_images();
    struct extract_error error = {0};
    (void)state;
    assert_int_equal(extract_memory_add_image(memory, scratch_path("none"), 0, &error), EXTRACT_IO);
    assert_non_null(strstr(error.what, "/none"));
    assert_int_equal(extract_memory_add_image(memory, scratch_folder, 0, &error), EXTRACT_IO);
    assert_non_null(strstr(error.why, "directory"));
    assert_int_equal(extract_memory_add_image(memory, scratch_puts("e", ""), 0, &error),
                     EXTRACT_BAD);
    assert_non_null(strstr(error.why, "empty"));
    assert_regions(memory, 0);
    extract_memory_close(memory);
}

// Makes `fd` standard input while `memory` adds it as an image.
static enum extract_code add_from_input(struct extract_memory *memory, int fd)
{
    int keep = dup(STDIN_FILENO);
    dup2(fd, STDIN_FILENO);
    enum extract_code code = extract_memory_add_image(memory, "-", 0x2000, NULL);
    dup2(keep, STDIN_FILENO);
    close(keep);
    return code;
}

static void standard_input_is_read_to_its_end(void **state)
{
    struct extract_memory *memory = new_images();
    uint8_t bytes[5000];
    int ends[2];
    (void)state;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (uint8_t)(i * 7);
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(write(ends[1], bytes, sizeof bytes), sizeof bytes);
    close(ends[1]);
    assert_int_equal(add_from_input(memory, ends[0]), EXTRACT_OK);
    close(ends[0]);
    assert_region(memory, 0, 0x2000, sizeof bytes);
    assert_bytes(memory, 0x2000, bytes, sizeof bytes);
    assert_string_equal(extract_memory_name(memory), "standard input");
    extract_memory_close(memory);
}

static void fifo_is_read_to_its_end(void **state)
{
    struct extract_memory *memory = new_images();
    const char *path = scratch_path("fifo");
    const char *kind = NULL;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    assert_int_equal(extract_memory_detect(path, &kind, NULL), EXTRACT_USAGE);
    assert_true(scratch_run("timeout 10 head -c 300000 /dev/zero >fifo & true"));
    assert_int_equal(extract_memory_add_image(memory, path, 0, NULL), EXTRACT_OK);
    assert_region(memory, 0, 0, 300000);
    extract_memory_close(memory);
}

// The first words of a trace header, written by hand: id, mask, base address, start of the
// registry.
static const uint8_t little4[] = {0x42, 0x54, 0x58, 0x54, 0xff, 0xff, 0,    0,
                                  0xcc, 0x22, 0,    0x20, 0xfc, 0x22, 0x00, 0x20};
static const uint8_t big4[] = {0x54, 0x58, 0x54, 0x42, 0, 0, 0xff, 0xff, 0x40, 0, 0x10, 0x04};
static const uint8_t little8[] = {0x42, 0x54, 0x58, 0x54, 0,    0,    0,    0,
                                  0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff,
                                  0x00, 0x10, 0x20, 0x80, 0x01, 0,    0,    0};
static const uint8_t big8[] = {0, 0, 0, 0, 0x54, 0x58, 0x54, 0x42, 0, 0, 0, 0,
                               0, 0, 1, 0, 0,    0,    0,    1,    2, 3, 4, 5};

static void assert_trx(const void *bytes, size_t length, enum extract_byte_order order,
                       uint64_t base, size_t least)
{
    struct extract_memory *memory = NULL;
    for (size_t n = 0; n <= length; n++) {
        const char *path = scratch_write("t.trx", bytes, n);
        enum extract_code code = extract_memory_open_trx(&memory, path, NULL);
        if (n < least) {
            assert_true(code == EXTRACT_BAD || code == EXTRACT_TRUNCATED);
            assert_null(memory);
            continue;
        }
        assert_int_equal(code, EXTRACT_OK);
        assert_int_equal(extract_memory_byte_order(memory), order);
        assert_regions(memory, 1);
        assert_region(memory, 0, base, n);
        uint64_t start = 0;
        assert_true(extract_memory_start(memory, &start));
        assert_int_equal(start, base);
        assert_bytes(memory, base, bytes, n);
        extract_memory_close(memory);
    }
}

static void trx_lies_where_its_header_says(void **state)
{
    (void)state;
    assert_trx(little4, sizeof little4, EXTRACT_LITTLE, 0x200022cc, 12);
    assert_trx(big4, sizeof big4, EXTRACT_BIG, 0x40001004, 12);
    assert_trx(little8, sizeof little8, EXTRACT_LITTLE, 0x180201000, 24);
    assert_trx(big8, sizeof big8, EXTRACT_BIG, 0x102030405, 24);
}

static void trx_errors_are_clear(void **state)
{
    struct extract_memory *memory = NULL;
    struct extract_error error = {0};
    uint8_t high[sizeof little8];
    (void)state;
    assert_int_equal(extract_memory_open_trx(&memory, scratch_puts("n.trx", "no trace"), &error),
                     EXTRACT_BAD);
    assert_non_null(strstr(error.why, "0x54585442"));
    assert_int_equal(extract_memory_open_trx(&memory, scratch_write("n.trx", little4, 11), &error),
                     EXTRACT_TRUNCATED);
    memcpy(high, little8, sizeof high);
    memset(high + 16, 0xff, 8);
    assert_int_equal(
        extract_memory_open_trx(&memory, scratch_write("n.trx", high, sizeof high), &error),
        EXTRACT_BAD);
    assert_non_null(strstr(error.why, "end of the address space"));
    assert_null(memory);
}

static void real_trx_is_read(void **state)
{
    static const char path[] = "../shared/data/threadx/cm3_slow.trx";
    struct extract_memory *memory = NULL;
    struct stat st;
    (void)state;
    if (stat(path, &st) != 0)
        skip();
    assert_int_equal(extract_memory_open_trx(&memory, path, NULL), EXTRACT_OK);
    assert_region(memory, 0, 0x200022cc, (uint64_t)st.st_size);
    extract_memory_close(memory);
}

static void assert_kind(const void *bytes, size_t length, const char *want)
{
    const char *kind = NULL;
    assert_int_equal(extract_memory_detect(scratch_write("k", bytes, length), &kind, NULL),
                     EXTRACT_OK);
    assert_string_equal(kind, want);
}

static void kinds_are_known_by_their_first_bytes(void **state)
{
    static const uint8_t core[20] = {0x7f, 'E', 'L', 'F', 2, 1, 1, [16] = 4, [18] = 62};
    static const uint8_t big_core[20] = {0x7f, 'E', 'L', 'F', 1, 2, 1, [17] = 4, [19] = 4};
    static const uint8_t program[20] = {0x7f, 'E', 'L', 'F', 1, 1, 1, [16] = 2, [18] = 40};
    static const char hex[] = ":0300300002337A1E\r\n:00000001FF\r\n";
    static const char srec[] = "\n\nS00600004844521B\n";
    const char *kind = "unchanged";
    (void)state;
    assert_kind(core, sizeof core, "core");
    assert_kind(big_core, sizeof big_core, "core");
    assert_kind(program, sizeof program, "elf");
    assert_kind(little4, sizeof little4, "trx");
    assert_kind(big8, sizeof big8, "trx");
    assert_kind(hex, sizeof hex - 1, "ihex");
    assert_kind(srec, sizeof srec - 1, "srec");
    assert_kind("", 0, "raw");
    assert_kind(":", 1, "raw");
    assert_kind("S1", 2, "raw");
    assert_kind("\x7f"
                "ELF",
                4, "raw");
    assert_kind("Some text\n", 10, "raw");
    assert_int_equal(extract_memory_detect("-", &kind, NULL), EXTRACT_USAGE);
    assert_int_equal(extract_memory_detect(scratch_folder, &kind, NULL), EXTRACT_IO);
    assert_int_equal(extract_memory_detect(scratch_path("none"), &kind, NULL), EXTRACT_IO);
    assert_string_equal(kind, "unchanged");
}

static void file_is_read_up_to_its_limit(void **state)
{
    const char *path = scratch_puts("ten", "0123456789");
    struct extract_error error = {0};
    uint8_t *bytes = NULL;
    size_t length = 0;
    (void)state;
    assert_int_equal(extract_file_read(path, 10, &bytes, &length, &error), EXTRACT_OK);
    assert_int_equal(length, 10);
    assert_memory_equal(bytes, "0123456789", 10);
    free(bytes);
    assert_int_equal(extract_file_read(path, 9, &bytes, &length, &error), EXTRACT_LIMIT);
    assert_non_null(strstr(error.why, "10 bytes, more than 9"));
    assert_int_equal(extract_file_read("/dev/zero", 100000, &bytes, &length, &error),
                     EXTRACT_LIMIT);
    // This file claims a size of 0 and contains more.
    assert_int_equal(extract_file_read("/proc/self/maps", 1 << 20, &bytes, &length, &error),
                     EXTRACT_OK);
    assert_true(length > 100);
    free(bytes);
    assert_int_equal(extract_file_read(scratch_puts("none", ""), 0, &bytes, &length, &error),
                     EXTRACT_OK);
    assert_int_equal(length, 0);
    assert_non_null(bytes);
    free(bytes);
}

static void assert_file(const char *path, const char *text)
{
    uint8_t *bytes = NULL;
    size_t length = 0;
    assert_int_equal(extract_file_read(path, 1 << 20, &bytes, &length, NULL), EXTRACT_OK);
    assert_int_equal(length, strlen(text));
    assert_memory_equal(bytes, text, length);
    free(bytes);
}

static void file_is_replaced_in_one_step(void **state)
{
    const char *path = scratch_puts("out", "old text");
    const char *link = scratch_path("link");
    struct stat before, after;
    char old[16] = "";
    (void)state;
    assert_int_equal(chmod(path, 0640), 0);
    assert_int_equal(stat(path, &before), 0);
    assert_int_equal(symlink("out", link), 0);
    int reader = open(path, O_RDONLY);
    assert_int_equal(extract_file_replace(link, "new", 3, NULL), EXTRACT_OK);
    assert_file(path, "new");
    assert_int_equal(stat(path, &after), 0);
    assert_int_not_equal(before.st_ino, after.st_ino);
    assert_int_equal(after.st_mode & 0777, 0640);
    assert_int_equal(lstat(link, &after), 0);
    assert_true(S_ISLNK(after.st_mode));
    assert_int_equal(read(reader, old, sizeof old), 8); // reads all of the old file
    close(reader);
    assert_int_equal(extract_file_replace(scratch_path("fresh"), "", 0, NULL), EXTRACT_OK);
    assert_file(scratch_path("fresh"), "");
    assert_true(scratch_run("! ls | grep -q tmp"));
}

static void file_that_cannot_be_replaced_is_named(void **state)
{
    struct extract_error error = {0};
    (void)state;
    assert_int_equal(extract_file_replace(scratch_path("no/such"), "x", 1, &error), EXTRACT_IO);
    assert_non_null(strstr(error.what, "no/such"));
    assert_true(error.hint[0] != 0);
    assert_int_equal(extract_file_replace(scratch_folder, "x", 1, &error), EXTRACT_IO);
    assert_non_null(strstr(error.why, "directory"));
}

// A write fails half-way, as on a full disk. The old file stays, and no temporary file is left.
static void file_is_whole_when_writing_fails(void **state)
{
    const char *path = scratch_puts("kept", "old");
    static const uint8_t much[100];
    struct extract_error error = {0};
    struct rlimit before, small;
    (void)state;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &before), 0);
    small = before;
    small.rlim_cur = 10;
    signal(SIGXFSZ, SIG_DFL); // SIGXFSZ would end the test, so the library must avoid it
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    enum extract_code code = extract_file_replace(path, much, sizeof much, &error);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &before), 0);
    assert_int_equal(code, EXTRACT_IO);
    assert_string_equal(error.why, strerror(EFBIG));
    assert_non_null(strstr(error.hint, "ulimit"));
    assert_string_equal(error.what, path);
    assert_file(path, "old");
    assert_true(scratch_run("! ls | grep -q tmp"));
}

static void file_is_created_where_there_is_none(void **state)
{
    const char *path = scratch_path("created"), *link = scratch_path("nowhere");
    struct extract_error error = {0};
    (void)state;
    assert_int_equal(extract_file_create(path, "new", 3, NULL), EXTRACT_OK);
    assert_file(path, "new");
    assert_int_equal(extract_file_create(path, "other", 5, &error), EXTRACT_IO);
    assert_string_equal(error.what, path);
    assert_file(path, "new");
    assert_int_equal(symlink("created-too", link), 0);
    assert_int_equal(extract_file_create(link, "other", 5, NULL), EXTRACT_IO);
    assert_true(scratch_run("! ls | grep -q 'tmp\\|created-too'"));
}

// The library writes into a file that is not a regular one, and does not replace it. A FIFO stands
// for all such files: on a device, a defect would replace the device.
static void pipe_is_written_through(void **state)
{
    const char *path = scratch_path("pipe");
    char text[8] = "";
    struct stat st;
    (void)state;
    assert_int_equal(mkfifo(path, 0600), 0);
    int reader = open(path, O_RDONLY | O_NONBLOCK);
    assert_int_equal(extract_file_replace(path, "text", 4, NULL), EXTRACT_OK);
    assert_int_equal(read(reader, text, sizeof text), 4);
    assert_string_equal(text, "text");
    close(reader);
    assert_int_equal(stat(path, &st), 0);
    assert_true(S_ISFIFO(st.st_mode));
}

static enum extract_code attempt_images(void)
{
    struct extract_memory *memory = NULL;
    struct extract_error error;
    enum extract_code code = extract_memory_new_images(&memory, &error);
    if (!code)
        code = extract_memory_add_image(memory, scratch_path("ten"), 0x100, &error);
    if (!code)
        code = extract_memory_add_bytes(memory, "n", "12", 2, 0x10, &error);
    extract_memory_close(memory);
    return code;
}

static enum extract_code attempt_trx(void)
{
    struct extract_memory *memory = NULL;
    enum extract_code code = extract_memory_open_trx(&memory, scratch_path("a.trx"), NULL);
    extract_memory_close(memory);
    return code;
}

static enum extract_code attempt_replace(void)
{
    return extract_file_replace(scratch_path("made"), "x", 1, NULL);
}

static void allocations_may_fail(void **state)
{
    (void)state;
    scratch_puts("ten", "0123456789");
    scratch_write("a.trx", big8, sizeof big8);
    each_allocation_fails(attempt_images);
    each_allocation_fails(attempt_trx);
    each_allocation_fails(attempt_replace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(callbacks_give_bytes_and_facts),
        cmocka_unit_test(short_read_says_how_far),
        cmocka_unit_test(empty_read_costs_nothing),
        cmocka_unit_test(read_stops_at_the_end_of_addresses),
        cmocka_unit_test(source_that_counts_wrong_is_cut),
        cmocka_unit_test(cost_is_exact),
        cmocka_unit_test(failed_open_does_not_close_the_context),
        cmocka_unit_test(images_are_one_sorted_space),
        cmocka_unit_test(overlaps_are_refused_and_named),
        cmocka_unit_test(images_end_where_addresses_end),
        cmocka_unit_test(images_need_a_memory_of_images),
        cmocka_unit_test(unreadable_files_are_named),
        cmocka_unit_test(standard_input_is_read_to_its_end),
        cmocka_unit_test(fifo_is_read_to_its_end),
        cmocka_unit_test(trx_lies_where_its_header_says),
        cmocka_unit_test(trx_errors_are_clear),
        cmocka_unit_test(real_trx_is_read),
        cmocka_unit_test(kinds_are_known_by_their_first_bytes),
        cmocka_unit_test(file_is_read_up_to_its_limit),
        cmocka_unit_test(file_is_replaced_in_one_step),
        cmocka_unit_test(file_that_cannot_be_replaced_is_named),
        cmocka_unit_test(file_is_whole_when_writing_fails),
        cmocka_unit_test(file_is_created_where_there_is_none),
        cmocka_unit_test(pipe_is_written_through),
        cmocka_unit_test(allocations_may_fail),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
