// SPDX-License-Identifier: MIT
// export: a picture of a time as an SVG image, without scripts.
//
// The lanes are those of `ringside timeline`. What is narrower than a pixel is merged with what
// follows it in the same pixel. Shapes differ in height and texture as well as in color.
// Standard: SVG 1.1; the colors follow the viewer's preference for a light or a dark page.
#include "base/xml.h"
#include "export/exporter.h"
#include "report/lanes.h"
#include <stdio.h>
#include <stdlib.h>

enum {
    WIDTH = 960,
    LEFT = 160, // where the picture begins
    PLOT = WIDTH - LEFT - 10,
    TOP = 30,    // of the first lane
    TENTHS = 10, // coordinates have one decimal
    LETTER = 7,  // width of a letter, at most
    LABEL_DISTANCE = 110,
    MOST_NAME = 20
};

struct svg_lane {
    unsigned y, height;
    // What is narrower than a pixel, and not drawn yet:
    uint64_t pixel;
    unsigned parts; // 0: none
    uint64_t times[LANE_STATES];
};

struct svg {
    struct export_run *run;
    struct lanes lanes;
    struct svg_lane *list; // by lane; owned
    unsigned height;
};

static const char head[] =
    "<style>\n"
    "svg{--b:#fff;--t:#171b21;--u:#4b5563;--g:#e3e7ec;--r:#1f66c7;--y:#c27a00;--z:#f7dfb0;"
    "--k:#b8325e;--s:#71808f;--i:#35185f;--n:#808791;--l:#7a2e00;--m:#fdeee3;--w:#fff}\n"
    "@media(prefers-color-scheme:dark){svg{--b:#14171c;--t:#e8ebf0;--u:#b4bcc8;--g:#2b323c;"
    "--r:#5b9df5;--y:#f0b23a;--z:#4d3a12;--k:#e86a90;--s:#8291a5;--i:#d9c6ff;--n:#7d8794;"
    "--l:#ffb184;--m:#33231a;--w:#0b1220}}\n"
    "text{font:11px system-ui,sans-serif;fill:var(--u)}.n{font-size:12px;fill:var(--t)}"
    ".w{fill:var(--w)}.ax path{stroke:var(--g)}.bg{fill:var(--b)}.running{fill:var(--r)}"
    ".blocked{fill:var(--k)}.isr{fill:var(--i)}.ready{fill:url(#h)}"
    ".sleeping{stroke:var(--s);stroke-width:2;stroke-dasharray:2 3}"
    ".suspended{stroke:var(--s);stroke-width:2;stroke-dasharray:7 4}"
    ".unknown{fill:none;stroke:var(--n);stroke-dasharray:1 2}"
    ".lost{fill:url(#x);stroke:var(--l)}</style>\n"
    "<defs><pattern id=\"h\" width=\"5\" height=\"5\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"5\" height=\"5\" style=\"fill:var(--z)\"/>"
    "<path d=\"M-1 6L6-1M-1 1L1-1M4 6L6 4\" style=\"stroke:var(--y);stroke-width:1.7\"/></pattern>"
    "<pattern id=\"x\" width=\"8\" height=\"8\" patternUnits=\"userSpaceOnUse\">"
    "<rect width=\"8\" height=\"8\" style=\"fill:var(--m)\"/>"
    "<path d=\"M0 0L8 8\" style=\"stroke:var(--l)\"/></pattern></defs>\n";

// ---- words ----

// Writes a length of time with three digits, or ticks if the rate of the clock is not known.
static void put_length(struct export_run *run, uint64_t ticks)
{
    static const struct {
        const char *unit;
        double seconds;
    } units[] = {{"s", 1}, {"ms", 1e-3}, {"\xC2\xB5s", 1e-6}, {"ns", 1e-9}};
    double seconds = run->hz ? (double)ticks / (double)run->hz : 0;
    size_t i = 0;

    if (!run->hz) {
        extract_text_printf(run->text, "%llu ticks", (unsigned long long)ticks);
        return;
    }
    while (i + 1 < sizeof units / sizeof *units && seconds < units[i].seconds)
        i++;
    double value = seconds / units[i].seconds;
    extract_text_printf(run->text, "%.*f %s",
                        value < 10    ? 2
                        : value < 100 ? 1
                                      : 0,
                        value, units[i].unit);
}

static void put_title(struct svg *svg, size_t lane, const struct lane_part *part)
{
    struct extract_text *text = svg->run->text;
    const struct lane *of = lane < svg->lanes.count ? &svg->lanes.list[lane] : NULL;
    const struct extract_interval *interval = part->of_core;
    const struct extract_state *state = part->of_thread;
    char buffer[EXPORT_NAME_BYTES];

    extract_text_puts(text, "<title>");
    if (of)
        extract_xml_escaped(text, of->name);
    extract_text_puts(text, of ? ": " : "");
    if (interval && of->kind == LANE_CORE && interval->runner == EXTRACT_RUNNER_THREAD)
        extract_xml_escaped(text, export_name(svg->run, true, interval->thread, buffer));
    else if (interval && interval->runner == EXTRACT_RUNNER_ISR && interval->isr_known)
        extract_text_printf(text, "interrupt %llu", (unsigned long long)interval->isr);
    else if (interval)
        extract_text_puts(text, extract_runner_name(interval->runner));
    else
        extract_text_puts(text, state ? extract_thread_state_name(state->state)
                                      : lane_state_name(part->state));
    if (state && state->wait) {
        extract_text_printf(text, " on %s ", state->wait);
        if (state->object)
            extract_xml_escaped(text, export_name(svg->run, false, state->object, buffer));
    }
    if ((state && state->is_unsure) || (interval && interval->is_unsure))
        extract_text_puts(text, " (likely)");
    extract_text_puts(text, ", ");
    put_length(svg->run, part->to - part->from);
    extract_text_puts(text, " from ");
    put_length(svg->run, part->from);
    extract_text_puts(text, "</title>");
}

// ---- shapes ----

// Returns the x of a time, in tenths of a pixel.
static uint64_t x_of(const struct svg *svg, uint64_t time)
{
    const struct lanes *lanes = &svg->lanes;

    time = time < lanes->from ? lanes->from : time > lanes->to ? lanes->to : time;
    return LEFT * TENTHS + (uint64_t)((unsigned __int128)(time - lanes->from) * PLOT * TENTHS /
                                      (lanes->to - lanes->from));
}

// Begins the shape of a state, which ends with its title and put_end.
static void put_shape(struct svg *svg, size_t lane, enum lane_state state, bool is_isr,
                      uint64_t from, uint64_t to)
{
    const struct svg_lane *of = &svg->list[lane];
    unsigned full = of->height - 6, height = full;
    bool is_line = state == LANE_SLEEPING || state == LANE_SUSPENDED;

    if (state == LANE_READY)
        height = full * 46 / 100;
    else if (state == LANE_BLOCKED)
        height = full * 28 / 100;
    extract_text_printf(svg->run->text, "<%s class=\"%s\" ", is_line ? "path" : "rect",
                        is_isr && state == LANE_RUNNING ? "isr" : lane_state_name(state));
    if (is_line)
        extract_text_printf(
            svg->run->text, "d=\"M%llu.%llu %uh%llu.%llu\">", (unsigned long long)(from / TENTHS),
            (unsigned long long)(from % TENTHS), of->y + of->height - 4,
            (unsigned long long)((to - from) / TENTHS), (unsigned long long)((to - from) % TENTHS));
    else
        extract_text_printf(
            svg->run->text, "x=\"%llu.%llu\" y=\"%u\" width=\"%llu.%llu\" height=\"%u\">",
            (unsigned long long)(from / TENTHS), (unsigned long long)(from % TENTHS),
            of->y + 3 + full - height, (unsigned long long)((to - from) / TENTHS),
            (unsigned long long)((to - from) % TENTHS), height);
}

static void put_end(struct svg *svg, enum lane_state state)
{
    bool is_line = state == LANE_SLEEPING || state == LANE_SUSPENDED;

    extract_text_puts(svg->run->text, is_line ? "</path>\n" : "</rect>\n");
}

// Draws what was merged in a pixel of a lane: a run if there was one, otherwise the longest state.
static void flush_pixel(struct svg *svg, size_t lane)
{
    struct svg_lane *of = &svg->list[lane];
    enum lane_state shown = of->times[LANE_RUNNING] ? LANE_RUNNING : LANE_IDLE;

    if (!of->parts)
        return;
    for (unsigned state = LANE_READY; state < LANE_STATES && shown != LANE_RUNNING; state++)
        if (of->times[state] > of->times[shown])
            shown = (enum lane_state)state;
    if (shown != LANE_IDLE) {
        put_shape(svg, lane, shown, svg->lanes.list[lane].kind == LANE_ISR, of->pixel * TENTHS,
                  (of->pixel + 1) * TENTHS);
        extract_text_puts(svg->run->text, "<title>");
        extract_xml_escaped(svg->run->text, svg->lanes.list[lane].name);
        extract_text_printf(svg->run->text, ": %u parts that are narrower than this</title>",
                            of->parts);
        put_end(svg, shown);
    }
    of->parts = 0;
    memset(of->times, 0, sizeof of->times);
}

// Writes the name of what has a core into its bar, if it fits.
static void put_label(struct svg *svg, size_t lane, const struct lane_part *part, uint64_t from,
                      uint64_t to)
{
    const struct extract_interval *interval = part->of_core;
    char buffer[EXPORT_NAME_BYTES];

    if (!interval || interval->runner != EXTRACT_RUNNER_THREAD || part->state != LANE_RUNNING)
        return;
    const char *name = export_name(svg->run, true, interval->thread, buffer);
    if ((to - from) / TENTHS < (strlen(name) + 1) * LETTER)
        return;
    extract_text_printf(svg->run->text, "<text class=\"w\" x=\"%llu\" y=\"%u\">",
                        (unsigned long long)(from / TENTHS + 4), svg->list[lane].y + 17);
    extract_xml_escaped(svg->run->text, name);
    extract_text_puts(svg->run->text, "</text>\n");
}

static void put_part(void *context, size_t lane, const struct lane_part *part)
{
    struct svg *svg = context;
    uint64_t from = x_of(svg, part->from), to = x_of(svg, part->to);

    if (part->state == LANE_IDLE || part->to <= svg->lanes.from || part->from >= svg->lanes.to)
        return;
    if (lane == svg->lanes.count) { // over all lanes, and never narrower than four pixels
        to = to - from < 4 * TENTHS ? from + 4 * TENTHS : to;
        put_shape(svg, lane, LANE_LOST, false, from, to);
        put_title(svg, lane, part);
        put_end(svg, LANE_LOST);
        return;
    }
    struct svg_lane *of = &svg->list[lane];
    if (of->parts && of->pixel != from / TENTHS)
        flush_pixel(svg, lane);
    if (to - from < TENTHS) {
        of->pixel = from / TENTHS;
        of->parts++;
        of->times[part->state] += part->to - part->from;
        return;
    }
    flush_pixel(svg, lane);
    bool is_isr = part->of_core && part->of_core->runner == EXTRACT_RUNNER_ISR;
    put_shape(svg, lane, part->state, is_isr, from, to);
    put_title(svg, lane, part);
    put_end(svg, part->state);
    put_label(svg, lane, part, from, to);
}

// ---- the picture ----

static void put_axis(struct svg *svg)
{
    struct extract_text *text = svg->run->text;
    const struct lanes *lanes = &svg->lanes;
    struct lanes_axis axis = lanes_axis_choose(lanes, svg->run->hz, PLOT, LABEL_DISTANCE);
    uint64_t time;
    bool has_label = lanes_axis_first(lanes, &axis, &time);

    extract_text_puts(text, "<g class=\"ax\">\n");
    for (; has_label; has_label = lanes_axis_next(lanes, &axis, &time)) {
        uint64_t x = x_of(svg, time);
        extract_text_printf(text, "<path d=\"M%llu.%llu %uV%u\"/>",
                            (unsigned long long)(x / TENTHS), (unsigned long long)(x % TENTHS),
                            TOP - 6, svg->height);
        extract_text_printf(text, "<text x=\"%llu\" y=\"16\" text-anchor=\"%s\">%.0f %s</text>\n",
                            (unsigned long long)(x / TENTHS),
                            x / TENTHS > WIDTH - 50 ? "end" : "middle",
                            (double)time * axis.per_tick, axis.unit);
    }
    extract_text_puts(text, "</g>\n");
}

// Writes a name that is cut to the space before the picture.
static void put_name(struct svg *svg, size_t lane)
{
    const char *name = svg->lanes.list[lane].name;
    char cut[4 * MOST_NAME + 8];
    size_t bytes = 0;

    for (unsigned letters = 0; name[bytes] && letters < MOST_NAME; letters++)
        do
            bytes++;
        while (((unsigned char)name[bytes] & 0xC0) == 0x80);
    snprintf(cut, sizeof cut, "%.*s%s", (int)bytes, name, name[bytes] ? "\xE2\x80\xA6" : "");
    extract_text_printf(svg->run->text, "<text class=\"n\" x=\"8\" y=\"%u\">",
                        svg->list[lane].y + svg->list[lane].height / 2 + 4);
    extract_xml_escaped(svg->run->text, cut);
    extract_text_puts(svg->run->text, "</text>\n");
}

static void draw(struct svg *svg)
{
    static const unsigned heights[] = {[LANE_CORE] = 28, [LANE_ISR] = 20, [LANE_THREAD] = 28};
    struct extract_text *text = svg->run->text;
    unsigned y = TOP;

    for (size_t i = 0; i < svg->lanes.count; i++) {
        svg->list[i].y = y;
        svg->list[i].height = heights[svg->lanes.list[i].kind];
        y += svg->list[i].height;
    }
    svg->height = y + 8;
    svg->list[svg->lanes.count].y = TOP - 3; // what is lost
    svg->list[svg->lanes.count].height = y - TOP + 6;
    extract_text_printf(text,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" "
                        "width=\"%u\" height=\"%u\" role=\"img\" aria-labelledby=\"t\">"
                        "<title id=\"t\">",
                        WIDTH, svg->height, WIDTH, svg->height);
    extract_xml_escaped(text, extract_trace_info(svg->run->trace)->format);
    extract_text_puts(text, ", ");
    put_length(svg->run, svg->lanes.to - svg->lanes.from);
    extract_text_puts(text, " from ");
    put_length(svg->run, svg->lanes.from);
    if (svg->lanes.left_out)
        extract_text_printf(text, ", %zu more lanes are left out", svg->lanes.left_out);
    extract_text_puts(text, "</title>");
    extract_text_puts(text, head);
    extract_text_printf(text, "<rect class=\"bg\" width=\"%u\" height=\"%u\"/>\n", WIDTH,
                        svg->height);
    put_axis(svg);
    for (size_t i = 0; i < svg->lanes.count; i++)
        put_name(svg, i);
    enum extract_code code = lanes_walk(&svg->lanes, put_part, svg, svg->run->error);
    for (size_t i = 0; i < svg->lanes.count && !code; i++)
        flush_pixel(svg, i);
    extract_text_puts(text, "</svg>\n");
    if (code && !svg->run->code)
        svg->run->code = code;
}

// A picture of no time is a sentence, as that of ringside timeline is.
static void draw_nothing(struct export_run *run)
{
    extract_text_printf(run->text,
                        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %u %u\" "
                        "width=\"%u\" height=\"%u\" role=\"img\" aria-labelledby=\"t\">"
                        "<title id=\"t\">no time passed between the events</title>",
                        WIDTH, 2 * TOP, WIDTH, 2 * TOP);
    extract_text_puts(run->text, head);
    extract_text_printf(run->text, "<rect class=\"bg\" width=\"%u\" height=\"%u\"/>\n", WIDTH,
                        2 * TOP);
    extract_text_printf(run->text,
                        "<text class=\"n\" x=\"8\" y=\"%u\">no time passed between the "
                        "events</text>\n</svg>\n",
                        TOP);
}

static void begin(struct export_run *run)
{
    struct svg *svg = run->state;
    enum extract_code code = lanes_open(&svg->lanes, run->view, run->trace, run->error);

    svg->run = run;
    if (code)
        run->code = code;
    if (!run->code && svg->lanes.from >= svg->lanes.to) {
        draw_nothing(run);
        return;
    }
    if (!run->code)
        svg->list = calloc(svg->lanes.count + 1, sizeof *svg->list);
    if (!run->code && !svg->list)
        export_fail(run, EXTRACT_NOMEM, "svg", "out of memory");
    if (!run->code)
        draw(svg);
}

static void close_svg(struct export_run *run)
{
    struct svg *svg = run->state;

    lanes_free(&svg->lanes);
    free(svg->list);
}

const struct exporter export_svg = {
    .kind = {"svg", ".svg", "a picture of the schedule", EXTRACT_EXPORT_STREAM},
    .state_bytes = sizeof(struct svg),
    .is_of_schedule = true,
    .begin = begin,
    .close = close_svg,
};
