// SPDX-License-Identifier: MIT
// report: why a target stopped, as one HTML page without anything from the net.
#include "report/crash_html.h"
#include "base/xml.h"
#include <string.h>

static const char head[] = "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                           "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
static const char style[] =
    "</title>\n<style>\n"
    ":root{color-scheme:light dark;--line:#8884;--soft:#8882}\n"
    "body{font:15px/1.5 system-ui,sans-serif;max-width:75rem;margin:2rem auto;padding:0 1rem}\n"
    "h1{margin:0}h2{margin:2rem 0 .5rem;font-size:1.1rem}\n"
    "pre,code,td{font-family:ui-monospace,monospace;font-size:13px}\n"
    "pre{background:var(--soft);padding:.7rem;overflow-x:auto}\n"
    "div{overflow-x:auto}table{border-collapse:collapse}\n"
    "th,td{text-align:left;padding:.2rem .8rem .2rem 0;border-bottom:1px solid var(--line);"
    "vertical-align:top}\n"
    "td.n{text-align:right}\n"
    "b{font-size:12px;font-weight:600;border:1px solid;border-radius:3px;padding:0 .4em}\n"
    "b.certain{color:#b3261e}b.likely{color:#8a5a00}b.possible{color:#56606b}\n"
    "@media(prefers-color-scheme:dark){b.certain{color:#ff8a80}b.likely{color:#ffc46b}"
    "b.possible{color:#aab4c0}}\n"
    "</style>\n</head>\n<body>\n";

static void put_certainty(struct extract_text *text, enum extract_crash_certainty certainty)
{
    const char *name = extract_crash_certainty_name(certainty);

    extract_text_printf(text, " <b class=\"%s\">%s</b>", name, name);
}

static void put_line(struct extract_text *text, const struct extract_place *place)
{
    if (!place->file)
        return;
    extract_text_puts(text, " at ");
    extract_xml_escaped(text, place->file);
    extract_text_printf(text, ":%u", place->line);
}

static void put_place(struct extract_text *text, const struct extract_crash *crash,
                      const char *source_line)
{
    const struct extract_crash_place *place = &crash->place;

    extract_text_puts(text, "<p>");
    if (place->is_known) {
        extract_text_puts(text, "<code>");
        if (place->function) {
            extract_xml_escaped(text, place->function);
            put_line(text, &place->line);
            extract_text_puts(text, ", ");
        }
        extract_text_puts(text, "pc ");
        extract_text_hex(text, place->pc, 8);
        extract_text_puts(text, "</code>");
        put_certainty(text, place->certainty);
    } else {
        extract_text_puts(text, "The place is unknown.");
    }
    extract_text_puts(text, "</p>\n");
    if (*source_line) {
        extract_text_printf(text, "<pre>%u: ", place->line.line);
        extract_xml_escaped(text, source_line + strspn(source_line, " "));
        extract_text_puts(text, "</pre>\n");
    }
    if (crash->lwp)
        extract_text_printf(text, "<p>Thread %llu</p>\n", (unsigned long long)crash->lwp);
    if (crash->thread) {
        extract_text_puts(text, "<p>Thread <code>");
        if (*crash->thread->name)
            extract_xml_escaped(text, crash->thread->name);
        else
            extract_text_hex(text, crash->thread->address, 8);
        extract_text_puts(text, "</code>");
        put_certainty(text, crash->thread_certainty);
        extract_text_puts(text, "</p>\n");
    }
    if (crash->last_thread) {
        extract_text_puts(text, "<p>Thread before the reset: <code>");
        if (*crash->last_thread_name)
            extract_xml_escaped(text, crash->last_thread_name);
        else
            extract_text_hex(text, crash->last_thread, 8);
        extract_text_puts(text, "</code>");
        put_certainty(text, crash->thread_certainty);
        extract_text_puts(text, "</p>\n");
    }
    if (!crash->thread && !crash->last_thread && crash->has_no_thread) {
        extract_text_puts(text, "<p>No thread: the kernel has none for running");
        put_certainty(text, crash->thread_certainty);
        extract_text_puts(text, "</p>\n");
    }
    if (*crash->context)
        extract_text_printf(text, "<p>The core was in %s.</p>\n", crash->context);
}

static void put_stack(struct extract_text *text, const struct extract_crash *crash)
{
    if (crash->frame_count < 2)
        return;
    extract_text_puts(text, "<h2>Stack</h2>\n<pre>");
    for (size_t i = 0; i < crash->frame_count; i++) {
        const struct extract_frame *frame = &crash->frames[i];
        extract_text_printf(text, "#%-2zu ", i);
        extract_text_hex(text, frame->pc, 8);
        extract_text_putc(text, ' ');
        extract_xml_escaped(text, frame->function ? frame->function : "?");
        put_line(text, &frame->place);
        extract_text_putc(text, '\n');
    }
    extract_text_puts(text, "</pre>\n");
}

static void put_findings(struct extract_text *text, const struct extract_crash *crash)
{
    if (!crash->finding_count)
        return;
    extract_text_puts(text, "<h2>Findings</h2>\n<div><table>\n<tr><th>how sure<th>source"
                            "<th>finding</tr>\n");
    for (size_t i = 0; i < crash->finding_count; i++) {
        const struct extract_finding *finding = &crash->findings[i];
        extract_text_puts(text, "<tr><td>");
        put_certainty(text, finding->certainty);
        extract_text_printf(text, "<td>%s<td>%s: ", finding->source, finding->kind);
        extract_xml_escaped(text, finding->text);
        extract_text_puts(text, "</tr>\n");
    }
    extract_text_puts(text, "</table></div>\n");
}

static void put_registers(struct extract_text *text, const struct extract_crash *crash)
{
    enum { COLUMNS = 4 };
    unsigned printed = 0;

    if (!crash->machine || !crash->registers.known)
        return;
    extract_text_puts(text, "<h2>Registers");
    if (crash->lwp)
        extract_text_printf(text, " of thread %llu", (unsigned long long)crash->lwp);
    else if (crash->core_count > 1)
        extract_text_printf(text, " of core %u", crash->core);
    extract_text_puts(text, "</h2>\n<div><table>\n");
    for (unsigned i = 0; i < EXTRACT_REGISTERS; i++) {
        if (!(crash->registers.known >> i & 1))
            continue;
        extract_text_printf(text, "%s<td>%s<td>", printed++ % COLUMNS ? "" : "<tr>",
                            extract_crash_register(crash, i));
        extract_text_hex(text, crash->registers.value[i], 8);
    }
    extract_text_puts(text, "\n</table></div>\n");
}

// Writes a part that was made as text.
static void put_part(struct extract_text *text, const char *heading,
                     const struct extract_text *part)
{
    if (!part || !part->used)
        return;
    extract_text_printf(text, "<h2>%s</h2>\n<pre>", heading);
    extract_xml_put(text, part->data, part->used);
    extract_text_puts(text, "</pre>\n");
}

void crash_put_html(struct extract_text *text, const struct extract_crash *crash,
                    const char *source_line, const struct extract_text *threads,
                    const struct extract_text *objects, const struct extract_text *events)
{
    extract_text_puts(text, head);
    extract_text_printf(text, "Crash: %s", crash->kind);
    extract_text_puts(text, style);
    extract_text_printf(text, "<h1>%s</h1>\n<p>", crash->kind);
    extract_xml_escaped(text, crash->text);
    put_certainty(text, crash->certainty);
    extract_text_printf(text, " <code>%s</code></p>\n", crash->source);
    put_place(text, crash, source_line);
    put_stack(text, crash);
    put_findings(text, crash);
    put_part(text, "Threads", threads);
    put_part(text, "Objects", objects);
    put_part(text, "Newest events", events);
    put_registers(text, crash);
    extract_text_puts(text, "</body>\n</html>\n");
}
