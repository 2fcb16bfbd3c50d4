// SPDX-License-Identifier: MIT
// formats/rkh: chooses a value for each setting of a copy. A TCFG record in the stream wins over
// the firmware; what is still open is inferred from the frames.
#include "formats/rkh/rkh.h"

// Applies the first record of 3.x, or otherwise the first of an older version: their ids belong to
// other events in 3.x.
static void apply_first_record(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length)
{
    const struct extract_rkh known = *rkh;
    struct rkh_frame frame;
    bool found = false;

    for (uint32_t at = 0; at < length; at = frame.at + frame.length + 1) {
        rkh_frame_scan(&frame, bytes, at, length);
        uint8_t id = frame.length ? bytes[frame.at] : 0;
        struct extract_rkh record = known;
        if (id == RKH_FWK_TCFG && rkh_tcfg_read_frame(&record, &frame, bytes)) {
            *rkh = record;
            return;
        }
        if (!found && (id == 173 || id == 174) && rkh_tcfg_read_frame(&record, &frame, bytes)) {
            *rkh = record;
            found = true;
        }
    }
}

// Applies a record at the start of a part of a stream, after flags. If its settings differ,
// the size of functions, which a record does not contain, is open again.
static void apply_leading_record(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length)
{
    struct rkh_frame frame;
    enum rkh_family family = rkh_family_of(rkh->value[EXTRACT_RKH_VERSION]);
    uint32_t at = 0;

    while (at < length && bytes[at] == RKH_FLAG)
        at++;
    if (at < length && rkh_id(family, bytes[at]) == RKH_FWK_TCFG) {
        struct extract_rkh_layout before = rkh_layout_of(rkh);
        rkh_frame_scan(&frame, bytes, at, length);
        if (!rkh_tcfg_read_frame(rkh, &frame, bytes))
            return;
        rkh->walked.settings_changed |= memcmp(before.value, rkh->value, sizeof before.value) != 0;
        if (rkh_wire_pack(rkh) != before.packed &&
            rkh->from[EXTRACT_RKH_FUN] == EXTRACT_RKH_INFERENCE)
            rkh->from[EXTRACT_RKH_FUN] = EXTRACT_RKH_DEFAULT;
    }
}

enum extract_code rkh_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                              struct extract_error *error)
{
    struct extract_ring *ring = &snapshot->ring;
    struct extract_rkh *rkh = &ring->rkh;
    const uint8_t *bytes = rkh_join_bytes(snapshot, from, to);
    bool is_continued = rkh->walked.is_continued;

    if (rkh_live_of(ring->header).merged) { // each frame contains its settings
        rkh->layouts = 0;
        return EXTRACT_OK;
    }
    if (is_continued)
        apply_leading_record(rkh, bytes, to - from);
    else
        apply_first_record(rkh, bytes, to - from);
    uint32_t version = rkh->value[EXTRACT_RKH_VERSION];
    enum extract_code code = version ? rkh_version_check(version, error) : EXTRACT_OK;
    bool must_infer = !is_continued;
    for (unsigned key = 0; key < EXTRACT_RKH_VERSION; key++)
        must_infer |= rkh->from[key] == EXTRACT_RKH_DEFAULT;
    if (!code && must_infer)
        code = rkh_infer(rkh, bytes, to - from, error);
    if (code && (code != EXTRACT_BAD || !is_continued))
        return code;
    rkh->layouts = 1;
    rkh->walked.layout = 0;
    rkh->layout[0] = rkh_layout_of(rkh);
    rkh_layouts_sum_up(ring);
    return EXTRACT_OK;
}
