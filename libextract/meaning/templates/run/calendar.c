// SPDX-License-Identifier: MIT
// templates/run: the date of code T: seconds since 1970 as the text of ctime, in GMT.
//
// The calendar is the proleptic Gregorian one. Days are counted in eras of 400 years that begin in
// March, so that the leap day is the last day of a year.
#include "templates/run/template_run.h"
#include <inttypes.h>
#include <stdio.h>

enum { DAY = 86400, ERA_DAYS = 146097, FROM_MARCH_0 = 719468 }; // days from 0000-03-01 to 1970

struct date {
    int64_t year;
    unsigned month, day; // month, counted from 0
};

static struct date date_of(int64_t days)
{
    days += FROM_MARCH_0;
    int64_t era = (days >= 0 ? days : days - (ERA_DAYS - 1)) / ERA_DAYS;
    unsigned in_era = (unsigned)(days - era * ERA_DAYS);
    unsigned year = (in_era - in_era / 1460 + in_era / 36524 - in_era / (ERA_DAYS - 1)) / 365;
    unsigned in_year = in_era - (365 * year + year / 4 - year / 100);
    unsigned march = (5 * in_year + 2) / 153; // months since March
    unsigned month = march < 10 ? march + 2 : march - 10;
    return (struct date){year + era * 400 + (month < 2), month,
                         in_year - (153 * march + 2) / 5 + 1};
}

size_t run_date(char to[RUN_DATE], int64_t seconds)
{
    static const char days[7][4] = {"Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"};
    static const char months[12][4] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                       "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
    int64_t day = seconds / DAY - (seconds % DAY < 0);
    unsigned clock = (unsigned)((uint64_t)seconds - (uint64_t)day * DAY);
    struct date date = date_of(day);
    int length = snprintf(to, RUN_DATE, "%s %s %2u %02u:%02u:%02u %" PRId64,
                          days[(day % 7 + 7) % 7], months[date.month], date.day, clock / 3600,
                          clock / 60 % 60, clock % 60, date.year);

    return length < 0 ? 0 : (size_t)length;
}
