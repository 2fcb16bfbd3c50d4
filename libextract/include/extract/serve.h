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
#include <extract/text.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

struct extract_server;

// Initialize with zeros, then set what is needed. Nothing is owned by the server: memory, symbols
// and kernel must outlive it.
struct extract_server_options {
    size_t size; // sizeof the struct
    struct extract_memory *memory;
    struct extract_symbols *symbols;
    const struct extract_kernel *kernel;   // NULL: the program has none
    const struct extract_registers *cores; // registers of the cores; NULL: not known
    size_t core_count;                     // number of them
    bool only_variables; // of a core file: the program's writable sections, not all of the memory
};

// Errors: UNSUPPORTED (the registers of the machine are not known), NOMEM.
enum extract_code extract_server_new(struct extract_server **server,
                                     const struct extract_server_options *options,
                                     struct extract_error *error);
void extract_server_free(struct extract_server *server); // NULL is allowed

// Takes bytes from the client, and answers each whole packet among them. Errors: NOMEM.
enum extract_code extract_server_receive(struct extract_server *server, const void *bytes,
                                         size_t length);
// Returns the answers, and forgets them. They are valid until the next call.
const void *extract_server_output(struct extract_server *server, size_t *length);
// Returns whether the client has ended the session.
bool extract_server_has_ended(const struct extract_server *server);

// Writes an ELF core with the registers of each thread and the memory, as GDB reads it. Of an Arm
// core of M-profile in an exception, the interrupted thread and the exception are two threads.
// Errors: UNSUPPORTED, NOMEM, UNREADABLE (there is no memory), IO (the text cannot be written).
enum extract_code extract_core_write(struct extract_text *text,
                                     const struct extract_server_options *options,
                                     struct extract_error *error);
// Writes GDB commands that give the threads of this core their names, which a core cannot hold.
enum extract_code extract_core_name_threads(struct extract_text *text,
                                            const struct extract_server_options *options,
                                            struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
