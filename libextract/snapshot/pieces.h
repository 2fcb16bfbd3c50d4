// SPDX-License-Identifier: MIT
// snapshot: a log as a row of pieces. In: a log. Out: one block at a time, verified; those that
// hold slots of a ring as a judged snapshot, of which the ring's facts say no more than lies there.
#ifndef EXTRACT_SNAPSHOT_PIECES_H
#define EXTRACT_SNAPSHOT_PIECES_H

#include <extract/log.h>
#include <extract/snapshot.h>
#include <extract/text.h>

struct extract_pieces;

// Reads what the whole log has in common. The log must outlive the pieces. Errors: NOMEM, ABSENT
// (it holds no ring), BAD (its ring cannot be understood).
enum extract_code extract_pieces_open(struct extract_pieces **pieces, struct extract_log *log,
                                      struct extract_error *error);
void extract_pieces_close(struct extract_pieces *pieces);

// Of a log of a stream, to be called before anything is asked of its entries: reads all of them, by
// what the newest ring and a user (`rkh`, may be NULL) say. Nothing to do for other logs. Errors:
// those of extract_stretches_read.
enum extract_code extract_pieces_unroll(struct extract_pieces *pieces,
                                        const struct extract_rkh *rkh, struct extract_error *error);
// The copy of all of them; NULL: the log is of another kind.
const struct extract_snapshot *extract_pieces_all(const struct extract_pieces *pieces);

struct extract_log *extract_pieces_log(const struct extract_pieces *pieces);
// The facts of the newest ring, without bytes, and what reading has cost so far.
struct extract_snapshot *extract_pieces_head(struct extract_pieces *pieces);
// Returns the number of blocks that are whole but describe no ring or registry that makes sense.
uint64_t extract_pieces_damaged(const struct extract_pieces *pieces);
// Whether a block was taken for damaged since memory was short.
bool extract_pieces_starved(const struct extract_pieces *pieces);

// The head of the i-th block; NULL behind the last. Good until the next call.
const struct extract_log_block *extract_pieces_block(struct extract_pieces *pieces, size_t i);

// The n-th ring that is told of, and the block that does so (SIZE_MAX: no more). NULL: it cannot be
// read. Good until another block is asked for.
const struct extract_ring *extract_pieces_ring(struct extract_pieces *pieces, size_t n, size_t *i);

// What a block holds; NULL or false when it is damaged. Good until another block is asked for.
const struct extract_snapshot *extract_pieces_entries(struct extract_pieces *pieces,
                                                      const struct extract_log_block *block);
bool extract_pieces_verify(struct extract_pieces *pieces, const struct extract_log_block *block);
// Whether what was asked for last is missing without damage: the writer of the log has dropped it
// in the meantime.
bool extract_pieces_gone(const struct extract_pieces *pieces);

// Appends the text of the mark that is block i; false when there is none.
bool extract_pieces_text(struct extract_pieces *pieces, size_t i, struct extract_text *text);

// What the log says of its stream's end. False: nothing, or it goes on behind that.
bool extract_pieces_ending(struct extract_pieces *pieces, struct extract_log_ending *ending);

// Registries from the newest back: *i is the block to begin in front of (SIZE_MAX: the newest), and
// then the one that was found. NULL: no more.
const struct extract_snapshot *extract_pieces_registry(struct extract_pieces *pieces, size_t *i);

// Says that block i was passed when the next event had the number `seq`; and then the block of the
// registry that held at an event: the first, when none had been passed, or 0, when there is none.
void extract_pieces_pass(struct extract_pieces *pieces, size_t i, uint64_t seq);
size_t extract_pieces_registry_of(const struct extract_pieces *pieces, uint64_t seq);

// See extract_trace_image.
enum extract_code extract_pieces_image(struct extract_pieces *pieces,
                                       struct extract_snapshot *image, struct extract_error *error);

#endif
