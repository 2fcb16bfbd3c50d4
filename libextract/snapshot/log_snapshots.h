// SPDX-License-Identifier: MIT
// snapshot: a log as a row of pieces. In: a log. Out: one block at a time, verified; those that
// hold slots of a ring as a judged snapshot, of which the ring's facts say no more than lies there.
#ifndef EXTRACT_SNAPSHOT_LOG_SNAPSHOTS_H
#define EXTRACT_SNAPSHOT_LOG_SNAPSHOTS_H

#include <extract/log.h>
#include <extract/snapshot.h>
#include <extract/text.h>

struct extract_log_snapshots;

// Reads what the whole log has in common. The log must outlive the pieces. Errors: NOMEM, ABSENT
// (it holds no ring), BAD (its ring cannot be understood).
enum extract_code extract_log_snapshots_open(struct extract_log_snapshots **snapshots,
                                             struct extract_log *log, struct extract_error *error);
void extract_log_snapshots_close(struct extract_log_snapshots *snapshots);

// Of a log of a stream, to be called before anything is asked of its entries: reads all of them, by
// what the newest ring and a user (`rkh`, may be NULL) say. Nothing to do for other logs. Errors:
// those of extract_byte_log_read.
enum extract_code extract_log_snapshots_unroll(struct extract_log_snapshots *snapshots,
                                               const struct extract_rkh *rkh,
                                               struct extract_error *error);
// The copy of all of them; NULL: the log is of another kind.
const struct extract_snapshot *
extract_log_snapshots_all(const struct extract_log_snapshots *snapshots);

struct extract_log *extract_log_snapshots_log(const struct extract_log_snapshots *snapshots);
// The facts of the newest ring, without bytes, and what reading has cost so far.
struct extract_snapshot *extract_log_snapshots_head(struct extract_log_snapshots *snapshots);
// Returns the number of blocks that are whole but describe no ring or registry that makes sense.
uint64_t extract_log_snapshots_damaged(const struct extract_log_snapshots *snapshots);
// Whether a block was taken for damaged since memory was short.
bool extract_log_snapshots_starved(const struct extract_log_snapshots *snapshots);

// The head of the i-th block; NULL behind the last. Good until the next call.
const struct extract_log_block *extract_log_snapshots_block(struct extract_log_snapshots *snapshots,
                                                            size_t i);

// The n-th ring that is told of, and the block that does so (SIZE_MAX: no more). NULL: it cannot be
// read. Good until another block is asked for.
const struct extract_ring *extract_log_snapshots_ring(struct extract_log_snapshots *snapshots,
                                                      size_t n, size_t *i);

// What a block holds; NULL or false when it is damaged. Good until another block is asked for.
const struct extract_snapshot *
extract_log_snapshots_entries(struct extract_log_snapshots *snapshots,
                              const struct extract_log_block *block);
bool extract_log_snapshots_verify(struct extract_log_snapshots *snapshots,
                                  const struct extract_log_block *block);
// Whether what was asked for last is missing without damage: the writer of the log has dropped it
// in the meantime.
bool extract_log_snapshots_gone(const struct extract_log_snapshots *snapshots);

// Appends the text of the mark that is block i; false when there is none.
bool extract_log_snapshots_text(struct extract_log_snapshots *snapshots, size_t i,
                                struct extract_text *text);

// What the log says of its stream's end. False: nothing, or it goes on behind that.
bool extract_log_snapshots_ending(struct extract_log_snapshots *snapshots,
                                  struct extract_log_ending *ending);

// Registries from the newest back: *i is the block to begin in front of (SIZE_MAX: the newest), and
// then the one that was found. NULL: no more.
const struct extract_snapshot *
extract_log_snapshots_registry(struct extract_log_snapshots *snapshots, size_t *i);

// Says that block i was passed when the next event had the number `seq`; and then the block of the
// registry that held at an event: the first, when none had been passed, or 0, when there is none.
void extract_log_snapshots_pass(struct extract_log_snapshots *snapshots, size_t i, uint64_t seq);
size_t extract_log_snapshots_registry_of(const struct extract_log_snapshots *snapshots,
                                         uint64_t seq);

// See extract_trace_image.
enum extract_code extract_log_snapshots_image(struct extract_log_snapshots *snapshots,
                                              struct extract_snapshot *image,
                                              struct extract_error *error);

#endif
