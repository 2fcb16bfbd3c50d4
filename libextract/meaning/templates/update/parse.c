// SPDX-License-Identifier: MIT
// templates/update: parses the update file (IBM AIX, trcupdate). It begins with "* /etc/trcfmt",
// then has "+ template" and "- id" in any order.
//
// The templates in it are compiled from the same text: each "+" is replaced by a blank, and every
// line that is not part of a template is made a comment. So the lines and columns of the compiler's
// diagnostics are those of the update file.
#include "base/grow.h"
#include "templates/compiler/compile.h"
#include "templates/update/template_update.h"
#include <stdlib.h>
#include <string.h>

#define HEADER "/etc/trcfmt"

// A physical line from `start`; `end` is after its line end.
struct line {
    char *start, *end;
    unsigned number;
};

static bool next_line(struct line *line, const struct update *update)
{
    char *limit = update->edits + update->edits_length;
    char *start = line->start ? line->end : update->edits;

    if (start == limit)
        return false;
    char *newline = memchr(start, '\n', (size_t)(limit - start));
    line->start = start;
    line->end = newline ? newline + 1 : limit;
    line->number++;
    return true;
}

static bool is_blank(char byte)
{
    return lexer_blank(byte) || byte == '\r';
}

static char *skip_blanks(char *at, const char *end)
{
    while (at < end && is_blank(*at))
        at++;
    return at;
}

static char *trimmed_end(const struct line *line)
{
    char *end = line->end;

    while (end > line->start && is_blank(end[-1]))
        end--;
    return end;
}

static bool is_header(const struct line *line)
{
    char *end = trimmed_end(line), *at = skip_blanks(line->start, end);

    if (at == end || *at != '*')
        return false;
    at = skip_blanks(at + 1, end);
    return (size_t)(end - at) == strlen(HEADER) && memcmp(at, HEADER, strlen(HEADER)) == 0;
}

static enum extract_code no_memory(const struct update *update, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, update->name, NULL, "out of memory");
}

static struct update_change *add_change(struct update *update, const struct line *line,
                                        const char *at)
{
    struct update_change *changes = extract_grow(update->changes, &update->change_capacity,
                                                 update->change_count, sizeof *changes);

    if (!changes)
        return NULL;
    update->changes = changes;
    struct update_change *change = &update->changes[update->change_count++];
    *change =
        (struct update_change){.line = line->number, .column = (unsigned)(at - line->start) + 1};
    return change;
}

// Parses an id: three or four hexadecimal digits, and nothing else; below 0x1000, the fourth is 0.
static bool parse_id(const char *at, const char *end, uint32_t *id)
{
    uint64_t number;
    size_t length = (size_t)(end - at);

    if ((length != 3 && length != 4) || !lexer_number(at, length, 16, &number))
        return false;
    bool is_short = length == 4 && number < 0x1000;
    if (is_short && number % 16)
        return false;
    *id = (uint32_t)(is_short ? number / 16 : number);
    return true;
}

static enum extract_code parse_deletion(struct update *update, const struct line *line, char *sign,
                                        struct extract_error *error)
{
    char *end = trimmed_end(line), *at = skip_blanks(sign + 1, end);
    struct update_change *change = add_change(update, line, at);

    if (!change)
        return no_memory(update, error);
    if (parse_id(at, end, &change->id))
        return EXTRACT_OK;
    return update_report(update, line->number, change->column, "E-HOOKID",
                         "use - and three or four hexadecimal digits", "no hook id after \"-\"",
                         error);
}

// Parses a line that begins a logical line; `at` is its first character that is not blank.
static enum extract_code parse_line(struct update *update, const struct line *line, char *at,
                                    struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;

    if (*at == '+') {
        *at = ' ';
        struct update_change *change = add_change(update, line, skip_blanks(at, trimmed_end(line)));
        if (!change)
            return no_memory(update, error);
        change->adds = true;
        return EXTRACT_OK;
    }
    if (*at == '-')
        code = parse_deletion(update, line, at, error);
    else
        code = update_report(update, line->number, (unsigned)(at - line->start) + 1, "E-HEADER",
                             "use + and a template, or - and an id", "line is not a change", error);
    *line->start = '#';
    return code;
}

// Parses all lines. Comments are allowed between continued lines; in templates, the compiler skips
// them.
static enum extract_code parse_lines(struct update *update, struct line *line,
                                     struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    bool within = false, is_template = false; // in a logical line; in that of a template

    while (!code && next_line(line, update)) {
        char *end = trimmed_end(line), *at = skip_blanks(line->start, end);
        bool is_comment = at != end && *at == '#' && !within;
        if (*line->start == '#' || *line->start == '*' || is_comment)
            continue;
        if (within && !is_template && at != end)
            *line->start = '#';
        if (!within && at != end) {
            is_template = *at == '+';
            code = parse_line(update, line, at, error);
        }
        within = end > line->start && end[-1] == '\\';
    }
    return code;
}

static enum extract_code parse_text(struct update *update, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    struct line line = {0};

    if (next_line(&line, update) && is_header(&line)) {
        *line.start = '#';
    } else {
        line = (struct line){0}; // the first line may be a change
        code = update_report(update, 1, 1, "E-HEADER",
                             "add that line: a file of templates is not an update file",
                             "first line is not * " HEADER, error);
    }
    return code ? code : parse_lines(update, &line, error);
}

static void set_template(struct update_change *change, const struct extract_template *template)
{
    size_t blanks = 0;

    while (is_blank(template->source[blanks]))
        blanks++;
    change->id = update_id(template);
    change->source = template->source + blanks;
    change->length = template->source_length - blanks;
    change->version = template->version;
    change->release = template->release;
}

// Assigns the templates that the compiler found to the "+" changes; both are in the order of lines.
static enum extract_code assign_templates(struct update *update, struct extract_error *error)
{
    const struct extract_templates *set = update->reports;
    enum extract_code code = EXTRACT_OK;
    uint32_t at = 0;

    for (size_t i = 0; i < update->change_count && !code; i++) {
        struct update_change *change = &update->changes[i];
        bool last = i + 1 == update->change_count;
        if (!change->adds)
            continue;
        if (at < set->count && (last || set->list[at].line < change[1].line))
            set_template(change, &set->list[at++]);
        else
            code = update_report(update, change->line, change->column, "E-HEADER",
                                 "use + and a template, from its hook id on",
                                 "no template after \"+\"", error);
    }
    return code;
}

enum extract_code update_parse(struct update *update, struct extract_error *error)
{
    enum extract_code code = parse_text(update, error);
    if (!code)
        code = extract_templates_add(update->reports, update->name, update->edits,
                                     update->edits_length, false, error);
    if (!code && !update->reports->errors)
        code = assign_templates(update, error);
    return code;
}
