// SPDX-License-Identifier: MIT
// fuzz: bytes that may be an expression of --where. After a NUL, the bytes may be the ring whose
// events it selects.
//
// Nothing may crash, leak or hang. In addition, an error names a column of the text. An expression
// and its negation select each event exactly once, and a second walk selects the same events.
#define _GNU_SOURCE // memfd_create
#include "tests/fuzz/ring_bytes.h"
#include "events/events_room.h"
#include <extract/filter.h>

enum { MAX_BOUND = 1024, HZ = 1000 }; // bytes of an expression that is bound to a trace

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// The sum of what an expression selected, which does not depend on the order.
struct selection {
    uint64_t events, hash;
};

static bool add_events(void *context, const struct extract_event *events, size_t count)
{
    struct selection *selection = context;

    for (size_t i = 0; i < count; i++) {
        if (extract_id_is_loss(events[i].id))
            continue; // they are shown whatever the expression is
        selection->events++;
        selection->hash += (events[i].seq * 2 + extract_event_is_mark(&events[i]) + 1) *
                           UINT64_C(0x9E3779B97F4A7C15);
    }
    return true;
}

// Selects events by an expression, or all of them if it is NULL. Returns false if the expression is
// refused.
static bool select_events(const struct extract_trace *trace, const char *expression,
                          struct selection *selection)
{
    struct selection again = {0, 0};
    const struct extract_sink sink = {.events = add_events, .context = selection};
    const struct extract_sink second = {.events = add_events, .context = &again};
    struct extract_filter *filter;
    struct extract_view *view = NULL;
    struct extract_error error = {0};

    *selection = again;
    check(!extract_filter_new(&filter, NULL));
    enum extract_code code =
        expression ? extract_filter_add(filter, EXTRACT_FILTER_WHERE, expression, &error)
                   : EXTRACT_OK;
    if (!code)
        code = extract_view_new(&view, filter, trace, HZ, &error);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    check(!code || code == EXTRACT_USAGE || code == EXTRACT_NOTFOUND);
    check(!code == !!view || code == EXTRACT_NOTFOUND);
    if (view) {
        extract_view_run(view, &sink);
        extract_view_run(view, &second);
        check(selection->events == again.events && selection->hash == again.hash);
    }
    extract_view_free(view);
    extract_filter_free(filter);
    return view != NULL;
}

// Checks that an expression can be parsed, or that the error says where it cannot.
static bool check_syntax(const char *text)
{
    struct extract_filter *filter;
    struct extract_error error = {0};
    unsigned column = 0;

    check(!extract_filter_new(&filter, NULL));
    enum extract_code code = extract_filter_add(filter, EXTRACT_FILTER_WHERE, text, &error);
    extract_filter_free(filter);
    if (!code)
        return true;
    check(code == EXTRACT_USAGE && strcmp(error.what, "where") == 0);
    check(sscanf(error.why, "column %u:", &column) == 1);
    check(column >= 1 && column <= strlen(text) + 1);
    return false;
}

static void check_selection(const struct extract_trace *trace, const char *text)
{
    char negation[MAX_BOUND + 8];
    struct selection all, in, out;

    snprintf(negation, sizeof negation, "!(%s)", text);
    if (!select_events(trace, text, &in) || !select_events(trace, negation, &out))
        return; // with two levels more, the negation may be too deep
    check(select_events(trace, NULL, &all));
    check(in.events + out.events == all.events && in.hash + out.hash == all.hash);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    size_t length = strnlen((const char *)data, size);
    char *text = malloc(length + 1);

    check(text != NULL);
    memcpy(text, data, length);
    text[length] = 0;
    if (check_syntax(text) && length <= MAX_BOUND && size > length + 1) {
        struct extract_memory *memory = stopped_target(data + length + 1, size - length - 1);
        struct extract_session *session = open_ring(memory, NULL, true, false);
        if (session)
            check_selection(extract_session_trace(session), text);
        extract_session_close(session);
        extract_memory_close(memory);
    }
    free(text);
    return 0;
}
