// SPDX-License-Identifier: MIT
// report: the page of a crash as HTML.
#ifndef EXTRACT_REPORT_CRASH_HTML_H
#define EXTRACT_REPORT_CRASH_HTML_H

#include <extract/crash.h>
#include <extract/text.h>

// Writes the page. `source_line`: the line of the place, "" if it is unknown; `threads`,
// `objects` and `events`: tables as text, without colors; NULL: none.
void crash_put_html(struct extract_text *text, const struct extract_crash *crash,
                    const char *source_line, const struct extract_text *threads,
                    const struct extract_text *objects, const struct extract_text *events);

#endif
