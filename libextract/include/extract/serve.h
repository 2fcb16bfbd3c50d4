// SPDX-License-Identifier: MIT
// Serve: a GDB server over memory that does not run, such as a dump, and ELF cores made of it.
//
// GDB sees each thread of the kernel, with its name and what it waits for, and the registers that
// are saved in its stack. Code and constants that the memory lacks come from the ELF file. The
// server has no connection of its own: the caller passes the bytes of a client in, and sends what
// comes out.
//
//     extract_server_new(&server, &options, &error);
//     while ((got = read(client, bytes, sizeof bytes)) > 0 && !extract_server_has_ended(server)) {
//         extract_server_receive(server, bytes, got);
//         output = extract_server_output(server, &length);
//         write(client, output, length);
//     }
//     extract_server_free(server);
//
// Source: Debugging with GDB, appendix "GDB Remote Serial Protocol".
#ifndef EXTRACT_SERVE_H
#define EXTRACT_SERVE_H

#include <extract/kernel.h>
#include <signal.h>
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_server;

// Opens a server for the remains of a target, which must outlive it; it needs their symbols.
// Errors: UNSUPPORTED (the registers of the machine are not known), NOMEM.
enum extract_code extract_server_new(struct extract_server **server,
                                     const struct extract_remains *remains,
                                     struct extract_error *error);
void extract_server_free(struct extract_server *server); // NULL is allowed

// Takes bytes from the client, and answers each whole packet among them. Errors: NOMEM.
enum extract_code extract_server_receive(struct extract_server *server, const void *bytes,
                                         size_t length);
// Returns the answers, and forgets them. They are valid until the next call.
const void *extract_server_output(struct extract_server *server, size_t *length);
// Returns whether the client has ended the session.
bool extract_server_has_ended(const struct extract_server *server);

// ---- a proxy between GDB and the server of a live target ----
//
// Everything is passed on, and the threads of the kernel are added. The target has one core.

struct extract_proxy;

// Connects to a server at `place` (PORT, HOST:PORT or the path of a socket). `symbols` must outlive
// the proxy. `timeout_ms`: for an answer of the server; 0: 10 s. `cancel` as in
// extract_live_options. Errors: IO, UNSUPPORTED (the registers of the machine are not known),
// NOMEM.
enum extract_code extract_proxy_open(struct extract_proxy **proxy, const char *place,
                                     struct extract_symbols *symbols, unsigned timeout_ms,
                                     const volatile sig_atomic_t *cancel,
                                     struct extract_error *error);
void extract_proxy_close(struct extract_proxy *proxy); // NULL is allowed

// Takes bytes from the client, and passes on or answers each whole packet among them. Errors: IO
// (the server has failed), NOMEM.
enum extract_code extract_proxy_receive(struct extract_proxy *proxy, const void *bytes,
                                        size_t length, struct extract_error *error);
// Ends each wait for the server, with an error, once the other end of `client` has gone: a socket,
// or the pipe that the answers are written to.
void extract_proxy_watch(struct extract_proxy *proxy, int client);
// Calls a function about ten times a second while the server is waited for: a caller with several
// clients can tend them. The function must not use the proxy. NULL: no function.
void extract_proxy_meanwhile(struct extract_proxy *proxy, void (*function)(void *context),
                             void *context);
// Returns the file descriptor of the server to wait for while the target runs; -1: the target is
// halted.
int extract_proxy_server(const struct extract_proxy *proxy);
// Takes what the server has sent, but no more than a bounded part of it: it is to be called again
// after the output was sent. Errors: as extract_proxy_receive.
enum extract_code extract_proxy_serve(struct extract_proxy *proxy, struct extract_error *error);
// As extract_server_output and extract_server_has_ended.
const void *extract_proxy_output(struct extract_proxy *proxy, size_t *length);
bool extract_proxy_has_ended(const struct extract_proxy *proxy);

// ---- core files ----

// Which memory goes into a core.
enum extract_core_memory {
    EXTRACT_CORE_ALL = 0,  // all that the memory has regions for
    EXTRACT_CORE_VARIABLES // of a live target: variables, stacks, and what its core keeps of a
                           // fault
};

// Writes an ELF core with the registers of each thread and the memory, as GDB reads it. Of an Arm
// core of M-profile in an exception, the interrupted thread and the exception are two threads.
// Errors: UNSUPPORTED, NOMEM, UNREADABLE (there is no memory), IO (the text cannot be written).
enum extract_code extract_core_write(struct extract_text *text,
                                     const struct extract_remains *remains,
                                     enum extract_core_memory part, struct extract_error *error);
// Creates the file of such a core, and the file `path` + ".gdb" with GDB commands that give its
// threads their names, which a core cannot hold. Both appear, or none. Errors: as
// extract_core_write; IO (a file exists, or cannot be written).
enum extract_code extract_core_save(const char *path, const struct extract_remains *remains,
                                    enum extract_core_memory part, struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
