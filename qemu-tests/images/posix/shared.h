// SPDX-License-Identifier: MIT
// qemu-tests/images/posix: what the images with POSIX trace share. In: a source and its running
// number. Out: an event that proves itself.
//
// The data of such an event:
//   u32  the number of the source's event, from 0
//   u32  hash(number, source, thread); the thread is 0xFFFFFFFF in an interrupt
//   number % POSIX_TAIL bytes, of which the i-th is the lowest byte of (number + i)
// Its type has the name storm_ and the source's letter, a for source 0.
#ifndef POSIX_SHARED_H
#define POSIX_SHARED_H

#include "../../../libextract/recorder/target/ringside_trace.h"
#include "image.h"
#include "kernel.h"
#include "proof.h"

enum { POSIX_TAIL = 53, POSIX_SOURCES = 4 };

// What each source has recorded; the last event of a source has the number below it.
extern volatile uint32_t posix_produced[POSIX_SOURCES];

void posix_prove_open(void); // registers the types
void posix_prove(uint32_t source, uint32_t thread);

trace_event_id_t posix_type(const char *name); // registers it

// A stream block, as words, and the words of it that a controller writes or reads
// (docs/formats/posix-ring.md).
enum {
    POSIX_STREAM_GENERATION = 8,
    POSIX_HEAD = 12,
    POSIX_TAIL_WORD = 13,
    POSIX_READ_POS = 22,
    POSIX_REQUEST = 23,
    POSIX_WANTED = 24,
    POSIX_WANTED_POLICY = 25,
    POSIX_WANTED_MAX_DATA = 26,
    POSIX_WANTED_CLEARS = 27,
    POSIX_WANTED_FILTER = 36 + 4,                 // 128 types
    POSIX_STOP_WORDS = 4 + 2 * sizeof(ULONG) / 4, // of a stop record
    POSIX_BOUND = 1,                              // bits of POSIX_WANTED
    POSIX_RUNNING = 2
};
volatile uint32_t *posix_stream(uint32_t stream);
// Asks as a controller does, for what the words say and `wanted`; it is carried out at once.
void posix_ask(uint32_t stream, uint32_t wanted);

#endif
