// SPDX-License-Identifier: MIT
// formats: a ring as a dump of its own format.
#include "formats/format.h"
#include <extract/export.h>

enum extract_code extract_export_ring(struct extract_text *text, const struct extract_trace *trace,
                                      struct extract_error *error)
{
    return extract_trace_snapshot(trace)->ring.format->save(text, trace, error);
}
