// SPDX-License-Identifier: MIT
// fuzz: exports any trace in each format. The input begins with a byte for the kind of the trace,
// one for the rate of its clock and one for the filter; a dump, a stream, a log or events of
// ThreadX (event_ring.h) follow. The objects of these events have hostile names.
//
// Nothing may crash, leak or hang. In addition, an export succeeds or has an error with a reason. A
// file or directory exists if and only if its export succeeded, and nothing else is left.
#define _GNU_SOURCE // memfd_create, nftw
#include "tests/fuzz/event_ring.h"
#include "tests/fuzz/trace_checks.h"
#include <dirent.h>
#include <errno.h>
#include <ftw.h>
#include <sys/stat.h>

enum { HEAD = 3, MAX_EVENTS = 1024 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// ---- outputs ----

static bool discard(void *context, const char *bytes, size_t length)
{
    (void)bytes;
    *(uint64_t *)context += length;
    return true;
}

static int remove_entry(const char *path, const struct stat *status, int type, struct FTW *place)
{
    (void)status, (void)type, (void)place;
    return remove(path);
}

static char outputs[64]; // directory for outputs; "": not made yet

static void remove_outputs(void)
{
    nftw(outputs, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

// Makes the directory, in memory if the system has such a file system.
static void make_outputs(void)
{
    if (*outputs)
        return;
    snprintf(outputs, sizeof outputs, "%s/fuzz-export.XXXXXX",
             access("/dev/shm", W_OK) ? "/tmp" : "/dev/shm");
    check(mkdtemp(outputs) != NULL && !atexit(remove_outputs));
}

// Removes what an export made. Checks that there is one entry if it succeeded, and none otherwise.
static void check_outputs(bool is_made, bool is_directory)
{
    char entry[512];
    struct stat status;
    DIR *directory = opendir(outputs);
    unsigned count = 0;

    check(directory != NULL);
    for (struct dirent *found; (found = readdir(directory));) {
        if (found->d_name[0] == '.')
            continue;
        snprintf(entry, sizeof entry, "%s/%s", outputs, found->d_name);
        check(!lstat(entry, &status) && S_ISDIR(status.st_mode) == is_directory);
        check(!nftw(entry, remove_entry, 16, FTW_DEPTH | FTW_PHYS));
        count++;
    }
    closedir(directory);
    check(count == is_made);
}

// Returns the built-in templates of a format, which are made once.
static const struct extract_templates *templates_of(const char *format)
{
    static struct {
        const char *format;
        struct extract_templates *templates;
    } made[8];
    unsigned i = 0;

    while (made[i].format && strcmp(made[i].format, format) != 0)
        i++;
    check(i < sizeof made / sizeof *made);
    if (!made[i].format) {
        check(!extract_templates_open(&made[i].templates, 0, NULL));
        check(!extract_templates_add_builtin(made[i].templates, format, NULL));
        check(!extract_templates_link(made[i].templates, NULL));
        made[i].format = format;
    }
    return made[i].templates;
}

static void export_to(const struct extract_trace *trace, const struct extract_view *view,
                      uint64_t hz, const struct extract_export_kind *kind)
{
    struct extract_export_options options = {.size = sizeof options,
                                             .to = kind->name,
                                             .hz = hz,
                                             .templates =
                                                 templates_of(extract_trace_info(trace)->format)};
    struct extract_error error = {0};
    struct extract_text text;
    char path[128];
    uint64_t bytes = 0;
    bool has_path = kind->output != EXTRACT_EXPORT_STREAM;

    make_outputs();
    snprintf(path, sizeof path, "%s/out", outputs);
    options.path = has_path ? path : NULL;
    extract_text_init(&text, discard, &bytes);
    enum extract_code code = extract_export_run(&text, view, trace, &options, &error);
    check(code == EXTRACT_OK || code == EXTRACT_UNSUPPORTED || code == EXTRACT_LIMIT);
    check(!code || (error.code == code && error.why[0]));
    check(!extract_text_flush(&text));
    if (has_path)
        check_outputs(code == EXTRACT_OK, kind->output == EXTRACT_EXPORT_DIRECTORY);
    extract_text_free(&text);
}

// ---- traces ----

static void export_all(struct extract_memory *memory, struct extract_log *log, const uint8_t *head)
{
    static const uint64_t rates[] = {0, 1, 1000, 40000000, 1000000000, 3579545, UINT64_MAX, 7};
    static const struct extract_condition conditions[] = {{EXTRACT_FILTER_LAST, "5"},
                                                          {EXTRACT_FILTER_FROM, "20"},
                                                          {EXTRACT_FILTER_CLASS, "!SVC"},
                                                          {EXTRACT_FILTER_EVENT, "nothing"}};
    const struct extract_condition *condition = &conditions[head[2] % 4];
    struct extract_session_options options = {.size = sizeof options, .hz = rates[head[1] % 8]};
    const struct extract_export_kind *kind;
    struct extract_session *session;
    struct extract_filter *filter;
    struct extract_view *view;

    if (log ? extract_session_open_log(&session, log, NULL, &options, NULL)
            : extract_session_open(&session, memory, NULL, &options, NULL))
        return;
    const struct extract_trace *trace = extract_session_trace(session);
    check(!extract_filter_new(&filter, NULL));
    if (head[2] & 4)
        check(!extract_filter_add(filter, condition->word, condition->value, NULL));
    extract_view_new(&view, filter, trace, options.hz, NULL); // or NOTFOUND, with a view
    check(view != NULL);
    for (size_t i = 0; (kind = extract_export_kind_at(i)); i++)
        export_to(trace, view, options.hz, kind);
    extract_view_free(view);
    extract_filter_free(filter);
    extract_session_close(session);
}

static void export_file(const uint8_t *head, const uint8_t *data, size_t size)
{
    const struct extract_hook_stream stream = {.bits = 0};
    const char *path = file_of(data, size);
    struct extract_memory *memory = NULL;
    struct extract_log *log = NULL;
    enum extract_code code;

    switch (head[0] % 8) {
    case 0:
        code = extract_memory_open_trx(&memory, path, NULL);
        break;
    case 1:
        code = extract_memory_open_hooks(&memory, path, NULL);
        break;
    case 2:
        code = extract_hook_stream_open(&memory, path, &stream, NULL);
        break;
    case 3:
        code = extract_rkh_stream_open(&memory, path, NULL);
        break;
    case 4:
        code = extract_posix_open(&memory, path, NULL);
        break;
    default:
        code = extract_log_open(&log, path, NULL);
        break;
    }
    if (!code)
        export_all(memory, log, head);
    extract_memory_close(memory);
    extract_log_free(log);
}

static void export_events(const uint8_t *head, const uint8_t *data, size_t size)
{
    static const char *const names[] = {"=1+1;\"',\t\r\n",
                                        "</script><b>",
                                        "\x1b[31m\x7f\x01",
                                        "\xff\xfe\xc3(\xe2\x82",
                                        "-- '); drop --",
                                        "%s%n{{}}[]|\\/ ",
                                        "\xe2\x80\xae\xf0\x9f\x98\x80 a",
                                        "$var #0 $end",
                                        "../../x",
                                        "same",
                                        "same",
                                        ""};
    static const uint8_t types[] = {2, 3, 4, 5, 6}; // timer, queue, semaphore, mutex, event flags
    uint32_t stamp = 0, events = (uint32_t)(size / EVENT_BYTES);
    struct extract_memory *memory;
    struct maker ring;

    if (!events || events > MAX_EVENTS)
        return;
    check(maker_open(&ring, BASE, 0xFFFFFFFF, THREADS + OBJECTS, events, false));
    for (unsigned i = 1; i <= THREADS; i++)
        maker_object(&ring, 1, thread_at(i), BASE + 0x300000 + 0x400 * i, 1024, names[i - 1]);
    for (unsigned i = 0; i < OBJECTS; i++)
        maker_object(&ring, types[i], object_at(i), i, 8, names[THREADS + i]);
    for (uint32_t i = 0; i < events; i++)
        make_event(&ring, data + (size_t)i * EVENT_BYTES, head[0] & 1, &stamp);
    check(!extract_memory_new_images(&memory, NULL));
    check(!extract_memory_add_bytes(memory, "ring", ring.bytes, ring.length, BASE, NULL));
    export_all(memory, NULL, head);
    extract_memory_close(memory);
    maker_close(&ring);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < HEAD)
        return 0;
    if (data[0] & 0x40)
        export_events(data, data + HEAD, size - HEAD);
    else
        export_file(data, data + HEAD, size - HEAD);
    return 0;
}
