// SPDX-License-Identifier: MIT
// probe/qemu: QEMU as a target. In: a command that starts it, or sockets of one that runs. Out:
// the bus of its first processor. Memory is reached over qtest, the machine over QMP.
#ifndef PROBE_QEMU_H
#define PROBE_QEMU_H

#include "probe/qemu/gdbstub.h"
#include "probe/qemu/map.h"
#include "probe/qemu/qmp.h"
#include "probe/qemu/qtest.h"
#include "probe/targets/target.h"
#include <sys/types.h>

enum { QEMU_BLOCK = 1024 };

// The processor as a debugger sees it. While it is halted, the guest is not let run from outside of
// the debug port. `reset` is its part of the reset line; NULL: it has none.
struct processor {
    void *context;
    bool (*reset)(void *context, bool asserted);
    bool halted;
};

struct qemu {
    struct qtest qtest;
    struct qmp qmp;
    struct gdbstub gdb;
    struct map map;
    pid_t pid; // of the QEMU that we started; 0: none
    // Memory of a guest that is stopped, which is read in blocks.
    uint8_t block[QEMU_BLOCK];
    uint32_t block_address;
    bool block_valid;
    bool in_reset, ran_before_reset;
    struct processor processor;
};

// Where QEMU is. One of `command` (for the shell; it is started, and ends with this process) and
// the two paths is set; `gdbstub` may be NULL. The words of `maps` go before QEMU's own list.
struct qemu_place {
    const char *command;
    const char *qtest, *qmp, *gdbstub;
    const char *const *maps;
    size_t map_count;
};

// Starts or joins. Errors: USAGE, IO, BAD, NOMEM. On error nothing is left.
enum extract_code qemu_open(struct qemu *qemu, const struct qemu_place *place,
                            struct extract_error *error);
void qemu_close(struct qemu *qemu);

// The bus of it, as in target.h. A processor puts itself into `qemu` before.
void qemu_target(struct target *target, struct qemu *qemu);
bool qemu_read(void *context, uint32_t address, unsigned bytes, uint64_t *value);
bool qemu_write(void *context, uint32_t address, unsigned bytes, uint64_t value);

// The processor, through the gdbstub. It halts (false: it cannot, and continues), then makes a step
// or continues; and it may meet a breakpoint, which is queried.
bool qemu_halt(struct qemu *qemu);
bool qemu_step(struct qemu *qemu, bool masked);
bool qemu_go(struct qemu *qemu);
bool qemu_met_breakpoint(struct qemu *qemu);

// The reset line; `hold`: the machine is stopped afterwards.
bool qemu_reset(struct qemu *qemu, bool asserted, bool hold);

#endif
