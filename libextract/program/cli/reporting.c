// SPDX-License-Identifier: MIT
// cli: the options of `report` and `last`, most of which are those of AIX's trcrpt.
//
// When all arguments are parsed, this file turns the settings of -O into columns, and times and
// dates into conditions of the session. Dates need the log, so they are added when it is open.
#include "cli/cli.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NS_PER_SECOND 1000000000
#define BEFORE_START  "before" // a date before the log starts

enum { DATE_BYTES = sizeof "mmddhhmmssyy" };

// Copies a time with its unit: "1.5" becomes "1.5s".
static enum extract_code format_time(char *time, size_t size, const char *word, const char *value,
                                     struct extract_error *error)
{
    if (!value || !*value || strspn(value, "0123456789.") != strlen(value) ||
        strlen(value) + 2 > size)
        return extract_error_set(error, EXTRACT_USAGE, word, "use seconds, as in 1.5",
                                 "\"%.80s\" is not a time", value ? value : "");
    snprintf(time, size, "%ss", value);
    return EXTRACT_OK;
}

// Sets a key of -O that is not a column. Keys without a meaning for embedded traces may be off.
static enum extract_code set_other_key(void *context, const char *word, const char *value,
                                       struct extract_error *error)
{
    struct cli_reporting *reporting = context;
    bool off = value && strcmp(value, "off") == 0, on = !value || strcmp(value, "on") == 0;

    if (strcmp(word, "starttime") == 0)
        return format_time(reporting->start_time, sizeof reporting->start_time, word, value, error);
    if (strcmp(word, "endtime") == 0)
        return format_time(reporting->end_time, sizeof reporting->end_time, word, value, error);
    if (strcmp(word, "reportedcpus") == 0 && (on || off))
        return EXTRACT_OK;
    if (strcmp(word, "component") == 0 || strcmp(word, "PURR") == 0)
        return off ? EXTRACT_OK
                   : extract_error_set(error, EXTRACT_USAGE, word, "use only =off",
                                       "traces of embedded systems have none");
    return extract_error_set(error, EXTRACT_USAGE, word, "use a key of ringside-report(1)",
                             value ? "unknown key or value of -O" : "unknown key of -O");
}

// Appends a condition to those of the session, unless the value is empty.
static void append_condition(struct extract_session_options *session, enum extract_filter_word word,
                             const char *value)
{
    struct extract_condition *conditions = (struct extract_condition *)session->conditions;

    if (*value)
        conditions[session->condition_count++] = (struct extract_condition){word, value};
}

// Writes a list of cores, with commas or blanks between them, with commas only; "all" is empty.
static enum extract_code format_cores(char *cores, size_t size, const char *list,
                                      struct extract_error *error)
{
    static const char separators[] = ", \t";
    size_t used = 0;

    for (const char *at = list + strspn(list, separators); *at && strcmp(list, "all") != 0;) {
        size_t digits = strspn(at, "0123456789"), length = strcspn(at, separators);
        if (digits != length || length > 3 || used + length + 2 > size)
            return extract_error_set(error, EXTRACT_USAGE, "-C",
                                     "use numbers of cores, separated by commas or blanks, or all",
                                     "\"%.80s\" is not a list of cores", list);
        used +=
            (size_t)snprintf(cores + used, size - used, "%s%.*s", used ? "," : "", (int)length, at);
        at += length + strspn(at + length, separators);
    }
    if (!used && strcmp(list, "all") != 0)
        return extract_error_set(error, EXTRACT_USAGE, "-C", "use numbers of cores, or all",
                                 "the list is empty");
    return EXTRACT_OK;
}

bool cli_reporting_finish(struct cli_options *options)
{
    struct cli_reporting *reporting = &options->reporting;
    struct extract_session_options *session = &options->session;
    struct extract_error error;

    extract_columns_init(&reporting->columns, reporting->compat);
    reporting->columns.trazer = reporting->trazer;
    reporting->columns.exec |= reporting->calls;
    reporting->columns.svc |= reporting->calls;
    for (size_t i = 0; i < reporting->setting_count; i++)
        if (extract_columns_set(&reporting->columns, reporting->settings[i], set_other_key,
                                reporting, &error))
            return !cli_complain(&error);
    if (reporting->cores &&
        format_cores(reporting->core_list, sizeof reporting->core_list, reporting->cores, &error))
        return !cli_complain(&error);
    append_condition(session, EXTRACT_FILTER_FROM, reporting->start_time);
    append_condition(session, EXTRACT_FILTER_TO, reporting->end_time);
    append_condition(session, EXTRACT_FILTER_CORE, reporting->core_list);
    session->columns = &reporting->columns;
    session->template_files = reporting->templates;
    session->template_count = reporting->template_count;
    // With --compat, the file of -t replaces the built-in templates, as it does in trcrpt.
    session->only_templates |= reporting->compat && reporting->template_count;
    *(reporting->compat ? &session->no_header : &options->help) |= reporting->short_help;
    if (options->output && !options->color_is_fixed)
        session->color = false;
    return true;
}

// Parses mmddhhmmssyy in local time to seconds since 1970.
static bool parse_date(const char *date, int64_t *seconds)
{
    struct tm tm = {.tm_isdst = -1};
    int read = 0, year = 0;

    if (strlen(date) != 12 || strspn(date, "0123456789") != 12 ||
        sscanf(date, "%2d%2d%2d%2d%2d%2d%n", &tm.tm_mon, &tm.tm_mday, &tm.tm_hour, &tm.tm_min,
               &tm.tm_sec, &year, &read) != 6)
        return false;
    if (tm.tm_mon < 1 || tm.tm_mon > 12 || tm.tm_mday < 1 || tm.tm_mday > 31 || tm.tm_hour > 23 ||
        tm.tm_min > 59 || tm.tm_sec > 60)
        return false;
    tm.tm_mon--;
    tm.tm_year = year < 70 ? year + 100 : year;
    struct tm noon = {
        .tm_year = tm.tm_year, .tm_mon = tm.tm_mon, .tm_mday = tm.tm_mday, .tm_hour = 12};
    int month = tm.tm_mon;
    timegm(&noon); // turns 31 February into 3 March
    *seconds = (int64_t)mktime(&tm);
    return noon.tm_mon == month;
}

// Finds when the oldest entries of a log were read from the target, in seconds since 1970.
static bool find_first_wall(struct extract_log *log, int64_t *seconds)
{
    struct extract_log_block block;

    for (size_t i = 0; log && extract_log_block_at(log, i, &block); i++)
        if (extract_log_holds_entries(&block)) {
            *seconds = (int64_t)(block.wall / NS_PER_SECOND);
            return true;
        }
    return false;
}

static void put_date(char date[DATE_BYTES], int64_t seconds)
{
    time_t at = (time_t)seconds;
    struct tm tm;

    if (!localtime_r(&at, &tm) || !strftime(date, DATE_BYTES, "%m%d%H%M%S%y", &tm))
        *date = 0;
}

// Writes a date as a time since the start of the log, or as BEFORE_START.
static enum extract_code format_date(char *time, size_t size, const char *option, const char *date,
                                     struct extract_log *log, struct extract_error *error)
{
    int64_t wanted, first;
    char begin[DATE_BYTES], hint[80];

    if (!parse_date(date, &wanted))
        return extract_error_set(error, EXTRACT_USAGE, option,
                                 "use month, day, hour, minute, second and year: mmddhhmmssyy",
                                 "\"%.80s\" is not a date", date);
    if (!find_first_wall(log, &first))
        return extract_error_set(error, EXTRACT_USAGE, option,
                                 "use seconds from its start: -O starttime=SECONDS, endtime=",
                                 "only logs contain the date of recording");
    if (wanted < first && option[1] == 'e') {
        put_date(begin, first);
        snprintf(hint, sizeof hint, "use a date from %s on", begin);
        return extract_error_set(error, EXTRACT_USAGE, option, hint,
                                 "\"%s\": before the log begins", date);
    }
    if (wanted < first)
        snprintf(time, size, "%s", BEFORE_START);
    else
        snprintf(time, size, "%llds", (long long)(wanted - first));
    return EXTRACT_OK;
}

enum extract_code cli_reporting_dates(struct extract_session_options *session,
                                      const struct cli_options *options, struct extract_log *log,
                                      struct cli_dates *dates, struct extract_error *error)
{
    const struct cli_reporting *reporting = &options->reporting;
    enum extract_code code = EXTRACT_OK;

    *dates = (struct cli_dates){"", ""};
    if (reporting->start_date)
        code =
            format_date(dates->from, sizeof dates->from, "-s", reporting->start_date, log, error);
    if (!code && reporting->end_date)
        code = format_date(dates->to, sizeof dates->to, "-e", reporting->end_date, log, error);
    if (strcmp(dates->from, BEFORE_START) != 0)
        append_condition(session, EXTRACT_FILTER_FROM, dates->from);
    append_condition(session, EXTRACT_FILTER_TO, dates->to);
    return code;
}

enum extract_code cli_reporting_check_dates(const struct cli_options *options,
                                            struct extract_log *log,
                                            const struct extract_trace *trace,
                                            struct extract_error *error)
{
    const char *date = options->reporting.start_date;
    uint64_t hz =
        options->session.hz ? options->session.hz : extract_trace_snapshot(trace)->ring.hz;
    int64_t wanted, first;
    char end[DATE_BYTES], hint[80];

    if (!date || !hz || !parse_date(date, &wanted) || !find_first_wall(log, &first))
        return EXTRACT_OK;
    int64_t last = first + (int64_t)(extract_trace_info(trace)->span_ticks / hz);
    if (wanted <= last)
        return EXTRACT_OK;
    put_date(end, last);
    snprintf(hint, sizeof hint, "use a date up to %s", end);
    return extract_error_set(error, EXTRACT_USAGE, "-s", hint,
                             "\"%s\": after the last event of the log", date);
}
