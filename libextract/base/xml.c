// SPDX-License-Identifier: MIT
// base: texts in XML and HTML (xml.h).
#include "base/xml.h"
#include "base/printable.h"

// Returns the entity of a character of markup; NULL: it is none.
static const char *entity_of(char c)
{
    switch (c) {
    case '<':
        return "&lt;";
    case '>':
        return "&gt;";
    case '&':
        return "&amp;";
    case '"':
        return "&quot;";
    case '\'':
        return "&#39;";
    default:
        return NULL;
    }
}

void extract_xml_put(struct extract_text *text, const char *bytes, size_t length)
{
    size_t done = 0;

    for (size_t i = 0; i < length; i++) {
        const char *entity = entity_of(bytes[i]);
        if (!entity)
            continue;
        extract_text_put(text, bytes + done, i - done);
        extract_text_puts(text, entity);
        done = i + 1;
    }
    extract_text_put(text, bytes + done, length - done);
}

void extract_xml_escaped(struct extract_text *text, const char *string)
{
    while (*string) {
        size_t length = extract_printable(string);
        if (length)
            extract_xml_put(text, string, length);
        else
            extract_text_printf(text, "\\x%02x", (unsigned char)*string);
        string += length ? length : 1;
    }
}
