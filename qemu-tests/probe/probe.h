// SPDX-License-Identifier: MIT
// probe: the whole of it. In: a back end and two socket paths. Out: a debug port that OpenOCD
// talks to through remote_bitbang, and a control socket.
#ifndef PROBE_PROBE_H
#define PROBE_PROBE_H

#include "probe/jtag/bitbang.h"
#include "probe/jtag/dp.h"
#include "probe/riscv/dtm.h"
#include "probe/targets/tear.h"

enum { PROBE_BATCH = 65536, CONTROL_CLIENTS = 8, CONTROL_LINE = 4096 };

struct control_client {
    int fd; // -1: free
    char line[CONTROL_LINE];
    size_t used;
    bool skipping; // the rest of a line that was too long
    struct extract_text answers;
    size_t sent;
};

struct probe {
    struct knobs knobs;
    struct target target;
    struct tear tear;
    struct bus bus;
    struct target debug; // debug registers on a bus of their own; read is NULL: none
    struct bus debug_bus;
    struct ap aps[2]; // of the Arm TAP: AHB-AP, and APB-AP for the debug registers
    struct dp dp;
    struct dm dm; // of the RISC-V TAP, which is there when it has a hart
    struct dtm dtm;
    struct tap tap;
    struct bitbang bitbang;
    const char *socket_path, *control_path; // of sockets that we made; NULL: none
    int socket_fd, control_fd, signal_fd;   // -1: none
    int client_fd;                          // OpenOCD; -1: none
    char *in, *out;                         // owned, PROBE_BATCH each
    size_t in_at, in_used, out_at, out_used;
    struct control_client clients[CONTROL_CLIENTS];
    bool drop, quit; // requested on the control socket
};

// Joins the parts. The target is set already; so are dm.hart for a RISC-V TAP, and the
// debug registers.
enum extract_code probe_open(struct probe *probe, struct extract_error *error);

// Listens; a path that another process listens on, or that is no socket, is refused. `control` may
// be NULL. Errors: IO, USAGE.
enum extract_code probe_listen(struct probe *probe, const char *socket, const char *control,
                               struct extract_error *error);

// Serves until a signal, `quit`, or the back end's end, which is an error.
enum extract_code probe_run(struct probe *probe, struct extract_error *error);

// Frees all but the target, and removes the sockets.
void probe_close(struct probe *probe);

#endif
