// SPDX-License-Identifier: MIT
// log: the file that a writer writes. In: a path and options. Out: an open, locked file, and where
// in it the next section begins.
#ifndef EXTRACT_LOG_PLACE_H
#define EXTRACT_LOG_PLACE_H

#include "log/block.h"
#include "log/lock.h"

struct log_output {
    int fd;
    struct log_lock lock;
    char *path;
    bool held;        // the file itself is locked
    bool created;     // the file was not there before
    uint64_t size;    // of the file
    uint64_t section; // number of the section that begins next
    uint64_t index;   // its place in the file
    uint64_t number;  // of the next block
    uint64_t ended;   // where the log ended that is continued; 0: none is
    bool is_torn;     // its last block was never finished
};

// Opens the log for writing: `facts` say what is wanted, and are what the log says when one is
// continued. Errors: those of extract_log_create.
enum extract_code extract_log_output_open(struct log_output *place, const char *path,
                                          struct log_settings *facts, struct extract_error *error);

// The same in the file that the descriptor `fd` is open for, without a lock beside it: nothing is
// done to the descriptor itself. Errors: those of extract_log_create_fd.
enum extract_code extract_log_output_take(struct log_output *place, int fd,
                                          struct log_settings *facts, struct extract_error *error);

// Closes it and gives the lock back. Errors: IO (what the system says on closing).
enum extract_code extract_log_output_close(struct log_output *place, struct extract_error *error);
// Closes it in a child of the process whose log it is, and stays: all locks are.
void extract_log_output_detach(struct log_output *place);

#endif
