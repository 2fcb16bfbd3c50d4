// SPDX-License-Identifier: MIT
// analysis/rkh: tables. An array of rows, with a hash map from keys to rows.
#include "analysis/rkh/rkh_table.h"
#include <stdlib.h>
#include <string.h>

bool rkh_table_init(struct rkh_table *table, size_t row_bytes)
{
    *table = (struct rkh_table){.row_bytes = row_bytes};
    return extract_map_init(&table->map, 0);
}

void rkh_table_free(struct rkh_table *table)
{
    extract_map_free(&table->map);
    free(table->rows);
}

void *rkh_table_find_or_add(struct rkh_table *table, uint64_t key)
{
    uint32_t *index = extract_map_at(&table->map, key);

    if (!index)
        return NULL;
    if (*index)
        return rkh_table_row(table, *index - 1);
    void *rows = extract_grow(table->rows, &table->capacity, table->count, table->row_bytes);
    if (!rows)
        return NULL;
    table->rows = rows;
    void *row = rkh_table_row(table, table->count);
    memset(row, 0, table->row_bytes);
    *index = (uint32_t)++table->count;
    return row;
}
