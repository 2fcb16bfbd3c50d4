// SPDX-License-Identifier: MIT
// feed: tells the requests of a browser from streams (web.h). The first line of a request has only
// printable characters:
//
//     METHOD SP TARGET SP HTTP/1.1 CR LF
//
// A stream of frames has other bytes soon.
// Standard: RFC 9112, 3 (request line) and RFC 9110, 5.6.2 (token); RFC 8446, 5.1 (record of TLS).
#define _GNU_SOURCE // memrchr
#include "feed/web.h"
#include <stdbool.h>
#include <string.h>
#include <strings.h>

static bool is_token(uint8_t c)
{
    static const char others[] = "!#$%&'*+-.^_`|~";

    return (c >= '0' && c <= '9') || ((c | 0x20) >= 'a' && (c | 0x20) <= 'z') ||
           (c && strchr(others, c));
}

// A handshake begins with the type of its record (22), the version 3.x, a length and its own type.
static enum web_verdict judge_tls(const uint8_t *bytes, size_t length)
{
    enum { RECORD = 22, MAJOR = 3, NEWEST = 4, CLIENT_HELLO = 1 };

    if ((length > 1 && bytes[1] != MAJOR) || (length > 2 && bytes[2] > NEWEST) ||
        (length > 5 && bytes[5] != CLIENT_HELLO) || bytes[0] != RECORD)
        return WEB_STREAM;
    return length > 5 ? WEB_REQUEST : WEB_UNKNOWN;
}

// Judges a line without a control character, or the part of it that has arrived.
static enum web_verdict judge_line(const char *line, size_t length, bool is_whole)
{
    static const char host[] = "Host:", version[] = "HTTP/";
    size_t method = 0;

    if (length >= sizeof host - 1 && strncasecmp(line, host, sizeof host - 1) == 0)
        return WEB_REQUEST;
    while (method < length && is_token((uint8_t)line[method]))
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
    if (!line)
        return judge_tls(bytes, length);
    bool is_whole = line < length && (bytes[line] == '\r' || bytes[line] == '\n');
    if (line < length && !is_whole)
        return WEB_STREAM;
    return judge_line((const char *)bytes, line, is_whole);
}
