// SPDX-License-Identifier: MIT
// gdb-reader: what happens at every stop: `ringside auto` shows the newest events, a recording
// gets them.
//
// In: what GDB's `show user` prints. Out: definitions of hook-stop. GDB has one hook-stop, so the
// user's own moves to _ringside-user-hook-stop, which ours runs first, and back again.
// Debugging with GDB, "User-defined Command Hooks".
#define _GNU_SOURCE // memmem
#include "../commands.h"
#include "stops.h"
#include <stdlib.h>
#include <string.h>

enum { SHOWN_BY_DEFAULT = 10, SHOWN_AT_MOST = 10000 };

static const char user_hook[] = "_ringside-user-hook-stop";
static const char our_command[] = "_ringside-at-stop";

// The body of a user-defined command in `show user`: from behind its head to the next one's. An
// empty line stands between, but not behind a command without a body, and Python in a body may
// hold some too. Returns its length; *body is NULL when there is no such command.
static size_t find_body(const char *shown, const char *name, const char **body)
{
    char head[64] = "User command \"";

    strcat(strcat(head, name), "\":\n");
    *body = strstr(shown, head);
    if (!*body)
        return 0;
    *body += strlen(head);
    const char *next = strstr(*body - 1, "\nUser ");
    size_t length = next ? (size_t)(next + 1 - *body) : strlen(*body);
    while (length >= 2 && (*body)[length - 1] == '\n' && (*body)[length - 2] == '\n')
        length--;
    return length == 1 ? 0 : length;
}

static void define(struct extract_text *script, const char *name, const char *body, size_t length)
{
    extract_text_printf(script, "define %s\n", name);
    extract_text_put(script, body, length);
    extract_text_puts(script, "end\n");
}

static bool is_ours(const char *body, size_t length)
{
    return body && memmem(body, length, our_command, strlen(our_command));
}

static void turn_on(struct extract_text *script, const char *shown)
{
    const char *body;
    size_t length = find_body(shown, "hook-stop", &body);

    if (is_ours(body, length))
        return;
    define(script, user_hook, body, length);
    extract_text_printf(script, "define hook-stop\n%s\n%s\nend\n", user_hook, our_command);
}

static void turn_off(struct extract_text *script, const char *shown)
{
    const char *hook;
    const char *body;
    size_t length = find_body(shown, "hook-stop", &hook);

    if (!is_ours(hook, length))
        return; // the user has defined another one since
    length = find_body(shown, user_hook, &body);
    define(script, "hook-stop", body, length);
}

void stops_hook(struct call *call)
{
    const char *shown = call->request->hooks ? call->request->hooks : "";
    const struct state *state = call->state;

    (state->at_stop || state->recording ? turn_on : turn_off)(&call->answer->script, shown);
}

static unsigned read_count(const char *text)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);

    return *end || !*text || count > SHOWN_AT_MOST ? 0 : (unsigned)count;
}

enum extract_code command_auto(struct call *call)
{
    const struct request *request = call->request;
    const char *word = request->arguments ? request->argument[0] : "";
    unsigned count = SHOWN_BY_DEFAULT;

    if (request->arguments == 2)
        count = read_count(request->argument[1]);
    if (strcmp(word, "on") == 0 && request->arguments <= 2 && count) {
        call->state->at_stop = count;
        stops_hook(call);
        return EXTRACT_OK;
    }
    if (strcmp(word, "off") == 0 && request->arguments == 1) {
        call->state->at_stop = 0;
        stops_hook(call);
        return EXTRACT_OK;
    }
    return extract_error_set(&call->answer->error, EXTRACT_USAGE, "auto", NULL,
                             "use `ringside auto on`, `ringside auto on N` (1 to %d) or "
                             "`ringside auto off`",
                             SHOWN_AT_MOST);
}
