// SPDX-License-Identifier: MIT
// snapshot: what the copies of slots and of bytes share.
#ifndef EXTRACT_SNAPSHOT_ROOM_H
#define EXTRACT_SNAPSHOT_ROOM_H

#include "formats/format.h"

// Room for the ring's bytes, `spill` more and a verdict a slot. Errors: UNREADABLE (the end of a
// large ring cannot be read), NOMEM.
enum extract_code extract_snapshot_allocate(struct extract_snapshot *snapshot,
                                            struct extract_memory *memory, uint64_t spill,
                                            struct extract_error *error);

// Copies [from, to), offsets in the copy, and tells what cannot be read. `base` is the address that
// its first byte stands for.
void extract_snapshot_copy(struct extract_snapshot *snapshot, struct extract_memory *memory,
                           uint64_t base, uint64_t from, uint64_t to,
                           void (*hole)(void *context, uint64_t from, uint64_t to), void *context);

// stream.c: extract_snapshot_take for rings of bytes, but for the counts of verdicts.
enum extract_code extract_stream_take(struct extract_snapshot *snapshot,
                                      struct extract_memory *memory, struct extract_error *error);

#endif
