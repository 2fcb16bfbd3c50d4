// SPDX-License-Identifier: MIT
// qemu-tests/images/hooks: what the images with hook words share. In: a source and its running
// number. Out: records that prove themselves (../proof.h).
#include "shared.h"

enum { HOOKS_NESTED_WORD = 0x0CF00000 };

volatile bool hooks_nest;

ULONG hooks_stamp(void)
{
    if (hooks_nest) {
        hooks_nest = false;
        TRCHKL0(HOOKS_NESTED_WORD);
    }
    return bout_port_stamp();
}

static void prove_in_buffer(uint32_t word, const struct proof *proof)
{
    struct {
        uint32_t words[HOOKS_PROOF_BYTES / 4];
        UCHAR tail[HOOKS_TAIL];
    } buffer = {{proof->info[1], proof->info[2], proof->info[3]}, {0}};
    uint32_t length = proof->info[0] % HOOKS_TAIL;
    for (uint32_t i = 0; i < length; i++)
        buffer.tail[i] = (UCHAR)(proof->info[0] + i);
    TRCGENT(0, word, proof->info[0], HOOKS_PROOF_BYTES + length, &buffer);
}

void hooks_prove(uint32_t source, uint32_t sequence, uint32_t thread)
{
    uint32_t word = HOOKS_PROOF_WORD + (source << 20);
    ULONG lock = bout_lock(); // nothing comes between the record's number and the record
    struct proof proof = proof_make(source, sequence, ringside_hooks.records, thread);
    if (sequence % 2)
        prove_in_buffer(word, &proof);
    else
        TRCHKL4T(word | (sequence & 0xFFFF), proof.info[0], proof.info[1], proof.info[2],
                 proof.info[3]);
    bout_unlock(lock);
}
