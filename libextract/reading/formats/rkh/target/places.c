// SPDX-License-Identifier: MIT
// formats/rkh/target: where the bits of events are in a target's filter table, by the framework's
// version or the target's own map.
//
// Source: docs/formats/rkh.md, "Filters".
#include "formats/rkh/target/target.h"

enum { BYTES_3 = 17, BYTES_245 = 16, MAP_PACKED = RKH_GROUPS - 1 };

// Determines the family by the version, or by a table size that no other family has.
static bool find_family(struct rkh_places *places, uint32_t version)
{
    if (version)
        places->family = rkh_family_of(version);
    else if (places->bytes == BYTES_3)
        places->family = RKH_FAMILY_3;
    else if (places->bytes == BYTES_245)
        places->family = RKH_FAMILY_245;
    return version || places->bytes == BYTES_3 || places->bytes == BYTES_245;
}

// Applies the target's map. 2.4.4 has both numbers of a group in a byte, and no group UT.
static void apply_target_map(struct rkh_places *places, const uint8_t *map, size_t length)
{
    bool packed = length <= RKH_GROUPS;
    for (unsigned i = 0; i < RKH_GROUPS; i++) {
        bool there = i < length / (packed ? 1 : 2);
        places->offset[i] = !there ? 0 : packed ? map[i] >> 4 : map[2 * i];
        places->range[i] = !there ? 0 : packed ? map[i] & 0xF : map[2 * i + 1];
    }
}

// Applies the framework's own layout. SMA has a second byte since 3.0. Returns false if the layout
// is not known.
static bool apply_framework_layout(struct rkh_places *places)
{
    static const uint8_t range[RKH_GROUPS] = {1, 1, 2, 3, 1, 3, 4, 2};
    uint8_t at = 0;
    for (unsigned i = 0; i < RKH_GROUPS; i++) {
        bool shorter = places->family != RKH_FAMILY_3 && i == 2;
        bool missing = places->family == RKH_FAMILY_244 && i == RKH_GROUPS - 1;
        places->offset[i] = at;
        places->range[i] = missing ? 0 : (uint8_t)(range[i] - shorter);
        at = (uint8_t)(at + places->range[i]);
    }
    return places->family <= RKH_FAMILY_244;
}

static enum extract_code set_error(const char *why, const char *hint, enum extract_code code,
                                   struct extract_error *error)
{
    return extract_error_set(error, code, "filters of events", hint, "%s", why);
}

enum extract_code rkh_places_find(struct rkh_places *places, uint32_t version, uint32_t bytes,
                                  const uint8_t *map, size_t length, struct extract_error *error)
{
    *places = (struct rkh_places){.bytes = bytes};
    if (!find_family(places, version))
        return set_error("bits depend on the version of the framework, which is not known",
                         "pass it with --rkh version=2.4.4 (GDB: ringside set rkh version=2.4.4)",
                         EXTRACT_UNSUPPORTED, error);
    if (length >= MAP_PACKED && length <= (size_t)2 * RKH_GROUPS)
        apply_target_map(places, map, length);
    else if (!apply_framework_layout(places))
        return set_error("bits of versions before 2.4.4 are not known",
                         "use an ELF that has trcgmtbl, the target's own map", EXTRACT_UNSUPPORTED,
                         error);
    uint32_t max_end = 0;
    for (unsigned i = 0; i < RKH_GROUPS; i++) {
        uint32_t end = (uint32_t)places->offset[i] + places->range[i];
        max_end = places->range[i] && end > max_end ? end : max_end;
    }
    if (max_end && max_end <= bytes)
        return EXTRACT_OK;
    return set_error("trceftbl is smaller than the version of the framework needs",
                     "check that this ELF is the running firmware's, and --rkh version",
                     EXTRACT_BAD, error);
}

int rkh_places_event(const struct rkh_places *places, unsigned i, uint32_t *bit)
{
    unsigned group = i / RKH_GROUP_EVENTS, number = i % RKH_GROUP_EVENTS;
    *bit = 8u * places->offset[group] + number;
    if (number / 8 >= places->range[group] || *bit / 8 >= places->bytes)
        return -1;
    return rkh_id(places->family, i);
}
