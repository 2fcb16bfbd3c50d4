// SPDX-License-Identifier: MIT
// report/columns: the words of -O. In: "exec=off,timestamp=2". Out: which columns a report has, and
// how.
#include <extract/filter.h>
#include <extract/report.h>
#include <string.h>

// Bytes of a word with its value, and its end.
enum { MAX_WORD = 64 };

static bool *flag_of(struct extract_columns *columns, const char *word)
{
    const struct {
        const char *word;
        bool *flag;
    } flags[] = {
        {"2line", &columns->two_lines},
        {"exec", &columns->exec},
        {"filename", &columns->filename},
        {"hist", &columns->histogram},
        {"ids", &columns->ids},
        {"pid", &columns->pid},
        {"prio", &columns->prio},
        {"removedups", &columns->duplicates}, // turned round by its caller
        {"seq", &columns->seq},
        {"svc", &columns->svc},
        {"tid", &columns->tid},
    };
    for (size_t i = 0; i < sizeof flags / sizeof *flags; i++)
        if (strcmp(flags[i].word, word) == 0)
            return flags[i].flag;
    return NULL;
}

static enum extract_code bad_value(const char *word, const char *hint, const char *value,
                                   struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, word, hint, "\"%s\" is not a value of it",
                             value);
}

static enum extract_code set_flag(bool *flag, const char *word, const char *value,
                                  struct extract_error *error)
{
    bool on = !value || strcmp(value, "on") == 0;
    if (!on && strcmp(value, "off") != 0)
        return bad_value(word, "write on or off", value, error);
    *flag = strcmp(word, "removedups") == 0 ? !on : on;
    return EXTRACT_OK;
}

static enum extract_code set_cpuid(struct extract_columns *columns, const char *word,
                                   const char *value, struct extract_error *error)
{
    bool on = false;
    enum extract_code code = set_flag(&on, word, value, error);
    if (!code)
        columns->cpuid = on ? EXTRACT_COLUMN_ON : EXTRACT_COLUMN_OFF;
    return code;
}

static enum extract_code set_number(unsigned *number, uint64_t most, const char *word,
                                    const char *value, struct extract_error *error)
{
    uint64_t parsed;
    if (!value)
        return extract_error_set(error, EXTRACT_USAGE, word, NULL, "its value is missing");
    if (!extract_number_parse(value, &parsed) || parsed > most)
        return extract_error_set(error, EXTRACT_USAGE, word, NULL,
                                 "\"%s\" is not a number from 0 to %u", value, (unsigned)most);
    *number = (unsigned)parsed;
    return EXTRACT_OK;
}

static enum extract_code set_times(struct extract_columns *columns, const char *word,
                                   const char *value, struct extract_error *error)
{
    unsigned times = columns->times;
    enum extract_code code = set_number(&times, EXTRACT_TIMES_NONE, word, value, error);
    columns->times = (enum extract_times)times;
    return code;
}

static enum extract_code set_word(struct extract_columns *columns, char *word,
                                  extract_columns_word *other, void *context,
                                  struct extract_error *error)
{
    char *value = strchr(word, '=');
    if (value)
        *value++ = 0;
    bool *flag = flag_of(columns, word);
    if (flag)
        return set_flag(flag, word, value, error);
    if (strcmp(word, "cpuid") == 0)
        return set_cpuid(columns, word, value, error);
    if (strcmp(word, "pagesize") == 0)
        return set_number(&columns->page_lines, EXTRACT_MAX_PAGE, word, value, error);
    if (strcmp(word, "timestamp") == 0)
        return set_times(columns, word, value, error);
    if (other)
        return other(context, word, value, error);
    return extract_error_set(error, EXTRACT_USAGE, word,
                             "there are 2line, cpuid, exec, filename, hist, ids, pagesize, pid, "
                             "prio, removedups, seq, svc, tid and timestamp",
                             "-O has no such word");
}

enum extract_code extract_columns_set(struct extract_columns *columns, const char *words,
                                      extract_columns_word *other, void *context,
                                      struct extract_error *error)
{
    for (;;) {
        char word[MAX_WORD];
        size_t length = strcspn(words, ",");
        if (length >= sizeof word)
            return extract_error_set(error, EXTRACT_USAGE, words, NULL, "-O has no such word");
        memcpy(word, words, length);
        word[length] = 0;
        enum extract_code code = set_word(columns, word, other, context, error);
        if (code || !words[length])
            return code;
        words += length + 1;
    }
}
