// SPDX-License-Identifier: MIT
// templates/run: writes to the output, and is the only file that does. It breaks lines and puts the
// blanks between items.
//
// An item leaves a gap after it. The gap becomes a blank when more text follows on the line
// (ringside-templates(5), "Delimiters"):
//
//              item              item that abuts, line end
//   GAP_NONE ────────► GAP_BLANK ─────────────────────────► no blank
//       ▲                  │ any other item: blank, item
//       └── item with OP_OPEN
#include "templates/run/template_run.h"
#include "base/printable.h"

static size_t space_left(const struct extract_formatter *run)
{
    return (size_t)(run->writer.end - run->writer.at);
}

bool run_begin_line(struct extract_formatter *run, size_t most)
{
    size_t before = run->gap == GAP_MARGIN ? run->margin : 1;

    if (space_left(run) < before || space_left(run) - before < most)
        return run_fail(run, "E-OUTPUT");
    if (run->gap == GAP_MARGIN) {
        memset(run->writer.at, ' ', run->margin);
        run->writer.at += run->margin;
        run->line = run->writer.at;
    } else if (run->gap == GAP_BLANK) {
        text_writer_char(&run->writer, ' ');
    }
    run->gap = GAP_NONE;
    return true;
}

// The last character counts as well: no second blank is put after a blank.
static void note_text_gap(struct extract_formatter *run, unsigned flags)
{
    run_note_gap(run, run->writer.at[-1] == ' ' ? OP_OPEN : flags);
}

bool run_put(struct extract_formatter *run, unsigned flags, const char *text, size_t length)
{
    if (!length)
        return true;
    if (!run_begin(run, flags, length))
        return false;
    text_writer_copy(&run->writer, text, length);
    run_note_gap(run, text[length - 1] == ' ' ? OP_OPEN : flags);
    return true;
}

// Returns the bytes of the character at `text` if it is printable; 0 if its first byte must be
// escaped.
static size_t printable(const char *text, size_t length)
{
    char character[EXTRACT_PRINTABLE_BYTES + 1] = {0};

    memcpy(character, text, length < EXTRACT_PRINTABLE_BYTES ? length : EXTRACT_PRINTABLE_BYTES);
    return *character ? extract_printable(character) : 0;
}

bool run_is_plain(const char *text, size_t length)
{
    for (size_t i = 0, bytes; i < length; i += bytes) {
        bytes = printable(text + i, length - i);
        if (!bytes)
            return false;
    }
    return true;
}

static bool is_ascii(char c)
{
    return c >= 0x20 && c < 0x7f;
}

static bool put_characters(struct extract_formatter *run, struct run_span text, uint64_t *columns)
{
    for (size_t i = 0, bytes; i < text.length; i += bytes) {
        bytes = is_ascii(text.text[i]) ? 1 : printable(text.text + i, text.length - i);
        if (space_left(run) < (bytes > 4 ? bytes : 4))
            return run_fail(run, "E-OUTPUT");
        *columns += bytes ? 1 : 4;
        if (bytes) {
            text_writer_copy(&run->writer, text.text + i, bytes);
            continue;
        }
        unsigned char byte = (unsigned char)text.text[i];
        TEXT_WRITER_LITERAL(&run->writer, "\\x");
        text_writer_char(&run->writer, "0123456789abcdef"[byte >> 4]);
        text_writer_char(&run->writer, "0123456789abcdef"[byte & 15]);
        bytes = 1;
    }
    return true;
}

static bool put_blanks(struct extract_formatter *run, uint64_t count)
{
    if (count > space_left(run))
        return run_fail(run, "E-OUTPUT");
    memset(run->writer.at, ' ', (size_t)count);
    run->writer.at += count;
    return true;
}

bool run_put_escaped(struct extract_formatter *run, unsigned flags, struct run_span text,
                     uint64_t field)
{
    uint64_t columns = 0;

    if (!text.length && !field)
        return true;
    if (!run_begin(run, flags, 4) || !put_characters(run, text, &columns) ||
        (field > columns && !put_blanks(run, field - columns)))
        return false;
    note_text_gap(run, flags);
    return true;
}

bool run_blanks(struct extract_formatter *run, unsigned flags, uint64_t count)
{
    return run_put_escaped(run, flags | OP_OPEN, (struct run_span){"", 0}, count);
}

static void strip_blanks(struct extract_formatter *run)
{
    while (run->writer.at > run->text && run->writer.at[-1] == ' ')
        run->writer.at--;
}

// Blanks that are removed leave space for others, so they count as steps: a loop must come to an
// end.
bool run_newline(struct extract_formatter *run)
{
    const char *end = run->writer.at;

    strip_blanks(run);
    if (!run_spend(run, (uint64_t)(end - run->writer.at) / 16))
        return false;
    if (!space_left(run))
        return run_fail(run, "E-OUTPUT");
    text_writer_char(&run->writer, '\n');
    run->line = run->writer.at;
    run->line_number++;
    run->gap = GAP_MARGIN;
    return true;
}

// Returns the columns of the line so far. A byte within a character is not a column.
static uint64_t count_columns(struct extract_formatter *run)
{
    uint64_t columns = 0;

    for (const char *c = run->line; c < run->writer.at; c++)
        columns += ((unsigned char)*c & 0xc0) != 0x80;
    return columns;
}

bool run_tab(struct extract_formatter *run)
{
    if (!run_begin(run, OP_ABUTS, 1))
        return false;
    run->gap = GAP_NONE;
    if (run->expand) {
        uint64_t columns = count_columns(run);
        return run_spend(run, columns / 16) && put_blanks(run, 8 - columns % 8);
    }
    text_writer_char(&run->writer, '\t');
    return true;
}

bool run_literal(struct extract_formatter *run, unsigned flags, struct run_span text)
{
    const char *at = text.text, *end = at + text.length;

    while (at < end) {
        const char *stop = at;
        while (stop < end && *stop != '\t' && *stop != '\n')
            stop++;
        if (!run_put_escaped(run, flags, (struct run_span){at, (size_t)(stop - at)}, 0))
            return false;
        if (stop < end && !(*stop == '\t' ? run_tab(run) : run_newline(run)))
            return false;
        at = stop + (stop < end);
    }
    return true;
}

static void put_marker(struct extract_formatter *run)
{
    bool blank = run->writer.at > run->line && !strchr(" \t", run->writer.at[-1]);

    run->writer.end += RUN_RESERVE;
    run->gap = run->gap == GAP_MARGIN ? GAP_MARGIN : blank ? GAP_BLANK : GAP_NONE;
    const char *fault = run->fault;
    run_put(run, 0, "RUNTIME:", sizeof "RUNTIME:" - 1);
    run_put(run, OP_ABUTS, fault, strlen(fault));
}

void run_finish(struct extract_formatter *run)
{
    if (run->ending == EXTRACT_ENDS_SKIP)
        run->writer.at = run->text;
    if (run->fault)
        put_marker(run);
    strip_blanks(run);
}
