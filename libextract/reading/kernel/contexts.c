// SPDX-License-Identifier: MIT
// kernel: the frames in which ports save the registers of a thread that does not run.
//
// Source: the exception frames of the Arm v7-M Architecture Reference Manual, B1.5.6, and of the
// ColdFire Family Programmer's Reference Manual, 11.1; the stack frames that the documents of
// ThreadX's ports for Arm list, and of FreeRTOS's port for RISC-V; RISC-V Privileged Architecture
// 1.12, 3.1.6 (mstatus); Arm v8-M Architecture Reference Manual (EXC_RETURN, PSPLIM); Arm
// Architecture Reference Manual (CPSR, SPSR_EL1). What other ports save beside them was measured on
// running kernels, or is described by users of debuggers, and is accepted only if the values fit.
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>
#include <stdio.h>
#include <string.h>

enum { FRAME_BYTES = 1024 }; // no frame is longer

// A frame while it is read, from its lowest address up.
struct frame {
    uint64_t at; // its address
    unsigned word_bytes;
    struct extract_cursor cursor;
    struct extract_registers registers;
    struct extract_fpu_part fpu[EXTRACT_FPU_PARTS];
    size_t fpu_count;
    bool is_big; // the byte order of the target
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
    frame->registers = (struct extract_registers){.known = 0};
    frame->fpu_count = 0;
    frame->is_big = reader->order == EXTRACT_BIG;
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

// Notes where registers of the FPU are, and moves past them. On Arm, two of 32 bits are one of 64
// bits as it is in memory, if the memory is little-endian.
static void note_fpu(struct frame *frame, unsigned first, unsigned count, unsigned bytes,
                     unsigned step)
{
    if (!frame->is_big && frame->fpu_count < EXTRACT_FPU_PARTS)
        frame->fpu[frame->fpu_count++] =
            (struct extract_fpu_part){frame->at + frame->cursor.at, (uint8_t)first, (uint8_t)count,
                                      (uint8_t)bytes, (uint8_t)step};
    extract_cursor_span(&frame->cursor, (uint64_t)count * step);
}

// Ends a frame: the stack pointer is above it. Returns false if the memory does not contain it all.
static bool close_frame(struct frame *frame, unsigned sp, uint64_t extra)
{
    register_set(&frame->registers, sp, frame->at + frame->cursor.at + extra);
    return !frame->cursor.failed;
}

// ---- Arm, M-profile ----

enum { CALLEE_WORDS = 8 };

// The registers of the FPU in the frame of an exception: s0 to s15, fpscr, and a word without
// meaning. A core may reserve them only, and store them when the FPU is used next (lazy stacking):
// a kernel that saves s16 to s31 of a thread has used it.
static void note_fpu_frame(struct frame *frame)
{
    note_fpu(frame, 0, 8, 8, 8);
    note_fpu(frame, EXTRACT_FPU_CONTROL, 1, 4, 4);
    skip(frame, 1);
}

// s16 to s31.
static void note_fpu_callee_saved(struct frame *frame)
{
    note_fpu(frame, 8, 8, 8, 8);
}

// Returns whether an address is code of the program.
static bool is_code(struct kernel_reader *reader, uint64_t address)
{
    struct extract_symbol symbol;

    return reader->symbols &&
           extract_symbols_by_address(reader->symbols, address, &symbol, NULL, NULL) &&
           symbol.function;
}

// Reads a frame that an exception has pushed. Its status may have any state: after a jump to an
// even address, the bit of Thumb is 0. On Armv8-M, bit 20 is set if secure code uses the FPU, and
// bit 21 belongs to branch targets.
static bool take_exception_frame(struct frame *frame, bool has_fpu)
{
    const uint8_t order[] = {0, 1, 2, 3, 12, ARM_LR, ARM_PC, ARM_PSR};
    const uint64_t aligned = 1 << 9, reserved = 3 << 22;

    take_list(frame, order, sizeof order);
    uint64_t psr = frame->registers.value[ARM_PSR];
    if (has_fpu)
        note_fpu_frame(frame);
    frame->registers.value[ARM_PC] &= ~UINT64_C(1);
    return close_frame(frame, ARM_SP, psr & aligned ? 4 : 0) && !(psr & reserved);
}

// Reads such a frame of a thread. One without the bit of Thumb is that of a thread that will fault:
// where it went, or from where, is code.
static bool take_thread_frame(struct frame *frame, struct kernel_reader *reader, bool has_fpu)
{
    const uint64_t thumb = 1 << 24, exception = 0x1FF, bit_of_code = 1;
    const uint64_t *values = frame->registers.value;

    return take_exception_frame(frame, has_fpu) && !(values[ARM_PSR] & exception) &&
           (values[ARM_PSR] & thumb || is_code(reader, values[ARM_PC]) ||
            is_code(reader, values[ARM_LR] & ~bit_of_code));
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

static bool arm_threadx(struct frame *frame, struct kernel_reader *reader)
{
    uint64_t exception_return = take_word(frame);

    if (!is_exception_return(exception_return))
        return false;
    if (has_fpu_frame(exception_return))
        note_fpu_callee_saved(frame);
    take(frame, 4, CALLEE_WORDS);
    return take_thread_frame(frame, reader, has_fpu_frame(exception_return));
}

// FreeRTOS and bout on cores with an FPU.
static bool arm_with_return(struct frame *frame, struct kernel_reader *reader)
{
    take(frame, 4, CALLEE_WORDS);
    uint64_t exception_return = take_word(frame);
    if (!is_exception_return(exception_return))
        return false;
    if (has_fpu_frame(exception_return))
        note_fpu_callee_saved(frame);
    return take_thread_frame(frame, reader, has_fpu_frame(exception_return));
}

// The same on cores without an FPU.
static bool arm_plain(struct frame *frame, struct kernel_reader *reader)
{
    take(frame, 4, CALLEE_WORDS);
    return take_thread_frame(frame, reader, false);
}

static bool arm_bout(struct frame *frame, struct kernel_reader *reader, uint64_t saved)
{
    if (arm_with_return(frame, reader))
        return true;
    open_frame(frame, reader, saved);
    return arm_plain(frame, reader);
}

// Returns whether a stack pointer is in the stack of a thread, as far as that is known.
static bool is_in_stack(const struct kernel_saved *saved, uint64_t sp)
{
    return (!saved->stack_start || sp >= saved->stack_start) &&
           (!saved->stack_end || sp <= saved->stack_end);
}

// The words that FreeRTOS's ports save below the frame of an exception: their indices, and how many
// there are. Those of Armv8-M save the limit of the stack, which is the start of the task's stack,
// after the address of a secure context if there is a secure side. On Armv8-M without the limit
// register, that word has no meaning.
enum { ABSENT = 0xFF };
static const struct arm_layout {
    uint8_t limit, exception_return, callee_saved, words;
    bool has_secure;
} arm_layouts[] = {
    {0, 1, 2, 10, false},          {1, 2, 3, 11, true},       {ABSENT, 8, 0, 9, false},
    {ABSENT, ABSENT, 0, 8, false}, {ABSENT, 1, 2, 10, false},
};

// Returns how well a layout fits: 0, if it is not one; 2, if the task continues in code.
static unsigned take_arm_layout(struct frame *frame, struct kernel_reader *reader,
                                struct kernel_saved *saved, const struct arm_layout *layout)
{
    const uint64_t limit_bits = ~UINT64_C(7), thread = 0xC; // on its process stack
    const uint64_t secure = 0x40;
    uint64_t words[11], exception_return = 0xFFFFFFFD;

    open_frame(frame, reader, saved->sp);
    for (unsigned i = 0; i < layout->words; i++)
        words[i] = take_word(frame);
    if (layout->limit != ABSENT &&
        (!saved->stack_start || (words[layout->limit] ^ saved->stack_start) & limit_bits))
        return 0;
    if (layout->exception_return != ABSENT)
        exception_return = words[layout->exception_return];
    if (!is_exception_return(exception_return) || (exception_return & thread) != thread)
        return 0;
    if (layout->has_secure && exception_return & secure) {
        saved->problem = "the task was in a secure function, whose stack has them";
        return 0;
    }
    for (unsigned i = 0; i < CALLEE_WORDS; i++)
        register_set(&frame->registers, 4 + i, words[layout->callee_saved + i]);
    if (has_fpu_frame(exception_return))
        note_fpu_callee_saved(frame);
    if (!take_thread_frame(frame, reader, has_fpu_frame(exception_return)))
        return 0;
    return is_code(reader, frame->registers.value[ARM_PC]) ? 2 : 1;
}

static bool arm_freertos(struct frame *frame, struct kernel_reader *reader,
                         struct kernel_saved *saved)
{
    const struct arm_layout *best = NULL;
    unsigned most = 0;

    for (size_t i = 0; i < sizeof arm_layouts / sizeof *arm_layouts && !saved->problem; i++) {
        unsigned points = take_arm_layout(frame, reader, saved, &arm_layouts[i]);
        best = points > most ? &arm_layouts[i] : best;
        most = points > most ? points : most;
    }
    return best && !saved->problem && take_arm_layout(frame, reader, saved, best);
}

// ---- frames of several forms ----

// The forms that the frame of a task may have, by a number that `take` knows. The frame is known if
// the values fit to one of them only.
struct frame_variants {
    const uint16_t *numbers;
    size_t count;
    // Reads the registers. Returns false if the values do not fit.
    bool (*take)(struct frame *frame, struct kernel_reader *reader,
                 const struct kernel_saved *saved, unsigned number);
};

static bool take_only(struct frame *frame, struct kernel_reader *reader,
                      const struct kernel_saved *saved, const struct frame_variants *variants)
{
    size_t found = 0, only = 0;

    for (size_t i = 0; i < variants->count; i++) {
        open_frame(frame, reader, saved->sp);
        if (!variants->take(frame, reader, saved, variants->numbers[i]))
            continue;
        found++;
        only = i;
    }
    if (found != 1)
        return false;
    open_frame(frame, reader, saved->sp);
    return variants->take(frame, reader, saved, variants->numbers[only]);
}

enum { DEPTH_MOST = 255 }; // of critical sections

// ---- Arm, A- and R-profile ----

// Returns whether a word is a program status: its mode is one of the architecture.
static bool is_program_status(uint64_t word)
{
    const unsigned modes = 0x888F; // user, FIQ, IRQ, supervisor, abort, undefined, system

    return word & 0x10 && modes >> (word & 0xF) & 1;
}

// The frames with a type of 1 (interrupted) and 0, without registers of the FPU. The status of a
// thread that has called the kernel is that of the kernel: bit 0 of lr has the thread's state.
static bool arm_classic_threadx(struct frame *frame)
{
    enum { SOLICITED, INTERRUPTED, THUMB = 0x20 };
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
        uint64_t link = frame->registers.value[ARM_LR];
        register_set(&frame->registers, ARM_PC, link & ~UINT64_C(1));
        register_set(&frame->registers, ARM_PSR,
                     (status & ~(uint64_t)THUMB) | (link & 1 ? THUMB : 0));
    }
    return close_frame(frame, ARM_SP, 0);
}

// What is at the end of a frame of FreeRTOS on Arm's A-profile was saved by the core. What is
// before it depends on the port and the task: the flag of a context of the FPU, if the port has a
// variable with it, the registers of the FPU if it is set, and the depth of critical sections. So
// each number of words before the registers is tried.

// The flag, fpscr, and d0 to d15 or to d31; the depth; r0 to r12, lr, pc, status of a task's mode.
static bool take_arm_task(struct frame *frame, struct kernel_reader *reader,
                          const struct kernel_saved *saved, unsigned before)
{
    enum { USER = 0x10, SYSTEM = 0x1F, THUMB = 0x20, MODE = 0x1F, RESERVED = 0x01F00000 };

    uint64_t flag = before > 1 ? take_word(frame) : 0;
    if (before > 2)
        skip(frame, before - 2);
    uint64_t depth = take_word(frame);
    take(frame, 0, 13);
    take(frame, ARM_LR, 2);
    uint64_t status = take_word(frame), pc = frame->registers.value[ARM_PC];
    register_set(&frame->registers, ARM_PSR, status);
    return close_frame(frame, ARM_SP, 0) && flag == (before > 2) && depth <= DEPTH_MOST &&
           ((status & MODE) == SYSTEM || (status & MODE) == USER) && !(status & RESERVED) &&
           !(pc & (status & THUMB ? 1 : 3)) && is_code(reader, pc) &&
           is_in_stack(saved, frame->registers.value[ARM_SP]);
}

static bool arm_classic_freertos(struct frame *frame, struct kernel_reader *reader,
                                 const struct kernel_saved *saved)
{
    static const uint16_t before[] = {1}, with_flag[] = {2, 2 + 1 + 32, 2 + 1 + 64};
    const struct frame_variants plain = {before, sizeof before / sizeof *before, take_arm_task};
    const struct frame_variants fpu = {with_flag, sizeof with_flag / sizeof *with_flag,
                                       take_arm_task};
    struct extract_symbol flag;
    bool has_flag = reader->symbols &&
                    extract_symbols_by_name(reader->symbols, "ulPortTaskHasFPUContext", &flag);

    return take_only(frame, reader, saved, has_flag ? &fpu : &plain);
}

// ---- RISC-V ----

// The words of a frame of FreeRTOS: mepc is the first one. Until V11.2, x1 and x5 to x31 follow,
// then the depth of critical sections (since V10.5), and mstatus. In V11.3, mstatus is the second
// one; then come the registers of the FPU and fcsr if mstatus says that the task has changed them,
// x1, x5 to x31, and the depth. On a core of RV32E, x15 is the last register.
enum { RISCV_LINK = 1, RISCV_MIDDLE = 5, RISCV_FPU_REGISTERS = 32, FCSR_BYTES = 4 };
enum { RISCV_RVE = 8 }; // EF_RISCV_RVE, which <elf.h> of glibc 2.31 lacks
static const struct riscv_layout {
    bool is_status_first, has_depth;
    uint8_t fpu_bytes; // of one register of the FPU; 0: they are not saved
} riscv_layouts[] = {
    {false, false, 0}, {false, true, 0}, {true, true, 0}, {true, true, 4}, {true, true, 8},
};

// Returns whether a word is mstatus of a thread that continues in machine mode.
static bool is_machine_status(uint64_t word)
{
    const uint64_t machine_mode = 0x1800, reserved = 0x55;

    return (word & machine_mode) == machine_mode && !(word & reserved);
}

// Reads a frame with one of the layouts. It is proven by x1, which is an address of code, or 0 in a
// task that has not run yet. With registers of the FPU that are half a word, fcsr is stored over
// the lower half of x1, and the frame begins in the middle of a word: both, and mepc, are the
// proof.
static bool take_riscv_task(struct frame *frame, struct kernel_reader *reader,
                            const struct kernel_saved *saved, unsigned number)
{
    const struct riscv_layout *layout = &riscv_layouts[number];
    const uint64_t fpu_changed = 0x6000; // mstatus.FS
    uint64_t status = 0, depth = 0;

    take(frame, RISCV_PC, 1);
    if (layout->is_status_first)
        status = take_word(frame);
    if (layout->fpu_bytes) {
        note_fpu(frame, 0, RISCV_FPU_REGISTERS, layout->fpu_bytes, layout->fpu_bytes);
        note_fpu(frame, EXTRACT_FPU_CONTROL, 1, FCSR_BYTES, layout->fpu_bytes);
    }
    take(frame, RISCV_LINK, 1);
    take(frame, RISCV_MIDDLE, reader->elf_flags & RISCV_RVE ? 11 : 27);
    if (layout->has_depth)
        depth = take_word(frame);
    if (!layout->is_status_first)
        status = take_word(frame);
    uint64_t link = frame->registers.value[RISCV_LINK];
    const bool has_changed = (status & fpu_changed) == fpu_changed;
    // A word of 0 may be a register of the FPU.
    bool is_new = !link && !(layout->is_status_first && has_changed);
    const bool lacks_link = layout->fpu_bytes && layout->fpu_bytes < frame->word_bytes;
    const uint64_t beside = lacks_link ? layout->fpu_bytes : 0; // a multiple of a word
    bool is_proven = is_new || lacks_link ? is_code(reader, frame->registers.value[RISCV_PC])
                                          : is_code(reader, link);
    if (lacks_link) {
        is_proven &= !(uint32_t)link && saved->sp % frame->word_bytes == beside;
        frame->registers.known &= ~(UINT64_C(1) << RISCV_LINK);
    }
    return close_frame(frame, RISCV_SP, 0) && is_proven && is_machine_status(status) &&
           (!layout->fpu_bytes || has_changed) && frame->cursor.at % frame->word_bytes == beside &&
           depth <= DEPTH_MOST && is_in_stack(saved, frame->registers.value[RISCV_SP]);
}

static bool riscv_freertos(struct frame *frame, struct kernel_reader *reader,
                           const struct kernel_saved *saved)
{
    static const uint16_t layouts[] = {0, 1, 2, 3, 4};

    return take_only(
        frame, reader, saved,
        &(struct frame_variants){layouts, sizeof layouts / sizeof *layouts, take_riscv_task});
}

// Returns the bytes of a register of the FPU that ThreadX's port for RISC-V saves, in words: those
// that functions use to pass values. 0: it saves none.
static unsigned riscv_fpu_bytes(uint32_t elf_flags)
{
    switch (elf_flags & EF_RISCV_FLOAT_ABI) {
    case EF_RISCV_FLOAT_ABI_DOUBLE:
        return 8;
    case EF_RISCV_FLOAT_ABI_SINGLE:
        return 4;
    default:
        return 0;
    }
}

static bool riscv_threadx(struct frame *frame, const struct kernel_reader *reader)
{
    enum { SOLICITED, INTERRUPTED };
    enum { FS0 = 8, FS2 = 18 };
    const unsigned fpu_bytes = riscv_fpu_bytes(reader->elf_flags), word = reader->word_bytes;
    enum { RA = 1, T2 = 7, S1 = 9, A7 = 17, S11 = 27, T6 = 31 };
    uint64_t kind = take_word(frame);

    if (kind > INTERRUPTED)
        return false;
    take_down(frame, S11, 10); // s11 to s2
    take_down(frame, S1, 2);
    if (kind == SOLICITED) {
        take(frame, RA, 1);
        register_set(&frame->registers, RISCV_PC, frame->registers.value[RA]);
        skip(frame, 1); // mstatus
        if (fpu_bytes) {
            note_fpu(frame, FS0, 2, fpu_bytes, word);
            note_fpu(frame, FS2, 10, fpu_bytes, word);
            note_fpu(frame, EXTRACT_FPU_CONTROL, 1, FCSR_BYTES, word);
        }
        skip(frame, 1); // of alignment
    } else {
        take_down(frame, T6, 4);
        take_down(frame, T2, 3);
        take_down(frame, A7, 8);
        take(frame, RA, 1);
        skip(frame, 1);
        take(frame, RISCV_PC, 1);
        if (fpu_bytes) {
            note_fpu(frame, 0, RISCV_FPU_REGISTERS, fpu_bytes, word);
            note_fpu(frame, EXTRACT_FPU_CONTROL, 1, FCSR_BYTES, word);
        }
        skip(frame, 1);
    }
    return close_frame(frame, RISCV_SP, 0);
}

bool kernel_context_threadx_trap(struct kernel_reader *reader, uint64_t address,
                                 const struct extract_registers *core,
                                 struct extract_registers *registers)
{
    enum { S0 = 8, S0_AT = 12, RA = 1, T2 = 7, S1 = 9, A7 = 17, S2 = 18, S11 = 27, T6 = 31 };
    struct frame frame;
    uint64_t value;

    open_frame(&frame, reader, address);
    skip(&frame, S0_AT);
    take(&frame, S0, 1);
    take_down(&frame, T6, 4);
    take_down(&frame, T2, 3);
    take_down(&frame, A7, 8);
    take(&frame, RA, 1);
    skip(&frame, 1);
    take(&frame, RISCV_PC, 1);
    skip(&frame, 1 + (reader->elf_flags & EF_RISCV_FLOAT_ABI ? RISCV_FPU_REGISTERS + 1 : 0));
    for (unsigned i = S1; i <= S11; i++)
        if ((i == S1 || i >= S2) && register_get(core, i, &value))
            register_set(&frame.registers, i, value);
    bool is_frame = close_frame(&frame, RISCV_SP, 0) && is_code(reader, frame.registers.value[RA]);
    *registers = is_frame ? frame.registers : (struct extract_registers){.known = 0};
    return is_frame;
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

// The flag and the depth, q0 to q31 and their control registers if the flag is set; ELR, SPSR, x30,
// 0, x28 x29, x26 x27 ... x0 x1.
static bool take_aarch64_task(struct frame *frame, struct kernel_reader *reader,
                              const struct kernel_saved *saved, unsigned before)
{
    enum { LINK = 30, PAIRS = 15 };
    const uint64_t modes = 0x3331; // EL0t, EL1t, EL1h, EL2t, EL2h, EL3t, EL3h
    const uint64_t aarch32 = 0x10, reserved = ~UINT64_C(0xF3EFFFFF);

    uint64_t flag = take_word(frame), depth = take_word(frame);
    skip(frame, before - 2);
    uint64_t elr = take_word(frame), status = take_word(frame);
    take(frame, LINK, 1);
    uint64_t zero = take_word(frame);
    for (unsigned i = PAIRS; i--;)
        take(frame, 2 * i, 2);
    register_set(&frame->registers, AARCH64_PC, elr);
    register_set(&frame->registers, AARCH64_PSTATE, status);
    return close_frame(frame, AARCH64_SP, 0) && flag == (before > 2) && depth <= DEPTH_MOST &&
           !zero && !(status & (aarch32 | reserved)) && modes >> (status & 0xF) & 1 && !(elr & 3) &&
           is_code(reader, elr) && is_in_stack(saved, frame->registers.value[AARCH64_SP]);
}

static bool aarch64_freertos(struct frame *frame, struct kernel_reader *reader,
                             const struct kernel_saved *saved)
{
    static const uint16_t before[] = {2, 2 + 64, 2 + 2 + 64};

    return take_only(
        frame, reader, saved,
        &(struct frame_variants){before, sizeof before / sizeof *before, take_aarch64_task});
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

static bool finish(const struct frame *frame, bool is_frame, struct kernel_saved *saved,
                   struct extract_registers *registers)
{
    *registers = is_frame ? frame->registers : (struct extract_registers){.known = 0};
    for (size_t i = 0; i < EXTRACT_FPU_PARTS; i++)
        saved->fpu[i] = is_frame && i < frame->fpu_count ? frame->fpu[i]
                                                         : (struct extract_fpu_part){.count = 0};
    return is_frame;
}

static bool is_classic_arm(const struct kernel_reader *reader)
{
    return reader->machine == EM_ARM && reader->registers && !reader->registers->is_m_profile;
}

bool kernel_context_threadx(struct kernel_reader *reader, struct kernel_saved *saved,
                            struct extract_registers *registers)
{
    struct frame frame;
    bool is_frame = false;

    open_frame(&frame, reader, saved->sp);
    if (is_classic_arm(reader) && saved->has_fpu)
        saved->problem = "they are saved with those of an FPU, in an order that is not known";
    else if (is_classic_arm(reader))
        is_frame = arm_classic_threadx(&frame);
    else if (reader->machine == EM_ARM)
        is_frame = arm_threadx(&frame, reader);
    else if (reader->machine == EM_RISCV)
        is_frame = riscv_threadx(&frame, reader);
    else if (reader->machine == EM_AARCH64)
        is_frame = aarch64_threadx(&frame, saved->has_fpu);
    else
        saved->problem = "ThreadX's frames are not known on this machine";
    return finish(&frame, is_frame, saved, registers);
}

bool kernel_context_freertos(struct kernel_reader *reader, struct kernel_saved *saved,
                             struct extract_registers *registers)
{
    struct frame frame;
    bool is_frame = false;

    open_frame(&frame, reader, saved->sp);
    if (is_classic_arm(reader))
        is_frame = arm_classic_freertos(&frame, reader, saved);
    else if (reader->machine == EM_ARM)
        is_frame = arm_freertos(&frame, reader, saved);
    else if (reader->machine == EM_RISCV)
        is_frame = riscv_freertos(&frame, reader, saved);
    else if (reader->machine == EM_AARCH64)
        is_frame = aarch64_freertos(&frame, reader, saved);
    else
        saved->problem = "FreeRTOS's frames are not known on this machine";
    return finish(&frame, is_frame, saved, registers);
}

bool kernel_context_bout(struct kernel_reader *reader, struct kernel_saved *saved,
                         struct extract_registers *registers)
{
    struct frame frame;
    bool is_frame = false;

    open_frame(&frame, reader, saved->sp);
    if (reader->machine == EM_ARM)
        is_frame = arm_bout(&frame, reader, saved->sp);
    else if (reader->machine == EM_RISCV)
        is_frame = riscv_bout(&frame);
    else if (reader->machine == EM_68K)
        is_frame = coldfire_bout(&frame);
    return finish(&frame, is_frame, saved, registers);
}

bool kernel_context_exception(struct extract_memory *memory, enum extract_byte_order order,
                              uint64_t address, bool has_fpu, struct extract_registers *registers)
{
    struct kernel_reader reader = {.memory = memory, .order = order, .word_bytes = 4};
    struct kernel_saved saved = {.sp = address}; // its FPU may be stored later
    struct frame frame;

    open_frame(&frame, &reader, address);
    bool is_frame = take_exception_frame(&frame, has_fpu);
    return finish(&frame, is_frame, &saved, registers);
}

// Returns whether the images do not have a part of a thread's stack.
static bool is_part_missing(struct kernel_reader *reader,
                            const struct extract_kernel_thread *thread, uint64_t from, uint64_t to)
{
    char what[EXTRACT_KERNEL_NAME + 24];

    snprintf(what, sizeof what, "the stack of \"%s\"", thread->name);
    return kernel_note_missing(reader, what, from, to - from);
}

// Returns whether the images do not have what a thread has saved on its stack.
static bool is_stack_missing(struct kernel_reader *reader,
                             const struct extract_kernel_thread *thread)
{
    enum { FRAME = 64 }; // bytes, at least
    uint64_t end = thread->stack_end > thread->sp ? thread->stack_end : thread->sp + FRAME;

    return thread->sp && is_part_missing(reader, thread, thread->sp, end);
}

void kernel_check_stack(struct kernel_reader *reader, struct extract_kernel_thread *thread)
{
    const uint64_t end = thread->stack_end;
    const uint64_t from = end - thread->stack_start > KERNEL_BLOCK_BYTES ? end - KERNEL_BLOCK_BYTES
                                                                         : thread->stack_start;

    if (!reader->is_brief && thread->stack_start && end > thread->stack_start &&
        is_part_missing(reader, thread, from, end))
        thread->no_registers = "the images do not have its stack";
}

void kernel_read_context(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                         bool has_fpu,
                         bool (*context)(struct kernel_reader *reader, struct kernel_saved *saved,
                                         struct extract_registers *registers))
{
    struct kernel_saved saved = {.sp = thread->sp,
                                 .stack_start = thread->stack_start,
                                 .stack_end = thread->stack_end,
                                 .has_fpu = has_fpu};
    struct extract_registers registers;

    if (reader->is_brief)
        return;
    if (reader->registers && context(reader, &saved, &registers)) {
        kernel_set_context(reader, thread, &registers);
        memcpy(thread->fpu, saved.fpu, sizeof thread->fpu);
    } else if (is_stack_missing(reader, thread))
        thread->no_registers = "the images do not have its stack";
    else
        thread->no_registers =
            saved.problem ? saved.problem : "no frame that is known is at the stack pointer";
}

void kernel_set_context(struct kernel_reader *reader, struct extract_kernel_thread *thread,
                        const struct extract_registers *registers)
{
    const struct register_machine *names = reader->registers;
    struct extract_symbol symbol;

    thread->registers = *registers;
    memset(thread->fpu, 0, sizeof thread->fpu);
    thread->no_registers = NULL;
    thread->has_sp = register_get(registers, names->sp, &thread->sp);
    thread->has_pc = register_get(registers, names->pc, &thread->pc);
    if (extract_symbols_by_address(reader->symbols, thread->pc, &symbol, NULL, NULL) &&
        symbol.function)
        thread->function = symbol.name;
    if (!extract_symbols_place(reader->symbols, thread->pc, &thread->place))
        thread->place = (struct extract_place){.file = NULL};
}
