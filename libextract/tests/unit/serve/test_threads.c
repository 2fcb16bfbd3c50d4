// SPDX-License-Identifier: MIT
// Tests of serve/threads.c: what GDB gets of a thread that a trap has interrupted.
#include "serve/threads.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

// A trap of RISC-V continues on a stack of the kernel. The thread that it interrupted has the
// registers that the kernel has saved, if they were found.
static void interrupted_thread(void **state)
{
    const struct register_machine *machine = register_machine_find(EM_RISCV, 8, false);
    struct extract_kernel_thread thread = {.name = "motor",
                                           .state = EXTRACT_KERNEL_RUNNING,
                                           .has_core = true,
                                           .object = SIZE_MAX,
                                           .stack_start = 0x1000,
                                           .stack_end = 0x2000};
    const struct extract_kernel kernel = {.threads = &thread, .thread_count = 1};
    struct extract_registers core = {.known = 0};
    (void)state;

    register_set(&core, RISCV_SP, 0x8000);
    for (int is_found = 0; is_found < 2; is_found++) {
        struct serve_threads threads;
        struct extract_text text;
        if (is_found)
            register_set(&thread.registers, RISCV_PC, 0x400);
        assert_true(serve_threads_build(&threads, &kernel, machine, &core, 1));
        assert_int_equal(threads.count, 2);
        assert_false(threads.list[1].on_core);
        extract_text_init(&text, NULL, NULL);
        serve_put_state(&text, &threads, &threads.list[1]);
        extract_text_putc(&text, 0);
        assert_string_equal(text.data,
                            is_found ? "running, interrupted" : "running, registers unknown");
        extract_text_free(&text);
        serve_threads_free(&threads);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interrupted_thread)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
