// SPDX-License-Identifier: MIT
// probe: the command line. In: arguments. Out: what to serve, and where.
#ifndef PROBE_OPTIONS_H
#define PROBE_OPTIONS_H

#include <extract/error.h>
#include <stdbool.h>
#include <stddef.h>

enum { OPTION_LIST = 64 };

struct options {
    const char *socket, *control;
    const char *qemu;                  // a command that starts QEMU
    const char *qtest, *qmp, *gdbstub; // sockets of a QEMU that runs
    const char *tap;                   // the device of the JTAG TAP: arm or riscv
    const char *maps[OPTION_LIST];     // ADDRESS:LENGTH
    size_t map_count;
    const char *settings[OPTION_LIST]; // control commands
    size_t setting_count;
    char **operands; // IMAGE@ADDRESS, or the words to ask with
    size_t operand_count;
    const char *ask; // a control socket to talk to
    bool is_riscv;   // of `tap`
    bool no_cortex_m, with_parent, help, version;
};

// Errors: USAGE. The texts point into argv, whose operands move to its end.
enum extract_code options_parse(struct options *options, int argc, char **argv,
                                struct extract_error *error);

extern const char options_usage[];

#endif
