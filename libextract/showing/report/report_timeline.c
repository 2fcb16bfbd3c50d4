// SPDX-License-Identifier: MIT
// report: the schedule as a picture of characters, one lane per line.
//
//                     99.0 ms         100.0 ms
//             ────────┬───────────────┬───────────
//   waiter 0  ▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂▂
//   locker 4  ········▌███▌·······················
//
// A column shows the state in which the lane was for the longest part of its time. If it ran in a
// column, but not for the longest part, the column says so. The axis shows where entries are lost.
#define _GNU_SOURCE // uselocale, wcwidth
#include "base/printable.h"
#include "report/report_room.h"
#include "report/lanes.h"
#include <langinfo.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <wchar.h>

enum {
    DEFAULT_WIDTH = 80,
    LEAST_WIDTH = 20,
    MOST_WIDTH = 1000,
    MOST_NAME = 20,     // columns of a name
    LABEL_COLUMNS = 16, // least distance of two labels of the axis
    PART = LANE_STATES, // a run that is not the longest part
    SHAPES
};

// The characters of the states, in UTF-8 and in ASCII, and their colors (ECMA-48, SGR).
static const struct {
    const char *shape, *ascii, *color, *word;
} shapes[SHAPES] = {
    [LANE_IDLE] = {" ", " ", "", NULL},
    [LANE_RUNNING] = {"█", "#", "\033[34m", "running"},
    [PART] = {"▌", "|", "\033[34m", "ran for a part"},
    [LANE_READY] = {"▒", "=", "\033[33m", "ready"},
    [LANE_BLOCKED] = {"▂", "_", "\033[31m", "blocked"},
    [LANE_SLEEPING] = {"·", ".", "", "sleeping"},
    [LANE_SUSPENDED] = {"┄", "-", "", "suspended or ended"},
    [LANE_UNKNOWN] = {"?", "?", "", "unknown"},
    [LANE_LOST] = {"╱", "/", "\033[31m", "lost"},
};

struct timeline {
    struct extract_text *text;
    const struct extract_report_options *options;
    struct lanes lanes;
    unsigned columns, names; // width of the picture, and of the names
    uint64_t *times;         // of a lane, a column, and a state: ticks; owned
    uint64_t *lost;          // of a column: ticks; part of `times`
    bool has_shape[SHAPES];
};

static uint64_t *times_of(const struct timeline *timeline, size_t lane, unsigned column)
{
    return &timeline->times[(lane * timeline->columns + column) * LANE_STATES];
}

// Returns the time at which a column begins.
static uint64_t column_time(const struct timeline *timeline, uint64_t column)
{
    const struct lanes *lanes = &timeline->lanes;

    return lanes->from +
           (uint64_t)((unsigned __int128)(lanes->to - lanes->from) * column / timeline->columns);
}

static unsigned column_of(const struct timeline *timeline, uint64_t time)
{
    const struct lanes *lanes = &timeline->lanes;
    uint64_t span = lanes->to - lanes->from;
    unsigned column =
        (unsigned)((unsigned __int128)(time - lanes->from) * timeline->columns / span);

    // Both divisions round down.
    while (column + 1 < timeline->columns && column_time(timeline, column + 1) <= time)
        column++;
    return column < timeline->columns ? column : timeline->columns - 1;
}

// Adds a part of a lane to its columns. What is lost is in all lanes.
static void add_part(void *context, size_t lane, const struct lane_part *part)
{
    struct timeline *timeline = context;
    const struct lanes *lanes = &timeline->lanes;
    uint64_t from = part->from < lanes->from ? lanes->from : part->from;
    uint64_t to = part->to > lanes->to ? lanes->to : part->to;

    if (from >= to)
        return;
    for (unsigned column = column_of(timeline, from); from < to; column++) {
        uint64_t end = column_time(timeline, column + 1);
        uint64_t stop = end < to && column + 1 < timeline->columns ? end : to;
        uint64_t *times = lane < lanes->count ? times_of(timeline, lane, column) : NULL;
        if (times)
            times[part->state] += stop - from;
        else
            timeline->lost[column] += stop - from;
        from = stop;
    }
}

// Returns the shape of a column of a lane.
static unsigned shape_of(const struct timeline *timeline, size_t lane, unsigned column)
{
    const uint64_t *times = times_of(timeline, lane, column);
    uint64_t lost = timeline->lost[column];
    uint64_t all = column_time(timeline, column + 1) - column_time(timeline, column);
    unsigned longest = LANE_IDLE;
    uint64_t most = all; // the rest of the time: an interrupt does not run

    for (unsigned state = LANE_RUNNING; state < LANE_STATES; state++)
        most -= times[state] < most ? times[state] : most;
    for (unsigned state = LANE_RUNNING; state < LANE_STATES; state++)
        if (times[state] > most) {
            most = times[state];
            longest = state;
        }
    if (lost && lost * 2 >= all)
        return LANE_LOST;
    return longest != LANE_RUNNING && times[LANE_RUNNING] ? PART : longest;
}

// ---- text ----

// Writes a name that is cut to a number of columns.
static void put_name(struct timeline *timeline, const char *name)
{
    unsigned width, most = timeline->names;
    size_t end = extract_printable_fitting(name, most, &width);
    bool is_cut = name[end];

    if (is_cut)
        end = extract_printable_fitting(name, most - 1, &width);
    extract_text_put(timeline->text, name, end);
    if (is_cut)
        extract_text_puts(timeline->text, timeline->options->ascii ? "~" : "…");
    extract_text_pad(timeline->text, ' ', most - width - is_cut + 1);
}

static void put_axis(struct timeline *timeline)
{
    struct extract_text *text = timeline->text;
    const struct lanes *lanes = &timeline->lanes;
    struct lanes_axis axis =
        lanes_axis_choose(lanes, timeline->options->hz, timeline->columns, LABEL_COLUMNS);
    bool ascii = timeline->options->ascii;
    uint64_t tick;
    bool has_tick = lanes_axis_first(lanes, &axis, &tick);
    unsigned at = 0;

    extract_text_pad(text, ' ', timeline->names + 1);
    for (; has_tick; has_tick = lanes_axis_next(lanes, &axis, &tick)) {
        char label[48];
        unsigned column = column_of(timeline, tick);
        int length =
            snprintf(label, sizeof label, "%.0f %s", (double)tick * axis.per_tick, axis.unit);
        if (column < at || column + (unsigned)length > timeline->columns)
            continue;
        extract_text_pad(text, ' ', column - at);
        extract_text_puts(text, label);
        at = column + (unsigned)length;
    }
    extract_text_putc(text, '\n');
    extract_text_pad(text, ' ', timeline->names + 1);
    has_tick = lanes_axis_first(lanes, &axis, &tick);
    for (unsigned column = 0; column < timeline->columns; column++) {
        bool is_tick = has_tick && column_of(timeline, tick) == column;
        bool is_lost = timeline->lost[column];
        timeline->has_shape[LANE_LOST] |= is_lost;
        if (is_lost)
            extract_text_puts(text, ascii ? shapes[LANE_LOST].ascii : shapes[LANE_LOST].shape);
        else
            extract_text_puts(text, is_tick ? ascii ? "+" : "┬" : ascii ? "-" : "─");
        while (has_tick && column_of(timeline, tick) <= column)
            has_tick = lanes_axis_next(lanes, &axis, &tick);
    }
    extract_text_putc(text, '\n');
}

static void put_lane(struct timeline *timeline, size_t lane)
{
    struct extract_text *text = timeline->text;
    bool color = timeline->options->color, ascii = timeline->options->ascii;
    const char *now = "";

    put_name(timeline, timeline->lanes.list[lane].name);
    for (unsigned column = 0; column < timeline->columns; column++) {
        unsigned shape = shape_of(timeline, lane, column);
        timeline->has_shape[shape] = true;
        if (color && strcmp(now, shapes[shape].color) != 0) {
            extract_text_puts(text, *now ? "\033[0m" : "");
            extract_text_puts(text, shapes[shape].color);
            now = shapes[shape].color;
        }
        extract_text_puts(text, ascii ? shapes[shape].ascii : shapes[shape].shape);
    }
    extract_text_puts(text, *now ? "\033[0m\n" : "\n");
}

static void put_legend(struct timeline *timeline)
{
    static const unsigned order[] = {LANE_RUNNING,  PART,           LANE_READY,   LANE_BLOCKED,
                                     LANE_SLEEPING, LANE_SUSPENDED, LANE_UNKNOWN, LANE_LOST};
    unsigned width = timeline->columns + timeline->names + 1, used = 0;

    for (size_t i = 0; i < sizeof order / sizeof *order; i++) {
        unsigned shape = order[i];
        unsigned length = (unsigned)strlen(shapes[shape].word) + 2 + (used ? 2 : 0);
        if (!timeline->has_shape[shape])
            continue;
        bool is_new_line = used && used + length > width;
        extract_text_puts(timeline->text, is_new_line ? "\n" : used ? "  " : "");
        used = is_new_line ? length - 2 : used + length;
        extract_text_puts(timeline->text,
                          timeline->options->ascii ? shapes[shape].ascii : shapes[shape].shape);
        extract_text_printf(timeline->text, " %s", shapes[shape].word);
    }
    if (used)
        extract_text_putc(timeline->text, '\n');
    if (timeline->lanes.left_out)
        extract_text_printf(timeline->text, "%zu more lanes: choose threads with --thread\n",
                            timeline->lanes.left_out);
}

// ---- JSON ----

static void put_json_lane(struct timeline *timeline, size_t lane)
{
    static const char *const kinds[] = {"core", "isr", "thread"};
    struct extract_text *text = timeline->text;
    const struct lane *of = &timeline->lanes.list[lane];

    extract_text_printf(text, "{\"lane\":\"%s\",\"%s\":%llu,\"name\":", kinds[of->kind],
                        of->kind == LANE_THREAD ? "address" : "number",
                        (unsigned long long)of->key);
    extract_text_json(text, of->name);
    extract_text_puts(text, ",\"columns\":[");
    for (unsigned column = 0; column < timeline->columns; column++) {
        unsigned shape = shape_of(timeline, lane, column);
        extract_text_printf(text, "%s\"%s\"", column ? "," : "",
                            shape == PART ? "part" : lane_state_name((enum lane_state)shape));
    }
    extract_text_puts(text, "]}\n");
}

static void put_all(struct timeline *timeline)
{
    struct lanes *lanes = &timeline->lanes;

    if (timeline->options->json) {
        extract_text_printf(timeline->text,
                            "{\"from\":%llu,\"to\":%llu,\"columns\":%u,\"left_out\":%zu,\"lost\":[",
                            (unsigned long long)lanes->from, (unsigned long long)lanes->to,
                            timeline->columns, lanes->left_out);
        bool is_first = true;
        for (unsigned column = 0; column < timeline->columns; column++)
            if (timeline->lost[column]) {
                extract_text_printf(timeline->text, "%s%u", is_first ? "" : ",", column);
                is_first = false;
            }
        extract_text_puts(timeline->text, "]}\n");
        for (size_t i = 0; i < lanes->count; i++)
            put_json_lane(timeline, i);
        return;
    }
    if (!timeline->options->no_header)
        put_axis(timeline);
    for (size_t i = 0; i < lanes->count; i++)
        put_lane(timeline, i);
    if (!timeline->options->no_header)
        put_legend(timeline);
}

bool extract_report_needs_ascii(void)
{
    locale_t own = newlocale(LC_CTYPE_MASK, "", (locale_t)0);
    bool is_wide = !own;

    if (!own)
        return true;
    locale_t before = uselocale(own);
    for (size_t i = 0; i < SHAPES; i++) {
        wchar_t shape;
        mbstate_t state = {0};
        size_t length = strlen(shapes[i].shape);
        is_wide |=
            mbrtowc(&shape, shapes[i].shape, length, &state) != length || wcwidth(shape) != 1;
    }
    uselocale(before);
    freelocale(own);
    return is_wide;
}

unsigned extract_report_terminal_width(void)
{
    struct winsize size;

    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

// Finds the width of names, and of the picture beside them.
static void measure(struct timeline *timeline)
{
    unsigned width = timeline->options->width ? timeline->options->width : DEFAULT_WIDTH;

    width = width < LEAST_WIDTH ? LEAST_WIDTH : width > MOST_WIDTH ? MOST_WIDTH : width;
    for (size_t i = 0; i < timeline->lanes.count; i++) {
        unsigned length = (unsigned)extract_text_columns(timeline->lanes.list[i].name);
        timeline->names = length > timeline->names ? length : timeline->names;
    }
    timeline->names = timeline->names > MOST_NAME ? MOST_NAME : timeline->names;
    timeline->names = timeline->names > width / 3 ? width / 3 : timeline->names;
    timeline->columns = width - timeline->names - 1;
}

enum extract_code extract_report_timeline(struct extract_text *text,
                                          const struct extract_view *view,
                                          const struct extract_trace *trace,
                                          const struct extract_report_options *options,
                                          struct extract_error *error)
{
    struct timeline timeline = {.text = text, .options = options};
    enum extract_code code = lanes_open(&timeline.lanes, view, trace, error);

    if (code)
        return code;
    measure(&timeline);
    size_t cells = (timeline.lanes.count + 1) * timeline.columns;
    timeline.times = calloc(cells, LANE_STATES * sizeof *timeline.times);
    if (!timeline.times) {
        code = extract_error_set(error, EXTRACT_NOMEM, "timeline", NULL, "out of memory");
    } else {
        timeline.lost = times_of(&timeline, timeline.lanes.count, 0);
        if (timeline.lanes.from < timeline.lanes.to)
            code = lanes_walk(&timeline.lanes, add_part, &timeline, error);
    }
    if (!code && timeline.lanes.from < timeline.lanes.to)
        put_all(&timeline);
    else if (!code && !options->json)
        extract_text_puts(text, "no time passed between the events\n");
    free(timeline.times);
    lanes_free(&timeline.lanes);
    return code ? code : text->code;
}
