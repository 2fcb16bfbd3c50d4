// SPDX-License-Identifier: MIT
// Inputs: what a user names to be read, of any kind: dumps, streams, logs, memory images, cores.
//
// The kind of a file is detected from its bytes. A file that holds a whole trace or a whole memory
// is the only input; images, HEX and S-record files, dumps as text and directories of `ringside
// crash` form one memory.
//
//     extract_inputs_open(&memory, &log, names, count, &options, &error);
//     (log ? extract_session_open_log : extract_session_open)(...)
#ifndef EXTRACT_INPUTS_H
#define EXTRACT_INPUTS_H

#include <extract/log.h>
#include <extract/memory.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// What a user says of the inputs. Initialize with zeros, then set what is needed.
struct extract_inputs_options {
    size_t size;        // sizeof the struct
    const char *format; // name of the trace format, such as "rkh"; NULL: detected
    const char *hook;   // layout of a stream of hook words (extract_hook_stream_parse); NULL: none
    const char *elf; // path of the program, whose byte order words in a text have; NULL: not known
};

// Opens the inputs: paths, IMAGE@ADDRESS, or "-" for standard input, which must be seekable if its
// kind is to be detected. Sets *log if the only input is a log, and *memory otherwise; the other
// one to NULL. The caller closes it. Errors: USAGE (an invalid address, a whole file among
// several); BAD (an unrecognized file, an ELF file without a memory image); NOMEM; those of the
// function that opens a file of this kind (memory.h, ring.h, log.h).
enum extract_code extract_inputs_open(struct extract_memory **memory, struct extract_log **log,
                                      const char *const *names, size_t count,
                                      const struct extract_inputs_options *options,
                                      struct extract_error *error);

// Detects the kind of an input: that of extract_memory_detect; "raw" for IMAGE@ADDRESS, "folder"
// for a directory. *is_whole (may be NULL): it can be the only input only. Errors: as above.
enum extract_code extract_inputs_detect(const char *name, const char **kind, bool *is_whole,
                                        const struct extract_inputs_options *options,
                                        struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
