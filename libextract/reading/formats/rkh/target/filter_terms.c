// SPDX-License-Identifier: MIT
// formats/rkh/target: the terms of filters. It determines which groups and events a user's terms
// and patterns select, in a target's tables and in a trace alike.
#define _GNU_SOURCE // strcasecmp, fnmatch
#include "formats/rkh/target/target.h"
#include <extract/filter.h>
#include <fnmatch.h>
#include <stdio.h>
#include <strings.h>

static const char prefix[] = "RKH_TE_";

// Current and former name of each group: RQ until 2.4.6, TIM until 2.4.3.
static const char *const groups[RKH_GROUPS][2] = {{"MP", NULL},  {"QUE", "RQ"},  {"SMA", NULL},
                                                  {"SM", NULL},  {"TMR", "TIM"}, {"FWK", NULL},
                                                  {"USR", NULL}, {"UT", NULL}};

// Events that were renamed, or moved to another group with 3.0.
static const struct {
    unsigned id;
    const char *name;
} old_names[] = {{71, "FWK_DEFER"}, {72, "FWK_RCALL"}, {104, "SM_CSTATE"}, {113, "SMA_DCH"}};

// Returns whether a name matches a plain name in any case, or a pattern.
static bool matches(const char *pattern, const char *name)
{
    return !strcasecmp(pattern, name) || !fnmatch(pattern, name, 0);
}

static const char *without_prefix(const char *name)
{
    size_t length = strlen(prefix);
    return strncasecmp(name, prefix, length) ? name : name + length;
}

const char *rkh_group_name(unsigned group)
{
    return groups[group][0];
}

bool rkh_group_fits(unsigned group, const char *pattern)
{
    uint64_t number;
    if (extract_number_parse(pattern, &number))
        return number == group;
    return matches(pattern, groups[group][0]) ||
           (groups[group][1] && matches(pattern, groups[group][1]));
}

const char *rkh_event_name(unsigned id, char name[static RKH_NAME_BYTES])
{
    const struct extract_event_type *type = rkh_type(id);
    if (id >= RKH_USER && id < RKH_USER_END)
        snprintf(name, RKH_NAME_BYTES, "USER%u", id - RKH_USER);
    else if (!type->range)
        snprintf(name, RKH_NAME_BYTES, "%s", without_prefix(type->symbol));
    else
        return NULL;
    return name;
}

// Returns whether an event matches by its group's former name: "RQ_GET".
static bool matches_old_group(unsigned id, const char *pattern, const char *name)
{
    const char *const *group = groups[id / RKH_GROUP_EVENTS];
    const char *rest = strchr(name, '_');
    char old[RKH_NAME_BYTES];
    if (!group[1] || !rest)
        return false;
    snprintf(old, sizeof old, "%s%s", group[1], rest);
    return matches(pattern, old);
}

bool rkh_event_fits(unsigned id, const char *pattern)
{
    char name[RKH_NAME_BYTES];
    uint64_t number;
    if (id >= RKH_IDS || !rkh_event_name(id, name))
        return false;
    if (extract_number_parse(pattern, &number))
        return number == id;
    pattern = without_prefix(pattern);
    for (size_t i = 0; i < sizeof old_names / sizeof *old_names; i++)
        if (old_names[i].id == id && !strcasecmp(pattern, old_names[i].name))
            return true;
    bool called = !rkh_type(id)->range && matches(pattern, rkh_type(id)->name);
    return called || matches(pattern, name) || matches_old_group(id, pattern, name);
}

static bool parse_term(const char *word, enum extract_target_kind *kind, const char **name)
{
    static const char *const words[EXTRACT_TARGET_KINDS] = {"group=", "event=", "ao=", "signal="};
    for (unsigned i = 0; i < EXTRACT_TARGET_KINDS; i++) {
        size_t length = strlen(words[i]);
        if (strncmp(word, words[i], length) || !word[length])
            continue;
        *kind = (enum extract_target_kind)i;
        *name = word + length;
        return true;
    }
    return false;
}

static bool matches_term(enum extract_target_kind kind, uint32_t id, const char *pattern)
{
    if (kind == EXTRACT_TARGET_GROUP)
        return id < RKH_IDS && rkh_group_fits(id / RKH_GROUP_EVENTS, pattern);
    return kind == EXTRACT_TARGET_EVENT && rkh_event_fits(id, pattern);
}

// Lists the events of the group that a pattern begins with; without such a group, how events of
// each group are named.
static void list_events(const char *pattern, struct extract_listing *listing)
{
    char name[RKH_NAME_BYTES];
    size_t length = strcspn(without_prefix(pattern), "_*?[");
    unsigned group = 0;
    while (group < RKH_GROUPS && (strlen(groups[group][0]) != length ||
                                  strncasecmp(without_prefix(pattern), groups[group][0], length)))
        group++;
    for (unsigned i = 0; group < RKH_GROUPS && i < RKH_GROUP_EVENTS; i++)
        if (rkh_event_name(group * RKH_GROUP_EVENTS + i, name))
            extract_listing_put(listing, name);
    for (unsigned i = 0; group == RKH_GROUPS && i < RKH_GROUPS; i++) {
        snprintf(name, sizeof name, i == RKH_GROUP_USER ? "USER0 to USER31" : "%s_*", groups[i][0]);
        extract_listing_put(listing, name);
    }
}

static void list_names(enum extract_target_kind kind, const char *pattern,
                       struct extract_listing *listing)
{
    if (kind == EXTRACT_TARGET_EVENT)
        list_events(pattern, listing);
    for (unsigned i = 0; kind == EXTRACT_TARGET_GROUP && i < RKH_GROUPS; i++)
        extract_listing_put(listing, groups[i][0]);
}

const struct extract_target_filter rkh_target_filter = {
    .all = "all",
    .parse = parse_term,
    .fits = matches_term,
    .list = list_names,
    .signal_number = rkh_signal_number,
};
