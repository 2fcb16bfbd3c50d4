// SPDX-License-Identifier: MIT
// cli: the messages of `record` and `periodic` on their progress.
#ifndef RINGSIDE_PROGRESS_H
#define RINGSIDE_PROGRESS_H

#include <extract/memory.h>
#include <extract/record.h>
#include <extract/text.h>

struct progress {
    const char *name; // of the target
    bool quiet, is_terminal;
    bool has_line;        // the terminal shows a progress line that can be replaced
    bool is_disconnected; // the last progress line was printed for a target that does not answer
    uint64_t start_ns, printed_ns;
    uint64_t printed_bytes; // total of bytes read at the time `printed_ns`
};

// Starts the clock. Messages will begin with the name of the target.
void progress_start(struct progress *progress, const char *name, bool quiet);
// Prints a message on standard error, unless quiet.
void progress_print(const struct progress *progress, const char *message);
// Prints which load can be recorded, before the recording begins.
void progress_print_advice(const struct progress *progress,
                           const struct extract_record_status *status,
                           const struct extract_live_halts *halts);
// Prints a progress line if it is time for one. On a terminal, it replaces the last one; otherwise,
// a new line appears every few seconds.
void progress_update(struct progress *progress, const struct extract_record_status *status);
// Erases the progress line, so that something else can be printed.
void progress_clear(struct progress *progress);
void progress_print_summary(struct progress *progress, const struct extract_record_status *status,
                            const struct extract_live_halts *halts, const char *path);
// Writes the summary as a JSON object.
void progress_put_json(const struct progress *progress, struct extract_text *text,
                       const struct extract_record_status *status,
                       const struct extract_live_halts *halts, const char *path,
                       const char *reason);

#endif
