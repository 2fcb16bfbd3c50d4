// SPDX-License-Identifier: MIT
// Tests of registers/description.c on documents as QEMU and OpenOCD send them.
#include "registers/description.h"
#include "registers/fpu.h"
#include "registers/live_registers.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

static struct description *read_document(const char *xml)
{
    struct description *description = calloc(1, sizeof *description);

    assert_non_null(description);
    description_add(description, register_machine_find(EM_ARM, 4, true), xml, strlen(xml));
    return description;
}

static void expect(const struct description *description, size_t i, unsigned number, unsigned bytes,
                   unsigned index)
{
    assert_true(i < description->count);
    assert_int_equal(description->list[i].number, number);
    assert_int_equal(description->list[i].bytes, bytes);
    assert_int_equal(description->list[i].index, index);
}

static void registers(void **state)
{
    (void)state;

    struct description *description =
        read_document("<feature name=\"org.gnu.gdb.arm.m-profile\">\n"
                      "<reg name=\"r0\" bitsize=\"32\"/><reg bitsize='32' name='r1'/>\n"
                      "<reg name=\"xPSR\" bitsize=\"32\" regnum=\"25\"/>"
                      "<reg name=\"MSP\" bitsize=\"32\"/>"
                      "<reg name=\"primask\" bitsize=\"1\" regnum=\"20\" save-restore=\"yes\"/>"
                      "<reg name=\"d0\" bitsize=\"64\" regnum=\"40\" type=\"ieee_double\"/>"
                      "<regular name=\"r3\" bitsize=\"32\"/></feature>");
    assert_int_equal(description->count, 6);
    expect(description, 0, 0, 4, 0);
    expect(description, 1, 1, 4, 1);
    expect(description, 2, 20, 1, NO_REGISTER);
    expect(description, 3, 25, 4, ARM_PSR);
    expect(description, 4, 26, 4, ARM_MSP);
    expect(description, 5, 40, 8, NO_REGISTER);
    free(description);
}

// Of a machine with several registers of a name, those are noted that the state of a core chooses
// among.
static void variants(void **state)
{
    const char *xml = "<reg name=\"cpsr\" bitsize=\"32\"/><reg name=\"DFSR\" bitsize=\"32\"/>"
                      "<reg name=\"DFSR_S\" bitsize=\"32\"/><reg name=\"SCR\" bitsize=\"32\"/>"
                      "<reg name=\"lr_irq\" bitsize=\"32\"/><reg name=\"MIDR_S\" bitsize=\"32\"/>";
    static const char *const names[] = {"", "", "DFSR_S", "", "lr_irq", ""};
    struct description *description = calloc(1, sizeof *description);
    (void)state;

    assert_non_null(description);
    description_add(description, register_machine_find(EM_ARM, 4, false), xml, strlen(xml));
    assert_int_equal(description->count, sizeof names / sizeof *names);
    for (size_t i = 0; i < description->count; i++)
        assert_string_equal(description->list[i].variant, names[i]);
    assert_int_equal(description->list[1].index, FAULT_DFSR);
    assert_int_equal(description->list[3].index, ARM_SCR);
    free(description);
}

// Registers of the FPU as QEMU (RISC-V: the names of the ABI) and OpenOCD describe them.
static void fpu(void **state)
{
    static const struct {
        const char *name;
        unsigned number;
    } arm[] = {{"d0", 0},           {"D15", 15},        {"fpscr", 32},        {"d16", 16},
               {"s0", NO_REGISTER}, {"d", NO_REGISTER}, {"d1x", NO_REGISTER}, {"d32", NO_REGISTER}},
      risc[] = {{"f31", 31},          {"ft7", 7},
                {"ft8", 28},          {"ft11", 31},
                {"fs1", 9},           {"fs2", 18},
                {"fs11", 27},         {"fa0", 10},
                {"fa7", 17},          {"fcsr", 32},
                {"fflags", 33},       {"frm", 34},
                {"fp", NO_REGISTER},  {"ft12", NO_REGISTER},
                {"f32", NO_REGISTER}, {"d0", NO_REGISTER}};
    (void)state;

    for (size_t i = 0; i < sizeof arm / sizeof *arm; i++)
        assert_int_equal(fpu_register_number(register_machine_find(EM_ARM, 4, true), arm[i].name),
                         arm[i].number);
    for (size_t i = 0; i < sizeof risc / sizeof *risc; i++)
        assert_int_equal(
            fpu_register_number(register_machine_find(EM_RISCV, 8, false), risc[i].name),
            risc[i].number);
}

static void hostile(void **state)
{
    static const char *const documents[] = {"",
                                            "<",
                                            "<reg",
                                            "<reg ",
                                            "<reg name=\"",
                                            "<reg name=>",
                                            "<reg name=\"r0\">",
                                            "<reg bitsize=\"32\"/>",
                                            "<reg name=r0 bitsize=32/>"};
    char *many = malloc(64 * (DESCRIBED_MOST + 10) + 1);
    (void)state;

    for (size_t i = 0; i < sizeof documents / sizeof *documents; i++) {
        struct description *description = read_document(documents[i]);
        assert_int_equal(description->count, 0);
        free(description);
    }
    assert_non_null(many);
    many[0] = 0;
    for (size_t i = 0; i < DESCRIBED_MOST + 10; i++)
        strcat(many, "<reg name=\"a\" bitsize=\"99999999999\" regnum=\"4294967295\"/>");
    struct description *description = read_document(many);
    assert_int_equal(description->count, DESCRIBED_MOST);
    free(description);
    free(many);
}

static void includes(void **state)
{
    const char xml[] = "<target><xi:include href=\"arm-core.xml\"/><xi:include  href='b.xml'/>"
                       "<xi:include/></target>";
    char name[16];
    size_t at = 0;
    (void)state;

    assert_true(description_next_include(xml, sizeof xml - 1, &at, name, sizeof name));
    assert_string_equal(name, "arm-core.xml");
    assert_true(description_next_include(xml, sizeof xml - 1, &at, name, sizeof name));
    assert_string_equal(name, "b.xml");
    assert_false(description_next_include(xml, sizeof xml - 1, &at, name, sizeof name));
}

// An answer to g: two bytes per digit, in the order of the target, "xx" if unknown.
static void values(void **state)
{
    struct description *description =
        read_document("<reg name=\"r0\" bitsize=\"32\"/><reg name=\"d0\" bitsize=\"64\"/>"
                      "<reg name=\"r2\" bitsize=\"32\"/><reg name=\"r3\" bitsize=\"32\"/>");
    static const char text[] = "78563412ffffffffffffffffxxxxxxxx123456";
    struct extract_registers found;
    (void)state;

    assert_int_equal(description_take(description, text, sizeof text - 1, EXTRACT_LITTLE, &found),
                     3);
    assert_int_equal(found.known, 1);
    assert_int_equal(found.value[0], 0x12345678);
    assert_int_equal(description_take(description, text, 8, EXTRACT_BIG, &found), 1);
    assert_int_equal(found.value[0], 0x78563412);
    assert_int_equal(description_take(description, text, 7, EXTRACT_BIG, &found), 0);
    assert_int_equal(found.known, 0);
    free(description);
}

// Threads of a server that are its cores; addresses of control blocks are not.
static void cores(void **state)
{
    static const char *const others[] = {"",
                                         ",",
                                         "1,",
                                         "x",
                                         "0",
                                         "1,1",
                                         "41",
                                         "p1.",
                                         "20000100,1",
                                         "-1",
                                         "1;2",
                                         "p1.1,p1.1",
                                         "ffffffffffffffffff"};
    uint64_t mask;
    (void)state;

    assert_true(register_server_cores("1", &mask) && mask == 1);
    assert_true(register_server_cores("01,02", &mask) && mask == 3);
    assert_true(register_server_cores("p01.02,p01.01", &mask) && mask == 3);
    assert_true(register_server_cores("40,3", &mask) && mask == (UINT64_C(1) << 63 | 4));
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_false(register_server_cores(others[i], &mask));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(registers), cmocka_unit_test(variants),
                                       cmocka_unit_test(fpu),       cmocka_unit_test(hostile),
                                       cmocka_unit_test(includes),  cmocka_unit_test(values),
                                       cmocka_unit_test(cores)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
