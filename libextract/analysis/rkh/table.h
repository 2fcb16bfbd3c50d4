// SPDX-License-Identifier: MIT
// analysis/rkh: rows that are found by a key, in the order in which they came.
#ifndef EXTRACT_ANALYSIS_RKH_TABLE_H
#define EXTRACT_ANALYSIS_RKH_TABLE_H

#include "base/map.h"
#include "base/grow.h"
#include "events/internal.h"

struct rkh_table {
    struct extract_map map;
    char *rows;
    size_t row_bytes, count, room;
};

// False: out of memory. A table of zeros can be freed.
bool rkh_table_init(struct rkh_table *table, size_t row_bytes);
void rkh_table_free(struct rkh_table *table);
// The row of a key, zeros when it is new (*fresh, which may be NULL). It stays where it is until
// the next one is made. NULL: out of memory.
void *rkh_table_at(struct rkh_table *table, uint64_t key, bool *fresh);

static inline void *rkh_table_row(const struct rkh_table *table, size_t i)
{
    return table->rows + i * table->row_bytes;
}

static inline size_t rkh_table_index(const struct rkh_table *table, const void *row)
{
    return (size_t)((const char *)row - table->rows) / table->row_bytes;
}

// Two numbers of at most 32 bits, which is what the wire has, as one key.
static inline uint64_t rkh_pair_key(uint64_t a, uint64_t b)
{
    return a << 32 | (uint32_t)b;
}

#endif
