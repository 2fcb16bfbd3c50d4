// SPDX-License-Identifier: MIT
// report: the facts of an RKH stream. In: a ring's settings and the counts of its copy. Out: facts.
#include "report/sheet.h"

enum { OLD = 0x3000, TCFG_HZ_MOST = UINT16_MAX };

static void put_value(struct extract_text *text, const struct extract_rkh *rkh,
                      enum extract_rkh_key key, bool json)
{
    uint32_t value = rkh->value[key];
    if (key == EXTRACT_RKH_VERSION)
        extract_text_printf(text, value < OLD ? "%s%x.%x.%x%s" : "%s%x.%x.%02x%s", json ? "\"" : "",
                            value >> 12, value >> 8 & 0xF, value & 0xFF, json ? "\"" : "");
    else if (key == EXTRACT_RKH_TS_HZ && !value)
        extract_text_puts(text, json ? "null" : "unknown");
    else
        extract_text_dec(text, value);
}

// {"value":4,"from":"tcfg"}, or "ptr=4 (tcfg)".
static void put_setting(struct facts *facts, const struct extract_rkh *rkh,
                        enum extract_rkh_key key)
{
    struct extract_text *text = facts->text;
    const char *from = extract_rkh_from_name((enum extract_rkh_from)rkh->from[key]);
    const char *name = extract_rkh_name(key);
    extract_text_printf(text, facts->json ? "%s\"%s\":{\"value\":" : "%s%s=",
                        !key          ? ""
                        : facts->json ? ","
                                      : ", ",
                        name);
    put_value(text, rkh, key, facts->json);
    extract_text_printf(text, facts->json ? ",\"from\":\"%s\"}" : " (%s)", from);
}

static void put_settings(struct facts *facts, const struct extract_rkh *rkh)
{
    facts_key(facts, "rkh");
    extract_text_puts(facts->text, facts->json ? "{" : "");
    for (unsigned key = 0; key < EXTRACT_RKH_KEYS; key++)
        put_setting(facts, rkh, (enum extract_rkh_key)key);
    extract_text_puts(facts->text, facts->json ? "}" : "");
    if (rkh->from[EXTRACT_RKH_TS_HZ] == EXTRACT_RKH_TCFG)
        facts_note(facts, "the stream holds 16 bits of ts_hz: --hz says a rate above 65535");
    if (rkh->layouts > 1)
        facts_note(facts, "the stream tells %u layouts; these are the last", rkh->layouts);
}

void facts_rkh(struct facts *facts, const struct extract_rkh *rkh)
{
    facts_number(facts, "frames torn", rkh->damage.torn);
    facts_number(facts, "frames with bad checksum", rkh->damage.checksum);
    facts_number(facts, "frames with bad length", rkh->damage.length);
    facts_number(facts, "frames with unknown id", rkh->damage.id);
    facts_bool(facts, "partial", rkh->partial);
    if (rkh->partial) {
        facts_number(facts, "partial bytes", rkh->partial);
        facts_bool(facts, "partial checked", rkh->partial_checked);
        if (rkh->partial_checked)
            facts_note(facts, "they have the target's running checksum");
    }
    facts_word(facts, "view", rkh->view == EXTRACT_RKH_PENDING ? "pending" : "history");
    put_settings(facts, rkh);
}
