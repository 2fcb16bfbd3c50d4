// SPDX-License-Identifier: MIT
// cli/top: a terminal. In: drawings. Out: ECMA-48 sequences and xterm's private modes 25 (cursor),
// 7 (wrap), 1049 (alternate screen). Standard: IEEE Std 1003.1-2017, <termios.h>.
#include "cli/top/top.h"
#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char enter[] = "\x1b[?1049h\x1b[?25l\x1b[?7l\x1b[2J";
static const char leave[] = "\x1b[?7h\x1b[?25h\x1b[?1049l";

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
    screen->open = true; // from here on there is something to give back
    if (!tcsetattr(STDIN_FILENO, TCSADRAIN, &raw) && write_all(enter, sizeof enter - 1))
        return EXTRACT_OK;
    extract_error_set(error, EXTRACT_IO, "terminal", "use --batch", "%s", strerror(errno));
    top_screen_close(screen);
    return EXTRACT_IO;
}

void top_screen_close(struct top_screen *screen)
{
    if (!screen->open)
        return;
    write_all(leave, sizeof leave - 1);
    tcsetattr(STDIN_FILENO, TCSADRAIN, &screen->saved);
    screen->open = false;
}

struct top_size top_screen_size(void)
{
    struct winsize size;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || !size.ws_row || !size.ws_col)
        return (struct top_size){24, 80};
    return (struct top_size){size.ws_row, size.ws_col};
}

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
                          "\x1b[2K"); // in front: behind a full line, the last column would go
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
