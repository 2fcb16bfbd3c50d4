// SPDX-License-Identifier: MIT
// templates: whether a template is one of those that come with Ringside.
#ifndef EXTRACT_TEMPLATES_SHIPPED_H
#define EXTRACT_TEMPLATES_SHIPPED_H

#include <extract/templates.h>

bool template_is_builtin(const struct extract_template *chosen);

#endif
