// SPDX-License-Identifier: MIT
// serve: the cores of a live target, for the proxy. A server that knows no RTOS shows each core as
// a thread, numbered from 1.
//
//     stop reply ──> the core that stopped ─┐
//                                           ├──> which core GDB means ──> Hg, g
//     g of each core, once per stop ────────┘
#ifndef EXTRACT_SERVE_SERVE_CORES_H
#define EXTRACT_SERVE_SERVE_CORES_H

#include "registers/description.h"
#include "serve/upstream.h"

enum { CORES_MOST = 16, CORE_TEXT = 8192 };

struct core {
    bool is_read;                   // the members below are valid
    bool is_searched, psp_is_found; // of Arm's M-profile: the frame of an exception
    struct extract_registers registers;
    size_t length;
    char text[CORE_TEXT]; // the server's answer to g
};

struct cores {
    unsigned count;    // 1 until cores_learn
    unsigned stopped;  // the core that has stopped last
    unsigned selected; // the one that the server has selected; CORES_MOST: not known
    struct description description;
    struct core list[CORES_MOST];
};

// Reads the target description. Nothing is added if the server has none.
void cores_describe(struct cores *cores, struct upstream *upstream,
                    const struct register_machine *machine);
// Asks how many cores there are. Returns false after a fault, which also is a server whose threads
// are no cores.
bool cores_learn(struct cores *cores, struct upstream *upstream);
// Takes the core out of the stop reply that is the body of the last packet, and forgets all
// registers.
void cores_take_stop(struct cores *cores, const struct upstream *upstream);
// Forgets all registers.
void cores_forget(struct cores *cores);

// Makes the server's requests on registers mean a core. Returns false after a fault, or if the
// server refuses.
bool cores_select(struct cores *cores, struct upstream *upstream, unsigned core);
// Reads the registers of a core, unless they are known. Returns NULL after a fault, or if the
// server refuses.
struct core *cores_read(struct cores *cores, struct upstream *upstream, unsigned core,
                        enum extract_byte_order order);
// Adds the value of a register that g need not have, such as one of traps. Returns false if it is
// not described, or after a fault or a refusal.
bool cores_read_register(struct cores *cores, struct upstream *upstream, unsigned core,
                         unsigned index, enum extract_byte_order order,
                         struct extract_registers *registers);
// Lets a core make one step, and the others run if `others_run`. Returns false after a fault.
bool cores_step(struct cores *cores, struct upstream *upstream, unsigned core, bool others_run);

#endif
