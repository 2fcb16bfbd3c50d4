// SPDX-License-Identifier: MIT
// report/chart: writes the message sequence chart in the signalling language of msc-generator:
//
//   client, e1 [label="timer \#2"];
//   client->server: REQ; # 0.001234
//
// An entity is named like its column if the language allows the name and no earlier column has
// it. Otherwise it is "e" and the number of its column, and its label is the name.
//
// Source: the language reference of msc-generator: entities and their attributes, arrows, labels.
#include "report/chart/chart.h"
#include <inttypes.h>

// Returns whether a word is a keyword of the language, which cannot name an entity.
static bool is_keyword(const char *word, size_t length)
{
    static const char *const words[] = {
        "above",     "activate", "after",      "all",      "arc",       "at",      "before",
        "below",     "block",    "box",        "brace",    "bracket",   "bye",     "center",
        "chart",     "comment",  "deactivate", "defcolor", "defdesign", "defproc", "defstyle",
        "else",      "endnote",  "footnote",   "heading",  "hide",      "hspace",  "if",
        "include",   "join",     "left",       "lost",     "mark",      "middle",  "msc",
        "newpage",   "note",     "nudge",      "overlap",  "parallel",  "pipe",    "range",
        "rectangle", "replay",   "right",      "set",      "shape",     "show",    "start",
        "subtitle",  "symbol",   "text",       "then",     "title",     "use",     "usedesign",
        "vertical",  "via",      "vspace"};

    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && strncmp(words[i], word, length) == 0)
            return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Returns whether the language allows a name for an entity: letters and digits, but no keyword.
static bool is_valid_name(const char *name)
{
    size_t length = strlen(name);
    bool is_valid = is_letter(name[0]) && !is_keyword(name, length);

    for (size_t i = 1; i < length && is_valid; i++)
        is_valid = is_letter(name[i]) || (name[i] >= '0' && name[i] <= '9');
    return is_valid;
}

// Returns whether a name has the form "e12", which is reserved for entities without a name.
static bool is_reserved_name(const char *name)
{
    return name[0] == 'e' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static uint64_t hash_name(const char *name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325); // FNV-1a

    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001B3);
    return hash;
}

struct script {
    struct chart *chart;
    struct extract_text *text;
    struct extract_text label; // of the current row
    struct extract_map named;  // columns whose entity has the column's name; the value is 1
};

// Finds the columns whose entities have their names. Returns false if memory is short.
static bool choose_names(struct script *script)
{
    struct extract_map taken; // hashes of all names so far
    bool is_done = extract_map_init(&taken, 0);

    for (size_t i = 0; is_done && i < script->chart->column_count; i++) {
        const char *name = chart_column_name(script->chart, i);
        uint32_t *is_taken = extract_map_at(&taken, hash_name(name));
        if (!is_taken) {
            is_done = false;
        } else if (!*is_taken && is_valid_name(name) && !is_reserved_name(name)) {
            uint32_t *is_named = extract_map_at(&script->named, i);
            is_done = is_named != NULL;
            if (is_named)
                *is_named = 1;
        }
        if (is_taken)
            *is_taken = 1;
    }
    extract_map_free(&taken);
    return is_done;
}

static void put_entity(struct script *script, uint32_t lifeline)
{
    size_t column = chart_column(script->chart, lifeline);

    if (extract_map_get(&script->named, column))
        extract_text_puts(script->text, chart_column_name(script->chart, column));
    else
        extract_text_printf(script->text, "e%zu", column);
}

// Writes a label, with a backslash before characters that have a meaning in the language.
static void put_text(struct extract_text *text, const char *string, size_t length)
{
    for (size_t i = 0; i < length; i++) {
        if (strchr("\\#;[]{}\"", string[i]))
            extract_text_putc(text, '\\');
        extract_text_putc(text, string[i]);
    }
}

static void put_label(struct script *script, const struct chart_row *row)
{
    struct extract_text *label = &script->label;

    label->used = 0;
    chart_put_label(script->chart, row, label);
    if (row->kind == CHART_POST_FIRST)
        extract_text_puts(label, " (first)");
    chart_put_origin(script->chart, row, label);
    put_text(script->text, label->data, label->used);
    if (label->code)
        script->text->code = label->code;
}

static void put_entities(struct script *script)
{
    struct chart *chart = script->chart;

    for (size_t i = 0; i < chart->column_count && !script->text->code; i++) {
        const char *name = chart_column_name(chart, i);
        extract_text_puts(script->text, i ? ",\n" : "");
        put_entity(script, chart->columns[i].lifeline);
        if (!extract_map_get(&script->named, i)) {
            extract_text_puts(script->text, " [label=\"");
            put_text(script->text, name, strlen(name));
            extract_text_puts(script->text, "\"]");
        }
    }
    extract_text_puts(script->text, chart->column_count ? ";\n\n" : "");
}

// Returns the arrow of a row; NULL if the row is not drawn. Rows across all columns have "...".
static const char *arrow_of(const struct chart_row *row)
{
    static const char *const arrows[] = {
        [CHART_POST] = "->",        [CHART_POST_FIRST] = "->", [CHART_TIMEOUT] = ">>",
        [CHART_SYNCHRONOUS] = "=>", [CHART_STATE] = "->",      [CHART_PUT] = "->",
        [CHART_TAKE] = "->",        [CHART_WAKE] = "=>",       [CHART_EXPIRED] = ">>",
        [CHART_WAIT] = ">",         [CHART_FAILED] = ">",      [CHART_NOTE] = ">"};
    return row->kind <= CHART_NOTE ? arrows[row->kind] : "...";
}

static void put_row(struct script *script, const struct chart_row *row)
{
    const char *arrow = arrow_of(row);
    bool has_entities = row->kind <= CHART_NOTE;

    if (!arrow)
        return;
    if (has_entities)
        put_entity(script, row->from);
    extract_text_puts(script->text, row->kind == CHART_ASSERTION ? "---" : arrow);
    if (has_entities)
        put_entity(script, row->to);
    extract_text_puts(script->text, ": ");
    put_label(script, row);
    extract_text_putc(script->text, ';');
    if (row->is_timed) {
        extract_text_puts(script->text, " # ");
        chart_put_time(script->chart, row->ticks, script->text);
    }
    extract_text_putc(script->text, '\n');
}

void chart_put_signalling(struct chart *chart, struct extract_text *text)
{
    struct script script = {.chart = chart, .text = text};

    extract_text_init(&script.label, NULL, NULL);
    bool is_named = extract_map_init(&script.named, 0) && choose_names(&script);
    if (!is_named)
        text->code = EXTRACT_NOMEM;
    if (chart->left_out)
        extract_text_printf(text, "# %" PRIu64 " older lines are left out\n", chart->left_out);
    if (is_named)
        put_entities(&script);
    for (size_t i = 0; is_named && i < chart->count && !text->code; i++)
        put_row(&script, &chart->rows[i]);
    extract_map_free(&script.named);
    extract_text_free(&script.label);
}
