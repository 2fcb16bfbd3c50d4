// SPDX-License-Identifier: MIT
// report/columns: the cells in front of an event's text. In: what they hold; a pen with room for
// all of them. Out: as many columns as the layout has for them, or more where a number needs them.
#ifndef EXTRACT_REPORT_COLUMNS_CELLS_H
#define EXTRACT_REPORT_COLUMNS_CELLS_H

#include "report/columns/columns.h"

// Text in a column: cut, or with blanks behind it.
static inline void cell_text(struct pen *pen, const char *bytes, size_t length, unsigned columns,
                             unsigned width)
{
    size_t end = length;
    if (columns > width)
        for (end = 0, columns = 0; columns < width || (bytes[end] & 0xC0) == 0x80; end++)
            columns += (bytes[end] & 0xC0) != 0x80;
    pen_copy(pen, bytes, end);
    pen_pad(pen, width - columns);
}

static inline void cell_priority(struct pen *pen, const struct extract_event *event, unsigned width)
{
    char *start = pen->at;
    if (report_has_priority(event))
        pen_dec(pen, event->priority);
    else
        pen_char(pen, '-');
    if (report_has_threshold(event) && event->threshold != event->priority) {
        pen_char(pen, '/');
        pen_dec(pen, event->threshold);
    }
    unsigned used = (unsigned)(pen->at - start);
    pen_pad(pen, width > used ? width - used : 0);
}

static inline void cell_address(struct pen *pen, uint64_t address, unsigned width)
{
    unsigned used = 2 + (67u - (unsigned)__builtin_clzll(address | 1)) / 4;
    pen_pad(pen, width > used ? width - used : 0);
    pen_hex(pen, address);
}

// Numbers of processes and threads: addresses, mostly.
static inline void cell_number(const struct layout *layout, struct pen *pen, uint64_t number,
                               unsigned width)
{
    if (layout->columns.compat)
        pen_dec_right(pen, number, width);
    else
        cell_address(pen, number, width);
}

// A number with decimals, and a sign when it is below 0. It is written to `at`, and its end is
// returned: a pen whose address is not given away is held in registers.
static inline char *cell_decimals(char *at, bool minus, uint64_t whole, uint32_t rest,
                                  unsigned decimals, unsigned width)
{
    struct pen pen = {NULL, at, NULL};
    unsigned digits = pen_digits(whole), used = digits + minus + decimals + 1;
    pen_pad(&pen, width > used ? width - used : 0);
    if (minus)
        pen_char(&pen, '-');
    pen_fixed(&pen, whole, digits);
    pen_char(&pen, '.');
    pen_fixed(&pen, rest, decimals);
    return pen.at;
}

// Seconds in smaller units, of which the last ones are not to be had beyond 2^64.
static inline uint64_t cell_units(struct pen_seconds time, uint32_t units)
{
    uint64_t whole;
    if (__builtin_mul_overflow(time.whole, units, &whole) ||
        __builtin_add_overflow(whole, time.nano / (PEN_NANO / units), &whole))
        return UINT64_MAX;
    return whole;
}

static inline void cell_elapsed(const struct layout *layout, struct pen *pen, uint64_t ticks)
{
    if (!layout->hz) {
        pen_dec_right(pen, ticks, layout->elapsed);
        return;
    }
    struct pen_seconds time = pen_split(ticks, layout->hz);
    if (layout->columns.times == EXTRACT_TIMES_FULL)
        pen->at = cell_decimals(pen->at, false, time.whole, time.nano, 9, layout->elapsed);
    else if (layout->columns.times == EXTRACT_TIMES_SHORT)
        pen->at = cell_decimals(pen->at, false, time.whole, time.nano / 1000, 6, layout->elapsed);
    else
        pen->at = cell_decimals(pen->at, false, cell_units(time, 1000000), time.nano % 1000, 3,
                                layout->elapsed);
}

static inline void cell_unknown(struct pen *pen, unsigned width)
{
    pen_pad(pen, width - 1);
    pen_char(pen, '-');
}

static inline void cell_gap(const struct layout *layout, struct pen *pen)
{
    memcpy(pen->at, "  ", 2);
    pen->at += layout->gap;
}

#endif
