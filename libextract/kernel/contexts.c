// SPDX-License-Identifier: MIT
// kernel: the frames in which ports save the registers of a thread that does not run.
//
// Source: the exception frames of the Arm v7-M Architecture Reference Manual, B1.5.6, and of the
// ColdFire Family Programmer's Reference Manual, 11.1; what a port saves beside them was measured
// on running kernels.
#include "kernel/kernel.h"
#include "symbols/dwarf.h"
#include <elf.h>

enum {
    CORE_WORDS = 8,   // r0 to r3, r12, lr, pc, xpsr
    PC = 6,           // in these
    XPSR = 7,         // likewise
    CALLEE_WORDS = 8, // r4 to r11
    FPU_WORDS = 18,   // s0 to s15, fpscr, reserved
    FPU_CALLEE_WORDS = 16
};

static bool word_at(struct kernel_reader *reader, uint64_t address, size_t index, uint64_t *value)
{
    return kernel_read_pointer(reader, address + (uint64_t)index * reader->word_bytes, value);
}

// ---- Arm, M-profile ----

// Reads a frame that an exception has pushed.
static bool read_exception_frame(struct kernel_reader *reader, uint64_t frame, bool has_fpu,
                                 struct kernel_context *context)
{
    const uint64_t thumb = 1 << 24, aligned = 1 << 9;
    uint64_t pc, xpsr, words = CORE_WORDS + (has_fpu ? FPU_WORDS : 0);

    if (!word_at(reader, frame, PC, &pc) || !word_at(reader, frame, XPSR, &xpsr) || !(xpsr & thumb))
        return false;
    *context = (struct kernel_context){.pc = pc & ~UINT64_C(1),
                                       .sp = frame + words * 4 + (xpsr & aligned ? 4 : 0)};
    return true;
}

// EXC_RETURN of a return to a thread, on its process stack or on the main one.
static bool is_exception_return(uint64_t word)
{
    return (word & 0xFFFFFF80) == 0xFFFFFF80;
}

static bool arm_threadx(struct kernel_reader *reader, uint64_t saved,
                        struct kernel_context *context)
{
    uint64_t exception_return;

    if (!word_at(reader, saved, 0, &exception_return) || !is_exception_return(exception_return))
        return false;
    bool has_fpu = !(exception_return & 0x10);
    size_t words = 1 + (has_fpu ? FPU_CALLEE_WORDS : 0) + CALLEE_WORDS;
    return read_exception_frame(reader, saved + words * 4, has_fpu, context);
}

// The port for the Cortex-M3 does not store EXC_RETURN, those for cores with an FPU do.
static bool arm_freertos(struct kernel_reader *reader, uint64_t saved,
                         struct kernel_context *context)
{
    uint64_t exception_return;

    if (word_at(reader, saved, CALLEE_WORDS, &exception_return) &&
        is_exception_return(exception_return)) {
        bool has_fpu = !(exception_return & 0x10);
        size_t words = CALLEE_WORDS + 1 + (has_fpu ? FPU_CALLEE_WORDS : 0);
        if (read_exception_frame(reader, saved + words * 4, has_fpu, context))
            return true;
    }
    return read_exception_frame(reader, saved + CALLEE_WORDS * 4, false, context);
}

// ---- RISC-V ----

static bool riscv_threadx(struct kernel_reader *reader, uint64_t saved,
                          struct kernel_context *context)
{
    enum { SOLICITED, INTERRUPTED };
    enum { SOLICITED_PC = 13, INTERRUPTED_PC = 30 };
    bool has_fpu = reader->elf_flags & EF_RISCV_FLOAT_ABI;
    uint64_t kind, words;

    if (!word_at(reader, saved, 0, &kind) || kind > INTERRUPTED ||
        !word_at(reader, saved, kind == SOLICITED ? SOLICITED_PC : INTERRUPTED_PC, &context->pc))
        return false;
    if (kind == SOLICITED)
        words = has_fpu ? 29 : 16;
    else
        words = has_fpu ? 65 : 32;
    context->sp = saved + words * reader->word_bytes;
    return true;
}

// ---- AArch64 ----

static bool aarch64_threadx(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                            struct kernel_context *context)
{
    enum { X19_TO_X30 = 12, X0_TO_X30 = 32, VECTOR_WORDS = 2 };
    uint64_t elr, words = 2; // status, ELR

    if (!word_at(reader, saved, 1, &elr))
        return false;
    if (elr) { // an interrupt
        words += (has_fpu ? 2U + 32 * VECTOR_WORDS : 0U) + X0_TO_X30;
        *context = (struct kernel_context){.pc = elr, .sp = saved + words * 8};
        return true;
    }
    words += (has_fpu ? 2U + 8 * VECTOR_WORDS : 0U) + X19_TO_X30;
    context->sp = saved + words * 8;
    return word_at(reader, saved, words - 1, &context->pc);
}

// ---- the kernels ----

bool kernel_context_threadx(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                            struct kernel_context *context)
{
    switch (reader->machine) {
    case EM_ARM:
        return arm_threadx(reader, saved, context);
    case EM_RISCV:
        return riscv_threadx(reader, saved, context);
    case EM_AARCH64:
        return aarch64_threadx(reader, saved, has_fpu, context);
    default:
        return false;
    }
}

bool kernel_context_freertos(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                             struct kernel_context *context)
{
    (void)has_fpu;
    return reader->machine == EM_ARM && arm_freertos(reader, saved, context);
}

bool kernel_context_bout(struct kernel_reader *reader, uint64_t saved, bool has_fpu,
                         struct kernel_context *context)
{
    enum { RISCV_WORDS = 32, COLDFIRE_WORDS = 15, COLDFIRE_FRAME_BYTES = 8 };
    uint64_t format;

    (void)has_fpu;
    switch (reader->machine) {
    case EM_ARM:
        return read_exception_frame(reader, saved + CALLEE_WORDS * 4, false, context);
    case EM_RISCV: // mepc, mstatus, x1, x3 to x31
        context->sp = saved + RISCV_WORDS * 8;
        return word_at(reader, saved, 0, &context->pc);
    case EM_68K: // d0 to d7, a0 to a6; the frame, whose format is 4 plus the bytes of alignment
        if (!word_at(reader, saved, COLDFIRE_WORDS, &format) || format >> 30 != 1)
            return false;
        context->sp = saved + COLDFIRE_WORDS * 4 + COLDFIRE_FRAME_BYTES + ((format >> 28) - 4);
        return word_at(reader, saved, COLDFIRE_WORDS + 1, &context->pc);
    default:
        return false;
    }
}

void kernel_set_context(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                        const struct kernel_context *context)
{
    struct extract_symbol symbol;

    thread->has_sp = thread->has_pc = true;
    thread->sp = context->sp;
    thread->pc = context->pc;
    if (extract_symbols_by_address(reader->symbols, context->pc, &symbol, NULL, NULL) &&
        symbol.function)
        thread->function = symbol.name;
    if (!extract_symbols_place(reader->symbols, context->pc, &thread->place))
        thread->place = (struct extract_place){.file = NULL};
}
