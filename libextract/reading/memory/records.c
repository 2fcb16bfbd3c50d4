// SPDX-License-Identifier: MIT
// memory: reads files of hexadecimal records. The lines are decoded and their checksums verified
// here; hex.c and srec.c give the records their meaning. The data are collected as runs in the
// order of the file, and then sorted and joined into disjoint spans.
#include "memory/records.h"
#include "base/grow.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { END_OF_TEXT = 0x1a }; // CP/M's end of file, still written by some tools

enum extract_code extract_records_bad(const struct extract_records *records, const char *why,
                                      struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_BAD, records->name, "write the file again",
                             "line %zu: %s", records->line, why);
}

static int digit(uint8_t c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

bool extract_records_next_line(struct extract_cursor *text, struct extract_cursor *line)
{
    size_t left = extract_cursor_left(text);
    const uint8_t *start = extract_cursor_span(text, 0);

    if (!left)
        return false;
    const uint8_t *end = memchr(start, '\n', left);
    size_t length = end ? (size_t)(end - start) : left;
    extract_cursor_span(text, end ? length + 1 : length);
    while (length && (start[length - 1] == ' ' || start[length - 1] == '\t' ||
                      start[length - 1] == '\r' || start[length - 1] == END_OF_TEXT))
        length--;
    *line = extract_cursor_make(start, length, EXTRACT_BIG);
    return true;
}

// Decodes pairs of digits up to the end of the line into records->record. Returns NULL, or why that
// fails.
static const char *decode(struct extract_records *records, struct extract_cursor *line)
{
    records->length = 0;
    while (extract_cursor_left(line)) {
        int high = digit(extract_cursor_u8(line));
        int low = digit(extract_cursor_u8(line));
        if (line->failed)
            return "the number of digits is odd";
        if (high < 0 || low < 0)
            return "a character is not a hexadecimal digit";
        if (records->length == RECORD_BYTES)
            return "longer than any record";
        records->record[records->length++] = (uint8_t)(high << 4 | low);
    }
    return NULL;
}

static const char *decode_line(struct extract_records *records,
                               const struct extract_record_format *format,
                               struct extract_cursor *line)
{
    const uint8_t *mark = extract_cursor_span(line, format->mark_length);

    if (!mark || mark[0] != (uint8_t)format->mark)
        return "does not begin like a record";
    memcpy(records->mark, mark, format->mark_length);
    const char *why = decode(records, line);
    if (why)
        return why;
    if (!records->length || records->record[0] + format->overhead != records->length)
        return "its length does not fit its digits";
    return NULL;
}

static bool sum_is_good(const struct extract_records *records, uint8_t wanted)
{
    unsigned sum = 0;

    for (size_t i = 0; i < records->length; i++)
        sum += records->record[i];
    return (sum & 0xff) == wanted;
}

static enum extract_code parse_line(struct extract_records *records,
                                    const struct extract_record_format *format, void *state,
                                    struct extract_cursor *line, struct extract_error *error)
{
    if (!extract_cursor_left(line))
        return EXTRACT_OK;
    if (records->ended)
        return extract_records_bad(records, "text after the end record", error);
    const char *why = decode_line(records, format, line);
    if (!why && !sum_is_good(records, format->sum))
        why = "its checksum is wrong";
    if (why)
        return extract_records_bad(records, why, error);
    return format->take(records, state, error);
}

bool extract_records_are(const struct extract_record_format *format, const uint8_t *bytes,
                         size_t length)
{
    struct extract_records records = {0};
    struct extract_cursor text = extract_cursor_make(bytes, length, EXTRACT_BIG);
    struct extract_cursor line;
    bool found = extract_records_next_line(&text, &line);

    while (found && !extract_cursor_left(&line))
        found = extract_records_next_line(&text, &line);
    return found && !decode_line(&records, format, &line);
}

static enum extract_code read_lines(struct extract_records *records,
                                    const struct extract_input *input,
                                    const struct extract_record_format *format, void *state,
                                    struct extract_error *error)
{
    struct extract_cursor text = extract_cursor_make(input->bytes, input->length, EXTRACT_BIG);
    struct extract_cursor line;

    while (extract_records_next_line(&text, &line)) {
        records->line++;
        enum extract_code code = parse_line(records, format, state, &line, error);
        if (code)
            return code;
    }
    if (!records->ended)
        return extract_error_set(error, EXTRACT_TRUNCATED, input->name, format->end,
                                 "ends after line %zu without an end record", records->line);
    return EXTRACT_OK;
}

static enum extract_code no_memory(const struct extract_records *records,
                                   struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, records->name, NULL,
                             "no memory for the data of its records");
}

// Makes room for more data. Returns false if memory is short.
static bool reserve_data(struct extract_records *records, size_t length)
{
    size_t capacity = records->data_capacity ? records->data_capacity : 4096;

    while (capacity - records->data_length < length)
        capacity *= 2;
    if (capacity == records->data_capacity)
        return true;
    uint8_t *data = realloc(records->data, capacity);
    if (!data)
        return false;
    records->data = data;
    records->data_capacity = capacity;
    return true;
}

static bool reserve_run(struct extract_records *records)
{
    struct extract_run *runs =
        extract_grow(records->runs, &records->run_capacity, records->run_count, sizeof *runs);

    if (runs)
        records->runs = runs;
    return runs;
}

enum extract_code extract_records_put(struct extract_records *records, uint64_t address,
                                      const uint8_t *bytes, size_t length,
                                      struct extract_error *error)
{
    struct extract_run *last = records->run_count ? &records->runs[records->run_count - 1] : NULL;

    if (!length)
        return EXTRACT_OK;
    if (address > records->last_address || length - 1 > records->last_address - address)
        return extract_records_bad(records,
                                   records->last_address == UINT32_MAX
                                       ? "its data run past the end of 32-bit addresses"
                                       : "its data run past the end of the addresses",
                                   error);
    if (!reserve_data(records, length))
        return no_memory(records, error);
    if (!last || last->address + last->length != address) {
        if (!reserve_run(records))
            return no_memory(records, error);
        last = &records->runs[records->run_count++];
        *last = (struct extract_run){address, 0, records->data_length, records->line};
    }
    memcpy(records->data + records->data_length, bytes, length);
    records->data_length += length;
    last->length += length;
    return EXTRACT_OK;
}

// Orders runs by address, and runs at one address by line.
static int compare_runs(const void *a, const void *b)
{
    const struct extract_run *x = a, *y = b;

    if (x->address != y->address)
        return x->address < y->address ? -1 : 1;
    return x->line < y->line ? -1 : x->line > y->line;
}

// Copies the sorted runs one after another into `bytes`, and makes one span of each group that
// touches or overlaps. Two runs may give the same address only if they give it the same byte.
static enum extract_code join_runs(const struct extract_records *records, uint8_t *bytes,
                                   struct extract_image *spans, size_t *count,
                                   struct extract_error *error)
{
    struct extract_image *span = NULL;

    for (size_t i = 0; i < records->run_count; i++) {
        const struct extract_run *run = &records->runs[i];
        const uint8_t *data = records->data + run->offset;
        if (!span || run->address - span->address > span->length) {
            span = &spans[(*count)++];
            *span = (struct extract_image){run->address, 0, bytes, 0, NULL};
        }
        uint64_t at = run->address - span->address;
        uint64_t shared = span->length - at < run->length ? span->length - at : run->length;
        if (memcmp(span->bytes + at, data, shared) != 0)
            return extract_error_set(error, EXTRACT_BAD, records->name,
                                     "write the file again, or split it",
                                     "the data from line %zu on differ from those that another "
                                     "line gives for 0x%" PRIx64,
                                     run->line, run->address);
        memcpy(bytes, data + shared, run->length - shared);
        bytes += run->length - shared;
        span->length += run->length - shared;
    }
    return EXTRACT_OK;
}

enum extract_code extract_records_add(struct extract_records *records,
                                      struct extract_images *images, struct extract_input *input,
                                      struct extract_error *error)
{
    if (!records->run_count)
        return extract_error_set(error, EXTRACT_BAD, input->name, "use a file that holds memory",
                                 "its records hold no data");
    struct extract_image *spans = calloc(records->run_count, sizeof *spans);
    uint8_t *bytes = malloc(records->data_length);
    size_t count = 0;
    enum extract_code code = EXTRACT_OK;
    qsort(records->runs, records->run_count, sizeof *records->runs, compare_runs);
    if (spans && bytes)
        code = join_runs(records, bytes, spans, &count, error);
    else
        code = no_memory(records, error);
    if (code) {
        free(bytes);
    } else {
        free(input->bytes);
        input->bytes = bytes;
        code = extract_images_add(images, input, spans, count, error);
    }
    free(spans);
    return code;
}

void extract_records_free(struct extract_records *records)
{
    free(records->data);
    free(records->runs);
}

enum extract_code extract_records_load(struct extract_images *images, struct extract_input *input,
                                       const struct extract_record_format *format, void *state,
                                       struct extract_error *error)
{
    struct extract_records records = {.name = input->name, .last_address = UINT32_MAX};
    enum extract_code code = read_lines(&records, input, format, state, error);

    if (!code)
        code = extract_records_add(&records, images, input, error);
    extract_records_free(&records);
    return code;
}
