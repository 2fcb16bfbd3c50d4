// SPDX-License-Identifier: MIT
// export: puts changes in order of time, in bounded memory.
//
// Slices and states come when they are complete, which may be long after they began. Formats that
// need changes in order of time add them here in any order. When the buffer is full, it is sorted
// and written to a temporary file; at the end, all parts are merged. Changes at the same time keep
// the order in which they were added.
#ifndef EXTRACT_EXPORT_EXPORT_ORDER_H
#define EXTRACT_EXPORT_EXPORT_ORDER_H

#include <extract/error.h>
#include <stdio.h>

struct export_change {
    uint64_t at;    // ticks
    uint64_t value; // as the exporter likes
    uint32_t track; // likewise
    uint32_t kind;  // likewise
};

struct export_order {
    struct export_change *items, *spare; // owned; `capacity` of each
    size_t count, capacity;
    size_t part; // changes of a part; 0: the default, which the first change sets
    FILE *file;  // sorted parts, each of the full size; NULL: none
    size_t parts;
};

// Adds a change. A zeroed order is empty. Errors: NOMEM, IO (the temporary file).
enum extract_code export_order_add(struct export_order *order, const struct export_change *change,
                                   struct extract_error *error);
// Passes all changes to `put`, in order of time. The order is then empty, also after an error, and
// can be used again. Errors: as above.
enum extract_code export_order_run(struct export_order *order,
                                   void (*put)(void *context, const struct export_change *change),
                                   void *context, struct extract_error *error);
void export_order_free(struct export_order *order);

#endif
