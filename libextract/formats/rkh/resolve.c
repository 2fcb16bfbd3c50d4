// SPDX-License-Identifier: MIT
// formats/rkh: chooses a value for each setting of a copy. A TCFG record in the stream wins over
// the firmware; what is still open is inferred from the frames.
#include "formats/rkh/rkh.h"

// Finds the first record of 3.x, or otherwise the first of an older version: their ids belong to
// other events in 3.x.
static bool find_tcfg(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length)
{
    const struct extract_rkh known = *rkh;
    struct rkh_frame frame;
    bool found = false;

    for (uint32_t at = 0; at < length; at = frame.at + frame.length + 1) {
        rkh_frame_scan(&frame, bytes, at, length);
        uint8_t id = frame.length ? bytes[frame.at] : 0;
        struct extract_rkh record = known;
        if (id == RKH_FWK_TCFG && rkh_tcfg_take(&record, &frame, bytes)) {
            *rkh = record;
            return true;
        }
        if (!found && (id == 173 || id == 174) && rkh_tcfg_take(&record, &frame, bytes)) {
            *rkh = record;
            found = true;
        }
    }
    return found;
}

// Takes the settings of a record at the start of a part of a stream, after flags. If they differ,
// the size of functions, which a record does not contain, is open again.
static void take_leading_record(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length)
{
    struct rkh_frame frame;
    enum rkh_family family = rkh_family_of(rkh->value[EXTRACT_RKH_VERSION]);
    uint32_t at = 0;

    while (at < length && bytes[at] == RKH_FLAG)
        at++;
    if (at < length && rkh_id(family, bytes[at]) == RKH_FWK_TCFG) {
        struct extract_rkh_layout before = rkh_layout_of(rkh);
        rkh_frame_scan(&frame, bytes, at, length);
        if (!rkh_tcfg_take(rkh, &frame, bytes))
            return;
        rkh->walked.renewed |= memcmp(before.value, rkh->value, sizeof before.value) != 0;
        if (rkh_wire_pack(rkh) != before.packed &&
            rkh->from[EXTRACT_RKH_FUN] == EXTRACT_RKH_INFERENCE)
            rkh->from[EXTRACT_RKH_FUN] = EXTRACT_RKH_DEFAULT;
    }
}

// Returns whether a setting has only its default.
static bool has_open_setting(const struct extract_rkh *rkh)
{
    for (unsigned key = 0; key < EXTRACT_RKH_VERSION; key++)
        if (rkh->from[key] == EXTRACT_RKH_DEFAULT)
            return true;
    return false;
}

enum extract_code rkh_resolve(struct extract_snapshot *snapshot, uint32_t from, uint32_t to,
                              struct extract_error *error)
{
    struct extract_ring *ring = &snapshot->ring;
    struct extract_rkh *rkh = &ring->rkh;
    const uint8_t *bytes = rkh_join_bytes(snapshot, from, to);
    bool goes_on = rkh->walked.goes_on;

    if (goes_on)
        take_leading_record(rkh, bytes, to - from);
    else
        find_tcfg(rkh, bytes, to - from);
    uint32_t version = rkh->value[EXTRACT_RKH_VERSION];
    enum extract_code code = version ? rkh_version_check(version, error) : EXTRACT_OK;
    if (!code && (!goes_on || has_open_setting(rkh)))
        code = rkh_infer(rkh, bytes, to - from, error);
    if (code && (code != EXTRACT_BAD || !goes_on))
        return code;
    rkh->layouts = 1;
    rkh->walked.layout = 0;
    rkh->layout[0] = rkh_layout_of(rkh);
    rkh_layouts_sum_up(ring);
    return EXTRACT_OK;
}
