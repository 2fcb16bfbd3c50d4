// SPDX-License-Identifier: MIT
// What each policy keeps when the log is full, what is repeated at the start of sections, entries
// that are larger than a section, and who may write which file.
#include "tests/unit/log/log_bytes.h"
#include "tests/unit/ring_builder.h"
#include "log/log_block.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>

enum { LIMIT = 16384, SECTION = 4096, PAYLOAD = 65536 };

static uint8_t payload[PAYLOAD];

// Reads all of a log, whose ENTRIES must follow each other without a gap, each as it was put.
// *first and *next: the numbers at its ends.
static void check_row(struct extract_log *log, uint64_t *first, uint64_t *next)
{
    struct extract_log_block block;
    uint64_t number = 0;
    bool any = false;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        read_whole(log, i, payload, sizeof payload);
        if (i)
            assert_true(block.number > number);
        number = block.number;
        if (block.type != EXTRACT_LOG_ENTRIES)
            continue;
        check_entries(&block, payload);
        if (any)
            assert_int_equal(block.first, *next);
        else
            *first = block.first;
        *next = block.first + block.count;
        any = true;
    }
    assert_true(any);
}

static void assert_whole(const struct extract_log_status *status)
{
    assert_true(!status->damaged && !status->missing && !status->cut && !status->damaged_bytes);
}

// ---- LOOP ----

// After any number of puts the newest are there, in order: all but at most a section and what a
// section leaves unused.
static void test_loop(void **state)
{
    (void)state;
    for (uint64_t puts = 1; puts < 1500; puts += puts < 300 ? 1 : 97) {
        const char *path = scratch_path("loop");
        struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, LIMIT);
        uint64_t first = 0, next = 0;
        for (uint64_t i = 0; i < puts; i++)
            assert_int_equal(put_entries(writer, i * 10, 10, NULL), EXTRACT_OK);
        assert_int_equal(extract_log_space_left(writer), UINT64_MAX);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        struct stat st;
        assert_int_equal(stat(path, &st), 0);
        assert_true(st.st_size <= LIMIT);
        struct extract_log *log = open_log(path);
        const struct extract_log_status *status = extract_log_status(log);
        check_row(log, &first, &next);
        assert_int_equal(next, puts * 10);
        assert_int_equal(status->entries, next - first);
        assert_int_equal(status->totals.entries, puts * 10);
        assert_true(status->closed);
        assert_whole(status);
        // Behind its head, a section holds 20 blocks of 176 bytes.
        assert_true(first == 0 || (next - first) / 10 >= 3 * ((SECTION - SECTION_HEAD) / 176));
        struct extract_log_block oldest;
        assert_true(extract_log_block_at(log, 0, &oldest));
        assert_int_equal(status->dropped, oldest.number);
        assert_true((first == 0) == (status->dropped == 0));
        extract_log_free(log);
        assert_int_equal(unlink(path), 0);
    }
}

// ---- UNTIL_FULL ----

// `partly`: that many of the entries that no longer fit may be there.
static void check_full(const char *path, uint64_t entries, uint64_t partly)
{
    struct extract_log *log = open_log(path);
    const struct extract_log_status *status = extract_log_status(log);
    struct extract_log_block mark;
    uint64_t first = 1, next = 0;
    check_row(log, &first, &next);
    assert_int_equal(first, 0);
    assert_in_range(next, entries, entries + partly);
    assert_true(status->full && status->closed);
    assert_whole(status);
    assert_true(extract_log_block_at(log, (size_t)status->blocks - 2, &mark));
    assert_int_equal(mark.type, EXTRACT_LOG_MARK);
    assert_int_equal(mark.kind, EXTRACT_MARK_FULL);
    assert_int_equal(mark.first, next);
    extract_log_free(log);
}

// Whatever the size of the blocks, the mark and the status find room.
static void test_until_full(void **state)
{
    (void)state;
    for (uint32_t slots = 1; slots < 600; slots += 7) {
        const char *path = scratch_path("until");
        struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_UNTIL_FULL, LIMIT);
        struct extract_error error = {0};
        uint64_t next = 0, room = extract_log_space_left(writer);
        enum extract_code code;
        while (!(code = put_entries(writer, next, slots, &error))) {
            next += slots;
            assert_true(extract_log_space_left(writer) < room);
            room = extract_log_space_left(writer);
        }
        assert_error(code, EXTRACT_LIMIT, &error, path, "full");
        assert_int_equal(extract_log_space_left(writer), 0);
        assert_int_equal(put_entries(writer, next, 1, NULL), EXTRACT_LIMIT);
        assert_int_equal(extract_log_put_objects(writer, 1, "x", 1, NULL), EXTRACT_LIMIT);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        uint64_t block = HEAD + 8 * slots, fits = SECTION - SECTION_HEAD - HEAD - STATUS_BLOCK;
        // What does not fit into a section is put in parts.
        check_full(path, next, block > fits ? slots - 1 : 0);
        // 4 sections less their heads, what is kept, and what a block leaves unused.
        assert_true(next / slots >= 4 * (fits / block));
        assert_int_equal(unlink(path), 0);
    }
}

// ---- APPEND ----

static void test_append(void **state)
{
    const char *path = scratch_path("append");
    uint64_t next = 0, first = 1, read = 0, created = 0;
    (void)state;
    for (unsigned turn = 0; turn < 5; turn++) {
        struct extract_log_options options = {
            .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION};
        struct extract_log_writer *writer;
        options.section_bytes <<= turn; // the log has its own
        assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_OK);
        for (unsigned i = 0; i < 100; i++, next += 12)
            assert_int_equal(put_entries(writer, next, 12, NULL), EXTRACT_OK);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        struct extract_log *log = open_log(path);
        const struct extract_log_status *status = extract_log_status(log);
        check_row(log, &first, &read);
        assert_true(first == 0 && read == next);
        assert_int_equal(status->section_bytes, SECTION);
        assert_int_equal(status->totals.entries, 1200);
        assert_true(status->closed && status->limit == 0);
        assert_true(!turn || status->created == created);
        created = status->created;
        assert_whole(status);
        extract_log_free(log);
    }
}

// What was half-written is cut off, and nothing else: at any length that a log can be left with.
static void test_append_after_cut(void **state)
{
    static struct maker maker;
    (void)state;
    make_begin(&maker, EXTRACT_LOG_APPEND);
    for (unsigned i = 0; i < 4; i++)
        make_entries(&maker, 9);
    make_section(&maker);
    size_t last = make_entries(&maker, 9);
    for (size_t length = 208; length <= maker.log.length; length += 4) {
        const char *path = scratch_write("cut", maker.log.data, length);
        struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_APPEND, 0);
        assert_int_equal(put_entries(writer, 1000, 3, NULL), EXTRACT_OK);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        struct extract_log *log = open_log(path);
        const struct extract_log_status *status = extract_log_status(log);
        uint64_t whole = length < 208 ? 0 : (length - 208) / 168;
        whole = whole > 4 ? 4 : whole;
        whole += length == maker.log.length;
        assert_int_equal(status->entries, whole * 9 + 3);
        assert_true(status->closed);
        assert_whole(status);
        extract_log_free(log);
    }
    assert_int_equal(last, 4096 + 208);
}

// ---- The start of sections ----

static struct ring_image image;

// Counts the blocks of a type in the index, and in the file's bytes.
static void count_type(const char *path, uint16_t type, unsigned *listed, unsigned *stored)
{
    static uint8_t bytes[4 * LIMIT];
    struct extract_log *log = open_log(path);
    struct extract_log_block block;
    FILE *file = fopen(path, "rb");
    size_t length = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    *listed = *stored = 0;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++)
        *listed += block.type == type;
    for (size_t at = 0; at + HEAD <= length; at += 8)
        *stored += !memcmp(bytes + at, "RLBK", 4) && get_number(bytes + at + 4, 2) == type;
    extract_log_free(log);
}

static void expect_type(const char *path, uint16_t type, unsigned listed, unsigned stored)
{
    unsigned in_index, in_file;
    count_type(path, type, &in_index, &in_file);
    assert_int_equal(in_index, listed);
    assert_int_equal(in_file, stored);
}

static void test_heads(void **state)
{
    struct extract_ring ring;
    const char *path = scratch_path("heads");
    (void)state;
    ring_build(&image, &ring_plain);
    image_find(&image, &ring);
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, LIMIT);
    assert_int_equal(extract_log_put_ring(writer, &ring, NULL), EXTRACT_OK);
    for (unsigned i = 0; i < 3; i++) // nothing is written when nothing changed
        assert_int_equal(extract_log_put_objects(writer, 0x1000, "registry", 8, NULL), EXTRACT_OK);
    // Each has a copy, which is not listed.
    expect_type(path, EXTRACT_LOG_OBJECTS, 1, 2);
    // Three sections more.
    for (unsigned i = 0; i < 4; i++)
        assert_int_equal(put_entries(writer, 300 * i, 300, NULL), EXTRACT_OK);
    expect_type(path, EXTRACT_LOG_SECTION, 4, 2 * 4);
    expect_type(path, EXTRACT_LOG_RING, 1, 2 * 4);
    expect_type(path, EXTRACT_LOG_OBJECTS, 1, 2 * 4);
    assert_int_equal(extract_log_put_objects(writer, 0x1000, "Registry", 8, NULL), EXTRACT_OK);
    expect_type(path, EXTRACT_LOG_OBJECTS, 2, 2 * 5);
    // Round: the oldest section that is left begins with what held then.
    for (unsigned i = 4; i < 8; i++)
        assert_int_equal(put_entries(writer, 300 * i, 300, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    expect_type(path, EXTRACT_LOG_RING, 1, 2 * 4);
    expect_type(path, EXTRACT_LOG_OBJECTS, 1, 2 * 4);
    // What would take more than an eighth of a section has no copy.
    unlink(path);
    writer = create_log(path, EXTRACT_LOG_LOOP, LIMIT);
    assert_int_equal(extract_log_put_objects(writer, 0x1000, payload, SECTION / 8 - HEAD - 8, NULL),
                     EXTRACT_OK);
    expect_type(path, EXTRACT_LOG_OBJECTS, 1, 2);
    assert_int_equal(extract_log_put_objects(writer, 0x1000, payload, SECTION / 8 - HEAD - 7, NULL),
                     EXTRACT_OK);
    expect_type(path, EXTRACT_LOG_OBJECTS, 2, 3);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
}

// A change that comes when the section is full is at the start of the next one, and is listed.
static void test_change_at_border(void **state)
{
    (void)state;
    for (unsigned slots = 340; slots < 446; slots++) {
        const char *path = scratch_path("boundary");
        struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_APPEND, 0);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        unlink(path);
        writer = create_log(path, EXTRACT_LOG_LOOP, LIMIT);
        assert_int_equal(extract_log_put_objects(writer, 1, "old", 3, NULL), EXTRACT_OK);
        assert_int_equal(put_entries(writer, 0, slots, NULL), EXTRACT_OK);
        assert_int_equal(extract_log_put_objects(writer, 1, "new", 3, NULL), EXTRACT_OK);
        assert_int_equal(put_entries(writer, slots, 400, NULL), EXTRACT_OK);
        assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
        unsigned listed, stored;
        count_type(path, EXTRACT_LOG_OBJECTS, &listed, &stored);
        assert_int_equal(listed, 2);
        struct extract_log *log = open_log(path);
        assert_whole(extract_log_status(log));
        extract_log_free(log);
        unlink(path);
    }
}

// ---- Large entries ----

static void put_large(struct extract_log_writer *writer, uint64_t first, uint32_t count,
                      uint32_t provisional)
{
    static uint8_t slots[64 * 1024];
    for (uint32_t i = 0; i < count; i++)
        put_number(slots + 8 * i, first + i, 8);
    struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                      .flags = EXTRACT_LOG_STAMPS | EXTRACT_LOG_PROVISIONAL,
                                      .length = 8 * count,
                                      .count = count,
                                      .first = first,
                                      .provisional = provisional,
                                      .first_stamp = 5,
                                      .last_stamp = 6};
    assert_int_equal(extract_log_put(writer, &block, slots, NULL), EXTRACT_OK);
}

static void test_split(void **state)
{
    const char *path = scratch_path("split");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_APPEND, 0);
    uint64_t first = 1, next = 0, provisional = 0;
    struct extract_log_block block;
    (void)state;
    extract_log_close(writer, NULL);
    unlink(path);
    struct extract_log_options options = {
        .size = sizeof options, .policy = EXTRACT_LOG_APPEND, .section_bytes = SECTION};
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_OK);
    put_large(writer, 0, 100, 2);
    put_large(writer, 100, 1500, 600); // at least four sections
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    struct extract_log *log = open_log(path);
    check_row(log, &first, &next);
    assert_int_equal(first, 0);
    assert_int_equal(next, 1600);
    assert_int_equal(extract_log_status(log)->totals.entries, 1600);
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        if (block.type != EXTRACT_LOG_ENTRIES)
            continue;
        assert_int_equal(!!(block.flags & EXTRACT_LOG_STAMPS), block.first == 0);
        assert_int_equal(!!(block.flags & EXTRACT_LOG_PROVISIONAL), block.provisional != 0);
        // Provisional are 98 and 99, and those from 1000 on.
        uint64_t end = block.first + block.count;
        uint64_t expected = block.first == 0 ? 2 : end <= 1000 ? 0 : end - 1000;
        assert_int_equal(block.provisional, expected < block.count ? expected : block.count);
        provisional += block.provisional;
    }
    assert_int_equal(provisional, 602);
    extract_log_free(log);
}

static void test_too_large(void **state)
{
    const char *path = scratch_path("large");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_LOOP, LIMIT);
    struct extract_error error = {0};
    struct extract_log_block mark = {.type = EXTRACT_LOG_MARK, .length = 4000};
    struct extract_log_block slot = {.type = EXTRACT_LOG_ENTRIES, .length = 5000, .count = 1};
    (void)state;
    assert_error(extract_log_put(writer, &mark, payload, &error), EXTRACT_LIMIT, &error, path,
                 "4000");
    assert_error(extract_log_put(writer, &slot, payload, &error), EXTRACT_LIMIT, &error, path,
                 "5000");
    assert_error(extract_log_put_objects(writer, 0, payload, 3000, &error), EXTRACT_LIMIT, &error,
                 path, "3000");
    assert_int_equal(put_entries(writer, 0, 1, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    struct extract_log *log = open_log(path);
    assert_int_equal(extract_log_status(log)->blocks, 3);
    extract_log_free(log);
}

static void test_nonsense(void **state)
{
    static const struct extract_log_block bad[] = {
        {.type = 0},
        {.type = EXTRACT_LOG_SECTION},
        {.type = EXTRACT_LOG_RING},
        {.type = EXTRACT_LOG_STATUS},
        {.type = EXTRACT_LOG_PROGRAM + 1},
        {.type = EXTRACT_LOG_ENTRIES, .count = 0, .length = 8},
        {.type = EXTRACT_LOG_ENTRIES, .count = 3, .length = 8},
        {.type = EXTRACT_LOG_ENTRIES, .count = 1, .length = 0},
        {.type = EXTRACT_LOG_ENTRIES, .count = 1, .length = 8, .provisional = 2},
    };
    struct extract_log_writer *writer = create_log(scratch_path("odd"), EXTRACT_LOG_LOOP, LIMIT);
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        assert_int_equal(extract_log_put(writer, &bad[i], payload, NULL), EXTRACT_USAGE);
    assert_int_equal(
        extract_log_put(writer, &(struct extract_log_block){.type = 6, .length = 1}, NULL, NULL),
        EXTRACT_USAGE);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_close(NULL, NULL), EXTRACT_OK);
}

// ---- Which files ----

static void expect_refused(const char *path, enum extract_log_policy policy, enum extract_code code,
                           const char *why)
{
    struct extract_log_options options = {.size = sizeof options, .policy = policy};
    struct extract_log_writer *writer;
    struct extract_error error = {0};
    char lock[256];
    assert_error(extract_log_create(&writer, path, &options, &error), code, &error, path, why);
    assert_null(writer);
    snprintf(lock, sizeof lock, "%s.lock", path);
    assert_int_not_equal(access(lock, F_OK), 0);
}

static void test_refused(void **state)
{
    (void)state;
    const char *text = scratch_puts("notes", "my notes");
    for (unsigned policy = 0; policy < 3; policy++)
        expect_refused(text, policy, EXTRACT_BAD, "existing file");
    assert_true(scratch_run("test \"$(cat notes)\" = 'my notes'"));
    for (unsigned policy = 0; policy < 3; policy++) {
        const char *path = scratch_path("closed");
        extract_log_close(create_log(path, policy, policy < 2 ? LIMIT : 0), NULL);
        assert_true(scratch_run("cp closed copy"));
        for (unsigned other = 0; other < 3; other++)
            if (policy != EXTRACT_LOG_APPEND || other != EXTRACT_LOG_APPEND)
                expect_refused(path, other, EXTRACT_BAD, other < 2 ? "never over" : "another");
        assert_true(scratch_run("cmp closed copy && rm closed"));
    }
    assert_true(scratch_run("mkfifo fifo; ln -s gone link; ln -s notes real; mkdir dir"));
    expect_refused(scratch_path("fifo"), 2, EXTRACT_USAGE, "pipe");
    expect_refused(scratch_path("link"), 2, EXTRACT_USAGE, "symbolic link");
    expect_refused(scratch_path("real"), 0, EXTRACT_USAGE, "symbolic link");
    expect_refused(scratch_path("dir"), 0, EXTRACT_USAGE, "directory");
    expect_refused("/dev/full", 0, EXTRACT_USAGE, "device");
    expect_refused(scratch_path("no/folder"), 0, EXTRACT_IO, "No such file");
    assert_int_not_equal(access(scratch_path("gone"), F_OK), 0);
}

static void test_options(void **state)
{
    struct extract_log_options options = {.size = sizeof options, .limit = 16383};
    struct extract_log_writer *writer;
    const char *path = scratch_path("options");
    (void)state;
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_USAGE);
    options.limit = 65536;
    options.section_bytes = 5000;
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_USAGE);
    options.section_bytes = 32768;
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_USAGE);
    options.section_bytes = 0;
    options.policy = (enum extract_log_policy)3;
    assert_int_equal(extract_log_create(&writer, path, &options, NULL), EXTRACT_USAGE);
    assert_int_not_equal(access(path, F_OK), 0);
}

// An empty file has nothing to lose; the mode of a new one is the umask's.
static void test_empty_and_umask(void **state)
{
    struct stat st;
    (void)state;
    extract_log_close(create_log(scratch_puts("mktemp", ""), EXTRACT_LOG_LOOP, LIMIT), NULL);
    assert_int_equal(stat(scratch_path("mktemp"), &st), 0);
    assert_int_equal(st.st_size, SECTION_HEAD + STATUS_BLOCK);
    mode_t old = umask(027);
    extract_log_close(create_log(scratch_path("masked"), EXTRACT_LOG_LOOP, LIMIT), NULL);
    umask(old);
    assert_int_equal(stat(scratch_path("masked"), &st), 0);
    assert_int_equal(st.st_mode & 0777, 0640);
}

// ---- One writer ----

static void test_lock(void **state)
{
    const char *path = scratch_path("locked");
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_APPEND, 0), *second;
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_error error = {0};
    char line[128] = "", pid[32];
    (void)state;
    FILE *file = fopen(scratch_path("locked.lock"), "r");
    assert_non_null(fgets(line, sizeof line, file));
    fclose(file);
    snprintf(pid, sizeof pid, "%d ", (int)getpid());
    assert_int_equal(strncmp(line, pid, strlen(pid)), 0);
    assert_non_null(strstr(line, " ringside "));
    snprintf(pid, sizeof pid, "process %d is", (int)getpid());
    assert_error(extract_log_create(&second, path, &options, &error), EXTRACT_LIMIT, &error, path,
                 pid);
    struct extract_log *log = open_log(path);
    assert_true(extract_log_status(log)->writing);
    extract_log_free(log);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    assert_int_not_equal(access(scratch_path("locked.lock"), F_OK), 0);
    log = open_log(path);
    assert_false(extract_log_status(log)->writing);
    extract_log_free(log);
}

// A writer that was given a descriptor: the lock is the file's own.
static void test_lock_of_a_descriptor(void **state)
{
    const char *path = scratch_puts("given", "");
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer;
    (void)state;
    int fd = open(path, O_RDWR);
    assert_int_equal(extract_log_create_fd(&writer, fd, &options, NULL), EXTRACT_OK);
    struct extract_log *log = open_log(path), *given;
    assert_true(extract_log_status(log)->writing);
    assert_int_equal(extract_log_open_fd(&given, fd, NULL), EXTRACT_OK);
    assert_true(extract_log_status(given)->writing);
    assert_int_equal(extract_log_close(writer, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_again(log, NULL), EXTRACT_OK);
    assert_int_equal(extract_log_again(given, NULL), EXTRACT_OK);
    assert_true(!extract_log_status(log)->writing && !extract_log_status(given)->writing);
    extract_log_free(given);
    extract_log_free(log);
    close(fd);
}

// A process that forks while a thread asks whether a log is being written: its child has a copy of
// the descriptor that the question went through, and keeps no writer out.
static struct {
    bool forks;
    pid_t child;
} fork_within;

int flock(int fd, int how)
{
    int result = (int)syscall(SYS_flock, fd, how);
    if (!fork_within.forks || !(how & LOCK_SH))
        return result;
    fork_within.child = fork();
    while (!fork_within.child)
        pause();
    return result;
}

static void test_lock_and_fork(void **state)
{
    const char *path = scratch_path("fork");
    struct extract_error error = {.what = ""};
    (void)state;
    extract_log_close(create_log(path, EXTRACT_LOG_APPEND, 0), NULL);
    fork_within.forks = true;
    extract_log_free(open_log(path));
    fork_within.forks = false;
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer = NULL;
    enum extract_code code = extract_log_create(&writer, path, &options, &error);
    kill(fork_within.child, SIGKILL);
    waitpid(fork_within.child, NULL, 0);
    assert_int_equal(code, EXTRACT_OK);
    extract_log_close(writer, NULL);
}

// The place of a program: in every section, and only if there is exactly one such place.
static void test_program(void **state)
{
    enum { PLACE = 0x5040 };
    const char *path = scratch_path("program");
    uint64_t entry;
    (void)state;
    struct extract_log_writer *writer = create_log(path, EXTRACT_LOG_APPEND, 0);
    extract_log_close(writer, NULL);
    struct extract_log *log = open_log(path);
    assert_false(extract_log_program(log, &entry));
    extract_log_free(log);
    for (int i = 0; i < 2; i++) {
        writer = create_log(path, EXTRACT_LOG_APPEND, 0);
        assert_int_equal(extract_log_put_program(writer, PLACE, NULL), EXTRACT_OK);
        extract_log_close(writer, NULL);
        log = open_log(path);
        assert_true(extract_log_program(log, &entry));
        assert_int_equal(entry, PLACE);
        extract_log_free(log);
    }
    writer = create_log(path, EXTRACT_LOG_APPEND, 0);
    assert_int_equal(extract_log_put_program(writer, PLACE + 4096, NULL), EXTRACT_OK);
    extract_log_close(writer, NULL);
    log = open_log(path);
    assert_false(extract_log_program(log, &entry));
    extract_log_free(log);
    path = scratch_path("program.loop");
    writer = create_log(path, EXTRACT_LOG_LOOP, LIMIT);
    assert_int_equal(extract_log_put_program(writer, PLACE, NULL), EXTRACT_OK);
    for (; extract_log_overwritten(writer) < 2; extract_log_turn(writer)) {
        const struct extract_log_block mark = {.type = EXTRACT_LOG_MARK};
        assert_int_equal(extract_log_put(writer, &mark, NULL, NULL), EXTRACT_OK);
    }
    extract_log_close(writer, NULL);
    log = open_log(path);
    assert_true(extract_log_program(log, &entry));
    assert_int_equal(entry, PLACE);
    extract_log_free(log);
}

// The lock of a process that no longer exists, or of another with its number.
static void test_stale_lock(void **state)
{
    char line[64];
    pid_t child = fork();
    (void)state;
    if (child == 0)
        _exit(0);
    waitpid(child, NULL, 0);
    for (unsigned other = 0; other < 2; other++) {
        snprintf(line, sizeof line, "%d 7 someone\n", other ? (int)getpid() : (int)child);
        scratch_puts("stale.lock", line);
        extract_log_close(create_log(scratch_path("stale"), EXTRACT_LOG_APPEND, 0), NULL);
        assert_int_not_equal(access(scratch_path("stale.lock"), F_OK), 0);
    }
}

static void test_odd_lock(void **state)
{
    static const char *const lines[] = {"", "nobody", "-5 7 x", "99999999999999999999 1 x"};
    struct extract_log_options options = {.size = sizeof options, .policy = EXTRACT_LOG_APPEND};
    struct extract_log_writer *writer;
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        scratch_puts("odd2.lock", lines[i]);
        assert_int_equal(extract_log_create(&writer, scratch_path("odd2"), &options, NULL),
                         EXTRACT_LIMIT);
        assert_true(scratch_run("test -f odd2.lock && test ! -e odd2"));
    }
    // A lock that is a link is not followed.
    assert_true(scratch_run("rm odd2.lock && echo precious >kept && ln -s kept odd2.lock"));
    assert_int_not_equal(extract_log_create(&writer, scratch_path("odd2"), &options, NULL),
                         EXTRACT_OK);
    assert_true(scratch_run("test \"$(cat kept)\" = precious"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_until_full),
        cmocka_unit_test(test_append),
        cmocka_unit_test(test_append_after_cut),
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_change_at_border),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_too_large),
        cmocka_unit_test(test_nonsense),
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_options),
        cmocka_unit_test(test_empty_and_umask),
        cmocka_unit_test(test_lock),
        cmocka_unit_test(test_stale_lock),
        cmocka_unit_test(test_lock_of_a_descriptor),
        cmocka_unit_test(test_lock_and_fork),
        cmocka_unit_test(test_program),
        cmocka_unit_test(test_odd_lock),
    };
    return cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
