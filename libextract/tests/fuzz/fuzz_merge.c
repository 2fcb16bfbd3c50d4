// SPDX-License-Identifier: MIT
// fuzz: two files that may be traces of any format, which are merged as snapshots, cores or boards.
// The merged log is reported in every form, and merged again with the first file.
//
// Nothing may crash, leak or hang. In addition, the log contains each event of the inputs once, in
// order of time, and no text controls a terminal.
//
// The first byte selects what the inputs have in common, and the next two bytes are the length of
// the first file. Both files follow.
#define _GNU_SOURCE // memfd_create
#include "merge/merge.h"
#include "tests/fuzz/ring_bytes.h"

enum { KINDS = 3, ALIGN = 4, AGAIN = 8, FRONT = 3, MOST_INPUTS = 2 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// A file, and what is open for it.
struct opened {
    struct extract_memory *memory;
    struct extract_log *log;
    struct extract_session *session;
};

static void close_one(struct opened *opened)
{
    extract_session_close(opened->session);
    extract_log_free(opened->log);
    extract_memory_close(opened->memory);
}

static bool begins_with(const uint8_t *data, size_t size, const char *text)
{
    return size >= strlen(text) && memcmp(data, text, strlen(text)) == 0;
}

static void open_stream(struct opened *opened, const uint8_t *data, size_t size)
{
    struct extract_rkh rkh = {0};
    struct extract_session_options options = {.size = sizeof options, .format = "rkh", .rkh = &rkh};

    rkh_set_up(&rkh, data[0] | (unsigned)data[1] << 8);
    if (!extract_rkh_stream_open(&opened->memory, file_of(data + 2, size - 2), NULL))
        extract_session_open(&opened->session, opened->memory, NULL, &options, NULL);
}

static const struct extract_trace *open_one(struct opened *opened, const uint8_t *data, size_t size)
{
    struct extract_session_options options = {.size = sizeof options};

    memset(opened, 0, sizeof *opened);
    if (begins_with(data, size, "RKHring")) {
        if (!extract_rkh_dump_open(&opened->memory, file_of(data, size), NULL))
            extract_session_open(&opened->session, opened->memory, NULL, &options, NULL);
    } else if (begins_with(data, size, "RLBK")) {
        int fd = memfd_create("log", 0); // file_of has one file only
        check(write(fd, data, size) == (ssize_t)size);
        if (!extract_log_open_fd(&opened->log, fd, NULL))
            extract_session_open_log(&opened->session, opened->log, NULL, &options, NULL);
        close(fd);
    } else if (begins_with(data, size, "HOOK") || begins_with(data, size, "KOOH") ||
               begins_with(data, size, "PTR") || begins_with(data, size, "CRTP") ||
               begins_with(data, size, "TXTB") || begins_with(data, size, "BTXT")) {
        opened->memory = stopped_target(data, size);
        opened->session = open_ring(opened->memory, NULL, true, false);
    } else if (size > 3) {
        open_stream(opened, data, size);
    }
    return opened->session ? extract_session_trace(opened->session) : NULL;
}

// ---- the log ----

// Returns the number of events, without markers. Sets *refused to whether the log states that
// entries did not fit into it.
static uint64_t check_order(const struct extract_trace *trace, bool *refused)
{
    struct extract_event events[BATCH];
    struct extract_reader reader;
    uint64_t count = 0, last = 0;
    size_t got;

    *refused = false;
    extract_reader_init(&reader, trace);
    while ((got = extract_reader_next(&reader, events, BATCH)))
        for (size_t i = 0; i < got; i++) {
            *refused |= events[i].id == EXTRACT_ID_LOST &&
                        events[i].field[EXTRACT_LOST_REASON] == EXTRACT_LOSS_LOG_FULL;
            check(events[i].ticks >= last || events[i].flags & EXTRACT_FLAG_BACKWARDS);
            last = events[i].ticks;
            count += !extract_event_is_mark(&events[i]);
        }
    return count;
}

static void check_verbs(struct extract_session *session)
{
    static const char *const verbs[] = {"info", "objects", "report", "stats", "schedule"};

    for (size_t i = 0; i < sizeof verbs / sizeof *verbs; i++) {
        struct extract_text text;
        extract_text_init(&text, NULL, NULL);
        extract_session_run(session, verbs[i], &text, NULL);
        for (size_t k = 0; k < text.used; k++) {
            unsigned char c = (unsigned char)text.data[k];
            check((c >= 0x20 || c == '\n') && c != 0x7f);
        }
        extract_text_free(&text);
    }
}

// Merges two traces, and opens the log.
static const struct extract_trace *merge_two(struct opened *opened, uint8_t bits,
                                             const struct extract_trace *const traces[MOST_INPUTS])
{
    struct extract_session_options options = {.size = sizeof options, .json = bits & AGAIN};
    struct extract_log_options how = {.size = sizeof how, .policy = EXTRACT_LOG_APPEND};
    struct merge_input inputs[MOST_INPUTS] = {{.trace = traces[0], .name = "a", .prefix = "a"},
                                              {.trace = traces[1],
                                               .name = "b",
                                               .prefix = "b",
                                               .has_offset = !(bits & ALIGN),
                                               .offset = bits >> 4}};
    const struct merge_options wanted = {.kind = (enum merge_kind)(bits % 4 % KINDS),
                                         .align = bits & ALIGN ? "*" : NULL};
    struct extract_log_writer *writer = NULL;
    struct extract_error error = {0};
    struct merge merge;
    bool refused;

    memset(opened, 0, sizeof *opened);
    enum extract_code code = merge_plan(&merge, inputs, MOST_INPUTS, &wanted, &error);
    check(!code || (error.code == code && error.what[0] && error.why[0]));
    if (!code) {
        int fd = memfd_create("merged", 0);
        how.section_bytes = merge_section_bytes(&merge);
        check(!extract_log_create_fd(&writer, fd, &how, NULL));
        check(!merge_write(&merge, writer, &error));
        check(!extract_log_close(writer, NULL));
        check(!extract_log_open_fd(&opened->log, fd, NULL));
        close(fd);
        check(!extract_session_open_log(&opened->session, opened->log, NULL, &options, NULL));
        uint64_t count = check_order(extract_session_trace(opened->session), &refused);
        uint64_t all = inputs[0].events + inputs[1].events;
        all -= inputs[0].duplicates + inputs[1].duplicates;
        check(refused ? count <= all : count == all);
        check_verbs(opened->session);
    }
    merge_free(&merge);
    return opened->session ? extract_session_trace(opened->session) : NULL;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct opened files[MOST_INPUTS] = {0}, merged = {0}, again = {0};

    if (size < FRONT)
        return 0;
    size_t first = data[1] | (size_t)data[2] << 8;
    first = first < size - FRONT ? first : size - FRONT;
    const struct extract_trace *a = open_one(&files[0], data + FRONT, first);
    const struct extract_trace *b = open_one(&files[1], data + FRONT + first, size - FRONT - first);
    if (a && b) {
        const struct extract_trace *const both[] = {a, b};
        const struct extract_trace *log = merge_two(&merged, data[0], both);
        const struct extract_trace *const third[] = {log, a};
        if (log && data[0] & AGAIN)
            merge_two(&again, (uint8_t)(data[0] + 1), third);
    }
    close_one(&again);
    close_one(&merged);
    close_one(&files[0]);
    close_one(&files[1]);
    return 0;
}
