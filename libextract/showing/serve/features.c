// SPDX-License-Identifier: MIT
// serve: the features of GDB and of a live server (features.h).
#include "serve/features.h"
#include <stdlib.h>
#include <string.h>

enum { SIZE_UNSTATED = 400, SIZE_LEAST = 64 };

void features_put_request(struct extract_text *text, char *request)
{
    static const char *const ours[] = {"multiprocess+", "fork-events+", "vfork-events+",
                                       "exec-events+", "QThreadEvents+"};
    char *rest;

    text->used = 0;
    for (char *word = strtok_r(request, ";", &rest); word; word = strtok_r(NULL, ";", &rest)) {
        bool is_dropped = false;
        for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
            is_dropped |= strstr(word, ours[i]) != NULL && strncmp(word, "qSupported", 10) != 0;
        if (strncmp(word, "qSupported:", 11) == 0 && strstr(word, "multiprocess+"))
            word = (char *)"qSupported:swbreak+"; // the first feature follows the name
        if (is_dropped)
            continue;
        if (text->used)
            extract_text_putc(text, ';');
        extract_text_puts(text, word);
    }
}

struct features features_put_reply(struct extract_text *text, const char *reply, size_t length,
                                   size_t most)
{
    static const char *const dropped[] = {"QStartNoAckMode",    "multiprocess",  "QNonStop",
                                          "qXfer:threads:read", "PacketSize=",   "vContSupported",
                                          "QThreadEvents",      "fork-events",   "vfork-events",
                                          "exec-events",        "QCatchSyscalls"};
    struct features features = {.packet_size = SIZE_UNSTATED};

    text->used = 0;
    extract_text_puts(text, "qXfer:threads:read+;QStartNoAckMode+;vContSupported+");
    for (size_t at = 0; at < length;) {
        const char *word = reply + at;
        const char *end = memchr(word, ';', length - at);
        size_t size = end ? (size_t)(end - word) : length - at;
        bool is_dropped = false;
        for (size_t i = 0; i < sizeof dropped / sizeof *dropped; i++)
            is_dropped |= strncmp(word, dropped[i], strlen(dropped[i])) == 0;
        features.is_quiet |= size == 16 && strncmp(word, "QStartNoAckMode+", 16) == 0;
        features.has_description |= size >= 20 && strncmp(word, "qXfer:features:read+", 20) == 0;
        if (size > 11 && strncmp(word, "PacketSize=", 11) == 0)
            features.packet_size = strtoul(word + 11, NULL, 16);
        if (!is_dropped && size) {
            extract_text_putc(text, ';');
            extract_text_put(text, word, size);
        }
        at += size + 1;
    }
    if (features.packet_size < SIZE_LEAST)
        features.packet_size = SIZE_LEAST;
    if (features.packet_size > most)
        features.packet_size = most;
    extract_text_printf(text, ";PacketSize=%zx", features.packet_size);
    return features;
}
