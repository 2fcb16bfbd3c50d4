// SPDX-License-Identifier: MIT
// serve: the parts of the proxy (proxy.c) and what they share.
#ifndef EXTRACT_SERVE_SERVE_ROOM_H
#define EXTRACT_SERVE_SERVE_ROOM_H

#include "serve/banks.h"
#include "serve/binding.h"
#include "serve/serve_cores.h"
#include "serve/serve_packet.h"
#include "serve/seen.h"
#include "serve/stale.h"
#include "serve/words.h"

enum {
    PACKET_MOST = PACKET_SENT - 1,
    PATIENCE = 30,      // how many times longer a command or flash memory may take than an answer
    MOST_TIMEOUTS = 10, // time of all answers that one packet needs, in time-outs
    MOST_READ = 1024,
    OUTPUT_MOST = 1 << 16,       // bytes for GDB from which on nothing more is taken of the server
    OUTPUT_OF_COMMAND = 1 << 24, // most bytes that a command prints
};

enum proxy_state { PROXY_HALTED, PROXY_RUNNING, PROXY_COMING };

// The thread that GDB lets run by its id. The end of its step belongs to it, and so does any stop
// if GDB holds all others (scheduler-locking, or a step over a breakpoint): it fails if one of them
// stops.
struct step {
    uint64_t id;   // of this thread; 0: all run
    unsigned core; // that makes the step; CORES_MOST: none yet, since the thread waits or continues
    bool is_alone; // the others are held
};

struct extract_proxy {
    struct upstream upstream;
    struct extract_memory *memory; // of the target, through `upstream`
    struct extract_symbols *symbols;
    const struct register_machine *machine;
    enum proxy_state state;
    bool no_acks, has_ended;
    bool is_killed;        // until GDB runs it again, GDB has no program
    bool is_extended;      // GDB and the server have agreed that a kill does not end the session
    uint64_t interrupt_ns; // when GDB sent ^C, which has stopped nothing yet; 0: there is none
    int client;            // extract_proxy_watch
    uint64_t process;      // the server's number of the process; 0 if it does not number processes
    struct serve_input input;
    size_t most_passed; // longest packet that the server takes, as far as it has told, in bytes
    struct extract_text answer, last, output;
    struct extract_text stop; // the last stop reply of the server

    // What is known of the target at this stop.
    struct cores cores;
    struct banks banks;            // of an Arm core of M-profile
    struct extract_kernel *kernel; // NULL: not read
    struct debug_threads threads;  // of this kernel
    bool has_threads, is_brief;    // `is_brief`: without registers
    struct stale stale;            // after a load or a reset
    uint64_t current[CORES_MOST];  // id of the thread that has a core; 0: not known yet

    // A core on which no thread runs has its number, from 1, as its id. The ids of threads follow:
    // those that were ever seen, in this order.
    struct seen seen;
    struct binding binding;
    uint64_t selected;             // id of the thread that GDB asks about
    uint64_t reported;             // id of the thread that the last stop reply named
    uint64_t waited_id, waited_pc; // COMING: the thread to be stepped, and where it continues
    struct step step;
};

// ---- what is known at a stop (halted.c) ----

void proxy_forget_contents(struct extract_proxy *proxy);
void proxy_forget(struct extract_proxy *proxy);
bool proxy_find_psp(struct extract_proxy *proxy, unsigned core,
                    struct extract_registers *registers);
struct core *proxy_read_core(struct extract_proxy *proxy, unsigned core);
bool proxy_read_list(struct extract_proxy *proxy, bool is_brief);
uint64_t proxy_current_id(struct extract_proxy *proxy);
void proxy_bind(struct extract_proxy *proxy, enum binding_state state, uint64_t wanted);
unsigned proxy_core_of(struct extract_proxy *proxy, uint64_t id);
const struct debug_thread *proxy_waiting_thread(struct extract_proxy *proxy, unsigned *core);

// ---- answers (answers.c) ----

void proxy_answer(struct extract_proxy *proxy, const void *bytes, size_t length);
void proxy_answer_text(struct extract_proxy *proxy, const char *text);
bool proxy_refuse(struct extract_proxy *proxy, const char *text);
void proxy_answer_body(struct extract_proxy *proxy);
void proxy_answer_made(struct extract_proxy *proxy);
void proxy_answer_part(struct extract_proxy *proxy, const struct extract_text *document,
                       size_t offset, size_t length);
bool proxy_pass(struct extract_proxy *proxy);
bool proxy_pass_to_core(struct extract_proxy *proxy, unsigned core);
void proxy_take_stop(struct extract_proxy *proxy);
bool proxy_has_exited(const struct extract_proxy *proxy);
void proxy_answer_stop(struct extract_proxy *proxy);

// ---- the target runs (resume.c) ----

bool proxy_arrive(struct extract_proxy *proxy);
bool proxy_do_resume_actions(struct extract_proxy *proxy);
bool proxy_do_resume(struct extract_proxy *proxy);
bool proxy_do_continue(struct extract_proxy *proxy);

// ---- packets of GDB (requests.c) ----

bool proxy_take_packet(struct extract_proxy *proxy);

#endif
