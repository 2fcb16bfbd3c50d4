// SPDX-License-Identifier: MIT
// export: the table of writers, one per format. A trace of a ring is written as it is; the newest
// entries of a log are first made into a ring.
#include "export/export_room.h"
#include <extract/report.h>

static const struct writer {
    const struct extract_format *format;
    enum extract_code (*write)(struct extract_text *text, const struct extract_trace *trace,
                               struct extract_error *error);
} writers[] = {
    {&extract_format_threadx, export_threadx},
    {&extract_format_hook, export_hook},
    {&extract_format_rkh, export_rkh},
    {&extract_format_posix, export_posix},
};

static enum extract_code write_ring(struct extract_text *text, const struct extract_trace *trace,
                                    struct extract_error *error)
{
    const struct extract_ring *ring = &extract_trace_snapshot(trace)->ring;

    for (size_t i = 0; i < sizeof writers / sizeof *writers; i++)
        if (writers[i].format == ring->format)
            return writers[i].write(text, trace, error);
    return extract_error_set(error, EXTRACT_UNSUPPORTED, ring->format->title, NULL,
                             "format has no dump file");
}

// The newest entries of a log become a ring first.
static enum extract_code write_log(struct extract_text *text, const struct extract_trace *log,
                                   struct extract_error *error)
{
    struct extract_snapshot image;
    struct extract_trace *trace = NULL;
    enum extract_code code = extract_trace_image(log, &image, error);

    if (code)
        return code;
    code = extract_trace_open(&trace, &image, NULL, error);
    if (!code)
        code = write_ring(text, trace, error);
    extract_trace_close(trace);
    extract_snapshot_free(&image);
    return code;
}

enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error)
{
    return (extract_trace_info(trace)->log ? write_log : write_ring)(text, trace, error);
}
