// SPDX-License-Identifier: MIT
// control: requests to a target that records: start, stop, clear and filter. Each format turns the
// user's words into words to write to the target. A target carries some of them out later, so
// the caller polls extract_request_is_done.
#include "control/control_request.h"
#include "base/cursor.h"
#include "base/grow.h"
#include "memory/memory_hooks.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HOOK_RUNS = 1 };

bool request_put(struct extract_request *request, uint64_t address, uint32_t value)
{
    struct extract_word *words =
        extract_grow(request->words, &request->capacity, request->count, sizeof *words);

    if (!words)
        return false;
    request->words = words;
    request->words[request->count++] = (struct extract_word){address, value};
    return true;
}

enum extract_code request_read(const struct extract_request *request, struct extract_memory *memory,
                               void *bytes, size_t length, struct extract_error *error)
{
    size_t got;

    return extract_memory_read(memory, request->ring->address, bytes, length, &got, error);
}

static enum extract_code out_of_memory(struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_NOMEM, "request", NULL, "out of memory");
}

// ---- formats ----

// Fills in a request to the recorder of hook words, which obeys one bit of its flags.
static enum extract_code request_hook(struct extract_request *request,
                                      struct extract_memory *memory, const char *const *words,
                                      size_t count, struct extract_error *error)
{
    uint8_t header[EXTRACT_HOOKS_HEADER];
    uint64_t at = request->ring->address + EXTRACT_HOOKS_AT_FLAGS;

    (void)words;
    (void)count;
    if (request->action > REQUEST_STOP)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "hook ring",
                                 "use start or stop, or change in the firmware what is recorded",
                                 "not supported by the recorder");
    enum extract_code code = request_read(request, memory, header, sizeof header, error);
    if (code)
        return code;
    struct extract_cursor c = extract_cursor_make(header, sizeof header, request->ring->byte_order);
    extract_cursor_seek(&c, EXTRACT_HOOKS_AT_FLAGS);
    uint32_t flags = extract_cursor_u32(&c) & ~(uint32_t)HOOK_RUNS;
    flags |= request->action == REQUEST_START ? HOOK_RUNS : 0;
    request->done = (struct extract_word){at, flags};
    return request_put(request, at, flags) ? EXTRACT_OK : out_of_memory(error);
}

// The formats, and either their function or why they take no requests.
static const struct {
    const char *format;
    enum extract_code (*make)(struct extract_request *, struct extract_memory *,
                              const char *const *, size_t, struct extract_error *);
    const char *why, *hint; // error if `make` is NULL
} formats[] = {
    {"posix", request_posix, NULL, NULL},
    {"hook", request_hook, NULL, NULL},
    {"threadx", request_threadx, NULL, NULL},
    {"rkh", NULL, "trace has only filters, and cannot be started, stopped or cleared",
     "use ringside filter on|off TERM"},
};

static enum extract_code make_request(struct extract_request *request,
                                      struct extract_memory *memory, const char *const *words,
                                      size_t count, struct extract_error *error)
{
    const char *name = extract_ring_format(request->ring);

    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        if (strcmp(formats[i].format, name) != 0)
            continue;
        return formats[i].make ? formats[i].make(request, memory, words, count, error)
                               : extract_error_set(error, EXTRACT_UNSUPPORTED, name,
                                                   formats[i].hint, "%s", formats[i].why);
    }
    return extract_error_set(error, EXTRACT_UNSUPPORTED, name, NULL,
                             "requests to its recorder are not supported");
}

enum extract_code request_is_change(const char *const *words, size_t count, const char *what,
                                    bool *shows, struct extract_error *error)
{
    static const char *const changes[] = {"set", "add", "sub"};
    bool found = false;

    *shows = !count || (count == 1 && strcmp(words[0], "show") == 0);
    for (size_t i = 0; count > 1 && i < sizeof changes / sizeof *changes; i++)
        found |= strcmp(words[0], changes[i]) == 0;
    if (*shows || found)
        return EXTRACT_OK;
    char hint[128];
    snprintf(hint, sizeof hint, "use show, or set, add or sub and %s", what);
    return extract_error_set(error, EXTRACT_USAGE, words[0], hint, "not a change of the filter");
}

void extract_request_show(const struct extract_request *request, bool changed,
                          struct extract_text *text)
{
    request->show(request, changed, text);
}

// ---- requests ----

static enum extract_code parse_action(struct extract_request *request, const char *action,
                                      size_t count, struct extract_error *error)
{
    static const char *const actions[] = {"start", "stop", "clear", "filter"};
    unsigned i = 0;

    while (i <= REQUEST_FILTER && strcmp(actions[i], action) != 0)
        i++;
    if (i > REQUEST_FILTER)
        return extract_error_set(error, EXTRACT_USAGE, action, "use start, stop, clear or filter",
                                 "unknown request");
    if (i != REQUEST_FILTER && count)
        return extract_error_set(error, EXTRACT_USAGE, action, "omit them", "takes no arguments");
    request->action = (enum request_action)i;
    return EXTRACT_OK;
}

enum extract_code extract_request_new(struct extract_request **request,
                                      const struct extract_trace *trace,
                                      struct extract_memory *memory, const char *action,
                                      const char *const *words, size_t count,
                                      struct extract_error *error)
{
    struct extract_request *r = *request = calloc(1, sizeof *r);

    if (!r)
        return out_of_memory(error);
    r->trace = trace;
    r->ring = &extract_trace_snapshot(trace)->ring;
    enum extract_code code = parse_action(r, action, count, error);
    if (!code)
        code = make_request(r, memory, words, count, error);
    if (!code)
        return EXTRACT_OK;
    extract_request_free(r);
    *request = NULL;
    return code;
}

void extract_request_free(struct extract_request *request)
{
    if (!request)
        return;
    free(request->words);
    free(request->before);
    free(request);
}

bool extract_request_word(const struct extract_request *request, size_t i,
                          struct extract_word *word)
{
    if (i >= request->count)
        return false;
    *word = request->words[i];
    return true;
}

bool extract_request_takes_effect_at_once(const struct extract_request *request)
{
    return request->takes_effect_at_once;
}

enum extract_code extract_request_send(const struct extract_request *request,
                                       struct extract_memory *memory, struct extract_error *error)
{
    bool big = request->ring->byte_order == EXTRACT_BIG;
    enum extract_code code = EXTRACT_OK;

    for (size_t i = 0; i < request->count && !code; i++) {
        uint8_t bytes[4];
        for (unsigned k = 0; k < sizeof bytes; k++)
            bytes[big ? 3 - k : k] = (uint8_t)(request->words[i].value >> 8 * k);
        code = extract_memory_write(memory, request->words[i].address, bytes, sizeof bytes, error);
    }
    return code;
}

enum extract_code extract_request_is_done(const struct extract_request *request,
                                          struct extract_memory *memory, bool *done,
                                          struct extract_error *error)
{
    uint8_t bytes[4];
    size_t got;

    *done = !request->count;
    if (*done)
        return EXTRACT_OK;
    enum extract_code code =
        extract_memory_read(memory, request->done.address, bytes, sizeof bytes, &got, error);
    struct extract_cursor c = extract_cursor_make(bytes, sizeof bytes, request->ring->byte_order);
    *done = !code && extract_cursor_u32(&c) == request->done.value;
    return code;
}
