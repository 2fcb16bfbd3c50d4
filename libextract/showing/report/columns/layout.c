// SPDX-License-Identifier: MIT
// report/columns: the layout of a report. Computes the width of every column from what the user
// chose and what the events need, and prints the headings.
//
// There are two layouts. That of AIX's trcrpt has mostly fixed widths, one blank between columns
// and a preamble. Ringside's own has columns as wide as their values and two blanks between them.
#include "report/columns/columns.h"
#include <inttypes.h>
#include <time.h>

// Widths in characters.
enum {
    MAX_EXEC = 28, // "interrupt/" and an address of 64 bits; longer names are truncated
    EXEC_COMPAT = 16,
    SVC_WIDTH = 16,
    FILE_WIDTH = 16,
    ID_WIDTH = 4,
    CPU_WIDTH = 3,
    TIME_COMPAT = 14,
    NANO_TAIL = 10, // ".123456789"
    MICRO_TAIL = 7, // ".123456"
    MILLI_TAIL = 4  // ".123"
};

void extract_columns_init(struct extract_columns *columns, bool compat)
{
    *columns = (struct extract_columns){
        .size = sizeof *columns,
        .compat = compat,
        .seq = !compat,
        .ids = true,
        .exec = !compat,
        .duplicates = !compat,
    };
}

// ---- headings ----

enum { HEADINGS = 12 };

struct heading {
    const char *name;
    unsigned width;
    bool is_right; // aligned to the right, as the values are
};

static const char *elapsed_heading(const struct layout *layout)
{
    if (!layout->hz)
        return "ELAPSED_TICKS";
    return layout->columns.times == EXTRACT_TIMES_MICRO ? "ELAPSED_USEC" : "ELAPSED_SEC";
}

static const char *delta_heading(const struct layout *layout)
{
    if (!layout->hz)
        return "DELTA_TICKS";
    return layout->columns.times == EXTRACT_TIMES_MICRO ? "DELTA_USEC" : "DELTA_MSEC";
}

// Lists the columns before the text, in the order of the report.
static void list_headings(const struct layout *layout, struct heading headings[HEADINGS])
{
    const struct heading all[HEADINGS] = {
        {"SEQ", layout->seq, true},
        {"ID", layout->id, false},
        {layout->columns.compat ? "PROCESS NAME" : "THREAD", layout->exec, false},
        {"FILENAME", layout->filename, false},
        {"CPU", layout->cpu, true},
        {"PID", layout->pid, true},
        {"TID", layout->tid, true},
        {"PRIO", layout->prio, false},
        {"I", layout->interrupt, false},
        {"SYSTEM CALL", layout->svc, false},
        {elapsed_heading(layout), layout->elapsed, true},
        {delta_heading(layout), layout->delta, true},
    };

    memcpy(headings, all, sizeof all);
}

// ---- widths ----

// Returns the width, or that of the heading if the heading is wider.
static unsigned fit_heading(unsigned width, const char *heading)
{
    unsigned columns = (unsigned)strlen(heading);

    return width < columns ? columns : width;
}

static unsigned elapsed_width(const struct layout *layout, uint64_t ticks)
{
    uint64_t hz = layout->hz;

    if (!hz)
        return text_writer_digits(ticks);
    switch (layout->columns.times) {
    case EXTRACT_TIMES_FULL:
        return text_writer_digits(ticks / hz) + NANO_TAIL;
    case EXTRACT_TIMES_SHORT:
        return text_writer_digits(ticks / hz) + MICRO_TAIL;
    default:
        return text_writer_digits(ticks / hz * 1000000) + MILLI_TAIL;
    }
}

static unsigned delta_width(const struct layout *layout, uint64_t ticks)
{
    uint64_t hz = layout->hz;

    if (!hz)
        return text_writer_digits(ticks);
    return layout->columns.times == EXTRACT_TIMES_FULL
               ? text_writer_digits(ticks / hz * 1000) + MICRO_TAIL
               : text_writer_digits(ticks / hz * 1000000) + MILLI_TAIL;
}

static void set_time_widths(struct layout *layout, const struct layout_needs *needs)
{
    enum extract_times times = layout->columns.times;
    bool compat = layout->columns.compat;

    if (times != EXTRACT_TIMES_NONE)
        layout->elapsed =
            compat ? TIME_COMPAT
                   : fit_heading(elapsed_width(layout, needs->ticks), elapsed_heading(layout));
    if (times == EXTRACT_TIMES_FULL || times == EXTRACT_TIMES_MICRO)
        layout->delta = compat
                            ? TIME_COMPAT
                            : fit_heading(delta_width(layout, needs->delta), delta_heading(layout));
}

static bool has_cpu(const struct extract_columns *columns, const struct layout_needs *needs)
{
    if (columns->cpuid == EXTRACT_COLUMN_AUTO)
        return needs->has_cores && !columns->compat;
    return columns->cpuid == EXTRACT_COLUMN_ON;
}

void layout_open(struct layout *layout, const struct extract_columns *columns, uint64_t hz,
                 const struct layout_needs *needs)
{
    struct heading headings[HEADINGS];
    unsigned exec = needs->exec < MAX_EXEC ? needs->exec : MAX_EXEC;

    exec = columns->compat ? EXEC_COMPAT : fit_heading(exec, "THREAD");
    *layout = (struct layout){.columns = *columns, .hz = hz, .gap = columns->compat ? 1 : 2};
    layout->seq = columns->seq ? fit_heading(needs->seq, "SEQ") : 0;
    layout->id = columns->ids ? ID_WIDTH : 0;
    layout->exec = columns->exec ? exec : 0;
    layout->filename = columns->filename ? FILE_WIDTH : 0;
    layout->cpu = has_cpu(columns, needs) ? CPU_WIDTH : 0;
    layout->pid = columns->pid ? fit_heading(needs->pid, "PID") : 0;
    layout->tid = columns->tid ? fit_heading(needs->tid, "TID") : 0;
    layout->prio = columns->prio ? fit_heading(needs->prio, "PRIO") : 0;
    layout->interrupt = columns->compat && (columns->exec || columns->svc);
    layout->svc = columns->svc ? SVC_WIDTH : 0;
    layout->has_rare_columns = layout->filename || layout->cpu || layout->pid || layout->tid ||
                               layout->prio || layout->interrupt || layout->svc;
    set_time_widths(layout, needs);
    list_headings(layout, headings);
    for (unsigned i = 0; i < HEADINGS; i++)
        layout->text += headings[i].width ? headings[i].width + layout->gap : 0;
    layout->columns.two_lines &= layout->text > 0; // without columns, the first line would be empty
    if (layout->columns.two_lines) {
        layout->text = LAYOUT_CLASS_STEP;
        return;
    }
    layout->indent = layout->text ? 2 - layout->gap : 0; // always two blanks before the text
    layout->text += layout->indent;
}

// ---- output ----

// Blanks are written before the next heading, so that no line ends in blanks.
unsigned layout_put_headings(const struct layout *layout, bool bold, struct extract_text *text)
{
    struct heading headings[HEADINGS];
    bool two_lines = layout->columns.two_lines;
    unsigned blanks = 0;

    list_headings(layout, headings);
    extract_text_puts(text, bold ? "\x1b[1m" : "");
    for (unsigned i = 0, printed = 0; i < HEADINGS; i++) {
        const struct heading *heading = &headings[i];
        if (!heading->width)
            continue;
        unsigned padding = heading->width - (unsigned)strlen(heading->name);
        blanks += printed++ ? layout->gap : 0;
        extract_text_pad(text, ' ', blanks + (heading->is_right ? padding : 0));
        extract_text_puts(text, heading->name);
        blanks = heading->is_right ? 0 : padding;
    }
    if (two_lines)
        extract_text_putc(text, '\n');
    extract_text_pad(text, ' ', two_lines ? LAYOUT_CLASS_STEP : layout->text ? blanks + 2 : 0);
    extract_text_puts(text, "APPL    SYSCALL KERNEL  INTERRUPT");
    extract_text_puts(text, bold ? "\x1b[0m\n" : "\n");
    if (layout->columns.compat)
        extract_text_putc(text, '\n');
    return 1u + two_lines + layout->columns.compat;
}

// Writes when a log was created. A ring does not record such a date.
static void put_date(const struct extract_info *info, struct extract_text *text)
{
    char date[32];
    struct tm utc;
    time_t seconds = info->log ? (time_t)(info->log->status.created / TEXT_WRITER_NANO) : 0;

    if (!info->log || !gmtime_r(&seconds, &utc) ||
        !strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &utc))
        return;
    extract_text_puts(text, date);
    extract_text_putc(text, '\n');
}

void layout_put_preamble(const struct layout *layout, const struct extract_trace *trace,
                         struct extract_text *text)
{
    const struct extract_info *info = extract_trace_info(trace);
    const char *source = layout->columns.source;

    extract_text_putc(text, '\n');
    put_date(info, text);
    extract_text_printf(text, "System: %s\nMachine: %u-bit %s-endian\n", info->format,
                        info->word_bytes * 8, info->byte_order == EXTRACT_BIG ? "big" : "little");
    if (source && *source) {
        extract_text_puts(text, "Trace: ");
        extract_text_escaped(text, source);
        extract_text_putc(text, '\n');
    }
    extract_text_putc(text, '\n');
}
