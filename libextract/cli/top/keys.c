// SPDX-License-Identifier: MIT
// cli/top: what typing means. In: bytes of a terminal. Out: changes of the user's view, an act.
#include "base/printable.h"
#include "cli/top/top.h"
#include <string.h>

enum { CTRL_U = 0x15, ESCAPE = 0x1b, BACKSPACE = 0x7f };

// Bytes of the control sequence of a function key at `bytes` (ECMA-48, 5.4; SS3), 1 for a lone
// Escape.
static size_t sequence(const char *bytes, size_t length)
{
    size_t i = 2;

    if (length < 2 || (bytes[1] != '[' && bytes[1] != 'O'))
        return 1;
    while (i < length && bytes[i] >= 0x20 && bytes[i] < 0x40)
        i++;
    return i < length ? i + 1 : length;
}

static void sort_by(struct top_view *view, int step)
{
    view->sort = (enum top_column)(((int)view->sort + step + TOP_COLUMNS) % TOP_COLUMNS);
}

static void drop_character(char *line)
{
    size_t length = strlen(line);

    while (length && (line[length - 1] & 0xc0) == 0x80)
        line[--length] = 0;
    if (length)
        line[length - 1] = 0;
}

// A line that makes no filter is not taken; the user may go on with it.
static void take_line(struct top_view *view)
{
    struct extract_filter *filter;
    struct extract_error error;

    view->editing = false;
    if (top_filter_line_filter(view->edit, 0, &filter, &error)) {
        extract_error_format(&error, view->message, sizeof view->message);
        return;
    }
    extract_filter_free(filter);
    strcpy(view->line, view->edit);
}

static void edit(struct top_view *view, char key)
{
    size_t length = strlen(view->edit);

    if (key == '\r' || key == '\n')
        take_line(view);
    else if (key == ESCAPE)
        view->editing = false;
    else if (key == BACKSPACE || key == '\b')
        drop_character(view->edit);
    else if (key == CTRL_U)
        view->edit[0] = 0;
    else if ((unsigned char)key >= ' ' && length + 1 < sizeof view->edit) {
        view->edit[length] = key;
        view->edit[length + 1] = 0;
    }
}

static enum top_action press(struct top_view *view, char key)
{
    view->message[0] = 0;
    bool help = view->help;
    view->help = false;
    switch (key) {
    case 'q':
    case 'Q':
        return TOP_QUIT;
    case 's':
    case '>':
        sort_by(view, 1);
        break;
    case '<':
        sort_by(view, -1);
        break;
    case 'p':
    case ' ':
        view->paused = !view->paused;
        break;
    case 'r':
        return TOP_CLEAR;
    case 'f':
        view->editing = true;
        strcpy(view->edit, view->line);
        break;
    case '?':
    case 'h':
        view->help = !help;
        break;
    default:
        break;
    }
    return TOP_REDRAW;
}

enum top_action top_handle_keys(struct top_view *view, const char *bytes, size_t length)
{
    enum top_action act = TOP_NOTHING;
    for (size_t i = 0, used; i < length && act != TOP_QUIT; i += used) {
        used = bytes[i] == ESCAPE ? sequence(bytes + i, length - i) : 1;
        if (used > 1)
            continue; // a function key
        enum top_action one = TOP_REDRAW;
        if (view->editing)
            edit(view, bytes[i]);
        else
            one = press(view, bytes[i]);
        act = one > act ? one : act;
    }
    return act;
}
