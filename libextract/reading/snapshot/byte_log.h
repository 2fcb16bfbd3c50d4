// SPDX-License-Identifier: MIT
// snapshot: the byte log: the bytes of all blocks of a log of a byte ring, joined into one copy.
// Its entries may pass the boundaries of blocks. It knows which entries end in which block.
#ifndef EXTRACT_SNAPSHOT_BYTE_LOG_H
#define EXTRACT_SNAPSHOT_BYTE_LOG_H

#include <extract/log.h>
#include <extract/snapshot.h>

// The entries that end in a block.
struct extract_byte_log_block {
    size_t block;          // index of the block in the log
    uint32_t end;          // end of its bytes in the copy
    uint32_t first, count; // its entries in the index of the copy
};

struct extract_byte_log {
    struct extract_snapshot all;         // the copy; its verdicts are not counted
    struct extract_byte_log_block *list; // ascending; damaged blocks are not in it
    size_t count, capacity;
};

// Reads all blocks of bytes; extract_byte_log_free frees the result. `ring` is the newest recorded
// ring, and is completed with the layout that its bytes show. `known_keys` has one element per key:
// whether the ring with that key is known. `rkh` contains the user's settings (may be NULL). Blocks
// that are damaged, or whose ring is not known, are left out. Errors: NOMEM, LIMIT (more than 256
// MiB), and those of the format's resolve_layout.
enum extract_code extract_byte_log_read(struct extract_byte_log *byte_log, struct extract_log *log,
                                        struct extract_ring *ring, const bool *known_keys,
                                        const struct extract_rkh *rkh, struct extract_error *error);
void extract_byte_log_free(struct extract_byte_log *byte_log);

// Sets *piece to the part of the copy that is block `i`. Returns false if the block is not in it.
// `piece` borrows from the byte log; do not free it.
bool extract_byte_log_block_of(const struct extract_byte_log *byte_log, size_t i,
                               struct extract_snapshot *piece);

#endif
