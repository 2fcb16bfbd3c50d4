// SPDX-License-Identifier: MIT
// snapshot: the bytes of a log of a stream, of all its blocks together. In: a log. Out: one copy,
// whose entries run over the borders of blocks; and which of them end in each block.
#ifndef EXTRACT_SNAPSHOT_BYTE_LOG_H
#define EXTRACT_SNAPSHOT_BYTE_LOG_H

#include <extract/log.h>
#include <extract/snapshot.h>

// The entries that end in a block of bytes.
struct extract_byte_log_block {
    size_t block;
    uint32_t end;          // of its bytes in the copy
    uint32_t first, count; // of the copy's index
};

struct extract_byte_log {
    struct extract_snapshot all; // its verdicts are not counted
    struct extract_byte_log_block *list;
    size_t count, room;
};

// Reads all blocks of bytes. `ring` is what was recorded, and gets what its bytes tell of it;
// `known_keys` says for each key whether its ring is known; `rkh` is what a user says (may be
// NULL). A block that is damaged, or whose ring is not known, has no stretch. Errors: NOMEM, LIMIT
// (more than 256 MiB), and those of a stream's `settle`.
enum extract_code extract_byte_log_read(struct extract_byte_log *byte_log, struct extract_log *log,
                                        struct extract_ring *ring, const bool *known_keys,
                                        const struct extract_rkh *rkh, struct extract_error *error);
void extract_byte_log_free(struct extract_byte_log *byte_log);

// The part of the copy that is block `i`; false: there is none. It borrows from the copy.
bool extract_byte_log_block_of(const struct extract_byte_log *byte_log, size_t i,
                               struct extract_snapshot *piece);

#endif
