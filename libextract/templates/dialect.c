// SPDX-License-Identifier: MIT
// templates: parses the words of a dialect into bits.
#include <extract/templates.h>
#include <string.h>

static const char *const words_of_bits[] = {"generic-8", "octal-flags", "blank-equals",
                                            "show-unmatched", "mute-subroutines"};

enum { WORDS = sizeof words_of_bits / sizeof *words_of_bits };

enum extract_code extract_dialect_parse(unsigned *dialect, const char *words,
                                        struct extract_error *error)
{
    unsigned bits = 0;

    for (const char *word = words;; word++) {
        size_t length = strcspn(word, ","), i = 0;
        while (i < WORDS &&
               (strlen(words_of_bits[i]) != length || memcmp(words_of_bits[i], word, length) != 0))
            i++;
        if (i == WORDS)
            return extract_error_set(error, EXTRACT_USAGE, "dialect",
                                     "use generic-8, octal-flags, blank-equals, show-unmatched or "
                                     "mute-subroutines",
                                     "unknown word \"%.*s\"", (int)(length < 40 ? length : 40),
                                     word);
        bits |= 1u << i;
        word += length;
        if (!*word)
            break;
    }
    *dialect = bits;
    return EXTRACT_OK;
}
