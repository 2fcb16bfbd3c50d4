// SPDX-License-Identifier: MIT
// Tests of registers/register_text.c and registers/machines.c: what debuggers print.
#include "registers/register_text.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

static struct register_values parse(const char *text)
{
    struct register_values values;

    assert_int_equal(register_values_parse(&values, "text", text, strlen(text), NULL), EXTRACT_OK);
    return values;
}

static void expect(const struct register_values *values, const char *name, uint64_t expected)
{
    uint64_t value;

    assert_true(register_values_find(values, name, &value));
    assert_int_equal(value, expected);
}

static void debuggers(void **state)
{
    (void)state;

    struct register_values values = parse("r0             0x20003538          536884536\n"
                                          "sp             0x20007b88          0x20007b88\n"
                                          "pc             0x3c92              0x3c92 <main+18>\n"
                                          "xpsr           0x21000003          553648131\n"
                                          "q0             {u64 = {0x0, 0x0}}\n"
                                          "d1             0 (raw 0x0000)\n"
                                          "psp            <unavailable>\n"
                                          "[Inferior 1 (Remote target) detached]\n");
    assert_int_equal(values.count, 5);
    expect(&values, "r0", 0x20003538);
    expect(&values, "PC", 0x3c92);
    expect(&values, "d1", 0);

    values = parse("===== arm v7m registers\r\n"
                   "(0) r0 (/32): 0x00000001\r\n"
                   "(15) pc (/32): 0x08000130 (dirty)\r\n"
                   "(16) xPSR (/32)\r\n"
                   "\n# a remark\nlr: 0xFFFFFFFD\npsp = 17");
    assert_int_equal(values.count, 4);
    expect(&values, "r0", 1);
    expect(&values, "pc", 0x08000130);
    expect(&values, "lr", 0xFFFFFFFD);
    expect(&values, "psp", 17);
    uint64_t value;
    assert_false(register_values_find(&values, "xpsr", &value));

    // J-Link, and QEMU's monitor.
    values = parse("PC = 00002D2A, CycleCnt = 00000000\r\n"
                   "R0 = 20001A18, R1 = 20000584, R2 = 200013DC, R3 = 00000001\r\n"
                   "SP(R13)= 20006190, MSP= 20006190, PSP= 20001A18, R14(LR) = FFFFFFFD\r\n"
                   "XPSR = 01000003: APSR = nzcvq, EPSR = 01000000, IPSR = 003 (HardFault)\r\n"
                   "Security extension regs:\n mcause   0000000000000010\n");
    assert_int_equal(values.count, 12);
    expect(&values, "pc", 0x2D2A);
    expect(&values, "r3", 1);
    expect(&values, "sp", 0x20006190);
    expect(&values, "psp", 0x20001A18);
    expect(&values, "r14", 0xFFFFFFFD);
    expect(&values, "xpsr", 0x01000003);
    expect(&values, "mcause", 0x10);

    values = parse("rip 0x401000\n[Current thread is 2 (Thread 0x7ffff7d8a740 (LWP 4711))]\n[LWP ");
    assert_int_equal(values.count, 2);
    expect(&values, "lwp", 4711);
}

// Registers of the FPU, as GDB, OpenOCD and a core of Ringside write them. A fraction that happens
// to be whole is no value.
static void fpu(void **state)
{
    static const char arm[] = "pc 0x1000\nd0 1.5 (raw 0x3ff8000000000000)\nd1 2\n"
                              "d31 {u8 = {0x1, 0x2}, u16 = {0x0}, u64 = 0x5a, f64 = 0x0}\n"
                              "(42) d2 (/64): 0x4000000000000000\nfpscr 0x10 16\ns0 0 (raw 0x1)\n";
    static const char riscv[] = "pc 0x1000\nfa0 {float = 0, double = 2}\t(raw 0x4000000000000000)\n"
                                "fcsr 0x21 33\nft0 3\n";
    struct register_values values = parse(arm);
    struct extract_registers core;
    (void)state;

    assert_int_equal(
        register_values_cores(&values, register_machine_find(EM_ARM, 4, true), &core, 1), 1);
    assert_int_equal(core.fpu_known,
                     1 | 1 << 2 | UINT64_C(1) << 31 | UINT64_C(1) << EXTRACT_FPU_CONTROL);
    assert_int_equal(core.fpu_bytes, 8);
    assert_int_equal(core.fpu[0][0], 0x3ff8000000000000);
    assert_int_equal(core.fpu[2][0], 0x4000000000000000);
    assert_int_equal(core.fpu[31][0], 0x5a);
    assert_int_equal(core.fpu[EXTRACT_FPU_CONTROL][0], 0x10);
    values = parse(riscv);
    assert_int_equal(
        register_values_cores(&values, register_machine_find(EM_RISCV, 8, false), &core, 1), 1);
    assert_int_equal(core.fpu_known, 1 << 10 | UINT64_C(1) << EXTRACT_FPU_CONTROL);
    assert_int_equal(core.fpu[10][0], 0x4000000000000000);
}

static void hostile(void **state)
{
    static const char *const texts[] = {
        "0x1234", "r0 0x1\n!",
        "a_name_that_is_too_long_for_it_a_name_that_is_too_long_for_it_and_more 1", "\x01 2",
        "15 16"};
    struct register_values values;
    struct extract_error error;
    char many[8 * (REGISTER_VALUES + 2)];
    (void)state;

    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
        assert_int_equal(register_values_parse(&values, "text", texts[i], strlen(texts[i]), &error),
                         EXTRACT_BAD);
    // Numbers that do not fit, or end in garbage, are not values.
    values = parse("r0 0x10000000000000000\nr1 12ab\nr2 0x\nr3 -1\nr4");
    assert_int_equal(values.count, 0);
    for (size_t i = 0; i < sizeof many / 8; i++)
        memcpy(many + 8 * i, "r0 0x11\n", 8);
    assert_int_equal(register_values_parse(&values, "text", many, sizeof many, &error),
                     EXTRACT_LIMIT);
    assert_int_equal(register_values_parse(&values, "text", "", 0, &error), EXTRACT_OK);
}

static void names(void **state)
{
    const struct register_machine *arm = register_machine_find(EM_ARM, 4, true),
                                  *risc = register_machine_find(EM_RISCV, 8, false),
                                  *m68k = register_machine_find(EM_68K, 4, false),
                                  *wide = register_machine_find(EM_AARCH64, 8, false);
    struct extract_registers registers;
    (void)state;

    assert_int_equal(register_index(arm, "R13"), ARM_SP);
    assert_int_equal(register_index(arm, "xPSR"), ARM_PSR);
    assert_int_equal(register_index(arm, "psp"), ARM_PSP);
    assert_int_equal(register_index(arm, "x5"), NO_REGISTER);
    assert_int_equal(register_index(risc, "x5"), 5);
    assert_int_equal(register_index(risc, "t0"), 5);
    assert_int_equal(register_index(risc, "s0"), 8);
    assert_int_equal(register_index(risc, "fp"), 8);
    assert_int_equal(register_index(risc, "a7"), 17);
    assert_int_equal(register_index(risc, "t6"), 31);
    assert_int_equal(register_index(risc, "x32"), NO_REGISTER);
    assert_int_equal(register_index(risc, "x99999999999"), NO_REGISTER);
    assert_int_equal(register_index(risc, "x"), NO_REGISTER);
    assert_int_equal(register_index(m68k, "a7"), M68K_SP);
    assert_int_equal(register_index(m68k, "sr"), M68K_PS);
    assert_int_equal(register_index(wide, "lr"), 30);
    assert_null(register_machine_find(EM_SPARC, 4, false));

    const struct register_values values = parse("pc 0x80000000\nmcause 7\nx2 0x80001000\n");
    assert_true(register_values_general(&values, risc, &registers));
    assert_int_equal(registers.known, UINT64_C(1) << FAULT_MCAUSE | UINT64_C(1) << RISCV_PC |
                                          UINT64_C(1) << RISCV_SP);
    assert_int_equal(registers.value[RISCV_SP], 0x80001000);
}

static void cores(void **state)
{
    const struct register_machine *risc = register_machine_find(EM_RISCV, 8, false);
    struct extract_registers registers[3];
    (void)state;

    struct register_values values =
        parse("pc 1\nsp 2\ncore 2\npc 3\ncore 1\nmcause 5\ncore 3\npc 7\n");
    assert_int_equal(register_values_cores(&values, risc, registers, 3), 3);
    assert_int_equal(registers[0].value[RISCV_PC], 1);
    assert_int_equal(registers[0].value[RISCV_SP], 2);
    assert_int_equal(registers[1].known, UINT64_C(1) << FAULT_MCAUSE);
    assert_int_equal(registers[2].value[RISCV_PC], 3);

    values = parse("\nThread 2 (Thread 1.2 (CPU#1 [running])):\npc             0x10 0x10 <f>\n"
                   "\nThread 1 (Thread 1.1 (CPU#0 [halted ])):\npc             0x20 0x20 <g>\n"
                   "Thread 0\npc 0x30\n");
    assert_int_equal(register_values_cores(&values, risc, registers, 3), 2);
    assert_int_equal(registers[0].value[RISCV_PC], 0x20);
    assert_int_equal(registers[1].value[RISCV_PC], 0x10);

    values = parse("core 1\nmcause 7\n");
    assert_int_equal(register_values_cores(&values, risc, registers, 3), 0);
    assert_false(register_values_general(&values, risc, registers));
}

// OpenOCD lists the registers of all modes of an Arm core; those of the core's mode are its own.
static void banks(void **state)
{
    const struct register_machine *arm = register_machine_find(EM_ARM, 4, false);
    static const char text[] =
        "r8 8\nsp_usr 1\nlr_usr 2\npc 3\nr8_fiq 4\nsp_fiq 5\nlr_fiq 6\nsp_abt 7\nlr_abt 9\n"
        "sp_hyp 10\ncpsr %s\nspsr_abt 0x1F\n";
    static const struct {
        const char *status;
        uint64_t r8, sp, lr;
    } cases[] = {{"0x1F", 8, 1, 2},
                 {"0x60000010", 8, 1, 2},
                 {"0x11", 4, 5, 6},
                 {"0x1D7", 8, 7, 9},
                 {"0x1A", 8, 10, 2}};
    struct extract_registers registers[2];
    char both[512], one[256];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(one, sizeof one, text, cases[i].status);
        snprintf(both, sizeof both, "core 0\npc 1\ncore 1\n%s", one);
        struct register_values values = parse(both);
        assert_int_equal(register_values_cores(&values, arm, registers, 2), 2);
        assert_int_equal(registers[0].known, 1 << ARM_PC);
        assert_int_equal(registers[1].value[8], cases[i].r8);
        assert_int_equal(registers[1].value[ARM_SP], cases[i].sp);
        assert_int_equal(registers[1].value[ARM_LR], cases[i].lr);
    }
    // An exception from User mode: the status it has saved, and the registers of that mode.
    struct register_values before = parse("lr_usr 2\nsp_usr 1\npc 1\nsp_abt 7\nlr_abt 9\n"
                                          "spsr_svc 0x13\nspsr_abt 0x10\ncpsr 0x1D7\n");
    assert_true(register_values_general(&before, arm, &registers[0]));
    assert_int_equal(registers[0].value[ARM_SPSR], 0x10);
    assert_int_equal(registers[0].value[ARM_SP], 7);
    assert_int_equal(registers[0].value[ARM_BEFORE_SP], 1);
    assert_int_equal(registers[0].value[ARM_BEFORE_LR], 2);
    // A mode that is none, or an unknown one: of no bank.
    struct register_values values = parse("pc 1\nsp_usr 2\ncpsr 0x15\ncore 1\npc 1\nsp_usr 2\n");
    assert_int_equal(register_values_cores(&values, arm, registers, 2), 2);
    assert_int_equal(registers[0].known, 1 << ARM_PC | 1 << ARM_PSR);
    assert_int_equal(registers[1].known, 1 << ARM_PC);
}

// Of the registers of AArch64's exception levels, those of the core's own are taken.
static void levels(void **state)
{
    const struct register_machine *wide = register_machine_find(EM_AARCH64, 8, false);
    struct extract_registers registers;
    (void)state;

    struct register_values values =
        parse("pc 1\nESR_EL1 0x96000045\nESR_EL2 2\nFAR_EL1 3\nELR_EL1 4\nESR_EL12 9\n_EL1 5\n"
              "cpsr 0x3C5\n");
    assert_true(register_values_general(&values, wide, &registers));
    assert_int_equal(registers.value[FAULT_ESR], 0x96000045);
    assert_int_equal(registers.value[FAULT_FAR], 3);
    assert_int_equal(registers.value[FAULT_ELR], 4);
    values = parse("pc 1\nESR_EL1 1\ncpsr 0\n");
    assert_true(register_values_general(&values, wide, &registers));
    assert_int_equal(registers.known, UINT64_C(1) << AARCH64_PC | UINT64_C(1) << AARCH64_PSTATE);
}

// QEMU shows a Cortex-A9, which is in Secure state after a reset, with the registers of both
// states: SCR.NS says which the core has.
static void secure(void **state)
{
    static const char text[] = "pc 1\ncpsr 0x1D7\nDFSR 0\nDFSR_S 0x805\nDFAR_S 0xCCCCCCC0\n"
                               "IFAR_S 4\nVBAR_S 0x60000000\nVBAR 0x70\nSCTLR 0xC50078\n"
                               "lr_s 9\n%s\n";
    static const struct {
        const char *scr;
        uint64_t dfsr, vbar;
        bool has_address;
    } cases[] = {{"SCR 0x30\nSCR_S 0x30", 0x805, 0x60000000, true},
                 {"SCR 1", 0, 0x70, false},
                 {"", 0, 0x70, false}};
    const struct register_machine *arm = register_machine_find(EM_ARM, 4, false);
    struct extract_registers registers;
    char all[256];
    (void)state;

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        snprintf(all, sizeof all, text, cases[i].scr);
        struct register_values values = parse(all);
        assert_true(register_values_general(&values, arm, &registers));
        assert_int_equal(registers.value[FAULT_DFSR], cases[i].dfsr);
        assert_int_equal(registers.value[ARM_VBAR], cases[i].vbar);
        assert_int_equal(registers.value[ARM_SCTLR], 0xC50078);
        assert_int_equal(registers.known >> ARM_DFAR & 1, cases[i].has_address);
        assert_int_equal(registers.known >> ARM_LR & 1, 0);
        // The same of a server that describes its registers.
        struct extract_registers live = {.known = 0};
        register_set(&live, ARM_PSR, 0x1D7);
        if (strncmp(cases[i].scr, "SCR 0", strlen("SCR 0")) == 0)
            register_set(&live, ARM_SCR, 0);
        register_values_choose(&values, arm, &live);
        assert_int_equal(live.known >> FAULT_DFSR & 1, cases[i].has_address);
    }
    assert_true(register_is_variant(arm, "DFSR_S"));
    assert_true(register_is_variant(arm, "sp_usr"));
    assert_false(register_is_variant(arm, "DFSR"));
    assert_false(register_is_variant(arm, "TTBR0_EL1_S"));
    assert_false(register_is_variant(arm, "before_sp"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(debuggers), cmocka_unit_test(hostile),
                                       cmocka_unit_test(fpu),       cmocka_unit_test(names),
                                       cmocka_unit_test(cores),     cmocka_unit_test(banks),
                                       cmocka_unit_test(levels),    cmocka_unit_test(secure)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
