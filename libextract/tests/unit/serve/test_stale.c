// SPDX-License-Identifier: MIT
// Tests of serve/stale.c: when the threads of a live target are those of before a load or a reset.
// The kernel is one in this process, with one thread. The truth is what was done to it.
#define _GNU_SOURCE // process_vm_readv
#include "serve/stale.h"
#include "tests/unit/kernel/host.h"

typedef struct TX_THREAD_STRUCT TX_THREAD;
struct TX_THREAD_STRUCT {
    unsigned tx_thread_id, tx_thread_state;
    TX_THREAD *tx_thread_created_next;
    unsigned char *tx_thread_stack_start, *tx_thread_stack_end, *tx_thread_stack_ptr;
    unsigned tx_thread_stack_size;
};
TX_THREAD *volatile _tx_thread_created_ptr, *volatile _tx_thread_current_ptr;
volatile unsigned _tx_thread_created_count;

enum { THREAD_ID = 0x54485244, STACK = 512 };

static unsigned char stack[STACK], boot_stack[STACK];
static TX_THREAD thread = {.tx_thread_id = THREAD_ID,
                           .tx_thread_created_next = &thread,
                           .tx_thread_stack_start = stack,
                           .tx_thread_stack_end = stack + STACK - 1,
                           .tx_thread_stack_ptr = stack + STACK / 2,
                           .tx_thread_stack_size = STACK};

static int start_kernel(void **state)
{
    (void)state;
    thread.tx_thread_state = 0;
    _tx_thread_created_ptr = _tx_thread_current_ptr = &thread;
    _tx_thread_created_count = 1;
    return 0;
}

static struct extract_registers core_on(const unsigned char *sp)
{
    struct extract_registers registers = {.known = UINT64_C(1) << X86_SP};

    registers.value[X86_SP] = (uintptr_t)sp;
    return registers;
}

static bool is_stale(struct stale *stale, struct host *host, const unsigned char *sp)
{
    const struct extract_registers registers = core_on(sp);

    return stale_check(stale, host->memory, host->symbols, 0, &registers);
}

// The control blocks of before are stale until start-up code has changed them.
static void test_change(void **state)
{
    struct stale stale = {.is_stale = false};
    struct host host;

    (void)state;
    host_open(&host);
    assert_false(is_stale(&stale, &host, boot_stack));
    stale_begin(&stale, host.memory, host.symbols);
    assert_true(is_stale(&stale, &host, boot_stack));
    assert_true(is_stale(&stale, &host, stack)); // registers are those of before, too
    thread.tx_thread_state = 4;
    assert_false(is_stale(&stale, &host, boot_stack));
    thread.tx_thread_state = 0;
    assert_false(is_stale(&stale, &host, boot_stack));
    host_close(&host);
}

// A program that was started again has come to the same state.
static void test_same_state(void **state)
{
    struct stale stale = {.is_stale = false};
    struct host host;

    (void)state;
    host_open(&host);
    stale_begin(&stale, host.memory, host.symbols);
    stale_continue(&stale);
    assert_true(is_stale(&stale, &host, boot_stack + STACK / 2)); // in start-up code
    assert_true(stale_check(&stale, host.memory, host.symbols, 0, NULL));
    assert_true(is_stale(&stale, &host, boot_stack + STACK / 2));
    assert_false(is_stale(&stale, &host, stack + STACK / 2));
    assert_false(is_stale(&stale, &host, boot_stack));
    stale_begin(&stale, host.memory, host.symbols); // another reset
    assert_true(is_stale(&stale, &host, stack + STACK / 2));
    host_close(&host);
}

// The commands are those of the documentation of QEMU and OpenOCD, in hexadecimal.
static void test_commands(void **state)
{
    static const struct {
        const char *packet;
        bool is_reset;
    } commands[] = {
        {"qRcmd,7265736574", true},                            // reset
        {"qRcmd,72657365742068616C74", true},                  // reset halt
        {"qRcmd,726573657420696e6974", true},                  // reset init
        {"qRcmd,73797374656d5f7265736574", true},              // system_reset
        {"qRcmd,736f66745f72657365745f68616c74", true},        // soft_reset_halt
        {"qRcmd,72657365745f636f6e66696720737273745f6f6e6c79", // reset_config srst_only
         false},
        {"qRcmd,68616c74", false},             // halt
        {"qRcmd,6563686f207265736574", false}, // echo reset
        {"qRcmd,", false},
        {"qRcmd", false},
    };

    (void)state;
    for (size_t i = 0; i < sizeof commands / sizeof *commands; i++)
        assert_int_equal(stale_is_reset(commands[i].packet), commands[i].is_reset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test_setup(test_change, start_kernel),
                                       cmocka_unit_test_setup(test_same_state, start_kernel),
                                       cmocka_unit_test(test_commands)};

    return cmocka_run_group_tests(tests, NULL, NULL);
}
