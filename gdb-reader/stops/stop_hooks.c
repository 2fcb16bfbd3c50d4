// SPDX-License-Identifier: MIT
// gdb-reader: `ringside auto`, and the hook that runs at every stop.
//
// GDB runs the user-defined command hook-stop at every stop of the target. As there is only one,
// the user's own is redefined as _ringside-user-hook-stop, and the new hook-stop runs it before
// _ringside-at-stop. When neither `auto` nor `record` needs the hook, the user's own is restored.
// Its body is taken from the output of GDB's `show user`.
// Source: Debugging with GDB, "User-defined Command Hooks".
#define _GNU_SOURCE // memmem
#include "../gdb_commands.h"
#include "stops.h"
#include <stdlib.h>
#include <string.h>

enum { DEFAULT_EVENTS = 10, MAX_EVENTS = 10000 };

static const char user_hook[] = "_ringside-user-hook-stop";
static const char our_command[] = "_ringside-at-stop";

// Finds the body of a user-defined command in the output of `show user`: from its heading to that
// of the next command. An empty line separates the two, except after a command without a body;
// Python code in a body may hold empty lines, too. Returns the length; *body is NULL if the command
// is not defined.
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

static void define_command(struct extract_text *script, const char *name, const char *body,
                           size_t length)
{
    extract_text_printf(script, "define %s\n", name);
    extract_text_put(script, body, length);
    extract_text_puts(script, "end\n");
}

static bool is_ours(const char *body, size_t length)
{
    return body && memmem(body, length, our_command, strlen(our_command));
}

static void install_hook(struct extract_text *script, const char *shown)
{
    const char *body;
    size_t length = find_body(shown, "hook-stop", &body);

    if (is_ours(body, length))
        return;
    define_command(script, user_hook, body, length);
    extract_text_printf(script, "define hook-stop\n%s\n%s\nend\n", user_hook, our_command);
}

static void restore_user_hook(struct extract_text *script, const char *shown)
{
    const char *hook;
    const char *body;
    size_t length = find_body(shown, "hook-stop", &hook);

    if (!is_ours(hook, length))
        return; // the user has defined another hook in the meantime
    length = find_body(shown, user_hook, &body);
    define_command(script, "hook-stop", body, length);
}

void stops_update_hook(struct call *call)
{
    const char *shown = call->request->hooks ? call->request->hooks : "";
    const struct state *state = call->state;

    if (state->max_events_at_stop || state->recording)
        install_hook(&call->answer->script, shown);
    else
        restore_user_hook(&call->answer->script, shown);
}

// Returns the number, or 0 if the text is not a number from 1 to MAX_EVENTS.
static unsigned parse_count(const char *text)
{
    char *end;
    unsigned long count = strtoul(text, &end, 10);

    return *end || !*text || count > MAX_EVENTS ? 0 : (unsigned)count;
}

enum extract_code command_auto(struct call *call)
{
    const struct request *request = call->request;
    const char *action = request->argument_count ? request->arguments[0] : "";
    unsigned count = DEFAULT_EVENTS;

    if (request->argument_count == 2)
        count = parse_count(request->arguments[1]);
    if (strcmp(action, "on") == 0 && request->argument_count <= 2 && count) {
        call->state->max_events_at_stop = count;
        stops_update_hook(call);
        return EXTRACT_OK;
    }
    if (strcmp(action, "off") == 0 && request->argument_count == 1) {
        call->state->max_events_at_stop = 0;
        stops_update_hook(call);
        return EXTRACT_OK;
    }
    return extract_error_set(&call->answer->error, EXTRACT_USAGE, "auto",
                             "use `ringside auto on`, `ringside auto on N` or `ringside auto off`",
                             "invalid arguments (N is 1 to %d)", MAX_EVENTS);
}
