// SPDX-License-Identifier: MIT
// report: the memo of pieces. In: pieces of output with their keys. Out: the same pieces, later.
#include "report/internal.h"
#include <stdlib.h>

// The place for a new piece: a free one near its hash, else the turn of one of those there.
static struct text_cache_piece *place_for(struct text_cache *memo, uint64_t key, uint32_t tag)
{
    uint32_t at = text_cache_hash(key, tag);
    for (unsigned i = 0; i < MEMO_PROBES; i++)
        if (!memo->piece[(at + i) % MEMO_PLACES].tag)
            return &memo->piece[(at + i) % MEMO_PLACES];
    return &memo->piece[(at + memo->next_victim++ % MEMO_PROBES) % MEMO_PLACES];
}

const struct text_cache_piece *text_cache_keep(struct text_cache *memo, uint64_t key, uint32_t tag,
                                               const char *bytes, size_t length, size_t columns)
{
    struct text_cache_piece *piece = place_for(memo, key, tag);
    if (length > UINT32_MAX - PEN_BLOCK)
        return NULL;
    if (piece->room < length + PEN_BLOCK) {
        char *larger = realloc(piece->bytes, length + PEN_BLOCK);
        if (!larger)
            return NULL;
        piece->bytes = larger;
        piece->room = (uint32_t)length + PEN_BLOCK;
    }
    if (length)
        memcpy(piece->bytes, bytes, length);
    memset(piece->bytes + length, ' ', PEN_BLOCK);
    memo->kept += !piece->tag;
    piece->key = key;
    piece->tag = tag;
    piece->length = (uint32_t)length;
    piece->columns = (uint32_t)columns;
    return piece;
}

void text_cache_clear(struct text_cache *memo)
{
    for (size_t i = 0; memo->kept; i++) {
        struct text_cache_piece *piece = &memo->piece[i];
        if (!piece->tag)
            continue;
        free(piece->bytes);
        *piece = (struct text_cache_piece){0};
        memo->kept--;
    }
    memo->next_victim = 0;
}
