// SPDX-License-Identifier: MIT
// probe/qemu: starting QEMU. In: a shell command. Out: a process, and sockets to it that have no
// place in the file system.
#ifndef PROBE_START_H
#define PROBE_START_H

#include "probe/qemu/qemu.h"

// Runs `command` followed by the options for the sockets of the probe. It dies with this process,
// whatever way this process dies. Errors: IO.
enum extract_code qemu_start(struct qemu *qemu, const char *command, struct extract_error *error);

#endif
