// SPDX-License-Identifier: MIT
// probe/qemu: the processor through QEMU's gdbstub: registers, breakpoints, single steps. It is
// connected when it is needed first, because that stops the guest; and it is talked to only while
// the guest is stopped, because any byte stops it too.
// Standard: GDB manual, appendix E "Remote Serial Protocol".
#ifndef PROBE_GDBSTUB_H
#define PROBE_GDBSTUB_H

#include "probe/qemu/channel.h"
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>

enum { GDB_REGISTERS = 4096 + 128, GDB_NAME = 16 }; // all CSRs of RISC-V, and others

struct gdbstub {
    struct channel channel;
    struct sockaddr_un address;          // where it listens
    socklen_t address_length;            // 0: there is none
    char names[GDB_REGISTERS][GDB_NAME]; // of registers, by number; "": none
    uint8_t sizes[GDB_REGISTERS];        // of them, in bytes
};

// Connects if that was not done yet. False: it cannot be.
bool gdb_attach(struct gdbstub *gdb);
bool gdb_is_attached(const struct gdbstub *gdb);

// Reads a register by its name in QEMU's target description; only the lowest 8 bytes of wide ones.
// Returns false if there is none.
bool gdb_read_register(struct gdbstub *gdb, const char *name, uint64_t *value);
bool gdb_write_register(struct gdbstub *gdb, const char *name, uint64_t value);

// Returns a register's number; -1: there is none. Registers are read and written by number as by
// name.
int gdb_number(const struct gdbstub *gdb, const char *name);
bool gdb_read_number(struct gdbstub *gdb, int number, uint64_t *value);
bool gdb_write_number(struct gdbstub *gdb, int number, uint64_t value);

// Accesses memory as the processor sees it, 1 to 8 bytes, little-endian. Returns false if it
// cannot.
bool gdb_read_memory(struct gdbstub *gdb, uint64_t address, unsigned bytes, uint64_t *value);
bool gdb_write_memory(struct gdbstub *gdb, uint64_t address, unsigned bytes, uint64_t value);

bool gdb_insert(struct gdbstub *gdb, uint64_t address);
bool gdb_remove(struct gdbstub *gdb, uint64_t address);

// One instruction, with or without interrupts and timers.
bool gdb_step(struct gdbstub *gdb, bool masked);
bool gdb_resume(struct gdbstub *gdb);

// Skips the stops that QEMU has reported, without waiting. QEMU waits while it has no space for
// more.
void gdb_skip(struct gdbstub *gdb);

#endif
