// SPDX-License-Identifier: MIT
// templates: calls between templates. In: all that were added. Out: calls that know their
// templates, or E-NOSUB where there is none. May be done again when more were added.
#include "templates/compiler/store.h"
#include <stdio.h>

// Index + 1 of the template that a call names: the spelling of the call first, then the hook id.
static uint32_t find_called(const struct extract_templates *t, const struct template_op *call)
{
    uint32_t hook = (uint32_t)call->value;
    bool four = call->other == 4 && hook >= 0x1000;
    uint32_t found = 0;
    if (four)
        found = t->by_digits[1][hook];
    else if (hook % 16 == 0)
        found = t->by_digits[0][hook / 16];
    return found ? found : t->by_hook[hook];
}

static bool resolve(struct extract_templates *t, const struct extract_template *in,
                    struct template_op *call)
{
    uint32_t found = find_called(t, call);
    struct template_place place = {in->file, call->line, call->width};
    if (found) {
        call->arg = found - 1 + template_is_muted(t, &t->list[found - 1]);
        return true;
    }
    unsigned digits = (unsigned)call->other;
    unsigned id = (unsigned)(digits == 3 ? call->value >> 4 : call->value);
    return template_diagnose(t, &place, TEMPLATE_NO_SUB, "add the template, or quote what is text",
                             "there is no template %0*X to be called", (int)digits, id);
}

static bool resolve_all(struct extract_templates *t)
{
    for (uint32_t i = 0; i < t->order_count; i++) {
        const struct extract_template *in = &t->list[t->order[i]];
        for (struct template_op *op = t->ops + in->program; op->code != OP_END; op++)
            if (op->code == OP_CALL && !resolve(t, in, op))
                return false;
    }
    return true;
}

static enum extract_code first_error(const struct extract_templates *t, struct extract_error *error)
{
    const struct extract_diagnostic *d = t->diagnostics;
    char place[160];
    while (d->warning)
        d++;
    snprintf(place, sizeof place, "%s:%u:%u", d->file, d->line, d->column);
    return extract_error_set(error, EXTRACT_BAD, place, d->hint, "%s: %s", d->name, d->what);
}

enum extract_code extract_templates_link(struct extract_templates *templates,
                                         struct extract_error *error)
{
    template_forgive_link(templates);
    uint32_t errors = templates->errors, warnings = templates->warnings;
    // A template with an error is not there, and what it would set or call is not known: warnings
    // wait until everything compiles.
    bool good = resolve_all(templates) && (templates->errors || template_warn_of_calls(templates));
    templates->link_errors = templates->errors - errors;
    templates->link_warnings = templates->warnings - warnings;
    if (!good)
        return extract_error_set(error, EXTRACT_NOMEM, "templates", NULL, "out of memory");
    if (templates->errors)
        return first_error(templates, error);
    template_optimize(templates);
    templates->linked = true;
    return EXTRACT_OK;
}
