// SPDX-License-Identifier: MIT
// qemu-tests/rtos/hook: a recorder of hook words. In: hook words, data words, buffers. Out: a ring
// in target memory (docs/formats/hook.md), which a debugger finds by the symbol ringside_hooks.
//
// Functions and macros have the names and arguments of the AIX trace facility ("trchook", "trcgen",
// "Macros for recording trace events" in IBM's AIX documentation). They may be called from threads,
// from interrupt handlers, and before the scheduler runs. Nothing is recorded until
// bout_hooks_open.
#ifndef BOUT_HOOK_H
#define BOUT_HOOK_H

#include "bout.h"

// The most that a ring can have, a power of two; an image may set it.
#ifndef HOOK_BUFFER_BYTES
#define HOOK_BUFFER_BYTES (4096 * sizeof(ULONG))
#endif
enum { HOOK_BUFFER_LEAST = 64, HOOK_MAX_GENERIC = 4096, HOOK_HEADER_BYTES = 64 };

#define HOOK_MAGIC   0x4B4F4F48UL // "HOOK"
#define HOOK_VERSION 1U

// Bits of flags.
enum { HOOK_RECORDS = 1, HOOK_UNTIL_FULL = 2 };

struct hook_ring {
    volatile uint32_t magic, version, header_bytes, buffer_bytes;
    volatile uint32_t flags, clock_hz, clock_bits, head;
    volatile uint32_t tail, records, lost, generation;
    volatile uint32_t word_bytes, cpus, reserved[2];
    uint32_t buffer[HOOK_BUFFER_BYTES / 4];
};
extern struct hook_ring ringside_hooks;

// Begins an empty ring whose buffer has `bytes`, a power of two, and records from now on: until it
// is full, or forever, keeping the newest. Returns BOUT_SIZE_ERROR if there is no such ring.
enum bout_status bout_hooks_open(uint32_t bytes, bool until_full);
void bout_hooks_stop(void);
void bout_hooks_start(void); // again, if a ring is open
// Empties the ring. Positions in it continue; its counts begin at 0.
void bout_hooks_clear(void);

// Entries with 32-bit words. `word` is a whole hook word: its type says how many of the five are
// recorded: none (type 1), one (2), all (6 and whatever has no meaning here), and whether a time
// stamp is, which trchookt adds in any case.
void trchook(uint32_t word, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t d4, uint32_t d5);
void trchookt(uint32_t word, uint32_t d1, uint32_t d2, uint32_t d3, uint32_t d4, uint32_t d5);
// One data word and a buffer of at most HOOK_MAX_GENERIC bytes. Only channel 0 is open.
void trcgen(int channel, uint32_t word, uint32_t d1, uint32_t bytes, const void *buffer);
void trcgent(int channel, uint32_t word, uint32_t d1, uint32_t bytes, const void *buffer);

// Entries with 64-bit words. `word` has the hook id in its upper half, the subhook in its lower
// one, and as there is no type in it, all five words are recorded.
void trchook64(uint32_t word, uint64_t d1, uint64_t d2, uint64_t d3, uint64_t d4, uint64_t d5);
void trchook64t(uint32_t word, uint64_t d1, uint64_t d2, uint64_t d3, uint64_t d4, uint64_t d5);
void trcgen64(int channel, uint32_t word, uint64_t d1, uint32_t bytes, const void *buffer);
void trcgent64(int channel, uint32_t word, uint64_t d1, uint32_t bytes, const void *buffer);

// For the macros: entries of the target's own word size, with exactly the words that are given.
void bout_hooks_words(uint32_t word, bool stamped, const ULONG *data, uint32_t words);
void bout_hooks_generic(int channel, uint32_t word, bool stamped, ULONG d1, uint32_t bytes,
                        const void *buffer);

#define HOOK_WORDS(hw, stamped, ...)                                                               \
    bout_hooks_words(hw, stamped, (const ULONG[]){__VA_ARGS__},                                    \
                     (uint32_t)(sizeof((const ULONG[]){__VA_ARGS__}) / sizeof(ULONG)))

// Without a time stamp, and with one. `hw` is hhh00000 or hhhh0000 plus 16 bits of one's own.
#define TRCHKL0(hw)                      bout_hooks_words(hw, false, NULL, 0)
#define TRCHKL1(hw, d1)                  HOOK_WORDS(hw, false, d1)
#define TRCHKL2(hw, d1, d2)              HOOK_WORDS(hw, false, d1, d2)
#define TRCHKL3(hw, d1, d2, d3)          HOOK_WORDS(hw, false, d1, d2, d3)
#define TRCHKL4(hw, d1, d2, d3, d4)      HOOK_WORDS(hw, false, d1, d2, d3, d4)
#define TRCHKL5(hw, d1, d2, d3, d4, d5)  HOOK_WORDS(hw, false, d1, d2, d3, d4, d5)
#define TRCHKL0T(hw)                     bout_hooks_words(hw, true, NULL, 0)
#define TRCHKL1T(hw, d1)                 HOOK_WORDS(hw, true, d1)
#define TRCHKL2T(hw, d1, d2)             HOOK_WORDS(hw, true, d1, d2)
#define TRCHKL3T(hw, d1, d2, d3)         HOOK_WORDS(hw, true, d1, d2, d3)
#define TRCHKL4T(hw, d1, d2, d3, d4)     HOOK_WORDS(hw, true, d1, d2, d3, d4)
#define TRCHKL5T(hw, d1, d2, d3, d4, d5) HOOK_WORDS(hw, true, d1, d2, d3, d4, d5)

#define TRCGEN(channel, hw, d1, bytes, buffer)                                                     \
    bout_hooks_generic(channel, hw, false, d1, bytes, buffer)
#define TRCGENT(channel, hw, d1, bytes, buffer)                                                    \
    bout_hooks_generic(channel, hw, true, d1, bytes, buffer)

#endif
