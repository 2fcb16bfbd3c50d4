// SPDX-License-Identifier: MIT
// Tests of kernel/code_calls.c: instructions that call functions, as the assemblers of binutils
// encode them, and their neighbors, which do not.
#include "kernel/kernel_room.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <cmocka.h>

struct code {
    const char *what;
    size_t length;
    uint8_t bytes[8];
    bool is_call;
};

static void expect(uint16_t elf_machine, unsigned word_bytes, bool is_m_profile,
                   enum extract_byte_order order, const struct code *codes, size_t count)
{
    const struct register_machine *machine =
        register_machine_find(elf_machine, word_bytes, is_m_profile);

    assert_non_null(machine);
    for (size_t i = 0; i < count; i++)
        if (kernel_ends_in_call(machine, codes[i].bytes, codes[i].length, order) !=
            codes[i].is_call)
            fail_msg("%s: %s", machine->name, codes[i].what);
}
#define EXPECT(machine, bytes, is_m, order, codes)                                                 \
    expect(machine, bytes, is_m, order, codes, sizeof(codes) / sizeof *(codes))

static void thumb(void **state)
{
    const struct code codes[] = {{"bl back", 4, {0xFF, 0xF7, 0x77, 0xFF}, true},
                                 {"bl on", 4, {0x00, 0xF0, 0x04, 0xF8}, true},
                                 {"blx to Arm", 4, {0x00, 0xF0, 0x04, 0xE8}, true},
                                 {"blx r3", 2, {0x98, 0x47}, true},
                                 {"blxns r3", 2, {0x9C, 0x47}, true},
                                 {"bx r3", 2, {0x18, 0x47}, false},
                                 {"b.w", 4, {0xFF, 0xF7, 0x77, 0xBF}, false},
                                 {"movs r0, #1", 4, {0x00, 0xBF, 0x01, 0x20}, false},
                                 {"half of bl", 2, {0xFF, 0xF7}, false},
                                 {"nothing", 0, {0}, false},
                                 {"bl of Arm", 4, {0x04, 0x00, 0x00, 0xEB}, false}};
    (void)state;

    EXPECT(EM_ARM, 4, true, EXTRACT_LITTLE, codes);
}

static void arm(void **state)
{
    const struct code codes[] = {
        {"bl", 4, {0xEB, 0x00, 0x00, 0x04}, true},
        {"blne", 4, {0x1B, 0x00, 0x00, 0x04}, true},
        {"blx to Thumb", 4, {0xFA, 0x00, 0x00, 0x04}, true},
        {"blx r3", 4, {0xE1, 0x2F, 0xFF, 0x33}, true},
        {"mov lr, pc; bx r3", 8, {0xE1, 0xA0, 0xE0, 0x0F, 0xE1, 0x2F, 0xFF, 0x13}, true},
        {"bx r3", 4, {0xE1, 0x2F, 0xFF, 0x13}, false},
        {"b", 4, {0xEA, 0x00, 0x00, 0x04}, false}};
    (void)state;

    EXPECT(EM_ARM, 4, false, EXTRACT_BIG, codes);
}

static void aarch64(void **state)
{
    const struct code codes[] = {{"bl", 4, {0x04, 0x00, 0x00, 0x94}, true},
                                 {"blr x3", 4, {0x60, 0x00, 0x3F, 0xD6}, true},
                                 {"blraaz x3", 4, {0x7F, 0x08, 0x3F, 0xD6}, true},
                                 {"br x3", 4, {0x60, 0x00, 0x1F, 0xD6}, false},
                                 {"b", 4, {0x04, 0x00, 0x00, 0x14}, false}};
    (void)state;

    EXPECT(EM_AARCH64, 8, false, EXTRACT_LITTLE, codes);
}

static void riscv(void **state)
{
    const struct code codes[] = {{"jal ra", 4, {0xEF, 0x00, 0x80, 0x00}, true},
                                 {"jal t0", 4, {0xEF, 0x02, 0x80, 0x00}, true},
                                 {"jalr a5", 4, {0xE7, 0x80, 0x07, 0x00}, true},
                                 {"c.jalr a5", 2, {0x82, 0x97}, true},
                                 {"j", 4, {0x6F, 0x00, 0x80, 0x00}, false},
                                 {"c.jr a5", 2, {0x82, 0x87}, false},
                                 {"cm.jalt 32", 2, {0x82, 0xA0}, true},
                                 {"cm.jt 31", 2, {0x7E, 0xA0}, false},
                                 {"c.ebreak", 2, {0x02, 0x90}, false},
                                 {"ret", 2, {0x82, 0x80}, false}};
    const struct code wide[] = {{"c.addiw", 2, {0x05, 0x25}, false}};
    const struct code narrow[] = {{"c.jal", 2, {0x01, 0x20}, true}};
    (void)state;

    EXPECT(EM_RISCV, 8, false, EXTRACT_LITTLE, codes);
    EXPECT(EM_RISCV, 4, false, EXTRACT_LITTLE, codes);
    EXPECT(EM_RISCV, 8, false, EXTRACT_LITTLE, wide);
    EXPECT(EM_RISCV, 4, false, EXTRACT_LITTLE, narrow);
}

static void m68k(void **state)
{
    const struct code codes[] = {{"jsr (a0)", 2, {0x4E, 0x90}, true},
                                 {"jsr 8(a0)", 4, {0x4E, 0xA8, 0x00, 0x08}, true},
                                 {"jsr 8(pc)", 4, {0x4E, 0xBA, 0x00, 0x08}, true},
                                 {"jsr.l", 6, {0x4E, 0xB9, 0x40, 0x00, 0x04, 0x00}, true},
                                 {"bsr.s", 2, {0x61, 0x10}, true},
                                 {"bsr.w", 4, {0x61, 0x00, 0x01, 0x00}, true},
                                 {"bsr.l", 6, {0x61, 0xFF, 0x00, 0x01, 0x00, 0x00}, true},
                                 {"jmp (a0)", 2, {0x4E, 0xD0}, false},
                                 {"bra.s", 2, {0x60, 0x10}, false},
                                 {"rts", 2, {0x4E, 0x75}, false}};
    (void)state;

    EXPECT(EM_68K, 4, false, EXTRACT_BIG, codes);
}

// ---- where calls lead ----

// Calls that an assembler made at an address; `to` is where its listing says that they lead, or the
// value of the register. Register 3 has 0x3000, a5 (15) 0x5000, a2 of 68k (10) 0xA000.
struct call {
    uint16_t elf_machine;
    uint8_t word_bytes;
    bool is_m_profile, is_big;
    uint64_t at;
    size_t length;
    uint8_t bytes[8];
    uint64_t to; // 1: not known
};

static void targets(void **state)
{
    static const struct call calls[] = {
        {EM_ARM, 4, true, false, 0x100, 4, {0x01, 0xF0, 0x7E, 0xF8}, 0x1200},
        {EM_ARM, 4, true, false, 0x104, 4, {0xFF, 0xF7, 0x7C, 0xFF}, 0},
        {EM_ARM, 4, true, false, 0x108, 2, {0x98, 0x47}, 0x3000},
        {EM_ARM, 4, true, false, 0x108, 2, {0xA0, 0x47}, 1}, // blx r4
        {EM_ARM, 4, true, false, 0x108, 2, {0x18, 0x47}, 1}, // bx r3
        {EM_ARM, 4, false, false, 0x100, 4, {0x3E, 0x04, 0x00, 0xEB}, 0x1200},
        {EM_ARM, 4, false, false, 0x104, 4, {0xBD, 0xFF, 0xFF, 0xEB}, 0},
        {EM_ARM, 4, false, false, 0x108, 4, {0x33, 0xFF, 0x2F, 0xE1}, 0x3000},
        {EM_ARM, 4, false, false, 0x100, 4, {0x3E, 0x04, 0x00, 0xFA}, 0x1200}, // to Thumb
        {EM_ARM, 4, false, false, 0x100, 4, {0x3E, 0x04, 0x00, 0xFB}, 0x1202},
        {EM_ARM, 4, false, false, 0x102, 4, {0x01, 0xF0, 0x7E, 0xE8}, 0x1200}, // to Arm
        {EM_ARM, 4, false, false, 0x100, 4, {0x01, 0xF0, 0x7E, 0xF8}, 0x1200},
        {EM_AARCH64, 8, false, false, 0x100, 4, {0x40, 0x04, 0x00, 0x94}, 0x1200},
        {EM_AARCH64, 8, false, false, 0x104, 4, {0xBF, 0xFF, 0xFF, 0x97}, 0},
        {EM_AARCH64, 8, false, false, 0x108, 4, {0x60, 0x00, 0x3F, 0xD6}, 0x3000},
        {EM_RISCV, 4, false, false, 0x100, 4, {0xEF, 0x10, 0x00, 0x10}, 0x1200},
        {EM_RISCV, 4, false, false, 0x104, 4, {0xEF, 0xF0, 0xDF, 0xEF}, 0},
        {EM_RISCV, 4, false, false, 0x108, 4, {0xE7, 0x80, 0x07, 0x00}, 0x5000},
        {EM_RISCV, 4, false, false, 0x10C, 4, {0xE7, 0x80, 0x87, 0x00}, 0x5008},
        {EM_RISCV, 4, false, false, 0x110, 8, {0x97, 0x10, 0, 0, 0xE7, 0x80, 0x00, 0xF0}, 0x1010},
        {EM_RISCV, 4, false, false, 0x118, 4, {0xE7, 0x80, 0x00, 0x00}, 1}, // jalr ra
        {EM_RISCV, 4, false, false, 0x11C, 2, {0x82, 0x97}, 0x5000},
        {EM_RISCV, 4, false, false, 0x11E, 2, {0xCD, 0x35}, 0},
        {EM_RISCV, 8, false, false, 0x100, 4, {0xEF, 0x10, 0x00, 0x10}, 0x1200},
        {EM_68K, 4, false, true, 0, 2, {0x4E, 0x92}, 0xA000},
        {EM_68K, 4, false, true, 2, 6, {0x4E, 0xB9, 0x12, 0x34, 0x56, 0x78}, 0x12345678},
    };
    struct extract_registers registers = {.known = 0};
    (void)state;

    register_set(&registers, 3, 0x3000);
    register_set(&registers, 15, 0x5000);
    register_set(&registers, 10, 0xA000);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct call *call = &calls[i];
        uint64_t called = 1;
        bool is_known = kernel_call_target(
            register_machine_find(call->elf_machine, call->word_bytes, call->is_m_profile),
            call->bytes, call->length, call->is_big ? EXTRACT_BIG : EXTRACT_LITTLE,
            call->at + call->length, &registers, &called);
        if (is_known != (call->to != 1) || called != call->to)
            fail_msg("call %zu leads to 0x%llx", i, (unsigned long long)called);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(thumb),   cmocka_unit_test(arm),
                                       cmocka_unit_test(aarch64), cmocka_unit_test(riscv),
                                       cmocka_unit_test(m68k),    cmocka_unit_test(targets)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
