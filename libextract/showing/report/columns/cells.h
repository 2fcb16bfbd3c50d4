// SPDX-License-Identifier: MIT
// report/columns: the cells before an event's text.
//
// Each function writes one cell of the width that the layout gives it. Names are truncated to the
// width; numbers are never truncated, so that a cell may become wider. The functions are inline
// and check no bounds: the caller reserves PREFIX_CAPACITY bytes for all cells of a line.
#ifndef EXTRACT_REPORT_COLUMNS_CELLS_H
#define EXTRACT_REPORT_COLUMNS_CELLS_H

#include "base/printable.h"
#include "report/columns/columns.h"

// Writes text (NUL-ended), truncated to `width` columns or padded with blanks after it. `columns`
// is the width of the whole text.
static inline void cell_text(struct text_writer *writer, const char *bytes, size_t length,
                             unsigned columns, unsigned width)
{
    size_t end = length;

    if (columns > width)
        end = extract_printable_fitting(bytes, width, &columns);
    text_writer_copy(writer, bytes, end);
    text_writer_pad(writer, width - columns);
}

// Writes the priority and, if it differs, the preemption threshold: "5/3".
static inline void cell_priority(struct text_writer *writer, const struct extract_event *event,
                                 unsigned width)
{
    char *start = writer->at;

    if (report_has_priority(event))
        text_writer_dec(writer, event->priority);
    else
        text_writer_char(writer, '-');
    if (report_has_threshold(event) && event->threshold != event->priority) {
        text_writer_char(writer, '/');
        text_writer_dec(writer, event->threshold);
    }
    unsigned used = (unsigned)(writer->at - start);
    text_writer_pad(writer, width > used ? width - used : 0);
}

// Writes an address, aligned to the right.
static inline void cell_address(struct text_writer *writer, uint64_t address, unsigned width)
{
    unsigned used = 2 + (67u - (unsigned)__builtin_clzll(address | 1)) / 4;

    text_writer_pad(writer, width > used ? width - used : 0);
    text_writer_hex(writer, address);
}

// Writes the number of a process or thread, which is an address in most formats.
static inline void cell_number(const struct layout *layout, struct text_writer *writer,
                               uint64_t number, unsigned width)
{
    if (layout->columns.compat)
        text_writer_dec_right(writer, number, width);
    else
        cell_address(writer, number, width);
}

// Writes a number with decimals, and a minus sign if it is negative, to `at`. Returns the end of
// the number: passing the position by value lets the compiler keep the caller's writer in
// registers.
static inline char *cell_decimals(char *at, bool is_negative, uint64_t whole, uint32_t rest,
                                  unsigned decimals, unsigned width)
{
    struct text_writer writer = {NULL, at, NULL};
    unsigned digits = text_writer_digits(whole), used = digits + is_negative + decimals + 1;

    text_writer_pad(&writer, width > used ? width - used : 0);
    if (is_negative)
        text_writer_char(&writer, '-');
    text_writer_fixed(&writer, whole, digits);
    text_writer_char(&writer, '.');
    text_writer_fixed(&writer, rest, decimals);
    return writer.at;
}

// Returns a time in smaller units, `units` per second. A result above 2^64 - 1 becomes 2^64 - 1.
static inline uint64_t cell_units(struct text_writer_seconds time, uint32_t units)
{
    uint64_t whole;

    if (__builtin_mul_overflow(time.whole, units, &whole) ||
        __builtin_add_overflow(whole, time.nano / (TEXT_WRITER_NANO / units), &whole))
        return UINT64_MAX;
    return whole;
}

// Writes the time since the start, in the unit of the layout.
static inline void cell_elapsed(const struct layout *layout, struct text_writer *writer,
                                uint64_t ticks)
{
    if (!layout->hz) {
        text_writer_dec_right(writer, ticks, layout->elapsed);
        return;
    }
    struct text_writer_seconds time = text_writer_split(ticks, layout->hz);
    if (layout->columns.times == EXTRACT_TIMES_FULL)
        writer->at = cell_decimals(writer->at, false, time.whole, time.nano, 9, layout->elapsed);
    else if (layout->columns.times == EXTRACT_TIMES_SHORT)
        writer->at =
            cell_decimals(writer->at, false, time.whole, time.nano / 1000, 6, layout->elapsed);
    else
        writer->at = cell_decimals(writer->at, false, cell_units(time, 1000000), time.nano % 1000,
                                   3, layout->elapsed);
}

// Writes "-" for a time that is not known, aligned to the right.
static inline void cell_unknown(struct text_writer *writer, unsigned width)
{
    text_writer_pad(writer, width - 1);
    text_writer_char(writer, '-');
}

// Writes the gap between two columns, which is one or two blanks.
static inline void cell_gap(const struct layout *layout, struct text_writer *writer)
{
    memcpy(writer->at, "  ", 2);
    writer->at += layout->gap;
}

#endif
