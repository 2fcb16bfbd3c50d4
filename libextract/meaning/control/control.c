// SPDX-License-Identifier: MIT
// control: RKH's run-time filters: reads the target's tables, which the symbols of its ELF locate,
// prints what is emitted, and lists the bytes to write after a change.
#include "control/control.h"
#include "base/grow.h"
#include "symbols/dwarf.h"
#include <stdlib.h>

enum { MAX_TABLE = 4096, MAX_ACTORS = 256, MAP_CAPACITY = 2 * RKH_GROUPS };

// ---- reading ----

static enum extract_code read_table(struct control_table *table, const char *name,
                                    struct extract_memory *memory, struct extract_symbols *symbols,
                                    struct extract_error *error)
{
    struct extract_symbol symbol;
    size_t got;

    if (!extract_symbols_by_name(symbols, name, &symbol) || !symbol.size || symbol.size > MAX_TABLE)
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

// Reads the target's map of its event table: constants, from the ELF or else from memory. Returns
// its length in bytes.
static size_t read_map(uint8_t map[static MAP_CAPACITY], struct extract_memory *memory,
                       struct extract_symbols *symbols)
{
    struct extract_symbol symbol;
    size_t got = 0;

    if (!extract_symbols_by_name(symbols, "trcgmtbl", &symbol) || symbol.size > MAP_CAPACITY)
        return 0;
    size_t length = (size_t)symbol.size;
    if (extract_symbols_read_constant(symbols, symbol.address, map, length) == length ||
        !extract_memory_read(memory, symbol.address, map, length, &got, NULL))
        return length;
    return 0;
}

// Returns RKH's version, or 0 if it is not known for certain.
static uint32_t find_version(const struct extract_control *control, struct extract_symbols *symbols,
                             const struct extract_rkh *settings)
{
    struct extract_rkh rkh = {.view = 0};

    if (control->trace)
        rkh = extract_trace_snapshot(control->trace)->ring.rkh;
    else if (settings)
        rkh = *settings;
    rkh_from_symbols(&rkh, symbols);
    return rkh.from[EXTRACT_RKH_VERSION] > EXTRACT_RKH_INFERENCE ? rkh.value[EXTRACT_RKH_VERSION]
                                                                 : 0;
}

static enum extract_code read_actors(struct extract_control *control, struct extract_memory *memory,
                                     struct extract_symbols *symbols, struct extract_error *error)
{
    struct rkh_actors walk = {.symbols = symbols, .memory = memory};
    struct rkh_actor actor;

    while (control->actor_count < MAX_ACTORS && rkh_actors_next(&walk, &actor)) {
        struct rkh_actor *actors = extract_grow(control->actors, &control->actor_capacity,
                                                control->actor_count, sizeof *actors);
        if (!actors)
            return extract_error_set(error, EXTRACT_NOMEM, "filters", NULL, "out of memory");
        control->actors = actors;
        control->actors[control->actor_count++] = actor;
    }
    return EXTRACT_OK;
}

// Finds the signals that the ELF names. A trace already has them among its objects.
static enum extract_code find_signals(struct extract_control *control,
                                      struct extract_symbols *symbols,
                                      const struct extract_rkh *settings,
                                      struct extract_error *error)
{
    const struct extract_numbers none = {.count = 0};
    struct extract_rkh rkh = {.view = 0};

    control->symbols = symbols;
    if (control->trace)
        return EXTRACT_OK;
    if (settings)
        rkh = *settings;
    rkh_from_symbols(&rkh, symbols);
    return rkh_signals_find(&control->signals, &rkh, symbols, &none, error);
}

static enum extract_code explain_missing(const struct extract_symbols *symbols,
                                         struct extract_error *error)
{
    bool is_stripped = symbols && !extract_symbols_count(symbols);

    return extract_error_set(error, EXTRACT_NOTFOUND, "filters",
                             is_stripped
                                 ? "use the ELF file from before 'strip': RKH's filters "
                                   "are found by their symbols"
                                 : "build it with RKH_CFG_TRC_RTFIL_EN, and pass its ELF, not "
                                   "stripped",
                             is_stripped ? "the ELF file is stripped: it has no symbols"
                                         : "the firmware has no trcgfilter and trceftbl");
}

static enum extract_code read_tables(struct extract_control *control, struct extract_memory *memory,
                                     struct extract_symbols *symbols,
                                     const struct extract_rkh *settings,
                                     struct extract_error *error)
{
    static const char *const names[EXTRACT_TARGET_KINDS] = {"trcgfilter", "trceftbl", "trcsmaftbl",
                                                            "trcsigftbl"};
    enum extract_code code = EXTRACT_OK;
    uint8_t map[MAP_CAPACITY];

    for (unsigned kind = 0; kind < EXTRACT_TARGET_KINDS && symbols && !code; kind++)
        code = read_table(&control->table[kind], names[kind], memory, symbols, error);
    if (code)
        return code;
    if (!control->table[EXTRACT_TARGET_GROUP].bytes || !control->table[EXTRACT_TARGET_EVENT].bytes)
        return explain_missing(symbols, error);
    size_t length = read_map(map, memory, symbols);
    control->unplaced.code = rkh_places_find(
        &control->places, find_version(control, symbols, settings),
        control->table[EXTRACT_TARGET_EVENT].bytes, map, length, &control->unplaced);
    enum extract_code found = find_signals(control, symbols, settings, error);
    return found ? found : read_actors(control, memory, symbols, error);
}

enum extract_code extract_control_read(struct extract_control **control,
                                       struct extract_memory *memory,
                                       struct extract_symbols *symbols,
                                       const struct extract_trace *trace,
                                       const struct extract_rkh *rkh, struct extract_error *error)
{
    *control = calloc(1, sizeof **control);
    if (!*control)
        return extract_error_set(error, EXTRACT_NOMEM, "filters", NULL, "out of memory");
    // The trace may be of another kernel's ring in the same firmware.
    if (trace && extract_trace_snapshot(trace)->ring.format == &extract_format_rkh)
        (*control)->trace = trace;
    enum extract_code code = read_tables(*control, memory, symbols, rkh, error);
    if (code) {
        extract_control_free(*control);
        *control = NULL;
    }
    return code;
}

void extract_control_free(struct extract_control *control)
{
    for (unsigned kind = 0; control && kind < EXTRACT_TARGET_KINDS; kind++)
        free(control->table[kind].before);
    if (control)
        free(control->actors);
    free(control);
}

// ---- what is emitted ----

// Reads bit `i` of a kind: its name, and whether it is set. Returns false if it stands for nothing.
static bool read_bit(const struct extract_control *control, enum extract_target_kind kind,
                     const uint8_t *bytes, uint32_t i, char buffer[static RKH_NAME_BYTES],
                     const char **name, bool *set)
{
    uint32_t bit = i;

    *name = control_bit_name(control, kind, i, buffer);
    if (!*name || (kind == EXTRACT_TARGET_EVENT && rkh_places_event(&control->places, i, &bit) < 0))
        return false;
    *set = bytes[bit / 8] >> bit % 8 & 1;
    return true;
}

// Writes the bits of a kind, as "all but SMA_GET SMA_FIFO" or, if fewer are set, as "only
// SMA_TERM".
static void print_bits(const struct extract_control *control, enum extract_target_kind kind,
                       const uint8_t *bytes, struct extract_text *text)
{
    char buffer[RKH_NAME_BYTES];
    const char *name;
    bool set;
    uint32_t on = 0, all = 0, count = control_bits(control, kind);

    if (kind == EXTRACT_TARGET_EVENT)
        count = RKH_GROUPS * RKH_GROUP_EVENTS;
    for (uint32_t i = 0; i < count; i++)
        if (read_bit(control, kind, bytes, i, buffer, &name, &set)) {
            on += set;
            all++;
        }
    if (on == all || !on) {
        extract_text_puts(text, on ? "all" : "none");
        return;
    }
    bool shows = on * 2 <= all; // names the bits that are set
    extract_text_puts(text, shows ? "only" : "all but");
    for (uint32_t i = 0; i < count; i++)
        if (read_bit(control, kind, bytes, i, buffer, &name, &set) && set == shows) {
            extract_text_putc(text, ' ');
            extract_text_escaped(text, name);
        }
}

void extract_control_show(const struct extract_control *control, bool changed,
                          struct extract_text *text)
{
    static const char *const titles[EXTRACT_TARGET_KINDS] = {"groups", "events", "active objects",
                                                             "signals"};

    for (unsigned kind = 0; kind < EXTRACT_TARGET_KINDS; kind++) {
        const struct control_table *table = &control->table[kind];
        if (!table->bytes)
            continue;
        extract_text_printf(text, "%s: ", titles[kind]);
        if (kind == EXTRACT_TARGET_EVENT && control->unplaced.code)
            extract_text_printf(text, "unknown (%s; %s)", control->unplaced.why,
                                control->unplaced.hint);
        else
            print_bits(control, (enum extract_target_kind)kind,
                       changed ? table->after : table->before, text);
        extract_text_putc(text, '\n');
    }
}

bool extract_control_edit(const struct extract_control *control, size_t i,
                          struct extract_edit *edit)
{
    for (unsigned kind = 0; kind < EXTRACT_TARGET_KINDS; kind++) {
        const struct control_table *table = &control->table[kind];
        for (uint32_t at = 0; at < table->bytes; at++) {
            if (table->before[at] == table->after[at] || i--)
                continue;
            *edit = (struct extract_edit){table->address + at, table->before[at], table->after[at]};
            return true;
        }
    }
    return false;
}
