// SPDX-License-Identifier: MIT
// Exports: writes a trace, and the schedule that its events show, in the formats of other tools.
//
//     for (size_t i = 0; (kind = extract_export_kind_at(i)); i++)
//         puts(kind->name);
//     extract_export_run(&text, view, trace, &options, &error);
//
// An export is written while the trace is read: memory does not grow with the length of a log.
// ringside-export(1) has a table for each format with what becomes of events, slices, states,
// wake-ups, counters and losses.
#ifndef EXTRACT_EXPORT_H
#define EXTRACT_EXPORT_H

#include <extract/filter.h>
#include <extract/templates.h>

#ifdef __cplusplus
extern "C" {
#endif
#pragma GCC visibility push(default)

// What an export consists of.
enum extract_export_output {
    EXTRACT_EXPORT_STREAM = 0, // bytes, which may be written to a pipe
    EXTRACT_EXPORT_FILE,       // a file that must be written at several places
    EXTRACT_EXPORT_DIRECTORY   // a directory with files
};

// A format of exports.
struct extract_export_kind {
    const char *name;    // "csv"
    const char *suffix;  // of the names of its files, such as ".csv"; NULL: none is clear
    const char *summary; // what it is for, in a few words
    enum extract_export_output output;
};

// Returns the i-th format; NULL after the last.
const struct extract_export_kind *extract_export_kind_at(size_t i);
// Returns the format of a name; NULL if there is none.
const struct extract_export_kind *extract_export_kind_find(const char *name);
// Returns the format of which `path` has the suffix; NULL if there is none.
const struct extract_export_kind *extract_export_kind_guess(const char *path);

// A second trace, which is shown beside the first one. Its members are as those of the options.
struct extract_export_side {
    const struct extract_view *view;
    const struct extract_trace *trace;
    const struct extract_templates *templates;
    const char *title;
    uint64_t hz;
};

struct extract_export_options {
    size_t size;    // sizeof the struct
    const char *to; // name of the format
    // Name of the file or directory that an export of kind FILE or DIRECTORY makes. Ignored for a
    // STREAM, which is written to the text.
    const char *path;
    uint64_t hz; // ticks per second; 0: unknown
    // Linked templates, which make the text of events; NULL: events are described by their fields.
    const struct extract_templates *templates;
    // Called from time to time with the number of events so far and in all. If it returns false,
    // the export ends with the error IO. May be NULL.
    bool (*progress)(void *context, uint64_t done, uint64_t total);
    void *context;     // of progress
    const char *title; // what a page calls the trace, such as the name of its file; NULL: nothing
    // A second trace to be written to the same file, which only html can hold; NULL: none.
    const struct extract_export_side *beside;
};

// Writes the events that the view lets through, and the schedule in the range of the view, to
// `text` or options->path. A file or directory takes its name when it is complete; a directory that
// exists is not replaced unless it is empty. Errors: USAGE (an unknown format, or one that cannot
// hold two traces), UNSUPPORTED (the
// format cannot hold this trace), IO (the path cannot be written, or the export was ended), NOMEM.
enum extract_code extract_export_run(struct extract_text *text, const struct extract_view *view,
                                     const struct extract_trace *trace,
                                     const struct extract_export_options *options,
                                     struct extract_error *error);

#pragma GCC visibility pop
#ifdef __cplusplus
}
#endif
#endif
