// SPDX-License-Identifier: MIT
// qemu-tests/images/hooks: what the images with hook words share. In: a source and its running
// number. Out: records that prove themselves (../proof.h).
//
// A record of a source has the hook id 0D0 + source, and one of two forms in turn:
//   even numbers: four data words, the four words of the proof
//   odd numbers:  generic; the data word is the first word of the proof, the buffer the other three
//                 in the target's byte order, then number % HOOKS_TAIL bytes, of which the i-th is
//                 the lowest byte of (number + i)
#ifndef HOOKS_SHARED_H
#define HOOKS_SHARED_H

#include "hook/hook.h"
#include "image.h"
#include "kernel.h"
#include "proof.h"

enum { HOOKS_PROOF_WORD = 0x0D000000, HOOKS_TAIL = 50, HOOKS_PROOF_BYTES = 12 };

// Of one record, whatever its form: the number of records before it is part of the proof.
void hooks_prove(uint32_t source, uint32_t sequence, uint32_t thread);

// The stamp of all records. While it is set, taking a stamp is traced itself, once.
extern volatile bool hooks_nest;
ULONG hooks_stamp(void);

#endif
