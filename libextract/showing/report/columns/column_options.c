// SPDX-License-Identifier: MIT
// report/columns: the settings of -O, such as "exec=off,timestamp=2". They choose the columns of a
// report and its layout. Settings that are not about columns go to a callback of the caller.
#include <extract/filter.h>
#include <extract/report.h>
#include <string.h>

enum { SETTING_BYTES = 64 }; // capacity for a name with its value, and a NUL

// Returns the flag that a setting sets, or NULL.
static bool *find_flag(struct extract_columns *columns, const char *name)
{
    const struct {
        const char *name;
        bool *flag;
    } flags[] = {
        {"2line", &columns->two_lines},
        {"exec", &columns->exec},
        {"filename", &columns->filename},
        {"hist", &columns->histogram},
        {"ids", &columns->ids},
        {"pid", &columns->pid},
        {"prio", &columns->prio},
        {"removedups", &columns->duplicates}, // set_flag inverts it
        {"seq", &columns->seq},
        {"svc", &columns->svc},
        {"tid", &columns->tid},
    };

    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].name, name) == 0)
            return flags[i].flag;
    return NULL;
}

static enum extract_code set_flag(bool *flag, const char *name, const char *value,
                                  struct extract_error *error)
{
    bool is_on = !value || strcmp(value, "on") == 0;

    if (!is_on && strcmp(value, "off") != 0)
        return extract_error_set(error, EXTRACT_USAGE, name, "use on or off", "invalid value '%s'",
                                 value);
    *flag = strcmp(name, "removedups") == 0 ? !is_on : is_on;
    return EXTRACT_OK;
}

static enum extract_code set_number(unsigned *number, uint64_t max, const char *name,
                                    const char *value, struct extract_error *error)
{
    uint64_t parsed;

    if (!value)
        return extract_error_set(error, EXTRACT_USAGE, name, NULL, "value is missing");
    if (!extract_number_parse(value, &parsed) || parsed > max)
        return extract_error_set(error, EXTRACT_USAGE, name, NULL,
                                 "'%s' is not a number from 0 to %u", value, (unsigned)max);
    *number = (unsigned)parsed;
    return EXTRACT_OK;
}

// Applies one setting, "NAME" or "NAME=VALUE". Splits the string at its '='.
static enum extract_code apply_setting(struct extract_columns *columns, char *setting,
                                       extract_columns_word *other, void *context,
                                       struct extract_error *error)
{
    const char *name = setting;
    char *value = strchr(setting, '=');

    if (value)
        *value++ = 0;
    bool *flag = find_flag(columns, name);
    if (flag)
        return set_flag(flag, name, value, error);
    if (strcmp(name, "cpuid") == 0) {
        bool is_on = columns->cpuid == EXTRACT_COLUMN_ON;
        enum extract_code code = set_flag(&is_on, name, value, error);
        if (!code)
            columns->cpuid = is_on ? EXTRACT_COLUMN_ON : EXTRACT_COLUMN_OFF;
        return code;
    }
    if (strcmp(name, "pagesize") == 0)
        return set_number(&columns->page_lines, EXTRACT_MAX_PAGE, name, value, error);
    if (strcmp(name, "timestamp") == 0) {
        unsigned times = columns->times;
        enum extract_code code = set_number(&times, EXTRACT_TIMES_NONE, name, value, error);
        columns->times = (enum extract_times)times;
        return code;
    }
    if (other)
        return other(context, name, value, error);
    return extract_error_set(error, EXTRACT_USAGE, name,
                             "use 2line, cpuid, exec, filename, hist, ids, pagesize, pid, prio, "
                             "removedups, seq, svc, tid or timestamp",
                             "unknown setting of -O");
}

enum extract_code extract_columns_set(struct extract_columns *columns, const char *words,
                                      extract_columns_word *other, void *context,
                                      struct extract_error *error)
{
    for (;;) {
        char setting[SETTING_BYTES];
        size_t length = strcspn(words, ",");
        if (length >= sizeof setting)
            return extract_error_set(error, EXTRACT_USAGE, words, NULL, "unknown setting of -O");
        memcpy(setting, words, length);
        setting[length] = 0;
        enum extract_code code = apply_setting(columns, setting, other, context, error);
        if (code || !words[length])
            return code;
        words += length + 1;
    }
}
