// SPDX-License-Identifier: MIT
// Tests of crash/stops.c: programs that stop themselves. The instructions were encoded by hand from
// the manuals of the machines, and are constants of this executable, whose symbols are read. It has
// the variables of a FreeRTOS by name.
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { PC_OFFSET = 4, HARD_FAULT = 3, TASK = 0x1000 };
static const uint64_t icsr = 0xE000ED04;

// FreeRTOS's variables.
void *pxReadyTasksLists[1];
void *pxCurrentTCB;

// A word before the instruction, and two halves of it, the first one in memory first.
#define CODE(name, first, second)                                                                  \
    const uint16_t name[] __attribute__((used, aligned(4))) = {0, 0, first, second}
CODE(thumb_loop, 0xE7FE, 0xBF00);
CODE(thumb_wide_loop, 0xF7FF, 0xBFFE);
CODE(thumb_branch, 0xE7FD, 0xBF00);
CODE(thumb_breakpoint, 0xBE42, 0xBF00);
CODE(arm_loop, 0xFFFE, 0xEAFF);
CODE(riscv_short_loop, 0xA001, 0x0001);
CODE(riscv_loop, 0x006F, 0x0000);
CODE(riscv_jump, 0x006F, 0x0040);
CODE(aarch64_loop, 0x0000, 0x1400);

// A core with a thread that runs.
struct board {
    struct extract_kernel_thread thread;
    struct extract_kernel kernel;
    struct extract_remains remains;
    struct extract_crash crash;
    struct crash_build build;
};

static void board_open(struct board *board, const struct register_machine *machine,
                       const char *code)
{
    struct extract_symbol symbol;

    memset(board, 0, sizeof *board);
    assert_non_null(machine);
    board->thread = (struct extract_kernel_thread){
        .address = TASK, .name = "worker", .has_core = true, .object = SIZE_MAX};
    board->kernel = (struct extract_kernel){.threads = &board->thread, .thread_count = 1};
    board->remains = (struct extract_remains){.kernel = &board->kernel};
    board->build = (struct crash_build){
        .crash = &board->crash, .remains = &board->remains, .machine = machine};
    assert_int_equal(extract_memory_new_images(&board->remains.memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_symbols_open(&board->remains.symbols, "/proc/self/exe", NULL),
                     EXTRACT_OK);
    assert_true(extract_symbols_by_name(board->remains.symbols, code, &symbol));
    register_set(&board->crash.registers, machine->pc, symbol.address + PC_OFFSET);
    board->crash.place = (struct extract_crash_place){
        .is_known = true, .certainty = EXTRACT_CRASH_LIKELY, .pc = symbol.address + PC_OFFSET};
}

static void board_put(struct board *board, uint64_t address, uint64_t value, size_t bytes)
{
    uint8_t word[8];

    for (size_t i = 0; i < bytes; i++)
        word[i] = (uint8_t)(value >> 8 * i);
    assert_int_equal(
        extract_memory_add_bytes(board->remains.memory, "word", word, bytes, address, NULL),
        EXTRACT_OK);
}

static void board_close(struct board *board)
{
    free(board->crash.findings);
    extract_symbols_close(board->remains.symbols);
    extract_memory_close(board->remains.memory);
}

// configASSERT of FreeRTOS locks interrupts, and loops. A loop with interrupts is none of it.
static void a_loop_with_interrupts_locked_is_a_check(void **state)
{
    enum { PENDING = 1 << 26, OTHER = 1 << 28, NOT_READ = 1 };
    static const struct {
        uint16_t machine;
        unsigned word_bytes;
        bool is_m_profile;
        const char *code;
        uint64_t status; // xpsr, cpsr, pstate or mstatus
        uint32_t icsr;
        bool is_check;
    } cases[] = {
        {EM_ARM, 4, true, "thumb_loop", 0x01000000, PENDING, true},
        {EM_ARM, 4, true, "thumb_wide_loop", 0x01000000, PENDING, true},
        {EM_ARM, 4, true, "thumb_branch", 0x01000000, PENDING, false},
        {EM_ARM, 4, true, "thumb_loop", 0x01000000, OTHER, false},
        {EM_ARM, 4, true, "thumb_loop", 0x01000000, NOT_READ, false},
        {EM_ARM, 4, false, "arm_loop", 0x9F, NOT_READ, true},
        {EM_ARM, 4, false, "arm_loop", 0x1F, NOT_READ, false},
        {EM_RISCV, 4, false, "riscv_short_loop", 0x1880, NOT_READ, true},
        {EM_RISCV, 8, false, "riscv_loop", 0x1880, NOT_READ, true},
        {EM_RISCV, 8, false, "riscv_loop", 0x1888, NOT_READ, false},
        {EM_RISCV, 8, false, "riscv_jump", 0x1880, NOT_READ, false},
        {EM_AARCH64, 8, false, "aarch64_loop", 0x3C5, NOT_READ, true},
        {EM_AARCH64, 8, false, "aarch64_loop", 0x5, NOT_READ, false},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint16_t machine = cases[i].machine;
        struct board board;
        board_open(&board,
                   register_machine_find(machine, cases[i].word_bytes, cases[i].is_m_profile),
                   cases[i].code);
        register_set(&board.crash.registers,
                     machine == EM_ARM       ? ARM_PSR
                     : machine == EM_AARCH64 ? AARCH64_PSTATE
                                             : FAULT_MSTATUS,
                     cases[i].status);
        if (cases[i].icsr != NOT_READ)
            board_put(&board, icsr, cases[i].icsr, 4);
        crash_read_stop(&board.build);
        assert_int_equal(board.crash.finding_count, cases[i].is_check);
        if (cases[i].is_check) {
            assert_string_equal(board.crash.findings[0].kind, "assert");
            assert_int_equal(board.crash.findings[0].certainty, EXTRACT_CRASH_LIKELY);
            // Start-up code may wait in such a loop, and handlers of faults do.
            board.thread.has_core = false;
            crash_read_stop(&board.build);
            assert_int_equal(board.crash.finding_count, 1);
            board.thread.has_core = true;
            crash_find(&board.build, "bus fault", "registers", EXTRACT_CRASH_CERTAIN, "a fault");
            crash_read_stop(&board.build);
            assert_int_equal(board.crash.finding_count, 2);
        }
        board_close(&board);
    }
}

// The handler of an interrupt ends at once, unless a check in it has failed, or the interrupt was
// unexpected: then its loop needs no lock.
static void a_handler_does_not_loop(void **state)
{
    enum { SVCALL = 11, INTERRUPT_9 = 25 };
    const struct {
        const char *code;
        uint64_t psr;
        bool is_check;
    } cases[] = {{"thumb_loop", INTERRUPT_9, true},
                 {"thumb_wide_loop", SVCALL, true},
                 {"thumb_branch", INTERRUPT_9, false},
                 {"thumb_loop", 0, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct board board;
        board_open(&board, register_machine_find(EM_ARM, 4, true), cases[i].code);
        register_set(&board.crash.registers, ARM_PSR, cases[i].psr);
        board.thread.has_core = false; // the kernel need not have started
        crash_read_stop(&board.build);
        assert_int_equal(board.crash.finding_count, cases[i].is_check);
        if (cases[i].is_check) {
            assert_string_equal(board.crash.findings[0].kind, "assert");
            assert_int_equal(board.crash.findings[0].certainty, EXTRACT_CRASH_LIKELY);
        }
        board_close(&board);
    }
}

// Some cores show a breakpoint without a debugger as an exception that is not enabled.
static void a_breakpoint_may_become_a_hard_fault(void **state)
{
    const uint64_t forced = 1 << 30, own = UINT64_C(1) << 31;
    const struct {
        const char *code;
        uint64_t hfsr, cfsr;
        bool is_trap;
    } cases[] = {{"thumb_breakpoint", forced, 0, true},
                 {"thumb_branch", forced, 0, false},
                 {"thumb_breakpoint", own, 0, false}, // faults.c reports it
                 {"thumb_breakpoint", forced, 0x8200, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct board board;
        board_open(&board, register_machine_find(EM_ARM, 4, true), cases[i].code);
        register_set(&board.crash.registers, ARM_PSR, HARD_FAULT);
        register_set(&board.crash.registers, FAULT_HFSR, cases[i].hfsr);
        register_set(&board.crash.registers, FAULT_CFSR, cases[i].cfsr);
        crash_read_stop(&board.build);
        assert_int_equal(board.crash.finding_count, cases[i].is_trap);
        if (cases[i].is_trap) {
            assert_string_equal(board.crash.findings[0].kind, "trap");
            assert_int_equal(board.crash.findings[0].certainty, EXTRACT_CRASH_LIKELY);
        }
        board_close(&board);
    }
}

// FreeRTOS checks the stack of the task that leaves the core, and calls the hook: that is certain,
// whatever else is damaged.
static void the_hook_names_the_task(void **state)
{
    static const char *const innermost[] = {"vApplicationStackOverflowHook", "print",
                                            "vTaskSwitchContext"};
    (void)state;

    for (size_t i = 0; i < sizeof innermost / sizeof *innermost; i++) {
        struct board board;
        struct extract_symbol current;
        board_open(&board, register_machine_find(EM_ARM, 4, true), "thumb_loop");
        assert_true(extract_symbols_by_name(board.remains.symbols, "pxCurrentTCB", &current));
        board_put(&board, current.address, TASK, sizeof(void *));
        board.crash.frames[0].function = innermost[i];
        board.crash.frames[1].function = i == 1 ? innermost[0] : "PendSV_Handler";
        board.crash.frame_count = 2;
        crash_read_stop(&board.build);
        assert_int_equal(board.crash.finding_count, i < 2);
        if (i < 2) {
            assert_string_equal(board.crash.findings[0].kind, "stack overflow");
            assert_int_equal(board.crash.findings[0].certainty, EXTRACT_CRASH_CERTAIN);
            assert_non_null(strstr(board.crash.findings[0].text, "the stack of \"worker\""));
            assert_ptr_equal(board.build.overflow, &board.thread);
        }
        board_close(&board);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_loop_with_interrupts_locked_is_a_check),
                                       cmocka_unit_test(a_handler_does_not_loop),
                                       cmocka_unit_test(a_breakpoint_may_become_a_hard_fault),
                                       cmocka_unit_test(the_hook_names_the_task)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
