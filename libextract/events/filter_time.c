// SPDX-License-Identifier: MIT
// events: times as users write them. In: text. Out: ticks.
#include "events/filter.h"
#include <string.h>

enum { TIME_DIGITS = 18 }; // of a time with a unit: its product with hz then fits in 128 bits

static uint64_t unit_parse(const char *unit)
{
    static const struct {
        const char *name;
        uint64_t per_second;
    } units[] = {{"s", 1}, {"ms", 1000}, {"us", 1000000}, {"ns", 1000000000}};
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (!strcmp(unit, units[i].name))
            return units[i].per_second;
    return 0;
}

bool filter_time_parse(const char *string, struct filter_time *time)
{
    unsigned digits = 0;
    bool point = false;
    const char *at = string;

    *time = (struct filter_time){0, 0, 0};
    if (extract_number_parse(string, &time->digits))
        return true;
    for (; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        time->digits = time->digits * 10 + (unsigned)(*at - '0');
        time->decimals += point;
        if (++digits > TIME_DIGITS)
            return false;
    }
    time->per_second = unit_parse(at);
    return digits && time->per_second;
}

uint64_t filter_time_ticks(const struct filter_time *time, uint64_t hz, bool up)
{
    unsigned __int128 ticks = time->digits, divisor = time->per_second;
    if (!time->per_second)
        return time->digits;
    for (unsigned i = 0; i < time->decimals; i++)
        divisor *= 10;
    ticks = (ticks * hz + (up ? divisor - 1 : 0)) / divisor;
    return ticks > UINT64_MAX ? UINT64_MAX : (uint64_t)ticks;
}
