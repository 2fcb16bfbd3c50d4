// SPDX-License-Identifier: MIT
// report/rkh: the sequence chart as a picture. In: a chart. Out: SVG, with all that it needs.
//
// Standards: SVG 1.1 (W3C, 2011); XML 1.0, section 2.2 (characters).
#include "base/printable.h"
#include "report/rkh/chart.h"
#include <inttypes.h>
#include <stdlib.h>

// Lengths in pixels.
enum {
    LEFT = 96,         // of the first column
    MARGIN = 12,       // of the caption
    LINE = 18,         // of the caption
    CAPTION_LINES = 2, // at least
    LETTER = 7,        // a letter is about so wide
    NARROW = 104,      // columns, at least
    WIDE = 200,        // and at most
    HEAD_ROOM = 38,    // of a row of heads
    HEADS_EVERY = 1100,
    LABEL_LETTERS = 32,
    NAME_LETTERS = 26,
    TITLE_LETTERS = 160
};

struct picture {
    struct chart *chart;
    struct extract_text *text;
    struct extract_text label; // of the row at hand
    long width, height, column;
    long top;    // of the first heads
    long *y;     // of the rows
    long *heads; // where the names stand again
    size_t head_count;
    size_t *open; // by column: row + 1 in which it began to process an event
};

static const char style[] =
    "<style>\n"
    "text{font:12px 'DejaVu Sans',Verdana,Arial,sans-serif;fill:#1b2733}\n"
    ".h{fill:#10405e;font-weight:bold}.hb{fill:#e3eef5;stroke:#7fa3b8}"
    ".he{fill:#f1f1ec;stroke:#a8a892}\n"
    ".t{fill:#6b7780;font-size:11px}.g{fill:#6b7780;font-size:11px}\n"
    ".w{paint-order:stroke;stroke:#fff;stroke-width:4px;stroke-linejoin:round}\n"
    ".life{stroke:#b9c4cc;stroke-dasharray:3 3}.bar{fill:#cfe3ef;stroke:#7fa3b8}\n"
    ".m{stroke:#1f6390;fill:none;stroke-width:1.4}.o{stroke:#a0622a;fill:none;"
    "stroke-dasharray:6 3;stroke-width:1.4}\n"
    ".s{stroke:#2f7d4f;fill:none;stroke-width:1.4}.st{fill:#205f3a}"
    ".y{stroke:#6a3f98;fill:none;stroke-width:2.4}\n"
    ".dot{fill:#1f6390}.n{fill:#fff6d6;stroke:#d0b250}.a{fill:#f9d7d5;stroke:#b3332b}"
    ".at{fill:#8c1d17;font-weight:bold}.l{fill:#ececec;stroke:#8f8f8f;stroke-dasharray:4 3}\n"
    "</style>\n";

static const char markers[] =
    "<defs>"
    "<marker id=\"m\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\" "
    "markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L9 4L0 8z\" fill=\"#1f6390\"/></marker>"
    "<marker id=\"o\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\" "
    "markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L9 4L0 8z\" fill=\"#a0622a\"/></marker>"
    "<marker id=\"s\" markerWidth=\"9\" markerHeight=\"8\" refX=\"8\" refY=\"4\" orient=\"auto\" "
    "markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L9 4L0 8z\" fill=\"#2f7d4f\"/></marker>"
    "<marker id=\"y\" markerWidth=\"11\" markerHeight=\"10\" refX=\"10\" refY=\"5\" "
    "orient=\"auto\" markerUnits=\"userSpaceOnUse\"><path d=\"M0 0L11 5L0 10z\" "
    "fill=\"#6a3f98\"/></marker></defs>\n";

// ---- texts ----

// Bytes of the character at `string` that XML lets be there; 0: none.
static size_t character_at(const char *string)
{
    size_t length = extract_printable(string);
    bool none =
        length >= 3 && (!memcmp(string, "\xEF\xBF\xBE", 3) || !memcmp(string, "\xEF\xBF\xBF", 3));
    return none ? 0 : length;
}

static void put_character(struct extract_text *text, const char *at, size_t length)
{
    if (!length)
        extract_text_printf(text, "\\x%02x", (unsigned char)*at);
    else if (*at == '&')
        extract_text_puts(text, "&amp;");
    else if (*at == '<')
        extract_text_puts(text, "&lt;");
    else if (*at == '>')
        extract_text_puts(text, "&gt;");
    else
        extract_text_put(text, at, length);
}

// A text of at most so many characters.
static void put_text(struct extract_text *text, const char *string, size_t most)
{
    for (size_t i = 0; *string; i++) {
        size_t length = character_at(string);
        if (i == most) {
            extract_text_puts(text, "…");
            return;
        }
        put_character(text, string, length);
        string += length ? length : 1;
    }
}

static void put_at(struct picture *p, const char *class, const char *anchor, long x, long y)
{
    extract_text_printf(p->text, "<text class=\"%s\" x=\"%ld\" y=\"%ld\"%s%s%s>", class, x, y,
                        anchor ? " text-anchor=\"" : "", anchor ? anchor : "", anchor ? "\"" : "");
}

static void put_label(struct picture *p, const char *class, const char *anchor, long x, long y)
{
    put_at(p, class, anchor, x, y);
    put_text(p->text, p->label.data, LABEL_LETTERS);
    extract_text_puts(p->text, "</text>");
}

// ---- where things lie ----

static long column_x(const struct picture *p, size_t column)
{
    return LEFT + (long)column * p->column + p->column / 2;
}

static long x_of(const struct picture *p, uint64_t address)
{
    return column_x(p, chart_column(p->chart, address));
}

static long room_of(const struct chart_row *row)
{
    switch (row->kind) {
    case CHART_DONE:
        return 0;
    case CHART_GET:
        return 20;
    case CHART_STATE:
        return 26;
    default:
        return 28;
    }
}

static void make_label(struct picture *p, const struct chart_row *row)
{
    p->label.used = 0;
    chart_put_label(p->chart, row, &p->label);
    extract_text_putc(&p->label, 0);
    if (p->label.code)
        p->text->code = p->label.code;
}

// ---- the caption ----

enum { SENTENCES = 5 };

static const char *sentence(const struct picture *p, size_t i)
{
    static const char *const rest[] = {"Dot: an event is taken, and how long it waited.",
                                       "Bar: it is processed.", "Loop: the next state.",
                                       "Dashed: a timeout."};
    if (i)
        return rest[i - 1];
    return !p->chart->timed ? "No stamp tells a time."
           : p->chart->hz   ? "Times in seconds."
                            : "Times in ticks.";
}

// The sentence behind those that a line has room for which begins with `from`.
static size_t line_end(const struct picture *p, size_t from)
{
    size_t room = (size_t)(p->width - 2 * MARGIN) / LETTER, used = strlen(sentence(p, from));
    while (++from < SENTENCES && used + 1 + strlen(sentence(p, from)) <= room)
        used += 1 + strlen(sentence(p, from));
    return from;
}

static bool has_remark(const struct chart *chart)
{
    return chart->left_out || !chart->count;
}

static long caption_lines(const struct picture *p)
{
    long lines = has_remark(p->chart);
    for (size_t i = 0; i < SENTENCES; i = line_end(p, i))
        lines++;
    return lines;
}

// Wide enough for most labels.
static bool measure(struct picture *p)
{
    const struct chart *chart = p->chart;
    size_t longest = 0;
    for (size_t i = 0; i < chart->column_count; i++) {
        size_t columns = extract_text_columns(chart_column_name(chart, i));
        longest = columns > longest ? columns : longest;
    }
    for (size_t i = 0; i < chart->count && !p->text->code; i++) {
        if (chart->rows[i].kind >= CHART_NOTE || chart->rows[i].kind == CHART_DONE)
            continue;
        make_label(p, &chart->rows[i]);
        size_t columns = p->text->code ? 0 : extract_text_columns(p->label.data) + 3;
        longest = columns > longest ? columns : longest;
    }
    longest = longest > LABEL_LETTERS + 3 ? LABEL_LETTERS + 3 : longest;
    p->column = (long)longest * LETTER + 24;
    p->column = p->column < NARROW ? NARROW : p->column > WIDE ? WIDE : p->column;
    p->width = LEFT + (long)chart->column_count * p->column + (long)longest * LETTER;
    p->width = p->width < 640 ? 640 : p->width;
    long lines = caption_lines(p);
    p->top = 10 + LINE * (lines < CAPTION_LINES ? CAPTION_LINES : lines);
    return !p->text->code;
}

// Gives each row its place; heads come again now and then.
static bool place_rows(struct picture *p)
{
    const struct chart *chart = p->chart;
    long y = p->top + HEAD_ROOM, head = p->top;
    p->y = malloc((chart->count + 1) * sizeof *p->y);
    p->heads = malloc((chart->count + 1) * sizeof *p->heads);
    p->open = calloc(chart->column_count + 1, sizeof *p->open);
    if (!p->y || !p->heads || !p->open)
        return false;
    p->heads[p->head_count++] = head;
    for (size_t i = 0; i < chart->count; i++) {
        if (y - head > HEADS_EVERY && room_of(&chart->rows[i])) {
            head = y + 14;
            p->heads[p->head_count++] = head;
            y = head + HEAD_ROOM;
        }
        y += room_of(&chart->rows[i]);
        p->y[i] = y;
    }
    p->height = y + 30;
    return true;
}

// ---- what stands behind the rows ----

static void put_heads(struct picture *p, long y)
{
    const struct chart *chart = p->chart;
    for (size_t i = 0; i < chart->column_count && !p->text->code; i++) {
        bool object = chart->columns[i].role == CHART_IS_OBJECT;
        extract_text_printf(p->text,
                            "<rect class=\"%s\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"24\" "
                            "rx=\"%d\"/>",
                            object ? "hb" : "he", column_x(p, i) - p->column / 2 + 4, y,
                            p->column - 8, object ? 3 : 11);
        put_at(p, object ? "h" : "g", "middle", column_x(p, i), y + 16);
        put_text(p->text, chart_column_name(chart, i),
                 (size_t)(p->column - 16) / (LETTER + 1) < NAME_LETTERS
                     ? (size_t)(p->column - 16) / (LETTER + 1)
                     : NAME_LETTERS);
        extract_text_puts(p->text, "</text>\n");
    }
}

static void put_lives(struct picture *p)
{
    for (size_t i = 0; i < p->chart->column_count && !p->text->code; i++)
        extract_text_printf(p->text, "<path class=\"life\" d=\"M%ld %ldV%ld\"/>\n", column_x(p, i),
                            p->top + 24, p->height - 12);
}

static void put_bar(struct picture *p, size_t column, long to)
{
    if (!p->open[column])
        return;
    long from = p->y[p->open[column] - 1] - 4;
    extract_text_printf(p->text,
                        "<rect class=\"bar\" x=\"%ld\" y=\"%ld\" width=\"8\" height=\"%ld\"/>\n",
                        column_x(p, column) - 4, from, to - from > 6 ? to - from : 6);
    p->open[column] = 0;
}

// From a get to the end of its processing, where that is known.
static void put_bars(struct picture *p)
{
    const struct chart *chart = p->chart;
    for (size_t i = 0; i < chart->count && !p->text->code; i++) {
        const struct chart_row *row = &chart->rows[i];
        if (row->kind == CHART_GET)
            p->open[chart_column(chart, row->to)] = i + 1;
        else if (row->kind == CHART_DONE)
            put_bar(p, chart_column(chart, row->to), p->y[i] + 4);
        else if (row->kind >= CHART_LOSS)
            memset(p->open, 0, chart->column_count * sizeof *p->open);
    }
}

// ---- rows ----

// A line from one to the other, or round to the same.
static void put_arrow(struct picture *p, const struct chart_row *row, const char *class, long y)
{
    long from = x_of(p, row->from), to = x_of(p, row->to);
    if (from == to) {
        extract_text_printf(p->text,
                            "<path class=\"%s\" d=\"M%ld %ldh22v10h-18\" "
                            "marker-end=\"url(#%s)\"/>",
                            class, from + 4, y - 12, class);
        put_label(p, strcmp(class, "s") ? "w" : "w st", NULL, from + 32, y - 3);
        return;
    }
    extract_text_printf(p->text, "<path class=\"%s\" d=\"M%ld %ldH%ld\" marker-end=\"url(#%s)\"/>",
                        class, from < to ? from + 4 : from - 4, y - 4, from < to ? to - 4 : to + 4,
                        class);
    put_label(p, "w", "middle", (from + to) / 2, y - 9);
}

static void put_get(struct picture *p, const struct chart_row *row, long y)
{
    long x = x_of(p, row->to);
    extract_text_printf(p->text, "<circle class=\"dot\" cx=\"%ld\" cy=\"%ld\" r=\"3\"/>", x, y - 4);
    put_at(p, "w g", NULL, x + 9, y);
    put_text(p->text, p->label.data, LABEL_LETTERS);
    if (row->timed && row->waited >= 0) {
        extract_text_puts(p->text, " +");
        chart_put_time(p->chart, (uint64_t)row->waited, p->text);
    } else {
        extract_text_puts(p->text, row->timed ? " +?" : "");
    }
    extract_text_puts(p->text, "</text>");
}

static void put_note(struct picture *p, const struct chart_row *row, long y)
{
    long x = x_of(p, row->to);
    size_t columns = extract_text_columns(p->label.data);
    long width = (long)(columns > LABEL_LETTERS ? LABEL_LETTERS + 1 : columns) * LETTER + 12;
    extract_text_printf(p->text,
                        "<rect class=\"n\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"18\" "
                        "rx=\"4\"/>",
                        x - width / 2, y - 16, width);
    put_label(p, "g", "middle", x, y - 3);
}

static void put_band(struct picture *p, const struct chart_row *row, long y)
{
    bool bad = row->kind == CHART_ASSERTION;
    extract_text_printf(p->text,
                        "<rect class=\"%s\" x=\"%d\" y=\"%ld\" width=\"%ld\" height=\"20\"/>",
                        bad ? "a" : "l", LEFT, y - 18, p->width - LEFT - 20);
    put_at(p, bad ? "at" : "g", "middle", LEFT + (p->width - LEFT - 20) / 2, y - 4);
    put_text(p->text, p->label.data, TITLE_LETTERS);
    extract_text_puts(p->text, "</text>");
}

// What a pointer over a row shows.
static void put_title(struct picture *p, const struct chart_row *row)
{
    extract_text_printf(p->text, "<title>seq %" PRIu64, row->seq);
    if (row->timed) {
        extract_text_puts(p->text, p->chart->hz ? ", seconds " : ", ticks ");
        chart_put_time(p->chart, row->ticks, p->text);
    }
    extract_text_puts(p->text, ": ");
    if (row->type) {
        put_text(p->text, row->type->name, TITLE_LETTERS);
        extract_text_puts(p->text, ", ");
    }
    put_text(p->text, p->label.data, TITLE_LETTERS);
    extract_text_puts(p->text, "</title>");
}

static void put_row(struct picture *p, const struct chart_row *row, long y)
{
    static const char *const classes[] = {[CHART_POST] = "m",
                                          [CHART_POST_FIRST] = "m",
                                          [CHART_TIMEOUT] = "o",
                                          [CHART_SYNCHRONOUS] = "y",
                                          [CHART_STATE] = "s"};
    make_label(p, row);
    if (p->text->code)
        return;
    extract_text_puts(p->text, "<g>");
    put_title(p, row);
    if (row->kind == CHART_POST_FIRST) {
        p->label.used--;
        extract_text_put(&p->label, " (first)", sizeof " (first)");
    }
    if (p->label.code)
        p->text->code = p->label.code;
    else if (row->kind == CHART_GET)
        put_get(p, row, y);
    else if (row->kind == CHART_NOTE)
        put_note(p, row, y);
    else if (row->kind >= CHART_ASSERTION)
        put_band(p, row, y);
    else
        put_arrow(p, row, classes[row->kind], y);
    extract_text_puts(p->text, "</g>\n");
}

static void put_times(struct picture *p)
{
    const struct chart *chart = p->chart;
    uint64_t last = UINT64_MAX;
    for (size_t i = 0; i < chart->count && !p->text->code; i++) {
        const struct chart_row *row = &chart->rows[i];
        if (!room_of(row) || !row->timed || row->ticks == last)
            continue;
        last = row->ticks;
        put_at(p, "t", "end", LEFT - 12, p->y[i]);
        chart_put_time(chart, row->ticks, p->text);
        extract_text_puts(p->text, "</text>\n");
    }
}

static void put_caption(struct picture *p)
{
    const struct chart *chart = p->chart;
    long y = 0;
    for (size_t i = 0, end; i < SENTENCES; i = end) {
        end = line_end(p, i);
        put_at(p, "g", NULL, MARGIN, y += LINE);
        for (size_t k = i; k < end; k++)
            extract_text_printf(p->text, "%s%s", k > i ? " " : "", sentence(p, k));
        extract_text_puts(p->text, "</text>\n");
    }
    if (!has_remark(chart))
        return;
    put_at(p, "at", NULL, MARGIN, y + LINE);
    if (chart->left_out)
        extract_text_printf(p->text,
                            "%" PRIu64 " older lines are left out: --last, --from and "
                            "--to choose.</text>\n",
                            chart->left_out);
    else
        extract_text_puts(p->text, "No event of the view is one of a chart.</text>\n");
}

static void draw(struct picture *p)
{
    extract_text_printf(p->text,
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%ld\" height=\"%ld\" "
                        "viewBox=\"0 0 %ld %ld\">\n<title>Message sequence chart</title>\n",
                        p->width, p->height, p->width, p->height);
    extract_text_puts(p->text, style);
    extract_text_puts(p->text, markers);
    extract_text_puts(p->text, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    put_caption(p);
    put_lives(p);
    put_bars(p);
    for (size_t i = 0; i < p->head_count; i++)
        put_heads(p, p->heads[i]);
    if (p->chart->timed)
        put_times(p);
    for (size_t i = 0; i < p->chart->count && !p->text->code; i++)
        if (room_of(&p->chart->rows[i]))
            put_row(p, &p->chart->rows[i], p->y[i]);
    extract_text_puts(p->text, "</svg>\n");
}

void chart_put_svg(struct chart *chart, struct extract_text *text)
{
    struct picture p = {.chart = chart, .text = text};
    extract_text_init(&p.label, NULL, NULL);
    if (measure(&p)) {
        if (place_rows(&p))
            draw(&p);
        else
            text->code = EXTRACT_NOMEM;
    }
    extract_text_free(&p.label);
    free(p.y);
    free(p.heads);
    free(p.open);
}
