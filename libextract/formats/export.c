// SPDX-License-Identifier: MIT
// formats: a ring as a dump of its own format. In: a trace. Out: the dump's bytes.
#include "formats/format.h"
#include <extract/report.h>

static enum extract_code export_image(struct extract_text *text, const struct extract_trace *log,
                                      struct extract_error *error)
{
    struct extract_snapshot image;
    struct extract_trace *trace = NULL;
    enum extract_code code = extract_trace_image(log, &image, error);
    if (code)
        return code;
    code = extract_trace_open(&trace, &image, NULL, error);
    if (!code)
        code = image.ring.format->save(text, trace, error);
    extract_trace_close(trace);
    extract_snapshot_free(&image);
    return code;
}

enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error)
{
    if (extract_trace_info(trace)->log)
        return export_image(text, trace, error);
    return extract_trace_snapshot(trace)->ring.format->save(text, trace, error);
}
