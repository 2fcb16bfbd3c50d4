// SPDX-License-Identifier: MIT
// templates/run: formatters. A formatter runs a template on an entry and returns the entry's text.
// Nothing is allocated while it runs, since its output is a part of the formatter.
#include "templates/run/template_run.h"
#include <stdlib.h>

enum { HOOK_DEFAULT = 0x0080 }; // hook id 008, with 16 bits

enum extract_code extract_formatter_open(struct extract_formatter **formatter,
                                         const struct extract_templates *templates,
                                         const struct extract_template_host *host,
                                         struct extract_error *error)
{
    *formatter = NULL;
    struct extract_formatter *made = calloc(1, sizeof *made);
    if (made)
        made->numbers = newlocale(LC_ALL_MASK, "C", (locale_t)0);
    if (!made || !made->numbers) {
        free(made);
        return extract_error_set(error, EXTRACT_NOMEM, "formatter", "free some memory on this host",
                                 "cannot allocate %zu bytes", sizeof *made);
    }
    made->templates = templates;
    made->host = host;
    *formatter = made;
    return EXTRACT_OK;
}

void extract_formatter_close(struct extract_formatter *formatter)
{
    if (!formatter)
        return;
    freelocale(formatter->numbers);
    free(formatter);
}

// Sets the data pointer to the hook data; in a 32-bit generic entry, to what follows the hook word.
static int64_t first_pointer(const struct extract_formatter *run, const struct extract_entry *entry)
{
    if (entry->bits != 64)
        return entry->generic ? 4 * 8 : 2 * 8;
    bool is_after_word = entry->generic && run->templates->dialect & EXTRACT_DIALECT_GENERIC_8;
    return is_after_word ? 8 * 8 : 6 * 8;
}

static void begin_event(struct extract_formatter *run, const struct extract_entry *entry,
                        unsigned margin, bool expand)
{
    run->entry = entry;
    run->writer =
        (struct text_writer){NULL, run->text, run->text + EXTRACT_MAX_OUTPUT - RUN_RESERVE};
    run->line = run->text;
    run->gap = GAP_NONE;
    run->line_number = 1;
    run->margin = margin < RUN_MAX_MARGIN ? margin : RUN_MAX_MARGIN;
    run->expand = expand;
    run->word = entry->bits == 64 ? 8 : 4;
    run->buffer = run->word * 2u;
    run->swap_buffer = entry->generic && entry->little;
    run->depth = run->loop_depth = run->top = run->set = 0;
    run->pointer = first_pointer(run, entry);
    run->base = 0;
    run->words = entry->generic || !entry->bytes ? 0 : run_words_of(run, entry->length);
    run->steps = TEMPLATE_STEPS;
    run->bytes = extract_cursor_make(entry->bytes, entry->length, EXTRACT_BIG);
    run->text_register = (struct run_span){"", 0};
    run->ending = EXTRACT_ENDS_WELL;
    run->fault = NULL;
}

static void run_program(struct extract_formatter *run, uint32_t program)
{
    const struct template_op *op = run->templates->ops + program;

    while (op)
        op = run_steps[op->code](run, op);
}

static bool dump_words(struct extract_formatter *run, size_t end)
{
    struct template_op word = {.kind = KIND_HEX};

    for (size_t at = run->word; at + run->word <= end; at += run->word) {
        uint64_t value = 0;
        if (!run_number(run, run->word, &value) || !run_show(run, &word, value, 0))
            return false;
    }
    return true;
}

// Prints the bytes from the data pointer to the end, without blanks.
static void dump_bytes(struct extract_formatter *run)
{
    struct template_op byte = {.kind = KIND_HEX, .width = 1};

    for (uint64_t value = 0; extract_cursor_left(&run->bytes); byte.flags = OP_ABUTS)
        if (!run_number(run, 1, &value) || !run_show(run, &byte, value, 0))
            return;
}

static void dump_entry(struct extract_formatter *run)
{
    size_t length = run->bytes.length;
    size_t words = run->entry->generic && length > run->buffer ? run->buffer : length;
    struct template_op id = {.kind = KIND_PLAIN};

    run_move(run, run->word * 8);
    if (run_show(run, &id, run_system(run, SYSTEM_TRACEID), 0) &&
        extract_cursor_seek(&run->bytes, run->word) && dump_words(run, words))
        dump_bytes(run);
}

static void run_default(struct extract_formatter *run)
{
    const struct extract_template *other =
        extract_templates_find(run->templates, EXTRACT_HOOKS_16, HOOK_DEFAULT);

    if (other)
        run_program(run, other->program);
    else
        dump_entry(run);
    if (run->ending == EXTRACT_ENDS_WELL)
        run_fail(run, "E-NOTMPL");
}

void extract_formatter_run(struct extract_formatter *run, const struct extract_template *chosen,
                           const struct extract_entry *entry, unsigned margin, bool expand,
                           struct extract_outcome *outcome)
{
    begin_event(run, entry, margin, expand);
    if (chosen)
        run_program(run, chosen->program);
    else
        run_default(run);
    run_finish(run);
    outcome->text = run->text;
    outcome->length = (size_t)(run->writer.at - run->text);
    outcome->ending = run->ending;
    outcome->fault = run->fault;
}
