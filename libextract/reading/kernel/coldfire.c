// SPDX-License-Identifier: MIT
// kernel: the frame that an exception of a ColdFire core pushes. In: the stack pointer of a core
// that was halted. Out: the registers of what the exception has interrupted.
//
// No register shows that a core handles an exception. Two words that happen to be on top of a stack
// are not taken for a frame: each field has to hold what the architecture allows for the vector,
// and the core has to be in the function to which the vector table leads.
//
//     address of the stack pointer, which the core has aligned:
//     +0   format 4 + bytes of alignment (4 bits), fault status 3:2, vector (8 bits),
//          fault status 1:0, status register (16 bits)
//     +4   pc
//
// Source: ColdFire Family Programmer's Reference Manual, 1.2 (SR, VBR), 11.1 (exceptions, tables of
// vectors and of fault status).
#include "base/cursor.h"
#include "kernel/kernel_room.h"
#include "symbols/dwarf.h"
#include <elf.h>

enum {
    FRAME_BYTES = 8,
    LEAST_FORMAT = 4,
    VECTOR_BYTES = 4,
    VECTORS_ALIGN = 1 << 20, // VBR has the upper 12 bits of an address only
    MOST_TABLES = 1 << 12
};

// Of the status register.
enum {
    TRACE = 0x8000,
    SUPERVISOR = 0x2000,
    RESERVED = 0x48E0,
    MASK = 0x700 // level of the interrupts that are locked
};

// Vectors.
enum {
    ACCESS_ERROR = 2,
    ADDRESS_ERROR = 3,
    PRIVILEGE = 8,
    LAST_FAULT = 11,
    FIRST_LEVEL = 25, // interrupts that have no vector of their own
    LAST_LEVEL = 31,
    FIRST_USER = 64
};

static bool is_code(struct extract_symbols *symbols, uint64_t address)
{
    struct extract_symbol symbol;

    return extract_symbols_by_address(symbols, address, &symbol, NULL, NULL) && symbol.function;
}

static bool is_interrupt(unsigned vector)
{
    return (vector >= FIRST_LEVEL && vector <= LAST_LEVEL) || vector >= FIRST_USER;
}

// Returns whether exceptions have a vector. 0 and 1 are those of a reset, which pushes no frame;
// the others are reserved.
static bool is_vector(unsigned vector)
{
    static const struct {
        uint8_t first, last;
    } used[] = {{ACCESS_ERROR, 5}, {PRIVILEGE, 15}, {24, 55}, {61, 61}, {FIRST_USER, 255}};

    for (size_t i = 0; i < sizeof used / sizeof *used; i++)
        if (vector >= used[i].first && vector <= used[i].last)
            return true;
    return false;
}

// Returns whether a fault status is one of a vector: that of an error of access or address, or that
// of an interrupt during a debug service routine. Cores that do not measure it leave 0.
static bool is_fault_status(unsigned vector, unsigned status)
{
    const unsigned debug = 2, errors = 0xF7F0; // 4 to 10, and 12 to 15

    if (vector == ACCESS_ERROR || vector == ADDRESS_ERROR)
        return !status || errors >> status & 1;
    return !status || (is_interrupt(vector) && status == debug);
}

// Returns whether a core can have the status `now` in the handler of an exception that saved the
// status `saved`.
static bool is_status(unsigned vector, uint64_t now, uint64_t saved)
{
    if (!(now & SUPERVISOR) || now & (TRACE | RESERVED) || saved & RESERVED)
        return false;
    if (vector == PRIVILEGE && saved & SUPERVISOR)
        return false;
    // An interrupt has a level above the mask, except that level 7 is never locked.
    return !is_interrupt(vector) || (now & MASK) > (saved & MASK) || (now & MASK) == MASK;
}

// ---- the vector table ----

// Reads a vector. The table is a constant of the program, or in its memory.
static bool read_vector(struct extract_memory *memory, struct extract_symbols *symbols,
                        uint64_t address, bool is_constant, uint64_t *handler)
{
    uint8_t bytes[VECTOR_BYTES];
    size_t got = 0;

    if (is_constant)
        got = extract_symbols_read_constant(symbols, address, bytes, sizeof bytes);
    else if (extract_memory_read(memory, address, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, got, EXTRACT_BIG);
    *handler = extract_cursor_u32(&c);
    return !c.failed && !(*handler & 1);
}

// Judges the word that is the vector if a table begins at an address.
static enum kernel_handler judge(struct extract_symbols *symbols, uint64_t handler, uint64_t pc)
{
    struct extract_symbol own, symbol;

    if (!extract_symbols_by_address(symbols, handler, &own, NULL, NULL) || !own.function)
        return KERNEL_HANDLER_UNKNOWN;
    return extract_symbols_by_address(symbols, pc, &symbol, NULL, NULL) &&
                   symbol.address == own.address && pc >= handler
               ? KERNEL_HANDLER_ENTERED
               : KERNEL_HANDLER_OTHER;
}

// Finds out whether pc is in the handler of a vector. GDB servers do not show VBR: tables are
// looked for at all addresses that it can have.
static enum kernel_handler find_handler(struct extract_memory *memory,
                                        struct extract_symbols *symbols, unsigned vector,
                                        uint64_t pc)
{
    const uint64_t offset = (uint64_t)vector * VECTOR_BYTES;
    enum kernel_handler best = KERNEL_HANDLER_UNKNOWN, found;
    struct extract_region region;
    unsigned looked = 0;
    uint64_t handler;

    for (uint64_t base = 0; base >> 32 == 0; base += VECTORS_ALIGN) {
        if (!read_vector(memory, symbols, base + offset, true, &handler))
            continue;
        found = judge(symbols, handler, pc);
        best = found > best ? found : best;
    }
    for (size_t i = 0; extract_symbols_writable(symbols, i, &region) && looked < MOST_TABLES; i++) {
        uint64_t end = region.address + region.length;
        uint64_t base = (region.address + VECTORS_ALIGN - 1) & ~(uint64_t)(VECTORS_ALIGN - 1);
        for (; base + offset < end && looked < MOST_TABLES; base += VECTORS_ALIGN, looked++) {
            if (!read_vector(memory, symbols, base + offset, false, &handler))
                continue;
            found = judge(symbols, handler, pc);
            best = found > best ? found : best;
        }
    }
    return best;
}

bool kernel_read_coldfire_frame(struct extract_memory *memory, struct extract_symbols *symbols,
                                const struct extract_registers *core,
                                struct kernel_coldfire_frame *frame)
{
    uint64_t sp, now, core_pc;
    uint8_t bytes[FRAME_BYTES];
    size_t got;

    if (!symbols || !register_get(core, M68K_SP, &sp) || !register_get(core, M68K_PS, &now) ||
        !register_get(core, M68K_PC, &core_pc) || sp % 4 ||
        extract_memory_read(memory, sp, bytes, sizeof bytes, &got, NULL))
        return false;
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, EXTRACT_BIG);
    uint32_t word = extract_cursor_u32(&c), pc = extract_cursor_u32(&c), saved = word & 0xFFFF;
    *frame = (struct kernel_coldfire_frame){.format = word >> 28,
                                            .vector = word >> 18 & 0xFF,
                                            .fault_status = (word >> 24 & 0xC) | (word >> 16 & 3),
                                            .registers = *core};
    if (frame->format < LEAST_FORMAT || frame->format > LEAST_FORMAT + 3 ||
        !is_vector(frame->vector) || !is_fault_status(frame->vector, frame->fault_status) ||
        !is_status(frame->vector, now, saved))
        return false;
    frame->handler = find_handler(memory, symbols, frame->vector, core_pc);
    // A fault may follow a jump to any address. A user's stack pointer is not in the frame.
    bool is_proved = frame->handler == KERNEL_HANDLER_ENTERED;
    bool has_place = is_code(symbols, pc) ? !(pc & 1) : is_proved && frame->vector <= LAST_FAULT;
    if (frame->handler == KERNEL_HANDLER_OTHER || !has_place ||
        (!is_proved && !(saved & SUPERVISOR)))
        return false;
    register_set(&frame->registers, M68K_PC, pc);
    register_set(&frame->registers, M68K_PS, saved);
    register_set(&frame->registers, M68K_SP, sp + FRAME_BYTES + frame->format - LEAST_FORMAT);
    if (!(saved & SUPERVISOR))
        frame->registers.known &= ~(UINT64_C(1) << M68K_SP);
    return true;
}

bool kernel_interrupted_coldfire(struct extract_memory *memory, struct extract_symbols *symbols,
                                 const struct extract_registers *core,
                                 struct extract_registers *interrupted)
{
    struct kernel_coldfire_frame frame;

    if (!kernel_read_coldfire_frame(memory, symbols, core, &frame) ||
        frame.handler != KERNEL_HANDLER_ENTERED)
        return false;
    *interrupted = frame.registers;
    return true;
}
