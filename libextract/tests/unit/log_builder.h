// SPDX-License-Identifier: MIT
// tests: logs of synthetic rings. A test passes rings of ring_builder.h, what a recorder found of
// them, and damage. The functions write log files, and open traces and texts from them.
#ifndef TESTS_LOG_BUILDER_H
#define TESTS_LOG_BUILDER_H

#include "tests/unit/ring_builder.h"
#include <extract/session.h>

// A log that a test writes. `wall` is the time at which the next blocks are read.
struct log_file {
    const char *path;
    struct extract_log_writer *writer;
    struct extract_ring ring;
    uint64_t next; // number of the next entry
    uint64_t wall;
};

// Creates a log with the policy in `options` (NULL: the library's default).
void log_create(struct log_file *log, const char *path, const struct extract_log_options *options);
// Write the ring as the image contains it, and its registry.
void log_ring(struct log_file *log, const struct ring_image *image);
void log_objects(struct log_file *log, const struct ring_image *image);
// Creates a log with the default policy, and writes the ring and its registry.
void log_open(struct log_file *log, const char *path, const struct ring_image *image);
// Writes `count` entries from a slot of the image on, with their timestamps.
void log_entries(struct log_file *log, const struct ring_image *image, unsigned slot,
                 unsigned count);
// Writes `count` entries, of which the last `provisional` may not be final.
void log_entries_provisional(struct log_file *log, const struct ring_image *image, unsigned slot,
                             unsigned count, unsigned provisional);
// Writes a loss of `lost` entries, plus an unknown multiple of `modulo`.
void log_loss(struct log_file *log, enum extract_log_loss kind, uint64_t lost, uint64_t modulo);
void log_mark(struct log_file *log, enum extract_log_mark kind, uint64_t value, const char *text);
void log_close(struct log_file *log);

// Changes a byte of the n-th block of a type (from 0), `at` bytes from its start.
void log_damage(const char *path, enum extract_log_type type, unsigned n, unsigned at);
void log_cut(const char *path, long bytes); // removes bytes from its end

struct log_look {
    struct extract_log *log;
    struct extract_session *session;
    const struct extract_trace *trace;
    const struct extract_info *info;
};

void log_look_open(struct log_look *look, const char *path,
                   const struct extract_session_options *options);
void log_look_close(struct log_look *look);
// Returns all events. They are valid until the next call.
const struct extract_event *log_events(const struct log_look *look, size_t *count);
// Returns the text of a command. It is valid until the next call.
const char *log_verb(const struct log_look *look, const char *verb);

#endif
