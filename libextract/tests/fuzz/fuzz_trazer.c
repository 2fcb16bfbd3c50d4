// SPDX-License-Identifier: MIT
// fuzz: an RKH stream whose frames have no checksum, so that every frame of a possible length is
// accepted. It is printed in the form of Trazer, by templates and as JSON.
//
// Nothing may crash, leak or hang. In addition, no text controls a terminal, and every event is
// printed in each form. The text of an event does not depend on the filter.
#define _GNU_SOURCE // memfd_create
#include "formats/rkh/rkh.h"
#include "tests/fuzz/trace_checks.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void set_up(struct extract_rkh *rkh, uint8_t bits)
{
    rkh_set(rkh, EXTRACT_RKH_CHK, 0, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_NSEQ, bits & 1, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_TS, bits & 2 ? 1 : 0, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_PTR, bits & 4 ? 4 : 2, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_SNDR, bits >> 3 & 1, EXTRACT_RKH_USER);
    rkh_set(rkh, EXTRACT_RKH_VERSION, bits & 16 ? 0x2405 : 0x3400, EXTRACT_RKH_USER);
}

// Opens the stream with only its last events, or with all. Returns NULL if it is not a stream.
static struct extract_session *open_session(struct extract_memory *memory,
                                            struct extract_session_options *options,
                                            const char *last)
{
    struct extract_condition condition = {EXTRACT_FILTER_LAST, last};
    struct extract_session *session = NULL;
    options->conditions = &condition;
    options->condition_count = last != NULL;
    extract_session_open(&session, memory, NULL, options, NULL);
    return session;
}

static void report(struct extract_session *session, struct extract_text *text)
{
    extract_text_init(text, NULL, NULL);
    check(extract_session_run(session, "report", text, NULL) == EXTRACT_OK);
    check_text(text);
}

// Checks that the lines of the last event are the last lines of the whole report.
static void check_last(const struct extract_text *all, const struct extract_text *last)
{
    check(last->used <= all->used);
    check(!last->used || !memcmp(all->data + all->used - last->used, last->data, last->used));
}

static void check_forms(struct extract_memory *memory, struct extract_session_options *options)
{
    struct extract_session *session = open_session(memory, options, NULL);
    struct extract_session *tail = session ? open_session(memory, options, "1") : NULL;
    struct extract_text all, last;
    if (session) {
        report(session, &all);
        report(tail, &last);
        check(extract_session_shown(session) >=
              extract_trace_info(extract_session_trace(session))->entries_valid);
        if (options->columns->trazer)
            check_last(&all, &last);
        extract_text_free(&all);
        extract_text_free(&last);
    }
    extract_session_close(tail);
    extract_session_close(session);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct extract_rkh rkh = {0};
    struct extract_columns columns;
    struct extract_memory *memory;
    if (size < 2)
        return 0;
    set_up(&rkh, data[0]);
    extract_columns_init(&columns, false);
    struct extract_session_options options = {.size = sizeof options,
                                              .format = "rkh",
                                              .rkh = &rkh,
                                              .columns = &columns,
                                              .no_header = true,
                                              .json = (data[0] & 0xC0) == 0xC0};
    columns.trazer = data[0] & 0x80;
    check(!extract_rkh_stream_open(&memory, file_of(data + 1, size - 1), NULL));
    check_forms(memory, &options);
    extract_memory_close(memory);
    return 0;
}
