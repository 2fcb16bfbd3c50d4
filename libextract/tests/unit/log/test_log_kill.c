// SPDX-License-Identifier: MIT
// A writer is killed (SIGKILL) at any moment: every block whose put had returned is in the log
// unchanged, at most one more follows, and the log states that it was not closed. KILLS=N kills N
// times for each policy.
#include "tests/unit/log/log_bytes.h"
#include <sched.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>

enum { LIMIT = 1024 * 1024, MAX_SLOTS = 7000, KILLS = 60, SESSIONS = 6, SPINS = 40000 };

// What the writer reports about itself while it lives.
struct shared {
    volatile uint64_t puts; // that have returned
    volatile bool full;
};

static struct shared *shared;
static uint32_t state_of_random;

static uint32_t random_word(void)
{
    state_of_random ^= state_of_random << 13;
    state_of_random ^= state_of_random >> 17;
    return state_of_random ^= state_of_random << 5;
}

// Block `n` begins with entry n * MAX_SLOTS. Its length follows from n: from one slot to 56 KB.
static uint32_t slots_of(uint64_t n)
{
    uint64_t mixed = (n + 1) * UINT64_C(0x9E3779B97F4A7C15) >> 40;
    return mixed % 3 ? (uint32_t)(1 + mixed % 40) : (uint32_t)(1 + mixed % MAX_SLOTS);
}

static void fill(uint8_t *slots, uint64_t n)
{
    for (uint32_t i = 0; i < slots_of(n); i++)
        put_number(slots + 8 * i, (n << 20) + i, 8);
}

static struct extract_log_block block_of(uint64_t n)
{
    struct extract_log_block block = {.type = EXTRACT_LOG_ENTRIES,
                                      .count = slots_of(n),
                                      .length = 8 * slots_of(n),
                                      .first = n * MAX_SLOTS};
    return block;
}

// The child: writes until it is killed.
static _Noreturn void write_on(const char *path, enum extract_log_policy policy, uint64_t from)
{
    static uint8_t slots[8 * MAX_SLOTS];
    struct extract_log_options options = {
        .size = sizeof options, .policy = policy, .limit = LIMIT, .section_bytes = 128 * 1024};
    struct extract_log_writer *writer;
    if (extract_log_create(&writer, path, &options, NULL))
        _exit(1);
    for (uint64_t n = from;; n++) {
        struct extract_log_block block = block_of(n);
        fill(slots, n);
        enum extract_code code = extract_log_put(writer, &block, slots, NULL);
        if (code == EXTRACT_LIMIT && policy == EXTRACT_LOG_UNTIL_FULL)
            break;
        if (code)
            _exit(1);
        shared->puts = n + 1;
    }
    shared->full = true;
    for (;;)
        pause();
}

// Runs a writer and kills it after some puts and some steps more.
static void run_and_kill(const char *path, enum extract_log_policy policy, uint64_t from)
{
    uint64_t until = from + random_word() % (policy == EXTRACT_LOG_LOOP ? 400 : 120);
    int status;
    shared->puts = from;
    shared->full = false;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0)
        write_on(path, policy, from);
    while (shared->puts < until && !shared->full && waitpid(child, &status, WNOHANG) == 0)
        sched_yield();
    for (volatile uint32_t i = random_word() % SPINS; i; i--)
        ;
    kill(child, SIGKILL);
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
}

// Checks that block n is what was put.
static void check_block(const struct extract_log_block *block, const uint8_t *payload, uint64_t n)
{
    static uint8_t expected[8 * MAX_SLOTS];
    assert_int_equal(block->first, n * MAX_SLOTS);
    assert_int_equal(block->count, slots_of(n));
    fill(expected, n);
    assert_memory_equal(payload, expected, block->length);
}

// Reads the log. Returns up to which block it goes; *oldest: the first that is in it.
static uint64_t read_back(struct extract_log *log, uint64_t *oldest)
{
    static uint8_t payload[8 * MAX_SLOTS];
    struct extract_log_block block;
    uint64_t next = 0;
    bool any = false;
    for (size_t i = 0; extract_log_block_at(log, i, &block); i++) {
        assert_true(block.length <= sizeof payload);
        assert_int_equal(extract_log_read(log, &block, payload, NULL), EXTRACT_OK);
        if (block.type != EXTRACT_LOG_ENTRIES)
            continue;
        if (!any)
            *oldest = next = block.first / MAX_SLOTS;
        check_block(&block, payload, next++);
        any = true;
    }
    return next;
}

static void check_loop(uint64_t oldest, uint64_t next)
{
    uint64_t bytes = 0;
    for (uint64_t n = oldest; n < next; n++)
        bytes += HEAD + 8 * slots_of(n);
    // Eight sections, of which one is being written; each may leave the length of a block unused.
    assert_true(oldest == 0 || bytes >= 7 * (128 * 1024 - 208 - HEAD - 8 * MAX_SLOTS));
}

// Checks what a killed writer left; returns the number of blocks.
static uint64_t check_log(const char *path, enum extract_log_policy policy, uint64_t from)
{
    uint64_t oldest = 0, puts = shared->puts;
    // The writer was killed before it wrote anything, so it has reported nothing.
    if (puts == from && from == 0 && scratch_run("test ! -s log.bin"))
        return 0;
    struct extract_log *log = NULL;
    enum extract_code code = extract_log_open(&log, path, NULL);
    if (puts == 0 && code == EXTRACT_BAD)
        return 0; // in its very first block
    assert_int_equal(code, EXTRACT_OK);
    const struct extract_log_status *status = extract_log_status(log);
    assert_true(!status->closed && !status->writing);
    uint64_t next = read_back(log, &oldest);
    if (next || puts)
        assert_in_range(next, puts, puts + 1);
    assert_int_equal(status->damaged, 0);
    assert_int_equal(status->missing, 0);
    if (policy == EXTRACT_LOG_LOOP)
        check_loop(oldest, next);
    else
        assert_int_equal(oldest, 0);
    assert_true(!shared->full || status->full);
    extract_log_free(log);
    return next;
}

static void kill_often(enum extract_log_policy policy)
{
    const char *path = scratch_path("log.bin"), *wanted = getenv("KILLS");
    int kills = wanted ? atoi(wanted) : KILLS, torn = 0;
    uint64_t there = 0;
    for (int i = 0; i < kills; i++) {
        if (policy != EXTRACT_LOG_APPEND || i % SESSIONS == 0 || there == 0) {
            assert_true(scratch_run("rm -f log.bin"));
            there = 0;
        }
        run_and_kill(path, policy, there);
        uint64_t next = check_log(path, policy, there);
        torn += next == shared->puts;
        there = next;
    }
    print_message("%d kills, %d without a block more than told\n", kills, torn);
}

static void test_loop(void **state)
{
    (void)state;
    kill_often(EXTRACT_LOG_LOOP);
}

static void test_until_full(void **state)
{
    (void)state;
    kill_often(EXTRACT_LOG_UNTIL_FULL);
}

static void test_append(void **state)
{
    (void)state;
    kill_often(EXTRACT_LOG_APPEND);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_loop),
        cmocka_unit_test(test_until_full),
        cmocka_unit_test(test_append),
    };
    state_of_random = (uint32_t)time(NULL) * 2654435761u | 1;
    print_message("seed %u\n", state_of_random);
    shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return shared == MAP_FAILED ? 1 : cmocka_run_group_tests(tests, scratch_make, scratch_remove);
}
