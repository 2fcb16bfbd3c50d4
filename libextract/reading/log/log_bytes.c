// SPDX-License-Identifier: MIT
// log: reading the file. It is untrusted, and may change while it is read. Headers are read through
// a window of the file, and large payloads directly.
#include "base/cursor.h"
#include "base/file.h"
#include "log/log_room.h"
#include <errno.h>
#include <sys/uio.h>
#include <unistd.h>

enum { WINDOW_FAR = 4096, TRIES = 4 };

bool extract_log_fetch(int fd, const struct iovec *spans, int count, uint64_t offset)
{
    size_t all = 0;

    for (int i = 0; i < count; i++)
        all += spans[i].iov_len;
    if (preadv(fd, spans, count, (off_t)offset) == (ssize_t)all)
        return true;
    errno = 0;
    for (int i = 0; i < count; i++) {
        if (extract_file_read_at(fd, spans[i].iov_base, spans[i].iov_len, offset) !=
            spans[i].iov_len)
            return false;
        offset += spans[i].iov_len;
    }
    return true;
}

// Moves the window to an offset. Where it continues the last one, it reads much ahead; elsewhere,
// where perhaps only one header is needed, it reads little.
static void window_move(struct extract_log *log, uint64_t offset, size_t length)
{
    struct log_window *w = &log->window;
    bool near = offset >= w->at && offset - w->at <= w->length;
    size_t want = near || length > WINDOW_FAR ? LOG_WINDOW : WINDOW_FAR;

    w->at = offset;
    w->length = extract_file_read_at(log->fd, w->bytes, want, offset);
}

const uint8_t *extract_log_peek(struct extract_log *log, uint64_t offset, size_t length)
{
    struct log_window *w = &log->window;

    if (offset < w->at || offset - w->at > w->length || w->length - (offset - w->at) < length)
        window_move(log, offset, length);
    struct extract_cursor c = extract_cursor_make(w->bytes, w->length, EXTRACT_LITTLE);
    extract_cursor_seek(&c, offset - w->at);
    return extract_cursor_span(&c, length);
}

// ---- Blocks ----

// Continues `sums` and `alone` over the payload, with the zeros that pad it to a multiple of 8
// bytes.
static bool sum_payload(struct extract_log *log, struct log_sums *sums, struct log_sums *alone,
                        uint64_t offset, uint64_t length)
{
    while (length) {
        size_t piece = length < LOG_WINDOW ? (size_t)length : LOG_WINDOW;
        const uint8_t *bytes = extract_log_peek(log, offset, piece);
        if (!bytes)
            return false;
        extract_log_sum(sums, bytes, piece);
        extract_log_sum(alone, bytes, piece);
        offset += piece;
        length -= piece;
    }
    return true;
}

bool extract_log_verify(struct extract_log *log, const struct extract_log_block *block,
                        struct log_digest *digest)
{
    uint8_t head[LOG_HEAD];
    struct log_sums sums, alone = {0, 0};
    const uint8_t *bytes = extract_log_peek(log, block->offset, LOG_HEAD);

    if (!bytes)
        return false;
    memcpy(head, bytes, sizeof head);
    sums = extract_log_sum_head(head);
    if (!sum_payload(log, &sums, &alone, block->offset + LOG_HEAD,
                     extract_log_size(block->length) - LOG_HEAD) ||
        !extract_log_sums_are(&sums, head))
        return false;
    if (digest)
        *digest = (struct log_digest){true, block->length, alone};
    return true;
}

bool extract_log_head_at(struct extract_log *log, struct extract_log_block *block, uint64_t offset,
                         uint64_t end, uint64_t section, uint64_t number, uint64_t max_missing)
{
    const uint8_t *head = end >= LOG_HEAD && offset <= end - LOG_HEAD
                              ? extract_log_peek(log, offset, LOG_HEAD)
                              : NULL;

    if (!head || !extract_log_decode(block, head) || block->section != section)
        return false;
    block->offset = offset;
    return extract_log_size(block->length) <= end - offset && block->number >= number &&
           block->number - number <= max_missing;
}

// Returns the first offset, in steps of 8 bytes, where a header's magic number is; `end` if there
// is none.
static uint64_t next_magic(struct extract_log *log, uint64_t offset, uint64_t end)
{
    while (offset + LOG_HEAD <= end) {
        size_t piece = end - offset < LOG_WINDOW ? (size_t)(end - offset) : LOG_WINDOW;
        const uint8_t *bytes = extract_log_peek(log, offset, piece / 8 * 8);
        if (!bytes)
            return end;
        for (size_t i = 0; i + 8 <= piece; i += 8)
            if (memcmp(bytes + i, LOG_MAGIC, 4) == 0)
                return offset + i;
        offset += piece / 8 * 8;
    }
    return end;
}

bool extract_log_next_head(struct extract_log *log, struct extract_log_block *block,
                           uint64_t offset, uint64_t end, const uint64_t *section, uint64_t number,
                           uint64_t max_missing)
{
    unsigned tries = 0; // limits what a hostile file can cost: each try may read a section

    while (tries < TRIES && (offset = next_magic(log, offset, end)) + LOG_HEAD <= end) {
        const uint8_t *head = extract_log_peek(log, offset, LOG_HEAD);
        if (!head)
            return false;
        if (section && extract_log_head_at(log, block, offset, end, *section, number, max_missing))
            return true;
        // Without a section to compare with, only a valid checksum identifies a block.
        if (!section && extract_log_decode(block, head)) {
            block->offset = offset;
            if (extract_log_size(block->length) <= end - offset && ++tries &&
                extract_log_verify(log, block, NULL))
                return true;
        }
        offset += 8;
    }
    return false;
}
