// SPDX-License-Identifier: MIT
// feed: distinguishes the requests of a browser from streams (web.h). The first line of a request
// has only printable characters:
//
//     METHOD SP TARGET SP HTTP/1.1 CR LF
//
// A stream of frames has other bytes soon.
// Standard: RFC 9112, 3 (request line); RFC 8446, 5.1 (record of TLS); RFC 8489, 5 and 6.2.2 (STUN,
// without a length before it), RFC 8656, 18 (methods of TURN); RFC 6544, 3 and RFC 4571, 2 (STUN of
// WebRTC, with a length before it).
#define _GNU_SOURCE // memrchr
#include "feed/web.h"
#include "base/token.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

// A handshake begins with the type of its record (22), the version 3.x, a length and its own type.
static enum web_verdict judge_tls(const uint8_t *bytes, size_t length)
{
    enum { RECORD = 22, MAJOR = 3, NEWEST = 4, CLIENT_HELLO = 1 };

    if ((length > 1 && bytes[1] != MAJOR) || (length > 2 && bytes[2] > NEWEST) ||
        (length > 5 && bytes[5] != CLIENT_HELLO) || bytes[0] != RECORD)
        return WEB_STREAM;
    return length > 5 ? WEB_REQUEST : WEB_UNKNOWN;
}

// A request of STUN begins with its method, Binding or Allocate, a length and a fixed number, or
// with another length before them.
static enum web_verdict judge_stun(const uint8_t *bytes, size_t length)
{
    static const uint8_t cookie[] = {0x21, 0x12, 0xA4, 0x42};
    enum { BINDING = 1, ALLOCATE = 3, COOKIE_AT = 4, LENGTH_BYTES = 2, MOST_BYTES = 2048 };

    for (size_t at = 0; at <= LENGTH_BYTES; at += LENGTH_BYTES) {
        const size_t end = at + COOKIE_AT + sizeof cookie;
        bool is_stun = !at || bytes[0] < MOST_BYTES >> 8;
        for (size_t i = at; i < length && i < end; i++)
            is_stun &= i == at       ? bytes[i] == 0
                       : i == at + 1 ? bytes[i] == BINDING || bytes[i] == ALLOCATE
                                     : i < at + COOKIE_AT || bytes[i] == cookie[i - at - COOKIE_AT];
        if (is_stun)
            return length < end ? WEB_UNKNOWN : WEB_REQUEST;
    }
    return WEB_STREAM;
}

// Judges a line without a control character, or the part of it that has arrived.
static enum web_verdict judge_line(const char *line, size_t length, bool is_whole)
{
    static const char host[] = "Host:", version[] = "HTTP/";
    size_t method = 0;

    if (length >= sizeof host - 1 && strncasecmp(line, host, sizeof host - 1) == 0)
        return WEB_REQUEST;
    while (method < length && extract_is_token(line[method]))
        method++;
    if (method < length && (!method || line[method] != ' '))
        return WEB_STREAM;
    if (!is_whole)
        return length < WEB_LINE ? WEB_UNKNOWN : WEB_REQUEST;
    const char *last = memrchr(line, ' ', length);
    return last && last > line + method && (size_t)(line + length - last) >= sizeof version &&
                   strncmp(last + 1, version, sizeof version - 1) == 0
               ? WEB_REQUEST
               : WEB_STREAM;
}

enum web_verdict web_judge(const uint8_t *bytes, size_t length)
{
    size_t line = 0;

    if (!length)
        return WEB_UNKNOWN;
    while (line < length && bytes[line] >= ' ' && bytes[line] < 0x7F)
        line++;
    if (!line) {
        enum web_verdict verdict = judge_stun(bytes, length);
        return verdict == WEB_STREAM ? judge_tls(bytes, length) : verdict;
    }
    bool is_whole = line < length && (bytes[line] == '\r' || bytes[line] == '\n');
    if (line < length && !is_whole)
        return WEB_STREAM;
    return judge_line((const char *)bytes, line, is_whole);
}
