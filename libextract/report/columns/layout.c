// SPDX-License-Identifier: MIT
// report/columns: where the columns of a report stand. In: what a user asked for, what the events
// need. Out: widths, the heads, the heading. Layout: trcrpt's of AIX, and Ringside's own.
#include "report/columns/columns.h"
#include <inttypes.h>
#include <time.h>

enum {
    MAX_EXEC = 24, // a longer name is cut
    EXEC_COMPAT = 16,
    SVC_WIDTH = 16,
    FILE_WIDTH = 16,
    ID_WIDTH = 4,
    CPU_WIDTH = 3,
    TIME_COMPAT = 14,
    NANO_TAIL = 10, // ".123456789"
    MICRO_TAIL = 7,
    MILLI_TAIL = 4
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

// A head and how a column's width shows in it.
struct head {
    const char *name;
    unsigned width;
    bool right;
};

static const char *elapsed_head(const struct layout *layout)
{
    if (!layout->hz)
        return "ELAPSED_TICKS";
    return layout->columns.times == EXTRACT_TIMES_MICRO ? "ELAPSED_USEC" : "ELAPSED_SEC";
}

static const char *delta_head(const struct layout *layout)
{
    if (!layout->hz)
        return "DELTA_TICKS";
    return layout->columns.times == EXTRACT_TIMES_MICRO ? "DELTA_USEC" : "DELTA_MSEC";
}

enum { HEADS = 12 };

static void make_heads(const struct layout *layout, struct head heads[HEADS])
{
    const struct head all[HEADS] = {
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
        {elapsed_head(layout), layout->elapsed, true},
        {delta_head(layout), layout->delta, true},
    };
    memcpy(heads, all, sizeof all);
}

static unsigned at_least(unsigned width, const char *head)
{
    unsigned columns = (unsigned)strlen(head);
    return width < columns ? columns : width;
}

static unsigned elapsed_columns(const struct layout *layout, uint64_t ticks)
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

static unsigned delta_columns(const struct layout *layout, uint64_t ticks)
{
    uint64_t hz = layout->hz;
    if (!hz)
        return text_writer_digits(ticks);
    return layout->columns.times == EXTRACT_TIMES_FULL
               ? text_writer_digits(ticks / hz * 1000) + MICRO_TAIL
               : text_writer_digits(ticks / hz * 1000000) + MILLI_TAIL;
}

static void set_times(struct layout *layout, const struct layout_needs *needs)
{
    enum extract_times times = layout->columns.times;
    bool compat = layout->columns.compat;
    if (times != EXTRACT_TIMES_NONE)
        layout->elapsed =
            compat ? TIME_COMPAT
                   : at_least(elapsed_columns(layout, needs->ticks), elapsed_head(layout));
    if (times == EXTRACT_TIMES_FULL || times == EXTRACT_TIMES_MICRO)
        layout->delta = compat ? TIME_COMPAT
                               : at_least(delta_columns(layout, needs->delta), delta_head(layout));
}

static bool has_cpu(const struct extract_columns *columns, const struct layout_needs *needs)
{
    if (columns->cpuid == EXTRACT_COLUMN_AUTO)
        return needs->cores && !columns->compat;
    return columns->cpuid == EXTRACT_COLUMN_ON;
}

static unsigned exec_columns(const struct layout *layout, const struct layout_needs *needs)
{
    if (layout->columns.compat)
        return EXEC_COMPAT;
    return at_least(needs->exec < MAX_EXEC ? needs->exec : MAX_EXEC, "THREAD");
}

void layout_open(struct layout *layout, const struct extract_columns *columns, uint64_t hz,
                 const struct layout_needs *needs)
{
    struct head heads[HEADS];
    *layout = (struct layout){.columns = *columns, .hz = hz, .gap = columns->compat ? 1 : 2};
    layout->seq = columns->seq ? at_least(needs->seq, "SEQ") : 0;
    layout->id = columns->ids ? ID_WIDTH : 0;
    layout->exec = columns->exec ? exec_columns(layout, needs) : 0;
    layout->filename = columns->filename ? FILE_WIDTH : 0;
    layout->cpu = has_cpu(columns, needs) ? CPU_WIDTH : 0;
    layout->pid = columns->pid ? at_least(needs->pid, "PID") : 0;
    layout->tid = columns->tid ? at_least(needs->tid, "TID") : 0;
    layout->prio = columns->prio ? at_least(needs->prio, "PRIO") : 0;
    layout->interrupt = columns->compat && (columns->exec || columns->svc);
    layout->svc = columns->svc ? SVC_WIDTH : 0;
    layout->rare = layout->filename || layout->cpu || layout->pid || layout->tid || layout->prio ||
                   layout->interrupt || layout->svc;
    set_times(layout, needs);
    make_heads(layout, heads);
    for (unsigned i = 0; i < HEADS; i++)
        layout->text += heads[i].width ? heads[i].width + layout->gap : 0;
    layout->columns.two_lines &= layout->text > 0; // without columns there is one
    if (layout->columns.two_lines) {
        layout->text = LAYOUT_LEVEL;
        return;
    }
    layout->indent = layout->text ? 2 - layout->gap : 0; // two blanks, whatever the gap
    layout->text += layout->indent;
}

static unsigned put_head(const struct head *head, unsigned owed, struct extract_text *text)
{
    unsigned rest = head->width - (unsigned)strlen(head->name);
    extract_text_pad(text, ' ', owed + (head->right ? rest : 0));
    extract_text_puts(text, head->name);
    return head->right ? 0 : rest;
}

unsigned layout_heads(const struct layout *layout, bool bold, struct extract_text *text)
{
    struct head heads[HEADS];
    unsigned owed = 0;
    bool two = layout->columns.two_lines;
    make_heads(layout, heads);
    extract_text_puts(text, bold ? "\x1b[1m" : "");
    for (unsigned i = 0, first = 1; i < HEADS; i++) {
        if (!heads[i].width)
            continue;
        owed = put_head(&heads[i], owed + (first ? 0 : layout->gap), text);
        first = 0;
    }
    if (two)
        extract_text_putc(text, '\n');
    extract_text_pad(text, ' ', two ? LAYOUT_LEVEL : layout->text ? owed + 2 : 0);
    extract_text_puts(text, "APPL    SYSCALL KERNEL  INTERRUPT");
    extract_text_puts(text, bold ? "\x1b[0m\n" : "\n");
    if (layout->columns.compat)
        extract_text_putc(text, '\n');
    return 1u + two + layout->columns.compat;
}

// The time that a log was begun; a ring does not tell its own.
static void put_date(const struct extract_info *info, struct extract_text *text)
{
    char date[32];
    struct tm utc;
    time_t seconds = info->log ? (time_t)(info->log->status.created / PEN_NANO) : 0;
    if (!info->log || !gmtime_r(&seconds, &utc) ||
        !strftime(date, sizeof date, "%a %b %e %H:%M:%S %Y", &utc))
        return;
    extract_text_puts(text, date);
    extract_text_putc(text, '\n');
}

void layout_heading(const struct layout *layout, const struct extract_trace *trace,
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
