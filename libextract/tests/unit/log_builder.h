// SPDX-License-Identifier: MIT
// tests: logs of synthetic rings. In: rings of ring_builder.h, what a recorder found of them, and
// damage. Out: log files, and traces and texts over them.
#ifndef TESTS_LOG_BUILDER_H
#define TESTS_LOG_BUILDER_H

#include "tests/unit/ring_builder.h"
#include <extract/session.h>

// A log that is written. `wall` is the time of reading of the next blocks.
struct log_file {
    const char *path;
    struct extract_log_writer *writer;
    struct extract_ring ring;
    uint64_t next; // number of the next entry
    uint64_t wall;
};

// Creates a log with the policy in `options` (NULL: the library's default).
void log_create(struct log_file *log, const char *path, const struct extract_log_options *options);
// The ring as it is in the image, and its registry.
void log_ring(struct log_file *log, const struct ring_image *image);
void log_objects(struct log_file *log, const struct ring_image *image);
// The three of them.
void log_open(struct log_file *log, const char *path, const struct ring_image *image);
// `count` entries from a slot of the image on, with their stamps.
void log_entries(struct log_file *log, const struct ring_image *image, unsigned slot,
                 unsigned count);
// The same, of which the last `provisional` may not be final.
void log_entries_provisional(struct log_file *log, const struct ring_image *image, unsigned slot,
                             unsigned count, unsigned provisional);
// `lost` entries are missing, and any multiple of `modulo` more.
void log_loss(struct log_file *log, enum extract_log_loss kind, uint64_t lost, uint64_t modulo);
void log_mark(struct log_file *log, enum extract_log_mark kind, uint64_t value, const char *text);
void log_close(struct log_file *log);

// Changes a byte of the n-th block of a type (from 0), `at` bytes from its start.
void log_damage(const char *path, enum extract_log_type type, unsigned n, unsigned at);
void log_cut(const char *path, long bytes); // takes bytes off its end

struct log_look {
    struct extract_log *log;
    struct extract_session *session;
    const struct extract_trace *trace;
    const struct extract_info *info;
};

void log_look_open(struct log_look *look, const char *path,
                   const struct extract_session_options *options);
void log_look_close(struct log_look *look);
// All events, good until the next call.
const struct extract_event *log_events(const struct log_look *look, size_t *count);
// The text of a verb, good until the next call.
const char *log_verb(const struct log_look *look, const char *verb);

#endif
