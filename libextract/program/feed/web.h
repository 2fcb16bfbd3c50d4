// SPDX-License-Identifier: MIT
// feed: distinguishes the requests of a browser from streams. A web page can make a browser send
// bytes of its choice to a TCP port, but only after the first line of an HTTP request, in TLS, or
// in a request of STUN, with which WebRTC looks for a way to another computer.
#ifndef EXTRACT_FEED_WEB_H
#define EXTRACT_FEED_WEB_H

#include <stddef.h>
#include <stdint.h>

enum { WEB_LINE = 4096 }; // longest first line that is waited for, in bytes

enum web_verdict {
    WEB_UNKNOWN, // it may become a request
    WEB_REQUEST,
    WEB_STREAM // it is not a request
};

// Judges the first bytes of a client.
enum web_verdict web_judge(const uint8_t *bytes, size_t length);

#endif
