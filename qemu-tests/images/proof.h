// SPDX-License-Identifier: MIT
// qemu-tests/images: the payload by which each event of the storm image proves itself. In: a
// source, its sequence number, and the thread as the ring records it. Out: the four information
// fields; or whether four fields that were read belong together. All is 32-bit arithmetic, on
// targets and hosts alike; wider words are cut.
//
//   id     4096 + source
//   info 1 the source's sequence number, from 0
//   info 2 the entry's number: how many were written to the ring before it
//   info 3 hash(info 1, info 2, source)
//   info 4 hash(info 1, info 2, info 3, thread, id); the thread is 0xFFFFFFFF in an interrupt
//
// Words of two events in one slot, or of an event under another's context, do not add up.
#ifndef STORM_PROOF_H
#define STORM_PROOF_H

#include <stdbool.h>
#include <stdint.h>

enum { PROOF_FIRST_ID = 4096, PROOF_SOURCES = 3 };
#define PROOF_INTERRUPT UINT32_C(0xFFFFFFFF)

struct proof {
    uint32_t info[4];
};

static inline uint32_t proof_mix(uint32_t hash, uint32_t word)
{
    hash = (hash ^ word) * UINT32_C(0x9E3779B1);
    return hash ^ hash >> 15;
}

static inline struct proof proof_make(uint32_t source, uint32_t sequence, uint32_t number,
                                      uint32_t thread)
{
    struct proof proof = {{sequence, number}};
    proof.info[2] = proof_mix(proof_mix(proof_mix(1, sequence), number), source);
    uint32_t hash = proof_mix(proof_mix(2, proof.info[0]), proof.info[1]);
    hash = proof_mix(proof_mix(hash, proof.info[2]), thread);
    proof.info[3] = proof_mix(hash, PROOF_FIRST_ID + source);
    return proof;
}

static inline bool proof_holds(uint32_t id, uint32_t thread, const uint32_t info[4])
{
    if (id < PROOF_FIRST_ID || id >= PROOF_FIRST_ID + PROOF_SOURCES)
        return false;
    struct proof proof = proof_make(id - PROOF_FIRST_ID, info[0], info[1], thread);
    return proof.info[2] == info[2] && proof.info[3] == info[3];
}

#endif
