// SPDX-License-Identifier: MIT
// unit: names of addresses in RKH firmware. An active object has the name that the source files and
// the records of a stream give it. Truth: the expressions in the program below.
#include "formats/rkh/rkh.h"
#include "tests/unit/scratch.h"
#include "symbols/dwarf.h"
#include <extract/symbols.h>

static const char program[] =
    "typedef unsigned char u8;\n"
    "#ifdef CONSTANT\n"
    "typedef struct RKH_ROM_T { u8 prio, ppty; const char *name; const void *istate; } RKH_ROM_T;\n"
    "typedef struct RKH_SM_T { const RKH_ROM_T *romrkh; const void *state; } RKH_SM_T;\n"
    "#define ROM(name) static const RKH_ROM_T rkh_##name = {1, 0, #name, 0}\n"
    "#define SM(name) {&rkh_##name, 0}\n"
    "#else\n"
    "typedef struct RKH_SM_T { u8 prio, ppty; const char *name; const void *istate, *state; }"
    " RKH_SM_T;\n"
    "#define ROM(name) struct unused_##name\n"
    "#define SM(name) {1, 0, #name, 0, 0}\n"
    "#endif\n"
    "typedef struct RKH_QUEUE_T { void *start; u8 nelems, qty; } RKH_QUEUE_T;\n"
    "typedef struct RKH_SMA_T { RKH_SM_T sm; RKH_QUEUE_T equeue; } RKH_SMA_T;\n"
    "typedef struct Server { RKH_SMA_T sma; int ntot; int busy[3]; } Server;\n"
    "ROM(server);\n"
    "static Server s_server = {{SM(server)}};\n"
    "RKH_SMA_T *const server = (RKH_SMA_T *)&s_server;\n"
    "ROM(logger);\n" // the linker has dropped its pointer
    "static Server s_logger = {{SM(logger)}};\n"
    "static int s_plain[4];\n" // nothing but the pointer says so
    "int *const plain = s_plain;\n"
    "static int s_moving[4];\n" // the pointer may change
    "int *moving = s_moving;\n"
    "static int s_other[4], another;\n"
    "int *const other = &another;\n" // it points to something else
    "int s_lonely;\n"
    "typedef struct RKHEvtPool { struct RKH_MEMPOOL_T { void *free; u8 nfree; } memPool; } "
    "RKHEvtPool;\n"
    "static RKHEvtPool evtPools[3];\n"
    "const volatile void *const volatile use[] = {&s_server, &s_logger, s_plain, s_moving, s_other,"
    " &s_lonely, &server, &plain, &other, evtPools};\n"
    "void _start(void) { s_plain[1]++; s_moving[1]++; s_other[1]++; }\n";

static void check(struct extract_symbols *symbols, const char *variable, const char *member,
                  const char *want)
{
    struct extract_symbol symbol;
    uint64_t offset = 0, size;
    char name[64];

    assert_true(extract_symbols_by_name(symbols, variable, &symbol));
    if (*member)
        assert_true(extract_symbols_member(symbols, "Server", member, &offset, &size));
    assert_true(rkh_describe_address(symbols, symbol.address + offset, name, sizeof name));
    assert_string_equal(name, want);
}

static void check_pool(struct extract_symbols *symbols, unsigned number, const char *want)
{
    struct extract_symbol pools;
    char name[64];

    assert_true(extract_symbols_by_name(symbols, "evtPools", &pools));
    assert_true(
        rkh_describe_address(symbols, pools.address + pools.size / 3 * number, name, sizeof name));
    assert_string_equal(name, want);
}

// A target that sends two bytes of its addresses: an object is found if nothing else has them.
static void check_narrow(struct extract_symbols *symbols)
{
    struct extract_ring ring = {.word_bytes = 4};
    struct extract_symbol object, start;
    uint64_t address;

    assert_true(extract_symbols_by_name(symbols, "s_server", &object));
    assert_true(extract_symbols_by_name(symbols, "_start", &start));
    assert_true(rkh_locate(&ring, symbols, 0x1234, &address));
    assert_int_equal(address, 0x1234);   // all of an address was sent
    ring.rkh.value[EXTRACT_RKH_PTR] = 2; // functions may be sent with all bytes
    assert_true(rkh_locate(&ring, symbols, UINT32_C(0x12345678), &address));
    assert_int_equal(address, UINT32_C(0x12345678));
    assert_true(rkh_locate(&ring, symbols, object.address & 0xFFFF, &address));
    assert_int_equal(address, object.address);
    assert_true(rkh_locate(&ring, symbols, (object.address + 4) & 0xFFFF, &address));
    assert_int_equal(address, object.address + 4);
    assert_true(rkh_locate(&ring, symbols, (start.address | start.is_thumb) & 0xFFFF, &address));
    assert_int_equal(address, start.address | start.is_thumb);
    assert_false(rkh_locate(&ring, symbols, (start.address + 2) & 0xFFFF, &address));
    assert_false(rkh_locate(&ring, symbols, 0xFFF0, &address));
}

static void check_names(const char *compiler, const char *flags, bool has_dwarf)
{
    struct extract_symbols *symbols;
    struct extract_error error;
    char command[256];

    snprintf(command, sizeof command, "command -v %s", compiler);
    if (!scratch_run(command))
        return;
    snprintf(command, sizeof command, "%s %s -nostdlib -ffreestanding -o app.elf app.c", compiler,
             flags);
    assert_true(scratch_run(command));
    assert_int_equal(extract_symbols_open(&symbols, scratch_path("app.elf"), &error), EXTRACT_OK);
    check(symbols, "s_server", "", "server");
    check(symbols, "s_plain", "", "plain");
    check(symbols, "s_moving", "", "s_moving");
    check(symbols, "s_other", "", "s_other");
    check(symbols, "s_lonely", "", "s_lonely");
    check(symbols, "s_logger", "", has_dwarf ? "logger" : "s_logger");
    if (has_dwarf) {
        check(symbols, "s_server", "sma.equeue", "server->equeue");
        check(symbols, "s_server", "sma.equeue.qty", "server->equeue.qty");
        check(symbols, "s_server", "ntot", "server->ntot");
        check(symbols, "s_logger", "sma.equeue", "logger->equeue");
        check(symbols, "evtPools", "", "memPool0");
        check_pool(symbols, 2, "memPool2");
    }
    if (extract_symbols_pointer_bytes(symbols) == 4)
        check_narrow(symbols);
    extract_symbols_close(symbols);
}

static void test_firmware_names(void **state)
{
    (void)state;
    scratch_puts("app.c", program);
#ifdef EXTRACT_HAVE_DW
    check_names("gcc", "-static -g -DCONSTANT", true);
    check_names("gcc", "-static -g", true);
    check_names("arm-none-eabi-gcc", "-mthumb -mcpu=cortex-m3 -O2 -g -DCONSTANT", true);
    check_names("m68k-linux-gnu-gcc", "-static -mcpu=5208 -Os -g", true);
#endif
    check_names("gcc", "-static -DCONSTANT", false);
    check_names("arm-none-eabi-gcc", "-mthumb -mcpu=cortex-m3 -O2", false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_firmware_names)};

    return cmocka_run_group_tests_name("firmware_names", tests, scratch_make, scratch_remove);
}
