// SPDX-License-Identifier: MIT
// analysis/rkh: tables of rows that are found by a key and kept in the order in which they were
// added. One row holds, for instance, the statistics of one queue.
#ifndef EXTRACT_ANALYSIS_RKH_RKH_TABLE_H
#define EXTRACT_ANALYSIS_RKH_RKH_TABLE_H

#include "base/grow.h"
#include "base/map.h"
#include "events/events_room.h"

struct rkh_table {
    struct extract_map map; // keys to indices of rows + 1
    char *rows;
    size_t row_bytes, count, capacity;
};

// Makes an empty table. Returns false if memory is short; the table can be freed even then. A
// zero-initialized table can be freed, too.
bool rkh_table_init(struct rkh_table *table, size_t row_bytes);
void rkh_table_free(struct rkh_table *table);

// Returns the row of a key, and adds a zeroed one for a new key. Returns NULL if memory is short.
// The row moves when another one is added.
void *rkh_table_find_or_add(struct rkh_table *table, uint64_t key);

static inline void *rkh_table_row(const struct rkh_table *table, size_t i)
{
    return table->rows + i * table->row_bytes;
}

static inline size_t rkh_table_index(const struct rkh_table *table, const void *row)
{
    return (size_t)((const char *)row - table->rows) / table->row_bytes;
}

// Returns one key for two numbers of at most 32 bits each, the size of numbers in frames.
static inline uint64_t rkh_pair_key(uint64_t a, uint64_t b)
{
    return a << 32 | (uint32_t)b;
}

#endif
