// SPDX-License-Identifier: MIT
// Tests of kernel/coldfire.c: what is a frame of an exception, and what is other data. The program
// and the stacks are made by hand, from the ColdFire Family Programmer's Reference Manual, 11.1.
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <string.h>

// The program: a vector table at CODE, and the functions `work`, `trap` and `tick`.
enum {
    CODE = 0x40000000,
    TABLE_BYTES = 0x400,
    WORK = CODE + TABLE_BYTES,
    TRAP = WORK + 0x20,
    TICK = TRAP + 0x20,
    CODE_BYTES = TABLE_BYTES + 0x60,
    TICK_VECTOR = 68,
    STACK = 0x40100000,
    WILD = 0x40180000, // no code
    SUPERVISOR = 0x2000,
    LOCKED = 0x2700
};

struct image {
    uint8_t bytes[0x800];
    size_t used;
};

static void put(struct image *image, unsigned count, uint32_t value)
{
    while (count--)
        image->bytes[image->used++] = (uint8_t)(value >> 8 * count);
}

static void put_text(struct image *image, const char *text, size_t length)
{
    memcpy(image->bytes + image->used, text, length);
    image->used += length;
}

static void put_section(struct image *image, uint32_t type, uint32_t flags, uint32_t address,
                        uint32_t offset, uint32_t length, uint32_t link, uint32_t entry)
{
    const uint32_t words[] = {0, type, flags, address, offset, length, link, 0, 4, entry};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        put(image, 4, words[i]);
}

static void put_function(struct image *image, uint32_t name, uint32_t address)
{
    put(image, 4, name);
    put(image, 4, address);
    put(image, 4, 0x20);
    put(image, 1, ELF32_ST_INFO(STB_GLOBAL, STT_FUNC));
    put(image, 1, 0);
    put(image, 2, 1);
}

// `has_table`: the vectors are there; otherwise they are 0.
static struct extract_symbols *open_program(bool has_table)
{
    enum { HEADER = 52, SYMBOLS = HEADER + CODE_BYTES, SYMBOL_BYTES = 64, NAMES = 16 };
    enum { SECTIONS = SYMBOLS + SYMBOL_BYTES + NAMES };
    static const char names[NAMES] = "\0work\0trap\0tick";
    struct image image = {.used = 0};
    struct extract_symbols *symbols;
    struct extract_error error;

    put_text(&image,
             "\x7F"
             "ELF\1\2\1\0\0\0\0\0\0\0\0\0",
             16);
    put(&image, 2, ET_EXEC);
    put(&image, 2, EM_68K);
    put(&image, 4, EV_CURRENT);
    put(&image, 4, WORK);
    put(&image, 4, 0);
    put(&image, 4, SECTIONS);
    put(&image, 4, 0);
    put(&image, 2, HEADER);
    put(&image, 4, 0); // no program headers
    put(&image, 2, 40);
    put(&image, 2, 4);
    put(&image, 2, 3);
    for (unsigned i = 0; i < TABLE_BYTES / 4; i++)
        put(&image, 4, !has_table ? 0 : i == TICK_VECTOR ? TICK : TRAP);
    for (unsigned i = 0; i < 0x60 / 2; i++)
        put(&image, 2, 0x4E71);
    for (unsigned i = 0; i < 4; i++)
        put(&image, 4, 0);
    put_function(&image, 1, WORK);
    put_function(&image, 6, TRAP);
    put_function(&image, 11, TICK);
    put_text(&image, names, NAMES);
    put_section(&image, SHT_NULL, 0, 0, 0, 0, 0, 0);
    put_section(&image, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE, HEADER, CODE_BYTES, 0, 0);
    put_section(&image, SHT_SYMTAB, 0, 0, SYMBOLS, SYMBOL_BYTES, 3, 16);
    put_section(&image, SHT_STRTAB, 0, 0, SYMBOLS + SYMBOL_BYTES, NAMES, 0, 0);
    assert_int_equal(
        extract_symbols_open_bytes(&symbols, "hand.elf", image.bytes, image.used, &error),
        EXTRACT_OK);
    return symbols;
}

// A core, and the two words on top of its stack.
struct core {
    uint32_t pc, status, sp;
    uint32_t word, saved_pc;
};

static bool read_frame(const struct core *core, bool has_table, struct kernel_coldfire_frame *frame)
{
    struct extract_registers registers = {.known = 0};
    struct image stack = {.used = 0};
    struct extract_memory *memory;

    for (unsigned i = 0; i < M68K_SP; i++)
        register_set(&registers, i, i);
    register_set(&registers, M68K_SP, core->sp);
    register_set(&registers, M68K_PS, core->status);
    register_set(&registers, M68K_PC, core->pc);
    put(&stack, 4, core->word);
    put(&stack, 4, core->saved_pc);
    put(&stack, 4, 0);
    assert_int_equal(extract_memory_new_images(&memory, NULL), EXTRACT_OK);
    assert_int_equal(
        extract_memory_add_bytes(memory, "stack", stack.bytes, stack.used, core->sp, NULL),
        EXTRACT_OK);
    struct extract_symbols *symbols = open_program(has_table);
    bool is_frame = kernel_read_coldfire_frame(memory, symbols, &registers, frame);
    struct extract_registers interrupted;
    assert_int_equal(kernel_interrupted_coldfire(memory, symbols, &registers, &interrupted),
                     is_frame && frame->handler == KERNEL_HANDLER_ENTERED);
    extract_symbols_close(symbols);
    extract_memory_close(memory);
    return is_frame;
}

static uint32_t word(unsigned format, unsigned vector, unsigned fault_status, unsigned status)
{
    return format << 28 | (fault_status & 0xCU) << 24 | vector << 18 | (fault_status & 3) << 16 |
           status;
}

static void expect_frame(struct core core, uint64_t sp)
{
    struct kernel_coldfire_frame frame;
    uint64_t value;

    assert_true(read_frame(&core, true, &frame));
    assert_int_equal(frame.handler, KERNEL_HANDLER_ENTERED);
    assert_int_equal(frame.vector, core.word >> 18 & 0xFF);
    assert_int_equal(frame.registers.value[M68K_PC], core.saved_pc);
    assert_int_equal(frame.registers.value[M68K_PS], core.word & 0xFFFF);
    assert_int_equal(frame.registers.value[3], 3);
    assert_int_equal(register_get(&frame.registers, M68K_SP, &value), sp != 0);
    if (sp)
        assert_int_equal(value, sp);
}

static void expect_none(struct core core)
{
    struct kernel_coldfire_frame frame;

    assert_false(read_frame(&core, true, &frame));
}

static void frames(void **state)
{
    (void)state;

    expect_frame((struct core){TRAP, LOCKED, STACK, word(4, 5, 0, SUPERVISOR), WORK + 4},
                 STACK + 8);
    // The stack pointer was not aligned.
    expect_frame((struct core){TRAP + 6, SUPERVISOR, STACK, word(6, 4, 0, SUPERVISOR), WORK},
                 STACK + 10);
    // An access error has a status; a call through a wrong pointer is an error, too.
    expect_frame((struct core){TRAP, SUPERVISOR, STACK, word(4, 2, 8, 0x2704), WORK}, STACK + 8);
    expect_frame((struct core){TRAP, SUPERVISOR, STACK, word(4, 2, 4, SUPERVISOR), WILD},
                 STACK + 8);
    expect_frame((struct core){TRAP, SUPERVISOR, STACK, word(4, 4, 0, SUPERVISOR), WILD},
                 STACK + 8);
    expect_frame((struct core){TRAP, SUPERVISOR, STACK, word(4, 3, 4, SUPERVISOR), WILD + 1},
                 STACK + 8);
    expect_frame((struct core){TICK, 0x2300, STACK, word(4, TICK_VECTOR, 0, 0x201F), WORK},
                 STACK + 8);
    // The stack pointer of a user is not on this stack.
    expect_frame((struct core){TRAP, LOCKED, STACK, word(4, 8, 0, 0), WORK}, 0);
}

// Words that are on stacks, too.
static void other_data(void **state)
{
    (void)state;

    // A pointer into memory at 0x400C0000, as a function's local variable; then a return address.
    expect_none((struct core){WORK + 8, SUPERVISOR, STACK, 0x400C0000, WORK + 4});
    expect_none((struct core){WORK + 8, SUPERVISOR, STACK, 0x400C2000, WORK + 4});
    // The same in a handler that has pushed it: vector 3 leads to another one.
    expect_none((struct core){TICK + 8, LOCKED, STACK, 0x400C2000, WORK + 4});
    const struct core good = {TRAP, LOCKED, STACK, word(4, 5, 0, SUPERVISOR), WORK};
    expect_frame(good, STACK + 8);
    for (unsigned format = 0; format < 16; format++) {
        struct core core = good;
        core.word = word(format, 5, 0, SUPERVISOR);
        if (format >= 4 && format <= 7)
            expect_frame(core, STACK + 8 + format - 4);
        else
            expect_none(core);
    }
    struct core core = good;
    core.sp += 2; // the core aligns it
    expect_none(core);
    core = good;
    core.status = 0x700; // a user's program
    expect_none(core);
    core.status = 0xA700; // an exception switches the trace off
    expect_none(core);
    core = good;
    core.saved_pc++;
    expect_none(core);
    // No other bits of the status register exist.
    for (unsigned bit = 0; bit < 16; bit++) {
        core = good;
        core.word |= 1U << bit;
        if (0x48E0 >> bit & 1)
            expect_none(core);
        else
            expect_frame(core, STACK + 8);
    }
}

static void vectors(void **state)
{
    (void)state;

    // Vectors of a reset, and reserved ones.
    static const uint8_t none[] = {0, 1, 6, 7, 16, 20, 23, 56, 60, 62, 63};
    for (size_t i = 0; i < sizeof none; i++)
        expect_none((struct core){TRAP, LOCKED, STACK, word(4, none[i], 0, SUPERVISOR), WORK});
    // The status of a fault: reserved numbers, and vectors that have none.
    static const uint8_t reserved[] = {1, 2, 3, 11};
    for (size_t i = 0; i < sizeof reserved; i++)
        expect_none((struct core){TRAP, LOCKED, STACK, word(4, 2, reserved[i], SUPERVISOR), WORK});
    for (unsigned status = 1; status < 16; status++) {
        expect_none((struct core){TRAP, LOCKED, STACK, word(4, 4, status, SUPERVISOR), WORK});
        const struct core core = {TICK, LOCKED, STACK, word(4, TICK_VECTOR, status, SUPERVISOR),
                                  WORK};
        if (status == 2) // in a debug service routine
            expect_frame(core, STACK + 8);
        else
            expect_none(core);
    }
    // A supervisor may execute all instructions.
    expect_none((struct core){TRAP, LOCKED, STACK, word(4, 8, 0, SUPERVISOR), WORK});
    // An interrupt is not accepted below the mask, and not at data.
    expect_none((struct core){TICK, 0x2300, STACK, word(4, TICK_VECTOR, 0, 0x2300), WORK});
    expect_none((struct core){TICK, LOCKED, STACK, word(4, TICK_VECTOR, 0, SUPERVISOR), WILD});
    // The core is in the handler of another vector.
    expect_none((struct core){TICK, LOCKED, STACK, word(4, 4, 0, SUPERVISOR), WORK});
    expect_none((struct core){TRAP, LOCKED, STACK, word(4, TICK_VECTOR, 0, SUPERVISOR), WORK});
}

// Without a vector table, the best that can be said is that the words may be a frame.
static void no_table(void **state)
{
    struct core core = {TRAP, LOCKED, STACK, word(4, 4, 0, SUPERVISOR), WORK};
    struct kernel_coldfire_frame frame;

    (void)state;
    assert_true(read_frame(&core, false, &frame));
    assert_int_equal(frame.handler, KERNEL_HANDLER_UNKNOWN);
    core.saved_pc = WILD;
    assert_false(read_frame(&core, false, &frame));
    core = (struct core){TRAP, LOCKED, STACK, word(4, 4, 0, 0), WORK};
    assert_false(read_frame(&core, false, &frame));
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames), cmocka_unit_test(other_data),
                                       cmocka_unit_test(vectors), cmocka_unit_test(no_table)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
