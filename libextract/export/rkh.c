// SPDX-License-Identifier: MIT
// export: writes an RKH trace. A stream and a log become a stream: frames between flags, with
// escapes. A ring in RAM becomes the dump that formats/rkh writes (rkh_dump).
#include "export/export.h"
#include "formats/rkh/rkh.h"

static void put(struct extract_text *text, uint8_t byte)
{
    extract_text_put(text, (const char *)&byte, 1);
}

static void put_stuffed(struct extract_text *text, uint8_t byte)
{
    bool escape = byte == RKH_FLAG || byte == RKH_ESCAPE;

    if (escape)
        put(text, RKH_ESCAPE);
    put(text, escape ? byte ^ RKH_XOR : byte);
}

// Writes a frame between flags. A frame that could not be decoded is written as it was read.
static void put_frame(struct extract_text *text, const struct extract_snapshot *snapshot,
                      const struct extract_extent *place)
{
    const uint8_t *bytes = snapshot->bytes + place->offset;

    if (place->whole)
        for (uint32_t i = 0; i < place->whole; i++)
            put_stuffed(text, bytes[i]);
    else
        extract_text_put(text, (const char *)bytes, place->length - 1);
    put(text, RKH_FLAG);
}

enum extract_code export_rkh(struct extract_text *text, const struct extract_trace *trace,
                             struct extract_error *error)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    struct rkh_live live = rkh_live_of(snapshot->ring.header);

    if (!live.stream && !(live.dump && !live.valid)) // an array, and not what a log says of one
        return rkh_dump(text, snapshot, error);
    put(text, RKH_FLAG);
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++)
        put_frame(text, snapshot, &snapshot->index[i]);
    return text->code ? extract_error_set(error, text->code, "RKH stream", NULL, "out of memory")
                      : EXTRACT_OK;
}
