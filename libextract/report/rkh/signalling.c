// SPDX-License-Identifier: MIT
// report/rkh: the sequence chart in the signalling language of msc-generator. In: a chart. Out: its
// text.
//
// Source: the language reference of msc-generator: entities and their attributes, arrows, labels.
#include "report/rkh/chart.h"
#include <inttypes.h>

// Words that cannot name an entity.
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
        if (strlen(words[i]) == length && !strncmp(words[i], word, length))
            return true;
    return false;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

static bool is_name(const char *name)
{
    size_t length = strlen(name);
    bool fits = is_letter(name[0]) && !is_keyword(name, length);
    for (size_t i = 1; i < length && fits; i++)
        fits = is_letter(name[i]) || (name[i] >= '0' && name[i] <= '9');
    return fits;
}

// "e12": how entities are called that do not go by their names.
static bool is_number(const char *name)
{
    return name[0] == 'e' && name[1] && strspn(name + 1, "0123456789") == strlen(name + 1);
}

static uint64_t hash_of(const char *name)
{
    uint64_t hash = UINT64_C(0xCBF29CE484222325);
    for (; *name; name++)
        hash = (hash ^ (uint8_t)*name) * UINT64_C(0x100000001B3);
    return hash;
}

// A chart under way: which columns go by their names.
struct script {
    struct chart *chart;
    struct extract_text *text, label;
    struct extract_map named; // columns + 1
};

// An entity goes by its name where that can be one and no other has it.
static bool find_names(struct script *script)
{
    struct extract_map taken;
    bool fits = extract_map_init(&taken, 0);
    for (size_t i = 0; fits && i < script->chart->column_count; i++) {
        const char *name = chart_column_name(script->chart, i);
        uint32_t *place = extract_map_at(&taken, hash_of(name)), *own = NULL;
        if (place && !*place && is_name(name) && !is_number(name))
            fits = (own = extract_map_at(&script->named, i)) != NULL;
        fits = fits && place;
        if (fits)
            *place = 1;
        if (own)
            *own = 1;
    }
    extract_map_free(&taken);
    return fits;
}

static void put_entity(struct script *script, uint64_t address)
{
    size_t column = chart_column(script->chart, address);
    if (extract_map_get(&script->named, column))
        extract_text_puts(script->text, chart_column_name(script->chart, column));
    else
        extract_text_printf(script->text, "e%zu", column);
}

// A text in which nothing ends the label, or is a command of its layout.
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
        put_entity(script, chart->columns[i].address);
        if (!extract_map_get(&script->named, i)) {
            extract_text_puts(script->text, " [label=\"");
            put_text(script->text, name, strlen(name));
            extract_text_puts(script->text, "\"]");
        }
    }
    extract_text_puts(script->text, chart->column_count ? ";\n\n" : "");
}

// NULL: the row is not shown.
static const char *arrow_of(const struct chart_row *row)
{
    static const char *const arrows[] = {
        [CHART_POST] = "->",        [CHART_POST_FIRST] = "->", [CHART_TIMEOUT] = ">>",
        [CHART_SYNCHRONOUS] = "=>", [CHART_STATE] = "->",      [CHART_NOTE] = ">"};
    return row->kind <= CHART_NOTE ? arrows[row->kind] : "...";
}

static void put_row(struct script *script, const struct chart_row *row)
{
    const char *arrow = arrow_of(row);
    if (!arrow)
        return;
    if (row->kind <= CHART_NOTE)
        put_entity(script, row->from);
    extract_text_puts(script->text, row->kind == CHART_ASSERTION ? "---" : arrow);
    if (row->kind <= CHART_NOTE)
        put_entity(script, row->to);
    extract_text_puts(script->text, ": ");
    put_label(script, row);
    extract_text_putc(script->text, ';');
    if (row->timed) {
        extract_text_puts(script->text, " # ");
        chart_put_time(script->chart, row->ticks, script->text);
    }
    extract_text_putc(script->text, '\n');
}

void chart_put_signalling(struct chart *chart, struct extract_text *text)
{
    struct script script = {.chart = chart, .text = text};
    extract_text_init(&script.label, NULL, NULL);
    bool fits = extract_map_init(&script.named, 0) && find_names(&script);
    if (!fits)
        text->code = EXTRACT_NOMEM;
    if (chart->left_out)
        extract_text_printf(text, "# %" PRIu64 " older lines are left out\n", chart->left_out);
    if (fits)
        put_entities(&script);
    for (size_t i = 0; fits && i < chart->count && !text->code; i++)
        put_row(&script, &chart->rows[i]);
    extract_map_free(&script.named);
    extract_text_free(&script.label);
}
