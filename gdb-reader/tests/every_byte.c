// SPDX-License-Identifier: MIT
// gdb-reader tests: prints an answer with every byte that a C string can contain, as text or as a
// GDB script.
#include "answer.h"
#include <stdio.h>
#include <string.h>

int main(int count, char **argument)
{
    struct extract_text script;
    struct answer answer;

    answer_init(&answer);
    extract_text_init(&script, NULL, NULL);
    for (int i = 0; i < 3 * 256; i++)
        if (i & 0xff)
            extract_text_putc(&answer.text, (char)i);
    extract_text_puts(&answer.text, "%d %s %% \\n \" \\\" end\n\n\n#x\n  y  \n\\");
    extract_error_set(&answer.error, EXTRACT_BAD, "a\"b\\c", "\303\274 $arg0", "100 %% \x7f");
    if (count > 1 && strcmp(argument[1], "text") == 0) {
        fwrite(answer.text.data, 1, answer.text.used, stdout);
        puts("a\"b\\c: 100 % \\x7f; \303\274 $arg0");
    } else {
        answer_script(&answer, 0, &script);
        fwrite(script.data, 1, script.used, stdout);
        puts("printf \"%s\\n\", $ringside_error");
    }
    extract_text_free(&script);
    answer_free(&answer);
    return 0;
}
