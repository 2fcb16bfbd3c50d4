// SPDX-License-Identifier: MIT
// probe/qemu: control of QEMU's machine over QMP. In: stop, cont, reset, questions. Out: what
// the machine does now. Reference: QEMU QMP Reference Manual.
#ifndef PROBE_QMP_H
#define PROBE_QMP_H

#include "probe/qemu/channel.h"
#include <extract/text.h>

struct qmp {
    struct channel channel;
    bool stopped;     // known: the machine is stopped, and no event has come since
    bool has_stopped; // an event said so, which qmp_met_breakpoint has not looked at
    unsigned resets;  // that were reported
};

// Shakes hands and queries whether the machine is stopped. Errors: IO (no QMP server, or it is
// gone).
enum extract_code qmp_begin(struct qmp *qmp, struct extract_error *error);

// These return when it is done; false: QEMU refused, or is gone.
bool qmp_stop(struct qmp *qmp);
bool qmp_cont(struct qmp *qmp);
bool qmp_reset(struct qmp *qmp); // the machine is stopped or runs as before

// Returns whether the name of the processor's architecture begins with this.
bool qmp_is_architecture(struct qmp *qmp, const char *name);

// Queries whether the machine is stopped.
bool qmp_update(struct qmp *qmp);

// Returns whether the machine has stopped at a breakpoint since the last call. QEMU 8.1 and later
// report that to a client of the gdbstub only if the client itself has let the machine run.
bool qmp_met_breakpoint(struct qmp *qmp);

// Reads the events that QEMU has sent, without waiting; false: QEMU is gone.
bool qmp_pump(struct qmp *qmp);

// The output of a monitor command, unescaped; appended to `text`.
bool qmp_monitor(struct qmp *qmp, const char *command, struct extract_text *text);

#endif
