// SPDX-License-Identifier: MIT
// snapshot: what the copies of slot rings (snapshot.c) and of byte rings (snapshot_stream.c) share.
#ifndef EXTRACT_SNAPSHOT_SNAPSHOT_ROOM_H
#define EXTRACT_SNAPSHOT_SNAPSHOT_ROOM_H

#include "formats/format.h"

// Sets the error for a ring without an entry that can be read: UNREADABLE.
enum extract_code extract_snapshot_unreadable(const struct extract_ring *ring,
                                              struct extract_error *error);

// Allocates the ring's bytes, `slack_bytes` more, and one verdict per slot, which the snapshot
// owns. Errors: UNREADABLE (a large ring cannot be read), NOMEM.
enum extract_code extract_snapshot_allocate(struct extract_snapshot *snapshot,
                                            struct extract_memory *memory, uint64_t slack_bytes,
                                            struct extract_error *error);

// Copies [from, to), offsets in the copy, and calls `hole` for each part that cannot be read.
// `base` is the address of offset 0.
void extract_snapshot_copy(struct extract_snapshot *snapshot, struct extract_memory *memory,
                           uint64_t base, uint64_t from, uint64_t to,
                           void (*hole)(void *context, uint64_t from, uint64_t to), void *context);

// The extract_snapshot_take of rings of bytes (snapshot_stream.c). It does not count the verdicts.
enum extract_code extract_stream_take(struct extract_snapshot *snapshot,
                                      struct extract_memory *memory, struct extract_error *error);

// Returns the number of entries that were written but cannot be printed.
uint32_t extract_snapshot_damaged(const struct extract_snapshot *snapshot);

// Returns the number of entries that can be printed: the good and provisional ones.
uint32_t extract_snapshot_valid(const struct extract_snapshot *snapshot);

#endif
