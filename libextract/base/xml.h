// SPDX-License-Identifier: MIT
// base: texts in XML and HTML. Names of threads, files and symbols are untrusted, and one character
// that XML 1.0 does not allow (section 2.2) makes a whole document unreadable.
#ifndef EXTRACT_BASE_XML_H
#define EXTRACT_BASE_XML_H

#include <extract/text.h>

// Appends bytes of a printable text (extract_text_escaped), with entities for the characters of
// markup, as content or as the value of an attribute.
void extract_xml_put(struct extract_text *text, const char *bytes, size_t length);

// Appends an untrusted string (NUL-ended) in the same way. What is not printable is escaped as
// \xNN.
void extract_xml_escaped(struct extract_text *text, const char *string);

#endif
