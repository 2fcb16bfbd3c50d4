// SPDX-License-Identifier: MIT
// probe/targets: the target of the debug port. In: beats of a little-endian bus with 32-bit
// addresses. Out: their values, or a bus fault. A back end is one `struct target`; the layers above
// know nothing else about it.
#ifndef PROBE_TARGET_H
#define PROBE_TARGET_H

#include <extract/error.h>
#include <extract/text.h>
#include <stdbool.h>
#include <stdint.h>

enum { NO_ROM_TABLE = 2 };

struct target {
    void *context;
    uint32_t rom_table; // the access port's BASE register
    // One access of 1, 2, 4 or 8 bytes at an address that is a multiple of it. False: bus fault.
    bool (*read)(void *context, uint32_t address, unsigned bytes, uint64_t *value);
    bool (*write)(void *context, uint32_t address, unsigned bytes, uint64_t value);
    // The reset line. The system restarts when it is released, and is then stopped or runs as
    // before.
    bool (*reset)(void *context, bool asserted);
    // Stops and resumes the guest from outside of the debug port. Returns false if that is not
    // possible.
    bool (*stop)(void *context);
    bool (*resume)(void *context);
    // One line about the memory map: "ADDRESS LENGTH KIND" for each region, with commas between.
    void (*describe)(void *context, struct extract_text *text);
    // What the loop waits for in addition to its sockets (-1: nothing), and what it then calls.
    // False: the back end is gone.
    int event_fd;
    bool (*pump)(void *context);
};

#endif
