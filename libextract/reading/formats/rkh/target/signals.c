// SPDX-License-Identifier: MIT
// formats/rkh/target: finds names of signals in the enumerations of the firmware's ELF.
//
// RKH stores a signal as a small integer, so DWARF does not show which enumeration it belongs to. A
// number gets a name only if it is known how the right enumeration was found:
//
//   user     the user named it, or one of its enumerators
//   records  it has the names and the numbers in the records of the stream
//   type     it is named "signals" (or "signal", "sig", "sigs"), and has all numbers in use
//   texts    no other enumeration has all numbers in use, and the firmware contains most of their
//            names as texts, as it does to send records of names
//
// In use are the numbers in the trace, and those in constants of the type RKH_SIG_T: the
// framework's tables of transitions, and constant events. If several enumerations fit, a number has
// a name only if it has the same name in each of them.
#define _GNU_SOURCE // strcasecmp
#include "base/grow.h"
#include "formats/rkh/target/target.h"
#include "symbols/dwarf.h"
#include <stdio.h>
#include <stdlib.h>
#include <strings.h>

// Larger enumerations are ignored. With more signals in a trace, texts are not searched.
enum { MAX_ENUMERATORS = 1024, MAX_TEXTS = 256, RESERVED = 2 };

// What the current enumeration has for a number of the trace.
struct hit {
    size_t enum_number; // number of the enumeration
    const char *name;   // NULL: several
};

struct question {
    struct extract_symbols *symbols;
    struct extract_number *numbers; // ascending, each once
    size_t count, capacity;
    bool is_short;                 // memory ran out
    const char *wanted;            // the name from the user; "" for none
    uint64_t last_signal;          // greater numbers are the framework's own
    size_t enum_number;            // number of the current enumeration, from 1 on
    struct hit *hits;              // one per number
    struct extract_number *called; // the numbers whose names are in records, by name
    size_t called_count;
    size_t wanted_hits; // how many of the numbers are signals of the application
};

static int compare_names(const void *left, const void *right)
{
    const struct extract_number *a = left, *b = right;
    return strcmp(a->name, b->name);
}

static int compare_values(const void *left, const void *right)
{
    const struct extract_number *a = left, *b = right;
    return (a->value > b->value) - (a->value < b->value);
}

static void add_number(struct question *q, uint64_t value, const char *name)
{
    struct extract_number *list =
        extract_grow(q->numbers, &q->capacity, q->count, sizeof *q->numbers);
    q->is_short |= !list;
    if (!list)
        return;
    q->numbers = list;
    q->numbers[q->count++] = (struct extract_number){value, name};
}

// Adds a constant. One that is 0 may not be a signal at all.
static void add_constant(void *context, uint64_t value)
{
    struct question *q = context;
    if (value && value <= q->last_signal)
        add_number(q, value, NULL);
}

// Gathers the numbers in the trace. If no record contains a name, also those in constants.
static void gather_numbers(struct question *q, const struct extract_numbers *numbers)
{
    size_t kept = 0;
    for (size_t i = 0; i < numbers->count; i++) {
        add_number(q, numbers->list[i].value, numbers->list[i].name);
        q->called_count += numbers->list[i].name != NULL;
    }
    if (!q->called_count && !*q->wanted)
        extract_symbols_constants(q->symbols, "RKH_SIG_T", add_constant, q);
    if (q->count)
        qsort(q->numbers, q->count, sizeof *q->numbers, compare_values);
    for (size_t i = 0; i < q->count; i++)
        if (!kept || q->numbers[kept - 1].value != q->numbers[i].value)
            q->numbers[kept++] = q->numbers[i];
    q->count = kept;
}

static bool prepare_question(struct question *q, const struct extract_numbers *numbers)
{
    gather_numbers(q, numbers);
    q->hits = calloc(q->count + 1, sizeof *q->hits);
    q->called = malloc((q->count + 1) * sizeof *q->called);
    if (!q->hits || !q->called || q->is_short)
        return false;
    q->called_count = 0;
    for (size_t i = 0; i < q->count; i++) {
        if (q->numbers[i].name)
            q->called[q->called_count++] = q->numbers[i];
        q->wanted_hits += q->numbers[i].value <= q->last_signal;
    }
    if (q->called_count)
        qsort(q->called, q->called_count, sizeof *q->called, compare_names);
    return true;
}

// ---- One enumeration ----

static bool next_enumerator(const struct question *q, const struct extract_enum *one, size_t i,
                            struct extract_number *enumerator)
{
    int64_t value;
    if (one->count > MAX_ENUMERATORS ||
        !extract_symbols_enumerator(q->symbols, one, i, &enumerator->name, &value))
        return false;
    enumerator->value = value < 0 ? UINT64_MAX : (uint64_t)value;
    return true;
}

static const struct extract_number *find_number(const struct question *q,
                                                const struct extract_number *enumerator)
{
    return q->count ? bsearch(enumerator, q->numbers, q->count, sizeof *q->numbers, compare_values)
                    : NULL;
}

static bool is_users_choice(struct question *q, const struct extract_enum *one)
{
    struct extract_number enumerator;
    if (one->count <= MAX_ENUMERATORS && strcmp(one->name, q->wanted) == 0)
        return true;
    for (size_t i = 0; next_enumerator(q, one, i, &enumerator); i++)
        if (strcmp(enumerator.name, q->wanted) == 0)
            return true;
    return false;
}

// Returns whether an enumeration agrees with the records: each signal that both contain, by its
// name or by its number, has both in common, and there is at least one. A number may have a second
// name ("LAST").
static bool agrees_with_records(struct question *q, const struct extract_enum *one)
{
    struct extract_number enumerator;
    size_t shared = 0, met = 0;
    q->enum_number++;
    for (size_t i = 0; next_enumerator(q, one, i, &enumerator); i++) {
        const struct extract_number *known = find_number(q, &enumerator);
        const struct extract_number *called =
            bsearch(&enumerator, q->called, q->called_count, sizeof *q->called, compare_names);
        if (called && called->value != enumerator.value)
            return false;
        shared += called != NULL;
        if (!known || !known->name)
            continue;
        struct hit *hit = &q->hits[known - q->numbers];
        met += hit->enum_number != q->enum_number;
        hit->enum_number = q->enum_number;
    }
    return shared && shared == met;
}

// Returns whether an enumeration names every number in use, and is not the framework's.
static bool names_all_in_use(struct question *q, const struct extract_enum *one)
{
    struct extract_number enumerator;
    size_t found = 0;
    q->enum_number++;
    for (size_t i = 0; next_enumerator(q, one, i, &enumerator); i++) {
        if (!strncasecmp(enumerator.name, "RKH", 3))
            return false;
        const struct extract_number *number = find_number(q, &enumerator);
        if (!number || number->value > q->last_signal)
            continue;
        struct hit *hit = &q->hits[number - q->numbers];
        bool is_first = hit->enum_number != q->enum_number;
        found += is_first;
        found -= !is_first && hit->name;
        *hit = (struct hit){q->enum_number, is_first ? enumerator.name : NULL};
    }
    return one->count <= MAX_ENUMERATORS && found == q->wanted_hits;
}

// Returns whether a name is like "signals", "Signal_t" or "SIG".
static bool is_called_signals(const char *name)
{
    static const char *const words[] = {"signals", "signal", "sigs", "sig"};
    size_t length = strlen(name);
    if (length > 2 &&
        (!strcasecmp(name + length - 2, "_t") || !strcasecmp(name + length - 2, "_e")))
        length -= 2;
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i]) == length && !strncasecmp(name, words[i], length))
            return true;
    return false;
}

static bool has_signals_name(struct question *q, const struct extract_enum *one)
{
    return is_called_signals(one->name) && names_all_in_use(q, one);
}

static bool has_texts(struct question *q, const struct extract_enum *one)
{
    size_t count = 0;
    if (q->wanted_hits > MAX_TEXTS || !names_all_in_use(q, one))
        return false;
    for (size_t k = 0; k < q->count; k++)
        count += q->numbers[k].value <= q->last_signal &&
                 extract_symbols_has_text(q->symbols, q->hits[k].name);
    return 2 * count > q->wanted_hits;
}

// ---- All enumerations ----

typedef bool fits_question(struct question *q, const struct extract_enum *one);

static void collect_enums(struct question *q, fits_question *fits, struct rkh_signals *signals)
{
    struct extract_enum one;
    signals->count = signals->known = 0;
    for (size_t i = 0; extract_symbols_enum(q->symbols, i, &one); i++)
        if (fits(q, &one)) {
            if (signals->known < RKH_SIGNAL_ENUMS)
                signals->list[signals->known++] = one;
            signals->count++;
        }
}

static void choose_enums(struct question *q, struct rkh_signals *signals)
{
    if (q->called_count) {
        collect_enums(q, agrees_with_records, signals);
        signals->from = signals->count ? EXTRACT_SIGNALS_BY_RECORDS : EXTRACT_SIGNALS_UNNAMED;
        return;
    }
    collect_enums(q, has_signals_name, signals);
    signals->from = signals->count ? EXTRACT_SIGNALS_BY_TYPE : EXTRACT_SIGNALS_UNNAMED;
    if (signals->count || !q->wanted_hits) // without numbers in use, every enumeration would fit
        return;
    collect_enums(q, names_all_in_use, signals);
    if (signals->count == 1 && has_texts(q, &signals->list[0]))
        signals->from = EXTRACT_SIGNALS_BY_TEXTS;
}

static enum extract_code use_users_enum(struct question *q, struct rkh_signals *signals,
                                        struct extract_error *error)
{
    collect_enums(q, is_users_choice, signals);
    signals->from = EXTRACT_SIGNALS_BY_USER;
    if (signals->count)
        return EXTRACT_OK;
    char what[EXTRACT_RKH_NAME + 16];
    snprintf(what, sizeof what, "--rkh signals=%s", q->wanted);
    return extract_error_set(error, EXTRACT_USAGE, what,
                             "use the name of an enum, of its typedef or of one of its enumerators",
                             "the ELF file has no enumeration of that name");
}

enum extract_code rkh_signals_find(struct rkh_signals *signals, const struct extract_rkh *rkh,
                                   struct extract_symbols *symbols,
                                   const struct extract_numbers *numbers,
                                   struct extract_error *error)
{
    unsigned bits = 8 * rkh->value[EXTRACT_RKH_SIG];
    uint64_t max_signal = bits ? UINT64_MAX >> (64 - bits) : UINT32_MAX;
    struct question q = {
        .symbols = symbols, .wanted = rkh->signals, .last_signal = max_signal - RESERVED - 1};
    enum extract_code code = EXTRACT_OK;
    bool is_one_firmware = rkh->layouts <= 1; // an ELF belongs to one firmware
    *signals = (struct rkh_signals){.symbols = symbols};
    if (strcmp(rkh->signals, "none") == 0)
        return EXTRACT_OK;
    if (!prepare_question(&q, numbers))
        code = extract_error_set(error, EXTRACT_NOMEM, "names of signals", NULL, "out of memory");
    else if (*rkh->signals)
        code = use_users_enum(&q, signals, error);
    else if (is_one_firmware)
        choose_enums(&q, signals);
    free(q.numbers);
    free(q.hits);
    free(q.called);
    return code;
}

// ---- Names ----

// Returns the name of a value in an enumeration; NULL if it has none, or several.
static const char *unique_name(const struct question *q, const struct extract_enum *one,
                               uint64_t value)
{
    struct extract_number enumerator;
    const char *found = NULL;
    for (size_t i = 0; next_enumerator(q, one, i, &enumerator); i++)
        if (enumerator.value == value) {
            if (found)
                return NULL;
            found = enumerator.name;
        }
    return found;
}

const char *rkh_signals_name(const struct rkh_signals *signals, uint64_t number)
{
    const struct question q = {.symbols = signals->symbols};
    const char *name = NULL;
    if (!signals->from || signals->count > signals->known)
        return NULL;
    for (size_t i = 0; i < signals->known; i++) {
        const char *other = unique_name(&q, &signals->list[i], number);
        if (!other || (name && strcmp(name, other) != 0))
            return NULL;
        name = other;
    }
    return name;
}

bool rkh_signals_at(const struct rkh_signals *signals, size_t i, uint64_t *number,
                    const char **name)
{
    const struct question q = {.symbols = signals->symbols};
    struct extract_number enumerator;
    if (!signals->known || !next_enumerator(&q, &signals->list[0], i, &enumerator))
        return false;
    *number = enumerator.value;
    *name = enumerator.name;
    return true;
}

// A name must have one number in the whole program; otherwise nothing is certain.
bool rkh_signal_number(struct extract_symbols *symbols, const char *name, uint64_t *number)
{
    struct extract_enum one;
    bool is_found = false;
    for (size_t i = 0; extract_symbols_enum(symbols, i, &one); i++) {
        const char *other;
        int64_t value;
        for (size_t k = 0; extract_symbols_enumerator(symbols, &one, k, &other, &value); k++) {
            if (strcmp(name, other) != 0)
                continue;
            if (value < 0 || (is_found && *number != (uint64_t)value))
                return false;
            *number = (uint64_t)value;
            is_found = true;
        }
    }
    return is_found;
}
