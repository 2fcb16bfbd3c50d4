// SPDX-License-Identifier: MIT
// report/columns: the cells in front of an event's text. In: what they hold; a pen with room for
// all of them. Out: as many columns as the layout has for them, or more where a number needs them.
#ifndef EXTRACT_REPORT_COLUMNS_CELLS_H
#define EXTRACT_REPORT_COLUMNS_CELLS_H

#include "report/columns/columns.h"

// Text in a column: cut, or with blanks behind it.
static inline void cell_text(struct text_writer *writer, const char *bytes, size_t length,
                             unsigned columns, unsigned width)
{
    size_t end = length;
    if (columns > width)
        for (end = 0, columns = 0; columns < width || (bytes[end] & 0xC0) == 0x80; end++)
            columns += (bytes[end] & 0xC0) != 0x80;
    text_writer_copy(writer, bytes, end);
    text_writer_pad(writer, width - columns);
}

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

static inline void cell_address(struct text_writer *writer, uint64_t address, unsigned width)
{
    unsigned used = 2 + (67u - (unsigned)__builtin_clzll(address | 1)) / 4;
    text_writer_pad(writer, width > used ? width - used : 0);
    text_writer_hex(writer, address);
}

// Numbers of processes and threads: addresses, mostly.
static inline void cell_number(const struct layout *layout, struct text_writer *writer,
                               uint64_t number, unsigned width)
{
    if (layout->columns.compat)
        text_writer_dec_right(writer, number, width);
    else
        cell_address(writer, number, width);
}

// A number with decimals, and a sign when it is below 0. It is written to `at`, and its end is
// returned: a pen whose address is not given away is held in registers.
static inline char *cell_decimals(char *at, bool minus, uint64_t whole, uint32_t rest,
                                  unsigned decimals, unsigned width)
{
    struct text_writer writer = {NULL, at, NULL};
    unsigned digits = text_writer_digits(whole), used = digits + minus + decimals + 1;
    text_writer_pad(&writer, width > used ? width - used : 0);
    if (minus)
        text_writer_char(&writer, '-');
    text_writer_fixed(&writer, whole, digits);
    text_writer_char(&writer, '.');
    text_writer_fixed(&writer, rest, decimals);
    return writer.at;
}

// Seconds in smaller units, of which the last ones are not to be had beyond 2^64.
static inline uint64_t cell_units(struct text_writer_seconds time, uint32_t units)
{
    uint64_t whole;
    if (__builtin_mul_overflow(time.whole, units, &whole) ||
        __builtin_add_overflow(whole, time.nano / (PEN_NANO / units), &whole))
        return UINT64_MAX;
    return whole;
}

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

static inline void cell_unknown(struct text_writer *writer, unsigned width)
{
    text_writer_pad(writer, width - 1);
    text_writer_char(writer, '-');
}

static inline void cell_gap(const struct layout *layout, struct text_writer *writer)
{
    memcpy(writer->at, "  ", 2);
    writer->at += layout->gap;
}

#endif
