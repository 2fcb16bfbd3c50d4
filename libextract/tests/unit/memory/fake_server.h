// SPDX-License-Identifier: MIT
// tests: servers to which live memories connect. A server runs in a process of its own, and listens
// on a UNIX socket. The test sets how the server behaves, and then reads what it was asked.
#ifndef TESTS_FAKE_SERVER_H
#define TESTS_FAKE_SERVER_H

#include "tests/unit/scratch.h"
#include <extract/memory.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

enum { FAKE_START = 0x1000, FAKE_SIZE = 200001 }; // odd: the last word is incomplete

// Memory that is shared with the server's process.
struct fake {
    // How the server behaves.
    void (*serve)(struct fake *fake, int fd); // serves one connection to its end
    const char *trick;                        // what the server does wrong; "": nothing
    int turns;                                // reads that get the wrong answer; -1: all
    bool big, old, halted, mem_ap, no_ack, binary, quiet, by_itself;
    const char *map;
    const char *type;   // of OpenOCD's target
    const char *server; // "QEMU", "OpenOCD", "gdbserver" or "": which one this is
    unsigned packet_size;
    // What the server has seen.
    int connections, reads, writes, longest, interrupts, resumes, detaches, monitors, naks;
    bool runs;
    uint8_t bytes[FAKE_SIZE];
    char seen[256]; // the last request
};

static inline struct fake *fake_new(void (*serve)(struct fake *, int))
{
    struct fake *fake =
        mmap(NULL, sizeof *fake, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_true(fake != MAP_FAILED);
    fake->serve = serve;
    fake->trick = "";
    fake->type = "cortex_m";
    fake->server = "";
    fake->turns = -1;
    for (size_t i = 0; i < FAKE_SIZE; i++)
        fake->bytes[i] = (uint8_t)(i * 7 + i / 251);
    memset(fake->bytes + 5000, 0xaa, 300); // a run, and all bytes that need escapes
    memcpy(fake->bytes + 6000, "$#}*\x1a\x03", 6);
    return fake;
}

static pid_t fake_pid;
static char fake_place[64];

static inline void fake_start(struct fake *fake)
{
    static int number;
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    snprintf(fake_place, sizeof fake_place, "%s/%d", scratch_folder, number++);
    strcpy(to.sun_path, fake_place);
    int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(listener, (const struct sockaddr *)&to, sizeof to), 0);
    assert_int_equal(listen(listener, 16), 0);
    fake_pid = fork();
    if (fake_pid) {
        close(listener);
        return;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL); // a test that fails leaves no server running
    signal(SIGPIPE, SIG_IGN);
    signal(SIGSEGV, SIG_DFL); // the test's own handler must not run here
    for (;;) {
        int fd = accept(listener, NULL, NULL);
        if (fd < 0)
            _exit(1);
        fake->connections++;
        fake->serve(fake, fd);
        close(fd);
    }
}

static inline void fake_stop(struct fake *fake)
{
    kill(fake_pid, SIGKILL);
    waitpid(fake_pid, NULL, 0);
    unlink(fake_place);
    munmap(fake, sizeof *fake);
}

// Starts the server and connects to it, with extract_memory_open_openocd or a similar function.
static inline struct extract_memory *
fake_open(struct fake *fake, unsigned timeout_ms,
          enum extract_code (*open)(struct extract_memory **, const char *,
                                    const struct extract_live_options *, struct extract_error *))
{
    struct extract_live_options options = {.size = sizeof options, .timeout_ms = timeout_ms};
    struct extract_memory *memory = NULL;
    struct extract_error error = {0};
    fake_start(fake);
    if (open(&memory, fake_place, &options, &error))
        fail_msg("%s: %s", error.what, error.why);
    return memory;
}

static inline void fake_close(struct fake *fake, struct extract_memory *memory)
{
    extract_memory_close(memory);
    fake_stop(fake);
}

// Returns whether the server must play this trick now.
static inline bool fake_plays(struct fake *fake, const char *trick)
{
    if (strcmp(fake->trick, trick) != 0 || !fake->turns)
        return false;
    fake->turns -= fake->turns > 0;
    return true;
}

static inline bool fake_holds(uint64_t address, uint64_t length)
{
    return address >= FAKE_START && length <= FAKE_SIZE &&
           address - FAKE_START <= FAKE_SIZE - length;
}

static inline void fake_put(int fd, const void *bytes, size_t length)
{
    for (const char *at = bytes; length;) {
        ssize_t n = write(fd, at, length);
        if (n <= 0)
            return;
        at += n;
        length -= (size_t)n;
    }
}

static inline void fake_puts(int fd, const char *text)
{
    fake_put(fd, text, strlen(text));
}

// Sends text without end, until the other side closes the connection.
static inline void fake_flood(int fd, const char *text)
{
    static char many[64 * 1024];
    size_t length = strlen(text), used = 0;
    for (; used + length <= sizeof many; used += length)
        memcpy(many + used, text, length);
    while (write(fd, many, used) > 0)
        ;
}

// Asserts that a read returns exactly the server's bytes.
static inline void assert_fake_bytes(const struct fake *fake, struct extract_memory *memory,
                                     uint64_t address, size_t length)
{
    assert_bytes(memory, address, fake->bytes + (address - FAKE_START), length);
}

// Asserts that a read fails and returns no byte.
static inline void assert_fails(struct extract_memory *memory, uint64_t address, size_t length,
                                const char *why)
{
    struct extract_error error = {0};
    uint8_t *buffer = malloc(length);
    size_t got = 99;
    assert_int_equal(extract_memory_read(memory, address, buffer, length, &got, &error),
                     EXTRACT_UNREADABLE);
    free(buffer);
    assert_int_equal(got, 0);
    assert_string_equal(error.what, fake_place);
    if (!strstr(error.why, why))
        fail_msg("\"%s\" is not about \"%s\"", error.why, why);
}

#endif
