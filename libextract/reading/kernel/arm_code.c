// SPDX-License-Identifier: MIT
// kernel: decodes instructions of an Arm core of A- or R-profile, Arm and Thumb (arm_decode).
//
// Source: Arm Architecture Reference Manual for Armv7-A, A5 (Arm encodings), A6 (Thumb encodings),
// A6.3.2 (modified immediate constants).
#include "kernel/arm_code.h"
#include "base/cursor.h"
#include "registers/registers_room.h"

static uint32_t bits(uint32_t word, unsigned low, unsigned count)
{
    return word >> low & ((UINT32_C(1) << count) - 1);
}

static uint32_t rotate(uint32_t value, unsigned right)
{
    return right ? value >> right | value << (32 - right) : value;
}

static uint32_t extend(uint32_t value, unsigned count)
{
    const uint32_t sign = UINT32_C(1) << (count - 1);

    return (value ^ sign) - sign;
}

static struct arm_step step_of(enum arm_action action)
{
    return (struct arm_step){.action = action, .condition = ARM_ALWAYS};
}

// What writes registers whose values are not followed; pc among them: a jump.
static struct arm_step writes(uint32_t list)
{
    struct arm_step step = step_of(list >> ARM_PC & 1 ? ARM_LEAVE : ARM_WRITE);

    step.list = (uint16_t)list;
    return step;
}

static struct arm_step sets(enum arm_action action, unsigned rd, unsigned rn, uint32_t number)
{
    struct arm_step step = step_of(action);

    step.rd = (uint8_t)rd;
    step.rn = (uint8_t)rn;
    step.number = number;
    step.list = (uint16_t)(1 << rd);
    return rd == ARM_PC ? writes(1 << ARM_PC) : step;
}

// AND, EOR, ORR and BIC with a number, by the number of the operation in Arm code.
static struct arm_step changes_bits(unsigned op, unsigned rd, unsigned rn, uint32_t number)
{
    const bool keeps_them = op == 0, has_them = op == 12;
    struct arm_step step = sets(ARM_BITS, rd, rn, op == 1 || has_them ? number : 0);

    step.keep = keeps_them ? number : op == 1 ? UINT32_MAX : ~number;
    return step;
}

static struct arm_step jumps(uint32_t to, unsigned condition)
{
    struct arm_step step = step_of(ARM_JUMP);

    step.number = to;
    step.condition = (uint8_t)condition;
    return step;
}

// BX and BLX.
static struct arm_step goes(enum arm_action action, unsigned rm)
{
    struct arm_step step = step_of(action);

    step.rn = (uint8_t)rm;
    return step;
}

static struct arm_step compares(unsigned rn, uint32_t number)
{
    struct arm_step step = step_of(ARM_COMPARE);

    step.rn = (uint8_t)rn;
    step.number = number;
    return step;
}

static struct arm_step loses_flags(struct arm_step step)
{
    step.loses_flags = true;
    return step;
}

// A load or store of `bytes` at rn, with an offset before or after it. A load of less or more than
// a word writes its registers with unknown values.
static struct arm_step accesses(bool is_load, uint32_t list, unsigned rn, uint32_t bytes,
                                int32_t before, int32_t writeback)
{
    struct arm_step step = step_of(is_load ? ARM_WRITE : ARM_STORE);

    if (rn == ARM_PC && writeback)
        return step_of(ARM_UNKNOWN);
    if (is_load && list >> ARM_PC & 1)
        return writes(list | (writeback ? 1U << rn : 0));
    step.list = (uint16_t)list;
    step.rn = (uint8_t)rn;
    step.number = (uint32_t)before;
    step.bytes = bytes;
    step.writeback = writeback;
    step.has_writeback = writeback != 0;
    for (unsigned i = 0; is_load && bytes == 4 && i < ARM_PC; i++)
        if (list == 1U << i) {
            step.action = ARM_LOAD;
            step.rd = (uint8_t)i;
        }
    return step;
}

static struct arm_step loads_literal(unsigned rd, uint32_t address, uint32_t bytes)
{
    struct arm_step step = accesses(true, 1U << rd, ARM_NO_BASE, bytes, (int32_t)address, 0);

    step.is_literal = true;
    return step;
}

// An access whose address is not followed, such as one with an index.
static struct arm_step accesses_anywhere(bool is_load, uint32_t list, unsigned rn, bool writes_base)
{
    if (is_load)
        return writes(list | (writes_base ? 1U << rn : 0));
    if (writes_base)
        return step_of(ARM_UNKNOWN);
    return accesses(false, list, ARM_NO_BASE, 4, 0, 0);
}

// P, U and W of a load or store, and its offset.
static struct arm_step indexes(bool is_load, uint32_t list, unsigned rn, uint32_t bytes,
                               bool is_before, bool is_up, bool has_writeback, uint32_t offset)
{
    const int32_t signed_offset = is_up ? (int32_t)offset : -(int32_t)offset;

    return accesses(is_load, list, rn, bytes, is_before ? signed_offset : 0,
                    has_writeback || !is_before ? signed_offset : 0);
}

// LDM and STM.
static struct arm_step accesses_many(bool is_load, uint32_t list, unsigned rn, bool is_before,
                                     bool is_up, bool has_writeback)
{
    uint32_t bytes = 0;

    for (unsigned i = 0; i < 16; i++)
        bytes += list >> i & 1 ? 4 : 0;
    const int32_t size = (int32_t)bytes;
    const int32_t from = is_up ? (is_before ? 4 : 0) : (is_before ? -size : 4 - size);
    struct arm_step step =
        accesses(is_load, list, rn, bytes, from, has_writeback ? (is_up ? size : -size) : 0);
    if (is_load && step.action == ARM_LOAD && has_writeback && list >> rn & 1)
        return writes(list);
    return step;
}

// Instructions of coprocessors, among them those of the FPU: the same in both sets.
static struct arm_step decode_coprocessor(uint32_t word, uint32_t pc)
{
    const unsigned first = bits(word, 12, 4), second = bits(word, 16, 4);
    const uint32_t offset = bits(word, 0, 8) * 4;

    if ((word & 0x0F000000) == 0x0E000000) { // CDP, MCR, MRC
        if (!(word & 0x10) || !(word & 0x100000))
            return step_of(ARM_NOTHING);
        return first == ARM_PC ? loses_flags(step_of(ARM_NOTHING)) : writes(1U << first);
    }
    if ((word & 0x0FE00000) == 0x0C400000) // MCRR, MRRC, VMOV
        return word & 0x100000 ? writes(1U << first | 1U << second) : step_of(ARM_NOTHING);
    if ((word & 0x0F200E00) != 0x0D000A00)
        return step_of(ARM_UNKNOWN);
    // VLDR and VSTR.
    if (word & 0x100000) {
        struct arm_step step = step_of(ARM_NOTHING);
        step.is_literal = second == ARM_PC;
        step.number = (pc & ~3U) + (word & 0x800000 ? offset : 0 - offset);
        step.bytes = 8;
        return step;
    }
    return indexes(false, 0, second, word & 0x100 ? 8 : 4, true, word & 0x800000, false, offset);
}

// ---- Arm ----

static struct arm_step decode_arm_unconditional(uint32_t word)
{
    if ((word & 0xFE000000) == 0xFA000000)
        return step_of(ARM_CALL);
    if ((word & 0xFFF10000) == 0xF1000000 || (word & 0xFFFFFF00) == 0xF57FF000 ||
        (word & 0xFD70F000) == 0xF550F000)
        return step_of(ARM_NOTHING); // CPS; barriers; PLD
    return step_of(ARM_UNKNOWN);
}

// The half words, double words and multiplications among the data-processing instructions.
static struct arm_step decode_arm_extra(uint32_t word)
{
    const unsigned kind = bits(word, 5, 2), rn = bits(word, 16, 4), rt = bits(word, 12, 4);
    const bool is_load = word & 0x100000 || kind == 2, is_pair = !(word & 0x100000) && kind != 1;
    const bool is_before = word & 0x1000000, has_writeback = word & 0x200000 || !is_before;
    const uint32_t list = is_pair ? 3U << rt : 1U << rt;

    if (!kind)
        return word & 0x1000000 ? step_of(ARM_UNKNOWN) : loses_flags(writes(1U << rn | 1U << rt));
    if (rn == ARM_PC || list >> ARM_PC)
        return step_of(ARM_UNKNOWN);
    if (!(word & 0x400000))
        return accesses_anywhere(is_load, list, rn, has_writeback);
    return indexes(is_load, list, rn, is_pair ? 8 : 2, is_before, word & 0x800000, word & 0x200000,
                   bits(word, 8, 4) << 4 | bits(word, 0, 4));
}

// Those that compare without a result: moves of the status, BX, BLX, CLZ.
static struct arm_step decode_arm_other(uint32_t word)
{
    if ((word & 0x0FFFFFD0) == 0x012FFF10)
        return goes(word & 0x20 ? ARM_CALL : ARM_GO, bits(word, 0, 4));
    if ((word & 0x0FBF0FFF) == 0x010F0000 || (word & 0x0FFF0FF0) == 0x016F0F10)
        return writes(1U << bits(word, 12, 4));
    if ((word & 0x0FB0FFF0) == 0x0120F000)
        return loses_flags(step_of(ARM_NOTHING));
    return step_of(ARM_UNKNOWN);
}

static struct arm_step decode_arm_data(uint32_t word, uint32_t pc)
{
    const unsigned op = bits(word, 21, 4), rn = bits(word, 16, 4), rd = bits(word, 12, 4);
    const bool has_number = word & 0x2000000, sets_flags = word & 0x100000;
    const uint32_t number = rotate(bits(word, 0, 8), 2 * bits(word, 8, 4));
    struct arm_step step = writes(1U << rd);

    if (op >= 8 && op <= 11 && sets_flags)
        return op == 10 && has_number ? compares(rn, number) : loses_flags(step_of(ARM_NOTHING));
    if (has_number && op == 13)
        step = sets(ARM_SET, rd, 0, number);
    else if (has_number && op == 15)
        step = sets(ARM_SET, rd, 0, ~number);
    else if (has_number && (op == 2 || op == 4) && rn == ARM_PC)
        step = sets(ARM_SET, rd, 0, pc + (op == 4 ? number : 0 - number));
    else if (has_number && (op == 2 || op == 4))
        step = sets(ARM_ADD, rd, rn, op == 4 ? number : 0 - number);
    else if (has_number && (op < 2 || op == 12 || op == 14))
        step = changes_bits(op, rd, rn, number);
    else if (!has_number && op == 13 && !(word & 0xFF0) && bits(word, 0, 4) != ARM_PC)
        step = sets(ARM_ADD, rd, bits(word, 0, 4), 0);
    step.loses_flags = sets_flags;
    return step;
}

static struct arm_step decode_arm_access(uint32_t word, uint32_t pc)
{
    const unsigned rn = bits(word, 16, 4), rt = bits(word, 12, 4);
    const bool is_load = word & 0x100000, is_before = word & 0x1000000, is_up = word & 0x800000;
    const uint32_t offset = bits(word, 0, 12), bytes = word & 0x400000 ? 1 : 4;

    if (word & 0x2000000) {
        struct arm_step step =
            accesses_anywhere(is_load, 1U << rt, rn, word & 0x200000 || !is_before);
        // LDR pc, [pc, rm, LSL #2]: a table comes after the next instruction.
        step.table_bytes = is_load && rt == ARM_PC && rn == ARM_PC ? 4 : 0;
        return step;
    }
    if (rn == ARM_PC && is_load && rt != ARM_PC)
        return loads_literal(rt, pc + (is_up ? offset : 0 - offset), bytes);
    return indexes(is_load, 1U << rt, rn, bytes, is_before, is_up, word & 0x200000, offset);
}

static struct arm_step decode_arm(uint32_t word, uint32_t address)
{
    const uint32_t pc = address + 8;
    struct arm_step step;

    if (word >> 28 == 15)
        return decode_arm_unconditional(word);
    switch (bits(word, 25, 3)) {
    case 0:
        if ((word & 0x90) == 0x90)
            step = decode_arm_extra(word);
        else if ((word & 0x01900000) == 0x01000000)
            step = decode_arm_other(word);
        else
            step = decode_arm_data(word, pc);
        break;
    case 1:
        if ((word & 0x0FB00000) == 0x03000000) // MOVW, MOVT
            step = sets(word & 0x400000 ? ARM_TOP : ARM_SET, bits(word, 12, 4), 0,
                        bits(word, 16, 4) << 12 | bits(word, 0, 12));
        else if ((word & 0x0FB00000) == 0x03200000) // MSR, NOP
            step = loses_flags(step_of(ARM_NOTHING));
        else
            step = decode_arm_data(word, pc);
        break;
    case 2:
        step = decode_arm_access(word, pc);
        break;
    case 3:
        if ((word & 0x0FF000F0) == 0x07F000F0) // UDF
            step = step_of(ARM_LEAVE);
        else if (word & 0x10) // such as UXTB, UBFX, SDIV
            step = writes(1U << bits(word, 12, 4) | 1U << bits(word, 16, 4));
        else
            step = decode_arm_access(word, pc);
        break;
    case 4:
        step = word & 0x400000 ? step_of(ARM_UNKNOWN)
                               : accesses_many(word & 0x100000, word & 0xFFFF, bits(word, 16, 4),
                                               word & 0x1000000, word & 0x800000, word & 0x200000);
        break;
    case 5:
        step = word & 0x1000000 ? step_of(ARM_CALL)
                                : jumps(pc + extend(bits(word, 0, 24), 24) * 4, ARM_ALWAYS);
        break;
    default:
        step = word & 0x1000000 && word & 0x2000000 ? step_of(ARM_UNKNOWN) // SVC
                                                    : decode_coprocessor(word, pc);
    }
    step.condition = (uint8_t)(word >> 28);
    return step;
}

// ---- Thumb, 16 bits ----

static struct arm_step decode_thumb_misc(uint32_t half, uint32_t pc)
{
    const uint32_t list = bits(half, 0, 8), ninth = bits(half, 8, 1);
    struct arm_step step = step_of(ARM_UNKNOWN);

    if ((half & 0xFF00) == 0xB000)
        return sets(ARM_ADD, ARM_SP, ARM_SP,
                    half & 0x80 ? 0 - bits(half, 0, 7) * 4 : bits(half, 0, 7) * 4);
    if ((half & 0xF500) == 0xB100) {
        step = jumps(pc + (bits(half, 9, 1) << 6 | bits(half, 3, 5) << 1), ARM_ALWAYS);
        step.is_zero_test = true;
        step.is_not = half & 0x800;
        step.rd = (uint8_t)bits(half, 0, 3);
    } else if ((half & 0xFF00) == 0xB200 || (half & 0xFF00) == 0xBA00) // extensions, REV
        step = writes(1U << bits(half, 0, 3));
    else if ((half & 0xFE00) == 0xB400)
        step = accesses_many(false, list | ninth << ARM_LR, ARM_SP, true, false, true);
    else if ((half & 0xFE00) == 0xBC00)
        step = accesses_many(true, list | ninth << ARM_PC, ARM_SP, false, true, true);
    else if ((half & 0xFFE0) == 0xB660)
        step = step_of(ARM_NOTHING); // CPS
    else if ((half & 0xFF00) == 0xBE00)
        step = step_of(ARM_LEAVE); // BKPT
    else if ((half & 0xFF00) == 0xBF00) {
        step = step_of(ARM_NOTHING);
        step.skips = half & 1 ? 4 : half & 2 ? 3 : half & 4 ? 2 : half & 8 ? 1 : 0;
    }
    return step;
}

static struct arm_step decode_thumb_special(uint32_t half)
{
    const unsigned rd = bits(half, 0, 3) | bits(half, 7, 1) << 3, rm = bits(half, 3, 4);

    switch (bits(half, 8, 2)) {
    case 0:
        return writes(1U << rd);
    case 1:
        return loses_flags(step_of(ARM_NOTHING));
    case 2:
        return rm == ARM_PC ? writes(1U << rd) : sets(ARM_ADD, rd, rm, 0);
    default:
        return goes(half & 0x80 ? ARM_CALL : ARM_GO, rm);
    }
}

// Shifts, additions and moves with numbers: all set the flags, except in an IT block.
static struct arm_step decode_thumb_numbers(uint32_t half)
{
    const unsigned rd = bits(half, 0, 3), rn = bits(half, 3, 3), wide = bits(half, 8, 3);
    const uint32_t three = bits(half, 6, 3), eight = bits(half, 0, 8);
    struct arm_step step = writes(1U << rd);

    switch (half >> 11) {
    case 0:
        if (!bits(half, 6, 5)) // MOVS
            step = sets(ARM_ADD, rd, rn, 0);
        break;
    case 3:
        if (half & 0x400)
            step = sets(ARM_ADD, rd, rn, half & 0x200 ? 0 - three : three);
        break;
    case 4:
        step = sets(ARM_SET, wide, 0, eight);
        break;
    case 5:
        return compares(wide, eight);
    case 6:
        step = sets(ARM_ADD, wide, wide, eight);
        break;
    case 7:
        step = sets(ARM_ADD, wide, wide, 0 - eight);
        break;
    default:
        break;
    }
    return loses_flags(step);
}

static struct arm_step decode_thumb_16(uint32_t half, uint32_t address)
{
    const uint32_t pc = address + 4, five = bits(half, 6, 5), eight = bits(half, 0, 8);
    const unsigned rd = bits(half, 0, 3), rn = bits(half, 3, 3), wide = bits(half, 8, 3);
    const bool is_load = half & 0x800;

    switch (half >> 12) {
    case 0:
    case 1:
    case 2:
    case 3:
        return decode_thumb_numbers(half);
    case 4:
        if (half & 0x800)
            return loads_literal(wide, (pc & ~3U) + eight * 4, 4);
        if (half & 0x400)
            return decode_thumb_special(half);
        return loses_flags((bits(half, 6, 4) & 0xD) == 8 || bits(half, 6, 4) == 11
                               ? step_of(ARM_NOTHING) // TST, CMP, CMN
                               : writes(1U << rd));
    case 5:
        return accesses_anywhere(bits(half, 9, 3) > 2, 1U << rd, rn, false);
    case 6:
        return accesses(is_load, 1U << rd, rn, 4, (int32_t)five * 4, 0);
    case 7:
        return accesses(is_load, 1U << rd, rn, 1, (int32_t)five, 0);
    case 8:
        return accesses(is_load, 1U << rd, rn, 2, (int32_t)five * 2, 0);
    case 9:
        return accesses(is_load, 1U << wide, ARM_SP, 4, (int32_t)eight * 4, 0);
    case 10:
        return half & 0x800 ? sets(ARM_ADD, wide, ARM_SP, eight * 4)
                            : sets(ARM_SET, wide, 0, (pc & ~3U) + eight * 4);
    case 11:
        return decode_thumb_misc(half, pc);
    case 12:
        return accesses_many(is_load, eight, wide, false, true, !is_load || !(eight >> wide & 1));
    case 13:
        if (bits(half, 8, 4) >= ARM_ALWAYS)
            return step_of(bits(half, 8, 4) == ARM_ALWAYS ? ARM_LEAVE : ARM_UNKNOWN); // UDF, SVC
        return jumps(pc + extend(eight, 8) * 2, bits(half, 8, 4));
    default:
        return jumps(pc + extend(bits(half, 0, 11), 11) * 2, ARM_ALWAYS);
    }
}

// ---- Thumb, 32 bits ----

// Returns a modified immediate constant.
static uint32_t expand(uint32_t word)
{
    const uint32_t code = bits(word, 26, 1) << 11 | bits(word, 12, 3) << 8 | bits(word, 0, 8);
    const uint32_t byte = code & 0xFF;

    switch (code >> 8) {
    case 0:
        return byte;
    case 1:
        return byte << 16 | byte;
    case 2:
        return byte << 24 | byte << 8;
    case 3:
        return byte << 24 | byte << 16 | byte << 8 | byte;
    default:
        return rotate((code & 0x7F) | 0x80, code >> 7);
    }
}

static struct arm_step decode_thumb_number(uint32_t word, uint32_t pc)
{
    const unsigned op = bits(word, 21, 4), rn = bits(word, 16, 4), rd = bits(word, 8, 4);
    const uint32_t number = expand(word);
    static const uint8_t as_arm[] = {0, 14, 12, 0, 1};
    struct arm_step step = writes(1U << rd);

    if (word & 0x2000000) { // numbers as they are
        const uint32_t plain = bits(word, 26, 1) << 11 | bits(word, 12, 3) << 8 | bits(word, 0, 8);
        switch (bits(word, 20, 5)) {
        case 0x00: // ADDW
            return rn == ARM_PC ? sets(ARM_SET, rd, 0, (pc & ~3U) + plain)
                                : sets(ARM_ADD, rd, rn, plain);
        case 0x0A: // SUBW
            return rn == ARM_PC ? sets(ARM_SET, rd, 0, (pc & ~3U) - plain)
                                : sets(ARM_ADD, rd, rn, 0 - plain);
        case 0x04: // MOVW
            return sets(ARM_SET, rd, 0, rn << 12 | plain);
        case 0x0C: // MOVT
            return sets(ARM_TOP, rd, 0, rn << 12 | plain);
        default: // such as BFI and UBFX
            return step;
        }
    }
    if (rd == ARM_PC)
        return op == 13 ? compares(rn, number) : loses_flags(step_of(ARM_NOTHING));
    if ((op == 2 || op == 3) && rn == ARM_PC)
        step = sets(ARM_SET, rd, 0, op == 2 ? number : ~number);
    else if (op == 8 || op == 13)
        step = sets(ARM_ADD, rd, rn, op == 8 ? number : 0 - number);
    else if (op < 5 && op != 3) // AND, BIC, ORR, EOR
        step = changes_bits(as_arm[op], rd, rn, number);
    step.loses_flags = word & 0x100000;
    return step;
}

static struct arm_step decode_thumb_branch(uint32_t word, uint32_t pc)
{
    const uint32_t sign = bits(word, 26, 1), j1 = bits(word, 13, 1), j2 = bits(word, 11, 1);
    const unsigned condition = bits(word, 22, 4);

    if ((word & 0xC000) == 0xC000)
        return step_of(ARM_CALL);
    if (word & 0x1000) {
        const uint32_t offset = sign << 24 | (uint32_t) !(j1 ^ sign) << 23 |
                                (uint32_t) !(j2 ^ sign) << 22 | bits(word, 16, 10) << 12 |
                                bits(word, 0, 11) << 1;
        return jumps(pc + extend(offset, 25), ARM_ALWAYS);
    }
    if (condition < ARM_ALWAYS)
        return jumps(pc + extend(sign << 20 | j2 << 19 | j1 << 18 | bits(word, 16, 6) << 12 |
                                     bits(word, 0, 11) << 1,
                                 21),
                     condition);
    if ((word & 0xFFE00000) == 0xF3E00000) // MRS
        return writes(1U << bits(word, 8, 4));
    if ((word & 0xFFE00000) == 0xF3800000) // MSR
        return loses_flags(step_of(ARM_NOTHING));
    return step_of((word & 0xFFF00000) == 0xF3A00000 || (word & 0xFFF0FF00) == 0xF3B08F00
                       ? ARM_NOTHING // hints, CPS; barriers
                       : ARM_UNKNOWN);
}

static struct arm_step decode_thumb_single(uint32_t word, uint32_t pc)
{
    const unsigned size = bits(word, 21, 2), rn = bits(word, 16, 4), rt = bits(word, 12, 4);
    const bool is_load = word & 0x100000, is_long = word & 0x800000;
    const uint32_t bytes = 1U << size, twelve = bits(word, 0, 12);

    if (!is_load && word & 0x1000000) // elements of vectors
        return step_of(ARM_UNKNOWN);
    if (size == 3 || (rt == ARM_PC && (!is_load || size != 2)))
        return step_of(is_load ? ARM_NOTHING : ARM_UNKNOWN); // PLD
    if (rn == ARM_PC && is_load)
        return rt == ARM_PC
                   ? step_of(ARM_LEAVE)
                   : loads_literal(rt, (pc & ~3U) + (is_long ? twelve : 0 - twelve), bytes);
    if (is_long)
        return accesses(is_load, 1U << rt, rn, bytes, (int32_t)twelve, 0);
    if (!(word & 0x800))
        return accesses_anywhere(is_load, 1U << rt, rn, false);
    return indexes(is_load, 1U << rt, rn, bytes, word & 0x400, word & 0x200, word & 0x100,
                   bits(word, 0, 8));
}

static struct arm_step decode_thumb_pair(uint32_t word)
{
    const unsigned rn = bits(word, 16, 4);
    const uint32_t list = 1U << bits(word, 12, 4) | 1U << bits(word, 8, 4);

    if ((word & 0xFFF0FFE0) == 0xE8D0F000) { // TBB, TBH
        struct arm_step step = step_of(ARM_LEAVE);
        step.table_bytes = rn != ARM_PC ? 0 : word & 0x10 ? 2 : 1;
        return step;
    }
    // Of a pair, the order of the registers is that of `list` only if the first is the lower one.
    if (!(word & 0x1200000) || rn == ARM_PC ||
        (!(word & 0x100000) && bits(word, 12, 4) >= bits(word, 8, 4)))
        return step_of(ARM_UNKNOWN);
    return indexes(word & 0x100000, list, rn, 8, word & 0x1000000, word & 0x800000, word & 0x200000,
                   bits(word, 0, 8) * 4);
}

static struct arm_step decode_thumb_32(uint32_t word, uint32_t address)
{
    const uint32_t pc = address + 4;
    const unsigned rd = bits(word, 8, 4), rm = bits(word, 0, 4);
    const bool sets_flags = word & 0x100000;
    struct arm_step step = writes(1U << rd);

    if ((word & 0xF8008000) == 0xF0008000)
        return decode_thumb_branch(word, pc);
    if ((word & 0xF8000000) == 0xF0000000)
        return decode_thumb_number(word, pc);
    if ((word & 0xFE400000) == 0xE8000000) {
        const unsigned mode = bits(word, 23, 2);
        return mode == 1 || mode == 2 ? accesses_many(sets_flags, word & 0xFFFF, bits(word, 16, 4),
                                                      mode == 2, mode == 1, word & 0x200000)
                                      : step_of(ARM_UNKNOWN);
    }
    if ((word & 0xFE400000) == 0xE8400000)
        return decode_thumb_pair(word);
    if ((word & 0xFE000000) == 0xEA000000) {
        if (rd == ARM_PC)
            return loses_flags(step_of(ARM_NOTHING));
        if ((word & 0xFFEFF0F0) == 0xEA4F0000 && rm != ARM_PC)
            step = sets(ARM_ADD, rd, rm, 0);
        step.loses_flags = sets_flags;
        return step;
    }
    if ((word & 0xEC000000) == 0xEC000000)
        return decode_coprocessor(word, pc);
    if ((word & 0xFE000000) == 0xF8000000)
        return decode_thumb_single(word, pc);
    if ((word & 0xFE000000) == 0xFA000000) { // registers, multiplications, divisions
        step = writes(1U << rd | ((word & 0xFF800000) == 0xFB800000 ? 1U << bits(word, 12, 4) : 0));
        return rd == ARM_PC && (word & 0xFF800000) == 0xFB800000 ? step_of(ARM_UNKNOWN)
                                                                 : loses_flags(step);
    }
    return step_of(ARM_UNKNOWN);
}

struct arm_step arm_decode(const uint8_t *bytes, size_t length, enum extract_byte_order order,
                           uint32_t address, bool is_thumb)
{
    struct extract_cursor c = extract_cursor_make(bytes, length, order);
    struct arm_step step;

    if (!is_thumb) {
        step = decode_arm(extract_cursor_u32(&c), address);
        step.length = 4;
    } else {
        const uint32_t half = extract_cursor_u16(&c);
        const bool is_long = half >> 11 >= 0x1D;
        step = is_long ? decode_thumb_32(half << 16 | extract_cursor_u16(&c), address)
                       : decode_thumb_16(half, address);
        step.length = is_long ? 4 : 2;
    }
    if (c.failed)
        step.action = ARM_UNKNOWN;
    return step;
}
