// SPDX-License-Identifier: MIT
// formats: the names of classes, contexts, verdicts and enumerated field values, as reports and
// JSON print them. The values of the kernel's enumerations are those of ThreadX's tx_api.h and
// NetX's nx_api.h as documented.
#include "formats/format.h"
#include <extract/event.h>
#include <extract/snapshot.h>
#include <inttypes.h>
#include <stdio.h>

#define WORD_OF(table, index)                                                                      \
    ((index) < sizeof(table) / sizeof *(table) ? (table)[index] : (const char *)0)

const char *extract_class_name(enum extract_class c)
{
    static const char *const names[] = {"APPL", "SVC", "KERN", "INT"};

    return WORD_OF(names, (unsigned)c);
}

const char *extract_context_name(enum extract_context c)
{
    static const char *const names[] = {"thread", "isr", "init", "recorder"};

    return WORD_OF(names, (unsigned)c);
}

const char *extract_verdict_name(enum extract_verdict verdict)
{
    static const char *const names[EXTRACT_VERDICTS] = {
        "good",       "provisional", "torn",         "unused",     "overwritten",
        "unreadable", "invalid",     "bad checksum", "bad length", "unknown id"};

    return (unsigned)verdict < EXTRACT_VERDICTS ? names[verdict] : "unknown";
}

const char *extract_kind_word(enum extract_kind kind, uint64_t value)
{
    static const char *const states[] = {"ready",      "completed", "terminated",     "suspended",
                                         "sleep",      "queue",     "semaphore",      "event flags",
                                         "block pool", "byte pool", "io driver",      "file",
                                         "tcp/ip",     "mutex",     "priority change"};
    static const char *const tcp[] = {
        "?",          "closed",     "listen",     "syn sent", "syn received", "established",
        "close wait", "fin wait 1", "fin wait 2", "closing",  "timed wait",   "last ack"};
    static const char *const get[] = {"or", "or clear", "and", "and clear"};
    static const char *const set[] = {"or", 0, "and"};
    static const char *const loss[] = {"unknown",  "lapped",         "torn",    "unreadable",
                                       "log full", "refused",        "numbers", "earlier gaps",
                                       "reset",    "between buffers"};
    static const char *const actions[] = {"effect", "entry",        "exit",
                                          "init",   "preprocessor", "guard"};

    switch (kind) {
    case EXTRACT_KIND_THREAD_STATE:
        return WORD_OF(states, value);
    case EXTRACT_KIND_TCP_STATE:
        return value ? WORD_OF(tcp, value) : 0;
    case EXTRACT_KIND_FLAGS_GET:
        return WORD_OF(get, value);
    case EXTRACT_KIND_FLAGS_SET:
        return WORD_OF(set, value);
    case EXTRACT_KIND_LOSS:
        return WORD_OF(loss, value);
    case EXTRACT_KIND_ACTION:
        return WORD_OF(actions, value);
    case EXTRACT_KIND_VERDICT:
        return value < EXTRACT_VERDICTS ? extract_verdict_name((enum extract_verdict)value) : 0;
    case EXTRACT_KIND_BOOL:
        return value ? "yes" : "no";
    case EXTRACT_KIND_WAIT:
        return !value ? "none" : value == UINT32_MAX || value == UINT64_MAX ? "forever" : 0;
    default:
        return 0;
    }
}

// A hook id hhh0 of 16 bits is written as hhh.
void extract_event_type_number(const struct extract_event_type *type, uint32_t id, char text[12])
{
    if (type->range != EXTRACT_HOOK_RANGE)
        snprintf(text, 12, "%" PRIu32, id);
    else if (id & 0xF)
        snprintf(text, 12, "%04" PRIX32, id);
    else
        snprintf(text, 12, "%03" PRIX32, id >> 4);
}
