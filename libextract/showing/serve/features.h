// SPDX-License-Identifier: MIT
// serve: what GDB and a live server say that they support (qSupported), without what the proxy does
// not pass on.
#ifndef EXTRACT_SERVE_FEATURES_H
#define EXTRACT_SERVE_FEATURES_H

#include <extract/text.h>

struct features {
    bool is_quiet;        // the server needs no acknowledgements
    bool has_description; // of its registers
    size_t packet_size;   // bytes that both sides accept
};

// Writes the request for the server. Changes the request of GDB.
void features_put_request(struct extract_text *text, char *request);
// Writes the reply for GDB, and returns what the server has said. `most`: size of our packets.
struct features features_put_reply(struct extract_text *text, const char *reply, size_t length,
                                   size_t most);

#endif
