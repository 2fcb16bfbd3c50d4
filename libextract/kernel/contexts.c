// SPDX-License-Identifier: MIT
// kernel: the frames in which ports save the registers of a thread that does not run.
//
// Source: the exception frames of the Arm v7-M Architecture Reference Manual, B1.5.6, and of the
// ColdFire Family Programmer's Reference Manual, 11.1; the stack frames that the documents of
// ThreadX's ports for Arm list, and of FreeRTOS's port for RISC-V; RISC-V Privileged Architecture
// 1.12, 3.1.6 (mstatus). What other ports save beside them was measured on running kernels.
#include "base/cursor.h"
#include "kernel/kernel.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <string.h>

enum { FRAME_BYTES = 1024 }; // no frame is longer

// A frame while it is read, from its lowest address up.
struct frame {
    uint64_t at; // its address
    unsigned word_bytes;
    struct extract_cursor cursor;
    struct extract_registers registers;
    uint8_t bytes[FRAME_BYTES];
};

static void open_frame(struct frame *frame, struct kernel_reader *reader, uint64_t saved)
{
    size_t got = 0;

    // The memory may end after the frame.
    (void)extract_memory_read(reader->memory, saved, frame->bytes, sizeof frame->bytes, &got, NULL);
    frame->at = saved;
    frame->word_bytes = reader->word_bytes;
    frame->cursor = extract_cursor_make(frame->bytes, got, reader->order);
    frame->registers.known = 0;
}

static uint64_t take_word(struct frame *frame)
{
    return extract_cursor_word(&frame->cursor, frame->word_bytes);
}

// Reads registers whose indices ascend.
static void take(struct frame *frame, unsigned first, unsigned count)
{
    for (unsigned i = first; i < first + count; i++)
        register_set(&frame->registers, i, take_word(frame));
}

// Reads registers whose indices descend.
static void take_down(struct frame *frame, unsigned first, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        register_set(&frame->registers, first - i, take_word(frame));
}

// Reads registers in the order of a list, which holds NO_REGISTER for words without meaning.
static void take_list(struct frame *frame, const uint8_t *list, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = take_word(frame);
        if (list[i] != NO_REGISTER)
            register_set(&frame->registers, list[i], value);
    }
}

static void skip(struct frame *frame, unsigned words)
{
    extract_cursor_span(&frame->cursor, words * frame->word_bytes);
}

// Ends a frame: the stack pointer is above it. Returns false if the memory does not contain it all.
static bool close_frame(struct frame *frame, unsigned sp, uint64_t extra)
{
    register_set(&frame->registers, sp, frame->at + frame->cursor.at + extra);
    return !frame->cursor.failed;
}

// ---- Arm, M-profile ----

enum { FPU_WORDS = 18 /* s0 to s15, fpscr, reserved */, FPU_CALLEE_WORDS = 16, CALLEE_WORDS = 8 };

// Reads a frame that an exception has pushed.
static bool take_exception_frame(struct frame *frame, bool has_fpu)
{
    const uint8_t order[] = {0, 1, 2, 3, 12, ARM_LR, ARM_PC, ARM_PSR};
    const uint64_t thumb = 1 << 24, aligned = 1 << 9;

    take_list(frame, order, sizeof order);
    uint64_t psr = frame->registers.value[ARM_PSR];
    if (has_fpu)
        skip(frame, FPU_WORDS);
    frame->registers.value[ARM_PC] &= ~UINT64_C(1);
    return close_frame(frame, ARM_SP, psr & aligned ? 4 : 0) && psr & thumb;
}

// EXC_RETURN of a return to a thread, on its process stack or on the main one. Bit 1 is reserved.
static bool is_exception_return(uint64_t word)
{
    return (word & 0xFFFFFF82) == 0xFFFFFF80;
}

static bool has_fpu_frame(uint64_t exception_return)
{
    return !(exception_return & 0x10);
}

static bool arm_threadx(struct frame *frame)
{
    uint64_t exception_return = take_word(frame);

    if (!is_exception_return(exception_return))
        return false;
    if (has_fpu_frame(exception_return))
        skip(frame, FPU_CALLEE_WORDS);
    take(frame, 4, CALLEE_WORDS);
    return take_exception_frame(frame, has_fpu_frame(exception_return));
}

// FreeRTOS and bout on cores with an FPU.
static bool arm_with_return(struct frame *frame)
{
    take(frame, 4, CALLEE_WORDS);
    uint64_t exception_return = take_word(frame);
    if (!is_exception_return(exception_return))
        return false;
    if (has_fpu_frame(exception_return))
        skip(frame, FPU_CALLEE_WORDS);
    return take_exception_frame(frame, has_fpu_frame(exception_return));
}

// The same on cores without an FPU.
static bool arm_plain(struct frame *frame)
{
    take(frame, 4, CALLEE_WORDS);
    return take_exception_frame(frame, false);
}

static bool arm_either(struct frame *frame, struct kernel_reader *reader, uint64_t saved)
{
    if (arm_with_return(frame))
        return true;
    open_frame(frame, reader, saved);
    return arm_plain(frame);
}

// ---- Arm, A- and R-profile ----

// Returns whether a word is a program status: its mode is one of the architecture.
static bool is_program_status(uint64_t word)
{
    const unsigned modes = 0x888F; // user, FIQ, IRQ, supervisor, abort, undefined, system

    return word & 0x10 && modes >> (word & 0xF) & 1;
}

// The frames with a type of 1 (interrupted) and 0, without registers of the FPU.
static bool arm_classic_threadx(struct frame *frame)
{
    enum { SOLICITED, INTERRUPTED };
    uint64_t kind = take_word(frame), status = take_word(frame);

    if (kind > INTERRUPTED || !is_program_status(status))
        return false;
    if (kind == INTERRUPTED) {
        take(frame, 0, 13);
        take(frame, ARM_LR, 2);
        register_set(&frame->registers, ARM_PSR, status);
    } else {
        take(frame, 4, CALLEE_WORDS);
        take(frame, ARM_LR, 1);
        register_set(&frame->registers, ARM_PC, frame->registers.value[ARM_LR] & ~UINT64_C(1));
    }
    return close_frame(frame, ARM_SP, 0);
}

// ---- RISC-V ----

// FreeRTOS: mepc, x1, x5 to x31; then, by release, the nesting of critical sections; mstatus. The
// mode in which the thread continues, machine mode, distinguishes them.
static bool riscv_freertos(struct frame *frame)
{
    const uint64_t machine_mode = 0x1800, reserved = 0x55; // of mstatus

    take(frame, RISCV_PC, 1);
    take(frame, 1, 1);
    take(frame, 5, 27);
    for (unsigned i = 0; i < 2; i++) {
        uint64_t word = take_word(frame);
        if ((word & machine_mode) == machine_mode && !(word & reserved))
            return close_frame(frame, RISCV_SP, 0);
    }
    return false;
}

static bool riscv_threadx(struct frame *frame, bool has_fpu)
{
    enum { SOLICITED, INTERRUPTED };
    enum { SOLICITED_FPU_WORDS = 13, INTERRUPTED_FPU_WORDS = 33 };
    enum { RA = 1, T2 = 7, S1 = 9, A7 = 17, S11 = 27, T6 = 31 };
    uint64_t kind = take_word(frame);

    if (kind > INTERRUPTED)
        return false;
    take_down(frame, S11, 10); // s11 to s2
    take_down(frame, S1, 2);
    if (kind == SOLICITED) {
        take(frame, RA, 1);
        register_set(&frame->registers, RISCV_PC, frame->registers.value[RA]);
        skip(frame, 2 + (has_fpu ? SOLICITED_FPU_WORDS : 0)); // mstatus, and one of alignment
    } else {
        take_down(frame, T6, 4);
        take_down(frame, T2, 3);
        take_down(frame, A7, 8);
        take(frame, RA, 1);
        skip(frame, 1);
        take(frame, RISCV_PC, 1);
        skip(frame, 1 + (has_fpu ? INTERRUPTED_FPU_WORDS : 0));
    }
    return close_frame(frame, RISCV_SP, 0);
}

// bout: mepc, mstatus, x1, x3 to x31
static bool riscv_bout(struct frame *frame)
{
    take(frame, RISCV_PC, 1);
    skip(frame, 1);
    take(frame, 1, 1);
    take(frame, 3, 29);
    return close_frame(frame, RISCV_SP, 0);
}

// ---- AArch64 ----

static bool aarch64_threadx(struct frame *frame, bool has_fpu)
{
    enum { VECTOR_WORDS = 2, CONTROL_WORDS = 2, FRAME_POINTER = 29, LINK = 30 };
    uint64_t status = take_word(frame), elr = take_word(frame); // ELR is 0 outside of interrupts
    unsigned vectors = elr ? 32 : 8, pairs = elr ? 15 : 5, lowest = elr ? 0 : 19;

    if (has_fpu)
        skip(frame, CONTROL_WORDS + vectors * VECTOR_WORDS);
    while (pairs--)
        take(frame, lowest + 2 * pairs, 2);
    take(frame, FRAME_POINTER, 2);
    register_set(&frame->registers, AARCH64_PC, elr ? elr : frame->registers.value[LINK]);
    if (elr)
        register_set(&frame->registers, AARCH64_PSTATE, status);
    return close_frame(frame, AARCH64_SP, 0);
}

// ---- ColdFire ----

// bout: d0 to d7, a0 to a6; the frame, whose format is 4 plus the bytes of alignment
static bool coldfire_bout(struct frame *frame)
{
    enum { LEAST_FORMAT = 4 };

    take(frame, 0, 15);
    uint64_t format = take_word(frame);
    if (format >> 30 != 1)
        return false;
    register_set(&frame->registers, M68K_PS, format & 0xFFFF);
    take(frame, M68K_PC, 1);
    return close_frame(frame, M68K_SP, (format >> 28) - LEAST_FORMAT);
}

// ---- the kernels ----

static bool finish(const struct frame *frame, bool is_frame, struct extract_registers *registers)
{
    *registers = is_frame ? frame->registers : (struct extract_registers){.known = 0};
    return is_frame;
}

bool kernel_context_threadx(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                            struct extract_registers *registers)
{
    struct frame frame;
    bool is_frame = false;

    open_frame(&frame, reader, saved);
    if (reader->machine == EM_ARM && reader->registers && !reader->registers->is_m_profile)
        is_frame = !has_fpu && arm_classic_threadx(&frame);
    else if (reader->machine == EM_ARM)
        is_frame = arm_threadx(&frame);
    else if (reader->machine == EM_RISCV)
        is_frame = riscv_threadx(&frame, reader->elf_flags & EF_RISCV_FLOAT_ABI);
    else if (reader->machine == EM_AARCH64)
        is_frame = aarch64_threadx(&frame, has_fpu);
    return finish(&frame, is_frame, registers);
}

bool kernel_context_freertos(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                             struct extract_registers *registers)
{
    struct frame frame;
    bool is_frame = false;

    (void)has_fpu;
    open_frame(&frame, reader, saved);
    // The frames of Arm's A- and R-profile are others, which are not known.
    if (reader->machine == EM_ARM && reader->registers && reader->registers->is_m_profile)
        is_frame = arm_either(&frame, reader, saved);
    else if (reader->machine == EM_RISCV)
        is_frame = riscv_freertos(&frame);
    return finish(&frame, is_frame, registers);
}

bool kernel_context_bout(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                         struct extract_registers *registers)
{
    struct frame frame;
    bool is_frame = false;

    (void)has_fpu;
    open_frame(&frame, reader, saved);
    if (reader->machine == EM_ARM)
        is_frame = arm_either(&frame, reader, saved);
    else if (reader->machine == EM_RISCV)
        is_frame = riscv_bout(&frame);
    else if (reader->machine == EM_68K)
        is_frame = coldfire_bout(&frame);
    return finish(&frame, is_frame, registers);
}

bool kernel_context_exception(struct extract_memory *memory, enum extract_byte_order order,
                              uint64_t address, bool has_fpu, struct extract_registers *registers)
{
    struct kernel_reader reader = {.memory = memory, .order = order, .word_bytes = 4};
    struct frame frame;

    open_frame(&frame, &reader, address);
    bool is_frame = take_exception_frame(&frame, has_fpu);
    return finish(&frame, is_frame, registers);
}

void kernel_set_context(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                        const struct extract_registers *registers)
{
    const struct register_machine *names = reader->registers;
    struct extract_symbol symbol;

    thread->registers = *registers;
    thread->has_sp = register_get(registers, names->sp, &thread->sp);
    thread->has_pc = register_get(registers, names->pc, &thread->pc);
    if (extract_symbols_by_address(reader->symbols, thread->pc, &symbol, NULL, NULL) &&
        symbol.function)
        thread->function = symbol.name;
    if (!extract_symbols_place(reader->symbols, thread->pc, &thread->place))
        thread->place = (struct extract_place){.file = NULL};
}
