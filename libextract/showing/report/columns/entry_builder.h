// SPDX-License-Identifier: MIT
// report/columns: the entry builder, which turns events into the hook entries that templates run
// on.
//
// Templates are written for entries of the AIX trace facility: a hook word, data words and a
// timestamp. The builder makes such an entry from an event of any format, finds the template for
// it, and gives the template the names of values. For an event without a template,
// it describes the event by its type and fields.
#ifndef EXTRACT_REPORT_COLUMNS_ENTRY_BUILDER_H
#define EXTRACT_REPORT_COLUMNS_ENTRY_BUILDER_H

#include "report/report_room.h"
#include <extract/templates.h>

enum {
    ENTRY_BUILDER_ID_BYTES = 12,  // capacity for a printed hook id, with its NUL
    ENTRY_BUILDER_MARKERS = 0xF00 // markers have the hook ids from here on
};

struct entry_builder_text {
    const char *bytes; // NUL-terminated, with TEXT_WRITER_BLOCK readable bytes after that
    uint32_t length, columns;
};

struct entry_builder {
    struct extract_template_host host; // for extract_formatter_open
    const struct extract_trace *trace;
    const struct extract_format *format;
    const struct extract_templates *templates;
    const char *log_file;                   // $LOGFILE, which the owner may set; NULL: unknown
    struct entry_builder_text context_name; // thread of the event that was built last
    bool failed;                            // out of memory: the output is incomplete
    // Private:
    struct value_names names;
    struct text_cache cache;
    // Separate from `cache`: a template that needs names must not evict `context_name`.
    struct text_cache context_names;
    uint64_t registry;          // registry that both caches were filled from
    struct extract_entry words; // entry of an event in the ring
    struct extract_entry mark;  // entry of a marker, in 64-bit words
    struct extract_entry own;   // entry made by the format itself
    uint32_t slot_bytes;
    struct extract_text scratch; // text that is being made for a cache
    struct extract_text text;    // result of entry_builder_describe
    char number[TEXT_WRITER_NUMBER + TEXT_WRITER_BLOCK];
    uint8_t bytes[(1 + EXTRACT_FIELDS_MAX) * 8];
    // EXTRACT_ENTRY_CAPACITY bytes for entries that the format itself makes; NULL: it makes none.
    uint8_t *own_bytes;
};

// Opens a builder; *opened is NULL on failure. `templates` must be linked; NULL: no templates.
// Trace and templates must outlive the builder. Errors: NOMEM.
enum extract_code entry_builder_open(struct entry_builder **opened,
                                     const struct extract_trace *trace,
                                     const struct extract_templates *templates,
                                     struct extract_error *error);
void entry_builder_close(struct entry_builder *builder);

// Builds the entry of an event, and sets *chosen to its template or NULL. The entry and everything
// it points to are valid until the next call of this function or of entry_builder_context_name.
const struct extract_entry *entry_builder_build(struct entry_builder *builder,
                                                const struct extract_event *event,
                                                const struct extract_template **chosen);

// Returns the template for an event, or NULL. Reads only the event's id and type.
const struct extract_template *entry_builder_find_template(const struct entry_builder *builder,
                                                           const struct extract_event *event);

// Describes an event without a template: the name of its type and its fields, printed as templates
// print them. Returns false if the type does not describe the event; the formatter then prints its
// words.
bool entry_builder_describe(struct entry_builder *builder, const struct extract_event *event,
                            struct extract_outcome *outcome);

// Returns what executed when the event was recorded: the thread's name, "interrupt", "start-up" or
// "recorder". The name is escaped, and valid until the next call of this function or of
// entry_builder_build.
struct entry_builder_text entry_builder_context_name(struct entry_builder *builder,
                                                     const struct extract_event *event);

// Writes the hook id of an event as reports print it: "045", "1000", "F01". Returns its length.
unsigned entry_builder_put_id(const struct entry_builder *builder,
                              const struct extract_event *event, char id[ENTRY_BUILDER_ID_BYTES]);

#endif
