// SPDX-License-Identifier: MIT
// fuzz: templates that run on an entry. The input starts with a byte of choices, one for the
// dialect and one for the margin. The text of the templates up to a 0 and the entry follow.
//
// Nothing may crash, leak or hang. In addition, the text is within its limits and contains no
// control characters except tabs and line ends. A fault has its marker. Compiled and optimized
// programs give the same text.
#include "templates/program.h"
#include <stdlib.h>
#include <string.h>

enum { BITS_64 = 1, GENERIC = 2, LITTLE = 4, EXPAND = 8, NAMED = 16, LOGGED = 32, HEAD = 3 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
    if (!holds)
        __builtin_trap();
}

static const char *name_of(void *context, const struct extract_entry *entry, uint64_t value,
                           unsigned word, size_t *length)
{
    (void)context, (void)entry;
    check(word <= 5);
    *length = value % 8;
    return value % 3 ? "a thread" : NULL;
}

// Returns the operations as compiled, but with the calls as linked.
static struct template_op *plain_ops(const struct extract_templates *templates,
                                     const struct template_op *before)
{
    size_t bytes = templates->op_count * sizeof *before;
    struct template_op *ops = malloc(bytes + 1);
    check(ops);
    for (uint32_t i = 0; i < templates->op_count; i++)
        ops[i] = before[i].code == OP_CALL ? templates->ops[i] : before[i];
    return ops;
}

static void check_text(const struct extract_outcome *outcome)
{
    check(outcome->length <= EXTRACT_MAX_OUTPUT);
    for (size_t i = 0; i < outcome->length; i++) {
        unsigned char c = (unsigned char)outcome->text[i];
        check((c >= 0x20 && c != 0x7f) || c == '\n' || c == '\t');
        check(c != '\n' || !i || outcome->text[i - 1] != ' ');
    }
    check((outcome->ending == EXTRACT_ENDS_FAULT) == (outcome->fault != NULL));
    check(outcome->ending != EXTRACT_ENDS_SKIP || !outcome->length);
    if (!outcome->fault)
        return;
    size_t length = strlen(outcome->fault);
    check(outcome->length >= length + 8);
    const char *marker = outcome->text + outcome->length - length - 8;
    check(!memcmp(marker, "RUNTIME:", 8) && !memcmp(marker + 8, outcome->fault, length));
}

static void run(const struct extract_templates *templates, struct extract_entry *entry,
                const uint8_t *head, struct extract_formatter **formatter,
                struct extract_outcome *outcome)
{
    static const struct extract_template_host host = {.name = name_of, .wide_unknown = true};
    check(!extract_formatter_open(formatter, templates, *head & NAMED ? &host : NULL, NULL));
    const struct extract_template *chosen =
        extract_templates_find(templates, EXTRACT_HOOKS_16, entry->hook);
    extract_formatter_run(*formatter, chosen, entry, head[2], *head & EXPAND, outcome);
    check_text(outcome);
}

static void compare(const struct extract_templates *templates, const struct template_op *before,
                    struct extract_entry *entry, const uint8_t *head)
{
    struct extract_formatter *one, *other;
    struct extract_outcome a, b;
    struct extract_templates plain = *templates;
    plain.ops = plain_ops(templates, before);
    run(templates, entry, head, &one, &a);
    run(&plain, entry, head, &other, &b);
    // If the output is full, a joined operation fails one piece earlier.
    if (!a.fault || strcmp(a.fault, "E-OUTPUT")) {
        check(a.length == b.length && !memcmp(a.text, b.text, a.length));
        check(a.ending == b.ending && !a.fault == !b.fault);
    }
    extract_formatter_close(one);
    extract_formatter_close(other);
    free(plain.ops);
}

static void run_all(struct extract_templates *templates, struct extract_entry *entry,
                    const uint8_t *head)
{
    size_t bytes = templates->op_count * sizeof *templates->ops;
    struct template_op *before = malloc(bytes + 1);
    check(before);
    if (bytes)
        memcpy(before, templates->ops, bytes);
    if (!extract_templates_link(templates, NULL))
        compare(templates, before, entry, head);
    free(before);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const uint8_t *end = size > HEAD ? memchr(data + HEAD, 0, size - HEAD) : NULL;
    struct extract_templates *templates;
    struct extract_entry entry;
    if (!end || extract_entry_parse(&entry, end + 1, (size_t)(data + size - end) - 1,
                                    *data & BITS_64 ? 64 : 32, *data & GENERIC, NULL))
        return 0;
    entry.little = *data & LITTLE;
    entry.log_file = *data & LOGGED ? "a\x1blog" : NULL;
    entry.exec = "/usr/bin/\n";
    check(!extract_templates_open(&templates, data[1], NULL));
    if (!extract_templates_add(templates, "fuzz", (const char *)data + HEAD,
                               (size_t)(end - data) - HEAD, false, NULL))
        run_all(templates, &entry, data);
    extract_templates_close(templates);
    return 0;
}
