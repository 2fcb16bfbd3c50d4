// SPDX-License-Identifier: MIT
// serve: distinguishes a client of GDB's protocol from others that connect to its port. A web page
// can make a browser send what the page wants, but only in an HTTP request, of which the page
// chooses no more than the method, a word, and what follows the first lines.
//
//                a packet that only reads      one that cannot be a method
//     UNKNOWN ────────────────────────> READS ────────────────────────────> GDB
//        │ └─────────────────────────────│─────────────────────────────────> ^
//        └───────────────────────────────┴──> FOREIGN
//           a byte outside of packets but + - or ^C, or a packet that writes
#ifndef EXTRACT_SERVE_CALLER_H
#define EXTRACT_SERVE_CALLER_H

#include "serve/serve_packet.h"

enum caller_kind {
    CALLER_UNKNOWN, // it has not sent a valid packet
    CALLER_READS,   // its packets change nothing, and could be the method of an HTTP request
    CALLER_GDB,
    CALLER_FOREIGN // it is to be disconnected, and nothing of these bytes is to be taken
};

struct caller {
    enum caller_kind kind;
    struct serve_input input;
};

// Judges the next bytes of a client. They are to be taken together, or not at all.
enum caller_kind caller_take(struct caller *caller, const void *bytes, size_t length);

#endif
