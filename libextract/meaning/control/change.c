// SPDX-License-Identifier: MIT
// control: changes RKH's filters. A user's words ("on", "group=SMA", "event=SMA_GET") set and clear
// bits in the copies of the target's tables; extract_control_edit then lists the bytes that differ.
//
// Source: docs/formats/rkh.md, "Filters". A bit of 1 emits. An event goes out when the bits of its
// group and of itself are set, and, where it has them, those of its active object and its signal.
#include "control/control.h"
#include <fnmatch.h>

static void write_bit(struct control_table *table, uint32_t bit, bool on)
{
    uint8_t mask = (uint8_t)(1u << bit % 8);

    if (bit / 8 < table->bytes)
        table->after[bit / 8] =
            (uint8_t)(on ? table->after[bit / 8] | mask : table->after[bit / 8] & ~mask);
}

// Returns whether a name matches a pattern. A name that is a pattern by accident ("cli[1]") matches
// itself.
static bool matches(const char *pattern, const char *name)
{
    return strcmp(pattern, name) == 0 || fnmatch(pattern, name, 0) == 0;
}

// Returns whether the trace gives a user event a name that matches.
static bool is_traced_name(const struct extract_control *control, unsigned id, const char *pattern)
{
    const char *name;
    uint64_t number;
    size_t n = 0;

    while (id >= RKH_USER && id < RKH_USER_END &&
           control_next_name(control, EXTRACT_TARGET_EVENT, &n, &name, &number))
        if (number == id && matches(pattern, name))
            return true;
    return false;
}

static bool change_events(struct extract_control *control, const char *pattern, bool on)
{
    bool found = false;
    uint32_t bit;

    for (unsigned i = 0; i < RKH_GROUPS * RKH_GROUP_EVENTS; i++) {
        int id = rkh_places_event(&control->places, i, &bit);
        if (id < 0 || (!rkh_event_fits((unsigned)id, pattern) &&
                       !is_traced_name(control, (unsigned)id, pattern)))
            continue;
        found = true;
        write_bit(&control->table[EXTRACT_TARGET_EVENT], bit, on);
        if (on)
            write_bit(&control->table[EXTRACT_TARGET_GROUP], i / RKH_GROUP_EVENTS, true);
    }
    return found;
}

static bool change_groups(struct extract_control *control, const char *pattern, bool on)
{
    bool found = false;

    for (unsigned i = 0; i < RKH_GROUPS; i++)
        if (rkh_group_fits(i, pattern)) {
            write_bit(&control->table[EXTRACT_TARGET_GROUP], i, on);
            found = true;
        }
    return found;
}

static bool change_numbers(struct extract_control *control, enum extract_target_kind kind,
                           const char *pattern, bool on)
{
    const char *name;
    uint64_t number;
    bool found = false;
    size_t n = 0;

    if (extract_number_parse(pattern, &number)) {
        found = number < control_bits(control, kind);
        if (found)
            write_bit(&control->table[kind], (uint32_t)number, on);
        return found;
    }
    while (control_next_name(control, kind, &n, &name, &number))
        if (matches(pattern, name) && number < control_bits(control, kind)) {
            write_bit(&control->table[kind], (uint32_t)number, on);
            found = true;
        }
    // A name that neither trace nor signals have may still be an enumerator of the source, which
    // has one number.
    if (!found && kind == EXTRACT_TARGET_SIGNAL &&
        rkh_signal_number(control->symbols, pattern, &number) &&
        number < control_bits(control, kind)) {
        write_bit(&control->table[kind], (uint32_t)number, on);
        found = true;
    }
    return found;
}

static enum extract_code set_usage_error(const char *word, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, word,
                             "use on or off, then group=, event=, ao= or signal= with a name, "
                             "or all",
                             "not a change of the filters");
}

static enum extract_code apply_term(struct extract_control *control, const char *word, bool on,
                                    struct extract_error *error)
{
    enum extract_target_kind kind;
    const char *name;

    if (strcmp(word, rkh_target_filter.all) == 0) {
        for (unsigned i = 0; i < EXTRACT_TARGET_KINDS; i++)
            if (control->table[i].bytes)
                memset(control->table[i].after, on ? 0xFF : 0, control->table[i].bytes);
        return EXTRACT_OK;
    }
    if (!rkh_target_filter.parse(word, &kind, &name))
        return set_usage_error(word, error);
    if (kind == EXTRACT_TARGET_EVENT && control->unplaced.code) {
        if (error)
            *error = control->unplaced;
        return control->unplaced.code;
    }
    bool found = kind == EXTRACT_TARGET_GROUP   ? change_groups(control, name, on)
                 : kind == EXTRACT_TARGET_EVENT ? change_events(control, name, on)
                                                : change_numbers(control, kind, name, on);
    return found ? EXTRACT_OK : control_refuse_name(control, kind, word, name, error);
}

enum extract_code extract_control_change(struct extract_control *control, const char *const *words,
                                         size_t count, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    bool on = count && strcmp(words[0], "on") == 0;

    if (!count)
        return EXTRACT_OK;
    if (count < 2 || (!on && strcmp(words[0], "off") != 0))
        return set_usage_error(words[0], error);
    for (size_t i = 1; i < count && !code; i++)
        code = apply_term(control, words[i], on, error);
    for (unsigned kind = 0; code && kind < EXTRACT_TARGET_KINDS; kind++)
        if (control->table[kind].bytes)
            memcpy(control->table[kind].after, control->table[kind].before,
                   control->table[kind].bytes);
    return code;
}
