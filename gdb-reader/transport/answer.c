// SPDX-License-Identifier: MIT
// gdb-reader: what a command has to say, and the GDB script that says it.
//
// In: text, numbers, an error. Out: a script of GDB commands in which every byte but NUL survives
// GDB's parsers. Debugging with GDB, sections "Commands for Controlled Output" and
// "Convenience Variables".
#include "answer.h"
#include <string.h>

void answer_init(struct answer *answer)
{
    memset(answer, 0, sizeof *answer);
    extract_text_init(&answer->text, NULL, NULL);
    extract_text_init(&answer->script, NULL, NULL);
}

void answer_free(struct answer *answer)
{
    extract_text_free(&answer->text);
    extract_text_free(&answer->script);
}

// One character of a `printf` format: the escapes that GDB knows there are few, and no octal ones.
static void put_format(struct extract_text *script, char c)
{
    switch (c) {
    case '\0': // cannot stand in a script
        break;
    case '\n':
        extract_text_puts(script, "\\n");
        break;
    case '%':
        extract_text_puts(script, "%%");
        break;
    case '"':
    case '\\':
        extract_text_putc(script, '\\');
        extract_text_putc(script, c);
        break;
    default:
        extract_text_putc(script, c);
    }
}

// One `printf` a line of the text, so that GDB's pager and an interrupt come in between.
static void put_printf(struct extract_text *script, const char *text, size_t length)
{
    for (size_t i = 0; i < length;) {
        extract_text_puts(script, "printf \"");
        do {
            put_format(script, text[i]);
        } while (text[i++] != '\n' && i < length);
        extract_text_puts(script, "\"\n");
    }
}

// A C string literal for GDB's expression parser.
static void put_literal(struct extract_text *script, const char *string)
{
    extract_text_putc(script, '"');
    for (; *string; string++) {
        unsigned char c = (unsigned char)*string;
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            extract_text_printf(script, "\\%03o", c);
        else
            extract_text_putc(script, *string);
    }
    extract_text_putc(script, '"');
}

static void put_error(struct extract_text *script, const struct answer *answer)
{
    char message[sizeof(struct extract_error)] = "";

    if (answer->error.code)
        extract_error_format(&answer->error, message, sizeof message);
    extract_text_puts(script, "set $ringside_error = ");
    put_literal(script, message);
    extract_text_printf(script, "\nset $_ringside_failed = %d\n", answer->error.code != 0);
}

static void put_count(struct extract_text *script, const char *name, bool known, uint64_t value)
{
    if (known)
        extract_text_printf(script, "set $ringside_%s = 0x%llx\n", name, (unsigned long long)value);
    else
        extract_text_printf(script, "set $ringside_%s = (void)0\n", name);
}

enum extract_code answer_script(const struct answer *answer, size_t pieces,
                                struct extract_text *script)
{
    extract_text_printf(script, "set $_ringside_answered = 1\nset $ringside_status = %d\n",
                        answer->status);
    put_error(script, answer);
    put_count(script, "events", answer->counted, answer->events);
    put_count(script, "lost", answer->counted && answer->lost_known, answer->lost);
    for (size_t i = 0; i < pieces; i++)
        extract_text_puts(script, "with max-value-size unlimited -- _ringside-print\n");
    if (!pieces)
        put_printf(script, answer->text.data, answer->text.used);
    extract_text_put(script, answer->script.data, answer->script.used);
    return script->code ? script->code : answer->text.code;
}
