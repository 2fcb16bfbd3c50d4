// SPDX-License-Identifier: MIT
// formats/rkh: the settings of a copy. In: its bytes, and what user and firmware say. Out: a value
// for each setting, by a TCFG record where there is one, else by inference.
#include "formats/rkh/rkh.h"

// The first record of 3.x, else the first of an older version: their ids are other events of 3.x.
static bool find_tcfg(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length)
{
    const struct extract_rkh told = *rkh;
    struct rkh_frame frame;
    bool found = false;
    for (uint32_t at = 0; at < length; at = frame.at + frame.length + 1) {
        rkh_frame_scan(&frame, bytes, at, length);
        uint8_t id = frame.length ? bytes[frame.at] : 0;
        struct extract_rkh record = told;
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

// Of a stretch of a stream: a record that tells other settings stands at its start, behind a flag.
// The size of functions, which it does not tell, is to be found again.
static void take_first(struct extract_rkh *rkh, const uint8_t *bytes, uint32_t length)
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

// Whether a setting is still to be found.
static bool is_open(const struct extract_rkh *rkh)
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
    const uint8_t *bytes = rkh_unroll(snapshot, from, to);
    bool goes_on = rkh->walked.goes_on;
    if (goes_on)
        take_first(rkh, bytes, to - from);
    else
        find_tcfg(rkh, bytes, to - from);
    uint32_t version = rkh->value[EXTRACT_RKH_VERSION];
    enum extract_code code = version ? rkh_version_check(version, error) : EXTRACT_OK;
    if (!code && (!goes_on || is_open(rkh)))
        code = rkh_infer(rkh, bytes, to - from, error);
    if (code && (code != EXTRACT_BAD || !goes_on))
        return code;
    rkh->layouts = 1;
    rkh->walked.layout = 0;
    rkh->layout[0] = rkh_layout_of(rkh);
    rkh_layouts_sum_up(ring);
    return EXTRACT_OK;
}
