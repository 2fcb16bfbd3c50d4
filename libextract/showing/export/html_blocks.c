// SPDX-License-Identifier: MIT
// export: blocks of columns in a page (html_blocks.h).
#include "export/html_blocks.h"
#include "base/grow.h"
#include "base/hash.h"
#include <stdlib.h>
#include <string.h>

#ifdef EXTRACT_HAVE_ZLIB
#include <zlib.h>
#endif

enum {
    HEAD_BYTES = 16,
    COLUMN_BYTES = 16,
    TEXTS_HEAD_BYTES = 4,
    BASE64_LINE = 3 * 4096,
    FLAG_TIME = 1,
    FLAG_KEY = 2,
    KNOWN_BITS = 18 // of the number of known times
};

struct html_known_time {
    uint64_t time, row; // row + 1; 0: none
};

static void fail_for_memory(struct export_run *run)
{
    export_fail(run, EXTRACT_NOMEM, "export", "out of memory");
}

// ---- bytes ----

// Writes the low `bytes` bytes of a number. Returns the place after them.
static uint8_t *put_number(uint8_t *to, uint64_t value, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (uint8_t)(value >> 8 * i);
    return to + bytes;
}

// Sorts positions by what a column has there; equal ones stay in order (radix sort).
static void sort_order(uint16_t *order, const uint64_t *cell, size_t rows)
{
    uint16_t sorted[HTML_ROWS];
    uint64_t bits = 0;

    for (size_t i = 0; i < rows; i++)
        bits |= cell[i];
    for (unsigned shift = 0; shift < 64 && bits >> shift; shift += 8) {
        size_t start[257] = {0};
        for (size_t i = 0; i < rows; i++)
            start[(cell[i] >> shift & 255) + 1]++;
        for (unsigned digit = 0; digit < 256; digit++)
            start[digit + 1] += start[digit];
        for (size_t i = 0; i < rows; i++)
            sorted[start[cell[order[i]] >> shift & 255]++] = order[i];
        memcpy(order, sorted, rows * sizeof *order);
    }
}

// Sorts the rows of the block by the column that groups them.
static void group_rows(struct html_table *table, unsigned group, uint64_t *scratch)
{
    for (size_t i = 0; i < table->rows; i++)
        table->order[i] = (uint16_t)i;
    sort_order(table->order, table->cell + (size_t)group * HTML_ROWS, table->rows);
    for (unsigned c = 0; c < table->columns; c++) {
        uint64_t *cell = table->cell + (size_t)c * HTML_ROWS;
        for (size_t i = 0; i < table->rows; i++)
            scratch[i] = cell[table->order[i]];
        memcpy(cell, scratch, table->rows * sizeof *cell);
    }
}

static uint64_t zigzag(uint64_t step)
{
    return step >> 63 ? ~(step << 1) : step << 1;
}

// Finds the numbers of a column, in the order of rows.
static void code_column(const struct html_table *table, unsigned c, uint64_t *number)
{
    const struct html_column *column = &table->column[c];
    const uint64_t *cell = table->cell + (size_t)c * HTML_ROWS;
    const uint64_t *other = table->cell + (size_t)column->other * HTML_ROWS;

    for (size_t i = 0; i < table->rows; i++)
        switch (column->coding) {
        case HTML_PLAIN:
            number[i] = cell[i];
            break;
        case HTML_BEFORE:
            number[i] = zigzag(cell[i] - (i ? other[i - 1] : table->last[column->other]));
            break;
        case HTML_BESIDE:
            number[i] = zigzag(cell[i] - other[i]);
            break;
        }
}

// Writes the numbers of a column and its head. Returns the place after the numbers.
static uint8_t *put_column(uint8_t *head, uint8_t *to, const struct html_table *table, unsigned c,
                           const uint64_t *number)
{
    const struct html_column *column = &table->column[c];
    uint64_t least = UINT64_MAX, most = 0;
    unsigned bytes = 0;

    for (size_t i = 0; i < table->rows; i++) {
        least = number[i] < least ? number[i] : least;
        most = number[i] > most ? number[i] : most;
    }
    while (bytes < 8 && table->rows && (most - least) >> 8 * bytes)
        bytes++;
    for (unsigned shift = 0; shift < 8 * bytes; shift += 8)
        for (size_t i = 0; i < table->rows; i++)
            *to++ = (uint8_t)((number[table->order[i]] - least) >> shift);
    head = put_number(head, bytes, 1);
    head = put_number(head, column->coding, 1);
    head = put_number(head, column->other, 1);
    head =
        put_number(head, (column->is_time ? FLAG_TIME : 0u) | (column->is_key ? FLAG_KEY : 0u), 5);
    put_number(head, table->rows ? least : 0, 8);
    return to;
}

// Returns the bytes of a block, which the caller frees; NULL: memory is short.
static uint8_t *make_block(struct html_table *table, size_t *length)
{
    size_t rows = table->rows, heads = HEAD_BYTES + table->columns * COLUMN_BYTES;
    uint8_t *block = malloc(heads + table->columns * rows * sizeof(uint64_t));
    uint64_t *number = malloc((rows + 1) * sizeof *number);

    if (!block || !number) {
        free(block);
        free(number);
        return NULL;
    }
    for (unsigned c = 0; c < table->columns && rows; c++)
        if (table->column[c].groups)
            group_rows(table, c, number);
    if (table->keys)
        memcpy(table->order, table->keys->order, rows * sizeof *table->order);
    for (size_t i = 0; i < rows && !table->keys; i++)
        table->order[i] = (uint16_t)i;
    uint8_t *at = block + heads;
    for (unsigned c = 0; c < table->columns; c++) {
        code_column(table, c, number);
        at = put_column(block + HEAD_BYTES + (size_t)c * COLUMN_BYTES, at, table, c, number);
        if (table->column[c].is_key)
            sort_order(table->order, table->cell + (size_t)c * HTML_ROWS, rows);
    }
    for (unsigned c = 0; c < table->columns && rows; c++)
        table->last[c] = table->cell[(size_t)c * HTML_ROWS + rows - 1];
    free(number);
    *length = (size_t)(at - block);
    at = put_number(block, rows, 4);
    at = put_number(at, table->columns, 4);
    at = put_number(at, 0, 4);
    put_number(at, *length, 4);
    return block;
}

// ---- base64 ----

static void put_base64(struct extract_text *text, const uint8_t *bytes, size_t length)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

    for (size_t i = 0; i < length; i += BASE64_LINE) {
        size_t count = length - i < BASE64_LINE ? length - i : BASE64_LINE;
        const uint8_t *from = bytes + i;
        char *start = extract_text_reserve(text, (count + 2) / 3 * 4), *to = start;
        if (!to)
            return;
        for (size_t j = 0; j < count; j += 3) {
            bool has_second = j + 1 < count, has_third = j + 2 < count;
            uint32_t second = has_second ? from[j + 1] : 0, third = has_third ? from[j + 2] : 0;
            uint32_t three = (uint32_t)from[j] << 16 | second << 8 | third;
            *to++ = digits[three >> 18];
            *to++ = digits[three >> 12 & 63];
            *to++ = has_second ? digits[three >> 6 & 63] : '=';
            *to++ = has_third ? digits[three & 63] : '=';
        }
        text->used += (size_t)(to - start);
    }
}

// ---- compression ----

#ifdef EXTRACT_HAVE_ZLIB

struct html_packer {
    z_stream stream;
    uint8_t packed[BASE64_LINE];
};

static struct html_packer *open_packer(void)
{
    struct html_packer *packer = calloc(1, sizeof *packer);

    // 16 more than the window's bits ask for gzip's format.
    if (packer && deflateInit2(&packer->stream, 1, Z_DEFLATED, MAX_WBITS + 16, 9,
                               Z_DEFAULT_STRATEGY) != Z_OK) {
        free(packer);
        return NULL;
    }
    return packer;
}

// Writes the next bytes of a stream, and with `is_last` what the compression still holds. Returns
// false: memory is short.
static bool put_bytes(struct extract_text *text, struct html_packer **own, const void *bytes,
                      size_t length, bool is_last)
{
    if (!*own)
        *own = open_packer();
    struct html_packer *packer = *own;
    if (!packer)
        return false;
    packer->stream.next_in = (Bytef *)bytes;
    packer->stream.avail_in = (uInt)length;
    do {
        packer->stream.next_out = packer->packed;
        packer->stream.avail_out = sizeof packer->packed;
        if (deflate(&packer->stream, is_last ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_ERROR)
            return false;
        put_base64(text, packer->packed, sizeof packer->packed - packer->stream.avail_out);
    } while (!packer->stream.avail_out);
    return true;
}

static void free_packer(struct html_packer *packer)
{
    if (packer)
        deflateEnd(&packer->stream);
    free(packer);
}

#else

static bool put_bytes(struct extract_text *text, struct html_packer **own, const void *bytes,
                      size_t length, bool is_last)
{
    (void)own, (void)is_last;
    put_base64(text, bytes, length);
    return true;
}

static void free_packer(struct html_packer *packer)
{
    (void)packer;
}

#endif

// ---- tables ----

// Begins an element with the next part of one of a table's streams.
static void begin_element(struct export_run *run, const struct html_table *table,
                          const char *attribute)
{
    extract_text_printf(run->text,
                        "<script type=\"text/plain\" data-trace=\"%u\" data-table=\"%s\"%s>",
                        run->part, table->name, attribute);
}

static bool write_numbers(struct export_run *run, struct html_table *table, bool is_last)
{
    size_t length = 0;
    uint8_t *block = make_block(table, &length);

    begin_element(run, table, "");
    bool is_done = block && put_bytes(run->text, &table->packer, block, length, is_last);
    extract_text_puts(run->text, "</script>\n");
    free(block);
    return is_done;
}

// Makes room for the number before the texts of a block, unless it is there.
static void begin_texts(struct html_table *table)
{
    static const char head[TEXTS_HEAD_BYTES];

    if (!table->texts.used)
        extract_text_put(&table->texts, head, sizeof head);
}

static bool write_texts(struct export_run *run, struct html_table *table, bool is_last)
{
    struct extract_text *texts = &table->texts;

    begin_texts(table);
    if (texts->code)
        return false;
    put_number((uint8_t *)texts->data, texts->used, TEXTS_HEAD_BYTES);
    begin_element(run, table, " data-texts");
    bool is_done = put_bytes(run->text, &table->text_packer, texts->data, texts->used, is_last);
    extract_text_puts(run->text, "</script>\n");
    return is_done;
}

// Writes the rows of the present block; `is_last`: and the end of the table.
static void write_block(struct export_run *run, struct html_table *table, bool is_last)
{
    if (!write_numbers(run, table, is_last) ||
        (table->has_texts && !write_texts(run, table, is_last)))
        fail_for_memory(run);
    table->written += table->rows;
    table->rows = table->text_count = 0;
    table->texts.used = 0;
    extract_map_free(&table->places);
}

// Returns the row of a time in the table of times.
static uint64_t time_row(struct export_run *run, struct html_times *times, uint64_t time)
{
    if (!times->known)
        times->known = calloc((size_t)1 << KNOWN_BITS, sizeof *times->known);
    if (!times->known) {
        fail_for_memory(run);
        return 0;
    }
    struct html_known_time *known =
        &times->known[time * UINT64_C(0x9E3779B97F4A7C15) >> (64 - KNOWN_BITS)];
    if (!known->row || known->time != time) {
        html_table_add(run, &times->table, &time);
        *known = (struct html_known_time){time, times->table.written + times->table.rows};
    }
    return known->row - 1;
}

void html_table_add(struct export_run *run, struct html_table *table, const uint64_t *row)
{
    if (run->code)
        return;
    if (!table->cell)
        table->cell = malloc(sizeof *table->cell * table->columns * HTML_ROWS);
    if (!table->order)
        table->order = malloc(sizeof *table->order * HTML_ROWS);
    if (!table->cell || !table->order) {
        fail_for_memory(run);
        return;
    }
    for (unsigned c = 0; c < table->columns; c++) {
        uint64_t value = row[c];
        table->most[c] = value > table->most[c] ? value : table->most[c];
        if (table->column[c].is_time)
            value = time_row(run, table->times, value);
        table->cell[(size_t)c * HTML_ROWS + table->rows] = value;
    }
    if (++table->rows == HTML_ROWS)
        write_block(run, table, false);
}

uint64_t html_table_text(struct export_run *run, struct html_table *table, const char *bytes,
                         size_t length)
{
    if (run->code)
        return 0;
    bool has_map = table->places.values || extract_map_init(&table->places, 1024);
    // A text that shares its hash with another one is stored again.
    uint32_t *place = has_map ? extract_map_at(&table->places, extract_hash(bytes, length)) : NULL;
    size_t *start =
        place ? extract_grow(table->start, &table->text_capacity, table->text_count, sizeof *start)
              : NULL;
    if (!start) {
        fail_for_memory(run);
        return 0;
    }
    table->start = start;
    if (*place) {
        const char *old = table->texts.data + start[*place - 1];
        if (strlen(old) == length && memcmp(old, bytes, length) == 0)
            return *place;
    }
    begin_texts(table);
    start[table->text_count++] = table->texts.used;
    extract_text_put(&table->texts, bytes, length);
    extract_text_putc(&table->texts, 0);
    if (table->texts.code)
        fail_for_memory(run);
    *place = (uint32_t)table->text_count;
    return table->text_count;
}

void html_table_end(struct export_run *run, struct html_table *table)
{
    if (table->cell && !run->code)
        write_block(run, table, true);
}

void html_table_free(struct html_table *table)
{
    free(table->cell);
    free(table->order);
    free(table->start);
    extract_text_free(&table->texts);
    extract_map_free(&table->places);
    free_packer(table->packer);
    free_packer(table->text_packer);
}
