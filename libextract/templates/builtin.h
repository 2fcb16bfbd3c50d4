// SPDX-License-Identifier: MIT
// templates: tells whether a template is built into the library.
#ifndef EXTRACT_TEMPLATES_BUILTIN_H
#define EXTRACT_TEMPLATES_BUILTIN_H

#include <extract/templates.h>

bool template_is_builtin(const struct extract_template *chosen);

#endif
