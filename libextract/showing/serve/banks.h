// SPDX-License-Identifier: MIT
// serve: the stack pointers msp and psp of a live Arm core of M-profile, for the proxy. GDB needs
// psp to unwind through an exception. QEMU 7.2 does not show it, and OpenOCD that is connected to
// QEMU shows another value.
//
//     xpsr: an exception ──> stack of the thread that runs ──> frame ──> psp ──> g, p
//                                                               └──> target.xml, if it lacks psp
#ifndef EXTRACT_SERVE_BANKS_H
#define EXTRACT_SERVE_BANKS_H

#include "serve/serve_cores.h"
#include <extract/kernel.h>

struct banks {
    bool is_chosen;                 // whether they are added
    bool is_added;                  // GDB gets them from here, and not from the server
    struct extract_text target_xml; // with them; valid if is_added
};

// Searches psp of a core in an exception, if its registers lack it. `running`: the thread that the
// kernel has for running on it, of which the stack is known; NULL: it is looked up. Sets msp and
// psp. Returns false if they are known, or if there is no frame. The result is likely.
bool banks_find(struct extract_memory *memory, struct extract_symbols *symbols, unsigned core,
                const struct extract_kernel_thread *running, struct extract_registers *registers);

// Puts psp into a server's answer to g, if that contains it.
void banks_put(const struct description *description, struct core *core,
               enum extract_byte_order order);

// Adds both to the registers that a server describes. Returns false if it has no target.xml.
bool banks_describe(struct banks *banks, struct description *description, struct upstream *upstream,
                    const struct register_machine *machine);

// Returns whether a packet (P) writes one of them, which the server does not have.
bool banks_are_written(const struct banks *banks, const struct description *description,
                       const char *packet);

// Gets what GDB is told of them. Where they are not known, both are sp, as GDB assumes of a server
// without them.
struct extract_registers banks_registers(const struct banks *banks, const struct core *core);

#endif
