// SPDX-License-Identifier: MIT
// log: the index of a log, which the reader makes and a writer that continues a log needs.
#ifndef EXTRACT_LOG_ROOM_H
#define EXTRACT_LOG_ROOM_H

#include "base/grow.h"
#include "log/block.h"

enum { LOG_WINDOW = 64 * 1024, LOG_NEAR = LOG_WINDOW / 4 };

// A stretch of the file in hand, through which heads are read.
struct log_window {
    uint64_t at;
    size_t length;
    uint8_t bytes[LOG_WINDOW];
};

struct log_section {
    uint64_t number;
    uint64_t place;    // in the file: it begins at place * section bytes
    uint64_t end;      // offset that its blocks lie in front of
    size_t first;      // index of its first block
    bool headless;     // its SECTION block is not whole; its copy may be
    bool follows_torn; // a writer continued the log with it, and the block before may be torn:
                       // then that is not part of the log
};

// A payload, known by its sums.
struct log_print {
    bool known;
    uint32_t length;
    struct log_sums sums;
};

struct extract_log {
    int fd;
    char *path;
    bool given;    // a descriptor, and no path: messages say the latter
    uint64_t size; // of the file, when it was opened
    struct extract_log_status status;
    enum log_loss_sum loss_sum;
    bool has_start;               // a START or RESET mark was found
    uint32_t turn;                // sections in the file when it is full; 0: no end
    struct log_section *sections; // in the order of their numbers
    size_t section_count, section_room;
    uint64_t blank;   // bytes of sections without a block, behind the last with one
    uint32_t *blocks; // offset in the section in units of 8 bytes, and LOG_DAMAGED
    size_t count, room;
    uint64_t next_number;                  // of the block that follows the last
    uint64_t end;                          // of the section that holds the farthest block
    bool is_torn;                          // the last block before that was never finished
    struct log_print prints[LOG_REPEATED]; // of the newest whole block of each type
    bool program, moves;                   // where it was loaded is told; as different places
    uint64_t entry;                        // the last of them
    struct log_window window;
};

#define LOG_DAMAGED 0x80000000u // in extract_log.blocks: found so, and counted

// ---- Bytes ----

// `length` (at most LOG_WINDOW) bytes at an offset, valid until the next call; NULL when the file
// does not have them.
const uint8_t *extract_log_peek(struct extract_log *log, uint64_t offset, size_t length);

// Reads whole spans; false when they are not there (errno 0) or cannot be read.
struct iovec;
bool extract_log_fetch(int fd, const struct iovec *spans, int count, uint64_t offset);

// Verifies the block at block->offset, whose head was decoded from `head`. `print` (may be NULL)
// gets the sums of its payload.
bool extract_log_verify(struct extract_log *log, const struct extract_log_block *block,
                        struct log_print *print);

// Whether the writer of a LOOP log has come to a block whose header was read before. This asks the
// file, since the window may be what is out of date.
bool extract_log_is_overwritten(const struct extract_log *log,
                                const struct extract_log_block *block);

// ---- The index ----

// Counts a block that is not whole, as damaged or as overwritten by the writer.
void extract_log_count_unwhole(struct extract_log *log, const struct extract_log_block *block);

// Finds the sections, from the first whole one on. Errors: those of extract_log_open.
enum extract_code extract_log_find_sections(struct extract_log *log, struct extract_error *error);

// Walks the sections and fills blocks and status. Errors: NOMEM.
enum extract_code extract_log_walk(struct extract_log *log, struct extract_error *error);

// Decodes the head at an offset when it can be one: of that section, with its end before `end`, and
// with a number from `number` on that leaves out `most` blocks at most.
bool extract_log_head_at(struct extract_log *log, struct extract_log_block *block, uint64_t offset,
                         uint64_t end, uint64_t section, uint64_t number, uint64_t most);

// The first head from `offset` on. Without a section, that of a whole block of any section. False:
// there is none before `end`.
bool extract_log_next_head(struct extract_log *log, struct extract_log_block *block,
                           uint64_t offset, uint64_t end, const uint64_t *section, uint64_t number,
                           uint64_t most);

#endif
