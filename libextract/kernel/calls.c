// SPDX-License-Identifier: MIT
// kernel: whether an address is after a call instruction. Only such an address is a return
// address: another one on a stack shows that the stack is damaged, or that the code is another one.
//
// Sources: Arm Architecture Reference Manual, v7-M, A7.7.18 and A7.7.19, v8-M, BLXNS, and v7-A,
// A8.8.25 and A8.8.26; for A-profile, C6.2 (BL, BLR, BLRAA); RISC-V Unprivileged ISA, 2.5 and 16.4;
// ColdFire Family Programmer's Reference Manual, BSR and JSR.
#include "base/cursor.h"
#include "kernel/kernel.h"
#include "symbols/dwarf.h"
#include <elf.h>

// The code before an address: `bytes` of the ELF file.
struct code {
    const uint8_t *bytes;
    size_t length;
    enum extract_byte_order order;
};

// Reads a unit of code that begins `before` bytes before the address; 0 if it is not there.
static uint32_t half_at(const struct code *code, size_t before)
{
    struct extract_cursor c = extract_cursor_make(code->bytes, code->length, code->order);

    return before <= code->length && extract_cursor_seek(&c, code->length - before)
               ? extract_cursor_u16(&c)
               : 0;
}

static uint32_t word_at(const struct code *code, size_t before)
{
    struct extract_cursor c = extract_cursor_make(code->bytes, code->length, code->order);

    return before <= code->length && extract_cursor_seek(&c, code->length - before)
               ? extract_cursor_u32(&c)
               : 0;
}

// BLX and BLXNS with a register; BL and BLX with an offset.
static bool is_thumb_call(const struct code *code)
{
    uint32_t first = half_at(code, 4), second = half_at(code, 2);

    return (second & 0xFF83) == 0x4780 ||
           ((first & 0xF800) == 0xF000 && (second & 0xC000) == 0xC000);
}

// BL, BLX with an offset, BLX with a register, and MOV LR, PC before a jump.
static bool is_arm_call(const struct code *code)
{
    uint32_t word = word_at(code, 4);

    return (word & 0x0F000000) == 0x0B000000 || (word & 0xFE000000) == 0xFA000000 ||
           (word & 0x0FFFFFF0) == 0x012FFF30 || (word_at(code, 8) & 0x0FFFFFFF) == 0x01A0E00F;
}

// BL, BLR, and BLR with pointer authentication.
static bool is_aarch64_call(const struct code *code)
{
    uint32_t word = word_at(code, 4);

    return (word & 0xFC000000) == 0x94000000 || (word & 0xFFFFFC1F) == 0xD63F0000 ||
           (word & 0xFEFFF800) == 0xD63F0800;
}

// JAL and JALR with a link register, x1 or x5; C.JALR; C.JAL, which only RV32 has; and CM.JALT.
static bool is_riscv_call(const struct code *code, bool is_narrow)
{
    uint32_t word = word_at(code, 4), half = half_at(code, 2), link = word >> 7 & 31;
    bool is_jump = (word & 0x7F) == 0x6F || (word & 0x707F) == 0x67;

    return (is_jump && (link == 1 || link == 5)) || ((half & 0xF07F) == 0x9002 && half & 0xF80) ||
           (is_narrow && (half & 0xE003) == 0x2001) || ((half & 0xFC03) == 0xA002 && half & 0x380);
}

// BSR with 8, 16 and 32 bits; JSR with the addressing modes of ColdFire.
static bool is_m68k_call(const struct code *code)
{
    uint32_t two = half_at(code, 2), four = half_at(code, 4), six = half_at(code, 6);
    bool is_short_branch = (two & 0xFF00) == 0x6100 && two & 0xFF && (two & 0xFF) != 0xFF;
    bool is_jump = four >= 0x4EA8 && four <= 0x4EBB && four != 0x4EB9; // all but (An) and xxx.L

    return is_short_branch || (two & 0xFFF8) == 0x4E90 || four == 0x6100 || is_jump ||
           six == 0x61FF || six == 0x4EB9;
}

bool kernel_ends_in_call(const struct register_machine *machine, const uint8_t *bytes,
                         size_t length, enum extract_byte_order order)
{
    struct code code = {bytes, length, order};

    switch (machine->elf_machine) {
    case EM_ARM:
        return is_thumb_call(&code) || (!machine->is_m_profile && is_arm_call(&code));
    case EM_AARCH64:
        code.order = EXTRACT_LITTLE;
        return is_aarch64_call(&code);
    case EM_RISCV:
        code.order = EXTRACT_LITTLE;
        return is_riscv_call(&code, machine->word_bytes == 4);
    case EM_68K:
        return is_m68k_call(&code);
    default:
        return true;
    }
}

bool kernel_is_no_return(struct extract_symbols *symbols, uint64_t address)
{
    enum { LONGEST = 8, EF_BE8 = 0x00800000 };
    const struct register_machine *machine = register_machine_of(symbols);
    enum extract_byte_order order = extract_symbols_byte_order(symbols);
    uint8_t bytes[LONGEST];

    // What the file does not contain, such as code in RAM, is not known.
    for (unsigned length = LONGEST; machine && length; length -= 2) {
        if (address < length ||
            extract_symbols_read_constant(symbols, address - length, bytes, length) != length)
            continue;
        if (machine->elf_machine == EM_ARM && extract_symbols_flags(symbols) & EF_BE8)
            order = EXTRACT_LITTLE;
        return !kernel_ends_in_call(machine, bytes, length, order);
    }
    return false;
}
