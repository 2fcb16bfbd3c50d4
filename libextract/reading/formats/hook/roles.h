// SPDX-License-Identifier: MIT
// formats/hook: what hook ids mean for the schedule. roles.c reads role files into the tables
// below, and translate.c applies them to events.
//
// Each line of a file becomes a hook_role. The lines of one hook id form a list, in which the first
// line whose conditions hold decides. The values that a line takes from an entry are stored in the
// fields of the translated event, at fixed places (hook_field).
#ifndef EXTRACT_FORMATS_HOOK_ROLES_H
#define EXTRACT_FORMATS_HOOK_ROLES_H

#include "formats/format.h"

enum { HOOK_MAX_CONDITIONS = 4, HOOK_MAX_ROLES = 4096, HOOK_IDS = 65536 };

// The values that a line may take from an entry.
enum hook_value {
    HOOK_THREAD,  // that the event is about; of a dispatch, the one that runs next
    HOOK_OLD,     // that runs until the dispatch
    HOOK_PROCESS, // of the thread
    HOOK_KERNEL,
    HOOK_LOCK,
    HOOK_NUMBER, // of an interrupt or a system call
    HOOK_ERROR,
    HOOK_CALLER, // address in the function that uses the lock
    HOOK_READY,  // of the thread that runs until the dispatch
    HOOK_VALUES
};

// Returns the index of the field in which the translated event has a value. No role takes two
// values with the same field.
static inline unsigned hook_field(enum hook_value value)
{
    return value == HOOK_READY ? HOOK_NUMBER : value;
}

enum hook_source {
    HOOK_ABSENT = 0,
    HOOK_CONSTANT,
    HOOK_WORD, // data word `index`, from 0
    HOOK_DATA, // the hook data, or the subhook
    HOOK_TID,  // the thread id
    HOOK_BYTES // `length` bytes at `index` after the hook word
};

// Where a value comes from. `shift` and `mask` select bits of what is found there.
struct hook_expression {
    enum hook_source source;
    uint32_t index;
    uint8_t length, shift;
    uint64_t mask, constant;
};

struct hook_condition {
    struct hook_expression left;
    uint64_t right;
    bool is_unequal; // must differ; otherwise, must be equal
};

struct hook_role {
    struct extract_role_fields fields;
    struct hook_expression values[HOOK_VALUES];
    struct hook_condition conditions[HOOK_MAX_CONDITIONS];
    uint8_t condition_count;
    uint32_t name_at; // with fields.has_name: offset of the name, behind the hook word
    unsigned file;    // number of the file that states it
    uint16_t next;    // number + 1 of the next line of the same hook id; 0: none
};

struct extract_hook_roles {
    uint16_t first[HOOK_IDS]; // per hook id: number + 1 of its first line; 0: none
    struct hook_role *list;
    size_t count, capacity;
    bool shows_waits; // a line says that a thread waits
};

// Adds the lines of a role file's text. `number` counts the files; `name` is the file's name in
// messages. Errors: BAD, NOMEM.
enum extract_code hook_roles_add(struct extract_hook_roles *roles, unsigned number,
                                 const char *name, const char *text, size_t length,
                                 struct extract_error *error);
// Completes the roles, when all lines are known.
void hook_roles_complete(struct extract_hook_roles *roles);

// Returns what an event means, or NULL for nothing, and replaces its fields (struct
// extract_kernel).
const struct extract_role_fields *hook_translate(const struct extract_ring *ring,
                                                 struct extract_event *event);

extern const struct extract_scheduler hook_kernel;

#endif
