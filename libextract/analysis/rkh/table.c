// SPDX-License-Identifier: MIT
// analysis/rkh: tables. In: keys. Out: their rows.
#include "analysis/rkh/table.h"
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

bool rkh_grow(void **elements, size_t element_bytes, size_t count, size_t *room)
{
    if (count < *room)
        return true;
    size_t more_room = *room ? *room * 2 : 16;
    void *more = realloc(*elements, more_room * element_bytes);
    if (!more)
        return false;
    *elements = more;
    *room = more_room;
    return true;
}

void *rkh_table_at(struct rkh_table *table, uint64_t key, bool *fresh)
{
    uint32_t *place = extract_map_at(&table->map, key);
    if (fresh)
        *fresh = place && !*place;
    if (!place)
        return NULL;
    if (*place)
        return rkh_table_row(table, *place - 1);
    void *rows = table->rows;
    if (!rkh_grow(&rows, table->row_bytes, table->count, &table->room))
        return NULL;
    table->rows = rows;
    void *row = rkh_table_row(table, table->count);
    memset(row, 0, table->row_bytes);
    *place = (uint32_t)++table->count;
    return row;
}
