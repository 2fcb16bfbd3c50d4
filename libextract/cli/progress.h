// SPDX-License-Identifier: MIT
// cli: the messages of `record` and `periodic` on their progress.
#ifndef RINGSIDE_PROGRESS_H
#define RINGSIDE_PROGRESS_H

#include <extract/memory.h>
#include <extract/record.h>
#include <extract/text.h>

struct progress {
    const char *name; // of the target
    bool quiet, terminal;
    bool shown; // a line stands on the terminal
    bool gone;  // it was said that the target does not answer
    uint64_t start, said;
    uint64_t bytes; // read until `said`
};

// One line on standard error, unless quiet.
void progress_say(const struct progress *progress, const char *line);
void progress_start(struct progress *progress, const char *name, bool quiet);
// Before it begins: what can be followed.
void progress_advise(const struct progress *progress, const struct extract_record_status *status,
                     const struct extract_live_halts *halts);
// When it is time: on a terminal a line that lives, else one every few seconds.
void progress_show(struct progress *progress, const struct extract_record_status *status);
// Takes the line away, so that something else can be printed.
void progress_clear(struct progress *progress);
void progress_sum(struct progress *progress, const struct extract_record_status *status,
                  const struct extract_live_halts *halts, const char *path);
void progress_json(const struct progress *progress, struct extract_text *text,
                   const struct extract_record_status *status,
                   const struct extract_live_halts *halts, const char *path, const char *reason);

#endif
