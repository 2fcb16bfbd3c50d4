// SPDX-License-Identifier: MIT
// cli/top: keys. Typed bytes change what the user sees, or the filter line that is being edited.
#include "base/printable.h"
#include "cli/top/top.h"
#include <string.h>

enum { CTRL_U = 0x15, ESCAPE = 0x1b, BACKSPACE = 0x7f };

// Returns the length of the control sequence of a function key at `bytes` (ECMA-48, 5.4; SS3); 1
// for a lone Escape.
static size_t sequence_bytes(const char *bytes, size_t length)
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

// Makes the edited line the filter. An invalid line is kept for the next edit, and the old filter
// stays.
static void accept_line(struct top_view *view)
{
    struct extract_filter *filter;
    struct extract_error error;

    view->is_editing = false;
    if (top_filter_line_parse(view->edited_line, 0, &filter, &error)) {
        extract_error_format(&error, view->message, sizeof view->message);
        return;
    }
    extract_filter_free(filter);
    strcpy(view->filter_line, view->edited_line);
}

static void edit_line(struct top_view *view, char key)
{
    size_t length = strlen(view->edited_line);

    if (key == '\r' || key == '\n')
        accept_line(view);
    else if (key == ESCAPE)
        view->is_editing = false;
    else if (key == BACKSPACE || key == '\b')
        drop_character(view->edited_line);
    else if (key == CTRL_U)
        view->edited_line[0] = 0;
    else if ((unsigned char)key >= ' ' && length + 1 < sizeof view->edited_line) {
        view->edited_line[length] = key;
        view->edited_line[length + 1] = 0;
    }
}

static enum top_action handle_key(struct top_view *view, char key)
{
    view->message[0] = 0;
    bool help_was_shown = view->shows_help;
    view->shows_help = false;
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
        view->is_paused = !view->is_paused;
        break;
    case 'r':
        return TOP_CLEAR;
    case 'f':
        view->is_editing = true;
        strcpy(view->edited_line, view->filter_line);
        break;
    case '?':
    case 'h':
        view->shows_help = !help_was_shown;
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
        used = bytes[i] == ESCAPE ? sequence_bytes(bytes + i, length - i) : 1;
        if (used > 1)
            continue; // a function key
        enum top_action one = TOP_REDRAW;
        if (view->is_editing)
            edit_line(view, bytes[i]);
        else
            one = handle_key(view, bytes[i]);
        act = one > act ? one : act;
    }
    return act;
}
