// SPDX-License-Identifier: MIT
// report/columns: events as the entries that templates are run on.
//
// In: a trace, its templates, its events. Out: an entry and the template for each, the names that
// templates ask for, and a text for what has no template.
#ifndef EXTRACT_REPORT_COLUMNS_ADAPT_H
#define EXTRACT_REPORT_COLUMNS_ADAPT_H

#include "report/internal.h"
#include <extract/templates.h>

enum {
    ADAPTOR_ID = 12,      // bytes of a hook id as it is shown, with its NUL
    ADAPTOR_MARKS = 0xF00 // marks have the hook ids from here on
};

struct entry_builder_text {
    const char *bytes; // NUL-ended, with room to PEN_BLOCK behind that
    uint32_t length, columns;
};

struct entry_builder {
    struct extract_template_host host; // for extract_formatter_open
    const struct extract_trace *trace;
    const struct extract_format *format;
    const struct extract_templates *templates;
    const char *log_file;          // $LOGFILE, which the owner may set; NULL: unknown
    struct entry_builder_text who; // made the event that was taken last
    bool failed;                   // out of memory: what is printed is not complete
    // Of the room only.
    struct value_names naming;
    struct text_cache memo;
    struct text_cache people;   // who made events: it stays while names are made for an entry
    uint64_t registry;          // for which the two hold
    struct extract_entry words; // of an event of the ring
    struct extract_entry mark;  // of a mark, words of 64 bits
    struct extract_entry own;   // that the format made
    uint32_t slot_bytes;
    struct extract_text scratch; // for a piece that is being made
    struct extract_text text;    // of entry_builder_describe
    char number[PEN_NUMBER + PEN_BLOCK];
    uint8_t bytes[(1 + EXTRACT_FIELDS_MAX) * 8];
    uint8_t *room; // for a format that makes its own entries, else NULL
};

// The templates may be NULL: none; otherwise they are linked. Both must outlive the adaptor.
// Errors: NOMEM.
enum extract_code entry_builder_open(struct entry_builder **builder,
                                     const struct extract_trace *trace,
                                     const struct extract_templates *templates,
                                     struct extract_error *error);
void entry_builder_close(struct entry_builder *builder);

// The entry of an event and, in *chosen, the template for it or NULL. The entry and what it points
// to are good until the next call of this or of entry_builder_who.
const struct extract_entry *entry_builder_take(struct entry_builder *builder,
                                               const struct extract_event *event,
                                               const struct extract_template **chosen);

// The template alone; of an event, its id and its type are asked for.
const struct extract_template *entry_builder_find(const struct entry_builder *builder,
                                                  const struct extract_event *event);

// The text of an event that has no template: its type's name and fields, as templates would print
// them. False when its type says nothing of it: the formatter then shows what there is.
bool entry_builder_describe(struct entry_builder *builder, const struct extract_event *event,
                            struct extract_outcome *outcome);

// Who made an event: the thread's name, "interrupt", "start-up" or "recorder". Escaped; good until
// the next call of this or of entry_builder_take.
struct entry_builder_text entry_builder_who(struct entry_builder *builder,
                                            const struct extract_event *event);

// The hook id of an event as it is shown: "045", "1000", "F01". Returns its length.
unsigned entry_builder_id(const struct entry_builder *builder, const struct extract_event *event,
                          char id[ADAPTOR_ID]);

#endif
