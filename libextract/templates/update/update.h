// SPDX-License-Identifier: MIT
// templates: what the files of an update share. In: a target file and an update file. Out: the
// target's new text, and that of the undo file.
#ifndef EXTRACT_TEMPLATES_UPDATE_H
#define EXTRACT_TEMPLATES_UPDATE_H

#include <extract/templates.h>
#include <extract/text.h>

// Templates are told apart by the digits of their ids: 0 to 0xFFF have three (a fourth that must be
// 0 is none), those above four.
enum { UPDATE_IDS = 65536 };

// A "+" or a "-" of the update file.
struct update_change {
    bool adds;
    unsigned line, column; // of the id
    uint32_t id;
    const char *source; // of an added template: its lines; not NUL-ended
    size_t length;
    unsigned version, release;
};

// What becomes of an id.
struct update_slot {
    const char *old, *now; // sources; NULL: there is no such template
    size_t old_length, now_length;
    unsigned version, release; // of `now`
    uint32_t added_by;         // index of the change
};

struct update {
    struct extract_templates *said; // diagnostics go there, and the templates of the update file
    const char *target, *name;      // paths as they are called in messages
    const char *text;               // of the target
    size_t length;
    char *edits; // text of the update file, in which nothing but its templates is left
    size_t edits_length;
    struct update_change *changes;
    size_t change_count, change_room;
    struct update_slot *slots; // UPDATE_IDS
    struct extract_template_update *options;
};

uint32_t update_id(const struct extract_template *template);
// A diagnostic on a place in the update file. `name` and `hint` are literals. Errors: NOMEM.
enum extract_code update_say(struct update *update, unsigned line, unsigned column,
                             const char *name, const char *hint, const char *what,
                             struct extract_error *error);

// parse.c: reads the changes out of update->edits; what is wrong there is said. Errors: NOMEM,
// LIMIT.
enum extract_code update_parse(struct update *update, struct extract_error *error);

// merge.c: applies the changes to the templates of `old`, which are those of the target's text.
// Errors: NOMEM.
enum extract_code update_merge(struct update *update, const struct extract_templates *old,
                               struct extract_error *error);
// The target's text with the changes, and what takes them back; both are empty when there are none.
enum extract_code update_write(const struct update *update, const struct extract_templates *old,
                               struct extract_text *text, struct extract_text *undo,
                               struct extract_error *error);

#endif
