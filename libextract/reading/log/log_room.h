// SPDX-License-Identifier: MIT
// log: the index of an open log. The reader builds it, and so does a writer before it continues a
// log. All bytes of the file are untrusted, and a writer may change them at any time.
#ifndef EXTRACT_LOG_LOG_ROOM_H
#define EXTRACT_LOG_LOG_ROOM_H

#include "base/grow.h"
#include "log/log_block.h"

enum { LOG_WINDOW = 64 * 1024, LOG_NEAR = LOG_WINDOW / 4 };

// A part of the file in memory, through which block headers are read.
struct log_window {
    uint64_t at;
    size_t length;
    uint8_t bytes[LOG_WINDOW];
};

struct log_section {
    uint64_t number;
    uint64_t place;    // position in the file: it begins at place * section bytes
    uint64_t end;      // file offset before which all its blocks are
    size_t first;      // index of its first block
    bool headless;     // its SECTION block is damaged or missing; its copy may be valid
    bool follows_torn; // a writer continued the log with this section, and the block before it may
                       // be unfinished; such a block is not part of the log
                       // then that is not part of the log
};

// A digest of a payload, by which a repeated payload is recognized.
struct log_digest {
    bool known;
    uint32_t length;
    struct log_sums sums;
};

struct extract_log {
    int fd;
    char *path;
    bool is_descriptor; // opened by descriptor: `path` is only a name for messages
    uint64_t size;      // of the file when it was opened, bytes
    struct extract_log_status status;
    enum log_loss_sum loss_sum;
    bool has_start;               // a START or RESET marker was found
    uint32_t turn;                // number of sections of a full file; 0: no limit
    struct log_section *sections; // in the order of their numbers
    size_t section_count, section_capacity;
    uint64_t blank;   // bytes without any block after the last section that has one
    uint32_t *blocks; // offset in the section in units of 8 bytes, and LOG_DAMAGED
    size_t count, capacity;
    uint64_t next_number; // number of the block that follows the last
    uint64_t end;         // end of the section that contains the farthest block, file offset
    bool is_torn;         // the last block before `end` was never finished
    struct log_digest digests[LOG_REPEATED]; // of the newest valid block of each type
    bool has_program;                        // `entry` is known
    bool program_moved;                      // recordings differ in `entry`
    uint64_t entry;                          // newest address of the program's entry point
    struct log_window window;
};

#define LOG_DAMAGED 0x80000000u // in extract_log.blocks: was found damaged, and counted so

// ---- Bytes ----

// Returns `length` bytes (at most LOG_WINDOW) at an offset, valid until the next call; NULL if the
// file does not have them.
const uint8_t *extract_log_peek(struct extract_log *log, uint64_t offset, size_t length);

// Reads all spans completely. Returns false if the file is shorter (errno 0) or cannot be read.
struct iovec;
bool extract_log_fetch(int fd, const struct iovec *spans, int count, uint64_t offset);

// Verifies the checksums of the block at block->offset. `digest` (may be NULL) is set to that of
// its payload.
bool extract_log_verify(struct extract_log *log, const struct extract_log_block *block,
                        struct log_digest *digest);

// Returns whether the writer of a LOOP log has overwritten a block whose header was read before. It
// reads the file, because the window may be out of date.
bool extract_log_is_overwritten(const struct extract_log *log,
                                const struct extract_log_block *block);

// ---- The index ----

// Counts a block that is not valid, either as damaged or as dropped by the writer.
void extract_log_count_unwhole(struct extract_log *log, const struct extract_log_block *block);

// Finds the sections of the file. Errors: those of extract_log_open.
enum extract_code extract_log_find_sections(struct extract_log *log, struct extract_error *error);

// Walks the sections, and fills in `blocks` and `status`. Errors: NOMEM.
enum extract_code extract_log_walk(struct extract_log *log, struct extract_error *error);

// Decodes the header at an offset if it may be one: it belongs to the section, its block ends at
// `end` or before, and its number is `number` or at most `max_missing` more.
bool extract_log_head_at(struct extract_log *log, struct extract_log_block *block, uint64_t offset,
                         uint64_t end, uint64_t section, uint64_t number, uint64_t max_missing);

// Finds the first header at `offset` or later. Without a section, it must be that of a valid block
// of any section. Returns false if there is none before `end`.
bool extract_log_next_head(struct extract_log *log, struct extract_log_block *block,
                           uint64_t offset, uint64_t end, const uint64_t *section, uint64_t number,
                           uint64_t max_missing);

#endif
