// SPDX-License-Identifier: MIT
// Tests of crash/fault_status.c: the fault status of Arm's M-profile in memory, and what a secure
// handler shows of non-secure code. The words are made by hand from the manual of Armv8-M, D1.2.
#include "crash/crash_room.h"
#include "kernel/kernel_room.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

enum { HARD_FAULT = 3, SECURE_FAULT = 7 };
static const uint64_t forced = 1 << 30;
static const uint32_t cortex_m33 = 0x410FD213;
static const uint64_t cpuid_at = 0xE000ED00, status_at = 0xE000ED28, nonsecure_at = 0xE002ED28,
                      secure_at = 0xE000EDE4;

static void put_words(struct extract_memory *memory, uint64_t address, const uint32_t *words,
                      size_t count)
{
    uint8_t bytes[16];

    for (size_t i = 0; i < count * 4; i++)
        bytes[i] = (uint8_t)(words[i / 4] >> 8 * (i % 4));
    assert_int_equal(extract_memory_add_bytes(memory, "words", bytes, count * 4, address, NULL),
                     EXTRACT_OK);
}

static void nonsecure_code_has_a_status_of_its_own(void **state)
{
    static const struct {
        uint64_t exception, lr;
        uint32_t secure[2];    // SFSR, SFAR
        uint32_t nonsecure[4]; // CFSR, HFSR, DFSR, MMFAR
        bool has_nonsecure;
        const char *kind, *text;
    } cases[] = {
        // AUVIOL with its address, in a handler of any kind.
        {HARD_FAULT,
         0xFFFFFFA9,
         {0x48, 0xCCCCCCCC},
         {0},
         false,
         "memory fault",
         "non-secure code accessed secure memory: address 0xcccccccc"},
        {SECURE_FAULT, 0xFFFFFFBD, {0x01, 0}, {0}, false, "usage fault", "an invalid entry"},
        // DIVBYZERO and DACCVIOL of non-secure code, whose own exceptions are disabled.
        {HARD_FAULT,
         0xFFFFFFB9,
         {0, 0},
         {1 << 25, 0, 0, 0},
         true,
         "usage fault",
         "divided by zero"},
        {HARD_FAULT,
         0xFFFFFFB9,
         {0, 0},
         {0x82, 0, 0, 0x30},
         true,
         "memory fault",
         "address 0x00000030"},
        // Of secure code, the other bank is an old one.
        {HARD_FAULT,
         0xFFFFFFFD,
         {0, 0},
         {1 << 25, 0, 0, 0},
         true,
         "hard fault",
         "an exception was disabled or masked, such as"},
        // Without that bank, what is missing is named.
        {HARD_FAULT,
         0xFFFFFFB9,
         {0, 0},
         {0},
         false,
         "hard fault",
         "the status of non-secure code at 0xE002ED28"},
    };
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const uint32_t own[] = {0, (uint32_t)forced, 0, 0};
        struct extract_registers core = {.known = 0};
        struct extract_crash crash = {.kind = NULL};
        struct extract_remains remains = {.cores = &core, .core_count = 1};
        struct crash_build build = {.crash = &crash,
                                    .remains = &remains,
                                    .machine = register_machine_find(EM_ARM, 4, true)};
        assert_int_equal(extract_memory_new_images(&remains.memory, NULL), EXTRACT_OK);
        put_words(remains.memory, cpuid_at, &cortex_m33, 1);
        put_words(remains.memory, status_at, own, 4);
        put_words(remains.memory, secure_at, cases[i].secure, 2);
        if (cases[i].has_nonsecure)
            put_words(remains.memory, nonsecure_at, cases[i].nonsecure, 4);
        register_set(&core, ARM_PSR, cases[i].exception);
        register_set(&core, ARM_LR, cases[i].lr);
        crash_read_faults(&build);
        assert_int_equal(crash.finding_count, 1);
        assert_string_equal(crash.findings[0].kind, cases[i].kind);
        if (!strstr(crash.findings[0].text, cases[i].text))
            fail_msg("\"%s\" does not contain \"%s\"", crash.findings[0].text, cases[i].text);
        free(crash.findings);
        extract_memory_close(remains.memory);
    }
}

// Which security state was interrupted, by bits 6 (S) and 0 (ES) of EXC_RETURN.
static void a_return_value_shows_the_state(void **state)
{
    static const struct {
        uint64_t lr;
        bool is_nonsecure;
    } cases[] = {{0xFFFFFFB9, true},  {0xFFFFFFA9, true},  {0xFFFFFFBC, false},
                 {0xFFFFFFFD, false}, {0xFFFFFFF9, false}, {0xFFFFFFE9, false},
                 {0x08000101, false}, {0xFFFFFFFF, false}};
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        assert_int_equal(kernel_is_from_nonsecure(cases[i].lr), cases[i].is_nonsecure);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(nonsecure_code_has_a_status_of_its_own),
                                       cmocka_unit_test(a_return_value_shows_the_state)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
