// SPDX-License-Identifier: MIT
// probe/riscv: the JTAG debug transport module. In: scans of DTMCS and DMI. Out: results, one scan
// later. Standard: RISC-V External Debug Support 0.13.2, 6.1.2 to 6.1.5.
#include "probe/riscv/dtm.h"

enum {
    IR_LENGTH = 5,
    IR_IDCODE = 0x01,
    IR_DTMCS = 0x10,
    IR_DMI = 0x11,
    IDCODE = 0x10000001, // version 1, no part number, the manufacturer of none
    DTMCS_LENGTH = 32,
    DTMCS_VERSION = 1, // 0.13
    DTMCS_STATUS = 10, // its lowest bit
    DTMCS_RESET = 1 << 16,
    DTMCS_HARD_RESET = 1 << 17,
    ADDRESS_BITS = 7,
    DMI_LENGTH = ADDRESS_BITS + 34,
    DMI_READ = 1,
    DMI_WRITE = 2,
    STATUS_BUSY = 3
};

static uint64_t capture_dmi(struct dtm *dtm)
{
    dtm->busy |= knobs_take_wait(dtm->knobs);
    return (uint64_t)dtm->address << 34 | (uint64_t)dtm->data << 2 | (dtm->busy ? STATUS_BUSY : 0);
}

static bool capture(void *context, unsigned instruction, uint64_t *scan, unsigned *length)
{
    struct dtm *dtm = context;
    if (instruction == IR_DTMCS) {
        *length = DTMCS_LENGTH;
        *scan = DTMCS_VERSION | ADDRESS_BITS << 4 | (dtm->busy ? STATUS_BUSY << DTMCS_STATUS : 0);
    } else if (instruction == IR_DMI) {
        *length = DMI_LENGTH;
        *scan = capture_dmi(dtm);
    } else {
        return false;
    }
    return true;
}

static void request(struct dtm *dtm, uint64_t scan)
{
    unsigned operation = scan & 3;
    if (dtm->busy || (operation != DMI_READ && operation != DMI_WRITE))
        return;
    dtm->address = scan >> 34 & ((1 << ADDRESS_BITS) - 1);
    dtm->data = (uint32_t)(scan >> 2);
    knobs_count_request(dtm->knobs, operation == DMI_READ);
    if (operation == DMI_READ)
        dtm->data = dm_read(dtm->dm, dtm->address);
    else
        dm_write(dtm->dm, dtm->address, dtm->data);
}

static void update(void *context, unsigned instruction, uint64_t scan)
{
    struct dtm *dtm = context;
    if (instruction == IR_DMI)
        request(dtm, scan);
    else if (instruction == IR_DTMCS && scan & (DTMCS_RESET | DTMCS_HARD_RESET))
        dtm->busy = false;
}

struct tap_device dtm_device(struct dtm *dtm)
{
    return (struct tap_device){.context = dtm,
                               .ir_length = IR_LENGTH,
                               .idcode_instruction = IR_IDCODE,
                               .idcode = IDCODE,
                               .capture = capture,
                               .update = update};
}
