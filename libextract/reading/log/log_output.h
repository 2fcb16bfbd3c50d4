// SPDX-License-Identifier: MIT
// log: the file that a writer writes to. Opens and locks it, and determines where in it the next
// section begins. A file that is neither new, empty, nor a log to be continued is refused.
#ifndef EXTRACT_LOG_PLACE_H
#define EXTRACT_LOG_PLACE_H

#include "log/log_block.h"
#include "log/lock.h"

struct log_output {
    int fd;
    struct log_lock lock;
    char *path;
    bool file_locked; // the file itself is locked (flock)
    bool created;     // the file did not exist before
    uint64_t size;    // of the file, bytes
    uint64_t section; // number of the next section
    uint64_t index;   // position of that section in the file
    uint64_t number;  // number of the next block
    uint64_t ended;   // offset where the continued log ended; 0: no log is continued
    bool is_torn;     // the last block of the continued log was never finished
};

// Opens the log for writing. `settings` are those that the caller wants; if a log is continued,
// they become those of that log. Errors: those of extract_log_create.
enum extract_code extract_log_output_open(struct log_output *output, const char *path,
                                          struct log_settings *settings,
                                          struct extract_error *error);

// Opens the file that the descriptor `fd` is open for, without a lock file. The descriptor itself
// is not changed. Errors: those of extract_log_create_fd.
enum extract_code extract_log_output_take(struct log_output *output, int fd,
                                          struct log_settings *settings,
                                          struct extract_error *error);

// Closes the file and releases its locks. Errors: IO (close failed).
enum extract_code extract_log_output_close(struct log_output *output, struct extract_error *error);
// Closes the file in a child of the process that writes the log. All locks remain.
void extract_log_output_detach(struct log_output *output);

#endif
