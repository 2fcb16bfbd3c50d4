// SPDX-License-Identifier: MIT
// cli/top: a terminal that shows drawings, whose lines are cut to its width.
//
// Standards: ECMA-48; xterm's private modes 25 (cursor), 7 (wrap) and 1049 (alternate screen); SGR,
// ECMA-48, 8.3.117; UTF-8, RFC 3629; IEEE Std 1003.1-2017, <termios.h>.
#include "base/printable.h"
#include "cli/top/top.h"
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char enter_screen[] = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
static const char leave_screen[] = "\x1b[?7h\x1b[?25h\x1b[?1049l";

static bool write_all(const char *bytes, size_t length)
{
    while (length) {
        ssize_t done = write(STDOUT_FILENO, bytes, length);
        if (done < 0 && errno == EINTR)
            continue;
        if (done < 0)
            return false;
        bytes += done;
        length -= (size_t)done;
    }
    return true;
}

enum extract_code top_screen_open(struct top_screen *screen, struct extract_error *error)
{
    struct termios raw;
    if (tcgetattr(STDIN_FILENO, &screen->saved))
        return extract_error_set(error, EXTRACT_IO, "terminal", "use --batch", "%s",
                                 strerror(errno));
    raw = screen->saved;
    raw.c_lflag &= (tcflag_t) ~(ICANON | ECHO | IEXTEN); // ISIG stays: ^C and ^Z are signals
    raw.c_iflag &= (tcflag_t) ~(IXON | ICRNL);           // ^S would hold up the recording
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    screen->is_open = true; // if the next line fails, some of it may have to be restored
    if (!tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) &&
        write_all(enter_screen, sizeof enter_screen - 1))
        return EXTRACT_OK;
    extract_error_set(error, EXTRACT_IO, "terminal", "use --batch", "%s", strerror(errno));
    top_screen_close(screen);
    return EXTRACT_IO;
}

void top_screen_close(struct top_screen *screen)
{
    if (!screen->is_open)
        return;
    write_all(leave_screen, sizeof leave_screen - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->saved);
    screen->is_open = false;
}

struct top_size top_screen_size(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
        return (struct top_size){24, 80};
    return (struct top_size){size.ws_row, size.ws_col};
}

// ---- lines in a given width ----

// Returns the length of the character at `string`, of which `left` bytes exist. A byte that is not
// part of a character counts as one.
static size_t character_bytes(const char *string, size_t left)
{
    char copy[EXTRACT_PRINTABLE_BYTES + 1] = {0};

    memcpy(copy, string, left < EXTRACT_PRINTABLE_BYTES ? left : EXTRACT_PRINTABLE_BYTES);
    size_t bytes = extract_printable(copy);
    return bytes ? bytes : 1;
}

// Returns the length of the SGR sequence at `line`; 0 if there is none.
static size_t sequence_bytes(const char *line, size_t left)
{
    const char *end = left > 1 && line[0] == '\x1b' ? memchr(line, 'm', left) : NULL;

    return end ? (size_t)(end - line) + 1 : 0;
}

static size_t count_columns(const char *line, size_t length)
{
    size_t columns = 0;

    for (size_t i = 0; i < length;) {
        size_t skip = sequence_bytes(line + i, length - i);
        columns += !skip;
        i += skip ? skip : character_bytes(line + i, length - i);
    }
    return columns;
}

static bool is_of_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '.' ||
           c == ',';
}

// Returns the byte at which a line ends that is cut to some columns: before a number that would be
// cut, since its first digits are another number.
static size_t cut_of(const char *line, size_t length, size_t columns)
{
    size_t i = 0, word = 0;
    bool is_in_word = false;

    while (i < length && columns) {
        size_t skip = sequence_bytes(line + i, length - i);
        if (!skip && !is_in_word)
            word = i;
        if (!skip)
            is_in_word = is_of_word(line[i]);
        columns -= !skip;
        i += skip ? skip : character_bytes(line + i, length - i);
    }
    bool is_number = is_in_word && line[word] >= '0' && line[word] <= '9';
    return is_number && i < length && is_of_word(line[i]) ? word : i;
}

void top_truncate_line(struct extract_text *text, const char *line, size_t length, unsigned columns)
{
    bool is_cut = count_columns(line, length) > columns;
    size_t end = !is_cut ? length : columns ? cut_of(line, length, columns - 1) : 0;

    for (size_t i = 0; i < length;) {
        size_t skip = sequence_bytes(line + i, length - i);
        size_t bytes = skip ? skip : character_bytes(line + i, length - i);
        if (skip || i < end)
            extract_text_put(text, line + i, bytes);
        i += bytes;
    }
    if (is_cut && columns)
        extract_text_putc(text, '~');
}

void top_truncate(struct extract_text *text, const char *string, unsigned columns)
{
    top_truncate_line(text, string, strlen(string), columns);
}

// ---- drawings ----

bool top_screen_show(const struct extract_text *drawing, struct top_size size)
{
    struct extract_text out;
    size_t at = 0;

    extract_text_init(&out, NULL, NULL);
    extract_text_puts(&out, "\x1b[H");
    for (unsigned row = 0; row < size.rows; row++) {
        const char *line = drawing->data + at;
        const char *end = at < drawing->used ? memchr(line, '\n', drawing->used - at) : NULL;
        size_t length = end ? (size_t)(end - line) : drawing->used - at;
        extract_text_puts(&out,
                          "\x1b[2K"); // erased first: after a full line, it would take a column
        if (length)
            top_truncate_line(&out, line, length, size.columns);
        if (row + 1 < size.rows)
            extract_text_puts(&out, "\r\n");
        at += length + (end != NULL);
    }
    bool shown = !out.code && write_all(out.data, out.used);
    extract_text_free(&out);
    return shown;
}
