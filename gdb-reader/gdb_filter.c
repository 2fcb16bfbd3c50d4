// SPDX-License-Identifier: MIT
// gdb-reader: `ringside filter`, `start`, `stop` and `clear`, the only commands that write to the
// target.
//
// The library computes what must be written. For RKH, that is bytes of the filter tables; for the
// other formats, a filter word or a request to the target's recorder. The reader never writes
// memory itself. The answer's script holds GDB `set` commands for it, so that GDB's own checks and
// errors apply.
#include "gdb_commands.h"
#include "query.h"
#include <extract/filter.h>
#include <string.h>

static size_t copy_arguments(const struct request *request,
                             const char *words[CHANNEL_MAX_ARGUMENTS])
{
    for (size_t i = 0; i < request->argument_count; i++)
        words[i] = request->arguments[i];
    return request->argument_count;
}

// ---- RKH: filter tables ----

static enum extract_code change_tables(struct call *call, const struct query *query)
{
    const char *words[CHANNEL_MAX_ARGUMENTS];
    const size_t count = copy_arguments(call->request, words);
    struct answer *answer = call->answer;
    struct extract_control *control = NULL;
    struct extract_edit edit;
    enum extract_code code = extract_control_read(
        &control, query->memory, call->state->symbols,
        query->session ? extract_session_trace(query->session) : NULL, &query->rkh, &answer->error);

    if (!code)
        code = extract_control_change(control, words, count, &answer->error);
    if (!code) {
        extract_text_puts(&answer->text, count ? "before:\n" : "");
        extract_control_show(control, false, &answer->text);
        extract_text_puts(&answer->text, count ? "after:\n" : "");
        if (count)
            extract_control_show(control, true, &answer->text);
        for (size_t i = 0; extract_control_edit(control, i, &edit); i++)
            extract_text_printf(&answer->script, "set {unsigned char}0x%llx = %u\n",
                                (unsigned long long)edit.address, edit.after);
    }
    extract_control_free(control);
    return code;
}

// ---- Other formats: requests to the recorder ----

// Appends the GDB commands that write the request. Returns whether there is anything to write.
static bool put_writes(const struct extract_request *request, struct extract_text *script)
{
    struct extract_word word;
    size_t i = 0;

    for (; extract_request_word(request, i, &word); i++)
        extract_text_printf(script, "set {unsigned int}0x%llx = 0x%x\n",
                            (unsigned long long)word.address, (unsigned)word.value);
    return i > 0;
}

static void put_filter(const struct extract_request *request, bool has_changes,
                       struct extract_text *text)
{
    extract_text_puts(text, has_changes ? "before: " : "");
    extract_request_show(request, false, text);
    extract_text_puts(text, has_changes ? "after: " : "");
    if (has_changes)
        extract_request_show(request, true, text);
}

static enum extract_code make_request(struct call *call, const struct query *query)
{
    const char *words[CHANNEL_MAX_ARGUMENTS];
    const size_t count = copy_arguments(call->request, words);
    const char *command = call->request->command;
    struct answer *answer = call->answer;
    struct extract_request *request = NULL;
    enum extract_code code =
        extract_request_new(&request, extract_session_trace(query->session), query->memory, command,
                            words, count, &answer->error);
    const bool has_changes = !code && put_writes(request, &answer->script);

    if (has_changes) // GDB reaches this line only if it could write every word
        extract_text_printf(&answer->script, "printf \"%s: %s\\n\"\n", command,
                            extract_request_takes_effect_at_once(request)
                                ? "written"
                                : "requested; done when the target passes its next trace point");
    if (!code && strcmp(command, "filter") == 0)
        put_filter(request, has_changes, &answer->text);
    extract_request_free(request);
    return code == EXTRACT_NOTFOUND ? EXTRACT_USAGE : code;
}

enum extract_code command_request(struct call *call)
{
    const struct query_options options = {.rkh = call->state->options.rkh};
    struct query query;
    enum extract_code code = query_open(&query, call->state, call->request, &options, call->target,
                                        &call->answer->error);

    if (code)
        return code;
    code = make_request(call, &query);
    query_discard(&query);
    return code;
}

// ---- filter ----

// Returns whether the first argument is one that RKH does not have: the others are `on` and `off`.
static bool is_for_request(const char *argument)
{
    return strcmp(argument, "show") == 0 || strcmp(argument, "set") == 0 ||
           strcmp(argument, "add") == 0 || strcmp(argument, "sub") == 0;
}

// Without a trace, the format is assumed to be RKH. Its filter tables are found by symbols, and the
// filter may be the reason why the ring is empty.
static bool is_rkh(const struct query *query)
{
    return !query->session ||
           strcmp(extract_trace_info(extract_session_trace(query->session))->format, "rkh") == 0;
}

enum extract_code command_filter(struct call *call)
{
    const struct query_options options = {.rkh = call->state->options.rkh};
    struct query query;

    if (call->request->argument_count && is_for_request(call->request->arguments[0]))
        return command_request(call);
    enum extract_code code = query_open_memory(&query, call->state, call->request, &options,
                                               call->target, &call->answer->error);
    if (code)
        return code;
    query_open_session(&query, &options, NULL);
    code = is_rkh(&query) ? change_tables(call, &query) : make_request(call, &query);
    query_close(&query);
    return code;
}
