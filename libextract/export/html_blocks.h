// SPDX-License-Identifier: MIT
// export: the data of the viewer's page (html.c), as blocks of columns.
//
// A block holds some rows of a table. As bytes, in little-endian order:
//
//     4 × u32             rows, columns, 0, bytes of the block
//     per column 16       u32 bytes of a number (0, 1, 2, 4 or 8), u32 0, u64 base
//     per column          its numbers, filled up to a multiple of 8 bytes
//
// Texts are apart from it, since a picture of the whole trace needs none of them. For each block,
// in the same order:
//
//     u32                 bytes, with these four
//     texts               each ended by a zero byte; a column has the number of a text, from 1 on
//
// A number n of a column stands for base + n. If the table says so, that is the difference to the
// row before, zigzag-coded: 0, -1, 1, -2 … as 0, 1, 2, 3 …; before the table's first row is 0. A
// column of 0 bytes has the base in each row. The blocks of a table are one stream (gzip, RFC 1952,
// if zlib is there), and their texts are another one. Each is cut into elements in base64 (RFC
// 4648, 4), and the last one may be empty:
//
//     <script type="text/plain" data-trace="0" data-table="state">H4sI…</script>
//     <script type="text/plain" data-trace="0" data-table="state" data-texts>H4sI…</script>
#ifndef EXTRACT_EXPORT_HTML_BLOCKS_H
#define EXTRACT_EXPORT_HTML_BLOCKS_H

#include "base/map.h"
#include "export/exporter.h"

enum { HTML_COLUMNS = 12, HTML_ROWS = 16384 };

struct html_table {
    const char *name;
    unsigned columns;
    bool has_texts;
    uint32_t steps;              // bit i: column i holds differences
    size_t rows;                 // of the present block
    uint64_t written;            // rows of all blocks
    uint64_t most[HTML_COLUMNS]; // greatest value of each column
    uint64_t *cell;              // [columns][HTML_ROWS]; owned
    uint64_t last[HTML_COLUMNS]; // the row before
    // They compress the table's blocks and texts; NULL: none was written; owned.
    struct html_packer *packer, *text_packer;
    // The texts of the block, each once.
    struct extract_text texts;
    struct extract_map places; // by hash: number of a text + 1
    size_t *start;             // of each text; owned
    size_t text_count, text_capacity;
};

// Adds a row; `row` has the table's columns. A full block is written to run->text.
void html_table_add(struct export_run *run, struct html_table *table, const uint64_t *row);
// Returns the number of a text + 1 in the present block, for the next row; 0 for an empty text.
uint64_t html_table_text(struct export_run *run, struct html_table *table, const char *bytes,
                         size_t length);
// Writes what is left.
void html_table_end(struct export_run *run, struct html_table *table);
void html_table_free(struct html_table *table);

#endif
