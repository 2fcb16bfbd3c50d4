// SPDX-License-Identifier: MIT
// cli: the options that are those of `report` and `last` alone, most of them as AIX's trcrpt has
// them. In: options. Out: struct cli_reporting, and what it says to a session.
#include "cli/cli.h"
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define NANO   1000000000
#define BEFORE "before"

static const char own_letters[] = CLI_REPORT_LETTERS;

bool cli_reporting_has(int option)
{
    return (option >= CLI_OPT_COMPAT && option <= CLI_OPT_PAGER) ||
           (isalpha(option) && strchr(own_letters, option));
}

static const char *name_of(int option)
{
    static const char *const longs[] = {"--compat", "--dialect", "--templates-only", "--pager"};
    static const char *const shorts[] = {"-O", "-d", "-k", "-c", "-j", "-r",
                                         "-s", "-e", "-t", "-v", "-x"};
    if (option >= CLI_OPT_COMPAT)
        return longs[option - CLI_OPT_COMPAT];
    for (size_t i = 0; i < sizeof shorts / sizeof *shorts; i++)
        if (shorts[i][1] == option)
            return shorts[i];
    return "?";
}

static bool complain(const struct extract_error *error)
{
    cli_complain(error);
    return false;
}

static bool set_compat(struct cli_reporting *reporting, const char *value)
{
    reporting->compat = strcmp(value, "trcrpt") == 0;
    reporting->trazer = strcmp(value, "trazer") == 0;
    if (!reporting->compat && !reporting->trazer)
        cli_refuse("--compat", "write --compat trcrpt or --compat trazer",
                   "there is no such layout");
    return reporting->compat || reporting->trazer;
}

static bool set_dialect(struct cli_options *options, const char *value)
{
    struct extract_error error;
    return !extract_dialect_parse(&options->session.dialect, value, &error) || complain(&error);
}

// A list that is given once.
static bool set_once(const char **list, int option, const char *value)
{
    if (*list) {
        cli_refuse(name_of(option), "put a comma between several", "it is given twice");
        return false;
    }
    *list = value;
    return true;
}

bool cli_reporting_set(struct cli_options *options, int option, const char *value)
{
    struct cli_reporting *reporting = &options->reporting;
    reporting->given = name_of(option);
    switch (option) {
    case CLI_OPT_COMPAT:
        return set_compat(reporting, value);
    case CLI_OPT_DIALECT:
        return set_dialect(options, value);
    case CLI_OPT_TEMPLATES_ONLY:
        return options->session.only_templates = true;
    case CLI_OPT_PAGER:
        return reporting->pager = true;
    case 'O':
        reporting->words[reporting->word_count++] = value;
        return true;
    case 'd':
        return set_once(&options->session.not_hooks, option, value);
    case 'k':
        return set_once(&options->session.only_hooks, option, value);
    case 's':
        return set_once(&reporting->start_date, option, value);
    case 'e':
        return set_once(&reporting->end_date, option, value);
    case 't':
        reporting->templates[reporting->template_count++] = value;
        return true;
    case 'c':
        return reporting->check = true;
    case 'j':
        return reporting->list = true;
    case 'r':
        return reporting->raw = true;
    case 'v':
        return reporting->verbose = true;
    default:
        return reporting->calls = true;
    }
}

// "1.5" to "1.5s".
static enum extract_code set_time(char *time, size_t size, const char *word, const char *value,
                                  struct extract_error *error)
{
    if (!value || !*value || strspn(value, "0123456789.") != strlen(value) ||
        strlen(value) + 2 > size)
        return extract_error_set(error, EXTRACT_USAGE, word, "write seconds, as in 1.5",
                                 "\"%s\" is no time", value ? value : "");
    snprintf(time, size, "%ss", value);
    return EXTRACT_OK;
}

// Words of -O that are no columns. Some have no meaning for what Ringside reads: they may be off.
static enum extract_code set_other(void *context, const char *word, const char *value,
                                   struct extract_error *error)
{
    struct cli_reporting *reporting = context;
    bool off = value && !strcmp(value, "off"), on = !value || !strcmp(value, "on");
    if (!strcmp(word, "starttime"))
        return set_time(reporting->start_time, sizeof reporting->start_time, word, value, error);
    if (!strcmp(word, "endtime"))
        return set_time(reporting->end_time, sizeof reporting->end_time, word, value, error);
    if (!strcmp(word, "reportedcpus") && (on || off))
        return EXTRACT_OK;
    if (!strcmp(word, "component") || !strcmp(word, "PURR"))
        return off ? EXTRACT_OK
                   : extract_error_set(error, EXTRACT_USAGE, word, "leave it out",
                                       "traces of embedded systems have none");
    return extract_error_set(
        error, EXTRACT_USAGE, word, "the words are listed in ringside-report(1)",
        value ? "-O has no such word, or not with this value" : "-O has no such word");
}

static void add_condition(struct extract_session_options *session, enum extract_filter_word word,
                          const char *value)
{
    struct extract_condition *conditions = (struct extract_condition *)session->conditions;
    if (*value)
        conditions[session->condition_count++] = (struct extract_condition){word, value};
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
    for (size_t i = 0; i < reporting->word_count; i++)
        if (extract_columns_set(&reporting->columns, reporting->words[i], set_other, reporting,
                                &error))
            return complain(&error);
    add_condition(session, EXTRACT_FILTER_FROM, reporting->start_time);
    add_condition(session, EXTRACT_FILTER_TO, reporting->end_time);
    session->columns = &reporting->columns;
    session->template_files = reporting->templates;
    session->template_count = reporting->template_count;
    // The file of -t takes the place of AIX's own.
    session->only_templates |= reporting->compat && reporting->template_count;
    if (options->output && !options->color_asked)
        session->color = false;
    return true;
}

// Seconds since 1970 of mmddhhmmssyy, local time.
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
    timegm(&noon); // makes 3 March of 31 February
    *seconds = (int64_t)mktime(&tm);
    return noon.tm_mon == month;
}

// When the oldest entries of a log were read from the target, in seconds since 1970.
static bool first_wall(struct extract_log *log, int64_t *seconds)
{
    struct extract_log_block block;
    for (size_t i = 0; log && extract_log_block_at(log, i, &block); i++)
        if (extract_log_holds_entries(&block)) {
            *seconds = (int64_t)(block.wall / NANO);
            return true;
        }
    return false;
}

// "from" or "to", by a date; BEFORE for one in front of the trace.
static enum extract_code set_date(char *time, size_t size, const char *option, const char *date,
                                  struct extract_log *log, struct extract_error *error)
{
    int64_t wanted, first;
    if (!parse_date(date, &wanted))
        return extract_error_set(error, EXTRACT_USAGE, option,
                                 "write month, day, hour, minute, second and year: mmddhhmmssyy",
                                 "\"%s\" is no date", date);
    if (!first_wall(log, &first))
        return extract_error_set(error, EXTRACT_USAGE, option,
                                 "give seconds from its start: -O starttime=SECONDS, endtime=",
                                 "the trace does not say when it was recorded; logs do");
    if (wanted < first)
        snprintf(time, size, "%s", BEFORE);
    else
        snprintf(time, size, "%llds", (long long)(wanted - first));
    return EXTRACT_OK;
}

enum extract_code cli_reporting_dates(struct extract_session_options *session,
                                      const struct cli_options *options, struct extract_log *log,
                                      struct cli_dates *room, struct extract_error *error)
{
    const struct cli_reporting *reporting = &options->reporting;
    enum extract_code code = EXTRACT_OK;
    *room = (struct cli_dates){"", ""};
    if (reporting->start_date)
        code = set_date(room->from, sizeof room->from, "-s", reporting->start_date, log, error);
    if (!code && reporting->end_date)
        code = set_date(room->to, sizeof room->to, "-e", reporting->end_date, log, error);
    if (strcmp(room->from, BEFORE) != 0)
        add_condition(session, EXTRACT_FILTER_FROM, room->from);
    if (strcmp(room->to, BEFORE) == 0)
        add_condition(session, EXTRACT_FILTER_LAST, "0"); // nothing of the trace
    else
        add_condition(session, EXTRACT_FILTER_TO, room->to);
    return code;
}
