// SPDX-License-Identifier: MIT
// unit: the memory of another process. That process may shorten it, or open it to everybody, at any
// time. Whoever reads or changes this memory gets errors, and no signal. The tests also check who
// may open it at all.
//
// Truth: docs/formats/posix-ring.md; ftruncate(2), mmap(2): a mapped page after the end of its file
// raises SIGBUS.
#include "target/ports/linux.h"
// clang-format off
#include "target/linux_object.h"
#include "trace.h"
// clang-format on
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
// clang-format off
#include <cmocka.h>
#include "tests/unit/target/host_stream.h"
// clang-format on

// ---- a traced process ----

struct child {
    pid_t pid;
    int ready[2];
};

// Starts a process that passes a trace point as `user` (0: the test's), and waits to be killed.
static struct child begin_child(uid_t user)
{
    struct child child;
    assert_int_equal(pipe(child.ready), 0);
    child.pid = fork();
    if (!child.pid) {
        alarm(60);
        if (user && setuid(user))
            _exit(1);
        posix_trace_event(40, NULL, 0);
        if (write(child.ready[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    await_byte(child.ready[0]);
    return child;
}

static void end_child(const struct child *child)
{
    close(child->ready[0]);
    close(child->ready[1]);
    kill(child->pid, SIGKILL);
    assert_int_equal(waitpid(child->pid, NULL, 0), child->pid);
    unlink_object(child->pid);
}

static void cut(pid_t pid, off_t length)
{
    int file = open_object(pid);
    assert_int_equal(ftruncate(file, length), 0);
    close(file);
}

// ---- memory that is shortened ----

static const struct ringside_trace_bind small = {POSIX_TRACE_LOOP, 4096, 64, false, "small"};

// Does everything that a controller does with an object. Unless it `works`, all changes must fail.
static void use(struct ringside_trace_object *object, unsigned stream, bool works)
{
    const uint32_t word = 0;
    uint8_t bytes[4096];
    unsigned other;
    trace_event_id_t id;
    size_t got = ringside_trace_object_read(object, 0, bytes, sizeof bytes);
    assert_true(got <= sizeof bytes);
    ringside_trace_object_attend(object);
    int bound = ringside_trace_object_bind(object, &small, &other);
    int named = ringside_trace_object_name(object, "a name", &id);
    bool written = ringside_trace_object_write(object, 92, &word, 1);
    ringside_trace_object_release(object, stream);
    assert_true(ringside_trace_object_is_written(object, UINT32_MAX)); // its process exists
    if (!works) {
        assert_int_equal(bound, EIO);
        assert_int_equal(named, EIO);
        assert_false(written);
    }
}

static void test_cut_short(void **state)
{
    static const off_t lengths[] = {0, 1, 4096, 16384, 1 << 20};
    (void)state;
    for (unsigned k = 0; k < sizeof lengths / sizeof *lengths; k++)
        for (unsigned grows = 0; grows < 2; grows++) {
            struct child child = begin_child(0);
            struct traced t = bind_stream(child.pid, POSIX_TRACE_LOOP, 4096, false);
            off_t whole = (off_t)ring_get(t.bytes, 12);
            cut(child.pid, lengths[k]);
            if (grows) // the old contents are zeros
                cut(child.pid, whole);
            use(t.object, t.number, grows || lengths[k] > 4096);
            ringside_trace_object_close(t.object);
            end_child(&child);
        }
}

// The process shortens and extends its memory all the time while the test uses it.
static volatile bool cuts;

static void *keep_cutting(void *number)
{
    int file = open_object(*(pid_t *)number);
    struct stat status;
    fstat(file, &status);
    while (cuts)
        if (ftruncate(file, 0) || ftruncate(file, status.st_size))
            abort();
    close(file);
    return NULL;
}

static void test_cut_meanwhile(void **state)
{
    (void)state;
    for (unsigned round = 0; round < 20; round++) {
        struct child child = begin_child(0);
        struct traced t = bind_stream(child.pid, POSIX_TRACE_UNTIL_FULL, 4096, false);
        pthread_t thread;
        cuts = true;
        assert_int_equal(pthread_create(&thread, NULL, keep_cutting, &child.pid), 0);
        for (unsigned k = 0; k < 20; k++)
            use(t.object, t.number, true);
        cuts = false;
        pthread_join(thread, NULL);
        ringside_trace_object_close(t.object);
        end_child(&child);
    }
}

// A thread that blocks all signals gets no signal either, and they stay blocked.
static void test_signals_blocked(void **state)
{
    sigset_t all, before, after;
    (void)state;
    struct child child = begin_child(0);
    struct traced t = bind_stream(child.pid, POSIX_TRACE_LOOP, 4096, false);
    cut(child.pid, 0);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    use(t.object, t.number, false);
    pthread_sigmask(SIG_SETMASK, &before, &after);
    assert_true(sigismember(&after, SIGBUS) && sigismember(&after, SIGUSR1));
    ringside_trace_object_close(t.object);
    end_child(&child);
}

// ---- a program's own SIGBUS ----

static volatile sig_atomic_t caught;
static sigjmp_buf back;

static void count_fault(int number)
{
    (void)number;
    caught++;
    siglongjmp(back, 1);
}

static void count_fault_at(int number, siginfo_t *info, void *context)
{
    (void)context;
    caught += info->si_signo == number;
    siglongjmp(back, 1);
}

// Returns whether the program's handler gets SIGBUS from the program's own memory, and one that is
// sent.
static bool has_its_signals(void)
{
    char path[] = "/tmp/ringside-test-XXXXXX";
    int file = mkstemp(path);
    unlink(path);
    volatile char *bytes = mmap(NULL, 4096, PROT_READ, MAP_SHARED, file, 0); // the file is empty
    close(file);
    caught = 0;
    if (!sigsetjmp(back, 1))
        (void)bytes[0];
    if (!sigsetjmp(back, 1))
        raise(SIGBUS);
    return caught == 2;
}

static void test_other_faults(void **state)
{
    (void)state;
    for (unsigned kind = 0; kind < 3; kind++) {
        struct child child = begin_child(0);
        int status;
        pid_t program = fork();
        if (!program) {
            struct sigaction own = {.sa_handler = kind ? SIG_DFL : count_fault};
            if (kind == 1) {
                own.sa_sigaction = count_fault_at;
                own.sa_flags = SA_SIGINFO;
            }
            sigaction(SIGBUS, &own, NULL);
            struct traced t = bind_stream(child.pid, POSIX_TRACE_LOOP, 4096, false);
            cut(child.pid, 0);
            use(t.object, t.number, false);
            _exit(kind < 2 ? !has_its_signals() : (has_its_signals(), 1));
        }
        assert_int_equal(waitpid(program, &status, 0), program);
        if (kind < 2)
            assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 0);
        else // without a handler, the program ends as usual
            assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGBUS);
        end_child(&child);
    }
}

// ---- reading ----

static uint64_t allocated(pid_t pid)
{
    struct stat status;
    int file = open_object(pid);
    assert_int_equal(fstat(file, &status), 0);
    close(file);
    return (uint64_t)status.st_blocks * 512;
}

// Reading memory without pages allocates none, and returns zeros.
static void test_looking_allocates_nothing(void **state)
{
    struct ringside_trace_object *object;
    static uint8_t bytes[1 << 16], zeros[1 << 16];
    (void)state;
    struct child child = begin_child(0);
    assert_int_equal(ringside_trace_object_open(child.pid, true, &object), 0);
    uint64_t before = allocated(child.pid);
    uint64_t at = sizeof(struct ringside_memory) - sizeof bytes; // offset in the last ring
    for (unsigned k = 0; k < 64; k++, at -= 1 << 20) {
        assert_int_equal(ringside_trace_object_read(object, at, bytes, sizeof bytes), sizeof bytes);
        assert_memory_equal(bytes, zeros, sizeof bytes);
    }
    assert_int_equal(allocated(child.pid), before);
    ringside_trace_object_close(object);
    end_child(&child);
}

static void test_edges(void **state)
{
    struct ringside_trace_object *object;
    const uint64_t total = sizeof(struct ringside_memory);
    const uint32_t word = 0;
    uint8_t bytes[64], some[64];
    (void)state;
    struct child child = begin_child(0);
    assert_int_equal(ringside_trace_object_open(child.pid, true, &object), 0);
    assert_int_equal(ringside_trace_object_read(object, total - 16, bytes, 64), 16);
    assert_int_equal(ringside_trace_object_read(object, total, bytes, 64), 0);
    assert_int_equal(ringside_trace_object_read(object, UINT64_MAX - 3, bytes, 64), 0);
    assert_false(ringside_trace_object_write(object, total, &word, 1));
    assert_false(ringside_trace_object_write(object, UINT64_MAX - 3, &word, 1));
    assert_false(ringside_trace_object_write(object, 2, &word, 1));
    assert_int_equal(ringside_trace_object_read(object, 0, bytes, 64), 64);
    for (unsigned from = 0; from < 16; from++)
        for (unsigned length = 0; length < 48; length++) {
            memset(some, 0xA5, sizeof some);
            assert_int_equal(ringside_trace_object_read(object, from, some, length), length);
            assert_memory_equal(some, bytes + from, length);
            assert_int_equal(some[length], 0xA5);
        }
    ringside_trace_object_close(object);
    end_child(&child);
}

// A writer stores a count in words, from the last word to the first. If they are read in order, no
// word is older than the one before it. Each word has a count of 24 bits and its checksum, so that
// a word that was read in parts is noticed.
enum { WORDS = 300, AT = 4096 * 40 };
static volatile bool writes;

static uint32_t word_of(uint32_t count)
{
    return count << 8 | ((count ^ count >> 8 ^ count >> 16) & 0xFF);
}

static void *write_down(void *bytes)
{
    uint32_t *words = (uint32_t *)(void *)((uint8_t *)bytes + AT);
    for (uint32_t count = 1; writes; count++)
        for (unsigned k = WORDS; k-- > 0;)
            __atomic_store_n(&words[k], word_of(count), __ATOMIC_RELEASE);
    return NULL;
}

static void assert_ordered(const uint32_t *words)
{
    for (unsigned k = 0; k < WORDS; k++) {
        assert_int_equal(words[k], word_of(words[k] >> 8));
        assert_true((int32_t)(words[k] - words[k ? k - 1 : 0]) >= 0);
    }
}

static void test_order(void **state)
{
    struct ringside_trace_object *object;
    uint32_t words[WORDS];
    size_t length;
    pthread_t thread;
    unsigned moving = 0;
    (void)state;
    struct child child = begin_child(0);
    assert_int_equal(ringside_trace_object_open(child.pid, true, &object), 0);
    writes = true;
    assert_int_equal(pthread_create(&thread, NULL, write_down, map_object(child.pid, &length)), 0);
    // On a busy machine the writer may not run for a while.
    for (unsigned n = 0; n < 5000 || (!moving && n < 50000000); n++) {
        assert_int_equal(ringside_trace_object_read(object, AT, words, sizeof words), sizeof words);
        assert_ordered(words);
        moving += words[0] != words[WORDS - 1];
    }
    writes = false;
    pthread_join(thread, NULL);
    assert_true(moving > 0);
    ringside_trace_object_close(object);
    end_child(&child);
}

// Simulates a system whose pread reads the last word first, while that writer continues. POSIX does
// not specify the order in which pread reads.
static bool reads_backwards;
static uint32_t simulated[WORDS], writer_count, writer_left, seed;

ssize_t __real_pread(int file, void *to, size_t bytes, off_t at);
ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at);

static void write_on(void)
{
    seed = seed * 1103515245 + 12345;
    for (unsigned n = seed >> 16 & 7; n > 0; n--) {
        if (!writer_left) {
            writer_left = WORDS;
            writer_count++;
        }
        simulated[--writer_left] = word_of(writer_count);
    }
}

ssize_t __wrap_pread(int file, void *to, size_t bytes, off_t at)
{
    uint32_t *words = to;
    if (!reads_backwards || at < AT || at + (off_t)bytes > AT + (off_t)sizeof simulated)
        return __real_pread(file, to, bytes, at);
    for (size_t k = bytes / 4; k-- > 0; write_on())
        words[k] = simulated[((size_t)at - AT) / 4 + k];
    return (ssize_t)bytes;
}

static void test_order_is_made(void **state)
{
    struct ringside_trace_object *object;
    uint32_t words[WORDS];
    (void)state;
    struct child child = begin_child(0);
    assert_int_equal(ringside_trace_object_open(child.pid, true, &object), 0);
    reads_backwards = true;
    for (unsigned n = 0; n < 500; n++) {
        assert_int_equal(ringside_trace_object_read(object, AT, words, sizeof words), sizeof words);
        assert_ordered(words);
    }
    reads_backwards = false;
    assert_true(writer_count > 100);
    ringside_trace_object_close(object);
    end_child(&child);
}

// ---- who owns the memory ----

static void test_mode(void **state)
{
    static const mode_t modes[] = {0640, 0604, 0620, 0602, 0666, 0700, 0600};
    struct ringside_trace_object *object;
    (void)state;
    struct child child = begin_child(0);
    assert_int_equal(ringside_trace_object_open(child.pid, true, &object), 0);
    ringside_trace_object_close(object);
    int file = open_object(child.pid);
    for (unsigned k = 0; k < sizeof modes / sizeof *modes; k++) {
        int expected = modes[k] & 077 ? EACCES : 0;
        assert_int_equal(fchmod(file, modes[k]), 0);
        for (unsigned create = 0; create < 2; create++) {
            assert_int_equal(ringside_trace_object_open(child.pid, create, &object), expected);
            if (!expected)
                ringside_trace_object_close(object);
        }
    }
    close(file);
    end_child(&child);
}

// Root may trace a process of any user, in memory that this user owns. No other user may.
static void test_root(void **state)
{
    enum { USER = 65534, ANOTHER = 65533 };
    struct stat status;
    int ended;
    (void)state;
    if (geteuid())
        skip();
    struct child child = begin_child(USER);
    struct traced t = bind_stream(child.pid, POSIX_TRACE_LOOP, 4096, false);
    int file = open_object(child.pid);
    assert_int_equal(fstat(file, &status), 0);
    assert_int_equal(status.st_uid, USER);
    assert_int_equal(status.st_mode & 07777, 0600);
    let_go(&t);
    pid_t another = fork();
    if (!another) {
        struct ringside_trace_object *object;
        _exit(setuid(ANOTHER) || ringside_trace_object_open(child.pid, false, &object) != EPERM ||
              ringside_trace_object_open(child.pid, true, &object) != EPERM);
    }
    assert_int_equal(waitpid(another, &ended, 0), another);
    assert_int_equal(ended, 0);
    assert_int_equal(fchown(file, ANOTHER, (gid_t)-1), 0); // another user than the process'
    assert_int_equal(ringside_trace_object_open(child.pid, true, &t.object), EPERM);
    close(file);
    end_child(&child);
}

// A process uses the memory that root made before the process searched for it.
static void test_root_first(void **state)
{
    int go[2], done[2];
    (void)state;
    if (geteuid())
        skip();
    assert_int_equal(pipe(go), 0);
    assert_int_equal(pipe(done), 0);
    pid_t child = fork();
    if (!child) {
        alarm(60);
        if (setuid(65534))
            _exit(1);
        if (write(done[1], "x", 1) != 1)
            _exit(1);
        await_byte(go[0]);
        posix_trace_event(40, NULL, 0);
        _exit(0);
    }
    await_byte(done[0]);
    struct traced t = bind_stream(child, POSIX_TRACE_LOOP, 4096, false);
    assert_int_equal(write(go[1], "x", 1), 1);
    wait_for(child, 0);
    assert_int_equal(count_of(&t, 40, (uint32_t)child), 1);
    let_go(&t);
    unlink_object(child);
    close(go[0]), close(go[1]), close(done[0]), close(done[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cut_short),
        cmocka_unit_test(test_cut_meanwhile),
        cmocka_unit_test(test_signals_blocked),
        cmocka_unit_test(test_other_faults),
        cmocka_unit_test(test_looking_allocates_nothing),
        cmocka_unit_test(test_edges),
        cmocka_unit_test(test_order),
        cmocka_unit_test(test_order_is_made),
        cmocka_unit_test(test_mode),
        cmocka_unit_test(test_root),
        cmocka_unit_test(test_root_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
