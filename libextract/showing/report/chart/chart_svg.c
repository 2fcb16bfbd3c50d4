// SPDX-License-Identifier: MIT
// report/chart: draws the message sequence chart as an SVG image, which needs no other files.
//
//      caption
//                 ┌────────┐      ┌────────┐      ◄── heads, repeated every HEADS_EVERY pixels
//                 │ client │      │ server │
//                 └───┬────┘      └───┬────┘
//      0.001234       ├──── REQ ─────►│           post
//      0.001240       │               ● REQ +6    get, and how long the event waited
//                     │               ┃           bar: the event is processed
//
// Charts of other formats than RKH have more kinds of arrows, and a column for each object in which
// messages lie:
//
//      120       sensor ├──── queue send: samples ─────►│ samples        put
//      180       filter │◄──── queue receive: samples +60                take
//      200       filter ○ waits: samples                               wait
//
// All labels are measured first, since they decide on the width of the columns. Then each row gets
// its place, and the elements are written from the back to the front.
//
// Standards: SVG 1.1 (W3C, 2011); XML 1.0, section 2.2 (characters).
#include "base/printable.h"
#include "base/xml.h"
#include "report/chart/chart.h"
#include <inttypes.h>
#include <stdlib.h>

// Lengths are in pixels unless another unit is given.
enum {
    LEFT = 96,          // of the first column
    MARGIN = 12,        // of the caption
    LINE = 18,          // height of a line of the caption
    CAPTION_LINES = 2,  // minimum
    LETTER = 7,         // approximate width of a letter
    MIN_COLUMN = 104,   // width
    MAX_COLUMN = 200,   // width
    MIN_WIDTH = 640,    // of the image
    HEAD_HEIGHT = 38,   // of a row of heads
    HEADS_EVERY = 1100, // distance between two rows of heads
    LABEL_LETTERS = 32, // longest label, in characters
    CALL_LETTERS = 44,  // the same, of a chart of calls, whose labels name objects
    CALL_COLUMN = 280,  // maximum width of a column of such a chart
    NAME_LETTERS = 26,  // longest name of a column, in characters
    TITLE_LETTERS = 160 // longest title of a row, in characters
};

struct picture {
    struct chart *chart;
    struct extract_text *text;
    struct extract_text label; // of the current row
    long width, height, column_width;
    long top;          // of the first heads
    long *y;           // baseline of each row
    long *heads;       // top of each row of heads
    size_t head_count; // rows of heads
    size_t *bar_start; // per column: row + 1 in which its open bar starts; 0: none
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

// What charts of calls add.
static const char style_of_calls[] =
    "<style>\n"
    ".hs{fill:#fff6d6;stroke:#d0b250}.ring{fill:#fff;stroke:#6b7780;stroke-width:1.4}\n"
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

static void put_character(struct extract_text *text, const char *at, size_t length)
{
    if (length)
        extract_xml_put(text, at, length);
    else
        extract_text_printf(text, "\\x%02x", (unsigned char)*at);
}

// Writes at most `max` characters of a string.
static void put_text(struct extract_text *text, const char *string, size_t max)
{
    for (size_t i = 0; *string; i++) {
        size_t length = extract_printable(string);
        if (i == max) {
            extract_text_puts(text, "…");
            return;
        }
        put_character(text, string, length);
        string += length ? length : 1;
    }
}

static size_t label_letters(const struct picture *p)
{
    return p->chart->is_rkh ? LABEL_LETTERS : CALL_LETTERS;
}

// Starts a text element.
static void open_text(struct picture *p, const char *class, const char *anchor, long x, long y)
{
    extract_text_printf(p->text, "<text class=\"%s\" x=\"%ld\" y=\"%ld\"%s%s%s>", class, x, y,
                        anchor ? " text-anchor=\"" : "", anchor ? anchor : "", anchor ? "\"" : "");
}

static void put_label(struct picture *p, const char *class, const char *anchor, long x, long y)
{
    open_text(p, class, anchor, x, y);
    put_text(p->text, p->label.data, label_letters(p));
    extract_text_puts(p->text, "</text>");
}

// ---- places ----

// Returns the middle of a column.
static long column_x(const struct picture *p, size_t column)
{
    return LEFT + (long)column * p->column_width + p->column_width / 2;
}

static long lifeline_x(const struct picture *p, uint32_t lifeline)
{
    return column_x(p, chart_column(p->chart, lifeline));
}

// Returns the height of a row; 0: it is not drawn.
static long row_height(const struct chart_row *row)
{
    switch (row->kind) {
    case CHART_DONE:
        return 0;
    case CHART_GET:
    case CHART_RECEIVED:
    case CHART_WAIT:
        return 20;
    case CHART_STATE:
        return 26;
    default:
        return 28;
    }
}

// Makes the label of a row, NUL-terminated.
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

// Returns the i-th sentence of the caption.
static const char *caption_sentence(const struct picture *p, size_t i)
{
    static const char *const legend[] = {"Dot: an event is taken, and how long it waited.",
                                         "Bar: it is processed.", "Loop: the next state.",
                                         "Dashed: a timeout."};
    static const char *const legend_of_calls[] = {
        "Thin arrow: into an object, or out of it, and how long it lay there.",
        "Thick arrow: a call ends the wait of a thread.", "Ring: a thread waits.",
        "Dashed: a timeout."};

    if (i)
        return p->chart->is_rkh ? legend[i - 1] : legend_of_calls[i - 1];
    return !p->chart->is_timed ? "No stamp gives a time."
           : p->chart->hz      ? "Times in seconds."
                               : "Times in ticks.";
}

// Returns the first sentence that does not fit on the line that starts with sentence `from`.
static size_t line_end(const struct picture *p, size_t from)
{
    size_t max_letters = (size_t)(p->width - 2 * MARGIN) / LETTER;
    size_t used = strlen(caption_sentence(p, from));

    while (++from < SENTENCES && used + 1 + strlen(caption_sentence(p, from)) <= max_letters)
        used += 1 + strlen(caption_sentence(p, from));
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

// Chooses the widths so that most labels fit, and places the caption. Returns false on failure.
static bool choose_widths(struct picture *p)
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
    longest = longest > label_letters(p) + 3 ? label_letters(p) + 3 : longest;
    p->column_width = (long)longest * LETTER + 24;
    long max_column = chart->is_rkh ? MAX_COLUMN : CALL_COLUMN;
    p->column_width = p->column_width < MIN_COLUMN   ? MIN_COLUMN
                      : p->column_width > max_column ? max_column
                                                     : p->column_width;
    p->width = LEFT + (long)chart->column_count * p->column_width + (long)longest * LETTER;
    p->width = p->width < MIN_WIDTH ? MIN_WIDTH : p->width;
    long lines = caption_lines(p);
    p->top = 10 + LINE * (lines < CAPTION_LINES ? CAPTION_LINES : lines);
    return !p->text->code;
}

// Gives each row and each repetition of the heads its place. Returns false if memory is short.
static bool place_rows(struct picture *p)
{
    const struct chart *chart = p->chart;
    long y = p->top + HEAD_HEIGHT, head = p->top;

    p->y = malloc((chart->count + 1) * sizeof *p->y);
    p->heads = malloc((chart->count + 1) * sizeof *p->heads);
    p->bar_start = calloc(chart->column_count + 1, sizeof *p->bar_start);
    if (!p->y || !p->heads || !p->bar_start)
        return false;
    p->heads[p->head_count++] = head;
    for (size_t i = 0; i < chart->count; i++) {
        if (y - head > HEADS_EVERY && row_height(&chart->rows[i])) {
            head = y + 14;
            p->heads[p->head_count++] = head;
            y = head + HEAD_HEIGHT;
        }
        y += row_height(&chart->rows[i]);
        p->y[i] = y;
    }
    p->height = y + 30;
    return true;
}

// ---- the background ----

static void put_heads(struct picture *p, long y)
{
    const struct chart *chart = p->chart;

    for (size_t i = 0; i < chart->column_count && !p->text->code; i++) {
        bool is_object = chart->columns[i].role == CHART_IS_OBJECT;
        bool is_store = chart->columns[i].role == CHART_IS_STORE;
        extract_text_printf(p->text,
                            "<rect class=\"%s\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"24\" "
                            "rx=\"%d\"/>",
                            is_object  ? "hb"
                            : is_store ? "hs"
                                       : "he",
                            column_x(p, i) - p->column_width / 2 + 4, y, p->column_width - 8,
                            is_object ? 3 : 11);
        open_text(p, is_object ? "h" : "g", "middle", column_x(p, i), y + 16);
        put_text(p->text, chart_column_name(chart, i),
                 (size_t)(p->column_width - 16) / (LETTER + 1) < NAME_LETTERS
                     ? (size_t)(p->column_width - 16) / (LETTER + 1)
                     : NAME_LETTERS);
        extract_text_puts(p->text, "</text>\n");
    }
}

// Draws the dashed line below each head.
static void put_lifelines(struct picture *p)
{
    for (size_t i = 0; i < p->chart->column_count && !p->text->code; i++)
        extract_text_printf(p->text, "<path class=\"life\" d=\"M%ld %ldV%ld\"/>\n", column_x(p, i),
                            p->top + 24, p->height - 12);
}

static void put_bar(struct picture *p, size_t column, long to)
{
    if (!p->bar_start[column])
        return;
    long from = p->y[p->bar_start[column] - 1] - 4;
    extract_text_printf(p->text,
                        "<rect class=\"bar\" x=\"%ld\" y=\"%ld\" width=\"8\" height=\"%ld\"/>\n",
                        column_x(p, column) - 4, from, to - from > 6 ? to - from : 6);
    p->bar_start[column] = 0;
}

// Draws a bar from each get to the end of its processing. After a loss, the end is not known.
static void put_bars(struct picture *p)
{
    const struct chart *chart = p->chart;

    for (size_t i = 0; i < chart->count && !p->text->code; i++) {
        const struct chart_row *row = &chart->rows[i];
        if (row->kind == CHART_GET)
            p->bar_start[chart_column(chart, row->to)] = i + 1;
        else if (row->kind == CHART_DONE)
            put_bar(p, chart_column(chart, row->to), p->y[i] + 4);
        else if (row->kind >= CHART_LOSS)
            memset(p->bar_start, 0, chart->column_count * sizeof *p->bar_start);
    }
}

// ---- rows ----

// Draws an arrow between two columns, or a loop at one.
static void put_arrow(struct picture *p, const struct chart_row *row, const char *class, long y)
{
    long from = lifeline_x(p, row->from), to = lifeline_x(p, row->to);

    if (from == to) {
        extract_text_printf(p->text,
                            "<path class=\"%s\" d=\"M%ld %ldh22v10h-18\" "
                            "marker-end=\"url(#%s)\"/>",
                            class, from + 4, y - 12, class);
        put_label(p, strcmp(class, "s") == 0 ? "w st" : "w", NULL, from + 32, y - 3);
        return;
    }
    extract_text_printf(p->text, "<path class=\"%s\" d=\"M%ld %ldH%ld\" marker-end=\"url(#%s)\"/>",
                        class, from < to ? from + 4 : from - 4, y - 4, from < to ? to - 4 : to + 4,
                        class);
    open_text(p, "w", "middle", (from + to) / 2, y - 9);
    put_text(p->text, p->label.data, label_letters(p));
    if (row->kind == CHART_TAKE && row->is_timed && row->waited >= 0) {
        extract_text_puts(p->text, " +");
        chart_put_time(p->chart, (uint64_t)row->waited, p->text);
    }
    extract_text_puts(p->text, "</text>");
}

static void put_get(struct picture *p, const struct chart_row *row, long y)
{
    long x = lifeline_x(p, row->to);

    extract_text_printf(p->text, "<circle class=\"dot\" cx=\"%ld\" cy=\"%ld\" r=\"3\"/>", x, y - 4);
    open_text(p, "w g", NULL, x + 9, y);
    put_text(p->text, p->label.data, label_letters(p));
    if (row->is_timed && row->waited >= 0) {
        extract_text_puts(p->text, " +");
        chart_put_time(p->chart, (uint64_t)row->waited, p->text);
    } else {
        extract_text_puts(p->text, row->is_timed && p->chart->is_rkh ? " +?" : "");
    }
    extract_text_puts(p->text, "</text>");
}

static void put_wait(struct picture *p, const struct chart_row *row, long y)
{
    long x = lifeline_x(p, row->to);

    extract_text_printf(p->text, "<circle class=\"ring\" cx=\"%ld\" cy=\"%ld\" r=\"3\"/>", x,
                        y - 4);
    put_label(p, "w g", NULL, x + 9, y);
}

static void put_note(struct picture *p, const struct chart_row *row, long y)
{
    long x = lifeline_x(p, row->to);
    size_t columns = extract_text_columns(p->label.data);
    size_t letters = label_letters(p);
    long width = (long)(columns > letters ? letters + 1 : columns) * LETTER + 12;

    extract_text_printf(p->text,
                        "<rect class=\"n\" x=\"%ld\" y=\"%ld\" width=\"%ld\" height=\"18\" "
                        "rx=\"4\"/>",
                        x - width / 2, y - 16, width);
    put_label(p, "g", "middle", x, y - 3);
}

static void put_band(struct picture *p, const struct chart_row *row, long y)
{
    bool is_assertion = row->kind == CHART_ASSERTION;

    extract_text_printf(p->text,
                        "<rect class=\"%s\" x=\"%d\" y=\"%ld\" width=\"%ld\" height=\"20\"/>",
                        is_assertion ? "a" : "l", LEFT, y - 18, p->width - LEFT - 20);
    open_text(p, is_assertion ? "at" : "g", "middle", LEFT + (p->width - LEFT - 20) / 2, y - 4);
    put_text(p->text, p->label.data, TITLE_LETTERS);
    extract_text_puts(p->text, "</text>");
}

// Writes the title of a row, which viewers show under the pointer.
static void put_title(struct picture *p, const struct chart_row *row)
{
    extract_text_printf(p->text, "<title>seq %" PRIu64, row->seq);
    if (row->is_timed) {
        extract_text_puts(p->text, p->chart->hz ? ", seconds " : ", ticks ");
        chart_put_time(p->chart, row->ticks, p->text);
    }
    extract_text_puts(p->text, ": ");
    bool has_type = p->chart->is_rkh || row->kind == CHART_WAIT || row->kind == CHART_EXPIRED;
    if (row->type && has_type) { // the labels of calls begin with the type
        put_text(p->text, row->type->name, TITLE_LETTERS);
        extract_text_puts(p->text, ", ");
    }
    size_t end = p->label.used - 1; // of the label, without its NUL
    p->label.used = end;
    chart_put_origin(p->chart, row, &p->label);
    extract_text_putc(&p->label, 0);
    if (!p->label.code) {
        put_text(p->text, p->label.data, TITLE_LETTERS);
        p->label.used = end;
        extract_text_putc(&p->label, 0);
    }
    extract_text_puts(p->text, "</title>");
}

static void put_row(struct picture *p, const struct chart_row *row, long y)
{
    static const char *const classes[] = {
        [CHART_POST] = "m",        [CHART_POST_FIRST] = "m", [CHART_TIMEOUT] = "o",
        [CHART_SYNCHRONOUS] = "y", [CHART_STATE] = "s",      [CHART_PUT] = "m",
        [CHART_TAKE] = "m",        [CHART_WAKE] = "y",       [CHART_EXPIRED] = "o"};

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
    else if (row->kind == CHART_GET || row->kind == CHART_RECEIVED)
        put_get(p, row, y);
    else if (row->kind == CHART_WAIT)
        put_wait(p, row, y);
    else if (row->kind == CHART_NOTE || row->kind == CHART_FAILED)
        put_note(p, row, y);
    else if (row->kind >= CHART_ASSERTION)
        put_band(p, row, y);
    else
        put_arrow(p, row, classes[row->kind], y);
    extract_text_puts(p->text, "</g>\n");
}

// Writes the times of the rows, each time once.
static void put_times(struct picture *p)
{
    const struct chart *chart = p->chart;
    uint64_t last = UINT64_MAX;

    for (size_t i = 0; i < chart->count && !p->text->code; i++) {
        const struct chart_row *row = &chart->rows[i];
        if (!row_height(row) || !row->is_timed || row->ticks == last)
            continue;
        last = row->ticks;
        open_text(p, "t", "end", LEFT - 12, p->y[i]);
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
        open_text(p, "g", NULL, MARGIN, y += LINE);
        for (size_t k = i; k < end; k++)
            extract_text_printf(p->text, "%s%s", k > i ? " " : "", caption_sentence(p, k));
        extract_text_puts(p->text, "</text>\n");
    }
    if (!has_remark(chart))
        return;
    open_text(p, "at", NULL, MARGIN, y + LINE);
    if (chart->left_out)
        extract_text_printf(p->text,
                            "%" PRIu64 " older lines are left out: choose with --last, "
                            "--from and --to.</text>\n",
                            chart->left_out);
    else
        extract_text_puts(p->text, "The view has no event for a chart.</text>\n");
}

static void draw_chart(struct picture *p)
{
    extract_text_printf(p->text,
                        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%ld\" height=\"%ld\" "
                        "viewBox=\"0 0 %ld %ld\">\n<title>Message sequence chart</title>\n",
                        p->width, p->height, p->width, p->height);
    extract_text_puts(p->text, style);
    if (!p->chart->is_rkh)
        extract_text_puts(p->text, style_of_calls);
    extract_text_puts(p->text, markers);
    extract_text_puts(p->text, "<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
    put_caption(p);
    put_lifelines(p);
    put_bars(p);
    for (size_t i = 0; i < p->head_count; i++)
        put_heads(p, p->heads[i]);
    if (p->chart->is_timed)
        put_times(p);
    for (size_t i = 0; i < p->chart->count && !p->text->code; i++)
        if (row_height(&p->chart->rows[i]))
            put_row(p, &p->chart->rows[i], p->y[i]);
    extract_text_puts(p->text, "</svg>\n");
}

void chart_put_svg(struct chart *chart, struct extract_text *text)
{
    struct picture p = {.chart = chart, .text = text};

    extract_text_init(&p.label, NULL, NULL);
    if (choose_widths(&p)) {
        if (place_rows(&p))
            draw_chart(&p);
        else
            text->code = EXTRACT_NOMEM;
    }
    extract_text_free(&p.label);
    free(p.y);
    free(p.heads);
    free(p.bar_start);
}
