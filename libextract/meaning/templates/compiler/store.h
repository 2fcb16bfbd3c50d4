// SPDX-License-Identifier: MIT
// templates: the memory that a set of templates owns besides its programs: copies of texts, which
// live as long as the set, and diagnostics, which are in the order of files and lines.
#ifndef EXTRACT_TEMPLATES_COMPILER_STORE_H
#define EXTRACT_TEMPLATES_COMPILER_STORE_H

#include "templates/program.h"

enum { TEMPLATE_MAX_REPORTED = 1000 }; // maximum of errors, and of warnings, that are reported

// Returns a copy, ended by a zero; NULL if memory ran out.
char *template_store_copy(struct extract_templates *templates, const char *bytes, size_t length);
// Stores the name of one more text, without control characters, for template_diagnose. The order of
// calls is the order of texts. Returns NULL if memory ran out.
const char *template_store_file(struct extract_templates *templates, const char *name);
void template_release(struct extract_templates *templates);

// Returns the length of the byte order mark of UTF-8 at the start of a text; 0 if there is none.
size_t template_mark_length(const char *text, size_t length);

struct template_place {
    const char *file; // as returned by template_store_file
    unsigned line, column;
};

// Adds a diagnostic at its place in the order. `name` and `hint` must be literals; `what` must have
// no control characters. A name that begins with W is a warning. Returns false if memory ran out.
bool template_diagnose(struct extract_templates *templates, const struct template_place *place,
                       const char *name, const char *hint, const char *what, ...)
    __attribute__((format(printf, 5, 6)));
// The diagnostics of the linker, by their names.
#define TEMPLATE_NO_SUB "E-NOSUB" // the called template does not exist
#define TEMPLATE_UNSET  "W-UNSET" // nothing sets the macro that is read
#define TEMPLATE_SELF   "W-SELF"  // a template calls itself
// Removes the diagnostics of an earlier link.
void template_forgive_link(struct extract_templates *templates);

// template_calls.c: adds the linker's warnings. Returns false if memory ran out.
bool template_warn_of_calls(struct extract_templates *templates);

// Reserves space for one more element of `size` bytes. Returns false if memory ran out, or if the
// array would reach 2^32 elements.
bool template_grow(void **array, uint32_t *capacity, uint32_t count, size_t size);

// Returns whether calls skip the label of a template: the next template of the list is its copy
// without the label.
bool template_is_muted(const struct extract_templates *templates, const struct extract_template *t);

#endif
