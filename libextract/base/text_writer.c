// SPDX-License-Identifier: MIT
// base: the parts of the text writer that are not inlined: its tables, and what happens when the
// buffer is full. text_writer.h explains how it is used.
#include "base/text_writer.h"

const uint64_t text_writer_powers[20] = {1,
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
const char text_writer_blank[TEXT_WRITER_BLOCK] = "                                ";

void text_writer_open(struct text_writer *writer, struct extract_text *text)
{
    writer->text = text;
    writer->at = writer->end = NULL;
    if (text->data && !text->code) {
        writer->at = text->data + text->used;
        writer->end = text->data + text->size;
    }
}

void text_writer_close(struct text_writer *writer)
{
    if (writer->at)
        writer->text->used = (size_t)(writer->at - writer->text->data);
}

bool text_writer_more(struct text_writer *writer, size_t length)
{
    text_writer_close(writer);
    bool fits = extract_text_reserve(writer->text, length) != NULL;
    text_writer_open(writer, writer->text);
    return fits;
}
