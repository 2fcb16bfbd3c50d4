// SPDX-License-Identifier: MIT
// kernel: what an instruction of an Arm core of A- or R-profile does to the registers and to the
// memory. In: a piece of code. Out: a step, which holds no more than is needed to follow code that
// runs straight on: what is set to what, what is stored where, and whether the code continues.
#ifndef EXTRACT_ARM_CODE_H
#define EXTRACT_ARM_CODE_H

#include "extract/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum arm_action {
    ARM_UNKNOWN, // it may do anything
    ARM_NOTHING,
    ARM_SET,     // rd = number
    ARM_TOP,     // the upper half of rd = number
    ARM_ADD,     // rd = rn + number
    ARM_BITS,    // rd = (rn & keep) ^ number
    ARM_WRITE,   // the registers of `list` = unknown
    ARM_LOAD,    // rd = the word at the address
    ARM_STORE,   // the memory at the address = the registers of `list`, or of unknown bytes
    ARM_COMPARE, // the flags = rn against number
    ARM_JUMP,    // to `number`, within the function or out of it
    ARM_GO,      // to where rn leads
    ARM_LEAVE,   // to an unknown place
    ARM_CALL
};

enum { ARM_ALWAYS = 14, ARM_NO_BASE = 255 };

// What one instruction does. The address of a load or store is rn + number; ARM_NO_BASE: unknown,
// or `number` itself if `is_literal`. Then rn += writeback.
struct arm_step {
    enum arm_action action;
    uint8_t length;    // bytes
    uint8_t condition; // ARM_ALWAYS, or as in the code
    uint8_t rd, rn;
    uint8_t skips;       // IT: how many instructions after it are conditional
    uint8_t table_bytes; // of an entry of the table that comes after a jump by it; 0: no table
    uint16_t list;
    uint32_t number, keep, bytes;
    int32_t writeback;
    bool is_literal, has_writeback;
    bool loses_flags;
    bool is_zero_test; // ARM_JUMP: of rd, if it is zero, or (`is_not`) if it is not
    bool is_not;
};

// Decodes the instruction at the beginning of `length` bytes, which are at `address`. What is not
// known, or is cut off, is ARM_UNKNOWN.
struct arm_step arm_decode(const uint8_t *bytes, size_t length, enum extract_byte_order order,
                           uint32_t address, bool is_thumb);

#endif
