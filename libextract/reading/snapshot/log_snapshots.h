// SPDX-License-Identifier: MIT
// snapshot: presents a log, block by block, as validated snapshots. One block is in memory at a
// time, so that a log of any size can be read. The snapshot of a block has only the members of its
// ring that are valid for that block.
//
// What these functions return belongs to the reader. Unless stated otherwise, it is valid until the
// next call that reads a block.
#ifndef EXTRACT_SNAPSHOT_LOG_SNAPSHOTS_H
#define EXTRACT_SNAPSHOT_LOG_SNAPSHOTS_H

#include <extract/log.h>
#include <extract/snapshot.h>
#include <extract/text.h>

struct extract_log_snapshots;

// Opens a log and reads what all its blocks have in common. The log must outlive the result.
// Errors: NOMEM, ABSENT (the log contains no ring), BAD (its ring cannot be decoded).
enum extract_code extract_log_snapshots_open(struct extract_log_snapshots **snapshots,
                                             struct extract_log *log, struct extract_error *error);
void extract_log_snapshots_close(struct extract_log_snapshots *snapshots);

// For a log of a byte ring: reads all entries, with the settings of the newest ring and of the user
// (`rkh`, may be NULL). Call it before any function that returns entries. Does nothing for other
// logs. Errors: those of extract_byte_log_read.
enum extract_code extract_log_snapshots_unroll(struct extract_log_snapshots *snapshots,
                                               const struct extract_rkh *rkh,
                                               struct extract_error *error);
// Returns the copy of all entries of a byte log; NULL for other logs.
const struct extract_snapshot *
extract_log_snapshots_all(const struct extract_log_snapshots *snapshots);

// Returns the log that was passed to extract_log_snapshots_open.
struct extract_log *extract_log_snapshots_log(const struct extract_log_snapshots *snapshots);
// Returns a snapshot without bytes that has the newest ring, and the cost of reading so far. It is
// valid until the reader is closed.
struct extract_snapshot *extract_log_snapshots_head(struct extract_log_snapshots *snapshots);
// Returns the number of blocks with a valid checksum whose ring or registry cannot be decoded.
uint64_t extract_log_snapshots_damaged(const struct extract_log_snapshots *snapshots);
// Returns whether a block was treated as damaged because memory ran out.
bool extract_log_snapshots_starved(const struct extract_log_snapshots *snapshots);

// Returns the header of the i-th block; NULL after the last. Valid until the next call.
const struct extract_log_block *extract_log_snapshots_block(struct extract_log_snapshots *snapshots,
                                                            size_t i);

// Returns the n-th ring in the log, and the index of the block that contains it (SIZE_MAX: there
// are no more). Returns NULL if it cannot be read.
const struct extract_ring *extract_log_snapshots_ring(struct extract_log_snapshots *snapshots,
                                                      size_t n, size_t *i);

// Returns the entries of a block; NULL if it is damaged.
const struct extract_snapshot *
extract_log_snapshots_entries(struct extract_log_snapshots *snapshots,
                              const struct extract_log_block *block);
// Returns whether a block is valid.
bool extract_log_snapshots_verify(struct extract_log_snapshots *snapshots,
                                  const struct extract_log_block *block);
// Returns whether the last block that was requested is missing without being damaged: the writer of
// the log dropped it in the meantime.
bool extract_log_snapshots_gone(const struct extract_log_snapshots *snapshots);

// Appends the text of the marker in block i. Returns false if block i is not a marker.
bool extract_log_snapshots_text(struct extract_log_snapshots *snapshots, size_t i,
                                struct extract_text *text);

// Reads the status of the stream at its end. Returns false if the log does not contain it, or
// continues after it.
bool extract_log_snapshots_ending(struct extract_log_snapshots *snapshots,
                                  struct extract_log_ending *ending);

// Returns the newest registry before block *i (SIZE_MAX: the newest of all), and sets *i to its
// block. Returns NULL if there is none.
const struct extract_snapshot *
extract_log_snapshots_registry(struct extract_log_snapshots *snapshots, size_t *i);

// Finds the names of objects in a log of a byte ring (OBJECTS). Returns false if it has none.
bool extract_log_snapshots_names(struct extract_log_snapshots *snapshots, const uint8_t **bytes,
                                 size_t *length);

// Notes that block i was passed when the next event had the number `seq`.
void extract_log_snapshots_pass(struct extract_log_snapshots *snapshots, size_t i, uint64_t seq);
// Returns the block of the registry that was valid at an event: the first one if none had been
// passed, and 0 if there is none.
size_t extract_log_snapshots_registry_of(const struct extract_log_snapshots *snapshots,
                                         uint64_t seq);
// Returns whether a log was merged from several inputs. It has one registry, which has the objects
// of all of them, before all entries; those of the newest input are in use.
bool extract_log_snapshots_are_merged(struct extract_log_snapshots *snapshots);
// Finds out between which events the registry in a block was read: it is after those before
// *after, and before *before, since the target may have run on until the next entries were read;
// UINT64_MAX: none were.
// Returns false if it is not known.
bool extract_log_snapshots_read_at(struct extract_log_snapshots *snapshots, size_t block,
                                   uint64_t *after, uint64_t *before);

// Builds the snapshot of a ring from the newest entries of the log (see extract_trace_image). The
// caller frees it with extract_snapshot_free. Errors: NOMEM.
enum extract_code extract_log_snapshots_image(struct extract_log_snapshots *snapshots,
                                              struct extract_snapshot *image,
                                              struct extract_error *error);

#endif
