// SPDX-License-Identifier: MIT
// probe/jtag: the characters of OpenOCD's remote_bitbang. In: what OpenOCD sends. Out: '0' and '1'.
// Reference: OpenOCD, doc/manual/jtag/drivers/remote_bitbang.txt.
#ifndef PROBE_BITBANG_H
#define PROBE_BITBANG_H

#include "probe/jtag/tap.h"
#include "probe/targets/target.h"

struct bitbang {
    struct tap *tap;
    const struct target *target;
    const uint64_t *due; // not 0: the link is busy, nothing may go on
    bool tck;
    bool reset_asserted;
    bool quit; // the client has announced its end
};

// Processes characters until all are processed, `due` is set, or the other side quits. Returns how
// many. `out` has space for `length` characters; *answered is the number written. Characters that
// do not belong to the protocol are skipped.
size_t bitbang_feed(struct bitbang *bitbang, const char *in, size_t length, char *out,
                    size_t *answered);

// A new connection: the lines are as they are before the first character.
void bitbang_restart(struct bitbang *bitbang);

#endif
