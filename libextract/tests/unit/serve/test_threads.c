// SPDX-License-Identifier: MIT
// Tests of kernel/debug_threads.c: what GDB gets of a thread that a trap has interrupted.
#include "serve/saved_fpu.h"
#include "serve/seen.h"
#include "serve/words.h"
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
        struct debug_threads threads;
        struct extract_text text;
        if (is_found)
            register_set(&thread.registers, RISCV_PC, 0x400);
        assert_true(debug_threads_build(&threads, &kernel, machine, &core, 1));
        assert_int_equal(threads.count, 2);
        assert_false(threads.list[1].on_core);
        extract_text_init(&text, NULL, NULL);
        serve_put_state(&text, &threads, &threads.list[1]);
        extract_text_putc(&text, 0);
        assert_string_equal(text.data,
                            is_found ? "running, interrupted" : "running, registers unknown");
        extract_text_free(&text);
        debug_threads_free(&threads);
    }
}

// A stack whose end is not known ends at the next one for who asks which thread has the core.
static void end_of_seen_stack(void **state)
{
    const struct extract_kernel_thread list[] = {
        {.address = 0x10, .stack_start = 0x1000},
        {.address = 0x20, .stack_start = 0x1800, .stack_end = 0x1C00}};
    const struct extract_kernel kernel = {.threads = (struct extract_kernel_thread *)list,
                                          .thread_count = 2};
    static struct seen seen;
    (void)state;

    for (size_t i = 0; i < 2; i++)
        assert_int_equal(seen_add(&seen, &kernel, &list[i]), i);
    assert_int_equal(seen_add(&seen, &kernel, &list[0]), 0);
    assert_int_equal(seen_stack(&seen, 0x10, true).stack_end, 0x1800);
    assert_int_equal(seen_stack(&seen, 0x10, false).stack_end, 0);
    assert_int_equal(seen_stack(&seen, 0x20, true).stack_end, 0x1C00);
    assert_int_equal(seen_stack(&seen, 0x20, false).stack_end, 0x1C00);
    assert_int_equal(seen_stack(&seen, 0x30, true).stack_start, 0);
}

// GDB gets the registers of the FPU of a thread from its frame, unless the thread has the core.
static void fpu_of_frame(void **state)
{
    static const uint8_t frame[] = {1, 2, 3, 4, 5, 6, 7, 8, 0x10, 0, 0, 0};
    const struct register_machine *machine = register_machine_find(EM_ARM, 4, true);
    struct extract_kernel_thread threads_of_kernel[] = {
        {.name = "motor", .state = EXTRACT_KERNEL_RUNNING, .has_core = true},
        {.name = "pump", .fpu = {{0x1000, 8, 1, 8, 8}, {0x1008, EXTRACT_FPU_CONTROL, 1, 4, 4}}}};
    const struct extract_kernel kernel = {.threads = threads_of_kernel, .thread_count = 2};
    struct extract_registers core = {.known = 0};
    struct extract_memory *memory;
    struct debug_threads threads;
    struct extract_text text;
    (void)state;

    register_set(&core, ARM_SP, 0x8000);
    threads_of_kernel[0].fpu[0] = threads_of_kernel[1].fpu[0]; // of a time before
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(memory, "frame", frame, sizeof frame, 0x1000, NULL),
                     EXTRACT_OK);
    assert_true(debug_threads_build(&threads, &kernel, machine, &core, 1));
    assert_int_equal(threads.count, 2);
    extract_text_init(&text, NULL, NULL);
    saved_fpu_put(&text, &threads.list[0], memory, 8, 8, EXTRACT_LITTLE);
    extract_text_putc(&text, ' ');
    saved_fpu_put(&text, &threads.list[1], memory, 8, 8, EXTRACT_LITTLE);
    extract_text_putc(&text, ' ');
    saved_fpu_put(&text, &threads.list[1], memory, 0, 8,
                  EXTRACT_LITTLE); // the frame does not hold it
    extract_text_putc(&text, ' ');
    saved_fpu_put(&text, &threads.list[1], memory, EXTRACT_FPU_CONTROL, 4, EXTRACT_LITTLE);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data, "xxxxxxxxxxxxxxxx 0102030405060708 xxxxxxxxxxxxxxxx 10000000");
    // The registers of a core are those of the thread that has it.
    threads.list[0].registers.fpu_bytes = 8;
    threads.list[0].registers.fpu_known = UINT64_C(1) << 8;
    threads.list[0].registers.fpu[8][0] = 0x3FF8000000000000;
    text.used = 0;
    saved_fpu_put(&text, &threads.list[0], memory, 8, 8, EXTRACT_LITTLE);
    saved_fpu_put(&text, &threads.list[0], memory, 8, 8, EXTRACT_BIG);
    saved_fpu_put(&text, &threads.list[0], memory, 9, 8, EXTRACT_BIG);
    extract_text_putc(&text, 0);
    assert_string_equal(text.data, "000000000000f83f3ff8000000000000xxxxxxxxxxxxxxxx");
    // The description has what GDB needs for the feature, and only if there is something.
    text.used = 0;
    saved_fpu_describe(&text, machine, (struct saved_fpu){.count = 16});
    assert_int_equal(text.used, 0);
    saved_fpu_describe(&text, machine, (struct saved_fpu){8, 16, true});
    extract_text_putc(&text, 0);
    assert_non_null(strstr(text.data, "org.gnu.gdb.arm.vfp"));
    assert_non_null(strstr(text.data, "\"d15\" bitsize=\"64\" regnum=\"48\""));
    assert_non_null(strstr(text.data, "\"fpscr\" bitsize=\"32\" regnum=\"49\""));
    assert_null(strstr(text.data, "\"d16\""));
    extract_text_free(&text);
    debug_threads_free(&threads);
    extract_memory_close(memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(interrupted_thread),
                                       cmocka_unit_test(end_of_seen_stack),
                                       cmocka_unit_test(fpu_of_frame)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
