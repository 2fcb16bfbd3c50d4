// SPDX-License-Identifier: MIT
// gdb-reader: the answer of a command, and the GDB script that delivers it.
//
// An answer is text, numbers and possibly an error. GDB sources the script made of it. The script
// quotes every byte, except NUL, so that it survives GDB's parsers. Source: Debugging with GDB,
// sections "Commands for Controlled Output" and "Convenience Variables".
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

// Appends one character of a `printf` format. GDB knows few escapes there, and no octal ones.
static void put_format(struct extract_text *script, char c)
{
    switch (c) {
    case '\0': // a script cannot hold it
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

// Appends one `printf` per line, so that GDB's pager and Ctrl-C work between lines.
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

// Appends a C string literal for GDB's expression parser.
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

static void put_count(struct extract_text *script, const char *name, bool is_known, uint64_t value)
{
    if (is_known)
        extract_text_printf(script, "set $ringside_%s = 0x%llx\n", name, (unsigned long long)value);
    else
        extract_text_printf(script, "set $ringside_%s = (void)0\n", name);
}

enum extract_code answer_script(const struct answer *answer, size_t chunks,
                                struct extract_text *script)
{
    extract_text_printf(script, "set $_ringside_answered = 1\nset $ringside_status = %d\n",
                        answer->status);
    put_error(script, answer);
    put_count(script, "events", answer->is_counted, answer->events);
    put_count(script, "lost", answer->is_counted && answer->is_lost_known, answer->lost);
    // `with` puts a number back as its decimal digits, so that the radix has to be ten meanwhile.
    for (size_t i = 0; i < chunks; i++)
        extract_text_puts(
            script, "with input-radix 0xa -- with max-value-size unlimited -- _ringside-print\n");
    if (!chunks)
        put_printf(script, answer->text.data, answer->text.used);
    extract_text_put(script, answer->script.data, answer->script.used);
    return script->code ? script->code : answer->text.code;
}
