// SPDX-License-Identifier: MIT
// probe/jtag: a memory access port. In: CSW, TAR, DRW, BD0 to BD3. Out: beats.
// Standard: Arm ADIv5 (IHI 0031), C2.2 (address increment, packed transfers, byte lanes) and C2.6
// (registers).
#include "probe/jtag/ap.h"

enum {
    AP_CSW = 0x00,
    AP_TAR = 0x04,
    AP_DRW = 0x0C,
    AP_BD0 = 0x10,
    AP_BD3 = 0x1C,
    AP_BASE = 0xF8,
    AP_IDR = 0xFC,
    CSW_SIZE = 0x7,
    CSW_INCREMENT = 0x30,
    INCREMENT_SINGLE = 0x10,
    INCREMENT_PACKED = 0x20,
    CSW_ENABLED = 0x40,
    WRAP = 4096 // bytes within which the increment wraps, as a Cortex-M3's does
};

#define CSW_RESET UINT32_C(0x43000000)

void ap_init(struct ap *ap, struct bus *bus, uint32_t idr)
{
    *ap = (struct ap){.bus = bus, .idr = idr, .csw = CSW_RESET | 2};
}

// One access; `value` has its bytes in their lanes of the 32-bit word.
static bool beat(struct ap *ap, uint32_t address, unsigned bytes, bool is_read, uint32_t *value)
{
    unsigned lane = (address & 3) * 8;
    uint32_t mask = bytes == 4 ? UINT32_MAX : (UINT32_C(1) << bytes * 8) - 1;
    uint64_t word;
    if (!is_read)
        return bus_write(ap->bus, address, bytes, *value >> lane & mask);
    if (!bus_read(ap->bus, address, bytes, &word))
        return false;
    *value = (*value & ~(mask << lane)) | ((uint32_t)word & mask) << lane;
    return true;
}

static void advance(struct ap *ap, unsigned bytes)
{
    ap->tar = (ap->tar & ~(uint32_t)(WRAP - 1)) | ((ap->tar + bytes) & (WRAP - 1));
}

// DRW: one access, or in packed mode as many as fill a word.
static bool access_drw(struct ap *ap, bool is_read, uint32_t *value)
{
    unsigned bytes = 1u << (ap->csw & CSW_SIZE), increment = ap->csw & CSW_INCREMENT;
    unsigned beats = increment == INCREMENT_PACKED ? 4 / bytes : 1;
    for (unsigned i = 0; i < beats; i++) {
        uint32_t address = ap->tar & ~(uint32_t)(bytes - 1);
        if (!beat(ap, address, bytes, is_read, value))
            return false;
        if (increment)
            advance(ap, bytes);
    }
    return true;
}

// BD0 to BD3: the four words around TAR; each access is a transaction of its own.
static bool access_banked(struct ap *ap, unsigned reg, bool is_read, uint32_t *value)
{
    ap->bus->new_transaction = true;
    return beat(ap, (ap->tar & ~UINT32_C(0xF)) | (reg & 0xC), 4, is_read, value);
}

bool ap_read(struct ap *ap, unsigned reg, uint32_t *value)
{
    *value = 0;
    if (reg == AP_DRW)
        return access_drw(ap, true, value);
    if (reg >= AP_BD0 && reg <= AP_BD3)
        return access_banked(ap, reg, true, value);
    if (reg == AP_CSW)
        *value = ap->csw;
    else if (reg == AP_TAR)
        *value = ap->tar;
    else if (reg == AP_BASE)
        *value = ap->bus->target->rom_table;
    else if (reg == AP_IDR)
        *value = ap->idr;
    return true;
}

// Sizes and increments that the port does not have are stored as ones that it has.
static uint32_t possible_csw(uint32_t value)
{
    uint32_t size = value & CSW_SIZE, increment = value & CSW_INCREMENT;
    if (size > 2)
        size = 2;
    if (increment > INCREMENT_PACKED)
        increment = 0;
    return (value & ~(uint32_t)(CSW_SIZE | CSW_INCREMENT | 0x80)) | CSW_ENABLED | size | increment;
}

bool ap_write(struct ap *ap, unsigned reg, uint32_t value)
{
    if (reg == AP_DRW)
        return access_drw(ap, false, &value);
    if (reg >= AP_BD0 && reg <= AP_BD3)
        return access_banked(ap, reg, false, &value);
    if (reg == AP_CSW)
        ap->csw = possible_csw(value);
    if (reg == AP_TAR) {
        ap->tar = value;
        ap->bus->new_transaction = true;
    }
    return true;
}
