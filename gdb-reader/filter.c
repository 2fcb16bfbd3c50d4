// SPDX-License-Identifier: MIT
// gdb-reader: `ringside filter`, `start`, `stop` and `clear`. In: a target's filters or ring,
// words. Out: what it emits; a script by which GDB writes the bytes that change, or the words that
// ask the target's recorder for it.
#include "commands.h"
#include "query.h"
#include <extract/filter.h>
#include <string.h>

static void put_edits(const struct extract_control *control, struct extract_text *script)
{
    struct extract_edit edit;
    for (size_t i = 0; extract_control_edit(control, i, &edit); i++)
        extract_text_printf(script, "set {unsigned char}0x%llx = %u\n",
                            (unsigned long long)edit.address, edit.after);
}

static enum extract_code work(struct call *call, const struct query *query)
{
    const char *words[CHANNEL_ARGUMENTS];
    const struct request *request = call->request;
    struct answer *answer = call->answer;
    struct extract_control *control = NULL;
    size_t count = request->arguments;
    for (size_t i = 0; i < count; i++)
        words[i] = request->argument[i];
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
        put_edits(control, &answer->script);
    }
    extract_control_free(control);
    return code;
}

// ---- requests ----

static bool put_words(const struct extract_request *request, struct extract_text *script)
{
    struct extract_word word;
    size_t i = 0;
    for (; extract_request_word(request, i, &word); i++)
        extract_text_printf(script, "set {unsigned int}0x%llx = 0x%x\n",
                            (unsigned long long)word.address, (unsigned)word.value);
    return i > 0;
}

static void put_filter(const struct extract_request *request, bool changes,
                       struct extract_text *text)
{
    extract_text_puts(text, changes ? "before: " : "");
    extract_request_show(request, false, text);
    extract_text_puts(text, changes ? "after: " : "");
    if (changes)
        extract_request_show(request, true, text);
}

// Says what has come of a change. GDB gets there only if it could write every word.
static void put_outcome(const char *command, const struct extract_request *request,
                        struct extract_text *script)
{
    extract_text_printf(script, "printf \"%s: %s\\n\"\n", command,
                        extract_request_takes_effect_at_once(request)
                            ? "written"
                            : "requested; done when the target passes its next trace point");
}

static enum extract_code work_on_request(struct call *call, const struct query *query)
{
    const char *words[CHANNEL_ARGUMENTS];
    const struct request *asked = call->request;
    struct answer *answer = call->answer;
    struct extract_request *request = NULL;
    for (size_t i = 0; i < asked->arguments; i++)
        words[i] = asked->argument[i];
    enum extract_code code =
        extract_request_new(&request, extract_session_trace(query->session), query->memory,
                            asked->command, words, asked->arguments, &answer->error);
    bool changes = !code && put_words(request, &answer->script);
    if (changes)
        put_outcome(asked->command, request, &answer->script);
    if (!code && !strcmp(asked->command, "filter"))
        put_filter(request, changes, &answer->text);
    extract_request_free(request);
    return code == EXTRACT_NOTFOUND ? EXTRACT_USAGE : code;
}

enum extract_code command_request(struct call *call)
{
    const struct query_options choice = {.rkh = call->state->options.rkh};
    struct query query;
    enum extract_code code =
        query_open(&query, call->state, call->request, &choice, call->target, &call->answer->error);
    if (code)
        return code;
    code = work_on_request(call, &query);
    query_forget(&query);
    return code;
}

// ---- filters ----

// A change of a POSIX trace's filter, which its recorder carries out.
static bool is_request(const char *word)
{
    return !strcmp(word, "show") || !strcmp(word, "set") || !strcmp(word, "add") ||
           !strcmp(word, "sub");
}

// Of other recorders than RKH's: without words what is recorded is shown; on and off are no words
// of theirs.
static bool is_other(const struct query *query)
{
    const struct extract_trace *trace =
        query->session ? extract_session_trace(query->session) : NULL;
    return trace && strcmp(extract_trace_info(trace)->format, "rkh") != 0;
}

// A ring that cannot be read has no names, and its filters may be why.
enum extract_code command_filter(struct call *call)
{
    struct query_options choice = {.rkh = call->state->options.rkh};
    struct query query;
    if (call->request->arguments && is_request(call->request->argument[0]))
        return command_request(call);
    enum extract_code code = query_begin(&query, call->state, call->request, &choice, call->target,
                                         &call->answer->error);
    if (code)
        return code;
    query_trace(&query, &choice, NULL);
    code = is_other(&query) ? work_on_request(call, &query) : work(call, &query);
    query_close(&query);
    return code;
}
