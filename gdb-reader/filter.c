// SPDX-License-Identifier: MIT
// gdb-reader: `ringside filter`. In: an RKH target's filters, words. Out: what it emits; on the
// words on and off, a script by which GDB writes the bytes that change.
#include "commands.h"
#include "look.h"
#include <extract/filter.h>

static void put_edits(const struct extract_control *control, struct extract_text *script)
{
    struct extract_edit edit;
    for (size_t i = 0; extract_control_edit(control, i, &edit); i++)
        extract_text_printf(script, "set {unsigned char}0x%llx = %u\n",
                            (unsigned long long)edit.address, edit.after);
}

static enum extract_code work(struct call *call, const struct look *look)
{
    const char *words[CHANNEL_ARGUMENTS];
    const struct request *request = call->request;
    struct answer *answer = call->answer;
    struct extract_control *control = NULL;
    size_t count = request->arguments;
    for (size_t i = 0; i < count; i++)
        words[i] = request->argument[i];
    enum extract_code code = extract_control_read(
        &control, look->memory, call->state->symbols,
        look->session ? extract_session_trace(look->session) : NULL, &look->rkh, &answer->error);
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

// A ring that cannot be read has no names, and its filters may be why.
enum extract_code command_filter(struct call *call)
{
    struct choice choice = {.rkh = call->state->options.rkh};
    struct look look;
    enum extract_code code =
        look_begin(&look, call->state, call->request, &choice, call->target, &call->answer->error);
    if (code)
        return code;
    look_trace(&look, &choice, NULL);
    code = work(call, &look);
    look_close(&look);
    return code;
}
