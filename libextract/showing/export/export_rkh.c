// SPDX-License-Identifier: MIT
// export: writes an RKH trace. A stream and a log become a stream: frames between flags, with
// escapes. A ring in RAM becomes the dump that formats/rkh writes (rkh_dump).
#include "export/export_room.h"
#include "formats/rkh/rkh.h"

static void append_byte(struct extract_text *text, uint8_t byte)
{
    extract_text_put(text, (const char *)&byte, 1);
}

// Writes a frame between flags. A frame that could not be decoded is written as it was read.
static void put_frame(struct extract_text *text, const struct extract_snapshot *snapshot,
                      const struct extract_extent *place)
{
    const uint8_t *bytes = snapshot->bytes + place->offset;

    if (!place->whole)
        extract_text_put(text, (const char *)bytes, place->length - 1);
    for (uint32_t i = 0; i < place->whole; i++) {
        bool escape = bytes[i] == RKH_FLAG || bytes[i] == RKH_ESCAPE;
        if (escape)
            append_byte(text, RKH_ESCAPE);
        append_byte(text, escape ? bytes[i] ^ RKH_XOR : bytes[i]);
    }
    append_byte(text, RKH_FLAG);
}

enum extract_code export_rkh(struct extract_text *text, const struct extract_trace *trace,
                             struct extract_error *error)
{
    const struct extract_snapshot *snapshot = extract_trace_snapshot(trace);
    struct rkh_live live = rkh_live_of(snapshot->ring.header);

    if (live.merged)
        return extract_error_set(error, EXTRACT_UNSUPPORTED, "RKH stream",
                                 "save the inputs of the merge, or use the log",
                                 "frames of a stream have no cores, and no settings of their own");
    if (!live.stream && !(live.dump && !live.valid)) // an array itself, not a log's description
        return rkh_dump(text, snapshot, error);
    append_byte(text, RKH_FLAG);
    for (uint32_t i = 0; i < snapshot->ring.entries.count; i++)
        put_frame(text, snapshot, &snapshot->index[i]);
    return text->code ? extract_error_set(error, text->code, "RKH stream", NULL, "out of memory")
                      : EXTRACT_OK;
}
