// SPDX-License-Identifier: MIT
// templates/update: applies the changes of an update. The new text of the target is the old one,
// byte for byte, except for the templates that changed. The text of the undo file is an update as
// well, with the old templates.
#include "templates/compiler/store.h"
#include "templates/update/template_update.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define HEADER "* /etc/trcfmt\n"

uint32_t update_id(const struct extract_template *template)
{
    uint32_t hook = template->hook;

    return strlen(template->id) == 3 || hook < 0x1000 ? hook >> 4 : hook;
}

// ---- what happens to each id ----

static bool is_newer(const struct update_slot *slot, unsigned version, unsigned release)
{
    return slot->version != version ? slot->version > version : slot->release > release;
}

static enum extract_code report_kept(struct update *update, const struct update_change *change,
                                     const struct update_slot *slot, struct extract_error *error)
{
    char what[160];

    update->options->kept++;
    snprintf(what, sizeof what, "%03X is not replaced: its version %u.%u is newer than %u.%u",
             (unsigned)change->id, slot->version, slot->release, change->version, change->release);
    return update_report(update, change->line, change->column, "W-KEPT",
                         "use -o to replace it anyway", what, error);
}

// Warns if the target also has the other spelling of the id: hhh and hhh0 are one hook id, but two
// templates, since formats with wide ids have both.
static enum extract_code report_twin(struct update *update, const struct update_change *change,
                                     struct extract_error *error)
{
    uint32_t id = change->id, twin = id < 0x1000 ? id << 4 : id >> 4;
    bool has_twin = id < 0x1000 ? id >= 0x100 : id % 16 == 0;
    char what[96];

    if (!has_twin || !update->slots[twin].now)
        return EXTRACT_OK;
    snprintf(what, sizeof what, "target also has %03X, which is the same hook id", (unsigned)twin);
    return update_report(update, change->line, change->column, "W-DUP", "delete one of them", what,
                         error);
}

static enum extract_code add_template(struct update *update, uint32_t index,
                                      struct extract_error *error)
{
    const struct update_change *change = &update->changes[index];
    struct update_slot *slot = &update->slots[change->id];
    enum extract_code code = EXTRACT_OK;
    bool newer = slot->now && is_newer(slot, change->version, change->release);

    if (newer && !update->options->any_version)
        return report_kept(update, change, slot, error);
    if (slot->now) {
        update->options->replaced++;
    } else {
        update->options->added++;
        slot->added_by = index;
        code = report_twin(update, change, error);
    }
    slot->now = change->source;
    slot->now_length = change->length;
    slot->version = change->version;
    slot->release = change->release;
    return code;
}

static enum extract_code delete_template(struct update *update, uint32_t index,
                                         struct extract_error *error)
{
    const struct update_change *change = &update->changes[index];
    struct update_slot *slot = &update->slots[change->id];
    char what[64];

    if (slot->now) {
        slot->now = NULL;
        update->options->deleted++;
        return EXTRACT_OK;
    }
    snprintf(what, sizeof what, "template %03X, which is to be deleted, does not exist",
             (unsigned)change->id);
    return update_report(update, change->line, change->column, "W-NOID",
                         "run 'ringside templates list' for a list", what, error);
}

enum extract_code update_merge(struct update *update, const struct extract_templates *old,
                               struct extract_error *error)
{
    const struct extract_template *template;
    enum extract_code code = EXTRACT_OK;

    // If the target has an id twice, only the template in force counts.
    for (size_t i = 0; (template = extract_templates_at(old, i)); i++)
        update->slots[update_id(template)] =
            (struct update_slot){.old = template->source,
                                 .old_length = template->source_length,
                                 .now = template->source,
                                 .now_length = template->source_length,
                                 .version = template->version,
                                 .release = template->release};
    for (uint32_t i = 0; i < update->change_count && !code; i++)
        code = update->changes[i].adds ? add_template(update, i, error)
                                       : delete_template(update, i, error);
    return code;
}

// ---- the texts ----

static bool is_changed(const struct update_slot *slot)
{
    return (!slot->now != !slot->old) ||
           (slot->now && (slot->now_length != slot->old_length ||
                          memcmp(slot->now, slot->old, slot->now_length) != 0));
}

// Appends complete lines: a last line without a line end gets one.
static void append_lines(struct extract_text *text, const char *lines, size_t length)
{
    extract_text_put(text, lines, length);
    if (length && lines[length - 1] != '\n')
        extract_text_putc(text, '\n');
}

static void append_added(const struct update *update, struct extract_text *text, uint32_t id)
{
    const struct update_slot *slot = &update->slots[id];

    if (text->used > template_mark_length(update->text, update->length) &&
        text->data[text->used - 1] != '\n')
        extract_text_putc(text, '\n');
    append_lines(text, slot->now, slot->now_length);
}

static bool is_added(const struct update_slot *slot)
{
    return slot->now && !slot->old;
}

// A walk over the lines of the target, upwards.
struct walk {
    const char *at, *end;
    unsigned line;
};

static void walk_to(struct walk *walk, unsigned line)
{
    while (walk->line < line && walk->at < walk->end) {
        const char *newline = memchr(walk->at, '\n', (size_t)(walk->end - walk->at));
        walk->at = newline ? newline + 1 : walk->end;
        walk->line++;
    }
}

static bool is_sorted(const struct extract_templates *old)
{
    for (uint32_t i = 1; i < old->count; i++)
        if (update_id(&old->list[i]) <= update_id(&old->list[i - 1]))
            return false;
    return true;
}

// Appends the lines of a template of the target, or what replaces them. A second template of the
// same id is dropped, unless it would take effect instead of the new one, which may be older (-o).
static void append_template(const struct update *update, struct extract_text *text,
                            const struct extract_template *template, const char *lines,
                            size_t length)
{
    const struct update_slot *slot = &update->slots[update_id(template)];
    bool in_force = template->source == slot->old;

    if (!is_changed(slot))
        extract_text_put(text, lines, length);
    else if (in_force && slot->now)
        append_lines(text, slot->now, slot->now_length);
    else if (slot->now && is_newer(slot, template->version, template->release))
        extract_text_put(text, lines, length);
}

static void append_added_between(const struct update *update, struct extract_text *text,
                                 uint32_t *next, uint32_t limit)
{
    for (; *next < limit; ++*next)
        if (is_added(&update->slots[*next]))
            append_added(update, text, *next);
}

// Appends the new text of the target. If the target is sorted by ids, new templates are inserted
// where their ids belong; otherwise they are appended in the order of the update file.
static void write_target(const struct update *update, const struct extract_templates *old,
                         struct extract_text *text)
{
    size_t mark = template_mark_length(update->text, update->length);
    struct walk walk = {update->text + mark, update->text + update->length, 1};
    bool sorted = is_sorted(old);
    uint32_t next = 0;

    extract_text_put(text, update->text, mark); // before a template that becomes the first, too
    for (uint32_t i = 0; i < old->count; i++) {
        const struct extract_template *template = &old->list[i];
        const char *from = walk.at;
        walk_to(&walk, template->line);
        if (i)
            append_added_between(update, text, &next, sorted ? update_id(template) : 0);
        extract_text_put(text, from, (size_t)(walk.at - from));
        if (!i)
            append_added_between(update, text, &next, sorted ? update_id(template) : 0);
        from = walk.at;
        walk_to(&walk, template->line + template->line_count);
        append_template(update, text, template, from, (size_t)(walk.at - from));
    }
    if (old->count && sorted)
        append_added_between(update, text, &next, UPDATE_IDS);
    extract_text_put(text, walk.at, (size_t)(walk.end - walk.at));
    for (uint32_t i = 0; i < update->change_count && !(old->count && sorted); i++) {
        uint32_t id = update->changes[i].id;
        if (is_added(&update->slots[id]) && update->slots[id].added_by == i)
            append_added(update, text, id);
    }
}

// Deletions come first, so an undo never holds both spellings of a hook id. Returns whether
// anything changed.
static bool write_undo(const struct update *update, struct extract_text *undo)
{
    bool changed = false;

    extract_text_puts(undo, HEADER);
    for (uint32_t id = 0; id < UPDATE_IDS; id++) {
        changed |= is_changed(&update->slots[id]);
        if (is_added(&update->slots[id]))
            extract_text_printf(undo, "- %03X\n", (unsigned)id);
    }
    for (uint32_t id = 0; id < UPDATE_IDS; id++) {
        const struct update_slot *slot = &update->slots[id];
        if (!slot->old || !is_changed(slot))
            continue;
        extract_text_puts(undo, "+ ");
        append_lines(undo, slot->old, slot->old_length);
    }
    return changed;
}

enum extract_code update_write(const struct update *update, const struct extract_templates *old,
                               struct extract_text *text, struct extract_text *undo,
                               struct extract_error *error)
{
    if (write_undo(update, undo))
        write_target(update, old, text);
    else
        undo->used = 0;
    if (!text->code && !undo->code)
        return EXTRACT_OK;
    return extract_error_set(error, EXTRACT_NOMEM, update->target, NULL, "out of memory");
}
