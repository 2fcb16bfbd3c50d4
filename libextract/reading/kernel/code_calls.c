// SPDX-License-Identifier: MIT
// kernel: whether an address is after a call instruction, and what that calls. Only such an address
// is a return address: another one on a stack shows that the stack is damaged, or that the code is
// another one.
//
// Sources: Arm Architecture Reference Manual, v7-M, A7.7.18 and A7.7.19, v8-M, BLXNS, and v7-A,
// A8.8.18, A8.8.25 and A8.8.26; for A-profile, C6.2 (BL, BLR, BLRAA); RISC-V Unprivileged
// ISA, 2.4, 2.5 and 16.3 to 16.5; ColdFire Family Programmer's Reference Manual, BSR and JSR.
#include "base/cursor.h"
#include "kernel/kernel_room.h"
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

// ---- targets ----

// Extends a number of some bits by its sign.
static uint64_t extend(uint64_t value, unsigned bits)
{
    const uint64_t sign = UINT64_C(1) << (bits - 1);

    return ((value & (2 * sign - 1)) ^ sign) - sign;
}

// Gets bits `low` and above of a word, as many as there are, moved to `to`.
static uint64_t move_bits(uint32_t word, unsigned low, unsigned count, unsigned to)
{
    return (uint64_t)(word >> low & ((1U << count) - 1)) << to;
}

// A call is made of a base and an offset: the base is a register, or the address after the call.
struct target {
    unsigned base; // NO_REGISTER: the address after the call
    uint64_t offset;
};

// Gets the offset of BL, or of B, in 32 bits.
static uint64_t thumb_offset(uint32_t first, uint32_t second)
{
    unsigned sign = first >> 10 & 1;
    uint64_t bits = (uint64_t)sign << 24 | (uint64_t) !((second >> 13 & 1) ^ sign) << 23 |
                    (uint64_t) !((second >> 11 & 1) ^ sign) << 22 | move_bits(first, 0, 10, 12) |
                    move_bits(second, 0, 11, 1);

    return extend(bits, 25);
}

// BLX to Arm code begins at a multiple of 4.
static bool take_thumb_target(const struct code *code, uint64_t address, struct target *target)
{
    uint32_t first = half_at(code, 4), second = half_at(code, 2);

    if ((second & 0xFF83) == 0x4780)
        *target = (struct target){second >> 3 & 15, 0};
    else if ((first & 0xF800) == 0xF000 && (second & 0xD000) == 0xD000)
        *target = (struct target){NO_REGISTER, thumb_offset(first, second)};
    else if ((first & 0xF800) == 0xF000 && (second & 0xD001) == 0xC000)
        *target = (struct target){NO_REGISTER, thumb_offset(first, second) - (address & 2)};
    else
        return false;
    return true;
}

static bool take_arm_target(const struct code *code, struct target *target)
{
    uint32_t word = word_at(code, 4);

    if ((word & 0x0FFFFFF0) == 0x012FFF30)
        *target = (struct target){word & 15, 0};
    else if ((word & 0x0F000000) == 0x0B000000 && word >> 28 != 15)
        *target = (struct target){NO_REGISTER, extend(word & 0xFFFFFF, 24) * 4 + 4};
    else
        return false;
    return true;
}

// BLX from Arm to Thumb code. BL of Thumb code looks like it: that is asked for first.
static bool take_arm_exchange(const struct code *code, struct target *target)
{
    uint32_t word = word_at(code, 4);

    if ((word & 0xFE000000) != 0xFA000000)
        return false;
    *target = (struct target){NO_REGISTER,
                              extend(word & 0xFFFFFF, 24) * 4 + 4 + move_bits(word, 24, 1, 1)};
    return true;
}

static bool take_aarch64_target(const struct code *code, struct target *target)
{
    uint32_t word = word_at(code, 4);

    if ((word & 0xFC000000) == 0x94000000)
        *target = (struct target){NO_REGISTER, extend(word & 0x3FFFFFF, 26) * 4 - 4};
    else if ((word & 0xFFFFFC1F) == 0xD63F0000)
        *target = (struct target){word >> 5 & 31, 0};
    else
        return false;
    return true;
}

// JALR adds an offset to a register, which AUIPC has set to an address near itself if it is ra.
static bool take_riscv_target(const struct code *code, bool is_narrow, struct target *target)
{
    enum { RA = 1 };
    uint32_t word = word_at(code, 4), half = half_at(code, 2), before = word_at(code, 8);

    if ((word & 0xFFF) == 0x0EF) // JAL ra
        *target = (struct target){
            NO_REGISTER, extend(move_bits(word, 31, 1, 20) | move_bits(word, 12, 8, 12) |
                                    move_bits(word, 20, 1, 11) | move_bits(word, 21, 10, 1),
                                21) -
                             4};
    else if ((word & 0x7FFF) == 0x00E7 && (word >> 15 & 31) != RA) // JALR ra, rs1
        *target = (struct target){word >> 15 & 31, extend(word >> 20, 12)};
    else if ((word & 0xFFFFF) == 0x080E7 && (before & 0xFFF) == 0x097) // AUIPC ra; JALR ra, ra
        *target = (struct target){NO_REGISTER,
                                  extend(before & 0xFFFFF000, 32) + extend(word >> 20, 12) - 8};
    else if ((half & 0xF07F) == 0x9002 && half & 0xF80 && (half >> 7 & 31) != RA) // C.JALR
        *target = (struct target){half >> 7 & 31, 0};
    else if (is_narrow && (half & 0xE003) == 0x2001) // C.JAL
        *target = (struct target){NO_REGISTER,
                                  extend(move_bits(half, 12, 1, 11) | move_bits(half, 11, 1, 4) |
                                             move_bits(half, 9, 2, 8) | move_bits(half, 8, 1, 10) |
                                             move_bits(half, 7, 1, 6) | move_bits(half, 6, 1, 7) |
                                             move_bits(half, 3, 3, 1) | move_bits(half, 2, 1, 5),
                                         12) -
                                      2};
    else
        return false;
    return true;
}

// JSR (An), and JSR with an address.
static bool take_m68k_target(const struct code *code, uint64_t address, struct target *target)
{
    enum { A0 = 8 };
    uint32_t two = half_at(code, 2);

    if ((two & 0xFFF8) == 0x4E90)
        *target = (struct target){A0 + (two & 7), 0};
    else if (half_at(code, 6) == 0x4EB9)
        *target = (struct target){NO_REGISTER, word_at(code, 4) - address};
    else
        return false;
    return true;
}

bool kernel_call_target(const struct register_machine *machine, const uint8_t *bytes, size_t length,
                        enum extract_byte_order order, uint64_t address,
                        const struct extract_registers *registers, uint64_t *called)
{
    const uint64_t mask = machine->word_bytes == 8 ? UINT64_MAX : UINT32_MAX;
    struct code code = {bytes, length, order};
    struct target target;
    uint64_t base = address;
    bool is_known = false;

    switch (machine->elf_machine) {
    case EM_ARM:
        is_known = (!machine->is_m_profile && take_arm_target(&code, &target)) ||
                   take_thumb_target(&code, address, &target) ||
                   (!machine->is_m_profile && take_arm_exchange(&code, &target));
        break;
    case EM_AARCH64:
        code.order = EXTRACT_LITTLE;
        is_known = take_aarch64_target(&code, &target);
        break;
    case EM_RISCV:
        code.order = EXTRACT_LITTLE;
        is_known = take_riscv_target(&code, machine->word_bytes == 4, &target);
        break;
    case EM_68K:
        is_known = take_m68k_target(&code, address, &target);
        break;
    default:
        break;
    }
    if (!is_known || (target.base != NO_REGISTER && !register_get(registers, target.base, &base)))
        return false;
    *called = (base + target.offset) & mask;
    return true;
}

// ---- the code of a program ----

enum { LONGEST = 8 };

// Reads the code before an address. Returns how many bytes there are; 0: what the file does not
// contain, such as code in RAM, is not known.
static unsigned read_code(struct extract_symbols *symbols, uint64_t address, uint8_t bytes[LONGEST],
                          enum extract_byte_order *order)
{
    enum { EF_BE8 = 0x00800000 };
    const bool is_arm = extract_symbols_machine(symbols) == EM_ARM;

    *order = is_arm && extract_symbols_flags(symbols) & EF_BE8
                 ? EXTRACT_LITTLE
                 : extract_symbols_byte_order(symbols);
    for (unsigned length = LONGEST; length; length -= 2)
        if (address >= length &&
            extract_symbols_read_constant(symbols, address - length, bytes, length) == length)
            return length;
    return 0;
}

bool kernel_is_no_return(struct extract_symbols *symbols, uint64_t address)
{
    const struct register_machine *machine = register_machine_of(symbols);
    enum extract_byte_order order;
    uint8_t bytes[LONGEST];
    unsigned length = read_code(symbols, address, bytes, &order);

    return machine && length && !kernel_ends_in_call(machine, bytes, length, order);
}

bool kernel_find_called(struct extract_symbols *symbols, uint64_t address,
                        const struct extract_registers *registers, uint64_t *called)
{
    const struct register_machine *machine = register_machine_of(symbols);
    enum extract_byte_order order;
    uint8_t bytes[LONGEST];
    unsigned length = read_code(symbols, address, bytes, &order);

    return machine && length &&
           kernel_call_target(machine, bytes, length, order, address, registers, called);
}
