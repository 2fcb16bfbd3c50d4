// SPDX-License-Identifier: MIT
// formats/rkh: what events mean to other parts of the library: the names that they report or that
// the firmware has, the items of user events, and the hook entries that templates see. A hook entry
// consists of 64-bit words, or for a user event of a buffer with its items.
//
// Source: docs/formats/rkh-text.md, "Names" and "As hook entries".
#include "formats/rkh/rkh.h"
#include "symbols/dwarf.h"
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { RKH_SMA_ACT = 64, RKH_SMA_REG = 69, MAX_NAME = 256 };

static const struct record {
    uint8_t id;
    enum extract_kind kind;
    const char *type_name;
} records[] = {{RKH_FWK_AO, EXTRACT_KIND_OBJECT, "active object"},
               {RKH_FWK_OBJ, EXTRACT_KIND_OBJECT, "object"},
               {RKH_FWK_ACTOR, EXTRACT_KIND_OBJECT, "actor"},
               {RKH_FWK_STATE, EXTRACT_KIND_OBJECT, "state"},
               {RKH_FWK_PSTATE, EXTRACT_KIND_OBJECT, "pseudostate"},
               {RKH_FWK_TIMER, EXTRACT_KIND_OBJECT, "timer"},
               {RKH_FWK_QUEUE, EXTRACT_KIND_OBJECT, "queue"},
               {RKH_FWK_EPOOL, EXTRACT_KIND_POOL, "event pool"},
               {RKH_FWK_FUN, EXTRACT_KIND_OBJECT, "function"},
               {RKH_FWK_SIG, EXTRACT_KIND_SIGNAL, "signal"},
               {RKH_FWK_TUSR, EXTRACT_KIND_USER_EVENT, "user event"}};

// Reads a record that contains a name. The last address or number before it is what it names. Pools
// of 2.4 have addresses. The name is the text of a C expression: that of "&x" is "x".
static bool read_name_record(struct rkh_args *args, const struct record *record,
                             struct extract_name_entry *entry)
{
    struct rkh_item item;

    entry->kind = record->kind;
    entry->object.type = (uint32_t)(record - records) + 1;
    entry->object.type_name = record->type_name;
    while (rkh_args_next(args, &item)) {
        if (item.word == RKH_WORD_str) {
            bool strip = item.length && item.bytes[0] == '&';
            entry->name = item.bytes + strip;
            entry->name_bytes = item.length - strip;
        } else {
            entry->object.address = item.value;
        }
        if (item.word == RKH_WORD_sym)
            entry->kind = EXTRACT_KIND_OBJECT;
    }
    return entry->name != NULL;
}

static bool read_priority(struct rkh_args *args, struct extract_name_entry *entry)
{
    struct rkh_item object, priority;

    if (!rkh_args_next(args, &object) || !rkh_args_next(args, &priority))
        return false;
    entry->kind = EXTRACT_KIND_OBJECT;
    entry->object.address = object.value;
    entry->object.priority = (uint16_t)priority.value;
    return true;
}

bool rkh_read_name(const struct extract_event *event, struct extract_name_entry *entry)
{
    struct rkh_args args;

    if (extract_event_is_mark(event) || !rkh_args_of(&args, event))
        return false;
    // In a merged log, the names of the other inputs are still valid.
    entry->restarted = event->id == RKH_FWK_TCFG && !args.wire.is_merged;
    if (event->id == RKH_SMA_ACT || event->id == RKH_SMA_REG)
        return read_priority(&args, entry);
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (records[i].id == event->id)
            return read_name_record(&args, &records[i], entry);
    return entry->restarted;
}

bool rkh_names_object(unsigned id)
{
    for (size_t i = 0; i < sizeof records / sizeof *records; i++)
        if (records[i].id == id)
            return records[i].kind != EXTRACT_KIND_USER_EVENT;
    return false;
}

// ---- Names in the firmware ----
//
// An active object is a variable, s_server, that the source files call by a constant pointer,
// server. The records of a stream contain the pointer's name. So does the constant part of the
// object, to which its member romrkh points.

// Composes the pointer in `bytes` that were read at an address. Returns 0 if too few were.
static uint64_t read_pointer(const struct extract_symbols *symbols, uint64_t address)
{
    unsigned size = extract_symbols_pointer_bytes(symbols);
    uint8_t bytes[8];

    if (extract_symbols_read_initial(symbols, address, bytes, size) != size)
        return 0;
    struct extract_cursor c = extract_cursor_make(bytes, size, extract_symbols_byte_order(symbols));
    return extract_cursor_word(&c, size);
}

// Reads the name in the constant part of an active object, or in the object itself if it has no
// such part. Returns false if it has none.
static bool read_own_name(struct extract_symbols *symbols, uint64_t object, char *name, size_t size)
{
    struct extract_inner inner;
    uint64_t at = object, offset, bytes;

    if (extract_symbols_inner(symbols, object, "romrkh", NULL, false, &inner)) {
        at = inner.count == 1 ? read_pointer(symbols, object + inner.member) : 0;
        if (!at || !extract_symbols_member(symbols, "RKH_ROM_T", "name", &offset, &bytes))
            return false;
    } else {
        if (!extract_symbols_inner(symbols, object, "istate", "name", false, &inner) ||
            !inner.has_second || inner.count != 1)
            return false;
        offset = inner.second;
    }
    uint64_t text = read_pointer(symbols, at + offset);
    size_t got = text ? extract_symbols_read_constant(symbols, text, name, size) : 0;
    return got && *name && memchr(name, 0, got);
}

// Finds the constant pointer by which the source files call a variable: "server" for "s_server".
static bool find_pointer_name(struct extract_symbols *symbols, const struct extract_symbol *object,
                              char *name, size_t size)
{
    struct extract_symbol pointer;

    if (strncmp(object->name, "s_", 2) != 0 ||
        !extract_symbols_by_name(symbols, object->name + 2, &pointer) || pointer.function ||
        pointer.size != extract_symbols_pointer_bytes(symbols) ||
        !extract_symbols_is_constant(symbols, pointer.address) ||
        read_pointer(symbols, pointer.address) != object->address)
        return false;
    snprintf(name, size, "%s", pointer.name);
    return true;
}

// Returns the part of a path that begins in the type that all active objects have in common, at
// whose offset `common` is: "equeue" of "sma.equeue" if that is "equeue.start". Without such a
// part, returns the path.
static const char *skip_derived(const char *path, const char *common)
{
    const char *part = path;

    while (part && strncmp(common, part, strlen(part)) != 0)
        part = (part = strchr(part, '.')) ? part + 1 : NULL;
    return part ? part : path;
}

// Replaces the name of an event pool, "evtPools" or "evtPools[1]", by that which the framework
// gives it in a record, "memPool0" or "memPool1". Returns false if it is none.
static bool name_event_pool(struct extract_symbols *symbols, const struct extract_symbol *object,
                            char *buffer, size_t size)
{
    struct extract_inner pool;
    unsigned number = 0;
    int end = 0;

    if (strcmp(object->name, "evtPools") != 0 ||
        !extract_symbols_inner(symbols, object->address, "memPool", NULL, false, &pool) ||
        (strcmp(buffer, "evtPools") != 0 &&
         (sscanf(buffer, "evtPools[%3u]%n", &number, &end) != 1 || !end || buffer[end])))
        return false;
    snprintf(buffer, size, "memPool%u", number);
    return true;
}

bool rkh_describe_address(struct extract_symbols *symbols, uint64_t address, char *buffer,
                          size_t size)
{
    struct extract_symbol object;
    uint64_t offset;
    char name[MAX_NAME], path[MAX_NAME], common[MAX_NAME];

    if (!extract_symbols_describe(symbols, address, true, buffer, size))
        return false;
    if (!extract_symbols_by_address(symbols, address, &object, &offset, NULL) || object.function ||
        name_event_pool(symbols, &object, buffer, size) ||
        (!read_own_name(symbols, object.address, name, sizeof name) &&
         !find_pointer_name(symbols, &object, name, sizeof name)))
        return true;
    size_t length = strlen(object.name);
    snprintf(path, sizeof path, "%s", strlen(buffer) > length ? buffer + length : "");
    if (*path != '.')
        snprintf(buffer, size, "%s%s", name, path);
    else if (extract_symbols_member_at(symbols, "RKH_SMA_T", offset, common, sizeof common))
        snprintf(buffer, size, "%s->%s", name, skip_derived(path + 1, common));
    else
        snprintf(buffer, size, "%s->%s", name, path + 1);
    return true;
}

// A target with pointers of 4 bytes may send 2 of them. Objects are variables or constants, or
// their members, and functions are sent by their start.
bool rkh_locate(const struct extract_ring *ring, const struct extract_symbols *symbols,
                uint64_t stored, uint64_t *address)
{
    const struct extract_rkh *rkh = &ring->rkh;
    bool is_narrow = ring->word_bytes != 8 && extract_symbols_pointer_bytes(symbols) == 4 &&
                     (rkh->value[EXTRACT_RKH_PTR] == 2 || rkh->value[EXTRACT_RKH_FUN] == 2) &&
                     stored <= UINT16_MAX;
    struct extract_symbol symbol;
    uint64_t found = 0;

    *address = extract_ring_address(ring, stored);
    if (!is_narrow)
        return true;
    for (size_t i = 0; extract_symbols_at(symbols, i, &symbol); i++) {
        uint64_t offset = (uint16_t)(stored - symbol.address);
        if (offset >= (symbol.function ? 1 + (uint64_t)symbol.is_thumb : symbol.size))
            continue;
        if (found && found != symbol.address + offset)
            return false;
        found = *address = symbol.address + offset;
    }
    return found;
}

uint64_t rkh_find_near(const struct extract_symbols *symbols)
{
    struct extract_symbol buffer;
    struct extract_region region;

    if (extract_symbols_pointer_bytes(symbols) != 8)
        return 0;
    if (extract_symbols_by_name(symbols, "trcstm", &buffer))
        return buffer.address;
    return extract_symbols_writable(symbols, 0, &region) ? region.address : 0;
}

// ---- Items of user events ----

static struct extract_item make_item(const struct rkh_item *item)
{
    static const char *const formats[] = {"i8",  "u8",  "i16", "u16", "i32", "u32",
                                          "x32", "str", "mem", "obj", "fun", "sig"};
    static const enum extract_kind kinds[] = {
        [RKH_ITEM_NUMBER] = EXTRACT_KIND_DEC,    [RKH_ITEM_SIGNED] = EXTRACT_KIND_DEC,
        [RKH_ITEM_HEX] = EXTRACT_KIND_HEX,       [RKH_ITEM_OBJECT] = EXTRACT_KIND_OBJECT,
        [RKH_ITEM_FUNCTION] = EXTRACT_KIND_CODE, [RKH_ITEM_SIGNAL] = EXTRACT_KIND_SIGNAL};
    bool negative = item->kind == RKH_ITEM_SIGNED && item->value >> 63;

    return (struct extract_item){.format = formats[item->tag],
                                 .kind = kinds[item->kind],
                                 .text = item->kind == RKH_ITEM_STRING,
                                 .negative = negative,
                                 .value = negative ? 0 - item->value : item->value,
                                 .bytes = item->bytes,
                                 .length = item->length};
}

bool rkh_items(const struct extract_event *event, extract_item_callback *take, void *context,
               uint32_t *number)
{
    struct rkh_args args;
    struct rkh_item item;

    if (event->id < RKH_USER || event->id >= RKH_USER_END || !rkh_args_of(&args, event))
        return false;
    *number = event->id - RKH_USER;
    while (take && rkh_args_next(&args, &item)) {
        struct extract_item made = make_item(&item);
        take(context, &made);
    }
    return true;
}

// ---- Hook entries ----

enum { WORD = 8, GENERIC = 0x4000, STAMPED = 0x8000 };

// Bits of the hook data: which optional arguments are present.
enum { HAS_SENDER = 1, HAS_QUEUE_MARK = 2, HAS_POOL_MARK = 4, HAS_USE = 8 };

// Appends an item as it was sent; if it refers to something with a name, appends the 8-byte key of
// that. Returns false if there is no space for it.
static bool put_item(const struct rkh_args *args, const struct rkh_item *item, size_t from,
                     uint8_t **to, const uint8_t *end)
{
    bool named = item->kind >= RKH_ITEM_OBJECT;
    size_t length = named ? 1 + WORD : args->c.at - from;
    uint64_t key = item->value;

    if ((size_t)(end - *to) < length)
        return false;
    memcpy(*to, args->c.bytes + from, named ? 1 : length);
    if (item->kind == RKH_ITEM_SIGNAL)
        key = extract_number_key(EXTRACT_KIND_SIGNAL, key);
    if (named)
        extract_store(*to + 1, key, WORD, EXTRACT_LITTLE);
    *to += length;
    return true;
}

static void store_items(const struct extract_event *event, struct rkh_args *args,
                        struct extract_entry *entry, uint8_t *buffer)
{
    uint8_t *to = buffer + 2 * WORD;
    struct rkh_item item;
    size_t from = 0;

    extract_store(buffer + WORD, extract_number_key(EXTRACT_KIND_USER_EVENT, event->id - RKH_USER),
                  WORD, EXTRACT_BIG);
    while (rkh_args_next(args, &item) &&
           put_item(args, &item, from, &to, buffer + 2 * WORD + UINT16_MAX))
        from = args->c.at;
    entry->generic = entry->little = true;
    entry->type = STAMPED | GENERIC;
    entry->length = (size_t)(to - buffer);
    entry->bytes_of_data = (uint32_t)entry->length - 2 * WORD;
}

bool rkh_entry(const struct extract_ring *ring, const struct extract_event *event,
               struct extract_entry *entry, uint8_t *buffer)
{
    struct rkh_args args;

    (void)ring;
    if (!rkh_args_of(&args, event))
        return false;
    const uint8_t *size = args.wire.size;
    unsigned flags = (size[RKH_WORD_sndr] ? HAS_SENDER : 0u) |
                     (size[RKH_WORD_qnmin] ? HAS_QUEUE_MARK : 0u) |
                     (size[RKH_WORD_mpnmin] ? HAS_POOL_MARK : 0u) |
                     (args.wire.family == RKH_FAMILY_3 ? HAS_USE : 0u);
    *entry = (struct extract_entry){.bytes = buffer,
                                    .bits = 8 * WORD,
                                    .hook = (uint16_t)(event->id << 4),
                                    .data = (uint16_t)flags,
                                    .cpu = event->core,
                                    .priority = event->priority,
                                    .pid = event->thread,
                                    .tid = event->thread,
                                    .log_offset = event->slot,
                                    .event = event};
    if (event->id >= RKH_USER && event->id < RKH_USER_END) {
        store_items(event, &args, entry, buffer);
    } else {
        uint8_t *to = buffer + WORD;
        for (unsigned i = 0; i < event->fields; i++)
            to = extract_store(to, event->field[i], WORD, EXTRACT_BIG);
        entry->type = STAMPED;
        entry->length = (size_t)(to - buffer);
        entry->bytes_of_data = (uint32_t)entry->length - WORD;
    }
    extract_store(buffer,
                  (uint64_t)entry->type << 48 | (uint64_t)(entry->bytes_of_data & 0xFFFF) << 32 |
                      (uint64_t)entry->hook << 16 | entry->data,
                  WORD, EXTRACT_BIG);
    return true;
}
