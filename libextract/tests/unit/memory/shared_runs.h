// SPDX-License-Identifier: MIT
// Tests that hold for every client of a live memory, whatever protocol it speaks. A test program
// describes its client in a struct fake_client, and passes it to each test as the initial state.
#ifndef TESTS_SHARED_RUNS_H
#define TESTS_SHARED_RUNS_H

#include "tests/unit/memory/fake_server.h"
#include <sys/time.h>

// A wrong answer of the server, and a fragment of the message that the client reports.
struct fake_trick {
    const char *trick, *why;
    bool is_late; // the client reports it only after its time limit
};

struct fake_client {
    void (*serve)(struct fake *fake, int fd);
    enum extract_code (*open)(struct extract_memory **memory, const char *place,
                              const struct extract_live_options *options,
                              struct extract_error *error);
    const struct fake_trick *tricks;
    size_t trick_count;
    size_t read_bytes; // length of the reads that are answered wrong
    const char *map;   // memory map that the server offers while allocations fail
};

static inline struct fake *fake_new_trick(const struct fake_client *client, const char *trick)
{
    struct fake *fake = fake_new(client->serve);
    fake->trick = trick;
    fake->no_ack = true;
    return fake;
}

static void no_wrong_answer_is_taken(void **state)
{
    const struct fake_client *client = *state;
    for (size_t i = 0; i < client->trick_count; i++) {
        const struct fake_trick *trick = &client->tricks[i];
        struct fake *fake = fake_new_trick(client, trick->trick);
        struct extract_memory *memory = fake_open(fake, trick->is_late ? 300 : 5000, client->open);
        assert_fails(memory, FAKE_START, client->read_bytes, trick->why);
        assert_true(fake->connections <= 4);
        fake_close(fake, memory);
    }
}

static void one_wrong_answer_is_made_good(void **state)
{
    const struct fake_client *client = *state;
    for (size_t i = 0; i < client->trick_count; i++) {
        if (client->tricks[i].is_late)
            continue;
        struct fake *fake = fake_new_trick(client, client->tricks[i].trick);
        fake->turns = 1;
        struct extract_memory *memory = fake_open(fake, 5000, client->open);
        assert_fake_bytes(fake, memory, FAKE_START, client->read_bytes);
        assert_int_equal(fake->connections, 2);
        fake_close(fake, memory);
    }
}

static volatile sig_atomic_t cancelled;

static void cancel(int number)
{
    cancelled = number;
}

// Opens a memory that `cancelled` interrupts, and whose time limit is out of reach.
static inline struct extract_memory *fake_open_cancellable(const struct fake_client *client)
{
    struct extract_live_options options = {
        .size = sizeof options, .timeout_ms = 600000, .cancel = &cancelled};
    struct extract_memory *memory;
    assert_int_equal(client->open(&memory, fake_place, &options, NULL), EXTRACT_OK);
    signal(SIGALRM, cancel);
    return memory;
}

static void a_signal_ends_the_wait(void **state)
{
    const struct itimerval soon = {.it_value = {.tv_usec = 200000}};
    const struct fake_client *client = *state;
    struct fake *fake = fake_new(client->serve);
    fake->trick = "silence";
    fake_start(fake);
    struct extract_memory *memory = fake_open_cancellable(client);
    assert_int_equal(setitimer(ITIMER_REAL, &soon, NULL), 0);
    assert_fails(memory, FAKE_START, 4, "interrupted");
    cancelled = 0;
    fake_close(fake, memory);
}

static const struct fake_client *allocating_client;

static enum extract_code open_and_read(void)
{
    struct extract_memory *memory;
    struct extract_error error = {0};
    uint8_t bytes[16];
    size_t got;
    enum extract_code code = allocating_client->open(&memory, fake_place, NULL, &error);
    assert_int_equal(code, error.code);
    if (!code)
        code = extract_memory_read(memory, FAKE_START, bytes, sizeof bytes, &got, NULL);
    extract_memory_close(memory);
    return code;
}

static void memory_may_run_out(void **state)
{
    allocating_client = *state;
    struct fake *fake = fake_new(allocating_client->serve);
    fake->map = allocating_client->map;
    fake_start(fake);
    each_allocation_fails(open_and_read);
    fake_stop(fake);
}

// The tests of this file, as entries of a program's list.
#define SHARED_RUNS(client)                                                                        \
    cmocka_unit_test_prestate(no_wrong_answer_is_taken, (void *)(client)),                         \
        cmocka_unit_test_prestate(one_wrong_answer_is_made_good, (void *)(client)),                \
        cmocka_unit_test_prestate(a_signal_ends_the_wait, (void *)(client)),                       \
        cmocka_unit_test_prestate(memory_may_run_out, (void *)(client))

#endif
