// SPDX-License-Identifier: MIT
// base: the slow side of the pen: its tables, and what happens when the buffer is full.
#include "base/pen.h"

const uint64_t pen_powers[20] = {1,
                                 10,
                                 100,
                                 1000,
                                 10000,
                                 100000,
                                 1000000,
                                 10000000,
                                 100000000,
                                 1000000000,
                                 UINT64_C(10000000000),
                                 UINT64_C(100000000000),
                                 UINT64_C(1000000000000),
                                 UINT64_C(10000000000000),
                                 UINT64_C(100000000000000),
                                 UINT64_C(1000000000000000),
                                 UINT64_C(10000000000000000),
                                 UINT64_C(100000000000000000),
                                 UINT64_C(1000000000000000000),
                                 UINT64_C(10000000000000000000)};
const char pen_blank[PEN_BLOCK] = "                                ";

void pen_open(struct pen *pen, struct extract_text *text)
{
    pen->text = text;
    pen->at = pen->end = NULL;
    if (text->data && !text->code) {
        pen->at = text->data + text->used;
        pen->end = text->data + text->size;
    }
}

void pen_close(struct pen *pen)
{
    if (pen->at)
        pen->text->used = (size_t)(pen->at - pen->text->data);
}

bool pen_more(struct pen *pen, size_t length)
{
    pen_close(pen);
    bool fits = extract_text_room(pen->text, length) != NULL;
    pen_open(pen, pen->text);
    return fits;
}
