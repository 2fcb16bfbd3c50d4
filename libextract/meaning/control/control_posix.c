// SPDX-License-Identifier: MIT
// control: requests to the recorder of a POSIX trace. Reads the stream block, applies what the user
// requests to the wanted words in it, and lists the words to write. A request that the target has
// not carried out yet is extended, not replaced.
//
// Source: docs/formats/posix-ring.md, "Requests"; IEEE Std 1003.1-2008, posix_trace_set_filter.
#define _GNU_SOURCE // FNM_CASEFOLD
#include "control/control_request.h"
#include "formats/posix/posix.h"
#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_DATA = 64 }; // bytes of data per record, for a stream that was never bound

static enum extract_code set_error(enum extract_code code, const char *what, const char *why,
                                   const char *hint, struct extract_error *error)
{
    return extract_error_set(error, code, what, hint, "%s", why);
}

// ---- names ----

static bool is_bit_set(const uint8_t *bits, uint32_t id)
{
    return bits[id / 8] >> id % 8 & 1;
}

static void write_bit(uint8_t *bits, uint32_t id, bool on)
{
    uint8_t mask = (uint8_t)(1u << id % 8);

    bits[id / 8] = (uint8_t)(on ? bits[id / 8] | mask : bits[id / 8] & ~mask);
}

// Returns the name of an event type, escaped for printing if `shown`, or NULL if it has none.
static const char *find_name(const struct extract_request *request, uint32_t id, bool shown)
{
    const struct extract_object *object;
    const struct extract_event_type *type = extract_format_posix.type(id);
    if (id < POSIX_USER)
        return type->range ? NULL : type->name;
    uint64_t key = extract_number_key(EXTRACT_KIND_USER_EVENT, id - POSIX_USER);
    object = extract_trace_object(request->trace, key);
    if (!object || !*object->name)
        return NULL;
    return shown ? object->shown : object->name;
}

// Sets the bits of the event types that a word names.
static enum extract_code set_named_bits(const struct extract_request *request, const char *word,
                                        uint8_t *bits, struct extract_error *error)
{
    uint32_t ids = 8 * request->filter_bytes;
    uint64_t number = UINT64_MAX;
    bool found = strcmp(word, "none") == 0, all = strcmp(word, "all") == 0;
    bool system = strcmp(word, "system") == 0 || all, user = strcmp(word, "user") == 0 || all;
    bool numbered = extract_number_parse(word, &number);

    for (uint32_t id = 0; id < ids && !found; id++) {
        const char *name = find_name(request, id, false);
        bool is = numbered ? id == number : id < POSIX_USER ? all || (system && name) : user;
        if (is || (!numbered && name && (strcmp(word, name) == 0 || !fnmatch(word, name, 0))))
            write_bit(bits, id, true);
    }
    for (uint32_t i = 0; i < request->filter_bytes; i++)
        found |= bits[i] != 0;
    return found ? EXTRACT_OK
                 : extract_error_set(error, EXTRACT_NOTFOUND, word,
                                     "run ringside objects for the names; ids, all, system, user "
                                     "and none work as well",
                                     "no event type has that name");
}

// ---- filters ----

// Changes the filter as the words request: set, add or sub, then names of event types.
static enum extract_code change_filter(struct extract_request *request, const char *const *words,
                                       size_t count, struct extract_error *error)
{
    bool set = strcmp(words[0], "set") == 0, adds = set || words[0][0] == 'a';
    uint8_t *bits = malloc(request->filter_bytes);
    enum extract_code code = EXTRACT_OK;

    if (!bits)
        return set_error(EXTRACT_NOMEM, "filter", "out of memory", NULL, error);
    if (set)
        memset(request->after, 0, request->filter_bytes);
    for (size_t i = 1; i < count && !code; i++) {
        memset(bits, 0, request->filter_bytes);
        code = set_named_bits(request, words[i], bits, error);
        for (uint32_t k = 0; k < request->filter_bytes; k++) {
            uint8_t after = request->after[k];
            request->after[k] = adds ? after | bits[k] : (uint8_t)(after & ~bits[k]);
        }
    }
    free(bits);
    return code;
}

// Copies the words of a filter as bytes in little-endian order; the block has the target's order.
static void load_filter(uint8_t *bits, const uint8_t *block, uint32_t at, uint32_t bytes,
                        enum extract_byte_order order)
{
    struct extract_cursor c = extract_cursor_make(block, at + bytes, order);

    extract_cursor_seek(&c, at);
    for (uint32_t i = 0; i < bytes; i += 4)
        extract_store(bits + i, extract_cursor_u32(&c), 4, EXTRACT_LITTLE);
}

static enum extract_code read_filter(struct extract_request *request, const uint8_t *block,
                                     const struct posix_stream *stream, struct extract_error *error)
{
    uint32_t ids = request->ring->posix.ids, bytes = posix_filter_bytes(ids);
    bool pending = stream->request != stream->request_done;

    request->before = malloc(2 * (size_t)bytes + 1);
    if (!request->before)
        return set_error(EXTRACT_NOMEM, "filter", "out of memory", NULL, error);
    request->filter_bytes = bytes;
    request->after = request->before + bytes;
    load_filter(request->before, block,
                pending ? posix_wanted_filter_at(ids) : POSIX_STREAM_AT_FILTER, bytes,
                stream->layout.order);
    memcpy(request->after, request->before, bytes);
    return EXTRACT_OK;
}

static bool write_filter(struct extract_request *request)
{
    uint64_t at = request->ring->address + posix_wanted_filter_at(request->ring->posix.ids);
    struct extract_cursor c =
        extract_cursor_make(request->after, request->filter_bytes, EXTRACT_LITTLE);
    bool fits = true;

    for (uint32_t i = 0; i < request->filter_bytes && fits; i += 4)
        fits = request_put(request, at + i, extract_cursor_u32(&c));
    return fits;
}

// ---- what is shown ----

static void print_filter(const struct extract_request *request, bool changed,
                         struct extract_text *text)
{
    const uint8_t *bits = changed ? request->after : request->before;
    uint32_t named = 0, others = 0, ids = bits ? 8 * request->filter_bytes : 0;

    extract_text_puts(text, "not recorded:");
    for (uint32_t id = 0; id < ids; id++) {
        const char *name = is_bit_set(bits, id) ? find_name(request, id, true) : NULL;
        if (name)
            extract_text_printf(text, " %s", name);
        named += name != NULL;
        others += is_bit_set(bits, id) && !name;
    }
    if (others)
        extract_text_printf(text, "%s %u type%s without a name", named ? "," : "", (unsigned)others,
                            others == 1 ? "" : "s");
    extract_text_puts(text, named || others ? "\n" : " nothing\n");
}

// ---- requests ----

// Returns what is wanted now: by a request that is pending; otherwise, the present state.
static struct posix_stream find_wanted(const struct posix_stream *stream)
{
    struct posix_stream now = *stream;

    if (stream->request != stream->request_done)
        return now;
    now.wanted = stream->state & (POSIX_STATE_BOUND | POSIX_STATE_RUNNING);
    if (stream->state & POSIX_STATE_STOPPED_FULL)
        now.wanted |= stream->wanted & POSIX_STATE_RUNNING; // whether it starts again
    now.wanted_clears = stream->clears_done;
    if (stream->state & POSIX_STATE_BOUND) {
        now.wanted_policy = stream->policy;
        now.wanted_max_data = stream->max_data;
    }
    return now;
}

static enum extract_code apply_action(struct posix_stream *now, const struct posix_stream *stream,
                                      enum request_action action, struct extract_error *error)
{
    bool bound = now->wanted & POSIX_STATE_BOUND;

    if (!bound && (action != REQUEST_START || now->layout.shared))
        return set_error(EXTRACT_ABSENT, "POSIX trace",
                         "stream is not bound, so it records nothing",
                         now->layout.shared ? "create one with posix_trace_create"
                                            : "bind it with ringside start",
                         error);
    if (!bound &&
        (now->wanted_policy < POSIX_POLICY_LOOP || now->wanted_policy > POSIX_POLICY_FLUSH))
        now->wanted_policy = POSIX_POLICY_LOOP;
    if (!bound && !now->wanted_max_data)
        now->wanted_max_data = now->max_data ? now->max_data : MAX_DATA;
    if (action == REQUEST_START)
        now->wanted |= POSIX_STATE_BOUND | POSIX_STATE_RUNNING;
    if (action == REQUEST_STOP)
        now->wanted &= ~(uint32_t)POSIX_STATE_RUNNING;
    if (action == REQUEST_CLEAR && posix_stream_stays_full(stream))
        now->wanted &= ~(uint32_t)POSIX_STATE_RUNNING; // clear keeps a suspended stream suspended
    if (action == REQUEST_CLEAR)
        now->wanted_clears++;
    return EXTRACT_OK;
}

static bool write_wanted(struct extract_request *request, const struct posix_stream *now)
{
    const struct extract_ring *ring = request->ring;
    uint64_t at = ring->address;

    request->done = (struct extract_word){at + POSIX_STREAM_AT_REQUEST_DONE, now->request + 1};
    return request_put(request, at + POSIX_STREAM_AT_WANTED, now->wanted) &&
           request_put(request, at + POSIX_STREAM_AT_WANTED + 4, now->wanted_policy) &&
           request_put(request, at + POSIX_STREAM_AT_WANTED + 8, now->wanted_max_data) &&
           request_put(request, at + POSIX_STREAM_AT_WANTED_CLEARS, now->wanted_clears) &&
           (!request->before || write_filter(request)) &&
           request_put(request, at + POSIX_STREAM_AT_REQUEST, now->request + 1) &&
           request_put(request, ring->posix.process + POSIX_BLOCK_AT_ACTIVE, UINT32_MAX);
}

// Reads the filter, and changes it as the words request; sets *shows if they only request its
// state.
static enum extract_code edit_filter(struct extract_request *request, const uint8_t *block,
                                     const struct posix_stream *stream, const char *const *words,
                                     size_t count, bool *shows, struct extract_error *error)
{
    enum extract_code code = request_is_change(words, count,
                                               "names of event types, all, system, "
                                               "user or none",
                                               shows, error);

    code = code ? code : read_filter(request, block, stream, error);
    return code || *shows ? code : change_filter(request, words, count, error);
}

enum extract_code request_posix(struct extract_request *request, struct extract_memory *memory,
                                const char *const *words, size_t count, struct extract_error *error)
{
    const struct extract_ring *ring = request->ring;
    uint32_t length = posix_wanted_filter_at(ring->posix.ids) + posix_filter_bytes(ring->posix.ids);
    struct posix_stream stream, now;
    bool shows = false;

    request->show = print_filter;
    if (!ring->posix.process_known)
        return set_error(EXTRACT_UNSUPPORTED, "POSIX trace", "process block is not in this memory",
                         "pass the whole memory", error);
    uint8_t *block = malloc(length);
    if (!block)
        return set_error(EXTRACT_NOMEM, "POSIX trace", "out of memory", NULL, error);
    enum extract_code code = request_read(request, memory, block, length, error);
    if (!code && !posix_stream_read(&stream, block, length))
        code = set_error(EXTRACT_BAD, "POSIX trace", "stream block is no longer there",
                         "check whether the target was reset", error);
    if (!code && request->action == REQUEST_FILTER)
        code = edit_filter(request, block, &stream, words, count, &shows, error);
    free(block);
    if (code || shows)
        return code;
    now = find_wanted(&stream);
    code = apply_action(&now, &stream, request->action, error);
    if (!code && !write_wanted(request, &now))
        code = set_error(EXTRACT_NOMEM, "POSIX trace", "out of memory", NULL, error);
    return code;
}
