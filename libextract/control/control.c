// SPDX-License-Identifier: MIT
// control: the run-time filters of RKH. In: the target's tables and words of a user. Out: what is
// emitted, and the bytes to write.
//
// Source: docs/formats/rkh.md, "Filters". A bit of 1 emits. An event goes out when the bits of its
// group and of itself are set, and, where it has them, those of its active object and its signal.
#include <extract/filter.h>
#include "formats/format.h"
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    GROUPS = 8,
    EVENTS = 32, // of a group
    TABLE_MOST = 4096,
    NAME_ROOM = 64
};

enum kind { GROUP, EVENT, OBJECT, SIGNAL, KINDS };

// A table of bits, one after the other.
struct table {
    uint64_t address;
    uint32_t bytes; // 0: the firmware has none
    uint8_t *before, *after;
};

struct extract_control {
    const struct extract_trace *trace;
    struct table table[KINDS];
    uint8_t offset[GROUPS], range[GROUPS]; // of the groups in the events' table, bytes
};

static const char *const group_names[GROUPS] = {"MP",  "QUE", "SMA", "SM",
                                                "TMR", "FWK", "USR", "UT"};

// ---- reading ----

static enum extract_code read_table(struct table *table, const char *name,
                                    struct extract_memory *memory, struct extract_symbols *symbols,
                                    struct extract_error *error)
{
    struct extract_symbol symbol;
    size_t got;
    if (!extract_symbols_by_name(symbols, name, &symbol) || !symbol.size ||
        symbol.size > TABLE_MOST)
        return EXTRACT_OK;
    table->address = symbol.address;
    table->before = malloc(2 * (size_t)symbol.size);
    if (!table->before)
        return extract_error_set(error, EXTRACT_NOMEM, "filters", NULL, "out of memory");
    enum extract_code code = extract_memory_read(memory, symbol.address, table->before,
                                                 (size_t)symbol.size, &got, error);
    if (code)
        return code;
    table->bytes = (uint32_t)symbol.size;
    table->after = table->before + table->bytes;
    memcpy(table->after, table->before, table->bytes);
    return EXTRACT_OK;
}

// Where the groups' events are: the firmware says it; else as 3.x has them.
static void read_map(struct extract_control *c, struct extract_memory *memory,
                     struct extract_symbols *symbols)
{
    static const uint8_t offset[GROUPS] = {0, 1, 2, 4, 7, 8, 11, 15};
    static const uint8_t range[GROUPS] = {1, 1, 2, 3, 1, 3, 4, 2};
    struct extract_symbol symbol;
    uint8_t map[2 * GROUPS];
    size_t got;
    memcpy(c->offset, offset, sizeof offset);
    memcpy(c->range, range, sizeof range);
    if (!extract_symbols_by_name(symbols, "trcgmtbl", &symbol) || symbol.size > sizeof map ||
        symbol.size < GROUPS - 1 ||
        extract_memory_read(memory, symbol.address, map, (size_t)symbol.size, &got, NULL))
        return;
    bool packed = symbol.size <= GROUPS; // of 2.4.4
    for (unsigned i = 0; i < GROUPS; i++) {
        bool there = i < symbol.size / (packed ? 1 : 2);
        c->offset[i] = !there ? 0 : packed ? map[i] >> 4 : map[2 * i];
        c->range[i] = !there ? 0 : packed ? map[i] & 0xF : map[2 * i + 1];
    }
}

enum extract_code extract_control_read(struct extract_control **control,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_trace *trace,
                                       struct extract_error *error)
{
    static const char *const names[KINDS] = {"trcgfilter", "trceftbl", "trcsmaftbl", "trcsigftbl"};
    struct extract_control *c = *control = calloc(1, sizeof *c);
    enum extract_code code = EXTRACT_OK;
    if (!c)
        return extract_error_set(error, EXTRACT_NOMEM, "filters", NULL, "out of memory");
    c->trace = trace;
    for (unsigned kind = 0; kind < KINDS && symbols && !code; kind++)
        code = read_table(&c->table[kind], names[kind], memory, symbols, error);
    if (!code && (!c->table[GROUP].bytes || !c->table[EVENT].bytes))
        code = extract_error_set(error, EXTRACT_NOTFOUND, "filters",
                                 "build it with RKH_CFG_TRC_RTFIL_EN, and name its ELF",
                                 "the firmware has no trcgfilter and trceftbl");
    if (!code) {
        read_map(c, memory, symbols);
        return EXTRACT_OK;
    }
    extract_control_free(c);
    *control = NULL;
    return code;
}

void extract_control_free(struct extract_control *control)
{
    for (unsigned kind = 0; control && kind < KINDS; kind++)
        free(control->table[kind].before);
    free(control);
}

// ---- bits and their names ----

// The bit of an event: false, it has none.
static bool event_bit(const struct extract_control *c, unsigned id, uint32_t *bit)
{
    unsigned group = id / EVENTS, number = id % EVENTS;
    *bit = 8u * c->offset[group] + number;
    return number / 8 < c->range[group] && *bit / 8 < c->table[EVENT].bytes;
}

static const char *event_name(unsigned id, char name[NAME_ROOM])
{
    static const char prefix[] = "RKH_TE_";
    const struct extract_event_type *type = extract_format_rkh.type(id);
    const char *symbol =
        strncmp(type->symbol, prefix, strlen(prefix)) ? NULL : type->symbol + strlen(prefix);
    if (symbol && !type->range)
        snprintf(name, NAME_ROOM, "%s", symbol);
    else if (symbol && id / EVENTS == 6)
        snprintf(name, NAME_ROOM, "USER%u", id % EVENTS);
    else
        return NULL;
    return name;
}

// The n-th name of an active object or a signal that the trace knows, and its number.
static bool known_name(const struct extract_control *c, enum kind kind, size_t *n,
                       const char **name, uint64_t *number)
{
    const struct extract_object *objects;
    size_t count = c->trace ? extract_trace_objects(c->trace, &objects) : 0;
    for (; *n < count; ++*n) {
        const struct extract_object *object = &objects[*n];
        bool signal = object->number_kind == EXTRACT_KIND_SIGNAL;
        bool actor = object->thread && object->priority != EXTRACT_NO_PRIORITY;
        if (kind == SIGNAL ? !signal : !actor)
            continue;
        *name = object->name && *object->name ? object->name : object->shown;
        *number = signal ? object->address : object->priority;
        ++*n;
        return true;
    }
    return false;
}

static uint32_t bits_of(const struct extract_control *c, enum kind kind)
{
    return kind == GROUP ? GROUPS : 8 * c->table[kind].bytes;
}

// The name of a bit; its number where none is known. NULL: it is no bit of anything.
static const char *bit_name(const struct extract_control *c, enum kind kind, uint32_t bit,
                            char name[NAME_ROOM])
{
    const char *known;
    uint64_t number;
    size_t n = 0;
    snprintf(name, NAME_ROOM, "%u", (unsigned)bit);
    if (kind == GROUP)
        return group_names[bit];
    while (kind != EVENT && known_name(c, kind, &n, &known, &number))
        if (number == bit)
            return known;
    return name;
}

// ---- changes ----

static void put_bit(struct table *table, uint32_t bit, bool on)
{
    uint8_t mask = (uint8_t)(1u << bit % 8);
    if (bit / 8 < table->bytes)
        table->after[bit / 8] =
            (uint8_t)(on ? table->after[bit / 8] | mask : table->after[bit / 8] & ~mask);
}

static bool get_bit(const uint8_t *bytes, uint32_t bit)
{
    return bytes[bit / 8] >> bit % 8 & 1;
}

static bool fits(const char *pattern, const char *name)
{
    return !fnmatch(pattern, name, 0);
}

static bool change_events(struct extract_control *c, const char *pattern, bool on)
{
    static const char prefix[] = "RKH_TE_";
    char name[NAME_ROOM];
    bool found = false;
    uint32_t bit;
    if (!strncmp(pattern, prefix, strlen(prefix)))
        pattern += strlen(prefix);
    for (unsigned id = 0; id < GROUPS * EVENTS; id++) {
        if (!event_name(id, name) || !fits(pattern, name) || !event_bit(c, id, &bit))
            continue;
        found = true;
        put_bit(&c->table[EVENT], bit, on);
        if (on)
            put_bit(&c->table[GROUP], id / EVENTS, true);
    }
    return found;
}

static bool change_groups(struct extract_control *c, const char *pattern, bool on)
{
    bool found = false;
    for (unsigned i = 0; i < GROUPS; i++)
        if (fits(pattern, group_names[i])) {
            put_bit(&c->table[GROUP], i, on);
            found = true;
        }
    return found;
}

static bool change_numbers(struct extract_control *c, enum kind kind, const char *pattern, bool on)
{
    const char *name;
    uint64_t number;
    bool found = false;
    size_t n = 0;
    if (extract_number_parse(pattern, &number)) {
        found = number < bits_of(c, kind);
        if (found)
            put_bit(&c->table[kind], (uint32_t)number, on);
        return found;
    }
    while (known_name(c, kind, &n, &name, &number))
        if (fits(pattern, name) && number < bits_of(c, kind)) {
            put_bit(&c->table[kind], (uint32_t)number, on);
            found = true;
        }
    return found;
}

static void change_all(struct extract_control *c, bool on)
{
    for (unsigned kind = 0; kind < KINDS; kind++)
        if (c->table[kind].bytes)
            memset(c->table[kind].after, on ? 0xFF : 0, c->table[kind].bytes);
}

static enum extract_code refuse(const char *word, struct extract_error *error)
{
    return extract_error_set(error, EXTRACT_USAGE, word,
                             "write on or off, then group=, event=, ao= or signal= with a name, "
                             "or all",
                             "it is no change of the filters");
}

static enum extract_code change(struct extract_control *c, const char *word, bool on,
                                struct extract_error *error)
{
    static const struct {
        const char *word;
        enum kind kind;
    } kinds[] = {{"group=", GROUP}, {"event=", EVENT}, {"ao=", OBJECT}, {"signal=", SIGNAL}};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        size_t length = strlen(kinds[i].word);
        const char *name = word + length;
        if (strncmp(word, kinds[i].word, length) || !*name)
            continue;
        bool found = kinds[i].kind == GROUP   ? change_groups(c, name, on)
                     : kinds[i].kind == EVENT ? change_events(c, name, on)
                                              : change_numbers(c, kinds[i].kind, name, on);
        return found ? EXTRACT_OK
                     : extract_error_set(error, EXTRACT_NOTFOUND, word,
                                         "names are those of the trace; numbers work as well",
                                         "the target's filters know nothing of that name");
    }
    if (strcmp(word, "all"))
        return refuse(word, error);
    change_all(c, on);
    return EXTRACT_OK;
}

enum extract_code extract_control_change(struct extract_control *control, const char *const *words,
                                         size_t count, struct extract_error *error)
{
    enum extract_code code = EXTRACT_OK;
    bool on = count && !strcmp(words[0], "on");
    if (!count)
        return EXTRACT_OK;
    if (count < 2 || (!on && strcmp(words[0], "off")))
        return refuse(words[0], error);
    for (size_t i = 1; i < count && !code; i++)
        code = change(control, words[i], on, error);
    for (unsigned kind = 0; code && kind < KINDS; kind++)
        if (control->table[kind].bytes)
            memcpy(control->table[kind].after, control->table[kind].before,
                   control->table[kind].bytes);
    return code;
}

// ---- what is emitted ----

// "events: all but SMA_GET SMA_FIFO", or what is on, where that is less.
static void show_bits(const struct extract_control *c, enum kind kind, const uint8_t *bytes,
                      struct extract_text *text)
{
    static const char *const titles[KINDS] = {"groups", "events", "active objects", "signals"};
    char room[NAME_ROOM];
    uint32_t bit, on = 0, all = 0, count = kind == EVENT ? GROUPS * EVENTS : bits_of(c, kind);
    for (uint32_t pass = 0; pass < 2; pass++) {
        bool shows = on * 2 <= all; // of what is on
        if (pass)
            extract_text_printf(text, "%s: %s", titles[kind],
                                on == all ? "all"
                                : !on     ? "none"
                                : shows   ? "only"
                                          : "all but");
        for (uint32_t i = 0; i < count; i++) {
            const char *name = kind == EVENT ? event_name(i, room) : bit_name(c, kind, i, room);
            bit = i;
            if (!name || (kind == EVENT && !event_bit(c, i, &bit)))
                continue;
            bool set = get_bit(bytes, bit);
            on += !pass && set;
            all += !pass;
            if (pass && on && on != all && set == shows)
                extract_text_printf(text, " %s", name);
        }
    }
    extract_text_putc(text, '\n');
}

void extract_control_show(const struct extract_control *control, bool changed,
                          struct extract_text *text)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct table *table = &control->table[kind];
        if (table->bytes)
            show_bits(control, (enum kind)kind, changed ? table->after : table->before, text);
    }
}

bool extract_control_edit(const struct extract_control *control, size_t i,
                          struct extract_edit *edit)
{
    for (unsigned kind = 0; kind < KINDS; kind++) {
        const struct table *table = &control->table[kind];
        for (uint32_t at = 0; at < table->bytes; at++) {
            if (table->before[at] == table->after[at] || i--)
                continue;
            *edit = (struct extract_edit){table->address + at, table->before[at], table->after[at]};
            return true;
        }
    }
    return false;
}
