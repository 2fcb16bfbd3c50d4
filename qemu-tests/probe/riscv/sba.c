// SPDX-License-Identifier: MIT
// probe/riscv: system bus access. In: sbcs, sbaddress, sbdata. Out: beats of 1, 2, 4 or 8 bytes.
// Standard: RISC-V External Debug Support 0.13.2, 3.12.18 (sbcs) to 3.12.23 (sbdata0).
#include "probe/riscv/sba.h"

enum {
    SB_CONTROL = 0x38,
    SB_ADDRESS0 = 0x39,
    SB_ADDRESS1 = 0x3A,
    SB_DATA0 = 0x3C,
    SB_DATA1 = 0x3D,
    READ_ON_DATA = 1 << 15, // sbcs
    INCREMENT = 1 << 16,
    ACCESS = 7 << 17,
    ACCESS_32 = 2 << 17,
    READ_ON_ADDRESS = 1 << 20,
    KEPT = READ_ON_DATA | INCREMENT | ACCESS | READ_ON_ADDRESS,
    VERSION = 1 << 29, // 0.13
    ADDRESS_BITS = 64 << 5,
    SIZES = 0xF,     // 8, 16, 32 and 64 bits
    LARGEST = 3,     // the number of the last of them
    BAD_ADDRESS = 2, // sberror
    BAD_ALIGNMENT = 3,
    BAD_SIZE = 4
};

void sba_reset(struct sba *sba)
{
    *sba = (struct sba){.bus = sba->bus, .control = ACCESS_32};
}

// A beat at the address, which is incremented when that was requested.
static void beat(struct sba *sba, bool is_read)
{
    unsigned size = (sba->control & ACCESS) >> 17, bytes = 1u << size;
    if (sba->error)
        return;
    if (size > LARGEST)
        sba->error = BAD_SIZE;
    else if (sba->address % bytes)
        sba->error = BAD_ALIGNMENT;
    else if (sba->address > UINT32_MAX ||
             !(is_read ? bus_read(sba->bus, (uint32_t)sba->address, bytes, &sba->data)
                       : bus_write(sba->bus, (uint32_t)sba->address, bytes, sba->data)))
        sba->error = BAD_ADDRESS;
    else if (sba->control & INCREMENT)
        sba->address += bytes;
}

uint32_t sba_read(struct sba *sba, unsigned reg)
{
    uint32_t value = (uint32_t)sba->data;
    switch (reg) {
    case SB_CONTROL:
        return VERSION | sba->control | sba->error << 12 | ADDRESS_BITS | SIZES;
    case SB_ADDRESS0:
        return (uint32_t)sba->address;
    case SB_ADDRESS1:
        return (uint32_t)(sba->address >> 32);
    case SB_DATA0:
        if (sba->control & READ_ON_DATA)
            beat(sba, true);
        return value;
    case SB_DATA1:
        return (uint32_t)(sba->data >> 32);
    default:
        return 0;
    }
}

static void replace(uint64_t *pair, bool is_high, uint32_t value)
{
    *pair = is_high ? (*pair & UINT32_MAX) | (uint64_t)value << 32
                    : (*pair & ~(uint64_t)UINT32_MAX) | value;
}

void sba_write(struct sba *sba, unsigned reg, uint32_t value)
{
    if (reg == SB_CONTROL) {
        sba->control = value & KEPT;
        sba->error &= ~(value >> 12);
    } else if (reg == SB_ADDRESS0 || reg == SB_ADDRESS1) {
        replace(&sba->address, reg == SB_ADDRESS1, value);
        sba->bus->new_transaction = true;
        if (reg == SB_ADDRESS0 && sba->control & READ_ON_ADDRESS)
            beat(sba, true);
    } else if (reg == SB_DATA0 || reg == SB_DATA1) {
        replace(&sba->data, reg == SB_DATA1, value);
        if (reg == SB_DATA0)
            beat(sba, false);
    }
}
