// SPDX-License-Identifier: MIT
// templates/update: what the files of an update share.
//
//   target file ──────────────► compile ── templates in force ──┐
//                                                               ▼
//   update file ──► parse.c ── changes ("+ template", "- id") ─► update_merge.c ──► new text
//                                                                       └──► text of the undo file
//   template_update.c locks the target, checks the new text, writes the undo file, then replaces
//   the target.
#ifndef EXTRACT_TEMPLATES_TEMPLATE_UPDATE_H
#define EXTRACT_TEMPLATES_TEMPLATE_UPDATE_H

#include <extract/templates.h>
#include <extract/text.h>

// Templates are identified by the digits of their ids: 0 to 0xFFF have three (a fourth one, which
// must be 0, is dropped), higher ids four.
enum { UPDATE_IDS = 65536 };

// A "+" or a "-" in the update file.
struct update_change {
    bool adds;
    unsigned line, column; // place of the id
    uint32_t id;
    const char *source; // lines of an added template; not ended by a zero
    size_t length;
    unsigned version, release;
};

// What happens to an id.
struct update_slot {
    const char *old, *now; // sources; NULL if there is no such template
    size_t old_length, now_length;
    unsigned version, release; // version of `now`
    uint32_t added_by;         // index of the change that adds it
};

struct update {
    struct extract_templates *reports; // gets the diagnostics, and the templates of the update file
    const char *target, *name;         // paths for messages
    const char *text;                  // text of the target
    size_t length;
    char *edits; // text of the update file; parse.c leaves only its templates in it
    size_t edits_length;
    struct update_change *changes;
    size_t change_count, change_capacity;
    struct update_slot *slots; // UPDATE_IDS
    struct extract_template_update *options;
};

uint32_t update_id(const struct extract_template *template);
// Adds a diagnostic for a place in the update file. `name` and `hint` must be literals. Errors:
// NOMEM.
enum extract_code update_report(struct update *update, unsigned line, unsigned column,
                                const char *name, const char *hint, const char *what,
                                struct extract_error *error);

// parse.c: reads the changes from update->edits. Errors in the text become diagnostics. Errors:
// NOMEM, LIMIT.
enum extract_code update_parse(struct update *update, struct extract_error *error);

// update_merge.c: applies the changes to the templates of `old`, which is the compiled target.
// Errors: NOMEM.
enum extract_code update_merge(struct update *update, const struct extract_templates *old,
                               struct extract_error *error);
// Writes the new text of the target, and the update that reverts it; both are empty if nothing
// changed.
enum extract_code update_write(const struct update *update, const struct extract_templates *old,
                               struct extract_text *text, struct extract_text *undo,
                               struct extract_error *error);

#endif
