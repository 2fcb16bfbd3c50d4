// SPDX-License-Identifier: MIT
// probe/qemu: QMP. In: commands. Out: JSON lines to QEMU; answers, and the events between them. An
// answer is one line. Only the few members of its JSON that are needed are searched for.
#include "probe/qemu/qmp.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_event(const char *line, const char *name)
{
    const char *at = strstr(line, "\"event\": \"");
    size_t length = strlen(name);
    return at && !strncmp(at + 10, name, length) && at[10 + length] == '"';
}

static void note_event(struct qmp *qmp, const char *line)
{
    if (is_event(line, "RESUME"))
        qmp->stopped = false;
    if (is_event(line, "STOP"))
        qmp->has_stopped = true;
    if (is_event(line, "RESET"))
        qmp->resets++;
}

// The line that answers a command; NULL when it is an error, or none comes.
static const char *answer(struct qmp *qmp)
{
    const char *line;
    while ((line = channel_line(&qmp->channel, true))) {
        if (!strncmp(line, "{\"return\"", 9))
            return line;
        if (!strncmp(line, "{\"error\"", 8))
            return NULL;
        note_event(qmp, line);
    }
    return NULL;
}

static const char *execute(struct qmp *qmp, const char *command)
{
    char line[512];
    int length = snprintf(line, sizeof line, "{\"execute\": %s}\n", command);
    if (length >= (int)sizeof line || !channel_send(&qmp->channel, line, (size_t)length))
        return NULL;
    return answer(qmp);
}

static const char *query_status(struct qmp *qmp)
{
    const char *line = execute(qmp, "\"query-status\"");
    qmp->stopped = line && strstr(line, "\"running\": false");
    return line;
}

bool qmp_update(struct qmp *qmp)
{
    return query_status(qmp) != NULL;
}

bool qmp_met_breakpoint(struct qmp *qmp)
{
    if (!qmp_pump(qmp) || !qmp->has_stopped)
        return false;
    qmp->has_stopped = false;
    const char *line = query_status(qmp);
    return qmp->stopped && strstr(line, "\"status\": \"debug\"");
}

bool qmp_is_architecture(struct qmp *qmp, const char *name)
{
    static const char key[] = "\"arch\": \"";
    const char *line = execute(qmp, "\"query-target\""), *at = line ? strstr(line, key) : NULL;
    return at && !strncmp(at + sizeof key - 1, name, strlen(name));
}

enum extract_code qmp_begin(struct qmp *qmp, struct extract_error *error)
{
    const char *greeting = channel_line(&qmp->channel, true);
    if (!greeting || strncmp(greeting, "{\"QMP\"", 6) || !execute(qmp, "\"qmp_capabilities\"") ||
        !qmp_update(qmp))
        return extract_error_set(error, EXTRACT_IO, "QMP",
                                 "did QEMU start, and does no one else use this socket?",
                                 "no QMP server answers");
    return EXTRACT_OK;
}

bool qmp_stop(struct qmp *qmp)
{
    if (!execute(qmp, "\"stop\""))
        return false;
    qmp->stopped = true;
    return true;
}

bool qmp_cont(struct qmp *qmp)
{
    qmp->stopped = false;
    return execute(qmp, "\"cont\"") != NULL;
}

// The machine resets after the answer, and reports it.
bool qmp_reset(struct qmp *qmp)
{
    unsigned before = qmp->resets;
    if (!execute(qmp, "\"system_reset\""))
        return false;
    while (qmp->resets == before) {
        const char *line = channel_line(&qmp->channel, true);
        if (!line)
            return false;
        note_event(qmp, line);
    }
    return true;
}

bool qmp_pump(struct qmp *qmp)
{
    const char *line;
    while ((line = channel_line(&qmp->channel, false)))
        note_event(qmp, line);
    return !qmp->channel.dead;
}

static char unescaped(char c)
{
    return c == 'n' ? '\n' : c == 'r' ? '\r' : c == 't' ? '\t' : c;
}

bool qmp_monitor(struct qmp *qmp, const char *command, struct extract_text *text)
{
    char line[256];
    snprintf(line, sizeof line,
             "\"human-monitor-command\", \"arguments\": {\"command-line\": \"%s\"}", command);
    const char *at = execute(qmp, line);
    at = at ? strstr(at, "\"return\": \"") : NULL;
    if (!at)
        return false;
    for (at += 11; *at && *at != '"'; at++) {
        if (*at == '\\' && at[1])
            extract_text_putc(text, unescaped(*++at));
        else
            extract_text_putc(text, *at);
    }
    return !text->code;
}
