// SPDX-License-Identifier: MIT
// Tests of kernel/contexts.c on frames made by hand. Word I of a frame holds 0x100 + I, except
// where the test sets it.
#include "kernel/kernel_room.h"
#include "registers/fpu.h"
#include <elf.h>
#include <string.h>
#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>
#include <stdlib.h>

enum { WORDS = 128, BASE = 0x20000000 };

static struct kernel_reader reader_of(uint16_t machine, unsigned word_bytes,
                                      enum extract_byte_order order)
{
    return (struct kernel_reader){.machine = machine,
                                  .word_bytes = word_bytes,
                                  .order = order,
                                  .registers =
                                      register_machine_find(machine, word_bytes, true)
                                          ?: register_machine_find(machine, word_bytes, false)};
}

// Puts a frame into memory. `set` holds pairs of an index and a value; an index of WORDS ends it.
static void put_frame(struct kernel_reader *reader, const uint64_t set[][2])
{
    uint64_t words[WORDS];
    uint8_t bytes[WORDS * 8];

    for (uint64_t i = 0; i < WORDS; i++)
        words[i] = 0x100 + i;
    for (size_t i = 0; set[i][0] < WORDS; i++)
        words[set[i][0]] = set[i][1];
    for (size_t i = 0; i < WORDS; i++)
        for (unsigned k = 0; k < reader->word_bytes; k++) {
            unsigned place = reader->order == EXTRACT_BIG ? reader->word_bytes - 1 - k : k;
            bytes[i * reader->word_bytes + place] = (uint8_t)(words[i] >> 8 * k);
        }
    assert_int_equal(extract_memory_new_images(&reader->memory, NULL), EXTRACT_OK);
    assert_int_equal(extract_memory_add_bytes(reader->memory, "frame", bytes,
                                              WORDS * reader->word_bytes, BASE, NULL),
                     EXTRACT_OK);
}

typedef bool context_function(struct kernel_reader *reader, struct kernel_saved *saved,
                              struct extract_registers *registers);

static bool read_frame(struct kernel_reader *reader, context_function *function, bool has_fpu,
                       struct extract_registers *registers)
{
    return function(reader, &(struct kernel_saved){.sp = BASE, .has_fpu = has_fpu}, registers);
}

static void expect_register(const struct extract_registers *registers, unsigned index,
                            uint64_t expected)
{
    uint64_t value = ~expected;

    assert_true(register_get(registers, index, &value));
    assert_int_equal(value, expected);
}

// Checks which registers are known, and where some of them are: pairs of a register and the index
// of its word; an index of WORDS ends them.
static void expect_places(struct kernel_reader reader, context_function *function, bool has_fpu,
                          const uint64_t set[][2], uint64_t known, const unsigned places[][2])
{
    struct extract_registers registers;

    put_frame(&reader, set);
    assert_true(read_frame(&reader, function, has_fpu, &registers));
    assert_int_equal(registers.known, known);
    for (size_t i = 0; places[i][1] < WORDS; i++)
        expect_register(&registers, places[i][0], 0x100 + places[i][1]);
    extract_memory_close(reader.memory);
}

static void expect(struct kernel_reader reader, context_function *function, bool has_fpu,
                   const uint64_t set[][2], uint64_t pc, uint64_t words)
{
    struct extract_registers registers;

    put_frame(&reader, set);
    assert_true(read_frame(&reader, function, has_fpu, &registers));
    expect_register(&registers, reader.registers->pc, pc);
    expect_register(&registers, reader.registers->sp, BASE + words * reader.word_bytes);
    extract_memory_close(reader.memory);
}

static void expect_none(struct kernel_reader reader, context_function *function,
                        const uint64_t set[][2])
{
    struct extract_registers registers;

    put_frame(&reader, set);
    assert_false(read_frame(&reader, function, false, &registers));
    assert_int_equal(registers.known, 0);
    extract_memory_close(reader.memory);
}

enum { NONE = WORDS + 1 };

// Checks where registers of the FPU are: pairs of a number and the index of the word with its first
// bytes; NONE: they are not saved. `bytes`: of those that are not of control.
static void expect_fpu(struct kernel_reader reader, context_function *function,
                       const uint64_t set[][2], unsigned bytes, const unsigned places[][2])
{
    struct kernel_saved saved = {.sp = BASE};
    struct extract_registers registers;
    uint8_t value[8], expected[8];
    size_t got;

    put_frame(&reader, set);
    assert_true(function(&reader, &saved, &registers));
    for (size_t i = 0; places[i][1] != WORDS; i++) {
        const unsigned length = places[i][0] < EXTRACT_FPU_CONTROL ? bytes : 4;
        bool is_saved = fpu_register_read(saved.fpu, reader.memory, places[i][0], value, length);
        assert_int_equal(is_saved, places[i][1] != NONE);
        if (!is_saved)
            continue;
        extract_memory_read(reader.memory, BASE + (uint64_t)places[i][1] * reader.word_bytes,
                            expected, length, &got, NULL);
        assert_int_equal(got, length);
        assert_memory_equal(value, expected, length);
    }
    extract_memory_close(reader.memory);
}

#define END                                                                                        \
    {                                                                                              \
        WORDS, 0                                                                                   \
    }

static void arm(void **state)
{
    const struct kernel_reader reader = reader_of(EM_ARM, 4, EXTRACT_LITTLE);
    (void)state;

    // ThreadX: EXC_RETURN, r4 to r11, the frame of 8 words; pc has index 15, xpsr 16.
    const uint64_t plain[][2] = {{0, 0xFFFFFFFD}, {15, 0x8001}, {16, 0x01000000}, END};
    expect(reader, kernel_context_threadx, false, plain, 0x8000, 17);
    const uint64_t aligned[][2] = {{0, 0xFFFFFFBC}, {16, 0x01000200}, END};
    expect(reader, kernel_context_threadx, false, aligned, 0x10E, 18);
    // With an FPU frame: 16 words more below the frame, 18 more in it.
    const uint64_t fpu[][2] = {{0, 0xFFFFFFED}, {31, 0x8002}, {32, 0x01000000}, END};
    expect(reader, kernel_context_threadx, false, fpu, 0x8002, 25 + 26);
    const uint64_t destroyed[][2] = {{0, 0x20001234}, {16, 0x01000000}, END};
    expect_none(reader, kernel_context_threadx, destroyed);
    const uint64_t no_thumb[][2] = {{0, 0xFFFFFFFD}, {16, 0}, END};
    expect_none(reader, kernel_context_threadx, no_thumb);
    // FreeRTOS: r4 to r11, with or without EXC_RETURN.
    const uint64_t m3[][2] = {{14, 0x8004}, {15, 0x01000000}, END};
    expect(reader, kernel_context_freertos, false, m3, 0x8004, 16);
    const uint64_t m3_minus_3[][2] = {
        {8, 0xFFFFFFFD}, {14, 0x8004}, {15, 0x01000000}, {16, 0}, END};
    expect(reader, kernel_context_freertos, false, m3_minus_3, 0x8004, 16);
    const uint64_t m4[][2] = {{8, 0xFFFFFFFD}, {15, 0x8006}, {16, 0x01000000}, END};
    expect(reader, kernel_context_freertos, false, m4, 0x8006, 17);
    const uint64_t m4_fpu[][2] = {{8, 0xFFFFFFED}, {31, 0x8008}, {32, 0x01000000}, END};
    expect(reader, kernel_context_freertos, false, m4_fpu, 0x8008, 51);
    expect(reader, kernel_context_bout, false, m4, 0x8006, 17);
    expect(reader, kernel_context_bout, false, m4_fpu, 0x8008, 51);
    // r0 is -1, not an EXC_RETURN, although its upper bits are those of one.
    const uint64_t minus_1[][2] = {
        {8, 0xFFFFFFFF}, {14, 0x800A}, {15, 0x01000000}, {16, 0x01000000}, END};
    expect(reader, kernel_context_bout, false, minus_1, 0x800A, 16);
}

static void riscv(void **state)
{
    struct kernel_reader reader = reader_of(EM_RISCV, 8, EXTRACT_LITTLE);
    (void)state;

    const uint64_t solicited[][2] = {{0, 0}, END}, interrupted[][2] = {{0, 1}, END},
                   destroyed[][2] = {{0, 0xFFFF}, END};
    expect(reader, kernel_context_threadx, false, solicited, 0x10D, 16);
    expect(reader, kernel_context_threadx, false, interrupted, 0x11E, 32);
    expect_none(reader, kernel_context_threadx, destroyed);
    reader.elf_flags = EF_RISCV_FLOAT_ABI_DOUBLE;
    expect(reader, kernel_context_threadx, false, solicited, 0x10D, 29);
    expect(reader, kernel_context_threadx, false, interrupted, 0x11E, 65);
}

// Arm's A- and R-profile: status 0x1F is that of system mode.
static void arm_classic(void **state)
{
    struct kernel_reader reader = reader_of(EM_ARM, 4, EXTRACT_LITTLE);
    (void)state;

    reader.registers = register_machine_find(EM_ARM, 4, false);
    const uint64_t solicited[][2] = {{0, 0}, {1, 0x1F}, {10, 0x8001}, END};
    const unsigned solicited_places[][2] = {{4, 2}, {11, 9}, {0, WORDS}};
    expect(reader, kernel_context_threadx, false, solicited, 0x8000, 11);
    expect_places(reader, kernel_context_threadx, false, solicited, 0x1EFF0, solicited_places);
    // GDB does not unwind without a status. Its bit of Thumb is that of lr, not of the kernel.
    const uint64_t states[][2] = {{0x8001, 0x3F}, {0x8000, 0x1F}};
    for (size_t i = 0; i < 2; i++) {
        struct extract_registers registers;
        const uint64_t frame[][2] = {{0, 0}, {1, 0x1F | (i << 5)}, {10, states[i][0]}, END};
        put_frame(&reader, frame);
        assert_true(read_frame(&reader, kernel_context_threadx, false, &registers));
        expect_register(&registers, ARM_PSR, states[i][1]);
        extract_memory_close(reader.memory);
    }
    const uint64_t interrupted[][2] = {{0, 1}, {1, 0x6000001F}, END};
    const unsigned interrupted_places[][2] = {{0, 2}, {12, 14}, {14, 15}, {15, 16}, {0, WORDS}};
    expect(reader, kernel_context_threadx, false, interrupted, 0x110, 17);
    expect_places(reader, kernel_context_threadx, false, interrupted, 0x1FFFF, interrupted_places);
    // A status without a mode, another type, and the unknown layout with the FPU.
    const uint64_t no_mode[][2] = {{0, 1}, {1, 0x60000015}, END},
                   other[][2] = {{0, 2}, {1, 0x1F}, END};
    expect_none(reader, kernel_context_threadx, no_mode);
    expect_none(reader, kernel_context_threadx, other);
    // What would be a frame of FreeRTOS on Arm's M-profile.
    const uint64_t m3[][2] = {{14, 0x8004}, {15, 0x01000000}, END};
    expect_none(reader, kernel_context_freertos, m3);
    struct extract_registers registers;
    put_frame(&reader, solicited);
    assert_false(read_frame(&reader, kernel_context_threadx, true, &registers));
    extract_memory_close(reader.memory);
}

// ---- FreeRTOS: what fits is taken ----

// A function of this executable. Its symbols are at the addresses of the file, which are short.
__attribute__((noinline, used, aligned(16))) static void parked(void)
{
    __asm__ volatile("nop\n nop\n nop\n nop");
}

static struct extract_symbol open_code(struct kernel_reader *reader)
{
    struct extract_symbol symbol;

    (void)parked;
    assert_int_equal(extract_symbols_open(&reader->symbols, "/proc/self/exe", NULL), EXTRACT_OK);
    assert_true(extract_symbols_by_name(reader->symbols, "parked", &symbol));
    return symbol;
}

// Checks where a task continues and its stack pointer; 0 words: the frame is not one. The stack
// has the words, and no more.
static const char *expect_task(struct kernel_reader *reader, const uint64_t set[][2], uint64_t pc,
                               uint64_t words)
{
    struct kernel_saved saved = {
        .sp = BASE, .stack_start = BASE, .stack_end = BASE + WORDS * reader->word_bytes};
    struct extract_registers registers;

    put_frame(reader, set);
    assert_int_equal(kernel_context_freertos(reader, &saved, &registers), words != 0);
    if (words) {
        expect_register(&registers, reader->registers->pc, pc);
        expect_register(&registers, reader->registers->sp, BASE + words * reader->word_bytes);
    }
    extract_memory_close(reader->memory);
    return saved.problem;
}

// RISC-V. Until V11.2: mepc, x1, x5 to x31, the depth (since V10.5), and mstatus. V11.3: mepc,
// mstatus, the changed registers of the FPU, x1, x5 to x31, and the depth. x1 shows which one it
// is.
static void freertos_riscv(void **state)
{
    enum { FPU_CHANGED = 0x7880 };
    (void)state;

    for (unsigned bytes = 4; bytes <= 8; bytes += 4) {
        struct kernel_reader reader = reader_of(EM_RISCV, bytes, EXTRACT_LITTLE);
        const uint64_t pc = open_code(&reader).address;
        const unsigned half = 33, whole = 33 * 8 / bytes;
        const uint64_t v104[][2] = {{0, pc + 2}, {1, pc}, {29, 0x1880}, END},
                       v105[][2] = {{0, pc + 4}, {1, pc}, {29, 3}, {30, 0x1888}, END},
                       v113[][2] = {{0, pc + 2}, {1, 0x1880}, {2, pc}, {30, 0}, END},
                       changed[][2] = {{0, pc},
                                       {1, FPU_CHANGED},
                                       {2 + half, pc},
                                       {30 + half, 1},
                                       END},
                       doubles[][2] = {{0, pc},         {1, FPU_CHANGED}, {2, 0}, {30, 0},
                                       {2 + whole, pc}, {30 + whole, 0},  END},
                       new_task[][2] = {{0, pc}, {1, 0x1880}, {2, 0}, {30, 0}, END};
        expect_task(&reader, v104, pc + 2, 30);
        expect_task(&reader, v105, pc + 4, 31);
        expect_task(&reader, v113, pc + 2, 31);
        if (bytes == 4) // with 8 bytes, fcsr of that port is stored over x1
            expect_task(&reader, changed, pc, 31 + half);
        expect_task(&reader, doubles, pc, 31 + whole);
        expect_task(&reader, new_task, pc, 31);
        // After a call through a null pointer, x1 is code and mepc is not.
        const uint64_t lost[][2] = {{0, 0}, {1, 0x1880}, {2, pc + 2}, {30, 0}, END};
        expect_task(&reader, lost, 0, 31);
        // No x1 is code; x1 of both layouts is; mstatus is none.
        const uint64_t no_link[][2] = {{0, pc}, {1, 0x1880}, {30, 0}, END},
                       two[][2] = {{0, pc}, {1, 0x1880}, {2, pc}, {2 + whole, pc}, {30, 0}, END},
                       user[][2] = {{0, pc}, {1, 0x80}, {2, pc}, {30, 0}, END},
                       no_status[][2] = {{0, pc}, {1, pc}, {29, 3}, {30, 0x20001234}, END};
        expect_task(&reader, no_link, 0, 0);
        expect_task(&reader, two, pc, 31); // mstatus: the FPU is unchanged
        expect_task(&reader, user, 0, 0);
        expect_task(&reader, no_status, 0, 0);
        const uint64_t either[][2] = {{0, pc},         {1, FPU_CHANGED}, {2, pc}, {30, 0},
                                      {2 + whole, pc}, {30 + whole, 0},  END};
        expect_task(&reader, either, 0, 0);
        // Which registers are known, and where they are.
        const unsigned old_places[][2] = {{5, 2}, {31, 28}, {0, WORDS}},
                       new_places[][2] = {{5, 3}, {31, 29}, {0, WORDS}},
                       fpu_places[][2] = {{5, 3 + whole}, {31, 29 + whole}, {0, WORDS}};
        expect_places(reader, kernel_context_freertos, false, v105, 0x1FFFFFFE6, old_places);
        expect_places(reader, kernel_context_freertos, false, v113, 0x1FFFFFFE6, new_places);
        expect_places(reader, kernel_context_freertos, false, doubles, 0x1FFFFFFE6, fpu_places);
        const unsigned fpu_at[][2] = {{0, 2},
                                      {1, 2 + 8 / bytes},
                                      {31, 2 + 31 * 8 / bytes},
                                      {EXTRACT_FPU_CONTROL, 2 + 32 * 8 / bytes},
                                      {0, WORDS}},
                       not_saved[][2] = {{0, NONE}, {EXTRACT_FPU_CONTROL, NONE}, {0, WORDS}};
        expect_fpu(reader, kernel_context_freertos, doubles, 8, fpu_at);
        expect_fpu(reader, kernel_context_freertos, v113, 8, not_saved);
        // RV32E has no x16 to x31.
        reader.elf_flags = 0x8 /* EF_RISCV_RVE */;
        const uint64_t embedded[][2] = {{0, pc}, {1, 0x1880}, {2, pc}, {14, 0}, END},
                       embedded_before[][2] = {{0, pc}, {1, pc}, {13, 0}, {14, 0x1880}, END};
        expect_task(&reader, embedded, pc, 15);
        expect_task(&reader, embedded_before, pc, 15);
        extract_symbols_close(reader.symbols);
    }
}

// RV64 with registers of the FPU of 32 bits: V11.3 stores fcsr over the lower half of x1, which is
// not known then. The frame begins in the middle of a word.
static void freertos_riscv_floats(void **state)
{
    enum { HALF = 4, FLOATS = 33 * HALF, MIDDLE = 27, LINK_AT = 2 * 8 + FLOATS };
    const uint64_t words = 2 + 1 + MIDDLE + 1, end = BASE + HALF + words * 8 + FLOATS;
    struct kernel_saved saved = {.sp = BASE + HALF, .stack_start = BASE, .stack_end = end + 64};
    struct kernel_reader reader = reader_of(EM_RISCV, 8, EXTRACT_LITTLE);
    const uint64_t pc = open_code(&reader).address, status = 0x7880;
    uint8_t bytes[WORDS * 8];
    struct extract_registers registers;
    (void)state;

    for (unsigned is_damaged = 0; is_damaged < 3; is_damaged++) {
        memset(bytes, 0, sizeof bytes);
        memcpy(bytes + HALF, &pc, 8);
        memcpy(bytes + HALF + 8, &status, 8);
        memset(bytes + HALF + 16, 0x3F, FLOATS - HALF); // and fcsr, 0
        bytes[HALF + LINK_AT] = is_damaged == 1;        // the lower half of x1
        saved.sp = BASE + (is_damaged == 2 ? 0 : HALF);
        assert_int_equal(extract_memory_new_images(&reader.memory, NULL), EXTRACT_OK);
        assert_int_equal(
            extract_memory_add_bytes(reader.memory, "frame", bytes, sizeof bytes, BASE, NULL),
            EXTRACT_OK);
        assert_int_equal(kernel_context_freertos(&reader, &saved, &registers), !is_damaged);
        if (!is_damaged) {
            expect_register(&registers, reader.registers->pc, pc);
            expect_register(&registers, reader.registers->sp, end);
            assert_false(registers.known & 2); // x1
        }
        extract_memory_close(reader.memory);
    }
    extract_symbols_close(reader.symbols);
}

// Armv8-M: the limit is the start of the stack, BASE, before EXC_RETURN and r4.
static void freertos_armv8m(void **state)
{
    struct kernel_reader reader = reader_of(EM_ARM, 4, EXTRACT_LITTLE);
    uint64_t pc = open_code(&reader).address & ~UINT64_C(1);
    (void)state;

    const uint64_t one[][2] = {{0, BASE}, {1, 0xFFFFFFBC}, {16, pc}, {17, 0x01000000}, END};
    assert_null(expect_task(&reader, one, pc, 18));
    const uint64_t aligned[][2] = {{0, BASE}, {1, 0xFFFFFFFD}, {16, pc}, {17, 0x61000200}, END};
    assert_null(expect_task(&reader, aligned, pc, 19));
    const uint64_t fpu[][2] = {{0, BASE}, {1, 0xFFFFFFAC}, {32, pc}, {33, 0x01000000}, END};
    assert_null(expect_task(&reader, fpu, pc, 34 + 18));
    // Secure code with the FPU: bit 20 of the stacked status says so.
    const uint64_t secure_fpu[][2] = {{0, BASE}, {1, 0xFFFFFFED}, {32, pc}, {33, 0x61100000}, END};
    assert_null(expect_task(&reader, secure_fpu, pc, 34 + 18));
    const uint64_t side[][2] = {{0, 0},   {1, BASE},        {2, 0xFFFFFFBC},
                                {17, pc}, {18, 0x01000000}, END};
    assert_null(expect_task(&reader, side, pc, 19));
    // lr of such a frame has the bit that xpsr has, so that it looks like one of a Cortex-M3.
    const uint64_t lr[][2] = {{0, BASE}, {1, 0xFFFFFFBC},  {15, 0x01000000},
                              {16, pc},  {17, 0x01000000}, END};
    assert_null(expect_task(&reader, lr, pc, 18));
    // In a secure function: what is above is no frame, although it may look like one.
    const uint64_t secure[][2] = {{0, 8},   {1, BASE},        {2, 0xFFFFFFFD},
                                  {17, pc}, {18, 0x01000000}, END};
    assert_string_equal(expect_task(&reader, secure, 0, 0),
                        "the task was in a secure function, whose stack has them");
    // Armv8-M without the register of the limit, where the task is in code.
    const uint64_t no_limit[][2] = {{0, 0}, {1, 0xFFFFFFBC}, {16, pc}, {17, 0x01000000}, END};
    assert_null(expect_task(&reader, no_limit, pc, 18));
    // Called through NULL, and suspended before it faults: lr is code, and xpsr has no Thumb bit.
    const uint64_t null_call[][2] = {{0, BASE}, {1, 0xFFFFFFBC}, {15, pc + 1},
                                     {16, 0},   {17, 0},         END};
    assert_null(expect_task(&reader, null_call, 0, 18));
    const uint64_t zeros[][2] = {{0, BASE}, {1, 0xFFFFFFBC}, {15, 0}, {16, 0}, {17, 0}, END};
    expect_task(&reader, zeros, 0, 0);
    // The limit of another stack, an exception in xpsr, a main stack.
    const uint64_t other[][2] = {{0, 0},   {1, BASE + 64},   {2, 0xFFFFFFBC},
                                 {17, pc}, {18, 0x01000000}, END};
    expect_task(&reader, other, 0, 0);
    const uint64_t exception[][2] = {{0, BASE}, {1, 0xFFFFFFBC}, {16, pc}, {17, 0x0100000E}, END};
    expect_task(&reader, exception, 0, 0);
    const uint64_t on_main[][2] = {{0, BASE}, {1, 0xFFFFFFB8}, {16, pc}, {17, 0x01000000}, END};
    expect_task(&reader, on_main, 0, 0);
    extract_symbols_close(reader.symbols);
}

// The port's variable, which shows that there is a flag.
__attribute__((used)) unsigned ulPortTaskHasFPUContext;

static void freertos_classic(void **state)
{
    struct kernel_reader reader = reader_of(EM_ARM, 4, EXTRACT_LITTLE);
    uint64_t pc = open_code(&reader).address;
    (void)state;

    reader.registers = register_machine_find(EM_ARM, 4, false);
    const uint64_t no_flag[][2] = {{0, 0}, {15, pc}, {16, 0x6000001F}, END};
    expect_task(&reader, no_flag, 0, 0);
    const uint64_t flag[][2] = {{0, 0}, {1, 1}, {16, pc + 2}, {17, 0x3F}, END};
    expect_task(&reader, flag, pc + 2, 18);
    const uint64_t short_fpu[][2] = {{0, 1}, {34, 0}, {49, pc}, {50, 0x1F}, END};
    expect_task(&reader, short_fpu, pc, 51);
    const uint64_t fpu[][2] = {{0, 1}, {66, 0}, {81, pc}, {82, 0x1F}, END};
    expect_task(&reader, fpu, pc, 83);
    // The mode of an exception, no code, an odd address, a depth that is none, two that fit.
    const uint64_t mode[][2] = {{0, 0}, {1, 0}, {16, pc}, {17, 0x13}, END};
    expect_task(&reader, mode, 0, 0);
    const uint64_t data[][2] = {{0, 0}, {1, 0}, {16, BASE}, {17, 0x1F}, END};
    expect_task(&reader, data, 0, 0);
    const uint64_t odd[][2] = {{0, 0}, {1, 0}, {16, pc + 2}, {17, 0x1F}, END};
    expect_task(&reader, odd, 0, 0);
    const uint64_t depth[][2] = {{0, 0}, {1, 9999}, {16, pc}, {17, 0x1F}, END};
    expect_task(&reader, depth, 0, 0);
    const uint64_t two[][2] = {{0, 1},  {34, 0},  {49, pc},   {50, 0x1F},
                               {66, 0}, {81, pc}, {82, 0x1F}, END};
    expect_task(&reader, two, 0, 0);
    extract_symbols_close(reader.symbols);
}

static void freertos_aarch64(void **state)
{
    struct kernel_reader reader = reader_of(EM_AARCH64, 8, EXTRACT_LITTLE);
    uint64_t pc = open_code(&reader).address;
    (void)state;

    const uint64_t plain[][2] = {{0, 0}, {1, 0}, {2, pc}, {3, 0x6000030C}, {5, 0}, END};
    const unsigned places[][2] = {{30, 4}, {28, 6}, {29, 7}, {0, 34}, {1, 35}, {33, 3}, {0, WORDS}};
    expect_task(&reader, plain, pc, 36);
    struct extract_registers registers;
    put_frame(&reader, plain);
    assert_true(read_frame(&reader, kernel_context_freertos, false, &registers));
    assert_int_equal(registers.known, 0x3FFFFFFFF);
    for (size_t i = 0; i < 5; i++)
        expect_register(&registers, places[i][0], 0x100 + places[i][1]);
    extract_memory_close(reader.memory);
    const uint64_t fpu[][2] = {{0, 1}, {1, 0}, {66, pc}, {67, 5}, {69, 0}, END};
    expect_task(&reader, fpu, pc, 100);
    const uint64_t control[][2] = {{0, 1}, {1, 2}, {68, pc}, {69, 4}, {71, 0}, END};
    expect_task(&reader, control, pc, 102);
    // AArch32, a reserved mode, a register where 0 is due, a flag without the registers.
    const uint64_t narrow[][2] = {{0, 0}, {1, 0}, {2, pc}, {3, 0x1F}, {5, 0}, END};
    expect_task(&reader, narrow, 0, 0);
    const uint64_t mode[][2] = {{0, 0}, {1, 0}, {2, pc}, {3, 7}, {5, 0}, END};
    expect_task(&reader, mode, 0, 0);
    const uint64_t zero[][2] = {{0, 0}, {1, 0}, {2, pc}, {3, 4}, END};
    expect_task(&reader, zero, 0, 0);
    const uint64_t flag[][2] = {{0, 1}, {1, 0}, {2, pc}, {3, 4}, {5, 0}, END};
    expect_task(&reader, flag, 0, 0);
    extract_symbols_close(reader.symbols);
}

static void aarch64(void **state)
{
    const struct kernel_reader reader = reader_of(EM_AARCH64, 8, EXTRACT_LITTLE);
    (void)state;

    const uint64_t solicited[][2] = {{1, 0}, END}, interrupted[][2] = {{1, 0x40001000}, END};
    expect(reader, kernel_context_threadx, false, solicited, 0x100 + 13, 14);
    expect(reader, kernel_context_threadx, true, solicited, 0x100 + 31, 32);
    expect(reader, kernel_context_threadx, false, interrupted, 0x40001000, 34);
    expect(reader, kernel_context_threadx, true, interrupted, 0x40001000, 100);
}

static void coldfire(void **state)
{
    const struct kernel_reader reader = reader_of(EM_68K, 4, EXTRACT_BIG);
    (void)state;

    const uint64_t aligned[][2] = {{15, 0x40002000}, {16, 0x40000500}, END};
    expect(reader, kernel_context_bout, false, aligned, 0x40000500, 17);
    const uint64_t no_frame[][2] = {{15, 0}, END};
    expect_none(reader, kernel_context_bout, no_frame);
}

// The words of each register, from the documents of the ports.
static void places(void **state)
{
    struct kernel_reader arm = reader_of(EM_ARM, 4, EXTRACT_LITTLE),
                         risc = reader_of(EM_RISCV, 8, EXTRACT_LITTLE),
                         wide = reader_of(EM_AARCH64, 8, EXTRACT_LITTLE),
                         cold = reader_of(EM_68K, 4, EXTRACT_BIG);
    (void)state;

    const uint64_t plain[][2] = {{0, 0xFFFFFFFD}, {16, 0x01000000}, END};
    const unsigned arm_places[][2] = {{4, 1},   {11, 8},  {0, 9},    {3, 12},
                                      {12, 13}, {14, 14}, {0, WORDS}};
    expect_places(arm, kernel_context_threadx, false, plain, 0x1FFFF, arm_places);
    const uint64_t fpu[][2] = {{0, 0xFFFFFFED}, {32, 0x01000000}, END};
    const unsigned fpu_places[][2] = {{4, 17}, {11, 24}, {0, 25}, {14, 30}, {0, WORDS}};
    expect_places(arm, kernel_context_threadx, false, fpu, 0x1FFFF, fpu_places);

    // x1, x2, x8, x9, x18 to x27, pc
    const uint64_t solicited[][2] = {{0, 0}, END};
    const unsigned solicited_places[][2] = {{27, 1}, {18, 10}, {9, 11},
                                            {8, 12}, {1, 13},  {0, WORDS}};
    expect_places(risc, kernel_context_threadx, false, solicited, 0x10FFC0306, solicited_places);
    const uint64_t interrupted[][2] = {{0, 1}, END};
    const unsigned interrupted_places[][2] = {{27, 1},  {31, 13}, {28, 16}, {7, 17},  {5, 19},
                                              {17, 20}, {10, 27}, {1, 28},  {32, 30}, {0, WORDS}};
    expect_places(risc, kernel_context_threadx, true, interrupted, 0x1FFFFFFE6, interrupted_places);
    // mepc, mstatus, x1, x3 to x31
    const unsigned bout_places[][2] = {{32, 0}, {1, 2}, {3, 3}, {31, 31}, {0, WORDS}};
    expect_places(risc, kernel_context_bout, false, (const uint64_t[][2]){END}, 0x1FFFFFFFE,
                  bout_places);

    const uint64_t plain64[][2] = {{1, 0}, END}, isr64[][2] = {{1, 0x40001000}, END};
    const unsigned plain64_places[][2] = {{27, 2},  {28, 3},  {25, 4},  {19, 10},
                                          {20, 11}, {29, 12}, {30, 13}, {0, WORDS}};
    expect_places(wide, kernel_context_threadx, false, plain64, 0x1FFF80000, plain64_places);
    const unsigned isr64_places[][2] = {{28, 2},  {27, 5},  {0, 30}, {1, 31},
                                        {29, 32}, {30, 33}, {33, 0}, {0, WORDS}};
    expect_places(wide, kernel_context_threadx, false, isr64, 0x3FFFFFFFF, isr64_places);

    const uint64_t frame[][2] = {{15, 0x40002700}, END};
    const unsigned cold_places[][2] = {{0, 0}, {7, 7}, {8, 8}, {14, 14}, {17, 16}, {0, WORDS}};
    expect_places(cold, kernel_context_bout, false, frame, 0x3FFFF, cold_places);
}

// Registers of the FPU: Arm d0 to d15 (s0 to s31) and fpscr; RISC-V f0 to f31 and fcsr.
static void fpu(void **state)
{
    const struct kernel_reader arm = reader_of(EM_ARM, 4, EXTRACT_LITTLE),
                               big = reader_of(EM_ARM, 4, EXTRACT_BIG);
    struct kernel_reader risc = reader_of(EM_RISCV, 8, EXTRACT_LITTLE);
    enum { CONTROL = EXTRACT_FPU_CONTROL };
    (void)state;

    const uint64_t threadx[][2] = {{0, 0xFFFFFFED}, {32, 0x01000000}, END},
                   plain[][2] = {{0, 0xFFFFFFFD}, {16, 0x01000000}, END},
                   freertos[][2] = {{8, 0xFFFFFFED}, {31, 0x8008}, {32, 0x01000000}, END};
    const unsigned threadx_places[][2] = {{8, 1},  {15, 15},      {0, 33},    {1, 35},
                                          {7, 47}, {CONTROL, 49}, {16, NONE}, {0, WORDS}},
                   freertos_places[][2] = {{8, 9},  {15, 23},      {0, 33},
                                           {7, 47}, {CONTROL, 49}, {0, WORDS}},
                   none[][2] = {{0, NONE}, {8, NONE}, {CONTROL, NONE}, {0, WORDS}};
    expect_fpu(arm, kernel_context_threadx, threadx, 8, threadx_places);
    expect_fpu(arm, kernel_context_threadx, plain, 8, none);
    expect_fpu(arm, kernel_context_freertos, freertos, 8, freertos_places);
    expect_fpu(arm, kernel_context_bout, freertos, 8, freertos_places);
    expect_fpu(big, kernel_context_threadx, threadx, 8, none); // halves in the other order

    const uint64_t solicited[][2] = {{0, 0}, END}, interrupted[][2] = {{0, 1}, END};
    const unsigned solicited_places[][2] = {{8, 15},    {9, 16},       {18, 17},
                                            {27, 26},   {0, NONE},     {10, NONE},
                                            {28, NONE}, {CONTROL, 27}, {0, WORDS}},
                   interrupted_places[][2] = {{0, 31}, {31, 62}, {CONTROL, 63}, {0, WORDS}};
    expect_fpu(risc, kernel_context_threadx, solicited, 8, none);
    risc.elf_flags = EF_RISCV_FLOAT_ABI_DOUBLE;
    expect_fpu(risc, kernel_context_threadx, solicited, 8, solicited_places);
    expect_fpu(risc, kernel_context_threadx, interrupted, 8, interrupted_places);
    risc.elf_flags = EF_RISCV_FLOAT_ABI_SINGLE; // in slots of 8 bytes
    expect_fpu(risc, kernel_context_threadx, solicited, 4, solicited_places);
    expect_fpu(risc, kernel_context_threadx, solicited, 8,
               (const unsigned[][2]){{8, NONE}, {0, WORDS}}); // the upper half is not known
}

// fflags and frm are bits of fcsr.
static void fpu_control(void **state)
{
    struct kernel_reader reader = reader_of(EM_RISCV, 8, EXTRACT_LITTLE);
    struct kernel_saved saved = {.sp = BASE};
    struct extract_registers registers;
    uint8_t value[8];
    (void)state;

    reader.elf_flags = EF_RISCV_FLOAT_ABI_DOUBLE;
    put_frame(&reader, (const uint64_t[][2]){{0, 0}, {27, 0x65}, END});
    assert_true(kernel_context_threadx(&reader, &saved, &registers));
    assert_true(fpu_register_read(saved.fpu, reader.memory, FPU_FFLAGS, value, 4));
    assert_memory_equal(value, "\5\0\0\0", 4);
    assert_true(fpu_register_read(saved.fpu, reader.memory, FPU_FRM, value, 8));
    assert_memory_equal(value, "\3\0\0\0\0\0\0\0", 8);
    extract_memory_close(reader.memory);
    // A frame at the end of the memory.
    saved.fpu[0].address = BASE + 1024;
    assert_int_equal(extract_memory_new_images(&reader.memory, NULL), EXTRACT_OK);
    assert_false(fpu_register_read(saved.fpu, reader.memory, 8, value, 8));
    assert_false(fpu_register_read(NULL, reader.memory, 8, value, 8));
    extract_memory_close(reader.memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arm),
                                       cmocka_unit_test(riscv),
                                       cmocka_unit_test(fpu),
                                       cmocka_unit_test(fpu_control),
                                       cmocka_unit_test(arm_classic),
                                       cmocka_unit_test(freertos_riscv),
                                       cmocka_unit_test(freertos_riscv_floats),
                                       cmocka_unit_test(aarch64),
                                       cmocka_unit_test(coldfire),
                                       cmocka_unit_test(places),
                                       cmocka_unit_test(freertos_armv8m),
                                       cmocka_unit_test(freertos_classic),
                                       cmocka_unit_test(freertos_aarch64)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
