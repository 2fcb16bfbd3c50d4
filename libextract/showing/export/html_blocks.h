// SPDX-License-Identifier: MIT
// export: the data of the viewer's page (html.c), as blocks of columns.
//
// A block holds some rows of a table. As bytes, in little-endian order:
//
//     4 × u32             rows, columns, 0, bytes of the block
//     per column 16       u8 bytes of a number (0 to 8), u8 coding, u8 other column, u8 flags,
//                         u32 0, u64 base
//     per column          its numbers: the lowest bytes of all of them, then the next bytes ...
//
// A number n of a column means base + n; a column of 0 bytes has the base in each row. With
// coding 0, that is the value. With 1, it is the difference to the value of the other column, which
// may be the column itself, in the row before: before the table's first row is 0. With 2, it is the
// difference to that of an earlier column in the same row. Differences are zigzag-coded: 0, -1, 1,
// -2 ... as 0, 1, 2, 3 ... Flags:
//
//     1 (time)            the value is a row of the table "time", whose only column has the time
//     2 (key)             the numbers of the columns after this one are not in the order of the
//                         rows, but sorted by the values of this column; equal ones stay in the
//                         order that they have. So numbers of one thread or type are together.
//
// The table "field" begins with the order with which the block of "event" ends.
//
// Texts are apart from the numbers, since a picture of the whole trace needs none of them. For each
// block, in the same order:
//
//     u32                 bytes, with these four
//     texts               each ended by a zero byte; a column has the number of a text, from 1 on
//
// The blocks of a table are one stream (gzip, RFC 1952, if zlib is there), and their texts are
// another one. Each is cut into elements in base64 (RFC 4648, 4), and the last one may be empty:
//
//     <script type="text/plain" data-trace="0" data-table="state">H4sI…</script>
//     <script type="text/plain" data-trace="0" data-table="state" data-texts>H4sI…</script>
#ifndef EXTRACT_EXPORT_HTML_BLOCKS_H
#define EXTRACT_EXPORT_HTML_BLOCKS_H

#include "base/map.h"
#include "export/exporter.h"

enum { HTML_COLUMNS = 12, HTML_ROWS = 16384 };

enum html_coding { HTML_PLAIN = 0, HTML_BEFORE = 1, HTML_BESIDE = 2 };

struct html_column {
    enum html_coding coding;
    unsigned other; // column
    bool is_time, is_key;
    bool groups; // rows are sorted by it in each block: only their order among equal ones matters
};

struct html_table {
    const char *name;
    const struct html_column *column;
    unsigned columns;
    bool has_texts;
    size_t rows;                 // of the present block
    uint64_t written;            // rows of all blocks
    uint64_t most[HTML_COLUMNS]; // greatest value of each column
    uint64_t *cell;              // [columns][HTML_ROWS]; owned
    uint64_t last[HTML_COLUMNS]; // the row before the block
    uint16_t *order;             // that of the newest block's last column; owned
    // They compress the table's blocks and texts; NULL: none was written; owned.
    struct html_packer *packer, *text_packer;
    struct html_times *times;      // NULL: it has no times
    const struct html_table *keys; // with whose order its blocks begin; NULL: that of the rows
    // The texts of the block, each once.
    struct extract_text texts;
    struct extract_map places; // by hash: number of a text + 1
    size_t *start;             // of each text; owned
    size_t text_count, text_capacity;
};

// The table of times, and those of them that were used last. A time that is not among these is
// added again.
struct html_times {
    struct html_table table;
    struct html_known_time *known; // owned
};

// Adds a row; `row` has the table's columns. A full block is written to run->text.
void html_table_add(struct export_run *run, struct html_table *table, const uint64_t *row);
// Returns the number of a text + 1 in the present block, for the next row.
uint64_t html_table_text(struct export_run *run, struct html_table *table, const char *bytes,
                         size_t length);
// Writes what is left.
void html_table_end(struct export_run *run, struct html_table *table);
void html_table_free(struct html_table *table);

#endif
