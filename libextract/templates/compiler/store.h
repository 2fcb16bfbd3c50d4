// SPDX-License-Identifier: MIT
// templates: what a set of templates owns besides its programs. In: texts, places, faults. Out:
// copies that live as long as the set, and its diagnostics in the order of files and lines.
#ifndef EXTRACT_TEMPLATES_COMPILER_KEEP_H
#define EXTRACT_TEMPLATES_COMPILER_KEEP_H

#include "templates/program.h"

enum { TEMPLATE_TOLD = 1000 }; // errors, and warnings, that are told

// A copy with a NUL behind it, or NULL.
char *template_store_copy(struct extract_templates *templates, const char *bytes, size_t length);
// The name of one more text, without control characters, to be passed to template_diagnose. Texts
// are in the order of these calls. NULL: no memory.
const char *template_store_file(struct extract_templates *templates, const char *name);
void template_release(struct extract_templates *templates);

// Bytes of the byte order mark that a text begins with, which editors put before UTF-8; 0: none.
size_t template_mark_length(const char *text, size_t length);

struct template_place {
    const char *file; // of template_store_file
    unsigned line, column;
};

// Adds a diagnostic where its place is in the order. `name` and `hint` are literals; `what` must
// come out without control characters. A name that begins with W is a warning. False: no memory.
bool template_diagnose(struct extract_templates *templates, const struct template_place *place,
                       const char *name, const char *hint, const char *what, ...)
    __attribute__((format(printf, 5, 6)));
// The diagnostics of the linker, by their names.
#define TEMPLATE_NO_SUB "E-NOSUB" // a template that is not there is called
#define TEMPLATE_UNSET  "W-UNSET" // a macro is read that nothing sets
#define TEMPLATE_SELF   "W-SELF"  // a template calls itself
// Takes back what an earlier link said.
void template_forgive_link(struct extract_templates *templates);

// calls.c: the linker's warnings. False: no memory.
bool template_warn_of_calls(struct extract_templates *templates);

// Makes room for one more of `size` bytes in an array that grows; false: no memory, or the array
// would reach 2^32.
bool template_grow(void **array, uint32_t *room, uint32_t count, size_t size);

// Whether calls enter a template behind its label: the next of the list then begins there.
bool template_is_muted(const struct extract_templates *templates, const struct extract_template *t);

#endif
