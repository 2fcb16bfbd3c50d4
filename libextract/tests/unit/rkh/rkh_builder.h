// SPDX-License-Identifier: MIT
// tests: synthetic RKH streams and rings. In: frames, as hexadecimal digits without stuffing. Out:
// the bytes of a stream, or of a target's ring.
//
// Source: docs/formats/rkh.md. Written from those facts alone and sharing no code with the decoder,
// so that the two check each other.
#ifndef TESTS_RKH_BUILDER_H
#define TESTS_RKH_BUILDER_H

#include "tests/unit/ring_builder.h"
#include <extract/session.h>

enum { RKH_MAX_BYTES = 16384, RKH_MAX_EVENTS = 8192 };

struct rkh_bytes {
    uint8_t bytes[RKH_MAX_BYTES];
    size_t length;
    bool chk; // frames get a checksum
};

// A stream that begins with a flag.
void rkh_begin(struct rkh_bytes *stream, bool chk);
void rkh_raw(struct rkh_bytes *stream, const void *bytes, size_t length);
// A frame: its bytes without stuffing and checksum; text between quotes is text.
void rkh_hex(struct rkh_bytes *stream, const char *hex);
void rkh_frame_of(struct rkh_bytes *stream, const uint8_t *bytes, size_t length);
// A mix of events with addresses of `ptr` bytes, stamps of `ts` (0: none), signals of `sig`, from
// sequence number `seq` on (below 0: none).
struct rkh_mix {
    unsigned ptr, ts, sig;
    int seq;
};
void rkh_mixed(struct rkh_bytes *stream, const struct rkh_mix *mix, unsigned frames);

// Where a target's ELF puts the variables of its ring.
struct rkh_places {
    struct extract_symbols *symbols;
    uint64_t array, in_at, out_at, qty_at, chk_at;
};

// Returns false if there is no such ELF.
bool rkh_places_read(struct rkh_places *places, const char *elf);
// Gives the byte at an address when it is of the variable of `size` bytes at `at`.
bool rkh_byte_of(uint64_t at, uint64_t value, unsigned size, uint64_t address, uint8_t *byte);

// A look at these bytes as a file, with the settings of `words`. Errors as they come.
enum extract_code rkh_look(struct look *look, const char *path, const char *words,
                           struct extract_error *error);
// All events and marks, good until the next call.
const struct extract_event *rkh_events(const struct look *look, size_t *count);

#endif
